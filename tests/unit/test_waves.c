/* SPDX-License-Identifier: BSD-3-Clause */
/* waves: who votes when, when the root ends a phase, and what all hear. */
#include "lone.h"
#include "protocol/node_thief.h"

static void enter(struct lone *lone)
{
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
}

/* RANK of two. */
static void begin(struct lone *lone, int rank)
{
    lone_open(lone, rank);
    lone_begin(lone, EK_STEAL_NONE);
}

/* RANK of four, a node each: 1 and 2 are children of 0, and 3 of 1. */
static void begin_four(struct lone *lone, int rank)
{
    static const int workers[4] = {1, 1, 1, 1}, nodes[4] = {0, 1, 2, 3};
    lone_open_job(lone, rank, 4, workers, nodes);
    lone_begin(lone, EK_STEAL_NONE);
}

/* The worker gets idle, and the server votes if it may. */
static void turn(struct lone *lone)
{
    lone_step(lone);
    lone_serve(lone);
}

static void check_vote(struct lone *lone, int wave, uint64_t created,
                       uint64_t executed)
{
    struct eki_vote vote;
    const struct eki_message *message = lone_sent_only(lone, EKI_KIND_VOTE);
    if (!CHECK_EQ_INT(message->head.bytes, sizeof vote))
        return;
    memcpy(&vote, message->body, sizeof vote);
    CHECK_EQ_INT(message->head.first, wave);
    CHECK_EQ_INT(message->head.detail, lone->topology->node);
    CHECK_EQ_INT(vote.created, created);
    CHECK_EQ_INT(vote.executed, executed);
    CHECK_EQ_INT(vote.signature_low, 1);
    CHECK_EQ_INT(vote.signature_high, 1);
    CHECK_OK(vote.error.status);
}

static void leaf_votes_when_its_worker_is_idle(struct lone *lone)
{
    uint64_t ran[2];
    lone_start(lone, 1);
    lone_seed(lone, 2, 10);
    enter(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK_EQ_INT(lone_run(lone, ran, 2), 2);
    lone_serve(lone);
    check_vote(lone, 0, 2, 2);
}

static void leaf_votes_once_in_a_wave(struct lone *lone)
{
    begin(lone, 1);
    for (int wave = 0; wave < 3; wave++) {
        turn(lone);
        check_vote(lone, wave, 0, 0);
        turn(lone);
        CHECK_EQ_INT(lone->sent_count, 0);
        lone_verdict(lone, EKI_WAVE_AGAIN);
    }
}

static void vote_waits_for_a_buffer(struct lone *lone)
{
    begin(lone, 1);
    lone->buffers = 0;
    turn(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    lone->buffers = 1;
    turn(lone);
    check_vote(lone, 0, 0, 0);
}

/* Ranks 1 and 2 are a node: the words of the worker of rank 2 are ours to
 * write. */
static void begin_node(struct lone *lone, int rank)
{
    static const int workers[3] = {1, 1, 1}, nodes[3] = {0, 1, 1};
    lone_open_job(lone, rank, 3, workers, nodes);
    lone_begin(lone, EK_STEAL_NONE);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static void lowest_rank_votes_for_all_workers_of_its_node(struct lone *lone)
{
    begin_node(lone, 1);
    struct eki_worker_words *other = eki_words_of(lone->engine, 1);
    set(&other->created, 7);
    set(&other->executed, 5);
    set(&other->signature[1], 1);
    for (uint64_t is_idle = 0; is_idle < 2; is_idle++) {
        set(&other->phase, 1 - is_idle);
        set(&other->idle, is_idle);
        turn(lone);
        CHECK_EQ_INT(lone->sent_count, 0);
    }
    set(&other->phase, 1);
    turn(lone);
    CHECK_EQ_INT(lone->sent_count, 1);
    struct eki_vote vote;
    memcpy(&vote, lone_sent_to(lone, 0, EKI_KIND_VOTE, 0)->body, sizeof vote);
    CHECK_EQ_INT(vote.created, 7);
    CHECK_EQ_INT(vote.executed, 5);
}

static void other_ranks_of_a_node_never_vote(struct lone *lone)
{
    begin_node(lone, 2);
    struct eki_worker_words *other = eki_words_of(lone->engine, 0);
    set(&other->signature[1], 1);
    set(&other->phase, 1);
    set(&other->idle, 1);
    turn(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
}

/* What the root tells its child; -1: nothing. */
static int decided(struct lone *lone)
{
    struct eki_verdict verdict;
    if (lone->sent_count == 0)
        return -1;
    const struct eki_message *wave = lone_sent_only(lone, EKI_KIND_WAVE);
    if (!CHECK_EQ_INT(wave->head.bytes, sizeof verdict))
        return -1;
    memcpy(&verdict, wave->body, sizeof verdict);
    return (int)verdict.wave;
}

/* Its child votes so. */
static int decide(struct lone *lone, uint64_t created, uint64_t executed)
{
    lone_vote(lone, 1, created, executed);
    turn(lone);
    return decided(lone);
}

static void root_ends_the_phase_after_two_equal_waves(struct lone *lone)
{
    begin(lone, 0);
    CHECK_EQ_INT(decide(lone, 1, 1), EKI_WAVE_AGAIN);
    CHECK_EQ_INT(decide(lone, 2, 2), EKI_WAVE_AGAIN);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    CHECK_EQ_INT(decide(lone, 2, 2), EKI_WAVE_DONE);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_DONE);
    CHECK_OK(lone_end(lone).status);
}

static void unequal_sums_go_on(struct lone *lone)
{
    begin(lone, 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ_INT(decide(lone, 2, 1), EKI_WAVE_AGAIN);
    CHECK_EQ_INT(decide(lone, 2, 2), EKI_WAVE_AGAIN);
    CHECK_EQ_INT(decide(lone, 2, 2), EKI_WAVE_DONE);
}

/* What the root has created itself counts. */
static void sums_are_of_all_nodes(struct lone *lone)
{
    uint64_t ran[3];
    lone_start(lone, 0);
    lone_seed(lone, 3, 10);
    enter(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 3), 3);
    CHECK_EQ_INT(decide(lone, 4, 3), EKI_WAVE_AGAIN);
    CHECK_EQ_INT(decide(lone, 4, 3), EKI_WAVE_AGAIN);
    CHECK_EQ_INT(lone->engine->waves.last_created, 7);
    CHECK_EQ_INT(lone->engine->waves.last_executed, 6);
}

static void phase_without_tasks_takes_one_wave(struct lone *lone)
{
    begin(lone, 0);
    CHECK_EQ_INT(decide(lone, 0, 0), EKI_WAVE_DONE);
    lone_end(lone);
    /* Sums never go back. */
    enter(lone);
    CHECK_EQ_INT(decide(lone, 5, 5), EKI_WAVE_AGAIN);
    CHECK_EQ_INT(decide(lone, 5, 5), EKI_WAVE_DONE);
    lone_end(lone);
    enter(lone);
    CHECK_EQ_INT(decide(lone, 5, 5), EKI_WAVE_DONE);
    lone_end(lone);
}

static void root_waits_for_all_children(struct lone *lone)
{
    begin_four(lone, 0);
    lone_vote(lone, 2, 0, 0);
    turn(lone);
    turn(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    lone_vote(lone, 1, 0, 0);
    turn(lone);
    CHECK_EQ_INT(lone->sent_count, 2);
    lone_sent_to(lone, 0, EKI_KIND_WAVE, 1);
    lone_sent_to(lone, 1, EKI_KIND_WAVE, 2);
    CHECK_OK(lone_end(lone).status);
}

/* A vote of the wave before is none of the next. */
static void vote_counts_in_one_wave(struct lone *lone)
{
    begin(lone, 0);
    CHECK_EQ_INT(decide(lone, 1, 1), EKI_WAVE_AGAIN);
    turn(lone);
    turn(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
}

static void verdict_waits_for_buffers(struct lone *lone)
{
    begin_four(lone, 0);
    lone->buffers = 1;
    lone_vote(lone, 1, 0, 0);
    turn(lone);
    lone_vote(lone, 2, 0, 0);
    turn(lone);
    CHECK_EQ_INT(lone->sent_count, 1);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    lone->buffers = 1;
    turn(lone);
    CHECK_EQ_INT(lone->sent_count, 2);
    lone_sent_to(lone, 1, EKI_KIND_WAVE, 2);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_DONE);
}

static const struct eki_error failure = {.status = EK_ERR_TASK,
                                         .worker = 1,
                                         .code = 5,
                                         .function = 2,
                                         .id = 77,
                                         .text = "it burns"};

static void check_failure(const struct eki_error *error)
{
    CHECK_EQ_INT(error->status, EK_ERR_TASK);
    CHECK_EQ_INT(error->worker, 1);
    CHECK_EQ_INT(error->code, 5);
    CHECK_EQ_INT(error->function, 2);
    CHECK_EQ_INT(error->id, 77);
    CHECK_EQ_TEXT(error->text, "it burns");
}

static void error_of_the_verdict_is_what_all_return(struct lone *lone)
{
    struct eki_verdict passed;
    begin_four(lone, 1);
    lone_vote(lone, 3, 0, 0);
    turn(lone);
    lone_sent_to(lone, 0, EKI_KIND_VOTE, 0);
    lone_forget(lone);
    lone_verdict(lone, EKI_WAVE_DONE)->error = failure;
    struct eki_error error = lone_end(lone);
    check_failure(&error);
    const struct eki_message *wave = lone_sent_to(lone, 0, EKI_KIND_WAVE, 3);
    if (CHECK_EQ_INT(wave->head.bytes, sizeof passed)) {
        memcpy(&passed, wave->body, sizeof passed);
        CHECK_EQ_INT(passed.wave, EKI_WAVE_DONE);
        check_failure(&passed.error);
    }
}

static void error_of_a_vote_is_in_the_verdict(struct lone *lone)
{
    struct eki_verdict verdict;
    begin(lone, 0);
    lone_vote(lone, 1, 0, 0)->error = failure;
    turn(lone);
    memcpy(&verdict, lone_sent_only(lone, EKI_KIND_WAVE)->body, sizeof verdict);
    check_failure(&verdict.error);
    struct eki_error error = lone_end(lone);
    check_failure(&error);
}

/* An inner node votes with what its child has told. */
static void error_of_a_child_is_in_the_vote(struct lone *lone)
{
    struct eki_vote vote;
    begin_four(lone, 1);
    lone_vote(lone, 3, 6, 4)->error = failure;
    turn(lone);
    memcpy(&vote, lone_sent_to(lone, 0, EKI_KIND_VOTE, 0)->body, sizeof vote);
    CHECK_EQ_INT(vote.created, 6);
    CHECK_EQ_INT(vote.executed, 4);
    check_failure(&vote.error);
}

static void worst_error_wins(struct lone *lone)
{
    begin(lone, 0);
    eki_engine_fail(lone->engine, EK_ERR_NOMEM, "no room");
    lone_vote(lone, 1, 0, 0)->error = failure;
    turn(lone);
    struct eki_error error = lone_end(lone);
    CHECK_EQ_INT(error.status, EK_ERR_NOMEM);
    CHECK_EQ_TEXT(error.text, "no room");
}

static void different_signatures_are_an_error(struct lone *lone)
{
    begin(lone, 0);
    lone_vote(lone, 1, 0, 0)->signature_high = 2;
    turn(lone);
    CHECK(eki_is_stopped(lone->engine));
    CHECK_EQ_INT(lone_end(lone).status, EK_ERR_ARG);
}

static void stop_spreads_to_children_and_parent(struct lone *lone)
{
    begin_four(lone, 1);
    lone_message(lone, EKI_KIND_STOP);
    lone->buffers = 1;
    lone_serve(lone);
    CHECK(eki_is_stopped(lone->engine));
    CHECK_EQ_INT(lone->sent_count, 1);
    lone_sent_to(lone, 0, EKI_KIND_STOP, 3);
    lone->buffers = 2;
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 2);
    lone_sent_to(lone, 1, EKI_KIND_STOP, 0);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 2);
}

static void stop_of_one_rank_reaches_the_other(void)
{
    for (int rank = 0; rank < 2; rank++) {
        struct lone lone;
        begin(&lone, rank);
        eki_engine_stop(lone.engine);
        lone_serve(&lone);
        lone_sent_only(&lone, EKI_KIND_STOP);
        lone_serve(&lone);
        CHECK_EQ_INT(lone.sent_count, 0);
        lone_close(&lone);
    }
}

/* What runs is not needed any more: it is cancelled, and counts. */
static void stop_cancels_tasks(struct lone *lone)
{
    uint64_t ran[1];
    lone_start(lone, 1);
    lone_seed(lone, 3, 10);
    enter(lone);
    lone_message(lone, EKI_KIND_STOP);
    lone_serve(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, 3);
    lone_forget(lone);
    lone_serve(lone);
    check_vote(lone, 0, 3, 3);
}

/* The root has been told three times that nothing moves. */
static void root_tells_a_stall_once(struct lone *lone)
{
    lone_open(lone, 0);
    lone->setup.stall_ns = 10000;
    lone_begin(lone, EK_STEAL_NONE);
    CHECK_EQ_INT(decide(lone, 1, 0), EKI_WAVE_AGAIN);
    uint64_t since = lone->now;
    for (int i = 0; i < 2; i++)
        CHECK_EQ_INT(decide(lone, 1, 0), EKI_WAVE_AGAIN);
    lone->now = since + 9999 - 200;
    CHECK_EQ_INT(decide(lone, 1, 0), EKI_WAVE_AGAIN);
    CHECK_EQ_INT(lone->now, since + 9999);
    lone->now = since + 10000 - 200;
    CHECK_EQ_INT(decide(lone, 1, 0), EKI_WAVE_STALLED);
    for (int i = 0; i < 5; i++) {
        lone->now += 10000;
        CHECK_EQ_INT(decide(lone, 1, 0), EKI_WAVE_AGAIN);
    }
}

/* Threads that step the server in turn read the clock before: the later one may
 * be a little behind. */
static void older_clock_is_no_stall(struct lone *lone)
{
    lone_open(lone, 0);
    lone->setup.stall_ns = 10000;
    lone_begin(lone, EK_STEAL_NONE);
    lone->now = 5000;
    CHECK_EQ_INT(decide(lone, 1, 0), EKI_WAVE_AGAIN);
    lone->now = 3000;
    for (int i = 0; i < 5; i++)
        CHECK_EQ_INT(decide(lone, 1, 0), EKI_WAVE_AGAIN);
}

/* A worker that has not come by since the last wave may hold a task. */
static void claimed_tasks_are_no_stall(struct lone *lone)
{
    lone_open(lone, 0);
    lone->setup.stall_ns = 10000;
    lone_begin(lone, EK_STEAL_NONE);
    for (int i = 0; i < 5; i++) {
        lone->now += 20000;
        lone_step(lone);
        lone_vote(lone, 1, 1, 0)->is_still = 0;
        lone_serve(lone);
        CHECK_EQ_INT(decided(lone), EKI_WAVE_AGAIN);
    }
}

/* Whoever has said nothing for half of stall_ns is asked once, and who asks is
 * told the wave. */
static void silent_neighbors_are_asked(struct lone *lone)
{
    lone_open(lone, 0);
    lone->setup.stall_ns = 10000;
    lone_begin(lone, EK_STEAL_NONE);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    for (int i = 0; i < 3; i++) {
        lone->now += 5000;
        lone_serve(lone);
    }
    lone_sent_only(lone, EKI_KIND_PROBE);
    lone_message(lone, EKI_KIND_HERE);
    lone_serve(lone);
    CHECK_EQ_INT(lone->engine->waves.neighbors[0].probed, 0);
    lone_message(lone, EKI_KIND_PROBE);
    lone->buffers = 0;
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    lone->buffers = 1;
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_only(lone, EKI_KIND_HERE)->head.count, 0);
}

static void progress_is_no_stall(struct lone *lone)
{
    lone_open(lone, 0);
    lone->setup.stall_ns = 10000;
    lone_begin(lone, EK_STEAL_NONE);
    for (uint64_t i = 0; i < 5; i++) {
        lone->now += 20000;
        CHECK_EQ_INT(decide(lone, 9, i), EKI_WAVE_AGAIN);
    }
}

/* Of processes, not of restores. */
static void votes_tell_the_load(struct lone *lone)
{
    lone_start(lone, 0);
    for (int restore = 0; restore < 2; restore++) {
        lone_enter(lone, restore ? EKI_PHASE_RESTORE : EKI_PHASE_PROCESS,
                   EK_STEAL_RANDOM);
        CHECK_EQ_INT(eki_worker_step(lone_worker(lone), lone->now),
                     EKI_STEP_WAIT);
        lone_vote(lone, 1, 0, 0)->load = restore
                                             ? (struct eki_load){9, 9, 9}
                                             : (struct eki_load){500, 300, 70};
        for (int i = 0; i < 3; i++)
            lone_serve(lone);
        CHECK(lone->engine->waves.forwarded);
        CHECK_EQ_INT(lone->engine->node->load.work_ns, 500);
        CHECK_EQ_INT(lone->engine->node->load.most_ns, 300);
        CHECK_EQ_INT(lone->engine->node->load.task_ns, 70);
        struct eki_error error;
        eki_worker_step(lone_worker(lone), lone->now);
        eki_engine_leave(lone->engine, &error);
        lone_forget(lone);
    }
}

static bool refuses_load(struct eki_load load)
{
    struct lone lone;
    lone_start(&lone, 0);
    lone_enter(&lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    lone_vote(&lone, 1, 0, 0)->load = load;
    bool is = lone_refuses(&lone);
    lone_close(&lone);
    return is;
}

static void loads_that_make_no_sense_are_refused(void)
{
    CHECK(!refuses_load((struct eki_load){5, 5, 5}));
    CHECK(refuses_load((struct eki_load){5, 6, 5}));
    CHECK(refuses_load((struct eki_load){5, 4, 5}));
    CHECK(refuses_load((struct eki_load){UINT64_MAX, 4, 4}));
    CHECK(refuses_load((struct eki_load){5, UINT64_MAX, 4}));
}

/* A node that has one buffer at a time: what it asks for ever and its votes
 * take turns. */
static void votes_and_requests_take_turns(struct lone *lone)
{
    int votes = 0, asks = 0;
    lone_open(lone, 1);
    lone_begin(lone, EK_STEAL_LOAD);
    lone_step(lone);
    for (int i = 0; i < 40; i++) {
        lone->buffers = 1;
        lone_forget(lone);
        lone_serve(lone);
        votes += lone_count(lone, EKI_KIND_VOTE);
        asks += lone_count(lone, EKI_KIND_NODE_ASK);
        if (lone_count(lone, EKI_KIND_VOTE) == 1)
            lone_verdict(lone, EKI_WAVE_AGAIN);
        else
            lone_message(lone, EKI_KIND_NODE_DENIED);
        /* It is taken while no buffer is free. */
        lone->buffers = 0;
        lone_serve(lone);
    }
    CHECK_EQ_INT(votes, 20);
    CHECK_EQ_INT(asks, 20);
}

int main(void)
{
    RUN_LONE(leaf_votes_when_its_worker_is_idle);
    RUN_LONE(leaf_votes_once_in_a_wave);
    RUN_LONE(vote_waits_for_a_buffer);
    RUN_LONE(lowest_rank_votes_for_all_workers_of_its_node);
    RUN_LONE(other_ranks_of_a_node_never_vote);
    RUN_LONE(root_ends_the_phase_after_two_equal_waves);
    RUN_LONE(unequal_sums_go_on);
    RUN_LONE(sums_are_of_all_nodes);
    RUN_LONE(phase_without_tasks_takes_one_wave);
    RUN_LONE(root_waits_for_all_children);
    RUN_LONE(vote_counts_in_one_wave);
    RUN_LONE(verdict_waits_for_buffers);
    RUN_LONE(error_of_the_verdict_is_what_all_return);
    RUN_LONE(error_of_a_vote_is_in_the_verdict);
    RUN_LONE(error_of_a_child_is_in_the_vote);
    RUN_LONE(worst_error_wins);
    RUN_LONE(different_signatures_are_an_error);
    RUN_LONE(stop_spreads_to_children_and_parent);
    RUN(stop_of_one_rank_reaches_the_other);
    RUN_LONE(stop_cancels_tasks);
    RUN_LONE(root_tells_a_stall_once);
    RUN_LONE(progress_is_no_stall);
    RUN_LONE(older_clock_is_no_stall);
    RUN_LONE(claimed_tasks_are_no_stall);
    RUN_LONE(silent_neighbors_are_asked);
    RUN_LONE(votes_tell_the_load);
    RUN(loads_that_make_no_sense_are_refused);
    RUN_LONE(votes_and_requests_take_turns);
    return check_result();
}
