/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which tasks of a save a rank takes, and where it holds them.  Ranks that are
 * as many, with as many workers, take their own files.  Others take files in
 * turn.  But a task with data goes to its home: if functions have data, each
 * rank looks for its tasks in all files.
 */
#include "base/plant.h"
#include "collection/saving.h"

ek_status eki_saving_open_part(struct eki_taking *taking, int part,
                               struct eki_save_in *in)
{
    eki_free(taking->numbers);
    taking->numbers = NULL;
    eki_save_name(taking->name, taking->folder, taking->number, part);
    return eki_save_open(in, taking->name, part, taking->manifest,
                         &taking->numbers);
}

/* Whether this collection may hold the task, which may be PINNED. */
static ek_status check_task(const struct eki_taking *taking,
                            const struct eki_save_in *in,
                            const struct eki_save_task *task, bool is_pinned)
{
    const struct eki_engine *engine = taking->engine;
    int64_t most = engine->setup.payload_bytes;
    if (task->head.bytes > most)
        return eki_error(EK_ERR_ARG,
                         "ek_load: payload of %d bytes in '%.500s'; allowed: 0 "
                         "... %lld (option payload_bytes)",
                         task->head.bytes, in->in.path, (long long)most);
    if (is_pinned && in->head.ranks != engine->topology->size)
        return eki_error(EK_ERR_ARG,
                         "ek_load: '%.500s' has tasks that are pinned to one "
                         "of %d ranks; here are %d; allowed: as many",
                         in->in.path, in->head.ranks, engine->topology->size);
    return EK_OK;
}

/* Keep the home of a task only if its id does not tell it.  False: no other
 * homes are known here. */
static bool keep_home(const struct eki_taking *taking,
                      struct eki_save_task *task)
{
    const struct eki_engine *engine = taking->engine;
    if (!taking->is_same || !eki_data_ops_of(engine, task->head.function) ||
        eki_engine_home(engine, &task->head) == task->home)
        task->home = -1;
    return task->home < 0 || engine->setup.has_homes;
}

/* The key that the task keeps, or gets. */
static uint64_t kept_key(struct eki_taking *taking,
                         const struct eki_save_in *in,
                         const struct eki_save_task *task)
{
    struct eki_range range = {0, 1};
    if (!taking->is_anew)
        return eki_key(in->head.key_base, task->head.id);
    if (task->head.flags & EKI_SLOT_RANGE)
        memcpy(&range, task->payload, sizeof range);
    taking->keys += range.last - range.first;
    return eki_id(taking->engine->topology->rank,
                  (uint64_t)(taking->keys - (range.last - range.first)));
}

/* Add a task to where it was, or to the worker whose turn it is. */
static ek_status add_task(struct eki_taking *taking,
                          const struct eki_save_in *in,
                          const struct eki_save_task *task)
{
    struct eki_engine *engine = taking->engine;
    struct eki_save_task mine = *task;
    int workers = in->head.workers_here;
    int here = taking->is_same && task->here < workers ? task->here
                                                       : taking->next_here;
    EKI_TRY(
        check_task(taking, in, task, task->here == eki_save_pinned(workers)));
    taking->next_here = (here + 1) % engine->topology->workers_here;
    mine.head.function = (uint16_t)taking->functions[task->head.function];
    if (!taking->is_same)
        mine.head.id =
            eki_key_move(engine->key_base, kept_key(taking, in, task),
                         engine->workers[here]->id);
    if (!keep_home(taking, &mine))
        return eki_error(EK_ERR_ARG,
                         "ek_load: data of '%s' in '%.500s' has followed its "
                         "tasks; allowed: data=follow, as in the save",
                         engine->functions[mine.head.function].name,
                         in->in.path);
    return eki_save_hold(engine, &in->head, &mine, here, !taking->is_same);
}

/* The program is asked for the home of a task with a PAYLOAD. */
static ek_status ask_owner(const struct eki_taking *taking,
                           const struct eki_save_task *task,
                           const void *payload, size_t bytes, int *rank)
{
    const struct eki_engine *engine = taking->engine;
    memcpy(taking->payload, payload, bytes);
    ek_task shown = {
        .payload = taking->payload,
        .bytes = bytes,
        .id = eki_key(taking->manifest->head.key_base, task->head.id),
        .function = taking->functions[task->head.function],
        .count = 1,
        .worker_id = -1,
        .home = -1};
    *rank = taking->owner(&shown, taking->context);
    if (*rank >= 0 && *rank < engine->topology->size)
        return EK_OK;
    return eki_error(EK_ERR_ARG,
                     "ek_load: owner of a task of '%s' is rank %d; "
                     "allowed: 0 ... %d",
                     engine->functions[shown.function].name, *rank,
                     engine->topology->size - 1);
}

/* Of a range each rank takes the indices whose data it has. */
static ek_status cut_range(struct eki_taking *taking,
                           const struct eki_save_in *in,
                           const struct eki_save_task *task, int *reader)
{
    struct eki_save_task part = *task, one = *task;
    struct eki_range range, piece;
    int rank = taking->engine->topology->rank, next;
    memcpy(&range, task->payload, sizeof range);
    uint64_t id = task->head.id - (uint64_t)range.first; /* of index 0 */
    EKI_TRY(ask_owner(taking, task, &range.first, sizeof range.first, reader));
    next = *reader;
    for (piece = range; piece.first < range.last; piece.first = piece.last) {
        int owner = next;
        piece.last = piece.first + 1;
        while (piece.last < range.last && next == owner) {
            one.head.id = id + (uint64_t)piece.last;
            EKI_TRY(
                ask_owner(taking, &one, &piece.last, sizeof piece.last, &next));
            piece.last += next == owner || EKI_PLANTED(OWNER_BORDER);
        }
        part.head.id = id + (uint64_t)piece.first;
        part.payload = (const unsigned char *)&piece;
        if (owner == rank)
            EKI_TRY(add_task(taking, in, &part));
    }
    return EK_OK;
}

/* Take a task, unless it is another rank's: then that takes it, which reads
 * this file, too. */
static ek_status take_saved(struct eki_taking *taking,
                            const struct eki_save_in *in,
                            const struct eki_save_task *task)
{
    const struct eki_engine *engine = taking->engine;
    int size = engine->topology->size, reader = in->head.part % size;
    bool is_range = task->head.flags & EKI_SLOT_RANGE;
    bool has_data =
        eki_data_ops_of(engine, taking->functions[task->head.function]);
    bool is_asked = taking->owner && has_data;
    if (is_asked && is_range)
        EKI_TRY(cut_range(taking, in, task, &reader));
    else if (is_asked)
        EKI_TRY(
            ask_owner(taking, task, task->payload, task->head.bytes, &reader));
    else if (has_data && !taking->is_same && in->head.ranks == size &&
             task->home >= 0 &&
             task->here != eki_save_pinned(in->head.workers_here))
        reader = task->home;
    if (reader != engine->topology->rank)
        return EK_OK;
    eki_save_count(&taking->sums, in->head.key_base, &task->head,
                   task->payload);
    return is_asked && is_range ? EK_OK : add_task(taking, in, task);
}

static ek_status take_part(struct eki_taking *taking, struct eki_save_in *in)
{
    struct eki_save_task task;
    for (bool found = true; found;) {
        EKI_TRY(eki_save_next(in, &task, &found));
        if (found)
            EKI_TRY(take_saved(taking, in, &task));
    }
    return EK_OK;
}

ek_status eki_saving_take(struct eki_taking *taking)
{
    const struct eki_engine *engine = taking->engine;
    const struct eki_save_head *head = &taking->manifest->head;
    struct eki_save_in in;
    /* A home takes its tasks from all files. */
    bool is_any = engine->away_count > 0 && !taking->is_same;
    if (head->ranks == engine->topology->size)
        taking->owner = NULL;
    if (taking->owner) {
        taking->payload = eki_alloc(1, UINT16_MAX);
        if (!taking->payload)
            return eki_error(EK_ERR_NOMEM, "no memory for a payload");
    }
    for (int part = 0; part < head->ranks; part++) {
        if (!is_any && part % engine->topology->size != engine->topology->rank)
            continue;
        EKI_TRY(eki_saving_open_part(taking, part, &in));
        ek_status status = take_part(taking, &in);
        eki_save_close(&in);
        EKI_TRY(status);
    }
    uint64_t most = eki_key_places(engine->key_base);
    if ((uint64_t)taking->keys > most)
        return eki_error(EK_ERR_ARG,
                         "ek_load: %lld tasks for a rank that have no ids; "
                         "allowed: %llu",
                         (long long)taking->keys, (unsigned long long)most);
    return EK_OK;
}

void eki_saving_free_taking(struct eki_taking *taking)
{
    eki_free(taking->payload);
    eki_free(taking->numbers);
}
