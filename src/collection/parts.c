/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of an iteration.  One that was stopped ends a part, and another
 * ek_process() goes on.  One that has paused for a checkpoint goes on by
 * itself: what its phases have counted adds up to one report and one record.
 */
#include "collection/collection.h"

/* The columns of nodes that seek are an array of sums. */
static void add_sought(struct eki_node_counts *sought,
                       const struct eki_node_counts *earlier)
{
    sought->loads_read += earlier->loads_read;
    sought->occupied += earlier->occupied;
    sought->denied += earlier->denied;
    sought->grants += earlier->grants;
    sought->cyclic += earlier->cyclic;
    for (int i = 0; i < EKI_SEARCH_VICTIMS; i++)
        sought->searches[i] += earlier->searches[i];
}

/* Add what was counted earlier in the iteration. */
static void add_earlier(ek_collection *tasks, const struct eki_earlier *earlier)
{
    struct eki_engine *engine = tasks->engine;
    int functions = engine->function_count;
    /* As if it had been entered later, and without a pause. */
    engine->entered_ns -= earlier->stay_ns;
    engine->exchange.across += earlier->across;
    engine->in_vain += earlier->in_vain;
    add_sought(&engine->sought, &earlier->sought);
    eki_histogram_join(engine->answered, &earlier->answered);
    if (tasks->callbacks)
        tasks->callbacks->ns += earlier->data_ns;
    for (int here = 0; here < tasks->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        eki_counts_add(&worker->counts, &earlier->counts[here]);
        for (int f = 0; f < functions; f++) {
            const struct eki_function_counts *before =
                &earlier->functions[here * functions + f];
            worker->function_counts[f].tasks += before->tasks;
            worker->function_counts[f].work_ns += before->work_ns;
        }
    }
}

/* Who asked for the stop, on any rank; 0: a task alone.  Collective. */
static unsigned who_asked(ek_collection *tasks, struct eki_error *error)
{
    unsigned asked = tasks->lookout.asked;
    int64_t sums[4] = {(asked & EKI_ASKED_SIGNAL) != 0,
                       (asked & EKI_ASKED_TIME) != 0,
                       (asked & EKI_ASKED_SAVE) != 0,
                       eki_engine_has_called_stop(tasks->engine)};
    eki_lookout_enter(&tasks->lookout, EKI_CALLED_CLOSE, tasks->iteration);
    if (eki_fabric_mpi_sum(tasks->fabric, sums, 4) != EK_OK) {
        error->status = EK_ERR_MPI;
        snprintf(error->text, sizeof error->text, "%s", ek_error_message());
        return 0;
    }
    asked = (sums[0] > 0 ? EKI_ASKED_SIGNAL : 0) |
            (sums[1] > 0 ? EKI_ASKED_TIME : 0);
    eki_lookout_answer(&tasks->lookout, asked);
    return asked == 0 && sums[2] > 0 && sums[3] == 0 ? EKI_ASKED_SAVE : asked;
}

/* Whether a stop without a request is continued. */
static bool continues_alone(const ek_collection *tasks)
{
    return tasks->settings.options.on_stop == EKI_ON_STOP_CONTINUE;
}

/* How the iteration was stopped, or whether it has paused; collective. */
static int find_stop(ek_collection *tasks, struct eki_error *error)
{
    unsigned asked = 0;
    if (tasks->restores.may_be_asked || eki_checkpoint_may_pause(tasks))
        asked = who_asked(tasks, error);
    tasks->parts.saves.is_paused = asked == EKI_ASKED_SAVE;
    return EKI_RECORD_STOPPED |
           (asked & EKI_ASKED_SIGNAL ? EKI_RECORD_BY_SIGNAL : 0) |
           (asked & EKI_ASKED_TIME ? EKI_RECORD_BY_TIME : 0) |
           (asked != 0 || continues_alone(tasks) ? EKI_RECORD_CONTINUED : 0);
}

/* Rank 0 tells of a stop on request, of which the program may know nothing. */
static void tell_of_stop(const ek_collection *tasks)
{
    if (tasks->fabric->rank == 0 && tasks->restores.is_asked)
        eki_log(EK_LEVEL_INFO, 0, tasks->fabric->size, "collection",
                "iteration %lld of '%s' was stopped by %s: the next one runs "
                "the rest",
                (long long)tasks->iteration, tasks->settings.name,
                tasks->restores.stopped & EKI_RECORD_BY_SIGNAL
                    ? "a signal"
                    : "the time limit");
}

void eki_part_end(ek_collection *tasks, struct eki_error *error)
{
    const struct eki_earlier *earlier = eki_part_earlier(tasks);
    if (earlier)
        add_earlier(tasks, earlier);
    struct eki_restores *restores = &tasks->restores;
    const struct eki_replaying *replaying = tasks->parts.replaying;
    tasks->parts.saves.is_paused = false;
    restores->stopped = 0;
    if (eki_error_is_stopped(error))
        restores->stopped = replaying && replaying->stopped >= 0
                                ? replaying->stopped
                                : find_stop(tasks, error);
    else if (eki_error_may_go_on(error) && continues_alone(tasks))
        restores->stopped = EKI_RECORD_CONTINUED;
    restores->is_asked =
        restores->stopped & (EKI_RECORD_BY_SIGNAL | EKI_RECORD_BY_TIME);
    tell_of_stop(tasks);
    restores->continues = restores->stopped & EKI_RECORD_CONTINUED;
    restores->ends_parts = !restores->continues;
    restores->parts += restores->continues && !tasks->parts.saves.is_paused;
    tasks->engine->has_parts |= restores->continues;
    if (restores->continues)
        /* A rank without tasks restores, too.  relaxed: no task runs. */
        atomic_store_explicit(&tasks->seeds.has_arrivals, true,
                              memory_order_relaxed);
}

void eki_part_forget(ek_collection *tasks)
{
    struct eki_earlier *earlier = tasks->parts.earlier;
    if (!earlier)
        return;
    eki_free(earlier->counts);
    eki_free(earlier->functions);
    eki_free(earlier);
    tasks->parts.earlier = NULL;
}

/* What is kept of the iteration, with room for all workers; NULL: no memory. */
static struct eki_earlier *make_earlier(ek_collection *tasks)
{
    struct eki_earlier *earlier = tasks->parts.earlier;
    size_t workers = (size_t)tasks->topology->workers_here;
    if (eki_part_earlier(tasks))
        return earlier;
    eki_part_forget(tasks);
    earlier = eki_alloc(1, sizeof *earlier);
    if (!earlier)
        return NULL;
    tasks->parts.earlier = earlier;
    earlier->iteration = tasks->iteration;
    earlier->entered_ns = tasks->engine->entered_ns;
    earlier->counts = eki_alloc(workers, sizeof *earlier->counts);
    earlier->functions =
        eki_alloc(workers * (size_t)tasks->engine->function_count + 1,
                  sizeof *earlier->functions);
    if (earlier->counts && earlier->functions)
        return earlier;
    eki_part_forget(tasks);
    return NULL;
}

/* What the engine has counted for a report, as if its phase had not ended. */
static ek_status keep_counts(ek_collection *tasks, uint64_t left)
{
    const struct eki_engine *engine = tasks->engine;
    int workers = tasks->topology->workers_here;
    size_t functions = (size_t)engine->function_count;
    struct eki_earlier *earlier = make_earlier(tasks);
    if (!earlier)
        return eki_error(EK_ERR_NOMEM, "no memory for the report");
    earlier->stay_ns = left - engine->entered_ns;
    earlier->across = engine->exchange.across;
    earlier->in_vain = engine->in_vain;
    earlier->sought = engine->sought;
    earlier->answered = *engine->answered;
    if (tasks->callbacks) {
        earlier->data = eki_collection_data_counts(tasks);
        earlier->data_ns = tasks->callbacks->ns;
    }
    for (int here = 0; here < workers; here++) {
        const struct ek_worker *worker = engine->workers[here];
        earlier->counts[here] = worker->counts;
        if (functions > 0)
            memcpy(earlier->functions + (size_t)here * functions,
                   worker->function_counts,
                   functions * sizeof *earlier->functions);
    }
    return EK_OK;
}

struct eki_data_counts eki_collection_data_counts(const ek_collection *tasks)
{
    struct eki_data_counts counts = eki_data_counts_of(tasks->engine);
    const struct eki_earlier *earlier = eki_part_earlier(tasks);
    if (!earlier)
        return counts;
    counts.travelled += earlier->data.travelled;
    counts.bytes_in += earlier->data.bytes_in;
    counts.bytes_out += earlier->data.bytes_out;
    counts.lost += earlier->data.lost;
    if (earlier->data.bytes_most > counts.bytes_most)
        counts.bytes_most = earlier->data.bytes_most;
    return counts;
}

void eki_part_give_up(ek_collection *tasks)
{
    tasks->parts.saves.is_paused = tasks->team->goes_on = false;
}

ek_status eki_part_save(ek_collection *tasks, uint64_t left)
{
    eki_lookout_enter(&tasks->lookout, EKI_CALLED_CHECKPOINT, tasks->iteration);
    if (tasks->parts.tracking)
        eki_tracking_paused(tasks, left);
    ek_status status = keep_counts(tasks, left);
    if (tasks->recording)
        eki_recording_keep(tasks->recording, status == EK_OK);
    status = eki_collection_continue(tasks, status);
    if (status == EK_OK)
        status = eki_collection_checkpoint(tasks);
    if (tasks->parts.tracking)
        eki_tracking_restored(tasks);
    eki_lookout_enter(&tasks->lookout, EKI_CALLED_PROCESS, tasks->iteration);
    tasks->team->goes_on = true;
    return status;
}
