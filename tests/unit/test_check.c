/* SPDX-License-Identifier: BSD-3-Clause */
/* The checkers of workers and node words: each invariant is broken once. */
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

#define BREAK_WORKER(field, value, text)                    \
    check_broken(say_worker, &lone, (void *)&worker->field, \
                 sizeof worker->field, value, text)
#define BREAK_NODE(field, value, text) \
    check_broken(say_node, &lone, (void *)&(field), sizeof(field), value, text)

static void open_process(struct lone *lone)
{
    lone_open(lone, 0);
    lone_begin(lone, EK_STEAL_RANDOM);
}

static void broken_batches_are_found(void)
{
    struct lone lone;
    open_process(&lone);
    struct ek_worker *worker = lone_worker(&lone);
    BREAK_WORKER(batch.size, 3, "no power of two");
    BREAK_WORKER(batch.size, 128, "no power of two");
    BREAK_WORKER(batch.count, 65, "more tasks than one may");
    lone_close(&lone);
}

static void broken_pieces_are_found(void)
{
    struct lone lone;
    open_process(&lone);
    struct ek_worker *worker = lone_worker(&lone);
    worker->piece.first = 10;
    worker->piece.index = 12;
    worker->piece.last = 14;
    BREAK_WORKER(piece.size, 513, "not from 1 to 512");
    BREAK_WORKER(piece.index, 15, "beyond its ends");
    BREAK_WORKER(piece.index, 9, "beyond its ends");
    BREAK_WORKER(piece.nulls, 3, "more null indices");
    lone_close(&lone);
}

static void broken_searches_are_found(void)
{
    struct lone lone;
    open_process(&lone);
    struct ek_worker *worker = lone_worker(&lone);
    BREAK_WORKER(search.steal_from, 0, "claimed from nobody");
    BREAK_WORKER(search.steal_from, 2, "claimed from nobody");
    BREAK_WORKER(check.at, 1, "is nowhere");
    BREAK_WORKER(check.pass, 2, "is nowhere");
    lone_close(&lone);
}

static void sums_that_say_too_much_are_found(void)
{
    struct lone lone;
    open_process(&lone);
    struct ek_worker *worker = lone_worker(&lone);
    BREAK_WORKER(words->executed, 1, "stored as executed");
    BREAK_WORKER(words->created, 1, "stored as created");
    lone_close(&lone);
}

/* Phase 1 is open. */
static void node_words_of_no_phase_are_found(void)
{
    struct lone lone;
    open_process(&lone);
    struct eki_engine *engine = lone.engine;
    struct eki_node_words *node = engine->node;
    BREAK_NODE(node->stop[0], 1, "of no phase");
    BREAK_NODE(node->mail[1], 3, "of no phase");
    BREAK_NODE(node->error[0], 4, "of no phase");
    BREAK_NODE(node->mismatch[1], 2, "of no phase");
    BREAK_NODE(node->polled, 2, "does not exist");
    BREAK_NODE(node->polled, -1, "does not exist");
    BREAK_NODE(node->announced, 2, "is announced");
    lone_close(&lone);
}

static void words_of_ranks_and_workers_are_checked(void)
{
    struct lone lone;
    open_process(&lone);
    struct eki_engine *engine = lone.engine;
    struct eki_worker_words *words = lone_worker(&lone)->words;
    BREAK_NODE(engine->rank_words[0].left, 2, "has left");
    BREAK_NODE(engine->rank_words[0].errors.failed[0], 1, "of a rank");
    BREAK_NODE(words->phase, 3, "is in a phase");
    BREAK_NODE(words->idle, 3, "idle in a phase to come");
    BREAK_NODE(words->errors.failed[1], 2, "of a worker");
    lone_close(&lone);
}

int main(void)
{
    RUN(broken_batches_are_found);
    RUN(broken_pieces_are_found);
    RUN(broken_searches_are_found);
    RUN(sums_that_say_too_much_are_found);
    RUN(node_words_of_no_phase_are_found);
    RUN(words_of_ranks_and_workers_are_checked);
    return check_result();
}
