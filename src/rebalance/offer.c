/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank offers of its tasks: what is too much for its workers, and what a
 * leader wants besides. */
#include "rebalance/balancer.h"

static eki_ns load_of(const struct eki_balancer *balancer, int here)
{
    const struct eki_donor *donor = &balancer->donor;
    eki_ns load =
        eki_donor_pinned(balancer, here) + eki_donor_missing(balancer);
    for (int64_t i = donor->first[here]; i < donor->first[here + 1]; i++)
        load += donor->ns[i];
    return load;
}

/* Shed what one worker has too much: items to *ITEM and on, what it keeps to
 * *LOAD; false: no memory. */
static bool shed_of_worker(struct eki_balancer *balancer, int here,
                           eki_ns *load, struct eki_item **item,
                           struct eki_offer_told *told)
{
    struct eki_donor *donor = &balancer->donor;
    int64_t n, first = donor->first[here];
    const struct eki_donation from = {
        donor->ns + first, donor->bytes ? donor->bytes + first : NULL,
        donor->first[here + 1] - first, load_of(balancer, here),
        balancer->target};
    if (!balancer->algorithm->shed(balancer, &from, donor->chosen, &n))
        return false;
    *load = from.load;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = first + donor->chosen[i];
        donor->to[at] = -1;
        *(*item)++ = donor->items[at];
        *load -= donor->ns[at];
    }
    donor->open += n;
    told->items += n;
    told->fewest +=
        eki_balance_fewest(from.ns, from.count, from.load, from.target);
    if (from.load > told->largest)
        told->largest = from.load;
    return true;
}

int64_t eki_offer_bytes(const struct eki_balancer *balancer,
                        struct eki_run workers)
{
    const int64_t *first =
        &balancer->donor.first[eki_here(balancer, workers.first)];
    int64_t count = workers.last - workers.first + 1;
    return count * (int64_t)sizeof(eki_ns) +
           (first[count] - first[0]) * (int64_t)sizeof(struct eki_item);
}

bool eki_offer_fill(struct eki_balancer *balancer, struct eki_run workers,
                    struct eki_parcel *parcel, eki_ns *loads,
                    struct eki_offer_told *told)
{
    struct eki_item *item =
        (struct eki_item *)(loads + (workers.last - workers.first + 1));
    for (int w = workers.first; w <= workers.last; w++) {
        if (!shed_of_worker(balancer, eki_here(balancer, w), loads++, &item,
                            told))
            return false;
    }
    EKI_ASSERT_SLOW(eki_donor_check(balancer));
    parcel->bytes = (unsigned char *)item - parcel->data;
    return true;
}

/* Offer to a group what its workers on this rank have too much. */
static bool send_offer(struct eki_balancer *balancer, int group)
{
    int rank = balancer->topology->rank;
    struct eki_run workers = eki_group_on_rank(balancer, group, rank);
    struct eki_parcel *parcel = eki_mail_put(
        &balancer->mail, rank, EKI_PARCEL_OFFER, group,
        (int64_t)(sizeof(struct eki_section) + sizeof(struct eki_offer_told)) +
            eki_offer_bytes(balancer, workers));
    if (!parcel)
        return false;
    struct eki_section *section = eki_body_of(parcel);
    struct eki_offer_told *told = EKI_BEHIND(section);
    told->workers = workers.last - workers.first + 1;
    /* The first offer tells it of all workers. */
    if (group == balancer->relays.first)
        told->fewest_across = balancer->donor.away;
    if (!eki_offer_fill(balancer, workers, parcel, EKI_BEHIND(told), told))
        return false;
    *section =
        (struct eki_section){rank, parcel->bytes - (int64_t)sizeof *section};
    return true;
}

bool eki_offers_send(struct eki_balancer *balancer)
{
    for (int i = 0; i < balancer->relays.count; i++) {
        if (!send_offer(balancer, balancer->relays.first + i))
            return false;
    }
    return true;
}

/* The workers that an OPEN lists, *COUNT of them. */
static const int32_t *listed_in(const struct eki_parcel *open, int64_t *count)
{
    int64_t head = (int64_t)sizeof(struct eki_open_told);
    *count = (open->bytes - head) / (int64_t)sizeof(int32_t);
    return (const int32_t *)(open->data + head);
}

/* What OPEN wants that the workers of its group on this rank still have goes to
 * ITEMS, and is open from now on; returns how many. */
static int64_t open_wanted(struct eki_balancer *balancer,
                           const struct eki_parcel *open,
                           struct eki_item *items)
{
    struct eki_donor *donor = &balancer->donor;
    const struct eki_open_told *told = eki_body_of(open);
    struct eki_run run =
        eki_group_on_rank(balancer, open->group, balancer->topology->rank);
    int64_t count, at = 0, n = 0;
    const int32_t *listed = listed_in(open, &count);
    for (int worker = run.first; worker <= run.last; worker++) {
        const int64_t *first = &donor->first[eki_here(balancer, worker)];
        while (at < count && listed[at] < worker)
            at++;
        if (count > 0 && (at == count || listed[at] > worker))
            continue;
        for (int64_t i = first[0]; i < first[1]; i++) {
            if (donor->to[i] != worker || donor->ns[i] <= told->least ||
                donor->ns[i] > told->most)
                continue;
            donor->to[i] = -1;
            items[n++] = donor->items[i];
        }
    }
    donor->open += n;
    return n;
}

static bool open_fits(const struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    const struct eki_decode *decode = &parcel->decode;
    const struct eki_open_told *told = eki_body_of(parcel);
    if (!eki_fits_parcel(decode, parcel, sizeof *told, sizeof(int32_t)) ||
        !eki_fits_one(decode, "tasks are listed", balancer->donor.first != NULL,
                      true) ||
        !eki_fits(decode, "least", told->least, -1, INT64_MAX - 1) ||
        !eki_fits(decode, "most", told->most, told->least + 1, INT64_MAX))
        return false;
    int64_t count;
    const int32_t *listed = listed_in(parcel, &count);
    for (int64_t i = 0; i < count; i++) {
        if (!eki_fits(decode, "worker", listed[i],
                      i > 0 ? (int64_t)listed[i - 1] + 1 : 0,
                      balancer->topology->workers - 1))
            return false;
    }
    return true;
}

bool eki_offer_take_open(struct eki_balancer *balancer,
                         struct eki_parcel *parcel)
{
    int rank = balancer->topology->rank;
    if (!open_fits(balancer, parcel))
        return true;
    struct eki_parcel *answer = eki_mail_put(
        &balancer->mail, rank, EKI_PARCEL_OPENED, parcel->group,
        (int64_t)sizeof(struct eki_section) +
            eki_offer_bytes(balancer,
                            eki_group_on_rank(balancer, parcel->group, rank)));
    if (!answer)
        return false;
    struct eki_section *section = eki_body_of(answer);
    *section = (struct eki_section){
        rank, open_wanted(balancer, parcel, EKI_BEHIND(section)) *
                  (int64_t)sizeof(struct eki_item)};
    answer->bytes = (int64_t)sizeof *section + section->bytes;
    EKI_ASSERT_SLOW(eki_donor_check(balancer));
    return true;
}
