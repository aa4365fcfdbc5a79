/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment: variables, what they win over, and schedules in them. */
#define _GNU_SOURCE
#include "settings.h"

struct heard {
    int lines;
    char text[4096];
};

static void listen(ek_level level, const char *line, void *context)
{
    struct heard *heard = context;
    (void)level;
    heard->lines++;
    eki_append(heard->text, sizeof heard->text, "%s\n", line);
}

/* Must run first: the warnings come once per process. */
static void unknown_variables_warn_once_with_the_nearest_name(void)
{
    struct heard heard = {0};
    struct eki_settings settings;
    char name[256];
    snprintf(name, sizeof name, "EVENKEEL_%0200d", 1);
    setenv("EVENKEEL_STAEL", "near", 1);
    setenv("EVENKEEL_POLL_PERIOD", "3", 1);
    setenv("EVENKEEL_LOGS", "3", 1);
    setenv("EVENKEEL_SEED", "3", 1);
    setenv("EVENKEEL_LOG", "warn", 1);
    setenv("EVENKEEL_LIBRARY", "x.so", 1); /* evenkeel.py reads it */
    setenv(name, "", 1);

    ek_set_sink(listen, &heard, EK_LEVEL_WARN);
    ek_options options = EK_OPTIONS_INIT;
    options.ignore_environment = true;
    CHECK_OK(eki_settings_resolve(&options, &settings));
    CHECK_EQ_INT(heard.lines, 0);
    CHECK_EQ_INT(settings.options.seed, 1);

    CHECK_OK(eki_settings_resolve(NULL, &settings));
    CHECK_EQ_INT(heard.lines, 0);
    eki_settings_warn();
    CHECK_EQ_INT(heard.lines, 4);
    CHECK_HAS_TEXT(heard.text, "evenkeel base: EVENKEEL_STAEL is unknown and "
                               "ignored; the nearest known name is "
                               "EVENKEEL_STEAL\n");
    CHECK_HAS_TEXT(heard.text, "known name is EVENKEEL_POLL_PERIOD_US\n");
    CHECK_HAS_TEXT(heard.text, "known name is EVENKEEL_LOG\n");
    CHECK_EQ_INT(settings.options.seed, 3);
    eki_settings_free(&settings);

    eki_settings_warn();
    CHECK_EQ_INT(heard.lines, 4);

    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    unsetenv("EVENKEEL_STAEL");
    unsetenv("EVENKEEL_POLL_PERIOD");
    unsetenv("EVENKEEL_LOGS");
    unsetenv("EVENKEEL_SEED");
    unsetenv("EVENKEEL_LOG");
    unsetenv("EVENKEEL_LIBRARY");
    unsetenv(name);
}

static void log_level_is_checked(void)
{
    struct eki_settings settings;
    expect_refusal("EVENKEEL_LOG", "loud",
                   "none, error, warn, info, debug, trace");
    resolve_with("EVENKEEL_LOG", "info", "tasks", &settings);
}

static void environment_wins_over_the_program(void)
{
    struct eki_settings settings;
    ek_options options = EK_OPTIONS_INIT;
    options.workers = 3;
    options.report = "1";
    CHECK_OK(ek_options_set(&options, "deque", "atomic"));
    setenv("EVENKEEL_WORKERS", "7", 1);
    setenv("EVENKEEL_REPORT", "a/b.tsv", 1);
    setenv("EVENKEEL_DEQUE", "locked", 1);
    setenv("EVENKEEL_SEED", "-9223372036854775808", 1);
    CHECK_OK(eki_settings_resolve(&options, &settings));
    CHECK_EQ_INT(settings.options.workers, 7);
    CHECK_EQ_TEXT(settings.options.report, "a/b.tsv");
    CHECK_EQ_INT(settings.options.deque, EKI_DEQUE_OPTION_LOCKED);
    CHECK_EQ_INT(settings.options.seed, INT64_MIN);

    options.ignore_environment = true;
    CHECK_OK(eki_settings_resolve(&options, &settings));
    CHECK_EQ_INT(settings.options.workers, 3);
    CHECK_EQ_TEXT(settings.options.report, "1");
    unsetenv("EVENKEEL_WORKERS");
    unsetenv("EVENKEEL_REPORT");
    unsetenv("EVENKEEL_DEQUE");
    unsetenv("EVENKEEL_SEED");
}

static void environment_numbers_are_strict(void)
{
    static const char *const bad[] = {
        "",    "x",  "3x",  " 3",  "3 ",    "3.5", "0x10",
        "1e3", "-1", "--3", "+-3", "65537", "-",   "99999999999999999999",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_refusal("EVENKEEL_WORKERS", bad[i], "0 ... 65536 workers");
    expect_refusal("EVENKEEL_SEED", "9223372036854775808",
                   "-9223372036854775808 ... 9223372036854775807");
}

static void environment_choices_and_texts_are_checked(void)
{
    expect_refusal("EVENKEEL_ORDER", "Longest",
                   "longest, executed, reversed, ascending");
    expect_refusal("EVENKEEL_REPORT", "3", REPORTS);
}

static void some_fields_are_not_in_the_environment(void)
{
    struct eki_settings settings;
    setenv("EVENKEEL_NAME", "other", 1);
    setenv("EVENKEEL_PAYLOAD_BYTES", "8", 1);
    setenv("EVENKEEL_IGNORE_ENVIRONMENT", "true", 1);
    CHECK_OK(eki_settings_resolve(NULL, &settings));
    CHECK_EQ_TEXT(settings.options.name, "tasks");
    CHECK_EQ_INT(settings.options.payload_bytes, 48);
    CHECK(!settings.options.ignore_environment);
    unsetenv("EVENKEEL_NAME");
    unsetenv("EVENKEEL_PAYLOAD_BYTES");
    unsetenv("EVENKEEL_IGNORE_ENVIRONMENT");
}

static void schedule_of_one_policy_covers_everything(void)
{
    struct eki_settings settings;
    resolve_with("EVENKEEL_RESTORE", "original", "tasks", &settings);
    CHECK_EQ_INT(settings.options.restore, EK_RESTORE_RETAIN);
    CHECK_EQ_INT(settings.restore.count, 1);
    CHECK_EQ_INT(eki_schedule_at(&settings.restore, 0, EK_RESTORE_RETAIN),
                 EK_RESTORE_ORIGINAL);
    CHECK_EQ_INT(
        eki_schedule_at(&settings.restore, INT64_MAX, EK_RESTORE_RETAIN),
        EK_RESTORE_ORIGINAL);
    eki_settings_free(&settings);
    CHECK(settings.restore.entries == NULL && settings.restore.count == 0);
}

static void schedule_lists_iterations_and_the_last_match_wins(void)
{
    struct eki_settings settings;
    resolve_with("EVENKEEL_STEAL", "near@1,none@3-5,counter@4,near@10-",
                 "tasks", &settings);
    static const ek_steal_policy expected[] = {
        EK_STEAL_RANDOM,  EK_STEAL_NEAR,   EK_STEAL_RANDOM, EK_STEAL_NONE,
        EK_STEAL_COUNTER, EK_STEAL_NONE,   EK_STEAL_RANDOM, EK_STEAL_RANDOM,
        EK_STEAL_RANDOM,  EK_STEAL_RANDOM, EK_STEAL_NEAR,   EK_STEAL_NEAR};
    for (int i = 0; i < 12; i++)
        CHECK_EQ_INT(eki_schedule_at(&settings.steal, i, EK_STEAL_RANDOM),
                     expected[i]);
    eki_settings_free(&settings);

    resolve_with("EVENKEEL_STEAL", "near@1,none", "tasks", &settings);
    CHECK_EQ_INT(eki_schedule_at(&settings.steal, 1, EK_STEAL_RANDOM),
                 EK_STEAL_NONE);
    eki_settings_free(&settings);
}

static void schedule_of_an_argument_names_no_collection(void)
{
    struct eki_schedule schedule;
    struct eki_schedule_source source = {.variable = "--steal",
                                         .list = "near@1,counter:2@2-",
                                         .choices =
                                             eki_option_choices("steal")};
    CHECK_OK(eki_schedule_parse(&source, &schedule));
    CHECK_EQ_INT(schedule.count, 2);
    CHECK_EQ_INT(eki_schedule_at(&schedule, 9, EK_STEAL_RANDOM),
                 eki_chunked(EK_STEAL_COUNTER, 2));
    eki_schedule_free(&schedule);
    source.list = "none,fock:near";
    CHECK_EQ_INT(eki_schedule_parse(&source, &schedule), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "--steal: 'fock:near' is not allowed; "
                                       "allowed: policy[@iterations], ...");
}

static void counter_comes_with_a_chunk(void)
{
    static const char *const bad[] = {"counter:",
                                      "counter:0",
                                      "counter:-1",
                                      "counter:1048577",
                                      "counter:2x",
                                      "counter:N",
                                      "counter:1...1048576",
                                      "counter:99999999999999999999",
                                      "none:2"};
    ek_options options = EK_OPTIONS_INIT;
    struct eki_settings settings;
    CHECK_OK(ek_options_set(&options, "steal", "counter:16"));
    CHECK_EQ_INT(options.steal, eki_chunked(EK_STEAL_COUNTER, 16));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ_INT(ek_options_set(&options, "steal", bad[i]), EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), "counter, counter:1...1048576");
        CHECK_EQ_INT(options.steal, eki_chunked(EK_STEAL_COUNTER, 16));
    }
    CHECK_OK(ek_options_set(&options, "steal", "counter:guided"));
    CHECK_EQ_INT(options.steal,
                 eki_chunked(EK_STEAL_COUNTER, EKI_CHUNK_GUIDED));
    CHECK_OK(ek_options_set(&options, "steal", "counter:1"));
    CHECK_EQ_INT(options.steal, EK_STEAL_COUNTER);

    resolve_with("EVENKEEL_STEAL",
                 "counter:1048576,counter:2@1,fock:counter:3@2,t:none", "fock",
                 &settings);
    static const int chunks[] = {1048576, 2, 3};
    char text[EKI_OPTION_BYTES] = "";
    for (int i = 0; i < 3; i++)
        CHECK_EQ_INT(eki_schedule_at(&settings.steal, i, 0),
                     eki_chunked(EK_STEAL_COUNTER, chunks[i]));
    eki_schedule_entry_text(
        &settings.steal, 2,
        (const struct eki_choice[]){{"counter", EK_STEAL_COUNTER},
                                    {"counter:1...9", EK_STEAL_COUNTER},
                                    {NULL, 0}},
        text, sizeof text);
    CHECK_EQ_TEXT(text, "counter:3@2");
    eki_settings_free(&settings);
}

static void schedule_entries_may_name_a_collection(void)
{
    const char *list = "fock:near,t2:none@1,counter@7";
    struct eki_settings settings;
    resolve_with("EVENKEEL_STEAL", list, "fock", &settings);
    CHECK_EQ_INT(settings.steal.count, 2);
    CHECK_EQ_INT(eki_schedule_at(&settings.steal, 1, 0), EK_STEAL_NEAR);
    CHECK_EQ_INT(eki_schedule_at(&settings.steal, 7, 0), EK_STEAL_COUNTER);
    eki_settings_free(&settings);

    resolve_with("EVENKEEL_STEAL", list, "t2", &settings);
    CHECK_EQ_INT(eki_schedule_at(&settings.steal, 0, 0), EK_STEAL_RANDOM);
    CHECK_EQ_INT(eki_schedule_at(&settings.steal, 1, 0), EK_STEAL_NONE);
    eki_settings_free(&settings);

    resolve_with("EVENKEEL_STEAL", "fock:near,t2:none", "t", &settings);
    CHECK(settings.steal.entries == NULL && settings.steal.count == 0);
    eki_settings_free(&settings);
}

static void schedule_with_a_bad_entry_is_refused(void)
{
    static const char allowed[] =
        "[collection:]policy[@iterations], ..., where iterations is N, N-M or "
        "N-";
    expect_refusal("EVENKEEL_STEAL", "loads", STEALS);
    expect_refusal_of("EVENKEEL_RESTORE", "retain@1,default@2-", "default@2-",
                      RESTORES);
    expect_refusal("EVENKEEL_STEAL", "other:loads", STEALS);
    static const char *const bad[] = {
        "",         "near@",    "near@x",
        "near@1-x", "near@2-1", "near@-1",
        ":near",    "a b:near", "near@1@2",
        "near@1:2", "near@+1",  "near@1--2",
        "near@1 ",  "x/y:near", "near@99999999999999999999",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char list[100];
        expect_refusal("EVENKEEL_STEAL", bad[i], allowed);
        snprintf(list, sizeof list, "none@2,%s", bad[i]);
        expect_refusal_of("EVENKEEL_STEAL", list, bad[i], allowed);
        snprintf(list, sizeof list, "%s,none@2", bad[i]);
        expect_refusal_of("EVENKEEL_STEAL", list, bad[i], allowed);
    }
}

static void entries_of_a_schedule_are_parts(void)
{
    static const char *const parts[] = {"random", "near", "none@1",
                                        "counter@3-5", "random@7-"};
    struct eki_settings settings;
    char text[EKI_OPTION_BYTES];
    int steal = option_called("steal"), restore = option_called("restore");
    resolve_with("EVENKEEL_STEAL", "near,none@1,counter@3-5,random@7-", "tasks",
                 &settings);
    for (int i = 0; i < 5; i++) {
        CHECK(eki_option_part(steal, &settings, i, text, sizeof text));
        CHECK_EQ_TEXT(text, parts[i]);
        CHECK(eki_option_part(steal, &settings, i, text, 3));
        CHECK_EQ_INT(strlen(text), 2);
    }
    CHECK(!eki_option_part(steal, &settings, 5, text, sizeof text));
    CHECK_EQ_TEXT(text, "");
    CHECK(eki_option_part(restore, &settings, 0, text, sizeof text));
    CHECK_EQ_TEXT(text, "retain");
    CHECK(!eki_option_part(restore, &settings, 1, text, sizeof text));
    eki_settings_free(&settings);
}

static void failing_allocations_leave_nothing_owned(void)
{
    struct eki_settings settings;
    setenv("EVENKEEL_STEAL", "near", 1);
    setenv("EVENKEEL_RESTORE", "retain", 1);
    int failures = 0;
    for (int n = 1; n < 10; n++) {
        eki_memory_fail(n);
        ek_status status = eki_settings_resolve(NULL, &settings);
        if (status == EK_OK) {
            eki_settings_free(&settings);
            break;
        }
        failures++;
        CHECK_EQ_INT(status, EK_ERR_NOMEM);
        CHECK(settings.restore.entries == NULL);
        CHECK(settings.steal.entries == NULL);
    }
    eki_memory_fail(0);
    CHECK_EQ_INT(failures, 2);
    unsetenv("EVENKEEL_STEAL");
    unsetenv("EVENKEEL_RESTORE");
}

int main(void)
{
    RUN(unknown_variables_warn_once_with_the_nearest_name);
    RUN(log_level_is_checked);
    RUN(environment_wins_over_the_program);
    RUN(environment_numbers_are_strict);
    RUN(environment_choices_and_texts_are_checked);
    RUN(some_fields_are_not_in_the_environment);
    RUN(schedule_of_one_policy_covers_everything);
    RUN(schedule_lists_iterations_and_the_last_match_wins);
    RUN(schedule_of_an_argument_names_no_collection);
    RUN(counter_comes_with_a_chunk);
    RUN(schedule_entries_may_name_a_collection);
    RUN(schedule_with_a_bad_entry_is_refused);
    RUN(entries_of_a_schedule_are_parts);
    RUN(failing_allocations_leave_nothing_owned);
    return check_result();
}
