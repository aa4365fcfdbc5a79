/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans: which rank should own each item of the program, by the rebalancers of
 * ek_restore().
 *
 * There is no collection and no task, and nothing moves: the program moves its
 * blocks, boxes or columns itself.  docs/how-to/plan-blocks.md shows how.
 *
 * Errors, threads.  As in evenkeel.h.
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
    int64_t n;             /**< Number of items: 0 ... 2^31 - 1. */
    const double *seconds; /**< [n]: cost of each, in any unit, 0 or more; the
                                sum is finite.  NULL if n is 0. */
    const size_t *bytes;   /**< [n]: bytes that move with each; the sum is at
                                most 2^62 / ranks.  NULL: items count instead,
                                on all ranks that own items. */
} ek_plan_items;

/** No items. */
#define EK_PLAN_ITEMS_INIT EK_INIT(ek_plan_items)

/** What a plan does; all but seconds is the same on all ranks. */
typedef struct ek_plan_report {
    size_t struct_bytes;      /**< Set by EK_PLAN_REPORT_INIT. */
    ek_restore_policy policy; /**< The policy that decided. */
    int64_t items;            /**< Items of all ranks. */
    double imbalance_before;  /**< Largest load of a rank / mean - 1 ... */
    double imbalance_after;   /**< ... when the items have moved. */
    double imbalance_bound;   /**< No plan reaches less. */
    int64_t moves;            /**< Items that change their rank. */
    int64_t fewest;           /**< Moves that reaching the target needs. */
    int64_t across;           /**< Moves between nodes. */
    int64_t bytes;            /**< Of all items; 0: none were given. */
    int64_t bytes_moved;      /**< Of the items that move. */
    int64_t fewest_bytes;     /**< Bytes that reaching the target needs; 0 if
                                   the plan is as printed in HPDC 2012. */
    uint64_t decision;        /**< A hash: equal for equal decisions. */
    double seconds;           /**< Duration of the call on this rank. */
} ek_plan_report;

/** An empty ek_plan_report. */
#define EK_PLAN_REPORT_INIT EK_INIT(ek_plan_report)

/**
 * Plan which rank should own each item: even loads, and few moves.
 *
 * The plan starts from where the items are.  It brings each rank down to the
 * target of ek_restore() (docs/explain/balancing.md), with the fewest moves.
 * If bytes are given, it moves few bytes instead: at most twice the fewest.
 * @param[in]  comm     May be freed afterwards.
 * @param[in]  items    Those of this rank; NULL: none.
 * @param[in]  policy   EK_RESTORE_CENTRALIZED, EK_RESTORE_HIERARCHICAL, or one
 *                      of these as printed in HPDC 2012, which ignore bytes.
 *                      EK_RESTORE_AUTO: centralized for up to 1,024 ranks,
 *                      hierarchical beyond.  EK_RESTORE_DEFAULT: as
 *                      options.restore, or auto if this moves nothing.
 * @param[in]  options  NULL: defaults.  These count: restore, on_error,
 *                      stall_ms, ranks_per_node, balance_group, balance_ppm,
 *                      hpdc12.
 * @param[out] new_rank [n]: the rank that should own each item.
 * @param[out] report   What the plan does, or NULL.
 * @retval EK_ERR_ARG    A bad number, cost or sum, a missing array, a policy
 *                       that moves nothing, or ranks differ in policy, options,
 *                       or in whether they give bytes.
 * @retval EK_ERR_STATE  MPI is not initialized, an iteration is open, or a
 *                       parallel region is active.
 * Call:    Collective over @p comm; synchronizing.
 * Threads: Main thread.
 * Cost:    As a rebalance of so many tasks; 40 bytes per item.
 * Paper:   HPDC 2012, section 3; if bytes count, Csirik, Frenk, Labbe, Zhang,
 *          Acta Cybernetica 10 (1991).
 */
EK_API ek_status ek_plan(MPI_Comm comm, const ek_plan_items *items,
                         ek_restore_policy policy, const ek_options *options,
                         int *new_rank, ek_plan_report *report);

#ifdef __cplusplus
}
#endif
#endif
