/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * task: the slot a task lies in, durations as bins, and the local part of a
 * worker: what only its owner touches.
 *
 * Local part.  *Seeds* lie in one array that is not overwritten during an
 * iteration: the owner takes from its top and runs in place, publishing copies
 * from its base.  What came from elsewhere, and what tasks spawned, is a
 * *stack* above: the owner takes the newest, publishing the oldest.  A seed
 * taken from the stack is copied to the *log* and runs there; an index of a
 * range that is not null for good is written there.  So after the iteration
 * seeds [base, count) and the log are what ran here.
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

#include "base/base.h"

#include <string.h>

/*
 * A duration as a 16-bit bin: 0 never measured, else 1 + 256 x octave + the
 * next eight bits of the nanoseconds.
 */
#define EKI_BIN_NEVER 0
#define EKI_BIN_COUNT (64 * 256 + 1)
/* Marks a range; larger than any duration. */
#define EKI_BIN_RANGE 0xffff
/* Tasks at least this long are timed alone. */
#define EKI_LONG_NS 2000
/* A batch of tasks shorter than this may grow. */
#define EKI_SHORT_NS 1000

static inline uint16_t eki_bin_of(uint64_t ns)
{
    if (ns == 0)
        return 1;
    unsigned octave = 63u - (unsigned)__builtin_clzll(ns);
    unsigned rest = octave >= 8 ? (unsigned)(ns >> (octave - 8)) & 255u
                                : (unsigned)(ns << (8 - octave)) & 255u;
    return (uint16_t)(1 + octave * 256 + rest);
}

/* The middle of the bin in nanoseconds; 0 for a task never measured. */
static inline uint64_t eki_bin_ns(uint16_t bin)
{
    if (bin == EKI_BIN_NEVER || bin >= EKI_BIN_COUNT)
        return 0;
    unsigned octave = (bin - 1u) / 256, rest = (bin - 1u) % 256;
    if (octave <= 8)
        return (256ull + rest) >> (8 - octave);
    return ((256ull + rest) << (octave - 8)) + (1ull << (octave - 9));
}

#define EKI_BIN_LONG 2805 /* eki_bin_of(EKI_LONG_NS); a test compares */

/*
 * How much a duration varies: running mean of |change of bin| / 4, weight 1/4.
 * For a task never measured the same byte holds its hint.
 */
static inline uint8_t eki_deviation_next(uint8_t deviation, uint16_t old,
                                         uint16_t bin)
{
    int change = old > bin ? old - bin : bin - old;
    int steps = change / 4 > 255 ? 255 : change / 4;
    /* The first change is all that is known. */
    if (deviation == 0)
        return (uint8_t)steps;
    return (uint8_t)(deviation + (steps - deviation) / 4);
}

/* Relative deviation, from the byte. */
double eki_deviation_relative(uint8_t deviation);
/* A hint as a byte: 2^((byte - 128) / 8). */
#define EKI_NO_HINT 128 /* 1 */
uint8_t eki_hint_byte(double cost);
double eki_hint_cost(uint8_t byte);

enum {
    EKI_SLOT_SEED = 1,       /* restored: a seed, or kept */
    EKI_SLOT_RANGE = 2,      /* payload is struct eki_range */
    EKI_SLOT_DISCARDED = 4,  /* null for good */
    EKI_SLOT_SKIPPED = 8,    /* null this time */
    EKI_SLOT_CANCELLED = 16, /* has not run; a range: since it was added */
    EKI_SLOT_TRACED = 16,    /* spawned, waits, and is logged when it runs */
    EKI_SLOT_COSTED = 32,    /* duration set by the task, this time ... */
    EKI_SLOT_SET = 64,       /* ... or last time */
    EKI_SLOT_ADOPTED = 128   /* its home is in its last bytes, not in its id */
};

struct eki_slot {
    uint16_t function;
    uint16_t bytes;
    uint16_t bin;
    uint8_t deviation;
    uint8_t flags;
    uint64_t id;
    unsigned char payload[];
};
_Static_assert(sizeof(struct eki_slot) == 16, "layout of a slot");

#define EKI_SLOT_HEADER 16
/* Bytes of a slot, where options do not ask for others. */
#define EKI_SLOT_USUAL 64

struct eki_range {
    int64_t first, last;
};

/* Bytes of a slot for payloads of up to PAYLOAD_BYTES. */
static inline uint32_t eki_slot_bytes(int64_t payload_bytes)
{
    return (uint32_t)((payload_bytes + EKI_SLOT_HEADER + 15) / 16 * 16);
}

/* Bytes at the end of a slot, where tasks may be adopted: rank of the home. */
#define EKI_SLOT_HOME_BYTES 8

static inline int eki_slot_adopter(const struct eki_slot *slot,
                                   uint32_t slot_bytes)
{
    int32_t rank;
    memcpy(&rank,
           (const unsigned char *)slot + slot_bytes - EKI_SLOT_HOME_BYTES,
           sizeof rank);
    return rank;
}

static inline void eki_slot_adopt(struct eki_slot *slot, uint32_t slot_bytes,
                                  int32_t rank)
{
    memcpy((unsigned char *)slot + slot_bytes - EKI_SLOT_HOME_BYTES, &rank,
           sizeof rank);
    slot->flags |= EKI_SLOT_ADOPTED;
}

#define EKI_ID_BITS 40
#define EKI_NUMBERS (UINT64_C(1) << EKI_ID_BITS)
static inline uint64_t eki_id(int64_t worker, uint64_t number)
{
    return (uint64_t)worker << EKI_ID_BITS | number;
}
/* Id of the first task that a worker spawns; its seeds are numbered from 0 on.
 */
static inline uint64_t eki_id_first_spawned(int64_t worker)
{
    return eki_id(worker, EKI_NUMBERS / 2);
}
static inline int eki_id_home(uint64_t id)
{
    return (int)(id >> EKI_ID_BITS);
}

/*
 * A slot is written and read in the same pieces, the header as two words, the
 * payload in pairs of words: a load that spans two stores waits for both (7
 * ns), and stores are what a task has most of.  What the program has written
 * just before is read word by word.
 */
#if defined(__GNUC__)
typedef uint64_t eki_pair __attribute__((vector_size(16)));
#else
typedef struct {
    uint64_t low, high;
} eki_pair;
#endif

static inline void eki_store_pair(unsigned char *to, uint64_t low,
                                  uint64_t high)
{
    eki_pair pair = {low, high};
    memcpy(to, &pair, sizeof pair);
}

static inline void eki_copy_pair(unsigned char *to, const unsigned char *from)
{
    eki_pair pair;
    memcpy(&pair, from, sizeof pair);
    memcpy(to, &pair, sizeof pair);
}

static inline uint64_t eki_load_word(const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* The header in words that another thread may look at meanwhile. */
static inline void eki_slot_show_head(struct eki_slot *to,
                                      const struct eki_slot *from)
{
    _Atomic uint64_t *words = (_Atomic uint64_t *)to;
    const uint64_t *head = (const uint64_t *)from;
    /* relaxed, both: ordered by whatever says that it is there. */
    atomic_store_explicit(&words[0], head[0], memory_order_relaxed);
    atomic_store_explicit(&words[1], head[1], memory_order_relaxed);
}

/* Look at a header that is shown so. */
static inline void eki_slot_look_head(const struct eki_slot *slot,
                                      int *function, uint64_t *id)
{
    const _Atomic uint64_t *words = (const _Atomic uint64_t *)slot;
    uint16_t first;
    /* relaxed, both: whoever looks finds out if they do not belong together. */
    uint64_t head = atomic_load_explicit(&words[0], memory_order_relaxed);
    *id = atomic_load_explicit(&words[1], memory_order_relaxed);
    memcpy(&first, &head, sizeof first);
    *function = first;
}

static inline void eki_slot_copy_payload(struct eki_slot *to,
                                         const struct eki_slot *from,
                                         uint32_t bytes)
{
    unsigned char *to_payload = to->payload;
    const unsigned char *payload = from->payload;
    if (EKI_LIKELY(bytes == 64)) {
        eki_copy_pair(to_payload, payload);
        eki_copy_pair(to_payload + 16, payload + 16);
        eki_copy_pair(to_payload + 32, payload + 32);
        return;
    }
    for (uint32_t i = 0; i + EKI_SLOT_HEADER < bytes; i += 16)
        eki_copy_pair(to_payload + i, payload + i);
}

static inline void eki_slot_copy(void *to, const void *from, uint32_t bytes)
{
    uint64_t *t = to;
    const uint64_t *f = from;
    t[0] = f[0], t[1] = f[1];
    eki_slot_copy_payload(to, from, bytes);
}

/*
 * Fill the header of a task that was never measured.  In whole words, because
 * it is copied in whole words: a load that spans two stores waits for both.
 */
static inline void eki_slot_head(struct eki_slot *slot, int function,
                                 size_t bytes, uint8_t hint, uint8_t flags,
                                 uint64_t id)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word = (uint64_t)(uint32_t)function | (uint64_t)bytes << 16 |
                    (uint64_t)EKI_BIN_NEVER << 32 | (uint64_t)hint << 48 |
                    (uint64_t)flags << 56;
    memcpy(slot, &word, sizeof word);
#else
    slot->function = (uint16_t)function;
    slot->bytes = (uint16_t)bytes;
    slot->bin = EKI_BIN_NEVER;
    slot->deviation = hint;
    slot->flags = flags;
#endif
    slot->id = id;
}

/* The first word of the slot of a spawned task with FLAGS, but for function,
 * size and flags of ek_spawn(). */
static inline uint64_t eki_spawned_word(int flags)
{
    struct eki_slot slot = {.bin = EKI_BIN_NEVER,
                            .deviation = EKI_NO_HINT,
                            .flags = (uint8_t)flags};
    uint64_t word;
    memcpy(&word, &slot, sizeof word);
    return word;
}

/* Fill the header of a spawned task, from such a WORD. */
static inline void eki_slot_spawn(struct eki_slot *slot, uint64_t word,
                                  int function, size_t bytes, int flags,
                                  uint64_t id)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word |= (uint64_t)(uint32_t)function | (uint64_t)bytes << 16 |
            (uint64_t)(unsigned)flags << 56;
    memcpy(slot, &word, sizeof word);
#else
    memcpy(slot, &word, sizeof word);
    slot->function = (uint16_t)function;
    slot->bytes = (uint16_t)bytes;
    slot->flags |= (uint8_t)flags;
#endif
    slot->id = id;
}

static inline void eki_put_pair(unsigned char *to, const unsigned char *from)
{
    eki_store_pair(to, eki_load_word(from), eki_load_word(from + 8));
}

/* The last BYTES < 16 of a payload. */
static inline void eki_put_rest(unsigned char *to, const unsigned char *from,
                                size_t bytes)
{
    uint64_t words[2] = {0, 0};
    if (EKI_LIKELY(bytes == 8))
        words[0] = eki_load_word(from);
    else
        for (size_t i = 0; i < bytes; i++)
            ((unsigned char *)words)[i] = from[i];
    eki_store_pair(to, words[0], words[1]);
}

/* Copy BYTES of payload into SLOT. */
static inline void eki_copy_payload(struct eki_slot *slot, const void *payload,
                                    size_t bytes)
{
    const unsigned char *from = payload;
    unsigned char *to = slot->payload;
    size_t pairs = bytes / 16;
    /* The default. */
    if (EKI_LIKELY(bytes == 48)) {
        eki_put_pair(to, from);
        eki_put_pair(to + 16, from + 16);
        eki_put_pair(to + 32, from + 32);
        return;
    }
    switch (pairs) {
    default:
        for (size_t i = 3; i < pairs; i++)
            eki_put_pair(to + 16 * i, from + 16 * i);
        /* fall through */
    case 3:
        eki_put_pair(to + 32, from + 32);
        /* fall through */
    case 2:
        eki_put_pair(to + 16, from + 16);
        /* fall through */
    case 1:
        eki_put_pair(to, from);
        /* fall through */
    case 0:
        break;
    }
    if (bytes % 16 != 0)
        eki_put_rest(to + 16 * pairs, from + 16 * pairs, bytes % 16);
}

/* Tasks in a slot: the indices of a range, else one. */
static inline int64_t eki_slot_tasks(const struct eki_slot *slot)
{
    if (EKI_LIKELY(!(slot->flags & EKI_SLOT_RANGE)))
        return 1;
    const struct eki_range *range = (const struct eki_range *)slot->payload;
    return range->last - range->first;
}

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
    unsigned char *stack_bottom;         /* likewise, up to stack_top */
    unsigned char *log_end;              /* executed from the stack */
    unsigned char *stack_limit, *log_limit;

    unsigned char *seeds, *seed_end, *seed_limit; /* the array */
    unsigned char *stack, *log;
    unsigned char *spare, *spare_limit;       /* for the next restore */
    int64_t spare_most;                       /* bytes of seeds that use it */
    int64_t published_seeds, published_stack; /* of the open publication */
    int64_t aside;   /* cancelled tasks that lie below the stack's bottom */
    int64_t gone;    /* discarded tasks of which no slot tells */
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

static inline struct eki_slot *eki_slot_at(unsigned char *slots, int64_t i,
                                           uint32_t slot_bytes)
{
    return (struct eki_slot *)(slots + i * (int64_t)slot_bytes);
}

/* Slots between two positions. */
static inline int64_t eki_local_slots(const struct eki_local *local,
                                      const unsigned char *first,
                                      const unsigned char *last)
{
    return (last - first) / (int64_t)local->slot_bytes;
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
/* Room for N more of many, likewise; arrays double. */
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

/* Tasks (indices of ranges) among the seeds.  O(1) without ranges. */
int64_t eki_local_seed_tasks(const struct eki_local *local);

/* Order of the seeds, see ek_order; by home number in EKI_ORDER_ORIGINAL. */
enum eki_order {
    EKI_ORDER_LONGEST,
    EKI_ORDER_EXECUTED,
    EKI_ORDER_ORIGINAL
};

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
