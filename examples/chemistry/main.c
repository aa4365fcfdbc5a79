/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chemistry of columns of air, whose data lies with owners, balanced by
 * Evenkeel.
 *
 *     mpirun -n 2 chemistry --policy retain
 *
 * prints a row per hour.  Columns stand around a circle of latitude; CVODE
 * integrates the reactions in each of their levels, which takes longer by day
 * than by night, and longest where the sun rises or sets.  Between hours the
 * wind carries air to the next column, and owners exchange what crosses their
 * slabs.  --compare runs the same with several ways to balance, one of them by
 * hand (pool.c); all compute the same bits.  tasks.c is where columns are
 * tasks.
 */
#include "run.h"

#include <stdio.h>

const char program_name[] = "chemistry";

static void print_head(const struct field_size *size)
{
    if (!is_first_rank())
        return;
    printf("%s: %d species, %d reactions\n%d columns of %d levels, %.1f kB "
           "each\n",
           size->mechanism->name, size->mechanism->species,
           size->mechanism->reactions, size->columns, size->levels,
           1e-3 * (double)field_column_bytes(size));
    fflush(stdout);
}

static int run(void *context)
{
    const struct arguments *arguments = context;
    print_head(&arguments->size);
    return run_hours(arguments);
}

int main(int argc, char **argv)
{
    struct arguments arguments = arguments_default;
    arguments_use_modes();
    return command_line_main(&arguments_line, argc, argv, &arguments, run);
}
