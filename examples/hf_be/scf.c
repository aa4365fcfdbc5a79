/* SPDX-License-Identifier: BSD-3-Clause */
#include "scf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIIS_DEPTH 8

struct scf {
    MPI_Comm comm;
    const struct system *system;
    struct fock *fock;
    struct diis *diis;
    double *density;                  /* [n][n], borrowed */
    double *last, *matrix, *orbitals; /* [n][n] */
    double *energies, *occupation;
};

static size_t matrix_entries_of(const struct system *system)
{
    size_t n = (size_t)system->chain.functions;
    return n * n;
}

static void scf_make(struct scf *scf)
{
    const struct system *system = scf->system;
    size_t entries = matrix_entries_of(system);
    scf->diis =
        diis_create(&system->orthogonalizer, system->overlap, DIIS_DEPTH);
    scf->last = allocate(entries, sizeof(double));
    scf->matrix = allocate(entries, sizeof(double));
    scf->orbitals = allocate(entries, sizeof(double));
    scf->energies = allocate((size_t)system->chain.functions, sizeof(double));
    scf->occupation = allocate((size_t)system->occupied, sizeof(double));
    for (int k = 0; k < system->occupied; k++)
        scf->occupation[k] = 2;
}

static void scf_free(struct scf *scf)
{
    diis_destroy(scf->diis);
    free(scf->last);
    free(scf->matrix);
    free(scf->orbitals);
    free(scf->energies);
    free(scf->occupation);
}

/* The Fock matrix of the present density, and its energy. */
static ek_status evaluate(struct scf *scf, struct scf_row *row)
{
    const struct system *system = scf->system;
    int n = system->chain.functions;
    ek_status status =
        fock_build(scf->fock, scf->density, scf->matrix, &row->fock);
    if (status != EK_OK)
        return status;
    for (size_t i = 0; i < matrix_entries_of(system); i++)
        scf->matrix[i] += system->core[i];
    row->energy =
        system->repulsion + 0.5 * (matrix_dot(scf->density, system->core, n) +
                                   matrix_dot(scf->density, scf->matrix, n));
    return EK_OK;
}

static double largest_difference(const double *a, const double *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* The density of the next iteration. */
static bool improve(struct scf *scf, struct scf_row *row)
{
    const struct system *system = scf->system;
    size_t entries = matrix_entries_of(system);
    int n = system->chain.functions, m = system->orthogonalizer.m;
    diis_add(scf->diis, scf->matrix, scf->density);
    diis_extrapolate(scf->diis, scf->matrix);
    if (row->iteration == 1)
        diis_clear(scf->diis); /* the guess does not belong to orbitals */
    if (!orbitals_solve(&system->orthogonalizer, scf->matrix, scf->energies,
                        scf->orbitals))
        return false;
    memcpy(scf->last, scf->density, entries * sizeof(double));
    density_make(scf->orbitals, n, m, system->occupied, scf->occupation,
                 scf->density);
    row->change = largest_difference(scf->density, scf->last, entries);
    return true;
}

/*
 * Everyone goes on with what rank 0 has: processors that round differently must
 * not disagree about the end.
 */
static void share(struct scf *scf, struct scf_row *row, bool *is_solved)
{
    double figures[3] = {row->energy, row->change, *is_solved};
    MPI_Bcast(figures, 3, MPI_DOUBLE, 0, scf->comm);
    row->energy = figures[0];
    row->change = figures[1];
    *is_solved = figures[2] != 0;
    MPI_Bcast(scf->density, (int)matrix_entries_of(scf->system), MPI_DOUBLE, 0,
              scf->comm);
}

static bool iterate(struct scf *scf, const struct scf_options *options,
                    struct scf_result *result, struct message *message)
{
    struct scf_row row = {0};
    while (row.iteration < options->iterations) {
        row.iteration++;
        if (evaluate(scf, &row) != EK_OK)
            return message_set(message, "%s", ek_error_message());
        bool is_solved = improve(scf, &row);
        share(scf, &row, &is_solved);
        if (!is_solved)
            return message_set(message, "LAPACK failed on the Fock matrix");
        result->energy = row.energy;
        result->iterations = row.iteration;
        result->is_converged = row.change < options->converge;
        if (options->row)
            options->row(&row, options->row_context);
        if (result->is_converged && !options->is_unending)
            break;
    }
    return true;
}

bool scf_run(MPI_Comm comm, const struct system *system, struct fock *fock,
             const struct scf_options *options, double *density,
             struct scf_result *result, struct message *message)
{
    struct scf scf = {
        .comm = comm, .system = system, .fock = fock, .density = density};
    *result = (struct scf_result){0};
    scf_make(&scf);
    bool is_good = iterate(&scf, options, result, message);
    scf_free(&scf);
    return is_good;
}

#define ATOM_SCREEN 1e-12
#define ATOM_CONVERGE 1e-8
#define ATOM_ITERATIONS 100

/* The SCF of one atom; its density goes to that atom's guess. */
static bool run_atom(struct system *atom, struct message *message)
{
    const struct fock_options fock_options = {
        mode_find("static", NULL), CHAIN_ATOM_FUNCTIONS, ATOM_SCREEN, true};
    const struct scf_options options = {.iterations = ATOM_ITERATIONS,
                                        .converge = ATOM_CONVERGE};
    struct scf_result result;
    struct fock *fock;
    if (fock_create(MPI_COMM_SELF, &atom->chain, &fock_options, &fock) != EK_OK)
        return message_set(message, "%s", ek_error_message());
    bool is_good = scf_run(MPI_COMM_SELF, atom, fock, &options, atom->guess,
                           &result, message);
    fock_destroy(&fock);
    return is_good;
}

bool scf_guess(struct system *system, struct message *message)
{
    struct system atom;
    bool is_good = system_make(1, system->chain.spacing, &atom);
    if (is_good)
        is_good = run_atom(&atom, message);
    else
        message_set(message, "LAPACK failed on the overlap of an atom");
    if (is_good)
        system_guess(system, atom.guess);
    system_free(&atom);
    return is_good;
}
