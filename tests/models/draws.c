/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * draws: a worker of another node that draws the seeds of rank 0, and its
 * server, which asks for the numbers and fetches the seeds: seek_counter()
 * against send_wants() and what take_answer() does (protocol/counter.c).
 *
 * NEAR: the worker is on the node of rank 0, and draws itself.  CHUNK: numbers
 * of one draw.  STOCK: draws are guided, and the server fills a stock: what
 * eki_stock_take() and eki_stock_step() do (protocol/stock.c).  With a CHUNK of
 * 3 a slot of the stock is used twice.
 *
 * Checked: the table, a number or a seed is there before the worker uses it, a
 * wish before the server sends it; every wish is sent once, every seed runs
 * once.
 */
#define RANKS 1
#define WORKERS 1
#ifndef NEAR
#define NODES 2
#endif
#ifndef CHUNK
#define CHUNK 1
#endif
#ifdef STOCK
#define PHASE_CHUNK EKI_CHUNK_GUIDED
#define PHASE_GUIDED 1
#else
#define PHASE_CHUNK CHUNK
#define PHASE_GUIDED 0
#endif
#define WORLD_PROTOCOL
#include "world.h"

/* Two buffers of a message. */
static struct eki_slot copies[2][CHUNK > 2 ? CHUNK : 2];
#define eki_alloc_untouched(bytes) \
    (assert((bytes) == sizeof copies), (void *)copies)
#include "exchange/exchange.c"
#include "protocol/copies.c"
#include "protocol/counter.c"
#include "protocol/drawer.c"
#include "protocol/numbers.c"
#include "protocol/stock.c"
#include "protocol/table.c"

enum {
    HOLDER, /* rank 0, whom the server plays, too */
    HERE,
    SIZE,
    SEEDS = CHUNK > 2 ? CHUNK : 2, /* a message brings all */
    SERVED = SEEDS + PHASE_GUIDED  /* the last step fills the stock */
};

static struct {
    struct eki_message message;
    struct eki_slot slots[SEEDS];
} sent, answer;
static bool has_sent;

static struct eki_message *reserve_buffer(struct eki_fabric *fabric)
{
    (void)fabric;
    return has_sent ? NULL : &sent.message;
}

static void keep_sent(struct eki_fabric *fabric, struct eki_message *message,
                      int rank)
{
    (void)fabric, (void)message;
    assert(rank == HOLDER);
    has_sent = true;
}

static const struct eki_fabric_ops ops = {.reserve = reserve_buffer,
                                          .post = keep_sent};
static struct eki_fabric fabric = {.ops = &ops, .message_bytes = sizeof sent};
static int nodes[SIZE] = {0, NODES - 1};
static int first_worker[SIZE + 1] = {0, 0, WORKERS};
static struct eki_seeds table[SIZE + 1];
static int64_t starts[WORKERS + 1];
static struct eki_drawer drawer;
static struct eki_counter counter = {
    .table = table, .starts = starts, .drawers = &drawer};
static int64_t next; /* number */

static void prepare(void)
{
    struct eki_engine *engine = &world_engines[0];
    struct eki_topology *topology = &world_topology[0];
    topology->rank = HERE;
    topology->node = nodes[HERE];
    topology->size = SIZE;
    topology->node_of_rank = nodes;
    topology->first_worker = first_worker;
    engine->exchange.fabric = &fabric;
    engine->exchange.topology = topology;
    engine->function_count = 1;
    counter.protocol.engine = engine;
    engine->elsewhere = &counter.protocol;
    next = 0;
    has_sent = false;
    engine->capacity = 1; /* the stock has two slots */
    engine->phase = 1;    /* words are 0 before */
    /* relaxed: nobody is about. */
    atomic_store_explicit(&world_workers[0].words->phase, 1,
                          memory_order_relaxed);
    enter_counter(&counter.protocol, &(struct eki_phase){.chunk = PHASE_CHUNK},
                  0);
}

/* What rank 0 tells when it has heard of all seeds. */
static void hear_table(void)
{
    for (int r = 0; r <= SIZE; r++) {
        table[r].first = r == HOLDER ? 0 : SEEDS;
        table[r].function = -1;
    }
    set_ready(&counter);
}

static void answer_fetch(void)
{
    struct eki_head *head = &answer.message.head;
    int64_t first = sent.message.head.first;
    head->count = SEEDS - first;
    head->bytes = head->count * SLOT;
    for (int64_t i = 0; i < head->count; i++)
        answer.slots[i].id = (uint64_t)(first + i);
    bool kept = eki_copies_keep(&counter, 0, &answer.message);
    assert(kept);
    eki_drawer_set_fetch(&drawer, EKI_FETCH_HERE);
}

static void serve(void)
{
    send_wants(&counter);
    if (eki_stock_step(&counter))
        send_wants(&counter);
    if (!has_sent)
        return;
    has_sent = false;
    if (sent.message.head.kind == EKI_KIND_DRAW) {
        drawer.end = next + CHUNK;
        eki_drawer_set_number(&drawer, next, EKI_DRAW_NUMBER);
        next += CHUNK;
    } else {
        answer_fetch();
    }
}

/* True: it has a task. */
static bool draw(void)
{
    struct ek_worker *worker = &world_workers[0];
    if (seek_counter(&counter.protocol, worker, NULL, 0) != EKI_SOUGHT_FOUND)
        return false;
    world_run_all(worker);
    return true;
}

static void *step_server(void *unused)
{
    (void)unused;
    hear_table();
    for (int i = 0; i < SERVED; i++)
        serve();
    return NULL;
}

static void *step_worker(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        draw();
    return NULL;
}

static void check(void)
{
    /* To ask, to fetch and to copy takes one look each. */
    for (int i = 0; i < 3 * (SEEDS + 1); i++) {
        draw();
        serve();
    }
    /* relaxed, both: all have ended. */
    assert(atomic_load_explicit(&drawer.state, memory_order_relaxed) ==
           EKI_DRAW_OVER);
    assert(atomic_load_explicit(&counter.wants, memory_order_relaxed) == 0);
    for (int i = 0; i < SEEDS; i++)
        assert(world_runs[i] == 1);
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 2, {step_server, step_worker}};
    return world_run_program(&program);
}
