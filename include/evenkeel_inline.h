/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of tasks without a call: ek_spawn(), ek_spawn_at(), ek_worker_data(),
 * ek_worker_here() and ek_worker_id(), for programs whose tasks are short.
 *
 * Include it wherever tasks spawn; nothing else changes.  Each of these names
 * is then a macro as well, as the C standard allows its own library: the macro
 * does what is usual on the spot, and calls the function for all else.  The
 * function itself is a name in parentheses, or its address.  With a compiler
 * other than GCC, Clang and their kin, and on big-endian machines, this header
 * defines nothing.
 *
 * The function it calls finds what is wrong with the arguments, makes room,
 * shows tasks to thieves, and is the only one that is used where the option
 * check is on: no check is passed by.  Only a worker that is NULL is not looked
 * at.
 *
 * Binaries.  A program compiled with this header reads and writes struct
 * ek_worker_head, and slots, as they are below: layout EK_INLINE_LAYOUT.  Each
 * call compares that number with what the library says; where it differs, as
 * in a later library, all calls are those of functions.  Of a layout nothing
 * ever changes; a change of any kind has a new number; and no layout moves the
 * number itself, the first four bytes of what an ek_worker * points to.
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
 * What an ek_worker begins with in layout 1.
 *
 * Not for programs: the calls below are.  A slot is a word of function, payload
 * bytes << 16 and flags << 56, or-ed with @p slot_word; a word with the task's
 * id; and the payload.
 */
struct __attribute__((may_alias)) ek_worker_head {
    uint32_t layout;        /**< EK_INLINE_LAYOUT, or all else is unknown. */
    uint32_t slot_bytes;    /**< A multiple of 16. */
    unsigned char *top;     /**< Where the next slot goes, ... */
    unsigned char *mark;    /**< ... below this, if it goes there plainly. */
    uint64_t next_id;       /**< Of the next task. */
    uint64_t slot_word;     /**< Added to the first word of a slot. */
    uint32_t functions;     /**< Registered; 0: none is spawned plainly. */
    uint32_t payload_bytes; /**< Most of a payload. */
    void *data;             /**< As of ek_worker_data(). */
    int32_t id;             /**< As of ek_worker_id(). */
    int32_t here;           /**< As of ek_worker_here(). */
};

/* The payload of a new slot; NULL: that is for the function to do. */
EKI_INLINE unsigned char *eki_inline_push(struct ek_worker_head *head,
                                          ek_function function, size_t bytes,
                                          int flags)
{
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
    memcpy(slot + 8, &id, sizeof id);
    return slot + 16;
}

EKI_INLINE void eki_inline_pair(unsigned char *to, uint64_t low, uint64_t high)
{
    typedef uint64_t eki_inline_words __attribute__((vector_size(16)));
    eki_inline_words words = {low, high};
    memcpy(to, &words, 16);
}

/* Copy a payload.  It is read in words, because programs have just written it
 * so, and written in pairs of words, because the library reads it so: a load
 * that spans two stores waits for both. */
EKI_INLINE void eki_inline_copy(unsigned char *to, const void *payload,
                                size_t bytes)
{
    const unsigned char *from = (const unsigned char *)payload;
    uint64_t low = 0, high = 0;
    size_t rest = bytes % 16;
    if (!__builtin_constant_p(bytes) || bytes > EKI_INLINE_BYTES) {
        memcpy(to, payload, bytes);
        return;
    }
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

/** ek_spawn_at(), see there. */
EKI_INLINE void *ek_spawn_at_inline(ek_worker *worker, ek_function function,
                                    size_t bytes, int flags)
{
    struct ek_worker_head *head = (struct ek_worker_head *)worker;
    void *payload = eki_inline_push(head, function, bytes, flags);
    return __builtin_expect(payload != NULL, 1)
               ? payload
               : ek_spawn_at(worker, function, bytes, flags);
}

/** ek_spawn(), see there. */
EKI_INLINE ek_status ek_spawn_inline(ek_worker *worker, ek_function function,
                                     const void *payload, size_t bytes,
                                     int flags)
{
    struct ek_worker_head *head = (struct ek_worker_head *)worker;
    unsigned char *to =
        payload ? eki_inline_push(head, function, bytes, flags) : NULL;
    if (__builtin_expect(!to, 0))
        return ek_spawn(worker, function, payload, bytes, flags);
    eki_inline_copy(to, payload, bytes);
    return EK_OK;
}

/** ek_worker_data(), see there. */
EKI_INLINE void *ek_worker_data_inline(const ek_worker *worker)
{
    const struct ek_worker_head *head = (const struct ek_worker_head *)worker;
    return __builtin_expect(head->layout == EK_INLINE_LAYOUT, 1)
               ? head->data
               : ek_worker_data(worker);
}

/** ek_worker_here(), see there. */
EKI_INLINE int ek_worker_here_inline(const ek_worker *worker)
{
    const struct ek_worker_head *head = (const struct ek_worker_head *)worker;
    return __builtin_expect(head->layout == EK_INLINE_LAYOUT, 1)
               ? head->here
               : ek_worker_here(worker);
}

/** ek_worker_id(), see there. */
EKI_INLINE int ek_worker_id_inline(const ek_worker *worker)
{
    const struct ek_worker_head *head = (const struct ek_worker_head *)worker;
    return __builtin_expect(head->layout == EK_INLINE_LAYOUT, 1)
               ? head->id
               : ek_worker_id(worker);
}

/** Function-like, so that the functions have their names as well. */
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
