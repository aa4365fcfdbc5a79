/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank leaves a phase: what all ranks return, and how long it took. */
#include "engine/internal.h"

/* The counters of the workers begin anew: a planted bug, they are cumulative.
 */
static void forget_counters(struct eki_engine *engine)
{
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        worker->created = worker->executed = 0;
        worker->first_id = worker->local.next_id;
        eki_worker_store(worker);
    }
}

/* Whether all nodes know that the phase is over. */
static bool is_announced(const struct eki_engine *engine)
{
    /* acquire: pairs with the release of the announcement: its error. */
    return !engine->alone &&
           atomic_load_explicit(&engine->node->announced,
                                memory_order_acquire) >= engine->phase;
}

/* What all ranks return. */
static void phase_error(struct eki_engine *engine, struct eki_error *error)
{
    /* relaxed: every worker here has ended. */
    int broken = atomic_load_explicit(&engine->broken, memory_order_relaxed);
    if (broken != EK_OK) {
        eki_error_init(error, broken);
        snprintf(error->text, sizeof error->text, "%.159s",
                 engine->exchange.fabric ? engine->exchange.fabric->failure
                                         : "");
    } else if (is_announced(engine)) {
        *error = engine->node->announced_error;
    } else if (eki_is_broken(engine)) {
        *error = engine->node->refusal;
    } else {
        eki_node_error(engine, error);
    }
}

/* How long the process took, by the worker that has ended last. */
static void note_time(struct eki_engine *engine)
{
    if (engine->kind != EKI_PHASE_PROCESS)
        return;
    engine->process_ns = 0;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        uint64_t ns = eki_ns_since(engine->entered_ns,
                                   engine->workers[here]->counts.done_ns);
        if (ns > engine->process_ns)
            engine->process_ns = ns;
    }
}

void eki_engine_leave(struct eki_engine *engine, struct eki_error *error)
{
    EKI_ASSERT_SLOW(eki_node_check(engine));
    if (EKI_UNLIKELY(engine->lineup.count > 0))
        eki_lineup_leave(engine);
    if (EKI_UNLIKELY(engine->elsewhere && engine->elsewhere->ops->leave))
        engine->elsewhere->ops->leave(engine->elsewhere);
    phase_error(engine, error);
    note_time(engine);
    engine->moves.count = 0;
    engine->is_open = false;
    if (engine->topology->size > 1) {
        struct eki_local *brought = &engine->post.brought.local;
        eki_share_settle(brought, &engine->post.brought.share);
        eki_local_reset_stack(brought);
        if (EKI_UNLIKELY(eki_has_lacked(engine)))
            eki_lack_forget(engine);
    }
    if (EKI_PLANTED(RESET_COUNTERS))
        forget_counters(engine);
    /* release: pairs with the acquire in eki_node_all_left(): no claimant of
     * this rank is about any more. */
    atomic_store_explicit(
        &engine->rank_words[engine->topology->node_index].left, engine->phase,
        memory_order_release);
}
