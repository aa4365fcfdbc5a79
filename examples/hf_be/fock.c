/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each worker adds to a Fock matrix of its own; they are summed over workers
 * and ranks when the iteration is over.
 */
#include "fock.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

struct fock {
    struct tiles tiles;
    struct job job;
    struct matrix bounds, density;
    struct matrix sum; /* over the workers of this rank */
    int64_t integrals; /* likewise */
    struct quartet_input input;
};

/* What each worker has to itself. */
struct mine {
    struct matrix fock;
    struct quartet_room *room;
    int64_t integrals;
};

static size_t matrix_bytes(const struct matrix *matrix)
{
    return (size_t)matrix_entries(matrix) * sizeof(double);
}

static void *mine_create(int here, void *context)
{
    const struct fock *fock = context;
    struct mine *mine = allocate(1, sizeof *mine);
    (void)here;
    matrix_make(&fock->tiles, &mine->fock);
    mine->room = quartet_room_create(&fock->tiles);
    return mine;
}

static void mine_begin(void *data, int here, void *context)
{
    struct mine *mine = data;
    (void)here;
    (void)context;
    memset(mine->fock.value, 0, matrix_bytes(&mine->fock));
    mine->integrals = 0;
}

static void mine_end(void *data, int here, void *context)
{
    struct fock *fock = context;
    const struct mine *mine = data;
    (void)here;
    int entries = matrix_entries(&fock->sum);
    for (int i = 0; i < entries; i++)
        fock->sum.value[i] += mine->fock.value[i];
    fock->integrals += mine->integrals;
}

static void mine_destroy(void *data, void *context)
{
    struct mine *mine = data;
    (void)context;
    quartet_room_destroy(mine->room);
    matrix_free(&mine->fock);
    free(mine);
}

static int fock_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct fock *fock = context;
    const int64_t task = *(const int64_t *)payload;
    (void)bytes;
    if (tiles_is_null(&fock->tiles, task)) {
        ek_discard(worker); /* gone from all later iterations */
        return 0;
    }
    struct mine *mine = ek_worker_data(fock->job.tasks, ek_worker_here(worker));
    mine->integrals +=
        quartet_run(&fock->input, task, worker, mine->room, &mine->fock);
    return 0;
}

static void make_bounds(const struct chain *chain, struct matrix *bounds)
{
    double *value = bounds->value;
    for (int i = 0; i < chain->functions; i++) {
        for (int j = 0; j < chain->functions; j++) {
            struct pair pair =
                pair_make(&chain->gaussian[i], &chain->gaussian[j]);
            *value++ = pair_bound(&pair);
        }
    }
}

static struct fock *fock_make(const struct chain *chain,
                              const struct fock_options *options)
{
    struct fock *made = allocate(1, sizeof *made);
    tiles_make(chain, options->width, options->screen, &made->tiles);
    matrix_make(&made->tiles, &made->bounds);
    matrix_make(&made->tiles, &made->density);
    matrix_make(&made->tiles, &made->sum);
    make_bounds(chain, &made->bounds);
    made->input = (struct quartet_input){chain, &made->tiles, &made->bounds,
                                         &made->density};
    return made;
}

ek_status fock_create(const struct job_setup *setup,
                      const struct system *system,
                      const struct fock_options *options, struct fock **fock)
{
    struct fock *made = fock_make(&system->chain, options);
    struct job_options job = {.name = "fock",
                              .function = "quartet",
                              .total = tiles_tasks(&made->tiles),
                              .task = fock_task,
                              .context = made};
    ek_options collection = EK_OPTIONS_INIT;
    collection.worker_create = mine_create;
    collection.worker_begin = mine_begin;
    collection.worker_end = mine_end;
    collection.worker_destroy = mine_destroy;
    collection.worker_context = made;
    ek_status status = job_open(setup, &job, collection, &made->job);
    if (status != EK_OK)
        fock_destroy(&made);
    *fock = made;
    return status;
}

void fock_destroy(struct fock **fock)
{
    if (!*fock)
        return;
    job_close(&(*fock)->job);
    matrix_free(&(*fock)->bounds);
    matrix_free(&(*fock)->density);
    matrix_free(&(*fock)->sum);
    tiles_free(&(*fock)->tiles);
    free(*fock);
    *fock = NULL;
}

const struct job *fock_job(const struct fock *fock)
{
    return &fock->job;
}

ek_status fock_build(struct fock *fock, const double *density, double *matrix,
                     struct fock_report *report)
{
    double start = MPI_Wtime();
    size_t bytes = matrix_bytes(&fock->sum);
    memcpy(fock->density.value, density, bytes);
    memset(fock->sum.value, 0, bytes);
    fock->integrals = 0;
    report->process = (ek_process_report)EK_PROCESS_REPORT_INIT;
    ek_status status = job_run(&fock->job, &report->process);
    if (status != EK_OK)
        return status;
    MPI_Allreduce(fock->sum.value, matrix, matrix_entries(&fock->sum),
                  MPI_DOUBLE, MPI_SUM, fock->job.setup.comm);
    MPI_Allreduce(&fock->integrals, &report->integrals, 1, MPI_INT64_T, MPI_SUM,
                  fock->job.setup.comm);
    report->seconds = MPI_Wtime() - start;
    return EK_OK;
}
