/* SPDX-License-Identifier: BSD-3-Clause */
/* Fib, skew and stress are as large as their recurrences say. */
#include "../unit/check.h"
#include "workloads/forks.h"

static struct forks tree_of(const char *name, const char *text)
{
    struct forks tree;
    CHECK(forks_read(name, text, &tree));
    return tree;
}

static int64_t nodes_of(const struct forks *tree)
{
    const struct forks_node root = forks_root(tree);
    return forks_nodes(tree, &root);
}

static int64_t found_of(const struct forks *tree)
{
    const struct forks_node root = forks_root(tree);
    return forks_found(tree, &root);
}

/* The value, from 2 fib(N + 1) - 1 calls. */
static void fib_is_fib(void)
{
    int64_t last = 1, value = 0;
    char text[16];
    for (int n = 0; n <= 60; n++) {
        snprintf(text, sizeof text, "%d", n);
        struct forks tree = tree_of("fib", text);
        int64_t next = last + value;
        CHECK_EQ_INT(found_of(&tree), value);
        CHECK_EQ_INT(nodes_of(&tree), 2 * next - 1);
        last = value;
        value = next;
    }
    struct forks printed = tree_of("fib", "42");
    CHECK_EQ_INT(found_of(&printed), 267914296);
}

/* Leaves of the inputs that are printed. */
static void inputs_of_the_paper_have_their_leaves(void)
{
    struct forks stress = tree_of("stress", "10000,20,1");
    struct forks large = tree_of("stress", "10000,44,3");
    struct forks skew = tree_of("skew", "10000,20,1,1");
    CHECK_EQ_INT(found_of(&stress), INT64_C(1) << 20);
    CHECK_EQ_INT(found_of(&large), INT64_C(1) << 15);
    CHECK_EQ_INT(found_of(&skew), INT64_C(1) << 20);
    CHECK_EQ_INT(nodes_of(&skew), (INT64_C(2) << 20) - 1);
    /* L(d) = L(d - 3) + L(d - 1), and 1 up to 0: Narayana's cows. */
    int64_t leaves[45] = {1};
    for (int d = 1; d <= 44; d++)
        leaves[d] = leaves[d - 1] + (d > 3 ? leaves[d - 3] : 1);
    struct forks cows = tree_of("skew", "10000,44,3,1");
    CHECK_EQ_INT(found_of(&cows), leaves[44]);
    CHECK_EQ_INT(nodes_of(&cows), 2 * leaves[44] - 1);
}

static void visits_meet_all_nodes(void)
{
    static const char *const trees[][2] = {
        {"fib", "0"},         {"fib", "1"},         {"fib", "20"},
        {"skew", "5,12,3,1"}, {"skew", "0,9,1,60"}, {"stress", "3,10,1"},
        {"stress", "1,7,2"},  {"stress", "9,0,1"}};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct forks tree = tree_of(trees[i][0], trees[i][1]);
        const struct forks_node root = forks_root(&tree);
        struct forks_counts counts = {0};
        forks_visit(&tree, &root, &counts);
        CHECK_EQ_INT(counts.nodes, nodes_of(&tree));
        CHECK_EQ_INT(counts.found, found_of(&tree));
    }
}

static void bad_texts_are_refused(void)
{
    static const char *const bad[][2] = {{"fib", ""},
                                         {"fib", "61"},
                                         {"fib", "-1"},
                                         {"fib", "5,"},
                                         {"fib", "5,cutoff"},
                                         {"fib", "5,cutoff=61"},
                                         {"skew", "1,2,3"},
                                         {"skew", "1,9,0,1"},
                                         {"skew", "1,2,3,4,5"},
                                         {"stress", "1,9,0"},
                                         {"stress", "1,61,1"},
                                         {"stress", "1e3,4,1"},
                                         {"stress", "1000000000,60,1,cutoff=3"},
                                         {"sort", "5"}};
    struct forks tree;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!forks_read(bad[i][0], bad[i][1], &tree));
}

int main(void)
{
    RUN(fib_is_fib);
    RUN(inputs_of_the_paper_have_their_leaves);
    RUN(visits_meet_all_nodes);
    RUN(bad_texts_are_refused);
    return check_result();
}
