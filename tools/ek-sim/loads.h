/* SPDX-License-Identifier: BSD-3-Clause */
/* How tasks are spread over the workers: what they start with, and ran. */
#ifndef EK_SIM_LOADS_H
#define EK_SIM_LOADS_H

#include "ek_sim.h"

struct loads;

/* NULL, with a message: the file cannot be written. */
struct loads *loads_open(const char *path, struct message *message);
bool loads_close(struct loads *loads, struct message *message);

/* An iteration begins with the tasks that the workers of SIM have. */
void loads_begin(struct loads *loads, const struct run *run,
                 const struct eki_sim *sim);
/* A worker of the job has run a task that took so many ns. */
void loads_add(struct loads *loads, ptrdiff_t worker, double ns);
/* The iteration (from 1) is over. */
void loads_end(struct loads *loads, const struct run *run,
               const struct mode *mode, int iteration);

#endif
