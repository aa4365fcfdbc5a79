/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * look: what one rank waits for, in words, when nothing moves any more.
 *
 * Whoever looks is no worker and not the server: it reads what they store
 * anyway, and words of the node segment.  Looks at a worker are compared: what
 * has not changed from look to look has not moved.  Each rank tells of its own
 * workers and its own server; of ranks of its node that are not there the
 * lowest tells that is; of a node that does not answer, its neighbors in the
 * tree of nodes.
 *
 * Each cause is told once per phase, and again at intervals that double.
 *
 * Threads.  One at a time looks.  Between eki_look_enter() of a phase and its
 * end the engine's own fields, its functions and the seeds of workers that have
 * begun stay as they are; whoever looks keeps the phase open meanwhile.
 */
#ifndef EKI_ENGINE_LOOK_H
#define EKI_ENGINE_LOOK_H

#include "engine/engine.h"

/* What a rank does with a collection. */
enum eki_called {
    EKI_CALLED_NOTHING,
    EKI_CALLED_CREATE,
    EKI_CALLED_PROCESS,
    EKI_CALLED_PULL,  /* from ek_begin() to ek_end() */
    EKI_CALLED_CLOSE, /* the end of both: hooks, report, record */
    EKI_CALLED_RESTORE,
    EKI_CALLED_DESTROY,
    EKI_CALLED_PLAN, /* of no collection */
    EKI_CALLED_SHARED_ALLOC,
    EKI_CALLED_TILES_CREATE,
    EKI_CALLED_TILES_FILL,
    EKI_CALLED_TILES_SYNC,
    EKI_CALLED_TILES_NORM,
    EKI_CALLED_REDUCE,
    EKI_CALLED_TILES_GATHER,
    EKI_CALLED_GATHER,
    EKI_CALLED_SAVE,
    EKI_CALLED_LOAD,
    EKI_CALLED_CHECKPOINT, /* of ek_restore(), or of ek_process() */
    EKI_CALLED_WRITE       /* the files of a save, of all three */
};

/* Whether no rank returns from a call before all are in it, and whoever waits
 * in it waits for a rank that has not come.  In calls that gather, ranks also
 * wait for the one that visits, or sorts, what has come; in those of saves for
 * one that writes or reads. */
static inline bool eki_called_is_shared(enum eki_called called)
{
    return called >= EKI_CALLED_SHARED_ALLOC &&
           called < EKI_CALLED_TILES_GATHER;
}

/* A cause that was told. */
struct eki_told {
    uint64_t next, interval;
};

/* What was seen of a worker, and since when it is the same. */
struct eki_sighting {
    int what; /* enum eki_seen (sight.h) */
    int function;
    uint64_t id;
    uint64_t executed;
    uint64_t since;
    struct eki_told told;
};

struct eki_look {
    /* Written when it is made, and when an option is set. */
    const char *name;             /* of the collection */
    int rank, size;               /* of its communicator; rank -1: not known */
    struct eki_engine *engine;    /* NULL: not made yet ... */
    struct eki_rank_words *words; /* ... nor the words of this rank */
    uint64_t stall_ns;
    uint64_t end_ns; /* who waits so long for others ends the job; 0: never */
    struct eki_sighting *workers; /* [workers_here] */
    /* What PROCESS does with another collection, " ...", appended to TEXT. */
    void (*elsewhere)(const struct eki_look *look, uint64_t process,
                      uint64_t ms, char *text, size_t bytes);

    /* Written by the thread that calls, while nobody looks. */
    enum eki_called called;
    int64_t iteration;
    bool is_new; /* nobody has looked since */

    /* Written by whoever looks. */
    bool ends;      /* it is over: this rank has waited too long for others */
    uint64_t phase; /* of the engine */
    uint64_t since; /* the call, or the phase in it, was first seen */
    uint64_t moved; /* messages that had come */
    uint64_t rolls, executed, created, unchanged_since;
    struct eki_told absent, server, waits, sums;
    struct eki_told neighbors[EKI_NEIGHBORS_MOST];
};

/* The last time that this process slept for long: somebody has stopped it, or
 * all the machine.  Others may have slept with it, so what they did not do
 * meanwhile tells nothing. */
struct eki_slept {
    uint64_t ns;                 /* 0: it never has */
    uint64_t until_ns, until_ms; /* by the clocks of eki_moment */
};

/* What whoever looks brings. */
struct eki_moment {
    uint64_t now; /* as of those who step */
    uint64_t ms;  /* eki_clock_moment_ms() */
    struct eki_slept slept;
    uint64_t served; /* when the server was stepped last */
    bool is_server;  /* nobody else steps the server meanwhile */
    bool only_first; /* worker 0 alone may step it */
};

/* Since THEN, without the time that this process slept. */
static inline uint64_t eki_awake_ns(const struct eki_moment *at, uint64_t then)
{
    uint64_t ns = eki_ns_since(then, at->now);
    return then < at->slept.until_ns ? eki_ns_since(at->slept.ns, ns) : ns;
}

/* EK_ERR_NOMEM without memory. */
ek_status eki_look_open(struct eki_look *look, struct eki_engine *engine);
void eki_look_close(struct eki_look *look);

/*
 * Word eki_rank_words.called: the moment by the clock of the process, without
 * its last bits, which say what is called and whether the rank is inside.
 */
#define EKI_CALLED_WHAT UINT64_C(0x7f)
#define EKI_CALLED_INSIDE UINT64_C(0x80)
#define EKI_CALLED_BITS (EKI_CALLED_WHAT | EKI_CALLED_INSIDE)

/* This rank is in that call from NOW on, for all of its node to see, until it
 * says that it has left. */
static inline void eki_look_enter(struct eki_look *look, enum eki_called called,
                                  int64_t iteration, uint64_t now)
{
    look->called = called;
    look->iteration = iteration;
    look->is_new = true;
    if (!look->words)
        return;
    /* relaxed, both: others read them for the eye only. */
    atomic_store_explicit(&look->words->iteration, iteration,
                          memory_order_relaxed);
    atomic_store_explicit(&look->words->called,
                          (now & ~EKI_CALLED_BITS) | EKI_CALLED_INSIDE |
                              (uint64_t)called,
                          memory_order_relaxed);
}

static inline void eki_look_leave(struct eki_look *look, uint64_t now)
{
    if (look->words)
        /* relaxed: as above. */
        atomic_store_explicit(&look->words->called,
                              (now & ~EKI_CALLED_BITS) | (uint64_t)look->called,
                              memory_order_relaxed);
}

/* All causes are told once more. */
void eki_look_forget_told(struct eki_look *look);
/* In a phase, from entering to leaving it. */
void eki_look_at_phase(struct eki_look *look, const struct eki_moment *at);
/* In a call, outside of a phase. */
void eki_look_at_call(struct eki_look *look, const struct eki_moment *at);

/* Append what PROCESS is inside of here, if it is, "; ...". */
void eki_look_append_inside(const struct eki_look *look, uint64_t process,
                            uint64_t ms, char *text, size_t bytes);

#endif
