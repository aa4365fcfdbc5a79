/* SPDX-License-Identifier: BSD-3-Clause */
/* ek-sim: what its parts share. */
#ifndef EK_SIM_H
#define EK_SIM_H

#include "cli/modes.h"
#include "positions.h"
#include "run_arguments.h"
#include "sim/sim.h"

struct arguments {
    struct run_arguments shared;
    const char *machine, *start, *order, *mode, *deque;
    const char *cores;                   /* a list; NULL: one node */
    const char *rank_workers, *slowness; /* lists; NULL: all, equally fast */
    int node_cores, ranks_per_node;      /* 0: as the machine says */
    const char *progress, *termination;  /* NULL: as the library has it */
    const char *utilization, *loads;     /* files; NULL: none */
    const char *timeline;                /* a folder; NULL: none */
    int iterations, buffer_slots, seeds;
    int balance_group, balance_ppm, iterations_expected;
    int steal_batch, load_threshold;
    const char *hpdc12, *dvs, *lifeline, *sws; /* NULL: as the library has it */
    const char *hints;                         /* a record; NULL: none */
    int backoff_ns;                            /* -1: the library's */
    int64_t task_bytes;
    const char *bytes_scale; /* a list; NULL: 1 */
    int64_t data_bytes;      /* as the library's option */
    const char *data;        /* NULL: it returns */
    int pinned;              /* percent of the tasks */
    const char *tiles;       /* NULL: tasks use none */
    const char *jitter;      /* NULL: that of the machine */
    int64_t nulls;           /* -1: those of the workload, of StealAll alone */
    double null_ns;          /* below 0: as the machine says */
    double node_ns;          /* below 0: as the tree has it */
    int ahead_ns;            /* of short tasks of a tree */
};

/* What it takes, and what holds where nothing is said. */
extern const struct command_line arguments_line;
extern const struct arguments arguments_default;

enum field {
    FIELD_MAKESPAN,
    FIELD_IDEAL,
    FIELD_BOUND,
    FIELD_EFFICIENCY,
    FIELD_EFFICIENCY_BOUND,
    FIELD_EFFICIENCY_CORES,
    FIELD_EFFICIENCY_BEST,
    FIELD_TRIES,
    FIELD_TRIES_DEVIATION,
    FIELD_STEALS,
    FIELD_STEALS_DEVIATION,
    FIELD_STOLEN,
    FIELD_MOVED,
    FIELD_WORK,
    FIELD_SEARCH,
    FIELD_END,
    FIELD_SERVER,
    FIELD_DETECT,
    FIELD_RESTORE,
    FIELD_DECISION,
    FIELD_IMBALANCE,
    FIELD_STOLEN_BYTES,
    FIELD_MOVED_BYTES,
    FIELD_STEALING,
    FIELD_IN_VAIN,
    FIELD_MESSAGES,
    FIELD_DEEPEST,
    FIELD_WORKER_TASKS,
    FIELD_WORKER_TASKS_DEVIATION,
    FIELD_LOADS_READ, /* of nodes that are thieves */
    FIELD_OCCUPIED,
    FIELD_DENIED,
    FIELD_SEARCHES_1, /* ... and one for each of EKI_SEARCH_VICTIMS */
    FIELD_SEARCHES_2,
    FIELD_SEARCHES_3,
    FIELD_SEARCHES_4,
    FIELD_SEARCHES_MORE,
    FIELD_GRANTS,
    FIELD_CYCLIC,
    FIELD_FIRST_STEALS,
    FIELD_FIRST_STEAL,
    FIELD_FIRST_STEAL_MOST,
    FIELD_TILE_BYTES, /* from here on those of tiles */
    FIELD_CACHED,
    FIELD_TILE_WAIT,
    FIELD_TRAVELLED, /* from here on those of data */
    FIELD_DATA_BYTES,
    FIELD_DATA_WAIT,
    FIELD_DATA_HELD,
    FIELD_DATA_MEAN,
    FIELDS
};

struct row {
    const struct mode *mode;
    int iteration;   /* from 1 */
    double inside_s; /* of workers, from their first step to their end */
    double values[FIELDS];
};

/* Of rows of several seeds. */
enum statistic {
    STATISTIC_MEAN,
    STATISTIC_DEVIATION,
    STATISTIC_CI95, /* half the width of the mean's 95 % confidence interval */
    STATISTICS
};

/* From ROWS [seeds][count] fill SUMMARY [STATISTICS][count]. */
void summarize(const struct row *rows, int seeds, int count,
               struct row *summary);

enum start {
    START_BLOCK,
    START_DEALT,
    START_RECORD,
    START_OWNER
};

/* What --tiles says; numbers are whole. */
struct tiles_plan {
    bool is_used, has_overlap;
    bool is_product; /* tasks are those of a product of two square matrices */
    double gets, accumulates, bytes, block, cache_mb;
    double tiles; /* 0: as many as tasks, or those of the three matrices */
};

/* What moving data comes to, over the sizes of as many cores, which grow. */
struct paying {
    int cores, sizes;
    double most_bytes;  /* for a task: it pays with all up to that ... */
    double least_bytes; /* ... and not with this any more */
};

/* What all modes of a run on so many cores have in common. */
struct run {
    const struct arguments *arguments;
    struct workload *workload;
    struct workload_source *source; /* with the seed of now */
    struct unfold *unfold;          /* its tree; NULL: tasks spawn none */
    struct workload *hints;         /* durations as known; NULL: not */
    struct curve *curve;            /* of --utilization; NULL: not asked for */
    struct loads *loads;            /* of --loads; NULL: not asked for */
    struct eki_machine machine;
    int cores, nodes, ranks, workers;
    int *rank_workers, *node_of_rank; /* [ranks] */
    double *slowness;                 /* [nodes]; a task takes so much longer */
    double speed; /* of all workers: tasks of 1 s in a second */
    enum start start;
    int every, more; /* of START uneven; else 1, 1: all are alike */
    struct tiles_plan tiles;
    double bytes_scale; /* of the data of tasks */
    char name[160];     /* of the workload, with that */
    struct paying *paying;
    int buffer_slots;
    bool is_sampled;
    bool is_first, is_last; /* of the sweep */
    bool is_last_size;      /* of data, for so many cores */
    int64_t events;
    double real_s; /* that they took */
};

/* A run for each entry of --cores and of --bytes-scale. */
struct sweep {
    struct run *runs; /* [count] */
    int count;
    struct paying paying;
};

/* Place every job of --cores on the machine; to be freed, also on failure. */
bool sweep_place(const struct arguments *arguments, struct sweep *sweep,
                 struct message *message);
void sweep_free(struct sweep *sweep);

/* Choose where the tasks start; the last run forgets where they ran. */
bool choose_start(struct run *run, struct message *message);

/* Durations of iteration 0, 1, 2, ..., one after the other. */
void step_workload(const struct run *run, int iteration);

/* What no makespan is shorter than, without and with regard to the longest
 * task.
 */
double ideal_s(const struct run *run);
double bound_s(const struct run *run);

/* Null tasks of a mode that has them, and what ran of them. */
struct nulls {
    struct positions positions;
    const struct run *run;
    double ns;         /* of one */
    uint64_t expected; /* sum of their positions */
    int64_t executed;  /* null tasks, in this iteration ... */
    uint64_t sum;      /* ... and the sum of their positions */
};

/* How many there are in modes that have them, and how long each takes. */
int64_t null_count(const struct run *run);
double null_ns(const struct run *run);
struct nulls nulls_make(const struct run *run);
/* Add a range to each worker; false: no memory. */
bool nulls_add(const struct nulls *nulls, const struct eki_sim *sim);
/* Whether a task is an index of a range by itself: counter has drawn it. */
bool nulls_is_index(const struct eki_slot *slot);
/* Begin such a task: its number in the workload; -1: it is null. */
int64_t nulls_begin_index(struct nulls *nulls, struct ek_worker *worker);
/* Before a restore: indices of ranges that ran become tasks of the workload. */
void nulls_end_ranges(const struct nulls *nulls, struct eki_local *local);
/* How long all in the range of SLOT takes. */
double range_ns(const struct run *run, const struct eki_slot *slot);
enum null_step {
    NULLS_TASK, /* there is a task of the workload */
    NULLS_RUN,  /* there are null ones, which take a time together */
    NULLS_AGAIN /* the worker steps again: nothing has begun */
};
/* Begin what is at the worker's index. */
enum null_step nulls_begin(struct nulls *nulls, struct eki_sim_worker *worker,
                           int64_t *task, double *ns);
/* Whether each ran once in this iteration. */
bool nulls_are_done(const struct nulls *nulls);

/* Run all iterations of a mode: ROWS [iterations].  Returns an exit status; the
 * message is there unless it is 0. */
int simulate(struct run *run, const struct mode *mode, struct row *rows,
             struct message *message);

/* What is run, before the first row. */
void print_head(const struct run *run);
/* Rows [seeds][modes][iterations]; fills in what compares modes. */
void print_modes(const struct run *run, struct row *rows, int modes);

#endif
