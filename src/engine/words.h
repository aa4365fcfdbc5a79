/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * words: what the workers and servers of a node share in its segment.
 *
 *     node words | rank words, one per rank | worker words, one per worker |
 *     slots of the shared parts, one pair of buffers per worker, then, of a job
 *     of several nodes, one per rank
 *
 * Phases tell which phase a word speaks of; [phase & 1] where a rank still in
 * phase p may look after another entered p + 1: nobody enters p + 2 before.
 */
#ifndef EKI_ENGINE_WORDS_H
#define EKI_ENGINE_WORDS_H

#include "base/base.h"
#include "deque/deque.h"

/* Who failed and why; status EK_OK: nobody. */
struct eki_error {
    int32_t status; /* ek_status */
    int32_t worker;
    int32_t code;
    int32_t function;
    uint64_t id;   /* of the task */
    int64_t index; /* of ek_set_range(); -1: none */
    char text[160];
};

/* The code of no error: tasks were cancelled. */
#define EKI_CANCELLED 1
/* That of EK_ERR_NOMEM between tasks: they were cancelled, and none has failed.
 */
#define EKI_TASKS_STAY 1

/* Whether all messages have fitted so far; see refusal.c. */
enum eki_refused {
    EKI_FITS,
    EKI_REFUSING, /* somebody writes why one did not */
    EKI_NOTED,    /* ... has written it */
    EKI_BREAKS    /* phases are over at once */
};

/* What the tasks of a process took. */
struct eki_load {
    uint64_t work_ns; /* all of them */
    uint64_t most_ns; /* those of the worker that ran most */
    uint64_t task_ns; /* the longest */
};

struct eki_node_words {
    /* Written by the server of the lowest rank. */
    _Alignas(EKI_LINE) _Atomic uint64_t announced;
    struct eki_error announced_error; /* before announced, both ... */
    struct eki_load load;             /* ... of the last process */
    _Atomic uint64_t hush; /* phase: no request leaves, see detect.c */

    /* Written by any worker or server of the node, rarely. */
    _Alignas(EKI_LINE) _Atomic uint64_t stop[2]; /* start no task */
    _Atomic uint64_t mail[2];                    /* tasks travel: poll */
    _Atomic uint64_t error[2];                   /* somebody has an error */
    _Atomic uint64_t mismatch[2];                /* signatures differ */
    _Atomic uint64_t cancelled[2];               /* tasks were */
    _Atomic uint64_t stalled;
    _Atomic int told_order; /* that numbers descend: once */

    /* Written once, by the server that refuses a message or hears that one was
     * refused; then EKI_BREAKS, by the server that speaks for the node. */
    _Atomic int refused;      /* enum eki_refused */
    struct eki_error refusal; /* before EKI_NOTED */

    /* Written by all servers of the node: the rank that was stepped last. */
    _Alignas(EKI_LINE) _Atomic int polled;
    /* Written by whoever wants to know that no worker of the node has anything:
     * each of them answers when it waits, and looks here each time. */
    _Alignas(EKI_LINE) _Atomic uint64_t roll;

    /* Written by whoever draws from the counter on the node of rank 0: the
     * next number. */
    _Alignas(EKI_LINE) _Atomic uint64_t draw;

    /* The stock of the node (protocol/stock.h), in seeds; cumulative.  Written
     * by whoever takes: */
    _Alignas(EKI_LINE) _Atomic uint64_t stock_taken;
    _Atomic uint64_t stock_copied;
    /* ... by the server that fills: */
    _Alignas(EKI_LINE) _Atomic uint64_t stock_filled;
    _Atomic uint64_t stock_drawn; /* nothing more comes in this phase */
    /* ... by a worker that lets its server draw, then by that server. */
    _Atomic uint64_t stock_drawing; /* a rank draws for the node */
};

/* An error of each of two phases, by parity. */
struct eki_errors {
    _Atomic uint64_t failed[2]; /* phase of error[] */
    struct eki_error error[2];
};

/* Written by the thread that enters and leaves, and by the server. */
struct eki_rank_words {
    _Alignas(EKI_LINE) _Atomic uint64_t left; /* last phase it has left */
    struct eki_deque_shared deque; /* of its server; written by it alone */
    struct eki_errors errors;
    /* Where the end is not counted (detect.h); written by the server.  What is,
     * or was, open; whether tasks have left since the last vote, which who
     * votes takes back. */
    _Atomic uint64_t opened, closed, gave;

    /* What the rank does with the collection, for others to look at (look.h).
     * Written by the thread that calls; the last two by the rank's lookout. */
    _Alignas(EKI_LINE) _Atomic uint64_t called; /* when and what, see look.h */
    _Atomic int64_t iteration;
    _Atomic uint64_t process;  /* a number that no other process has */
    _Atomic uint64_t alive_ms; /* when it looked last; system clock */
    _Atomic uint64_t ahead_ns; /* by which that is ahead of its own clock */

    /* While somebody watches (headway.h); written by the thread that enters.
     * Of its workers: tasks executed when a process began, by parity, and
     * created before the seeds of this one. */
    _Atomic uint64_t ran[2], made;
};

/*
 * Written by the owner; before the team starts, and in a restore, by the thread
 * that enters.  Of a worker without thread whoever stands in for it stores
 * created, executed and idle; a delivery takes idle back.
 */
struct eki_worker_words {
    _Alignas(EKI_LINE) _Atomic uint64_t phase;
    _Atomic uint64_t signature[2];      /* of phases, as above */
    _Atomic uint64_t created, executed; /* cumulative */
    _Atomic uint64_t idle;              /* phase in which it is idle now */
    _Atomic uint64_t roll;              /* that it has answered */
    _Atomic int64_t away_ns; /* of what it shows, for a task, see away.h */
    struct eki_deque_shared deque;
    struct eki_errors errors;
    /* What its tasks took in processes, by parity, all and the longest, when it
     * is idle. */
    _Atomic uint64_t work_ns[2], task_ns[2];
    _Atomic uint64_t runs_ns; /* how long such a task runs; 0: not known */
    /* Written by thieves, where the scheme wants to know: the local number + 1
     * of the last one. */
    _Atomic int robber;
    _Atomic uint64_t left_ns; /* what it has left, while somebody watches */
};

/* A word, for the eye only, or to be printed. */
static inline unsigned long long eki_glance(const _Atomic uint64_t *word)
{
    /* relaxed: two looks see the same, or something has moved. */
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* A word that is set to the phase it speaks of. */
static inline bool eki_is_set(const _Atomic uint64_t *word, uint64_t phase)
{
    /* relaxed: a hint to act on; what it announces is ordered elsewhere. */
    return atomic_load_explicit(word, memory_order_relaxed) == phase;
}

/* Whether a worker has nothing to do, as far as it knows. */
static inline bool eki_is_idle(const struct eki_worker_words *words,
                               uint64_t phase)
{
    /* acquire: pairs with the release in eki_worker_note_idle(): errors that
     * its rank has set on entering. */
    return atomic_load_explicit(&words->idle, memory_order_acquire) == phase;
}

#endif
