/* SPDX-License-Identifier: BSD-3-Clause */
/* What is written of iterations while they run: --utilization, --loads. */
#ifndef EK_SIM_OBSERVE_H
#define EK_SIM_OBSERVE_H

#include "ek_sim.h"

/* Open what is asked for; to be closed, also on failure. */
bool observer_open(const struct arguments *arguments, struct observer *observer,
                   struct message *message);
/* False, with a message: not all could be written. */
bool observer_close(struct observer *observer, struct message *message);

/* An iteration begins in SIM. */
void observe_begin(const struct run *run, const struct eki_sim *sim);
/* A worker of the job begins a task, so many ns after the iteration, that takes
 * TOOK ns for WORK on a worker of speed 1. */
void observe_task(const struct run *run, ptrdiff_t worker, uint64_t begin,
                  uint64_t took, double work);
/* The iteration (from 1) is over, after so many ns. */
void observe_end(const struct run *run, const struct mode *mode, int iteration,
                 uint64_t ns);

#endif
