/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs to run, and each mode on each of them. */
#include "ek_sim.h"

#include "curve.h"
#include "loads.h"
#include "policies.h"
#include "timelines.h"
#include "unfold.h"

#include <stdlib.h>

const char program_name[] = "ek-sim";

/* Durations of another seed, where they are drawn. */
static bool take_seed(struct run *run, int seed, struct message *message)
{
    bool is_drawn = run->source->synthetic && run->source->seed != seed;
    run->source->seed = seed;
    if (!is_drawn)
        return true;
    workload_free(run->workload);
    return workload_make(run->source, run->workload, message) &&
           choose_start(run, message);
}

/* One mode after the other: ROWS [count][iterations]. */
static int run_seed(struct run *run, const struct mode *modes, int count,
                    struct row *rows, struct message *message)
{
    int iterations = run->arguments->iterations, exit_status = EXIT_GOOD;
    for (int i = 0; exit_status == EXIT_GOOD && i < count; i++)
        exit_status =
            simulate(run, &modes[i], rows + (ptrdiff_t)i * iterations, message);
    return exit_status;
}

static int run_modes(struct run *run, const struct mode *modes, int count,
                     struct message *message)
{
    const struct arguments *arguments = run->arguments;
    int of_seed = count * arguments->iterations, exit_status = EXIT_GOOD;
    int first = arguments->shared.source.seed;
    struct row *rows =
        allocate((size_t)arguments->seeds * (size_t)of_seed, sizeof *rows);
    print_head(run);
    for (int i = 0; exit_status == EXIT_GOOD && i < arguments->seeds; i++) {
        exit_status = EXIT_BAD_INPUT;
        if (take_seed(run, first + i, message))
            exit_status = run_seed(run, modes, count,
                                   rows + (ptrdiff_t)i * of_seed, message);
    }
    if (exit_status == EXIT_GOOD)
        print_modes(run, rows, count);
    free(rows);
    return exit_status;
}

/* Run the modes of COMPARED.  With --nulls all begin with null tasks.  Modes
 * that have null tasks are left out where tasks have data or spawn, which
 * ranges do not. */
static int run_list(struct run *run, const struct mode_list *compared,
                    struct message *message)
{
    struct mode *modes = allocate((size_t)compared->count, sizeof *modes);
    bool is_asked = run->arguments->nulls > 0;
    int count = 0;
    for (int i = 0; i < compared->count; i++) {
        struct mode mode = compared->modes[i];
        mode.has_nulls |= is_asked;
        if (!mode.has_nulls ||
            (null_count(run) > 0 && !run->workload->input_bytes &&
             !workload_spawns(run->workload)))
            modes[count++] = mode;
    }
    int exit_status = EXIT_BAD_INPUT;
    if (count > 0)
        exit_status = run_modes(run, modes, count, message);
    else
        message_set(message,
                    workload_spawns(run->workload)
                        ? "%s needs tasks that spawn none"
                    : run->workload->input_bytes
                        ? "%s needs tasks without data: --bytes none"
                        : "%s needs null tasks: --nulls",
                    is_asked ? "--nulls" : compared->modes[0].name);
    free(modes);
    return exit_status;
}

static int run_chosen(struct run *run, struct message *message)
{
    const struct run_arguments *shared = &run->arguments->shared;
    const char *usual = run->unfold ? "original" : "retain";
    const char *restore = shared->policy ? shared->policy : usual;
    const char *steal = shared->steal ? shared->steal : "random";
    if (shared->has_compare)
        return run_list(run, &shared->compared, message);
    char *name = mode_name(restore, steal);
    struct mode mode = {.name = name, .restore = restore, .steal = steal};
    const struct mode_list alone = {.modes = &mode, .count = 1};
    int exit_status = run_list(run, &alone, message);
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

static int run_size(struct run *run, struct message *message)
{
    if (!take_seed(run, run->arguments->shared.source.seed, message) ||
        !choose_start(run, message))
        return EXIT_BAD_INPUT;
    run->buffer_slots = choose_slots(run);
    snprintf(run->name, sizeof run->name, "%s", run->workload->name);
    if (run->arguments->bytes_scale)
        eki_append(run->name, sizeof run->name, ", data times %g",
                   run->bytes_scale);
    return run_chosen(run, message);
}

static int run_sizes(struct sweep *sweep, struct workload *workload,
                     struct workload_source *source, struct unfold *unfold,
                     struct message *message)
{
    int exit_status = EXIT_GOOD;
    for (int i = 0; exit_status == EXIT_GOOD && i < sweep->count; i++) {
        struct run *run = &sweep->runs[i];
        run->workload = workload;
        run->source = source;
        run->unfold = unfold;
        run->is_first = i == 0;
        run->is_last = i == sweep->count - 1;
        run->is_last_size =
            run->is_last || sweep->runs[i + 1].cores != run->cores;
        run->paying = &sweep->paying;
        exit_status = run_size(run, message);
    }
    return exit_status;
}

/* Read what --hints names; to be freed, also if not. */
static bool read_hints(const struct workload_source *source, const char *record,
                       const struct workload *workload, struct workload *hints,
                       struct message *message)
{
    const struct workload_source plain = {.record = record,
                                          .scale = source->scale,
                                          .has_nulls = source->has_nulls};
    if (!workload_make(&plain, hints, message))
        return false;
    workload_step(hints, &plain, 0);
    return hints->count == workload->count ||
           message_set(message, "--hints '%s' has %lld tasks; allowed: %lld",
                       record, (long long)hints->count,
                       (long long)workload->count);
}

/* Open what is to be written while iterations run; to be closed, also if not.
 */
static bool open_files(struct sweep *sweep, const struct arguments *arguments,
                       struct message *message)
{
    struct curve *curve = NULL;
    struct loads *loads = NULL;
    bool is_good =
        (!arguments->utilization ||
         (curve = curve_open(arguments->utilization, message)) != NULL) &&
        (!arguments->loads ||
         (loads = loads_open(arguments->loads, message)) != NULL);
    for (int i = 0; i < sweep->count; i++) {
        sweep->runs[i].curve = curve;
        sweep->runs[i].loads = loads;
    }
    return is_good;
}

/* False, with a message: not all could be written. */
static bool close_files(const struct run *run, struct message *message)
{
    bool is_good = !run->curve || curve_close(run->curve, message);
    if (run->loads)
        is_good &= loads_close(run->loads, message);
    return is_good;
}

/* Files of a timeline are of one run. */
static bool check_timeline(const struct sweep *sweep,
                           const struct arguments *arguments,
                           struct message *message)
{
    const struct run_arguments *shared = &arguments->shared;
    if (!arguments->timeline)
        return true;
    if (sweep->count > 1 || arguments->seeds > 1 ||
        (shared->has_compare && shared->compared.count > 1))
        return message_set(message, "--timeline needs one job, one mode and "
                                    "one seed");
    return sweep->runs[0].ranks <= TIMELINE_RANKS_MOST ||
           message_set(message,
                       "--timeline writes a file per rank, here %d; allowed: 1 "
                       "... %d; --ranks-per-node makes them fewer",
                       sweep->runs[0].ranks, TIMELINE_RANKS_MOST);
}

/* The tasks are the same for all sizes.  Files that are to be written are left
 * alone until the input has been read, and is good. */
static int run_sweep(struct sweep *sweep, const struct arguments *arguments,
                     struct message *message)
{
    struct workload_source source = arguments->shared.source;
    struct workload workload;
    struct workload hints = {0};
    struct unfold *unfold = NULL;
    int exit_status = EXIT_BAD_INPUT;
    for (int i = 0; arguments->hints && i < sweep->count; i++)
        sweep->runs[i].hints = &hints;
    if (workload_make(&source, &workload, message) &&
        (!arguments->hints ||
         read_hints(&source, arguments->hints, &workload, &hints, message)) &&
        (!source.tree || (unfold = unfold_open(arguments, message)) != NULL) &&
        open_files(sweep, arguments, message))
        exit_status = run_sizes(sweep, &workload, &source, unfold, message);
    if (!close_files(sweep->runs, message) && exit_status == EXIT_GOOD)
        exit_status = EXIT_FAILED;
    workload_free(&workload);
    workload_free(&hints);
    unfold_close(unfold);
    return exit_status;
}

static int run_arguments(const struct arguments *arguments,
                         struct message *message)
{
    struct sweep sweep = {0};
    int exit_status = sweep_place(arguments, &sweep, message) &&
                              check_timeline(&sweep, arguments, message)
                          ? run_sweep(&sweep, arguments, message)
                          : EXIT_BAD_INPUT;
    sweep_free(&sweep);
    return exit_status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = arguments_default;
    struct message message = {""};
    int exit_status = EXIT_GOOD;
    (void)argc;
    if (command_line_answer(&arguments_line, argv))
        return end_output(EXIT_GOOD);
    if (!command_line_parse(&arguments_line, argv, &arguments, &message))
        exit_status = EXIT_BAD_INPUT;
    else
        exit_status = run_arguments(&arguments, &message);
    command_line_release(&arguments_line, &arguments);
    if (exit_status != EXIT_GOOD)
        fprintf(stderr, "%s: %s\n", program_name, message.text);
    return end_output(exit_status);
}
