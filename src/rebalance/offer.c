/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank offers of its tasks: what is too much for its workers, and what a
 * leader wants besides. */
#include "rebalance/balancer.h"

static eki_ns load_of(const struct eki_balancer *balancer, int here)
{
    const struct eki_donor *donor = &balancer->donor;
    eki_ns load = eki_donor_pinned(balancer, here);
    for (int64_t i = donor->first[here]; i < donor->first[here + 1]; i++)
        load += donor->ns[i];
    return load;
}

/* Shed what one worker has too much: items to *ITEM and on, what it keeps to
 * *LOAD; false: no memory. */
static bool shed(struct eki_balancer *balancer, int here, eki_ns *load,
                 struct eki_item **item, struct eki_offer_told *told)
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

int64_t eki_offer_bytes(const struct eki_donor *donor, int here, int end)
{
    return (end - here) * (int64_t)sizeof(eki_ns) +
           (donor->first[end] - donor->first[here]) *
               (int64_t)sizeof(struct eki_item);
}

bool eki_offer_fill(struct eki_balancer *balancer, int here, int end,
                    struct eki_parcel *parcel, eki_ns *loads,
                    struct eki_offer_told *told)
{
    struct eki_item *item = (struct eki_item *)(loads + (end - here));
    for (int w = here; w < end; w++) {
        if (!shed(balancer, w, loads++, &item, told))
            return false;
    }
    EKI_ASSERT_SLOW(eki_donor_check(balancer));
    parcel->bytes = (unsigned char *)item - parcel->data;
    return true;
}

/* Offer what workers [HERE, END) have too much, which are of a GROUP. */
static bool send_offer(struct eki_balancer *balancer, int here, int end,
                       int group)
{
    const struct eki_donor *donor = &balancer->donor;
    int rank = balancer->topology->rank;
    struct eki_parcel *parcel = eki_mail_put(
        &balancer->mail, rank, EKI_PARCEL_OFFER, group,
        (int64_t)(sizeof(struct eki_section) + sizeof(struct eki_offer_told)) +
            eki_offer_bytes(donor, here, end));
    if (!parcel)
        return false;
    struct eki_section *section = eki_body_of(parcel);
    struct eki_offer_told *told = EKI_BEHIND(section);
    /* The first offer tells it of all workers. */
    told->fewest_across = here == 0 ? donor->away : 0;
    told->workers = end - here;
    if (!eki_offer_fill(balancer, here, end, parcel, EKI_BEHIND(told), told))
        return false;
    *section =
        (struct eki_section){rank, parcel->bytes - (int64_t)sizeof *section};
    return true;
}

bool eki_offers_send(struct eki_balancer *balancer)
{
    const struct eki_topology *topology = balancer->topology;
    int begin = topology->first_worker[topology->rank];
    for (int i = 0; i < balancer->relays.count; i++) {
        int group = balancer->relays.first + i;
        struct eki_run run = eki_group_on_rank(balancer, group, topology->rank);
        if (!send_offer(balancer, run.first - begin, run.last + 1 - begin,
                        group))
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

/* Whether it wants tasks of WORKER. */
static bool is_listed(const struct eki_parcel *open, int32_t worker)
{
    int64_t count, low = 0;
    const int32_t *listed = listed_in(open, &count);
    if (count == 0)
        return true;
    for (int64_t high = count; low < high;) {
        int64_t middle = low + (high - low) / 2;
        if (listed[middle] < worker)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && listed[low] == worker;
}

/* What OPEN wants that the workers of its group on this rank still have: to
 * ITEMS, and open from now on, or with NULL only counted. */
static int64_t open_wanted(struct eki_balancer *balancer,
                           const struct eki_parcel *open,
                           struct eki_item *items)
{
    struct eki_donor *donor = &balancer->donor;
    const struct eki_topology *topology = balancer->topology;
    const struct eki_open_told *told = eki_body_of(open);
    struct eki_run run =
        eki_group_on_rank(balancer, open->group, topology->rank);
    int64_t n = 0;
    for (int worker = run.first; worker <= run.last; worker++) {
        const int64_t *first =
            &donor->first[worker - topology->first_worker[topology->rank]];
        if (!is_listed(open, worker))
            continue;
        for (int64_t i = first[0]; i < first[1]; i++) {
            if (donor->to[i] != worker || donor->ns[i] <= told->least ||
                donor->ns[i] > told->most)
                continue;
            if (items) {
                donor->to[i] = -1;
                items[n] = donor->items[i];
            }
            n++;
        }
    }
    return n;
}

static bool open_fits(const struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    const struct eki_open_told *told = eki_body_of(parcel);
    if (!eki_fits_parcel(&parcel->decode, parcel, sizeof *told,
                         sizeof(int32_t)) ||
        !eki_fits_one(&parcel->decode, "tasks are listed",
                      balancer->donor.first != NULL, true) ||
        !eki_fits(&parcel->decode, "least", told->least, -1, INT64_MAX - 1) ||
        !eki_fits(&parcel->decode, "most", told->most, told->least + 1,
                  INT64_MAX))
        return false;
    int64_t count;
    const int32_t *listed = listed_in(parcel, &count);
    for (int64_t i = 0; i < count; i++) {
        if (!eki_fits(&parcel->decode, "worker", listed[i],
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
    int64_t bytes =
        open_wanted(balancer, parcel, NULL) * (int64_t)sizeof(struct eki_item);
    struct eki_parcel *answer =
        eki_mail_put(&balancer->mail, rank, EKI_PARCEL_OPENED, parcel->group,
                     (int64_t)sizeof(struct eki_section) + bytes);
    if (!answer)
        return false;
    struct eki_section *section = eki_body_of(answer);
    *section = (struct eki_section){rank, bytes};
    balancer->donor.open += open_wanted(balancer, parcel, EKI_BEHIND(section));
    EKI_ASSERT_SLOW(eki_donor_check(balancer));
    return true;
}
