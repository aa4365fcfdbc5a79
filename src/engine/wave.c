/* SPDX-License-Identifier: BSD-3-Clause */
/* Termination between nodes: votes up, verdicts down, the word to stop. */
#include "engine/decode.h"
#include "engine/detect.h"
#include "engine/internal.h"

/* Signatures of workers that are in this phase. */
static void add_signatures(const struct eki_engine *engine,
                           struct eki_vote *vote)
{
    vote->signature_low = UINT64_MAX;
    for (int i = 0; i < engine->topology->node_workers; i++) {
        uint64_t signature = eki_signature_of(engine, eki_words_of(engine, i));
        if (signature < vote->signature_low)
            vote->signature_low = signature;
        if (signature > vote->signature_high)
            vote->signature_high = signature;
    }
}

/* Sums of this node; false: not all are in this phase, or not idle. */
static bool node_vote(struct eki_engine *engine, struct eki_vote *vote,
                      uint64_t now)
{
    memset(vote, 0, sizeof *vote);
    /* Before the sums: they count what was before the answers. */
    vote->is_still = eki_node_answers(engine);
    if (EKI_LIKELY(!engine->detect.rule)
            ? !eki_node_sums(engine, &vote->executed, &vote->created)
            : !eki_detect_vote(engine, vote, now))
        return false;
    add_signatures(engine, vote);
    vote->load = eki_node_load(engine, engine->processes);
    eki_node_error(engine, &vote->error);
    return true;
}

static void add_vote(struct eki_vote *sum, const struct eki_vote *vote)
{
    sum->created += vote->created;
    sum->executed += vote->executed;
    sum->is_still &= vote->is_still;
    sum->doubts |= vote->doubts;
    eki_load_add(&sum->load, &vote->load);
    if (vote->signature_low < sum->signature_low)
        sum->signature_low = vote->signature_low;
    if (vote->signature_high > sum->signature_high)
        sum->signature_high = vote->signature_high;
    eki_error_worse(&sum->error, &vote->error);
}

/* What is said to the lowest rank of NODE. */
static struct eki_note note_to(const struct eki_engine *engine, int kind,
                               int node)
{
    return (struct eki_note){kind, engine->topology->lowest_rank[node], -1,
                             engine->topology->node,
                             (int64_t)engine->waves.wave};
}

/* Send a body to the lowest rank of NODE; false: no buffer. */
static bool send_to_node(struct eki_engine *engine, int kind, int node,
                         const void *body, size_t bytes)
{
    struct eki_note note = note_to(engine, kind, node);
    return eki_exchange_send(&engine->exchange, &note, body, bytes ? 1 : 0,
                             bytes);
}

/* Act on the verdict that all children have. */
static void apply_verdict(struct eki_engine *engine, uint64_t now)
{
    struct eki_waves *waves = &engine->waves;
    waves->verdict_next = -1;
    waves->voted = false;
    waves->wave++;
    eki_server_track(engine, EKI_EVENT_WAVE, now, waves->wave);
    if (waves->verdict.wave == EKI_WAVE_STALLED)
        /* relaxed: a hint to print. */
        atomic_store_explicit(&engine->node->stalled, engine->phase,
                              memory_order_relaxed);
    if (waves->verdict.wave != EKI_WAVE_DONE)
        return;
    waves->forwarded = true;
    engine->node->announced_error = waves->verdict.error;
    if (engine->kind == EKI_PHASE_PROCESS)
        engine->node->load = waves->verdict.load;
    /* release: pairs with the acquires of workers and servers of the node. */
    atomic_store_explicit(&engine->node->announced, engine->phase,
                          memory_order_release);
}

/* Pass the verdict on to the children, as far as there are buffers. */
static void pass_verdict(struct eki_engine *engine, uint64_t now)
{
    struct eki_waves *waves = &engine->waves;
    for (; waves->verdict_next < waves->children; waves->verdict_next++) {
        if (!send_to_node(engine, EKI_KIND_WAVE,
                          waves->child[waves->verdict_next], &waves->verdict,
                          sizeof waves->verdict))
            return;
    }
    apply_verdict(engine, now);
}

/*
 * Root: has nothing moved for so long that it must be a stall?  One wave more
 * than two, in which all were still: what is claimed in one wave runs before
 * the next.  NOW may be older than unchanged_since: threads that step the
 * server in turn have read it before.
 */
static bool is_stalled(struct eki_engine *engine, const struct eki_vote *sum,
                       uint64_t now)
{
    enum {
        STILL_WAVES = 3
    };
    struct eki_waves *waves = &engine->waves;
    waves->still_waves += sum->is_still != 0;
    if (sum->created != waves->last_created ||
        sum->executed != waves->last_executed) {
        waves->unchanged_since = now;
        waves->still_waves = 0;
    }
    if (engine->setup.stall_ns == 0 || waves->stall_told ||
        waves->still_waves < STILL_WAVES ||
        eki_ns_since(waves->unchanged_since, now) < engine->setup.stall_ns)
        return false;
    waves->stall_told = true;
    return true;
}

/* Whether the wave before has found the same. */
static bool is_second_wave(const struct eki_waves *waves,
                           const struct eki_vote *sum)
{
    return EKI_PLANTED(SINGLE_WAVE) || (sum->created == waves->last_created &&
                                        sum->executed == waves->last_executed);
}

/* Whether the wave is the last one.  What is stopped, or void, is counted to
 * its end: ranks that differ need not acknowledge what they get. */
static bool is_last_wave(const struct eki_engine *engine,
                         const struct eki_vote *sum)
{
    if (EKI_UNLIKELY(engine->detect.rule) &&
        !(sum->doubts & EKI_DOUBT_STOPPED) &&
        sum->signature_low == sum->signature_high)
        return eki_detect_is_last(sum);
    return sum->created == sum->executed && is_second_wave(&engine->waves, sum);
}

static void decide(struct eki_engine *engine, const struct eki_vote *sum,
                   uint64_t now)
{
    struct eki_waves *waves = &engine->waves;
    struct eki_verdict verdict = {
        .wave = EKI_WAVE_AGAIN, .load = sum->load, .error = sum->error};
    if (is_stalled(engine, sum, now))
        verdict.wave = EKI_WAVE_STALLED;
    if (is_last_wave(engine, sum))
        verdict.wave = EKI_WAVE_DONE;
    if (sum->signature_low != sum->signature_high) {
        eki_error_init(&verdict.error, EK_ERR_ARG);
        eki_set_stop(engine);
    }
    waves->last_created = sum->created;
    waves->last_executed = sum->executed;
    waves->verdict = verdict;
    waves->verdict_next = 0;
    pass_verdict(engine, now);
}

/* Tell the neighbors in the tree that no task starts any more. */
static void spread_stop(struct eki_engine *engine)
{
    struct eki_waves *waves = &engine->waves;
    if (!eki_is_stopped(engine))
        return;
    for (; waves->stop_next < waves->neighbor_count; waves->stop_next++) {
        if (!send_to_node(engine, EKI_KIND_STOP,
                          waves->neighbors[waves->stop_next].node, NULL, 0))
            return;
    }
}

/* Not before the rest of an answer is sent, nor what departs or is passed on:
 * endless waves could take every buffer that those wait for.  Nor do these take
 * every one: what has been sent since the last vote was their turn. */
static bool may_vote_now(const struct eki_engine *engine)
{
    if (engine->waves.is_turn)
        return true;
    if (EKI_UNLIKELY(engine->lack.waits))
        return false;
    for (int i = 0; i < engine->protocol_count; i++) {
        const struct eki_protocol *protocol = engine->protocols[i];
        if (protocol->ops->may_vote && !protocol->ops->may_vote(protocol))
            return false;
    }
    return true;
}

/* Vote for this node and what is below it in the tree, if all have voted. */
static void vote_for_node(struct eki_engine *engine, uint64_t now)
{
    struct eki_waves *waves = &engine->waves;
    struct eki_vote sum;
    /* The first worker of the node, which is of this rank, is busy: most steps
     * end here. */
    if (!eki_is_idle(eki_words_of(engine, 0), engine->phase))
        return;
    for (int i = 0; i < waves->children; i++) {
        if (!waves->has_vote[i])
            return;
    }
    if (!may_vote_now(engine) || !node_vote(engine, &sum, now))
        return;
    for (int i = 0; i < waves->children; i++)
        add_vote(&sum, &waves->vote[i]);
    if (waves->parent >= 0 &&
        !send_to_node(engine, EKI_KIND_VOTE, waves->parent, &sum, sizeof sum))
        return;
    /* Now, not with the verdict: a child that has it may vote in the next wave
     * before the other one has it. */
    waves->has_vote[0] = waves->has_vote[1] = false;
    waves->voted = true;
    waves->is_turn = false;
    if (EKI_UNLIKELY(engine->detect.rule))
        eki_detect_voted(engine);
    if (sum.is_still)
        eki_node_call_roll(engine);
    if (waves->parent < 0)
        decide(engine, &sum, now);
}

static bool send_here(struct eki_engine *engine, int node)
{
    struct eki_note note = note_to(engine, EKI_KIND_HERE, node);
    return eki_exchange_send(&engine->exchange, &note, NULL,
                             engine->waves.voted, 0);
}

/* Tell the parent how far this node is, and what is below it.  A server that is
 * stepped seldom leaves its buffers to others in every second step. */
static void tell_headway(struct eki_engine *engine, uint64_t now)
{
    struct eki_waves *waves = &engine->waves;
    struct eki_headway sum = eki_headway_here(engine);
    waves->may_tell = !waves->may_tell;
    if (waves->may_tell)
        return;
    for (int i = 0; i < waves->children; i++)
        eki_headway_add(&sum, &waves->heard[i]);
    if (send_to_node(engine, EKI_KIND_HEADWAY, waves->parent, &sum, sizeof sum))
        waves->tell_at = now + engine->setup.watch_ns;
}

/* Ask neighbors of whom nothing has come for long whether they are there, and
 * answer those who ask. */
static void ask_neighbors(struct eki_engine *engine, uint64_t now)
{
    struct eki_waves *waves = &engine->waves;
    uint64_t half = engine->setup.stall_ns / 2;
    waves->probe_at = half == 0 ? UINT64_MAX : now + half / 4;
    for (int i = 0; i < waves->neighbor_count; i++) {
        struct eki_neighbor *neighbor = &waves->neighbors[i];
        if (neighbor->asks)
            neighbor->asks = !send_here(engine, neighbor->node);
        if (neighbor->asks)
            waves->probe_at = now;
        if (half != 0 && neighbor->probed == 0 &&
            eki_ns_since(neighbor->heard, now) >= half &&
            send_to_node(engine, EKI_KIND_PROBE, neighbor->node, NULL, 0))
            neighbor->probed = now;
    }
}

static bool enter_waves(struct eki_protocol *protocol,
                        const struct eki_phase *phase, uint64_t now)
{
    struct eki_waves *waves = (struct eki_waves *)protocol;
    uint64_t watch_ns = phase->kind == EKI_PHASE_PROCESS && waves->parent >= 0
                            ? protocol->engine->setup.watch_ns
                            : 0;
    protocol->ops =
        protocol->engine->detect.rule ? &eki_detecting_ops : &eki_waves_ops;
    waves->wave = 0;
    waves->voted = waves->forwarded = waves->is_turn = false;
    waves->across = 0;
    waves->stop_next = 0;
    waves->has_vote[0] = waves->has_vote[1] = false;
    waves->verdict_next = -1;
    waves->stall_told = false;
    waves->unchanged_since = now;
    waves->still_waves = 0;
    waves->probe_at = now;
    waves->tell_at = watch_ns ? now + watch_ns : UINT64_MAX;
    memset(waves->heard, 0, sizeof waves->heard);
    for (int i = 0; i < waves->neighbor_count; i++) {
        int node = waves->neighbors[i].node;
        waves->neighbors[i] = (struct eki_neighbor){.node = node, .heard = now};
    }
    return true;
}

/* The place of NODE among the neighbors: children come first. */
static int place_of_child(const struct eki_waves *waves, int node)
{
    int i = 0;
    for (; waves->neighbors[i].node != node; i++)
        EKI_ASSERT(i + 1 < waves->neighbor_count);
    return i;
}

/* A neighbor says how far it is.  Messages of a pair of ranks keep their
 * order: what it says it has sent, and is not here, is lost. */
static bool has_lost(const struct eki_waves *waves, int place,
                     const struct eki_head *head)
{
    uint64_t wave = (uint64_t)head->first;
    return place < waves->children
               ? head->count == 1 && wave == waves->wave &&
                     !waves->has_vote[place] && !waves->voted
               : waves->voted && wave > waves->wave && waves->verdict_next < 0;
}

static enum eki_taken take_from_neighbor(struct eki_protocol *protocol,
                                         const struct eki_message *message,
                                         uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    struct eki_waves *waves = &engine->waves;
    uint64_t lost = 0;
    if (message->head.kind == EKI_KIND_RECEIPT)
        return eki_detect_receipt(engine, message);
    if (!eki_wave_fits(engine, message))
        return EKI_REFUSED;
    int place = place_of_child(waves, message->head.detail);
    struct eki_neighbor *neighbor = &waves->neighbors[place];
    if (message->head.kind == EKI_KIND_VOTE) {
        memcpy(&waves->vote[place], message->body, sizeof(struct eki_vote));
        waves->has_vote[place] = true;
    } else if (message->head.kind == EKI_KIND_WAVE) {
        memcpy(&waves->verdict, message->body, sizeof waves->verdict);
        waves->verdict_next = 0;
    } else if (message->head.kind == EKI_KIND_HEADWAY) {
        memcpy(&waves->heard[place], message->body, sizeof *waves->heard);
    } else if (message->head.kind == EKI_KIND_PROBE) {
        /* It is told in the next step. */
        neighbor->asks = true;
        waves->probe_at = 0;
    } else if (message->head.kind == EKI_KIND_STOP) {
        eki_set_stop(engine);
    } else if (has_lost(waves, place, &message->head)) {
        lost = neighbor->lost == 0 ? now : neighbor->lost;
    }
    /* Something has come from it: it is there. */
    neighbor->heard = now;
    neighbor->probed = 0;
    neighbor->lost = lost;
    return EKI_TAKEN;
}

static void step_waves(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    struct eki_waves *waves = (struct eki_waves *)protocol;
    if (!waves->is_lowest || waves->forwarded)
        return;
    waves->is_turn |= engine->exchange.across != waves->across;
    spread_stop(engine);
    if (now >= waves->probe_at)
        ask_neighbors(engine, now);
    if (waves->verdict_next >= 0)
        pass_verdict(engine, now);
    if (!waves->voted && !waves->forwarded && waves->verdict_next < 0)
        vote_for_node(engine, now);
    if (EKI_UNLIKELY(now >= waves->tell_at))
        tell_headway(engine, now);
    waves->across = engine->exchange.across;
}

static const struct eki_verb wave_verbs[] = {
    {.name = "vote",
     .body = EKI_BODY_ITEM,
     .item_bytes = sizeof(struct eki_vote)},
    {.name = "wave",
     .body = EKI_BODY_ITEM,
     .item_bytes = sizeof(struct eki_verdict)},
    {.name = "stop", .concerns = EKI_CONCERNS_ALL, .body = EKI_BODY_NONE},
    {.name = "probe", .body = EKI_BODY_NONE, .is_no_news = true},
    {.name = "here", .is_no_news = true},
    {.name = "headway",
     .body = EKI_BODY_ITEM,
     .item_bytes = sizeof(struct eki_headway),
     .is_no_news = true},
    {.name = "receipt", .body = EKI_BODY_NONE, .is_no_news = true}};

const struct eki_protocol_ops eki_waves_ops = {.name = "waves",
                                               .channel = EKI_CHANNEL_WAVES,
                                               EKI_VERBS(wave_verbs),
                                               .enter = enter_waves,
                                               .take = take_from_neighbor,
                                               .step = step_waves};

static void step_detecting(struct eki_protocol *protocol, uint64_t now)
{
    eki_detect_step(protocol->engine);
    step_waves(protocol, now);
}

/* Where the end is not counted. */
const struct eki_protocol_ops eki_detecting_ops = {.name = "waves",
                                                   .channel = EKI_CHANNEL_WAVES,
                                                   EKI_VERBS(wave_verbs),
                                                   .enter = enter_waves,
                                                   .take = take_from_neighbor,
                                                   .step = step_detecting};

void eki_waves_open(struct eki_engine *engine)
{
    struct eki_waves *waves = &engine->waves;
    const struct eki_topology *topology = engine->topology;
    int node = topology->node;
    waves->protocol.ops = &eki_waves_ops;
    waves->verdict_next = -1;
    waves->is_lowest = topology->lowest_rank[node] == topology->rank;
    waves->parent = node == 0 ? -1 : (node - 1) / 2;
    for (int i = 1; i <= 2; i++) {
        if (2 * node + i < topology->nodes)
            waves->child[waves->children++] = 2 * node + i;
    }
    for (int i = 0; i < waves->children; i++)
        waves->neighbors[waves->neighbor_count++].node = waves->child[i];
    if (waves->parent >= 0)
        waves->neighbors[waves->neighbor_count++].node = waves->parent;
}

bool eki_waves_are_over(const struct eki_engine *engine)
{
    if (engine->alone)
        return true;
    if (engine->waves.is_lowest)
        return engine->waves.forwarded;
    /* acquire: pairs with the release of the announcement. */
    return atomic_load_explicit(&engine->node->announced,
                                memory_order_acquire) >= engine->phase;
}
