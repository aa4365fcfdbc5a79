/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline of a collection: when it is written, and what the calling thread
 * did between the steps of the workers.
 *
 * Owns the open file.  Times of the file are those of eki_clock_ns(), whose
 * moment differs between processes; the system's clock, which is one on a host,
 * ties them together.
 */
#include "collection/collection.h"
#include "timeline/timeline.h"

#include <unistd.h>

/* Hosts compare their clocks again when that was so long ago. */
#define COMPARED_S 10.0

struct eki_tracking {
    struct eki_timeline *timeline; /* NULL: none is open */
    const char *folder;            /* of the open one */
    uint64_t job;
    int64_t offset; /* from this host's clock to that of the first */
    uint64_t error;
    uint64_t compared; /* when */
    char failure[600]; /* why this rank has none; empty: it has, or may */
    bool is_told;
};

static ek_status compare_clocks(ek_collection *tasks)
{
    struct eki_tracking *tracking = tasks->parts.tracking;
    EKI_TRY(eki_fabric_mpi_clock(tasks->fabric, &tracking->offset,
                                 &tracking->error));
    tracking->compared = eki_clock_ns();
    return EK_OK;
}

ek_status eki_tracking_open(ek_collection *tasks)
{
    if (!eki_settings_has_timeline(&tasks->settings))
        return EK_OK;
    struct eki_tracking *tracking = eki_alloc(1, sizeof *tracking);
    tasks->parts.tracking = tracking;
    EKI_TRY(eki_fabric_mpi_agree(
        tasks->fabric,
        tracking ? EK_OK
                 : eki_error(EK_ERR_NOMEM, "no memory for the timeline")));
    tracking->job =
        eki_splitmix(eki_clock_system_ns() ^ (uint64_t)getpid() << 40);
    EKI_TRY(eki_fabric_mpi_broadcast(tasks->fabric, &tracking->job,
                                     sizeof tracking->job, 0));
    return compare_clocks(tasks);
}

/* Say how the clock of this process goes by now. */
static void write_clock(const struct eki_tracking *tracking)
{
    struct eki_timeline_clock clock = {.error = UINT64_MAX};
    for (int i = 0; i < 5; i++) {
        uint64_t before = eki_clock_ns(), system = eki_clock_system_ns();
        uint64_t error = (eki_clock_ns() - before + 1) / 2;
        if (error >= clock.error)
            continue;
        clock.at = before + error;
        clock.offset = (int64_t)(system - clock.at) + tracking->offset;
        clock.error = error;
    }
    clock.error += tracking->error;
    eki_timeline_clock(tracking->timeline, &clock);
}

static void note_failure(struct eki_tracking *tracking, const char *why)
{
    if (why && !*tracking->failure)
        snprintf(tracking->failure, sizeof tracking->failure, "%s", why);
}

static void say_failure(const ek_collection *tasks)
{
    eki_log(EK_LEVEL_WARN, tasks->fabric->rank, tasks->fabric->size, "timeline",
            "%s; the timeline of this rank stops",
            tasks->parts.tracking->failure);
}

static void close_timeline(struct eki_tracking *tracking, uint64_t now)
{
    if (!tracking->timeline)
        return;
    write_clock(tracking);
    if (eki_timeline_close(&tracking->timeline, now) != EK_OK)
        note_failure(tracking, ek_error_message());
}

static void open_timeline(ek_collection *tasks, const char *folder,
                          uint64_t now)
{
    struct eki_tracking *tracking = tasks->parts.tracking;
    const struct eki_topology *topology = tasks->topology;
    const struct eki_timeline_setup setup = {
        .folder = folder,
        .name = tasks->settings.name,
        .job = tracking->job,
        .rank = topology->rank,
        .size = topology->size,
        .workers = topology->workers,
        .node = topology->node,
        .first_worker = topology->first_worker[topology->rank],
        .workers_here = topology->workers_here,
        .has_host = true};
    tracking->folder = folder;
    if (eki_timeline_open(&setup, now, &tracking->timeline) == EK_OK) {
        write_clock(tracking);
        return;
    }
    note_failure(tracking, ek_error_message());
}

/* Give the tracks to their workers and server, or take them. */
static void give_tracks(ek_collection *tasks, bool is_on)
{
    struct eki_timeline *timeline = tasks->parts.tracking->timeline;
    int workers = tasks->topology->workers_here;
    for (int here = 0; here < workers; here++)
        tasks->engine->workers[here]->track =
            is_on ? &timeline->tracks[here] : NULL;
    tasks->engine->track = is_on ? &timeline->tracks[workers] : NULL;
}

void eki_tracking_call(ek_collection *tasks)
{
    struct eki_tracking *tracking = tasks->parts.tracking;
    const char *folder =
        *tracking->failure
            ? NULL
            : eki_settings_timeline(&tasks->settings, tasks->iteration);
    uint64_t now = tasks->lookout.entered_ns;
    bool was_on = tracking->timeline && tracking->timeline->is_on;
    if (folder && tracking->folder && strcmp(folder, tracking->folder) != 0)
        close_timeline(tracking, now);
    if (was_on && tracking->timeline)
        eki_timeline_all(tracking->timeline, EKI_EVENT_OUTSIDE, now);
    if (folder && !tracking->timeline)
        open_timeline(tasks, folder, now);
    else if (folder && !was_on)
        eki_timeline_start(tracking->timeline, now);
    else if (!folder && was_on)
        eki_timeline_stop(tracking->timeline, now);
    bool is_on = folder && tracking->timeline &&
                 !eki_timeline_failure(tracking->timeline);
    if (is_on)
        for (int f = tracking->timeline->functions;
             f < tasks->engine->function_count; f++)
            eki_timeline_function(tracking->timeline,
                                  tasks->engine->functions[f].name);
    give_tracks(tasks, is_on);
}

void eki_tracking_restored(ek_collection *tasks)
{
    struct eki_timeline *timeline = tasks->parts.tracking->timeline;
    if (timeline && timeline->is_on)
        eki_timeline_all(timeline, EKI_EVENT_RESTORE, eki_clock_ns());
}

/* When the iteration began that has ended now. */
static uint64_t entered_at(const ek_collection *tasks)
{
    const struct eki_earlier *earlier = eki_part_earlier(tasks);
    return earlier ? earlier->entered_ns : tasks->engine->entered_ns;
}

/* The longest stay of a rank; of those that have failed since the last time one
 * says so.  Collective. */
static ek_status share_stay(ek_collection *tasks, uint64_t left,
                            uint64_t *longest)
{
    struct eki_tracking *tracking = tasks->parts.tracking;
    double mine = *tracking->failure && !tracking->is_told
                      ? tasks->fabric->size - tasks->fabric->rank
                      : 0;
    double most[3] = {(double)(left - entered_at(tasks)), mine,
                      (double)(left - tracking->compared) * 1e-9};
    EKI_TRY(eki_fabric_mpi_max(tasks->fabric, most, 3));
    *longest = (uint64_t)(most[0] + 0.5);
    if (mine > 0 && mine == most[1])
        say_failure(tasks);
    tracking->is_told |= mine > 0;
    return most[2] > COMPARED_S && !eki_fabric_mpi_is_one_host(tasks->fabric)
               ? compare_clocks(tasks)
               : EK_OK;
}

/* The states of the phase that was left then end; returns when. */
static uint64_t end_states(struct eki_timeline *timeline, uint64_t left)
{
    uint64_t now = eki_clock_ns();
    eki_track_state(&timeline->tracks[timeline->workers_here],
                    EKI_EVENT_BETWEEN, -1, 0, left, 0);
    eki_timeline_all(timeline, EKI_EVENT_LEAVE, now);
    return now;
}

void eki_tracking_paused(ek_collection *tasks, uint64_t left)
{
    struct eki_timeline *timeline = tasks->parts.tracking->timeline;
    if (timeline && timeline->is_on)
        end_states(timeline, left);
}

ek_status eki_tracking_left(ek_collection *tasks, uint64_t left,
                            ek_status status)
{
    struct eki_tracking *tracking = tasks->parts.tracking;
    struct eki_timeline *timeline = tracking->timeline;
    struct eki_timeline_iteration iteration = {
        .number = tasks->iteration,
        .entered = entered_at(tasks),
        .left = left,
        .status = status,
        .restore = tasks->restores.policy,
        .steal = tasks->engine->scheme->policy};
    ek_status shared = EK_OK;
    if (!eki_settings_timeline(&tasks->settings, tasks->iteration))
        return EK_OK;
    if (timeline)
        note_failure(tracking, eki_timeline_failure(timeline));
    if (status != EK_ERR_ARG && status != EK_ERR_MPI)
        shared = share_stay(tasks, left, &iteration.longest);
    if (!timeline || !timeline->is_on)
        return shared;
    uint64_t now = end_states(timeline, left);
    eki_timeline_iteration(timeline, &iteration);
    if (eki_timeline_flush(timeline, now))
        write_clock(tracking);
    return shared;
}

void eki_tracking_close(ek_collection *tasks)
{
    struct eki_tracking *tracking = tasks->parts.tracking;
    if (!tracking)
        return;
    close_timeline(tracking, eki_clock_ns());
    if (*tracking->failure && !tracking->is_told)
        say_failure(tasks);
    eki_free(tracking);
    tasks->parts.tracking = NULL;
}
