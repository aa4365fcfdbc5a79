/* SPDX-License-Identifier: BSD-3-Clause */
/* Pauses of workers, as a machine with other things to do makes them. */
#ifndef EK_SIM_JITTER_H
#define EK_SIM_JITTER_H

#include "ek_sim.h"

struct jitter;

/* Read "P[:MS]" into MACHINE. */
bool jitter_read(const char *text, struct eki_machine *machine,
                 struct message *message);

/* NULL: there are no pauses. */
struct jitter *jitter_open(const struct run *run);
void jitter_close(struct jitter *jitter);
/* How long what takes NS takes with the pauses of WORKER that fall into it, or
 * during which it begins; NOW never falls. */
uint64_t jitter_ns(struct jitter *jitter, ptrdiff_t worker, uint64_t now,
                   uint64_t ns);

#endif
