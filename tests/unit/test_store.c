/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store: tiles of a rank, what it answers that is asked for them, and messages
 * that do not fit.
 */
#include "stage.h"

static double double_in(const struct eki_message *message, int i)
{
    double value;
    memcpy(&value, message->body + sizeof(struct eki_tile_words) + 8 * i,
           sizeof value);
    return value;
}

static bool is_broken_so(struct stage *stage, const char *words)
{
    struct eki_error error = {0};
    error = lone_end(&stage->lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    return CHECK_HAS_TEXT(error.text, words);
}

static void own_tiles_are_reached_at_once(struct stage *stage)
{
    ek_transfer transfer = {9};
    begin(stage, 0, 0);
    CHECK_EQ_INT(start(stage, EKI_TILE_PUT, 2, &transfer), EKI_STARTED_OVER);
    CHECK_EQ_INT((int)transfer.number, 0);
    CHECK_EQ_INT(start(stage, EKI_TILE_ACCUMULATE, 2, &transfer),
                 EKI_STARTED_OVER);
    CHECK_EQ_INT(start(stage, EKI_TILE_GET, 2, &transfer), EKI_STARTED_OVER);
    for (int i = 0; i < SHORT; i++)
        CHECK(stage->other[i] == 3.0 * (i + 1));
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_GET), 0);
    CHECK_EQ_INT(lone_worker(&stage->lone)->counts.tile_gets, 0);
}

static void others_are_answered_in_pieces(struct stage *stage)
{
    begin(stage, 1, 0);
    double *own = eki_tile_find(eki_tile_part(stage->store, 1), 1);
    memcpy(own, stage->values, sizeof stage->values);
    /* With buffers for two messages the third goes later. */
    stage->lone.buffers = 2;
    message_of(stage, EKI_KIND_GET, 1, 0, 0, 77);
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_PIECE), 2);
    stage->lone.buffers = LONE_SENT;
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_PIECE), 3);
    int seen = 0;
    for (int i = 0; i < stage->lone.sent_count; i++) {
        const struct eki_message *sent =
            (const struct eki_message *)stage->lone.sent[i].bytes;
        if (sent->head.kind != EKI_KIND_PIECE)
            continue;
        struct eki_tile_words words = words_in(sent);
        CHECK_EQ_INT(words.offset, seen);
        CHECK_EQ_INT(words.op, 77);
        CHECK(double_in(sent, 0) == seen + 1.0);
        seen += (int)sent->head.count;
    }
    CHECK_EQ_INT(seen, LONG);
}

static bool spares_none(struct eki_fabric *fabric)
{
    (void)fabric;
    return false;
}

/* Long tiles wait while few buffers are left; what is short goes past them. */
static void long_tiles_leave_buffers_to_others(struct stage *stage)
{
    ek_transfer get, put;
    begin(stage, 1, 0);
    struct eki_fabric_ops few = lone_ops;
    few.has_spare = spares_none;
    stage->lone.fabric.ops = &few;
    start(stage, EKI_TILE_PUT, 2, &put);
    start(stage, EKI_TILE_GET, 2, &get);
    message_of(stage, EKI_KIND_GET, 1, 0, 0, 77);
    lone_serve(&stage->lone);
    message_of(stage, EKI_KIND_GET, 5, 0, 0, 78);
    lone_serve(&stage->lone);
    message_of(stage, EKI_KIND_ACCUMULATE, 3, 0, SHORT, 5)->head.first = 1;
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_PUT), 1);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_GET), 1);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_PIECE), 1);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_DONE), 1);
    stage->lone.fabric.ops = &lone_ops;
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_PIECE), 4);
}

static void puts_and_adds_are_answered_when_asked(struct stage *stage)
{
    begin(stage, 1, 0);
    const double *own = eki_tile_find(eki_tile_part(stage->store, 1), 3);
    message_of(stage, EKI_KIND_PUT, 3, 0, 4, 5)->head.first = 0;
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_DONE), 0);
    message_of(stage, EKI_KIND_PUT, 3, 4, 3, 5)->head.first = 2;
    lone_serve(&stage->lone);
    const struct eki_message *sent = lone_sent_of(&stage->lone, EKI_KIND_DONE);
    CHECK_EQ_INT(sent->head.count, 2);
    for (int i = 0; i < SHORT; i++)
        CHECK(own[i] == 1000.0 + i);
    message_of(stage, EKI_KIND_ACCUMULATE, 3, 2, 1, 6)->head.first = 1;
    lone_serve(&stage->lone);
    CHECK(own[2] == 2 * 1002.0 && own[1] == 1001.0 && own[3] == 1003.0);
}

/* Without memory for the answer nothing is added, so that the message may come
 * again. */
static void add_without_memory_is_added_once(struct stage *stage)
{
    begin(stage, 1, 0);
    const double *own = eki_tile_find(eki_tile_part(stage->store, 1), 3);
    /* There is room for so many from the beginning. */
    stage->lone.buffers = 0;
    for (int i = 0; i < 16; i++) {
        message_of(stage, EKI_KIND_GET, 1, 0, 0, 5);
        lone_serve(&stage->lone);
    }
    message_of(stage, EKI_KIND_ACCUMULATE, 3, 0, SHORT, 5)->head.first = 1;
    WITHOUT_MEMORY(1, lone_serve(&stage->lone));
    CHECK(own[0] == 0.0);
    lone_serve(&stage->lone);
    CHECK(own[0] == 1000.0);
    stage->lone.buffers = LONE_SENT;
    for (int i = 0; i < 4; i++)
        lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_DONE), 1);
}

struct bad {
    int kind;
    int64_t tile, offset;
    int count, bytes, worker;
    uint32_t store, op;
    const char *words;
};

/* Each breaks the phase, with its field in words; to rank 1, which waits for
 * nothing. */
static void messages_that_do_not_fit_are_refused(void)
{
    static const struct bad bads[] = {
        {EKI_KIND_GET, 2, 0, 0, 0, 0, 0, 0,
         "get: owner is 0; allowed: 1 ... 1"},
        {EKI_KIND_GET, 11, 0, 0, 0, 0, 0, 0, "get: tile is 11"},
        {EKI_KIND_GET, -1, 0, 0, 0, 0, 0, 0, "get: tile is -1"},
        {EKI_KIND_GET, 1, 0, 0, 0, 0, 9, 0, "get: store is 0"},
        {EKI_KIND_GET, 1, 0, 0, 0, 1, 0, 0, "get: worker is 1"},
        {EKI_KIND_GET, 1, 0, 0, -8, 0, 0, 0, "get: bytes is 16"},
        {EKI_KIND_GET, 1, 5, 0, 0, 0, 0, 0, "get: offset is 5"},
        {EKI_KIND_PUT, 3, 0, 8, 0, 0, 0, 0, "put: count is 8"},
        {EKI_KIND_PUT, 3, 8, 0, 0, 0, 0, 0, "put: offset is 8"},
        {EKI_KIND_ACCUMULATE, 3, 0, 7, -8, 0, 0, 0, "accumulate: bytes is 72"},
        {EKI_KIND_PIECE, 3, 0, 7, 0, 0, 0, 16, "piece: operation under way"},
        {EKI_KIND_DONE, 3, 0, 1, 0, 0, 0, 16, "done: operation under way"}};
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
        const struct bad *bad = &bads[i];
        struct stage stage;
        begin(&stage, 1, 0);
        struct eki_message *message = message_of(
            &stage, bad->kind, bad->tile, bad->offset, bad->count, bad->op);
        struct eki_tile_words words = words_in(message);
        words.store += bad->store;
        memcpy(message->body, &words, sizeof words);
        message->head.bytes += bad->bytes;
        message->head.worker += bad->worker;
        lone_serve(&stage.lone);
        eki_engine_stop(stage.lone.engine);
        stage.lone.engine->must_break = true;
        is_broken_so(&stage, bad->words);
        end(&stage);
    }
}

/* The ranks of two nodes lie in turn; both of a node find all of its tiles. */
static void ranks_of_a_node_share_its_tiles(void)
{
    static const int workers[4] = {1, 1, 1, 1}, nodes[4] = {0, 1, 0, 1};
    struct stage stages[2];
    ek_tiles_shape shape = shape_of(0);
    void *memory = NULL;
    for (int i = 0; i < 2; i++) {
        struct stage *stage = &stages[i];
        memset(stage, 0, sizeof *stage);
        lone_open_job(&stage->lone, 2 * i, 4, workers, nodes);
        CHECK_OK(eki_stores_create(&stage->stores));
        CHECK_OK(eki_store_create(stage->stores, stage->lone.topology, &shape,
                                  true, &stage->store));
        if (i == 0)
            memory = eki_alloc_lines(eki_store_bytes(stage->store, true));
        eki_store_place(stage->store, memory, true);
    }
    CHECK(eki_store_bytes(stages[0].store, true) ==
          eki_store_bytes(stages[1].store, true));
    for (int64_t tile = 0; tile < TILES; tile++) {
        int owner = (int)(tile % 4);
        const struct eki_tile_part *part[2];
        for (int i = 0; i < 2; i++)
            part[i] = eki_tile_part(stages[i].store, owner);
        CHECK((part[0] != NULL) == (owner % 2 == 0));
        if (!part[0] || !CHECK(part[1] != NULL))
            continue;
        CHECK(eki_tile_find(part[0], tile) == eki_tile_find(part[1], tile));
        CHECK(eki_tile_find(part[0], tile) != NULL);
        CHECK(eki_tile_find(part[0], tile + 1) == NULL);
    }
    for (int i = 0; i < 2; i++) {
        eki_store_destroy(&stages[i].store);
        eki_stores_destroy(&stages[i].stores);
        lone_close(&stages[i].lone);
    }
    eki_free(memory);
}

/* Whatever has no memory, nothing is lost or half made. */
static void stores_without_memory_are_refused(void)
{
    int n = 0;
    for (bool failed = true; failed && n < 50;) {
        struct lone lone;
        struct eki_stores *stores = NULL;
        ek_tiles_shape shape = shape_of(0);
        ek_tiles *store = NULL;
        lone_start(&lone, 0);
        eki_memory_fail(++n);
        failed = eki_stores_create(&stores) != EK_OK ||
                 eki_stores_join(stores, lone.engine) != EK_OK ||
                 eki_store_create(stores, lone.topology, &shape, false,
                                  &store) != EK_OK;
        if (!failed) {
            eki_store_place(store, NULL, true);
            eki_store_number(store);
            failed = eki_store_add(store) != EK_OK;
            CHECK_EQ_INT(store->is_alive, !failed);
            CHECK_EQ_INT(stores->next_number, 1);
        }
        eki_memory_fail(0);
        eki_store_destroy(&store);
        lone_close(&lone);
        eki_stores_destroy(&stores);
    }
    CHECK(n > 6 && n < 50);
}

int main(void)
{
    RUN_WITH(struct stage, end, own_tiles_are_reached_at_once);
    RUN(stores_without_memory_are_refused);
    RUN_WITH(struct stage, end, others_are_answered_in_pieces);
    RUN_WITH(struct stage, end, long_tiles_leave_buffers_to_others);
    RUN_WITH(struct stage, end, puts_and_adds_are_answered_when_asked);
    RUN_WITH(struct stage, end, add_without_memory_is_added_once);
    RUN(messages_that_do_not_fit_are_refused);
    RUN(ranks_of_a_node_share_its_tiles);
    return check_result();
}
