/* SPDX-License-Identifier: BSD-3-Clause */
#include "scf/scf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIIS_DEPTH 8

struct scf {
    const struct scf_system *system;
    struct fock *fock;
    MPI_Comm comm;
    bool is_first; /* rank; the others have nothing of the rest */
    struct diis *diis;
    double *density, *last, *matrix, *orbitals; /* [n][n] */
    double *energies;
};

static size_t entries_of(const struct scf_system *system)
{
    return (size_t)system->n * (size_t)system->n;
}

static double *matrix_new(const struct scf_system *system)
{
    return allocate(entries_of(system), sizeof(double));
}

void scf_system_make(struct scf_system *system, int n)
{
    system->n = n;
    system->overlap = matrix_new(system);
    system->core = matrix_new(system);
    system->guess = matrix_new(system);
}

void scf_system_free(struct scf_system *system)
{
    orthogonalizer_free(&system->orthogonalizer);
    free(system->overlap);
    free(system->core);
    free(system->guess);
}

static void scf_make(struct scf *scf)
{
    const struct scf_system *system = scf->system;
    if (!scf->is_first)
        return;
    scf->diis =
        diis_create(&system->orthogonalizer, system->overlap, DIIS_DEPTH);
    scf->density = matrix_new(system);
    scf->last = matrix_new(system);
    scf->matrix = matrix_new(system);
    scf->orbitals = matrix_new(system);
    scf->energies = allocate((size_t)system->n, sizeof(double));
    memcpy(scf->density, system->guess, entries_of(system) * sizeof(double));
}

static void scf_free(struct scf *scf)
{
    if (!scf->is_first)
        return;
    diis_destroy(scf->diis);
    free(scf->density);
    free(scf->last);
    free(scf->matrix);
    free(scf->orbitals);
    free(scf->energies);
}

/* Part of a save, unless tiles are: the density whose Fock matrix comes next,
 * and what there is of that. */
static int density_write(const char *path, void *context)
{
    const struct scf *scf = context;
    size_t entries = entries_of(scf->system);
    bool is_partial = fock_partial(scf->fock, scf->matrix);
    if (!scf->is_first)
        return 0;
    FILE *file = fopen(path, "wb");
    bool is_good =
        file && fwrite(scf->density, sizeof(double), entries, file) == entries;
    if (is_good && is_partial)
        is_good = fwrite(scf->matrix, sizeof(double), entries, file) == entries;
    return file && fclose(file) != 0 ? 1 : !is_good;
}

static bool density_read(const struct scf *scf, const char *path)
{
    size_t entries = entries_of(scf->system);
    FILE *file = fopen(path, "rb");
    bool is_good =
        file && fread(scf->density, sizeof(double), entries, file) == entries;
    if (is_good && fock_wants_partial(scf->fock)) {
        is_good = fread(scf->matrix, sizeof(double), entries, file) == entries;
        fock_set_partial(scf->fock, scf->matrix);
    }
    if (file)
        fclose(file);
    return is_good;
}

/* Go on from a save, if that is wanted; what DIIS remembered is not in it.
 * *DONE becomes the number of iterations before. */
static bool resume(struct scf *scf, int *done, struct message *message)
{
    const struct job *job = fock_job(scf->fock);
    if (fock_resume(scf->fock, density_write, scf, scf->density) != EK_OK)
        return message_leave(message);
    const char *path = ek_loaded(job->tasks, NULL);
    int is_good = !path || !scf->is_first || fock_is_spread(scf->fock) ||
                  density_read(scf, path);
    MPI_Bcast(&is_good, 1, MPI_INT, 0, scf->comm);
    *done = job->first;
    return is_good ||
           message_set(message, "%s: no density of this problem", path);
}

/* The Fock matrix of the present density, and what it tells. */
static ek_status evaluate(struct scf *scf, struct scf_row *row)
{
    const struct scf_system *system = scf->system;
    ek_status status =
        fock_build(scf->fock, scf->density, scf->matrix, &row->fock);
    if (status != EK_OK || !scf->is_first)
        return status;
    for (size_t i = 0; i < entries_of(system); i++)
        scf->matrix[i] += system->core[i];
    row->energy =
        system->repulsion + (matrix_dot(scf->density, system->core, system->n) +
                             matrix_dot(scf->density, scf->matrix, system->n)) /
                                system->occupation;
    row->error = diis_add(scf->diis, scf->matrix, scf->density);
    return EK_OK;
}

/* The density of the next iteration. */
static bool improve(struct scf *scf, struct scf_row *row)
{
    const struct scf_system *system = scf->system;
    size_t entries = entries_of(system);
    if (!scf->is_first)
        return true;
    diis_extrapolate(scf->diis, scf->matrix);
    if (row->iteration == 1)
        diis_clear(scf->diis); /* the guess does not belong to orbitals */
    if (!orbitals_solve(&system->orthogonalizer, scf->matrix, scf->energies,
                        scf->orbitals))
        return false;
    memcpy(scf->last, scf->density, entries * sizeof(double));
    density_make(scf->orbitals, system->n, system->orthogonalizer.m,
                 system->occupied, NULL, scf->density);
    row->change = 0;
    for (size_t i = 0; i < entries; i++) {
        scf->density[i] *= system->occupation;
        row->change = fmax(row->change, fabs(scf->density[i] - scf->last[i]));
    }
    return true;
}

/* Everyone goes on with what rank 0 has found. */
static void share(const struct scf *scf, struct scf_row *row, bool *is_solved)
{
    double figures[4] = {row->energy, row->error, row->change, *is_solved};
    MPI_Bcast(figures, 4, MPI_DOUBLE, 0, scf->comm);
    row->energy = figures[0];
    row->error = figures[1];
    row->change = figures[2];
    *is_solved = figures[3] != 0;
}

static bool iterate(struct scf *scf, const struct scf_options *options,
                    struct scf_result *result, struct message *message)
{
    struct scf_row row = {0};
    if (!resume(scf, &row.iteration, message))
        return false;
    while (row.iteration < options->iterations) {
        row.iteration++;
        if (evaluate(scf, &row) != EK_OK)
            return message_leave(message);
        if (!job_goes_on(fock_job(scf->fock), message))
            return false;
        bool is_solved = improve(scf, &row);
        share(scf, &row, &is_solved);
        if (!is_solved)
            return message_set(message, "LAPACK failed on the Fock matrix");
        if (!isfinite(row.energy) || !isfinite(row.error))
            return message_set(
                message,
                "iteration %d: the energy is %g hartree, the "
                "DIIS error %g: the basis set or the molecule is wrong",
                row.iteration, row.energy, row.error);
        *result = (struct scf_result){.energy = row.energy,
                                      .is_converged =
                                          row.error < options->error_max &&
                                          row.change < options->change_max};
        if (options->row)
            options->row(&row, options->row_context);
        if (result->is_converged && !options->is_unending)
            break;
    }
    return true;
}

bool scf_run(const struct scf_system *system, struct fock *fock,
             const struct scf_options *options, struct scf_result *result,
             double *density, struct message *message)
{
    struct scf scf = {
        .system = system, .fock = fock, .comm = fock_job(fock)->setup.comm};
    int rank;
    MPI_Comm_rank(scf.comm, &rank);
    scf.is_first = rank == 0;
    *result = (struct scf_result){0};
    scf_make(&scf);
    bool is_good = iterate(&scf, options, result, message);
    if (density && scf.is_first)
        memcpy(density, scf.density, entries_of(system) * sizeof(double));
    scf_free(&scf);
    return is_good;
}
