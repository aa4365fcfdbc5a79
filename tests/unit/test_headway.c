/* SPDX-License-Identifier: BSD-3-Clause */
/* headway: what is seen of a process, what nodes tell, and the line. */
#include "engine/look.h"
#include "lone.h"

enum {
    WATCH_NS = 10000
};

/* RANK of four, a node each: 1 and 2 are children of 0, and 3 of 1. */
static void begin(struct lone *lone, int rank, int seeds, uint64_t watch_ns)
{
    static const int workers[4] = {1, 1, 1, 1}, nodes[4] = {0, 1, 2, 3};
    lone_open_job(lone, rank, 4, workers, nodes);
    lone->setup.watch_ns = watch_ns;
    lone_make(lone);
    lone_seed(lone, seeds, 10);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
}

static void tasks_are_seen_from_step_to_step(struct lone *lone)
{
    begin(lone, 1, 3, WATCH_NS);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    struct eki_headway seen = eki_headway_here(lone->engine);
    CHECK_EQ_INT(seen.done, 0);
    CHECK_EQ_INT(seen.known, 3);
    CHECK_EQ_INT(seen.workers, 1);
    CHECK_EQ_INT(seen.idle, 0);
    CHECK(eki_worker_take(lone_worker(lone)));
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    seen = eki_headway_here(lone->engine);
    CHECK_EQ_INT(seen.done, 1);
    CHECK_EQ_INT(seen.known, 3);
    CHECK_EQ_INT(seen.work_ns, 200);
    CHECK_EQ_INT(seen.slowest, 1);
    CHECK_EQ_INT(seen.slowest_ns, 400);
    uint64_t ran[3];
    CHECK_EQ_INT(lone_run(lone, ran, 3), 2);
    seen = eki_headway_here(lone->engine);
    CHECK_EQ_INT(seen.done, 3);
    CHECK_EQ_INT(seen.idle, 1);
    CHECK_EQ_INT(seen.slowest_ns, 0);
}

/* Another subtree is so far. */
static const struct eki_headway other = {.done = 5,
                                         .known = 20,
                                         .work_ns = 1000,
                                         .workers = 1,
                                         .slowest = 3,
                                         .slowest_ns = 1000000000};

static struct eki_headway *hear(struct lone *lone, int node)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_HEADWAY);
    message->head.source = node;
    message->head.detail = node;
    message->head.count = 1;
    message->head.bytes = sizeof other;
    memcpy(message->body, &other, sizeof other);
    return (struct eki_headway *)(void *)message->body;
}

static void subtree_is_told_now_and_then(struct lone *lone)
{
    begin(lone, 1, 3, WATCH_NS);
    lone_step(lone);
    hear(lone, 3);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    for (int times = 1; times <= 2; times++) {
        lone->now += WATCH_NS;
        lone_serve(lone);
        lone_serve(lone);
        CHECK_EQ_INT(lone_count(lone, EKI_KIND_HEADWAY), times);
    }
    struct eki_headway told;
    memcpy(&told, lone_sent_to(lone, 0, EKI_KIND_HEADWAY, 0)->body,
           sizeof told);
    CHECK_EQ_INT(told.done, 5);
    CHECK_EQ_INT(told.known, 23);
    CHECK_EQ_INT(told.workers, 2);
    CHECK_EQ_INT(told.slowest, 3);
}

static void nobody_tells_unwatched(struct lone *lone)
{
    begin(lone, 1, 3, 0);
    lone_step(lone);
    lone->now += 2 * WATCH_NS;
    lone_serve(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_HEADWAY), 0);
}

static void senseless_counts_are_refused(struct lone *lone)
{
    begin(lone, 0, 1, WATCH_NS);
    hear(lone, 1);
    CHECK(!lone_refuses(lone));
    hear(lone, 2)->slowest = 4;
    CHECK(lone_refuses(lone));
}

static void time_left_is_that_of_the_work_left(void)
{
    struct eki_headway all = {.done = 25,
                              .known = 100,
                              .work_ns = 3000000000,
                              .last_tasks = 50,
                              .last_ns = 2000000000,
                              .workers = 2};
    CHECK_NEAR(eki_headway_left_s(&all, 8), 0.5, 1e-9);
    /* It takes longer than last time, or there was none: as until now. */
    all.work_ns = 5000000000;
    CHECK_NEAR(eki_headway_left_s(&all, 8), 24, 1e-9);
    all.last_tasks = 0;
    CHECK_NEAR(eki_headway_left_s(&all, 8), 24, 1e-9);
    all.done = 0;
    CHECK(eki_headway_left_s(&all, 8) < 0);
}

static void line_names_all_in_one(struct lone *lone)
{
    begin(lone, 0, 1, WATCH_NS);
    struct eki_look look = {
        .name = "fock", .iteration = 12, .engine = lone->engine};
    struct eki_headway all = {.done = 5160,
                              .known = 7260,
                              .work_ns = 1000000000,
                              .last_tasks = 7260,
                              .last_ns = 1800000000,
                              .workers = 4,
                              .idle = 1,
                              .slowest = 2};
    char text[256] = "";
    eki_headway_append(&look, &all, 1, text, sizeof text);
    CHECK_EQ_TEXT(text, "fock, iteration 12 [#####...] 71 % of 7,260 tasks, "
                        "0.2 s left, 1 of 4 workers idle, slowest rank 2");
    look.name = "tasks";
    all = (struct eki_headway){.known = 1234567, .workers = 1, .slowest = -1};
    text[0] = '\0';
    eki_headway_append(&look, &all, 1, text, sizeof text);
    CHECK_EQ_TEXT(text,
                  "iteration 12 [........] 0 % of 1,234,567 tasks, 0 of 1 "
                  "workers idle, 3 workers not heard of");
    /* Of what ranks know that are not heard of. */
    all = (struct eki_headway){
        .done = 3, .known = 0 - UINT64_C(2), .workers = 4, .slowest = -1};
    text[0] = '\0';
    eki_headway_append(&look, &all, 7200, text, sizeof text);
    CHECK_HAS_TEXT(text, "[########] 100 % of 3 tasks");
}

int main(void)
{
    RUN_LONE(tasks_are_seen_from_step_to_step);
    RUN_LONE(subtree_is_told_now_and_then);
    RUN_LONE(nobody_tells_unwatched);
    RUN_LONE(senseless_counts_are_refused);
    RUN(time_left_is_that_of_the_work_left);
    RUN_LONE(line_names_all_in_one);
    return check_result();
}
