/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter: the shared counter, the users' own baseline (nxtval): seeds are
 * numbered over the job, a worker draws the next number and fetches that seed
 * from its holder.
 *
 *     ranks -> rank 0     SEEDS    how many seeds, and whether they are one run
 *     rank 0 -> ranks     TABLE    where each rank's numbers begin, in pieces;
 *                                  empty: the counter does not open
 *     rank -> rank 0      DRAW     the next numbers, from other nodes
 *     rank 0 -> rank      NUMBER   the first of them, and how many
 *     rank -> holder      FETCH    the seed of a number
 *     holder -> rank      FETCHED  that seed, and copies of those behind it
 *
 * A worker that runs copies fetches those behind them meanwhile.  An answer
 * that comes when the phase is over is dropped: it has copies alone.
 *
 * A draw takes a chunk of numbers, which its worker runs in order; DRAW and
 * FETCH say of how many.  Who has short tasks draws several from another node,
 * and the next ones before it runs the last.
 *
 * If draws are guided, a node draws as what is left tells: stock.h.
 *
 * Numbers are drawn from a word of the node of rank 0, from elsewhere by a
 * message.  Seeds of a rank that are one run of indices need not be fetched.
 * The seeds lie where they were added, and are not written, until the phase
 * ends: who has a copy runs it only if it draws the number.
 */
#ifndef EKI_PROTOCOL_COUNTER_H
#define EKI_PROTOCOL_COUNTER_H

#include "engine/engine.h"

/* Where a worker stands in drawing a seed. */
enum eki_draw {
    EKI_DRAW_FREE,   /* may draw */
    EKI_DRAW_ASK,    /* the server shall ask for a number */
    EKI_DRAW_STUCK,  /* `number` is there, but no room, or, when the phase was
                        stopped, not its seed: the server shall look */
    EKI_DRAW_ASKED,  /* it has asked */
    EKI_DRAW_NUMBER, /* `number` is there */
    EKI_DRAW_OVER    /* all seeds are drawn */
};

/* What becomes of the seeds that a worker wants copies of. */
enum eki_fetch {
    EKI_FETCH_FREE, /* it may want some */
    EKI_FETCH_WANT, /* the server shall fetch `wanted_from` */
    EKI_FETCH_SENT, /* ... has */
    EKI_FETCH_HERE  /* they are in the other buffer */
};

#define EKI_SEEDS_UNKNOWN -2

/* Where draws are guided, restored seeds are numbered class by class over all
 * ranks, the longest first.  Where each task is drawn by itself, ranks that
 * poll between tasks answer sooner if short ones run among the long ones.  A
 * class has tasks of up to four times the same duration, and the last one all
 * shorter ones. */
#define EKI_SEED_CLASSES 4

/* What rank 0 tells of the seeds of a rank, or of those of a class. */
struct eki_seeds {
    int64_t first; /* number of the first one */
    /* What they take, with all whose numbers are larger, in ns; 1 each where
     * that is not known. */
    uint64_t work;
    /* All seeds are one run of indices from INDEX on: no need to fetch. */
    int64_t index;
    uint64_t number;  /* of the id of the first index */
    int32_t function; /* -1: fetch; EKI_SEEDS_UNKNOWN: not told yet */
    int32_t reserved;
};

/* Where somebody was who draws the seeds of a rank, roughly in turn. */
struct eki_cursor {
    const unsigned char *at; /* a slot, or NULL: begin anew */
    int64_t first;           /* number of its first task in the rank */
    int here;                /* worker that holds it */
};

/* A worker's side; the first one's is the server's where it fills a stock. */
struct eki_drawer {
    /* Written by the worker and the server in turn: whose turn it is, the
     * state says. */
    _Alignas(EKI_LINE) _Atomic int state; /* enum eki_draw */
    _Atomic int64_t number;               /* that was drawn ... */
    int64_t end;                          /* ... and the end of its chunk ... */
    int chunk;                            /* of so many */
    /* Likewise, by the state of the fetch. */
    _Atomic int fetch;   /* enum eki_fetch */
    int wanted;          /* so many at least, if there is room ... */
    int64_t wanted_from; /* ... from this number on */
    int64_t brought;     /* so many came */
    /* Written by the thread that enters; when the phase was stopped, by the
     * worker or whoever stands in for it. */
    const unsigned char *first, *last; /* seeds it holds */
    bool has_ranges;                   /* with ranges among them */
    /* Written by the worker; reset by the thread that enters. */
    int buffer;                  /* which of two has the copies ... */
    int64_t copied_from, copied; /* ... from this number on; so many */
    struct eki_cursor cursor;
    uint64_t asked_at; /* the chunk that is run, or comes, was wanted */
};

/* What another rank wants. */
struct eki_wish {
    int rank, worker;
    int64_t number; /* to fetch; -1: a draw */
    int chunk;      /* seeds from there on */
};

/* One rank's view; written by the thread that enters, then by the server. */
struct eki_counter {
    struct eki_protocol protocol;
    struct eki_seeds *table; /* [classes][size], and one for the end */
    struct eki_seeds own[EKI_SEED_CLASSES]; /* `first`: how many */
    int classes;                            /* of seeds, in this phase */
    int64_t sorted;  /* seeds here that are numbered as the lineup has them */
    int64_t kept;    /* from this number on cancelled where they lie, by who did
                        it; -1: none */
    int64_t *starts; /* [workers_here + 1]: first seeds of workers */
    struct eki_drawer *drawers; /* [workers_here] */
    unsigned char *copies;      /* two of each; NULL: nobody has fetched */
    int chunk;                  /* numbers that one draw takes */
    bool is_guided;             /* ... at least, a part of what is left */
    bool has_stock; /* workers take from it; set before `is_ready` */
    bool is_used;   /* by this rank in this phase */
    bool seeds_sent;
    _Atomic bool is_ready; /* the table is complete */
    _Atomic bool is_void;  /* there will be none: seeds stay where they are */
    struct eki_cursor cursor; /* of the server */
    int known;   /* entries heard: of SEEDS (rank 0), of TABLE (others) */
    int tell;    /* rank 0: rank to tell next ... */
    int tell_at; /* ... from this entry on */
    uint64_t stock_free;     /* seeds of the stock that were copied, and those
                                before them */
    const void *passed;      /* seed of the stock that goes on; NULL: none */
    struct eki_queue wishes; /* struct eki_wish */
    /* Written by workers that want something and by the server: what is not
     * sent yet.  Away from what every step reads. */
    _Alignas(EKI_LINE) _Atomic int wants;
};

enum {
    EKI_KIND_SEEDS = EKI_KIND(EKI_CHANNEL_COUNTER), /* struct eki_seeds */
    EKI_KIND_TABLE, /* struct eki_seeds of ranks; none: nothing can be drawn */
    EKI_KIND_DRAW,
    EKI_KIND_NUMBER,
    EKI_KIND_FETCH,
    EKI_KIND_FETCHED /* slots, which are copies */
};

static inline void eki_drawer_set(struct eki_drawer *drawer,
                                  enum eki_draw state)
{
    /* release: pairs with the acquires of worker and server: `number`. */
    atomic_store_explicit(&drawer->state, (int)state, memory_order_release);
}

/* Leave NUMBER where the worker, or the server, finds it in STATE. */
static inline void eki_drawer_set_number(struct eki_drawer *drawer,
                                         int64_t number, enum eki_draw state)
{
    /* relaxed: ordered by the release of the state. */
    atomic_store_explicit(&drawer->number, number, memory_order_relaxed);
    eki_drawer_set(drawer, state);
}

static inline void eki_drawer_set_fetch(struct eki_drawer *drawer,
                                        enum eki_fetch fetch)
{
    /* release: pairs with the acquires of worker and server: what is wanted,
     * and what came. */
    atomic_store_explicit(&drawer->fetch, (int)fetch, memory_order_release);
}

/* How many seeds from NUMBER of ENTRY on are here by now, EKI_BATCH_MAX at
 * most, or can be made; if none is, DRAWER fetches them. */
int64_t eki_drawer_look(struct eki_counter *counter, struct eki_drawer *drawer,
                        int entry, int64_t number);
/* Seed NUMBER, of ENTRY, which is here, to SLOT. */
void eki_drawer_fill(const struct eki_counter *counter,
                     struct eki_drawer *drawer, int entry, int64_t number,
                     struct eki_slot *slot);
/* Who uses copies fetches WANTED behind them, or more, of the same ENTRY,
 * unless each number is fetched by itself. */
void eki_drawer_fetch_ahead(struct eki_counter *counter,
                            struct eki_drawer *drawer, int entry,
                            int64_t number, int64_t wanted);
/* The server, whose turn it is where the worker is stuck: what was drawn goes
 * on to another rank if this one is out of memory, else the worker tries again.
 * False: no buffer. */
bool eki_drawer_pass(struct eki_counter *counter, struct eki_drawer *drawer);
/* Likewise what has come for it, from the next number on, and was not kept. */
bool eki_drawer_pass_fetched(struct eki_counter *counter,
                             struct eki_drawer *drawer,
                             const struct eki_message *message);
/* Let the server ask for CHUNK numbers, for WORKER. */
void eki_drawer_ask(struct eki_counter *counter, struct ek_worker *worker,
                    struct eki_drawer *drawer, int64_t chunk);

/* The worker has nothing to do (engine/protocol.h, seek). */
enum eki_sought eki_drawer_seek(struct eki_counter *counter,
                                struct ek_worker *worker, uint64_t now);

extern const struct eki_protocol_ops eki_counter_ops;

/* 160 bytes for each rank, 128 for each worker here; as much as two messages
 * for each once one has fetched. */
ek_status eki_counter_add(struct eki_engine *engine);

/* A broken invariant in words, or NULL; while nobody steps the engine. */
const char *eki_counter_check(const struct eki_engine *engine);

/* The counter of a rank; NULL: it has none. */
static inline const struct eki_counter *
eki_counter_of(const struct eki_engine *engine)
{
    return (const struct eki_counter *)eki_engine_protocol(engine,
                                                           &eki_counter_ops);
}

#endif
