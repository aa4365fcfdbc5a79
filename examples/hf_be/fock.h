/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HF_BE_FOCK_H
#define HF_BE_FOCK_H

#include "scf/fock.h"

struct fock_options {
    int width;     /* functions of a tile */
    double screen; /* integrals with a smaller bound are left out */
    /* A task that is null finds out by the bounds that it gets, not by a table
     * of the largest ones. */
    bool is_null_by_get;
};

#endif
