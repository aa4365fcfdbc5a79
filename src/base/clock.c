/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock: the time stamp counter where it is invariant, else the system's;
 * and giving a core away.
 *
 * Reading the counter costs 12 ns, clock_gettime() 32: every task is timed.
 * Owns the calibration, written once.  This file asks for POSIX and Linux.
 */
#define _GNU_SOURCE
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#define NS_PER_S 1000000000

uint64_t eki_clock_mult;

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t eki_clock_system_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t eki_clock_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t eki_clock_moment_ms(void)
{
#if defined(CLOCK_MONOTONIC_COARSE)
    const clockid_t clock = CLOCK_MONOTONIC_COARSE;
#else
    const clockid_t clock = CLOCK_MONOTONIC;
#endif
    return read_ns(clock) / 1000000;
}

void eki_yield(void)
{
    sched_yield();
}

void eki_sleep_ns(uint64_t ns)
{
#if defined(__linux__)
    /* The default slack of 50 us would double the shortest sleep. */
    static _Thread_local bool has_slack;
    if (!has_slack) {
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        has_slack = true;
    }
#endif
    struct timespec duration = {.tv_sec = (time_t)(ns / NS_PER_S),
                                .tv_nsec = (long)(ns % NS_PER_S)};
    nanosleep(&duration, NULL);
}

#if defined(__x86_64__)

/* One calibration ends when its error is below 1/ERROR_INVERSE, or after
 * ROUNDS_MAX sleeps: readings 30 ns wide need two, 100 ns wide all five. */
#define ERROR_INVERSE 100000
#define ROUND_NS 2000000
#define ROUNDS_MAX 5

/* Enough that one of them is not interrupted. */
#define READING_TRIES 32

/* Both clocks at the same moment, give or take half of WIDTH ticks. */
struct reading {
    uint64_t ticks;
    uint64_t ns;
    uint64_t width;
};

/* The narrowest of several: an interrupted one is wide. */
static struct reading reading_take(void)
{
    struct reading best = {0, 0, UINT64_MAX};
    for (int i = 0; i < READING_TRIES; i++) {
        uint64_t before = __builtin_ia32_rdtsc();
        uint64_t ns = eki_clock_system_ns();
        uint64_t width = __builtin_ia32_rdtsc() - before;
        if (width < best.width)
            best = (struct reading){before + width / 2, ns, width};
    }
    return best;
}

/* Whether the counter runs at one rate in all states of the CPU. */
static bool tsc_is_invariant(void)
{
    unsigned a, b, c, d;
    const unsigned power_management = 0x80000007, invariant = 1U << 8;
    return __get_cpuid(power_management, &a, &b, &c, &d) && (d & invariant);
}

/* Whether this process may read the counter, and the kernel trusts it. */
static bool tsc_is_usable(void)
{
#if defined(__linux__)
    int mode = PR_TSC_ENABLE;
    if (prctl(PR_GET_TSC, &mode, 0UL, 0UL, 0UL) == 0 && mode != PR_TSC_ENABLE)
        return false;

    /* The kernel takes a counter off this list that differs between CPUs. */
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/"
                       "available_clocksource",
                       "r");
    if (file == NULL)
        return true;
    char sources[256] = "";
    bool is_listed = fgets(sources, sizeof sources, file) == NULL ||
                     strstr(sources, "tsc") != NULL;
    fclose(file);
    return is_listed;
#else
    return true;
#endif
}

static void clock_calibrate(void)
{
    if (!tsc_is_invariant() || !tsc_is_usable())
        return;

    struct reading first = reading_take(), last = first;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        eki_sleep_ns(ROUND_NS);
        last = reading_take();
        uint64_t error = (first.width + last.width) / 2;
        if (last.ticks - first.ticks > error * ERROR_INVERSE)
            break;
    }
    if (last.ticks <= first.ticks)
        return;
    eki_clock_mult =
        (uint64_t)(((unsigned __int128)(last.ns - first.ns) << 32) /
                   (last.ticks - first.ticks));
}

#else

static void clock_calibrate(void)
{
}

#endif

void eki_clock_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, clock_calibrate);
}
