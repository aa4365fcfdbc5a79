/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, MPI, and what can be run with the ranks there are. */
#define _GNU_SOURCE
#include "bench.h"

#include "common/message.h"
#include "sim/machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "ek-bench";

static const char help[] =
    "usage: ek-bench [options] tasks|steal|process|service|balance|all ...\n"
    "       ek-bench [options] machine >FILE\n"
    "\n"
    "  tasks    what a task costs: spawned, seed, index of a range, restore\n"
    "  steal    moving tasks between threads, processes and nodes\n"
    "  process  an empty ek_process() back to back and after serial code\n"
    "  service  how long a request waits for a node that runs long tasks\n"
    "  balance  quality, migrations and time of the rebalancers: a minute\n"
    "  all      all but balance and machine\n"
    "  machine  a file for ek-sim that describes this machine: seconds\n"
    "\n"
    "options\n"
    "  --repetitions N  1 ... 1000, interleaved (default 30)\n"
    "  --tasks N        1000 ... 10000000 per repetition (default 100000)\n"
    "  --deque KIND     atomic (default) or locked\n"
    "  --record FILE    balance the tasks of this record (.ekr) instead\n"
    "  --check FILE     machine: only read this file, and print it\n"
    "  --like MACHINE   machine: known one, for what cannot be measured "
    "(this)\n"
    "  --json           one JSON object per case, times in nanoseconds\n"
    "  --help           this text\n"
    "\n"
    "Started alone it runs one process with up to two threads.  Cases with\n"
    "two processes, and two nodes, need two ranks:\n"
    "\n"
    "  mpirun --bind-to none -n 2 ek-bench all\n"
    "  mpirun --map-by node --bind-to none -n 2 ek-bench machine >mine.machine"
    "\n"
    "\n"
    "Each row shows the minimum and the median of the repetitions, the same "
    "of\n"
    "its base, measured in turns, the ratio of the minima and the median of\n"
    "the ratios.  docs/benchmarks.md says what each case means.\n";

enum {
    DO_TASKS = 1,
    DO_STEAL = 2,
    DO_PROCESS = 4,
    DO_SERVICE = 8,
    DO_BALANCE = 16,
    DO_MACHINE = 32,
    DO_ALL = 15 /* balance takes a minute by itself, machine prints a file */
};

static const struct {
    const char *name;
    int cases;
} commands[] = {{"tasks", DO_TASKS},     {"steal", DO_STEAL},
                {"process", DO_PROCESS}, {"service", DO_SERVICE},
                {"balance", DO_BALANCE}, {"machine", DO_MACHINE},
                {"all", DO_ALL}};

/* An integer in [LEAST, MOST]; false, with a message: it is not. */
static bool read_number(const struct bench *bench, const char *option,
                        const char *text, long least, long most, long *value)
{
    char *end = NULL;
    *value = text ? strtol(text, &end, 10) : 0;
    if (text && end != text && *end == '\0' && *value >= least &&
        *value <= most)
        return true;
    bench_note(bench, "%s '%s' is not allowed; allowed: %ld ... %ld", option,
               text ? text : "", least, most);
    return false;
}

static bool read_deque(struct bench *bench, const char *text)
{
    if (text && strcmp(text, "atomic") == 0)
        bench->deque = EK_DEQUE_ATOMIC;
    else if (text && strcmp(text, "locked") == 0)
        bench->deque = EK_DEQUE_LOCKED;
    else {
        bench_note(bench,
                   "--deque '%s' is not allowed; allowed: atomic, locked",
                   text ? text : "");
        return false;
    }
    return true;
}

static bool read_command(const struct bench *bench, const char *text,
                         int *cases)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(text, commands[i].name) == 0) {
            *cases |= commands[i].cases;
            return true;
        }
    }
    bench_note(bench,
               "'%s' is not allowed; allowed: tasks, steal, process, service, "
               "balance, all, machine, --repetitions, --tasks, --deque, "
               "--record, --check, --like, --json, --help",
               text);
    return false;
}

static int read_file(const struct bench *bench, const char *option,
                     const char *text, const char **file)
{
    *file = text;
    if (!text)
        bench_note(bench, "%s needs the name of a file", option);
    return text ? 2 : 0;
}

static bool read_like(struct bench *bench, const char *text)
{
    struct eki_machine machine;
    bench->like = text;
    if (text && eki_machine_preset(text, &machine))
        return true;
    bench_note(bench, "--like '%s' is not allowed; allowed: %s",
               text ? text : "", eki_machine_presets());
    return false;
}

/* One option with its value; returns how many arguments it took, 0: bad. */
static int read_option(struct bench *bench, char *const *arguments, int *cases)
{
    const char *option = arguments[0];
    long number;
    if (strcmp(option, "--json") == 0) {
        bench->json = true;
        return 1;
    }
    if (strcmp(option, "--repetitions") == 0) {
        if (!read_number(bench, option, arguments[1], 1, BENCH_REPETITIONS_MAX,
                         &number))
            return 0;
        bench->repetitions = (int)number;
        return 2;
    }
    if (strcmp(option, "--tasks") == 0) {
        if (!read_number(bench, option, arguments[1], 1000, 10000000, &number))
            return 0;
        bench->tasks = number;
        return 2;
    }
    if (strcmp(option, "--record") == 0)
        return read_file(bench, option, arguments[1], &bench->record);
    if (strcmp(option, "--check") == 0)
        return read_file(bench, option, arguments[1], &bench->check);
    if (strcmp(option, "--like") == 0)
        return read_like(bench, arguments[1]) ? 2 : 0;
    if (strcmp(option, "--deque") == 0)
        return read_deque(bench, arguments[1]) ? 2 : 0;
    return read_command(bench, option, cases) ? 1 : 0;
}

/* The cases to run; 0: none, EXIT says how the program ends. */
static int read_arguments(struct bench *bench, char *const *arguments,
                          int *exit_code)
{
    int cases = 0;
    *exit_code = 2;
    for (int i = 1; arguments[i] != NULL;) {
        if (strcmp(arguments[i], "--help") == 0) {
            if (bench->rank == 0)
                fputs(help, stdout);
            *exit_code = 0;
            return 0;
        }
        int taken = read_option(bench, arguments + i, &cases);
        if (taken == 0)
            return 0;
        i += taken;
    }
    if (cases == 0)
        bench_note(
            bench,
            "nothing to do; allowed: tasks, steal, process, service, balance, "
            "all, machine (--help says more)");
    if (cases != DO_MACHINE && (bench->check || cases & DO_MACHINE)) {
        bench_note(bench, "machine, which --check needs, goes alone: its "
                          "output is a file");
        return 0;
    }
    return cases;
}

static int count_cpus(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static void remark(const struct bench *bench, int cases)
{
    int two = cases & (DO_STEAL | DO_PROCESS | DO_SERVICE | DO_MACHINE);
    if (two && bench->cpus < 2)
        bench_note(bench, "rank 0 may use one CPU only: no cases with two "
                          "threads.  Start it with mpirun --bind-to none");
    if (two && bench->size < 2)
        bench_note(bench, "one rank: no cases with processes and nodes.  Start "
                          "it with mpirun --bind-to none -n 2 ek-bench ...");
}

static void run(const struct bench *bench, int cases)
{
    void (*const functions[])(const struct bench *) = {
        bench_tasks,   bench_steal,   bench_process,
        bench_service, bench_balance, bench_machine};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!(cases & 1 << i))
            continue;
        functions[i](bench);
        bench_table_print(bench);
    }
}

int main(int argc, char **argv)
{
    struct bench bench = {.repetitions = 30, .tasks = 100000, .like = "this"};
    int level, exit_code = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.size);
    bench.cpus = count_cpus();
    int cases = read_arguments(&bench, argv, &exit_code);
    if (cases != 0 && bench.check) {
        exit_code = bench_machine_check(&bench) ? 0 : 2;
    } else if (cases != 0) {
        exit_code = 0;
        bench_timing_start();
        remark(&bench, cases);
        run(&bench, cases);
    }
    MPI_Finalize();
    return exit_code;
}
