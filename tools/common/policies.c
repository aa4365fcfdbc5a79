/* SPDX-License-Identifier: BSD-3-Clause */
#include "policies.h"

#include "base/base.h"

enum {
    BYTES = 256
};

static const char *list_words(const char *option, char text[BYTES])
{
    text[0] = '\0';
    eki_option_choice_list(option, text, BYTES);
    return text;
}

const char *restore_words(void)
{
    static char text[BYTES];
    return list_words("restore", text);
}

bool is_restore_word(const char *word)
{
    int value;
    return eki_option_choice_value("restore", word, &value);
}

const char *steal_words(void)
{
    static char text[BYTES];
    return list_words("steal", text);
}

bool is_steal_word(const char *word)
{
    int value;
    return eki_option_choice_value("steal", word, &value);
}

const char *order_words(void)
{
    static char text[BYTES];
    return list_words("order", text);
}

const char *deque_words(void)
{
    static char text[BYTES];
    return list_words("deque", text);
}

int word_value(const char *option, const char *word)
{
    int value = 0;
    eki_option_choice_value(option, word, &value);
    return value;
}
