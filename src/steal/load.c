/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By load: a node asks who shows more than a threshold, one at a time.
 *
 * Paper: Kumar, Murthy, Sarkar, Zheng, IA3 2016: BaselineWS reads the load of a
 * random node before it asks there.  That loads ride on all answers, and need
 * not be read, is ours.
 */
#include "steal/seeker.h"

static struct eki_next choose_read(struct eki_seeker *seeker)
{
    int node = eki_seeker_take_found(seeker, EKI_NODE_OWES);
    return node < 0 ? eki_seeker_read(seeker, EKI_NODE_OWES)
                    : (struct eki_next){EKI_APPROACH_ASK, node};
}

/* Whether a node is worth a request, as far as is known. */
static bool is_candidate(const struct eki_seeker *seeker, int node)
{
    return node >= 0 && (seeker->loads[node] == EKI_LOAD_UNKNOWN ||
                         seeker->loads[node] > seeker->threshold);
}

/* Some draws, of which the first candidate is asked, or else the last: what is
 * known of it may be old. */
static struct eki_next choose_load(struct eki_seeker *seeker)
{
    enum {
        DRAWS = 16
    };
    int node = eki_seeker_draw(seeker, EKI_NODE_OWES);
    for (int draws = 1; draws < DRAWS && !is_candidate(seeker, node); draws++)
        node = eki_seeker_draw(seeker, EKI_NODE_OWES);
    return (struct eki_next){node < 0 ? EKI_APPROACH_NONE : EKI_APPROACH_ASK,
                             node};
}

static void told_load(struct eki_seeker *seeker, int node, enum eki_reply reply,
                      int32_t load)
{
    (void)reply;
    seeker->loads[node] = load;
}

const struct eki_seeker_ops eki_seeker_load = {
    .choose = choose_load, .told = told_load, .has_loads = true};
const struct eki_seeker_ops eki_seeker_load_read = {
    .choose = choose_read, .told = eki_seeker_note_read, .holds_one = true};
