/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the bytes of a timeline are: docs/reference/file-formats.md as numbers.
 * For this module only.
 */
#ifndef EKI_TIMELINE_LAYOUT_H
#define EKI_TIMELINE_LAYOUT_H

#include "base/sealed.h"

#define EKI_TIMELINE_MAGIC "EKTIMELN"
#define EKI_TIMELINE_VERSION 1

/* Times are nanoseconds of the rank's own clock. */
enum {
    /* File header, then its CRC. */
    EKI_TIMELINE_HEAD_JOB = 16,     /* a number that all files of it have */
    EKI_TIMELINE_HEAD_RANKS = 24,   /* of the job ... */
    EKI_TIMELINE_HEAD_WORKERS = 28, /* ... and workers */
    EKI_TIMELINE_HEAD_RANK = 32,    /* whose file this is ... */
    EKI_TIMELINE_HEAD_NODE = 36,    /* ... its node ... */
    EKI_TIMELINE_HEAD_FIRST = 40,   /* ... its first worker ... */
    EKI_TIMELINE_HEAD_HERE = 44,    /* ... and number of workers */
    EKI_TIMELINE_HEAD_NAME = 48,    /* of the collection */
    EKI_TIMELINE_HEAD_HOST = 112,   /* name, may be empty */
    EKI_TIMELINE_HEAD = 176,

    /* Bodies.  A clock: what that of rank 0's host says at AT is AT + OFFSET
     * (signed), give or take ERROR; of rank 0, too. */
    EKI_TIMELINE_CLOCK_AT = 0,
    EKI_TIMELINE_CLOCK_OFFSET = 8,
    EKI_TIMELINE_CLOCK_ERROR = 16,
    EKI_TIMELINE_CLOCK = 24,

    /* An iteration that has ended.  Before its entry, its rank was late for
     * LONGEST - (LEFT - ENTERED). */
    EKI_TIMELINE_ITERATION_NUMBER = 0,
    EKI_TIMELINE_ITERATION_ENTERED = 8,
    EKI_TIMELINE_ITERATION_LEFT = 16,
    EKI_TIMELINE_ITERATION_LONGEST = 24, /* stay of a rank; 0: not known */
    EKI_TIMELINE_ITERATION_STATUS = 32,  /* - ek_status */
    EKI_TIMELINE_ITERATION_RESTORE = 33, /* ek_restore_policy before it */
    EKI_TIMELINE_ITERATION_STEAL = 34,   /* ek_steal_policy */
    EKI_TIMELINE_ITERATION_ZERO = 35,
    EKI_TIMELINE_ITERATION = 40,

    /* Events of a track, in order: tracks 0 ... HERE - 1 are workers, track
     * HERE is the server.  Blocks of a track follow each other in time. */
    EKI_TIMELINE_TRACK_NUMBER = 0,   /* 4 bytes, then 4 zeros */
    EKI_TIMELINE_TRACK_BASE = 8,     /* time 0 of its events */
    EKI_TIMELINE_TRACK_END = 16,     /* where the last state ends */
    EKI_TIMELINE_TRACK_DROPPED = 24, /* points that merging has dropped */
    EKI_TIMELINE_TRACK_HEAD = 32     /* then struct eki_event, 16 bytes each */
};

enum {
    EKI_BLOCK_CLOCK = 0x4b434c43, /* "CLCK" */
    EKI_BLOCK_TRACK = 0x4b435254  /* "TRCK" */
};

#endif
