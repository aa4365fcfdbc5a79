/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block-structured code whose blocks lie with owners, and that asks Evenkeel
 * who should own which.
 *
 *     mpirun -n 4 amr_plan
 *     mpirun -n 4 amr_plan --compare
 *
 * A front moves through a square of blocks, which are finer where it is; there
 * cells cost most, and the finest blocks have more species to move.  After each
 * change of the mesh owners are found from what blocks cost last, and blocks
 * migrate by MPI.  Tasks and collections there are none: the call is in
 * split.c, the migration in state.c.
 *
 * You will see: a row per step.  --compare has a row for each way to find
 * owners, all from the same costs, and fails where their results are not the
 * same to the last bit.
 */
#include "run.h"

#include "cli/command_line.h"

#include <string.h>

const char program_name[] = "amr_plan";

struct arguments {
    struct run_setup setup;
    const char *split, *costs;
    bool compares;
    int rounds;
};

static const char *cost_words(void)
{
    return "known, last";
}

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--split", "WAY", AT(split), OPTION_WORD(split_words),
     .help = "who owns which block (plan)"},
    {"--costs", "WHICH", AT(costs), OPTION_WORD(cost_words),
     .help = "costs: known from a model of the next step, or last (known)"},
    {"--compare", NULL, AT(compares), OPTION_FLAG,
     .help = "run all ways, in turns"},
    {"--repeat", "N", AT(rounds), OPTION_INTEGER(1, 1000),
     .help = "with --compare: rounds, of which the least times are shown (3)"},
    {"--roots", "N", AT(setup.roots), OPTION_INTEGER(1, ROOTS_MOST),
     .help = "blocks of the coarsest level along a side (16)"},
    {"--levels", "N", AT(setup.levels), OPTION_INTEGER(0, LEVELS_MOST),
     .help = "refinements (3)"},
    {"--iterations", "N", AT(setup.iterations), OPTION_INTEGER(1, 1000000),
     .help = "steps after the first one (24)"},
};

static void print_ways(FILE *stream)
{
    fputs("\nways\n", stream);
    for (const struct split *split = splits; split->name; split++)
        fprintf(stream, "  %-11s %s\n", split->name, split->help);
}

static const struct command_line line = {
    OPTION_ROWS(options),
    .head = "Refine blocks at a front, and let ek_plan() find their "
            "owners.\n\nusage: mpirun -n RANKS amr_plan [options]\n\n",
    .tail =
        "\nThe ways 'plan' and 'bytes' follow EVENKEEL_RESTORE.\n" EXIT_WORDS,
    .add = print_ways};

static int run_one(const struct arguments *arguments)
{
    struct result result;
    if (is_first_rank())
        print_head("step");
    ek_status status =
        run(&arguments->setup, split_find(arguments->split), &result);
    if (status != EK_OK)
        return complain_status(status);
    if (is_first_rank())
        printf("value %.17g\n", result.value);
    return EXIT_GOOD;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* One more round of a way; FIRST is what the first way came to. */
static int run_again(const struct arguments *arguments,
                     const struct split *split, struct result *first,
                     struct result *best)
{
    struct result result;
    struct message message;
    ek_status status = run(&arguments->setup, split, &result);
    if (status != EK_OK)
        return complain_status(status);
    if (first->all.blocks == 0)
        *first = result;
    if (best->all.blocks > 0) {
        result.all.split_s = least(result.all.split_s, best->all.split_s);
        result.all.step_s = least(result.all.step_s, best->all.step_s);
    }
    *best = result;
    if (result.value == first->value)
        return EXIT_GOOD;
    message_set(&message, "%s ends at %.17g, %s at %.17g", split->name,
                result.value, splits[0].name, first->value);
    return complain(&message, EXIT_FAILED);
}

static int compare(const struct arguments *arguments)
{
    struct result first = {0}, best[8] = {0};
    for (int round = 0; round < arguments->rounds; round++) {
        for (int i = 0; splits[i].name; i++) {
            int status = run_again(arguments, &splits[i], &first, &best[i]);
            if (status != EXIT_GOOD)
                return status;
        }
    }
    if (!is_first_rank())
        return EXIT_GOOD;
    print_head("way");
    for (int i = 0; splits[i].name; i++)
        print_row(splits[i].name, &best[i].all);
    printf("value %.17g, the same for all\n", first.value);
    return EXIT_GOOD;
}

static int run_any(void *context)
{
    struct arguments *arguments = context;
    arguments->setup.knows = strcmp(arguments->costs, "known") == 0;
    if (!arguments->compares)
        return run_one(arguments);
    arguments->setup.has_rows = false;
    return compare(arguments);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.setup = {16, 3, 24, true, true},
                                  .split = "plan",
                                  .costs = "known",
                                  .rounds = 3};
    return command_line_main(&line, argc, argv, &arguments, run_any);
}
