/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between two iterations a job saves, as ek_save() does, and other ranks load,
 * as ek_load() does: what an engine holds, tiles and what auto has learned go
 * through the files of src/save.  A second save has other tasks, durations,
 * values and figures.  Some are cut in their middle; then the one before is
 * loaded, or the new one, whole.
 */
#include "disk.h"
#include "explore.h"

#include "collection/saving.h"
#include "printed/printed.h"

#include <stdlib.h>
#include <string.h>

/* How a task is held. */
enum hold {
    HOLD_SEED,
    HOLD_DONE,
    HOLD_WAITS,
    HOLD_PINNED,
    HOLD_PINNED_DONE,
    HOLD_DEPARTS
};

/* What auto learns of a job. */
#define LEARNED(X)                       \
    X(course.state)                      \
    X(course.is_quiet)                   \
    X(course.pause)                      \
    X(course.rebalance_ns)               \
    X(course.talk_ns)                    \
    X(remembered.chooser.laps)           \
    X(remembered.chooser.is_quiet)       \
    X(remembered.chooser.pause)          \
    X(remembered.chooser.has_moved)      \
    X(remembered.chooser.stealing)       \
    X(remembered.chooser.retained)       \
    X(remembered.chooser.last)           \
    X(remembered.chooser.expected)       \
    X(remembered.chooser.surprise)       \
    X(remembered.chooser.promised)       \
    X(remembered.chooser.lasted)         \
    X(remembered.chooser.share)          \
    X(remembered.chooser.wall_ns)        \
    X(remembered.chooser.has_spawned)    \
    X(remembered.chooser.rebalance.left) \
    X(remembered.chooser.rebalance.last) \
    X(remembered.chooser.quiet.left)     \
    X(remembered.chooser.quiet.last)     \
    X(remembered.reached.ratio)          \
    X(remembered.reached.tasks)          \
    X(remembered.reached.group)          \
    X(remembered.imbalance)

/* By save. */
static struct eki_learned learned[2];

typedef void visit_fn(struct explore *explore, struct eki_slot *slot,
                      enum hold hold, int worker);

static void visit_between(struct explore *explore, unsigned char *at,
                          const unsigned char *end, enum hold hold, int worker,
                          visit_fn *visit)
{
    size_t bytes = explore->sim->ranks[0].engine->slot_bytes;
    for (; at != end; at += bytes)
        visit(explore, (struct eki_slot *)at, hold, worker);
}

/* Visit all that a rank holds; what nobody holds is for its first worker. */
static void visit_rank(struct explore *explore, const struct eki_sim_rank *rank,
                       visit_fn *visit)
{
    const struct eki_engine *engine = rank->engine;
    const struct eki_local *local = &engine->pinned.local;
    const struct eki_moves *moves = &engine->moves;
    int first = engine->workers[0]->id;
    visit_between(explore, local->seed_base, local->seed_end, HOLD_PINNED,
                  first, visit);
    visit_between(explore, local->log, local->log_end, HOLD_PINNED_DONE, first,
                  visit);
    for (int64_t i = 0; i < moves->count; i++) {
        explore->departs_to = moves->ranks[i];
        visit(explore, eki_slot_at(moves->slots, i, engine->slot_bytes),
              HOLD_DEPARTS, first);
    }
    explore->departs_to = -1;
    for (int w = 0; w < rank->topology.workers_here; w++) {
        local = &engine->workers[w]->local;
        visit_between(explore, local->seed_base, local->seed_end, HOLD_SEED,
                      first + w, visit);
        visit_between(explore, local->log, local->log_end, HOLD_DONE, first + w,
                      visit);
        visit_between(explore, local->stack_bottom, local->stack_top,
                      HOLD_WAITS, first + w, visit);
    }
}

static void visit_all(struct explore *explore, visit_fn *visit)
{
    explore->visited = 0;
    for (int r = 0; r < explore->scenario->ranks; r++)
        visit_rank(explore, &explore->sim->ranks[r], visit);
}

static const struct eki_engine *engine_of(const struct explore *explore,
                                          int worker)
{
    return explore->sim->workers[worker].engine;
}

static uint64_t key_at(const struct explore *explore, int worker,
                       const struct eki_slot *slot)
{
    return eki_key(engine_of(explore, worker)->key_base, slot->id);
}

static struct task_saved *saved_of(struct explore *explore, int64_t key)
{
    return &ledger_find(&explore->ledger, key)->saved[explore->is_second];
}

/* What a save must not forget. */
static void note_slot(struct explore *explore, struct eki_slot *slot,
                      enum hold hold, int worker)
{
    int64_t key = ledger_key(slot);
    struct task_saved saved = {
        .key = key_at(explore, worker, slot),
        .bin = slot->bin,
        .deviation = slot->deviation,
        .flags = slot->flags,
        .hold = (uint8_t)hold,
        .worker = worker,
        .departs_to = explore->departs_to,
        .place = explore->visited++,
        .home = eki_saving_home(engine_of(explore, worker), slot),
        .is_there = true};
    explore_seen.saved_parts += hold == HOLD_DONE || hold == HOLD_WAITS;
    explore_seen.adopted += (slot->flags & EKI_SLOT_ADOPTED) != 0;
    for (int64_t i = 0; i < eki_slot_tasks(slot); i++, saved.key++)
        *saved_of(explore, key + i) = saved;
}

/* Whether a task that was held as BEFORE may be held as NOW: it departs to
 * nobody else, and what waits stands among the seeds until it is dealt. */
static bool is_held_right(const struct explore *explore, enum hold before,
                          enum hold now, bool stands)
{
    if (explore->deals && now == HOLD_SEED)
        return stands ? before == HOLD_WAITS
                      : before == HOLD_SEED || before == HOLD_DEPARTS;
    return before == now;
}

/* A task is as it was. */
static void compare_task(struct explore *explore, int64_t key,
                         const struct eki_slot *slot, enum hold hold)
{
    const struct task_saved *saved = saved_of(explore, key);
    bool stands =
        hold == HOLD_SEED && saved->hold == HOLD_WAITS && explore->stands;
    int flags = slot->flags & (stands ? ~EKI_SLOT_STANDS : ~0);
    flags &= ~EKI_SLOT_ADOPTED;
    if (saved->bin != slot->bin || saved->deviation != slot->deviation ||
        (saved->flags & ~EKI_SLOT_ADOPTED) != flags ||
        (hold == HOLD_DEPARTS && saved->departs_to != explore->departs_to) ||
        !is_held_right(explore, saved->hold, hold, stands))
        ledger_fail(&explore->ledger,
                    "task %lld is loaded with duration %d, %d, flags %#x, kind "
                    "%d; expected %d, %d, %#x, %d",
                    (long long)key, slot->bin, slot->deviation, flags,
                    (int)hold, saved->bin, saved->deviation, saved->flags,
                    saved->hold);
}

/* Of index and task alike; neighbors have the same one. */
static int owner_of_key(const struct explore *explore, int64_t key)
{
    return (int)(eki_hash(explore->scenario->seed, (uint64_t)key / 3) %
                 (uint64_t)explore->scenario->ranks);
}

/* As ek_set_owner() has it. */
static int owner_of(const ek_task *shown, void *context)
{
    struct explore *explore = context;
    int64_t key;
    memcpy(&key, shown->payload, sizeof key);
    const struct task *task = ledger_find(&explore->ledger, key);
    if (shown->id != saved_of(explore, key)->key ||
        shown->function != task->is_index)
        ledger_fail(&explore->ledger,
                    "the owner of task %lld is asked with id %llx, function %d",
                    (long long)key, (unsigned long long)shown->id,
                    shown->function);
    explore_seen.asked++;
    return owner_of_key(explore, key);
}

/* Where the data of a task must be. */
static int home_of_key(struct explore *explore, int64_t key)
{
    return explore->asks_owner ? owner_of_key(explore, key)
                               : saved_of(explore, key)->home;
}

/* A task with data knows its home, or is where that is. */
static void compare_home(struct explore *explore, int64_t key,
                         const struct eki_slot *slot, enum hold hold,
                         int worker)
{
    const struct eki_engine *engine = engine_of(explore, worker);
    int home =
        explore->deals ? engine->topology->rank : eki_engine_home(engine, slot);
    if (saved_of(explore, key)->home < 0 ||
        (explore->deals && (!explore->data_stays || hold == HOLD_PINNED ||
                            hold == HOLD_PINNED_DONE)))
        return;
    if (home != home_of_key(explore, key))
        ledger_fail(&explore->ledger,
                    "the home of task %lld is loaded as rank %d; expected %d",
                    (long long)key, home, home_of_key(explore, key));
}

/* It is there once, by its key, on the same ranks where it was. */
static void compare_slot(struct explore *explore, struct eki_slot *slot,
                         enum hold hold, int worker)
{
    struct ledger *ledger = &explore->ledger;
    int64_t first = ledger_key(slot), n = eki_slot_tasks(slot);
    uint64_t stays = key_at(explore, worker, slot);
    int place = explore->visited++;
    for (int64_t key = first; key < first + n; key++, stays++) {
        struct task_saved *saved = saved_of(explore, key);
        if (!saved->is_there || saved->key != stays)
            ledger_fail(ledger,
                        "task %lld is loaded twice, or was not saved, with key "
                        "%llx; expected %llx",
                        (long long)key, (unsigned long long)stays,
                        (unsigned long long)saved->key);
        if (!explore->deals &&
            (saved->worker != worker || saved->place != place))
            ledger_fail(ledger,
                        "task %lld is loaded for worker %d, place %d; expected "
                        "%d, %d",
                        (long long)key, worker, place, saved->worker,
                        saved->place);
        saved->is_there = false;
        if (explore->deals)
            ledger_find(ledger, key)->id = slot->id + (uint64_t)(key - first);
        compare_task(explore, key, slot, hold);
        compare_home(explore, key, slot, hold, worker);
    }
    if (!(slot->flags & EKI_SLOT_RANGE))
        ledger_compare(ledger, slot);
}

/* Its id is another one now, and its home whoever holds it, or, if there are as
 * many ranks, the one that it was. */
static void rename_slot(struct explore *explore, struct eki_slot *slot,
                        enum hold hold, int worker)
{
    int64_t first = ledger_key(slot), n = eki_slot_tasks(slot);
    const struct eki_engine *engine = engine_of(explore, worker);
    bool has_data = eki_saving_home(engine, slot) >= 0;
    int home = engine->topology->rank;
    for (int64_t key = first; key < first + n; key++) {
        struct task *task = ledger_find(&explore->ledger, key);
        task->data.home = -1;
        if (explore->data_stays && has_data)
            task->data.home = home = home_of_key(explore, key);
        task->id = slot->id + (uint64_t)(key - first);
        compare_task(explore, key, slot, hold);
        if (saved_of(explore, key)->key !=
            key_at(explore, worker, slot) + (uint64_t)(key - first))
            ledger_fail(&explore->ledger, "task %lld has another key",
                        (long long)key);
    }
    if (eki_engine_home(engine, slot) != home)
        ledger_fail(&explore->ledger,
                    "the home of task %lld is rank %d; expected %d",
                    (long long)first, eki_engine_home(engine, slot), home);
}

/* The simulated job has no collection that makes stores. */
static struct eki_own_stores stores_of(const struct eki_sim_rank *rank)
{
    return (struct eki_own_stores){rank->stores, NULL};
}

static ek_status write_rank(struct explore *explore, struct eki_save_out *out,
                            const struct eki_sim_rank *rank)
{
    int workers = rank->topology.workers_here;
    struct eki_save_numbers *numbers =
        calloc(1, sizeof *numbers + (size_t)workers * sizeof *numbers->workers);
    numbers->home = explore->members[rank->number].next_id;
    for (int w = 0; w < workers; w++)
        numbers->workers[w].spawned = rank->engine->workers[w]->local.next_id;
    ek_status status = eki_save_numbers(out, numbers, workers);
    free(numbers);
    EKI_TRY(status);
    out->home_of = eki_saving_home;
    out->context = rank->engine;
    EKI_TRY(eki_save_held(out, rank->engine));
    EKI_TRY(eki_saving_write_tiles(stores_of(rank), out));
    return eki_save_finish(out, &out->sums);
}

static ek_status write_manifest(struct explore *explore,
                                struct eki_save_out *out,
                                const struct eki_save_sums *sums)
{
    for (int f = 0; f < EXPLORE_FUNCTIONS; f++)
        EKI_TRY(eki_save_function(out, f, "task", 0));
    EKI_TRY(eki_saving_write_stores(stores_of(&explore->sim->ranks[0]), out));
    EKI_TRY(eki_saving_write_learned(&learned[explore->is_second], out));
    return eki_save_finish(out, sums);
}

static void add_sums(struct eki_save_sums *all,
                     const struct eki_save_sums *sums)
{
    all->tasks += sums->tasks;
    all->ids += sums->ids;
    all->place = sums->place > all->place ? sums->place : all->place;
}

/* Write the file of a part; sums of a rank are added to SUMS. */
static ek_status write_part(struct explore *explore, int64_t number, int part,
                            struct eki_save_head *head,
                            struct eki_save_sums *sums)
{
    char name[EKI_SAVE_NAME + sizeof EKI_SAVE_NEW];
    bool is_manifest = part == EKI_SAVE_MANIFEST;
    struct eki_save_out out;
    head->part = part;
    head->workers_here = is_manifest ? 0 : explore->scenario->workers[part];
    eki_save_name(name, disk_folder(), number, part);
    if (is_manifest)
        strcat(name, EKI_SAVE_NEW);
    ek_status status = eki_save_create(&out, name, head);
    if (status == EK_OK)
        status = is_manifest
                     ? write_manifest(explore, &out, sums)
                     : write_rank(explore, &out, &explore->sim->ranks[part]);
    if (!is_manifest)
        add_sums(sums, &out.sums);
    eki_save_abandon(&out);
    return status;
}

/* As ek_save() does it. */
static ek_status write_save(struct explore *explore, int64_t *number)
{
    const struct explore_scenario *scenario = explore->scenario;
    const char *folder = disk_folder();
    struct eki_save_sums sums = {0, 0, 0};
    EKI_TRY(eki_save_newest(folder, number));
    ++*number;
    eki_save_remove(folder, *number, INT64_MAX);
    struct eki_save_head head = {
        .save = eki_splitmix(scenario->seed ^ (uint64_t)*number << 40),
        .iteration = explore->last,
        .ranks = scenario->ranks,
        .workers = explore->sim->topology->workers,
        .last = EK_RESTORE_RETAIN,
        .is_retained = explore->is_retained,
        .key_base = explore->sim->ranks[0].engine->key_base};
    ek_status status = EK_OK;
    for (int r = 0; status == EK_OK && r < scenario->ranks; r++)
        status = write_part(explore, *number, r, &head, &sums);
    if (status == EK_OK)
        status = write_part(explore, *number, EKI_SAVE_MANIFEST, &head, &sums);
    if (status == EK_OK)
        status = eki_save_place(folder, *number);
    if (status == EK_OK)
        eki_save_remove(folder, 0, *number - 2);
    else
        eki_save_remove(folder, *number, *number);
    return status;
}

/* All that a save has to keep. */
static void note_all(struct explore *explore)
{
    visit_all(explore, note_slot);
    explore_note_stores(explore);
#define DRAW(member) \
    learned[explore->is_second].member = (int)explore_below(explore, 3);
    LEARNED(DRAW)
#undef DRAW
}

static void change_duration(struct explore *explore, struct eki_slot *slot,
                            enum hold hold, int worker)
{
    (void)worker;
    if (hold == HOLD_SEED && !(slot->flags & EKI_SLOT_RANGE) &&
        explore_chance(explore, 300))
        slot->bin =
            (uint16_t)(EKI_BIN_LONG - 200 + explore_below(explore, 400));
}

/* A second save is to differ from the first, as after an iteration: tasks are
 * added, removed and measured again. */
static void change_tasks(struct explore *explore)
{
    visit_all(explore, change_duration);
    for (int w = 0; w < explore->sim->topology->workers; w++) {
        struct eki_local *local = &explore->sim->workers[w].worker->local;
        if (local->seed_end == local->seed_base || explore_chance(explore, 600))
            continue;
        local->seed_end -= local->slot_bytes;
        local->seed_top = local->seed_end;
    }
    for (int r = 0; r < explore->scenario->ranks; r++)
        explore_add_tasks(explore, &explore->sim->ranks[r], 1);
    explore_change_values(explore);
}

/* A save, and a second one that is cut where the scenario says. */
static void save(struct explore *explore, const struct explore_save *plan)
{
    struct eki_random random;
    int64_t number, newest;
    for (int64_t key = 0; key < explore->ledger.count; key++)
        memset(explore->ledger.tasks[key].saved, 0,
               sizeof explore->ledger.tasks[key].saved);
    explore->is_second = false;
    note_all(explore);
    /* A schedule begins without any. */
    if (explore->first == 0)
        disk_empty_folder();
    disk_begin(0, 0);
    if (write_save(explore, &number) != EK_OK)
        ledger_fail(&explore->ledger, "cannot save: %s", ek_error_message());
    explore_seen.saves++;
    if (plan->death == 0)
        return;
    change_tasks(explore);
    explore->is_second = true;
    note_all(explore);
    eki_random_seed(&random, explore->scenario->seed,
                    (uint64_t)(1000 + explore->last));
    disk_begin(plan->failure, plan->death);
    bool is_placed = write_save(explore, &number) == EK_OK;
    /* As a program does that goes on. */
    if (!is_placed && !disk_has_died())
        is_placed = write_save(explore, &number) == EK_OK;
    eki_error_take();
    explore_seen.cut += disk_has_died();
    explore_seen.power += disk_has_died() && plan->loses_power;
    if (disk_has_died())
        disk_end(number, plan->loses_power, &random);
    disk_begin(0, 0);
    if (eki_save_newest(disk_folder(), &newest) != EK_OK ||
        newest < number - 1 || (is_placed && newest != number))
        ledger_fail(&explore->ledger, "save %lld is gone, the newest is %lld",
                    (long long)number - !is_placed, (long long)newest);
    explore_seen.old_saves += newest < number;
    explore->is_second = newest == number;
}

/* The rank goes on with its numbers. */
static void take_numbers(struct explore *explore,
                         const struct eki_sim_rank *rank,
                         const struct eki_save_numbers *numbers)
{
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct ek_worker *worker = rank->workers[w].worker;
        worker->local.next_id = worker->first_id = numbers->workers[w].spawned;
    }
    explore->members[rank->number].next_id = numbers->home;
}

static ek_status load_rank(struct explore *explore, struct eki_taking *taking,
                           const struct eki_sim_rank *rank)
{
    EKI_TRY(eki_saving_match_stores(stores_of(rank), taking->manifest));
    EKI_TRY(eki_saving_read_tiles(taking, stores_of(rank)));
    EKI_TRY(eki_saving_take(taking));
    if (taking->is_same)
        take_numbers(explore, rank, taking->numbers);
    return EK_OK;
}

static void compare_learned(struct explore *explore, const char *name,
                            const struct eki_save_manifest *manifest)
{
    struct eki_learned found;
    const struct eki_learned *expected = &learned[explore->is_second];
    if (eki_saving_read_learned(name, manifest, &found) != EK_OK)
        ledger_fail(&explore->ledger, "%s", ek_error_message());
#define COMPARE(member)                   \
    if (found.member != expected->member) \
        ledger_fail(&explore->ledger, "auto has learned another " #member);
    LEARNED(COMPARE)
#undef COMPARE
}

/* As ek_load() does it. */
static ek_status load(struct explore *explore)
{
    static const int functions[EXPLORE_FUNCTIONS] = {0, 1};
    struct eki_save_manifest manifest;
    struct eki_save_sums sums = {0, 0, 0};
    char name[EKI_SAVE_NAME];
    int64_t number;
    EKI_TRY(eki_save_newest(disk_folder(), &number));
    eki_save_name(name, disk_folder(), number, EKI_SAVE_MANIFEST);
    EKI_TRY(eki_save_read_manifest(name, &manifest));
    compare_learned(explore, name, &manifest);
    ek_status status = EK_OK;
    for (int r = 0; status == EK_OK && r < explore->scenario->ranks; r++) {
        const struct eki_sim_rank *rank = &explore->sim->ranks[r];
        rank->engine->key_base = manifest.head.key_base +
                                 (explore->deals ? manifest.head.workers : 0);
        struct eki_taking taking = {.engine = rank->engine,
                                    .folder = disk_folder(),
                                    .number = number,
                                    .manifest = &manifest,
                                    .functions = functions,
                                    .owner =
                                        explore->asks_owner ? owner_of : NULL,
                                    .context = explore,
                                    .is_same = !explore->deals};
        status = load_rank(explore, &taking, rank);
        add_sums(&sums, &taking.sums);
        eki_saving_free_taking(&taking);
    }
    if (status == EK_OK && (!eki_save_sums_equal(&sums, &manifest.sums) ||
                            manifest.head.iteration != explore->first))
        status = eki_error(EK_ERR_FILE, "sums or iteration differ");
    explore->is_retained = manifest.head.is_retained;
    eki_save_free_manifest(&manifest);
    return status;
}

/* What only the other save had. */
static void forget_others(struct explore *explore)
{
    for (int64_t key = 0; key < explore->ledger.count; key++) {
        struct task *task = &explore->ledger.tasks[key];
        if (task->saved[!explore->is_second].is_there &&
            !task->saved[explore->is_second].is_there)
            task->state = TASK_GONE;
    }
}

static void check_lost(struct explore *explore)
{
    struct ledger *ledger = &explore->ledger;
    for (int64_t key = 0; key < ledger->count; key++) {
        if (saved_of(explore, key)->is_there)
            ledger_fail(ledger, "task %lld was saved, but is not loaded",
                        (long long)key);
    }
}

/* The job that goes on has the ranks of PLAN. */
static void change_ranks(struct explore *explore,
                         const struct explore_save *plan)
{
    struct explore_scenario *now = &explore->now;
    struct explore_travel *travel = &now->travel;
    bool is_same = plan->ranks == now->ranks;
    int64_t workers = 0;
    for (int r = 0; is_same && r < now->ranks; r++)
        is_same = plan->workers[r] == now->workers[r];
    explore->deals = !is_same;
    explore->asks_owner =
        plan->asks_owner && travel->is_used && plan->ranks != now->ranks;
    explore->data_stays = plan->ranks == now->ranks || explore->asks_owner;
    now->ranks = plan->ranks;
    memcpy(now->workers, plan->workers, sizeof now->workers);
    memcpy(now->nodes, plan->nodes, sizeof now->nodes);
    if (explore_count_nodes(now) == 1)
        now->late_bytes = 0;
    for (int i = 0; i < now->iterations; i++)
        now->iteration[i].fault_rank %= now->ranks;
    for (int r = 0; r < now->ranks; r++)
        workers = now->workers[r] > workers ? now->workers[r] : workers;
    workers = 2 * (workers + 1) * travel->bytes_most;
    if (travel->budget_bytes > 0 && travel->budget_bytes < workers)
        travel->budget_bytes = workers;
}

/* Ranks that deal what they have loaded do so in an iteration that only
 * restores. */
static void begin_deal(struct explore *explore)
{
    struct eki_sim *sim = explore->sim;
    enum {
        GROUPED = 12 /* workers: of the real ones 1,024 */
    };
    int workers = sim->topology->workers;
    explore->deal = (struct eki_sim_iteration){
        .order = EKI_ORDER_LONGEST,
        .is_balanced = true,
        .balance =
            eki_balance_wish_of(workers > GROUPED ? EK_RESTORE_HIERARCHICAL
                                                  : EK_RESTORE_CENTRALIZED,
                                workers, &eki_option_defaults)};
    for (int r = 0; r < explore->scenario->ranks; r++) {
        struct eki_engine *engine = sim->ranks[r].engine;
        visit_rank(explore, &sim->ranks[r], rename_slot);
        sim->ranks[r].iteration = explore->first - 1;
        sim->ranks[r].state = EKI_SIM_RAN;
        explore->away_count = engine->away_count;
        if (!explore->data_stays)
            engine->away_count = 0;
    }
    /* Data stays where it is. */
    sim->setup.engine.has_homes = false;
    explore->dealing = explore->scenario->ranks;
    explore_seen.dealt++;
}

void explore_dealt(struct explore *explore, const struct eki_sim_rank *rank)
{
    struct eki_sim *sim = explore->sim;
    explore->stands = false;
    rank->engine->away_count = explore->away_count;
    if (eki_saving_wait_again(rank->engine) != EK_OK)
        ledger_fail(&explore->ledger, "cannot deal: %s", ek_error_message());
    eki_saving_make_homes(rank->engine, explore->data_stays);
    visit_rank(explore, rank, rename_slot);
    if (--explore->dealing == 0)
        sim->setup.engine.has_homes = explore->scenario->travel.may_follow;
}

bool explore_save_and_load(struct explore *explore)
{
    const struct explore_save *plan =
        &explore->scenario->save[explore->last - 1];
    const struct eki_sim_iteration *last =
        &explore->scenario->iteration[explore->last - 1].plan;
    explore->is_retained =
        last->order != EKI_ORDER_ORIGINAL &&
        (!last->is_balanced ||
         eki_rebalance_report(explore->sim->ranks[0].engine)->moved == 0);
    /* Tasks that were never in an iteration are saved, too. */
    for (int r = 0; r < explore->scenario->ranks; r++) {
        if (explore_chance(explore, 500))
            explore_add_tasks(explore, &explore->sim->ranks[r], 1);
    }
    save(explore, plan);
    if (explore->ledger.failure[0] != '\0')
        return false;
    change_ranks(explore, plan);
    if (!explore_open(explore, explore->last))
        return false;
    for (int r = 0; r < explore->scenario->ranks; r++)
        explore->sim->ranks[r].iteration = explore->first;
    explore->stands = explore->deals;
    explore_open_saved_stores(explore);
    forget_others(explore);
    if (load(explore) != EK_OK)
        ledger_fail(&explore->ledger, "cannot load: %s", ek_error_message());
    visit_all(explore, compare_slot);
    check_lost(explore);
    explore_check_saved_stores(explore);
    if (explore->deals)
        begin_deal(explore);
    explore_check_all(explore);
    return explore->ledger.failure[0] == '\0';
}
