/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parcels over trees of ranks, so that no rank talks to more than a few: what
 * is gathered goes up in *sections*, which each rank joins to one parcel, what
 * is for everybody goes down in copies, and what is for each goes down in
 * sections again.
 *
 * Relays of groups are open from the target on.  A child may have its target
 * before: offers that come too early wait (balancer.c).
 */
#include "rebalance/balancer.h"

/* How many ranks hang on RANK. */
static int children_of(const struct eki_relay *relay, int rank)
{
    int64_t first =
        relay->first + (int64_t)(rank - relay->first) * EKI_BRANCHES + 1;
    int64_t left = relay->last + 1 - first;
    return left < 0 ? 0 : left < EKI_BRANCHES ? (int)left : EKI_BRANCHES;
}

static int child_of(const struct eki_relay *relay, int rank, int i)
{
    return relay->first + (rank - relay->first) * EKI_BRANCHES + 1 + i;
}

static int parent_of(const struct eki_relay *relay, int rank)
{
    return relay->first + (rank - relay->first - 1) / EKI_BRANCHES;
}

static int me(const struct eki_balancer *balancer)
{
    return balancer->engine->topology->rank;
}

int eki_relay_children(const struct eki_balancer *balancer,
                       const struct eki_relay *relay)
{
    return children_of(relay, me(balancer));
}

int eki_relay_above(const struct eki_balancer *balancer,
                    const struct eki_relay *relay)
{
    return me(balancer) == relay->first ? relay->first
                                        : parent_of(relay, me(balancer));
}

int eki_relay_branch(const struct eki_balancer *balancer,
                     const struct eki_relay *relay, int rank)
{
    while (rank > relay->first && rank <= relay->last) {
        int above = parent_of(relay, rank);
        if (above == me(balancer))
            return rank - child_of(relay, above, 0);
        rank = above;
    }
    return -1;
}

void eki_relay_open(struct eki_balancer *balancer)
{
    balancer->all =
        (struct eki_relay){.last = balancer->engine->topology->size - 1};
}

/* Gather sections of this rank, OWN parcels of them, and of the children. */
static void expect(struct eki_relay *relay, int what, int own, int children)
{
    relay->what = what;
    relay->awaited = own + children;
    relay->heard = 0;
}

/* Children under which a group is led; a bit for each. */
static unsigned leading_children(const struct eki_balancer *balancer)
{
    unsigned leading = 0;
    for (int g = 0; g < balancer->groups; g++) {
        int branch = eki_relay_branch(balancer, &balancer->all,
                                      eki_leader_of(balancer, g));
        if (branch >= 0)
            leading |= 1u << branch;
    }
    return leading;
}

bool eki_relay_open_groups(struct eki_balancer *balancer)
{
    const struct eki_topology *topology = balancer->engine->topology;
    const int *first = &topology->first_worker[topology->rank];
    int size = balancer->group_size;
    balancer->first_group = first[0] / size;
    int count = (first[1] - 1) / size - balancer->first_group + 1;
    balancer->relays = eki_alloc((size_t)count, sizeof *balancer->relays);
    if (!balancer->relays)
        return false;
    balancer->relay_count = count;
    for (int i = 0; i < count; i++) {
        int begin = (balancer->first_group + i) * size;
        int rest = topology->workers - begin;
        struct eki_relay *relay = &balancer->relays[i];
        relay->first = eki_topology_rank(topology, begin);
        relay->last = eki_topology_rank(
            topology, begin + (rest < size ? rest : size) - 1);
        expect(relay, EKI_PARCEL_OFFER, 1, eki_relay_children(balancer, relay));
    }
    unsigned leading = leading_children(balancer);
    balancer->leading = __builtin_popcount(leading);
    expect(&balancer->all, EKI_PARCEL_LEFT, balancer->leader_count,
           balancer->leading);
    return true;
}

static void free_parts(struct eki_relay *relay)
{
    while (relay->parts) {
        struct eki_parcel *next = relay->parts->next;
        eki_free(relay->parts);
        relay->parts = next;
    }
}

void eki_relay_close(struct eki_balancer *balancer)
{
    free_parts(&balancer->all);
    for (int i = 0; i < balancer->relay_count; i++)
        free_parts(&balancer->relays[i]);
    eki_free(balancer->relays);
    balancer->relays = NULL;
    balancer->relay_count = 0;
}

/* The relay of a parcel; NULL: this rank is not of its group. */
static struct eki_relay *relay_of(struct eki_balancer *balancer,
                                  const struct eki_parcel *parcel)
{
    switch (parcel->what) {
    case EKI_PARCEL_OFFER:
    case EKI_PARCEL_OPEN:
    case EKI_PARCEL_OPENED:
    case EKI_PARCEL_PLAN: {
        int i = parcel->group - balancer->first_group;
        return i >= 0 && i < balancer->relay_count ? &balancer->relays[i]
                                                   : NULL;
    }
    default:
        return &balancer->all;
    }
}

const struct eki_section *eki_section_next(const struct eki_parcel *parcel,
                                           const struct eki_section *section)
{
    const unsigned char *at = parcel->data;
    if (section)
        at = (const unsigned char *)(section + 1) + section->bytes;
    return at < parcel->data + parcel->bytes ? (const struct eki_section *)at
                                             : NULL;
}

/* Whole sections, each with a body of whole words. */
static bool sections_fit(const struct eki_decode *decode,
                         const struct eki_parcel *parcel)
{
    int64_t at = 0;
    while (at < parcel->bytes) {
        int64_t rest = parcel->bytes - at - (int64_t)sizeof(struct eki_section);
        const struct eki_section *section =
            (const struct eki_section *)(parcel->data + at);
        if (!eki_fits(decode, "bytes of a head", rest, 0, INT64_MAX) ||
            !eki_fits(decode, "bytes of a section", section->bytes, 0, rest) ||
            !eki_fits_one(decode, "part of a word", section->bytes % 8, 0))
            return false;
        at += (int64_t)sizeof *section + section->bytes;
    }
    return true;
}

/* From this rank, or once from a child, in the stage that the relay is in. */
static bool part_fits(const struct eki_balancer *balancer,
                      struct eki_relay *relay, const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    if (!eki_fits_one(&decode, "member of the group", relay != NULL, true) ||
        !eki_fits_one(&decode, "what is gathered", parcel->what, relay->what) ||
        !eki_fits(&decode, "parts to come", relay->awaited, 1, INT32_MAX) ||
        !sections_fit(&decode, parcel))
        return false;
    if (parcel->rank == me(balancer))
        return true;
    int branch = eki_relay_branch(balancer, relay, parcel->rank);
    if (!eki_fits(&decode, "branch", branch, 0, EKI_BRANCHES - 1) ||
        !eki_fits_one(&decode, "child", child_of(relay, me(balancer), branch),
                      parcel->rank) ||
        !eki_fits_one(&decode, "parts before it", relay->heard >> branch & 1,
                      0))
        return false;
    relay->heard |= 1u << branch;
    return true;
}

/* All parts as one parcel; NULL: no memory. */
static struct eki_parcel *join(struct eki_relay *relay)
{
    int64_t bytes = 0;
    const struct eki_parcel *first = relay->parts;
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
    free_parts(relay);
    return joined;
}

/* Everything was heard: up, or at the top to whom it is for. */
static bool pass_up(struct eki_balancer *balancer, struct eki_relay *relay)
{
    struct eki_parcel *parcel = relay->parts;
    if (parcel->next)
        parcel = join(relay);
    else
        relay->parts = NULL;
    if (!parcel)
        return false;
    parcel->rank = eki_relay_above(balancer, relay);
    parcel->is_mine = relay->first == me(balancer);
    parcel->done = 0;
    eki_mail_send(&balancer->mail, parcel);
    return true;
}

bool eki_relay_gather(struct eki_balancer *balancer, struct eki_parcel *parcel,
                      bool *kept)
{
    struct eki_relay *relay = relay_of(balancer, parcel);
    if (!part_fits(balancer, relay, parcel))
        return true;
    parcel->next = relay->parts;
    relay->parts = parcel;
    *kept = true;
    return --relay->awaited > 0 || pass_up(balancer, relay);
}

/* From the parent, or from this rank at the top. */
static bool comes_from_above(const struct eki_balancer *balancer,
                             const struct eki_relay *relay,
                             const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    return eki_fits_one(&decode, "member of the group", relay != NULL, true) &&
           eki_fits_one(&decode, "right sender", parcel->rank,
                        eki_relay_above(balancer, relay));
}

bool eki_relay_pass(struct eki_balancer *balancer,
                    const struct eki_parcel *parcel, bool *fits)
{
    struct eki_relay *relay = relay_of(balancer, parcel);
    *fits = comes_from_above(balancer, relay, parcel);
    if (!*fits)
        return true;
    int children = eki_relay_children(balancer, relay);
    if (parcel->what == EKI_PARCEL_OPEN)
        expect(relay, EKI_PARCEL_OPENED, 1, children);
    for (int i = 0; i < children; i++) {
        if (!eki_mail_send_copy(&balancer->mail,
                                child_of(relay, me(balancer), i), parcel->what,
                                parcel->group, parcel->data, parcel->bytes))
            return false;
    }
    return true;
}

/* A parcel that is split: what is for this rank, and for each child. */
struct split {
    const struct eki_relay *relay; /* NULL: all is for this rank */
    struct eki_parcel *parcels[EKI_BRANCHES + 1];
    int64_t bytes[EKI_BRANCHES + 1];
};

/* Whose a section is; -1: nobody's. */
static int part_of(const struct eki_balancer *balancer,
                   const struct split *split, int what, int64_t of)
{
    int64_t most = what == EKI_PARCEL_GIVEN ? balancer->groups
                                            : balancer->engine->topology->size;
    if (of < 0 || of >= most)
        return -1;
    int rank =
        what == EKI_PARCEL_GIVEN ? eki_leader_of(balancer, (int)of) : (int)of;
    if (rank == me(balancer))
        return EKI_BRANCHES;
    return split->relay ? eki_relay_branch(balancer, split->relay, rank) : -1;
}

static bool count_parts(const struct eki_balancer *balancer,
                        const struct eki_parcel *parcel, struct split *split)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    if (!sections_fit(&decode, parcel))
        return false;
    const struct eki_section *at = NULL;
    while ((at = eki_section_next(parcel, at)) != NULL) {
        int part = part_of(balancer, split, parcel->what, at->of);
        if (!eki_fits(&decode, "right receiver", part, 0, EKI_BRANCHES))
            return false;
        split->bytes[part] += (int64_t)sizeof *at + at->bytes;
    }
    return true;
}

/* Every child gets its part of a plan, even if that is nothing: it waits for
 * it.  False: no memory, and nothing is made. */
static bool make_parts(const struct eki_balancer *balancer,
                       const struct eki_parcel *parcel, struct split *split)
{
    int children =
        split->relay ? eki_relay_children(balancer, split->relay) : 0;
    bool is_plan = parcel->what == EKI_PARCEL_PLAN;
    for (int i = 0; i <= EKI_BRANCHES; i++) {
        if (split->bytes[i] == 0 && !(is_plan && i < children))
            continue;
        int rank = i < children ? child_of(split->relay, me(balancer), i)
                                : me(balancer);
        split->parcels[i] =
            eki_mail_make(rank, parcel->what, parcel->group, split->bytes[i]);
        if (!split->parcels[i])
            goto free_parcels;
        split->parcels[i]->is_mine = i == EKI_BRANCHES;
    }
    return true;
free_parcels:
    for (int i = 0; i <= EKI_BRANCHES; i++)
        eki_free(split->parcels[i]);
    return false;
}

static void send_parts(struct eki_balancer *balancer,
                       const struct eki_parcel *parcel, struct split *split)
{
    int64_t done[EKI_BRANCHES + 1] = {0};
    const struct eki_section *at = NULL;
    while ((at = eki_section_next(parcel, at)) != NULL) {
        int part = part_of(balancer, split, parcel->what, at->of);
        size_t bytes = sizeof *at + (size_t)at->bytes;
        memcpy(split->parcels[part]->data + done[part], at, bytes);
        done[part] += (int64_t)bytes;
    }
    for (int i = 0; i <= EKI_BRANCHES; i++) {
        if (split->parcels[i])
            eki_mail_send(&balancer->mail, split->parcels[i]);
    }
}

/* What goes down in sections: over the tree, or, of a plan, from the leader of
 * another group. */
static bool split_fits(const struct eki_balancer *balancer,
                       struct eki_relay *relay, const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    if (!relay)
        return eki_fits_one(&decode, "right sender", parcel->rank,
                            eki_leader_of(balancer, parcel->group));
    if (!comes_from_above(balancer, relay, parcel))
        return false;
    if (parcel->what != EKI_PARCEL_PLAN)
        return true;
    if (!eki_fits_one(&decode, "plans before it", relay->has_plan, false))
        return false;
    relay->has_plan = true;
    return true;
}

bool eki_relay_split(struct eki_balancer *balancer,
                     const struct eki_parcel *parcel)
{
    struct eki_relay *relay = relay_of(balancer, parcel);
    struct split split = {.relay = relay};
    if (!split_fits(balancer, relay, parcel) ||
        !count_parts(balancer, parcel, &split))
        return true;
    if (!make_parts(balancer, parcel, &split))
        return false;
    send_parts(balancer, parcel, &split);
    return true;
}

bool eki_relay_is_done(const struct eki_balancer *balancer)
{
    for (int i = 0; i < balancer->relay_count; i++) {
        if (!balancer->relays[i].has_plan)
            return false;
    }
    return true;
}
