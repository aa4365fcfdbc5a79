/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asks: two workers that ask other nodes, and the server that fetches what they
 * ask: eki_asker_seek() against eki_asker_note_fetched() and note_answer()
 * (protocol/requests.c).
 *
 * ANSWERED: the server also hears that the other nodes have nothing.
 *
 * Checked: what is asked is sent once, and nothing is left to be sent; a worker
 * that sees its ask fetched sees the request open, so that it asks no other
 * node at once; one that sees it denied sees it closed.
 */
#include "weak.h"

#include "engine/internal.h"

#include <assert.h>
#include <pthread.h>

#ifdef GENMC
#define eki_histogram_add(histogram, ns) ((void)(histogram), (void)(ns))
#endif

enum {
    WORKERS = 2,
    NODES = WORKERS + 1, /* of one rank each; worker i asks node i + 1 */
    NOW = 1
};

#include "protocol/requests.h"

/* There is room for what is noted. */
static struct eki_sent noted[2 * WORKERS];
#define eki_grow(array, count, room, first, bytes) \
    (*(void **)(array) = noted, true)
#include "engine/post.c"
#include "exchange/exchange.c"
#include "protocol/asker.c"
#include "protocol/grants.c"
#include "protocol/requests.c"

#ifndef REPEAT
#define REPEAT 1
#endif

static struct eki_message buffer;
static int sent[NODES]; /* requests to each */

static struct eki_message *reserve_buffer(struct eki_fabric *fabric)
{
    (void)fabric;
    return &buffer;
}

static void count_request(struct eki_fabric *fabric,
                          struct eki_message *message, int rank)
{
    (void)fabric;
    assert(message->head.worker == rank - 1);
    sent[rank]++;
}

static const struct eki_fabric_ops ops = {.reserve = reserve_buffer,
                                          .post = count_request};
static struct eki_fabric fabric = {.ops = &ops};

uint64_t eki_engine_pause_ns(const struct eki_engine *of)
{
    (void)of;
    return 0;
}

static int ranks[NODES];
static struct eki_topology topology = {.size = NODES,
                                       .nodes = NODES,
                                       .workers_here = WORKERS,
                                       .node_of_rank = ranks,
                                       .lowest_rank = ranks,
                                       .highest_rank = ranks};
static struct ek_worker workers[WORKERS];
static struct ek_worker *pointers[WORKERS] = {&workers[0], &workers[1]};
static struct eki_engine engine = {
    .topology = &topology,
    .exchange = {.topology = &topology, .fabric = &fabric},
    .workers = pointers};
static struct eki_asker askers[WORKERS];
static struct eki_requests requests = {.protocol.engine = &engine,
                                       .askers = askers};

static enum eki_sought ask_node_of(struct ek_worker *worker)
{
    const struct eki_victim victim = {-1, worker->here + 1, -1};
    return seek_requests(&requests.protocol, worker, &victim, NOW);
}

static void *want(void *context)
{
    struct ek_worker *worker = context;
    struct eki_asker *asker = &askers[worker->here];
    assert(ask_node_of(worker) == EKI_SOUGHT_ASKED);
#ifdef ANSWERED
    bool awaits = false;
    note_answers(&engine, asker, NOW);
    calls_requests(&requests.protocol, worker, &awaits, NULL);
    assert(asker->denied_seen == 0 || !awaits);
#else
    assert(ask_node_of(worker) == EKI_SOUGHT_NOTHING);
    assert(asker->asked == 1);
#endif
    return NULL;
}

/* All nodes that were asked say no. */
static void deny_all(void)
{
#ifdef ANSWERED
    while (requests.sent_count > 0) {
        const struct eki_sent *oldest = &requests.sent[0];
        struct eki_head head = {.source = oldest->rank, .detail = -1};
        note_answer(&requests, &workers[oldest->here], &head, 0, NOW);
    }
#endif
}

static void *serve_twice(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        send_asks(&requests, NOW);
        deny_all();
    }
    return NULL;
}

static void prepare(void)
{
    for (int i = 0; i < NODES; i++) {
        ranks[i] = i;
        sent[i] = 0;
    }
    for (int i = 0; i < WORKERS; i++) {
        workers[i].id = workers[i].here = i;
        eki_asker_reset(&askers[i], false);
    }
    requests.sent_count = 0;
}

/* What was not sent yet is not forgotten. */
static void check(void)
{
    send_asks(&requests, NOW);
    /* relaxed: all have ended. */
    assert(atomic_load_explicit(&requests.asks, memory_order_relaxed) == 0);
    for (int i = 0; i < WORKERS; i++)
        assert(sent[i + 1] == 1);
}

int main(void)
{
    for (int i = 0; i < REPEAT; i++) {
        pthread_t ids[WORKERS + 1];
        int failed = 0;
        prepare();
        for (int w = 0; w < WORKERS; w++)
            failed |= pthread_create(&ids[w], NULL, want, &workers[w]);
        failed |= pthread_create(&ids[WORKERS], NULL, serve_twice, NULL);
        assert(!failed);
        for (int t = 0; t <= WORKERS; t++)
            pthread_join(ids[t], NULL);
        check();
    }
    return 0;
}
