/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of a message that does not fit: it is dropped, and with it what
 * it should have changed, so the phase can not end by its sums any more.  It
 * ends in EK_ERR_MPI on all ranks, at once.
 *
 *     to neighbors in the tree   BREAK   struct eki_error; first: 1: it is
 *                                         broken, 0: it should be
 *
 * Whoever refuses a message notes that on its node, and so do the others.  The
 * server that speaks for a node breaks the phase as soon as the root cannot
 * take it for over without hearing of that: no vote of the node is on its way.
 * The root is such a server, so some server is.  If the phase ends well
 * nevertheless, the next one is broken.
 *
 * Messages of a pair of ranks keep their order: who hears that a phase is
 * broken before the verdict never gets that.
 *
 * The words: node->refused goes from EKI_FITS to EKI_REFUSING, _NOTED, _BREAKS,
 * and stays; after EK_ERR_MPI nothing but destruction is allowed.
 */
#include "engine/decode.h"
#include "engine/internal.h"

/* The phase is broken from now on. */
static void break_phase(struct eki_engine *engine)
{
    int expected = EKI_NOTED;
    /* release: as in eki_note_refusal(). */
    atomic_compare_exchange_strong_explicit(&engine->node->refused, &expected,
                                            EKI_BREAKS, memory_order_release,
                                            memory_order_relaxed);
    eki_set_stop(engine);
}

/* Tell the neighbors what is known, as far as there are buffers. */
static bool spread_break(struct eki_engine *engine, int refused)
{
    const struct eki_waves *waves = &engine->waves;
    if (engine->refusal_tells != refused)
        engine->refusal_told = 0;
    engine->refusal_tells = refused;
    for (; engine->refusal_told < waves->neighbor_count;
         engine->refusal_told++) {
        int node = waves->neighbors[engine->refusal_told].node;
        struct eki_note note = {EKI_KIND_BREAK,
                                engine->topology->lowest_rank[node], -1,
                                engine->topology->node, refused == EKI_BREAKS};
        if (!eki_exchange_send(&engine->exchange, &note, &engine->node->refusal,
                               1, sizeof engine->node->refusal))
            return false;
    }
    return true;
}

bool eki_refusal_breaks(struct eki_engine *engine)
{
    const struct eki_waves *waves = &engine->waves;
    int refused = eki_refused(engine);
    if (refused == EKI_NOTED && (engine->alone || engine->must_break ||
                                 (waves->is_lowest && !waves->voted)))
        break_phase(engine);
    else if (refused == EKI_NOTED && waves->is_lowest)
        spread_break(engine, refused);
    return eki_refused(engine) == EKI_BREAKS;
}

bool eki_refusal_is_told(struct eki_engine *engine)
{
    if (engine->alone || !engine->waves.is_lowest)
        return true;
    return spread_break(engine, EKI_BREAKS) &&
           engine->exchange.fabric->ops->drain(engine->exchange.fabric);
}

static enum eki_taken take_break(struct eki_protocol *protocol,
                                 const struct eki_message *message,
                                 uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    struct eki_error error;
    (void)now;
    if (!eki_break_fits(engine, message))
        return EKI_REFUSED;
    memcpy(&error, message->body, sizeof error);
    eki_note_refusal(engine, &error);
    eki_set_stop(engine);
    engine->must_break |= message->head.first == 1;
    return EKI_TAKEN;
}

static const struct eki_verb refusal_verbs[] = {
    {.name = "break",
     .concerns = EKI_CONCERNS_ALL,
     .body = EKI_BODY_ITEM,
     .item_bytes = sizeof(struct eki_error)}};

const struct eki_protocol_ops eki_refusal_ops = {.name = "refusal",
                                                 .channel = EKI_CHANNEL_REFUSAL,
                                                 EKI_VERBS(refusal_verbs),
                                                 .take = take_break};
