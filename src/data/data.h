/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data: tasks whose data lies with an owner rank, their home, and the protocol
 * by which it travels to where they run, and their results home.
 *
 *     away's server -> home's   ASK     the task's slot
 *     home's server -> away's   INPUT   struct eki_data_words, and bytes
 *     away's server -> home's   RESULT  the slot, and bytes where all fit; or
 *                                       the slot alone, then, when they are
 *     home's server -> away's   GIVE    ... called for, bytes
 *     home's server -> away's   KEPT    the result is unpacked; instead of a
 *                                       GIVE: it is lost
 *
 * head.worker: who is away; head.first: number of its operation; head.count:
 * bytes of INPUT and RESULT; head.detail: of these: their offset, or
 * enum eki_result; of ASK: 1: the rank becomes the home.
 *
 * The task that begins asks, and stages those that its worker takes next: they
 * are not published (task/task.h), so that each task asks once in a phase, and
 * only who runs it.  A worker whose results are not KEPT is not idle: the phase
 * does not end before.
 *
 * In a restore that follows, each rank asks for the data of all its seeds whose
 * home is elsewhere, and becomes their home.
 *
 * Bytes.  A part of the budget is for what this rank gives and keeps as a home,
 * the rest in equal parts for its workers; each of them asks for no more than
 * fits, with room for the result of what runs.
 *
 * Threads.  begin, object: the worker's.  Callbacks: whoever steps the server,
 * or the worker.  All others: the calling thread between phases.
 */
#ifndef EKI_DATA_H
#define EKI_DATA_H

#include "engine/engine.h"

#include <evenkeel_data.h>

enum {
    EKI_KIND_ASK = EKI_KIND(EKI_CHANNEL_DATA), /* to the home; slot */
    EKI_KIND_INPUT,  /* to who has asked; struct eki_data_words */
    EKI_KIND_RESULT, /* to the home; slot, or a piece */
    EKI_KIND_GIVE,   /* to who has a result: send the rest */
    EKI_KIND_KEPT    /* to who has sent it: it is unpacked, or lost */
};

enum {
    EKI_STAGED_MOST = 32,  /* tasks that a worker asks for ahead */
    EKI_DATA_OPS_MOST = 64 /* of a worker: inputs, and results on their way */
};

#define EKI_DATA_BUDGET_BYTES ((int64_t)64 << 20)

struct eki_data_setup {
    /* Before and after each call of the program, or NULL: one at a time, timed.
     * WORKER: who runs the task, whose stamp is shifted by what that takes;
     * NULL: the server. */
    void (*enter)(void *user);
    void (*leave)(void *user, struct ek_worker *worker);
    void *user;
    int64_t budget_bytes; /* of this rank; 0: EKI_DATA_BUDGET_BYTES, or what is
                             needed */
    /* Else sizes alone travel: buffers are NULL, objects are not. */
    bool has_bytes;
};

/* Of a rank and a phase. */
struct eki_data_counts {
    int64_t travelled; /* tasks that ran here, away from home, or followed */
    int64_t bytes_in, bytes_out; /* their inputs and results */
    int64_t bytes_most;          /* held at a time */
    int64_t lost;                /* results for which homes had no memory */
};

/* Tasks of ENGINE may have data from its next phase on; once, and the same on
 * all ranks.  It belongs to the engine. */
ek_status eki_data_join(struct eki_engine *engine,
                        const struct eki_data_setup *setup);
/* Tasks of FUNCTION have data, with these OPS, which are copied: EK_ERR_ARG:
 * bytes_max does not fit the budget. */
ek_status eki_data_set(struct eki_engine *engine, int function,
                       const ek_data_ops *ops);
/* Of FUNCTION; NULL: its tasks have none. */
const ek_data_ops *eki_data_ops_of(const struct eki_engine *engine,
                                   int function);

/* Make OPS that copy blocks of at most BYTES_MAX, without a block yet; false:
 * no memory.  eki_data_set() takes them over, or eki_blocks_close() frees them.
 */
bool eki_blocks_open(size_t bytes_max, ek_data_ops *ops);
/* Of other OPS there is nothing to free. */
void eki_blocks_close(const ek_data_ops *ops);
bool eki_are_blocks(const ek_data_ops *ops);
/* Where the block with this INDEX is, 0 or more, while no phase is open; false:
 * no memory. */
bool eki_blocks_set(const ek_data_ops *ops, int64_t index, void *address,
                    size_t bytes);
/* The task that WORKER has taken begins at home: whether it has its block, if
 * its function has blocks; false: eki_worker_fail() has been called. */
bool eki_block_begin(struct ek_worker *worker);

/* What came of the beginning of a task. */
enum eki_data_begun {
    EKI_DATA_HOME,  /* it runs where its data is, or has none: run it */
    EKI_DATA_READY, /* its input is here and unpacked: run it */
    EKI_DATA_WAITS, /* let the server step, and call again */
    EKI_DATA_FAILED /* eki_worker_fail() has been called: do not run it */
};

/*
 * The task, or index of a range, that WORKER has taken begins; before it runs,
 * until it waits no more.  Its end needs no call: EKI_MARK_DATA does it (see
 * end_task in engine/protocol.h), before the marks of the task are looked at.
 * While it waits its worker may publish, and who waits shifts batch.stamp.
 */
enum eki_data_begun eki_data_begin(struct ek_worker *worker, uint64_t now);
/* What unpack_input has made for the task that runs, or its block at home;
 * NULL: it has none there. */
void *eki_data_object(const struct ek_worker *worker);
/* Bytes of its input, or of its block. */
int64_t eki_data_input_bytes(const struct ek_worker *worker);

/* The next phase, a restore without a wish, brings the data of all seeds whose
 * home is elsewhere here (data of ranges stays).  Needs setup.has_homes of the
 * engine: a slot has room for a home then. */
void eki_data_follow(struct eki_engine *engine);

/* Bytes of the data of a task that has travelled. */
struct eki_data_size {
    uint64_t id; /* of the task */
    uint32_t input, result;
};

/* Those of the tasks that WORKER has run in the last process, in the order of
 * their ids, if it keeps discarded ones for a recording; how many. */
int64_t eki_data_sizes(const struct ek_worker *worker,
                       const struct eki_data_size **sizes);
/* Of one of them; NULL: it is not among these. */
const struct eki_data_size *eki_data_size_of(const struct eki_data_size *sizes,
                                             int64_t count, uint64_t id);

/* Of the last phase. */
struct eki_data_counts eki_data_counts_of(const struct eki_engine *engine);
/* Bytes that a message would carry besides, where sizes alone travel. */
int64_t eki_data_carried_bytes(const struct eki_engine *engine,
                               const struct eki_head *head);
/* Broken invariant of what is under way, as text, or NULL; while nobody steps
 * the engine. */
const char *eki_data_check(const struct eki_engine *engine);

#endif
