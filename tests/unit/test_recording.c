/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording: what a record lists is what ran, task for task and worker for
 * worker; what it only counts is as many; trouble with the file is heard.
 *
 *     test_recording RANKS WORKERS
 */
#include "../mpi/job.h"

#include "engine/engine.h"
#include "record/record.h"
#include "task/task.h"

#include <evenkeel_data.h>
#include <evenkeel_pull.h>
#include <evenkeel_spawn.h>
#include <omp.h>
#include <signal.h>
#include <sys/resource.h>

enum {
    TASKS = 300,       /* per rank */
    RANGE = 2000,      /* indices per rank */
    GENERATIONS = 7,   /* of spawned tasks */
    RANK_STEP = 10000, /* a task's number / this: the rank that added it */
    WORKERS_MOST = 16,
    TALLY_MOST = 8192
};

/* What the tasks of a worker here say that they are. */
struct tally {
    int64_t count, seeds, spawned, failed;
    int64_t discarded, skipped, held;
    int64_t ran[TALLY_MOST];       /* payloads of the seeds ... */
    uint64_t start_ns[TALLY_MOST]; /* ... and when they began */
};

static struct tally tallies[WORKERS_MOST];
static char path[64];

/* Payload of a task: its rank, number, and what it does. */
enum what {
    PLAIN,
    SKIP,
    DISCARD,
    SPAWN,
    KEEP, /* spawns a task that is kept */
    FAIL,
    COST,
    HOLD /* as if it had no core all the time */
};

struct payload {
    int64_t number;
    int64_t what;
};

static ek_function work, child, index_function;

/* One of seven tasks stays on its rank. */
static bool is_pinned(int64_t number)
{
    return number % 7 == 3;
}

static void tally(ek_worker *worker, int64_t number)
{
    struct tally *mine = &tallies[ek_worker_here(worker)];
    mine->count++;
    if (number < 0 || !CHECK(mine->seeds < TALLY_MOST))
        return;
    mine->start_ns[mine->seeds] = eki_clock_ns() - worker->engine->entered_ns;
    mine->ran[mine->seeds++] = number;
}

static int work_task(ek_worker *worker, const void *bytes, size_t size,
                     void *context)
{
    struct payload payload;
    (void)context;
    memcpy(&payload, bytes, size);
    tally(worker, payload.number);
    struct tally *mine = &tallies[ek_worker_here(worker)];
    if (payload.what == SKIP)
        ek_skip(worker), mine->skipped++;
    if (payload.what == DISCARD)
        ek_discard(worker), mine->discarded++;
    if (payload.what == SPAWN)
        ek_spawn(worker, child, NULL, 0, 0);
    if (payload.what == KEEP)
        ek_spawn(worker, child, NULL, 0, EK_SPAWN_KEEP);
    if (payload.what == COST)
        ek_set_cost(worker, 0.001);
    if (payload.what == HOLD)
        worker->batch.held_ns += 1000000000, mine->held++;
    if (payload.number % 16 == 0)
        job_nap(50);
    mine->failed += payload.what == FAIL;
    return payload.what == FAIL;
}

/* Spawned: has no number. */
static int child_task(ek_worker *worker, const void *bytes, size_t size,
                      void *context)
{
    (void)bytes, (void)size, (void)context;
    tally(worker, -1);
    tallies[ek_worker_here(worker)].spawned++;
    return 0;
}

/* One of ten indices remains, one of these is skipped. */
static int index_task(ek_worker *worker, const void *bytes, size_t size,
                      void *context)
{
    int64_t index;
    (void)context;
    memcpy(&index, bytes, size);
    tally(worker, -1);
    struct tally *mine = &tallies[ek_worker_here(worker)];
    if (index % 10 != 0)
        ek_discard(worker), mine->discarded++;
    else if (index % 100 == 0)
        ek_skip(worker), mine->skipped++;
    if (index % 1000 == 7)
        ek_skip(worker); /* discarded is more */
    return 0;
}

static ek_collection *make(const char *record)
{
    ek_options options = job_options();
    options.record = record;
    options.name = "recorded";
    options.on_failure = EK_ON_FAILURE_CONTINUE;
    ek_collection *tasks = job_create(&options);
    work = job_register(tasks, "work", work_task, NULL);
    return tasks;
}

static void register_rest(ek_collection *tasks)
{
    child = job_register(tasks, "child", child_task, NULL);
    index_function = job_register(tasks, "index", index_task, NULL);
}

/* Rank 0 has most of the work. */
static int64_t tasks_here(void)
{
    return job_rank == 0 ? 3 * TASKS : TASKS / 3;
}

static void add_tasks(ek_collection *tasks, enum what mostly)
{
    for (int64_t i = 0; i < tasks_here(); i++) {
        struct payload payload = {job_rank * RANK_STEP + i,
                                  i % 5 == 0 ? (int64_t)mostly : PLAIN};
        ek_hint hint = EK_HINT_INIT;
        hint.pinned = is_pinned(payload.number);
        CHECK_OK(ek_add_task(tasks, work, &payload, sizeof payload,
                             hint.pinned ? &hint : NULL));
    }
}

static void clear_tallies(void)
{
    memset(tallies, 0, sizeof tallies);
}

static void choose_path(void)
{
    if (job_rank == 0)
        snprintf(path, sizeof path, "/tmp/ek_test_recording_%ld.ekr",
                 (long)getpid());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* All tallies, on rank 0. */
static struct tally *gather_tallies(void)
{
    size_t bytes = sizeof(struct tally) * (size_t)job_workers;
    struct tally *all = job_rank == 0 ? malloc(bytes * (size_t)job_size) : NULL;
    MPI_Gather(tallies, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    return all;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The number of a task of `work`: a rank deals ids in the order of adding, from
 * 0 on. */
static int64_t number_of(uint64_t id)
{
    return eki_id_home(id) / job_workers * RANK_STEP +
           (int64_t)(id & (EKI_NUMBERS - 1));
}

/* Those that the record lists for a worker. */
static int64_t listed_numbers(const struct eki_record_iteration *iteration,
                              int w, int64_t *numbers)
{
    const struct eki_record_worker *worker = &iteration->workers[w];
    int64_t count = 0;
    for (int64_t i = 0; i < worker->count; i++) {
        const struct eki_record_task *task =
            &iteration->tasks[worker->first + i];
        CHECK_EQ_INT(task->worker, w);
        if (task->function != work || !CHECK(count < TALLY_MOST))
            continue;
        numbers[count] = number_of(task->id);
        CHECK_EQ_INT((task->flags & EKI_RECORD_PINNED) != 0,
                     is_pinned(numbers[count]));
        count++;
    }
    return count;
}

/* Tasks of a record, and those that began at another time than it says: where
 * the thread of a batch had no core for a while. */
static int64_t starts, far;

/* The last one began before the end. */
static void check_starts(const struct eki_record_iteration *iteration, int w,
                         const struct tally *tally)
{
    enum {
        NEAR_NS = 1000000
    };
    const struct eki_record_worker *worker = &iteration->workers[w];
    for (int64_t i = 0; i < worker->count; i++) {
        const struct eki_record_task *task =
            &iteration->tasks[worker->first + i];
        CHECK((double)task->start_ns < (double)iteration->head.wall_ns * 1.01);
        CHECK(i == 0 || task->start_ns >= task[-1].start_ns);
        for (int64_t k = 0; task->function == work && k < tally->seeds; k++) {
            int64_t diff = (int64_t)(task->start_ns - tally->start_ns[k]);
            far += tally->ran[k] == number_of(task->id) &&
                   (diff > NEAR_NS || diff < -NEAR_NS);
        }
    }
    starts += tally->seeds;
}

static void check_numbers(const struct eki_record_iteration *iteration, int w,
                          struct tally *tally)
{
    static int64_t listed[TALLY_MOST];
    int64_t count = listed_numbers(iteration, w, listed);
    if (!CHECK_EQ_INT(count, tally->seeds))
        return;
    qsort(listed, (size_t)count, sizeof listed[0], compare_numbers);
    qsort(tally->ran, (size_t)count, sizeof listed[0], compare_numbers);
    CHECK_EQ_INT(memcmp(listed, tally->ran, (size_t)count * sizeof listed[0]),
                 0);
}

/* Listed tasks of a worker with a flag, and those of a function. */
static int64_t count_listed(const struct eki_record_iteration *iteration,
                            const struct eki_record_worker *worker, int flag,
                            int function)
{
    int64_t count = 0;
    for (int64_t i = 0; i < worker->count; i++) {
        const struct eki_record_task *task =
            &iteration->tasks[worker->first + i];
        count += (flag == 0 || task->flags & flag) &&
                 (function < 0 || task->function == function);
    }
    return count;
}

/* Indices of the spans of a worker that are not listed behind their places. */
static int64_t count_nulls(const struct eki_record_iteration *iteration,
                           const struct eki_record_worker *worker)
{
    int64_t nulls = 0;
    for (int64_t i = 0; i < worker->spans; i++) {
        const struct eki_record_span *span =
            &iteration->spans[worker->first_span + i];
        int64_t listed = 0;
        CHECK_EQ_INT(span->function, index_function);
        for (int64_t k = span->place; k < worker->count; k++) {
            uint64_t id = iteration->tasks[worker->first + k].id;
            if (id < span->first || id - span->first >= span->count)
                break;
            listed++;
        }
        nulls += (int64_t)span->count - listed;
    }
    return nulls;
}

static void check_worker(const struct eki_record_iteration *iteration, int w,
                         struct tally *tally)
{
    const struct eki_record_worker *worker = &iteration->workers[w];
    int64_t kept = count_listed(iteration, worker, 0, child);
    int64_t discarded =
        count_listed(iteration, worker, EKI_RECORD_DISCARDED, -1);
    check_starts(iteration, w, tally);
    check_numbers(iteration, w, tally);
    CHECK_EQ_INT(worker->executed, tally->count);
    CHECK_EQ_INT(worker->nulls + discarded, tally->discarded);
    CHECK_EQ_INT(count_nulls(iteration, worker), worker->nulls);
    CHECK_EQ_INT(count_listed(iteration, worker, EKI_RECORD_SKIPPED, -1),
                 tally->skipped);
    CHECK_EQ_INT(worker->failed, tally->failed);
    CHECK_EQ_INT(worker->executed - worker->nulls - worker->count + kept,
                 tally->spawned);
    /* Of tasks that are timed together one is marked. */
    int64_t held = count_listed(iteration, worker, EKI_RECORD_HELD, -1);
    CHECK((tally->held > 0) <= (held > 0));
    CHECK(worker->null_ns <= worker->work_ns);
    CHECK((worker->null_ns > 0) == (worker->nulls > 0));
}

/* Without it there is nothing to look at. */
static void need(bool is_read)
{
    if (is_read)
        return;
    fprintf(stderr, "%s\n", ek_error_message());
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_listed(const uint64_t *ids, int64_t count, uint64_t id)
{
    return bsearch(&id, ids, (size_t)count, sizeof id, compare_ids) != NULL;
}

/* Whoever has spawned ran on the worker that says so; what it has spawned ran
 * somewhere.  Returns how many those are. */
static int64_t check_families(const struct eki_record_iteration *iteration,
                              int workers)
{
    int64_t count = iteration->task_count, spawned = 0;
    uint64_t *ids = malloc((size_t)count * sizeof *ids);
    need(ids != NULL);
    for (int w = 0; w < workers; w++) {
        const struct eki_record_worker *worker = &iteration->workers[w];
        for (int64_t i = 0; i < worker->count; i++)
            ids[i] = iteration->tasks[worker->first + i].id;
        qsort(ids, (size_t)worker->count, sizeof *ids, compare_ids);
        for (int64_t f = 0; f < worker->families; f++)
            CHECK(is_listed(
                ids, worker->count,
                iteration->families[worker->first_family + f].parent));
    }
    for (int64_t i = 0; i < count; i++)
        ids[i] = iteration->tasks[i].id;
    qsort(ids, (size_t)count, sizeof *ids, compare_ids);
    for (int64_t i = 1; i < count; i++)
        CHECK(ids[i - 1] != ids[i]);
    for (int64_t f = 0; f < iteration->family_count; f++) {
        const struct eki_record_family *family = &iteration->families[f];
        spawned += (int64_t)family->count;
        for (uint64_t c = 0; c < family->count; c++)
            CHECK(is_listed(ids, count, family->first + c));
    }
    free(ids);
    return spawned;
}

/* What iteration K of the open record says is what the tallies say. */
static void check_iteration(struct eki_record *record, int64_t k,
                            struct tally *all)
{
    struct eki_record_iteration iteration;
    if (!CHECK_OK(eki_record_load(record, k, &iteration))) {
        fprintf(stderr, "%s\n", ek_error_message());
        return;
    }
    CHECK_EQ_INT(iteration.head.iteration, k);
    CHECK(iteration.head.wall_ns > 0);
    for (int w = 0; w < record->shape.workers; w++)
        check_worker(&iteration, w, &all[w]);
    check_families(&iteration, record->shape.workers);
    for (int64_t i = 0; i < iteration.task_count; i++) {
        const struct eki_record_task *task = &iteration.tasks[i];
        if (task->flags & EKI_RECORD_COSTED)
            CHECK_NEAR((double)task->duration_ns, 1e6, 4e3);
        CHECK((task->duration_ns == 0) ==
              ((task->flags & EKI_RECORD_SKIPPED) != 0));
    }
    eki_record_unload(&iteration);
}

static struct eki_record *open_record(int64_t iterations)
{
    struct eki_record *record = NULL;
    if (!CHECK_OK(eki_record_open(path, &record))) {
        fprintf(stderr, "%s\n", ek_error_message());
        return NULL;
    }
    CHECK(record->is_complete);
    CHECK_EQ_TEXT(record->shape.name, "recorded");
    CHECK_EQ_INT(record->shape.ranks, job_size);
    CHECK_EQ_INT(record->shape.workers, job_size * job_workers);
    CHECK_EQ_INT(record->iteration_count, iterations);
    return record;
}

enum {
    ITERATIONS = 4
};

/* Process, and keep what ran; all[k] on rank 0. */
static void process(ek_collection *tasks, int k, struct tally **all)
{
    clear_tallies();
    JOB_OK(ek_process(tasks, NULL));
    all[k] = gather_tallies();
}

/* Compare the file with what ran, on rank 0. */
static void compare(int iterations, struct tally **all)
{
    struct eki_record *record = job_rank == 0 ? open_record(iterations) : NULL;
    starts = far = 0;
    for (int k = 0; k < iterations; k++) {
        if (record)
            check_iteration(record, k, all[k]);
        free(all[k]);
    }
    if (!CHECK(far <= starts / 4))
        printf("%lld of %lld starts are wrong\n", (long long)far,
               (long long)starts);
    eki_record_close(&record);
    if (job_rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Numbers are dealt per rank, so those of all its workers are 0, 1, 2, ... */
static void tasks_are_recorded(enum what what)
{
    struct tally *all[ITERATIONS];
    ek_collection *tasks = make(path);
    register_rest(tasks);
    add_tasks(tasks, what);
    for (int k = 0; k < ITERATIONS; k++) {
        process(tasks, k, all);
        JOB_OK(ek_restore(
            tasks, k == 1 ? EK_RESTORE_ORIGINAL : EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
    compare(ITERATIONS, all);
}

static void plain_tasks(void)
{
    tasks_are_recorded(PLAIN);
}

static void skipped_tasks(void)
{
    tasks_are_recorded(SKIP);
}

static void discarded_tasks(void)
{
    tasks_are_recorded(DISCARD);
}

static void spawned_tasks(void)
{
    tasks_are_recorded(SPAWN);
}

/* Children of which each spawns as many as it has generations below it. */
static int unfold_task(ek_worker *worker, const void *bytes, size_t size,
                       void *context)
{
    int32_t below;
    (void)context;
    memcpy(&below, bytes, size);
    tally(worker, -1);
    tallies[ek_worker_here(worker)].spawned += below < GENERATIONS;
    for (int32_t i = 0, next = below - 1; i < below; i++)
        ek_spawn(worker, child, &next, sizeof next, 0);
    if (below == 3)
        job_nap(20);
    return 0;
}

/* Trees, of which much is stolen: the number of nodes of each is sum k! / i!.
 */
static void trees(void)
{
    int64_t nodes = 1, row = 1;
    int32_t below = GENERATIONS;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make(path);
    child = job_register(tasks, "unfold", unfold_task, NULL);
    for (int i = GENERATIONS; i > 0; i--)
        nodes += row *= i;
    CHECK_OK(ek_add_task(tasks, child, &below, sizeof below, NULL));
    for (int k = 0; k < 2; k++) {
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(report.tasks, nodes * job_size);
        JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
    }
    ek_destroy(&tasks);
    struct eki_record *record = job_rank == 0 ? open_record(2) : NULL;
    for (int k = 0; record && k < 2; k++) {
        struct eki_record_iteration iteration;
        need(eki_record_load(record, k, &iteration) == EK_OK);
        CHECK_EQ_INT(iteration.task_count, nodes * job_size);
        CHECK_EQ_INT(check_families(&iteration, record->shape.workers),
                     (nodes - 1) * job_size);
        eki_record_unload(&iteration);
    }
    eki_record_close(&record);
    if (job_rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void failing_tasks(void)
{
    tasks_are_recorded(FAIL);
}

static void costed_tasks(void)
{
    tasks_are_recorded(COST);
}

static void held_up_tasks(void)
{
    tasks_are_recorded(HOLD);
}

/* A kept task comes again, and there are more each time. */
static void kept_tasks(void)
{
    tasks_are_recorded(KEEP);
}

static void ranges(void)
{
    struct tally *all[3];
    ek_collection *tasks = make(path);
    register_rest(tasks);
    CHECK_OK(ek_add_range(tasks, index_function, 0,
                          job_rank == 0 ? 10 * RANGE : RANGE));
    for (int k = 0; k < 3; k++) {
        process(tasks, k, all);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
    compare(3, all);
}

/* A function named later, and the counter instead of stealing. */
static void other_policies(void)
{
    struct tally *all[2];
    ek_collection *tasks = make(path);
    add_tasks(tasks, PLAIN);
    child = index_function = 99;
    CHECK_OK(ek_set_option(tasks, "steal", "counter"));
    process(tasks, 0, all);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    register_rest(tasks);
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    process(tasks, 1, all);
    ek_destroy(&tasks);
    if (job_rank == 0) {
        struct eki_record *record = open_record(2);
        struct eki_record_iteration iteration;
        need(record && eki_record_load(record, 1, &iteration) == EK_OK);
        CHECK_EQ_INT(record->function_count, 3);
        CHECK_EQ_INT(iteration.head.restore, EK_RESTORE_RETAIN);
        CHECK_EQ_INT(iteration.head.steal, EK_STEAL_NONE);
        CHECK_EQ_INT(iteration.head.on_failure, EK_ON_FAILURE_CONTINUE);
        eki_record_unload(&iteration);
        eki_record_close(&record);
    }
    compare(2, all);
}

/* One thread per rank fetches for all workers here. */
static void pull_loops(void)
{
    struct tally *all[2];
    ek_collection *tasks = make(path);
    register_rest(tasks);
    add_tasks(tasks, PLAIN);
    for (int k = 0; k < 2; k++) {
        ek_task task;
        clear_tallies();
        JOB_OK(ek_begin(tasks));
        while (ek_next(tasks, 0, &task) == EK_OK && task.worker) {
            struct payload payload;
            memcpy(&payload, task.payload, task.bytes);
            tally(task.worker, payload.number);
        }
        JOB_OK(ek_end(tasks, NULL));
        all[k] = gather_tallies();
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
    compare(2, all);
}

/* Stopped by a failure: listed is what ran, the rest is cancelled. */
static void stopped_iterations(void)
{
    struct tally *all[1];
    ek_collection *tasks = make(path);
    register_rest(tasks);
    add_tasks(tasks, FAIL);
    CHECK_OK(ek_set_option(tasks, "on_failure", "stop"));
    clear_tallies();
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_TASK);
    all[0] = gather_tallies();
    /* Void: nothing runs, nothing is recorded. */
    ek_status status = EK_OK;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        status = ek_process(tasks, NULL);
    JOB_STATUS(status, EK_ERR_STATE);
    int64_t added = job_sum(tasks_here());
    ek_destroy(&tasks);
    if (job_rank == 0) {
        struct eki_record *record = open_record(1);
        struct eki_record_iteration iteration;
        int64_t all_tasks = 0;
        need(record && eki_record_load(record, 0, &iteration) == EK_OK);
        CHECK_EQ_INT(iteration.head.status, EK_ERR_TASK);
        for (int w = 0; w < record->shape.workers; w++)
            all_tasks +=
                iteration.workers[w].executed + iteration.workers[w].cancelled;
        CHECK_EQ_INT(all_tasks, added);
        eki_record_unload(&iteration);
        eki_record_close(&record);
    }
    compare(1, all);
}

static void refuse(const char *record, ek_status status, const char *part)
{
    ek_options options = job_options();
    ek_collection *tasks = NULL;
    options.record = record;
    JOB_STATUS(ek_create(MPI_COMM_WORLD, &options, &tasks), status);
    if (status == EK_OK)
        ek_destroy(&tasks);
    else
        CHECK_HAS_TEXT(ek_error_message(), part);
    CHECK(tasks == NULL);
}

static void bad_files_are_refused(void)
{
    refuse("/nowhere/to/be/found.ekr", EK_ERR_FILE, "/nowhere/to/be/found.ekr");
    refuse("run.tsv", EK_ERR_ARG, "ending in .ekr");
    refuse("", EK_ERR_ARG, "ending in .ekr");
    refuse(".ekr", EK_ERR_ARG, "ending in .ekr");
    refuse(NULL, EK_OK, "");
    setenv("EVENKEEL_RECORD", "1", 1);
    refuse("0", EK_ERR_ARG, "EVENKEEL_RECORD: '1'");
    unsetenv("EVENKEEL_RECORD");
}

static void ranks_must_agree(void)
{
    bool is_other = job_size > 1 && job_rank == job_size - 1;
    refuse(is_other ? path : "0", job_size > 1 ? EK_ERR_ARG : EK_OK,
           "option record must be the same on all ranks");
}

static void one_collection_writes_a_file(void)
{
    char other[128];
    ek_collection *tasks = make(path);
    refuse(path, EK_ERR_FILE, "another collection or program is writing it");
    /* With its name in the file's, each has one of its own. */
    snprintf(other, sizeof other, "%.50s.%%.ekr", path);
    refuse(other, EK_OK, "");
    ek_destroy(&tasks);
    snprintf(other, sizeof other, "%.50s.tasks.ekr", path);
    if (job_rank == 0) {
        CHECK_EQ_INT(unlink(other), 0);
        CHECK_EQ_INT(unlink(path), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static _Atomic int warnings;

static void count_warnings(ek_level level, const char *line, void *context)
{
    (void)context;
    CHECK_EQ_INT(level, EK_LEVEL_WARN);
    CHECK_HAS_TEXT(line, "File too large; recording stops");
    atomic_fetch_add_explicit(&warnings, 1, memory_order_relaxed);
}

/* Let files of this process have so many bytes at most. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    CHECK_EQ_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static size_t input_bytes(int64_t number)
{
    return (size_t)(100 + number % 7);
}

static size_t result_bytes(int64_t number)
{
    return (size_t)(50 + number % 5);
}

static size_t pack_input(const ek_task *task, void *buffer, void *context)
{
    size_t bytes = input_bytes(((const struct payload *)task->payload)->number);
    (void)context;
    memset(buffer, 1, bytes);
    return bytes;
}

static size_t pack_result(const ek_task *task, void *object, void *buffer,
                          void *context)
{
    size_t bytes =
        result_bytes(((const struct payload *)task->payload)->number);
    (void)object, (void)context;
    if (buffer)
        memset(buffer, 2, bytes);
    return bytes;
}

static void unpack_result(const ek_task *task, const void *buffer, size_t bytes,
                          void *context)
{
    (void)task, (void)buffer, (void)bytes, (void)context;
}

/* The record of one iteration in which so many tasks ran away from their data.
 */
static void check_sizes(int64_t travelled)
{
    struct eki_record_iteration iteration;
    struct eki_record *record = open_record(1);
    need(record && eki_record_load(record, 0, &iteration) == EK_OK);
    CHECK_EQ_INT(record->data_bytes_max[work], 200);
    CHECK_EQ_INT(record->data_bytes_max[child], 0);
    for (int64_t i = 0; i < iteration.task_count; i++) {
        const struct eki_record_task *task = &iteration.tasks[i];
        int64_t number = number_of(task->id);
        if (!(task->flags & EKI_RECORD_SIZED))
            continue;
        travelled--;
        CHECK_EQ_INT(task->input_bytes, input_bytes(number));
        CHECK_EQ_INT(task->result_bytes, result_bytes(number));
    }
    CHECK_EQ_INT(travelled, 0);
    eki_record_unload(&iteration);
    eki_record_close(&record);
    unlink(path);
}

static void data_that_travels(void)
{
    ek_data_ops ops = EK_DATA_OPS_INIT;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make(path);
    register_rest(tasks);
    ops.bytes_max = 200;
    ops.pack_input = pack_input;
    ops.pack_result = pack_result;
    ops.unpack_result = unpack_result;
    JOB_OK(ek_set_data_ops(tasks, work, &ops));
    add_tasks(tasks, PLAIN);
    clear_tallies();
    JOB_OK(ek_process(tasks, &report));
    int64_t travelled = job_count(tasks, "travelled");
    ek_destroy(&tasks);
    if (job_rank == 0)
        check_sizes(travelled);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void full_disks_stop_the_recording(void)
{
    ek_collection *tasks = make(path);
    register_rest(tasks);
    add_tasks(tasks, DISCARD);
    ek_set_sink(count_warnings, NULL, EK_LEVEL_WARN);
    signal(SIGXFSZ, SIG_IGN);
    for (int k = 0; k < 4; k++) {
        if (k == 1)
            limit_files(30000);
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    limit_files(RLIM_INFINITY);
    ek_destroy(&tasks);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    int heard = atomic_load_explicit(&warnings, memory_order_relaxed);
    CHECK_EQ_INT(job_sum(heard), 1);
    if (job_rank == 0) {
        struct eki_record *record;
        need(eki_record_open(path, &record) == EK_OK);
        CHECK(!record->is_complete && record->iteration_count < 4);
        CHECK(record->iteration_count > 0);
        eki_record_close(&record);
        unlink(path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    choose_path();
    JOB_RUN(plain_tasks);
    JOB_RUN(skipped_tasks);
    JOB_RUN(discarded_tasks);
    JOB_RUN(spawned_tasks);
    JOB_RUN(trees);
    JOB_RUN(kept_tasks);
    JOB_RUN(failing_tasks);
    JOB_RUN(costed_tasks);
    JOB_RUN(held_up_tasks);
    JOB_RUN(ranges);
    JOB_RUN(other_policies);
    JOB_RUN(pull_loops);
    JOB_RUN(stopped_iterations);
    JOB_RUN(data_that_travels);
    JOB_RUN(bad_files_are_refused);
    JOB_RUN(ranks_must_agree);
    JOB_RUN(one_collection_writes_a_file);
    JOB_RUN(full_disks_stop_the_recording);
    return job_result();
}
