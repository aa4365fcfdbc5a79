/* SPDX-License-Identifier: BSD-3-Clause */
#include "guess.h"
#include "digest.h"
#include "scf/algebra.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A guess need not be converged tightly. */
#define ATOM_ITERATIONS 60
#define ATOM_ERROR 1e-6
#define ATOM_PRECISION 1e-14
#define DIIS_DEPTH 8

/* One atom alone, with the shells it has in the molecule. */
struct single {
    const struct shell *shell;
    int shells;
    int n; /* functions */
    int electrons;
    struct integrals *integrals;
    struct quartets *quartets;
    struct orthogonalizer orthogonalizer;
    double *overlap, *core, *fock, *density; /* [n][n] */
    double *orbitals, *energies, *occupation;
};

static double *matrix_new(int n)
{
    return allocate((size_t)n * (size_t)n, sizeof(double));
}

static void average_with_transpose(double *matrix, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double mean = 0.5 * (matrix[i * n + j] + matrix[j * n + i]);
            matrix[i * n + j] = matrix[j * n + i] = mean;
        }
    }
}

static void single_digest(struct single *atom, const struct shell_pair *ab,
                          const struct shell_pair *cd)
{
    const double *value = quartets_compute(atom->quartets, ab, cd);
    if (!value)
        return;
    const int at[4] = {ab->a, ab->b, cd->a, cd->b};
    struct quartet quartet;
    for (int k = 0; k < 4; k++) {
        quartet.first[k] = atom->shell[at[k]].first - atom->shell[0].first;
        quartet.count[k] = atom->shell[at[k]].functions;
    }
    double distinct = (at[0] == at[1] ? 1 : 2) * (at[2] == at[3] ? 1 : 2) *
                      (at[0] == at[2] && at[1] == at[3] ? 1 : 2);
    digest(&quartet, value, distinct, atom->density, atom->fock, atom->n);
}

/* fock = core + 2J - K of the present density. */
static void single_fock(struct single *atom)
{
    int pairs = atom->shells * (atom->shells + 1) / 2, next = 0;
    struct shell_pair *pair = allocate((size_t)pairs, sizeof *pair);
    for (int i = 0; i < atom->shells; i++) {
        for (int j = 0; j <= i; j++)
            pair[next++] = integrals_pair(atom->integrals, i, j);
    }
    memset(atom->fock, 0, (size_t)atom->n * (size_t)atom->n * sizeof(double));
    for (int p = 0; p < pairs; p++) {
        for (int q = 0; q <= p; q++) {
            bool is_ordered = pair[p].momentum <= pair[q].momentum;
            single_digest(atom, &pair[is_ordered ? p : q],
                          &pair[is_ordered ? q : p]);
        }
    }
    average_with_transpose(atom->fock, atom->n);
    for (int i = 0; i < atom->n * atom->n; i++)
        atom->fock[i] += atom->core[i];
    free(pair);
}

/* Electrons of angular momentum l in a neutral atom: 1s 2s 2p 3s 3p 4s 3d 4p.
 */
static int electrons_of(int electrons, int momentum)
{
    static const int filling[] = {0, 0, 1, 0, 1, 0, 2, 1};
    int found = 0;
    for (size_t i = 0; i < sizeof filling / sizeof *filling; i++) {
        int room = 4 * filling[i] + 2;
        int here = electrons < room ? electrons : room;
        electrons -= here;
        found += filling[i] == momentum ? here : 0;
    }
    return found;
}

/* Angular momentum that an orbital mostly consists of. */
static int orbital_momentum(const struct single *atom, int orbital)
{
    double share[MOMENTUM_MAX + 1] = {0};
    int m = atom->orthogonalizer.m, n = atom->n, largest = 0;
    for (int s = 0; s < atom->shells; s++) {
        const struct shell *shell = &atom->shell[s];
        int first = shell->first - atom->shell[0].first;
        for (int i = first; i < first + shell->functions; i++) {
            double product = 0;
            for (int j = 0; j < n; j++)
                product +=
                    atom->overlap[i * n + j] * atom->orbitals[j * m + orbital];
            share[shell->momentum] += product * atom->orbitals[i * m + orbital];
        }
    }
    for (int l = 1; l <= MOMENTUM_MAX; l++)
        largest = share[l] > share[largest] ? l : largest;
    return largest;
}

/* Fill the orbitals from below, those of a subshell evenly. */
static void single_occupy(struct single *atom)
{
    int seen[MOMENTUM_MAX + 1] = {0};
    for (int k = 0; k < atom->orthogonalizer.m; k++) {
        int l = orbital_momentum(atom, k), orbitals = 2 * l + 1;
        int below = seen[l]++ / orbitals * 2 * orbitals;
        double left = electrons_of(atom->electrons, l) - below;
        atom->occupation[k] =
            fmin(fmax(left, 0), 2.0 * orbitals) / (2.0 * orbitals);
    }
}

static bool single_density(struct single *atom)
{
    int m = atom->orthogonalizer.m;
    if (!orbitals_solve(&atom->orthogonalizer, atom->fock, atom->energies,
                        atom->orbitals))
        return false;
    single_occupy(atom);
    density_make(atom->orbitals, atom->n, m, m, atom->occupation,
                 atom->density);
    return true;
}

static bool single_converge(struct single *atom)
{
    size_t bytes = (size_t)atom->n * (size_t)atom->n * sizeof(double);
    memcpy(atom->fock, atom->core, bytes);
    bool is_good =
        orthogonalizer_make(atom->overlap, atom->n, &atom->orthogonalizer) &&
        single_density(atom);
    if (!is_good)
        return false;
    struct diis *diis =
        diis_create(&atom->orthogonalizer, atom->overlap, DIIS_DEPTH);
    double error = 1;
    for (int i = 0; i < ATOM_ITERATIONS && is_good && error > ATOM_ERROR; i++) {
        single_fock(atom);
        error = diis_add(diis, atom->fock, atom->density);
        diis_extrapolate(diis, atom->fock);
        is_good = single_density(atom);
    }
    diis_destroy(diis);
    return is_good;
}

static bool single_make(struct single *atom, const struct molecule *molecule,
                        const struct basis *basis, int number,
                        struct message *message)
{
    int first = basis->first_of_atom[number];
    *atom = (struct single){.shell = &basis->shell[first]};
    atom->shells = basis->first_of_atom[number + 1] - first;
    atom->electrons = molecule->atom[number].element;
    for (int s = 0; s < atom->shells; s++)
        atom->n += atom->shell[s].functions;
    atom->integrals = integrals_create(molecule, atom->shell, atom->shells,
                                       ATOM_PRECISION, message);
    if (!atom->integrals)
        return false;
    atom->quartets = quartets_create(atom->integrals);
    int n = atom->n;
    atom->overlap = matrix_new(n);
    atom->core = matrix_new(n);
    atom->fock = matrix_new(n);
    atom->density = matrix_new(n);
    atom->orbitals = matrix_new(n);
    atom->energies = allocate((size_t)n, sizeof(double));
    atom->occupation = allocate((size_t)n, sizeof(double));
    integrals_overlap(atom->integrals, atom->overlap);
    integrals_kinetic(atom->integrals, atom->core);
    integrals_attraction(atom->integrals, &molecule->atom[number], 1,
                         atom->fock);
    for (int i = 0; i < n * n; i++)
        atom->core[i] += atom->fock[i];
    return true;
}

static void single_free(struct single *atom)
{
    quartets_destroy(atom->quartets);
    integrals_destroy(atom->integrals);
    orthogonalizer_free(&atom->orthogonalizer);
    free(atom->overlap);
    free(atom->core);
    free(atom->fock);
    free(atom->density);
    free(atom->orbitals);
    free(atom->energies);
    free(atom->occupation);
}

/* Put the density of an atom on all atoms of its element. */
static void single_place(const struct single *atom,
                         const struct molecule *molecule,
                         const struct basis *basis, double *density)
{
    size_t n = (size_t)basis->functions;
    for (int a = 0; a < molecule->atoms; a++) {
        if (molecule->atom[a].element != atom->electrons)
            continue;
        int first = basis->shell[basis->first_of_atom[a]].first;
        for (int i = 0; i < atom->n; i++)
            memcpy(density + (size_t)(first + i) * n + first,
                   atom->density + i * atom->n,
                   (size_t)atom->n * sizeof(double));
    }
}

bool guess_density(const struct molecule *molecule, const struct basis *basis,
                   double *density, struct message *message)
{
    bool is_known[ELEMENT_MAX + 1] = {false};
    size_t n = (size_t)basis->functions;
    memset(density, 0, n * n * sizeof(double));
    for (int a = 0; a < molecule->atoms; a++) {
        int element = molecule->atom[a].element;
        if (is_known[element])
            continue;
        is_known[element] = true;
        struct single atom;
        bool is_good = single_make(&atom, molecule, basis, a, message);
        if (is_good && !single_converge(&atom))
            is_good = message_set(message, "LAPACK failed on the atom %s",
                                  element_symbol(element));
        if (is_good)
            single_place(&atom, molecule, basis, density);
        single_free(&atom);
        if (!is_good)
            return false;
    }
    return true;
}
