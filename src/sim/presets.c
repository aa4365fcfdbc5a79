/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines that are known by name.
 *
 * Of hopper, titan and intrepid the cores are those of HPDC 2012, as is the
 * time of a server on hopper, which was fitted to its steal attempts; message
 * figures come from the vendors and from other simulators.  What a core does
 * was measured on `this` and grows with the age of the others: an estimate.
 */
#include "sim/machine.h"

#include <string.h>

/* Nanoseconds per byte at so many gigabytes per second. */
#define GB_PER_S(rate) (1.0 / (rate))

static const struct eki_machine presets[] = {
    /* Two CPUs of a virtual machine on an EPYC, while they were no neighbours;
     * messages through memory.  Written by ek-bench machine. */
    {.name = "this",
     .node_cores = 2,
     .node_ranks = 1,
     .latency = 157,
     .send = 210,
     .gap = 196,
     .byte = GB_PER_S(0.557),
     .handle = 409,
     .poll = 43.5,
     .poll_period = 20000,
     .probe = 122,
     .atomic = 126,
     .copy_byte = GB_PER_S(8.02),
     .task = 4.45,
     .restore = 10.1,
     .balance = 29},
    {.name = "hopper", /* Cray XE6, Gemini: 2 x 12 Magny-Cours, 2.1 GHz */
     .node_cores = 24,
     .node_ranks = 1,
     .has_server = true,
     .latency = 1500,
     .send = 400,
     .gap = 500,
     .byte = GB_PER_S(5),
     .handle = 10000,
     .poll = 400,
     .poll_period = 30000,
     .probe = 300,
     .atomic = 300,
     .copy_byte = GB_PER_S(2),
     .task = 20,
     .restore = 40,
     .balance = 120},
    {.name = "titan", /* Cray XK6, Gemini: 16 Bulldozer, 2.2 GHz */
     .node_cores = 16,
     .node_ranks = 1,
     .has_server = true,
     .latency = 1600,
     .send = 400,
     .gap = 500,
     .byte = GB_PER_S(5),
     .handle = 10000,
     .poll = 400,
     .poll_period = 30000,
     .probe = 300,
     .atomic = 300,
     .copy_byte = GB_PER_S(2),
     .task = 20,
     .restore = 40,
     .balance = 120},
    {.name = "intrepid", /* Blue Gene/P: 4 PowerPC 450, 850 MHz */
     .node_cores = 4,
     .node_ranks = 1,
     .has_server = true,
     .latency = 3500,
     .send = 1500,
     .gap = 1500,
     .byte = GB_PER_S(0.375),
     .handle = 25000,
     .poll = 1000,
     .poll_period = 75000,
     .probe = 1000,
     .atomic = 500,
     .copy_byte = GB_PER_S(1),
     .task = 60,
     .restore = 120,
     .balance = 350},
    {.name = "edison", /* Cray XC30, Aries: 2 x 12 Ivy Bridge, 2.4 GHz */
     .node_cores = 24,
     .node_ranks = 1,
     .has_server = true,
     .latency = 1300,
     .send = 300,
     .gap = 300,
     .byte = GB_PER_S(8),
     .handle = 5000,
     .poll = 200,
     .poll_period = 20000,
     .probe = 200,
     .atomic = 200,
     .copy_byte = GB_PER_S(4),
     .task = 10,
     .restore = 20,
     .balance = 60},
    {.name = "frontier", /* Slingshot 11; 56 of 64 cores, a rank per adapter */
     .node_cores = 56,
     .node_ranks = 4,
     .has_server = true,
     .latency = 2000,
     .send = 250,
     .gap = 150,
     .byte = GB_PER_S(23),
     .handle = 2000,
     .poll = 100,
     .poll_period = 20000,
     .probe = 150,
     .atomic = 150,
     .copy_byte = GB_PER_S(5),
     .task = 5,
     .restore = 10,
     .balance = 30},
    {.name = "ib-edr", /* InfiniBand, ConnectX-6 at 100 Gb/s */
     .node_cores = 48,
     .node_ranks = 1,
     .has_server = true,
     .latency = 1100,
     .send = 150,
     .gap = 100,
     .byte = GB_PER_S(11.8),
     .handle = 1500,
     .poll = 100,
     .poll_period = 20000,
     .probe = 150,
     .atomic = 150,
     .copy_byte = GB_PER_S(5),
     .task = 7,
     .restore = 15,
     .balance = 45},
    {.name = "ib-hdr", /* at 200 Gb/s; a rank per socket */
     .node_cores = 128,
     .node_ranks = 2,
     .has_server = true,
     .latency = 1050,
     .send = 120,
     .gap = 60,
     .byte = GB_PER_S(24),
     .handle = 1200,
     .poll = 80,
     .poll_period = 20000,
     .probe = 120,
     .atomic = 120,
     .copy_byte = GB_PER_S(5),
     .task = 5,
     .restore = 10,
     .balance = 30},
    {.name = "ib-ndr", /* at 400 Gb/s; two ranks per socket */
     .node_cores = 192,
     .node_ranks = 4,
     .has_server = true,
     .latency = 1000,
     .send = 100,
     .gap = 40,
     .byte = GB_PER_S(48),
     .handle = 1000,
     .poll = 60,
     .poll_period = 20000,
     .probe = 120,
     .atomic = 120,
     .copy_byte = GB_PER_S(6),
     .task = 5,
     .restore = 10,
     .balance = 30},
    {.name = "tcp", /* 10 Gb/s Ethernet, through the kernel */
     .node_cores = 16,
     .node_ranks = 1,
     .latency = 30000,
     .send = 5000,
     .gap = 5000,
     .byte = GB_PER_S(1.1),
     .handle = 20000,
     .poll = 1000,
     .poll_period = 75000,
     .probe = 150,
     .atomic = 150,
     .copy_byte = GB_PER_S(5),
     .task = 7,
     .restore = 15,
     .balance = 45}};

bool eki_machine_preset(const char *name, struct eki_machine *machine)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        if (strcmp(presets[i].name, name) != 0)
            continue;
        *machine = presets[i];
        return true;
    }
    return false;
}

const char *eki_machine_presets(void)
{
    return "this, hopper, titan, intrepid, edison, frontier, ib-edr, ib-hdr, "
           "ib-ndr, tcp";
}
