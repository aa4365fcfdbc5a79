/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record: a run's tasks and durations in a file of the format EKRECORD, which
 * docs/reference/file-formats.md describes byte by byte.
 *
 * A writer and a reader of files, which know no ranks, and a recording: what
 * all ranks of a collection write together.
 *
 * Threads: one at a time for each object; a recording while no iteration is
 * open.
 */
#ifndef EKI_RECORD_H
#define EKI_RECORD_H

#include "base/options.h"
#include "base/sealed.h"
#include "task/key.h"

#define EKI_RECORD_VERSION 6 /* as written */
/* As read, too: nothing of stops and of where null indices ran; nothing of when
 * tasks began, either; nothing of those that were held up; nothing of spawned
 * ones; and nothing of data. */
#define EKI_RECORD_VERSION_STARTS 5
#define EKI_RECORD_VERSION_HELD 4
#define EKI_RECORD_VERSION_SPAWNED 3
#define EKI_RECORD_VERSION_DATA 2
#define EKI_RECORD_VERSION_FIRST 1

struct eki_engine;
struct eki_fabric;

/* Flags of a task. */
enum {
    EKI_RECORD_DISCARDED = 1, /* null for good */
    EKI_RECORD_SKIPPED = 2,   /* null this time */
    EKI_RECORD_COSTED = 4,    /* the task has set its duration */
    EKI_RECORD_SIZED = 8,     /* its data travelled: their bytes are known */
    EKI_RECORD_PINNED = 16,   /* it stays on its rank */
    /* It had no core for a while, which is no part of its duration; of tasks
     * timed together the last. */
    EKI_RECORD_HELD = 32,
    EKI_RECORD_PAYLOAD = 64 /* its payload is known, or how that begins */
};

enum {
    EKI_PAYLOAD_MOST = 64, /* bytes of a payload in a record */
    EKI_PAYLOADS_MOST = 10 /* of a worker: those of its longest tasks */
};

#define EKI_RECORD_UNKNOWN UINT64_MAX

/* All flags that a task of a file of VERSION may have. */
int eki_record_flags(int version);

struct eki_record_task {
    uint64_t id;          /* first, for eki_place_from() */
    uint64_t duration_ns; /* middle of its bin; 0: not measured */
    uint64_t start_ns; /* since its rank has entered; or EKI_RECORD_UNKNOWN */
    int worker;        /* that has run it */
    uint32_t input_bytes, result_bytes; /* where it is SIZED, else 0 */
    uint16_t function;
    uint16_t bin; /* see task.h */
    uint8_t flags;
};

/* Of a task with EKI_RECORD_PAYLOAD. */
struct eki_record_payload {
    int64_t task; /* its place in the list of the iteration */
    int bytes;    /* 1 ... EKI_PAYLOAD_MOST */
    unsigned char data[EKI_PAYLOAD_MOST];
};

/* What a task has spawned: COUNT tasks with consecutive ids.  A record may lack
 * tasks of them that were not run, and a parent that was null. */
struct eki_record_family {
    uint64_t parent, first, count;
};

/* Indices of a range that ran one behind the other: those that are not listed
 * were null. */
struct eki_record_span {
    uint64_t first, count; /* of indices; the id of the first */
    int64_t place;         /* so many listed tasks of the worker ran before */
    uint16_t function;
};

/*
 * What a worker has run.  Null indices of ranges, and up to version 2 spawned
 * tasks that were not kept, are not listed: executed - nulls - count are
 * spawned.
 */
struct eki_record_worker {
    int64_t first, count;           /* its part of the iteration's tasks */
    int64_t first_family, families; /* ... and of the families of these */
    int64_t first_span, spans;      /* ... and of spans that have null ones */
    int64_t executed;               /* tasks in all, listed or not */
    int64_t nulls;                  /* discarded indices of ranges */
    int64_t failed, cancelled;
    uint64_t work_ns; /* by the clock, for all that were executed */
    uint64_t null_ns; /* of work_ns, for the NULLS */
};

/* How an iteration was stopped. */
enum {
    EKI_RECORD_STOPPED = 1,   /* tasks did not run, which was no error */
    EKI_RECORD_CONTINUED = 2, /* ... and the next iteration has these alone */
    EKI_RECORD_BY_SIGNAL = 4, /* who asked; neither: a task */
    EKI_RECORD_BY_TIME = 8,
    EKI_RECORD_STOPS = 15 /* all of these */
};

/* How an iteration was run. */
struct eki_record_head {
    int64_t iteration; /* number of its ek_process() */
    uint64_t wall_ns;  /* longest stay of a rank in it */
    ek_status status;  /* EK_OK, EK_ERR_TASK or EK_ERR_NOMEM */
    /* Policy of the last ek_restore() before it; EK_RESTORE_DEFAULT: none. */
    ek_restore_policy restore;
    ek_steal_policy steal;
    enum eki_order order;
    ek_on_failure_policy on_failure;
    int stopped; /* EKI_RECORD_STOPPED ...; before version 6: 0 */
};

/* The job that the file tells of. */
struct eki_record_shape {
    int version;   /* of the file */
    char name[64]; /* of the collection */
    int ranks, workers;
    const int *rank_workers; /* [ranks]; their sum is WORKERS */
    int key_base;            /* of ids (task/key.h) */
};

struct eki_record_block;

/* An open file. */
struct eki_record {
    struct eki_record_shape shape;
    int function_count;
    char (*functions)[64]; /* [function_count] names */
    /* [function_count]: most bytes of an input or a result; 0: its tasks have
     * no data. */
    int64_t *data_bytes_max;
    char *about; /* the job in words, line by line; NULL: not known */
    int64_t iteration_count;
    /* Whether the writer has closed the file; else WARNING says where it
     * ends. */
    bool is_complete;
    char warning[256];

    /* Only the reader uses these. */
    struct eki_sealed_in in;
    int64_t last_iteration;
    int *rank_workers;
    struct eki_record_block *blocks; /* [iteration_count] */
    int64_t block_room, function_room;
    char path[];
};

/* One iteration, in memory. */
struct eki_record_iteration {
    struct eki_record_head head;
    struct eki_record_worker *workers; /* [shape.workers] */
    struct eki_record_task *tasks; /* [task_count], one worker after another */
    int64_t task_count;
    struct eki_record_family *families; /* [family_count], by worker */
    int64_t family_count;
    struct eki_record_span *spans; /* [span_count], by worker */
    int64_t span_count;
    struct eki_record_payload *payloads; /* [payload_count], by task */
    int64_t payload_count, payload_room;
};

/*
 * Open the record PATH and check all of it.  A file that ends early is opened
 * with the iterations that are whole.
 *
 * EK_ERR_FILE: it cannot be read, is no record, is of another version or is
 * damaged; the message names the byte.  EK_ERR_NOMEM.
 */
ek_status eki_record_open(const char *path, struct eki_record **record);
void eki_record_close(struct eki_record **record);

/*
 * Read iteration K, 0 ... iteration_count - 1 (head.iteration is its number in
 * the run).  On failure nothing is owned: EK_ERR_FILE as above, EK_ERR_NOMEM.
 */
ek_status eki_record_load(struct eki_record *record, int64_t k,
                          struct eki_record_iteration *iteration);
void eki_record_unload(struct eki_record_iteration *iteration);
/* The payload of a task of the list, which may have none: NULL. */
const struct eki_record_payload *
eki_record_payload_of(const struct eki_record_iteration *iteration,
                      int64_t task);

struct eki_record_writer;

/*
 * Create the file PATH, with its header.  Whatever cannot be written, here and
 * below, is EK_ERR_FILE; then the only thing to do is to abandon.
 */
ek_status eki_record_create(const char *path,
                            const struct eki_record_shape *shape,
                            struct eki_record_writer **writer);
/* Name the next function, before any task of it is written. */
ek_status eki_record_write_function(struct eki_record_writer *writer,
                                    const char *name);
/* Say that inputs and results of tasks of FUNCTION have at most BYTES_MAX
 * bytes, before any such task is written; once. */
ek_status eki_record_write_data(struct eki_record_writer *writer, int function,
                                int64_t bytes_max);
/* Say in words what job it was, in whole lines, 64 KiB at most; before the
 * first iteration, once. */
ek_status eki_record_write_about(struct eki_record_writer *writer,
                                 const char *about);
/* Say the key base of the job, before the first iteration; without this it is
 * 0. */
ek_status eki_record_write_key_base(struct eki_record_writer *writer, int base);
/* How many functions were named. */
int eki_record_functions_written(const struct eki_record_writer *writer);

/*
 * Write an iteration: begin with the sum of the packed bytes of all workers,
 * give the bytes worker by worker, in any pieces, and end.  Only the end tells
 * of failures.
 */
void eki_record_begin(struct eki_record_writer *writer,
                      const struct eki_record_head *head, int64_t bytes);
void eki_record_put(struct eki_record_writer *writer, const void *data,
                    size_t bytes);
ek_status eki_record_end(struct eki_record_writer *writer);

/* Say that the record is complete, and close it. */
ek_status eki_record_finish(struct eki_record_writer **writer);
/* Close the record as it is; NULL is accepted. */
void eki_record_abandon(struct eki_record_writer **writer);

/* Packed workers and tasks, in a buffer that grows. */
struct eki_record_pack {
    int version;         /* of the file they are for */
    unsigned char *data; /* owned */
    size_t bytes, room;
    size_t worker_at; /* where the open worker begins ... */
    int64_t count;    /* ... its tasks so far ... */
    uint64_t end_ns;  /* ... when the last has ended, as it is read ... */
    int64_t families; /* ... families ... */
    int64_t spans;    /* ... and spans */
};

/* Begin a worker (its counts come at the end), add its tasks (id, function,
 * bin, flags, start), its families, its spans, end it; false: no memory. */
bool eki_record_pack_begin(struct eki_record_pack *pack);
bool eki_record_pack_task(struct eki_record_pack *pack,
                          const struct eki_record_task *task);
/* Of the task packed last, which has the flag; 1 ... EKI_PAYLOAD_MOST bytes. */
bool eki_record_pack_payload(struct eki_record_pack *pack, const void *payload,
                             int bytes);
bool eki_record_pack_family(struct eki_record_pack *pack,
                            const struct eki_record_family *family);
bool eki_record_pack_span(struct eki_record_pack *pack,
                          const struct eki_record_span *span);
/* Add what another pack has of the same worker, which has none of it yet:
 * tasks, families or spans. */
bool eki_record_pack_append(struct eki_record_pack *pack,
                            const struct eki_record_pack *part);
/* Counts all of these itself: those of the worker are not read. */
void eki_record_pack_end(struct eki_record_pack *pack,
                         const struct eki_record_worker *worker);
void eki_record_pack_free(struct eki_record_pack *pack);

struct eki_recording;

/* DESTINATION with the collection's name in place of each %, owned by the
 * caller; NULL: no memory. */
char *eki_record_path(const char *destination, const char *collection);

/*
 * Record what ENGINE runs to the file DESTINATION; "0": *RECORDING stays NULL.
 * ABOUT, of rank 0, is the job in words.
 * % in it stands for COLLECTION.  Local; only rank 0 opens the file and may
 * fail with EK_ERR_FILE.
 */
ek_status eki_recording_create(struct eki_engine *engine,
                               const char *collection, const char *destination,
                               const char *about,
                               struct eki_recording **recording);
/* Completes the file; NULL is accepted. */
void eki_recording_destroy(struct eki_recording **recording);

/* The iteration pauses: keep what ran until now, of a phase that the engine has
 * left.  Local; memory that runs out ends the recording later, and so does a
 * phase that was not counted in what the iteration counts. */
void eki_recording_keep(struct eki_recording *recording, bool is_counted);

/*
 * Collective: write what ran in the phase that the engine has left and nobody
 * has restored; the same status on all ranks.  HEAD.wall_ns is this rank's.
 *
 * A file that cannot be written any more, or memory that runs out, ends the
 * recording with a warning.  EK_ERR_MPI: communication failed.
 */
ek_status eki_recording_write(struct eki_recording *recording,
                              struct eki_fabric *fabric,
                              const struct eki_record_head *head);

#endif
