/* SPDX-License-Identifier: BSD-3-Clause */
/* data: inputs and results of tasks that run elsewhere, and what moves home. */
#include "pair.h"

static void data_travels_there_and_back(size_t bytes)
{
    static struct pair pair;
    pair_open(&pair, bytes, 0);
    seed_away(&pair, 5);
    pair_enter(&pair, EKI_PHASE_PROCESS);
    CHECK_OK(pair_end(&pair).status);
    check_all(&pair, 5, 1);
    struct eki_data_counts away = eki_data_counts_of(pair.lones[1].engine);
    struct eki_data_counts home = eki_data_counts_of(pair.lones[0].engine);
    CHECK_EQ_INT(away.travelled, 5);
    CHECK_EQ_INT(home.travelled, 0);
    CHECK_EQ_INT(away.bytes_in, 5 * bytes);
    CHECK_EQ_INT(away.bytes_out, 5 * bytes);
    CHECK_EQ_INT(home.bytes_in, 0);
    CHECK_EQ_INT(home.bytes_out, 0);
    pair_close(&pair);
}

static void one_byte_travels(void)
{
    data_travels_there_and_back(1);
}

static void bytes_of_one_message_travel(void)
{
    data_travels_there_and_back(LONE_BYTES - sizeof(struct eki_message) - 64);
}

static void one_byte_more_needs_several_messages(void)
{
    data_travels_there_and_back(LONE_BYTES - sizeof(struct eki_message) - 63);
}

static void long_data_travels(void)
{
    data_travels_there_and_back(BYTES_MOST);
}

static void task_at_home_calls_nothing(struct pair *pair)
{
    pair_open(pair, 8, 0);
    lone_seed(&pair->lones[0], 4, 0);
    pair_enter(pair, EKI_PHASE_PROCESS);
    CHECK_OK(pair_end(pair).status);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ_INT(pair->value[i], 1);
        CHECK_EQ_INT(pair->packed[i] + pair->unpacked[i], 0);
    }
}

/* Messages to the home stay away: no word that a result is unpacked comes. */
static void process_waits_for_results(struct pair *pair)
{
    pair_open(pair, 8, 0);
    seed_away(pair, 1);
    pair_enter(pair, EKI_PHASE_PROCESS);
    struct lone *away = &pair->lones[1];
    CHECK_EQ_INT(lone_step(away), EKI_STEP_RUN);
    run(pair, away, eki_worker_take(lone_worker(away)));
    pair->is_stuck[0] = true;
    CHECK(!try_end(pair, 50));
    CHECK_EQ_INT(pair->unpacked[0], 0);
    CHECK(!eki_is_idle(lone_worker(away)->words, away->engine->phase));
    pair->is_stuck[0] = false;
    CHECK_OK(pair_end(pair).status);
    check_all(pair, 1, 1);
}

static void nothing_returns(uint32_t marks, int dropped)
{
    static struct pair pair;
    pair_open(&pair, 2000, 0);
    pair.marks = marks;
    seed_away(&pair, 3);
    pair_enter(&pair, EKI_PHASE_PROCESS);
    pair_end(&pair);
    check_all(&pair, 3, 0);
    CHECK_EQ_INT(pair.dropped, dropped);
    pair_close(&pair);
}

static void task_that_skips_returns_nothing(void)
{
    nothing_returns(EKI_MARK_SKIP, 3);
}

static void task_that_discards_returns_nothing(void)
{
    nothing_returns(EKI_MARK_DISCARD, 3);
}

/* What the phase ends in, and its text. */
static void fails(struct pair *pair, const char *text)
{
    pair_enter(pair, EKI_PHASE_PROCESS);
    struct eki_error error = pair_end(pair);
    CHECK_EQ_INT(error.status, EK_ERR_TASK);
    CHECK_HAS_TEXT(error.text, text);
    CHECK_EQ_INT(pair->value[0], 0);
    pair_close(pair);
}

static void callbacks_that_fail_make_tasks_fail(void)
{
    static struct pair pair;
    pair_open(&pair, 8, 0);
    seed_away(&pair, 1);
    pair.pack_fails = true;
    fails(&pair, "pack_input has failed on rank 0");
    pair_open(&pair, BYTES_MOST + 1, 0);
    seed_away(&pair, 1);
    fails(&pair, "pack_input returned more than bytes_max on rank 0");
    pair_open(&pair, 8, 0);
    seed_away(&pair, 1);
    pair.unpack_fails = true;
    fails(&pair, "unpack_input has failed, with data of rank 0");
    pair_open(&pair, 8, 0);
    seed_away(&pair, 1);
    pair.result_fails = true;
    fails(&pair, "pack_result returned more than bytes_max");
}

/* Two of three tasks are staged while the first runs, and cancelled. */
static void stop_cancels_what_is_staged(struct pair *pair)
{
    pair_open(pair, 2000, 0);
    pair->marks = EKI_MARK_STOP;
    seed_away(pair, 3);
    pair_enter(pair, EKI_PHASE_PROCESS);
    struct lone *away = &pair->lones[1];
    CHECK_EQ_INT(lone_step(away), EKI_STEP_RUN);
    run(pair, away, eki_worker_take(lone_worker(away)));
    eki_engine_stop(away->engine);
    CHECK_OK(pair_end(pair).status);
    CHECK_EQ_INT(pair->unpacked[2], 1);
    CHECK_EQ_INT(pair->ran[0] + pair->ran[1], 0);
    CHECK_EQ_INT(pair->unpacked[0] + pair->unpacked[1], 0);
    CHECK_EQ_INT(pair->packed[1], 1);
    CHECK(eki_data_check(away->engine) == NULL);
}

/* Tasks that the worker has asked for are not published; others are. */
static void staged_task_is_not_published(struct pair *pair)
{
    pair_open(pair, 8, 0);
    struct lone *away = &pair->lones[1];
    struct ek_worker *worker = lone_worker(away);
    seed_away(pair, 3);
    pair_enter(pair, EKI_PHASE_PROCESS);
    CHECK_EQ_INT(lone_step(away), EKI_STEP_RUN);
    away->engine->has_thieves = true;
    run(pair, away, eki_worker_take(worker));
    CHECK_EQ_INT(eki_local_count(&worker->local), 2);
    CHECK_EQ_INT(eki_local_count_free(&worker->local), 1);
    eki_worker_publish_now(worker);
    CHECK_EQ_INT(worker->share.deque.open, 1);
    CHECK_EQ_INT(eki_local_count(&worker->local), 1);
    CHECK_EQ_INT(lone_number((struct eki_slot *)worker->share.slots), 0);
    away->engine->has_thieves = false;
    pair_end(pair);
    check_all(pair, 3, 1);
}

/* Of tasks spawned on top of one that is staged all may be published. */
static void staged_task_makes_way_for_spawned_ones(void)
{
    struct eki_local local;
    unsigned char shown[4 * LONE_SLOT];
    eki_local_init(&local, LONE_SLOT);
    for (uint64_t i = 0; i < 3; i++)
        lone_fill_slot(eki_local_push(&local), i);
    eki_local_hold(&local, local.stack + LONE_SLOT);
    lone_fill_slot(eki_local_push(&local), 3);
    CHECK_EQ_INT(eki_local_count_free(&local), 1);
    eki_local_lift_held(&local);
    CHECK_EQ_INT(eki_local_count_free(&local), 2);
    eki_local_publish(&local, shown, 2);
    CHECK_EQ_INT(lone_number((struct eki_slot *)shown), 0);
    CHECK_EQ_INT(lone_number((struct eki_slot *)(shown + LONE_SLOT)), 3);
    CHECK_EQ_INT(lone_number((struct eki_slot *)local.stack_bottom), 1);
    CHECK(eki_local_check(&local) == NULL);
    CHECK_EQ_INT(eki_local_cancel(&local), 2);
    CHECK(eki_local_check(&local) == NULL);
    eki_local_free(&local);
}

/* Rank 1 becomes the home of what lies there, and gives it back. */
static void data_follows_and_returns(struct pair *pair)
{
    pair_open(pair, 3000, 0);
    seed_away(pair, 5);
    lone_seed(&pair->lones[0], 1, 5);
    for (int rank = 0; rank < 2; rank++)
        eki_data_follow(pair->lones[rank].engine);
    pair_enter(pair, EKI_PHASE_RESTORE);
    CHECK_OK(pair_end(pair).status);
    CHECK_EQ_INT(pair->released, 5);
    const struct eki_engine *engine = pair->lones[1].engine;
    struct eki_local *local = &lone_worker(&pair->lones[1])->local;
    for (int i = 0; i < 5; i++) {
        struct eki_slot *slot = eki_slot_at(local->seeds, i, LONE_SLOT);
        CHECK_EQ_INT(pair->moved_in[i], 1);
        CHECK_EQ_INT(eki_engine_home(engine, slot), 1);
    }
    CHECK_EQ_INT(pair->moved_in[5], 0);
    pair_enter(pair, EKI_PHASE_PROCESS);
    CHECK_OK(pair_end(pair).status);
    CHECK_EQ_INT(pair->packed[0], 1);
}

/* What fails keeps its home, and moves in the next restore. */
static void follower_that_is_not_packed_stays(struct pair *pair)
{
    pair_open(pair, 3000, 0);
    seed_away(pair, 2);
    const struct eki_engine *engine = pair->lones[1].engine;
    const struct eki_slot *slot =
        (struct eki_slot *)engine->workers[0]->local.seeds;
    for (int fails = 1; fails >= 0; fails--) {
        pair->pack_fails = fails;
        for (int rank = 0; rank < 2; rank++)
            eki_data_follow(pair->lones[rank].engine);
        pair_enter(pair, EKI_PHASE_RESTORE);
        struct eki_error error = pair_end(pair);
        CHECK_EQ_INT(error.status, fails ? EK_ERR_TASK : EK_OK);
        CHECK(!eki_error_is_abandoned(&error));
        CHECK_EQ_INT(eki_engine_home(engine, slot), !fails);
        if (fails)
            CHECK_EQ_TEXT(error.text, "pack_input has failed on rank 0");
    }
}

static void follower_goes_back_to_the_id(struct pair *pair)
{
    pair_open(pair, 3000, 0);
    struct eki_slot *slot = lone_seed_at(&pair->lones[0], 0, 7);
    eki_slot_adopt(slot, LONE_SLOT, 1);
    CHECK_EQ_INT(eki_engine_home(pair->lones[0].engine, slot), 1);
    for (int rank = 0; rank < 2; rank++)
        eki_data_follow(pair->lones[rank].engine);
    pair_enter(pair, EKI_PHASE_RESTORE);
    CHECK_OK(pair_end(pair).status);
    CHECK_EQ_INT(pair->moved_in[7], 1);
    CHECK_EQ_INT(slot->flags & EKI_SLOT_ADOPTED, 0);
    CHECK_EQ_INT(eki_engine_home(pair->lones[0].engine, slot), 0);
}

/* A message that does not fit: its kind, its head, what its body says. */
struct bad {
    int kind;
    int worker;
    int64_t first, count, bytes;
    int detail;
    uint64_t id; /* of the task */
    int64_t total;
    const char *words;
};

/* To rank 0, or of an answer to rank 1, where a task with id 0 is asked for by
 * operation 65. */
static void refuses(const struct bad *bad)
{
    static struct pair pair;
    bool is_answer = bad->kind != EKI_KIND_ASK && bad->kind != EKI_KIND_RESULT;
    pair_open(&pair, 8, 0);
    seed_away(&pair, 1);
    pair_enter(&pair, EKI_PHASE_PROCESS);
    struct lone *away = &pair.lones[1], *lone = &pair.lones[is_answer];
    CHECK_EQ_INT(lone_step(away), EKI_STEP_RUN);
    eki_worker_take(lone_worker(away));
    CHECK_EQ_INT(eki_data_begin(lone_worker(away), away->now), EKI_DATA_WAITS);
    lone_serve(away);
    struct eki_message *message = lone_message(lone, bad->kind);
    message->head.worker = bad->worker;
    message->head.first = bad->first;
    message->head.count = bad->count;
    message->head.bytes = bad->bytes;
    message->head.detail = bad->detail;
    if (is_answer) {
        struct eki_data_words words = {bad->id, bad->total};
        memcpy(message->body, &words, sizeof words);
    } else {
        lone_fill_slot((struct eki_slot *)message->body, bad->id);
    }
    CHECK(lone_refuses(lone));
    CHECK_HAS_TEXT(lone->engine->node->refusal.text, bad->words);
    pair_close(&pair);
}

static void messages_that_do_not_fit_are_refused(void)
{
    enum {
        SLOT = LONE_SLOT,
        WORDS = sizeof(struct eki_data_words)
    };
    static const struct bad bads[] = {
        {EKI_KIND_ASK, 0, 64, 1, SLOT, 0, 0, 0, "ask: worker is 0"},
        {EKI_KIND_ASK, 1, 63, 1, SLOT, 0, 0, 0, "ask: operation is 63"},
        {EKI_KIND_ASK, 1, 64, 2, SLOT, 0, 0, 0, "ask: count is 2"},
        {EKI_KIND_ASK, 1, 64, 1, SLOT, 1, 0, 0, "ask: new home is 1"},
        {EKI_KIND_ASK, 1, 64, 1, SLOT, -2, 0, 0, "ask: time of a fetch"},
        {EKI_KIND_ASK, 1, 64, 1, SLOT, 0, UINT64_C(1) << EKI_ID_BITS, 0,
         "ask: home is 1"},
        {EKI_KIND_RESULT, 1, 64, 8, SLOT, -1, 0, 0, "result: bytes is 64"},
        {EKI_KIND_RESULT, 1, 64, 8, 8, -1, 0, 0, "result: bytes is 8"},
        {EKI_KIND_RESULT, 1, 64, 8, SLOT, -2, 0, 0, "result: count is 8"},
        {EKI_KIND_RESULT, 1, 64, BYTES_MOST + 1, SLOT, -2, 0, 0,
         "result: count is 6001"},
        {EKI_KIND_RESULT, 1, 64, 8, 8, 0, 0, 0, "result: result under way"},
        {EKI_KIND_INPUT, 1, 66, 8, WORDS + 8, 0, 0, 8,
         "input: operation under way"},
        {EKI_KIND_INPUT, 1, 65, 8, WORDS + 8, 0, 1, 8, "input: task"},
        {EKI_KIND_INPUT, 1, 65, 8, WORDS + 8, 0, 0, BYTES_MOST + 1,
         "input: total is 6001"},
        {EKI_KIND_INPUT, 1, 65, 8, WORDS + 8, 1, 0, 8, "input: offset is 1"},
        {EKI_KIND_INPUT, 1, 65, 9, WORDS + 9, 0, 0, 8, "input: count is 9"},
        {EKI_KIND_INPUT, 1, 65, 0, WORDS, 0, 0, 8, "input: count is 0"},
        {EKI_KIND_INPUT, 1, 65, 8, WORDS, 0, 0, 8, "input: bytes is 16"},
        {EKI_KIND_GIVE, 1, 65, 0, 0, 0, 0, 0, "give: operation under way"},
        {EKI_KIND_KEPT, 1, 65, 0, 0, 0, 0, 0, "kept: operation under way"},
        {EKI_KIND_KEPT, 0, 65, 0, 0, 0, 0, 0, "kept: worker is 0"}};
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++)
        refuses(&bads[i]);
}

/* What a thief of the other rank is answered, whose tasks took NS each and
 * waited 8 us for data, and an eighth less as a process has been since, while
 * the home sends other data until OWED. */
static int answer_to_thief(uint64_t ns, uint64_t owed)
{
    static struct pair pair;
    pair_open(&pair, 4000, 0);
    struct lone *home = &pair.lones[0];
    const struct eki_engine *engine = home->engine;
    lone_enter(home, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    ask(home, 7, 8000);
    CHECK_EQ_INT(lone_count(home, EKI_KIND_INPUT), 5);
    lone_forget(home);
    lone_end_root(home, 0, 0);
    lone_forget(home);
    for (uint64_t i = 0; i < 8; i++)
        lone_seed_at(home, 0, i)->bin = eki_bin_of(ns);
    lone_skip(home);
    lone_enter(home, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    /* relaxed: there is one thread. */
    atomic_store_explicit(&home->engine->owed_until, owed,
                          memory_order_relaxed);
    lone_message(home, EKI_KIND_REQUEST);
    lone_serve(home);
    CHECK_EQ_INT(home->sent_count, 1);
    int kind = lone_sent_head(home, 0)->kind;
    if (owed == 0)
        CHECK_EQ_INT(eki_stays(engine, 0), kind == EKI_KIND_NONE);
    pair_close(&pair);
    return kind;
}

static void task_is_stolen_where_it_is_worth_its_bytes(void)
{
    CHECK_EQ_INT(answer_to_thief(6500, 0), EKI_KIND_NONE);
    CHECK_EQ_INT(answer_to_thief(7500, 0), EKI_KIND_TASKS);
    CHECK_EQ_INT(answer_to_thief(7500, UINT64_MAX / 2), EKI_KIND_NONE);
}

int main(void)
{
    RUN(one_byte_travels);
    RUN(bytes_of_one_message_travel);
    RUN(one_byte_more_needs_several_messages);
    RUN(long_data_travels);
    RUN_WITH(struct pair, pair_close, task_at_home_calls_nothing);
    RUN_WITH(struct pair, pair_close, process_waits_for_results);
    RUN(task_that_skips_returns_nothing);
    RUN(task_that_discards_returns_nothing);
    RUN(callbacks_that_fail_make_tasks_fail);
    RUN_WITH(struct pair, pair_close, stop_cancels_what_is_staged);
    RUN_WITH(struct pair, pair_close, staged_task_is_not_published);
    RUN(staged_task_makes_way_for_spawned_ones);
    RUN_WITH(struct pair, pair_close, data_follows_and_returns);
    RUN_WITH(struct pair, pair_close, follower_that_is_not_packed_stays);
    RUN_WITH(struct pair, pair_close, follower_goes_back_to_the_id);
    RUN(messages_that_do_not_fit_are_refused);
    RUN(task_is_stolen_where_it_is_worth_its_bytes);
    return check_result();
}
