/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vertices: Algorithm 2 is a tree of vertices over the workers (tree.h), which
 * are on ranks all over the job.  Between TARGET and RESULT, which every rank
 * then sends, it has instead of the parcels of src/rebalance:
 *
 *     worker, vertex to the one above   UP     its load, what is left to give
 *     vertex to those below it          DOWN   what each of them gets
 *     worker to donors                  FETCH  the tasks that it gets
 *
 * A vertex awaits an UP of each child, has then given what it may and told the
 * vertex above, awaits the DOWN of that one, and is settled.
 */
#ifndef EKI_PRINTED_VERTICES_H
#define EKI_PRINTED_VERTICES_H

#include "printed/tree.h"
#include "rebalance/balancer.h"

/* The head of an UP, whose group is the vertex that tells it: the load of all
 * workers below.  The items follow that go up.  A DOWN has those that come
 * down, and its group is the vertex that they come to. */
struct eki_up_told {
    eki_ns load;
};

/* An entry of a FETCH, whose group is the worker to which it goes. */
struct eki_fetch_told {
    int32_t from, index;
};

/* What this rank does in the tree. */
struct eki_vertices {
    struct eki_tree tree;
    struct eki_vertex *list; /* [count], by their number */
    int count, unsettled;
    bool *is_told; /* [workers_here], workers that know what they get */
    int untold;
    struct eki_result_told result; /* of this rank */
};

/* The inner vertices of this rank. */
bool eki_vertices_open(struct eki_balancer *balancer);
void eki_vertices_close(struct eki_balancer *balancer);
eki_parcel_fn eki_vertices_take_up, eki_vertices_take_down;
/* A parcel to the vertex above, of a load and room for BYTES of items. */
struct eki_parcel *eki_up_put(struct eki_balancer *balancer, int32_t vertex,
                              int64_t bytes);
/* Whether a DOWN has tasks of any workers, from the vertex above. */
bool eki_down_fits(const struct eki_balancer *balancer,
                   const struct eki_parcel *parcel, eki_ns sum);

/* The functions of a struct eki_algorithm. */
extern const struct eki_way eki_leaves_ways[EKI_PARCEL_OVER + 1];
int eki_leaves_groups(const struct eki_balancer *balancer, int what);
bool eki_leaves_begin(struct eki_balancer *balancer);
bool eki_leaves_are_done(const struct eki_balancer *balancer);

#endif
