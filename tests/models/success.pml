/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * success: requests that never fail, and the end between nodes by votes and
 * acknowledged transfers.
 *
 * Models stealing by success only, and Francez' detector for it, over a tree of
 * nodes as in wave.c.  A thief asks each node once; its request stays in the
 * victim's queue, however long, until tasks come.  Each message is a place of
 * its own: messages arrive in any order.  A node is a worker, a server and a
 * voter: three processes.
 *
 * A victim serves while its own worker runs, and looks at its queue whenever
 * it may have tasks.  It sets `given` and counts the transfer as `under_way`
 * before it takes the tasks; a thief has them in its deque before it
 * acknowledges.  A voter looks for tasks, then takes `given` back by one
 * exchange, then looks at `under_way`.  A phase that ends with requests forgets them at both ends.
 *
 * Checked: no task is left when the root announces the end; of the waves that
 * begin without tasks the second one at the latest is the last; all end.  A
 * thief waits for a victim if its request is on its way or queued, once, or
 * tasks are on their way, and only then.  With LONG tasks end when nothing else
 * moves: then nobody is idle while another one has tasks to give.
 */
#ifndef NODES
#define NODES 2
#endif
#ifndef PHASES
#define PHASES 1
#endif
#ifndef SEEDS
#define SEEDS 2
#endif
#ifndef SPAWNS
#define SPAWNS 1
#endif
#ifndef BATCH
#define BATCH 2 /* tasks of a transfer, at most */
#endif

#ifdef CHAIN
#define children(n) (n + 1 < NODES -> 1 : 0)
#define child(n) (n + 1)
#else
#define children(n) (2 * n + 2 < NODES -> 2 : (2 * n + 1 < NODES -> 1 : 0))
#define child(n) (2 * n + 1)
#endif
#define is_idle(n) (deque[n] == 0 && !running[n])

mtype = { YES, NO, AGAIN };

/* Words of the nodes. */
byte deque[NODES], under_way[NODES];
bool running[NODES], given[NODES];
bool waits[NODES]; /* until its request is queued */
chan queue[NODES] = [NODES] of { byte };

/* Of a thief and a victim: waits for tasks; the request, and tasks, that are on
 * their way; in the queue. */
#define PAIRS (NODES * NODES)
#define of(thief, victim) (NODES * (thief) + (victim))
bool asked[PAIRS];
byte request[PAIRS], tasks[PAIRS], in_queue[PAIRS];

/* Other messages: to thieves, to victims; votes up, verdicts down; 0: it is not
 * on its way. */
byte queued[NODES], acks[NODES];
mtype vote[NODES], verdict[NODES];
#ifdef PUSHES
byte pushed[PAIRS]; /* to the first one */
#endif
#ifdef LOOK_ON_MESSAGE
bool heard[NODES];
#endif

/* Nobody's: what is checked, and what may still happen. */
byte live, spawns, phase = 1;
bool over, go;

ltl ends { <> over }

inline fits(thief, victim)
{
    assert(asked[of(thief, victim)] ==
           request[of(thief, victim)] + in_queue[of(thief, victim)] +
           (tasks[of(thief, victim)] > 0 -> 1 : 0))
}

inline add_tasks(n)
{
    if
    :: !running[me] ->
        running[me] = true;
        deque[me] = deque[me] + n - 1
    :: else -> deque[me] = deque[me] + n
    fi
}

proctype worker(byte me)
{
    do
    :: atomic {
           !running[me] && deque[me] > 0 ->
           deque[me]--;
           running[me] = true
       }
    :: atomic {
           running[me] && spawns > 0 ->
           spawns--;
           live++;
           deque[me]++
       }
#ifdef LONG
    :: atomic {
           running[me] && go ->
           go = false;
           running[me] = false;
           live--
       }
#else
    :: atomic {
           running[me] ->
           running[me] = false;
           live--
       }
#endif
    :: over -> break
    od
}

#ifdef LONG
#define is_starved(n, other) (is_idle(n) && running[other] && deque[other] > 0)

proctype end_of_tasks()
{
    do
    :: timeout ->
        if
        :: over -> break
        :: else ->
            assert(!is_starved(0, 1) && !is_starved(1, 0));
#if NODES > 2
            assert(!is_starved(0, 2) && !is_starved(1, 2));
            assert(!is_starved(2, 0) && !is_starved(2, 1));
#endif
            go = true
        fi
    od
}
#endif

#ifdef ACYCLIC
#define is_cyclic(v) (in_queue[of(v, me)] > 0)
#else
#define is_cyclic(v) false
#endif
#define may_ask(v) \
    (is_idle(me) && !waits[me] && !over && !asked[of(me, v)] && !is_cyclic(v))
#ifdef LOOK_ON_MESSAGE
#define may_look heard[me]
#define hear() heard[me] = true
#else
#define may_look true
#define hear() skip
#endif
#define may_serve (running[me] && deque[me] > 0 && len(queue[me]) > 0)

/* A search asks one after another. */
inline ask(v)
{
#ifdef CANCEL
    if
    :: in_queue[of(v, me)] > 0 ->
        queue[me]??eval(v);
        in_queue[of(v, me)]--
    :: else
    fi;
#endif
    asked[of(me, v)] = true;
    request[of(me, v)]++;
    waits[me] = true;
    fits(me, v)
}

inline take_request(t)
{
    request[of(t, me)]--;
    assert(in_queue[of(t, me)] == 0);
#ifdef CANCEL
    asked[of(me, t)] = false;
#endif
    in_queue[of(t, me)]++;
    queue[me]!t;
    queued[t] = true;
    fits(t, me);
    hear()
}

inline take_tasks(v)
{
    asked[of(me, v)] = false;
    n = tasks[of(me, v)];
    tasks[of(me, v)] = 0;
#ifndef ACK_EARLY
    add_tasks(n);
    n = 0;
#endif
    acks[v]++;
    fits(me, v);
    hear()
}

inline count_transfer()
{
#ifndef NO_FLAG
    given[me] = true;
#endif
    under_way[me]++
}

/* Up to BATCH tasks for the first in the queue; the worker may have taken some
 * meanwhile. */
inline serve()
{
    if
    :: deque[me] > 0 ->
        select (n : 1 .. BATCH);
        n = (n < deque[me] -> n : deque[me]);
        queue[me]?node;
        in_queue[of(node, me)]--;
        deque[me] = deque[me] - n;
        tasks[of(node, me)] = n;
        fits(node, me);
        n = 0;
        node = 0
    :: else -> under_way[me]--
    fi
}

#define one ((me + 1) % NODES)
#define two ((me + 2) % NODES)

proctype server(byte me)
{
    byte node, n;

    do
    :: over -> break
    :: atomic { may_ask(one) -> ask(one) }
    :: atomic { request[of(one, me)] > 0 -> take_request(one) }
    :: atomic { tasks[of(me, one)] > 0 -> take_tasks(one) }
#if NODES > 2
    :: atomic { may_ask(two) -> ask(two) }
    :: atomic { request[of(two, me)] > 0 -> take_request(two) }
    :: atomic { tasks[of(me, two)] > 0 -> take_tasks(two) }
#endif
#ifdef ACK_EARLY
    :: atomic {
           n > 0 ->
           add_tasks(n);
           n = 0
       }
#endif
    :: atomic {
           queued[me] ->
           queued[me] = false;
           waits[me] = false;
           hear()
       }
    :: atomic {
           acks[me] > 0 ->
           acks[me]--;
           under_way[me]--;
           hear()
       }
    :: atomic {
           may_serve && may_look ->
#ifdef FLAG_LATE
           under_way[me]++;
           serve()
       }
       given[me] = true
#else
           count_transfer()
       }
       atomic { serve() }
#endif
#ifdef LOOK_ON_MESSAGE
    :: heard[me] && !may_serve -> heard[me] = false
#endif
#ifdef PUSHES
    :: atomic {
           running[me] && deque[me] > 0 && under_way[me] < 2 ->
           count_transfer();
           deque[me]--;
           pushed[of(one, me)]++
       }
    :: atomic {
           pushed[of(me, one)] > 0 ->
           pushed[of(me, one)]--;
           add_tasks(1);
           acks[one]++
       }
#endif
    od
}

#define has_votes(n) \
    ((children(n) == 0 || vote[child(n)] != 0) && \
     (children(n) < 2 || vote[child(n) + 1] != 0))

inline tell_children(what)
{
    if
    :: children(me) > 0 -> verdict[child(me)] = what
    :: else
    fi;
    if
    :: children(me) > 1 -> verdict[child(me) + 1] = what
    :: else
    fi
}

inline add_seeds()
{
    spawns = SPAWNS;
    do
    :: live < SEEDS ->
        select (i : 0 .. NODES - 1);
        deque[i]++;
        live++
    :: else -> break
    od;
    i = 0
}

/* At both ends, and what is on its way, which has the number of its phase. */
inline forget_requests()
{
    do
    :: i < PAIRS ->
#ifndef KEEP_ASKED
        asked[i] = false;
#endif
        request[i] = 0;
#ifndef KEEP_QUEUES
        in_queue[i] = 0;
#endif
        i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < NODES ->
        waits[i] = false;
        queued[i] = false;
#ifndef KEEP_QUEUES
        do
        :: queue[i]?_
        :: empty(queue[i]) -> break
        od;
#endif
        i++
    :: else -> break
    od;
    i = 0
}

inline end_phase()
{
    assert(live == 0);
    if
    :: phase == PHASES -> over = true
    :: else ->
        phase++;
#ifndef KEEP_BOTH
        forget_requests();
#endif
        add_seeds();
        tell_children(AGAIN)
    fi
}

/* With the votes of the children; the root decides. */
inline send_vote()
{
    if
    :: children(me) > 0 && vote[child(me)] == NO -> mine = NO
    :: else
    fi;
    if
    :: children(me) > 1 && vote[child(me) + 1] == NO -> mine = NO
    :: else
    fi;
    if
    :: children(me) > 0 -> vote[child(me)] = 0
    :: else
    fi;
    if
    :: children(me) > 1 -> vote[child(me) + 1] = 0
    :: else
    fi;
    if
    :: me > 0 ->
        vote[me] = mine;
        voted = true
    :: me == 0 && mine == YES -> end_phase()
    :: me == 0 && mine == NO ->
        assert(!is_quiet);
        is_quiet = was_quiet;
        was_quiet = live + under_way[0] + under_way[1] +
            under_way[NODES - 1] == 0;
        tell_children(AGAIN)
    fi;
    mine = 0
}

#ifdef NO_ACK
#define is_acknowledged true
#else
#define is_acknowledged (under_way[me] == 0)
#endif
#ifdef ACKS_FIRST
#define may_begin is_acknowledged
#define may_end is_idle(me)
#else
#define may_begin is_idle(me)
#define may_end is_acknowledged
#endif

proctype voter(byte me)
{
    bool voted;
    byte i;
    mtype mine;
    /* Root: this wave began without tasks, the last one did too. */
    bool was_quiet, is_quiet;

    do
    :: over -> break
    :: atomic {
           voted && verdict[me] == AGAIN ->
           verdict[me] = 0;
           voted = false;
           tell_children(AGAIN)
       }
    :: !voted && has_votes(me) && may_begin ->
#ifndef ACKS_FIRST
        atomic { /* the exchange */
            mine = (given[me] -> NO : YES);
            given[me] = false
        }
#endif
        if
        :: atomic {
               may_end ->
#ifdef ACKS_FIRST
               mine = (given[me] -> NO : YES);
               given[me] = false;
#endif
               send_vote()
           }
        :: else ->
            atomic { /* and back */
                given[me] = given[me] || mine == NO;
                mine = 0
            }
        fi
    od
}

init {
    byte i;
    atomic {
        add_seeds();
        do
        :: i < NODES ->
            run worker(i);
            run server(i);
            run voter(i);
            i++
        :: else -> break
        od;
#ifdef LONG
        run end_of_tasks()
#endif
    }
}
