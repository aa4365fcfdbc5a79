/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/gate.h"

#include "engine/offers.h"

struct gate {
    struct eki_protocol protocol;
    bool is_shut;
};

static bool enter_gate(struct eki_protocol *protocol,
                       const struct eki_phase *phase, uint64_t now)
{
    struct gate *gate = (struct gate *)protocol;
    (void)now;
    gate->is_shut = phase->kind == EKI_PHASE_PROCESS &&
                    protocol->engine->topology->node_ranks > 1;
    if (gate->is_shut)
        eki_engine_hold(protocol->engine, UINT64_MAX);
    return gate->is_shut;
}

static bool are_all_in(const struct eki_engine *engine)
{
    for (int rank = 0; rank < engine->topology->node_ranks; rank++) {
        const struct eki_worker_words *words =
            eki_words_of(engine, engine->first_local[rank]);
        /* acquire: pairs with the release in enter_worker(): what the program
         * has written on that rank. */
        if (atomic_load_explicit(&words->phase, memory_order_acquire) <
            engine->phase)
            return false;
    }
    return true;
}

static void step_gate(struct eki_protocol *protocol, uint64_t now)
{
    struct gate *gate = (struct gate *)protocol;
    struct eki_engine *engine = protocol->engine;
    (void)now;
    if (!gate->is_shut || (!eki_is_stopped(engine) && !are_all_in(engine)))
        return;
    gate->is_shut = false;
    eki_engine_let_go(engine);
}

static void destroy_gate(struct eki_protocol *protocol)
{
    eki_free(protocol);
}

static const struct eki_protocol_ops gate_ops = {
    .name = "gate",
    .channel = EKI_CHANNEL_GATE,
    .destroy = destroy_gate,
    .enter = enter_gate,
    .step = step_gate,
};

ek_status eki_gate_add(struct eki_engine *engine)
{
    if (eki_engine_protocol(engine, &gate_ops))
        return EK_OK;
    struct gate *gate = eki_alloc(1, sizeof *gate);
    if (!gate)
        return eki_error(EK_ERR_NOMEM, "no memory for a gate");
    gate->protocol.ops = &gate_ops;
    eki_engine_add(engine, &gate->protocol);
    return EK_OK;
}
