/* SPDX-License-Identifier: BSD-3-Clause */
/* What is added, and what tasks do when they run. */
#include "explore.h"

#include <string.h>

static void fill_slot(struct explore *explore, struct eki_sim_rank *rank,
                      const struct ek_worker *worker, struct eki_slot *slot,
                      const struct task *given)
{
    int most = explore->scenario->payload_bytes;
    struct explore_member *member = &explore->members[rank->number];
    struct task task = *given;
    task.bytes = (uint16_t)(8 + explore_below(explore, most - 7));
    task.id = eki_id(worker->id, member->next_id++);
    slot->function = 0;
    slot->bytes = task.bytes;
    slot->bin = EKI_BIN_NEVER;
    slot->deviation = (uint8_t)(100 + explore_below(explore, 60));
    if (task.restores && explore->scenario->is_loaded)
        slot->bin =
            (uint16_t)(EKI_BIN_LONG - 200 + explore_below(explore, 400));
    slot->flags = task.restores ? EKI_SLOT_SEED : 0;
    slot->id = task.id;
    ledger_fill(slot, ledger_add(&explore->ledger, 1, &task));
}

static void add_seed(struct explore *explore, struct eki_sim_rank *rank, int w)
{
    struct ek_worker *worker = rank->workers[w].worker;
    struct task task = {.state = TASK_NEW, .restores = true};
    fill_slot(explore, rank, worker, eki_local_add_seed(&worker->local), &task);
}

static void add_pinned(struct explore *explore, struct eki_sim_rank *rank)
{
    _Alignas(16) unsigned char memory[16 + EXPLORE_PAYLOAD] = {0};
    struct eki_slot *slot = (struct eki_slot *)memory;
    struct task task = {.state = TASK_NEW, .restores = true, .pinned = true};
    fill_slot(explore, rank, rank->workers[0].worker, slot, &task);
    eki_pinned_add(&rank->engine->pinned, slot);
    explore_seen.pinned++;
}

static void add_departing(struct explore *explore, struct eki_sim_rank *rank)
{
    _Alignas(16) unsigned char memory[16 + EXPLORE_PAYLOAD] = {0};
    struct eki_slot *slot = (struct eki_slot *)memory;
    struct task task = {.state = TASK_NEW, .restores = true, .hinted = true};
    int to = (int)explore_below(explore, explore->scenario->ranks);
    if (to == rank->number)
        return;
    fill_slot(explore, rank, rank->workers[0].worker, slot, &task);
    eki_engine_depart(rank->engine, slot, to);
}

/* The part of a range that a worker gets: keys FROM ... TO - 1. */
static void add_part(struct explore *explore, struct ek_worker *worker,
                     struct eki_range part, uint64_t number)
{
    struct eki_slot *slot = eki_local_add_seed(&worker->local);
    uint64_t id = eki_id(worker->id, number);
    *slot = (struct eki_slot){.function = 1,
                              .bytes = sizeof part,
                              .bin = EKI_BIN_RANGE,
                              .flags = EKI_SLOT_SEED | EKI_SLOT_RANGE |
                                       EKI_SLOT_CANCELLED,
                              .id = id};
    memcpy(slot->payload, &part, sizeof part);
    worker->local.has_ranges = true;
    for (int64_t i = part.first; i < part.last; i++)
        ledger_find(&explore->ledger, i)->id = id + (uint64_t)(i - part.first);
}

/* Like ek_add_range(): one part per worker. */
static void add_range(struct explore *explore, struct eki_sim_rank *rank)
{
    int workers = rank->topology.workers_here;
    struct explore_member *member = &explore->members[rank->number];
    int most = explore_plan(explore, rank)->range_most;
    int64_t n = 1 + (int64_t)explore_below(explore, most);
    struct task task = {
        .state = TASK_NEW, .bytes = 8, .is_index = true, .restores = true};
    int64_t first = ledger_add(&explore->ledger, n, &task);
    for (int w = 0; w < workers; w++) {
        int64_t share = n / workers, rest = n % workers;
        int64_t from = w * share + (w < rest ? w : rest);
        struct eki_range part = {first + from, first + from + share};
        part.last += w < rest;
        if (part.first != part.last)
            add_part(explore, rank->workers[w].worker, part,
                     member->next_id + (uint64_t)from);
    }
    member->next_id += (uint64_t)n;
}

void explore_add_tasks(struct explore *explore, struct eki_sim_rank *rank,
                       int share)
{
    const struct explore_iteration *plan = explore_plan(explore, rank);
    int n = (int)explore_below(explore, plan->seeds + 1) / share;
    /* Sometimes all on one worker. */
    bool uneven = explore_chance(explore, 300);
    for (int i = 0; i < n; i++)
        add_seed(
            explore, rank,
            uneven ? 0
                   : (int)explore_below(explore, rank->topology.workers_here));
    for (int i = (int)explore_below(explore, plan->ranges + 1) / share; i > 0;
         i--)
        add_range(explore, rank);
    for (int i = plan->pinned / share; i > 0; i--)
        add_pinned(explore, rank);
    for (int i = (int)explore_below(explore, plan->departing + 1) / share;
         i > 0; i--)
        add_departing(explore, rank);
}

/* A task of a phase that another rank has entered with another signature is
 * not run. */
static void check_signature(struct explore *explore,
                            const struct eki_engine *engine, int64_t key)
{
    const struct task *task = ledger_find(&explore->ledger, key);
    if (EKI_UNLIKELY(task->signature != engine->signature))
        ledger_fail(&explore->ledger,
                    "task %lld of signature %llu runs under %llu",
                    (long long)key, (unsigned long long)task->signature,
                    (unsigned long long)engine->signature);
}

static void check_pinned(struct explore *explore,
                         const struct eki_engine *engine, int64_t key)
{
    const struct task *task = ledger_find(&explore->ledger, key);
    const struct eki_topology *topology = engine->topology;
    if (EKI_UNLIKELY(task->pinned &&
                     eki_topology_rank(topology, eki_id_home(task->id)) !=
                         topology->rank))
        ledger_fail(&explore->ledger, "pinned task %lld runs on rank %d",
                    (long long)key, topology->rank);
}

static void begin(struct explore *explore, struct eki_sim_worker *worker)
{
    struct explore_actor *actor = explore_actor(explore, worker);
    const struct ek_worker *inner = worker->worker;
    const struct explore_iteration *plan = explore_plan(explore, worker->rank);
    uint64_t id;
    if (worker->is_index) {
        actor->key = worker->index;
        id = inner->piece.id + (uint64_t)worker->index;
    } else {
        const struct eki_slot *slot = eki_worker_current(inner);
        ledger_compare(&explore->ledger, slot);
        memcpy(actor->copy, slot->payload,
               slot->bytes < EXPLORE_PAYLOAD ? slot->bytes : EXPLORE_PAYLOAD);
        actor->key = ledger_key(slot);
        id = slot->id;
    }
    ledger_begin(&explore->ledger, actor->key, id, worker->rank->iteration);
    check_signature(explore, inner->engine, actor->key);
    check_pinned(explore, inner->engine, actor->key);
    if (worker->never)
        ledger_fail(&explore->ledger, "worker %d has no thread, but tasks",
                    inner->id);
    actor->ops = 0;
    if (explore_chance(explore, plan->spawn_permille))
        actor->ops = 1 + (int)explore_below(explore, plan->ops_most);
    actor->begins = explore_has_data(explore);
    actor->calls = 0;
    actor->leaves = false;
    if (explore_has_tiles(explore) &&
        explore_chance(explore, plan->tile_permille)) {
        actor->calls = 1 + (int)explore_below(explore, plan->calls_most);
        actor->leaves = explore_chance(explore, plan->leave_permille);
    }
    /* Some take no time at all. */
    actor->parts = explore_chance(explore, 850) ? 1 : 0;
    explore_say(explore, "worker %d runs task %lld", inner->id,
                (long long)actor->key);
}

static void spawn(struct explore *explore, struct eki_sim_worker *worker)
{
    struct ek_worker *inner = worker->worker;
    bool keep = explore_chance(explore, 250);
    struct task task = {.state = TASK_NEW,
                        .restores = keep,
                        .signature = inner->engine->signature};
    struct eki_slot *slot = eki_local_push(&inner->local);
    if (!slot)
        return; /* ek_spawn() says so, the task goes on */
    explore->members[worker->rank->number].spawns_left--;
    fill_slot(explore, worker->rank, inner, slot, &task);
    ledger_spawned(&explore->ledger, explore->ledger.count - 1,
                   worker->rank->iteration);
    explore_seen.spawned++;
    explore_seen.kept += keep;
    inner->local.next_id++;
    if (inner->local.stack_top > inner->local.stack_mark)
        eki_worker_publish_now(inner);
}

static void run_op(struct explore *explore, struct eki_sim_worker *worker)
{
    struct explore_actor *actor = explore_actor(explore, worker);
    actor->ops--;
    if (explore->members[worker->rank->number].spawns_left > 0 &&
        explore_chance(explore, 700))
        spawn(explore, worker);
    else
        eki_worker_publish_now(worker->worker); /* ek_poll() */
    actor->parts += explore_chance(explore, 300);
}

void explore_note_failure(struct explore *explore,
                          const struct eki_sim_worker *worker, int code)
{
    struct tally *tally = explore_tally(explore, worker->rank);
    explore_seen.failed++;
    if (explore_plan(explore, worker->rank)->plan.on_failure ==
        EK_ON_FAILURE_CONTINUE)
        return;
    tally->may_cancel = true;
    if (tally->failing_worker < 0 ||
        worker->worker->id < tally->failing_worker) {
        int64_t key = explore_actor(explore, worker)->key;
        tally->failing_worker = worker->worker->id;
        tally->failing_code = code;
        tally->failing_id = ledger_find(&explore->ledger, key)->id;
    }
}

static void stop(struct explore *explore, struct eki_sim_worker *worker)
{
    explore_tally(explore, worker->rank)->may_cancel = true;
    explore_seen.stops++;
    worker->worker->batch.marks |= EKI_MARK_STOP;
    eki_engine_stop(worker->rank->engine);
}

static void fail(struct explore *explore, struct eki_sim_worker *worker)
{
    int code = 1 + (int)explore_below(explore, 9);
    if (explore_chance(explore, 500))
        eki_worker_fail(worker->worker, code, "it failed");
    else
        worker->code = code;
    explore_note_failure(explore, worker, code);
}

/* What the task says of itself. */
static void draw_marks(struct explore *explore, struct eki_sim_worker *worker)
{
    const struct explore_iteration *plan = explore_plan(explore, worker->rank);
    struct ek_worker *inner = worker->worker;
    if (explore_chance(explore, worker->is_index ? 700 : 120))
        inner->batch.marks |= EKI_MARK_DISCARD;
    if (explore_chance(explore, 60))
        inner->batch.marks |= EKI_MARK_SKIP;
    if (explore_chance(explore, 60)) {
        inner->batch.marks |= EKI_MARK_COST;
        inner->batch.cost_ns = 1000 + explore_below(explore, 5000);
    }
    if (explore_chance(explore, plan->stop_permille))
        stop(explore, worker);
    if (explore_chance(explore, plan->fail_permille))
        fail(explore, worker);
}

/* The engine lets a task fail that leaves transfers open. */
static void fail_open(struct explore *explore, struct eki_sim_worker *worker)
{
    if (worker->code == 0 && !(worker->worker->batch.marks & EKI_MARK_FAIL))
        explore_note_failure(explore, worker, EK_ERR_STATE);
}

/* Whether the task has ended well, as far as it says itself. */
static bool is_good(const struct eki_sim_worker *worker)
{
    return worker->code == 0 &&
           !(worker->worker->batch.marks &
             (EKI_MARK_FAIL | EKI_MARK_SKIP | EKI_MARK_DISCARD));
}

static void end(struct explore *explore, struct eki_sim_worker *worker)
{
    const struct explore_actor *actor = explore_actor(explore, worker);
    const struct eki_slot *slot = eki_worker_current(worker->worker);
    if (!worker->is_index &&
        memcmp(slot->payload, actor->copy,
               slot->bytes < EXPLORE_PAYLOAD ? slot->bytes : EXPLORE_PAYLOAD) !=
            0)
        ledger_fail(&explore->ledger, "payload of task %lld changed as it ran",
                    (long long)actor->key);
    draw_marks(explore, worker);
    bool leaves =
        explore_has_tiles(explore) && explore_leave_tiles(explore, worker);
    if (leaves)
        fail_open(explore, worker);
    bool discarded = worker->worker->batch.marks & EKI_MARK_DISCARD;
    if (explore_has_data(explore))
        explore_end_data(explore, worker, is_good(worker) && !leaves);
    ledger_end(&explore->ledger, actor->key, discarded);
    explore_seen.discarded += discarded;
    if (worker->is_index)
        explore_seen.indices++;
    else
        explore_seen.tasks++;
}

/* Most are short, some are long. */
static uint64_t part_ns(struct explore *explore)
{
    const struct explore_law *law = &explore->scenario->law;
    int64_t most = 2 * (int64_t)law->task;
    return 1 + explore_below(explore,
                             explore_chance(explore, 100) ? 10 * most : most);
}

/* Whether the task waits for tiles before it goes on. */
static bool waits(struct explore *explore, struct eki_sim_worker *worker)
{
    const struct explore_actor *actor = explore_actor(explore, worker);
    bool is_last = actor->parts == 0 && actor->ops == 0 && actor->calls == 0;
    return explore_has_tiles(explore) &&
           explore_waits_for_tiles(explore, worker, is_last && !actor->leaves);
}

/* Its input could not be had, as the engine has been told. */
static uint64_t end_without_data(struct explore *explore,
                                 const struct eki_sim_worker *worker)
{
    int64_t key = explore_actor(explore, worker)->key;
    explore_note_failure(explore, worker,
                         ledger_find(&explore->ledger, key)->data.has_failed
                             ? EK_ERR_TASK
                             : EK_ERR_NOMEM);
    ledger_end(&explore->ledger, key, false);
    return EKI_SIM_ENDS_NOW;
}

uint64_t explore_task(void *context, struct eki_sim_worker *worker, bool begins)
{
    struct explore *explore = context;
    struct explore_actor *actor = explore_actor(explore, worker);
    /* Who waits for tiles has looked in vain so far. */
    if (worker->state != EKI_SIM_HALTS)
        explore_progress(explore);
    if (begins)
        begin(explore, worker);
    if (actor->begins) {
        enum eki_data_begun begun = explore_begin_data(explore, worker);
        if (begun == EKI_DATA_WAITS)
            return begins ? 1 : EKI_SIM_WAITS_FOR_TILES;
        actor->begins = false;
        if (begun == EKI_DATA_FAILED)
            return end_without_data(explore, worker);
    }
    for (;;) {
        if (waits(explore, worker))
            return begins ? 1 : EKI_SIM_WAITS_FOR_TILES;
        if (actor->parts > 0) {
            actor->parts--;
            return part_ns(explore);
        }
        if (actor->ops > 0) {
            run_op(explore, worker);
        } else if (actor->calls > 0) {
            actor->calls--;
            explore_call_tile(explore, worker);
        } else {
            break;
        }
    }
    end(explore, worker);
    return EKI_SIM_ENDS_NOW;
}
