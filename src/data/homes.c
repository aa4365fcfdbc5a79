/* SPDX-License-Identifier: BSD-3-Clause */
/* Which tasks have data, where their homes are, and what it may take: bytes,
 * and time to move it. */
#include "data/internal.h"

#include <inttypes.h>

enum {
    /* Of what is noted, the weight of a longer time is 1 / this; in each
     * process as much of it is forgotten, so that what nobody moves any more is
     * tried again. */
    NOTED_WEIGHT = 8,
    /* Before any data has travelled: bytes in a nanosecond, of the longest. */
    GUESSED_RATE = 1
};

/* What two of the largest, an input and a result, need for the home and for
 * each worker. */
static int64_t needed_bytes(const struct eki_data *data, int64_t bytes_max)
{
    return 2 * bytes_max * (data->protocol.engine->topology->workers_here + 1);
}

/* Share the budget out. */
static void set_parts(struct eki_data *data)
{
    int workers = data->protocol.engine->topology->workers_here;
    int64_t needed = needed_bytes(data, data->bytes_max);
    int64_t budget = data->setup.budget_bytes;
    int64_t pair = 2 * data->bytes_max;
    if (budget == 0)
        budget =
            needed > EKI_DATA_BUDGET_BYTES ? needed : EKI_DATA_BUDGET_BYTES;
    int64_t home = budget / 4, rest = budget - workers * pair;
    home = home > rest ? rest : home;
    data->home_part = home < pair ? pair : home;
    data->part = (budget - data->home_part) / workers;
}

static bool grow_ops(struct eki_data *data, int function)
{
    if (function < data->op_room)
        return true;
    int room = function + 8;
    ek_data_ops *ops = eki_realloc(data->ops, (size_t)room, sizeof *ops);
    if (!ops)
        return false;
    memset(ops + data->op_room, 0,
           (size_t)(room - data->op_room) * sizeof *ops);
    data->ops = ops;
    _Atomic int64_t *away_ns =
        eki_realloc((void *)data->away_ns, (size_t)room, sizeof *away_ns);
    if (!away_ns)
        return false;
    for (int f = data->op_room; f < room; f++)
        /* relaxed: handed on by the start of the team. */
        atomic_store_explicit(&away_ns[f], 0, memory_order_relaxed);
    data->away_ns = away_ns;
    data->op_room = room;
    data->protocol.engine->away_ns = data->away_ns;
    data->protocol.engine->away_count = room;
    return true;
}

ek_status eki_data_set(struct eki_engine *engine, int function,
                       const ek_data_ops *ops)
{
    struct eki_data *data = eki_data_of(engine);
    int64_t most = (int64_t)ops->bytes_max, budget = data->setup.budget_bytes;
    if (budget > 0 && needed_bytes(data, most) > budget)
        return eki_error(EK_ERR_ARG,
                         "bytes_max is %" PRId64
                         ": an input and a result for each of %d workers, and "
                         "for the home, need %" PRId64
                         " bytes; option data_bytes allows %" PRId64,
                         most, engine->topology->workers_here,
                         needed_bytes(data, most), budget);
    if (!grow_ops(data, function))
        return eki_error(EK_ERR_NOMEM, "no memory for data of tasks");
    data->ops[function] = *ops;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&data->away_ns[function], -2 * most / GUESSED_RATE,
                          memory_order_relaxed);
    if (most > data->bytes_max)
        data->bytes_max = most;
    set_parts(data);
    return EK_OK;
}

const ek_data_ops *eki_data_ops_of(const struct eki_engine *engine,
                                   int function)
{
    const struct eki_data *data = eki_data_of(engine);
    return data && function < data->op_room &&
                   data->ops[function].struct_bytes != 0
               ? &data->ops[function]
               : NULL;
}

void eki_data_charge(struct eki_data *data, int64_t bytes)
{
    /* relaxed, all: counts. */
    int64_t held = bytes + atomic_fetch_add_explicit(&data->held, bytes,
                                                     memory_order_relaxed);
    int64_t most = atomic_load_explicit(&data->held_most, memory_order_relaxed);
    while (held > most && !atomic_compare_exchange_weak_explicit(
                              &data->held_most, &most, held,
                              memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* Most of what makes a fetch longer hides behind tasks: short times count at
 * once, long ones little. */
void eki_data_note_fetch(struct eki_data *data, int function, int64_t ns)
{
    _Atomic int64_t *noted = &data->away_ns[function];
    /* relaxed, both: a guess, which the server alone writes. */
    int64_t old = atomic_load_explicit(noted, memory_order_relaxed);
    if (ns <= 0)
        return;
    atomic_store_explicit(
        noted, old <= 0 || ns < old ? ns : old + (ns - old) / NOTED_WEIGHT,
        memory_order_relaxed);
}

void eki_data_forget_fetches(struct eki_data *data)
{
    for (int f = 0; f < data->op_room; f++) {
        /* relaxed, both: handed on by the start of the team. */
        int64_t old =
            atomic_load_explicit(&data->away_ns[f], memory_order_relaxed);
        if (old > 0)
            atomic_store_explicit(&data->away_ns[f], old - old / NOTED_WEIGHT,
                                  memory_order_relaxed);
    }
}

struct eki_data_counts eki_data_counts_of(const struct eki_engine *engine)
{
    const struct eki_data *data = eki_data_of(engine);
    struct eki_data_counts counts = data->counts;
    for (int here = 0; here < engine->topology->workers_here; here++)
        counts.travelled += data->carriers[here].travelled;
    /* relaxed: nobody steps the engine. */
    counts.bytes_most =
        atomic_load_explicit(&data->held_most, memory_order_relaxed);
    return counts;
}
