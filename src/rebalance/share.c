/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 gives to groups the tasks that other groups left. */
#include "rebalance/balancer.h"

/* What all groups left: the groups as they are told, and their items. */
struct left {
    const struct eki_section **heard; /* [groups] */
    struct eki_group *told;           /* [groups] */
    struct eki_item *items;           /* [count] */
    int32_t *given;                   /* [count] */
    int64_t count;
};

static int64_t items_in(const struct eki_section *section)
{
    return (section->bytes - (int64_t)sizeof(struct eki_group)) /
           (int64_t)sizeof(struct eki_item);
}

/* What a group is like, and tasks of its workers. */
static bool group_fits(struct eki_balancer *balancer,
                       const struct eki_decode *decode,
                       const struct eki_section *section)
{
    const struct eki_group *group = (const struct eki_group *)(section + 1);
    int begin = (int)section->of * balancer->group_size;
    int rest = balancer->engine->topology->workers - begin;
    int workers = rest < balancer->group_size ? rest : balancer->group_size;
    int64_t bytes = section->bytes - (int64_t)sizeof *group;
    if (!eki_fits(decode, "bytes", bytes, 0, INT64_MAX) ||
        !eki_fits_one(decode, "bytes too many",
                      bytes % (int64_t)sizeof(struct eki_item), 0) ||
        !eki_fits(decode, "spare", group->spare, -EKI_NS_MOST, EKI_NS_MOST) ||
        !eki_fits_one(decode, "workers", group->workers, workers))
        return false;
    for (int i = 0; i < EKI_GROUP_HOLES; i++) {
        if (!eki_fits(decode, "hole", group->holes[i], -EKI_NS_MOST,
                      EKI_NS_MOST))
            return false;
    }
    return eki_fits_items(decode, (const struct eki_item *)(group + 1),
                          items_in(section), begin, begin + workers - 1,
                          &balancer->root.sum);
}

/* Every group once; counts the items. */
static bool left_fits(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel, struct left *left)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_section *at = NULL;
    int heard = 0;
    while ((at = eki_section_next(parcel, at)) != NULL) {
        if (!eki_fits(&decode, "group", at->of, 0, balancer->groups - 1) ||
            !eki_fits_one(&decode, "parts before it",
                          left->heard[at->of] != NULL, false) ||
            !group_fits(balancer, &decode, at))
            return false;
        left->heard[at->of] = at;
        left->count += items_in(at);
        heard++;
    }
    return eki_fits_one(&decode, "groups", heard, balancer->groups);
}

static void copy_left(const struct eki_balancer *balancer, struct left *left)
{
    struct eki_item *items = left->items;
    for (int g = 0; g < balancer->groups; g++) {
        const struct eki_group *told =
            (const struct eki_group *)(left->heard[g] + 1);
        int64_t n = items_in(left->heard[g]);
        left->told[g] = *told;
        memcpy(items, told + 1, (size_t)n * sizeof *items);
        items += n;
    }
}

/* A section for each group, even if it is given nothing: its leader waits. */
static bool send_given(struct eki_balancer *balancer, const struct left *left)
{
    struct eki_parcel *parcel =
        eki_mail_make(0, EKI_PARCEL_GIVEN, 0,
                      balancer->groups * (int64_t)sizeof(struct eki_section) +
                          left->count * (int64_t)sizeof(struct eki_item));
    int64_t *starts = eki_alloc((size_t)balancer->groups, sizeof *starts);
    bool done = parcel && starts;
    int64_t at = 0;
    for (int64_t i = 0; done && i < left->count; i++)
        starts[left->given[i]] += (int64_t)sizeof(struct eki_item);
    for (int g = 0; done && g < balancer->groups; g++) {
        struct eki_section *section = (struct eki_section *)(parcel->data + at);
        *section = (struct eki_section){g, starts[g]};
        starts[g] = at + (int64_t)sizeof *section;
        at = starts[g] + section->bytes;
    }
    for (int64_t i = 0; done && i < left->count; i++) {
        int64_t *to = &starts[left->given[i]];
        memcpy(parcel->data + *to, &left->items[i], sizeof *left->items);
        *to += (int64_t)sizeof *left->items;
    }
    eki_free(starts);
    if (done)
        eki_mail_send(&balancer->mail, parcel);
    else
        eki_free(parcel);
    return done;
}

/* Give what all groups left, longest first, to groups that have room. */
static bool share(struct eki_balancer *balancer, struct left *left)
{
    left->told = eki_alloc((size_t)balancer->groups, sizeof *left->told);
    left->items = eki_alloc((size_t)left->count, sizeof *left->items);
    left->given = eki_alloc((size_t)left->count, sizeof *left->given);
    if (!left->told || !left->items || !left->given)
        return false;
    copy_left(balancer, left);
    return eki_items_sort(left->items, left->count) &&
           eki_groups_share(left->told, balancer->groups, left->items,
                            left->count, left->given) &&
           send_given(balancer, left);
}

bool eki_share_take(struct eki_balancer *balancer,
                    const struct eki_parcel *parcel)
{
    struct left left = {
        .heard = eki_alloc((size_t)balancer->groups, sizeof *left.heard)};
    bool done = left.heard &&
                (!left_fits(balancer, parcel, &left) || share(balancer, &left));
    eki_free(left.heard);
    eki_free(left.told);
    eki_free(left.items);
    eki_free(left.given);
    return done;
}
