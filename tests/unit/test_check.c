/* SPDX-License-Identifier: BSD-3-Clause */
/* The checkers of workers, node words and protocols: each invariant is broken
 * once. */
#include "lone.h"

/* What a checker says while the BYTES of FIELD are VALUE (lowest byte first)
 * must have TEXT; before and after it says nothing. */
static void check_broken(const char *(*say)(const struct lone *lone),
                         const struct lone *lone, void *field, size_t bytes,
                         int64_t value, const char *text)
{
    unsigned char own[8];
    CHECK(say(lone) == NULL);
    memcpy(own, field, bytes);
    memcpy(field, &value, bytes);
    const char *wrong = say(lone);
    CHECK_HAS_TEXT(wrong ? wrong : "nothing", text);
    memcpy(field, own, bytes);
    CHECK(say(lone) == NULL);
}

static const char *say_worker(const struct lone *lone)
{
    return eki_worker_check(lone_worker(lone));
}

static const char *say_node(const struct lone *lone)
{
    return eki_node_check(lone->engine);
}

static const char *say_requests(const struct lone *lone)
{
    return eki_requests_check(lone->engine);
}

static const char *say_counter(const struct lone *lone)
{
    return eki_counter_check(lone->engine);
}

static const char *say_hands(const struct lone *lone)
{
    return eki_hands_check(lone->engine);
}

#define BREAK(say, field, value, text) \
    check_broken(say, lone, (void *)&(field), sizeof(field), value, text)
#define BREAK_WORKER(field, value, text)                   \
    check_broken(say_worker, lone, (void *)&worker->field, \
                 sizeof worker->field, value, text)
#define BREAK_NODE(field, value, text) BREAK(say_node, field, value, text)

static void open_process(struct lone *lone)
{
    lone_open(lone, 0);
    lone_begin(lone, EK_STEAL_RANDOM);
}

static void broken_batches_are_found(struct lone *lone)
{
    open_process(lone);
    struct ek_worker *worker = lone_worker(lone);
    BREAK_WORKER(batch.size, 3, "no power of two");
    BREAK_WORKER(batch.size, 128, "no power of two");
    BREAK_WORKER(batch.count, 65, "more tasks than one may");
}

static void broken_pieces_are_found(struct lone *lone)
{
    open_process(lone);
    struct ek_worker *worker = lone_worker(lone);
    worker->piece.first = 10;
    worker->piece.index = 12;
    worker->piece.last = 14;
    BREAK_WORKER(piece.size, 513, "not from 1 to 512");
    BREAK_WORKER(piece.index, 15, "beyond its ends");
    BREAK_WORKER(piece.index, 9, "beyond its ends");
    BREAK_WORKER(piece.nulls, 3, "more null indices");
}

static void broken_searches_are_found(struct lone *lone)
{
    open_process(lone);
    struct ek_worker *worker = lone_worker(lone);
    BREAK_WORKER(search.steal_from, 0, "claimed from nobody");
    BREAK_WORKER(search.steal_from, 2, "claimed from nobody");
    BREAK_WORKER(check.at, 1, "is nowhere");
    BREAK_WORKER(check.pass, 2, "is nowhere");
}

static void sums_that_say_too_much_are_found(struct lone *lone)
{
    open_process(lone);
    struct ek_worker *worker = lone_worker(lone);
    BREAK_WORKER(words->executed, 1, "stored as executed");
    BREAK_WORKER(words->created, 1, "stored as created");
}

/* Phase 1 is open. */
static void node_words_of_no_phase_are_found(struct lone *lone)
{
    open_process(lone);
    struct eki_engine *engine = lone->engine;
    struct eki_node_words *node = engine->node;
    BREAK_NODE(node->stop[0], 1, "of no phase");
    BREAK_NODE(node->mail[1], 3, "of no phase");
    BREAK_NODE(node->error[0], 4, "of no phase");
    BREAK_NODE(node->mismatch[1], 2, "of no phase");
    BREAK_NODE(node->polled, 2, "does not exist");
    BREAK_NODE(node->polled, -1, "does not exist");
    BREAK_NODE(node->announced, 2, "is announced");
}

static void words_of_ranks_and_workers_are_checked(struct lone *lone)
{
    open_process(lone);
    struct eki_engine *engine = lone->engine;
    struct eki_worker_words *words = lone_worker(lone)->words;
    BREAK_NODE(engine->rank_words[0].left, 2, "has left");
    BREAK_NODE(engine->rank_words[0].errors.failed[0], 1, "of a rank");
    BREAK_NODE(words->phase, 3, "is in a phase");
    BREAK_NODE(words->idle, 3, "idle in a phase to come");
    BREAK_NODE(words->errors.failed[1], 2, "of a worker");
}

static void requests_that_nobody_sent_are_found(struct lone *lone)
{
    open_process(lone);
    struct eki_requests *requests =
        (struct eki_requests *)eki_requests_of(lone->engine);
    struct eki_sent sent[2] = {{.rank = 1, .at = 5}, {.rank = 2, .at = 7}};
    requests->sent = sent;
    requests->sent_count = 2;
    requests->askers[0].sent_at[0] = 7;
    BREAK(say_requests, requests->asks, 1, "asks that the server is told of");
    BREAK(say_requests, requests->askers[0].ask, 2, "asks that the server");
    BREAK(say_requests, requests->askers[0].sent_at[1], 6, "never sent");
    BREAK(say_requests, requests->sent[1].at, 6, "never sent");
    BREAK(say_requests, requests->sent[1].here, 1, "never sent");
    BREAK(say_requests, requests->sent[1].rank, 1, "owes a worker two");
    requests->sent = NULL;
    requests->sent_count = 0;
}

static void wants_of_the_counter_are_counted(struct lone *lone)
{
    open_process(lone);
    struct eki_counter *counter =
        (struct eki_counter *)eki_counter_of(lone->engine);
    struct eki_drawer *drawer = &counter->drawers[0];
    BREAK(say_counter, counter->wants, 1, "is miscounted");
    BREAK(say_counter, drawer->state, EKI_DRAW_ASK, "is miscounted");
    BREAK(say_counter, drawer->fetch, EKI_FETCH_WANT, "is miscounted");
    drawer->number = 3;
    drawer->end = 4;
    drawer->state = EKI_DRAW_NUMBER;
    BREAK(say_counter, drawer->end, 3, "beyond its chunk");
}

static void loads_of_long_tasks_are_their_sums(struct lone *lone)
{
    open_process(lone);
    struct eki_hands *hands =
        (struct eki_hands *)eki_engine_protocol(lone->engine, &eki_hands_ops);
    struct eki_hand tasks[3] = {{.ns = 9, .state = EKI_HAND_HERE},
                                {.ns = 7, .state = EKI_HAND_SHED},
                                {.ns = 5, .state = EKI_HAND_AWAITED}};
    hands->long_tasks.items = tasks;
    hands->long_tasks.count = 3;
    hands->long_tasks.load_ns[0] = 1 + 9 + 5;
    hands->long_tasks.pinned_ns = 1;
    hands->takes_to = 1;
    BREAK(say_hands, hands->long_tasks.load_ns[0], 16, "is miscounted");
    BREAK(say_hands, hands->long_tasks.pinned_ns, 0, "is miscounted");
    BREAK(say_hands, tasks[0].state, EKI_HAND_OFFERED, "is miscounted");
    BREAK(say_hands, tasks[2].here, 1, "is miscounted");
    BREAK(say_hands, tasks[1].ns, 4, "out of order");
    hands->long_tasks.items = NULL;
    hands->long_tasks.count = 0;
}

int main(void)
{
    RUN_LONE(broken_batches_are_found);
    RUN_LONE(broken_pieces_are_found);
    RUN_LONE(broken_searches_are_found);
    RUN_LONE(sums_that_say_too_much_are_found);
    RUN_LONE(node_words_of_no_phase_are_found);
    RUN_LONE(words_of_ranks_and_workers_are_checked);
    RUN_LONE(requests_that_nobody_sent_are_found);
    RUN_LONE(wants_of_the_counter_are_counted);
    RUN_LONE(loads_of_long_tasks_are_their_sums);
    return check_result();
}
