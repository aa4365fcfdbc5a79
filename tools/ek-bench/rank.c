/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks: who takes part, how the others wait, messages. */
#include "bench.h"

enum {
    ROUNDS = 50
};

MPI_Comm bench_both(const struct bench *bench)
{
    MPI_Comm both;
    bool is_one = bench->size > 1 && bench->rank < 2;
    MPI_Comm_split(MPI_COMM_WORLD, is_one ? 0 : MPI_UNDEFINED, bench->rank,
                   &both);
    return both;
}

void bench_barrier(MPI_Comm comm)
{
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(comm, &request);
    for (;;) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (is_done)
            return;
        bench_sleep_ms(2);
    }
}

double bench_message_round_trip(MPI_Comm both, int bytes)
{
    enum {
        BYTES_MAX = 1280000 /* a tile */
    };
    static char buffer[BYTES_MAX];
    int rank;
    MPI_Comm_rank(both, &rank);
    MPI_Barrier(both);
    uint64_t first = bench_ticks();
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, both);
        MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, both, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, both);
    }
    return bench_ns(bench_ticks() - first) / ROUNDS;
}
