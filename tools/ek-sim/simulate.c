/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iterations of a mode: a program for the simulator whose tasks take the
 * time that the workload says, and what came of it.
 */
#include "ek_sim.h"

#include "balance/course.h"
#include "data.h"
#include "jitter.h"
#include "observe.h"
#include "payload.h"
#include "policies.h"
#include "tiles.h"
#include "unfold.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Sum and sum of squares. */
struct moments {
    double sum, squares;
};

struct simulation {
    struct run *run;
    const struct mode *mode;
    struct eki_sim *sim;
    struct eki_schedule restore, steal;
    struct eki_sim_iteration plans[2]; /* of this iteration and the last one */
    struct eki_course course;          /* of auto */
    bool is_calm;                      /* the iteration, as auto has it */
    struct row *rows;
    int iteration;   /* that runs, from 0 */
    int64_t started; /* tasks, in this iteration ... */
    uint64_t sum;    /* ... and the sum of their hashes */
    uint64_t expected;
    struct nulls nulls; /* if the mode has them */
    struct jitter *jitter;
    struct tiles *tiles; /* NULL: tasks use none */
    struct data *data;   /* NULL: none of them has any */
    bool is_wrong;       /* tasks did not run once each */
    /* In this iteration: */
    int inside, left, restored; /* ranks */
    uint64_t entered_ns, left_ns, decision_ns, server_ns;
    struct moments tried, successful;
    double stolen, working_ns, searching_ns, ending_ns;
    double stealing_ns, failed_across, messages, deepest;
    double tile_bytes, tile_gets, tile_hits, tile_wait_ns;
    struct data_sums data_sums;
    double followed; /* MB of data that a restore has moved */
    int64_t carried; /* bytes that have travelled with tasks, before */
    bool is_memory_out;
};

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

/* Whether task K stays on its rank: the same ones in each mode. */
static bool is_pinned(const struct run *run, int64_t k)
{
    return run->arguments->pinned > 0 &&
           eki_hash((uint64_t)run->source->seed, (uint64_t)k) % 100 <
               (uint64_t)run->arguments->pinned;
}

static bool add_tasks(struct simulation *simulation)
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
    for (int64_t k = 0; k < workload->seeds; k++) {
        struct payload payload = {k, task_ns(workload, k)};
        int w = start_of(simulation, k);
        struct ek_worker *worker = simulation->sim->workers[w].worker;
        struct eki_slot *slot = is_pinned(simulation->run, k)
                                    ? eki_pinned_new(&worker->engine->pinned)
                                    : eki_local_add_seed(&worker->local);
        if (!slot)
            return false;
        eki_slot_head(slot, data_has(simulation->run, k) ? DATA_FUNCTION : 0,
                      sizeof payload, EKI_NO_HINT, EKI_SLOT_SEED,
                      eki_id(w, (uint64_t)k));
        memcpy(slot->payload, &payload, sizeof payload);
    }
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

static int64_t count_started(const struct simulation *simulation)
{
    const struct unfold *unfold = simulation->run->unfold;
    return unfold ? unfold_sums(unfold)->tasks : simulation->started;
}

/* Tasks of the workload, or those that have been spawned so far and the root.
 */
static int64_t count_expected(const struct simulation *simulation)
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
    count_task(simulation, k);
    return (struct begun){k, (double)task_ns(simulation->run->workload, k)};
}

static struct begun begin_task(struct simulation *simulation,
                               const struct eki_sim_worker *worker)
{
    struct payload payload = payload_of(eki_worker_current(worker->worker));
    return (struct begun){
        payload.index, (double)payload_ns(simulation->run->workload, &payload)};
}

/* Compute for NS, LATER nanoseconds from now, WORK of them a task's: how long
 * that takes. */
static uint64_t compute(struct simulation *simulation,
                        const struct eki_sim_worker *worker, uint64_t later,
                        double ns, double work)
{
    const struct eki_sim *sim = simulation->sim;
    ptrdiff_t number = worker - sim->workers;
    uint64_t now = sim->now + worker->ahead_ns + later;
    uint64_t took =
        jitter_ns(simulation->jitter, number, now,
                  (uint64_t)(ns * simulation->run->slowness[node_of(worker)]));
    observe_task(simulation->run, number, now - simulation->entered_ns, took,
                 work);
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
EKI_COLD static uint64_t run_travelling(struct simulation *simulation,
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
        return run_travelling(simulation, worker, &begun, false);
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

static uint64_t run_task(void *context, struct eki_sim_worker *worker,
                         bool begins)
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
    if (!worker->is_index)
        count_task(simulation, begun.task);
    return simulation->data && !worker->is_index &&
                   data_has(simulation->run, begun.task)
               ? run_travelling(simulation, worker, &begun, true)
               : start(simulation, worker, &begun);
}

static void add_moment(struct moments *moments, double value)
{
    moments->sum += value;
    moments->squares += value * value;
}

static double mean(const struct moments *moments, int n)
{
    return moments->sum / n;
}

static double deviation(const struct moments *moments, int n)
{
    double average = mean(moments, n);
    return sqrt(fmax(moments->squares / n - average * average, 0));
}

static void enter(void *context, struct eki_sim_rank *rank)
{
    struct simulation *simulation = context;
    (void)rank;
    if (simulation->inside++ > 0)
        return;
    eki_course_begin(&simulation->course);
    if (simulation->mode->has_nulls)
        simulation->is_memory_out |=
            !nulls_add(&simulation->nulls, simulation->sim);
    if (simulation->tiles)
        tiles_forget(simulation->tiles);
    simulation->entered_ns = simulation->sim->now;
    simulation->started = 0;
    simulation->sum = 0;
    simulation->nulls.executed = 0;
    simulation->nulls.sum = 0;
    step_workload(simulation->run, simulation->iteration);
    if (simulation->run->unfold)
        unfold_begin(simulation->run->unfold);
    observe_begin(simulation->run, simulation->sim);
}

/* Bytes that have travelled with tasks since the last call, in MB. */
static double take_carried(struct simulation *simulation)
{
    int64_t before = simulation->carried;
    simulation->carried = simulation->sim->carried;
    return (double)(simulation->carried - before) * 1e-6;
}

static void fill_row(struct simulation *simulation)
{
    const struct run *run = simulation->run;
    const struct eki_sim *sim = simulation->sim;
    struct row *row = &simulation->rows[simulation->iteration];
    double *values = row->values;
    double wall_ns = (double)(simulation->left_ns - simulation->entered_ns);
    double wall_s = wall_ns * 1e-9, total_ns = wall_ns * run->workers;
    *row = (struct row){.mode = simulation->mode,
                        .iteration = simulation->iteration + 1};
    values[FIELD_MAKESPAN] = wall_s;
    values[FIELD_IDEAL] = ideal_s(run);
    values[FIELD_BOUND] = bound_s(run);
    values[FIELD_EFFICIENCY] = values[FIELD_IDEAL] / wall_s;
    values[FIELD_EFFICIENCY_BOUND] = values[FIELD_BOUND] / wall_s;
    values[FIELD_EFFICIENCY_CORES] =
        run->workload->sum_s /
        ((double)run->nodes * (double)run->machine.node_cores * wall_s);
    values[FIELD_TRIED] = mean(&simulation->tried, run->workers);
    values[FIELD_TRIED_DEVIATION] = deviation(&simulation->tried, run->workers);
    values[FIELD_SUCCESSFUL] = mean(&simulation->successful, run->workers);
    values[FIELD_SUCCESSFUL_DEVIATION] =
        deviation(&simulation->successful, run->workers);
    values[FIELD_STOLEN] = simulation->stolen;
    values[FIELD_WORKING] = simulation->working_ns / total_ns;
    values[FIELD_SEARCHING] = simulation->searching_ns / total_ns;
    values[FIELD_ENDING] = simulation->ending_ns / total_ns;
    values[FIELD_SERVER] =
        (double)simulation->server_ns / (wall_ns * run->ranks);
    values[FIELD_TERMINATION] =
        (double)(simulation->left_ns - sim->last_task_ns) * 1e-9;
    values[FIELD_STOLEN_BYTES] = take_carried(simulation);
    values[FIELD_STEALING] = simulation->stealing_ns / total_ns;
    values[FIELD_FAILED_ACROSS] = simulation->failed_across;
    values[FIELD_MESSAGES] = simulation->messages;
    values[FIELD_DEEPEST] = simulation->deepest;
    values[FIELD_TILE_BYTES] = simulation->tile_bytes * 1e-6;
    values[FIELD_TILE_HITS] =
        simulation->tile_gets > 0
            ? simulation->tile_hits / simulation->tile_gets
            : NAN;
    values[FIELD_TILE_WAIT] = simulation->tile_wait_ns * 1e-9 / run->workers;
    values[FIELD_DATA_TASKS] = simulation->data_sums.travelled;
    values[FIELD_DATA_BYTES] = simulation->data_sums.bytes * 1e-6;
    values[FIELD_DATA_WAIT] =
        simulation->data_sums.wait_ns * 1e-9 / run->workers;
    values[FIELD_DATA_HELD] = simulation->data_sums.held_bytes * 1e-6;
    values[FIELD_DATA_MEAN] = data_mean_bytes(run);
}

static void count_tiles(struct simulation *simulation,
                        struct eki_sim_worker *worker)
{
    const struct eki_counts *counts = &worker->worker->counts;
    simulation->tile_bytes += (double)counts->tile_bytes;
    simulation->tile_gets += (double)counts->tile_gets;
    simulation->tile_hits += (double)counts->tile_hits;
    simulation->tile_wait_ns += (double)worker->halted_ns;
    worker->halted_ns = 0;
}

/* What the tasks of a tree come to is known when all have run. */
static void take_tree(struct simulation *simulation)
{
    const struct unfold_sums *sums = unfold_sums(simulation->run->unfold);
    struct workload *workload = simulation->run->workload;
    workload->sum_s = sums->work_ns * 1e-9;
    workload->longest_s = (double)sums->path_ns * 1e-9;
}

/* What went between nodes; who is drawn to ask in vain is denied. */
static void count_across(struct simulation *simulation,
                         const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    double drawn = 0;
    for (int w = 0; w < rank->topology.workers_here; w++)
        drawn += rank->workers[w].drawn_across;
    simulation->failed_across += (double)engine->failed_across + drawn;
    simulation->messages += (double)engine->exchange.across + 2 * drawn;
}

static void left(void *context, struct eki_sim_rank *rank,
                 const struct eki_error *error)
{
    struct simulation *simulation = context;
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct eki_sim_worker *worker = &rank->workers[w];
        const struct eki_counts *counts = &worker->worker->counts;
        add_moment(&simulation->tried,
                   (double)(counts->attempted + worker->drawn));
        add_moment(&simulation->successful, (double)counts->successful);
        simulation->stolen += (double)counts->stolen;
        simulation->working_ns += (double)counts->work_ns;
        simulation->searching_ns += (double)counts->search_ns;
        simulation->ending_ns += (double)counts->termination_ns;
        simulation->stealing_ns += (double)counts->steal_ns;
        simulation->deepest =
            fmax(simulation->deepest,
                 (double)(counts->deepest_bytes / rank->engine->slot_bytes));
        if (simulation->tiles)
            count_tiles(simulation, worker);
    }
    count_across(simulation, rank);
    if (simulation->data)
        data_take(simulation->data, rank, &simulation->data_sums);
    simulation->is_memory_out |= error->status != EK_OK;
    simulation->server_ns += rank->server_ns;
    if (++simulation->left < simulation->run->ranks)
        return;
    simulation->left_ns = simulation->sim->now;
    simulation->is_calm = eki_rebalance_is_calm(rank->engine);
    if (simulation->run->unfold)
        take_tree(simulation);
    simulation->is_wrong |=
        count_started(simulation) != count_expected(simulation) ||
        simulation->sum != simulation->expected ||
        (simulation->mode->has_nulls && !nulls_are_done(&simulation->nulls));
    fill_row(simulation);
    observe_end(simulation->run, simulation->mode, simulation->iteration + 1,
                simulation->left_ns - simulation->entered_ns);
}

/* Ranges are added anew. */
static void clear(void *context, struct eki_sim_rank *rank)
{
    (void)context;
    for (int w = 0; w < rank->topology.workers_here; w++)
        eki_local_clear(&rank->workers[w].worker->local);
}

static ek_steal_policy steal_set(const struct simulation *simulation,
                                 int iteration)
{
    return (ek_steal_policy)eki_schedule_at(&simulation->steal, iteration,
                                            EK_STEAL_RANDOM);
}

/* Of the restore after the iteration that runs, which counts under the number
 * of the next. */
static ek_restore_policy policy_of(const struct simulation *simulation)
{
    return (ek_restore_policy)eki_schedule_at(
        &simulation->restore, simulation->iteration + 1, EK_RESTORE_RETAIN);
}

static void restored(void *context, struct eki_sim_rank *rank, ek_status status)
{
    struct simulation *simulation = context;
    double *values = simulation->rows[simulation->iteration].values;
    simulation->is_memory_out |= status != EK_OK;
    if (rank->decision_ns > simulation->decision_ns)
        simulation->decision_ns = rank->decision_ns;
    if (simulation->sim->setup.data.may_follow)
        simulation->followed +=
            (double)eki_data_counts_of(rank->engine).bytes_in * 1e-6;
    if (++simulation->restored < simulation->run->ranks)
        return;
    const struct eki_balance_report *report =
        eki_rebalance_report(rank->engine);
    double ns = (double)(simulation->sim->now - simulation->left_ns);
    struct eki_course *course = &simulation->course;
    eki_course_end(course);
    values[FIELD_RESTORE] = ns * 1e-9;
    values[FIELD_DECISION] = (double)simulation->decision_ns * 1e-9;
    values[FIELD_IMBALANCE] = NAN;
    values[FIELD_MOVED_BYTES] = take_carried(simulation) + simulation->followed;
    simulation->followed = 0;
    if (simulation->plans[simulation->iteration % 2].is_balanced) {
        values[FIELD_MOVED] = (double)report->moved;
        values[FIELD_IMBALANCE] = report->before;
        eki_course_spend(course, report->moved > 0, ns, ns);
        eki_course_choose(course, report->is_quiet, report->pause);
    } else if (policy_of(simulation) == EK_RESTORE_AUTO) {
        eki_course_pause(course);
    } else {
        eki_course_choose(course, false, 0);
    }
    simulation->inside = simulation->left = simulation->restored = 0;
    simulation->tried = simulation->successful = (struct moments){0};
    simulation->stolen = simulation->working_ns = 0;
    simulation->searching_ns = simulation->ending_ns = 0;
    simulation->stealing_ns = simulation->failed_across = 0;
    simulation->messages = simulation->deepest = 0;
    simulation->server_ns = simulation->decision_ns = 0;
    simulation->tile_bytes = simulation->tile_gets = 0;
    simulation->tile_hits = simulation->tile_wait_ns = 0;
    simulation->data_sums = (struct data_sums){0};
    simulation->iteration++;
}

/* What auto is to know of the run. */
static struct eki_outlook outlook_of(const struct simulation *simulation)
{
    int done = simulation->iteration + 1;
    ek_steal_policy steal = steal_set(simulation, done);
    return eki_course_outlook(&simulation->course, done,
                              simulation->run->arguments->iterations_expected,
                              eki_scheme_of(steal)->victims != NULL);
}

static struct eki_balance_wish wish_of(const struct run *run,
                                       ek_restore_policy policy)
{
    const struct arguments *arguments = run->arguments;
    ek_options options = EK_OPTIONS_INIT;
    options.balance_group = arguments->balance_group;
    options.balance_ppm = arguments->balance_ppm;
    if (arguments->balance_c > 0)
        options.balance_c = arguments->balance_c;
    if (arguments->balance_d > 0)
        options.balance_d = arguments->balance_d;
    if (arguments->balance_branching > 0)
        options.balance_branching = arguments->balance_branching;
    if (arguments->gather)
        options.balance_gather =
            (ek_gather)word_value("balance_gather", arguments->gather);
    return eki_balance_wish_of(policy, run->workers, &options);
}

/* The iteration that runs, and the restore after it. */
static void plan_iteration(const struct simulation *simulation,
                           struct eki_sim_iteration *plan)
{
    const struct arguments *arguments = simulation->run->arguments;
    const char *order = arguments->order;
    ek_restore_policy policy = policy_of(simulation);
    *plan = (struct eki_sim_iteration){
        .steal = eki_course_is_quiet(&simulation->course)
                     ? EK_STEAL_NONE
                     : steal_set(simulation, simulation->iteration),
        .order = order && strcmp(order, "executed") == 0 ? EKI_ORDER_EXECUTED
                                                         : EKI_ORDER_LONGEST};
    /* Ranges are not restored. */
    if (policy == EK_RESTORE_ORIGINAL && !simulation->mode->has_nulls)
        plan->order = EKI_ORDER_ORIGINAL;
    plan->is_balanced =
        policy != EK_RESTORE_ORIGINAL && policy != EK_RESTORE_RETAIN &&
        (policy != EK_RESTORE_AUTO ||
         !eki_course_may_pause(&simulation->course, simulation->is_calm));
    if (!plan->is_balanced)
        return;
    plan->balance = wish_of(simulation->run, policy);
    if (policy == EK_RESTORE_AUTO)
        plan->balance.outlook = outlook_of(simulation);
}

static const struct eki_sim_iteration *iteration(void *context, int i)
{
    struct simulation *simulation = context;
    if (i >= simulation->run->arguments->iterations)
        return NULL;
    struct eki_sim_iteration *plan = &simulation->plans[i % 2];
    if (i == simulation->iteration)
        plan_iteration(simulation, plan);
    return plan;
}

static double real_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void show_progress(const struct simulation *simulation)
{
    if (simulation->run->unfold) {
        fprintf(stderr,
                "\r%-14s iteration %d: %.1f M tasks, %.4f s, %.0f M events   ",
                simulation->mode->name, simulation->iteration + 1,
                (double)unfold_sums(simulation->run->unfold)->tasks * 1e-6,
                (double)simulation->sim->now * 1e-9,
                (double)simulation->sim->events * 1e-6);
        return;
    }
    fprintf(stderr,
            "\r%-14s iteration %d: %5.1f %% of the tasks, %.2f s, %.0f M "
            "events   ",
            simulation->mode->name, simulation->iteration + 1,
            100 * (double)simulation->started /
                (double)simulation->run->workload->count,
            (double)simulation->sim->now * 1e-9,
            (double)simulation->sim->events * 1e-6);
}

static enum eki_sim_end run_events(struct simulation *simulation)
{
    enum {
        CHUNK = 1 << 18
    };
    bool is_shown = isatty(2);
    double shown_s = real_s();
    enum eki_sim_end end;
    while ((end = eki_sim_run(simulation->sim, CHUNK)) == EKI_SIM_END_ASKED &&
           !simulation->is_memory_out && !simulation->is_wrong) {
        if (!is_shown || real_s() < shown_s + 0.5)
            continue;
        show_progress(simulation);
        shown_s = real_s();
    }
    if (is_shown)
        fprintf(stderr, "\r%78s\r", "");
    return end;
}

static int report_end(const struct simulation *simulation, enum eki_sim_end end,
                      struct message *message)
{
    if (simulation->is_memory_out) {
        message_set(message, "%s: there was no memory", simulation->mode->name);
        return EXIT_FAILED;
    }
    if (end == EKI_SIM_END_OVER && !simulation->is_wrong)
        return 0;
    if (end == EKI_SIM_END_LATE) {
        message_set(message,
                    "%s: the run takes longer than the %.1f hours that can be "
                    "simulated; shorten the tasks with --scale",
                    simulation->mode->name,
                    (double)EKI_SIM_TIME_MOST * 1e-9 / 3600);
        return EXIT_BAD_INPUT;
    }
    message_set(message,
                "%s, iteration %d: %" PRId64 " of %" PRId64 " tasks started%s",
                simulation->mode->name, simulation->iteration + 1,
                count_started(simulation), count_expected(simulation),
                end == EKI_SIM_END_STUCK ? "; nothing moves any more"
                                         : ", not each once");
    return EXIT_FAILED;
}

static bool has_counter(const struct simulation *simulation)
{
    for (int i = 0; i < simulation->steal.count; i++) {
        if (eki_unchunked(simulation->steal.entries[i].policy) ==
            EK_STEAL_COUNTER)
            return true;
    }
    return false;
}

static ek_status open_sim(struct simulation *simulation,
                          const struct eki_sim_program *program)
{
    const struct run *run = simulation->run;
    const struct arguments *arguments = run->arguments;
    bool is_locked =
        arguments->deque && strcmp(arguments->deque, "locked") == 0;
    struct eki_sim_setup setup = {
        .machine = &run->machine,
        .program = program,
        .ranks = run->ranks,
        .workers = run->rank_workers,
        .nodes = run->node_of_rank,
        .deque = is_locked ? EKI_DEQUE_LOCKED : EKI_DEQUE_ATOMIC,
        .buffer_slots = run->buffer_slots,
        .payload_bytes =
            run->unfold ? (int64_t)unfold_payload_bytes(run->unfold) : 16,
        .task_bytes = arguments->task_bytes,
        .functions = 1 + (run->workload->input_bytes != NULL),
        .seed = (uint64_t)run->source->seed,
        .check_words = 4096,
        .has_pause = arguments->backoff_ns >= 0,
        .pause_ns = (uint64_t)fmax(arguments->backoff_ns, 0),
        .has_counter = has_counter(simulation),
        .has_tiles = run->tiles.is_used,
        .has_data = run->workload->input_bytes != NULL,
        .data = {.budget_bytes = arguments->data_bytes,
                 .may_follow =
                     run->workload->input_bytes && arguments->data &&
                     word_value("data", arguments->data) == EK_DATA_FOLLOW},
        .is_sampled = run->is_sampled,
        .is_together = true,
        .ahead_ns = run->unfold || workload_spawns(run->workload)
                        ? (uint64_t)arguments->ahead_ns
                        : 0,
        .send_buffers = 16,
        .message_bytes = 65536};
    EKI_TRY(eki_sim_create(&setup, &simulation->sim));
    if (run->tiles.is_used)
        EKI_TRY(tiles_open(run, simulation->sim, &simulation->tiles));
    if (run->workload->input_bytes)
        EKI_TRY(data_open(run, simulation->sim, &simulation->data));
    return add_tasks(simulation)
               ? EK_OK
               : eki_error(EK_ERR_NOMEM, "no memory for the tasks");
}

/* Run the iterations; returns an exit status. */
static int run_program(struct simulation *simulation, struct message *message)
{
    struct run *run = simulation->run;
    struct eki_sim_program program = {.context = simulation,
                                      .iteration = iteration,
                                      .enter = enter,
                                      .task = run_task,
                                      .left = left,
                                      .restored = restored};
    if (simulation->mode->has_nulls) {
        program.restore = clear;
        simulation->nulls = nulls_make(run);
    }
    simulation->jitter = jitter_open(run);
    int exit_status = EXIT_FAILED;
    ek_status status = open_sim(simulation, &program);
    if (status != EK_OK) {
        message_set(message, "%s", ek_error_message());
        if (status == EK_ERR_ARG)
            exit_status = EXIT_BAD_INPUT;
    } else {
        double start_s = real_s();
        enum eki_sim_end end = run_events(simulation);
        run->real_s += real_s() - start_s;
        exit_status = report_end(simulation, end, message);
        run->events += simulation->sim->events;
    }
    tiles_close(simulation->tiles);
    data_close(simulation->data);
    eki_sim_destroy(&simulation->sim);
    jitter_close(simulation->jitter);
    return exit_status;
}

int simulate(struct run *run, const struct mode *mode, struct row *rows,
             struct message *message)
{
    struct simulation simulation = {.run = run, .mode = mode, .rows = rows};
    int exit_status = EXIT_BAD_INPUT;
    if (schedule_read("restore", "--policy", mode->restore, &simulation.restore,
                      message) &&
        schedule_read("steal", "--steal", mode->steal, &simulation.steal,
                      message))
        exit_status = run_program(&simulation, message);
    eki_schedule_free(&simulation.restore);
    eki_schedule_free(&simulation.steal);
    return exit_status;
}
