/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of the next iteration: a counting sort over duration bins that
 * moves each slot once, into the spare array.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 4 (retention);
 * the order, longest first, is ours.
 */
#include "task/task.h"

#include <math.h>

double eki_deviation_relative(uint8_t deviation)
{
    return exp2(deviation / 64.0) - 1.0;
}

uint8_t eki_hint_byte(double cost)
{
    double byte = 128.0 + 8.0 * log2(cost);
    return (uint8_t)(byte < 0 ? 0 : byte > 255 ? 255 : byte + 0.5);
}

double eki_hint_cost(uint8_t byte)
{
    return exp2((byte - 128) / 8.0);
}

/* What is known of the durations of one function, for tasks never measured. */
struct estimate {
    double measured_ns, hints;
    int64_t measured, hinted;
};

struct sort {
    struct eki_local *local;
    int64_t *starts; /* per bin from FIRST on: where its next slot goes */
    unsigned first;  /* bin of starts[0] */
    struct estimate *estimates;
    unsigned low, high; /* bins seen */
    int64_t slots, gone, kept, discarded;
    unsigned functions;
};

typedef void visit_fn(struct sort *sort, const struct eki_slot *slot);

/* A discarded task and a range that was run are gone. */
EKI_INLINE bool is_gone(const struct eki_slot *slot)
{
    if (EKI_LIKELY((slot->flags & (EKI_SLOT_SEED | EKI_SLOT_RANGE |
                                   EKI_SLOT_DISCARDED)) == EKI_SLOT_SEED))
        return false;
    if (slot->flags & EKI_SLOT_RANGE)
        return !(slot->flags & EKI_SLOT_CANCELLED);
    return slot->flags & EKI_SLOT_DISCARDED || !(slot->flags & EKI_SLOT_SEED);
}

void eki_slot_of_remaining(const struct eki_remaining *remaining,
                           struct eki_slot *slot)
{
    slot->function = remaining->function;
    slot->bytes = sizeof remaining->index;
    slot->bin = remaining->bin;
    slot->deviation = remaining->bin ? 0 : eki_hint_byte(1.0);
    slot->flags = (uint8_t)(EKI_SLOT_SEED | remaining->flags);
    slot->id = remaining->id;
    memcpy(slot->payload, &remaining->index, sizeof remaining->index);
}

/* Call VISIT for each slot, in the order EXECUTED wants: last executed first.
 */
EKI_INLINE void for_each(struct sort *sort, visit_fn *visit)
{
    struct eki_local *local = sort->local;
    _Alignas(16) unsigned char memory[64] = {0};
    struct eki_slot *slot = (struct eki_slot *)memory;
    for (int64_t i = local->remaining_count; i > 0; i--) {
        eki_slot_of_remaining(&local->remaining[i - 1], slot);
        visit(sort, slot);
    }
    for (int64_t i = 1; i <= local->aside; i++)
        visit(sort, (const struct eki_slot *)(local->stack_bottom -
                                              i * local->slot_bytes));
    for (unsigned char *at = local->log_end; at != local->log;) {
        at -= local->slot_bytes;
        visit(sort, (const struct eki_slot *)at);
    }
    for (unsigned char *at = local->seed_base; at != local->seed_end;
         at += local->slot_bytes)
        visit(sort, (const struct eki_slot *)at);
}

EKI_INLINE unsigned measured_bin(const struct eki_slot *slot)
{
    return slot->bin == EKI_BIN_RANGE ? EKI_BIN_COUNT - 1 : slot->bin;
}

EKI_INLINE void bound_slot(struct sort *sort, const struct eki_slot *slot)
{
    unsigned bin = measured_bin(slot);
    if (is_gone(slot))
        return;
    sort->low = bin < sort->low ? bin : sort->low;
    sort->high = bin > sort->high ? bin : sort->high;
}

/* How many bins to count.  For few slots those seen: a look at each costs less
 * than to clear all bins.  Never measured tasks may fall into any. */
static size_t count_bins(struct sort *sort)
{
    enum {
        FEW = 4096
    };
    const struct eki_local *local = sort->local;
    sort->slots = eki_local_slots(local, local->seed_base, local->seed_end) +
                  eki_local_slots(local, local->log, local->log_end) +
                  local->aside + local->remaining_count;
    if (sort->slots > FEW)
        return EKI_BIN_COUNT;
    for_each(sort, bound_slot);
    /* Nothing stays: no bin is looked at. */
    if (sort->low > sort->high)
        return 1;
    if (sort->low == EKI_BIN_NEVER)
        return EKI_BIN_COUNT;
    sort->first = sort->low;
    return sort->high - sort->low + 1;
}

EKI_INLINE void count_slot(struct sort *sort, const struct eki_slot *slot)
{
    if (is_gone(slot)) {
        sort->gone++;
        sort->discarded += (slot->flags & EKI_SLOT_DISCARDED) != 0;
        return;
    }
    unsigned bin = measured_bin(slot);
    sort->starts[bin - sort->first]++;
    sort->low = bin < sort->low ? bin : sort->low;
    sort->high = bin > sort->high ? bin : sort->high;
}

EKI_INLINE void note_function(struct sort *sort, const struct eki_slot *slot)
{
    if (slot->function >= sort->functions)
        sort->functions = slot->function + 1u;
}

static void estimate_slot(struct sort *sort, const struct eki_slot *slot)
{
    if (is_gone(slot) || slot->flags & EKI_SLOT_RANGE)
        return;
    struct estimate *estimate = &sort->estimates[slot->function];
    if (slot->bin == EKI_BIN_NEVER) {
        estimate->hints += eki_hint_cost(slot->deviation);
        estimate->hinted++;
    } else {
        estimate->measured_ns += (double)eki_bin_ns(slot->bin);
        estimate->measured++;
    }
}

/* Mean of the function x hint / mean hint; a hint's scale where none ran. */
static unsigned estimated_bin(const struct sort *sort,
                              const struct eki_slot *slot)
{
    const struct estimate *estimate = &sort->estimates[slot->function];
    double mean = estimate->measured
                      ? estimate->measured_ns / (double)estimate->measured
                      : 1e6;
    double mean_hint = estimate->hints / (double)estimate->hinted;
    double ns = mean * eki_hint_cost(slot->deviation) / mean_hint;
    return eki_bin_of(ns < 1.0 ? 1 : ns > 1e15 ? (uint64_t)1e15 : (uint64_t)ns);
}

EKI_INLINE unsigned bin_of_slot(const struct sort *sort,
                                const struct eki_slot *slot)
{
    if (EKI_UNLIKELY(slot->bin == EKI_BIN_RANGE))
        return EKI_BIN_COUNT - 1;
    if (EKI_UNLIKELY(slot->bin == EKI_BIN_NEVER))
        return estimated_bin(sort, slot);
    return slot->bin;
}

/* Never measured tasks leave bin 0 for where they are expected. */
static void recount_slot(struct sort *sort, const struct eki_slot *slot)
{
    if (is_gone(slot) || slot->bin != EKI_BIN_NEVER)
        return;
    unsigned bin = estimated_bin(sort, slot);
    sort->starts[bin]++;
    sort->low = bin < sort->low ? bin : sort->low;
    sort->high = bin > sort->high ? bin : sort->high;
}

static bool estimate_unmeasured(struct sort *sort)
{
    for_each(sort, note_function);
    sort->estimates = eki_alloc(sort->functions, sizeof *sort->estimates);
    if (!sort->estimates)
        return false;
    for_each(sort, estimate_slot);
    sort->starts[EKI_BIN_NEVER] = 0;
    for_each(sort, recount_slot);
    return true;
}

EKI_INLINE void put_slot(struct sort *sort, const struct eki_slot *slot,
                         int64_t at)
{
    struct eki_local *local = sort->local;
    struct eki_slot *to = eki_slot_at(local->spare, at, local->slot_bytes);
    if (EKI_LIKELY(local->slot_bytes == 64))
        memcpy(to, slot, 64);
    else
        memcpy(to, slot, slot->bytes + (size_t)EKI_SLOT_HEADER);
    unsigned kept = to->flags & (EKI_SLOT_SEED | EKI_SLOT_RANGE | EKI_SLOT_SET);
    unsigned set =
        (to->flags & EKI_SLOT_COSTED) * (EKI_SLOT_SET / EKI_SLOT_COSTED);
    to->flags = (uint8_t)(kept | set);
    if (to->flags & EKI_SLOT_RANGE)
        to->flags |= EKI_SLOT_CANCELLED;
}

EKI_INLINE void scatter_slot(struct sort *sort, const struct eki_slot *slot)
{
    if (!is_gone(slot))
        put_slot(sort, slot,
                 sort->starts[bin_of_slot(sort, slot) - sort->first]++);
}

EKI_INLINE void append_slot(struct sort *sort, const struct eki_slot *slot)
{
    if (!is_gone(slot))
        put_slot(sort, slot, sort->starts[0]++);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = ((const struct eki_slot *)a)->id;
    uint64_t y = ((const struct eki_slot *)b)->id;
    return (x > y) - (x < y);
}

static bool spare_room(struct eki_local *local, int64_t slots)
{
    if (slots <= local->spare_slots)
        return true;
    eki_free(local->spare);
    local->spare_slots = 0;
    local->spare = eki_alloc((size_t)slots, local->slot_bytes);
    if (!local->spare)
        return false;
    local->spare_slots = slots;
    return true;
}

/* The spare array becomes the seeds, the seeds' memory the spare. */
static void swap_arrays(struct eki_local *local, int64_t slots)
{
    unsigned char *seeds = local->spare;
    int64_t room = local->spare_slots;
    local->spare = local->seeds;
    local->spare_slots =
        eki_local_slots(local, local->seeds, local->seed_limit);
    local->seeds = seeds;
    local->seed_limit = seeds + room * local->slot_bytes;
    local->seed_base = seeds;
    local->seed_end = local->seed_top = seeds + slots * local->slot_bytes;
    local->log_end = local->log;
    local->remaining_count = 0;
    local->aside = local->gone = 0;
    local->has_hints = false;
}

static void bins_to_starts(struct sort *sort)
{
    int64_t at = 0;
    for (unsigned bin = sort->low; bin <= sort->high; bin++) {
        int64_t n = sort->starts[bin - sort->first];
        sort->starts[bin - sort->first] = at;
        at += n;
    }
}

static void fill_spare(struct sort *sort, enum eki_order order)
{
    if (order == EKI_ORDER_LONGEST) {
        bins_to_starts(sort);
        for_each(sort, scatter_slot);
        return;
    }
    sort->starts[0] = 0;
    for_each(sort, append_slot);
    if (order == EKI_ORDER_ORIGINAL)
        qsort(sort->local->spare, (size_t)sort->kept, sort->local->slot_bytes,
              compare_ids);
}

bool eki_local_restore(struct eki_local *local, enum eki_order order,
                       int64_t *discarded)
{
    struct sort sort = {
        .local = local, .low = EKI_BIN_COUNT, .discarded = local->gone};
    bool done = false;
    sort.starts = eki_alloc(count_bins(&sort), sizeof *sort.starts);
    if (!sort.starts)
        return false;
    for_each(&sort, count_slot);
    sort.kept = sort.slots - sort.gone;
    if (sort.kept == 0) {
        eki_local_clear(local);
        done = true;
        goto free_starts;
    }
    if (!spare_room(local, sort.kept))
        goto free_starts;
    if (order == EKI_ORDER_LONGEST && sort.low == EKI_BIN_NEVER &&
        !estimate_unmeasured(&sort))
        goto free_starts;
    fill_spare(&sort, order);
    swap_arrays(local, sort.kept);
    local->has_ranges = sort.high == EKI_BIN_COUNT - 1;
    done = true;
    eki_free(sort.estimates);
free_starts:
    eki_free(sort.starts);
    if (done && discarded)
        *discarded += sort.discarded;
    return done;
}
