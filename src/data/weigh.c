/* SPDX-License-Identifier: BSD-3-Clause */
/* What it takes to move the data of a task. */
#include "data/internal.h"

enum {
    /* Of what is noted, the weight of a longer time is 1 / this; in each
     * process as much of it is forgotten, so that what nobody moves any more is
     * tried again. */
    NOTED_WEIGHT = 8
};

/* Most of what makes a fetch longer hides behind tasks: short times count at
 * once, long ones little. */
void eki_data_note_fetch(struct eki_data *data, int function, int64_t ns)
{
    _Atomic int64_t *noted = &data->fetch_ns[function];
    /* relaxed, both: a guess, which the server alone writes. */
    int64_t old = atomic_load_explicit(noted, memory_order_relaxed);
    if (ns == 0)
        return;
    atomic_store_explicit(
        noted, old == 0 || ns < old ? ns : old + (ns - old) / NOTED_WEIGHT,
        memory_order_relaxed);
}

void eki_data_forget_fetches(struct eki_data *data)
{
    for (int f = 0; f < data->op_room; f++) {
        /* relaxed, both: handed on by the start of the team. */
        int64_t old =
            atomic_load_explicit(&data->fetch_ns[f], memory_order_relaxed);
        atomic_store_explicit(&data->fetch_ns[f], old - old / NOTED_WEIGHT,
                              memory_order_relaxed);
    }
}
