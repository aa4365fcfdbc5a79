/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves: the tasks of a collection in files, for a later job, which may have
 * another number of ranks and workers.
 *
 * A save that ek_restore() or ek_process() writes by itself, because option
 * checkpoint asks for it, is a checkpoint.  docs/how-to/save-and-resume.md
 * shows how.
 *
 * Errors, threads.  As in evenkeel.h; each failure is one of all ranks.
 */
#ifndef EVENKEEL_SAVE_H
#define EVENKEEL_SAVE_H

#include <evenkeel_task.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write what the program itself needs to go on from a save.
 *
 * All ranks are called when the tasks are written, and may talk to each other
 * by MPI, but may call nothing of the library but ek_goes_on() and
 * ek_rank_worker_data().  No task runs meanwhile.  Files are closed, or
 * synchronized, before the callback returns.  The library waits until they are
 * on their disk, and removes them with their save.
 * @param[in] prefix   How all their names begin, in the folder of the save; a
 *                     file may have just this name.  The same on all ranks.
 * @param[in] context  Of ek_set_save().
 * @return 0, or a code with which the save fails.
 */
typedef int ek_save_fn(const char *prefix, void *context);

/**
 * Let each save have data of the program.
 *
 * Tiles and homes of data are in a save without it.
 * @param[in] write    The same on all ranks; NULL: there is no such data.
 * @param[in] context  Passed to it; borrowed.
 * @retval EK_ERR_ARG    @p tasks is NULL.
 * @retval EK_ERR_STATE  An iteration is open.
 * Call:    Local; on all ranks.
 * Threads: Main thread.
 */
EK_API ek_status ek_set_save(ek_collection *tasks, ek_save_fn *write,
                             void *context);

/**
 * Save all tasks that the collection holds between two iterations.
 *
 * A save has payloads, durations, where each task starts, homes, names of
 * functions, indices of ek_set_range() and the number of the next iteration.
 * It has the values of all tiles whose stores @p tasks has made, which rank has
 * the data of a task, and what EK_RESTORE_AUTO has learned.
 * It has no options, no results of ek_set_result(), which are of an iteration
 * that is over, and no data of the program but what the callback of
 * ek_set_save() writes.
 * Tasks that were not restored since the last iteration are restored first, by
 * options.restore.
 *
 * The folder gets a file of each rank, and a manifest at last: a job that is
 * killed meanwhile leaves the saves before.  options.md says how many stay.
 * @param[in] folder  The same on all ranks, which all see it; made if missing.
 *                    A folder is for one collection.
 * @retval EK_ERR_ARG    @p folder is NULL, too long, or differs between ranks.
 * @retval EK_ERR_STATE  An iteration is open.
 * @retval EK_ERR_FILE   A file cannot be written, or the callback has failed;
 *                       or the newest save of the folder is of another
 *                       collection, by its functions.  The saves before stay.
 * @retval As ek_restore(), which may come first.
 * Call:    Collective; synchronizing.
 * Threads: Main thread.
 * Cost:    O(tasks and tiles of a rank) to its file, and 1 MiB of memory.
 */
EK_API ek_status ek_save(ek_collection *tasks, const char *folder);

/** Returns the rank that has the data of a task.  @p task tells its function,
 * its payload and its id, of a range those of one index. */
typedef int ek_owner_fn(const ek_task *task, void *context);

/**
 * Say where data of tasks is, for ek_load() on another number of ranks.
 *
 * This rank becomes the home of the task.  Without an owner whoever gets a task
 * becomes its home, and has its data before the next iteration:
 * ek_visit_tasks() tells which.  On as many ranks as in the save the owner is
 * not called, and homes stay.
 * @param[in] owner    The same on all ranks, with the same results; NULL: none.
 * @param[in] context  Passed to @p owner; borrowed.
 * @retval EK_ERR_STATE  No function has data, or an iteration is open.
 * Call:    Local; before ek_load().
 * Threads: One at a time.
 */
EK_API ek_status ek_set_owner(ek_collection *tasks, ek_owner_fn *owner,
                              void *context);

/**
 * Load the newest save of a folder into a new collection.
 *
 * The functions of the save must be registered, in any order.  On as many ranks
 * with as many workers each task starts where it would have, and
 * EK_RESTORE_AUTO goes on.  On others tasks are dealt out evenly by their
 * durations, and whoever gets one becomes its home.  EK_RESTORE_AUTO learns
 * anew.  Pinned tasks need as many ranks, and stay on theirs.
 *
 * Tasks keep their ids.  In ids of new tasks the workers of this job count
 * after those of the jobs before that had other workers.  A warning says if
 * such ids would need more than 64 bits: then tasks get new ones.
 *
 * Data of tasks is the program's, and this call moves none.  On as many ranks
 * homes stay, else they are those that ek_set_owner() says.
 *
 * Stores of tiles must be there, as the save has them: made by @p tasks in the
 * same order, with the same names and lengths.  Owners may be others.  After a
 * failure tiles may have any values.
 * @param[in] tasks   Without tasks, and without an iteration so far.
 * @param[in] folder  As in ek_save().
 * @retval EK_ERR_ARG    As in ek_save(); a function is not registered,
 *                       payload_bytes is too small, or stores are not those of
 *                       the save.  Pinned tasks need another number of ranks.
 *                       An owner is no rank; data has followed its tasks, and
 *                       the option data is not follow.
 * @retval EK_ERR_STATE  The collection is not new; or as in ek_save().
 * @retval EK_ERR_FILE   There is no save, or a file is missing, damaged or of
 *                       another save.
 * Call:    Collective; synchronizing.
 * Threads: Main thread.
 * Cost:    As ek_save(); on another number of ranks a rank may hold all tasks
 *          of some files for a while.  If there are tiles or data, and other
 *          owners of them, each rank reads all files.
 */
EK_API ek_status ek_load(ek_collection *tasks, const char *folder);

/**
 * Say how names of the program's files begin in the save that was loaded.
 * @param[out] iteration  Iterations that are over, however many parts they had;
 *                        or NULL.
 * @return As the callback of ek_set_save() got it, but in the folder of
 *         ek_load(); until ek_destroy().  NULL: nothing was loaded, and
 *         @p iteration is as it was.
 * Call:    Local.
 * Threads: Any, after ek_load().
 */
EK_API const char *ek_loaded(const ek_collection *tasks, int64_t *iteration);

/**
 * Tell whether the next ek_process() goes on with an iteration of which some
 * tasks have run.
 *
 * So it is after ek_load() of a save from the middle of an iteration, and after
 * the ek_restore() that continues one which was stopped.  Then add no task
 * twice, and do not set to zero what tasks have summed up.  The callback of
 * ek_set_save() may call this, too.
 * @return The same on all ranks.
 * Call:    Local; between iterations.
 * Threads: Main thread.
 */
EK_API bool ek_goes_on(const ek_collection *tasks);

/**
 * Stop the iteration that runs @p seconds from now, or that begins after that.
 *
 * Tasks that run are finished, and none is begun.  ek_process() returns EK_OK
 * with report.stopped, and the next ek_restore() keeps all that was cancelled
 * for the next iteration, which goes on (docs/how-to/stop-and-continue.md).  A
 * later call replaces this one, and the option time_limit, which does the same.
 * @param[in] seconds  0 ... 1e9; below 0: do not stop.  Ranks may differ: the
 *                     earliest counts.
 * @retval EK_ERR_ARG    @p seconds is not a number, or too large.
 * @retval EK_ERR_STATE  An iteration is open.
 * Call:    Collective, not synchronizing.
 * Threads: Main thread.
 */
EK_API ek_status ek_stop_at(ek_collection *tasks, double seconds);

#ifdef __cplusplus
}
#endif
#endif
