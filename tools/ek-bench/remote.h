/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways to reach tiles of another rank: its memory where it can be seen, a store
 * of the library, an MPI window, Global Arrays.
 *
 * Each of two ranks owns as many tiles of each size.  The ranks *meet*: rank 0,
 * the asker, moves tiles, while rank 1 waits inside of the library, or computes
 * first.  Between meetings each rank may write its own tiles.
 */
#ifndef EK_BENCH_REMOTE_H
#define EK_BENCH_REMOTE_H

#include "bench.h"

enum {
    REMOTE_SIZES = 5,
    REMOTE_USUAL = 2, /* the size of which targets are */
    REMOTE_OWNERS = 2
};

enum remote_kind {
    REMOTE_GET,
    REMOTE_PUT,
    REMOTE_ACCUMULATE,
    REMOTE_KINDS
};

/* Tiles of one size. */
struct remote_size {
    const char *name;
    int64_t length; /* doubles */
    int count;      /* tiles of each rank: all of a size fit its cache */
};

extern const struct remote_size remote_sizes[REMOTE_SIZES];

struct remote;

/* What rank 0 does when the ranks meet. */
typedef void remote_asker_fn(struct remote *remote, void *argument);

/* A meeting. */
struct remote_meeting {
    remote_asker_fn *asker;
    void *argument;
    double busy_ns; /* that rank 1 computes; 0: it waits at once */
};

struct remote_ops {
    /* Move a tile of OWNER; done at both ends when it returns.  The asker. */
    void (*move)(struct remote *remote, enum remote_kind kind, int size,
                 int owner, int tile, double *values);
    /* A tile of this rank, between meetings; NULL: it has none. */
    double *(*local)(struct remote *remote, int size, int tile);
    /* Both ranks. */
    void (*meet)(struct remote *remote, const struct remote_meeting *meeting);
    void (*close)(struct remote *remote);
};

struct remote {
    const struct remote_ops *ops;
    const char *name;
    MPI_Comm both;
    int rank;
    double target; /* bases that 12.8 kB may take; 0: as many as it takes */
};

/* Doubles of all tiles of a rank, and of those before a tile. */
int64_t remote_length(void);
int64_t remote_offset(int size, int tile);

/* MOVE between VALUES and AT, memory that can be seen. */
void remote_copy(enum remote_kind kind, double *at, double *values,
                 int64_t length);

/* Memory of the other rank where both share some (SHARES), or one's own. */
struct remote *remote_memory_open(const struct bench *bench, MPI_Comm both,
                                  bool *shares);

/* How a store of the library is reached. */
struct remote_library {
    const char *name;
    bool is_apart;  /* each rank is a node of its own */
    double poll_ns; /* a busy rank calls ek_poll() so often; 0: never */
    ek_progress_policy progress;
    double target;
};

struct remote *remote_library_open(const struct bench *bench, MPI_Comm both,
                                   const struct remote_library *how);

/* A window that MPI allocates, or memory that is made one (IS_APART: then it is
 * not shared); NULL: MPI refuses it. */
struct remote *remote_window_open(const struct bench *bench, MPI_Comm both,
                                  bool is_apart);

#if defined(BENCH_HAS_GA)
/* Global Arrays; of all ranks, which must be two. */
struct remote *remote_arrays_open(MPI_Comm both);
/* Before MPI_Finalize(), if any was opened. */
void remote_arrays_end(void);
#endif

/* Both ranks; NULL is accepted. */
void remote_close(struct remote *remote);

#endif
