/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for the counter's numbers is no event each time it would look. */
#include "../unit/check.h"
#include "timed.h"

enum {
    RANKS = 16,
    WORKERS = 4, /* of each */
    TASKS = 4,   /* of each */
    MS = 1000000 /* nanoseconds */
};

struct waiting {
    int64_t tasks;
    uint64_t left_ns;
    struct eki_sim *sim;
};

static const struct eki_sim_iteration *iteration(void *context, int number)
{
    static const struct eki_sim_iteration plan = {.steal = EK_STEAL_COUNTER};
    (void)context;
    return number == 0 ? &plan : NULL;
}

static void enter(void *context, struct eki_sim_rank *rank)
{
    (void)context;
    for (int w = 0; w < WORKERS; w++) {
        for (int i = 0; i < TASKS; i++)
            timed_add(rank->engine->workers[w], i, MS, true);
    }
}

static uint64_t task(void *context, struct eki_sim_worker *worker, bool begins)
{
    struct waiting *waiting = context;
    waiting->tasks += begins;
    return begins ? timed_ns(worker) : EKI_SIM_ENDS_NOW;
}

static void left(void *context, struct eki_sim_rank *rank,
                 const struct eki_error *error)
{
    struct waiting *waiting = context;
    (void)rank;
    CHECK_EQ_INT(error->status, EK_OK);
    waiting->left_ns = waiting->sim->now;
}

/* Rank 0 takes ten milliseconds for each message: as in a job of 40,000 workers
 * an answer takes as long as thousands of looks. */
static void long_queues_are_few_events(void)
{
    static const struct eki_machine machine = {.name = "slow",
                                               .has_server = true,
                                               .latency = 1000,
                                               .handle = 10.0 * MS,
                                               .poll = 100,
                                               .probe = 100};
    struct waiting waiting = {0};
    const struct eki_sim_program program = {.context = &waiting,
                                            .iteration = iteration,
                                            .enter = enter,
                                            .task = task,
                                            .left = left};
    struct eki_sim_setup setup = timed_setup(&machine, &program);
    int nodes[RANKS], workers[RANKS];
    for (int r = 0; r < RANKS; r++) {
        nodes[r] = r;
        workers[r] = WORKERS;
    }
    setup.ranks = RANKS;
    setup.workers = workers;
    setup.nodes = nodes;
    CHECK_EQ_INT(eki_sim_create(&setup, &waiting.sim), EK_OK);
    CHECK_EQ_INT(eki_sim_run(waiting.sim, 20000000), EKI_SIM_END_OVER);
    printf("     %d tasks in %.3f s, %d events\n", (int)waiting.tasks,
           (double)waiting.left_ns * 1e-9, (int)waiting.sim->events);
    CHECK_EQ_INT(waiting.tasks, RANKS * WORKERS * TASKS);
    CHECK(waiting.left_ns > UINT64_C(1000) * MS);
    CHECK(waiting.sim->events < 40 * waiting.tasks);
    eki_sim_destroy(&waiting.sim);
}

int main(void)
{
    RUN(long_queues_are_few_events);
    return check_result();
}
