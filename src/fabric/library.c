/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of the MPI library itself, not of a communicator. */
#include "fabric/mpi_fabric.h"

#include <stdlib.h>
#include <string.h>

bool eki_mpi_is_finalized(void)
{
    int flag = 0;
    MPI_Finalized(&flag);
    return flag != 0;
}

int eki_mpi_thread_level(void)
{
    int flag = 0, level = MPI_THREAD_SINGLE;
    if (eki_mpi_is_finalized())
        return -2;
    MPI_Initialized(&flag);
    if (!flag)
        return -1;
    MPI_Query_thread(&level);
    return (level >= MPI_THREAD_FUNNELED) + (level >= MPI_THREAD_SERIALIZED) +
           (level >= MPI_THREAD_MULTIPLE);
}

MPI_Comm eki_mpi_comm_of_fortran(MPI_Fint comm)
{
    return eki_mpi_thread_level() >= 0 ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}

void eki_mpi_abort(void)
{
    if (eki_mpi_thread_level() >= 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static int finalize_begins(MPI_Comm comm, int key, void *hook, void *context)
{
    (void)comm, (void)key, (void)context;
    ((const struct eki_finalize_hook *)hook)->call();
    return MPI_SUCCESS;
}

/* MPI_Finalize() deletes the attributes of MPI_COMM_SELF first. */
ek_status eki_mpi_at_finalize(const struct eki_finalize_hook *hook)
{
    int key = MPI_KEYVAL_INVALID;
    int code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_begins,
                                      &key, NULL);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)hook);
    if (code != MPI_SUCCESS)
        return eki_error(EK_ERR_MPI,
                         "MPI cannot keep an attribute of MPI_COMM_SELF");
    MPI_Comm_free_keyval(&key);
    return EK_OK;
}

void eki_mpi_ranks(MPI_Comm comm, int *rank, int *size)
{
    *rank = -1;
    *size = 0;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, rank);
    MPI_Comm_size(comm, size);
}

bool eki_mpi_is_main_thread(void)
{
    int is_main = 0;
    if (eki_mpi_thread_level() >= 0)
        MPI_Is_thread_main(&is_main);
    return is_main != 0;
}

void eki_mpi_library(char *text, size_t bytes)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    /* The first words of the first line, however they are parted. */
    for (const char *word = version; *word && *word != ',' && *word != '\n';) {
        int bytes_of_word = (int)strcspn(word, ", \t\n");
        eki_append(text, bytes, "%s%.*s", word == version ? "" : " ",
                   bytes_of_word, word);
        word += bytes_of_word;
        word += strspn(word, " \t");
    }
}
