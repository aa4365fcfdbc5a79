/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hang says what it waits for: each case is planted, and some rank has to
 * say the sentence.  Where ranks wait for each other for good, whoever planted
 * it ends the job.
 *
 *   test_hang RANKS WORKERS CASE...      with EVENKEEL_STALL_MS
 *   test_hang RANKS WORKERS ending dies|stops|away     with EVENKEEL_ON_STALL
 *   test_hang RANKS WORKERS times        when each sentence comes
 *   test_hang RANKS WORKERS healthy N    N iterations of all lengths: nothing
 *                                        is said but what is true
 */
#include "sign.h"

#include <evenkeel_loop.h>
#include <evenkeel_plan.h>
#include <evenkeel_pull.h>
#include <evenkeel_save.h>
#include <evenkeel_tiles.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* No message is as long without tasks. */
#define TASK_BYTES 1024
/* Long ones lie in memory that a host shares; MPI carries where. */
#define NOTE_BYTES 16
/* Instead of the microseconds of a task: until a rank has heard the sentence.
 */
#define UNTIL_HEARD (-1)

static int rank, size, stall_ms;
static ek_collection *fock, *other;
static ek_function quartet;

/* What the sink has heard; written by the lookout's thread. */
static const char *expected;
static _Atomic bool has_heard;
static _Atomic int lines, false_lines;
static double heard_s;
static char sign[SIGN_BYTES]; /* made when a rank has heard it */

/* The library's sends of this process; visible to it, which MPICH's header does
 * not see to. */
static bool loses_tasks;

__attribute__((visibility("default"))) int
MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
          MPI_Comm comm, MPI_Request *request)
{
    bool is_lost = loses_tasks && (count > TASK_BYTES || count == NOTE_BYTES);
    loses_tasks = loses_tasks && !is_lost;
    return PMPI_Isend(buffer, count, type, is_lost ? MPI_PROC_NULL : to, tag,
                      comm, request);
}

/* Done by all, and said to have failed here. */
static bool fails_to_split, fails_to_query;

__attribute__((visibility("default"))) int
MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    int code = PMPI_Comm_split(comm, color, key, made);
    return fails_to_split ? MPI_ERR_OTHER : code;
}

__attribute__((visibility("default"))) int
MPI_Win_shared_query(MPI_Win window, int of, MPI_Aint *bytes, int *unit,
                     void *base)
{
    int code = PMPI_Win_shared_query(window, of, bytes, unit, base);
    return fails_to_query ? MPI_ERR_OTHER : code;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void pause_ms(long ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static void listen(ek_level level, const char *line, void *context)
{
    (void)context;
    if (level > EK_LEVEL_WARN)
        return;
    atomic_fetch_add(&lines, 1);
    if (strstr(line, "stands still") || strstr(line, "no life") ||
        strstr(line, "has not come"))
        atomic_fetch_add(&false_lines, 1);
    if (getenv("HANG_SHOW"))
        fprintf(stderr, "%s\n", line);
    if (!expected || !strstr(line, expected) || atomic_load(&has_heard))
        return;
    heard_s = seconds();
    if (sign[0])
        sign_make(sign);
    atomic_store(&has_heard, true);
}

static int run(ek_worker *worker, const void *payload, size_t bytes,
               void *context)
{
    int64_t us;
    (void)worker, (void)bytes, (void)context;
    memcpy(&us, payload, sizeof us);
    struct timespec pause = {us / 1000000, us % 1000000 * 1000};
    if (us == UNTIL_HEARD)
        sign_await(sign);
    else if (us > 0)
        nanosleep(&pause, NULL);
    return 0;
}

static void add(int64_t us)
{
    CHECK_OK(ek_add_task(fock, quartet, &us, sizeof us, NULL));
}

static ek_collection *make_over(MPI_Comm comm, const char *name)
{
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *made = NULL;
    options.name = name;
    options.payload_bytes = TASK_BYTES;
    CHECK_OK(ek_create(comm, &options, &made));
    CHECK_OK(ek_register(made, "quartet", run, NULL, &quartet));
    return made;
}

static ek_collection *make(const char *name)
{
    return make_over(MPI_COMM_WORLD, name);
}

static void process(ek_collection *tasks)
{
    CHECK_OK(ek_process(tasks, NULL));
    CHECK_OK(ek_clear(tasks));
}

static bool is_last(void)
{
    return rank == size - 1;
}

/* Until another has spoken; check_said() sees whether one has. */
static void be_late(void)
{
    sign_await(sign);
}

/* Who is not there. */
static void absent(void)
{
    if (is_last())
        be_late();
    process(fock);
}

/* The root of the tree of nodes. */
static void absent_first(void)
{
    if (rank == 0)
        be_late();
    process(fock);
}

static void absent_in_restore(void)
{
    add(0);
    CHECK_OK(ek_process(fock, NULL));
    if (is_last())
        be_late();
    CHECK_OK(ek_restore(fock, EK_RESTORE_CENTRALIZED, NULL));
    CHECK_OK(ek_clear(fock));
}

static void long_task(void)
{
    if (is_last())
        add(UNTIL_HEARD);
    process(fock);
}

static void long_pull(void)
{
    ek_task task;
    CHECK_OK(ek_begin(fock));
    CHECK_OK(ek_next(fock, 0, &task));
    if (is_last())
        be_late();
    CHECK(task.worker == NULL);
    CHECK_OK(ek_end(fock, NULL));
    CHECK_OK(ek_clear(fock));
}

static void absent_in_create(void)
{
    if (is_last())
        be_late();
    ek_collection *third = make("third");
    ek_destroy(&third);
}

static void absent_in_plan(void)
{
    double cost = 1;
    int to;
    if (is_last())
        be_late();
    CHECK_OK(ek_plan(MPI_COMM_WORLD,
                     &(ek_plan_items){sizeof(ek_plan_items), 1, &cost, NULL},
                     EK_RESTORE_AUTO, NULL, &to, NULL));
}

static void absent_in_reduce(void)
{
    if (is_last())
        be_late();
    CHECK_OK(ek_reduce(fock, NULL, 0, MPI_INT, MPI_SUM));
}

static void absent_in_gather(void)
{
    ek_results results = EK_RESULTS_INIT;
    if (is_last())
        be_late();
    CHECK_OK(ek_gather(fock, quartet, 0, &results));
}

static void absent_in_save(void)
{
    if (is_last())
        be_late();
    CHECK_EQ_INT(ek_save(fock, "/nowhere/at/all"), EK_ERR_FILE);
}

static ek_tiles *store;

static void visit(int64_t tile, const double *values, int64_t length,
                  void *context)
{
    (void)tile, (void)values, (void)length, (void)context;
}

static void make_store(void)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = "orbitals";
    shape.count = size;
    shape.length = 3;
    CHECK_OK(ek_tiles_create(fock, &shape, &store));
}

static void absent_in_tiles_create(void)
{
    if (is_last())
        be_late();
    make_store();
    ek_tiles_destroy(&store);
}

/* Which of the others. */
static void absent_in_tiles(char call)
{
    double norm;
    make_store();
    if (is_last())
        be_late();
    if (call == 'f')
        CHECK_OK(ek_tiles_fill(store, 1));
    else if (call == 's')
        CHECK_OK(ek_tiles_sync(store));
    else if (call == 'n')
        CHECK_OK(ek_tiles_norm(store, &norm));
    else
        CHECK_OK(ek_tiles_gather(store, visit, NULL));
    ek_tiles_destroy(&store);
}

static void absent_in_fill(void)
{
    absent_in_tiles('f');
}

static void absent_in_sync(void)
{
    absent_in_tiles('s');
}

static void absent_in_norm(void)
{
    absent_in_tiles('n');
}

static void absent_in_tiles_gather(void)
{
    absent_in_tiles('g');
}

static void absent_in_destroy(void)
{
    /* The only one over its communicator: it waits for the others. */
    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_WORLD, &alone);
    ek_collection *third = make_over(alone, "third");
    MPI_Comm_free(&alone);
    if (is_last())
        be_late();
    ek_destroy(&third);
}

/* These two never end by themselves. */
static void swapped(void)
{
    process(is_last() ? other : fock);
}

static void destroyed(void)
{
    if (is_last())
        ek_destroy(&fock);
    else
        process(fock);
}

/* The others wait in the next call of MPI. */
static void split(void)
{
    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_WORLD, &alone);
    fails_to_split = is_last();
    ek_collection *third = make_over(alone, "third");
    ek_destroy(&third);
}

/* The others wait for what the first says of its memory. */
static void map(void)
{
    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_WORLD, &alone);
    fails_to_query = rank == 0;
    ek_collection *third = make_over(alone, "third");
    ek_destroy(&third);
}

/* The first message with a task is lost. */
static void lost(void)
{
    for (int i = 0; is_last() && i < 200; i++)
        add(1000);
    loses_tasks = true;
    process(fock);
}

static void stopped(void)
{
    if (is_last())
        abort();
    process(fock);
}

struct planted {
    const char *name;
    void (*run)(void);
    /* What is said on one node, and on several; NULL: nothing to plant. */
    const char *near, *apart;
    bool is_endless;
};

static const struct planted planted[] = {
    {"absent", absent, "; its last call here was ek_create, ",
     "it does not answer", false},
    {"absent-first", absent_first, " for rank 0 in ek_process of 'fock'",
     " for rank 0 on another node in ek_process of 'fock'", false},
    {"absent-restore", absent_in_restore, " in ek_restore of 'fock'",
     " in ek_restore of 'fock'", false},
    {"task", long_task, "has been in one task for ", "of function 'quartet'",
     false},
    {"pull", long_pull, " in ek_begin ... ek_end of 'fock'",
     " in ek_begin ... ek_end of 'fock'", false},
    {"plan", absent_in_plan, " in ek_plan for", "; it needs all ranks", false},
    {"create", absent_in_create, " in ek_create of 'third'",
     " in ek_create of 'third'", false},
    {"reduce", absent_in_reduce, " in ek_reduce of 'fock'",
     " in ek_reduce of 'fock'", false},
    {"gather", absent_in_gather, " in ek_gather of 'fock'",
     " in ek_gather of 'fock'", false},
    {"save", absent_in_save, " in ek_save of 'fock'", " in ek_save of 'fock'",
     false},
    {"tiles-create", absent_in_tiles_create, " in ek_tiles_create of 'fock'",
     " in ek_tiles_create of 'fock'", false},
    {"tiles-fill", absent_in_fill, " in ek_tiles_fill of 'fock'",
     " in ek_tiles_fill of 'fock'", false},
    {"tiles-sync", absent_in_sync, " in ek_tiles_sync of 'fock'",
     " in ek_tiles_sync of 'fock'", false},
    {"tiles-norm", absent_in_norm, " in ek_tiles_norm of 'fock'",
     " in ek_tiles_norm of 'fock'", false},
    {"tiles-gather", absent_in_tiles_gather, " in ek_tiles_gather of 'fock'",
     " in ek_tiles_gather of 'fock'", false},
    {"destroy-late", absent_in_destroy, " in ek_destroy of 'third'",
     " in ek_destroy of 'third'", false},
    {"swapped", swapped, "; it has been in ek_process of ",
     "it does not answer", true},
    {"destroyed", destroyed, "; it has been in ek_destroy of 'fock' for ",
     "it does not answer", true},
    {"split", split, "MPI_Comm_split: ", "MPI_Comm_split: ", true},
    {"map", map, "MPI_Win_shared_query: ", NULL, true},
    {"lost", lost, NULL, " stands still", true},
    {"killed", stopped, "its process has shown no life for ",
     "it does not answer", true},
};

static bool is_apart(void)
{
    const char *text = getenv("EVENKEEL_RANKS_PER_NODE");
    return text && strcmp(text, "0") != 0;
}

static void listen_for(const struct planted *one)
{
    expected = is_apart() ? one->apart : one->near;
    atomic_store(&has_heard, false);
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
}

/* Whether some rank has said it; all ranks are here. */
static void check_said(const struct planted *one, double began_s, bool times)
{
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    double after_s = atomic_load(&has_heard) ? heard_s - began_s : 1e9;
    MPI_Allreduce(MPI_IN_PLACE, &after_s, 1, MPI_DOUBLE, MPI_MIN,
                  MPI_COMM_WORLD);
    if (times && rank == 0)
        printf("heard %s after %.2f s\n", one->name, after_s);
    if (!CHECK(after_s < 1e9) && rank == 0)
        fprintf(stderr, "nobody said '%s' (%s)\n", expected, one->name);
}

/* Nobody gets out of it: the first rank that has heard the sentence ends all,
 * with a status that says so. */
static void *end_job(void *argument)
{
    const struct planted *one = argument;
    double began_s = seconds(), after_s = 0;
    while (!atomic_load(&has_heard) && after_s < 30) {
        pause_ms(10);
        after_s = seconds() - began_s;
    }
    printf("%s %s after %.2f s\n", atomic_load(&has_heard) ? "heard" : "missed",
           one->name, after_s);
    fflush(stdout);
    _Exit(atomic_load(&has_heard) ? 42 : 1);
}

static void run_case(const struct planted *one, bool times)
{
    pthread_t ender;
    if (!one->is_endless) /* else nobody would remove it */
        sign_name(sign, "heard");
    listen_for(one);
    MPI_Barrier(MPI_COMM_WORLD);
    double began_s = seconds();
    if (one->is_endless)
        pthread_create(&ender, NULL, end_job, (void *)one);
    one->run();
    if (one->is_endless)
        pause_ms(60000);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(sign);
    check_said(one, began_s, times);
}

/* Iterations from nothing to some milliseconds, some ranks late. */
static void run_healthy(int iterations)
{
    uint64_t random = 88172645463325252u;
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
    for (int i = 0; i < iterations; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        int tasks = (int)(random % 7 == 0 ? 40 : random % 3);
        int64_t longest = random % 11 == 0 ? 300 : random % 5 == 0 ? 30 : 0;
        for (int t = 0; t < tasks; t++)
            add(longest);
        if (random % 97 == (uint64_t)rank)
            pause_ms(3);
        CHECK_OK(ek_process(fock, NULL));
        if (random % 13 == 0)
            CHECK_OK(ek_restore(fock, EK_RESTORE_CENTRALIZED, NULL));
        CHECK_OK(ek_clear(fock));
    }
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    int said[2] = {atomic_load(&lines), atomic_load(&false_lines)};
    MPI_Allreduce(MPI_IN_PLACE, said, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ_INT(said[1], 0);
    if (rank == 0)
        printf("%d iterations, stall_ms %d: %d lines, %d of causes that are "
               "not there\n",
               iterations, stall_ms, said[0], said[1]);
}

static void run_named(const char *name, bool times)
{
    for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
        if (strcmp(planted[i].name, name) == 0)
            run_case(&planted[i], times);
    }
}

/* The last rank dies, stops or stays away for good: EVENKEEL_ON_STALL ends the
 * job.  Returns only where it does not. */
static void run_ending(const char *how)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_last() && strcmp(how, "dies") == 0)
        abort();
    if (is_last() && strcmp(how, "stops") == 0)
        raise(SIGSTOP);
    if (is_last())
        pause_ms(60000);
    add(0);
    process(fock);
}

static void run_times(void)
{
    for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
        if (!planted[i].is_endless)
            run_case(&planted[i], true);
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *stall = getenv("EVENKEEL_STALL_MS");
    if (!CHECK(argc > 3 && stall) || !CHECK_EQ_INT(size, atoi(argv[1])))
        return check_result();
    stall_ms = atoi(stall);
    fock = make("fock");
    other = make("other");
    if (strcmp(argv[3], "healthy") == 0)
        run_healthy(atoi(argv[4]));
    else if (strcmp(argv[3], "ending") == 0)
        run_ending(argv[4]);
    else if (strcmp(argv[3], "times") == 0)
        run_times();
    else
        for (int i = 3; i < argc; i++)
            run_named(argv[i], false);
    ek_destroy(&other);
    ek_destroy(&fock);
    MPI_Finalize();
    return check_result();
}
