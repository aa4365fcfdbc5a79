/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine file of where it runs: messages (messages.c), what two cores have
 * in common, and what the library computes.
 */
#include "machine.h"

#include "instances.h"
#include "team/team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES = 64,     /* that the other core has written */
    LINE_STEP = 37, /* between two looks: nothing to prefetch */
    BYTES = 4096,   /* a block of 64 tasks */
    SETTLE_NS = 500,
    BALANCES_MAX = 10,
    BALANCE_WORKERS = 1000,
    BALANCE_TASKS = 100000
};

void bench_take(struct measured *measured, double *field, const char *key,
                double value)
{
    char text[32];
    if (!(value > 0) || isinf(value)) {
        eki_append(measured->kept, sizeof measured->kept, "%s%s",
                   measured->kept[0] != '\0' ? ", " : "", key);
        return;
    }
    snprintf(text, sizeof text, "%.3g", value);
    *field = strtod(text, NULL);
}

void bench_take_rate(struct measured *measured, double *field, const char *key,
                     double value)
{
    double rate = 0;
    bench_take(measured, &rate, key, 1 / value);
    if (rate > 0)
        *field = 1 / rate;
}

/* ------------------------------------------------------------- two threads */

struct line {
    _Alignas(BENCH_LINE) _Atomic uint64_t next;
};

struct arena {
    _Alignas(BENCH_LINE) _Atomic uint64_t ready; /* side 1 */
    _Alignas(BENCH_LINE) _Atomic uint64_t taken; /* side 0 */
    struct line looked_at[LINES], added_to[LINES];
    _Alignas(BENCH_LINE) unsigned char bytes[BYTES];
    _Alignas(BENCH_LINE) unsigned char copy[BYTES]; /* side 0 */
};

struct shared {
    int repetitions;
    double probe[BENCH_REPETITIONS_MAX];
    double atomic[BENCH_REPETITIONS_MAX];
    double copy_byte[BENCH_REPETITIONS_MAX];
};

/* The sides go on together. */
static void meet(struct arena *arena, int side, uint64_t number)
{
    int looks = 0;
    _Atomic uint64_t *mine = side == 0 ? &arena->taken : &arena->ready;
    _Atomic uint64_t *other = side == 0 ? &arena->ready : &arena->taken;
    /* release and acquire: what was written before is there. */
    atomic_store_explicit(mine, number, memory_order_release);
    while (atomic_load_explicit(other, memory_order_acquire) < number)
        bench_wait(&looks);
}

/* Two chains of lines and a block: dirty, and not where they are wanted. */
static void dirty(struct arena *arena, int r)
{
    for (uint64_t i = 0; i < LINES; i++) {
        uint64_t next = (i + LINE_STEP) % LINES;
        /* relaxed, both: handed over by meet(). */
        atomic_store_explicit(&arena->looked_at[i].next, next,
                              memory_order_relaxed);
        atomic_store_explicit(&arena->added_to[i].next, next,
                              memory_order_relaxed);
    }
    memset(arena->bytes, r & 255, BYTES);
}

/* Nanoseconds of each of COUNT, that began at FIRST; NaN: the core was away. */
static double per_one(uint64_t first, int count)
{
    double ns = bench_interval_ns(first, bench_ticks_after());
    return ns < BENCH_LOST ? ns / count : NAN;
}

/* Each look must wait for the one before; so must each atomic, below. */
static double run_looks(struct arena *arena)
{
    uint64_t at = 0, first = bench_ticks();
    for (int i = 0; i < LINES; i++)
        /* relaxed: handed over by meet(). */
        at = atomic_load_explicit(&arena->looked_at[at].next,
                                  memory_order_relaxed);
    double ns = per_one(first, LINES);
    return at == 0 ? ns : NAN;
}

static double run_atomics(struct arena *arena)
{
    uint64_t at = 0, first = bench_ticks();
    for (int i = 0; i < LINES; i++)
        /* relaxed: handed over by meet(). */
        at = atomic_fetch_add_explicit(&arena->added_to[at].next, LINES,
                                       memory_order_relaxed);
    double ns = per_one(first, LINES);
    return at == 0 ? ns : NAN;
}

static double run_copy(struct arena *arena)
{
    uint64_t first = bench_ticks();
    memcpy(arena->copy, arena->bytes, BYTES);
    return per_one(first, BYTES);
}

static void run_side(void *memory, int side, void *argument)
{
    struct arena *arena = memory;
    struct shared *shared = argument;
    for (int r = 0; r < shared->repetitions; r++) {
        if (side == 1)
            dirty(arena, r);
        meet(arena, side, 2 * (uint64_t)r + 1);
        if (side == 0) {
            bench_spin_ns(SETTLE_NS);
            shared->probe[r] = run_looks(arena);
            shared->atomic[r] = run_atomics(arena);
            shared->copy_byte[r] = run_copy(arena);
        }
        meet(arena, side, 2 * (uint64_t)r + 2);
    }
}

static void measure_memory(const struct bench *bench, struct measured *measured)
{
    static struct shared shared;
    struct eki_machine *machine = &measured->machine;
    struct bench_pair pair;
    double probe = NAN, atomic = NAN, copy_byte = NAN;
    if (bench_pair_threads(bench, sizeof(struct arena), &pair)) {
        shared.repetitions = bench->repetitions;
        bench_pair_run(&pair, run_side, &shared);
        bench_pair_free(&pair);
        probe = bench_median(shared.probe, shared.repetitions);
        atomic = bench_median(shared.atomic, shared.repetitions);
        copy_byte = bench_median(shared.copy_byte, shared.repetitions);
    }
    bench_take(measured, &machine->probe, "probe", probe);
    bench_take(measured, &machine->atomic, "atomic", atomic);
    bench_take_rate(measured, &machine->copy_byte, "copy_bandwidth", copy_byte);
}

/* ------------------------------------------------------------------ compute */

/* Nanoseconds of a centralized rebalance per task that comes to its root. */
static double run_balance(const struct bench *bench)
{
    struct instance instance = {.workers = BALANCE_WORKERS,
                                .tasks = BALANCE_TASKS,
                                .every = 4,
                                .more = 4};
    double ns[BALANCES_MAX];
    int count =
        bench->repetitions < BALANCES_MAX ? bench->repetitions : BALANCES_MAX;
    double *s = bench_durations(BALANCE_TASKS, 48.0 * BALANCE_WORKERS);
    instance.first = bench_allocate(BALANCE_WORKERS + 1, sizeof(int64_t));
    instance.ns = bench_allocate(BALANCE_TASKS, sizeof(eki_ns));
    int32_t *to = bench_allocate(BALANCE_TASKS, sizeof *to);
    bench_deal(&instance, s);
    for (int i = 0; i < count; i++) {
        struct eki_balance_input input = {BALANCE_WORKERS, instance.first,
                                          instance.ns, 0.003, 0};
        struct eki_decision decision;
        if (!eki_balance_decide(&input, to, &decision))
            bench_check(EK_ERR_NOMEM);
        ns[i] = (double)decision.critical_ns / (double)decision.descriptors;
    }
    free(to);
    free(instance.ns);
    free(instance.first);
    free(s);
    return bench_median(ns, count);
}

static void measure_compute(const struct bench *bench,
                            struct measured *measured)
{
    struct eki_machine *machine = &measured->machine;
    bench_take(measured, &machine->task, "task",
               bench_tasks_median(bench, "seed: run, log"));
    bench_take(measured, &machine->restore, "restore",
               bench_tasks_median(bench, "restore 100000"));
    bench_take(measured, &machine->balance, "balance", run_balance(bench));
}

/* --------------------------------------------------------------------- file */

/* One rank that has all cores; a server where the library would have one. */
static void count_cores(struct eki_machine *machine)
{
    struct eki_affinity affinity;
    eki_affinity_look(&affinity);
    machine->node_cores = affinity.cpus;
    machine->node_ranks = 1;
    machine->has_server =
        affinity.cpus >
        eki_team_default_workers(&affinity, eki_mpi_thread_level());
    machine->is_crowded = false;
}

static void print_file(const struct bench *bench,
                       const struct measured *measured)
{
    printf("# Measured by ek-bench machine, Evenkeel %s, on %d CPUs.\n",
           ek_version(), bench->cpus);
    if (bench->size < 2)
        printf("# One rank: no messages.  For those start two, on two nodes:\n"
               "# mpirun --map-by node --bind-to none -n 2 ek-bench machine\n");
    else if (measured->is_one_host)
        printf("# Messages went through the memory of one node.  For a network"
               " start\n"
               "# mpirun --map-by node --bind-to none -n 2 ek-bench machine\n"
               "# on two nodes.\n");
    else
        printf("# Messages went from one node to another.\n");
    if (measured->kept[0] != '\0')
        printf("# Not measured, but as on %s: %s.\n", bench->like,
               measured->kept);
    printf("# Lines are KEY VALUE UNIT; times in ns, us, ms or s, rates in "
           "MB/s or GB/s.\n");
    eki_machine_write(&measured->machine, stdout);
    fflush(stdout);
}

/* Keys of messages that one rank cannot measure. */
static void keep_messages(struct measured *measured)
{
    static const char *const keys[] = {
        "latency", "send", "gap", "handle", "bandwidth", "poll", "poll_period"};
    double none;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        bench_take(measured, &none, keys[i], NAN);
}

void bench_machine(const struct bench *bench)
{
    struct measured measured = {.is_one_host = true};
    MPI_Comm both = bench_both(bench);
    eki_machine_preset(bench->like, &measured.machine);
    snprintf(measured.machine.name, sizeof measured.machine.name, "mine");
    count_cores(&measured.machine);
    bench_note(bench, "measuring; a few seconds, on a machine at rest");
    if (both != MPI_COMM_NULL) {
        bench_messages(bench, both, &measured);
        MPI_Comm_free(&both);
    } else {
        keep_messages(&measured);
    }
    if (bench->rank == 0) {
        measure_memory(bench, &measured);
        measure_compute(bench, &measured);
        print_file(bench, &measured);
    }
    bench_barrier(MPI_COMM_WORLD);
}

bool bench_machine_check(const struct bench *bench)
{
    struct eki_machine machine;
    eki_machine_preset(bench->like, &machine);
    if (eki_machine_read(bench->check, &machine) != EK_OK) {
        bench_note(bench, "%s", ek_error_message());
        return false;
    }
    if (bench->rank == 0) {
        printf("# A rank has %d workers%s.\n", eki_machine_workers(&machine),
               machine.has_server ? " and a server" : "");
        eki_machine_write(&machine, stdout);
    }
    return true;
}
