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

/* What one rank takes of a save, and how far it is. */
struct eki_taking {
    struct eki_engine *engine;
    const char *folder;
    int64_t number; /* of the save in its folder */
    const struct eki_save_manifest *manifest;
    const int *functions; /* of the manifest, as they are registered here */
    ek_owner_fn *owner;   /* asked for homes of data; NULL: nobody is */
    void *context;
    bool is_same;  /* ranks and workers: each task goes where it was */
    int next_here; /* else: who gets the next one */
    bool is_anew;  /* keys are new ones */
    int64_t keys;  /* ... of which this rank has given so many */
    struct eki_save_sums sums;        /* of the tasks that were taken */
    struct eki_save_numbers *numbers; /* of the last file; owned */
    unsigned char *payload; /* of a task whose owner is asked for; owned */
    char name[EKI_SAVE_NAME];
};

/* Open the file of PART, and read its numbers. */
ek_status eki_saving_open_part(struct eki_taking *taking, int part,
                               struct eki_save_in *in);
/* Let the engine hold what is this rank's.  No owner is asked where ranks are
 * as many as in the save: then OWNER is NULL afterwards. */
ek_status eki_saving_take(struct eki_taking *taking);
void eki_saving_free_taking(struct eki_taking *taking);

/* What auto has learned, in saving_auto.c. */
struct eki_learned {
    struct eki_course course;
    struct eki_remembered remembered;
};

ek_status eki_saving_write_learned(const struct eki_learned *learned,
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

/* Of the stores of a communicator those that the collection has made, in
 * saving_tiles.c. */
struct eki_own_stores {
    const struct eki_stores *stores; /* NULL: there are none */
    const ek_collection *owner;
};

struct eki_own_stores eki_saving_stores(const ek_collection *tasks);
/* What they are goes to the manifest, the tiles of this rank to its file. */
ek_status eki_saving_write_stores(struct eki_own_stores own,
                                  struct eki_save_out *out);
ek_status eki_saving_write_tiles(struct eki_own_stores own,
                                 struct eki_save_out *out);
/* Whether the stores here are those of MANIFEST. */
ek_status eki_saving_match_stores(struct eki_own_stores own,
                                  const struct eki_save_manifest *manifest);
/* Fill the tiles of this rank, which match; after a failure they have any
 * values. */
ek_status eki_saving_read_tiles(struct eki_taking *taking,
                                struct eki_own_stores own);

#endif
