/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sdc: a queue that others claim from under a lock of its words, with copies that
 * are under way when the lock is free again; one operation at a time.
 *
 * Models sdc.c, and what it needs of ring.c.  Operations on words are one step
 * each; a thief reads two words in any order, gets a slot a step, and goes on
 * while its completion is on its way.  Thieves look at no stamp first, and any
 * steal may last until the next phase.
 *
 * In each phase the owner has tasks 0 .. TASKS - 1, runs the newest and shows the
 * oldest, without the lock, in the phase's half of the ring.  Without tasks it
 * takes some back, with the lock; if that is held it goes on, and tries again.
 * The position of a task is its number.
 *
 * Checked: every task runs once, and has run when all completions are in.
 */
#ifndef TASKS
#define TASKS 3 /* at most 4: blocks() */
#endif
#ifndef SLOTS
#define SLOTS 2 /* of half of the ring */
#endif
#ifndef THIEVES
#define THIEVES 2
#endif
#ifndef PHASES
#define PHASES 2
#endif

/* A word: phase and position. */
#define word_of(phase, position) ((phase) << 4 | (position))
#define phase_of(word) ((word) >> 4)
#define position_of(word) ((word) & 15)
#define slot_at(word) \
    slot[(phase_of(word) & 1) * SLOTS + position_of(word) % SLOTS]

#define RING (2 * SLOTS)
#define ALL (PHASES * TASKS)
#define COMPLETIONS 1
#include "ring.pml"

bool lock;
byte tail, split;

inline read_words()
{
    if
    :: old_tail = tail; old_split = split
    :: old_split = split; old_tail = tail
    fi
}

#ifdef NO_PHASE
#define is_shown (position_of(old_tail) < position_of(old_split))
#else
#define is_shown \
    (phase_of(old_tail) == phase_of(old_split) && old_tail < old_split)
#endif

inline swap_lock()
{
    atomic {
        is_held = lock;
        lock = true
    }
}

inline put_tail()
{
    if
    :: count > 0 -> tail = first + count
    :: else
    fi
}

proctype thief()
{
    byte i, first, count, old_tail, old_split, copy[2];
    bool is_held;
    do
    :: over -> break
    :: !over ->
        swap_lock();
        if
        :: is_held -> /* it looks; whatever it sees, it may try again */
            is_held = false;
#ifdef UNLOCK_HELD
            lock = false
#endif
        :: else ->
            read_words();
            d_step {
                if
                :: is_shown ->
                    first = old_tail;
                    count = position_of(old_split) - position_of(old_tail);
                    count = count - remaining(count, 1)
                :: else
                fi;
                old_tail = 0;
                old_split = 0
            }
#ifdef UNLOCK_FIRST
            lock = false;
            put_tail();
#else
            put_tail();
            lock = false;
#endif
            if
            :: count > 0 -> get_and_run(0)
            :: else
            fi
        fi
    od
}

#define NONE 15

/* The tail is known: eki_ring_learn() */
inline learn(position)
{
    d_step {
        if
        :: position > at ->
            if
            :: copied || begin == NONE -> begin = at
            :: else
            fi;
            copied = false;
            claimed = claimed + position - at;
            at = position
        :: else
        fi
    }
}

/* The first position whose slot may be being copied, or is not claimed. */
#ifdef REUSE_CLAIMED
#define oldest at
#else
#define oldest (copied || begin == NONE -> at : begin)
#endif

/* Lower the split, if the lock is free. */
inline hide()
{
#ifndef HIDE_UNLOCKED
    swap_lock();
#endif
    if
    :: is_held -> is_held = false
    :: else ->
        old_tail = tail;
        learn(position_of(old_tail));
        old_tail = 0;
        bound = bound - (bound - at + 1) / 2;
        split = word_of(phase, bound);
#ifndef HIDE_UNLOCKED
        lock = false
#endif
    fi
}

proctype owner()
{
    byte phase, top = TASKS, base, bound, at, claimed, begin = NONE, old_tail;
    bool copied = true, is_held;

    do
    :: top > base -> /* a task runs */
        atomic {
            top--;
            run_task(phase * TASKS + top)
        }
    :: top > base && base - oldest < SLOTS -> /* fill */
#ifdef SHOW_FIRST
        bound = base + 1;
        split = word_of(phase, bound);
#endif
        slot_at(word_of(phase, base)) = phase * TASKS + base;
        base++
    :: bound < base -> /* show */
        bound = base;
        split = word_of(phase, bound)
    :: top == base && bound < base -> /* take back what is hidden */
        base--
    :: top == base && bound == base && at < base ->
        hide()
    :: at < bound -> /* look */
        learn(position_of(tail))
#ifdef LOOK_EARLY
    :: !copied ->
#else
    :: !copied && at == base ->
#endif
        copied = (claimed == done[0])
    :: top == base && bound == base && runs == (phase + 1) * TASKS ->
        if
        :: phase + 1 == PHASES -> break
        :: else
        fi;
        learn(base);
        d_step {
            phase++;
            top = TASKS;
            base = 0;
            bound = 0;
            at = 0;
            begin = NONE
        }
        tail = word_of(phase, 0);
        split = word_of(phase, 0)
    od;
    learn(base);
    claimed == done[0];
    assert(runs == ALL);
    over = true
}
