/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * steal: the topology of unequal ranks on scattered nodes, and whom each victim
 * policy chooses.
 */
#include "steal/steal.h"

#include "check.h"

/* Six ranks, three nodes that are not contiguous, unequal workers. */
enum {
    SIZE = 6,
    NODES = 3,
    WORKERS = 12
};
static const int workers[SIZE] = {1, 3, 2, 1, 4, 1};
static const int nodes[SIZE] = {0, 1, 0, 2, 1, 0};

static struct eki_topology *make(int rank)
{
    struct eki_topology *topology = NULL;
    CHECK_OK(eki_topology_create(rank, SIZE, workers, nodes, &topology));
    return topology;
}

static void topology_counts_ranks_and_workers(void)
{
    struct eki_topology *topology = make(4);
    CHECK_EQ_INT(topology->rank, 4);
    CHECK_EQ_INT(topology->size, SIZE);
    CHECK_EQ_INT(topology->nodes, NODES);
    CHECK_EQ_INT(topology->node, 1);
    CHECK_EQ_INT(topology->workers, WORKERS);
    CHECK_EQ_INT(topology->workers_here, 4);
    CHECK_EQ_INT(topology->node_ranks, 2);
    CHECK_EQ_INT(topology->node_workers, 7);
    CHECK_EQ_INT(topology->node_index, 1);
    CHECK_EQ_INT(topology->node_first, 3);
    CHECK_EQ_INT(topology->first_worker[SIZE], WORKERS);
    eki_topology_destroy(topology);
}

/* Local numbers run over the ranks of the node in their order. */
static void local_numbers_run_over_the_node(void)
{
    static const int lowest[NODES] = {0, 1, 3}, highest[NODES] = {5, 4, 3};
    int next[NODES] = {0};
    for (int rank = 0; rank < SIZE; rank++) {
        struct eki_topology *topology = make(rank);
        int node = nodes[rank];
        for (int n = 0; n < NODES; n++) {
            CHECK_EQ_INT(topology->lowest_rank[n], lowest[n]);
            CHECK_EQ_INT(topology->highest_rank[n], highest[n]);
        }
        CHECK_EQ_INT(topology->node_first, next[node]);
        next[node] += topology->workers_here;
        if (rank == highest[node])
            CHECK_EQ_INT(topology->node_workers, next[node]);
        eki_topology_destroy(topology);
    }
}

/* What one rank sees, seen through another's topology. */
static void views_are_those_of_the_ranks(void)
{
    struct eki_topology *first = make(0), view;
    for (int rank = 0; rank < SIZE; rank++) {
        struct eki_topology *topology = make(rank);
        eki_topology_view(first, rank, &view);
        CHECK_EQ_INT(view.rank, rank);
        CHECK_EQ_INT(view.node, topology->node);
        CHECK_EQ_INT(view.node_workers, topology->node_workers);
        CHECK_EQ_INT(view.node_ranks, topology->node_ranks);
        CHECK_EQ_INT(view.node_index, topology->node_index);
        CHECK_EQ_INT(view.node_first, topology->node_first);
        CHECK_EQ_INT(view.workers_here, topology->workers_here);
        CHECK(view.first_worker == first->first_worker);
        eki_topology_destroy(topology);
    }
    eki_topology_destroy(first);
}

/* Change one number of a good topology; the check must name what is broken. */
static void check_finds(struct eki_topology *topology, int *number, int broken,
                        const char *problem)
{
    int good = *number;
    CHECK(eki_topology_check(topology) == NULL);
    *number = broken;
    CHECK_EQ_TEXT(eki_topology_check(topology), problem);
    *number = good;
}

static void broken_topologies_are_found(void)
{
    struct eki_topology *topology = make(4);
    check_finds(topology, &topology->workers, WORKERS + 1,
                "the workers of the ranks are not those of the job");
    check_finds(topology, &topology->first_worker[2], 0,
                "a rank has less than no workers");
    check_finds(topology, &topology->node_of_rank[3], NODES,
                "a rank is on no node");
    check_finds(topology, &topology->highest_rank[0], 2,
                "a rank is outside of the ranks of its node");
    check_finds(topology, &topology->lowest_rank[2], 0,
                "the first or last rank of a node is elsewhere");
    check_finds(topology, &topology->rank, SIZE,
                "the rank of the view is not on its node");
    check_finds(topology, &topology->node, 0,
                "the rank of the view is not on its node");
    check_finds(topology, &topology->workers_here, 3,
                "the workers here are not those of the rank");
    check_finds(topology, &topology->node_ranks, 3,
                "the ranks or workers of the node are miscounted");
    check_finds(topology, &topology->node_workers, 8,
                "the ranks or workers of the node are miscounted");
    check_finds(topology, &topology->node_index, 0,
                "the place of the rank on its node is wrong");
    check_finds(topology, &topology->node_first, 4,
                "the place of the rank on its node is wrong");
    CHECK(eki_topology_check(topology) == NULL);
    eki_topology_destroy(topology);
}

static void each_worker_has_its_rank(void)
{
    struct eki_topology *topology = make(0);
    for (int rank = 0; rank < SIZE; rank++) {
        for (int w = topology->first_worker[rank];
             w < topology->first_worker[rank + 1]; w++)
            CHECK_EQ_INT(eki_topology_rank(topology, w), rank);
    }
    eki_topology_destroy(topology);
}

static void failing_allocations_leave_no_topology(void)
{
    struct eki_topology *topology = NULL;
    eki_memory_fail(1);
    CHECK_EQ_INT(eki_topology_create(1, SIZE, workers, nodes, &topology),
                 EK_ERR_NOMEM);
    CHECK(topology == NULL);
    eki_topology_destroy(NULL);
}

/* How often each was chosen. */
struct chosen {
    int none, local[WORKERS], node[NODES];
};

static void choose(eki_victims_fn *policy, struct eki_thief *thief, int draws,
                   struct chosen *chosen)
{
    *chosen = (struct chosen){0};
    for (int i = 0; i < draws; i++) {
        struct eki_victim victim = policy(thief);
        CHECK(victim.local < 0 || victim.node < 0);
        CHECK(victim.local < thief->topology->node_workers);
        CHECK(victim.node < thief->topology->nodes);
        chosen->none += victim.local < 0 && victim.node < 0;
        if (victim.local >= 0)
            chosen->local[victim.local]++;
        if (victim.node >= 0)
            chosen->node[victim.node]++;
        thief->failures++;
    }
}

static struct eki_thief thief_of(const struct eki_topology *topology, int here)
{
    struct eki_thief thief = {.topology = topology,
                              .local = topology->node_first + here};
    eki_random_seed(&thief.random, 42, (uint64_t)topology->rank);
    return thief;
}

/* Every other worker of the node and every other node; never itself. */
static void check_reach(eki_victims_fn *policy, int rank, int here)
{
    struct eki_topology *topology = make(rank);
    struct eki_thief thief = thief_of(topology, here);
    struct chosen chosen;
    choose(policy, &thief, 5000, &chosen);
    CHECK_EQ_INT(chosen.none, 0);
    for (int i = 0; i < topology->node_workers; i++)
        CHECK((chosen.local[i] > 0) == (i != thief.local));
    for (int n = 0; n < NODES; n++)
        CHECK((chosen.node[n] > 0) == (n != topology->node));
    eki_topology_destroy(topology);
}

static void victims_are_all_others_and_never_oneself(void)
{
    for (int rank = 0; rank < SIZE; rank++) {
        for (int here = 0; here < workers[rank]; here++) {
            check_reach(eki_victims_random, rank, here);
            check_reach(eki_victims_near, rank, here);
            check_reach(eki_victims_worker, rank, here);
        }
    }
}

/* A worker elsewhere stands for its node. */
static void random_is_uniform_over_workers(void)
{
    enum {
        DRAWS = 110000
    };
    struct eki_topology *topology = make(4);
    struct eki_thief thief = thief_of(topology, 2);
    struct chosen chosen;
    choose(eki_victims_random, &thief, DRAWS, &chosen);
    for (int i = 0; i < topology->node_workers; i++) {
        if (i != thief.local)
            CHECK_NEAR(chosen.local[i], DRAWS / 11.0, 600);
    }
    CHECK_NEAR(chosen.node[0], DRAWS * 4 / 11.0, 1000);
    CHECK_NEAR(chosen.node[2], DRAWS * 1 / 11.0, 600);
    eki_topology_destroy(topology);
}

/* Near or far, each by itself. */
static void worker_is_uniform_over_workers(void)
{
    enum {
        DRAWS = 110000
    };
    struct eki_topology *topology = make(4);
    struct eki_thief thief = thief_of(topology, 2);
    int chosen[WORKERS] = {0};
    for (int i = 0; i < DRAWS; i++) {
        struct eki_victim victim = eki_victims_worker(&thief);
        int rank = eki_topology_rank(topology, victim.worker);
        if (victim.local < 0)
            CHECK_EQ_INT(victim.node, topology->node_of_rank[rank]);
        else
            CHECK(victim.node < 0 && victim.worker < 0);
        /* Of the own node, three workers of rank 1 and four of rank 4. */
        int near = victim.local < 3 ? 1 + victim.local : 4 + victim.local;
        chosen[victim.local < 0 ? victim.worker : near]++;
    }
    for (int w = 0; w < topology->workers; w++)
        CHECK_NEAR(chosen[w], w == 9 ? 0 : DRAWS / 11.0, w == 9 ? 0 : 500);
    eki_topology_destroy(topology);
}

/* Another node only after as many failures as the node has workers. */
static void near_leaves_the_node_once_per_round(void)
{
    struct eki_topology *topology = make(1);
    struct eki_thief thief = thief_of(topology, 0);
    for (int i = 0; i < 700; i++) {
        struct eki_victim victim = eki_victims_near(&thief);
        CHECK((victim.node >= 0) == (i % 7 == 6));
        thief.failures++;
    }
    eki_topology_destroy(topology);
}

static void near_of_a_lone_worker_asks_nodes(void)
{
    struct eki_topology *topology = make(3);
    struct eki_thief thief = thief_of(topology, 0);
    struct chosen chosen;
    choose(eki_victims_near, &thief, 1000, &chosen);
    CHECK_EQ_INT(chosen.node[0] + chosen.node[1], 1000);
    CHECK_EQ_INT(eki_victim_in_node(&thief), -1);
    eki_topology_destroy(topology);
}

/* Every other worker of the node, and none elsewhere. */
static void node_never_leaves_the_node(void)
{
    for (int rank = 0; rank < SIZE; rank++) {
        struct eki_topology *topology = make(rank);
        struct eki_thief thief = thief_of(topology, 0);
        struct chosen chosen;
        thief.failures = 1000;
        choose(eki_victims_node, &thief, 1000, &chosen);
        CHECK_EQ_INT(chosen.none, topology->node_workers == 1 ? 1000 : 0);
        for (int i = 0; i < topology->node_workers; i++)
            CHECK((chosen.local[i] > 0) == (i != thief.local));
        for (int n = 0; n < NODES; n++)
            CHECK_EQ_INT(chosen.node[n], 0);
        eki_topology_destroy(topology);
    }
}

static void one_node_is_never_left(void)
{
    static const int two[2] = {1, 2}, node[2] = {0, 0};
    eki_victims_fn *policies[] = {eki_victims_random, eki_victims_near,
                                  eki_victims_worker};
    struct eki_topology *topology = NULL;
    eki_topology_create(1, 2, two, node, &topology);
    for (int p = 0; p < 3; p++) {
        struct eki_thief thief = thief_of(topology, 1);
        struct chosen chosen;
        choose(policies[p], &thief, 1000, &chosen);
        CHECK(chosen.local[0] > 0 && chosen.local[1] > 0);
        CHECK_EQ_INT(chosen.local[0] + chosen.local[1], 1000);
        CHECK_EQ_INT(eki_victim_node(&thief), -1);
    }
    eki_topology_destroy(topology);
}

static void a_single_worker_has_no_victim(void)
{
    static const int one[1] = {1}, node[1] = {0};
    eki_victims_fn *policies[] = {eki_victims_random, eki_victims_near,
                                  eki_victims_worker};
    struct eki_topology *topology = NULL;
    eki_topology_create(0, 1, one, node, &topology);
    for (int p = 0; p < 3; p++) {
        struct eki_thief thief = thief_of(topology, 0);
        struct chosen chosen;
        choose(policies[p], &thief, 100, &chosen);
        CHECK_EQ_INT(chosen.none, 100);
    }
    eki_topology_destroy(topology);
}

static void the_same_seed_chooses_the_same(void)
{
    struct eki_topology *topology = make(2);
    struct eki_thief one = thief_of(topology, 0), two = thief_of(topology, 0);
    for (int i = 0; i < 200; i++) {
        struct eki_victim a = eki_victims_random(&one);
        struct eki_victim b = eki_victims_random(&two);
        CHECK(a.local == b.local && a.node == b.node);
    }
    eki_topology_destroy(topology);
}

int main(void)
{
    RUN(topology_counts_ranks_and_workers);
    RUN(local_numbers_run_over_the_node);
    RUN(views_are_those_of_the_ranks);
    RUN(broken_topologies_are_found);
    RUN(each_worker_has_its_rank);
    RUN(failing_allocations_leave_no_topology);
    RUN(victims_are_all_others_and_never_oneself);
    RUN(random_is_uniform_over_workers);
    RUN(worker_is_uniform_over_workers);
    RUN(near_leaves_the_node_once_per_round);
    RUN(near_of_a_lone_worker_asks_nodes);
    RUN(node_never_leaves_the_node);
    RUN(one_node_is_never_left);
    RUN(a_single_worker_has_no_victim);
    RUN(the_same_seed_chooses_the_same);
    return check_result();
}
