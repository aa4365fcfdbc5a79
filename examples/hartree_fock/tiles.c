/* SPDX-License-Identifier: BSD-3-Clause */
#include "tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A shell pair is stored as so many doubles. */
enum {
    PAIR_DOUBLES = sizeof(struct shell_pair) / sizeof(double)
};

_Static_assert(PAIR_DOUBLES * sizeof(double) == sizeof(struct shell_pair),
               "shell pairs are whole doubles");

int64_t tiles_tasks(const struct tiles *tiles)
{
    return triangle_encode(tiles->tile_pairs, 0);
}

void tiles_make(const struct basis *basis, int functions, struct tiles *tiles)
{
    size_t room = (size_t)basis->shells + 1;
    *tiles = (struct tiles){.first_shell = allocate(room, sizeof(int)),
                            .edge = allocate(room, sizeof(int64_t))};
    int count = 0;
    for (int s = 0; s < basis->shells; s++) {
        const struct shell *shell = &basis->shell[s];
        if (s == 0 || shell->first + shell->functions - tiles->edge[count - 1] >
                          functions) {
            tiles->first_shell[count] = s;
            tiles->edge[count++] = shell->first;
        }
        int shells = s + 1 - tiles->first_shell[count - 1];
        if (shells > tiles->shells_max)
            tiles->shells_max = shells;
    }
    tiles->tiles = count;
    tiles->first_shell[count] = basis->shells;
    tiles->edge[count] = basis->functions;
    tiles->tile_pairs = triangle_encode(count, 0);
    size_t pairs = (size_t)tiles->tile_pairs;
    tiles->bound = allocate(pairs, sizeof *tiles->bound);
    tiles->pairs = allocate(pairs, sizeof *tiles->pairs);
    tiles->first_pair = allocate(pairs, sizeof *tiles->first_pair);
}

static int compare_bounds(const void *left, const void *right)
{
    const struct shell_pair *one = left, *other = right;
    if (one->bound != other->bound)
        return one->bound < other->bound ? 1 : -1;
    if (one->a != other->a)
        return one->a < other->a ? -1 : 1;
    return one->b < other->b ? -1 : one->b > other->b;
}

/* List the shell pairs of a tile pair; returns their number. */
static int list_pair(const struct tiles *tiles,
                     const struct integrals *integrals, int64_t tile_pair,
                     struct shell_pair *pair)
{
    const int *first = tiles->first_shell;
    int64_t i, j;
    int count = 0;
    triangle_decode(tile_pair, &i, &j);
    for (int a = first[i]; a < first[i + 1]; a++) {
        for (int b = first[j]; b < first[j + 1] && b <= a; b++)
            pair[count++] = integrals_pair(integrals, a, b);
    }
    qsort(pair, (size_t)count, sizeof *pair, compare_bounds);
    return count;
}

/* Shell pairs of a tile pair. */
static int64_t count_shells(const struct tiles *tiles, int64_t tile_pair)
{
    const int *first = tiles->first_shell;
    int64_t i, j;
    triangle_decode(tile_pair, &i, &j);
    int64_t rows = first[i + 1] - first[i], columns = first[j + 1] - first[j];
    return i == j ? triangle_encode(rows, 0) : rows * columns;
}

static bool is_here(const struct tiles *tiles, int64_t tile_pair,
                    bool is_spread)
{
    int rank;
    MPI_Comm_rank(tiles->like->comm, &rank);
    return !is_spread || matrix_owner(tiles->like, tile_pair) == rank;
}

/* List all tile pairs, or those of this rank. */
static void list_here(struct tiles *tiles, const struct integrals *integrals,
                      bool is_spread)
{
    int64_t room = 0;
    for (int64_t p = 0; p < tiles->tile_pairs; p++) {
        tiles->first_pair[p] = room;
        if (is_here(tiles, p, is_spread))
            room += count_shells(tiles, p);
    }
    tiles->list = allocate((size_t)room, sizeof *tiles->list);
    for (int64_t p = 0; p < tiles->tile_pairs; p++) {
        if (!is_here(tiles, p, is_spread))
            continue;
        struct shell_pair *pair = tiles->list + tiles->first_pair[p];
        tiles->pairs[p] = list_pair(tiles, integrals, p, pair);
        tiles->bound[p] = pair->bound;
    }
}

/* Leave out, at the end of each list, what cannot matter; agree. */
static void cut_lists(struct tiles *tiles, double threshold)
{
    MPI_Comm comm = tiles->like->comm;
    int count = (int)tiles->tile_pairs;
    double largest = 0;
    MPI_Allreduce(MPI_IN_PLACE, tiles->bound, count, MPI_DOUBLE, MPI_MAX, comm);
    for (int p = 0; p < count; p++)
        largest = fmax(largest, tiles->bound[p]);
    double least = largest > 0 ? threshold / largest : 0;
    for (int p = 0; p < count; p++) {
        const struct shell_pair *pair = tiles->list + tiles->first_pair[p];
        while (tiles->pairs[p] > 0 && pair[tiles->pairs[p] - 1].bound < least)
            tiles->pairs[p]--;
        if (tiles->bound[p] < least)
            tiles->bound[p] = 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, tiles->pairs, count, MPI_INT, MPI_MAX, comm);
}

static int64_t length_of(int64_t tile_pair, void *context)
{
    const struct tiles *tiles = context;
    int pairs = tiles->pairs[tile_pair];
    return (int64_t)PAIR_DOUBLES * (pairs > 0 ? pairs : 1);
}

static int owner_of(int64_t tile_pair, void *context)
{
    const struct tiles *tiles = context;
    return matrix_owner(tiles->like, tile_pair);
}

/* Move the lists of this rank to a store. */
static ek_status spread(struct tiles *tiles, ek_collection *tasks)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = "shell pairs";
    shape.count = tiles->tile_pairs;
    shape.length_of = length_of;
    shape.owner_of = owner_of;
    shape.context = tiles;
    ek_status status = ek_tiles_create(tasks, &shape, &tiles->store);
    for (int64_t p = 0; p < tiles->tile_pairs && status == EK_OK; p++) {
        double *values;
        int64_t length;
        if (!is_here(tiles, p, true))
            continue;
        status = ek_tiles_local(tiles->store, p, &values, &length);
        if (status == EK_OK)
            memcpy(values, tiles->list + tiles->first_pair[p],
                   (size_t)tiles->pairs[p] * sizeof *tiles->list);
    }
    free(tiles->list);
    tiles->list = NULL;
    return status == EK_OK ? ek_tiles_sync(tiles->store) : status;
}

ek_status tiles_list(struct tiles *tiles, const struct integrals *integrals,
                     double threshold, const struct matrix *like,
                     ek_collection *tasks)
{
    tiles->like = like;
    list_here(tiles, integrals, tasks != NULL);
    cut_lists(tiles, threshold);
    return tasks ? spread(tiles, tasks) : EK_OK;
}

void tiles_free(struct tiles *tiles)
{
    ek_tiles_destroy(&tiles->store);
    free(tiles->first_shell);
    free(tiles->edge);
    free(tiles->bound);
    free(tiles->pairs);
    free(tiles->first_pair);
    free(tiles->list);
    *tiles = (struct tiles){0};
}

int64_t tiles_bytes(const struct tiles *tiles)
{
    const int64_t each = (int64_t)(sizeof *tiles->bound + sizeof *tiles->pairs +
                                   sizeof *tiles->first_pair);
    int64_t doubles = 0;
    for (int64_t p = 0; p < tiles->tile_pairs; p++) {
        if (is_here(tiles, p, tiles->store))
            doubles += length_of(p, (void *)tiles);
    }
    return tiles->tile_pairs * each + doubles * (int64_t)sizeof(double);
}

ek_status tiles_get(const struct tiles *tiles, ek_worker *worker,
                    const int64_t index[2], struct shell_pair *const room[2],
                    struct tile_pair pair[2])
{
    ek_transfer transfer[2] = {{0}};
    ek_status status = EK_OK;
    for (int side = 0; side < 2 && status == EK_OK; side++) {
        int64_t p = index[side];
        pair[side] = (struct tile_pair){
            tiles->pairs[p],
            tiles->store ? room[side] : tiles->list + tiles->first_pair[p],
            tiles->bound[p]};
        if (tiles->store)
            status = ek_tiles_get_start(
                worker, tiles->store, p, (double *)(void *)room[side],
                length_of(p, (void *)tiles), &transfer[side]);
    }
    for (int side = 0; side < 2 && status == EK_OK; side++)
        status = ek_tiles_wait(worker, &transfer[side]);
    return status;
}
