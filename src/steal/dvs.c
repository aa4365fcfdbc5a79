/* SPDX-License-Identifier: BSD-3-Clause */
#include "steal/dvs.h"

#include <limits.h>
#include <stdlib.h>

static int largest(int a, int b)
{
    return a > b ? a : b;
}

static int steps(struct eki_cell a, struct eki_cell b)
{
    return abs(a.x - b.x) + abs(a.y - b.y) + abs(a.z - b.z);
}

int eki_mesh_distance(const struct eki_mesh *mesh, int a, int b)
{
    return steps(mesh->cells[a], mesh->cells[b]);
}

/* Where a cell lies on the ring of its distance around another: clockwise, from
 * that above on; rings of different lengths compare.  Then by planes. */
static int turn_of(struct eki_cell from, struct eki_cell to)
{
    enum {
        TURN = 4 * 12 /* divisible by lengths that are compared: 1, 2 */
    };
    int x = to.x - from.x, y = to.y - from.y, r = abs(x) + abs(y);
    int at = r == 0            ? 0
             : x >= 0 && y < 0 ? x
             : x > 0           ? r + y
             : x <= 0 && y > 0 ? 2 * r - x
                               : 3 * r - y;
    return (r == 0 ? 0 : at * TURN / (4 * r)) + TURN * (to.z - from.z);
}

/* The numbers of cells in each direction. */
static struct eki_cell sides_of(const struct eki_dvs_option *option, int count)
{
    struct eki_cell sides = {count, 1, 1};
    int side = 1;
    switch (option->layout) {
    case EKI_LAYOUT_LINE:
        break;
    case EKI_LAYOUT_GRID:
        while ((side + 1) * (side + 1) <= count)
            side++;
        sides.x = (count + side - 1) / side;
        sides.y = (count + sides.x - 1) / sides.x;
        break;
    case EKI_LAYOUT_CUBE:
        while ((side + 1) * (side + 1) * (side + 1) <= count)
            side++;
        sides.z = side;
        side = (count + sides.z - 1) / sides.z;
        while (sides.y * sides.y < side)
            sides.y++;
        sides.x = (side + sides.y - 1) / sides.y;
        break;
    case EKI_LAYOUT_DIAMOND:
        /* 1 + 2 d (d + 1) cells have distance d or less. */
        while (1 + 2 * side * (side + 1) < count)
            side++;
        sides.x = sides.y = 2 * side + 1;
        break;
    case EKI_LAYOUT_ALLOTTED:
        sides = (struct eki_cell){(int)option->columns, (int)option->rows, 1};
        break;
    }
    return sides;
}

int eki_mesh_room(const struct eki_dvs_option *option)
{
    return option->layout == EKI_LAYOUT_ALLOTTED
               ? (int)(option->columns * option->rows)
               : INT_MAX;
}

static bool is_by_rings(const struct eki_dvs_option *option)
{
    return option->layout == EKI_LAYOUT_DIAMOND ||
           option->layout == EKI_LAYOUT_ALLOTTED;
}

/* A cell by its number in a box, row by row and plane by plane. */
static struct eki_cell cell_of(struct eki_cell sides, int number)
{
    return (struct eki_cell){number % sides.x, number / sides.x % sides.y,
                             number / sides.x / sides.y};
}

/* A cell or a worker by its number, and what it is ordered by. */
struct placed {
    int number, distance, turn;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->distance != y->distance
               ? (x->distance > y->distance) - (x->distance < y->distance)
               : (x->turn > y->turn) - (x->turn < y->turn);
}

/* The cells of a box nearest to the cell of the source; false: no memory. */
static bool lay_rings(struct eki_mesh *mesh, struct eki_cell sides,
                      struct eki_cell source)
{
    int all = sides.x * sides.y;
    struct placed *placed = eki_alloc((size_t)all, sizeof *placed);
    if (!placed)
        return false;
    for (int i = 0; i < all; i++) {
        struct eki_cell cell = cell_of(sides, i);
        placed[i] =
            (struct placed){i, steps(source, cell), turn_of(source, cell)};
    }
    qsort(placed, (size_t)all, sizeof *placed, by_place);
    /* The source is the first; the others follow by number. */
    for (int worker = 0; worker < mesh->count; worker++) {
        int ring = worker == mesh->source  ? 0
                   : worker < mesh->source ? worker + 1
                                           : worker;
        mesh->cells[worker] = cell_of(sides, placed[ring].number);
    }
    eki_free(placed);
    return true;
}

/* The worker nearest to the middle of a box. */
static int middle_of(const struct eki_mesh *mesh, struct eki_cell sides)
{
    int nearest = 0, least = INT_MAX;
    for (int worker = 0; worker < mesh->count; worker++) {
        struct eki_cell cell = mesh->cells[worker];
        int twice = abs(2 * cell.x - sides.x + 1) +
                    abs(2 * cell.y - sides.y + 1) +
                    abs(2 * cell.z - sides.z + 1);
        nearest = twice < least ? worker : nearest;
        least = twice < least ? twice : least;
    }
    return nearest;
}

bool eki_mesh_lay(struct eki_mesh *mesh, const struct eki_dvs_option *option,
                  int count, int source)
{
    struct eki_cell sides = sides_of(option, count);
    if (count > eki_mesh_room(option))
        return false;
    *mesh = (struct eki_mesh){count, source,
                              eki_alloc((size_t)count, sizeof *mesh->cells), 0};
    if (!mesh->cells)
        return false;
    if (is_by_rings(option)) {
        struct eki_cell middle = {sides.x / 2, sides.y / 2, 0};
        mesh->source = largest(source, 0);
        if (!lay_rings(mesh, sides,
                       option->layout == EKI_LAYOUT_ALLOTTED
                           ? cell_of(sides, (int)option->cell)
                           : middle)) {
            eki_mesh_free(mesh);
            return false;
        }
    } else {
        for (int worker = 0; worker < count; worker++)
            mesh->cells[worker] = cell_of(sides, worker);
        if (source < 0)
            mesh->source = middle_of(mesh, sides);
    }
    for (int worker = 0; worker < count; worker++)
        mesh->radius = largest(mesh->radius,
                               eki_mesh_distance(mesh, worker, mesh->source));
    return true;
}

void eki_mesh_free(struct eki_mesh *mesh)
{
    eki_free(mesh->cells);
    mesh->cells = NULL;
}

/* Neighbors of a worker that are nearer to the source. */
static int count_inner(const struct eki_mesh *mesh, int worker)
{
    int inner = 0;
    for (int other = 0; other < mesh->count; other++)
        inner += eki_mesh_distance(mesh, worker, other) == 1 &&
                 eki_mesh_distance(mesh, other, mesh->source) <
                     eki_mesh_distance(mesh, worker, mesh->source);
    return inner;
}

enum eki_dvs_class eki_dvs_class_of(const struct eki_mesh *mesh, int worker)
{
    if (worker == mesh->source)
        return EKI_DVS_SOURCE;
    if (mesh->radius >= 2 &&
        eki_mesh_distance(mesh, worker, mesh->source) == mesh->radius)
        return EKI_DVS_Z;
    return count_inner(mesh, worker) == 1 ? EKI_DVS_X : EKI_DVS_F;
}

/* Whether a worker of this class has victims of its class two steps away. */
static bool looks_farther(const struct eki_mesh *mesh, int worker,
                          enum eki_dvs_class class)
{
    return class == EKI_DVS_Z
               ? mesh->radius > 2
               : class == EKI_DVS_X &&
                     eki_mesh_distance(mesh, worker, mesh->source) == 1;
}

static int find_victims(const struct eki_mesh *mesh, int worker,
                        enum eki_dvs_class class, struct placed *listed)
{
    bool is_outward = class == EKI_DVS_X || class == EKI_DVS_SOURCE;
    bool is_far = looks_farther(mesh, worker, class);
    int count = 0;
    for (int other = 0; other < mesh->count; other++) {
        int apart = eki_mesh_distance(mesh, worker, other);
        if (apart != 1 &&
            !(apart == 2 && is_far && eki_dvs_class_of(mesh, other) == class))
            continue;
        int distance = eki_mesh_distance(mesh, other, mesh->source);
        listed[count++] =
            (struct placed){other, is_outward ? distance : -distance,
                            turn_of(mesh->cells[worker], mesh->cells[other])};
    }
    return count;
}

/* Victims at the same distance from the source are tied: the order of the print
 * is free there.  Neighbors begin with different ones. */
void eki_dvs_list(const struct eki_mesh *mesh, int worker,
                  struct eki_dvs_list *list)
{
    struct placed listed[EKI_DVS_VICTIMS_MOST];
    list->count =
        find_victims(mesh, worker, eki_dvs_class_of(mesh, worker), listed);
    qsort(listed, (size_t)list->count, sizeof *listed, by_place);
    for (int first = 0, last; first < list->count; first = last) {
        for (last = first; last < list->count &&
                           listed[last].distance == listed[first].distance;
             last++)
            ;
        int tied = last - first;
        for (int i = 0; i < tied; i++)
            list->workers[first + i] =
                listed[first + (i + worker) % tied].number;
    }
}

struct eki_victim eki_victims_dvs(struct eki_thief *thief)
{
    const struct eki_dvs_list *list = thief->list;
    if (!list || list->count == 0)
        return EKI_VICTIM_NONE;
    uint32_t round = (uint32_t)list->count + thief->escapes;
    uint32_t at = thief->failures % round;
    return at < (uint32_t)list->count
               ? (struct eki_victim){list->workers[at], -1, -1}
               : eki_victims_node(thief);
}
