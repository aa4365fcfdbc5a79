/* SPDX-License-Identifier: BSD-3-Clause */
#include "expression.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A tensor as it is written: its indices, and where each is. */
struct written {
    struct term *term;
    char letter[RANK_MAX];
    const char *place[RANK_MAX];
};

/* What is left of a text. */
struct reading {
    const char *text, *at;
    struct message *message;
};

static bool fail_at(const struct reading *reading, const char *place,
                    const char *what)
{
    return message_set(reading->message, "expression, column %d: %s",
                       (int)(place - reading->text) + 1, what);
}

static bool fail_index(const struct reading *reading, const char *place,
                       const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "index '%c' %s", *place, what);
    return fail_at(reading, place, text);
}

static void skip_blanks(struct reading *reading)
{
    while (isspace((unsigned char)*reading->at))
        reading->at++;
}

/* Take WORD, which has to come next. */
static bool take(struct reading *reading, const char *word)
{
    char text[100];
    skip_blanks(reading);
    size_t length = strlen(word);
    if (strncmp(reading->at, word, length) == 0) {
        reading->at += length;
        return true;
    }
    if (*reading->at == '\0')
        snprintf(text, sizeof text, "it ends where '%s' is wanted", word);
    else
        snprintf(text, sizeof text, "'%c' where '%s' is wanted", *reading->at,
                 word);
    return fail_at(reading, reading->at, text);
}

static bool take_name(struct reading *reading, char *name, size_t bytes)
{
    size_t length = 0;
    skip_blanks(reading);
    while (isalpha((unsigned char)reading->at[length]))
        length++;
    if (length == 0 || length >= bytes)
        return fail_at(reading, reading->at,
                       "a tensor has a name of 1 to 15 letters");
    memcpy(name, reading->at, length);
    name[length] = '\0';
    reading->at += length;
    return true;
}

static bool take_index(struct reading *reading, struct written *written)
{
    skip_blanks(reading);
    const char *place = reading->at;
    if (!isalpha((unsigned char)*place))
        return fail_at(reading, place, "an index is a letter");
    if (written->term->rank == RANK_MAX)
        return fail_index(reading, place, "is one too many: at most 6");
    for (int i = 0; i < written->term->rank; i++) {
        if (written->letter[i] == *place)
            return fail_index(reading, place, "is in this tensor twice");
    }
    written->letter[written->term->rank] = *place;
    written->place[written->term->rank++] = place;
    reading->at++;
    return true;
}

static bool take_tensor(struct reading *reading, struct written *written)
{
    if (!take_name(reading, written->term->name, sizeof written->term->name) ||
        !take(reading, "["))
        return false;
    for (;;) {
        if (!take_index(reading, written))
            return false;
        skip_blanks(reading);
        if (*reading->at != ',')
            return take(reading, "]");
        reading->at++;
    }
}

/* Place of a letter in a tensor; -1: it is not there. */
static int find(const struct written *written, char letter)
{
    for (int i = 0; i < written->term->rank; i++) {
        if (written->letter[i] == letter)
            return i;
    }
    return -1;
}

static void add_index(struct expression *expression, char letter,
                      enum role role)
{
    expression->letter[expression->indices] = letter;
    expression->role[expression->indices++] = role;
}

/* Give the indices of C, then the contracted ones, their numbers. */
static bool number_indices(const struct reading *reading,
                           const struct written *written,
                           struct expression *expression)
{
    const struct written *c = &written[0], *a = &written[1], *b = &written[2];
    for (int i = 0; i < c->term->rank; i++) {
        bool is_in_a = find(a, c->letter[i]) >= 0;
        bool is_in_b = find(b, c->letter[i]) >= 0;
        if (is_in_a && is_in_b)
            return fail_index(reading, c->place[i], "is in all three tensors");
        if (!is_in_a && !is_in_b)
            return fail_index(reading, c->place[i], "is in one tensor only");
        add_index(expression, c->letter[i], is_in_a ? ROLE_A : ROLE_B);
    }
    for (int i = 0; i < a->term->rank; i++) {
        if (find(c, a->letter[i]) >= 0)
            continue;
        if (find(b, a->letter[i]) < 0)
            return fail_index(reading, a->place[i], "is in one tensor only");
        add_index(expression, a->letter[i], ROLE_CONTRACTED);
    }
    for (int i = 0; i < b->term->rank; i++) {
        if (find(c, b->letter[i]) < 0 && find(a, b->letter[i]) < 0)
            return fail_index(reading, b->place[i], "is in one tensor only");
    }
    return true;
}

static void number_term(const struct written *written,
                        const struct expression *expression)
{
    for (int i = 0; i < written->term->rank; i++) {
        const char *letter = memchr(expression->letter, written->letter[i],
                                    (size_t)expression->indices);
        written->term->index[i] = (int)(letter - expression->letter);
    }
}

bool expression_parse(const char *text, struct expression *expression,
                      struct message *message)
{
    *expression = (struct expression){0};
    struct reading reading = {text, text, message};
    struct written written[3] = {{.term = &expression->c},
                                 {.term = &expression->a},
                                 {.term = &expression->b}};
    if (!take_tensor(&reading, &written[0]) || !take(&reading, "+=") ||
        !take_tensor(&reading, &written[1]) || !take(&reading, "*") ||
        !take_tensor(&reading, &written[2]))
        return false;
    skip_blanks(&reading);
    if (*reading.at != '\0')
        return fail_at(&reading, reading.at, "it should end here");
    if (!number_indices(&reading, written, expression))
        return false;
    for (int t = 0; t < 3; t++)
        number_term(&written[t], expression);
    return true;
}
