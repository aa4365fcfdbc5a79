/* SPDX-License-Identifier: BSD-3-Clause */
#include "guess.h"
#include "fock.h"

#include <math.h>

#define ATOM_SCREEN 1e-12
#define ATOM_CONVERGE 1e-8
#define ATOM_ITERATIONS 100

/* The SCF of one atom; its density goes to that atom's guess. */
static bool run_atom(struct system *atom, struct message *message)
{
    const struct job_setup setup = {.comm = MPI_COMM_SELF,
                                    .mode = mode_find("static", NULL),
                                    .ignore_environment = true};
    const struct fock_options fock_options = {.width = CHAIN_ATOM_FUNCTIONS,
                                              .screen = ATOM_SCREEN};
    const struct scf_options options = {.iterations = ATOM_ITERATIONS,
                                        .error_max = INFINITY,
                                        .change_max = ATOM_CONVERGE};
    struct scf_result result;
    struct fock *fock;
    if (fock_create(&setup, atom, &fock_options, NULL, &fock) != EK_OK)
        return message_leave(message);
    bool is_good =
        scf_run(&atom->scf, fock, &options, &result, atom->scf.guess, message);
    fock_destroy(&fock);
    return is_good;
}

bool guess_make(struct system *system, struct message *message)
{
    struct system atom;
    bool is_good = system_make(1, system->chain.spacing, true, &atom);
    if (is_good)
        is_good = run_atom(&atom, message);
    else
        message_set(message, "LAPACK failed on the overlap of an atom");
    if (is_good)
        system_guess(system, atom.scf.guess);
    system_free(&atom);
    return is_good;
}
