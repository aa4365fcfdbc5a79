/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges: every index once, in memory that does not depend on their number;
 * what is not discarded is an ordinary task from the next iteration on.
 *
 *     test_ranges RANKS WORKERS [INDICES]
 *
 * INDICES is how many the large range has, in the whole job.
 */
#include "job.h"

#include <sys/resource.h>

static int64_t indices_in_all = 20000000;

/* A multiset of indices. */
struct sums {
    int64_t n;
    uint64_t first, second;
};

/* Of a worker, apart from the next one's. */
static struct tally {
    struct sums ran;
    char apart[104];
} tallies[16];

static struct {
    int64_t keep_every; /* other indices are discarded */
    int64_t stop_at;    /* index that stops the iteration; -1: none */
} says;

static void add_index(struct sums *sums, int64_t index)
{
    sums->n++;
    sums->first += (uint64_t)index;
    sums->second += (uint64_t)index * (uint64_t)index;
}

static int index_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    int64_t index;
    (void)bytes, (void)context;
    memcpy(&index, payload, sizeof index);
    add_index(&tallies[ek_worker_here(worker)].ran, index);
    if (says.keep_every == 0 || index % says.keep_every != 0)
        ek_discard(worker);
    if (index == says.stop_at)
        ek_stop(worker);
    return 0;
}

/* What ran in the job since the last call. */
static struct sums ran_in_job(void)
{
    struct sums all = {0};
    for (int here = 0; here < job_workers; here++) {
        all.n += tallies[here].ran.n;
        all.first += tallies[here].ran.first;
        all.second += tallies[here].ran.second;
    }
    memset(tallies, 0, sizeof tallies);
    MPI_Allreduce(MPI_IN_PLACE, &all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void check_sums(struct sums value, struct sums expected)
{
    CHECK_EQ_INT(value.n, expected.n);
    CHECK_EQ_INT(value.first, expected.first);
    CHECK_EQ_INT(value.second, expected.second);
}

/* FIRST, FIRST + STEP ... below LAST. */
static struct sums sums_of(int64_t first, int64_t last, int64_t step)
{
    struct sums sums = {0};
    for (int64_t i = first; i < last; i += step)
        add_index(&sums, i);
    return sums;
}

static ek_collection *make(ek_function *function)
{
    ek_options options = job_options();
    options.payload_bytes = 16;
    ek_collection *tasks = job_create(&options);
    *function = job_register(tasks, "index", index_task, NULL);
    memset(tallies, 0, sizeof tallies);
    says.keep_every = 0;
    says.stop_at = -1;
    return tasks;
}

static bool see(const ek_task *task, void *context)
{
    struct sums *sums = context;
    int64_t bounds[2] = {0, 0};
    memcpy(bounds, task->payload, task->bytes);
    CHECK_EQ_INT(task->bytes, task->is_range ? 16 : 8);
    if (!task->is_range)
        bounds[1] = bounds[0] + 1;
    CHECK_EQ_INT(task->count, bounds[1] - bounds[0]);
    for (int64_t i = bounds[0]; i < bounds[1]; i++)
        add_index(sums, i);
    return true;
}

static struct sums held_in_job(ek_collection *tasks)
{
    struct sums held = {0};
    CHECK_OK(ek_visit_tasks(tasks, see, &held));
    MPI_Allreduce(MPI_IN_PLACE, &held, 3, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    return held;
}

static int64_t peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Nearly all are discarded: memory stays what it was. */
static void large_range_in_constant_memory(void)
{
    enum {
        GROWTH_MOST_KIB = 16384
    };
    const int64_t n = indices_in_all / (100 * job_size) * (100 * job_size);
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_function function;
    ek_collection *tasks = make(&function);
    says.keep_every = n / 100;
    int64_t before = peak_kib(), share = n / job_size;
    CHECK_OK(ek_add_range(tasks, function, share * job_rank,
                          share * (job_rank + 1)));
    JOB_OK(ek_process(tasks, &report));
    int64_t growth = job_most(peak_kib() - before);
    CHECK(growth < GROWTH_MOST_KIB);
    CHECK_EQ_INT(report.tasks, n);
    CHECK_EQ_INT(job_count(tasks, "null_tasks"), n - 100);
    struct sums ran = ran_in_job();
    CHECK_EQ_INT(ran.n, n);
    CHECK_EQ_INT(ran.first, n % 2 ? (uint64_t)n * ((uint64_t)(n - 1) / 2)
                                  : (uint64_t)n / 2 * (uint64_t)(n - 1));
    if (job_rank == 0)
        printf("     %lld indices in %.2f s, memory grew by %lld KiB\n",
               (long long)n, report.wall_s, (long long)growth);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    struct sums kept = sums_of(0, n, n / 100);
    check_sums(held_in_job(tasks), kept);
    JOB_OK(ek_process(tasks, &report));
    check_sums(ran_in_job(), kept);
    ek_destroy(&tasks);
}

/*
 * All indices remain: each takes a slot, however often they are restored.  One
 * that is stolen takes another, so only what a single worker has is counted.
 */
static void remaining_indices_take_a_slot(void)
{
    enum {
        INDICES = 600000, /* of a rank */
        SLOT_BYTES = 64,
        /* The ends of huge pages, and what is spare. */
        SPARE_MOST_KIB = 8192
    };
    if (job_workers > 1)
        return;
    const int64_t n = (int64_t)INDICES * job_size;
    ek_collection *tasks = job_create(NULL);
    ek_function function = job_register(tasks, "index", index_task, NULL);
    int64_t first = (int64_t)INDICES * job_rank, before = peak_kib();
    says.keep_every = 1;
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    CHECK_OK(ek_add_range(tasks, function, first, first + INDICES));
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_process(tasks, NULL));
        check_sums(ran_in_job(), sums_of(0, n, 1));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    int64_t growth = job_most(peak_kib() - before);
    if (job_rank == 0)
        printf("     %d indices remain, memory grew by %lld KiB\n", INDICES,
               (long long)growth);
    CHECK(growth < INDICES / 1024 * SLOT_BYTES + SPARE_MOST_KIB);
    ek_destroy(&tasks);
}

/* Over all policies: what remains, and where it remains. */
static void remaining_indices_are_tasks(void)
{
    enum {
        INDICES = 10000
    };
    static const char *const steals[] = {"random", "near", "none", "counter"};
    for (int i = 0; i < 8; i++) {
        ek_function function;
        ek_collection *tasks = make(&function);
        CHECK_OK(ek_set_option(tasks, "steal", steals[i % 4]));
        int64_t first = job_rank == job_size - 1 ? 0 : INDICES;
        CHECK_OK(ek_add_range(tasks, function, first, INDICES));
        for (int64_t every = 1; every <= 625; every *= 5) {
            struct sums before =
                sums_of(0, INDICES, every == 1 ? 1 : every / 5);
            struct sums after = sums_of(0, INDICES, every);
            says.keep_every = every;
            check_sums(held_in_job(tasks), before);
            JOB_OK(ek_process(tasks, NULL));
            check_sums(ran_in_job(), before);
            check_sums(held_in_job(tasks), after);
            JOB_OK(ek_restore(
                tasks, i < 4 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL, NULL));
            check_sums(held_in_job(tasks), after);
        }
        ek_destroy(&tasks);
    }
}

/* Several ranges and tasks of the same indices, from all ranks. */
static void many_ranges(void)
{
    enum {
        RANGES = 40,
        INDICES = 500
    };
    ek_function function;
    ek_collection *tasks = make(&function);
    struct sums mine = {0}, all;
    for (int i = 0; i < RANGES; i++) {
        int64_t first = i * 37, last = first + (i % 7 == 0 ? 0 : INDICES);
        CHECK_OK(ek_add_range(tasks, function, first, last));
        CHECK_OK(ek_add_task(tasks, function, &first, sizeof first, NULL));
        for (int64_t j = first; j < last; j++)
            add_index(&mine, j);
        add_index(&mine, first);
    }
    all = mine;
    MPI_Allreduce(MPI_IN_PLACE, &all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    says.keep_every = 1;
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_process(tasks, NULL));
        check_sums(ran_in_job(), all);
        JOB_OK(ek_restore(
            tasks, i == 1 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL, NULL));
    }
    ek_destroy(&tasks);
}

/* Where an index stops the iteration, the others remain as what they are. */
static void stopping_in_a_range(void)
{
    enum {
        INDICES = 30000
    };
    ek_function function;
    ek_collection *tasks = make(&function);
    CHECK_OK(ek_add_range(tasks, function, 0, INDICES));
    struct sums all = sums_of(0, INDICES, 1);
    all.n *= job_size;
    all.first *= (uint64_t)job_size;
    all.second *= (uint64_t)job_size;
    says.keep_every = 1;
    for (int i = 0; i < 4; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        says.stop_at = i == 3 ? -1 : 11000 * i;
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(report.tasks + job_count(tasks, "cancelled"), all.n);
        CHECK_EQ_INT(report.tasks, ran_in_job().n);
        check_sums(held_in_job(tasks), all);
        JOB_OK(ek_restore(
            tasks, i % 2 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL, NULL));
        check_sums(held_in_job(tasks), all);
    }
    ek_destroy(&tasks);
}

static void bounds_are_checked(void)
{
    const int64_t most = INT64_MAX;
    ek_function function;
    ek_collection *tasks = make(&function);
    CHECK_EQ_INT(ek_add_range(tasks, function, -1, 5), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "-1 ... 5; allowed: 0 <= first <= last");
    CHECK_EQ_INT(ek_add_range(tasks, function, 6, 5), EK_ERR_ARG);
    CHECK_EQ_INT(ek_add_range(tasks, function, 0, most), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "allowed in one call");
    CHECK_OK(ek_add_range(tasks, function, 5, 5));
    CHECK_OK(ek_add_range(tasks, function, most - 1000, most));
    JOB_OK(ek_process(tasks, NULL));
    struct sums all = {0};
    for (int64_t i = most - 1000; i < most; i++)
        add_index(&all, i);
    all.n *= job_size;
    all.first *= (uint64_t)job_size;
    all.second *= (uint64_t)job_size;
    check_sums(ran_in_job(), all);
    ek_destroy(&tasks);
}

static bool remove_ranges(const ek_task *task, void *context)
{
    (void)context;
    return !task->is_range;
}

static void ranges_are_removed(void)
{
    int64_t number = 7;
    ek_function function;
    ek_collection *tasks = make(&function);
    says.keep_every = 1;
    CHECK_OK(ek_add_range(tasks, function, 0, 100));
    CHECK_OK(ek_add_task(tasks, function, &number, sizeof number, NULL));
    CHECK_OK(ek_visit_tasks(tasks, remove_ranges, NULL));
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(ran_in_job().n, job_size);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    if (argc > 3)
        indices_in_all = atoll(argv[3]);
    JOB_RUN(large_range_in_constant_memory);
    JOB_RUN(remaining_indices_take_a_slot);
    JOB_RUN(remaining_indices_are_tasks);
    JOB_RUN(many_ranges);
    JOB_RUN(stopping_in_a_range);
    JOB_RUN(bounds_are_checked);
    JOB_RUN(ranges_are_removed);
    return job_result();
}
