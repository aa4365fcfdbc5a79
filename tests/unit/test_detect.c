/* SPDX-License-Identifier: BSD-3-Clause */
/* detect: when nodes vote, and what, where the end is not counted. */
#include "engine/detect.h"

#include "lone.h"

static void enter(struct lone *lone, int detector)
{
    struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                              .signature = 1,
                              .scheme = eki_scheme_of(EK_STEAL_RANDOM),
                              .detector = detector};
    lone_enter_phase(lone, &phase);
}

/* RANK of two with SEEDS. */
static void begin(struct lone *lone, int rank, int seeds, int detector)
{
    lone_start(lone, rank);
    lone_seed(lone, seeds, 10);
    enter(lone, detector);
}

/* What the only vote says; -1: there is none. */
static int voted(struct lone *lone)
{
    struct eki_vote vote;
    if (lone_count(lone, EKI_KIND_VOTE) == 0)
        return -1;
    memcpy(&vote, lone_sent_of(lone, EKI_KIND_VOTE)->body, sizeof vote);
    return (int)vote.doubts;
}

/* The worker gets idle, and the server votes if it may; then it asks. */
static int turn(struct lone *lone)
{
    lone_step(lone);
    lone_serve(lone);
    return voted(lone);
}

static void next_wave(struct lone *lone)
{
    lone_verdict(lone, EKI_WAVE_AGAIN);
    lone_serve(lone);
}

/* Give one of four seeds to the other rank, and run the others. */
static void give(struct lone *lone)
{
    uint64_t ran[4];
    lone_message(lone, EKI_KIND_REQUEST);
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_TASKS)->head.count, 1);
    CHECK_EQ_INT(lone_run(lone, ran, 4), 3);
}

static void answer(struct lone *lone, int kind, int tasks)
{
    struct eki_message *message = lone_message(lone, kind);
    message->head.worker = lone_worker(lone)->id;
    lone_fill(lone, message, tasks, 50);
    lone_serve(lone);
}

static void francez_waits_for_the_answer(struct lone *lone)
{
    begin(lone, 1, 0, EKI_DETECTOR_FRANCEZ);
    CHECK_EQ_INT(turn(lone), 0);
    next_wave(lone);
    CHECK_EQ_INT(voted(lone), -1);
    answer(lone, EKI_KIND_NONE, 0);
    CHECK_EQ_INT(voted(lone), 0);
}

/* What came with the answer is run before the vote. */
static void francez_runs_what_has_come(struct lone *lone)
{
    uint64_t ran[2];
    begin(lone, 1, 0, EKI_DETECTOR_FRANCEZ);
    CHECK_EQ_INT(turn(lone), 0);
    next_wave(lone);
    lone_forget(lone);
    answer(lone, EKI_KIND_TASKS, 2);
    CHECK_EQ_INT(voted(lone), -1);
    CHECK_EQ_INT(lone_run(lone, ran, 2), 2);
    CHECK_EQ_INT(turn(lone), 0);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_RECEIPT), 0);
}

/* No request leaves while the node waits for an answer to vote. */
static void francez_asks_no_more_before_it_votes(struct lone *lone)
{
    begin(lone, 1, 0, EKI_DETECTOR_FRANCEZ);
    CHECK_EQ_INT(turn(lone), 0);
    CHECK(eki_may_request(lone->engine));
    next_wave(lone);
    CHECK(!eki_may_request(lone->engine));
    answer(lone, EKI_KIND_NONE, 0);
    CHECK_EQ_INT(voted(lone), 0);
    CHECK(eki_may_request(lone->engine));
}

static void who_gave_votes_no_once(struct lone *lone)
{
    begin(lone, 1, 4, EKI_DETECTOR_FRANCEZ);
    give(lone);
    CHECK_EQ_INT(turn(lone), EKI_DOUBT_GAVE);
    next_wave(lone);
    answer(lone, EKI_KIND_NONE, 0);
    CHECK_EQ_INT(voted(lone), 0);
}

static void flag_stays_until_the_vote_has_left(struct lone *lone)
{
    begin(lone, 1, 4, EKI_DETECTOR_FRANCEZ);
    give(lone);
    lone->buffers = 0;
    CHECK_EQ_INT(turn(lone), -1);
    lone->buffers = 8;
    CHECK_EQ_INT(turn(lone), EKI_DOUBT_GAVE);
}

static void acknowledged_waits_for_receipts(struct lone *lone)
{
    begin(lone, 1, 4, EKI_DETECTOR_ACKNOWLEDGED);
    give(lone);
    CHECK_EQ_INT(turn(lone), -1);
    lone_message(lone, EKI_KIND_RECEIPT)->head.first = 1;
    lone_serve(lone);
    CHECK_EQ_INT(voted(lone), EKI_DOUBT_GAVE);
    next_wave(lone);
    CHECK_EQ_INT(turn(lone), 0);
}

/* ... and not for answers. */
static void acknowledged_votes_while_it_asks(struct lone *lone)
{
    begin(lone, 1, 0, EKI_DETECTOR_ACKNOWLEDGED);
    CHECK_EQ_INT(turn(lone), 0);
    next_wave(lone);
    CHECK_EQ_INT(voted(lone), 0);
}

static void who_takes_tasks_says_so(struct lone *lone)
{
    begin(lone, 1, 0, EKI_DETECTOR_ACKNOWLEDGED);
    turn(lone);
    lone->buffers = 0;
    answer(lone, EKI_KIND_TASKS, 2);
    CHECK_EQ_INT(lone->engine->detect.receipts.count, 1);
    lone->buffers = 8;
    lone_serve(lone);
    CHECK_EQ_INT(lone_sent_of(lone, EKI_KIND_RECEIPT)->head.first, 1);
}

static void receipt_for_nothing_is_refused(struct lone *lone)
{
    begin(lone, 1, 0, EKI_DETECTOR_ACKNOWLEDGED);
    lone_message(lone, EKI_KIND_RECEIPT)->head.first = 1;
    CHECK(lone_refuses(lone));
}

static void receipt_is_nothing_where_tasks_are_counted(struct lone *lone)
{
    begin(lone, 1, 0, EKI_DETECTOR_COUNTING);
    lone_message(lone, EKI_KIND_RECEIPT)->head.first = 1;
    CHECK(!lone_refuses(lone));
}

static int decided(struct lone *lone)
{
    struct eki_verdict verdict;
    if (lone_count(lone, EKI_KIND_WAVE) == 0)
        return -1;
    memcpy(&verdict, lone_sent_of(lone, EKI_KIND_WAVE)->body, sizeof verdict);
    return (int)verdict.wave;
}

/* One wave without a NO is the end, whatever the sums are. */
static void root_ends_when_nobody_votes_no(struct lone *lone)
{
    begin(lone, 0, 0, EKI_DETECTOR_ACKNOWLEDGED);
    lone_step(lone);
    lone_vote(lone, 1, 1, 1)->doubts = EKI_DOUBT_GAVE;
    lone_serve(lone);
    CHECK_EQ_INT(decided(lone), EKI_WAVE_AGAIN);
    lone_vote(lone, 1, 4, 4);
    lone_serve(lone);
    CHECK_EQ_INT(decided(lone), EKI_WAVE_DONE);
}

static void stopped_phase_is_counted(struct lone *lone)
{
    begin(lone, 0, 0, EKI_DETECTOR_ACKNOWLEDGED);
    lone_step(lone);
    lone_vote(lone, 1, 3, 3)->doubts = EKI_DOUBT_STOPPED;
    lone_serve(lone);
    CHECK_EQ_INT(decided(lone), EKI_WAVE_AGAIN);
    lone_vote(lone, 1, 3, 3)->doubts = EKI_DOUBT_STOPPED;
    lone_serve(lone);
    CHECK_EQ_INT(decided(lone), EKI_WAVE_DONE);
}

static void who_has_stopped_says_so(struct lone *lone)
{
    begin(lone, 1, 4, EKI_DETECTOR_ACKNOWLEDGED);
    give(lone);
    eki_engine_stop(lone->engine);
    CHECK_EQ_INT(turn(lone), EKI_DOUBT_STOPPED);
}

/* A vote that says so, so that the root finds a stall; the flag stays. */
static void what_is_open_for_long_is_told(struct lone *lone)
{
    lone_open(lone, 1);
    lone->setup.stall_ns = 1000000;
    lone_make(lone);
    lone_seed(lone, 4, 10);
    enter(lone, EKI_DETECTOR_ACKNOWLEDGED);
    give(lone);
    CHECK_EQ_INT(turn(lone), -1);
    lone->now += 250000;
    lone_serve(lone);
    CHECK_EQ_INT(voted(lone), EKI_DOUBT_OPEN);
    lone_message(lone, EKI_KIND_RECEIPT)->head.first = 1;
    lone_serve(lone);
    next_wave(lone);
    CHECK_EQ_INT(voted(lone), EKI_DOUBT_GAVE);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* Ranks 1 and 2 are a node: what rank 2 has open and gave is ours to write. */
static void begin_node(struct lone *lone, uint64_t signature)
{
    static const int workers[3] = {1, 1, 1}, nodes[3] = {0, 1, 1};
    lone_open_job(lone, 1, 3, workers, nodes);
    lone_make(lone);
    struct eki_worker_words *other = eki_words_of(lone->engine, 1);
    set(&other->phase, 1);
    set(&other->idle, 1);
    set(&other->signature[1], signature);
    enter(lone, EKI_DETECTOR_FRANCEZ);
}

static void node_votes_for_all_its_ranks(struct lone *lone)
{
    struct eki_vote vote;
    begin_node(lone, 1);
    set(&lone->engine->rank_words[1].opened, 5);
    set(&lone->engine->rank_words[1].closed, 4);
    set(&lone->engine->rank_words[1].gave, 1);
    lone_step(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    set(&lone->engine->rank_words[1].closed, 5);
    lone_serve(lone);
    memcpy(&vote, lone_sent_to(lone, 0, EKI_KIND_VOTE, 0)->body, sizeof vote);
    CHECK_EQ_INT(vote.doubts, EKI_DOUBT_GAVE);
    CHECK_EQ_INT(eki_glance(&lone->engine->rank_words[1].gave), 0);
}

static void ranks_of_a_node_that_differ_stop(struct lone *lone)
{
    begin_node(lone, 2);
    set(&lone->engine->rank_words[1].opened, 5);
    lone_step(lone);
    lone_serve(lone);
    lone_serve(lone);
    CHECK(eki_is_stopped(lone->engine));
    CHECK(lone_count(lone, EKI_KIND_VOTE) == 1);
}

/* Phases before leave sums that differ. */
static void phase_begins_with_nothing_open(struct lone *lone)
{
    begin(lone, 1, 4, EKI_DETECTOR_COUNTING);
    give(lone);
    CHECK_OK(lone_end_leaf(lone).status);
    lone_forget(lone);
    enter(lone, EKI_DETECTOR_FRANCEZ);
    CHECK_EQ_INT(turn(lone), 0);
}

static void what_cannot_be_seen_has_a_reason(void)
{
    for (int policy = 0; eki_option_choice_name("steal", policy); policy++) {
        const struct eki_scheme *scheme =
            eki_scheme_of((ek_steal_policy)policy);
        for (int detector = 0; eki_option_choice_name("termination", detector);
             detector++)
            CHECK((scheme->detectors >> detector & 1) ==
                  !eki_scheme_undetected(scheme, detector, false));
        CHECK(eki_scheme_undetected(scheme, EKI_DETECTOR_FRANCEZ, true));
    }
}

int main(void)
{
    RUN_LONE(francez_waits_for_the_answer);
    RUN_LONE(francez_runs_what_has_come);
    RUN_LONE(francez_asks_no_more_before_it_votes);
    RUN_LONE(who_gave_votes_no_once);
    RUN_LONE(flag_stays_until_the_vote_has_left);
    RUN_LONE(acknowledged_waits_for_receipts);
    RUN_LONE(acknowledged_votes_while_it_asks);
    RUN_LONE(who_takes_tasks_says_so);
    RUN_LONE(receipt_for_nothing_is_refused);
    RUN_LONE(receipt_is_nothing_where_tasks_are_counted);
    RUN_LONE(root_ends_when_nobody_votes_no);
    RUN_LONE(stopped_phase_is_counted);
    RUN_LONE(who_has_stopped_says_so);
    RUN_LONE(what_is_open_for_long_is_told);
    RUN_LONE(node_votes_for_all_its_ranks);
    RUN_LONE(ranks_of_a_node_that_differ_stop);
    RUN_LONE(phase_begins_with_nothing_open);
    RUN(what_cannot_be_seen_has_a_reason);
    return check_result();
}
