/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports: figures of ek_process() and ek_restore().
 *
 *     ek_process_report report = EK_PROCESS_REPORT_INIT;
 *     ek_process(tasks, &report);
 *
 * ek_report_get() reads figures that have no field.
 * docs/how-to/read-the-report.md says what to do about each figure.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_REPORT_H
#define EVENKEEL_REPORT_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One iteration of the whole job; the same on all ranks. */
struct ek_process_report {
    size_t struct_bytes;   /**< Set by EK_PROCESS_REPORT_INIT. */
    double efficiency;     /**< Part of the cores' time in which tasks ran. */
    double imbalance;      /**< Largest load of a worker / mean - 1. */
    double bound;          /**< Best efficiency the largest task allows. */
    double wall_s;         /**< Longest stay of a rank in ek_process(). */
    double work_s;         /**< Sum of task durations. */
    int64_t tasks;         /**< Tasks that ran, spawned ones included. */
    int64_t stolen;        /**< Tasks that thieves took. */
    double largest_task_s; /**< Longest task that was timed alone. */
    int64_t stopped;       /**< 1: stopped by a signal, by the time limit or by
                                ek_stop_at(); else 0. */
};

/** An empty ek_process_report. */
#define EK_PROCESS_REPORT_INIT EK_INIT(ek_process_report)

/** One ek_restore(): first figures of this rank, then of the job. */
struct ek_restore_report {
    size_t struct_bytes;      /**< Set by EK_RESTORE_REPORT_INIT. */
    ek_restore_policy policy; /**< Of the call, or of options. */
    int64_t tasks;     /**< Held by this rank afterwards; a range is 1. */
    int64_t discarded; /**< Tasks of this rank that are gone for good. */
    int64_t moved;     /**< Tasks that this rank sent to others. */
    double seconds;    /**< Duration on this rank. */
    /* Of a rebalance; the same on all ranks. */
    double imbalance_before;  /**< Largest load of a worker / mean - 1 ... */
    double imbalance_after;   /**< ... and after it, by the last durations. */
    double imbalance_bound;   /**< No rebalance reaches less. */
    int64_t migrations;       /**< Tasks that changed their worker. */
    int64_t fewest;           /**< Migrations that reaching the target needs. */
    uint64_t decision;        /**< A hash: equal for equal decisions. */
    int64_t across;           /**< Migrations between nodes. */
    int64_t fewest_across;    /**< Of these, that reaching the target needs; a
                                   node of several ranks counts as 0. */
    ek_restore_policy chosen; /**< What EK_RESTORE_AUTO did; else @p policy. */
    ek_steal_policy steal;    /**< Whom workers steal from next. */
    int64_t data_tasks;       /**< Tasks whose data came to this rank ... */
    int64_t data_bytes;       /**< ... and its bytes, with data=follow. */
};

/** An empty ek_restore_report. */
#define EK_RESTORE_REPORT_INIT EK_INIT(ek_restore_report)

/**
 * Read a figure of the last report.
 * @param[in]  name   Such as "search_s" (docs/reference/figures.md), or, of a
 *                    function, "function.NAME.tasks" or
 *                    "function.NAME.work_s".
 * @param[out] value  Exact for integers up to 2^53; a policy is the number of
 *                    its enumerator.
 * @retval EK_ERR_ARG    A NULL, or an unknown figure; the message lists all.
 * @retval EK_ERR_STATE  No report was made: pass one to ek_process(), or set
 *                       options.report.
 * Call:    Local.
 * Threads: Main thread, no iteration open.
 */
EK_API ek_status ek_report_get(const ek_collection *tasks, const char *name,
                               double *value);

#ifdef __cplusplus
}
#endif
#endif
