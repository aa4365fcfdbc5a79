/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Repair: while a worker is above the target, move one of its items to one of
 * the least loaded workers, or swap it for a shorter one there.  Decisive where
 * workers have few tasks: the last items fit nowhere as they are.
 */
#include "balance/holes.h"
#include "balance/index_heap.h"

enum {
    NONE = -1
};

/*
 * Chosen by: ek-bench balance, the worst case of each algorithm at 0.03 %.
 *
 * PARTNERS: workers that are tried.  With 4 of them the centralized balancer
 * ends 0.12 % over the bound instead of 0.03 %.
 *
 * SHARE and GRAIN: a swap must mend this part (1 / SHARE) of what its worker is
 * above the target, or this part (1 / GRAIN) of the mean hole, whichever is
 * less.  Smaller parts (1/32, 1/128) move up to 1.36 and 1.34 x the fewest
 * tasks instead of 1.20 x.  A GRAIN of 2 stops too early: one case of groups of
 * 64 stays 95 % over the bound.  A SHARE of 2 is no worse.
 *
 * STEPS: bound of the loop per task and worker, far more than it ever takes.
 * Loads fall with each swap, but by how little nobody knows.
 */
enum {
    PARTNERS = 16,
    SHARE = 8,
    GRAIN = 16,
    STEPS = 16
};

/* Items of each worker as lists, longest first. */
struct repair {
    struct eki_pool *pool;
    struct eki_holes holes;
    int64_t *heads;             /* [workers] ... */
    int64_t *next;              /* [count], of the same memory */
    eki_ns grain;               /* 1 / GRAIN of the mean hole */
    struct eki_index_heap over; /* workers above the target */
};

/* What moves from a worker P, and what comes back; an item or NONE. */
struct swap {
    int32_t partner;
    int64_t gives, takes;
    eki_ns change; /* that P loses */
    eki_ns worse;  /* the larger load of the two afterwards */
};

static eki_ns item_ns(const struct repair *repair, int64_t item)
{
    return item == NONE ? 0 : repair->pool->items[item].ns;
}

static void insert_item(struct repair *repair, int32_t worker, int64_t item)
{
    int64_t *at = &repair->heads[worker];
    while (*at != NONE && *at < item)
        at = &repair->next[*at];
    repair->next[item] = *at;
    *at = item;
    repair->pool->places[item] = worker;
}

static void remove_item(struct repair *repair, int32_t worker, int64_t item)
{
    int64_t *at = &repair->heads[worker];
    while (*at != item)
        at = &repair->next[*at];
    *at = repair->next[item];
}

/* The pair of an item of P and one of Q, or none, whose difference is closest
 * to half the difference of their loads. */
static struct swap find_swap(const struct repair *repair, int32_t p, int32_t q)
{
    const eki_ns *loads = repair->pool->loads;
    struct swap best = {.partner = q, .gives = NONE, .worse = loads[p]};
    eki_ns wanted = (loads[p] - loads[q]) / 2;
    int64_t before = NONE, b = repair->heads[q];
    bool has_before = false;
    for (int64_t a = repair->heads[p]; a != NONE; a = repair->next[a]) {
        eki_ns ns = item_ns(repair, a);
        /* The end of the list, NONE, stands for "nothing comes back". */
        while (b != NONE && item_ns(repair, b) > ns - wanted) {
            before = b;
            has_before = true;
            b = repair->next[b];
        }
        for (int side = 0; side < 2; side++) {
            int64_t back = side ? before : b;
            eki_ns change = ns - item_ns(repair, back);
            if ((side && !has_before) || change <= 0)
                continue;
            eki_ns mine = loads[p] - change, theirs = loads[q] + change;
            eki_ns worse = mine > theirs ? mine : theirs;
            if (worse < best.worse)
                best = (struct swap){q, a, back, change, worse};
        }
    }
    return best;
}

static void do_swap(struct repair *repair, int32_t p, const struct swap *swap)
{
    struct eki_pool *pool = repair->pool;
    int32_t q = swap->partner;
    eki_holes_remove(&repair->holes, p);
    eki_holes_remove(&repair->holes, q);
    remove_item(repair, p, swap->gives);
    if (swap->takes != NONE) {
        remove_item(repair, q, swap->takes);
        insert_item(repair, p, swap->takes);
    }
    insert_item(repair, q, swap->gives);
    pool->loads[p] -= swap->change;
    pool->loads[q] += swap->change;
    eki_holes_add(&repair->holes, p);
    eki_holes_add(&repair->holes, q);
}

/* The best of the workers with the largest holes. */
static struct swap find_partner(const struct repair *repair, int32_t p)
{
    const struct eki_pool *pool = repair->pool;
    struct swap best = {.gives = NONE, .worse = pool->loads[p]};
    int bin = eki_holes_below(&repair->holes, EKI_BIN_COUNT - 1);
    for (int tries = 0; bin >= 0 && tries < PARTNERS;
         bin = eki_holes_below(&repair->holes, bin - 1)) {
        for (int32_t q = repair->holes.heads[bin]; q >= 0 && tries < PARTNERS;
             q = repair->holes.next[q], tries++) {
            struct swap swap = find_swap(repair, p, q);
            if (swap.worse < best.worse)
                best = swap;
            if (best.worse <= pool->target)
                return best;
        }
    }
    return best;
}

/* Largest load first. */
static bool is_worse(const void *context, int32_t a, int32_t b)
{
    const eki_ns *loads = context;
    return loads[a] != loads[b] ? loads[a] > loads[b] : a < b;
}

/* Whether a swap is worth its migrations.  A move to a hole always is; where a
 * task comes back, enough must be gained (SHARE, GRAIN). */
static bool is_worth(const struct repair *repair, int32_t p,
                     const struct swap *swap)
{
    const struct eki_pool *pool = repair->pool;
    eki_ns share = (pool->loads[p] - pool->target) / SHARE;
    eki_ns least = (share < repair->grain ? share : repair->grain) + 1;
    if (swap->gives == NONE)
        return false;
    return swap->takes == NONE || swap->worse <= pool->target ||
           pool->loads[p] - swap->worse >= least;
}

/* Help the worst worker, which leaves the heap when it is below the target, or
 * when no swap is worth it. */
static void help_worst(struct repair *repair)
{
    struct eki_pool *pool = repair->pool;
    struct eki_index_heap *over = &repair->over;
    int32_t p = over->items[0];
    struct swap swap = find_partner(repair, p);
    if (!is_worth(repair, p, &swap)) {
        eki_index_heap_pop(over, is_worse, pool->loads);
        return;
    }
    do_swap(repair, p, &swap);
    if (pool->loads[p] <= pool->target)
        eki_index_heap_pop(over, is_worse, pool->loads);
    else
        eki_index_heap_sink(over, 0, is_worse, pool->loads);
    if (pool->loads[swap.partner] > pool->target)
        eki_index_heap_push(over, swap.partner, is_worse, pool->loads);
}

static bool open_repair(struct repair *repair, struct eki_pool *pool)
{
    repair->pool = pool;
    repair->heads =
        eki_alloc((size_t)(pool->workers + pool->count), sizeof *repair->heads);
    repair->next = repair->heads + pool->workers;
    return repair->heads && eki_index_heap_init(&repair->over, pool->workers) &&
           eki_holes_init(&repair->holes, pool);
}

static void close_repair(struct repair *repair)
{
    eki_free(repair->heads);
    eki_index_heap_free(&repair->over);
    eki_holes_free(&repair->holes);
    eki_free(repair);
}

static void list_all(struct repair *repair)
{
    const struct eki_pool *pool = repair->pool;
    for (int32_t w = 0; w < pool->workers; w++) {
        eki_ns hole = pool->target - pool->loads[w];
        repair->heads[w] = NONE;
        if (hole > 0)
            repair->grain += hole / pool->workers / GRAIN;
        if (pool->loads[w] > pool->target)
            eki_index_heap_push(&repair->over, w, is_worse, pool->loads);
    }
    /* Backwards, because each item is put before those that are there. */
    for (int64_t i = pool->count; i-- > 0;) {
        int32_t worker = pool->places[i];
        if (worker < 0)
            continue;
        repair->next[i] = repair->heads[worker];
        repair->heads[worker] = i;
    }
}

bool eki_pool_repair(struct eki_pool *pool)
{
    if (!eki_pool_has_over(pool) || pool->count == 0)
        return true;
    struct repair *repair = eki_alloc(1, sizeof *repair);
    if (!repair)
        return false;
    bool is_open = open_repair(repair, pool);
    if (is_open) {
        list_all(repair);
        int64_t left = STEPS * (pool->count + pool->workers);
        while (repair->over.count > 0 && left-- > 0)
            help_worst(repair);
    }
    close_repair(repair);
    EKI_ASSERT_SLOW(eki_pool_check(pool));
    return is_open;
}
