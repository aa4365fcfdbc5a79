/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_set_range(): the indices of a function, dealt over all ranks.
 *
 * Each rank deals its own block and cuts what it holds, by numbers that are the
 * same everywhere.  The signature of the next phase tells whether they were.
 * Where they were not, nobody knows who holds which index: all are dealt anew.
 */
#include "collection/seeds.h"

/* Indices of FUNCTION from N on go. */
struct cut {
    ek_function function;
    uint64_t n;
};

static ek_status check_set_range(ek_collection *tasks, const char *call,
                                 ek_function function, int64_t n)
{
    EKI_TRY(eki_collection_check_add(tasks, call, function,
                                     sizeof(struct eki_range)));
    EKI_TRY(eki_collection_check_region(call));
    return n >= 0
               ? EK_OK
               : eki_error(EK_ERR_ARG, "%s: %lld indices; allowed: 0 and more",
                           call, (long long)n);
}

/* Keep what lies below the cut. */
static bool cut_task(const ek_task *task, void *context)
{
    const struct cut *cut = context;
    uint64_t *index = task->payload;
    if (task->function != cut->function)
        return true;
    if (index[0] >= cut->n)
        return false;
    if (task->is_range && index[1] > cut->n)
        index[1] = cut->n;
    return true;
}

ek_status eki_collection_set_range(ek_collection *tasks, const char *call,
                                   ek_function function, int64_t n)
{
    EKI_TRY(check_set_range(tasks, call, function, n));
    const struct eki_topology *topology = tasks->topology;
    const int *first = &topology->first_worker[topology->rank];
    int64_t old = tasks->engine->functions[function].indices;
    int64_t kept = old < 0 ? 0 : old < n ? old : n, more = n - kept;
    struct cut cut = {function, (uint64_t)kept};
    if (old == n)
        return EK_OK;
    EKI_TRY(eki_collection_check_between(tasks, call));
    EKI_TRY(eki_collection_check_numbers(tasks, call, more, "indices more"));
    /* Where there were none, others may have added some. */
    if (old <= 0 || n < old)
        EKI_TRY(eki_collection_visit(tasks, cut_task, &cut));
    struct eki_range range = {
        kept + eki_part_start(more, topology->workers, first[0]),
        kept + eki_part_start(more, topology->workers, first[1])};
    ek_status status = eki_collection_deal(tasks, function, range);
    eki_collection_note_indices(tasks, function, status == EK_OK ? n : -1);
    return status;
}

ek_status ek_set_range(ek_collection *tasks, ek_function function, int64_t n)
{
    return eki_collection_outcome(
        tasks, eki_collection_set_range(tasks, "ek_set_range", function, n));
}
