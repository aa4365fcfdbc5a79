/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UTS, the unbalanced tree search: a task for each node of a tree of which
 * nobody knows where it is deep.
 *
 *     mpirun -n 2 uts --tree T1 --sequential --repeat 9
 *
 * Trees are those of the reference program to the bit, by its options or by the
 * names that the literature gives them.  A task generates the children of its
 * node and spawns each; visit.c has it.  You will see: nodes, leaves and depth
 * of the tree, which are always the same, what it took, and how many nodes were
 * stolen.
 */
#include "tree.h"
#include "visit.h"

#include <stdlib.h>

const char program_name[] = "uts";

struct arguments {
    struct unfold_arguments unfold;
    struct tree_arguments tree;
    struct visit_options visit;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--tree", "NAME", AT(tree.name), OPTION_WORD(tree_names),
     .help = "a tree of the literature, instead of the options below"},
    {"-t", "N", AT(tree.type), OPTION_INTEGER(0, 3),
     .help = "type: 0 binomial, 1 geometric, 2 hybrid, 3 balanced (1)"},
    {"-a", "N", AT(tree.shape), OPTION_INTEGER(0, 3),
     .help =
         "geometric: 0 linear, 1 exponential decrease, 2 cyclic, 3 fixed (0)"},
    {"-b", "X", AT(tree.root_children), OPTION_NUMBER(0, 1e9),
     .help = "children of the root; geometric: their expected number (4)"},
    {"-d", "N", AT(tree.depth), OPTION_INTEGER(1, 1000000),
     .help = "geometric and balanced: depth (6)"},
    {"-q", "X", AT(tree.probability), OPTION_NUMBER(0, 1),
     .help = "binomial: probability of children (0.234375) ..."},
    {"-m", "N", AT(tree.children), OPTION_INTEGER(0, UTS_CHILDREN_MOST),
     .help = "... and their number (4)"},
    {"-f", "X", AT(tree.shift), OPTION_NUMBER(0, 1),
     .help = "hybrid: share of the depth that is geometric (0.5)"},
    {"-r", "N", AT(tree.seed), OPTION_INTEGER(0, 2147483647),
     .help = "seed of the root (0)"},
    {"-g", "N", AT(tree.granularity), OPTION_INTEGER(1, 1000000000),
     .help = "times that each node is computed (1)"},
    {"--cutoff", "D", AT(visit.cutoff), OPTION_INTEGER(0, 2147483647),
     .help = "below this depth a subtree is one task (none)"},
    {"--chunk", "N", AT(visit.chunk), OPTION_INTEGER(1, 1000000000),
     .help = "siblings of a task; not with --cutoff (1)"},
};

static void print_trees(FILE *stream)
{
    fputs("\n", stream);
    tree_help(stream);
}

static bool make_tree(void *context, struct message *message)
{
    struct arguments *arguments = context;
    if (arguments->visit.chunk > 1 && arguments->visit.cutoff < INT32_MAX)
        return message_set(message, "--chunk and --cutoff do not go together");
    return tree_make(&arguments->tree, &arguments->visit.tree, message);
}

static const struct command_line line = {
    OPTION_ROWS(options),
    .shared = &unfold_command_line,
    .head = "UTS, the unbalanced tree search: a task per node, spawned by its "
            "parent.\n\n  uts [options]\n\n",
    .tail = "\nWorkers are OpenMP threads of MPI ranks; EVENKEEL_STEAL and "
            "other variables\nsay how they balance. A named tree must have as "
            "many nodes as in the literature.\n" EXIT_WORDS,
    .add = print_trees,
    .check = make_tree};

static bool check(const void *context, const struct unfold_result *result,
                  struct message *message)
{
    const struct arguments *arguments = context;
    int64_t expected = tree_nodes(&arguments->tree);
    return expected < 0 || result->counts.nodes == expected ||
           message_set(message, "%s: %lld nodes, expected %lld",
                       arguments->tree.name, (long long)expected,
                       (long long)result->counts.nodes);
}

static int run(void *context)
{
    const struct arguments *arguments = context;
    struct visit visit;
    const struct unfold unfold = visit_make(&arguments->visit, &visit);
    return unfold_run(&unfold, &arguments->unfold, check, arguments);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.unfold = UNFOLD_ARGUMENTS_INIT,
                                  .tree = TREE_ARGUMENTS_INIT,
                                  .visit = {.cutoff = INT32_MAX, .chunk = 1}};
    return command_line_main(&line, argc, argv, &arguments, run);
}
