/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks of every kind whose iterations may have parts: seeds that spawn, pinned
 * ones and those for other ranks among them, kept tasks, and a range.
 */
#ifndef PARTS_H
#define PARTS_H

#include "job.h"

#include <evenkeel_spawn.h>

enum {
    ROOTS = 24, /* of each rank, every eighth of them pinned */
    TREE = 16,  /* numbers of a root and what it spawns; 0: what it keeps */
    INDICES = 100
};

static ek_function root_function, index_function;
static int *runs; /* [numbers], of this rank in this iteration */
static _Atomic int ran, stops_at, is_first;
static int numbers;
static int nap_us; /* of each task, besides */

static void note_run(ek_worker *worker, int number)
{
    int *place = &runs[number];
#pragma omp atomic
    *place += 1;
    if (number % 8 == 0)
        job_nap(20);
    if (nap_us > 0)
        job_nap(nap_us);
    if (atomic_fetch_add(&ran, 1) == atomic_load(&stops_at))
        ek_stop(worker);
}

/* A node of a binary tree spawns two others; the root keeps a task, once. */
static int run_root(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    int number;
    (void)context;
    CHECK_EQ_INT(bytes, sizeof number);
    memcpy(&number, payload, sizeof number);
    int root = number / TREE, place = number % TREE;
    note_run(worker, number);
    for (int child = 2 * place; place > 0 && child <= 2 * place + 1; child++) {
        int spawned = root * TREE + child;
        if (child < TREE)
            CHECK_OK(
                ek_spawn(worker, root_function, &spawned, sizeof spawned, 0));
    }
    int kept = root * TREE;
    if (place == 1 && atomic_load(&is_first))
        CHECK_OK(
            ek_spawn(worker, root_function, &kept, sizeof kept, EK_SPAWN_KEEP));
    return 0;
}

static int run_index(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    int64_t index;
    (void)context;
    CHECK_EQ_INT(bytes, sizeof index);
    memcpy(&index, payload, sizeof index);
    note_run(worker, numbers - job_size * INDICES + (int)index);
    return 0;
}

static void add_roots(ek_collection *tasks, bool has_pinned)
{
    numbers = job_size * (ROOTS * TREE + INDICES);
    runs = calloc((size_t)numbers, sizeof *runs);
    root_function = job_register(tasks, "root", run_root, NULL);
    index_function = job_register(tasks, "index", run_index, NULL);
    for (int i = 0; i < ROOTS; i++) {
        int number = (job_rank * ROOTS + i) * TREE + 1;
        ek_hint hint = EK_HINT_INIT;
        hint.pinned = has_pinned && i % 8 == 0;
        hint.rank = i % 8 == 1 ? (job_rank + 1) % job_size : -1;
        CHECK_OK(
            ek_add_task(tasks, root_function, &number, sizeof number, &hint));
    }
    CHECK_OK(ek_add_range(tasks, index_function, job_rank * INDICES,
                          (job_rank + 1) * INDICES));
}

static void check_runs(const char *what)
{
    MPI_Allreduce(MPI_IN_PLACE, runs, numbers, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < numbers; i++) {
        if (runs[i] == 1)
            continue;
        fprintf(stderr, "%s: task %d ran %d times\n", what, i, runs[i]);
        check_count(false);
        return;
    }
    check_count(true);
}

#endif
