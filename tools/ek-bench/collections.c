/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many collections: what a further one takes of memory and communicators, how
 * long it takes to make and destroy, and iterations over all in random order.
 */
#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    OPEN = 64,         /* at once */
    COME_AND_GO = 1000 /* made and destroyed, one after the other */
};

struct place {
    const char *name;
    ek_options options;
    ek_collection *tasks[OPEN];
    ek_function function;
    struct bench_row *bytes, *mapped, *communicators, *left, *life, *round;
};

static int do_nothing(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

/* Of this process: memory that it has touched, its part of what others have
 * touched, too; and shared memory that it could touch. */
struct memory {
    double touched, mapped;
};

static struct memory memory_now(void)
{
    struct memory now = {0, 0};
    char line[512];
    int64_t kib;
    uint64_t first, last;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Pss_Anon: %" SCNd64, &kib) == 1 ||
            sscanf(line, "Pss_Shmem: %" SCNd64, &kib) == 1)
            now.touched += (double)kib * 1024;
    }
    if (file)
        fclose(file);
    file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &first, &last) == 2 &&
            strstr(line, " rw-s "))
            now.mapped += (double)(last - first);
    }
    if (file)
        fclose(file);
    return now;
}

/* Mean over the ranks, of which those of a host map the same memory. */
static struct memory memory_of_a_rank(void)
{
    MPI_Comm host;
    int size, sharers;
    double sums[2];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &host);
    MPI_Comm_size(host, &sharers);
    MPI_Comm_free(&host);
    struct memory now = memory_now();
    sums[0] = now.touched;
    sums[1] = now.mapped / sharers;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (struct memory){sums[0] / size, sums[1] / size};
}

/* Number of the next communicator.  Open MPI gives the lowest that is free, so
 * that two calls tell how many there are more by now. */
static int next_communicator(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    int number = (int)MPI_Comm_c2f(comm);
    MPI_Comm_free(&comm);
    return number;
}

static ek_collection *open_one(struct place *place)
{
    ek_collection *tasks;
    bench_check(ek_create(MPI_COMM_WORLD, &place->options, &tasks));
    bench_check(
        ek_register(tasks, "nothing", do_nothing, NULL, &place->function));
    return tasks;
}

/* A task on each rank. */
static void run_round(const struct place *place, ek_collection *tasks)
{
    int64_t payload = 0;
    bench_check(
        ek_add_task(tasks, place->function, &payload, sizeof payload, NULL));
    bench_check(ek_process(tasks, NULL));
    bench_check(ek_clear(tasks));
}

static void open_all(struct place *place)
{
    struct memory before = {0, 0}, after;
    int communicator = 0, further = OPEN - 1;
    for (int i = 0; i < OPEN; i++) {
        place->tasks[i] = open_one(place);
        run_round(place, place->tasks[i]);
        if (i == 0) {
            before = memory_of_a_rank();
            communicator = next_communicator();
        }
    }
    after = memory_of_a_rank();
    bench_row_add(place->bytes, (after.touched - before.touched) / further,
                  NAN);
    bench_row_add(place->mapped, (after.mapped - before.mapped) / further, NAN);
    bench_row_add(place->communicators,
                  (double)(next_communicator() - communicator) / further, NAN);
}

/* Nanoseconds since FIRST on the rank that took longest. */
static double longest_since(uint64_t first)
{
    double ns = bench_ns(bench_ticks() - first);
    MPI_Allreduce(MPI_IN_PLACE, &ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return ns;
}

static double run_dup(void)
{
    MPI_Comm comm;
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t first = bench_ticks();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
    return longest_since(first);
}

static double run_life(struct place *place)
{
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t first = bench_ticks();
    ek_collection *tasks = open_one(place);
    ek_destroy(&tasks);
    return longest_since(first);
}

/* ROUNDS over the first COUNT collections, in an order that all ranks have. */
static double run_rounds(const struct place *place, int count, int rounds)
{
    uint32_t random = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t first = bench_ticks();
    for (int i = 0; i < rounds; i++) {
        random = random * 1664525 + 1013904223;
        run_round(place, place->tasks[(random >> 16) % (unsigned)count]);
    }
    return longest_since(first) / rounds;
}

static void make_rows(struct place *place, int lives)
{
    const char *name = place->name;
    const char *bench = "collections";
    place->bytes = bench_row_new(bench, NULL, "%s: bytes of a further", name);
    place->bytes->unit = "B";
    place->bytes->target = 65536 + 33.0 * 1024 * (double)place->options.workers;
    place->mapped =
        bench_row_new(bench, NULL, "%s: bytes mapped of a further", name);
    place->mapped->unit = "B";
    place->communicators =
        bench_row_new(bench, NULL, "%s: communicators of a further", name);
    place->communicators->unit = "";
    place->left =
        bench_row_new(bench, NULL, "%s: communicators left by %d", name, lives);
    place->left->unit = "";
    place->life = bench_row_new(bench, "MPI_Comm_dup and free",
                                "%s: create and destroy", name);
    place->life->target = 1e6;
    place->round = bench_row_new(bench, "a collection alone",
                                 "%s: a round, random order", name);
}

static void run_place(const struct bench *bench, struct place *place)
{
    int rounds = (int)(bench->tasks / 100);
    int lives = rounds < COME_AND_GO ? rounds : COME_AND_GO;
    make_rows(place, lives);
    open_all(place);
    for (int r = 0; r < bench->repetitions; r++) {
        double base = run_dup();
        bench_row_add(place->life, run_life(place), base);
        base = run_rounds(place, 1, rounds);
        bench_row_add(place->round, run_rounds(place, OPEN, rounds), base);
    }
    int communicator = next_communicator();
    for (int i = 0; i < lives; i++)
        run_life(place);
    bench_row_add(place->left, next_communicator() - communicator, NAN);
    for (int i = 0; i < OPEN; i++)
        ek_destroy(&place->tasks[i]);
}

void bench_collections(const struct bench *bench)
{
    struct place node = {.name = "node"}, nodes = {.name = "nodes"};
    node.options = nodes.options =
        bench_options(bench, bench->workers > 0 ? bench->workers : 1);
    bench_set(&nodes.options, "ranks_per_node", 1);
    run_place(bench, &node);
    if (bench->size > 1)
        run_place(bench, &nodes);
}
