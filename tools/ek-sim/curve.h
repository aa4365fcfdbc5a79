/* SPDX-License-Identifier: BSD-3-Clause */
/* How many workers are in tasks, over the time of an iteration. */
#ifndef EK_SIM_CURVE_H
#define EK_SIM_CURVE_H

#include "ek_sim.h"

struct curve;

/* NULL, with a message: the file cannot be written. */
struct curve *curve_open(const char *path, struct message *message);
bool curve_close(struct curve *curve, struct message *message);

/* An iteration begins. */
void curve_begin(struct curve *curve);
/* A worker is in a task from BEGIN to END, ns in the iteration, in which it
 * does WORK, ns of a worker of speed 1. */
void curve_add(struct curve *curve, uint64_t begin, uint64_t end, double work);
/* The iteration (from 1) is over, after so many ns. */
void curve_end(struct curve *curve, const struct run *run,
               const struct mode *mode, int iteration, uint64_t ns);

#endif
