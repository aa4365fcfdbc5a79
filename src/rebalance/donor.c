/* SPDX-License-Identifier: BSD-3-Clause */
/* What every rank does in a rebalance when it has told its loads: it sheds what
 * is too much and moves its tasks where their leaders say. */
#include "rebalance/donor.h"

bool eki_donor_begin(struct eki_balancer *balancer)
{
    int64_t functions = balancer->engine->function_count;
    int64_t head = (int64_t)sizeof(struct eki_totals_told) +
                   functions * (int64_t)sizeof(struct eki_known);
    struct eki_sizes *sizes = eki_alloc(1, sizeof *sizes);
    struct eki_parcel *parcel =
        eki_mail_make(balancer->engine->topology->rank, EKI_PARCEL_TOTALS, 0,
                      head + EKI_SIZES * (int64_t)sizeof(struct eki_size_told));
    bool done = sizes && parcel;
    if (done) {
        eki_donor_tell(balancer, parcel, head, sizes);
        eki_mail_send(&balancer->mail, parcel);
    } else {
        eki_free(parcel);
    }
    eki_free(sizes);
    return done;
}

static bool open_items(struct eki_balancer *balancer)
{
    struct eki_donor *donor = &balancer->donor;
    size_t n = (size_t)eki_donor_slots(balancer);
    donor->first =
        eki_alloc((size_t)balancer->engine->topology->workers_here + 1,
                  sizeof *donor->first);
    donor->items = eki_alloc(n, sizeof *donor->items);
    donor->slots = eki_alloc(n, sizeof *donor->slots);
    donor->to = eki_alloc(n, sizeof *donor->to);
    donor->gives = eki_alloc((size_t)balancer->engine->topology->workers_here,
                             sizeof *donor->gives);
    return donor->first && donor->items && donor->slots && donor->to &&
           donor->gives;
}

void eki_donor_free(struct eki_donor *donor)
{
    eki_free(donor->first);
    eki_free(donor->items);
    eki_free(donor->slots);
    eki_free(donor->to);
    eki_free(donor->gives);
    memset(donor, 0, sizeof *donor);
}

static eki_ns ns_of(const struct eki_donor *donor, const struct eki_slot *slot,
                    const double *hint_ns)
{
    if (slot->bin != EKI_BIN_NEVER)
        return eki_donor_counted(donor, eki_bin_ns(slot->bin));
    double ns = hint_ns[slot->function] * (double)eki_donor_hint(slot);
    return eki_donor_counted(donor, ns < 1e18 ? (uint64_t)ns : UINT64_MAX);
}

/* The seeds of a worker to ITEM; returns how many. */
static int64_t list_seeds(const struct eki_donor *donor,
                          const struct ek_worker *worker, const double *hint_ns,
                          struct eki_item *item)
{
    const struct eki_local *local = &worker->local;
    const struct eki_item *begin = item;
    int64_t n = eki_local_slots(local, local->seed_base, local->seed_end);
    for (int64_t i = 0; i < n; i++) {
        const struct eki_slot *slot =
            eki_slot_at(local->seed_base, i, local->slot_bytes);
        if (eki_donor_may_move(worker->engine, slot))
            *item++ = (struct eki_item){ns_of(donor, slot, hint_ns), worker->id,
                                        (int32_t)i};
    }
    return item - begin;
}

static int64_t list_items(const struct eki_balance_items *items, int32_t rank,
                          struct eki_item *item)
{
    for (int64_t i = 0; i < items->count; i++)
        item[i] = (struct eki_item){items->ns[i], rank, (int32_t)i};
    return items->count;
}

/* The tasks of a worker as items, longest first. */
static bool list_worker(struct eki_balancer *balancer, int here,
                        const double *hint_ns)
{
    struct eki_donor *donor = &balancer->donor;
    const struct eki_balance_items *items = balancer->wish.items;
    const struct ek_worker *worker = balancer->engine->workers[here];
    int64_t first = donor->first[here];
    int64_t at = first + (items ? list_items(items, worker->id, donor->items)
                                : list_seeds(donor, worker, hint_ns,
                                             donor->items + first));
    donor->first[here + 1] = at;
    if (!eki_items_sort(donor->items + first, at - first))
        return false;
    for (int64_t i = first; i < at; i++) {
        donor->slots[i] = donor->items[i].index;
        donor->items[i].index = (int32_t)(i - first);
        donor->to[i] = worker->id;
    }
    return true;
}

static int group_of(const struct eki_balancer *balancer, int worker)
{
    return worker / balancer->group_size;
}

static eki_ns load_of(const struct eki_balancer *balancer, int here)
{
    const struct eki_donor *donor = &balancer->donor;
    eki_ns load = eki_donor_pinned(balancer, here);
    for (int64_t i = donor->first[here]; i < donor->first[here + 1]; i++)
        load += donor->items[i].ns;
    return load;
}

/* Choose which items the rank sheds, so that few bytes move: *N of them.
 * False: no memory. */
static bool choose_light(struct eki_balancer *balancer, const eki_ns *ns,
                         int64_t count, eki_ns load, int32_t *chosen,
                         int64_t *n)
{
    struct eki_balance_items *items = balancer->wish.items;
    size_t *bytes = eki_alloc((size_t)count, sizeof *bytes);
    struct eki_donation donation = {ns, bytes, count, load, balancer->target};
    for (int64_t i = 0; bytes && i < count; i++)
        bytes[i] = items->bytes[balancer->donor.slots[i]];
    bool done = bytes && eki_balance_shed_light(&donation, chosen, n,
                                                &items->fewest_bytes);
    eki_free(bytes);
    return done;
}

/* Choose which tasks a worker sheds, NS longest first: *N of them.  False: no
 * memory. */
static bool choose(struct eki_balancer *balancer, const eki_ns *ns,
                   int64_t count, eki_ns load, int32_t *chosen, int64_t *n)
{
    const struct eki_balance_items *items = balancer->wish.items;
    if (!balancer->wish.is_printed) {
        if (items && items->bytes)
            return choose_light(balancer, ns, count, load, chosen, n);
        *n = eki_balance_shed(ns, count, load, balancer->target, chosen);
        return true;
    }
    *n = eki_balance_shed_shortest(ns, count, load, balancer->target);
    for (int64_t i = 0; i < *n; i++)
        chosen[i] = (int32_t)(count - 1 - i);
    return true;
}

/* An offer that is being written, worker by worker. */
struct offer {
    struct eki_offer_told *told; /* in the parcel: its head ... */
    eki_ns *load;                /* ... the load of the next worker ... */
    struct eki_item *item;       /* ... and the next item */
    eki_ns *ns;                  /* scratch: durations of a worker's tasks */
    int32_t *chosen;             /* scratch: which of them it sheds */
};

/* Shed what one worker has too much; false: no memory. */
static bool shed(struct eki_balancer *balancer, int here, struct offer *offer)
{
    struct eki_donor *donor = &balancer->donor;
    int64_t first = donor->first[here];
    int64_t count = donor->first[here + 1] - first;
    eki_ns load = load_of(balancer, here);
    if (load > offer->told->largest)
        offer->told->largest = load;
    for (int64_t i = 0; i < count; i++)
        offer->ns[i] = donor->items[first + i].ns;
    offer->told->fewest +=
        eki_balance_fewest(offer->ns, count, load, balancer->target);
    int64_t n;
    if (!choose(balancer, offer->ns, count, load, offer->chosen, &n))
        return false;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = first + offer->chosen[i];
        donor->to[at] = -1;
        *offer->item++ = donor->items[at];
        load -= donor->items[at].ns;
    }
    *offer->load++ = load;
    offer->told->items += n;
    donor->open += n;
    return true;
}

/* A parcel for what workers [HERE, END) of one group may shed, MOST items. */
static struct eki_parcel *make_offer(const struct eki_balancer *balancer,
                                     int here, int end, int64_t most)
{
    int group = group_of(balancer, balancer->engine->workers[here]->id);
    int64_t bytes =
        (int64_t)(sizeof(struct eki_section) + sizeof(struct eki_offer_told)) +
        (end - here) * (int64_t)sizeof(eki_ns) +
        most * (int64_t)sizeof(struct eki_item);
    return eki_mail_make(balancer->engine->topology->rank, EKI_PARCEL_OFFER,
                         group, bytes);
}

/* Fill the parcel of an offer, which knows that and the scratch, with what
 * workers [HERE, END) have too much; false: no memory. */
static bool fill_offer(struct eki_balancer *balancer, int here, int end,
                       struct offer *offer)
{
    offer->told->workers = end - here;
    offer->load = (eki_ns *)(offer->told + 1);
    offer->item = (struct eki_item *)(offer->load + (end - here));
    for (int w = here; w < end; w++) {
        if (!shed(balancer, w, offer))
            return false;
    }
    return true;
}

/* How many tasks must leave the node of this rank, at least: *FEWEST.  That is
 * known where no other rank is on it.  False: no memory. */
static bool count_away(const struct eki_balancer *balancer, int64_t *fewest)
{
    const struct eki_topology *topology = balancer->engine->topology;
    const struct eki_donor *donor = &balancer->donor;
    int64_t count = donor->first[topology->workers_here], n = 0;
    eki_ns excess = donor->pinned - balancer->target * topology->workers_here;
    for (int64_t i = 0; i < count; i++)
        excess += donor->items[i].ns;
    *fewest = 0;
    if (excess <= 0 || topology->node_ranks > 1)
        return true;
    struct eki_item *items = eki_alloc((size_t)count, sizeof *items);
    if (!items)
        return false;
    memcpy(items, donor->items, (size_t)count * sizeof *items);
    bool done = eki_items_sort(items, count);
    for (; done && excess > 0 && n < count; n++)
        excess -= items[n].ns;
    *fewest = n;
    eki_free(items);
    return done;
}

static bool open_scratch(struct offer *offer, int64_t most)
{
    offer->chosen = eki_alloc((size_t)most, sizeof *offer->chosen);
    offer->ns = eki_alloc((size_t)most, sizeof *offer->ns);
    return offer->chosen && offer->ns;
}

static void free_scratch(struct offer *offer)
{
    eki_free(offer->chosen);
    eki_free(offer->ns);
}

/* Offer what workers [HERE, END) of one group have too much. */
static bool send_offer(struct eki_balancer *balancer, int here, int end)
{
    const struct eki_donor *donor = &balancer->donor;
    int64_t most = donor->first[end] - donor->first[here];
    struct eki_parcel *parcel = make_offer(balancer, here, end, most);
    struct offer offer = {0};
    struct eki_section *section =
        parcel ? (struct eki_section *)parcel->data : NULL;
    offer.told = section ? (struct eki_offer_told *)(section + 1) : NULL;
    bool done = parcel && open_scratch(&offer, most) &&
                fill_offer(balancer, here, end, &offer);
    if (done) {
        /* The first offer tells it of all workers. */
        if (here == 0)
            offer.told->fewest_across = balancer->donor.away;
        parcel->bytes = (unsigned char *)offer.item - parcel->data;
        section->of = balancer->engine->topology->rank;
        section->bytes = parcel->bytes - (int64_t)sizeof *section;
        eki_mail_send(&balancer->mail, parcel);
    } else {
        eki_free(parcel);
    }
    free_scratch(&offer);
    return done;
}

/* Tell the vertex above a worker what that has too much; SUM: of this rank. */
static bool send_up(struct eki_balancer *balancer, int here,
                    struct eki_offer_told *sum)
{
    const struct eki_donor *donor = &balancer->donor;
    const struct eki_tree *tree = &balancer->vertices.tree;
    int32_t worker = balancer->engine->workers[here]->id;
    int32_t host = eki_tree_host(tree, eki_tree_parent(tree, worker));
    int64_t most = donor->first[here + 1] - donor->first[here];
    struct eki_parcel *parcel =
        eki_mail_make(eki_topology_rank(balancer->engine->topology, host),
                      EKI_PARCEL_UP, worker,
                      (int64_t)sizeof(struct eki_up_told) +
                          most * (int64_t)sizeof(struct eki_item));
    struct offer offer = {.told = sum};
    struct eki_up_told *told =
        parcel ? (struct eki_up_told *)parcel->data : NULL;
    offer.load = told ? &told->load : NULL;
    offer.item = told ? (struct eki_item *)(told + 1) : NULL;
    bool done =
        parcel && open_scratch(&offer, most) && shed(balancer, here, &offer);
    if (done) {
        parcel->bytes = (unsigned char *)offer.item - parcel->data;
        eki_mail_send(&balancer->mail, parcel);
    } else {
        eki_free(parcel);
    }
    free_scratch(&offer);
    return done;
}

/* Every worker tells the vertex above it. */
static bool send_ups(struct eki_balancer *balancer)
{
    struct eki_offer_told sum = {0};
    if (!eki_vertices_open(balancer))
        return false;
    for (int here = 0; here < balancer->engine->topology->workers_here;
         here++) {
        if (!send_up(balancer, here, &sum))
            return false;
    }
    balancer->vertices.result =
        (struct eki_result_told){.before = sum.largest,
                                 .fewest = sum.fewest,
                                 .fewest_across = balancer->donor.away};
    return eki_vertices_begin(balancer);
}

/* The load that is pinned, with what was never measured. */
static void weigh_pinned(struct eki_balancer *balancer, const double *hint_ns)
{
    const struct eki_local *local = &balancer->engine->pinned.local;
    balancer->donor.pinned = 0;
    for (unsigned char *at = local->seed_base; at != local->seed_end;
         at += local->slot_bytes)
        balancer->donor.pinned +=
            ns_of(&balancer->donor, (const struct eki_slot *)at, hint_ns);
}

static bool list_workers(struct eki_balancer *balancer, const double *hint_ns)
{
    weigh_pinned(balancer, hint_ns);
    for (int here = 0; here < balancer->engine->topology->workers_here;
         here++) {
        if (!list_worker(balancer, here, hint_ns))
            return false;
    }
    balancer->own.tasks +=
        balancer->donor.first[balancer->engine->topology->workers_here];
    return true;
}

/* The first worker of this rank after HERE that is in another group. */
static int end_of_group(const struct eki_balancer *balancer, int here)
{
    struct ek_worker **workers = balancer->engine->workers;
    int group = group_of(balancer, workers[here]->id), end = here + 1;
    while (end < balancer->engine->topology->workers_here &&
           group_of(balancer, workers[end]->id) == group)
        end++;
    return end;
}

/* Every group is offered what its workers here have too much. */
static bool send_offers(struct eki_balancer *balancer)
{
    int workers = balancer->engine->topology->workers_here;
    if (!eki_leader_open(balancer) || !eki_relay_open_groups(balancer))
        return false;
    for (int here = 0, end; here < workers; here = end) {
        end = end_of_group(balancer, here);
        if (!send_offer(balancer, here, end))
            return false;
    }
    return true;
}

static bool target_fits(const struct eki_balancer *balancer,
                        const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_target_told *told =
        (const struct eki_target_told *)parcel->data;
    const double *hint_ns = (const double *)(told + 1);
    int64_t workers = balancer->engine->topology->workers;
    bool are_hints = true;
    for (int f = 0; f < balancer->engine->function_count; f++)
        are_hints &= hint_ns[f] >= 0 && hint_ns[f] <= (double)EKI_NS_MOST;
    return eki_fits_one(&decode, "targets before it",
                        balancer->donor.has_target, 0) &&
           eki_fits(&decode, "target", told->target, 0,
                    EKI_NS_MOST / workers) &&
           eki_fits_shape(&decode, &eki_target_shape, told, NULL) &&
           eki_fits_one(&decode, "workers", told->totals.workers, workers) &&
           eki_fits_one(&decode, "finite hints", are_hints, true);
}

static bool take_target(struct eki_balancer *balancer,
                        const struct eki_parcel *parcel)
{
    const struct eki_target_told *told =
        (const struct eki_target_told *)parcel->data;
    const double *hint_ns = (const double *)(told + 1);
    if (!target_fits(balancer, parcel))
        return true;
    balancer->donor.has_target = true;
    balancer->target = told->target;
    balancer->slack = told->slack != 0;
    balancer->totals = told->totals;
    if (told->is_balanced)
        return true;
    if (told->is_whole) {
        balancer->group_size = balancer->engine->topology->workers;
        balancer->groups = 1;
    }
    if (!open_items(balancer) || !list_workers(balancer, hint_ns) ||
        !count_away(balancer, &balancer->donor.away))
        return false;
    return eki_is_tree(balancer) ? send_ups(balancer) : send_offers(balancer);
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

/* What OPEN wants that workers HERE ... LAST still have: to ITEMS, and
 * undecided from now on, or with NULL only counted. */
static int64_t open_wanted(struct eki_balancer *balancer,
                           const struct eki_parcel *open, int here, int last,
                           struct eki_item *items)
{
    struct eki_donor *donor = &balancer->donor;
    const struct eki_open_told *told = (const struct eki_open_told *)open->data;
    int64_t n = 0;
    for (; here <= last; here++) {
        int worker = balancer->engine->workers[here]->id;
        if (!is_listed(open, worker))
            continue;
        for (int64_t i = donor->first[here]; i < donor->first[here + 1]; i++) {
            eki_ns ns = donor->items[i].ns;
            if (donor->to[i] != worker || ns <= told->least || ns > told->most)
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
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_open_told *told =
        (const struct eki_open_told *)parcel->data;
    if (!eki_fits_parcel(&decode, parcel, sizeof *told, sizeof(int32_t)) ||
        !eki_fits_one(&decode, "tasks are listed",
                      balancer->donor.first != NULL, true) ||
        !eki_fits(&decode, "least", told->least, -1, INT64_MAX - 1) ||
        !eki_fits(&decode, "most", told->most, told->least + 1, INT64_MAX))
        return false;
    int64_t count;
    const int32_t *listed = listed_in(parcel, &count);
    for (int64_t i = 0; i < count; i++) {
        if (!eki_fits(&decode, "worker", listed[i],
                      i > 0 ? (int64_t)listed[i - 1] + 1 : 0,
                      balancer->engine->topology->workers - 1))
            return false;
    }
    return true;
}

/* The leader wants more of what the workers of its group still have. */
static bool take_open(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    const struct eki_topology *topology = balancer->engine->topology;
    int first, last, begin = topology->first_worker[topology->rank];
    if (!open_fits(balancer, parcel))
        return true;
    eki_group_here(balancer, parcel->group, topology->rank, &first, &last);
    int64_t count =
        open_wanted(balancer, parcel, first - begin, last - begin, NULL);
    int64_t bytes = count * (int64_t)sizeof(struct eki_item);
    struct eki_parcel *answer =
        eki_mail_make(topology->rank, EKI_PARCEL_OPENED, parcel->group,
                      (int64_t)sizeof(struct eki_section) + bytes);
    if (!answer)
        return false;
    struct eki_section *section = (struct eki_section *)answer->data;
    *section = (struct eki_section){topology->rank, bytes};
    balancer->donor.open +=
        open_wanted(balancer, parcel, first - begin, last - begin,
                    (struct eki_item *)(section + 1));
    eki_mail_send(&balancer->mail, answer);
    return true;
}

/* A task of this rank that is not decided yet. */
static bool undecided_fits(const struct eki_balancer *balancer,
                           const struct eki_decode *decode, int32_t from,
                           int32_t index)
{
    const struct eki_topology *topology = balancer->engine->topology;
    const struct eki_donor *donor = &balancer->donor;
    if (!eki_fits_worker(decode, from, topology->rank))
        return false;
    const int64_t *first =
        &donor->first[from - topology->first_worker[topology->rank]];
    return eki_fits(decode, "index of a task", index, 0,
                    first[1] - first[0] - 1) &&
           eki_fits_one(decode, "place so far", donor->to[first[0] + index],
                        -1);
}

/* ... to a worker of the group. */
static bool plan_fits(const struct eki_balancer *balancer,
                      const struct eki_decode *decode,
                      const struct eki_plan_told *plan, int group)
{
    int begin = group * balancer->group_size;
    int rest = balancer->engine->topology->workers - begin;
    int size = rest < balancer->group_size ? rest : balancer->group_size;
    return undecided_fits(balancer, decode, plan->from, plan->index) &&
           eki_fits(decode, "place", plan->to, begin, begin + size - 1);
}

static void decide(struct eki_balancer *balancer, int32_t from, int32_t index,
                   int32_t to)
{
    struct eki_donor *donor = &balancer->donor;
    int here = from - balancer->engine->workers[0]->id;
    donor->to[donor->first[here] + index] = to;
    donor->gives[here] |= to != from;
    donor->open--;
}

static void take_plan(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel,
                      const struct eki_section *section)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_plan_told *plan =
        (const struct eki_plan_told *)(section + 1);
    int64_t entry = (int64_t)sizeof *plan, count = section->bytes / entry;
    if (!eki_fits_one(&decode, "bytes too many", section->bytes % entry, 0) ||
        !eki_fits_one(&decode, "tasks are listed",
                      balancer->donor.first != NULL, true))
        return;
    for (int64_t i = 0; i < count; i++) {
        if (!plan_fits(balancer, &decode, &plan[i], parcel->group))
            return;
        decide(balancer, plan[i].from, plan[i].index, plan[i].to);
    }
}

/* A worker gets tasks of this rank. */
static void take_fetch(struct eki_balancer *balancer,
                       const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_fetch_told *fetch =
        (const struct eki_fetch_told *)parcel->data;
    int64_t count = parcel->bytes / (int64_t)sizeof *fetch;
    if (!eki_fits_parcel(&decode, parcel, 0, sizeof *fetch) ||
        !eki_fits_worker(&decode, parcel->group, parcel->rank) ||
        !eki_fits_one(&decode, "tasks are listed",
                      balancer->donor.first != NULL, true))
        return;
    for (int64_t i = 0; i < count; i++) {
        if (!undecided_fits(balancer, &decode, fetch[i].from, fetch[i].index))
            return;
        decide(balancer, fetch[i].from, fetch[i].index, parcel->group);
    }
}

static bool over_fits(const struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_result_told *told =
        (const struct eki_result_told *)parcel->data;
    return eki_fits_one(&decode, "targets before it",
                        balancer->donor.has_target, true) &&
           eki_fits_one(&decode, "others before it", balancer->donor.is_over,
                        false) &&
           eki_fits_shape(&decode, &eki_over_shape, told, NULL) &&
           eki_fits(&decode, "tasks across nodes", told->across, 0,
                    told->moved);
}

static void take_over(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    const struct eki_result_told *told =
        (const struct eki_result_told *)parcel->data;
    const struct eki_totals *totals = &balancer->totals;
    struct eki_balance_report *report = &balancer->report;
    if (!over_fits(balancer, parcel))
        return;
    double mean = (double)totals->total /
                  (double)(totals->workers > 0 ? totals->workers : 1);
    double scale = mean > 0 ? 1 / mean : 0;
    report->before = (double)told->before * scale - (mean > 0);
    report->after = (double)told->after * scale - (mean > 0);
    report->bound = (double)eki_balance_bound(totals) * scale - (mean > 0);
    /* Durations of tasks never measured are estimates, which are rounded: the
     * loads may seem to come out below the bound. */
    report->bound = report->bound > 0 ? report->bound : 0;
    if (report->after < report->bound)
        report->after = report->bound;
    if (report->before < report->after && told->before >= told->after)
        report->before = report->after;
    report->fewest = told->fewest;
    report->fewest_across = told->fewest_across;
    report->is_quiet = told->is_quiet != 0;
    report->pause = told->pause;
    report->why_restore = (enum eki_why_restore)told->why_restore;
    report->why_steal = (enum eki_why_steal)told->why_steal;
    balancer->donor.is_over = true;
    /* Where long tasks fit nowhere the result may be no better than what was:
     * then all tasks stay. */
    balancer->donor.is_undone = eki_balance_is_worse(told->before, told->after,
                                                     balancer->wish.is_printed);
    if (balancer->donor.is_undone) {
        report->after = report->before;
        return;
    }
    report->moved = told->moved;
    report->across = told->across;
    report->hash = told->hash;
}

bool eki_donor_take(struct eki_balancer *balancer,
                    const struct eki_parcel *parcel)
{
    switch (parcel->what) {
    case EKI_PARCEL_TARGET:
        return take_target(balancer, parcel);
    case EKI_PARCEL_OPEN:
        return take_open(balancer, parcel);
    case EKI_PARCEL_PLAN: {
        const struct eki_section *at = NULL;
        while ((at = eki_section_next(parcel, at)) != NULL)
            take_plan(balancer, parcel, at);
        return true;
    }
    case EKI_PARCEL_FETCH:
        take_fetch(balancer, parcel);
        return true;
    default:
        take_over(balancer, parcel);
        return true;
    }
}
