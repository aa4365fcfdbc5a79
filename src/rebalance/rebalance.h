/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebalance: the messages around a decision of balance/, in a restore phase.
 * Workers of the rank wait in it until their tasks are on their way.
 */
#ifndef EKI_REBALANCE_H
#define EKI_REBALANCE_H

#include "balance/balance.h"
#include "balance/choose.h"
#include "engine/engine.h"

/* What may move where each rank has one worker and no seeds. */
struct eki_balance_items {
    int64_t count;
    eki_ns *ns;          /* [count]; the sum of any rank is at most
                            EKI_NS_MOST / ranks */
    const size_t *bytes; /* [count], or NULL; their sum fits 63 bits */
    int32_t *to;         /* [count]: where each goes, from its own rank on */
    size_t fewest_bytes; /* that shedding takes, from 0 on */
};

/* What a rebalance aims at. */
struct eki_balance_wish {
    struct eki_balance_items *items; /* of this rank; NULL: its seeds */
    int32_t group; /* workers of a group; 0: all, centralized */
    double eps;    /* tolerance; < 0: as balance/ chooses */
    /* It is chosen whether to rebalance, and whether to steal then, from what
     * was done and how much is to come, beside the loads. */
    bool is_chosen;
    struct eki_outlook outlook;
    /* Of src/printed, with these constants; NULL: this module's. */
    const struct eki_algorithm *algorithm;
    struct eki_hpdc12 {
        double shed; /* C: shed above C x mean load */
        double fill; /* D: fill below D x mean load */
        int32_t branching;
        bool is_hierarchical;
    } printed;
};

/* No load, nor sum of loads, is longer: 73 years. */
#define EKI_NS_MOST (INT64_MAX / 4)

/* What came of a rebalance; the same on all ranks. */
struct eki_balance_report {
    double before, after, bound;   /* largest load / mean load - 1 */
    int64_t moved, fewest;         /* tasks */
    int64_t across, fewest_across; /* of these, between nodes */
    uint64_t hash;                 /* of all moves */
    bool is_grouped;               /* groups were to settle among themselves */
    /* Where that was chosen: nobody steals in the next iteration, and why. */
    bool is_quiet;
    int64_t pause; /* so many restores need not ask, while all is calm */
    enum eki_why_restore why_restore;
    enum eki_why_steal why_steal;
};

extern const struct eki_protocol_ops eki_rebalance_ops;

/* Add the protocol to an engine that was just created, and that owns it then.
 */
ek_status eki_rebalance_add(struct eki_engine *engine);
/*
 * Get ready on this rank, after the workers were restored: then a phase of kind
 * EKI_PHASE_RESTORE with a wish moves tasks, and eki_engine_restore_end()
 * orders them.  Notes what the iteration has come to.
 */
void eki_rebalance_prepare(struct eki_engine *engine);
/* Whether the last iteration was as even as the one before the last rebalance,
 * or almost: the same on all ranks.  On one node that is not known: false. */
bool eki_rebalance_is_calm(const struct eki_engine *engine);
/* What rebalances remember for the next ones, in a later job, too. */
struct eki_remembered {
    struct eki_chooser chooser; /* rank 0 */
    /* Likewise: how far the last one came that did not come to the target. */
    struct eki_reached {
        double ratio; /* of the largest load to the bound; 0: it came there */
        int64_t tasks;
        int32_t group;
    } reached;
    double imbalance; /* of what ran in the last iteration, on all ranks */
};
struct eki_remembered eki_rebalance_remembered(const struct eki_engine *engine);
/* Go on with that of an earlier job, before the first rebalance. */
void eki_rebalance_remember(struct eki_engine *engine,
                            const struct eki_remembered *remembered);
/* What rebalances of this rank have handled so far that came in no message, and
 * what came of the last one. */
struct eki_rebalance_own {
    int64_t bytes; /* of parcels to itself */
    int64_t tasks; /* that it has sorted */
    int64_t sent;  /* tasks that have left it in the last one */
};

struct eki_rebalance_own eki_rebalance_own(const struct eki_engine *engine);
const struct eki_balance_report *
eki_rebalance_report(const struct eki_engine *engine);

#endif
