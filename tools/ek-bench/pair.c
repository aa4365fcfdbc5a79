/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads or two processes that share an arena. */
#define _GNU_SOURCE
#include "bench.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

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

/* The CPU of this side: the n-th that it may use. */
static void pin(int side, const cpu_set_t *mask)
{
    cpu_set_t mine;
    int cpu = -1;
    for (int n = side % CPU_COUNT(mask); n >= 0; n--) {
        do
            cpu++;
        while (!CPU_ISSET((size_t)cpu, mask));
    }
    CPU_ZERO(&mine);
    CPU_SET((size_t)cpu, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
}

void bench_run_pinned(int side, bench_side_fn *fn, void *arena, void *argument)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    bool is_known = sched_getaffinity(0, sizeof mask, &mask) == 0;
    if (is_known)
        pin(side, &mask);
    fn(arena, side, argument);
    if (is_known)
        sched_setaffinity(0, sizeof mask, &mask);
}

void bench_pair_run(const struct bench_pair *pair, bench_side_fn *fn,
                    void *argument)
{
    if (pair->comm != MPI_COMM_NULL) {
        MPI_Barrier(pair->comm);
        bench_run_pinned(pair->side, fn, pair->arena, argument);
        MPI_Barrier(pair->comm);
        return;
    }
    /* The team that Evenkeel has: threads of another kind would meet it while
     * it waits for its next region. */
#pragma omp parallel num_threads(2) default(none) shared(pair, fn, argument)
    bench_run_pinned(omp_get_thread_num(), fn, pair->arena, argument);
}

enum {
    ROUNDS = 50,
    BATCHES = 5 /* of which the median counts */
};

/* Rounds START + 1 ... START + ROUNDS of side 1. */
static void answer(_Atomic uint64_t *there, _Atomic uint64_t *back,
                   uint64_t start)
{
    for (uint64_t i = start + 1; i <= start + ROUNDS; i++) {
        int looks = 0;
        /* acquire and release, here and below: like a hand-over. */
        while (atomic_load_explicit(there, memory_order_acquire) != i)
            bench_wait(&looks);
        atomic_store_explicit(back, i, memory_order_release);
    }
}

/* The same rounds of side 0; nanoseconds of one, the first left out. */
static double ask(_Atomic uint64_t *there, _Atomic uint64_t *back,
                  uint64_t start)
{
    uint64_t first = 0;
    for (uint64_t i = start + 1; i <= start + ROUNDS; i++) {
        int looks = 0;
        if (i == start + 2)
            first = bench_ticks();
        atomic_store_explicit(there, i, memory_order_release);
        while (atomic_load_explicit(back, memory_order_acquire) != i)
            bench_wait(&looks);
    }
    return bench_ns(bench_ticks() - first) / (ROUNDS - 1);
}

static void bounce(void *arena, int side, void *argument)
{
    _Atomic uint64_t *there = arena;
    _Atomic uint64_t *back = (_Atomic uint64_t *)((char *)arena + BENCH_LINE);
    /* relaxed: the word that this side alone writes; both are equal now. */
    uint64_t start =
        atomic_load_explicit(side == 0 ? there : back, memory_order_relaxed);
    double ns[BATCHES];
    for (int b = 0; b < BATCHES; b++, start += ROUNDS) {
        if (side == 1)
            answer(there, back, start);
        else
            ns[b] = ask(there, back, start);
    }
    if (side == 0)
        *(double *)argument = bench_median(ns, BATCHES);
}

double bench_line_round_trip(const struct bench_pair *pair)
{
    double ns = 0;
    bench_pair_run(pair, bounce, &ns);
    return ns < BENCH_LOST ? ns : NAN;
}
