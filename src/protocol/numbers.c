/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeds by number, for the counter: which rank holds a number, and the task
 * that it stands for, out of the seeds that lie hidden with their workers.
 */
#include "protocol/numbers.h"

#include "engine/offers.h"

/* First of N indices that ek_add_range() gives to worker HERE of WORKERS. */
static int64_t part_first(int64_t n, int workers, int here)
{
    int64_t rest = n % workers;
    return here * (n / workers) + (here < rest ? here : rest);
}

static uint64_t number_of_id(uint64_t id)
{
    return id & (EKI_NUMBERS - 1);
}

/* The seeds of a rank so far: how many, and whether they are one run of indices
 * and ids. */
struct run {
    int64_t count;
    bool is_run;
    int64_t index;   /* the first one ... */
    uint64_t number; /* ... and that of its id */
    int32_t function;
};

/* Whether a range of WORKER goes on where the run ends. */
static bool continues(const struct run *all, const struct eki_slot *slot,
                      int64_t index)
{
    return all->function == slot->function &&
           all->index + all->count == index &&
           all->number + (uint64_t)all->count == number_of_id(slot->id);
}

static void add_slot(struct run *all, const struct eki_slot *slot, int worker)
{
    struct eki_range range;
    bool is_own_range =
        (slot->flags & EKI_SLOT_RANGE) && eki_id_home(slot->id) == worker;
    if (is_own_range)
        memcpy(&range, slot->payload, sizeof range);
    if (all->count == 0 && is_own_range) {
        all->is_run = true;
        all->function = slot->function;
        all->index = range.first;
        all->number = number_of_id(slot->id);
    } else if (!is_own_range || !continues(all, slot, range.first)) {
        all->is_run = false;
    }
    all->count += eki_slot_tasks(slot);
}

/* Hide the seeds of a worker from it; its slots stay for who draws them. */
static void hide_seeds(struct ek_worker *worker, struct eki_drawer *drawer,
                       struct run *all)
{
    struct eki_local *local = &worker->local;
    drawer->first = local->seed_base;
    drawer->last = local->seed_top;
    drawer->has_ranges = false;
    for (unsigned char *at = local->seed_base; at != local->seed_top;
         at += local->slot_bytes) {
        struct eki_slot *slot = (struct eki_slot *)at;
        add_slot(all, slot, worker->id);
        drawer->has_ranges |= (slot->flags & EKI_SLOT_RANGE) != 0;
    }
    /* A phase that fails because the last one was not restored has no seeds:
     * the slots above are those of what ran before, and they stay. */
    if (local->seed_top != local->seed_base)
        local->seed_base = local->seed_top = local->seed_end;
}

/* Whether the parts of a run are those of one ek_add_range(): then anybody can
 * tell the home of an index. */
static bool is_dealt(const struct eki_counter *counter, int64_t n)
{
    int workers = counter->protocol.engine->topology->workers_here;
    for (int here = 0; here < workers; here++) {
        if (counter->starts[here] != part_first(n, workers, here))
            return false;
    }
    return true;
}

/* All seeds of this rank, with them hidden from its workers. */
static void gather_seeds(struct eki_counter *counter, struct eki_seeds *own)
{
    struct eki_engine *engine = counter->protocol.engine;
    int workers = engine->topology->workers_here;
    struct run all = {0};
    for (int here = 0; here < workers; here++) {
        counter->starts[here] = all.count;
        hide_seeds(engine->workers[here], &counter->drawers[here], &all);
        counter->drawers[here].cursor.at = NULL;
    }
    counter->starts[workers] = all.count;
    bool is_known = all.is_run && is_dealt(counter, all.count);
    own->first = all.count;
    own->work = (uint64_t)all.count;
    own->index = all.index;
    own->number = all.number;
    own->function = is_known ? all.function : -1;
}

/* Cut the sorted seeds into classes. */
static void class_seeds(struct eki_counter *counter, uint64_t longest)
{
    const struct eki_lineup_item *items =
        counter->protocol.engine->lineup.items;
    int class = 0;
    counter->own[0].first = counter->own[0].work = 0;
    for (int64_t i = 0; i < counter->sorted; i++) {
        uint64_t ns = eki_bin_ns(items[i].slot->bin);
        for (; class + 1 < counter->classes && ns <= longest / 4; class ++)
            longest /= 4;
        counter->own[class].first++;
        counter->own[class].work += ns + 1;
    }
}

void eki_numbers_gather(struct eki_counter *counter,
                        const struct eki_phase *phase)
{
    struct eki_engine *engine = counter->protocol.engine;
    uint64_t longest =
        phase->load ? phase->load->task_ns : engine->node->load.task_ns;
    bool is_sorted = phase->is_ordered && phase->chunk == EKI_CHUNK_GUIDED;
    counter->classes = is_sorted ? EKI_SEED_CLASSES : 1;
    counter->sorted = is_sorted ? eki_lineup_sort(engine, phase) : 0;
    for (int i = 0; i < EKI_SEED_CLASSES; i++)
        counter->own[i] = (struct eki_seeds){.function = -1};
    gather_seeds(counter, &counter->own[0]);
    if (counter->sorted > 0)
        class_seeds(counter, longest);
    else if (counter->classes > 1)
        counter->own[0].work *= 1 + engine->workers[0]->batch.task_ns;
}

/* Counts become first numbers, and the work of each what is left with it. */
void eki_numbers_assign(struct eki_counter *counter)
{
    struct eki_seeds *table = counter->table;
    int entries = eki_numbers_entries(counter);
    int64_t next = 0;
    for (int e = 0; e < entries; e++) {
        int64_t count = table[e].first;
        table[e].first = next;
        next += count;
    }
    table[entries] = (struct eki_seeds){.first = next, .function = -1};
    for (int e = entries - 1; e >= 0; e--)
        table[e].work += table[e + 1].work;
}

/* How many from NUMBER on are guided to a node: half of the work that is left
 * for each. */
static int64_t guided_count(const struct eki_counter *counter, int64_t number)
{
    const struct eki_seeds *table = counter->table;
    int entries = eki_numbers_entries(counter);
    int64_t at = number;
    double share = -1;
    for (int e = eki_numbers_entry(counter, number); e < entries; e++) {
        int64_t rest = table[e + 1].first - at;
        if (rest == 0)
            continue;
        double each = (double)(table[e].work - table[e + 1].work) /
                      (double)(table[e + 1].first - table[e].first);
        double here = each * (double)rest;
        if (share < 0)
            share = (here + (double)table[e + 1].work) /
                    (2 * counter->protocol.engine->topology->nodes);
        if (here > share) {
            at += (int64_t)(share / each);
            break;
        }
        share -= here;
        at += rest;
    }
    return at - number < EKI_CHUNK_MOST ? at - number : EKI_CHUNK_MOST;
}

int64_t eki_numbers_draw(const struct eki_counter *counter, int chunk,
                         int *count)
{
    _Atomic uint64_t *next = &counter->protocol.engine->node->draw;
    /* relaxed, both: only the number counts; it may be a later one. */
    int64_t number = (int64_t)atomic_load_explicit(next, memory_order_relaxed);
    int64_t guided = counter->is_guided && number < eki_numbers_all(counter)
                         ? guided_count(counter, number)
                         : 0;
    *count = guided > chunk ? (int)guided : chunk;
    return (int64_t)atomic_fetch_add_explicit(next, (uint64_t)*count,
                                              memory_order_relaxed);
}

int64_t eki_numbers_cancel(struct eki_counter *counter)
{
    _Atomic uint64_t *next = &counter->protocol.engine->node->draw;
    int64_t all = eki_numbers_all(counter);
    /* relaxed, both: only the number counts. */
    int64_t first = (int64_t)atomic_load_explicit(next, memory_order_relaxed);
    if (first < all)
        first = (int64_t)atomic_exchange_explicit(next, (uint64_t)all,
                                                  memory_order_relaxed);
    if (first >= all)
        return 0;
    counter->kept = first;
    return all - first;
}

/* The seeds of a worker, without those that DRAWN tells of, are cancelled. */
static void cancel_behind(struct eki_local *local, int64_t drawn)
{
    unsigned char *at = local->seed_base;
    struct eki_slot *slot = (struct eki_slot *)at;
    for (int64_t n; drawn > 0 && at != local->seed_end; drawn -= n) {
        slot = (struct eki_slot *)at;
        n = eki_slot_tasks(slot);
        if (n > drawn)
            break;
        at += local->slot_bytes;
    }
    if (drawn > 0 && at != local->seed_end) {
        struct eki_range range;
        memcpy(&range, slot->payload, sizeof range);
        range.first += drawn;
        slot->id += (uint64_t)drawn;
        memcpy(slot->payload, &range, sizeof range);
    }
    local->seed_base = at;
    local->seed_top = local->seed_end;
    eki_local_cancel(local);
}

void eki_numbers_give_back(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    for (int64_t j = counter->kept; j < counter->sorted; j++)
        engine->lineup.items[j].slot->flags |= EKI_SLOT_CANCELLED;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct eki_local *local = &engine->workers[here]->local;
        const struct eki_drawer *drawer = &counter->drawers[here];
        local->seed_base -= drawer->last - drawer->first;
        if (counter->sorted > 0)
            eki_keep_cancelled(local);
        else if (drawer->first != drawer->last)
            cancel_behind(local, counter->kept - counter->starts[here]);
    }
}

int eki_numbers_entry(const struct eki_counter *counter, int64_t number)
{
    const struct eki_seeds *table = counter->table;
    int low = 0, high = eki_numbers_entries(counter) - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (table[middle].first <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

int64_t eki_numbers_place(const struct eki_counter *counter, int entry,
                          int64_t number)
{
    int64_t place = number - counter->table[entry].first;
    int size = counter->protocol.engine->topology->size;
    for (int class = 0; class < entry / size; class ++)
        place += counter->own[class].first;
    return place;
}

int eki_numbers_holder(const struct eki_counter *counter, int64_t number)
{
    return eki_numbers_rank(counter, eki_numbers_entry(counter, number));
}

/* Whether NUMBER is that of a seed of this rank, as its table says. */
bool eki_numbers_are_held(const struct eki_counter *counter, int64_t number)
{
    return number >= 0 && number < eki_numbers_all(counter) &&
           eki_numbers_holder(counter, number) ==
               counter->protocol.engine->topology->rank;
}

static void slot_of_index(struct eki_slot *slot, int function, uint64_t id,
                          int64_t index)
{
    slot->function = (uint16_t)function;
    slot->bytes = sizeof index;
    slot->bin = EKI_BIN_NEVER;
    slot->deviation = eki_hint_byte(1.0);
    slot->flags = EKI_SLOT_SEED;
    slot->id = id;
    memcpy(slot->payload, &index, sizeof index);
}

/* Move the cursor to the slot that holds seed J of this rank. */
static void seek_seed(const struct eki_counter *counter, int64_t j,
                      struct eki_cursor *cursor)
{
    const int64_t *starts = counter->starts;
    uint32_t slot_bytes = counter->protocol.engine->slot_bytes;
    if (!cursor->at || j < cursor->first || j >= starts[cursor->here + 1]) {
        cursor->here = 0;
        while (j >= starts[cursor->here + 1])
            cursor->here++;
        cursor->at = counter->drawers[cursor->here].first;
        cursor->first = starts[cursor->here];
    }
    if (!counter->drawers[cursor->here].has_ranges) {
        cursor->at += (j - cursor->first) * (int64_t)slot_bytes;
        cursor->first = j;
        return;
    }
    for (;;) {
        int64_t tasks = eki_slot_tasks((const struct eki_slot *)cursor->at);
        if (j < cursor->first + tasks)
            return;
        cursor->first += tasks;
        cursor->at += slot_bytes;
    }
}

/* Seed J of this rank to SLOT. */
void eki_numbers_copy(const struct eki_counter *counter, int64_t j,
                      struct eki_cursor *cursor, struct eki_slot *slot)
{
    if (counter->sorted > 0) {
        memcpy(slot, counter->protocol.engine->lineup.items[j].slot,
               counter->protocol.engine->slot_bytes);
        return;
    }
    seek_seed(counter, j, cursor);
    const struct eki_slot *found = (const struct eki_slot *)cursor->at;
    j -= cursor->first;
    if (found->flags & EKI_SLOT_RANGE) {
        struct eki_range range;
        memcpy(&range, found->payload, sizeof range);
        slot_of_index(slot, found->function, found->id + (uint64_t)j,
                      range.first + j);
    } else {
        memcpy(slot, found, counter->protocol.engine->slot_bytes);
    }
}

/* Index J of the run that is ENTRY to SLOT. */
void eki_numbers_make(const struct eki_counter *counter, int entry, int64_t j,
                      struct eki_slot *slot)
{
    const struct eki_seeds *seeds = &counter->table[entry];
    const int *first = &counter->protocol.engine->topology
                            ->first_worker[eki_numbers_rank(counter, entry)];
    int workers = first[1] - first[0], here = 0;
    int64_t n = seeds[1].first - seeds[0].first;
    while (here + 1 < workers && j >= part_first(n, workers, here + 1))
        here++;
    slot_of_index(slot, seeds->function,
                  eki_id(first[0] + here, seeds->number + (uint64_t)j),
                  seeds->index + j);
}
