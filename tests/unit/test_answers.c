/* SPDX-License-Identifier: BSD-3-Clause */
/* answers: what a server gives that is asked, and what becomes of it. */
#include "ask.h"

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

/* Who is named gives, though another shows more; who shows nothing gives none.
 */
static void worker_that_is_named_gives(struct lone *lone)
{
    static const int workers[2] = {3, 1}, nodes[2] = {0, 1};
    static const int seeds[3] = {4, 8, 0}, given[3] = {1, 3, 0};
    lone_open_job(lone, 0, 2, workers, nodes);
    lone_make(lone);
    for (int here = 0; here < 3; here++) {
        for (int i = 0; i < seeds[here]; i++)
            lone_seed_at(lone, here, (uint64_t)(100 * here + i));
    }
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    for (int here = 0; here < 3; here++) {
        lone_message(lone, EKI_KIND_REQUEST)->head.detail = here;
        lone_serve(lone);
        const struct eki_message *answer =
            lone_sent_only(lone, here < 2 ? EKI_KIND_TASKS : EKI_KIND_NONE);
        CHECK_EQ_INT(answer->head.count, given[here]);
        if (here < 2)
            CHECK_EQ_INT(lone_number_in(answer, 0), 100 * (uint64_t)here);
    }
}

static void worker_that_is_named_is_of_this_rank(void)
{
    static const int named[] = {0, 3, INT32_MAX, -2};
    static const int workers[3] = {1, 2, 1}, nodes[3] = {0, 1, 2};
    for (int i = 0; i < 4; i++) {
        struct lone lone;
        lone_open_job(&lone, 1, 3, workers, nodes);
        lone_begin(&lone, EK_STEAL_HPDC12);
        lone_message(&lone, EKI_KIND_REQUEST)->head.detail = named[i];
        lone_serve(&lone);
        CHECK(eki_refused(lone.engine) != EKI_FITS);
        CHECK_HAS_TEXT(lone.engine->node->refusal.text, "victim");
        lone_close(&lone);
    }
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
    /* There is room for so many from the beginning. */
    lone->buffers = 0;
    for (int i = 0; i < 8; i++)
        receive_request(lone);
    WITHOUT_MEMORY(1, receive_request(lone));
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK(lone->has_got);
    CHECK(!eki_is_stopped(lone->engine));
    lone->buffers = LONE_SENT;
    lone_serve(lone);
    CHECK(!lone->has_got);
    CHECK_EQ_INT(
        lone_count(lone, EKI_KIND_TASKS) + lone_count(lone, EKI_KIND_NONE), 9);
}

static void tasks_without_memory_make_the_phase_an_error(struct lone *lone)
{
    uint64_t ran[1];
    begin(lone);
    CHECK(asks_at(lone, lone->now));
    send_request(lone);
    WITHOUT_MEMORY(1, grant(lone, 2, 10, 0));
    CHECK(eki_worker_awaits(lone_worker(lone)));
    CHECK(eki_is_stopped(lone->engine));
    lone_serve(lone);
    CHECK(!lone->has_got);
    CHECK(!eki_worker_awaits(lone_worker(lone)));
    CHECK_EQ_INT(lone_run(lone, ran, 1), 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, 2);
    struct eki_error error = lone_end_root(lone, 2, 0);
    CHECK_EQ_INT(error.status, EK_ERR_NOMEM);
    CHECK_EQ_TEXT(error.text,
                  "no memory for a message of rank 1 (tasks, 128 bytes)");
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
    CHECK_EQ_INT(lone->engine->workers[1]->counts.steals, 2);
    CHECK_EQ_INT(lone_worker(lone)->counts.steals, 0);
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
    CHECK_OK(error.status);
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
    WITHOUT_MEMORY(1, CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT));
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 1);
    CHECK(!eki_is_stopped(lone->engine));
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_AGAIN);
}

int main(void)
{
    RUN_LONE(request_is_answered_with_half_of_what_shows);
    RUN_LONE(fullest_deque_gives);
    RUN_LONE(worker_that_is_named_gives);
    RUN(worker_that_is_named_is_of_this_rank);
    RUN_LONE(large_answer_waits_for_buffers);
    RUN_LONE(next_request_waits_for_the_rest_of_an_answer);
    RUN_LONE(request_of_another_signature_is_denied);
    RUN_LONE(request_after_a_stop_is_denied);
    RUN_LONE(request_without_memory_is_taken_later);
    RUN_LONE(tasks_without_memory_make_the_phase_an_error);
    RUN_LONE(tasks_for_who_is_at_work_are_for_all);
    RUN_LONE(a_stall_tells_what_was_brought);
    RUN_LONE(tasks_for_who_is_at_work_are_for_other_nodes);
    RUN_LONE(all_that_comes_is_shown_when_there_is_room);
    RUN_LONE(tasks_for_who_is_at_work_are_cancelled);
    RUN_LONE(last_answer_is_taken_before_a_task);
    RUN_LONE(block_that_is_not_claimed_needs_no_memory);
    return check_result();
}
