/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plan: where each of the program's own items should go, by the rebalancers
 * of ek_restore().
 *
 * For codes whose boxes, blocks or columns lie with an owner rank, and which
 * move them themselves.  There is no collection, no task and no worker: each
 * rank says what the items that it owns cost, and hears which rank should own
 * each of them.  Nothing moves.
 *
 * Errors.  As in evenkeel.h: a call that fails says a sentence, and all ranks
 * return the same.
 */
#ifndef EVENKEEL_PLAN_H
#define EVENKEEL_PLAN_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The items that this rank owns. */
typedef struct ek_plan_items {
    size_t struct_bytes;   /**< Set by EK_PLAN_ITEMS_INIT. */
    int64_t n;             /**< How many, up to 2^31 - 1; 0 is allowed. */
    const double *seconds; /**< [n]: cost of each, finite and not negative, as
                                is their sum; NULL if n is 0. */
    const size_t *bytes;   /**< [n]: that move with each, in all at most 2^62
                                over the number of ranks; or NULL, on all ranks
                                that own items or on none. */
} ek_plan_items;

/** No items. */
#define EK_PLAN_ITEMS_INIT EK_INIT(ek_plan_items)

/** What came of one ek_plan(); the same on all ranks but for seconds. */
typedef struct ek_plan_report {
    size_t struct_bytes;      /**< Set by EK_PLAN_REPORT_INIT. */
    ek_restore_policy policy; /**< That was followed. */
    int64_t items;            /**< Of all ranks. */
    double imbalance_before;  /**< Largest load of a rank / mean - 1 ... */
    double imbalance_after;   /**< ... when all items are where they should. */
    double imbalance_bound;   /**< What no plan can be better than. */
    int64_t moves;            /**< Items that should change their rank. */
    int64_t fewest;           /**< Fewer could not reach the target. */
    int64_t across;           /**< Of the moves, between nodes. */
    int64_t bytes;            /**< Of all items; 0: none were given. */
    int64_t bytes_moved;      /**< Of the items that should move. */
    int64_t fewest_bytes;     /**< Less could not reach the target; 0 where the
                                   plan is as printed in HPDC 2012. */
    uint64_t decision;        /**< A hash: equal for equal decisions. */
    double seconds;           /**< On this rank. */
} ek_plan_report;

/** An empty ek_plan_report. */
#define EK_PLAN_REPORT_INIT EK_INIT(ek_plan_report)

/**
 * Plan which rank should own each item, so that loads are even and few items
 * move.
 *
 * Decides as ek_restore() does of tasks that took so long, with one worker on
 * each rank: it starts from where items are, and moves as few as it takes to
 * bring every rank down to a target, which is that of ek_restore().  Where
 * bytes are given a rank that has too much gives away what frees it with the
 * fewest bytes, not with the fewest items: at most twice as many as any choice
 * needs. What then fits into no hole displaces shorter items, whatever their
 * bytes.
 *
 * Costs count against each other only, so any unit will do; they are rounded to
 * a millionth of the largest, or finer.
 *
 * @param[in]  comm     Duplicated during the call, unless collections over it
 *                      are open.
 * @param[in]  items    Those that this rank owns; NULL: none.
 * @param[in]  policy   EK_RESTORE_CENTRALIZED, EK_RESTORE_HIERARCHICAL, one of
 *                      the two as printed, which ignore bytes, or
 *                      EK_RESTORE_AUTO: centralized up to 1,024 ranks, and
 *                      hierarchical beyond.  EK_RESTORE_DEFAULT: what
 *                      options.restore says of a first iteration, auto where
 *                      that moves nothing.
 *                      The same on all ranks.
 * @param[in]  options  As for ek_create(), of which restore, stall_ms, hpdc12,
 *                      ranks_per_node and those that begin with balance_ count;
 *                      NULL: EK_OPTIONS_INIT.
 * @param[out] new_rank [n]: the rank that should own each item; the own one:
 *                      it stays.
 * @param[out] report   What came of it, or NULL.
 *
 * @retval EK_OK
 * @retval EK_ERR_ARG    A cost is negative or not finite (the message names
 *                       rank and item), n is out of range, an array is
 *                       missing, the policy moves nothing, or policy or options
 *                       are not the same on all ranks.
 * @retval EK_ERR_STATE  MPI is not initialized or finalized, an iteration is
 *                       open, or a parallel region is active.
 * @retval EK_ERR_NOMEM
 * @retval EK_ERR_MPI    Communication failed.
 *
 * Call:    Collective over @p comm; synchronizing; one status for all.
 * Threads: One per rank, outside parallel regions.
 * Cost:    As a rebalance of ek_restore() with so many tasks; O(n log n) on a
 *          rank that has too much, 40 bytes for each item, and what making a
 *          collection costs: a duplicate of @p comm, and 64 KiB of shared
 *          memory on a node.
 * Paper:   Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 3; Csirik,
 *          Frenk, Labbe, Zhang, Acta Cybernetica 10 (1991) where bytes count.
 */
EK_API ek_status ek_plan(MPI_Comm comm, const ek_plan_items *items,
                         ek_restore_policy policy, const ek_options *options,
                         int *new_rank, ek_plan_report *report);

#ifdef __cplusplus
}
#endif
#endif
