/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chemistry of an hour, column by column: what is balanced.
 */
#ifndef CHEMISTRY_HOUR_H
#define CHEMISTRY_HOUR_H

#include "field.h"

#include <evenkeel.h>

struct hour {
    struct field *field;
    int number; /* since midnight at longitude 0 */
};

/**
 * Integrate a column over the hour.
 *
 * @param[in,out] state   Its own, or a copy of that on another rank.
 * @param[in]     worker  Is polled now and then; NULL: none.
 *
 * @return 0, or what CVODE returned.
 */
int hour_integrate(const struct hour *hour, int column, double *state,
                   ek_worker *worker);

#endif
