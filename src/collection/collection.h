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
#include "collection/calls.h"
#include "data/data.h"
#include "protocol/schemes.h"
#include "rebalance/rebalance.h"
#include "record/hints.h"
#include "record/replaying.h"
#include "report/report.h"
#include "team/team.h"
#include "tiles/tiles.h"

#include <evenkeel_loop.h>
#include <evenkeel_save.h>
#include <evenkeel_tool.h>

#include <pthread.h>

enum eki_state {
    EKI_STATE_READY, /* ek_process() may come */
    EKI_STATE_RAN,   /* ek_process() has run: a restore is due */
    EKI_STATE_OPEN,  /* an iteration is open */
    EKI_STATE_VOID,  /* ek_begin() has opened what others have failed in */
    EKI_STATE_BROKEN /* communication has failed: only ek_destroy() is legal */
};

/* Callbacks of data that travels: all calls, and the bodies that wait for it.
 */
struct eki_callbacks {
    pthread_mutex_t mutex; /* while one of them runs, and of these: */
    uint64_t ns;           /* in all of them since an iteration was opened */
    uint64_t since, began; /* of that one: it was called, it runs */
    ek_task_fn **bodies;   /* of functions with data, by function */
    bool has_blocks;       /* a function has blocks */
    ek_owner_fn *owner;    /* NULL: who loads a task becomes its home */
    void *owner_context;
};

/* A tool that hears of tasks (tool.c). */
struct eki_watch {
    ek_tool tool;
    ek_task_fn **bodies; /* of functions that have one, by function */
    struct eki_fetched { /* by the pull loop of a worker, and not ended yet */
        bool is_open;
        ek_function function;
        uint64_t id;
    } fetched[]; /* [workers_here] */
};

struct eki_restores {
    struct eki_course course; /* of auto */
    double seconds;           /* of those since the last iteration */
    int64_t discarded;        /* tasks, when an iteration has paused */
    int64_t parts;            /* that the number of the iteration counts */
    bool is_retained;         /* tasks lie where they ran last */
    bool leaves_data;         /* data does not follow in this one */
    bool continues;    /* the next restore goes on with what was cancelled */
    bool ends_parts;   /* ... ends an iteration that had parts */
    bool may_be_asked; /* by options or ek_stop_at(): all ranks know */
    bool is_asked;     /* the last iteration was stopped by these */
    int stopped;       /* how it was: EKI_RECORD_STOPPED ... */
    ek_restore_policy policy; /* of the last; EK_RESTORE_DEFAULT: none yet */
    ek_restore_policy chosen; /* ... and what was done where it was auto */
};

/* Deals seeds to the workers of the rank and numbers them. */
struct eki_dealer {
    uint64_t next_id, first_id, last_id; /* next_id wraps at last_id */
    int next_worker;
};

/* Seeds that are added by whoever holds the mutex. */
struct eki_inlet {
    _Alignas(EKI_LINE) pthread_mutex_t mutex; /* of what follows */
    struct eki_dealer dealer;
    struct eki_local seeds;
};

/*
 * The thread that made the collection adds without a lock to the seeds of the
 * workers; all others add to FOREIGN, and tasks of other collections to an
 * inlet for each worker of this one: that of the number of their own worker,
 * and where there are less inlets than workers, of another.
 */
struct eki_adding {
    const void *home_thread;
    struct eki_dealer home;    /* written by the home thread alone */
    size_t payload_limit;      /* of payloads that need no look */
    struct eki_inlet foreign;  /* emptied by eki_collection_gather(), too */
    struct eki_inlet *inlets;  /* [workers_here]; NULL: not made */
    _Atomic bool has_arrivals; /* something was added to one of them */
};

/* Hashes of what must be the same; written by one thread at a time while no
 * iteration is open. */
struct eki_agreed {
    uint64_t functions, options; /* of their present names and values */
    uint64_t ranges;             /* calls of ek_set_range() so far */
    uint64_t calls;              /* others so far */
    enum eki_called last_call;   /* for a mismatch */
    int64_t last_value;          /* -1: none */
    bool is_behind; /* others have failed in an iteration that this rank has
                       not called for yet, because its restore failed */
};

/* What ek_for() keeps in its collections. */
struct eki_loop {
    MPI_Comm comm;
    ek_for_fn *fn;
    void *context;       /* of the present call */
    ek_collection *next; /* of another communicator or function */
};

/* Memory of the program that a node shares. */
struct eki_shared {
    struct eki_node_memory segment;
    unsigned char **at; /* [size] of each rank; NULL: no memory */
};

/* Saves, and those that come by themselves: checkpoints. */
struct eki_saves {
    ek_save_fn *write; /* what the program adds to a save; NULL: nothing */
    void *context;
    char *loaded; /* how names of its files begin, of the save that was loaded;
                     owned; NULL: none was */
    int64_t loaded_iteration;           /* without parts */
    struct eki_checkpoint_option every; /* of checkpoints */
    int64_t last_iteration;             /* before which one was written ... */
    uint64_t last_ns;                   /* ... and when */
    bool is_due;                        /* one is, as all ranks know */
    bool is_paused; /* the iteration that is open, for one */
    bool is_told;   /* that pull loops have none in their middle */
    struct eki_saved {
        int64_t iteration; /* that came next */
        double seconds;
        int64_t failed; /* saves */
    } spent;
};

/* What an iteration that has paused for checkpoints had counted until then. */
struct eki_earlier {
    int64_t iteration;
    uint64_t entered_ns; /* when the first was entered */
    uint64_t stay_ns;    /* in all of them */
    int64_t across, in_vain;
    struct eki_node_counts sought;
    struct eki_histogram answered;
    struct eki_data_counts data;
    uint64_t data_ns;                      /* of callbacks */
    struct eki_counts *counts;             /* [workers_here] */
    struct eki_function_counts *functions; /* [workers_here][functions] */
};

/* What few programs ask for. */
struct eki_parts {
    struct eki_watch *watch;       /* NULL: no tool hears of its tasks */
    struct eki_gathered *gathered; /* NULL: no results were gathered yet */
    struct eki_hints *hints; /* until the first iteration ends; NULL: none */
    struct eki_replaying *replaying; /* NULL: no record is replayed */
    struct eki_tracking *tracking;   /* NULL: no timeline is wanted */
    struct eki_histogram answered;   /* of the engine */
    struct eki_rma *exported; /* memory; NULL: no iteration needs it, or has it
                               */
    bool exports_in_vain;     /* MPI has none that does */
    struct eki_saves saves;
    struct eki_earlier *earlier; /* NULL: none has paused */
};

struct ek_collection {
    struct eki_settings settings;
    struct eki_fabric *fabric;
    struct eki_node_memory segment;
    struct eki_shared shared;
    struct eki_topology *topology;
    struct eki_engine *engine;
    struct eki_team *team;
    struct eki_report *report;
    struct eki_recording *recording; /* NULL: none */
    struct eki_affinity affinity;
    struct eki_lookout lookout;      /* says what this rank waits for */
    struct eki_callbacks *callbacks; /* NULL: no function has data */
    struct eki_parts parts;
    enum eki_state state;
    bool wants_report; /* whether the open iteration ends with a report */
    bool has_chosen;   /* whether the number of workers is the library's */
    _Atomic bool has_descended; /* numbers, in a pull loop: said once */
    bool may_fetch;             /* ek_next() has nothing to look at */
    bool is_pulled; /* whether the program's own threads fetch its tasks */

    struct eki_adding seeds;
    struct eki_agreed agreed;
    int64_t iteration; /* of the next ek_process() */
    struct eki_restores restores;
    struct eki_loop loop;
    uint64_t left_ns; /* when ek_process() was left; 0: never */
};

/* Broken invariant as text, or NULL; for whoever has claimed the process, or
 * may not be disturbed by another call. */
const char *eki_collection_check(const ek_collection *tasks);

/* The topology of WORKERS [size], NULL: without memory, and what the ranks of a
 * node share, for an engine of SETUP; collective. */
ek_status eki_collection_share(ek_collection *tasks, const int *workers,
                               struct eki_setup *setup);

/* EK_ERR_ARG: an iteration needs a ring with more slots of SETUP than there may
 * be; the same on all ranks. */
ek_status eki_collection_check_ring(const ek_collection *tasks,
                                    const struct eki_setup *setup);
/* Export memory for iterations that name a policy that needs it, in an engine
 * of SETUP; collective. */
ek_status eki_collection_export(ek_collection *tasks, struct eki_setup *setup);
/* Whether an iteration of several nodes names such a policy, and there is no
 * such memory: it acts as random. */
bool eki_collection_lacks_exported(const ek_collection *tasks);
/* Rank 0 says so then, once. */
void eki_collection_check_exported(const ek_collection *tasks);

/* Let tasks use the stores of tiles that there are. */
ek_status eki_collection_join_stores(ek_collection *tasks);
/* Destroy the stores that the program has left, before its engine. */
void eki_collection_free_stores(ek_collection *tasks);
ek_status eki_collection_check_tile(const ek_tiles *tiles, int64_t tile,
                                    const char *call);

enum {
    /* A function's name and data, or a policy, and what it is. */
    EKI_DESCRIBED_BYTES = 256
};

/* The task that WORKER has taken, of a function with data, waits for its input;
 * false: it has failed, or the phase ends in an error. */
bool eki_collection_begin_data(struct ek_worker *worker);
/* Whether CALL may say something of the data of FUNCTION now. */
ek_status eki_collection_check_data(const ek_collection *tasks,
                                    const char *call, ek_function function);
/* Give tasks of FUNCTION data, by OPS that were checked but for bytes_max. */
ek_status eki_collection_set_data(ek_collection *tasks, ek_function function,
                                  const ek_data_ops *ops);
/* NULL: they have none. */
const ek_data_ops *eki_collection_data_of(const ek_collection *tasks,
                                          ek_function function);
/* Append to LINE, of EKI_DESCRIBED_BYTES, what data FUNCTION has. */
void eki_collection_describe_data(const ek_collection *tasks, int function,
                                  char *line);
/* Free what ek_shared_alloc() has made, if anything. */
void eki_collection_free_shared(ek_collection *tasks);
/* After the engine. */
void eki_collection_free_callbacks(ek_collection *tasks);

/* Take the tool of the process, if there is one. */
ek_status eki_tool_open(ek_collection *tasks);
/* Put a body that tells the tool in place of *FN, that of the next function. */
ek_status eki_tool_wrap(ek_collection *tasks, ek_task_fn **fn);
/* A pull loop: TASK, if it is one, begins; that of worker HERE ends, if one is
 * open; that of every worker does. */
void eki_tool_begin_fetched(ek_collection *tasks, int here,
                            const ek_task *task);
void eki_tool_end_fetched(ek_collection *tasks, int here);
void eki_tool_end_all(ek_collection *tasks);
void eki_tool_close(ek_collection *tasks);

/* Of a collection with a timeline, or that may have one.  It is made;
 * collective. */
ek_status eki_tracking_open(ek_collection *tasks);
/* A call begins that may run tasks, or restore; the restore is over. */
void eki_tracking_call(ek_collection *tasks);
void eki_tracking_restored(ek_collection *tasks);
/* The iteration pauses, whose phase was left then. */
void eki_tracking_paused(ek_collection *tasks, uint64_t left);
/* An iteration has ended with STATUS, the same on all ranks; collective. */
ek_status eki_tracking_left(ek_collection *tasks, uint64_t left,
                            ek_status status);
void eki_tracking_close(ek_collection *tasks);

/* Restore, unless STATUS is an error already; WHOLE is what was done.  Where
 * there are checkpoints, ranks fail together, and know whether one is due.  The
 * caller has claimed the process. */
ek_status eki_collection_restore(ek_collection *tasks, ek_restore_policy policy,
                                 ek_status status, ek_restore_report *whole);
/* Likewise, whatever options and lists of the environment say. */
ek_status eki_collection_restore_by(ek_collection *tasks,
                                    ek_restore_policy policy, ek_status status,
                                    ek_restore_report *whole);
/* Complete WHOLE for the program. */
void eki_collection_fill_restored(const ek_collection *tasks,
                                  ek_restore_report *whole);
/* The same by the options, of a rank that is bare and has run; false: nothing
 * is done, because other ranks, or a log, hear of it. */
bool eki_collection_restore_bare(ek_collection *tasks);

/* Of a collection with hints.  Whether seeds wait for the durations of an
 * earlier run; all ranks find the same. */
bool eki_collection_has_hints(ek_collection *tasks);
/* Give them these, once. */
ek_status eki_collection_apply_hints(ek_collection *tasks);
/* Collective: the first iteration has ended; rank 0 warns of what did not fit.
 */
ek_status eki_collection_end_hints(ek_collection *tasks);

/* Take the option checkpoint. */
void eki_checkpoint_set(ek_collection *tasks);
/* Whether iterations may pause for one: where time counts, what was cancelled
 * waits, and one call opens and closes them. */
bool eki_checkpoint_may_pause(const ek_collection *tasks);
/* That may be different now, or one was written: the lookout hears when the
 * next one is due. */
void eki_checkpoint_watch(ek_collection *tasks);
/* Write a checkpoint now.  Its failure is said and counted, and is none of the
 * call that wants it, but for EK_ERR_MPI.  Collective, between iterations; the
 * caller has claimed the process. */
ek_status eki_collection_checkpoint(ek_collection *tasks);
/* A phase was stopped, or ended with ERROR, or ends an iteration with parts.
 * Find out whether it has only paused (saves.is_paused), and whether the next
 * ek_process() goes on.  Collective. */
void eki_part_end(ek_collection *tasks, struct eki_error *error);
/* Write the checkpoint of an iteration that has paused, and left its phase at
 * LEFT.  Then it may be entered again.  Collective. */
ek_status eki_part_save(ek_collection *tasks, uint64_t left);
/* No pause is open any more: the iteration is over, or another ek_process()
 * goes on. */
void eki_part_give_up(ek_collection *tasks);
/* What the present iteration counted before; NULL: it has not paused. */
static inline const struct eki_earlier *
eki_part_earlier(const ek_collection *tasks)
{
    const struct eki_earlier *earlier = tasks->parts.earlier;
    return earlier && earlier->iteration == tasks->iteration ? earlier : NULL;
}
void eki_part_forget(ek_collection *tasks);
/* Of data, in the whole iteration so far. */
struct eki_data_counts eki_collection_data_counts(const ek_collection *tasks);
/* What was cancelled waits where it is, and what ran counts as done.
 * Collective. */
ek_status eki_collection_continue(ek_collection *tasks, ek_status status);

/* Whether the next iteration goes on with one of which tasks have run. */
static inline bool eki_collection_goes_on(const ek_collection *tasks)
{
    return tasks->engine->has_parts && !tasks->restores.ends_parts;
}

/* Saves before the next iteration, or in the middle of an open one. */
static inline struct eki_saved eki_collection_saved(const ek_collection *tasks)
{
    const struct eki_saved *spent = &tasks->parts.saves.spent;
    return spent->iteration == tasks->iteration
               ? *spent
               : (struct eki_saved){.iteration = tasks->iteration};
}

/* Free what ek_gather() has made, if anything. */
void eki_collection_free_gathered(ek_collection *tasks);
/* ek_process(), which tells all ranks of an error BEFORE it. */
ek_status eki_collection_process(ek_collection *tasks,
                                 ek_process_report *report,
                                 struct eki_caller caller, ek_status before);

/* The steal policy of the next or the open iteration, with its chunk, as the
 * options say. */
int eki_collection_steal_set(const ek_collection *tasks);
/* What holds of it: auto may have chosen that nobody steals. */
int eki_collection_steal_now(const ek_collection *tasks);
/* How workers without work get some in it. */
const struct eki_scheme *eki_collection_scheme(const ek_collection *tasks);
/* Enter a phase at NOW, of which the caller says kind, scheme, chunk and
 * balance.  An error PREPARED that only this rank knows makes it an error of
 * all ranks. */
void eki_collection_enter(ek_collection *tasks, struct eki_phase *phase,
                          ek_status prepared, uint64_t now);
/* Seconds from the last iteration to NOW, without restores. */
double eki_collection_outside_s(const ek_collection *tasks, uint64_t now);
/* Leave it; its team has finished. */
void eki_collection_leave(ek_collection *tasks, struct eki_error *error);

/* Rank 0 tells how the collection will run, if somebody asks to be told. */
void eki_collection_say_start(const ek_collection *tasks);

/* The steal policy of the options is another, perhaps. */
void eki_collection_note_steal(ek_collection *tasks);
/* At the end: which options that are set no steal policy has heeded. */
void eki_collection_say_unheeded(const ek_collection *tasks);

/* The start as text, for who sees the run later. */
struct eki_about {
    char text[8192];
};

/* Of rank 0; of others: none. */
void eki_collection_about(const ek_collection *tasks, struct eki_about *about);

/* Where DEBUG is passed on, on every rank: an iteration that begins, one that
 * has been left, a restore. */
void eki_collection_trace_begin(const ek_collection *tasks,
                                ek_steal_policy steal);
void eki_collection_trace_end(const ek_collection *tasks, uint64_t left_ns,
                              ek_status status);
void eki_collection_trace_restore(const ek_collection *tasks,
                                  const ek_restore_report *whole,
                                  ek_status status);

/* Whether no task lies here, nor a trace of one that ran: the rank has nothing
 * to restore, to order and to run. */
bool eki_collection_is_bare(const ek_collection *tasks);
/* Tasks that this rank holds: seeds before an iteration, the log after it. */
int64_t eki_collection_held(const ek_collection *tasks);

/* Tell the engine what options say that are lists of its schemes. */
void eki_collection_tell_lists(const struct eki_options *options,
                               struct eki_setup *setup);

#endif
