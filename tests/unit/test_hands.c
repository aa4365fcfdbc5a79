/* SPDX-License-Identifier: BSD-3-Clause */
/* hands: long tasks that are handed to others before anybody begins. */
#include "lone.h"

#include "protocol/hands.h"

enum {
    MS = 1000000,
    MEAN_MS = 100, /* what a worker had in the phase before */
    MOST_MS = 150, /* ... at most */
    /* A part of 64 of what is above 1.01 x the mean. */
    HOLD_NS = (MOST_MS - 101) * MS / 64
};

static const struct eki_load uneven = {.work_ns = UINT64_C(4) * MEAN_MS * MS,
                                       .most_ns = UINT64_C(1) * MOST_MS * MS,
                                       .task_ns = UINT64_C(60) * MS};

/* Rank 0 with workers 0, 1; worker 2 is on rank 1, worker 3 on rank 2, each of
 * another node.  In the last process a worker had more than the mean. */
static void make(struct lone *lone)
{
    static const int workers[3] = {2, 1, 1}, nodes[3] = {0, 1, 2};
    lone_open_job(lone, 0, 3, workers, nodes);
    lone_make(lone);
    lone->engine->node->load = uneven;
}

/* One node of so many ranks, this one with workers 0, 1, and what its workers
 * ran in the last process. */
static void make_node(struct lone *lone, int ranks)
{
    static const int workers[3] = {2, 1, 1}, nodes[3] = {0, 0, 0};
    static const uint64_t ms[4] = {MOST_MS, 2 * MEAN_MS - MOST_MS, MEAN_MS,
                                   MEAN_MS};
    lone_open_job(lone, 0, ranks, workers, nodes);
    lone_make(lone);
    for (int i = 0; i < lone->topology->workers; i++) {
        struct eki_worker_words *words = eki_words_of(lone->engine, i);
        atomic_store(&words->work_ns[lone->engine->processes & 1], ms[i] * MS);
        atomic_store(&words->task_ns[lone->engine->processes & 1], 50 * MS);
    }
}

/* COUNT seeds of worker HERE, the longest last; the number of each is what it
 * takes. */
static void seed(struct lone *lone, int here, int count, const int *ms)
{
    for (int i = 0; i < count; i++)
        lone_seed_at(lone, here, (uint64_t)ms[i])->bin =
            eki_bin_of((uint64_t)ms[i] * MS);
}
#define SEED(lone, here, ...)                                     \
    seed((lone), (here),                                          \
         (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), \
         (const int[]){__VA_ARGS__})

static void enter_with(struct lone *lone, ek_steal_policy steal,
                       bool is_retained, bool has_threads)
{
    struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                              .signature = 1,
                              .has_threads = has_threads,
                              .is_retained = is_retained,
                              .scheme = eki_scheme_of(steal)};
    lone_enter_phase(lone, &phase);
    lone_serve(lone);
}

static void enter(struct lone *lone)
{
    enter_with(lone, EK_STEAL_RANDOM, true, true);
}

/* What a worker has, published or not, from the bottom on. */
static void check_seeds(const struct lone *lone, int here, int count,
                        const int *ms)
{
    struct eki_local *local = &lone->engine->workers[here]->local;
    if (!CHECK_EQ_INT(eki_local_slots(local, local->seeds, local->seed_end),
                      count))
        return;
    for (int i = 0; i < count; i++)
        CHECK_EQ_INT(lone_number(eki_slot_at(local->seeds, i, LONE_SLOT)),
                     ms[i]);
}
#define CHECK_SEEDS(lone, here, ...)                                     \
    check_seeds((lone), (here),                                          \
                (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), \
                (const int[]){__VA_ARGS__})

static uint32_t visible(const struct lone *lone, int deque)
{
    const struct eki_engine *engine = lone->engine;
    return eki_deque_visible(engine->setup.deque, engine->capacity,
                             eki_deque_of(engine, deque));
}

/* The offer of a task of MS milliseconds, which is the I-th message. */
static void check_offer(const struct lone *lone, int i, int ms, int rank,
                        int times)
{
    struct eki_offer offer;
    CHECK(lone->to[i] == 1 || lone->to[i] == 2);
    const struct eki_message *message =
        lone_sent_to(lone, i, EKI_KIND_OFFER, lone->to[i]);
    CHECK_EQ_INT(message->head.count, 1);
    CHECK_EQ_INT(message->head.bytes, sizeof offer);
    memcpy(&offer, message->body, sizeof offer);
    CHECK_EQ_INT(offer.id, ms);
    CHECK_EQ_INT(eki_bin_of(offer.ns), eki_bin_of((uint64_t)ms * MS));
    CHECK_EQ_INT(offer.rank, rank);
    CHECK_EQ_INT(offer.times, times);
}

/* Rank 1 offers a task that it has, passed on TIMES before. */
static struct eki_message *make_offer(struct lone *lone, int ms, int times)
{
    struct eki_offer offer = {
        .id = (uint64_t)ms, .ns = (uint64_t)ms * MS, .rank = 1, .times = times};
    struct eki_message *message = lone_message(lone, EKI_KIND_OFFER);
    message->head.count = 1;
    message->head.bytes = sizeof offer;
    memcpy(message->body, &offer, sizeof offer);
    return message;
}

static void offer(struct lone *lone, int ms, int times)
{
    make_offer(lone, ms, times);
    lone_serve(lone);
}

/* Rank 1 takes a task. */
static void take(struct lone *lone, int ms)
{
    lone_message(lone, EKI_KIND_TAKE)->head.first = ms;
    lone_serve(lone);
}

/* Rank 1 hands over a task. */
static struct eki_message *make_hand(struct lone *lone, int ms)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_HAND);
    lone_fill(lone, message, 1, (uint64_t)ms);
    ((struct eki_slot *)message->body)->bin = eki_bin_of((uint64_t)ms * MS);
    return message;
}

static void check_held(struct lone *lone, bool is_held)
{
    for (int here = 0; here < 2; here++)
        CHECK_EQ_INT(eki_worker_step(lone->engine->workers[here], lone->now) ==
                         EKI_STEP_WAIT,
                     is_held);
}

static void what_does_not_fit_is_offered_and_handed_over(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 1, 40, 50, 60);
    SEED(lone, 1, 80);
    enter(lone);
    CHECK_EQ_INT(lone->sent_count, 1);
    check_offer(lone, 0, 50, 0, 0);
    CHECK_SEEDS(lone, 0, 1, 40, 50, 60);
    lone_forget(lone);
    take(lone, 50);
    const struct eki_message *hand = lone_sent_to(lone, 0, EKI_KIND_HAND, 1);
    CHECK_EQ_INT(lone->sent_count, 1);
    CHECK_EQ_INT(hand->head.count, 1);
    CHECK_EQ_INT(hand->head.bytes, LONE_SLOT);
    CHECK_EQ_INT(lone_number_in(hand, 0), 50);
    CHECK_SEEDS(lone, 0, 1, 40, 60);
    CHECK_SEEDS(lone, 1, 80);
    /* It is gone. */
    take(lone, 50);
    CHECK_EQ_INT(lone->sent_count, 1);
}

static void ranks_of_one_node_hand_over_likewise(struct lone *lone)
{
    make_node(lone, 3);
    SEED(lone, 0, 1, 40, 50, 60);
    SEED(lone, 1, 80);
    enter(lone);
    check_held(lone, true);
    CHECK_EQ_INT(lone->engine->held_until, lone->engine->entered_ns + HOLD_NS);
    check_offer(lone, 0, 50, 0, 0);
    take(lone, 50);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_HAND), 1);
    CHECK_SEEDS(lone, 0, 1, 40, 60);
    /* What comes too late is for any worker of the node. */
    offer(lone, 15, 0);
    lone->now += HOLD_NS;
    lone_serve(lone);
    make_hand(lone, 15);
    lone_serve(lone);
    CHECK_EQ_INT(visible(lone, eki_server_deque(lone->engine)), 1);
}

/* News, such as that somebody takes what is not offered, until it prolongs
 * nothing any more. */
static void prolong(struct lone *lone)
{
    uint64_t latest = lone->engine->entered_ns + EKI_HAND_HOLDS * HOLD_NS;
    while (lone->engine->held_until < latest) {
        lone->now = lone->engine->held_until - 200;
        take(lone, 99);
    }
}

static void messages_prolong_the_hold(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 40, 50, 60);
    enter(lone);
    uint64_t began = lone->engine->entered_ns;
    CHECK_EQ_INT(lone->engine->held_until, began + HOLD_NS);
    lone->now = began + HOLD_NS / 2;
    take(lone, 99);
    CHECK_EQ_INT(lone->engine->held_until, lone->now + HOLD_NS);
    prolong(lone);
    lone->now = began + 4 * HOLD_NS - 200;
    take(lone, 99);
    check_held(lone, true);
    lone->now += 100;
    take(lone, 99);
    check_held(lone, false);
}

static void workers_of_one_rank_wait_for_nobody(struct lone *lone)
{
    make_node(lone, 1);
    SEED(lone, 0, 1, 40, 50, 60);
    SEED(lone, 1, 2, 30);
    enter(lone);
    check_held(lone, false);
    struct eki_local *local = &lone->engine->workers[1]->local;
    CHECK_EQ_INT(eki_local_slots(local, local->seeds, local->seed_end), 3);
}

/* Twice the same load: the second time what fits is half way to the largest. */
static void what_does_not_help_is_tried_with_more_room(struct lone *lone)
{
    make(lone);
    enter(lone);
    CHECK_EQ_INT(lone->engine->holds, 1);
    lone_skip(lone);
    SEED(lone, 0, 1, 40, 50, 60);
    SEED(lone, 1, 80);
    enter(lone);
    CHECK_SEEDS(lone, 0, 1, 50, 60);
    CHECK_SEEDS(lone, 1, 40, 80);
    CHECK_EQ_INT(lone->sent_count, 0);
    lone_skip(lone);
    /* Far from what fitted then, when nobody had tried. */
    enter_with(lone, EK_STEAL_NONE, true, true);
    lone_skip(lone);
    lone->engine->node->load.most_ns = UINT64_C(190) * MS;
    enter(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_OFFER), 1);
}

/* What is pinned to the rank leaves its workers room for less. */
static void pinned_tasks_take_room(void)
{
    for (int pinned = 0; pinned < 2; pinned++) {
        struct lone lone;
        make(&lone);
        SEED(&lone, 0, 40, 50);
        if (pinned) {
            struct eki_slot *slot = eki_pinned_new(&lone.engine->pinned);
            lone_fill_slot(slot, 1);
            slot->bin = eki_bin_of(60 * MS);
        }
        enter(&lone);
        CHECK_EQ_INT(lone_count(&lone, EKI_KIND_OFFER), 0);
        if (pinned) {
            CHECK_SEEDS(&lone, 0, 50);
            CHECK_SEEDS(&lone, 1, 40);
        } else {
            CHECK_SEEDS(&lone, 0, 40, 50);
        }
        lone_close(&lone);
    }
}

static void workers_begin_when_that_is_over(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 40, 50, 60);
    SEED(lone, 1, 80);
    enter(lone);
    uint64_t until = lone->engine->held_until;
    CHECK_EQ_INT(until, lone->engine->entered_ns + HOLD_NS);
    check_held(lone, true);
    CHECK_EQ_INT(eki_worker_due(lone_worker(lone)), until);
    CHECK(eki_worker_awaits(lone_worker(lone)));
    CHECK_EQ_INT(visible(lone, 0), 0);
    lone->now = until - 100;
    lone_serve(lone);
    CHECK_EQ_INT(visible(lone, 0), 2);
    check_held(lone, false);
    /* The wait is none of the task. */
    lone->now += 1000;
    CHECK(eki_worker_take(lone_worker(lone)) != NULL);
    eki_worker_step(lone_worker(lone), lone->now);
    CHECK_EQ_INT(lone_worker(lone)->counts.work_ns, 1000);
    lone_forget(lone);
    take(lone, 50);
    CHECK_EQ_INT(lone->sent_count, 0);
}

static void what_fits_a_worker_of_the_rank_goes_there(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 1, 40, 50, 60);
    SEED(lone, 1, 2, 30);
    enter(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK_SEEDS(lone, 0, 1, 40, 60);
    CHECK_SEEDS(lone, 1, 2, 30, 50);
}

static void a_longer_task_displaces_shorter_ones(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 1, 60, 70);
    SEED(lone, 1, 32, 30, 35);
    enter(lone);
    /* 60 goes to worker 1, which keeps 35; 32 goes to worker 0 instead. */
    CHECK_SEEDS(lone, 0, 1, 30, 70);
    CHECK_SEEDS(lone, 1, 32, 35, 60);
    CHECK_EQ_INT(lone->sent_count, 1);
}

static void short_tasks_and_the_first_long_one_stay(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 1, 1, 1, 1, 300);
    SEED(lone, 1, 1, 1, 99);
    enter(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK_SEEDS(lone, 0, 1, 1, 1, 1, 300);
    CHECK_SEEDS(lone, 1, 1, 1, 99);
}

static void what_a_task_has_set_is_no_time(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 90, 95, 99);
    for (int i = 0; i < 3; i++)
        eki_slot_at(lone_worker(lone)->local.seeds, i, LONE_SLOT)->flags |=
            EKI_SLOT_SET;
    enter(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK_SEEDS(lone, 0, 90, 95, 99);
}

/* Nothing is offered, and the workers begin at once. */
static void check_nothing(ek_steal_policy steal, bool is_retained,
                          bool has_threads, struct eki_load load)
{
    struct lone lone;
    make(&lone);
    lone.engine->node->load = load;
    SEED(&lone, 0, 80, 80, 80);
    SEED(&lone, 1, 80, 80);
    enter_with(&lone, steal, is_retained, has_threads);
    CHECK_EQ_INT(lone_count(&lone, EKI_KIND_OFFER), 0);
    CHECK_EQ_INT(lone.engine->holds, 0);
    CHECK_SEEDS(&lone, 0, 80, 80, 80);
    lone_close(&lone);
}

/* Where nobody steals from other nodes, nothing is handed to them. */
static void tasks_stay_on_the_node(void)
{
    static const int workers[3] = {2, 1, 1}, nodes[3] = {0, 1, 0};
    struct lone lone;
    make(&lone);
    SEED(&lone, 0, 80, 80, 80);
    enter_with(&lone, EK_STEAL_NODE, true, true);
    CHECK_EQ_INT(lone_count(&lone, EKI_KIND_OFFER), 0);
    CHECK_EQ_INT(lone.engine->holds, 0);
    lone_close(&lone);
    lone_open_job(&lone, 0, 3, workers, nodes);
    lone_make(&lone);
    lone.engine->node->load = uneven;
    SEED(&lone, 0, 80, 80, 80);
    SEED(&lone, 1, 80, 80);
    enter_with(&lone, EK_STEAL_NODE, true, true);
    int offers = lone_count(&lone, EKI_KIND_OFFER);
    CHECK(offers > 0);
    for (int i = 0; i < offers; i++)
        CHECK_EQ_INT(lone.to[i], 2);
    lone_close(&lone);
}

static void nobody_is_held_where_nothing_is_to_be_gained(void)
{
    struct eki_load even = uneven, fine = uneven, unknown = {0};
    check_nothing(EK_STEAL_NONE, true, true, uneven);
    check_nothing(EK_STEAL_COUNTER, true, true, uneven);
    check_nothing(EK_STEAL_HPDC12, true, true, uneven);
    check_nothing(EK_STEAL_RANDOM, false, true, uneven);
    check_nothing(EK_STEAL_RANDOM, true, false, uneven);
    even.most_ns = UINT64_C(101) * MS;
    fine.task_ns = UINT64_C(2) * MS;
    check_nothing(EK_STEAL_RANDOM, true, true, even);
    check_nothing(EK_STEAL_RANDOM, true, true, fine);
    check_nothing(EK_STEAL_RANDOM, true, true, unknown);
    /* Below 0.2 ms no task is long, whatever the mean is. */
    for (int i = 0; i < 2; i++) {
        struct eki_load little = {.work_ns = 4 * 5 * MS,
                                  .most_ns = 10 * MS,
                                  .task_ns = MS / 5 + (uint64_t)i};
        struct lone lone;
        make(&lone);
        lone.engine->node->load = little;
        enter(&lone);
        CHECK_EQ_INT(lone.engine->holds, i);
        lone_close(&lone);
    }
}

static void who_has_room_takes_and_others_pass_on(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 60);
    SEED(lone, 1, 30);
    enter(lone);
    offer(lone, 70, 3);
    const struct eki_message *taken = lone_sent_to(lone, 0, EKI_KIND_TAKE, 1);
    CHECK_EQ_INT(lone->sent_count, 1);
    CHECK_EQ_INT(taken->head.first, 70);
    CHECK_EQ_INT(taken->head.count, 0);
    lone_forget(lone);
    /* What is awaited counts, and is not displaced. */
    offer(lone, 50, 3);
    CHECK_EQ_INT(lone->sent_count, 1);
    check_offer(lone, 0, 50, 1, 4);
    CHECK_EQ_INT(lone->to[0], 2);
    lone_forget(lone);
    offer(lone, 50, EKI_HANDS_MOST - 1);
    CHECK_EQ_INT(lone->sent_count, 0);
    make_hand(lone, 70);
    lone_serve(lone);
    CHECK_SEEDS(lone, 0, 60);
    CHECK_SEEDS(lone, 1, 30, 70);
}

static void
an_offer_displaces_and_what_is_displaced_is_offered(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 35, 60);
    SEED(lone, 1, 90);
    enter(lone);
    offer(lone, 40, 0);
    CHECK_EQ_INT(lone->sent_count, 2);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_TAKE), 1);
    check_offer(lone, 1, 35, 0, 0);
}

static void who_is_late_neither_gives_nor_takes(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 40, 50, 60);
    SEED(lone, 1, 80);
    enter(lone);
    lone_forget(lone);
    offer(lone, 20, 0);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_TAKE), 1);
    lone_forget(lone);
    /* Too late for a task to come, but not for one that is on its way. */
    prolong(lone);
    lone->now = lone->engine->held_until - HOLD_NS / 4;
    offer(lone, 21, 0);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_TAKE), 0);
    lone->now += HOLD_NS;
    lone_serve(lone);
    lone_forget(lone);
    offer(lone, 22, 0);
    take(lone, 50);
    CHECK_EQ_INT(lone->sent_count, 0);
    /* Anybody can claim what comes now. */
    make_hand(lone, 20);
    lone_serve(lone);
    CHECK_EQ_INT(visible(lone, eki_server_deque(lone->engine)), 1);
    CHECK_SEEDS(lone, 0, 40, 50, 60);
}

static void nobody_is_held_in_a_phase_that_is_stopped(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 40, 50, 60);
    SEED(lone, 1, 80);
    enter(lone);
    lone_forget(lone);
    eki_engine_stop(lone->engine);
    offer(lone, 20, 0);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_TAKE), 0);
    CHECK_EQ_INT(lone->engine->holds, 0);
    take(lone, 50);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_HAND), 0);
    for (int here = 0; here < 2; here++) {
        struct ek_worker *worker = lone->engine->workers[here];
        eki_worker_step(worker, lone->now);
        CHECK_EQ_INT(worker->counts.cancelled, here == 0 ? 3 : 1);
    }
}

static void what_finds_no_buffer_stays(struct lone *lone)
{
    make(lone);
    SEED(lone, 0, 40, 50, 60);
    SEED(lone, 1, 80);
    lone->buffers = 1;
    enter(lone);
    CHECK_EQ_INT(lone->sent_count, 1);
    take(lone, 50);
    CHECK_EQ_INT(lone->sent_count, 1);
    CHECK_SEEDS(lone, 0, 40, 50, 60);
    lone->now += HOLD_NS;
    lone_serve(lone);
    lone->buffers = 4;
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_HAND), 0);
    CHECK_SEEDS(lone, 0, 40, 50, 60);
}

/* Each allocation fails in turn; the tasks are there, and seen. */
static void without_memory_tasks_stay(void)
{
    for (int64_t n = 1; n <= 6; n++) {
        struct lone lone;
        make(&lone);
        SEED(&lone, 0, 40, 50, 60);
        SEED(&lone, 1, 10, 80);
        eki_memory_fail(n);
        enter(&lone);
        offer(&lone, 15, 0);
        eki_memory_fail(0);
        lone.now += HOLD_NS;
        lone_serve(&lone);
        const struct eki_local *local = &lone_worker(&lone)->local;
        CHECK(eki_local_slots(local, local->seeds, local->seed_end) >= 2);
        check_held(&lone, false);
        lone_close(&lone);
    }
}

/* Whether the offer of a task with this id, which RANK has, is refused. */
static bool refuses_offer(uint64_t id, int rank)
{
    struct lone lone;
    const struct eki_offer offer = {.id = id, .ns = 1, .rank = rank};
    make(&lone);
    enter(&lone);
    memcpy(make_offer(&lone, 50, 0)->body, &offer, sizeof offer);
    bool is = lone_refuses(&lone);
    lone_close(&lone);
    return is;
}

static void offers_that_make_no_sense_are_refused(void)
{
    CHECK(!refuses_offer(eki_id(3, 7), 2));
    CHECK(refuses_offer(eki_id(4, 0), 2));
    CHECK(refuses_offer(eki_id(3, 7), -1));
    CHECK(refuses_offer(eki_id(3, 7), 3));
}

/* A TAKE, or a HAND of a task, in this kind of phase. */
static bool refuses(int kind, enum eki_phase_kind phase)
{
    struct lone lone;
    make(&lone);
    lone_enter(&lone, phase, EK_STEAL_RANDOM);
    lone_fill(&lone, lone_message(&lone, kind), kind == EKI_KIND_HAND, 1);
    bool is = lone_refuses(&lone);
    lone_close(&lone);
    return is;
}

static void answers_in_a_restore_are_refused(void)
{
    CHECK(!refuses(EKI_KIND_TAKE, EKI_PHASE_PROCESS));
    CHECK(refuses(EKI_KIND_TAKE, EKI_PHASE_RESTORE));
    CHECK(!refuses(EKI_KIND_HAND, EKI_PHASE_PROCESS));
    CHECK(refuses(EKI_KIND_HAND, EKI_PHASE_RESTORE));
}

int main(void)
{
    RUN_LONE(what_does_not_fit_is_offered_and_handed_over);
    RUN_LONE(ranks_of_one_node_hand_over_likewise);
    RUN_LONE(messages_prolong_the_hold);
    RUN_LONE(workers_of_one_rank_wait_for_nobody);
    RUN_LONE(what_does_not_help_is_tried_with_more_room);
    RUN(pinned_tasks_take_room);
    RUN_LONE(workers_begin_when_that_is_over);
    RUN_LONE(what_fits_a_worker_of_the_rank_goes_there);
    RUN_LONE(a_longer_task_displaces_shorter_ones);
    RUN_LONE(short_tasks_and_the_first_long_one_stay);
    RUN_LONE(what_a_task_has_set_is_no_time);
    RUN(tasks_stay_on_the_node);
    RUN(nobody_is_held_where_nothing_is_to_be_gained);
    RUN_LONE(who_has_room_takes_and_others_pass_on);
    RUN_LONE(an_offer_displaces_and_what_is_displaced_is_offered);
    RUN_LONE(who_is_late_neither_gives_nor_takes);
    RUN_LONE(nobody_is_held_in_a_phase_that_is_stopped);
    RUN_LONE(what_finds_no_buffer_stays);
    RUN(without_memory_tasks_stay);
    RUN(offers_that_make_no_sense_are_refused);
    RUN(answers_in_a_restore_are_refused);
    return check_result();
}
