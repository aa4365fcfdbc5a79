/* SPDX-License-Identifier: BSD-3-Clause */
/* Forming a lineup, and who takes from it. */
#include "engine/internal.h"

enum {
    /* Shorter tasks, on average, stay with their workers, to whom taking one
     * costs no atomic operation. */
    TASK_LEAST_NS = 50000,
    /* So do few tasks, or few long ones among short ones: with some five for
     * each worker they lie better where they have been handed. */
    TASKS_LEAST = 8,
    /* Forming takes so long for a task, about, of one thread, ... */
    FORM_NS = 25,
    /* ... and this part of the last process at most. */
    FORM_PART = 256,
    /* ... or this part, where the order alone is wanted of it. */
    SORT_PART = 64,
    /* Of shorter tasks so much is taken at once. */
    TAKEN_NS = 20000,
    /* Classes of durations: 16 per octave. */
    CLASS_BINS = 16,
    HINT_BINS = 32, /* in a step of a hint */
    CLASSES = (EKI_BIN_COUNT + 4 * UINT8_MAX) / CLASS_BINS + 1
};

/* How many seeds lie here; 0: there are ranges among them. */
static int64_t count_slots_here(const struct eki_engine *engine)
{
    int64_t count = 0;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct eki_local *local = &engine->workers[here]->local;
        if (local->has_ranges)
            return 0;
        count += eki_local_slots(local, local->seed_base, local->seed_top);
    }
    return count;
}

/* As long as the last process was, or as the load of an earlier run is. */
static uint64_t expected_ns(const struct eki_engine *engine,
                            const struct eki_phase *phase)
{
    return phase->load
               ? phase->load->work_ns / (uint64_t)engine->topology->workers
               : engine->process_ns;
}

static bool is_worth_it(const struct eki_engine *engine,
                        const struct eki_phase *phase)
{
    uint64_t ns = expected_ns(engine, phase);
    if (engine->setup.lines_up)
        return true;
    if (ns < TASKS_LEAST * TASK_LEAST_NS)
        return false;
    uint64_t workers = (uint64_t)engine->topology->workers_here;
    uint64_t tasks = (uint64_t)count_slots_here(engine);
    return tasks >= TASKS_LEAST * workers &&
           tasks <= ns / TASK_LEAST_NS * workers &&
           tasks <= ns / (FORM_NS * FORM_PART);
}

void eki_lineup_enter(struct eki_engine *engine, const struct eki_phase *phase)
{
    struct eki_lineup *lineup = &engine->lineup;
    lineup->count = 0;
    lineup->is_due = phase->is_ordered && phase->has_threads &&
                     engine->has_thieves && !engine->is_plain &&
                     !engine->kept && engine->topology->workers_here > 1 &&
                     is_worth_it(engine, phase);
}

/* A class of what a task may take: its last duration, and by how much that
 * varies on average.  What never ran is expected to be as its hint says, beside
 * others of its worker. */
static unsigned lineup_class(const struct ek_worker *worker,
                             const struct eki_slot *slot)
{
    int bin = slot->bin + 4 * slot->deviation;
    if (EKI_UNLIKELY(slot->bin == EKI_BIN_NEVER))
        bin = eki_bin_of(worker->batch.task_ns) +
              (slot->deviation - EKI_NO_HINT) * HINT_BINS;
    int class = bin > 0 ? bin / CLASS_BINS : 0;
    return (unsigned)(class < CLASSES ? CLASSES - 1 - class : 0);
}

typedef void visit_fn(struct eki_lineup_item *items, int64_t *starts,
                      unsigned class, struct eki_slot *slot);

static void count_item(struct eki_lineup_item *items, int64_t *starts,
                       unsigned class, struct eki_slot *slot)
{
    (void)items, (void)slot;
    starts[class]++;
}

static void place_item(struct eki_lineup_item *items, int64_t *starts,
                       unsigned class, struct eki_slot *slot)
{
    items[starts[class]++].slot = slot;
}

EKI_INLINE void for_each_seed(const struct eki_engine *engine, int64_t *starts,
                              visit_fn *visit)
{
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct ek_worker *worker = engine->workers[here];
        const struct eki_local *local = &worker->local;
        for (unsigned char *at = local->seed_base; at != local->seed_top;
             at += local->slot_bytes) {
            struct eki_slot *slot = (struct eki_slot *)at;
            visit(engine->lineup.items, starts, lineup_class(worker, slot),
                  slot);
        }
    }
}

/* Order all of them by a counting sort. */
static void sort_seeds(const struct eki_engine *engine)
{
    int64_t starts[CLASSES] = {0}, at = 0;
    for_each_seed(engine, starts, count_item);
    for (int class = 0; class < CLASSES; class ++) {
        int64_t n = starts[class];
        starts[class] = at;
        at += n;
    }
    for_each_seed(engine, starts, place_item);
}

/* Sum up what is left from each on. */
static void sum_left(struct eki_lineup *lineup, int64_t count)
{
    uint64_t left_ns = 0;
    for (int64_t i = count - 1; i >= 0; i--) {
        left_ns += eki_bin_ns(lineup->items[i].slot->bin);
        lineup->items[i].left_ns = left_ns;
    }
}

static bool reserve_items(struct eki_lineup *lineup, int64_t count)
{
    if (count <= lineup->room)
        return true;
    eki_free(lineup->items);
    lineup->items = eki_alloc((size_t)count, sizeof *lineup->items);
    lineup->room = lineup->items ? count : 0;
    return lineup->items != NULL;
}

/* Whether all are short but for a few for each worker, which the order shows.
 */
static bool has_few_long(const struct eki_engine *engine, int64_t count)
{
    const struct eki_lineup_item *items = engine->lineup.items;
    int64_t few = TASKS_LEAST * (int64_t)engine->topology->workers_here;
    return !engine->setup.lines_up && few <= count &&
           eki_bin_ns(items[few - 1].slot->bin) < TASK_LEAST_NS;
}

/* Line up COUNT seeds, which stay where they lie; false: workers keep theirs.
 */
static bool line_up(struct eki_engine *engine, int64_t count)
{
    struct eki_lineup *lineup = &engine->lineup;
    if (count == 0 || !reserve_items(lineup, count))
        return false;
    sort_seeds(engine);
    sum_left(lineup, count);
    /* Of unknown durations there is no order. */
    return lineup->items[0].left_ns != 0;
}

int64_t eki_lineup_sort(struct eki_engine *engine,
                        const struct eki_phase *phase)
{
    int64_t count = count_slots_here(engine);
    uint64_t most = expected_ns(engine, phase) / (FORM_NS * SORT_PART);
    if (!engine->setup.lines_up && (uint64_t)count > most)
        return 0;
    return line_up(engine, count) ? count : 0;
}

bool eki_lineup_form(struct eki_engine *engine)
{
    struct eki_lineup *lineup = &engine->lineup;
    /* Tasks may have been handed over meanwhile. */
    int64_t count = lineup->is_due ? count_slots_here(engine) : 0;
    if (!line_up(engine, count) || has_few_long(engine, count))
        return false;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct eki_local *local = &engine->workers[here]->local;
        local->seed_top = local->seed_base;
    }
    lineup->count = lineup->kept = count;
    /* relaxed: handed on by the start of the team, or when workers are let go.
     */
    atomic_store_explicit(&lineup->next, 0, memory_order_relaxed);
    return true;
}

/* The next one; NULL: none is left.  Others may take it meanwhile, and then
 * shorter ones come, which are welcome, too. */
static const struct eki_lineup_item *next_item(const struct eki_lineup *lineup)
{
    int64_t next = lineup->count > 0 ? eki_lineup_taken(lineup) : 0;
    return next < lineup->count ? &lineup->items[next] : NULL;
}

/* How many from FIRST on take NS, 1 at least and MOST at most. */
static int64_t count_for(const struct eki_lineup *lineup,
                         const struct eki_lineup_item *first, uint64_t ns,
                         int64_t most)
{
    const struct eki_lineup_item *end = lineup->items + lineup->count;
    int64_t n = 1;
    while (n < most && first + n < end &&
           first->left_ns - first[n].left_ns < ns)
        n++;
    return n;
}

/* Take N, or what is left, to SLOTS, the first one last; how many. */
static int64_t take_items(struct eki_lineup *lineup, int64_t n,
                          unsigned char *slots, uint32_t slot_bytes)
{
    /* relaxed: only the number counts; what is there was handed on by the start
     * of the team, or when workers were let go. */
    int64_t first =
        atomic_fetch_add_explicit(&lineup->next, n, memory_order_relaxed);
    int64_t left = lineup->count - first;
    if (n > left)
        n = left > 0 ? left : 0;
    for (int64_t i = 0; i < n; i++)
        memcpy(eki_slot_at(slots, n - 1 - i, slot_bytes),
               lineup->items[first + i].slot, slot_bytes);
    return n;
}

bool eki_lineup_take(struct ek_worker *worker)
{
    struct eki_lineup *lineup = &worker->engine->lineup;
    struct eki_local *local = &worker->local;
    const struct eki_lineup_item *first = next_item(lineup);
    if (!first)
        return false;
    int64_t n = count_for(lineup, first, TAKEN_NS, EKI_BATCH_MAX);
    /* Other ranks of the node find what a worker shows behind its first. */
    if (n == 1 && worker->engine->topology->node_ranks > 1)
        n = 2;
    if (!eki_local_reserve(local, n)) {
        eki_worker_no_memory(worker, n, "tasks of the rank");
        return false;
    }
    n = take_items(lineup, n, local->stack_top, local->slot_bytes);
    local->stack_top += n * local->slot_bytes;
    return n > 0;
}

int64_t eki_lineup_share(struct eki_engine *engine, unsigned char *slots,
                         int64_t most)
{
    struct eki_lineup *lineup = &engine->lineup;
    const struct eki_lineup_item *first = next_item(lineup);
    if (!first)
        return 0;
    /* Half of what is there for each worker, with the thief. */
    uint64_t workers = (uint64_t)engine->topology->workers_here + 1;
    uint64_t ns = first->left_ns / (2 * workers);
    return take_items(lineup, count_for(lineup, first, ns, most), slots,
                      engine->slot_bytes);
}

int64_t eki_lineup_cancel(struct eki_lineup *lineup)
{
    if (!next_item(lineup))
        return 0;
    /* relaxed: see take_items(). */
    int64_t first = EKI_PLANTED(LINED_TWICE)
                        ? 0
                        : atomic_exchange_explicit(&lineup->next, lineup->count,
                                                   memory_order_relaxed);
    if (first >= lineup->count)
        return 0;
    for (int64_t i = first; i < lineup->count; i++)
        lineup->items[i].slot->flags |= EKI_SLOT_CANCELLED;
    lineup->kept = first;
    return lineup->count - first;
}

void eki_keep_cancelled(struct eki_local *local)
{
    unsigned char *kept = local->seed_end;
    for (unsigned char *at = kept; at != local->seed_base;) {
        at -= local->slot_bytes;
        if (!(((const struct eki_slot *)at)->flags & EKI_SLOT_CANCELLED))
            continue;
        kept -= local->slot_bytes;
        memmove(kept, at, local->slot_bytes);
    }
    local->seed_base = local->seed_top = kept;
}

void eki_lineup_leave(struct eki_engine *engine)
{
    struct eki_lineup *lineup = &engine->lineup;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct eki_local *local = &engine->workers[here]->local;
        if (lineup->kept < lineup->count)
            eki_keep_cancelled(local);
        else
            local->seed_base = local->seed_top = local->seed_end;
    }
    lineup->count = 0;
}
