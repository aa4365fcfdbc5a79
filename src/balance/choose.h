/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the next iteration is to be run with: whether tasks are rebalanced
 * before it, and whether its workers steal.  Pure functions on what a chooser
 * remembers; rank 0 has one, and tells the others.
 *
 * Words.  A *lap* is an iteration that was run, after a restore that asked. Its
 * *loss* is what its wall time exceeds the mean work of a worker by, as a part
 * of that.  A lap is *quiet* where nobody steals.
 */
#ifndef EKI_CHOOSE_H
#define EKI_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

/* What a lap came to; wall_ns 0: nobody knows. */
struct eki_lap {
    double wall_ns;
    double work_ns; /* mean of the workers, with spawned tasks */
    double cost_ns; /* of the last rebalance */
    bool has_spawned;
    bool was_quiet;
};

/* What is known before a lap, all loads by the last durations. */
struct eki_outlook {
    double mean_ns, largest_ns; /* loads of workers, of tasks that stay */
    double target_ns;           /* of a rebalance */
    double noise;      /* the largest load's, by durations that vary / mean */
    double iterations; /* to come */
    double cost_ns;    /* of the last rebalance; 0: none yet */
    double talk_ns;    /* of asking all ranks, the last time */
    int64_t done;      /* iterations */
    bool may_steal;    /* the policy that is set lets workers steal */
};

/* Why tasks move or stay. */
enum eki_why_restore {
    EKI_RESTORE_GAINS, /* they move */
    EKI_RESTORE_EVEN,  /* no load is above the target */
    EKI_RESTORE_WARMS, /* so little after the first iteration may be chance */
    EKI_RESTORE_COSTS, /* it would take longer than it gains */
    EKI_RESTORE_FAILED /* the last one was in vain */
};

/* Why workers steal or not. */
enum eki_why_steal {
    EKI_STEAL_SET,    /* as the options say: nothing was chosen */
    EKI_STEAL_LEARNS, /* nothing else is known yet */
    EKI_STEAL_GAINS,  /* without it the lap would take longer */
    EKI_STEAL_SPAWNS, /* nobody knows where tasks will spawn others */
    EKI_STEAL_FAILED, /* without it the last quiet lap took longer */
    EKI_STEAL_COSTS   /* nobody: looking for work costs more */
};

/* After 1, 2, 3 ... failures in a row 2, 4, 8 ... laps without another try. */
struct eki_patience {
    int64_t left, last;
};

struct eki_chooser {
    int64_t laps;
    bool is_quiet;   /* the lap to come */
    int64_t pause;   /* restores after this one that ask nobody, but retain */
    bool has_moved;  /* tasks move before it */
    double stealing; /* loss of laps that steal; < 0: not known */
    double retained; /* loss of laps where no task had moved; < 0: not known */
    double last;     /* loss of the last lap; < 0: not known */
    double expected; /* loss of the quiet lap to come, by loads ... */
    double surprise; /* ... and what the last one lost beyond */
    double promised; /* what the lap after a rebalance must not lose */
    int64_t lasted;  /* laps since the last rebalance; 0: none yet */
    double share;    /* of its cost that the lap after it must gain */
    double wall_ns;  /* of the last lap */
    bool has_spawned;
    struct eki_patience rebalance, quiet;
    enum eki_why_restore why_restore;
    enum eki_why_steal why_steal;
};

/* Take a lap as it was chosen. */
void eki_choose_learn(struct eki_chooser *chooser, const struct eki_lap *lap);
/* Whether to rebalance. */
bool eki_choose_restore(struct eki_chooser *chooser,
                        const struct eki_outlook *outlook);
/* Whether to steal, after a restore that left LARGEST_NS and moved tasks, or
 * none. */
void eki_choose_steal(struct eki_chooser *chooser,
                      const struct eki_outlook *outlook, double largest_ns,
                      bool has_moved);

#endif
