/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the bytes of a record are: docs/reference/file-formats.md as numbers;
 * and what the files that read it share.  For this module only.
 */
#ifndef EKI_RECORD_LAYOUT_H
#define EKI_RECORD_LAYOUT_H

#include "base/sealed.h"
#include "record/record.h"

#define EKI_RECORD_MAGIC "EKRECORD"

enum {
    /* File header, then its CRC. */
    EKI_HEADER_RANKS = 16,
    EKI_HEADER_WORKERS = 20,
    EKI_HEADER_NAME = 24,
    EKI_HEADER_RANK_WORKERS = 88,

    EKI_ABOUT_MOST = 65536, /* bytes of the text about a job */

    /* Bodies: of the data of a function (from version 2 on), ... */
    EKI_DATA_FUNCTION = 0,
    EKI_DATA_BYTES_MAX = 4,
    EKI_DATA_BODY = 12,

    /* ... of the key base (from version 6 on), ... */
    EKI_KEY_BASE_BODY = 4,

    /* ... of an iteration, which workers with their tasks follow, ... */
    EKI_ITERATION_NUMBER = 0,
    EKI_ITERATION_WALL = 8,
    EKI_ITERATION_STATUS = 16,
    EKI_ITERATION_RESTORE = 17,
    EKI_ITERATION_STEAL = 18,
    EKI_ITERATION_ORDER = 19,
    EKI_ITERATION_ON_FAILURE = 20,
    EKI_ITERATION_STOPPED = 21, /* before version 6: 0 */
    EKI_ITERATION_ZERO = 22,
    EKI_ITERATION_HEAD = 24,

    EKI_WORKER_COUNT = 0,
    EKI_WORKER_EXECUTED = 8,
    EKI_WORKER_NULLS = 16,
    EKI_WORKER_FAILED = 24,
    EKI_WORKER_CANCELLED = 32,
    EKI_WORKER_WORK = 40,
    EKI_WORKER_NULL = 48,
    EKI_WORKER_HEAD_FIRST = 56,
    /* From version 3 on. */
    EKI_WORKER_FAMILIES = 56,
    EKI_WORKER_HEAD_FAMILIES = 64,
    /* From version 6 on. */
    EKI_WORKER_SPANS = 64,
    EKI_WORKER_HEAD = 72,

    EKI_TASK_ID = 0,
    EKI_TASK_FUNCTION = 8,
    EKI_TASK_BIN = 10,
    EKI_TASK_FLAGS = 12,
    EKI_TASK_BYTES_FIRST = 13,
    EKI_TASK_GAP = 13, /* from version 5 on */
    EKI_TASK_BYTES = 15,
    /* Behind that, where the flags say so (from version 2 on). */
    EKI_TASK_INPUT = 0,
    EKI_TASK_RESULT = 4,
    EKI_TASK_SIZES = 8,
    /* ... and then a byte, the length, and so many bytes (version 5). */

    /* ... with the families (from version 3 on) behind the tasks of a worker,
     */
    EKI_FAMILY_PARENT = 0,
    EKI_FAMILY_FIRST = 8,
    EKI_FAMILY_COUNT = 16,
    EKI_FAMILY_BYTES = 24,

    /* ... and its spans (from version 6 on) behind these, ... */
    EKI_SPAN_FIRST = 0,
    EKI_SPAN_COUNT = 8,
    EKI_SPAN_PLACE = 16,
    EKI_SPAN_FUNCTION = 24,
    EKI_SPAN_BYTES = 26,

    /* ... and of the end. */
    EKI_END_ITERATIONS = 0,
    EKI_END_BODY = 8
};

enum {
    EKI_BLOCK_ABOUT = 0x554f4241, /* "ABOU" */
    EKI_BLOCK_DATA = 0x41544144,  /* "DATA" */
    EKI_BLOCK_BASE = 0x45534142   /* "BASE" */
};

/* Bytes of the head of a worker. */
static inline int eki_worker_head(int version)
{
    if (version > EKI_RECORD_VERSION_STARTS)
        return EKI_WORKER_HEAD;
    return version > EKI_RECORD_VERSION_DATA ? EKI_WORKER_HEAD_FAMILIES
                                             : EKI_WORKER_HEAD_FIRST;
}

/* Bytes of a task, without the sizes of its data. */
static inline int eki_task_bytes(int version)
{
    return version > EKI_RECORD_VERSION_HELD ? EKI_TASK_BYTES
                                             : EKI_TASK_BYTES_FIRST;
}

/* NS after a moment; there is a last one. */
static inline uint64_t eki_moment_after(uint64_t at_ns, uint64_t ns)
{
    return ns < INT64_MAX - at_ns ? at_ns + ns : INT64_MAX;
}

/* When a task that began at START_NS has ended, as far as its record tells: a
 * cost that it has set says nothing of that. */
static inline uint64_t eki_task_end_ns(uint64_t start_ns, uint64_t duration_ns,
                                       int flags)
{
    return flags & EKI_RECORD_COSTED ? start_ns
                                     : eki_moment_after(start_ns, duration_ns);
}

/* Where the block of an iteration is. */
struct eki_record_block {
    int64_t at, bytes; /* of its body */
    int functions;     /* named before this block */
};

#endif
