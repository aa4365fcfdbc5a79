/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges: a slot {first, last} is split into eighths on the stack, and a piece
 * of at most 512 indices is run at a time.  Termination counts indices, so
 * splitting counts nothing.
 *
 * Invariant: while a piece runs, first <= index <= last (struct eki_piece);
 * first < 0: none does.
 */
#include "engine/internal.h"

/*
 * What a null index takes, 2 to 5 ns and what the program does in it, is a
 * moving mean over pieces that end with null ones.  In each of them the clock
 * is read and a step made once, tens of nanoseconds.
 *
 * NULLS_LEAST: pieces with fewer null indices do not count, because their share
 * of those nanoseconds would be more than the index itself.
 *
 * NULLS_WEIGHT: a piece counts for this part (1 / NULLS_WEIGHT) of the mean, so
 * ten others wear a piece that was interrupted down to a twentieth.
 *
 * No run chose either.  They decide by how much an index seems to take longer
 * than it does where null ones came before it.
 */
enum {
    NULLS_LEAST = 16,
    NULLS_WEIGHT = 4
};

enum {
    PARTS = 8,
    /* Seven parts on each of 21 levels, and the rest beyond one piece. */
    SPLIT_MOST = 7 * 21 + PARTS
};

/* Push [FIRST, LAST) of the range that runs; false: no memory. */
static bool push_range(struct ek_worker *worker, int64_t first, int64_t last)
{
    struct eki_slot *slot = eki_local_push(&worker->local);
    if (!slot)
        return false;
    struct eki_range range = {first, last};
    slot->function = worker->piece.function;
    slot->bytes = sizeof range;
    slot->bin = EKI_BIN_RANGE;
    slot->deviation = 0;
    slot->flags = EKI_SLOT_SEED | EKI_SLOT_RANGE | EKI_SLOT_CANCELLED;
    slot->id = worker->piece.id + (uint64_t)first;
    memcpy(slot->payload, &range, sizeof range);
    return true;
}

/* Keep an eighth, the first one, until at most eight pieces are left. */
static int64_t split(struct ek_worker *worker, int64_t first, int64_t last)
{
    while (last - first > PARTS * (int64_t)worker->piece.size) {
        int64_t part = (last - first) / PARTS;
        for (int i = PARTS - 1; i > 0; i--) {
            int64_t end = i == PARTS - 1 ? last : first + (i + 1) * part;
            push_range(worker, first + i * part, end);
        }
        last = first + part;
    }
    /* Long indices one by one, so that a thief need not take them together. */
    for (; worker->piece.size == 1 && last - first > 1; last--)
        push_range(worker, last - 1, last);
    if (last - first > worker->piece.size) {
        push_range(worker, first + worker->piece.size, last);
        last = first + worker->piece.size;
    }
    return last;
}

/* Room for what splitting pushes and for what a piece leaves. */
static bool has_room_for_piece(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    if (eki_local_reserve(local, SPLIT_MOST) &&
        eki_local_log_reserve(local, worker->piece.size))
        return true;
    eki_worker_no_memory(worker, SPLIT_MOST + worker->piece.size,
                         "the parts of a range");
    return false;
}

enum eki_step eki_worker_start_range(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    struct eki_range range;
    if (!has_room_for_piece(worker))
        return EKI_STEP_AGAIN;
    struct eki_slot *slot = eki_worker_top(worker);
    memcpy(&range, slot->payload, sizeof range);
    worker->piece.function = slot->function;
    worker->piece.id = slot->id - (uint64_t)range.first;
    slot->flags &= (uint8_t)~EKI_SLOT_CANCELLED;
    if ((unsigned char *)slot == local->stack_top - local->slot_bytes)
        local->stack_top = (unsigned char *)slot;
    else
        local->seed_top = (unsigned char *)slot;
    worker->piece.first = range.first;
    worker->piece.ran = 0;
    worker->piece.begun = worker->batch.stamp;
    eki_piece_set_index(&worker->piece, range.first);
    /* relaxed, both: whoever looks finds out if they do not belong together. */
    atomic_store_explicit(&worker->piece.shown_id, worker->piece.id,
                          memory_order_relaxed);
    atomic_store_explicit(&worker->piece.shown_function, slot->function,
                          memory_order_relaxed);
    worker->piece.last = split(worker, range.first, range.last);
    worker->piece.nulls = 0;
    if (eki_worker_publish(worker, true))
        eki_worker_has_shown(worker);
    return EKI_STEP_RANGE;
}

/* Count the N indices since the piece began, or since the last time stamp. */
static void count_indices(struct ek_worker *worker, int64_t n, uint64_t elapsed)
{
    struct eki_function_counts *function =
        &worker->function_counts[worker->piece.function];
    worker->piece.first += n;
    worker->piece.ran += n;
    worker->batch.stamp += elapsed;
    worker->executed += (uint64_t)n;
    worker->counts.tasks += n;
    worker->counts.indices += n;
    worker->counts.work_ns += elapsed;
    function->tasks += n;
    function->work_ns += elapsed;
}

/* Count the null indices, too, which end the piece or come before an index. */
static void count_nulls(struct ek_worker *worker)
{
    worker->counts.nulls += worker->piece.nulls;
    worker->local.gone += worker->piece.nulls;
    worker->piece.nulls = 0;
}

/* Make SLOT that of INDEX, which took a time of this BIN. */
EKI_INLINE void fill_slot(const struct eki_piece *piece, struct eki_slot *slot,
                          int64_t index, uint16_t bin, int flags)
{
    eki_slot_head(slot, piece->function, sizeof index, EKI_SLOT_SEED | flags,
                  piece->id + (uint64_t)index);
    if (flags != EKI_SLOT_SKIPPED) { /* a cost that was set counts */
        slot->bin = bin;
        slot->deviation = 0;
    }
    memcpy(slot->payload, &index, sizeof index);
}

/* The N short indices since the last time stamp are tasks of the log; there is
 * room.  They took their mean each, to where the last one was seen to end. */
static void end_shorts(struct ek_worker *worker, int64_t n)
{
    const struct eki_piece *piece = &worker->piece;
    struct eki_local *local = &worker->local;
    if (n == 0)
        return;
    uint64_t elapsed = eki_ns_since(worker->batch.stamp, piece->seen);
    uint64_t ns = elapsed / (uint64_t)n;
    uint16_t bin = eki_bin_of(ns);
    unsigned char *at = local->log_end;
    EKI_ASSERT(local->log_limit - at >= n * (ptrdiff_t)local->slot_bytes);
    for (int64_t i = 0; i < n; i++, at += local->slot_bytes)
        fill_slot(piece, (struct eki_slot *)at, piece->first + i, bin, 0);
    local->log_end = at;
    if (n == 1)
        eki_counts_note(&worker->counts, ns, piece->id + (uint64_t)piece->first,
                        piece->function);
    if (EKI_UNLIKELY(worker->track))
        eki_worker_track_tasks(worker, n, worker->batch.stamp, piece->seen, 0);
    count_indices(worker, n, elapsed);
}

void eki_worker_close_piece(struct ek_worker *worker, uint64_t now)
{
    struct eki_piece *piece = &worker->piece;
    end_shorts(worker, eki_piece_shorts(piece));
    uint64_t elapsed = now - worker->batch.stamp;
    int64_t nulls = piece->nulls;
    if (nulls >= NULLS_LEAST)
        piece->null_ns +=
            ((double)elapsed / (double)nulls - piece->null_ns) / NULLS_WEIGHT;
    if (nulls > 0)
        worker->counts.null_ns += elapsed;
    if (EKI_UNLIKELY(worker->track))
        eki_worker_track_tasks(worker, nulls, worker->batch.stamp, now, 0);
    count_indices(worker, nulls, elapsed);
    count_nulls(worker);
    piece->first = -1;
    if (eki_ns_since(piece->begun, now) < EKI_SHORT_NS &&
        piece->ran == piece->size && piece->size <= EKI_PIECE_MAX / 2)
        piece->size *= 2;
    eki_piece_set_index(piece, 0);
    piece->last = 0;
    /* relaxed: nothing of the piece is looked at. */
    atomic_store_explicit(&piece->shown_function, -1, memory_order_relaxed);
}

/* Time of the index that ended at NOW, without the null ones before it. */
static uint64_t index_ns(const struct ek_worker *worker, uint64_t elapsed)
{
    double nulls = (double)worker->piece.nulls;
    double rest = (double)elapsed - nulls * worker->piece.null_ns;
    double share = (double)elapsed / (nulls + 1.0);
    return (uint64_t)(rest > share ? rest : share);
}

/* The index that ended is a task of the log; there is room. */
static void remember(struct ek_worker *worker, uint64_t ns, int flags)
{
    struct eki_local *local = &worker->local;
    struct eki_slot *slot = (struct eki_slot *)local->log_end;
    EKI_ASSERT(local->log_end < local->log_limit);
    local->log_end += local->slot_bytes;
    fill_slot(&worker->piece, slot, eki_piece_index(&worker->piece) - 1,
              eki_bin_of(ns), flags);
}

bool eki_worker_put_back(struct ek_worker *worker)
{
    if (eki_piece_index(&worker->piece) == worker->piece.last)
        return true;
    if (!push_range(worker, eki_piece_index(&worker->piece),
                    worker->piece.last))
        return false;
    worker->piece.last = eki_piece_index(&worker->piece);
    return true;
}

/* End the piece where it has taken so long.  As many indices as it had are the
 * next one, but where one of them was as long by itself. */
static void end_late(struct ek_worker *worker, uint64_t ns)
{
    struct eki_piece *piece = &worker->piece;
    if (ns <= EKI_BATCH_NS)
        return;
    piece->size = ns > 2 * EKI_BATCH_NS ? 1 : (int32_t)piece->ran;
    eki_worker_put_back(worker);
}

void eki_worker_index_end(struct ek_worker *worker, int code, uint64_t now)
{
    end_shorts(worker, eki_piece_shorts(&worker->piece) - 1);
    if (code != 0)
        eki_worker_fail(worker, code, "");
    if (EKI_UNLIKELY(worker->batch.marks & EKI_MARK_ENDS)) {
        uint64_t stamp = worker->batch.stamp;
        eki_worker_end_transfers(worker);
        /* What its end takes is not its own time. */
        now += worker->batch.stamp - stamp;
    }
    uint32_t marks = worker->batch.marks;
    uint64_t elapsed = now - worker->batch.stamp, held = 0;
    if (EKI_UNLIKELY(worker->batch.held_ns != 0))
        held = eki_worker_take_held(worker, elapsed);
    if (EKI_UNLIKELY(worker->track))
        eki_worker_track_tasks(worker, eki_worker_begun(worker),
                               worker->batch.stamp,
                               worker->batch.stamp + elapsed, held);
    uint64_t ns = index_ns(worker, elapsed - held);
    bool is_null = marks & EKI_MARK_DISCARD;
    int flags = marks & EKI_MARK_SKIP && !is_null ? EKI_SLOT_SKIPPED : 0;
    eki_worker_end_result(worker, marks);
    worker->batch.marks = 0;
    worker->counts.null_ns += is_null ? elapsed : elapsed - held - ns;
    if (is_null)
        worker->piece.nulls++;
    else if (marks & EKI_MARK_COST)
        remember(worker, worker->batch.cost_ns, flags | EKI_SLOT_COSTED);
    else
        remember(worker, ns, flags);
    eki_counts_note(&worker->counts, ns, eki_worker_task_id(worker),
                    worker->piece.function);
    worker->counts.nulls += flags != 0;
    count_indices(worker, eki_piece_index(&worker->piece) - worker->piece.first,
                  elapsed);
    count_nulls(worker);
    end_late(worker, eki_ns_since(worker->piece.begun, now));
    if (eki_is_stopped(worker->engine))
        eki_worker_put_back(worker);
}
