/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binary trees as they come in tests of task libraries: fib, skew and stress.
 * A task spawns two others, down to leaves, which count in a loop.
 *
 *     mpirun -n 2 forks --tree fib:32,cutoff=12 --sequential
 *     mpirun -n 2 forks --tree skew:10000,20,3,1
 *     mpirun -n 2 forks --tree stress:10000,16,2
 *
 * Nobody waits for children: what fib returns is the number of its leaves that
 * are 1, which workers count.  You will see: nodes, and leaves, which must be
 * as many as the recurrence says, what it took, and how many tasks were stolen.
 */
#include "common/unfold.h"
#include "workloads/forks.h"

#include <evenkeel_inline.h>
#include <evenkeel_worker.h>

#include <string.h>

const char program_name[] = "forks";

/* What the tasks of this rank share. */
struct grove {
    struct forks tree;
    ek_function function;
};

struct arguments {
    struct unfold_arguments unfold;
    const char *text;
    struct grove grove;
};

static const struct option options[] = {
    {"--tree", "NAME:NUMBERS", offsetof(struct arguments, text), OPTION_TEXT,
     .help = "fib:N, skew:LEAF,D,DEC1,DEC2 or stress:LEAF,D,DEC; with "
             ",cutoff=C a task visits everything below level C (fib:25)"},
};

static bool read_tree(void *context, struct message *message)
{
    struct arguments *arguments = context;
    char name[8] = "";
    size_t length = strcspn(arguments->text, ":");
    if (length < sizeof name && arguments->text[length] == ':') {
        memcpy(name, arguments->text, length);
        if (forks_read(name, arguments->text + length + 1,
                       &arguments->grove.tree))
            return true;
    }
    return message_set(
        message, "--tree is '%.100s'; allowed: fib:%s; skew:%s; stress:%s",
        arguments->text, FORKS_FIB, FORKS_SKEW, FORKS_STRESS);
}

static const struct command_line line = {
    OPTION_ROWS(options), .shared = &unfold_command_line,
    .head = "Binary trees of tests of task libraries: fib, skew and stress.\n\n"
            "  forks [options]\n\n",
    .tail =
        "\nA node of which D is left has children of D - DEC1 and D - DEC2; "
        "a leaf counts to\nLEAF. Workers are OpenMP threads of MPI ranks; "
        "EVENKEEL_STEAL and other variables\nsay how they balance. Nodes "
        "must be as many as the recurrence says.\n" EXIT_WORDS,
    .check = read_tree};

static void add(struct unfold_counts *counts, const struct forks_counts *more)
{
    counts->nodes += more->nodes;
    counts->ends += more->found;
}

static int run_node(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    const struct grove *grove = context;
    const struct forks *tree = &grove->tree;
    /* Its place is that of its first child. */
    const struct forks_node node = *(const struct forks_node *)payload;
    struct forks_counts counts = {0};
    bool is_whole = node.level >= tree->cutoff || forks_is_leaf(&node);
    (void)bytes;
    if (is_whole)
        forks_visit(tree, &node, &counts);
    else
        forks_visit_one(tree, &node, &counts);
    add(ek_worker_data(worker), &counts);
    for (int i = 0; i < 2 && !is_whole; i++) {
        struct forks_node *child =
            ek_spawn_at(worker, grove->function, sizeof *child, 0);
        if (!child)
            return 1;
        *child = forks_child(tree, &node, i);
    }
    return 0;
}

static bool visit_all(const void *context, struct unfold_counts *counts)
{
    const struct grove *grove = context;
    const struct forks_node root = forks_root(&grove->tree);
    struct forks_counts all = {0};
    forks_visit(&grove->tree, &root, &all);
    add(counts, &all);
    return true;
}

static bool check(const void *context, const struct unfold_result *result,
                  struct message *message)
{
    const struct grove *grove = context;
    const struct forks_node root = forks_root(&grove->tree);
    int64_t nodes = forks_nodes(&grove->tree, &root);
    int64_t found = forks_found(&grove->tree, &root);
    return (result->counts.nodes == nodes && result->counts.ends == found) ||
           message_set(message, "%lld nodes, %lld found; expected %lld, %lld",
                       (long long)result->counts.nodes,
                       (long long)result->counts.ends, (long long)nodes,
                       (long long)found);
}

static int run(void *context)
{
    struct arguments *arguments = context;
    struct grove *grove = &arguments->grove;
    const struct forks_node root = forks_root(&grove->tree);
    const struct unfold unfold = {.name = "forks",
                                  .ends = "found",
                                  .root = &root,
                                  .root_bytes = sizeof root,
                                  .payload_bytes = sizeof root,
                                  .task = run_node,
                                  .context = grove,
                                  .function = &grove->function,
                                  .visit = visit_all};
    return unfold_run(&unfold, &arguments->unfold, check, grove);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.unfold = UNFOLD_ARGUMENTS_INIT,
                                  .text = "fib:25"};
    return command_line_main(&line, argc, argv, &arguments, run);
}
