/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

static void set_integer(int32_t *to, int from)
{
    if (from >= 0)
        *to = from;
}

static void set_number(double *to, double from)
{
    if (from >= 0)
        *to = from;
}

static bool check(const struct uts_tree *tree, struct message *message)
{
    if (!uts_has_end(tree))
        return message_set(
            message, "-q %g times -m %d is above %g: such a tree hardly ends",
            tree->probability, tree->children, UTS_EXPECTED_MOST);
    if (!uts_has_decrease(tree))
        return message_set(message,
                           "-b is %g and -d is %d; allowed with exponential "
                           "decrease (-a 1): above 1",
                           tree->root_children, tree->depth_most);
    return true;
}

static bool is_named_alone(const struct tree_arguments *arguments)
{
    return arguments->type < 0 && arguments->shape < 0 &&
           arguments->root_children < 0 && arguments->depth < 0 &&
           arguments->probability < 0 && arguments->children < 0 &&
           arguments->shift < 0 && arguments->seed < 0;
}

bool tree_make(const struct tree_arguments *arguments, struct uts_tree *tree,
               struct message *message)
{
    uts_default(tree);
    if (arguments->name && !is_named_alone(arguments))
        return message_set(message,
                           "--tree sets everything except -g: -t, -a, -b, -d, "
                           "-q, -m, -f and -r do not go with it");
    if (arguments->name)
        uts_find(arguments->name, tree, NULL);
    if (arguments->type >= 0)
        tree->type = (enum uts_type)arguments->type;
    if (arguments->shape >= 0)
        tree->shape = (enum uts_shape)arguments->shape;
    set_number(&tree->root_children, arguments->root_children);
    set_integer(&tree->depth_most, arguments->depth);
    set_number(&tree->probability, arguments->probability);
    set_integer(&tree->children, arguments->children);
    set_number(&tree->shift, arguments->shift);
    set_integer(&tree->seed, arguments->seed);
    set_integer(&tree->granularity, arguments->granularity);
    uts_prepare(tree);
    return check(tree, message);
}

int64_t tree_nodes(const struct tree_arguments *arguments)
{
    struct uts_tree tree;
    int64_t nodes;
    return arguments->name && uts_find(arguments->name, &tree, &nodes) ? nodes
                                                                       : -1;
}

const char *tree_names(void)
{
    static char names[200];
    size_t bytes = 0;
    for (int i = 0; uts_name(i) && bytes < sizeof names; i++)
        bytes += (size_t)snprintf(names + bytes, sizeof names - bytes, "%s%s",
                                  i > 0 ? ", " : "", uts_name(i));
    return names;
}

void tree_help(FILE *stream)
{
    static const char *const shapes[] = {"linear", "exponential decrease",
                                         "cyclic", "fixed"};
    fputs("Trees, and their nodes:\n", stream);
    for (int i = 0; uts_name(i); i++) {
        struct uts_tree tree;
        int64_t nodes;
        uts_find(uts_name(i), &tree, &nodes);
        fprintf(stream, "  %-5s %12lld  ", uts_name(i), (long long)nodes);
        if (tree.type == UTS_BINOMIAL)
            fprintf(stream, "binomial, -t 0 -b %g -q %.8g -m %d -r %d\n",
                    tree.root_children, tree.probability, tree.children,
                    tree.seed);
        else if (tree.type == UTS_HYBRID)
            fprintf(stream, "hybrid, -t 2 -a 0 -b %g -d %d -q %g -m %d -r %d\n",
                    tree.root_children, tree.depth_most, tree.probability,
                    tree.children, tree.seed);
        else
            fprintf(stream, "%s, -t 1 -a %d -b %g -d %d -r %d\n",
                    shapes[tree.shape], tree.shape, tree.root_children,
                    tree.depth_most, tree.seed);
    }
}
