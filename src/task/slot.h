/* SPDX-License-Identifier: BSD-3-Clause */
/* slot: what a task lies in, its id, and how long it took, as a bin. */
#ifndef EKI_TASK_SLOT_H
#define EKI_TASK_SLOT_H

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
/* A batch, or a piece of a range, that takes longer was too large: for so long
 * nothing is published and nobody is served.  A shorter one than half of that
 * may grow: with tasks of 1 us a step per 2 us costs more than one percent
 * (ek-bench loops). */
#define EKI_BATCH_NS 8000
#define EKI_SHORT_NS (EKI_BATCH_NS / 2)

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

/* What ascends with order=ascending: the payload where it is one number, else
 * the id.  Not of a range. */
static inline int64_t eki_slot_number(const struct eki_slot *slot)
{
    int64_t number = (int64_t)slot->id;
    if (slot->bytes == sizeof number)
        memcpy(&number, slot->payload, sizeof number);
    return number;
}

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

/* The first word of the slot of a task with FLAGS that was never measured, but
 * for function, size and flags of ek_spawn(). */
static inline uint64_t eki_spawned_word(int flags)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (uint64_t)EKI_BIN_NEVER << 32 | (uint64_t)EKI_NO_HINT << 48 |
           (uint64_t)(uint8_t)flags << 56;
#else
    struct eki_slot slot = {.bin = EKI_BIN_NEVER,
                            .deviation = EKI_NO_HINT,
                            .flags = (uint8_t)flags};
    uint64_t word;
    memcpy(&word, &slot, sizeof word);
    return word;
#endif
}

/* Fill the header of a spawned task, from such a WORD.  In whole words, because
 * it is copied in whole words: a load that spans two stores waits for both. */
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

/* Fill the header of a task that was never measured. */
static inline void eki_slot_head(struct eki_slot *slot, int function,
                                 size_t bytes, int flags, uint64_t id)
{
    eki_slot_spawn(slot, eki_spawned_word(flags), function, bytes, 0, id);
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
    /* A number. */
    if (bytes == 8) {
        eki_store_pair(to, eki_load_word(from), 0);
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

/* Whether the slot, of an iteration that has ended, ran in it: it was measured
 * or skipped, unless it was added since. */
static inline bool eki_slot_has_run(const struct eki_slot *slot)
{
    return !(slot->flags & (EKI_SLOT_CANCELLED | EKI_SLOT_RANGE)) &&
           (slot->bin != EKI_BIN_NEVER || slot->flags & EKI_SLOT_SKIPPED);
}

static inline struct eki_slot *eki_slot_at(unsigned char *slots, int64_t i,
                                           uint32_t slot_bytes)
{
    return (struct eki_slot *)(slots + i * (int64_t)slot_bytes);
}

#endif
