/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees by their text, how many nodes they have, and the sequential visit. */
#include "workloads/forks.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    NUMBERS_MOST = 4,
    LEAF_MOST = 1000000000
};

/* Of all nodes: so many ns are some thirty years. */
#define COUNTED_MOST 1e18

struct form {
    const char *name;
    int numbers;
    bool has_leaf; /* the first of them is the iterations of a leaf */
};

static const struct form forms[] = {
    {"fib", 1, false}, {"skew", 4, true}, {"stress", 3, true}};

static const struct form *form_of(const char *name)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    }
    return NULL;
}

/* Read a number of digits alone up to MOST at *TEXT. */
static bool read_number(const char **text, int32_t most, int32_t *value)
{
    const char *at = *text;
    int64_t number = 0;
    for (; *at >= '0' && *at <= '9' && number <= most; at++)
        number = 10 * number + (*at - '0');
    bool is_good = at != *text && number <= most;
    *text = at;
    *value = (int32_t)number;
    return is_good;
}

static bool read_numbers(const struct form *form, const char *text,
                         int32_t *numbers, int32_t *cutoff)
{
    static const char key[] = ",cutoff=";
    for (int i = 0; i < form->numbers; i++) {
        if (i > 0 && *text++ != ',')
            return false;
        if (!read_number(&text,
                         i == 0 && form->has_leaf ? LEAF_MOST : FORKS_MOST,
                         &numbers[i]))
            return false;
    }
    if (strncmp(text, key, sizeof key - 1) == 0) {
        text += sizeof key - 1;
        if (!read_number(&text, FORKS_MOST, cutoff))
            return false;
    }
    return *text == '\0';
}

static void count_all(struct forks *tree)
{
    for (int32_t left = 1; left <= tree->depth; left++) {
        const struct forks_node node = {left, 0};
        const struct forks_node first = forks_child(tree, &node, 0);
        const struct forks_node second = forks_child(tree, &node, 1);
        tree->nodes[left] =
            1 + forks_nodes(tree, &first) + forks_nodes(tree, &second);
        tree->found[left] =
            forks_found(tree, &first) + forks_found(tree, &second);
    }
}

bool forks_read(const char *name, const char *text, struct forks *tree)
{
    const struct form *form = form_of(name);
    int32_t numbers[NUMBERS_MOST] = {0};
    *tree = (struct forks){.least = INT32_MIN, .cutoff = FORKS_MOST + 1};
    if (!form || !read_numbers(form, text, numbers, &tree->cutoff))
        return false;
    if (form->has_leaf) {
        tree->leaf = numbers[0];
        tree->depth = numbers[1];
        tree->first = numbers[2];
        tree->second = form->numbers == 4 ? numbers[3] : numbers[2];
    } else {
        /* A call of N below 2 is a leaf, and returns N. */
        tree->depth = numbers[0] - 1;
        tree->first = 1;
        tree->second = 2;
        tree->least = 0;
    }
    count_all(tree);
    const struct forks_node root = forks_root(tree);
    return tree->first > 0 && tree->second > 0 &&
           (double)forks_nodes(tree, &root) * tree->leaf <= COUNTED_MOST;
}

/* A step waits for the one before, so that no compiler shortens the loop. */
static uint64_t count_to(int32_t end)
{
    uint64_t value = (uint64_t)end;
    for (int32_t i = 0; i < end; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

void forks_visit_one(const struct forks *tree, const struct forks_node *node,
                     struct forks_counts *counts)
{
    counts->nodes++;
    if (!forks_is_leaf(node))
        return;
    counts->found += forks_found(tree, node);
    counts->sum += count_to(tree->leaf);
}

void forks_visit(const struct forks *tree, const struct forks_node *node,
                 struct forks_counts *counts)
{
    forks_visit_one(tree, node, counts);
    for (int i = 0; i < 2 && !forks_is_leaf(node); i++) {
        struct forks_node child = forks_child(tree, node, i);
        forks_visit(tree, &child, counts);
    }
}
