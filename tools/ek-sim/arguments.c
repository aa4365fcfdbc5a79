/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and help. */
#include "ek_sim.h"

#include "policies.h"

#include <limits.h>
#include <string.h>

#define AT(field) offsetof(struct arguments, field)

static const char *progress_words(void)
{
    return "server, polling";
}

static const char *mode_words(void)
{
    return "exact, sampled, auto";
}

static const struct option options[] = {
    {"--workload", "TREE", AT(shared.source.tree), OPTION_TEXT,
     .help = "tasks that spawn, a tree that unfolds as they run: "
             "uts:T1, nqueens:14,cutoff=6, bpc:n=64,depth=50, fib:30, "
             "skew:10000,44,3,1 or stress:10000,20,1"},
    {"--node-ns", "X", AT(node_ns), OPTION_NUMBER(0, 1e12),
     .help = "time of a node of uts (60), a placement of nqueens (5), a call "
             "of fib (1), an iteration of a leaf of skew or stress (1)"},
    {"--ahead-ns", "N", AT(ahead_ns), OPTION_INTEGER(0, EKI_SIM_AHEAD_MOST),
     .help = "simulate successive short tasks of a tree together, up to this "
             "time; 0: one by one (2000)"},
    {"--machine", "NAME", AT(machine), OPTION_TEXT,
     .help = "a preset or a machine file (this)"},
    {"--cores", "P,...", AT(cores), OPTION_TEXT,
     .help = "cores of the job; a list runs several jobs (one node)"},
    {"--node-cores", "N", AT(node_cores), OPTION_INTEGER(1, EKI_ACTORS_MOST),
     .help = "cores of a node (as the machine)"},
    {"--ranks-per-node", "R", AT(ranks_per_node), OPTION_INTEGER(1, 1024),
     .help = "ranks of a node (as the machine)"},
    {"--rank-workers", "N,...", AT(rank_workers), OPTION_TEXT,
     .help =
         "workers of the first rank, the second, ..., in turns (all that fit)"},
    {"--slowness", "X,...", AT(slowness), OPTION_TEXT,
     .help = "tasks take X times as long on the first node, the second, ..., "
             "in turns (1)"},
    {"--progress", "HOW", AT(progress), OPTION_WORD(progress_words),
     .help = "server or polling (as the machine)"},
    {"--order", "NAME", AT(order), OPTION_WORD(order_words),
     .help =
         "order of restored tasks: longest, executed or reversed (longest)"},
    {"--hints", "FILE", AT(hints), OPTION_TEXT,
     .help = "start from the durations of a record of the same tasks, as with "
             "EVENKEEL_HINTS"},
    {"--start", "PLACE", AT(start), OPTION_TEXT,
     .help = "where tasks start: record, block, dealt, uneven:N:M, or owner, "
             "with the tile that a task adds to (record if the workers fit, "
             "else block)"},
    {"--iterations", "N", AT(iterations), OPTION_INTEGER(1, 10000),
     .help = "iterations of each mode (5; with a tree 1)"},
    {"--seeds", "N", AT(seeds), OPTION_INTEGER(1, 10000),
     .help = "runs of each mode, with consecutive seeds from --seed on; prints "
             "means (1)"},
    {"--jitter", "P[:MS]", AT(jitter), OPTION_TEXT,
     .help = "each worker pauses P percent of the time, for MS on average (1); "
             "default: as the machine"},
    {"--nulls", "N", AT(nulls), OPTION_LONG(0, 1e12),
     .help = "null tasks: all modes run N in the first iteration, StealAll in "
             "each (those of the workload, in StealAll alone)"},
    {"--null-ns", "X", AT(null_ns), OPTION_NUMBER(0, 1e9),
     .help = "time of a null task (a round trip of the machine)"},
    {"--mode", "HOW", AT(mode), OPTION_WORD(mode_words),
     .help = "exact; sampled: failed steals are drawn; or auto (auto)"},
    {"--deque", "KIND", AT(deque), OPTION_WORD(deque_words),
     .help = "atomic or locked (atomic)"},
    {"--utilization", "FILE", AT(utilization), OPTION_TEXT,
     .help = "write the share of workers that run tasks over time, as CSV"},
    {"--loads", "FILE", AT(loads), OPTION_TEXT,
     .help = "write how many workers start with, and run, which load, as CSV"},
    {"--timeline", "DIR", AT(timeline), OPTION_TEXT,
     .help = "write what each worker does and when, a file per rank in that "
             "folder, as EVENKEEL_TIMELINE"},
    {"--termination", "HOW", AT(termination), OPTION_TEXT,
     .help = "how nodes find the end: counting, francez or acknowledged, or a "
             "schedule (counting)"},
    {"--backoff-ns", "N", AT(backoff_ns), OPTION_INTEGER(0, 1000000000),
     .help = "longest pause of a thief before it asks another node again; 0: "
             "none (as the library, up to 1 ms)"},
    {"--task-bytes", "B", AT(task_bytes), OPTION_LONG(0, 1000000000),
     .help = "data that travels with each task to another rank (0)"},
    {"--bytes-scale", "X,...", AT(bytes_scale), OPTION_TEXT,
     .help = "factors of the bytes of --bytes or the record, ascending; one "
             "job each (1)"},
    {"--data", "HOW", AT(data), OPTION_WORD(data_words),
     .help = "return: results go home, or follow: each restore moves data "
             "(return)"},
    {"--data-bytes", "B", AT(data_bytes), OPTION_LONG(0, 1000000000000),
     .help = "most data that a rank holds for others; 0: as the library (0)"},
    {"--pinned", "P", AT(pinned), OPTION_INTEGER(0, 100),
     .help = "percent of the tasks that stay on the rank where they start (0)"},
    {"--tiles", "SPEC", AT(tiles), OPTION_TEXT,
     .help = "tiles that each task gets and adds to, such as "
             "gets=2,accumulates=1,bytes=12800,tiles=N,block=1,cache=MB,"
             "overlap=no,pattern=random"},
    {"--buffer-slots", "N", AT(buffer_slots), OPTION_INTEGER(2, 4096),
     .help =
         "slots of each of a worker's two buffers (256, fewer in large jobs)"},
    {"--balance-group", "N", AT(balance_group), OPTION_INTEGER(0, 1000000),
     .help = "workers of a group; 0: 256 (0)"},
    {"--balance-ppm", "N", AT(balance_ppm), OPTION_INTEGER(0, 1000000),
     .help = "tolerance of a rebalance; 0: Evenkeel chooses (0)"},
    {"--hpdc12", "LIST", AT(hpdc12), OPTION_TEXT,
     .help = "of the algorithms of HPDC 2012: shed above c mean loads, fill "
             "below d on the way up, k children to a vertex, gather by node or "
             "core (c=1.003,d=1.003,k=3,gather=node)"},
    {"--dvs", "LIST", AT(dvs), OPTION_TEXT,
     .help = "of --steal dvs: layout diamond, line, grid, cube or allotted "
             "(columns, rows, cell of the source), source, escape "
             "(layout=diamond,source=-1,escape=0)"},
    {"--steal-batch", "N", AT(steal_batch), OPTION_INTEGER(0, 1048576),
     .help = "tasks that a thief of another node gets at most; 0: half of what "
             "is shown (0)"},
    {"--load-threshold", "N", AT(load_threshold), OPTION_INTEGER(0, 1048576),
     .help = "of --steal load, load:read, success, success:acyclic: nodes that "
             "show more tasks are asked (0)"},
    {"--lifeline", "LIST", AT(lifeline), OPTION_TEXT,
     .help = "of --steal lifeline: graph auto, hypercube (radix), xor, offsets "
             "or ring, attempts at random nodes before "
             "(graph=auto,radix=4,attempts=4)"},
    {"--sws", "LIST", AT(sws), OPTION_TEXT,
     .help = "of --steal sws: publications of which tasks may be on their way, "
             "attempts in vain after which a thief reads first "
             "(epochs=2,damping=1)"},
    {"--expected", "N", AT(iterations_expected), OPTION_INTEGER(0, 1000000000),
     .help = "iterations of the run, for auto; 0: as many as done (0)"},
};

/* Options that tell of tasks which are there before they run. */
static bool check_tree(const struct arguments *arguments,
                       struct message *message)
{
    const struct workload_source *source = &arguments->shared.source;
    const struct refused {
        const char *name;
        bool is_given;
    } refused[] = {{"--iteration", source->iterations},
                   {"--scale", source->scale != 1},
                   {"--bytes", source->bytes},
                   {"--drift", source->drift > 0},
                   {"--noise", source->noise > 0},
                   {"--change", source->change},
                   {"--start", arguments->start},
                   {"--hints", arguments->hints},
                   {"--nulls", arguments->nulls >= 0},
                   {"--pinned", arguments->pinned > 0},
                   {"--tiles", arguments->tiles},
                   {"--bytes-scale", arguments->bytes_scale}};
    if (!source->tree)
        return arguments->node_ns < 0 ||
               message_set(message, "--node-ns needs a tree: --workload");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (refused[i].is_given)
            return message_set(message,
                               "%s does not go with --workload, whose tasks "
                               "spawn as they run; --record and --synthetic "
                               "have tasks for it",
                               refused[i].name);
    }
    return true;
}

/* With null tasks all are ranges at first, without hints. */
static bool check_nulls(struct arguments *arguments, struct message *message)
{
    const char *start = arguments->start;
    if (arguments->nulls <= 0)
        return true;
    arguments->shared.source.has_nulls = true;
    if (arguments->pinned > 0 || arguments->hints)
        return message_set(message,
                           "%s does not go with --nulls, with "
                           "which all tasks begin as ranges",
                           arguments->hints ? "--hints" : "--pinned");
    return !start || strcmp(start, "block") == 0 ||
           strncmp(start, "uneven:", 7) == 0 ||
           message_set(message,
                       "--start is '%s'; allowed with --nulls, with which all "
                       "tasks begin as ranges: block, uneven:N:M",
                       start);
}

static bool check_all(void *context, struct message *message)
{
    struct arguments *arguments = context;
    struct eki_hpdc12_option constants;
    struct eki_dvs_option mesh;
    struct eki_lifeline_option lifeline;
    struct eki_sws_option sws;
    if (arguments->dvs && !eki_dvs_read(arguments->dvs, &mesh))
        return message_set(message, "--dvs is '%s'; allowed: %s",
                           arguments->dvs, EKI_DVS_ALLOWED);
    if (arguments->sws && !eki_sws_read(arguments->sws, &sws))
        return message_set(message, "--sws is '%s'; allowed: %s",
                           arguments->sws, EKI_SWS_ALLOWED);
    if (arguments->lifeline &&
        !eki_lifeline_read(arguments->lifeline, &lifeline))
        return message_set(message, "--lifeline is '%s'; allowed: %s",
                           arguments->lifeline, EKI_LIFELINE_ALLOWED);
    if (arguments->hpdc12 && !eki_hpdc12_read(arguments->hpdc12, &constants))
        return message_set(message, "--hpdc12 is '%s'; allowed: %s",
                           arguments->hpdc12, EKI_HPDC12_ALLOWED);
    if (!check_tree(arguments, message) || !check_nulls(arguments, message))
        return false;
    if (arguments->iterations == 0)
        arguments->iterations = arguments->shared.source.tree ? 1 : 5;
    if (arguments->seeds - 1 <= INT_MAX - arguments->shared.source.seed)
        return true;
    return message_set(
        message,
        "--seed is %d, --seeds is %d; the last seed must be at most %d",
        arguments->shared.source.seed, arguments->seeds, INT_MAX);
}

static void print_machines(FILE *stream)
{
    fprintf(stream,
            "\nMachines: %s.\n`this` has nodes with the cores of this machine, "
            "and costs measured on one machine;\n`ek-bench machine` "
            "writes a machine file for yours.\n\n",
            eki_machine_presets());
}

const struct command_line arguments_line = {
    OPTION_ROWS(options),
    .shared = &run_command_line,
    .head = "Predict a run on a machine with so many cores.\n\nThe library's "
            "own code schedules, steals and rebalances in virtual "
            "time.\n\nek-sim --record FILE | --synthetic SPEC [--machine "
            "NAME|FILE] [--cores P] ...\n\n",
    .tail = DOCUMENTS
    "/docs/how-to/predict-a-machine.md\nshows how to use it, and links the "
    "model and the columns.\n" EXIT_WORDS,
    .add = print_machines,
    .check = check_all};

const struct arguments arguments_default = {
    .shared = {.source = RUN_SOURCE_INIT, .may_unfold = true},
    .machine = "this",
    .mode = "auto",
    .seeds = 1,
    .backoff_ns = -1,
    .nulls = -1,
    .null_ns = -1,
    .node_ns = -1,
    .ahead_ns = 2000};
