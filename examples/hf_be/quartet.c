/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body of a task: the share of one tile quartet in the Fock matrix.  With
 * g = (ij|kl): fock_ij += g density_kl, fock_ik -= g density_jl / 2.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, whose
 * benchmark comes with Global Arrays.  Every integral is evaluated, although up
 * to eight are equal, and every pair (kl) is tested for each (ij) that may
 * matter: the tests are part of the benchmark's load.
 */
#include "cli/message.h"
#include "fock.h"
#include "system.h"
#include "tiles.h"

#include <stdlib.h>
#include <string.h>

struct kernel {
    const struct chain *chain;
    struct tiles tiles;
    int64_t *edge;
    bool is_null_by_get;
    struct matrix bounds; /* Schwarz bounds of pairs of functions */
};

/* Tiles, whose rows follow each other. */
struct room {
    double *bound_ij, *bound_kl;
    double *density_kl, *density_jl;
    double *fock_ij, *fock_ik;
    struct pair *pair_kl;
};

/* A tile quartet: where its functions begin and how many they are. */
struct quartet {
    int tile[4];
    int count[4];
    const struct gaussian *gaussian[4];
};

struct kernel *kernel_create(const struct system *system,
                             const struct fock_options *options,
                             struct kernel_shape *shape)
{
    struct kernel *made = allocate(1, sizeof *made);
    struct tiles *tiles = &made->tiles;
    made->chain = &system->chain;
    made->is_null_by_get = options->is_null_by_get;
    tiles_make(made->chain, options->width, options->screen,
               !made->is_null_by_get, tiles);
    made->edge = allocate((size_t)tiles->tiles + 1, sizeof *made->edge);
    for (int t = 0; t < tiles->tiles; t++)
        made->edge[t + 1] = made->edge[t] + tiles_width(tiles, t);
    *shape = (struct kernel_shape){.function = "quartet",
                                   .tasks = tiles_tasks(tiles),
                                   .blocks = tiles->tiles,
                                   .edge = made->edge};
    return made;
}

void kernel_destroy(struct kernel *kernel)
{
    matrix_free(&kernel->bounds);
    tiles_free(&kernel->tiles);
    free(kernel->edge);
    free(kernel);
}

static void fill_tile(const struct kernel *kernel, int64_t tile)
{
    int64_t first[2], width[2], stride;
    double *here = matrix_here(&kernel->bounds, tile, &stride);
    matrix_bounds(&kernel->bounds, tile, first, width);
    if (!here)
        return;
    for (int64_t a = 0; a < width[0]; a++) {
        for (int64_t b = 0; b < width[1]; b++) {
            struct pair pair =
                pair_make(&kernel->chain->gaussian[first[0] + a],
                          &kernel->chain->gaussian[first[1] + b]);
            here[a * stride + b] = pair_bound(&pair);
        }
    }
}

ek_status kernel_open(struct kernel *kernel, const struct matrix *like,
                      ek_collection *tasks)
{
    struct matrix *bounds = &kernel->bounds;
    *bounds = (struct matrix){.layout = like->layout, .comm = like->comm};
    if (!tasks)
        matrix_copy(bounds);
    ek_status status =
        tasks ? matrix_spread(bounds, tasks, "bounds", 0) : EK_OK;
    if (status != EK_OK)
        return status;
    for (int64_t tile = 0; tile < matrix_tiles(bounds); tile++)
        fill_tile(kernel, tile);
    return tasks ? ek_tiles_sync(bounds->store) : EK_OK;
}

int64_t kernel_bytes(const struct kernel *kernel)
{
    int64_t largest = kernel->is_null_by_get ? 0 : kernel->tiles.pairs;
    return matrix_bytes(&kernel->bounds) + largest * (int64_t)sizeof(double);
}

void kernel_look(struct kernel *kernel, const double *density)
{
    (void)kernel;
    (void)density; /* bounds alone say what matters */
}

struct room *room_create(const struct kernel *kernel)
{
    size_t width = (size_t)kernel->tiles.width, area = width * width;
    struct room *room = allocate(1, sizeof *room);
    double **tile[] = {&room->bound_ij,   &room->bound_kl, &room->density_kl,
                       &room->density_jl, &room->fock_ij,  &room->fock_ik};
    for (size_t t = 0; t < sizeof tile / sizeof *tile; t++)
        *tile[t] = allocate(area, sizeof(double));
    room->pair_kl = allocate(area, sizeof *room->pair_kl);
    return room;
}

void room_destroy(struct room *room)
{
    free(room->bound_ij);
    free(room->bound_kl);
    free(room->density_kl);
    free(room->density_jl);
    free(room->fock_ij);
    free(room->fock_ik);
    free(room->pair_kl);
    free(room);
}

static struct quartet quartet_decode(const struct kernel *kernel, int64_t task)
{
    const struct tiles *tiles = &kernel->tiles;
    struct quartet made;
    for (int x = 0; x < 4; x++) {
        int tile = (int)(task % tiles->tiles);
        task /= tiles->tiles;
        made.tile[x] = tile;
        made.count[x] = tiles_width(tiles, tile);
        made.gaussian[x] = kernel->chain->gaussian + tile * tiles->width;
    }
    return made;
}

static double largest_of(const double *value, int count)
{
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, value[i]);
    return largest;
}

/* Get the bounds, those of (kl) where any of (ij) may matter: all that a null
 * task does that has no table to ask. */
static enum outcome get_bounds(const struct kernel *kernel,
                               const struct quartet *quartet,
                               const struct work *work)
{
    const int *tile = quartet->tile, *count = quartet->count;
    const struct tiles *tiles = &kernel->tiles;
    const struct room *room = work->room;
    const struct matrix_tile ij = {&kernel->bounds, tile[0], tile[1],
                                   room->bound_ij};
    const struct matrix_tile kl = {&kernel->bounds, tile[2], tile[3],
                                   room->bound_kl};
    if (matrix_get(work->worker, &ij, 1) != EK_OK)
        return OUTCOME_FAILED;
    double largest = largest_of(room->bound_ij, count[0] * count[1]);
    if (largest * tiles->bound_max < tiles->screen)
        return OUTCOME_NOTHING_EVER;
    if (matrix_get(work->worker, &kl, 1) != EK_OK)
        return OUTCOME_FAILED;
    largest *= largest_of(room->bound_kl, count[2] * count[3]);
    return largest < tiles->screen ? OUTCOME_NOTHING_EVER : OUTCOME_DONE;
}

/* Get all tiles of a task that is not null. */
static enum outcome get_tiles(const struct kernel *kernel,
                              const struct quartet *quartet,
                              const struct work *work)
{
    const int *tile = quartet->tile;
    const struct room *room = work->room;
    const struct matrix_tile wanted[] = {
        {work->density, tile[2], tile[3], room->density_kl},
        {work->density, tile[1], tile[3], room->density_jl},
        {&kernel->bounds, tile[0], tile[1], room->bound_ij},
        {&kernel->bounds, tile[2], tile[3], room->bound_kl}};
    if (kernel->is_null_by_get) {
        enum outcome outcome = get_bounds(kernel, quartet, work);
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
    int count = kernel->is_null_by_get ? 2 : 4;
    return matrix_get(work->worker, wanted, count) == EK_OK ? OUTCOME_DONE
                                                            : OUTCOME_FAILED;
}

/* The pairs (kl) that any (ij) can make matter. */
static void make_pairs(const struct kernel *kernel,
                       const struct quartet *quartet, struct room *room)
{
    const struct tiles *tiles = &kernel->tiles;
    const int columns = quartet->count[3];
    for (int k = 0; k < quartet->count[2]; k++) {
        for (int l = 0; l < columns; l++) {
            int kl = k * columns + l;
            if (room->bound_kl[kl] * tiles->bound_max >= tiles->screen)
                room->pair_kl[kl] = pair_make(&quartet->gaussian[2][k],
                                              &quartet->gaussian[3][l]);
        }
    }
}

/* All (kl) with one (ij). */
static int64_t run_pair(const struct quartet *quartet, double screen,
                        struct room *room, int i, int j)
{
    const int rows = quartet->count[2], columns = quartet->count[3];
    const int ij = i * quartet->count[1] + j;
    const double bound = room->bound_ij[ij];
    const struct pair pair =
        pair_make(&quartet->gaussian[0][i], &quartet->gaussian[1][j]);
    const double *density_jl = room->density_jl + j * columns;
    double coulomb = 0;
    int64_t integrals = 0;
    for (int k = 0; k < rows; k++) {
        const double *bound_kl = room->bound_kl + k * columns;
        const double *density_kl = room->density_kl + k * columns;
        const struct pair *pair_kl = room->pair_kl + k * columns;
        double exchange = 0;
        for (int l = 0; l < columns; l++) {
            if (bound * bound_kl[l] < screen)
                continue;
            double value = repulsion(&pair, &pair_kl[l]);
            coulomb += value * density_kl[l];
            exchange += value * density_jl[l];
            integrals++;
        }
        room->fock_ik[i * rows + k] -= 0.5 * exchange;
    }
    room->fock_ij[ij] += coulomb;
    return integrals;
}

static void run_pairs(const struct kernel *kernel,
                      const struct quartet *quartet, struct work *work)
{
    const struct tiles *tiles = &kernel->tiles;
    const int *count = quartet->count;
    struct room *room = work->room;
    memset(room->fock_ij, 0, (size_t)(count[0] * count[1]) * sizeof(double));
    memset(room->fock_ik, 0, (size_t)(count[0] * count[2]) * sizeof(double));
    for (int i = 0; i < count[0]; i++) {
        for (int j = 0; j < count[1]; j++) {
            if (room->bound_ij[i * count[1] + j] * tiles->bound_max <
                tiles->screen)
                continue;
            work->integrals += run_pair(quartet, tiles->screen, room, i, j);
            ek_poll(work->worker);
        }
    }
}

enum outcome kernel_run(const struct kernel *kernel, int64_t task,
                        struct work *work)
{
    struct room *room = work->room;
    if (!kernel->is_null_by_get && tiles_is_null(&kernel->tiles, task))
        return OUTCOME_NOTHING_EVER;
    const struct quartet quartet = quartet_decode(kernel, task);
    const int *tile = quartet.tile;
    enum outcome outcome = get_tiles(kernel, &quartet, work);
    if (outcome != OUTCOME_DONE)
        return outcome;
    make_pairs(kernel, &quartet, room);
    run_pairs(kernel, &quartet, work);
    const struct matrix_tile added[] = {
        {work->fock, tile[0], tile[1], room->fock_ij},
        {work->fock, tile[0], tile[2], room->fock_ik}};
    return matrix_accumulate(work->worker, added, 2) == EK_OK ? OUTCOME_DONE
                                                              : OUTCOME_FAILED;
}
