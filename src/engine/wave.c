/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Termination between nodes: task counting, two equal waves.
 *
 * A vertex of the binary tree is a node; the server of its lowest rank votes
 * for all its workers, once per wave, when its children have voted and its
 * workers are idle.  The root ends the phase when created and executed are
 * equal and were the same in the wave before.  Sums of the last phase count as
 * a wave before: a phase without tasks takes one wave.
 */
#include "engine/internal.h"

/* Sums of this node; false: not all are in this phase, or not idle. */
static bool node_vote(const struct eki_engine *engine, struct eki_vote *vote)
{
    int workers = engine->topology->node_workers;
    memset(vote, 0, sizeof *vote);
    vote->signature_low = UINT64_MAX;
    for (int i = 0; i < workers; i++) {
        const struct eki_worker_words *words = eki_words_of(engine, i);
        /* acquire: pairs with the release in eki_engine_enter(): its seeds are
         * counted. */
        if (atomic_load_explicit(&words->phase, memory_order_acquire) !=
                engine->phase ||
            !eki_is_idle(words, engine->phase))
            return false;
        uint64_t signature = eki_signature_of(engine, words);
        if (signature < vote->signature_low)
            vote->signature_low = signature;
        if (signature > vote->signature_high)
            vote->signature_high = signature;
        /* acquire: pairs with the release in eki_worker_store(). */
        vote->executed +=
            atomic_load_explicit(&words->executed, memory_order_acquire);
    }
    for (int i = 0; i < workers; i++)
        /* relaxed: no older than what the acquires above have seen. */
        vote->created += atomic_load_explicit(&eki_words_of(engine, i)->created,
                                              memory_order_relaxed);
    eki_node_error(engine, &vote->error);
    return true;
}

static void add_vote(struct eki_vote *sum, const struct eki_vote *vote)
{
    sum->created += vote->created;
    sum->executed += vote->executed;
    if (vote->signature_low < sum->signature_low)
        sum->signature_low = vote->signature_low;
    if (vote->signature_high > sum->signature_high)
        sum->signature_high = vote->signature_high;
    eki_error_worse(&sum->error, &vote->error);
}

/* Send a body to the lowest rank of NODE; false: no buffer. */
static bool send_to_node(struct eki_engine *engine, enum eki_kind kind,
                         int node, const void *body, size_t bytes)
{
    struct eki_message *message = eki_server_reserve(engine, kind);
    if (!message)
        return false;
    if (bytes)
        memcpy(message->body, body, bytes);
    message->head.first = (int64_t)engine->server.wave;
    message->head.count = bytes ? 1 : 0;
    message->head.bytes = (int64_t)bytes;
    message->head.detail = engine->topology->node;
    eki_fabric_post(engine->fabric, message,
                    engine->topology->lowest_rank[node]);
    return true;
}

void eki_server_take_vote(struct eki_engine *engine,
                          const struct eki_message *message)
{
    struct eki_server *server = &engine->server;
    for (int i = 0; i < server->children; i++) {
        if (server->child[i] != message->head.detail ||
            message->head.bytes != sizeof(struct eki_vote))
            continue;
        memcpy(&server->vote[i], message->body, sizeof(struct eki_vote));
        server->has_vote[i] = true;
    }
}

/* Act on the verdict that all children have. */
static void apply_verdict(struct eki_engine *engine)
{
    struct eki_server *server = &engine->server;
    server->verdict_next = -1;
    server->voted = false;
    server->wave++;
    if (server->verdict.wave == EKI_WAVE_STALLED)
        /* relaxed: a hint to print. */
        atomic_store_explicit(&engine->node->stalled, engine->phase,
                              memory_order_relaxed);
    if (server->verdict.wave != EKI_WAVE_DONE)
        return;
    server->forwarded = true;
    engine->node->announced_error = server->verdict.error;
    /* release: pairs with the acquires of workers and servers of the node. */
    atomic_store_explicit(&engine->node->announced, engine->phase,
                          memory_order_release);
}

/* Pass the verdict on to the children, as far as there are buffers. */
static void pass_verdict(struct eki_engine *engine)
{
    struct eki_server *server = &engine->server;
    while (server->verdict_next < server->children) {
        if (!send_to_node(engine, EKI_KIND_WAVE,
                          server->child[server->verdict_next], &server->verdict,
                          sizeof server->verdict))
            return;
        server->verdict_next++;
    }
    apply_verdict(engine);
}

void eki_server_take_wave(struct eki_engine *engine,
                          const struct eki_message *message)
{
    struct eki_server *server = &engine->server;
    if (message->head.bytes != sizeof server->verdict)
        return;
    memcpy(&server->verdict, message->body, sizeof server->verdict);
    server->verdict_next = 0;
}

/* Root: has nothing moved for so long that it must be a stall? */
static bool is_stalled(struct eki_engine *engine, const struct eki_vote *sum,
                       uint64_t now)
{
    struct eki_server *server = &engine->server;
    if (sum->created != server->last_created ||
        sum->executed != server->last_executed)
        server->unchanged_since = now;
    if (engine->setup.stall_ns == 0 || server->stall_told ||
        now - server->unchanged_since < engine->setup.stall_ns)
        return false;
    server->stall_told = true;
    return true;
}

static void decide(struct eki_engine *engine, const struct eki_vote *sum,
                   uint64_t now)
{
    struct eki_server *server = &engine->server;
    struct eki_verdict verdict = {.wave = EKI_WAVE_AGAIN, .error = sum->error};
    if (is_stalled(engine, sum, now))
        verdict.wave = EKI_WAVE_STALLED;
    if (sum->created == sum->executed &&
        ((sum->created == server->last_created &&
          sum->executed == server->last_executed) ||
         EKI_PLANTED(SINGLE_WAVE)))
        verdict.wave = EKI_WAVE_DONE;
    if (sum->signature_low != sum->signature_high) {
        eki_error_mismatch(&verdict.error);
        eki_set_stop(engine);
    }
    server->last_created = sum->created;
    server->last_executed = sum->executed;
    server->verdict = verdict;
    server->verdict_next = 0;
    pass_verdict(engine);
}

/* Tell the neighbours in the tree that no task starts any more. */
static void spread_stop(struct eki_engine *engine)
{
    struct eki_server *server = &engine->server;
    int neighbours = server->children + (server->parent >= 0);
    if (!eki_is_stopped(engine))
        return;
    while (server->stop_next < neighbours) {
        int next = server->stop_next;
        int node =
            next < server->children ? server->child[next] : server->parent;
        if (!send_to_node(engine, EKI_KIND_STOP, node, NULL, 0))
            return;
        server->stop_next++;
    }
}

void eki_server_waves(struct eki_engine *engine, uint64_t now)
{
    struct eki_server *server = &engine->server;
    struct eki_vote sum;
    if (!server->is_lowest || server->forwarded)
        return;
    spread_stop(engine);
    if (server->verdict_next >= 0)
        pass_verdict(engine);
    if (server->voted || server->forwarded || server->verdict_next >= 0)
        return;
    for (int i = 0; i < server->children; i++) {
        if (!server->has_vote[i])
            return;
    }
    /* Not before the rest of an answer is sent: endless waves could take every
     * buffer that it waits for. */
    if (engine->departing.count != server->depart_next ||
        server->rest.sent != server->rest.count || !node_vote(engine, &sum))
        return;
    for (int i = 0; i < server->children; i++)
        add_vote(&sum, &server->vote[i]);
    if (server->parent >= 0 &&
        !send_to_node(engine, EKI_KIND_VOTE, server->parent, &sum, sizeof sum))
        return;
    /* Now, not with the verdict: a child that has it may vote in the next wave
     * before the other one has it. */
    server->has_vote[0] = server->has_vote[1] = false;
    server->voted = true;
    if (server->parent < 0)
        decide(engine, &sum, now);
}
