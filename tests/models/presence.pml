/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence: workers whose thread comes late, or never.
 *
 * Models take_absent(), stand_in() and take_half() of idle.c,
 * eki_worker_note_idle() of end.c, eki_worker_arrive() of phase.c,
 * eki_worker_cancel() of worker.c.  Workers 0 .. HELPERS - 1 have a thread; the
 * last one's thread may come at any time.  It has seeds, and a chunk in its
 * inbox that a server brought.  With STOPPABLE the phase may be stopped.
 *
 * Checked: one at a time touches the absent worker; nobody ends before all
 * tasks are executed; whoever has a thread ends.
 */
#ifndef HELPERS
#define HELPERS 1
#endif
#ifndef SEEDS
#define SEEDS 3
#endif
#define WORKERS (HELPERS + 1)
#define LATE HELPERS

mtype = { ABSENT, BUSY, PRESENT };
mtype presence = ABSENT;

byte created[WORKERS], executed[WORKERS];
bool idle[WORKERS], stop;

/* The absent worker's own: no word of it is atomic. */
byte seeds = SEEDS, done_late;
byte inbox = 1;

byte live = SEEDS + 1, inside, came, ended;

ltl ends { <> [] (ended == HELPERS + came) }

/* The local part of the absent worker is touched. */
inline touch()
{
    atomic {
        assert(inside == 0);
        inside++
    }
}

inline let_go()
{
    inside--
}

inline restart()
{
    at = 0;
    pass = 0;
    sum_e = 0;
    sum_c = 0
}

/* first_pass() and check_next() */
inline check()
{
    if
    :: pass == 0 ->
        if
        :: idle[at] ->
            atomic {
                sum_e = sum_e + executed[at];
                at++
            }
        :: else -> restart()
        fi
    :: else ->
        atomic {
            sum_c = sum_c + created[at];
            at++
        }
    fi;
    atomic {
        if
        :: at == WORKERS && pass == 0 ->
            at = 0;
            pass = 1
        :: at == WORKERS && pass == 1 ->
            over = sum_c == sum_e;
            restart()
        :: else
        fi
    }
}

/* take_inbox(); then cancel, or take_half(); then eki_worker_note_idle() */
inline stand_in()
{
    touch();
#ifndef INBOX_LEFT
    atomic {
        have = inbox;
        inbox = 0
    }
#endif
    if
    :: have > 0
    :: else ->
        if
        :: stop ->
#ifndef CANCEL_OWN
            if
            :: seeds > 0 ->
                atomic {
                    live = live - seeds;
                    done_late = done_late + seeds;
                    seeds = 0
                }
                executed[LATE] = done_late
            :: else
            fi
#endif
        :: else ->
            have = (seeds + 1) / 2;
            seeds = seeds - have
        fi;
        if
#ifndef IDLE_FORGOTTEN
        :: have == 0 && !idle[LATE] -> idle[LATE] = true
#endif
        :: else
        fi
    fi;
    let_go()
}

proctype helper(byte me)
{
    byte have, done, at, pass, sum_e, sum_c;
    bool is_idle, over, is_held;

    do
    :: over -> break
    :: !over && have > 0 -> /* run, or cancel */
        is_idle = false;
        idle[me] = false;
        atomic {
            live = live - have;
            done = done + have;
            have = 0
        }
    :: !over && have == 0 ->
        if
        :: !is_idle ->
            is_idle = true;
            executed[me] = done;
            restart()
        :: else
        fi;
        atomic { /* the compare-exchange of take_absent() */
            if
            :: presence == ABSENT ->
                presence = BUSY;
                is_held = true
            :: else
            fi
        }
        if
        :: is_held ->
            stand_in();
            is_held = false;
#ifdef RELEASE_BLIND
            presence = ABSENT
#else
            atomic {
                assert(presence == BUSY);
                presence = ABSENT
            }
#endif
        :: else
        fi;
        if
        :: have == 0 ->
            if
            :: !idle[me] -> idle[me] = true
            :: else
            fi;
            check()
        :: else
        fi
    od;
    assert(live == 0);
    ended++
}

proctype late(byte me)
{
    byte have, at, pass, sum_e, sum_c;
    bool is_idle, over;

end_never:
    if
    :: true -> came = 1
    :: true -> goto stays_away
    fi;
    /* eki_worker_arrive() */
#ifdef ARRIVE_BLIND
    presence = PRESENT;
#else
    atomic {
        presence == ABSENT ->
        presence = PRESENT
    }
#endif
    do
    :: over -> break
    :: else ->
        touch();
        have = seeds + inbox;
        let_go();
        if
        :: have > 0 ->
            is_idle = false;
            idle[me] = false;
            touch();
            if
            :: seeds > 0 -> seeds--
            :: else -> inbox--
            fi;
            let_go();
            atomic {
                live--;
                done_late++
            }
        :: else ->
            if
            :: !is_idle ->
                is_idle = true;
                executed[me] = done_late;
                restart()
            :: else
            fi;
            if
            :: !idle[me] -> idle[me] = true
            :: else
            fi;
            check()
        fi
    od;
    assert(live == 0);
    ended++;
stays_away:
    skip
}

#ifdef STOPPABLE
proctype stopper()
{
    if
    :: stop = true
    :: true
    fi
}
#endif

init {
    byte i;
    atomic {
        created[LATE] = SEEDS + 1;
        do
        :: i < HELPERS ->
            run helper(i);
            i++
        :: else -> break
        od;
        run late(LATE);
#ifdef STOPPABLE
        run stopper()
#endif
    }
}
