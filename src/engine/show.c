/* SPDX-License-Identifier: BSD-3-Clause */
/* A task as programs see it. */
#include "engine/engine.h"

#include <math.h>

int eki_engine_home(const struct eki_engine *engine,
                    const struct eki_slot *slot)
{
    const struct eki_topology *topology = engine->topology;
    const int *first = &topology->first_worker[topology->rank];
    int worker = eki_id_home(slot->id);
    if (slot->flags & EKI_SLOT_ADOPTED)
        return eki_slot_adopter(slot, engine->slot_bytes);
    return worker >= first[0] && worker < first[1]
               ? topology->rank
               : eki_topology_rank(topology, worker);
}

uint64_t eki_task_key(const struct ek_worker *worker)
{
    return eki_key(worker->engine->key_base, eki_worker_task_id(worker));
}

ek_task eki_engine_show(const struct eki_engine *engine,
                        const struct eki_slot *slot)
{
    bool is_range = slot->flags & EKI_SLOT_RANGE;
    bool is_measured = !is_range && slot->bin != EKI_BIN_NEVER;
    return (ek_task){
        .payload = (unsigned char *)slot->payload,
        .bytes = slot->bytes,
        .id = eki_key(engine->key_base, slot->id),
        .duration_s = is_measured ? (double)eki_bin_ns(slot->bin) * 1e-9 : NAN,
        .deviation = is_measured ? eki_deviation_relative(slot->deviation) : 0,
        .count = eki_slot_tasks(slot),
        .function = slot->function,
        .worker_id = -1,
        .home = eki_engine_home(engine, slot),
        .is_range = is_range};
}
