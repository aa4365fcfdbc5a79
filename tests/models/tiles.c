/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiles: a task that gets tiles of another rank, and the server that sends for
 * them and takes what comes: eki_tiles_start(), eki_tiles_is_over() and
 * eki_tiles_finish() (tiles/transfers.c) against eki_tiles_step() and
 * eki_tiles_take() (tiles/serve.c), and tell_tiles() (tiles/join.c).
 *
 * PUT: it puts them.  ABANDONED: it ends without having waited.
 *
 * Checked: what the task hands over is there before the server uses it; when a
 * transfer is over, or abandoned, the memory is the task's alone again, and has
 * the values; all that is asked is sent once, and all places are free at last.
 */
#include "served.h"

#include "tiles/internal.h"

#ifdef PUT
#define VERB EKI_TILE_PUT
#else
#define VERB EKI_TILE_GET
#endif

enum {
    STARTS = 2,
    LENGTH = 2, /* doubles of a tile: of so many messages */
    WORDS = sizeof(struct eki_tile_words)
};

#ifdef GENMC
static void copy_words(struct eki_tile_words *to,
                       const struct eki_tile_words *from)
{
    to->tile = from->tile;
    to->offset = from->offset;
    to->store = from->store;
    to->op = from->op;
}

/* All but alpha. */
static void copy_call(struct eki_tile_call *to,
                      const struct eki_tile_call *from)
{
    to->verb = from->verb;
    to->store = from->store;
    to->tile = from->tile;
    to->owner = from->owner;
    to->to = from->to;
    to->from = from->from;
    to->length = from->length;
}

/* For a struct that is assigned, too; doubles are copied as integers. */
void *memcpy(void *to, const void *from, size_t bytes)
{
    if (bytes == WORDS)
        copy_words(to, from);
    else if (bytes == sizeof(struct eki_tile_call))
        copy_call(to, from);
    else if (bytes == sizeof(int64_t))
        *(int64_t *)to = *(const int64_t *)from;
    return to;
}
/* By another name: what the checker knows as a copy it takes apart by types. */
static void *(*const copy_bytes)(void *, const void *, size_t) = memcpy;
#define memcpy(to, from, bytes) copy_bytes(to, from, bytes)
#endif
#include "tiles/check.c"
#include "tiles/join.c"
#include "tiles/serve.c"
#include "tiles/transfers.c"

static struct {
    struct eki_message message;
    struct eki_tile_words words;
    int64_t value;
} sent, answer;
static struct ek_tiles store = {.shape = {.count = STARTS, .length = LENGTH},
                                .has_values = true};
static struct ek_tiles *store_places[] = {&store};
static struct eki_stores stores = {.stores = store_places, .room = 1};
static struct eki_tiler tiler;
static struct eki_tiles tiles = {
    .stores = &stores,
    .tilers = &tiler,
    .answers = {.item_bytes = sizeof(struct eki_tile_answer)},
    .window = LENGTH,
    .tickets = {.desks = &served_desk,
                .workers = 1,
                .places = EKI_TRANSFERS_MOST,
                .has_lock = true}};
/* The program's, of each tile. */
static int64_t values[STARTS][LENGTH];

static int64_t value_of(int64_t tile, int64_t i)
{
    return 1 + tile * LENGTH + i;
}

static void give_answer(int kind, int64_t count)
{
    struct eki_head *head = &answer.message.head;
    head->kind = (uint16_t)kind;
    head->source = OTHER;
    head->worker = sent.message.head.worker;
    head->count = count;
    head->bytes = WORDS + (kind == EKI_KIND_PIECE ? sizeof(double) : 0);
    eki_tiles_take(&tiles.protocol, &answer.message, NOW);
}

/* What the owner does with what was sent. */
static void answer_sent(void)
{
    const struct eki_head *head = &sent.message.head;
    int64_t tile = sent.words.tile;
    memcpy(&answer.words, &sent.words, WORDS);
    if (head->kind == EKI_KIND_PUT) {
        assert(head->count == 0 ||
               sent.value == value_of(tile, sent.words.offset));
        if (head->first > 0)
            give_answer(EKI_KIND_DONE, head->first);
        return;
    }
    for (int64_t i = 0; i < LENGTH; i++) {
        answer.words.offset = i;
        answer.value = value_of(tile, i);
        give_answer(EKI_KIND_PIECE, 1);
    }
}

static void serve(void)
{
    eki_tiles_step(&tiles.protocol, NOW);
    if (served_has_sent)
        answer_sent();
    served_has_sent = false;
}

/* Whoever looks for what stands still keeps the server from being stepped. */
static void *serve_twice(void *unused)
{
    (void)unused;
    serve();
    tell_tiles(&tiles.protocol, NOW, 0, NULL, 0);
    serve();
    return NULL;
}

static ek_transfer start_one(int tile)
{
    ek_transfer transfer;
    double *memory = (double *)values[tile];
    struct eki_tile_call call = {.verb = VERB,
                                 .store = &store,
                                 .tile = tile,
                                 .owner = OTHER,
                                 .to = memory,
                                 .from = memory,
                                 .length = LENGTH};
    for (int64_t i = 0; i < LENGTH; i++)
        values[tile][i] = VERB == EKI_TILE_PUT ? value_of(tile, i) : 0;
    enum eki_started started =
        eki_tiles_start(&served_worker, &call, &transfer);
    assert(started == EKI_STARTED);
    return transfer;
}

/* The memory is the task's alone. */
static void use_memory(int tile, bool has_values)
{
    for (int64_t i = 0; i < LENGTH; i++) {
        assert(!has_values || values[tile][i] == value_of(tile, i));
        values[tile][i] = 0;
    }
}

/* False: it is under way yet. */
static bool end_one(int tile, ek_transfer transfer)
{
    bool is_over = eki_tiles_is_over(&served_worker, transfer);
    if (is_over)
        eki_tiles_finish(&served_worker, transfer);
#ifdef ABANDONED
    if (!is_over)
        eki_tiles_drop(&served_worker);
#else
    if (!is_over)
        return false;
#endif
    use_memory(tile, is_over);
    return true;
}

static void *run_task(void *unused)
{
    (void)unused;
    for (int tile = 0; tile < STARTS && end_one(tile, start_one(tile)); tile++)
        continue;
    return NULL;
}

static void prepare(void)
{
    static const struct eki_phase phase = {.kind = EKI_PHASE_PROCESS};
    served_buffer = &sent.message;
    served_fabric.message_bytes =
        sizeof(struct eki_message) + WORDS + sizeof(double);
    served_engine.channels[EKI_CHANNEL_TILES] = &tiles.protocol;
    tiles.protocol.ops = &tile_ops;
    tiles.protocol.engine = &served_engine;
    enter_tiles(&tiles.protocol, &phase, NOW);
}

/* All that was asked is answered in the end. */
static void check(void)
{
    for (int i = 0; i < STARTS * LENGTH; i++)
        serve();
    assert(!eki_tiles_check(&served_engine));
    eki_tiles_drop(&served_worker);
    for (int i = 0; i < EKI_TRANSFERS_MOST; i++)
        assert(state_of(&tiler.ops[i]) == EKI_OP_FREE);
    /* relaxed, both: all have ended. */
    assert(atomic_load_explicit(&served_desk.asked, memory_order_relaxed) == 0);
    assert(atomic_load_explicit(&tiles.tickets.wants, memory_order_relaxed) ==
           0);
}

int main(void)
{
    return served_run(prepare, run_task, serve_twice, check);
}
