/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HF_BE_FOCK_H
#define HF_BE_FOCK_H

#include "common/fock.h"
#include "quartet.h"

struct fock_options {
    int width;     /* functions of a tile */
    double screen; /* integrals with a smaller bound are left out */
};

#endif
