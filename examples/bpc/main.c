/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BPC, bouncing producer and consumers: each producer makes the next one and
 * then its consumers.
 *
 *     mpirun -n 2 bpc --consumers 64 --depth 50
 *     mpirun -n 4 bpc --consumers 64 --depth 50 --sleep
 *
 * The next producer is the oldest task of its worker, which thieves take first;
 * it bounces from one to the other, and what others steal they must find anew
 * each time.  With --sleep tasks sleep instead of computing, so that few cores
 * have the workers of many.  You will see: the run time beside the best
 * possible, steals, and how long workers searched.
 */
#include "common/unfold.h"
#include "length.h"
#include "workloads/bouncing.h"

#include <evenkeel_spawn.h>
#include <evenkeel_worker.h>

const char program_name[] = "bpc";

struct arguments {
    struct unfold_arguments unfold;
    struct bouncing tree;
    double produce_ms, consume_ms;
    bool has_sleep;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--consumers", "N", AT(tree.consumers), OPTION_LONG(0, 1000000),
     .help = "consumers of each producer (64)"},
    {"--depth", "N", AT(tree.depth), OPTION_LONG(1, 1000000),
     .help = "producers (50)"},
    {"--produce", "MS", AT(produce_ms), OPTION_NUMBER(0, 1e6),
     .help = "length of a producer, milliseconds (1)"},
    {"--consume", "MS", AT(consume_ms), OPTION_NUMBER(0, 1e6),
     .help = "length of a consumer, milliseconds (5)"},
    {"--sleep", NULL, AT(has_sleep), OPTION_FLAG,
     .help = "tasks sleep, so workers can share cores"},
};

static const struct command_line line = {
    OPTION_ROWS(options), .shared = &unfold_command_line,
    .head = "BPC, bouncing producer and consumers: each producer makes the "
            "next one and then\nits consumers.\n\n  bpc [options]\n\n",
    .tail = "\nThe benchmark of the literature: --consumers 8192 --depth 500, "
            "or 300. Workers are\nOpenMP threads of MPI ranks; EVENKEEL_STEAL "
            "and other variables say how they balance.\n" EXIT_WORDS};

/* What the tasks of this rank share. */
struct bounce {
    struct bouncing tree;
    double produce_s, consume_s;
    bool has_sleep;
    ek_function function;
};

static double length_of(const struct bounce *bounce,
                        const struct bouncing_node *node)
{
    return node->left > 0 ? bounce->produce_s : bounce->consume_s;
}

static void count(struct unfold_counts *counts,
                  const struct bouncing_node *node)
{
    counts->nodes++;
    counts->ends += node->left == 0;
}

static int run_bounce(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    const struct bounce *bounce = context;
    const struct bouncing_node *node = payload;
    int64_t children = bouncing_children(&bounce->tree, node);
    (void)bytes;
    length_last(worker, length_of(bounce, node), bounce->has_sleep);
    count(ek_worker_data(worker), node);
    for (int64_t i = 0; i < children; i++) {
        struct bouncing_node child = bouncing_child(node, i);
        if (ek_spawn(worker, bounce->function, &child, sizeof child, 0) !=
            EK_OK)
            return 1;
    }
    return 0;
}

static bool visit_all(const void *context, struct unfold_counts *counts)
{
    const struct bounce *bounce = context;
    const struct bouncing_node consumer = {0};
    for (int64_t left = bounce->tree.depth; left > 0; left--) {
        const struct bouncing_node producer = {left};
        length_last(NULL, bounce->produce_s, bounce->has_sleep);
        count(counts, &producer);
        for (int64_t i = 0; i < bounce->tree.consumers; i++) {
            length_last(NULL, bounce->consume_s, bounce->has_sleep);
            count(counts, &consumer);
        }
    }
    return true;
}

/* What no schedule goes below: producers wait for each other. */
static double best_possible(const struct bounce *bounce, int workers)
{
    double producers_s = (double)bounce->tree.depth * bounce->produce_s;
    double consumers = (double)(bounce->tree.depth * bounce->tree.consumers);
    double share_s = (producers_s + consumers * bounce->consume_s) / workers;
    double chain_s =
        producers_s + (bounce->tree.consumers > 0 ? bounce->consume_s : 0);
    return share_s > chain_s ? share_s : chain_s;
}

static void print_best(const struct bounce *bounce,
                       const struct unfold_result *result)
{
    double best_s = best_possible(bounce, result->workers);
    double median_s = unfold_median(result->tasks_s, result->rounds);
    if (is_first_rank() && best_s > 0)
        printf("%.4f s; the best possible is %.4f s: %.1f%%\n", median_s,
               best_s, 100 * best_s / median_s);
}

static bool check(const void *context, const struct unfold_result *result,
                  struct message *message)
{
    const struct bounce *bounce = context;
    int64_t tasks = bouncing_tasks(&bounce->tree);
    print_best(bounce, result);
    return result->counts.nodes == tasks ||
           message_set(message, "%lld tasks ran instead of %lld",
                       (long long)result->counts.nodes, (long long)tasks);
}

static int run(void *context)
{
    const struct arguments *arguments = context;
    struct bounce bounce = {.tree = arguments->tree,
                            .produce_s = 1e-3 * arguments->produce_ms,
                            .consume_s = 1e-3 * arguments->consume_ms,
                            .has_sleep = arguments->has_sleep};
    const struct bouncing_node root = bouncing_root(&bounce.tree);
    const struct unfold unfold = {.name = "bpc",
                                  .ends = "consumers",
                                  .root = &root,
                                  .root_bytes = sizeof root,
                                  .payload_bytes = sizeof root,
                                  .task = run_bounce,
                                  .context = &bounce,
                                  .function = &bounce.function,
                                  .visit = visit_all};
    return unfold_run(&unfold, &arguments->unfold, check, &bounce);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.unfold = UNFOLD_ARGUMENTS_INIT,
                                  .tree = {.consumers = 64, .depth = 50},
                                  .produce_ms = 1,
                                  .consume_ms = 5};
    return command_line_main(&line, argc, argv, &arguments, run);
}
