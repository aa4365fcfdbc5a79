/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline calls: ek_spawn(), ek_spawn_at(), ek_worker_data(), ek_worker_here()
 * and ek_worker_id() as macros, for programs with short tasks.
 *
 * Include this header wherever tasks spawn; nothing else changes.  The macros
 * handle the usual case in place, and call the functions otherwise.  With the
 * option check all spawns are calls.  No macro checks whether its worker is
 * NULL.  A name in parentheses, (ek_spawn), is the function.
 *
 * Compilers: GCC, Clang and compatible ones, on little-endian machines with
 * pointers of 64 bits.  For others this header defines no macros.
 *
 * Binaries.  A compiled program contains the layout EK_INLINE_LAYOUT of struct
 * ek_worker_head and of slots.  If a later library has another layout, all
 * calls become calls of the functions.
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_INLINE_H
#define EVENKEEL_INLINE_H

#include <evenkeel_spawn.h>
#include <evenkeel_worker.h>

/** Number of the layout that this header knows. */
#define EK_INLINE_LAYOUT 1

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && __SIZEOF_POINTER__ == 8

#include <string.h>

/* Longer payloads are copied by memcpy(). */
#define EKI_INLINE_BYTES 128

#ifdef __cplusplus
#define EKI_INLINE inline __attribute__((always_inline))
extern "C" {
#else
#define EKI_INLINE static inline __attribute__((always_inline))
#endif

/**
 * First bytes of an ek_worker in layout 1; only for the calls below.
 *
 * Each change makes a new layout, and @p layout stays the first field.  A slot
 * is a word (function, payload bytes << 16, flags << 56, @p slot_word), the
 * task's id, and the payload.
 */
struct __attribute__((may_alias)) ek_worker_head {
    uint32_t layout;        /**< EK_INLINE_LAYOUT, or the rest is unknown. */
    uint32_t slot_bytes;    /**< A multiple of 16. */
    unsigned char *top;     /**< Next slot. */
    unsigned char *mark;    /**< From here on the function spawns. */
    uint64_t next_id;       /**< Of the next task. */
    uint64_t slot_word;     /**< Added to the first word of a slot. */
    uint32_t functions;     /**< Registered; 0: the function spawns all. */
    uint32_t payload_bytes; /**< Longest payload. */
    void *data;             /**< For ek_worker_data(). */
    int32_t id;             /**< For ek_worker_id(). */
    int32_t here;           /**< For ek_worker_here(). */
};

/* The payload of a new slot; NULL: the function must spawn.  A task that is
 * WRITTEN by now may be read at once, in words: the atomic store, which orders
 * nothing, keeps compilers from joining those of its header. */
EKI_INLINE unsigned char *eki_inline_push(struct ek_worker_head *head,
                                          ek_function function, size_t bytes,
                                          int flags, int written)
{
    typedef uint64_t __attribute__((may_alias)) eki_inline_id;
    unsigned char *slot = head->top;
    uint64_t word, id;
    if (__builtin_expect(head->layout != EK_INLINE_LAYOUT ||
                             (uint32_t)function >= head->functions ||
                             bytes > head->payload_bytes ||
                             (flags & ~EK_SPAWN_KEEP) != 0 ||
                             slot >= head->mark,
                         0))
        return NULL;
    word = head->slot_word | (uint32_t)function | (uint64_t)bytes << 16 |
           (uint64_t)(uint32_t)flags << 56;
    id = head->next_id;
    head->top = slot + head->slot_bytes;
    head->next_id = id + 1;
    memcpy(slot, &word, sizeof word);
    if (written)
        __atomic_store_n((eki_inline_id *)(void *)(slot + 8), id,
                         __ATOMIC_RELAXED);
    else
        memcpy(slot + 8, &id, sizeof id);
    return slot + 16;
}

EKI_INLINE void eki_inline_pair(unsigned char *to, uint64_t low, uint64_t high)
{
    typedef uint64_t eki_inline_words __attribute__((vector_size(16)));
    eki_inline_words words = {low, high};
    memcpy(to, &words, 16);
}

/* Copy a payload: read words, as programs have just written them, and write
 * pairs of words, as the library reads them.  A load that spans two stores
 * waits for both. */
EKI_INLINE void eki_inline_copy(unsigned char *to, const void *payload,
                                size_t bytes)
{
    const unsigned char *from = (const unsigned char *)payload;
    uint64_t low = 0, high = 0;
    size_t rest = bytes % 16;
#if defined(__clang__)
#pragma clang loop unroll(full)
#else
#pragma GCC unroll 8
#endif
    for (; bytes >= 16; bytes -= 16, from += 16, to += 16) {
        memcpy(&low, from, 8);
        memcpy(&high, from + 8, 8);
        eki_inline_pair(to, low, high);
    }
    if (rest == 0)
        return;
    low = high = 0;
    if (rest >= 8) {
        memcpy(&low, from, 8);
        memcpy(&high, from + 8, rest - 8);
    } else {
        memcpy(&low, from, rest);
    }
    eki_inline_pair(to, low, high);
}

/* The function spawns a copy, and compilers may keep a payload that has no
 * other address in registers: it is written where it will lie, and only there.
 * A payload that is too long is not read: the function says which may be. */
EKI_INLINE ek_status eki_inline_call(ek_worker *worker, ek_function function,
                                     const void *payload, size_t bytes,
                                     int flags)
{
    const struct ek_worker_head *head = (const struct ek_worker_head *)worker;
    unsigned char copy[EKI_INLINE_BYTES];
    if (!payload || bytes == 0 ||
        (head->layout == EK_INLINE_LAYOUT && bytes > head->payload_bytes))
        return ek_spawn(worker, function, NULL, bytes, flags);
    eki_inline_copy(copy, payload, bytes);
    return ek_spawn(worker, function, copy, bytes, flags);
}

/** As ek_spawn_at(). */
EKI_INLINE void *ek_spawn_at_inline(ek_worker *worker, ek_function function,
                                    size_t bytes, int flags)
{
    struct ek_worker_head *head = (struct ek_worker_head *)worker;
    void *payload = eki_inline_push(head, function, bytes, flags, 0);
    return __builtin_expect(payload != NULL, 1)
               ? payload
               : ek_spawn_at(worker, function, bytes, flags);
}

/** As ek_spawn(). */
EKI_INLINE ek_status ek_spawn_inline(ek_worker *worker, ek_function function,
                                     const void *payload, size_t bytes,
                                     int flags)
{
    struct ek_worker_head *head = (struct ek_worker_head *)worker;
    unsigned char *to =
        payload ? eki_inline_push(head, function, bytes, flags, 1) : NULL;
    int is_copied = __builtin_constant_p(bytes) && bytes <= EKI_INLINE_BYTES;
    if (__builtin_expect(!to, 0))
        return is_copied
                   ? eki_inline_call(worker, function, payload, bytes, flags)
                   : ek_spawn(worker, function, payload, bytes, flags);
    if (is_copied)
        eki_inline_copy(to, payload, bytes);
    else
        memcpy(to, payload, bytes);
    return EK_OK;
}

/** As ek_worker_data(). */
EKI_INLINE void *ek_worker_data_inline(const ek_worker *worker)
{
    const struct ek_worker_head *head = (const struct ek_worker_head *)worker;
    return __builtin_expect(head->layout == EK_INLINE_LAYOUT, 1)
               ? head->data
               : ek_worker_data(worker);
}

/** As ek_worker_here(). */
EKI_INLINE int ek_worker_here_inline(const ek_worker *worker)
{
    const struct ek_worker_head *head = (const struct ek_worker_head *)worker;
    return __builtin_expect(head->layout == EK_INLINE_LAYOUT, 1)
               ? head->here
               : ek_worker_here(worker);
}

/** As ek_worker_id(). */
EKI_INLINE int ek_worker_id_inline(const ek_worker *worker)
{
    const struct ek_worker_head *head = (const struct ek_worker_head *)worker;
    return __builtin_expect(head->layout == EK_INLINE_LAYOUT, 1)
               ? head->id
               : ek_worker_id(worker);
}

/** The functions keep their names, too. */
#define ek_spawn(...) ek_spawn_inline(__VA_ARGS__)
#define ek_spawn_at(...) ek_spawn_at_inline(__VA_ARGS__)
#define ek_worker_data(...) ek_worker_data_inline(__VA_ARGS__)
#define ek_worker_here(...) ek_worker_here_inline(__VA_ARGS__)
#define ek_worker_id(...) ek_worker_id_inline(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
#endif
