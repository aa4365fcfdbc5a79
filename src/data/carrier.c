/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's side: what it asks for, the task that runs away, its end. */
#include "data/internal.h"
#include "engine/away.h"

enum {
    /* Slots that one look for tasks to stage passes. */
    LOOKS_MOST = 32,
    /* Staged tasks last so many times as long as an input takes to come: it is
     * here when its task begins, though the next one is late. */
    STAGED_AHEAD = 2
};

/* An operation is charged so many bytes more. */
static void charge(struct eki_carrier *carrier, struct eki_data_op *op,
                   int64_t bytes)
{
    op->room += bytes;
    /* relaxed: a count. */
    atomic_fetch_add_explicit(&carrier->bytes, bytes, memory_order_relaxed);
    eki_data_charge(carrier->data, bytes);
}

void eki_carrier_free(struct eki_carrier *carrier, struct eki_data_op *op)
{
    eki_buffer_give(carrier->data, op->buffer);
    op->buffer = NULL;
    charge(carrier, op, -op->room);
    eki_op_set(op, EKI_DATA_FREE);
}

/* A free place; NULL: all are under way. */
static struct eki_data_op *free_op(struct eki_carrier *carrier)
{
    uint32_t begun = carrier->data->tickets.desks[carrier->worker->here].begun;
    for (uint32_t i = 1; i <= EKI_DATA_OPS_MOST; i++) {
        struct eki_data_op *op = &carrier->ops[(begun + i) % EKI_DATA_OPS_MOST];
        if (eki_op_state(op) == EKI_DATA_FREE)
            return op;
    }
    return NULL;
}

struct eki_data_op *eki_carrier_ask(struct eki_carrier *carrier,
                                    const struct eki_slot *slot, uint64_t now,
                                    uint64_t expected_ns)
{
    struct eki_data *data = carrier->data;
    const struct eki_engine *engine = data->protocol.engine;
    const ek_data_ops *ops = &data->ops[slot->function];
    struct eki_data_op *op = free_op(carrier);
    unsigned char *buffer = NULL;
    if (!op)
        return NULL;
    if (data->setup.has_bytes) {
        buffer = eki_buffer_take(data, ops->bytes_max);
        if (!buffer)
            return NULL;
    }
    int place = (int)(op - carrier->ops);
    /* All but the state, at which others may look. */
    op->number =
        eki_ticket_number(&data->tickets, carrier->worker->here, place);
    op->home = eki_engine_home(engine, slot);
    op->slot = eki_slot_at(carrier->slots, place, engine->slot_bytes);
    op->ops = ops;
    op->buffer = buffer;
    op->object = NULL;
    op->room = op->total = op->moved = 0;
    op->since = now;
    op->expected_ns = expected_ns;
    op->is_sent = op->is_given = false;
    op->seed = NULL;
    eki_slot_copy(op->slot, slot, engine->slot_bytes);
    charge(carrier, op, (int64_t)ops->bytes_max);
    eki_op_set(op, EKI_DATA_ASKED);
    eki_carrier_want(carrier, op);
    return op;
}

/* A slot for an index, which has none: in the carrier's spare place. */
static const struct eki_slot *index_slot(struct eki_carrier *carrier,
                                         int function, uint64_t id,
                                         int64_t index)
{
    struct eki_slot *slot = eki_slot_at(carrier->slots, EKI_DATA_OPS_MOST,
                                        carrier->worker->engine->slot_bytes);
    eki_slot_head(slot, function, sizeof index, EKI_SLOT_SEED, id);
    memcpy(slot->payload, &index, sizeof index);
    return slot;
}

/* The slot of a task, of an index, or of a range of one; NULL: of a range of
 * several. */
static const struct eki_slot *slot_of_range(struct eki_carrier *carrier,
                                            const struct eki_slot *slot)
{
    struct eki_range range;
    if (!(slot->flags & EKI_SLOT_RANGE))
        return slot;
    memcpy(&range, slot->payload, sizeof range);
    if (range.last - range.first != 1)
        return NULL;
    return index_slot(carrier, slot->function, slot->id, range.first);
}

/* The slot of the task that runs. */
static const struct eki_slot *running_slot(struct eki_carrier *carrier)
{
    const struct eki_slot *slot = eki_worker_current(carrier->worker);
    if (slot)
        return slot;
    const struct eki_piece *piece = &carrier->worker->piece;
    int64_t at = eki_piece_index(piece) - 1;
    return index_slot(carrier, piece->function, piece->id + (uint64_t)at, at);
}

/* What two of the largest need, an input and its result, always fits beside
 * what is staged; results on their way may be in its place. */
static bool fits_budget(const struct eki_carrier *carrier, int64_t own,
                        int64_t staged)
{
    /* relaxed: only this worker adds; what the server frees is seen later. */
    int64_t bytes = atomic_load_explicit(&carrier->bytes, memory_order_relaxed);
    const struct eki_data *data = carrier->data;
    return bytes - own + (2 + staged) * data->bytes_max <= data->part;
}

/* Whether so many tasks are staged that the next input comes in time. */
static bool is_ahead(const struct eki_carrier *carrier)
{
    /* relaxed: a guess. */
    uint64_t fetch_ns =
        atomic_load_explicit(&carrier->fetch_ns, memory_order_relaxed);
    return carrier->staged == EKI_STAGED_MOST ||
           (carrier->staged > 0 &&
            carrier->staged_ns >= STAGED_AHEAD * fetch_ns);
}

/* Look at the next task; false: no more can be staged. */
static bool stage_one(struct eki_carrier *carrier, unsigned char *at,
                      uint64_t now)
{
    struct ek_worker *worker = carrier->worker;
    const struct eki_engine *engine = worker->engine;
    const struct eki_slot *slot =
        slot_of_range(carrier, (const struct eki_slot *)at);
    int64_t own = carrier->running ? carrier->running->room : 0;
    if (!slot || is_ahead(carrier) || !fits_budget(carrier, own, 1))
        return false;
    if (!eki_data_ops_of(engine, slot->function) ||
        eki_engine_home(engine, slot) == engine->topology->rank)
        return true;
    struct eki_data_op *op = eki_carrier_ask(
        carrier, slot, now, eki_worker_expected_ns(worker, slot) + 1);
    if (!op)
        return false;
    carrier->places[carrier->staged++] = (uint8_t)(op - carrier->ops);
    carrier->staged_ns += op->expected_ns;
    worker->batch.wants_server = true;
    if (!EKI_PLANTED(STAGED_SHOWN))
        eki_local_hold(&worker->local, at);
    return true;
}

/* Look at the tasks that the worker takes next, at LOOKS_MOST of them; how many
 * it has passed. */
static int stage_each(struct eki_carrier *carrier, uint64_t now)
{
    struct eki_local *local = &carrier->worker->local;
    int looks = 0;
    unsigned char *at = eki_local_free_top(local);
    while (at != local->stack_bottom) {
        at -= local->slot_bytes;
        if (looks == LOOKS_MOST || !stage_one(carrier, at, now))
            return looks;
        looks++;
    }
    at = local->held_seeds ? local->held_seeds : local->seed_top;
    while (at != local->seed_base) {
        at -= local->slot_bytes;
        if (looks == LOOKS_MOST || !stage_one(carrier, at, now))
            return looks;
        looks++;
    }
    return looks;
}

/* Ask for the data of the tasks that the worker takes next: nobody else does.
 * Where all of them are at home, half of them begin without another look. */
static void stage(struct eki_carrier *carrier, uint64_t now)
{
    int looks = stage_each(carrier, now);
    carrier->at_home = carrier->staged == 0 ? looks / 2 : 0;
}

/* The operation of a task that was staged; NULL: it was not. */
static struct eki_data_op *take_staged(struct eki_carrier *carrier, uint64_t id)
{
    for (int i = 0; i < carrier->staged; i++) {
        struct eki_data_op *op = &carrier->ops[carrier->places[i]];
        if (op->slot->id != id)
            continue;
        carrier->staged--;
        carrier->staged_ns -= op->expected_ns;
        memmove(&carrier->places[i], &carrier->places[i + 1],
                (size_t)(carrier->staged - i));
        return op;
    }
    return NULL;
}

/* The task that begins is asked for, if there is room. */
static enum eki_data_begun ask_for_running(struct eki_carrier *carrier,
                                           const struct eki_slot *slot,
                                           uint64_t now)
{
    carrier->running = take_staged(carrier, slot->id);
    if (!carrier->running) {
        if (!free_op(carrier) || !fits_budget(carrier, 0, 0))
            return EKI_DATA_WAITS;
        carrier->running = eki_carrier_ask(carrier, slot, now, 0);
    }
    if (!carrier->running) {
        eki_worker_fail(carrier->worker, EK_ERR_NOMEM,
                        "no memory for its input");
        return EKI_DATA_FAILED;
    }
    stage(carrier, now);
    return EKI_DATA_READY;
}

void eki_carrier_say(const struct eki_data_op *op, char *text)
{
    const char *what = "unpack_input has failed, with data of";
    if (op->total == EKI_INPUT_FAILED && eki_are_blocks(op->ops)) {
        eki_block_say(op->slot->payload, op->slot->bytes, op->home, text);
        return;
    }
    if (op->total == EKI_INPUT_FAILED)
        what = "pack_input has failed on";
    else if (op->total == EKI_INPUT_TOO_LONG)
        what = "pack_input returned more than bytes_max on";
    else if (op->total == EKI_INPUT_NO_MEMORY)
        what = "no memory for its input on";
    snprintf(text, EKI_CARRIER_SAYS, "%s rank %d", what, op->home);
}

/* There is no input for the task, or nothing could be made of it. */
static enum eki_data_begun fail_input(struct eki_carrier *carrier)
{
    char text[EKI_CARRIER_SAYS];
    eki_carrier_say(carrier->running, text);
    eki_worker_fail(carrier->worker,
                    carrier->running->total == EKI_INPUT_NO_MEMORY
                        ? EK_ERR_NOMEM
                        : EK_ERR_TASK,
                    text);
    eki_carrier_free(carrier, carrier->running);
    carrier->running = NULL;
    return EKI_DATA_FAILED;
}

/* The input is here: make of it what the task gets. */
static enum eki_data_begun make_object(struct eki_carrier *carrier)
{
    struct eki_data *data = carrier->data;
    struct ek_worker *worker = carrier->worker;
    struct eki_data_op *op = carrier->running;
    if (op->total < 0)
        return fail_input(carrier);
    op->object = op->buffer;
    if (op->ops->unpack_input) {
        ek_task task = eki_engine_show(data->protocol.engine, op->slot);
        eki_data_enter(data);
        op->object = op->ops->unpack_input(&task, op->buffer, (size_t)op->total,
                                           op->ops->context);
        eki_data_leave(data, worker);
        if (!op->object)
            return fail_input(carrier);
    }
    charge(carrier, op, (int64_t)op->ops->bytes_max);
    eki_op_set(op, EKI_DATA_RUNS);
    carrier->travelled++;
    worker->batch.marks |= EKI_MARK_DATA;
    return EKI_DATA_READY;
}

enum eki_data_begun eki_data_begin(struct ek_worker *worker, uint64_t now)
{
    const struct eki_engine *engine = worker->engine;
    struct eki_data *data = eki_data_of(engine);
    struct eki_carrier *carrier = &data->carriers[worker->here];
    if (engine->topology->size == 1)
        return EKI_DATA_HOME;
    const struct eki_slot *slot = running_slot(carrier);
    if (!eki_data_ops_of(engine, slot->function))
        return EKI_DATA_HOME;
    if (EKI_UNLIKELY(eki_is_broken(engine)))
        return EKI_DATA_FAILED;
    if (worker->local.is_held)
        eki_local_let_go(&worker->local);
    if (eki_engine_home(engine, slot) == engine->topology->rank) {
        if (carrier->at_home > 0)
            carrier->at_home--;
        else
            stage(carrier, now);
        return EKI_DATA_HOME;
    }
    enum eki_data_begun begun = EKI_DATA_READY;
    if (!carrier->running)
        begun = ask_for_running(carrier, slot, now);
    if (begun != EKI_DATA_READY)
        return begun;
    struct eki_data_op *op = carrier->running;
    if (eki_op_state(op) == EKI_DATA_ASKED ||
        !fits_budget(carrier, op->room, 0)) {
        worker->batch.wants_server = true;
        carrier->waits_since =
            carrier->waits_since ? carrier->waits_since : now;
        return EKI_DATA_WAITS;
    }
    if (eki_ns_since(carrier->waits_since ? carrier->waits_since : now, now) >
        eki_worker_expected_ns(worker, op->slot))
        eki_away_note_late(worker, op->slot->id);
    carrier->waits_since = 0;
    return make_object(carrier);
}

/* Of the task that runs; NULL: it is at home. */
static const struct eki_data_op *running_op(const struct ek_worker *worker)
{
    return worker->batch.marks & EKI_MARK_DATA
               ? eki_data_of(worker->engine)->carriers[worker->here].running
               : NULL;
}

void *eki_data_object(const struct ek_worker *worker)
{
    const struct eki_data_op *op = running_op(worker);
    return op ? op->object : eki_block_here(worker).address;
}

int64_t eki_data_input_bytes(const struct ek_worker *worker)
{
    const struct eki_data_op *op = running_op(worker);
    return op ? op->total : eki_block_here(worker).bytes;
}

/* Pack the result into BUFFER; NULL: let the object go. */
static size_t pack_into(struct eki_carrier *carrier,
                        const struct eki_data_op *op, void *buffer)
{
    struct eki_data *data = carrier->data;
    ek_task task = eki_engine_show(data->protocol.engine, op->slot);
    eki_data_enter(data);
    size_t bytes =
        op->ops->pack_result(&task, op->object, buffer, op->ops->context);
    eki_data_leave(data, carrier->worker);
    return bytes;
}

/* Let the object go, without a result. */
static void drop_object(struct eki_carrier *carrier,
                        const struct eki_data_op *op)
{
    if (op->ops->pack_result)
        pack_into(carrier, op, NULL);
}

/* Pack the result into a buffer of its own, in the place of the input's; false:
 * there is none. */
static bool make_result(struct eki_carrier *carrier, struct eki_data_op *op)
{
    struct eki_data *data = carrier->data;
    size_t most = op->ops->bytes_max, bytes;
    unsigned char *buffer = NULL;
    if (data->setup.has_bytes && !(buffer = eki_buffer_take(data, most))) {
        drop_object(carrier, op);
        eki_worker_fail(carrier->worker, EK_ERR_NOMEM,
                        "no memory for its result");
        return false;
    }
    bytes = pack_into(carrier, op, buffer);
    eki_buffer_give(data, op->buffer);
    op->buffer = buffer;
    op->total = (int64_t)bytes;
    if (bytes <= most)
        return true;
    eki_worker_fail(carrier->worker, EK_ERR_TASK,
                    bytes == EK_DATA_FAILED
                        ? "pack_result has failed"
                        : "pack_result returned more than bytes_max");
    return false;
}

/* Hand the result to the server. */
static void hand_result(struct eki_carrier *carrier, struct eki_data_op *op)
{
    struct eki_data *data = carrier->data;
    struct ek_worker *worker = carrier->worker;
    /* A result that is much shorter is charged alone. */
    bool is_cut = eki_buffer_cut(data, &op->buffer, (size_t)op->total);
    charge(carrier, op,
           (is_cut || !op->buffer ? op->total : (int64_t)op->ops->bytes_max) -
               op->room);
    op->moved = 0;
    op->is_sent = op->is_given = false;
    eki_ticket_keep(&data->tickets, worker->here);
    eki_op_set(op, EKI_DATA_ENDED);
    eki_carrier_want(carrier, op);
    worker->batch.wants_server = true;
}

bool eki_carrier_end(struct eki_protocol *protocol, struct ek_worker *worker)
{
    struct eki_carrier *carrier =
        &((struct eki_data *)protocol)->carriers[worker->here];
    const uint32_t without = EKI_MARK_FAIL | EKI_MARK_SKIP | EKI_MARK_DISCARD;
    struct eki_data_op *op = carrier->running;
    if (!(worker->batch.marks & EKI_MARK_DATA))
        return true;
    int64_t input = op->total;
    bool returns =
        !(worker->batch.marks & without) && op->ops->unpack_result != NULL;
    if (!returns)
        drop_object(carrier, op);
    else if (op->ops->pack_result)
        returns = make_result(carrier, op);
    carrier->running = NULL;
    worker->batch.marks &= ~(uint32_t)EKI_MARK_DATA;
    if (EKI_UNLIKELY(worker->local.keeps_discarded))
        eki_carrier_note(carrier, op->slot->id, input, returns ? op->total : 0);
    if (returns)
        hand_result(carrier, op);
    else
        eki_carrier_free(carrier, op);
    return true;
}
