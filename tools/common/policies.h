/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of the library's options, "a, b, c", for rows of command lines.
 */
#ifndef COMMON_POLICIES_H
#define COMMON_POLICIES_H

#include <stdbool.h>

const char *restore_words(void);
bool is_restore_word(const char *word);
const char *steal_words(void);
/* Also one with a chunk. */
bool is_steal_word(const char *word);
const char *order_words(void);
const char *deque_words(void);

/* What a word of OPTION means to the library; it has been checked. */
int word_value(const char *option, const char *word);

#endif
