/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of the next iteration: a counting sort over classes of durations,
 * which keeps the order within each, by two digits where there are far more
 * classes than slots.  Few slots go to a spare array, which stays for the next
 * time.  Many are sorted in place (in_place.c), so that a task takes one slot.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 4 (retention);
 * the order, longest first, is ours.
 */
#include "task/sort.h"

#include <limits.h>

enum {
    FEW = 4096, /* slots whose classes are bounded before they are counted */
    DIGIT_BITS = 7,
    DIGITS = 1 << DIGIT_BITS
};
_Static_assert(EKI_CLASS_FINE + EKI_BIN_COUNT - EKI_BIN_FINE < DIGITS * DIGITS,
               "a class has two digits");

typedef void visit_fn(struct eki_sort *sort, const struct eki_slot *slot);

EKI_INLINE void for_span(struct eki_sort *sort, struct eki_span span,
                         visit_fn *visit)
{
    while (span.last != span.first) {
        span.last -= sort->local->slot_bytes;
        visit(sort, (const struct eki_slot *)span.last);
    }
}

/* Call VISIT for each slot, in the order EXECUTED wants: last executed first.
 */
EKI_INLINE void for_each(struct eki_sort *sort, visit_fn *visit)
{
    for_span(sort, sort->aside, visit);
    for_span(sort, sort->log, visit);
    for (unsigned char *at = sort->seeds.first; at != sort->seeds.last;
         at += sort->local->slot_bytes)
        visit(sort, (const struct eki_slot *)at);
}

/* By bin, of which classes follow. */
EKI_INLINE void bound_slot(struct eki_sort *sort, const struct eki_slot *slot)
{
    unsigned bin = slot->bin;
    if (eki_slot_is_gone(slot))
        return;
    sort->low = bin < sort->low ? bin : sort->low;
    sort->high = bin > sort->high ? bin : sort->high;
}

static bool needs_in_place(const struct eki_sort *sort)
{
    return sort->slots * sort->local->slot_bytes > sort->local->spare_most;
}

/* Many tasks are told apart by octaves alone: each is little of their sum. */
static void set_classes(struct eki_sort *sort)
{
    sort->classes.fine = EKI_CLASS_FINE - EKI_BIN_FINE;
    sort->classes.range = EKI_CLASS_FINE + EKI_BIN_COUNT - EKI_BIN_FINE;
    if (!needs_in_place(sort))
        return;
    sort->classes.fine = -EKI_BIN_RANGE;
    sort->classes.range = EKI_CLASSES_COARSE;
}

/* How many classes to count.  For few slots those seen: a look at each costs
 * less than to clear all.  Never measured tasks may fall into any. */
static size_t count_classes(struct eki_sort *sort)
{
    if (sort->slots > FEW)
        return (size_t)sort->classes.range + 1;
    for_each(sort, bound_slot);
    /* Nothing stays: no class is looked at. */
    if (sort->low > sort->high)
        return 1;
    sort->low = eki_class_of(&sort->classes, (int)sort->low);
    sort->high = eki_class_of(&sort->classes, (int)sort->high);
    if (sort->low == EKI_CLASS_NEVER)
        return (size_t)sort->classes.range + 1;
    sort->first = sort->low;
    return sort->high - sort->low + 1;
}

/* Whether the slots are fewer than the classes by so much that a look at each
 * class (17 instructions) costs more than sorting twice (65 a slot). */
static bool is_sparse(const struct eki_sort *sort, size_t classes)
{
    return sort->slots <= FEW && sort->low != EKI_CLASS_NEVER &&
           !needs_in_place(sort) && classes > DIGITS + 4 * (size_t)sort->slots;
}

/* Whether the slot is gone, which is counted. */
EKI_INLINE bool count_gone(struct eki_sort *sort, const struct eki_slot *slot)
{
    if (!eki_slot_is_gone(slot))
        return false;
    sort->gone++;
    sort->discarded += (slot->flags & EKI_SLOT_DISCARDED) != 0;
    return true;
}

EKI_INLINE void count_slot(struct eki_sort *sort, const struct eki_slot *slot)
{
    if (count_gone(sort, slot))
        return;
    unsigned class = eki_class_of(&sort->classes, slot->bin);
    sort->starts[class - sort->first]++;
    sort->low = class < sort->low ? class : sort->low;
    sort->high = class > sort->high ? class : sort->high;
}

/* In a copy that nobody else points to, so that the compiler keeps it in
 * registers while slots are written. */
static void count_slots(struct eki_sort *given)
{
    struct eki_sort own = *given, *sort = &own;
    for_each(sort, count_slot);
    sort->kept = sort->slots - sort->gone;
    *given = own;
}

EKI_INLINE void key_slot(struct eki_sort *sort, const struct eki_slot *slot)
{
    if (!count_gone(sort, slot))
        sort->keys[sort->kept++] = (struct eki_sort_key){
            slot, eki_class_of(&sort->classes, slot->bin) - sort->first};
}

/* By the digit at SHIFT; keys that have the same keep their order. */
static void sort_by_digit(const struct eki_sort_key *from,
                          struct eki_sort_key *to, int64_t count,
                          unsigned shift)
{
    unsigned starts[DIGITS] = {0}, at = 0;
    for (int64_t i = 0; i < count; i++)
        starts[from[i].class >> shift & (DIGITS - 1)]++;
    for (int digit = 0; digit < DIGITS; digit++) {
        unsigned n = starts[digit];
        starts[digit] = at;
        at += n;
    }
    for (int64_t i = 0; i < count; i++)
        to[starts[from[i].class >> shift & (DIGITS - 1)]++] = from[i];
}

EKI_INLINE void note_function(struct eki_sort *sort,
                              const struct eki_slot *slot)
{
    if (slot->function >= sort->functions)
        sort->functions = slot->function + 1u;
}

static void estimate_slot(struct eki_sort *sort, const struct eki_slot *slot)
{
    if (eki_slot_is_gone(slot) || slot->flags & EKI_SLOT_RANGE)
        return;
    struct eki_estimate *estimate = &sort->estimates[slot->function];
    if (slot->bin == EKI_BIN_NEVER) {
        estimate->hints += eki_hint_cost(slot->deviation);
        estimate->hinted++;
    } else {
        estimate->measured_ns += (double)eki_bin_ns(slot->bin);
        estimate->measured++;
    }
}

/* Never measured tasks leave their class for where they are expected. */
static void recount_slot(struct eki_sort *sort, const struct eki_slot *slot)
{
    if (eki_slot_is_gone(slot) || slot->bin != EKI_BIN_NEVER)
        return;
    unsigned class = eki_sort_class(sort, slot);
    sort->starts[class]++;
    sort->low = class < sort->low ? class : sort->low;
    sort->high = class > sort->high ? class : sort->high;
}

static bool estimate_unmeasured(struct eki_sort *sort)
{
    for_each(sort, note_function);
    sort->estimates = eki_alloc(sort->functions, sizeof *sort->estimates);
    if (!sort->estimates)
        return false;
    for_each(sort, estimate_slot);
    sort->starts[EKI_CLASS_NEVER] = 0;
    for_each(sort, recount_slot);
    return true;
}

EKI_INLINE void place_slot(struct eki_local *local, int64_t at,
                           const struct eki_slot *slot)
{
    struct eki_slot *to = eki_slot_at(local->spare, at, local->slot_bytes);
    if (EKI_LIKELY(local->slot_bytes == 64))
        memcpy(to, slot, 64);
    else if (slot->flags & EKI_SLOT_ADOPTED)
        memcpy(to, slot, local->slot_bytes);
    else
        memcpy(to, slot, slot->bytes + (size_t)EKI_SLOT_HEADER);
    to->flags = eki_slot_next_flags(to->flags);
}

EKI_INLINE void scatter_slot(struct eki_sort *sort, const struct eki_slot *slot)
{
    if (!eki_slot_is_gone(slot))
        place_slot(sort->local,
                   sort->starts[eki_sort_class(sort, slot) - sort->first]++,
                   slot);
}

static void sort_by_class(struct eki_sort *given)
{
    struct eki_sort own = *given, *sort = &own; /* see count_slots() */
    int64_t at = 0;
    for (unsigned class = sort->low; class <= sort->high; class ++) {
        int64_t n = sort->starts[class - sort->first];
        sort->starts[class - sort->first] = at;
        at += n;
    }
    for_each(sort, scatter_slot);
}

static void sort_by_digits(const struct eki_sort *sort)
{
    struct eki_sort_key *other = sort->keys + sort->kept;
    sort_by_digit(sort->keys, other, sort->kept, 0);
    sort_by_digit(other, sort->keys, sort->kept, DIGIT_BITS);
    for (int64_t i = 0; i < sort->kept; i++)
        place_slot(sort->local, i, sort->keys[i].slot);
}

static void sort_into_spare(struct eki_sort *sort)
{
    struct eki_local *local = sort->local;
    if (sort->keys)
        sort_by_digits(sort);
    else
        sort_by_class(sort);
    eki_slots_swap(&local->seeds, &local->spare);
    eki_slots_swap(&local->seed_limit, &local->spare_limit);
    local->seed_end = local->seeds + sort->kept * local->slot_bytes;
}

/* Only the KEPT first of the seeds are left. */
static void keep_seeds(struct eki_local *local, int64_t kept)
{
    eki_local_cut(local, kept);
    local->seed_base = local->seeds;
    local->seed_end = local->seed_top = local->seeds + kept * local->slot_bytes;
    local->log_end = eki_local_logged(local);
    local->aside = local->gone = 0;
    local->has_hints = false;
}

static bool restore_sorted(struct eki_sort *sort, enum eki_order order)
{
    struct eki_local *local = sort->local;
    if (order == EKI_ORDER_LONGEST && sort->low == EKI_CLASS_NEVER &&
        !estimate_unmeasured(sort))
        return false;
    if (order == EKI_ORDER_LONGEST && !needs_in_place(sort)) {
        if (!eki_local_spare_reserve(local, sort->kept))
            return false;
        sort_into_spare(sort);
    } else if (!eki_sort_in_place(sort, order)) {
        return false;
    }
    keep_seeds(local, sort->kept);
    local->has_ranges = sort->high == (unsigned)sort->classes.range;
    return true;
}

bool eki_local_restore(struct eki_local *local, enum eki_order order,
                       int64_t *discarded)
{
    struct eki_sort sort = {
        .local = local, .low = UINT_MAX, .discarded = local->gone};
    eki_sort_find(&sort);
    set_classes(&sort);
    size_t classes = count_classes(&sort);
    if (order == EKI_ORDER_LONGEST && is_sparse(&sort, classes))
        sort.keys = eki_alloc(2 * (size_t)sort.slots, sizeof *sort.keys);
    else
        sort.starts = eki_alloc(classes, sizeof *sort.starts);
    if (!sort.keys && !sort.starts)
        return false;
    if (sort.keys)
        for_each(&sort, key_slot);
    else
        count_slots(&sort);
    bool done = true;
    if (sort.kept > 0) {
        done = restore_sorted(&sort, order);
    } else {
        keep_seeds(local, 0);
        local->has_ranges = false;
    }
    eki_free(sort.estimates);
    eki_free(sort.keys);
    eki_free(sort.starts);
    if (done && discarded)
        *discarded += sort.discarded;
    return done;
}
