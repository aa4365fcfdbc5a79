/* SPDX-License-Identifier: BSD-3-Clause */
/* What ek_save() and ek_load() have in common. */
#ifndef EKI_COLLECTION_SAVING_H
#define EKI_COLLECTION_SAVING_H

#include "collection/seeds.h"
#include "rebalance/rebalance.h"
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
/* Which of the functions is called NAME; -1: none. */
int eki_saving_function(const ek_collection *tasks, const char *name);
/* Write the save, unless STATUS is an error already; the caller has claimed the
 * process.  Collective. */
ek_status eki_saving_write(struct eki_saving *saving, ek_status status);
/* Whether CALL comes between iterations, and saves can hold what there is. */
ek_status eki_saving_check(const ek_collection *tasks, const char *call);

/* What out.home_of is of a save; CONTEXT is the engine. */
int eki_saving_home(const void *context, const struct eki_slot *slot);
/* Of a task that is loaded where it was: keep its home only if its id does not
 * tell it.  False: ENGINE knows no other homes. */
bool eki_saving_keep_home(const struct eki_engine *engine,
                          struct eki_save_task *task);
/* Which rank has the data of a task, as the program says. */
ek_status eki_saving_ask_owner(const ek_collection *tasks, const ek_task *task,
                               int *rank);

/* What auto has learned, in saving_auto.c. */
struct eki_learned {
    struct eki_course course;
    struct eki_remembered remembered;
};

ek_status eki_saving_write_learned(const ek_collection *tasks,
                                   struct eki_save_out *out);
/* What the MANIFEST of that NAME has of it, or nothing learned. */
ek_status eki_saving_read_learned(const char *name,
                                  const struct eki_save_manifest *manifest,
                                  struct eki_learned *learned);

/* Whoever has got a task is its home; if DATA_STAYS, not of one with data. */
void eki_saving_make_homes(struct eki_engine *engine, bool data_stays);
/* Spawned tasks that were dealt out among the seeds wait again; EK_ERR_NOMEM.
 */
ek_status eki_saving_wait_again(struct eki_engine *engine);
/* Deal out evenly what was read.  Data stays where its tasks were read, or, if
 * not DATA_STAYS, is with whoever gets a task; collective. */
ek_status eki_saving_deal(ek_collection *tasks, bool data_stays);

/* Stores that the collection has made, in saving_tiles.c: what they are goes to
 * the manifest, the tiles of this rank to its file. */
ek_status eki_saving_write_stores(const ek_collection *tasks,
                                  struct eki_save_out *out);
ek_status eki_saving_write_tiles(const ek_collection *tasks,
                                 struct eki_save_out *out);
/* Whether the stores here are those of MANIFEST. */
ek_status eki_saving_match_stores(const ek_collection *tasks,
                                  const struct eki_save_manifest *manifest);
/* Fill the tiles of this rank, which match; after a failure they have any
 * values. */
ek_status eki_saving_read_tiles(const struct eki_saving *saving,
                                const struct eki_save_manifest *manifest);

#endif
