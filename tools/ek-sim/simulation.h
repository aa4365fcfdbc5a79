/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iterations of a mode, what its parts share: how each is run and restored
 * (plan.c), its tasks (tasks.c), what came of it (account.c), and the run
 * (simulate.c).
 */
#ifndef EK_SIM_SIMULATION_H
#define EK_SIM_SIMULATION_H

#include "ek_sim.h"

#include "balance/course.h"
#include "policies.h"

/* How iterations are run and restored. */
struct plan {
    struct eki_schedule restore, steal, termination;
    struct eki_sim_iteration iterations[2]; /* that which runs, and the last */
    struct eki_course course;               /* of auto */
    bool is_calm; /* the last iteration, as auto has it */
};

struct simulation {
    struct run *run;
    const struct mode *mode;
    struct eki_sim *sim;
    struct plan plan;
    struct row *rows;
    int iteration;        /* that runs, from 0; -1: hints are restored */
    struct row before;    /* what that restore comes to */
    struct eki_load load; /* as hints have it */
    int64_t started;      /* tasks, in this iteration ... */
    uint64_t sum;         /* ... and the sum of their hashes */
    uint64_t expected;
    struct nulls nulls; /* if the mode has them */
    struct jitter *jitter;
    struct tiles *tiles;         /* NULL: tasks use none */
    struct timelines *timelines; /* NULL: none are asked for */
    struct data *data;           /* NULL: none of them has any */
    bool is_wrong;               /* tasks did not run once each */
    bool is_memory_out;
    /* In this iteration; all other sums are in its row: */
    int inside, left, restored; /* ranks */
    uint64_t entered_ns, left_ns, server_ns;
    double tile_gets;
    int64_t carried; /* bytes that have travelled with tasks, before */
};

/* Whether null tasks run in this iteration: discarded, they never come again
 * unless all tasks begin anew. */
static inline bool has_nulls_now(const struct simulation *simulation)
{
    return simulation->mode->has_nulls &&
           (simulation->iteration == 0 || simulation->mode->is_anew);
}

/* Whether the schedules of the mode can be read; to be freed, also if not. */
bool plan_open(struct plan *plan, const struct mode *mode,
               const char *termination, struct message *message);
void plan_close(struct plan *plan);
/* Of struct eki_sim_program: iteration I, and the restore after it. */
const struct eki_sim_iteration *plan_iteration(void *context, int i);
/* The restore after the iteration that runs has taken NS. */
void plan_restored(struct simulation *simulation,
                   const struct eki_balance_report *report, double ns);
/* Whether a rebalance comes after it. */
bool plan_is_balanced(const struct simulation *simulation);

/* Let what a large simulation allocates from now on lie in huge pages. */
void heap_prepare(const struct run *run);
/* False: no memory. */
bool tasks_add(struct simulation *simulation);
/* Of struct eki_sim_program. */
uint64_t tasks_run(void *context, struct eki_sim_worker *worker, bool begins);
/* How many have begun in this iteration, and how many there are: those of the
 * workload, or the root and what has been spawned so far. */
int64_t tasks_started(const struct simulation *simulation);
int64_t tasks_expected(const struct simulation *simulation);

/* Of struct eki_sim_program: what iterations come to. */
void account_enter(void *context, struct eki_sim_rank *rank);
void account_left(void *context, struct eki_sim_rank *rank,
                  const struct eki_error *error);
void account_restored(void *context, struct eki_sim_rank *rank,
                      ek_status status);

#endif
