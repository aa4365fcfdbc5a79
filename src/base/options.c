/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The option table: one row per field of ek_options, which drives the checks,
 * the environment, ek_set(), the comparison over ranks and the README's table.
 *
 * Knows each field; settings.c knows where values come from.
 */
#include "base/base.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* "option NAME" or a variable. */
#define ORIGIN_BYTES 64

/* What a row allows, in words. */
#define ALLOWED_BYTES 256

/* Messages cut longer values: what is allowed must still fit. */
#define VALUE_SHOWN 200

enum option_type {
    OPTION_INTEGER,
    OPTION_REAL,
    OPTION_CHOICE,
    OPTION_TEXT,
    OPTION_FLAG
};

enum option_traits {
    HAS_VARIABLE = 1, /* EVENKEEL_<FIELD> is looked at */
    AGREES = 2,       /* the same on all ranks */
    SETTABLE = 4      /* by ek_set() */
};

struct option {
    const char *name;
    enum option_type type;
    size_t offset; /* in ek_options */
    int traits;

    int64_t min, max; /* integers */
    const char *unit;

    double real_min, real_max;

    const struct eki_choice *choices;
    size_t schedule; /* offset in eki_settings; 0: has none */

    bool (*is_allowed)(const char *text); /* texts; shorter than room_bytes */
    const char *allowed;
    size_t room; /* offset in eki_settings */
    size_t room_bytes;

    const char *help;
};

/* Enums are read and written through int. */
_Static_assert(sizeof(ek_restore_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_steal_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_order) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_deque_kind) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_progress) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_on_failure) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_on_error) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_gather) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_data) == sizeof(int), "enum is an int");

static const struct eki_choice restore_choices[] = {
    {"original", EK_RESTORE_ORIGINAL},
    {"retain", EK_RESTORE_RETAIN},
    {"centralized", EK_RESTORE_CENTRALIZED},
    {"hierarchical", EK_RESTORE_HIERARCHICAL},
    {"centralized-hpdc12", EK_RESTORE_CENTRALIZED_HPDC12},
    {"hierarchical-hpdc12", EK_RESTORE_HIERARCHICAL_HPDC12},
    {"auto", EK_RESTORE_AUTO},
    {NULL, 0}};

static const struct eki_choice steal_choices[] = {
    {"random", EK_STEAL_RANDOM},
    {"near", EK_STEAL_NEAR},
    {"node", EK_STEAL_NODE},
    {"none", EK_STEAL_NONE},
    {"counter", EK_STEAL_COUNTER},
    {"counter:1...1048576", EK_STEAL_COUNTER},
    {NULL, 0}};

static const struct eki_choice order_choices[] = {
    {"longest", EK_ORDER_LONGEST}, {"executed", EK_ORDER_EXECUTED}, {NULL, 0}};

static const struct eki_choice deque_choices[] = {
    {"atomic", EK_DEQUE_ATOMIC}, {"locked", EK_DEQUE_LOCKED}, {NULL, 0}};

static const struct eki_choice progress_choices[] = {
    {"auto", EK_PROGRESS_AUTO},
    {"polling", EK_PROGRESS_POLLING},
    {"server", EK_PROGRESS_SERVER},
    {NULL, 0}};

static const struct eki_choice on_failure_choices[] = {
    {"stop", EK_ON_FAILURE_STOP},
    {"continue", EK_ON_FAILURE_CONTINUE},
    {NULL, 0}};

static const struct eki_choice on_error_choices[] = {
    {"return", EK_ON_ERROR_RETURN}, {"abort", EK_ON_ERROR_ABORT}, {NULL, 0}};

static const struct eki_choice gather_choices[] = {
    {"node", EK_GATHER_NODE}, {"core", EK_GATHER_CORE}, {NULL, 0}};

static const struct eki_choice data_choices[] = {
    {"return", EK_DATA_RETURN}, {"follow", EK_DATA_FOLLOW}, {NULL, 0}};

static bool is_name(const char *text)
{
    return eki_is_collection_name(text, strlen(text));
}

static bool is_report(const char *text)
{
    struct eki_destination destination;
    return eki_destination_read(text, &destination);
}

static bool is_record(const char *text)
{
    static const char ending[] = ".ekr";
    size_t bytes = strlen(text), ending_bytes = sizeof ending - 1;
    return strcmp(text, "0") == 0 ||
           (bytes > ending_bytes &&
            strcmp(text + bytes - ending_bytes, ending) == 0);
}

#define FIELD(field) .name = #field, .offset = offsetof(ek_options, field)
#define INTEGER(least, most, unit_) \
    .type = OPTION_INTEGER, .min = (least), .max = (most), .unit = (unit_)
#define REAL(least, most) \
    .type = OPTION_REAL, .real_min = (least), .real_max = (most)
#define CHOICE(choices_) .type = OPTION_CHOICE, .choices = (choices_)
#define SCHEDULE(field) .schedule = offsetof(struct eki_settings, field)
#define TEXT(field, check, words)                                   \
    .type = OPTION_TEXT, .is_allowed = (check), .allowed = (words), \
    .room = offsetof(struct eki_settings, field),                   \
    .room_bytes = sizeof(((struct eki_settings *)0)->field)

static const struct option table[] = {
    {FIELD(name), .traits = AGREES,
     TEXT(name, is_name, "1 to 63 characters of A-Z a-z 0-9 _ . -"),
     .help = "of the collection, in messages and lists"},
    {FIELD(payload_bytes), .traits = AGREES, INTEGER(0, 65504, "bytes"),
     .help = "largest payload of a task"},
    {FIELD(workers), .traits = HAS_VARIABLE, INTEGER(0, 65536, "workers"),
     .help = "workers of this rank; 0: automatic"},
    {FIELD(restore), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     CHOICE(restore_choices), SCHEDULE(restore),
     .help = "who gets which task in the next iteration; in the environment a "
             "list of [collection:]policy[@iterations]"},
    {FIELD(steal), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     CHOICE(steal_choices), SCHEDULE(steal),
     .help = "whom a worker without work asks; counter:N: N numbers at a "
             "time; in the environment a list of "
             "[collection:]policy[@iterations]"},
    {FIELD(order), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     CHOICE(order_choices),
     .help = "in which order a retained worker starts its tasks"},
    {FIELD(deque), .traits = HAS_VARIABLE | AGREES, CHOICE(deque_choices),
     .help = "kind of the shared part of a worker's deque"},
    {FIELD(progress), .traits = HAS_VARIABLE | AGREES, CHOICE(progress_choices),
     .help = "who sends and receives messages between nodes"},
    {FIELD(on_failure), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     CHOICE(on_failure_choices),
     .help = "what a failing task does to its iteration"},
    {FIELD(buffer_slots), .traits = HAS_VARIABLE | AGREES,
     INTEGER(2, 1048576, "slots"),
     .help = "slots of each of two buffers per worker"},
    {FIELD(ranks_per_node), .traits = HAS_VARIABLE | AGREES,
     INTEGER(0, INT32_MAX, "ranks"),
     .help = "pretend that nodes are smaller; 0: real nodes"},
    {FIELD(poll_period_us), .traits = HAS_VARIABLE | SETTABLE,
     INTEGER(0, 1000000000, "us"),
     .help = "time between polls of a busy worker; 0: automatic"},
    {FIELD(watchdog_us), .traits = HAS_VARIABLE, INTEGER(0, 1000000000, "us"),
     .help = "step a server that nobody attended to for so long; 0: never"},
    {FIELD(stall_ms), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     INTEGER(0, 1000000000, "ms"),
     .help = "say what is waited for after so long without progress; 0: never"},
    {FIELD(seed), .traits = HAS_VARIABLE | AGREES,
     INTEGER(INT64_MIN, INT64_MAX, ""), .help = "of all random numbers"},
    {FIELD(balance_group), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     INTEGER(0, 1048576, "workers"),
     .help = "workers of a group of a hierarchical rebalance; 0: 256"},
    {FIELD(balance_ppm), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     INTEGER(0, 1000000, "ppm"),
     .help = "load beyond the best possible that a rebalance leaves alone; 0: "
             "automatic"},
    {FIELD(balance_c), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     REAL(0.1, 10),
     .help = "C of HPDC 2012: in its algorithms who has more mean loads sheds "
             "tasks"},
    {FIELD(balance_d), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     REAL(0.1, 10),
     .help = "D of HPDC 2012: hierarchical-hpdc12 gives tasks on their way up "
             "to who has fewer mean loads"},
    {FIELD(balance_branching), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     INTEGER(2, 1048576, "children"),
     .help = "of a vertex of the tree of hierarchical-hpdc12"},
    {FIELD(balance_gather), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     CHOICE(gather_choices),
     .help =
         "what the rank that decides centralized-hpdc12 is told, and tells: "
         "messages of ranks, joined on their way, or one of each worker"},
    {FIELD(iterations_expected), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     INTEGER(0, INT64_MAX, "iterations"),
     .help = "iterations in all, for restore=auto; 0: as many more as were "
             "done"},
    {FIELD(report), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     TEXT(report, is_report,
          "0, 1, 2, FILE.tsv, ranks:FILE.tsv, functions:FILE.tsv, or a list "
          "of them, each file once (at most 1023 characters)"),
     .help = "0: none, 1: a line per iteration and a summary, 2: all figures, "
             "FILE.tsv: a table; with ranks: or functions: a row for each"},
    {FIELD(ignore_environment), .traits = 0, .type = OPTION_FLAG,
     .help = "do not look at EVENKEEL_*"},
    {FIELD(record), .traits = HAS_VARIABLE | AGREES,
     TEXT(record, is_record,
          "0 or a file name ending in .ekr (at most 1023 characters)"),
     .help = "0: none, FILE.ekr: tasks and durations of each iteration; % "
             "stands for the collection's name"},
    {FIELD(on_error), .traits = HAS_VARIABLE | AGREES | SETTABLE,
     CHOICE(on_error_choices),
     .help = "what a call does that fails, after it has said why"},
    {FIELD(check), .traits = HAS_VARIABLE, INTEGER(-1, 1, ""),
     .help = "1: look for wrong use that costs time to find: workers kept or "
             "shared by threads, pointers in payloads; -1: in debug builds of "
             "the library"},
    {FIELD(data), .traits = HAS_VARIABLE | AGREES, CHOICE(data_choices),
     .help = "of tasks whose data travels: return: results go home, follow: "
             "ek_restore moves data to where tasks start"},
    {FIELD(data_bytes), .traits = HAS_VARIABLE | AGREES,
     INTEGER(0, INT64_MAX, "bytes"),
     .help = "most that a rank holds of data for others; 0: automatic"},
};

static int64_t integer_get(const struct option *option,
                           const ek_options *options)
{
    int64_t value;
    memcpy(&value, (const char *)options + option->offset, sizeof value);
    return value;
}

static double real_get(const struct option *option, const ek_options *options)
{
    double value;
    memcpy(&value, (const char *)options + option->offset, sizeof value);
    return value;
}

static int choice_get(const struct option *option, const ek_options *options)
{
    int value;
    memcpy(&value, (const char *)options + option->offset, sizeof value);
    return value;
}

static const char *text_get(const struct option *option,
                            const ek_options *options)
{
    const char *value;
    memcpy(&value, (const char *)options + option->offset, sizeof value);
    return value;
}

static bool flag_get(const struct option *option, const ek_options *options)
{
    bool value;
    memcpy(&value, (const char *)options + option->offset, sizeof value);
    return value;
}

static void value_put(const struct option *option, const void *value,
                      size_t bytes, ek_options *options)
{
    memcpy((char *)options + option->offset, value, bytes);
}

static struct eki_schedule *schedule_of(const struct option *option,
                                        const struct eki_settings *settings)
{
    return (struct eki_schedule *)((char *)settings + option->schedule);
}

static bool text_is_allowed(const struct option *option, const char *text)
{
    return text != NULL && strlen(text) < option->room_bytes &&
           option->is_allowed(text);
}

static bool integer_is_allowed(const struct option *option, int64_t value)
{
    return option->min <= value && value <= option->max;
}

/* What is not a number is not allowed. */
static bool real_is_allowed(const struct option *option, double value)
{
    return option->real_min <= value && value <= option->real_max;
}

static bool value_is_allowed(const struct option *option,
                             const ek_options *options)
{
    switch (option->type) {
    case OPTION_INTEGER:
        return integer_is_allowed(option, integer_get(option, options));
    case OPTION_REAL:
        return real_is_allowed(option, real_get(option, options));
    case OPTION_CHOICE:
        return eki_choice_of(option->choices, choice_get(option, options)) !=
               NULL;
    case OPTION_TEXT:
        return text_is_allowed(option, text_get(option, options));
    case OPTION_FLAG:
        break;
    }
    return true;
}

/* Append VALUE with a point, whatever the locale has. */
static void real_text(double value, char *text, size_t bytes)
{
    char number[32];
    snprintf(number, sizeof number, "%.15g", value);
    char *comma = strchr(number, ',');
    if (comma != NULL)
        *comma = '.';
    eki_append(text, bytes, "%s", number);
}

/* Append what the program said, a wrong choice as its number. */
static void value_text(const struct option *option, const ek_options *options,
                       char *text, size_t bytes)
{
    const char *string;
    int number;
    switch (option->type) {
    case OPTION_INTEGER:
        eki_append(text, bytes, "%" PRId64, integer_get(option, options));
        break;
    case OPTION_REAL:
        real_text(real_get(option, options), text, bytes);
        break;
    case OPTION_CHOICE:
        number = choice_get(option, options);
        if (eki_choice_of(option->choices, number) != NULL)
            eki_choice_text(option->choices, number, text, bytes);
        else
            eki_append(text, bytes, "%d", number);
        break;
    case OPTION_TEXT:
        string = text_get(option, options);
        eki_append(text, bytes, "%s", string != NULL ? string : "");
        break;
    case OPTION_FLAG:
        eki_append(text, bytes, "%s",
                   flag_get(option, options) ? "true" : "false");
        break;
    }
}

/* Append what the row allows. */
static void allowed_text(const struct option *option, char *text, size_t bytes)
{
    switch (option->type) {
    case OPTION_INTEGER:
        eki_append(text, bytes, "%" PRId64 " ... %" PRId64 "%s%s", option->min,
                   option->max, option->unit[0] != '\0' ? " " : "",
                   option->unit);
        break;
    case OPTION_REAL:
        real_text(option->real_min, text, bytes);
        eki_append(text, bytes, " ... ");
        real_text(option->real_max, text, bytes);
        break;
    case OPTION_CHOICE:
        eki_choice_list(option->choices, text, bytes);
        break;
    case OPTION_TEXT:
        eki_append(text, bytes, "%s", option->allowed);
        break;
    case OPTION_FLAG:
        eki_append(text, bytes, "true, false");
        break;
    }
}

/* Make a text the property of SETTINGS: copied there, which the option points
 * to. */
static void text_own(const struct option *option, struct eki_settings *settings)
{
    if (option->type != OPTION_TEXT)
        return;
    char *room = (char *)settings + option->room;
    snprintf(room, option->room_bytes, "%s",
             text_get(option, &settings->options));
    value_put(option, &room, sizeof room, &settings->options);
}

/* The whole of TEXT as a number, without the spaces that strtoll() skips. */
static bool integer_read(const char *text, int64_t *value)
{
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    if (digits[0] < '0' || digits[0] > '9')
        return false;
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

/* The whole of TEXT as digits with a point, whatever the locale has.  With the
 * first fifteen that is the nearest number; others behind the point are not
 * looked at. */
static bool real_read(const char *text, double *value)
{
    int digits = 0, after = -1;
    double power = 1;
    *value = 0;
    for (; *text != '\0'; text++) {
        if (*text == '.' && after < 0) {
            after = 0;
            continue;
        }
        if (*text < '0' || *text > '9' || (++digits > 15 && after < 0))
            return false;
        if (digits > 15)
            continue;
        *value = 10 * *value + (*text - '0');
        after += after >= 0;
    }
    for (; after > 0; after--)
        power *= 10;
    *value /= power;
    return digits > 0;
}

static bool flag_read(const char *text, bool *value)
{
    *value = strcmp(text, "true") == 0;
    return *value || strcmp(text, "false") == 0;
}

/* Take the value from TEXT; false and no change if it is not allowed. */
static bool value_read(const struct option *option, const char *text,
                       ek_options *options)
{
    int64_t number;
    double real;
    bool flag;
    int choice;
    switch (option->type) {
    case OPTION_INTEGER:
        if (!integer_read(text, &number) || !integer_is_allowed(option, number))
            return false;
        value_put(option, &number, sizeof number, options);
        return true;
    case OPTION_REAL:
        if (!real_read(text, &real) || !real_is_allowed(option, real))
            return false;
        value_put(option, &real, sizeof real, options);
        return true;
    case OPTION_CHOICE:
        if (!eki_choice_read(option->choices, text, strlen(text), &choice))
            return false;
        value_put(option, &choice, sizeof choice, options);
        return true;
    case OPTION_TEXT:
        if (!text_is_allowed(option, text))
            return false;
        value_put(option, &text, sizeof text, options);
        return true;
    case OPTION_FLAG:
        if (!flag_read(text, &flag))
            return false;
        value_put(option, &flag, sizeof flag, options);
        return true;
    }
    return false;
}

static ek_status value_refuse(const struct option *option, const char *origin,
                              const char *value, const char *quote)
{
    char allowed[ALLOWED_BYTES] = "";
    allowed_text(option, allowed, sizeof allowed);
    return eki_error(EK_ERR_ARG, "%s: %s%.*s%s is not allowed; allowed: %s",
                     origin, quote, VALUE_SHOWN, value, quote, allowed);
}

ek_status eki_option_check(int option, struct eki_settings *settings)
{
    const struct option *row = &table[option];
    if (value_is_allowed(row, &settings->options)) {
        text_own(row, settings);
        return EK_OK;
    }
    char origin[ORIGIN_BYTES], value[VALUE_SHOWN + 1] = "";
    snprintf(origin, sizeof origin, "option %s", row->name);
    value_text(row, &settings->options, value, sizeof value);
    return value_refuse(row, origin, value,
                        row->type == OPTION_TEXT ? "'" : "");
}

ek_status eki_option_put(int option, const char *text, ek_options *options)
{
    const struct option *row = &table[option];
    if (value_read(row, text, options))
        return EK_OK;
    char origin[ORIGIN_BYTES];
    snprintf(origin, sizeof origin, "option %s", row->name);
    return value_refuse(row, origin, text, "'");
}

ek_status eki_option_read(int option, const char *text,
                          struct eki_settings *settings)
{
    EKI_TRY(eki_option_put(option, text, &settings->options));
    text_own(&table[option], settings);
    return EK_OK;
}

ek_status eki_option_read_variable(int option, const char *variable,
                                   const char *text,
                                   struct eki_settings *settings)
{
    const struct option *row = &table[option];
    if (row->schedule != 0) {
        struct eki_schedule_source source = {
            .variable = variable,
            .list = text,
            .collection = settings->options.name,
            .choices = row->choices,
        };
        return eki_schedule_parse(&source, schedule_of(row, settings));
    }
    if (!value_read(row, text, &settings->options))
        return value_refuse(row, variable, text, "'");
    text_own(row, settings);
    return EK_OK;
}

int eki_option_count(void)
{
    return (int)(sizeof table / sizeof table[0]);
}

size_t eki_option_end(int option)
{
    static const size_t sizes[] = {[OPTION_INTEGER] = sizeof(int64_t),
                                   [OPTION_REAL] = sizeof(double),
                                   [OPTION_CHOICE] = sizeof(int),
                                   [OPTION_TEXT] = sizeof(char *),
                                   [OPTION_FLAG] = sizeof(bool)};
    return table[option].offset + sizes[table[option].type];
}

const char *eki_option_name(int option)
{
    return table[option].name;
}

bool eki_option_agrees(int option)
{
    return table[option].traits & AGREES;
}

bool eki_option_has_variable(int option)
{
    return table[option].traits & HAS_VARIABLE;
}

bool eki_option_has_schedule(int option)
{
    return table[option].schedule != 0;
}

bool eki_option_is_settable(int option)
{
    return table[option].traits & SETTABLE;
}

void eki_option_variable(int option, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s%s", EKI_VARIABLE_PREFIX, table[option].name);
    /* The table's names are ASCII; toupper() depends on the locale. */
    for (; *text != '\0'; text++) {
        if (*text >= 'a' && *text <= 'z')
            *text = (char)(*text - 'a' + 'A');
    }
}

bool eki_option_part(int option, const struct eki_settings *settings, int part,
                     char *text, size_t bytes)
{
    const struct option *row = &table[option];
    const struct eki_schedule *schedule = schedule_of(row, settings);
    text[0] = '\0';
    if (part == 0) {
        value_text(row, &settings->options, text, bytes);
        return true;
    }
    if (row->schedule == 0 || part > schedule->count)
        return false;
    eki_schedule_entry_text(&schedule->entries[part - 1], row->choices, text,
                            bytes);
    return true;
}

/* A program that says the default has not chosen anything. */
static bool is_default(int option, const struct eki_settings *settings)
{
    static const ek_options defaults = EK_OPTIONS_INIT;
    char value[EKI_OPTION_BYTES] = "", usual[EKI_OPTION_BYTES] = "";
    value_text(&table[option], &settings->options, value, sizeof value);
    value_text(&table[option], &defaults, usual, sizeof usual);
    return strcmp(value, usual) == 0;
}

/* A list of the environment decides in the iterations that it names. */
bool eki_option_explain(int option, const struct eki_settings *settings,
                        char *text, size_t bytes)
{
    const struct option *row = &table[option];
    char part[EKI_OPTION_BYTES], variable[ORIGIN_BYTES];
    int lists = row->schedule ? schedule_of(row, settings)->count : 0;
    bool is_set = lists > 0 || settings->environment & UINT64_C(1) << option;
    eki_append(text, bytes, "%s=", row->name);
    for (int i = lists > 0; i <= lists; i++) {
        eki_option_part(option, settings, i, part, sizeof part);
        eki_append(text, bytes, "%s%s", i > 1 ? "," : "", part);
    }
    eki_option_variable(option, variable, sizeof variable);
    const char *origin = is_default(option, settings) ? "default" : "program";
    eki_append(text, bytes, " (%s)", is_set ? variable : origin);
    return is_set || !is_default(option, settings);
}

static const struct eki_choice *choices_of(const char *option)
{
    for (int i = 0; i < eki_option_count(); i++) {
        if (strcmp(table[i].name, option) == 0)
            return table[i].choices;
    }
    return NULL;
}

const char *eki_option_choice_name(const char *option, int value)
{
    const struct eki_choice *choice = eki_choice_of(choices_of(option), value);
    return choice != NULL ? choice->name : NULL;
}

bool eki_option_choice_value(const char *option, const char *name, int *value)
{
    return eki_choice_read(choices_of(option), name, strlen(name), value);
}

void eki_option_choice_list(const char *option, char *text, size_t bytes)
{
    eki_choice_list(choices_of(option), text, bytes);
}

ek_status eki_option_schedule(const char *option, const char *argument,
                              const char *list, struct eki_schedule *schedule)
{
    struct eki_schedule_source source = {
        .variable = argument, .list = list, .choices = choices_of(option)};
    return eki_schedule_parse(&source, schedule);
}

void eki_option_table(FILE *file)
{
    static const ek_options defaults = EK_OPTIONS_INIT;
    fputs("| option | variable | allowed | default | same on all ranks "
          "| ek_set() | meaning |\n|---|---|---|---|---|---|---|\n",
          file);
    for (int i = 0; i < eki_option_count(); i++) {
        const struct option *row = &table[i];
        char variable[ORIGIN_BYTES] = "", allowed[ALLOWED_BYTES] = "",
             value[VALUE_SHOWN + 1] = "";
        if (eki_option_has_variable(i))
            eki_option_variable(i, variable, sizeof variable);
        allowed_text(row, allowed, sizeof allowed);
        value_text(row, &defaults, value, sizeof value);
        fprintf(file, "| %s | %s | %s | %s | %s | %s | %s |\n", row->name,
                variable, allowed, value, eki_option_agrees(i) ? "yes" : "no",
                eki_option_is_settable(i) ? "yes" : "no", row->help);
    }
}
