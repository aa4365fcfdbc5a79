/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebalance: a whole one on one rank, and what happens without memory.
 */
#include "tell.h"

/* One rank with two workers, which have so many tasks, numbered from 10. */
static void make(struct lone *lone, int first, int second)
{
    static const int workers[1] = {2}, nodes[1] = {0};
    lone_open_job(lone, 0, 1, workers, nodes);
    lone_make(lone);
    eki_rebalance_prepare(lone->engine);
    seed(lone, 0, first, 10);
    seed(lone, 1, second, 10 + (uint64_t)first);
}

static void make_uneven(struct lone *lone)
{
    make(lone, 4, 0);
}

/* The end of the phase, after which workers have so many tasks. */
static struct eki_error end(struct lone *lone, int64_t first, int64_t second)
{
    struct eki_error error = lone_end(lone);
    CHECK_OK(eki_engine_restore_end(lone->engine, EKI_ORDER_EXECUTED));
    CHECK_EQ_INT(tasks_of(lone, 0), first);
    CHECK_EQ_INT(tasks_of(lone, 1), second);
    return error;
}

/* No task twice: the numbers of all of them are 10 ... 13. */
static void check_all_are_here(const struct lone *lone)
{
    uint64_t seen = 0;
    for (int here = 0; here < 2; here++) {
        const struct eki_local *local = &lone->engine->workers[here]->local;
        for (unsigned char *at = local->seed_base; at != local->seed_end;
             at += LONE_SLOT)
            seen ^= UINT64_C(1) << lone_number((const struct eki_slot *)at);
    }
    CHECK_EQ_INT(seen, 15 << 10);
}

static void workers_are_evened_out(struct lone *lone)
{
    struct eki_balance_wish wish = centralized();
    make_uneven(lone);
    enter(lone, &wish);
    CHECK_EQ_INT(lone->engine->holds, 1);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    CHECK_OK(end(lone, 2, 2).status);
    CHECK_EQ_INT(lone->engine->holds, 0);
    check_report(lone, 1, 0, 2);
    check_all_are_here(lone);
    /* Nothing has left the rank. */
    CHECK_EQ_INT(eki_rebalance_own(lone->engine).sent, 0);
}

/* Durations whose sum no rank would accept, such as costs that are no seconds.
 */
static void long_durations_are_cut(struct lone *lone)
{
    enum {
        TASKS = 300000
    };
    struct eki_balance_wish wish = centralized();
    make(lone, 0, 0);
    for (int i = 0; i < TASKS; i++)
        lone_seed_at(lone, 0, (uint64_t)i)->bin = eki_bin_of(UINT64_C(1) << 50);
    enter(lone, &wish);
    CHECK_OK(end(lone, TASKS / 2, TASKS / 2).status);
}

static void any_worker_may_shed(struct lone *lone)
{
    struct eki_balance_wish wish = centralized();
    make(lone, 1, 3);
    enter(lone, &wish);
    CHECK_OK(end(lone, 2, 2).status);
    check_report(lone, 0.5, 0, 1);
    check_all_are_here(lone);
}

static void every_algorithm_evens_workers_out(void)
{
    static const ek_restore_policy policies[] = {
        EK_RESTORE_CENTRALIZED, EK_RESTORE_HIERARCHICAL,
        EK_RESTORE_CENTRALIZED_HPDC12, EK_RESTORE_HIERARCHICAL_HPDC12,
        EK_RESTORE_AUTO};
    for (int i = 0; i < 5; i++) {
        struct lone lone;
        struct eki_balance_wish wish = wish_of(policies[i], 1);
        make_uneven(&lone);
        enter(&lone, &wish);
        CHECK_OK(end(&lone, 2, 2).status);
        check_report(&lone, 1, 0, 2);
        check_all_are_here(&lone);
        lone_close(&lone);
    }
}

/* Not what lies where it would lie if tasks were sorted. */
static void just_what_is_shed_moves(struct lone *lone)
{
    struct eki_balance_wish wish = centralized();
    make_uneven(lone);
    const struct eki_local *locals[2] = {&lone->engine->workers[0]->local,
                                         &lone->engine->workers[1]->local};
    eki_slot_at(locals[0]->seed_base, 3, LONE_SLOT)->bin =
        eki_bin_of(4 * TASK_NS);
    enter(lone, &wish);
    CHECK_OK(end(lone, 3, 1).status);
    CHECK_EQ_INT(lone_number((const struct eki_slot *)locals[1]->seed_base),
                 13);
    check_all_are_here(lone);
}

static void tasks_never_measured_count_by_their_hints(struct lone *lone)
{
    struct eki_balance_wish wish = centralized();
    make_uneven(lone);
    for (int i = 0; i < 4; i++) {
        struct eki_slot *slot =
            eki_slot_at(lone_worker(lone)->local.seed_base, i, LONE_SLOT);
        slot->bin = EKI_BIN_NEVER;
        slot->deviation = eki_hint_byte(i == 0 ? 3 : 1);
    }
    enter(lone, &wish);
    /* One of 3 against three of 1. */
    lone_end(lone);
    CHECK_OK(eki_engine_restore_end(lone->engine, EKI_ORDER_EXECUTED));
    CHECK_EQ_INT(tasks_of(lone, 0) * tasks_of(lone, 1), 3);
    CHECK_NEAR(eki_rebalance_report(lone->engine)->before, 1, 0.01);
    CHECK_NEAR(eki_rebalance_report(lone->engine)->after, 0, 0.05);
    check_all_are_here(lone);
}

static void where_nothing_is_to_gain_nothing_moves(struct lone *lone)
{
    struct eki_balance_wish wish = centralized();
    make(lone, 2, 2);
    enter(lone, &wish);
    CHECK_OK(end(lone, 2, 2).status);
    check_report(lone, 0, 0, 0);
}

static void gain_below_its_cost_moves_nothing(struct lone *lone)
{
    struct eki_balance_wish wish = wish_of(EK_RESTORE_AUTO, 0);
    make_uneven(lone);
    /* About two tasks could be gained in each iteration. */
    wish.outlook.iterations = 10;
    wish.outlook.cost_ns = 21.0 * TASK_NS;
    enter(lone, &wish);
    CHECK_OK(end(lone, 4, 0).status);
    CHECK_EQ_INT(eki_rebalance_report(lone->engine)->moved, 0);
    CHECK_NEAR(eki_rebalance_report(lone->engine)->before, 1, 1e-9);
    CHECK_NEAR(eki_rebalance_report(lone->engine)->after, 1, 1e-9);

    wish.outlook.cost_ns = 15.0 * TASK_NS;
    enter(lone, &wish);
    CHECK_OK(end(lone, 2, 2).status);
    check_report(lone, 1, 0, 2);
}

static void no_memory_on_entering_is_an_error(void)
{
    int n = 1;
    for (bool failed = true; failed && n < 50; n++) {
        struct lone lone;
        struct eki_balance_wish wish = centralized();
        make_uneven(&lone);
        WITHOUT_MEMORY(n, enter(&lone, &wish));
        failed = eki_is_stopped(lone.engine);
        struct eki_error error = end(&lone, failed ? 4 : 2, failed ? 0 : 2);
        CHECK_EQ_INT(error.status, failed ? EK_ERR_NOMEM : EK_OK);
        CHECK_EQ_TEXT(error.text, failed ? "no memory to rebalance" : "");
        check_all_are_here(&lone);
        lone_close(&lone);
    }
    /* Sums in two pieces, the target, and totals. */
    CHECK_EQ_INT(n, 6);
}

/* Wherever it fails, every task is somewhere. */
static void no_memory_later_is_an_error(void)
{
    static const ek_restore_policy policies[] = {
        EK_RESTORE_CENTRALIZED, EK_RESTORE_HIERARCHICAL_HPDC12};
    for (int p = 0; p < 2; p++) {
        int n = 1;
        for (bool failed = true; failed && n < 100; n++) {
            struct lone lone;
            struct eki_balance_wish wish = wish_of(policies[p], 0);
            make_uneven(&lone);
            enter(&lone, &wish);
            WITHOUT_MEMORY(n, lone_serve(&lone));
            failed = eki_is_stopped(lone.engine);
            CHECK_EQ_INT(lone.engine->holds, 0);
            CHECK_EQ_INT(lone_end(&lone).status, failed ? EK_ERR_NOMEM : EK_OK);
            CHECK_OK(eki_engine_restore_end(lone.engine, EKI_ORDER_EXECUTED));
            check_all_are_here(&lone);
            lone_close(&lone);
        }
        CHECK(n > 15 && n < 100);
    }
}

/* Of four tasks of worker 0 so many CAME there, where each takes FACTOR times
 * what was told with it; those that stayed take GROWN times what they took.
 * Returns the rank's speed. */
static double learn(struct lone *lone, int came, double factor, double grown)
{
    struct eki_balancer *balancer = (struct eki_balancer *)eki_engine_protocol(
        lone->engine, &eki_rebalance_ops);
    struct eki_moves *moves = &lone->engine->moves;
    CHECK(eki_grow(&moves->arrivals, 3, &moves->arrivals_room, 4,
                   sizeof *moves->arrivals));
    moves->speed = 0;
    moves->arrived = came;
    for (int i = 0; i < came; i++)
        moves->arrivals[i] = (struct eki_arrival){
            10 + (uint64_t)i, eki_bin_of((uint64_t)(TASK_NS / factor)), 7};
    balancer->past.was_quiet = true;
    balancer->past.stayed = (struct eki_stayed){
        8 - came, (int64_t)((double)(8 - came) * (double)task_ns() / grown), 1};
    eki_speed_learn(balancer);
    CHECK_EQ_INT(moves->arrived, 0);
    return moves->speed;
}

static void speed_is_learned_from_tasks_that_came(struct lone *lone)
{
    make(lone, 4, 4);
    const struct eki_local *local = &lone->engine->workers[0]->local;
    CHECK_EQ_INT(learn(lone, 4, 1.03, 1), 0);
    CHECK_EQ_INT(learn(lone, 4, 2, 2), 0);
    CHECK_EQ_INT(((struct eki_slot *)local->seed_base)->deviation, 0);
    /* Two tasks tell nothing of the rank, but that this is no noise. */
    CHECK_EQ_INT(learn(lone, 2, 2, 1), 0);
    CHECK_EQ_INT(((struct eki_slot *)local->seed_base)->deviation, 7);
    CHECK_NEAR(learn(lone, 4, 2, 1), 0.5, 0.01);
    CHECK_NEAR(learn(lone, 4, 0.25, 1), 4, 0.01);
    CHECK_NEAR(learn(lone, 4, 1000, 1), 1.0 / EKI_SPEED_MOST, 0.01);
}

int main(void)
{
    RUN_LONE(workers_are_evened_out);
    RUN_LONE(long_durations_are_cut);
    RUN_LONE(any_worker_may_shed);
    RUN(every_algorithm_evens_workers_out);
    RUN_LONE(just_what_is_shed_moves);
    RUN_LONE(tasks_never_measured_count_by_their_hints);
    RUN_LONE(where_nothing_is_to_gain_nothing_moves);
    RUN_LONE(gain_below_its_cost_moves_nothing);
    RUN_LONE(speed_is_learned_from_tasks_that_came);
    RUN(no_memory_on_entering_is_an_error);
    RUN(no_memory_later_is_an_error);
    return check_result();
}
