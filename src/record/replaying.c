/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/replaying.h"

#include "engine/offers.h"
#include "fabric/fabric.h"

#include <inttypes.h>
#include <stdlib.h>

/* What rank 0 tells first. */
struct told {
    int64_t count; /* of turns; -1: the record does not have the iteration */
    int64_t payloads;
    bool was_stopped;
    int stopped;
};

static ek_status no_replay_memory(void)
{
    return eki_error(EK_ERR_NOMEM, "no memory for a replay");
}

/* Whether each rank has as many workers as then. */
static ek_status check_job(const struct eki_record *record,
                           const struct eki_topology *topology)
{
    const struct eki_record_shape *shape = &record->shape;
    if (shape->version != EKI_RECORD_VERSION)
        return eki_error(EK_ERR_FILE,
                         "'%.500s' cannot be replayed: a record of version %d "
                         "does not say all that ran, and in which order; "
                         "record the run again",
                         record->path, shape->version);
    if (shape->ranks != topology->size)
        return eki_error(EK_ERR_FILE,
                         "'%.500s' cannot be replayed: its job had %d ranks, "
                         "this one has %d",
                         record->path, shape->ranks, topology->size);
    for (int rank = 0; rank < shape->ranks; rank++) {
        int workers =
            topology->first_worker[rank + 1] - topology->first_worker[rank];
        if (workers != shape->rank_workers[rank])
            return eki_error(EK_ERR_FILE,
                             "'%.500s' cannot be replayed: rank %d had %d "
                             "workers, and has %d now",
                             record->path, rank, shape->rank_workers[rank],
                             workers);
    }
    return EK_OK;
}

static ek_status open_record(struct eki_replaying *replaying, const char *path,
                             const char *collection,
                             const struct eki_topology *topology)
{
    EKI_TRY(eki_record_open(path, &replaying->record));
    const struct eki_record *record = replaying->record;
    if (strcmp(record->shape.name, collection) != 0) {
        eki_log(EK_LEVEL_WARN, 0, topology->size, "replay",
                "'%.500s' is a record of '%s': '%s' is not replayed; in the "
                "file's name %% stands for the collection's",
                path, record->shape.name, collection);
        eki_record_close(&replaying->record);
        return EK_OK;
    }
    if (!record->is_complete)
        eki_log(EK_LEVEL_WARN, 0, topology->size, "replay", "%s",
                record->warning);
    return check_job(record, topology);
}

ek_status eki_replaying_open(const char *destination, const char *collection,
                             const struct eki_engine *engine,
                             struct eki_replaying **made)
{
    if (strcmp(destination, "0") == 0)
        return EK_OK;
    char *path = eki_record_path(destination, collection);
    struct eki_replaying *replaying = eki_alloc(1, sizeof *replaying);
    ek_status status = path && replaying ? EK_OK : no_replay_memory();
    *made = replaying;
    if (status == EK_OK && engine->topology->rank == 0)
        status = open_record(replaying, path, collection, engine->topology);
    eki_free(path);
    return status;
}

static int by_turn_id(const void *a, const void *b)
{
    const struct eki_turn *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Number of the function of the record's task, or -1. */
static int function_here(const struct eki_record *record,
                         const struct eki_engine *engine, int function)
{
    for (int f = 0; f < engine->function_count; f++) {
        if (strcmp(engine->functions[f].name, record->functions[function]) == 0)
            return f;
    }
    return -1;
}

/* Where turns are put; without TURNS they are counted. */
struct list {
    struct eki_turn *turns;
    int64_t count;
    struct eki_record_payload *payload; /* of the next task that has one */
};

static void put_turn(struct list *list, uint64_t id, int64_t nulls, int worker,
                     int function)
{
    if (list->turns)
        list->turns[list->count] =
            (struct eki_turn){id, list->count, nulls, worker, function};
    list->count++;
}

/* A task that is listed: its payload learns its place.  A pinned one is not at
 * that place. */
static void put_listed(struct list *list, const struct eki_record_task *task,
                       int w, const int *functions)
{
    if (list->turns && task->flags & EKI_RECORD_PAYLOAD) {
        list->payload->task =
            task->flags & EKI_RECORD_PINNED ? -1 : list->count;
        list->payload++;
    }
    put_turn(list, task->id, 0, w, functions[task->function]);
}

/* The indices of a span of worker W: tasks that are listed, from TASK to END,
 * and between them null ones.  Returns the task behind them. */
static const struct eki_record_task *
put_span(struct list *list, const struct eki_record_span *span, int w,
         const struct eki_record_task *task, const struct eki_record_task *end,
         const int *functions)
{
    uint64_t next = span->first, last = span->first + span->count;
    for (; task != end && task->id >= next && task->id < last; task++) {
        if (task->id > next)
            put_turn(list, next, (int64_t)(task->id - next), w,
                     functions[span->function]);
        put_listed(list, task, w, functions);
        next = task->id + 1;
    }
    if (next < last)
        put_turn(list, next, (int64_t)(last - next), w,
                 functions[span->function]);
    return task;
}

/* What worker W has run. */
static void put_worker(struct list *list,
                       const struct eki_record_iteration *iteration, int w,
                       const int *functions)
{
    const struct eki_record_worker *worker = &iteration->workers[w];
    const struct eki_record_task *first = iteration->tasks + worker->first;
    const struct eki_record_task *task = first, *end = first + worker->count;
    const struct eki_record_span *span = iteration->spans + worker->first_span;
    const struct eki_record_span *last = span + worker->spans;
    while (task != end || span != last) {
        if (span != last && span->place <= task - first) {
            task = put_span(list, span++, w, task, end, functions);
        } else {
            put_listed(list, task++, w, functions);
        }
    }
}

/* No task may run twice in an iteration. */
static ek_status check_turns(const struct list *list, const char *path,
                             int base, int64_t iteration)
{
    for (int64_t i = 1; i < list->count; i++) {
        const struct eki_turn *turn = &list->turns[i - 1];
        uint64_t tasks = turn->nulls > 0 ? (uint64_t)turn->nulls : 1;
        if (list->turns[i].id - turn->id < tasks)
            return eki_error(EK_ERR_FILE,
                             "'%.500s' cannot be replayed: task %s is there "
                             "twice in iteration "
                             "%" PRId64,
                             path, eki_key_words(base, list->turns[i].id).text,
                             iteration);
    }
    return EK_OK;
}

/* Of rank 0, whose room FIRSTS [workers + 1] is; FUNCTIONS are those here. */
static ek_status put_turns(struct eki_replaying *replaying,
                           const struct eki_record_iteration *iteration,
                           const int *functions, int64_t *firsts)
{
    const struct eki_record *record = replaying->record;
    int workers = record->shape.workers;
    struct list list = {NULL, 0, iteration->payloads};
    for (int w = 0; w < workers; w++) {
        firsts[w] = list.count;
        put_worker(&list, iteration, w, functions);
    }
    firsts[workers] = list.count;
    list.turns = eki_alloc((size_t)list.count + 1, sizeof *list.turns);
    replaying->replay.turns = list.turns;
    if (!list.turns)
        return no_replay_memory();
    list.count = 0;
    for (int w = 0; w < workers; w++)
        put_worker(&list, iteration, w, functions);
    qsort(list.turns, (size_t)list.count, sizeof *list.turns, by_turn_id);
    return check_turns(&list, record->path, record->shape.key_base,
                       iteration->head.iteration);
}

/* Of rank 0. */
static ek_status take_turns(struct eki_replaying *replaying,
                            const struct eki_engine *engine,
                            struct eki_record_iteration *iteration,
                            struct told *told, int64_t *firsts)
{
    const struct eki_record *record = replaying->record;
    int *functions =
        eki_alloc((size_t)record->function_count + 1, sizeof *functions);
    if (!functions)
        return no_replay_memory();
    for (int f = 0; f < record->function_count; f++)
        functions[f] = function_here(record, engine, f);
    told->stopped = iteration->head.stopped;
    told->was_stopped = iteration->head.status != EK_OK || told->stopped != 0;
    ek_status status = put_turns(replaying, iteration, functions, firsts);
    told->count = firsts[record->shape.workers];
    told->payloads = iteration->payload_count;
    replaying->payloads = iteration->payloads;
    iteration->payloads = NULL;
    eki_free(functions);
    return status;
}

/* Of rank 0: read ITERATION, unless the record does not have it. */
static ek_status read_turns(struct eki_replaying *replaying,
                            const struct eki_engine *engine, int64_t iteration,
                            struct told *told, int64_t *firsts)
{
    struct eki_record *record = replaying->record;
    struct eki_record_iteration read = {.head.iteration = -1};
    while (record && replaying->next < record->iteration_count) {
        EKI_TRY(eki_record_load(record, replaying->next, &read));
        if (read.head.iteration >= iteration)
            break;
        eki_record_unload(&read);
        replaying->next++;
    }
    ek_status status = EK_OK;
    bool is_there = record && replaying->next < record->iteration_count;
    if (is_there && read.head.iteration == iteration)
        status = take_turns(replaying, engine, &read, told, firsts);
    else if (record && !replaying->is_over)
        eki_log(EK_LEVEL_WARN, 0, engine->topology->size, "replay",
                "iteration %lld is not in '%.500s': it runs without a record",
                (long long)iteration, record->path);
    replaying->is_over = !is_there;
    if (is_there)
        eki_record_unload(&read);
    return status;
}

enum {
    PIECE = 1 << 26 /* bytes that are told at once */
};

static ek_status broadcast(struct eki_fabric *fabric, void *data, size_t bytes)
{
    unsigned char *at = data;
    while (bytes > 0) {
        size_t piece = bytes < PIECE ? bytes : PIECE;
        EKI_TRY(eki_fabric_mpi_broadcast(fabric, at, piece, 0));
        at += piece;
        bytes -= piece;
    }
    return EK_OK;
}

static ek_status share_turns(struct eki_replaying *replaying,
                             struct eki_engine *engine, const struct told *told,
                             int64_t *firsts)
{
    struct eki_fabric *fabric = engine->setup.fabric;
    struct eki_replay *replay = &replaying->replay;
    size_t workers = (size_t)engine->topology->workers;
    ek_status status = EK_OK;
    if (!replay->turns)
        replay->turns =
            eki_alloc((size_t)told->count + 1, sizeof *replay->turns);
    if (!replaying->payloads)
        replaying->payloads =
            eki_alloc((size_t)told->payloads + 1, sizeof *replaying->payloads);
    if (!replay->turns || !replaying->payloads)
        status = no_replay_memory();
    if (fabric) {
        EKI_TRY(eki_fabric_mpi_agree(fabric, status));
        EKI_TRY(broadcast(fabric, firsts, (workers + 1) * sizeof *firsts));
        EKI_TRY(broadcast(fabric, replay->turns,
                          (size_t)told->count * sizeof *replay->turns));
        EKI_TRY(
            broadcast(fabric, replaying->payloads,
                      (size_t)told->payloads * sizeof *replaying->payloads));
    }
    if (status == EK_OK && !eki_replay_open(engine, replay, firsts))
        status = no_replay_memory();
    return fabric ? eki_fabric_mpi_agree(fabric, status) : status;
}

static void free_iteration(struct eki_replaying *replaying)
{
    eki_replay_free(&replaying->replay);
    eki_free(replaying->payloads);
    replaying->payloads = NULL;
}

ek_status eki_replaying_enter(struct eki_replaying *replaying,
                              struct eki_engine *engine, int64_t iteration)
{
    struct eki_fabric *fabric = engine->setup.fabric;
    struct eki_replay *replay = &replaying->replay;
    struct told told = {.count = -1};
    int64_t *firsts =
        eki_alloc((size_t)engine->topology->workers + 1, sizeof *firsts);
    ek_status status = firsts ? EK_OK : no_replay_memory();
    if (status == EK_OK && engine->topology->rank == 0)
        status = read_turns(replaying, engine, iteration, &told, firsts);
    if (fabric)
        status = eki_fabric_mpi_agree(fabric, status);
    if (status == EK_OK && fabric)
        status = eki_fabric_mpi_broadcast(fabric, &told, sizeof told, 0);
    if (status == EK_OK && told.count >= 0) {
        replay->iteration = iteration;
        replay->count = told.count;
        replay->was_stopped = told.was_stopped;
        replay->stopped = told.stopped;
        replaying->payload_count = told.payloads;
        status = share_turns(replaying, engine, &told, firsts);
        engine->replay = status == EK_OK ? replay : NULL;
    }
    if (!engine->replay)
        free_iteration(replaying);
    eki_free(firsts);
    return status;
}

/* Whether a task that has run here has another payload than THEN, as far as
 * that is known. */
static bool is_other_payload(const struct eki_engine *engine,
                             const struct eki_record_payload *then)
{
    const struct eki_replay *replay = engine->replay;
    int64_t place = then->task;
    if (place < replay->first || place >= replay->end ||
        *eki_turn_state(replay, place) != EKI_TURN_TAKEN)
        return false;
    const struct eki_slot *slot = eki_turn_slot(engine, place);
    int bytes = slot->bytes < EKI_PAYLOAD_MOST ? slot->bytes : EKI_PAYLOAD_MOST;
    return bytes != then->bytes ||
           memcmp(slot->payload, then->data, (size_t)bytes) != 0;
}

/* Say once that tasks are others.  It is no error: bytes of a payload that
 * nobody sets may differ, too. */
static void check_payloads(struct eki_replaying *replaying,
                           const struct eki_engine *engine)
{
    const struct eki_record_payload *then = replaying->payloads;
    const struct eki_record_payload *end = then + replaying->payload_count;
    while (then != end && !is_other_payload(engine, then))
        then++;
    if (then == end || replaying->has_warned)
        return;
    const struct eki_slot *slot = eki_turn_slot(engine, then->task);
    replaying->has_warned = true;
    eki_log(EK_LEVEL_WARN, engine->topology->rank, engine->topology->size,
            "replay",
            "the payload of task %s of '%s' is not that of "
            "iteration %lld of the record: are the tasks the same?",
            eki_key_words(engine->key_base, slot->id).text,
            engine->functions[slot->function].name,
            (long long)engine->replay->iteration);
}

ek_status eki_replaying_leave(struct eki_replaying *replaying,
                              struct eki_engine *engine, bool was_stopped)
{
    replaying->stopped = engine->replay ? engine->replay->stopped : -1;
    if (!engine->replay)
        return EK_OK;
    check_payloads(replaying, engine);
    ek_status status = eki_replay_close(engine, was_stopped);
    engine->replay = NULL;
    free_iteration(replaying);
    return status;
}

void eki_replaying_close(struct eki_replaying **made)
{
    struct eki_replaying *replaying = *made;
    *made = NULL;
    if (!replaying)
        return;
    eki_record_close(&replaying->record);
    free_iteration(replaying);
    eki_free(replaying);
}
