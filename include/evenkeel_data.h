/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that travels: tasks run anywhere, and their data goes with them.
 *
 * A task's *home* is the rank that added it, or that spawned it.  The home has
 * the task's data, and finds it by the payload.  At home the task uses this
 * data in place, and no callback runs.  *Away* the task gets an *input* before
 * it runs, and its *result* goes home afterwards.  ek_process() returns when
 * all results of all ranks are unpacked.
 *
 * A task that fails, skips, is discarded or is cancelled away returns no
 * result: the data at home stays as it was.  If the home has no memory for a
 * result, the task has failed: ek_process() returns EK_ERR_NOMEM, or counts the
 * failure with on_failure=continue.
 *
 * With the option data=follow ek_restore() moves each task's data for good, to
 * the rank where the task starts: its new home.  Options of data are set as
 * text: ek_options_set(&options, "data", "follow"), or EVENKEEL_DATA=follow.
 * The option data_bytes bounds what a rank holds for others.
 *
 * docs/how-to/let-data-travel.md says how to use all this.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_DATA_H
#define EVENKEEL_DATA_H

#include <evenkeel_task.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returned by a pack callback that fails: its task fails, too. */
#define EK_DATA_FAILED ((size_t)-1)

/**
 * Callbacks by which the data of a function's tasks travels.
 *
 * They run one at a time on a rank, on any thread, beside running tasks, and
 * must not call the library.  At home they use the data of their own task only,
 * which no other code uses in that iteration.  Buffers to write have bytes_max
 * bytes; a task fails if its callback returns more, or EK_DATA_FAILED.
 */
typedef struct ek_data_ops {
    size_t struct_bytes; /**< Set by EK_DATA_OPS_INIT. */
    size_t bytes_max;    /**< Longest input or result: 0 ... 2^30. */

    /** At home, at most once per task and iteration: write the input to
     * @p buffer, and return its length.  Required. */
    size_t (*pack_input)(const ek_task *task, void *buffer, void *context);

    /** Away, before the task: return the object that ek_task_data() returns, or
     * NULL if the task fails.  The task may use @p buffer until it ends:
     * bytes_max bytes, aligned to 64.  Without this callback the object is
     * @p buffer. */
    void *(*unpack_input)(const ek_task *task, void *buffer, size_t bytes,
                          void *context);

    /** Away, after the task: write the result to @p buffer, free the @p object,
     * and return the length.  If @p buffer is NULL, only free the object.
     * Without this callback the result is the input's buffer. */
    size_t (*pack_result)(const ek_task *task, void *object, void *buffer,
                          void *context);

    /** At home: take the result.  At a new home (task->is_new): take what
     * pack_input wrote at the old one.  Without this callback there are no
     * results. */
    void (*unpack_result)(const ek_task *task, const void *buffer, size_t bytes,
                          void *context);

    /** At the old home: forget the data, which has left.  data=follow requires
     * this callback and unpack_result. */
    void (*release)(const ek_task *task, void *context);

    void *context; /**< Of this rank; passed to all; borrowed. */
} ek_data_ops;

/** Defaults of ek_data_ops. */
#define EK_DATA_OPS_INIT EK_INIT(ek_data_ops)

/**
 * Let the data of a function's tasks travel.
 *
 * All ranks set the same bytes_max and the same callbacks; the next collective
 * call finds differences.
 * @param[in] function  From ek_register(); once for each.
 * @param[in] ops       Copied.
 * @retval EK_ERR_ARG    Unknown function, one that has data already, bytes_max
 *                       out of range or too large for option data_bytes, or a
 *                       missing callback.
 * @retval EK_ERR_STATE  An iteration is open.
 * Call:    Local; before tasks of the function are added.
 * Threads: One at a time.
 * Cost:    At home 0.1 us per task; away a round trip and the bytes.
 */
EK_API ek_status ek_set_data_ops(ek_collection *tasks, ek_function function,
                                 const ek_data_ops *ops);

/**
 * Let the data of a function's tasks be one block of bytes each.
 *
 * In place of ek_set_data_ops(): the library copies a task's block to where the
 * task runs, and the same number of bytes back.  The payload of a task begins
 * with its index, an int64_t of 0 or more.  A task fails if its home has no
 * block for this index.  ek_task_data() returns the block itself at home, and a
 * copy away, aligned to 64 bytes.
 * @param[in] function   From ek_register(); once for each.
 * @param[in] bytes_max  Longest block: 0 ... 2^30; the same on all ranks.
 * @retval EK_ERR_ARG    As ek_set_data_ops(), or the option data is follow.
 * @retval EK_ERR_STATE  An iteration is open.
 * Call:    Local; before tasks of the function are added.
 * Threads: One at a time.
 * Cost:    As ek_set_data_ops().
 */
EK_API ek_status ek_set_data_blocks(ek_collection *tasks, ek_function function,
                                    size_t bytes_max);

/**
 * Say where the block with an index is on this rank, the home of its task.
 *
 * What the call says holds until the next call for this index: call again when
 * the block has moved, or has another length.  A block may be empty: @p address
 * NULL, 0 bytes.
 * @param[in] index    0 or more.
 * @param[in] address  Borrowed.
 * @param[in] bytes    0 ... bytes_max of ek_set_data_blocks().
 * @retval EK_ERR_ARG    A bad argument, or @p function has no blocks.
 * @retval EK_ERR_STATE  An iteration is open.
 * @retval EK_ERR_NOMEM  No memory for all indices from the lowest to @p index.
 * Call:    Local; between iterations.
 * Threads: One at a time.
 * Cost:    Some 10 ns; memory: 16 bytes for each index from the lowest to the
 *          highest that this rank has set, and half as many ahead.
 */
EK_API ek_status ek_set_block(ek_collection *tasks, ek_function function,
                              int64_t index, void *address, size_t bytes);

/**
 * Data of the running task.
 * @return Away, what unpack_input returned, valid until the task ends.  At
 *         home, the task's block.  NULL: the task is at home and has no block,
 *         or its function has no data.
 * Call:    From a running task, or after the ek_next() that fetched it.
 * Threads: The one that runs the task.
 */
EK_API void *ek_task_data(const ek_worker *worker);

/** Length of the running task's input, as pack_input returned it, or of its
 * block; 0 if ek_task_data() returns NULL.  Call and threads: as
 * ek_task_data(). */
EK_API size_t ek_task_data_bytes(const ek_worker *worker);

/**
 * Allocate memory that all ranks of a node see.
 *
 * Each rank has a part of its own, and reaches those of others by
 * ek_shared_at().  ek_process() orders memory: no task begins before all ranks
 * of the node are in the call, and what they wrote before is seen by all tasks.
 * What tasks wrote is seen by all after the call.  The same holds for
 * ek_begin() and ek_end().  A task sees no memory of other nodes:
 * docs/how-to/share-memory.md says how to keep tasks on their node.
 * @param[in]  bytes  0 or more; ranks may differ.
 * @param[out] mine   This rank's part: zeroed, aligned to 128 bytes; freed by
 *                    ek_destroy().
 * @retval EK_ERR_ARG    @p mine is NULL, or @p bytes is too large.
 * @retval EK_ERR_STATE  The collection has such memory already, or an iteration
 *                       is open.
 * @retval EK_ERR_NOMEM  A node has no room.
 * Call:    Collective, synchronizing; once for a collection, between
 *          iterations.
 * Threads: One per rank, outside parallel regions.
 * Cost:    Memory O(p) beside @p bytes.  Each iteration waits at its beginning
 *          for the ranks of the node.
 */
EK_API ek_status ek_shared_alloc(ek_collection *tasks, size_t bytes,
                                 void **mine);

/**
 * The part of a rank, as this rank sees it.
 * @param[in] rank  Of the collection's communicator.
 * @return Borrowed.  NULL: @p rank is on another node, or nothing is allocated.
 * Call:    Local.
 * Threads: Any.
 */
EK_API void *ek_shared_at(const ek_collection *tasks, int rank);

#ifdef __cplusplus
}
#endif
#endif
