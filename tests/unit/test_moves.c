/* SPDX-License-Identifier: BSD-3-Clause */
/* moves: tasks that leave for where they belong, and their arrival. */
#include "lone.h"

/* Rank 0 with workers 0, 1; worker 2 is on rank 1, worker 3 on rank 2. */
static void make_three(struct lone *lone)
{
    static const int workers[3] = {2, 1, 1}, nodes[3] = {0, 1, 2};
    lone_open_job(lone, 0, 3, workers, nodes);
    lone_make(lone);
}

/* Rank 0 with workers 0, 1; worker 2 is on rank 1. */
static void make_two(struct lone *lone)
{
    static const int workers[2] = {2, 1}, nodes[2] = {0, 1};
    lone_open_job(lone, 0, 2, workers, nodes);
    lone_make(lone);
}

static void enter(struct lone *lone)
{
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
}

/* COUNT tasks, numbered from FIRST, to a worker of RANK; -1: their home. */
static void depart(struct lone *lone, int count, uint64_t first, int rank,
                   int worker)
{
    for (int i = 0; i < count; i++) {
        _Alignas(16) unsigned char bytes[LONE_SLOT] = {0};
        struct eki_slot *slot = (struct eki_slot *)bytes;
        lone_fill_slot(slot, first + (uint64_t)i);
        CHECK(eki_engine_depart_to(lone->engine, slot, rank, worker));
    }
}

static void check_sent(const struct lone *lone, int i, int rank, int worker,
                       int count, uint64_t first)
{
    const struct eki_message *move = lone_sent_to(lone, i, EKI_KIND_MOVE, rank);
    CHECK_EQ_INT(move->head.worker, worker);
    CHECK_EQ_INT(move->head.count, count);
    CHECK_EQ_INT(move->head.bytes, count * LONE_SLOT);
    for (int k = 0; k < count && k < move->head.count; k++)
        CHECK_EQ_INT(lone_number_in(move, k), first + (uint64_t)k);
}

static void tasks_for_the_same_worker_travel_together(struct lone *lone)
{
    make_three(lone);
    depart(lone, 3, 10, 1, 2);
    depart(lone, 2, 13, 2, 3);
    depart(lone, 1, 15, 1, 2);
    depart(lone, 2, 16, 1, -1);
    depart(lone, 1, 18, 2, -1);
    enter(lone);
    CHECK_EQ_INT(lone->sent_count, 0);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 5);
    check_sent(lone, 0, 1, 2, 3, 10);
    check_sent(lone, 1, 2, 3, 2, 13);
    check_sent(lone, 2, 1, 2, 1, 15);
    check_sent(lone, 3, 1, -1, 2, 16);
    check_sent(lone, 4, 2, -1, 1, 18);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 5);
}

static void many_tasks_take_several_messages(struct lone *lone)
{
    make_three(lone);
    lone_set_slots(lone, 2);
    depart(lone, 5, 10, 1, 2);
    depart(lone, 1, 15, 2, 3);
    enter(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 4);
    check_sent(lone, 0, 1, 2, 2, 10);
    check_sent(lone, 1, 1, 2, 2, 12);
    check_sent(lone, 2, 1, 2, 1, 14);
    check_sent(lone, 3, 2, 3, 1, 15);
}

/* More than what there is room for at first. */
static void any_number_of_tasks_departs(struct lone *lone)
{
    make_two(lone);
    depart(lone, 200, 0, 1, 2);
    enter(lone);
    CHECK_EQ_INT(lone_worker(lone)->created, 200);
    lone_serve(lone);
    for (int i = 0; i < 13; i++)
        check_sent(lone, i, 1, 2, 15, 15 * (uint64_t)i);
    check_sent(lone, 13, 1, 2, 5, 195);
}

static void depart_without_memory_can_be_repeated(struct lone *lone)
{
    _Alignas(16) unsigned char bytes[LONE_SLOT] = {0};
    struct eki_slot *slot = (struct eki_slot *)bytes;
    int n = 1;
    make_two(lone);
    for (; n < 10; n++) {
        eki_memory_fail(n);
        ek_status status = eki_engine_depart(lone->engine, slot, 1);
        eki_memory_fail(0);
        if (status == EK_OK)
            break;
        CHECK_EQ_INT(status, EK_ERR_NOMEM);
        CHECK_EQ_INT(lone->engine->moves.count, 0);
    }
    CHECK_EQ_INT(n, 4);
    CHECK_EQ_INT(lone->engine->moves.count, 1);
}

static int64_t shown;
static uint64_t shown_first;

static void visit(void *context, const char *place, const unsigned char *slots,
                  int64_t count)
{
    (void)context;
    CHECK_EQ_TEXT(place, "departing");
    shown += count;
    shown_first = lone_number((const struct eki_slot *)slots);
}

/* What visit() shows is COUNT tasks, numbered from FIRST. */
static void check_shown(const struct lone *lone, int64_t count, uint64_t first)
{
    const struct eki_protocol *moves = &lone->engine->moves.protocol;
    shown = 0;
    moves->ops->visit(moves, visit, NULL);
    CHECK_EQ_INT(shown, count);
    if (count > 0)
        CHECK_EQ_INT(shown_first, first);
}

static void visit_shows_what_is_not_sent(struct lone *lone)
{
    make_two(lone);
    lone_set_slots(lone, 2);
    lone->buffers = 0;
    check_shown(lone, 0, 0);
    depart(lone, 5, 10, 1, 2);
    check_shown(lone, 5, 10);
    enter(lone);
    check_shown(lone, 5, 10);
    for (int sent = 0; sent < 6; sent += 2) {
        check_shown(lone, 5 - sent, 10 + (uint64_t)sent);
        lone_serve(lone);
        check_shown(lone, 5 - sent, 10 + (uint64_t)sent);
        lone->buffers = 1;
        lone_serve(lone);
    }
    check_shown(lone, 0, 0);
    CHECK_EQ_INT(lone->sent_count, 3);
    lone->buffers = LONE_SENT - 3;
    lone_step(lone);
    CHECK_OK(lone_end_root(lone, 0, 5).status);
    check_shown(lone, 0, 0);
    depart(lone, 2, 20, 1, 2);
    check_shown(lone, 2, 20);
}

static void nobody_votes_before_they_are_sent(struct lone *lone)
{
    make_two(lone);
    lone->buffers = 0;
    depart(lone, 1, 10, 1, 2);
    enter(lone);
    for (int here = 0; here < 2; here++)
        CHECK_EQ_INT(eki_worker_step(lone->engine->workers[here], lone->now),
                     EKI_STEP_WAIT);
    lone_vote(lone, 1, 0, 0);
    lone_serve(lone);
    CHECK(!lone->engine->waves.voted);
    lone->buffers = 1;
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_MOVE), 1);
    CHECK(lone->engine->waves.voted);
}

static struct eki_message *arrive(struct lone *lone, int count, uint64_t first,
                                  int worker)
{
    struct eki_message *move = lone_message(lone, EKI_KIND_MOVE);
    lone_fill(lone, move, count, first);
    move->head.worker = worker;
    return move;
}

/* Number of the first task of what has come last; 0: nothing has. */
static uint64_t in_inbox(const struct lone *lone, int here)
{
    struct eki_chunk *chunk = atomic_load_explicit(
        &lone->engine->workers[here]->inbox, memory_order_relaxed);
    return chunk ? lone_number((const struct eki_slot *)chunk->slots) : 0;
}

static void arriving_tasks_come_to_the_named_worker(struct lone *lone)
{
    make_two(lone);
    enter(lone);
    arrive(lone, 2, 10, 1);
    lone_serve(lone);
    CHECK_EQ_INT(in_inbox(lone, 0), 0);
    CHECK_EQ_INT(in_inbox(lone, 1), 10);
}

static void arriving_tasks_of_nobody_come_in_turn(struct lone *lone)
{
    make_two(lone);
    enter(lone);
    for (int i = 0; i < 3; i++) {
        arrive(lone, 2, 10 * (uint64_t)(i + 1), -1);
        lone_serve(lone);
        CHECK_EQ_INT(in_inbox(lone, i % 2), 10 * (i + 1));
    }
    CHECK_EQ_INT(in_inbox(lone, 1), 20);
}

/* They are no steal, and bring an idle worker back to work. */
static void arriving_tasks_run(struct lone *lone)
{
    uint64_t ran[4];
    make_two(lone);
    enter(lone);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    arrive(lone, 2, 10, 0);
    lone_serve(lone);
    CHECK(!eki_is_idle(lone_worker(lone)->words, lone->engine->phase));
    CHECK_EQ_INT(lone_run(lone, ran, 4), 2);
    CHECK_EQ_INT(ran[0] + ran[1], 21);
    CHECK_EQ_INT(lone_worker(lone)->counts.steals, 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.stolen, 0);
}

/* The log of a worker is COUNT tasks, the first of which is FIRST; as many
 * count as executed. */
static void check_log(const struct lone *lone, int here, int64_t count,
                      uint64_t first)
{
    const struct ek_worker *worker = lone->engine->workers[here];
    const struct eki_local *local = &worker->local;
    CHECK_EQ_INT(eki_local_slots(local, local->log, local->log_end), count);
    CHECK_EQ_INT(worker->executed, count);
    CHECK_EQ_INT(
        atomic_load_explicit(&worker->words->executed, memory_order_relaxed),
        count);
    if (count > 0 && local->log)
        CHECK_EQ_INT(lone_number((const struct eki_slot *)local->log), first);
}

static void durations_travel_as_of_speed_one(struct lone *lone)
{
    const uint16_t bin = eki_bin_of(1 << 20);
    _Alignas(16) unsigned char bytes[LONE_SLOT] = {0};
    struct eki_slot *slot = (struct eki_slot *)bytes;
    make_two(lone);
    lone->engine->moves.speed = 2;
    lone_fill_slot(slot, 10);
    slot->bin = bin;
    CHECK(eki_engine_depart_to(lone->engine, slot, 1, 2));
    lone_enter(lone, EKI_PHASE_RESTORE, EK_STEAL_NONE);
    lone_serve(lone);
    const struct eki_message *sent = lone_sent_to(lone, 0, EKI_KIND_MOVE, 1);
    CHECK_EQ_INT(((const struct eki_slot *)sent->body)->bin, bin + 256);
    struct eki_message *move = arrive(lone, 2, 20, 1);
    slot = (struct eki_slot *)move->body;
    slot->bin = bin;
    lone_serve(lone);
    slot = (struct eki_slot *)lone->engine->workers[1]->local.log;
    CHECK_EQ_INT(slot->bin, bin - 256);
    /* Only what was measured is noted. */
    CHECK_EQ_INT(lone->engine->moves.arrived, 1);
    CHECK_EQ_INT(lone->engine->moves.arrivals[0].id, 20);
    CHECK_EQ_INT(lone->engine->moves.arrivals[0].bin, bin - 256);
}

static void restored_tasks_lie_with_the_named_worker(struct lone *lone)
{
    make_two(lone);
    lone_enter(lone, EKI_PHASE_RESTORE, EK_STEAL_NONE);
    arrive(lone, 2, 10, 1);
    lone_serve(lone);
    check_log(lone, 0, 0, 0);
    check_log(lone, 1, 2, 10);
}

static void restored_tasks_lie_at_their_home(struct lone *lone)
{
    make_two(lone);
    lone_enter(lone, EKI_PHASE_RESTORE, EK_STEAL_NONE);
    struct eki_message *move = arrive(lone, 3, 10, -1);
    eki_slot_at(move->body, 0, LONE_SLOT)->id = eki_id(1, 5);
    eki_slot_at(move->body, 1, LONE_SLOT)->id = eki_id(0, 6);
    eki_slot_at(move->body, 2, LONE_SLOT)->id = eki_id(1, 7);
    lone_serve(lone);
    check_log(lone, 0, 1, 11);
    check_log(lone, 1, 2, 10);
}

static void restored_tasks_are_seeds_in_the_end(struct lone *lone)
{
    make_two(lone);
    lone_enter(lone, EKI_PHASE_RESTORE, EK_STEAL_NONE);
    arrive(lone, 3, 10, 1);
    lone_serve(lone);
    CHECK_OK(lone_end_root(lone, 3, 0).status);
    CHECK_OK(eki_engine_restore_end(lone->engine, EKI_ORDER_EXECUTED));
    CHECK_EQ_INT(eki_local_seed_tasks(&lone->engine->workers[0]->local), 0);
    CHECK_EQ_INT(eki_local_seed_tasks(&lone->engine->workers[1]->local), 3);
}

/* A worker for which nothing has arrived needs no memory for its order: it is
 * not looked for. */
static void only_who_got_tasks_is_ordered_again(void)
{
    static const enum eki_order orders[] = {EKI_ORDER_LONGEST,
                                            EKI_ORDER_EXECUTED};
    for (int i = 0; i < 2; i++) {
        struct lone lone;
        make_two(&lone);
        lone_seed(&lone, 1, 3);
        lone_enter(&lone, EKI_PHASE_RESTORE, EK_STEAL_NONE);
        arrive(&lone, 3, 10, 1);
        lone_serve(&lone);
        CHECK_OK(lone_end_root(&lone, 3, 0).status);
        for (int here = 0; here < 2; here++) {
            eki_memory_fail(1);
            CHECK_EQ_INT(
                eki_engine_restore_arrived(lone.engine, here, orders[i]),
                here == 0 ? EK_OK : EK_ERR_NOMEM);
            eki_memory_fail(0);
        }
        CHECK_OK(eki_engine_restore_end(lone.engine, orders[i]));
        CHECK_EQ_INT(eki_local_seed_tasks(&lone.engine->workers[0]->local), 1);
        CHECK_EQ_INT(eki_local_seed_tasks(&lone.engine->workers[1]->local), 3);
        lone_close(&lone);
    }
}

static void check_no_memory(struct lone *lone)
{
    struct eki_error error = lone_end_root(lone, 3, 0);
    CHECK_EQ_INT(error.status, EK_ERR_NOMEM);
    CHECK_EQ_TEXT(error.text,
                  "no memory for a message of rank 1 (move, 192 bytes)");
    lone_close(lone);
}

/* Not for the first log, nor for the second. */
static void restore_without_memory_takes_tasks_later(void)
{
    for (int n = 1; n <= 2; n++) {
        struct lone lone;
        make_two(&lone);
        lone_enter(&lone, EKI_PHASE_RESTORE, EK_STEAL_NONE);
        arrive(&lone, 3, 10, 1);
        WITHOUT_MEMORY(n, lone_serve(&lone));
        CHECK(lone.has_got);
        check_log(&lone, 0, 0, 0);
        check_log(&lone, 1, 0, 0);
        lone_serve(&lone);
        CHECK(!lone.has_got);
        check_log(&lone, 1, 3, 10);
        check_no_memory(&lone);
    }
}

static void process_without_memory_takes_tasks_later(void)
{
    struct lone lone;
    uint64_t ran[1];
    make_two(&lone);
    enter(&lone);
    arrive(&lone, 3, 10, 0);
    WITHOUT_MEMORY(1, lone_serve(&lone));
    CHECK(lone.has_got);
    CHECK_EQ_INT(in_inbox(&lone, 0), 0);
    lone_serve(&lone);
    CHECK(!lone.has_got);
    CHECK_EQ_INT(in_inbox(&lone, 0), 10);
    CHECK_EQ_INT(lone_run(&lone, ran, 1), 0);
    CHECK_EQ_INT(lone_worker(&lone)->counts.cancelled, 3);
    check_no_memory(&lone);
}

int main(void)
{
    RUN_LONE(tasks_for_the_same_worker_travel_together);
    RUN_LONE(many_tasks_take_several_messages);
    RUN_LONE(any_number_of_tasks_departs);
    RUN_LONE(depart_without_memory_can_be_repeated);
    RUN_LONE(visit_shows_what_is_not_sent);
    RUN_LONE(nobody_votes_before_they_are_sent);
    RUN_LONE(arriving_tasks_come_to_the_named_worker);
    RUN_LONE(arriving_tasks_of_nobody_come_in_turn);
    RUN_LONE(arriving_tasks_run);
    RUN_LONE(durations_travel_as_of_speed_one);
    RUN_LONE(restored_tasks_lie_with_the_named_worker);
    RUN_LONE(restored_tasks_lie_at_their_home);
    RUN_LONE(restored_tasks_are_seeds_in_the_end);
    RUN(only_who_got_tasks_is_ordered_again);
    RUN(restore_without_memory_takes_tasks_later);
    RUN(process_without_memory_takes_tasks_later);
    return check_result();
}
