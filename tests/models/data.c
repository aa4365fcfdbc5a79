/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data: a worker that runs two tasks whose home is another rank, and the server
 * that sends for it and takes what comes: eki_data_begin() and
 * eki_carrier_end() (data/carrier.c) against eki_data_step() and
 * eki_data_take() (data/serve.c), and tell_data() (data/join.c), and what both
 * hold of buffers.c.
 *
 * LONG: a result needs more than one message.  TOLD: whoever looks for what
 * stands still keeps the server from being stepped once.
 *
 * Checked: a task is there before it is asked for, its input before it runs,
 * its result before that is sent; a place, and its buffer, is used again when
 * nobody else does; who has nothing under way sees its places free.
 */
#include "served.h"

#include "data/internal.h"

#ifdef LONG
#define VALUES 3
#else
#define VALUES 1
#endif

enum {
    TASKS = 2,
    BYTES = VALUES * sizeof(int64_t),
    WORDS = sizeof(struct eki_data_words),
    SLOT = 32, /* with a payload that nobody looks at */
    BUFFERS = 2 * TASKS,
    SENDS = 8
};

#ifdef GENMC
static void copy_slot(struct eki_slot *to, const struct eki_slot *from)
{
    to->function = from->function;
    to->flags = from->flags;
    to->id = from->id;
}

static void copy_words(struct eki_data_words *to,
                       const struct eki_data_words *from)
{
    to->id = from->id;
    to->total = from->total;
}

static void *copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes == SLOT)
        copy_slot(to, from);
    else if (bytes == WORDS)
        copy_words(to, from);
    else
        for (size_t i = 0; i < bytes / sizeof(int64_t); i++)
            ((int64_t *)to)[i] = ((const int64_t *)from)[i];
    return to;
}
#define memcpy(to, from, bytes) copy_bytes(to, from, bytes)
#define eki_slot_copy(to, from, bytes) copy_slot(to, from)
#endif

/* Worker i is of rank i, and has no other tasks. */
#define eki_topology_rank(topology, worker) (worker)
#define eki_local_free_top(local) ((local)->stack_bottom)

/* What eki_alloc_untouched() gives: a buffer begins a line behind its head. */
struct memory {
    _Alignas(EKI_LINE) unsigned char head[EKI_LINE];
    int64_t values[EKI_LINE / sizeof(int64_t)];
};
static struct memory memory[BUFFERS];
static int memory_count;
#define eki_alloc_untouched(bytes) ((void *)&memory[memory_count++])
#include "data/blocks.c"
#include "data/buffers.c"
#include "data/carrier.c"
#include "data/check.c"
#include "data/follow.c"
#include "data/homes.c"
#include "data/join.c"
#include "data/send.c"
#include "data/serve.c"
#include "engine/show.c"

static struct eki_data data;
static struct eki_carrier carrier;
static struct {
    struct eki_slot slot;
    unsigned char payload[SLOT - sizeof(struct eki_slot)];
} slots[EKI_DATA_OPS_MOST + 1], tasks[TASKS];
static ek_data_ops ops = {.struct_bytes = sizeof ops, .bytes_max = BYTES};
static _Atomic int64_t away_ns;
/* What is sent, each in memory of its own, because bodies differ. */
static struct {
    struct eki_message message;
    unsigned char body[64];
} sent[SENDS];
static int sends;
static struct {
    struct eki_message message;
    struct eki_data_words words;
    int64_t values[VALUES];
} input;
static struct eki_message answer;
static int runs[TASKS], results[TASKS]; /* of each */

/* The function has results, because it has this callback, which the home, not
 * this rank, would call. */
static void unpack_nothing(const ek_task *task, const void *buffer,
                           size_t bytes, void *context)
{
    (void)task, (void)buffer, (void)bytes, (void)context;
    assert(false);
}

static int64_t value_of(uint64_t id, int i)
{
    return 1 + (int64_t)(id % TASKS) * VALUES + i;
}

/* Give the server MESSAGE, whose head gets what all answers have. */
static void take_answer(struct eki_message *message, int kind)
{
    struct eki_head *head = &message->head;
    head->kind = (uint16_t)kind;
    head->source = OTHER;
    head->worker = 0;
    head->first = sent[sends].message.head.first;
    eki_data_take(&data.protocol, message, NOW);
}

static void give_input(const struct eki_slot *slot)
{
    input.message.head.count = BYTES;
    input.message.head.bytes = WORDS + BYTES;
    input.words.id = slot->id;
    input.words.total = BYTES;
    for (int i = 0; i < VALUES; i++)
        input.values[i] = value_of(slot->id, i);
    take_answer(&input.message, EKI_KIND_INPUT);
}

static void keep_result(const int64_t *values)
{
    int task = values[0] == -value_of(0, 0) ? 0 : 1;
    for (int i = 0; i < VALUES; i++)
        assert(values[i] == -value_of((uint64_t)task, i));
    results[task]++;
    take_answer(&answer, EKI_KIND_KEPT);
}

/* What the home does with what was sent. */
static void answer_sent(void)
{
    const struct eki_head *head = &sent[sends].message.head;
    unsigned char *body = sent[sends].message.body;
    if (head->kind == EKI_KIND_ASK)
        give_input((const struct eki_slot *)body);
    else if (head->detail == EKI_RESULT_LONG)
        take_answer(&answer, EKI_KIND_GIVE);
    else if (head->detail == EKI_RESULT_SHORT)
        keep_result((const int64_t *)(body + SLOT));
    else
        keep_result((const int64_t *)body);
}

static void serve(void)
{
    eki_data_step(&data.protocol, NOW);
    if (!served_has_sent)
        return;
    answer_sent();
    served_has_sent = false;
    served_buffer = &sent[++sends].message;
}

static void *serve_thrice(void *unused)
{
    (void)unused;
    serve();
#ifdef TOLD
    tell_data(&data.protocol, NOW, 0, NULL, 0);
#else
    serve();
#endif
    serve();
    return NULL;
}

static enum eki_data_begun begin(int task)
{
    struct eki_batch *batch = &served_worker.batch;
    /* relaxed: the worker's own. */
    atomic_store_explicit(&batch->current, &tasks[task].slot,
                          memory_order_relaxed);
    return eki_data_begin(&served_worker, NOW);
}

/* The task has its input, and leaves its result in its place. */
static void run(int task)
{
    int64_t *values = eki_data_object(&served_worker);
    for (int i = 0; i < VALUES; i++) {
        assert(values[i] == value_of((uint64_t)task, i));
        values[i] = -values[i];
    }
    runs[task]++;
    eki_carrier_end(&data.protocol, &served_worker);
}

/* Who may say that it is idle has nothing under way. */
static void look(void)
{
    if (eki_tickets_are_kept(&data.tickets, served_worker.here))
        return;
    for (int i = 0; i < EKI_DATA_OPS_MOST; i++)
        assert(eki_op_state(&carrier.ops[i]) == EKI_DATA_FREE);
}

static void *work(void *unused)
{
    (void)unused;
    for (int task = 0; task < TASKS; task++) {
        if (begin(task) == EKI_DATA_WAITS && begin(task) == EKI_DATA_WAITS)
            return NULL;
        run(task);
        look();
        /* The same place is next. */
        served_desk.begun += EKI_DATA_OPS_MOST - 1;
    }
    return NULL;
}

/* When the server has sent all, the home has the result of each task that has
 * run: none is under way. */
static void check(void)
{
    for (int i = 0; i < SENDS; i++)
        serve();
    assert(!eki_data_check(&served_engine));
    /* relaxed, all: all have ended. */
    assert(atomic_load_explicit(&served_desk.asked, memory_order_relaxed) == 0);
    assert(atomic_load_explicit(&served_desk.kept, memory_order_relaxed) == 0);
    for (int task = 0; task < TASKS; task++)
        assert(results[task] == runs[task]);
}

static void prepare(void)
{
    served_fabric.message_bytes =
        sizeof(struct eki_message) + SLOT + sizeof(int64_t);
    served_engine.slot_bytes = SLOT;
    served_engine.channels[EKI_CHANNEL_DATA] = &data.protocol;
    data.protocol.ops = &data_ops;
    data.protocol.engine = &served_engine;
    data.setup.has_bytes = true;
    data.carriers = &carrier;
    data.tickets.desks = &served_desk;
    data.tickets.workers = 1;
    data.tickets.places = EKI_DATA_OPS_MOST;
    data.ops = &ops;
    data.away_ns = &away_ns;
    data.op_room = 1;
    data.bytes_max = BYTES;
    data.part = data.home_part = 1 << 20;
    ops.unpack_result = unpack_nothing;
    carrier.slots = (unsigned char *)slots;
    for (int task = 0; task < TASKS; task++) {
        tasks[task].slot.id = eki_id(OTHER, (uint64_t)task);
        runs[task] = results[task] = 0;
    }
    served_buffer = &sent[sends = 0].message;
    carrier.data = &data;
    carrier.worker = &served_worker;
    clear_carrier(&carrier);
    eki_tickets_clear(&data.tickets);
}

int main(void)
{
    return served_run(prepare, work, serve_thrice, check);
}
