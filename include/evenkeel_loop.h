/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops over all ranks: their indices, sums and results.
 *
 *     ek_for(MPI_COMM_WORLD, n, work, my_data);            (the whole loop)
 *
 *     ek_set_range(tasks, draw, n);                        (or step by step:)
 *     ek_process(tasks, NULL);
 *     ek_reduce(tasks, points, 1, MPI_INT64_T, MPI_SUM);   (points[0]: all)
 *     ek_gather(tasks, draw, 0, &rows);                    (at rank 0)
 *
 * docs/how-to/sum-and-gather.md says how to use sums and results.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_LOOP_H
#define EVENKEEL_LOOP_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Indices. */

/**
 * Let the tasks of a function be the indices 0 ... @p n - 1.
 *
 * The payload of each task is its int64_t index.  The call deals equal parts of
 * the indices to the workers of all ranks, in the order of ranks.  Indices that
 * have not run take O(1) memory.
 *
 * A later call changes @p n.  Indices that stay keep their place and durations,
 * and those that were discarded stay away.  Indices from @p n on go.  New ones
 * are dealt to all workers.
 *
 * The function's tasks come from this call alone.  Tasks that were added before
 * its first call go.  ek_clear() counts as ek_set_range(tasks, function, 0).
 * @retval EK_ERR_ARG    Unknown function, @p n below 0, too many new indices
 *                       for one call, or options.payload_bytes below 16.
 * @retval EK_ERR_STATE  An iteration is open; a parallel region is active.
 * @retval EK_ERR_NOMEM  All ranks must call again.
 * Call:    Collective, not synchronizing.  If @p n differs between ranks, the
 *          next ek_process() fails, and all ranks must call again.
 * Threads: Main thread.
 * Cost:    O(1) to add indices; O(tasks held by this rank) to remove some.
 */
EK_API ek_status ek_set_range(ek_collection *tasks, ek_function function,
                              int64_t n);

/**
 * Body of ek_for().
 * @param[in] worker   The worker that runs the index.
 * @param[in] i        The index.
 * @param[in] context  The running rank's pointer, as this rank gave it to
 *                     ek_for().
 * @return 0, or a code with which the index fails.
 */
typedef int ek_for_fn(ek_worker *worker, int64_t i, void *context);

/**
 * Run a function for each index 0 ... @p n - 1, on the workers of all ranks.
 *
 * The first call with a communicator and function makes a collection, which
 * later calls find.  Each index therefore starts where it ran before.  @p n may
 * change from call to call, as by ek_set_range().  MPI_Comm_free() and
 * MPI_Finalize() destroy these collections.
 *
 * The environment sets options.  The collections of a communicator are named
 * loop1, loop2, ...  If one rank alone passes NULL or another function, the
 * other ranks wait for it.
 * @param[in] comm     The same handle in each call.
 * @param[in] n        The same on all ranks; at least 0.
 * @param[in] fn       The same on all ranks.
 * @param[in] context  Passed to @p fn in this call on this rank.
 * @retval EK_ERR_ARG    @p fn is NULL, a bad @p n, or @p n differs between
 *                       ranks.  The next call deals all indices anew.
 * @retval EK_ERR_STATE  Called from a task or in a parallel region.
 * @retval As ek_create() and ek_process().
 * Call:    Collective over @p comm; synchronizing.
 * Threads: Main thread.
 * Cost:    As ek_process(); the first call as ek_create(), too.
 */
EK_API ek_status ek_for(MPI_Comm comm, int64_t n, ek_for_fn *fn, void *context);

/* Sums and results. */

/**
 * Combine values of all workers of all ranks.
 *
 * Each rank combines its workers in their order, then MPI_Allreduce() combines
 * the ranks.  Tasks run on other workers each time.  Sums of doubles therefore
 * differ in their last digits; those of ek_reduce_sums() do not.
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
 * Cost:    About 4 ns per value.
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
 * Cost:    About 10 ns and a copy; memory for results stays until ek_destroy().
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
 *          or after ek_restore().
 * Threads: Main thread.
 * Cost:    Each result is sent once, and once more with EK_ALL_RANKS.  Sorting
 *          is linear.  The root needs twice the memory of all results, and
 *          every rank 24 bytes per rank.
 */
EK_API ek_status ek_gather(ek_collection *tasks, ek_function function, int root,
                           ek_results *results);

#ifdef __cplusplus
}
#endif
#endif
