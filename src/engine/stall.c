/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a phase that stands still: a hang is explained, not guessed. */
#include "engine/internal.h"

static void print_worker(const struct eki_engine *engine,
                         const struct ek_worker *worker)
{
    const struct eki_worker_words *words = worker->words;
    /* relaxed, all: for the eye only. */
    eki_log(
        EK_LEVEL_WARN, engine->topology->rank, engine->topology->size, "engine",
        "worker %d: phase %llu, created %llu, executed %llu, idle %llu, "
        "deque word %llx done %llu %llu, inbox %s",
        worker->id,
        (unsigned long long)atomic_load_explicit(&words->phase,
                                                 memory_order_relaxed),
        (unsigned long long)atomic_load_explicit(&words->created,
                                                 memory_order_relaxed),
        (unsigned long long)atomic_load_explicit(&words->executed,
                                                 memory_order_relaxed),
        (unsigned long long)atomic_load_explicit(&words->idle,
                                                 memory_order_relaxed),
        (unsigned long long)atomic_load_explicit(&words->deque.word,
                                                 memory_order_relaxed),
        (unsigned long long)atomic_load_explicit(&words->deque.done[0],
                                                 memory_order_relaxed),
        (unsigned long long)atomic_load_explicit(&words->deque.done[1],
                                                 memory_order_relaxed),
        atomic_load_explicit(&worker->inbox, memory_order_relaxed) ? "filled"
                                                                   : "empty");
}

void eki_engine_stall(struct eki_engine *engine)
{
    if (engine->stall_printed)
        return;
    engine->stall_printed = true;
    eki_log(EK_LEVEL_WARN, engine->topology->rank, engine->topology->size,
            "engine",
            "phase %llu stands still: all workers are idle, but the tasks "
            "created and executed differ",
            (unsigned long long)engine->phase);
    for (int here = 0; here < engine->topology->workers_here; here++)
        print_worker(engine, engine->workers[here]);
}
