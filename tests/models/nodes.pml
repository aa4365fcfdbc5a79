/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodes: stealing and the end of a phase between nodes.
 *
 * Models eki_server_step(), drain() and receive() of server.c; spread_stop(),
 * vote(), node_vote(), decide(), pass_verdict() and apply_verdict() of wave.c;
 * take(), send_asks() and answer_requests() of protocol/requests.c; and of a
 * worker what matters to them: start() of step.c, eki_worker_publish() of
 * publish.c, eki_worker_idle() of idle.c, eki_worker_cancel() of worker.c,
 * is_finished() of end.c.
 *
 * A rank is one process that steps its worker and its server in turn, as with
 * progress=polling and one worker, or in any order (ANY_ORDER), as with a
 * server of its own.  Nodes form the binary tree.  With OUTSIDE the last node
 * has a second rank, which has no place in the tree.  Messages of two ranks
 * arrive in order, those of others in any.  A message of a newer phase stays in
 * its channel, and all behind it are no older: the same as to keep it.  Once,
 * somebody finds no buffer to send (LACK).
 *
 * Seeds lie on the root in the first phase, on the last node in the second.
 *
 * Checked: at the end of a phase every worker is in it and no task is left; no
 * task meets another phase; all phases end (ltl ends, weak fairness).
 */
#ifndef NODES
#define NODES 2
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
#ifndef FAILURES
#define FAILURES 0
#endif
#ifndef LACK
#define LACK 0
#endif
#ifdef OUTSIDE
#define RANKS (NODES + 1)
#else
#define RANKS NODES
#endif

#define node(r) (r < NODES -> r : NODES - 1)

mtype = { REQUEST, TASKS, NONE, VOTE, WAVE, STOP };

/* What a message has besides: from whom it comes, by the channel; and
 * REQUEST: none; TASKS: how many; VOTE: created, executed; WAVE: is it done. */
chan net[NODES * NODES] = [5] of { mtype, byte, byte, byte };
#define to(r) net[me * NODES + r]
#define from(r) net[r * NODES + me]

/* Words of the node segments. */
byte phase[RANKS], created[RANKS], executed[RANKS], idle[RANKS], gone[RANKS];
byte shown[RANKS];     /* published and not claimed */
byte announced[NODES]; /* last phase that ended */
byte stop[NODES];      /* phase in which no task starts */

/* Nobody's: what is checked, and what may still happen. */
byte live;      /* tasks that exist */
byte spawns, failures, lack = LACK;
byte ended;     /* ranks that have left their last phase */

ltl ends { <> (ended == RANKS) }

inline enter()
{
    phase[me]++;
    if
    :: me == (phase[me] == 1 -> 0 : NODES - 1) ->
        have = SEEDS;
        live = live + SEEDS;
        spawns = SPAWNS;
        failures = FAILURES
    :: else
    fi;
    made = made + have;
    created[me] = made;
    is_idle = false;
    publish((have + 1) / 2)
}

/* eki_worker_publish(), with eki_node_all_left() */
inline publish(n)
{
    if
    :: n > 0 && shown[me] == 0 && (node(me) < NODES - 1 || RANKS == NODES ||
           (gone[NODES - 1] + 1 >= phase[me] &&
            gone[RANKS - 1] + 1 >= phase[me])) ->
        created[me] = made;
        shown[me] = n;
        have = have - shown[me]
    :: else
    fi
}

/* eki_worker_step() of a worker that has tasks. */
inline step_work()
{
    if
    :: running ->
        if
        :: spawns > 0 -> /* ek_spawn(), eki_worker_publish_now() */
            spawns--;
            live++;
            made++;
            have++;
            publish((have + 1) / 2)
        :: failures > 0 -> /* eki_worker_fail() */
            failures--;
            stop[node(me)] = phase[me]
        :: true ->
            running = false;
            live--;
            done++
        fi
    :: else -> /* start() */
        is_idle = false;
        idle[me] = 0;
#ifdef PUBLISH_FIRST
        publish((have + 1) / 2);
#else
        publish(have / 2);
#endif
        if
        :: have > 0 ->
            have--;
            running = true
        :: else
        fi
    fi
}

/* eki_worker_cancel() */
inline cancel()
{
    have = have + shown[me];
    shown[me] = 0;
    live = live - have;
#ifndef CANCEL_FORGETS
    done = done + have;
#endif
    have = 0;
    created[me] = made;
    executed[me] = done
}

/* eki_worker_idle(); OTHER shares the node. */
inline step_idle(other)
{
    if
    :: shown[me] > 0 -> /* take_own() */
        have = shown[me];
        shown[me] = 0
    :: else ->
        if
        :: !is_idle ->
            is_idle = true;
            created[me] = made;
            executed[me] = done
        :: else
        fi;
        if
        :: claimed > 0 ->
            have = claimed;
            claimed = 0
        :: else ->
            if
            :: inbox > 0 ->
                have = inbox;
                inbox = 0
            :: else ->
                if
                :: RANKS > NODES && node(me) == NODES - 1 &&
                       stop[NODES - 1] != phase[me] && shown[other] > 0 &&
                       phase[other] == phase[me] ->
                    claimed = (shown[other] + 1) / 2;
                    shown[other] = shown[other] - claimed
                :: else ->
                    idle[me] = phase[me]
                fi
            fi
        fi
    fi
}

inline step_worker(other)
{
    if
    :: !running && stop[node(me)] == phase[me] && have + shown[me] > 0 ->
        cancel()
    :: else ->
        if
        :: running || have > 0 -> step_work()
        :: else -> step_idle(other)
        fi
    fi
}

/* take() of the protocols: requests and waves, of a message from rank R */
inline take(r)
{
    if
    :: kind == REQUEST -> wants[r] = true
    :: kind == TASKS ->
        assert(p == phase[me]);
        open = false;
#ifdef LOW_TASKS
        low = low + a;
#else
        inbox = inbox + a;
        idle[me] = 0;
#endif
    :: kind == NONE -> open = false
    :: kind == VOTE ->
        has_vote[r & 1] = true;
        vote_created[r & 1] = a;
        vote_executed[r & 1] = b
    :: kind == WAVE ->
        verdict = a;
        next = 1
    :: kind == STOP -> stop[me] = phase[me]
    fi
}

/* drain() and receive() */
inline drain()
{
    moved = false;
    r = 0;
    do
    :: r == NODES -> break
#ifdef ANY_ORDER
    :: r < NODES -> r++
#endif
    :: r < NODES && r != me && len(from(r)) > 0 ->
        from(r)?<kind, p, a, b>;
        if
#if defined(IGNORE_TAGS) || defined(DROP_NEWER)
        :: true ->
#else
        :: p <= phase[me] ->
#endif
            from(r)?kind, p, a, b;
            moved = moved || kind == VOTE || kind == WAVE;
            if
#ifdef IGNORE_TAGS
            :: true -> take(r)
#else
            :: p == phase[me] -> take(r)
            :: p < phase[me] && kind == TASKS -> assert(false)
            :: else /* of an older phase: dropped */
#endif
            fi
        :: else -> r++
        fi
    :: else -> r++
    od
}

#define is_child(n) (n < NODES && (n - 1) / 2 == me)
#define child(i) (2 * me + i)

/* apply_verdict() */
inline apply()
{
    next = 0;
    voted = false;
#ifdef CLEAR_LATE
    has_vote[0] = false;
    has_vote[1] = false;
#endif
    if
    :: verdict ->
        forwarded = true;
        announced[me] = phase[me]
    :: else
    fi
}

/* pass_verdict(): to the children from NEXT on; there may be no buffer. */
inline pass()
{
#ifdef ANNOUNCE_FIRST
    if
    :: verdict ->
        forwarded = true;
        announced[me] = phase[me]
    :: else
    fi;
#endif
    do
    :: next <= 2 && is_child(child(next)) && lack > 0 ->
        lack--;
        break
    :: next <= 2 ->
        if
        :: is_child(child(next)) ->
            assert(nfull(to(child(next))));
            to(child(next))!WAVE(phase[me], verdict, 0)
        :: else
        fi;
        next++
    :: next > 2 ->
        apply();
        break
    od
}

/* spread_stop() */
inline spread()
{
    if
    :: stop[me] == phase[me] && told != phase[me] ->
        told = phase[me];
        r = 0;
        do
        :: r < NODES ->
            if
            :: r != me && (is_child(r) || (me > 0 && r == (me - 1) / 2)) ->
                assert(nfull(to(r)));
                to(r)!STOP(phase[me], 0, 0)
            :: else
            fi;
            r++
        :: else -> break
        od
    :: else
    fi
}

#ifdef OUTSIDE
#define shares_node (me == NODES - 1)
#else
#define shares_node false
#endif

#define may_vote (!voted && !forwarded && next == 0 && \
    (!is_child(child(1)) || has_vote[child(1) & 1]) && \
    (!is_child(child(2)) || has_vote[child(2) & 1]))

/* decide(), or a vote to the parent */
inline vote(c, e)
{
    if
    :: is_child(child(1)) ->
        c = c + vote_created[child(1) & 1];
        e = e + vote_executed[child(1) & 1]
    :: else
    fi;
    if
    :: is_child(child(2)) ->
        c = c + vote_created[child(2) & 1];
        e = e + vote_executed[child(2) & 1]
    :: else
    fi;
#ifndef CLEAR_LATE
    has_vote[0] = false;
    has_vote[1] = false;
#endif
    voted = true;
    if
    :: me > 0 ->
        assert(nfull(to((me - 1) / 2)));
        to((me - 1) / 2)!VOTE(phase[me], c, e)
    :: else ->
#ifdef SINGLE_WAVE
        verdict = (c == e);
#else
        verdict = (c == e && c == last_created && e == last_executed);
#endif
        last_created = c;
        last_executed = e;
        if
        :: verdict -> /* what it is all about */
            assert(live == 0);
            r = 0;
            do
            :: r < RANKS ->
                assert(phase[r] == phase[me]);
                r++
            :: else -> break
            od
        :: else
        fi;
        next = 1;
        pass()
    fi;
    c = 0;
    e = 0
}

/* node_vote(): own words are read at once, by who writes them. */
inline waves()
{
    atomic {
        spread();
        if
        :: next > 0 -> pass()
        :: else
        fi;
        if
        :: may_vote && idle[me] == phase[me] ->
            e = executed[me];
            votes = true
        :: else
        fi;
        if
        :: votes && !shares_node ->
            c = created[me];
            vote(c, e);
            votes = false
        :: else
        fi
    }
#ifdef OUTSIDE
    if
    :: votes ->
        atomic {
            if
#ifdef VOTE_FOR_LATE
            :: true ->
#else
            :: phase[RANKS - 1] == phase[me] &&
                   idle[RANKS - 1] == phase[me] ->
#endif
                skip
            :: else ->
                votes = false;
                e = 0
            fi
        }
    :: else
    fi;
    if
    :: votes -> e = e + executed[RANKS - 1]
    :: else
    fi;
    if
    :: votes ->
        atomic {
            c = created[me] + created[RANKS - 1];
            vote(c, e);
            votes = false
        }
    :: else
    fi;
#endif
}

/* answer_requests(): out of the node's fullest deque */
inline requests()
{
    r = 0;
    do
    :: r < NODES ->
        if
        :: wants[r] ->
            wants[r] = false;
            victim = me;
#ifdef OUTSIDE
            if
            :: shares_node && shown[RANKS - 1] > shown[me] &&
                   phase[RANKS - 1] == phase[me] ->
                victim = RANKS - 1
            :: else
            fi;
#endif
            assert(nfull(to(r)));
            if
            :: shown[victim] > 0 && stop[me] != phase[me] ->
                a = (shown[victim] + 1) / 2;
                shown[victim] = shown[victim] - a;
                to(r)!TASKS(phase[me], a, 0)
            :: else ->
                to(r)!NONE(phase[me], 0, 0)
            fi
        :: else
        fi;
        r++
    :: else -> break
    od;
    victim = 0
}

/* send_asks(): some other node, one request at a time */
inline ask()
{
#ifndef NO_STEALS
    if
    :: !open && is_idle && !running && have + inbox + claimed == 0 &&
           stop[me] != phase[me] && !forwarded ->
        r = 0;
        do
        :: r < NODES && r != me ->
            assert(nfull(to(r)));
            open = true;
            to(r)!REQUEST(phase[me], 0, 0);
            break
        :: r + 1 < NODES -> r++
        :: r + 1 >= NODES -> break
        od
    :: else
    fi
#endif
    skip
}

inline forget()
{
    kind = 0;
    p = 0;
    a = 0;
    b = 0;
    r = 0
}

#define is_over (announced[me] >= phase[me] && forwarded && !running)

proctype lowest(byte me)
{
    byte have, made, done, inbox, claimed, low;
    bool running, is_idle, open, moved, votes;
    bool voted, forwarded, verdict, has_vote[2], wants[NODES];
    byte vote_created[2], vote_executed[2], last_created, last_executed;
    byte next, told, victim;
    byte r, p, a, b, c, e;
    mtype kind;

    do
    :: phase[me] < PHASES ->
        atomic {
            enter();
            voted = false;
            forwarded = false;
            open = false
        }
        do
#ifdef ANY_ORDER
        :: atomic {
               !is_over -> step_worker(RANKS - 1)
           }
        :: atomic {
               !is_over ->
               drain();
               forget()
           }
        :: !is_over -> waves()
        :: atomic {
               !is_over ->
               ask();
               requests();
               forget()
           }
#else
        :: atomic {
               !is_over -> step_worker(RANKS - 1)
           }
           atomic {
               drain();
               forget()
           }
           waves();
           atomic {
#ifdef LOW_TASKS
               if
               :: !moved && low > 0 ->
                   inbox = inbox + low;
                   idle[me] = 0;
                   low = 0
               :: else
               fi;
#endif
               ask();
               requests();
               forget()
           }
#endif
        :: is_over -> break
        od;
        atomic {
            assert(have + shown[me] + inbox + claimed + low == 0);
            r = 0;
            do /* enter() of protocol/requests.c forgets the requests */
            :: r < NODES ->
                wants[r] = false;
                r++
            :: else -> break
            od;
            r = 0;
            has_vote[0] = false;
            has_vote[1] = false;
            next = 0;
            gone[me] = phase[me]
        }
    :: else -> break
    od;
    ended++
}

#ifdef OUTSIDE
/* Learns of the end from the word that the lowest rank of its node writes. */
#ifdef NODE_SUMS
#define is_told (created[NODES - 1] + created[me] == \
                     executed[NODES - 1] + executed[me] && \
                 idle[NODES - 1] == phase[me] && idle[me] == phase[me])
#else
#define is_told (announced[NODES - 1] >= phase[me])
#endif

proctype outside(byte me)
{
    byte have, made, done, inbox, claimed;
    bool running, is_idle;

    do
    :: phase[me] < PHASES ->
        atomic {
            enter()
        }
        do
        :: atomic {
               !is_told -> step_worker(NODES - 1)
           }
        :: is_told -> break
        od;
        atomic {
            assert(!running && have + shown[me] + claimed == 0);
            gone[me] = phase[me]
        }
    :: else -> break
    od;
    ended++
}
#endif

init {
    byte i;
    atomic {
        do
        :: i < NODES ->
            run lowest(i);
            i++
        :: else -> break
        od;
#ifdef OUTSIDE
        run outside(RANKS - 1);
#endif
    }
}
