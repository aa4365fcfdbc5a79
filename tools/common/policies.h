/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of the library's options, "a, b, c", for rows of command lines, and
 * schedules of them.
 */
#ifndef COMMON_POLICIES_H
#define COMMON_POLICIES_H

#include "cli/message.h"

#include "base/options.h"

const char *restore_words(void);
const char *steal_words(void);
const char *order_words(void);
const char *deque_words(void);
const char *data_words(void);

/* What a word of OPTION means to the library; it has been checked. */
int word_value(const char *option, const char *word);

/*
 * Read a schedule such as "retain@0-2,auto@3-" of the library's OPTION, whose
 * entries may also be separated by slashes; NULL: says nothing.  Messages name
 * ARGUMENT.  To be freed by eki_schedule_free().
 */
bool schedule_read(const char *option, const char *argument, const char *text,
                   struct eki_schedule *schedule, struct message *message);
/* Whether TEXT is more than a word. */
bool is_schedule(const char *text);
/* TEXT with SEPARATOR between its entries; to be freed. */
char *schedule_text(const char *text, char separator);
/* What --modes calls these two; to be freed. */
char *mode_name(const char *restore, const char *steal);

#endif
