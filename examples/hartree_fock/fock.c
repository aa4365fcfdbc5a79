/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A task collection that builds the same matrix again and again.
 *
 * The tasks are numbered 0 ... N - 1 and added once, as ranges.  Each finds out
 * what it stands for, adds its integrals to the Fock matrix of the worker that
 * runs it, and says so when there is nothing to add.  ek_restore() then makes
 * the next iteration from what happened in this one.
 */
#include "fock.h"
#include "repulsion.h"

#include <stdlib.h>
#include <string.h>

struct fock {
    MPI_Comm comm;
    enum scheme scheme;
    int n; /* basis functions */
    struct repulsion repulsion;
    ek_collection *tasks;
    ek_function function;
    bool has_run;   /* there is an iteration to restore from */
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
    struct mine *mine = ek_worker_data(fock->tasks, ek_worker_here(worker));
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

const char *scheme_name(enum scheme scheme)
{
    static const char *const names[SCHEMES] = {
        "static",   "counter",     "StealAll",    "Steal",
        "StealRet", "centralized", "hierarchical"};
    return names[scheme];
}

static ek_restore_policy restore_of(enum scheme scheme)
{
    switch (scheme) {
    case SCHEME_STEAL_RETAIN:
        return EK_RESTORE_RETAIN;
    case SCHEME_CENTRALIZED:
        return EK_RESTORE_CENTRALIZED;
    case SCHEME_HIERARCHICAL:
        return EK_RESTORE_HIERARCHICAL;
    default:
        return EK_RESTORE_ORIGINAL;
    }
}

static ek_steal_policy steal_of(enum scheme scheme)
{
    switch (scheme) {
    case SCHEME_STATIC:
    case SCHEME_CENTRALIZED:
    case SCHEME_HIERARCHICAL:
        return EK_STEAL_NONE;
    case SCHEME_COUNTER:
        return EK_STEAL_COUNTER;
    default:
        return EK_STEAL_RANDOM;
    }
}

static ek_options options_of(const struct fock_options *options,
                             struct fock *fock)
{
    ek_options made = EK_OPTIONS_INIT;
    made.name = "fock";
    made.payload_bytes = 16; /* a number; ranges need 16 */
    made.ignore_environment = options->ignore_environment;
    made.restore = restore_of(options->scheme);
    made.steal = steal_of(options->scheme);
    made.worker_create = mine_create;
    made.worker_begin = mine_begin;
    made.worker_end = mine_end;
    made.worker_destroy = mine_destroy;
    made.worker_context = fock;
    return made;
}

ek_status fock_create(MPI_Comm comm, const struct system *system,
                      const struct fock_options *options, struct fock **fock)
{
    struct fock *made = allocate(1, sizeof *made);
    made->comm = comm;
    made->scheme = options->scheme;
    made->n = system->basis.functions;
    made->matrix = allocate(1, matrix_bytes(made));
    repulsion_make(&made->repulsion, &system->basis, system->integrals,
                   options->tile, options->schwarz,
                   options->is_density_screened);
    ek_options collection = options_of(options, made);
    ek_status status = ek_create(comm, &collection, &made->tasks);
    if (status == EK_OK)
        status =
            ek_register(made->tasks, "fock", fock_task, made, &made->function);
    if (status != EK_OK)
        fock_destroy(&made);
    *fock = made;
    return status;
}

void fock_destroy(struct fock **fock)
{
    if (!*fock)
        return;
    ek_destroy(&(*fock)->tasks);
    repulsion_free(&(*fock)->repulsion);
    free((*fock)->matrix);
    free(*fock);
    *fock = NULL;
}

int64_t fock_tasks(const struct fock *fock)
{
    return tiles_tasks(&fock->repulsion.tiles);
}

int fock_workers(const struct fock *fock)
{
    return ek_worker_count(fock->tasks);
}

/* Each rank adds an equal share of the numbers, in consecutive blocks. */
static ek_status add_tasks(struct fock *fock)
{
    int rank, size;
    MPI_Comm_rank(fock->comm, &rank);
    MPI_Comm_size(fock->comm, &size);
    int64_t tasks = fock_tasks(fock), share = tasks / size;
    int64_t rest = tasks % size;
    int64_t first = rank * share + (rank < rest ? rank : rest);
    int64_t last = first + share + (rank < rest);
    return ek_add_range(fock->tasks, fock->function, first, last);
}

/* Bring the collection into the state in which an iteration starts. */
static ek_status prepare_tasks(struct fock *fock)
{
    bool is_first = !fock->has_run;
    fock->has_run = true;
    if (is_first)
        return add_tasks(fock);
    /* A loop over a shared counter knows nothing of the last iteration. */
    bool is_anew =
        fock->scheme == SCHEME_STEAL_ALL || fock->scheme == SCHEME_COUNTER;
    if (!is_anew)
        return ek_restore(fock->tasks, EK_RESTORE_DEFAULT, NULL);
    ek_status status = ek_clear(fock->tasks);
    return status == EK_OK ? add_tasks(fock) : status;
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
    report->process = (ek_process_report)EK_PROCESS_REPORT_INIT;
    memset(fock->matrix, 0, matrix_bytes(fock));
    repulsion_set_density(&fock->repulsion, density);

    ek_status status = prepare_tasks(fock);
    if (status == EK_OK)
        status = ek_process(fock->tasks, &report->process);
    if (status != EK_OK)
        return status;

    MPI_Allreduce(fock->matrix, matrix, fock->n * fock->n, MPI_DOUBLE, MPI_SUM,
                  fock->comm);
    symmetrize(matrix, fock->n);
    report->seconds = MPI_Wtime() - start;
    return EK_OK;
}
