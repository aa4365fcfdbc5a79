/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 gives to groups the tasks that other groups left. */
#include "rebalance/balancer.h"

/* What all groups left: the groups as they are told, and their items. */
struct left {
    struct eki_heard heard;
    struct eki_group *told; /* [groups] */
    struct eki_item *items; /* [count] */
    int32_t *given;         /* [count] */
    int64_t count;
    eki_ns sum; /* of the items */
};

static int64_t items_in(const struct eki_section *section)
{
    return (section->bytes - (int64_t)sizeof(struct eki_group)) /
           (int64_t)sizeof(struct eki_item);
}

/* What a group is like, and tasks of its workers. */
static bool group_fits(const struct eki_balancer *balancer,
                       const struct eki_decode *decode,
                       const struct eki_section *section, struct left *left)
{
    const struct eki_group *group = EKI_BEHIND(section);
    struct eki_run run = eki_group_run(balancer, (int)section->of);
    int64_t bytes = section->bytes - (int64_t)sizeof *group;
    if (!eki_fits(decode, "bytes", bytes, 0, INT64_MAX) ||
        !eki_fits(decode, "spare", group->spare, -EKI_NS_MOST, EKI_NS_MOST) ||
        !eki_fits_one(decode, "workers", group->workers,
                      run.last - run.first + 1))
        return false;
    for (int i = 0; i < EKI_GROUP_HOLES; i++) {
        if (!eki_fits(decode, "hole", group->holes[i], -EKI_NS_MOST,
                      EKI_NS_MOST))
            return false;
    }
    return eki_fits_items(decode, EKI_BEHIND(group), bytes, run, &left->sum);
}

/* Every group once; counts the items. */
static bool left_fits(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel, struct left *left)
{
    if (!eki_sections_hear(&parcel->decode, parcel, &left->heard))
        return false;
    for (int g = 0; g < balancer->groups; g++) {
        if (!group_fits(balancer, &parcel->decode, left->heard.sections[g],
                        left))
            return false;
        left->count += items_in(left->heard.sections[g]);
    }
    return true;
}

static void copy_left(const struct eki_balancer *balancer, struct left *left)
{
    struct eki_item *items = left->items;
    for (int g = 0; g < balancer->groups; g++) {
        const struct eki_section *section = left->heard.sections[g];
        const struct eki_group *told = EKI_BEHIND(section);
        int64_t n = items_in(section);
        left->told[g] = *told;
        memcpy(items, told + 1, (size_t)n * sizeof *items);
        items += n;
    }
}

/* A section for each group, even if it is given nothing: its leader waits. */
static bool send_given(struct eki_balancer *balancer, const struct left *left)
{
    const size_t bytes = sizeof *left->items;
    struct eki_deal *deals = eki_alloc((size_t)balancer->groups, sizeof *deals);
    struct eki_parcel *parcel =
        eki_mail_put(&balancer->mail, 0, EKI_PARCEL_GIVEN, 0,
                     balancer->groups * (int64_t)sizeof(struct eki_section) +
                         left->count * (int64_t)bytes);
    bool done = deals && parcel;
    unsigned char *at = done ? parcel->data : NULL;
    for (int64_t i = 0; done && i < left->count; i++)
        deals[left->given[i]].bytes += (int64_t)bytes;
    for (int g = 0; done && g < balancer->groups; g++)
        at = eki_deal_begin(&deals[g], g, at);
    for (int64_t i = 0; done && i < left->count; i++)
        memcpy(eki_deal_put(&deals[left->given[i]], bytes), &left->items[i],
               bytes);
    eki_free(deals);
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

bool eki_share_take(struct eki_balancer *balancer, struct eki_parcel *parcel)
{
    struct left left = {.heard = {"group", "groups", 0, balancer->groups,
                                  eki_alloc((size_t)balancer->groups,
                                            sizeof(struct eki_section *))}};
    bool done = left.heard.sections &&
                (!left_fits(balancer, parcel, &left) || share(balancer, &left));
    eki_free(left.heard.sections);
    eki_free(left.told);
    eki_free(left.items);
    eki_free(left.given);
    return done;
}
