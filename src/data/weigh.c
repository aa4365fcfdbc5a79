/* SPDX-License-Identifier: BSD-3-Clause */
/* What it takes to move the data of a task. */
#include "data/internal.h"

enum {
    /* Of these means, the weight of the last one is 1 / this. */
    MOVED_WEIGHT = 8,
    BYTE_PS_WEIGHT = 8
};

/* An input or a result of FUNCTION has so many bytes. */
void eki_data_note_moved(struct eki_data *data, int function, int64_t bytes)
{
    _Atomic int64_t *moved = &data->moved[function];
    /* relaxed, both: a guess, which the server alone writes. */
    int64_t old = atomic_load_explicit(moved, memory_order_relaxed);
    atomic_store_explicit(moved,
                          old == 0 ? bytes : old + (bytes - old) / MOVED_WEIGHT,
                          memory_order_relaxed);
}

/* A byte took so long, here or elsewhere; most of what makes it longer hides
 * behind tasks, so that short times count at once, long ones little. */
void eki_data_note_byte_ps(struct eki_data *data, int64_t ps)
{
    /* relaxed, both: a guess, which the server alone writes. */
    int64_t old = atomic_load_explicit(&data->byte_ps, memory_order_relaxed);
    if (ps == 0)
        return;
    atomic_store_explicit(
        &data->byte_ps,
        old == 0 || ps < old ? ps : old + (ps - old) / BYTE_PS_WEIGHT,
        memory_order_relaxed);
}

uint64_t eki_data_weigh(const struct eki_protocol *protocol,
                        const struct eki_slot *slot)
{
    const struct eki_data *data = (const struct eki_data *)protocol;
    if (!eki_data_ops_of(protocol->engine, slot->function))
        return 0;
    /* relaxed, both: guesses. */
    int64_t bytes = atomic_load_explicit(&data->moved[slot->function],
                                         memory_order_relaxed);
    int64_t byte_ps =
        atomic_load_explicit(&data->byte_ps, memory_order_relaxed);
    /* There and back. */
    return (uint64_t)(2 * bytes * byte_ps / 1000) *
           (uint64_t)eki_slot_tasks(slot);
}
