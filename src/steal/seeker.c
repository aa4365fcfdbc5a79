/* SPDX-License-Identifier: BSD-3-Clause */
#include "steal/seeker.h"

#include <string.h>

bool eki_seeker_reset(struct eki_seeker *seeker,
                      const struct eki_seeker_ops *ops)
{
    size_t nodes = (size_t)seeker->topology->nodes;
    if (!seeker->marks)
        seeker->marks = eki_alloc(nodes, sizeof *seeker->marks);
    if (!seeker->loads && ops->has_loads)
        seeker->loads = eki_alloc(nodes, sizeof *seeker->loads);
    if (!seeker->marks || (ops->has_loads && !seeker->loads))
        return false;
    memset(seeker->marks, 0, nodes);
    for (size_t i = 0; ops->has_loads && i < nodes; i++)
        seeker->loads[i] = EKI_LOAD_UNKNOWN;
    seeker->ops = ops;
    seeker->found = -1;
    seeker->lifeline_count =
        eki_lifelines(&seeker->option, seeker->topology->nodes,
                      seeker->topology->node, seeker->lifelines);
    eki_seeker_begin(seeker);
    return true;
}

void eki_seeker_close(struct eki_seeker *seeker)
{
    eki_free(seeker->marks);
    eki_free(seeker->loads);
}

void eki_seeker_begin(struct eki_seeker *seeker)
{
    seeker->attempts = 0;
}

int eki_seeker_draw(struct eki_seeker *seeker, unsigned marks)
{
    enum {
        DRAWS = 8
    };
    int nodes = seeker->topology->nodes, self = seeker->topology->node;
    int node = self;
    /* Where most are marked a scan from a random one on finds the others. */
    for (int draws = 0; draws < DRAWS; draws++) {
        node = (int)eki_random_below(&seeker->random, (uint64_t)nodes - 1);
        node += node >= self;
        if (!(seeker->marks[node] & marks))
            return node;
    }
    for (int i = 0; i < nodes; i++) {
        node = (node + 1) % nodes;
        if (node != self && !(seeker->marks[node] & marks))
            return node;
    }
    return -1;
}

struct eki_next eki_seeker_read(struct eki_seeker *seeker, unsigned marks)
{
    int node = eki_seeker_draw(seeker, marks);
    return (struct eki_next){node < 0 ? EKI_APPROACH_NONE : EKI_APPROACH_READ,
                             node};
}

void eki_seeker_note_read(struct eki_seeker *seeker, int node,
                          enum eki_reply reply, int32_t load)
{
    if (reply == EKI_REPLY_LOAD && load > seeker->threshold)
        seeker->found = node;
    /* Who has got tasks begins anew. */
    if (reply == EKI_REPLY_TASKS)
        seeker->found = -1;
}

int eki_seeker_take_found(struct eki_seeker *seeker, unsigned marks)
{
    int node = seeker->found;
    seeker->found = -1;
    return node >= 0 && seeker->marks[node] & marks ? -1 : node;
}
