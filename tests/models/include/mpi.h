/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi: what the engine's headers and fabric/piece.c name of MPI, for a model
 * checker; no program calls it. */
#ifndef MPI_H
#define MPI_H

#include <stdint.h>

typedef void *MPI_Comm;
typedef int MPI_Fint;
typedef void *MPI_Datatype;
typedef void *MPI_Op;
typedef void *MPI_Win;
typedef void *MPI_Request;
typedef intptr_t MPI_Aint;

enum {
    MPI_SUCCESS,
    MPI_INT,
    MPI_UINT64_T,
    MPI_SUM,
    MPI_MODE_NOCHECK
};

#define MPI_IN_PLACE NULL
#define MPI_INFO_NULL NULL
#define MPI_WIN_NULL NULL
#define MPI_ERRORS_RETURN NULL

int MPI_Allreduce(const void *, void *, int, int, int, MPI_Comm);
int MPI_Bcast(void *, int, int, int, MPI_Comm);
int MPI_Win_allocate_shared(MPI_Aint, int, void *, MPI_Comm, void *, MPI_Win *);
int MPI_Win_set_errhandler(MPI_Win, void *);
int MPI_Win_shared_query(MPI_Win, int, MPI_Aint *, int *, void *);
int MPI_Win_lock_all(int, MPI_Win);
int MPI_Win_unlock_all(MPI_Win);
int MPI_Win_sync(MPI_Win);
int MPI_Win_free(MPI_Win *);

#endif
