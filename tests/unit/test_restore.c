/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restore: orders, room and ranges of restored seeds, and every failing
 * allocation.
 */
#include "slots.h"

#include <malloc.h>

enum {
    ORDERS = EKI_ORDER_ORIGINAL + 1
};

static void add_seeds(struct eki_local *local, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        fill(eki_local_add_seed(local), (uint64_t)i, EKI_SLOT_SEED,
             local->slot_bytes);
}

static void never_measured_tasks_go_by_their_hints(struct eki_local *local)
{
    static const double hints[] = {1.0, 2.0, 4.0, 1.0};
    eki_local_init(local, 64);
    for (int i = 0; i < 4; i++) {
        struct eki_slot *slot = eki_local_add_seed(local);
        fill(slot, (uint64_t)(3 * i), EKI_SLOT_SEED, 64);
        slot->deviation = eki_hint_byte(hints[i]);
    }
    /* The mean is 1 ms, the mean hint 2: between these two lies hint 2. */
    for (int i = 4; i < 6; i++) {
        struct eki_slot *slot = eki_local_add_seed(local);
        fill(slot, (uint64_t)(3 * i), EKI_SLOT_SEED, 64);
        slot->bin = eki_bin_of(i == 4 ? 700000 : 1300000);
    }
    CHECK(eki_local_restore(local, EKI_ORDER_LONGEST, NULL));
    static const int order[] = {0, 3, 4, 1, 5, 2};
    int swap = seed_at(local, 0)->id == 9;
    for (int i = 0; i < 6; i++) {
        int expected = i < 2 && swap ? order[1 - i] : order[i];
        CHECK_EQ_INT(seed_at(local, i)->id, 3 * expected);
        CHECK((seed_at(local, i)->bin == EKI_BIN_NEVER) == (expected < 4));
    }
}

static void reserved_seeds_stay_where_they_are(struct eki_local *local)
{
    eki_local_init(local, 64);
    add_seeds(local, 3);
    WITHOUT_MEMORY(1, CHECK(!eki_local_seeds_reserve(local, 1000)));
    CHECK(eki_local_seeds_reserve(local, 1000));
    const unsigned char *seeds = local->seeds;
    for (int i = 3; i < 1003; i++)
        fill(eki_local_add_seed(local), (uint64_t)i, EKI_SLOT_SEED, 64);
    CHECK(local->seeds == seeds);
    for (int i = 0; i < 1003; i++)
        CHECK_EQ_INT(seed_at(local, i)->id, i);
    CHECK(eki_local_seeds_reserve(local, 0));
    CHECK(eki_local_check(local) == NULL);
}

static void joined_seeds_lie_on_top(void)
{
    struct eki_local local, from;
    eki_local_init(&local, 64);
    eki_local_init(&from, 64);
    CHECK(eki_local_join_seeds(&local, &from));
    CHECK_EQ_INT(seed_count(&local), 0);
    /* The first time there are none, and the array itself is taken. */
    for (int i = 0; i < 300; i++) {
        for (int k = 0; k < 10; k++)
            fill(eki_local_add_seed(&from), (uint64_t)(10 * i + k),
                 EKI_SLOT_SEED, 64);
        if (i == 1) {
            WITHOUT_MEMORY(1, CHECK(!eki_local_join_seeds(&local, &from)));
            CHECK_EQ_INT(seed_count(&local), 10);
            CHECK_EQ_INT(seed_count(&from), 10);
        }
        CHECK(eki_local_join_seeds(&local, &from));
        CHECK_EQ_INT(seed_count(&from), 0);
        CHECK_EQ_INT(seed_count(&local), 10 * (i + 1));
        CHECK(eki_local_check(&local) == NULL);
        CHECK(eki_local_check(&from) == NULL);
    }
    for (int i = 0; i < 3000; i++) {
        CHECK_EQ_INT(seed_at(&local, i)->id, i);
        CHECK(is_whole(seed_at(&local, i), 64));
    }
    eki_local_free(&local);
    eki_local_free(&from);
}

static void hints_order_where_nothing_ran(struct eki_local *local)
{
    eki_local_init(local, 64);
    for (int i = 0; i < 50; i++) {
        struct eki_slot *slot = eki_local_add_seed(local);
        fill(slot, (uint64_t)i, EKI_SLOT_SEED, 64);
        slot->function = 0;
        slot->deviation = eki_hint_byte(5.0 + (i * 37) % 50);
    }
    CHECK(eki_local_restore(local, EKI_ORDER_LONGEST, NULL));
    for (int i = 1; i < 50; i++)
        CHECK(seed_at(local, i - 1)->deviation <= seed_at(local, i)->deviation);
}

/* N tasks of 2,048 ns and up to so many more. */
static void add_measured(struct eki_local *local, int64_t n, int64_t more_ns)
{
    add_seeds(local, n);
    for (int64_t i = 0; i < n; i++)
        seed_at(local, i)->bin =
            eki_bin_of(2048 + (uint64_t)(i * 7919 % more_ns));
}

static void short_tasks_of_an_octave_keep_their_order(struct eki_local *local)
{
    uint64_t last[64] = {0};
    eki_local_init(local, 64);
    add_measured(local, 1000, 1000003);
    CHECK(eki_local_restore(local, EKI_ORDER_LONGEST, NULL));
    for (int64_t i = 0; i < 1000; i++) {
        const struct eki_slot *slot = seed_at(local, i);
        int octave = (slot->bin - 1) / 256;
        if (octave < 17)
            CHECK(i == 0 || last[octave] < slot->id || slot->id == 0);
        else
            CHECK(seed_at(local, i - 1)->bin <= slot->bin);
        last[octave] = slot->id;
    }
}

/* Far more classes than tasks; some have the same. */
static void few_tasks_far_apart_are_sorted(struct eki_local *local)
{
    int64_t discarded = 0;
    eki_local_init(local, 64);
    add_seeds(local, 60);
    for (int i = 0; i < 60; i++)
        seed_at(local, i)->bin =
            eki_bin_of((i % 4 + UINT64_C(50)) << (i * 7 % 13 * 2));
    for (int i = 0; i < 60; i += 5)
        seed_at(local, i)->flags |= EKI_SLOT_DISCARDED;
    WITHOUT_MEMORY(1,
                   CHECK(!eki_local_restore(local, EKI_ORDER_LONGEST, NULL)));
    CHECK_EQ_INT(seed_count(local), 60);
    CHECK(eki_local_restore(local, EKI_ORDER_LONGEST, &discarded));
    CHECK_EQ_INT(discarded, 12);
    CHECK_EQ_INT(seed_count(local), 48);
    for (int i = 1; i < 48; i++) {
        const struct eki_slot *last = seed_at(local, i - 1);
        const struct eki_slot *slot = seed_at(local, i);
        CHECK(is_whole(slot, 64));
        if (slot->bin > 1 + 256 * 17)
            CHECK(last->bin < slot->bin ||
                  (last->bin == slot->bin && last->id < slot->id));
    }
}

static void many_tasks_of_an_octave_stay_where_they_are(struct eki_local *local)
{
    int64_t n = 3 * EKI_SPARE_BYTES / 64, wrong = 0;
    eki_local_init(local, 64);
    add_measured(local, n, 2000);
    CHECK(eki_local_restore(local, EKI_ORDER_LONGEST, NULL));
    for (int64_t i = 0; i < n; i++)
        wrong += (int64_t)seed_at(local, i)->id != i;
    CHECK_EQ_INT(wrong, 0);
}

/* Slots for which there is memory. */
static int64_t room_of(const struct eki_local *local)
{
    return eki_local_slots(local, local->seeds, local->seed_limit) +
           eki_local_slots(local, local->stack, local->stack_limit) +
           eki_local_slots(local, local->log, local->log_limit) +
           eki_local_slots(local, local->spare, local->spare_limit);
}

/* N tasks in the log, as ranges leave their indices, of scattered durations. */
static void log_tasks(struct eki_local *local, int64_t n)
{
    unsigned char memory[128] = {0};
    struct eki_slot *slot = (struct eki_slot *)memory;
    CHECK(eki_local_log_reserve(local, n));
    for (int64_t i = 0; i < n; i++) {
        fill(slot, (uint64_t)i, EKI_SLOT_SEED, local->slot_bytes);
        slot->bin = eki_bin_of((uint64_t)(i * 7919 % 100003));
        CHECK(eki_local_log(local, slot) != NULL);
    }
}

/* What N logged tasks and five seeds have become: the first time. */
static void check_first(const struct eki_local *local, int64_t n,
                        enum eki_order order)
{
    int64_t count[2] = {0, 0}, wrong = 0;
    for (int64_t i = 0; i < n + 5; i++) {
        const struct eki_slot *slot = seed_at(local, i);
        const struct eki_slot *last = seed_at(local, i > 0 ? i - 1 : 0);
        int64_t at = order == EKI_ORDER_REVERSED ? n + 4 - i : i;
        int64_t executed = at < n ? n - 1 - at : at - n;
        count[slot->bin != EKI_BIN_NEVER]++;
        wrong += !is_whole(slot, local->slot_bytes);
        if (order == EKI_ORDER_EXECUTED || order == EKI_ORDER_REVERSED)
            wrong += (int64_t)slot->id != executed;
        else if (order == EKI_ORDER_ORIGINAL)
            wrong += last->id > slot->id;
        else
            wrong += slot->bin && !may_start_before(slot, last);
    }
    CHECK_EQ_INT(wrong, 0);
    CHECK_EQ_INT(count[0], 5);
    CHECK_EQ_INT(count[1], n);
}

/* However often they are restored, and in which order. */
static void many_tasks_take_a_slot_each(void)
{
    static const uint32_t sizes[] = {32, 64, 80};
    for (int run = 0; run < 3 * ORDERS; run++) {
        struct eki_local local;
        int64_t n = 3 * EKI_SPARE_BYTES / sizes[run / ORDERS];
        eki_local_init(&local, sizes[run / ORDERS]);
        add_seeds(&local, 5);
        log_tasks(&local, n);
        int64_t room = room_of(&local);
        CHECK(room <= 2 * n); /* arrays double */
        for (int round = 0; round < 3; round++) {
            enum eki_order order = (enum eki_order)((run + round) % ORDERS);
            CHECK(eki_local_restore(&local, order, NULL));
            CHECK(room_of(&local) <= room);
            CHECK_EQ_INT(seed_count(&local), n + 5);
            if (round == 0)
                check_first(&local, n, order);
        }
        eki_local_shed(&local);
        CHECK_EQ_INT(room_of(&local),
                     eki_local_slots(&local, local.seeds, local.seed_limit));
        CHECK_EQ_INT(seed_count(&local), n + 5);
        eki_local_free(&local);
    }
}

/* Of arrays that an iteration needed once, the next restores leave little. */
static void large_arrays_are_given_back(struct eki_local *local)
{
    int64_t n = 8 * EKI_SPARE_BYTES / 64;
    eki_local_init(local, 64);
    add_seeds(local, n);
    log_tasks(local, n);
    CHECK(eki_local_restore(local, EKI_ORDER_LONGEST, NULL));
    CHECK(room_of(local) >= 3 * n);
    for (int64_t i = 10; i < 2 * n; i++)
        seed_at(local, i)->flags |= EKI_SLOT_DISCARDED;
    for (int round = 0; round < 3; round++)
        CHECK(eki_local_restore(local, EKI_ORDER_LONGEST, NULL));
    CHECK_EQ_INT(seed_count(local), 10);
    CHECK(room_of(local) <= 6 * EKI_SPARE_BYTES / 64);
    add_seeds(local, n);
    CHECK_EQ_INT(seed_count(local), n + 10);
}

static void add_range(struct eki_local *local, int64_t first, int64_t last,
                      bool has_run)
{
    struct eki_slot *slot = eki_local_add_seed(local);
    struct eki_range range = {first, last};
    fill(slot, (uint64_t)first, EKI_SLOT_SEED | EKI_SLOT_RANGE,
         local->slot_bytes);
    slot->flags |= has_run ? 0 : EKI_SLOT_CANCELLED;
    local->has_ranges = true;
    slot->bytes = sizeof range;
    slot->bin = EKI_BIN_RANGE;
    memcpy(slot->payload, &range, sizeof range);
}

static void ranges_stay_until_they_ran(void)
{
    for (int order = 0; order < ORDERS; order++) {
        struct eki_local local;
        eki_local_init(&local, 64);
        add_range(&local, 0, 10, true);
        add_range(&local, 10, 30, false);
        fill(eki_local_add_seed(&local), 99, EKI_SLOT_SEED, 64);
        seed_at(&local, 2)->bin = eki_bin_of(5000);
        CHECK_EQ_INT(eki_local_seed_tasks(&local), 31);
        CHECK(eki_local_restore(&local, (enum eki_order)order, NULL));
        CHECK_EQ_INT(seed_count(&local), 2);
        CHECK_EQ_INT(eki_local_seed_tasks(&local), 21);
        /* Longest first: a range is longer than any task. */
        if (order == EKI_ORDER_LONGEST)
            CHECK_EQ_INT(seed_at(&local, 1)->id, 10);
        CHECK_EQ_INT(eki_local_cancel(&local), 21);
        CHECK(eki_local_restore(&local, (enum eki_order)order, NULL));
        CHECK_EQ_INT(eki_local_seed_tasks(&local), 21);
        eki_local_free(&local);
    }
}

static void what_is_not_kept_goes(struct eki_local *local)
{
    int64_t discarded = 0;
    eki_local_init(local, 64);
    add_seeds(local, 10);
    for (int i = 0; i < 4; i++)
        seed_at(local, i)->flags |= EKI_SLOT_DISCARDED;
    for (int i = 0; i < 5; i++)
        fill(eki_local_push(local), 100 + (uint64_t)i,
             i == 0 ? EKI_SLOT_SEED : 0, 64);
    CHECK_EQ_INT(eki_local_cancel(local), 15);
    CHECK(eki_local_restore(local, EKI_ORDER_ORIGINAL, &discarded));
    CHECK_EQ_INT(discarded, 4);
    CHECK_EQ_INT(seed_count(local), 7);
    CHECK_EQ_INT(seed_at(local, 6)->id, 100);
}

static void restoring_nothing_leaves_nothing(struct eki_local *local)
{
    eki_local_init(local, 64);
    CHECK(eki_local_restore(local, EKI_ORDER_LONGEST, NULL));
    add_seeds(local, 3);
    for (int i = 0; i < 3; i++)
        seed_at(local, i)->flags |= EKI_SLOT_DISCARDED;
    CHECK(eki_local_restore(local, EKI_ORDER_LONGEST, NULL));
    CHECK_EQ_INT(seed_count(local), 0);
    CHECK(eki_local_check(local) == NULL);
    add_seeds(local, 200);
    CHECK_EQ_INT(seed_count(local), 200);
    eki_local_clear(local);
    CHECK(eki_local_is_empty(local));
}

/* Restored again and again without running: the multiset is the same. */
static void restores_conserve_all(struct eki_local *local)
{
    eki_local_init(local, 64);
    add_seeds(local, 1000);
    for (int64_t i = 0; i < 1000; i++)
        seed_at(local, i)->bin = eki_bin_of((uint64_t)((i * 7919) % 100003));
    for (int round = 0; round < 9; round++) {
        CHECK(eki_local_restore(local, (enum eki_order)(round % ORDERS), NULL));
        uint64_t sum = 0;
        for (int64_t i = 0; i < 1000; i++)
            sum += seed_at(local, i)->id;
        CHECK_EQ_INT(seed_count(local), 1000);
        CHECK_EQ_INT(sum, 499500);
    }
}

static void growth_that_fails_loses_nothing(struct eki_local *local)
{
    eki_local_init(local, 64);
    eki_memory_fail(1);
    CHECK(eki_local_add_seed(local) == NULL);
    add_seeds(local, 64);
    eki_memory_fail(1);
    CHECK(eki_local_add_seed(local) == NULL);
    CHECK_EQ_INT(seed_count(local), 64);
    for (int i = 0; i < 64; i++)
        fill(eki_local_push(local), (uint64_t)i, EKI_SLOT_SEED, 64);
    eki_memory_fail(1);
    CHECK(eki_local_push(local) == NULL);
    eki_memory_fail(1);
    CHECK(!eki_local_reserve(local, 100));
    eki_memory_fail(1);
    CHECK(eki_local_log(local, seed_at(local, 0)) == NULL);
    WITHOUT_MEMORY(1, CHECK(!eki_local_log_reserve(local, 1000)));
    CHECK(eki_local_check(local) == NULL);
    CHECK_EQ_INT(eki_local_count(local), 128);
    for (int i = 0; i < 64; i++) {
        CHECK(is_whole(seed_at(local, i), 64));
        CHECK(is_whole(eki_slot_at(local->stack_bottom, i, 64), 64));
    }
}

int main(void)
{
    /* Restores sort with 131 kB of memory each: no mmap for that. */
    mallopt(M_MMAP_THRESHOLD, 1 << 24);
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    RUN_WITH(struct eki_local, eki_local_free,
             never_measured_tasks_go_by_their_hints);
    RUN_WITH(struct eki_local, eki_local_free, hints_order_where_nothing_ran);
    RUN_WITH(struct eki_local, eki_local_free,
             short_tasks_of_an_octave_keep_their_order);
    RUN_WITH(struct eki_local, eki_local_free, few_tasks_far_apart_are_sorted);
    RUN_WITH(struct eki_local, eki_local_free,
             many_tasks_of_an_octave_stay_where_they_are);
    RUN(many_tasks_take_a_slot_each);
    RUN_WITH(struct eki_local, eki_local_free, large_arrays_are_given_back);
    RUN(ranges_stay_until_they_ran);
    RUN_WITH(struct eki_local, eki_local_free, what_is_not_kept_goes);
    RUN_WITH(struct eki_local, eki_local_free,
             restoring_nothing_leaves_nothing);
    RUN_WITH(struct eki_local, eki_local_free, restores_conserve_all);
    RUN_WITH(struct eki_local, eki_local_free, growth_that_fails_loses_nothing);
    RUN_WITH(struct eki_local, eki_local_free,
             reserved_seeds_stay_where_they_are);
    RUN(joined_seeds_lie_on_top);
    return check_result();
}
