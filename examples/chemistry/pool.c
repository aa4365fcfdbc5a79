/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    OUT,
    IN
};

void pool_make(struct field *field, int workers, struct pool *pool)
{
    size_t columns = (size_t)field->size.columns;
    *pool = (struct pool){.field = field, .workers = workers};
    MPI_Comm_size(field->comm, &pool->size);
    pool->costs = allocate(columns, sizeof *pool->costs);
    pool->runners = allocate(columns, sizeof *pool->runners);
    for (int side = OUT; side <= IN; side++) {
        pool->counts[side] = allocate((size_t)pool->size, sizeof(int));
        pool->starts[side] = allocate((size_t)pool->size + 1, sizeof(int));
    }
}

void pool_free(struct pool *pool)
{
    free(pool->costs);
    free(pool->runners);
    for (int side = OUT; side <= IN; side++) {
        free(pool->counts[side]);
        free(pool->starts[side]);
        free(pool->buffers[side]);
    }
    *pool = (struct pool){0};
}

/* A column in a message: its state, and what it took. */
static int doubles_of(const struct pool *pool)
{
    return (int)(field_column_bytes(&pool->field->size) / sizeof(double)) + 1;
}

/* All ranks compute who integrates what: as long as a rank has more than the
 * mean, a column goes to who has least. */
static void plan(struct pool *pool)
{
    const struct field *field = pool->field;
    int columns = field->size.columns;
    double *loads = allocate((size_t)pool->size, sizeof *loads), mean = 0;
    for (int i = 0; i < columns; i++) {
        if (field->owners[i] != field->rank)
            pool->costs[i] = 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, pool->costs, columns, MPI_DOUBLE, MPI_SUM,
                  field->comm);
    for (int i = 0; i < columns; i++) {
        loads[field->owners[i]] += pool->costs[i];
        mean += pool->costs[i] / pool->size;
    }
    for (int i = 0; i < columns; i++) {
        int owner = field->owners[i], least = 0;
        for (int rank = 1; rank < pool->size; rank++)
            least = loads[rank] < loads[least] ? rank : least;
        pool->runners[i] = owner;
        if (loads[owner] - pool->costs[i] / 2 <= mean ||
            loads[least] + pool->costs[i] / 2 >= mean)
            continue;
        loads[owner] -= pool->costs[i];
        loads[least] += pool->costs[i];
        pool->runners[i] = least;
    }
    free(loads);
}

/* The rank to which this one sends a column (OUT), or from which it gets it
 * (IN); -1: none. */
static int partner(const struct pool *pool, int side, int column)
{
    int here =
        side == OUT ? pool->field->owners[column] : pool->runners[column];
    int there =
        side == OUT ? pool->runners[column] : pool->field->owners[column];
    return here == pool->field->rank && there != here ? there : -1;
}

/* Counts, starts and room of what is sent and what is received. */
static void measure(struct pool *pool, int side)
{
    int *counts = pool->counts[side], *starts = pool->starts[side];
    memset(counts, 0, (size_t)pool->size * sizeof *counts);
    for (int i = 0; i < pool->field->size.columns; i++) {
        int rank = partner(pool, side, i);
        if (rank >= 0)
            counts[rank] += doubles_of(pool);
    }
    for (int rank = 0; rank < pool->size; rank++)
        starts[rank + 1] = starts[rank] + counts[rank];
    free(pool->buffers[side]);
    pool->buffers[side] =
        allocate((size_t)starts[pool->size] + 1, sizeof(double));
}

/* Where each column that is sent, or received, lies; NULL: it is neither. */
static double **find_rooms(const struct pool *pool, int side)
{
    double **rooms = allocate((size_t)pool->field->size.columns, sizeof *rooms);
    int *next = allocate((size_t)pool->size, sizeof *next);
    memcpy(next, pool->starts[side], (size_t)pool->size * sizeof *next);
    for (int i = 0; i < pool->field->size.columns; i++) {
        int rank = partner(pool, side, i);
        if (rank < 0)
            continue;
        rooms[i] = &pool->buffers[side][next[rank]];
        next[rank] += doubles_of(pool);
    }
    free(next);
    return rooms;
}

static void exchange(const struct pool *pool, int from, int to)
{
    MPI_Alltoallv(pool->buffers[from], pool->counts[from], pool->starts[from],
                  MPI_DOUBLE, pool->buffers[to], pool->counts[to],
                  pool->starts[to], MPI_DOUBLE, pool->field->comm);
}

/* Integrate what is here: own columns where they lie, others in their room. */
static int run_columns(struct pool *pool, const struct hour *hour,
                       double *const *guests)
{
    int columns = pool->field->size.columns, last = doubles_of(pool) - 1;
    int failed = 0;
#pragma omp parallel for schedule(dynamic)                      \
    num_threads(pool->workers) default(none)                    \
        shared(pool, hour, guests, columns, last) reduction(min \
                                                            : failed)
    for (int i = 0; i < columns; i++) {
        if (pool->runners[i] != pool->field->rank)
            continue;
        double start = MPI_Wtime();
        double *state = guests[i] ? guests[i] : pool->field->columns[i].state;
        int code = hour_integrate(hour, i, state, NULL);
        pool->costs[i] = MPI_Wtime() - start;
        if (guests[i])
            guests[i][last] = pool->costs[i];
        failed = code < failed ? code : failed;
    }
    return failed;
}

/* A reading of clocks. */
struct moment {
    double wall_s;
    clock_t cpu;
};

static struct moment moment_now(void)
{
    return (struct moment){MPI_Wtime(), clock()};
}

/* What the hour came to. */
static int sum_up(struct pool *pool, const struct moment *start, double work_s,
                  int failed, struct figures *figures)
{
    double wall_s = MPI_Wtime() - start->wall_s;
    double cpu_s = (double)(clock() - start->cpu) / CLOCKS_PER_SEC;
    double sums[] = {work_s, cpu_s, pool->workers,
                     pool->starts[OUT][pool->size]};
    MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM,
                  pool->field->comm);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN,
                  pool->field->comm);
    figures->tasks = pool->field->size.columns;
    figures->wall_s = wall_s;
    figures->work_s = sums[0];
    figures->cpu_s = sums[1];
    figures->workers = sums[2];
    figures->efficiency = sums[0] / (sums[2] * wall_s);
    if (pool->first_work_s == 0)
        pool->first_work_s = figures->work_s;
    figures->speed = pool->first_work_s / (sums[2] * wall_s);
    figures->travelled = sums[3] / doubles_of(pool);
    figures->data_in_bytes = figures->data_out_bytes = sums[3] * sizeof(double);
    return failed;
}

int pool_run(struct pool *pool, const struct hour *hour,
             struct figures *figures)
{
    struct field *field = pool->field;
    const struct moment start = moment_now();
    double work_s = 0;
    plan(pool);
    measure(pool, OUT);
    measure(pool, IN);
    double **leaving = find_rooms(pool, OUT), **guests = find_rooms(pool, IN);
    for (int i = 0; i < field->size.columns; i++) {
        if (leaving[i])
            memcpy(leaving[i], field->columns[i].state,
                   field_column_bytes(&field->size));
    }
    exchange(pool, OUT, IN);
    int failed = run_columns(pool, hour, guests);
    for (int i = 0; i < field->size.columns; i++) {
        if (pool->runners[i] == field->rank)
            work_s += pool->costs[i];
    }
    exchange(pool, IN, OUT);
    for (int i = 0; i < field->size.columns; i++) {
        if (!leaving[i])
            continue;
        field_take(field, i, leaving[i]);
        pool->costs[i] = leaving[i][doubles_of(pool) - 1];
    }
    free(leaving);
    free(guests);
    return sum_up(pool, &start, work_s, failed, figures);
}
