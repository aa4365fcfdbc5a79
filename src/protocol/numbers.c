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

/* What this rank has, with its seeds hidden from its workers. */
struct eki_seeds eki_numbers_gather(struct eki_counter *counter)
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
    return (struct eki_seeds){.first = all.count,
                              .index = all.index,
                              .number = all.number,
                              .function = is_known ? all.function : -1};
}

/* Counts become first numbers; entry `size` is their sum. */
void eki_numbers_assign(struct eki_counter *counter)
{
    struct eki_seeds *table = counter->table;
    int size = counter->protocol.engine->topology->size;
    int64_t next = 0;
    for (int r = 0; r < size; r++) {
        int64_t count = table[r].first;
        table[r].first = next;
        next += count;
    }
    table[size] = (struct eki_seeds){.first = next, .function = -1};
}

/* How many from NUMBER on are guided to a node: half of what there is left for
 * each. */
static int64_t guided_count(const struct eki_counter *counter, int64_t number)
{
    const struct eki_topology *topology = counter->protocol.engine->topology;
    int64_t left = counter->table[topology->size].first - number;
    int64_t count = left / (2 * topology->nodes);
    return count < EKI_CHUNK_MOST ? count : EKI_CHUNK_MOST;
}

int64_t eki_numbers_draw(const struct eki_counter *counter, int chunk,
                         int *count)
{
    _Atomic uint64_t *next = &counter->protocol.engine->node->draw;
    /* relaxed, both: only the number counts; it may be a later one. */
    int64_t number = (int64_t)atomic_load_explicit(next, memory_order_relaxed);
    int64_t guided = counter->is_guided ? guided_count(counter, number) : 0;
    *count = guided > chunk ? (int)guided : chunk;
    return (int64_t)atomic_fetch_add_explicit(next, (uint64_t)*count,
                                              memory_order_relaxed);
}

int eki_numbers_holder(const struct eki_counter *counter, int64_t number)
{
    const struct eki_seeds *table = counter->table;
    int low = 0, high = counter->protocol.engine->topology->size - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (table[middle].first <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Whether NUMBER is that of a seed of this rank, as its table says. */
bool eki_numbers_are_held(const struct eki_counter *counter, int64_t number)
{
    const struct eki_seeds *own =
        &counter->table[counter->protocol.engine->topology->rank];
    return number >= own[0].first && number < own[1].first;
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

/* Index J of the run of RANK to SLOT. */
void eki_numbers_make(const struct eki_counter *counter, int rank, int64_t j,
                      struct eki_slot *slot)
{
    const struct eki_seeds *seeds = &counter->table[rank];
    const int *first = &counter->protocol.engine->topology->first_worker[rank];
    int workers = first[1] - first[0], here = 0;
    int64_t n = seeds[1].first - seeds[0].first;
    while (here + 1 < workers && j >= part_first(n, workers, here + 1))
        here++;
    slot_of_index(slot, seeds->function,
                  eki_id(first[0] + here, seeds->number + (uint64_t)j),
                  seeds->index + j);
}
