/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pass: the ranks of a node end an iteration without a step where no task is
 * anywhere, and only there.
 */
#include "engine/internal.h"
#include "tally.h"

enum {
    LOOKS = 3
};

/* Two ranks, which share the words of their node. */
static struct lone ranks[2];

static void open_ranks(const int *nodes)
{
    static const int workers[2] = {2, 1};
    for (int rank = 0; rank < 2; rank++)
        lone_open_job(&ranks[rank], rank, 2, workers, nodes);
    if (nodes[0] == nodes[1]) {
        eki_free(ranks[1].setup.segment);
        ranks[1].setup.segment = ranks[0].setup.segment;
    }
    lone_make(&ranks[0]);
    lone_make(&ranks[1]);
}

static void open_node(void)
{
    static const int nodes[2] = {0, 0};
    open_ranks(nodes);
}

static void close_ranks(void)
{
    if (ranks[1].setup.segment == ranks[0].setup.segment)
        ranks[1].setup.segment = NULL;
    lone_close(&ranks[1]);
    lone_close(&ranks[0]);
}

static struct eki_phase phase_of(ek_steal_policy policy)
{
    return (struct eki_phase){.kind = EKI_PHASE_PROCESS,
                              .signature = 1,
                              .has_threads = true,
                              .scheme = eki_scheme_of(policy)};
}

static void enter(int rank)
{
    struct eki_phase phase = phase_of(EK_STEAL_RANDOM);
    eki_engine_enter(ranks[rank].engine, &phase, ranks[rank].now);
}

static void enter_both(void)
{
    enter(0);
    enter(1);
}

static bool passes(int rank)
{
    return eki_engine_pass(ranks[rank].engine, LOOKS);
}

/* A rank has passed: what it returns. */
static ek_status leave(int rank)
{
    struct eki_engine *engine = ranks[rank].engine;
    struct eki_error error;
    for (int here = 0; here < ranks[rank].topology->workers_here; here++)
        CHECK(eki_worker_is_done(engine->workers[here]));
    eki_engine_leave(engine, &error);
    return (ek_status)error.status;
}

/* A task of rank FROM was run by the other one. */
static void move_task(int from)
{
    struct ek_worker *worker = lone_worker(&ranks[from]);
    struct ek_worker *thief = lone_worker(&ranks[1 - from]);
    worker->created++;
    thief->executed++;
    eki_worker_store(worker);
    eki_worker_store(thief);
}

static void ranks_pass_when_all_have_come(void)
{
    open_node();
    for (int i = 0; i < 4; i++) {
        int first = i & 1;
        enter(first);
        CHECK(!passes(first));
        enter(1 - first);
        CHECK(passes(1 - first));
        CHECK_OK(leave(1 - first));
        /* The one may be an iteration ahead by now. */
        if (i < 2) {
            CHECK(passes(first));
            CHECK_OK(leave(first));
            continue;
        }
        enter(1 - first);
        CHECK(passes(first));
        CHECK_OK(leave(first));
        enter(first);
        CHECK(passes(first) && passes(1 - first));
        CHECK_OK(leave(first) + leave(1 - first));
    }
    close_ranks();
}

static void tasks_that_have_moved_are_no_matter(void)
{
    open_node();
    move_task(1);
    enter_both();
    CHECK(passes(0) && passes(1));
    close_ranks();
}

static void nobody_passes_where_a_rank_has_tasks(void)
{
    uint64_t ran[2];
    open_node();
    lone_seed(&ranks[1], 1, 10);
    enter_both();
    CHECK(!passes(0) && !passes(1));
    eki_worker_arrive(lone_worker(&ranks[1]), ranks[1].now);
    CHECK(!passes(0));
    CHECK_EQ_INT(lone_run(&ranks[1], ran, 2), 1);
    /* It has run, and its worker is idle. */
    CHECK(passes(0));
    CHECK_OK(leave(0));
    close_ranks();
}

/* Workers are idle whose tasks are with a protocol. */
static void nobody_passes_where_tasks_are_hidden(void)
{
    open_node();
    lone_worker(&ranks[1])->created++;
    eki_worker_store(lone_worker(&ranks[1]));
    enter_both();
    CHECK(!passes(0) && !passes(1));
    close_ranks();
    open_node();
    lone_seed(&ranks[1], 3, 10);
    struct eki_phase phase = phase_of(EK_STEAL_COUNTER);
    for (int rank = 0; rank < 2; rank++)
        eki_engine_enter(ranks[rank].engine, &phase, ranks[rank].now);
    CHECK(!passes(0) && !passes(1));
    close_ranks();
}

static void nobody_passes_before_a_rank_that_may_fail(void)
{
    struct eki_phase phase = phase_of(EK_STEAL_RANDOM);
    open_node();
    enter(0);
    phase.may_fail = true;
    eki_engine_enter(ranks[1].engine, &phase, ranks[1].now);
    CHECK(!passes(0) && !passes(1));
    eki_engine_fail(ranks[1].engine, EK_ERR_FILE, "");
    eki_worker_arrive(lone_worker(&ranks[1]), ranks[1].now);
    CHECK_EQ_INT(lone_step(&ranks[1]), EKI_STEP_DONE);
    CHECK(passes(0));
    CHECK_EQ_INT(leave(0), EK_ERR_FILE);
    CHECK_EQ_INT(leave(1), EK_ERR_FILE);
    close_ranks();
}

static void ranks_that_differ_fail_together(void)
{
    struct eki_phase phase = phase_of(EK_STEAL_RANDOM);
    open_node();
    enter(0);
    phase.signature = 2;
    eki_engine_enter(ranks[1].engine, &phase, ranks[1].now);
    CHECK(passes(0) && passes(1));
    CHECK_EQ_INT(leave(0), EK_ERR_ARG);
    CHECK_EQ_INT(leave(1), EK_ERR_ARG);
    close_ranks();
}

static void nobody_passes_where_servers_are_needed(void)
{
    static const int nodes[2] = {0, 1};
    open_node();
    add(&ranks[0], &all);
    counting.wants_servers = true;
    enter_both();
    CHECK(!passes(0));
    close_ranks();
    open_ranks(nodes);
    enter_both();
    CHECK(!passes(0));
    close_ranks();
}

static bool drain_nothing(struct eki_fabric *fabric)
{
    (void)fabric;
    return false;
}

/* Whether the server of rank 0, whose last message does not leave, is needed
 * when a phase of this KIND is over. */
static bool is_kept(enum eki_phase_kind kind)
{
    struct eki_fabric_ops ops = lone_ops;
    struct eki_phase phase = phase_of(EK_STEAL_COUNTER);
    ops.drain = drain_nothing;
    phase.kind = kind;
    open_node();
    ranks[0].fabric.ops = &ops;
    eki_engine_enter(ranks[0].engine, &phase, ranks[0].now);
    bool is_kept = !eki_server_step(ranks[0].engine, ranks[0].now);
    close_ranks();
    return is_kept;
}

/* A rank that has left a node may step no server. */
static void no_rank_of_a_node_waits_for_its_last_message(void)
{
    CHECK(!is_kept(EKI_PHASE_PROCESS));
    CHECK(is_kept(EKI_PHASE_RESTORE));
}

int main(void)
{
    RUN(ranks_pass_when_all_have_come);
    RUN(tasks_that_have_moved_are_no_matter);
    RUN(nobody_passes_where_a_rank_has_tasks);
    RUN(nobody_passes_where_tasks_are_hidden);
    RUN(nobody_passes_before_a_rank_that_may_fail);
    RUN(ranks_that_differ_fail_together);
    RUN(nobody_passes_where_servers_are_needed);
    RUN(no_rank_of_a_node_waits_for_its_last_message);
    return check_result();
}
