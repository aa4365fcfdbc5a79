/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh.h"

#include "cli/message.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

struct front front_at(double turn)
{
    return (struct front){0.5 + 0.22 * cos(2 * PI * turn),
                          0.5 + 0.22 * sin(2 * PI * turn), 0.2};
}

double front_distance(const struct front *front, double x, double y)
{
    double dx = x - front->x, dy = y - front->y;
    return fabs(sqrt(dx * dx + dy * dy) - front->radius);
}

/* Bits of X and Y in turn. */
static uint64_t place_of(uint64_t x, uint64_t y)
{
    uint64_t place = 0;
    for (int bit = 0; bit < 32; bit++)
        place |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << (2 * bit + 1);
    return place;
}

static struct block block_of(const struct mesh *mesh, int level, int x, int y)
{
    int rest = mesh->levels - level;
    return (struct block){level, x, y,
                          place_of((uint64_t)x << rest, (uint64_t)y << rest)};
}

double block_width(const struct mesh *mesh, const struct block *block)
{
    return 1.0 / mesh->roots / (double)(1 << block->level);
}

/* Whether the front may touch it, or will soon. */
static bool is_near(const struct mesh *mesh, const struct block *block,
                    const struct front *front)
{
    double width = block_width(mesh, block);
    return front_distance(front, (block->x + 0.5) * width,
                          (block->y + 0.5) * width) < width;
}

/* Write the blocks that BLOCK is cut into to PUT, or NULL; how many. */
static int refine(const struct mesh *mesh, const struct block *block,
                  const struct front *front, struct block *put)
{
    int count = 0;
    if (block->level == mesh->levels || !is_near(mesh, block, front)) {
        if (put)
            *put = *block;
        return 1;
    }
    for (int part = 0; part < 4; part++) {
        struct block child =
            block_of(mesh, block->level + 1, 2 * block->x + part % 2,
                     2 * block->y + part / 2);
        count += refine(mesh, &child, front, put ? put + count : NULL);
    }
    return count;
}

static int refine_all(const struct mesh *mesh, const struct front *front,
                      struct block *put)
{
    int count = 0;
    for (int y = 0; y < mesh->roots; y++) {
        for (int x = 0; x < mesh->roots; x++) {
            struct block root = block_of(mesh, 0, x, y);
            count += refine(mesh, &root, front, put ? put + count : NULL);
        }
    }
    return count;
}

static int is_later(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

void mesh_make(int roots, int levels, const struct front *front,
               struct mesh *mesh)
{
    *mesh = (struct mesh){.roots = roots, .levels = levels};
    mesh->count = refine_all(mesh, front, NULL);
    mesh->blocks = allocate((size_t)mesh->count, sizeof *mesh->blocks);
    refine_all(mesh, front, mesh->blocks);
    qsort(mesh->blocks, (size_t)mesh->count, sizeof *mesh->blocks, is_later);
}

void mesh_free(struct mesh *mesh)
{
    free(mesh->blocks);
    mesh->blocks = NULL;
}

int mesh_at(const struct mesh *mesh, double x, double y)
{
    int side = mesh->roots << mesh->levels, low = 0, high = mesh->count;
    if (!(x >= 0 && x < 1 && y >= 0 && y < 1))
        return -1;
    uint64_t place = place_of((uint64_t)(x * side), (uint64_t)(y * side));
    /* The last block that does not begin later. */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (mesh->blocks[middle].place <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int mesh_beyond(const struct mesh *mesh, const struct block *block, int face)
{
    static const double at[FACES][2] = {
        {-0.1, 0.25}, {-0.1, 0.75}, {1.1, 0.25}, {1.1, 0.75},
        {0.25, -0.1}, {0.75, -0.1}, {0.25, 1.1}, {0.75, 1.1}};
    double width = block_width(mesh, block);
    return mesh_at(mesh, (block->x + at[face][0]) * width,
                   (block->y + at[face][1]) * width);
}
