/* SPDX-License-Identifier: BSD-3-Clause */
/* lack: memory that is gone for long ends the phase, and no task is lost. */
#include "ask.h"

#define PATIENCE_NS UINT64_C(5000000000)

/* Long steps of the server, without memory. */
static void go_without(struct lone *lone, int steps)
{
    eki_memory_fail(EKI_MEMORY_GONE);
    for (; steps > 0; steps--) {
        lone->now += PATIENCE_NS;
        lone_serve(lone);
    }
    eki_memory_fail(0);
}

/* Task FIRST, and so on, COUNT in all, were sent to RANK. */
static void check_passed(struct lone *lone, int i, int rank, int count,
                         uint64_t first)
{
    const struct eki_message *move = lone_sent_to(lone, i, EKI_KIND_MOVE, rank);
    CHECK_EQ_INT(move->head.worker, -1);
    CHECK_EQ_INT(move->head.count, count);
    CHECK_EQ_INT(move->head.bytes, count * LONE_SLOT);
    for (int k = 0; k < count && k < move->head.count; k++)
        CHECK_EQ_INT(lone_number_in(move, k), first + (uint64_t)k);
}

static void check_error(struct lone *lone, uint64_t created, const char *text)
{
    struct eki_error error = lone_end_root(lone, created, created);
    CHECK_EQ_INT(error.status, EK_ERR_NOMEM);
    CHECK(eki_error_may_go_on(&error));
    CHECK_EQ_TEXT(error.text, text);
}

static void answer_goes_on_to_the_next_rank(struct lone *lone)
{
    begin(lone);
    CHECK(asks_at(lone, lone->now));
    send_request(lone);
    lone_forget(lone);
    eki_memory_fail(EKI_MEMORY_GONE);
    grant(lone, 2, 10, 0);
    CHECK(eki_is_stopped(lone->engine));
    lone->now += PATIENCE_NS / 2;
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_MOVE), 0);
    CHECK(lone->has_got);
    lone_forget(lone);
    go_without(lone, 2);
    CHECK(!lone->has_got);
    check_passed(lone, 0, 1, 2, 10);
    CHECK(!eki_worker_awaits(lone_worker(lone)));
    check_error(lone, 2,
                "no memory for a message of rank 1 (tasks, 128 bytes)");
}

/* What has come for a worker, which has no room for it. */
static void inbox_goes_on_in_turn(struct lone *lone)
{
    static const int workers[3] = {1, 1, 1}, nodes[3] = {0, 1, 2};
    lone_open_job(lone, 0, 3, workers, nodes);
    lone_begin(lone, EK_STEAL_NONE);
    for (uint64_t first = 10; first <= 20; first += 10) {
        lone_fill(lone, lone_message(lone, EKI_KIND_MOVE), 3, first);
        lone_serve(lone);
    }
    WITHOUT_MEMORY(1, lone_step(lone));
    CHECK(eki_is_stopped(lone->engine));
    lone_serve(lone);
    lone_forget(lone);
    go_without(lone, 2);
    check_passed(lone, 0, 1, 3, 10);
    check_passed(lone, 1, 2, 3, 20);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
}

int main(void)
{
    RUN_LONE(answer_goes_on_to_the_next_rank);
    RUN_LONE(inbox_goes_on_in_turn);
    return check_result();
}
