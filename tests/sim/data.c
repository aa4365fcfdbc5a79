/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that travels: what its home has is a version, which grows by one with
 * each task that has run well, and from which its bytes follow.  So an input is
 * right if it has the bytes of the home's version, a result if it has those of
 * the next one, and all came home if no result is owed.
 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>

/* What unpack_input makes. */
struct object {
    int64_t key;
    int32_t version;
};

static size_t length_of(const struct explore *explore, int64_t key,
                        int32_t version)
{
    return (size_t)(eki_hash((uint64_t)key, (uint64_t)version) %
                    (uint64_t)(explore->scenario->travel.bytes_most + 1));
}

static unsigned char byte_of(int64_t key, int32_t version, size_t i)
{
    return (unsigned char)(key * 31 + version * 17 + (int64_t)i);
}

static void fill(unsigned char *buffer, size_t bytes, int64_t key,
                 int32_t version)
{
    for (size_t i = 0; i < bytes; i++)
        buffer[i] = byte_of(key, version, i);
}

static void compare(struct explore *explore, const char *what, int64_t key,
                    const unsigned char *buffer, size_t bytes, size_t expected,
                    int32_t version)
{
    size_t i = 0;
    while (i < bytes && buffer[i] == byte_of(key, version, i))
        i++;
    if (bytes != expected || i < bytes)
        ledger_fail(&explore->ledger,
                    "%s of task %lld has %zu bytes, right up to %zu; expected "
                    "%zu of version %d",
                    what, (long long)key, bytes, i, expected, version);
}

static int home_of(struct explore *explore, struct task *task)
{
    if (task->data.home < 0)
        task->data.home =
            eki_topology_rank(explore->sim->topology, eki_id_home(task->id));
    return task->data.home;
}

static bool has_data(const struct explore *explore, const struct task *task)
{
    return !task->is_index || explore->scenario->travel.has_indices;
}

static int64_t key_of(const ek_task *task)
{
    int64_t key;
    memcpy(&key, task->payload, sizeof key);
    return key;
}

/* The task that a callback on PARTY is about: its payload is its own, and its
 * home as it should be. */
static struct task *task_of(struct explore_party *party, const char *callback,
                            const ek_task *given, bool is_home)
{
    struct explore *explore = party->explore;
    int64_t key = key_of(given);
    struct task *task = ledger_find(&explore->ledger, key);
    int home = home_of(explore, task);
    int told = given->is_new && !is_home ? party->rank : home;
    int base = explore->sim->ranks[party->rank].engine->key_base;
    explore_progress(explore);
    explore_say(explore, "  %s of task %lld on rank %d, version %d", callback,
                (long long)key, party->rank, task->data.version);
    if (given->id != eki_key(base, task->id) || given->home != told ||
        given->function != task->is_index ||
        (given->is_new ? home == party->rank && !is_home
                       : (home == party->rank) != is_home))
        ledger_fail(&explore->ledger,
                    "%s of task %lld on rank %d: id %llx, home %d; expected "
                    "%llx, %d",
                    callback, (long long)key, party->rank,
                    (unsigned long long)given->id, given->home,
                    (unsigned long long)eki_key(base, task->id), told);
    return task;
}

static bool fails(struct explore *explore)
{
    bool does =
        explore_chance(explore, explore->scenario->travel.fail_permille);
    explore_seen.callbacks += does;
    return does;
}

/* Whether results of an iteration may be lost: nobody could take them. */
static bool may_lose(const struct explore *explore, int iteration)
{
    const struct explore_iteration *plan =
        &explore->scenario->iteration[iteration];
    return plan->fault == EXPLORE_NO_MEMORY ||
           plan->fault == EXPLORE_SIGNATURE || plan->fault == EXPLORE_FAIL;
}

/* At home, before the task has run, and once in an iteration. */
static size_t pack_input(const ek_task *given, void *buffer, void *context)
{
    struct explore_party *party = context;
    struct explore *explore = party->explore;
    struct task *task = task_of(party, "pack_input", given, true);
    int64_t key = key_of(given);
    /* Others may be ahead, in a phase that was stopped. */
    int iteration = explore->sim->ranks[party->rank].iteration;
    size_t bytes = length_of(explore, key, task->data.version);
    /* Who runs it waits for that; where it was cancelled nobody does. */
    bool is_late = !given->is_new && task->state != TASK_RUNS &&
                   task->state != TASK_PENDING &&
                   !(task->state == TASK_HELD &&
                     explore->ledger.tally[iteration].may_cancel);
    if (may_lose(explore, task->iteration))
        ledger_settle(&explore->ledger, task);
    if (is_late || task->data.is_owed)
        ledger_fail(&explore->ledger,
                    "the input of task %lld is packed in state %d%s",
                    (long long)key, task->state,
                    task->data.is_owed ? ", while a result is owed" : "");
    if (!given->is_new && task->data.packed == iteration)
        ledger_fail(&explore->ledger,
                    "the input of task %lld is packed twice in iteration %d",
                    (long long)key, iteration);
    if (!given->is_new)
        task->data.packed = (int16_t)iteration;
    bool has_failed = !given->is_new && fails(explore);
    task->data.has_failed |= has_failed && task->iteration == iteration;
    if (has_failed)
        return explore_chance(explore, 500)
                   ? EK_DATA_FAILED
                   : (size_t)explore->scenario->travel.bytes_most + 1;
    fill(buffer, bytes, key, task->data.version);
    return bytes;
}

static void *unpack_input(const ek_task *given, void *buffer, size_t bytes,
                          void *context)
{
    struct explore_party *party = context;
    struct explore *explore = party->explore;
    struct task *task = task_of(party, "unpack_input", given, false);
    int64_t key = key_of(given);
    compare(explore, "the input", key, buffer, bytes,
            length_of(explore, key, task->data.version), task->data.version);
    if (task->data.object)
        ledger_fail(&explore->ledger, "the input of task %lld comes twice",
                    (long long)key);
    task->data.has_failed = fails(explore);
    if (task->data.has_failed)
        return NULL;
    struct object *object = malloc(sizeof *object);
    if (!object)
        abort();
    *object = (struct object){key, task->data.version};
    task->data.object = object;
    party->objects++;
    return object;
}

/* Frees what unpack_input has made. */
static void drop_object(struct explore_party *party, struct task *task,
                        int64_t key, struct object *object)
{
    if (!party->explore->scenario->travel.unpacks)
        return;
    if (object->key != key || task->data.object != object) {
        ledger_fail(&party->explore->ledger,
                    "pack_result of task %lld is given the data of task %lld",
                    (long long)key, (long long)object->key);
        return;
    }
    party->objects--;
    task->data.object = NULL;
    free(object);
}

/* The task fails after its end: its home has the data as it was. */
static void drop_result(struct explore *explore, struct task *task, int code)
{
    ledger_settle(&explore->ledger, task);
    explore_note_failure(explore, explore->worker, code);
}

static size_t pack_result(const ek_task *given, void *object, void *buffer,
                          void *context)
{
    struct explore_party *party = context;
    struct explore *explore = party->explore;
    struct task *task = task_of(party, "pack_result", given, false);
    int64_t key = key_of(given);
    size_t bytes = length_of(explore, key, task->data.version + 1);
    drop_object(party, task, key, object);
    if (!buffer && task->data.is_owed && may_lose(explore, task->iteration))
        drop_result(explore, task, EK_ERR_NOMEM);
    if ((buffer != NULL) != task->data.is_owed)
        ledger_fail(&explore->ledger,
                    "the result of task %lld is %s, but is %s", (long long)key,
                    buffer ? "wanted" : "dropped",
                    task->data.is_owed ? "owed" : "not owed");
    if (!buffer)
        return 0;
    task->data.is_packed = true;
    if (fails(explore)) {
        drop_result(explore, task, EK_ERR_TASK);
        return EK_DATA_FAILED;
    }
    fill(buffer, bytes, key, task->data.version + 1);
    return bytes;
}

/* The new home of a task has its data. */
static void adopt(struct explore_party *party, struct task *task, int64_t key,
                  const void *buffer, size_t bytes)
{
    struct explore *explore = party->explore;
    compare(explore, "what follows", key, buffer, bytes,
            length_of(explore, key, task->data.version), task->data.version);
    explore_seen.followed++;
    if (!task->data.is_released)
        ledger_fail(&explore->ledger,
                    "the data of task %lld is taken before it is released",
                    (long long)key);
    task->data.is_released = false;
    task->data.home = party->rank;
}

/* At home, once for each task that has ended well. */
static void unpack_result(const ek_task *given, const void *buffer,
                          size_t bytes, void *context)
{
    struct explore_party *party = context;
    struct explore *explore = party->explore;
    const struct explore_travel *travel = &explore->scenario->travel;
    struct task *task = task_of(party, "unpack_result", given, !given->is_new);
    int64_t key = key_of(given);
    if (given->is_new) {
        adopt(party, task, key, buffer, bytes);
        return;
    }
    if (!task->data.is_owed) {
        ledger_fail(&explore->ledger,
                    "a result of task %lld is unpacked that is not owed",
                    (long long)key);
        return;
    }
    /* Without pack_result it is the input's buffer. */
    compare(explore, "the result", key, buffer, bytes,
            length_of(explore, key, task->data.version + travel->packs),
            task->data.version + 1);
    ledger_settle(&explore->ledger, task);
    task->data.version++;
    explore_seen.returned++;
}

static void release(const ek_task *given, void *context)
{
    struct explore_party *party = context;
    int64_t key = key_of(given);
    struct task *task = ledger_find(&party->explore->ledger, key);
    explore_progress(party->explore);
    if (home_of(party->explore, task) != party->rank || task->data.is_released)
        ledger_fail(&party->explore->ledger,
                    "the data of task %lld is released by rank %d",
                    (long long)key, party->rank);
    task->data.is_released = true;
}

static void open_rank(struct explore *explore, int r)
{
    const struct explore_travel *travel = &explore->scenario->travel;
    ek_data_ops ops = EK_DATA_OPS_INIT;
    explore->parties[r] = (struct explore_party){explore, r, 0};
    ops.bytes_max = (size_t)travel->bytes_most;
    ops.pack_input = pack_input;
    ops.unpack_input = travel->unpacks ? unpack_input : NULL;
    ops.pack_result = travel->packs ? pack_result : NULL;
    ops.unpack_result = travel->returns ? unpack_result : NULL;
    ops.release = release;
    ops.context = &explore->parties[r];
    for (int f = 0; f < 1 + travel->has_indices; f++)
        if (eki_data_set(explore->sim->ranks[r].engine, f, &ops) != EK_OK)
            ledger_fail(&explore->ledger, "cannot set data: %s",
                        ek_error_message());
}

void explore_open_data(struct explore *explore)
{
    for (int r = 0; explore_has_data(explore) && r < explore->sim->setup.ranks;
         r++)
        open_rank(explore, r);
}

/* What a task that is away sees of its data. */
static void check_object(struct explore *explore,
                         const struct eki_sim_worker *worker, struct task *task,
                         int64_t key)
{
    const void *data = eki_data_object(worker->worker);
    const struct object *object = data;
    explore_seen.fetched++;
    if (!data)
        ledger_fail(&explore->ledger, "task %lld is away without data",
                    (long long)key);
    else if (!explore->scenario->travel.unpacks)
        compare(explore, "what is seen", key, data,
                length_of(explore, key, task->data.version),
                length_of(explore, key, task->data.version),
                task->data.version);
    else if (object->key != key || object->version != task->data.version)
        ledger_fail(&explore->ledger,
                    "task %lld sees the data of task %lld, version %d",
                    (long long)key, (long long)object->key, object->version);
    if (task->data.packed != worker->rank->iteration)
        ledger_fail(&explore->ledger,
                    "task %lld runs before its input is "
                    "packed",
                    (long long)key);
}

static void check_home(struct explore *explore,
                       const struct eki_sim_worker *worker, struct task *task,
                       int64_t key)
{
    explore_seen.at_home++;
    if (home_of(explore, task) != worker->rank->number ||
        eki_data_object(worker->worker) ||
        task->data.packed == worker->rank->iteration)
        ledger_fail(&explore->ledger,
                    "task %lld runs at home on rank %d; its home is %d, and "
                    "its input was packed in iteration %d",
                    (long long)key, worker->rank->number,
                    home_of(explore, task), task->data.packed);
}

enum eki_data_begun explore_begin_data(struct explore *explore,
                                       struct eki_sim_worker *worker)
{
    struct explore_actor *actor = explore_actor(explore, worker);
    int64_t key = actor->key;
    struct task *task = ledger_find(&explore->ledger, key);
    bool is_first = worker->state != EKI_SIM_HALTS;
    enum eki_data_begun begun = eki_sim_begin_data(explore->sim, worker);
    actor->is_away = begun == EKI_DATA_READY;
    if (begun == EKI_DATA_READY) {
        explore_seen.ahead += is_first;
        check_object(explore, worker, task, key);
    } else if (begun == EKI_DATA_HOME && has_data(explore, task)) {
        check_home(explore, worker, task, key);
    }
    return begun;
}

void explore_end_data(struct explore *explore,
                      const struct eki_sim_worker *worker, bool is_good)
{
    const struct explore_actor *actor = explore_actor(explore, worker);
    const struct explore_travel *travel = &explore->scenario->travel;
    struct task *task = ledger_find(&explore->ledger, actor->key);
    if (!has_data(explore, task))
        return;
    if (!actor->is_away) {
        task->data.version += is_good && travel->returns;
        return;
    }
    explore_seen.kept_none += !is_good;
    if (!travel->packs && travel->unpacks) {
        ledger_fail(&explore->ledger, "an object is never freed");
        return;
    }
    if (!is_good || !travel->returns)
        return;
    task->data.is_owed = true;
    task->data.is_packed = !travel->packs;
    explore_tally(explore, worker->rank)->owed++;
    if (!travel->packs)
        fill(eki_data_object(worker->worker),
             length_of(explore, actor->key, task->data.version), actor->key,
             task->data.version + 1);
}

void explore_check_returned(struct explore *explore,
                            const struct eki_sim_rank *rank)
{
    int64_t owed = explore_tally(explore, rank)->owed;
    if (owed != 0 && !may_lose(explore, rank->iteration))
        ledger_fail(&explore->ledger,
                    "iteration %d ends while %lld results are on their way",
                    rank->iteration, (long long)owed);
}

void explore_check_data(struct explore *explore,
                        const struct eki_sim_rank *rank)
{
    const struct explore_party *party = &explore->parties[rank->number];
    int64_t budget = explore->scenario->travel.budget_bytes;
    int64_t held = eki_data_counts_of(rank->engine).bytes_most;
    explore_check_returned(explore, rank);
    if (party->objects != 0)
        ledger_fail(&explore->ledger, "rank %d leaves with %lld inputs",
                    rank->number, (long long)party->objects);
    if (budget > 0 && held > budget)
        ledger_fail(&explore->ledger, "rank %d held %lld bytes of %lld",
                    rank->number, (long long)held, (long long)budget);
}

/* But for ranges, and tasks that were on their way to a rank of their own. */
void explore_check_followed(struct explore *explore,
                            const struct eki_sim_rank *rank)
{
    for (int w = 0; w < rank->topology.workers_here; w++) {
        const struct eki_local *local = &rank->workers[w].worker->local;
        for (unsigned char *at = local->seed_base; at != local->seed_end;
             at += local->slot_bytes) {
            const struct eki_slot *slot = (const struct eki_slot *)at;
            struct task *task = ledger_find(&explore->ledger, ledger_key(slot));
            int home = home_of(explore, task);
            if (!has_data(explore, task))
                continue;
            if (eki_engine_home(rank->engine, slot) != home ||
                (home != rank->number && !task->hinted &&
                 !(slot->flags & EKI_SLOT_RANGE)))
                ledger_fail(&explore->ledger,
                            "task %lld lies on rank %d, its data on rank %d, "
                            "and the slot says %d",
                            (long long)ledger_key(slot), rank->number, home,
                            eki_engine_home(rank->engine, slot));
        }
    }
}
