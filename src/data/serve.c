/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages: what workers here want, and what this rank gives as a home. */
#include "data/internal.h"

#include <limits.h>

enum {
    /* Messages that one step sends: others need buffers, too. */
    SENDS_MOST = 32,
    /* Of these means, the weight of the last one is 1 / this. */
    FETCH_WEIGHT = 4,
    MOVED_WEIGHT = 8,
    BYTE_PS_WEIGHT = 8,
    /* As much as a message tells. */
    BYTE_PS_MOST = 1 << 29,
    FIRST_ROOM = 16
};

/* The first RESULT of an operation, in head.detail; of others: the offset. */
enum eki_result {
    EKI_RESULT_SHORT = -1, /* all of it */
    EKI_RESULT_LONG = -2   /* head.count bytes are to come */
};

static struct eki_data *of(struct eki_protocol *protocol)
{
    return (struct eki_data *)protocol;
}

int64_t eki_data_carried_bytes(const struct eki_engine *engine,
                               const struct eki_head *head)
{
    bool carries =
        head->kind == EKI_KIND_INPUT ||
        (head->kind == EKI_KIND_RESULT && head->detail != EKI_RESULT_LONG);
    return carries && !eki_data_of(engine)->setup.has_bytes ? head->count : 0;
}

/* Bytes that fit a message behind WORDS. */
static int64_t room_of(const struct eki_data *data, int64_t words)
{
    return eki_message_room(data->protocol.engine->fabric) - words;
}

/* Whether a message of a long row of them, which is full, or another one may
 * go.  To find no buffer takes as long as there are buffers: once a step is
 * enough. */
static bool may_reserve(struct eki_data *data, bool is_full)
{
    if (is_full && !data->lacks_spare && !data->lacks_any)
        data->lacks_spare =
            !eki_fabric_has_spare(data->protocol.engine->fabric);
    return !data->lacks_any && !(is_full && data->lacks_spare);
}

/* A message with WORDS before COUNT bytes of DATA; NULL: no buffer. */
static struct eki_message *reserve(struct eki_data *data, int kind,
                                   int64_t words, int64_t count)
{
    bool is_full = count > 0 && count == room_of(data, words);
    if (!may_reserve(data, is_full))
        return NULL;
    struct eki_message *message =
        eki_server_reserve(data->protocol.engine, (enum eki_kind)kind);
    data->lacks_any = !message;
    if (!message)
        return NULL;
    message->head.count = count;
    message->head.bytes = words + (data->setup.has_bytes ? count : 0);
    return message;
}

static void post(struct eki_data *data, struct eki_message *message, int worker,
                 uint32_t op, int rank)
{
    message->head.worker = worker;
    message->head.first = op;
    eki_fabric_post(data->protocol.engine->fabric, message, rank);
}

static void copy_bytes(const struct eki_data *data, struct eki_message *message,
                       int64_t words, const unsigned char *from)
{
    if (data->setup.has_bytes)
        memcpy(message->body + words, from, (size_t)message->head.count);
}

/* A part of something long has come or gone. */
static void note_part(struct eki_data *data, bool more_follows)
{
    data->protocol.engine->post.streamed += more_follows;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* An input or a result of FUNCTION has so many bytes. */
static void note_moved(struct eki_data *data, int function, int64_t bytes)
{
    _Atomic int64_t *moved = &data->moved[function];
    /* relaxed, both: a guess, which the server alone writes. */
    int64_t old = atomic_load_explicit(moved, memory_order_relaxed);
    atomic_store_explicit(moved,
                          old == 0 ? bytes : old + (bytes - old) / MOVED_WEIGHT,
                          memory_order_relaxed);
}

/* A byte took so long, here or elsewhere; most of what makes it longer hides
 * behind tasks, so that short times count at once, long ones little. */
static void note_byte_ps(struct eki_data *data, int64_t ps)
{
    /* relaxed, both: a guess, which the server alone writes. */
    int64_t old = atomic_load_explicit(&data->byte_ps, memory_order_relaxed);
    if (ps == 0)
        return;
    atomic_store_explicit(
        &data->byte_ps,
        old == 0 || ps < old ? ps : old + (ps - old) / BYTE_PS_WEIGHT,
        memory_order_relaxed);
}

/* What workers here want. */

static bool send_ask(struct eki_data *data, const struct ek_worker *worker,
                     const struct eki_data_op *op)
{
    uint32_t bytes = data->protocol.engine->slot_bytes;
    struct eki_message *message = reserve(data, EKI_KIND_ASK, bytes, 0);
    if (!message)
        return false;
    memcpy(message->body, op->slot, bytes);
    message->head.count = 1;
    /* relaxed: a guess. */
    message->head.detail =
        (op->seed != NULL) +
        2 * (int32_t)atomic_load_explicit(&data->byte_ps, memory_order_relaxed);
    post(data, message, worker->id, op->number, op->home);
    return true;
}

/* A short result, or the word that there is a long one. */
static bool send_first(struct eki_data *data, const struct ek_worker *worker,
                       struct eki_data_op *op)
{
    uint32_t slot = data->protocol.engine->slot_bytes;
    bool is_short = op->total <= room_of(data, slot);
    struct eki_message *message =
        reserve(data, EKI_KIND_RESULT, slot, is_short ? op->total : 0);
    if (!message)
        return false;
    memcpy(message->body, op->slot, slot);
    copy_bytes(data, message, slot, op->buffer);
    if (is_short)
        op->moved = op->total;
    message->head.count = op->total;
    message->head.detail = is_short ? EKI_RESULT_SHORT : EKI_RESULT_LONG;
    post(data, message, worker->id, op->number, op->home);
    return true;
}

/* Send what there are buffers for of a result that may be sent; true: all. */
static bool send_rest(struct eki_data *data, const struct ek_worker *worker,
                      struct eki_data_op *op, int *left)
{
    while (*left > 0 && op->moved < op->total) {
        int64_t count = least(op->total - op->moved, room_of(data, 0));
        struct eki_message *message = reserve(data, EKI_KIND_RESULT, 0, count);
        if (!message)
            return false;
        copy_bytes(data, message, 0,
                   op->buffer ? op->buffer + op->moved : NULL);
        message->head.detail = (int32_t)op->moved;
        post(data, message, worker->id, op->number, op->home);
        op->moved += count;
        note_part(data, op->moved < op->total);
        --*left;
    }
    return op->moved == op->total;
}

/* Send what an operation wants; true: nothing more for now. */
static bool send_op(struct eki_data *data, const struct ek_worker *worker,
                    struct eki_data_op *op, int *left)
{
    bool is_sent;
    if (op->is_given)
        return send_rest(data, worker, op, left);
    if (eki_op_state(op) == EKI_DATA_ASKED)
        is_sent = send_ask(data, worker, op);
    else
        is_sent = send_first(data, worker, op);
    *left -= is_sent;
    op->is_sent = is_sent;
    return is_sent;
}

/* Send what a worker wants; false: no more buffers for now. */
static bool send_for(struct eki_data *data, const struct ek_worker *worker,
                     int *left)
{
    struct eki_carrier *carrier = &data->carriers[worker->here];
    /* acquire: pairs with the release in eki_carrier_want(): the operations. */
    uint64_t asked =
        atomic_load_explicit(&carrier->asked, memory_order_acquire);
    for (; asked != 0 && *left > 0; asked &= asked - 1) {
        int place = __builtin_ctzll(asked);
        if (!send_op(data, worker, &carrier->ops[place], left))
            continue;
        /* relaxed, both: who sets the bit again has heard of the answer. */
        atomic_fetch_and_explicit(&carrier->asked, ~(UINT64_C(1) << place),
                                  memory_order_relaxed);
        atomic_fetch_sub_explicit(&data->wants, 1, memory_order_relaxed);
    }
    return *left > 0;
}

/* Workers take turns in being the first. */
static void send_wants(struct eki_data *data, int *left)
{
    const struct eki_engine *engine = data->protocol.engine;
    int workers = engine->topology->workers_here;
    for (int i = 0; i < workers; i++) {
        int here = (data->next_worker + i) % workers;
        if (!send_for(data, engine->workers[here], left)) {
            data->next_worker = here;
            return;
        }
    }
    data->next_worker = (data->next_worker + 1) % workers;
}

/* What this rank gives, and keeps, as a home. */

static void add_guest(struct eki_guests *guests, struct eki_guest *guest)
{
    *guests->last = guest;
    guests->last = &guest->next;
}

/* Take out and free the guest to which LINK leads. */
static void free_guest(struct eki_data *data, struct eki_guests *guests,
                       struct eki_guest **link)
{
    struct eki_guest *guest = *link;
    *link = guest->next;
    if (guests->last == &guest->next)
        guests->last = link;
    if (guest->room > 0) {
        guests->bytes -= guest->room;
        eki_data_charge(data, -guest->room);
    }
    eki_buffer_give(data, guest->buffer);
    eki_free(guest);
}

static void free_guests(struct eki_data *data, struct eki_guests *guests)
{
    guests->last = guests->first ? guests->last : &guests->first;
    while (guests->first)
        free_guest(data, guests, &guests->first);
}

/* Memory for BYTES of a guest; false: not now. */
static bool make_room(struct eki_data *data, struct eki_guests *guests,
                      struct eki_guest *guest, int64_t bytes)
{
    if (guests->bytes > 0 && guests->bytes + bytes > data->home_part / 2)
        return false;
    if (data->setup.has_bytes) {
        guest->buffer = eki_buffer_take(data, (size_t)bytes);
        if (!guest->buffer)
            return false;
    }
    guest->room = bytes;
    guests->bytes += bytes;
    eki_data_charge(data, bytes);
    return true;
}

/* Pack what is asked for. */
static void pack(struct eki_data *data, struct eki_guest *guest)
{
    const struct eki_slot *slot = (const struct eki_slot *)guest->slot;
    const ek_data_ops *ops = &data->ops[slot->function];
    ek_data_task task = eki_data_task_of(data, slot, guest->is_new);
    size_t bytes = data->setup.calls->pack_input(data->setup.user, ops, &task,
                                                 guest->buffer);
    guest->is_packed = true;
    if (bytes <= ops->bytes_max) {
        guest->total = (int64_t)bytes;
        note_moved(data, slot->function, guest->total);
        return;
    }
    guest->total =
        bytes == EK_DATA_FAILED ? EKI_INPUT_FAILED : EKI_INPUT_TOO_LONG;
}

/* Send what there are buffers for; true: all of it. */
static bool send_input(struct eki_data *data, struct eki_guest *guest,
                       int *left)
{
    const struct eki_slot *slot = (const struct eki_slot *)guest->slot;
    const int64_t bytes = (int64_t)sizeof(struct eki_data_words);
    struct eki_data_words words = {slot->id, guest->total};
    int64_t total = guest->total > 0 ? guest->total : 0;
    do {
        int64_t count = least(total - guest->moved, room_of(data, bytes));
        struct eki_message *message =
            *left > 0 ? reserve(data, EKI_KIND_INPUT, bytes, count) : NULL;
        if (!message)
            return false;
        memcpy(message->body, &words, sizeof words);
        copy_bytes(data, message, bytes,
                   guest->buffer ? guest->buffer + guest->moved : NULL);
        message->head.detail = (int32_t)guest->moved;
        post(data, message, guest->worker, guest->op, guest->rank);
        guest->moved += count;
        note_part(data, guest->moved < total);
        --*left;
    } while (guest->moved < total);
    return true;
}

/* The input has gone for good. */
static void release(struct eki_data *data, const struct eki_guest *guest)
{
    const struct eki_slot *slot = (const struct eki_slot *)guest->slot;
    ek_data_task task = eki_data_task_of(data, slot, true);
    if (guest->is_new && guest->total >= 0)
        data->setup.calls->release(data->setup.user, &data->ops[slot->function],
                                   &task);
}

/* Pack and send what is asked for, in its order; but one that waits for buffers
 * keeps none behind it that is packed from being sent. */
static void serve_asks(struct eki_data *data, int *left)
{
    struct eki_guest **link = &data->asks.first;
    while (*link && *left > 0 && !data->lacks_any) {
        struct eki_guest *guest = *link;
        const struct eki_slot *slot = (const struct eki_slot *)guest->slot;
        if (!guest->is_packed) {
            if (!make_room(data, &data->asks, guest,
                           (int64_t)data->ops[slot->function].bytes_max))
                return;
            pack(data, guest);
        }
        if (send_input(data, guest, left)) {
            release(data, guest);
            free_guest(data, &data->asks, link);
        } else {
            link = &guest->next;
        }
    }
}

/* Room for one more answer. */
static bool has_answer_room(struct eki_data *data)
{
    if (data->answer_count < data->answer_room)
        return true;
    int room = data->answer_room ? 2 * data->answer_room : FIRST_ROOM;
    struct eki_data_answer *answers =
        eki_realloc(data->answers, (size_t)room, sizeof *answers);
    if (!answers)
        return false;
    data->answers = answers;
    data->answer_room = room;
    return true;
}

/* There is room for it. */
static void answer(struct eki_data *data, int kind, int rank, int worker,
                   uint32_t op)
{
    data->answers[data->answer_count++] =
        (struct eki_data_answer){kind, rank, worker, op};
}

static void send_answers(struct eki_data *data, int *left)
{
    int sent = 0;
    for (; *left > 0 && sent < data->answer_count; sent++, --*left) {
        const struct eki_data_answer *answer = &data->answers[sent];
        struct eki_message *message = reserve(data, answer->kind, 0, 0);
        if (!message)
            break;
        post(data, message, answer->worker, answer->op, answer->rank);
    }
    data->answer_count -= sent;
    memmove(data->answers, data->answers + sent,
            (size_t)data->answer_count * sizeof *data->answers);
}

/* Say to those who have long results, in their order, that they may send them,
 * as far as there is room. */
static void give(struct eki_data *data)
{
    for (struct eki_guest *guest = data->results.first; guest;
         guest = guest->next) {
        if (guest->is_given)
            continue;
        if (!has_answer_room(data) ||
            !make_room(data, &data->results, guest, guest->total))
            return;
        guest->is_given = true;
        answer(data, EKI_KIND_GIVE, guest->rank, guest->worker, guest->op);
    }
}

static void step(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_data *data = of(protocol);
    int left = SENDS_MOST;
    data->lacks_spare = data->lacks_any = false;
    if (data->follower.is_open)
        eki_follower_step(data, now);
    if (data->results.first)
        give(data);
    if (data->answer_count > 0)
        send_answers(data, &left);
    if (data->asks.first)
        serve_asks(data, &left);
    /* relaxed: a hint; what is not seen yet is seen later. */
    if (atomic_load_explicit(&data->wants, memory_order_relaxed) > 0)
        send_wants(data, &left);
}

/* What comes. */

/* The task that a message brings, of a function with data whose home is this
 * rank. */
static bool fits_task(const struct eki_decode *decode,
                      const struct eki_message *message)
{
    struct eki_engine *engine = decode->engine;
    const struct eki_slot *slot = (const struct eki_slot *)message->body;
    return eki_fits(decode, "bytes", message->head.bytes, engine->slot_bytes,
                    INT64_MAX) &&
           eki_fits_slot(decode, slot, engine->function_count) &&
           eki_fits_one(decode, "data of the function",
                        eki_data_ops_of(engine, slot->function) != NULL,
                        true) &&
           eki_fits_one(decode, "home", eki_data_home(engine, slot),
                        engine->topology->rank);
}

static bool fits_asker(const struct eki_decode *decode,
                       const struct eki_head *head)
{
    return eki_fits_worker(decode, head->worker, head->source) &&
           eki_fits(decode, "operation", head->first, EKI_DATA_OPS_MOST,
                    UINT32_MAX);
}

/* A guest for the task that MESSAGE brings; NULL: no memory. */
static struct eki_guest *make_guest(struct eki_data *data,
                                    const struct eki_message *message)
{
    uint32_t bytes = data->protocol.engine->slot_bytes;
    struct eki_guest *guest = eki_alloc(1, sizeof *guest + bytes);
    if (!guest)
        return NULL;
    guest->rank = message->head.source;
    guest->worker = message->head.worker;
    guest->op = (uint32_t)message->head.first;
    memcpy(guest->slot, message->body, bytes);
    return guest;
}

static enum eki_taken take_ask(struct eki_data *data,
                               const struct eki_message *message)
{
    struct eki_engine *engine = data->protocol.engine;
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(engine, head);
    bool is_restore = engine->kind == EKI_PHASE_RESTORE;
    /* Where ranks differ nothing runs. */
    bool is_alike = head->signature == engine->signature;
    if (!fits_asker(&decode, head) ||
        !eki_fits_body(&decode, head, 1, engine->slot_bytes) ||
        !eki_fits_one(&decode, "new home", head->detail & 1, is_restore) ||
        !eki_fits(&decode, "time of a byte", head->detail, 0, INT32_MAX) ||
        (is_alike && !fits_task(&decode, message)))
        return EKI_REFUSED;
    struct eki_guest *guest = make_guest(data, message);
    if (!guest)
        return EKI_NO_MEMORY;
    guest->is_new = head->detail & 1;
    note_byte_ps(data, head->detail / 2);
    guest->is_packed = !is_alike;
    guest->total = EKI_INPUT_FAILED;
    add_guest(&data->asks, guest);
    return EKI_TAKEN;
}

/* Bytes in the body behind WORDS. */
static bool fits_bytes(const struct eki_decode *decode,
                       const struct eki_data *data, const struct eki_head *head,
                       int64_t words, int64_t count)
{
    return eki_fits_one(decode, "bytes", head->bytes,
                        words + (data->setup.has_bytes ? count : 0));
}

/* Unpack a result, and answer that; there is room for the answer. */
static void keep(struct eki_data *data, const struct eki_slot *slot,
                 const unsigned char *bytes, int64_t count,
                 const struct eki_head *head)
{
    ek_data_task task = eki_data_task_of(data, slot, false);
    for (int times = EKI_PLANTED(TWICE_UNPACKED) ? 2 : 1; times > 0; times--)
        data->setup.calls->unpack_result(data->setup.user,
                                         &data->ops[slot->function], &task,
                                         bytes, (size_t)count);
    note_moved(data, slot->function, count);
    answer(data, EKI_KIND_KEPT, head->source, head->worker,
           (uint32_t)head->first);
}

/* A short result, or the word that there is a long one. */
static enum eki_taken take_first(struct eki_data *data,
                                 const struct eki_message *message)
{
    struct eki_engine *engine = data->protocol.engine;
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(engine, head);
    const struct eki_slot *slot = (const struct eki_slot *)message->body;
    if (!fits_asker(&decode, head) || !fits_task(&decode, message))
        return EKI_REFUSED;
    const ek_data_ops *ops = &data->ops[slot->function];
    int64_t words = engine->slot_bytes, room = room_of(data, words);
    bool is_short = head->detail == EKI_RESULT_SHORT;
    if (!eki_fits_one(&decode, "results of the function",
                      ops->unpack_result != NULL, true) ||
        !eki_fits(&decode, "count", head->count, is_short ? 0 : room + 1,
                  is_short ? least(room, (int64_t)ops->bytes_max)
                           : (int64_t)ops->bytes_max) ||
        !fits_bytes(&decode, data, head, words, is_short ? head->count : 0))
        return EKI_REFUSED;
    if (is_short) {
        if (!has_answer_room(data))
            return EKI_NO_MEMORY;
        keep(data, slot, message->body + words, head->count, head);
        return EKI_TAKEN;
    }
    struct eki_guest *guest = make_guest(data, message);
    if (!guest)
        return EKI_NO_MEMORY;
    guest->total = head->count;
    add_guest(&data->results, guest);
    return EKI_TAKEN;
}

/* Where the result that a message is a part of is put together; NULL: there is
 * none. */
static struct eki_guest **find_result(struct eki_data *data,
                                      const struct eki_head *head)
{
    struct eki_guest **link = &data->results.first;
    while (*link &&
           ((*link)->rank != head->source || (*link)->worker != head->worker ||
            (*link)->op != head->first))
        link = &(*link)->next;
    return link;
}

static enum eki_taken take_rest(struct eki_data *data,
                                const struct eki_message *message)
{
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(data->protocol.engine, head);
    struct eki_guest **link = find_result(data, head), *guest = *link;
    if (!eki_fits_one(&decode, "result under way", guest && guest->is_given,
                      true) ||
        !eki_fits_one(&decode, "offset", head->detail, guest->moved) ||
        !eki_fits(&decode, "count", head->count, 1,
                  guest->total - guest->moved) ||
        !fits_bytes(&decode, data, head, 0, head->count))
        return EKI_REFUSED;
    bool is_last = guest->moved + head->count == guest->total;
    if (is_last && !has_answer_room(data))
        return EKI_NO_MEMORY;
    if (data->setup.has_bytes)
        memcpy(guest->buffer + guest->moved, message->body,
               (size_t)head->count);
    guest->moved += head->count;
    note_part(data, !is_last);
    if (is_last) {
        keep(data, (const struct eki_slot *)guest->slot, guest->buffer,
             guest->total, head);
        free_guest(data, &data->results, link);
    }
    return EKI_TAKEN;
}

/* The operation that an answer is about, in this state; NULL: refused. */
static struct eki_data_op *find_op(const struct eki_decode *decode,
                                   struct eki_data *data,
                                   const struct eki_head *head,
                                   enum eki_data_state state)
{
    const struct eki_topology *topology = decode->engine->topology;
    if (!eki_fits_worker(decode, head->worker, topology->rank) ||
        !eki_fits(decode, "operation", head->first, EKI_DATA_OPS_MOST,
                  UINT32_MAX))
        return NULL;
    int here = head->worker - topology->first_worker[topology->rank];
    struct eki_data_op *op =
        &data->carriers[here].ops[head->first % EKI_DATA_OPS_MOST];
    bool fits = eki_op_state(op) == (int)state && op->number == head->first &&
                op->is_sent;
    return eki_fits_one(decode, "operation under way", fits, true) &&
                   eki_fits_one(decode, "source", head->source, op->home)
               ? op
               : NULL;
}

static struct eki_carrier *carrier_of(struct eki_data *data,
                                      const struct eki_head *head)
{
    const struct eki_topology *topology = data->protocol.engine->topology;
    return &data->carriers[head->worker -
                           topology->first_worker[topology->rank]];
}

/* All of an input is here. */
static void end_input(struct eki_data *data, struct eki_carrier *carrier,
                      struct eki_data_op *op, uint64_t now)
{
    /* relaxed, all: a guess, which the server alone writes. */
    uint64_t old =
        atomic_load_explicit(&carrier->fetch_ns, memory_order_relaxed);
    uint64_t took = eki_ns_since(op->since, now);
    atomic_store_explicit(
        &carrier->fetch_ns,
        old == 0 ? took : old - old / FETCH_WEIGHT + took / FETCH_WEIGHT,
        memory_order_relaxed);
    data->counts.bytes_in += op->total > 0 ? op->total : 0;
    /* A task has waited for just this one. */
    if (op->total > 0 && op->expected_ns == 0 && !op->seed)
        note_byte_ps(data,
                     least((int64_t)took * 1000 / op->total, BYTE_PS_MOST));
    if (op->seed)
        eki_follower_take(data, op);
    else
        eki_op_set(op, EKI_DATA_HERE);
}

static enum eki_taken take_input(struct eki_data *data,
                                 const struct eki_message *message,
                                 uint64_t now)
{
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(data->protocol.engine, head);
    struct eki_data_op *op = find_op(&decode, data, head, EKI_DATA_ASKED);
    struct eki_data_words words;
    if (!op ||
        !eki_fits(&decode, "bytes", head->bytes, sizeof words, INT64_MAX))
        return EKI_REFUSED;
    memcpy(&words, message->body, sizeof words);
    int64_t total = words.total > 0 ? words.total : 0;
    if (!eki_fits_one(&decode, "task", words.id == op->slot->id, true) ||
        !eki_fits(&decode, "total", words.total, EKI_INPUT_TOO_LONG,
                  (int64_t)op->ops->bytes_max) ||
        !eki_fits_one(&decode, "total as before",
                      op->moved == 0 || words.total == op->total, true) ||
        !eki_fits_one(&decode, "offset", head->detail, op->moved) ||
        !eki_fits(&decode, "count", head->count, total > 0,
                  total - op->moved) ||
        !fits_bytes(&decode, data, head, sizeof words, head->count))
        return EKI_REFUSED;
    op->total = words.total;
    if (data->setup.has_bytes)
        memcpy(op->buffer + op->moved, message->body + sizeof words,
               (size_t)head->count);
    op->moved += head->count;
    note_part(data, op->moved < total);
    if (op->moved == total)
        end_input(data, carrier_of(data, head), op, now);
    return EKI_TAKEN;
}

static bool is_empty(const struct eki_decode *decode,
                     const struct eki_head *head)
{
    return eki_fits_body(decode, head, 0, 0);
}

static enum eki_taken take_give(struct eki_data *data,
                                const struct eki_message *message)
{
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(data->protocol.engine, head);
    struct eki_data_op *op = find_op(&decode, data, head, EKI_DATA_ENDED);
    if (!op || !is_empty(&decode, head) ||
        !eki_fits_one(&decode, "permission before it",
                      op->is_given || op->moved == op->total, false))
        return EKI_REFUSED;
    op->is_given = true;
    eki_carrier_want(data, carrier_of(data, head), op);
    return EKI_TAKEN;
}

static enum eki_taken take_kept(struct eki_data *data,
                                const struct eki_message *message)
{
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(data->protocol.engine, head);
    struct eki_data_op *op = find_op(&decode, data, head, EKI_DATA_ENDED);
    if (!op || !is_empty(&decode, head) ||
        !eki_fits_one(&decode, "bytes that were sent", op->moved, op->total))
        return EKI_REFUSED;
    struct eki_carrier *carrier = carrier_of(data, head);
    data->counts.bytes_out += op->total;
    eki_carrier_free(data, carrier, op);
    /* release: pairs with the acquire in may_idle(): nothing is to come. */
    atomic_fetch_sub_explicit(&carrier->out, 1, memory_order_release);
    return EKI_TAKEN;
}

static enum eki_taken take(struct eki_protocol *protocol,
                           const struct eki_message *message, uint64_t now)
{
    struct eki_data *data = of(protocol);
    switch (message->head.kind) {
    case EKI_KIND_ASK:
        return take_ask(data, message);
    case EKI_KIND_INPUT:
        return take_input(data, message, now);
    case EKI_KIND_RESULT:
        return message->head.detail < 0 ? take_first(data, message)
                                        : take_rest(data, message);
    case EKI_KIND_GIVE:
        return take_give(data, message);
    default:
        return take_kept(data, message);
    }
}

static void clear_carrier(struct eki_data *data, struct eki_carrier *carrier)
{
    for (int i = 0; i < EKI_DATA_OPS_MOST; i++) {
        if (eki_op_state(&carrier->ops[i]) != EKI_DATA_FREE)
            eki_carrier_free(data, carrier, &carrier->ops[i]);
    }
    carrier->staged = 0;
    carrier->staged_ns = 0;
    carrier->running = NULL;
    carrier->travelled = 0;
    /* relaxed, both: handed on by the start of the team. */
    atomic_store_explicit(&carrier->asked, 0, memory_order_relaxed);
    atomic_store_explicit(&carrier->out, 0, memory_order_relaxed);
}

/* Nothing of the last phase is left, which may have been stopped. */
static void clear(struct eki_data *data)
{
    int workers = data->protocol.engine->topology->workers_here;
    free_guests(data, &data->asks);
    free_guests(data, &data->results);
    data->answer_count = 0;
    for (int here = 0; here < workers; here++)
        clear_carrier(data, &data->carriers[here]);
    /* relaxed, both: handed on by the start of the team. */
    atomic_store_explicit(&data->wants, 0, memory_order_relaxed);
    atomic_store_explicit(&data->held_most, 0, memory_order_relaxed);
}

static bool enter(struct eki_protocol *protocol, const struct eki_phase *phase,
                  uint64_t now)
{
    struct eki_data *data = of(protocol);
    (void)now;
    clear(data);
    bool follows = data->follower.is_wanted && phase->kind == EKI_PHASE_RESTORE;
    data->follower = (struct eki_follower){.is_open = follows};
    /* What was counted in a process is asked for after other restores, too. */
    if (phase->kind == EKI_PHASE_PROCESS || follows)
        data->counts = (struct eki_data_counts){0};
    return protocol->engine->topology->size > 1;
}

static bool may_idle(const struct eki_protocol *protocol,
                     const struct ek_worker *worker)
{
    const struct eki_data *data = (const struct eki_data *)protocol;
    /* acquire: pairs with the release in take_kept(). */
    return (EKI_PLANTED(RESULTS_LAST) ||
            atomic_load_explicit(&data->carriers[worker->here].out,
                                 memory_order_acquire) == 0) &&
           (worker->here != 0 || eki_follower_is_done(data));
}

static uint64_t weigh(const struct eki_protocol *protocol,
                      const struct eki_slot *slot)
{
    const struct eki_data *data = (const struct eki_data *)protocol;
    if (!eki_data_ops_of(protocol->engine, slot->function))
        return 0;
    /* relaxed, both: guesses. */
    int64_t bytes = atomic_load_explicit(&data->moved[slot->function],
                                         memory_order_relaxed);
    int64_t byte_ps =
        atomic_load_explicit(&data->byte_ps, memory_order_relaxed);
    /* There and back. */
    return (uint64_t)(2 * bytes * byte_ps / 1000) *
           (uint64_t)eki_slot_tasks(slot);
}

static void tell(const struct eki_protocol *protocol, uint64_t now,
                 uint64_t waited, char *text, size_t bytes)
{
    const struct eki_data *data = (const struct eki_data *)protocol;
    int workers = protocol->engine->topology->workers_here, count = 0;
    const struct eki_data_op *first = NULL;
    for (int i = 0; i < workers * EKI_DATA_OPS_MOST; i++) {
        const struct eki_data_op *op =
            &data->carriers[i / EKI_DATA_OPS_MOST].ops[i % EKI_DATA_OPS_MOST];
        int state = eki_op_state(op);
        if ((state != EKI_DATA_ASKED && state != EKI_DATA_ENDED) ||
            eki_ns_since(op->since, now) < waited)
            continue;
        first = first ? first : op;
        count++;
    }
    if (first)
        eki_append(text, bytes,
                   ", %d inputs and results of tasks under way, one with rank "
                   "%d",
                   count, first->home);
}

static void destroy(struct eki_protocol *protocol)
{
    struct eki_data *data = of(protocol);
    clear(data);
    for (int here = 0; here < protocol->engine->topology->workers_here; here++)
        eki_free(data->carriers[here].slots);
    eki_buffers_free(data);
    eki_free(data->carriers);
    eki_free(data->answers);
    eki_free(data->ops);
    eki_free((void *)data->moved);
    eki_free(data);
}

const struct eki_protocol_ops eki_data_ops = {
    .name = "data",
    .service = EKI_SERVE_DATA,
    .kinds = 1u << EKI_KIND_ASK | 1u << EKI_KIND_INPUT | 1u << EKI_KIND_RESULT |
             1u << EKI_KIND_GIVE | 1u << EKI_KIND_KEPT,
    .destroy = destroy,
    .enter = enter,
    .take = take,
    .step = step,
    .end_task = eki_carrier_end,
    .may_idle = may_idle,
    .weigh = weigh,
    .tell = tell};
