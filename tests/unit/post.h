/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Some lone engines whose messages find each other, in any order that their
 * pairs allow, until no rank waits for another in a restore.
 */
#ifndef POST_H
#define POST_H

#include "lone.h"

#include "rebalance/rebalance.h"

#include <stdlib.h>

enum {
    POST_RANKS = 4,
    POST_STEPS = 100000
};

/* A message on its way. */
struct letter {
    struct letter *next;
    struct lone_message message;
};

/* Ranks whose messages find each other, each pair's in their order. */
struct post {
    struct desk {
        struct lone lone; /* first: the operations get this */
        struct post *post;
        struct letter *held; /* that was polled */
        struct letter *first[POST_RANKS], *last[POST_RANKS]; /* by sender */
    } desks[POST_RANKS];
    int ranks;
    struct eki_random random; /* whose turn it is */
};

static inline int post_draw(struct post *post, int below)
{
    return (int)eki_random_below(&post->random, (uint64_t)below);
}

static inline void post_letter(struct eki_fabric *fabric,
                               struct eki_message *message, int rank)
{
    struct desk *to = &((struct desk *)fabric)->post->desks[rank];
    struct letter *letter = calloc(1, sizeof *letter);
    int from = fabric->rank;
    message->head.source = from;
    memcpy(letter->message.bytes, message,
           sizeof *message + (size_t)message->head.bytes);
    if (to->first[from])
        to->last[from]->next = letter;
    else
        to->first[from] = letter;
    to->last[from] = letter;
}

static inline struct eki_message *post_poll(struct eki_fabric *fabric)
{
    struct desk *desk = (struct desk *)fabric;
    for (int i = 0; !desk->held && i < 2 * POST_RANKS; i++) {
        int from = post_draw(desk->post, desk->post->ranks);
        desk->held = desk->first[from];
        if (desk->held)
            desk->first[from] = desk->held->next;
    }
    return desk->held ? (struct eki_message *)desk->held->message.bytes : NULL;
}

static inline void post_release(struct eki_fabric *fabric,
                                struct eki_message *message)
{
    struct desk *desk = (struct desk *)fabric;
    (void)message;
    free(desk->held);
    desk->held = NULL;
}

static const struct eki_fabric_ops post_ops = {.reserve = lone_reserve,
                                               .post = post_letter,
                                               .poll = post_poll,
                                               .release = post_release,
                                               .drain = lone_drain};

static inline void post_open(struct post *post, int ranks, const int *workers,
                             const int *nodes, struct eki_random random)
{
    memset(post, 0, sizeof *post);
    post->ranks = ranks;
    post->random = random;
    for (int r = 0; r < ranks; r++) {
        struct desk *desk = &post->desks[r];
        desk->post = post;
        lone_open_job(&desk->lone, r, ranks, workers, nodes);
        desk->lone.fabric.ops = &post_ops;
        lone_make(&desk->lone);
    }
}

static inline void post_close(struct post *post)
{
    for (int r = 0; r < post->ranks; r++) {
        struct desk *desk = &post->desks[r];
        lone_close(&desk->lone);
        free(desk->held);
        for (int from = 0; from < post->ranks; from++) {
            while (desk->first[from]) {
                struct letter *next = desk->first[from]->next;
                free(desk->first[from]);
                desk->first[from] = next;
            }
        }
    }
}

static inline bool post_is_decided(const struct post *post)
{
    for (int r = 0; r < post->ranks; r++) {
        if (post->desks[r].lone.engine->holds > 0)
            return false;
    }
    return true;
}

/* Until no rank waits for another; false: they still do. */
static inline bool post_run(struct post *post)
{
    for (int i = 0; i < POST_STEPS && !post_is_decided(post); i++)
        lone_serve(&post->desks[post_draw(post, post->ranks)].lone);
    return post_is_decided(post);
}

#endif
