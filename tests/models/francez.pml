/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * francez: the end between nodes by votes of yes and no, where a thief waits
 * for the answer to its request.
 *
 * Models Francez' detector as HPDC 2012 has it, over a tree of nodes as in
 * wave.c.  A node is a worker, a server that answers requests, and a voter:
 * three processes, as threads and ranks of a node do these at a time.  Each
 * message is a place of its own: messages arrive in any order.
 *
 * A request is always answered, with tasks or with none.  Who gives sets
 * `given` before it takes the tasks out of the deque; who gets puts them into
 * the deque before it ends `open`.  A voter looks at `open`, then for tasks,
 * then takes `given` back by one exchange.  Between two requests of a node its
 * voter gets a chance (`due`): otherwise thieves could keep it from voting.
 *
 * Checked: no task is left when the root announces the end; of the waves that
 * begin without tasks the second one at the latest is the last; all end.
 */
#ifndef NODES
#define NODES 2
#endif
#ifndef SEEDS
#define SEEDS 2
#endif
#ifndef SPAWNS
#define SPAWNS 1
#endif
#ifndef BATCH
#define BATCH 2 /* tasks of an answer, at most */
#endif

#define NOBODY NODES
#ifdef CHAIN
#define children(n) (n + 1 < NODES -> 1 : 0)
#define child(n) (n + 1)
#else
#define children(n) (2 * n + 2 < NODES -> 2 : (2 * n + 1 < NODES -> 1 : 0))
#define child(n) (2 * n + 1)
#endif
#define is_idle(n) (deque[n] == 0 && !running[n])

#ifdef ASK_AT_ONCE
#define may_ask(n) true
#else
#define may_ask(n) !due[n]
#endif
#if defined(VOTE_OPEN)
#define may_begin true
#define may_end is_idle(me)
#elif defined(IDLE_FIRST)
#define may_begin is_idle(me)
#define may_end !open[me]
#else
#define may_begin !open[me]
#define may_end is_idle(me)
#endif

mtype = { YES, NO, AGAIN };

/* Words of the nodes. */
byte deque[NODES];
bool running[NODES], open[NODES], given[NODES], due[NODES];

/* Messages: whom a thief asks, and its answer; votes up, verdicts down; 0: it
 * is not on its way. */
byte asks[NODES], answer[NODES]; /* 1, and tasks */
mtype vote[NODES], verdict[NODES];
#ifdef PUSHES
byte pushed[NODES];
#endif

/* Nobody's: what is checked, and what may still happen. */
byte live, spawns = SPAWNS, serving;
bool over;

ltl ends { <> over }

inline choose_other(node)
{
    select (node : 1 .. NODES - 1);
    node = (me + node) % NODES
}

proctype worker(byte me)
{
    byte node;

    do
    :: atomic {
           !running[me] && deque[me] > 0 ->
           deque[me]--;
           running[me] = true
       }
    :: atomic {
           running[me] ->
           if
           :: spawns > 0 ->
               spawns--;
               live++;
               deque[me]++
           :: true ->
               running[me] = false;
               live--
           fi
       }
#ifdef PUSHES
    :: atomic {
           running[me] && deque[me] > 0 ->
           given[me] = true;
           deque[me]--;
           choose_other(node);
           pushed[node]++;
           node = 0
       }
    :: atomic {
           pushed[me] > 0 ->
           pushed[me]--;
           deque[me]++
       }
#endif
    :: atomic {
           !over && is_idle(me) && !open[me] && may_ask(me) ->
           open[me] = true;
           choose_other(node);
           asks[me] = node;
           node = 0
       }
    :: answer[me] > 0 ->
#ifdef CLOSED_EARLY
        open[me] = false;
#endif
        atomic {
            if
            :: answer[me] > 1 -> /* one starts: it is not taken back */
                running[me] = true;
                deque[me] = deque[me] + answer[me] - 2
            :: else
            fi;
#ifdef THIEF_FLAG
            given[me] = given[me] || answer[me] > 1;
#endif
            answer[me] = 0;
            due[me] = true
        }
        open[me] = false
    :: over -> break
    od
}

inline set_given()
{
#if !defined(THIEF_FLAG) && !defined(NO_FLAG)
    given[me] = true
#else
    skip
#endif
}

proctype server(byte me)
{
    byte thief, n;

    do
    :: atomic {
           if
           :: asks[0] == me -> thief = 0
           :: asks[1] == me -> thief = 1
           :: asks[NODES - 1] == me -> thief = NODES - 1
           fi;
           asks[thief] = NOBODY;
           serving++
       }
       if
       :: deque[me] > 0 ->
#ifndef FLAG_LATE
           set_given();
#endif
           atomic { /* the worker may have taken some meanwhile */
               select (n : 1 .. BATCH);
               n = (n < deque[me] -> n : deque[me]);
               deque[me] = deque[me] - n
           }
#ifdef FLAG_LATE
           set_given()
#endif
#ifdef NEVER_NONE
       :: over -> break
#else
#ifdef FLAG_ALWAYS
       :: deque[me] == 0 -> set_given()
#else
       :: deque[me] == 0
#endif
#endif
       fi;
       atomic {
           answer[thief] = n + 1;
           serving--;
           n = 0;
           thief = 0
       }
    :: over -> break
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
    :: me == 0 && mine == YES ->
        assert(live == 0);
        over = true
    :: me == 0 && mine == NO ->
        assert(!is_quiet);
        is_quiet = was_quiet;
        was_quiet = live + serving == 0;
        tell_children(AGAIN)
    fi;
    mine = 0
}

proctype voter(byte me)
{
    bool voted;
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
    :: atomic {
           due[me] && verdict[me] == 0 && (voted || !has_votes(me)) ->
           due[me] = false
       }
    :: !voted && has_votes(me) && may_begin ->
#ifdef READ_FIRST
        mine = (given[me] -> NO : YES);
#endif
        if
        :: may_end ->
            atomic { /* the exchange */
#ifndef READ_FIRST
                mine = (given[me] -> NO : YES);
#endif
                given[me] = false;
                send_vote();
                due[me] = false
            }
        :: else ->
            due[me] = false;
            mine = 0
        fi
    od
}

init {
    byte i;
    atomic {
        do
        :: live < SEEDS ->
            select (i : 0 .. NODES - 1);
            deque[i]++;
            live++
        :: else -> break
        od;
        i = 0;
        do
        :: i < NODES ->
            asks[i] = NOBODY;
            run worker(i);
            run server(i);
            run voter(i);
            i++
        :: else -> break
        od
    }
}
