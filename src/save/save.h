/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * save: the tasks of a collection in the files of a folder, of the format
 * EKRESUME, which docs/reference/file-formats.md describes byte by byte.
 *
 * A *save* is a file for each rank, save-N.rank-R, and a manifest,
 * save-N.manifest, which is put in its place last: the save is there when that
 * is.  Here are a writer and a reader of these files, and what is done to the
 * folder; who writes what, and when, the caller knows.
 *
 * Threads: one at a time for each object and each folder.
 */
#ifndef EKI_SAVE_H
#define EKI_SAVE_H

#include "base/sealed.h"
#include "engine/engine.h"
#include "task/key.h"

#define EKI_SAVE_VERSION 1
#define EKI_SAVE_MANIFEST (-1) /* instead of a rank */
#define EKI_SAVE_PATH 1024     /* bytes of a folder's name, with its end */
#define EKI_SAVE_NAME                                       \
    (EKI_SAVE_PATH + 64) /* ... and of that of a file in it \
                          */

/* What begins each file. */
struct eki_save_head {
    uint64_t save;            /* a random number, in all files of the save */
    int64_t iteration;        /* of the next ek_process() */
    int part;                 /* rank, or EKI_SAVE_MANIFEST */
    int ranks, workers;       /* of the job */
    int workers_here;         /* of this rank; of a manifest 0 */
    ek_restore_policy last;   /* restore */
    bool is_retained;         /* tasks lie where they ran last */
    ek_restore_policy chosen; /* what that was: of auto another one */
    bool goes_on;             /* some tasks of the iteration have run */
    int key_base;             /* of the job (key.h) */
    int64_t parts;            /* stopped ones that ITERATION counts */
};

/* Tasks in a file, of a manifest those in all others. */
struct eki_save_sums {
    int64_t tasks;  /* a range is one */
    uint64_t ids;   /* added up, modulo 2^64 */
    uint64_t place; /* largest of a key in its part */
};

static inline bool eki_save_sums_equal(const struct eki_save_sums *a,
                                       const struct eki_save_sums *b)
{
    return a->tasks == b->tasks && a->ids == b->ids && a->place == b->place;
}

/* Count a task of a job with BASE. */
void eki_save_count(struct eki_save_sums *sums, int base,
                    const struct eki_slot *slot, const void *payload);

/* Which numbers tasks get that come after a save: of the rank's own thread and
 * other threads, and of each worker. */
struct eki_save_numbers {
    uint64_t home, foreign;          /* of the next seed ... */
    int home_worker, foreign_worker; /* ... and who gets it */
    struct eki_save_worker {
        uint64_t inlet, spawned;
    } workers[]; /* [workers_here] */
};

/* Who holds tasks of a rank: one of its workers, or as HERE says nobody. */
static inline int eki_save_pinned(int workers_here)
{
    return workers_here;
}
static inline int eki_save_departs(int workers_here, int rank)
{
    return workers_here + 1 + rank;
}
/* Of an iteration that is to go on, of HERE as above: what is done, and what
 * was spawned and waits. */
static inline int eki_save_done(int workers_here, int ranks, int here)
{
    return eki_save_departs(workers_here, ranks) + here;
}
static inline int eki_save_waits(int workers_here, int ranks, int here)
{
    return eki_save_done(workers_here, ranks, workers_here + 1) + here;
}

struct eki_save_out {
    struct eki_sealed_out out;
    struct eki_save_sums sums;
    int key_base;
    unsigned char *block; /* owned; tasks that are not written yet */
    size_t used;
    int64_t count;
    /* Rank that has the data of a task, or -1; NULL: no task has any. */
    int (*home_of)(const void *context, const struct eki_slot *slot);
    const void *context;
};

/* Create a file of a save.  Any failure, here and below, is EK_ERR_FILE, or
 * EK_ERR_NOMEM; then all that is left to do is to abandon. */
ek_status eki_save_create(struct eki_save_out *out, const char *name,
                          const struct eki_save_head *head);
/* Of a manifest: the next function, and its indices of ek_set_range(). */
ek_status eki_save_function(struct eki_save_out *out, int number,
                            const char *name, int64_t indices);
/* Of a manifest: what `auto` has learned, as numbers. */
#define EKI_SAVE_LEARNED 27
ek_status eki_save_learned(struct eki_save_out *out,
                           const uint64_t learned[EKI_SAVE_LEARNED]);
/* Of a rank, before its tasks. */
ek_status eki_save_numbers(struct eki_save_out *out,
                           const struct eki_save_numbers *numbers, int workers);
/* Seeds in SLOTS of so many bytes, up to END, of worker HERE; or what is pinned
 * to the rank, or on its way to another. */
ek_status eki_save_slots(struct eki_save_out *out, int here,
                         const unsigned char *slots, const unsigned char *end,
                         uint32_t slot_bytes);
/* All tasks that ENGINE holds between iterations. */
ek_status eki_save_held(struct eki_save_out *out,
                        const struct eki_engine *engine);
/* What a manifest says of a store of tiles. */
struct eki_save_store {
    char name[EKI_BLOCK_NAME]; /* its beginning */
    int64_t tiles;
    uint64_t lengths; /* hash of these ... */
    uint64_t layout;  /* ... and of these and the owners */
};
/* Of a manifest: the next store, by its NAME. */
ek_status eki_save_store(struct eki_save_out *out, int number, const char *name,
                         const struct eki_save_store *store);
/* Of a rank, behind its tasks: a tile of it; and that these are all. */
ek_status eki_save_tile(struct eki_save_out *out, int store, int64_t tile,
                        const double *values, int64_t length);
ek_status eki_save_tiles_end(struct eki_save_out *out);
/* Say that these, or of a manifest all SUMS, are all, and wait until the file
 * is on its disk. */
ek_status eki_save_finish(struct eki_save_out *out,
                          const struct eki_save_sums *sums);
/* Close it; once more, or after a failure to create: nothing. */
void eki_save_abandon(struct eki_save_out *out);

/* A task in a file. */
struct eki_save_task {
    const unsigned char *payload; /* until the next one */
    int here;                     /* who held it, as above ... */
    bool is_done, waits;          /* ... or it is one of these */
    int home;                     /* rank that has its data; -1: it has none */
    struct eki_slot head;
};
/* Let ENGINE hold a task of a file with HEAD: worker HERE, unless it is pinned.
 * The home of TASK is one that its id does not tell, or -1.  If IS_DEALT, a
 * task that waits stands among the seeds.  EK_ERR_NOMEM. */
ek_status eki_save_hold(struct eki_engine *engine,
                        const struct eki_save_head *head,
                        const struct eki_save_task *task, int here,
                        bool is_dealt);

/* A file that is read, and how far. */
struct eki_save_in {
    struct eki_sealed_in in;
    struct eki_save_head head;
    struct eki_save_sums sums; /* of the tasks so far */
    unsigned char *block;      /* owned, with its tasks ... */
    int64_t at;                /* ... in the file ... */
    size_t next, bytes;
    int64_t left; /* ... that were not read yet */
    int here;
    int functions; /* that a task may be of */
    int stores;    /* ... that a tile may be of */
};

/* What a manifest says. */
struct eki_save_manifest {
    struct eki_save_head head;
    struct eki_save_sums sums;
    int functions;
    int64_t room;
    struct eki_save_function {
        char name[EKI_BLOCK_NAME];
        int64_t indices;
    } * list; /* [functions]; owned */
    int stores;
    int64_t store_room;
    struct eki_save_store *store_list;  /* [stores]; owned */
    uint64_t learned[EKI_SAVE_LEARNED]; /* 0: nothing */
};

/* Read the manifest NAME.  EK_ERR_FILE, in words that name the file and the
 * byte, as below; EK_ERR_NOMEM. */
ek_status eki_save_read_manifest(const char *name,
                                 struct eki_save_manifest *manifest);
void eki_save_free_manifest(struct eki_save_manifest *manifest);

/* Open the file NAME of rank PART of that save, and read its numbers, owned by
 * the caller; on failure nothing is open or owned.  NAME stays. */
ek_status eki_save_open(struct eki_save_in *in, const char *name, int part,
                        const struct eki_save_manifest *manifest,
                        struct eki_save_numbers **numbers);
/* Read the next task.  *FOUND is false behind the last one: then all was
 * compared with the end of the file. */
ek_status eki_save_next(struct eki_save_in *in, struct eki_save_task *task,
                        bool *found);
void eki_save_close(struct eki_save_in *in);

/* Values of a tile in a file, or some of them. */
struct eki_save_tile {
    int store;
    int64_t tile, offset, count; /* not compared with those of the store */
    const unsigned char *values; /* [count] doubles, until the next piece */
    int64_t at;                  /* in the file */
};
/* Read the next piece, of a file of which no task has been read; tasks are
 * passed over.  *FOUND is false behind the last one. */
ek_status eki_save_next_tile(struct eki_save_in *in, struct eki_save_tile *tile,
                             bool *found);

/* The name of the file of PART of save NUMBER. */
void eki_save_name(char name[EKI_SAVE_NAME], const char *folder, int64_t number,
                   int part);
/* Make the folder, unless it is there. */
ek_status eki_save_make_folder(const char *folder);
/* The newest save of the folder; 0: none. */
ek_status eki_save_newest(const char *folder, int64_t *number);
/* How names of files begin that the program writes for the save. */
void eki_save_prefix(char name[EKI_SAVE_NAME], const char *folder,
                     int64_t number);
/* The files of ranks are on their disk, those of the program are closed, and
 * the manifest has another name, with EKI_SAVE_NEW behind it: put it in its
 * place when all are on their disk. */
#define EKI_SAVE_NEW ".new"
ek_status eki_save_place(const char *folder, int64_t number);
/* Remove what there is of saves from FIRST to LAST, as far as that goes. */
void eki_save_remove(const char *folder, int64_t first, int64_t last);

#endif
