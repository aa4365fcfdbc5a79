/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delivery: a server brings tasks and takes back its worker's `idle`.
 *
 * Models eki_server_deliver() of post.c, take_inbox() and eki_worker_idle() of
 * idle.c, eki_worker_note_idle(), eki_worker_become_idle(), eki_worker_wait()
 * and the check of end.c, and eki_worker_cancel() of worker.c, in a node that is
 * alone: tasks move between ranks of it, too.  Worker 0 is of the rank to which
 * worker 1's rank sends them; a thread of its own steps the server.  With
 * STOPPED the tasks are cancelled.
 *
 * Checked: nobody ends before all tasks are executed; both workers end.
 */
#ifndef DELIVERIES
#define DELIVERIES 2
#endif

byte created[2], executed[2];
bool idle[2];
byte inbox; /* of worker 0 */
byte live = DELIVERIES, ended;

ltl ends { <> (ended == 2) }

inline note_idle()
{
    if
    :: !idle[me] -> idle[me] = true
    :: else
    fi
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
        :: at == 2 && pass == 0 ->
            at = 0;
            pass = 1
        :: at == 2 && pass == 1 ->
            over = sum_c == sum_e;
            restart()
        :: else
        fi
    }
}

inline restart()
{
    at = 0;
    pass = 0;
    sum_e = 0;
    sum_c = 0
}

proctype worker(byte me)
{
    byte have, done, at, pass, sum_e, sum_c;
    bool is_idle, over;

    do
    :: over -> break
    :: !over && have > 0 ->
#ifdef STOPPED
        atomic { /* eki_worker_cancel() */
            live = live - have;
            done = done + have;
            have = 0
        }
        executed[me] = done
#else
        is_idle = false;
        idle[me] = false;
        atomic {
            live = live - have;
            done = done + have;
            have = 0
        }
#endif
    :: !over && have == 0 ->
        if
        :: !is_idle ->
            is_idle = true;
            executed[me] = done;
            restart();
#ifdef NOTED_ONCE
            note_idle()
#endif
        :: else
        fi;
        if
        :: me == 0 && inbox > 0 -> /* take_inbox() */
            atomic {
                have = inbox;
                inbox = 0
            }
        :: else ->
#ifndef NOTED_ONCE
            note_idle();
#endif
            check()
        fi
    od;
    assert(live == 0);
    ended++
}

proctype server()
{
    byte i;
    do
    :: i < DELIVERIES ->
#ifdef IDLE_LAST
        inbox++;
        idle[0] = false;
#else
        idle[0] = false;
        inbox++;
#endif
        i++
    :: else -> break
    od
}

init {
    atomic {
        created[1] = DELIVERIES;
        run worker(0);
        run worker(1);
        run server()
    }
}
