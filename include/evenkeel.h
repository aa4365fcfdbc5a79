/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Evenkeel: keep iterative MPI codes balanced.
 *
 * A code cuts each iteration into many more tasks than cores and adds them to a
 * task collection.  Once per iteration it calls ek_process(), which runs every
 * task exactly once and moves work from busy to idle workers meanwhile.  Then
 * ek_restore() places the tasks for the next iteration as measured.
 *
 *     ek_create(MPI_COMM_WORLD, NULL, &tasks);        (statuses left out)
 *     ek_register(tasks, "task", run_task, my_data, &function);
 *     for (each piece of work of this rank)
 *         ek_add_task(tasks, function, &piece, sizeof piece, NULL);
 *     for (each iteration) {
 *         ek_process(tasks, NULL);
 *         ek_restore(tasks, EK_RESTORE_RETAIN, NULL);
 *     }
 *     ek_destroy(&tasks);
 *
 * Words.  A *collection* is the distributed set of tasks.  A *task* is a
 * registered function and a small payload, independent of other tasks.  A
 * *seed* is a task that was added between iterations; a running task *spawns*
 * others.  An *iteration* is one ek_process().  A *worker* is an OpenMP thread
 * that runs tasks, numbered over the job; *here* is its number in its rank.
 * The *home* of a task is the rank that added it.  A *node* shares memory.
 *
 * Other headers.  evenkeel_loop.h: whole loops.  evenkeel_report.h: figures.
 * evenkeel_pull.h: own loops.  evenkeel_spawn.h: spawn.  evenkeel_task.h:
 * visits.  evenkeel_worker.h: objects.  evenkeel_data.h: owned data.
 * evenkeel_tiles.h: matrices.  evenkeel_plan.h: plans.  evenkeel_save.h: saves.
 * evenkeel_tool.h: profilers.  evenkeel_bind.h: bindings.  evenkeel.hpp: C++.
 *
 * Errors.  A failing call returns its ek_status and writes one sentence to the
 * message sink: what, which value, what is allowed.  A failure of all ranks is
 * written by one.  A collective call returns the same status on every rank, and
 * a failing call changes nothing, unless its text says otherwise.  EK_ERR_NOMEM
 * and EK_ERR_MPI are listed only where there is more to say.
 *
 * Threads.  Prefer MPI_THREAD_SERIALIZED: every worker then talks to other
 * nodes.  Several workers need MPI_THREAD_FUNNELED, one needs MPI_Init().
 * "Main thread" below: one thread per rank, outside parallel regions.
 */
#ifndef EVENKEEL_H
#define EVENKEEL_H

#include <evenkeel_compiler.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this header; compare with ek_version(). */
#define EK_VERSION_MAJOR 0
#define EK_VERSION_MINOR 1 /**< Second number. */
#define EK_VERSION_PATCH 0 /**< Third number. */

/** Version of the linked library, such as "0.1.0".  Static storage. */
EK_API const char *ek_version(void);

/** Outcome of a call: EK_OK or a negative code. */
typedef enum EK_NODISCARD ek_status {
    EK_OK = 0,
    EK_ERR_ARG = -1,    /**< An argument, option or variable is not allowed. */
    EK_ERR_STATE = -2,  /**< The call is not legal now. */
    EK_ERR_NOMEM = -3,  /**< Memory, or shared memory, is exhausted. */
    EK_ERR_MPI = -4,    /**< MPI failed: only ek_destroy() is legal now. */
    EK_ERR_THREAD = -5, /**< The MPI thread level is too low. */
    EK_ERR_TASK = -6,   /**< A task failed. */
    EK_ERR_FILE = -7    /**< A file could not be written or read. */
} ek_status;

/** Name of a status, such as "EK_ERR_ARG".  Static storage. */
EK_API const char *ek_status_string(ek_status status);

/** This thread's last failure in words, not NULL; valid until its next one. */
EK_API const char *ek_error_message(void);

/** Status of this thread's last failure; EK_OK: none yet. */
EK_API ek_status ek_error_status(void);

/** Importance of a line given to the message sink. */
typedef enum ek_level {
    EK_LEVEL_NONE = -1, /**< A sink of this level gets no line. */
    EK_LEVEL_ERROR = 0,
    EK_LEVEL_WARN = 1,
    EK_LEVEL_INFO = 2,
    EK_LEVEL_DEBUG = 3,
    EK_LEVEL_TRACE = 4
} ek_level;

/** Receives one line without newline, such as "evenkeel 3/16 team: ...". */
typedef void ek_sink_fn(ek_level level, const char *line, void *context);

/** Replace the message sink of this process (default: stderr, up to INFO); NULL
 * restores it.  Threads: any, while no collection is inside a call. */
EK_API void ek_set_sink(ek_sink_fn *sink, void *context, ek_level level);

/** The distributed set of tasks. */
typedef struct ek_collection ek_collection;

/** Runs tasks: passed to every task, valid while the task runs. */
typedef struct ek_worker ek_worker;

/** Number of a registered function in its collection. */
typedef int ek_function;

/**
 * Body of a task.
 * @param[in] worker   The worker that runs the task.
 * @param[in] payload  As it was added; aligned to 8 bytes.
 * @param[in] bytes    Number of these bytes.
 * @param[in] context  The running rank's pointer of ek_register().
 * @return 0, or a code with which the task fails, as by ek_fail().
 *
 * The body must return: an exception or longjmp() out of it ends the job.
 */
typedef int ek_task_fn(ek_worker *worker, const void *payload, size_t bytes,
                       void *context);

/** Where each task starts in the next iteration (docs/explain/balancing.md). */
typedef enum ek_restore_policy {
    EK_RESTORE_DEFAULT = 0,         /**< As options.restore says. */
    EK_RESTORE_ORIGINAL,            /**< At its home. */
    EK_RESTORE_RETAIN,              /**< Where it ran, longest first. */
    EK_RESTORE_CENTRALIZED,         /**< Retained, then rebalanced by rank 0. */
    EK_RESTORE_HIERARCHICAL,        /**< Retained, then rebalanced by groups. */
    EK_RESTORE_CENTRALIZED_HPDC12,  /**< Algorithm 1 of HPDC 2012 as printed. */
    EK_RESTORE_HIERARCHICAL_HPDC12, /**< Algorithm 2 of HPDC 2012 as printed. */
    EK_RESTORE_AUTO /**< Retained, and rebalanced when that pays. */
} ek_restore_policy;

/** Whom a worker without work asks (docs/explain/stealing.md). */
typedef enum ek_steal_policy {
    EK_STEAL_RANDOM = 0, /**< A random worker. */
    EK_STEAL_NEAR,       /**< First the own node, then a random node. */
    EK_STEAL_NONE,       /**< Nobody: tasks run where they start. */
    EK_STEAL_COUNTER,    /**< No stealing: a shared counter hands out seeds. */
    EK_STEAL_NODE,       /**< A worker of the own node: tasks stay on it. */
    EK_STEAL_HPDC12,     /**< As printed in HPDC 2012. */
    EK_STEAL_HPDC12_ONE, /**< The same; a single waiting task is shown, too. */
    EK_STEAL_DVS,        /**< Workers near in a mesh (DVS, 2013). */
    EK_STEAL_LEAPFROG,   /**< First who last stole from it. */
    EK_STEAL_LOAD,       /**< Nodes ask nodes that show work. */
    EK_STEAL_LOAD_READ,  /**< ... once they have read so (IA3 2016). */
    EK_STEAL_SUCCESS,    /**< Requests wait until they succeed (IA3 2016). */
    EK_STEAL_SUCCESS_ACYCLIC, /**< ... and no two nodes for each other. */
    EK_STEAL_LIFELINE,        /**< Some random nodes, then a few fixed ones. */
    EK_STEAL_SWS, /**< By an addition in a victim's memory (ICPP 2021). */
    EK_STEAL_SDC  /**< By a lock in a victim's memory. */
} ek_steal_policy;

/** Who sends and receives messages between nodes. */
typedef enum ek_progress_policy {
    EK_PROGRESS_AUTO = 0, /**< The library chooses. */
    EK_PROGRESS_POLLING,  /**< The workers, between tasks. */
    EK_PROGRESS_SERVER    /**< A thread of its own beside the workers. */
} ek_progress_policy;

/** What a failing call does after it has written its sentence. */
typedef enum ek_on_error_policy {
    EK_ON_ERROR_RETURN = 0, /**< It returns its status. */
    EK_ON_ERROR_ABORT       /**< It ends all ranks by MPI_Abort(). */
} ek_on_error_policy;

/** What a failing task does to its iteration. */
typedef enum ek_on_failure_policy {
    EK_ON_FAILURE_STOP = 0, /**< No new task starts. */
    EK_ON_FAILURE_CONTINUE  /**< The others run; only the report tells. */
} ek_on_failure_policy;

/** Objects of workers, and calls around iterations (evenkeel_worker.h). */
typedef struct ek_worker_hooks ek_worker_hooks;

/**
 * Options of a collection; begin with EK_OPTIONS_INIT.  0 or NULL means the
 * default, named last.  Variables (EVENKEEL_WORKERS, ...) win over the program.
 */
typedef struct ek_options {
    size_t struct_bytes;             /**< Set by EK_OPTIONS_INIT. */
    const char *name;                /**< Of the collection; "tasks". */
    int64_t payload_bytes;           /**< Largest payload of a task; 48. */
    int64_t workers;                 /**< Of this rank; one per core of it. */
    ek_restore_policy restore;       /**< EK_RESTORE_RETAIN. */
    ek_steal_policy steal;           /**< EK_STEAL_RANDOM. */
    ek_progress_policy progress;     /**< EK_PROGRESS_AUTO. */
    ek_on_failure_policy on_failure; /**< EK_ON_FAILURE_STOP. */
    ek_on_error_policy on_error;     /**< EK_ON_ERROR_RETURN. */
    int64_t iterations_expected; /**< For EK_RESTORE_AUTO; 2 x those done. */
    int64_t stall_ms;   /**< Report hangs this long; -1: never; 10,000. */
    const char *report; /**< "1": lines, "FILE.tsv": a table; none. */
    const char *record; /**< "FILE.ekr": tasks and durations; none. */
    const ek_worker_hooks *hooks; /**< Copied by ek_create(); none. */
    bool ignore_environment;      /**< Do not look at EVENKEEL_*; false. */
    uint64_t text_only[32];       /**< For ek_options_set(): options.md. */
} ek_options;

/** Defaults of ek_options. */
#define EK_OPTIONS_INIT EK_INIT(ek_options)

/**
 * Set an option from text, before ek_create().
 * @param[in] option  Such as "stall_ms" or "order"; not "hooks".
 * @param[in] value   As in EVENKEEL_<OPTION>, no list; ek_create() copies it.
 * @retval EK_ERR_ARG  Unknown option, or bad value.
 * Call:    Local.
 * Threads: One per @p options.
 */
EK_API ek_status ek_options_set(ek_options *options, const char *option,
                                const char *value);

/**
 * Make an empty collection over the ranks of a communicator.
 *
 * Options must agree on all ranks, except workers, hooks, ignore_environment
 * and two of options.md.  Any number of collections may exist.
 * @param[in]  comm     May be freed afterwards; may be of an MPI session.
 * @param[in]  options  Read during the call; NULL: defaults.
 * @param[out] tasks    The collection; NULL on failure.
 * @retval EK_ERR_ARG     An option is not allowed, or differs between ranks.
 * @retval EK_ERR_STATE   MPI is not initialized; a parallel region is active.
 * @retval EK_ERR_THREAD  The MPI thread level is too low for the options.
 * @retval EK_ERR_FILE    The report or record cannot be written.
 * Call:    Collective over @p comm; synchronizing.
 * Threads: Main thread; one call at a time over a communicator.
 * Cost:    About 33 KiB of shared memory per worker; docs/reference/costs.md.
 */
EK_API ek_status ek_create(MPI_Comm comm, const ek_options *options,
                           ek_collection **tasks);

/** Destroy a collection and all it holds, and set the pointer to NULL, which is
 * accepted.  Collective, in any order on each rank; the last one over a
 * communicator waits for all ranks.  Main thread, no iteration open. */
EK_API void ek_destroy(ek_collection **tasks);

/**
 * Name a task function.
 *
 * All ranks register the same names in the same order.
 * @param[in]  name      Copied; unique; 1 to 63 bytes, no control characters.
 * @param[in]  fn        Body; NULL if only ek_next() hands out its tasks.
 * @param[in]  context   Passed to @p fn here; borrowed until ek_destroy().
 * @param[out] function  For ek_add_task().
 * @retval EK_ERR_ARG    Bad name, or more than 65,535 functions.
 * @retval EK_ERR_STATE  An iteration is open.
 * Call:    Local.
 * Threads: One at a time.
 */
EK_API ek_status ek_register(ek_collection *tasks, const char *name,
                             ek_task_fn *fn, void *context,
                             ek_function *function);

/** What is known of a task before it runs. */
typedef struct ek_hint {
    size_t struct_bytes; /**< Set by EK_HINT_INIT. */
    double cost;         /**< Any unit, > 0; the largest start first. */
    int rank;            /**< Rank of the first start; -1: this one. */
    bool pinned;         /**< Runs on its home alone, whatever policies say. */
} ek_hint;

/** Defaults of ek_hint: cost 1, this rank, not pinned. */
#define EK_HINT_INIT                    \
    {                                   \
        sizeof(ek_hint), 1.0, -1, false \
    }

/**
 * Add a seed; its home is this rank.
 * @param[in] function  From ek_register().
 * @param[in] payload   Copied; may be NULL if @p bytes is 0.
 * @param[in] bytes     At most options.payload_bytes.
 * @param[in] hint      NULL: none.
 * @retval EK_ERR_ARG    Unknown function, payload too large, or a bad hint.
 * @retval EK_ERR_STATE  An iteration is open.
 * Call:    Local.
 * Threads: Any, several at once.
 * Cost:    About 5 ns; 64 bytes for payloads of up to 48.
 */
EK_API ek_status ek_add_task(ek_collection *tasks, ek_function function,
                             const void *payload, size_t bytes,
                             const ek_hint *hint);

/**
 * Add @p n seeds of one function, all or none.
 * @param[in] payloads  Payload i begins at byte i x @p stride; copied.
 * @param[in] bytes     Of each payload; at most options.payload_bytes.
 * @param[in] stride    At least @p bytes.
 * @retval As ek_add_task(); so are Call and Threads.
 */
EK_API ek_status ek_add_tasks(ek_collection *tasks, ek_function function,
                              int64_t n, const void *payloads, size_t bytes,
                              size_t stride);

/**
 * Add the tasks whose payload is an int64_t index, @p first ... @p last - 1.
 *
 * They take O(1) memory until they have run, and come in any order.
 * @retval EK_ERR_ARG  Not 0 <= @p first <= @p last, or payload_bytes below 16.
 * @retval As ek_add_task(); so are Call and Threads.
 */
EK_API ek_status ek_add_range(ek_collection *tasks, ek_function function,
                              int64_t first, int64_t last);

/** Forget the tasks that lie on this rank.  Local; no iteration open. */
EK_API ek_status ek_clear(ek_collection *tasks);

/**
 * Change an option between iterations, as text; options.md says which.
 * @retval EK_ERR_ARG    Unknown or fixed option, or bad value.
 * @retval EK_ERR_STATE  An iteration is open.
 * @retval EK_ERR_FILE   Rank 0 only: the report cannot be written.
 * Call:    Collective, not synchronizing; ek_process() finds differences.
 * Threads: One per rank.
 */
EK_API ek_status ek_set_option(ek_collection *tasks, const char *option,
                               const char *value);

/** Figures of an iteration (evenkeel_report.h). */
typedef struct ek_process_report ek_process_report;
/** What an ek_restore() has done (evenkeel_report.h). */
typedef struct ek_restore_report ek_restore_report;

/**
 * Run every task of the collection, spawned ones included.
 *
 * Tasks that were not restored since the last iteration are restored first, by
 * options.restore and with the statuses of ek_restore().
 * @param[out] report  Figures of the job, on all ranks; NULL on all: none.
 * @retval EK_OK         Every task has run once, or ek_stop() cancelled it.
 * @retval EK_ERR_TASK   A task failed (on_failure=stop); the message names it.
 *                       Tasks that had not started are cancelled, but stay.
 * @retval EK_ERR_ARG    Ranks differ in functions, options or calls, or a
 *                       function has no body.  Some tasks ran, all stay.
 * @retval EK_ERR_STATE  A parallel region is active, or an iteration is open.
 * @retval EK_ERR_NOMEM  Tasks that did not run are cancelled, but stay.
 * Call:    Collective; returns after the last task of the job has ended.
 * Threads: Main thread.
 * Paper:   Lifflander, Krishnamoorthy, Kale, HPDC 2012.
 */
EK_API ek_status ek_process(ek_collection *tasks, ek_process_report *report);

/**
 * Choose where each task of the next iteration starts.
 *
 * Tasks that ran or were cancelled become seeds again, except discarded and
 * spawned ones.  Seeds added since the last ek_process() stay where they are.
 * @param[in]  policy  The same on all ranks.
 * @param[out] report  What was done on this rank, or NULL.
 * @retval EK_OK         Every task is on exactly one worker.
 * @retval EK_ERR_ARG    Unknown policy, or ranks differ: they may wait for, or
 *                       hear of it in, the next ek_process().  All is restored.
 * @retval EK_ERR_STATE  An iteration is open, or a parallel region is active.
 * @retval EK_ERR_TASK   Data could not follow its task; all are restored.
 * @retval EK_ERR_NOMEM  Nothing is lost; the call may be repeated.
 * Call:    Collective; synchronizing, but retain never and auto not always.
 * Threads: Main thread.
 * Cost:    Retain: O(local tasks), no messages.  Others: balancing.md.
 * Paper:   HPDC 2012, sections 3 and 4; balancing.md says where we differ.
 */
EK_API ek_status ek_restore(ek_collection *tasks, ek_restore_policy policy,
                            ek_restore_report *report);

/* The next calls: from a running task, by the thread that runs it. */

/** This task had nothing to do this time; it keeps its last duration. */
EK_API void ek_skip(ek_worker *worker);

/** This task has nothing to do for good: it is not restored. */
EK_API void ek_discard(ek_worker *worker);

/** This task failed, with a @p code other than 0.  The @p message is copied, at
 * most 159 characters of one line; NULL: none. */
EK_API void ek_fail(ek_worker *worker, int code, const char *message);

/** End the iteration early: a rank that has heard of it starts no task.  Tasks
 * that have not run are cancelled; options.md, on_stop, says what is next. */
EK_API void ek_stop(ek_worker *worker);

/** Use @p seconds (0 ... 1e9) as the duration of this task, not the clock. */
EK_API void ek_set_cost(ek_worker *worker, double seconds);

/** Let messages through and show work to thieves: long tasks call it a few
 * times per millisecond.  15 ns if there is nothing to do. */
EK_API void ek_poll(ek_worker *worker);

/** Number of the worker over the whole job. */
EK_API int ek_worker_id(const ek_worker *worker);

/** Number of the worker within its rank. */
EK_API int ek_worker_here(const ek_worker *worker);

/** Workers of the whole job. */
EK_API int ek_job_workers(const ek_collection *tasks);

/** Workers of this rank. */
EK_API int ek_rank_workers(const ek_collection *tasks);

#ifdef __cplusplus
}
#endif
#endif
