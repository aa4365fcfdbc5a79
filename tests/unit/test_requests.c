/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests: when a worker asks another node, whom, and how long it waits.
 */
#include "ask.h"

enum {
    US = 1000 /* nanoseconds */
};

/* The first of eight nodes, which need not wait for the others to ask them. */
static void begin_with_nodes(struct lone *lone)
{
    static const int workers[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const int nodes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    lone_open_job(lone, 0, 8, workers, nodes);
    lone_begin(lone, EK_STEAL_RANDOM);
}

/* Who was asked last has nothing. */
static void deny(struct lone *lone)
{
    struct eki_message *none = lone_message(lone, EKI_KIND_NONE);
    none->head.worker = lone_worker(lone)->id;
    none->head.source = lone->to[0];
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
    CHECK_EQ_INT(worker->counts.tries, 1);
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
    lone_start(&lone, 0);
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
    uint64_t pause = eki_engine_pause_ns(lone->engine);
    lone->now += 20000 * US;
    CHECK_OK(lone_end_root(lone, 0, 0).status);
    uint64_t ns = lone->engine->process_ns;
    /* Other ranks may still be in the process. */
    CHECK_EQ_INT(eki_engine_pause_ns(lone->engine), pause);
    CHECK_EQ_INT(ns / US, 20000);
    lone_forget(lone);
    lone_enter(lone, EKI_PHASE_RESTORE, EK_STEAL_RANDOM);
    lone->now += 40000 * US;
    CHECK_OK(lone_end_root(lone, 0, 0).status);
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
    CHECK_EQ_INT(worker->counts.steals, 0);
    CHECK_EQ_INT(worker->counts.stolen, 2);

    grant(lone, 1, 12, 0);
    CHECK(!eki_worker_awaits(worker));
    CHECK_EQ_INT(lone_run(lone, ran, 8), 3);
    CHECK_EQ_INT(worker->counts.steals, 1);
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
    CHECK_EQ_INT(engine->in_vain, 1);
    CHECK_EQ_INT(engine->exchange.across, 1);
    deny(lone);
    CHECK_EQ_INT(engine->in_vain, 1);
    asks_at(lone, lone->now);
    CHECK(asks_at(lone, lone->now + 20 * US));
    send_request(lone);
    CHECK_EQ_INT(engine->in_vain, 2);
    grant(lone, 1, 10, 0);
    CHECK_EQ_INT(engine->in_vain, 1);
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
    CHECK_EQ_INT(counts->stealing_ns, found - sent);
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
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 2);
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
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 4);
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

/* Eight nodes of two workers: a worker of one of the others is named, and
 * nobody else is asked until it has answered, but then at once. */
static void plain_thief_asks_one_worker_after_the_other(struct lone *lone)
{
    static const int workers[8] = {2, 2, 2, 2, 2, 2, 2, 2};
    static const int nodes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    int asked[16] = {0};
    lone_open_job(lone, 0, 8, workers, nodes);
    lone_begin(lone, EK_STEAL_HPDC12);
    for (int i = 0; i < 200; i++) {
        /* A worker of its own node is looked at, and nobody is asked. */
        if (!asks_at(lone, lone->now)) {
            CHECK(eki_worker_due(lone_worker(lone)) <= lone->now);
            continue;
        }
        lone->buffers = 1;
        send_request(lone);
        int victim =
            lone_sent_to(lone, 0, EKI_KIND_REQUEST, lone->to[0])->head.detail;
        CHECK_EQ_INT(lone->to[0], victim / 2);
        asked[victim]++;
        int64_t attempts = lone_worker(lone)->counts.tries;
        CHECK(eki_worker_awaits(lone_worker(lone)));
        CHECK(eki_worker_due(lone_worker(lone)) == UINT64_MAX);
        CHECK(!asks_at(lone, lone->now + 1000000 * US));
        CHECK_EQ_INT(lone_worker(lone)->counts.tries, attempts);
        deny(lone);
        CHECK(!eki_worker_awaits(lone_worker(lone)));
        CHECK(eki_worker_due(lone_worker(lone)) <= lone->now);
    }
    for (int w = 0; w < 16; w++)
        CHECK((asked[w] > 0) == (w >= 2));
}

/* Who found no buffer for a request, or an answer, comes before the next vote,
 * unless something was sent since the last one (test_waves). */
static void requests_without_a_buffer_have_a_turn(struct lone *lone)
{
    begin(lone);
    const struct eki_protocol *requests =
        &eki_requests_of(lone->engine)->protocol;
    CHECK(asks_at(lone, lone->now));
    CHECK(requests->ops->may_vote(requests));
    lone->buffers = 0;
    lone_serve(lone);
    CHECK(!requests->ops->may_vote(requests));
    lone->buffers = 1;
    send_request(lone);
    CHECK(requests->ops->may_vote(requests));
    /* The same for an answer. */
    lone_message(lone, EKI_KIND_REQUEST);
    lone_serve(lone);
    CHECK(!requests->ops->may_vote(requests));
    lone->buffers = 1;
    lone_serve(lone);
    CHECK(requests->ops->may_vote(requests));
    /* Two answers, and a buffer for one. */
    lone->buffers = 0;
    lone_message(lone, EKI_KIND_REQUEST);
    lone_serve(lone);
    lone_message(lone, EKI_KIND_REQUEST);
    lone_serve(lone);
    CHECK(!requests->ops->may_vote(requests));
    lone->buffers = 1;
    lone_serve(lone);
    CHECK(!requests->ops->may_vote(requests));
}

/* Nobody goes on waiting for what a stop has made worthless. */
static void nobody_asks_after_a_stop(struct lone *lone)
{
    begin(lone);
    eki_engine_stop(lone->engine);
    CHECK(!asks_at(lone, lone->now));
    CHECK(eki_worker_due(lone_worker(lone)) == UINT64_MAX);
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 0);
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

/* All workers of the rank look for work; requests that leave then. */
static int ask_for_all(struct lone *lone)
{
    lone_forget(lone);
    for (int here = 0; here < lone->topology->workers_here; here++)
        eki_worker_step(lone->engine->workers[here], lone->now);
    lone_serve(lone);
    return lone->sent_count;
}

/* Four workers, of which each asks another node. */
static void begin_with_four(struct lone *lone, ek_steal_policy policy)
{
    static const int workers[9] = {4, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int nodes[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    lone_open_job(lone, 0, 9, workers, nodes);
    lone_begin(lone, policy);
}

static void two_requests_of_a_rank_are_under_way(struct lone *lone)
{
    begin_with_four(lone, EK_STEAL_RANDOM);
    CHECK_EQ_INT(ask_for_all(lone), 2);
    int to = lone->to[0];
    CHECK_EQ_INT(ask_for_all(lone), 0);
    /* Another one leaves for each answer. */
    struct eki_message *none = lone_message(lone, EKI_KIND_NONE);
    none->head.worker = 0;
    none->head.source = to;
    CHECK_EQ_INT(ask_for_all(lone), 1);
    CHECK_EQ_INT(ask_for_all(lone), 0);
    /* Who owes answers for 10 ms may be in the program's own code. */
    lone->now += 10000 * US;
    CHECK(ask_for_all(lone) > 0);
}

static void each_worker_asks_where_the_scheme_is_plain(struct lone *lone)
{
    int requests = 0;
    begin_with_four(lone, EK_STEAL_HPDC12);
    for (int i = 0; i < 100; i++)
        requests += ask_for_all(lone);
    CHECK_EQ_INT(requests, 4);
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
    RUN_LONE(plain_thief_asks_one_worker_after_the_other);
    RUN_LONE(requests_without_a_buffer_have_a_turn);
    RUN_LONE(nobody_asks_after_a_stop);
    RUN_LONE(who_answers_names_the_rank_to_ask_next);
    RUN_LONE(ranks_that_do_not_answer_are_asked_in_turn);
    RUN_LONE(nodes_that_do_not_answer_are_passed_over);
    RUN_LONE(two_requests_of_a_rank_are_under_way);
    RUN_LONE(each_worker_asks_where_the_scheme_is_plain);
    RUN_LONE(ranks_to_ask_are_of_this_phase);
    return check_result();
}
