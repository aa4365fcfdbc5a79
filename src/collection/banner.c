/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a collection is going to run, told by rank 0 to whoever asks: at the
 * first in full, at the others in short; and at its end what had no effect.
 *
 * Owns the mark that this process has told of the first.
 */
#include "collection/collection.h"

#define TEXT_BYTES 2048

/* Told for every collection, other options only where they are not the default.
 */
static const char *const always[] = {"restore", "steal", "order", "deque",
                                     "progress"};

static bool is_always(const char *option)
{
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        if (strcmp(option, always[i]) == 0)
            return true;
    }
    return false;
}

/* A line goes to the sink, or to ABOUT. */
static void say_line(const ek_collection *tasks, const char *text,
                     struct eki_about *about)
{
    if (about)
        eki_append(about->text, sizeof about->text, "%s\n", text);
    else
        eki_log_lines(EK_LEVEL_INFO, tasks->fabric->rank, tasks->fabric->size,
                      "start", text);
}

static void append_job(const ek_collection *tasks, char *text, size_t bytes)
{
    const struct eki_topology *topology = tasks->topology;
    int least = topology->workers, most = 0;
    for (int r = 0; r < topology->size; r++) {
        int workers = topology->first_worker[r + 1] - topology->first_worker[r];
        least = workers < least ? workers : least;
        most = workers > most ? workers : most;
    }
    eki_append(text, bytes, "%d rank%s on %d node%s, %d worker%s, %d",
               topology->size, topology->size == 1 ? "" : "s", topology->nodes,
               topology->nodes == 1 ? "" : "s", topology->workers,
               topology->workers == 1 ? "" : "s", least);
    if (most > least)
        eki_append(text, bytes, " to %d", most);
    eki_append(text, bytes, " per rank");
}

static void say_job(const ek_collection *tasks, struct eki_about *about)
{
    static const char *const levels[] = {"SINGLE", "FUNNELED", "SERIALIZED",
                                         "MULTIPLE"};
    char text[TEXT_BYTES] = "";
    eki_append(text, sizeof text, "Evenkeel %s: ", ek_version());
    append_job(tasks, text, sizeof text);
    say_line(tasks, text, about);
    text[0] = '\0';
    eki_mpi_library(text, sizeof text);
    eki_append(text, sizeof text, " with MPI_THREAD_%s; ",
               levels[eki_mpi_thread_level()]);
    eki_team_explain(tasks->team, text, sizeof text);
    say_line(tasks, text, about);
    snprintf(text, sizeof text, "cores: ");
    eki_affinity_explain(&tasks->affinity, text, sizeof text);
    say_line(tasks, text, about);
}

/* What a policy does that cannot do what it is named for. */
static void append_instead(const ek_collection *tasks, const char *option,
                           char *text, size_t bytes)
{
    if (strcmp(option, "steal") != 0 || !eki_collection_lacks_exported(tasks))
        return;
    text[strlen(text) - 1] = '\0'; /* the parenthesis about its origin */
    eki_append(text, bytes, "; sws and sdc act as random)");
}

/* Policies, then what is set or chosen. */
static void say_options(const ek_collection *tasks, struct eki_about *about)
{
    const struct eki_settings *settings = &tasks->settings;
    char text[TEXT_BYTES] = "", set[TEXT_BYTES] = "", one[TEXT_BYTES];
    eki_append(text, sizeof text, "collection '%s': ", settings->name);
    for (int i = 0; i < eki_option_count(); i++) {
        const char *name = eki_option_at(i)->field.name;
        one[0] = '\0';
        bool is_set = eki_option_explain(i, settings, one, sizeof one);
        append_instead(tasks, name, one, sizeof one);
        if (tasks->has_chosen && strcmp(name, "workers") == 0)
            eki_append(set, sizeof set, "workers=%lld (automatic), ",
                       (long long)settings->options.workers);
        else if (is_always(name))
            eki_append(text, sizeof text, "%s, ", one);
        else if (is_set && strcmp(name, "name") != 0)
            eki_append(set, sizeof set, "%s, ", one);
    }
    eki_append(text, sizeof text, "%s", set);
    text[strlen(text) - 2] = '\0';
    say_line(tasks, text, about);
}

void eki_collection_about(const ek_collection *tasks, struct eki_about *about)
{
    about->text[0] = '\0';
    if (tasks->fabric->rank != 0)
        return;
    say_job(tasks, about);
    say_options(tasks, about);
}

void eki_collection_say_start(const ek_collection *tasks)
{
    static _Atomic bool has_told;
    if (tasks->fabric->rank != 0 || !eki_log_is_told())
        return;
    if (eki_is_untold(&has_told))
        say_job(tasks, NULL);
    say_options(tasks, NULL);
}

/* Whether a steal policy heeds OPTION in this job; true of other options. */
static bool heeds(const ek_collection *tasks, ek_steal_policy policy,
                  const char *option)
{
    policy = eki_scheme_instead(tasks->engine, policy);
    const struct eki_scheme *scheme = eki_scheme_of(policy);
    bool goes_out = !tasks->engine->alone;
    if (strcmp(option, "dvs") == 0)
        return policy == EK_STEAL_DVS;
    if (strcmp(option, "lifeline") == 0)
        return goes_out && policy == EK_STEAL_LIFELINE;
    if (strcmp(option, "load_threshold") == 0)
        return goes_out && scheme->seeker && policy != EK_STEAL_LIFELINE;
    if (strcmp(option, "steal_batch") == 0)
        return goes_out && scheme->elsewhere && policy != EK_STEAL_COUNTER &&
               !eki_scheme_is_one_sided(policy);
    if (strcmp(option, "sws") == 0)
        return goes_out && policy == EK_STEAL_SWS;
    return true;
}

void eki_collection_note_steal(ek_collection *tasks)
{
    int policy = eki_unchunked(tasks->settings.options.steal);
    tasks->settings.steals |= UINT64_C(1) << policy;
}

static bool is_heeded(const ek_collection *tasks, const char *option)
{
    const struct eki_schedule *schedule = &tasks->settings.steal;
    uint64_t steals = tasks->settings.steals;
    for (int i = 0; i < schedule->count; i++)
        steals |= UINT64_C(1) << eki_unchunked(schedule->entries[i].value);
    for (int policy = 0; steals >> policy != 0; policy++) {
        if ((steals >> policy & 1) &&
            heeds(tasks, (ek_steal_policy)policy, option))
            return true;
    }
    return false;
}

void eki_collection_say_unheeded(const ek_collection *tasks)
{
    char one[TEXT_BYTES];
    if (tasks->fabric->rank != 0 || !eki_log_is_told())
        return;
    for (int i = 0; i < eki_option_count(); i++) {
        const char *option = eki_option_at(i)->field.name;
        one[0] = '\0';
        if (is_heeded(tasks, option) ||
            !eki_option_explain(i, &tasks->settings, one, sizeof one))
            continue;
        eki_log(EK_LEVEL_INFO, tasks->fabric->rank, tasks->fabric->size,
                "collection",
                "collection '%s': %s had no effect: none of its steal policies "
                "heeds it on %d node%s",
                tasks->settings.name, one, tasks->topology->nodes,
                tasks->topology->nodes == 1 ? "" : "s");
    }
}
