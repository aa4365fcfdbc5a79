/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests: when a worker asks another node, what becomes of the answers, and
 * what a server answers that is asked.
 */
#include "lone.h"

#include "protocol/requests.h"

enum {
    US = 1000 /* nanoseconds */
};

static void begin(struct lone *lone)
{
    lone_open(lone, 0);
    lone_begin(lone, EK_STEAL_RANDOM);
}

/* The first of eight nodes, which need not wait for the others to ask them. */
static void begin_with_nodes(struct lone *lone)
{
    static const int workers[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const int nodes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    lone_open_job(lone, 0, 8, workers, nodes);
    lone_begin(lone, EK_STEAL_RANDOM);
}

/* The worker looks at the moment NOW; whether that makes it ask. */
static bool asks_at(struct lone *lone, uint64_t now)
{
    lone->now = now;
    CHECK_EQ_INT(eki_worker_step(lone_worker(lone), now), EKI_STEP_WAIT);
    return eki_worker_calls(lone_worker(lone));
}

/* The server sends what is asked; when. */
static uint64_t send_request(struct lone *lone)
{
    lone_forget(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 1);
    const struct eki_message *request =
        lone_sent_to(lone, 0, EKI_KIND_REQUEST, lone->to[0]);
    CHECK_EQ_INT(request->head.worker, lone_worker(lone)->id);
    CHECK_EQ_INT(request->head.bytes, 0);
    return lone->now;
}

/* Who was asked last has nothing. */
static void deny(struct lone *lone)
{
    struct eki_message *none = lone_message(lone, EKI_KIND_NONE);
    none->head.worker = lone_worker(lone)->id;
    none->head.source = lone->to[0];
    lone_serve(lone);
}

/* COUNT tasks of an answer of which LEFT more follow. */
static void grant(struct lone *lone, int count, uint64_t first, int left)
{
    struct eki_message *tasks = lone_message(lone, EKI_KIND_TASKS);
    lone_fill(lone, tasks, count, first);
    tasks->head.worker = lone_worker(lone)->id;
    tasks->head.first = left;
    lone_serve(lone);
}

static void worker_without_work_asks_the_other_node(struct lone *lone)
{
    begin(lone);
    struct ek_worker *worker = lone_worker(lone);
    CHECK(!eki_worker_calls(worker));
    CHECK(!eki_worker_awaits(worker));
    CHECK(eki_worker_due(worker) <= lone->now);

    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    CHECK(eki_worker_calls(worker));
    CHECK(eki_worker_awaits(worker));
    CHECK_EQ_INT(worker->counts.attempted, 1);
    CHECK_EQ_INT(lone->sent_count, 0);

    uint64_t sent = send_request(lone);
    CHECK(!eki_worker_calls(worker));
    CHECK(eki_worker_awaits(worker));
    CHECK_EQ_INT(eki_worker_due(worker), sent + 1000 * US);
}

static void ask_waits_for_a_buffer(struct lone *lone)
{
    begin(lone);
    lone_step(lone);
    lone->buffers = 0;
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK(eki_worker_calls(lone_worker(lone)));
    lone->buffers = 1;
    send_request(lone);
}

/* Ask, be denied after TRIP and look again; how long the worker then backs off.
 */
static uint64_t back_off_after(struct lone *lone, uint64_t trip)
{
    struct ek_worker *worker = lone_worker(lone);
    CHECK(asks_at(lone, lone->now));
    send_request(lone);
    lone->now += trip;
    deny(lone);
    CHECK(!eki_worker_awaits(worker));
    /* It has to look before it knows. */
    CHECK(eki_worker_due(worker) <= lone->now);
    CHECK(!asks_at(lone, lone->now));
    uint64_t due = eki_worker_due(worker), since = lone->now;
    CHECK(!asks_at(lone, due - 1));
    lone->now = due;
    return due - since;
}

static uint64_t back_off(struct lone *lone)
{
    return back_off_after(lone, 0);
}

static void who_is_denied_waits_twice_as_long_each_time(struct lone *lone)
{
    static const uint64_t us[] = {20, 40, 80, 160, 320, 640, 1000, 1000};
    begin(lone);
    for (size_t i = 0; i < sizeof us / sizeof *us; i++)
        CHECK_EQ_INT(back_off(lone), us[i] * US);
}

/* Where the last process took so long, and answers take TRIP. */
static uint64_t longest_back_off(uint64_t process_ns, uint64_t trip)
{
    uint64_t ns = 0;
    struct lone lone;
    lone_open(&lone, 0);
    lone_make(&lone);
    lone.engine->process_ns = process_ns;
    lone_enter(&lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    for (int i = 0; i < 8; i++)
        ns = back_off_after(&lone, trip);
    lone_close(&lone);
    return ns;
}

static void back_off_is_a_hundredth_of_the_last_process(void)
{
    CHECK_EQ_INT(longest_back_off(55000 * US, 0), 550 * US);
    CHECK_EQ_INT(longest_back_off(1000 * US, 0), 50 * US);
    CHECK_EQ_INT(longest_back_off(1000000 * US, 0), 1000 * US);
    /* ... but four round trips, where these are longer. */
    CHECK_EQ_INT(longest_back_off(1000 * US, 100 * US) / US, 400);
    CHECK_EQ_INT(longest_back_off(1000 * US, 5000 * US), 1000 * US);
}

static void back_off_is_four_round_trips_at_least(void)
{
    struct lone lone;
    begin(&lone);
    CHECK_EQ_INT(back_off_after(&lone, 100 * US) / US, 400);
    CHECK_EQ_INT(back_off_after(&lone, 100 * US) / US, 800);
    CHECK_EQ_INT(back_off_after(&lone, 100 * US), 1000 * US);
    lone_close(&lone);
    begin(&lone);
    CHECK_EQ_INT(back_off_after(&lone, 5000 * US), 1000 * US);
    lone_close(&lone);
}

static void processes_are_timed_and_restores_are_not(struct lone *lone)
{
    begin(lone);
    lone->now += 20000 * US;
    CHECK_EQ_INT(lone_end_root(lone, 0, 0).status, EK_OK);
    uint64_t ns = lone->engine->process_ns;
    CHECK_EQ_INT(ns / US, 20000);
    lone_forget(lone);
    lone_enter(lone, EKI_PHASE_RESTORE, EK_STEAL_RANDOM);
    lone->now += 40000 * US;
    CHECK_EQ_INT(lone_end_root(lone, 0, 0).status, EK_OK);
    CHECK_EQ_INT(lone->engine->process_ns, ns);
}

static void work_in_between_ends_the_back_off(struct lone *lone)
{
    uint64_t ran[4];
    begin(lone);
    for (int i = 0; i < 4; i++)
        back_off(lone);
    CHECK(asks_at(lone, lone->now));
    send_request(lone);
    grant(lone, 1, 50, 0);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 1);
    /* The search that followed asked at once. */
    CHECK(eki_worker_calls(lone_worker(lone)));
    send_request(lone);
    deny(lone);
    CHECK(!asks_at(lone, lone->now));
    CHECK_EQ_INT(eki_worker_due(lone_worker(lone)), lone->now + 20 * US);
}

static void answer_in_pieces_is_one_steal(struct lone *lone)
{
    uint64_t ran[8];
    begin(lone);
    struct ek_worker *worker = lone_worker(lone);
    CHECK(asks_at(lone, lone->now));
    send_request(lone);

    grant(lone, 2, 10, 1);
    CHECK(eki_worker_awaits(worker));
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
    CHECK_EQ_INT(worker->counts.successful, 0);
    CHECK_EQ_INT(worker->counts.stolen, 2);

    grant(lone, 1, 12, 0);
    CHECK(!eki_worker_awaits(worker));
    CHECK_EQ_INT(lone_run(lone, ran, 8), 3);
    CHECK_EQ_INT(worker->counts.successful, 1);
    CHECK_EQ_INT(worker->counts.stolen, 3);
    /* The newest first. */
    CHECK_EQ_INT(ran[0], 12);
    CHECK_EQ_INT(ran[1], 11);
    CHECK_EQ_INT(ran[2], 10);
}

static void request_has_failed_until_tasks_come(struct lone *lone)
{
    begin(lone);
    const struct eki_engine *engine = lone->engine;
    CHECK(asks_at(lone, lone->now));
    send_request(lone);
    CHECK_EQ_INT(engine->failed_across, 1);
    CHECK_EQ_INT(engine->exchange.across, 1);
    deny(lone);
    CHECK_EQ_INT(engine->failed_across, 1);
    asks_at(lone, lone->now);
    CHECK(asks_at(lone, lone->now + 20 * US));
    send_request(lone);
    CHECK_EQ_INT(engine->failed_across, 2);
    grant(lone, 1, 10, 0);
    CHECK_EQ_INT(engine->failed_across, 1);
    CHECK_EQ_INT(engine->exchange.across, 2);
}

/* The search began before. */
static void steal_takes_from_the_request_to_tasks_in_hand(struct lone *lone)
{
    begin(lone);
    const struct eki_counts *counts = &lone_worker(lone)->counts;
    uint64_t begun = lone->now;
    CHECK(asks_at(lone, begun));
    lone->now += 100 * US;
    uint64_t sent = send_request(lone);
    lone->now += 30 * US;
    grant(lone, 1, 10, 0);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
    lone->now = sent + 50 * US;
    uint64_t found = lone->now;
    CHECK_EQ_INT(eki_worker_step(lone_worker(lone), found), EKI_STEP_RUN);
    CHECK_EQ_INT(counts->steal_ns, found - sent);
    CHECK_EQ_INT(counts->search_ns, found - begun);
}

static void second_node_is_asked_after_a_millisecond(struct lone *lone)
{
    begin_with_nodes(lone);
    CHECK(asks_at(lone, lone->now));
    uint64_t sent = send_request(lone);
    CHECK_EQ_INT(eki_worker_due(lone_worker(lone)), sent + 1000 * US);
    CHECK(!asks_at(lone, sent + 1000 * US - 1));
    CHECK(asks_at(lone, sent + 1000 * US));
    CHECK_EQ_INT(lone_worker(lone)->counts.attempted, 2);
}

static void second_node_is_asked_after_twenty_round_trips(struct lone *lone)
{
    begin_with_nodes(lone);
    CHECK(asks_at(lone, lone->now));
    uint64_t sent = send_request(lone);
    lone->now = sent + 150 * US - 100;
    deny(lone);
    CHECK(!asks_at(lone, lone->now));
    CHECK(asks_at(lone, eki_worker_due(lone_worker(lone))));
    sent = send_request(lone);
    CHECK_EQ_INT(eki_worker_due(lone_worker(lone)), sent + 3000 * US);
    CHECK(!asks_at(lone, sent + 3000 * US - 1));
    CHECK(asks_at(lone, sent + 3000 * US));
}

static void four_requests_at_most_are_open(struct lone *lone)
{
    uint64_t first = 0;
    begin_with_nodes(lone);
    for (int i = 0; i < 4; i++) {
        CHECK(asks_at(lone, lone->now + 1000 * US));
        uint64_t sent = send_request(lone);
        first = i == 0 ? sent : first;
    }
    CHECK(!asks_at(lone, first + 10000 * US - 1));
    CHECK_EQ_INT(lone_worker(lone)->counts.attempted, 4);
    deny(lone);
    CHECK(!asks_at(lone, lone->now));
    CHECK(asks_at(lone, eki_worker_due(lone_worker(lone))));
}

/* Whoever was asked may be in the program's own code for seconds. */
static void requests_long_without_answer_count_no_more(struct lone *lone)
{
    begin_with_nodes(lone);
    for (int i = 0; i < 4; i++) {
        CHECK(asks_at(lone, lone->now + 1000 * US));
        send_request(lone);
    }
    uint64_t due = eki_worker_due(lone_worker(lone));
    CHECK(due < lone->now + 10000 * US);
    CHECK(asks_at(lone, due));
    send_request(lone);
    /* When all before are forgotten, a denied one alone sets the pace. */
    lone->now += 10000 * US;
    CHECK(asks_at(lone, lone->now));
    send_request(lone);
    deny(lone);
    CHECK(!asks_at(lone, lone->now));
    CHECK_EQ_INT(eki_worker_due(lone_worker(lone)), lone->now + 20 * US);
    CHECK(!eki_worker_awaits(lone_worker(lone)));
}

/* Ask, and hear of it after TOOK. */
static void ask_for(struct lone *lone, uint64_t took)
{
    CHECK(asks_at(lone, lone->now));
    uint64_t sent = send_request(lone);
    lone->now = sent + took - 100;
    deny(lone);
    CHECK(!asks_at(lone, lone->now));
    lone->now = eki_worker_due(lone_worker(lone));
}

/* The last answer TOOK so long: after PATIENCE one more node is asked. */
static void check_patience(uint64_t took, uint64_t patience)
{
    struct lone lone;
    begin_with_nodes(&lone);
    ask_for(&lone, took);
    CHECK(asks_at(&lone, lone.now));
    uint64_t sent = send_request(&lone);
    CHECK_EQ_INT(eki_worker_due(lone_worker(&lone)), sent + patience);
    CHECK(!asks_at(&lone, sent + patience - 1));
    CHECK(asks_at(&lone, sent + patience));
    lone_close(&lone);
}

static void patience_ends_after_ten_milliseconds(void)
{
    check_patience(4000 * US, 10000 * US);
}

static void patience_grows_with_slow_answers(void)
{
    check_patience(30000 * US, 60000 * US);
    check_patience(2000000 * US, 160000 * US);
}

/* ... and is the shortest again when one comes soon. */
static void patience_falls_with_a_quick_answer(struct lone *lone)
{
    begin_with_nodes(lone);
    ask_for(lone, 30000 * US);
    ask_for(lone, 20 * US);
    CHECK(asks_at(lone, lone->now));
    uint64_t sent = send_request(lone);
    CHECK_EQ_INT(eki_worker_due(lone_worker(lone)), sent + 1000 * US);
}

static void round_trips_are_of_this_phase(struct lone *lone)
{
    begin(lone);
    ask_for(lone, 150 * US);
    lone_end_root(lone, 0, 0);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    CHECK(asks_at(lone, lone->now));
    uint64_t sent = send_request(lone);
    CHECK_EQ_INT(eki_worker_due(lone_worker(lone)), sent + 1000 * US);
}

/* Nobody goes on waiting for what a stop has made worthless. */
static void nobody_asks_after_a_stop(struct lone *lone)
{
    begin(lone);
    eki_engine_stop(lone->engine);
    CHECK(!asks_at(lone, lone->now));
    CHECK(eki_worker_due(lone_worker(lone)) == UINT64_MAX);
    CHECK_EQ_INT(lone_worker(lone)->counts.attempted, 0);
}

/* A process in which the worker has COUNT seeds, numbered from 0. */
static void begin_with_seeds(struct lone *lone, int count)
{
    static const int workers[2] = {1, 2}, nodes[2] = {0, 1};
    lone_open_job(lone, 0, 2, workers, nodes);
    lone_make(lone);
    lone_seed(lone, count, 0);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
}

static void receive_request(struct lone *lone)
{
    lone_message(lone, EKI_KIND_REQUEST);
    lone_serve(lone);
}

static void request_is_answered_with_half_of_what_shows(struct lone *lone)
{
    static const int counts[] = {4, 2, 1, 1};
    uint64_t next = 0;
    begin_with_seeds(lone, 20);
    for (int i = 0; i < 4; i++) {
        receive_request(lone);
        const struct eki_message *tasks = lone_sent_only(lone, EKI_KIND_TASKS);
        CHECK_EQ_INT(tasks->head.worker, 1);
        CHECK_EQ_INT(tasks->head.first, 0);
        CHECK_EQ_INT(tasks->head.detail, 0);
        CHECK_EQ_INT(tasks->head.bytes, counts[i] * LONE_SLOT);
        if (!CHECK_EQ_INT(tasks->head.count, counts[i]))
            break;
        for (int k = 0; k < counts[i]; k++)
            CHECK_EQ_INT(lone_number_in(tasks, k), next++);
    }
    receive_request(lone);
    const struct eki_message *none = lone_sent_only(lone, EKI_KIND_NONE);
    CHECK_EQ_INT(none->head.worker, 1);
    CHECK_EQ_INT(none->head.detail, 0);
    CHECK_EQ_INT(none->head.bytes, 0);
}

static void fullest_deque_gives(struct lone *lone)
{
    static const int workers[2] = {3, 1}, nodes[2] = {0, 1};
    static const int seeds[3] = {4, 8, 6};
    lone_open_job(lone, 0, 2, workers, nodes);
    lone_make(lone);
    for (int here = 0; here < 3; here++) {
        for (int i = 0; i < seeds[here]; i++)
            lone_seed_at(lone, here, (uint64_t)(100 * here + i));
    }
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    receive_request(lone);
    const struct eki_message *tasks = lone_sent_only(lone, EKI_KIND_TASKS);
    CHECK_EQ_INT(tasks->head.count, 3);
    CHECK_EQ_INT(lone_number_in(tasks, 0), 100);
}

static int64_t waiting;
static uint64_t waiting_first;

static void visit(void *context, const char *place, const unsigned char *slots,
                  int64_t count)
{
    (void)context;
    CHECK_EQ_TEXT(place, "answer");
    waiting = count;
    waiting_first = lone_number((const struct eki_slot *)slots);
}

static bool may_vote(const struct lone *lone)
{
    const struct eki_protocol *requests =
        &eki_requests_of(lone->engine)->protocol;
    waiting = 0;
    requests->ops->visit(requests, visit, NULL);
    return requests->ops->may_vote(requests);
}

static void large_answer_waits_for_buffers(struct lone *lone)
{
    begin_with_seeds(lone, 20);
    lone_set_slots(lone, 1);
    lone->buffers = 1;
    CHECK(may_vote(lone));
    receive_request(lone);
    for (int left = 3; left >= 0; left--) {
        const struct eki_message *tasks = lone_sent_only(lone, EKI_KIND_TASKS);
        CHECK_EQ_INT(tasks->head.count, 1);
        CHECK_EQ_INT(tasks->head.first, left);
        CHECK_EQ_INT(lone_number_in(tasks, 0), 3 - left);
        CHECK(may_vote(lone) == (left == 0));
        CHECK_EQ_INT(waiting, left);
        CHECK(left == 0 || waiting_first == (uint64_t)(4 - left));
        lone_serve(lone);
        CHECK_EQ_INT(lone->sent_count, 0);
        lone->buffers = left > 0;
        lone_serve(lone);
    }
    CHECK_EQ_INT(lone->sent_count, 0);
}

/* Answers do not mix: who asks while one is on its way waits for its end. */
static void next_request_waits_for_the_rest_of_an_answer(struct lone *lone)
{
    begin_with_seeds(lone, 20);
    lone_set_slots(lone, 3);
    lone->buffers = 1;
    receive_request(lone);
    lone_message(lone, EKI_KIND_REQUEST)->head.worker = 2;
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_TASKS)->head.worker, 1);
    lone->buffers = 2;
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 2);
    CHECK_EQ_INT(lone_sent(lone, 0, EKI_KIND_TASKS)->head.worker, 1);
    CHECK_EQ_INT(lone_sent(lone, 1, EKI_KIND_TASKS)->head.worker, 2);
    CHECK_EQ_INT(lone_sent(lone, 1, EKI_KIND_TASKS)->head.count, 2);
}

static void request_of_another_signature_is_denied(struct lone *lone)
{
    begin_with_seeds(lone, 20);
    lone_message(lone, EKI_KIND_REQUEST)->head.signature = 2;
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_NONE), 1);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_TASKS), 0);
}

static void request_after_a_stop_is_denied(struct lone *lone)
{
    begin_with_seeds(lone, 20);
    eki_engine_stop(lone->engine);
    receive_request(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_NONE), 1);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_TASKS), 0);
}

static void request_without_memory_is_taken_later(struct lone *lone)
{
    begin_with_seeds(lone, 20);
    eki_memory_fail(1);
    receive_request(lone);
    eki_memory_fail(0);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK(lone->has_got);
    CHECK(!eki_is_stopped(lone->engine));
    lone_serve(lone);
    CHECK(!lone->has_got);
    lone_sent_only(lone, EKI_KIND_TASKS);
}

static void tasks_without_memory_make_the_phase_an_error(struct lone *lone)
{
    uint64_t ran[1];
    begin(lone);
    CHECK(asks_at(lone, lone->now));
    send_request(lone);
    eki_memory_fail(1);
    grant(lone, 2, 10, 0);
    eki_memory_fail(0);
    CHECK(eki_worker_awaits(lone_worker(lone)));
    CHECK(eki_is_stopped(lone->engine));
    lone_serve(lone);
    CHECK(!lone->has_got);
    CHECK(!eki_worker_awaits(lone_worker(lone)));
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, 2);
    struct eki_error error = lone_end_root(lone, 2, 0);
    CHECK_EQ_INT(error.status, EK_ERR_NOMEM);
    CHECK_EQ_TEXT(error.text, "no memory for what has arrived");
}

/* Ask at the moment NOW; which rank. */
static int rank_asked(struct lone *lone, uint64_t now)
{
    CHECK(asks_at(lone, now));
    lone_forget(lone);
    lone_serve(lone);
    lone_sent_to(lone, 0, EKI_KIND_REQUEST, lone->to[0]);
    return lone->to[0];
}

/* RANK has nothing, and names DETAIL as the rank to ask. */
static void deny_and_name(struct lone *lone, int rank, int detail)
{
    struct eki_message *none = lone_message(lone, EKI_KIND_NONE);
    none->head.source = rank;
    none->head.worker = 0;
    none->head.detail = detail;
    lone_serve(lone);
    CHECK(!asks_at(lone, lone->now));
}

/* Rank 0, alone on its node, and two ranks on the other one. */
static void begin_with_two_ranks(struct lone *lone)
{
    static const int workers[3] = {1, 1, 1}, nodes[3] = {0, 1, 1};
    lone_open_job(lone, 0, 3, workers, nodes);
    lone_begin(lone, EK_STEAL_RANDOM);
}

static void who_answers_names_the_rank_to_ask_next(struct lone *lone)
{
    /* Ranks 1 and 2 are that node; others are no answer. */
    static const int named[] = {2, 0, 3, -1, 1, 1};
    static const int asked[] = {1, 2, 2, 2, 2, 1};
    begin_with_two_ranks(lone);
    for (int i = 0; i < 6; i++) {
        int rank = rank_asked(lone, eki_worker_due(lone_worker(lone)));
        CHECK_EQ_INT(rank, asked[i]);
        deny_and_name(lone, rank, named[i]);
    }
}

/* A rank that is late with its phase holds nobody off its node. */
static void ranks_that_do_not_answer_are_asked_in_turn(struct lone *lone)
{
    begin_with_two_ranks(lone);
    struct ek_worker *worker = lone_worker(lone);
    CHECK_EQ_INT(rank_asked(lone, lone->now), 1);
    CHECK_EQ_INT(rank_asked(lone, eki_worker_due(worker)), 2);
    /* All owe an answer: nobody is asked twice. */
    CHECK(asks_at(lone, eki_worker_due(worker)));
    lone_forget(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK(eki_worker_calls(worker));
    CHECK_EQ_INT(eki_worker_due(worker), lone->now + 1000 * US);
    /* Who answers is asked on. */
    deny_and_name(lone, 2, 2);
    CHECK_EQ_INT(lone_sent_to(lone, 0, EKI_KIND_REQUEST, 2)->head.worker, 0);
}

/* Where all of a node owe an answer the next node is asked instead. */
static void nodes_that_do_not_answer_are_passed_over(struct lone *lone)
{
    static const int workers[4] = {1, 1, 1, 1}, nodes[4] = {0, 1, 2, 3};
    bool is_asked[4] = {false};
    lone_open_job(lone, 0, 4, workers, nodes);
    lone_begin(lone, EK_STEAL_RANDOM);
    for (int i = 0; i < 3; i++)
        is_asked[rank_asked(lone, eki_worker_due(lone_worker(lone)))] = true;
    CHECK(!is_asked[0] && is_asked[1] && is_asked[2] && is_asked[3]);
}

static void ranks_to_ask_are_of_this_phase(struct lone *lone)
{
    begin_with_two_ranks(lone);
    CHECK_EQ_INT(rank_asked(lone, lone->now), 1);
    deny_and_name(lone, 1, 2);
    lone_end_root(lone, 0, 0);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    CHECK_EQ_INT(rank_asked(lone, lone->now), 1);
}

/* Two workers, of which the first has asked and then got a task of its own,
 * which it runs when an answer of COUNT tasks, numbered from 10 on, comes. */
static void answer_who_is_at_work(struct lone *lone, int count)
{
    static const int workers[2] = {2, 1}, nodes[2] = {0, 1};
    lone_open_job(lone, 0, 2, workers, nodes);
    lone_begin(lone, EK_STEAL_RANDOM);
    while (!eki_worker_calls(lone_worker(lone)))
        CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    send_request(lone);
    struct eki_message *move = lone_message(lone, EKI_KIND_MOVE);
    lone_fill(lone, move, 1, 5);
    move->head.worker = 0;
    lone_serve(lone);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    CHECK_EQ_INT(lone_number(eki_worker_take(lone_worker(lone))), 5);
    grant(lone, count, 10, 0);
    lone_forget(lone);
}

/* The other worker, until it has a task; its number. */
static uint64_t other_runs(struct lone *lone)
{
    struct ek_worker *other = lone->engine->workers[1];
    enum eki_step step;
    for (int i = 0; i < 8; i++) {
        lone->now += 100;
        step = eki_worker_step(other, lone->now);
        if (step == EKI_STEP_RUN)
            break;
    }
    if (!CHECK_EQ_INT(step, EKI_STEP_RUN))
        return 0;
    return lone_number(eki_worker_take(other));
}

static void tasks_for_who_is_at_work_are_for_all(struct lone *lone)
{
    answer_who_is_at_work(lone, 2);
    CHECK_EQ_INT(other_runs(lone), 10);
    CHECK_EQ_INT(other_runs(lone), 11);
    CHECK_EQ_INT(lone->engine->workers[1]->counts.stolen, 2);
    CHECK_EQ_INT(lone->engine->workers[1]->counts.successful, 2);
    CHECK_EQ_INT(lone_worker(lone)->counts.successful, 0);
}

static void hear_of_the_server(ek_level level, const char *line, void *context)
{
    (void)level;
    if (strstr(line, "server of this rank"))
        snprintf(context, 200, "%s", line);
}

static void a_stall_tells_what_was_brought(struct lone *lone)
{
    char told[200] = "";
    answer_who_is_at_work(lone, 2);
    ek_set_sink(hear_of_the_server, told, EK_LEVEL_WARN);
    eki_engine_stall(lone->engine, "", true);
    CHECK_HAS_TEXT(told, ": 2 brought tasks to claim, ");
    other_runs(lone);
    other_runs(lone);
    told[0] = '\0';
    eki_engine_stall(lone->engine, "", true);
    CHECK_EQ_TEXT(told, "");
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
}

static void tasks_for_who_is_at_work_are_for_other_nodes(struct lone *lone)
{
    answer_who_is_at_work(lone, 2);
    for (uint64_t number = 10; number < 12; number++) {
        receive_request(lone);
        const struct eki_message *tasks = lone_sent_only(lone, EKI_KIND_TASKS);
        CHECK_EQ_INT(tasks->head.count, 1);
        CHECK_EQ_INT(lone_number_in(tasks, 0), number);
    }
    receive_request(lone);
    lone_sent_only(lone, EKI_KIND_NONE);
}

/* Each buffer of the server has room for eight. */
static void all_that_comes_is_shown_when_there_is_room(struct lone *lone)
{
    bool has_run[32] = {false};
    answer_who_is_at_work(lone, 8);
    for (int i = 1; i < 4; i++)
        grant(lone, 6, (uint64_t)(12 + 6 * i), 0);
    for (int i = 0; i < 26; i++) {
        lone_serve(lone);
        uint64_t number = other_runs(lone) - 10;
        if (CHECK(number < 26))
            CHECK(!has_run[number]);
        has_run[number & 31] = true;
    }
}

/* Somebody of the rank cancels it: it is restored here. */
static void tasks_for_who_is_at_work_are_cancelled(struct lone *lone)
{
    answer_who_is_at_work(lone, 2);
    struct ek_worker *other = lone->engine->workers[1];
    eki_engine_stop(lone->engine);
    for (int i = 0; i < 8; i++)
        eki_worker_step(other, lone->now += 100);
    CHECK_EQ_INT(other->counts.cancelled, 2);
    struct eki_error error = lone_end_root(lone, 3, 0);
    CHECK_EQ_INT(error.status, EK_OK);
    CHECK(eki_local_is_empty(&lone->engine->post.brought.local));
}

/* What an answer brings while a worker begins another task is not behind it. */
static void last_answer_is_taken_before_a_task(struct lone *lone)
{
    uint64_t ran[4];
    begin(lone);
    CHECK(asks_at(lone, lone->now));
    send_request(lone);
    struct eki_message *move = lone_message(lone, EKI_KIND_MOVE);
    lone_fill(lone, move, 1, 5);
    move->head.worker = 0;
    lone_serve(lone);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
    grant(lone, 2, 10, 0);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    /* Two of three are here or shown, the third runs. */
    CHECK_EQ_INT(eki_local_count(&lone_worker(lone)->local) +
                     eki_deque_visible(EKI_DEQUE_ATOMIC, 8,
                                       &lone_worker(lone)->words->deque),
                 3);
    CHECK(eki_worker_take(lone_worker(lone)) != NULL);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 2);
}

/* Others may take it, and tell the end of the phase meanwhile. */
static void block_that_is_not_claimed_needs_no_memory(struct lone *lone)
{
    static const int workers[1] = {2}, nodes[1] = {0};
    lone_open_job(lone, 0, 1, workers, nodes);
    lone_make(lone);
    for (uint64_t number = 0; number < 8; number++)
        lone_seed_at(lone, 1, number);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    eki_memory_fail(1);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    eki_memory_fail(0);
    CHECK_EQ_INT(lone_worker(lone)->counts.attempted, 1);
    CHECK(!eki_is_stopped(lone->engine));
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
}

int main(void)
{
    RUN_LONE(worker_without_work_asks_the_other_node);
    RUN_LONE(ask_waits_for_a_buffer);
    RUN_LONE(who_is_denied_waits_twice_as_long_each_time);
    RUN(back_off_is_a_hundredth_of_the_last_process);
    RUN(back_off_is_four_round_trips_at_least);
    RUN_LONE(processes_are_timed_and_restores_are_not);
    RUN_LONE(work_in_between_ends_the_back_off);
    RUN_LONE(answer_in_pieces_is_one_steal);
    RUN_LONE(request_has_failed_until_tasks_come);
    RUN_LONE(steal_takes_from_the_request_to_tasks_in_hand);
    RUN_LONE(second_node_is_asked_after_a_millisecond);
    RUN_LONE(second_node_is_asked_after_twenty_round_trips);
    RUN_LONE(four_requests_at_most_are_open);
    RUN_LONE(requests_long_without_answer_count_no_more);
    RUN(patience_ends_after_ten_milliseconds);
    RUN(patience_grows_with_slow_answers);
    RUN_LONE(patience_falls_with_a_quick_answer);
    RUN_LONE(round_trips_are_of_this_phase);
    RUN_LONE(nobody_asks_after_a_stop);
    RUN_LONE(request_is_answered_with_half_of_what_shows);
    RUN_LONE(fullest_deque_gives);
    RUN_LONE(large_answer_waits_for_buffers);
    RUN_LONE(next_request_waits_for_the_rest_of_an_answer);
    RUN_LONE(request_of_another_signature_is_denied);
    RUN_LONE(request_after_a_stop_is_denied);
    RUN_LONE(request_without_memory_is_taken_later);
    RUN_LONE(tasks_without_memory_make_the_phase_an_error);
    RUN_LONE(who_answers_names_the_rank_to_ask_next);
    RUN_LONE(ranks_that_do_not_answer_are_asked_in_turn);
    RUN_LONE(nodes_that_do_not_answer_are_passed_over);
    RUN_LONE(ranks_to_ask_are_of_this_phase);
    RUN_LONE(tasks_for_who_is_at_work_are_for_all);
    RUN_LONE(a_stall_tells_what_was_brought);
    RUN_LONE(tasks_for_who_is_at_work_are_for_other_nodes);
    RUN_LONE(all_that_comes_is_shown_when_there_is_room);
    RUN_LONE(tasks_for_who_is_at_work_are_cancelled);
    RUN_LONE(last_answer_is_taken_before_a_task);
    RUN_LONE(block_that_is_not_claimed_needs_no_memory);
    return check_result();
}
