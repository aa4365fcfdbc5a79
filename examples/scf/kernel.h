/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tasks of a Hartree-Fock program compute.
 *
 * Each program defines these structs and functions for itself.
 */
#ifndef SCF_KERNEL_H
#define SCF_KERNEL_H

#include "scf/matrix.h"

/** What it is about, and how exactly it is computed. */
struct system;
struct fock_options;

struct kernel;

/** What a Fock builder must know of it. */
struct kernel_shape {
    const char *function; /* what tasks do, in records */
    int64_t tasks;        /* numbered 0 ... tasks - 1 */
    int64_t blocks;       /* into which functions are cut, ... */
    const int64_t *edge;  /* ... at these, as of layout_make_at(); borrowed */
    bool is_symmetric;    /* tasks use matrices whose is_lower is set */
};

/** @param[in] system  Borrowed, as are the options. */
struct kernel *kernel_create(const struct system *system,
                             const struct fock_options *options,
                             struct kernel_shape *shape);

/**
 * Prepare what tasks read and no iteration changes.
 *
 * @param[in] like   A matrix without values: its layout and its ranks.
 * @param[in] tasks  Spread it over the ranks of this collection; NULL: a copy
 *                   on each rank.
 *
 * Call: Collective.
 */
ek_status kernel_open(struct kernel *kernel, const struct matrix *like,
                      ek_collection *tasks);

/** Bytes of that on this rank. */
int64_t kernel_bytes(const struct kernel *kernel);

/**
 * Look at the density of the next iteration.
 *
 * @param[in] density  [n][n] on rank 0; NULL on others.
 *
 * Call: Collective.
 */
void kernel_look(struct kernel *kernel, const double *density);

/** Call: Collective, before the collection is destroyed. */
void kernel_destroy(struct kernel *kernel);

/** What a worker has to itself. */
struct room;

struct room *room_create(const struct kernel *kernel);

void room_destroy(struct room *room);

/** What a running task works with. */
struct work {
    ek_worker *worker;
    struct room *room;
    const struct matrix *density;
    const struct matrix *fock; /* to add to */
    int64_t integrals;         /* evaluated, where they are counted */
};

/** What a task came to. */
enum outcome {
    OUTCOME_DONE,
    OUTCOME_NOTHING_NOW,  /* the present density makes all negligible */
    OUTCOME_NOTHING_EVER, /* all integrals are negligible */
    OUTCOME_FAILED        /* Evenkeel has said it */
};

/** Do a task.  Threads: Any number, each with work of its own. */
enum outcome kernel_run(const struct kernel *kernel, int64_t task,
                        struct work *work);

#endif
