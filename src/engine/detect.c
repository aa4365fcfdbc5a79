/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a node that votes had nothing open at one instant.  What is closed, or
 * executed, was opened, or created, before: at any instant the latter sum is at
 * least the former.  All that is closed is read first (acquire), what is opened
 * second, so that what is read of the former is no more than at an instant
 * between, and of the latter no less.  Both are equal: then nothing was open at
 * that instant.  Counts of an other kind do not hide each other: each is
 * opened before it is closed.
 *
 * Why the end is no earlier, of francez.  Let T be the moment when the root
 * begins a wave in which nobody votes NO, and look at the first tasks that
 * leave a node after T.  If that node had not voted in this wave, its flag,
 * which is set before tasks leave, made it vote NO.  If it had, it had no task
 * then and has got some since, for a request that left after its vote: they had
 * left another node, after T, before.  So no tasks leave a node after T.  Those
 * that left before T have come before their receiver votes, because it waits
 * for the answer.
 *
 * Of acknowledged: what left a node before its last vote before T has come
 * before that vote.  What left since makes it vote NO.
 *
 * Who votes is the server of the lowest rank, but servers of all ranks of the
 * node set flags meanwhile.  It reads and clears each at once, when nothing is
 * open: tasks that have left by then were closed, and the flag set before.  A
 * flag may have been set since, for tasks that are on their way: so who has
 * cleared one looks again before it votes.  One that is set after that counts
 * in the next vote.
 */
#include "engine/detect.h"

#include "engine/decode.h"
#include "engine/internal.h"

/* Messages of a rank that are acknowledged next. */
struct receipt {
    int rank;
    int64_t messages;
};

enum state {
    STATE_BUSY, /* a worker has, or may have, tasks */
    STATE_OPEN, /* workers are idle, but something is open */
    STATE_SETTLED
};

enum {
    STALL_PART = 4 /* of stall_ms: votes go on after so long */
};

const struct eki_detection *eki_detection_of(int detector)
{
    static const struct eki_detection francez = {.needs_answers = true};
    static const struct eki_detection acknowledged = {.needs_receipts = true};
    static const struct eki_detection planted;
    if (detector == EKI_DETECTOR_COUNTING)
        return NULL;
    if (EKI_PLANTED(SUMS_ALONE))
        return &planted;
    return detector == EKI_DETECTOR_FRANCEZ ? &francez : &acknowledged;
}

static struct eki_rank_words *words_here(const struct eki_engine *engine)
{
    return &engine->rank_words[engine->topology->node_index];
}

/* Tasks of a message. */
static uint64_t tasks_of_message(const struct eki_engine *engine,
                                 const struct eki_message *message)
{
    int64_t tasks = 0;
    for (int64_t i = 0; i < message->head.count; i++)
        tasks += eki_slot_tasks(
            (const struct eki_slot *)(message->body +
                                      i * (int64_t)engine->slot_bytes));
    return (uint64_t)tasks;
}

static void set_flag(struct eki_engine *engine)
{
    /* release: pairs with the acquire in take_flags(): that the tasks came. */
    atomic_store_explicit(&words_here(engine)->gave, 1, memory_order_release);
}

/* Whether who gives tasks says so. */
static bool giver_tells(const struct eki_detection *rule)
{
    return !EKI_PLANTED(TAKER_TELLS) &&
           !(EKI_PLANTED(GIVES_UNSEEN) && rule->needs_answers) &&
           !(EKI_PLANTED(RECEIPTS_ALONE) && rule->needs_receipts);
}

static bool waits_for_receipts(const struct eki_detection *rule)
{
    return rule->needs_receipts && !EKI_PLANTED(NO_RECEIPTS);
}

/* A message leaves: the flag first, what it opens, what it closes. */
static void note_posted(void *context, const struct eki_message *message)
{
    struct eki_engine *engine = context;
    struct eki_rank_words *words = words_here(engine);
    if (!eki_engine_verb(engine, message->head.kind)->has_slots)
        return;
    if (giver_tells(engine->detect.rule))
        set_flag(engine);
    if (waits_for_receipts(engine->detect.rule)) {
        engine->detect.unacknowledged++;
        eki_detect_add(&words->opened, 1);
    }
    eki_detect_add(&words->closed, tasks_of_message(engine, message));
}

void eki_detect_enter(struct eki_engine *engine)
{
    struct eki_detect *detect = &engine->detect;
    struct eki_rank_words *words = words_here(engine);
    uint64_t executed = 0, created = 0;
    engine->exchange.posts = detect->rule ? note_posted : NULL;
    engine->exchange.posts_to = engine;
    if (!detect->rule)
        return;
    detect->receipts.item_bytes = sizeof(struct receipt);
    detect->receipts.first = 8;
    eki_queue_clear(&detect->receipts);
    detect->unacknowledged = 0;
    detect->doubts = 0;
    detect->open_since = 0;
    detect->was_open = false;
    /* Tasks that came here, or left, in phases before. */
    for (int here = 0; here < engine->topology->workers_here; here++) {
        executed += engine->workers[here]->executed;
        created += eki_worker_created(engine->workers[here]);
    }
    /* relaxed, all: ordered by the release of phase. */
    atomic_store_explicit(&words->opened, executed - created,
                          memory_order_relaxed);
    atomic_store_explicit(&words->closed, 0, memory_order_relaxed);
    atomic_store_explicit(&words->gave, 0, memory_order_relaxed);
}

/* `closed` and `executed`, each before the worker's `idle`; false: somebody is
 * not in this phase, or not idle. */
static bool sum_closed(struct eki_engine *engine, uint64_t *sum)
{
    for (int i = 0; i < engine->topology->node_workers; i++) {
        const struct eki_worker_words *words = eki_words_of(engine, i);
        /* acquire: pairs with the release in enter_worker(): its seeds, and
         * what its rank has begun with. */
        if (atomic_load_explicit(&words->phase, memory_order_acquire) !=
            engine->phase)
            return false;
        /* Its rank may count nothing here: the phase stops. */
        if (eki_signature_of(engine, words) != engine->signature)
            eki_set_mismatch(engine);
        /* acquire: pairs with the release in eki_worker_store().  Whoever
         * counts a task that a worker has run since it was idle sees that it is
         * idle no more. */
        *sum += atomic_load_explicit(&words->executed, memory_order_acquire);
        if (!eki_is_idle(words, engine->phase))
            return false;
    }
    return true;
}

/* What is open of this node. */
static enum state look(struct eki_engine *engine, struct eki_vote *vote)
{
    const struct eki_topology *topology = engine->topology;
    uint64_t closed = 0, opened = 0;
    vote->executed = vote->created = 0;
    if (!sum_closed(engine, &vote->executed))
        return STATE_BUSY;
    for (int rank = 0; rank < topology->node_ranks; rank++)
        /* acquire: pairs with the release in eki_detect_add(). */
        closed += atomic_load_explicit(&engine->rank_words[rank].closed,
                                       memory_order_acquire);
    for (int i = 0; i < topology->node_workers; i++)
        /* relaxed, both: no older than what the acquires above have seen. */
        vote->created += atomic_load_explicit(&eki_words_of(engine, i)->created,
                                              memory_order_relaxed);
    for (int rank = 0; rank < topology->node_ranks; rank++)
        opened += atomic_load_explicit(&engine->rank_words[rank].opened,
                                       memory_order_relaxed);
    return vote->executed + closed == vote->created + opened ? STATE_SETTLED
                                                             : STATE_OPEN;
}

/* Whether tasks have left this node since it was asked last. */
static bool take_flags(struct eki_engine *engine)
{
    uint64_t gave = 0;
    for (int rank = 0; rank < engine->topology->node_ranks; rank++)
        /* acquire: pairs with the release in set_flag(): who looks again finds
         * open what has left. */
        gave |= atomic_exchange_explicit(&engine->rank_words[rank].gave, 0,
                                         memory_order_acquire);
    return gave != 0;
}

/* Let no request leave this node, or let them again. */
static void set_hush(struct eki_engine *engine, bool is_quiet)
{
    uint64_t phase = is_quiet ? engine->phase : 0;
    /* relaxed, both: a request that leaves all the same is open. */
    if (!eki_is_set(&engine->node->hush, phase))
        atomic_store_explicit(&engine->node->hush, phase, memory_order_relaxed);
}

/* Something has been open for so long that the root must hear of it, to find a
 * stall.  The flags stay: nothing says that it has come where it goes. */
static bool is_long_open(struct eki_engine *engine, uint64_t now)
{
    struct eki_detect *detect = &engine->detect;
    if (detect->open_since == 0)
        detect->open_since = now;
    return engine->setup.stall_ns != 0 &&
           eki_ns_since(detect->open_since, now) >=
               engine->setup.stall_ns / STALL_PART;
}

bool eki_detect_vote(struct eki_engine *engine, struct eki_vote *vote,
                     uint64_t now)
{
    struct eki_detect *detect = &engine->detect;
    detect->is_settled = false;
    if (eki_is_stopped(engine)) {
        vote->doubts = EKI_DOUBT_STOPPED;
        return eki_node_sums(engine, &vote->executed, &vote->created);
    }
    /* Votes would take the buffers. */
    if (detect->receipts.count > 0)
        return false;
    enum state state = look(engine, vote);
    detect->is_settled = state == STATE_SETTLED;
    if (state == STATE_BUSY)
        detect->open_since = 0;
    if (detect->rule->needs_answers)
        set_hush(engine, state != STATE_BUSY);
    if (detect->is_settled && take_flags(engine)) {
        detect->doubts |= EKI_DOUBT_GAVE;
        state = look(engine, vote);
        detect->is_settled = state == STATE_SETTLED;
    }
    if (detect->is_settled) {
        vote->doubts = detect->doubts;
        return true;
    }
    vote->doubts = EKI_DOUBT_OPEN;
    return state == STATE_OPEN && is_long_open(engine, now);
}

void eki_detect_voted(struct eki_engine *engine)
{
    struct eki_detect *detect = &engine->detect;
    /* Between two votes all nodes have been idle: it is time to settle, which
     * new requests would put off for ever where answers are slow. */
    bool is_quiet = detect->was_open && !detect->is_settled;
    detect->was_open = !detect->is_settled;
    if (detect->is_settled)
        detect->doubts = 0;
    detect->open_since = 0;
    set_hush(engine, is_quiet);
}

bool eki_detect_is_last(const struct eki_vote *sum)
{
    /* Planted: as many tasks have come as have left, in one wave. */
    return EKI_PLANTED(SUMS_ALONE) ? sum->created == sum->executed
                                   : sum->doubts == 0;
}

/* A message of RANK was taken; there is room. */
static void note_receipt(struct eki_queue *receipts, int rank)
{
    struct receipt *items = receipts->items;
    for (int64_t i = 0; i < receipts->count; i++) {
        if (items[i].rank == rank) {
            items[i].messages++;
            return;
        }
    }
    eki_queue_add(receipts, &(struct receipt){rank, 1});
}

enum eki_taken eki_detect_take(struct eki_protocol *taker,
                               const struct eki_message *message, uint64_t now)
{
    struct eki_engine *engine = taker->engine;
    struct eki_detect *detect = &engine->detect;
    struct eki_rank_words *words = words_here(engine);
    uint64_t tasks = tasks_of_message(engine, message);
    /* What is stopped is counted. */
    if (detect->rule->needs_receipts &&
        !eki_queue_has_room(&detect->receipts) && !eki_is_stopped(engine))
        return EKI_NO_MEMORY;
    if (EKI_PLANTED(TAKER_TELLS))
        set_flag(engine);
    eki_detect_add(&words->opened, tasks);
    enum eki_taken taken = taker->ops->take(taker, message, now);
    if (taken != EKI_TAKEN)
        eki_detect_add(&words->closed, tasks);
    else if (detect->rule->needs_receipts)
        note_receipt(&detect->receipts, message->head.source);
    return taken;
}

enum eki_taken eki_detect_receipt(struct eki_engine *engine,
                                  const struct eki_message *message)
{
    struct eki_detect *detect = &engine->detect;
    struct eki_decode decode = eki_decode_of(engine, &message->head);
    /* From a rank that differs: this phase is void. */
    if (!detect->rule || !waits_for_receipts(detect->rule))
        return EKI_TAKEN;
    if (!eki_fits(&decode, "messages", message->head.first, 1,
                  detect->unacknowledged))
        return EKI_REFUSED;
    detect->unacknowledged -= message->head.first;
    eki_detect_add(&words_here(engine)->closed, (uint64_t)message->head.first);
    return EKI_TAKEN;
}

static bool send_receipt(void *context, void *item)
{
    struct eki_engine *engine = context;
    const struct receipt *receipt = item;
    struct eki_note note = {EKI_KIND_RECEIPT, receipt->rank, -1, -1,
                            receipt->messages};
    return eki_exchange_send(&engine->exchange, &note, NULL, 0, 0);
}

void eki_detect_step(struct eki_engine *engine)
{
    eki_queue_serve(&engine->detect.receipts, send_receipt, engine);
}
