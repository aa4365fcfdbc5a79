/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every task runs exactly once, whatever is spawned, kept, discarded, stolen
 * and restored: what ran must be what was created, compared by number and by
 * two sums of hashes, and what the collection holds afterwards must be what was
 * not discarded.
 *
 *     test_exactly_once RANKS WORKERS [TASKS [LEVEL [SEED [uneven]]]]
 *
 * TASKS is about how many run in all; LEVEL the MPI thread level, 1 ... 3;
 * uneven: ranks have 1, 2, ... WORKERS workers.
 */
#include "sums.h"

#include <evenkeel_pull.h>
#include <evenkeel_spawn.h>

/* A task: its number decides all that it does. */
struct piece {
    uint64_t key;
    int32_t depth;   /* 0: spawns nothing */
    int32_t is_kept; /* held by the collection: a seed, or kept */
};

/* What a worker has seen in this iteration. */
struct tally {
    struct sums ran, spawned, kept, discarded;
    int64_t nulls;
    char apart[64]; /* from the next worker's */
};

static int64_t tasks_in_all = 100000;
static uint64_t seed = 1;

static ek_function piece_function, index_function;
static struct sums held; /* by the collections of this job, on this rank */
static struct tally *tallies;
static _Atomic int may_stop;

/* Most tasks take nothing, some a microsecond or ten, few sleep. */
static void work(ek_worker *worker, uint64_t chance)
{
    if (chance % 32 == 0) {
        for (volatile int i = 0; i < (int)((chance >> 32) & 4095); i++)
            continue;
    }
    if (chance % 256 == 1)
        ek_poll(worker);
    if (chance % 4096 == 2)
        job_nap(100);
}

static void spawn(ek_worker *worker, const struct piece *parent,
                  uint64_t chance)
{
    struct tally *tally = &tallies[ek_worker_here(worker)];
    int children = parent->depth > 0 ? (int)(chance % 3) : 0;
    for (int i = 0; i < children; i++) {
        struct piece child = {mix(parent->key + 977u * (uint64_t)(i + 1)),
                              parent->depth - 1, 0};
        child.is_kept = mix(child.key) % 32 == 0;
        ek_status status =
            ek_spawn(worker, piece_function, &child, sizeof child,
                     child.is_kept ? EK_SPAWN_KEEP : 0);
        CHECK_OK(status);
        add(&tally->spawned, child.key);
        if (child.is_kept)
            add(&tally->kept, child.key);
        if ((chance >> 8 & 1) != 0)
            work(worker, mix(child.key));
    }
}

/* Of tasks that the collection holds some are null, for now or for good. */
static void leave(ek_worker *worker, uint64_t key, uint64_t chance,
                  bool is_held)
{
    struct tally *tally = &tallies[ek_worker_here(worker)];
    if ((chance >> 16 & 7) != 0)
        return;
    tally->nulls++;
    if ((chance >> 19 & 1) != 0) {
        ek_skip(worker);
        return;
    }
    ek_discard(worker);
    if (is_held)
        add(&tally->discarded, key);
}

static int piece_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    const struct piece *piece = payload;
    (void)context;
    CHECK_EQ_INT(bytes, sizeof *piece);
    add(&tallies[ek_worker_here(worker)].ran, piece->key);
    uint64_t chance = mix(piece->key ^ seed);
    spawn(worker, piece, chance);
    work(worker, chance >> 1);
    leave(worker, piece->key, chance, piece->is_kept);
    if (atomic_load(&may_stop) && (chance >> 20) % 512 == 0)
        ek_stop(worker);
    return 0;
}

/* Three of four indices are null for good. */
static int index_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    struct tally *tally = &tallies[ek_worker_here(worker)];
    int64_t index;
    (void)context;
    CHECK_EQ_INT(bytes, sizeof index);
    memcpy(&index, payload, sizeof index);
    uint64_t key = (uint64_t)index, chance = mix(key ^ seed);
    add(&tally->ran, key);
    work(worker, chance >> 1);
    if (chance % 4 != 0) {
        ek_discard(worker);
        add(&tally->discarded, key);
        tally->nulls++;
    }
    return 0;
}

static bool see(const ek_task *task, void *context)
{
    struct sums *sums = context;
    if (task->is_range) {
        int64_t bounds[2];
        memcpy(bounds, task->payload, sizeof bounds);
        CHECK_EQ_INT(task->count, bounds[1] - bounds[0]);
        for (int64_t i = bounds[0]; i < bounds[1]; i++)
            add(sums, (uint64_t)i);
    } else if (task->function == index_function) {
        int64_t index;
        memcpy(&index, task->payload, sizeof index);
        add(sums, (uint64_t)index);
    } else {
        add(sums, ((const struct piece *)task->payload)->key);
    }
    return true;
}

static void check_sums(struct sums value, struct sums expected,
                       const char *what, int iteration)
{
    if (value.n == expected.n && value.first == expected.first &&
        value.second == expected.second)
        return;
    fprintf(stderr,
            "rank %d: iteration %d: %s: %lld tasks, hashes %llx %llx; "
            "expected %lld, %llx %llx\n",
            job_rank, iteration, what, (long long)value.n,
            (unsigned long long)value.first, (unsigned long long)value.second,
            (long long)expected.n, (unsigned long long)expected.first,
            (unsigned long long)expected.second);
    check_count(false);
}

static void check_held(ek_collection *tasks, const char *when, int iteration)
{
    struct sums seen = {0};
    CHECK_OK(ek_visit_tasks(tasks, see, &seen));
    check_sums(whole(seen), whole(held), when, iteration);
}

/* Much on rank 0, little elsewhere; a range on the last rank. */
static void add_seeds(ek_collection *tasks, int64_t n, int round)
{
    int64_t mine = job_rank == 0 ? n : n / 8;
    for (int64_t i = 0; i < mine; i++) {
        struct piece piece = {
            mix((uint64_t)round << 56 | (uint64_t)job_rank << 40 | (uint64_t)i),
            4, 1};
        ek_hint hint = EK_HINT_INIT;
        hint.rank = (int)(i % job_size);
        CHECK_OK(ek_add_task(tasks, piece_function, &piece, sizeof piece,
                             i % 16 == 0 ? &hint : NULL));
        add(&held, piece.key);
    }
    if (job_rank == job_size - 1) {
        int64_t first = round * 1000000;
        CHECK_OK(ek_add_range(tasks, index_function, first, first + n));
        for (int64_t i = first; i < first + n; i++)
            add(&held, (uint64_t)i);
    }
}

static int task_of_loop(const ek_task *task)
{
    if (task->function == index_function)
        return index_task(task->worker, task->payload, task->bytes, NULL);
    return piece_task(task->worker, task->payload, task->bytes, NULL);
}

static ek_status pull(ek_collection *tasks, ek_process_report *report)
{
    ek_status status = ek_begin(tasks);
#pragma omp parallel for schedule(static, 1) num_threads(job_workers)
    for (int here = 0; here < job_workers; here++) {
        ek_task task = {0};
        while (ek_next(tasks, here, &task) == EK_OK && task.worker)
            CHECK_EQ_INT(task_of_loop(&task), 0);
    }
    return status != EK_OK ? status : ek_end(tasks, report);
}

/* Of all workers of this rank. */
static struct tally tally_here(void)
{
    struct tally all = {0};
    for (int here = 0; here < job_workers; here++) {
        join(&all.ran, &tallies[here].ran, 1);
        join(&all.spawned, &tallies[here].spawned, 1);
        join(&all.kept, &tallies[here].kept, 1);
        join(&all.discarded, &tallies[here].discarded, 1);
        all.nulls += tallies[here].nulls;
    }
    return all;
}

/* Whether what ran is what there was, and what is left what was not discarded.
 */
static void check_iteration(ek_collection *tasks, int iteration,
                            const ek_process_report *report)
{
    struct tally all = tally_here();
    struct sums ran = whole(all.ran), created = whole(held);
    struct sums spawned = whole(all.spawned);
    join(&created, &spawned, 1);
    if (!atomic_load(&may_stop))
        check_sums(ran, created, "executed", iteration);
    CHECK_EQ_INT(report->tasks, ran.n);
    CHECK_EQ_INT(job_count(tasks, "spawned"), spawned.n);
    CHECK_EQ_INT(report->tasks + job_count(tasks, "cancelled"), created.n);
    CHECK_EQ_INT(job_count(tasks, "null_tasks"), job_sum(all.nulls));
    join(&held, &all.kept, 1);
    join(&held, &all.discarded, -1);
    check_held(tasks, "held after it", iteration);
}

struct plan {
    const char *steal, *order;
    ek_restore_policy restore;
    bool is_pulled, stops;
};

static void iterate(ek_collection *tasks, int iteration,
                    const struct plan *plan)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    memset(tallies, 0, (size_t)job_workers * sizeof *tallies);
    atomic_store(&may_stop, plan->stops);
    CHECK_OK(ek_set_option(tasks, "steal", plan->steal));
    CHECK_OK(ek_set_option(tasks, "order", plan->order));
    JOB_OK(plan->is_pulled ? pull(tasks, &report) : ek_process(tasks, &report));
    check_iteration(tasks, iteration, &report);
    JOB_OK(ek_restore(tasks, plan->restore, NULL));
    check_held(tasks, "held after the restore", iteration);
}

static void run_collection(const ek_options *options)
{
    static const struct plan plans[] = {
        {"random", "longest", EK_RESTORE_RETAIN, false, false},
        {"near", "longest", EK_RESTORE_ORIGINAL, false, false},
        {"random", "executed", EK_RESTORE_RETAIN, true, false},
        {"random", "longest", EK_RESTORE_RETAIN, false, true},
        {"counter", "longest", EK_RESTORE_DEFAULT, false, false},
        {"none", "longest", EK_RESTORE_ORIGINAL, false, false},
        {"counter:16", "longest", EK_RESTORE_ORIGINAL, true, true},
        {"counter:guided", "longest", EK_RESTORE_RETAIN, false, true},
        {"counter:guided", "longest", EK_RESTORE_DEFAULT, true, false},
        {"random", "longest", EK_RESTORE_RETAIN, false, false}};
    enum {
        PLANS = sizeof plans / sizeof plans[0],
        FORMS = 4
    };
    /* A seed and its descendants are about four tasks, and stay. */
    int64_t n = tasks_in_all / (FORMS * PLANS * 4) + 1;
    ek_collection *tasks = job_create(options);
    piece_function = job_register(tasks, "piece", piece_task, NULL);
    index_function = job_register(tasks, "index", index_task, NULL);
    held = (struct sums){0};
    for (int i = 0; i < PLANS; i++) {
        if (i % 4 == 0)
            add_seeds(tasks, n, i);
        iterate(tasks, i, &plans[i]);
    }
    CHECK_OK(ek_clear(tasks));
    held = (struct sums){0};
    check_held(tasks, "held after clearing", PLANS);
    ek_destroy(&tasks);
}

static void run_form(const char *deque, ek_progress_policy progress,
                     int64_t slots)
{
    ek_options options = job_options();
    job_set(&options, "deque", deque);
    options.progress = progress;
    job_set_number(&options, "buffer_slots", slots);
    job_set_number(&options, "seed", (int64_t)seed);
    run_collection(&options);
}

static void atomic_deque_polling_workers(void)
{
    run_form("atomic", EK_PROGRESS_POLLING, 4);
}

static void locked_deque_polling_workers(void)
{
    run_form("locked", EK_PROGRESS_POLLING, 256);
}

static void atomic_deque_server_thread(void)
{
    run_form("atomic", EK_PROGRESS_SERVER, 256);
}

static void locked_deque_server_thread(void)
{
    run_form("locked", EK_PROGRESS_SERVER, 3);
}

enum {
    MANY = 100000,
    MANY_BYTES = 48 /* largest payload */
};

static ek_function one_of_many;

static uint64_t key_of(const unsigned char *payload, size_t bytes)
{
    uint64_t key = bytes;
    for (size_t i = 0; i < bytes; i++)
        key = (key + payload[i] + 1) * 0x9e3779b97f4a7c15u;
    return key;
}

/* Payloads end where the room does: nothing after them may be read. */
static int spawn_many_task(ek_worker *worker, const void *payload, size_t bytes,
                           void *context)
{
    static const size_t sizes[] = {0, 1, 7, 8, 15, 16, 47, MANY_BYTES};
    struct tally *tally = &tallies[ek_worker_here(worker)];
    (void)payload, (void)bytes, (void)context;
    for (uint64_t i = 0; i < MANY; i++) {
        unsigned char room[MANY_BYTES];
        size_t n = sizes[i % 8];
        unsigned char *child = room + MANY_BYTES - n;
        for (size_t j = 0; j < n; j++)
            child[j] = (unsigned char)(mix(i) >> j % 8 * 8);
        CHECK_OK(ek_spawn(worker, one_of_many, child, n, 0));
        add(&tally->spawned, key_of(child, n));
    }
    return 0;
}

static int one_of_many_task(ek_worker *worker, const void *payload,
                            size_t bytes, void *context)
{
    (void)context;
    if (CHECK(bytes <= MANY_BYTES))
        add(&tallies[ek_worker_here(worker)].ran, key_of(payload, bytes));
    return 0;
}

static void one_task_spawns_very_many(ek_collection *tasks)
{
    ek_function many = job_register(tasks, "many", spawn_many_task, NULL);
    one_of_many = job_register(tasks, "one", one_of_many_task, NULL);
    if (job_rank == 0)
        CHECK_OK(ek_add_task(tasks, many, NULL, 0, NULL));
    for (int i = 0; i < 2; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        memset(tallies, 0, (size_t)job_workers * sizeof *tallies);
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(job_count(tasks, "spawned"), MANY);
        CHECK_EQ_INT(report.tasks, MANY + 1);
        struct tally all = tally_here();
        check_sums(whole(all.ran), whole(all.spawned), "of many", i);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
}

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
                                 MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int level = argc > 4 ? atoi(argv[4]) : 2;
    job_start(argc, argv, levels[level & 3]);
    if (argc > 3)
        tasks_in_all = atoll(argv[3]);
    if (argc > 5)
        seed = (uint64_t)atoll(argv[5]);
    if (argc > 6) {
        char workers[16];
        job_workers = 1 + job_rank % job_workers;
        snprintf(workers, sizeof workers, "%d", job_workers);
        setenv("EVENKEEL_WORKERS", workers, 1);
    }
    tallies = calloc((size_t)job_workers, sizeof *tallies);
    JOB_RUN(atomic_deque_polling_workers);
    JOB_RUN(locked_deque_polling_workers);
    JOB_RUN(atomic_deque_server_thread);
    JOB_RUN(locked_deque_server_thread);
    JOB_RUN_TASKS(one_task_spawns_very_many);
    free(tallies);
    return job_result();
}
