/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario in the simulator: what its program does. */
#include "disk.h"
#include "explore.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_MOST = 20000000, /* a hundred times what the longest needs */
    SIGNATURE = 1000        /* of all phases, but for a fault */
};

struct explore_seen explore_seen;

static const struct eki_sim_iteration *iteration_of(void *context,
                                                    int iteration)
{
    struct explore *explore = context;
    if (iteration < explore->first && explore->deals)
        return &explore->deal;
    return iteration < explore->last
               ? &explore->scenario->iteration[iteration].plan
               : NULL;
}

/* Whether an allocation of this event may fail: what comes of it must be an
 * error of the phase. */
static bool may_lack_memory(const struct explore *explore)
{
    const struct eki_sim_rank *rank = explore->rank;
    if (explore_deals(explore, rank))
        return false;
    /* Who has not restored for want of it cannot let data follow. */
    if (explore->scenario->travel.may_follow)
        return rank->is_following &&
               explore_plan(explore, rank)->fault == EXPLORE_NO_MEMORY;
    return (explore->worker || rank->state == EKI_SIM_RUNS ||
            rank->state == EKI_SIM_ENDS || rank->state == EKI_SIM_SERVES ||
            rank->state == EKI_SIM_MOVES) &&
           explore_plan(explore, rank)->fault == EXPLORE_NO_MEMORY;
}

static bool has_one_sided(const struct explore_scenario *scenario)
{
    bool has_one = false;
    for (int i = 0; i < scenario->iterations; i++)
        has_one |= eki_scheme_is_one_sided(scenario->iteration[i].plan.steal);
    return has_one;
}

/* In two of eight schedules, in one of which the next iteration goes on, one
 * rank has none as long as tasks run; in lean ones, where that takes long, in
 * two of 16.  Between iterations there is some. */
static bool lasts(const struct explore_scenario *scenario)
{
    uint64_t kind =
        scenario->seed % (scenario->profile == EXPLORE_LEAN ? 16 : 8);
    return (kind == 1 || kind == 2) && !scenario->travel.may_follow;
}

static void let_memory_fail(struct explore *explore)
{
    const struct eki_sim_rank *rank = explore->rank;
    if (!lasts(explore->scenario))
        eki_memory_fail(1 + (int64_t)explore_below(explore, 4));
    else if (explore_plan(explore, rank)->fault_rank == rank->number)
        eki_memory_fail(EKI_MEMORY_GONE);
}

/* Give a worker of the node other words of what it shows than it has stored: in
 * a fourth of the schedules that all stays, in a fourth that nothing does, in
 * the others either.  They are hints: whatever a thief sees does no harm. */
static void draw_hint(struct explore *explore, const struct eki_sim_rank *rank)
{
    uint64_t local = explore_below(explore, rank->topology.node_workers);
    struct ek_worker *worker = explore->local[rank->topology.node][local];
    uint64_t kind = explore->scenario->seed % 4;
    bool stays = kind == 0 || (kind > 1 && explore_chance(explore, 500));
    explore_seen.hints +=
        stays != eki_stays(rank->engine, worker->local_number);
    /* relaxed, both: there is one thread. */
    atomic_store_explicit(&worker->words->runs_ns, 1, memory_order_relaxed);
    atomic_store_explicit(&worker->words->away_ns, stays ? 2 : 0,
                          memory_order_relaxed);
}

static void before(void *context, struct eki_sim_rank *rank,
                   struct eki_sim_worker *worker)
{
    struct explore *explore = context;
    explore->rank = rank;
    explore->worker = worker;
    if (worker
            ? worker->state == EKI_SIM_SERIAL
            : rank->state != EKI_SIM_RUNS && rank->state != EKI_SIM_ENDS &&
                  rank->state != EKI_SIM_SERVES && rank->state != EKI_SIM_MOVES)
        explore_progress(explore);
    if (may_lack_memory(explore) &&
        (lasts(explore->scenario) || explore_chance(explore, 100)))
        let_memory_fail(explore);
    if (explore_has_data(explore) && explore_chance(explore, 100))
        draw_hint(explore, rank);
}

static bool after(void *context, struct eki_sim_rank *rank,
                  struct eki_sim_worker *worker)
{
    struct explore *explore = context;
    explore_note(explore, explore->sim->now);
    explore_note(explore, (uint64_t)(rank->number << 8 | (int)rank->state));
    if (worker)
        explore_note(explore,
                     (uint64_t)(worker->worker->id << 8 | (int)worker->state));
    eki_memory_fail(0);
    explore_seen.no_buffer += rank->port->is_starved;
    rank->port->is_starved = false;
    if (explore->broken && explore->broken->after && !explore->has_broken)
        explore->has_broken = explore->broken->after(explore);
    explore_check_event(explore);
    if (explore->is_traced)
        explore_say_event(explore);
    return explore->ledger.failure[0] == '\0';
}

/* Of the phase in which a rank runs its iteration. */
static uint64_t signature_of(const struct explore *explore,
                             const struct eki_sim_rank *rank)
{
    const struct explore_iteration *plan = explore_plan(explore, rank);
    return plan->fault == EXPLORE_SIGNATURE && plan->fault_rank == rank->number
               ? SIGNATURE + 1
               : SIGNATURE;
}

static void enter_slot(struct explore *explore, const struct eki_sim_rank *rank,
                       const struct eki_slot *slot)
{
    ledger_enter(&explore->ledger, slot, rank->iteration);
    ledger_sign(&explore->ledger, slot, signature_of(explore, rank));
}

static void enter_seeds(struct explore *explore,
                        const struct eki_sim_rank *rank,
                        const struct eki_local *local)
{
    for (unsigned char *at = local->seed_base; at != local->seed_top;
         at += local->slot_bytes)
        enter_slot(explore, rank, (struct eki_slot *)at);
}

/* Seeds, and what was spawned in an earlier part of the iteration. */
static void enter_waiting(struct explore *explore,
                          const struct eki_sim_rank *rank,
                          const struct eki_local *local)
{
    enter_seeds(explore, rank, local);
    for (unsigned char *at = local->stack_bottom; at != local->stack_top;
         at += local->slot_bytes)
        enter_slot(explore, rank, (struct eki_slot *)at);
}

static void enter_slots(struct explore *explore, struct eki_sim_rank *rank)
{
    const struct eki_moves *moves = &rank->engine->moves;
    enter_seeds(explore, rank, &rank->engine->pinned.local);
    for (int w = 0; w < rank->topology.workers_here; w++)
        enter_waiting(explore, rank, &rank->workers[w].worker->local);
    for (int64_t i = 0; i < moves->count; i++)
        enter_slot(explore, rank,
                   eki_slot_at(moves->slots, i, rank->engine->slot_bytes));
}

static void enter(void *context, struct eki_sim_rank *rank)
{
    struct explore *explore = context;
    struct explore_member *member = &explore->members[rank->number];
    const struct explore_iteration *plan = explore_plan(explore, rank);
    bool is_first = explore_tally(explore, rank)->entered == 0;
    if (is_first &&
        (rank->iteration == explore->first || plan->plan.is_assembled))
        explore_change_stores(explore);
    explore_add_tasks(explore, rank, 1);
    enter_slots(explore, rank);
    member->spawns_left = plan->spawns;
    member->arrivals = 0;
    member->present = (int)explore_below(explore, rank->topology.workers_here);
    explore_tally(explore, rank)->may_cancel |= plan->fault != EXPLORE_NONE;
    explore_tally(explore, rank)->entered++;
    explore_seen.polled += !explore->scenario->has_server;
}

static bool entered(void *context, struct eki_sim_rank *rank)
{
    const struct explore_iteration *plan = explore_plan(context, rank);
    return (plan->fault == EXPLORE_FAIL || plan->fault == EXPLORE_STOP) &&
           plan->fault_rank == rank->number;
}

static void make_fault(void *context, struct eki_sim_rank *rank)
{
    if (explore_plan(context, rank)->fault == EXPLORE_FAIL)
        eki_engine_fail(rank->engine, EK_ERR_STATE, "it cannot go on");
    else
        eki_engine_stop(rank->engine);
}

static void phase(void *context, struct eki_sim_rank *rank,
                  struct eki_phase *phase)
{
    struct explore *explore = context;
    struct explore_member *member = &explore->members[rank->number];
    uint64_t next = rank->engine->phase + 1;
    if (rank->iteration == explore->first && explore->first > 0 &&
        phase->kind == EKI_PHASE_PROCESS)
        phase->is_retained = explore->is_retained && !explore->deals;
    phase->may_fail = entered(context, rank);
    phase->signature = phase->kind == EKI_PHASE_PROCESS
                           ? signature_of(explore, rank)
                           : SIGNATURE;
    /* The usual reason for another signature is another policy. */
    if (phase->signature != SIGNATURE)
        phase->scheme = eki_scheme_of(
            (ek_steal_policy)explore_below(explore, EK_STEAL_LIFELINE + 1));
    /* ... or another detector. */
    if (!(phase->scheme->detectors >> phase->detector & 1) ||
        (phase->signature != SIGNATURE && explore_chance(explore, 500)))
        phase->detector = EKI_DETECTOR_COUNTING;
    member->requests[(next + 2) & 3] = (struct explore_requests){0, 0};
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct explore_actor *actor = explore_actor(explore, &rank->workers[w]);
        actor->waits = 0;
        actor->cancelled = 0;
    }
    member->waits = 0;
    explore_say(explore, "enters phase %llu", (unsigned long long)next);
}

static void worker_done(void *context, struct eki_sim_worker *worker)
{
    struct explore *explore = context;
    struct eki_sim_rank *rank = worker->rank;
    struct explore_actor *actor = explore_actor(explore, worker);
    explore_progress(explore);
    explore_note_counts(explore,
                        worker); /* it may have cancelled in this step */
    if (actor->heard++ != rank->iteration)
        ledger_fail(&explore->ledger,
                    "worker %d hears the end of iteration %d as its end %d",
                    worker->worker->id, rank->iteration, actor->heard);
    ledger_done(&explore->ledger, rank->iteration, explore->scenario->ranks);
}

static void count_steals(const struct eki_sim_rank *rank)
{
    const struct eki_node_counts *sought = &rank->engine->sought;
    explore_seen.loads_read += sought->loads_read;
    explore_seen.nodes_denied += sought->denied;
    explore_seen.occupied += sought->occupied;
    explore_seen.node_grants += sought->grants;
    explore_seen.cyclic += sought->cyclic;
    bool draws = explore_draws(rank->engine);
    for (int w = 0; w < rank->topology.workers_here; w++) {
        const struct ek_worker *worker = rank->workers[w].worker;
        int64_t granted = explore_answers(worker, 1);
        explore_seen.denied += explore_answers(worker, 0);
        explore_seen.granted += granted;
        explore_seen.steals += draws ? 0 : worker->counts.steals - granted;
        explore_seen.drawn += draws ? worker->counts.tries : 0;
        explore_seen.cached += worker->counts.tile_hits;
    }
}

/* As on_stop=continue does it, with every other seed. */
static void end_part(struct explore *explore, const struct eki_sim_rank *rank,
                     const struct eki_error *error)
{
    bool goes_on =
        eki_error_may_go_on(error) && explore->scenario->seed % 2 == 0;
    explore_tally(explore, rank)->goes_on = goes_on;
    rank->engine->has_parts |= goes_on;
    explore_seen.continued += goes_on;
    if (!goes_on)
        eki_engine_end_parts(rank->engine);
}

static void left(void *context, struct eki_sim_rank *rank,
                 const struct eki_error *error)
{
    struct explore *explore = context;
    count_steals(rank);
    if (explore_tally(explore, rank)->left++ == 0)
        explore_check_stores(explore);
    explore_say(explore, "leaves with status %d", error->status);
    if (explore_has_data(explore))
        explore_check_data(explore, rank);
    explore_check_left(explore, rank, error);
    end_part(explore, rank, error);
}

static void restore(void *context, struct eki_sim_rank *rank)
{
    struct explore *explore = context;
    if (explore_deals(explore, rank))
        return;
    if (explore_tally(explore, rank)->goes_on) {
        eki_memory_fail(0);
        if (eki_engine_continue(rank->engine) != EK_OK)
            ledger_fail(&explore->ledger, "rank %d cannot go on", rank->number);
    }
    if (explore_chance(explore, 300))
        explore_add_tasks(explore, rank, 3);
}

static void restored(void *context, struct eki_sim_rank *rank, ek_status status)
{
    struct explore *explore = context;
    const struct explore_iteration *plan = explore_plan(explore, rank);
    struct tally *tally = explore_tally(explore, rank);
    eki_memory_fail(0);
    if (explore_deals(explore, rank)) {
        if (status != EK_OK)
            ledger_fail(&explore->ledger, "a deal returns %d", status);
        explore_dealt(explore, rank);
        return;
    }
    if (status == EK_ERR_NOMEM && plan->fault == EXPLORE_NO_MEMORY) {
        explore_seen.no_memory++;
        tally->lost_count = true;
        /* What has arrived is here, and can be ordered when there is memory. */
        status = eki_engine_restore_end(rank->engine, plan->plan.order);
    }
    if (status != EK_OK)
        ledger_fail(&explore->ledger, "a restore returns %d", status);
    if (explore->broken && explore->broken->restored && !explore->has_broken)
        explore->has_broken = explore->broken->restored(explore, rank);
    tally->discarded += rank->discarded;
    if (plan->plan.is_balanced)
        explore_seen.balanced += eki_rebalance_own(rank->engine).sent;
    explore_seen.restores++;
    explore_check_held(explore, rank);
    if (explore->scenario->travel.may_follow && !tally->lost_count)
        explore_check_followed(explore, rank);
}

/* Options that no draw has: one would move all others. */
static struct eki_setup engine_of(const struct explore_scenario *scenario)
{
    return (struct eki_setup){
        .deque = scenario->deque,
        .buffer_slots = scenario->buffer_slots,
        .payload_bytes = scenario->payload_bytes,
        .has_homes = scenario->travel.may_follow,
        .seed = scenario->seed,
        .has_counter = true,
        .check_words = scenario->check_words,
        .watch_ns = scenario->check_words == 3 ? 300000 : 0,
        .lines_up = scenario->seed % 2 == 0,
        /* A rank goes without memory for half as long: each wave of that wait
         * is simulated. */
        .stall_ns = lasts(scenario) ? explore_deadline(scenario) / 32 : 0,
        .steal_batch = (int64_t)(scenario->seed / 2 % 3),
        .load_threshold = scenario->seed / 6 % 4 == 3,
        .lifeline = {.graph = (int)(scenario->seed % 5),
                     .radix = 2 + (int64_t)(scenario->seed % 3),
                     .attempts = (int64_t)(scenario->seed % 4)},
        .sws = {.epochs = 1 + (int64_t)(scenario->seed / 16 % 2),
                .damping = (int64_t)(scenario->seed / 2 % 3)},
        /* For some messages to travel in. */
        .hold_ns = 10 * (scenario->law.message + scenario->law.server)};
}

static void set_up(struct explore *explore,
                   const struct explore_scenario *scenario)
{
    explore->machine =
        (struct eki_machine){.name = "a scenario's",
                             .has_server = scenario->has_server,
                             .poll_period = (double)scenario->law.task,
                             .send = 1,
                             .handle = 1};
    explore->program =
        (struct eki_sim_program){.context = explore,
                                 .iteration = iteration_of,
                                 .enter = enter,
                                 .entered = entered,
                                 .fault = make_fault,
                                 .task = explore_task,
                                 .worker_done = worker_done,
                                 .left = left,
                                 .restore = restore,
                                 .restored = restored,
                                 .pace = explore_pace,
                                 .before = before,
                                 .after = after,
                                 .phase = phase,
                                 .sent = explore_check_sent,
                                 .received = explore_check_received};
    size_t slots = (size_t)scenario->message_slots *
                   eki_slot_bytes(scenario->payload_bytes);
    /* Enough for the largest fixed body. */
    size_t fixed = sizeof(struct eki_vote) > sizeof(struct eki_verdict)
                       ? sizeof(struct eki_vote)
                       : sizeof(struct eki_verdict);
    explore->setup = (struct eki_sim_setup){
        .machine = &explore->machine,
        .program = &explore->program,
        .ranks = scenario->ranks,
        .workers = scenario->workers,
        .nodes = scenario->nodes,
        .engine = engine_of(scenario),
        .functions = EXPLORE_FUNCTIONS,
        .has_tiles = scenario->tiling.stores > 0,
        .has_rma = has_one_sided(scenario),
        .has_data = scenario->travel.is_used,
        .data = {.budget_bytes = scenario->travel.budget_bytes,
                 .has_bytes = true},
        .is_reordered = true,
        .late_bytes = scenario->late_bytes,
        .send_buffers = scenario->send_buffers,
        .message_bytes =
            sizeof(struct eki_message) + (slots > fixed ? slots : fixed)};
}

static void open_ranks(struct explore *explore)
{
    struct eki_sim *sim = explore->sim;
    for (int r = 0; r < sim->setup.ranks; r++) {
        struct eki_sim_rank *rank = &sim->ranks[r];
        rank->clock_ns = 1000000 * (uint64_t)(r + 1);
        for (int w = 0; w < rank->topology.workers_here; w++) {
            struct ek_worker *worker = rank->engine->workers[w];
            explore->local[rank->topology.node][worker->local_number] = worker;
        }
    }
}

static const char *end_name(enum eki_sim_end end)
{
    switch (end) {
    case EKI_SIM_END_ASKED:
        return "too many events";
    case EKI_SIM_END_LATE:
        return "the next event is beyond the end of time";
    default:
        return "nothing more happens";
    }
}

bool explore_open(struct explore *explore, int first)
{
    const struct explore_scenario *scenario = explore->scenario;
    explore_destroy_stores(explore);
    eki_sim_destroy(&explore->sim);
    explore->rank = NULL;
    explore->worker = NULL;
    explore->progress_ns = 0;
    explore->deadline_ns = explore_deadline(scenario);
    explore->first = first;
    explore->last = first + 1;
    while (explore->last < scenario->iterations &&
           !scenario->save[explore->last - 1].is_made)
        explore->last++;
    memset(explore->actors, 0, sizeof explore->actors);
    for (int w = 0; w < EXPLORE_WORKERS; w++)
        explore->actors[w].heard = first;
    memset(explore->members, 0, sizeof explore->members);
    memset(explore->announced, 0, sizeof explore->announced);
    set_up(explore, scenario);
    if (eki_sim_create(&explore->setup, &explore->sim) != EK_OK) {
        ledger_fail(&explore->ledger, "cannot create: %s", ek_error_message());
        return false;
    }
    open_ranks(explore);
    explore_open_data(explore);
    return true;
}

/* Run the iterations before the next save, or the end. */
static void run_some(struct explore *explore)
{
    enum eki_sim_end end = eki_sim_run(explore->sim, EVENTS_MOST);
    if (end != EKI_SIM_END_OVER)
        ledger_fail(&explore->ledger, "hangs: %s", end_name(end));
    if (explore->ledger.failure[0] == '\0')
        explore_check_end(explore);
    explore_seen.events += explore->sim->events;
    if (explore->sim->events > explore_seen.most_events)
        explore_seen.most_events = explore->sim->events;
}

bool explore_run(struct explore *explore,
                 const struct explore_scenario *scenario)
{
    explore->now = *scenario;
    explore->scenario = &explore->now;
    explore->has_broken = false;
    explore->hash = scenario->seed;
    explore->deals = false;
    eki_random_seed(&explore->random, scenario->seed, 2);
    ledger_open(&explore->ledger);
    if (!explore_open(explore, 0))
        return false;
    run_some(explore);
    while (explore->ledger.failure[0] == '\0' &&
           explore->last < scenario->iterations &&
           explore_save_and_load(explore))
        run_some(explore);
    explore_seen.schedules++;
    if (explore->ledger.failure[0] != '\0')
        return false;
    explore_destroy_stores(explore);
    eki_sim_destroy(&explore->sim);
    return true;
}

void explore_free(struct explore *explore)
{
    explore_destroy_stores(explore);
    eki_sim_destroy(&explore->sim);
    disk_remove_folder();
    ledger_open(&explore->ledger);
    free(explore->ledger.tasks);
    explore->ledger.tasks = NULL;
    explore->ledger.room = 0;
}
