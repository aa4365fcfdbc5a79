/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parcels over trees of ranks, so that no rank talks to more than a few: what
 * is gathered goes up in *sections*, which each rank joins to one parcel, or is
 * summed up (root.c); what is for everybody goes down in copies, and what is
 * for each goes down in sections again.
 *
 * While a relay awaits parts, its own and its children's come, each once; with
 * the last one all goes up, and it awaits nothing until eki_relay_expect().
 *
 * All ranks are one tree; each group is one, open from the target on.  A child
 * may have its target before: what comes too early waits (balancer.c).
 */
#include "rebalance/balancer.h"

static int child_of(const struct eki_relay *relay, int i)
{
    return relay->first + (relay->rank - relay->first) * EKI_BRANCHES + 1 + i;
}

/* The parent of a rank; of the first one itself. */
static int parent_of(const struct eki_relay *relay, int rank)
{
    return relay->first + (rank - relay->first - 1) / EKI_BRANCHES;
}

int eki_relay_children(const struct eki_relay *relay)
{
    int64_t before = (int64_t)(relay->rank - relay->first) * EKI_BRANCHES;
    int64_t left = relay->last - relay->first - before;
    return left < 0 ? 0 : left < EKI_BRANCHES ? (int)left : EKI_BRANCHES;
}

int eki_relay_above(const struct eki_relay *relay)
{
    return parent_of(relay, relay->rank);
}

/* Which child of this rank RANK is, or hangs on; -1: none. */
static int branch_of(const struct eki_relay *relay, int rank)
{
    while (rank > relay->first && rank <= relay->last) {
        int above = parent_of(relay, rank);
        if (above == relay->rank)
            return rank - child_of(relay, 0);
        rank = above;
    }
    return -1;
}

void eki_relay_expect(struct eki_relay *relay, int what, int parts)
{
    relay->what = what;
    relay->awaited = parts;
    relay->heard = 0;
}

bool eki_relay_hears(struct eki_relay *relay, const struct eki_decode *decode,
                     int what)
{
    if (!eki_fits_one(decode, "what is gathered", what, relay->what) ||
        !eki_fits(decode, "parts to come", relay->awaited, 1, INT32_MAX))
        return false;
    if (decode->source != relay->rank) {
        int branch = branch_of(relay, decode->source);
        if (!eki_fits(decode, "branch", branch, 0, EKI_BRANCHES - 1) ||
            !eki_fits_one(decode, "child", child_of(relay, branch),
                          decode->source) ||
            !eki_fits_one(decode, "parts before it", relay->heard >> branch & 1,
                          0))
            return false;
        relay->heard |= 1u << branch;
    }
    relay->awaited--;
    return true;
}

/* Children under which a group is led; a bit for each. */
static unsigned leading_children(const struct eki_balancer *balancer)
{
    unsigned leading = 0;
    for (int g = 0; g < balancer->groups; g++) {
        int branch =
            branch_of(&balancer->relays.all, eki_leader_of(balancer, g));
        if (branch >= 0)
            leading |= 1u << branch;
    }
    return leading;
}

bool eki_relay_open_groups(struct eki_balancer *balancer)
{
    const struct eki_topology *topology = balancer->topology;
    const int *workers = &topology->first_worker[topology->rank];
    struct eki_relays *relays = &balancer->relays;
    relays->first = workers[0] / balancer->group_size;
    int count = (workers[1] - 1) / balancer->group_size - relays->first + 1;
    relays->of_groups = eki_alloc((size_t)count, sizeof *relays->of_groups);
    if (!relays->of_groups)
        return false;
    relays->count = count;
    int parts = __builtin_popcount(leading_children(balancer));
    for (int i = 0; i < count; i++) {
        struct eki_run group = eki_group_run(balancer, relays->first + i);
        struct eki_relay *relay = &relays->of_groups[i];
        relay->rank = topology->rank;
        relay->first = eki_topology_rank(topology, group.first);
        relay->last = eki_topology_rank(topology, group.last);
        eki_relay_expect(relay, EKI_PARCEL_OFFER,
                         1 + eki_relay_children(relay));
        parts += relay->first == relay->rank;
    }
    eki_relay_expect(&relays->all, EKI_PARCEL_LEFT, parts);
    eki_relay_expect(&balancer->root.results_relay, EKI_PARCEL_RESULT, parts);
    return true;
}

void eki_relay_close_groups(struct eki_relays *relays)
{
    for (int i = 0; i < relays->count; i++)
        eki_parcels_free(&relays->of_groups[i].parts);
    eki_free(relays->of_groups);
    *relays = (struct eki_relays){.all = relays->all};
}

/* The relay of a parcel; NULL: this rank is not of its group. */
static struct eki_relay *relay_of(struct eki_balancer *balancer,
                                  const struct eki_parcel *parcel)
{
    struct eki_relays *relays = &balancer->relays;
    int i = parcel->group - relays->first;
    if (!(eki_way_of(balancer, parcel->what)->flags & EKI_OF_GROUP))
        return &relays->all;
    return i >= 0 && i < relays->count ? &relays->of_groups[i] : NULL;
}

/* Several parts as one parcel; NULL: no memory. */
static struct eki_parcel *join(struct eki_parcels *parts)
{
    int64_t bytes = 0;
    const struct eki_parcel *first = parts->first;
    for (const struct eki_parcel *part = first; part; part = part->next)
        bytes += part->bytes;
    struct eki_parcel *joined =
        eki_mail_make(0, first->what, first->group, bytes);
    if (!joined)
        return NULL;
    unsigned char *to = joined->data;
    for (const struct eki_parcel *part = first; part; part = part->next) {
        memcpy(to, part->data, (size_t)part->bytes);
        to += part->bytes;
    }
    eki_parcels_free(parts);
    return joined;
}

/* Everything was heard: up, or at the top to whom it is for. */
static bool pass_up(struct eki_balancer *balancer, struct eki_relay *relay)
{
    struct eki_parcel *parcel = relay->parts.first->next
                                    ? join(&relay->parts)
                                    : eki_parcels_pop(&relay->parts, NULL);
    if (!parcel)
        return false;
    parcel->rank = eki_relay_above(relay);
    parcel->is_mine = relay->first == relay->rank;
    parcel->done = 0;
    eki_mail_send(&balancer->mail, parcel);
    return true;
}

bool eki_relay_gather(struct eki_balancer *balancer, struct eki_parcel *parcel)
{
    struct eki_relay *relay = relay_of(balancer, parcel);
    if (!eki_fits_one(&parcel->decode, "member of the group", relay != NULL,
                      true) ||
        !eki_sections_fit(&parcel->decode, parcel) ||
        !eki_relay_hears(relay, &parcel->decode, parcel->what))
        return true;
    eki_parcels_push(&relay->parts, parcel);
    balancer->taken = NULL;
    return relay->awaited > 0 || pass_up(balancer, relay);
}

/* From the parent, or from this rank at the top. */
static bool comes_from_above(const struct eki_decode *decode,
                             const struct eki_relay *relay)
{
    return eki_fits_one(decode, "member of the group", relay != NULL, true) &&
           eki_fits_one(decode, "right sender", decode->source,
                        eki_relay_above(relay));
}

bool eki_relay_pass(struct eki_balancer *balancer, struct eki_parcel *parcel)
{
    struct eki_relay *relay = relay_of(balancer, parcel);
    if (!comes_from_above(&parcel->decode, relay))
        return true;
    int children = eki_relay_children(relay);
    if (parcel->what == EKI_PARCEL_OPEN)
        eki_relay_expect(relay, EKI_PARCEL_OPENED, 1 + children);
    for (int i = 0; i < children; i++) {
        if (!eki_mail_send_copy(&balancer->mail, child_of(relay, i),
                                parcel->what, parcel->group, parcel->data,
                                parcel->bytes))
            return false;
    }
    return eki_way_of(balancer, parcel->what)->take(balancer, parcel);
}

/* The child to which the section OF a rank or group goes, EKI_BRANCHES: it is
 * for this rank; -1: for nobody.  RELAY NULL: all is for this rank. */
static int part_of(const struct eki_balancer *balancer,
                   const struct eki_relay *relay, int what, int64_t of)
{
    bool is_given = what == EKI_PARCEL_GIVEN;
    if (of < 0 ||
        of >= (is_given ? balancer->groups : balancer->topology->size))
        return -1;
    int rank = is_given ? eki_leader_of(balancer, (int)of) : (int)of;
    if (rank == balancer->topology->rank)
        return EKI_BRANCHES;
    return relay ? branch_of(relay, rank) : -1;
}

static bool count_parts(const struct eki_balancer *balancer,
                        const struct eki_relay *relay,
                        const struct eki_parcel *parcel, struct eki_deal *deals)
{
    const struct eki_section *at = NULL;
    if (!eki_sections_fit(&parcel->decode, parcel))
        return false;
    while ((at = eki_section_next(parcel, at)) != NULL) {
        int part = part_of(balancer, relay, parcel->what, at->of);
        if (!eki_fits(&parcel->decode, "right receiver", part, 0, EKI_BRANCHES))
            return false;
        deals[part].bytes += (int64_t)sizeof *at + at->bytes;
    }
    return true;
}

/* Every child gets its part of a plan, even if that is nothing: it waits for
 * it.  False: no memory. */
static bool put_parts(struct eki_balancer *balancer,
                      const struct eki_relay *relay,
                      const struct eki_parcel *parcel, struct eki_deal *deals)
{
    int children = relay ? eki_relay_children(relay) : 0;
    bool is_plan = parcel->what == EKI_PARCEL_PLAN;
    for (int i = 0; i <= EKI_BRANCHES; i++) {
        if (deals[i].bytes == 0 && !(is_plan && i < children))
            continue;
        int rank = i < children ? child_of(relay, i) : balancer->topology->rank;
        struct eki_parcel *part = eki_mail_put(
            &balancer->mail, rank, parcel->what, parcel->group, deals[i].bytes);
        if (!part)
            return false;
        part->is_mine = i == EKI_BRANCHES;
        deals[i].end = part->data;
    }
    return true;
}

/* What goes down in sections: over the tree, or, of a plan, from the leader of
 * another group. */
static bool split_fits(const struct eki_balancer *balancer,
                       struct eki_relay *relay, const struct eki_parcel *parcel)
{
    if (!relay)
        return eki_fits_one(&parcel->decode, "right sender", parcel->rank,
                            eki_leader_of(balancer, parcel->group));
    if (!comes_from_above(&parcel->decode, relay))
        return false;
    if (parcel->what != EKI_PARCEL_PLAN)
        return true;
    if (!eki_fits_one(&parcel->decode, "plans before it", relay->has_plan,
                      false))
        return false;
    relay->has_plan = true;
    return true;
}

bool eki_relay_split(struct eki_balancer *balancer, struct eki_parcel *parcel)
{
    struct eki_relay *relay = relay_of(balancer, parcel);
    struct eki_deal deals[EKI_BRANCHES + 1] = {{0, NULL}};
    const struct eki_section *at = NULL;
    if (!split_fits(balancer, relay, parcel) ||
        !count_parts(balancer, relay, parcel, deals))
        return true;
    if (!put_parts(balancer, relay, parcel, deals))
        return false;
    while ((at = eki_section_next(parcel, at)) != NULL) {
        int part = part_of(balancer, relay, parcel->what, at->of);
        size_t size = sizeof *at + (size_t)at->bytes;
        memcpy(eki_deal_put(&deals[part], size), at, size);
    }
    return true;
}

bool eki_relay_is_done(const struct eki_balancer *balancer)
{
    for (int i = 0; i < balancer->relays.count; i++) {
        if (!balancer->relays.of_groups[i].has_plan)
            return false;
    }
    return true;
}
