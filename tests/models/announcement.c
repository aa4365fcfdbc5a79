/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * announcement: how the ranks of a node learn of the end of a phase between
 * nodes: apply_verdict() of its lowest rank's server against is_finished() and
 * eki_engine_leave() of all, in two phases.  The node is alone in the tree.
 *
 * Checked: who has heard of the end sees what every task has done, and the
 * error of this phase and no other.
 */
#define RANKS 2
#define WORKERS 2
#define NODES 2
#include "world.h"

#ifndef PHASES
#define PHASES 2
#endif

static int results[PHASES + 1][RANKS]; /* of a task of each */

/* A verdict that all nodes have agreed on, as pass_verdict() has it. */
static void announce(struct eki_engine *engine)
{
    struct eki_vote vote;
    if (!node_vote(engine, &vote, 0))
        return;
    engine->waves.verdict.wave = EKI_WAVE_DONE;
    engine->waves.verdict.error.status = -(int)engine->phase;
    apply_verdict(engine, 0);
}

/* One phase of a rank; false: it has not heard of its end. */
static bool live(struct eki_engine *engine, int rank, int phase)
{
    struct ek_worker *worker = engine->workers[0];
    struct eki_error error;
    world_enter(engine, 1);
    results[phase][rank]++;
    worker->executed++;
    world_become_idle(worker);
    if (rank == 0)
        announce(engine);
    if (!is_finished(worker))
        return false;
    for (int i = 0; i < RANKS; i++)
        assert(results[phase][i] == 1);
    eki_engine_leave(engine, &error);
    assert(error.status == -phase);
    return true;
}

static void *first(void *unused)
{
    (void)unused;
    for (int phase = 1; phase <= PHASES; phase++) {
        if (!live(&world_engines[0], 0, phase))
            break;
    }
    return NULL;
}

static void *second(void *unused)
{
    (void)unused;
    for (int phase = 1; phase <= PHASES; phase++) {
        if (!live(&world_engines[1], 1, phase))
            break;
    }
    return NULL;
}

static void prepare(void)
{
    for (int phase = 1; phase <= PHASES; phase++) {
        for (int i = 0; i < RANKS; i++)
            results[phase][i] = 0;
    }
}

static void check(void)
{
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 2, {first, second}};
    return world_run_program(&program);
}
