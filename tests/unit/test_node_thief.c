/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node thief: whom a node asks for work, one thing at a time, and what it gives
 * to nodes that ask.
 */
#include "lone.h"
#include "protocol/node_thief.h"

enum {
    NODES = 4
};

/* The first of four nodes, each of one worker, which has SEEDS tasks. */
static void begin_with(struct lone *lone, ek_steal_policy policy, int seeds)
{
    static const int workers[NODES] = {1, 1, 1, 1}, nodes[NODES] = {0, 1, 2, 3};
    lone_open_job(lone, 0, NODES, workers, nodes);
    lone->setup.load_threshold = 2;
    lone->setup.lifeline =
        (struct eki_lifeline_option){.graph = EKI_GRAPH_OFFSETS, .attempts = 2};
    lone_make(lone);
    lone_seed(lone, seeds, 10);
    lone_enter(lone, EKI_PHASE_PROCESS, policy);
    if (seeds == 0)
        CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
}

static const struct eki_node_thief *thief_of_lone(const struct lone *lone)
{
    return (const struct eki_node_thief *)eki_engine_protocol(
        lone->engine, &eki_node_thief_ops);
}

/* The server sends just one message, of KIND; to which node. */
static int sends(struct lone *lone, int kind)
{
    lone_forget(lone);
    lone_serve(lone);
    if (!CHECK_EQ_INT(lone->sent_count, 1))
        return -1;
    lone_sent_to(lone, 0, kind, lone->to[0]);
    return lone->to[0];
}

static void sends_nothing(struct lone *lone)
{
    lone_forget(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
}

/* NODE says KIND, and shows LOAD tasks; it is taken in the next step. */
static struct eki_message *says(struct lone *lone, int node, int kind, int load)
{
    struct eki_message *message = lone_message(lone, kind);
    message->head.source = node;
    message->head.worker = load;
    return message;
}

/* NODE gives COUNT tasks. */
static void gives(struct lone *lone, int node, int count, uint64_t first)
{
    lone_fill(lone, says(lone, node, EKI_KIND_NODE_GRANT, 0), count, first);
}

/* Read loads until it is one above the threshold; of which node. */
static int find_load(struct lone *lone)
{
    int node = sends(lone, EKI_KIND_NODE_READ);
    says(lone, node, EKI_KIND_NODE_LOAD, 3);
    return node;
}

static void load_is_read_before_a_node_is_asked(struct lone *lone)
{
    begin_with(lone, EK_STEAL_LOAD_READ, 0);
    CHECK(eki_worker_calls(lone_worker(lone)));
    int node = sends(lone, EKI_KIND_NODE_READ);
    CHECK(eki_worker_awaits(lone_worker(lone)));
    sends_nothing(lone);
    /* Strictly above the threshold. */
    says(lone, node, EKI_KIND_NODE_LOAD, 2);
    node = sends(lone, EKI_KIND_NODE_READ);
    says(lone, node, EKI_KIND_NODE_LOAD, 3);
    CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_ASK), node);
    sends_nothing(lone);
    says(lone, node, EKI_KIND_NODE_DENIED, -1);
    find_load(lone);
    CHECK_EQ_INT(lone->engine->sought.loads_read, 3);
    CHECK_EQ_INT(lone->engine->sought.denied, 1);
    CHECK_EQ_INT(lone->engine->in_vain, 1);
}

static void tasks_end_a_search(struct lone *lone)
{
    uint64_t ran[8];
    begin_with(lone, EK_STEAL_LOAD_READ, 0);
    says(lone, find_load(lone), EKI_KIND_NODE_LOAD, 3);
    int node = sends(lone, EKI_KIND_NODE_ASK);
    says(lone, node, EKI_KIND_NODE_OCCUPIED, 5);
    find_load(lone);
    node = sends(lone, EKI_KIND_NODE_ASK);
    gives(lone, node, 3, 70);
    sends_nothing(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 3);
    CHECK_EQ_INT(lone->engine->sought.searches[1], 1);
    CHECK_EQ_INT(lone->engine->sought.occupied, 1);
    CHECK_EQ_INT(lone_worker(lone)->counts.steals, 1);
    /* Idle again. */
    sends(lone, EKI_KIND_NODE_READ);
}

static void loads_ride_on_answers(struct lone *lone)
{
    begin_with(lone, EK_STEAL_LOAD, 0);
    int poor = sends(lone, EKI_KIND_NODE_ASK), rich = poor % 3 + 1, asked = 0;
    says(lone, poor, EKI_KIND_NODE_DENIED, 0);
    for (int i = 0; i < 100; i++) {
        lone->buffers = 1;
        int node = sends(lone, EKI_KIND_NODE_ASK);
        asked += node == rich;
        says(lone, node, EKI_KIND_NODE_DENIED, node == rich ? 9 : 0);
    }
    /* The two others once each, and sometimes: what is known may be old. */
    CHECK(asked > 80);
    CHECK_EQ_INT(lone->engine->sought.loads_read, 0);
}

static void requests_stay_where_they_are_queued(struct lone *lone)
{
    uint64_t ran[8];
    bool is_asked[NODES] = {true};
    int node = -1;
    begin_with(lone, EK_STEAL_SUCCESS, 0);
    for (int i = 1; i < NODES; i++) {
        node = find_load(lone);
        CHECK(!is_asked[node]);
        is_asked[node] = true;
        CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_QUEUE), node);
        sends_nothing(lone);
        says(lone, node, EKI_KIND_NODE_QUEUED, 3);
    }
    /* Nobody is left to ask. */
    sends_nothing(lone);
    CHECK(!eki_worker_calls(lone_worker(lone)));
    CHECK(!eki_worker_awaits(lone_worker(lone)));
    CHECK(eki_worker_due(lone_worker(lone)) == UINT64_MAX);
    /* Who has given is asked again. */
    gives(lone, node, 2, 70);
    sends_nothing(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 2);
    CHECK_EQ_INT(lone->engine->sought.searches[2], 1);
    CHECK_EQ_INT(find_load(lone), node);
    CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_QUEUE), node);
    CHECK_EQ_INT(lone->engine->in_vain, 0);
}

static void acyclic_asks_nobody_who_waits_here(struct lone *lone)
{
    begin_with(lone, EK_STEAL_SUCCESS_ACYCLIC, 0);
    /* It comes while its load is read. */
    int node = sends(lone, EKI_KIND_NODE_READ);
    says(lone, node, EKI_KIND_NODE_QUEUE, -1);
    CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_QUEUED), node);
    says(lone, node, EKI_KIND_NODE_LOAD, 3);
    for (int i = 0; i < 2; i++) {
        int other = find_load(lone);
        CHECK(other != node);
        CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_QUEUE), other);
        says(lone, other, EKI_KIND_NODE_QUEUED, 3);
    }
    sends_nothing(lone);
}

static void lifelines_come_after_some_attempts(struct lone *lone)
{
    uint64_t ran[8];
    begin_with(lone, EK_STEAL_LIFELINE, 0);
    for (int i = 0; i < 2; i++)
        says(lone, sends(lone, EKI_KIND_NODE_ASK), EKI_KIND_NODE_DENIED, 9);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_QUEUE), 1 << i);
        says(lone, 1 << i, EKI_KIND_NODE_QUEUED, 0);
    }
    sends_nothing(lone);
    CHECK(!eki_worker_calls(lone_worker(lone)));
    gives(lone, 2, 1, 70);
    sends_nothing(lone);
    CHECK_EQ_INT(lone_run(lone, ran, 8), 1);
    /* Two attempts more, at who is no lifeline with a request. */
    for (int i = 0; i < 2; i++) {
        int node = sends(lone, EKI_KIND_NODE_ASK);
        CHECK(node != 1);
        says(lone, node, EKI_KIND_NODE_DENIED, 9);
    }
    CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_QUEUE), 2);
}

/* What is queued is told so, then it gets tasks, as many as the batch says. */
static void queued_request_gets_a_batch(struct lone *lone)
{
    begin_with(lone, EK_STEAL_SUCCESS, 8);
    lone->engine->setup.steal_batch = 1;
    says(lone, 1, EKI_KIND_NODE_QUEUE, -1);
    lone_serve(lone);
    lone_sent_to(lone, 0, EKI_KIND_NODE_QUEUED, 1);
    CHECK_EQ_INT(lone_sent_to(lone, 1, EKI_KIND_NODE_GRANT, 1)->head.count, 1);
    CHECK_EQ_INT(lone->sent_count, 2);
    /* None is lost. */
    uint64_t ran[8];
    CHECK_EQ_INT(lone_run(lone, ran, 8), 7);
    CHECK_EQ_INT(lone->engine->sought.grants, 1);
    CHECK_EQ_INT(lone->engine->sought.cyclic, 0);
}

static void queue_is_looked_at_when_tasks_come(struct lone *lone)
{
    begin_with(lone, EK_STEAL_SUCCESS, 0);
    int node = find_load(lone), guest = node % 3 + 1;
    sends(lone, EKI_KIND_NODE_QUEUE);
    says(lone, guest, EKI_KIND_NODE_QUEUE, -1);
    CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_QUEUED), guest);
    sends_nothing(lone);
    gives(lone, node, 6, 70);
    sends_nothing(lone);
    /* The worker takes them, and shows some. */
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_GRANT), guest);
    CHECK(thief_of_lone(lone)->guests.count == 0);
}

static void idle_node_denies(struct lone *lone)
{
    begin_with(lone, EK_STEAL_LOAD_READ, 0);
    sends(lone, EKI_KIND_NODE_READ);
    says(lone, 1, EKI_KIND_NODE_ASK, -1);
    CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_DENIED), 1);
    CHECK_EQ_INT(lone_sent_head(lone, 0)->worker, EKI_LOAD_IDLE);
    says(lone, 1, EKI_KIND_NODE_READ, -1);
    CHECK_EQ_INT(sends(lone, EKI_KIND_NODE_LOAD), 1);
    CHECK_EQ_INT(lone_sent_head(lone, 0)->worker, EKI_LOAD_IDLE);
}

static void victim_holds_one_thief(struct lone *lone)
{
    begin_with(lone, EK_STEAL_LOAD_READ, 8);
    lone->buffers = 0;
    for (int node = 1; node < 3; node++) {
        says(lone, node, EKI_KIND_NODE_ASK, -1);
        lone_serve(lone);
    }
    lone->buffers = 2;
    lone_serve(lone);
    lone_sent_to(lone, 0, EKI_KIND_NODE_GRANT, 1);
    lone_sent_to(lone, 1, EKI_KIND_NODE_OCCUPIED, 2);
}

/* A rank may be in the program's own code for long. */
static void who_owes_an_answer_for_long_is_left_alone(struct lone *lone)
{
    begin_with(lone, EK_STEAL_SUCCESS, 0);
    int late = sends(lone, EKI_KIND_NODE_READ);
    CHECK_EQ_INT(eki_worker_due(lone_worker(lone)),
                 lone->now + EKI_OPEN_LEAST_NS);
    lone->now += EKI_OPEN_LEAST_NS;
    CHECK(sends(lone, EKI_KIND_NODE_READ) != late);
    says(lone, late, EKI_KIND_NODE_LOAD, 3);
    sends_nothing(lone);
}

static void nobody_is_asked_after_a_stop(struct lone *lone)
{
    begin_with(lone, EK_STEAL_SUCCESS, 0);
    find_load(lone);
    lone_forget(lone);
    eki_engine_stop(lone->engine);
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_NODE_QUEUE), 0);
}

/* Of a rank whose policy is another, and of nobody else's tasks. */
static void messages_of_other_policies_are_dropped(struct lone *lone)
{
    begin_with(lone, EK_STEAL_RANDOM, 4);
    says(lone, 1, EKI_KIND_NODE_READ, -1);
    CHECK(!lone_refuses(lone));
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_NODE_LOAD), 0);
    gives(lone, 1, 1, 70);
    CHECK(lone_refuses(lone));
}

static void unasked_tasks_are_refused(struct lone *lone)
{
    begin_with(lone, EK_STEAL_SUCCESS, 0);
    gives(lone, 1, 1, 70);
    CHECK(lone_refuses(lone));
}

static void second_request_of_a_node_is_refused(struct lone *lone)
{
    begin_with(lone, EK_STEAL_SUCCESS, 0);
    says(lone, 1, EKI_KIND_NODE_QUEUE, -1);
    CHECK(!lone_refuses(lone));
    says(lone, 1, EKI_KIND_NODE_QUEUE, -1);
    CHECK(lone_refuses(lone));
}

static void answer_that_is_not_owed_is_refused(struct lone *lone)
{
    begin_with(lone, EK_STEAL_SUCCESS, 4);
    says(lone, 1, EKI_KIND_NODE_LOAD, 3);
    CHECK(lone_refuses(lone));
}

/* However long ago: after a while it asks others, and no more when all do. */
static void nodes_that_do_not_answer_are_told(struct lone *lone)
{
    const struct eki_protocol *thief;
    char text[200] = "";
    begin_with(lone, EK_STEAL_LOAD, 0);
    thief = &thief_of_lone(lone)->protocol;
    for (int i = 1; i < NODES; i++) {
        sends(lone, EKI_KIND_NODE_ASK);
        lone->now += EKI_OPEN_LEAST_NS;
    }
    sends_nothing(lone);
    thief->ops->tell(thief, lone->now, 1000000000, text, sizeof text);
    CHECK(text[0] == '\0');
    thief->ops->tell(thief, lone->now + 1000000000, 1000000000, text,
                     sizeof text);
    CHECK(strcmp(text, ", 3 nodes that owe an answer") == 0);
}

int main(void)
{
    RUN_LONE(load_is_read_before_a_node_is_asked);
    RUN_LONE(tasks_end_a_search);
    RUN_LONE(loads_ride_on_answers);
    RUN_LONE(requests_stay_where_they_are_queued);
    RUN_LONE(acyclic_asks_nobody_who_waits_here);
    RUN_LONE(lifelines_come_after_some_attempts);
    RUN_LONE(queued_request_gets_a_batch);
    RUN_LONE(queue_is_looked_at_when_tasks_come);
    RUN_LONE(idle_node_denies);
    RUN_LONE(victim_holds_one_thief);
    RUN_LONE(who_owes_an_answer_for_long_is_left_alone);
    RUN_LONE(nobody_is_asked_after_a_stop);
    RUN_LONE(messages_of_other_policies_are_dropped);
    RUN_LONE(unasked_tasks_are_refused);
    RUN_LONE(second_request_of_a_node_is_refused);
    RUN_LONE(answer_that_is_not_owed_is_refused);
    RUN_LONE(nodes_that_do_not_answer_are_told);
    return check_result();
}
