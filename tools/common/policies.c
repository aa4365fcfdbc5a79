/* SPDX-License-Identifier: BSD-3-Clause */
#include "policies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES = 256
};

/* A function that gives the words of an option. */
#define WORDS_OF(function, option)                                      \
    const char *function(void)                                          \
    {                                                                   \
        static char text[BYTES];                                        \
        text[0] = '\0';                                                 \
        eki_choice_list(eki_option_choices(option), text, sizeof text); \
        return text;                                                    \
    }

WORDS_OF(restore_words, "restore")
WORDS_OF(steal_words, "steal")
WORDS_OF(order_words, "order")
WORDS_OF(deque_words, "deque")
WORDS_OF(data_words, "data")

int word_value(const char *option, const char *word)
{
    int value = 0;
    eki_choice_read(eki_option_choices(option), word, strlen(word), &value);
    return value;
}

bool is_schedule(const char *text)
{
    return strpbrk(text, "@,/") != NULL;
}

char *schedule_text(const char *text, char separator)
{
    size_t bytes = strlen(text) + 1;
    char *copy = allocate(bytes, 1);
    memcpy(copy, text, bytes);
    for (char *at = copy; (at = strpbrk(at, ",/")) != NULL;)
        *at++ = separator;
    return copy;
}

char *mode_name(const char *restore, const char *steal)
{
    size_t bytes = strlen(restore) + strlen(steal) + 2;
    char *both = allocate(bytes, 1);
    snprintf(both, bytes, "%s+%s", restore, steal);
    char *name = schedule_text(both, '/');
    free(both);
    return name;
}

bool schedule_read(const char *option, const char *argument, const char *text,
                   struct eki_schedule *schedule, struct message *message)
{
    *schedule = (struct eki_schedule){0};
    if (!text)
        return true;
    char *list = schedule_text(text, ',');
    ek_status status = eki_schedule_parse(
        &(struct eki_schedule_source){.variable = argument,
                                      .list = list,
                                      .choices = eki_option_choices(option)},
        schedule);
    free(list);
    return status == EK_OK || message_set(message, "%s", ek_error_message());
}
