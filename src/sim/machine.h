/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines: what a message, an atomic, a copy and a task cost.
 *
 * LogGP between nodes (Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995), and
 * what decides more than all of it: the time of a server for one active
 * message.  docs/reference/file-formats.md tells where each figure comes from.
 */
#ifndef EKI_SIM_MACHINE_H
#define EKI_SIM_MACHINE_H

#include "base/base.h"

/* Times in nanoseconds. */
struct eki_machine {
    char name[64];
    int64_t node_cores; /* that Evenkeel uses */
    int64_t node_ranks; /* among which they are divided */
    int64_t has_server; /* one core of each rank is its server's */
    int64_t is_crowded; /* more threads than cores */
    /* Between nodes: one way; to send; between two messages; a byte. */
    double latency, send, gap, byte;
    /* A server: one active message, with receiving it and sending the answer.
     */
    double handle;
    double poll;        /* a server step that finds nothing */
    double poll_period; /* polling: a busy worker steps the server so often */
    /* Within a node: a look at another's word, an atomic on one word (one after
     * the other), a byte of a stolen task. */
    double probe, atomic, copy_byte;
    /* One-sided, on memory of another rank: an operation, until it is known to
     * be done; a byte that it gets or puts; a change of one word (one after the
     * other). */
    double rma, rma_byte, rma_atomic;
    double task;    /* to take and to log a task */
    double restore; /* of a task that stays */
    double balance; /* a rebalancer: one descriptor */
    /* A core does other things: percent of the time, and how long at once, mean
     * of an exponential law. */
    double pause_share, pause;
};

/* Fill MACHINE with what is known by NAME; false: there is no such preset. */
bool eki_machine_preset(const char *name, struct eki_machine *machine);
/* Names of all presets, "hopper, titan, ...". */
const char *eki_machine_presets(void);
/*
 * Read a machine file over MACHINE: what it does not tell stays.  EK_ERR_FILE:
 * the message names the file, the line, and what is allowed.
 */
ek_status eki_machine_read(const char *path, struct eki_machine *machine);
/* Write it as a machine file, with units and words. */
void eki_machine_write(const struct eki_machine *machine, FILE *file);

/* Workers of a rank. */
static inline int eki_machine_workers(const struct eki_machine *machine)
{
    return (int)(machine->node_cores / machine->node_ranks) -
           (machine->has_server != 0);
}

#endif
