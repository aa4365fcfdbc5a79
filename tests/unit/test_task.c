/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * task: bins, hints, and the local part of a worker against a plain list, with
 * every restore order and every failing allocation.
 */
#include "task/task.h"

#include <malloc.h>

#include "check.h"

static void bins_decode_to_within_a_five_hundredth(void)
{
    struct eki_random random;
    eki_random_seed(&random, 1, 1);
    for (int i = 0; i < 200000; i++) {
        uint64_t ns =
            eki_random_next(&random) >> (1 + eki_random_below(&random, 63));
        uint64_t middle = eki_bin_ns(eki_bin_of(ns));
        double error = fabs((double)middle - (double)ns);
        if (ns > 0 && !CHECK(error <= (double)ns / 500.0 + 0.5))
            return;
    }
    CHECK_EQ_INT(eki_bin_of(0), eki_bin_of(1));
}

static void small_durations_are_exact(void)
{
    for (uint64_t ns = 1; ns < 512; ns++)
        CHECK_EQ_INT(eki_bin_ns(eki_bin_of(ns)), ns);
}

static void bins_are_monotone(void)
{
    for (int bin = 1; bin < EKI_BIN_COUNT - 1; bin++) {
        if (!CHECK(eki_bin_ns((uint16_t)(bin + 1)) >=
                   eki_bin_ns((uint16_t)bin)))
            return;
    }
    uint16_t last = 0;
    for (uint64_t ns = 1; ns < 100000; ns++) {
        if (!CHECK(eki_bin_of(ns) >= last))
            return;
        last = eki_bin_of(ns);
    }
    CHECK_EQ_INT(eki_bin_of(UINT64_MAX), EKI_BIN_COUNT - 1);
}

static void bins_survive_being_decoded(void)
{
    /* Below 256 ns several bins hold the same nanosecond. */
    for (int bin = 1 + 8 * 256; bin < EKI_BIN_COUNT; bin++) {
        if (!CHECK_EQ_INT(eki_bin_of(eki_bin_ns((uint16_t)bin)), bin))
            return;
    }
}

static void special_bins_have_no_duration(void)
{
    CHECK_EQ_INT(eki_bin_ns(EKI_BIN_NEVER), 0);
    CHECK_EQ_INT(eki_bin_ns(EKI_BIN_RANGE), 0);
    CHECK_EQ_INT(EKI_BIN_LONG, eki_bin_of(EKI_LONG_NS));
    CHECK(EKI_BIN_RANGE > EKI_BIN_COUNT);
}

static void deviation_follows_the_change(void)
{
    uint8_t deviation = 0;
    for (int i = 0; i < 100; i++)
        deviation = eki_deviation_next(deviation, 3000, 3256);
    /* An octave to and fro is 256 bins: 64 steps; whole steps of a quarter. */
    CHECK(deviation >= 61 && deviation <= 64);
    CHECK_NEAR(eki_deviation_relative(64), 1.0, 1e-12);
    CHECK_NEAR(eki_deviation_relative(0), 0.0, 1e-12);
    for (int i = 0; i < 100; i++)
        deviation = eki_deviation_next(deviation, 3000, 3000);
    CHECK(deviation <= 3);
    for (int i = 0; i < 100; i++)
        deviation = eki_deviation_next(deviation, 1, 16000);
    CHECK(deviation >= 252);
}

static void hints_survive_their_byte(void)
{
    CHECK_EQ_INT(eki_hint_byte(1.0), 128);
    CHECK_NEAR(eki_hint_cost(128), 1.0, 1e-12);
    for (double cost = 1e-4; cost < 5e4; cost *= 1.07)
        CHECK_NEAR(eki_hint_cost(eki_hint_byte(cost)) / cost, 1.0, 0.05);
    CHECK_EQ_INT(eki_hint_byte(1e-300), 0);
    CHECK_EQ_INT(eki_hint_byte(1e300), 255);
}

static void ids_tell_their_home(void)
{
    CHECK_EQ_INT(eki_id_home(eki_id(163839, 12345)), 163839);
    CHECK_EQ_INT(eki_id_home(eki_id(0, (UINT64_C(1) << EKI_ID_BITS) - 1)), 0);
}

static void slots_have_room_for_their_payload(void)
{
    CHECK_EQ_INT(eki_slot_bytes(0), 16);
    CHECK_EQ_INT(eki_slot_bytes(1), 32);
    CHECK_EQ_INT(eki_slot_bytes(16), 32);
    CHECK_EQ_INT(eki_slot_bytes(48), 64);
    CHECK_EQ_INT(eki_slot_bytes(49), 80);
}

static void fill(struct eki_slot *slot, uint64_t id, uint8_t flags,
                 uint32_t slot_bytes)
{
    slot->function = (uint16_t)(id % 3);
    slot->bytes = (uint16_t)(slot_bytes - EKI_SLOT_HEADER);
    slot->bin = EKI_BIN_NEVER;
    slot->deviation = 128;
    slot->flags = flags;
    slot->id = id;
    for (int i = 0; i < slot->bytes; i++)
        slot->payload[i] = (unsigned char)(id * 7 + (unsigned)i);
}

static bool is_whole(const struct eki_slot *slot, uint32_t slot_bytes)
{
    if (slot->bytes != slot_bytes - EKI_SLOT_HEADER)
        return false;
    for (int i = 0; i < slot->bytes; i++) {
        if (slot->payload[i] != (unsigned char)(slot->id * 7 + (unsigned)i))
            return false;
    }
    return true;
}

static void add_seeds(struct eki_local *local, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        fill(eki_local_add_seed(local), (uint64_t)i, EKI_SLOT_SEED,
             local->slot_bytes);
}

static struct eki_slot *seed_at(const struct eki_local *local, int64_t i)
{
    return eki_slot_at(local->seed_base, i, local->slot_bytes);
}

static int64_t seed_count(const struct eki_local *local)
{
    return eki_local_slots(local, local->seed_base, local->seed_top);
}

enum {
    LIST_MOST = 4000
};

struct list {
    uint64_t ids[LIST_MOST];
    int64_t count;
};

static void list_push(struct list *list, uint64_t id)
{
    if (CHECK(list->count < LIST_MOST))
        list->ids[list->count++] = id;
}

static uint64_t list_pop(struct list *list)
{
    return list->ids[--list->count];
}

static void list_drop_oldest(struct list *list, int64_t n)
{
    memmove(list->ids, list->ids + n,
            (size_t)(list->count - n) * sizeof *list->ids);
    list->count -= n;
}

static void list_put_below(struct list *list, const uint64_t *ids, int64_t n)
{
    memmove(list->ids + n, list->ids, (size_t)list->count * sizeof *ids);
    memcpy(list->ids, ids, (size_t)n * sizeof *ids);
    list->count += n;
}

/* Ids are flagged: bit 62 not kept, so that a list tells what restores. */
#define NOT_KEPT (UINT64_C(1) << 40)

struct model {
    struct eki_local local;
    struct eki_random random;
    struct list seeds, stack;       /* still to run, oldest first */
    struct list published;          /* of the open publication */
    int64_t claimed, from_stack;    /* ... that thieves have; from the stack */
    struct list ran_seeds, ran_log; /* that restore, in order of execution */
    struct list cancelled;
    int64_t discarded;
    uint64_t next;
    bool is_over; /* cancelled: nothing runs or is published any more */
    const struct eki_slot *running; /* in its place; NULL: none */
    uint64_t running_id;
    int64_t hole; /* tasks below its place; -1: gone past */
};

static uint64_t below(struct model *model, int64_t n)
{
    return eki_random_below(&model->random, (uint64_t)n);
}

static void model_push(struct model *model)
{
    bool kept = below(model, 2) == 0;
    uint64_t id = model->next++ | (kept ? 0 : NOT_KEPT);
    struct eki_slot *slot = eki_local_push(&model->local);
    fill(slot, id, kept ? EKI_SLOT_SEED : 0, model->local.slot_bytes);
    list_push(&model->stack, id);
}

/* The task that runs in its place ends; its last child moves there. */
static void model_leave(struct model *model)
{
    struct eki_local *local = &model->local;
    struct list *stack = &model->stack;
    if (!model->running)
        return;
    eki_local_leave(local, local->running, local->slot_bytes);
    local->running = NULL;
    model->running = NULL;
    if (model->hole < 0 || model->hole == stack->count)
        return;
    uint64_t id = list_pop(stack), *place = stack->ids + model->hole;
    memmove(place + 1, place,
            (size_t)(stack->count - model->hole) * sizeof *place);
    *place = id;
    stack->count++;
}

/* The newest of the stack begins to run in its place. */
static void model_run_in_place(struct model *model)
{
    struct eki_local *local = &model->local;
    local->running = (struct eki_slot *)(local->stack_top - local->slot_bytes);
    model->running = local->running;
    model->running_id = list_pop(&model->stack);
    model->hole = model->stack.count;
}

/* What eki_worker_take() does; then the task runs. */
static void model_take(struct model *model)
{
    model_leave(model);
    struct eki_local *local = &model->local;
    bool is_stack = model->stack.count > 0;
    bool discards = below(model, 5) == 0;
    if (model->is_over || (!is_stack && model->seeds.count == 0))
        return;
    if (is_stack && model->stack.ids[model->stack.count - 1] & NOT_KEPT &&
        below(model, 3) > 0) {
        model_run_in_place(model);
        return;
    }
    struct eki_slot *slot;
    if (is_stack) {
        slot = (struct eki_slot *)(local->stack_top - local->slot_bytes);
        CHECK_EQ_INT(slot->id, model->stack.ids[model->stack.count - 1]);
        local->stack_top -= local->slot_bytes;
        if (slot->flags & EKI_SLOT_SEED)
            slot = eki_local_log(local, slot);
    } else {
        local->seed_top -= local->slot_bytes;
        slot = (struct eki_slot *)local->seed_top;
    }
    uint64_t id = list_pop(is_stack ? &model->stack : &model->seeds);
    CHECK_EQ_INT(slot->id, id);
    CHECK(is_whole(slot, local->slot_bytes));
    slot->bin = eki_bin_of(1 + below(model, 1 << below(model, 24)));
    if (id & NOT_KEPT)
        return;
    if (discards) {
        slot->flags |= EKI_SLOT_DISCARDED;
        model->discarded++;
    } else {
        list_push(is_stack ? &model->ran_log : &model->ran_seeds, id);
    }
}

static void model_publish(struct model *model)
{
    struct eki_local *local = &model->local;
    unsigned char to[16 * 400];
    if (model->is_over || model->published.count > 0)
        return;
    eki_local_pass_hole(local);
    if (model->hole == 0 && model->stack.count > 0)
        model->hole = -1;
    bool has_hole = model->running && model->hole >= 0;
    int64_t stacked = has_hole ? model->hole : model->stack.count;
    int64_t most = stacked + model->seeds.count;
    CHECK_EQ_INT(eki_local_count_free(local), most);
    most = most < 16 ? most : 16;
    if (most == 0)
        return;
    int64_t n = 1 + (int64_t)below(model, most);
    eki_local_publish(local, to, n);
    int64_t spawned = n < stacked ? n : stacked;
    if (has_hole)
        model->hole -= spawned;
    model->from_stack = spawned;
    model->claimed = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t id =
            i < spawned ? model->stack.ids[i] : model->seeds.ids[i - spawned];
        const struct eki_slot *slot = eki_slot_at(to, i, local->slot_bytes);
        CHECK_EQ_INT(slot->id, id);
        CHECK(is_whole(slot, local->slot_bytes));
        list_push(&model->published, id);
    }
    list_drop_oldest(&model->stack, spawned);
    list_drop_oldest(&model->seeds, n - spawned);
}

static void model_claim(struct model *model)
{
    int64_t rest = model->published.count - model->claimed;
    if (rest > 0)
        model->claimed += 1 + (int64_t)below(model, rest);
}

static void model_close(struct model *model)
{
    struct list *published = &model->published;
    int64_t n = published->count, claimed = model->claimed;
    if (n == 0)
        return;
    if (claimed == n && below(model, 2) == 0) {
        eki_local_published(&model->local);
    } else {
        eki_local_take_back(&model->local, n - claimed);
        int64_t spawned = model->from_stack;
        int64_t from = claimed > spawned ? claimed : spawned;
        list_put_below(&model->seeds, published->ids + from, n - from);
        if (claimed < spawned)
            list_put_below(&model->stack, published->ids + claimed,
                           spawned - claimed);
        if (claimed < spawned && model->hole >= 0)
            model->hole += spawned - claimed;
    }
    published->count = model->claimed = 0;
}

static void model_cancel(struct model *model)
{
    struct list *lists[] = {&model->seeds, &model->stack};
    int64_t n = model->seeds.count + model->stack.count;
    if (below(model, 20) != 0)
        return;
    model_leave(model);
    model_close(model);
    n = model->seeds.count + model->stack.count;
    CHECK_EQ_INT(eki_local_cancel(&model->local), n);
    for (int i = 0; i < 2; i++) {
        while (lists[i]->count > 0) {
            uint64_t id = list_pop(lists[i]);
            if (!(id & NOT_KEPT))
                list_push(&model->cancelled, id);
        }
    }
    model->is_over = true;
}

static void model_compare(struct model *model)
{
    const struct eki_local *local = &model->local;
    const char *wrong = eki_local_check(local);
    int64_t seeds = seed_count(local);
    int64_t stacked = eki_local_stacked(local);
    int64_t hole = model->running ? model->hole : -1;
    CHECK_EQ_TEXT(wrong ? wrong : "", "");
    CHECK_EQ_INT(eki_local_count(local),
                 model->seeds.count + model->stack.count);
    CHECK((model->seeds.count + model->stack.count == 0 && hole < 0) ==
          eki_local_is_empty(local));
    if (!CHECK_EQ_INT(seeds, model->seeds.count) ||
        !CHECK_EQ_INT(stacked, model->stack.count))
        return;
    for (int64_t i = 0; i < seeds; i++)
        CHECK_EQ_INT(seed_at(local, i)->id, model->seeds.ids[i]);
    for (int64_t i = 0; i < stacked; i++)
        CHECK_EQ_INT(eki_slot_at(local->stack_bottom,
                                 i + (hole >= 0 && i >= hole),
                                 local->slot_bytes)
                         ->id,
                     model->stack.ids[i]);
    /* What runs stays as it is, where it is. */
    CHECK(!model->running || (model->running->id == model->running_id &&
                              is_whole(model->running, local->slot_bytes)));
}

static void model_op(struct model *model)
{
    switch (below(model, 8)) {
    case 0:
    case 1:
        for (int64_t n = below(model, 50) == 0 ? 40 : 1; n > 0; n--)
            model_push(model);
        break;
    case 2:
    case 3:
        model_take(model);
        break;
    case 4:
        model_publish(model);
        break;
    case 5:
        model_claim(model);
        break;
    case 6:
        model_close(model);
        break;
    default:
        if (below(model, 4) == 0)
            CHECK(eki_local_reserve(&model->local, (int64_t)below(model, 40)));
        if (below(model, 10) == 0)
            model_cancel(model);
        if (model->stack.count == 0)
            eki_local_reset_stack(&model->local);
    }
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void list_sort(struct list *list)
{
    qsort(list->ids, (size_t)list->count, sizeof *list->ids, compare_ids);
}

/* Whether a task may start before one below it in the order LONGEST: it is not
 * shorter, or by less than half, or both come in batches. */
static bool may_start_before(const struct eki_slot *slot,
                             const struct eki_slot *below_it)
{
    return below_it->bin < slot->bin + 256 || below_it->bin < eki_bin_of(2048);
}

static void list_append(struct list *list, const struct list *more)
{
    for (int64_t i = 0; i < more->count; i++)
        list_push(list, more->ids[i]);
}

/* The seeds are the ids of EXPECTED, in any order; their order by ORDER. */
static void check_restored(struct model *model, const struct list *expected,
                           enum eki_order order)
{
    const struct eki_local *local = &model->local;
    struct list *found = calloc(1, sizeof *found);
    for (int64_t i = 0; i < seed_count(local); i++) {
        const struct eki_slot *slot = seed_at(local, i);
        CHECK(is_whole(slot, local->slot_bytes));
        CHECK_EQ_INT(slot->flags, EKI_SLOT_SEED);
        list_push(found, slot->id);
        if (i == 0)
            continue;
        const struct eki_slot *below_it = seed_at(local, i - 1);
        if (order == EKI_ORDER_ORIGINAL)
            CHECK(below_it->id < slot->id);
        if (order == EKI_ORDER_LONGEST && slot->bin && below_it->bin)
            CHECK(may_start_before(slot, below_it));
    }
    list_sort(found);
    CHECK_EQ_INT(found->count, expected->count);
    for (int64_t i = 0; i < found->count && i < expected->count; i++)
        CHECK_EQ_INT(found->ids[i], expected->ids[i]);
    free(found);
}

/* First executed is started first: seeds, then what was copied to run. */
static void check_executed_order(struct model *model)
{
    const struct eki_local *local = &model->local;
    int64_t at = seed_count(local);
    if (model->is_over)
        return;
    for (int64_t i = 0; i < model->ran_seeds.count; i++)
        CHECK_EQ_INT(seed_at(local, --at)->id, model->ran_seeds.ids[i]);
    for (int64_t i = 0; i < model->ran_log.count; i++)
        CHECK_EQ_INT(seed_at(local, --at)->id, model->ran_log.ids[i]);
    CHECK_EQ_INT(at, 0);
}

/* A restore that fails n times for want of memory leaves all as it was. */
static void restore_at_last(struct model *model, enum eki_order order)
{
    struct eki_local *local = &model->local;
    int64_t discarded = 0;
    for (int n = 1; n < 10; n++) {
        eki_memory_fail(n);
        bool done = eki_local_restore(local, order, &discarded);
        eki_memory_fail(0);
        CHECK_EQ_TEXT(eki_local_check(local) ? eki_local_check(local) : "", "");
        if (done)
            break;
        CHECK_EQ_INT(discarded, 0);
        CHECK(n < 6);
    }
    CHECK_EQ_INT(discarded, model->discarded);
}

static void model_restore(struct model *model)
{
    enum eki_order order = (enum eki_order)below(model, 3);
    struct list *expected = calloc(1, sizeof *expected);
    while (model->stack.count + model->seeds.count > 0 && !model->is_over)
        model_take(model);
    model_close(model);
    while (model->stack.count + model->seeds.count > 0 && !model->is_over)
        model_take(model);
    model_leave(model);
    if (model->is_over)
        eki_local_cancel(&model->local);
    while (model->stack.count > 0) {
        uint64_t id = list_pop(&model->stack);
        if (!(id & NOT_KEPT))
            list_push(&model->cancelled, id);
    }
    list_append(expected, &model->ran_seeds);
    list_append(expected, &model->ran_log);
    list_append(expected, &model->cancelled);
    list_sort(expected);
    restore_at_last(model, order);
    check_restored(model, expected, order);
    if (order == EKI_ORDER_EXECUTED)
        check_executed_order(model);
    free(expected);
    model->seeds.count = 0;
    for (int64_t i = 0; i < seed_count(&model->local); i++)
        list_push(&model->seeds, seed_at(&model->local, i)->id);
    model->ran_seeds.count = model->ran_log.count = 0;
    model->cancelled.count = model->discarded = 0;
    model->is_over = false;
}

static void local_part_is_a_list(void)
{
    static const int payloads[] = {0, 8, 40, 48, 60, 300};
    for (int run = 0; run < 300; run++) {
        struct model *model = calloc(1, sizeof *model);
        eki_random_seed(&model->random, 7, (uint64_t)run);
        eki_local_init(&model->local, eki_slot_bytes(payloads[run % 6]));
        if (run / 6 % 2) /* all in place */
            model->local.spare_most = 0;
        for (int phase = 0; phase < 4; phase++) {
            for (int64_t i = (int64_t)below(model, 100); i > 0; i--) {
                uint64_t id = model->next++;
                fill(eki_local_add_seed(&model->local), id, EKI_SLOT_SEED,
                     model->local.slot_bytes);
                list_push(&model->seeds, id);
            }
            CHECK_EQ_INT(eki_local_seed_tasks(&model->local),
                         model->seeds.count);
            int before = check_failed();
            for (int i = 0; i < 300 && check_failed() == before; i++) {
                model_op(model);
                model_compare(model);
            }
            model_restore(model);
            model_compare(model);
        }
        eki_local_free(&model->local);
        free(model);
    }
}

static void never_measured_tasks_go_by_their_hints(void)
{
    static const double hints[] = {1.0, 2.0, 4.0, 1.0};
    struct eki_local local;
    eki_local_init(&local, 64);
    for (int i = 0; i < 4; i++) {
        struct eki_slot *slot = eki_local_add_seed(&local);
        fill(slot, (uint64_t)(3 * i), EKI_SLOT_SEED, 64);
        slot->deviation = eki_hint_byte(hints[i]);
    }
    /* The mean is 1 ms, the mean hint 2: between these two lies hint 2. */
    for (int i = 4; i < 6; i++) {
        struct eki_slot *slot = eki_local_add_seed(&local);
        fill(slot, (uint64_t)(3 * i), EKI_SLOT_SEED, 64);
        slot->bin = eki_bin_of(i == 4 ? 700000 : 1300000);
    }
    CHECK(eki_local_restore(&local, EKI_ORDER_LONGEST, NULL));
    static const int order[] = {0, 3, 4, 1, 5, 2};
    int swap = seed_at(&local, 0)->id == 9;
    for (int i = 0; i < 6; i++) {
        int expected = i < 2 && swap ? order[1 - i] : order[i];
        CHECK_EQ_INT(seed_at(&local, i)->id, 3 * expected);
        CHECK((seed_at(&local, i)->bin == EKI_BIN_NEVER) == (expected < 4));
    }
    eki_local_free(&local);
}

static void reserved_seeds_stay_where_they_are(void)
{
    struct eki_local local;
    eki_local_init(&local, 64);
    add_seeds(&local, 3);
    eki_memory_fail(1);
    CHECK(!eki_local_seeds_reserve(&local, 1000));
    eki_memory_fail(0);
    CHECK(eki_local_seeds_reserve(&local, 1000));
    const unsigned char *seeds = local.seeds;
    for (int i = 3; i < 1003; i++)
        fill(eki_local_add_seed(&local), (uint64_t)i, EKI_SLOT_SEED, 64);
    CHECK(local.seeds == seeds);
    for (int i = 0; i < 1003; i++)
        CHECK_EQ_INT(seed_at(&local, i)->id, i);
    CHECK(eki_local_seeds_reserve(&local, 0));
    CHECK(eki_local_check(&local) == NULL);
    eki_local_free(&local);
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
            eki_memory_fail(1);
            CHECK(!eki_local_join_seeds(&local, &from));
            eki_memory_fail(0);
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

static void hints_order_where_nothing_ran(void)
{
    struct eki_local local;
    eki_local_init(&local, 64);
    for (int i = 0; i < 50; i++) {
        struct eki_slot *slot = eki_local_add_seed(&local);
        fill(slot, (uint64_t)i, EKI_SLOT_SEED, 64);
        slot->function = 0;
        slot->deviation = eki_hint_byte(5.0 + (i * 37) % 50);
    }
    CHECK(eki_local_restore(&local, EKI_ORDER_LONGEST, NULL));
    for (int i = 1; i < 50; i++)
        CHECK(seed_at(&local, i - 1)->deviation <=
              seed_at(&local, i)->deviation);
    eki_local_free(&local);
}

/* N tasks of 2,048 ns and up to so many more. */
static void add_measured(struct eki_local *local, int64_t n, int64_t more_ns)
{
    add_seeds(local, n);
    for (int64_t i = 0; i < n; i++)
        seed_at(local, i)->bin =
            eki_bin_of(2048 + (uint64_t)(i * 7919 % more_ns));
}

static void short_tasks_of_an_octave_keep_their_order(void)
{
    struct eki_local local;
    uint64_t last[64] = {0};
    eki_local_init(&local, 64);
    add_measured(&local, 1000, 1000003);
    CHECK(eki_local_restore(&local, EKI_ORDER_LONGEST, NULL));
    for (int64_t i = 0; i < 1000; i++) {
        const struct eki_slot *slot = seed_at(&local, i);
        int octave = (slot->bin - 1) / 256;
        if (octave < 17)
            CHECK(i == 0 || last[octave] < slot->id || slot->id == 0);
        else
            CHECK(seed_at(&local, i - 1)->bin <= slot->bin);
        last[octave] = slot->id;
    }
    eki_local_free(&local);
}

static void many_tasks_of_an_octave_stay_where_they_are(void)
{
    struct eki_local local;
    int64_t n = 3 * EKI_SPARE_BYTES / 64, wrong = 0;
    eki_local_init(&local, 64);
    add_measured(&local, n, 2000);
    CHECK(eki_local_restore(&local, EKI_ORDER_LONGEST, NULL));
    for (int64_t i = 0; i < n; i++)
        wrong += (int64_t)seed_at(&local, i)->id != i;
    CHECK_EQ_INT(wrong, 0);
    eki_local_free(&local);
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
        int64_t executed = i < n ? n - 1 - i : i - n;
        count[slot->bin != EKI_BIN_NEVER]++;
        wrong += !is_whole(slot, local->slot_bytes);
        if (order == EKI_ORDER_EXECUTED)
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
    for (int run = 0; run < 9; run++) {
        struct eki_local local;
        int64_t n = 3 * EKI_SPARE_BYTES / sizes[run / 3];
        eki_local_init(&local, sizes[run / 3]);
        add_seeds(&local, 5);
        log_tasks(&local, n);
        int64_t room = room_of(&local);
        CHECK(room <= 2 * n); /* arrays double */
        for (int round = 0; round < 3; round++) {
            enum eki_order order = (enum eki_order)((run + round) % 3);
            CHECK(eki_local_restore(&local, order, NULL));
            CHECK(room_of(&local) <= room);
            CHECK_EQ_INT(seed_count(&local), n + 5);
            if (round == 0)
                check_first(&local, n, order);
        }
        eki_local_free(&local);
    }
}

/* Of arrays that an iteration needed once, the next restores leave little. */
static void large_arrays_are_given_back(void)
{
    struct eki_local local;
    int64_t n = 8 * EKI_SPARE_BYTES / 64;
    eki_local_init(&local, 64);
    add_seeds(&local, n);
    log_tasks(&local, n);
    CHECK(eki_local_restore(&local, EKI_ORDER_LONGEST, NULL));
    CHECK(room_of(&local) >= 3 * n);
    for (int64_t i = 10; i < 2 * n; i++)
        seed_at(&local, i)->flags |= EKI_SLOT_DISCARDED;
    for (int round = 0; round < 3; round++)
        CHECK(eki_local_restore(&local, EKI_ORDER_LONGEST, NULL));
    CHECK_EQ_INT(seed_count(&local), 10);
    CHECK(room_of(&local) <= 6 * EKI_SPARE_BYTES / 64);
    add_seeds(&local, n);
    CHECK_EQ_INT(seed_count(&local), n + 10);
    eki_local_free(&local);
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
    for (int order = 0; order < 3; order++) {
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

static void what_is_not_kept_goes(void)
{
    struct eki_local local;
    int64_t discarded = 0;
    eki_local_init(&local, 64);
    add_seeds(&local, 10);
    for (int i = 0; i < 4; i++)
        seed_at(&local, i)->flags |= EKI_SLOT_DISCARDED;
    for (int i = 0; i < 5; i++)
        fill(eki_local_push(&local), 100 + (uint64_t)i,
             i == 0 ? EKI_SLOT_SEED : 0, 64);
    CHECK_EQ_INT(eki_local_cancel(&local), 15);
    CHECK(eki_local_restore(&local, EKI_ORDER_ORIGINAL, &discarded));
    CHECK_EQ_INT(discarded, 4);
    CHECK_EQ_INT(seed_count(&local), 7);
    CHECK_EQ_INT(seed_at(&local, 6)->id, 100);
    eki_local_free(&local);
}

static void restoring_nothing_leaves_nothing(void)
{
    struct eki_local local;
    eki_local_init(&local, 64);
    CHECK(eki_local_restore(&local, EKI_ORDER_LONGEST, NULL));
    add_seeds(&local, 3);
    for (int i = 0; i < 3; i++)
        seed_at(&local, i)->flags |= EKI_SLOT_DISCARDED;
    CHECK(eki_local_restore(&local, EKI_ORDER_LONGEST, NULL));
    CHECK_EQ_INT(seed_count(&local), 0);
    CHECK(eki_local_check(&local) == NULL);
    add_seeds(&local, 200);
    CHECK_EQ_INT(seed_count(&local), 200);
    eki_local_clear(&local);
    CHECK(eki_local_is_empty(&local));
    eki_local_free(&local);
}

/* Restored again and again without running: the multiset is the same. */
static void restores_conserve_all(void)
{
    struct eki_local local;
    eki_local_init(&local, 64);
    add_seeds(&local, 1000);
    for (int64_t i = 0; i < 1000; i++)
        seed_at(&local, i)->bin = eki_bin_of((uint64_t)((i * 7919) % 100003));
    for (int round = 0; round < 9; round++) {
        CHECK(eki_local_restore(&local, (enum eki_order)(round % 3), NULL));
        uint64_t sum = 0;
        for (int64_t i = 0; i < 1000; i++)
            sum += seed_at(&local, i)->id;
        CHECK_EQ_INT(seed_count(&local), 1000);
        CHECK_EQ_INT(sum, 499500);
    }
    eki_local_free(&local);
}

static void growth_that_fails_loses_nothing(void)
{
    struct eki_local local;
    eki_local_init(&local, 64);
    eki_memory_fail(1);
    CHECK(eki_local_add_seed(&local) == NULL);
    add_seeds(&local, 64);
    eki_memory_fail(1);
    CHECK(eki_local_add_seed(&local) == NULL);
    CHECK_EQ_INT(seed_count(&local), 64);
    for (int i = 0; i < 64; i++)
        fill(eki_local_push(&local), (uint64_t)i, EKI_SLOT_SEED, 64);
    eki_memory_fail(1);
    CHECK(eki_local_push(&local) == NULL);
    eki_memory_fail(1);
    CHECK(!eki_local_reserve(&local, 100));
    eki_memory_fail(1);
    CHECK(eki_local_log(&local, seed_at(&local, 0)) == NULL);
    eki_memory_fail(1);
    CHECK(!eki_local_log_reserve(&local, 1000));
    eki_memory_fail(0);
    CHECK(eki_local_check(&local) == NULL);
    CHECK_EQ_INT(eki_local_count(&local), 128);
    for (int i = 0; i < 64; i++) {
        CHECK(is_whole(seed_at(&local, i), 64));
        CHECK(is_whole(eki_slot_at(local.stack_bottom, i, 64), 64));
    }
    eki_local_free(&local);
}

int main(void)
{
    /* Restores sort with 131 kB of memory each: no mmap for that. */
    mallopt(M_MMAP_THRESHOLD, 1 << 24);
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    RUN(bins_decode_to_within_a_five_hundredth);
    RUN(small_durations_are_exact);
    RUN(bins_are_monotone);
    RUN(bins_survive_being_decoded);
    RUN(special_bins_have_no_duration);
    RUN(deviation_follows_the_change);
    RUN(hints_survive_their_byte);
    RUN(ids_tell_their_home);
    RUN(slots_have_room_for_their_payload);
    RUN(local_part_is_a_list);
    RUN(never_measured_tasks_go_by_their_hints);
    RUN(hints_order_where_nothing_ran);
    RUN(short_tasks_of_an_octave_keep_their_order);
    RUN(many_tasks_of_an_octave_stay_where_they_are);
    RUN(many_tasks_take_a_slot_each);
    RUN(large_arrays_are_given_back);
    RUN(ranges_stay_until_they_ran);
    RUN(what_is_not_kept_goes);
    RUN(restoring_nothing_leaves_nothing);
    RUN(restores_conserve_all);
    RUN(growth_that_fails_loses_nothing);
    RUN(reserved_seeds_stay_where_they_are);
    RUN(joined_seeds_lie_on_top);
    return check_result();
}
