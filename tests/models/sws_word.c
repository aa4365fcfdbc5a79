/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sws_word: an owner that shows tasks, locks its word, shows the rest in the
 * other epoch or the same, and THIEVES.  C11 atomics stand for the operations
 * of a network; the word's functions are those of the library.
 *
 * Slots, and what a task writes, are plain memory: a get that is not ordered,
 * or a task that runs twice, is a race.
 *
 * A checker sees no mixed sizes, and a word comes in four parts at once:
 *
 * genmc: -O1
 *
 * Mutants: CLOSE_BY_STORE locks by a load and a store; NO_COPIED_CHECK shows in
 * an epoch without eki_sws_is_copied(); COPIED_FIRST says so before the get;
 * WEAK_SHOW, WEAK_CLAIM, WEAK_COPIED and WEAK_LOOK: without their orders.
 */
#include "weak.h"

/* So that the parts stay apart. */
#define inline inline __attribute__((always_inline))
#include "protocol/sws_word.h"

#include <assert.h>
#include <pthread.h>

#ifndef REPEAT
#define REPEAT 1
#endif
#ifndef THIEVES
#define THIEVES 2
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif
#define ORDER(mutant, order) (mutant ? memory_order_relaxed : (order))
#ifndef WEAK_SHOW
#define WEAK_SHOW 0
#endif
#ifndef WEAK_CLAIM
#define WEAK_CLAIM 0
#endif
#ifndef WEAK_COPIED
#define WEAK_COPIED 0
#endif
#ifndef WEAK_LOOK
#define WEAK_LOOK 0
#endif

enum {
    TASKS = 4,
    SLOTS = 2,
    BLOCKS = 2 /* in which so many are claimed */
};

static _Atomic uint64_t word;
static _Atomic uint64_t copied[EKI_SWS_EPOCHS_MAX][BLOCKS];
static int slots[SLOTS];
static int runs[TASKS]; /* of each task; one thread writes it */

/* The owner's: tasks base .. top - 1, the ring from the first slot on. */
static int base, top;
static uint32_t tail, shown;
static uint32_t epoch;
static uint64_t claimed[EKI_SWS_EPOCHS_MAX];

static void add_copied(const struct eki_sws_block *block)
{
    /* release: pairs with the acquire in look(): the get is done. */
    atomic_fetch_add_explicit(&copied[block->epoch][block->number],
                              block->count,
                              ORDER(WEAK_COPIED, memory_order_release));
}

static void *steal(void *unused)
{
    struct eki_sws_block block;
    int got[SLOTS];
    (void)unused;
    /* acquire: pairs with the release in show(): the slots are filled. */
    uint64_t before = atomic_fetch_add_explicit(
        &word, EKI_SWS_ATTEMPT, ORDER(WEAK_CLAIM, memory_order_acquire));
    if (!eki_sws_claim(EPOCHS, before, &block))
        return NULL;
#ifdef COPIED_FIRST
    add_copied(&block);
#endif
    for (uint32_t i = 0; i < block.count; i++)
        got[i] = slots[(block.first + i) % SLOTS];
#ifndef COPIED_FIRST
    add_copied(&block);
#endif
    for (uint32_t i = 0; i < block.count; i++)
        runs[got[i]]++;
    return NULL;
}

/* Whether all that was claimed in an epoch is copied. */
static bool look(uint32_t of)
{
    uint64_t done[EKI_SWS_BLOCKS_MAX] = {0};
    for (int i = 0; i < BLOCKS; i++) {
        /* acquire: pairs with the release in add_copied(). */
        done[i] = atomic_load_explicit(&copied[of][i],
                                       ORDER(WEAK_LOOK, memory_order_acquire));
    }
    return eki_sws_is_copied(done, claimed[of]);
}

/* Lock the word; REST of what was shown are the owner's again. */
static void hide(void)
{
#ifdef CLOSE_BY_STORE
    uint64_t before = atomic_load_explicit(&word, memory_order_relaxed);
    atomic_store_explicit(&word, eki_sws_locked(EPOCHS), memory_order_relaxed);
#else
    /* relaxed: what is copied the owner learns from the completions. */
    uint64_t before = atomic_exchange_explicit(&word, eki_sws_locked(EPOCHS),
                                               memory_order_relaxed);
#endif
    uint32_t rest = eki_sws_remaining(EPOCHS, before);
    claimed[epoch] += shown - rest;
    tail += shown - rest;
    base -= (int)rest;
    shown = 0;
}

/* Show two of the oldest tasks, if both epochs are copied: all slots are free;
 * nobody waits. */
static void show(void)
{
#ifndef NO_COPIED_CHECK
    for (uint32_t e = 0; e < EPOCHS; e++)
        if (!look(e))
            return;
#endif
    epoch = (epoch + 1) % EPOCHS;
    while (shown < SLOTS && base < top)
        slots[(tail + shown++) % SLOTS] = base++;
    const struct eki_sws_word opened = {
        .epoch = epoch, .initial = shown, .tail = tail % SLOTS};
    /* release: pairs with the acquire in steal(): the slots are filled. */
    atomic_exchange_explicit(&word, eki_sws_pack(EPOCHS, &opened),
                             ORDER(WEAK_SHOW, memory_order_release));
}

static void *own(void *unused)
{
    (void)unused;
    show();
    runs[--top]++;
    hide();
    show();
    hide();
    while (top > base)
        runs[--top]++;
    return NULL;
}

static void reset(void)
{
    /* relaxed, all: nobody else is about. */
    atomic_store_explicit(&word, eki_sws_locked(EPOCHS), memory_order_relaxed);
    for (int e = 0; e < EPOCHS; e++) {
        claimed[e] = 0;
        for (int i = 0; i < BLOCKS; i++)
            atomic_store_explicit(&copied[e][i], 0, memory_order_relaxed);
    }
    for (int i = 0; i < TASKS; i++)
        runs[i] = 0;
    base = 0;
    top = TASKS;
    tail = shown = epoch = 0;
}

int main(void)
{
    for (int r = 0; r < REPEAT; r++) {
        pthread_t owner, thieves[THIEVES];
        reset();
        int failed = pthread_create(&owner, NULL, own, NULL);
        for (int i = 0; i < THIEVES; i++)
            failed |= pthread_create(&thieves[i], NULL, steal, NULL);
        assert(!failed);
        pthread_join(owner, NULL);
        for (int i = 0; i < THIEVES; i++)
            pthread_join(thieves[i], NULL);
        for (int i = 0; i < TASKS; i++)
            assert(runs[i] == 1);
        for (uint32_t e = 0; e < EPOCHS; e++)
            assert(look(e));
    }
    return 0;
}
