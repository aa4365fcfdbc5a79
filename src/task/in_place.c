/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restores in place: what lies in two arrays, the seeds and the log, is
 * gathered in the one that holds more, and each slot changes places with one
 * that lies in its class; those that lie there already keep their order.
 *
 * Paper: McIlroy, Bostic, McIlroy, Computing Systems 1993 (American flag sort);
 * that several slots change places together is ours.
 */
#include "task/sort.h"

enum {
    /* Slots that change their places together: what is there is read at once.
     */
    HELD = 8
};

/* A slot that stays where it is, is written only if it changes. */
EKI_INLINE void renew(struct eki_slot *slot)
{
    uint8_t flags = eki_slot_next_flags(slot->flags);
    if (slot->flags != flags)
        slot->flags = flags;
}

EKI_INLINE void copy_slot(const struct eki_sort *sort, unsigned char *to,
                          const unsigned char *from)
{
    eki_slot_copy(to, from, sort->local->slot_bytes);
}

/* The first place from AT on that no seed needs. */
static unsigned char *next_hole(const struct eki_sort *sort, unsigned char *at)
{
    if (at == sort->seeds.first && sort->gone == 0)
        at = sort->seeds.last;
    while (at >= sort->seeds.first && at < sort->seeds.last &&
           !eki_slot_is_gone((const struct eki_slot *)at))
        at += sort->local->slot_bytes;
    return at;
}

/* Fill holes from HOLE on with the slots of a span; returns what follows. */
static unsigned char *fill_holes(const struct eki_sort *sort,
                                 unsigned char *hole, struct eki_span span)
{
    uint32_t step = sort->local->slot_bytes;
    for (; span.first < span.last; span.first += step) {
        if (eki_slot_is_gone((const struct eki_slot *)span.first))
            continue;
        hole = next_hole(sort, hole);
        copy_slot(sort, hole, span.first);
        hole += step;
    }
    return hole;
}

/* All slots that stay become the first of the array of seeds, in any order:
 * few are moved. */
static void gather_any(struct eki_sort *sort)
{
    unsigned char *end =
        sort->local->seeds + sort->kept * sort->local->slot_bytes;
    unsigned char *rest = end > sort->seeds.first ? end : sort->seeds.first;
    unsigned char *hole = fill_holes(sort, sort->local->seeds, sort->aside);
    hole = fill_holes(sort, hole, sort->log);
    fill_holes(sort, hole, (struct eki_span){rest, sort->seeds.last});
}

/* Write the slots of a span that stay from TO on, backwards; returns their end.
 */
static unsigned char *put_backwards(const struct eki_sort *sort,
                                    unsigned char *to, struct eki_span span)
{
    uint32_t step = sort->local->slot_bytes;
    while (span.last != span.first) {
        span.last -= step;
        if (eki_slot_is_gone((const struct eki_slot *)span.last))
            continue;
        copy_slot(sort, to, span.last);
        to += step;
    }
    return to;
}

/* Close the gaps among the seeds, in their order; returns their number. */
static int64_t close_gaps(struct eki_sort *sort)
{
    uint32_t step = sort->local->slot_bytes;
    unsigned char *kept = sort->seeds.first;
    for (unsigned char *at = kept; at != sort->seeds.last; at += step) {
        if (eki_slot_is_gone((const struct eki_slot *)at))
            continue;
        if (kept != at)
            copy_slot(sort, kept, at);
        kept += step;
    }
    sort->seeds.last = kept;
    return (kept - sort->seeds.first) / step;
}

static void reverse_slots(struct eki_sort *sort, struct eki_span span)
{
    uint32_t step = sort->local->slot_bytes;
    for (; span.last - span.first > step; span.first += step) {
        span.last -= step;
        copy_slot(sort, sort->hand, span.first);
        copy_slot(sort, span.first, span.last);
        copy_slot(sort, span.last, sort->hand);
    }
}

/* The same in the order EXECUTED wants, last executed first: what lies in the
 * stack and in the log backwards, then the seeds.  IS_LOG: the array of seeds
 * is that of the log, and the other way round. */
static void gather_in_order(struct eki_sort *sort, bool is_log)
{
    unsigned char *seeds = sort->local->seeds;
    uint32_t step = sort->local->slot_bytes;
    if (is_log) {
        reverse_slots(sort, sort->seeds);
        reverse_slots(sort, sort->log);
    }
    int64_t here = close_gaps(sort);
    int64_t before = is_log ? 0 : sort->kept - here;
    for (struct eki_span at = sort->aside; is_log && at.first != at.last;
         at.first += step)
        before += !eki_slot_is_gone((const struct eki_slot *)at.first);
    memmove(seeds + before * step, sort->seeds.first, (size_t)(here * step));
    seeds = put_backwards(sort, seeds, sort->aside);
    if (is_log)
        seeds += here * step;
    put_backwards(sort, seeds, sort->log);
}

EKI_INLINE void exchange_slots(uint32_t bytes, unsigned char *a,
                               unsigned char *b)
{
    for (uint32_t i = 0; i < bytes; i += 16) {
        eki_pair x, y;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        memcpy(b + i, &x, sizeof x);
        memcpy(a + i, &y, sizeof y);
    }
}

/* Put the slots in hand where they belong, each in exchange for what is there;
 * those of the class at PLACE go there.  Returns how many are in hand then. */
EKI_INLINE int64_t put_hand(struct eki_sort *sort, uint32_t bytes, int64_t held,
                            struct eki_place *place)
{
    for (int64_t i = 0; i < held;) {
        unsigned char *slot = sort->hand + i * bytes;
        renew((struct eki_slot *)slot);
        struct eki_place *to =
            &sort->places[eki_sort_class(sort, (struct eki_slot *)slot) -
                          sort->low];
        unsigned char *at = to->next;
        to->next += bytes;
        __builtin_prefetch(to->next, 1);
        if (to != place) {
            exchange_slots(bytes, at, slot);
            i++;
            continue;
        }
        eki_slot_copy(at, slot, bytes);
        held--;
        if (i != held)
            eki_slot_copy(slot, sort->hand + held * bytes, bytes);
    }
    return held;
}

/* Fill a class whose slots up to NEXT are there. */
EKI_INLINE void fill_class(struct eki_sort *sort, uint32_t bytes,
                           unsigned class)
{
    struct eki_place *place = &sort->places[class - sort->low];
    unsigned char *read = place->next;
    int64_t held = 0;
    while (read != place->end || held > 0) {
        for (; held < HELD && read != place->end; read += bytes) {
            struct eki_slot *slot = (struct eki_slot *)read;
            if (held == 0 && eki_sort_class(sort, slot) == class) {
                renew(slot);
                place->next = read + bytes;
            } else {
                eki_slot_copy(sort->hand + held++ * bytes, read, bytes);
            }
        }
        held = put_hand(sort, bytes, held, place);
    }
}

/* The slots from the first of the array on move to the classes they belong to.
 */
static void sort_in_place(const struct eki_sort *given)
{
    /* A copy that nobody else points to stays in registers. */
    struct eki_sort own = *given, *sort = &own;
    unsigned classes = sort->high - sort->low + 1;
    unsigned char *at = sort->local->seeds;
    for (unsigned i = 0; i < classes; i++) {
        int64_t n = sort->starts[sort->low + i - sort->first];
        sort->places[i].next = at;
        at += n * sort->local->slot_bytes;
        sort->places[i].end = at;
    }
    for (unsigned class = sort->low; class <= sort->high; class ++) {
        if (EKI_LIKELY(sort->local->slot_bytes == 64))
            fill_class(sort, 64, class);
        else
            fill_class(sort, sort->local->slot_bytes, class);
    }
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = ((const struct eki_slot *)a)->id;
    uint64_t y = ((const struct eki_slot *)b)->id;
    return (x > y) - (x < y);
}

/* The number of a range is its first index. */
static int64_t number_in_order(const struct eki_slot *slot)
{
    struct eki_range range;
    if (!(slot->flags & EKI_SLOT_RANGE))
        return eki_slot_number(slot);
    memcpy(&range, slot->payload, sizeof range);
    return range.first;
}

/* The last slot starts first: it has the lowest number of the first function.
 */
static int compare_numbers(const void *a, const void *b)
{
    const struct eki_slot *x = a, *y = b;
    int64_t first = number_in_order(x), second = number_in_order(y);
    if (x->function != y->function)
        return x->function < y->function ? 1 : -1;
    return first != second ? (first < second ? 1 : -1) : -compare_ids(a, b);
}

static void sort_slots(struct eki_sort *sort,
                       int (*compare)(const void *, const void *))
{
    struct eki_local *local = sort->local;
    qsort(local->seeds, (size_t)sort->kept, local->slot_bytes, compare);
}

static void renew_all(struct eki_sort *sort)
{
    struct eki_local *local = sort->local;
    for (int64_t i = 0; i < sort->kept; i++)
        renew(eki_slot_at(local->seeds, i, local->slot_bytes));
}

/* Room for what stays in the array that holds more, which becomes that of the
 * seeds; false: no memory, and nothing has changed. */
static bool choose_array(struct eki_sort *sort, bool *is_log)
{
    struct eki_local *local = sort->local;
    int64_t seeds = eki_local_slots(local, local->seeds, local->seed_end);
    int64_t logged = eki_local_slots(local, local->log, local->log_end);
    *is_log = logged > seeds && local->done == 0;
    bool has_room = *is_log
                        ? eki_local_log_reserve(local, sort->kept - logged)
                        : eki_local_seeds_reserve(local, sort->kept - seeds);
    unsigned char *base = local->seed_base;
    if (!has_room)
        return false;
    if (*is_log) {
        eki_slots_swap(&local->seeds, &local->log);
        eki_slots_swap(&local->seed_end, &local->log_end);
        eki_slots_swap(&local->seed_limit, &local->log_limit);
        local->seed_base = local->seeds;
        local->seed_top = local->seed_end;
    }
    eki_sort_find(sort);
    if (*is_log)
        sort->log.first = base;
    return true;
}

static struct eki_span all_seeds(const struct eki_sort *sort)
{
    unsigned char *seeds = sort->local->seeds;
    return (struct eki_span){seeds,
                             seeds + sort->kept * sort->local->slot_bytes};
}

bool eki_sort_in_place(struct eki_sort *sort, enum eki_order order)
{
    struct eki_local *local = sort->local;
    bool is_log;
    sort->places = eki_alloc(sort->high - sort->low + 1, sizeof *sort->places);
    sort->hand = eki_alloc(HELD, local->slot_bytes);
    bool done = sort->places && sort->hand && choose_array(sort, &is_log);
    if (done && (order == EKI_ORDER_EXECUTED || order == EKI_ORDER_REVERSED)) {
        gather_in_order(sort, is_log);
        renew_all(sort);
        if (order == EKI_ORDER_REVERSED)
            reverse_slots(sort, all_seeds(sort));
    } else if (done) {
        gather_any(sort);
        if (order == EKI_ORDER_LONGEST)
            sort_in_place(sort);
        else
            renew_all(sort);
    }
    if (done && order == EKI_ORDER_ORIGINAL)
        sort_slots(sort, compare_ids);
    else if (done && order >= EKI_ORDER_ASCENDING)
        sort_slots(sort, compare_numbers);
    if (done && order == EKI_ORDER_COUNTED)
        reverse_slots(sort, all_seeds(sort));
    eki_free(sort->places);
    eki_free(sort->hand);
    return done;
}
