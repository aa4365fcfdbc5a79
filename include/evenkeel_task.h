/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks to look at: what the library knows of each task.
 *
 * evenkeel_loop.h gathers results of tasks without these calls.
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
    ek_worker *worker; /**< From ek_next(): the worker that runs the task; NULL:
                            the iteration is over, and all fields are 0.
                            Elsewhere NULL. */
    void *payload;     /**< Aligned to 8 bytes; valid until the visitor or
                            callback returns, or until the worker's next
                            ek_next().  Only visitors may write to it. */
    size_t bytes;      /**< Of the payload. */
    uint64_t id;       /**< Its first home worker in the top 24 bits, then a
                            number; stays from job to job (ek_load()). */
    double duration_s; /**< Last duration; NaN: never measured. */
    double deviation;  /**< How much durations varied, relative; 0: unknown,
                            and from ek_next(). */
    int64_t count;     /**< Indices of a range; else 1. */
    ek_function function; /**< Function that the task runs. */
    int worker_id;        /**< Worker that holds or runs the task; -1 in
                               callbacks. */
    int home;             /**< Rank that added the task, or to which its data
                               has moved; -1 from ek_next(). */
    bool is_range;   /**< In visits: the payload is int64_t {first, last}. */
    bool is_pinned;  /**< It runs on this rank only (ek_hint). */
    bool is_new;     /**< In callbacks: its data moves to a new home. */
    bool has_run;    /**< In visits before ek_restore(): it ran on this rank in
                          the last iteration. */
    bool starts_run; /**< From ek_next(): false if the worker's task before was
                          of this function, and had a lower index. */
} ek_task;

/** Receives a task; returns false to remove it from the collection. */
typedef bool ek_visit_fn(const ek_task *task, void *context);

/**
 * Look at every task that this rank holds.
 *
 * Before ek_restore() these are the tasks that ran or were cancelled here,
 * except discarded ones, and spawned ones without EK_SPAWN_KEEP.  Afterwards
 * they are the seeds of the next iteration.  A seed whose hint names another
 * rank is shown here until it travels, with that rank's first worker.  Pinned
 * tasks come first, then those of each worker in starting order.
 *
 * The visitor may rewrite a payload, but not of a range.  The task keeps its
 * id, its place and its durations.
 * @param[in] visitor  Called for each task; must not call the library.
 * @param[in] context  Passed to @p visitor; borrowed.
 * @retval EK_ERR_ARG    A NULL.
 * @retval EK_ERR_STATE  An iteration is open.
 * Call:    Local.
 * Threads: Main thread.
 * Cost:    O(tasks held by this rank).
 */
EK_API ek_status ek_visit_tasks(ek_collection *tasks, ek_visit_fn *visitor,
                                void *context);

/** Id of the running task, as in ek_task.  From this task only. */
EK_API uint64_t ek_task_id(const ek_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
