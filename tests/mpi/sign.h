/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signs that one rank makes and others wait for without MPI: files, so that no
 * test has to guess how long the machine takes.
 */
#ifndef SIGN_H
#define SIGN_H

#include "check.h"

#include <fcntl.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

enum {
    SIGN_BYTES = 64,
    SIGN_WAIT_MS = 20000
};

static inline bool sign_is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* A name for one that is not there yet; collective. */
static inline void sign_name(char *path, const char *word)
{
    long number = (long)getpid();
    MPI_Bcast(&number, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(path, SIGN_BYTES, "/tmp/evenkeel-%s-%ld", word, number);
    unlink(path);
    CHECK(!sign_is_there(path));
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline void sign_make(const char *path)
{
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(file >= 0);
    close(file);
}

static inline bool sign_await(const char *path)
{
    for (int ms = 0; ms < SIGN_WAIT_MS; ms++) {
        if (sign_is_there(path))
            return true;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return false;
}

#endif
