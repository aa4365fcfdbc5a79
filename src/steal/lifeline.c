/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lifelines: after some random attempts a node leaves a request with each of a
 * few fixed nodes, and asks nobody until one of them has sent tasks.
 *
 * Paper: Saraswat, Kambadur, Kodali, Grove, Krishnamoorthy, PPoPP 2011.
 */
#include "steal/seeker.h"

static struct eki_next choose_lifeline(struct eki_seeker *seeker)
{
    if (seeker->attempts < seeker->option.attempts) {
        int node = eki_seeker_draw(seeker, EKI_NODE_OWES | EKI_NODE_ASKED);
        seeker->attempts++;
        if (node >= 0)
            return (struct eki_next){EKI_APPROACH_ASK, node};
    }
    for (int i = 0; i < seeker->lifeline_count; i++) {
        int node = seeker->lifelines[i];
        if (!(seeker->marks[node] & (EKI_NODE_OWES | EKI_NODE_ASKED)))
            return (struct eki_next){EKI_APPROACH_QUEUE, node};
    }
    return (struct eki_next){EKI_APPROACH_NONE, -1};
}

static void told_lifeline(struct eki_seeker *seeker, int node,
                          enum eki_reply reply, int32_t load)
{
    (void)node, (void)load;
    if (reply == EKI_REPLY_TASKS)
        eki_seeker_begin(seeker);
}

const struct eki_seeker_ops eki_seeker_lifeline = {.choose = choose_lifeline,
                                                   .told = told_lifeline};
