/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sws: a queue that others claim from by one addition to its word, with epochs
 * of completions that are under way; one operation at a time.
 *
 * Models the word of sws_word.h, and what thieves and the owner of a queue do
 * with it.  Operations on words are one step each, a get reads a slot a step, and
 * a thief goes on while its completion is on its way.  The owner reads the
 * completions of an epoch in one step: as they only grow, it comes to the same.
 *
 * The owner has tasks 0 .. TASKS - 1, runs the newest and shows the oldest, in
 * a ring of SLOTS.  Before it changes what it shows it locks the word.  What
 * nobody claimed it shows again or takes back, at once; it never waits.
 *
 * Checked: every task runs once, and has run when all completions are in.  The
 * attempts do not overflow, as who has found nothing looks before it adds.
 */
#ifndef TASKS
#define TASKS 4 /* blocks() */
#endif
#ifndef SLOTS
#define SLOTS 3
#endif
#ifndef THIEVES
#define THIEVES 2
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif
/* A field of so many attempts: more than blocks, and one of each thief. */
#define ATTEMPTS 8

#define BLOCKS 3
#define LOCKED EPOCHS

#define COMPLETIONS (EPOCHS * BLOCKS)
#define RING SLOTS
#define ALL TASKS
#define slot_at(position) slot[(position) % SLOTS]
#include "ring.pml"

/* The word, of which an atomic step reads or writes all. */
byte attempts, epoch = LOCKED, n, tail;

/* eki_sws_remaining() */
#define shown (epoch == LOCKED -> 0 : remaining(n, attempts))

/* eki_sws_claim(), the get, the completion and the tasks */
inline claim_and_run()
{
    atomic { /* the addition */
        count = 0;
        if
        :: shown > 0 ->
            first = tail + n - shown;
            count = shown - remaining(n, attempts + 1);
            at = epoch * BLOCKS + attempts
        :: else
        fi;
        attempts = (attempts + 1) % ATTEMPTS;
        saw_empty = (count == 0)
    }
    if
    :: count == 0
    :: else ->
        get_and_run(at);
        at = 0
    fi
}

proctype thief()
{
    byte i, first, count, at, copy[2];
    bool saw_empty;
    do
    :: over -> break
#ifdef NO_LOOK
    :: !over -> claim_and_run()
#else
    :: !over && !saw_empty -> claim_and_run()
    :: !over && saw_empty && shown > 0 -> claim_and_run()
#endif
    od
}

/* Whether thieves have got all that was claimed in an epoch: as the owner reads
 * its completions, eki_sws_is_copied(). */
#define are_copied(e) \
    (claimed[e] == done[(e) * BLOCKS] + done[(e) * BLOCKS + 1] + \
                       done[(e) * BLOCKS + 2])
#if EPOCHS > 1
#define all_are_copied (are_copied(0) && are_copied(1))
#else
#define all_are_copied are_copied(0)
#endif

inline look()
{
    copied[0] = are_copied(0);
#if EPOCHS > 1
    copied[1] = are_copied(1)
#endif
}

/* How many slots from the first shown one on are free. */
inline count_room()
{
    d_step {
        room = SLOTS;
        i = 0;
        do
        :: i < EPOCHS ->
            if
            :: !copied[i] && SLOTS - (at - start[i]) < room ->
                room = SLOTS - (at - start[i])
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0
    }
}

/* Lock the word; what nobody has claimed is the owner's again. */
inline close()
{
#ifdef CLOSE_BY_STORE
    k = shown;
    epoch = LOCKED;
#else
    atomic {
        k = shown;
        attempts = 0;
        epoch = LOCKED;
        n = 0;
        tail = 0
    }
#endif
    d_step {
        claimed[mine] = claimed[mine] + open - k;
        at = at + open - k;
        base = base - k;
        rest = k;
        open = 0;
        k = 0
    }
}

/* Show some of the oldest tasks under an epoch whose completions are in. */
inline show_some()
{
    look();
    count_room();
    if
#ifdef NO_EPOCH_CHECK
    :: mine = (mine + 1) % EPOCHS; k = 1
#else
    :: copied[mine] -> k = 1
#if EPOCHS > 1
    :: copied[1 - mine] -> mine = 1 - mine; k = 1
#endif
    :: else
#endif
    fi;
    if
    :: k == 1 && top > base && room > 0 ->
        do
        :: k < room && base + k < top -> k++
        :: true -> break
        od;
#ifdef SHOW_FIRST
        atomic {
            attempts = 0;
            epoch = mine;
            n = k;
            tail = at
        }
#endif
        do
        :: open < k ->
            if
            :: open >= rest -> slot_at(at + open) = base
            :: else /* it still lies there */
            fi;
            base++;
            open++
        :: else -> break
        od;
        start[mine] = at;
        copied[mine] = false;
#ifndef SHOW_FIRST
        atomic {
            attempts = 0;
            epoch = mine;
            n = open;
            tail = at
        }
#endif
    :: else
    fi;
    rest = 0;
    room = 0;
    k = 0
}

proctype owner()
{
    byte base, top = TASKS, open, mine, at, rest, room, k, i;
    byte claimed[EPOCHS], start[EPOCHS];
    bool copied[EPOCHS];

    do
    :: top > base -> /* a task runs */
        atomic {
            top--;
            run_task(top)
        }
    :: top > base ->
        close();
        show_some()
    :: top == base && open > 0 -> /* it wants all back */
        close();
        rest = 0
    :: top == base && open == 0 -> break
    od;
    all_are_copied;
    assert(runs == TASKS);
    over = true
}
