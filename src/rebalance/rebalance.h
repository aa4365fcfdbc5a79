/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebalance: the messages around a decision of balance/, in a restore phase.
 * Workers of the rank wait in it until their tasks are on their way.
 */
#ifndef EKI_REBALANCE_H
#define EKI_REBALANCE_H

#include "balance/balance.h"
#include "engine/engine.h"

/* What a rebalance aims at. */
struct eki_balance_wish {
    int32_t group; /* workers of a group; 0: all, centralized */
    double eps;    /* tolerance; < 0: as balance/ chooses */
    /* All stays as it is where the gain over so many iterations is below the
     * cost. */
    double iterations, cost_ns;
    bool is_printed; /* decide as in HPDC'12, with these constants */
    struct eki_hpdc12 printed;
};

/*
 * The wish of a restore policy that rebalances WORKERS; EK_RESTORE_AUTO: two
 * levels where one rank would decide for too many.  GROUP and PPM are the
 * options balance_group and balance_ppm.
 */
struct eki_balance_wish eki_balance_wish_of(ek_restore_policy policy,
                                            int workers, int64_t group,
                                            int64_t ppm);

/* What came of a rebalance; the same on all ranks. */
struct eki_balance_report {
    double before, after, bound;   /* largest load / mean load - 1 */
    int64_t moved, fewest;         /* tasks */
    int64_t across, fewest_across; /* of these, between nodes */
    uint64_t hash;                 /* of all moves */
};

extern const struct eki_protocol_ops eki_rebalance_ops;

/* Add the protocol to an engine that was just created, and that owns it then.
 */
ek_status eki_rebalance_add(struct eki_engine *engine);
/*
 * Get ready on this rank, after the workers were restored: then a phase of kind
 * EKI_PHASE_RESTORE with a wish moves tasks, and eki_engine_restore_end()
 * orders them.
 */
ek_status eki_rebalance_prepare(struct eki_engine *engine);
/* Tasks that have left this rank in the last rebalance, and what came of it. */
int64_t eki_rebalance_sent(const struct eki_engine *engine);
const struct eki_balance_report *
eki_rebalance_report(const struct eki_engine *engine);

#endif
