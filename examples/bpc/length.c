/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* clock_nanosleep */
#include "length.h"

#include <time.h>

/* How often a task lets messages through. */
#define POLL_S 0.25e-3

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double end)
{
    struct timespec time = {.tv_sec = (time_t)end};
    time.tv_nsec = (long)(1e9 * (end - (double)time.tv_sec));
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

void length_last(ek_worker *worker, double seconds, bool has_sleep)
{
    clockid_t clock = has_sleep ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    double time = now(clock), end = time + seconds;
    while (time < end) {
        double until = time + POLL_S < end ? time + POLL_S : end;
        if (has_sleep)
            sleep_until(until);
        else
            while (now(clock) < until)
                ;
        if (worker)
            ek_poll(worker);
        time = now(clock);
    }
}
