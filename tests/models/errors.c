/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors: two ranks of a lone node, of which the first makes the phase an
 * error: eki_set_error(), eki_engine_fail() and the signatures against
 * is_finished() and eki_engine_leave().
 *
 * OF_TASK: a task of it fails.  OF_RANK: it has no task, and fails after it has
 * entered.  OF_SERVER: its server fails while its worker is idle.  Else the
 * ranks differ in their signatures.
 *
 * Checked: whoever ends returns the error, but that of a server, which nobody
 * waits for; an error that is seen is filled.
 */
#define RANKS 2
#define WORKERS 2
#include "world.h"

#if defined(OF_TASK)
#define EXPECTED EK_ERR_TASK
#elif defined(OF_RANK) || defined(OF_SERVER)
#define EXPECTED EK_ERR_FILE
#else
#define EXPECTED EK_ERR_ARG
#define DIFFER
#endif

static void end(struct eki_engine *engine)
{
    struct eki_error error;
    error.status = EK_OK;
    world_become_idle(engine->workers[0]);
    if (!is_finished(engine->workers[0]))
        return;
    eki_engine_leave(engine, &error);
#ifdef OF_SERVER
    assert(error.status == EK_OK || error.status == EXPECTED);
#else
    assert(error.status == EXPECTED);
#endif
}

static void *fail(void *unused)
{
    struct eki_engine *engine = &world_engines[0];
    (void)unused;
#ifndef OF_SERVER
    world_enter(engine, 1);
#endif
#ifdef OF_TASK
    world_run_all(engine->workers[0]);
    eki_set_error(engine->workers[0], EK_ERR_TASK, 0, "");
#elif !defined(DIFFER)
    eki_engine_fail(engine, EK_ERR_FILE, "");
#endif
#ifndef OF_SERVER
    end(engine);
#endif
    return NULL;
}

static void *agree(void *unused)
{
    struct eki_engine *engine = &world_engines[1];
    (void)unused;
#ifdef DIFFER
    world_enter(engine, 2);
#else
    world_enter(engine, 1);
#endif
    world_run_all(engine->workers[0]);
    end(engine);
    return NULL;
}

static void prepare(void)
{
#ifdef OF_TASK
    world_seed(&world_workers[0]);
#endif
    world_seed(&world_workers[1]);
#ifdef OF_SERVER
    world_enter(&world_engines[0], 1);
    world_become_idle(&world_workers[0]);
#endif
}

static void check(void)
{
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 2, {fail, agree}};
    return world_run_program(&program);
}
