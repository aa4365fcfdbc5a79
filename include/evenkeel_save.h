/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves: the tasks of a collection in files, for a later job, which may have
 * another number of ranks and workers.
 *
 * docs/how-to/save-and-resume.md shows how.
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
 * Save all tasks that the collection holds between two iterations.
 *
 * A save has payloads, durations, where each task starts, homes, names of
 * functions, indices of ek_set_range() and the number of the next iteration.
 * It has no data of the program, no options, no results of ek_set_result(), and
 * not what EK_RESTORE_AUTO has learned.
 * Tasks that were not restored since the last iteration are restored first, by
 * options.restore.
 *
 * The folder gets a file of each rank, and a manifest at last: a job that is
 * killed meanwhile leaves the saves before.  options.md says how many stay.
 * @param[in] folder  The same on all ranks, which all see it; made if missing.
 *                    A folder is for one collection.
 * @retval EK_ERR_ARG    @p folder is NULL, too long, or differs between ranks.
 * @retval EK_ERR_STATE  An iteration is open; or there is what saves cannot
 *                       hold yet: functions with data, or tiles.
 * @retval EK_ERR_FILE   A file cannot be written; the saves before stay.
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

#ifdef __cplusplus
}
#endif
#endif
