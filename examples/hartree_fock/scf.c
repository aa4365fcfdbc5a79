/* SPDX-License-Identifier: BSD-3-Clause */
#include "scf.h"

#include <stdlib.h>
#include <string.h>

#define DIIS_DEPTH 8

struct scf {
    MPI_Comm comm;
    const struct system *system;
    struct fock *fock;
    struct diis *diis;
    double *density, *matrix, *orbitals; /* [n][n] */
    double *energies;
};

static size_t matrix_entries(const struct scf *scf)
{
    size_t n = (size_t)scf->system->basis.functions;
    return n * n;
}

static void scf_make(struct scf *scf)
{
    size_t entries = matrix_entries(scf);
    scf->diis = diis_create(&scf->system->orthogonalizer, scf->system->overlap,
                            DIIS_DEPTH);
    scf->density = allocate(entries, sizeof(double));
    scf->matrix = allocate(entries, sizeof(double));
    scf->orbitals = allocate(entries, sizeof(double));
    scf->energies =
        allocate((size_t)scf->system->basis.functions, sizeof(double));
    memcpy(scf->density, scf->system->guess, entries * sizeof(double));
}

static void scf_free(struct scf *scf)
{
    diis_destroy(scf->diis);
    free(scf->density);
    free(scf->matrix);
    free(scf->orbitals);
    free(scf->energies);
}

/* The Fock matrix of the present density, and what it tells. */
static ek_status evaluate(struct scf *scf, struct scf_row *row)
{
    const struct system *system = scf->system;
    int n = system->basis.functions;
    ek_status status =
        fock_build(scf->fock, scf->density, scf->matrix, &row->fock);
    if (status != EK_OK)
        return status;
    for (size_t i = 0; i < matrix_entries(scf); i++)
        scf->matrix[i] += system->core[i];
    row->energy = system->repulsion +
                  matrix_dot(scf->density, system->core, n) +
                  matrix_dot(scf->density, scf->matrix, n);
    row->error = diis_add(scf->diis, scf->matrix, scf->density);
    return EK_OK;
}

/* The density of the next iteration. */
static bool improve(struct scf *scf, struct scf_row *row)
{
    const struct system *system = scf->system;
    int n = system->basis.functions, m = system->orthogonalizer.m;
    diis_extrapolate(scf->diis, scf->matrix);
    if (row->iteration == 1)
        diis_clear(scf->diis); /* the guess does not belong to orbitals */
    if (!orbitals_solve(&system->orthogonalizer, scf->matrix, scf->energies,
                        scf->orbitals))
        return false;
    density_make(scf->orbitals, n, m, system->occupied, NULL, scf->density);
    return true;
}

/*
 * Everyone goes on with the figures of rank 0: processors that round
 * differently must not disagree about the end.
 */
static void share(struct scf *scf, struct scf_row *row)
{
    double figures[2] = {row->energy, row->error};
    MPI_Bcast(figures, 2, MPI_DOUBLE, 0, scf->comm);
    row->energy = figures[0];
    row->error = figures[1];
}

static bool iterate(struct scf *scf, const struct scf_options *options,
                    struct scf_result *result, struct message *message)
{
    struct scf_row row = {0};
    int entries = (int)matrix_entries(scf);
    while (row.iteration < options->iterations) {
        row.iteration++;
        if (evaluate(scf, &row) != EK_OK)
            return message_set(message, "%s", ek_error_message());
        share(scf, &row);
        result->energy = row.energy;
        result->error = row.error;
        result->iterations = row.iteration;
        result->is_converged = row.error < SCF_ERROR_MAX;
        options->row(&row, options->row_context);
        if (result->is_converged && !options->is_unending)
            break;
        int is_solved = improve(scf, &row);
        MPI_Bcast(&is_solved, 1, MPI_INT, 0, scf->comm);
        if (!is_solved)
            return message_set(message, "LAPACK failed on the Fock matrix");
        MPI_Bcast(scf->density, entries, MPI_DOUBLE, 0, scf->comm);
    }
    return true;
}

bool scf_run(MPI_Comm comm, const struct system *system, struct fock *fock,
             const struct scf_options *options, struct scf_result *result,
             struct message *message)
{
    struct scf scf = {.comm = comm, .system = system, .fock = fock};
    *result = (struct scf_result){0};
    scf_make(&scf);
    bool is_good = iterate(&scf, options, result, message);
    scf_free(&scf);
    return is_good;
}
