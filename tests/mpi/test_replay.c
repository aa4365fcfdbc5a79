/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replay: each worker runs the tasks of the record in its order, seeds, kept
 * and spawned ones, wherever they were created.  Other tasks are an error on
 * all ranks, in words; none is lost.
 *
 *     test_replay RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_spawn.h>

#include <string.h>
#include <unistd.h>

enum {
    SEEDS = 60, /* of rank 0 */
    DEPTH = 3,
    ITERATIONS = 3,
    WORKERS_MOST = 2,
    RAN_MOST = 4096,
    INDICES = 40, /* of each rank, and pinned tasks */
    PINNED = 5,
    INDICES_FROM = 1 << 20, /* numbers of them */
    PINNED_FROM = 1 << 24
};

struct payload {
    int64_t number, depth, salt;
};

/* What a worker has run. */
struct list {
    int n;
    int64_t numbers[RAN_MOST];
};

struct run {
    struct list lists[ITERATIONS][WORKERS_MOST];
};

static char path[40];
static struct run recorded, replayed, *into;
static int iteration;
static int64_t left_out = -1, added; /* a seed; how many are there twice */
static int64_t more_indices, more_children;
static const char *name = "work";
static int64_t stops_at = -1;
static const char *on_stop = "restart", *checkpoint = "0";
static int nap_us = 200; /* of each fifth task */
static int64_t salt;     /* of seeds, which do not look at it */
static const char *hints = "0";
static _Atomic int warned; /* of payloads, on this rank */
static ek_function function;

static int work(ek_worker *worker, const void *data, size_t bytes,
                void *context)
{
    struct payload own;
    int here = ek_worker_id(worker) % job_workers;
    struct list *list = &into->lists[iteration][here];
    (void)bytes, (void)context;
    memcpy(&own, data, sizeof own);
    if (list->n < RAN_MOST)
        list->numbers[list->n++] = own.number;
    if (own.number % 5 == 0)
        job_nap(nap_us);
    if (own.number == stops_at)
        ek_stop(worker);
    int64_t children = own.number % 4 + more_children;
    for (int64_t i = 0; own.depth < DEPTH && i < children; i++) {
        struct payload child = {own.number * 4 + i + SEEDS, own.depth + 1, 0};
        CHECK_OK(ek_spawn(
            worker, function, &child, sizeof child,
            iteration == 0 && child.number % 7 == 0 ? EK_SPAWN_KEEP : 0));
    }
    return 0;
}

/* Two of three are null. */
static int index_work(ek_worker *worker, const void *data, size_t bytes,
                      void *context)
{
    int64_t index;
    memcpy(&index, data, sizeof index);
    if (index % 3 == 0)
        return work(worker,
                    &(struct payload){index + INDICES_FROM, DEPTH - 1, 0},
                    bytes, context);
    ek_discard(worker);
    return 0;
}

/* What each rank adds beside the seeds of rank 0. */
static void add_others(ek_collection *tasks)
{
    ek_hint pinned = EK_HINT_INIT;
    pinned.pinned = true;
    ek_function indices = job_register(tasks, "indices", index_work, NULL);
    CHECK_OK(ek_add_range(tasks, indices, job_rank * INDICES,
                          (job_rank + 1) * INDICES + more_indices));
    for (int64_t i = 0; i < PINNED; i++) {
        struct payload own = {PINNED_FROM + job_rank * PINNED + i, DEPTH - 1,
                              salt};
        CHECK_OK(ek_add_task(tasks, function, &own, sizeof own, &pinned));
    }
}

/* A collection with all tasks; NULL for no file. */
static ek_collection *make(const char *record, const char *replay)
{
    ek_options options = job_options();
    options.name = "again";
    options.steal = EK_STEAL_NEAR;
    options.record = record;
    job_set(&options, "replay", replay ? replay : "0");
    job_set(&options, "on_stop", on_stop);
    job_set(&options, "checkpoint", checkpoint);
    job_set(&options, "hints", hints);
    ek_collection *tasks = job_create(&options);
    function = job_register(tasks, name, work, NULL);
    add_others(tasks);
    for (int64_t i = 0; job_rank == 0 && i < SEEDS + added; i++) {
        struct payload seed = {i % SEEDS, 0, salt};
        ek_hint hint = EK_HINT_INIT;
        hint.rank = i % 7 == 1 ? job_size - 1 : -1;
        if (i != left_out)
            CHECK_OK(ek_add_task(tasks, function, &seed, sizeof seed, &hint));
    }
    return tasks;
}

static void run(const char *record, const char *replay, struct run *result)
{
    const ek_restore_policy policies[] = {
        EK_RESTORE_RETAIN, EK_RESTORE_CENTRALIZED, EK_RESTORE_ORIGINAL};
    ek_collection *tasks = make(record, replay);
    memset(result, 0, sizeof *result);
    into = result;
    for (iteration = 0; iteration < ITERATIONS; iteration++) {
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, policies[iteration], NULL));
    }
    ek_destroy(&tasks);
}

static bool are_alike(const struct run *a, const struct run *b)
{
    for (int i = 0; i < ITERATIONS; i++) {
        for (int w = 0; w < job_workers; w++) {
            const struct list *x = &a->lists[i][w], *y = &b->lists[i][w];
            if (x->n != y->n || memcmp(x->numbers, y->numbers,
                                       (size_t)x->n * sizeof *x->numbers) != 0)
                return false;
        }
    }
    return true;
}

static void tasks_run_where_they_ran_and_in_that_order(void)
{
    run(path, NULL, &recorded);
    int64_t ran = 0;
    for (int w = 0; w < job_workers; w++)
        ran += recorded.lists[0][w].n;
    CHECK(job_sum(ran) > 2 * SEEDS);
    run(NULL, path, &replayed);
    CHECK(are_alike(&recorded, &replayed));
}

/* The record of a replay is that of the first run. */
static void a_replay_may_be_recorded(void)
{
    run(path, NULL, &recorded);
    run(path, path, &replayed);
    CHECK(are_alike(&recorded, &replayed));
    run(NULL, path, &replayed);
    CHECK(are_alike(&recorded, &replayed));
}

/* All tasks of before are still there. */
static void refuse_iteration(const char *why)
{
    ek_collection *tasks = make(NULL, path);
    memset(&replayed, 0, sizeof replayed);
    into = &replayed;
    iteration = 0;
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), why);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    CHECK(job_held(tasks) >= SEEDS + added - (left_out >= 0));
    ek_destroy(&tasks);
}

static void other_tasks_are_said(void)
{
    run(path, NULL, &recorded);
    added = 1;
    refuse_iteration("is not in iteration 0 of the record");
    added = 0;
    /* The number of the last seed is missing. */
    left_out = 7;
    refuse_iteration("iteration 0");
    left_out = -1;
    name = "others";
    refuse_iteration("of 'others' is one of another function in iteration 0");
    name = "work";
    more_indices = 1;
    refuse_iteration("iteration 0");
    more_indices = -1;
    refuse_iteration("iteration 0");
    more_indices = 0;
    more_children = 1;
    refuse_iteration("is not in iteration 0 of the record");
    more_children = -1;
    refuse_iteration("has not come");
    more_children = 0;
}

static void hear(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    warned += strstr(line, "is not that of iteration") != NULL;
}

static void other_payloads_are_said_once(void)
{
    ek_set_sink(hear, NULL, EK_LEVEL_WARN);
    run(path, NULL, &recorded);
    run(NULL, path, &replayed);
    CHECK_EQ_INT(job_sum(warned), 0);
    salt = 1;
    run(NULL, path, &replayed);
    salt = 0;
    CHECK(are_alike(&recorded, &replayed));
    CHECK(warned <= 1);
    CHECK(job_sum(warned) > 0);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
}

/* Durations of an earlier run change places and order in the first run alone.
 */
static void hints_change_no_replay(void)
{
    run(path, NULL, &recorded);
    hints = path;
    run(path, NULL, &recorded);
    run(NULL, path, &replayed);
    CHECK(are_alike(&recorded, &replayed));
    hints = "0";
    run(NULL, path, &replayed);
    CHECK(are_alike(&recorded, &replayed));
}

static void an_iteration_beyond_the_record_is_free(void)
{
    run(path, NULL, &recorded);
    ek_collection *tasks = make(NULL, path);
    into = &replayed;
    memset(&replayed, 0, sizeof replayed);
    for (int i = 0; i < ITERATIONS + 2; i++) {
        iteration = i < ITERATIONS ? i : ITERATIONS - 1;
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
}

/* What did not run then does not run now. */
static void a_stopped_iteration_stops_again(void)
{
    stops_at = 20;
    ek_collection *tasks = make(path, NULL);
    memset(&recorded, 0, sizeof recorded);
    into = &recorded;
    iteration = 0;
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    tasks = make(NULL, path);
    memset(&replayed, 0, sizeof replayed);
    into = &replayed;
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    for (int w = 0; w < job_workers; w++) {
        const struct list *then = &recorded.lists[0][w];
        const struct list *now = &replayed.lists[0][w];
        CHECK_EQ_INT(now->n, then->n);
        CHECK(memcmp(now->numbers, then->numbers,
                     (size_t)now->n * sizeof *now->numbers) == 0);
    }
    CHECK(job_held(tasks) >= SEEDS);
    ek_destroy(&tasks);
    stops_at = -1;
}

/* Each part runs what it ran, and leaves the rest to the next, whatever the
 * option says. */
static void a_continued_iteration_continues_again(void)
{
    stops_at = 20;
    on_stop = "continue";
    run(path, NULL, &recorded);
    on_stop = "restart";
    run(NULL, path, &replayed);
    CHECK(are_alike(&recorded, &replayed));
    run(path, NULL, &recorded);
    on_stop = "continue";
    run(NULL, path, &replayed);
    CHECK(are_alike(&recorded, &replayed));
    stops_at = -1;
    on_stop = "restart";
}

/* An iteration that has paused for checkpoints is one in the record. */
static void a_pause_is_not_seen(void)
{
    char folder[] = "/tmp/evenkeel-replay-XXXXXX", text[80];
    job_make_folder(folder);
    snprintf(text, sizeof text, "%s@every:10ms", folder);
    checkpoint = text;
    on_stop = "continue";
    nap_us = 2000;
    run(path, NULL, &recorded);
    checkpoint = "0";
    nap_us = 20;
    run(NULL, path, &replayed);
    CHECK(are_alike(&recorded, &replayed));
    on_stop = "restart";
    job_remove_folder(folder);
}

/* Ranks that are not of COMM stand by. */
static void refuse_over(MPI_Comm comm, const char *replay, int workers,
                        const char *why)
{
    ek_options options = job_options();
    ek_collection *tasks = NULL;
    if (comm == MPI_COMM_NULL)
        return;
    options.name = "again";
    options.workers = workers;
    options.ignore_environment = true;
    job_set(&options, "replay", replay);
    CHECK_EQ_INT(ek_create(comm, &options, &tasks), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), why);
}

static void refuse(const char *replay, int workers, const char *why)
{
    refuse_over(MPI_COMM_WORLD, replay, workers, why);
}

static void other_ranks_are_refused(void)
{
    MPI_Comm comm;
    bool is_last = job_rank > 0 && job_rank == job_size - 1;
    run(path, NULL, &recorded);
    MPI_Comm_split(MPI_COMM_WORLD, is_last ? MPI_UNDEFINED : 0, 0, &comm);
    if (job_size > 1)
        refuse_over(comm, path, job_workers, "this one has");
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
}

static void bad_files_are_refused_everywhere(void)
{
    run(path, NULL, &recorded);
    refuse(path, job_workers + 1, "workers");
    MPI_Barrier(MPI_COMM_WORLD);
    if (job_rank == 0) {
        FILE *file = fopen(path, "w");
        CHECK(file && fputs("This is no record.", file) >= 0);
        CHECK(file && fclose(file) == 0);
    }
    refuse("missing.ekr", job_workers, "missing.ekr");
    refuse(path, job_workers, path);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    int pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "replay-%d.ekr", pid);
    JOB_RUN(tasks_run_where_they_ran_and_in_that_order);
    JOB_RUN(a_replay_may_be_recorded);
    JOB_RUN(other_tasks_are_said);
    JOB_RUN(other_payloads_are_said_once);
    JOB_RUN(hints_change_no_replay);
    JOB_RUN(an_iteration_beyond_the_record_is_free);
    JOB_RUN(a_stopped_iteration_stops_again);
    JOB_RUN(a_continued_iteration_continues_again);
    JOB_RUN(other_ranks_are_refused);
    JOB_RUN(a_pause_is_not_seen);
    JOB_RUN(bad_files_are_refused_everywhere);
    job_remove_file(path);
    return job_result();
}
