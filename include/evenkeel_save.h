/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves: the tasks of a collection in files, for a later job, which may have
 * another number of ranks and workers.
 *
 * A save that ek_restore() writes by itself, because option checkpoint asks for
 * it, is a checkpoint.  docs/how-to/save-and-resume.md shows how.
 *
 * Errors, threads.  As in evenkeel.h; each failure is one of all ranks.
 */
#ifndef EVENKEEL_SAVE_H
#define EVENKEEL_SAVE_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write what the program itself needs to go on from a save.
 *
 * All ranks are called when the tasks are written, and may talk to each other
 * by MPI, but must not call the library.  Files are closed, or synchronized,
 * before the callback returns.  The library waits until they are on their disk,
 * and removes them with their save.
 * @param[in] prefix   How all their names begin, in the folder of the save; a
 *                     file may have just this name.  The same on all ranks.
 * @param[in] context  Of ek_set_save().
 * @return 0, or a code with which the save fails.
 */
typedef int ek_save_fn(const char *prefix, void *context);

/**
 * Let each save have data of the program.
 *
 * A collection with such a callback may be saved although there are tiles: what
 * is needed of them the callback writes.
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
 * It has no options, no results of ek_set_result(), no data of the program but
 * what the callback of ek_set_save() writes, and not what EK_RESTORE_AUTO has
 * learned.
 * Tasks that were not restored since the last iteration are restored first, by
 * options.restore.
 *
 * The folder gets a file of each rank, and a manifest at last: a job that is
 * killed meanwhile leaves the saves before.  options.md says how many stay.
 * @param[in] folder  The same on all ranks, which all see it; made if missing.
 *                    A folder is for one collection.
 * @retval EK_ERR_ARG    @p folder is NULL, too long, or differs between ranks.
 * @retval EK_ERR_STATE  An iteration is open; or there is what saves cannot
 *                       hold: data that follows (option data), or tiles without
 *                       a callback of ek_set_save().
 * @retval EK_ERR_FILE   A file cannot be written, or the callback has failed;
 *                       the saves before stay.
 * @retval As ek_restore(), which may come first.
 * Call:    Collective; synchronizing.
 * Threads: Main thread.
 * Cost:    O(tasks of a rank) to its file, and 1 MiB of memory.
 */
EK_API ek_status ek_save(ek_collection *tasks, const char *folder);

/**
 * Load the newest save of a folder into a new collection.
 *
 * The functions of the save must be registered, in any order.  On as many ranks
 * with as many workers each task starts where it would have, with its id.  Else
 * tasks are dealt out evenly by their durations, and whoever gets one becomes
 * its home; pinned tasks need as many ranks, and stay on theirs.
 * @param[in] tasks   Without tasks, and without an iteration so far.
 * @param[in] folder  As in ek_save().
 * @retval EK_ERR_ARG    As in ek_save(); a function is not registered,
 *                       payload_bytes is too small, or pinned tasks need
 *                       another number of ranks.
 * @retval EK_ERR_STATE  The collection is not new; or as in ek_save().
 * @retval EK_ERR_FILE   There is no save, or a file is missing, damaged or of
 *                       another save.
 * Call:    Collective; synchronizing.
 * Threads: Main thread.
 * Cost:    As ek_save(); on another number of ranks a rank may hold all tasks
 *          of some files for a while.
 */
EK_API ek_status ek_load(ek_collection *tasks, const char *folder);

/**
 * Say how names of the program's files begin in the save that was loaded.
 * @param[out] iteration  Number of the next iteration; or NULL.
 * @return As the callback of ek_set_save() got it, but in the folder of
 *         ek_load(); until ek_destroy().  NULL: nothing was loaded, and
 *         @p iteration is as it was.
 * Call:    Local.
 * Threads: Any, after ek_load().
 */
EK_API const char *ek_loaded(const ek_collection *tasks, int64_t *iteration);

#ifdef __cplusplus
}
#endif
#endif
