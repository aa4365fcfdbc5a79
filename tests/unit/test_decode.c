/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that do not fit: what is said of each, and that the phase ends. */
#include "lone.h"
#include "protocol/node_thief.h"

#include "engine/decode.h"

/* Rank 0, whose workers are 0 and 1; worker 2 is on rank 1, a node of its own,
 * as is rank 2 with worker 3. */
static void begin(struct lone *lone, ek_steal_policy policy)
{
    static const int workers[3] = {2, 1, 1}, nodes[3] = {0, 1, 2};
    lone_open_job(lone, 0, 3, workers, nodes);
    lone_begin(lone, policy);
}

/* The message that is there ends the phase, with TEXT, and all neighbors hear
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

static const struct eki_row offer_rows[] = {
    EKI_ROW(struct eki_offer, ns, "duration", 1, INT64_MAX, EKI_FOLD_NONE),
    EKI_ROW(struct eki_offer, times, "times passed on", 0, EKI_HANDS_MOST - 1,
            EKI_FOLD_NONE)};
static const struct eki_shape offer_fields = EKI_SHAPE(offer_rows);

/* What a verb must name and carry, whatever the protocol is at; {1, 0}: its own
 * code looks. */
static const struct claim {
    int kind, worker[2], count[2];
    size_t bytes; /* of an item */
    const struct eki_shape *fields;
} claims[] = {
    {EKI_KIND_MOVE, {1, 0}, {1, 15}, LONE_SLOT, NULL},
    {EKI_KIND_OFFER, {1, 0}, {1, 1}, sizeof(struct eki_offer), &offer_fields},
    {EKI_KIND_TAKE, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_HAND, {1, 0}, {1, 1}, LONE_SLOT, NULL},
    {EKI_KIND_DRAW, {2, 2}, {0, 0}, 0, NULL},
    {EKI_KIND_NUMBER, {0, 1}, {0, 0}, 0, NULL},
    {EKI_KIND_FETCH, {2, 2}, {0, 0}, 0, NULL},
    {EKI_KIND_FETCHED, {0, 1}, {1, 15}, LONE_SLOT, NULL},
    {EKI_KIND_VOTE, {1, 0}, {1, 1}, sizeof(struct eki_vote), NULL},
    {EKI_KIND_WAVE, {1, 0}, {1, 1}, sizeof(struct eki_verdict), NULL},
    {EKI_KIND_HEADWAY, {1, 0}, {1, 1}, sizeof(struct eki_headway), NULL},
    {EKI_KIND_RECEIPT, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_STOP, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_PROBE, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_BREAK, {1, 0}, {1, 1}, sizeof(struct eki_error), NULL},
    {EKI_KIND_REQUEST, {2, 2}, {0, 0}, 0, NULL},
    {EKI_KIND_TASKS, {0, 1}, {1, 15}, LONE_SLOT, NULL},
    {EKI_KIND_NONE, {0, 1}, {0, 0}, 0, NULL},
    {EKI_KIND_NODE_READ, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_NODE_ASK, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_NODE_QUEUE, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_NODE_LOAD, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_NODE_DENIED, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_NODE_OCCUPIED, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_NODE_QUEUED, {1, 0}, {0, 0}, 0, NULL},
    {EKI_KIND_NODE_GRANT, {1, 0}, {1, 15}, LONE_SLOT, NULL},
};

enum {
    CLAIMS = sizeof claims / sizeof *claims
};

static void put_field(struct eki_message *message, const struct eki_row *row,
                      int64_t value)
{
    int32_t narrow = (int32_t)value;
    bool is_narrow = row->bytes == sizeof narrow;
    memcpy((unsigned char *)message + row->offset,
           is_narrow ? (const void *)&narrow : &value, row->bytes);
}

/* Row I of the body, from the beginning of the message on. */
static struct eki_row row_of(const struct claim *claim, int i)
{
    struct eki_row row = claim->fields->rows[i];
    row.offset += offsetof(struct eki_message, body);
    return row;
}

/* A message comes next from rank 1, in which all is the least, or the most, of
 * what fits. */
static struct eki_message *begin_claim(struct lone *lone,
                                       const struct claim *claim, bool is_most)
{
    int count = claim->count[is_most];
    begin(lone, EK_STEAL_RANDOM);
    struct eki_message *message = lone_message(lone, claim->kind);
    if (claim->bytes == LONE_SLOT)
        lone_fill(lone, message, count, 0);
    message->head.worker = claim->worker[is_most];
    message->head.count = count;
    message->head.bytes = count * (int64_t)claim->bytes;
    for (int i = 0; claim->fields && i < claim->fields->count; i++) {
        struct eki_row row = row_of(claim, i);
        put_field(message, &row, is_most ? row.most : row.least);
    }
    return message;
}

/* VALUE, of the field that ROW is about, does not fit; the last of LONE. */
static void check_unfit(struct lone *lone, const struct eki_message *message,
                        const struct eki_row *row, int64_t value)
{
    const struct eki_verb *verb =
        eki_engine_verb(lone->engine, message->head.kind);
    char text[200];
    snprintf(text, sizeof text,
             "rank 0 refuses a message of rank 1: %s: %s is %" PRId64
             "; allowed: %" PRId64 " ... %" PRId64,
             verb->name, row->name, value, row->least, row->most);
    CHECK(!eki_fits_verb(lone->engine, verb, message));
    CHECK_EQ_TEXT(lone->engine->node->refusal.text, text);
    lone_close(lone);
}

/* One field, of a message that fits otherwise. */
static void check_field(const struct claim *claim, bool is_most,
                        const struct eki_row *row)
{
    for (int above = 0; above < 2 && row->least <= row->most; above++) {
        struct lone lone;
        if (above && row->most == INT64_MAX)
            continue;
        int64_t value = above ? row->most + 1 : row->least - 1;
        struct eki_message *message = begin_claim(&lone, claim, is_most);
        put_field(message, row, value);
        check_unfit(&lone, message, row, value);
    }
}

static void check_claim(const struct claim *claim, bool is_most)
{
    static const struct eki_row function = {"function", 0, 0, 0, 0, 0};
    const int count = claim->count[is_most];
    const int64_t bytes = count * (int64_t)claim->bytes;
    const struct eki_row head[] = {
        EKI_ROW(struct eki_message, head.worker, "worker", claim->worker[0],
                claim->worker[1], EKI_FOLD_NONE),
        EKI_ROW(struct eki_message, head.count, "count", claim->count[0],
                claim->count[1], EKI_FOLD_NONE),
        EKI_ROW(struct eki_message, head.bytes, "bytes", bytes, bytes,
                EKI_FOLD_NONE)};
    struct lone lone;
    struct eki_message *message = begin_claim(&lone, claim, is_most);
    CHECK(eki_fits_verb(lone.engine,
                        eki_engine_verb(lone.engine, message->head.kind),
                        message));
    CHECK_EQ_TEXT(lone.engine->node->refusal.text, "");
    lone_close(&lone);
    for (int i = 0; i < 3; i++)
        check_field(claim, is_most, &head[i]);
    for (int i = 0; claim->fields && i < claim->fields->count; i++) {
        const struct eki_row row = row_of(claim, i);
        check_field(claim, is_most, &row);
    }
    if (claim->bytes == LONE_SLOT) {
        message = begin_claim(&lone, claim, is_most);
        eki_slot_at(message->body, count - 1, LONE_SLOT)->function = 1;
        check_unfit(&lone, message, &function, 1);
    }
}

static void every_field_with_a_row_is_checked(void)
{
    for (int i = 0; i < 2 * CLAIMS; i++)
        check_claim(&claims[i / 2], i % 2);
}

/* All others are left to their protocol. */
static void every_verb_with_a_row_has_a_claim(struct lone *lone)
{
    begin(lone, EK_STEAL_RANDOM);
    for (int kind = 0; kind < EKI_KINDS; kind++) {
        const struct eki_verb *verb = eki_engine_verb_taken(lone->engine, kind);
        const char *left =
            verb && (verb->party || verb->body) ? verb->name : "";
        for (int i = 0; i < CLAIMS; i++)
            left = claims[i].kind == kind ? "" : left;
        CHECK_EQ_TEXT(left, "");
    }
}

static struct eki_slot *one_task(struct lone *lone, struct eki_message **tasks)
{
    begin(lone, EK_STEAL_RANDOM);
    *tasks = lone_message(lone, EKI_KIND_TASKS);
    (*tasks)->head.worker = 1;
    lone_fill(lone, *tasks, 1, 0);
    return eki_slot_at((*tasks)->body, 0, LONE_SLOT);
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

static void bounds_of_a_range_are_checked(struct lone *lone)
{
    static const struct eki_range ranges[] = {{-1, 5}, {5, 5}, {0, INT64_MAX}};
    static const struct eki_range last = {INT64_MAX - 2, INT64_MAX};
    for (int i = 0; i < 3; i++) {
        one_range(lone, ranges[i]);
        refuse(lone, i == 0 ? "first index is -1" : "last index is");
    }
    one_range(lone, last);
    lone_serve(lone);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_BREAK), 0);
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
    refuse(&lone, "wave: neighbor is 0; allowed: 1 ... 1");
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
static void the_next_phase_hears_of_a_late_lie(struct lone *lone)
{
    lone_open(lone, 0);
    lone_begin(lone, EK_STEAL_RANDOM);
    CHECK_OK(lone_end_root(lone, 0, 0).status);
    lone_message(lone, EKI_KIND_REQUEST)->head.worker = 0;
    lone_serve(lone);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    struct eki_error error = lone_end(lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_HAS_TEXT(error.text, "request: worker is 0; allowed: 1 ... 1");
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
static void what_arrives_after_a_lie_is_dropped(struct lone *lone)
{
    begin_untold(lone);
    lone_message(lone, EKI_KIND_REQUEST);
    CHECK(!lone_serve(lone));
    CHECK(!lone->has_got);
    lone->buffers = 2;
    CHECK_EQ_INT(lone_end(lone).status, EK_ERR_MPI);
    CHECK_EQ_INT(lone_count(lone, EKI_KIND_BREAK), 2);
}

static void a_lie_is_not_told_where_no_message_moves(struct lone *lone)
{
    begin_untold(lone);
    eki_fabric_note(&lone->fabric, EK_ERR_MPI, "no network");
    struct eki_error error = lone_end(lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_EQ_TEXT(error.text, "no network");
}

/* On one node, too, where no messages move while tasks run: servers are stepped
 * to say so, and nothing runs. */
static void a_lone_node_hears_of_a_late_lie(struct lone *lone)
{
    static const int workers[2] = {1, 0}, nodes[2] = {0, 0};
    lone_open_job(lone, 0, 2, workers, nodes);
    lone_begin(lone, EK_STEAL_RANDOM);
    CHECK(!atomic_load_explicit(&lone->engine->messages, memory_order_relaxed));
    CHECK_OK(lone_end(lone).status);
    eki_engine_refuse(lone->engine, "late");
    lone_seed(lone, 1, 10);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    CHECK(atomic_load_explicit(&lone->engine->messages, memory_order_relaxed));
    CHECK_EQ_INT(lone_end(lone).status, EK_ERR_MPI);
}

int main(void)
{
    RUN(every_field_with_a_row_is_checked);
    RUN_LONE(every_verb_with_a_row_has_a_claim);
    RUN(fields_of_a_task_are_checked);
    RUN_LONE(bounds_of_a_range_are_checked);
    RUN(phases_far_ahead_are_refused);
    RUN(votes_come_from_whom_they_name);
    RUN(the_root_gets_no_verdict);
    RUN(parcels_belong_to_restores);
    RUN(a_rank_tells_its_seeds_once);
    RUN_LONE(the_next_phase_hears_of_a_late_lie);
    RUN_LONE(what_arrives_after_a_lie_is_dropped);
    RUN_LONE(a_lie_is_not_told_where_no_message_moves);
    RUN_LONE(a_lone_node_hears_of_a_late_lie);
    return check_result();
}
