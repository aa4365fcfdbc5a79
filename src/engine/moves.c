/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that depart: kept until there are buffers, and taken where they go. */
#include "engine/decode.h"
#include "engine/internal.h"

enum {
    FIRST_ROOM = 64
};

static bool has_room_to_depart(struct eki_moves *moves, size_t slot_bytes)
{
    int64_t slots = moves->room, ranks = moves->room;
    return eki_grow(&moves->slots, moves->count, &slots, FIRST_ROOM,
                    slot_bytes) &&
           eki_grow(&moves->ranks, moves->count, &ranks, FIRST_ROOM,
                    sizeof *moves->ranks) &&
           eki_grow(&moves->workers, moves->count, &moves->room, FIRST_ROOM,
                    sizeof *moves->workers);
}

/* A measured duration in units of another rank. */
static void scale(struct eki_slot *slot, double factor)
{
    if (slot->bin != EKI_BIN_NEVER && !(slot->flags & EKI_SLOT_SET))
        slot->bin =
            eki_bin_of((uint64_t)((double)eki_bin_ns(slot->bin) * factor));
}

bool eki_engine_depart_to(struct eki_engine *engine,
                          const struct eki_slot *slot, int rank, int worker)
{
    struct eki_moves *moves = &engine->moves;
    if (!has_room_to_depart(moves, engine->slot_bytes))
        return false;
    struct eki_slot *copy =
        eki_slot_at(moves->slots, moves->count, engine->slot_bytes);
    memcpy(copy, slot, engine->slot_bytes);
    if (moves->speed > 0)
        scale(copy, moves->speed);
    moves->workers[moves->count] = worker;
    moves->ranks[moves->count++] = rank;
    return true;
}

ek_status eki_engine_depart(struct eki_engine *engine,
                            const struct eki_slot *slot, int rank)
{
    if (!eki_engine_depart_to(engine, slot, rank, -1))
        return eki_error(EK_ERR_NOMEM, "no memory for a departing task");
    return EK_OK;
}

static void note_arrival(struct eki_moves *moves, const struct eki_slot *slot)
{
    if (slot->bin != EKI_BIN_NEVER && !(slot->flags & EKI_SLOT_SET) &&
        eki_grow(&moves->arrivals, moves->arrived, &moves->arrivals_room,
                 FIRST_ROOM, sizeof *moves->arrivals))
        moves->arrivals[moves->arrived++] =
            (struct eki_arrival){slot->id, slot->bin, slot->deviation};
}

/* In a restore tasks go straight to their worker's log: to that of their home,
 * where no worker is named. */
static enum eki_taken take_home(struct eki_engine *engine,
                                const struct eki_message *message)
{
    int workers = engine->topology->workers_here;
    for (int here = 0; here < workers; here++) {
        if (!eki_local_log_reserve(&engine->workers[here]->local,
                                   message->head.count))
            return eki_pass_on(engine, message->body, message->head.count)
                       ? EKI_TAKEN
                       : EKI_NO_MEMORY;
    }
    for (int64_t i = 0; i < message->head.count; i++) {
        const struct eki_slot *slot =
            (const struct eki_slot *)(message->body +
                                      i * (int64_t)engine->slot_bytes);
        int to = message->head.worker;
        struct ek_worker *worker =
            eki_server_worker(engine, to >= 0 ? to : eki_id_home(slot->id));
        struct eki_slot *copy = eki_local_log(&worker->local, slot);
        if (engine->moves.speed > 0)
            scale(copy, 1 / engine->moves.speed);
        if (to >= 0)
            note_arrival(&engine->moves, copy);
        worker->executed++;
    }
    for (int here = 0; here < workers; here++)
        eki_worker_store(engine->workers[here]);
    return EKI_TAKEN;
}

static enum eki_taken take_departed(struct eki_protocol *protocol,
                                    const struct eki_message *message,
                                    uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    (void)now;
    struct eki_decode decode = eki_decode_of(engine, &message->head);
    if (message->head.worker != -1 &&
        !eki_fits_worker(&decode, message->head.worker, engine->topology->rank))
        return EKI_REFUSED;
    if (engine->kind == EKI_PHASE_RESTORE)
        return take_home(engine, message);
    struct ek_worker *worker = eki_server_worker(engine, message->head.worker);
    return eki_server_deliver(engine, worker, message) ? EKI_TAKEN
                                                       : EKI_NO_MEMORY;
}

/* Tasks from the next one on that go to the same worker: they travel together.
 */
static int64_t count_alike(const struct eki_moves *moves, int64_t most)
{
    const int *ranks = moves->ranks + moves->next;
    const int *workers = moves->workers + moves->next;
    int64_t left = moves->count - moves->next, count = 1;
    most = left < most ? left : most;
    while (count < most && ranks[count] == ranks[0] &&
           workers[count] == workers[0])
        count++;
    return count;
}

static void step_departing(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    struct eki_moves *moves = (struct eki_moves *)protocol;
    (void)now;
    while (moves->next < moves->count) {
        int64_t next = moves->next;
        int64_t count = count_alike(moves, eki_message_slots(engine));
        struct eki_note note = {EKI_KIND_MOVE, moves->ranks[next],
                                moves->workers[next], -1, 0};
        if (!eki_exchange_send(
                &engine->exchange, &note,
                eki_slot_at(moves->slots, next, engine->slot_bytes), count,
                engine->slot_bytes))
            return;
        moves->next += count;
    }
}

static bool enter_departing(struct eki_protocol *protocol,
                            const struct eki_phase *phase, uint64_t now)
{
    struct eki_moves *moves = (struct eki_moves *)protocol;
    (void)phase, (void)now;
    moves->next = 0;
    return (moves->count | moves->more) != 0;
}

static bool may_vote_moves(const struct eki_protocol *protocol)
{
    const struct eki_moves *moves = (const struct eki_moves *)protocol;
    return moves->next == moves->count;
}

static void visit_moves(const struct eki_protocol *protocol,
                        eki_visit_fn *visitor, void *context)
{
    const struct eki_engine *engine = protocol->engine;
    const struct eki_moves *moves = (const struct eki_moves *)protocol;
    int64_t next = engine->is_open ? moves->next : 0;
    if (next < moves->count)
        visitor(context, "departing",
                (const unsigned char *)eki_slot_at(moves->slots, next,
                                                   engine->slot_bytes),
                moves->count - next);
}

static void destroy_moves(struct eki_protocol *protocol)
{
    struct eki_moves *moves = (struct eki_moves *)protocol;
    eki_free(moves->slots);
    eki_free(moves->ranks);
    eki_free(moves->workers);
    eki_free(moves->arrivals);
}

static const struct eki_verb moves_verbs[] = {{.name = "move",
                                               .concerns = EKI_CONCERNS_ALL,
                                               .body = EKI_BODY_SLOTS,
                                               .has_slots = true,
                                               .must_fit = true}};

const struct eki_protocol_ops eki_moves_ops = {.name = "moves",
                                               .channel = EKI_CHANNEL_MOVES,
                                               EKI_VERBS(moves_verbs),
                                               .destroy = destroy_moves,
                                               .enter = enter_departing,
                                               .take = take_departed,
                                               .step = step_departing,
                                               .may_vote = may_vote_moves,
                                               .visit = visit_moves};
