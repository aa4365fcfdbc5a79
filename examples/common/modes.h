/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways to balance, by name: the rows of every --compare.
 */
#ifndef COMMON_MODES_H
#define COMMON_MODES_H

#include <stdbool.h>
#include <stdio.h>

/** A way to balance. */
struct mode {
    const char *name;
    const char *restore; /* the policy of ek_restore(); NULL: its default */
    const char *steal;   /* the option of that name; NULL: its default */
    bool is_anew;   /* all tasks anew in every iteration, as loops over a shared
                       counter do */
    bool has_nulls; /* also null tasks that are known as such from the start */
};

/** What --compare says to --policy and --steal. */
#define MODES_OWN_POLICIES                         \
    "--compare has policies of its own: --policy " \
    "and --steal do not go with it"

/** The modes that are compared; the first is the one to be faster than. */
extern const struct mode compared_modes[];
extern const int compared_count;

/**
 * A compared mode by its name, or else the restore policy of that name.
 *
 * @param[in] steal  Instead of the mode's; NULL: the mode's.
 */
struct mode mode_find(const char *name, const char *steal);

/** A line for each compared mode; those with null tasks only if asked for. */
void modes_help(FILE *stream, bool has_nulls);

#endif
