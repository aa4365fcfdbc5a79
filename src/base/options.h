/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options: the table of options, the settings of a collection, schedules of
 * policies, and where reports go.
 *
 * Mutable state of the process: the marks that unknown variables have been
 * reported, and which entries of lists were for a collection.
 */
#ifndef EKI_OPTIONS_H
#define EKI_OPTIONS_H

#include "base/fields.h"

/* Followed by the field in capitals. */
#define EKI_VARIABLE_PREFIX "EVENKEEL_"

/* What a list such as "retain@1,original@2-" says of each iteration. */
struct eki_schedule_entry {
    int policy;
    int64_t first, last; /* iterations, from 0; last: INT64_MAX if open */
};

struct eki_schedule {
    struct eki_schedule_entry *entries; /* owned; NULL: says nothing */
    int count;
    uint64_t ours; /* a bit per entry of the list, of the first 64 */
};

/* The policy for ITERATION: the last entry that covers it, else FALLBACK. */
int eki_schedule_at(const struct eki_schedule *schedule, int64_t iteration,
                    int fallback);

/* Where a schedule comes from and what it may say. */
struct eki_schedule_source {
    const char *variable;
    const char *list;
    /* Entries of others are checked and dropped; NULL: none may be named. */
    const char *collection;
    const struct eki_choice *choices;
};

/* On failure nothing is owned. */
ek_status eki_schedule_parse(const struct eki_schedule_source *source,
                             struct eki_schedule *schedule);
void eki_schedule_free(struct eki_schedule *schedule);
/* Append the entry, as eki_schedule_parse() takes it, to TEXT. */
void eki_schedule_entry_text(const struct eki_schedule_entry *entry,
                             const struct eki_choice *choices, char *text,
                             size_t bytes);

/* What has a row of its own in a report. */
enum eki_rows {
    EKI_ROWS_JOB,
    EKI_ROWS_RANKS,
    EKI_ROWS_FUNCTIONS,
    EKI_ROWS_KINDS
};

/* Where reports go. */
struct eki_destination {
    int level; /* of lines: 0, 1, 2 */
    const char
        *name[EKI_ROWS_KINDS];    /* of files, in the list; NULL: none ... */
    size_t bytes[EKI_ROWS_KINDS]; /* ... and their lengths */
};

/* Read "0", "1", "2", "FILE.tsv", "ranks:FILE.tsv", "functions:FILE.tsv" or a
 * list of them; false: it is none. */
bool eki_destination_read(const char *list,
                          struct eki_destination *destination);

/* The longest text of an option, and of a part of one (eki_option_part()). */
#define EKI_OPTION_BYTES 1024

/*
 * Options after defaults, program and environment; owns its strings.  It points
 * into itself: do not copy it.
 */
struct eki_settings {
    ek_options options;          /* its texts point into this object */
    struct eki_schedule restore; /* from EVENKEEL_RESTORE */
    struct eki_schedule steal;   /* from EVENKEEL_STEAL */
    uint64_t environment;        /* a bit per option that a variable has set */
    char name[64];
    char report[EKI_OPTION_BYTES];
    char record[EKI_OPTION_BYTES];
};

/*
 * Resolve GIVEN (NULL: defaults) and the environment.  Honours struct_bytes of
 * an older program.  Checks every range.  On failure nothing is owned.
 */
ek_status eki_settings_resolve(const ek_options *given,
                               struct eki_settings *settings);
/* Warn of EVENKEEL_ variables that nobody knows, with the nearest name, once
 * per process. */
void eki_settings_warn(void);
/* Warn, once per process, of entries of lists that name a collection which
 * there has not been. */
void eki_settings_warn_lists(void);
void eki_settings_free(struct eki_settings *settings);

/* Copy what a program gave as a struct of BYTES, which may be of another
 * version, over the defaults in TO, of TO_BYTES; both begin with struct_bytes.
 * FEWEST are those that every version has; false: it is not that struct. */
bool eki_struct_copy(const void *from, size_t bytes, size_t fewest, void *to,
                     size_t to_bytes);

/* Set one field from text, as ek_set_option(); a schedule stays in force. */
ek_status eki_settings_set(struct eki_settings *settings, const char *field,
                           const char *value);

/* A part of the value as text: 0 is what the program said, the others are the
 * entries of a schedule from the environment.  False, and TEXT is empty: there
 * is no such part. */
bool eki_option_part(int option, const struct eki_settings *settings, int part,
                     char *text, size_t bytes);
/* Append "steal=near (EVENKEEL_STEAL)", "steal=near (program)" or "steal=random
 * (default)"; false: the default. */
bool eki_option_explain(int option, const struct eki_settings *settings,
                        char *text, size_t bytes);

enum eki_option_traits {
    EKI_HAS_VARIABLE = 1, /* EVENKEEL_<FIELD> is looked at */
    EKI_AGREES = 2,       /* the same on all ranks */
    EKI_SETTABLE = 4      /* by ek_set_option() */
};

struct eki_option {
    struct eki_field field; /* of ek_options */
    int traits;
    size_t schedule; /* from its variable: offset in eki_settings; 0: none */
    size_t room;     /* of a text: offset in eki_settings */
};

/* The table, for comparison over ranks, dumps and the README. */
int eki_option_count(void);
const struct eki_option *eki_option_at(int option);
/* Name of its variable, whether it has one or not. */
void eki_option_variable(int option, char *text, size_t bytes);
/* The policies of the option of that name; NULL: it has none. */
const struct eki_choice *eki_option_choices(const char *name);
/* Name of one of them; NULL: there is no such policy. */
const char *eki_option_choice_name(const char *name, int value);

#endif
