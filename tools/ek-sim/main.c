/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine, the ranks on it, and the modes to run. */
#include "ek_sim.h"

#include "policies.h"
#include "team/team.h"

#include <stdlib.h>
#include <string.h>

const char program_name[] = "ek-sim";

/* Above, failed steals are drawn unless --mode says otherwise. */
#define EXACT_CORES_MOST 20000

static int cores_at_hand(void)
{
    struct eki_affinity affinity;
    eki_affinity_look(&affinity);
    return affinity.cpus;
}

static bool find_machine(const struct arguments *arguments,
                         struct eki_machine *machine, struct message *message)
{
    const char *name = arguments->machine;
    if (!eki_machine_preset(name, machine)) {
        if (!strpbrk(name, "/."))
            return message_set(message,
                               "--machine is '%s'; allowed: %s, or a file "
                               "with a dot or a slash in its name",
                               name, eki_machine_presets());
        eki_machine_preset("this", machine);
        if (eki_machine_read(name, machine) != EK_OK)
            return message_set(message, "%s", ek_error_message());
    }
    if (strcmp(name, "this") == 0)
        machine->node_cores = cores_at_hand();
    if (arguments->node_cores > 0)
        machine->node_cores = arguments->node_cores;
    if (arguments->ranks_per_node > 0)
        machine->node_ranks = arguments->ranks_per_node;
    if (arguments->progress)
        machine->has_server = strcmp(arguments->progress, "server") == 0;
    return true;
}

/* Say how many ranks a node may have. */
static bool refuse_ranks(const struct eki_machine *machine,
                         struct message *message)
{
    struct eki_machine other = *machine;
    char allowed[256] = "";
    for (other.node_ranks = 1; other.node_ranks <= other.node_cores;
         other.node_ranks++) {
        if (other.node_cores % other.node_ranks == 0 &&
            eki_machine_workers(&other) >= 1)
            eki_append(allowed, sizeof allowed, "%s%lld",
                       allowed[0] != '\0' ? ", " : "",
                       (long long)other.node_ranks);
    }
    return message_set(
        message,
        "%lld cores of a node are to be divided among %lld "
        "ranks%s; allowed: %s",
        (long long)machine->node_cores, (long long)machine->node_ranks,
        machine->has_server ? ", a core of each its server's" : "",
        allowed[0] != '\0' ? allowed : "more cores");
}

/* Whole nodes; a job smaller than a node is one. */
static bool choose_nodes(struct run *run, struct message *message)
{
    struct eki_machine *machine = &run->machine;
    int cores = run->arguments->cores;
    if (cores == 0)
        cores = (int)machine->node_cores;
    if (cores < machine->node_cores)
        machine->node_cores = cores;
    if (machine->node_cores % machine->node_ranks != 0 ||
        eki_machine_workers(machine) < 1)
        return refuse_ranks(machine, message);
    int rest = cores % (int)machine->node_cores;
    if (rest != 0)
        return message_set(message,
                           "--cores is %d; '%s' has nodes of %lld: the next "
                           "that fit are %d and %d",
                           cores, machine->name, (long long)machine->node_cores,
                           cores - rest,
                           cores - rest + (int)machine->node_cores);
    run->nodes = cores / (int)machine->node_cores;
    run->ranks = run->nodes * (int)machine->node_ranks;
    run->workers = run->ranks * eki_machine_workers(machine);
    if (run->workers + run->ranks >= EKI_ACTORS_MOST)
        return message_set(message,
                           "%d workers on %d ranks; allowed: together %d",
                           run->workers, run->ranks, EKI_ACTORS_MOST - 1);
    return true;
}

/* Numbers separated by commas. */
struct list {
    const char *option, *text;
    double least, most;
};

/* Fill VALUES [count] from a list, in turns. */
static bool read_list(const struct list *list, double *values, int count,
                      struct message *message)
{
    const char *at = list->text;
    int read = 0;
    for (bool is_more = true; is_more && read < count; read++) {
        char *end;
        values[read] = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0') ||
            !(values[read] >= list->least && values[read] <= list->most))
            return message_set(message,
                               "%s is '%s'; allowed: numbers from %g to %g, "
                               "separated by commas",
                               list->option, list->text, list->least,
                               list->most);
        is_more = *end == ',';
        at = end + 1;
    }
    for (int i = read; i < count; i++)
        values[i] = values[i - read];
    return true;
}

/* Workers of each rank, and how slow their nodes are. */
static bool place_workers(struct run *run, struct message *message)
{
    const struct arguments *arguments = run->arguments;
    int most = eki_machine_workers(&run->machine);
    struct list list = {"--rank-workers", arguments->rank_workers, 1, most};
    double *values = allocate((size_t)run->ranks, sizeof *values);
    for (int r = 0; r < run->ranks; r++)
        values[r] = most;
    bool is_good = !list.text || read_list(&list, values, run->ranks, message);
    run->workers = 0;
    for (int r = 0; r < run->ranks; r++) {
        run->rank_workers[r] = (int)values[r];
        run->workers += run->rank_workers[r];
    }
    free(values);
    for (int node = 0; node < run->nodes; node++)
        run->slowness[node] = 1;
    list = (struct list){"--slowness", arguments->slowness, 0.01, 100};
    is_good = is_good && (!list.text ||
                          read_list(&list, run->slowness, run->nodes, message));
    for (int r = 0; is_good && r < run->ranks; r++)
        run->speed +=
            run->rank_workers[r] / run->slowness[run->node_of_rank[r]];
    return is_good;
}

static bool place_ranks(struct run *run, struct message *message)
{
    const struct eki_machine *machine = &run->machine;
    const char *mode = run->arguments->mode;
    if (!choose_nodes(run, message))
        return false;
    run->rank_workers = allocate((size_t)run->ranks, sizeof(int));
    run->node_of_rank = allocate((size_t)run->ranks, sizeof(int));
    run->slowness = allocate((size_t)run->nodes, sizeof(double));
    for (int r = 0; r < run->ranks; r++)
        run->node_of_rank[r] = r / (int)machine->node_ranks;
    if (!place_workers(run, message))
        return false;
    run->is_sampled = strcmp(mode, "sampled") == 0 ||
                      (strcmp(mode, "auto") == 0 &&
                       run->nodes * machine->node_cores > EXACT_CORES_MOST);
    return true;
}

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

struct dealt {
    float s;
    int64_t k;
};

static int longer_first(const void *a, const void *b)
{
    const struct dealt *x = a, *y = b;
    if (x->s != y->s)
        return x->s > y->s ? -1 : 1;
    return x->k < y->k ? -1 : 1;
}

/* Longest first, dealt in rounds; every EVERY-th worker gets MORE each time. */
static void deal_unevenly(struct run *run, int every, int more)
{
    struct workload *workload = run->workload;
    size_t count = (size_t)workload->count;
    struct dealt *dealt = allocate(count, sizeof *dealt);
    for (int64_t k = 0; k < workload->count; k++)
        dealt[k] = (struct dealt){workload->base_s[k], k};
    qsort(dealt, count, sizeof *dealt, longer_first);
    free(workload->ran_on);
    workload->ran_on = allocate(count, sizeof *workload->ran_on);
    int64_t i = 0;
    for (int w = 0; i < workload->count; w = (w + 1) % run->workers) {
        int64_t end = i + (w % every == 0 ? more : 1);
        for (; i < end && i < workload->count; i++)
            workload->ran_on[dealt[i].k] = w;
    }
    free(dealt);
}

static bool choose_start(struct run *run, struct message *message)
{
    const char *start = run->arguments->start;
    struct workload *workload = run->workload;
    int every, more, end = 0;
    if (!start)
        start = workload->workers == run->workers ? "record" : "block";
    run->start = strcmp(start, "record") == 0  ? START_RECORD
                 : strcmp(start, "dealt") == 0 ? START_DEALT
                                               : START_BLOCK;
    if (sscanf(start, "uneven:%9d:%9d%n", &every, &more, &end) == 2 &&
        start[end] == '\0' && every > 0 && more > 0) {
        run->start = START_RECORD;
        deal_unevenly(run, every, more);
        return true;
    }
    if (run->start == START_BLOCK && strcmp(start, "block") != 0)
        return message_set(message,
                           "--start is '%s'; allowed: record, block, dealt, "
                           "uneven:N:M (N, M: 1 ... 999999999)",
                           start);
    if (run->start == START_RECORD && workload->workers == 0)
        return message_set(message, "--start is 'record', but there is none; "
                                    "allowed: block, dealt, uneven:N:M");
    /* Large jobs need the memory. */
    if (run->start != START_RECORD) {
        free(workload->ran_on);
        workload->ran_on = NULL;
    }
    return true;
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

static int run_arguments(const struct arguments *arguments,
                         struct message *message)
{
    struct workload workload = {0};
    struct run run = {.arguments = arguments, .workload = &workload};
    int exit_status = EXIT_BAD_INPUT;
    if (find_machine(arguments, &run.machine, message) &&
        place_ranks(&run, message) &&
        workload_make(&arguments->shared.source, &workload, message) &&
        choose_start(&run, message)) {
        run.buffer_slots = choose_slots(&run);
        exit_status = run_chosen(&run, message);
    }
    workload_free(&workload);
    free(run.rank_workers);
    free(run.node_of_rank);
    free(run.slowness);
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
