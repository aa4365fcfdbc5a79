/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many collections beside each other: processed in any order, and three whose
 * tasks spawn into the next one.  What runs in each iteration must be what its
 * collection held, compared by number and by two sums of hashes.
 *
 *     test_many RANKS WORKERS [TASKS [COLLECTIONS [ROUNDS]]]
 *
 * TASKS is about how many tasks of chains run in all; COLLECTIONS how many are
 * open at once, for so many ROUNDS.
 */
#include "sums.h"

#include <evenkeel_spawn.h>

/* A link of a chain: its key decides what it does. */
struct link {
    uint64_t key;
    int32_t depth; /* 0: spawns nothing */
    int32_t round; /* of the chain's first link */
};

enum {
    CHAIN = 3, /* collections, each spawning into the next */
    DEPTH = 20
};

/* What a worker of the running collection has seen. */
struct tally {
    struct sums ran, discarded, spawned; /* the last: into the next one */
    char apart[64];                      /* from the next worker's */
};

static struct ring {
    ek_collection *tasks;
    ek_function function;
    int workers;
    struct sums held; /* on this rank */
    struct tally *tallies;
} ring[CHAIN];

static int64_t tasks_in_all = 20000;
static int collections = 64, rounds = 200;
static int round_now;

static void check_sums(struct sums here, struct sums expected_here,
                       const char *what, int at)
{
    struct sums value = whole(here);
    struct sums expected = whole(expected_here);
    if (value.n == expected.n && value.first == expected.first &&
        value.second == expected.second)
        return;
    fprintf(stderr, "rank %d: round %d: %s of %c: %lld tasks; expected %lld\n",
            job_rank, round_now, what, 'A' + at, (long long)value.n,
            (long long)expected.n);
    check_count(false);
}

/* Most links take nothing, few sleep. */
static void work(ek_worker *worker, uint64_t chance)
{
    if (chance % 64 == 0)
        ek_poll(worker);
    if (chance % 512 == 1)
        job_nap(100);
}

/* Links that stay in a collection spawn again in every iteration. */
static int link_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct ring *own = context;
    struct ring *next = &ring[(own - ring + 1) % CHAIN];
    const struct link *link = payload;
    struct tally *tally = &own->tallies[ek_worker_here(worker)];
    uint64_t chance = mix(link->key ^ (uint64_t)round_now);
    int children = (int)(chance >> 8 & 31);
    CHECK_EQ_INT(bytes, sizeof *link);
    add(&tally->ran, link->key);
    work(worker, chance);
    children = link->depth == 0 ? 0 : children == 0 ? 16 : children < 16;
    for (int i = 0; i < children; i++) {
        struct link child = {mix(chance + (uint64_t)i), link->depth - 1,
                             link->round};
        /* Both ways to add to it go together. */
        ek_status status =
            i % 8 == 7 ? ek_add_task(next->tasks, next->function, &child,
                                     sizeof child, NULL)
                       : ek_add_task_to(worker, next->tasks, next->function,
                                        &child, sizeof child);
        CHECK_OK(status);
        add(&tally->spawned, child.key);
    }
    if (mix(link->key) % 16 != 0) {
        ek_discard(worker);
        add(&tally->discarded, link->key);
    }
    return 0;
}

/* What a collection holds on this rank. */
struct held {
    struct sums sums;
    uint64_t ids[20000];
};

static bool see(const ek_task *task, void *context)
{
    struct held *held = context;
    if (CHECK(held->sums.n < (int64_t)(sizeof held->ids / sizeof *held->ids)))
        held->ids[held->sums.n] = task->id;
    add(&held->sums, ((const struct link *)task->payload)->key);
    return true;
}

static int compare_ids(const void *one, const void *two)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)two;
    return (a > b) - (a < b);
}

static void check_held(int at, const char *when)
{
    static struct held held;
    held.sums = (struct sums){0};
    CHECK_OK(ek_visit_tasks(ring[at].tasks, see, &held));
    check_sums(held.sums, ring[at].held, when, at);
    qsort(held.ids, (size_t)held.sums.n, sizeof *held.ids, compare_ids);
    for (int64_t i = 1; i < held.sums.n; i++)
        CHECK(held.ids[i - 1] != held.ids[i]);
}

/* The second has one worker per rank, the third one more than the first: links
 * of several workers meet in an inlet. */
static void make_ring(const ek_options *given)
{
    const int workers[CHAIN] = {job_workers, 1, job_workers + 1};
    for (int i = 0; i < CHAIN; i++) {
        struct ring *one = &ring[i];
        char text[16];
        ek_options options = *given;
        job_set_number(&options, "buffer_slots", 16);
        snprintf(text, sizeof text, "%d", workers[i]);
        setenv("EVENKEEL_WORKERS", text, 1);
        *one =
            (struct ring){.tasks = job_create(&options), .workers = workers[i]};
        one->tallies = calloc((size_t)workers[i], sizeof *one->tallies);
        one->function = job_register(one->tasks, "link", link_task, one);
    }
}

static void seed_chains(int n)
{
    for (int i = 0; i < n; i++) {
        struct link link = {mix((uint64_t)round_now << 40 |
                                (uint64_t)job_rank << 32 | (uint64_t)i),
                            DEPTH, round_now};
        CHECK_OK(ek_add_task(ring[0].tasks, ring[0].function, &link,
                             sizeof link, NULL));
        add(&ring[0].held, link.key);
    }
}

/* Run what collection AT holds; returns how many tasks that were. */
static int64_t run_one(int at)
{
    struct ring *one = &ring[at];
    struct tally all = {0};
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    memset(one->tallies, 0, (size_t)one->workers * sizeof *one->tallies);
    JOB_OK(ek_process(one->tasks, &report));
    for (int here = 0; here < one->workers; here++) {
        join(&all.ran, &one->tallies[here].ran, 1);
        join(&all.discarded, &one->tallies[here].discarded, 1);
        join(&all.spawned, &one->tallies[here].spawned, 1);
    }
    check_sums(all.ran, one->held, "ran", at);
    CHECK_EQ_INT(report.tasks, whole(all.ran).n);
    CHECK_EQ_INT(job_count(one->tasks, "spawned"), 0);
    join(&one->held, &all.discarded, -1);
    join(&ring[(at + 1) % CHAIN].held, &all.spawned, 1);
    return report.tasks;
}

/* What may come between, on all ranks alike. */
static void call_between(int at, uint64_t chance)
{
    static const ek_restore_policy policies[] = {
        EK_RESTORE_RETAIN, EK_RESTORE_ORIGINAL, EK_RESTORE_CENTRALIZED,
        EK_RESTORE_AUTO};
    if (chance % 3 == 0)
        check_held(at, "held before");
    if (chance % 4 == 1)
        JOB_OK(ek_restore(ring[at].tasks, policies[chance >> 8 & 3], NULL));
    if (chance % 5 == 2)
        check_held(at, "held after");
    if (chance % 16 == 7 || whole(ring[at].held).n > 4000) {
        CHECK_OK(ek_clear(ring[at].tasks));
        ring[at].held = (struct sums){0};
    }
}

static void run_ring(const ek_options *options)
{
    int64_t ran = 0;
    make_ring(options);
    for (round_now = 0; ran < tasks_in_all && round_now < 10000; round_now++) {
        uint64_t chance = mix((uint64_t)round_now + 77);
        if (round_now % 12 == 0)
            seed_chains(job_rank == 0 ? 100 : 10);
        int at =
            chance % 4 == 0 ? (int)((chance >> 8) % CHAIN) : round_now % CHAIN;
        ran += run_one(at);
        call_between((int)(chance >> 16 & 255) % CHAIN, chance >> 32);
    }
    CHECK(ran >= tasks_in_all);
    for (int i = 0; i < CHAIN; i++) {
        check_held(i, "held at the end");
        ek_destroy(&ring[i].tasks);
        free(ring[i].tallies);
    }
}

static void chains_run_exactly_once(void)
{
    ek_options options = job_options();
    run_ring(&options);
}

static void chains_run_beside_server_threads(void)
{
    ek_options options = job_options();
    options.progress = EK_PROGRESS_SERVER;
    job_set(&options, "deque", "locked");
    run_ring(&options);
}

/* Two collections: tasks of one make mistakes with the other. */
static struct {
    ek_collection *own, *other;
    ek_function function, in_other;
    ek_worker *kept;
    char message[300];
} wrong;

static void expect_refused(ek_worker *worker, ek_collection *other,
                           ek_function function, size_t bytes,
                           ek_status expected, const char *word)
{
    static const char payload[1000];
    ek_status status = ek_add_task_to(worker, other, function, payload, bytes);
    CHECK_EQ_INT(status, expected);
    if (!CHECK(strstr(ek_error_message(), word) != NULL))
        fprintf(stderr, "    '%s' is not in: %s\n", word, ek_error_message());
}

static int wrong_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    ek_function f = wrong.in_other;
    (void)payload, (void)bytes, (void)context;
    expect_refused(NULL, wrong.other, f, 8, EK_ERR_ARG, "worker is NULL");
    expect_refused(worker, NULL, f, 8, EK_ERR_ARG, "collection is NULL");
    expect_refused(worker, wrong.own, f, 8, EK_ERR_ARG, "use ek_spawn");
    expect_refused(worker, wrong.other, 7, 8, EK_ERR_ARG,
                   "'other'; allowed: 0 ... 0");
    expect_refused(worker, wrong.other, -1, 8, EK_ERR_ARG, "allowed: 0 ... 0");
    expect_refused(worker, wrong.other, f, 25, EK_ERR_ARG, "0 ... 24");
    CHECK_EQ_INT(ek_add_task_to(worker, wrong.other, f, NULL, 1), EK_ERR_ARG);
    CHECK_OK(ek_add_task_to(worker, wrong.other, f, NULL, 0));
    wrong.kept = worker;
    return 0;
}

static int kept_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    (void)worker, (void)payload, (void)context;
    CHECK_EQ_INT(bytes, 0);
    expect_refused(wrong.kept, wrong.own, wrong.function, 8, EK_ERR_STATE,
                   "no iteration is open");
    return 0;
}

static void mistakes_are_refused(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_options options = job_options();
    options.steal = EK_STEAL_NONE;
    options.name = "own";
    wrong.own = job_create(&options);
    options.name = "other";
    options.payload_bytes = 24;
    wrong.other = job_create(&options);
    wrong.function = job_register(wrong.own, "wrong", wrong_task, NULL);
    wrong.in_other = job_register(wrong.other, "kept", kept_task, NULL);
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    CHECK_OK(ek_add_task(wrong.own, wrong.function, NULL, 0, NULL));
    JOB_OK(ek_process(wrong.own, &report));
    CHECK_EQ_INT(report.tasks, job_size);
    JOB_OK(ek_process(wrong.other, &report));
    CHECK_EQ_INT(report.tasks, job_size);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    ek_destroy(&wrong.own);
    ek_destroy(&wrong.other);
}

/* A collection over this rank alone, into which tasks spawn where they run. */
struct alone {
    ek_collection *tasks;
    ek_function function;
    _Atomic int64_t into, ran;
};

static int into_alone_task(ek_worker *worker, const void *payload, size_t bytes,
                           void *context)
{
    struct alone *alone = context;
    atomic_fetch_add(&alone->into, 1);
    CHECK_OK(
        ek_add_task_to(worker, alone->tasks, alone->function, payload, bytes));
    return 0;
}

static int alone_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)bytes;
    atomic_fetch_add(&((struct alone *)context)->ran, 1);
    return 0;
}

static void seeds_of_another_communicator_stay_here(void)
{
    enum {
        SEEDS = 500
    };
    static struct alone alone;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_options options = job_options();
    ek_collection *all = job_create(&options);
    ek_function into = job_register(all, "into", into_alone_task, &alone);
    JOB_OK(ek_create(MPI_COMM_SELF, &options, &alone.tasks));
    alone.function = job_register(alone.tasks, "alone", alone_task, &alone);
    alone.into = alone.ran = 0;
    for (int64_t i = 0; i < SEEDS && job_rank == 0; i++)
        CHECK_OK(ek_add_task(all, into, &i, sizeof i, NULL));
    JOB_OK(ek_process(all, NULL));
    CHECK_EQ_INT(job_sum(atomic_load(&alone.into)), SEEDS);
    JOB_OK(ek_process(alone.tasks, &report));
    CHECK_EQ_INT(report.tasks, atomic_load(&alone.into));
    CHECK_EQ_INT(atomic_load(&alone.ran), atomic_load(&alone.into));
    ek_destroy(&alone.tasks);
    ek_destroy(&all);
}

struct one_of_many {
    ek_collection *tasks;
    ek_function function;
    int64_t expected;    /* tasks of the next iteration, in the job */
    _Atomic int64_t ran; /* on this rank, since the last check */
};

static int count_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)bytes;
    atomic_fetch_add(&((struct one_of_many *)context)->ran, 1);
    return 0;
}

static void open_one(struct one_of_many *one, int number)
{
    ek_options options = job_options();
    /* Some differ in the size of their messages. */
    options.payload_bytes = number % 8 == 5 ? 6000 : 48;
    job_set_number(&options, "buffer_slots", 16);
    *one = (struct one_of_many){.tasks = job_create(&options)};
    one->function = job_register(one->tasks, "count", count_task, one);
}

/* Add, process or restore, as CHANCE says on all ranks. */
static void use_one(struct one_of_many *one, uint64_t chance)
{
    int more = (int)(chance >> 8 & 7),
        from = (int)((chance >> 16 & 255) % (unsigned)job_size);
    for (int i = 0; i < more && from == job_rank; i++)
        CHECK_OK(ek_add_task(one->tasks, one->function, &i, sizeof i, NULL));
    one->expected += more;
    if (chance % 4 == 0)
        JOB_OK(ek_restore(one->tasks, EK_RESTORE_ORIGINAL, NULL));
    /* Who is late is sent messages of a collection that it is not in. */
    if (mix(chance + (uint64_t)job_rank) % 16 == 0)
        job_nap(300);
    CHECK_OK(ek_process(one->tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_exchange(&one->ran, 0)), one->expected);
    if (one->expected > 20) {
        CHECK_OK(ek_clear(one->tasks));
        one->expected = 0;
    }
}

static void collections_may_be_used_in_any_order(void)
{
    struct one_of_many *many = calloc((size_t)collections, sizeof *many);
    for (int i = 0; i < collections; i++)
        open_one(&many[i], i);
    for (int i = 0; i < rounds; i++) {
        uint64_t chance = mix((uint64_t)i + 4711);
        struct one_of_many *one = &many[(chance >> 24) % (uint64_t)collections];
        use_one(one, chance);
        /* Now and then another one takes its place. */
        if (chance % 16 == 3) {
            ek_destroy(&one->tasks);
            open_one(one, i);
        }
    }
    /* In another order than they were made, which is the same on all ranks. */
    for (int i = 0; i < collections; i++)
        ek_destroy(&many[(i * 5 + 3) % collections].tasks);
    for (int i = 0; i < collections; i++)
        ek_destroy(&many[i].tasks);
    free(many);
}

static void *data_but_on_the_last(int here, void *context)
{
    (void)here;
    return *(const bool *)context ? NULL : context;
}

/* Two ways to fail, each of which the last rank of COMM alone knows first. */
static void fail_to_open(MPI_Comm comm, uint64_t chance)
{
    ek_collection *tasks = NULL;
    ek_options options = job_options();
    ek_status expected = EK_ERR_ARG;
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    bool is_last = rank == size - 1;
    options.ignore_environment = true;
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    if (chance % 2 == 0) {
        hooks.create = data_but_on_the_last;
        hooks.context = &is_last;
        options.hooks = &hooks;
        expected = EK_ERR_NOMEM;
    } else if (is_last) {
        options.payload_bytes = -1;
    }
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    JOB_STATUS(ek_create(comm, &options, &tasks), expected);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK(tasks == NULL);
}

/* All ranks, or those of even and of odd rank, or each alone. */
static MPI_Comm parent_of(uint64_t chance)
{
    const int colors[] = {0, job_rank % 2, job_rank};
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, colors[chance % 3],
                   chance % 8 == 7 ? -job_rank : job_rank, &comm);
    return comm;
}

static void run_on_all(ek_collection *tasks, ek_function function, int size)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    int64_t payload = 0;
    CHECK_OK(ek_add_task(tasks, function, &payload, sizeof payload, NULL));
    CHECK_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.tasks, size);
    CHECK_OK(ek_clear(tasks));
}

static void parents_may_be_freed_first(void)
{
    enum {
        AT_ONCE = 4
    };
    static struct one_of_many many[AT_ONCE];
    int sizes[AT_ONCE];
    for (int i = 0; i < 40; i++) {
        uint64_t chance = mix((uint64_t)i + 1000);
        struct one_of_many *one = &many[i % AT_ONCE];
        ek_options options = job_options();
        ek_destroy(&one->tasks);
        MPI_Comm comm = parent_of(chance);
        job_set_number(&options, "ranks_per_node", (int64_t)(chance >> 16) % 3);
        if (chance % 4 == 1)
            fail_to_open(comm, chance >> 32);
        JOB_OK(ek_create(comm, &options, &one->tasks));
        one->function = job_register(one->tasks, "count", count_task, one);
        MPI_Comm_size(comm, &sizes[i % AT_ONCE]);
        if (chance % 5 != 0)
            MPI_Comm_free(&comm);
        for (int k = 0; k < AT_ONCE && k <= i; k++)
            run_on_all(many[k].tasks, many[k].function, sizes[k]);
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
    }
    for (int i = 0; i < AT_ONCE; i++)
        ek_destroy(&many[i].tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    if (argc > 3)
        tasks_in_all = atoll(argv[3]);
    if (argc > 4)
        collections = atoi(argv[4]);
    if (argc > 5)
        rounds = atoi(argv[5]);
    JOB_RUN(mistakes_are_refused);
    JOB_RUN(seeds_of_another_communicator_stay_here);
    JOB_RUN(collections_may_be_used_in_any_order);
    JOB_RUN(parents_may_be_freed_first);
    JOB_RUN(chains_run_exactly_once);
    JOB_RUN(chains_run_beside_server_threads);
    return job_result();
}
