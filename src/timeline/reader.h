/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading timelines: the files of the ranks of a collection, as one.
 *
 * Opening goes through each file once and remembers where its blocks are; their
 * events are read when somebody walks over a track, a block at a time.
 *
 * Threads: one at a time for each timeline.
 */
#ifndef EKI_TIMELINE_READER_H
#define EKI_TIMELINE_READER_H

#include "base/sealed.h"
#include "timeline/track.h"

/* What no file has: before an iteration the part of OUTSIDE for which the
 * workers of a rank were late. */
#define EKI_EVENT_LATE EKI_EVENT_KINDS
#define EKI_EVENT_KINDS_READ (EKI_EVENT_KINDS + 1)

/* By the rank's own clock; its workers were late from LATE_NS on. */
struct eki_timelines_iteration {
    int64_t number, late_ns, entered_ns, left_ns;
};

/* Rank 0's clock is that of the rank and OFFSET. */
struct eki_timelines_clock {
    int64_t at_ns, offset_ns;
};

/* Events of a track: COUNT of them from byte AT on, in its own clock. */
struct eki_timelines_block {
    int64_t at, count, base_ns, end_ns;
    int track;
};
#define EKI_TIMELINE_EVENT ((int64_t)sizeof(struct eki_event))

/* The file of a rank. */
struct eki_timelines_file {
    char *path; /* owned; NULL: there is none */
    int rank, first, here;
    char host[EKI_BLOCK_NAME];
    bool is_complete;
    int64_t dropped;  /* points that merging has dropped */
    int64_t error_ns; /* of its clock; -1: not known */
    struct eki_timelines_iteration *iterations; /* [iteration_count] */
    int64_t iteration_count;

    /* Only the reader uses these. */
    struct eki_timelines_clock *clocks;
    struct eki_timelines_block *blocks;
    int64_t clock_count, block_count;
    int64_t iteration_room, clock_room, block_room;
};

struct eki_timelines {
    uint64_t job;
    int ranks, workers;
    char name[EKI_BLOCK_NAME];        /* of the collection */
    struct eki_timelines_file *files; /* [ranks] */
    int present;                      /* how many of them there are ... */
    int early;                        /* ... and end early ... */
    char warning[256];                /* ... in words, the first of these */
    int function_count;
    char (*functions)[EKI_BLOCK_NAME];
    int64_t function_room;
    int64_t begin_ns, end_ns; /* of rank 0's clock */
};

/* A state, or a part of one: they are cut where an iteration ends.  A point
 * ends where it begins, and comes behind the state in which it is.  Times are
 * those of rank 0's clock. */
struct eki_timelines_span {
    int64_t begin_ns, end_ns;
    int kind, function; /* -1: none */
    bool goes_on;       /* see struct eki_event */
    uint64_t value;
    /* In which iteration, or before its entry; NULL: behind the last one. */
    const struct eki_timelines_iteration *iteration;
};
typedef void eki_timelines_fn(void *context,
                              const struct eki_timelines_span *span);

/*
 * Add the file PATH to a timeline, which is zeroed before its first.
 * EK_ERR_FILE: it cannot be read, is no timeline, is damaged or is not of the
 * same run; the message names the byte.  Also on failure the timeline is to be
 * closed.
 */
ek_status eki_timelines_add(struct eki_timelines *timeline, const char *path);
void eki_timelines_close(struct eki_timelines *timeline);

/* Visit what is on a track of a file, in order; track HERE is the server.
 * EK_ERR_FILE, EK_ERR_NOMEM. */
ek_status eki_timelines_walk(const struct eki_timelines_file *file, int track,
                             eki_timelines_fn *visit, void *context);
/* A time of the rank's own clock in that of rank 0. */
int64_t eki_timelines_time(const struct eki_timelines_file *file,
                           int64_t at_ns);

#endif
