/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of tasks: kept by the worker that ran the task, until they are
 * gathered, or the next iteration sets one. */
#include "collection/results.h"

enum {
    FIRST_ROOM = 4096
};

/* Note in RECORD which task runs. */
static void describe(const struct ek_worker *worker, struct eki_result *record)
{
    record->function = eki_worker_function(worker);
    if (!eki_worker_index(worker, &record->index))
        record->index = (int64_t)eki_task_key(worker);
}

/* More room, for a result of BYTES at FIRST; false: no memory. */
EKI_COLD static bool grow_results(struct eki_results *results, size_t first,
                                  size_t bytes)
{
    size_t wanted = first + eki_result_bytes(bytes),
           doubled = 2 * results->room;
    if (bytes > PTRDIFF_MAX / 2)
        return false;
    if (doubled < FIRST_ROOM)
        doubled = FIRST_ROOM;
    if (wanted < doubled)
        wanted = doubled;
    unsigned char *grown =
        eki_array_resize(results->bytes, results->room, wanted);
    if (!grown)
        return false;
    results->bytes = grown;
    results->room = wanted;
    return true;
}

static ek_status check_set_result(const struct ek_worker *worker,
                                  const void *result, size_t bytes)
{
    if (!worker || (!result && bytes > 0))
        return eki_error(EK_ERR_ARG,
                         "ek_set_result: worker and result must not be NULL");
    if (!worker->engine->is_open ||
        (!eki_worker_current(worker) && worker->piece.first < 0))
        return eki_error(EK_ERR_STATE,
                         "ek_set_result: no task runs; allowed: from a running "
                         "task, or after its ek_next()");
    return worker->engine->setup.is_checked
               ? eki_collection_check_thread(worker->engine->owner,
                                             worker->here, "ek_set_result")
               : EK_OK;
}

static ek_status set_result(struct ek_worker *worker, const void *result,
                            size_t bytes)
{
    EKI_TRY(check_set_result(worker, result, bytes));
    struct eki_results *results = &worker->results;
    int64_t iteration = worker->engine->owner->iteration;
    if (results->iteration != iteration) {
        results->iteration = iteration;
        results->used = 0;
        results->is_cut = false;
    }
    bool is_again = worker->batch.marks & EKI_MARK_RESULT;
    size_t first = is_again ? results->last : results->used;
    if ((bytes > results->room ||
         results->room - first < eki_result_bytes(bytes)) &&
        !grow_results(results, first, bytes)) {
        results->is_cut = true;
        return eki_error(EK_ERR_NOMEM, "ek_set_result: no memory for %zu bytes",
                         bytes);
    }
    struct eki_result *record = eki_result_at(results, first);
    describe(worker, record);
    record->bytes = bytes;
    if (bytes > 0)
        memcpy(record->result, result, bytes);
    results->last = first;
    results->used = first + eki_result_bytes(bytes);
    worker->batch.marks |= EKI_MARK_RESULT;
    return EK_OK;
}

ek_status ek_set_result(ek_worker *worker, const void *result, size_t bytes)
{
    ek_status status = set_result(worker, result, bytes);
    return EKI_LIKELY(status == EK_OK)
               ? EK_OK
               : eki_collection_outcome_often(
                     worker ? worker->engine->owner : NULL, status);
}
