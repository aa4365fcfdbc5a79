/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks and threads that come late, and tasks that arrive behind a long one:
 * who runs what meanwhile.  Workers step the servers between their tasks.
 * Prints what was seen.
 */
#include "../unit/check.h"
#include "timed.h"

#include <string.h>

enum {
    WORKERS_MOST = 8,
    ITERATIONS_MOST = 4,
    MS = 1000000 /* nanoseconds */
};

/* What comes late is so in each iteration. */
struct job {
    int ranks, iterations;
    int nodes[WORKERS_MOST], workers[WORKERS_MOST];
    ek_steal_policy steal;
    enum eki_detector detector;
    int late_ms[WORKERS_MOST]; /* ranks */
    int late_thread;           /* a worker, -1: none; by THREAD_MS */
    int thread_ms;
    int message_ms;             /* 0: two microseconds */
    int tasks[WORKERS_MOST];    /* seeds of each worker in an iteration ... */
    int ms[WORKERS_MOST];       /* ... that take so long each, */
    int first_ms[WORKERS_MOST]; /* but the one that it begins with */
};

struct run {
    const struct job *job;
    struct eki_sim_iteration plan;
    struct eki_sim *sim;
    uint64_t entered[ITERATIONS_MOST], left[ITERATIONS_MOST];
    int arrivals[WORKERS_MOST]; /* threads sent to workers, by rank */
    int ran[ITERATIONS_MOST][WORKERS_MOST];
    /* ... begun before those that are late had come. */
    int ran_before[ITERATIONS_MOST][WORKERS_MOST];
};

static const struct eki_sim_iteration *iteration(void *context, int number)
{
    struct run *run = context;
    return number < run->job->iterations ? &run->plan : NULL;
}

static void enter(void *context, struct eki_sim_rank *rank)
{
    struct run *run = context;
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct ek_worker *worker = rank->engine->workers[w];
        int count = run->job->tasks[worker->id];
        eki_local_clear(&worker->local);
        for (int i = 0; i < count; i++) {
            bool is_first = i == count - 1 && run->job->first_ms[worker->id];
            int ms = is_first ? run->job->first_ms[worker->id]
                              : run->job->ms[worker->id];
            timed_add(worker, i, (uint64_t)ms * MS, true);
        }
    }
    run->arrivals[rank->number] = 0;
    if (run->entered[rank->iteration] == 0)
        run->entered[rank->iteration] = run->sim->now;
}

/* When the last of those that are late has come. */
static uint64_t latest_ns(const struct job *job)
{
    int most = job->late_thread < 0 ? 0 : job->thread_ms;
    for (int r = 0; r < job->ranks; r++)
        most = job->late_ms[r] > most ? job->late_ms[r] : most;
    return (uint64_t)most * MS;
}

static uint64_t task(void *context, struct eki_sim_worker *worker, bool begins)
{
    struct run *run = context;
    int i = worker->rank->iteration, id = worker->worker->id;
    uint64_t late = latest_ns(run->job);
    if (begins) {
        run->ran[i][id]++;
        run->ran_before[i][id] += run->sim->now < run->entered[i] + late;
        return timed_ns(worker);
    }
    return EKI_SIM_ENDS_NOW;
}

static void left(void *context, struct eki_sim_rank *rank,
                 const struct eki_error *error)
{
    struct run *run = context;
    CHECK_OK(error->status);
    run->left[rank->iteration] = run->sim->now;
}

static uint64_t pace(void *context, struct eki_sim_rank *rank,
                     enum eki_sim_pace what, uint64_t ns)
{
    struct run *run = context;
    int arriving;
    switch (what) {
    case EKI_PACE_SERIAL:
        return 1 + (rank->state == EKI_SIM_RAN
                        ? 0
                        : (uint64_t)run->job->late_ms[rank->number] * MS);
    case EKI_PACE_ARRIVE:
        arriving = rank->engine->workers[0]->id + run->arrivals[rank->number]++;
        return arriving == run->job->late_thread
                   ? (uint64_t)run->job->thread_ms * MS
                   : 1;
    case EKI_PACE_WAIT:
        return 20000;
    case EKI_PACE_SERVER:
        return 50000;
    case EKI_PACE_TAKE:
        return 2000;
    case EKI_PACE_MESSAGE:
        return 2000 + (uint64_t)run->job->message_ms * MS;
    case EKI_PACE_STEP:
        return 200;
    default:
        return ns;
    }
}

static void open_run(struct run *run, const struct job *job)
{
    static const struct eki_machine machine = {
        .name = "late", .poll_period = 20000, .send = 1, .handle = 1};
    struct eki_sim_program program = {.context = run,
                                      .iteration = iteration,
                                      .enter = enter,
                                      .task = task,
                                      .left = left,
                                      .pace = pace};
    struct eki_sim_setup setup = timed_setup(&machine, &program);
    setup.ranks = job->ranks;
    setup.workers = job->workers;
    setup.nodes = job->nodes;
    memset(run, 0, sizeof *run);
    run->job = job;
    run->plan = (struct eki_sim_iteration){.steal = job->steal,
                                           .detector = job->detector};
    CHECK_OK(eki_sim_create(&setup, &run->sim));
    CHECK_EQ_INT(eki_sim_run(run->sim, 20000000), EKI_SIM_END_OVER);
    eki_sim_destroy(&run->sim);
}

/* Tasks that ran in iteration I, all or BEFORE those that are late came. */
static int sum(const struct run *run, int i, bool before)
{
    int tasks = 0;
    for (int w = 0; w < WORKERS_MOST; w++)
        tasks += before ? run->ran_before[i][w] : run->ran[i][w];
    return tasks;
}

static double seconds(const struct run *run, int i)
{
    return (double)(run->left[i] - run->entered[i]) * 1e-9;
}

static void print(const struct run *run, const char *name)
{
    int workers = 0;
    for (int r = 0; r < run->job->ranks; r++)
        workers += run->job->workers[r];
    for (int i = 0; i < run->job->iterations; i++) {
        printf("     %s, iteration %d: %.3f s; begun before the late came, by "
               "worker:",
               name, i + 1, seconds(run, i));
        for (int w = 0; w < workers; w++)
            printf(" %d", run->ran_before[i][w]);
        printf(" (%d of %d)\n", sum(run, i, true), sum(run, i, false));
    }
}

/* Two ranks on each node; the lower one of the node with tasks is late. */
static void late_rank_does_not_hide_its_node(void)
{
    static const struct job job = {.ranks = 4,
                                   .iterations = 3,
                                   .nodes = {0, 0, 1, 1},
                                   .workers = {1, 1, 1, 1},
                                   .steal = EK_STEAL_RANDOM,
                                   .late_ms = {1000},
                                   .late_thread = -1,
                                   .tasks = {0, 600},
                                   .ms = {0, 5}};
    struct run run;
    open_run(&run, &job);
    print(&run, "a late rank on the node of the tasks");
    for (int i = 0; i < job.iterations; i++) {
        CHECK_EQ_INT(sum(&run, i, false), 600);
        /* Three workers, 200 tasks in a second each. */
        CHECK(sum(&run, i, true) > 540);
    }
}

/* A node each: one with tasks, one that is late, one that steals. */
static void late_node_does_not_hold_up_a_thief(void)
{
    static const struct job job = {.ranks = 3,
                                   .iterations = 4,
                                   .nodes = {0, 1, 2},
                                   .workers = {1, 1, 1},
                                   .steal = EK_STEAL_RANDOM,
                                   .late_ms = {0, 2000},
                                   .late_thread = -1,
                                   .tasks = {40},
                                   .ms = {50}};
    struct run run;
    open_run(&run, &job);
    print(&run, "one of three nodes late");
    for (int i = 0; i < job.iterations; i++)
        CHECK_EQ_INT(run.ran_before[i][2], 20);
}

static void four_late_nodes_do_not_hold_up_a_thief(void)
{
    static const struct job job = {.ranks = 6,
                                   .iterations = 4,
                                   .nodes = {0, 1, 2, 3, 4, 5},
                                   .workers = {1, 1, 1, 1, 1, 1},
                                   .steal = EK_STEAL_RANDOM,
                                   .late_ms = {0, 1000, 1000, 1000, 1000},
                                   .late_thread = -1,
                                   .tasks = {400},
                                   .ms = {5}};
    struct run run;
    open_run(&run, &job);
    print(&run, "four of six nodes late");
    for (int i = 0; i < job.iterations; i++)
        CHECK(run.ran_before[i][5] > 150);
}

/*
 * Messages are slow.  Before an answer comes, a rank of the node has entered
 * with tasks of two seconds, one of which a worker has taken that has asked:
 * what is brought for it then is for the other worker of its rank, and for
 * other nodes.
 */
static void answers_do_not_wait_behind_long_tasks(void)
{
    static const struct job job = {.ranks = 4,
                                   .iterations = 4,
                                   .nodes = {0, 1, 1, 2},
                                   .workers = {1, 2, 1, 1},
                                   .steal = EK_STEAL_RANDOM,
                                   .late_ms = {0, 0, 10},
                                   .late_thread = -1,
                                   .message_ms = 20,
                                   .tasks = {40, 0, 0, 2},
                                   .ms = {100, 0, 0, 2000}};
    struct run run;
    open_run(&run, &job);
    print(&run, "answers behind long tasks");
    for (int i = 0; i < job.iterations; i++)
        CHECK(seconds(&run, i) < 2.2);
}

static struct job late_thread_job(ek_steal_policy steal)
{
    return (struct job){.ranks = 1,
                        .iterations = 2,
                        .workers = {2},
                        .steal = steal,
                        .late_thread = 1,
                        .thread_ms = 1000,
                        .tasks = {10, 10},
                        .ms = {50, 50}};
}

/* Nobody takes tasks of a worker whose thread is late, if nobody steals. */
static void late_thread_finds_its_tasks(void)
{
    struct job job = late_thread_job(EK_STEAL_NONE);
    struct run run;
    open_run(&run, &job);
    print(&run, "a late thread, no stealing");
    for (int i = 0; i < job.iterations; i++) {
        CHECK_EQ_INT(run.ran[i][0], 10);
        CHECK_EQ_INT(run.ran[i][1], 10);
    }
}

static void late_thread_is_stolen_from(void)
{
    struct job job = late_thread_job(EK_STEAL_RANDOM);
    struct run run;
    open_run(&run, &job);
    print(&run, "a late thread, stealing");
    for (int i = 0; i < job.iterations; i++)
        CHECK_EQ_INT(run.ran[i][0], 20);
}

/* ... though the only worker that is there waits for an answer, and no request
 * leaves its node before it has voted. */
static void late_thread_does_not_hold_up_a_vote(void)
{
    static const struct job job = {.ranks = 2,
                                   .iterations = 2,
                                   .nodes = {0, 1},
                                   .workers = {6, 2},
                                   .steal = EK_STEAL_HPDC12,
                                   .detector = EKI_DETECTOR_FRANCEZ,
                                   .late_thread = 7,
                                   .thread_ms = 1000,
                                   .tasks = {50, 50, 50, 50, 50, 50, 0, 10},
                                   .ms = {20, 20, 20, 20, 20, 20, 0, 20}};
    struct run run;
    open_run(&run, &job);
    print(&run, "a late thread, francez");
    for (int i = 0; i < job.iterations; i++)
        CHECK(run.ran_before[i][6] > 30);
}

/* A node whose only idle worker has no thread is no thief, and gives. */
static void late_thread_does_not_hold_up_thieves(void)
{
    static const struct job job = {.ranks = 2,
                                   .iterations = 2,
                                   .nodes = {0, 1},
                                   .workers = {2, 2},
                                   .steal = EK_STEAL_LOAD,
                                   .late_thread = 3,
                                   .thread_ms = 1000,
                                   .tasks = {0, 0, 200},
                                   .ms = {0, 0, 10}};
    struct run run;
    open_run(&run, &job);
    print(&run, "a late thread on the node of the tasks, load");
    for (int i = 0; i < job.iterations; i++)
        CHECK(run.ran_before[i][2] < 75);
}

int main(void)
{
    RUN(late_rank_does_not_hide_its_node);
    RUN(late_node_does_not_hold_up_a_thief);
    RUN(four_late_nodes_do_not_hold_up_a_thief);
    RUN(answers_do_not_wait_behind_long_tasks);
    RUN(late_thread_finds_its_tasks);
    RUN(late_thread_is_stolen_from);
    RUN(late_thread_does_not_hold_up_a_vote);
    RUN(late_thread_does_not_hold_up_thieves);
    return check_result();
}
