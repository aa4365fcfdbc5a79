/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees whose nodes spawn in every way there is: ek_spawn() and ek_spawn_at(),
 * called and inline, payloads of all sizes.  Each node runs once, on whichever
 * worker, with the payload that it was given; also where the payload is written
 * late, while others steal.
 *
 *     test_spawn RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_inline.h>

enum {
    CHILDREN = 4,
    SEEDS = 4, /* of a rank */
    WORKERS_MOST = 16,
    KEPT = 8,       /* one node of so many */
    LATE_NS = 3000, /* longer than a task that is batched */
    BYTES_LEAST = 16,
    BYTES_MOST = 48
};

struct node {
    uint64_t key;
    int32_t depth;
    uint32_t bytes; /* and on to them bytes of the key */
};

/* Of a worker, apart from the next one's. */
static struct tally {
    int64_t ran, spawned, kept;
    uint64_t spawned_sum, ran_sum;
    char apart[88];
} tallies[WORKERS_MOST];

static struct {
    ek_function function;
    int depth;
    bool is_late; /* payloads are written late */
} says;

static void wait_ns(int64_t ns)
{
    struct timespec first, now;
    clock_gettime(CLOCK_MONOTONIC, &first);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - first.tv_sec) * 1000000000 + now.tv_nsec -
                 first.tv_nsec <
             ns);
}

static unsigned char byte_of(const struct node *node, uint32_t at)
{
    return (unsigned char)(node->key * 7 + at);
}

static void write_node(void *to, const struct node *node)
{
    memcpy(to, node, sizeof *node);
    for (uint32_t at = sizeof *node; at < node->bytes; at++)
        ((unsigned char *)to)[at] = byte_of(node, at);
}

static struct node child_of(const struct node *node, int number)
{
    struct node child = {.key = node->key * CHILDREN + 1 + (uint64_t)number,
                         .depth = node->depth + 1};
    child.bytes =
        BYTES_LEAST + (uint32_t)(child.key % (BYTES_MOST - BYTES_LEAST + 1));
    return child;
}

static bool spawn(ek_worker *worker, const struct node *node, int way,
                  int flags)
{
    unsigned char payload[BYTES_MOST];
    if (way < 2) {
        write_node(payload, node);
        return (way == 0 ? ek_spawn(worker, says.function, payload, node->bytes,
                                    flags)
                         : (ek_spawn)(worker, says.function, payload,
                                      node->bytes, flags)) == EK_OK;
    }
    void *slot = way == 2
                     ? ek_spawn_at(worker, says.function, node->bytes, flags)
                     : (ek_spawn_at)(worker, says.function, node->bytes, flags);
    if (!slot)
        return false;
    if (says.is_late)
        wait_ns(LATE_NS);
    write_node(slot, node);
    return true;
}

static int run_node(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    struct tally *tally = &tallies[ek_worker_here(worker)];
    struct node node;
    (void)context;
    memcpy(&node, payload, sizeof node);
    bool is_whole = node.bytes == bytes;
    for (uint32_t at = sizeof node; is_whole && at < bytes; at++)
        is_whole = ((const unsigned char *)payload)[at] == byte_of(&node, at);
    CHECK(is_whole);
    CHECK_EQ_INT(ek_worker_here(worker), (ek_worker_here)(worker));
    CHECK_EQ_INT(ek_worker_id(worker), (ek_worker_id)(worker));
    CHECK(ek_worker_data(worker) == (ek_worker_data)(worker));
    tally->ran++;
    tally->ran_sum += node.key;
    for (int i = 0; i < CHILDREN && node.depth < says.depth; i++) {
        struct node child = child_of(&node, i);
        bool is_kept = child.key % KEPT == 0;
        CHECK(spawn(worker, &child, (int)((child.key >> 2) % 4),
                    is_kept ? EK_SPAWN_KEEP : 0));
        tally->spawned++;
        tally->kept += is_kept;
        tally->spawned_sum += child.key;
    }
    return 0;
}

/* What all workers of the job did, which is forgotten. */
static struct tally all_tallies(void)
{
    struct tally all = {0};
    for (int here = 0; here < WORKERS_MOST; here++) {
        all.ran += tallies[here].ran;
        all.spawned += tallies[here].spawned;
        all.kept += tallies[here].kept;
        all.ran_sum += tallies[here].ran_sum;
        all.spawned_sum += tallies[here].spawned_sum;
    }
    memset(tallies, 0, sizeof tallies);
    all.ran = job_sum(all.ran);
    all.spawned = job_sum(all.spawned);
    all.kept = job_sum(all.kept);
    all.ran_sum = (uint64_t)job_sum((int64_t)all.ran_sum);
    all.spawned_sum = (uint64_t)job_sum((int64_t)all.spawned_sum);
    return all;
}

/* Seeds of this rank; returns the sum of their keys. */
static uint64_t add_seeds(ek_collection *tasks)
{
    uint64_t sum = 0;
    for (int i = 0; i < SEEDS; i++) {
        struct node node = {.key = (uint64_t)(job_rank * SEEDS + i + 1),
                            .bytes = sizeof node};
        CHECK_OK(ek_add_task(tasks, says.function, &node, sizeof node, NULL));
        sum += node.key;
    }
    return sum;
}

/* Trees of so many levels, and once more what was kept of them. */
static void run_trees(int depth, bool is_late, const ek_options *options)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = job_create(options);
    int64_t nodes = 0, level = SEEDS * job_size;
    for (int i = 0; i <= depth; i++, level *= CHILDREN)
        nodes += level;
    says.function = job_register(tasks, "node", run_node, NULL);
    says.depth = depth;
    says.is_late = is_late;
    uint64_t seeds = (uint64_t)job_sum((int64_t)add_seeds(tasks));
    JOB_OK(ek_process(tasks, &report));
    struct tally all = all_tallies();
    CHECK_EQ_INT(all.ran, nodes);
    CHECK_EQ_INT(all.ran_sum, all.spawned_sum + seeds);
    CHECK_EQ_INT(report.tasks, nodes);
    CHECK_EQ_INT(job_count(tasks, "spawned"), all.spawned);
    int64_t kept = all.kept + SEEDS * job_size;
    says.depth = 0; /* they spawn no more */
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_process(tasks, &report));
    all = all_tallies();
    CHECK_EQ_INT(all.ran, kept);
    ek_destroy(&tasks);
}

static void short_tasks_spawn(void)
{
    ek_options options = job_options();
    run_trees(6, false, &options);
}

/* Each spawn publishes. */
static void long_tasks_write_late(void)
{
    ek_options options = job_options();
    run_trees(4, true, &options);
}

static void checked_tasks_spawn(void)
{
    ek_options options = job_options();
    job_set_number(&options, "check", 1);
    run_trees(2, false, &options); /* each payload is looked at: 0.1 ms */
}

static void expect_no_slot(ek_worker *worker, ek_function function,
                           size_t bytes, int flags, const char *why)
{
    CHECK(ek_spawn_at(worker, function, bytes, flags) == NULL);
    CHECK_HAS_TEXT(ek_error_message(), why);
    CHECK_HAS_TEXT(ek_error_message(), "ek_spawn_at");
    CHECK((ek_spawn_at)(worker, function, bytes, flags) == NULL);
}

static ek_worker *kept_worker;

static int ask_for_no_slot(ek_worker *worker, const void *payload, size_t bytes,
                           void *context)
{
    (void)payload, (void)bytes, (void)context;
    expect_no_slot(worker, 5, 8, 0, "function 5 is not registered; allowed: 0");
    expect_no_slot(worker, -1, 8, 0, "function -1 is not registered");
    expect_no_slot(worker, 0, 49, 0,
                   "payload of 49 bytes; allowed: 0 ... 48 (option payload");
    expect_no_slot(worker, 0, 8, 2, "flags 2; allowed: 0, EK_SPAWN_KEEP");
    tallies[ek_worker_here(worker)].ran++;
    return 0;
}

static int keep_worker(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    (void)payload, (void)bytes, (void)context;
    kept_worker = worker;
    return 0;
}

static void wrong_arguments_give_no_slot(void)
{
    for (int check = 0; check < 2; check++) {
        ek_options options = job_options();
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        job_set_number(&options, "check", check);
        ek_collection *tasks = job_create(&options);
        ek_function ask = job_register(tasks, "ask", ask_for_no_slot, NULL);
        ek_function keep = job_register(tasks, "keep", keep_worker, NULL);
        CHECK_OK(ek_add_task(tasks, ask, NULL, 0, NULL));
        kept_worker = NULL;
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(job_count(tasks, "spawned"), 0);
        CHECK_EQ_INT(all_tallies().ran, job_size);
        JOB_OK(ek_clear(tasks));
        CHECK_OK(ek_add_task(tasks, keep, NULL, 0, NULL));
        JOB_OK(ek_process(tasks, NULL));
        if (kept_worker)
            expect_no_slot(kept_worker, 0, 8, 0, "no iteration is open");
        ek_destroy(&tasks);
    }
}

/* Lines of the sink that tell of pointers. */
static _Atomic int pointers_told;

static void hear(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    if (strstr(line, "ek_spawn_at: bytes 0 ... 7") &&
        strstr(line, "function 'points' look like a pointer"))
        atomic_fetch_add(&pointers_told, 1);
    else if (!strstr(line, "check"))
        fprintf(stderr, "%s\n", line);
}

/* A chain, so that none is looked at by the spawn of a sibling. */
static int spawn_pointer(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    int *number = context, **pointer;
    (void)payload;
    if (bytes > 0 && (*number)++ > 1)
        return 0;
    pointer = ek_spawn_at(worker, 0, sizeof *pointer, 0);
    if (CHECK(pointer != NULL))
        *pointer = number;
    return 0;
}

static void pointers_in_slots_are_told_of(void)
{
    for (int check = 0; check < 2; check++) {
        ek_options options = job_options();
        int number = 0;
        job_set_number(&options, "check", check);
        options.steal = EK_STEAL_NONE;
        ek_collection *tasks = job_create(&options);
        ek_set_sink(hear, NULL, EK_LEVEL_WARN);
        ek_function function =
            job_register(tasks, "points", spawn_pointer, &number);
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(atomic_load(&pointers_told), check);
        ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
        ek_destroy(&tasks);
    }
}

/* CHILDREN that are kept, as many that are not, and a stop. */
static int stop_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    ek_function leaf = *(const ek_function *)context;
    (void)payload, (void)bytes;
    for (int i = 0; i < 2 * CHILDREN; i++)
        CHECK_OK(
            ek_spawn(worker, leaf, NULL, 0, i % 2 == 0 ? EK_SPAWN_KEEP : 0));
    ek_stop(worker);
    return 0;
}

/* Children that are cancelled stay only where they are kept. */
static void a_stop_keeps_what_is_kept(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_restore_report held = EK_RESTORE_REPORT_INIT;
    ek_options options = job_options();
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = job_create(&options);
    ek_function leaf = job_register(tasks, "leaf", job_nothing, NULL);
    ek_function stop = job_register(tasks, "stop", stop_task, &leaf);
    if (job_rank == 0)
        CHECK_OK(ek_add_task(tasks, stop, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.tasks + job_count(tasks, "cancelled"),
                 1 + 2 * CHILDREN);
    CHECK(job_count(tasks, "cancelled") > 0);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, &held));
    CHECK_EQ_INT(job_sum(held.tasks), 1 + CHILDREN);
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    /* A process looks at so many payloads: before others are. */
    JOB_RUN(pointers_in_slots_are_told_of);
    JOB_RUN(short_tasks_spawn);
    JOB_RUN(long_tasks_write_late);
    JOB_RUN(checked_tasks_spawn);
    JOB_RUN(wrong_arguments_give_no_slot);
    JOB_RUN(a_stop_keeps_what_is_kept);
    return job_result();
}
