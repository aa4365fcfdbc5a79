/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ways to place N queens on a board of N rows: a task for each placement in
 * the upper rows, and for all placements below it.
 *
 *     mpirun -n 2 nqueens --queens 14 --cutoff 6 --sequential
 *
 * You will see: the solutions, which are as many as others have counted, what
 * it took, and how many tasks were stolen.  The fewer rows have tasks
 * (--cutoff), the longer these are, and the fewer.
 */
#include "common/unfold.h"
#include "workloads/queens.h"

#include <evenkeel_inline.h>
#include <evenkeel_worker.h>

const char program_name[] = "nqueens";

struct arguments {
    struct unfold_arguments unfold;
    int queens, cutoff;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--queens", "N", AT(queens), OPTION_INTEGER(1, QUEENS_MOST),
     .help = "rows and columns (12)"},
    {"--cutoff", "D", AT(cutoff), OPTION_INTEGER(0, QUEENS_MOST),
     .help = "below this row placements are not tasks (6)"},
};

static const struct command_line line = {
    OPTION_ROWS(options), .shared = &unfold_command_line,
    .head = "All ways to place N queens: a task for each placement in the "
            "upper rows.\n\n  nqueens [options]\n\n",
    .tail = "\nWorkers are OpenMP threads of MPI ranks; EVENKEEL_STEAL and "
            "other variables\nsay how they balance. The number of solutions is "
            "compared with the known one.\n" EXIT_WORDS};

/* What the tasks of this rank share. */
struct board {
    int queens, cutoff;
    ek_function function;
};

/* A placement and all below it, without tasks. */
static void visit_below(const struct board *board,
                        const struct queens_node *node,
                        struct unfold_counts *counts)
{
    struct queens_counts below = {0};
    queens_visit(board->queens, node, &below);
    counts->nodes += below.nodes;
    counts->ends += below.solutions;
}

static int run_placement(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    const struct board *board = context;
    const struct queens_node *node = payload;
    struct unfold_counts *counts = ek_worker_data(worker);
    (void)bytes;
    if (node->row >= board->cutoff || node->row == board->queens) {
        visit_below(board, node, counts);
        return 0;
    }
    counts->nodes++;
    uint32_t free = queens_free(board->queens, node);
    while (free) {
        struct queens_node *child =
            ek_spawn_at(worker, board->function, sizeof *child, 0);
        if (!child)
            return 1;
        *child = queens_place(node, &free);
    }
    return 0;
}

static bool visit_all(const void *context, struct unfold_counts *counts)
{
    const struct queens_node root = queens_root();
    visit_below(context, &root, counts);
    return true;
}

static bool check(const void *context, const struct unfold_result *result,
                  struct message *message)
{
    const struct board *board = context;
    int64_t expected = queens_solutions(board->queens);
    return result->counts.ends == expected ||
           message_set(message, "%d queens: %lld solutions, expected %lld",
                       board->queens, (long long)expected,
                       (long long)result->counts.ends);
}

static int run(void *context)
{
    const struct arguments *arguments = context;
    const struct queens_node root = queens_root();
    struct board board = {.queens = arguments->queens,
                          .cutoff = arguments->cutoff};
    const struct unfold unfold = {.name = "nqueens",
                                  .ends = "solutions",
                                  .root = &root,
                                  .root_bytes = sizeof root,
                                  .payload_bytes = sizeof root,
                                  .task = run_placement,
                                  .context = &board,
                                  .function = &board.function,
                                  .visit = visit_all};
    return unfold_run(&unfold, &arguments->unfold, check, &board);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {
        .unfold = UNFOLD_ARGUMENTS_INIT, .queens = 12, .cutoff = 6};
    return command_line_main(&line, argc, argv, &arguments, run);
}
