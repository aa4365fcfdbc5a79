/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi: the types that the headers need, for a model checker. */
#ifndef MPI_H
#define MPI_H

typedef void *MPI_Comm;
typedef int MPI_Fint;

#endif
