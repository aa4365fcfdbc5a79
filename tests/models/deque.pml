/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deque: the atomic kind, one access at a time, sequentially consistent.
 *
 * Models eki_deque_room(), eki_deque_publish(), eki_deque_acquire(),
 * eki_deque_other_room(), eki_deque_claim() and eki_deque_finish() of deque.h,
 * and how publish.c and idle.c use them: publish(), republish(), take_own(),
 * finish_steal().  What weaker orders do is for a C11 model checker.
 *
 * The owner has tasks 0 .. TASKS - 1, runs the newest and publishes the oldest.
 *
 * Checked: every task runs once; in the end both buffers are free.
 */
#ifndef CAPACITY
#define CAPACITY 2 /* at most 4: blocks() */
#endif
#ifndef TASKS
#define TASKS 4
#endif
#ifndef THIEVES
#define THIEVES 2
#endif

/* The word, of which an atomic step reads or writes all. */
byte attempts, buffer, n;
byte done[2];
byte slot[2 * CAPACITY];

/* Nobody's. */
bool ran[TASKS];
byte runs, idle;

#define over (runs == TASKS)
#define blocks(count) ((count) < 3 -> (count) : 3) /* ceil(log2 n) + 1 */
#define remaining(count, i) \
    ((i) >= blocks(count) -> 0 : (((count) - 1) >> (i)) + 1)

inline run_task(id)
{
    assert(!ran[id]);
    ran[id] = true;
    runs++
}

/* eki_deque_claim(), the copy, eki_deque_finish() and the tasks */
inline claim_and_run(is_own)
{
    atomic {
        w_n = n;
        i = attempts;
        b = buffer
    }
    if
    :: remaining(w_n, i) == 0 -> i = 0
    :: else ->
        atomic {
#ifdef LOOKED_AT
            i = attempts;
#else
            w_n = n;
            i = attempts;
            b = buffer;
#endif
            attempts++;
            first = b * CAPACITY + w_n - remaining(w_n, i);
            count = remaining(w_n, i) - remaining(w_n, i + 1)
        }
#ifdef FINISH_FIRST
        done[b] = done[b] + count;
#endif
        i = 0;
        do
        :: i < count ->
            copy[i] = slot[first + i];
            i++
        :: else -> break
        od;
#ifndef FINISH_FIRST
        if
#ifdef OWN_UNFINISHED
        :: is_own -> skip
#endif
        :: else -> done[b] = done[b] + count
        fi;
#endif
        atomic {
            i = 0;
            do
            :: i < count ->
                run_task(copy[i]);
                copy[i] = 0;
                i++
            :: else -> break
            od
        }
    fi;
    atomic {
        i = 0;
        w_n = 0;
        b = 0;
        first = 0;
        count = 0
    }
}

proctype thief()
{
    byte w_n, i, b, first, count, copy[CAPACITY];
    do
    :: !over -> claim_and_run(false)
    :: over -> break
    od;
    idle++
}

#define is_exhausted (attempts >= blocks(open))

/* eki_deque_settle() */
inline settle(rest)
{
    claimed[mine] = claimed[mine] + open - rest;
    open = 0
}

/* eki_deque_room() and publish(); K of the oldest tasks */
inline publish()
{
    if
    :: open > 0 && is_exhausted ->
#ifdef ACCOUNT_TWICE
        claimed[mine] = claimed[mine] + open;
#endif
        settle(0)
    :: else
    fi;
    if
    :: open == 0 ->
        k = 0;
        if
        :: done[mine] == claimed[mine] -> k = 1
#ifdef SAME_BUFFER
        :: else -> k = 1
#else
        :: else ->
            if
            :: done[1 - mine] == claimed[1 - mine] ->
                mine = 1 - mine;
                k = 1
            :: else
            fi
#endif
        fi;
        if
        :: k == 1 && top > base ->
            do
            :: k < CAPACITY && base + k < top -> k++
            :: true -> break
            od;
            do
            :: open < k ->
                slot[mine * CAPACITY + open] = base;
                base++;
                open++
            :: else -> break
            od;
            atomic {
                attempts = 0;
                buffer = mine;
                n = open
            }
        :: else
        fi;
        k = 0
    :: else
    fi
}

/* eki_deque_other_room() */
inline look_room()
{
    if
    :: done[1 - mine] == claimed[1 - mine] -> has_room = true
    :: else ->
        k = done[mine];
        has_room = (k == claimed[mine] + open - remaining(open, attempts));
        k = 0
    fi
}

/* eki_deque_acquire(); the tasks are the owner's again. */
inline acquire()
{
#ifdef CLOSE_BY_STORE
    k = remaining(n, attempts);
    n = 0;
#else
    atomic {
        k = remaining(n, attempts);
        attempts = 0;
        buffer = 0;
        n = 0
    }
#endif
    base = base - k;
    settle(k);
#ifdef DONE_RESET
    done[mine] = 0;
    claimed[mine] = 0;
#endif
    k = 0;
    has_room = false
}

proctype owner()
{
    byte base, top = TASKS, open, mine, claimed[2], k;
    byte w_n, i, b, first, count, copy[CAPACITY];
    bool has_room;

    do
    :: top > base -> /* a task runs */
        atomic {
            top--;
            run_task(top)
        }
    :: top > base -> publish()
    :: top > base && open > 0 && !is_exhausted -> /* republish() */
        look_room();
        if
        :: has_room ->
            acquire();
            publish()
        :: else
        fi
    :: top == base && open > 0 -> /* take_own() */
        if
        :: is_exhausted -> settle(0)
        :: else ->
            look_room();
            if
            :: has_room -> acquire()
            :: else -> claim_and_run(true)
            fi
        fi
    :: top == base && open == 0 -> break
    od;
    idle == THIEVES;
    assert(done[0] == claimed[0]);
    assert(done[1] == claimed[1])
}

init {
    byte t;
    atomic {
        run owner();
        do
        :: t < THIEVES ->
            run thief();
            t++
        :: else -> break
        od
    }
}
