/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The option table: one row per member of struct eki_options, which drives the
 * checks, the environment, ek_set_option(), the comparison over ranks and the
 * documents.
 *
 * Knows each field; settings.c knows where values come from.
 */
#include "base/options.h"

#include "base/signals.h"

#include <string.h>

/* Enums are read and written through int. */
_Static_assert(sizeof(ek_restore_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_steal_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_progress_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_on_failure_policy) == sizeof(int), "enum is an int");
_Static_assert(sizeof(ek_on_error_policy) == sizeof(int), "enum is an int");

#define TEXT_ONLY_FIRST offsetof(struct eki_options, seed)
_Static_assert(sizeof(struct eki_options) - TEXT_ONLY_FIRST <=
                   sizeof(((ek_options *)0)->text_only),
               "text_only has room for them");

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

/* What a list can hold, too. */
static bool is_timeline(const char *text)
{
    return text[0] != '\0' && !strpbrk(text, ",:@");
}

static bool is_dvs(const char *text)
{
    struct eki_dvs_option option;
    return eki_dvs_read(text, &option);
}

static bool is_lifeline(const char *text)
{
    struct eki_lifeline_option option;
    return eki_lifeline_read(text, &option);
}

static bool is_sws(const char *text)
{
    struct eki_sws_option option;
    return eki_sws_read(text, &option);
}

static bool is_checkpoint(const char *text)
{
    struct eki_checkpoint_option option;
    return eki_checkpoint_read(text, &option);
}

bool eki_on_stall_read(const char *text, int64_t *seconds)
{
    static const char word[] = "abort:";
    uint64_t ns;
    *seconds = 0;
    return strcmp(text, "report") == 0 ||
           (strncmp(text, word, sizeof word - 1) == 0 &&
            eki_time_read(text + sizeof word - 1, seconds, &ns) &&
            *seconds > 0 && ns == 0);
}

bool eki_time_limit_read(const char *text, uint64_t *ns)
{
    int64_t number;
    bool is_read = eki_time_read(text, &number, ns);
    if (is_read && *ns == 0)
        *ns = (uint64_t)number * 1000000000;
    return is_read;
}

static bool is_on_stall(const char *text)
{
    int64_t seconds;
    return eki_on_stall_read(text, &seconds);
}

static bool is_signals(const char *text)
{
    unsigned set;
    return eki_signals_read(text, &set);
}

static bool is_time_limit(const char *text)
{
    uint64_t ns;
    return eki_time_limit_read(text, &ns);
}

static bool is_hpdc12(const char *text)
{
    struct eki_hpdc12_option option;
    return eki_hpdc12_read(text, &option);
}

#define MEMBER(name_) \
    .field.name = #name_, .field.offset = offsetof(struct eki_options, name_)
#define FIELD(name_) MEMBER(name_), .given = offsetof(ek_options, name_)
#define TEXT_ONLY(name_)                                          \
    MEMBER(name_), .given = offsetof(ek_options, text_only) +     \
                            offsetof(struct eki_options, name_) - \
                            TEXT_ONLY_FIRST
#define INTEGER(least, most, unit_)                        \
    .field.type = EKI_FIELD_INTEGER, .field.min = (least), \
    .field.max = (most), .field.unit = (unit_), .field.takes_zero = true
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
     HELP("name of the collection, in messages and lists")},
    {FIELD(payload_bytes), .traits = EKI_AGREES, INTEGER(0, 65504, "bytes"),
     HELP("largest payload of a task")},
    {FIELD(workers), .traits = EKI_HAS_VARIABLE, INTEGER(0, 65536, "workers"),
     HELP("workers of this rank; 0: one per core that OpenMP may use")},
    {FIELD(restore), SETTABLE,
     CHOICE({"original", EK_RESTORE_ORIGINAL}, {"retain", EK_RESTORE_RETAIN},
            {"centralized", EK_RESTORE_CENTRALIZED},
            {"hierarchical", EK_RESTORE_HIERARCHICAL},
            {"centralized-hpdc12", EK_RESTORE_CENTRALIZED_HPDC12},
            {"hierarchical-hpdc12", EK_RESTORE_HIERARCHICAL_HPDC12},
            {"auto", EK_RESTORE_AUTO}),
     SCHEDULE(restore),
     HELP("who gets which task in the next iteration; the variable takes a "
          "list of [collection:]policy[@iterations]")},
    {FIELD(steal), SETTABLE,
     CHOICE({"random", EK_STEAL_RANDOM}, {"near", EK_STEAL_NEAR},
            {"node", EK_STEAL_NODE}, {"none", EK_STEAL_NONE},
            {"counter", EK_STEAL_COUNTER},
            {"counter:1...1048576", EK_STEAL_COUNTER},
            {"counter:guided",
             EK_STEAL_COUNTER | EKI_CHUNK_MOST << EKI_CHUNK_SHIFT},
            {"hpdc12", EK_STEAL_HPDC12}, {"hpdc12-one", EK_STEAL_HPDC12_ONE},
            {"dvs", EK_STEAL_DVS}, {"leapfrog", EK_STEAL_LEAPFROG},
            {"load", EK_STEAL_LOAD}, {"load:read", EK_STEAL_LOAD_READ},
            {"success", EK_STEAL_SUCCESS},
            {"success:acyclic", EK_STEAL_SUCCESS_ACYCLIC},
            {"lifeline", EK_STEAL_LIFELINE}, {"sws", EK_STEAL_SWS},
            {"sdc", EK_STEAL_SDC}),
     SCHEDULE(steal),
     HELP("whom a worker without work asks; counter:N deals N tasks at a time, "
          "counter:guided as what is left tells, to a node; the variable takes "
          "a list of [collection:]policy[@iterations]")},
    {FIELD(progress), AGREED,
     CHOICE({"auto", EK_PROGRESS_AUTO}, {"polling", EK_PROGRESS_POLLING},
            {"server", EK_PROGRESS_SERVER}),
     HELP("who sends and receives messages between nodes: the workers between "
          "tasks, or a thread of its own")},
    {FIELD(on_failure), SETTABLE,
     CHOICE({"stop", EK_ON_FAILURE_STOP}, {"continue", EK_ON_FAILURE_CONTINUE}),
     HELP("what a failing task does to its iteration")},
    {FIELD(on_error), SETTABLE,
     CHOICE({"return", EK_ON_ERROR_RETURN}, {"abort", EK_ON_ERROR_ABORT}),
     HELP("what a failing call does after it has said why: it returns its "
          "status, or ends all ranks")},
    {FIELD(iterations_expected), SETTABLE, INTEGER(0, INT64_MAX, "iterations"),
     HELP("iterations in all, for restore=auto; 0: twice as many as were "
          "done")},
    {FIELD(stall_ms), SETTABLE, INTEGER(-1, 1000000000, "ms"),
     HELP("say what a call waits for after so long without progress; -1: "
          "never")},
    {FIELD(report), SETTABLE,
     TEXT(report, is_report,
          "0, 1, 2, FILE.tsv, ranks:FILE.tsv, functions:FILE.tsv, or a list of "
          "them, each file once (at most 1023 characters)"),
     HELP("0: none, 1: a line per iteration and a summary, 2: all figures, "
          "FILE.tsv: a table; with ranks: or functions: a row for each")},
    {FIELD(record), AGREED,
     TEXT(record, is_record,
          "0 or a file name ending in .ekr (at most 1023 characters)"),
     HELP("0: none, FILE.ekr: tasks and durations of each iteration; % stands "
          "for the collection's name")},
    {FIELD(ignore_environment), .field.type = EKI_FIELD_FLAG,
     HELP("do not look at EVENKEEL_*")},
    {TEXT_ONLY(seed), AGREED, INTEGER(INT64_MIN, INT64_MAX, ""),
     HELP("seed of all random numbers")},
    {TEXT_ONLY(order), SETTABLE,
     CHOICE({"longest", EKI_ORDER_LONGEST}, {"executed", EKI_ORDER_EXECUTED},
            {"reversed", EKI_ORDER_REVERSED},
            {"ascending", EKI_ORDER_ASCENDING}),
     HELP("in which order a worker starts its tasks: the longest last duration "
          "first, as executed in the last iteration, the last executed one "
          "first, or by ascending index, for loops that skip to an index")},
    {TEXT_ONLY(deque), AGREED,
     CHOICE({"atomic", EKI_DEQUE_OPTION_ATOMIC},
            {"locked", EKI_DEQUE_OPTION_LOCKED}),
     HELP("shared part of a worker's deque: one atomic per steal (SWS, ICPP "
          "2021), or a lock (HPDC 2012)")},
    {TEXT_ONLY(buffer_slots), AGREED, INTEGER(2, 1048576, "slots"),
     HELP("slots of each of two buffers per worker")},
    {TEXT_ONLY(ranks_per_node), AGREED, INTEGER(0, INT32_MAX, "ranks"),
     HELP("pretend that nodes are smaller; 0: real nodes")},
    {TEXT_ONLY(poll_period_us), .traits = EKI_HAS_VARIABLE | EKI_SETTABLE,
     INTEGER(0, 1000000000, "us"),
     HELP("time between polls of a busy worker; 0: automatic")},
    {TEXT_ONLY(balance_group), SETTABLE, INTEGER(0, 1048576, "workers"),
     HELP("workers of a group of a hierarchical rebalance; 0: 256")},
    {TEXT_ONLY(balance_ppm), SETTABLE, INTEGER(0, 1000000, "ppm"),
     HELP("tolerance of a rebalance, in millionths of the mean load; 0: "
          "automatic")},
    {TEXT_ONLY(hpdc12), SETTABLE, TEXT(hpdc12, is_hpdc12, EKI_HPDC12_ALLOWED),
     HELP("constants of HPDC 2012: workers above c mean loads shed tasks, "
          "children below d mean loads are given some on the way up a tree "
          "with k children to a vertex; the rank that decides gets a message "
          "of each node or of each core")},
    {TEXT_ONLY(data), AGREED,
     CHOICE({"return", EKI_DATA_RETURN}, {"follow", EKI_DATA_FOLLOW}),
     HELP("data that has travelled: results return home, or ek_restore moves "
          "homes to where tasks start (evenkeel_data.h)")},
    {TEXT_ONLY(data_bytes), AGREED, INTEGER(0, INT64_MAX, "bytes"),
     HELP("most that a rank holds of data for others; 0: automatic")},
    {TEXT_ONLY(hints), AGREED,
     TEXT(hints, is_record,
          "0 or a file name ending in .ekr (at most 1023 characters)"),
     HELP("0: none, FILE.ekr: a record of an earlier run, whose durations the "
          "first iteration begins with; % stands for the collection's name")},
    {TEXT_ONLY(timeline), AGREED,
     TEXT(timeline, is_timeline,
          "0 or a folder, without , : and @ (at most 1023 characters)"),
     SCHEDULE(timelines),
     HELP(
         "0: none, DIR: what each worker did and when, a file per rank in that "
         "folder; the variable takes a list of "
         "[collection:]DIR[@iterations]")},
    {TEXT_ONLY(check), .traits = EKI_HAS_VARIABLE,
     CHOICE({"auto", EKI_CHECK_AUTO}, {"1", EKI_CHECK_ON},
            {"0", EKI_CHECK_OFF}),
     HELP("1: look for wrong use that costs time to find: workers kept or "
          "shared by threads, pointers in payloads; auto: in debug builds of "
          "the library; 0: off, and no line about numbers of ek_next that "
          "descend")},
    {TEXT_ONLY(status), SETTABLE, INTEGER(0, 86400, "s"),
     HELP("0: none, 1: a line of rank 0 tells how far the iteration is, "
          "rewritten each second on a terminal, else each minute; N: every N "
          "seconds")},
    {TEXT_ONLY(dvs), SETTABLE, TEXT(dvs, is_dvs, EKI_DVS_ALLOWED),
     HELP("of steal=dvs: how the workers of a node are laid out, which of them "
          "is the source of work, and whether a random worker is tried behind "
          "the list")},
    {TEXT_ONLY(steal_batch), SETTABLE, INTEGER(0, 1048576, "tasks"),
     HELP("0: a thief of another node gets half of what is shown; N: at most N "
          "tasks")},
    {TEXT_ONLY(load_threshold), SETTABLE, INTEGER(0, 1048576, "tasks"),
     HELP("of steal=load, load:read, success, success:acyclic: nodes that show "
          "more than that are asked; load asks others, too, if it knows of "
          "none")},
    {TEXT_ONLY(lifeline), SETTABLE,
     TEXT(lifeline, is_lifeline, EKI_LIFELINE_ALLOWED),
     HELP("of steal=lifeline: the graph of nodes that wait for each other's "
          "tasks, auto: offsets up to 64 nodes, then hypercube; digits of its "
          "hypercube; and how many random nodes are asked before")},
    {TEXT_ONLY(termination), SETTABLE,
     CHOICE({"counting", EKI_DETECTOR_COUNTING},
            {"francez", EKI_DETECTOR_FRANCEZ},
            {"acknowledged", EKI_DETECTOR_ACKNOWLEDGED}),
     SCHEDULE(termination),
     HELP("how nodes find the end of an iteration: by counting tasks, by the "
          "algorithm of HPDC 2012, where a thief waits for its answer, or by "
          "acknowledging tasks; the variable takes a list of "
          "[collection:]how[@iterations]")},
    {TEXT_ONLY(sws), AGREED, TEXT(sws, is_sws, EKI_SWS_ALLOWED),
     HELP("of steal=sws: publications of a rank of which tasks may be on their "
          "way, and attempts in vain after which a thief reads before it adds, "
          "0: it never does")},
    {TEXT_ONLY(saves), SETTABLE, INTEGER(0, 1000000, "saves"),
     HELP("saves of ek_save that a folder keeps, the newest; 0: 2")},
    {TEXT_ONLY(replay), AGREED,
     TEXT(replay, is_record,
          "0 or a file name ending in .ekr (at most 1023 characters)"),
     HELP("0: none, FILE.ekr: a record, by which each task runs on the worker, "
          "and in the order, that ran it then; % stands for the collection's "
          "name")},
    {TEXT_ONLY(checkpoint), SETTABLE,
     TEXT(checkpoint, is_checkpoint, EKI_CHECKPOINT_ALLOWED),
     HELP("0: none, DIR@every:10: a save in that folder at the end of every "
          "10th restore, or once 10min have passed, with on_stop=continue in "
          "the middle of an iteration, too; % stands for the collection's "
          "name")},
    {TEXT_ONLY(on_stall), SETTABLE,
     TEXT(on_stall, is_on_stall, "report, or abort:1 ... abort:1000000"),
     HELP("what happens when a call waits for a rank that does not come: it "
          "says so; abort:SECONDS: the job also ends after so long without "
          "progress")},
    {TEXT_ONLY(on_stop), SETTABLE,
     CHOICE({"restart", EKI_ON_STOP_RESTART},
            {"continue", EKI_ON_STOP_CONTINUE}),
     HELP("what the iteration after ek_stop runs: all seeds, or those tasks "
          "alone, spawned ones included, that were cancelled")},
    {TEXT_ONLY(signal), AGREED, TEXT(signal, is_signals, EKI_SIGNALS_ALLOWED),
     HELP("signals to a rank that stop the iteration, which may go on later, "
          "or (USR2) have its ranks tell where they stand")},
    {TEXT_ONLY(time_limit), AGREED,
     TEXT(time_limit, is_time_limit,
          "0 ... 1000000, and ms, s, min, h or nothing (s) behind it"),
     HELP("stops the iteration so long after ek_create; it may go on later; "
          "0: never")},
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
