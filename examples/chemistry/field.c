/* SPDX-License-Identifier: BSD-3-Clause */
#include "field.h"

#include <stdlib.h>
#include <string.h>

/* Part of a column that the wind exchanges in an hour: at the ground, and on
 * top. */
#define WIND_GROUND 0.1
#define WIND_TOP 0.6
/* Part of the columns with a city. */
#define CITIES 0.3

/* SplitMix64. */
static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A number in [0, 1), WHAT of a column. */
static double random_at(const struct field_size *size, int column, int what)
{
    uint64_t x = scramble((uint64_t)size->seed);
    x = scramble(x ^ (uint64_t)column);
    return (double)(scramble(x ^ (uint64_t)what) >> 11) * 0x1p-53;
}

static size_t column_count(const struct field_size *size)
{
    return (size_t)size->levels * (size_t)size->mechanism->species;
}

size_t field_column_bytes(const struct field_size *size)
{
    return column_count(size) * sizeof(double);
}

double field_longitude(const struct field_size *size, int column)
{
    return (double)column / size->columns;
}

/* Room for a column of this rank. */
static void column_make(struct field *field, int column)
{
    size_t count = column_count(&field->size);
    field->columns[column].state = allocate(2 * count, sizeof(double));
    field->columns[column].west = field->columns[column].state + count;
}

/* Concentrations at midnight. */
static void column_start(struct field *field, int column)
{
    const struct mechanism *mechanism = field->size.mechanism;
    double *state = field->columns[column].state;
    for (int level = 0; level < field->size.levels; level++) {
        double much = 0.5 + random_at(&field->size, column, level + 1);
        for (int i = 0; i < mechanism->species; i++)
            *state++ = much * mechanism->initial[i];
    }
}

void field_make(const struct field_size *size, MPI_Comm comm,
                struct field *field)
{
    int ranks;
    *field = (struct field){.size = *size, .comm = comm};
    MPI_Comm_rank(comm, &field->rank);
    MPI_Comm_size(comm, &ranks);
    field->columns = allocate((size_t)size->columns, sizeof *field->columns);
    field->owners = allocate((size_t)size->columns, sizeof *field->owners);
    int share = size->columns / ranks, rest = size->columns % ranks;
    for (int rank = 0, column = 0; rank < ranks; rank++) {
        for (int i = 0; i < share + (rank < rest); i++, column++) {
            field->owners[column] = rank;
            if (rank != field->rank)
                continue;
            column_make(field, column);
            column_start(field, column);
        }
    }
}

void field_free(struct field *field)
{
    for (int i = 0; field->columns && i < field->size.columns; i++)
        free(field->columns[i].state);
    free(field->columns);
    free(field->owners);
    *field = (struct field){0};
}

void field_take(struct field *field, int column, const void *state)
{
    if (!field->columns[column].state)
        column_make(field, column);
    memcpy(field->columns[column].state, state,
           field_column_bytes(&field->size));
}

void field_give(struct field *field, int column)
{
    free(field->columns[column].state);
    field->columns[column] = (struct column){0};
}

void field_find_owners(struct field *field)
{
    int columns = field->size.columns;
    for (int i = 0; i < columns; i++)
        field->owners[i] = field->columns[i].state ? field->rank : -1;
    MPI_Allreduce(MPI_IN_PLACE, field->owners, columns, MPI_INT, MPI_MAX,
                  field->comm);
}

/* Every column gets a copy of its western neighbor.  A column is the tag of
 * its message. */
static void exchange(struct field *field)
{
    int columns = field->size.columns, count = 0;
    int doubles = (int)column_count(&field->size);
    MPI_Request *requests = allocate(2 * (size_t)columns, sizeof *requests);
    for (int i = 0; i < columns; i++) {
        int east = (i + 1) % columns, from = field->owners[i],
            to = field->owners[east];
        if (from == field->rank && to == field->rank)
            memcpy(field->columns[east].west, field->columns[i].state,
                   field_column_bytes(&field->size));
        else if (from == field->rank)
            MPI_Isend(field->columns[i].state, doubles, MPI_DOUBLE, to, i,
                      field->comm, &requests[count++]);
        else if (to == field->rank)
            MPI_Irecv(field->columns[east].west, doubles, MPI_DOUBLE, from, i,
                      field->comm, &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

/* What the wind leaves of a column, and its city adds near the ground. */
static void column_transport(struct field *field, int column)
{
    const struct field_size *size = &field->size;
    const struct mechanism *mechanism = size->mechanism;
    double *state = field->columns[column].state;
    const double *west = field->columns[column].west;
    double city = random_at(size, column, 0) < CITIES;
    for (int level = 0; level < size->levels; level++) {
        double wind =
            WIND_GROUND + (WIND_TOP - WIND_GROUND) * level / size->levels;
        for (int i = 0; i < mechanism->species; i++, state++, west++) {
            *state += wind * (*west - *state);
            if (level == 0)
                *state += city * mechanism->emitted[i];
        }
    }
}

void field_transport(struct field *field)
{
    exchange(field);
    for (int i = 0; i < field->size.columns; i++) {
        if (field->owners[i] == field->rank)
            column_transport(field, i);
    }
}

/* Read the columns here from the file, or write them to it. */
static bool transfer(const struct field *field, const char *path, bool is_read)
{
    int mode = is_read ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_WRONLY;
    int count = (int)column_count(&field->size), moved = count, failures;
    MPI_File file;
    MPI_Status status;
    failures = MPI_File_open(field->comm, path, mode, MPI_INFO_NULL, &file) !=
               MPI_SUCCESS;
    if (failures)
        return false;
    for (int i = 0; i < field->size.columns; i++) {
        double *state = field->columns[i].state;
        MPI_Offset at = (MPI_Offset)field_column_bytes(&field->size) * i;
        if (!state)
            continue;
        int code = is_read ? MPI_File_read_at(file, at, state, count,
                                              MPI_DOUBLE, &status)
                           : MPI_File_write_at(file, at, state, count,
                                               MPI_DOUBLE, &status);
        if (code == MPI_SUCCESS)
            MPI_Get_count(&status, MPI_DOUBLE, &moved);
        failures += code != MPI_SUCCESS || moved != count;
    }
    failures += MPI_File_close(&file) != MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, field->comm);
    return failures == 0;
}

bool field_write(const struct field *field, const char *path)
{
    return transfer(field, path, false);
}

bool field_read(struct field *field, const char *path)
{
    for (int i = 0; i < field->size.columns; i++) {
        bool is_here = field->owners[i] == field->rank;
        if (!is_here)
            field_give(field, i);
        else if (!field->columns[i].state)
            column_make(field, i);
    }
    return transfer(field, path, true);
}

static uint64_t hash_of(const struct field *field, int column)
{
    uint64_t hash = (uint64_t)column;
    for (size_t i = 0; i < column_count(&field->size); i++) {
        uint64_t bits;
        memcpy(&bits, &field->columns[column].state[i], sizeof bits);
        hash = scramble(hash ^ bits);
    }
    return hash;
}

/* The species that is shown, over the levels. */
static double shown_of(const struct field *field, int column)
{
    const struct mechanism *mechanism = field->size.mechanism;
    const double *state = &field->columns[column].state[mechanism->shown];
    double sum = 0;
    for (int level = 0; level < field->size.levels; level++)
        sum += state[level * mechanism->species];
    return sum / field->size.levels;
}

struct field_sum field_sum(const struct field *field)
{
    int columns = field->size.columns;
    double *shown = allocate((size_t)columns, sizeof *shown);
    struct field_sum sum = {0};
    for (int i = 0; i < columns; i++) {
        if (field->owners[i] != field->rank)
            continue;
        shown[i] = shown_of(field, i);
        sum.check += hash_of(field, i);
    }
    /* Each is a number of one rank and zeros of the others. */
    MPI_Allreduce(MPI_IN_PLACE, shown, columns, MPI_DOUBLE, MPI_SUM,
                  field->comm);
    MPI_Allreduce(MPI_IN_PLACE, &sum.check, 1, MPI_UINT64_T, MPI_SUM,
                  field->comm);
    for (int i = 0; i < columns; i++)
        sum.mean += shown[i] / columns;
    free(shown);
    return sum;
}
