/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hints: what an earlier run of the same job measured, for the first iteration.
 *
 * Rank 0 reads the record and tells all ranks, each of which keeps its own
 * tasks.  A task is known by its home rank and by the number that this rank
 * gave it, which follows from the order of adding, whatever workers there are.
 */
#ifndef EKI_HINTS_H
#define EKI_HINTS_H

#include "engine/words.h"
#include "record/record.h"

struct eki_hint {
    uint64_t number; /* in the id; first, for eki_place_from() */
    int32_t rank;    /* home */
    uint16_t function, bin;
    bool is_set; /* by ek_set_cost(): need not be time */
};

struct eki_hints {
    struct {
        int64_t tasks;        /* of all ranks; -1: another job's */
        int64_t functions;    /* that these have */
        uint64_t names;       /* a hash of their names */
        struct eki_load load; /* of workers as tasks were added */
    } told;                   /* the same on all ranks */
    struct eki_hint *list;    /* [count] of this rank, by number */
    int64_t count, room;
    bool is_applied;
    int64_t found, missing; /* tasks here with and without a hint */
    char path[];
};

/*
 * The hints of record DESTINATION, in which % stands for COLLECTION; "0": *MADE
 * stays NULL.  Local: rank 0 of FABRIC reads them, and may fail with
 * EK_ERR_FILE.  What is of another job is told as a warning.
 */
ek_status eki_hints_read(const char *destination, const char *collection,
                         const struct eki_fabric *fabric,
                         struct eki_hints **made);
/* Collective: each rank gets its own.  Sets *HINTS to NULL where they are of
 * another job. */
ek_status eki_hints_share(struct eki_hints **hints, struct eki_fabric *fabric);
void eki_hints_free(struct eki_hints **hints);

/* The first with NUMBER or a larger one; the end of the list: none. */
const struct eki_hint *eki_hints_from(const struct eki_hints *hints,
                                      uint64_t number);

#endif
