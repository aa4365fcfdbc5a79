/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Far more than any molecule or basis set; keeps counts within an int. */
#define FILE_BYTES_MAX (64L << 20)

static bool stream_read(FILE *stream, const char *path, char **text,
                        struct message *message)
{
    size_t used = 0, room = 1 << 16;
    *text = allocate(room, 1);
    for (;;) {
        used += fread(*text + used, 1, room - used - 1, stream);
        if (used < room - 1)
            break;
        if (room >= FILE_BYTES_MAX)
            return message_set(message, "%s: more than %ld MiB", path,
                               FILE_BYTES_MAX >> 20);
        char *grown = allocate(2 * room, 1);
        memcpy(grown, *text, used);
        free(*text);
        *text = grown;
        room *= 2;
    }
    (*text)[used] = '\0';
    if (ferror(stream))
        return message_set(message, "%s: cannot be read: %s", path,
                           strerror(errno));
    if (strlen(*text) != used)
        return message_set(message, "%s: not a text file", path);
    return true;
}

static bool file_read_here(const char *path, char **text,
                           struct message *message)
{
    FILE *stream = fopen(path, "r");
    if (!stream)
        return message_set(message, "%s: cannot be opened: %s", path,
                           strerror(errno));
    bool is_read = stream_read(stream, path, text, message);
    fclose(stream);
    return is_read;
}

bool file_read(MPI_Comm comm, const char *path, char **text,
               struct message *message)
{
    int rank, bytes = -1;
    *text = NULL;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && file_read_here(path, text, message))
        bytes = (int)strlen(*text) + 1;
    MPI_Bcast(&bytes, 1, MPI_INT, 0, comm);
    if (bytes < 0) {
        MPI_Bcast(message, (int)sizeof *message, MPI_BYTE, 0, comm);
        free(*text);
        *text = NULL;
        return false;
    }
    if (rank != 0)
        *text = allocate((size_t)bytes, 1);
    MPI_Bcast(*text, bytes, MPI_BYTE, 0, comm);
    return true;
}
