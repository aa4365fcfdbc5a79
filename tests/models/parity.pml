/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parity: words indexed by [phase & 1], and what ranks return.
 *
 * Models store_error(), eki_node_error() and eki_set_stop() of error.c,
 * eki_engine_enter() of phase.c, eki_engine_leave() and phase_error() of
 * leave.c, first_pass() of end.c, eki_signature_of() of offers.h.  No tasks: a
 * phase ends when all are in it and idle, or when a later one is seen.  `mail`
 * is such a word as `stop`.  With SIGNATURES those of two ranks may differ.
 *
 * A rank that is still in phase p may look after another has entered p + 1;
 * nobody enters p + 2 before.  After entering and before it is idle a rank may
 * make the phase an error.
 *
 * Checked: all ranks return the same for a phase; a signature that is looked at
 * is that of the phase; nobody is two phases ahead; all phases end.
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef PHASES
#define PHASES 3
#endif

#ifdef ONE_WORD
#define parity(p) 0
#else
#define parity(p) ((p) & 1)
#endif
#ifdef ONE_SIGNATURE
#define signature(w, p) sign[2 * (w)]
#else
#define signature(w, p) sign[2 * (w) + ((p) & 1)]
#endif

byte phase[RANKS], idle[RANKS];
byte sign[2 * RANKS];          /* here twice the phase, or one more */
byte error[2], stop[2];        /* of the node: phase */
byte mismatch[2];
byte failed[2 * RANKS];        /* of a rank: phase ... */
byte record[2 * RANKS];        /* ... and what all report: its phase, too */

bool bad[PHASES + 1]; /* somebody has made the phase an error */
byte odd[PHASES + 1]; /* ranks with the other signature */
byte ended;

ltl ends { <> (ended == RANKS) }

inline fail()
{
    bad[p] = true;
    if
    :: failed[2 * me + parity(p)] != p ->
        record[2 * me + parity(p)] = p;
        failed[2 * me + parity(p)] = p;
        error[parity(p)] = p;
        stop[parity(p)] = p
    :: else
    fi
}

/* phase_error() and eki_node_error() */
inline report()
{
    status = false;
    if
    :: error[parity(p)] == p ->
        at = 0;
        do
        :: at < RANKS ->
            if
            :: failed[2 * at + parity(p)] == p ->
                assert(record[2 * at + parity(p)] == p);
                status = true
            :: else
            fi;
            at++
        :: else -> break
        od;
        at = 0
    :: else
    fi;
    assert(status == bad[p]);
    assert((stop[parity(p)] == p) == bad[p]);
    assert((mismatch[parity(p)] == p) == (odd[p] > 0 && odd[p] < RANKS))
}

proctype rank(byte me)
{
    byte p, at, seen, agreed;
    bool over, status;

    do
    :: p < PHASES ->
        p++;
        agreed = 2 * p;
#ifdef SIGNATURES
        if
        :: atomic {
               me == 0 ->
               agreed++;
               odd[p]++
           }
        :: true
        fi;
#endif
#ifdef SIGNED_LATE
        phase[me] = p;
        signature(me, p) = agreed;
#else
        signature(me, p) = agreed;
        phase[me] = p;
#endif
        atomic {
            at = 0;
            do
            :: at < RANKS ->
                assert(phase[at] + 1 >= p);
                at++
            :: else -> break
            od;
            at = 0
        }
        if
        :: fail()
        :: true
        fi;
        idle[me] = p;
        do
        :: over -> break
        :: !over ->
            seen = phase[at];
            if
            :: seen > p -> over = true
#ifdef NOT_ALL
            :: seen < p -> at++
#else
            :: seen < p -> at = 0
#endif
            :: else ->
                seen = signature(at, p);
                assert(seen / 2 == p);
                if
                :: seen != agreed -> mismatch[parity(p)] = p
                :: else
                fi;
                if
#ifdef ANY_IDLE
                :: true -> at++
#else
                :: idle[at] == p -> at++
                :: else -> at = 0
#endif
                fi
            fi;
            atomic {
                seen = 0;
                over = over || at == RANKS
            }
        od;
        atomic {
            over = false;
            at = 0
        }
        report();
        status = false
    :: else -> break
    od;
    ended++
}

init {
    byte i;
    atomic {
        do
        :: i < RANKS ->
            run rank(i);
            i++
        :: else -> break
        od
    }
}
