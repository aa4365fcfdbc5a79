/* SPDX-License-Identifier: BSD-3-Clause */
#include "timelines.h"

#include "timeline/timeline.h"

#include <stdlib.h>
#include <sys/resource.h>

enum {
    EVENTS = 4096 /* of a track: there may be many */
};

struct timelines {
    struct eki_sim *sim;
    struct eki_timeline **ranks;               /* [ranks]; NULL: not opened */
    struct eki_timeline_iteration *iterations; /* [ranks], the last */
    int left;                                  /* ranks, of the iteration */
};

/* As many open files as the system lets us have. */
static void allow_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static ek_status open_rank(struct timelines *timelines, const char *folder,
                           const struct eki_sim_rank *rank)
{
    const struct eki_topology *topology = &rank->topology;
    const struct eki_timeline_setup setup = {
        .folder = folder,
        .name = "sim",
        .job = 1 + timelines->sim->setup.engine.seed,
        .rank = rank->number,
        .size = topology->size,
        .workers = topology->workers,
        .node = topology->node,
        .first_worker = topology->first_worker[rank->number],
        .workers_here = topology->workers_here,
        .events = EVENTS};
    struct eki_timeline **timeline = &timelines->ranks[rank->number];
    uint64_t now = eki_sim_clock(timelines->sim, rank);
    EKI_TRY(eki_timeline_open(&setup, now, timeline));
    for (int f = 0; f < rank->engine->function_count; f++)
        eki_timeline_function(*timeline, rank->engine->functions[f].name);
    const struct eki_timeline_clock clock = {
        .at = now, .offset = -(int64_t)rank->clock_ns};
    eki_timeline_clock(*timeline, &clock);
    for (int here = 0; here < topology->workers_here; here++)
        rank->workers[here].worker->track = &(*timeline)->tracks[here];
    rank->engine->track = &(*timeline)->tracks[topology->workers_here];
    return EK_OK;
}

struct timelines *timelines_open(const char *folder, struct eki_sim *sim,
                                 struct message *message)
{
    size_t ranks = (size_t)sim->setup.ranks;
    struct timelines *timelines = allocate(1, sizeof *timelines);
    timelines->sim = sim;
    timelines->ranks = allocate(ranks, sizeof *timelines->ranks);
    timelines->iterations = allocate(ranks, sizeof *timelines->iterations);
    allow_files();
    for (size_t r = 0; r < ranks; r++) {
        if (open_rank(timelines, folder, &sim->ranks[r]) == EK_OK)
            continue;
        message_set(message, "--timeline: %s", ek_error_message());
        timelines_close(timelines, message);
        return NULL;
    }
    return timelines;
}

void timelines_enter(struct timelines *timelines,
                     const struct eki_sim_rank *rank)
{
    uint64_t now = eki_sim_clock(timelines->sim, rank);
    eki_timeline_all(timelines->ranks[rank->number], EKI_EVENT_OUTSIDE, now);
    timelines->iterations[rank->number].entered = now;
}

/* All ranks have left: the longest stay is known. */
static void write_iterations(const struct timelines *timelines)
{
    int ranks = timelines->sim->setup.ranks;
    uint64_t longest = 0;
    for (int r = 0; r < ranks; r++) {
        const struct eki_timeline_iteration *of = &timelines->iterations[r];
        if (of->left - of->entered > longest)
            longest = of->left - of->entered;
    }
    for (int r = 0; r < ranks; r++) {
        timelines->iterations[r].longest = longest;
        eki_timeline_iteration(timelines->ranks[r], &timelines->iterations[r]);
        eki_timeline_flush(timelines->ranks[r], timelines->iterations[r].left);
    }
}

void timelines_left(struct timelines *timelines,
                    const struct eki_sim_rank *rank, ek_status status)
{
    struct eki_timeline *timeline = timelines->ranks[rank->number];
    struct eki_timeline_iteration *of = &timelines->iterations[rank->number];
    of->number = rank->iteration;
    of->left = eki_sim_clock(timelines->sim, rank);
    of->status = status;
    of->steal = rank->engine->scheme->policy;
    eki_timeline_all(timeline, EKI_EVENT_BETWEEN, of->left);
    if (++timelines->left < timelines->sim->setup.ranks)
        return;
    timelines->left = 0;
    write_iterations(timelines);
}

void timelines_restored(struct timelines *timelines,
                        const struct eki_sim_rank *rank)
{
    eki_timeline_all(timelines->ranks[rank->number], EKI_EVENT_RESTORE,
                     eki_sim_clock(timelines->sim, rank));
}

bool timelines_close(struct timelines *timelines, struct message *message)
{
    bool is_good = true;
    for (int r = 0; timelines && r < timelines->sim->setup.ranks; r++) {
        uint64_t now = eki_sim_clock(timelines->sim, &timelines->sim->ranks[r]);
        if (!timelines->ranks[r] ||
            eki_timeline_close(&timelines->ranks[r], now) == EK_OK || !is_good)
            continue;
        is_good = message_set(message, "--timeline: %s", ek_error_message());
    }
    if (timelines) {
        free(timelines->ranks);
        free(timelines->iterations);
    }
    free(timelines);
    return is_good;
}
