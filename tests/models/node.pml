/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node: the words of a node that is alone, and the check for the end.
 *
 * Models eki_engine_enter() of phase.c, eki_engine_leave() of leave.c,
 * eki_node_all_left() of segment.c, eki_worker_publish() and eki_worker_store()
 * of publish.c, probe(), finish_steal() and take_own() of idle.c, first_pass()
 * and check_next() of end.c.
 *
 * Each worker is a rank of its own.  A word is read or written at a time; what
 * a deque does is one step (deque.pml has its steps).  A thief looks and then
 * claims, maybe from a newer publication.
 *
 * With ROLES, of three workers and one phase: two work, the third checks.
 *
 * Checked: a phase ends when all are in it and no task of it is left; a task
 * runs in its own phase; all phases end.
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef PHASES
#define PHASES 2
#endif
#ifndef SPAWNS
#define SPAWNS 2
#endif
#ifndef SEEDS
#define SEEDS 1
#endif
#define HOME (WORKERS - 2) /* of the seeds: not who is checked first of three */

/* Words of the node segment. */
byte phase[WORKERS], created[WORKERS], executed[WORKERS], idle[WORKERS];
byte gone[WORKERS]; /* `left` */
byte shown[WORKERS]; /* published and not claimed */

/* Nobody's: what is checked, and what may still happen. */
byte live[PHASES + 1];  /* tasks of each phase that exist */
byte ready[PHASES + 1]; /* workers whose seeds are counted */
byte shown_of[WORKERS]; /* phase of the publication */
byte spawns, ended;

ltl ends { <> (ended == WORKERS) }

/* eki_worker_publish(), and eki_node_all_left(), one rank at a time */
inline publish(n)
{
    atomic {
        if
        :: n > 0 && shown[me] == 0 -> k = 0
        :: else -> k = WORKERS + 1
        fi
    }
    do
#ifndef PUBLISH_EARLY
    :: k < WORKERS && gone[k] + 1 < p -> k = WORKERS + 1
    :: k < WORKERS && gone[k] + 1 >= p -> k++
#else
    :: k < WORKERS -> k++
#endif
    :: k == WORKERS ->
#ifndef CREATED_LATE
        created[me] = made;
#endif
        atomic {
            shown[me] = n;
            shown_of[me] = p;
            have = have - shown[me];
            k = WORKERS + 1
        }
#ifdef CREATED_LATE
        created[me] = made;
#endif
    :: k > WORKERS -> break
    od;
    k = 0
}

inline enter()
{
    atomic {
        p++;
        have = (me == HOME -> SEEDS : 0);
        live[p] = live[p] + have;
        made = made + have;
        if
        :: me == HOME -> spawns = SPAWNS
        :: else
        fi
    }
#ifdef SEEDS_LATE
    phase[me] = p;
    atomic {
        created[me] = made;
        ready[p]++
    }
#else
    atomic {
        created[me] = made;
        ready[p]++
    }
    phase[me] = p;
#endif
    publish((have + 1) / 2)
}

/* A worker that has tasks: one starts, may spawn, and ends. */
inline work()
{
    if
    :: is_idle ->
        is_idle = false;
        idle[me] = 0
    :: else
    fi;
    publish(have / 2);
#ifdef EXECUTED_EARLY
    atomic {
        done++;
        executed[me] = done
    }
#endif
    have--;
    do
    :: spawns > 0 ->
        atomic {
            spawns > 0 ->
            spawns--;
            live[p]++;
            made++;
            have++
        }
        publish((have + 1) / 2)
    :: true -> break
    od;
    atomic {
        live[p]--;
#ifndef EXECUTED_EARLY
        done++
#endif
    }
}

inline restart()
{
    at = 0;
    pass = 0;
    sum_e = 0;
    sum_c = 0
}

/* first_pass() and check_next(): a word at a time */
inline check()
{
    if
#ifdef CREATED_FIRST
    :: pass == 1 ->
#else
    :: pass == 0 ->
#endif
        seen = phase[at];
        if
#ifndef LARGER_WAITS
        :: seen > p -> over = true
#endif
#ifdef ANY_PHASE
        :: else ->
#else
        :: seen == p ->
#endif
            if
#ifndef ANY_IDLE
            :: idle[at] != p -> restart()
#endif
            :: else ->
                atomic {
                    sum_e = sum_e + executed[at];
                    at++
                }
#ifdef MIXED_PASS
                atomic {
                    sum_c = sum_c + created[at - 1]
                }
#endif
            fi
#ifndef ANY_PHASE
        :: else -> restart()
#endif
        fi
    :: else ->
        atomic {
            sum_c = sum_c + created[at];
            at++
        }
    fi;
    atomic {
        seen = 0;
        if
#ifdef MIXED_PASS
        :: at == WORKERS ->
#else
        :: at == WORKERS && pass == 0 ->
            at = 0;
            pass = 1
        :: at == WORKERS && pass == 1 ->
#endif
            over = over || sum_c == sum_e;
            restart()
        :: else
        fi
    }
}

#ifdef ROLES
#define is_checker (me == WORKERS - 1)
#else
#define is_checker true
#endif

inline find()
{
    if
    :: shown[me] > 0 -> /* take_own() */
        atomic {
            have = shown[me];
            shown[me] = 0
        }
    :: else ->
        if
        :: !is_idle -> /* eki_worker_become_idle() */
#ifdef EXECUTED_FIRST
            executed[me] = done;
            created[me] = made;
#else
            created[me] = made;
            executed[me] = done;
#endif
            is_idle = true;
            restart()
        :: else
        fi;
        if
#ifdef ROLES
        :: victim = (is_checker -> me : 1 - me)
#else
        :: victim = (me + 1) % WORKERS
#if WORKERS > 2
        :: victim = (me + 2) % WORKERS
#endif
#endif
        fi;
        if
        :: shown[victim] > 0 && phase[victim] == p -> /* probe() */
            atomic {
                if
                :: shown[victim] > 0 ->
                    assert(shown_of[victim] == p);
                    claimed = (shown[victim] + 1) / 2;
                    shown[victim] = shown[victim] - claimed
                :: else
                fi
            }
            atomic { /* finish_steal() */
                have = claimed;
                claimed = 0
            }
        :: else ->
            victim = 0;
            if
            :: idle[me] != p -> idle[me] = p
            :: else
            fi;
            if
            :: is_checker -> check()
            :: else -> over = ended > 0
            fi
        fi;
        victim = 0
    fi
}

proctype worker(byte me)
{
    byte p, have, made, done, claimed, victim, k, seen;
    byte at, pass, sum_c, sum_e;
    bool is_idle, over;

    do
    :: p < PHASES ->
        enter();
        do
        :: !over && have > 0 -> work()
        :: !over && have == 0 -> find()
        :: over -> break
        od;
        atomic {
            over = false;
            is_idle = false;
            restart();
            assert(have + shown[me] == 0);
            assert(live[p] == 0 && ready[p] == WORKERS)
        }
#ifdef RESET_COUNTERS
        created[me] = 0;
        executed[me] = 0;
        made = 0;
        done = 0;
#endif
        gone[me] = p
    :: else -> break
    od;
    ended++
}

init {
    byte i;
    atomic {
        do
        :: i < WORKERS ->
            run worker(i);
            i++
        :: else -> break
        od
    }
}
