/* SPDX-License-Identifier: BSD-3-Clause */
/* Options: the table, the program's values, and what is set later. */
#define _GNU_SOURCE
#include "settings.h"

#include <evenkeel_bind.h>
#include <evenkeel_worker.h>

/* Resolve the program's OPTIONS, of which that NAME is refused for its WORD. */
static void expect_program_refusal(const ek_options *options, const char *name,
                                   const char *word, const char *allowed)
{
    struct eki_settings settings;
    char option[64];
    snprintf(option, sizeof option, "option %s", name);
    CHECK_EQ_INT(eki_settings_resolve(options, &settings), EK_ERR_ARG);
    check_allowed(option, word, allowed);
}

static void no_options_mean_defaults(void)
{
    struct eki_settings settings;
    if (!CHECK_EQ_INT(eki_settings_resolve(NULL, &settings), EK_OK))
        return;
    const struct eki_options *options = &settings.options;
    CHECK_EQ_TEXT(options->name, "tasks");
    CHECK(options->name == settings.name);
    CHECK_EQ_INT(options->payload_bytes, 48);
    CHECK_EQ_INT(options->restore, EK_RESTORE_RETAIN);
    CHECK_EQ_INT(options->buffer_slots, 256);
    CHECK_EQ_INT(options->stall_ms, 10000);
    CHECK_EQ_TEXT(options->report, "0");
    CHECK(options->report == settings.report);
    CHECK_EQ_INT(options->seed, 1);
    CHECK_EQ_TEXT(options->hpdc12, "c=1.003,d=1.003,k=3,gather=node");
    CHECK(options->hpdc12 == settings.hpdc12);
    CHECK(options->hooks.create == NULL);
    CHECK(settings.restore.entries == NULL && settings.restore.count == 0);
    CHECK_EQ_INT(eki_schedule_at(&settings.steal, 0, EK_STEAL_NEAR),
                 EK_STEAL_NEAR);
    eki_settings_free(&settings);
}

static void program_overrides_defaults(void)
{
    struct eki_settings settings;
    char name[] = "fock", report[] = "run.tsv";
    ek_options options = EK_OPTIONS_INIT;
    options.name = name;
    options.report = report;
    options.payload_bytes = 65504;
    options.steal = EK_STEAL_COUNTER;
    CHECK_OK(ek_options_set(&options, "seed", "-9223372036854775808"));
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.context = name;
    options.hooks = &hooks;
    CHECK_OK(eki_settings_resolve(&options, &settings));
    name[0] = report[0] = 'x'; /* the settings own copies */
    CHECK_EQ_TEXT(settings.options.name, "fock");
    CHECK_EQ_TEXT(settings.options.report, "run.tsv");
    CHECK_EQ_INT(settings.options.payload_bytes, 65504);
    CHECK_EQ_INT(settings.options.steal, EK_STEAL_COUNTER);
    CHECK_EQ_INT(settings.options.seed, INT64_MIN);
    CHECK(settings.options.hooks.context == name);
    eki_settings_free(&settings);
}

#define BAD(member, value, allowed)                              \
    {                                                            \
#member, offsetof(ek_options, member),                   \
            sizeof((ek_options *)0)->member == 4, value, allowed \
    }

static void program_numbers_and_choices_are_checked(void)
{
    static const struct {
        const char *name;
        size_t offset;
        bool is_choice;
        int64_t value;
        const char *allowed;
    } bad[] = {BAD(payload_bytes, 65505, "0 ... 65504 bytes"),
               BAD(payload_bytes, -1, "0 ... 65504 bytes"),
               BAD(workers, -1, "0 ... 65536 workers"),
               BAD(stall_ms, 1000000001, "-1 ... 1000000000 ms"),
               BAD(steal, 17, STEALS),
               BAD(restore, 17, RESTORES),
               BAD(progress, 3, "auto, polling, server"),
               BAD(on_failure, 2, "stop, continue")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ek_options options = EK_OPTIONS_INIT;
        void *at = (char *)&options + bad[i].offset;
        char word[32];
        if (bad[i].is_choice)
            *(int *)at = (int)bad[i].value;
        else
            *(int64_t *)at = bad[i].value;
        snprintf(word, sizeof word, "%" PRId64, bad[i].value);
        expect_program_refusal(&options, bad[i].name, word, bad[i].allowed);
    }
}

static void program_texts_are_checked(void)
{
    char longest[64];
    memset(longest, 'n', 63);
    longest[63] = '\0';
    struct eki_settings settings;
    ek_options options = EK_OPTIONS_INIT;
    options.name = longest;
    CHECK_OK(eki_settings_resolve(&options, &settings));
    CHECK_EQ_TEXT(settings.options.name, longest);

    static const char names[] = "1 to 63 characters of A-Z a-z 0-9 _ . -";
    options.name = "fock:1";
    expect_program_refusal(&options, "name", "'fock:1'", names);
    options.name = "";
    expect_program_refusal(&options, "name", "''", names);

    char endless[2000];
    memset(endless, 'n', sizeof endless);
    memcpy(endless + sizeof endless - 5, ".tsv", 5);
    options.name = endless;
    CHECK_EQ_INT(eki_settings_resolve(&options, &settings), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "nnn' is not allowed; allowed: 1 to 63");

    options = (ek_options)EK_OPTIONS_INIT;
    options.report = "run.csv";
    expect_program_refusal(&options, "report", "'run.csv'", REPORTS);
    options.report = endless;
    CHECK_EQ_INT(eki_settings_resolve(&options, &settings), EK_ERR_ARG);
    options.report = endless + sizeof endless - 1024;
    CHECK_OK(eki_settings_resolve(&options, &settings));
    options.report = ".tsv";
    CHECK_EQ_INT(eki_settings_resolve(&options, &settings), EK_ERR_ARG);
    options.report = "3";
    CHECK_EQ_INT(eki_settings_resolve(&options, &settings), EK_ERR_ARG);
}

/* What the constants of HPDC 2012 are, in text; the others are the default.  In
 * any locale: with a point, and to the nearest number. */
static void constants_of_the_paper_are_read(void)
{
    static const struct {
        const char *text;
        struct eki_hpdc12_option value;
    } good[] = {{"c=1.0003", {1.0003, 1.003, 3, EKI_GATHER_NODE}},
                {"d=.5,k=2", {1.003, 0.5, 2, EKI_GATHER_NODE}},
                {"gather=core,c=2", {2, 1.003, 3, EKI_GATHER_CORE}},
                {"c=1.0030000000000000", {1.003, 1.003, 3, EKI_GATHER_NODE}}};
    static const char *const bad[] = {
        "",        "c",    "c=",          "c=.",     "c=1,003",  "c=1.0.3",
        "c=+1",    "c= 1", "c=1e0",       "c=nan",   "c=0.09",   "d=10.01",
        "c=0x1p0", "k=1",  "c=2,",        ",c=2",    "k=2.5",    "b=3",
        "C=2",     "c==2", "gather=rank", "c=2 k=3", "k=1048577"};
    struct eki_settings settings;
    struct eki_hpdc12_option read;
    CHECK_OK(eki_settings_resolve(NULL, &settings));
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const struct eki_hpdc12_option *value = &good[i].value;
        CHECK_OK(eki_settings_set(&settings, "hpdc12", good[i].text));
        CHECK(eki_hpdc12_read(settings.options.hpdc12, &read));
        CHECK(read.c == value->c && read.d == value->d);
        CHECK(read.branching == value->branching &&
              read.gather == value->gather);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_EQ_INT(eki_settings_set(&settings, "hpdc12", bad[i]), EK_ERR_ARG);
    CHECK_EQ_TEXT(settings.options.hpdc12, good[3].text);
    expect_refusal("EVENKEEL_HPDC12", "c=1,003", EKI_HPDC12_ALLOWED);
}

/* Likewise of deterministic victim selection. */
static void meshes_are_read(void)
{
    static const char *const bad[] = {"",
                                      "layout",
                                      "layout=ring",
                                      "rows=0",
                                      "columns=1025",
                                      "cell=-",
                                      "source=-2",
                                      "escape=2",
                                      "rows=2,",
                                      "cell=32",
                                      "x=1",
                                      "layout=line ",
                                      "columns=2,rows=2,cell=4"};
    struct eki_settings settings;
    struct eki_dvs_option read;
    CHECK_OK(eki_settings_resolve(NULL, &settings));
    CHECK(eki_dvs_read(settings.options.dvs, &read));
    CHECK_EQ_INT(read.layout, EKI_LAYOUT_DIAMOND);
    CHECK_EQ_INT(read.source, -1);
    CHECK_EQ_INT(read.escape, 0);
    CHECK_OK(eki_settings_set(&settings, "dvs",
                              "layout=allotted,columns=8,rows=6,cell=28"));
    CHECK(eki_dvs_read(settings.options.dvs, &read));
    CHECK_EQ_INT(read.layout, EKI_LAYOUT_ALLOTTED);
    CHECK_EQ_INT(read.columns * 100 + read.rows, 806);
    CHECK_EQ_INT(read.cell, 28);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_EQ_INT(eki_settings_set(&settings, "dvs", bad[i]), EK_ERR_ARG);
    expect_refusal("EVENKEEL_DVS", "layout=ring", EKI_DVS_ALLOWED);
}

static void lifelines_are_read(void)
{
    static const char *const bad[] = {"",         "graph=cube",  "radix=1",
                                      "radix=33", "attempts=65", "attempts=-1"};
    struct eki_settings settings;
    struct eki_lifeline_option read;
    CHECK_OK(eki_settings_resolve(NULL, &settings));
    CHECK(eki_lifeline_read(settings.options.lifeline, &read));
    CHECK_EQ_INT(read.graph, EKI_GRAPH_AUTO);
    CHECK_EQ_INT(read.radix * 100 + read.attempts, 404);
    CHECK_OK(eki_settings_set(&settings, "lifeline", "graph=xor,attempts=0"));
    CHECK(eki_lifeline_read(settings.options.lifeline, &read));
    CHECK_EQ_INT(read.graph, EKI_GRAPH_XOR);
    CHECK_EQ_INT(read.radix * 100 + read.attempts, 400);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_EQ_INT(eki_settings_set(&settings, "lifeline", bad[i]),
                     EK_ERR_ARG);
    expect_refusal("EVENKEEL_LIFELINE", "radix=33", EKI_LIFELINE_ALLOWED);
}

static void epochs_and_damping_are_read(void)
{
    struct eki_settings settings;
    struct eki_sws_option read;
    CHECK_OK(eki_settings_resolve(NULL, &settings));
    CHECK(eki_sws_read(settings.options.sws, &read));
    CHECK_EQ_INT(read.epochs * 100 + read.damping, 201);
    CHECK(!eki_sws_read("epochs=2,damping=1,epochs=1", &read));
    CHECK(eki_sws_read("damping=0,epochs=1", &read));
    CHECK_EQ_INT(read.epochs * 100 + read.damping, 100);
    /* It is the layout of a word that others work on. */
    CHECK_EQ_INT(eki_settings_set(&settings, "sws", "epochs=1"), EK_ERR_ARG);
    expect_refusal("EVENKEEL_SWS", "epochs=3", EKI_SWS_ALLOWED);
}

static void checkpoints_come_by_number_or_time(void)
{
    static const char *const bad[] = {
        "",          "DIR",          "@every:1",     "DIR@every:",
        "DIR@every", "DIR@every:0",  "DIR@every:s",  "DIR@every:1000001",
        "DIR@10min", "DIR@every:-1", "DIR@every:1d", "DIR@every:1 s"};
    static const struct {
        const char *text;
        int64_t iterations;
        uint64_t ns;
    } good[] = {{"DIR@every:20", 20, 0},
                {"DIR@every:5ms", 0, 5000000},
                {"DIR@every:30s", 0, UINT64_C(30000000000)},
                {"DIR@every:10min", 0, UINT64_C(600000000000)},
                {"a@b@every:1000000h", 0, UINT64_C(3600000000000000000)}};
    struct eki_checkpoint_option read;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_refusal("EVENKEEL_CHECKPOINT", bad[i], EKI_CHECKPOINT_ALLOWED);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK(eki_checkpoint_read(good[i].text, &read));
        CHECK_EQ_INT(read.folder, 3);
        CHECK_EQ_INT(read.iterations, good[i].iterations);
        CHECK_EQ_INT(read.ns, good[i].ns);
    }
    CHECK(eki_checkpoint_read("0", &read));
    CHECK_EQ_INT(read.folder, 0);
}

/* 0 is the default, as text, too. */
static void zero_means_the_default(void)
{
    struct eki_settings settings;
    ek_options options = EK_OPTIONS_INIT;
    CHECK_OK(ek_options_set(&options, "stall_ms", "0"));
    CHECK_OK(ek_options_set(&options, "buffer_slots", "0"));
    CHECK_OK(ek_options_set(&options, "seed", "0"));
    CHECK_OK(eki_settings_resolve(&options, &settings));
    CHECK_EQ_INT(settings.options.stall_ms, 10000);
    CHECK_EQ_INT(settings.options.buffer_slots, 256);
    CHECK_EQ_INT(settings.options.seed, 1);
    CHECK_EQ_INT(ek_options_set(&options, "buffer_slots", "1"), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "allowed: 0, 2 ... 1048576 slots");
    CHECK_OK(eki_settings_set(&settings, "stall_ms", "-1"));
    CHECK_EQ_INT((int64_t)eki_stall_ns(&settings.options), 0);
    CHECK_OK(eki_settings_set(&settings, "stall_ms", "0"));
    CHECK_EQ_INT((int64_t)eki_stall_ns(&settings.options), 10000000000);
}

static void hooks_know_their_size(void)
{
    struct eki_settings settings;
    ek_options options = EK_OPTIONS_INIT;
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    options.hooks = &hooks;
    hooks.struct_bytes = 0;
    CHECK_EQ_INT(eki_settings_resolve(&options, &settings), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "EK_WORKER_HOOKS_INIT");
}

static void struct_of_an_older_program_is_understood(void)
{
    struct eki_settings settings;
    ek_options options = EK_OPTIONS_INIT;
    options.struct_bytes = offsetof(ek_options, iterations_expected);
    options.workers = 5;
    options.iterations_expected = -77; /* beyond what the program knows */
    CHECK_OK(eki_settings_resolve(&options, &settings));
    CHECK_EQ_INT(settings.options.workers, 5);
    CHECK_EQ_INT(settings.options.iterations_expected, 0);
    /* Before there were records. */
    options = (ek_options)EK_OPTIONS_INIT;
    options.struct_bytes = offsetof(ek_options, record);
    options.record = "beyond";
    CHECK_OK(eki_settings_resolve(&options, &settings));
    CHECK_EQ_TEXT(settings.options.record, "0");
}

static void struct_of_a_newer_program_is_cut(void)
{
    struct {
        ek_options options;
        char more[64];
    } newer = {.options = EK_OPTIONS_INIT};
    struct eki_settings settings;
    newer.options.struct_bytes = sizeof newer;
    newer.options.workers = 5;
    CHECK_OK(eki_settings_resolve(&newer.options, &settings));
    CHECK_EQ_INT(settings.options.workers, 5);
}

static void struct_without_its_size_is_refused(void)
{
    struct eki_settings settings;
    ek_options options = EK_OPTIONS_INIT;
    options.struct_bytes = 0;
    CHECK_EQ_INT(eki_settings_resolve(&options, &settings), EK_ERR_ARG);
    CHECK_EQ_TEXT(ek_error_message(),
                  "option struct_bytes: 0 is not allowed; initialize the "
                  "options with EK_OPTIONS_INIT or ek_options_init()");
    const size_t absurd[] = {offsetof(ek_options, payload_bytes) - 1,
                             sizeof options + 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
        options.struct_bytes = absurd[i];
        CHECK_EQ_INT(eki_settings_resolve(&options, &settings), EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), "EK_OPTIONS_INIT");
    }
}

static void set_changes_what_may_change(void)
{
    struct eki_settings settings;
    CHECK_OK(eki_settings_resolve(NULL, &settings));
    static const char *const sets[][2] = {
        {"steal", "counter"},     {"restore", "original"},
        {"order", "executed"},    {"on_failure", "continue"},
        {"poll_period_us", "25"}, {"stall_ms", "-1"},
        {"report", "x.tsv"},
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        CHECK_OK(eki_settings_set(&settings, sets[i][0], sets[i][1]));
    CHECK_EQ_INT(settings.options.steal, EK_STEAL_COUNTER);
    CHECK_EQ_INT(settings.options.restore, EK_RESTORE_ORIGINAL);
    CHECK_EQ_INT(settings.options.order, EKI_ORDER_EXECUTED);
    CHECK_EQ_INT(settings.options.on_failure, EK_ON_FAILURE_CONTINUE);
    CHECK_EQ_INT(settings.options.poll_period_us, 25);
    CHECK_EQ_INT(settings.options.stall_ms, -1);
    CHECK_EQ_TEXT(settings.options.report, "x.tsv");
    CHECK(settings.options.report == settings.report);
}

static void set_refuses_the_rest(void)
{
    struct eki_settings settings;
    CHECK_OK(eki_settings_resolve(NULL, &settings));
    const char *message = "option 'workers' cannot be set; allowed: restore, "
                          "steal, on_failure, on_error, iterations_expected, "
                          "stall_ms, report, order, poll_period_us, "
                          "balance_group, balance_ppm, hpdc12, status, dvs, "
                          "steal_batch, load_threshold, lifeline, "
                          "termination, saves, checkpoint, on_stall, on_stop";
    CHECK_EQ_INT(eki_settings_set(&settings, "workers", "2"), EK_ERR_ARG);
    CHECK_EQ_TEXT(ek_error_message(), message);
    CHECK_EQ_INT(eki_settings_set(&settings, "stael", "2"), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "'stael' cannot be set; allowed: ");
    CHECK_EQ_INT(eki_settings_set(&settings, "steal", "loads"), EK_ERR_ARG);
    CHECK_EQ_TEXT(ek_error_message(),
                  "option steal: 'loads' is not allowed; allowed: " STEALS);
    CHECK_EQ_INT(eki_settings_set(&settings, "steal", "near@1"), EK_ERR_ARG);
    CHECK_EQ_INT(eki_settings_set(&settings, "stall_ms", "-2"), EK_ERR_ARG);
    CHECK_EQ_TEXT(ek_error_message(), "option stall_ms: '-2' is not allowed; "
                                      "allowed: -1 ... 1000000000 ms");
    CHECK_EQ_INT(eki_settings_set(&settings, NULL, "1"), EK_ERR_ARG);
    CHECK_EQ_INT(eki_settings_set(&settings, "steal", NULL), EK_ERR_ARG);
    CHECK_EQ_INT(settings.options.workers, 0);
    CHECK_EQ_INT(settings.options.steal, EK_STEAL_RANDOM);
    CHECK_EQ_INT(settings.options.stall_ms, 10000);
}

/* A binding gives room, and a program of another version another struct. */
static void options_are_made_in_any_room(void)
{
    struct {
        ek_options options;
        char more[256];
    } room;
    const char *more = room.more;
    memset(&room, 0x55, sizeof room);
    CHECK_OK(ek_options_init(&room.options, sizeof room));
    CHECK_EQ_INT(room.options.struct_bytes, sizeof room.options);
    CHECK_EQ_INT(room.options.payload_bytes, 0);
    CHECK(room.options.record == NULL);
    CHECK_EQ_INT(more[0], 0x55);

    size_t older = offsetof(ek_options, text_only);
    memset(&room, 0x55, sizeof room);
    CHECK_OK(ek_options_init(&room.options, older));
    CHECK_EQ_INT(room.options.struct_bytes, older);
    CHECK_EQ_INT(((char *)&room)[older], 0x55);
    CHECK_EQ_INT(ek_options_set(&room.options, "seed", "7"), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "option 'seed' has no room in these");
    CHECK_EQ_INT(((char *)&room)[older], 0x55);
    CHECK_OK(ek_options_set(&room.options, "stall_ms", "7"));
    CHECK_EQ_INT(room.options.stall_ms, 7);

    CHECK_EQ_INT(ek_options_init(&room.options, 8), EK_ERR_ARG);
    CHECK_EQ_INT(ek_options_init(NULL, sizeof room), EK_ERR_ARG);
}

static void every_option_can_be_said_as_text(void)
{
    struct eki_settings settings;
    ek_options options = EK_OPTIONS_INIT;
    CHECK_OK(eki_settings_resolve(NULL, &settings));
    for (int i = 0; i < eki_option_count(); i++) {
        static char texts[64][64]; /* borrowed */
        char *text = texts[i];
        eki_option_part(i, &settings, 0, text, sizeof texts[i]);
        CHECK_OK(ek_options_set(&options, eki_option_at(i)->field.name, text));
        CHECK_EQ_INT(
            ek_options_set(&options, eki_option_at(i)->field.name, "@"),
            EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), eki_option_at(i)->field.name);
    }
    static const char *const said[][2] = {
        {"name", "fock"},    {"payload_bytes", "4000"},
        {"workers", "3"},    {"restore", "auto"},
        {"deque", "locked"}, {"ignore_environment", "true"},
        {"record", "%.ekr"}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        CHECK_OK(ek_options_set(&options, said[i][0], said[i][1]));
    CHECK_OK(eki_settings_resolve(&options, &settings));
    CHECK_EQ_TEXT(settings.name, "fock");
    CHECK_EQ_INT(settings.options.payload_bytes, 4000);
    CHECK_EQ_INT(settings.options.workers, 3);
    CHECK_EQ_INT(settings.options.restore, EK_RESTORE_AUTO);
    CHECK_EQ_INT(settings.options.deque, EKI_DEQUE_OPTION_LOCKED);
    CHECK(settings.options.ignore_environment);
    CHECK_EQ_TEXT(settings.record, "%.ekr");

    CHECK_EQ_INT(ek_options_set(&options, "hooks", "0"), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "payload_bytes");
    CHECK_EQ_INT(ek_options_set(&options, "name", NULL), EK_ERR_ARG);
    CHECK_EQ_INT(ek_options_set(NULL, "name", "fock"), EK_ERR_ARG);
}

static void set_leaves_the_environment_in_force(void)
{
    struct eki_settings settings;
    resolve_with("EVENKEEL_STEAL", "none@2", "tasks", &settings);
    CHECK_OK(eki_settings_set(&settings, "steal", "near"));
    CHECK_EQ_INT(settings.options.steal, EK_STEAL_NEAR);
    CHECK_EQ_INT(
        eki_schedule_at(&settings.steal, 2, (int)settings.options.steal),
        EK_STEAL_NONE);
    CHECK_EQ_INT(
        eki_schedule_at(&settings.steal, 3, (int)settings.options.steal),
        EK_STEAL_NEAR);
    eki_settings_free(&settings);
}

/* Defaults are in range, since they resolve; their text means the same. */
static void every_default_survives_the_environment(void)
{
    struct eki_settings settings, again;
    CHECK_OK(eki_settings_resolve(NULL, &settings));
    for (int i = 0; i < eki_option_count(); i++) {
        char variable[64], text[64], text_again[64];
        if (!(eki_option_at(i)->traits & EKI_HAS_VARIABLE))
            continue;
        eki_option_variable(i, variable, sizeof variable);
        eki_option_part(i, &settings, 0, text, sizeof text);
        resolve_with(variable, text, "tasks", &again);
        eki_settings_free(&again);
        ek_options options = EK_OPTIONS_INIT;
        CHECK_OK(ek_options_set(&options, eki_option_at(i)->field.name, text));
        CHECK_OK(eki_settings_resolve(&options, &again));
        eki_option_part(i, &again, 0, text_again, sizeof text_again);
        CHECK_EQ_TEXT(text_again, text);
    }
}

static void table_knows_every_field_and_its_traits(void)
{
    static const struct {
        const char *name;
        int traits;
    } fields[] = {
        {"name", EKI_AGREES},
        {"payload_bytes", EKI_AGREES},
        {"workers", EKI_HAS_VARIABLE},
        {"restore", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"steal", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"progress", EKI_AGREES | EKI_HAS_VARIABLE},
        {"on_failure", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"on_error", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"iterations_expected", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"stall_ms", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"report", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"record", EKI_AGREES | EKI_HAS_VARIABLE},
        {"ignore_environment", 0},
        {"seed", EKI_AGREES | EKI_HAS_VARIABLE},
        {"order", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"deque", EKI_AGREES | EKI_HAS_VARIABLE},
        {"buffer_slots", EKI_AGREES | EKI_HAS_VARIABLE},
        {"ranks_per_node", EKI_AGREES | EKI_HAS_VARIABLE},
        {"poll_period_us", EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"balance_group", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"balance_ppm", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"hpdc12", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"dvs", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"steal_batch", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"load_threshold", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"lifeline", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"termination", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"sws", EKI_AGREES | EKI_HAS_VARIABLE},
        {"saves", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"checkpoint", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"on_stop", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"signal", EKI_AGREES | EKI_HAS_VARIABLE},
        {"time_limit", EKI_AGREES | EKI_HAS_VARIABLE},
        {"data", EKI_AGREES | EKI_HAS_VARIABLE},
        {"data_bytes", EKI_AGREES | EKI_HAS_VARIABLE},
        {"hints", EKI_AGREES | EKI_HAS_VARIABLE},
        {"on_stall", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
        {"replay", EKI_AGREES | EKI_HAS_VARIABLE},
        {"timeline", EKI_AGREES | EKI_HAS_VARIABLE},
        {"check", EKI_HAS_VARIABLE},
        {"status", EKI_AGREES | EKI_HAS_VARIABLE | EKI_SETTABLE},
    };
    CHECK_EQ_INT(eki_option_count(), sizeof fields / sizeof fields[0]);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        int option = option_called(fields[i].name);
        bool same = eki_option_at(option)->traits == fields[i].traits;
        CHECK_EQ_TEXT(same ? fields[i].name : "another", fields[i].name);
    }
    char variable[64];
    eki_option_variable(option_called("poll_period_us"), variable,
                        sizeof variable);
    CHECK_EQ_TEXT(variable, "EVENKEEL_POLL_PERIOD_US");
}

int main(void)
{
    RUN(no_options_mean_defaults);
    RUN(program_overrides_defaults);
    RUN(program_numbers_and_choices_are_checked);
    RUN(program_texts_are_checked);
    RUN(constants_of_the_paper_are_read);
    RUN(meshes_are_read);
    RUN(lifelines_are_read);
    RUN(epochs_and_damping_are_read);
    RUN(checkpoints_come_by_number_or_time);
    RUN(zero_means_the_default);
    RUN(hooks_know_their_size);
    RUN(struct_of_an_older_program_is_understood);
    RUN(struct_of_a_newer_program_is_cut);
    RUN(struct_without_its_size_is_refused);
    RUN(options_are_made_in_any_room);
    RUN(every_option_can_be_said_as_text);
    RUN(set_changes_what_may_change);
    RUN(set_refuses_the_rest);
    RUN(set_leaves_the_environment_in_force);
    RUN(every_default_survives_the_environment);
    RUN(table_knows_every_field_and_its_traits);
    return check_result();
}
