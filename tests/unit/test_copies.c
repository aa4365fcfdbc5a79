/* SPDX-License-Identifier: BSD-3-Clause */
/* copies: seeds of other ranks, whose numbers somebody here has drawn. */
#include "seeds.h"

/* The answer to a FETCH of worker 0, with COUNT seeds, before it is taken. */
static void fetched(struct lone *lone, int count, uint64_t number)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_FETCHED);
    lone_fill(lone, message, count, number);
    message->head.worker = lone_worker(lone)->id;
}

static void seed_of_another_rank_is_fetched(struct lone *lone)
{
    uint64_t ran[8];
    begin(lone, 0, 1, 10);
    tell_seeds(lone, (struct eki_seeds){.first = 2, .function = -1});
    CHECK_EQ_INT(lone_run(lone, ran, 8), 1);
    for (int i = 0; i < 2; i++) {
        lone_forget(lone);
        lone_serve(lone);
        const struct eki_message *fetch = lone_sent_only(lone, EKI_KIND_FETCH);
        CHECK_EQ_INT(fetch->head.first, 1 + i);
        CHECK_EQ_INT(fetch->head.worker, 0);
        CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
        fetched(lone, 1, (uint64_t)(70 + i));
        lone_serve(lone);
        CHECK_EQ_INT(lone_run(lone, ran, 8), 1);
        CHECK_EQ_INT(ran[0], 70 + i);
    }
    CHECK_EQ_INT(lone_worker(lone)->counts.steals, 3);
    CHECK(!eki_worker_calls(lone_worker(lone)));
}

static void copies_are_run_by_who_draws_their_numbers(struct lone *lone)
{
    uint64_t ran[8];
    begin(lone, 0, 0, 0);
    tell_seeds(lone, (struct eki_seeds){.first = 6, .function = -1});
    CHECK_EQ_INT(lone_run(lone, ran, 8), 0);
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_FETCH)->head.first, 0);
    tell_number(lone, EKI_KIND_DRAW, 1, 0);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_NUMBER)->head.first, 1);
    fetched(lone, 4, 70);
    lone_serve(lone);
    lone_forget(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 3);
    CHECK_EQ_INT(ran[0], 70);
    CHECK_EQ_INT(ran[1], 72);
    CHECK_EQ_INT(ran[2], 73);
    CHECK_EQ_INT(lone_worker(lone)->counts.steals, 3);
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_FETCH)->head.first, 4);
}

/* When the first of them is drawn. */
static void seeds_behind_copies_are_fetched_ahead(struct lone *lone)
{
    uint64_t ran[8];
    begin(lone, 0, 0, 0);
    tell_seeds(lone, (struct eki_seeds){.first = 5, .function = -1});
    CHECK_EQ_INT(lone_run(lone, ran, 8), 0);
    lone_serve(lone);
    for (int i = 0; i < 2; i++) {
        fetched(lone, 2, (uint64_t)(70 + 2 * i));
        lone_serve(lone);
        lone_forget(lone);
        CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
        lone_serve(lone);
        CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_FETCH)->head.first,
                     2 + 2 * i);
        CHECK_EQ_INT(lone_run(lone, ran, 8), 2);
        CHECK_EQ_INT(ran[0], 70 + 2 * i);
        CHECK_EQ_INT(ran[1], 71 + 2 * i);
    }
}

static void run_of_another_rank_is_not_fetched(struct lone *lone)
{
    uint64_t ran[8];
    begin(lone, 0, 1, 10);
    tell_seeds(lone, (struct eki_seeds){.first = 2, .index = 500, .number = 7});
    lone_forget(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 3);
    CHECK_EQ_INT(ran[1], 500);
    CHECK_EQ_INT(ran[2], 501);
    const struct eki_slot *last =
        (const struct eki_slot *)(lone_worker(lone)->local.log_end - LONE_SLOT);
    CHECK_EQ_INT(last->id, eki_id(1, 8));
    CHECK_EQ_INT(last->bytes, 8);
    CHECK_EQ_INT(last->flags, EKI_SLOT_SEED);
    CHECK_EQ_INT(lone->sent_count, 0);
}

/* Rank 1 as in begin_rank_1(), which draws numbers 1 ... 4 at once and has to
 * fetch the first two. */
static void draw_chunk(struct lone *lone)
{
    uint64_t ran[1];
    make(lone, 1, 2, 10);
    enter_chunks(lone, 4);
    lone_serve(lone);
    tell_counts(lone, 3, 2);
    lone_forget(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_DRAW)->head.detail, 4);
    tell_numbers(lone, EKI_KIND_NUMBER, 1, 1, 4);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    lone_serve(lone);
    const struct eki_message *fetch = lone_sent_of(lone, EKI_KIND_FETCH);
    CHECK_EQ_INT(fetch->head.first, 1);
    CHECK_EQ_INT(fetch->head.detail, 4);
}

static void chunk_over_two_holders_runs_in_order(struct lone *lone)
{
    static const uint64_t expected[4] = {71, 72, 10, 11};
    uint64_t ran[4];
    draw_chunk(lone);
    struct ek_worker *worker = lone_worker(lone);
    fetched(lone, 2, 71);
    lone_serve(lone);
    lone_forget(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 4);
    for (int i = 0; i < 4; i++)
        CHECK_EQ_INT(ran[i], expected[i]);
    CHECK_EQ_INT(worker->counts.steals, 1);
    CHECK_EQ_INT(worker->counts.tries, 2);
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_DRAW)->head.detail, 4);
}

/* The first answer brings a part of what was drawn there. */
static void rest_of_a_chunk_is_fetched(struct lone *lone)
{
    uint64_t ran[4];
    draw_chunk(lone);
    fetched(lone, 1, 71);
    lone_serve(lone);
    lone_forget(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 1);
    lone_serve(lone);
    const struct eki_message *fetch = lone_sent_of(lone, EKI_KIND_FETCH);
    CHECK_EQ_INT(fetch->head.first, 2);
    CHECK_EQ_INT(fetch->head.detail, 3);
}

static void chunk_is_cancelled_when_the_phase_is_stopped(struct lone *lone)
{
    uint64_t ran[1];
    draw_chunk(lone);
    eki_engine_stop(lone->engine);
    fetched(lone, 2, 71);
    lone_serve(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, 4);
    CHECK_EQ_INT(lone_worker(lone)->executed, 4);
}

static void
fetch_is_answered_with_that_seed_and_those_behind_it(struct lone *lone)
{
    begin_rank_1(lone);
    for (int64_t i = 1; i >= 0; i--) {
        tell_number(lone, EKI_KIND_FETCH, 0, 3 + i);
        const struct eki_message *seed = lone_sent_of(lone, EKI_KIND_FETCHED);
        CHECK_EQ_INT(seed->head.worker, 0);
        CHECK_EQ_INT(seed->head.count, 2 - i);
        CHECK_EQ_INT(seed->head.bytes, (2 - i) * LONE_SLOT);
        CHECK_EQ_INT(lone_number_in(seed, 0), 10 + i);
        CHECK_EQ_INT(lone_number_in(seed, (int)(1 - i)), 11);
    }
}

/* A message has fewer seeds than two for each worker: whoever asked would draw
 * one of them. */
static void
fetch_among_many_workers_is_answered_with_one_seed(struct lone *lone)
{
    static const int workers[2] = {8, 1}, nodes[2] = {0, 1};
    lone_open_job(lone, 1, 2, workers, nodes);
    lone_make(lone);
    lone_seed(lone, 5, 10);
    enter(lone);
    lone_serve(lone);
    tell_counts(lone, 3, 5);
    tell_number(lone, EKI_KIND_FETCH, 0, 4);
    const struct eki_message *seed = lone_sent_of(lone, EKI_KIND_FETCHED);
    CHECK_EQ_INT(seed->head.count, 1);
    CHECK_EQ_INT(lone_number_in(seed, 0), 11);
}

/* Ranges, another task between them: so they are no run, and are fetched. */
static void fetch_finds_an_index_of_a_range(struct lone *lone)
{
    static const uint64_t payloads[] = {500, 501, 42, 700, 702};
    static const int64_t numbers[] = {3, 4, 5, 6, 8};
    make(lone, 1, 0, 0);
    seed_range(lone, 500, 2, 7);
    lone_seed(lone, 1, 42);
    seed_range(lone, 700, 3, 90);
    enter(lone);
    lone_serve(lone);
    tell_counts(lone, 3, 6);
    for (int i = 0; i < 5; i++) {
        lone_forget(lone);
        tell_number(lone, EKI_KIND_FETCH, 0, numbers[i]);
        const struct eki_message *seed = lone_sent_of(lone, EKI_KIND_FETCHED);
        CHECK_EQ_INT(lone_number_in(seed, 0), payloads[i]);
        CHECK(!(((const struct eki_slot *)seed->body)->flags & EKI_SLOT_RANGE));
    }
}

/* Rank 0 waits for seed 0, of rank 1. */
static void begin_fetch(struct lone *lone)
{
    uint64_t ran[1];
    begin(lone, 0, 0, 0);
    tell_seeds(lone, (struct eki_seeds){.first = 2, .function = -1});
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_FETCH), 1);
}

static void answer_that_nobody_waits_for_is_an_error(void)
{
    struct lone lone;
    begin_fetch(&lone);
    fetched(&lone, 3, 70);
    check_broken(&lone, "fetched: count is 3; allowed: 1 ... 2");
}

static void fetched_without_memory_is_taken_later(struct lone *lone)
{
    uint64_t ran[1];
    begin_fetch(lone);
    fetched(lone, 1, 70);
    WITHOUT_MEMORY(1, lone_serve(lone));
    CHECK(lone->has_got);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    lone_serve(lone);
    CHECK(!lone->has_got);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, 1);
}

/* Rank 1 holds seeds 0 and 1 of two; it has the table, or has it not yet. */
static void fetching_what_is_not_here_is_refused(void)
{
    static const struct eki_seeds table[3] = {
        {.function = -1}, {.function = -1}, {.first = 2, .function = -1}};
    static const int64_t numbers[] = {-1, 2, 1000};
    for (int i = 0; i < 6; i++) {
        struct lone lone;
        begin(&lone, 1, 2, 10);
        lone_serve(&lone);
        if (i < 3)
            tell_table(&lone, table, 0, 3);
        if (i < 3)
            lone_serve(&lone);
        lone_message(&lone, EKI_KIND_FETCH)->head.first = numbers[i % 3];
        lone_serve(&lone);
        if (i > 3)
            tell_table(&lone, table, 0, 3);
        check_broken(&lone, i > 3 ? "table: held numbers is 0"
                                  : "fetch: held number is 0");
    }
}

int main(void)
{
    RUN_LONE(seed_of_another_rank_is_fetched);
    RUN_LONE(copies_are_run_by_who_draws_their_numbers);
    RUN_LONE(seeds_behind_copies_are_fetched_ahead);
    RUN_LONE(run_of_another_rank_is_not_fetched);
    RUN_LONE(chunk_over_two_holders_runs_in_order);
    RUN_LONE(rest_of_a_chunk_is_fetched);
    RUN_LONE(chunk_is_cancelled_when_the_phase_is_stopped);
    RUN_LONE(fetch_is_answered_with_that_seed_and_those_behind_it);
    RUN_LONE(fetch_among_many_workers_is_answered_with_one_seed);
    RUN_LONE(fetch_finds_an_index_of_a_range);
    RUN(answer_that_nobody_waits_for_is_an_error);
    RUN_LONE(fetched_without_memory_is_taken_later);
    RUN(fetching_what_is_not_here_is_refused);
    return check_result();
}
