/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for the counter's numbers is no event each time it would look, and
 * a task that waits goes on when a message has come. */
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

static const struct eki_sim_iteration *stealing(void *context, int number)
{
    static const struct eki_sim_iteration plan = {.steal = EK_STEAL_RANDOM};
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
    CHECK_OK(error->status);
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
    CHECK_OK(eki_sim_create(&setup, &waiting.sim));
    CHECK_EQ_INT(eki_sim_run(waiting.sim, 20000000), EKI_SIM_END_OVER);
    printf("     %d tasks in %.3f s, %d events\n", (int)waiting.tasks,
           (double)waiting.left_ns * 1e-9, (int)waiting.sim->events);
    CHECK_EQ_INT(waiting.tasks, RANKS * WORKERS * TASKS);
    CHECK(waiting.left_ns > UINT64_C(1000) * MS);
    CHECK(waiting.sim->events < 40 * waiting.tasks);
    eki_sim_destroy(&waiting.sim);
}

/* A task of rank 0 waits for the stop that rank 1 tells; the worker beside it
 * runs the seeds behind it meanwhile. */
struct halting {
    bool begun[2];
    int others; /* ran on the worker beside it */
    uint64_t stopped_ns, went_on_ns, halted_ns;
    struct eki_sim *sim;
};

static void enter_halting(void *context, struct eki_sim_rank *rank)
{
    (void)context;
    for (int i = 0; i < (rank->number == 0 ? TASKS : 1); i++)
        timed_add(rank->engine->workers[0], i, MS, true);
}

static uint64_t halting_task(void *context, struct eki_sim_worker *worker,
                             bool begins)
{
    struct halting *halting = context;
    struct eki_engine *engine = worker->rank->engine;
    int rank = worker->rank->number;
    if (worker->worker->here != 0) {
        halting->others += begins;
        return begins ? timed_ns(worker) : EKI_SIM_ENDS_NOW;
    }
    if (begins) {
        halting->begun[rank] = true;
        return rank == 0 ? 1 : 10 * timed_ns(worker);
    }
    if (rank == 0 && !eki_is_stopped(engine))
        return EKI_SIM_WAITS_FOR_TILES;
    if (rank == 0) {
        halting->went_on_ns = halting->sim->now;
    } else {
        halting->stopped_ns = halting->sim->now;
        eki_engine_stop(engine);
    }
    return EKI_SIM_ENDS_NOW;
}

static void left_halting(void *context, struct eki_sim_rank *rank,
                         const struct eki_error *error)
{
    struct halting *halting = context;
    CHECK_OK(error->status);
    for (int w = 0; w < rank->topology.workers_here; w++)
        halting->halted_ns += rank->workers[w].halted_ns;
}

static void a_message_lets_a_task_go_on(bool has_server)
{
    const struct eki_machine machine = {.name = "halts",
                                        .has_server = has_server,
                                        .latency = 1000,
                                        .handle = 1000,
                                        .poll = 100,
                                        .poll_period = 20000,
                                        .probe = 100};
    struct halting halting = {.others = 0};
    const struct eki_sim_program program = {.context = &halting,
                                            .iteration = stealing,
                                            .enter = enter_halting,
                                            .task = halting_task,
                                            .left = left_halting};
    struct eki_sim_setup setup = timed_setup(&machine, &program);
    setup.ranks = 2;
    setup.workers = (const int[]){2, 1};
    setup.nodes = (const int[]){0, 1};
    CHECK_OK(eki_sim_create(&setup, &halting.sim));
    CHECK_EQ_INT(eki_sim_run(halting.sim, 100000), EKI_SIM_END_OVER);
    CHECK(halting.begun[0] && halting.begun[1]);
    CHECK_EQ_INT(halting.others, TASKS - 1);
    CHECK(halting.went_on_ns > halting.stopped_ns);
    /* A thread that waits sleeps up to 50 us while an answer is due, else up to
     * a millisecond. */
    CHECK(halting.went_on_ns < halting.stopped_ns + 2 * MS);
    CHECK(halting.halted_ns > 9 * MS && halting.halted_ns < 12 * MS);
    CHECK(halting.sim->events < 300);
    eki_sim_destroy(&halting.sim);
}

static void a_server_lets_a_task_go_on(void)
{
    a_message_lets_a_task_go_on(true);
}

static void a_task_that_waits_steps_the_server(void)
{
    a_message_lets_a_task_go_on(false);
}

int main(void)
{
    RUN(long_queues_are_few_events);
    RUN(a_server_lets_a_task_go_on);
    RUN(a_task_that_waits_steps_the_server);
    return check_result();
}
