/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * served: for programs of what a running task wants of other ranks: a worker of
 * rank 0, and the server of that rank, which has one buffer for messages to
 * rank 1, on another node.  The program gives the answers of rank 1 itself.
 *
 * The program sets served_buffer, and the sizes; behind this header it includes
 * what it checks, with a memcpy() of its own for a checker, which sees neither
 * into that nor into mixed sizes of accesses.
 */
#ifndef SERVED_H
#define SERVED_H

#include "weak.h"

/* Every message has to fit. */
#define eki_refuse_field served_refuse
#include "engine/decode.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#ifndef REPEAT
#define REPEAT 1
#endif

/* Texts are for the eye only. */
#define eki_append(text, bytes, ...) ((void)(text), (void)(bytes))
/* Who finds a lock taken ends here, or gives its core away. */
#define eki_pause() model_wait()
#include "base/lock.c"
#include "engine/post.c"
#include "exchange/exchange.c"
#include "exchange/tickets.c"

enum {
    OTHER = 1, /* rank */
    NOW = 1
};

bool served_refuse(const struct eki_decode *decode, const char *field,
                   int64_t value, int64_t least, int64_t most)
{
    (void)decode, (void)field, (void)value, (void)least, (void)most;
    assert(false);
    return false;
}

static struct eki_message *served_buffer;
static bool served_has_sent; /* it is in use */

static struct eki_message *served_reserve(struct eki_fabric *fabric)
{
    (void)fabric;
    return served_has_sent ? NULL : served_buffer;
}

static void served_post(struct eki_fabric *fabric, struct eki_message *message,
                        int rank)
{
    (void)fabric, (void)message;
    assert(rank == OTHER);
    served_has_sent = true;
}

static const struct eki_fabric_ops served_ops = {.reserve = served_reserve,
                                                 .post = served_post};
static struct eki_fabric served_fabric = {.ops = &served_ops};
static int served_nodes[] = {0, 1}, served_first[] = {0, 1, 2};
static struct eki_topology served_topology = {.size = 2,
                                              .workers = 2,
                                              .workers_here = 1,
                                              .node_of_rank = served_nodes,
                                              .first_worker = served_first};
static struct ek_worker served_worker;
static struct ek_worker *served_workers[] = {&served_worker};
static struct eki_node_words served_node;
static struct eki_desk served_desk;
static struct eki_engine served_engine = {
    .topology = &served_topology,
    .exchange = {.fabric = &served_fabric, .topology = &served_topology},
    .node = &served_node,
    .workers = served_workers};

/* Call PREPARE, then WORK and SERVE in the threads of the worker and the
 * server, then CHECK. */
static int served_run(void (*prepare)(void), void *(*work)(void *),
                      void *(*serve)(void *), void (*check)(void))
{
    for (int i = 0; i < REPEAT; i++) {
        pthread_t ids[2];
        int failed = 0;
        served_worker.engine = &served_engine;
        served_has_sent = false;
        prepare();
        failed |= pthread_create(&ids[0], NULL, work, NULL);
        failed |= pthread_create(&ids[1], NULL, serve, NULL);
        assert(!failed);
        for (int t = 0; t < 2; t++)
            pthread_join(ids[t], NULL);
        check();
    }
    return 0;
}

#endif
