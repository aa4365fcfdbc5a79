/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program tells its collection: functions and options. */
#include "collection/collection.h"

#include <evenkeel_save.h>

/* Names stand in lines and tables, which others read. */
static ek_status check_printable(const char *name)
{
    for (const char *at = name; *at; at++) {
        if (eki_is_control(*at))
            return eki_error(EK_ERR_ARG,
                             "ek_register: byte %td of the name is 0x%02x; "
                             "allowed: no control characters",
                             at - name, (unsigned char)*at);
    }
    return EK_OK;
}

static ek_status register_function(ek_collection *tasks, const char *name,
                                   ek_task_fn *fn, void *context,
                                   ek_function *function)
{
    if (!tasks || !name || !*name || !function)
        return eki_error(EK_ERR_ARG,
                         "ek_register: collection, name and function must not "
                         "be NULL or empty");
    if (strlen(name) >= EKI_NAME_BYTES)
        return eki_error(EK_ERR_ARG,
                         "ek_register: name '%s' is too long; allowed: 63 "
                         "characters",
                         name);
    EKI_TRY(check_printable(name));
    EKI_TRY(eki_collection_check_idle(tasks, "ek_register", ""));
    const struct eki_engine *engine = tasks->engine;
    for (int f = 0; f < engine->function_count; f++) {
        if (strcmp(engine->functions[f].name, name) == 0)
            return eki_error(EK_ERR_ARG,
                             "ek_register: '%s' is registered already", name);
    }
    if (engine->function_count == UINT16_MAX)
        return eki_error(EK_ERR_ARG,
                         "ek_register: too many functions; allowed: %d",
                         UINT16_MAX);
    EKI_TRY(eki_tool_wrap(tasks, &fn));
    EKI_TRY(eki_engine_register(tasks->engine, name, fn, context, function));
    tasks->agreed.functions = eki_hash_text(tasks->agreed.functions, name);
    return EK_OK;
}

ek_status ek_register(ek_collection *tasks, const char *name, ek_task_fn *fn,
                      void *context, ek_function *function)
{
    return eki_collection_outcome(
        tasks, register_function(tasks, name, fn, context, function));
}

/* Apply options of which somebody else than the settings has a copy. */
static ek_status apply_option(ek_collection *tasks, const char *option)
{
    if (strcmp(option, "poll_period_us") == 0)
        eki_team_set_poll_period(tasks->team);
    if (strcmp(option, "stall_ms") == 0 || strcmp(option, "status") == 0 ||
        strcmp(option, "on_stall") == 0) {
        eki_lookout_set(&tasks->lookout, &tasks->settings.options);
        tasks->engine->setup.stall_ns = tasks->lookout.look.stall_ns;
        eki_engine_watch(tasks->engine, tasks->settings.options.status != 0
                                            ? EKI_HEADWAY_NS
                                            : 0);
    }
    if (strcmp(option, "on_stop") == 0)
        eki_checkpoint_watch(tasks);
    if (strcmp(option, "steal") == 0)
        eki_collection_check_exported(tasks);
    eki_collection_note_steal(tasks);
    tasks->engine->setup.steal_batch = tasks->settings.options.steal_batch;
    tasks->engine->setup.load_threshold =
        tasks->settings.options.load_threshold;
    if (strcmp(option, "dvs") == 0 || strcmp(option, "lifeline") == 0)
        eki_collection_tell_lists(&tasks->settings.options,
                                  &tasks->engine->setup);
    if (strcmp(option, "checkpoint") == 0)
        eki_checkpoint_set(tasks);
    if (strcmp(option, "report") == 0)
        return eki_report_open(tasks->report, tasks->settings.report);
    return EK_OK;
}

/* The lists of the environment hold beside what the program says. */
static void say_overruled(const ek_collection *tasks, const char *option)
{
    static _Atomic bool is_told;
    const struct eki_settings *settings = &tasks->settings;
    const struct list {
        const char *option, *variable;
        int count;
    } lists[] = {
        {"restore", "EVENKEEL_RESTORE", settings->restore.count},
        {"steal", "EVENKEEL_STEAL", settings->steal.count},
        {"termination", "EVENKEEL_TERMINATION", settings->termination.count},
        {NULL, NULL, 0}};
    const struct list *list = lists;
    while (list->option && strcmp(list->option, option) != 0)
        list++;
    if (list->count == 0)
        return;
    if (tasks->fabric->rank == 0 && eki_is_untold(&is_told))
        eki_log(EK_LEVEL_INFO, tasks->fabric->rank, tasks->fabric->size,
                "collection",
                "ek_set_option: option %s of '%s' counts only in iterations "
                "that %s does not name",
                option, settings->name, list->variable);
}

static ek_status set_option(ek_collection *tasks, const char *option,
                            const char *value)
{
    if (!tasks || !option || !value)
        return eki_error(
            EK_ERR_ARG,
            "ek_set_option: collection, option and value must not be "
            "NULL");
    EKI_TRY(eki_collection_check_idle(tasks, "ek_set_option", ""));
    EKI_TRY(eki_settings_set(&tasks->settings, option, value));
    tasks->agreed.options = eki_options_hash(&tasks->settings);
    say_overruled(tasks, option);
    return apply_option(tasks, option);
}

ek_status ek_set_option(ek_collection *tasks, const char *option,
                        const char *value)
{
    return eki_collection_outcome(tasks, set_option(tasks, option, value));
}

static ek_status stop_at(ek_collection *tasks, double seconds)
{
    if (!tasks || !(seconds <= 1e9))
        return eki_error(EK_ERR_ARG,
                         "ek_stop_at: %g s; allowed: at most 1e9, and a "
                         "collection",
                         seconds);
    EKI_TRY(eki_collection_check_idle(tasks, "ek_stop_at", ""));
    /* 0 would be never. */
    eki_lookout_stop_at(&tasks->lookout,
                        seconds < 0 ? 0 : (uint64_t)(seconds * 1e9) + 1);
    tasks->restores.may_be_asked = true;
    return EK_OK;
}

ek_status ek_stop_at(ek_collection *tasks, double seconds)
{
    return eki_collection_outcome(tasks, stop_at(tasks, seconds));
}

int ek_job_workers(const ek_collection *tasks)
{
    return tasks->topology->workers;
}

int ek_rank_workers(const ek_collection *tasks)
{
    return tasks->topology->workers_here;
}

void *ek_rank_worker_data(const ek_collection *tasks, int here)
{
    if (here < 0 || here >= tasks->topology->workers_here)
        return NULL;
    return tasks->engine->workers[here]->local.data;
}
