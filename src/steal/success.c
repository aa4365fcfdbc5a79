/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that do not fail: a node reads the load of a random one where it has
 * no request, and leaves one there if that is above a threshold.
 *
 * Paper: Kumar, Murthy, Sarkar, Zheng, IA3 2016: SuccessOnlyWS.  Two nodes may
 * wait for each other, each of which got rich meanwhile; acyclic is the variant
 * of the paper that leaves no request with who waits here.  The released source
 * lets a request be cancelled, which loses track of it; that is left out.
 */
#include "steal/seeker.h"

static struct eki_next choose(struct eki_seeker *seeker, unsigned marks)
{
    int node = eki_seeker_take_found(seeker, marks);
    return node < 0 ? eki_seeker_read(seeker, marks)
                    : (struct eki_next){EKI_APPROACH_QUEUE, node};
}

static struct eki_next choose_success(struct eki_seeker *seeker)
{
    return choose(seeker, EKI_NODE_OWES | EKI_NODE_ASKED);
}

static struct eki_next choose_acyclic(struct eki_seeker *seeker)
{
    return choose(seeker, EKI_NODE_OWES | EKI_NODE_ASKED | EKI_NODE_WAITS);
}

const struct eki_seeker_ops eki_seeker_success = {.choose = choose_success,
                                                  .told = eki_seeker_note_read,
                                                  .queues_first = true};
const struct eki_seeker_ops eki_seeker_acyclic = {.choose = choose_acyclic,
                                                  .told = eki_seeker_note_read,
                                                  .queues_first = true};
