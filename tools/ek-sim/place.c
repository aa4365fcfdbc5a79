/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine, and the job on it: nodes, ranks, workers. */
#include "jitter.h"
#include "tiles.h"

#include "team/team.h"

#include <stdlib.h>
#include <string.h>

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
    return !arguments->jitter ||
           jitter_read(arguments->jitter, machine, message);
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
        "%lld cores of a node cannot be divided among %lld ranks%s; allowed: "
        "%s",
        (long long)machine->node_cores, (long long)machine->node_ranks,
        machine->has_server ? ", each of which needs a core for its server"
                            : "",
        allowed[0] != '\0' ? allowed : "more cores");
}

/* Whole nodes; a job smaller than a node is one. */
static bool choose_nodes(struct run *run, struct message *message)
{
    struct eki_machine *machine = &run->machine;
    int cores = run->cores;
    if (cores < machine->node_cores)
        machine->node_cores = cores;
    if (machine->node_cores % machine->node_ranks != 0 ||
        eki_machine_workers(machine) < 1)
        return refuse_ranks(machine, message);
    int rest = cores % (int)machine->node_cores;
    if (rest != 0)
        return message_set(message,
                           "--cores is %d; '%s' has nodes of %lld cores: the "
                           "next that fit are %d and %d",
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

/* Numbers separated by commas, of which there may be as many as that. */
static size_t most_numbers(const char *text)
{
    size_t count = 1;
    for (; text && (text = strchr(text, ',')) != NULL; text++)
        count++;
    return count;
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

/* Read the sizes of the jobs: whole numbers, separated by commas. */
static bool read_cores(const char *text, struct sweep *sweep,
                       struct message *message)
{
    const char *at = text;
    for (bool is_more = true; is_more; sweep->count++) {
        int bytes = (int)strcspn(at, ",");
        char *end;
        long cores = strtol(at, &end, 10);
        if (bytes == 0 || end != at + bytes || cores < 1 ||
            cores > EKI_ACTORS_MOST)
            return message_set(message,
                               "--cores has '%.*s'; allowed: integers from 1 "
                               "to %d, separated by commas",
                               bytes < 40 ? bytes : 40, at, EKI_ACTORS_MOST);
        sweep->runs[sweep->count].cores = (int)cores;
        is_more = *end == ',';
        at = end + 1;
    }
    return true;
}

/* A run for each size of data, with as many cores as the first of them. */
static bool read_scales(const struct arguments *arguments, struct sweep *sweep,
                        struct message *message)
{
    const char *text = arguments->bytes_scale;
    int jobs = sweep->count, scales = (int)most_numbers(text);
    struct list list = {"--bytes-scale", text, 1e-9, 1e9};
    double *values = allocate((size_t)scales, sizeof *values);
    *values = 1;
    bool is_good = !text || read_list(&list, values, scales, message);
    for (int i = 1; is_good && i < scales; i++)
        is_good =
            values[i] > values[i - 1] ||
            message_set(message,
                        "--bytes-scale is '%s'; allowed: ascending numbers",
                        text);
    for (int i = jobs * scales - 1; is_good && i >= 0; i--) {
        sweep->runs[i].cores = sweep->runs[i / scales].cores;
        sweep->runs[i].bytes_scale = values[i % scales];
    }
    sweep->count = jobs * scales;
    free(values);
    return is_good;
}

bool sweep_place(const struct arguments *arguments, struct sweep *sweep,
                 struct message *message)
{
    struct eki_machine machine;
    const char *cores = arguments->cores;
    if (!find_machine(arguments, &machine, message))
        return false;
    sweep->runs =
        allocate(most_numbers(cores) * most_numbers(arguments->bytes_scale),
                 sizeof *sweep->runs);
    if (!cores)
        sweep->runs[sweep->count++].cores = (int)machine.node_cores;
    else if (!read_cores(cores, sweep, message))
        return false;
    if (!read_scales(arguments, sweep, message))
        return false;
    for (int i = 0; i < sweep->count; i++) {
        sweep->runs[i].arguments = arguments;
        sweep->runs[i].machine = machine;
        if (!tiles_read(arguments->tiles, &sweep->runs[i].tiles, message) ||
            !place_ranks(&sweep->runs[i], message))
            return false;
    }
    return true;
}

void sweep_free(struct sweep *sweep)
{
    for (int i = 0; i < sweep->count; i++) {
        free(sweep->runs[i].rank_workers);
        free(sweep->runs[i].node_of_rank);
        free(sweep->runs[i].slowness);
    }
    free(sweep->runs);
}
