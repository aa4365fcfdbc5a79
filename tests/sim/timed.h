/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timed: seeds whose payload is how long they take, in the simulator without
 * the explorer's ledger.
 */
#ifndef TIMED_H
#define TIMED_H

#include "sim/parts.h"

/* A seed of WORKER that takes NS, and has been measured before (KNOWN) or not.
 * The last one added is run first. */
void timed_add(struct ek_worker *worker, int number, uint64_t ns, bool known);
/* How long the task takes that WORKER begins. */
uint64_t timed_ns(const struct eki_sim_worker *worker);
/* A setup for such seeds; ranks, workers and nodes are the caller's. */
struct eki_sim_setup timed_setup(const struct eki_machine *machine,
                                 const struct eki_sim_program *program);

#endif
