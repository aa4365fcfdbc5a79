/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pull: the program's own threads fetch tasks, in place of ek_process().
 *
 *     ek_task task;
 *     check(ek_begin(tasks));
 *     while (check(ek_next(tasks, here, &task)), task.worker)
 *         work_on(task.payload);
 *     check(ek_end(tasks, NULL));
 *
 * examples/03_counter_loop.c replaces a shared counter by these calls.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_PULL_H
#define EVENKEEL_PULL_H

#include <evenkeel_task.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Open an iteration whose tasks the program's own threads fetch by ek_next().
 *
 * The call first restores tasks that have not been restored, as ek_process()
 * does.
 *
 * @param[in,out] tasks  Collection with no iteration open.
 *
 * @retval EK_OK         The iteration is open.  If it cannot run (see
 *                       ek_process()), ek_next() finds no task, and ek_end()
 *                       returns the reason on all ranks.
 * @retval EK_ERR_STATE  A parallel region is active, or another iteration is
 *                       open.  This rank has opened no iteration.
 * @retval EK_ERR_MPI    Communication has failed before.
 *
 * Call:    Collective; it synchronizes only if it restores by a policy that
 *          does.
 * Threads: One per rank, outside parallel regions.
 * Cost:    As entering ek_process().
 */
EK_API ek_status ek_begin(ek_collection *tasks);

/**
 * Fetch the next task of worker @p here, which ends the task before.
 *
 * A worker that has fetched once must fetch until it gets a task without
 * worker, because the others of the rank wait for it.  To end early, one worker
 * calls ek_stop(), and all workers fetch to the end.  The others of the rank
 * run the tasks of a worker that never fetches.
 *
 * Tasks come in any order.  A loop that skips to the number drawn ("if (ij ==
 * next)") therefore misses tasks: compute i and j from the number.
 *
 * @param[in,out] tasks  Collection that ek_begin() opened.
 * @param[in]     here   0 ... workers of this rank - 1, one thread each.
 * @param[out]    task   The task; its worker is NULL when the iteration is
 *                       over.
 *
 * @retval EK_OK          @p task is filled.
 * @retval EK_ERR_ARG     No such worker, or a NULL.
 * @retval EK_ERR_STATE   No iteration is open.
 * @retval EK_ERR_THREAD  Another thread fetches for this worker, or must
 *                        (option check).
 *
 * Call:    Local; returns when a task is there or all tasks of the job ended.
 * Threads: One per worker.  With an MPI thread level below SERIALIZED, the
 *          thread that initialized MPI fetches for worker 0.
 * Cost:    About 15 ns where a task is at hand.
 */
EK_API ek_status ek_next(ek_collection *tasks, int here, ek_task *task);

/**
 * Close the iteration that ek_begin() opened.
 *
 * If no worker of this rank has fetched to the end, no new task starts on any
 * rank, as after ek_stop(); if that cancels tasks, and no task called
 * ek_stop(), all ranks return EK_ERR_TASK.
 *
 * @param[in,out] tasks   Collection that ek_begin() opened.
 * @param[out]    report  As of ek_process().
 *
 * @retval As ek_process().
 *
 * Call:    Collective; returns when the last task of the job has ended.
 * Threads: One per rank, outside parallel regions.
 * Cost:    As leaving ek_process(), and one reduction to agree on the report.
 */
EK_API ek_status ek_end(ek_collection *tasks, ek_process_report *report);

#ifdef __cplusplus
}
#endif
#endif
