/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers: a server that is brought two stolen tasks for a worker which waits,
 * has tasks and waits again: eki_server_bring() against eki_worker_shut(),
 * take_box() and claim_brought() of that worker and of another one.
 *
 * Checked: a task is filled, and taken once, from the box or from what the
 * server shows.
 */
#define RANKS 1
#define WORKERS 2
#define NODES 2
#include "world.h"

enum {
    TASKS = 2
};

static struct {
    struct eki_message message;
    struct eki_slot slot;
} arrived[TASKS];

static void prepare(void)
{
    for (int i = 0; i < TASKS; i++) {
        arrived[i].message.head.count = 1;
        arrived[i].slot.id = (uint64_t)i;
    }
    world_enter(&world_engines[0], 1);
    for (int w = 0; w < WORKERS; w++)
        eki_worker_arrive(&world_workers[w], 0);
}

static void *bring(void *unused)
{
    (void)unused;
    for (int i = 0; i < TASKS; i++)
        eki_server_bring(&world_engines[0], &world_workers[0],
                         &arrived[i].message, 0);
    return NULL;
}

static void take_brought(struct ek_worker *worker)
{
    if (claim_brought(worker, 0))
        finish_steal(worker);
    worker->search.steal_from = -1;
    world_run_all(worker);
}

static void *wait_for_answers(void *unused)
{
    struct ek_worker *worker = &world_workers[0];
    (void)unused;
    eki_worker_become_idle(worker, 0);
    take_box(worker, worker, &worker->answers);
    /* As in end_search(). */
    eki_worker_shut(worker);
    take_brought(worker);
    return NULL;
}

static void *claim_others(void *unused)
{
    (void)unused;
    take_brought(&world_workers[1]);
    return NULL;
}

static void check(void)
{
    struct ek_worker *worker = &world_workers[0];
    take_box(worker, worker, &worker->answers);
    for (int i = 0; i < TASKS; i++)
        take_brought(worker);
    for (int i = 0; i < TASKS; i++)
        assert(world_runs[i] == 1);
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 3, {bring, wait_for_answers, claim_others}};
    return world_run_program(&program);
}
