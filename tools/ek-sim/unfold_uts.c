/* SPDX-License-Identifier: BSD-3-Clause */
/* UTS: a task a node, and below the cut-off one for all of them. */
#include "unfold_kind.h"

#include "workloads/uts.h"

#include <stdio.h>

struct numbers {
    double b, d, r, q, m, a, f, cutoff;
};

struct search {
    struct uts_tree tree;
    struct numbers numbers;
};

/* A type of tree, by a word. */
static bool find_type(const char *word, enum uts_type *type)
{
    static const char *const words[] = {[UTS_BINOMIAL] = "bin",
                                        [UTS_GEOMETRIC] = "geo",
                                        [UTS_HYBRID] = "hybrid",
                                        [UTS_BALANCED] = "balanced"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], word) == 0) {
            *type = (enum uts_type)i;
            return true;
        }
    }
    return false;
}

/* Copy the word that TEXT begins with, up to its comma; returns what follows.
 */
static const char *take_word(const char *text, char *word, size_t bytes)
{
    size_t length = strcspn(text, ",");
    snprintf(word, bytes, "%.*s", (int)length, text);
    return text + length + (text[length] == ',' && text[length + 1] != '\0');
}

static struct numbers numbers_of(const struct uts_tree *tree)
{
    return (struct numbers){.b = tree->root_children,
                            .d = tree->depth_most,
                            .r = tree->seed,
                            .q = tree->probability,
                            .m = tree->children,
                            .a = tree->shape,
                            .f = tree->shift,
                            .cutoff = INT32_MAX};
}

static void take_numbers(const struct numbers *numbers, struct uts_tree *tree)
{
    tree->root_children = numbers->b;
    tree->depth_most = (int32_t)numbers->d;
    tree->seed = (int32_t)numbers->r;
    tree->probability = numbers->q;
    tree->children = (int32_t)numbers->m;
    tree->shape = (enum uts_shape)numbers->a;
    tree->shift = numbers->f;
    uts_prepare(tree);
}

#define KEY(name, least, most, unit)                             \
    {                                                            \
#name, offsetof(struct numbers, name), least, most, unit \
    }

static bool read(const char *text, void *made)
{
    static const struct unfold_key keys[] = {
        KEY(b, 0, 1e7, UNFOLD_REAL),        KEY(d, 0, 1e9, UNFOLD_WHOLE),
        KEY(r, 0, INT32_MAX, UNFOLD_WHOLE), KEY(q, 0, 1, UNFOLD_REAL),
        KEY(m, 0, 1e6, UNFOLD_WHOLE),       KEY(a, 0, 3, UNFOLD_WHOLE),
        KEY(f, 0, 1, UNFOLD_REAL),          KEY(cutoff, 0, 1e9, UNFOLD_WHOLE)};
    struct search *search = made;
    struct uts_tree *tree = &search->tree;
    char word[32];
    uts_default(tree);
    const char *rest = take_word(text, word, sizeof word);
    if (!uts_find(word, tree, NULL) && !find_type(word, &tree->type))
        return false;
    search->numbers = numbers_of(tree);
    if (!unfold_read_keys(rest, keys, sizeof keys / sizeof *keys,
                          &search->numbers))
        return false;
    take_numbers(&search->numbers, tree);
    return uts_has_end(tree) && uts_has_decrease(tree);
}

static void root(const void *tree, void *node)
{
    const struct search *search = tree;
    uts_root(&search->tree, node);
}

static double visit(const void *tree, const void *node, double node_ns,
                    struct unfold_sums *sums)
{
    const struct search *search = tree;
    const struct uts_node *from = node;
    struct uts_counts counts = {.nodes = 1, .depth = from->height};
    if (EKI_UNLIKELY(from->height >= search->numbers.cutoff)) {
        counts = (struct uts_counts){0};
        sums->is_memory_out |= !uts_visit(&search->tree, from, &counts);
        sums->found += counts.leaves;
    }
    sums->nodes += counts.nodes;
    sums->depth = counts.depth > sums->depth ? counts.depth : sums->depth;
    return (double)counts.nodes * node_ns;
}

static void spawn(const void *tree, const void *node,
                  struct unfold_parent *parent)
{
    const struct search *search = tree;
    const struct uts_node *from = node;
    struct uts_parent opened;
    if (EKI_UNLIKELY(from->height >= search->numbers.cutoff))
        return;
    int32_t children = uts_children(&search->tree, from);
    parent->sums->found += children == 0;
    if (children == 0)
        return;
    uts_open(from, &opened);
    for (int32_t i = 0; i < children; i++) {
        uts_child(&search->tree, &opened, i, (void *)parent->child.node);
        if (!unfold_spawn(parent))
            return;
    }
}

const struct unfold_kind unfold_uts = {
    .name = "uts",
    .allowed =
        "TREE[,KEY=X,...], TREE is T1 ... T5, T1L ... T3L, T1XL, T1WL "
        "or T3WL, or a type: bin, geo, hybrid, balanced; KEY is b, d, "
        "r, q, m, a or f, as the options of UTS, or cutoff: from that depth on "
        "one task visits everything below; q x m is at most 1.001, b at most "
        "1e7, and b and d are above 1 where a is 1",
    .nodes = "nodes",
    .found = "leaves",
    .node_bytes = sizeof(struct uts_node),
    .tree_bytes = sizeof(struct search),
    .node_ns = 60,
    .read = read,
    .root = root,
    .visit = visit,
    .spawn = spawn};
