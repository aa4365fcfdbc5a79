/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processor time of the workers' threads: whether they had a core when they
 * wanted one.
 *
 * A thread that is busy and gets no processor time is asleep in a task or waits
 * for a core.  Linux says how long threads of this one's number have waited;
 * reading that takes microseconds, so only who lacks time does.
 */
#define _GNU_SOURCE
#include "team/poll.h"

#include <time.h>

/* Less is what entering and leaving take, and what clocks differ by. */
#define SHORT_NS 50000

static uint64_t cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Time that this thread has waited for a core so far; false: nobody says. */
static bool waited_now(uint64_t *waited)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    unsigned long long ran, ready;
    bool is_read = file && fscanf(file, "%llu %llu", &ran, &ready) == 2;
    if (is_read)
        *waited = ready;
    if (file)
        fclose(file);
    return is_read;
}

void eki_team_measure_begin(struct eki_team *team, int here)
{
    struct eki_seat *seat = &team->seats[here];
    if (!seat->has_waited)
        seat->has_waited = waited_now(&seat->waited_ns);
    seat->cpu_ns = cpu_now();
}

void eki_team_measure_end(struct eki_team *team, int here)
{
    struct eki_seat *seat = &team->seats[here];
    struct eki_counts *counts = &team->setup.engine->workers[here]->counts;
    if (counts->cpu_ns != 0)
        return;
    counts->cpu_ns = cpu_now() - seat->cpu_ns;
    uint64_t busy_ns = counts->done_ns - counts->first_ns - counts->search_ns -
                       counts->termination_ns;
    if (busy_ns < counts->cpu_ns + SHORT_NS)
        return;
    uint64_t lacking_ns = busy_ns - counts->cpu_ns, before = seat->waited_ns;
    if (waited_now(&seat->waited_ns))
        counts->starved_ns = seat->waited_ns - before;
    else if (team->is_crowded)
        counts->starved_ns = lacking_ns;
    if (counts->starved_ns > lacking_ns)
        counts->starved_ns = lacking_ns;
}
