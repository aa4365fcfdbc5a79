/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Null tasks: each worker starts with a part of one range, in which the tasks
 * of the workload are at their places.  Null ones are discarded as they run, so
 * an iteration that is restored from this one has the others alone.
 *
 * The engine splits ranges and lets others steal parts, as ever.  Null tasks of
 * a piece that follow each other are one event.  Where they take microseconds,
 * the library's pieces are an index or a few, so that no long one hides others;
 * here pieces of nothing but null tasks grow up to a millisecond, which no
 * thief misses.
 */
#include "payload.h"

#include <math.h>

#define PIECE_NS 1e6

int64_t null_count(const struct run *run)
{
    int64_t nulls = run->arguments->nulls;
    return nulls >= 0 ? nulls : run->workload->nulls;
}

double null_ns(const struct run *run)
{
    const struct eki_machine *machine = &run->machine;
    double ns = run->arguments->null_ns;
    return ns >= 0 ? ns : 2 * machine->latency + machine->send;
}

/* Of the positions FIRST ... LAST - 1, modulo 2^64. */
static uint64_t sum_of(int64_t first, int64_t last)
{
    return (uint64_t)((__int128)(last - first) * (first + last - 1) / 2);
}

struct nulls nulls_make(const struct run *run)
{
    struct nulls nulls = {.positions =
                              positions_make(run->workload, null_count(run)),
                          .run = run,
                          .ns = null_ns(run)};
    nulls.expected = sum_of(0, nulls.positions.total);
    for (int64_t k = 0; k < nulls.positions.count; k++)
        nulls.expected -= (uint64_t)positions_of(&nulls.positions, k);
    return nulls;
}

/* Shares of the first WORKERS workers: one each, MORE for every EVERY-th. */
static int64_t shares_of(const struct run *run, int64_t workers)
{
    return workers + (workers + run->every - 1) / run->every * (run->more - 1);
}

/* First position of a worker's part. */
static int64_t first_of(const struct nulls *nulls, int worker, int workers)
{
    return (int64_t)((__int128)nulls->positions.total *
                     shares_of(nulls->run, worker) /
                     shares_of(nulls->run, workers));
}

bool nulls_add(const struct nulls *nulls, const struct eki_sim *sim)
{
    int workers = sim->topology->workers;
    for (int w = 0; w < workers; w++) {
        struct eki_local *local = &sim->workers[w].worker->local;
        struct eki_range part = {first_of(nulls, w, workers),
                                 first_of(nulls, w + 1, workers)};
        if (part.first < part.last &&
            !eki_local_add_range(local, 0, part, eki_id(w, 0)))
            return false;
    }
    return true;
}

bool nulls_is_index(const struct eki_slot *slot)
{
    return slot->bytes == sizeof(int64_t);
}

/* The task at the position that SLOT has; -1: a null one. */
static int64_t task_of(const struct nulls *nulls, const struct eki_slot *slot,
                       int64_t *position)
{
    memcpy(position, slot->payload, sizeof *position);
    int64_t k = positions_find(&nulls->positions, *position);
    return k < nulls->positions.count &&
                   positions_of(&nulls->positions, k) == *position
               ? k
               : -1;
}

int64_t nulls_begin_index(struct nulls *nulls, struct ek_worker *worker)
{
    int64_t position;
    int64_t k = task_of(nulls, eki_worker_current(worker), &position);
    if (k < 0) {
        worker->batch.marks |= EKI_MARK_DISCARD;
        nulls->executed++;
        nulls->sum += (uint64_t)position;
    }
    return k;
}

void nulls_end_ranges(const struct nulls *nulls, struct eki_local *local)
{
    for (unsigned char *at = local->log; at != local->log_end;
         at += local->slot_bytes) {
        struct eki_slot *slot = (struct eki_slot *)at;
        int64_t position, k = task_of(nulls, slot, &position);
        if (k < 0)
            continue;
        struct payload payload = {k, task_ns(nulls->run->workload, k)};
        slot->bytes = sizeof payload;
        memcpy(slot->payload, &payload, sizeof payload);
    }
}

double range_ns(const struct run *run, const struct eki_slot *slot)
{
    struct positions positions = positions_make(run->workload, null_count(run));
    struct eki_range range;
    memcpy(&range, slot->payload, sizeof range);
    int64_t nulls = range.last - range.first;
    double ns = 0;
    for (int64_t k = positions_find(&positions, range.first);
         k < positions.count && positions_of(&positions, k) < range.last; k++) {
        ns += (double)task_ns(run->workload, k);
        nulls--;
    }
    return ns + (double)nulls * null_ns(run);
}

/* How large pieces of null tasks become in the library: it doubles short ones.
 */
static int32_t size_of(const struct nulls *nulls)
{
    int32_t size = 1;
    while (size < EKI_PIECE_MAX && size * nulls->ns < EKI_SHORT_NS)
        size *= 2;
    return size;
}

/* End the piece before AT, if the library would have had a smaller one: a full
 * one has doubled once more. */
static bool cut(const struct nulls *nulls, struct ek_worker *worker, int64_t at)
{
    int32_t size = size_of(nulls);
    if (worker->piece.size <= 2 * size)
        return false;
    worker->piece.size = size;
    eki_piece_set_index(&worker->piece, at);
    return eki_worker_put_back(worker);
}

/* Null tasks up to LAST run as one; TASK_AT: of the next task. */
static double run_nulls(struct nulls *nulls, struct eki_sim_worker *worker,
                        int64_t last, int64_t task_at)
{
    struct ek_worker *inner = worker->worker;
    int64_t first = worker->index;
    double ns = (double)(last - first) * nulls->ns;
    int32_t most = (int32_t)fmin(PIECE_NS / nulls->ns, EKI_PIECE_MAX);
    nulls->executed += last - first;
    nulls->sum += sum_of(first, last);
    /* The worker has taken the first of them, and ends it as a null task. */
    eki_piece_set_index(&inner->piece, last);
    inner->piece.nulls += last - first - 1;
    if (last == task_at)
        cut(nulls, inner, last);
    else if (ns >= EKI_SHORT_NS && inner->piece.size < most)
        inner->piece.size = most;
    return ns;
}

enum null_step nulls_begin(struct nulls *nulls, struct eki_sim_worker *worker,
                           int64_t *task, double *ns)
{
    const struct positions *positions = &nulls->positions;
    struct ek_worker *inner = worker->worker;
    int64_t last = inner->piece.last;
    *task = positions_find(positions, worker->index);
    int64_t at = *task < positions->count ? positions_of(positions, *task)
                                          : positions->total;
    if (at == worker->index && !cut(nulls, inner, at))
        return NULLS_TASK;
    inner->batch.marks |= EKI_MARK_DISCARD;
    if (at == worker->index) {
        inner->piece.nulls--; /* it has not run */
        return NULLS_AGAIN;
    }
    *ns = run_nulls(nulls, worker, at < last ? at : last, at);
    return NULLS_RUN;
}

bool nulls_are_done(const struct nulls *nulls)
{
    return nulls->executed == nulls->positions.total - nulls->positions.count &&
           nulls->sum == nulls->expected;
}
