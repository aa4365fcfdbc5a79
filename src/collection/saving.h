/* SPDX-License-Identifier: BSD-3-Clause */
/* What ek_save() and ek_load() have in common. */
#ifndef EKI_COLLECTION_SAVING_H
#define EKI_COLLECTION_SAVING_H

#include "collection/seeds.h"
#include "save/save.h"

/* A save, as one rank writes or reads it. */
struct eki_saving {
    ek_collection *tasks;
    const char *call; /* that does it */
    const char *folder;
    int64_t number; /* of the save in its folder */
};

/* Ranks with no STATUS of their own agree that all may save, or load, and that
 * all mean the same; collective. */
ek_status eki_saving_agree(const struct eki_saving *saving, ek_status status);
/* SUMS become those of all ranks; collective. */
ek_status eki_saving_sum(const struct eki_saving *saving,
                         struct eki_save_sums *sums);
/* Write the save, unless STATUS is an error already; the caller has claimed the
 * process.  Collective. */
ek_status eki_saving_write(struct eki_saving *saving, ek_status status);
/* Whether CALL comes between iterations, and saves can hold what there is. */
ek_status eki_saving_check(const ek_collection *tasks, const char *call);

#endif
