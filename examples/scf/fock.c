/* SPDX-License-Identifier: BSD-3-Clause */
#include "scf/fock.h"

#include <evenkeel_save.h>
#include <evenkeel_worker.h>

#include <stdlib.h>

struct fock {
    struct job job;
    struct kernel *kernel;
    struct kernel_shape shape;
    struct layout layout;
    struct fock_storage storage;
    struct matrix density;
    struct matrix sum; /* over the workers of this rank, or of all ranks */
    int64_t integrals; /* of the workers of this rank */
};

/* What each worker has to itself. */
struct mine {
    struct work work;
    struct matrix fock; /* where matrices are copied */
};

static void *mine_create(int here, void *context)
{
    const struct fock *fock = context;
    struct mine *mine = allocate(1, sizeof *mine);
    (void)here;
    mine->fock = fock->sum;
    mine->work = (struct work){.room = room_create(fock->kernel),
                               .density = &fock->density,
                               .fock = &fock->sum};
    if (!fock->storage.is_distributed) {
        matrix_copy(&mine->fock);
        mine->work.fock = &mine->fock;
    }
    return mine;
}

static void mine_begin(void *data, int here, void *context)
{
    struct mine *mine = data;
    (void)here, (void)context;
    mine->work.integrals = 0;
}

static void mine_end(void *data, int here, void *context)
{
    struct fock *fock = context;
    struct mine *mine = data;
    (void)here;
    fock->integrals += mine->work.integrals;
    if (fock->storage.is_distributed)
        return;
    matrix_add(&mine->fock, &fock->sum);
    matrix_zero(&mine->fock);
}

static void mine_destroy(void *data, void *context)
{
    struct mine *mine = data;
    (void)context;
    room_destroy(mine->work.room);
    free(mine->fock.value);
    free(mine);
}

static int fock_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct fock *fock = context;
    struct mine *mine = ek_worker_data(worker);
    (void)bytes;
    mine->work.worker = worker;
    switch (kernel_run(fock->kernel, *(const int64_t *)payload, &mine->work)) {
    case OUTCOME_NOTHING_EVER:
        ek_discard(worker); /* gone from all later iterations */
        break;
    case OUTCOME_NOTHING_NOW:
        ek_skip(worker); /* back in the next one */
        break;
    case OUTCOME_FAILED:
        return 1;
    case OUTCOME_DONE:
        break;
    }
    return 0;
}

/* Cut the matrices, whose values are not there yet. */
static void cut(struct fock *fock, MPI_Comm comm)
{
    const struct kernel_shape *shape = &fock->shape;
    const int64_t blocks[] = {shape->blocks, shape->blocks};
    const int64_t *const edge[] = {shape->edge, shape->edge};
    int size;
    MPI_Comm_size(comm, &size);
    layout_make_at(2, blocks, edge, size, NULL, &fock->layout);
    fock->sum = (struct matrix){
        .layout = &fock->layout, .is_lower = shape->is_symmetric, .comm = comm};
    fock->density = fock->sum;
}

static ek_status open_job(struct fock *fock, const struct job_setup *setup)
{
    const struct job_options job = {.name = "fock",
                                    .function = fock->shape.function,
                                    .total = fock->shape.tasks,
                                    .task = fock_task,
                                    .context = fock};
    ek_options collection = EK_OPTIONS_INIT;
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = mine_create;
    hooks.begin = mine_begin;
    hooks.end = mine_end;
    hooks.destroy = mine_destroy;
    hooks.context = fock;
    collection.hooks = &hooks;
    return job_open(setup, &job, collection, &fock->job);
}

static ek_status open_matrices(struct fock *fock)
{
    ek_collection *tasks = fock->job.tasks;
    if (!fock->storage.is_distributed) {
        matrix_copy(&fock->density);
        matrix_copy(&fock->sum);
        return kernel_open(fock->kernel, &fock->sum, NULL);
    }
    int64_t cache_bytes = (int64_t)(fock->storage.cache_mb * 1e6);
    ek_status status =
        matrix_spread(&fock->density, tasks, "density", cache_bytes);
    if (status == EK_OK)
        status = matrix_spread(&fock->sum, tasks, "Fock", 0);
    return status == EK_OK ? kernel_open(fock->kernel, &fock->sum, tasks)
                           : status;
}

ek_status fock_create(const struct job_setup *setup,
                      const struct system *system,
                      const struct fock_options *options,
                      const struct fock_storage *storage, struct fock **fock)
{
    struct fock *made = allocate(1, sizeof *made);
    if (storage)
        made->storage = *storage;
    made->kernel = kernel_create(system, options, &made->shape);
    cut(made, setup->comm);
    ek_status status = open_job(made, setup);
    if (status == EK_OK)
        status = open_matrices(made);
    if (status != EK_OK)
        fock_destroy(&made);
    *fock = made;
    return status;
}

void fock_destroy(struct fock **fock)
{
    struct fock *gone = *fock;
    if (!gone)
        return;
    matrix_free(&gone->density);
    matrix_free(&gone->sum);
    kernel_destroy(gone->kernel);
    job_close(&gone->job);
    free(gone);
    *fock = NULL;
}

ek_status fock_resume(struct fock *fock, ek_save_fn *write, void *context,
                      double *density)
{
    if (!fock->storage.is_distributed)
        return job_resume(&fock->job, write, context);
    ek_status status = job_resume(&fock->job, NULL, NULL);
    return status == EK_OK && fock->job.has_loaded
               ? matrix_sum(&fock->density, density)
               : status;
}

bool fock_is_spread(const struct fock *fock)
{
    return fock->storage.is_distributed;
}

bool fock_partial(struct fock *fock, double *matrix)
{
    const ek_collection *tasks = fock->job.tasks;
    struct matrix all = fock->sum;
    if (fock->storage.is_distributed || !ek_goes_on(tasks))
        return false;
    matrix_copy(&all);
    matrix_add(&fock->sum, &all);
    for (int here = 0; here < ek_rank_workers(tasks); here++) {
        const struct mine *mine = ek_rank_worker_data(tasks, here);
        matrix_add(&mine->fock, &all);
    }
    matrix_sum(&all, matrix);
    matrix_free(&all);
    return true;
}

bool fock_wants_partial(const struct fock *fock)
{
    return !fock->storage.is_distributed && ek_goes_on(fock->job.tasks);
}

void fock_set_partial(struct fock *fock, double *matrix)
{
    struct matrix given = fock->sum;
    given.value = matrix;
    matrix_add(&given, &fock->sum);
}

const struct job *fock_job(const struct fock *fock)
{
    return &fock->job;
}

int64_t fock_bytes(const struct fock *fock)
{
    int64_t bytes = matrix_bytes(&fock->density) + matrix_bytes(&fock->sum) +
                    kernel_bytes(fock->kernel);
    if (!fock->storage.is_distributed)
        bytes += ek_rank_workers(fock->job.tasks) * matrix_bytes(&fock->sum);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX,
                  fock->job.setup.comm);
    return bytes;
}

ek_status fock_build(struct fock *fock, const double *density, double *matrix,
                     struct fock_report *report)
{
    double start = MPI_Wtime();
    MPI_Comm comm = fock->job.setup.comm;
    fock->integrals = 0;
    ek_status status = matrix_set(&fock->density, density);
    if (status == EK_OK && !ek_goes_on(fock->job.tasks))
        status = matrix_clear(&fock->sum);
    if (status != EK_OK)
        return status;
    kernel_look(fock->kernel, density);
    status = job_run(&fock->job, &report->figures);
    if (status == EK_OK)
        status = matrix_sum(&fock->sum, matrix);
    if (status != EK_OK)
        return status;
    MPI_Allreduce(&fock->integrals, &report->integrals, 1, MPI_INT64_T, MPI_SUM,
                  comm);
    report->seconds = MPI_Wtime() - start;
    return EK_OK;
}
