/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that do not fit: what is said of each, and that the phase ends. */
#include "lone.h"

#include "protocol/counter.h"

/* Rank 0, whose workers are 0 and 1; worker 2 is on rank 1, a node of its own,
 * as is rank 2 with worker 3. */
static void begin(struct lone *lone, ek_steal_policy policy)
{
    static const int workers[3] = {2, 1, 1}, nodes[3] = {0, 1, 2};
    lone_open_job(lone, 0, 3, workers, nodes);
    lone_begin(lone, policy);
}

/* The message that is there ends the phase, with TEXT, and all neighbours hear
 * why. */
static void refuse(struct lone *lone, const char *text)
{
    struct eki_error told, error = lone_end(lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_HAS_TEXT(error.text, text);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_BREAK), 2);
    memcpy(&told,
           lone->sent[lone->sent_count - 1].bytes + sizeof(struct eki_message),
           sizeof told);
    CHECK_EQ_INT(told.status, EK_ERR_MPI);
    CHECK_EQ_TEXT(told.text, error.text);
    lone_close(lone);
}

static struct eki_slot *one_task(struct lone *lone, struct eki_message **tasks)
{
    begin(lone, EK_STEAL_RANDOM);
    *tasks = lone_message(lone, EKI_KIND_TASKS);
    (*tasks)->head.worker = 1;
    lone_fill(lone, *tasks, 1, 0);
    return eki_slot_at((*tasks)->body, 0, LONE_SLOT);
}

static void tasks_are_counted_in_what_came(void)
{
    struct lone lone;
    struct eki_message *tasks;
    one_task(&lone, &tasks);
    tasks->head.count = (INT64_C(1) << 58) + 1;
    refuse(&lone, "rank 0 refuses a message of rank 1: tasks: count is "
                  "288230376151711745; allowed: 1 ... 15");
    one_task(&lone, &tasks);
    tasks->head.worker = 2;
    refuse(&lone, "tasks: worker is 2; allowed: 0 ... 1");
}

static void fields_of_a_task_are_checked(void)
{
    struct lone lone;
    struct eki_message *tasks;
    one_task(&lone, &tasks)->bytes = 60000;
    refuse(&lone, "bytes of a task is 60000; allowed: 0 ... 48");
    one_task(&lone, &tasks)->bin = EKI_BIN_COUNT;
    refuse(&lone, "bin of a task is 16385");
    one_task(&lone, &tasks)->id = eki_id(4, 0);
    refuse(&lone, "home of a task is 4; allowed: 0 ... 3");
    one_task(&lone, &tasks)->flags = 128;
    refuse(&lone, "flags of a task is 128");
}

static void one_range(struct lone *lone, struct eki_range range)
{
    struct eki_message *tasks;
    struct eki_slot *slot = one_task(lone, &tasks);
    slot->flags |= EKI_SLOT_RANGE;
    slot->bin = EKI_BIN_RANGE;
    slot->bytes = sizeof range;
    memcpy(slot->payload, &range, sizeof range);
}

static void bounds_of_a_range_are_checked(void)
{
    static const struct eki_range ranges[] = {{-1, 5}, {5, 5}, {0, INT64_MAX}};
    static const struct eki_range last = {INT64_MAX - 2, INT64_MAX};
    struct lone lone;
    for (int i = 0; i < 3; i++) {
        one_range(&lone, ranges[i]);
        refuse(&lone, i == 0 ? "first index is -1" : "last index is");
    }
    one_range(&lone, last);
    lone_serve(&lone);
    CHECK_EQ_INT(lone_count(&lone, EKI_KIND_BREAK), 0);
    lone_close(&lone);
}

static void phases_far_ahead_are_refused(void)
{
    struct lone lone;
    begin(&lone, EK_STEAL_RANDOM);
    lone_message(&lone, EKI_KIND_REQUEST)->head.phase = UINT64_C(1) << 63;
    refuse(&lone, "request of phase 9223372036854775808 arrived from rank 1");
}

static void votes_come_from_whom_they_name(void)
{
    struct lone lone;
    begin(&lone, EK_STEAL_RANDOM);
    lone_vote(&lone, 1, 0, 0);
    ((struct eki_head *)lone.got.bytes)->detail = 2;
    refuse(&lone, "vote: node is 2; allowed: 1 ... 1");
    begin(&lone, EK_STEAL_RANDOM);
    memset(lone_vote(&lone, 1, 0, 0)->error.text, 'x', 160);
    refuse(&lone, "vote: end of the text is 0");
    begin(&lone, EK_STEAL_RANDOM);
    lone_vote(&lone, 1, 0, 0);
    lone_serve(&lone);
    lone_vote(&lone, 1, 0, 0);
    refuse(&lone, "vote: votes before it is 1; allowed: 0 ... 0");
}

static void the_root_gets_no_verdict(void)
{
    struct lone lone;
    begin(&lone, EK_STEAL_RANDOM);
    struct eki_message *wave = lone_message(&lone, EKI_KIND_WAVE);
    wave->head.detail = 1;
    wave->head.count = 1;
    wave->head.bytes = sizeof(struct eki_verdict);
    refuse(&lone, "wave: neighbour is 0; allowed: 1 ... 1");
}

static void parcels_belong_to_restores(void)
{
    struct lone lone;
    begin(&lone, EK_STEAL_RANDOM);
    lone_message(&lone, EKI_KIND_PARCEL);
    refuse(&lone, "a message from rank 1 (parcel) makes no sense");
}

static void a_rank_tells_its_seeds_once(void)
{
    struct lone lone;
    const struct eki_seeds seeds = {.first = 2, .function = -1};
    begin(&lone, EK_STEAL_COUNTER);
    for (int i = 0; i < 2; i++) {
        struct eki_message *message = lone_message(&lone, EKI_KIND_SEEDS);
        message->head.count = 1;
        message->head.bytes = sizeof seeds;
        memcpy(message->body, &seeds, sizeof seeds);
        if (i == 0)
            lone_serve(&lone);
    }
    refuse(&lone, "seeds: what was told before is -1; allowed: -2");
}

/* A lie that comes when the phase is over ends the next one. */
static void the_next_phase_hears_of_a_late_lie(void)
{
    struct lone lone;
    lone_open(&lone, 0);
    lone_begin(&lone, EK_STEAL_RANDOM);
    CHECK_EQ_INT(lone_end_root(&lone, 0, 0).status, EK_OK);
    lone_message(&lone, EKI_KIND_REQUEST)->head.worker = 0;
    lone_serve(&lone);
    lone_enter(&lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    struct eki_error error = lone_end(&lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_HAS_TEXT(error.text, "request: worker is 0; allowed: 1 ... 1");
    lone_close(&lone);
}

/* In a phase that a lie has broken, without a buffer to say so. */
static void begin_untold(struct lone *lone)
{
    begin(lone, EK_STEAL_RANDOM);
    lone->buffers = 0;
    lone_message(lone, EKI_KIND_REQUEST)->head.worker = 0;
    lone_serve(lone);
    CHECK(!lone_serve(lone));
}

/* Others may wait for their buffers, too. */
static void what_arrives_after_a_lie_is_dropped(void)
{
    struct lone lone;
    begin_untold(&lone);
    lone_message(&lone, EKI_KIND_REQUEST);
    CHECK(!lone_serve(&lone));
    CHECK(!lone.has_got);
    lone.buffers = 2;
    CHECK_EQ_INT(lone_end(&lone).status, EK_ERR_MPI);
    CHECK_EQ_INT(lone_count(&lone, EKI_KIND_BREAK), 2);
    lone_close(&lone);
}

static void a_lie_is_not_told_where_no_message_moves(void)
{
    struct lone lone;
    begin_untold(&lone);
    eki_fabric_note(&lone.fabric, EK_ERR_MPI, "no network");
    struct eki_error error = lone_end(&lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_EQ_TEXT(error.text, "no network");
    lone_close(&lone);
}

/* On one node, too, where no messages move while tasks run: servers are stepped
 * to say so, and nothing runs. */
static void a_lone_node_hears_of_a_late_lie(void)
{
    static const int workers[2] = {1, 0}, nodes[2] = {0, 0};
    struct lone lone;
    lone_open_job(&lone, 0, 2, workers, nodes);
    lone_begin(&lone, EK_STEAL_RANDOM);
    CHECK(!atomic_load_explicit(&lone.engine->messages, memory_order_relaxed));
    CHECK_EQ_INT(lone_end(&lone).status, EK_OK);
    eki_engine_refuse(lone.engine, "late");
    lone_seed(&lone, 1, 10);
    lone_enter(&lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    CHECK(atomic_load_explicit(&lone.engine->messages, memory_order_relaxed));
    CHECK_EQ_INT(lone_end(&lone).status, EK_ERR_MPI);
    lone_close(&lone);
}

int main(void)
{
    RUN(tasks_are_counted_in_what_came);
    RUN(fields_of_a_task_are_checked);
    RUN(bounds_of_a_range_are_checked);
    RUN(phases_far_ahead_are_refused);
    RUN(votes_come_from_whom_they_name);
    RUN(the_root_gets_no_verdict);
    RUN(parcels_belong_to_restores);
    RUN(a_rank_tells_its_seeds_once);
    RUN(the_next_phase_hears_of_a_late_lie);
    RUN(what_arrives_after_a_lie_is_dropped);
    RUN(a_lie_is_not_told_where_no_message_moves);
    RUN(a_lone_node_hears_of_a_late_lie);
    return check_result();
}
