/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must be the same on all ranks, options, functions and calls; who differs
 * in what; and the words for the error that ends a phase.
 *
 * Ranks compare hashes.  Only where hashes differ do they compare what was
 * hashed, piece by piece, so that agreeing costs one broadcast and one sum.
 */
#include "collection/collection.h"

/* Names of the calls, as they stand before the value in a message. */
static const char *const call_names[EKI_CALLS] = {
    [EKI_CALL_NONE] = "none",
    [EKI_CALL_PROCESS] = "ek_process, with a report:",
    [EKI_CALL_BEGIN] = "ek_begin",
    [EKI_CALL_RESTORE] = "ek_restore with policy"};

enum {
    TEXT_BYTES = 1200
};

/* Compare one option with rank 0; collective. */
static ek_status agree_option(ek_collection *tasks, int option)
{
    struct eki_fabric *fabric = tasks->fabric;
    char mine[TEXT_BYTES] = "", first[TEXT_BYTES];
    eki_option_text(option, &tasks->settings, mine, sizeof mine);
    memcpy(first, mine, sizeof first);
    EKI_TRY(eki_fabric_mpi_broadcast(fabric, first, sizeof first, 0));
    ek_status status = EK_OK;
    if (strcmp(mine, first) != 0)
        status =
            eki_error(EK_ERR_ARG,
                      "option %s must be the same on all ranks: rank 0 has "
                      "'%.200s', rank %d has '%.200s'",
                      eki_option_name(option), first, fabric->rank, mine);
    return eki_fabric_mpi_agree(fabric, status);
}

uint64_t eki_collection_hash_options(const struct eki_settings *settings)
{
    uint64_t hash = 1;
    char text[TEXT_BYTES];
    for (int i = 0; i < eki_option_count(); i++) {
        if (!eki_option_agrees(i))
            continue;
        eki_option_text(i, settings, text, sizeof text);
        hash = eki_hash_text(hash, text);
    }
    return hash;
}

ek_status eki_collection_agree(ek_collection *tasks)
{
    int64_t differ;
    uint64_t mine = eki_collection_hash_options(&tasks->settings), first = mine;
    tasks->options = mine;
    EKI_TRY(eki_fabric_mpi_broadcast(tasks->fabric, &first, sizeof first, 0));
    differ = mine != first;
    EKI_TRY(eki_fabric_mpi_sum(tasks->fabric, &differ, 1));
    for (int i = 0; differ && i < eki_option_count(); i++) {
        if (eki_option_agrees(i))
            EKI_TRY(agree_option(tasks, i));
    }
    return EK_OK;
}

uint64_t eki_collection_signature(const ek_collection *tasks)
{
    uint64_t things = eki_hash(tasks->functions, tasks->options);
    return eki_hash(eki_hash(tasks->history, things), tasks->engine->phase);
}

void eki_collection_note(ek_collection *tasks, enum eki_call call,
                         int64_t value)
{
    tasks->history = eki_hash(eki_hash(tasks->history, call), (uint64_t)value);
    tasks->last_call = call;
    tasks->last_value = value;
}

enum {
    LINE_BYTES = 160
};

/* Line I of what must be the same on all ranks; false: no such line. */
static bool describe(const ek_collection *tasks, int i, char *line)
{
    const struct eki_engine *engine = tasks->engine;
    char value[LINE_BYTES];
    memset(line, 0, LINE_BYTES);
    if (i < engine->function_count) {
        snprintf(line, LINE_BYTES, "function %d is '%s'", i,
                 engine->functions[i].name);
        return true;
    }
    i -= engine->function_count;
    if (i == 0)
        snprintf(line, LINE_BYTES, "%d functions are registered",
                 engine->function_count);
    else if (i == 1 && tasks->last_value >= 0)
        snprintf(line, LINE_BYTES, "the last call was %s %lld",
                 call_names[tasks->last_call], (long long)tasks->last_value);
    else if (i == 1)
        snprintf(line, LINE_BYTES, "the last call was %s",
                 call_names[tasks->last_call]);
    else if (i - 2 < eki_option_count() && eki_option_agrees(i - 2)) {
        eki_option_text(i - 2, &tasks->settings, value, sizeof value);
        snprintf(line, LINE_BYTES, "option %s is '%.100s'",
                 eki_option_name(i - 2), value);
    }
    return i - 2 < eki_option_count();
}

/* The calls so far count no more, on all ranks. */
static ek_status forget_calls(ek_collection *tasks)
{
    double iteration = (double)tasks->iteration;
    EKI_TRY(eki_fabric_mpi_max(tasks->fabric, &iteration, 1));
    tasks->iteration = (int64_t)iteration;
    tasks->history = 0;
    return EK_OK;
}

/* Find the first line in which ranks differ; collective. */
static ek_status explain_mismatch(ek_collection *tasks)
{
    struct eki_fabric *fabric = tasks->fabric;
    char mine[LINE_BYTES], first[LINE_BYTES];
    for (int i = 0;; i++) {
        int64_t more = describe(tasks, i, mine);
        memcpy(first, mine, sizeof first);
        EKI_TRY(eki_fabric_mpi_broadcast(fabric, first, sizeof first, 0));
        ek_status status = EK_OK;
        if (memcmp(mine, first, sizeof mine) != 0)
            status = eki_error(EK_ERR_ARG,
                               "ranks differ: on rank 0 %s, on rank %d %s; "
                               "allowed: the same functions, options and calls "
                               "in the same order on all ranks",
                               first, fabric->rank, mine);
        EKI_TRY(eki_fabric_mpi_agree(fabric, status));
        EKI_TRY(eki_fabric_mpi_sum(fabric, &more, 1));
        if (more == 0)
            break;
    }
    return eki_error(EK_ERR_ARG,
                     "ranks differ in the order of their calls; allowed: the "
                     "same calls in the same order on all ranks");
}

static ek_status task_error(const ek_collection *tasks,
                            const struct eki_error *error)
{
    const struct eki_engine *engine = tasks->engine;
    const char *name =
        error->function >= 0 && error->function < engine->function_count
            ? engine->functions[error->function].name
            : "?";
    return eki_error(EK_ERR_TASK,
                     "task %llu (home worker %d) of function '%s' failed on "
                     "worker %d with code %d%s%s",
                     (unsigned long long)(error->id & (EKI_NUMBERS - 1)),
                     eki_id_home(error->id), name, error->worker, error->code,
                     error->text[0] ? ": " : "", error->text);
}

ek_status eki_collection_error(ek_collection *tasks,
                               const struct eki_error *error)
{
    switch (error->status) {
    case EK_OK:
        return EK_OK;
    case EK_ERR_TASK:
        return task_error(tasks, error);
    case EK_ERR_MPI:
        tasks->state = EKI_STATE_BROKEN;
        break;
    case EK_ERR_ARG:
        if (error->text[0] == '\0') {
            EKI_TRY(forget_calls(tasks));
            return explain_mismatch(tasks);
        }
        break;
    default:
        break;
    }
    return eki_error((ek_status)error->status, "%s",
                     error->text[0] ? error->text : "the phase has failed");
}
