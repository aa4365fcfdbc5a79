/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker: what runs tasks, the public ek_worker, and the hot path of taking
 * them.
 *
 * Lines.  What every task touches comes first; what other threads write, last
 * and on lines of its own.
 */
#ifndef EKI_ENGINE_WORKER_H
#define EKI_ENGINE_WORKER_H

#include "count/count.h"
#include "engine/piece.h"
#include "engine/words.h"
#include "steal/steal.h"
#include "task/task.h"
#include "timeline/track.h"

struct eki_function {
    ek_task_fn *fn;
    void *context;
    char *name;               /* owned */
    int64_t indices;          /* of ek_set_range(); -1: nobody knows which */
    _Atomic bool has_pointer; /* a payload looked like one (option check) */
};

enum {
    EKI_MARK_DISCARD = 1,
    EKI_MARK_SKIP = 2,
    EKI_MARK_COST = 4,
    EKI_MARK_FAIL = 8,
    EKI_MARK_STOP = 16,
    EKI_MARK_TRANSFER = 32, /* transfers of it are open */
    EKI_MARK_DATA = 64,     /* its data has travelled */
    EKI_MARK_RESULT = 128   /* it has set a result */
};

/* What a step does before it looks for tasks; eki_batch.duties. */
enum eki_duty {
    EKI_DUTY_PINNED = 1, /* tasks of the rank may be left that are pinned */
    EKI_DUTY_STORE = 2,  /* somebody watches */
    EKI_DUTY_NOTE = 4,   /* a record is written */
    EKI_DUTY_TRACK = 8,  /* a timeline is written */
    EKI_DUTY_REPLAY = 16 /* a record says what runs */
};

enum eki_step {
    EKI_STEP_RUN,    /* take tasks with eki_worker_take() and run them */
    EKI_STEP_RANGE,  /* take indices with eki_worker_take_index() */
    EKI_STEP_PINNED, /* run the current task, and step */
    EKI_STEP_AGAIN,  /* something moved: step again */
    EKI_STEP_WAIT,   /* nothing to do for now */
    EKI_STEP_DONE    /* the phase has ended */
};

/* Whether the worker has a thread. */
enum eki_presence {
    EKI_ABSENT,  /* others may stand in for it */
    EKI_AWAITED, /* one is on its way, and nobody may */
    EKI_BUSY,
    EKI_PRESENT
};

/* Tasks brought by the server, until a worker takes them. */
struct eki_chunk {
    struct eki_chunk *next;
    int64_t count;
    bool is_stolen, is_whole; /* ... and now all of the answer is here */
    int rank;                 /* that has sent them */
    uint64_t asked_at;        /* for stolen ones; 0: not known */
    _Alignas(16) unsigned char slots[];
};

enum {
    EKI_BATCH_MAX = 64, /* tasks of a batch */
    /* Batches of which the mean duration is kept: it rises fast, where longer
     * tasks come, and falls slowly, so that a few short ones hide no long one.
     */
    EKI_LATELY = 8,
    EKI_LONG_AGO = 16,
    /* Work that may stay hidden behind the task that runs, which may be long:
     * as much as nobody misses.  A worker that hides no more takes back what it
     * shows, and shows it again, once in this time: a microsecond. */
    EKI_HIDDEN_NS = 1000000
};

/* The tasks that run between two readings of the clock. */
struct eki_batch {
    /* Task that runs, or scratch for one that runs in its place on the stack;
     * NULL: an index, or none.  Others may look (look.h). */
    _Atomic(struct eki_slot *) current;
    unsigned char *seed; /* seed_top when the batch began */
    int64_t log;         /* log entries when the batch began */
    uint32_t marks;      /* of the task that runs */
    int32_t budget;      /* tasks this batch may take */
    int32_t count;       /* tasks it took */
    int32_t size;        /* adaptive, 1, 2, 4 ... MOST */
    int32_t most;        /* EKI_BATCH_MAX; 1: each task may change what is shown
                          */
    uint64_t stamp;      /* clock when the batch began */
    uint64_t task_ns;    /* what a task took lately, on average */
    uint64_t held_ns;    /* of the time since the stamp: without a core */
    /* Of a task from the stack the header, of a spawned one that does not run
     * in its place all of it. */
    struct eki_slot *scratch;
    uint64_t cost_ns;
    bool restamp;      /* the step took time: read the clock again */
    bool wants_server; /* something is to be sent before the next batch */
    uint8_t duties;    /* enum eki_duty */
    bool is_pinned;    /* the one that runs is */
    bool is_in_place;  /* spawned tasks run where they lie */
};

/* What others may steal; of a worker, or of a server. */
struct eki_share {
    struct eki_deque_owner deque;
    struct eki_deque_shared *shared;
    unsigned char *slots;
    uint64_t may_publish; /* phase: all have left the one before */
};

/* Looking for work. */
struct eki_search {
    bool is_idle;
    uint64_t since; /* when it began */
    /* ... and when the steal did that has brought tasks; 0: none has. */
    uint64_t steal_since;
    uint64_t number; /* of searches so far */
    /* Where it has stolen from: a worker, or the complement of a rank of
     * another node; and how much had been stolen before. */
    int from;
    int64_t stolen;
    struct eki_thief thief;
    int steal_from;    /* deque whose block is claimed; -1: none */
    uint64_t *trusted; /* phase in which who has a deque was alike */
    int rank;          /* of the node, by number, at whose server it looks */
    struct eki_block block;
};

/* Looking for the end of the phase, one worker of the node after the other. */
struct eki_check {
    uint64_t passed; /* the last phase without steps; 0: none */
    int at, pass;
    uint64_t executed, created; /* sums so far */
};

/* The children of a task: FIRST, and COUNT in all, by the worker that ran it.
 */
struct eki_family {
    uint64_t parent, first;
    uint64_t count;
};

/* Of the tasks of a worker, as they ran, while they are recorded. */
struct eki_families {
    struct eki_family *list; /* [count]; owned */
    int64_t count, room;
    bool is_cut; /* there was no memory for one */
};

/* Tasks that were held up, while a record is written.  A task is missing if
 * there was no memory for its mark. */
struct eki_held {
    uint64_t *ids; /* [count]; owned */
    int64_t count, room;
};

/* Tasks that ran between two steps, one behind the other: seeds from the top
 * on, then entries of the log. */
struct eki_stretch {
    uint64_t start_ns;     /* by the clock */
    int32_t seeds, logged; /* seeds below 0: one task that is pinned */
};

/* All of them, while a record is written. */
struct eki_stretches {
    struct eki_stretch *list; /* [count]; owned */
    int64_t count, room;
    int64_t logged; /* entries of the log up to the last */
    bool is_cut;    /* there was no memory for one */
};

/* COUNT indices of a range that ran one behind the other, some of them null:
 * the id of the FIRST one, and how many stretches ran before. */
struct eki_span {
    uint64_t first;
    int64_t count, stretches;
    int32_t function;
};

/* All of them, while a record is written.  A span ends where a range does that
 * was added: the last one that a worker began to run is known. */
struct eki_spans {
    struct eki_span *list; /* [count]; owned */
    int64_t count, room;
    int64_t stretches; /* of the worker at the end of the last one */
    uint64_t known_first, known_end;
    bool is_cut; /* there was no memory for one */
};

/* What tasks have set as their results, one after another. */
struct eki_results {
    unsigned char *bytes; /* [used] of [room]; owned */
    size_t used, room;
    size_t last;       /* where that of the last task begins */
    int64_t iteration; /* of all of them */
    bool is_cut;       /* there was no memory for one */
};

/* Tasks that have waited for their data longer than they ran (away.h). */
struct eki_late {
    uint64_t *ids;
    int64_t count, room;
};

/* Many members: each is a part of the engine, ordered by writer. */
struct ek_worker {
    /* What entering a phase looks at: written by the worker, and by the thread
     * that enters; of a worker without thread, by whoever stands in for it. */
    struct eki_local local;
    uint64_t first_id; /* local.next_id when the phase began */
    /* Cumulative; stored when others need them. */
    uint64_t created; /* without those spawned in this phase */
    uint64_t executed;
    const struct eki_function *functions;
    struct eki_worker_words *words;
    struct eki_engine *engine;
    int id, here, local_number; /* two of them as in local */

    /* Written by the worker; before its first step, and in a restore, by the
     * thread that enters; the share of a worker without thread also by whoever
     * stands in for it, who holds its presence. */
    struct eki_batch batch;
    struct eki_share share;
    struct eki_piece piece;
    uint64_t done;         /* phase whose end it has seen */
    uint64_t unchecked_id; /* of a task whose payload was to be written */
    struct eki_search search;
    struct eki_check check;
    struct eki_counts counts;
    struct eki_function_counts *function_counts;
    struct eki_families families;
    struct eki_held held;
    struct eki_stretches stretches;
    struct eki_spans spans;
    struct eki_results results;
    struct eki_late late;
    struct eki_track *track; /* NULL: none; set while no phase is open */

    /* Written by the worker, by the server that brings tasks, and by workers
     * of the rank that stand in for it while it has no thread. */
    _Alignas(EKI_LINE) _Atomic(struct eki_chunk *) inbox;
    /* Stolen tasks for a worker that waits; eki_shut(): it does not. */
    _Atomic(struct eki_chunk *) answers;
    _Atomic int presence;
};

/* What stands in `answers` of a worker that has tasks: no chunk. */
static inline struct eki_chunk *eki_shut(struct ek_worker *worker)
{
    return (struct eki_chunk *)(void *)worker;
}

/* Tasks created, cumulative. */
static inline uint64_t eki_worker_created(const struct ek_worker *worker)
{
    return worker->created + worker->local.next_id - worker->first_id;
}

/* The task that runs, for its own worker. */
static inline struct eki_slot *
eki_worker_current(const struct ek_worker *worker)
{
    if (worker->local.running)
        return worker->local.running;
    /* relaxed: written by this thread. */
    return atomic_load_explicit(&worker->batch.current, memory_order_relaxed);
}

static inline struct eki_slot *eki_worker_top(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    unsigned char *top = local->stack_top != local->stack_bottom
                             ? local->stack_top
                             : local->seed_top;
    return (struct eki_slot *)(top - local->slot_bytes);
}

/* What a task will take, about. */
static inline uint64_t eki_worker_expected_ns(const struct ek_worker *worker,
                                              const struct eki_slot *slot)
{
    uint64_t ns = eki_bin_ns(slot->bin);
    return ns > 0 ? ns : worker->batch.task_ns;
}

/* Whether a long task may begin, as a batch of its own; a range may not. */
static inline bool eki_worker_may_begin(struct ek_worker *worker,
                                        const struct eki_slot *slot)
{
    if (worker->batch.count != 0 || slot->bin == EKI_BIN_RANGE)
        return false;
    worker->batch.budget = 1;
    return true;
}

/* Take a seed, or a task that is traced, from the top of the stack to the log,
 * where it runs; NULL: step. */
struct eki_slot *eki_worker_take_logged(struct ek_worker *worker);

/* The spawned task SLOT on top of the stack runs from a copy: its place is that
 * of its first child. */
static inline struct eki_slot *eki_worker_take_copy(struct ek_worker *worker,
                                                    struct eki_slot *slot)
{
    struct eki_slot *scratch = worker->batch.scratch;
    worker->local.stack_top = (unsigned char *)slot;
    eki_slot_show_head(scratch, slot);
    eki_slot_copy_payload(scratch, slot, worker->local.slot_bytes);
    return scratch;
}

/*
 * The next task of the batch, but for spawned ones that run in their place, or
 * NULL: read the clock and step.  Long tasks, and ranges, are batches of their
 * own.
 */
static inline struct eki_slot *eki_worker_take_away(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    struct eki_batch *batch = &worker->batch;
    struct eki_slot *slot;
    if (EKI_UNLIKELY(batch->count >= batch->budget))
        return NULL;
    if (local->stack_top != local->stack_bottom) {
        slot = (struct eki_slot *)(local->stack_top - local->slot_bytes);
        if (EKI_LIKELY(!(slot->flags & (EKI_SLOT_SEED | EKI_SLOT_TRACED))))
            slot = eki_worker_take_copy(worker, slot);
        else if ((slot = eki_worker_take_logged(worker)) == NULL)
            return NULL;
    } else {
        if (EKI_UNLIKELY(local->seed_top == local->seed_base))
            return NULL;
        slot = (struct eki_slot *)(local->seed_top - local->slot_bytes);
        if (EKI_UNLIKELY(slot->bin >= EKI_BIN_LONG) &&
            !eki_worker_may_begin(worker, slot))
            return NULL;
        local->seed_top = (unsigned char *)slot;
    }
    batch->count++;
    /* release: pairs with the acquire in see_task(): the header. */
    atomic_store_explicit(&batch->current, slot, memory_order_release);
    return slot;
}

/* The task on top of the stack, of slots of so many bytes, to run where it
 * lies; NULL: none that may.  It is not counted, and eki_local_leave() ends it.
 */
static inline struct eki_slot *eki_worker_take_place(struct ek_worker *worker,
                                                     struct eki_slot *scratch,
                                                     uint32_t slot_bytes)
{
    struct eki_local *local = &worker->local;
    if (local->stack_top == local->stack_bottom)
        return NULL;
    struct eki_slot *slot = (struct eki_slot *)(local->stack_top - slot_bytes);
    if (EKI_UNLIKELY(slot->flags & (EKI_SLOT_SEED | EKI_SLOT_TRACED)))
        return NULL;
    eki_slot_show_head(scratch, slot);
    local->running = slot;
    return slot;
}

/* Others look at the header in scratch from now on. */
static inline void eki_worker_show_scratch(struct ek_worker *worker)
{
    /* release: pairs with the acquire in see_task(): the header. */
    atomic_store_explicit(&worker->batch.current, worker->batch.scratch,
                          memory_order_release);
}

/* A task that runs in its place, if one does, has ended: at the latest when the
 * next is taken, or the batch is closed. */
static inline void eki_worker_leave(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    if (!local->running)
        return;
    eki_local_leave(local, local->running, local->slot_bytes);
    local->running = NULL;
}

/* The next task of the batch, or NULL: read the clock and step. */
static inline struct eki_slot *eki_worker_take(struct ek_worker *worker)
{
    struct eki_batch *batch = &worker->batch;
    struct eki_slot *slot;
    eki_worker_leave(worker);
    if (!batch->is_in_place || batch->count >= batch->budget ||
        (slot = eki_worker_take_place(worker, batch->scratch,
                                      worker->local.slot_bytes)) == NULL)
        return eki_worker_take_away(worker);
    batch->count++;
    eki_worker_show_scratch(worker);
    return slot;
}

/* Function of the task that runs. */
static inline int eki_worker_function(const struct ek_worker *worker)
{
    const struct eki_slot *slot = eki_worker_current(worker);
    return slot ? slot->function : worker->piece.function;
}

/* Id of the task that runs. */
static inline uint64_t eki_worker_task_id(const struct ek_worker *worker)
{
    const struct eki_slot *slot = eki_worker_current(worker);
    return slot ? slot->id
                : worker->piece.id + (uint64_t)eki_piece_index(&worker->piece) -
                      1;
}

/* The next index of the piece; false: read the clock and step. */
static inline bool eki_worker_take_index(struct ek_worker *worker,
                                         int64_t *index)
{
    int64_t next = eki_piece_index(&worker->piece);
    if (next == worker->piece.last)
        return false;
    eki_piece_set_index(&worker->piece, next + 1);
    *index = next;
    return true;
}

/* An index ended: a null one needs no more than this. */
static inline bool eki_worker_index_is_null(struct ek_worker *worker, int code)
{
    if (EKI_UNLIKELY(worker->batch.marks != EKI_MARK_DISCARD || code != 0))
        return false;
    worker->batch.marks = 0;
    worker->piece.nulls++;
    return true;
}

/* An index ended at NOW that is not null: where it was short, behind short
 * ones, its end is noted, and nothing more is to do. */
static inline bool eki_worker_index_is_short(struct ek_worker *worker, int code,
                                             uint64_t now)
{
    struct eki_piece *piece = &worker->piece;
    /* This one is none of those before it. */
    uint64_t before =
        eki_piece_shorts(piece) > 1 ? piece->seen : worker->batch.stamp;
    if (EKI_UNLIKELY((worker->batch.marks | (unsigned)code) != 0 ||
                     piece->nulls != 0 || worker->batch.held_ns != 0 ||
                     eki_ns_since(before, now) >= EKI_LONG_NS ||
                     eki_ns_since(piece->begun, now) > EKI_BATCH_NS))
        return false;
    piece->seen = now;
    return true;
}

/* NS of the time of the task that runs are not its own. */
static inline void eki_worker_leave_out(struct ek_worker *worker, uint64_t ns)
{
    worker->batch.stamp += ns;
    worker->piece.begun += ns;
    worker->piece.seen += ns;
}

/* Step the worker; NOW is the clock on entering the phase, or at the end of a
 * task. */
enum eki_step eki_worker_step(struct ek_worker *worker, uint64_t now);
/* A thread has come for the worker; before its first step, but in a restore. */
void eki_worker_arrive(struct ek_worker *worker, uint64_t now);
/* No thread will come for the worker; once in a phase. */
void eki_worker_give_up(struct ek_worker *worker);
/* The index that runs, of a range or a payload of 8 bytes; false: neither. */
bool eki_worker_index(const struct ek_worker *worker, int64_t *index);
/* The current task fails; before it ends. */
void eki_worker_fail(struct ek_worker *worker, int code, const char *text);
/* After a failure, a mark or a non-zero return of the current task. */
void eki_worker_mark(struct ek_worker *worker, int code);
/* The same for an index; every one ends here that is neither discarded nor
 * short. */
void eki_worker_index_end(struct ek_worker *worker, int code, uint64_t now);
/* End the piece early: the rest lies on the stack; false: no memory. */
bool eki_worker_put_back(struct ek_worker *worker);
/* Publish what a running task spawned, or what is left: long tasks. */
void eki_worker_publish_now(struct ek_worker *worker);

/* Broken invariant of a worker as text, or NULL; by its thread. */
const char *eki_worker_check(const struct ek_worker *worker);

/* Of a worker that waits, or is held: when it gets on by time alone,
 * UINT64_MAX: never; whether it wants the server; whether an answer for it is
 * on its way.
 */
uint64_t eki_worker_due(const struct ek_worker *worker);
bool eki_worker_calls(const struct ek_worker *worker);
bool eki_worker_awaits(const struct ek_worker *worker);

#endif
