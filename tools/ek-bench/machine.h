/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine file that is being measured. */
#ifndef EK_BENCH_MACHINE_H
#define EK_BENCH_MACHINE_H

#include "bench.h"

#include "cli/message.h"
#include "sim/machine.h"

struct measured {
    struct eki_machine machine; /* what is not measured stays */
    bool is_one_host;           /* messages went through shared memory */
    char kept[256];             /* keys that stayed */
};

/* Take a time to three digits for FIELD of the machine; what cannot be is not
 * taken. */
void bench_take(struct measured *measured, double *field, const char *key,
                double value);
/* The same of nanoseconds per byte, to three digits of the rate. */
void bench_take_rate(struct measured *measured, double *field, const char *key,
                     double value);

/* Whether a machine can be so; false, with a message: what cannot. */
bool bench_machine_is_possible(const struct eki_machine *machine,
                               struct message *message);

/* Two threads of rank 0. */
void bench_memory(const struct bench *bench, struct measured *measured);
/* A thread of rank 0 on each core. */
void bench_pauses(const struct bench *bench, struct measured *measured);
/* Messages of rank 0, and the server of rank 1; collective over both. */
void bench_messages(const struct bench *bench, MPI_Comm both,
                    struct measured *measured);

#endif
