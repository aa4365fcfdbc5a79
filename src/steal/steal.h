/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * steal: who is where, whom a worker without work asks, and how much a worker
 * with tasks shows.
 *
 * Policies are pure functions of the thief, the topology, what it has met and
 * its random state; publishing rules are pure functions of numbers of tasks.
 */
#ifndef EKI_STEAL_H
#define EKI_STEAL_H

#include "base/base.h"

/*
 * Ranks, nodes and workers of a job.  Workers are numbered by rank; within a
 * node, *local* numbers run over its ranks in their order.  Memory of order
 * ranks; read-only once made.
 */
struct eki_topology {
    int rank, size;
    int node, nodes;
    int workers;      /* of the job */
    int node_workers; /* of this node */
    int node_ranks;   /* of this node */
    int node_index;   /* of this rank among the ranks of its node */
    int node_first;   /* local number of this rank's first worker */
    int workers_here;
    int *node_of_rank; /* [size] */
    int *first_worker; /* [size + 1] */
    int *lowest_rank;  /* [nodes] ... */
    int *highest_rank; /* ... of those on the node */
};

/* WORKERS [size] per rank, NODES [size]: see eki_fabric_mpi_nodes(). */
ek_status eki_topology_create(int rank, int size, const int *workers,
                              const int *nodes, struct eki_topology **topology);
void eki_topology_destroy(struct eki_topology *topology);
/* The same job as RANK sees it.  The arrays are those of TOPOLOGY, which must
 * outlive the view; O(highest - lowest rank of the node). */
void eki_topology_view(const struct eki_topology *topology, int rank,
                       struct eki_topology *view);
/* Broken invariant as text, or NULL; O(ranks + nodes). */
const char *eki_topology_check(const struct eki_topology *topology);
/* Rank of a worker of the job. */
int eki_topology_rank(const struct eki_topology *topology, int worker);

struct eki_dvs_list;

/* A thief and what it has met. */
struct eki_thief {
    const struct eki_topology *topology;
    int local;         /* number within the node */
    uint32_t failures; /* since the last success */
    struct eki_random random;
    void *context; /* of a policy that whoever steps the engine brings */
    const struct eki_dvs_list *list; /* of dvs: whom to try; NULL: nobody */
    bool escapes;                    /* ... and then a random worker */
    /* Of leapfrog, on who last stole from this worker: its local number + 1; 0:
     * nobody has. */
    const _Atomic int *robber;
};

/* Whom to ask: a worker of the own node (local number), or another node.  Of
 * whole words, which the model checker sees copied. */
struct eki_victim {
    _Alignas(8) int local; /* -1: none */
    int node;              /* -1: none */
    int worker; /* of that node, by its number in the job; -1: any of them */
};

#define EKI_VICTIM_NONE \
    (struct eki_victim) \
    {                   \
        -1, -1, -1      \
    }

/* A victim policy. */
typedef struct eki_victim eki_victims_fn(struct eki_thief *thief);

struct eki_victim eki_victims_random(struct eki_thief *thief);
struct eki_victim eki_victims_near(struct eki_thief *thief);
struct eki_victim eki_victims_node(struct eki_thief *thief);
/* Who last stole from the thief, for one attempt of each search; then random
 * workers of the own node, and nobody else. */
struct eki_victim eki_victims_leapfrog(struct eki_thief *thief);
/* Uniform over all other workers, each of whom is asked for itself. */
struct eki_victim eki_victims_worker(struct eki_thief *thief);

/* A publishing rule: how a worker splits its tasks between the local part of
 * its deque and the part that it shows. */
struct eki_publishing {
    /* How many of LOCAL tasks it shows when it shows none. */
    int64_t (*release)(int64_t local);
    /* How many of the SHOWN tasks it takes back when it has no other. */
    int64_t (*acquire)(int64_t shown);
};

/* Half, rounded down: nothing of one task; or one of one. */
extern const struct eki_publishing eki_publishing_half;
extern const struct eki_publishing eki_publishing_half_or_one;

/* A worker of the job as a victim. */
struct eki_victim eki_victim_of(const struct eki_topology *topology,
                                int worker);
/* A random worker of the own node other than the thief; none: -1. */
int eki_victim_in_node(struct eki_thief *thief);
/* The node of a random worker elsewhere; none: -1. */
int eki_victim_node(struct eki_thief *thief);

#endif
