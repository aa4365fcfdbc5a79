/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timeline: the tracks of a rank, and the file that they go to.
 *
 * Where the file cannot be written what comes is dropped: the job goes on.
 *
 * Threads: one at a time, while nobody has a track.
 */
#ifndef EKI_TIMELINE_TIMELINE_H
#define EKI_TIMELINE_TIMELINE_H

#include "base/sealed.h"
#include "timeline/track.h"

/* Whose timeline it is. */
struct eki_timeline_setup {
    const char *folder, *name; /* of the collection */
    uint64_t job;              /* a number that no other job has */
    int rank, size, workers, node, first_worker, workers_here;
    int64_t events; /* of a track in memory; 0: EKI_TRACK_ROOM */
    bool has_host;  /* whose name is told */
};

struct eki_timeline {
    struct eki_sealed_out out;
    _Atomic int lock; /* of the file */
    _Atomic bool has_failed;
    bool is_on; /* the tracks have begun, and not ended */
    char failure[600];
    int workers_here;
    int functions;             /* that are named in the file */
    uint64_t written;          /* when the calling thread has written last */
    struct eki_track tracks[]; /* of workers; then that of the server */
};

/* Make the folder, if it is missing, and the file, whose tracks begin at NOW.
 */
ek_status eki_timeline_open(const struct eki_timeline_setup *setup,
                            uint64_t now, struct eki_timeline **made);
/* End the tracks at NOW, and the file; EK_ERR_FILE: not all of it is written.
 */
ek_status eki_timeline_close(struct eki_timeline **made, uint64_t now);

/* All tracks are in STATE until NOW. */
void eki_timeline_all(struct eki_timeline *timeline, enum eki_event_kind state,
                      uint64_t now);
/* The tracks end at NOW; they begin again. */
void eki_timeline_stop(struct eki_timeline *timeline, uint64_t now);
void eki_timeline_start(struct eki_timeline *timeline, uint64_t now);

/* What the clock of the first host says at AT, give or take ERROR. */
struct eki_timeline_clock {
    uint64_t at;
    int64_t offset; /* to be added to AT */
    uint64_t error;
};

struct eki_timeline_iteration {
    int64_t number;
    uint64_t entered, left, longest;
    ek_status status;
    int restore, steal;
};

/* Name the next function. */
void eki_timeline_function(struct eki_timeline *timeline, const char *name);
void eki_timeline_clock(struct eki_timeline *timeline,
                        const struct eki_timeline_clock *clock);
void eki_timeline_iteration(struct eki_timeline *timeline,
                            const struct eki_timeline_iteration *iteration);
/* Write all tracks, unless that was done within the last second, with many
 * workers some seconds; false: it was. */
bool eki_timeline_flush(struct eki_timeline *timeline, uint64_t now);

/* Why no more is written; NULL: it is. */
static inline const char *
eki_timeline_failure(const struct eki_timeline *timeline)
{
    /* acquire: pairs with the release of who has failed: the words. */
    return atomic_load_explicit(&timeline->has_failed, memory_order_acquire)
               ? timeline->failure
               : NULL;
}

#endif
