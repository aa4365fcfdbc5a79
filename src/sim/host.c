/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of a host, which is what a rank does besides its workers: it runs
 * the program's own code, enters and leaves phases, restores, and steps the
 * server where no worker does.
 */
#include "exchange/tickets.h"
#include "sim/parts.h"

/* Let the host step the server again when there is something to do. */
static void rearm(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    uint64_t next = eki_sim_next_service(rank);
    if (!sim->program->pace) {
        eki_sim_serve_at(sim, rank,
                         eki_sim_earlier(next, sim->now + EKI_SIM_LOOK_NS));
        return;
    }
    uint64_t look = eki_sim_pace_of(sim, rank, EKI_PACE_SERVER, 1);
    eki_heap_set_early(&sim->heap, rank->actor, sim->now + look);
    if (next != UINT64_MAX)
        eki_sim_call_server(sim, rank, eki_sim_later(next, sim->now));
}

/* Let each worker begin when its thread comes. */
static void send_workers(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct eki_sim_worker *worker = &rank->workers[w];
        uint64_t ns = eki_sim_pace_of(sim, rank, EKI_PACE_ARRIVE, 1);
        worker->never = ns == EKI_SIM_NEVER;
        if (worker->never)
            eki_worker_give_up(worker->worker);
        worker->drawn = 0;
        worker->drawn_across = 0;
        if (!worker->never)
            eki_heap_set(&sim->heap, worker->actor, sim->now + ns);
        eki_sim_note_visible(sim, worker);
    }
}

/* Whether the tasks of an iteration lie where they ran in the last one. */
static bool is_retained(struct eki_sim *sim, const struct eki_sim_rank *rank)
{
    const struct eki_sim_iteration *last =
        rank->iteration > -sim->setup.has_hints
            ? eki_sim_iteration_of(sim, rank->iteration - 1)
            : NULL;
    return last && last->order != EKI_ORDER_ORIGINAL &&
           (!last->is_balanced ||
            eki_rebalance_report(rank->engine)->moved == 0);
}

static bool is_ordered(struct eki_sim *sim, const struct eki_sim_rank *rank)
{
    return rank->iteration > -sim->setup.has_hints &&
           eki_sim_iteration_of(sim, rank->iteration - 1)->order ==
               EKI_ORDER_LONGEST;
}

static void enter_phase(struct eki_sim *sim, struct eki_sim_rank *rank,
                        enum eki_phase_kind kind)
{
    const struct eki_sim_program *program = sim->program;
    const struct eki_sim_iteration *iteration =
        eki_sim_iteration_of(sim, rank->iteration);
    const struct eki_scheme *scheme = eki_scheme_of(iteration->steal);
    struct eki_phase phase = {
        .kind = kind,
        .signature = 1,
        .has_threads = true,
        .is_retained = is_retained(sim, rank),
        .is_ordered = is_ordered(sim, rank),
        .scheme = scheme,
        .detector = iteration->detector,
        .chunk = eki_chunk_of((int)iteration->steal),
        .victims =
            sim->setup.is_sampled && scheme->elsewhere ? eki_sim_victims : NULL,
        .on_failure = iteration->on_failure};
    if (kind == EKI_PHASE_RESTORE && iteration->is_balanced &&
        !rank->is_following)
        phase.balance = &iteration->balance;
    if (program->phase)
        program->phase(program->context, rank, &phase);
    eki_engine_enter(rank->engine, &phase, eki_sim_clock(sim, rank));
    /* In a restore phase the host steps the workers. */
    for (int w = 0; w < rank->topology.workers_here; w++)
        rank->workers[w].state =
            kind == EKI_PHASE_RESTORE ? EKI_SIM_STEPS : EKI_SIM_SERIAL;
    rank->done = 0;
    rank->server_done = rank->is_forwarded = false;
    eki_sim_open_polls(sim, rank);
    rank->since = sim->now;
}

/* Whether ranks wait for each other before what RANK does next. */
static bool is_together(const struct eki_sim *sim,
                        const struct eki_sim_rank *rank)
{
    return sim->setup.is_together ||
           (rank->state == EKI_SIM_SERIAL &&
            eki_sim_iteration_of(sim, rank->iteration)->is_assembled);
}

/* The program's own code goes on. */
static void go_on_serially(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    eki_heap_set(&sim->heap, rank->actor,
                 sim->now + eki_sim_pace_of(sim, rank, EKI_PACE_SERIAL, 1));
}

/* The rank is through with a call.  If ranks wait for each other, the last one
 * lets all go on at once. */
static void assemble(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    if (!is_together(sim, rank)) {
        go_on_serially(sim, rank);
        return;
    }
    eki_heap_remove(&sim->heap, rank->actor);
    rank->is_assembled = true;
    eki_sim_end_port(rank->port);
    if (++sim->assembled < sim->setup.ranks)
        return;
    sim->assembled = 0;
    for (int r = 0; r < sim->setup.ranks; r++) {
        sim->ranks[r].is_assembled = false;
        go_on_serially(sim, &sim->ranks[r]);
    }
}

static void open_team(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    rank->state = EKI_SIM_RUNS;
    send_workers(sim, rank);
    if (rank->rma) /* its words are to be renewed */
        eki_sim_call_server(sim, rank, sim->now + 1);
    rearm(sim, rank);
}

static void enter_iteration(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    const struct eki_sim_program *program = sim->program;
    if (program->enter)
        program->enter(program->context, rank);
    rank->server_ns = 0;
    enter_phase(sim, rank, EKI_PHASE_PROCESS);
    rank->state = EKI_SIM_FAULT;
    if (program->entered && program->entered(program->context, rank))
        go_on_serially(sim, rank);
    else
        open_team(sim, rank);
}

static void leave_iteration(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    struct eki_error error;
    eki_engine_leave(rank->engine, &error);
    rank->state = EKI_SIM_RAN;
    sim->nodes[rank->topology.node].has_stopped = false;
    if (sim->program->left)
        sim->program->left(sim->program->context, rank, &error);
    assemble(sim, rank);
}

static void end_restore(struct eki_sim *sim, struct eki_sim_rank *rank,
                        ek_status status)
{
    const struct eki_sim_program *program = sim->program;
    if (program->restored)
        program->restored(program->context, rank, status);
    rank->iteration++;
    rank->is_following = false;
    rank->state = EKI_SIM_SERIAL;
    if (eki_sim_iteration_of(sim, rank->iteration)) {
        assemble(sim, rank);
        return;
    }
    rank->state = EKI_SIM_OVER;
    eki_sim_end_port(rank->port);
    eki_heap_remove(&sim->heap, rank->actor);
    sim->over++;
}

/* Enter a restore phase, in which the host steps workers and server. */
static void enter_moves(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    enter_phase(sim, rank, EKI_PHASE_RESTORE);
    rank->state = EKI_SIM_MOVES;
}

/* Tasks are where the restore places them: let their data follow, if it does.
 */
static void follow_or_end(struct eki_sim *sim, struct eki_sim_rank *rank,
                          ek_status status)
{
    if (!sim->setup.engine.has_homes) {
        end_restore(sim, rank, status);
        return;
    }
    rank->status = status;
    rank->is_following = true;
    eki_data_follow(rank->engine);
    enter_moves(sim, rank);
    if (status != EK_OK)
        eki_engine_fail(rank->engine, status, "the restore has failed");
    eki_heap_set(&sim->heap, rank->actor, sim->now + 1);
}

/* Tasks of the worker of RANK that has most. */
static int64_t most_seeds(const struct eki_sim_rank *rank)
{
    int64_t most = 0;
    for (int w = 0; w < rank->topology.workers_here; w++) {
        int64_t tasks = eki_local_seed_tasks(&rank->engine->workers[w]->local);
        most = tasks > most ? tasks : most;
    }
    return most;
}

/* Restore the workers of RANK to what ran here, or pack what has another home;
 * false: no memory. */
static bool restore_here(struct eki_sim_rank *rank, enum eki_order order)
{
    struct eki_engine *engine = rank->engine;
    rank->discarded = 0;
    if (order == EKI_ORDER_ORIGINAL)
        return eki_engine_restore_pack(engine, &rank->discarded) == EK_OK;
    for (int w = 0; w < rank->topology.workers_here; w++) {
        if (eki_engine_restore_worker(engine, w, order, &rank->discarded) !=
            EK_OK)
            return false;
        /* Arrays of other workers take their place. */
        if (!engine->has_parts)
            eki_local_shed(&engine->workers[w]->local);
    }
    return eki_engine_restore_pinned(engine, &rank->discarded) == EK_OK;
}

static void restore(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    const struct eki_sim_program *program = sim->program;
    const struct eki_sim_iteration *iteration =
        eki_sim_iteration_of(sim, rank->iteration);
    bool moves =
        iteration->order == EKI_ORDER_ORIGINAL || iteration->is_balanced;
    if (program->restore)
        program->restore(program->context, rank);
    bool is_good = restore_here(rank, iteration->order);
    if (iteration->is_balanced && is_good)
        eki_rebalance_prepare(rank->engine);
    rank->busy_until =
        sim->now + (uint64_t)(sim->machine.restore * (double)most_seeds(rank));
    rank->decision_ns = 0;
    if (!moves) {
        rank->state = EKI_SIM_RESTORED;
        rank->status = is_good ? EK_OK : EK_ERR_NOMEM;
        eki_heap_set(&sim->heap, rank->actor, rank->busy_until);
        return;
    }
    enter_moves(sim, rank);
    if (!is_good)
        eki_engine_fail(rank->engine, EK_ERR_NOMEM, "no memory to restore");
    eki_heap_set(&sim->heap, rank->actor, rank->busy_until + 1);
}

static void leave_restore(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    const struct eki_sim_iteration *iteration =
        eki_sim_iteration_of(sim, rank->iteration);
    struct eki_error error;
    eki_engine_leave(rank->engine, &error);
    if (eki_engine_restore_end(rank->engine, iteration->order) != EK_OK)
        error.status = EK_ERR_NOMEM;
    if (rank->is_following && rank->status != EK_OK)
        error.status = rank->status;
    if (rank->is_following)
        end_restore(sim, rank, (ek_status)error.status);
    else
        follow_or_end(sim, rank, (ek_status)error.status);
}

/* When the host goes on with a restore phase. */
static uint64_t next_move(const struct eki_sim *sim,
                          const struct eki_sim_rank *rank, bool has_moved)
{
    uint64_t least = rank->busy_until + EKI_SIM_SPIN_NS;
    uint64_t look = sim->now + EKI_SIM_LOOK_NS;
    uint64_t next = eki_sim_next_service(rank);
    /* A rank that is alone on its node, among others, hears of everything by
     * messages; all others have to look. */
    if (has_moved || rank->topology.node_ranks > 1 || rank->engine->alone)
        look = eki_sim_next_look(sim, rank->since, EKI_SLEEP_MOST_NS, least);
    return eki_sim_later(eki_sim_earlier(next, look), least);
}

/* Whether a worker of RANK keeps the phase from its end: the step that lets go
 * sends nothing, yet the worker has to be stepped again. */
static bool is_kept(const struct eki_sim_rank *rank)
{
    const struct eki_tickets *kept = rank->engine->kept;
    for (int here = 0; kept && here < rank->topology.workers_here; here++) {
        if (eki_tickets_are_kept(kept, here))
            return true;
    }
    return false;
}

/* Go on with a restore phase, in which the host steps workers and server. */
static void step_moves(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct eki_sim_worker *worker = &rank->workers[w];
        if (worker->state == EKI_SIM_DONE ||
            eki_worker_step(worker->worker, eki_sim_clock(sim, rank)) !=
                EKI_STEP_DONE)
            continue;
        worker->state = EKI_SIM_DONE;
        rank->done++;
    }
    int64_t messages = sim->messages;
    bool was_kept = is_kept(rank);
    eki_sim_serve(sim, rank);
    bool has_moved = sim->messages != messages ||
                     rank->port->step_ns > sim->machine.poll ||
                     (was_kept && !is_kept(rank));
    if (rank->done == rank->topology.workers_here && rank->server_done) {
        leave_restore(sim, rank);
        return;
    }
    if (has_moved)
        rank->since = sim->now;
    if (sim->program->pace) {
        rearm(sim, rank);
        return;
    }
    eki_heap_set(&sim->heap, rank->actor, next_move(sim, rank, has_moved));
}

void eki_sim_worker_ended(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    int workers = rank->topology.workers_here, absent = 0;
    rank->done++;
    /* On a lone node nothing else tells the others of the end. */
    if (rank->engine->alone)
        eki_sim_wake_node(sim, rank->topology.node);
    for (int w = 0; w < workers; w++)
        absent += rank->workers[w].never;
    /* Workers without thread begin after all, so that they see the end. */
    bool fetches = absent > 0 && rank->done == workers - absent &&
                   rank->state == EKI_SIM_RUNS;
    if (fetches)
        rank->state = EKI_SIM_ENDS;
    for (int w = 0; fetches && w < workers; w++) {
        if (rank->workers[w].never)
            eki_heap_set(&sim->heap, rank->workers[w].actor, sim->now + 1);
    }
    if (rank->done < workers)
        return;
    rank->state = EKI_SIM_SERVES;
    eki_sim_serve_at(sim, rank, sim->now);
}

/* Step the server of RANK, and leave the iteration when that was its last. */
static void serve(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    if (eki_sim_has_messages(rank))
        eki_sim_serve(sim, rank);
    if (rank->state == EKI_SIM_SERVES &&
        (rank->server_done || !eki_sim_has_messages(rank)))
        leave_iteration(sim, rank);
    else
        rearm(sim, rank);
}

void eki_sim_host_event(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    switch (rank->state) {
    case EKI_SIM_SERIAL:
        enter_iteration(sim, rank);
        break;
    case EKI_SIM_FAULT:
        sim->program->fault(sim->program->context, rank);
        open_team(sim, rank);
        break;
    case EKI_SIM_RUNS:
        if (!sim->machine.has_server && !sim->program->pace)
            break;
        serve(sim, rank);
        break;
    case EKI_SIM_ENDS:
    case EKI_SIM_SERVES:
        serve(sim, rank);
        break;
    case EKI_SIM_RAN:
        restore(sim, rank);
        break;
    case EKI_SIM_RESTORED:
        follow_or_end(sim, rank, rank->status);
        break;
    case EKI_SIM_MOVES:
        step_moves(sim, rank);
        break;
    default:
        break;
    }
}
