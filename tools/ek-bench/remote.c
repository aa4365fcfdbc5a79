/* SPDX-License-Identifier: BSD-3-Clause */
/* What ways to reach tiles share, and the one without a library. */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

const struct remote_size remote_sizes[REMOTE_SIZES] = {{"0.1 kB", 13, 64},
                                                       {"1 kB", 125, 64},
                                                       {"12.8 kB", 1600, 64},
                                                       {"128 kB", 16000, 8},
                                                       {"1.28 MB", 160000, 2}};

int64_t remote_offset(int size, int tile)
{
    int64_t offset = remote_sizes[size].length * tile;
    for (int s = 0; s < size; s++)
        offset += remote_sizes[s].length * remote_sizes[s].count;
    return offset;
}

int64_t remote_length(void)
{
    return remote_offset(REMOTE_SIZES - 1,
                         remote_sizes[REMOTE_SIZES - 1].count);
}

void remote_copy(enum remote_kind kind, double *at, double *values,
                 int64_t length)
{
    size_t bytes = (size_t)length * sizeof *values;
    if (kind == REMOTE_GET)
        memcpy(values, at, bytes);
    else if (kind == REMOTE_PUT)
        memcpy(at, values, bytes);
    else
        for (int64_t i = 0; i < length; i++)
            at[i] += values[i];
}

void remote_close(struct remote *remote)
{
    if (remote)
        remote->ops->close(remote);
}

struct memory {
    struct remote remote;
    struct bench_pair pair;
    double *values[REMOTE_OWNERS]; /* NULL: cannot be seen */
};

static void memory_move(struct remote *remote, enum remote_kind kind, int size,
                        int owner, int tile, double *values)
{
    struct memory *memory = (struct memory *)remote;
    remote_copy(kind, memory->values[owner] + remote_offset(size, tile), values,
                remote_sizes[size].length);
}

static double *memory_local(struct remote *remote, int size, int tile)
{
    struct memory *memory = (struct memory *)remote;
    return memory->values[remote->rank] + remote_offset(size, tile);
}

static void memory_meet(struct remote *remote,
                        const struct remote_meeting *meeting)
{
    MPI_Barrier(remote->both);
    if (remote->rank == 0)
        meeting->asker(remote, meeting->argument);
    MPI_Barrier(remote->both);
}

static void memory_close(struct remote *remote)
{
    struct memory *memory = (struct memory *)remote;
    if (memory->pair.arena)
        bench_pair_free(&memory->pair);
    else
        free(memory->values[remote->rank]);
    free(memory);
}

static const struct remote_ops memory_ops = {memory_move, memory_local,
                                             memory_meet, memory_close};

struct remote *remote_memory_open(const struct bench *bench, MPI_Comm both,
                                  bool *shares)
{
    size_t bytes = (size_t)remote_length() * sizeof(double);
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        bench_check(EK_ERR_NOMEM);
    memory->remote = (struct remote){.ops = &memory_ops,
                                     .name = "memory",
                                     .both = both,
                                     .rank = bench->rank};
    *shares =
        bench_pair_processes(bench, both, REMOTE_OWNERS * bytes, &memory->pair);
    for (int owner = 0; *shares && owner < REMOTE_OWNERS; owner++)
        memory->values[owner] =
            (double *)memory->pair.arena + owner * remote_length();
    if (!*shares)
        memory->values[bench->rank] = calloc(1, bytes);
    if (!memory->values[bench->rank])
        bench_check(EK_ERR_NOMEM);
    return &memory->remote;
}
