/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, the clock and the result of each of the programs. */
#include "tools/peers/peer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s UTS-TREE|queens:N WORKERS\ntrees:", program);
    for (int i = 0; uts_name(i); i++)
        fprintf(stderr, " %s", uts_name(i));
    fprintf(stderr, "; N to %d, WORKERS to %d\n", QUEENS_MOST,
            PEER_WORKERS_MOST);
    return 2;
}

/* False: VALUE is not such a number from 1 to MOST. */
static bool parse_number(const char *value, long most, int *number)
{
    char *end;
    long parsed = strtol(value, &end, 10);
    *number = (int)parsed;
    return end != value && *end == '\0' && parsed >= 1 && parsed <= most;
}

static bool parse_problem(const char *name, struct peer_problem *problem,
                          int64_t *expected)
{
    static const char queens[] = "queens:";
    problem->is_uts = strncmp(name, queens, sizeof queens - 1) != 0;
    if (problem->is_uts)
        return uts_find(name, &problem->tree, expected);
    if (!parse_number(name + sizeof queens - 1, QUEENS_MOST, &problem->rows))
        return false;
    *expected = queens_solutions(problem->rows);
    return true;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int64_t peer_sum(struct peer_count *counts)
{
    int64_t sum = 0;
    for (int i = 0; i < PEER_WORKERS_MOST; i++) {
        sum += counts[i].count;
        counts[i].count = 0;
    }
    return sum;
}

int main(int argc, char **argv)
{
    struct peer_problem problem = {0}, first = {.rows = 6};
    int64_t expected;
    int workers;
    if (argc != 3 || !parse_problem(argv[1], &problem, &expected) ||
        !parse_number(argv[2], PEER_WORKERS_MOST, &workers))
        return usage(argv[0]);
    peer_start(workers);
    /* Threads come up in a run that is not timed. */
    (void)peer_count(&first);
    double start = now_s();
    int64_t count = peer_count(&problem);
    double seconds = now_s() - start;
    peer_stop();
    printf("count %" PRId64 " seconds %.6f\n", count, seconds);
    if (count == expected)
        return 0;
    fprintf(stderr, "%s: %s is %" PRId64 ", not %" PRId64 "\n", argv[0],
            argv[1], expected, count);
    return 1;
}
