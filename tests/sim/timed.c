/* SPDX-License-Identifier: BSD-3-Clause */
#include "timed.h"

#include <string.h>

void timed_add(struct ek_worker *worker, int number, uint64_t ns, bool known)
{
    struct eki_slot *slot = eki_local_add_seed(&worker->local);
    *slot = (struct eki_slot){.bytes = sizeof ns,
                              .bin = known ? eki_bin_of(ns) : EKI_BIN_NEVER,
                              .flags = EKI_SLOT_SEED,
                              .id = eki_id(worker->id, (uint64_t)number)};
    memcpy(slot->payload, &ns, sizeof ns);
}

uint64_t timed_ns(const struct eki_sim_worker *worker)
{
    uint64_t ns;
    memcpy(&ns, eki_worker_current(worker->worker)->payload, sizeof ns);
    return ns;
}

struct eki_sim_setup timed_setup(const struct eki_machine *machine,
                                 const struct eki_sim_program *program)
{
    return (struct eki_sim_setup){.machine = machine,
                                  .program = program,
                                  .engine = {.buffer_slots = 1024,
                                             .payload_bytes = 16,
                                             .seed = 1,
                                             .has_counter = true,
                                             .check_words = 4096},
                                  .functions = 1,
                                  .send_buffers = 8,
                                  .message_bytes = 16384};
}
