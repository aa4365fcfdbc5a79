/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of workers: what each worker of this rank keeps for its tasks, such
 * as a buffer or a sum, and calls around each iteration.
 *
 *     ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
 *     hooks.create = make_buffer;
 *     hooks.destroy = free_buffer;
 *     options.hooks = &hooks;
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_WORKER_H
#define EVENKEEL_WORKER_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a program keeps for each worker; each hook may be NULL. */
struct ek_worker_hooks {
    size_t struct_bytes; /**< Set by EK_WORKER_HOOKS_INIT. */

    /** ek_create() calls this hook for each worker of the rank, in order.  The
     * hook returns what ek_worker_data() gives tasks; NULL fails ek_create().
     * Use aligned_alloc(128, ...): workers that share a cache line slow each
     * other down. */
    void *(*create)(int here, void *context);
    /** Each worker calls this hook when it enters an iteration. */
    void (*begin)(void *data, int here, void *context);
    /** Called after each iteration, for one worker after the other. */
    void (*end)(void *data, int here, void *context);
    /** ek_destroy() calls this hook for each object that create returned. */
    void (*destroy)(void *data, void *context);
    void *context; /**< Passed to all four; borrowed. */
};

/** No hooks. */
#define EK_WORKER_HOOKS_INIT EK_INIT(ek_worker_hooks)

/** What hooks.create made for the worker; NULL: none.  From a running task. */
EK_API void *ek_worker_data(const ek_worker *worker);

/** What hooks.create made for worker @p here of this rank; NULL: none. */
EK_API void *ek_rank_worker_data(const ek_collection *tasks, int here);

#ifdef __cplusplus
}
#endif
#endif
