/* SPDX-License-Identifier: BSD-3-Clause */
#include "system.h"
#include "file.h"
#include "guess.h"

#include <stdlib.h>

/* Keeps the entries of a matrix within an int, which MPI and BLAS count by. */
#define FUNCTIONS_MAX 30000

static bool load_molecule(MPI_Comm comm, const struct input *input,
                          struct system *system, struct message *message)
{
    char *text;
    if (!file_read(comm, input->xyz_path, &text, message))
        return false;
    bool is_good =
        molecule_parse(text, input->xyz_path, &system->molecule, message);
    free(text);
    return is_good;
}

static bool load_basis(MPI_Comm comm, const struct input *input,
                       struct system *system, struct message *message)
{
    char *text;
    if (!file_read(comm, input->basis_path, &text, message))
        return false;
    bool is_good = basis_parse(text, input->basis_path, &system->molecule,
                               &system->basis, message);
    free(text);
    if (is_good && system->basis.functions > FUNCTIONS_MAX)
        return message_set(message, "%s in %s: %d functions; allowed: %d",
                           input->xyz_path, input->basis_path,
                           system->basis.functions, FUNCTIONS_MAX);
    return is_good;
}

static bool count_electrons(const struct input *input, struct system *system,
                            struct message *message)
{
    int protons = molecule_protons(&system->molecule);
    int electrons = protons - input->charge;
    if (electrons < 2 || electrons % 2 != 0)
        return message_set(message,
                           "%s with charge %d has %d electrons; a closed shell "
                           "needs an even number, at least 2: choose another "
                           "--charge",
                           input->xyz_path, input->charge, electrons);
    system->scf.occupied = electrons / 2;
    system->scf.occupation = 1;
    return true;
}

static void make_matrices(struct system *system)
{
    size_t n = (size_t)system->basis.functions;
    double *attraction = allocate(n * n, sizeof(double));
    scf_system_make(&system->scf, system->basis.functions);
    integrals_overlap(system->integrals, system->scf.overlap);
    integrals_kinetic(system->integrals, system->scf.core);
    integrals_attraction(system->integrals, system->molecule.atom,
                         system->molecule.atoms, attraction);
    for (size_t i = 0; i < n * n; i++)
        system->scf.core[i] += attraction[i];
    free(attraction);
}

static bool orthogonalize(const struct input *input, struct system *system,
                          struct message *message)
{
    struct scf_system *scf = &system->scf;
    if (!orthogonalizer_make(scf->overlap, scf->n, &scf->orthogonalizer))
        return message_set(message, "LAPACK failed on the overlap matrix");
    if (scf->orthogonalizer.m < scf->occupied)
        return message_set(message,
                           "%s gives %d independent functions for %d electron "
                           "pairs; choose a larger basis",
                           input->basis_path, scf->orthogonalizer.m,
                           scf->occupied);
    return true;
}

bool system_load(MPI_Comm comm, const struct input *input,
                 struct system *system, struct message *message)
{
    *system = (struct system){0};
    if (!load_molecule(comm, input, system, message) ||
        !load_basis(comm, input, system, message) ||
        !count_electrons(input, system, message))
        return false;
    system->scf.repulsion = molecule_repulsion(&system->molecule);
    system->integrals = integrals_create(&system->molecule, system->basis.shell,
                                         system->basis.shells,
                                         input->engine_precision, message);
    if (!system->integrals)
        return false;
    bool is_good = true;
    if (is_first_rank()) {
        make_matrices(system);
        is_good = orthogonalize(input, system, message) &&
                  guess_density(&system->molecule, &system->basis,
                                system->scf.guess, message);
    }
    return first_rank_says(is_good, message);
}

void system_free(struct system *system)
{
    molecule_free(&system->molecule);
    basis_free(&system->basis);
    integrals_destroy(system->integrals);
    scf_system_free(&system->scf);
    *system = (struct system){0};
}
