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
 * docs/migrate/from-counter-loop.md replaces a shared counter by these calls.
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
 * Open an iteration.
 *
 * The call first restores tasks that have not been restored, as ek_process()
 * does.  With progress=server and MPI_THREAD_SERIALIZED or more a thread of the
 * library serves messages until ek_end(); otherwise workers poll.
 * @param[in,out] tasks  Collection with no iteration open.
 * @retval EK_OK         The iteration is open.  If it cannot run (see
 *                       ek_process()), ek_next() finds no task, and ek_end()
 *                       returns the reason on all ranks.
 * @retval EK_ERR_STATE  A parallel region is active, or another iteration is
 *                       open.  This rank has opened no iteration.
 * @retval EK_ERR_MPI    Communication has failed before.
 * Call:    Collective; it synchronizes only if it restores by a policy that
 *          does.
 * Threads: Main thread.  With progress=server the program calls MPI again after
 *          ek_end(), or needs MPI_THREAD_MULTIPLE.
 * Cost:    As entering ek_process().
 */
EK_API ek_status ek_begin(ek_collection *tasks);

/**
 * End the task of worker @p here, and fetch its next one.
 *
 * A worker that has fetched once must fetch to the end, because the other
 * workers of the rank wait for it.  They run the tasks of a worker that never
 * fetches.  To end early, one worker calls ek_stop(), and all fetch to the end.
 *
 * Tasks come in any order: compute i and j from the number drawn.  A loop that
 * skips to this number ("if (ij == next)") misses tasks, unless it begins anew
 * where task->starts_run is true.  With order=ascending this is rare.
 * @param[in]  here  0 ... workers of this rank - 1; one thread each.
 * @param[out] task  The task; its worker is NULL when the iteration is over.
 * @retval EK_ERR_ARG     No such worker, or a NULL.
 * @retval EK_ERR_STATE   No iteration is open.
 * @retval EK_ERR_THREAD  Another thread fetches for this worker, or must
 *                        (option check).
 * Call:    Local; returns with a task, or when all tasks of the job have ended.
 * Threads: One per worker.  Below MPI_THREAD_SERIALIZED the thread that
 *          initialized MPI fetches for worker 0.
 * Cost:    About 15 ns if a task is at hand.
 */
EK_API ek_status ek_next(ek_collection *tasks, int here, ek_task *task);

/**
 * Close the iteration.
 *
 * If no worker of this rank has fetched to the end, no new task starts on any
 * rank.  If this cancels tasks, and no task has called ek_stop(), all ranks
 * return EK_ERR_TASK.
 * @param[out] report  As of ek_process().
 * @retval As ek_process().
 * Call:    Collective; returns when the last task of the job has ended.
 * Threads: Main thread.
 * Cost:    As leaving ek_process(), and one reduction.
 */
EK_API ek_status ek_end(ek_collection *tasks, ek_process_report *report);

#ifdef __cplusplus
}
#endif
#endif
