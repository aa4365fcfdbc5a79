/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of a rank: drains what arrives, gives each message to the protocol
 * of its kind, and lets the protocols send.
 *
 * Messages of an older phase are dropped, of the next one kept; old tasks are
 * an error, and so is what does not fit (decode.h).  A message for which there
 * is no memory is held, and all behind it with it, until there is; one that
 * must fit (engine/channel.h) makes the phase an error.
 */
#include "engine/decode.h"
#include "engine/detect.h"
#include "engine/internal.h"
#include "engine/replay.h"

/* A message of this phase, for the protocol of its kind. */
static enum eki_taken take_message(struct eki_engine *engine,
                                   const struct eki_message *message,
                                   uint64_t now)
{
    const struct eki_head *head = &message->head;
    if (head->signature != engine->signature)
        eki_set_mismatch(engine);
    const struct eki_verb *verb = eki_engine_verb_taken(engine, head->kind);
    if (verb) {
        struct eki_protocol *taker =
            engine->channels[EKI_CHANNEL_OF(head->kind)];
        if (!eki_fits_verb(engine, verb, message))
            return EKI_REFUSED;
        return EKI_UNLIKELY(engine->detect.rule) && verb->has_slots
                   ? eki_detect_take(taker, message, now)
                   : taker->ops->take(taker, message, now);
    }
    eki_engine_refuse(engine,
                      "rank %d sent a message of kind %d (%s), which no "
                      "protocol of this rank takes",
                      head->source, head->kind,
                      eki_engine_verb(engine, head->kind)->name);
    return EKI_REFUSED;
}

/* Planted: tiles are given in whatever phase somebody asks. */
static bool is_asked_early(const struct eki_head *head)
{
    return EKI_PLANTED(EARLY_PIECES) &&
           head->kind == EKI_KIND(EKI_CHANNEL_TILES);
}

/* Whether a message is of this phase; that a phase is broken says something of
 * all later ones. */
static bool is_wanted(const struct eki_engine *engine,
                      const struct eki_head *head)
{
    return head->phase == engine->phase || head->kind == EKI_KIND_BREAK ||
           is_asked_early(head) ||
           (EKI_PLANTED(OLD_REQUESTS) &&
            head->kind == EKI_KIND(EKI_CHANNEL_REQUESTS) &&
            head->phase < engine->phase);
}

/* Whether a message is to be taken in another phase. */
static bool is_early(const struct eki_engine *engine,
                     const struct eki_message *message)
{
    return (message->head.phase > engine->phase &&
            message->head.kind != EKI_KIND_BREAK &&
            !is_asked_early(&message->head)) ||
           (EKI_PLANTED(TASKS_LAST) && message == engine->line.wire->held &&
            eki_engine_verb(engine, message->head.kind)->has_slots);
}

/* Whether the message is of a phase that has ended, though no phase ends before
 * such a message has come. */
static bool is_overdue(const struct eki_engine *engine,
                       const struct eki_head *head)
{
    return head->phase < engine->phase && !is_wanted(engine, head) &&
           (eki_engine_verb(engine, head->kind)->has_slots ||
            head->kind == EKI_KIND_VOTE || head->kind == EKI_KIND_WAVE);
}

/* A message was refused; who has said why already is heard.  What was to come
 * from the parent may have been the verdict: nobody waits for that any more. */
static void note_refused(struct eki_engine *engine, const struct eki_head *head)
{
    const struct eki_waves *waves = &engine->waves;
    eki_engine_refuse(engine, "a message from rank %d (%s) makes no sense",
                      head->source, eki_engine_verb(engine, head->kind)->name);
    engine->must_break |=
        !engine->alone && waves->parent >= 0 &&
        head->source == engine->topology->lowest_rank[waves->parent];
}

/* There is no memory for a message: an error at once if it must fit, else when
 * that has lasted. */
EKI_COLD static void hold(struct eki_engine *engine,
                          const struct eki_head *head,
                          const struct eki_verb *verb)
{
    char text[120];
    eki_note_lack(engine, EKI_LACKS_SERVER);
    snprintf(text, sizeof text,
             "no memory for a message of rank %d (%s, %lld bytes)",
             head->source, verb->name, (long long)head->bytes);
    if (head->phase == engine->phase && (verb->must_fit || engine->lack.is_out))
        eki_engine_lacks(engine, text);
}

static enum eki_received
receive(void *context, const struct eki_message *message, uint64_t now)
{
    struct eki_engine *engine = context;
    const struct eki_head *head = &message->head;
    const struct eki_verb *verb = eki_engine_verb(engine, head->kind);
    enum eki_taken taken = EKI_TAKEN;
    engine->post.moved += !verb->is_no_news;
    if (head->phase > engine->phase + 1 || is_overdue(engine, head)) {
        eki_engine_refuse(engine,
                          "%s of phase %llu arrived from rank %d in phase %llu",
                          verb->name, (unsigned long long)head->phase,
                          head->source, (unsigned long long)engine->phase);
        taken = EKI_REFUSED;
    } else if (is_early(engine, message)) {
        return EKI_RECEIVED_EARLY;
    } else if (is_wanted(engine, head)) {
        taken = take_message(engine, message, now);
    }
    if (taken == EKI_REFUSED)
        note_refused(engine, head);
    else if (EKI_UNLIKELY(taken == EKI_NO_MEMORY))
        hold(engine, head, verb);
    return taken == EKI_NO_MEMORY ? EKI_RECEIVED_HELD : EKI_RECEIVED;
}

/* Nothing is taken any more. */
static enum eki_received drop(void *context, const struct eki_message *message,
                              uint64_t now)
{
    (void)context, (void)message, (void)now;
    return EKI_RECEIVED;
}

/* The fabric has failed, or has dropped what was no message: that may have been
 * the verdict. */
static void break_by_trouble(struct eki_engine *engine)
{
    const struct eki_fabric *fabric = engine->exchange.fabric;
    if (fabric->failed != EK_OK) {
        int expected = EK_OK;
        /* relaxed: the first failure stays; the phase ends whenever it is
         * seen. */
        atomic_compare_exchange_strong_explicit(
            &engine->broken, &expected, fabric->failed, memory_order_relaxed,
            memory_order_relaxed);
        return;
    }
    eki_engine_refuse(engine, "%.150s", fabric->failure);
    engine->must_break = true;
}

static void drain(struct eki_engine *engine, eki_receive_fn *receive_one,
                  uint64_t now)
{
    eki_line_drain(&engine->line, receive_one, engine, now);
    if (EKI_UNLIKELY(eki_line_has_trouble(&engine->line)))
        break_by_trouble(engine);
}

/* Messages that were kept come first: they are older. */
static void take_arrived(struct eki_engine *engine, uint64_t now)
{
    uint64_t moved = engine->post.moved;
    if (EKI_PLANTED(TASKS_LAST) ||
        eki_line_take_kept(&engine->line, receive, engine, now))
        drain(engine, receive, now);
    if (EKI_PLANTED(TASKS_LAST) && engine->post.moved == moved)
        eki_line_take_kept(&engine->line, receive, engine, now);
}

/* Thieves elsewhere ask the rank of a node that was stepped last. */
static void note_polled(struct eki_engine *engine)
{
    int rank = engine->topology->rank;
    /* relaxed: a hint; looked at first, to leave the line alone. */
    if (!engine->alone && eki_server_last_polled(engine) != rank)
        atomic_store_explicit(&engine->node->polled, rank,
                              memory_order_relaxed);
}

/* While workers are held, nobody else looks at other ranks, and a rank that has
 * made another call may send nothing. */
static void compare_signatures(struct eki_engine *engine)
{
    for (int rank = 0; rank < engine->topology->node_ranks; rank++) {
        const struct eki_worker_words *words =
            eki_words_of(engine, engine->first_local[rank]);
        /* acquire: pairs with the release in enter_worker(): the signature. */
        if (atomic_load_explicit(&words->phase, memory_order_acquire) ==
                engine->phase &&
            eki_signature_of(engine, words) != engine->signature)
            eki_set_mismatch(engine);
    }
}

/* Whether nobody needs this rank for messages that it has sent.  When a process
 * of a lone node is over, nobody needs what is still in a buffer, such as seeds
 * that were fetched ahead: its receiver may have left, and step no server until
 * this rank comes to the next process. */
static bool has_sent_all(const struct eki_engine *engine)
{
    struct eki_fabric *fabric = engine->exchange.fabric;
    return !fabric || fabric->ops->drain(fabric) ||
           (engine->alone && engine->kind == EKI_PHASE_PROCESS);
}

/* Whether no protocol needs another step, now that the phase is over. */
static bool may_leave_phase(const struct eki_engine *engine)
{
    for (int i = 0; i < engine->stepped_count; i++) {
        const struct eki_protocol *protocol = engine->stepped[i];
        if (protocol->ops->may_leave && !protocol->ops->may_leave(protocol))
            return false;
    }
    return true;
}

static bool step_server(struct eki_engine *engine, uint64_t now)
{
    /* relaxed: written by whoever steps the server. */
    if (atomic_load_explicit(&engine->broken, memory_order_relaxed) != EK_OK)
        return true;
    if (EKI_UNLIKELY(eki_refused(engine) != EKI_FITS) &&
        eki_refusal_breaks(engine)) {
        /* Neighbors can tell others only when what they have sent here has
         * left their buffers. */
        if (engine->exchange.fabric)
            drain(engine, drop, now);
        return eki_refusal_is_told(engine);
    }
    if (engine->exchange.fabric) {
        note_polled(engine);
        take_arrived(engine, now);
    }
    if (engine->exchange.fabric && EKI_UNLIKELY(eki_is_held(engine)))
        compare_signatures(engine);
    /* What is brought lies on the stack. */
    const struct eki_local *brought = &engine->post.brought.local;
    if (EKI_UNLIKELY(brought->stack_top != brought->stack_bottom))
        eki_server_show(engine, false);
    if (EKI_UNLIKELY(engine->replay))
        eki_replay_leave(engine);
    for (int i = 0; i < engine->stepped_count; i++)
        engine->stepped[i]->ops->step(engine->stepped[i], now);
    if (EKI_UNLIKELY(eki_has_lacked(engine)))
        eki_lack_step(engine, now);
    return has_sent_all(engine) && eki_waves_are_over(engine) &&
           may_leave_phase(engine);
}

bool eki_server_step(struct eki_engine *engine, uint64_t now)
{
    uint64_t moved = engine->post.moved;
    bool is_over = step_server(engine, now);
    if (engine->post.moved != moved)
        eki_server_track(engine, EKI_EVENT_SERVE, now,
                         engine->post.moved - moved);
    return is_over;
}
