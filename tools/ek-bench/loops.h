/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of loops.c by TBB, which is C++. */
#ifndef EK_BENCH_LOOPS_H
#define EK_BENCH_LOOPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Task I of the loop. */
void bench_loop_task(const int32_t *steps, int64_t i);
/* All N by parallel_for(), on so many threads. */
void bench_loop_tbb(const int32_t *steps, int64_t n, int threads);

#ifdef __cplusplus
}
#endif

#endif
