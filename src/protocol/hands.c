/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States of a long task; all are forgotten on entering.  At first who enters
 * changes them, then the server.
 *
 *     -        -> HERE      a worker has it as a seed
 *     -        -> AWAITED   an OFFER fits a worker: TAKE will leave
 *     HERE     -> SHED      it does not fit its worker (any more)
 *     SHED     -> HERE      it fits another, or the same by now
 *     SHED     -> OFFERED   it fits none: OFFER will leave, if that can be
 *     OFFERED  -> PROMISED  TAKE has come in time: HAND will leave
 *     PROMISED -> -         HAND has left
 *     AWAITED  -> HERE      HAND has come in time
 */
#include "protocol/hands.h"

#include "engine/decode.h"

#include <math.h>

enum {
    /* Seeds of a worker that are looked at, from the top: where the longest
     * come first, all long ones of five times the mean. */
    LOOKED_AT = 256,
    DRAWS = 16 /* to find another rank */
};

static struct eki_hands *of(struct eki_protocol *protocol)
{
    return (struct eki_hands *)protocol;
}

static bool is_open(const struct eki_hands *hands)
{
    return hands->takes_to != 0;
}

static bool has_room_for_task(struct eki_hands *hands)
{
    return eki_grow(&hands->tasks, hands->count, &hands->room, 64,
                    sizeof *hands->tasks);
}

/* Note a task, for which there is room, behind those that are as long. */
static void note_task(struct eki_hands *hands, struct eki_hand task)
{
    int at = hands->count++;
    for (; at > 0 && hands->tasks[at - 1].ns < task.ns; at--)
        hands->tasks[at] = hands->tasks[at - 1];
    hands->tasks[at] = task;
}

/* The task of this id in this state; NULL: there is none. */
static struct eki_hand *find_task(struct eki_hands *hands, uint64_t id,
                                  enum eki_hand_state state)
{
    for (int i = 0; i < hands->count; i++) {
        if (hands->tasks[i].id == id && hands->tasks[i].state == state)
            return &hands->tasks[i];
    }
    return NULL;
}

static void forget_task(struct eki_hands *hands, const struct eki_hand *task)
{
    int at = (int)(task - hands->tasks);
    hands->count--;
    memmove(hands->tasks + at, hands->tasks + at + 1,
            (size_t)(hands->count - at) * sizeof *hands->tasks);
}

/* A message to be sent; where there is no memory the task stays. */
static bool post_note(struct eki_hands *hands, int kind, int to,
                      struct eki_offer offer)
{
    return eki_queue_add(&hands->notes,
                         &(struct eki_hand_note){kind, to, offer});
}

/* The slot of a task that lies here. */
static struct eki_slot *slot_of(const struct eki_hands *hands,
                                const struct eki_hand *task)
{
    struct eki_local *local =
        &hands->protocol.engine->workers[task->here]->local;
    unsigned char *at = local->seed_top;
    struct eki_slot *slot;
    do {
        at -= local->slot_bytes;
        slot = (struct eki_slot *)at;
        EKI_ASSERT(at >= local->seed_base);
    } while (slot->id != task->id);
    return slot;
}

/* Put a task among a worker's seeds, below longer ones; false: no memory. */
static bool insert(struct eki_local *local, const struct eki_slot *slot)
{
    uint32_t bytes = local->slot_bytes;
    unsigned char *at = (unsigned char *)eki_local_add_seed(local);
    if (!at)
        return false;
    for (; at != local->seed_base; at -= bytes) {
        const struct eki_slot *below = (const struct eki_slot *)(at - bytes);
        if (eki_bin_ns(below->bin) <= eki_bin_ns(slot->bin))
            break;
        memcpy(at, below, bytes);
    }
    memcpy(at, slot, bytes);
    return true;
}

static void take_out(struct eki_local *local, struct eki_slot *slot)
{
    unsigned char *at = (unsigned char *)slot;
    local->seed_top -= local->slot_bytes;
    local->seed_end = local->seed_top;
    memmove(at, at + local->slot_bytes, (size_t)(local->seed_top - at));
}

/* The worker of the rank that has least of long tasks. */
static int least(const struct eki_hands *hands)
{
    int workers = hands->protocol.engine->topology->workers_here, found = 0;
    for (int here = 1; here < workers; here++) {
        if (hands->load_ns[here] < hands->load_ns[found])
            found = here;
    }
    return found;
}

/* Whether a long task of NS fits a worker; the first one always does. */
static bool fits(const struct eki_hands *hands, int here, uint64_t ns)
{
    uint64_t load = hands->load_ns[here];
    return load == 0 || load + ns <= hands->most_ns;
}

/* Whether a long task of NS cannot displace TASK. */
static bool stays(const struct eki_hand *task, uint64_t ns)
{
    return task->state == EKI_HAND_AWAITED ||
           (task->state == EKI_HAND_HERE && task->ns >= ns);
}

/* The worker that has least, of those that have room for NS if it displaces
 * shorter tasks; -1: none. */
static int least_above(struct eki_hands *hands, uint64_t ns)
{
    int workers = hands->protocol.engine->topology->workers_here, found = -1;
    for (int here = 0; here < workers; here++)
        hands->above_ns[here] = hands->pinned_ns;
    for (int i = 0; i < hands->count; i++) {
        if (stays(&hands->tasks[i], ns))
            hands->above_ns[hands->tasks[i].here] += hands->tasks[i].ns;
    }
    for (int here = 0; here < workers; here++) {
        if (hands->above_ns[here] + ns <= hands->most_ns &&
            (found < 0 || hands->load_ns[here] < hands->load_ns[found]))
            found = here;
    }
    return found;
}

/* A worker that can take a long task of NS; -1: none can. */
static int find_worker(struct eki_hands *hands, uint64_t ns)
{
    int here = least(hands);
    return fits(hands, here, ns) ? here : least_above(hands, ns);
}

/* Of the tasks that are shorter than NS a worker keeps what fits, the longest
 * first. */
static void displace(struct eki_hands *hands, int here, uint64_t ns)
{
    uint64_t load = hands->pinned_ns;
    if (hands->load_ns[here] <= hands->most_ns)
        return;
    for (int i = 0; i < hands->count; i++) {
        if (hands->tasks[i].here == here && stays(&hands->tasks[i], ns))
            load += hands->tasks[i].ns;
    }
    for (int i = 0; i < hands->count; i++) {
        struct eki_hand *task = &hands->tasks[i];
        if (task->here != here || task->state != EKI_HAND_HERE ||
            task->ns >= ns)
            continue;
        if (load + task->ns <= hands->most_ns)
            load += task->ns;
        else
            task->state = EKI_HAND_SHED;
    }
    hands->load_ns[here] = load;
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
static bool pass(struct eki_hands *hands, struct eki_offer offer)
{
    int to = draw_rank(hands, offer.rank);
    return to >= 0 && post_note(hands, EKI_KIND_OFFER, to, offer);
}

/* Move a task that was shed to another worker of the rank; false: no memory. */
static bool move(struct eki_hands *hands, struct eki_hand *task, int to)
{
    struct ek_worker **workers = hands->protocol.engine->workers;
    struct eki_slot *slot = slot_of(hands, task);
    if (to != task->here) {
        if (!insert(&workers[to]->local, slot))
            return false;
        take_out(&workers[task->here]->local, slot);
    }
    task->here = to;
    task->state = EKI_HAND_HERE;
    hands->load_ns[to] += task->ns;
    displace(hands, to, task->ns);
    return true;
}

/* A place on this rank for what was shed, the longest first, or an offer. */
static void settle(struct eki_hands *hands)
{
    for (int i = 0; i < hands->count; i++) {
        struct eki_hand *task = &hands->tasks[i];
        if (task->state != EKI_HAND_SHED)
            continue;
        int to = find_worker(hands, task->ns);
        if (to >= 0 && move(hands, task, to))
            continue;
        task->state = EKI_HAND_OFFERED;
        pass(hands, (struct eki_offer){
                        .id = task->id,
                        .ns = task->ns,
                        .rank = hands->protocol.engine->topology->rank});
    }
}

/* Note the long seeds of a worker; false: no memory. */
static bool look_at_seeds(struct eki_hands *hands, int here)
{
    const struct eki_local *local =
        &hands->protocol.engine->workers[here]->local;
    const unsigned char *at = local->seed_top;
    for (int looked = 0; looked < LOOKED_AT && at != local->seed_base;
         looked++) {
        at -= local->slot_bytes;
        const struct eki_slot *slot = (const struct eki_slot *)at;
        uint64_t ns = eki_bin_ns(slot->bin);
        /* What a task has set need not be time. */
        if (ns <= hands->minor_ns || slot->flags & EKI_SLOT_SET)
            continue;
        if (!has_room_for_task(hands))
            return false;
        note_task(hands, (struct eki_hand){.ns = ns,
                                           .id = slot->id,
                                           .here = here,
                                           .state = EKI_HAND_HERE});
    }
    return true;
}

/* Each worker keeps what fits, the longest first. */
static void shed(struct eki_hands *hands)
{
    for (int i = 0; i < hands->count; i++) {
        struct eki_hand *task = &hands->tasks[i];
        if (fits(hands, task->here, task->ns))
            hands->load_ns[task->here] += task->ns;
        else
            task->state = EKI_HAND_SHED;
    }
    settle(hands);
}

/* What fits.  Where handing over has not helped, as the largest load REACHED
 * tells, the mean is out of reach: half way to it may not be. */
static void set_target(struct eki_hands *hands, double reached)
{
    if (!hands->has_tried && reached > EKI_HAND_FAR * hands->target)
        hands->target = EKI_HAND_TARGET;
    else if (hands->has_tried && reached > hands->target &&
             reached > EKI_HAND_HELPED * hands->reached)
        hands->target = (hands->target + reached) / 2;
    hands->reached = reached;
}

static void set_limits(struct eki_hands *hands, const struct eki_load *load)
{
    const struct eki_engine *engine = hands->protocol.engine;
    uint64_t mean_ns = load->work_ns / (uint64_t)engine->topology->workers;
    uint64_t least_ns = load->task_ns > mean_ns ? load->task_ns : mean_ns;
    double least = fmax((double)least_ns, 1);
    set_target(hands, (double)load->most_ns / least);
    hands->most_ns = (uint64_t)(least * hands->target);
    hands->minor_ns = mean_ns / EKI_HAND_MINOR;
    hands->hold_ns = engine->setup.hold_ns;
    if (hands->hold_ns != 0 || load->most_ns < hands->most_ns)
        return;
    if (hands->minor_ns < EKI_HAND_LEAST_NS)
        hands->minor_ns = EKI_HAND_LEAST_NS;
    hands->hold_ns = (load->most_ns - hands->most_ns) / EKI_HAND_PART;
    if (hands->hold_ns > EKI_HAND_HOLD_NS)
        hands->hold_ns = EKI_HAND_HOLD_NS;
}

/* Whether tasks may be too long for stealing, as all ranks know alike. */
static bool is_due(struct eki_hands *hands, const struct eki_phase *phase)
{
    const struct eki_engine *engine = hands->protocol.engine;
    if (!phase->is_retained || !phase->has_threads || !engine->has_thieves)
        return false;
    /* One node alone hears of no verdict. */
    struct eki_load load = engine->alone
                               ? eki_node_load(engine, engine->processes - 1)
                               : engine->node->load;
    set_limits(hands, &load);
    return load.most_ns > hands->most_ns && load.task_ns > hands->minor_ns;
}

static bool enter(struct eki_protocol *protocol, const struct eki_phase *phase,
                  uint64_t now)
{
    struct eki_hands *hands = of(protocol);
    struct eki_engine *engine = protocol->engine;
    int workers = engine->topology->workers_here;
    hands->count = 0;
    eki_queue_clear(&hands->notes);
    hands->until = hands->takes_to = 0;
    if (phase->kind != EKI_PHASE_PROCESS)
        return false;
    hands->has_tried = is_due(hands, phase);
    if (!hands->has_tried)
        return false;
    hands->pinned_ns = eki_pinned_ns(&engine->pinned) / (uint64_t)workers;
    for (int here = 0; here < workers; here++) {
        hands->load_ns[here] = hands->pinned_ns;
        /* Without memory nothing moves. */
        if (!look_at_seeds(hands, here))
            return false;
    }
    shed(hands);
    /* Nobody else takes a task. */
    if (!has_others(hands))
        return false;
    hands->until = now + hands->hold_ns;
    hands->takes_to = hands->until - hands->hold_ns / 4;
    eki_engine_hold(engine, hands->until);
    return true;
}

/* Book a task that was offered to a worker of this rank; false: it does not
 * fit. */
static bool book(struct eki_hands *hands, const struct eki_offer *offer)
{
    int here = find_worker(hands, offer->ns);
    if (here < 0 || !has_room_for_task(hands) ||
        !post_note(hands, EKI_KIND_TAKE, offer->rank, *offer))
        return false;
    note_task(hands, (struct eki_hand){.ns = offer->ns,
                                       .id = offer->id,
                                       .here = here,
                                       .state = EKI_HAND_AWAITED});
    hands->load_ns[here] += offer->ns;
    displace(hands, here, offer->ns);
    settle(hands);
    return true;
}

static void take_offer(struct eki_hands *hands, struct eki_offer offer,
                       uint64_t now)
{
    if (now >= hands->takes_to || eki_is_stopped(hands->protocol.engine) ||
        book(hands, &offer))
        return;
    if (++offer.times < EKI_HANDS_MOST)
        pass(hands, offer);
}

/* SOURCE takes a task that was offered; where it is too late the task stays. */
static void take_take(struct eki_hands *hands, uint64_t id, int source)
{
    struct eki_hand *task = find_task(hands, id, EKI_HAND_OFFERED);
    if (is_open(hands) && task &&
        post_note(hands, EKI_KIND_HAND, source, (struct eki_offer){.id = id}))
        task->state = EKI_HAND_PROMISED;
}

static enum eki_taken take_hand(struct eki_hands *hands,
                                const struct eki_message *message)
{
    struct eki_engine *engine = hands->protocol.engine;
    const struct eki_slot *slot = (const struct eki_slot *)message->body;
    struct eki_hand *task = find_task(hands, slot->id, EKI_HAND_AWAITED);
    if (!is_open(hands) || !task)
        return eki_server_share(engine, message) ? EKI_TAKEN : EKI_NO_MEMORY;
    if (!insert(&engine->workers[task->here]->local, slot))
        return EKI_NO_MEMORY;
    task->state = EKI_HAND_HERE;
    return EKI_TAKEN;
}

static const struct eki_row offer_rows[] = {
    EKI_ROW(struct eki_offer, ns, "duration", 1, INT64_MAX, EKI_FOLD_NONE),
    EKI_ROW(struct eki_offer, times, "times passed on", 0, EKI_HANDS_MOST - 1,
            EKI_FOLD_NONE)};
static const struct eki_shape offer_shape = EKI_SHAPE(offer_rows);

static bool offer_fits(const struct eki_decode *decode,
                       const struct eki_offer *offer)
{
    const struct eki_topology *topology = decode->engine->topology;
    return eki_fits(decode, "home of a task", eki_id_home(offer->id), 0,
                    topology->workers - 1) &&
           eki_fits(decode, "rank", offer->rank, 0, topology->size - 1);
}

static enum eki_taken take(struct eki_protocol *protocol,
                           const struct eki_message *message, uint64_t now)
{
    struct eki_hands *hands = of(protocol);
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(protocol->engine, head);
    struct eki_offer offer;
    if (!eki_fits_one(&decode, "kind of phase", protocol->engine->kind,
                      EKI_PHASE_PROCESS))
        return EKI_REFUSED;
    if (head->kind == EKI_KIND_HAND)
        return take_hand(hands, message);
    if (head->kind == EKI_KIND_TAKE) {
        take_take(hands, (uint64_t)head->first, head->source);
        return EKI_TAKEN;
    }
    memcpy(&offer, message->body, sizeof offer);
    if (!offer_fits(&decode, &offer))
        return EKI_REFUSED;
    take_offer(hands, offer, now);
    return EKI_TAKEN;
}

/* Send a task that was promised, which is not here any more then; false: no
 * buffer. */
static bool send_hand(struct eki_hands *hands, const struct eki_note *note)
{
    struct eki_engine *engine = hands->protocol.engine;
    struct eki_hand *task =
        find_task(hands, (uint64_t)note->first, EKI_HAND_PROMISED);
    struct eki_slot *slot = slot_of(hands, task);
    if (!eki_exchange_send(&engine->exchange, note, slot, 1,
                           engine->slot_bytes))
        return false;
    if (!EKI_PLANTED(HANDED_STAYS))
        take_out(&engine->workers[task->here]->local, slot);
    forget_task(hands, task);
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

static void step(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_hands *hands = of(protocol);
    struct eki_engine *engine = protocol->engine;
    if (EKI_LIKELY(!is_open(hands)))
        return;
    if (now < hands->until && !eki_is_stopped(engine)) {
        eki_queue_serve(&hands->notes, send_note, hands);
        return;
    }
    EKI_ASSERT_SLOW(eki_hands_check(engine));
    hands->takes_to = 0;
    eki_engine_let_go(engine);
}

static void destroy(struct eki_protocol *protocol)
{
    struct eki_hands *hands = of(protocol);
    eki_free(hands->load_ns);
    eki_free(hands->above_ns);
    eki_free(hands->tasks);
    eki_free(hands->notes.items);
    eki_free(hands);
}

static const struct eki_verb verbs[] = {{.name = "offer",
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
                                               .verbs = verbs,
                                               .verb_count =
                                                   sizeof verbs / sizeof *verbs,
                                               .destroy = destroy,
                                               .enter = enter,
                                               .take = take,
                                               .step = step};

ek_status eki_hands_add(struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    size_t workers = (size_t)topology->workers_here;
    struct eki_hands *hands = eki_alloc(1, sizeof *hands);
    if (hands) {
        hands->protocol.ops = &eki_hands_ops;
        hands->notes = EKI_QUEUE(struct eki_hand_note, 64);
        hands->load_ns = eki_alloc(workers, sizeof *hands->load_ns);
        hands->above_ns = eki_alloc(workers, sizeof *hands->above_ns);
        eki_random_seed(&hands->random, engine->setup.seed,
                        (uint64_t)(topology->workers + topology->rank));
        if (hands->load_ns && hands->above_ns) {
            eki_engine_add(engine, &hands->protocol);
            return EK_OK;
        }
        destroy(&hands->protocol);
    }
    return eki_error(EK_ERR_NOMEM, "no memory for handing tasks over");
}
