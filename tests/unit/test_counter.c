/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter: how seeds are numbered and drawn, on rank 0 and elsewhere, and what
 * becomes of them when the counter does not open.
 */
#include "seeds.h"

static int visible(const struct lone *lone)
{
    return (int)eki_deque_visible(EKI_DEQUE_ATOMIC, lone->engine->capacity,
                                  &lone_worker(lone)->words->deque);
}

static void rank_0_waits_for_the_seeds_of_others(struct lone *lone)
{
    begin(lone, 0, 3, 10);
    CHECK_EQ_INT(visible(lone), 0);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 0);
    CHECK(eki_worker_calls(lone_worker(lone)));
    CHECK(!eki_worker_awaits(lone_worker(lone)));
    CHECK(eki_worker_due(lone_worker(lone)) == UINT64_MAX);
}

static void rank_0_tells_where_numbers_begin(struct lone *lone)
{
    struct eki_seeds table[3];
    begin(lone, 0, 3, 10);
    tell_seeds(lone, (struct eki_seeds){.first = 2, .function = -1});
    const struct eki_message *told = lone_sent_only(lone, EKI_KIND_TABLE);
    CHECK_EQ_INT(told->head.first, 0);
    CHECK_EQ_INT(told->head.count, 3);
    if (CHECK_EQ_INT(told->head.bytes, sizeof table)) {
        memcpy(table, told->body, sizeof table);
        for (int r = 0; r < 3; r++)
            CHECK_EQ_INT(table[r].function, -1);
        CHECK_EQ_INT(table[0].first, 0);
        CHECK_EQ_INT(table[1].first, 3);
        CHECK_EQ_INT(table[2].first, 5);
    }
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
}

static void table_comes_in_pieces(struct lone *lone)
{
    begin(lone, 0, 3, 10);
    lone->fabric.message_bytes =
        sizeof(struct eki_message) + 2 * sizeof(struct eki_seeds);
    lone->buffers = 1;
    tell_seeds(lone, (struct eki_seeds){.first = 2, .function = -1});
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_TABLE)->head.count, 2);
    lone->buffers = 2;
    lone_serve(lone);
    const struct eki_message *rest = lone_sent_only(lone, EKI_KIND_TABLE);
    CHECK_EQ_INT(rest->head.first, 2);
    CHECK_EQ_INT(rest->head.count, 1);
}

static void own_seeds_are_drawn_in_their_order(struct lone *lone)
{
    uint64_t ran[8];
    begin(lone, 0, 3, 10);
    tell_seeds(lone, (struct eki_seeds){.first = 0, .function = -1});
    CHECK_EQ_INT(lone_run(lone, ran, 8), 3);
    for (int i = 0; i < 3; i++)
        CHECK_EQ_INT(ran[i], 10 + i);
    CHECK_EQ_INT(lone_worker(lone)->counts.steals, 3);
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 4);
    CHECK(!eki_worker_calls(lone_worker(lone)));
    struct eki_error error = lone_end_root(lone, 0, 0);
    CHECK_OK(error.status);
}

static void draw_is_answered_with_the_next_number(struct lone *lone)
{
    begin(lone, 0, 3, 10);
    /* Before the counter is open: that waits. */
    tell_number(lone, EKI_KIND_DRAW, 1, 0);
    CHECK_EQ_INT(lone->sent_count, 0);
    tell_seeds(lone, (struct eki_seeds){.first = 2, .function = -1});
    const struct eki_message *number = lone_sent(lone, 1, EKI_KIND_NUMBER);
    CHECK_EQ_INT(number->head.first, 0);
    CHECK_EQ_INT(number->head.worker, 1);
    /* One for the worker here in between. */
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
    lone_forget(lone);
    tell_number(lone, EKI_KIND_DRAW, 1, 0);
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_NUMBER)->head.first, 2);
}

static void wish_needs_no_memory(struct lone *lone)
{
    begin(lone, 0, 3, 10);
    tell_seeds(lone, (struct eki_seeds){.first = 2, .function = -1});
    lone_forget(lone);
    WITHOUT_MEMORY(1, tell_number(lone, EKI_KIND_DRAW, 1, 0));
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_NUMBER)->head.first, 0);
}

/* What rank 1 tells of its seeds. */
static struct eki_seeds told_seeds(struct lone *lone)
{
    struct eki_seeds seeds;
    enter(lone);
    lone_serve(lone);
    const struct eki_message *told = lone_sent_only(lone, EKI_KIND_SEEDS);
    CHECK_EQ_INT(told->head.count, 1);
    CHECK_EQ_INT(told->head.bytes, sizeof seeds);
    memcpy(&seeds, told->body, sizeof seeds);
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_SEEDS), 0);
    return seeds;
}

static void rank_tells_how_many_seeds_it_has(struct lone *lone)
{
    make(lone, 1, 3, 10);
    struct eki_seeds seeds = told_seeds(lone);
    CHECK_EQ_INT(seeds.first, 3);
    CHECK_EQ_INT(seeds.function, -1);
}

static void rank_tells_that_its_seeds_are_one_run(struct lone *lone)
{
    make(lone, 1, 0, 0);
    seed_range(lone, 500, 20, 7);
    seed_range(lone, 520, 5, 27);
    struct eki_seeds seeds = told_seeds(lone);
    CHECK_EQ_INT(seeds.first, 25);
    CHECK_EQ_INT(seeds.index, 500);
    CHECK_EQ_INT(seeds.number, 7);
    CHECK_EQ_INT(seeds.function, 0);
}

/* Entries of the table of which rank 1 has those of odd numbers, and rank 0
 * nothing: its seeds of each class. */
static void tell_classes(struct lone *lone, const int64_t *counts)
{
    struct eki_seeds table[2 * EKI_SEED_CLASSES + 1];
    int64_t first = 0;
    for (int e = 0; e <= 2 * EKI_SEED_CLASSES; e++) {
        table[e] = (struct eki_seeds){.first = first, .function = -1};
        first += e % 2 ? counts[e / 2] : 0;
    }
    tell_table(lone, table, 0, 2 * EKI_SEED_CLASSES + 1);
}

static void restored_seeds_are_numbered_by_class(void)
{
    static const uint64_t lasted[3] = {900, 64000, 5000};
    static const int64_t counts[EKI_SEED_CLASSES] = {1, 1, 0, 1};
    static const struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                                           .signature = 1,
                                           .is_ordered = true,
                                           .chunk = EKI_CHUNK_GUIDED};
    struct eki_phase ordered = phase;
    struct eki_seeds seeds[EKI_SEED_CLASSES] = {{0}};
    struct lone lone;
    uint64_t ran[3];
    lone_open(&lone, 1);
    lone.setup.lines_up = true;
    lone_make(&lone);
    lone_seed(&lone, 3, 10);
    for (int i = 0; i < 3; i++)
        eki_slot_at(lone_worker(&lone)->local.seed_base, i,
                    lone.engine->slot_bytes)
            ->bin = eki_bin_of(lasted[i]);
    lone.engine->node->load.task_ns = lasted[1];
    ordered.scheme = eki_scheme_of(EK_STEAL_COUNTER);
    lone_enter_phase(&lone, &ordered);
    lone_serve(&lone);
    const struct eki_message *told = lone_sent_only(&lone, EKI_KIND_SEEDS);
    CHECK_EQ_INT(told->head.count, EKI_SEED_CLASSES);
    if (CHECK_EQ_INT(told->head.bytes, sizeof seeds))
        memcpy(seeds, told->body, sizeof seeds);
    for (int class = 0; class < EKI_SEED_CLASSES; class ++)
        CHECK_EQ_INT(seeds[class].first, counts[class]);
    tell_classes(&lone, counts);
    CHECK_EQ_INT(lone_run(&lone, ran, 3), 0);
    lone_serve(&lone);
    tell_numbers(&lone, EKI_KIND_NUMBER, 1, 0, 3);
    CHECK_EQ_INT(lone_run(&lone, ran, 3), 3);
    CHECK_EQ_INT(ran[0], 11);
    CHECK_EQ_INT(ran[1], 12);
    CHECK_EQ_INT(ran[2], 10);
    lone_close(&lone);
}

static void ranges_with_a_gap_are_no_run(void)
{
    static const int64_t second[][2] = {{521, 27}, {520, 28}};
    for (int i = 0; i < 2; i++) {
        struct lone lone;
        make(&lone, 1, 0, 0);
        seed_range(&lone, 500, 20, 7);
        seed_range(&lone, second[i][0], 5, (uint64_t)second[i][1]);
        struct eki_seeds seeds = told_seeds(&lone);
        CHECK_EQ_INT(seeds.first, 25);
        CHECK_EQ_INT(seeds.function, -1);
        lone_close(&lone);
    }
}

static void rank_1_draws_by_messages(struct lone *lone)
{
    uint64_t ran[4];
    begin_rank_1(lone);
    struct ek_worker *worker = lone_worker(lone);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ_INT(lone_run(lone, ran, 4), i);
        CHECK(eki_worker_calls(worker));
        lone_serve(lone);
        CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_DRAW)->head.worker, 1);
        lone_serve(lone);
        CHECK_EQ_INT(lone_count(lone, EKI_KIND_DRAW), 0);
        tell_number(lone, EKI_KIND_NUMBER, 1, 3 + i);
    }
    CHECK_EQ_INT(lone_run(lone, ran, 4), 1);
    CHECK_EQ_INT(ran[0], 11);
    CHECK_EQ_INT(worker->counts.steals, 2);
    CHECK_EQ_INT(worker->counts.tries, 3);
}

static void short_tasks_are_drawn_ahead(struct lone *lone)
{
    uint64_t ran[8];
    make(lone, 1, 2, 10);
    lone_worker(lone)->batch.task_ns = 100000;
    enter_chunks(lone, 1);
    lone_serve(lone);
    tell_counts(lone, 3, 2);
    lone_forget(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 0);
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_DRAW)->head.detail, 4);
    lone_forget(lone);
    tell_numbers(lone, EKI_KIND_NUMBER, 1, 3, 4);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
    CHECK(lone_worker(lone)->batch.wants_server);
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_DRAW)->head.detail, 4);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 2);
}

/* Also where a message or a batch has room for fewer. */
static void chunk_beyond_the_last_seed_ends_there(struct lone *lone)
{
    uint64_t ran[100];
    make(lone, 0, 100, 0);
    enter_chunks(lone, EKI_CHUNK_MOST);
    tell_seeds(lone, (struct eki_seeds){.function = -1});
    CHECK_EQ_INT(lone_run(lone, ran, 100), 100);
    for (int i = 0; i < 100; i++)
        CHECK_EQ_INT(ran[i], i);
    CHECK_EQ_INT(lone_worker(lone)->counts.steals, 1);
    CHECK(!eki_worker_calls(lone_worker(lone)));
}

/* Rank 0 gives away what the others ask for, whatever its own chunk is. */
static void draws_of_others_say_how_many(struct lone *lone)
{
    static const int chunks[] = {5, 1, EKI_CHUNK_MOST, 1};
    static const int64_t firsts[] = {0, 5, 6, 6 + EKI_CHUNK_MOST};
    begin(lone, 0, 3, 10);
    tell_seeds(lone, (struct eki_seeds){.first = 9, .function = -1});
    lone_forget(lone);
    for (int i = 0; i < 4; i++) {
        struct eki_message *draw = lone_message(lone, EKI_KIND_DRAW);
        draw->head.detail = chunks[i];
        lone_serve(lone);
        CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_NUMBER)->head.first,
                     firsts[i]);
    }
    lone_message(lone, EKI_KIND_DRAW)->head.detail = 0;
    struct eki_error error = lone_end(lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_HAS_TEXT(error.text, "draw: chunk is 0; allowed: 1 ... 1048576");
}

/* Half of what is left for each of two nodes, or more where so many are wanted;
 * rank 0 draws for its own node in between. */
static void draws_are_guided(struct lone *lone)
{
    static const int chunks[] = {1, 1, 20, 1}, counts[] = {10, 7, 20, 1};
    uint64_t ran[1];
    int64_t first = 0;
    make(lone, 0, 3, 10);
    enter_chunks(lone, EKI_CHUNK_GUIDED);
    tell_seeds(lone,
               (struct eki_seeds){.first = 37, .work = 37, .function = -1});
    lone_forget(lone);
    for (int i = 0; i < 4; i++) {
        lone_message(lone, EKI_KIND_DRAW)->head.detail = chunks[i];
        lone_serve(lone);
        const struct eki_message *number =
            lone_sent_only(lone, EKI_KIND_NUMBER);
        CHECK_EQ_INT(number->head.first, first);
        CHECK_EQ_INT(number->head.detail, counts[i]);
        first += counts[i];
    }
    lone_forget(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    lone_serve(lone);
    const struct eki_message *fetch = lone_sent_only(lone, EKI_KIND_FETCH);
    CHECK_EQ_INT(fetch->head.first, first);
    CHECK_EQ_INT(fetch->head.detail, 1);
}

/* Its server puts what it drew where workers take it, in order. */
static void stock_is_filled_and_taken(struct lone *lone)
{
    uint64_t ran[4];
    make(lone, 1, 4, 10);
    enter_chunks(lone, EKI_CHUNK_GUIDED);
    lone_serve(lone);
    tell_counts(lone, 3, 4);
    lone_forget(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 0);
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_DRAW)->head.detail, 1);
    tell_numbers(lone, EKI_KIND_NUMBER, 1, 3, 3);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 3);
    for (int i = 0; i < 3; i++)
        CHECK_EQ_INT(ran[i], 10 + i);
    CHECK(eki_worker_calls(lone_worker(lone)));
    lone_forget(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_DRAW), 1);
    tell_numbers(lone, EKI_KIND_NUMBER, 1, 6, 5);
    CHECK(!eki_worker_calls(lone_worker(lone)));
    CHECK_EQ_INT(lone_run(lone, ran, 4), 1);
    CHECK_EQ_INT(ran[0], 13);
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 2);
}

static void number_beyond_the_last_seed_is_the_end(struct lone *lone)
{
    uint64_t ran[4];
    begin_rank_1(lone);
    lone_step(lone);
    lone_serve(lone);
    CHECK(eki_worker_calls(lone_worker(lone)));
    tell_number(lone, EKI_KIND_NUMBER, 1, 5);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 0);
    CHECK(!eki_worker_calls(lone_worker(lone)));
    lone_forget(lone);
    lone_step(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_DRAW), 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.steals, 0);
}

/* The seeds come back to their worker, who cancels them. */
static void check_cancelled(struct lone *lone, int seeds)
{
    uint64_t ran[4];
    CHECK_EQ_INT(lone_run(lone, ran, 4), 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, seeds);
    CHECK_EQ_INT(lone_worker(lone)->executed, seeds);
    CHECK(eki_local_check(&lone_worker(lone)->local) == NULL);
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 0);
}

static void stop_before_the_counter_opens_makes_it_void(struct lone *lone)
{
    begin(lone, 0, 3, 10);
    eki_engine_stop(lone->engine);
    tell_seeds(lone, (struct eki_seeds){.first = 2, .function = -1});
    const struct eki_message *table = lone_sent_of(lone, EKI_KIND_TABLE);
    CHECK_EQ_INT(table->head.count, 0);
    CHECK_EQ_INT(table->head.bytes, 0);
    check_cancelled(lone, 3);
    struct eki_error error = lone_end_root(lone, 2, 2);
    CHECK_OK(error.status);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_TABLE), 0);
    int64_t discarded = 0;
    CHECK_OK(eki_engine_restore_worker(lone->engine, 0, EKI_ORDER_EXECUTED,
                                       &discarded));
    CHECK_EQ_INT(eki_local_seed_tasks(&lone_worker(lone)->local), 3);
}

static void empty_table_makes_the_counter_void(struct lone *lone)
{
    begin(lone, 1, 2, 10);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, 0);
    tell_table(lone, NULL, 0, 0);
    CHECK(eki_is_stopped(lone->engine));
    check_cancelled(lone, 2);
}

/* Rank 0 has no counter in this phase, others wait for one. */
static void ranks_that_differ_hear_of_a_void_counter(struct lone *lone)
{
    make(lone, 0, 3, 10);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    tell_seeds(lone, (struct eki_seeds){.first = 2, .function = -1});
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_TABLE)->head.count, 0);
    CHECK(eki_is_stopped(lone->engine));
}

static void table_that_lies_is_refused(void)
{
    static const int64_t lies[][2] = {
        {-1, 1}, {1, 3}, {3, 1}, {0, 4}, {INT64_MAX, 1}};
    static const struct eki_seeds table[4];
    for (int i = 0; i < 5; i++) {
        struct lone lone;
        begin(&lone, 1, 2, 10);
        lone_serve(&lone);
        tell_table(&lone, table, lies[i][0], lies[i][1]);
        check_broken(&lone,
                     i == 0 || i == 4 ? "table: first is" : "table: count is");
    }
}

static void negative_number_is_refused(void)
{
    struct lone lone;
    begin(&lone, 1, 2, 10);
    struct eki_message *message = lone_message(&lone, EKI_KIND_NUMBER);
    message->head.first = -5;
    message->head.worker = lone_worker(&lone)->id;
    check_broken(&lone, "number: state of the worker is 0; allowed: 3");
}

static void table_of_wrong_size_is_refused(void)
{
    struct lone lone;
    begin(&lone, 1, 2, 10);
    struct eki_message *message = lone_message(&lone, EKI_KIND_TABLE);
    message->head.count = 3;
    message->head.bytes = 2 * sizeof(struct eki_seeds);
    check_broken(&lone, "table: bytes is 80; allowed: 120");
}

/* Its server has nobody to tell. */
static void lone_rank_may_be_served(struct lone *lone)
{
    static const int workers[1] = {1}, nodes[1] = {0};
    uint64_t ran[4];
    lone_open_job(lone, 0, 1, workers, nodes);
    lone_make(lone);
    lone_seed(lone, 1, 3);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_COUNTER);
    CHECK(lone_serve(lone));
    CHECK_EQ_INT(lone_run(lone, ran, 4), 1);
    CHECK(lone_serve(lone));
}

static void scheme_says_why_there_is_no_counter(void)
{
    const struct eki_scheme *scheme = eki_scheme_of(EK_STEAL_COUNTER);
    for (int has = 0; has < 2; has++) {
        struct lone lone;
        lone_open(&lone, 0);
        lone.setup.has_counter = has;
        lone_make(&lone);
        const char *why = scheme->unsuitable(lone.engine);
        CHECK((why == NULL) == has);
        CHECK((eki_counter_of(lone.engine) != NULL) == has);
        if (!has)
            CHECK_HAS_TEXT(why, "has_counter");
        lone_close(&lone);
    }
}

static int draw_state(const struct lone *lone)
{
    /* relaxed: there is one thread. */
    return atomic_load_explicit(&eki_counter_of(lone->engine)->drawers[0].state,
                                memory_order_relaxed);
}

/* A worker has no room for a seed: when memory is gone for long another rank
 * gets it. */
static void drawn_seed_goes_on(struct lone *lone)
{
    begin_rank_1(lone);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    lone_serve(lone);
    tell_number(lone, EKI_KIND_NUMBER, 1, 3);
    lone_forget(lone);
    WITHOUT_MEMORY(1, lone_step(lone));
    CHECK(eki_is_stopped(lone->engine));
    CHECK_EQ_INT(draw_state(lone), EKI_DRAW_STUCK);
    lone_serve(lone);
    CHECK_EQ_INT(draw_state(lone), EKI_DRAW_NUMBER);
    eki_memory_fail(EKI_MEMORY_GONE);
    for (int i = 0; i < 3; i++) {
        lone->now += UINT64_C(5000000000);
        lone_step(lone);
        lone_serve(lone);
    }
    eki_memory_fail(0);
    const struct eki_message *move = lone_sent_of(lone, EKI_KIND_MOVE);
    CHECK_EQ_INT(move->head.worker, -1);
    CHECK_EQ_INT(move->head.count, 1);
    CHECK_EQ_INT(lone_number_in(move, 0), 10);
}

/* A job of one rank, with a range of 20 indices and two seeds. */
static void enter_alone(struct lone *lone, int chunk)
{
    static const int workers[1] = {1}, nodes[1] = {0};
    lone_open_job(lone, 0, 1, workers, nodes);
    lone_make(lone);
    seed_range(lone, 500, 20, 7);
    lone_seed(lone, 2, 30);
    enter_chunks(lone, chunk);
}

/* The seeds of the next iteration, of a phase that was stopped: TASKS, the
 * first one a range from INDEX on. */
static void check_kept(struct lone *lone, int64_t index, int64_t tasks)
{
    struct eki_local *local = &lone_worker(lone)->local;
    const struct eki_slot *slot = (const struct eki_slot *)local->seed_base;
    struct eki_range range;
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, tasks);
    CHECK_EQ_INT(local->aside, 0);
    CHECK_EQ_INT(eki_local_slots(local, local->seed_base, local->seed_end), 3);
    memcpy(&range, slot->payload, sizeof range);
    CHECK_EQ_INT(range.first, index);
    CHECK_EQ_INT(range.last, 520);
    CHECK_EQ_INT(slot->id & (EKI_NUMBERS - 1), 7 + (uint64_t)(index - 500));
    for (int i = 1; i < 3; i++) {
        slot = eki_slot_at(local->seed_base, i, LONE_SLOT);
        CHECK(slot->flags & EKI_SLOT_CANCELLED);
        CHECK_EQ_INT(lone_number(slot), 29 + (uint64_t)i);
    }
}

static void lone_rank_draws_where_it_has_room(struct lone *lone)
{
    enter_alone(lone, 17);
    eki_memory_fail(EKI_MEMORY_GONE);
    lone_step(lone);
    CHECK(eki_is_stopped(lone->engine));
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 0);
    struct eki_error error = lone_end(lone);
    eki_memory_fail(0);
    CHECK_EQ_INT(error.status, EK_ERR_NOMEM);
    CHECK_EQ_TEXT(error.text, "no memory for drawn tasks (17 of 64 bytes)");
    check_kept(lone, 500, 22);
}

static void lone_rank_keeps_what_nobody_has_drawn(struct lone *lone)
{
    enter_alone(lone, 5);
    for (int ran = 0, steps = 0; ran < 5 && steps < 20; steps++) {
        if (lone_step(lone) != EKI_STEP_RUN)
            continue;
        while (eki_worker_take(lone_worker(lone)))
            ran++;
    }
    eki_engine_stop(lone->engine);
    lone_end(lone);
    CHECK_EQ_INT(lone_worker(lone)->counts.tasks, 5);
    check_kept(lone, 505, 17);
}

int main(void)
{
    RUN_LONE(rank_0_waits_for_the_seeds_of_others);
    RUN_LONE(rank_0_tells_where_numbers_begin);
    RUN_LONE(table_comes_in_pieces);
    RUN_LONE(own_seeds_are_drawn_in_their_order);
    RUN_LONE(short_tasks_are_drawn_ahead);
    RUN_LONE(draw_is_answered_with_the_next_number);
    RUN_LONE(wish_needs_no_memory);
    RUN_LONE(rank_tells_how_many_seeds_it_has);
    RUN_LONE(rank_tells_that_its_seeds_are_one_run);
    RUN(restored_seeds_are_numbered_by_class);
    RUN(ranges_with_a_gap_are_no_run);
    RUN_LONE(rank_1_draws_by_messages);
    RUN_LONE(chunk_beyond_the_last_seed_ends_there);
    RUN_LONE(draws_of_others_say_how_many);
    RUN_LONE(draws_are_guided);
    RUN_LONE(stock_is_filled_and_taken);
    RUN_LONE(number_beyond_the_last_seed_is_the_end);
    RUN_LONE(stop_before_the_counter_opens_makes_it_void);
    RUN_LONE(empty_table_makes_the_counter_void);
    RUN_LONE(ranks_that_differ_hear_of_a_void_counter);
    RUN(table_that_lies_is_refused);
    RUN(negative_number_is_refused);
    RUN(table_of_wrong_size_is_refused);
    RUN_LONE(lone_rank_may_be_served);
    RUN_LONE(drawn_seed_goes_on);
    RUN_LONE(lone_rank_draws_where_it_has_room);
    RUN_LONE(lone_rank_keeps_what_nobody_has_drawn);
    RUN(scheme_says_why_there_is_no_counter);
    return check_result();
}
