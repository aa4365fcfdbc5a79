/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads or two processes that share an arena. */
#include "bench.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------- arenas */

static void *align(void *memory)
{
    uintptr_t address = (uintptr_t)memory;
    return (void *)((address + BENCH_LINE - 1) / BENCH_LINE * BENCH_LINE);
}

bool bench_pair_threads(const struct bench *bench, size_t bytes,
                        struct bench_pair *pair)
{
    *pair = (struct bench_pair){
        .name = "threads", .comm = MPI_COMM_NULL, .window = MPI_WIN_NULL};
    if (bench->cpus < 2)
        return false;
    size_t rounded = (bytes + BENCH_LINE - 1) / BENCH_LINE * BENCH_LINE;
    pair->arena = aligned_alloc(BENCH_LINE, rounded);
    if (pair->arena)
        memset(pair->arena, 0, rounded);
    return pair->arena != NULL;
}

bool bench_pair_processes(const struct bench *bench, MPI_Comm both,
                          size_t bytes, struct bench_pair *pair)
{
    MPI_Comm node;
    int size;
    MPI_Aint room;
    void *memory;
    *pair = (struct bench_pair){.name = "processes",
                                .comm = both,
                                .window = MPI_WIN_NULL,
                                .side = bench->rank};
    MPI_Comm_split_type(both, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    if (size == 2) {
        room = pair->side == 0 ? (MPI_Aint)(bytes + BENCH_LINE) : 0;
        MPI_Win_allocate_shared(room, 1, MPI_INFO_NULL, node, &memory,
                                &pair->window);
        int unit;
        MPI_Win_shared_query(pair->window, 0, &room, &unit, &memory);
        pair->arena = align(memory);
        if (pair->side == 0)
            memset(pair->arena, 0, bytes);
        MPI_Barrier(node);
    }
    MPI_Comm_free(&node);
    return pair->arena != NULL;
}

void bench_pair_free(struct bench_pair *pair)
{
    if (pair->window != MPI_WIN_NULL)
        MPI_Win_free(&pair->window);
    else
        free(pair->arena);
    pair->arena = NULL;
}

/* ---------------------------------------------------------------- running */

void bench_pair_run(const struct bench_pair *pair, bench_side_fn *fn,
                    void *argument)
{
    if (pair->comm != MPI_COMM_NULL) {
        MPI_Barrier(pair->comm);
        fn(pair->arena, pair->side, argument);
        MPI_Barrier(pair->comm);
        return;
    }
    /* The team that Evenkeel has: threads of another kind would meet it while
     * it waits for its next region. */
#pragma omp parallel num_threads(2) default(none) shared(pair, fn, argument)
    fn(pair->arena, omp_get_thread_num(), argument);
}

enum {
    ROUNDS = 50
};

static void bounce(void *arena, int side, void *argument)
{
    _Atomic uint64_t *there = arena;
    _Atomic uint64_t *back = (_Atomic uint64_t *)((char *)arena + BENCH_LINE);
    /* relaxed: the word that this side alone writes; both are equal now. */
    uint64_t start =
        atomic_load_explicit(side == 0 ? there : back, memory_order_relaxed);
    /* release and acquire, all four: as one who hands something over. */
    if (side == 1) {
        for (uint64_t i = start + 1; i <= start + ROUNDS; i++) {
            int looks = 0;
            while (atomic_load_explicit(there, memory_order_acquire) != i)
                bench_wait(&looks);
            atomic_store_explicit(back, i, memory_order_release);
        }
        return;
    }
    uint64_t first = 0;
    for (uint64_t i = start + 1; i <= start + ROUNDS; i++) {
        if (i == start + 2)
            first = bench_ticks();
        atomic_store_explicit(there, i, memory_order_release);
        int looks = 0;
        while (atomic_load_explicit(back, memory_order_acquire) != i)
            bench_wait(&looks);
    }
    *(double *)argument = bench_ns(bench_ticks() - first) / (ROUNDS - 1);
}

double bench_line_round_trip(const struct bench_pair *pair)
{
    double ns = 0;
    bench_pair_run(pair, bounce, &ns);
    return ns;
}
