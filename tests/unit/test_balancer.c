/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * balancer: the part of each of two ranks in a rebalance, also after a stop and
 * where nobody has prepared.
 */
#include "tell.h"

/* It is over: the largest load was BEFORE tasks, and is AFTER. */
static void tell_over(struct lone *lone, int before, int after, int64_t moved)
{
    struct eki_result_told result = {.before = before * task_ns(),
                                     .after = after * task_ns(),
                                     .moved = moved,
                                     .fewest = moved,
                                     .hash = 5};
    tell(lone, EKI_PARCEL_OVER, &result, sizeof result);
}

/* Rank of two with a worker each, which has three tasks. */
static void begin(struct lone *lone, int rank)
{
    begin_as(lone, rank, 3, EK_RESTORE_CENTRALIZED);
}

static void check_parcel(const struct eki_message *message,
                         enum eki_parcel_kind what, size_t bytes)
{
    CHECK_EQ_INT(message->head.detail, what);
    CHECK_EQ_INT(message->head.worker, 0);
    CHECK_EQ_INT(message->head.first, 0);
    CHECK_EQ_INT(message->head.count, bytes);
    CHECK_EQ_INT(message->head.bytes, bytes);
}

static void rank_tells_what_it_has(struct lone *lone)
{
    struct {
        struct eki_totals_told told;
        struct eki_known known[1];
        struct eki_size_told sizes[1];
    } totals;
    begin(lone, 1);
    CHECK_EQ_INT(lone->sent_count, 0);
    lone_serve(lone);
    const struct eki_message *message = lone_sent_only(lone, EKI_KIND_PARCEL);
    check_parcel(message, EKI_PARCEL_TOTALS, sizeof totals);
    memcpy(&totals, message->body, sizeof totals);
    CHECK_EQ_INT(totals.told.totals.tasks, 3);
    CHECK_EQ_INT(totals.told.totals.workers, 1);
    CHECK_EQ_INT(totals.told.totals.total, 3 * task_ns());
    CHECK_EQ_INT(totals.told.totals.largest_load, 3 * task_ns());
    CHECK_EQ_INT(totals.told.totals.largest_task, task_ns());
    CHECK_EQ_INT(totals.known[0].measured, 3);
    CHECK_EQ_INT(totals.known[0].unmeasured, 0);
    CHECK_EQ_INT(totals.sizes[0].count, 3);
    CHECK_EQ_INT(totals.sizes[0].shortest, task_ns());
}

static void workers_wait_until_the_root_says_that_it_is_over(struct lone *lone)
{
    begin(lone, 1);
    lone_serve(lone);
    lone_forget(lone);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    tell_target(lone, 2, true);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    lone_serve(lone);
    CHECK_EQ_INT(lone->engine->holds, 1);
    CHECK(!eki_is_idle(lone_worker(lone)->words, 1));
    CHECK_EQ_INT(lone->sent_count, 0);

    tell_over(lone, 3, 3, 0);
    CHECK_EQ_INT(lone->engine->holds, 0);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    lone_serve(lone);
    lone_sent_only(lone, EKI_KIND_VOTE);
    CHECK_OK(lone_end_leaf(lone).status);
    CHECK_EQ_INT(tasks_of(lone, 0), 3);
    CHECK_NEAR(eki_rebalance_report(lone->engine)->before, 0.5, 1e-9);
}

/* Rank 1 sheds a task, of this index ... */
static int32_t shed(struct lone *lone)
{
    struct {
        struct eki_section section;
        struct eki_offer_told told;
        eki_ns load;
        struct eki_item item;
    } offer;
    begin(lone, 1);
    lone_serve(lone);
    lone_forget(lone);
    tell_target(lone, 2, false);
    const struct eki_message *message = lone_sent_only(lone, EKI_KIND_PARCEL);
    check_parcel(message, EKI_PARCEL_OFFER, sizeof offer);
    memcpy(&offer, message->body, sizeof offer);
    CHECK_EQ_INT(offer.section.of, 1);
    CHECK_EQ_INT(offer.told.items, 1);
    CHECK_EQ_INT(offer.told.fewest, 1);
    CHECK_EQ_INT(offer.told.fewest_across, 1);
    CHECK_EQ_INT(offer.told.largest, 3 * task_ns());
    CHECK_EQ_INT(offer.load, 2 * task_ns());
    CHECK_EQ_INT(offer.item.ns, task_ns());
    CHECK_EQ_INT(offer.item.from, 1);
    return offer.item.index;
}

/* ... and hears that it shall go to worker 0. */
static void tell_plan(struct lone *lone, int32_t index)
{
    struct {
        struct eki_section section;
        struct eki_plan_told told;
    } plan = {{1, sizeof plan.told}, {.from = 1, .index = index, .to = 0}};
    tell(lone, EKI_PARCEL_PLAN, &plan, sizeof plan);
}

static void begin_move(struct lone *lone)
{
    tell_plan(lone, shed(lone));
    CHECK_EQ_INT(lone->engine->holds, 1);
    CHECK_EQ_INT(lone->sent_count, 0);
}

static void tasks_move_where_the_plan_says(struct lone *lone)
{
    begin_move(lone);
    tell_over(lone, 3, 2, 1);
    CHECK_EQ_INT(lone->engine->holds, 0);
    const struct eki_message *move = lone_sent_only(lone, EKI_KIND_MOVE);
    CHECK_EQ_INT(move->head.worker, 0);
    CHECK_EQ_INT(move->head.count, 1);
    CHECK_EQ_INT(tasks_of(lone, 0), 2);
    CHECK_EQ_INT(lone_worker(lone)->created, 1);
    CHECK_EQ_INT(eki_rebalance_own(lone->engine).sent, 1);
    CHECK_OK(lone_end_leaf(lone).status);
    check_report(lone, 0.5, 0, 1);
    /* The next rebalance has moved nothing yet. */
    struct eki_balance_wish wish = centralized();
    enter(lone, &wish);
    CHECK_EQ_INT(eki_rebalance_own(lone->engine).sent, 0);
    check_report(lone, 0, 0, 0);
}

/* The root and a leader may be two ranks: the last word may come first. */
static void tasks_move_when_their_plan_has_come(struct lone *lone)
{
    int32_t index = shed(lone);
    tell_over(lone, 3, 2, 1);
    CHECK_EQ_INT(lone->engine->holds, 1);
    CHECK_EQ_INT(lone->sent_count, 0);
    tell_plan(lone, index);
    CHECK_EQ_INT(lone->engine->holds, 0);
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_MOVE)->head.count, 1);
}

/* Both are groups, of which the other was given a task.  All shall be one: but
 * its plan, from there, must have come. */
static void second_target_waits_for_plans(struct lone *lone)
{
    const struct eki_section nothing = {1, 0};
    begin_as(lone, 1, 3, EK_RESTORE_HIERARCHICAL);
    lone_serve(lone);
    lone_forget(lone);
    tell_target(lone, 2, false);
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_PARCEL)->head.detail,
                 EKI_PARCEL_LEFT);
    tell(lone, EKI_PARCEL_GIVEN, &nothing, sizeof nothing);
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_PARCEL)->head.detail,
                 EKI_PARCEL_RESULT);
    tell_target_for(lone, 2, false, true);
    CHECK_EQ_INT(lone->sent_count, 0);
    tell_plan(lone, 2);
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_PARCEL)->head.detail,
                 EKI_PARCEL_OFFER);
    tell_plan(lone, 2);
    tell_over(lone, 3, 2, 1);
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_MOVE)->head.count, 1);
    CHECK_OK(lone_end_leaf(lone).status);
}

/* Rank 1 still has two tasks when it is asked for those of worker LISTED. */
static int64_t opened_for(int32_t listed)
{
    struct {
        struct eki_open_told told;
        int32_t listed;
    } open = {{-1, INT64_MAX}, listed};
    struct eki_section section = {0};
    struct lone lone;
    shed(&lone);
    lone_forget(&lone);
    tell(&lone, EKI_PARCEL_OPEN, &open, sizeof open.told + sizeof listed);
    memcpy(&section, lone_sent_only(&lone, EKI_KIND_PARCEL)->body,
           sizeof section);
    CHECK_EQ_INT(section.of, 1);
    lone_close(&lone);
    return section.bytes / (int64_t)sizeof(struct eki_item);
}

static void listed_workers_open(void)
{
    CHECK_EQ_INT(opened_for(1), 2);
    CHECK_EQ_INT(opened_for(0), 0);
}

/* The decision would make it worse. */
static void tasks_stay_where_it_would_be_worse(struct lone *lone)
{
    begin_move(lone);
    tell_over(lone, 3, 4, 1);
    CHECK_EQ_INT(lone->engine->holds, 0);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK_EQ_INT(tasks_of(lone, 0), 3);
    CHECK_EQ_INT(eki_rebalance_own(lone->engine).sent, 0);
    CHECK_EQ_INT(eki_rebalance_report(lone->engine)->moved, 0);
    CHECK_NEAR(eki_rebalance_report(lone->engine)->after, 0.5, 1e-9);
}

static void tasks_stay_after_a_stop(struct lone *lone)
{
    begin_move(lone);
    lone_message(lone, EKI_KIND_STOP);
    lone_serve(lone); /* the rebalancer comes before messages are sent */
    CHECK_EQ_INT(lone->engine->holds, 0);
    CHECK_EQ_INT(tasks_of(lone, 0), 3);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_MOVE), 0);
    CHECK_OK(lone_end_leaf(lone).status);
}

/* As many tasks as rank 0 has. */
static void tell_lap(struct lone *lone, const struct eki_lap_told *lap)
{
    tell_all(lone, 3, task_ns(), lap);
}

static void root_tells_that_all_is_balanced(struct lone *lone)
{
    struct eki_target_told target;
    begin(lone, 0);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK_EQ_INT(lone->engine->holds, 1);
    tell_totals(lone, 3);
    CHECK_EQ_INT(lone->sent_count, 2);
    const struct eki_message *message = lone_sent(lone, 0, EKI_KIND_PARCEL);
    check_parcel(message, EKI_PARCEL_TARGET, sizeof target + sizeof(double));
    memcpy(&target, message->body, sizeof target);
    CHECK(target.is_balanced);
    CHECK_EQ_INT(target.totals.total, 6 * task_ns());
    CHECK_EQ_INT(target.totals.tasks, 6);
    check_parcel(lone_sent(lone, 1, EKI_KIND_PARCEL), EKI_PARCEL_OVER,
                 sizeof(struct eki_result_told));
    CHECK_EQ_INT(lone->engine->holds, 0);
    CHECK_OK(lone_end_root(lone, 0, 0).status);
    check_report(lone, 0, 0, 0);
}

/* Rank 1 of SPEED without tasks offers the load that it has where the fastest
 * rank is told to be of speed 1. */
static eki_ns load_of_speed(double speed)
{
    struct {
        struct eki_section section;
        struct eki_offer_told told;
        eki_ns load;
    } offer;
    struct eki_balance_wish wish = centralized();
    struct lone lone;
    lone_start(&lone, 1);
    eki_rebalance_prepare(lone.engine);
    lone.engine->moves.speed = speed;
    enter(&lone, &wish);
    lone_serve(&lone);
    lone_forget(&lone);
    tell_target(&lone, 2, false);
    const struct eki_message *message = lone_sent_only(&lone, EKI_KIND_PARCEL);
    check_parcel(message, EKI_PARCEL_OFFER, sizeof offer);
    memcpy(&offer, message->body, sizeof offer);
    lone_close(&lone);
    return offer.load;
}

static void slow_rank_has_less_room(void)
{
    CHECK_EQ_INT(load_of_speed(1), 0);
    CHECK_EQ_INT(load_of_speed(0.5), task_ns());
    CHECK_EQ_INT(load_of_speed(1 + 0.9 / EKI_SPEED_UNIT), 0);
}

static void target_is_a_time_where_ranks_are_unequal(struct lone *lone)
{
    struct eki_target_told target;
    begin(lone, 0);
    lone_serve(lone);
    tell_totals_of_fast(lone, 6);
    const struct eki_message *message = lone_sent(lone, 0, EKI_KIND_PARCEL);
    memcpy(&target, message->body, sizeof target);
    CHECK_EQ_INT(target.faster, EKI_SPEED_UNIT);
    CHECK_EQ_INT(target.totals.total, 6 * task_ns());
    CHECK_EQ_INT(target.totals.largest_load, 3 * task_ns());
    CHECK_EQ_INT(target.totals.largest_task, task_ns() / 2);
    CHECK(target.is_balanced);
}

static void root_tells_a_target_where_loads_differ(struct lone *lone)
{
    struct eki_target_told target;
    begin(lone, 0);
    lone_serve(lone);
    tell_totals(lone, 1);
    const struct eki_message *message = lone_sent_only(lone, EKI_KIND_PARCEL);
    memcpy(&target, message->body, sizeof target);
    CHECK(!target.is_balanced);
    CHECK(target.target >= 2 * task_ns() && target.target < 3 * task_ns());
    CHECK_EQ_INT(target.totals.largest_load, 3 * task_ns());
    CHECK_EQ_INT(lone->engine->holds, 1);
}

/* Rank 0 has tasks of 7, 5, 5 and 5, which no two workers can share but as 12
 * and 10, and rank 1 none ... */
static void begin_uneven(struct lone *lone)
{
    static const int lengths[] = {7, 5, 5, 5};
    struct eki_balance_wish wish = centralized();
    lone_start(lone, 0);
    eki_rebalance_prepare(lone->engine);
    for (int i = 0; i < 4; i++)
        lone_seed_at(lone, 0, 10 + (uint64_t)i)->bin =
            eki_bin_of((uint64_t)lengths[i] * TASK_NS);
    enter(lone, &wish);
    lone_serve(lone);
}

static void tell_empty_offer(struct lone *lone)
{
    const struct {
        struct eki_section section;
        struct eki_offer_told told;
        eki_ns load;
    } offer = {{1, sizeof offer - sizeof offer.section}, {.workers = 1}, 0};
    tell(lone, EKI_PARCEL_OFFER, &offer, sizeof offer);
}

/* ... and takes part. */
static void play_rank_1(struct lone *lone)
{
    struct eki_section opened = {1, 0};
    tell_totals(lone, 0);
    tell_empty_offer(lone);
    /* It may be asked for more, three times. */
    for (int i = 0; i < 3 && lone->engine->holds > 0; i++)
        tell(lone, EKI_PARCEL_OPENED, &opened, sizeof opened);
    CHECK_EQ_INT(lone->engine->holds, 0);
}

/* Rank 0 has 40 tasks, rank 1 none, and each is a group; rank 1 says that it
 * has no room. */
static void root_decides_for_all_where_groups_end_short(struct lone *lone)
{
    const struct {
        struct eki_section section;
        struct eki_group group;
    } left = {{1, sizeof left.group}, {.spare = -40 * task_ns(), .workers = 1}};
    const struct eki_result_told result = {0};
    struct eki_target_told target;
    begin_as(lone, 0, 40, EK_RESTORE_HIERARCHICAL);
    lone_serve(lone);
    tell_totals(lone, 0);
    tell(lone, EKI_PARCEL_LEFT, &left, sizeof left);
    lone_forget(lone);
    tell_of(lone, EKI_PARCEL_RESULT, 1, &result, sizeof result);
    const struct eki_message *message = lone_sent_only(lone, EKI_KIND_PARCEL);
    CHECK_EQ_INT(message->head.detail, EKI_PARCEL_TARGET);
    memcpy(&target, message->body, sizeof target);
    CHECK(target.is_whole && !target.is_balanced);
    tell_empty_offer(lone);
    CHECK_EQ_INT(lone->engine->holds, 0);
    check_report(lone, 1, 0, 20);
}

/* A second rebalance, where the tasks of rank 1 are so long: is it worth moving
 * one? */
static bool is_balanced_with(struct lone *lone, int length)
{
    struct eki_balance_wish wish = centralized();
    struct eki_target_told target;
    enter(lone, &wish);
    lone_serve(lone);
    lone_forget(lone);
    tell_totals_of(lone, 2, length * task_ns());
    memcpy(&target, lone_sent(lone, 0, EKI_KIND_PARCEL)->body, sizeof target);
    return target.is_balanced;
}

/* After three iterations, in which rank 1 tells that they took twice as long as
 * the work and that tasks spawned SPAWNED others: does nobody steal in the
 * next, and why? */
static bool is_quiet_after(int64_t spawned, eki_ns work,
                           enum eki_why_steal *why)
{
    struct eki_balance_wish wish = wish_of(EK_RESTORE_AUTO, 0);
    struct eki_result_told over;
    struct lone lone;
    lone_start(&lone, 0);
    seed(&lone, 0, 3, 10);
    wish.outlook.may_steal = true;
    for (wish.outlook.done = 1; wish.outlook.done <= 3; wish.outlook.done++) {
        eki_rebalance_prepare(lone.engine);
        enter(&lone, &wish);
        lone_serve(&lone);
        lone_forget(&lone);
        tell_lap(&lone, &(struct eki_lap_told){
                            .wall = work, .work = work, .spawned = spawned});
        memcpy(&over, lone_sent(&lone, 1, EKI_KIND_PARCEL)->body, sizeof over);
        *why = (enum eki_why_steal)over.why_steal;
        CHECK_EQ_INT(eki_rebalance_report(lone.engine)->is_quiet,
                     over.is_quiet);
        lone_skip(&lone);
    }
    lone_close(&lone);
    return over.is_quiet;
}

static void nobody_steals_where_it_costs(void)
{
    enum eki_why_steal why;
    CHECK(is_quiet_after(0, 6 * task_ns(), &why));
    CHECK_EQ_INT(why, EKI_STEAL_COSTS);
    /* A seventh of the work was spawned, or a fourteenth. */
    CHECK(!is_quiet_after(1, 7 * task_ns(), &why));
    CHECK_EQ_INT(why, EKI_STEAL_SPAWNS);
    CHECK(is_quiet_after(1, 6 * task_ns() * 14 / 13, &why));
    CHECK(is_quiet_after(0, 7 * task_ns(), &why));
}

/* Rank 1 has three tasks, with which loads are as long as they may be in all:
 * it keeps one, which the leader wants when two fit nowhere. */
static void opened_tasks_count_once(struct lone *lone)
{
    const eki_ns ns = EKI_NS_MOST / 10 * 3;
    struct {
        struct eki_section section;
        struct eki_offer_told told;
        eki_ns load;
        struct eki_item items[2];
    } offer = {{1, sizeof offer - sizeof offer.section},
               {.workers = 1, .items = 2, .largest = 3 * ns},
               ns,
               {{ns, 1, 0}, {ns, 1, 1}}};
    struct {
        struct eki_section section;
        struct eki_item item;
    } opened = {{1, sizeof opened.item}, {ns, 1, 2}};
    struct eki_section nothing = {1, 0};
    begin(lone, 0);
    lone_serve(lone);
    tell_totals_of(lone, 3, ns);
    tell(lone, EKI_PARCEL_OFFER, &offer, sizeof offer);
    tell(lone, EKI_PARCEL_OPENED, &opened, sizeof opened);
    tell(lone, EKI_PARCEL_OPENED, &nothing, sizeof nothing);
    CHECK_NEAR(eki_rebalance_report(lone->engine)->after, 1. / 3, 1e-3);
}

static void what_was_reached_is_remembered(void)
{
    for (int length = 5; length <= 10; length += 5) {
        struct lone lone;
        begin_uneven(&lone);
        play_rank_1(&lone);
        CHECK_OK(lone_end_root(&lone, 0, 2).status);
        CHECK_OK(eki_engine_restore_end(lone.engine, EKI_ORDER_EXECUTED));
        CHECK_NEAR(eki_rebalance_report(lone.engine)->after, 1. / 11, 1e-3);
        CHECK_EQ_INT(eki_rebalance_report(lone.engine)->across, 2);
        CHECK_EQ_INT(eki_rebalance_report(lone.engine)->fewest_across, 2);
        CHECK_EQ_INT(is_balanced_with(&lone, length), length == 5);
        lone_close(&lone);
    }
}

static void parcel_waits_for_a_buffer(struct lone *lone)
{
    begin(lone, 1);
    lone->buffers = 0;
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    lone->buffers = 1;
    lone_serve(lone);
    lone_sent_only(lone, EKI_KIND_PARCEL);
}

static void parcel_that_lies_is_an_error(struct lone *lone)
{
    begin(lone, 1);
    struct eki_message *message = lone_message(lone, EKI_KIND_PARCEL);
    message->head.detail = EKI_PARCEL_TARGET;
    message->head.count = 8;
    message->head.bytes = 16;
    CHECK_EQ_INT(lone_end(lone).status, EK_ERR_MPI);
}

static void parcel_without_memory_is_taken_later(struct lone *lone)
{
    begin(lone, 1);
    lone_serve(lone);
    WITHOUT_MEMORY(1, tell_target(lone, 2, true));
    CHECK(lone->has_got);
    CHECK_EQ_INT(lone->engine->holds, 0);
    lone_serve(lone);
    CHECK(!lone->has_got);
    lone_forget(lone);
    lone_step(lone);
    lone_serve(lone);
    struct eki_vote vote;
    memcpy(&vote, lone_sent_only(lone, EKI_KIND_VOTE)->body, sizeof vote);
    CHECK_EQ_INT(vote.error.status, EK_ERR_NOMEM);
}

/* With and without a wish: where this is asked for, all have failed. */
static void parcels_are_dropped_where_nobody_has_prepared(void)
{
    struct eki_balance_wish wish = centralized();
    for (int has_wish = 0; has_wish < 2; has_wish++) {
        struct lone lone;
        lone_start(&lone, 1);
        seed(&lone, 0, 3, 10);
        enter(&lone, has_wish ? &wish : NULL);
        CHECK_EQ_INT(lone.engine->holds, 0);
        tell_target(&lone, 2, true);
        CHECK(!lone.has_got);
        tell_over(&lone, 3, 3, 0);
        CHECK(!lone.has_got);
        CHECK_EQ_INT(lone_count(&lone, EKI_KIND_PARCEL), 0);
        CHECK_OK(lone_end_leaf(&lone).status);
        CHECK_EQ_INT(eki_rebalance_own(lone.engine).sent, 0);
        CHECK_EQ_INT(eki_rebalance_report(lone.engine)->moved, 0);
        CHECK_EQ_INT(tasks_of(&lone, 0), 3);
        lone_close(&lone);
    }
}

/* Prepared, but in a phase that does not rebalance. */
static void parcels_are_dropped_where_nobody_wishes(struct lone *lone)
{
    lone_start(lone, 1);
    eki_rebalance_prepare(lone->engine);
    enter(lone, NULL);
    /* Dropped: no memory is needed for it. */
    WITHOUT_MEMORY(1, tell_target(lone, 2, false));
    CHECK(!lone->has_got);
    CHECK_OK(lone_end_leaf(lone).status);
}

int main(void)
{
    RUN_LONE(rank_tells_what_it_has);
    RUN_LONE(workers_wait_until_the_root_says_that_it_is_over);
    RUN_LONE(tasks_move_where_the_plan_says);
    RUN_LONE(tasks_move_when_their_plan_has_come);
    RUN_LONE(second_target_waits_for_plans);
    RUN(listed_workers_open);
    RUN_LONE(tasks_stay_where_it_would_be_worse);
    RUN_LONE(tasks_stay_after_a_stop);
    RUN_LONE(root_tells_that_all_is_balanced);
    RUN(slow_rank_has_less_room);
    RUN_LONE(target_is_a_time_where_ranks_are_unequal);
    RUN_LONE(root_tells_a_target_where_loads_differ);
    RUN_LONE(root_decides_for_all_where_groups_end_short);
    RUN_LONE(opened_tasks_count_once);
    RUN(nobody_steals_where_it_costs);
    RUN(what_was_reached_is_remembered);
    RUN_LONE(parcel_waits_for_a_buffer);
    RUN_LONE(parcel_that_lies_is_an_error);
    RUN_LONE(parcel_without_memory_is_taken_later);
    RUN(parcels_are_dropped_where_nobody_has_prepared);
    RUN_LONE(parcels_are_dropped_where_nobody_wishes);
    return check_result();
}
