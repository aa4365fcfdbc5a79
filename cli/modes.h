/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways to balance, by name: the rows of every --compare.
 */
#ifndef CLI_MODES_H
#define CLI_MODES_H

#include "cli/message.h"

#include <stdio.h>

/** A way to balance. */
struct mode {
    const char *name;
    const char *restore; /* the policy of ek_restore(); NULL: its default */
    const char *steal;   /* the option of that name; NULL: its default */
    bool is_anew;   /* all tasks anew in every iteration, as loops over a shared
                       counter do */
    bool has_nulls; /* also null tasks that are known as such from the start */
    bool is_by_hand; /* the program moves work itself */
    bool has_follow; /* data of tasks stays where these are retained */
};

/** Compare these instead; borrowed.  Before a command line is read. */
void modes_use(const struct mode *modes, int count);

/** What --compare and --modes say to --policy and --steal. */
#define MODES_OWN_POLICIES                                        \
    "--compare and --modes have policies of their own: --policy " \
    "and --steal do not go with them"

/** Modes that are compared; the first is the one to be faster than. */
struct mode_list {
    struct mode *modes; /* [count] */
    int count;
    char *words; /* owned, of these modes */
};

/** Help of the option that chooses them. */
#define MODES_HELP \
    "these: names below, or RESTORE, or RESTORE+STEAL; / parts a schedule"

/** Whether the policies of a mode are known; or else a message. */
typedef bool mode_check_fn(const struct mode *mode, struct message *message);

/**
 * Read a list such as "static,retain+random,auto".
 *
 * @param[in]  text  NULL: all modes that have names.
 * @param[out] list  To be freed, also on failure.
 */
bool modes_read(const char *text, mode_check_fn *check, struct mode_list *list,
                struct message *message);
void modes_free(struct mode_list *list);

/**
 * A compared mode by its name, or else the restore policy of that name.
 *
 * @param[in] steal  Instead of the mode's; NULL: the mode's.
 */
struct mode mode_find(const char *name, const char *steal);

/** The names of the compared modes. */
const char *mode_names(void);

/** A line for each compared mode. */
void modes_help(FILE *stream);

#endif
