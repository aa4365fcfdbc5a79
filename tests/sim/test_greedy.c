/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing is greedy: while a worker is idle no task waits for long.  So the
 * last task that ends began while all worked, and no iteration takes longer
 * than what is ideal and the longest task (Graham, 1966), but for a millisecond
 * and what messages cost.  Random machines, whose servers have a core of their
 * own, and random loads.
 */
#include "../unit/check.h"
#include "timed.h"

enum {
    NODES_MOST = 4,
    NODE_RANKS_MOST = 4,
    RANKS_MOST = NODES_MOST * NODE_RANKS_MOST,
    WORKERS_MOST = 4, /* of a rank */
    TASKS_MOST = 40,  /* of a worker, on average */
    ITERATIONS = 3,   /* the first without durations, the others retained */
    SEEDS = 500
};

enum shape {
    CONSTANT,
    LOG_NORMAL,
    BIMODAL, /* one in eight is twenty times as long */
    SHAPES
};

enum place {
    BLOCKS, /* one after the other, as they are drawn */
    DEALT,  /* to random workers */
    SORTED, /* the longest on the first worker, and so on */
    ON_ONE,
    PLACES
};

struct job {
    struct eki_random random;
    uint64_t seed;
    int ranks, nodes, workers, tasks;
    int rank_nodes[RANKS_MOST], rank_workers[RANKS_MOST];
    enum shape shape;
    enum place place;
    int lonely; /* the worker that has all */
    uint64_t mean_ns, total_ns, longest_ns;
    uint64_t *ns; /* [tasks] */
    struct eki_sim_iteration plan;
    struct eki_sim *sim;
    uint64_t entered[ITERATIONS], left[ITERATIONS];
};

static int draw(struct job *job, int from, int to)
{
    return from +
           (int)eki_random_below(&job->random, (uint64_t)(to - from + 1));
}

static double draw_unit(struct job *job)
{
    return ((double)(eki_random_next(&job->random) >> 11) + 0.5) * 0x1p-53;
}

static uint64_t draw_ns(struct job *job)
{
    double mean = (double)job->mean_ns;
    double normal = sqrt(-2 * log(draw_unit(job))) *
                    cos(6.283185307179586 * draw_unit(job));
    switch (job->shape) {
    case LOG_NORMAL:
        return 1 + (uint64_t)(mean * exp(normal - 0.5));
    case BIMODAL:
        return (uint64_t)(draw(job, 1, 8) == 1 ? 6 * mean : 0.3 * mean);
    default:
        return job->mean_ns;
    }
}

static int longer(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a < b) - (a > b);
}

static void draw_job(struct job *job, uint64_t seed)
{
    *job = (struct job){.seed = seed};
    eki_random_seed(&job->random, seed, 0);
    job->nodes = draw(job, 1, NODES_MOST);
    for (int node = 0; node < job->nodes; node++) {
        for (int left = draw(job, 1, NODE_RANKS_MOST); left > 0; left--) {
            job->rank_nodes[job->ranks] = node;
            job->rank_workers[job->ranks] = draw(job, 1, WORKERS_MOST);
            job->workers += job->rank_workers[job->ranks++];
        }
    }
    job->shape = (enum shape)draw(job, 0, SHAPES - 1);
    job->place = (enum place)draw(job, 0, PLACES - 1);
    job->lonely = draw(job, 0, job->workers - 1);
    job->tasks = draw(job, 1, job->workers * TASKS_MOST);
    job->mean_ns = (uint64_t)draw(job, 2, 200) * 1000000;
    job->ns = eki_alloc((size_t)job->tasks, sizeof *job->ns);
    for (int i = 0; i < job->tasks; i++) {
        job->ns[i] = draw_ns(job);
        job->total_ns += job->ns[i];
        if (job->ns[i] > job->longest_ns)
            job->longest_ns = job->ns[i];
    }
    if (job->place == SORTED)
        qsort(job->ns, (size_t)job->tasks, sizeof *job->ns, longer);
    job->plan = (struct eki_sim_iteration){
        .steal = EK_STEAL_RANDOM,
        .order = draw(job, 0, 1) == 0 ? EKI_ORDER_LONGEST : EKI_ORDER_EXECUTED};
}

static const struct eki_sim_iteration *iteration(void *context, int number)
{
    struct job *job = context;
    return number < ITERATIONS ? &job->plan : NULL;
}

/* The worker with whom task I begins. */
static int home_of(const struct job *job, int i)
{
    switch (job->place) {
    case DEALT:
        return (int)(((uint64_t)i * 2654435761u + job->seed) >> 7) %
               job->workers;
    case ON_ONE:
        return job->lonely;
    default:
        return (int)((int64_t)i * job->workers / job->tasks);
    }
}

static void enter(void *context, struct eki_sim_rank *rank)
{
    struct job *job = context;
    uint64_t *entered = &job->entered[rank->iteration];
    int first = rank->engine->workers[0]->id;
    if (*entered == 0)
        *entered = job->sim->now;
    for (int i = 0; rank->iteration == 0 && i < job->tasks; i++) {
        int here = home_of(job, i) - first;
        if (here >= 0 && here < rank->topology.workers_here)
            timed_add(rank->engine->workers[here], i, job->ns[i], false);
    }
}

static uint64_t task(void *context, struct eki_sim_worker *worker, bool begins)
{
    (void)context;
    return begins ? timed_ns(worker) : EKI_SIM_ENDS_NOW;
}

static void left(void *context, struct eki_sim_rank *rank,
                 const struct eki_error *error)
{
    struct job *job = context;
    CHECK_OK(error->status);
    job->left[rank->iteration] = job->sim->now;
}

static void run(struct job *job)
{
    static const struct eki_machine machine = {.name = "greedy",
                                               .has_server = true,
                                               .latency = 1500,
                                               .send = 400,
                                               .gap = 500,
                                               .handle = 1000,
                                               .poll = 100,
                                               .probe = 100,
                                               .atomic = 100,
                                               .task = 20};
    struct eki_sim_program program = {.context = job,
                                      .iteration = iteration,
                                      .enter = enter,
                                      .task = task,
                                      .left = left};
    struct eki_sim_setup setup = timed_setup(&machine, &program);
    setup.ranks = job->ranks;
    setup.workers = job->rank_workers;
    setup.nodes = job->rank_nodes;
    setup.is_together = true;
    setup.engine.seed = job->seed;
    CHECK_OK(eki_sim_create(&setup, &job->sim));
    CHECK_EQ_INT(eki_sim_run(job->sim, 20000000), EKI_SIM_END_OVER);
    eki_sim_destroy(&job->sim);
}

static double ms(uint64_t ns)
{
    return (double)ns * 1e-6;
}

/* By how much iteration I exceeds the bound, in milliseconds. */
static double excess_ms(const struct job *job, int i)
{
    return ms(job->left[i] - job->entered[i]) -
           ms(job->total_ns) / job->workers - ms(job->longest_ns);
}

static void print(const struct job *job, int i)
{
    printf("     seed %d iteration %d: %.2f ms over; %d nodes, %d ranks, %d "
           "workers, %d tasks, shape %d, place %d, order %d, mean %.1f ms, "
           "longest %.1f ms, ideal %.1f ms\n",
           (int)job->seed, i + 1, excess_ms(job, i), job->nodes, job->ranks,
           job->workers, job->tasks, job->shape, job->place, job->plan.order,
           ms(job->mean_ns), ms(job->longest_ns),
           ms(job->total_ns) / job->workers);
}

static void no_task_waits_while_a_worker_is_idle(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct job job;
        draw_job(&job, seed);
        run(&job);
        for (int i = 0; i < ITERATIONS; i++) {
            if (!CHECK(excess_ms(&job, i) < 1))
                print(&job, i);
        }
        eki_free(job.ns);
    }
}

int main(void)
{
    RUN(no_task_waits_while_a_worker_is_idle);
    return check_result();
}
