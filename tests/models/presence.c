/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence: a worker whose thread comes at any time, and two that stand in for
 * it until then: eki_worker_arrive() against take_absent().
 *
 * DEQUE: it has published before, so that a third of the tasks can be stolen
 * meanwhile.  STOPPED: the phase is stopped, so that who stands in cancels.
 * AWAITED: its thread is on its way, and nobody stands in.  GIVEN_UP: then no
 * thread comes, and all do.
 *
 * Checked: its local part, which is plain memory, is touched by one at a time,
 * and every task runs, or is cancelled, once.
 */
#define RANKS 1
#define WORKERS 3
#include "world.h"

#ifndef SEEDS
#define SEEDS 3
#endif

enum {
    LATE = WORKERS - 1
};

static struct eki_victim nobody(struct eki_thief *thief)
{
    (void)thief;
    return EKI_VICTIM_NONE;
}

static void prepare(void)
{
    static const struct eki_scheme scheme = {
        .victims = nobody, .detectors = 1 << EKI_DETECTOR_COUNTING};
    struct eki_phase phase = {.kind = EKI_PHASE_PROCESS};
#if defined(AWAITED) || defined(GIVEN_UP)
    phase.has_threads = true;
#endif
    for (int i = 0; i < SEEDS; i++)
        world_seed(&world_workers[LATE]);
#ifdef DEQUE
    phase.scheme = &scheme;
#endif
    (void)scheme;
    eki_engine_enter(&world_engines[0], &phase, 0);
    for (int i = 0; i < LATE; i++)
        eki_worker_arrive(&world_workers[i], 0);
#ifdef STOPPED
    eki_set_stop(&world_engines[0]);
#endif
}

/* What is here runs, or is cancelled. */
static void use(struct ek_worker *worker)
{
#ifdef STOPPED
    eki_worker_cancel(worker, &worker->counts);
#else
    world_run_all(worker);
#endif
}

static void *come_late(void *unused)
{
    struct ek_worker *late = &world_workers[LATE];
    (void)unused;
#ifdef GIVEN_UP
    eki_worker_give_up(late);
    return NULL;
#endif
    eki_worker_arrive(late, 0);
#ifdef AWAITED
    assert(eki_local_count(&late->local) == SEEDS);
#endif
    use(late);
#ifdef DEQUE
    while (take_own(late))
        use(late);
#endif
    return NULL;
}

static void *help(void *unused)
{
    struct ek_worker *worker = &world_workers[0];
    (void)unused;
    for (int i = 0; i < 2; i++) {
        if (take_absent(worker, 0))
            use(worker);
    }
    return NULL;
}

static void *help_or_steal(void *unused)
{
    struct ek_worker *worker = &world_workers[1];
    (void)unused;
#ifdef DEQUE
    probe(worker, LATE, 0);
    if (worker->search.steal_from >= 0)
        finish_steal(worker);
#endif
    if (take_absent(worker, 0))
        use(worker);
    use(worker);
    return NULL;
}

static void check(void)
{
    uint64_t executed = 0;
    while (take_absent(&world_workers[0], 0))
        use(&world_workers[0]);
    for (int i = 0; i < WORKERS; i++)
        executed += world_workers[i].executed;
    assert(executed == SEEDS);
    for (int i = 0; i < SEEDS; i++) {
#ifdef STOPPED
        assert(world_runs[i] == 0);
#else
        assert(world_runs[i] == 1);
#endif
    }
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 3, {come_late, help, help_or_steal}};
    return world_run_program(&program);
}
