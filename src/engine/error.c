/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of a phase: who tells of one, and which all ranks return. */
#include "engine/internal.h"

#include <stdarg.h>

void eki_set_stop(struct eki_engine *engine)
{
    /* relaxed: seen at the end of a task, sooner or later. */
    atomic_store_explicit(&engine->node->stop[engine->phase & 1], engine->phase,
                          memory_order_relaxed);
}

void eki_set_mismatch(struct eki_engine *engine)
{
    /* relaxed: who ends this phase by the sums has seen it, too; others by our
     * next phase, which is released. */
    atomic_store_explicit(&engine->node->mismatch[engine->phase & 1],
                          engine->phase, memory_order_relaxed);
    eki_set_stop(engine);
}

/* Store the first error of this phase in ERRORS. */
static void store_error(struct eki_engine *engine, struct eki_errors *errors,
                        const struct eki_error *error, const char *text)
{
    int parity = (int)(engine->phase & 1);
    struct eki_error *stored = &errors->error[parity];
    if (eki_is_set(&errors->failed[parity], engine->phase))
        return;
    *stored = *error;
    snprintf(stored->text, sizeof stored->text, "%s", text ? text : "");
    /* release: pairs with the acquire in worse_of(): the record is filled. */
    atomic_store_explicit(&errors->failed[parity], engine->phase,
                          memory_order_release);
    /* relaxed: seen by whoever has seen the release of `executed` that the
     * worker stores after this. */
    atomic_store_explicit(&engine->node->error[parity], engine->phase,
                          memory_order_relaxed);
}

void eki_set_cancelled(const struct eki_engine *engine)
{
    uint64_t phase = engine->phase;
    /* relaxed, both: seen by whoever has seen the release of `executed` that
     * follows. */
    atomic_store_explicit(&engine->node->cancelled[phase & 1], phase,
                          memory_order_relaxed);
    atomic_store_explicit(&engine->node->error[phase & 1], phase,
                          memory_order_relaxed);
}

bool eki_worker_index(const struct ek_worker *worker, int64_t *index)
{
    const struct eki_slot *slot = eki_worker_current(worker);
    if (slot && slot->bytes != sizeof *index)
        return false;
    if (slot)
        memcpy(index, slot->payload, sizeof *index);
    else
        *index = eki_piece_index(&worker->piece) - 1;
    return true;
}

void eki_set_error(struct ek_worker *worker, ek_status status, int code,
                   const char *text)
{
    const struct eki_slot *slot = eki_worker_current(worker);
    struct eki_error error = {.status = status,
                              .worker = worker->id,
                              .code = code,
                              .function = -1,
                              .index = -1};
    if (slot)
        error.function = slot->function;
    else if (worker->piece.first >= 0)
        error.function = worker->piece.function;
    if (error.function >= 0) {
        error.id = eki_worker_task_id(worker);
        if (worker->engine->functions[error.function].indices > 0)
            eki_worker_index(worker, &error.index);
    }
    store_error(worker->engine, &worker->words->errors, &error, text);
}

void eki_worker_no_memory(struct ek_worker *worker, int64_t n, const char *what)
{
    char text[120];
    snprintf(text, sizeof text, "no memory for %s (%lld of %u bytes)", what,
             (long long)n, (unsigned)worker->local.slot_bytes);
    eki_set_error(worker, EK_ERR_NOMEM, EKI_TASKS_STAY, text);
    eki_note_lack(worker->engine, EKI_LACKS_WORKER);
    eki_set_stop(worker->engine);
}

/* SLOT is the task that has failed, or NULL. */
static void set_rank_error(struct eki_engine *engine, ek_status status,
                           int code, const struct eki_slot *slot,
                           const char *text)
{
    int rank = engine->topology->node_index;
    struct eki_error error = {.status = status,
                              .worker = engine->workers[0]->id,
                              .code = code,
                              .function = slot ? slot->function : -1,
                              .id = slot ? slot->id : 0,
                              .index = -1};
    store_error(engine, &engine->rank_words[rank].errors, &error, text);
    eki_set_stop(engine);
}

void eki_engine_fail(struct eki_engine *engine, ek_status status,
                     const char *text)
{
    /* Unlike that of a task that was abandoned it has a code. */
    set_rank_error(engine, status, status, NULL, text);
}

void eki_engine_lacks(struct eki_engine *engine, const char *text)
{
    set_rank_error(engine, EK_ERR_NOMEM, EKI_TASKS_STAY, NULL, text);
}

void eki_set_slot_error(struct eki_engine *engine, const struct eki_slot *slot,
                        const char *text)
{
    set_rank_error(engine, EK_ERR_TASK, EK_ERR_TASK, slot, text);
}

/* A failure of no task: its code is 0, which no task can give. */
void eki_engine_abandon(struct eki_engine *engine, int here)
{
    char text[80] = "no worker fetched";
    if (here >= 0)
        snprintf(text, sizeof text, "worker %d stopped fetching",
                 engine->workers[here]->id);
    set_rank_error(engine, EK_ERR_TASK, 0, NULL, text);
}

bool eki_error_is_abandoned(const struct eki_error *error)
{
    return error->status == EK_ERR_TASK && error->function < 0 &&
           error->code == 0;
}

void eki_note_refusal(struct eki_engine *engine, const struct eki_error *error)
{
    struct eki_node_words *node = engine->node;
    int expected = EKI_FITS;
    /* relaxed: the first refusal stays; the release below publishes it. */
    if (!atomic_compare_exchange_strong_explicit(
            &node->refused, &expected, EKI_REFUSING, memory_order_relaxed,
            memory_order_relaxed))
        return;
    node->refusal = *error;
    /* release: pairs with the acquire in eki_refused(): the words. */
    atomic_store_explicit(&node->refused, EKI_NOTED, memory_order_release);
}

void eki_engine_refuse(struct eki_engine *engine, const char *format, ...)
{
    struct eki_error error = {.status = EK_ERR_MPI,
                              .worker = engine->workers[0]->id,
                              .function = -1,
                              .index = -1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.text, sizeof error.text, format, arguments);
    va_end(arguments);
    eki_note_refusal(engine, &error);
    eki_set_stop(engine);
}

void eki_engine_stop(struct eki_engine *engine)
{
    /* relaxed: eki_engine_has_called_stop() reads it when the threads of the
     * phase have ended. */
    atomic_store_explicit(&engine->stop_called, engine->phase,
                          memory_order_relaxed);
    /* A record says what ran all the same. */
    if (!engine->replay)
        eki_set_stop(engine);
}

void eki_engine_interrupt(struct eki_engine *engine)
{
    eki_set_stop(engine);
}

bool eki_engine_has_called_stop(const struct eki_engine *engine)
{
    /* relaxed: see eki_engine_stop(). */
    return atomic_load_explicit(&engine->stop_called, memory_order_relaxed) ==
           engine->phase;
}

/* Lower is worse: what makes the phase as such void comes first; that a rank
 * stopped fetching may be no error at all. */
static int severity_of(const struct eki_error *error)
{
    switch (error->status) {
    case EK_OK:
        return error->code == EKI_CANCELLED ? 8 : 9;
    case EK_ERR_TASK:
        return eki_error_is_abandoned(error) ? 4 : 3;
    case EK_ERR_NOMEM:
        return error->code == EKI_TASKS_STAY ? 5 : 2;
    default:
        return 1;
    }
}

void eki_error_worse(struct eki_error *error, const struct eki_error *other)
{
    int mine = severity_of(error), theirs = severity_of(other);
    if (theirs < mine || (theirs == mine && other->worker < error->worker))
        *error = *other;
}

void eki_error_init(struct eki_error *error, ek_status status)
{
    memset(error, 0, sizeof *error);
    error->status = status;
    error->worker = error->function = -1;
}

static void worse_of(const struct eki_errors *errors, uint64_t phase,
                     struct eki_error *error)
{
    /* acquire: pairs with the release in store_error(). */
    if (atomic_load_explicit(&errors->failed[phase & 1],
                             memory_order_acquire) == phase)
        eki_error_worse(error, &errors->error[phase & 1]);
}

void eki_node_error(const struct eki_engine *engine, struct eki_error *error)
{
    int parity = (int)(engine->phase & 1);
    /* All but the text, which is long. */
    error->status = EK_OK;
    error->worker = error->code = error->function = 0;
    error->id = 0;
    error->index = 0;
    error->text[0] = '\0';
    if (eki_is_set(&engine->node->mismatch[parity], engine->phase))
        eki_error_init(error, EK_ERR_ARG);
    if (!eki_is_set(&engine->node->error[parity], engine->phase))
        return;
    if (error->status == EK_OK &&
        eki_is_set(&engine->node->cancelled[parity], engine->phase))
        error->code = EKI_CANCELLED;
    for (int i = 0; i < engine->topology->node_ranks; i++)
        worse_of(&engine->rank_words[i].errors, engine->phase, error);
    for (int i = 0; i < engine->topology->node_workers; i++)
        worse_of(&eki_words_of(engine, i)->errors, engine->phase, error);
}
