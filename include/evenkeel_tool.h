/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tool: a profiler hears when each task begins and ends.
 *
 *     ek_tool tool = EK_TOOL_INIT;
 *     tool.begin = open_region;
 *     tool.end = close_region;
 *     check(ek_set_tool(&tool));
 *
 * docs/how-to/use-a-profiler.md has these calls for TALP, NVTX and Score-P.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_TOOL_H
#define EVENKEEL_TOOL_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Calls around the body of each task; each may be NULL.  The thread that runs
 * the task makes them.  They must return. */
typedef struct ek_tool {
    size_t struct_bytes; /**< Set by EK_TOOL_INIT. */

    /** A task begins.  @p function: its name in ek_register(), valid until
     * ek_destroy().  @p worker: as ek_worker_id().  @p id: as ek_task_id(). */
    void (*begin)(const char *function, int worker, uint64_t id, void *context);
    /** The task ends, with the same arguments.  In a pull loop ek_next() ends
     * the task that it fetched before, and ek_end() ends those that are left.
     */
    void (*end)(const char *function, int worker, uint64_t id, void *context);
    void *context; /**< Passed to both; borrowed. */
} ek_tool;

/** No calls. */
#define EK_TOOL_INIT EK_INIT(ek_tool)

/**
 * Set the tool of this process.
 *
 * Each ek_create(), and the first ek_for() of a loop, copies the tool.  A later
 * call changes nothing in collections that exist.  The time of both calls
 * counts as the task's.  Tasks of one worker never overlap.
 * @param[in] tool  Copied; NULL: none.
 * @retval EK_ERR_ARG  @p tool was not set by EK_TOOL_INIT.
 * Call:    Local; ranks may differ.
 * Threads: Any.
 * Cost:    None for collections without a tool.
 */
EK_API ek_status ek_set_tool(const ek_tool *tool);

#ifdef __cplusplus
}
#endif
#endif
