/* SPDX-License-Identifier: BSD-3-Clause */
#include "hour.h"

#include "solver.h"

#define HOUR_MINUTES 60
#define RELATIVE_ERROR 1e-6

int hour_integrate(const struct hour *hour, int column, double *state,
                   ek_worker *worker)
{
    const struct field_size *size = &hour->field->size;
    const struct column_time time = {.longitude = field_longitude(size, column),
                                     .from =
                                         (double)hour->number * HOUR_MINUTES,
                                     .minutes = HOUR_MINUTES};
    return column_integrate(size->mechanism, &time, size->levels,
                            RELATIVE_ERROR, state, worker);
}
