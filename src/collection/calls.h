/* SPDX-License-Identifier: BSD-3-Clause */
/* What public calls have in common: whether they may run, what must be the same
 * on all ranks, and what becomes of their failures. */
#ifndef EKI_COLLECTION_CALLS_H
#define EKI_COLLECTION_CALLS_H

#include "base/options.h"
#include "team/lookout.h"

#include <evenkeel_task.h>

/* ek_create(), but what fails is not said; READ: the status of OPTIONS. */
ek_status eki_collection_create(MPI_Comm comm, const ek_options *options,
                                ek_status read, ek_collection **made);

/* Say a failure that a public call returns, and end the job where the options
 * want that.  TASKS may be NULL. */
EKI_COLD ek_status eki_collection_fail(const ek_collection *tasks,
                                       ek_status status,
                                       void (*say)(int rank, int size));

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
/* EK_ERR_STATE where CALL came inside an active parallel region. */
ek_status eki_collection_check_region(const char *call);
/* Whether CALL, which makes something of COMM, may use MPI. */
ek_status eki_collection_check_mpi(const char *call, MPI_Comm comm);
/* Whether a REPORT, which begins with its struct_bytes, was set by INIT; or is
 * NULL. */
ek_status eki_collection_check_report(const char *call, const void *report,
                                      const char *init);

/* Whether CALL comes between iterations, and anything can be agreed on.  Inside
 * of one nothing can: tasks call, of any worker, and on some ranks more than on
 * others. */
ek_status eki_collection_check_between(const ek_collection *tasks,
                                       const char *call);

/* Enter such a CALL, for which all ranks wait, and leave it with what it
 * returns.  Only whoever has entered leaves.  Those that wait tell of a rank
 * that does not come. */
ek_status eki_collection_enter_call(ek_collection *tasks, const char *call,
                                    enum eki_called called);
ek_status eki_collection_leave_call(ek_collection *tasks, ek_status status);
/* Ranks with no STATUS of their own agree that all have the same VALUE; DIFFER
 * says that they have not.  Collective. */
ek_status eki_collection_agree_on(const ek_collection *tasks, ek_status status,
                                  uint64_t value, const char *differ);

/* What a public call returns. */
static inline ek_status eki_collection_outcome(const ek_collection *tasks,
                                               ek_status status)
{
    return EKI_LIKELY(status == EK_OK)
               ? EK_OK
               : eki_collection_fail(tasks, status, eki_error_say);
}

/* Likewise, of a call that may come millions of times. */
static inline ek_status eki_collection_outcome_often(const ek_collection *tasks,
                                                     ek_status status)
{
    return EKI_LIKELY(status == EK_OK)
               ? EK_OK
               : eki_collection_fail(tasks, status, eki_error_say_rarely);
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

/* End the job if tasks that this thread ran were left by longjmp(), as a public
 * call finds that comes later. */
EKI_COLD void eki_collection_check_left(const ek_collection *tasks,
                                        struct eki_caller caller);

/* A hash of the options that must be the same on all ranks. */
uint64_t eki_options_hash(const struct eki_settings *settings);
/* Find the first option in which ranks differ; collective. */
ek_status eki_options_compare(struct eki_fabric *fabric,
                              const struct eki_settings *settings);
/* Note a call of ek_process(), ek_begin() or ek_restore(), which all ranks must
 * make alike in the same order, with the VALUE of its argument, or -1. */
void eki_collection_note(ek_collection *tasks, enum eki_called call,
                         int64_t value);
/* FUNCTION has N indices of ek_set_range() now; -1: nobody knows which. */
void eki_collection_note_indices(ek_collection *tasks, ek_function function,
                                 int64_t n);
/* All functions that have indices have N now. */
void eki_collection_note_all_indices(ek_collection *tasks, int64_t n);
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

#endif
