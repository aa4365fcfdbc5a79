/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, whose
 * benchmark comes with Global Arrays.  Every integral is evaluated, although up
 * to eight are equal, and every pair (kl) is tested for each (ij) that may
 * matter: the tests are part of the benchmark's load.
 */
#include "quartet.h"
#include "common/message.h"

#include <stdlib.h>
#include <string.h>

/* Tiles, [width][width] each. */
struct quartet_room {
    double *bound_ij, *bound_kl;
    double *density_kl, *density_jl;
    double *fock_ij, *fock_ik;
    struct pair *pair_kl;
    int64_t integrals; /* of this task */
};

/* A tile quartet: where its functions begin and how many they are. */
struct quartet {
    int tile[4];
    int count[4];
    const struct gaussian *gaussian[4];
    int width;
    double screen;
};

struct quartet_room *quartet_room_create(const struct tiles *tiles)
{
    size_t area = (size_t)tiles->width * (size_t)tiles->width;
    struct quartet_room *room = allocate(1, sizeof *room);
    double **tile[] = {&room->bound_ij,   &room->bound_kl, &room->density_kl,
                       &room->density_jl, &room->fock_ij,  &room->fock_ik};
    for (size_t t = 0; t < sizeof tile / sizeof *tile; t++)
        *tile[t] = allocate(area, sizeof(double));
    room->pair_kl = allocate(area, sizeof *room->pair_kl);
    return room;
}

void quartet_room_destroy(struct quartet_room *room)
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

static struct quartet quartet_decode(const struct quartet_input *input,
                                     int64_t task)
{
    const struct tiles *tiles = input->tiles;
    struct quartet made = {.width = tiles->width, .screen = tiles->screen};
    for (int x = 0; x < 4; x++) {
        int tile = (int)(task % tiles->tiles);
        task /= tiles->tiles;
        made.tile[x] = tile;
        made.count[x] = tiles_width(tiles, tile);
        made.gaussian[x] = input->chain->gaussian + tile * tiles->width;
    }
    return made;
}

/* Get the tiles, and the pairs (kl) that any (ij) can make matter. */
static void prepare(const struct quartet_input *input,
                    const struct quartet *quartet, struct quartet_room *room)
{
    const int *tile = quartet->tile;
    size_t bytes =
        (size_t)quartet->width * (size_t)quartet->width * sizeof(double);
    matrix_get(input->bounds, tile[0], tile[1], room->bound_ij);
    matrix_get(input->bounds, tile[2], tile[3], room->bound_kl);
    matrix_get(input->density, tile[2], tile[3], room->density_kl);
    matrix_get(input->density, tile[1], tile[3], room->density_jl);
    memset(room->fock_ij, 0, bytes);
    memset(room->fock_ik, 0, bytes);
    room->integrals = 0;
    for (int k = 0; k < quartet->count[2]; k++) {
        for (int l = 0; l < quartet->count[3]; l++) {
            int kl = k * quartet->width + l;
            if (room->bound_kl[kl] * input->tiles->bound_max >= quartet->screen)
                room->pair_kl[kl] = pair_make(&quartet->gaussian[2][k],
                                              &quartet->gaussian[3][l]);
        }
    }
}

/* All (kl) with one (ij). */
static void run_pair(const struct quartet *quartet, struct quartet_room *room,
                     int i, int j)
{
    const int width = quartet->width, columns = quartet->count[3];
    const double bound = room->bound_ij[i * width + j];
    const struct pair pair =
        pair_make(&quartet->gaussian[0][i], &quartet->gaussian[1][j]);
    const double *density_jl = room->density_jl + j * width;
    double coulomb = 0;
    for (int k = 0; k < quartet->count[2]; k++) {
        const double *bound_kl = room->bound_kl + k * width;
        const double *density_kl = room->density_kl + k * width;
        const struct pair *pair_kl = room->pair_kl + k * width;
        double exchange = 0;
        for (int l = 0; l < columns; l++) {
            if (bound * bound_kl[l] < quartet->screen)
                continue;
            double value = repulsion(&pair, &pair_kl[l]);
            coulomb += value * density_kl[l];
            exchange += value * density_jl[l];
            room->integrals++;
        }
        room->fock_ik[i * width + k] -= 0.5 * exchange;
    }
    room->fock_ij[i * width + j] += coulomb;
}

int64_t quartet_run(const struct quartet_input *input, int64_t task,
                    ek_worker *worker, struct quartet_room *room,
                    struct matrix *fock)
{
    struct quartet quartet = quartet_decode(input, task);
    const int *tile = quartet.tile;
    prepare(input, &quartet, room);
    for (int i = 0; i < quartet.count[0]; i++) {
        for (int j = 0; j < quartet.count[1]; j++) {
            if (room->bound_ij[i * quartet.width + j] *
                    input->tiles->bound_max <
                quartet.screen)
                continue;
            run_pair(&quartet, room, i, j);
            ek_poll(worker);
        }
    }
    matrix_accumulate(fock, tile[0], tile[1], room->fock_ij);
    matrix_accumulate(fock, tile[0], tile[2], room->fock_ik);
    return room->integrals;
}
