/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines that are known by name.
 *
 * Of hopper, titan and intrepid the cores are those of HPDC 2012, as is the
 * time of a server on hopper, which was fitted to its steal attempts; message
 * figures come from the vendors and from other simulators.  What a core does
 * was measured on `this` and grows with the age of the others: an estimate.
 * Those of one-sided operations were measured on adapters of the family mlx5,
 * and are derived elsewhere (derive_rma()).
 */
#include "sim/machine.h"

#include <string.h>

/* What a node has; messages between nodes; a server, and how often workers step
 * it; what a core does.  Times in nanoseconds, rates in gigabytes per second.
 */
#define NODE(cores, ranks, server) \
    .node_cores = (cores), .node_ranks = (ranks), .has_server = (server)
#define NETWORK(latency_ns, send_ns, gap_ns, rate)               \
    .latency = (latency_ns), .send = (send_ns), .gap = (gap_ns), \
    .byte = 1.0 / (rate)
#define SERVER(handle_ns, poll_ns, period_ns) \
    .handle = (handle_ns), .poll = (poll_ns), .poll_period = (period_ns)
#define CORE(probe_ns, atomic_ns, rate, task_ns, restore_ns, balance_ns)   \
    .probe = (probe_ns), .atomic = (atomic_ns), .copy_byte = 1.0 / (rate), \
    .task = (task_ns), .restore = (restore_ns), .balance = (balance_ns)

/* Operations on words: a read (perftest #131), and changes of one word (UCX
 * #350: 2.321 million per second). */
#define MLX5_READ_NS 1910
#define MLX5_ATOMIC_NS 431

static const struct eki_machine presets[] = {
    /* Two CPUs of a virtual machine on an EPYC, while they were no neighbors;
     * messages through memory.  Written by ek-bench machine; the bandwidth
     * since messages lie in lockers, while they were neighbors. */
    {.name = "this",
     NODE(2, 1, false),
     NETWORK(157, 210, 196, 7.59),
     SERVER(409, 43.5, 20000),
     CORE(122, 126, 8.02, 4.45, 10.1, 29),
     .rma = 44,
     .rma_byte = 0.029,
     .rma_atomic = 36},
    {.name = "hopper", /* Cray XE6, Gemini: 2 x 12 Magny-Cours, 2.1 GHz */
     NODE(24, 1, true),
     NETWORK(1500, 400, 500, 5),
     SERVER(10000, 400, 30000),
     CORE(300, 300, 2, 20, 40, 120)},
    {.name = "titan", /* Cray XK6, Gemini: 16 Bulldozer, 2.2 GHz */
     NODE(16, 1, true),
     NETWORK(1600, 400, 500, 5),
     SERVER(10000, 400, 30000),
     CORE(300, 300, 2, 20, 40, 120)},
    {.name = "intrepid", /* Blue Gene/P: 4 PowerPC 450, 850 MHz */
     NODE(4, 1, true),
     NETWORK(3500, 1500, 1500, 0.375),
     SERVER(25000, 1000, 75000),
     CORE(1000, 500, 1, 60, 120, 350)},
    {.name = "edison", /* Cray XC30, Aries: 2 x 12 Ivy Bridge, 2.4 GHz */
     NODE(24, 1, true),
     NETWORK(1300, 300, 300, 8),
     SERVER(5000, 200, 20000),
     CORE(200, 200, 4, 10, 20, 60)},
    {.name = "frontier", /* Slingshot 11; 56 of 64 cores, a rank per adapter */
     NODE(56, 4, true),
     NETWORK(2000, 250, 150, 23),
     SERVER(2000, 100, 20000),
     CORE(150, 150, 5, 5, 10, 30)},
    {.name = "ib-edr", /* InfiniBand, ConnectX-6 at 100 Gb/s */
     NODE(48, 1, true),
     NETWORK(1100, 150, 100, 11.8),
     SERVER(1500, 100, 20000),
     .rma = MLX5_READ_NS,
     .rma_atomic = MLX5_ATOMIC_NS,
     CORE(150, 150, 5, 7, 15, 45)},
    {.name = "ib-hdr", /* at 200 Gb/s; a rank per socket */
     NODE(128, 2, true),
     NETWORK(1050, 120, 60, 24),
     SERVER(1200, 80, 20000),
     .rma = MLX5_READ_NS,
     .rma_atomic = MLX5_ATOMIC_NS,
     CORE(120, 120, 5, 5, 10, 30)},
    {.name = "ib-ndr", /* at 400 Gb/s; two ranks per socket */
     NODE(192, 4, true),
     NETWORK(1000, 100, 40, 48),
     SERVER(1000, 60, 20000),
     .rma = MLX5_READ_NS,
     .rma_atomic = MLX5_ATOMIC_NS,
     CORE(120, 120, 6, 5, 10, 30)},
    {.name = "tcp", /* 10 Gb/s Ethernet, through the kernel */
     NODE(16, 1, false),
     NETWORK(30000, 5000, 5000, 1.1),
     SERVER(20000, 1000, 75000),
     CORE(150, 150, 5, 7, 15, 45)}};

/* What is not known of one-sided operations: there and back, as a message; the
 * adapter takes them as fast as messages. */
static void derive_rma(struct eki_machine *machine)
{
    if (machine->rma == 0)
        machine->rma = 2 * machine->latency;
    if (machine->rma_byte == 0)
        machine->rma_byte = machine->byte;
    if (machine->rma_atomic == 0)
        machine->rma_atomic = machine->gap;
}

bool eki_machine_preset(const char *name, struct eki_machine *machine)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        if (strcmp(presets[i].name, name) != 0)
            continue;
        *machine = presets[i];
        derive_rma(machine);
        return true;
    }
    return false;
}

const char *eki_machine_presets(void)
{
    return "this, hopper, titan, intrepid, edison, frontier, ib-edr, ib-hdr, "
           "ib-ndr, tcp";
}
