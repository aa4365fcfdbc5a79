/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports: what ek_process() and ek_restore() say of themselves.
 *
 * A program that passes a report to one of these calls includes this header.
 * ek_process_report has the figures that most programs look at; ek_report_get()
 * reads every figure by its name.  docs/how-to/read-the-report.md tells what
 * figures mean, and what to do about them.
 */
#ifndef EVENKEEL_REPORT_H
#define EVENKEEL_REPORT_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One iteration over the whole job. */
struct ek_process_report {
    size_t struct_bytes;   /**< Set by EK_PROCESS_REPORT_INIT. */
    double efficiency;     /**< Share of workers and servers that ran tasks. */
    double imbalance;      /**< Largest load of a worker / mean - 1. */
    double bound;          /**< Best efficiency the largest task allows. */
    double wall_s;         /**< Longest stay of a rank in ek_process(). */
    double work_s;         /**< Sum of task durations. */
    int64_t tasks;         /**< Executed, spawned ones included. */
    int64_t stolen;        /**< Tasks moved by stealing. */
    double largest_task_s; /**< Longest task that was timed alone. */
};

/** An empty ek_process_report. */
#define EK_PROCESS_REPORT_INIT EK_INIT(ek_process_report)

/** One ek_restore() on this rank. */
struct ek_restore_report {
    size_t struct_bytes;      /**< Set by EK_RESTORE_REPORT_INIT. */
    ek_restore_policy policy; /**< What was asked for. */
    int64_t tasks;     /**< Held by this rank afterwards; a range is 1. */
    int64_t discarded; /**< Gone for good on this rank. */
    int64_t moved;     /**< Tasks this rank sent to others. */
    double seconds;    /**< On this rank. */
    /* Of a rebalance, over the whole job and the same on all ranks. */
    double imbalance_before;  /**< Largest load of a worker / mean - 1 ... */
    double imbalance_after;   /**< ... as expected from the last durations. */
    double imbalance_bound;   /**< What no rebalance can be better than. */
    int64_t migrations;       /**< Tasks that changed their worker. */
    int64_t fewest;           /**< Fewer could not reach the target. */
    uint64_t decision;        /**< A hash: equal for equal decisions. */
    int64_t across;           /**< Of the migrations, between nodes. */
    int64_t fewest_across;    /**< Fewer of these could not reach the target.
                                   Nodes of several ranks count as none. */
    ek_restore_policy chosen; /**< What was done: EK_RESTORE_AUTO has retained,
                                   or rebalanced in one of two ways. */
    ek_steal_policy steal;    /**< Whom workers steal from next. */
    int64_t data_tasks;       /**< Whose data came here (data=follow) ... */
    int64_t data_bytes;       /**< ... and how much that was. */
};

/** An empty ek_restore_report. */
#define EK_RESTORE_REPORT_INIT EK_INIT(ek_restore_report)

/**
 * Read one figure of the last report by its name.
 *
 * Figures are the fields of ek_process_report and many others, such as
 * "search_s" and "failed" (docs/reference/figures.md).  Sums over the tasks of
 * a function are "function.NAME.tasks" and "function.NAME.work_s".
 *
 * @param[in]  name   Of the figure.
 * @param[out] value  The figure: an integer is exact up to 2^53, a policy is
 *                    the number of its enumerator.
 *
 * @retval EK_OK
 * @retval EK_ERR_ARG    Unknown figure; the message lists all.
 * @retval EK_ERR_STATE  No report was made: pass one to ek_process(), or set
 *                       options.report.
 *
 * Call:    Local.
 * Threads: One per rank, no iteration open.
 * Cost:    A search by name.
 */
EK_API ek_status ek_report_get(const ek_collection *tasks, const char *name,
                               double *value);

#ifdef __cplusplus
}
#endif
#endif
