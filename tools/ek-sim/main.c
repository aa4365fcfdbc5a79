/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs to run, and each mode on each of them. */
#include "ek_sim.h"

#include "policies.h"

#include <stdlib.h>

const char program_name[] = "ek-sim";

/* One mode after the other, from FIRST on. */
static int run_modes(struct run *run, const struct mode *first, int count,
                     struct message *message)
{
    int iterations = run->arguments->iterations, exit_status = EXIT_GOOD;
    struct row *rows = allocate((size_t)(count * iterations), sizeof *rows);
    struct row *end = rows;
    for (int i = 0; exit_status == EXIT_GOOD && i < count; i++) {
        if (first[i].has_nulls)
            continue; /* null tasks take no time here */
        exit_status = simulate(run, &first[i], end, message);
        end += iterations;
    }
    if (exit_status == EXIT_GOOD)
        print_modes(run, rows, (int)(end - rows) / iterations);
    free(rows);
    return exit_status;
}

static int run_chosen(struct run *run, struct message *message)
{
    const struct run_arguments *shared = &run->arguments->shared;
    const struct mode_list *compared = &shared->compared;
    const char *restore = shared->policy ? shared->policy : "retain";
    const char *steal = shared->steal ? shared->steal : "random";
    print_head(run);
    if (shared->has_compare)
        return run_modes(run, compared->modes, compared->count, message);
    char *name = mode_name(restore, steal);
    const struct mode mode = {.name = name, .restore = restore, .steal = steal};
    int exit_status = run_modes(run, &mode, 1, message);
    free(name);
    return exit_status;
}

/* Slots of a worker's buffers: the library's default, but in large jobs fewer,
 * for memory. */
static int choose_slots(const struct run *run)
{
    enum {
        DEFAULT = 256,
        LEAST = 16,
        ALL = 4000000
    };
    int slots = DEFAULT;
    if (run->arguments->buffer_slots > 0)
        return run->arguments->buffer_slots;
    while (slots > LEAST && (int64_t)slots * run->workers > ALL)
        slots /= 2;
    return slots;
}

static int run_size(struct run *run, bool is_last, struct message *message)
{
    if (!choose_start(run, is_last, message))
        return EXIT_BAD_INPUT;
    run->buffer_slots = choose_slots(run);
    return run_chosen(run, message);
}

/* The tasks are the same for all sizes. */
static int run_sweep(struct sweep *sweep, const struct workload_source *source,
                     struct message *message)
{
    struct workload workload;
    int exit_status = EXIT_BAD_INPUT;
    if (workload_make(source, &workload, message))
        exit_status = EXIT_GOOD;
    for (int i = 0; exit_status == EXIT_GOOD && i < sweep->count; i++) {
        struct run *run = &sweep->runs[i];
        run->workload = &workload;
        run->source = source;
        run->is_first = i == 0;
        exit_status = run_size(run, i == sweep->count - 1, message);
    }
    workload_free(&workload);
    return exit_status;
}

static int run_arguments(const struct arguments *arguments,
                         struct message *message)
{
    struct sweep sweep = {0};
    int exit_status =
        sweep_place(arguments, &sweep, message)
            ? run_sweep(&sweep, &arguments->shared.source, message)
            : EXIT_BAD_INPUT;
    sweep_free(&sweep);
    return exit_status;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct message message = {""};
    int exit_status = EXIT_GOOD;
    (void)argc;
    if (arguments_answer(argv))
        return EXIT_GOOD;
    if (!arguments_parse(argv, &arguments, &message))
        exit_status = EXIT_BAD_INPUT;
    else
        exit_status = run_arguments(&arguments, &message);
    run_arguments_free(&arguments.shared);
    if (exit_status != EXIT_GOOD)
        fprintf(stderr, "%s: %s\n", program_name, message.text);
    return exit_status;
}
