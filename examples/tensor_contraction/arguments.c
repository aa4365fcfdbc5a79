/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"
#include "kernel.h"
#include "memory.h"
#include "presets.h"

#include <string.h>

#define PRESET_DEFAULT "fifth"
#define TILE_DEFAULT 20

static const char *symmetry_words(void)
{
    return "none, spatial, spin";
}

static const char *task_words(void)
{
    return "tile, product";
}

static const char *start_words(void)
{
    return "blocks, owners";
}

static const char *multiply_words(void)
{
    return kernel_multiplier() == MULTIPLIER_XSMM ? "blas, xsmm" : "blas";
}

static const char *check_words(void)
{
    return "vector, dense, none";
}

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--expression", "TEXT", AT(contraction.expression), OPTION_TEXT,
     .help = "the contraction (" EXPRESSION_DEFAULT ")"},
    {"--preset", "NAME", AT(preset), OPTION_WORD(preset_names),
     .help = "name of a size, see below (" PRESET_DEFAULT ")"},
    {"--blocks", "X=N,N,... ...", AT(has_blocks), OPTION_FLAG,
     .help = "entries of the irreps of index X and of later letters, instead "
             "of a preset"},
    {"--tile", "N", AT(tile), OPTION_LONG(1, 10000),
     .help = "entries of each index of a tile, at most (20)"},
    {"--symmetry", "KIND", AT(symmetry), OPTION_WORD(symmetry_words),
     .help = "symmetry that leaves out tiles: spin, spatial, none (spatial)"},
    {"--task", "KIND", AT(task), OPTION_WORD(task_words),
     .help = "a task: a tile of C, or a product of a tile of A and one of B "
             "(tile)"},
    {"--start", "WHERE", AT(start), OPTION_WORD(start_words),
     .help = "where tasks start: in blocks, or at the owners of C (blocks)"},
    {"--multiply", "BY", AT(multiply), OPTION_WORD(multiply_words),
     .help = "what multiplies tiles: blas, or xsmm, libxsmm (xsmm if it was "
             "built with it)"},
    {"--prefetch", "N", AT(options.prefetch), OPTION_INTEGER(0, PREFETCH_MAX),
     .help = "pairs of tiles on their way while one is multiplied (1)"},
    {"--cache", "MB", AT(cache_mb), OPTION_LONG(0, 1000000),
     .help = "tiles of other nodes that a worker keeps, of A and B each (256)"},
    {"--memory", "SIZE", AT(memory), OPTION_TEXT,
     .help = "memory of a rank, as in 24G (its share of the node's)"},
    {"--iterations", "N", AT(shared.iterations), OPTION_ITERATIONS,
     .help = "iterations, each C += A B (5)"},
    {"--check", "HOW", AT(check), OPTION_WORD(check_words),
     .help = "check C x = A (B x), or C = A B: vector, dense, none (vector)"},
    {"--peers", NULL, AT(has_peers), OPTION_FLAG,
     .help = "with --compare: also a plain loop, and one dgemm"},
    {"--count", NULL, AT(has_count), OPTION_FLAG,
     .help = "only count the tasks that are not null, and their work"},
    {"--flop-ns", "NS", AT(cost.flop_ns), OPTION_NUMBER(0, 1e9),
     .help = "with --count: time of an operation (0.03) ..."},
    {"--byte-ns", "NS", AT(cost.byte_ns), OPTION_NUMBER(0, 1e9),
     .help = "... and of a byte that is got or accumulated (0.1)"},
};

static bool take_blocks(const char *word, void *arguments,
                        struct message *message)
{
    struct arguments *to = arguments;
    if (!to->has_blocks)
        return message_set(message, "'%s' is no option; see --help", word);
    return irrep_list_add(&to->irreps, word, message);
}

/* Which of the words of a list, such as "a, b, c", it is: enums are in the
 * order of their words. */
static int place_in(const char *list, const char *word)
{
    int place = 0;
    for (const char *at = list; at < strstr(list, word); at++)
        place += *at == ',';
    return place;
}

static bool take_preset(struct arguments *arguments, struct message *message)
{
    const struct preset *preset =
        preset_find(arguments->preset ? arguments->preset : PRESET_DEFAULT);
    arguments->contraction.tile = preset->tile;
    arguments->contraction.symmetry = preset->symmetry;
    return irrep_list_add(&arguments->irreps, preset->outer, message) &&
           irrep_list_add(&arguments->irreps, preset->contracted, message);
}

/* What is said wins over the preset. */
static bool take_size(struct arguments *arguments, struct message *message)
{
    struct contraction_options *contraction = &arguments->contraction;
    if (arguments->has_blocks && arguments->preset)
        return message_set(message, "--preset and --blocks do not go together");
    if (!arguments->has_blocks && !take_preset(arguments, message))
        return false;
    if (arguments->tile > 0)
        contraction->tile = arguments->tile;
    if (arguments->symmetry)
        contraction->symmetry =
            (enum symmetry)place_in(symmetry_words(), arguments->symmetry);
    return true;
}

static bool check_together(void *context, struct message *message)
{
    struct arguments *arguments = context;
    arguments->contraction.irreps = &arguments->irreps;
    if (!take_size(arguments, message))
        return false;
    if (arguments->shared.has_compare && arguments->has_count)
        return message_set(message, "--compare and --count do not go together");
    if (arguments->task)
        arguments->contraction.task =
            (enum task_kind)place_in(task_words(), arguments->task);
    arguments->contraction.multiplier =
        arguments->multiply
            ? (enum multiplier)place_in(multiply_words(), arguments->multiply)
            : kernel_multiplier();
    if (arguments->start)
        arguments->options.has_owner_start =
            place_in(start_words(), arguments->start) == 1;
    if (arguments->check)
        arguments->verify =
            (enum verify)place_in(check_words(), arguments->check);
    if (arguments->has_peers && !arguments->shared.has_compare)
        return message_set(message, "--peers needs --compare");
    return !arguments->memory ||
           memory_read(arguments->memory, &arguments->memory_bytes, message);
}

const struct command_line arguments_line = {
    OPTION_ROWS(options),
    .operand = take_blocks,
    .shared = &mode_command_line,
    .head = "A tensor contraction over tiles that symmetry leaves, the second "
            "benchmark of\nHPDC 2012.\n\n  tensor_contraction [options]\n\n",
    .tail = "\n" EXIT_WORDS,
    .add = presets_help,
    .check = check_together};

const struct arguments arguments_default = {
    .shared.iterations = 5,
    .cache_mb = 256,
    .contraction = {.expression = EXPRESSION_DEFAULT,
                    .tile = TILE_DEFAULT,
                    .symmetry = SYMMETRY_SPATIAL},
    .options = {.prefetch = 1},
    .cost = {.flop_ns = 0.03, .byte_ns = 0.1}};
