/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter: one word of a node hands out numbers, phase after phase.
 *
 * Models open_counter(), set_void(), tell_table() and tell_seeds() of
 * protocol/table.c, and the draw in eki_drawer_seek(), with
 * eki_node_all_left() of segment.c, for ranks of the node of rank 0, which draw
 * from the word itself.  Rank 0 puts it back once all have told their seeds and
 * have left the phase before (the first implies the second); others draw when
 * they have been told.
 * With STOPPABLE the phase may be stopped before: then nobody draws, and each
 * cancels what it holds.
 *
 * Checked: a number is drawn once in its phase, and none is left; void is void
 * for all; all phases end.
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef PHASES
#define PHASES 2
#endif
#define NUMBERS 2 /* of the phase; each of the first two ranks holds one */

byte draw;          /* the word */
byte gone[RANKS];   /* `left` */
byte stop;          /* phase */
byte heard[RANKS];   /* rank 0: phase of the last SEEDS */
byte ready[RANKS];   /* phase for which TABLE has come ... */
byte void_of[RANKS]; /* ... and says that it is void */

byte drawn[PHASES + 1], executed[PHASES + 1], ended;
bool taken[(PHASES + 1) * NUMBERS];

ltl ends { <> (ended == RANKS) }

/* Rank 0 is the server of all: open_counter(), tell_table() */
inline serve()
{
    if
    :: ready[0] < p && void_of[0] < p ->
        if
        :: stop == p -> /* set_void() */
            void_of[0] = p;
            told = 1
        :: else ->
            at = 0;
            do
            :: at == RANKS ->
                draw = 0;
                ready[0] = p;
                told = 1;
                break
#ifndef RESET_EARLY
            :: at < RANKS && at > 0 && heard[at] < p -> break
            :: at < RANKS && gone[at] + 1 < p -> break
#endif
            :: else -> at++
            od;
            at = 0
        fi
    :: else ->
        if
        :: told < RANKS && void_of[0] == p ->
            void_of[told] = p;
            told++
        :: told < RANKS && ready[0] == p ->
            ready[told] = p;
            told++
        :: else
        fi
    fi
}

proctype rank(byte me)
{
    byte p, at, told, number;
    bool over;

    do
    :: p < PHASES ->
        p++;
        told = RANKS;
        over = false;
        heard[me] = p; /* tell_seeds() */
        do
        :: executed[p] == NUMBERS -> break /* the check for the end */
        :: executed[p] < NUMBERS ->
            if
            :: me == 0 -> serve()
            :: else
            fi;
            if
            :: void_of[me] == p && !over -> /* cancel(): all that it holds */
                atomic {
                    assert(drawn[p] == 0);
                    over = true;
                    executed[p] = executed[p] + (me < NUMBERS -> 1 : 0)
                }
            :: ready[me] == p && !over -> /* eki_drawer_seek() */
                atomic {
                    number = draw;
                    draw++
                }
                if
                :: number < NUMBERS ->
                    atomic {
                        assert(p == PHASES || drawn[p + 1] == 0);
                        assert(!taken[p * NUMBERS + number]);
                        taken[p * NUMBERS + number] = true;
                        drawn[p]++;
                        executed[p]++
                    }
                :: else -> over = true
                fi;
                number = 0
            :: else
            fi
        od;
        gone[me] = p
    :: else -> break
    od;
    ended++
}

#ifdef STOPPABLE
proctype stopper()
{
    if
    :: stop = 1
    :: true
    fi
}
#endif

init {
    byte i;
    atomic {
        do
        :: i < RANKS ->
            run rank(i);
            i++
        :: else -> break
        od;
#ifdef STOPPABLE
        run stopper()
#endif
    }
}
