/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees by name, the root, and the sequential visit. */
#include "workloads/uts.h"

#include <stdlib.h>

#define PI 3.141592653589793

/* Only what differs from the defaults. */
#define GEOMETRIC(b, d, r, a)                                              \
    .type = UTS_GEOMETRIC, .root_children = b, .depth_most = d, .seed = r, \
    .shape = a
#define BINOMIAL(b, q, m, r)                                                   \
    .type = UTS_BINOMIAL, .root_children = b, .probability = q, .children = m, \
    .seed = r

static const struct uts_named named[] = {
    {"T1", {GEOMETRIC(4, 10, 19, UTS_FIXED)}, 4130071},
    {"T2", {GEOMETRIC(6, 16, 502, UTS_CYCLIC)}, 4117769},
    {"T3", {BINOMIAL(2000, 0.124875, 8, 42)}, 4112897},
    {"T4",
     {.type = UTS_HYBRID,
      .root_children = 6,
      .depth_most = 16,
      .seed = 1,
      .probability = 0.234375,
      .children = 4},
     4132453},
    {"T5", {GEOMETRIC(4, 20, 34, UTS_LINEAR)}, 4147582},
    {"T1L", {GEOMETRIC(4, 13, 29, UTS_FIXED)}, 102181082},
    {"T2L", {GEOMETRIC(7, 23, 220, UTS_CYCLIC)}, 96793510},
    {"T3L", {BINOMIAL(2000, 0.200014, 5, 7)}, 111345631},
    {"T1XL", {GEOMETRIC(4, 15, 29, UTS_FIXED)}, 1635119272},
    {"T1WL", {GEOMETRIC(4, 18, 19, UTS_FIXED)}, 270751679750},
    {"T3WL", {BINOMIAL(2000, 0.4999995, 2, 559)}, 157063495159}};

void uts_default(struct uts_tree *tree)
{
    *tree = (struct uts_tree){.type = UTS_GEOMETRIC,
                              .shape = UTS_LINEAR,
                              .root_children = 4,
                              .depth_most = 6,
                              .probability = 15.0 / 64,
                              .children = 4,
                              .shift = 0.5,
                              .granularity = 1};
}

bool uts_find(const char *name, struct uts_tree *tree, int64_t *nodes)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(named[i].name, name) != 0)
            continue;
        *tree = named[i].tree;
        tree->shift = 0.5;
        tree->granularity = 1;
        uts_prepare(tree);
        if (nodes)
            *nodes = named[i].nodes;
        return true;
    }
    return false;
}

const char *uts_name(int i)
{
    return i < (int)(sizeof named / sizeof *named) ? named[i].name : NULL;
}

/* Children that a geometric node is expected to have. */
static double expected(const struct uts_tree *tree, int32_t height)
{
    double b = tree->root_children, depth = height, most = tree->depth_most;
    if (height == 0)
        return b;
    switch (tree->shape) {
    case UTS_EXPDEC:
        return b * pow(depth, -log(b) / log(most));
    case UTS_CYCLIC:
        return height > 5 * tree->depth_most
                   ? 0
                   : pow(b, sin(2.0 * PI * depth / most));
    case UTS_FIXED:
        return height < tree->depth_most ? b : 0;
    case UTS_LINEAR:
        break;
    }
    return b * (1.0 - depth / most);
}

double uts_log_rest(const struct uts_tree *tree, int32_t height)
{
    double p = 1.0 / (1.0 + expected(tree, height));
    return log(1 - p);
}

/* Any two numbers of 31 bits are so far apart that rounding cannot make the
 * larger one draw fewer children: there is one least. */
static uint32_t least_bits(double log_rest)
{
    uint32_t low = 0, high = 1u << 31; /* 2^31: no node has children */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (uts_draw(middle, log_rest) >= 1)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void uts_prepare(struct uts_tree *tree)
{
    for (int32_t height = 0; height < UTS_LEVELS; height++) {
        tree->log_rest[height] = uts_log_rest(tree, height);
        tree->least[height] = least_bits(tree->log_rest[height]);
    }
}

bool uts_has_end(const struct uts_tree *tree)
{
    bool is_binomial = tree->type == UTS_BINOMIAL || tree->type == UTS_HYBRID;
    return !is_binomial ||
           tree->probability * tree->children <= UTS_EXPECTED_MOST;
}

bool uts_has_decrease(const struct uts_tree *tree)
{
    bool is_asked = tree->type != UTS_BINOMIAL && tree->shape == UTS_EXPDEC;
    return !is_asked || (tree->root_children > 1 && tree->depth_most >= 2);
}

void uts_root(const struct uts_tree *tree, struct uts_node *root)
{
    unsigned char block[SHA1_BLOCK_SIZE] = {0};
    uts_put_word(block + 16, (uint32_t)tree->seed);
    uts_pad(block, 20);
    uts_hash(block, root);
    root->height = 0;
}

/* A node some of whose children are to be visited yet. */
struct level {
    struct uts_parent parent;
    int32_t next, children;
};

/* From the root of a visit downwards; a few of them lie on its stack. */
struct path {
    struct level *levels, *few;
    int32_t count, room;
};

static bool has_grown(struct path *path)
{
    int32_t room = 2 * path->room;
    bool is_first = path->levels == path->few;
    struct level *levels =
        realloc(is_first ? NULL : path->levels, (size_t)room * sizeof *levels);
    if (!levels)
        return false;
    if (is_first)
        memcpy(levels, path->few, (size_t)path->room * sizeof *levels);
    path->levels = levels;
    path->room = room;
    return true;
}

static bool push(struct path *path, const struct uts_node *node,
                 int32_t children)
{
    if (path->count == path->room && !has_grown(path))
        return false;
    struct level *level = &path->levels[path->count++];
    uts_open(node, &level->parent);
    level->next = 0;
    level->children = children;
    return true;
}

/* Count NODE; returns how many children it has. */
static int32_t enter(const struct uts_tree *tree, const struct uts_node *node,
                     struct uts_counts *counts)
{
    int32_t children = uts_children(tree, node);
    counts->nodes++;
    counts->leaves += children == 0;
    if (node->height > counts->depth)
        counts->depth = node->height;
    return children;
}

/* Visit all below the lowest level of PATH that is not visited yet. */
static bool descend(const struct uts_tree *tree, struct path *path,
                    struct uts_counts *counts)
{
    struct uts_node node;
    while (path->count > 0) {
        struct level *level = &path->levels[path->count - 1];
        int32_t children = 0;
        while (children == 0 && level->next < level->children) {
            uts_child(tree, &level->parent, level->next++, &node);
            children = enter(tree, &node, counts);
        }
        if (children == 0)
            path->count--;
        else if (!push(path, &node, children))
            return false;
    }
    return true;
}

/* No recursion: T3WL has 758,577 levels. */
bool uts_visit(const struct uts_tree *tree, const struct uts_node *node,
               struct uts_counts *counts)
{
    struct level few[64];
    struct path path = {few, few, 0, sizeof few / sizeof *few};
    int32_t children = enter(tree, node, counts);
    bool is_good = children == 0 || (push(&path, node, children) &&
                                     descend(tree, &path, counts));
    if (path.levels != few)
        free(path.levels);
    return is_good;
}
