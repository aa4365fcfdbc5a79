/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grants: the victim's side of stealing between nodes: a block for who asks, in
 * pieces.
 *
 * A block is claimed from the fullest deque of the node, or of the one worker
 * that is asked.  A grant has the block that a claim yields, half of what is
 * shown, or the first of its tasks as the option steal_batch says; the server
 * shows what is left.  A large grant takes several messages; one is sent at a
 * time, and its rest waits in memory until there are buffers.  No deque is ever
 * held by the network.
 */
#ifndef EKI_PROTOCOL_GRANTS_H
#define EKI_PROTOCOL_GRANTS_H

#include "engine/engine.h"

struct eki_request {
    int rank, worker;
    int victim; /* a worker of this rank; -1: any of the node */
    uint64_t signature;
};

/* Written by the server. */
struct eki_grants {
    struct eki_engine *engine;
    /* The rest of a grant, which found no buffer yet. */
    int kind, rank, worker;
    int64_t sent, count;
    unsigned char *slots; /* room for the largest block; owned */
};

/* False: no memory. */
bool eki_grants_open(struct eki_grants *grants, struct eki_engine *engine);

/* Whether a part of a grant is not sent yet. */
static inline bool eki_grants_has_rest(const struct eki_grants *grants)
{
    return grants->sent < grants->count;
}
/* Send it; false: there were not enough buffers. */
bool eki_grants_send_rest(struct eki_grants *grants);

/* Visit the tasks of the rest. */
static inline void eki_grants_visit(const struct eki_grants *grants,
                                    eki_visit_fn *visit, void *context)
{
    if (eki_grants_has_rest(grants))
        visit(context, "answer",
              grants->slots + grants->sent * grants->engine->slot_bytes,
              grants->count - grants->sent);
}

/* Claim from the fullest deque of the node, of what may run elsewhere; its
 * number, or -1. */
int eki_grants_claim_fullest(struct eki_engine *engine, struct eki_block *block,
                             uint64_t now);

/* Tasks that deques of the node show, and that may run elsewhere. */
int64_t eki_grants_on_offer(const struct eki_engine *engine, uint64_t now);

/*
 * Answer REQUEST with tasks, in MESSAGE, of KIND, and in those that follow;
 * while there is no rest.  How many; 0: there is none for it, and the message
 * is not sent.
 */
int64_t eki_grants_give(struct eki_grants *grants, struct eki_message *message,
                        int kind, const struct eki_request *request,
                        uint64_t now);

#endif
