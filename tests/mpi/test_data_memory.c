/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of tasks with 100 kB of data each, half of which are retained away
 * from it: what a rank holds for others stays below options.data_bytes, and so
 * does what it takes.
 *
 *     test_data_memory RANKS WORKERS [TASKS]
 *
 * TASKS are those of the job.  The owner makes the data when it is asked.
 */
#include "job.h"

#include <evenkeel_data.h>

enum {
    BYTES = 100000,
    HELD_BYTES = 4 << 20,  /* data_bytes */
    OTHER_BYTES = 8 << 20, /* of MPI, and what malloc() keeps */
    SLOT_BYTES = 2 * 64    /* a task that ran elsewhere has two */
};

static int64_t tasks_in_job = 2000;
static _Atomic int64_t away, returned;
static int64_t most; /* of this process' own memory, when looked at */

/* Bytes in a line of /proc/self/status, which says KiB. */
static int64_t status_bytes(const char *key)
{
    char line[512];
    int64_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0)
            kib = strtoll(line + strlen(key) + 1, NULL, 10);
    }
    if (file)
        fclose(file);
    return kib * 1024;
}

/* Now and then; callbacks run one at a time. */
static void look(void)
{
    enum {
        EVERY = 16
    };
    static int calls;
    if (calls++ % EVERY != 0)
        return;
    int64_t now = status_bytes("RssAnon");
    most = now > most ? now : most;
}

static unsigned char letter(const void *payload)
{
    int64_t number;
    memcpy(&number, payload, sizeof number);
    return (unsigned char)(number % 251);
}

static size_t pack(const ek_task *task, void *buffer, void *context)
{
    (void)context;
    memset(buffer, letter(task->payload), BYTES);
    look();
    return BYTES;
}

static void unpack(const ek_task *task, const void *buffer, size_t bytes,
                   void *context)
{
    const unsigned char *values = buffer;
    (void)context;
    CHECK_EQ_INT(bytes, BYTES);
    CHECK_EQ_INT(values[0], letter(task->payload));
    CHECK_EQ_INT(values[BYTES - 1], (unsigned char)(values[0] + 1));
    returned++;
    look();
}

static int use(ek_worker *worker, const void *payload, size_t bytes,
               void *context)
{
    unsigned char *values = ek_task_data(worker);
    (void)bytes, (void)context;
    if (!values)
        return 0;
    CHECK_EQ_INT(values[BYTES - 1], letter(payload));
    values[BYTES - 1]++;
    away++;
    return 0;
}

/* Half of this rank's start on the next one. */
static void add_tasks(ek_collection *tasks, ek_function function, int64_t each)
{
    for (int64_t i = 0; i < each; i++) {
        int64_t number = job_rank * each + i;
        ek_hint hint = EK_HINT_INIT;
        hint.rank = (job_rank + (int)(i % 2)) % job_size;
        CHECK_OK(ek_add_task(tasks, function, &number, sizeof number, &hint));
    }
}

static void held_bytes_stay_below_their_bound(void)
{
    ek_options options = job_options();
    ek_data_ops ops = EK_DATA_OPS_INIT;
    options.steal = EK_STEAL_NONE;
    job_set_number(&options, "data_bytes", HELD_BYTES);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "use", use, NULL);
    ops.bytes_max = BYTES;
    ops.pack_input = pack;
    ops.unpack_result = unpack;
    CHECK_OK(ek_set_data_ops(tasks, function, &ops));
    /* Messages and threads have their memory. */
    add_tasks(tasks, function, 2);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_OK(ek_clear(tasks));
    int64_t before = status_bytes("RssAnon"), expected = tasks_in_job / 2;
    most = 0;
    add_tasks(tasks, function, tasks_in_job / job_size);
    for (int i = 0; i < 2; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        away = returned = 0;
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(job_sum(away), expected);
        CHECK_EQ_INT(job_sum(returned), expected);
        CHECK_EQ_INT(job_count(tasks, "data_in_bytes"), expected * BYTES);
        CHECK_EQ_INT(job_count(tasks, "data_out_bytes"), expected * BYTES);
        CHECK(job_count(tasks, "data_held_bytes") <= HELD_BYTES);
        if (job_rank == 0 && i == 1)
            printf("%lld tasks of %d bytes, %lld away: %.2f MB held of %.2f "
                   "MB, %.2f s\n",
                   (long long)tasks_in_job, BYTES,
                   (long long)job_count(tasks, "travelled"),
                   1e-6 * job_figure(tasks, "data_held_bytes"),
                   1e-6 * HELD_BYTES, report.wall_s);
    }
    int64_t taken = most - before;
    int64_t limit = HELD_BYTES + OTHER_BYTES + tasks_in_job * SLOT_BYTES;
    if (taken > limit) {
        fprintf(stderr, "rank %d: %lld bytes taken; allowed: %lld\n", job_rank,
                (long long)taken, (long long)limit);
        check_count(false);
    }
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    if (argc > 3)
        tasks_in_job = atoll(argv[3]);
    JOB_RUN(held_bytes_stay_below_their_bound);
    return job_result();
}
