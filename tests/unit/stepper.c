/* SPDX-License-Identifier: BSD-3-Clause */
/* The stepper: ranks, their actors, and the turns. */
#include "stepper.h"

#include <stdarg.h>

struct stepper_seen stepper_seen;
bool stepper_is_verbose;

enum {
    TURNS_MOST = 1000000, /* twice what the longest of a million needed */
    ACTORS_MOST = STEPPER_RANKS * (STEPPER_WORKERS + 2)
};

enum rank_state {
    RANK_SERIAL, /* outside the library */
    RANK_FAULT,  /* has entered; a fault comes before its first step */
    RANK_RUNS,
    RANK_ENDS,    /* absent workers are brought to their end */
    RANK_SERVES,  /* workers are done; the server not yet */
    RANK_RESTORE, /* has left the iteration */
    RANK_MOVES,   /* a restore phase */
    RANK_OVER
};

enum worker_state {
    WORKER_OUT,
    WORKER_STEPS,
    WORKER_BATCH, /* takes tasks */
    WORKER_TASK,  /* runs one */
    WORKER_PIECE, /* takes indices */
    WORKER_INDEX, /* runs one */
    WORKER_DONE
};

struct actor {
    struct ek_worker *worker;
    enum worker_state state;
    bool never; /* has no thread in this iteration */
    int wait;   /* turns until it arrives, or until its task goes on */
    int ops;    /* what its task will still do */
    int64_t key;
    int64_t cancelled;
    unsigned char copy[256]; /* of the task's payload */
};

struct rank {
    struct eki_topology *topology;
    struct eki_engine *engine;
    struct actor actors[STEPPER_WORKERS];
    enum rank_state state;
    int number, iteration, wait;
    int spawns_left;
    uint64_t next_id;
    uint64_t clock_ns; /* of its own: an offset */
};

struct world {
    const struct stepper_scenario *scenario;
    struct eki_random random;
    uint64_t now;
    int64_t turn;
    struct net *net;
    struct rank ranks[STEPPER_RANKS];
    void *segments[STEPPER_RANKS];
    struct ledger ledger;
    int sleeps[ACTORS_MOST]; /* turns an actor gets no turn */
};

static uint64_t below(struct world *world, int64_t n)
{
    return n <= 1 ? 0 : eki_random_below(&world->random, (uint64_t)n);
}

static bool chance(struct world *world, int permille)
{
    return (int)below(world, 1000) < permille;
}

static uint64_t now_of(const struct world *world, const struct rank *rank)
{
    return world->now + rank->clock_ns;
}

static const struct stepper_iteration *plan_of(const struct world *world,
                                               const struct rank *rank)
{
    return &world->scenario->iteration[rank->iteration - 1];
}

static void EKI_PRINTF(3, 4)
    say(const struct world *world, const struct rank *rank, const char *format,
        ...)
{
    va_list arguments;
    if (!stepper_is_verbose)
        return;
    fprintf(stderr, "%lld %llu rank %d it %d: ", (long long)world->turn,
            (unsigned long long)world->now, rank->number, rank->iteration);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* Cancelled tasks are known by the workers' counts. */
static void note_counts(struct world *world, struct rank *rank)
{
    for (int w = 0; w < rank->topology->workers_here; w++) {
        struct actor *actor = &rank->actors[w];
        int64_t cancelled = actor->worker->counts.cancelled;
        if (actor->state == WORKER_OUT)
            continue; /* of the last phase */
        world->ledger.tally[rank->iteration].cancelled +=
            cancelled - actor->cancelled;
        stepper_seen.cancelled += cancelled - actor->cancelled;
        actor->cancelled = cancelled;
    }
}

/* Of a worker, after a turn of its rank. */
static void check_worker(struct world *world, const struct ek_worker *worker)
{
    uint64_t answers = worker->answers[0] + worker->answers[1];
    const char *wrong = eki_local_check(&worker->local);
    if (wrong)
        ledger_fail(&world->ledger, "worker %d: %s", worker->id, wrong);
    if (!eki_deque_check(&worker->deque, &worker->words->deque))
        ledger_fail(&world->ledger, "worker %d: deque is broken", worker->id);
    if (answers > worker->asked)
        ledger_fail(&world->ledger, "worker %d got %llu answers to %llu",
                    worker->id, (unsigned long long)answers,
                    (unsigned long long)worker->asked);
}

static void check_rank(struct world *world, struct rank *rank)
{
    if (rank->engine->is_open)
        note_counts(world, rank);
    if (!world->scenario->is_checked)
        return;
    for (int w = 0; w < rank->topology->workers_here; w++)
        check_worker(world, rank->actors[w].worker);
}

static void note_failure(struct world *world, struct rank *rank,
                         const struct ek_worker *worker, int code, uint64_t id)
{
    struct tally *tally = &world->ledger.tally[rank->iteration];
    stepper_seen.failed++;
    if (plan_of(world, rank)->on_failure == EK_ON_FAILURE_CONTINUE)
        return;
    tally->may_cancel = true;
    if (tally->failing_worker < 0 || worker->id < tally->failing_worker) {
        tally->failing_worker = worker->id;
        tally->failing_code = code;
        tally->failing_id = id;
    }
}

static void fill_slot(struct world *world, struct rank *rank,
                      struct ek_worker *worker, struct eki_slot *slot,
                      bool restores, bool hinted)
{
    int most = world->scenario->payload_bytes;
    struct task task = {.state = TASK_NEW,
                        .bytes = (uint16_t)(8 + below(world, most - 7)),
                        .restores = restores,
                        .hinted = hinted};
    slot->function = 0;
    slot->bytes = task.bytes;
    slot->bin = EKI_BIN_NEVER;
    slot->deviation = (uint8_t)(100 + below(world, 60));
    slot->flags = restores ? EKI_SLOT_SEED : 0;
    slot->id = task.id = eki_id(worker->id, rank->next_id++);
    ledger_fill(slot, ledger_add(&world->ledger, 1, &task));
}

static void add_seed(struct world *world, struct rank *rank, int w)
{
    struct ek_worker *worker = rank->actors[w].worker;
    fill_slot(world, rank, worker, eki_local_add_seed(&worker->local), true,
              false);
}

static void add_departing(struct world *world, struct rank *rank)
{
    _Alignas(16) unsigned char memory[16 + 256] = {0};
    struct eki_slot *slot = (struct eki_slot *)memory;
    int to = (int)below(world, world->scenario->ranks);
    if (to == rank->number)
        return;
    fill_slot(world, rank, rank->actors[0].worker, slot, true, true);
    eki_engine_depart(rank->engine, slot, to);
}

/* Like ek_add_range(): one part per worker. */
static void add_range(struct world *world, struct rank *rank)
{
    int workers = rank->topology->workers_here;
    int64_t n = 1 + (int64_t)below(world, chance(world, 100) ? 400 : 40);
    struct task task = {.state = TASK_NEW,
                        .bytes = 8,
                        .is_index = true,
                        .restores = true,
                        .id = rank->next_id};
    int64_t first = ledger_add(&world->ledger, n, &task);
    for (int w = 0; w < workers; w++) {
        int64_t share = n / workers, rest = n % workers;
        int64_t from = w * share + (w < rest ? w : rest);
        int64_t to = from + share + (w < rest);
        if (from == to)
            continue;
        struct ek_worker *worker = rank->actors[w].worker;
        struct eki_slot *slot = eki_local_add_seed(&worker->local);
        struct eki_range range = {first + from, first + to};
        uint64_t id = eki_id(worker->id, rank->next_id + (uint64_t)from);
        *slot = (struct eki_slot){.function = 1,
                                  .bytes = sizeof range,
                                  .bin = EKI_BIN_RANGE,
                                  .flags = EKI_SLOT_SEED | EKI_SLOT_RANGE |
                                           EKI_SLOT_CANCELLED,
                                  .id = id};
        memcpy(slot->payload, &range, sizeof range);
        worker->local.has_ranges = true;
        for (int64_t i = from; i < to; i++)
            world->ledger.tasks[first + i].id = id + (uint64_t)(i - from);
    }
    rank->next_id += (uint64_t)n;
}

static void add_tasks(struct world *world, struct rank *rank, int share)
{
    const struct stepper_iteration *plan = plan_of(world, rank);
    if (plan->seeds > 0) {
        int n = (int)below(world, plan->seeds + 1) / share;
        /* Sometimes all on one worker. */
        bool uneven = chance(world, 300);
        for (int i = 0; i < n; i++)
            add_seed(world, rank,
                     uneven ? 0
                            : (int)below(world, rank->topology->workers_here));
    }
    for (int i = (int)below(world, plan->ranges + 1) / share; i > 0; i--)
        add_range(world, rank);
    for (int i = (int)below(world, plan->departing + 1) / share; i > 0; i--)
        add_departing(world, rank);
}

static void begin_task(struct world *world, struct rank *rank,
                       struct actor *actor, int64_t key, uint64_t id)
{
    ledger_begin(&world->ledger, key, id, rank->iteration);
    actor->key = key;
    actor->ops = 0;
    actor->wait = 0;
    if (chance(world, plan_of(world, rank)->spawn_permille))
        actor->ops = 1 + (int)below(world, 6);
    if (chance(world, 200))
        actor->wait = 1 + (int)below(world, chance(world, 100) ? 300 : 12);
}

static void spawn(struct world *world, struct rank *rank, struct actor *actor)
{
    struct ek_worker *worker = actor->worker;
    bool keep = chance(world, 250);
    struct eki_slot *slot = eki_local_push(&worker->local);
    if (!slot)
        return; /* ek_spawn() says so, the task goes on */
    rank->spawns_left--;
    fill_slot(world, rank, worker, slot, keep, false);
    ledger_spawned(&world->ledger, world->ledger.count - 1, rank->iteration);
    stepper_seen.spawned++;
    stepper_seen.kept += keep;
    worker->next_id++;
    if (worker->local.stack_top > worker->local.stack_mark)
        eki_worker_publish_now(worker);
}

static void task_op(struct world *world, struct rank *rank, struct actor *actor)
{
    actor->ops--;
    if (rank->spawns_left > 0 && chance(world, 700))
        spawn(world, rank, actor);
    else
        eki_worker_publish_now(actor->worker); /* ek_poll() */
}

/* What the task says of itself; what it returns. */
static int draw_marks(struct world *world, struct rank *rank,
                      struct actor *actor, uint64_t id, int null_permille)
{
    const struct stepper_iteration *plan = plan_of(world, rank);
    struct ek_worker *worker = actor->worker;
    int code = 0;
    if (chance(world, null_permille))
        worker->marks |= EKI_MARK_DISCARD;
    if (chance(world, 60))
        worker->marks |= EKI_MARK_SKIP;
    if (chance(world, 60)) {
        worker->marks |= EKI_MARK_COST;
        worker->cost_ns = below(world, 100000);
    }
    if (chance(world, plan->stop_permille)) {
        world->ledger.tally[rank->iteration].may_cancel = true;
        stepper_seen.stops++;
        worker->marks |= EKI_MARK_STOP;
        eki_engine_stop(rank->engine);
    }
    if (chance(world, plan->fail_permille)) {
        int fail_code = 1 + (int)below(world, 9);
        if (chance(world, 500))
            eki_worker_fail(worker, fail_code, "it failed");
        else
            code = fail_code;
        note_failure(world, rank, worker, fail_code, id);
    }
    return code;
}

static void end_task(struct world *world, struct rank *rank,
                     struct actor *actor)
{
    struct ek_worker *worker = actor->worker;
    const struct eki_slot *slot = worker->current;
    uint64_t id = slot->id;
    if (memcmp(slot->payload, actor->copy, slot->bytes) != 0)
        ledger_fail(&world->ledger, "payload of task %lld changed as it ran",
                    (long long)actor->key);
    int code = draw_marks(world, rank, actor, id, 120);
    bool discarded = worker->marks & EKI_MARK_DISCARD;
    ledger_end(&world->ledger, actor->key, discarded);
    stepper_seen.tasks++;
    stepper_seen.discarded += discarded;
    if ((worker->marks | (unsigned)code) != 0)
        eki_worker_mark(worker, code);
}

static void end_index(struct world *world, struct rank *rank,
                      struct actor *actor)
{
    struct ek_worker *worker = actor->worker;
    uint64_t id = world->ledger.tasks[actor->key].id;
    int code = draw_marks(world, rank, actor, id, 700);
    bool discarded = worker->marks & EKI_MARK_DISCARD;
    ledger_end(&world->ledger, actor->key, discarded);
    stepper_seen.indices++;
    stepper_seen.discarded += discarded;
    if (!eki_worker_index_is_null(worker, code))
        eki_worker_index_end(worker, code, now_of(world, rank));
}

/* Take the next task of the batch; false: step. */
static bool take_task(struct world *world, struct rank *rank,
                      struct actor *actor)
{
    const struct eki_slot *slot = eki_worker_take(actor->worker);
    if (!slot)
        return false;
    int64_t key;
    memcpy(&key, slot->payload, sizeof key);
    ledger_compare(&world->ledger, slot);
    memcpy(actor->copy, slot->payload, slot->bytes);
    begin_task(world, rank, actor, key, slot->id);
    say(world, rank, "worker %d runs %lld", actor->worker->id, (long long)key);
    return true;
}

static bool take_index(struct world *world, struct rank *rank,
                       struct actor *actor)
{
    struct ek_worker *worker = actor->worker;
    int64_t index;
    if (!eki_worker_take_index(worker, &index))
        return false;
    begin_task(world, rank, actor, index, worker->index_id + (uint64_t)index);
    return true;
}

/* One turn of a worker that has tasks: several short ones, or a part of one. */
static void run_turn(struct world *world, struct rank *rank,
                     struct actor *actor)
{
    bool is_range =
        actor->state == WORKER_PIECE || actor->state == WORKER_INDEX;
    bool runs = actor->state == WORKER_TASK || actor->state == WORKER_INDEX;
    do {
        if (!runs)
            runs = is_range ? take_index(world, rank, actor)
                            : take_task(world, rank, actor);
        if (!runs) {
            actor->state = WORKER_STEPS;
            return;
        }
        if (actor->wait > 0) {
            actor->wait--;
            break;
        }
        if (actor->ops > 0) {
            task_op(world, rank, actor);
        } else {
            if (is_range)
                end_index(world, rank, actor);
            else
                end_task(world, rank, actor);
            runs = false;
        }
    } while (world->ledger.failure[0] == '\0' && chance(world, 700));
    if (is_range)
        actor->state = runs ? WORKER_INDEX : WORKER_PIECE;
    else
        actor->state = runs ? WORKER_TASK : WORKER_BATCH;
}

static void step_worker(struct world *world, struct rank *rank,
                        struct actor *actor)
{
    struct ek_worker *worker = actor->worker;
    int absent =
        atomic_load_explicit(&rank->engine->absent, memory_order_relaxed);
    int64_t before = eki_local_count(&worker->local);
    enum eki_step step = eki_worker_step(worker, now_of(world, rank));
    if (absent > 0 && step == EKI_STEP_AGAIN &&
        eki_local_count(&worker->local) > before)
        stepper_seen.taken_absent++;
    switch (step) {
    case EKI_STEP_RUN:
    case EKI_STEP_RANGE:
        if (actor->never)
            ledger_fail(&world->ledger, "worker %d has no thread, but tasks",
                        worker->id);
        if (worker->restamp) {
            worker->stamp = now_of(world, rank);
            worker->restamp = false;
        }
        actor->state = step == EKI_STEP_RUN ? WORKER_BATCH : WORKER_PIECE;
        break;
    case EKI_STEP_DONE:
        say(world, rank, "worker %d is done", worker->id);
        note_counts(world, rank); /* it may have cancelled in this step */
        actor->state = WORKER_DONE;
        if (rank->engine->kind == EKI_PHASE_PROCESS)
            ledger_done(&world->ledger, rank->iteration,
                        world->scenario->ranks);
        break;
    default:
        break;
    }
}

/* Whether the next allocation of this turn fails. */
static bool lacks_memory(struct world *world, const struct rank *rank)
{
    const struct stepper_iteration *plan = plan_of(world, rank);
    return plan->fault == STEPPER_NO_MEMORY &&
           (rank->engine->kind == EKI_PHASE_PROCESS || plan->balance >= 0) &&
           chance(world, 100);
}

static void worker_turn(struct world *world, struct rank *rank,
                        struct actor *actor)
{
    bool is_running = rank->state == RANK_RUNS || rank->state == RANK_ENDS ||
                      rank->state == RANK_MOVES;
    if (!is_running || actor->state == WORKER_DONE)
        return;
    if (lacks_memory(world, rank))
        eki_memory_fail(1);
    switch (actor->state) {
    case WORKER_OUT:
        if (actor->never || actor->wait-- > 0)
            break;
        if (rank->engine->kind == EKI_PHASE_PROCESS)
            eki_worker_arrive(actor->worker, now_of(world, rank));
        actor->state = WORKER_STEPS;
        break;
    case WORKER_STEPS:
        step_worker(world, rank, actor);
        break;
    default:
        run_turn(world, rank, actor);
    }
    eki_memory_fail(0);
}

/* A restore is for the server also where there are no messages. */
static bool messages(const struct rank *rank)
{
    return rank->state == RANK_MOVES ||
           atomic_load_explicit(&rank->engine->messages, memory_order_relaxed);
}

static void server_turn(struct world *world, struct rank *rank)
{
    bool is_open = rank->state == RANK_RUNS || rank->state == RANK_ENDS ||
                   rank->state == RANK_MOVES || rank->state == RANK_SERVES;
    if (!is_open || !messages(rank))
        return;
    if (lacks_memory(world, rank))
        eki_memory_fail(1);
    eki_server_step(rank->engine, now_of(world, rank));
    eki_memory_fail(0);
}

static void reset_actors(struct world *world, struct rank *rank)
{
    const struct stepper_iteration *plan = plan_of(world, rank);
    int workers = rank->topology->workers_here;
    int present = (int)below(world, workers);
    for (int w = 0; w < workers; w++) {
        struct actor *actor = &rank->actors[w];
        bool is_late = chance(world, 200);
        actor->state = WORKER_OUT;
        actor->cancelled = 0;
        actor->wait = is_late ? (int)below(world, 400) : 0;
        actor->never = rank->engine->kind == EKI_PHASE_PROCESS &&
                       w != present && chance(world, 10 * plan->absent_percent);
    }
}

static void enter_phase(struct world *world, struct rank *rank,
                        enum eki_phase_kind kind)
{
    const struct stepper_iteration *plan = plan_of(world, rank);
    bool odd = plan->fault == STEPPER_SIGNATURE && kind == EKI_PHASE_PROCESS &&
               plan->fault_rank == rank->number;
    struct eki_phase phase = {.kind = kind,
                              .signature =
                                  1000u + (unsigned)rank->iteration + odd,
                              .steal = plan->steal,
                              .on_failure = plan->on_failure};
    struct eki_balance_wish wish = {.group = plan->balance, .eps = -1};
    if (kind == EKI_PHASE_RESTORE && plan->balance >= 0)
        phase.balance = &wish;
    /* The usual reason for another signature is another policy. */
    if (odd)
        phase.steal = (ek_steal_policy)below(world, EK_STEAL_COUNTER + 1);
    say(world, rank, "enters");
    eki_engine_enter(rank->engine, &phase, now_of(world, rank));
    reset_actors(world, rank);
}

static void enter_iteration(struct world *world, struct rank *rank)
{
    struct tally *tally = &world->ledger.tally[rank->iteration];
    const struct stepper_iteration *plan = plan_of(world, rank);
    const struct eki_departing *departing = &rank->engine->departing;
    add_tasks(world, rank, 1);
    for (int w = 0; w < rank->topology->workers_here; w++) {
        struct eki_local *local = &rank->actors[w].worker->local;
        for (unsigned char *at = local->seed_base; at != local->seed_top;
             at += local->slot_bytes)
            ledger_enter(&world->ledger, (struct eki_slot *)at,
                         rank->iteration);
    }
    for (int64_t i = 0; i < departing->count; i++)
        ledger_enter(&world->ledger,
                     eki_slot_at(departing->slots, i, rank->engine->slot_bytes),
                     rank->iteration);
    rank->spawns_left = plan->spawns;
    if (plan->fault != STEPPER_NONE)
        tally->may_cancel = true;
    tally->entered++;
    enter_phase(world, rank, EKI_PHASE_PROCESS);
    bool has_fault =
        (plan->fault == STEPPER_FAIL || plan->fault == STEPPER_STOP) &&
        plan->fault_rank == rank->number;
    rank->state = has_fault ? RANK_FAULT : RANK_RUNS;
    rank->wait = (int)below(world, 30);
}

static void make_fault(struct world *world, struct rank *rank)
{
    if (plan_of(world, rank)->fault == STEPPER_FAIL)
        eki_engine_fail(rank->engine, EK_ERR_STATE, "it cannot go on");
    else
        eki_engine_stop(rank->engine);
    rank->state = RANK_RUNS;
}

static bool are_done(const struct rank *rank, bool with_absent)
{
    for (int w = 0; w < rank->topology->workers_here; w++) {
        const struct actor *actor = &rank->actors[w];
        if (actor->state != WORKER_DONE && (with_absent || !actor->never))
            return false;
    }
    return true;
}

/* What all ranks must return. */
static void check_error(struct world *world, struct rank *rank,
                        const struct eki_error *error)
{
    struct ledger *ledger = &world->ledger;
    struct tally *tally = &ledger->tally[rank->iteration];
    const struct stepper_iteration *plan = plan_of(world, rank);
    bool has_failed = tally->failing_worker >= 0;
    int expected = has_failed ? EK_ERR_TASK : EK_OK;
    stepper_seen.errors += error->status != EK_OK;
    if (!tally->has_error) {
        tally->error = *error;
        tally->has_error = true;
    }
    if (memcmp(&tally->error, error, sizeof *error) != 0)
        ledger_fail(ledger,
                    "iteration %d: rank %d returns %d of worker %d, another "
                    "%d of worker %d",
                    rank->iteration, rank->number, error->status, error->worker,
                    tally->error.status, tally->error.worker);
    if (plan->fault == STEPPER_SIGNATURE && world->scenario->ranks > 1)
        expected = EK_ERR_ARG;
    if (plan->fault == STEPPER_FAIL)
        expected = EK_ERR_STATE;
    stepper_seen.mismatches += error->status == EK_ERR_ARG;
    stepper_seen.no_memory += error->status == EK_ERR_NOMEM;
    if (error->status != expected &&
        (plan->fault != STEPPER_NO_MEMORY || error->status != EK_ERR_NOMEM))
        ledger_fail(ledger, "iteration %d returns %d, expected %d",
                    rank->iteration, error->status, expected);
    if (error->status == EK_ERR_TASK &&
        (error->worker != tally->failing_worker ||
         error->code != tally->failing_code || error->id != tally->failing_id))
        ledger_fail(ledger,
                    "iteration %d: worker %d failed with %d, task %llx; "
                    "expected %d, %d, %llx",
                    rank->iteration, error->worker, error->code,
                    (unsigned long long)error->id, tally->failing_worker,
                    tally->failing_code, (unsigned long long)tally->failing_id);
}

static void check_sums(struct world *world, const struct rank *rank)
{
    for (int w = 0; w < rank->topology->workers_here; w++) {
        const struct ek_worker *worker = rank->actors[w].worker;
        const struct eki_worker_words *words = worker->words;
        if (words->created != eki_worker_created(worker) ||
            words->executed != worker->executed)
            ledger_fail(&world->ledger, "worker %d left without storing sums",
                        worker->id);
        bool is_process = rank->engine->kind == EKI_PHASE_PROCESS;
        if ((is_process && !eki_local_is_empty(&worker->local)) ||
            atomic_load_explicit(&worker->inbox, memory_order_relaxed))
            ledger_fail(&world->ledger, "worker %d left with tasks",
                        worker->id);
    }
}

/* After the restore: what is here. */
static void check_held(struct world *world, struct rank *rank)
{
    enum eki_order order = plan_of(world, rank)->order;
    struct tally *tally = &world->ledger.tally[rank->iteration];
    for (int w = 0; w < rank->topology->workers_here; w++) {
        struct ek_worker *worker = rank->actors[w].worker;
        struct eki_local *local = &worker->local;
        for (unsigned char *at = local->seed_base; at != local->seed_end;
             at += local->slot_bytes)
            ledger_held(&world->ledger, (struct eki_slot *)at, rank->iteration,
                        worker->id, order == EKI_ORDER_ORIGINAL);
        if (local->log_end != local->log || local->aside != 0 ||
            local->remaining_count != 0 || local->seed_top != local->seed_end)
            ledger_fail(&world->ledger, "worker %d is not restored",
                        worker->id);
    }
    stepper_seen.restores++;
    tally->restored++;
    if (tally->restored == world->scenario->ranks)
        ledger_restored(&world->ledger, rank->iteration);
}

static void next_iteration(struct world *world, struct rank *rank)
{
    check_held(world, rank);
    if (rank->iteration == world->scenario->iterations) {
        rank->state = RANK_OVER;
        return;
    }
    rank->iteration++;
    rank->wait = (int)below(world, plan_of(world, rank)->late_turns + 1);
    rank->state = RANK_SERIAL;
}

static void count_seen(const struct rank *rank)
{
    for (int w = 0; w < rank->topology->workers_here; w++) {
        const struct ek_worker *worker = rank->actors[w].worker;
        bool draws = rank->engine->steal == EK_STEAL_COUNTER;
        stepper_seen.steals += draws ? 0 : worker->counts.successful;
        stepper_seen.denied += (int64_t)worker->answers[0];
        stepper_seen.granted += (int64_t)worker->answers[1];
        stepper_seen.drawn += draws ? worker->counts.attempted : 0;
    }
}

static void leave_phase(struct world *world, struct rank *rank)
{
    struct eki_error error;
    count_seen(rank);
    eki_engine_leave(rank->engine, &error);
    say(world, rank, "leaves with %d", error.status);
    check_sums(world, rank);
    if (rank->engine->kind == EKI_PHASE_RESTORE) {
        const struct stepper_iteration *plan = plan_of(world, rank);
        if (error.status != EK_OK &&
            (plan->fault != STEPPER_NO_MEMORY || error.status != EK_ERR_NOMEM))
            ledger_fail(&world->ledger, "a restore returns %d", error.status);
        if (eki_engine_restore_end(rank->engine, plan->order) != EK_OK)
            ledger_fail(&world->ledger, "no memory to restore");
        if (plan->balance >= 0)
            stepper_seen.balanced += eki_engine_rebalance_sent(rank->engine);
        next_iteration(world, rank);
        return;
    }
    check_error(world, rank, &error);
    rank->state = RANK_RESTORE;
    rank->wait = (int)below(world, 100);
}

static void rebalance(struct world *world, struct rank *rank)
{
    if (eki_engine_rebalance_prepare(rank->engine) != EK_OK)
        ledger_fail(&world->ledger, "no memory to rebalance");
    enter_phase(world, rank, EKI_PHASE_RESTORE);
    rank->state = RANK_MOVES;
}

static void restore(struct world *world, struct rank *rank)
{
    enum eki_order order = plan_of(world, rank)->order;
    int64_t discarded = 0;
    struct tally *tally = &world->ledger.tally[rank->iteration];
    ek_status status = EK_OK;
    if (chance(world, 300))
        add_tasks(world, rank, 3);
    if (order == EKI_ORDER_ORIGINAL) {
        status = eki_engine_restore_pack(rank->engine, &discarded);
        stepper_seen.moved += rank->engine->departing.count;
        tally->discarded += discarded;
        enter_phase(world, rank, EKI_PHASE_RESTORE);
        rank->state = RANK_MOVES;
    } else {
        for (int w = 0; w < rank->topology->workers_here; w++)
            status |=
                eki_engine_restore_worker(rank->engine, w, order, &discarded);
        tally->discarded += discarded;
        if (plan_of(world, rank)->balance >= 0)
            rebalance(world, rank);
        else
            next_iteration(world, rank);
    }
    if (status != EK_OK)
        ledger_fail(&world->ledger, "no memory to restore");
}

static void driver_turn(struct world *world, struct rank *rank)
{
    switch (rank->state) {
    case RANK_SERIAL:
        if (rank->wait-- <= 0)
            enter_iteration(world, rank);
        break;
    case RANK_FAULT:
        if (rank->wait-- <= 0)
            make_fault(world, rank);
        break;
    case RANK_RUNS:
        if (!are_done(rank, false))
            break;
        rank->state = RANK_ENDS;
        for (int w = 0; w < rank->topology->workers_here; w++) {
            if (!rank->actors[w].never)
                continue;
            eki_worker_arrive(rank->actors[w].worker, now_of(world, rank));
            rank->actors[w].state = WORKER_STEPS;
        }
        break;
    case RANK_ENDS:
    case RANK_MOVES:
        if (are_done(rank, true))
            rank->state = RANK_SERVES;
        break;
    case RANK_SERVES:
        if (!messages(rank) ||
            eki_server_step(rank->engine, now_of(world, rank)))
            leave_phase(world, rank);
        break;
    case RANK_RESTORE:
        if (rank->wait-- <= 0)
            restore(world, rank);
        break;
    case RANK_OVER:
        break;
    }
}

static void pass_time(struct world *world)
{
    world->now += below(world, (int64_t)world->scenario->tick_ns + 1);
    /* Now and then much, so that what waits for time gets on. */
    if (chance(world, 15))
        world->now += below(world, INT64_C(1) << (10 + below(world, 12)));
}

/* One of the actors that have something to do. */
static int draw_actor(struct world *world, const struct rank *rank)
{
    int workers = rank->topology->workers_here;
    switch (rank->state) {
    case RANK_RUNS:
    case RANK_ENDS:
    case RANK_MOVES:
        if (!are_done(rank, rank->state != RANK_RUNS))
            return (int)below(world, workers + messages(rank));
        return workers + (int)below(world, 2);
    default:
        return workers + 1;
    }
}

static void turn(struct world *world)
{
    int r = (int)below(world, world->scenario->ranks);
    struct rank *rank = &world->ranks[r];
    int workers = rank->topology->workers_here;
    int a = draw_actor(world, rank);
    int *sleep = &world->sleeps[r * (STEPPER_WORKERS + 2) + a];
    pass_time(world);
    if (*sleep > 0) {
        --*sleep;
        return;
    }
    if (chance(world, 4))
        *sleep = (int)below(world, 200);
    if (a < workers)
        worker_turn(world, rank, &rank->actors[a]);
    else if (a == workers)
        server_turn(world, rank);
    else
        driver_turn(world, rank);
    check_rank(world, rank);
}

static bool all_over(const struct world *world)
{
    for (int r = 0; r < world->scenario->ranks; r++) {
        if (world->ranks[r].state != RANK_OVER)
            return false;
    }
    return true;
}

static void print_worker(const struct actor *actor)
{
    const struct ek_worker *worker = actor->worker;
    fprintf(stderr,
            "    worker %d: state %d%s, phase %llu, created %llu, executed "
            "%llu, stored %llu %llu, idle %llu, local %lld, open %u of word "
            "%llx, inbox %s, steals from %d, asked %llu denied %llu granted "
            "%llu, draw %d\n",
            worker->id, actor->state, actor->never ? " (never)" : "",
            (unsigned long long)worker->words->phase,
            (unsigned long long)eki_worker_created(worker),
            (unsigned long long)worker->executed,
            (unsigned long long)worker->words->created,
            (unsigned long long)worker->words->executed,
            (unsigned long long)worker->words->idle,
            (long long)eki_local_count(&worker->local), worker->deque.open,
            (unsigned long long)worker->words->deque.word,
            worker->inbox ? "filled" : "empty", worker->steal_from,
            (unsigned long long)worker->asked,
            (unsigned long long)worker->answers[0],
            (unsigned long long)worker->answers[1], worker->draw_state);
}

static void print_world(const struct world *world)
{
    const struct stepper_scenario *scenario = world->scenario;
    for (int r = 0; r < scenario->ranks; r++) {
        const struct rank *rank = &world->ranks[r];
        const struct eki_server *server = &rank->engine->server;
        fprintf(stderr,
                "  rank %d on node %d: state %d, iteration %d, phase %llu, "
                "steal %d, wave %llu, voted %d, votes %d %d, verdict to %d, "
                "forwarded %d, messages %d, %d on their way to it, stop %d, "
                "broken %d, departing %lld of %lld, announced %llu\n",
                r, scenario->node_of_rank[r], rank->state, rank->iteration,
                (unsigned long long)rank->engine->phase, rank->engine->steal,
                (unsigned long long)server->wave, server->voted,
                server->has_vote[0], server->has_vote[1], server->verdict_next,
                server->forwarded, messages(rank), net_waiting(world->net, r),
                rank->engine->node->stop[rank->engine->phase & 1] ==
                    rank->engine->phase,
                rank->engine->broken, (long long)server->depart_next,
                (long long)rank->engine->departing.count,
                (unsigned long long)rank->engine->node->announced);
        for (int w = 0; w < rank->topology->workers_here; w++)
            print_worker(&rank->actors[w]);
    }
    for (int i = 1; i <= scenario->iterations; i++)
        fprintf(stderr,
                "  iteration %d: entered %d, pending %lld, cancelled "
                "%lld, fault %d\n",
                i, world->ledger.tally[i].entered,
                (long long)world->ledger.tally[i].pending,
                (long long)world->ledger.tally[i].cancelled,
                scenario->iteration[i - 1].fault);
}

static int no_task(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

static void create_rank(struct world *world, int r)
{
    const struct stepper_scenario *scenario = world->scenario;
    struct rank *rank = &world->ranks[r];
    int node = scenario->node_of_rank[r], function;
    eki_topology_create(r, scenario->ranks, scenario->workers,
                        scenario->node_of_rank, &rank->topology);
    struct eki_setup setup = {
        .topology = rank->topology,
        .fabric = scenario->ranks > 1 ? net_fabric(world->net, r) : NULL,
        .deque = scenario->deque,
        .buffer_slots = scenario->buffer_slots,
        .payload_bytes = scenario->payload_bytes,
        .seed = scenario->seed,
        .has_counter = true,
        .check_words = chance(world, 200) ? 16 : 1};
    if (!world->segments[node])
        world->segments[node] =
            eki_alloc_lines(eki_engine_segment_bytes(&setup));
    setup.segment = world->segments[node];
    eki_engine_create(&setup, &rank->engine);
    for (int f = 0; f < STEPPER_FUNCTIONS; f++)
        eki_engine_register(rank->engine, f ? "index" : "task", no_task, NULL,
                            &function);
    for (int w = 0; w < rank->topology->workers_here; w++)
        rank->actors[w].worker = rank->engine->workers[w];
    rank->number = r;
    rank->iteration = 1;
    rank->clock_ns = 1000000 * (uint64_t)(r + 1);
    rank->wait = (int)below(world, plan_of(world, rank)->late_turns + 1);
}

static void destroy_world(struct world *world)
{
    for (int r = 0; r < world->scenario->ranks; r++) {
        eki_engine_destroy(&world->ranks[r].engine);
        eki_topology_destroy(world->ranks[r].topology);
        eki_free(world->segments[r]);
    }
    net_destroy(world->net);
    free(world->ledger.tasks);
    free(world);
}

/* Every claimed block was finished: all slots are free again. */
static bool is_settled(struct ek_worker *worker)
{
    uint32_t first;
    uint32_t room =
        eki_deque_room(&worker->deque, &worker->words->deque, &first);
    if (worker->deque.kind == EKI_DEQUE_LOCKED)
        return worker->deque.ctail == worker->deque.claimed[0];
    return room > 0 &&
           worker->words->deque.done[0] == worker->deque.claimed[0] &&
           worker->words->deque.done[1] == worker->deque.claimed[1];
}

static void check_end(struct world *world)
{
    uint64_t created = 0, executed = 0;
    const char *wrong = net_check_end(world->net);
    if (wrong)
        ledger_fail(&world->ledger, "%s", wrong);
    for (int r = 0; r < world->scenario->ranks; r++) {
        struct rank *rank = &world->ranks[r];
        for (int w = 0; w < rank->topology->workers_here; w++) {
            if (!is_settled(rank->actors[w].worker))
                ledger_fail(&world->ledger, "a block was not finished");
            created += eki_worker_created(rank->actors[w].worker);
            executed += rank->actors[w].worker->executed;
        }
    }
    if (created != executed)
        ledger_fail(&world->ledger, "created %llu, executed %llu",
                    (unsigned long long)created, (unsigned long long)executed);
}

bool stepper_run(const struct stepper_scenario *scenario)
{
    struct world *world = calloc(1, sizeof *world);
    world->scenario = scenario;
    world->now = 1000;
    eki_random_seed(&world->random, scenario->seed, 1);
    for (int i = 0; i <= STEPPER_ITERATIONS; i++)
        world->ledger.tally[i].failing_worker = -1;
    world->net = net_create(scenario, &world->random, &world->now);
    for (int r = 0; r < scenario->ranks; r++)
        create_rank(world, r);
    for (world->turn = 0; !all_over(world); world->turn++) {
        turn(world);
        if (world->turn > TURNS_MOST)
            ledger_fail(&world->ledger, "hangs: %d turns", TURNS_MOST);
        if (world->ledger.failure[0] != '\0')
            break;
    }
    stepper_seen.turns += world->turn;
    if (world->turn > stepper_seen.most_turns)
        stepper_seen.most_turns = world->turn;
    if (world->ledger.failure[0] == '\0')
        check_end(world);
    if (world->ledger.failure[0] != '\0') {
        fprintf(stderr, "seed %llu, turn %lld: %s\n",
                (unsigned long long)scenario->seed, (long long)world->turn,
                world->ledger.failure);
        print_world(world);
        return false;
    }
    destroy_world(world);
    return true;
}
