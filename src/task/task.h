/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * task: the slot that a task lies in (slot.h), and the local part of a worker:
 * what only its owner touches.
 *
 * *Seeds* lie in one array that is not overwritten during an iteration: the
 * owner takes from its top and runs in place, publishing copies from its base.
 * What came from elsewhere, and what tasks spawned, is a *stack* above: the
 * owner takes the newest, publishing the oldest.  A seed taken from the stack
 * is copied to the *log* and runs there; an index of a range that is not null
 * for good is written there.  So after the iteration seeds [base, count) and
 * the log are what ran here.  An iteration that is continued (continue.c)
 * leaves there what is done, and on the stack what waits of it.
 *
 * A spawned task may run in its place on the stack, which then is a *hole*: no
 * task waits there, and what the task spawns lies above.  When it ends, the top
 * comes down to the hole, or the last child moves into it.  Until then nothing
 * writes to where it runs: publishing stops below the hole, or, where that is
 * the oldest slot, goes on above it, and a stack that must move leaves the
 * array behind in which the task runs.
 *
 * Invariants: seeds: base <= top <= count; stack: bottom <= top <= room, and a
 * hole lies between them.  While a publication is open, the slots below base
 * and bottom that belong to it are intact, so that taking back only moves the
 * two.
 */
#ifndef EKI_TASK_H
#define EKI_TASK_H

#include "base/options.h"
#include "task/slot.h"

/* Many members: compiled programs know the head by its offsets, and all of it
 * is one worker's, whose every task touches the first lines. */
struct eki_local {
    /* The head, which compiled programs read and write (evenkeel_inline.h):
     * what is here and where it lies changes with the layout's number only. */
    uint32_t layout;
    uint32_t slot_bytes;
    unsigned char *stack_top; /* what is still to run, see below */
    /* A spawn that finds the stack this high does more than to push: at most
     * the limit. */
    unsigned char *stack_mark;
    uint64_t next_id;        /* of spawned tasks, home included */
    uint64_t spawned_word;   /* what the first word of their slots begins as */
    uint32_t function_limit; /* functions without a look; 0: no task runs */
    uint32_t payload_limit;
    void *data; /* of the program */
    int32_t id, here;

    unsigned char *seed_base, *seed_top; /* what is still to run */
    unsigned char *stack_bottom; /* still to run, too, up to stack_top */
    unsigned char *log_end;      /* executed from the stack */
    unsigned char *stack_limit, *log_limit;

    unsigned char *seeds, *seed_end, *seed_limit; /* the array */
    unsigned char *stack, *log;
    unsigned char *spare, *spare_limit;       /* for the next restore */
    int64_t spare_most;                       /* bytes of seeds that use it */
    int64_t published_seeds, published_stack; /* of the open publication */
    int64_t aside;   /* cancelled tasks that lie below the stack's bottom */
    int64_t gone;    /* discarded tasks of which no slot tells */
    int64_t done;    /* at the bottom of the log: no restore touches these */
    bool has_hints;  /* seeds that were never measured carry hints */
    bool has_ranges; /* some of the seeds are ranges */
    bool keeps_discarded; /* in the log, too: it is recorded */

    /* The spawned task that runs in place; NULL: none.  Its hole, where the
     * stack has moved since it began, and the array that was left behind. */
    struct eki_slot *running;
    unsigned char *moved_hole;
    unsigned char *left, *left_limit;

    /* Slots that stay here (eki_local_hold()). */
    bool is_held;
    ptrdiff_t held_first, held_end; /* bytes of the stack; equal: none */
    unsigned char *held_seeds;      /* from ... up; NULL: none */
};

void eki_local_init(struct eki_local *local, uint32_t slot_bytes);
void eki_local_free(struct eki_local *local);

/* Two arrays, or their ends, change places. */
static inline void eki_slots_swap(unsigned char **a, unsigned char **b)
{
    unsigned char *slots = *a;
    *a = *b;
    *b = slots;
}

/* Slots between two positions. */
static inline int64_t eki_local_slots(const struct eki_local *local,
                                      const unsigned char *first,
                                      const unsigned char *last)
{
    return (last - first) / (int64_t)local->slot_bytes;
}

/* Whether a restore finds nothing here. */
static inline bool eki_local_is_bare(const struct eki_local *local)
{
    return local->seed_end == local->seeds && local->log_end == local->log &&
           (local->aside | local->gone) == 0 && !local->is_held;
}

static inline bool eki_local_is_empty(const struct eki_local *local)
{
    return local->seed_top == local->seed_base &&
           local->stack_top == local->stack_bottom;
}

/* Whether a task runs in this array of the stack. */
static inline bool eki_local_runs_here(const struct eki_local *local)
{
    const unsigned char *slot = (const unsigned char *)local->running;
    return slot && slot >= local->stack && slot < local->stack_limit;
}

/* The hole in the stack; NULL: there is none. */
static inline unsigned char *eki_local_hole(const struct eki_local *local)
{
    unsigned char *slot = (unsigned char *)local->running;
    if (EKI_LIKELY(!slot))
        return NULL;
    if (!eki_local_runs_here(local))
        return local->moved_hole;
    return slot >= local->stack_bottom ? slot : NULL;
}

/* Tasks that wait on the stack. */
static inline int64_t eki_local_stacked(const struct eki_local *local)
{
    return eki_local_slots(local, local->stack_bottom, local->stack_top) -
           (eki_local_hole(local) != NULL);
}

static inline int64_t eki_local_count(const struct eki_local *local)
{
    return eki_local_slots(local, local->seed_base, local->seed_top) +
           eki_local_stacked(local);
}

/* Room for just N more seeds, outside of a phase; false: no memory. */
bool eki_local_seeds_reserve(struct eki_local *local, int64_t n);
/* Room for N more of many, outside of a phase: arrays double. */
bool eki_local_seeds_room(struct eki_local *local, int64_t n);
/* Move all seeds of FROM, where nothing runs, on top of those of LOCAL, outside
 * of a phase; false: no memory, and nothing has moved. */
bool eki_local_join_seeds(struct eki_local *local, struct eki_local *from);
/* Room for one more seed on top; NULL: no memory.  The caller fills it. */
struct eki_slot *eki_local_seed_grow(struct eki_local *local);
static inline struct eki_slot *eki_local_add_seed(struct eki_local *local)
{
    if (EKI_UNLIKELY(local->seed_end == local->seed_limit))
        return eki_local_seed_grow(local);
    struct eki_slot *slot = (struct eki_slot *)local->seed_end;
    local->seed_end += local->slot_bytes;
    local->seed_top = local->seed_end;
    return slot;
}

/* Add a seed that stands for the indices of a RANGE; false: no memory. */
bool eki_local_add_range(struct eki_local *local, int function,
                         struct eki_range range, uint64_t id);

/* Make room for N more slots on the stack; false: no memory. */
bool eki_local_reserve(struct eki_local *local, int64_t n);

/* Push a slot that the caller fills; NULL: no memory. */
static inline struct eki_slot *eki_local_push(struct eki_local *local)
{
    if (EKI_UNLIKELY(local->stack_top == local->stack_limit) &&
        !eki_local_reserve(local, 1))
        return NULL;
    struct eki_slot *slot = (struct eki_slot *)local->stack_top;
    local->stack_top += local->slot_bytes;
    return slot;
}

/* The hole that a task with children leaves, of which the stack has been
 * published, or has moved. */
void eki_local_fill_late(struct eki_local *local);

/* The task that runs in its place, SLOT, has ended. */
static inline void eki_local_leave(struct eki_local *local,
                                   struct eki_slot *slot, uint32_t slot_bytes)
{
    unsigned char *place = (unsigned char *)slot, *top = local->stack_top;
    if (EKI_LIKELY(top == place + slot_bytes)) {
        local->stack_top = place;
        return;
    }
    if (EKI_UNLIKELY(place < local->stack_bottom || place >= top)) {
        eki_local_fill_late(local);
        return;
    }
    top -= slot_bytes;
    eki_slot_copy(place, top, slot_bytes);
    local->stack_top = top;
}

/*
 * Seeds of so few bytes are restored into the spare array, faster than in
 * place: they stay in the caches (ek-bench tasks, restore 10000 and 100000).
 */
#define EKI_SPARE_BYTES (2 << 20)
/* Make room for N slots in the spare array; false: no memory. */
bool eki_local_spare_reserve(struct eki_local *local, int64_t n);
/* After a restore that leaves KEPT seeds, give back of large arrays what the
 * iteration did not need. */
void eki_local_cut(struct eki_local *local, int64_t kept);
/* Give back all arrays but that of the seeds, after a restore. */
void eki_local_shed(struct eki_local *local);

/* Make room for N more slots in the log; false: no memory. */
bool eki_local_log_reserve(struct eki_local *local, int64_t n);
/* Append a copy of SLOT to the log; NULL: no memory. */
struct eki_slot *eki_local_log(struct eki_local *local,
                               const struct eki_slot *slot);

/* Mark the stack SLOTS above its top, or at its limit. */
static inline void eki_local_set_mark(struct eki_local *local, int slots)
{
    ptrdiff_t bytes = slots * (ptrdiff_t)local->slot_bytes;
    local->stack_mark = local->stack_limit - local->stack_top > bytes
                            ? local->stack_top + bytes
                            : local->stack_limit;
}

/* Start anew at the bottom of an empty stack. */
static inline void eki_local_reset_stack(struct eki_local *local)
{
    if (local->stack_top == local->stack_bottom && !local->running &&
        local->stack_top != local->stack && local->aside == 0 &&
        local->published_stack == 0)
        local->stack_top = local->stack_bottom = local->stack;
}

/*
 * Tasks of the owner that it surely runs are held: never published.  Those of
 * the seeds from FROM on are, or those of the stack from FROM to its top, or to
 * where others are held already.  When the top has come down to them, none are.
 */
void eki_local_hold(struct eki_local *local, unsigned char *from);
void eki_local_let_go(struct eki_local *local);
/* Move those of the stack to its top, so that others lie below; without memory
 * they stay. */
void eki_local_lift_held(struct eki_local *local);
/* Go past a hole that is the oldest slot of the stack, where children lie above
 * it: it is not filled any more. */
void eki_local_pass_hole(struct eki_local *local);
/* Where those below held ones, or a hole, end on the stack; and how many these
 * are, with those of the seeds. */
unsigned char *eki_local_free_top(const struct eki_local *local);
int64_t eki_local_count_free(const struct eki_local *local);

/* Copy the N oldest tasks to TO (stack first, then the base of the seeds), no
 * more than are free. */
void eki_local_publish(struct eki_local *local, void *to, int64_t n);
/* Take back the last REST tasks of the publication, which then is closed. */
void eki_local_take_back(struct eki_local *local, int64_t rest);
/* The publication is exhausted. */
static inline void eki_local_published(struct eki_local *local)
{
    local->published_seeds = local->published_stack = 0;
}

/* Cancel all tasks: they stay for the restore.  Returns how many there were. */
int64_t eki_local_cancel(struct eki_local *local);

/* Go on with what was cancelled, once it is restored: what ran is done.  False:
 * no memory, and nothing has changed. */
bool eki_local_continue(struct eki_local *local);

/* Put a copy of SLOT among what is done, or, where it was spawned, what waits;
 * false: no memory. */
bool eki_local_put_part(struct eki_local *local, const struct eki_slot *slot);

/* A restore places what was spawned and waits, while it stands among the seeds:
 * one that was never measured, and whose duration was set, is no seed.  Those
 * that stand there wait again; false: no memory. */
#define EKI_SLOT_STANDS (EKI_SLOT_SEED | EKI_SLOT_SET)
bool eki_local_stand_down(struct eki_local *local);

/* Above what is done in the log. */
static inline unsigned char *eki_local_logged(const struct eki_local *local)
{
    return local->done ? local->log + local->done * local->slot_bytes
                       : local->log;
}

/* Tasks (indices of ranges) among the seeds.  O(1) without ranges. */
int64_t eki_local_seed_tasks(const struct eki_local *local);

/*
 * Make the log the seeds of the next iteration: what ran or was cancelled and
 * was not discarded, and the remaining indices, in this order.  *DISCARDED
 * counts what went.  On false (no memory) nothing has changed.
 *
 * Linear for LONGEST (a counting sort over the bins seen) and EXECUTED.
 */
bool eki_local_restore(struct eki_local *local, enum eki_order order,
                       int64_t *discarded);

/* Forget everything; the memory stays. */
void eki_local_clear(struct eki_local *local);

/* Broken invariant as text, or NULL. */
const char *eki_local_check(const struct eki_local *local);

#endif
