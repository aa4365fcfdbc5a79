/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that travels: tasks whose data lies with an owner rank run anywhere.
 *
 * For codes whose boxes, columns or particles belong to a rank each.  A task's
 * payload says which one it is; its *home* is the rank that added it, and has
 * its data.  At home the task finds the data by its payload, nothing is copied,
 * and no callback runs.  A task that runs *away*, because it was stolen or
 * retained there, asks its home for its *input* before it runs; its *result*
 * goes home when it has ended, and ek_process() returns on no rank before every
 * result is unpacked.
 *
 * A task that fails, skips (ek_skip()), is discarded or is cancelled returns
 * nothing: its home has the data as it was.  A home that has no memory for a
 * result has it as it was, too, and the task, though it has run, has failed:
 * ek_process() returns EK_ERR_NOMEM and names it, or, with on_failure=continue,
 * counts it among the failed.  Each task is asked for at most once in an
 * iteration, so an input is never packed after its task has run.
 *
 * Callbacks of a rank run one at a time, beside running tasks: those at home
 * touch data of their own task alone, which nobody else touches in that
 * iteration, and must not call the library.  Bytes that a rank holds for others
 * are bounded by the option data_bytes.
 *
 * Follow.  With the option data=follow (EVENKEEL_DATA=follow) data moves
 * for good: ek_restore() makes the rank on which it has placed a task that
 * task's home, and sends it the data.  The code asks ek_visit_tasks() what it
 * has then.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_DATA_H
#define EVENKEEL_DATA_H

#include <evenkeel_task.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a pack callback returns that could not: its task fails. */
#define EK_DATA_FAILED ((size_t)-1)

/** How the data of a function's tasks travels. */
typedef struct ek_data_ops {
    size_t struct_bytes; /**< Set by EK_DATA_OPS_INIT. */
    size_t bytes_max;    /**< Longest input or result: 0 ... 2^30. */

    /** At home: write the input to @p buffer, which has room for bytes_max;
     * returns its bytes.  Needed. */
    size_t (*pack_input)(const ek_task *task, void *buffer, void *context);

    /** Away: make of the input what ek_task_data() gives the task; NULL: it
     * fails.  @p buffer is the task's until it has ended, aligned to 64 bytes
     * and with room for bytes_max.  Where this is NULL, it is @p buffer. */
    void *(*unpack_input)(const ek_task *task, void *buffer, size_t bytes,
                          void *context);

    /** Away, when the task has ended: write the result to @p buffer, which has
     * room for bytes_max, and free the @p object; returns the result's bytes.
     * Where @p buffer is NULL nothing returns: only free the object.  Where
     * this is NULL, the result is the input's buffer as the task left it. */
    size_t (*pack_result)(const ek_task *task, void *object, void *buffer,
                          void *context);

    /** At home: take the result.  At a new home (task->is_new) it takes what
     * pack_input wrote at the old one.  NULL: tasks have no results. */
    void (*unpack_result)(const ek_task *task, const void *buffer, size_t bytes,
                          void *context);

    /** At the old home, with data=follow: the data is on its way, forget it.
     * Needed there. */
    void (*release)(const ek_task *task, void *context);

    void *context; /**< Of this rank; passed to all; borrowed. */
} ek_data_ops;

/** Defaults of ek_data_ops. */
#define EK_DATA_OPS_INIT EK_INIT(ek_data_ops)

/**
 * Let the data of a function's tasks travel with them.
 *
 * Tasks of other functions are as before, and cost no more.  A task of this one
 * that was spawned has its home where it was spawned.  A callback that returns
 * more than bytes_max, or EK_DATA_FAILED, makes its task fail.
 *
 * @param[in] function  From ek_register(); once for each.
 * @param[in] ops       Copied.  bytes_max and which callbacks there are must be
 *                      the same on all ranks; the next collective call finds
 *                      out if they are not.
 *
 * @retval EK_ERR_ARG    Unknown function, one that has data already, bytes_max
 *                       out of range or too large for the option data_bytes,
 *                       or a callback is missing.
 * @retval EK_ERR_STATE  An iteration is open.
 * @retval EK_ERR_NOMEM
 *
 * Call:    Local; before tasks of the function are added.
 * Threads: One at a time.
 * Cost:    A task at home pays about 0.1 us, on one rank 25 ns.  One that is
 *          away pays a round trip before it runs, which overlaps the tasks
 *          before it, its input and its result as messages, and four callbacks.
 */
EK_API ek_status ek_set_data_ops(ek_collection *tasks, ek_function function,
                                 const ek_data_ops *ops);

/**
 * Data of the task that runs, where that has travelled.
 *
 * @return What unpack_input returned, until the task ends; NULL: the task is at
 *         home, or its function has no data.
 *
 * Call:    From a running task, or after the ek_next() that fetched it.
 * Threads: The one that runs the task.
 */
EK_API void *ek_task_data(const ek_worker *worker);

/**
 * Bytes of the input of the task that runs, where its data has travelled.
 *
 * @return What pack_input returned at its home, at most bytes_max; 0: there
 *         were none, or ek_task_data() returns NULL.
 *
 * Call:    As ek_task_data().
 * Threads: The one that runs the task.
 */
EK_API size_t ek_task_data_bytes(const ek_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
