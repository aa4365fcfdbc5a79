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

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct message message;
    int provided, status;
    if (arguments_answer(argv))
        return end_output(EXIT_GOOD);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (arguments_parse(argv, &arguments, &message)) {
        print_head(&arguments.size);
        status = run_hours(&arguments);
    } else {
        status = complain(&message, EXIT_BAD_INPUT);
    }
    mode_arguments_free(&arguments.shared);
    MPI_Finalize();
    return end_output(status);
}
