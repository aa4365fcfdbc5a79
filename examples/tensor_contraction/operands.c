/* SPDX-License-Identifier: BSD-3-Clause */
#include "operands.h"

/* A step of SplitMix64: all bits of the result depend on all of STATE. */
static uint64_t mix(uint64_t state)
{
    state += 0x9e3779b97f4a7c15;
    state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
    state = (state ^ state >> 27) * 0x94d049bb133111eb;
    return state ^ state >> 31;
}

static uint64_t mix_indices(enum seed seed, int count, const int64_t *index)
{
    uint64_t state = mix((uint64_t)seed);
    for (int d = 0; d < count; d++)
        state = mix(state ^ (uint64_t)index[d]);
    return state;
}

/* A multiple of 2^-52. */
static double number_of(uint64_t state)
{
    return (double)(int64_t)(state >> 11) * 0x1p-52 - 1;
}

double operands_entry(enum seed seed, int rank, const int64_t *index)
{
    return number_of(mix_indices(seed, rank, index));
}

/* Go on to the next row of a tile; false: there is none. */
static bool next_row(int rank, const int64_t *first, const int64_t *width,
                     int64_t *index)
{
    for (int d = rank - 2; d >= 0; d--) {
        if (++index[d] < first[d] + width[d])
            return true;
        index[d] = first[d];
    }
    return false;
}

void operands_values(enum seed seed, const struct tensor *tensor, int64_t tile,
                     double *values)
{
    const int last = tensor->rank - 1;
    int64_t index[RANK_MAX], first[RANK_MAX], width[RANK_MAX];
    tensor_index(tensor, tile, index);
    tensor_bounds(tensor, index, first, width);
    for (int d = 0; d < tensor->rank; d++)
        index[d] = first[d];
    do {
        uint64_t row = mix_indices(seed, last, index);
        for (int64_t i = 0; i < width[last]; i++)
            *values++ = number_of(mix(row ^ (uint64_t)(first[last] + i)));
    } while (next_row(tensor->rank, first, width, index));
}

static ek_status create_store(const struct operands *operands, const char *name,
                              const struct tensor *tensor, int64_t cache_bytes,
                              ek_tiles **tiles)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = name;
    shape.count = tensor->tiles;
    shape.length_of = tensor_length;
    shape.context = (void *)tensor;
    shape.cache_bytes = cache_bytes;
    return ek_tiles_create(operands->home, &shape, tiles);
}

/* Fill the tiles of this rank. */
static ek_status fill(const struct tensor *tensor, enum seed seed,
                      ek_tiles *tiles)
{
    int rank;
    ek_status status = EK_OK;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int64_t t = 0; status == EK_OK && t < tensor->tiles; t++) {
        double *values;
        int64_t length;
        if (ek_tiles_owner(tiles, t) != rank)
            continue;
        status = ek_tiles_local(tiles, t, &values, &length);
        if (status == EK_OK)
            operands_values(seed, tensor, t, values);
    }
    return status == EK_OK ? ek_tiles_sync(tiles) : status;
}

ek_status operands_open(struct operands *operands)
{
    ek_options options = EK_OPTIONS_INIT;
    *operands = (struct operands){0};
    options.name = "home";
    return ek_create(MPI_COMM_WORLD, &options, &operands->home);
}

ek_status operands_make(const struct contraction *contraction,
                        int64_t cache_bytes, struct operands *operands)
{
    ek_status status =
        create_store(operands, "A", &contraction->a, cache_bytes, &operands->a);
    if (status == EK_OK)
        status = create_store(operands, "B", &contraction->b, cache_bytes,
                              &operands->b);
    if (status == EK_OK)
        status = create_store(operands, "C", &contraction->c, 0, &operands->c);
    if (status == EK_OK)
        status = fill(&contraction->a, SEED_A, operands->a);
    if (status == EK_OK)
        status = fill(&contraction->b, SEED_B, operands->b);
    return status;
}

void operands_close(struct operands *operands)
{
    ek_tiles_destroy(&operands->a);
    ek_tiles_destroy(&operands->b);
    ek_tiles_destroy(&operands->c);
    ek_destroy(&operands->home);
}
