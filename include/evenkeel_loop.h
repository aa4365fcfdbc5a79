/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops over all ranks: sums and results of their tasks.
 *
 *     points[ek_worker_here(worker)] += inside;            (in each task)
 *     ek_set_result(worker, row, sizeof row);
 *
 *     ek_process(tasks, NULL);
 *     ek_reduce(tasks, points, 1, MPI_INT64_T, MPI_SUM);   (points[0]: all)
 *     ek_gather(tasks, draw, 0, &rows);                    (at rank 0)
 *
 * docs/how-to/sum-and-gather.md says how to use all this.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_LOOP_H
#define EVENKEEL_LOOP_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Combine values of all workers of all ranks.
 *
 * Each rank combines its workers in their order, then MPI_Allreduce() combines
 * the ranks.  Tasks run on other workers each time, so sums of doubles differ
 * in their last digits: ek_reduce_sums() has none of these differences.
 * @param[in,out] values  [ek_rank_workers()][@p count]: the part of each worker
 *                        of this rank.  Afterwards the first @p count are the
 *                        result, on every rank, and the others zero bytes.
 * @param[in] count  0 or more; the same on all ranks.
 * @param[in] type   Predefined, or without gaps; of the same size on all ranks.
 * @param[in] op     One that @p type has: MPI itself reports another one, and
 *                   may end the job.
 * @retval EK_ERR_ARG    A NULL, count < 0, a type with gaps, or ranks differ in
 *                       count or size.  The values are as before.
 * @retval EK_ERR_STATE  An iteration is open: this rank has not taken part.
 * Call:    Collective; synchronizing.
 * Threads: Main thread.
 * Cost:    Two MPI_Allreduce(), of 24 bytes and of the values.
 */
EK_API ek_status ek_reduce(ek_collection *tasks, void *values, int count,
                           MPI_Datatype type, MPI_Op op);

/** An exact sum of doubles; all bytes 0: nothing was added. */
typedef struct ek_sum {
    int64_t limb[72]; /**< Of the library. */
} ek_sum;

/**
 * Add a value to each sum: @p sums[i] += @p values[i].
 *
 * Nothing is rounded.  The result does not depend on the order of the values.
 * @param[in] count  Of both; < 1: nothing happens.
 * Call:    Local.
 * Threads: Any; one at a time for each sum.
 * Cost:    About 3 ns per value.
 * Paper:   Neal, "Fast exact summation using small and large superaccumulators"
 *          (2015), section 3.
 */
EK_API void ek_sum_add(ek_sum *sums, const double *values, int64_t count);

/**
 * Combine the sums of all workers of all ranks, and round the results.
 *
 * The digits are the same for any number of ranks and workers, and any order:
 * the double nearest to the exact sum.  It is infinite only if the whole sum
 * is too large, or an infinity was added; NaN if a NaN, or both infinities,
 * were added.  A sum of 0 is +0.
 * @param[in,out] sums   [ek_rank_workers()][@p count]: the part of each worker
 *                       of this rank.  Afterwards all are empty.
 * @param[in]     count  0 or more; the same on all ranks.
 * @param[out]    values  [@p count], on every rank.
 * @retval EK_ERR_ARG    A NULL, count < 0, or ranks differ in count.  The sums
 *                       are as before.
 * @retval EK_ERR_STATE  An iteration is open: this rank has not taken part.
 * Call:    Collective; synchronizing.
 * Threads: Main thread.
 * Cost:    As ek_reduce() of 576 bytes per sum.
 */
EK_API ek_status ek_reduce_sums(ek_collection *tasks, ek_sum *sums, int count,
                                double *values);

/**
 * Set the result of the running task, for ek_gather().
 *
 * The last call of a task wins.  A task that fails has no result.
 * @param[in] result  Copied; may be NULL if @p bytes is 0.
 * @retval EK_ERR_ARG    A NULL.
 * @retval EK_ERR_STATE  No task of the worker runs.
 * @retval EK_ERR_NOMEM  The task has its earlier result, if any; ek_gather()
 *                       fails.
 * Call:    From a running task, or after the ek_next() that fetched it.
 * Threads: The one that runs the task.
 * Cost:    A copy; memory for results stays until ek_destroy().
 */
EK_API ek_status ek_set_result(ek_worker *worker, const void *result,
                               size_t bytes);

/** Root of ek_gather(): every rank gets the results. */
#define EK_ALL_RANKS (-1)

/** Results of tasks, in the order of their indices. */
typedef struct ek_results {
    size_t struct_bytes;  /**< Set by EK_RESULTS_INIT. */
    int64_t count;        /**< Results; 0 on ranks that get none. */
    const int64_t *index; /**< [count], ascending: the payload of a task, if
                               that has 8 bytes (int64_t); else its id. */
    const int64_t *start; /**< [count + 1]: first byte of each in bytes. */
    const void *bytes;    /**< One after another; aligned to 64. */
} ek_results;

/** No results. */
#define EK_RESULTS_INIT EK_INIT(ek_results)

/**
 * Gather what tasks have set in the last iteration.
 *
 * @param[in]  function  Of the tasks; the same on all ranks.
 * @param[in]  root      The rank that gets the results, or EK_ALL_RANKS.
 * @param[out] results   In memory of the library, valid until the next
 *                       ek_gather() of @p tasks, or ek_destroy().  Other ranks
 *                       get count 0 and NULL.
 * @retval EK_ERR_ARG    Unknown function, no such root, or ranks differ in
 *                       these; @p results NULL or not set by EK_RESULTS_INIT.
 * @retval EK_ERR_STATE  An iteration is open: this rank has not taken part.
 * @retval EK_ERR_NOMEM  No rank gets results; the call may be repeated.
 * Call:    Collective; synchronizing.  After ek_process() or ek_end(), before
 * or after ek_restore(). Threads: Main thread. Cost:    Each result is sent
 * once, and once more with EK_ALL_RANKS; sorting is linear.  The root needs
 * twice the memory of all results; every rank 24 bytes per rank.
 */
EK_API ek_status ek_gather(ek_collection *tasks, ek_function function, int root,
                           ek_results *results);

#ifdef __cplusplus
}
#endif
#endif
