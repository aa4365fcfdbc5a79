/* SPDX-License-Identifier: BSD-3-Clause */
/* order=ascending: what a worker fetches ascends, and a loop that skips to the
 * next number, as codes with nxtval() have it, misses nothing. */
#include "job.h"

#include <evenkeel_pull.h>

enum {
    PAIRS = 400,
    WORKERS_MOST = 8
};

/* What a worker has fetched in an iteration. */
struct run {
    _Alignas(128) int64_t last, tasks, runs;
    bool is_wrong; /* starts_run does not fit the numbers */
};

static int64_t number_of(const ek_task *task)
{
    int64_t number;
    memcpy(&number, task->payload, sizeof number);
    return number;
}

static void fetch_all(ek_collection *tasks, int here, struct run *run)
{
    ek_task task = {0};
    *run = (struct run){.last = -1};
    while (ek_next(tasks, here, &task) == EK_OK && task.worker) {
        int64_t number = number_of(&task);
        run->is_wrong |=
            task.starts_run != (number <= run->last) && run->tasks > 0;
        run->is_wrong |= run->tasks == 0 && !task.starts_run;
        run->tasks++;
        run->runs += task.starts_run;
        run->last = number;
        /* No order of durations is that of the numbers. */
        ek_set_cost(task.worker, 1 + (double)(number * 7 % 61));
    }
}

/* One iteration; how many runs there were, over all workers of the job. */
static int64_t iterate(ek_collection *tasks)
{
    struct run runs[WORKERS_MOST];
    int64_t done = 0, count = 0;
    JOB_OK(ek_begin(tasks));
#pragma omp parallel for schedule(static, 1) num_threads(job_workers)
    for (int here = 0; here < job_workers; here++)
        fetch_all(tasks, here, &runs[here]);
    JOB_OK(ek_end(tasks, NULL));
    for (int here = 0; here < job_workers; here++) {
        CHECK(!runs[here].is_wrong);
        done += runs[here].tasks;
        count += runs[here].runs;
    }
    CHECK_EQ_INT(job_sum(done), PAIRS);
    return job_sum(count);
}

static ek_collection *make(const char *steal, bool is_range)
{
    ek_options options = job_options();
    job_set(&options, "order", "ascending");
    job_set(&options, "steal", steal);
    options.ignore_environment = true;
    options.workers = job_workers;
    ek_collection *tasks = job_create(&options);
    ek_function pair = job_register(tasks, "pair", NULL, NULL);
    int64_t first = PAIRS * (int64_t)job_rank / job_size;
    int64_t last = PAIRS * (int64_t)(job_rank + 1) / job_size;
    if (is_range)
        CHECK_OK(ek_add_range(tasks, pair, first, last));
    for (int64_t i = first; !is_range && i < last; i++)
        CHECK_OK(ek_add_task(tasks, pair, &i, sizeof i, NULL));
    return tasks;
}

static const ek_restore_policy policies[] = {
    EK_RESTORE_ORIGINAL, EK_RESTORE_RETAIN, EK_RESTORE_CENTRALIZED,
    EK_RESTORE_HIERARCHICAL, EK_RESTORE_ORIGINAL};

/* Where nobody steals each rank has one run, whatever places its tasks; of a
 * worker that comes late the others take some. */
static void own_tasks_ascend(void)
{
    for (int is_range = 0; is_range < 2; is_range++) {
        ek_collection *tasks = make("none", is_range);
        for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
            int64_t runs = iterate(tasks);
            CHECK(job_workers > 1 || runs <= job_size);
            JOB_OK(ek_restore(tasks, policies[i], NULL));
        }
        ek_destroy(&tasks);
    }
}

/* A loop with its counter's next number; how often it did each pair. */
struct skipping {
    ek_collection *tasks;
    ek_task task;
    int done[PAIRS];
};

static bool fetch_next(struct skipping *loop)
{
    CHECK_OK(ek_next(loop->tasks, 0, &loop->task));
    if (loop->task.worker)
        ek_set_cost(loop->task.worker,
                    1 + (double)(number_of(&loop->task) * 7 % 61));
    return loop->task.worker != NULL;
}

/* The nest of loops that the code has; it is left where the next number lies
 * behind it. */
static bool skip_through(struct skipping *loop)
{
    for (int64_t pair = 0; pair < PAIRS; pair++) {
        if (pair != number_of(&loop->task))
            continue;
        loop->done[pair]++;
        if (!fetch_next(loop) || loop->task.starts_run)
            break;
    }
    return loop->task.worker != NULL;
}

static void loops_that_begin_anew_miss_nothing(void)
{
    if (job_workers > 1)
        return;
    struct skipping loop = {.tasks = make("random", true)};
    for (int i = 0; i < 4; i++) {
        memset(loop.done, 0, sizeof loop.done);
        JOB_OK(ek_begin(loop.tasks));
        if (fetch_next(&loop)) {
            while (skip_through(&loop)) {
            }
        }
        JOB_OK(ek_end(loop.tasks, NULL));
        MPI_Allreduce(MPI_IN_PLACE, loop.done, PAIRS, MPI_INT, MPI_SUM,
                      MPI_COMM_WORLD);
        for (int pair = 0; pair < PAIRS; pair++)
            CHECK_EQ_INT(loop.done[pair], 1);
        JOB_OK(ek_restore(loop.tasks, policies[i], NULL));
    }
    ek_destroy(&loop.tasks);
}

/* What is stolen, or drawn, ascends, too: tasks in order of their costs would
 * have a run for every second one. */
static void stolen_tasks_ascend(void)
{
    for (int is_range = 0; is_range < 4; is_range++) {
        ek_collection *tasks =
            make(is_range < 2 ? "random" : "counter", is_range % 2);
        for (int i = 0; i < 4; i++) {
            CHECK(iterate(tasks) <= PAIRS / 3);
            JOB_OK(ek_restore(tasks, policies[i], NULL));
        }
        ek_destroy(&tasks);
    }
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN(own_tasks_ascend);
    JOB_RUN(loops_that_begin_anew_miss_nothing);
    JOB_RUN(stolen_tasks_ascend);
    return job_result();
}
