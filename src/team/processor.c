/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the workers' threads had a core when they wanted one: of tasks, which
 * take longer by the clock when they are held up, and for reports.
 *
 * Linux says how long a thread has been ready without a core.  Reading that
 * takes microseconds, so a thread reads it only when it has left its core since
 * it last did.  Where nobody says, a thread that shares cores, gets no
 * processor time and has not gone to sleep is taken to wait for one.
 */
#define _GNU_SOURCE
#include "team/poll.h"

#include <sys/resource.h>

/* How long this thread has waited for a core so far; false: nobody says, and it
 * is how long it has not run. */
static bool waited_now(uint64_t *waited_ns)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    unsigned long long ran, ready;
    bool is_read = file && fscanf(file, "%llu %llu", &ran, &ready) == 2;
    if (file)
        fclose(file);
    *waited_ns = is_read ? ready : eki_clock_ns() - eki_clock_cpu_ns();
    return is_read;
}

uint64_t eki_team_waited(struct eki_team *team, int here)
{
    struct eki_seat *seat = &team->seats[here];
    struct eki_seat before = *seat;
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    seat->switches = usage.ru_nvcsw + usage.ru_nivcsw;
    seat->sleeps = usage.ru_nvcsw;
    if (before.has_waited && seat->switches == before.switches)
        return 0;
    seat->is_told = waited_now(&seat->waited_ns);
    seat->has_waited = true;
    if (!before.has_waited || seat->is_told != before.is_told)
        return 0;
    if (!seat->is_told && (!team->is_crowded || seat->sleeps != before.sleeps))
        return 0;
    uint64_t waited_ns = eki_ns_since(before.waited_ns, seat->waited_ns);
    team->setup.engine->workers[here]->counts.starved_ns += waited_ns;
    return waited_ns;
}

void eki_team_measure_end(struct eki_team *team, int here)
{
    struct eki_counts *counts = &team->setup.engine->workers[here]->counts;
    if (!team->is_measured || counts->cpu_ns != 0)
        return;
    counts->cpu_ns = eki_clock_cpu_ns() - team->seats[here].cpu_ns;
    eki_team_waited(team, here);
}

void eki_team_leave_out(struct eki_team *team, int here, uint64_t ns)
{
    struct eki_batch *batch = &team->setup.engine->workers[here]->batch;
    struct eki_seat *seat = &team->seats[here];
    if (ns < EKI_HELD_LEAST_NS) {
        /* So short a time is worth no reading: the last one stays as old, seen
         * from the stamp. */
        seat->looked_ns += ns;
    } else {
        /* Of what the thread has waited, NS may have been in that time; what
         * comes after that is the task's own. */
        uint64_t waited_ns = eki_ns_since(ns, eki_team_waited(team, here));
        batch->held_ns += eki_team_held(seat, batch, UINT64_MAX, waited_ns);
        seat->looked_ns = batch->stamp + ns;
    }
    eki_worker_leave_out(team->setup.engine->workers[here], ns);
}
