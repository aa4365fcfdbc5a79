/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a timeline: what it begins with, and its blocks.
 *
 * This file asks for POSIX.
 */
#define _POSIX_C_SOURCE 200809L
#include "timeline/layout.h"
#include "timeline/timeline.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SERVER_ROOM = 4096, /* events: it does less than a worker */
    HOST_BYTES = EKI_TIMELINE_HEAD - EKI_TIMELINE_HEAD_HOST
};

/* A full track is written not more often than that, and else merged: then it
 * takes a quarter of a millisecond of each.  Many workers wait longer, as they
 * wait for each other at the file.  What is there is written after LATE_NS. */
#define SOON_NS UINT64_C(1000000000)
#define SOON_WORKERS 16
#define LATE_NS UINT64_C(10000000000)

static uint64_t soon_ns(const struct eki_timeline *timeline)
{
    uint64_t ns =
        SOON_NS * (uint64_t)(1 + timeline->workers_here / SOON_WORKERS);
    return ns < LATE_NS ? ns : LATE_NS;
}

/* The file can be written no longer; by who has locked it. */
static void stop_writing(struct eki_timeline *timeline)
{
    snprintf(timeline->failure, sizeof timeline->failure, "%s",
             ek_error_message());
    /* release: pairs with the acquire in eki_timeline_failure(): the words. */
    atomic_store_explicit(&timeline->has_failed, true, memory_order_release);
}

static void write_block(struct eki_timeline *timeline, uint32_t kind,
                        const void *body, size_t bytes)
{
    eki_lock(&timeline->lock);
    if (!eki_timeline_failure(timeline) &&
        eki_sealed_write(&timeline->out, kind, body, bytes) != EK_OK)
        stop_writing(timeline);
    eki_unlock(&timeline->lock);
}

/* The folder, and in it the path of the file. */
static ek_status make_path(const struct eki_timeline_setup *setup, char *path,
                           size_t bytes)
{
    int length = snprintf(path, bytes, "%s/%s.%06d.ekt", setup->folder,
                          setup->name, setup->rank);
    if (length < 0 || (size_t)length >= bytes)
        return eki_error(EK_ERR_FILE, "'%.200s...': the name is too long",
                         path);
    if (mkdir(setup->folder, 0777) == 0 || errno == EEXIST)
        return EK_OK;
    return eki_error(EK_ERR_FILE, "cannot make the folder '%.700s': %s",
                     setup->folder, strerror(errno));
}

static ek_status write_head(struct eki_timeline *timeline,
                            const struct eki_timeline_setup *setup)
{
    unsigned char head[EKI_TIMELINE_HEAD] = EKI_TIMELINE_MAGIC;
    char host[HOST_BYTES] = "";
    eki_put(head + EKI_HEADER_VERSION, EKI_TIMELINE_VERSION, 4);
    eki_put(head + EKI_HEADER_BYTES, sizeof head + EKI_BLOCK_CRC, 4);
    eki_put(head + EKI_TIMELINE_HEAD_JOB, setup->job, 8);
    eki_put(head + EKI_TIMELINE_HEAD_RANKS, (uint64_t)setup->size, 4);
    eki_put(head + EKI_TIMELINE_HEAD_WORKERS, (uint64_t)setup->workers, 4);
    eki_put(head + EKI_TIMELINE_HEAD_RANK, (uint64_t)setup->rank, 4);
    eki_put(head + EKI_TIMELINE_HEAD_NODE, (uint64_t)setup->node, 4);
    eki_put(head + EKI_TIMELINE_HEAD_FIRST, (uint64_t)setup->first_worker, 4);
    eki_put(head + EKI_TIMELINE_HEAD_HERE, (uint64_t)setup->workers_here, 4);
    snprintf((char *)head + EKI_TIMELINE_HEAD_NAME, EKI_BLOCK_NAME, "%s",
             setup->name);
    if (setup->has_host && gethostname(host, sizeof host - 1) == 0)
        memcpy(head + EKI_TIMELINE_HEAD_HOST, host, sizeof host - 1);
    return eki_sealed_header(&timeline->out, head, sizeof head);
}

static void free_timeline(struct eki_timeline *timeline)
{
    for (int i = 0; i <= timeline->workers_here; i++)
        eki_free(timeline->tracks[i].events);
    eki_free(timeline);
}

void eki_timeline_start(struct eki_timeline *timeline, uint64_t now)
{
    timeline->written = now;
    timeline->is_on = true;
    for (int i = 0; i <= timeline->workers_here; i++) {
        struct eki_track *track = &timeline->tracks[i];
        track->base = track->since = now;
        track->count = 0;
        track->due = now + LATE_NS;
    }
}

void eki_timeline_all(struct eki_timeline *timeline, enum eki_event_kind state,
                      uint64_t now)
{
    for (int i = 0; i <= timeline->workers_here; i++)
        eki_track_state(&timeline->tracks[i], state, -1, 0, now, 0);
}

/* Write the events up to the last state's end, which the points behind it wait
 * for; the others have their times from there on. */
static void write_track(struct eki_track *track, uint64_t now)
{
    struct eki_event *events = track->events;
    unsigned char head[EKI_TIMELINE_TRACK_HEAD] = {0};
    uint64_t length = track->since - track->base;
    int64_t n = track->count;
    while (n > 0 &&
           eki_event_is_point((int)eki_event_kind_of(&events[n - 1])) &&
           (events[n - 1].head & EKI_EVENT_TIME) > length)
        n--;
    track->due = now + LATE_NS;
    if (n == 0)
        return;
    size_t bytes = (size_t)n * sizeof *events;
    eki_put(head + EKI_TIMELINE_TRACK_NUMBER, (uint64_t)track->number, 4);
    eki_put(head + EKI_TIMELINE_TRACK_BASE, track->base, 8);
    eki_put(head + EKI_TIMELINE_TRACK_END, track->since, 8);
    eki_put(head + EKI_TIMELINE_TRACK_DROPPED, track->dropped, 8);
    for (int64_t i = 0; i < n; i++) {
        eki_put((unsigned char *)&events[i].head, events[i].head, 8);
        eki_put((unsigned char *)&events[i].value, events[i].value, 8);
    }
    struct eki_timeline *timeline = track->timeline;
    eki_lock(&timeline->lock);
    if (!eki_timeline_failure(timeline)) {
        eki_sealed_begin(&timeline->out, EKI_BLOCK_TRACK,
                         (int64_t)(sizeof head + bytes));
        eki_sealed_put(&timeline->out, head, sizeof head);
        eki_sealed_put(&timeline->out, events, bytes);
        if (eki_sealed_end(&timeline->out) != EK_OK)
            stop_writing(timeline);
    }
    eki_unlock(&timeline->lock);
    track->count -= n;
    for (int64_t i = 0; i < track->count; i++) {
        events[i] = events[n + i];
        events[i].head -= length;
    }
    track->base = track->since;
    track->dropped = 0;
}

/* If IS_FULL, not too soon after the last time. */
static void write_if_due(struct eki_track *track, uint64_t now, bool is_full)
{
    if (!is_full || now + LATE_NS >= track->due + soon_ns(track->timeline))
        write_track(track, now);
}

static bool open_tracks(struct eki_timeline *timeline, int64_t events)
{
    for (int i = 0; i <= timeline->workers_here; i++) {
        struct eki_track *track = &timeline->tracks[i];
        track->room = i < timeline->workers_here ? events : SERVER_ROOM;
        track->events =
            eki_alloc_untouched((size_t)track->room * sizeof *track->events);
        track->number = i;
        track->timeline = timeline;
        track->write = write_if_due;
        if (!track->events)
            return false;
    }
    return true;
}

ek_status eki_timeline_open(const struct eki_timeline_setup *setup,
                            uint64_t now, struct eki_timeline **made)
{
    char path[1200];
    EKI_TRY(make_path(setup, path, sizeof path));
    size_t tracks = (size_t)setup->workers_here + 1;
    struct eki_timeline *timeline =
        eki_alloc(1, sizeof *timeline + tracks * sizeof *timeline->tracks);
    if (!timeline)
        return eki_error(EK_ERR_NOMEM, "no memory for the timeline");
    timeline->workers_here = setup->workers_here;
    ek_status status =
        open_tracks(timeline, setup->events ? setup->events : EKI_TRACK_ROOM)
            ? eki_sealed_create(&timeline->out, path)
            : eki_error(EK_ERR_NOMEM, "no memory for the timeline");
    if (status == EK_OK)
        status = write_head(timeline, setup);
    if (status != EK_OK) {
        eki_sealed_finish(&timeline->out);
        free_timeline(timeline);
        return status;
    }
    eki_timeline_start(timeline, now);
    *made = timeline;
    return EK_OK;
}

bool eki_timeline_flush(struct eki_timeline *timeline, uint64_t now)
{
    if (now < timeline->written + soon_ns(timeline))
        return false;
    timeline->written = now;
    for (int i = 0; i <= timeline->workers_here; i++)
        write_track(&timeline->tracks[i], now);
    return true;
}

void eki_timeline_stop(struct eki_timeline *timeline, uint64_t now)
{
    for (int i = 0; timeline->is_on && i <= timeline->workers_here; i++) {
        struct eki_track *track = &timeline->tracks[i];
        eki_track_state(track, EKI_EVENT_OUTSIDE, -1, 0, now, 0);
        eki_track_state(track, EKI_EVENT_GONE, -1, 0, now + 1, 0);
        track->since = now;
        write_track(track, now);
    }
    timeline->is_on = false;
}

ek_status eki_timeline_close(struct eki_timeline **made, uint64_t now)
{
    struct eki_timeline *timeline = *made;
    *made = NULL;
    eki_timeline_stop(timeline, now);
    write_block(timeline, EKI_BLOCK_END, "", 0);
    ek_status status = eki_sealed_finish(&timeline->out);
    const char *failure = eki_timeline_failure(timeline);
    if (failure)
        status = eki_error(EK_ERR_FILE, "%s", failure);
    free_timeline(timeline);
    return status;
}

void eki_timeline_function(struct eki_timeline *timeline, const char *name)
{
    unsigned char body[EKI_FUNCTION_BODY];
    eki_function_body(body, timeline->functions++, name);
    write_block(timeline, EKI_BLOCK_FUNCTION, body, sizeof body);
}

void eki_timeline_clock(struct eki_timeline *timeline,
                        const struct eki_timeline_clock *clock)
{
    unsigned char body[EKI_TIMELINE_CLOCK];
    eki_put(body + EKI_TIMELINE_CLOCK_AT, clock->at, 8);
    eki_put(body + EKI_TIMELINE_CLOCK_OFFSET, (uint64_t)clock->offset, 8);
    eki_put(body + EKI_TIMELINE_CLOCK_ERROR, clock->error, 8);
    write_block(timeline, EKI_BLOCK_CLOCK, body, sizeof body);
}

void eki_timeline_iteration(struct eki_timeline *timeline,
                            const struct eki_timeline_iteration *iteration)
{
    unsigned char body[EKI_TIMELINE_ITERATION] = {0};
    eki_put(body + EKI_TIMELINE_ITERATION_NUMBER, (uint64_t)iteration->number,
            8);
    eki_put(body + EKI_TIMELINE_ITERATION_ENTERED, iteration->entered, 8);
    eki_put(body + EKI_TIMELINE_ITERATION_LEFT, iteration->left, 8);
    eki_put(body + EKI_TIMELINE_ITERATION_LONGEST, iteration->longest, 8);
    body[EKI_TIMELINE_ITERATION_STATUS] = (unsigned char)-iteration->status;
    body[EKI_TIMELINE_ITERATION_RESTORE] = (unsigned char)iteration->restore;
    body[EKI_TIMELINE_ITERATION_STEAL] = (unsigned char)iteration->steal;
    write_block(timeline, EKI_BLOCK_ITERATION, body, sizeof body);
}
