/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, MPI, and what can be run with the ranks there are. */
#include "bench.h"

#include "cli/command_line.h"
#include "policies.h"
#include "sim/machine.h"
#include "team/team.h"

#include <string.h>

const char program_name[] = "ek-bench";

static const struct bench_case {
    const char *name;
    void (*run)(const struct bench *bench);
    bool in_all;   /* `all` means it, too */
    bool is_alone; /* its output is a file */
    bool has_two;  /* cases with two threads, processes or nodes */
    const char *help;
} cases[] = {
    {"tasks", bench_tasks, true, false, false,
     "what a task costs: spawned, seed, index of a range, restore"},
    {"steal", bench_steal, true, false, true,
     "moving tasks between threads, processes and nodes"},
    {"process", bench_process, true, false, true,
     "an empty ek_process() back to back and after serial code"},
    {"service", bench_service, true, false, true,
     "how long a request waits for a node that runs long tasks"},
    {"collections", bench_collections, false, false, false,
     "64 collections: memory of a further one, its life, rounds: a minute"},
    {"counter", bench_counter, false, false, true,
     "a loop over the shared counter and over MPI's: a minute"},
    {"data", bench_data, false, false, true,
     "tasks away from their data, by its bytes: half a minute"},
    {"loops", bench_loops, false, false, true,
     "loops of uneven tasks, against OpenMP, TBB and MPI: minutes"},
    {"tiles", bench_tiles, false, false, true,
     "get, put, accumulate tiles, against a window and Global Arrays: minutes"},
    {"affinity", bench_affinity, false, false, true,
     "tasks at the owner of their tile, stealing near: 10 s, 4 ranks"},
    {"balance", bench_balance, false, false, false,
     "quality, migrations and time of the rebalancers: a minute"},
    {"plan", bench_plan, false, false, true,
     "ek_plan for a million items, and its quality: half a minute"},
    {"doctor", bench_doctor, false, true, false,
     "what this job has: MPI, cores, memory, latencies; what to change"},
    {"machine", bench_machine, false, true, true,
     "a file for ek-sim that describes this machine: seconds"},
};

enum {
    CASES = sizeof cases / sizeof *cases,
    WORDS_BYTES = 128 /* for the names of all cases */
};

struct arguments {
    struct bench bench;
    const char *deque;
    bool is_chosen[CASES];
    bool has_summary; /* no case is chosen */
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--repetitions", "N", AT(bench.repetitions),
     OPTION_INTEGER(1, BENCH_REPETITIONS_MAX),
     .help = "repetitions of each case, interleaved: 1 ... 1000 (30)"},
    {"--tasks", "N", AT(bench.tasks), OPTION_LONG(1000, 10000000),
     .help = "tasks of a repetition: 1000 ... 10000000 (100000)"},
    {"--length", "US", AT(bench.length_us), OPTION_INTEGER(1, 1000),
     .help = "loops: only tasks of this length in us (1, 10 and 100)"},
    {"--deque", "KIND", AT(deque), OPTION_WORD(deque_words),
     .help = "atomic or locked (atomic)"},
    {"--record", "FILE", AT(bench.record), OPTION_TEXT,
     .help = "balance: take the tasks of this record (.ekr)"},
    {"--workers", "N", AT(bench.workers), OPTION_INTEGER(1, 1000000),
     .help =
         "balance: workers for the record; collections: workers per rank (1)"},
    {"--busy-ms", "N", AT(bench.busy_ms), OPTION_INTEGER(1, 100000),
     .help = "tiles, steal: length of the other's long task in ms (1000)"},
    {"--check", "FILE", AT(bench.check), OPTION_TEXT,
     .help = "machine: only read this file, and print it"},
    {"--like", "MACHINE", AT(bench.like), OPTION_WORD(eki_machine_presets),
     .help = "machine: preset for figures that cannot be measured (this)"},
    {"--rma", NULL, AT(bench.rma), OPTION_FLAG,
     .help = "machine: only one-sided operations between two ranks or more"},
    {"--json", NULL, AT(bench.json), OPTION_FLAG,
     .help = "one JSON object per case"},
};

/* Names of the cases, "a, b, c"; HAS_MOST: also of those that `all` means. */
static const char *list_cases(bool has_most, char text[WORDS_BYTES])
{
    text[0] = '\0';
    for (int i = 0; i < CASES; i++) {
        if (has_most || !cases[i].in_all)
            eki_append(text, WORDS_BYTES, "%s%s", text[0] != '\0' ? ", " : "",
                       cases[i].name);
    }
    return text;
}

static bool choose_case(const char *word, void *context,
                        struct message *message)
{
    struct arguments *arguments = context;
    char words[WORDS_BYTES];
    bool is_all = strcmp(word, "all") == 0, is_known = is_all;
    for (int i = 0; i < CASES; i++) {
        bool is_meant =
            is_all ? cases[i].in_all : strcmp(word, cases[i].name) == 0;
        arguments->is_chosen[i] |= is_meant;
        is_known |= is_meant;
    }
    return is_known || message_set(message, "'%s' is no case; allowed: %s, all",
                                   word, list_cases(true, words));
}

static void print_cases(FILE *stream)
{
    char words[WORDS_BYTES];
    for (int i = 0; i < CASES; i++)
        fprintf(stream, "  %-11s %s\n", cases[i].name, cases[i].help);
    fprintf(stream, "  %-11s all but %s\n\noptions\n", "all",
            list_cases(false, words));
}

static bool check_cases(void *context, struct message *message)
{
    struct arguments *arguments = context;
    char words[WORDS_BYTES];
    int chosen = 0, alone = 0;
    bool has_machine = false;
    arguments->bench.deque = arguments->deque;
    for (int i = 0; i < CASES; i++) {
        chosen += arguments->is_chosen[i];
        alone += arguments->is_chosen[i] && cases[i].is_alone;
        has_machine |= arguments->is_chosen[i] && cases[i].run == bench_machine;
    }
    arguments->has_summary = chosen == 0 && !arguments->bench.check;
    if (arguments->has_summary && arguments->bench.json)
        return message_set(message, "--json needs a case; allowed: %s, all",
                           list_cases(true, words));
    if (arguments->bench.check && !has_machine)
        return message_set(message, "--check needs machine");
    if (arguments->bench.rma && !has_machine)
        return message_set(message, "--rma needs machine");
    if (alone > 0 && chosen > 1)
        return message_set(message, "machine and doctor go alone");
    return true;
}

static const struct command_line line = {
    OPTION_ROWS(options),
    .operand = choose_case,
    .head = "What tasks, steals, iterations and rebalances cost on this "
            "machine.\n\n"
            "usage: ek-bench                         a summary, in ten "
            "seconds\n"
            "       ek-bench [options] CASE ...\n"
            "       ek-bench [options] machine >FILE\n"
            "       ek-bench doctor\n\n",
    .tail = "\nStarted alone it runs one process with up to two threads.  "
            "Cases\n"
            "with two processes, and two nodes, need two ranks:\n\n"
            "  mpirun --bind-to none -n 2 ek-bench all\n"
            "  mpirun --map-by node --bind-to none -n 2 ek-bench machine "
            ">FILE\n\n"
            "Each row shows minimum, median and maximum of the repetitions, "
            "the\n"
            "first two of its base, measured in turns, the ratio of the "
            "minima\n"
            "and the median of the ratios.\n" DOCUMENTS
            "/docs/reference/costs.md\nsays what each case means.\n" EXIT_WORDS,
    .list = print_cases,
    .check = check_cases};

static void remark(const struct arguments *arguments)
{
    const struct bench *bench = &arguments->bench;
    bool has_two = false;
    for (int i = 0; i < CASES; i++)
        has_two |= arguments->is_chosen[i] && cases[i].has_two;
    if (has_two && bench->cpus < 2)
        bench_note(bench, "rank 0 may use one CPU only: no cases with two "
                          "threads.  Start it with mpirun --bind-to none");
    if (has_two && bench->size < 2)
        bench_note(bench, "one rank: no cases with processes and nodes.  Start "
                          "it with mpirun --bind-to none -n 2 ek-bench ...");
}

static int run(void *context)
{
    struct arguments *arguments = context;
    struct bench *bench = &arguments->bench;
    struct eki_affinity affinity;
    MPI_Comm_rank(MPI_COMM_WORLD, &bench->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench->size);
    eki_affinity_look(&affinity);
    bench->cpus = affinity.cpus;
    if (bench->check)
        return bench_machine_check(bench) ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (bench->rma && bench->size < 2) {
        bench_note(bench, "--rma needs two ranks or more: mpirun --bind-to "
                          "none -n 2 ek-bench machine --rma");
        return EXIT_BAD_INPUT;
    }
    bench_timing_start();
    if (arguments->has_summary)
        bench_summary(bench);
    remark(arguments);
    for (int i = 0; i < CASES; i++) {
        if (!arguments->is_chosen[i])
            continue;
        cases[i].run(bench);
        bench_table_print(bench);
    }
    return EXIT_GOOD;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.bench = {.repetitions = 30,
                                            .tasks = 100000,
                                            .busy_ms = 1000,
                                            .like = "this"},
                                  .deque = "atomic"};
    return command_line_main(&line, argc, argv, &arguments, run);
}
