/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock, and the statistics of repetitions. */
#define _GNU_SOURCE
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static double ns_per_tick = 1;
static uint64_t read_cost; /* ticks between two readings */

static double system_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

#if !defined(__x86_64__)
uint64_t bench_ticks(void)
{
    return (uint64_t)system_ns();
}
#endif

void bench_timing_start(void)
{
    double first_ns = system_ns();
    uint64_t first = bench_ticks();
    bench_sleep_ms(20);
    double last_ns = system_ns();
    ns_per_tick = (last_ns - first_ns) / (double)(bench_ticks() - first);
    read_cost = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        uint64_t start = bench_ticks();
        uint64_t cost = bench_ticks_after() - start;
        read_cost = cost < read_cost ? cost : read_cost;
    }
}

double bench_ns(uint64_t ticks)
{
    return (double)ticks * ns_per_tick;
}

double bench_interval_ns(uint64_t first, uint64_t last)
{
    uint64_t ticks = last - first;
    return ticks > read_cost ? bench_ns(ticks - read_cost) : 0;
}

void bench_spin_ns(double ns)
{
    uint64_t first = bench_ticks();
    while (bench_ns(bench_ticks() - first) < ns)
        bench_pause();
}

void bench_burn(int64_t steps)
{
    /* What it comes to must go somewhere, or there is no need to compute it. */
    static _Thread_local _Atomic uint64_t result;
    uint64_t value = 1;
    for (int64_t i = 0; i < steps; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    /* relaxed: nobody looks. */
    atomic_store_explicit(&result, value, memory_order_relaxed);
}

double bench_step_ns(void)
{
    enum {
        STEPS = 100000,
        TIMES = 50
    };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        uint64_t first = bench_ticks();
        bench_burn(STEPS);
        uint64_t ticks = bench_ticks_after() - first;
        least = ticks < least ? ticks : least;
    }
    return bench_ns(least) / STEPS;
}

void bench_sleep_ms(int ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Numbers first, in order; how many there are. */
static int sort_numbers(double *values, int count)
{
    int numbers = 0;
    for (int i = 0; i < count; i++) {
        double value = values[i];
        if (isnan(value))
            continue;
        values[i] = values[numbers];
        values[numbers++] = value;
    }
    qsort(values, (size_t)numbers, sizeof *values, compare);
    return numbers;
}

double bench_minimum(double *values, int count)
{
    int numbers = sort_numbers(values, count);
    return numbers > 0 ? values[0] : NAN;
}

double bench_maximum(double *values, int count)
{
    int numbers = sort_numbers(values, count);
    return numbers > 0 ? values[numbers - 1] : NAN;
}

double bench_median(double *values, int count)
{
    int numbers = sort_numbers(values, count);
    if (numbers == 0)
        return NAN;
    return (values[(numbers - 1) / 2] + values[numbers / 2]) / 2;
}

double bench_low_mean(double *values, int count)
{
    int numbers = sort_numbers(values, count), half = (numbers + 1) / 2;
    double sum = 0;
    for (int i = 0; i < half; i++)
        sum += values[i];
    return numbers > 0 ? sum / half : NAN;
}
