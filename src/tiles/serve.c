/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages: what workers here ask for, and what others are answered. */
#include "tiles/internal.h"

int64_t eki_tile_carried_bytes(const struct eki_head *head)
{
    bool has_values = head->kind == EKI_KIND_PIECE ||
                      head->kind == EKI_KIND_PUT ||
                      head->kind == EKI_KIND_ACCUMULATE;
    int64_t bytes = head->count * (int64_t)sizeof(double);
    return has_values && head->bytes == (int64_t)sizeof(struct eki_tile_words)
               ? bytes
               : 0;
}

static double *values_in(struct eki_message *message)
{
    return (double *)(message->body + sizeof(struct eki_tile_words));
}

/* A message of KIND for or from WORKER, with room for COUNT doubles; NULL: no
 * buffer. */
static struct eki_message *reserve_tile(struct eki_tiles *tiles, int kind,
                                        int worker,
                                        const struct ek_tiles *store,
                                        int64_t count)
{
    struct eki_message *message =
        eki_outbox_reserve(&tiles->outbox, kind, count == eki_tile_room(tiles));
    if (!message)
        return NULL;
    message->head.worker = worker;
    message->head.count = count;
    message->head.bytes = (int64_t)sizeof(struct eki_tile_words);
    if (store->has_values)
        message->head.bytes += count * (int64_t)sizeof(double);
    return message;
}

/* MORE of a long tile is right behind it. */
static void post_tile(struct eki_tiles *tiles, struct eki_message *message,
                      const struct eki_tile_words *words, int rank, bool more)
{
    memcpy(message->body, words, sizeof *words);
    eki_outbox_post(&tiles->outbox, message, rank, more);
}

static int64_t piece_of(const struct eki_tiles *tiles, int64_t left)
{
    int64_t room = eki_tile_room(tiles);
    return left < room ? left : room;
}

static struct eki_tile_words words_of(const struct eki_tile_op *op)
{
    return (struct eki_tile_words){.tile = op->call.tile,
                                   .offset = op->sent,
                                   .store = op->call.store->number,
                                   .op = op->number};
}

/* The next piece of a put or add; NULL: no buffer. */
static struct eki_message *make_piece(struct eki_tiles *tiles, int worker,
                                      struct eki_tile_op *op)
{
    const struct eki_tile_call *call = &op->call;
    bool is_add = call->verb == EKI_TILE_ACCUMULATE;
    int64_t count = op->is_cut ? 0 : piece_of(tiles, call->length - op->sent);
    struct eki_message *message =
        reserve_tile(tiles, is_add ? EKI_KIND_ACCUMULATE : EKI_KIND_PUT, worker,
                     call->store, count);
    if (!message)
        return NULL;
    const double *from = call->from + op->sent;
    double *to = values_in(message);
    if (!call->store->has_values)
        return message;
    if (!is_add || call->alpha == 1.0)
        memcpy(to, from, (size_t)count * sizeof *to);
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = call->alpha * from[i];
    return message;
}

static bool is_sent(const struct eki_tile_op *op)
{
    return op->is_cut || op->sent == op->call.length;
}

/* Send pieces of a put or add; true: all of it is sent. */
static bool send_pieces(struct eki_tiles *tiles, int worker,
                        struct eki_tile_op *op)
{
    bool is_over = false;
    while (!is_over && op->pieces - op->answered < tiles->window) {
        struct eki_tile_words words = words_of(op);
        struct eki_message *message = make_piece(tiles, worker, op);
        if (!message)
            return false;
        op->sent += message->head.count;
        op->pieces++;
        op->unasked++;
        is_over = is_sent(op);
        if (is_over || op->unasked == tiles->window / 2) {
            message->head.first = op->unasked;
            op->unasked = 0;
        }
        post_tile(tiles, message, &words, op->call.owner, !is_over);
    }
    return is_over;
}

/* Send what an operation wants; true: it is sent. */
static bool send_transfer(void *context, int here, int place)
{
    struct eki_tiles *tiles = context;
    int worker = tiles->protocol.engine->workers[here]->id;
    struct eki_tile_op *op = &tiles->tilers[here].ops[place];
    if (op->pieces == 0)
        op->since = tiles->now;
    if (op->call.verb != EKI_TILE_GET)
        return send_pieces(tiles, worker, op);
    struct eki_tile_words words = words_of(op);
    struct eki_message *message =
        reserve_tile(tiles, EKI_KIND_GET, worker, op->call.store, 0);
    if (!message)
        return false;
    post_tile(tiles, message, &words, op->call.owner, false);
    op->pieces = 1;
    return true;
}

/* Say that pieces of a put or add have come. */
static bool send_done(struct eki_tiles *tiles,
                      const struct eki_tile_answer *answer)
{
    struct eki_message *message =
        reserve_tile(tiles, EKI_KIND_DONE, answer->worker, answer->store, 0);
    if (!message)
        return false;
    message->head.count = answer->done;
    post_tile(tiles, message, &answer->words, answer->rank, false);
    return true;
}

/* Send what there are buffers for of a tile; true: all of it is sent. */
static bool send_tile(struct eki_tiles *tiles, struct eki_tile_answer *answer)
{
    const struct ek_tiles *store = answer->store;
    struct eki_tile_words *words = &answer->words;
    const struct eki_tile_part *part = eki_tile_part(store, store->rank);
    const double *values =
        store->has_values ? eki_tile_find(part, words->tile) : NULL;
    while (words->offset != answer->length) {
        int64_t left = answer->length - words->offset;
        int64_t count = piece_of(tiles, left);
        struct eki_message *message =
            reserve_tile(tiles, EKI_KIND_PIECE, answer->worker, store, count);
        if (!message)
            return false;
        if (values)
            memcpy(values_in(message), values + words->offset,
                   (size_t)count * sizeof *values);
        post_tile(tiles, message, words, answer->rank, count < left);
        words->offset += count;
    }
    return true;
}

/* Whether it is one message, which takes no buffer that is left to others. */
static bool is_one_message(const struct eki_tiles *tiles,
                           const struct eki_tile_answer *answer)
{
    return answer->done > 0 || answer->length < eki_tile_room(tiles);
}

/* In their order, but past a long tile that waits for buffers, which a rank
 * that computes may keep for long, go short ones. */
static bool answer_tile(void *context, void *item)
{
    struct eki_tiles *tiles = context;
    struct eki_tile_answer *answer = item;
    bool is_sent = tiles->outbox.left > 0 &&
                   (tiles->waiting == 0 || is_one_message(tiles, answer)) &&
                   (answer->done > 0 ? send_done(tiles, answer)
                                     : send_tile(tiles, answer));
    tiles->waiting += !is_sent;
    return is_sent;
}

void eki_tiles_step(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_tiles *tiles = (struct eki_tiles *)protocol;
    tiles->now = now;
    tiles->waiting = 0;
    eki_outbox_begin(&tiles->outbox, &protocol->engine->exchange);
    eki_queue_serve_all(&tiles->answers, answer_tile, tiles);
    eki_tickets_send(&tiles->tickets, &tiles->outbox, send_transfer, tiles);
}

/* The tile that a message names, of a store that there is, which belongs to
 * RANK; NULL: refused. */
static struct ek_tiles *store_that_fits(const struct eki_decode *decode,
                                        const struct eki_tiles *tiles,
                                        const struct eki_tile_words *words,
                                        int rank)
{
    const struct eki_stores *stores = tiles->stores;
    struct ek_tiles *store = NULL;
    for (int i = 0; !store && i < stores->room; i++) {
        if (stores->stores[i] && stores->stores[i]->number == words->store)
            store = stores->stores[i];
    }
    bool fits =
        eki_fits_one(decode, "store", store != NULL, true) &&
        eki_fits(decode, "tile", words->tile, 0, store->shape.count - 1) &&
        eki_fits_one(decode, "owner", eki_tile_owner(store, words->tile), rank);
    return fits ? store : NULL;
}

/* The body: words, and as many doubles as the head says, from offset on. */
static bool fits_doubles(const struct eki_decode *decode,
                         const struct eki_head *head,
                         const struct ek_tiles *store,
                         const struct eki_tile_words *words, int64_t length)
{
    int64_t bytes = store->has_values ? head->count * 8 : 0;
    return eki_fits(decode, "offset", words->offset, 0, length) &&
           eki_fits(decode, "count", head->count, 0, length - words->offset) &&
           eki_fits_one(decode, "bytes", head->bytes,
                        (int64_t)sizeof *words + bytes);
}

/* What a PUT or ACCUMULATE does to the values of its tile. */
static void apply(const struct eki_tile_part *part,
                  const struct eki_message *message,
                  const struct eki_tile_words *words, double *values)
{
    const struct eki_head *head = &message->head;
    const struct eki_tile_call call = {
        .verb = head->kind == EKI_KIND_PUT ? EKI_TILE_PUT : EKI_TILE_ACCUMULATE,
        .tile = words->tile,
        .from = (const double *)(message->body + sizeof *words),
        .length = head->count,
        .alpha = 1.0};
    if (head->kind != EKI_KIND_GET)
        eki_tile_do(part, &call, values + words->offset);
}

/* GET, PUT or ACCUMULATE of another rank. */
static enum eki_taken take_call(struct eki_tiles *tiles,
                                const struct eki_decode *decode,
                                const struct eki_message *message,
                                const struct eki_tile_words *words)
{
    struct eki_engine *engine = tiles->protocol.engine;
    const struct eki_head *head = &message->head;
    struct ek_tiles *store =
        store_that_fits(decode, tiles, words, engine->topology->rank);
    if (!store)
        return EKI_REFUSED;
    int64_t length = eki_tile_length(store, words->tile);
    bool is_get = head->kind == EKI_KIND_GET;
    if (!fits_doubles(decode, head, store, words, is_get ? 0 : length) ||
        !eki_fits(decode, "pieces", head->first, 0, is_get ? 0 : tiles->window))
        return EKI_REFUSED;
    const struct eki_tile_part *part = eki_tile_part(store, store->rank);
    double *values =
        store->has_values ? eki_tile_find(part, words->tile) : NULL;
    if (!eki_fits_one(decode, "place of the tile", store->has_values,
                      values != NULL))
        return EKI_REFUSED;
    /* Before anything is changed: without memory the message comes again. */
    bool is_answered = is_get || head->first > 0;
    if (is_answered && !eki_queue_has_room(&tiles->answers)) {
        if (EKI_PLANTED(TWICE_ADDED) && values)
            apply(part, message, words, values);
        return EKI_NO_MEMORY;
    }
    if (values)
        apply(part, message, words, values);
    if (EKI_PLANTED(ADDED_ANEW) && values && is_answered)
        apply(part, message, words, values);
    engine->exchange.streamed +=
        !is_get && words->offset + head->count < length;
    const struct eki_tile_answer answer = {.words = *words,
                                           .store = store,
                                           .length = length,
                                           .rank = head->source,
                                           .worker = head->worker,
                                           .done = (int)head->first};
    if (is_answered)
        eki_queue_add(&tiles->answers, &answer);
    return EKI_TAKEN;
}

/* An operation here that waits for just this; under the lock of the tiler. */
static bool fits_transfer(const struct eki_decode *decode,
                          const struct eki_head *head,
                          const struct eki_tile_op *op,
                          const struct eki_tile_words *words)
{
    const struct eki_tile_call *call = &op->call;
    bool is_piece = head->kind == EKI_KIND_PIECE;
    /* relaxed: the worker sets OPEN before the server has sent anything. */
    int state = atomic_load_explicit(&op->state, memory_order_relaxed);
    if (!eki_fits_one(decode, "operation under way",
                      (state == EKI_OP_OPEN || state == EKI_OP_ABANDONED) &&
                          op->number == words->op,
                      true) ||
        !eki_fits_one(decode, "verb", call->verb == EKI_TILE_GET, is_piece) ||
        !eki_fits_one(decode, "source", head->source, call->owner) ||
        !eki_fits_one(decode, "store", words->store, call->store->number) ||
        !eki_fits_one(decode, "tile", words->tile, call->tile))
        return false;
    if (!is_piece)
        return eki_fits(decode, "count", head->count, 1,
                        op->pieces - op->answered) &&
               eki_fits_one(decode, "bytes", head->bytes, sizeof *words);
    return eki_fits_one(decode, "offset", words->offset, op->arrived) &&
           eki_fits(decode, "count", head->count, 1, call->length) &&
           fits_doubles(decode, head, call->store, words, call->length);
}

/* All is answered. */
static void end_answered(struct eki_tile_op *op)
{
    /* relaxed: only the server and who holds the lock change it now. */
    bool is_open =
        atomic_load_explicit(&op->state, memory_order_relaxed) == EKI_OP_OPEN;
    /* release: pairs with the acquire in state_of(): the values. */
    atomic_store_explicit(&op->state, is_open ? EKI_OP_DONE : EKI_OP_FREE,
                          memory_order_release);
}

/* Take what has come for an operation, under the lock of its tiler; true: more
 * follows. */
static bool take_into(struct eki_tile_op *op, const struct eki_message *message,
                      bool is_asked)
{
    const struct eki_head *head = &message->head;
    const struct eki_tile_call *call = &op->call;
    bool is_over;
    if (head->kind == EKI_KIND_DONE) {
        op->answered += (int)head->count;
        is_over = op->answered == op->pieces && !is_asked;
    } else {
        /* relaxed: under the lock. */
        if (call->store->has_values &&
            atomic_load_explicit(&op->state, memory_order_relaxed) ==
                EKI_OP_OPEN)
            memcpy(call->to + op->arrived,
                   message->body + sizeof(struct eki_tile_words),
                   (size_t)head->count * sizeof(double));
        op->arrived += head->count;
        is_over = op->arrived == call->length;
    }
    if (is_over)
        end_answered(op);
    return !is_over;
}

/* PIECE or DONE, to a worker here. */
static enum eki_taken take_tile_answer(struct eki_tiles *tiles,
                                       const struct eki_decode *decode,
                                       const struct eki_message *message,
                                       const struct eki_tile_words *words)
{
    struct eki_engine *engine = tiles->protocol.engine;
    const struct eki_topology *topology = engine->topology;
    const struct eki_head *head = &message->head;
    int here = head->worker - topology->first_worker[topology->rank];
    int place = eki_ticket_place(&tiles->tickets, words->op);
    struct eki_tile_op *op = &tiles->tilers[here].ops[place];
    _Atomic int *lock = &tiles->tickets.desks[here].lock;
    eki_lock(lock);
    bool fits = fits_transfer(decode, head, op, words);
    if (fits)
        engine->exchange.streamed += take_into(
            op, message, eki_ticket_is_wanted(&tiles->tickets, here, place));
    eki_unlock(lock);
    return fits ? EKI_TAKEN : EKI_REFUSED;
}

enum eki_taken eki_tiles_take(struct eki_protocol *protocol,
                              const struct eki_message *message, uint64_t now)
{
    const struct eki_head *head = &message->head;
    struct eki_engine *engine = protocol->engine;
    struct eki_decode decode = eki_decode_of(engine, head);
    bool is_answer =
        head->kind == EKI_KIND_PIECE || head->kind == EKI_KIND_DONE;
    struct eki_tile_words words;
    (void)now;
    if (!eki_fits(&decode, "bytes", head->bytes, sizeof words, INT64_MAX))
        return EKI_REFUSED;
    memcpy(&words, message->body, sizeof words);
    if (!eki_fits_worker(&decode, head->worker,
                         is_answer ? engine->topology->rank : head->source))
        return EKI_REFUSED;
    return is_answer ? take_tile_answer((struct eki_tiles *)protocol, &decode,
                                        message, &words)
                     : take_call((struct eki_tiles *)protocol, &decode, message,
                                 &words);
}
