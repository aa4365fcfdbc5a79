/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of the simulator: tasks that take the time that the workload
 * says, which get tiles, have data, or spawn others.
 */
#include "simulation.h"

#include "curve.h"
#include "data.h"
#include "engine/offers.h"
#include "jitter.h"
#include "loads.h"
#include "payload.h"
#include "tiles.h"
#include "unfold.h"

#include <stdlib.h>
#include <string.h>

void step_workload(const struct run *run, int iteration)
{
    struct workload *workload = run->workload;
    int64_t sum = 0, longest = 0;
    workload_step(workload, run->source, iteration);
    for (int64_t k = 0; k < workload->count; k++) {
        int64_t ns = task_ns(workload, k);
        sum += ns;
        longest = ns > longest ? ns : longest;
    }
    workload->sum_s = (double)sum * 1e-9;
    if (!workload_spawns(workload))
        workload->longest_s = (double)longest * 1e-9;
}

/* Where task K starts. */
static int start_of(const struct simulation *simulation, int64_t k)
{
    const struct run *run = simulation->run;
    int64_t workers = run->workers;
    switch (run->start) {
    case START_RECORD:
        return (int)(run->workload->ran_on[k] % workers);
    case START_DEALT:
        return (int)(k % workers);
    case START_OWNER:
        return tiles_owner(simulation->tiles, k);
    default:
        /* Worker w has the tasks from w * seeds / workers on. */
        return (int)(((__int128)(k + 1) * workers - 1) / run->workload->seeds);
    }
}

/* Room for just what each worker starts with. */
static bool reserve_tasks(struct simulation *simulation)
{
    const struct run *run = simulation->run;
    int64_t *counts = allocate((size_t)run->workers, sizeof *counts);
    bool is_good = true;
    for (int64_t k = 0; k < run->workload->seeds; k++)
        counts[start_of(simulation, k)]++;
    for (int w = 0; is_good && w < run->workers; w++)
        is_good = eki_local_seeds_reserve(
            &simulation->sim->workers[w].worker->local, counts[w]);
    free(counts);
    return is_good;
}

/* What an earlier run says of task K, which SLOT is on worker W. */
static void hint_task(struct simulation *simulation, int64_t k, int64_t *load,
                      struct eki_slot *slot)
{
    int64_t ns = task_ns(simulation->run->hints, k);
    slot->bin = eki_bin_of((uint64_t)ns);
    slot->deviation = 0;
    *load += ns;
    eki_load_add(
        &simulation->load,
        &(struct eki_load){(uint64_t)ns, (uint64_t)*load, (uint64_t)ns});
}

/* Whether task K stays on its rank: the same ones in each mode. */
static bool is_pinned(const struct run *run, int64_t k)
{
    return run->arguments->pinned > 0 &&
           eki_hash((uint64_t)run->source->seed, (uint64_t)k) % 100 <
               (uint64_t)run->arguments->pinned;
}

bool tasks_add(struct simulation *simulation)
{
    const struct workload *workload = simulation->run->workload;
    if (simulation->run->unfold)
        return unfold_add(simulation->run->unfold, simulation->sim);
    for (int64_t k = 0; k < workload->count; k++)
        simulation->expected += eki_hash(0, (uint64_t)k);
    if (simulation->mode->has_nulls)
        return true; /* ranges, whenever a rank enters */
    if (!reserve_tasks(simulation))
        return false;
    int64_t *loads = allocate((size_t)simulation->run->workers, sizeof *loads);
    for (int64_t k = 0; k < workload->seeds; k++) {
        struct payload payload = {k, task_ns(workload, k)};
        int w = start_of(simulation, k);
        struct ek_worker *worker = simulation->sim->workers[w].worker;
        struct eki_slot *slot = is_pinned(simulation->run, k)
                                    ? eki_pinned_new(&worker->engine->pinned)
                                    : eki_local_add_seed(&worker->local);
        if (!slot) {
            free(loads);
            return false;
        }
        eki_slot_head(slot, data_has(simulation->run, k) ? DATA_FUNCTION : 0,
                      sizeof payload, EKI_SLOT_SEED, eki_id(w, (uint64_t)k));
        memcpy(slot->payload, &payload, sizeof payload);
        if (simulation->run->hints)
            hint_task(simulation, k, &loads[w], slot);
    }
    free(loads);
    return true;
}

static int node_of(const struct eki_sim_worker *worker)
{
    return worker->rank->topology.node;
}

/* Task K of the workload begins. */
static void count_task(struct simulation *simulation, int64_t k)
{
    simulation->started++;
    simulation->sum += eki_hash(0, (uint64_t)k);
}

int64_t tasks_started(const struct simulation *simulation)
{
    const struct unfold *unfold = simulation->run->unfold;
    return unfold ? unfold_sums(unfold)->tasks : simulation->started;
}

int64_t tasks_expected(const struct simulation *simulation)
{
    const struct unfold *unfold = simulation->run->unfold;
    return unfold ? 1 + unfold_sums(unfold)->spawned
                  : simulation->run->workload->count;
}

/* What a worker begins: a task of the workload, or null ones (TASK < 0); below
 * 0 ns: nothing. */
struct begun {
    int64_t task;
    double ns;
};

static struct begun begin_index(struct simulation *simulation,
                                struct eki_sim_worker *worker)
{
    struct begun begun = {-1, -1};
    int64_t k;
    if (nulls_begin(&simulation->nulls, worker, &k, &begun.ns) != NULLS_TASK)
        return begun;
    return (struct begun){k, (double)task_ns(simulation->run->workload, k)};
}

static struct begun begin_task(struct simulation *simulation,
                               const struct eki_sim_worker *worker)
{
    const struct workload *workload = simulation->run->workload;
    const struct eki_slot *slot = eki_worker_current(worker->worker);
    if (EKI_UNLIKELY(nulls_is_index(slot))) {
        int64_t k = nulls_begin_index(&simulation->nulls, worker->worker);
        return (struct begun){k, k < 0 ? simulation->nulls.ns
                                       : (double)task_ns(workload, k)};
    }
    struct payload payload = payload_of(slot);
    return (struct begun){payload.index,
                          (double)payload_ns(workload, &payload)};
}

/* Compute for NS, LATER nanoseconds from now, WORK of them a task's: how long
 * that takes. */
static uint64_t compute(struct simulation *simulation,
                        const struct eki_sim_worker *worker, uint64_t later,
                        double ns, double work)
{
    const struct eki_sim *sim = simulation->sim;
    const struct run *run = simulation->run;
    ptrdiff_t number = worker - sim->workers;
    uint64_t now = sim->now + worker->ahead_ns + later;
    uint64_t begin = now - simulation->entered_ns;
    uint64_t took = jitter_ns(simulation->jitter, number, now,
                              (uint64_t)(ns * run->slowness[node_of(worker)]));
    if (run->curve)
        curve_add(run->curve, begin, begin + took, work);
    if (run->loads)
        loads_add(run->loads, number, (double)took);
    return took;
}

/* A task that uses tiles begins, or goes on. */
EKI_COLD static uint64_t run_fetching(struct simulation *simulation,
                                      struct eki_sim_worker *worker)
{
    struct tiles_time time;
    enum tiles_step step = tiles_go_on(simulation->tiles, worker, &time);
    if (step != TILES_TAKES)
        return step == TILES_WAITS ? EKI_SIM_WAITS_FOR_TILES : EKI_SIM_ENDS_NOW;
    uint64_t copy_ns = (uint64_t)time.copy_ns;
    return time.work_ns < 0 ? copy_ns
                            : copy_ns + compute(simulation, worker, copy_ns,
                                                time.work_ns, time.work_ns);
}

/* A task has what it needs to run. */
static uint64_t start(struct simulation *simulation,
                      struct eki_sim_worker *worker, const struct begun *begun)
{
    if (begun->task < 0 || !simulation->tiles)
        return compute(simulation, worker, 0, begun->ns,
                       begun->task < 0 ? 0 : begun->ns);
    tiles_begin(simulation->tiles, worker, begun->task, begun->ns);
    return run_fetching(simulation, worker);
}

/* A task with data begins, or looks whether its input has come. */
EKI_COLD static uint64_t run_traveling(struct simulation *simulation,
                                       struct eki_sim_worker *worker,
                                       const struct begun *begun, bool begins)
{
    double copy_ns;
    if (!data_begin(simulation->data, worker, begun->task, &copy_ns))
        return begins ? 1 : EKI_SIM_WAITS_FOR_TILES;
    return (uint64_t)copy_ns + start(simulation, worker, begun);
}

/* A task that has begun goes on: it waits for its data, or uses tiles. */
static uint64_t go_on(struct simulation *simulation,
                      struct eki_sim_worker *worker)
{
    if (EKI_UNLIKELY(simulation->data != NULL) &&
        data_is_waiting(simulation->data, worker)) {
        struct begun begun = begin_task(simulation, worker);
        return run_traveling(simulation, worker, &begun, false);
    }
    return simulation->tiles && tiles_is_on(simulation->tiles, worker)
               ? run_fetching(simulation, worker)
               : EKI_SIM_ENDS_NOW;
}

/* A task of a tree begins, or ends and spawns. */
static uint64_t run_unfolding(struct simulation *simulation,
                              struct eki_sim_worker *worker, bool begins)
{
    struct unfold *unfold = simulation->run->unfold;
    if (begins) {
        double ns = unfold_visit(unfold, worker);
        return compute(simulation, worker, 0, ns, ns);
    }
    simulation->is_memory_out |= !unfold_end(unfold, worker);
    return EKI_SIM_ENDS_NOW;
}

/* A task of a record has ended: the worker has what it spawned. */
static void spawn_children(struct simulation *simulation,
                           struct eki_sim_worker *worker)
{
    const struct workload *workload = simulation->run->workload;
    int64_t k = payload_of(eki_worker_current(worker->worker)).index;
    const int64_t *first = workload->spawned.first_child + k;
    for (int64_t child = first[0]; child < first[1]; child++) {
        struct payload payload = {child, task_ns(workload, child)};
        simulation->is_memory_out |= !eki_sim_spawn(
            worker, data_has(simulation->run, child) ? DATA_FUNCTION : 0,
            &payload, sizeof payload, 0);
    }
}

uint64_t tasks_run(void *context, struct eki_sim_worker *worker, bool begins)
{
    struct simulation *simulation = context;
    if (simulation->run->unfold)
        return run_unfolding(simulation, worker, begins);
    if (!begins) {
        uint64_t ns = go_on(simulation, worker);
        if (ns == EKI_SIM_ENDS_NOW &&
            workload_spawns(simulation->run->workload))
            spawn_children(simulation, worker);
        return ns;
    }
    struct begun begun = worker->is_index ? begin_index(simulation, worker)
                                          : begin_task(simulation, worker);
    if (begun.ns < 0)
        return EKI_SIM_ENDS_NOW;
    if (begun.task >= 0)
        count_task(simulation, begun.task);
    return simulation->data && !worker->is_index &&
                   data_has(simulation->run, begun.task)
               ? run_traveling(simulation, worker, &begun, true)
               : start(simulation, worker, &begun);
}
