/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matrix is 2J - K, of a density of half the electrons.
 *
 * Each task finds out from its number what it stands for, adds its integrals to
 * the Fock matrix of the worker that runs it, and says so when there is nothing
 * to add.
 */
#include "fock.h"
#include "repulsion.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

struct fock {
    struct job job;
    int n; /* basis functions */
    struct repulsion repulsion;
    double *matrix; /* [n][n], sum over the workers of this rank */
};

struct mine {
    struct quartets *quartets;
    double *matrix; /* [n][n] */
};

static size_t matrix_bytes(const struct fock *fock)
{
    return (size_t)fock->n * (size_t)fock->n * sizeof(double);
}

static void *mine_create(int here, void *context)
{
    const struct fock *fock = context;
    struct mine *mine = allocate(1, sizeof *mine);
    (void)here;
    mine->quartets = quartets_create(fock->repulsion.integrals);
    mine->matrix = allocate(1, matrix_bytes(fock));
    return mine;
}

static void mine_begin(void *data, int here, void *context)
{
    struct mine *mine = data;
    (void)here;
    memset(mine->matrix, 0, matrix_bytes(context));
}

static void mine_end(void *data, int here, void *context)
{
    struct fock *fock = context;
    const struct mine *mine = data;
    (void)here;
    for (size_t i = 0; i < (size_t)fock->n * (size_t)fock->n; i++)
        fock->matrix[i] += mine->matrix[i];
}

static void mine_destroy(void *data, void *context)
{
    struct mine *mine = data;
    (void)context;
    quartets_destroy(mine->quartets);
    free(mine->matrix);
    free(mine);
}

static int fock_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct fock *fock = context;
    const int64_t *index = payload;
    struct mine *mine = ek_worker_data(fock->job.tasks, ek_worker_here(worker));
    (void)bytes;
    switch (
        repulsion_run(&fock->repulsion, *index, mine->quartets, mine->matrix)) {
    case OUTCOME_NOTHING_EVER:
        ek_discard(worker); /* gone from all later iterations */
        break;
    case OUTCOME_NOTHING_NOW:
        ek_skip(worker); /* back in the next one */
        break;
    case OUTCOME_DONE:
        break;
    }
    return 0;
}

ek_status fock_create(const struct job_setup *setup,
                      const struct system *system,
                      const struct fock_options *options, struct fock **fock)
{
    struct fock *made = allocate(1, sizeof *made);
    made->n = system->basis.functions;
    made->matrix = allocate(1, matrix_bytes(made));
    repulsion_make(&made->repulsion, &system->basis, system->integrals,
                   options->tile, options->schwarz,
                   options->is_density_screened);
    const struct job_options job = {.name = "fock",
                                    .function = "fock",
                                    .total =
                                        tiles_tasks(&made->repulsion.tiles),
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
    repulsion_free(&(*fock)->repulsion);
    free((*fock)->matrix);
    free(*fock);
    *fock = NULL;
}

const struct job *fock_job(const struct fock *fock)
{
    return &fock->job;
}

/* Only one of two symmetric entries was added to: take the mean. */
static void symmetrize(double *matrix, int n)
{
    size_t width = (size_t)n;
    for (size_t i = 0; i < width; i++) {
        for (size_t j = 0; j < i; j++) {
            double mean = 0.5 * (matrix[i * width + j] + matrix[j * width + i]);
            matrix[i * width + j] = mean;
            matrix[j * width + i] = mean;
        }
    }
}

ek_status fock_build(struct fock *fock, const double *density, double *matrix,
                     struct fock_report *report)
{
    double start = MPI_Wtime();
    report->integrals = 0;
    report->process = (ek_process_report)EK_PROCESS_REPORT_INIT;
    memset(fock->matrix, 0, matrix_bytes(fock));
    repulsion_set_density(&fock->repulsion, density);
    ek_status status = job_run(&fock->job, &report->process);
    if (status != EK_OK)
        return status;
    MPI_Allreduce(fock->matrix, matrix, fock->n * fock->n, MPI_DOUBLE, MPI_SUM,
                  fock->job.setup.comm);
    symmetrize(matrix, fock->n);
    report->seconds = MPI_Wtime() - start;
    return EK_OK;
}
