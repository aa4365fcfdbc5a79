/* SPDX-License-Identifier: BSD-3-Clause */
/* parallel_for() of TBB, as it comes: its own partitioner. */
#include "loops.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

void bench_loop_tbb(const int32_t *steps, int64_t n, int threads)
{
    static tbb::task_arena arena(threads);
    arena.execute([=] {
        tbb::parallel_for(int64_t{0}, n,
                          [=](int64_t i) { bench_loop_task(steps, i); });
    });
}
