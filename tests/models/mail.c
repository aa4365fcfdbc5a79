/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mail: the first of two ranks of a lone node has tasks that travel:
 * eki_engine_enter() against eki_worker_wait() of the other one, which does not
 * step its server else.
 *
 * Checked: who has seen the first one in the phase steps its server.
 */
#define RANKS 2
#define WORKERS 2
#include "world.h"

static bool travel(struct eki_protocol *protocol, const struct eki_phase *phase,
                   uint64_t now)
{
    (void)protocol, (void)phase, (void)now;
    return true;
}

static const struct eki_protocol_ops travels = {.enter = travel};
static struct eki_protocol protocol = {.ops = &travels};
static struct eki_fabric fabric;

static void *enter_first(void *unused)
{
    (void)unused;
    world_enter(&world_engines[0], 1);
    return NULL;
}

static void *wait_for_mail(void *unused)
{
    struct eki_engine *engine = &world_engines[1];
    struct ek_worker *worker = engine->workers[0];
    (void)unused;
    world_enter(engine, 1);
    if (!eki_is_set(&world_segment.workers[0].phase, 1))
        return NULL;
    eki_worker_wait(worker, 0);
    /* relaxed: of this rank alone. */
    assert(atomic_load_explicit(&engine->messages, memory_order_relaxed));
    return NULL;
}

static void prepare(void)
{
    world_engines[0].protocols[0] = &protocol;
    world_engines[0].protocol_count = 1;
    world_engines[0].exchange.fabric = world_engines[1].exchange.fabric =
        &fabric;
}

static void check(void)
{
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 2, {enter_first, wait_for_mail}};
    return world_run_program(&program);
}
