/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * track: what a worker, or the server of a rank, did and when.
 *
 * A track is a list of events of 16 bytes in order of time.  States follow each
 * other without gap or overlap: an event says when a state begins, and the next
 * one ends it.  Points have no length.
 *
 * Memory is bounded: when a track is full, its older half is merged.  Merging
 * joins equal states of a window into one, so that the sums of states and the
 * numbers of tasks stay, and drops points, which are counted.
 *
 * Threads: one at a time for each track.
 */
#ifndef EKI_TIMELINE_TRACK_H
#define EKI_TIMELINE_TRACK_H

#include "base/base.h"

/* A kind of event.  Numbers are those of the file: new ones come behind. */
enum eki_event_kind {
    /* States. */
    EKI_EVENT_OUTSIDE, /* outside of all calls */
    EKI_EVENT_RESTORE, /* in ek_restore() */
    EKI_EVENT_START,   /* in ek_process(), before its first step */
    EKI_EVENT_TASK,    /* value: the task's id */
    EKI_EVENT_TASKS,   /* a batch; value: their number */
    EKI_EVENT_BETWEEN, /* it handles tasks, or serves other nodes */
    EKI_EVENT_LOOK,    /* without tasks, it looks for some */
    EKI_EVENT_AWAIT,   /* ... and an answer is on its way; value: of which rank
                        */
    EKI_EVENT_DATA,    /* it waits for the input of a task; value: its id */
    EKI_EVENT_TILES,   /* a task waits for tiles; value: its id */
    EKI_EVENT_END,     /* it waits for the end */
    EKI_EVENT_STARVED, /* of the task before it: without a core */
    EKI_EVENT_LEAVE,   /* in ek_process(), behind its last step: report ... */
    EKI_EVENT_GONE,    /* the track ends here, or in this block */
    /* Points. */
    EKI_EVENT_STEAL = 16, /* value: tasks, from worker */
    EKI_EVENT_REQUEST,    /* value: to rank, or the first of its node */
    EKI_EVENT_ANSWER,     /* value: tasks, from rank; 0, of a server: denied */
    EKI_EVENT_PUBLISH,    /* value: tasks */
    EKI_EVENT_WAVE,       /* value: its number */
    EKI_EVENT_SERVE,      /* a step of the server; value: messages */
    EKI_EVENT_STAGE,      /* of a rebalance; value: enum eki_parcel_kind */
    EKI_EVENT_PARCEL,     /* value: bytes, from rank */
    EKI_EVENT_KINDS
};

/*
 * One event, as in the file: bits 0 ... 43 of the head are nanoseconds since
 * the base of the track's block, 44 ... 48 the kind, 49 ... 62 the function of
 * a task + 1 (0: none), 63 that a task or batch goes on that was interrupted:
 * its value counts no task.
 */
struct eki_event {
    uint64_t head, value;
};

enum {
    EKI_EVENT_KIND_AT = 44,
    EKI_EVENT_FUNCTION_AT = 49,
    EKI_EVENT_MORE_AT = 63,
    EKI_EVENT_FUNCTION_MOST = (1 << 14) - 2 /* larger ones are told as this */
};
#define EKI_EVENT_TIME (((uint64_t)1 << EKI_EVENT_KIND_AT) - 1)

/* A value of two numbers: a count below 2^40, and of whom, below 2^24. */
static inline uint64_t eki_event_pair(uint64_t count, int who)
{
    return count << 24 | (uint32_t)who;
}

static inline enum eki_event_kind
eki_event_kind_of(const struct eki_event *event)
{
    return (enum eki_event_kind)(event->head >> EKI_EVENT_KIND_AT & 31);
}

/* Also of kinds that no file has. */
static inline bool eki_event_is_point(int kind)
{
    return kind >= EKI_EVENT_STEAL && kind < EKI_EVENT_KINDS;
}

enum {
    EKI_TRACK_ROOM = 32768 /* events in memory: 512 KiB */
};

struct eki_timeline;

/* Many members: those of the events, and those of their way to the file. */
struct eki_track {
    struct eki_event *events; /* [count] of [room]; owned */
    int64_t count, room;
    uint64_t base;    /* time 0 of the events */
    uint64_t since;   /* where the last state ends */
    uint64_t dropped; /* points, by merging */
    int64_t counted; /* tasks that run, or are not timed yet, and have events */
    uint64_t told;   /* of their time, by these */
    uint64_t due;    /* when the events are to be written */
    int number;
    /* Write the events to the file of the timeline; IS_FULL: or leave them to
     * be merged. */
    void (*write)(struct eki_track *track, uint64_t now, bool is_full);
    struct eki_timeline *timeline;
};

/* A state of a task's FUNCTION (-1: none) ends: it lasted from BEGIN, or where
 * the last state ended, to END.  Before it, the worker was BETWEEN. */
void eki_track_state(struct eki_track *track, enum eki_event_kind kind,
                     int function, uint64_t begin, uint64_t end,
                     uint64_t value);
/* N tasks have ended at END, which began at BEGIN: ID is the last of them;
 * none: what was last lasts until then ... */
void eki_track_tasks(struct eki_track *track, int function, uint64_t id,
                     int64_t n, uint64_t begin, uint64_t end);
/* ... or is interrupted there, and goes on later.  Its begin moves by what is
 * not its own. */
void eki_track_cut(struct eki_track *track, int function, uint64_t id,
                   int64_t n, uint64_t begin, uint64_t end);
/* Something happened at NOW, or when the last state ended if that is later. */
void eki_track_point(struct eki_track *track, enum eki_event_kind kind,
                     uint64_t now, uint64_t value);

#endif
