/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instructions per task, for callgrind: run one case of tasks.c so many times
 * and print how many tasks a time is.  count-instructions runs it.
 *
 * Two numbers of repetitions, divided by their difference, leave out what
 * happens once.  A simulator makes every task seem long, and long tasks are
 * timed one by one: so the clock of the library, which is hidden in it, goes
 * slower here.  That is why this program is linked with the static library; a
 * call of the shared one costs two to three instructions more.
 */
#include "base/base.h"
#include "bench.h"

#include <string.h>

/* Ticks per nanosecond, and how many times slower the simulator is. */
#define TICKS_PER_NS 2.5
#define SLOWDOWN 1000

static int usage(void)
{
    fputs("usage: ek-bench-count CASE REPETITIONS (0 ... 1000)\n"
          "       ek-bench-count --list\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct bench bench = {.size = 1, .tasks = 10000};
    int level;
    char *end = NULL;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        bench_tasks_names();
        return 0;
    }
    if (argc != 3)
        return usage();
    long repetitions = strtol(argv[2], &end, 10);
    if (end == argv[2] || *end || repetitions < 0 || repetitions > 1000)
        return usage();
    bench.repetitions = (int)repetitions;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    eki_clock_start();
    eki_clock_mult = (uint64_t)(4294967296.0 / TICKS_PER_NS / SLOWDOWN);
    int64_t tasks = bench_tasks_count(&bench, argv[1]);
    MPI_Finalize();
    if (tasks == 0) {
        fprintf(stderr, "ek-bench-count: there is no case '%s'\n", argv[1]);
        return 2;
    }
    printf("tasks %lld\n", (long long)tasks);
    return 0;
}
