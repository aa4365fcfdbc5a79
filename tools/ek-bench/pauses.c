/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What else a core does: threads that do nothing but read the clock, one on
 * each core at hand, see how long it stood still for them.
 *
 * The pauses of a machine are an exponential law that takes the same share of
 * the time and varies as much: of gaps g its mean is half of sum(g^2) / sum(g).
 * The rare long ones count, not the many of a timer.
 */
#include "machine.h"

#include <omp.h>
#include <stdlib.h>

enum {
    GAP_NS = 3000, /* a reading takes tens; an interrupt a few thousand */
    SPIN_NS = 100000000,
    SPINS_MAX = 20
};

struct gaps {
    double ns, sum, squares;
    char room[BENCH_LINE]; /* others are on lines of their own */
};

static void spin(void *arena, int side, void *argument)
{
    const struct bench *bench = argument;
    struct gaps gaps = {0};
    int spins = bench->repetitions < SPINS_MAX ? bench->repetitions : SPINS_MAX;
    uint64_t first = bench_ticks(), last = first;
    do {
        uint64_t now = bench_ticks();
        double ns = bench_ns(now - last);
        if (ns > GAP_NS) {
            gaps.sum += ns;
            gaps.squares += ns * ns;
        }
        last = now;
        gaps.ns = bench_ns(now - first);
    } while (gaps.ns < (double)spins * SPIN_NS);
    ((struct gaps *)arena)[side] = gaps;
}

void bench_pauses(const struct bench *bench, struct measured *measured)
{
    struct gaps *gaps = allocate((size_t)bench->cpus, sizeof *gaps);
    struct gaps all = {0};
#pragma omp parallel num_threads(bench->cpus) default(none) shared(gaps, bench)
    bench_run_pinned(omp_get_thread_num(), spin, gaps, (void *)bench);
    for (int i = 0; i < bench->cpus; i++) {
        all.ns += gaps[i].ns;
        all.sum += gaps[i].sum;
        all.squares += gaps[i].squares;
    }
    free(gaps);
    measured->machine.pause_share = measured->machine.pause = 0;
    if (all.sum == 0)
        return;
    bench_take(measured, &measured->machine.pause_share, "pause_share",
               100 * all.sum / all.ns);
    bench_take(measured, &measured->machine.pause, "pause",
               all.squares / (2 * all.sum));
}
