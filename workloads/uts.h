/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UTS, the unbalanced tree search (Olivier and others, LCPC 2006): a tree whose
 * nodes have a state of 160 bits each, from which everything below follows.  A
 * child's state is the SHA-1 of its parent's and of its number, so that any
 * node can be visited anywhere, and its state says how many children it has.
 * Bit for bit the trees of the reference program with SHA-1.
 *
 * Threads: any; a tree is only read.
 */
#ifndef WORKLOADS_UTS_H
#define WORKLOADS_UTS_H

#include <math.h>
#include <nettle/sha1.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Numbers are those of the reference program's options -t and -a. */
enum uts_type {
    UTS_BINOMIAL,
    UTS_GEOMETRIC,
    UTS_HYBRID, /* geometric above, binomial below */
    UTS_BALANCED
};

enum uts_shape {
    UTS_LINEAR,
    UTS_EXPDEC, /* exponential decrease */
    UTS_CYCLIC,
    UTS_FIXED
};

enum {
    UTS_CHILDREN_MOST = 100, /* but of a binomial root */
    UTS_LEVELS = 256         /* whose logarithms are at hand */
};

struct uts_tree {
    enum uts_type type;   /* -t */
    enum uts_shape shape; /* -a: expected children of a geometric node */
    double root_children; /* -b: of the root, expected if it is geometric */
    int32_t depth_most;   /* -d: levels of a geometric tree, about */
    int32_t seed;         /* -r */
    double probability;   /* -q: of a binomial node to have children ... */
    int32_t children;     /* -m: and how many */
    double shift;         /* -f: share of depth_most that is geometric */
    int32_t granularity;  /* -g: how often a child's state is computed */
    /* By uts_prepare(), of the geometric distribution by level: log(1 - p), and
     * the least random bits with which a node has children. */
    double log_rest[UTS_LEVELS];
    uint32_t least[UTS_LEVELS];
};

/* The payload of a task. */
struct uts_node {
    uint32_t state[5];
    int32_t height; /* of the root: 0 */
};

/* The defaults of the reference program: a small geometric tree. */
void uts_default(struct uts_tree *tree);
/* To be called when all else is set. */
void uts_prepare(struct uts_tree *tree);

/* Of binomial trees with as many expected children per node few have an end.  A
 * bit above 1 is common: T3L has 1.00007. */
#define UTS_EXPECTED_MOST 1.001

/* Whether expected binomial children are few enough to end the tree, ... */
bool uts_has_end(const struct uts_tree *tree);
/* ... and exponential decrease, if that is asked for, decreases. */
bool uts_has_decrease(const struct uts_tree *tree);

/* A tree that the literature has a name for. */
struct uts_named {
    const char *name;
    struct uts_tree tree; /* prepared by uts_find() */
    int64_t nodes;
};
/* By its name, such as "T1"; false: there is none.  NODES may be NULL. */
bool uts_find(const char *name, struct uts_tree *tree, int64_t *nodes);
/* Name of number I, or NULL behind the last one. */
const char *uts_name(int i);

void uts_root(const struct uts_tree *tree, struct uts_node *root);

/* log(1 - p) at a level. */
double uts_log_rest(const struct uts_tree *tree, int32_t height);

/* 31 random bits of a node; and as a number below 1. */
static inline uint32_t uts_bits(const struct uts_node *node)
{
    return node->state[4] & 0x7fffffff;
}

static inline double uts_random(uint32_t bits)
{
    return (double)bits / 2147483648.0;
}

/* Children of a geometric node, not negative; a part of one more is none. */
static inline double uts_draw(uint32_t bits, double log_rest)
{
    return log(1 - uts_random(bits)) / log_rest;
}

static inline bool uts_is_geometric(const struct uts_tree *tree,
                                    const struct uts_node *node)
{
    return tree->type == UTS_GEOMETRIC ||
           (tree->type == UTS_HYBRID &&
            node->height < tree->shift * tree->depth_most);
}

static inline bool uts_is_below_least(const struct uts_tree *tree,
                                      const struct uts_node *node)
{
    return node->height < UTS_LEVELS &&
           uts_bits(node) < tree->least[node->height];
}

static inline int32_t uts_geometric(const struct uts_tree *tree,
                                    const struct uts_node *node)
{
    if (uts_is_below_least(tree, node))
        return 0; /* half of the nodes and more, without a logarithm */
    double log_rest = node->height < UTS_LEVELS
                          ? tree->log_rest[node->height]
                          : uts_log_rest(tree, node->height);
    double children = uts_draw(uts_bits(node), log_rest);
    return children < UTS_CHILDREN_MOST ? (int32_t)children : UTS_CHILDREN_MOST;
}

/* How many children a node has. */
static inline int32_t uts_children(const struct uts_tree *tree,
                                   const struct uts_node *node)
{
    if (uts_is_geometric(tree, node))
        return uts_geometric(tree, node);
    if (tree->type == UTS_BALANCED)
        return node->height < tree->depth_most ? (int32_t)tree->root_children
                                               : 0;
    if (node->height == 0 && tree->type == UTS_BINOMIAL)
        return (int32_t)tree->root_children;
    return uts_random(uts_bits(node)) < tree->probability ? tree->children : 0;
}

/* Whether a node has no children, as far as that is known without a logarithm.
 */
static inline bool uts_is_leaf(const struct uts_tree *tree,
                               const struct uts_node *node)
{
    return uts_is_geometric(tree, node) ? uts_is_below_least(tree, node)
                                        : uts_children(tree, node) == 0;
}

/* A node whose children are generated: what is hashed for each of them. */
struct uts_parent {
    unsigned char block[SHA1_BLOCK_SIZE];
    int32_t height;
};

static inline void uts_put_word(unsigned char *to, uint32_t word)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap32(word);
    memcpy(to, &word, sizeof word);
#else
    to[0] = (unsigned char)(word >> 24);
    to[1] = (unsigned char)(word >> 16);
    to[2] = (unsigned char)(word >> 8);
    to[3] = (unsigned char)word;
#endif
}

/* So many bytes of the block are hashed; the rest is SHA-1's padding. */
static inline void uts_pad(unsigned char *block, unsigned bytes)
{
    memset(block + bytes, 0, SHA1_BLOCK_SIZE - bytes);
    block[bytes] = 0x80;
    block[SHA1_BLOCK_SIZE - 1] = (unsigned char)(8 * bytes);
}

static inline void uts_hash(const unsigned char *block, struct uts_node *node)
{
    static const uint32_t start[5] = {0x67452301, 0xefcdab89, 0x98badcfe,
                                      0x10325476, 0xc3d2e1f0};
    memcpy(node->state, start, sizeof start);
    nettle_sha1_compress(node->state, block);
}

static inline void uts_open(const struct uts_node *node,
                            struct uts_parent *parent)
{
    for (int i = 0; i < 5; i++)
        uts_put_word(parent->block + 4 * i, node->state[i]);
    uts_pad(parent->block, 24);
    parent->height = node->height;
}

/* Child I, from 0. */
static inline void uts_child(const struct uts_tree *tree,
                             struct uts_parent *parent, int32_t i,
                             struct uts_node *child)
{
    uts_put_word(parent->block + 20, (uint32_t)i);
    for (int32_t times = tree->granularity; times > 0; times--)
        uts_hash(parent->block, child);
    child->height = parent->height + 1;
}

/* What a subtree comes to. */
struct uts_counts {
    int64_t nodes, leaves;
    int32_t depth; /* of the deepest node */
};

/* Visit NODE and all below, and add what they come to; false: no memory. */
bool uts_visit(const struct uts_tree *tree, const struct uts_node *node,
               struct uts_counts *counts);

#endif
