/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inbox: a server that brings two chunks to a worker: eki_server_deliver()
 * against take_box() and eki_worker_note_idle() of the worker, and of one
 * that stands in for it until its thread comes.
 *
 * NO_ROOM: the worker finds no memory for the first chunk, and puts all back.
 *
 * Checked: a chunk is filled, and taken once; when all were taken the worker is
 * idle, because it says so after each.
 */
#define RANKS 1
#define WORKERS 2
#include "world.h"

enum {
    CHUNKS = 2,
    LATE = 1
};

static struct {
    struct eki_message message;
    struct eki_slot slot;
} arrived[CHUNKS];

static void prepare(void)
{
    for (int i = 0; i < CHUNKS; i++) {
        arrived[i].message.head.count = 1;
        arrived[i].slot.id = (uint64_t)i;
    }
    world_enter(&world_engines[0], 1);
    eki_worker_arrive(&world_workers[0], 0);
}

static void *deliver(void *unused)
{
    (void)unused;
    for (int i = 0; i < CHUNKS; i++)
        eki_server_deliver(&world_engines[0], &world_workers[LATE],
                           &arrived[i].message);
    return NULL;
}

static void look(struct ek_worker *worker)
{
    if (take_box(worker, worker, &worker->inbox))
        world_run_all(worker);
    eki_worker_note_idle(worker);
}

static void *work(void *unused)
{
    struct ek_worker *worker = &world_workers[LATE];
    (void)unused;
    eki_worker_arrive(worker, 0);
#ifdef NO_ROOM
    unsigned char *limit = worker->local.stack_limit;
    worker->local.stack_limit = worker->local.stack;
    take_box(worker, worker, &worker->inbox);
    worker->local.stack_limit = limit;
#endif
    look(worker);
    look(worker);
    return NULL;
}

static void *stand_in_once(void *unused)
{
    (void)unused;
    if (take_absent(&world_workers[0], 0))
        world_run_all(&world_workers[0]);
    return NULL;
}

static void check(void)
{
    struct ek_worker *worker = &world_workers[LATE];
    /* relaxed: all have ended. */
    struct eki_chunk *chunk =
        atomic_load_explicit(&worker->inbox, memory_order_relaxed);
    assert(chunk || eki_is_set(&worker->words->idle, 1));
    for (; chunk; chunk = chunk->next)
        world_run((const struct eki_slot *)chunk->slots);
    for (int i = 0; i < CHUNKS; i++)
        assert(world_runs[i] == 1);
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 3, {deliver, work, stand_in_once}};
    return world_run_program(&program);
}
