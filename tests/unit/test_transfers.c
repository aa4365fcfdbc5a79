/* SPDX-License-Identifier: BSD-3-Clause */
/* transfers: tiles of other ranks, in pieces, in turn, and from the cache. */
#include "stage.h"
#include "team/team.h"

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
    struct eki_tile_call call = {.verb = EKI_TILE_ACCUMULATE,
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
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_ACCUMULATE), WINDOW);
    int asked = 0;
    for (int i = 0; i < stage->lone.sent_count; i++)
        asked += (int)lone_sent_head(&stage->lone, i)->first;
    CHECK_EQ_INT(asked, WINDOW);
    uint32_t op = (uint32_t)transfer.number;
    lone_forget(&stage->lone);
    message_of(stage, EKI_KIND_DONE, 1, 0, WINDOW / 2, op);
    lone_serve(&stage->lone);
    CHECK_EQ_INT(lone_count(&stage->lone, EKI_KIND_ACCUMULATE),
                 PIECES - WINDOW);
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
    const struct eki_options options = {.progress = EK_PROGRESS_POLLING};
    struct eki_team_setup setup = {.engine = stage->lone.engine,
                                   .affinity = &affinity,
                                   .options = &options,
                                   .thread_level = 2};
    CHECK_OK(eki_team_create(&setup, &team));
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
    CHECK(!eki_is_stopped(stage->lone.engine));
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

int main(void)
{
    RUN_WITH(struct stage, end, tile_comes_in_pieces);
    RUN_WITH(struct stage, end, pieces_under_way_are_bounded);
    RUN_WITH(struct stage, end, long_tiles_leave_in_one_poll);
    RUN_WITH(struct stage, end, transfers_of_a_worker_are_bounded);
    RUN_WITH(struct stage, end, abandoned_transfers_are_dropped);
    RUN_WITH(struct stage, end, long_waits_are_told);
    RUN_WITH(struct stage, end, cached_tiles_are_got_once);
    RUN(oldest_tiles_leave_the_cache);
    return check_result();
}
