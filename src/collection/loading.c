/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_load(): each rank reads its file, or on another number of ranks some of
 * the files.  The collection is new: where a rank fails, all forget what they
 * have read.
 */
#include "collection/saving.h"

struct load {
    struct eki_saving saving;
    struct eki_save_manifest manifest;
    int *functions; /* [manifest.functions] as they are registered here */
    bool is_same;   /* ranks and workers: each task goes where it was */
    int next_here;  /* else: who gets the next one */
    char *prefix;   /* of the files of the program */
    bool is_anew;   /* keys are new ones */
    int64_t keys;   /* ... of which this rank has given so many */
    unsigned char *payload; /* of a task whose owner the program is asked for */
    struct eki_save_sums sums;        /* of the tasks that were taken */
    struct eki_save_numbers *numbers; /* of the file of this rank */
    struct eki_learned learned;       /* by auto */
};

/* Whether this rank may load. */
static ek_status check_load(const ek_collection *tasks)
{
    EKI_TRY(eki_saving_check(tasks, "ek_load"));
    if (tasks->iteration == 0 && eki_collection_is_bare(tasks))
        return EK_OK;
    return eki_error(EK_ERR_STATE,
                     "ek_load: '%s' has tasks, or has run some; allowed: a new "
                     "collection",
                     tasks->settings.name);
}

static ek_status match_functions(struct load *load, const char *manifest)
{
    load->functions = eki_alloc((size_t)load->manifest.functions + 1,
                                sizeof *load->functions);
    if (!load->functions)
        return eki_sealed_no_memory(manifest);
    for (int f = 0; f < load->manifest.functions; f++) {
        const char *name = load->manifest.list[f].name;
        load->functions[f] = eki_saving_function(load->saving.tasks, name);
        if (load->functions[f] < 0)
            return eki_error(EK_ERR_ARG,
                             "ek_load: function '%s' of '%.500s' is not "
                             "registered; allowed: all functions of the save, "
                             "in any order",
                             name, manifest);
    }
    return EK_OK;
}

/* Whether this collection may hold the task, which may be PINNED. */
static ek_status check_task(const struct load *load,
                            const struct eki_save_in *in,
                            const struct eki_save_task *task, bool is_pinned)
{
    const struct eki_engine *engine = load->saving.tasks->engine;
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

/* The key that the task keeps, or gets. */
static uint64_t kept_key(struct load *load, const struct eki_save_in *in,
                         const struct eki_save_task *task)
{
    struct eki_range range = {0, 1};
    if (!load->is_anew)
        return eki_key(in->head.key_base, task->head.id);
    if (task->head.flags & EKI_SLOT_RANGE)
        memcpy(&range, task->payload, sizeof range);
    load->keys += range.last - range.first;
    return eki_id(load->saving.tasks->topology->rank,
                  (uint64_t)(load->keys - (range.last - range.first)));
}

/* Add a task to where it was, or to the worker whose turn it is. */
static ek_status add_task(struct load *load, const struct eki_save_in *in,
                          const struct eki_save_task *task)
{
    struct eki_engine *engine = load->saving.tasks->engine;
    struct eki_save_task mine = *task;
    int workers = in->head.workers_here;
    int here =
        load->is_same && task->here < workers ? task->here : load->next_here;
    EKI_TRY(check_task(load, in, task, task->here == eki_save_pinned(workers)));
    load->next_here = (here + 1) % engine->topology->workers_here;
    mine.head.function = (uint16_t)load->functions[task->head.function];
    if (!load->is_same) {
        mine.home = -1;
        mine.head.id = eki_key_move(engine->key_base, kept_key(load, in, task),
                                    engine->workers[here]->id);
    }
    if (!eki_saving_keep_home(engine, &mine))
        return eki_error(EK_ERR_ARG,
                         "ek_load: data of '%s' in '%s' has followed its "
                         "tasks; allowed: data=follow, as in the save",
                         engine->functions[mine.head.function].name,
                         load->saving.tasks->settings.name);
    return eki_save_hold(engine, &in->head, &mine, here, !load->is_same);
}

/* The program is asked for the home of a task with a PAYLOAD. */
static ek_status ask_owner(struct load *load, const struct eki_save_task *task,
                           const void *payload, size_t bytes, int *rank)
{
    int base = load->manifest.head.key_base;
    memcpy(load->payload, payload, bytes);
    ek_task shown = {.payload = load->payload,
                     .bytes = bytes,
                     .id = eki_key(base, task->head.id),
                     .function = load->functions[task->head.function],
                     .count = 1,
                     .worker_id = -1,
                     .home = -1};
    return eki_saving_ask_owner(load->saving.tasks, &shown, rank);
}

/* Of a range each rank takes the indices whose data it has. */
static ek_status cut_range(struct load *load, const struct eki_save_in *in,
                           const struct eki_save_task *task, int *reader)
{
    struct eki_save_task part = *task, one = *task;
    struct eki_range range, piece;
    int rank = load->saving.tasks->topology->rank, next;
    memcpy(&range, task->payload, sizeof range);
    uint64_t id = task->head.id - (uint64_t)range.first; /* of index 0 */
    EKI_TRY(ask_owner(load, task, &range.first, sizeof range.first, reader));
    next = *reader;
    for (piece = range; piece.first < range.last; piece.first = piece.last) {
        int owner = next;
        piece.last = piece.first + 1;
        while (piece.last < range.last && next == owner) {
            one.head.id = id + (uint64_t)piece.last;
            EKI_TRY(
                ask_owner(load, &one, &piece.last, sizeof piece.last, &next));
            piece.last += next == owner;
        }
        part.head.id = id + (uint64_t)piece.first;
        part.payload = (const unsigned char *)&piece;
        if (owner == rank)
            EKI_TRY(add_task(load, in, &part));
    }
    return EK_OK;
}

/* Take a task, unless it is another rank's: then that takes it, which reads
 * this file, too. */
static ek_status load_task(struct load *load, const struct eki_save_in *in,
                           const struct eki_save_task *task)
{
    const ek_collection *tasks = load->saving.tasks;
    int size = tasks->topology->size, reader = in->head.part % size;
    bool is_range = task->head.flags & EKI_SLOT_RANGE;
    bool has_data =
        eki_collection_data_of(tasks, load->functions[task->head.function]);
    bool is_asked = load->payload && has_data;
    if (is_asked && is_range)
        EKI_TRY(cut_range(load, in, task, &reader));
    else if (is_asked)
        EKI_TRY(
            ask_owner(load, task, task->payload, task->head.bytes, &reader));
    else if (has_data && !load->is_same && in->head.ranks == size &&
             task->home >= 0 &&
             task->here != eki_save_pinned(in->head.workers_here))
        reader = task->home;
    if (reader != tasks->topology->rank)
        return EK_OK;
    eki_save_count(&load->sums, in->head.key_base, &task->head, task->payload);
    return is_asked && is_range ? EK_OK : add_task(load, in, task);
}

static ek_status load_file(struct load *load, struct eki_save_in *in)
{
    struct eki_save_task task;
    for (bool found = true; found;) {
        EKI_TRY(eki_save_next(in, &task, &found));
        if (found)
            EKI_TRY(load_task(load, in, &task));
    }
    return EK_OK;
}

/* Open the file of PART. */
static ek_status open_part(struct load *load, int part, struct eki_save_in *in,
                           char name[EKI_SAVE_NAME])
{
    eki_free(load->numbers);
    load->numbers = NULL;
    eki_save_name(name, load->saving.folder, load->saving.number, part);
    return eki_save_open(in, name, part, &load->manifest, &load->numbers);
}

/* Ranks with no STATUS find out whether they are as many, with as many workers,
 * as in the save; collective. */
static ek_status compare_ranks(struct load *load, ek_status status)
{
    const struct eki_topology *topology = load->saving.tasks->topology;
    char name[EKI_SAVE_NAME];
    struct eki_save_in in;
    bool is_mine = false, is_all;
    if (status == EK_OK && load->manifest.head.ranks == topology->size) {
        status = open_part(load, topology->rank, &in, name);
        is_mine =
            status == EK_OK && in.head.workers_here == topology->workers_here;
        if (status == EK_OK)
            eki_save_close(&in);
    }
    status = eki_fabric_mpi_agree_on(load->saving.tasks->fabric, status,
                                     is_mine, &is_all);
    load->is_same = is_mine && is_all;
    return status;
}

static ek_status load_files(struct load *load)
{
    const ek_collection *tasks = load->saving.tasks;
    const struct eki_topology *topology = tasks->topology;
    char name[EKI_SAVE_NAME];
    struct eki_save_in in;
    /* A home takes its tasks from all files. */
    bool is_any = tasks->callbacks && !load->is_same;
    if (is_any && tasks->callbacks->owner &&
        load->manifest.head.ranks != topology->size) {
        load->payload = eki_alloc(1, UINT16_MAX);
        if (!load->payload)
            return eki_error(EK_ERR_NOMEM, "no memory for a payload");
    }
    for (int part = 0; part < load->manifest.head.ranks; part++) {
        if (!is_any && part % topology->size != topology->rank)
            continue;
        EKI_TRY(open_part(load, part, &in, name));
        ek_status status = load_file(load, &in);
        eki_save_close(&in);
        EKI_TRY(status);
    }
    uint64_t most = eki_key_places(tasks->engine->key_base);
    if ((uint64_t)load->keys > most)
        return eki_error(EK_ERR_ARG,
                         "ek_load: %lld tasks for a rank that have no ids; "
                         "allowed: %llu",
                         (long long)load->keys, (unsigned long long)most);
    return eki_saving_read_tiles(&load->saving, &load->manifest);
}

/* What all ranks have read is what the manifest says; collective. */
static ek_status compare_sums(struct load *load)
{
    const struct eki_saving *saving = &load->saving;
    const struct eki_save_sums *sums = &load->manifest.sums;
    struct eki_fabric *fabric = saving->tasks->fabric;
    ek_status status = EK_OK;
    EKI_TRY(eki_saving_sum(saving, &load->sums));
    if (fabric->rank == 0 && !eki_save_sums_equal(&load->sums, sums))
        status = eki_error(EK_ERR_FILE,
                           "'%.500s/save-%lld.manifest' has %lld tasks, its "
                           "files have %lld, or others%s",
                           saving->folder, (long long)saving->number,
                           (long long)sums->tasks, (long long)load->sums.tasks,
                           load->payload ? "; is the owner of a task the same "
                                           "on all ranks?"
                                         : "");
    return eki_fabric_mpi_agree(fabric, status);
}

/* Tasks lie where they were, and get the numbers that come: auto goes on. */
static void take_what_follows(const struct load *load)
{
    ek_collection *tasks = load->saving.tasks;
    const struct eki_save_head *head = &load->manifest.head;
    const struct eki_save_numbers *numbers = load->numbers;
    tasks->seeds.home.next_id = numbers->home;
    tasks->seeds.home.next_worker = numbers->home_worker;
    tasks->seeds.foreign.dealer.next_id = numbers->foreign;
    tasks->seeds.foreign.dealer.next_worker = numbers->foreign_worker;
    for (int here = 0; here < tasks->topology->workers_here; here++) {
        struct ek_worker *worker = tasks->engine->workers[here];
        tasks->seeds.inlets[here].dealer.next_id = numbers->workers[here].inlet;
        worker->local.next_id = worker->first_id =
            numbers->workers[here].spawned;
    }
    tasks->restores.policy = head->last;
    tasks->restores.chosen = head->chosen;
    tasks->restores.is_retained = head->is_retained;
    tasks->restores.course = load->learned.course;
    eki_rebalance_remember(tasks->engine, &load->learned.remembered);
}

/* Where the program finds its files. */
static ek_status note_prefix(struct load *load)
{
    load->prefix = eki_alloc(EKI_SAVE_NAME, 1);
    if (!load->prefix)
        return eki_error(EK_ERR_NOMEM, "no memory for the name of a save");
    eki_save_prefix(load->prefix, load->saving.folder, load->saving.number);
    return EK_OK;
}

/* Tasks that move keep their keys, if all of these have room in ids. */
static void choose_keys(struct load *load)
{
    const ek_collection *tasks = load->saving.tasks;
    const struct eki_save_head *head = &load->manifest.head;
    uint64_t most = load->manifest.sums.place;
    int base = head->key_base + (load->is_same ? 0 : head->workers);
    load->is_anew =
        !load->is_same && (base > EKI_HOMES_MOST - tasks->topology->workers ||
                           most >= eki_key_places(base));
    if (load->is_anew) {
        /* As if each rank had been a worker, with what it reads. */
        base = tasks->topology->size;
        if (tasks->topology->rank == 0)
            eki_log(EK_LEVEL_WARN, 0, tasks->topology->size, "load",
                    "the tasks of '%s' get new ids: those of all jobs so far "
                    "need more than 64 bits",
                    tasks->settings.name);
    }
    tasks->engine->key_base = base;
}

/* Ranks with no STATUS know the newest save, and its manifest; collective. */
static ek_status find_save(struct load *load, ek_status status)
{
    struct eki_saving *saving = &load->saving;
    struct eki_fabric *fabric = saving->tasks->fabric;
    char name[EKI_SAVE_NAME];
    EKI_TRY(eki_saving_agree(saving, status));
    if (fabric->rank == 0) {
        status = eki_save_newest(saving->folder, &saving->number);
        if (status == EK_OK && saving->number == 0)
            status = eki_error(EK_ERR_FILE,
                               "ek_load: no save is in the folder '%.500s'",
                               saving->folder);
    }
    EKI_TRY(eki_fabric_mpi_agree(fabric, status));
    EKI_TRY(eki_fabric_mpi_broadcast(fabric, &saving->number,
                                     sizeof saving->number, 0));
    eki_save_name(name, saving->folder, saving->number, EKI_SAVE_MANIFEST);
    status = eki_save_read_manifest(name, &load->manifest);
    if (status == EK_OK)
        status = match_functions(load, name);
    if (status == EK_OK)
        status = eki_saving_match_stores(saving->tasks, &load->manifest);
    if (status == EK_OK)
        status = eki_saving_read_learned(name, &load->manifest, &load->learned);
    if (status == EK_OK)
        status = note_prefix(load);
    return compare_ranks(load, status);
}

/* Collective; on failure some tasks may have been read. */
static ek_status load_tasks(struct load *load)
{
    ek_collection *tasks = load->saving.tasks;
    choose_keys(load);
    EKI_TRY(eki_fabric_mpi_agree(tasks->fabric, load_files(load)));
    EKI_TRY(compare_sums(load));
    /* They are for tasks that were never measured. */
    eki_hints_free(&tasks->parts.hints);
    if (load->is_same)
        take_what_follows(load);
    else
        EKI_TRY(
            eki_saving_deal(tasks, load->payload || load->manifest.head.ranks ==
                                                        tasks->topology->size));
    for (int f = 0; f < load->manifest.functions; f++) {
        if (load->manifest.list[f].indices != 0)
            eki_collection_note_indices(tasks, load->functions[f],
                                        load->manifest.list[f].indices);
    }
    tasks->iteration = load->manifest.head.iteration;
    /* Here, too, where none of the tasks is done. */
    tasks->engine->has_parts |= load->manifest.head.goes_on;
    tasks->restores.parts = load->manifest.head.parts;
    eki_free(tasks->parts.saves.loaded);
    tasks->parts.saves.loaded = load->prefix;
    load->prefix = NULL;
    tasks->parts.saves.loaded_iteration =
        tasks->iteration - tasks->restores.parts;
    tasks->parts.saves.last_iteration = tasks->iteration;
    return EK_OK;
}

static ek_status call_load(ek_collection *tasks, const char *folder,
                           struct eki_caller caller)
{
    struct load load = {.saving = {tasks, caller.name, folder, 0}};
    ek_status status;
    EKI_TRY(eki_collection_start(tasks, caller, EKI_CALLED_LOAD, &status));
    int key_base = tasks->engine->key_base;
    if (status == EK_OK)
        status = check_load(tasks);
    status = find_save(&load, status);
    bool is_found = status == EK_OK;
    if (is_found)
        status = load_tasks(&load);
    if (is_found && status != EK_OK) {
        eki_collection_forget(tasks);
        tasks->engine->key_base = key_base;
    }
    eki_save_free_manifest(&load.manifest);
    eki_free(load.functions);
    eki_free(load.prefix);
    eki_free(load.payload);
    eki_free(load.numbers);
    eki_lookout_leave(&tasks->lookout, eki_clock_ns());
    EKI_ASSERT_SLOW(eki_collection_check(tasks));
    eki_collection_release();
    return status;
}

ek_status ek_load(ek_collection *tasks, const char *folder)
{
    struct eki_caller caller = EKI_CALLER("ek_load");
    return eki_collection_outcome(tasks, call_load(tasks, folder, caller));
}
