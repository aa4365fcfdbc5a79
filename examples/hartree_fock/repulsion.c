/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two-electron work of one task: which integrals of a tile quartet matter,
 * and their share of the Fock matrix, 2J - K of a density of half the
 * electrons.
 */
#include "digest.h"
#include "fock.h"
#include "system.h"
#include "window.h"

#include <math.h>
#include <stdlib.h>

struct kernel {
    const struct basis *basis;
    const struct integrals *integrals;
    const struct fock_options *options;
    struct tiles tiles;
    double *weight; /* [tiles][tiles] largest |density|, where it screens */
    MPI_Comm comm;
};

struct room {
    struct quartets *quartets;
    struct window window;
    struct shell_pair *pair[2]; /* of two tile pairs */
};

/* Two tile pairs, and shell pairs of the second one with one of the first. */
struct sides {
    const struct kernel *kernel;
    struct room *room;
    struct tile_pair bra, ket;
    double weight; /* of the density that they meet */
};

struct kernel *kernel_create(const struct system *system,
                             const struct fock_options *options,
                             struct kernel_shape *shape)
{
    struct kernel *made = allocate(1, sizeof *made);
    *made = (struct kernel){.basis = &system->basis,
                            .integrals = system->integrals,
                            .options = options};
    tiles_make(made->basis, options->tile, &made->tiles);
    *shape = (struct kernel_shape){.function = "fock",
                                   .tasks = tiles_tasks(&made->tiles),
                                   .blocks = made->tiles.tiles,
                                   .edge = made->tiles.edge,
                                   .is_symmetric = true};
    if (options->is_density_screened) {
        size_t tiles = (size_t)made->tiles.tiles;
        made->weight = allocate(tiles * tiles, sizeof(double));
    }
    return made;
}

void kernel_destroy(struct kernel *kernel)
{
    tiles_free(&kernel->tiles);
    free(kernel->weight);
    free(kernel);
}

ek_status kernel_open(struct kernel *kernel, const struct matrix *like,
                      ek_collection *tasks)
{
    kernel->comm = like->comm;
    return tiles_list(&kernel->tiles, kernel->integrals,
                      kernel->options->schwarz, like, tasks);
}

int64_t kernel_bytes(const struct kernel *kernel)
{
    return tiles_bytes(&kernel->tiles);
}

static double largest_of(const struct kernel *kernel, const double *density,
                         int row, int column)
{
    const int64_t *edge = kernel->tiles.edge;
    const int64_t n = kernel->basis->functions;
    double largest = 0;
    for (int64_t i = edge[row]; i < edge[row + 1]; i++) {
        for (int64_t j = edge[column]; j < edge[column + 1]; j++)
            largest = fmax(largest, fabs(density[i * n + j]));
    }
    return largest;
}

void kernel_look(struct kernel *kernel, const double *density)
{
    int tiles = kernel->tiles.tiles;
    if (!kernel->weight)
        return;
    for (int i = 0; density && i < tiles; i++) {
        for (int j = 0; j < tiles; j++)
            kernel->weight[i * tiles + j] = largest_of(kernel, density, i, j);
    }
    MPI_Bcast(kernel->weight, tiles * tiles, MPI_DOUBLE, 0, kernel->comm);
}

struct room *room_create(const struct kernel *kernel)
{
    struct room *room = allocate(1, sizeof *room);
    size_t most = (size_t)kernel->tiles.shells_max;
    room->quartets = quartets_create(kernel->integrals);
    window_make(kernel->basis, &kernel->tiles, &room->window);
    for (int side = 0; side < 2; side++)
        room->pair[side] = allocate(most * most, sizeof *room->pair[side]);
    return room;
}

void room_destroy(struct room *room)
{
    quartets_destroy(room->quartets);
    window_free(&room->window);
    for (int side = 0; side < 2; side++)
        free(room->pair[side]);
    free(room);
}

/*
 * Largest density that meets (ij|kl): a Coulomb term takes it fourfold, as
 * J counts twice and (ij) stands for (ji), an exchange term once.
 */
static double quartet_weight(const double *weight, int width, const int at[4])
{
    const double *row_i = weight + (size_t)at[0] * (size_t)width;
    const double *row_j = weight + (size_t)at[1] * (size_t)width;
    const double *row_k = weight + (size_t)at[2] * (size_t)width;
    double coulomb = fmax(row_i[at[1]], row_k[at[3]]);
    double exchange = fmax(fmax(row_i[at[2]], row_i[at[3]]),
                           fmax(row_j[at[2]], row_j[at[3]]));
    return fmax(4 * coulomb, exchange);
}

/* Compute (ab|cd) and add it to the Fock matrix. */
static void run_quartet(const struct sides *sides, const struct shell_pair *ab,
                        const struct shell_pair *cd)
{
    struct window *window = &sides->room->window;
    const double *value = quartets_compute(sides->room->quartets, ab, cd);
    if (!value)
        return;
    const int number[4] = {ab->a, ab->b, cd->a, cd->b};
    const struct shell *shell = sides->kernel->basis->shell;
    struct quartet quartet;
    for (int x = 0; x < 4; x++) {
        quartet.first[x] = window->first[number[x]];
        quartet.count[x] = shell[number[x]].functions;
    }
    double distinct = (ab->a == ab->b ? 1 : 2) * (cd->a == cd->b ? 1 : 2);
    if (ab->a != cd->a || ab->b != cd->b)
        distinct *= 2;
    digest(&quartet, value, distinct, window->density, window->fock,
           window->width);
}

static bool is_outweighed(const struct sides *sides,
                          const struct shell_pair *ab,
                          const struct shell_pair *cd)
{
    const struct window *window = &sides->room->window;
    const int at[4] = {window->number[ab->a], window->number[ab->b],
                       window->number[cd->a], window->number[cd->b]};
    double weight = quartet_weight(window->weight, window->shells, at);
    return ab->bound * cd->bound * weight < sides->kernel->options->schwarz;
}

/* Up to @p pairs shell pairs of the ket with one of the bra. */
static int64_t run_pair(const struct sides *sides, const struct shell_pair *ab,
                        int pairs)
{
    const double threshold = sides->kernel->options->schwarz;
    int64_t done = 0;
    for (int k = 0; k < pairs; k++) {
        const struct shell_pair *cd = &sides->ket.pair[k];
        if (ab->bound * cd->bound * sides->weight < threshold)
            break;
        if (sides->kernel->weight && is_outweighed(sides, ab, cd))
            continue;
        if (ab->momentum <= cd->momentum)
            run_quartet(sides, ab, cd);
        else
            run_quartet(sides, cd, ab);
        done++;
    }
    return done;
}

/* All of a task whose tiles are here. */
static int64_t run_pairs(const struct sides *sides, bool is_same,
                         ek_worker *worker)
{
    const struct tile_pair *bra = &sides->bra, *ket = &sides->ket;
    int64_t done = 0;
    for (int p = 0; p < bra->pairs; p++) {
        const struct shell_pair *ab = &bra->pair[p];
        if (ab->bound * ket->bound * sides->weight <
            sides->kernel->options->schwarz)
            break;
        done += run_pair(sides, ab, is_same ? p + 1 : ket->pairs);
        ek_poll(worker);
    }
    return done;
}

/* A density above 1 brings nothing back that the Schwarz bound removed. */
static double weight_of(const struct kernel *kernel, const int tile[4])
{
    if (!kernel->weight)
        return 1;
    return fmin(1, quartet_weight(kernel->weight, kernel->tiles.tiles, tile));
}

/* The tiles (ij|kl) of two tile pairs. */
static void decode_tiles(const int64_t index[2], int tile[4])
{
    for (int side = 0; side < 2; side++) {
        int64_t i, j;
        triangle_decode(index[side], &i, &j);
        tile[2 * side] = (int)i;
        tile[2 * side + 1] = (int)j;
    }
}

enum outcome kernel_run(const struct kernel *kernel, int64_t task,
                        struct work *work)
{
    const struct tiles *tiles = &kernel->tiles;
    const double threshold = kernel->options->schwarz;
    struct room *room = work->room;
    struct tile_pair pair[2];
    int64_t index[2];
    int tile[4];
    triangle_decode(task, &index[0], &index[1]);
    double bound = tiles->bound[index[0]] * tiles->bound[index[1]];
    if (bound < threshold)
        return OUTCOME_NOTHING_EVER;
    decode_tiles(index, tile);
    const double weight = weight_of(kernel, tile);
    if (bound * weight < threshold)
        return OUTCOME_NOTHING_NOW;
    if (tiles_get(tiles, work->worker, index, room->pair, pair) != EK_OK ||
        window_open(&room->window, work, tile) != EK_OK)
        return OUTCOME_FAILED;
    const struct sides sides = {kernel, room, pair[0], pair[1], weight};
    if (kernel->weight)
        window_weigh(&room->window);
    if (run_pairs(&sides, index[0] == index[1], work->worker) == 0)
        return OUTCOME_NOTHING_NOW;
    return window_close(&room->window, work) == EK_OK ? OUTCOME_DONE
                                                      : OUTCOME_FAILED;
}
