/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine file of where it runs: messages (messages.c), what two cores have
 * in common (memory.c), what else they do (pauses.c), and what the library
 * computes.
 */
#include "machine.h"

#include "decide/decide.h"
#include "instances.h"
#include "team/team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BALANCES_MAX = 10,
    BALANCE_WORKERS = 1000,
    BALANCE_TASKS = 100000
};

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
    instance.first = allocate(BALANCE_WORKERS + 1, sizeof(int64_t));
    instance.ns = allocate(BALANCE_TASKS, sizeof(eki_ns));
    int32_t *to = allocate(BALANCE_TASKS, sizeof *to);
    bench_deal(&instance, s);
    for (int i = 0; i < count; i++) {
        struct decide_input input = {.workers = BALANCE_WORKERS,
                                     .first = instance.first,
                                     .ns = instance.ns,
                                     .eps = 0.003};
        struct decision decision;
        if (!decide_arrays(&input, to, &decision))
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
        printf("# Not measured, or not possibly so, but as on %s: %s.\n",
               bench->like, measured->kept);
    printf("# Lines are KEY VALUE UNIT; times in ns, us, ms or s, rates in "
           "MB/s or GB/s.\n");
    eki_machine_write(&measured->machine, stdout);
    fflush(stdout);
}

/* Keys that are not measured: of messages, which takes two ranks, and of
 * one-sided operations, which have a run of their own. */
static void keep_figures(struct measured *measured, bool has_messages)
{
    static const char *const keys[] = {
        "rma_ns", "rma_byte_ns", "atomic_ns", "latency", "send",
        "gap",    "handle",      "bandwidth", "poll",    "poll_period"};
    size_t count = has_messages ? 3 : sizeof keys / sizeof *keys;
    double none;
    for (size_t i = 0; i < count; i++)
        bench_take(measured, &none, keys[i], NAN);
}

void bench_machine(const struct bench *bench)
{
    struct measured measured = {.is_one_host = true};
    if (bench->rma) {
        bench_rma(bench);
        return;
    }
    MPI_Comm both = bench_both(bench);
    eki_machine_preset(bench->like, &measured.machine);
    snprintf(measured.machine.name, sizeof measured.machine.name, "mine");
    count_cores(&measured.machine);
    bench_note(bench, "measuring; a few seconds, on a machine at rest");
    if (both != MPI_COMM_NULL) {
        bench_messages(bench, both, &measured);
        MPI_Comm_free(&both);
    }
    keep_figures(&measured, bench->size > 1);
    if (bench->rank == 0) {
        bench_memory(bench, &measured);
        measure_compute(bench, &measured);
        bench_pauses(bench, &measured);
        print_file(bench, &measured);
    }
    bench_barrier(MPI_COMM_WORLD);
}

bool bench_machine_check(const struct bench *bench)
{
    struct eki_machine machine;
    struct message message;
    eki_machine_preset(bench->like, &machine);
    if (eki_machine_read(bench->check, &machine) != EK_OK) {
        bench_note(bench, "%s", ek_error_message());
        return false;
    }
    if (!bench_machine_is_possible(&machine, &message)) {
        bench_note(bench, "'%s': %s", bench->check, message.text);
        return false;
    }
    if (bench->rank == 0) {
        printf("# A rank has %d workers%s.\n", eki_machine_workers(&machine),
               machine.has_server ? " and a server" : "");
        eki_machine_write(&machine, stdout);
    }
    return true;
}
