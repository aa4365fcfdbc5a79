/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HARTREE_FOCK_FILE_H
#define HARTREE_FOCK_FILE_H

#include "cli/message.h"

#include <mpi.h>

/**
 * Read a whole file on rank 0 and give its text to all ranks.
 *
 * @param[out] text  Ends in '\0'; to be freed.
 *
 * Call: Collective.  All ranks return the same.
 */
bool file_read(MPI_Comm comm, const char *path, char **text,
               struct message *message);

#endif
