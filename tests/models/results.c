/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results: two ranks of a lone node, of which the first was idle and runs one
 * more task, whose result is under way: end_search() and eki_worker_wait() of
 * the first against is_finished() of the second.
 *
 * Checked: the second does not take the phase for over, because the first says
 * no more that it is idle.
 */
#define RANKS 2
#define WORKERS 2
#include "world.h"

#include "engine/step.c"

static struct eki_desk desks[1] = {{.kept = 1}};
static const struct eki_tickets kept = {.desks = desks};

static void *run_stolen(void *unused)
{
    struct ek_worker *worker = &world_workers[0];
    (void)unused;
    end_search(worker, 0);
    worker->executed++;
    assert(eki_worker_wait(worker, 0) == EKI_STEP_WAIT);
    return NULL;
}

static void *look_for_end(void *unused)
{
    struct ek_worker *worker = &world_workers[1];
    (void)unused;
    world_become_idle(worker);
    assert(!is_finished(worker));
    return NULL;
}

/* The second has counted a seed, which the first has got while it was idle. */
static void prepare(void)
{
    struct eki_local *local = &world_workers[1].local;
    world_seed(&world_workers[1]);
    world_enter(&world_engines[0], 1);
    world_enter(&world_engines[1], 1);
    local->seed_top = local->seed_base;
    world_engines[0].kept = &kept;
    world_become_idle(&world_workers[0]);
    world_workers[0].search.is_idle = true;
}

static void check(void)
{
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 2, {run_stolen, look_for_end}};
    return world_run_program(&program);
}
