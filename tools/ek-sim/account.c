/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an iteration comes to: its row, in which sums grow while ranks leave,
 * and become means and shares when the last one has.
 */
#include "simulation.h"

#include "curve.h"
#include "data.h"
#include "loads.h"
#include "tiles.h"
#include "timelines.h"
#include "unfold.h"

#include <math.h>

double ideal_s(const struct run *run)
{
    return run->workload->sum_s / run->speed;
}

double bound_s(const struct run *run)
{
    double least = run->slowness[0];
    for (int node = 1; node < run->nodes; node++)
        least = fmin(least, run->slowness[node]);
    return fmax(ideal_s(run), run->workload->longest_s * least);
}

static struct row *row_of(struct simulation *simulation)
{
    return simulation->iteration < 0 ? &simulation->before
                                     : &simulation->rows[simulation->iteration];
}

static double *values_of(struct simulation *simulation)
{
    return row_of(simulation)->values;
}

void account_enter(void *context, struct eki_sim_rank *rank)
{
    struct simulation *simulation = context;
    const struct run *run = simulation->run;
    if (simulation->timelines)
        timelines_enter(simulation->timelines, rank);
    if (simulation->inside++ > 0)
        return;
    eki_course_begin(&simulation->plan.course);
    if (has_nulls_now(simulation))
        simulation->is_memory_out |=
            !nulls_add(&simulation->nulls, simulation->sim);
    if (simulation->tiles)
        tiles_forget(simulation->tiles);
    simulation->rows[simulation->iteration] = (struct row){
        .mode = simulation->mode, .iteration = simulation->iteration + 1};
    simulation->entered_ns = simulation->sim->now;
    simulation->started = 0;
    simulation->sum = 0;
    simulation->server_ns = 0;
    simulation->tile_gets = 0;
    simulation->nulls.executed = 0;
    simulation->nulls.sum = 0;
    step_workload(run, simulation->iteration);
    if (run->unfold)
        unfold_begin(run->unfold);
    if (run->curve)
        curve_begin(run->curve);
    if (run->loads)
        loads_begin(run->loads, run, simulation->sim);
}

/* The sum, with that of the squares in the field that follows. */
static void add_moment(double *values, enum field field, double value)
{
    values[field] += value;
    values[field + 1] += value * value;
}

/* These become mean and deviation over N workers. */
static void end_moment(double *values, enum field field, int n)
{
    double mean = values[field] / n;
    double variance = values[field + 1] / n - mean * mean;
    values[field] = mean;
    values[field + 1] = sqrt(fmax(variance, 0));
}

static void count_worker(struct simulation *simulation,
                         struct eki_sim_worker *worker)
{
    const struct eki_counts *counts = &worker->worker->counts;
    double *values = values_of(simulation);
    double deepest =
        (double)(counts->deepest_bytes / worker->worker->engine->slot_bytes);
    add_moment(values, FIELD_TRIES, (double)(counts->tries + worker->drawn));
    add_moment(values, FIELD_STEALS, (double)counts->steals);
    add_moment(values, FIELD_WORKER_TASKS, (double)counts->tasks);
    row_of(simulation)->inside_s +=
        (double)(counts->done_ns - counts->first_ns) * 1e-9;
    values[FIELD_STOLEN] += (double)counts->stolen;
    values[FIELD_WORK] += (double)counts->work_ns;
    values[FIELD_SEARCH] += (double)counts->search_ns;
    values[FIELD_END] += (double)counts->end_ns;
    values[FIELD_STEALING] += (double)counts->stealing_ns;
    values[FIELD_DEEPEST] = fmax(values[FIELD_DEEPEST], deepest);
    values[FIELD_FIRST_STEALS] += counts->first_steal_ns != 0;
    values[FIELD_FIRST_STEAL] += (double)counts->first_steal_ns * 1e-9;
    values[FIELD_FIRST_STEAL_MOST] = fmax(
        values[FIELD_FIRST_STEAL_MOST], (double)counts->first_steal_ns * 1e-9);
    if (!simulation->tiles)
        return;
    simulation->tile_gets += (double)counts->tile_gets;
    values[FIELD_TILE_BYTES] += (double)counts->tile_bytes;
    values[FIELD_CACHED] += (double)counts->tile_hits;
    values[FIELD_TILE_WAIT] += (double)worker->halted_ns;
    worker->halted_ns = 0;
}

/* What came of looking for work by nodes. */
static void count_sought(double *values, const struct eki_node_counts *sought)
{
    values[FIELD_LOADS_READ] += (double)sought->loads_read;
    values[FIELD_OCCUPIED] += (double)sought->occupied;
    values[FIELD_DENIED] += (double)sought->denied;
    for (int i = 0; i < EKI_SEARCH_VICTIMS; i++)
        values[FIELD_SEARCHES_1 + i] += (double)sought->searches[i];
    values[FIELD_GRANTS] += (double)sought->grants;
    values[FIELD_CYCLIC] += (double)sought->cyclic;
}

/* What went between nodes; who is drawn to ask in vain is denied. */
static void count_across(double *values, const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    double drawn = 0;
    for (int w = 0; w < rank->topology.workers_here; w++)
        drawn += rank->workers[w].drawn_across;
    values[FIELD_IN_VAIN] += (double)engine->in_vain + drawn;
    values[FIELD_MESSAGES] += (double)engine->exchange.across + 2 * drawn;
    count_sought(values, &engine->sought);
}

/* Bytes that have travelled with tasks since the last call. */
static double take_carried(struct simulation *simulation)
{
    int64_t before = simulation->carried;
    simulation->carried = simulation->sim->carried;
    return (double)(simulation->carried - before);
}

/* What the tasks of a tree come to is known when all have run. */
static void take_tree(struct simulation *simulation)
{
    const struct unfold_sums *sums = unfold_sums(simulation->run->unfold);
    struct workload *workload = simulation->run->workload;
    workload->sum_s = sums->work_ns * 1e-9;
    workload->longest_s = (double)sums->path_ns * 1e-9;
}

static void end_sums(struct simulation *simulation, double wall_ns)
{
    static const enum field shares[] = {FIELD_WORK, FIELD_SEARCH, FIELD_END,
                                        FIELD_STEALING};
    double *values = values_of(simulation);
    int workers = simulation->run->workers;
    end_moment(values, FIELD_TRIES, workers);
    end_moment(values, FIELD_STEALS, workers);
    end_moment(values, FIELD_WORKER_TASKS, workers);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        values[shares[i]] /= wall_ns * workers;
    /* Without a first steal it took no time. */
    values[FIELD_FIRST_STEAL] /= values[FIELD_FIRST_STEALS];
    if (values[FIELD_FIRST_STEALS] == 0)
        values[FIELD_FIRST_STEAL_MOST] = NAN;
    values[FIELD_CACHED] = simulation->tile_gets > 0
                               ? values[FIELD_CACHED] / simulation->tile_gets
                               : NAN;
    values[FIELD_TILE_WAIT] *= 1e-9;
    values[FIELD_DATA_WAIT] *= 1e-9;
}

static void end_row(struct simulation *simulation)
{
    const struct run *run = simulation->run;
    double *values = values_of(simulation);
    double wall_ns = (double)(simulation->left_ns - simulation->entered_ns);
    double wall_s = wall_ns * 1e-9;
    end_sums(simulation, wall_ns);
    values[FIELD_MAKESPAN] = wall_s;
    values[FIELD_IDEAL] = ideal_s(run);
    values[FIELD_BOUND] = bound_s(run);
    values[FIELD_EFFICIENCY] = values[FIELD_IDEAL] / wall_s;
    values[FIELD_EFFICIENCY_BOUND] = values[FIELD_BOUND] / wall_s;
    values[FIELD_EFFICIENCY_CORES] =
        run->workload->sum_s /
        ((double)run->nodes * (double)run->machine.node_cores * wall_s);
    values[FIELD_SERVER] =
        (double)simulation->server_ns / (wall_ns * run->ranks);
    values[FIELD_DETECT] =
        (double)(simulation->left_ns - simulation->sim->last_task_ns) * 1e-9;
    values[FIELD_STOLEN_BYTES] = take_carried(simulation);
    values[FIELD_DATA_MEAN] = data_mean_bytes(run);
}

void account_left(void *context, struct eki_sim_rank *rank,
                  const struct eki_error *error)
{
    struct simulation *simulation = context;
    const struct run *run = simulation->run;
    for (int w = 0; w < rank->topology.workers_here; w++)
        count_worker(simulation, &rank->workers[w]);
    count_across(values_of(simulation), rank);
    if (simulation->data)
        data_take(simulation->data, rank, values_of(simulation));
    simulation->is_memory_out |= error->status != EK_OK;
    simulation->server_ns += rank->server_ns;
    if (simulation->timelines)
        timelines_left(simulation->timelines, rank, (ek_status)error->status);
    if (++simulation->left < run->ranks)
        return;
    simulation->left_ns = simulation->sim->now;
    simulation->plan.is_calm = !simulation->sim->setup.never_balances &&
                               eki_rebalance_is_calm(rank->engine);
    if (run->unfold)
        take_tree(simulation);
    simulation->is_wrong |=
        tasks_started(simulation) != tasks_expected(simulation) ||
        simulation->sum != simulation->expected ||
        (has_nulls_now(simulation) && !nulls_are_done(&simulation->nulls));
    end_row(simulation);
    if (run->curve)
        curve_end(run->curve, run, simulation->mode, simulation->iteration + 1,
                  simulation->left_ns - simulation->entered_ns);
    if (run->loads)
        loads_end(run->loads, run, simulation->mode, simulation->iteration + 1);
}

void account_restored(void *context, struct eki_sim_rank *rank,
                      ek_status status)
{
    struct simulation *simulation = context;
    double *values = values_of(simulation);
    simulation->is_memory_out |= status != EK_OK;
    if (simulation->timelines)
        timelines_restored(simulation->timelines, rank);
    values[FIELD_DECISION] =
        fmax(values[FIELD_DECISION], (double)rank->decision_ns * 1e-9);
    if (simulation->sim->setup.engine.has_homes)
        values[FIELD_MOVED_BYTES] +=
            (double)eki_data_counts_of(rank->engine).bytes_in;
    if (++simulation->restored < simulation->run->ranks)
        return;
    const struct eki_balance_report *report =
        plan_is_balanced(simulation) ? eki_rebalance_report(rank->engine)
                                     : NULL;
    double ns = (double)(simulation->sim->now - simulation->left_ns);
    values[FIELD_RESTORE] = ns * 1e-9;
    values[FIELD_MOVED_BYTES] += take_carried(simulation);
    values[FIELD_IMBALANCE] = NAN;
    if (plan_is_balanced(simulation)) {
        values[FIELD_MOVED] = (double)report->moved;
        values[FIELD_IMBALANCE] = report->before;
    }
    plan_restored(simulation, report, ns);
    simulation->inside = simulation->left = simulation->restored = 0;
    simulation->iteration++;
}
