/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees have the sizes of the literature, and their root the state that SHA-1
 * gives it. */
#include "../unit/check.h"
#include "workloads/uts.h"

/* Nodes, leaves and depth of what takes a fraction of a second each. */
static void named_trees_have_their_sizes(void)
{
    static const struct {
        const char *name;
        int64_t nodes, leaves;
        int32_t depth;
    } known[] = {{"T1", 4130071, 3305118, 10},
                 {"T2", 4117769, 2342762, 81},
                 {"T3", 4112897, 3599034, 1572},
                 {"T4", 4132453, 3108986, 134},
                 {"T5", 4147582, 2181318, 20}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct uts_tree tree;
        struct uts_node root;
        struct uts_counts counts = {0};
        int64_t nodes = 0;
        if (!CHECK(uts_find(known[i].name, &tree, &nodes)))
            continue;
        uts_root(&tree, &root);
        CHECK(uts_visit(&tree, &root, &counts));
        CHECK_EQ_INT(nodes, known[i].nodes);
        CHECK_EQ_INT(counts.nodes, known[i].nodes);
        CHECK_EQ_INT(counts.leaves, known[i].leaves);
        CHECK_EQ_INT(counts.depth, known[i].depth);
    }
}

/* T3WL has 758,577 levels, which no stack of a thread has room for. */
static void depth_needs_no_stack(void)
{
    struct uts_tree tree;
    struct uts_node root;
    struct uts_counts counts = {0};
    uts_default(&tree);
    tree.type = UTS_BALANCED;
    tree.root_children = 1;
    tree.depth_most = 1000000;
    uts_prepare(&tree);
    uts_root(&tree, &root);
    CHECK(uts_visit(&tree, &root, &counts));
    CHECK_EQ_INT(counts.nodes, 1000001);
    CHECK_EQ_INT(counts.leaves, 1);
    CHECK_EQ_INT(counts.depth, 1000000);
}

/* sha1sum of 16 bytes 0 and the seed; and of that state and the number. */
static void states_are_those_of_sha1(void)
{
    struct uts_tree tree;
    struct uts_node root, child;
    struct uts_parent parent;
    uts_default(&tree);
    tree.seed = 42;
    uts_prepare(&tree);
    uts_root(&tree, &root);
    uts_open(&root, &parent);
    uts_child(&tree, &parent, 3, &child);
    static const uint32_t roots[5] = {0xa11dabbc, 0xec7aab30, 0x9c890ab3,
                                      0xdbc256ea, 0xeb582782};
    static const uint32_t childs[5] = {0xab1f4a5e, 0x65ac6646, 0x4d79aec7,
                                       0x09ef0012, 0xb5338d97};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ_INT(root.state[i], roots[i]);
        CHECK_EQ_INT(child.state[i], childs[i]);
    }
    CHECK_EQ_INT(root.height, 0);
    CHECK_EQ_INT(child.height, 1);
}

/* A child is the same however often it is computed. */
static void granularity_changes_no_state(void)
{
    struct uts_tree tree;
    struct uts_node root, once, often;
    struct uts_parent parent;
    uts_default(&tree);
    uts_prepare(&tree);
    uts_root(&tree, &root);
    uts_open(&root, &parent);
    uts_child(&tree, &parent, 0, &once);
    tree.granularity = 5;
    uts_child(&tree, &parent, 0, &often);
    CHECK(memcmp(&once, &often, sizeof once) == 0);
}

/* Below the levels whose logarithms are at hand it is the same. */
static void deep_levels_are_as_others(void)
{
    struct uts_tree tree;
    uts_default(&tree);
    tree.shape = UTS_FIXED;
    tree.depth_most = 2 * UTS_LEVELS;
    uts_prepare(&tree);
    struct uts_node low = {{0, 0, 0, 0, 0x40000000}, UTS_LEVELS - 1};
    struct uts_node deep = {{0, 0, 0, 0, 0x40000000}, UTS_LEVELS};
    CHECK(uts_children(&tree, &low) > 0);
    CHECK_EQ_INT(uts_children(&tree, &low), uts_children(&tree, &deep));
    deep.height = tree.depth_most;
    CHECK_EQ_INT(uts_children(&tree, &deep), 0);
}

/* Around the least bits with which a node has a child, at each level. */
static void the_least_bits_are_exact(void)
{
    struct uts_tree tree;
    uts_default(&tree);
    tree.shape = UTS_CYCLIC;
    tree.depth_most = 16;
    uts_prepare(&tree);
    for (int32_t height = 0; height < UTS_LEVELS; height++) {
        for (int64_t d = -2; d <= 2; d++) {
            int64_t bits = (int64_t)tree.least[height] + d;
            if (bits < 0 || bits >= 1ll << 31)
                continue;
            struct uts_node node = {{0, 0, 0, 0, (uint32_t)bits}, height};
            double drawn =
                uts_draw((uint32_t)bits, uts_log_rest(&tree, height));
            CHECK_EQ_INT(uts_children(&tree, &node) > 0, floor(drawn) >= 1);
        }
    }
}

static void names_are_found(void)
{
    struct uts_tree tree;
    int count = 0;
    for (; uts_name(count); count++)
        CHECK(uts_find(uts_name(count), &tree, NULL));
    CHECK_EQ_INT(count, 11);
    CHECK(!uts_find("T9", &tree, NULL));
}

int main(void)
{
    RUN(states_are_those_of_sha1);
    RUN(named_trees_have_their_sizes);
    RUN(depth_needs_no_stack);
    RUN(granularity_changes_no_state);
    RUN(deep_levels_are_as_others);
    RUN(the_least_bits_are_exact);
    RUN(names_are_found);
    return check_result();
}
