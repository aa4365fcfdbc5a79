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

#include <evenkeel_worker.h>

/* Followed by the field in capitals. */
#define EKI_VARIABLE_PREFIX "EVENKEEL_"
#define EKI_VARIABLE_BYTES 64 /* longer ones are cut when they are compared */
/* Of no collection. */
#define EKI_LOG_VARIABLE EKI_VARIABLE_PREFIX "LOG"

/* What a list such as "retain@1,original@2-" says of each iteration. */
struct eki_schedule_entry {
    int value;           /* a choice, as a policy; or where a folder begins in
                          * the texts */
    int64_t first, last; /* iterations, from 0; last: INT64_MAX if open */
};

struct eki_schedule {
    struct eki_schedule_entry *entries; /* owned; NULL: says nothing */
    int count;
    uint64_t ours; /* a bit per entry of the list, of the first 64 */
    char *texts;   /* of folders: the list, with a zero behind each; owned */
};

/* The value for ITERATION: of the last entry that covers it, else FALLBACK. */
int eki_schedule_at(const struct eki_schedule *schedule, int64_t iteration,
                    int fallback);

/* Where a schedule comes from and what it may say. */
struct eki_schedule_source {
    const char *variable;
    const char *list;
    /* Entries of others are checked and dropped; NULL: none may be named. */
    const char *collection;
    const struct eki_choice *choices; /* NULL: entries name folders */
};

/* On failure nothing is owned. */
ek_status eki_schedule_parse(const struct eki_schedule_source *source,
                             struct eki_schedule *schedule);
void eki_schedule_free(struct eki_schedule *schedule);
/* Append entry I, as eki_schedule_parse() takes it, to TEXT. */
void eki_schedule_entry_text(const struct eki_schedule *schedule, int i,
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

/* In which order a worker starts its tasks; ORIGINAL, which is no option: by
 * the number that they have at home. */
enum eki_order {
    EKI_ORDER_LONGEST, /* last duration first; below 131 us, and where a worker
                          has many, those within a factor of two as they lie */
    EKI_ORDER_EXECUTED,
    EKI_ORDER_REVERSED,
    EKI_ORDER_ORIGINAL,
    EKI_ORDER_ASCENDING, /* by eki_slot_number(), in every iteration */
    EKI_ORDER_COUNTED    /* the same for a counter, which begins at the base */
};

enum eki_deque_option {
    EKI_DEQUE_OPTION_ATOMIC,
    EKI_DEQUE_OPTION_LOCKED
};

enum eki_data_policy {
    EKI_DATA_RETURN,
    EKI_DATA_FOLLOW
};

/* What becomes of an iteration after ek_stop(). */
enum eki_on_stop {
    EKI_ON_STOP_RESTART,
    EKI_ON_STOP_CONTINUE
};

enum eki_checking {
    EKI_CHECK_AUTO,
    EKI_CHECK_ON,
    EKI_CHECK_OFF
};

/* What the option hpdc12 says of the paper's algorithms. */
struct eki_hpdc12_option {
    double c, d;       /* mean loads: above c a worker sheds, below d it gets */
    int64_t branching; /* children of a vertex */
    int gather;        /* EKI_GATHER_: what the rank that decides is told */
};

enum eki_gather {
    EKI_GATHER_NODE,
    EKI_GATHER_CORE
};

/* What the option dvs says of deterministic victim selection. */
struct eki_dvs_option {
    int layout; /* EKI_LAYOUT_: cells of the workers of a node */
    /* Of EKI_LAYOUT_ALLOTTED: the grid, and the cell of the source. */
    int64_t columns, rows, cell;
    int64_t source; /* by its number in the node; -1: who has most tasks */
    int64_t escape; /* 1: a random victim behind the list */
};

/* Workers as cells of a mesh. */
enum eki_layout {
    EKI_LAYOUT_DIAMOND, /* two dimensions, ring by ring around the source */
    EKI_LAYOUT_LINE,
    EKI_LAYOUT_GRID,    /* two, row by row; nearly square */
    EKI_LAYOUT_CUBE,    /* three, plane by plane; nearly a cube */
    EKI_LAYOUT_ALLOTTED /* ring by ring on a given grid, as in the paper */
};

/* How the end of an iteration is found between nodes. */
enum eki_detector {
    EKI_DETECTOR_COUNTING,    /* of tasks: two equal waves */
    EKI_DETECTOR_FRANCEZ,     /* a node votes when its requests are answered */
    EKI_DETECTOR_ACKNOWLEDGED /* ... when tasks that it gave have arrived */
};

#define EKI_DVS_ALLOWED                                                      \
    "a list of layout=diamond, line, grid, cube or allotted, columns=1 ... " \
    "1024, rows=1 ... 1024, cell=0 ... 1048575, source=-1 ... 65535, "       \
    "escape=0 or 1"
bool eki_dvs_read(const char *text, struct eki_dvs_option *option);

/* What the option lifeline says. */
struct eki_lifeline_option {
    int graph;        /* EKI_GRAPH_: who waits for whose tasks */
    int64_t radix;    /* of EKI_GRAPH_HYPERCUBE */
    int64_t attempts; /* random victims before that */
};

/* Lifelines of a node (steal/lifelines.h). */
enum eki_graph {
    EKI_GRAPH_AUTO,      /* offsets for a few nodes, else the hypercube */
    EKI_GRAPH_HYPERCUBE, /* a digit is one lower, cyclic */
    EKI_GRAPH_XOR,       /* a bit differs */
    EKI_GRAPH_OFFSETS,   /* 1, 2, 4, ... nodes on */
    EKI_GRAPH_RING       /* the next node */
};

#define EKI_LIFELINE_ALLOWED                                              \
    "a list of graph=auto, hypercube, xor, offsets or ring, radix=2 ... " \
    "32, attempts=0 ... 64"
bool eki_lifeline_read(const char *text, struct eki_lifeline_option *option);

/* What the option sws says. */
struct eki_sws_option {
    int64_t epochs;  /* in which tasks may be being copied */
    int64_t damping; /* attempts in vain before a thief looks; 0: it never does
                      */
};

#define EKI_SWS_ALLOWED "a list of epochs=1 or 2, damping=0 ... 1000000"
bool eki_sws_read(const char *text, struct eki_sws_option *option);

/* What the option checkpoint says. */
struct eki_checkpoint_option {
    size_t folder;      /* bytes of its name, with which the text begins; 0:
                           there are no checkpoints */
    int64_t iterations; /* between two of them; 0: time counts ... */
    uint64_t ns;        /* ... so much */
};

#define EKI_CHECKPOINT_ALLOWED                                                \
    "0 or DIR@every:N, N 1 ... 1000000, and ms, s, min, h or nothing behind " \
    "it (at most 1023 "                                                       \
    "characters)"
bool eki_checkpoint_read(const char *text,
                         struct eki_checkpoint_option *option);

#define EKI_HPDC12_ALLOWED                                                \
    "a list of c=0.1 ... 10, d=0.1 ... 10, k=2 ... 1048576, gather=node " \
    "or gather=core"

/* Constants that TEXT does not name get their defaults; false: TEXT is not
 * allowed. */
bool eki_hpdc12_read(const char *text, struct eki_hpdc12_option *option);

/*
 * All options of a collection: those with a field in ek_options, and those that
 * are text only, each in eight bytes that begin with its value.  New ones come
 * last, since programs keep them in ek_options.text_only by their place here.
 * Many members: the option table has a row for each.
 */
struct eki_options {
    const char *name;
    int64_t payload_bytes, workers;
    ek_restore_policy restore;
    ek_steal_policy steal;
    ek_progress_policy progress;
    ek_on_failure_policy on_failure;
    ek_on_error_policy on_error;
    int64_t iterations_expected;
    int64_t stall_ms; /* below 0: never */
    const char *report, *record;
    ek_worker_hooks hooks;
    bool ignore_environment;

    _Alignas(8) int64_t seed;
    int64_t buffer_slots, ranks_per_node, poll_period_us;
    int64_t balance_group, balance_ppm, data_bytes;
    const char *hpdc12;
    _Alignas(8) int order; /* enum eki_order */
    _Alignas(8) int deque; /* enum eki_deque_option */
    _Alignas(8) int check; /* enum eki_checking */
    _Alignas(8) int data;  /* enum eki_data_policy */
    _Alignas(8) const char *hints;
    _Alignas(8) int64_t status; /* s; 1: as is good for where lines go */
    _Alignas(8) const char *timeline;
    int64_t steal_batch;    /* 0: half of what is shown */
    int64_t load_threshold; /* tasks */
    const char *dvs, *lifeline;
    _Alignas(8) int termination; /* enum eki_detector */
    _Alignas(8) const char *sws;
    int64_t saves; /* 0: EKI_SAVES */
    const char *replay;
    const char *checkpoint;
    _Alignas(8) const char *on_stall;
    _Alignas(8) int on_stop; /* enum eki_on_stop */
    _Alignas(8) const char *signal;
    _Alignas(8) const char *time_limit;
};

/* What on_stall says: after how many seconds a wait ends the job; 0: it never
 * does. */
bool eki_on_stall_read(const char *text, int64_t *seconds);
/* What time_limit says; 0: there is none. */
bool eki_time_limit_read(const char *text, uint64_t *ns);

/* Saves that a folder keeps. */
#define EKI_SAVES 2

/* Nanoseconds of stall_ms; 0: never. */
static inline uint64_t eki_stall_ns(const struct eki_options *options)
{
    return options->stall_ms < 0 ? 0 : (uint64_t)options->stall_ms * 1000000;
}

/*
 * Options after defaults, program and environment; owns its strings.  It points
 * into itself: do not copy it.
 */
struct eki_settings {
    struct eki_options options;      /* its texts point into this object */
    struct eki_schedule restore;     /* from EVENKEEL_RESTORE */
    struct eki_schedule steal;       /* from EVENKEEL_STEAL */
    struct eki_schedule timelines;   /* from EVENKEEL_TIMELINE */
    struct eki_schedule termination; /* from EVENKEEL_TERMINATION */
    uint64_t environment; /* a bit per option that a variable has set */
    uint64_t steals;      /* 1 << steal policy: of those that options had */
    char name[64];
    char report[EKI_OPTION_BYTES];
    char record[EKI_OPTION_BYTES];
    char hints[EKI_OPTION_BYTES];
    char replay[EKI_OPTION_BYTES];
    char timeline[EKI_OPTION_BYTES];
    char hpdc12[128];
    char dvs[128];
    char lifeline[128];
    char sws[128];
    char checkpoint[EKI_OPTION_BYTES];
    char on_stall[32];
    char signal[64], time_limit[16];
};

/* Where the timeline of ITERATION goes; NULL: there is none. */
const char *eki_settings_timeline(const struct eki_settings *settings,
                                  int64_t iteration);
/* Whether any may have one. */
static inline bool
eki_settings_has_timeline(const struct eki_settings *settings)
{
    return settings->timelines.count > 0 || settings->timeline[0] != '0' ||
           settings->timeline[1] != '\0';
}

/* Whether reports are printed, or written. */
static inline bool eki_settings_report(const struct eki_settings *settings)
{
    return settings->report[0] != '0' || settings->report[1] != '\0';
}

/*
 * Resolve GIVEN (NULL: defaults) and the environment.  Honours struct_bytes of
 * an older program.  Checks every range.  On failure nothing is owned.
 */
ek_status eki_settings_resolve(const ek_options *given,
                               struct eki_settings *settings);
/* Warn of EVENKEEL_ variables that nobody knows, with the nearest name, once
 * per process. */
void eki_settings_warn(void);
/* Its entries of lists are for a collection. */
void eki_settings_note_lists(const struct eki_settings *settings);
/* Warn, once per process, of entries of lists that name a collection which
 * there has not been. */
void eki_settings_warn_lists(void);
void eki_settings_free(struct eki_settings *settings);

/* Copy what a program gave as a struct of BYTES, which may be of another
 * version, over what is in TO, of TO_BYTES; both begin with struct_bytes.
 * FEWEST are those that every version has; false: it is not that struct. */
bool eki_struct_copy(const void *from, size_t bytes, size_t fewest, void *to,
                     size_t to_bytes);

/* Set one field from text, as ek_set_option() does; a schedule stays in force.
 */
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
    struct eki_field field; /* of struct eki_options; a zero is the default */
    size_t given;           /* offset in ek_options */
    int traits;
    size_t schedule; /* from its variable: offset in eki_settings; 0: none */
    size_t room;     /* of a text: offset in eki_settings */
};

/* Their defaults. */
extern const struct eki_options eki_option_defaults;

/* The table, for comparison over ranks, dumps and documents. */
int eki_option_count(void);
const struct eki_option *eki_option_at(int option);
/* Name of its variable, whether it has one or not. */
void eki_option_variable(int option, char *text, size_t bytes);
/* The policies of the option of that name; NULL: it has none. */
const struct eki_choice *eki_option_choices(const char *name);
/* Name of one of them; NULL: there is no such policy. */
const char *eki_option_choice_name(const char *name, int value);

#endif
