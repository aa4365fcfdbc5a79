/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deque: the shared part of a worker's deque, from which others steal.
 *
 * It deals in slot indices only: who calls it copies the slots.  A worker has
 * 2 * capacity slots, indices 0 .. 2 * capacity - 1, in memory that every
 * process of the node maps.  One *publication* is open at a time; its slots
 * are contiguous, thieves claim blocks from its low end, and the owner takes
 * back what is left at its high end.  Self-contained C11: a model checker can
 * run it, with the capacity fixed by EKI_DEQUE_CAPACITY.
 *
 * Atomic kind: two buffers of `capacity` slots and one word
 *
 *     attempts (32 bits, on top) | buffer (1) | n (31)
 *
 * A thief adds 1 to attempts; the word it gets back tells which block is its
 * own: after i claims ceil(n / 2^i) slots remain.  n = 0 means closed.
 * `done` counts the slots copied out of each buffer; the owner fills a buffer
 * only while `done` equals what was ever claimed from it.
 * - Attempts grow only by adds that saw work, so by less than the number of
 *   claimants past the last block.
 * - `done` and `claimed` never decrease and are never reset.
 * - A publication is accounted for once: when seen exhausted or by acquire.
 *
 * Locked kind, for comparison: one ring of 2 * capacity slots and a lock.
 * Indices count slots since the start and are never reduced modulo the ring:
 *
 *     ctail <= itail <= stail <= split <= ctail + 2 * capacity
 *
 * stail .. split - 1 can be claimed; slots from ctail on may still be copied.
 *
 * Threads: the owner's functions take its private struct: one thread at a
 * time, handed on with synchronization.  claim, finish and visible: any thread
 * of any process of the node, the owner included.
 *
 * Paper: atomic kind: Cartier, Dinan, Larkins, ICPP 2021, section 4; ours
 * lives in shared memory, has a closed form for the blocks (the released code
 * counts one too few), two buffers instead of a ring, and an owner that never
 * waits.  Locked kind: Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 6,
 * without the faults of the printed pseudo-code.  Every memory order of the
 * atomic kind was checked under RC11 and fails where it is weakened.
 */
#ifndef EKI_DEQUE_H
#define EKI_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Two lines: the adjacent-line prefetcher moves pairs. */
#define EKI_DEQUE_LINE 128

#define EKI_DEQUE_CAPACITY_MIN 2
#define EKI_DEQUE_CAPACITY_MAX (1 << 20)

/* See base/plant.h: bugs for tests, none here. */
#ifndef EKI_PLANTED
#define EKI_PLANTED(name) 0
#endif

/* Called by who waits for the lock, after every EKI_DEQUE_SPINS looks in vain;
 * the includer defines it, before inclusion, to give the core away. */
#ifndef EKI_DEQUE_RELAX
#define EKI_DEQUE_RELAX() ((void)0)
#endif

/* Long against the few loads and stores done under the lock: who waits longer
 * probably waits for a holder that was descheduled. */
#ifndef EKI_DEQUE_SPINS
#define EKI_DEQUE_SPINS 256
#endif

#define EKI_DEQUE_ATTEMPTS_SHIFT 32
#define EKI_DEQUE_BUFFER_SHIFT 31
#define EKI_DEQUE_COUNT_MASK ((UINT64_C(1) << EKI_DEQUE_BUFFER_SHIFT) - 1)

enum eki_deque_kind {
    EKI_DEQUE_ATOMIC,
    EKI_DEQUE_LOCKED
};

/*
 * What thieves see.  In node-shared memory, aligned to EKI_DEQUE_LINE; all
 * zero is a closed, empty deque of either kind.
 *
 * word and stail, done and itail share their places, so that the owner's look
 * and the thieves' finish are the same for both kinds.
 */
struct eki_deque_shared {
    _Alignas(EKI_DEQUE_LINE) union {
        _Atomic uint64_t word;  /* atomic: owner stores, claimants add */
        _Atomic uint64_t stail; /* locked: claimants, under the lock */
    };
    _Atomic uint64_t split; /* locked: the owner; lowered under the lock */
    _Atomic uint32_t lock;  /* locked: 1 = held */

    _Alignas(EKI_DEQUE_LINE) union {
        _Atomic uint64_t done[2]; /* atomic: claimants, per buffer */
        _Atomic uint64_t itail;   /* locked: claimants */
    };
};

_Static_assert(sizeof(struct eki_deque_shared) == 2 * EKI_DEQUE_LINE,
               "one line to claim, one to finish");

/* What only the owner sees. */
struct eki_deque_owner {
    uint64_t exhausted_at; /* word or stail from which on nothing of the open
                              publication is left; 0 if none is open */
    uint64_t claimed[2];   /* slots ever claimed from each buffer, without the
                              open publication; locked: [0] is stail then */
    uint64_t ctail;        /* locked: slots before it are copied */
    uint32_t open;         /* slots of the open publication, else 0 */
    uint32_t buffer;       /* of the open or next publication; locked: 0 */
    uint32_t capacity;
    enum eki_deque_kind kind;
};

/* Slots first .. first + count - 1, claimed and not finished yet. */
struct eki_block {
    uint32_t first;
    uint32_t count;
    uint32_t buffer; /* locked: 0 */
};

/* The capacity in force: a model checker may fix it. */
static inline uint32_t eki_deque_capacity(uint32_t capacity)
{
#ifdef EKI_DEQUE_CAPACITY
    _Static_assert(EKI_DEQUE_CAPACITY >= EKI_DEQUE_CAPACITY_MIN &&
                       EKI_DEQUE_CAPACITY <= EKI_DEQUE_CAPACITY_MAX,
                   "capacity out of range");
    (void)capacity;
    return EKI_DEQUE_CAPACITY;
#else
    return capacity;
#endif
}

/* The largest block a claim can yield: the room a thief needs.  Both kinds. */
static inline uint32_t eki_deque_block_max(uint32_t capacity)
{
    return (eki_deque_capacity(capacity) + 1) / 2;
}

/* The number of blocks N slots are claimed in: ceil(log2 N) + 1; 0 for 0. */
static inline uint32_t eki_deque_blocks(uint32_t n)
{
    /* ceil(log2 n) is the bit length of n - 1. */
    return n < 2 ? n : 33 - (uint32_t)__builtin_clz(n - 1);
}

/* How many of N slots remain after I claims: ceil(N / 2^I), in the end 0. */
static inline uint32_t eki_deque_remaining(uint32_t n, uint32_t i)
{
    /* Before shifting: attempts may exceed the width of n. */
    if (i >= eki_deque_blocks(n))
        return 0;
    return ((n - 1) >> i) + 1;
}

static inline uint32_t eki_deque_word_attempts(uint64_t word)
{
    return (uint32_t)(word >> EKI_DEQUE_ATTEMPTS_SHIFT);
}

static inline uint32_t eki_deque_word_buffer(uint64_t word)
{
    return (uint32_t)(word >> EKI_DEQUE_BUFFER_SHIFT) & 1;
}

static inline uint32_t eki_deque_word_count(uint64_t word)
{
    return (uint32_t)(word & EKI_DEQUE_COUNT_MASK);
}

/* How many slots can still be claimed, by this state of the word. */
static inline uint32_t eki_deque_word_remaining(uint64_t word)
{
    return eki_deque_remaining(eki_deque_word_count(word),
                               eki_deque_word_attempts(word));
}

static inline void eki_deque_lock(struct eki_deque_shared *shared)
{
    uint32_t looks = 0;

    /* acquire: pairs with the release in eki_deque_unlock(). */
    while (atomic_exchange_explicit(&shared->lock, 1, memory_order_acquire)) {
        /* relaxed: a look only, it keeps the line shared while we wait. */
        while (atomic_load_explicit(&shared->lock, memory_order_relaxed)) {
            looks++;
            if (looks >= EKI_DEQUE_SPINS) {
                looks = 0;
                EKI_DEQUE_RELAX();
            }
        }
    }
}

static inline void eki_deque_unlock(struct eki_deque_shared *shared)
{
    /* release: pairs with the acquire in eki_deque_lock(). */
    atomic_store_explicit(&shared->lock, 0, memory_order_release);
}

/*
 * Become the owner of an all-zero shared part.
 *
 * False if the capacity is out of range: then the deque must not be used.
 */
static inline bool eki_deque_init(struct eki_deque_owner *owner,
                                  enum eki_deque_kind kind, uint32_t capacity)
{
    capacity = eki_deque_capacity(capacity);
    /* One by one: a model checker does not see into a copy of the whole. */
    owner->exhausted_at = 0;
    owner->claimed[0] = owner->claimed[1] = 0;
    owner->ctail = 0;
    owner->open = owner->buffer = 0;
    owner->capacity = capacity;
    owner->kind = kind;
    return capacity >= EKI_DEQUE_CAPACITY_MIN &&
           capacity <= EKI_DEQUE_CAPACITY_MAX;
}

/*
 * Whether nothing of the open publication is left to claim, or none is open.
 *
 * For the end of every task: one load and one compare, no matter the kind.
 * Attempts stand in the top bits, so that they are compared without masking;
 * exhausted_at = 0 says "none is open".  Changes nothing:
 * eki_deque_room() does the accounting.
 */
static inline bool eki_deque_exhausted(const struct eki_deque_owner *owner,
                                       const struct eki_deque_shared *shared)
{
    /* relaxed: orders no slot; the copies are waited for through done. */
    return atomic_load_explicit(&shared->word, memory_order_relaxed) >=
           owner->exhausted_at;
}

/* Account for the open publication, of which REST slots were not claimed. */
static inline void eki_deque_settle(struct eki_deque_owner *owner,
                                    uint32_t rest)
{
    owner->claimed[owner->buffer] += owner->open - rest;
    owner->open = 0;
    owner->exhausted_at = 0;
}

/* Whether no copy out of a buffer without open publication is pending. */
static inline bool eki_deque_is_free(const struct eki_deque_owner *owner,
                                     const struct eki_deque_shared *shared,
                                     uint32_t buffer)
{
    /* acquire: pairs with the release in eki_deque_finish(): the copies ended
     * before we overwrite the slots. */
    return atomic_load_explicit(&shared->done[buffer], memory_order_acquire) ==
           owner->claimed[buffer];
}

/* Locked: let ctail follow when no copy is pending. */
static inline void
eki_deque_advance_ctail(struct eki_deque_owner *owner,
                        const struct eki_deque_shared *shared)
{
    /* acquire: pairs with the release in eki_deque_finish(): the copies ended
     * before we overwrite the slots, and we see the stail of these claims.
     * Hence itail first: equal sums mean that every claim was finished. */
    uint64_t itail = atomic_load_explicit(&shared->itail, memory_order_acquire);
    /* relaxed: no older than the itail above, which is enough. */
    uint64_t stail = atomic_load_explicit(&shared->stail, memory_order_relaxed);

    if (itail == stail)
        owner->ctail = stail;
}

/* Locked: contiguous free slots of the ring from index SPLIT on. */
static inline uint32_t eki_deque_ring_room(const struct eki_deque_owner *owner,
                                           uint64_t split)
{
    uint32_t ring = 2 * owner->capacity;
    uint32_t unused = ring - (uint32_t)(split - owner->ctail);
    uint32_t to_end = ring - (uint32_t)(split % ring);
    uint32_t room = unused < to_end ? unused : to_end;

    return room < owner->capacity ? room : owner->capacity;
}

/*
 * How many slots may be published right now, and from which index on.
 *
 * 0 while something of the open publication is left to claim, and while
 * copies are pending where the slots would lie: then go on without.  Settles
 * an exhausted publication.
 */
static inline uint32_t eki_deque_room(struct eki_deque_owner *owner,
                                      const struct eki_deque_shared *shared,
                                      uint32_t *first)
{
    if (!eki_deque_exhausted(owner, shared))
        return 0;
    if (EKI_PLANTED(TWICE_EXHAUSTED))
        owner->claimed[owner->buffer] += owner->open;
    if (owner->open != 0)
        eki_deque_settle(owner, 0);

    if (owner->kind == EKI_DEQUE_LOCKED) {
        /* Nothing is open: stail, split and claimed[0] are equal. */
        eki_deque_advance_ctail(owner, shared);
        *first = (uint32_t)(owner->claimed[0] % (2 * owner->capacity));
        return eki_deque_ring_room(owner, owner->claimed[0]);
    }

    /* The last one first: its lines are likelier in our cache. */
    for (uint32_t other = 0; other < 2; other++) {
        uint32_t buffer = owner->buffer ^ other;
        if (eki_deque_is_free(owner, shared, buffer)) {
            owner->buffer = buffer;
            *first = buffer * owner->capacity;
            return owner->capacity;
        }
    }
    return 0;
}

/*
 * Let others claim the N slots that were filled from eki_deque_room()'s first.
 *
 * At least 1 and at most the room just returned.
 */
static inline void eki_deque_publish(struct eki_deque_owner *owner,
                                     struct eki_deque_shared *shared,
                                     uint32_t n)
{
    owner->open = n;
    if (owner->kind == EKI_DEQUE_LOCKED) {
        owner->exhausted_at = owner->claimed[0] + n;
        /* release: pairs with the acquire in eki_deque_claim_locked(): the
         * slots are filled.  Needs no lock: only the owner writes split. */
        atomic_store_explicit(&shared->split, owner->exhausted_at,
                              memory_order_release);
        return;
    }

    owner->exhausted_at = (uint64_t)eki_deque_blocks(n)
                          << EKI_DEQUE_ATTEMPTS_SHIFT;
    /* release: pairs with the acquire add in eki_deque_attempt(): the
     * slots are filled.  A plain store: the word is closed or exhausted, and
     * an add lost between would have got nothing. */
    atomic_store_explicit(&shared->word,
                          (uint64_t)owner->buffer << EKI_DEQUE_BUFFER_SHIFT | n,
                          memory_order_release);
}

/* Locked: end the open publication where stail is; what was left of it. */
static inline uint32_t
eki_deque_acquire_locked(const struct eki_deque_owner *owner,
                         struct eki_deque_shared *shared)
{
    eki_deque_lock(shared);
    /* relaxed: stail changes under the lock only, which we hold. */
    uint64_t stail = atomic_load_explicit(&shared->stail, memory_order_relaxed);
    /* relaxed: claims read it under the lock, which orders it; no slot becomes
     * claimable by it. */
    atomic_store_explicit(&shared->split, stail, memory_order_relaxed);
    eki_deque_unlock(shared);

    return (uint32_t)(owner->exhausted_at - stail);
}

/*
 * Take back all that is unclaimed; how many slots that is.
 *
 * Always the last ones of the publication: the owner still has the tasks and
 * only moves its index back over them.  Nothing is open afterwards; 0 if
 * nothing was.
 */
static inline uint32_t eki_deque_acquire(struct eki_deque_owner *owner,
                                         struct eki_deque_shared *shared)
{
    uint32_t rest;

    /* Never close twice: what is accounted for would be counted again. */
    if (owner->open == 0)
        return 0;

    if (owner->kind == EKI_DEQUE_LOCKED) {
        rest = eki_deque_acquire_locked(owner, shared);
    } else {
        /* relaxed: one exchange closes and fetches the final attempts, so
         * that no claim falls between; we read no slot for it. */
        uint64_t word =
            atomic_exchange_explicit(&shared->word, 0, memory_order_relaxed);
        rest = eki_deque_word_remaining(word);
    }
    eki_deque_settle(owner, rest);
    return rest;
}

/*
 * Whether a publication would be possible right after an acquire.
 *
 * For the owner who takes back only to publish anew: ask before closing
 * anything.  True for certain if the other buffer is free; if it speaks of the
 * open buffer, a claim in between can still prove it wrong.
 */
static inline bool eki_deque_other_room(struct eki_deque_owner *owner,
                                        const struct eki_deque_shared *shared)
{
    if (owner->kind == EKI_DEQUE_LOCKED) {
        eki_deque_advance_ctail(owner, shared);
        /* relaxed: only the number counts; acquire would leave split there. */
        return eki_deque_ring_room(
                   owner, atomic_load_explicit(&shared->stail,
                                               memory_order_relaxed)) != 0;
    }

    if (eki_deque_is_free(owner, shared, owner->buffer ^ 1))
        return true;

    /* acquire: pairs with the release in eki_deque_finish(): we see the
     * attempts of the claims that finished, so equal sums mean none pending. */
    uint64_t done = atomic_load_explicit(&shared->done[owner->buffer],
                                         memory_order_acquire);
    /* relaxed: no older than done above, which is enough. */
    uint64_t word = atomic_load_explicit(&shared->word, memory_order_relaxed);
    uint32_t rest =
        eki_deque_remaining(owner->open, eki_deque_word_attempts(word));

    return done == owner->claimed[owner->buffer] + owner->open - rest;
}

/* Atomic: add an attempt, after a look that showed work; what it yields. */
static inline bool eki_deque_attempt(uint32_t capacity,
                                     struct eki_deque_shared *shared,
                                     struct eki_block *block)
{
    /* acquire: pairs with the release in eki_deque_publish(): the slots are
     * filled.  All that follows comes from the word returned here, which may
     * belong to a newer publication than the one looked at. */
    uint64_t word = atomic_fetch_add_explicit(
        &shared->word, UINT64_C(1) << EKI_DEQUE_ATTEMPTS_SHIFT,
        memory_order_acquire);
    uint32_t n = eki_deque_word_count(word);
    uint32_t i = eki_deque_word_attempts(word);
    uint32_t rest = eki_deque_remaining(n, i);
    if (rest == 0)
        return false;

    block->buffer = eki_deque_word_buffer(word);
    block->first = block->buffer * capacity + n - rest;
    block->count = rest - eki_deque_remaining(n, i + 1);
    return true;
}

/* Claim the next block of an atomic deque. */
static inline bool eki_deque_claim_atomic(uint32_t capacity,
                                          struct eki_deque_shared *shared,
                                          struct eki_block *block)
{
    /* relaxed: a look only.  Without it idle thieves would slow the owner
     * down and let the attempts wrap. */
    uint64_t word = atomic_load_explicit(&shared->word, memory_order_relaxed);
    if (eki_deque_word_remaining(word) == 0)
        return false;
    return eki_deque_attempt(capacity, shared, block);
}

/* Claim half of what a locked deque shows, rounded up. */
static inline bool eki_deque_claim_locked(uint32_t capacity,
                                          struct eki_deque_shared *shared,
                                          struct eki_block *block)
{
    /* relaxed, both: a look only, so that idle thieves leave the lock alone. */
    if (atomic_load_explicit(&shared->stail, memory_order_relaxed) >=
        atomic_load_explicit(&shared->split, memory_order_relaxed))
        return false;

    eki_deque_lock(shared);
    /* relaxed: stail changes under the lock only, which we hold. */
    uint64_t stail = atomic_load_explicit(&shared->stail, memory_order_relaxed);
    /* acquire: pairs with the release in eki_deque_publish(): the slots are
     * filled. */
    uint64_t split = atomic_load_explicit(&shared->split, memory_order_acquire);
    uint32_t count = (uint32_t)((split - stail + 1) / 2);
    /* relaxed: the next claim reads it under the lock; the owner's look needs
     * no order. */
    atomic_store_explicit(&shared->stail, stail + count, memory_order_relaxed);
    eki_deque_unlock(shared);

    /* A publication does not wrap, so neither does a part of it. */
    block->buffer = 0;
    block->first = (uint32_t)(stail % (2 * capacity));
    block->count = count;
    return count != 0;
}

/*
 * Claim a block: its slots are the caller's to copy, nobody else gets them.
 *
 * At most eki_deque_block_max() slots.  False, with nothing to finish, if
 * there was no work or others took it.  Whoever gets a block must call
 * eki_deque_finish(), the owner too.
 */
static inline bool eki_deque_claim(enum eki_deque_kind kind, uint32_t capacity,
                                   struct eki_deque_shared *shared,
                                   struct eki_block *block)
{
    capacity = eki_deque_capacity(capacity);
    if (kind == EKI_DEQUE_LOCKED)
        return eki_deque_claim_locked(capacity, shared, block);
    return eki_deque_claim_atomic(capacity, shared, block);
}

/* Say that BLOCK was copied: the owner may overwrite its slots. */
static inline void eki_deque_finish(struct eki_deque_shared *shared,
                                    const struct eki_block *block)
{
    /* itail lies where done[0] does, and the buffer of a locked block is 0.
     * release: pairs with the acquire in eki_deque_is_free() and
     * eki_deque_advance_ctail(): the copy ended. */
    atomic_fetch_add_explicit(&shared->done[block->buffer], block->count,
                              memory_order_release);
}

/* How many tasks could be claimed now.  A hint: nothing is ordered by it. */
static inline uint32_t eki_deque_visible(enum eki_deque_kind kind,
                                         uint32_t capacity,
                                         const struct eki_deque_shared *shared)
{
    /* relaxed, all three: looks only. */
    if (kind == EKI_DEQUE_ATOMIC)
        return eki_deque_word_remaining(
            atomic_load_explicit(&shared->word, memory_order_relaxed));

    uint64_t stail = atomic_load_explicit(&shared->stail, memory_order_relaxed);
    uint64_t split = atomic_load_explicit(&shared->split, memory_order_relaxed);
    if (stail >= split)
        return 0;

    /* The two looks may be of different times. */
    capacity = eki_deque_capacity(capacity);
    return split - stail < capacity ? (uint32_t)(split - stail) : capacity;
}

static inline bool eki_deque_check_locked(const struct eki_deque_owner *owner,
                                          const struct eki_deque_shared *shared)
{
    /* acquire: pairs with the release in eki_deque_finish(): stail, read
     * next, is no older than itail. */
    uint64_t itail = atomic_load_explicit(&shared->itail, memory_order_acquire);
    /* relaxed, both: stail only grows, split is the owner's own. */
    uint64_t stail = atomic_load_explicit(&shared->stail, memory_order_relaxed);
    uint64_t split = atomic_load_explicit(&shared->split, memory_order_relaxed);
    uint64_t end = owner->claimed[0] + owner->open;

    return owner->buffer == 0 && owner->claimed[1] == 0 && split == end &&
           owner->exhausted_at == (owner->open != 0 ? end : 0) &&
           owner->ctail <= itail && itail <= stail &&
           owner->claimed[0] <= stail && stail <= split &&
           split - owner->ctail <= 2 * (uint64_t)owner->capacity;
}

static inline bool eki_deque_check_atomic(const struct eki_deque_owner *owner,
                                          const struct eki_deque_shared *shared)
{
    uint64_t done[2];

    /* acquire: pairs with the release in eki_deque_finish(): the word, read
     * next, is no older than done. */
    for (uint32_t b = 0; b < 2; b++)
        done[b] = atomic_load_explicit(&shared->done[b], memory_order_acquire);
    /* relaxed: see above. */
    uint64_t word = atomic_load_explicit(&shared->word, memory_order_relaxed);
    uint32_t rest = eki_deque_word_remaining(word);

    if (owner->buffer > 1 ||
        done[owner->buffer ^ 1] > owner->claimed[owner->buffer ^ 1])
        return false;
    if (owner->open == 0)
        return owner->exhausted_at == 0 && rest == 0 &&
               done[owner->buffer] <= owner->claimed[owner->buffer];
    return eki_deque_word_count(word) == owner->open &&
           eki_deque_word_buffer(word) == owner->buffer &&
           owner->exhausted_at == (uint64_t)eki_deque_blocks(owner->open)
                                      << EKI_DEQUE_ATTEMPTS_SHIFT &&
           done[owner->buffer] <=
               owner->claimed[owner->buffer] + owner->open - rest;
}

/* Whether the invariants hold.  For the owner; thieves may run meanwhile. */
static inline bool eki_deque_check(const struct eki_deque_owner *owner,
                                   const struct eki_deque_shared *shared)
{
    if (owner->capacity < EKI_DEQUE_CAPACITY_MIN ||
        owner->capacity > EKI_DEQUE_CAPACITY_MAX ||
        owner->open > owner->capacity)
        return false;
    return owner->kind == EKI_DEQUE_LOCKED
               ? eki_deque_check_locked(owner, shared)
               : eki_deque_check_atomic(owner, shared);
}

#endif /* EKI_DEQUE_H */
