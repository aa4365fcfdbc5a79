/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HARTREE_FOCK_FOCK_H
#define HARTREE_FOCK_FOCK_H

#include "scf/fock.h"

struct fock_options {
    int tile;                 /* functions of a tile at most */
    double schwarz;           /* smaller contributions are left out */
    bool is_density_screened; /* times the density they meet */
};

#endif
