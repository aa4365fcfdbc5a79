/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The option table: one row per field of ek_options, which drives the checks,
 * the environment, ek_set_option(), the comparison over ranks and the README's
 * table.
 *
 * Knows each field; settings.c knows where values come from.
 */
#include "base/options.h"

#include <string.h>

/* Enums are read and written through int. */
_Static_assert(sizeof(ek_restore_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_steal_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_order) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_deque_kind) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_progress_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_on_failure_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_on_error_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_gather) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_data) == sizeof(int), "enum is an int");

static bool is_collection(const char *text)
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

#define FIELD(name_) \
    .field.name = #name_, .field.offset = offsetof(ek_options, name_)
#define INTEGER(least, most, unit_)                        \
    .field.type = EKI_FIELD_INTEGER, .field.min = (least), \
    .field.max = (most), .field.unit = (unit_)
#define REAL(least, most)                                    \
    .field.type = EKI_FIELD_REAL, .field.real_min = (least), \
    .field.real_max = (most)
/* Behind the last one that is named stands one without a name. */
#define CHOICE(...)                              \
    .field.type = EKI_FIELD_CHOICE,              \
    .field.choices = (const struct eki_choice[]) \
    {                                            \
        __VA_ARGS__,                             \
        {                                        \
            NULL, 0                              \
        }                                        \
    }
#define HELP(text) .field.help = (text)
/* Of rows of the environment: what ranks agree on, and what may be set later,
 * too. */
#define AGREED .traits = EKI_HAS_VARIABLE | EKI_AGREES
#define SETTABLE AGREED | EKI_SETTABLE
#define SCHEDULE(member) .schedule = offsetof(struct eki_settings, member)
#define TEXT(member, check, words)                                  \
    .field.type = EKI_FIELD_TEXT, .field.is_allowed = (check),      \
    .field.allowed = (words),                                       \
    .field.text_bytes = sizeof(((struct eki_settings *)0)->member), \
    .room = offsetof(struct eki_settings, member)

static const struct eki_option table[] = {
    {FIELD(name), .traits = EKI_AGREES,
     TEXT(name, is_collection, "1 to 63 characters of A-Z a-z 0-9 _ . -"),
     HELP("of the collection, in messages and lists")},
    {FIELD(payload_bytes), .traits = EKI_AGREES, INTEGER(0, 65504, "bytes"),
     HELP("largest payload of a task")},
    {FIELD(workers), .traits = EKI_HAS_VARIABLE, INTEGER(0, 65536, "workers"),
     HELP("workers of this rank; 0: automatic")},
    {FIELD(restore), SETTABLE,
     CHOICE({"original", EK_RESTORE_ORIGINAL}, {"retain", EK_RESTORE_RETAIN},
            {"centralized", EK_RESTORE_CENTRALIZED},
            {"hierarchical", EK_RESTORE_HIERARCHICAL},
            {"centralized-hpdc12", EK_RESTORE_CENTRALIZED_HPDC12},
            {"hierarchical-hpdc12", EK_RESTORE_HIERARCHICAL_HPDC12},
            {"auto", EK_RESTORE_AUTO}),
     SCHEDULE(restore),
     HELP("who gets which task in the next iteration; in the environment a "
          "list of [collection:]policy[@iterations]")},
    {FIELD(steal), SETTABLE,
     CHOICE({"random", EK_STEAL_RANDOM}, {"near", EK_STEAL_NEAR},
            {"node", EK_STEAL_NODE}, {"none", EK_STEAL_NONE},
            {"counter", EK_STEAL_COUNTER},
            {"counter:1...1048576", EK_STEAL_COUNTER},
            {"hpdc12", EK_STEAL_HPDC12}, {"hpdc12-one", EK_STEAL_HPDC12_ONE}),
     SCHEDULE(steal),
     HELP("whom a worker without work asks; counter:N: N numbers at a time; in "
          "the environment a list of [collection:]policy[@iterations]")},
    {FIELD(order), SETTABLE,
     CHOICE({"longest", EK_ORDER_LONGEST}, {"executed", EK_ORDER_EXECUTED},
            {"reversed", EK_ORDER_REVERSED}),
     HELP("in which order a retained worker starts its tasks")},
    {FIELD(deque), AGREED,
     CHOICE({"atomic", EK_DEQUE_ATOMIC}, {"locked", EK_DEQUE_LOCKED}),
     HELP("kind of the shared part of a worker's deque")},
    {FIELD(progress), AGREED,
     CHOICE({"auto", EK_PROGRESS_AUTO}, {"polling", EK_PROGRESS_POLLING},
            {"server", EK_PROGRESS_SERVER}),
     HELP("who sends and receives messages between nodes")},
    {FIELD(on_failure), SETTABLE,
     CHOICE({"stop", EK_ON_FAILURE_STOP}, {"continue", EK_ON_FAILURE_CONTINUE}),
     HELP("what a failing task does to its iteration")},
    {FIELD(buffer_slots), AGREED, INTEGER(2, 1048576, "slots"),
     HELP("slots of each of two buffers per worker")},
    {FIELD(ranks_per_node), AGREED, INTEGER(0, INT32_MAX, "ranks"),
     HELP("pretend that nodes are smaller; 0: real nodes")},
    {FIELD(poll_period_us), .traits = EKI_HAS_VARIABLE | EKI_SETTABLE,
     INTEGER(0, 1000000000, "us"),
     HELP("time between polls of a busy worker; 0: automatic")},
    {FIELD(watchdog_us), .traits = EKI_HAS_VARIABLE,
     INTEGER(0, 1000000000, "us"),
     HELP("step a server that nobody attended to for so long; 0: never")},
    {FIELD(stall_ms), SETTABLE, INTEGER(0, 1000000000, "ms"),
     HELP("say what is waited for after so long without progress; 0: never")},
    {FIELD(seed), AGREED, INTEGER(INT64_MIN, INT64_MAX, ""),
     HELP("of all random numbers")},
    {FIELD(balance_group), SETTABLE, INTEGER(0, 1048576, "workers"),
     HELP("workers of a group of a hierarchical rebalance; 0: 256")},
    {FIELD(balance_ppm), SETTABLE, INTEGER(0, 1000000, "ppm"),
     HELP("load beyond the best possible that a rebalance leaves alone; 0: "
          "automatic")},
    {FIELD(balance_c), SETTABLE, REAL(0.1, 10),
     HELP("C of HPDC 2012: in its algorithms who has more mean loads sheds "
          "tasks")},
    {FIELD(balance_d), SETTABLE, REAL(0.1, 10),
     HELP("D of HPDC 2012: hierarchical-hpdc12 gives tasks on their way up to "
          "who has fewer mean loads")},
    {FIELD(balance_branching), SETTABLE, INTEGER(2, 1048576, "children"),
     HELP("of a vertex of the tree of hierarchical-hpdc12")},
    {FIELD(balance_gather), SETTABLE,
     CHOICE({"node", EK_GATHER_NODE}, {"core", EK_GATHER_CORE}),
     HELP("what the rank that decides centralized-hpdc12 is told, and tells: "
          "messages of ranks, joined on their way, or one of each worker")},
    {FIELD(iterations_expected), SETTABLE, INTEGER(0, INT64_MAX, "iterations"),
     HELP("iterations in all, for restore=auto; 0: as many more as were done")},
    {FIELD(report), SETTABLE,
     TEXT(report, is_report,
          "0, 1, 2, FILE.tsv, ranks:FILE.tsv, functions:FILE.tsv, or a list of "
          "them, each file once (at most 1023 characters)"),
     HELP("0: none, 1: a line per iteration and a summary, 2: all figures, "
          "FILE.tsv: a table; with ranks: or functions: a row for each")},
    {FIELD(ignore_environment), .field.type = EKI_FIELD_FLAG,
     HELP("do not look at EVENKEEL_*")},
    {FIELD(record), AGREED,
     TEXT(record, is_record,
          "0 or a file name ending in .ekr (at most 1023 characters)"),
     HELP("0: none, FILE.ekr: tasks and durations of each iteration; % stands "
          "for the collection's name")},
    {FIELD(on_error), SETTABLE,
     CHOICE({"return", EK_ON_ERROR_RETURN}, {"abort", EK_ON_ERROR_ABORT}),
     HELP("what a call does that fails, after it has said why")},
    {FIELD(check), .traits = EKI_HAS_VARIABLE, INTEGER(-1, 1, ""),
     HELP("1: look for wrong use that costs time to find: workers kept or "
          "shared by threads, pointers in payloads; -1: in debug builds of the "
          "library")},
    {FIELD(data), AGREED,
     CHOICE({"return", EK_DATA_RETURN}, {"follow", EK_DATA_FOLLOW}),
     HELP("of tasks whose data travels: return: results go home, follow: "
          "ek_restore moves data to where tasks start")},
    {FIELD(data_bytes), AGREED, INTEGER(0, INT64_MAX, "bytes"),
     HELP("most that a rank holds of data for others; 0: automatic")},
};

int eki_option_count(void)
{
    return (int)(sizeof table / sizeof table[0]);
}

const struct eki_option *eki_option_at(int option)
{
    return &table[option];
}

void eki_option_variable(int option, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s%s", EKI_VARIABLE_PREFIX,
             table[option].field.name);
    /* The table's names are ASCII; toupper() depends on the locale. */
    for (; *text != '\0'; text++) {
        if (*text >= 'a' && *text <= 'z')
            *text = (char)(*text - 'a' + 'A');
    }
}

const struct eki_choice *eki_option_choices(const char *name)
{
    for (int i = 0; i < eki_option_count(); i++) {
        if (strcmp(table[i].field.name, name) == 0)
            return table[i].field.choices;
    }
    return NULL;
}

const char *eki_option_choice_name(const char *name, int value)
{
    const struct eki_choice *choice =
        eki_choice_of(eki_option_choices(name), value);
    return choice != NULL ? choice->name : NULL;
}
