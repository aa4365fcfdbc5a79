/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must be the same on all ranks, options, functions and calls; who differs
 * in what; and the words for the error that ends a phase.
 *
 * Ranks compare hashes.  Only where hashes differ do they compare what was
 * hashed, piece by piece, so that agreeing costs one sum.
 */
#include "collection/collection.h"

/* How much of a text a message shows, and how much of that comes before the
 * first difference. */
enum {
    SHOWN = 100,
    SHOWN_BEFORE = 40
};

/* A part of an option (eki_option_part()), as rank 0 sends it. */
struct part {
    bool is_there;
    char text[EKI_OPTION_BYTES];
};

static struct part option_part_of(const struct eki_settings *settings,
                                  int option, int i)
{
    struct part part = {0};
    part.is_there =
        eki_option_part(option, settings, i, part.text, sizeof part.text);
    return part;
}

/* Append the part from its character FROM on. */
static void show_part(const struct part *part, size_t from, char *message,
                      size_t bytes)
{
    const char *text = part->text + from;
    if (!part->is_there)
        eki_append(message, bytes, "nothing");
    else
        eki_append(message, bytes, "'%s%.*s%s'", from > 0 ? "..." : "", SHOWN,
                   text, strlen(text) > SHOWN ? "..." : "");
}

/* Show both parts around the first character in which they differ. */
static ek_status difference(const struct part *first, const struct part *mine,
                            int rank, int option, int i)
{
    char message[512] = "";
    size_t same = 0;
    while (first->text[same] != '\0' && first->text[same] == mine->text[same])
        same++;
    size_t from = same > SHOWN_BEFORE ? same - SHOWN_BEFORE : 0;
    eki_append(message, sizeof message, "rank 0 has ");
    show_part(first, from, message, sizeof message);
    eki_append(message, sizeof message, ", rank %d has ", rank);
    show_part(mine, from, message, sizeof message);
    if (i > 0)
        eki_append(message, sizeof message, " as entry %d of the variable", i);
    return eki_error(EK_ERR_ARG, "option %s must be the same on all ranks: %s",
                     eki_option_at(option)->field.name, message);
}

/* Compare one option with rank 0, part by part; collective. */
static ek_status agree_option(struct eki_fabric *fabric,
                              const struct eki_settings *settings, int option)
{
    struct part first = {.is_there = true};
    for (int i = 0; first.is_there; i++) {
        struct part mine = option_part_of(settings, option, i);
        first = mine;
        EKI_TRY(eki_fabric_mpi_broadcast(fabric, &first, sizeof first, 0));
        ek_status status = EK_OK;
        if (first.is_there != mine.is_there ||
            strcmp(first.text, mine.text) != 0)
            status = difference(&first, &mine, fabric->rank, option, i);
        EKI_TRY(eki_fabric_mpi_agree(fabric, status));
    }
    return EK_OK;
}

uint64_t eki_options_hash(const struct eki_settings *settings)
{
    uint64_t hash = 1;
    for (int option = 0; option < eki_option_count(); option++) {
        struct part part = {.is_there =
                                eki_option_at(option)->traits & EKI_AGREES};
        for (int i = 0; part.is_there; i++) {
            part = option_part_of(settings, option, i);
            hash = eki_hash_text(hash, part.text);
        }
    }
    return hash;
}

ek_status eki_options_compare(struct eki_fabric *fabric,
                              const struct eki_settings *settings)
{
    for (int i = 0; i < eki_option_count(); i++) {
        if (eki_option_at(i)->traits & EKI_AGREES)
            EKI_TRY(agree_option(fabric, settings, i));
    }
    return EK_OK;
}

ek_status eki_collection_agree_on(const ek_collection *tasks, ek_status status,
                                  uint64_t value, const char *differ)
{
    bool is_same;
    EKI_TRY(eki_fabric_mpi_agree_on(tasks->fabric, status, value, &is_same));
    if (is_same)
        return EK_OK;
    if (tasks->fabric->rank == 0)
        status =
            eki_error(EK_ERR_ARG, "%s; allowed: the same on all ranks", differ);
    return eki_fabric_mpi_agree(tasks->fabric, status);
}

uint64_t eki_collection_signature(const ek_collection *tasks)
{
    /* Each is a hash by itself. */
    return eki_hash(tasks->agreed.functions ^ tasks->agreed.options ^
                        tasks->agreed.ranges ^ tasks->agreed.calls,
                    tasks->engine->phase ^
                        (uint64_t)eki_course_is_quiet(&tasks->restores.course)
                            << 63);
}

void eki_collection_note(ek_collection *tasks, enum eki_called call,
                         int64_t value)
{
    /* Values are small, or -1: both fit into a word. */
    tasks->agreed.calls =
        eki_hash(tasks->agreed.calls, (uint64_t)value ^ (uint64_t)call << 32);
    tasks->agreed.last_call = call;
    tasks->agreed.last_value = value;
}

void eki_collection_note_indices(ek_collection *tasks, ek_function function,
                                 int64_t n)
{
    tasks->engine->functions[function].indices = n;
    tasks->agreed.ranges = eki_hash(
        eki_hash(tasks->agreed.ranges, (uint64_t)function), (uint64_t)n);
}

void eki_collection_note_all_indices(ek_collection *tasks, int64_t n)
{
    for (int f = 0; f < tasks->engine->function_count; f++) {
        if (tasks->engine->functions[f].indices != 0)
            eki_collection_note_indices(tasks, f, n);
    }
}

/* Append what this rank called last. */
static void describe_call(const ek_collection *tasks, char *line)
{
    enum eki_called call = tasks->agreed.last_call;
    long long value = tasks->agreed.last_value;
    const char *policy = eki_option_choice_name("restore", (int)value);
    if (call == EKI_CALLED_PROCESS)
        eki_append(line, EKI_DESCRIBED_BYTES, "ek_process with%s a report",
                   value ? "" : "out");
    else if (call == EKI_CALLED_PULL)
        eki_append(line, EKI_DESCRIBED_BYTES, "ek_begin");
    else if (call == EKI_CALLED_NOTHING)
        eki_append(line, EKI_DESCRIBED_BYTES, "none");
    else if (policy)
        eki_append(line, EKI_DESCRIBED_BYTES, "ek_restore with policy %s",
                   policy);
    else
        eki_append(line, EKI_DESCRIBED_BYTES, "ek_restore with policy %lld",
                   value);
}

/* Line I of what, beside options, must be the same on all ranks; false: there
 * is no such line. */
static bool describe_line(const ek_collection *tasks, int i, char *line)
{
    const struct eki_engine *engine = tasks->engine;
    memset(line, 0, EKI_DESCRIBED_BYTES);
    if (i < engine->function_count) {
        eki_append(line, EKI_DESCRIBED_BYTES, "function %d is '%s'", i,
                   engine->functions[i].name);
        if (engine->functions[i].indices > 0)
            eki_append(line, EKI_DESCRIBED_BYTES, ", with %lld indices",
                       (long long)engine->functions[i].indices);
        eki_collection_describe_data(tasks, i, line);
    } else if (i == engine->function_count)
        snprintf(line, EKI_DESCRIBED_BYTES, "%d functions are registered", i);
    else {
        eki_append(line, EKI_DESCRIBED_BYTES, "the last call was ");
        describe_call(tasks, line);
    }
    return i <= engine->function_count + 1;
}

/* After a mismatch the ranks start anew: the calls so far count no more, and
 * the number of the next iteration is the largest that a rank had; collective.
 * A rank whose restore met the iteration of another is a call behind. */
static ek_status forget_calls(ek_collection *tasks, bool *has_same_ranges)
{
    bool is_restore = tasks->agreed.last_call == EKI_CALLED_RESTORE;
    double most[] = {(double)tasks->iteration, !is_restore};
    EKI_TRY(eki_fabric_mpi_max(tasks->fabric, most, 2));
    tasks->iteration = (int64_t)most[0];
    tasks->agreed.is_behind = is_restore && most[1] > 0;
    tasks->agreed.calls = 0;
    eki_course_choose(&tasks->restores.course, false, 0);
    return eki_fabric_mpi_agree_on(tasks->fabric, EK_OK, tasks->agreed.ranges,
                                   has_same_ranges);
}

/* Find the first line or option in which ranks differ; collective.  While the
 * lines are the same, so is their number. */
static ek_status explain_mismatch(ek_collection *tasks)
{
    struct eki_fabric *fabric = tasks->fabric;
    char mine[EKI_DESCRIBED_BYTES], first[EKI_DESCRIBED_BYTES];
    for (int i = 0; describe_line(tasks, i, mine); i++) {
        memcpy(first, mine, sizeof first);
        EKI_TRY(eki_fabric_mpi_broadcast(fabric, first, sizeof first, 0));
        ek_status status = EK_OK;
        if (strcmp(mine, first) != 0)
            status = eki_error(EK_ERR_ARG,
                               "ranks differ: on rank 0 %s, on rank %d %s; "
                               "allowed: the same functions, options and calls "
                               "in the same order on all ranks",
                               first, fabric->rank, mine);
        EKI_TRY(eki_fabric_mpi_agree(fabric, status));
    }
    EKI_TRY(eki_options_compare(fabric, &tasks->settings));
    ek_status status = EK_OK;
    if (fabric->rank == 0)
        status = eki_error(EK_ERR_ARG,
                           "ranks differ in the order of their calls; allowed: "
                           "the same calls in the same order on all ranks");
    return eki_fabric_mpi_agree(fabric, status);
}

static ek_status task_error(const ek_collection *tasks,
                            const struct eki_error *error)
{
    char text[sizeof error->text], index[32] = "";
    const struct eki_engine *engine = tasks->engine;
    const char *name =
        error->function >= 0 && error->function < engine->function_count
            ? engine->functions[error->function].name
            : "?";
    memcpy(text, error->text, sizeof text);
    /* What a task says of its failure is part of one line. */
    for (char *at = text; *at; at++) {
        if (eki_is_control(*at))
            *at = ' ';
    }
    if (error->index >= 0)
        snprintf(index, sizeof index, "index %lld, ", (long long)error->index);
    return eki_error(EK_ERR_TASK,
                     "%stask %s of function '%s' failed on "
                     "worker %d with code %d%s%s",
                     index, eki_key_words(engine->key_base, error->id).text,
                     name, error->worker, error->code, text[0] ? ": " : "",
                     text);
}

void eki_collection_excuse(const ek_collection *tasks, struct eki_error *error)
{
    int64_t sums[2] = {0, eki_engine_has_called_stop(tasks->engine)};
    if (!eki_error_is_abandoned(error))
        return;
    for (int here = 0; here < tasks->topology->workers_here; here++)
        sums[0] += tasks->engine->workers[here]->counts.cancelled;
    if (eki_fabric_mpi_sum(tasks->fabric, sums, 2) != EK_OK) {
        error->status = EK_ERR_MPI;
        snprintf(error->text, sizeof error->text, "%s", ek_error_message());
    } else if (sums[0] == 0 || sums[1] > 0) {
        error->status = EK_OK;
        error->code = sums[0] > 0 ? EKI_CANCELLED : 0;
    } else {
        eki_append(error->text, sizeof error->text,
                   " on rank %d before the end: %lld tasks were cancelled",
                   eki_topology_rank(tasks->topology, error->worker),
                   (long long)sums[0]);
    }
}

/* The words for an ERROR of which all ranks know. */
static ek_status word_error(const ek_collection *tasks,
                            const struct eki_error *error, const char *text)
{
    ek_status status = (ek_status)error->status;
    if (status == EK_ERR_TASK && eki_error_is_abandoned(error))
        return eki_error(status,
                         "%s; fetch until there is no task, or call ek_stop to "
                         "end early",
                         text);
    if (status == EK_ERR_TASK && error->function >= 0)
        return task_error(tasks, error);
    if (status == EK_ERR_NOMEM && error->worker >= 0)
        return eki_error(status, "%s on rank %d", text,
                         eki_topology_rank(tasks->topology, error->worker));
    return eki_error(status, "%s", text);
}

ek_status eki_collection_error(ek_collection *tasks,
                               const struct eki_error *error)
{
    struct eki_fabric *fabric = tasks->fabric;
    const char *text = error->text[0] ? error->text : "the phase has failed";
    if (error->status == EK_OK)
        return EK_OK;
    if (error->status == EK_ERR_MPI) {
        tasks->state = EKI_STATE_BROKEN;
        eki_line_deafen(&tasks->engine->line);
        return eki_error(EK_ERR_MPI, "%s", text);
    }
    if (error->status == EK_ERR_ARG && error->text[0] == '\0') {
        bool has_same_ranges;
        EKI_TRY(forget_calls(tasks, &has_same_ranges));
        ek_status status = explain_mismatch(tasks);
        if (!has_same_ranges) {
            eki_collection_note_all_indices(tasks, -1);
            tasks->agreed.ranges = 0;
        }
        return status;
    }
    ek_status status = word_error(tasks, error, text);
    /* The rank that it comes from says it before another returns. */
    if (error->worker < 0 ||
        eki_topology_rank(tasks->topology, error->worker) == fabric->rank)
        eki_error_say(fabric->rank, fabric->size);
    eki_error_take();
    /* The error of the phase is what counts. */
    (void)eki_fabric_mpi_barrier(fabric);
    return status;
}
