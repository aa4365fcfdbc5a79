/* SPDX-License-Identifier: BSD-3-Clause */
/* What matters of this machine, in words: one rank, up to two threads. */
#include "machine.h"

#include <math.h>
#include <stdio.h>

enum {
    REPETITIONS = 30,
    EMPTY = 1000 /* iterations without a task */
};

static void print_line(const char *what, double ns)
{
    if (isnan(ns))
        printf("  %-46s %10s\n", what, "-");
    else if (ns < 1000)
        printf("  %-46s %7.1f ns\n", what, ns);
    else
        printf("  %-46s %7.1f us\n", what, ns / 1000);
    fflush(stdout);
}

/* Nanoseconds of an empty iteration of this rank with so many workers. */
static double run_empty(const struct bench *bench, int workers)
{
    ek_options options = bench_options(bench, workers);
    ek_collection *tasks;
    double ns[REPETITIONS];
    bench_check(ek_create(MPI_COMM_SELF, &options, &tasks));
    for (int r = 0; r < REPETITIONS; r++) {
        uint64_t first = bench_ticks();
        for (int i = 0; i < EMPTY; i++)
            bench_check(ek_process(tasks, NULL));
        ns[r] = bench_ns(bench_ticks() - first) / EMPTY;
    }
    ek_destroy(&tasks);
    return bench_median(ns, REPETITIONS);
}

static double print_tasks(const struct bench *bench)
{
    static const struct {
        const char *name, *words;
    } rows[] = {{"spawned, all at once", "a task that a task spawns"},
                {"null index of a range", "an index of a range that is null"},
                {"restore 100000", "a task restored, retained"},
                {"seed: add, run, log", "a task added, run and logged"}};
    double ns = NAN;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ns = bench_tasks_median(bench, rows[i].name);
        print_line(rows[i].words, ns);
    }
    return ns;
}

static void print_two(const struct bench *bench)
{
    struct measured measured = {.is_one_host = true};
    struct eki_machine *machine = &measured.machine;
    *machine = (struct eki_machine){
        .probe = NAN, .atomic = NAN, .copy_byte = NAN, .name = ""};
    print_line("an empty iteration, two workers", run_empty(bench, 2));
    bench_memory(bench, &measured);
    print_line("a look at a word that another core wrote", machine->probe);
    print_line("an atomic on a word that another core wrote", machine->atomic);
    print_line("a task copied from another core",
               machine->copy_byte * BENCH_SLOT);
    print_line("a steal of one task, about the sum",
               2 * machine->probe + 2 * machine->atomic +
                   machine->copy_byte * BENCH_SLOT);
}

void bench_summary(const struct bench *bench)
{
    struct bench own = *bench;
    if (bench->rank != 0) {
        bench_barrier(MPI_COMM_WORLD);
        return;
    }
    if (own.repetitions > REPETITIONS)
        own.repetitions = REPETITIONS;
    printf("Evenkeel %s on %d CPUs, medians:\n", ek_version(), bench->cpus);
    double ns = print_tasks(&own);
    print_line("an empty iteration, one worker", run_empty(&own, 1));
    if (bench->cpus >= 2)
        print_two(&own);
    printf("Tasks of %.2g us and more lose less than 1 %% to their overhead.\n"
           "`ek-bench --help` lists cases with their baselines; two ranks "
           "measure messages.\n",
           ns / 10);
    bench_barrier(MPI_COMM_WORLD);
}
