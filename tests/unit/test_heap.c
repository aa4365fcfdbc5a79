/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's queue of events against a plain array. */
#include "check.h"
#include "sim/heap.h"

enum {
    ACTORS = 200,
    NONE = -1
};

struct model {
    struct eki_heap heap;
    struct eki_random random;
    int64_t at[ACTORS]; /* NONE: no event */
};

static void open_model(struct model *model, uint64_t seed)
{
    CHECK(eki_heap_init(&model->heap, ACTORS));
    eki_random_seed(&model->random, seed, 0);
    for (int actor = 0; actor < ACTORS; actor++)
        model->at[actor] = NONE;
}

/* The actor whose event is first: the lowest of several at one time. */
static int first_of(const struct model *model)
{
    int first = NONE;
    for (int actor = 0; actor < ACTORS; actor++) {
        if (model->at[actor] != NONE &&
            (first == NONE || model->at[actor] < model->at[first]))
            first = actor;
    }
    return first;
}

static void pop(struct model *model)
{
    uint64_t ns = 0;
    int expected = first_of(model);
    CHECK_EQ_INT(eki_heap_pop(&model->heap, &ns), expected);
    if (expected == NONE)
        return;
    CHECK_EQ_INT(ns, model->at[expected]);
    model->at[expected] = NONE;
}

static void set(struct model *model, int actor, int64_t ns)
{
    bool is_early = eki_random_below(&model->random, 3) == 0;
    if (is_early) {
        eki_heap_set_early(&model->heap, actor, (uint64_t)ns);
        if (model->at[actor] != NONE && model->at[actor] < ns)
            return;
    } else {
        eki_heap_set(&model->heap, actor, (uint64_t)ns);
    }
    model->at[actor] = ns;
}

static void change(struct model *model)
{
    int actor = (int)eki_random_below(&model->random, ACTORS);
    switch (eki_random_below(&model->random, 8)) {
    case 0:
        eki_heap_remove(&model->heap, actor);
        model->at[actor] = NONE;
        break;
    case 1:
    case 2:
    case 3:
        pop(model);
        break;
    default:
        set(model, actor, (int64_t)eki_random_below(&model->random, 1000));
    }
}

static void it_is_a_sorted_list(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct model model;
        open_model(&model, seed);
        for (int i = 0; i < 5000; i++) {
            change(&model);
            CHECK(eki_heap_check(&model.heap) == NULL);
        }
        while (first_of(&model) != NONE)
            pop(&model);
        pop(&model);
        eki_heap_free(&model.heap);
    }
}

static void times_end_at_the_most(void)
{
    struct eki_heap heap;
    uint64_t ns;
    CHECK(eki_heap_init(&heap, 3));
    eki_heap_set(&heap, 2, EKI_SIM_TIME_MOST + 5);
    eki_heap_set(&heap, 1, EKI_SIM_TIME_MOST - 1);
    CHECK_EQ_INT(eki_heap_ns(&heap, 2), EKI_SIM_TIME_MOST);
    CHECK_EQ_INT(eki_heap_pop(&heap, &ns), 1);
    CHECK_EQ_INT(eki_heap_pop(&heap, &ns), 2);
    CHECK_EQ_INT(ns, EKI_SIM_TIME_MOST);
    eki_heap_free(&heap);
}

static void no_memory_is_said(void)
{
    for (int n = 1; n <= 2; n++) {
        struct eki_heap heap;
        WITHOUT_MEMORY(n, CHECK(!eki_heap_init(&heap, ACTORS)));
        eki_heap_free(&heap);
    }
}

int main(void)
{
    RUN(it_is_a_sorted_list);
    RUN(times_end_at_the_most);
    RUN(no_memory_is_said);
    return check_result();
}
