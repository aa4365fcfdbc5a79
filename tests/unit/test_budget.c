/* SPDX-License-Identifier: BSD-3-Clause */
/* budget: memory for the data of tasks, and what happens without. */
#include "pair.h"

/* Most bytes that the ranks hold of 8 tasks whose inputs take long to come. */
static void run_within(int64_t budget, int64_t most[2])
{
    static struct pair pair;
    pair_open(&pair, BYTES_MOST, budget);
    seed_away(&pair, 8);
    pair_enter(&pair, EKI_PHASE_PROCESS);
    atomic_store(&eki_data_of(pair.lones[1].engine)->carriers[0].fetch_ns,
                 UINT64_C(1) << 40);
    CHECK_OK(pair_end(&pair).status);
    check_all(&pair, 8, 1);
    for (int rank = 0; rank < 2; rank++) {
        const struct eki_engine *engine = pair.lones[rank].engine;
        most[rank] = eki_data_counts_of(engine).bytes_most;
        CHECK(eki_data_check(engine) == NULL);
    }
    pair_close(&pair);
}

/* One input and one result of the worker, and of the home, fit. */
static void smallest_budget_is_enough(void)
{
    int64_t most[2];
    run_within(4 * BYTES_MOST, most);
    for (int rank = 0; rank < 2; rank++) {
        CHECK(most[rank] >= BYTES_MOST);
        CHECK(most[rank] <= 2 * BYTES_MOST);
    }
}

/* Who asks a home that has no memory for the input is told. */
static void home_without_memory_says_so(struct pair *pair)
{
    int64_t total = 0;
    pair_open(pair, 4000, 0);
    struct lone *home = &pair->lones[0];
    lone_enter(home, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    /* The first is for what is asked. */
    WITHOUT_MEMORY(2, ask(home, 7, 0));
    memcpy(&total, lone_sent_of(home, EKI_KIND_INPUT)->body + sizeof(uint64_t),
           sizeof total);
    CHECK_EQ_INT(total, -3);
    lone_end_root(home, 0, 0);
}

/* A home without memory for a long result says so, and keeps what it has. */
static void lose_result(ek_on_failure_policy on_failure)
{
    static struct pair pair;
    pair_open(&pair, BYTES_MOST, 0);
    seed_away(&pair, 1);
    pair_enter(&pair, EKI_PHASE_PROCESS);
    struct lone *home = &pair.lones[0], *away = &pair.lones[1];
    away->engine->on_failure = on_failure;
    CHECK_EQ_INT(lone_step(away), EKI_STEP_RUN);
    run(&pair, away, eki_worker_take(lone_worker(away)));
    pair.is_stuck[0] = true;
    CHECK(!try_end(&pair, 10));
    /* The input's buffer is free. */
    unsigned char *taken =
        eki_buffer_take(eki_data_of(home->engine), BYTES_MOST);
    pair.is_stuck[0] = false;
    /* The first is for what it is told. */
    WITHOUT_MEMORY(2, serve(&pair, 0));
    eki_buffer_give(eki_data_of(home->engine), taken);
    struct eki_error error = pair_end(&pair);
    CHECK_EQ_INT(eki_data_counts_of(away->engine).lost, 1);
    if (on_failure == EK_ON_FAILURE_CONTINUE) {
        CHECK_OK(error.status);
        CHECK(!eki_is_stopped(away->engine));
    } else {
        CHECK_EQ_INT(error.status, EK_ERR_NOMEM);
        CHECK_HAS_TEXT(error.text,
                       "rank 0 has no memory for the result of task 0");
    }
    CHECK_EQ_INT(pair.ran[0], 1);
    CHECK_EQ_INT(pair.unpacked[0] + pair.value[0], 0);
    CHECK(eki_data_check(home->engine) == NULL);
    CHECK(eki_data_check(away->engine) == NULL);
    pair_close(&pair);
}

static void result_without_memory_is_told(void)
{
    lose_result(EK_ON_FAILURE_STOP);
    lose_result(EK_ON_FAILURE_CONTINUE);
}

/* Where memory has run out a free buffer of another size makes room. */
static void free_buffers_go_back_where_memory_is_out(struct pair *pair)
{
    pair_open(pair, BYTES_MOST, 0);
    struct eki_data *data = eki_data_of(pair->lones[0].engine);
    eki_buffer_give(data, eki_buffer_take(data, 100));
    eki_memory_fail(1);
    unsigned char *buffer = eki_buffer_take(data, BYTES_MOST);
    CHECK(buffer != NULL);
    WITHOUT_MEMORY(1, CHECK(eki_buffer_take(data, 100) == NULL));
    eki_buffer_give(data, buffer);
}

static bool has_no_spare(struct eki_fabric *fabric)
{
    (void)fabric;
    return false;
}

/* While nothing long can be sent, no more is packed than there is room for. */
static void home_packs_what_it_has_room_for(struct pair *pair)
{
    pair_open(pair, BYTES_MOST, 4 * BYTES_MOST);
    struct lone *home = &pair->lones[0];
    lone_enter(home, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    struct eki_fabric_ops few = *home->fabric.ops;
    few.has_spare = has_no_spare;
    home->fabric.ops = &few;
    for (uint64_t number = 0; number < 3; number++)
        ask(home, number, 0);
    lone_serve(home);
    CHECK_EQ_INT(pair->packed[0] + pair->packed[1] + pair->packed[2], 1);
    home->fabric.ops = &lone_ops;
    lone_serve(home);
    CHECK_EQ_INT(pair->packed[0] + pair->packed[1] + pair->packed[2], 3);
}

static void larger_budget_is_used(void)
{
    int64_t most[2];
    run_within(40 * BYTES_MOST, most);
    CHECK(most[0] > 2 * BYTES_MOST);
    CHECK(most[1] >= 8 * BYTES_MOST);
}

static void budget_that_is_too_small_is_refused(struct lone *lone)
{
    struct eki_data_setup setup = {.budget_bytes = 4 * BYTES_MOST - 1};
    ek_data_ops ops = {.struct_bytes = sizeof ops, .bytes_max = BYTES_MOST};
    lone_start(lone, 0);
    CHECK_OK(eki_data_join(lone->engine, &setup));
    CHECK_EQ_INT(eki_data_set(lone->engine, 0, &ops), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "option data_bytes allows 23999");
    CHECK(eki_data_ops_of(lone->engine, 0) == NULL);
}

static void follower_without_memory_ends(struct pair *pair)
{
    pair_open(pair, 3000, 0);
    seed_away(pair, 3);
    for (int rank = 0; rank < 2; rank++)
        eki_data_follow(pair->lones[rank].engine);
    pair_enter(pair, EKI_PHASE_RESTORE);
    eki_memory_fail(1);
    struct eki_error error = pair_end(pair);
    eki_memory_fail(0);
    CHECK_EQ_INT(error.status, EK_ERR_NOMEM);
    CHECK_EQ_INT(pair->moved_in[0], 0);
}

int main(void)
{
    RUN(smallest_budget_is_enough);
    RUN_WITH(struct pair, pair_close, home_packs_what_it_has_room_for);
    RUN(larger_budget_is_used);
    RUN_LONE(budget_that_is_too_small_is_refused);
    RUN_WITH(struct pair, pair_close, home_without_memory_says_so);
    RUN(result_without_memory_is_told);
    RUN_WITH(struct pair, pair_close, free_buffers_go_back_where_memory_is_out);
    RUN_WITH(struct pair, pair_close, follower_without_memory_ends);
    return check_result();
}
