/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_load(): each rank takes its tasks (taking.c).  The collection is new:
 * where a rank fails, all forget what they have read.
 */
#include "collection/saving.h"

struct load {
    struct eki_saving saving;
    struct eki_save_manifest manifest;
    int *functions; /* [manifest.functions] as they are registered here */
    char *prefix;   /* of the files of the program */
    struct eki_taking taking;
    struct eki_learned learned; /* by auto */
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

/* Ranks with no STATUS find out whether they are as many, with as many workers,
 * as in the save; collective. */
static ek_status compare_ranks(struct load *load, ek_status status)
{
    const struct eki_topology *topology = load->saving.tasks->topology;
    struct eki_save_in in;
    bool is_mine = false, is_all;
    if (status == EK_OK && load->manifest.head.ranks == topology->size) {
        status = eki_saving_open_part(&load->taking, topology->rank, &in);
        is_mine =
            status == EK_OK && in.head.workers_here == topology->workers_here;
        if (status == EK_OK)
            eki_save_close(&in);
    }
    status = eki_fabric_mpi_agree_on(load->saving.tasks->fabric, status,
                                     is_mine, &is_all);
    load->taking.is_same = is_mine && is_all;
    return status;
}

/* What all ranks have read is what the manifest says; collective. */
static ek_status compare_sums(struct load *load)
{
    const struct eki_saving *saving = &load->saving;
    struct eki_save_sums *taken = &load->taking.sums;
    const struct eki_save_sums *sums = &load->manifest.sums;
    struct eki_fabric *fabric = saving->tasks->fabric;
    ek_status status = EK_OK;
    EKI_TRY(eki_saving_sum(saving, taken));
    if (fabric->rank == 0 && !eki_save_sums_equal(taken, sums))
        status = eki_error(EK_ERR_FILE,
                           "'%.500s/save-%lld.manifest' has %lld tasks, its "
                           "files have %lld, or others%s",
                           saving->folder, (long long)saving->number,
                           (long long)sums->tasks, (long long)taken->tasks,
                           load->taking.owner ? "; is the owner of a task the "
                                                "same on all ranks?"
                                              : "");
    return eki_fabric_mpi_agree(fabric, status);
}

/* Tasks lie where they were, and get the numbers that come: auto goes on. */
static void take_what_follows(const struct load *load)
{
    ek_collection *tasks = load->saving.tasks;
    const struct eki_save_head *head = &load->manifest.head;
    const struct eki_save_numbers *numbers = load->taking.numbers;
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
    int base = head->key_base + (load->taking.is_same ? 0 : head->workers);
    load->taking.is_anew = !load->taking.is_same &&
                           (base > EKI_HOMES_MOST - tasks->topology->workers ||
                            most >= eki_key_places(base));
    if (load->taking.is_anew) {
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

static void begin_taking(struct load *load)
{
    const struct eki_saving *saving = &load->saving;
    const struct eki_callbacks *callbacks = saving->tasks->callbacks;
    load->taking = (struct eki_taking){
        .engine = saving->tasks->engine,
        .folder = saving->folder,
        .number = saving->number,
        .manifest = &load->manifest,
        .functions = load->functions,
        .owner = callbacks ? callbacks->owner : NULL,
        .context = callbacks ? callbacks->owner_context : NULL};
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
        status = eki_saving_match_stores(eki_saving_stores(saving->tasks),
                                         &load->manifest);
    if (status == EK_OK)
        status = eki_saving_read_learned(name, &load->manifest, &load->learned);
    if (status == EK_OK)
        status = note_prefix(load);
    begin_taking(load);
    return compare_ranks(load, status);
}

/* Collective; on failure some tasks may have been read. */
static ek_status load_tasks(struct load *load)
{
    ek_collection *tasks = load->saving.tasks;
    choose_keys(load);
    /* Tasks come last: the numbers of their file are this rank's. */
    ek_status status =
        eki_saving_read_tiles(&load->taking, eki_saving_stores(tasks));
    if (status == EK_OK)
        status = eki_saving_take(&load->taking);
    EKI_TRY(eki_fabric_mpi_agree(tasks->fabric, status));
    EKI_TRY(compare_sums(load));
    /* They are for tasks that were never measured. */
    eki_hints_free(&tasks->parts.hints);
    if (load->taking.is_same)
        take_what_follows(load);
    else
        EKI_TRY(eki_saving_deal(tasks, load->taking.owner ||
                                           load->manifest.head.ranks ==
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
    eki_saving_free_taking(&load.taking);
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
