/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that moves for good: in a restore, each rank asks for that of its seeds
 * whose home is elsewhere. */
#include "data/internal.h"

void eki_data_follow(struct eki_engine *engine)
{
    eki_data_of(engine)->follower.is_wanted = true;
}

/* Seeds of worker HERE from where the follower is; NULL: none is left. */
static struct eki_slot *next_slot(struct eki_data *data)
{
    const struct eki_engine *engine = data->protocol.engine;
    struct eki_follower *follower = &data->follower;
    while (follower->here < engine->topology->workers_here) {
        const struct eki_local *local = &engine->workers[follower->here]->local;
        unsigned char *at = follower->at ? follower->at : local->seed_base;
        follower->at = at + engine->slot_bytes;
        if (at != local->seed_end)
            return (struct eki_slot *)at;
        follower->here++;
        follower->at = NULL;
    }
    return NULL;
}

static bool is_to_move(const struct eki_engine *engine,
                       const struct eki_slot *slot)
{
    return eki_data_ops_of(engine, slot->function) &&
           !(slot->flags & EKI_SLOT_RANGE) &&
           eki_engine_home(engine, slot) != engine->topology->rank;
}

/* There is no memory for the data of SEED: again, when other data has come, or
 * never. */
static void give_seed_up(struct eki_data *data, struct eki_slot *seed)
{
    struct eki_follower *follower = &data->follower;
    follower->seed = seed;
    if (follower->asked > 0)
        return;
    follower->is_open = false;
    eki_engine_fail(data->protocol.engine, EK_ERR_NOMEM,
                    "no memory for data that follows its task");
}

void eki_follower_open(struct eki_data *data, bool follows)
{
    data->follower =
        (struct eki_follower){.is_open = follows, .is_kept = follows};
    if (follows)
        eki_ticket_keep(&data->tickets, 0);
}

/* All data is here, or it was given up: the phase may end. */
static void let_go_when_done(struct eki_data *data)
{
    struct eki_follower *follower = &data->follower;
    bool is_done =
        !follower->is_open ||
        (follower->asked == 0 && !follower->seed &&
         follower->here == data->protocol.engine->topology->workers_here);
    if (follower->is_kept && is_done)
        eki_ticket_let_go(&data->tickets, 0);
    follower->is_kept &= !is_done;
}

static void ask_for_inputs(struct eki_data *data, uint64_t now)
{
    struct eki_engine *engine = data->protocol.engine;
    struct eki_follower *follower = &data->follower;
    struct eki_carrier *carrier = &data->carriers[0];
    while (follower->asked < EKI_DATA_OPS_MOST &&
           (follower->asked == 0 ||
            (follower->asked + 1) * data->bytes_max <= data->part)) {
        struct eki_slot *slot =
            follower->seed ? follower->seed : next_slot(data);
        if (!slot)
            return;
        follower->seed = NULL;
        if (!is_to_move(engine, slot))
            continue;
        struct eki_data_op *op = eki_carrier_ask(carrier, slot, now, 0);
        if (!op) {
            give_seed_up(data, slot);
            return;
        }
        op->seed = slot;
        follower->asked++;
    }
}

void eki_follower_step(struct eki_data *data, uint64_t now)
{
    ask_for_inputs(data, now);
    let_go_when_done(data);
}

void eki_follower_take(struct eki_data *data, struct eki_data_op *op)
{
    struct eki_engine *engine = data->protocol.engine;
    int rank = engine->topology->rank;
    struct eki_slot *seed = op->seed;
    ek_task task = eki_engine_show(engine, seed);
    task.is_new = true;
    task.home = rank;
    data->follower.asked--;
    if (op->total == EKI_INPUT_NO_MEMORY) {
        eki_engine_fail(engine, EK_ERR_NOMEM,
                        "no memory for data that follows its task");
    } else if (op->total < 0) {
        char text[EKI_CARRIER_SAYS];
        eki_carrier_say(op, text);
        eki_set_slot_error(engine, seed, text);
    } else {
        eki_data_unpack(data, op->ops, &task, op->buffer, (size_t)op->total);
        data->counts.travelled++;
        seed->flags &= (uint8_t)~EKI_SLOT_ADOPTED;
        if (eki_engine_home(engine, seed) != rank)
            eki_slot_adopt(seed, engine->slot_bytes, rank);
    }
    eki_carrier_free(&data->carriers[0], op);
    let_go_when_done(data);
}
