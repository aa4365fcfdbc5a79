/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter: how seeds are numbered, drawn and fetched, on rank 0 and elsewhere,
 * and what becomes of them when the counter does not open.
 */
#include "lone.h"

#include "protocol/counter.h"

/* Make RANK with COUNT seeds, numbered from FIRST. */
static void make(struct lone *lone, int rank, int count, uint64_t first)
{
    lone_open(lone, rank);
    lone_make(lone);
    lone_seed(lone, count, first);
}

static void enter(struct lone *lone)
{
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_COUNTER);
}

static void begin(struct lone *lone, int rank, int count, uint64_t first)
{
    make(lone, rank, count, first);
    enter(lone);
}

/* A seed that stands for COUNT indices from INDEX on, NUMBER is of its id. */
static void seed_range(struct lone *lone, int64_t index, int64_t count,
                       uint64_t number)
{
    struct eki_range range = {index, index + count};
    struct eki_slot *slot = lone_seed_at(lone, 0, 0);
    slot->bytes = sizeof range;
    slot->bin = EKI_BIN_RANGE;
    slot->flags |= EKI_SLOT_RANGE;
    slot->id = eki_id(lone_worker(lone)->id, number);
    memcpy(slot->payload, &range, sizeof range);
    lone_worker(lone)->local.has_ranges = true;
}

/* To rank 0: what rank 1 holds. */
static void tell_seeds(struct lone *lone, struct eki_seeds seeds)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_SEEDS);
    message->head.count = 1;
    message->head.bytes = sizeof seeds;
    memcpy(message->body, &seeds, sizeof seeds);
    lone_serve(lone);
}

/* To rank 1: COUNT entries of the table from FIRST on. */
static void tell_table(struct lone *lone, const struct eki_seeds *table,
                       int64_t first, int64_t count)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_TABLE);
    message->head.first = first;
    message->head.count = count;
    message->head.bytes = count * (int64_t)sizeof *table;
    if (count > 0)
        memcpy(message->body, table, (size_t)message->head.bytes);
    lone_serve(lone);
}

/* The table of a job in which rank 0 has MINE and rank 1 THEIRS to fetch. */
static void tell_counts(struct lone *lone, int64_t mine, int64_t theirs)
{
    const struct eki_seeds table[3] = {
        {.function = -1},
        {.first = mine, .function = -1},
        {.first = mine + theirs, .function = -1}};
    tell_table(lone, table, 0, 3);
}

/* A message about NUMBER for, or from, WORKER. */
static void tell_number(struct lone *lone, int kind, int worker, int64_t number)
{
    struct eki_message *message = lone_message(lone, kind);
    message->head.worker = worker;
    message->head.first = number;
    lone_serve(lone);
}

/* The answer to a FETCH of worker 0, with COUNT seeds, before it is taken. */
static void fetched(struct lone *lone, int count, uint64_t number)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_FETCHED);
    lone_fill(lone, message, count, number);
    message->head.worker = lone_worker(lone)->id;
}

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
    CHECK_EQ_INT(lone_worker(lone)->counts.attempted, 0);
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
    CHECK_EQ_INT(lone_worker(lone)->counts.successful, 3);
    CHECK_EQ_INT(lone_worker(lone)->counts.attempted, 4);
    CHECK(!eki_worker_calls(lone_worker(lone)));
    struct eki_error error = lone_end_root(lone, 0, 0);
    CHECK_EQ_INT(error.status, EK_OK);
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
    CHECK_EQ_INT(lone_worker(lone)->counts.successful, 3);
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
    CHECK_EQ_INT(lone_worker(lone)->counts.successful, 3);
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

static void wish_without_memory_is_taken_later(struct lone *lone)
{
    begin(lone, 0, 3, 10);
    tell_seeds(lone, (struct eki_seeds){.first = 2, .function = -1});
    lone_forget(lone);
    eki_memory_fail(1);
    tell_number(lone, EKI_KIND_DRAW, 1, 0);
    eki_memory_fail(0);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK(!eki_is_stopped(lone->engine));
    lone_serve(lone);
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

/* Rank 1 with seeds 10, 11; rank 0 has three before them. */
static void begin_rank_1(struct lone *lone)
{
    begin(lone, 1, 2, 10);
    lone_serve(lone);
    tell_counts(lone, 3, 2);
    lone_forget(lone);
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
    CHECK_EQ_INT(worker->counts.successful, 2);
    CHECK_EQ_INT(worker->counts.attempted, 3);
}

static void enter_chunks(struct lone *lone, int chunk)
{
    lone_enter_phase(
        lone, &(struct eki_phase){.kind = EKI_PHASE_PROCESS,
                                  .signature = 1,
                                  .scheme = eki_scheme_of(EK_STEAL_COUNTER),
                                  .chunk = chunk});
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
    tell_number(lone, EKI_KIND_NUMBER, 1, 1);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    lone_serve(lone);
    const struct eki_message *fetch = lone_sent_of(lone, EKI_KIND_FETCH);
    CHECK_EQ_INT(fetch->head.first, 1);
    CHECK_EQ_INT(fetch->head.detail, 4);
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
    tell_number(lone, EKI_KIND_NUMBER, 1, 3);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
    CHECK(lone_worker(lone)->batch.wants_server);
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_DRAW)->head.detail, 4);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 2);
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
    CHECK_EQ_INT(worker->counts.successful, 1);
    CHECK_EQ_INT(worker->counts.attempted, 2);
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
    CHECK_EQ_INT(lone_worker(lone)->counts.successful, 1);
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
    CHECK_EQ_INT(lone_worker(lone)->counts.successful, 0);
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

/* The seeds come back to their worker, who cancels them. */
static void check_cancelled(struct lone *lone, int seeds)
{
    uint64_t ran[4];
    CHECK_EQ_INT(lone_run(lone, ran, 4), 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, seeds);
    CHECK_EQ_INT(lone_worker(lone)->executed, seeds);
    CHECK(eki_local_check(&lone_worker(lone)->local) == NULL);
    CHECK_EQ_INT(lone_worker(lone)->counts.attempted, 0);
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
    CHECK_EQ_INT(error.status, EK_OK);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_TABLE), 0);
    int64_t discarded = 0;
    CHECK_EQ_INT(eki_engine_restore_worker(lone->engine, 0, EKI_ORDER_EXECUTED,
                                           &discarded),
                 EK_OK);
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

/* The phase ends at once, and says why. */
static void check_broken(struct lone *lone, const char *text)
{
    struct eki_error error = lone_end(lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_HAS_TEXT(error.text, text);
    lone_close(lone);
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
    eki_memory_fail(1);
    lone_serve(lone);
    eki_memory_fail(0);
    CHECK(lone->has_got);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    lone_serve(lone);
    CHECK(!lone->has_got);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, 1);
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

static void negative_number_is_refused(void)
{
    struct lone lone;
    begin(&lone, 1, 2, 10);
    struct eki_message *message = lone_message(&lone, EKI_KIND_NUMBER);
    message->head.first = -5;
    message->head.worker = lone_worker(&lone)->id;
    check_broken(&lone, "number: state of the worker is 0; allowed: 2");
}

static void table_of_wrong_size_is_refused(void)
{
    struct lone lone;
    begin(&lone, 1, 2, 10);
    struct eki_message *message = lone_message(&lone, EKI_KIND_TABLE);
    message->head.count = 3;
    message->head.bytes = 2 * sizeof(struct eki_seeds);
    check_broken(&lone, "table: bytes is 64; allowed: 96");
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

int main(void)
{
    RUN_LONE(rank_0_waits_for_the_seeds_of_others);
    RUN_LONE(rank_0_tells_where_numbers_begin);
    RUN_LONE(table_comes_in_pieces);
    RUN_LONE(own_seeds_are_drawn_in_their_order);
    RUN_LONE(seed_of_another_rank_is_fetched);
    RUN_LONE(copies_are_run_by_who_draws_their_numbers);
    RUN_LONE(seeds_behind_copies_are_fetched_ahead);
    RUN_LONE(short_tasks_are_drawn_ahead);
    RUN_LONE(run_of_another_rank_is_not_fetched);
    RUN_LONE(draw_is_answered_with_the_next_number);
    RUN_LONE(wish_without_memory_is_taken_later);
    RUN_LONE(rank_tells_how_many_seeds_it_has);
    RUN_LONE(rank_tells_that_its_seeds_are_one_run);
    RUN(ranges_with_a_gap_are_no_run);
    RUN_LONE(rank_1_draws_by_messages);
    RUN_LONE(chunk_over_two_holders_runs_in_order);
    RUN_LONE(rest_of_a_chunk_is_fetched);
    RUN_LONE(chunk_is_cancelled_when_the_phase_is_stopped);
    RUN_LONE(chunk_beyond_the_last_seed_ends_there);
    RUN_LONE(draws_of_others_say_how_many);
    RUN_LONE(number_beyond_the_last_seed_is_the_end);
    RUN_LONE(fetch_is_answered_with_that_seed_and_those_behind_it);
    RUN_LONE(fetch_among_many_workers_is_answered_with_one_seed);
    RUN_LONE(fetch_finds_an_index_of_a_range);
    RUN_LONE(stop_before_the_counter_opens_makes_it_void);
    RUN_LONE(empty_table_makes_the_counter_void);
    RUN_LONE(ranks_that_differ_hear_of_a_void_counter);
    RUN(answer_that_nobody_waits_for_is_an_error);
    RUN_LONE(fetched_without_memory_is_taken_later);
    RUN(table_that_lies_is_refused);
    RUN(fetching_what_is_not_here_is_refused);
    RUN(negative_number_is_refused);
    RUN(table_of_wrong_size_is_refused);
    RUN_LONE(lone_rank_may_be_served);
    RUN(scheme_says_why_there_is_no_counter);
    return check_result();
}
