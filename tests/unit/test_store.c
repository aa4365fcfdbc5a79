/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles over a fabric that leads nowhere: what is sent, what is taken, and what
 * is refused; and where the tiles of a node lie. */
#include "lone.h"
#include "team/team.h"
#include "tiles/internal.h"

enum {
    TILES = 10,
    LONG = 300,  /* doubles of tile 1, in three messages */
    SHORT = 7,   /* ... of the others */
    FIRST = 117, /* doubles of a message */
    CACHE_BYTES = 4000
};

_Static_assert(FIRST == (LONE_BYTES - 64 - sizeof(struct eki_tile_words)) / 8,
               "the room of a message");

struct stage {
    struct lone lone;
    struct eki_stores *stores;
    struct ek_tiles *store;
    void *memory;
    double values[LONG], other[LONG];
};

static int64_t length_of(int64_t tile, void *context)
{
    (void)context;
    return tile == 1 ? LONG : SHORT;
}

static ek_tiles_shape shape_of(int64_t cache_bytes)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.count = TILES;
    shape.length_of = length_of;
    shape.cache_bytes = cache_bytes;
    return shape;
}

static void place(struct stage *stage, bool is_shared)
{
    stage->memory = eki_alloc_lines(eki_store_bytes(stage->store, is_shared));
    eki_store_place(stage->store, stage->memory, is_shared);
    eki_store_number(stage->store);
    CHECK_EQ_INT(eki_store_add(stage->store), EK_OK);
}

/* RANK of two nodes, in an iteration; rank 1 has the odd tiles. */
static void begin(struct stage *stage, int rank, int64_t cache_bytes)
{
    ek_tiles_shape shape = shape_of(cache_bytes);
    memset(stage, 0, sizeof *stage);
    lone_open(&stage->lone, rank);
    lone_make(&stage->lone);
    CHECK_EQ_INT(eki_stores_create(&stage->stores), EK_OK);
    CHECK_EQ_INT(eki_stores_join(stage->stores, stage->lone.engine), EK_OK);
    CHECK_EQ_INT(eki_store_create(stage->stores, stage->lone.topology, &shape,
                                  true, &stage->store),
                 EK_OK);
    place(stage, true);
    lone_enter(&stage->lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    for (int i = 0; i < LONG; i++)
        stage->values[i] = i + 1;
}

static void end(struct stage *stage)
{
    eki_store_destroy(&stage->store);
    lone_close(&stage->lone);
    eki_stores_destroy(&stage->stores);
    eki_free(stage->memory);
}

static enum eki_started start(struct stage *stage, enum eki_tile_verb verb,
                              int64_t tile, ek_transfer *transfer)
{
    struct eki_tile_call call = {
        .verb = verb,
        .store = stage->store,
        .tile = tile,
        .owner = eki_tile_owner(stage->store, tile),
        .to = verb == EKI_TILE_GET ? stage->other : NULL,
        .from = verb == EKI_TILE_GET ? NULL : stage->values,
        .length = length_of(tile, NULL),
        .alpha = 2};
    return eki_tiles_start(lone_worker(&stage->lone), &call, transfer);
}

static struct eki_tile_words words_in(const struct eki_message *message)
{
    struct eki_tile_words words;
    memcpy(&words, message->body, sizeof words);
    return words;
}

static double double_in(const struct eki_message *message, int i)
{
    double value;
    memcpy(&value, message->body + sizeof(struct eki_tile_words) + 8 * i,
           sizeof value);
    return value;
}

/* The message that comes next: COUNT doubles of TILE from OFFSET on, which are
 * 1000 and so on, for or of operation OP. */
static struct eki_message *message_of(struct stage *stage, int kind,
                                      int64_t tile, int64_t offset, int count,
                                      uint32_t op)
{
    struct eki_message *message = lone_message(&stage->lone, kind);
    struct eki_tile_words words = {tile, offset, stage->store->number, op};
    bool is_answer = kind == EKI_KIND_PIECE || kind == EKI_KIND_DONE;
    int rank = is_answer ? stage->lone.fabric.rank : message->head.source;
    message->head.worker = stage->lone.topology->first_worker[rank];
    message->head.count = count;
    memcpy(message->body, &words, sizeof words);
    message->head.bytes =
        (int64_t)sizeof words + (kind == EKI_KIND_DONE ? 0 : 8 * count);
    for (int i = 0; kind != EKI_KIND_DONE && i < count; i++) {
        double value = 1000.0 + (double)offset + i;
        memcpy(message->body + sizeof words + 8 * i, &value, sizeof value);
    }
    return message;
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
    CHECK_EQ_INT(start(stage, EKI_TILE_ADD, 2, &transfer), EKI_STARTED_OVER);
    CHECK_EQ_INT(start(stage, EKI_TILE_GET, 2, &transfer), EKI_STARTED_OVER);
    for (int i = 0; i < SHORT; i++)
        CHECK(stage->other[i] == 3.0 * (i + 1));
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_GET), 0);
    CHECK_EQ_INT(lone_worker(&stage->lone)->counts.tile_gets, 0);
}

static void tile_comes_in_pieces(struct stage *stage)
{
    ek_transfer transfer;
    begin(stage, 0, 0);
    struct ek_worker *worker = lone_worker(&stage->lone);
    CHECK_EQ_INT(start(stage, EKI_TILE_GET, 1, &transfer), EKI_STARTED);
    CHECK(worker->batch.marks & EKI_MARK_TRANSFER);
    lone_serve(&stage->lone);
    const struct eki_message *sent = lone_sent_of(&stage->lone, EKI_KIND_GET);
    struct eki_tile_words words = words_in(sent);
    CHECK_EQ_INT(words.tile, 1);
    CHECK_EQ_INT(sent->head.worker, 0);
    for (int offset = 0; offset < LONG; offset += FIRST) {
        int count = LONG - offset < FIRST ? LONG - offset : FIRST;
        CHECK(!eki_tiles_is_over(worker, transfer));
        message_of(stage, EKI_KIND_PIECE, 1, offset, count, words.op);
        lone_serve(&stage->lone);
    }
    CHECK(eki_tiles_is_over(worker, transfer));
    CHECK(worker->batch.marks & EKI_MARK_TRANSFER);
    eki_tiles_finish(worker, transfer);
    CHECK_EQ_INT((int)worker->batch.marks, 0);
    for (int i = 0; i < LONG; i++)
        CHECK(stage->other[i] == 1000.0 + i);
    CHECK_EQ_INT(worker->counts.tile_gets, 1);
    CHECK_EQ_INT(worker->counts.tile_bytes, 8 * LONG);
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
    message_of(stage, EKI_KIND_ADD, 3, 0, SHORT, 5)->head.first = 1;
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
    message_of(stage, EKI_KIND_ADD, 3, 2, 1, 6)->head.first = 1;
    lone_serve(&stage->lone);
    CHECK(own[2] == 2 * 1002.0 && own[1] == 1001.0 && own[3] == 1003.0);
}

/* Without memory for the answer nothing is added, so that the message may come
 * again. */
static void add_without_memory_is_added_once(struct stage *stage)
{
    begin(stage, 1, 0);
    const double *own = eki_tile_find(eki_tile_part(stage->store, 1), 3);
    message_of(stage, EKI_KIND_ADD, 3, 0, SHORT, 5)->head.first = 1;
    eki_memory_fail(1);
    lone_serve(&stage->lone);
    eki_memory_fail(0);
    CHECK(own[0] == 0.0);
    lone_serve(&stage->lone);
    CHECK(own[0] == 1000.0);
    lone_sent_of(&stage->lone, EKI_KIND_DONE);
}

/* A transfer has a window of pieces; with the answers it goes on. */
static void pieces_under_way_are_bounded(struct stage *stage)
{
    enum {
        PIECES = 20,
        WINDOW = 16
    };
    ek_transfer transfer;
    static double values[PIECES * FIRST];
    begin(stage, 0, 0);
    stage->store->shape.length_of = NULL;
    stage->store->shape.length = PIECES * FIRST;
    int *window = &eki_tiles_of(stage->lone.engine)->window;
    CHECK_EQ_INT(*window, EKI_TILE_WINDOW_BYTES / LONE_BYTES);
    *window = WINDOW;
    struct eki_tile_call call = {.verb = EKI_TILE_ADD,
                                 .store = stage->store,
                                 .tile = 1,
                                 .owner = 1,
                                 .from = values,
                                 .length = PIECES * FIRST,
                                 .alpha = 1};
    struct ek_worker *worker = lone_worker(&stage->lone);
    CHECK_EQ_INT(eki_tiles_start(worker, &call, &transfer), EKI_STARTED);
    lone_serve(&stage->lone);
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_ADD), WINDOW);
    int asked = 0;
    for (int i = 0; i < stage->lone.sent_count; i++)
        asked += (int)lone_sent_head(&stage->lone, i)->first;
    CHECK_EQ_INT(asked, WINDOW);
    uint32_t op = (uint32_t)transfer.number;
    lone_forget(&stage->lone);
    message_of(stage, EKI_KIND_DONE, 1, 0, WINDOW / 2, op);
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_ADD), PIECES - WINDOW);
    message_of(stage, EKI_KIND_DONE, 1, 0, WINDOW / 2, op);
    lone_serve(&stage->lone);
    CHECK(!eki_tiles_is_over(worker, transfer));
    message_of(stage, EKI_KIND_DONE, 1, 0, PIECES - WINDOW, op);
    lone_serve(&stage->lone);
    CHECK(eki_tiles_is_over(worker, transfer));
}

/* A task that calls ek_poll() lets all of a long tile through, in more steps
 * than one; what there are no buffers for waits for the next call. */
static void long_tiles_leave_in_one_poll(struct stage *stage)
{
    enum {
        PIECES = 50
    };
    struct eki_team *team;
    static const struct eki_affinity affinity = {.cpus = 2, .workers = 1};
    begin(stage, 1, 0);
    stage->store->has_values = false;
    stage->store->shape.length_of = NULL;
    stage->store->shape.length = PIECES * FIRST;
    struct eki_team_setup setup = {.engine = stage->lone.engine,
                                   .affinity = &affinity,
                                   .progress = EK_PROGRESS_POLLING,
                                   .thread_level = 2};
    CHECK_EQ_INT(eki_team_create(&setup, &team), EK_OK);
    message_of(stage, EKI_KIND_GET, 1, 0, 0, 77)->head.bytes =
        sizeof(struct eki_tile_words);
    stage->lone.buffers = PIECES - 3;
    eki_team_poll(team, lone_worker(&stage->lone));
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_PIECE), PIECES - 3);
    stage->lone.buffers = LONE_SENT - PIECES;
    lone_worker(&stage->lone)->batch.wants_server = true;
    eki_team_poll(team, lone_worker(&stage->lone));
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_PIECE), PIECES);
    eki_team_destroy(&team);
}

/* What is over makes room, waited for or not. */
static void transfers_of_a_worker_are_bounded(struct stage *stage)
{
    ek_transfer transfers[EKI_TRANSFERS_MOST + 1];
    begin(stage, 0, 0);
    struct ek_worker *worker = lone_worker(&stage->lone);
    for (int i = 0; i < EKI_TRANSFERS_MOST; i++)
        CHECK_EQ_INT(start(stage, EKI_TILE_GET, 3, &transfers[i]), EKI_STARTED);
    CHECK_EQ_INT(start(stage, EKI_TILE_GET, 3, &transfers[16]),
                 EKI_STARTED_LATER);
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_GET), EKI_TRANSFERS_MOST);
    message_of(stage, EKI_KIND_PIECE, 3, 0, SHORT,
               (uint32_t)transfers[4].number);
    lone_serve(&stage->lone);
    CHECK_EQ_INT(start(stage, EKI_TILE_GET, 3, &transfers[16]), EKI_STARTED);
    CHECK(eki_tiles_is_over(worker, transfers[4]));
    CHECK(!eki_tiles_is_over(worker, transfers[16]));
    CHECK(!eki_tiles_is_over(worker, transfers[5]));
}

/* What comes for a task that has ended is dropped, and its place is used again.
 */
static void abandoned_transfers_are_dropped(struct stage *stage)
{
    ek_transfer get, put;
    begin(stage, 0, 0);
    struct ek_worker *worker = lone_worker(&stage->lone);
    struct eki_protocol *protocol =
        stage->lone.engine->channels[EKI_CHANNEL_TILES];
    const struct eki_tiler *tiler =
        ((const struct eki_tiles *)protocol)->tilers;
    CHECK(eki_tiles_abandon(protocol, worker));
    start(stage, EKI_TILE_GET, 3, &get);
    lone_serve(&stage->lone);
    start(stage, EKI_TILE_PUT, 5, &put);
    CHECK(!eki_tiles_abandon(protocol, worker));
    CHECK_EQ_INT(tiler->open, 0);
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_PUT), 0);
    message_of(stage, EKI_KIND_PIECE, 3, 0, SHORT, (uint32_t)get.number);
    lone_serve(&stage->lone);
    CHECK(stage->other[0] == 0.0);
    CHECK(!eki_engine_is_stopped(stage->lone.engine));
    CHECK(eki_tiles_abandon(protocol, worker));
}

static void long_waits_are_told(struct stage *stage)
{
    ek_transfer transfer;
    char text[200] = "";
    begin(stage, 0, 0);
    struct eki_protocol *protocol =
        stage->lone.engine->channels[EKI_CHANNEL_TILES];
    start(stage, EKI_TILE_GET, 3, &transfer);
    protocol->ops->tell(protocol, stage->lone.now + 5000, 1000, text,
                        sizeof text);
    CHECK_EQ_TEXT(text, "");
    lone_serve(&stage->lone);
    protocol->ops->tell(protocol, stage->lone.now + 999, 1000, text,
                        sizeof text);
    CHECK_EQ_TEXT(text, "");
    protocol->ops->tell(protocol, stage->lone.now + 1000, 1000, text,
                        sizeof text);
    CHECK_HAS_TEXT(text, ", 1 transfers of tiles that are not answered, the "
                         "first by rank 1");
}

static void cached_tiles_are_got_once(struct stage *stage)
{
    ek_transfer transfer;
    begin(stage, 0, CACHE_BYTES);
    struct ek_worker *worker = lone_worker(&stage->lone);
    for (int round = 0; round < 2; round++) {
        CHECK_EQ_INT(start(stage, EKI_TILE_GET, 3, &transfer), EKI_STARTED);
        lone_serve(&stage->lone);
        message_of(stage, EKI_KIND_PIECE, 3, 0, SHORT,
                   (uint32_t)transfer.number);
        lone_serve(&stage->lone);
        eki_tiles_finish(worker, transfer);
        memset(stage->other, 0, sizeof stage->other);
        CHECK_EQ_INT(start(stage, EKI_TILE_GET, 3, &transfer),
                     EKI_STARTED_OVER);
        CHECK(stage->other[6] == 1006.0);
        eki_store_forget(stage->store);
    }
    CHECK_EQ_INT(worker->counts.tile_gets, 4);
    CHECK_EQ_INT(worker->counts.tile_hits, 2);
    /* What was got beside an own put is not kept. */
    ek_transfer put;
    CHECK_EQ_INT(start(stage, EKI_TILE_GET, 3, &transfer), EKI_STARTED);
    CHECK_EQ_INT(start(stage, EKI_TILE_PUT, 3, &put), EKI_STARTED);
    lone_serve(&stage->lone);
    message_of(stage, EKI_KIND_PIECE, 3, 0, SHORT, (uint32_t)transfer.number);
    lone_serve(&stage->lone);
    eki_tiles_finish(worker, transfer);
    CHECK_EQ_INT(start(stage, EKI_TILE_GET, 3, &transfer), EKI_STARTED);
}

static void oldest_tiles_leave_the_cache(void)
{
    struct ek_tiles store = {.has_values = true, .epoch = 1};
    double values[SHORT] = {0};
    int64_t each = (int64_t)(sizeof(struct eki_cached) + sizeof values);
    store.shape.cache_bytes = 20 * each;
    struct eki_cache *cache = eki_cache_create(&store);
    for (int64_t tile = 0; tile < 40; tile++) {
        values[0] = (double)tile;
        eki_cache_keep(cache, tile, values, SHORT);
        if (tile >= 3)
            CHECK(eki_cache_find(cache, 3) != NULL);
        CHECK(cache->bytes <= store.shape.cache_bytes);
    }
    for (int64_t tile = 0; tile < 40; tile++) {
        const struct eki_cached *entry = eki_cache_find(cache, tile);
        if (CHECK_EQ_INT(entry != NULL, tile == 3 || tile >= 21) && entry)
            CHECK(entry->values[0] == (double)tile);
    }
    eki_cache_drop(cache, 30);
    CHECK(!eki_cache_find(cache, 30));
    store.epoch++;
    CHECK(!eki_cache_find(cache, 31));
    CHECK_EQ_INT(cache->bytes, 0);
    eki_cache_destroy(cache);
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
        {EKI_KIND_ADD, 3, 0, 7, -8, 0, 0, 0, "add: bytes is 72"},
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
        CHECK_EQ_INT(eki_stores_create(&stage->stores), EK_OK);
        CHECK_EQ_INT(eki_store_create(stage->stores, stage->lone.topology,
                                      &shape, true, &stage->store),
                     EK_OK);
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
        lone_open(&lone, 0);
        lone_make(&lone);
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
    RUN_WITH(struct stage, end, tile_comes_in_pieces);
    RUN_WITH(struct stage, end, others_are_answered_in_pieces);
    RUN_WITH(struct stage, end, long_tiles_leave_buffers_to_others);
    RUN_WITH(struct stage, end, puts_and_adds_are_answered_when_asked);
    RUN_WITH(struct stage, end, add_without_memory_is_added_once);
    RUN_WITH(struct stage, end, pieces_under_way_are_bounded);
    RUN_WITH(struct stage, end, long_tiles_leave_in_one_poll);
    RUN_WITH(struct stage, end, transfers_of_a_worker_are_bounded);
    RUN_WITH(struct stage, end, abandoned_transfers_are_dropped);
    RUN_WITH(struct stage, end, long_waits_are_told);
    RUN_WITH(struct stage, end, cached_tiles_are_got_once);
    RUN(oldest_tiles_leave_the_cache);
    RUN(messages_that_do_not_fit_are_refused);
    RUN(ranks_of_a_node_share_its_tiles);
    return check_result();
}
