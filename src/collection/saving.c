/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_save(): each rank writes its file, then rank 0 the manifest, and ranks
 * agree between these steps.  Where one fails, rank 0 removes what has been
 * written.
 */
#include "collection/saving.h"

#include <unistd.h>

ek_status eki_saving_check(const ek_collection *tasks, const char *call)
{
    if (tasks->state != EKI_STATE_READY && tasks->state != EKI_STATE_RAN)
        return eki_error(EK_ERR_STATE,
                         "%s: an iteration is open; allowed: between "
                         "iterations",
                         call);
    return EK_OK;
}

ek_status eki_saving_agree(const struct eki_saving *saving, ek_status status)
{
    const ek_collection *tasks = saving->tasks;
    char differ[100];
    uint64_t same = tasks->agreed.functions ^ tasks->agreed.ranges ^
                    (tasks->parts.saves.write != NULL);
    if (tasks->callbacks)
        same = eki_hash(same, tasks->callbacks->owner != NULL);
    if (status == EK_OK && !saving->folder)
        status = eki_error(EK_ERR_ARG, "%s: folder is NULL", saving->call);
    else if (status == EK_OK &&
             (!*saving->folder || strlen(saving->folder) >= EKI_SAVE_PATH))
        status =
            eki_error(EK_ERR_ARG,
                      "%s: the name of the folder has %zu characters; "
                      "allowed: 1 ... %d",
                      saving->call, strlen(saving->folder), EKI_SAVE_PATH - 1);
    if (status == EK_OK)
        same = eki_hash_text(eki_hash(same, (uint64_t)tasks->iteration),
                             saving->folder);
    snprintf(differ, sizeof differ,
             "%s: ranks differ in folder, functions, ek_set_save, owner or "
             "calls before",
             saving->call);
    return eki_collection_agree_on(tasks, status, same, differ);
}

ek_status eki_saving_sum(const struct eki_saving *saving,
                         struct eki_save_sums *sums)
{
    /* In halves, of which no sum overflows. */
    int64_t all[3] = {sums->tasks, (int64_t)(sums->ids >> 32),
                      (int64_t)(sums->ids & UINT32_MAX)};
    double place = (double)sums->place;
    EKI_TRY(eki_fabric_mpi_sum(saving->tasks->fabric, all, 3));
    EKI_TRY(eki_fabric_mpi_max(saving->tasks->fabric, &place, 1));
    sums->place = (uint64_t)place;
    sums->tasks = all[0];
    sums->ids = ((uint64_t)all[1] << 32) + (uint64_t)all[2];
    return EK_OK;
}

/* All tasks become seeds of workers.  A restore may have failed on some ranks
 * alone: all restore again.  Collective. */
static ek_status settle_tasks(ek_collection *tasks)
{
    ek_restore_report whole = EK_RESTORE_REPORT_INIT;
    int64_t due = tasks->state == EKI_STATE_RAN;
    EKI_TRY(eki_fabric_mpi_sum(tasks->fabric, &due, 1));
    return due > 0 ? eki_collection_restore(tasks, EK_RESTORE_DEFAULT, EK_OK,
                                            &whole)
                   : eki_collection_gather(tasks);
}

int eki_saving_function(const ek_collection *tasks, const char *name)
{
    const struct eki_engine *engine = tasks->engine;
    int f = engine->function_count - 1;
    while (f >= 0 && strcmp(engine->functions[f].name, name) != 0)
        f--;
    return f;
}

/* Whether the newest save of the folder is one that this collection could load.
 * One that cannot be read tells nothing. */
static ek_status check_folder(const struct eki_saving *saving, int64_t newest)
{
    struct eki_save_manifest manifest = {0};
    char name[EKI_SAVE_NAME];
    ek_status status = EK_OK;
    eki_save_name(name, saving->folder, newest, EKI_SAVE_MANIFEST);
    if (newest == 0 || eki_save_read_manifest(name, &manifest) != EK_OK) {
        eki_error_take();
        return EK_OK;
    }
    for (int f = 0; f < manifest.functions && status == EK_OK; f++) {
        if (eki_saving_function(saving->tasks, manifest.list[f].name) < 0)
            status = eki_error(EK_ERR_FILE,
                               "%s: '%.500s' is of another collection, whose "
                               "function '%s' is none of '%s'; allowed: a "
                               "folder for each",
                               saving->call, name, manifest.list[f].name,
                               saving->tasks->settings.name);
    }
    eki_save_free_manifest(&manifest);
    return status;
}

/* Rank 0: which number the save gets; what a killed one has left goes. */
static ek_status prepare_folder(struct eki_saving *saving)
{
    int64_t newest;
    EKI_TRY(eki_save_make_folder(saving->folder));
    EKI_TRY(eki_save_newest(saving->folder, &newest));
    EKI_TRY(check_folder(saving, newest));
    saving->number = newest + 1;
    eki_save_remove(saving->folder, saving->number, INT64_MAX);
    return EK_OK;
}

/* Ranks that are ready, by STATUS, know which save they write; collective. */
static ek_status begin_save(struct eki_saving *saving, ek_status status,
                            struct eki_save_head *head)
{
    const ek_collection *tasks = saving->tasks;
    struct eki_fabric *fabric = tasks->fabric;
    uint64_t told[2] = {0, 0};
    if (status == EK_OK && fabric->rank == 0) {
        status = prepare_folder(saving);
        told[0] = (uint64_t)saving->number;
        told[1] =
            eki_splitmix(eki_clock_system_ns() ^ (uint64_t)getpid() << 40);
    }
    EKI_TRY(eki_fabric_mpi_agree(fabric, status));
    EKI_TRY(eki_fabric_mpi_broadcast(fabric, told, sizeof told, 0));
    saving->number = (int64_t)told[0];
    *head =
        (struct eki_save_head){.save = told[1],
                               .iteration = tasks->iteration,
                               .part = fabric->rank,
                               .ranks = fabric->size,
                               .workers = tasks->topology->workers,
                               .workers_here = tasks->topology->workers_here,
                               .last = tasks->restores.policy,
                               .is_retained = tasks->restores.is_retained,
                               .chosen = tasks->restores.chosen,
                               .goes_on = eki_collection_goes_on(tasks),
                               .key_base = tasks->engine->key_base,
                               .parts = tasks->restores.parts};
    return EK_OK;
}

static ek_status write_next_numbers(const ek_collection *tasks,
                                    struct eki_save_out *out)
{
    const struct eki_dealer *home = &tasks->seeds.home;
    const struct eki_dealer *foreign = &tasks->seeds.foreign.dealer;
    int workers = tasks->topology->workers_here;
    struct eki_save_numbers *numbers = eki_alloc(
        1, sizeof *numbers + (size_t)workers * sizeof *numbers->workers);
    if (!numbers)
        return eki_error(EK_ERR_NOMEM, "no memory for a save");
    *numbers =
        (struct eki_save_numbers){home->next_id, foreign->next_id,
                                  home->next_worker, foreign->next_worker};
    for (int here = 0; here < workers; here++)
        numbers->workers[here] = (struct eki_save_worker){
            tasks->seeds.inlets[here].dealer.next_id,
            tasks->engine->workers[here]->local.next_id};
    ek_status status = eki_save_numbers(out, numbers, workers);
    eki_free(numbers);
    return status;
}

static ek_status write_seeds(const ek_collection *tasks,
                             struct eki_save_out *out)
{
    EKI_TRY(write_next_numbers(tasks, out));
    out->home_of = eki_saving_home;
    out->context = tasks->engine;
    EKI_TRY(eki_save_held(out, tasks->engine));
    EKI_ASSERT(out->sums.tasks == eki_collection_held(tasks));
    EKI_TRY(eki_saving_write_tiles(eki_saving_stores(tasks), out));
    return eki_save_finish(out, &out->sums);
}

static ek_status write_manifest(const ek_collection *tasks,
                                struct eki_save_out *out,
                                const struct eki_save_sums *sums)
{
    const struct eki_engine *engine = tasks->engine;
    struct eki_learned learned = {tasks->restores.course,
                                  eki_rebalance_remembered(engine)};
    for (int f = 0; f < engine->function_count; f++)
        EKI_TRY(eki_save_function(out, f, engine->functions[f].name,
                                  engine->functions[f].indices));
    EKI_TRY(eki_saving_write_stores(eki_saving_stores(tasks), out));
    EKI_TRY(eki_saving_write_learned(&learned, out));
    return eki_save_finish(out, sums);
}

/* Write the file of the part that HEAD names; of a rank, SUMS become its own.
 */
static ek_status write_part(const struct eki_saving *saving,
                            const struct eki_save_head *head,
                            struct eki_save_sums *sums)
{
    bool is_manifest = head->part == EKI_SAVE_MANIFEST;
    char name[EKI_SAVE_NAME + sizeof EKI_SAVE_NEW];
    struct eki_save_out out;
    eki_save_name(name, saving->folder, saving->number, head->part);
    if (is_manifest)
        strcat(name, EKI_SAVE_NEW);
    ek_status status = eki_save_create(&out, name, head);
    if (status == EK_OK)
        status = is_manifest ? write_manifest(saving->tasks, &out, sums)
                             : write_seeds(saving->tasks, &out);
    if (!is_manifest)
        *sums = out.sums;
    eki_save_abandon(&out);
    return status;
}

/* All ranks call the program, as it may talk to other ranks; collective. */
static ek_status write_program(const struct eki_saving *saving)
{
    const struct eki_saves *saves = &saving->tasks->parts.saves;
    char prefix[EKI_SAVE_NAME];
    ek_status status = EK_OK;
    if (!saves->write)
        return EK_OK;
    eki_save_prefix(prefix, saving->folder, saving->number);
    int code = saves->write(prefix, saves->context);
    if (code != 0)
        status = eki_error(EK_ERR_FILE,
                           "%s: the callback of ek_set_save returned %d for "
                           "'%.500s'",
                           saving->call, code, prefix);
    return eki_fabric_mpi_agree(saving->tasks->fabric, status);
}

/* Collective. */
static ek_status write_parts(const struct eki_saving *saving,
                             struct eki_save_head *head)
{
    struct eki_fabric *fabric = saving->tasks->fabric;
    struct eki_save_sums sums;
    EKI_TRY(eki_fabric_mpi_agree(fabric, write_part(saving, head, &sums)));
    EKI_TRY(write_program(saving));
    EKI_TRY(eki_saving_sum(saving, &sums));
    ek_status status = EK_OK;
    if (fabric->rank == 0) {
        head->part = EKI_SAVE_MANIFEST;
        head->workers_here = 0;
        status = write_part(saving, head, &sums);
        if (status == EK_OK)
            status = eki_save_place(saving->folder, saving->number);
    }
    return eki_fabric_mpi_agree(fabric, status);
}

static ek_status save_tasks(struct eki_saving *saving, ek_status status)
{
    ek_collection *tasks = saving->tasks;
    struct eki_save_head head;
    int64_t saves = tasks->settings.options.saves;
    if (status == EK_OK)
        status = eki_saving_check(tasks, saving->call);
    EKI_TRY(eki_saving_agree(saving, status));
    status = settle_tasks(tasks);
    enum eki_called called = tasks->lookout.look.called;
    eki_lookout_enter(&tasks->lookout, EKI_CALLED_WRITE, tasks->iteration);
    status = begin_save(saving, status, &head);
    bool has_begun = status == EK_OK;
    if (has_begun)
        status = write_parts(saving, &head);
    eki_lookout_enter(&tasks->lookout, called, tasks->iteration);
    if (tasks->fabric->rank != 0 || !has_begun)
        return status;
    if (status == EK_OK)
        eki_save_remove(saving->folder, 0,
                        saving->number - (saves > 0 ? saves : EKI_SAVES));
    else
        eki_save_remove(saving->folder, saving->number, saving->number);
    return status;
}

ek_status eki_saving_write(struct eki_saving *saving, ek_status status)
{
    ek_collection *tasks = saving->tasks;
    struct eki_saved saved = eki_collection_saved(tasks);
    uint64_t start = eki_clock_ns();
    double restored_s = tasks->restores.seconds;
    status = save_tasks(saving, status);
    saved.seconds += (double)(eki_clock_ns() - start) * 1e-9 -
                     (tasks->restores.seconds - restored_s);
    saved.failed += status != EK_OK;
    tasks->parts.saves.spent = saved;
    return status;
}

static ek_status call_save(ek_collection *tasks, const char *folder,
                           struct eki_caller caller)
{
    struct eki_saving saving = {tasks, caller.name, folder, 0};
    ek_status status;
    EKI_TRY(eki_collection_start(tasks, caller, EKI_CALLED_SAVE, &status));
    status = eki_saving_write(&saving, status);
    eki_lookout_leave(&tasks->lookout, eki_clock_ns());
    EKI_ASSERT_SLOW(eki_collection_check(tasks));
    eki_collection_release();
    return status;
}

ek_status ek_save(ek_collection *tasks, const char *folder)
{
    struct eki_caller caller = EKI_CALLER("ek_save");
    return eki_collection_outcome(tasks, call_save(tasks, folder, caller));
}
