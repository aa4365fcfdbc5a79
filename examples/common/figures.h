/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The figures of an iteration that programs show, by name from its report.
 */
#ifndef COMMON_FIGURES_H
#define COMMON_FIGURES_H

#include <evenkeel_report.h>

/* Each is called as ek_report_get() calls it. */
/* clang-format off */
#define FIGURES(FIGURE)                                                    \
    FIGURE(workers) FIGURE(tasks) FIGURE(null_tasks) FIGURE(stolen)        \
    FIGURE(tries) FIGURE(steals) FIGURE(in_vain) FIGURE(messages)          \
    FIGURE(deepest) FIGURE(efficiency) FIGURE(speed) FIGURE(wall_s)        \
    FIGURE(work_s) FIGURE(cpu_s) FIGURE(search_s) FIGURE(stealing_s)       \
    FIGURE(restore_s) FIGURE(tile_gets) FIGURE(tile_hits)                  \
    FIGURE(tile_bytes) FIGURE(tile_wait_s) FIGURE(travelled)               \
    FIGURE(data_in_bytes) FIGURE(data_out_bytes) FIGURE(data_held_bytes)   \
    FIGURE(data_callback_s) FIGURE(data_wait_s) FIGURE(stopped)
/* clang-format on */

#define FIGURES_MEMBER(name) double name;
struct figures {
    FIGURES(FIGURES_MEMBER)
};

/**
 * ek_process() with its figures.
 *
 * @return As ek_process(), which has said what failed.
 *
 * Call: Collective over the ranks of @p tasks.
 */
ek_status figures_process(ek_collection *tasks, struct figures *figures);

/** Add each figure to its sum. */
void figures_add(const struct figures *figures, struct figures *sums);

#endif
