/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an hour makes of a column of air: each of its levels is a box, whose
 * stiff equations CVODE integrates.
 */
#ifndef CHEMISTRY_SOLVER_H
#define CHEMISTRY_SOLVER_H

#include "mechanism.h"

#include <evenkeel.h>

/** Where a column is, and when. */
struct column_time {
    double longitude;     /* turns; -1: it is always noon */
    double from, minutes; /* since midnight at longitude 0; how long */
};

/**
 * Integrate the levels of a column.
 *
 * What comes out depends on what goes in alone, to the last bit: each call
 * makes a solver of its own.
 *
 * @param[in]     worker    Is polled now and then; NULL: none.
 * @param[in]     relative  Error that is allowed in a step.
 * @param[in,out] state     [levels][species]; undefined on failure.
 *
 * @return 0, or what CVODE returned.
 */
int column_integrate(const struct mechanism *mechanism,
                     const struct column_time *time, int levels,
                     double relative, double *state, ek_worker *worker);

#endif
