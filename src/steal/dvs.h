/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dvs: deterministic victim selection.  The workers of a node are cells of a
 * mesh around a source, whose tasks flow outward; each worker has a short list
 * of victims near it, which it tries in order.
 *
 * Pure functions.  Paper: Varisteas, Brorsson, Deterministic work-stealing
 * victim selection (DVS), 2013.
 */
#ifndef EKI_STEAL_DVS_H
#define EKI_STEAL_DVS_H

#include "base/base.h"

enum eki_mesh_kind {
    EKI_MESH_LINE,
    EKI_MESH_GRID,    /* two dimensions, row by row; nearly square */
    EKI_MESH_CUBE,    /* three, plane by plane; nearly a cube */
    EKI_MESH_DIAMOND, /* two, ring by ring around the source */
    EKI_MESH_ALLOTTED /* the same on a given grid: the paper's allotments */
};

struct eki_mesh_shape {
    enum eki_mesh_kind kind;
    /* Of EKI_MESH_ALLOTTED: columns, rows, and the cell of the source. */
    int columns, rows, source_cell;
};

struct eki_cell {
    int x, y, z;
};

/* Cells of all workers. */
struct eki_mesh {
    int count, source;      /* workers, and which of them is the source */
    struct eki_cell *cells; /* [count]; owned */
    int radius;             /* largest distance from the source */
};

enum eki_dvs_class {
    EKI_DVS_SOURCE,
    EKI_DVS_X, /* on an axis of the source: takes work outward */
    EKI_DVS_Z, /* farthest from the source */
    EKI_DVS_F  /* the others: they take it back inward */
};

enum {
    EKI_DVS_VICTIMS_MOST = 24 /* in three dimensions; 12 in two */
};

/* Victims of a worker, the first to be tried first. */
struct eki_dvs_list {
    int count;
    int workers[EKI_DVS_VICTIMS_MOST];
};

/* How many workers a shape has room for; INT_MAX: any number. */
int eki_mesh_room(const struct eki_mesh_shape *shape);
/* Lay out COUNT workers, not more than there is room for, around worker SOURCE;
 * -1: the one in the middle.  False: no memory. */
bool eki_mesh_lay(struct eki_mesh *mesh, const struct eki_mesh_shape *shape,
                  int count, int source);
void eki_mesh_free(struct eki_mesh *mesh);
/* Distance of two workers: steps along the mesh. */
int eki_mesh_distance(const struct eki_mesh *mesh, int a, int b);

/* O(count). */
enum eki_dvs_class eki_dvs_class_of(const struct eki_mesh *mesh, int worker);
/* O(count) for each victim. */
void eki_dvs_list(const struct eki_mesh *mesh, int worker,
                  struct eki_dvs_list *list);

#endif
