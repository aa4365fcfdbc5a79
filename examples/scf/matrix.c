/* SPDX-License-Identifier: BSD-3-Clause */
#include "scf/matrix.h"

#include "cli/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t triangle_encode(int64_t row, int64_t column)
{
    return row * (row + 1) / 2 + column;
}

void triangle_decode(int64_t index, int64_t *row, int64_t *column)
{
    int64_t r = (int64_t)((sqrt(8.0 * (double)index + 1.0) - 1.0) / 2.0);
    while (triangle_encode(r, 0) > index)
        r--;
    while (triangle_encode(r + 1, 0) <= index)
        r++;
    *row = r;
    *column = index - triangle_encode(r, 0);
}

/* The number of a tile of the matrix in its layout. */
static int64_t in_layout(const struct matrix *matrix, int64_t tile)
{
    int64_t index[2];
    if (!matrix->is_lower)
        return tile;
    triangle_decode(tile, &index[0], &index[1]);
    return layout_tile(matrix->layout, index);
}

static int64_t number_of(const struct matrix *matrix, int64_t row,
                         int64_t column)
{
    return matrix->is_lower ? triangle_encode(row, column)
                            : row * matrix->layout->blocks[1] + column;
}

static int64_t length_of(int64_t tile, void *context)
{
    const struct matrix *matrix = context;
    return layout_length(in_layout(matrix, tile), (void *)matrix->layout);
}

static int owner_of(int64_t tile, void *context)
{
    const struct matrix *matrix = context;
    return layout_owner(in_layout(matrix, tile), (void *)matrix->layout);
}

static int rows_of(const struct matrix *matrix)
{
    return (int)matrix->layout->extent[0];
}

static size_t entries_of(const struct matrix *matrix)
{
    size_t rows = (size_t)rows_of(matrix);
    return rows * rows;
}

int64_t matrix_tiles(const struct matrix *matrix)
{
    int64_t blocks = matrix->layout->blocks[0];
    return matrix->is_lower ? triangle_encode(blocks, 0) : blocks * blocks;
}

void matrix_copy(struct matrix *matrix)
{
    matrix->value = allocate(entries_of(matrix), sizeof(double));
}

ek_status matrix_spread(struct matrix *matrix, ek_collection *tasks,
                        const char *name, int64_t cache_bytes)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = name;
    shape.count = matrix_tiles(matrix);
    shape.length_of = length_of;
    shape.owner_of = owner_of;
    shape.context = matrix;
    shape.cache_bytes = cache_bytes;
    return ek_tiles_create(tasks, &shape, &matrix->store);
}

void matrix_free(struct matrix *matrix)
{
    free(matrix->value);
    matrix->value = NULL;
    ek_tiles_destroy(&matrix->store);
}

void matrix_bounds(const struct matrix *matrix, int64_t tile, int64_t *first,
                   int64_t *width)
{
    layout_bounds(matrix->layout, in_layout(matrix, tile), first, width);
}

/* First entry of a tile in an [n][n]. */
static size_t first_entry(const struct matrix *matrix, const int64_t *first)
{
    return (size_t)first[0] * (size_t)rows_of(matrix) + (size_t)first[1];
}

static int rank_of(const struct matrix *matrix)
{
    int rank;
    MPI_Comm_rank(matrix->comm, &rank);
    return rank;
}

int matrix_owner(const struct matrix *matrix, int64_t tile)
{
    return owner_of(tile, (void *)matrix);
}

double *matrix_here(const struct matrix *matrix, int64_t tile, int64_t *stride)
{
    int64_t first[2], width[2], length;
    double *values;
    matrix_bounds(matrix, tile, first, width);
    *stride = matrix->store ? width[1] : rows_of(matrix);
    if (!matrix->store)
        return matrix->value + first_entry(matrix, first);
    if (matrix_owner(matrix, tile) != rank_of(matrix) ||
        ek_tiles_local(matrix->store, tile, &values, &length) != EK_OK)
        return NULL;
    return values;
}

int64_t matrix_bytes(const struct matrix *matrix)
{
    int64_t doubles = 0;
    int rank = rank_of(matrix);
    if (!matrix->store)
        return (int64_t)(entries_of(matrix) * sizeof(double));
    for (int64_t tile = 0; tile < matrix_tiles(matrix); tile++) {
        if (matrix_owner(matrix, tile) == rank)
            doubles += ek_tiles_length(matrix->store, tile);
    }
    return doubles * (int64_t)sizeof(double);
}

void matrix_zero(struct matrix *matrix)
{
    memset(matrix->value, 0, entries_of(matrix) * sizeof(double));
}

ek_status matrix_clear(struct matrix *matrix)
{
    if (matrix->store)
        return ek_tiles_fill(matrix->store, 0);
    matrix_zero(matrix);
    return EK_OK;
}

void matrix_add(const struct matrix *from, struct matrix *to)
{
    for (size_t i = 0; i < entries_of(to); i++)
        to->value[i] += from->value[i];
}

/* Copy rows, which are some doubles apart. */
static void copy_rows(const double *from, int64_t from_stride, double *to,
                      int64_t to_stride, const int64_t *width)
{
    for (int64_t row = 0; row < width[0]; row++)
        memcpy(to + row * to_stride, from + row * from_stride,
               (size_t)width[1] * sizeof(double));
}

/* Bring a tile from rank 0 to its owner, through ROOM. */
static void send_tile(struct matrix *matrix, int64_t tile, const double *value,
                      double *room)
{
    int64_t first[2], width[2], stride;
    int owner = matrix_owner(matrix, tile);
    double *here = matrix_here(matrix, tile, &stride);
    matrix_bounds(matrix, tile, first, width);
    int length = (int)(width[0] * width[1]);
    if (value)
        copy_rows(value + first_entry(matrix, first), rows_of(matrix),
                  here ? here : room, width[1], width);
    if (value && !here)
        MPI_Send(room, length, MPI_DOUBLE, owner, 0, matrix->comm);
    if (!value && here)
        MPI_Recv(here, length, MPI_DOUBLE, 0, 0, matrix->comm,
                 MPI_STATUS_IGNORE);
}

ek_status matrix_set(struct matrix *matrix, const double *value)
{
    int64_t tiles = matrix_tiles(matrix), longest = 0;
    if (!matrix->store) {
        if (value)
            memcpy(matrix->value, value, entries_of(matrix) * sizeof(double));
        MPI_Bcast(matrix->value, (int)entries_of(matrix), MPI_DOUBLE, 0,
                  matrix->comm);
        return EK_OK;
    }
    for (int64_t tile = 0; tile < tiles; tile++) {
        int64_t length = ek_tiles_length(matrix->store, tile);
        longest = length > longest ? length : longest;
    }
    double *room = allocate((size_t)longest, sizeof *room);
    for (int64_t tile = 0; tile < tiles; tile++)
        send_tile(matrix, tile, value, room);
    free(room);
    return ek_tiles_sync(matrix->store);
}

/* A matrix, and its values on rank 0. */
struct shown {
    const struct matrix *matrix;
    double *value;
};

static void show_tile(int64_t tile, const double *values, int64_t length,
                      void *context)
{
    const struct shown *shown = context;
    int64_t first[2], width[2];
    (void)length;
    matrix_bounds(shown->matrix, tile, first, width);
    copy_rows(values, width[1],
              shown->value + first_entry(shown->matrix, first),
              rows_of(shown->matrix), width);
}

/* Let the upper triangle be what the lower one is. */
static void mirror(double *value, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < i; j++)
            value[j * rows + i] = value[i * rows + j];
    }
}

ek_status matrix_sum(struct matrix *matrix, double *value)
{
    ek_status status = EK_OK;
    struct shown shown = {matrix, value};
    if (matrix->store)
        status = ek_tiles_gather(matrix->store, show_tile, &shown);
    else
        MPI_Reduce(matrix->value, value, (int)entries_of(matrix), MPI_DOUBLE,
                   MPI_SUM, 0, matrix->comm);
    if (value && matrix->is_lower)
        mirror(value, (size_t)rows_of(matrix));
    return status;
}

/* Copy a tile of this rank's copy, or add to it. */
static void access_copy(const struct matrix_tile *tile, bool adds)
{
    int64_t first[2], width[2], stride;
    int64_t number = number_of(tile->matrix, tile->row, tile->column);
    double *here = matrix_here(tile->matrix, number, &stride);
    matrix_bounds(tile->matrix, number, first, width);
    if (!adds) {
        copy_rows(here, stride, tile->values, width[1], width);
        return;
    }
    for (int64_t row = 0; row < width[0]; row++) {
        for (int64_t column = 0; column < width[1]; column++)
            here[row * stride + column] +=
                tile->values[row * width[1] + column];
    }
}

static ek_status start(ek_worker *worker, const struct matrix_tile *tile,
                       bool adds, ek_transfer *transfer)
{
    ek_tiles *store = tile->matrix->store;
    *transfer = (ek_transfer){0};
    if (!store) {
        access_copy(tile, adds);
        return EK_OK;
    }
    int64_t number = number_of(tile->matrix, tile->row, tile->column);
    int64_t length = ek_tiles_length(store, number);
    return adds ? ek_tiles_accumulate_start(worker, store, number, tile->values,
                                            length, transfer)
                : ek_tiles_get_start(worker, store, number, tile->values,
                                     length, transfer);
}

static ek_status access_all(ek_worker *worker, const struct matrix_tile *tile,
                            int count, bool adds)
{
    ek_transfer transfer[MATRIX_TILES_MAX];
    ek_status status = EK_OK;
    for (int t = 0; t < count && status == EK_OK; t++)
        status = start(worker, &tile[t], adds, &transfer[t]);
    for (int t = 0; t < count && status == EK_OK; t++)
        status = ek_tiles_wait(worker, &transfer[t]);
    return status;
}

ek_status matrix_get(ek_worker *worker, const struct matrix_tile *tile,
                     int count)
{
    return access_all(worker, tile, count, false);
}

ek_status matrix_accumulate(ek_worker *worker, const struct matrix_tile *tile,
                            int count)
{
    return access_all(worker, tile, count, true);
}
