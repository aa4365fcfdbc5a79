/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawn: running tasks create tasks.
 *
 * evenkeel_inline.h makes ek_spawn() and ek_spawn_at() shorter.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_SPAWN_H
#define EVENKEEL_SPAWN_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Flag of ek_spawn(): the task is a seed of the next iteration, too. */
#define EK_SPAWN_KEEP 1

/**
 * Create a task in this iteration.
 *
 * @param[in] worker    The worker that runs the calling task.
 * @param[in] function  From ek_register().
 * @param[in] payload   Copied; may be NULL if @p bytes is 0.
 * @param[in] bytes     0 ... options.payload_bytes.
 * @param[in] flags     0 or EK_SPAWN_KEEP.
 *
 * @retval EK_OK          The task runs in this iteration.
 * @retval EK_ERR_ARG     Unknown function, payload too large or NULL, unknown
 *                        flag.
 * @retval EK_ERR_STATE   The iteration of @p worker is over.
 * @retval EK_ERR_THREAD  Another thread runs @p worker (option check).
 * @retval EK_ERR_NOMEM   Memory ran out: no task was created.
 *
 * Call:    Local, from a running task.
 * Threads: The one that runs the task.
 * Cost:    About 7 ns with the run of the task, and one slot (ek_add_task()).
 *          Ids repeat after 2^38 spawns of a worker in an iteration.
 */
EK_API ek_status ek_spawn(ek_worker *worker, ek_function function,
                          const void *payload, size_t bytes, int flags);

/**
 * Create a task in this iteration whose payload the caller writes.
 *
 * The call saves the copy of ek_spawn().  The caller writes all @p bytes of the
 * payload before its next call of the library with @p worker, and before the
 * calling task ends: after either a thief may take the task.
 *
 * @param[in] worker    The worker that runs the calling task.
 * @param[in] function  From ek_register().
 * @param[in] bytes     0 ... options.payload_bytes.
 * @param[in] flags     0 or EK_SPAWN_KEEP.
 *
 * @return Where the payload goes, aligned to 8 bytes.  NULL: no task was
 *         created; ek_error_status() is what ek_spawn() would return.
 *
 * Call:    Local, from a running task.
 * Threads: The one that runs the task.
 * Cost:    As ek_spawn().
 */
EK_API void *ek_spawn_at(ek_worker *worker, ek_function function, size_t bytes,
                         int flags);

/**
 * Add a seed to another collection from a running task.
 *
 * The home of the seed is this rank.  It lies with the worker of @p other that
 * has the number of @p worker within the rank, modulo the workers of @p other.
 * The next call of @p other finds it, as a seed that ek_add_task() added after
 * ek_restore().
 *
 * @param[in]     worker    The worker that runs the calling task.
 * @param[in,out] other     Another collection that is not destroyed; it may
 *                          have other ranks.
 * @param[in]     function  From ek_register() of @p other.
 * @param[in]     payload   Copied; may be NULL if @p bytes is 0.
 * @param[in]     bytes     0 ... options.payload_bytes of @p other.
 *
 * @retval EK_OK          @p other has the seed.
 * @retval EK_ERR_ARG     @p other is NULL or the collection that runs the task
 *                        (use ek_spawn()), unknown function, payload too large
 *                        or NULL.
 * @retval EK_ERR_STATE   The iteration of @p worker is over.
 * @retval EK_ERR_THREAD  Another thread runs @p worker (option check).
 * @retval EK_ERR_NOMEM   Memory ran out: the seed was not added.
 *
 * Call:    Local, from a running task.
 * Threads: The one that runs the task; all workers at once, beside
 *          ek_add_task() and ek_add_range() of @p other, but no other call of
 *          @p other.
 * Cost:    About 15 ns and a slot of @p other.  Workers wait for each other
 *          only if @p other has fewer of them on this rank.
 * Paper:   Lifflander, Krishnamoorthy, Kale, HPDC 2012: tasks are created "as
 *          part of the same or another task collection".
 */
EK_API ek_status ek_add_task_to(ek_worker *worker, ek_collection *other,
                                ek_function function, const void *payload,
                                size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
