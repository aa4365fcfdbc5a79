/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings of a collection: defaults, then the program, then the environment,
 * which wins.
 */
#include "base/options.h"

#include <evenkeel_bind.h>

#include <string.h>

enum {
    VALUE_BYTES = 201, /* more of a value is not shown */
    DIGITS = 15        /* of a real: as many as are read */
};

/* How much larger than ours a newer program's struct may be. */
#define STRUCT_GROWTH_MAX 4096

static const struct eki_choice level_choices[] = {{"none", EK_LEVEL_NONE},
                                                  {"error", EK_LEVEL_ERROR},
                                                  {"warn", EK_LEVEL_WARN},
                                                  {"info", EK_LEVEL_INFO},
                                                  {"debug", EK_LEVEL_DEBUG},
                                                  {"trace", EK_LEVEL_TRACE},
                                                  {NULL, 0}};

/* What every version of ek_options has. */
#define OPTIONS_LEAST offsetof(ek_options, payload_bytes)

bool eki_struct_copy(const void *from, size_t bytes, size_t fewest, void *to,
                     size_t to_bytes)
{
    if (bytes < fewest || bytes > to_bytes + STRUCT_GROWTH_MAX)
        return false;
    /* An older program's struct is shorter: the rest keeps its default. */
    memcpy(to, from, bytes < to_bytes ? bytes : to_bytes);
    memcpy(to, &to_bytes, sizeof to_bytes);
    return true;
}

static ek_status struct_refuse(size_t bytes)
{
    return eki_error(EK_ERR_ARG,
                     "option struct_bytes: %zu is not allowed; initialize the "
                     "options with EK_OPTIONS_INIT or ek_options_init()",
                     bytes);
}

/* Where ek_options has the value of the option. */
static void *given_at(const struct eki_option *option, const ek_options *given)
{
    return (char *)given + option->given;
}

static void *member_at(const struct eki_option *option,
                       const struct eki_options *options)
{
    return (char *)options + option->field.offset;
}

static ek_status hooks_copy(const ek_worker_hooks *given,
                            ek_worker_hooks *hooks)
{
    if (given == NULL ||
        eki_struct_copy(given, given->struct_bytes, sizeof given->struct_bytes,
                        hooks, sizeof *hooks))
        return EK_OK;
    return eki_error(EK_ERR_ARG,
                     "option hooks: struct_bytes %zu is not allowed; "
                     "initialize the hooks with EK_WORKER_HOOKS_INIT",
                     given->struct_bytes);
}

static ek_status options_copy(const ek_options *given,
                              struct eki_options *options)
{
    ek_options own = EK_OPTIONS_INIT;
    if (given != NULL && !eki_struct_copy(given, given->struct_bytes,
                                          OPTIONS_LEAST, &own, sizeof own))
        return struct_refuse(given->struct_bytes);
    for (int i = 0; i < eki_option_count(); i++) {
        const struct eki_option *option = eki_option_at(i);
        memcpy(member_at(option, options), given_at(option, &own),
               eki_field_bytes(&option->field));
    }
    return hooks_copy(own.hooks, &options->hooks);
}

/* A zero means the default. */
static void default_take(const struct eki_option *option,
                         struct eki_options *options)
{
    static const char zeros[sizeof(int64_t)];
    size_t bytes = eki_field_bytes(&option->field);
    void *member = member_at(option, options);
    if (memcmp(member, zeros, bytes) == 0)
        memcpy(member, member_at(option, &eki_option_defaults), bytes);
}

/* What a public call returns: a failure is said. */
static ek_status outcome_said(ek_status status)
{
    if (status != EK_OK)
        eki_error_say(-1, 0);
    return status;
}

static ek_status options_init(ek_options *options, size_t struct_bytes)
{
    if (options == NULL)
        return eki_error(EK_ERR_ARG, "ek_options_init: options is NULL");
    if (struct_bytes < OPTIONS_LEAST)
        return struct_refuse(struct_bytes);
    if (struct_bytes > sizeof *options)
        struct_bytes = sizeof *options;
    memset(options, 0, struct_bytes);
    options->struct_bytes = struct_bytes;
    return EK_OK;
}

ek_status ek_options_init(ek_options *options, size_t struct_bytes)
{
    return outcome_said(options_init(options, struct_bytes));
}

/* The option of that name, among those with these TRAITS whose field a struct
 * of BYTES has; NULL, with a message that says WHY not: it is none of them. */
static const struct eki_option *option_find(const char *name, int traits,
                                            size_t bytes, const char *why)
{
    char allowed[512] = "";
    for (int i = 0; i < eki_option_count(); i++) {
        const struct eki_option *option = eki_option_at(i);
        bool is_it = strcmp(option->field.name, name) == 0;
        if ((option->traits & traits) != traits)
            continue;
        if (option->given + eki_field_bytes(&option->field) > bytes) {
            if (is_it)
                why = "has no room in these options (ek_options_init)";
            continue;
        }
        if (is_it)
            return option;
        eki_append(allowed, sizeof allowed, "%s%s",
                   allowed[0] != '\0' ? ", " : "", option->field.name);
    }
    eki_error(EK_ERR_ARG, "option '%.200s' %s; allowed: %s", name, why,
              allowed);
    return NULL;
}

/* Take the value from TEXT, which is borrowed, of a VARIABLE or (NULL) from the
 * program; nothing changes on failure. */
static ek_status read_option(const struct eki_option *option,
                             const char *variable, const char *text,
                             struct eki_options *options)
{
    if (!eki_field_read(&option->field, text, options))
        return eki_field_refuse(&option->field, variable, text, "'");
    default_take(option, options);
    return EK_OK;
}

static ek_status options_set(ek_options *options, const char *option,
                             const char *value)
{
    if (options == NULL || option == NULL || value == NULL)
        return eki_error(EK_ERR_ARG,
                         "ek_options_set: options, option and value must not "
                         "be NULL");
    if (options->struct_bytes < OPTIONS_LEAST)
        return struct_refuse(options->struct_bytes);
    const struct eki_option *found =
        option_find(option, 0, options->struct_bytes, "is unknown");
    struct eki_options read;
    if (!found)
        return EK_ERR_ARG;
    EKI_TRY(read_option(found, NULL, value, &read));
    memcpy(given_at(found, options), member_at(found, &read),
           eki_field_bytes(&found->field));
    return EK_OK;
}

ek_status ek_options_set(ek_options *options, const char *option,
                         const char *value)
{
    return outcome_said(options_set(options, option, value));
}

static ek_status log_level_read(void)
{
    static const struct eki_field field = {.type = EKI_FIELD_CHOICE,
                                           .choices = level_choices};
    const char *value = getenv(EKI_LOG_VARIABLE);
    int level;
    if (value == NULL)
        return EK_OK;
    if (!eki_field_read(&field, value, &level))
        return eki_field_refuse(&field, EKI_LOG_VARIABLE, value, "'");
    eki_log_environment((ek_level)level);
    return EK_OK;
}

const char *eki_settings_timeline(const struct eki_settings *settings,
                                  int64_t iteration)
{
    int at = eki_schedule_at(&settings->timelines, iteration, -1);
    const char *folder =
        at < 0 ? settings->options.timeline : settings->timelines.texts + at;
    return strcmp(folder, "0") == 0 ? NULL : folder;
}

/* From its variable; NULL: it has none. */
static struct eki_schedule *schedule_of(const struct eki_option *option,
                                        const struct eki_settings *settings)
{
    return option->schedule
               ? (struct eki_schedule *)((char *)settings + option->schedule)
               : NULL;
}

/* Make a text the property of SETTINGS: copied there, which the option points
 * to. */
static void text_own(const struct eki_option *option,
                     struct eki_settings *settings)
{
    if (option->field.type != EKI_FIELD_TEXT)
        return;
    const char **text =
        (const char **)((char *)&settings->options + option->field.offset);
    char *room = (char *)settings + option->room;
    snprintf(room, option->field.text_bytes, "%s", *text);
    *text = room;
}

/* Check what the program said. */
static ek_status check_given(const struct eki_option *option,
                             struct eki_settings *settings)
{
    const struct eki_field *field = &option->field;
    default_take(option, &settings->options);
    if (eki_field_is_allowed(field, eki_field_at(field, &settings->options))) {
        text_own(option, settings);
        return EK_OK;
    }
    char value[VALUE_BYTES] = "";
    eki_field_append(field, &settings->options, DIGITS, value, sizeof value);
    return eki_field_refuse(field, NULL, value,
                            field->type == EKI_FIELD_TEXT ? "'" : "");
}

static ek_status variable_read(int i, struct eki_settings *settings)
{
    const struct eki_option *option = eki_option_at(i);
    struct eki_schedule *schedule = schedule_of(option, settings);
    char variable[EKI_VARIABLE_BYTES];
    eki_option_variable(i, variable, sizeof variable);
    const char *value = getenv(variable);
    if (!(option->traits & EKI_HAS_VARIABLE) || !value)
        return EK_OK;
    if (schedule) {
        const struct eki_schedule_source source = {
            variable, value, settings->options.name, option->field.choices};
        return eki_schedule_parse(&source, schedule);
    }
    EKI_TRY(read_option(option, variable, value, &settings->options));
    text_own(option, settings);
    settings->environment |= UINT64_C(1) << i;
    return EK_OK;
}

static ek_status environment_read(struct eki_settings *settings)
{
    EKI_TRY(log_level_read());
    for (int i = 0; i < eki_option_count(); i++)
        EKI_TRY(variable_read(i, settings));
    return EK_OK;
}

ek_status eki_settings_resolve(const ek_options *given,
                               struct eki_settings *settings)
{
    memset(settings, 0, sizeof *settings);
    EKI_TRY(options_copy(given, &settings->options));
    for (int i = 0; i < eki_option_count(); i++)
        EKI_TRY(check_given(eki_option_at(i), settings));
    if (settings->options.ignore_environment)
        return EK_OK;

    ek_status status = environment_read(settings);
    if (status != EK_OK)
        eki_settings_free(settings);
    else
        eki_settings_note_lists(settings);
    return status;
}

void eki_settings_free(struct eki_settings *settings)
{
    eki_schedule_free(&settings->restore);
    eki_schedule_free(&settings->steal);
    eki_schedule_free(&settings->timelines);
    eki_schedule_free(&settings->termination);
}

ek_status eki_settings_set(struct eki_settings *settings, const char *field,
                           const char *value)
{
    if (field == NULL || value == NULL)
        return eki_error(EK_ERR_ARG, "option and value must not be NULL");
    const struct eki_option *option =
        option_find(field, EKI_SETTABLE, SIZE_MAX, "cannot be set");
    if (!option)
        return EK_ERR_ARG;
    EKI_TRY(read_option(option, NULL, value, &settings->options));
    text_own(option, settings);
    return EK_OK;
}

bool eki_option_part(int option, const struct eki_settings *settings, int part,
                     char *text, size_t bytes)
{
    const struct eki_option *row = eki_option_at(option);
    const struct eki_schedule *schedule = schedule_of(row, settings);
    text[0] = '\0';
    if (part == 0) {
        eki_field_append(&row->field, &settings->options, DIGITS, text, bytes);
        return true;
    }
    if (!schedule || part > schedule->count)
        return false;
    eki_schedule_entry_text(schedule, part - 1, row->field.choices, text,
                            bytes);
    return true;
}

/* A program that says the default has not chosen anything. */
static bool is_default(const struct eki_field *field,
                       const struct eki_options *options)
{
    char value[EKI_OPTION_BYTES] = "", usual[EKI_OPTION_BYTES] = "";
    eki_field_append(field, options, DIGITS, value, sizeof value);
    eki_field_append(field, &eki_option_defaults, DIGITS, usual, sizeof usual);
    return strcmp(value, usual) == 0;
}

/* A list of the environment decides in the iterations that it names. */
bool eki_option_explain(int option, const struct eki_settings *settings,
                        char *text, size_t bytes)
{
    const struct eki_option *row = eki_option_at(option);
    const struct eki_schedule *schedule = schedule_of(row, settings);
    char part[EKI_OPTION_BYTES], variable[EKI_VARIABLE_BYTES];
    int lists = schedule ? schedule->count : 0;
    bool is_set = lists > 0 || settings->environment & UINT64_C(1) << option;
    bool is_usual = is_default(&row->field, &settings->options);
    eki_append(text, bytes, "%s=", row->field.name);
    for (int i = lists > 0; i <= lists; i++) {
        eki_option_part(option, settings, i, part, sizeof part);
        eki_append(text, bytes, "%s%s", i > 1 ? "," : "", part);
    }
    eki_option_variable(option, variable, sizeof variable);
    eki_append(text, bytes, " (%s)",
               is_set     ? variable
               : is_usual ? "default"
                          : "program");
    return is_set || !is_usual;
}
