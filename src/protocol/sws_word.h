/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sws_word: the word by which ranks of other nodes claim tasks of a queue.
 *
 * One word tells a thief all: whether it may claim, how many tasks there were,
 * where they lie in the ring, and, by how many attempts were made before, which
 * block of them is its own.  So one addition finds tasks and claims them.  Both
 * layouts of the paper, highest bits first:
 *
 *     one epoch   attempts 24 | valid 1 | initial tasks 19 | tail 20
 *     two epochs  attempts 24 | epoch 2 | initial tasks 19 | tail 19
 *
 * An epoch that is not below their number (not valid) means *locked*: nobody
 * claims, and no field but the attempts says anything.  A word of 0 offers
 * nothing in both layouts.
 *
 * - Attempts are the highest bits: those too many are carried out of the word,
 *   and no other field changes.  After 2^24 of them blocks would be claimed
 *   twice.  So who has seen a victim empty looks before it adds.
 * - Who has claimed a block and has got its tasks adds their number to the
 *   completion of its epoch and block.  Completions are never reset.
 *
 * Pure functions: words come from operations of the fabric (fabric/rma.h).
 * Paper: Cartier, Dinan, Larkins, ICPP 2021, section 4; in its first layout no
 * more than 2^19 - 1 tasks have room, either.
 */
#ifndef EKI_PROTOCOL_SWS_WORD_H
#define EKI_PROTOCOL_SWS_WORD_H

#include "base/base.h"
#include "deque/deque.h"

#define EKI_SWS_ATTEMPTS_SHIFT 40
#define EKI_SWS_ATTEMPTS_MAX ((UINT32_C(1) << 24) - 1)
/* What a thief adds. */
#define EKI_SWS_ATTEMPT (UINT64_C(1) << EKI_SWS_ATTEMPTS_SHIFT)

/* Tasks that a word can offer, and slots of a ring, in both layouts. */
#define EKI_SWS_TASKS_MAX ((UINT32_C(1) << 19) - 1)
/* Blocks in which so many are claimed: completions of an epoch. */
#define EKI_SWS_BLOCKS_MAX 20
#define EKI_SWS_EPOCHS_MAX 2

struct eki_sws_word {
    uint32_t attempts; /* so many claimed, or came too late */
    uint32_t epoch;    /* as many as there are, or more: locked */
    uint32_t initial;  /* tasks that were offered */
    uint32_t tail;     /* the slot of the first of them */
};

/* What a thief has claimed. */
struct eki_sws_block {
    uint32_t first; /* slot, not reduced by the slots of the ring */
    uint32_t count;
    uint32_t epoch; /* which completion counts it: that of ... */
    uint32_t number;
};

static inline uint32_t eki_sws_tail_bits(uint32_t epochs)
{
    return epochs == 1 ? 20 : 19;
}

static inline struct eki_sws_word eki_sws_unpack(uint32_t epochs, uint64_t bits)
{
    uint32_t tail_bits = eki_sws_tail_bits(epochs);
    uint32_t epoch =
        (uint32_t)(bits >> (tail_bits + 19)) & (epochs == 1 ? 1 : 3);

    return (struct eki_sws_word){
        .attempts = (uint32_t)(bits >> EKI_SWS_ATTEMPTS_SHIFT),
        /* One epoch: the bit says valid, which is epoch 0. */
        .epoch = epochs == 1 ? !epoch : epoch,
        .initial = (uint32_t)(bits >> tail_bits) & EKI_SWS_TASKS_MAX,
        .tail = (uint32_t)bits & ((UINT32_C(1) << tail_bits) - 1)};
}

/* The bits of WORD, whose fields have room. */
static inline uint64_t eki_sws_pack(uint32_t epochs,
                                    const struct eki_sws_word *word)
{
    uint32_t tail_bits = eki_sws_tail_bits(epochs);
    uint64_t epoch = epochs == 1 ? word->epoch == 0 : word->epoch;

    return (uint64_t)word->attempts << EKI_SWS_ATTEMPTS_SHIFT |
           epoch << (tail_bits + 19) | (uint64_t)word->initial << tail_bits |
           word->tail;
}

/* What the owner replaces its word by before it takes tasks back: the word it
 * gets for it has the last claim that counts. */
static inline uint64_t eki_sws_locked(uint32_t epochs)
{
    const struct eki_sws_word word = {.epoch = epochs};
    return eki_sws_pack(epochs, &word);
}

/* How many tasks can still be claimed; 0 when locked. */
static inline uint32_t eki_sws_remaining(uint32_t epochs, uint64_t bits)
{
    struct eki_sws_word word = eki_sws_unpack(epochs, bits);
    return word.epoch >= epochs
               ? 0
               : eki_deque_remaining(word.initial, word.attempts);
}

/* The block of who has added an attempt, from the bits BEFORE; false: none. */
static inline bool eki_sws_claim(uint32_t epochs, uint64_t before,
                                 struct eki_sws_block *block)
{
    struct eki_sws_word word = eki_sws_unpack(epochs, before);
    uint32_t rest = eki_sws_remaining(epochs, before);
    if (rest == 0)
        return false;

    block->first = word.tail + word.initial - rest;
    block->count = rest - eki_deque_remaining(word.initial, word.attempts + 1);
    block->epoch = word.epoch;
    block->number = word.attempts;
    return true;
}

/* Whether thieves have got all of so many tasks, CLAIMED ever in an epoch:
 * DONE are its completions. */
static inline bool eki_sws_is_copied(const uint64_t done[EKI_SWS_BLOCKS_MAX],
                                     uint64_t claimed)
{
    for (int i = 0; i < EKI_SWS_BLOCKS_MAX; i++)
        claimed -= done[i];
    return claimed == 0;
}

#endif
