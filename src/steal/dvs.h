/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dvs: deterministic victim selection.  The workers of a node are cells of a
 * mesh around a source, whose tasks flow outward; each worker has a short list
 * of victims near it, which it tries in order.
 *
 * Pure functions.  Paper: Varisteas, Brorsson, deterministic victim selection
 * (DVS), 2013.
 */
#ifndef EKI_STEAL_DVS_H
#define EKI_STEAL_DVS_H

#include "base/options.h"
#include "steal/steal.h"

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
    EKI_DVS_VICTIMS_MOST = 24, /* in three dimensions; 12 in two */
    /* Workers of a node: the paper has up to 35, and its smaller machine 32. */
    EKI_DVS_SUITED = 32
};

/* Victims of a worker, the first to be tried first. */
struct eki_dvs_list {
    int count;
    int workers[EKI_DVS_VICTIMS_MOST];
};

/* How many workers the layout has room for; INT_MAX: any number. */
int eki_mesh_room(const struct eki_dvs_option *option);
/* Lay out COUNT workers around worker SOURCE; -1: the one in the middle. False:
 * no memory, or no room. */
bool eki_mesh_lay(struct eki_mesh *mesh, const struct eki_dvs_option *option,
                  int count, int source);
void eki_mesh_free(struct eki_mesh *mesh);
/* Distance of two workers: steps along the mesh. */
int eki_mesh_distance(const struct eki_mesh *mesh, int a, int b);

/* O(count). */
enum eki_dvs_class eki_dvs_class_of(const struct eki_mesh *mesh, int worker);
/* O(count) for each victim. */
void eki_dvs_list(const struct eki_mesh *mesh, int worker,
                  struct eki_dvs_list *list);
/* The list of the thief, one attempt for each victim, again and again; a search
 * begins at its begin.  A thief that escapes tries a random worker of the node
 * behind the list. */
struct eki_victim eki_victims_dvs(struct eki_thief *thief);

#endif
