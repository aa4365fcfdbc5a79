/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a phase that stands still: a hang is explained, not guessed. */
#include "engine/internal.h"
#include "engine/sight.h"

enum {
    NAMED_MOST = 16 /* workers of a rank that are printed */
};

/* Of what the server brings to a worker. */
static const char *box_word(const struct ek_worker *worker,
                            const _Atomic(struct eki_chunk *) *box)
{
    /* relaxed: for the eye only. */
    const void *first = atomic_load_explicit(box, memory_order_relaxed);
    return !first ? "empty" : first == (const void *)worker ? "shut" : "filled";
}

static void print_worker(const struct eki_engine *engine,
                         const struct ek_worker *worker)
{
    const struct eki_worker_words *words = worker->words;
    EKI_SAY(engine->topology,
            "worker %d: phase %llu, created %llu, executed %llu, idle %llu, "
            "deque word %llx done %llu %llu, inbox %s, answers %s",
            worker->id, eki_glance(&words->phase), eki_glance(&words->created),
            eki_glance(&words->executed), eki_glance(&words->idle),
            eki_glance(&words->deque.word), eki_glance(&words->deque.done[0]),
            eki_glance(&words->deque.done[1]), box_word(worker, &worker->inbox),
            box_word(worker, &worker->answers));
}

/* What was brought for workers that had others by then. */
static void print_server(const struct eki_engine *engine)
{
    if (engine->topology->size == 1)
        return;
    const struct eki_deque_shared *deque =
        eki_deque_of(engine, eki_server_deque(engine));
    int64_t left = eki_visible(engine, eki_server_deque(engine));
    if (left == 0)
        return;
    EKI_SAY(engine->topology,
            "server of this rank: %lld brought tasks to claim, deque word %llx "
            "done %llu %llu",
            (long long)left, eki_glance(&deque->word),
            eki_glance(&deque->done[0]), eki_glance(&deque->done[1]));
}

/* Whether tasks lie here that somebody should run. */
static bool holds_tasks(const struct ek_worker *worker)
{
    /* relaxed: for the eye only. */
    return atomic_load_explicit(&worker->inbox, memory_order_relaxed) ||
           eki_visible(worker->engine, worker->local_number) > 0;
}

void eki_engine_stall(const struct eki_engine *engine, const char *where,
                      bool is_short)
{
    const struct eki_topology *topology = engine->topology;
    int workers = topology->workers_here;
    int count = 0;
    if (!is_short)
        EKI_SAY(
            topology, "phase %llu stands still%s: %s",
            (unsigned long long)engine->phase, where,
            eki_has_lacked(engine)
                ? "no rank has memory for tasks that are left"
                : "all workers are idle, but the tasks created and executed "
                  "differ");
    for (int here = 0; here < workers; here++) {
        const struct ek_worker *worker = engine->workers[here];
        if ((!is_short || holds_tasks(worker)) && count++ < NAMED_MOST)
            print_worker(engine, worker);
    }
    if (count > NAMED_MOST)
        EKI_SAY(topology, "... and %d more workers of this rank",
                count - NAMED_MOST);
    print_server(engine);
}
