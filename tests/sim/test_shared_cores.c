/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four workers on two cores run trees as fast as two workers: one that the
 * system has stopped keeps little from the others.
 *
 * The system, as a model: who runs tasks wants a core.  Whoever gets one keeps
 * it for a slice, or until it waits for work; then the next in the queue has
 * it. So a worker may be stopped within a task, or as it begins one, with all
 * that it hides.  Looking for work takes no core: who waits yields, and sleeps.
 */
#include "../unit/check.h"
#include "timed.h"

#include <math.h>
#include <string.h>

enum {
    CORES = 2,
    WORKERS = 4,
    TASKS = 4000,
    SEEDS = 40
};
#define SLICE_NS UINT64_C(4000000)
/* The least of these seeds is 0.975. */
#define LEAST 0.95
/* Until it is woken. */
#define STOPPED_NS UINT64_C(1000000000000)

enum shape {
    FAN,      /* the root's */
    BINARY,   /* levels of two children */
    BOUNCING, /* a chain, with a dozen leaves at each link */
    UNEVEN,   /* up to six children, drawn */
    SHAPES
};

struct node {
    uint64_t number;
    int64_t left; /* levels */
};

/* What the system knows of a worker. */
struct thread {
    uint64_t left_ns;    /* of its task ... */
    uint64_t running_ns; /* ... of which it runs so much now */
    uint64_t until;      /* end of its slice */
    bool has_core, is_queued;
};

struct job {
    uint64_t seed;
    enum shape shape;
    int ranks, workers, cores; /* free ones */
    bool is_unpublished;       /* broken */
    double mean_ns;
    struct eki_sim_iteration plan;
    struct eki_sim *sim;
    struct thread threads[WORKERS];
    int queue[WORKERS], queued;
    uint64_t entered, took_ns;
    int64_t tasks, spawned;
};

static double unit_of(const struct node *node, uint64_t stream)
{
    return ((double)(eki_hash(stream, node->number) >> 11) + 0.5) * 0x1p-53;
}

static uint64_t ns_of(const struct job *job, const struct node *node)
{
    return 1 + (uint64_t)(-job->mean_ns * log(unit_of(node, 1)));
}

static int64_t count_children(const struct job *job, const struct node *node)
{
    if (node->left <= 0 || job->spawned >= TASKS)
        return 0;
    switch (job->shape) {
    case FAN:
        return TASKS;
    case BOUNCING:
        return 13;
    case UNEVEN:
        return 1 + (int64_t)(6 * unit_of(node, 2));
    default:
        return 2;
    }
}

static void spawn(struct job *job, struct eki_sim_worker *worker)
{
    struct node parent, child;
    memcpy(&parent, eki_worker_current(worker->worker)->payload, sizeof parent);
    int64_t count = count_children(job, &parent);
    for (int64_t i = 0; i < count; i++) {
        bool is_leaf = job->shape == BOUNCING && i > 0;
        child.number = eki_hash(parent.number, (uint64_t)i);
        child.left = is_leaf ? 0 : parent.left - 1;
        CHECK(eki_sim_spawn(worker, 0, &child, sizeof child, 0));
        job->spawned++;
    }
}

static struct thread *thread_of(struct job *job,
                                const struct eki_sim_worker *worker)
{
    return &job->threads[worker->worker->id];
}

/* Give free cores to who is next in the queue. */
static void grant(struct job *job)
{
    struct eki_sim *sim = job->sim;
    while (job->cores > 0 && job->queued > 0) {
        int id = job->queue[0];
        memmove(job->queue, job->queue + 1,
                (size_t)--job->queued * sizeof *job->queue);
        job->threads[id].is_queued = false;
        job->threads[id].has_core = true;
        job->threads[id].until = sim->now + SLICE_NS;
        job->cores--;
        eki_heap_set_early(&sim->heap, sim->workers[id].actor, sim->now);
    }
}

static void give_up(struct job *job, struct thread *thread)
{
    thread->has_core = false;
    job->cores++;
}

/* Run on, or be stopped: how long until then, or until it is woken. */
static uint64_t run_on(struct job *job, const struct eki_sim_worker *worker)
{
    struct thread *thread = thread_of(job, worker);
    if (thread->has_core && job->sim->now >= thread->until)
        give_up(job, thread);
    if (!thread->has_core && !thread->is_queued) {
        thread->is_queued = true;
        job->queue[job->queued++] = worker->worker->id;
    }
    grant(job);
    thread->running_ns = 0;
    if (!thread->has_core)
        return STOPPED_NS;
    uint64_t slice = thread->until - job->sim->now;
    thread->running_ns = thread->left_ns < slice ? thread->left_ns : slice;
    return thread->running_ns;
}

static uint64_t task(void *context, struct eki_sim_worker *worker, bool begins)
{
    struct job *job = context;
    struct thread *thread = thread_of(job, worker);
    if (begins) {
        struct node node;
        memcpy(&node, eki_worker_current(worker->worker)->payload, sizeof node);
        thread->left_ns = ns_of(job, &node);
        job->tasks++;
        return run_on(job, worker);
    }
    thread->left_ns -= thread->running_ns;
    if (thread->left_ns > 0)
        return run_on(job, worker);
    spawn(job, worker);
    return EKI_SIM_ENDS_NOW;
}

/* Who has no task needs no core. */
static bool after(void *context, struct eki_sim_rank *rank,
                  struct eki_sim_worker *worker)
{
    struct job *job = context;
    (void)rank;
    if (!worker || worker->state == EKI_SIM_RUNS ||
        !thread_of(job, worker)->has_core)
        return true;
    give_up(job, thread_of(job, worker));
    grant(job);
    return true;
}

static const struct eki_sim_iteration *iteration(void *context, int number)
{
    struct job *job = context;
    return number == 0 ? &job->plan : NULL;
}

static void enter(void *context, struct eki_sim_rank *rank)
{
    static const int64_t levels[SHAPES] = {1, 11, 300, 100};
    struct job *job = context;
    if (rank->number != 0)
        return;
    struct ek_worker *worker = rank->engine->workers[0];
    struct node root = {job->seed, levels[job->shape]};
    struct eki_slot *slot = eki_local_add_seed(&worker->local);
    job->entered = job->sim->now;
    eki_slot_head(slot, 0, sizeof root, EKI_SLOT_SEED, eki_id(worker->id, 0));
    memcpy(slot->payload, &root, sizeof root);
}

static bool entered(void *context, struct eki_sim_rank *rank)
{
    struct job *job = context;
    if (job->is_unpublished)
        rank->engine->has_thieves = false;
    return false;
}

static void left(void *context, struct eki_sim_rank *rank,
                 const struct eki_error *error)
{
    struct job *job = context;
    (void)rank;
    CHECK_OK(error->status);
    job->took_ns = job->sim->now - job->entered;
}

/* How long WORKERS on two cores take, in one rank or one each. */
static double run(struct job *job, int workers)
{
    static const int nodes[WORKERS] = {0};
    const struct eki_machine machine = {.name = "shared",
                                        .is_crowded = workers > CORES,
                                        .latency = 300,
                                        .send = 100,
                                        .gap = 100,
                                        .handle = 500,
                                        .poll = 100,
                                        .poll_period = 10000,
                                        .probe = 100,
                                        .atomic = 100,
                                        .task = 20};
    struct eki_sim_program program = {.context = job,
                                      .iteration = iteration,
                                      .enter = enter,
                                      .entered = entered,
                                      .task = task,
                                      .after = after,
                                      .left = left};
    struct eki_sim_setup setup = timed_setup(&machine, &program);
    int here[WORKERS] = {1, 1, 1, 1};
    bool is_apart = job->seed % 2 == 0;
    here[0] = is_apart ? 1 : workers;
    setup.ranks = is_apart ? workers : 1;
    setup.workers = here;
    setup.nodes = nodes;
    setup.engine.buffer_slots = 256;
    setup.engine.payload_bytes = sizeof(struct node);
    setup.is_together = true;
    setup.engine.seed = job->seed;
    job->cores = CORES;
    CHECK_OK(eki_sim_create(&setup, &job->sim));
    CHECK_EQ_INT(eki_sim_run(job->sim, 20000000), EKI_SIM_END_OVER);
    CHECK_EQ_INT(job->tasks, job->spawned + 1);
    eki_sim_destroy(&job->sim);
    return (double)job->took_ns;
}

static struct job job_of(uint64_t seed)
{
    struct eki_random random;
    eki_random_seed(&random, seed, 0);
    struct job job = {.seed = seed,
                      .plan.steal = EK_STEAL_RANDOM,
                      .shape = (enum shape)(seed / 2 % SHAPES)};
    /* From 2 us to 2 ms. */
    job.mean_ns = 2e3 * pow(10, 3 * unit_of(&(struct node){seed, 0}, 3));
    return job;
}

/* The time of two workers / that of four on as many cores. */
static double throughput(uint64_t seed, bool is_unpublished)
{
    struct job two = job_of(seed), four = job_of(seed);
    four.is_unpublished = is_unpublished;
    return run(&two, CORES) / run(&four, WORKERS);
}

static void four_workers_on_two_cores_are_as_fast_as_two(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double ratio = throughput(seed, false);
        if (!CHECK(ratio > LEAST))
            printf("     seed %d: %.3f\n", (int)seed, ratio);
    }
}

static void those_who_publish_nothing_are_not(void)
{
    for (uint64_t seed = 1; seed <= SHAPES; seed++)
        CHECK(throughput(seed, true) < 0.6);
}

int main(void)
{
    RUN(four_workers_on_two_cores_are_as_fast_as_two);
    RUN(those_who_publish_nothing_are_not);
    return check_result();
}
