/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks to look at: what the library knows of each task of this rank.
 *
 * examples/08_gather.c collects results by these calls.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_TASK_H
#define EVENKEEL_TASK_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A task, as ek_visit_tasks(), ek_next() (evenkeel_pull.h) and the callbacks
 * of evenkeel_data.h show it. */
typedef struct ek_task {
    ek_worker *worker; /**< From ek_next(): runs the task, for ek_skip() and the
                            like; NULL: all is done, and all fields are 0.
                            Elsewhere NULL. */
    void *payload;     /**< Aligned to 8 bytes; borrowed until the visitor or
                            callback returns, or until the worker's next
                            ek_next().  Only visitors may write to it. */
    size_t bytes;      /**< Of the payload. */
    uint64_t id;       /**< Home worker in the top 24 bits, then a number. */
    double duration_s; /**< Last one; NaN: never measured. */
    double deviation;  /**< How much durations varied, relative; 0: unknown,
                            and from ek_next(). */
    int64_t count;     /**< 1; of a range its indices. */
    ek_function function; /**< What the task runs. */
    int worker_id;        /**< Number of the worker that holds or runs the task;
                               -1 in callbacks. */
    int home;             /**< Rank that added the task, or to which its data
                               has moved; -1 from ek_next(). */
    bool is_range;  /**< Payload is int64_t {first, last}; only in visits. */
    bool is_pinned; /**< To its rank, see ek_hint. */
    bool is_new;    /**< In callbacks: its data moves to a new home. */
    bool has_run;   /**< In visits: in the last iteration, here; false after
                         ek_restore(). */
} ek_task;

/** Return false to remove the task from the collection. */
typedef bool ek_visit_fn(const ek_task *task, void *context);

/**
 * Look at every task that this rank holds.
 *
 * Between ek_process() and ek_restore() the call shows what ran (has_run) or
 * was cancelled here, but no tasks that were discarded, or spawned without
 * EK_SPAWN_KEEP.  After ek_restore() it shows the seeds of the next iteration.
 * A seed whose hint names another rank is shown here until it travels, with
 * that rank's first worker.  Pinned tasks come first, then the tasks of each
 * worker in starting order.
 *
 * The visitor may rewrite the payload, but not that of a range: the task goes
 * on with new input, and keeps its id, its place and its durations.
 *
 * @param[in,out] tasks    Collection with no iteration open.
 * @param[in]     visitor  Called for each task; must not call the library.
 * @param[in]     context  Passed to @p visitor; borrowed.
 *
 * @retval EK_OK         All tasks were shown.
 * @retval EK_ERR_ARG    A NULL.
 * @retval EK_ERR_STATE  An iteration is open.
 *
 * Call:    Local.
 * Threads: One per rank.
 * Cost:    O(tasks held by this rank).
 */
EK_API ek_status ek_visit_tasks(ek_collection *tasks, ek_visit_fn *visitor,
                                void *context);

/** Id of the task that runs, as in ek_task.  From a running task. */
EK_API uint64_t ek_task_id(const ek_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
