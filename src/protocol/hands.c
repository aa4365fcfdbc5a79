/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/hands.h"

#include "engine/away.h"
#include "engine/decode.h"

#include <math.h>

enum {
    DRAWS = 16 /* to find another rank */
};

static struct eki_hands *hands_of(struct eki_protocol *protocol)
{
    return (struct eki_hands *)protocol;
}

static bool is_holding(const struct eki_hands *hands)
{
    return hands->takes_to != 0;
}

/* A message to be sent; where there is no memory the task stays. */
static bool post_note(struct eki_hands *hands, int kind, int to,
                      struct eki_offer offer)
{
    return eki_queue_add(&hands->notes,
                         &(struct eki_hand_note){kind, to, offer});
}

/* Whether tasks stay on the node. */
static bool stays_on_node(const struct eki_hands *hands)
{
    return !hands->protocol.engine->elsewhere;
}

/* Whether there is another rank to hand tasks to. */
static bool has_others(const struct eki_hands *hands)
{
    const struct eki_topology *topology = hands->protocol.engine->topology;
    return (stays_on_node(hands) ? topology->node_ranks : topology->size) > 1;
}

/* The rank of a worker of the node, by its local number. */
static int rank_on_node(const struct eki_topology *topology, int local)
{
    int rank = topology->lowest_rank[topology->node] - 1;
    while (local >= 0) {
        rank++;
        if (topology->node_of_rank[rank] == topology->node)
            local -=
                topology->first_worker[rank + 1] - topology->first_worker[rank];
    }
    return rank;
}

/* A rank at random, by workers, that is neither this one nor FROM; -1: there is
 * none, or it was not found. */
static int draw_rank(struct eki_hands *hands, int from)
{
    const struct eki_topology *topology = hands->protocol.engine->topology;
    bool is_near = stays_on_node(hands);
    int workers = is_near ? topology->node_workers : topology->workers;
    for (int draws = 0; has_others(hands) && draws < DRAWS; draws++) {
        int worker = (int)eki_random_below(&hands->random, (uint64_t)workers);
        int rank = is_near ? rank_on_node(topology, worker)
                           : eki_topology_rank(topology, worker);
        if (rank != topology->rank && rank != from)
            return rank;
    }
    return -1;
}

/* Offer a task to another rank; false: it stays where it is. */
static bool pass_on(struct eki_hands *hands, struct eki_offer offer)
{
    int to = draw_rank(hands, offer.rank);
    return to >= 0 && post_note(hands, EKI_KIND_OFFER, to, offer);
}

/* A place on this rank for what was shed, the longest first, or an offer. */
static void settle_long(struct eki_hands *hands)
{
    for (int i = 0; i < hands->long_tasks.count; i++) {
        struct eki_hand *task = &hands->long_tasks.items[i];
        if (task->state != EKI_HAND_SHED)
            continue;
        int to = eki_long_worker_for(&hands->long_tasks, task->ns);
        if (to >= 0 && eki_long_move(&hands->long_tasks, task, to))
            continue;
        task->state = EKI_HAND_OFFERED;
        if (!eki_away_may_move(hands->protocol.engine,
                               eki_long_slot(&hands->long_tasks, task),
                               &hands->owed_ns))
            continue;
        pass_on(hands, (struct eki_offer){
                           .id = task->id,
                           .ns = task->ns,
                           .rank = hands->protocol.engine->topology->rank});
    }
}

/* What fits.  Where the largest load REACHED is more after a hand-over, the
 * mean is out of reach: half way to it may not be. */
static void set_target(struct eki_hands *hands, double reached)
{
    if (hands->has_tried && reached > hands->target)
        hands->target = (hands->target + reached) / 2;
    else if (!hands->has_tried && reached > EKI_HAND_FAR * hands->target)
        hands->target = EKI_HAND_TARGET;
}

/* For how long workers are held without news, where so much may be gained. */
static uint64_t longest_hold(uint64_t gain_ns)
{
    uint64_t part_ns = gain_ns / EKI_HAND_PART;
    return part_ns < EKI_HAND_HOLD_NS ? part_ns : EKI_HAND_HOLD_NS;
}

static void set_limits(struct eki_hands *hands, const struct eki_load *load)
{
    const struct eki_engine *engine = hands->protocol.engine;
    uint64_t mean_ns = load->work_ns / (uint64_t)engine->topology->workers;
    uint64_t least_ns = load->task_ns > mean_ns ? load->task_ns : mean_ns;
    double least = fmax((double)least_ns, 1);
    set_target(hands, (double)load->most_ns / least);
    hands->long_tasks.most_ns = (uint64_t)(least * hands->target);
    hands->long_tasks.minor_ns = mean_ns / EKI_HAND_MINOR;
    hands->hold_ns = engine->setup.hold_ns;
    if (hands->hold_ns != 0 || load->most_ns < hands->long_tasks.most_ns)
        return;
    if (hands->long_tasks.minor_ns < EKI_HAND_LEAST_NS)
        hands->long_tasks.minor_ns = EKI_HAND_LEAST_NS;
    hands->hold_ns = longest_hold(load->most_ns - hands->long_tasks.most_ns);
}

/* Whether tasks may be too long for stealing, as all ranks know alike. */
static bool is_due(struct eki_hands *hands, const struct eki_phase *phase)
{
    const struct eki_engine *engine = hands->protocol.engine;
    if (!phase->is_retained || !phase->has_threads || !engine->has_thieves ||
        engine->is_plain || eki_needs_asking(engine))
        return false;
    /* One node alone hears of no verdict. */
    struct eki_load load = phase->load ? *phase->load
                           : engine->alone
                               ? eki_node_load(engine, engine->processes - 1)
                               : engine->node->load;
    set_limits(hands, &load);
    return load.most_ns > hands->long_tasks.most_ns &&
           load.task_ns > hands->long_tasks.minor_ns;
}

/* From NOW, when there is news, tasks may come and go for a while. */
static void wait_for_more(struct eki_hands *hands, uint64_t now)
{
    uint64_t until = now + hands->hold_ns;
    hands->until = until < hands->latest ? until : hands->latest;
    hands->takes_to = hands->until - hands->hold_ns / 4;
}

static bool enter_hands(struct eki_protocol *protocol,
                        const struct eki_phase *phase, uint64_t now)
{
    struct eki_hands *hands = hands_of(protocol);
    struct eki_engine *engine = protocol->engine;
    int workers = engine->topology->workers_here;
    hands->long_tasks.count = 0;
    eki_queue_clear(&hands->notes);
    hands->until = hands->takes_to = hands->owed_ns = 0;
    if (phase->kind != EKI_PHASE_PROCESS)
        return false;
    hands->has_tried = is_due(hands, phase);
    if (!hands->has_tried)
        return false;
    hands->long_tasks.pinned_ns =
        eki_pinned_ns(&engine->pinned) / (uint64_t)workers;
    for (int here = 0; here < workers; here++) {
        hands->long_tasks.load_ns[here] = hands->long_tasks.pinned_ns;
        /* Without memory nothing moves. */
        if (!eki_long_look(&hands->long_tasks, here))
            return false;
    }
    eki_long_shed(&hands->long_tasks);
    settle_long(hands);
    /* Nobody else takes a task. */
    if (!has_others(hands))
        return false;
    hands->latest = now + EKI_HAND_HOLDS * hands->hold_ns;
    wait_for_more(hands, now);
    eki_engine_hold(engine, hands->until);
    return true;
}

/* Book a task that was offered to a worker of this rank; false: it does not
 * fit. */
static bool book_offer(struct eki_hands *hands, const struct eki_offer *offer)
{
    int here = eki_long_worker_for(&hands->long_tasks, offer->ns);
    if (here < 0 || !eki_long_reserve(&hands->long_tasks) ||
        !post_note(hands, EKI_KIND_TAKE, offer->rank, *offer))
        return false;
    eki_long_await(&hands->long_tasks, offer->id, offer->ns, here);
    settle_long(hands);
    return true;
}

static void take_offer(struct eki_hands *hands, struct eki_offer offer,
                       uint64_t now)
{
    if (now >= hands->takes_to || eki_is_stopped(hands->protocol.engine) ||
        book_offer(hands, &offer))
        return;
    if (++offer.times < EKI_HANDS_MOST)
        pass_on(hands, offer);
}

/* SOURCE takes a task that was offered; where it is too late the task stays. */
static void take_take(struct eki_hands *hands, uint64_t id, int source)
{
    struct eki_hand *task =
        eki_long_find(&hands->long_tasks, id, EKI_HAND_OFFERED);
    if (is_holding(hands) && task &&
        post_note(hands, EKI_KIND_HAND, source, (struct eki_offer){.id = id}))
        task->state = EKI_HAND_PROMISED;
}

static enum eki_taken take_hand(struct eki_hands *hands,
                                const struct eki_message *message)
{
    struct eki_engine *engine = hands->protocol.engine;
    const struct eki_slot *slot = (const struct eki_slot *)message->body;
    struct eki_hand *task =
        eki_long_find(&hands->long_tasks, slot->id, EKI_HAND_AWAITED);
    if (!is_holding(hands) || !task)
        return eki_server_share(engine, message->body, 1) ? EKI_TAKEN
                                                          : EKI_NO_MEMORY;
    return eki_long_receive(&hands->long_tasks, task, slot) ? EKI_TAKEN
                                                            : EKI_NO_MEMORY;
}

static const struct eki_row offer_rows[] = {
    EKI_ROW(struct eki_offer, ns, "duration", 1, INT64_MAX, EKI_FOLD_NONE),
    EKI_ROW(struct eki_offer, times, "times passed on", 0, EKI_HANDS_MOST - 1,
            EKI_FOLD_NONE)};
static const struct eki_shape offer_shape = EKI_SHAPE(offer_rows);

static bool hand_offer_fits(const struct eki_decode *decode,
                            const struct eki_offer *offer)
{
    const struct eki_topology *topology = decode->engine->topology;
    return eki_fits(decode, "home of a task", eki_id_home(offer->id), 0,
                    topology->workers - 1) &&
           eki_fits(decode, "rank", offer->rank, 0, topology->size - 1);
}

static enum eki_taken take_hands(struct eki_protocol *protocol,
                                 const struct eki_message *message,
                                 uint64_t now)
{
    struct eki_hands *hands = hands_of(protocol);
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(protocol->engine, head);
    struct eki_offer offer;
    if (!eki_fits_one(&decode, "kind of phase", protocol->engine->kind,
                      EKI_PHASE_PROCESS))
        return EKI_REFUSED;
    if (is_holding(hands) && now < hands->until) {
        wait_for_more(hands, now);
        eki_engine_hold_on(protocol->engine, hands->until);
    }
    if (head->kind == EKI_KIND_HAND)
        return take_hand(hands, message);
    if (head->kind == EKI_KIND_TAKE) {
        take_take(hands, (uint64_t)head->first, head->source);
        return EKI_TAKEN;
    }
    memcpy(&offer, message->body, sizeof offer);
    if (!hand_offer_fits(&decode, &offer))
        return EKI_REFUSED;
    take_offer(hands, offer, now);
    return EKI_TAKEN;
}

/* Send a task that was promised, which is not here any more then; false: no
 * buffer. */
static bool send_hand(struct eki_hands *hands, const struct eki_note *note)
{
    struct eki_engine *engine = hands->protocol.engine;
    struct eki_hand *task = eki_long_find(
        &hands->long_tasks, (uint64_t)note->first, EKI_HAND_PROMISED);
    if (!eki_exchange_send(&engine->exchange, note,
                           eki_long_slot(&hands->long_tasks, task), 1,
                           engine->slot_bytes))
        return false;
    eki_long_hand_over(&hands->long_tasks, task);
    return true;
}

static bool send_note(void *context, void *item)
{
    struct eki_hands *hands = context;
    const struct eki_hand_note *waiting = item;
    struct eki_note note = {waiting->kind, waiting->to, -1, -1,
                            (int64_t)waiting->offer.id};
    if (note.kind == EKI_KIND_HAND)
        return send_hand(hands, &note);
    return eki_exchange_send(&hands->protocol.engine->exchange, &note,
                             &waiting->offer, note.kind == EKI_KIND_OFFER,
                             sizeof waiting->offer);
}

static void step_hands(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_hands *hands = hands_of(protocol);
    struct eki_engine *engine = protocol->engine;
    if (EKI_LIKELY(!is_holding(hands)))
        return;
    if (now < hands->until && !eki_is_stopped(engine)) {
        eki_queue_serve(&hands->notes, send_note, hands);
        return;
    }
    EKI_ASSERT_SLOW(eki_hands_check(engine));
    hands->takes_to = 0;
    eki_engine_let_go(engine);
}

static void destroy_hands(struct eki_protocol *protocol)
{
    struct eki_hands *hands = hands_of(protocol);
    eki_free(hands->long_tasks.load_ns);
    eki_free(hands->long_tasks.above_ns);
    eki_free(hands->long_tasks.items);
    eki_free(hands->notes.items);
    eki_free(hands);
}

static const struct eki_verb hands_verbs[] = {
    {.name = "offer",
     .body = EKI_BODY_ITEM,
     .item_bytes = sizeof(struct eki_offer),
     .shape = &offer_shape},
    {.name = "take", .body = EKI_BODY_NONE},
    {.name = "hand",
     .body = EKI_BODY_SLOTS,
     .slots_most = 1,
     .has_slots = true,
     .must_fit = true}};

const struct eki_protocol_ops eki_hands_ops = {.name = "hands",
                                               .channel = EKI_CHANNEL_HANDS,
                                               EKI_VERBS(hands_verbs),
                                               .destroy = destroy_hands,
                                               .enter = enter_hands,
                                               .take = take_hands,
                                               .step = step_hands};

ek_status eki_hands_add(struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    size_t workers = (size_t)topology->workers_here;
    struct eki_hands *hands = eki_alloc(1, sizeof *hands);
    if (hands) {
        hands->protocol.ops = &eki_hands_ops;
        hands->long_tasks.engine = engine;
        hands->notes = EKI_QUEUE(struct eki_hand_note, 64);
        hands->long_tasks.load_ns =
            eki_alloc(workers, sizeof *hands->long_tasks.load_ns);
        hands->long_tasks.above_ns =
            eki_alloc(workers, sizeof *hands->long_tasks.above_ns);
        eki_random_seed(&hands->random, engine->setup.seed,
                        (uint64_t)(topology->workers + topology->rank));
        if (hands->long_tasks.load_ns && hands->long_tasks.above_ns) {
            eki_engine_add(engine, &hands->protocol);
            return EK_OK;
        }
        destroy_hands(&hands->protocol);
    }
    return eki_error(EK_ERR_NOMEM, "no memory for handing tasks over");
}
