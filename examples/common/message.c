/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/message.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool message_set(struct message *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message->text, sizeof message->text, format, arguments);
    va_end(arguments);
    return false;
}

void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? count : 1, bytes);
    if (!memory) {
        fprintf(stderr, "%s: no memory for %zu items of %zu bytes\n",
                program_name, count, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}
