/* SPDX-License-Identifier: BSD-3-Clause */
/* unfold: trees that unfold as their tasks run (--workload). */
#ifndef EK_SIM_UNFOLD_H
#define EK_SIM_UNFOLD_H

#include "ek_sim.h"
#include "unfold_kind.h"

/* Read --workload of ARGUMENTS; NULL: false, with a message. */
struct unfold *unfold_open(const struct arguments *arguments,
                           struct message *message);
void unfold_close(struct unfold *unfold);
size_t unfold_payload_bytes(const struct unfold *unfold);
/* Add the root, once, to the first worker of SIM; false: no memory. */
bool unfold_add(struct unfold *unfold, const struct eki_sim *sim);
/* An iteration begins. */
void unfold_begin(struct unfold *unfold);
/* The task of WORKER begins: how long it takes. */
double unfold_visit(struct unfold *unfold, const struct eki_sim_worker *worker);
/* It ends, and spawns; false: no memory. */
bool unfold_end(struct unfold *unfold, struct eki_sim_worker *worker);
const struct unfold_sums *unfold_sums(const struct unfold *unfold);
/* For people: the tree, and what an iteration has come to. */
void unfold_print(const struct unfold *unfold);

#endif
