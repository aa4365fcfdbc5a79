/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of workers, such as a buffer or a sum, and calls around iterations.
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

/** Calls for each worker of this rank; each may be NULL. */
struct ek_worker_hooks {
    size_t struct_bytes; /**< Set by EK_WORKER_HOOKS_INIT. */

    /** In ek_create(), worker by worker: make the object that ek_worker_data()
     * returns.  If this is NULL, ek_create() fails.  Align it to 128 bytes:
     * workers that share a cache line slow each other down. */
    void *(*create)(int here, void *context);
    /** Called by each worker when it enters an iteration. */
    void (*begin)(void *data, int here, void *context);
    /** After each iteration, worker by worker. */
    void (*end)(void *data, int here, void *context);
    /** In ek_destroy(), for each object that create has made. */
    void (*destroy)(void *data, void *context);
    void *context; /**< Passed to all four; borrowed. */
};

/** No hooks. */
#define EK_WORKER_HOOKS_INIT EK_INIT(ek_worker_hooks)

/** The worker's object; NULL: none.  From a running task. */
EK_API void *ek_worker_data(const ek_worker *worker);

/** The object of worker @p here of this rank; NULL: none. */
EK_API void *ek_rank_worker_data(const ek_collection *tasks, int here);

#ifdef __cplusplus
}
#endif
#endif
