/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks that do nothing but last.
 */
#ifndef BPC_LENGTH_H
#define BPC_LENGTH_H

#include <evenkeel.h>

/**
 * Compute for so many seconds of the thread's own time, or sleep for so many
 * of the clock's; messages go through meanwhile.
 *
 * @param[in] worker  That runs the task; NULL: no task, and nobody waits.
 */
void length_last(ek_worker *worker, double seconds, bool has_sleep);

#endif
