/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is asked of the MPI library itself, not of a communicator.
 *
 * Owns the mark that this process uses MPI by a session: MPI_Initialized() does
 * not tell, and no call says so of a communicator.
 */
#include "fabric/mpi_fabric.h"

#include <stdlib.h>
#include <string.h>

static _Atomic bool has_session;

bool eki_mpi_is_finalized(void)
{
    int flag = 0;
    MPI_Finalized(&flag);
    return flag != 0;
}

static bool is_initialized(void)
{
    int flag = 0;
    MPI_Initialized(&flag);
    return flag != 0;
}

int eki_mpi_thread_level(void)
{
    int level = MPI_THREAD_SINGLE;
    if (eki_mpi_is_finalized())
        return -2;
    /* relaxed: it guards no other data. */
    if (!atomic_load_explicit(&has_session, memory_order_relaxed) &&
        !is_initialized())
        return -1;
    MPI_Query_thread(&level);
    return (level >= MPI_THREAD_FUNNELED) + (level >= MPI_THREAD_SERIALIZED) +
           (level >= MPI_THREAD_MULTIPLE);
}

int eki_mpi_thread_level_of(MPI_Comm comm)
{
    bool is_worlds = comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
    if (is_initialized() || comm == MPI_COMM_NULL || MPI_VERSION < 4)
        return eki_mpi_thread_level();
    /* Those that MPI_Init() makes are of no session. */
    if (is_worlds)
        return -1;
    /* relaxed: it guards no other data. */
    atomic_store_explicit(&has_session, true, memory_order_relaxed);
    return eki_mpi_thread_level();
}

MPI_Comm eki_mpi_comm_of_fortran(MPI_Fint comm)
{
    /* From MPI 4 on it may be of a session. */
    bool may_be = MPI_VERSION >= 4 && !is_initialized();
    return may_be || eki_mpi_thread_level() >= 0 ? MPI_Comm_f2c(comm)
                                                 : MPI_COMM_NULL;
}

void eki_mpi_abort(void)
{
    if (is_initialized() && !eki_mpi_is_finalized())
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static int finalize_begins(MPI_Comm comm, int key, void *hook, void *context)
{
    (void)comm, (void)key, (void)context;
    ((const struct eki_finalize_hook *)hook)->call();
    return MPI_SUCCESS;
}

/* MPI_Finalize() deletes the attributes of MPI_COMM_SELF first. */
ek_status eki_mpi_at_finalize(const struct eki_finalize_hook *hook,
                              bool *is_hooked)
{
    int key = MPI_KEYVAL_INVALID;
    *is_hooked = is_initialized();
    if (!*is_hooked)
        return EK_OK;
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
