/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/message.h"

#include <errno.h>
#include <evenkeel.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool message_set(struct message *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message->text, sizeof message->text, format, arguments);
    va_end(arguments);
    return false;
}

bool message_leave(struct message *message)
{
    message->text[0] = '\0';
    return false;
}

bool is_first_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

bool first_rank_says(bool is_good, struct message *message)
{
    int verdict = is_good;
    MPI_Bcast(&verdict, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!verdict && !is_first_rank())
        message_leave(message);
    return verdict;
}

int complain(const struct message *message, int status)
{
    if (message->text[0] != '\0' && is_first_rank())
        fprintf(stderr, "%s: %s\n", program_name, message->text);
    return status;
}

int complain_status(int status)
{
    return status == EK_ERR_ARG ? EXIT_BAD_INPUT : EXIT_FAILED;
}

int end_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    /* An earlier write may have failed, whose reason is gone. */
    fprintf(stderr, "%s: could not write everything to standard output%s%s\n",
            program_name, errno ? ": " : "", errno ? strerror(errno) : "");
    return status == EXIT_GOOD ? EXIT_FAILED : status;
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
