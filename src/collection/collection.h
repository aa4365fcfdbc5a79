/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collection: the public object.  Checks arguments, agrees on options, numbers
 * seeds, and ties engine, team, report and record together.
 *
 * Calls.  Every collective call that enters a phase carries a signature: a hash
 * of the registered functions, the options and the calls so far.  Ranks that
 * differ end the phase together and find out what differs; then the calls so
 * far are forgotten, and functions and options may be mended.
 */
#ifndef EKI_COLLECTION_H
#define EKI_COLLECTION_H

#include "balance/course.h"
#include "data/data.h"
#include "protocol/schemes.h"
#include "rebalance/rebalance.h"
#include "record/record.h"
#include "report/report.h"
#include "team/lookout.h"
#include "team/team.h"
#include "tiles/tiles.h"

enum eki_state {
    EKI_STATE_READY, /* ek_process() may come */
    EKI_STATE_RAN,   /* ek_process() has run: a restore is due */
    EKI_STATE_OPEN,  /* an iteration is open */
    EKI_STATE_VOID,  /* ek_begin() has opened what others have failed in */
    EKI_STATE_BROKEN /* communication has failed: only ek_destroy() is legal */
};

/* Calls that all ranks must make alike, in the same order. */
enum eki_call {
    EKI_CALL_NONE,
    EKI_CALL_PROCESS,
    EKI_CALL_BEGIN,
    EKI_CALL_RESTORE,
    EKI_CALLS
};

/* Deals seeds to the workers of the rank and numbers them. */
struct eki_dealer {
    uint64_t next_id, first_id, last_id; /* next_id wraps at last_id */
    int next_worker;
};

/* Take N numbers in a row; returns the first. */
static inline uint64_t eki_dealer_take(struct eki_dealer *dealer, uint64_t n)
{
    if (EKI_UNLIKELY(n > dealer->last_id - dealer->next_id))
        dealer->next_id = dealer->first_id;
    uint64_t first = dealer->next_id;
    dealer->next_id += n;
    return first;
}

/*
 * Seeds take the lower half of the numbers, spawned tasks the upper.  A
 * sixteenth of the seeds' is for other threads than the home thread, and one
 * for what tasks of other collections add.  After some 10^11 seeds the numbers
 * start anew; then two tasks may have one id.
 */
#define EKI_SEED_NUMBERS (EKI_NUMBERS / 2)
#define EKI_INLET_NUMBERS (EKI_SEED_NUMBERS / 16 * 15)
#define EKI_OTHER_NUMBERS (EKI_SEED_NUMBERS / 16 * 14)

/*
 * Seeds that tasks of other collections add for one worker of this one.  The
 * worker of the same number in the running collection adds to it, and where
 * there are less inlets than workers, others do.
 */
struct eki_inlet {
    _Alignas(EKI_LINE) pthread_mutex_t mutex; /* of what follows */
    struct eki_dealer dealer;
    struct eki_local seeds; /* emptied by eki_collection_gather() */
};

struct eki_wrapped;

/* Callbacks of data that travels: all calls, and the bodies that wait for it.
 */
struct eki_callbacks {
    pthread_mutex_t mutex; /* while one of them runs, and of these: */
    uint64_t ns;           /* in all of them so far */
    uint64_t since, began; /* of that one: it was called, it runs */
    uint64_t before;       /* ns before this iteration */
    struct eki_wrapped *wrapped;
};

struct ek_collection {
    struct eki_settings settings;
    struct eki_fabric *fabric;
    struct eki_node_memory segment;
    struct eki_topology *topology;
    struct eki_engine *engine;
    struct eki_team *team;
    struct eki_report *report;
    struct eki_recording *recording; /* NULL: none */
    struct eki_affinity affinity;
    struct eki_lookout lookout;      /* says what this rank waits for */
    struct eki_callbacks *callbacks; /* NULL: no function has data */
    enum eki_state state;
    bool wants_report; /* whether the open iteration ends with a report */
    bool has_chosen;   /* whether the number of workers is the library's */
    bool is_checked;   /* options.check, resolved */
    _Atomic bool has_descended; /* numbers, in a pull loop: said once */
    bool may_fetch;             /* ek_next() has nothing to look at */
    bool is_pulled; /* whether the program's own threads fetch its tasks */

    /* Adding.  The thread that made the collection adds without a lock to the
     * seeds of the workers; all others add to FOREIGN under the mutex. */
    const void *home_thread;
    struct eki_dealer home;  /* written by the home thread alone */
    struct eki_dealer other; /* written by other threads, under the mutex */
    size_t payload_limit;    /* of payloads that need no look */
    pthread_mutex_t mutex;
    struct eki_local foreign;  /* emptied by eki_collection_gather() */
    struct eki_inlet *inlets;  /* of each worker of the rank; NULL: not made */
    _Atomic bool has_arrivals; /* something was added to one of them */

    /* Hashes of what must be the same on all ranks; written by
     * one thread at a time while no iteration is open. */
    uint64_t functions, options; /* of their present names and values */
    uint64_t history;            /* of the calls so far */
    enum eki_call last_call;     /* for a mismatch */
    int64_t last_value;          /* -1: none */
    bool is_behind;    /* others have failed in an iteration that this rank has
                          not called for yet, because its restore failed */
    int64_t iteration; /* of the next ek_process() */
    struct eki_course course;   /* of auto */
    double restore_s;           /* of the last ek_restore() */
    bool is_retained;           /* tasks lie where they ran last */
    ek_restore_policy restored; /* last policy; EK_RESTORE_DEFAULT: none yet */
    ek_restore_policy chosen;   /* ... and what was done where it was auto */
    uint64_t left_ns;           /* when ek_process() was left; 0: never */
};

/* A hash of the options that must be the same on all ranks. */
uint64_t eki_options_hash(const struct eki_settings *settings);
/* Find the first option in which ranks differ; collective. */
ek_status eki_options_compare(struct eki_fabric *fabric,
                              const struct eki_settings *settings);
/* Note a call that must be made alike on all ranks, with the VALUE of its
 * argument, or -1. */
void eki_collection_note(ek_collection *tasks, enum eki_call call,
                         int64_t value);
/* Hash of everything that must be the same on all ranks. */
uint64_t eki_collection_signature(const ek_collection *tasks);
/* That a rank stopped fetching is no error where nothing was left to cancel, or
 * a task has called ek_stop(), of which the rank may not have heard; otherwise
 * the error's text tells how many tasks were cancelled.  Collective where this
 * is the error of the phase; else it does nothing. */
void eki_collection_excuse(const ek_collection *tasks, struct eki_error *error);
/* Turn the error of a phase into status and message; collective. */
ek_status eki_collection_error(ek_collection *tasks,
                               const struct eki_error *error);

/* Say a failure that a public call returns, and end the job where the options
 * want that.  TASKS may be NULL. */
EKI_COLD ek_status eki_collection_fail(const ek_collection *tasks,
                                       ek_status status);
/* Likewise, of a call that may come millions of times. */
EKI_COLD ek_status eki_collection_fail_often(const ek_collection *tasks,
                                             ek_status status);

/* Whether there is a collection, and no iteration of it open: else ADVICE ends
 * the sentence. */
ek_status eki_collection_check_idle(const ek_collection *tasks,
                                    const char *call, const char *advice);
/* Whether there may be a task of FUNCTION with a payload of BYTES; NAME is that
 * of the collection, or empty. */
ek_status eki_collection_check_task(const struct eki_engine *engine,
                                    const char *call, const char *name,
                                    ek_function function, size_t bytes);
/* Whether one may be added to TASKS now. */
ek_status eki_collection_check_add(const ek_collection *tasks, const char *call,
                                   ek_function function, size_t bytes);
/* Whether CALL, which makes something of a communicator, may use MPI. */
ek_status eki_collection_check_mpi(const char *call);
/* Whether a report has a struct_bytes that says so, as INIT sets it. */
ek_status eki_collection_check_bytes(const char *call, size_t bytes,
                                     const char *init);

/* What a public call returns. */
static inline ek_status eki_collection_outcome(const ek_collection *tasks,
                                               ek_status status)
{
    return EKI_LIKELY(status == EK_OK) ? EK_OK
                                       : eki_collection_fail(tasks, status);
}

static inline ek_status eki_collection_outcome_often(const ek_collection *tasks,
                                                     ek_status status)
{
    return EKI_LIKELY(status == EK_OK)
               ? EK_OK
               : eki_collection_fail_often(tasks, status);
}

/* The checking mode: say what the thread level forbids; warn of a payload that
 * looks like a pointer; EK_ERR_THREAD where another thread has worker HERE. */
void eki_collection_check_level(const ek_collection *tasks);
void eki_collection_check_payload(const ek_collection *tasks, const char *call,
                                  ek_function function, const void *payload,
                                  size_t bytes);
/* Worker HERE has fetched TASK, of the size of a number: say, once on a node,
 * that they do not ascend. */
EKI_COLD void eki_collection_check_order(ek_collection *tasks, int here,
                                         const ek_task *task);
ek_status eki_collection_check_thread(const ek_collection *tasks, int here,
                                      const char *call);

/* A public call: its name and its frame. */
struct eki_caller {
    const char *name;
    const void *frame;
};

#if defined(__GNUC__)
#define EKI_CALLER(name) ((struct eki_caller){name, __builtin_frame_address(0)})
#else
#define EKI_CALLER(name) ((struct eki_caller){name, NULL})
#endif

/* EK_ERR_STATE where CALL came inside an active parallel region. */
ek_status eki_collection_check_region(const char *call);
/* Whether this process may open a phase of TASKS now: one at a time.  Where one
 * is open, because tasks were left, the job ends. */
ek_status eki_collection_claim(const ek_collection *tasks,
                               struct eki_caller caller);
void eki_collection_release(void);
/* Claim it, and say that this rank is in CALLED.  Inside a parallel region only
 * the first thread goes on, which hears that this is WRONG, so that the other
 * ranks hear of the mistake; and nobody where WRONG is NULL. */
ek_status eki_collection_start(ek_collection *tasks, struct eki_caller caller,
                               enum eki_called called, ek_status *wrong);
/* Whether this process has one open. */
bool eki_collection_is_busy(void);

/* Let tasks use the stores of tiles that there are. */
ek_status eki_collection_join_stores(ek_collection *tasks);
/* Destroy the stores that the program has left, before its engine. */
void eki_collection_free_stores(ek_collection *tasks);
/* Whether CALL comes between iterations, and anything can be agreed on.  Inside
 * of one nothing can: tasks call, of any worker, and on some ranks more than on
 * others. */
ek_status eki_collection_check_between(const ek_collection *tasks,
                                       const char *call);
ek_status eki_collection_check_tile(const ek_tiles *tiles, int64_t tile,
                                    const char *call);

enum {
    EKI_DATA_LINE_BYTES = 256
};

/* The task that WORKER has taken, of a function with data, waits for its input;
 * false: it has failed, or the phase ends in an error. */
bool eki_collection_begin_data(struct ek_worker *worker);
/* Append to LINE, of EKI_DATA_LINE_BYTES, what data FUNCTION has. */
void eki_collection_describe_data(const ek_collection *tasks, int function,
                                  char *line);
/* After the engine. */
void eki_collection_free_callbacks(ek_collection *tasks);

/* End the job if tasks that this thread ran were left by longjmp(), as a public
 * call finds that comes later. */
EKI_COLD void eki_collection_check_left(const ek_collection *tasks,
                                        struct eki_caller caller);

/* Restore, unless STATUS is an error already; WHOLE is what was done.  The
 * caller has claimed the process. */
ek_status eki_collection_restore(ek_collection *tasks, ek_restore_policy policy,
                                 ek_status status, ek_restore_report *whole);

/* Give the dealers their numbers. */
void eki_collection_number(ek_collection *tasks);
/* Hand the seeds that other threads have added to the workers; no thread may
 * add meanwhile. */
ek_status eki_collection_gather(ek_collection *tasks);

/* Make an inlet for each worker; free those that were made. */
ek_status eki_inlets_create(ek_collection *tasks);
void eki_inlets_destroy(ek_collection *tasks);
/* Hand what lies in them to the workers; forget it.  No thread may add
 * meanwhile. */
ek_status eki_inlets_gather(ek_collection *tasks);
void eki_inlets_clear(ek_collection *tasks);

/* The steal policy of the next or the open iteration, with its chunk, as the
 * options say, and as it is. */
int eki_collection_steal_set(const ek_collection *tasks);
int eki_collection_steal(const ek_collection *tasks);
/* How workers without work get some in it. */
const struct eki_scheme *eki_collection_scheme(const ek_collection *tasks);
/* Enter a phase, of which the caller says kind, scheme and balance.  An error
 * PREPARED that only this rank knows makes it an error of all ranks. */
void eki_collection_enter(ek_collection *tasks, struct eki_phase *phase,
                          ek_status prepared);

/* Rank 0 tells how the collection will run, if somebody asks to be told. */
void eki_collection_say_start(const ek_collection *tasks);

/* Where DEBUG is passed on, on every rank: an iteration that begins, one that
 * has been left, a restore. */
void eki_collection_trace_begin(const ek_collection *tasks,
                                ek_steal_policy steal);
void eki_collection_trace_end(const ek_collection *tasks, uint64_t left_ns,
                              ek_status status);
void eki_collection_trace_restore(const ek_collection *tasks,
                                  const ek_restore_report *whole,
                                  ek_status status);

/* Tasks that this rank holds: seeds before an iteration, the log after it. */
int64_t eki_collection_held(const ek_collection *tasks);

#endif
