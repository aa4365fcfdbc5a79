/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawn: running tasks create tasks.
 *
 * docs/how-to/spawn.md says how to write such tasks.  evenkeel_inline.h makes
 * these calls faster.
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
 * Create a task that runs in this iteration.
 * @param[in] worker    The worker that runs the calling task.
 * @param[in] function  From ek_register().
 * @param[in] payload   Copied; may be NULL if @p bytes is 0.
 * @param[in] bytes     At most options.payload_bytes.
 * @param[in] flags     0 or EK_SPAWN_KEEP.
 * @retval EK_ERR_ARG     Unknown function or flag, or payload too large or
 *                        NULL.
 * @retval EK_ERR_STATE   The iteration of @p worker is over.
 * @retval EK_ERR_THREAD  Another thread runs @p worker (option check).
 * Call:    Local, from a running task.
 * Threads: The one that runs the task.
 * Cost:    About 7 ns, its run included; memory as of ek_add_task().
 */
EK_API ek_status ek_spawn(ek_worker *worker, ek_function function,
                          const void *payload, size_t bytes, int flags);

/**
 * Create a task as ek_spawn() does, whose payload the caller writes in place.
 *
 * The caller writes all @p bytes before its next call with @p worker, and
 * before the calling task ends: thieves may take the task afterwards.
 * @return Room for the payload, aligned to 8 bytes.  NULL: no task was created,
 *         and ek_error_status() is the status of ek_spawn().
 * Call:    As ek_spawn(); so are Threads and Cost.
 */
EK_API void *ek_spawn_at(ek_worker *worker, ek_function function, size_t bytes,
                         int flags);

/**
 * Add a seed to another collection from a running task.
 *
 * The home of the seed is this rank.  The next call of @p other finds it, as if
 * ek_add_task() had added it there.
 * @param[in]     worker    The worker that runs the calling task.
 * @param[in,out] other     Another collection; it may have other ranks.
 * @param[in]     function  From ek_register() of @p other.
 * @param[in]     payload   Copied; may be NULL if @p bytes is 0.
 * @param[in]     bytes     At most options.payload_bytes of @p other.
 * @retval EK_ERR_ARG     @p other is NULL or runs the task, unknown function,
 *                        or payload too large or NULL.
 * @retval EK_ERR_STATE   The iteration of @p worker is over.
 * @retval EK_ERR_THREAD  Another thread runs @p worker (option check).
 * Call:    Local, from a running task.
 * Threads: The one that runs the task.  Other threads may use this call,
 *          ek_add_task() and ek_add_range() for @p other meanwhile, and no
 *          other call.
 * Cost:    About 15 ns; memory as of ek_add_task().
 * Paper:   HPDC 2012: tasks are created "as part of the same or another task
 *          collection".
 */
EK_API ek_status ek_add_task_to(ek_worker *worker, ek_collection *other,
                                ek_function function, const void *payload,
                                size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
