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

#include "protocol/schemes.h"
#include "rebalance/rebalance.h"
#include "record/record.h"
#include "report/report.h"
#include "team/team.h"

enum eki_state {
    EKI_STATE_READY, /* ek_process() may come */
    EKI_STATE_RAN,   /* it has; ek_restore() or ek_clear() is due */
    EKI_STATE_OPEN,  /* an iteration is */
    EKI_STATE_BROKEN /* only ek_destroy() */
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
    uint64_t next_id, first_id, last_id; /* wraps at the end */
    int next_worker;
};

struct ek_collection {
    struct eki_settings settings;
    struct eki_fabric *fabric;
    struct eki_topology *topology;
    struct eki_engine *engine;
    struct eki_team *team;
    struct eki_report *report;
    struct eki_recording *recording; /* NULL: none */
    struct eki_affinity affinity;
    enum eki_state state;
    bool wants_report; /* of the open iteration */
    bool is_pulled;    /* by the program's own threads */

    /* Adding. */
    const void *home_thread; /* whose seeds need no lock */
    struct eki_dealer home;  /* by that thread alone */
    struct eki_dealer other; /* of other threads; under the mutex */
    int64_t payload_bytes;
    pthread_mutex_t mutex;
    struct eki_local foreign; /* seeds of other threads; under the mutex */

    /* Hashes of what must be the same on all ranks. */
    uint64_t functions, options; /* as they are */
    uint64_t history;            /* calls so far */
    enum eki_call last_call;     /* for a mismatch */
    int64_t last_value;          /* -1: none */
    int64_t iteration;           /* of the next ek_process() */
    double restore_s;            /* of the last ek_restore() */
    double rebalance_ns;         /* the last one that moved tasks took */
    ek_restore_policy restored;  /* likewise; EK_RESTORE_DEFAULT: none yet */
    uint64_t left_ns;            /* when ek_process() was left; 0: never */
};

/* An identity of the calling thread, which is alive. */
static inline const void *eki_thread_identity(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    return __builtin_thread_pointer();
#else
    static _Thread_local char identity;
    return &identity;
#endif
}

/* Set the hash of the options that must be the same on all ranks. */
void eki_collection_hash_options(ek_collection *tasks);
/* Compare the options over ranks by that hash; collective. */
ek_status eki_collection_agree(ek_collection *tasks);
/* Note a call that must be made alike on all ranks, with the VALUE of its
 * argument, or -1. */
void eki_collection_note(ek_collection *tasks, enum eki_call call,
                         int64_t value);
/* Hash of everything that must be the same on all ranks. */
uint64_t eki_collection_signature(const ek_collection *tasks);
/* Turn the error of a phase into status and message; collective. */
ek_status eki_collection_error(ek_collection *tasks,
                               const struct eki_error *error);

/* EK_ERR_STATE inside an active parallel region. */
ek_status eki_collection_check_region(const char *call);
/* Whether this process may open a phase of TASKS now: one at a time. */
ek_status eki_collection_claim(const ek_collection *tasks, const char *call);
void eki_collection_release(void);

/* Give the dealers their numbers. */
void eki_collection_number(ek_collection *tasks);
/* Seeds added by other threads go to the workers. */
ek_status eki_collection_gather(ek_collection *tasks);

/* One phase from entry to leaving; PREPARED: a local error to share. */
void eki_collection_enter(ek_collection *tasks, enum eki_phase_kind kind,
                          const struct eki_balance_wish *balance,
                          ek_status prepared);

/* Tasks held here: seeds before, log after an iteration. */
int64_t eki_collection_held(const ek_collection *tasks);

#endif
