/* SPDX-License-Identifier: BSD-3-Clause */
/* What running tasks do to tiles. */
#include "collection/collection.h"
#include "engine/offers.h"

#include <inttypes.h>

/* The owner of the tile is not one, or does not have it. */
EKI_COLD static ek_status refuse_owner(const struct eki_tile_call *call,
                                       const char *name)
{
    return eki_error(EK_ERR_ARG,
                     "%s: the shape of '%s' has changed: tile %" PRId64
                     " is not on rank %d",
                     name, call->store->shape.name, call->tile, call->owner);
}

/* Whether the call by NAME may be made; finds the owner of the tile. */
static ek_status check_tile_call(const struct ek_worker *worker,
                                 struct eki_tile_call *call, const char *name)
{
    const struct ek_tiles *store = call->store;
    if (EKI_UNLIKELY(!worker))
        return eki_error(EK_ERR_ARG, "%s: worker is NULL", name);
    if (EKI_UNLIKELY(!store))
        return eki_error(EK_ERR_ARG, "%s: the store is NULL", name);
    if (EKI_UNLIKELY(!store->is_alive))
        return eki_error(EK_ERR_STATE, "%s: the store '%s' is destroyed", name,
                         store->shape.name);
    if (EKI_UNLIKELY(!worker->engine->is_open))
        return eki_error(EK_ERR_STATE,
                         "%s: no iteration is open; allowed: from a running "
                         "task",
                         name);
    if (EKI_UNLIKELY(worker->engine->stores != store->stores))
        return eki_error(EK_ERR_ARG,
                         "%s: the store '%s' has another communicator, or "
                         "other ranks_per_node, than the task",
                         name, store->shape.name);
    if (EKI_UNLIKELY((uint64_t)call->tile >= (uint64_t)store->shape.count))
        return eki_collection_check_tile(store, call->tile, name);
    if (EKI_UNLIKELY(!call->to && !call->from))
        return eki_error(EK_ERR_ARG, "%s: values is NULL", name);
    int64_t length = eki_tile_length(store, call->tile);
    if (EKI_UNLIKELY(call->length != length))
        return eki_error(EK_ERR_ARG,
                         "%s: %" PRId64 " doubles for tile %" PRId64
                         " of '%s'; allowed: %" PRId64,
                         name, call->length, call->tile, store->shape.name,
                         length);
    call->owner = eki_tile_owner(store, call->tile);
    return call->owner >= 0 && call->owner < store->size
               ? EK_OK
               : refuse_owner(call, name);
}

static ek_status call_outcome(const struct ek_worker *worker, ek_status status)
{
    return eki_collection_outcome_often(worker ? worker->engine->owner : NULL,
                                        status);
}

EKI_COLD static ek_status fail_call(struct ek_worker *worker, const char *name)
{
    /* The program has its values back. */
    eki_tiles_drop(worker);
    return call_outcome(
        worker,
        eki_error(EK_ERR_MPI,
                  "%s: communication has failed; the iteration ends", name));
}

/* Waiting, from its first moment on. */
struct wait {
    struct ek_worker *worker;
    const char *name; /* of the call */
    struct eki_waiter waiter;
    uint64_t since; /* 0: not yet */
};

/* Let messages through. */
static ek_status wait_a_little(struct wait *wait)
{
    struct ek_worker *worker = wait->worker;
    struct eki_team *team = worker->engine->stepper;
    if (wait->since == 0) {
        wait->since = eki_clock_ns();
        if (worker->track)
            eki_worker_track_halt(worker, eki_worker_begun(worker),
                                  wait->since);
        /* Others may take what is here meanwhile. */
        eki_worker_publish_now(worker);
    }
    if (EKI_UNLIKELY(eki_is_broken(worker->engine)))
        return fail_call(worker, wait->name);
    eki_team_linger(team, worker, &wait->waiter);
    return EK_OK;
}

static ek_status end_wait(const struct wait *wait, ek_status status)
{
    struct ek_worker *worker = wait->worker;
    if (wait->since == 0)
        return status;
    uint64_t now = eki_clock_ns();
    worker->counts.tile_wait_ns += eki_ns_since(wait->since, now);
    if (worker->track)
        eki_track_state(worker->track, EKI_EVENT_TILES, -1, wait->since, now,
                        eki_task_key(worker));
    return status;
}

/* Start a call, as soon as fewer are under way. */
static ek_status start_call(struct ek_worker *worker,
                            struct eki_tile_call *call, const char *name,
                            ek_transfer *transfer)
{
    struct wait wait = {.worker = worker, .name = name};
    enum eki_started started;
    ek_status status = check_tile_call(worker, call, name);
    if (status == EK_OK && EKI_UNLIKELY(worker->engine->setup.is_checked))
        status = eki_collection_check_thread(worker->engine->owner,
                                             worker->here, name);
    if (EKI_UNLIKELY(status != EK_OK))
        return call_outcome(worker, status);
    while ((started = eki_tiles_start(worker, call, transfer)) ==
               EKI_STARTED_LATER &&
           status == EK_OK)
        status = wait_a_little(&wait);
    if (EKI_UNLIKELY(started == EKI_STARTED_NOWHERE))
        return call_outcome(worker, refuse_owner(call, name));
    return end_wait(&wait, status);
}

static ek_status await_transfer(struct ek_worker *worker, ek_transfer transfer,
                                const char *name)
{
    struct wait wait = {.worker = worker, .name = name};
    ek_status status = EK_OK;
    /* Where communication has failed the transfer may have been dropped. */
    if (EKI_UNLIKELY(eki_is_broken(worker->engine)))
        return fail_call(worker, name);
    while (status == EK_OK && !eki_tiles_is_over(worker, transfer))
        status = wait_a_little(&wait);
    if (status == EK_OK)
        eki_tiles_finish(worker, transfer);
    return end_wait(&wait, status);
}

static ek_status run_call(struct ek_worker *worker, struct eki_tile_call *call,
                          const char *name)
{
    ek_transfer transfer = {0};
    EKI_TRY(start_call(worker, call, name, &transfer));
    return transfer.number == 0 ? EK_OK
                                : await_transfer(worker, transfer, name);
}

/* A start by the program, which wants to know of the transfer. */
static ek_status begin_transfer(struct ek_worker *worker,
                                struct eki_tile_call *call, const char *name,
                                ek_transfer *transfer)
{
    if (EKI_UNLIKELY(!transfer))
        return call_outcome(
            worker, eki_error(EK_ERR_ARG, "%s: transfer is NULL", name));
    ek_transfer started = {0};
    EKI_TRY(start_call(worker, call, name, &started));
    *transfer = started;
    return EK_OK;
}

ek_status ek_tiles_get(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                       double *values, int64_t length)
{
    struct eki_tile_call call = {EKI_TILE_GET, tiles, tile, length,
                                 .to = values};
    return run_call(worker, &call, "ek_tiles_get");
}

ek_status ek_tiles_put(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                       const double *values, int64_t length)
{
    struct eki_tile_call call = {EKI_TILE_PUT, tiles, tile, length,
                                 .from = values};
    return run_call(worker, &call, "ek_tiles_put");
}

ek_status ek_tiles_accumulate(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                              double alpha, const double *values,
                              int64_t length)
{
    struct eki_tile_call call = {
        EKI_TILE_ACCUMULATE, tiles,         tile, length,
        .from = values,      .alpha = alpha};
    return run_call(worker, &call, "ek_tiles_accumulate");
}

ek_status ek_tiles_get_start(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                             double *values, int64_t length,
                             ek_transfer *transfer)
{
    struct eki_tile_call call = {EKI_TILE_GET, tiles, tile, length,
                                 .to = values};
    return begin_transfer(worker, &call, "ek_tiles_get_start", transfer);
}

ek_status ek_tiles_put_start(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                             const double *values, int64_t length,
                             ek_transfer *transfer)
{
    struct eki_tile_call call = {EKI_TILE_PUT, tiles, tile, length,
                                 .from = values};
    return begin_transfer(worker, &call, "ek_tiles_put_start", transfer);
}

ek_status ek_tiles_accumulate_start(ek_worker *worker, ek_tiles *tiles,
                                    int64_t tile, const double *values,
                                    int64_t length, ek_transfer *transfer)
{
    struct eki_tile_call call = {EKI_TILE_ACCUMULATE, tiles,     tile, length,
                                 .from = values,      .alpha = 1};
    return begin_transfer(worker, &call, "ek_tiles_accumulate_start", transfer);
}

ek_status ek_tiles_wait(ek_worker *worker, ek_transfer *transfer)
{
    if (EKI_UNLIKELY(!worker || !transfer || !eki_tiles_is_transfer(*transfer)))
        return call_outcome(
            worker,
            eki_error(EK_ERR_ARG,
                      "ek_tiles_wait: worker and transfer must not be NULL, "
                      "and the transfer must have been started"));
    if (transfer->number == 0)
        return EK_OK;
    if (EKI_UNLIKELY(!worker->engine->is_open || !worker->engine->stores))
        return call_outcome(
            worker, eki_error(EK_ERR_STATE,
                              "ek_tiles_wait: no iteration is open; allowed: "
                              "in the task that started the transfer"));
    ek_status status = await_transfer(worker, *transfer, "ek_tiles_wait");
    if (status == EK_OK)
        transfer->number = 0;
    return status;
}
