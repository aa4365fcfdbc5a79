/* SPDX-License-Identifier: BSD-3-Clause */
/* local: the local part of a worker against plain lists. */
#include "slots.h"

#include <malloc.h>

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
    if (below(model, 2) == 0)
        eki_local_shed(&model->local);
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

int main(void)
{
    /* Restores sort with 131 kB of memory each: no mmap for that. */
    mallopt(M_MMAP_THRESHOLD, 1 << 24);
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    RUN(local_part_is_a_list);
    return check_result();
}
