/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/hints.h"

#include "engine/offers.h"
#include "fabric/fabric.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 2048 /* hints that are told at once: 48 KiB */
};

static ek_status no_memory(const struct eki_hints *hints)
{
    return eki_error(EK_ERR_NOMEM, "no memory for the hints of '%.500s'",
                     hints->path);
}

/* Take the seeds among the tasks; RANKS and LOADS [workers] are room. */
static void take_hints(struct eki_hints *hints, const struct eki_record *record,
                       const struct eki_record_iteration *iteration, int *ranks,
                       uint64_t *loads)
{
    const struct eki_record_shape *shape = &record->shape;
    for (int rank = 0, worker = 0; rank < shape->ranks; rank++) {
        for (int i = 0; i < shape->rank_workers[rank]; i++)
            ranks[worker++] = rank;
    }
    for (int64_t k = 0; k < iteration->task_count; k++) {
        const struct eki_record_task *task = &iteration->tasks[k];
        int home = eki_id_home(task->id);
        uint64_t number = task->id % EKI_NUMBERS;
        bool is_set = task->flags & EKI_RECORD_COSTED;
        uint64_t ns = is_set ? 0 : task->duration_ns;
        if (home >= shape->workers || number >= EKI_SPAWNED_NUMBERS)
            continue;
        hints->list[hints->count++] = (struct eki_hint){
            number, ranks[home], task->function, task->bin, is_set};
        loads[home] += ns;
        eki_load_add(&hints->told.load,
                     &(struct eki_load){ns, loads[home], ns});
        if (task->function >= hints->told.functions)
            hints->told.functions = task->function + 1;
    }
    hints->told.tasks = hints->count;
    for (int f = 0; f < hints->told.functions; f++)
        hints->told.names =
            eki_hash_text(hints->told.names, record->functions[f]);
}

/* The first iteration that has tasks.  Without one there are no hints: a job
 * that was stopped early leaves such a record. */
static ek_status take_record(struct eki_hints *hints, struct eki_record *record)
{
    static _Atomic bool is_told;
    struct eki_record_iteration iteration = {0};
    size_t workers = (size_t)record->shape.workers;
    for (int64_t k = 0; k < record->iteration_count; k++) {
        EKI_TRY(eki_record_load(record, k, &iteration));
        if (iteration.task_count > 0)
            break;
        eki_record_unload(&iteration);
    }
    if (iteration.task_count == 0) {
        hints->told.tasks = -1;
        if (eki_is_untold(&is_told))
            eki_log(EK_LEVEL_WARN, 0, record->shape.ranks, "hints",
                    "'%.500s' has no tasks: '%s' has no hints", record->path,
                    record->shape.name);
        return EK_OK;
    }
    int *ranks = eki_alloc(workers, sizeof *ranks);
    uint64_t *loads = eki_alloc(workers, sizeof *loads);
    hints->list = eki_alloc((size_t)iteration.task_count, sizeof *hints->list);
    hints->room = iteration.task_count;
    bool has_room = ranks && loads && hints->list;
    if (has_room)
        take_hints(hints, record, &iteration, ranks, loads);
    eki_free(ranks);
    eki_free(loads);
    eki_record_unload(&iteration);
    return has_room ? EK_OK : no_memory(hints);
}

/* Whether the record is of a job such as this one; what is not is said once,
 * because programs may make many collections. */
static bool is_same_job(const struct eki_record *record, const char *collection,
                        const struct eki_fabric *fabric)
{
    static _Atomic bool is_short_told, is_other_told;
    const struct eki_record_shape *shape = &record->shape;
    bool has_name = strcmp(shape->name, collection) == 0;
    if (!record->is_complete && eki_is_untold(&is_short_told))
        eki_log(EK_LEVEL_WARN, 0, fabric->size, "hints", "%s", record->warning);
    if (has_name && shape->ranks == fabric->size && shape->key_base == 0)
        return true;
    if (!eki_is_untold(&is_other_told))
        return false;
    if (!has_name)
        eki_log(EK_LEVEL_WARN, 0, fabric->size, "hints",
                "'%.500s' is a record of '%s': '%s' has no hints; in the "
                "file's name %% stands for the collection's",
                record->path, shape->name, collection);
    else if (shape->key_base == 0)
        eki_log(EK_LEVEL_WARN, 0, fabric->size, "hints",
                "'%.500s' is of a job of %d ranks, this one has %d: '%s' has "
                "no hints",
                record->path, shape->ranks, fabric->size, collection);
    else
        eki_log(EK_LEVEL_WARN, 0, fabric->size, "hints",
                "'%.500s' is of a job that had loaded tasks of other workers: "
                "'%s' has no hints",
                record->path, collection);
    return false;
}

static ek_status read_record(struct eki_hints *hints, const char *collection,
                             const struct eki_fabric *fabric)
{
    struct eki_record *record = NULL;
    EKI_TRY(eki_record_open(hints->path, &record));
    ek_status status = EK_OK;
    if (is_same_job(record, collection, fabric))
        status = take_record(hints, record);
    else
        hints->told.tasks = -1;
    eki_record_close(&record);
    return status;
}

ek_status eki_hints_read(const char *destination, const char *collection,
                         const struct eki_fabric *fabric,
                         struct eki_hints **made)
{
    if (strcmp(destination, "0") == 0)
        return EK_OK;
    char *path = eki_record_path(destination, collection);
    size_t bytes = path ? strlen(path) + 1 : 0;
    struct eki_hints *hints = path ? eki_alloc(1, sizeof *hints + bytes) : NULL;
    if (hints)
        memcpy(hints->path, path, bytes);
    eki_free(path);
    *made = hints;
    if (!hints)
        return eki_error(EK_ERR_NOMEM, "no memory for hints");
    return fabric->rank == 0 ? read_record(hints, collection, fabric) : EK_OK;
}

/* Keep those of RANK; false: there is no memory for all. */
static bool keep_own(struct eki_hints *hints, int rank,
                     const struct eki_hint *piece, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (piece[i].rank != rank)
            continue;
        if (!eki_grow(&hints->list, hints->count, &hints->room, 64,
                      sizeof *hints->list))
            return false;
        hints->list[hints->count++] = piece[i];
    }
    return true;
}

/* Rank 0 tells its list, of which it keeps its own, too; a rank without memory
 * listens to the end. */
static ek_status tell_list(struct eki_hints *hints, struct eki_fabric *fabric)
{
    struct eki_hint piece[PIECE];
    bool has_room = true;
    hints->count = 0;
    for (int64_t at = 0; at < hints->told.tasks; at += PIECE) {
        int64_t n = hints->told.tasks - at;
        n = n < PIECE ? n : PIECE;
        if (fabric->rank == 0)
            memcpy(piece, hints->list + at, (size_t)n * sizeof *piece);
        EKI_TRY(eki_fabric_mpi_broadcast(fabric, piece,
                                         (size_t)n * sizeof *piece, 0));
        has_room = has_room && keep_own(hints, fabric->rank, piece, n);
    }
    return eki_fabric_mpi_agree(fabric, has_room ? EK_OK : no_memory(hints));
}

static int by_number(const void *a, const void *b)
{
    const struct eki_hint *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

ek_status eki_hints_share(struct eki_hints **made, struct eki_fabric *fabric)
{
    struct eki_hints *hints = *made;
    if (!hints)
        return EK_OK;
    EKI_TRY(
        eki_fabric_mpi_broadcast(fabric, &hints->told, sizeof hints->told, 0));
    if (hints->told.tasks < 0) {
        eki_hints_free(made);
        return EK_OK;
    }
    EKI_TRY(tell_list(hints, fabric));
    if (hints->count > 0)
        qsort(hints->list, (size_t)hints->count, sizeof *hints->list,
              by_number);
    return EK_OK;
}

void eki_hints_free(struct eki_hints **hints)
{
    if (*hints)
        eki_free((*hints)->list);
    eki_free(*hints);
    *hints = NULL;
}

const struct eki_hint *eki_hints_from(const struct eki_hints *hints,
                                      uint64_t number)
{
    return hints->list + eki_place_from(hints->list, hints->count,
                                        sizeof *hints->list, number);
}
