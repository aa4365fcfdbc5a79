/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: the table, figures by name, print, and the sentence of the limit. */
#include "check.h"
#include "report/print.h"

#include <stdlib.h>
#include <unistd.h>

/* A report of rank RANK, with distinct figures in every field. */
static struct eki_report *report_of(int rank, const char *collection)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    struct eki_report *report = NULL;
    CHECK_OK(eki_report_create(rank, 4, collection, &report));
    for (int i = 0; i < table->count; i++) {
        const struct eki_field *field = &table->fields[i];
        void *at = (unsigned char *)&report->figures + field->offset;
        if (field->type == EKI_FIELD_REAL)
            *(double *)at = i + 0.5;
        else if (field->type == EKI_FIELD_NUMBER)
            *(int *)at = i;
        else if (field->type == EKI_FIELD_CHOICE)
            *(int *)at = EK_STEAL_NONE; /* and EK_RESTORE_RETAIN */
        else
            *(int64_t *)at = i;
    }
    report->is_made = true;
    return report;
}

static void add_functions(struct eki_report *report)
{
    report->functions = eki_alloc(2, sizeof *report->functions);
    report->function_count = 2;
    report->functions[0] = (struct eki_report_function){"fock", 7, 1.5, 4};
    report->functions[1] = (struct eki_report_function){"fock.k", 8, 2.5, 4};
}

struct heard {
    int lines;
    char text[8192];
};

static void listen(ek_level level, const char *line, void *context)
{
    struct heard *heard = context;
    (void)level;
    heard->lines++;
    eki_append(heard->text, sizeof heard->text, "%s\n", line);
}

static void read_file(const char *name, char *text, size_t bytes)
{
    FILE *file = fopen(name, "r");
    size_t got = file ? fread(text, 1, bytes - 1, file) : 0;
    text[got] = '\0';
    if (file)
        fclose(file);
}

/* Times FIRST occurs in TEXT. */
static int count_of(const char *text, char wanted)
{
    int count = 0;
    for (; *text; text++)
        count += *text == wanted;
    return count;
}

static void table_covers_the_struct(void)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    bool is_seen[sizeof(struct eki_figures)] = {false};
    size_t seen = 0;
    for (int i = 0; i < table->count; i++) {
        const struct eki_field *field = &table->fields[i];
        if (!CHECK(!is_seen[field->offset]))
            fprintf(stderr, "field %s\n", field->name);
        is_seen[field->offset] = true;
        seen += eki_field_bytes(field);
    }
    /* All, but the end may be filled up. */
    CHECK_EQ_INT((seen + 7) / 8 * 8, sizeof(struct eki_figures));
}

static void table_says_what_it_means(void)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    for (int i = 0; i < table->count; i++) {
        const struct eki_field *field = &table->fields[i];
        size_t length = strlen(field->name);
        bool is_time =
            length > 2 && strcmp(field->name + length - 2, "_s") == 0;
        bool is_size =
            length > 6 && strcmp(field->name + length - 6, "_bytes") == 0;
        CHECK_EQ_TEXT(field->unit, is_time ? "s" : is_size ? "B" : "");
        CHECK(strlen(field->help) > 0);
    }
}

static void every_field_is_found_by_name(void)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    struct eki_report *report = report_of(0, "tasks");
    for (int i = 0; i < table->count; i++) {
        const struct eki_field *field = &table->fields[i];
        double value = -1;
        CHECK_OK(eki_report_get(report, field->name, &value));
        CHECK_NEAR(value,
                   field->type == EKI_FIELD_REAL     ? i + 0.5
                   : field->type == EKI_FIELD_CHOICE ? EK_STEAL_NONE
                                                     : i,
                   0);
    }
    eki_report_destroy(&report);
    CHECK(report == NULL);
}

static void functions_are_found_by_name(void)
{
    struct eki_report *report = report_of(0, "tasks");
    double value = -1;
    add_functions(report);
    CHECK_OK(eki_report_get(report, "function.fock.tasks", &value));
    CHECK_NEAR(value, 7, 0);
    CHECK_OK(eki_report_get(report, "function.fock.k.work_s", &value));
    CHECK_NEAR(value, 2.5, 0);
    eki_report_destroy(&report);
}

static void unknown_fields_are_refused_with_what_is_allowed(void)
{
    static const char *const unknown[] = {
        "haste",     "",         "struct_bytes",       "function.fock",
        "function.", "function", "function.fock.wall", "function.none.tasks",
        "work",      "work_s.x"};
    struct eki_report *report = report_of(0, "tasks");
    add_functions(report);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        double value = 3;
        CHECK_EQ_INT(eki_report_get(report, unknown[i], &value), EK_ERR_ARG);
        CHECK_NEAR(value, 3, 0);
        CHECK_HAS_TEXT(ek_error_message(), unknown[i]);
        CHECK_HAS_TEXT(ek_error_message(), "iteration, ");
        CHECK_HAS_TEXT(ek_error_message(), "bound, ");
        CHECK_HAS_TEXT(ek_error_message(), "function.NAME.work_s");
    }
    eki_report_destroy(&report);
}

static void a_report_that_was_not_made_has_no_figures(void)
{
    struct eki_report *report = NULL;
    double value = 3;
    ek_process_report figures = EK_PROCESS_REPORT_INIT;
    CHECK_OK(eki_report_create(0, 1, "tasks", &report));
    CHECK_EQ_INT(eki_report_get(report, "efficiency", &value), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "EVENKEEL_REPORT");
    CHECK_EQ_INT(eki_report_get(NULL, "efficiency", &value), EK_ERR_STATE);
    CHECK_EQ_INT(eki_report_copy(report, &figures), EK_ERR_STATE);
    CHECK_OK(eki_report_open(report, "1"));
    eki_report_print(report);
    eki_report_last(report, 0, 0, 0);
    eki_report_destroy(&report);
    eki_report_destroy(&report);
}

static void copies_honour_the_size_of_the_programs_struct(void)
{
    struct eki_report *report = report_of(0, "tasks");
    ek_process_report figures = EK_PROCESS_REPORT_INIT;
    CHECK_OK(eki_report_copy(report, &figures));
    CHECK_EQ_INT(figures.struct_bytes, sizeof figures);
    CHECK_EQ_INT(memcmp(&figures.efficiency, &report->figures,
                        sizeof figures - sizeof(size_t)),
                 0);
    CHECK_NEAR(figures.largest_task_s, report->figures.largest_task_s, 0);

    figures = (ek_process_report)EK_PROCESS_REPORT_INIT;
    figures.struct_bytes = offsetof(ek_process_report, bound);
    CHECK_OK(eki_report_copy(report, &figures));
    CHECK_EQ_INT(figures.struct_bytes, offsetof(ek_process_report, bound));
    CHECK_NEAR(figures.efficiency, report->figures.efficiency, 0);
    CHECK_NEAR(figures.bound, 0, 0);

    figures.struct_bytes = 0;
    CHECK_EQ_INT(eki_report_copy(report, &figures), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "EK_PROCESS_REPORT_INIT");
    eki_report_destroy(&report);
}

static void level_one_is_a_line_per_iteration(void)
{
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "tasks");
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    report->figures.iteration = 3;
    report->figures.tasks = 17554;
    report->figures.wall_s = 1.234;
    report->figures.efficiency = 0.978;
    report->figures.speed = 0.961;
    report->figures.cpu_s = 7;
    report->figures.workers = 5;
    report->figures.steals = 12;
    report->figures.tries = 340;
    report->figures.imbalance = 0.03;
    report->figures.failed = report->figures.cancelled = 0;
    CHECK_OK(eki_report_open(report, "1"));
    eki_report_print(report);
    CHECK_EQ_TEXT(heard.text,
                  "evenkeel 0/4 report: iteration 3: 17554 tasks in 1.234 s, "
                  "efficiency 97.8 %, speed 96.1 %, processor time 1.4 s "
                  "per worker, steals 12.0 of 340.0 per worker, imbalance 3 "
                  "%\n");
    report->figures.failed = 2;
    report->figures.cancelled = 5;
    report->figures.wall_s = 12.5e-6;
    report->figures.cpu_s = 0;
    eki_report_print(report);
    CHECK_HAS_TEXT(heard.text, "imbalance 3 %, 2 failed, 5 cancelled\n");
    CHECK_HAS_TEXT(heard.text, "tasks in 12.5 us,");
    CHECK_HAS_TEXT(heard.text, "speed 96.1 %, steals");
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&report);
}

static void a_named_collection_is_named(void)
{
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "fock");
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    CHECK_OK(eki_report_open(report, "1"));
    eki_report_print(report);
    CHECK_HAS_TEXT(heard.text, "report: fock, iteration 0: ");
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&report);
}

/* Every line of TEXT; the widest. */
static size_t widest_of(const char *text)
{
    size_t widest = 0;
    while (*text) {
        size_t bytes = strcspn(text, "\n");
        widest = bytes > widest ? bytes : widest;
        text += bytes + 1;
    }
    return widest;
}

static void level_two_has_all_figures_in_columns(void)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "fock");
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    report->size = 163840;
    report->figures.largest_task_id = UINT64_MAX;
    report->figures.wall_s = 1.2345678e-05;
    CHECK_OK(eki_report_open(report, "2"));
    eki_report_print(report);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK(widest_of(heard.text) <= 100);
    CHECK_HAS_TEXT(heard.text, "report: fock, iteration 0: 6 tasks in 12.35 us"
                               ", efficiency 150.0 %\n");
    CHECK_HAS_TEXT(heard.text, " 18446744073709551615");
    CHECK_HAS_TEXT(heard.text, "  wall/s       1.235e-05  ");
    for (int i = 0; i < table->count; i++) {
        const struct eki_field *field = &table->fields[i];
        bool has_unit = field->unit[0] != '\0';
        size_t suffix = strcmp(field->unit, "B") == 0 ? 6 : 2 * has_unit;
        char title[40];
        snprintf(title, sizeof title, "  %.*s%s%s ",
                 (int)(strlen(field->name) - suffix), field->name,
                 has_unit ? "/" : "", field->unit);
        CHECK_HAS_TEXT(heard.text, title);
    }
    /* Titles of all lines stand in the same columns. */
    const char *line = strchr(heard.text, '\n') + 1;
    for (; *line; line = strchr(line, '\n') + 1) {
        const char *at = strstr(line, "report: ") + 8;
        CHECK(at[1] == ' ' && at[2] != ' ');
        if (strcspn(at, "\n") > 30)
            CHECK(at[25] == ' ' &&
                  (at[26] != ' ' || strcspn(at + 2, " ") > 11));
    }
    eki_report_destroy(&report);
}

static void level_zero_and_other_ranks_are_silent(void)
{
    struct heard heard = {0};
    struct eki_report *quiet = report_of(0, "tasks");
    struct eki_report *other = report_of(1, "tasks");
    ek_set_sink(listen, &heard, EK_LEVEL_TRACE);
    CHECK_OK(eki_report_open(quiet, NULL));
    CHECK_OK(eki_report_open(quiet, "0"));
    CHECK_OK(eki_report_open(other, "2"));
    CHECK_OK(eki_report_open(other, "/nowhere/at/all.tsv"));
    eki_report_print(quiet);
    eki_report_print(other);
    eki_report_last(quiet, 0, 0, 0);
    eki_report_last(other, 0, 0, 0);
    CHECK_EQ_INT(heard.lines, 0);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&quiet);
    eki_report_destroy(&other);
}

static const char file_name[] = "test_report_scratch.tsv";
static const char old_name[] = "test_report_scratch.tsv.1";

static void a_file_gets_a_header_and_a_row_per_iteration(void)
{
    struct eki_report *report = report_of(0, "tasks");
    char text[8192];
    CHECK_OK(eki_report_open(report, file_name));
    read_file(file_name, text, sizeof text);
    CHECK_EQ_INT(count_of(text, '\n'), 1);
    CHECK_HAS_TEXT(text, "collection\titeration\tefficiency\t");
    CHECK_HAS_TEXT(text, "\twall_s\twork_s\t");
    CHECK_HAS_TEXT(text, "\trestore\tsteal\tnull_tasks\t");

    eki_report_print(report);
    read_file(file_name, text, sizeof text);
    CHECK_HAS_TEXT(text, "\ntasks\t0\t1.5\t2.5\t");
    CHECK_HAS_TEXT(text, "\t15\t16\tretain\tnone\t19\t20\t21\t22\t23.5\t");
    /* Opened again: goes on. */
    CHECK_OK(eki_report_open(report, file_name));
    report->figures.wall_s = 0.123456789;
    eki_report_print(report);
    read_file(file_name, text, sizeof text);
    CHECK_EQ_INT(count_of(text, '\n'), 3);
    CHECK_EQ_INT(count_of(text, '\t'),
                 3 * eki_report_table_of(EKI_ROWS_JOB)->count);
    CHECK_HAS_TEXT(text, "\t0.123456789\t");
    eki_report_destroy(&report);
    remove(file_name);
}

static const char ranks_name[] = "test_report_ranks.tsv";
static const char functions_name[] = "test_report_functions.tsv";

static void ranks_and_functions_have_files_of_their_own(void)
{
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "fock");
    char text[8192], list[200];
    add_functions(report);
    report->ranks = eki_alloc((size_t)report->size, sizeof *report->ranks);
    report->ranks[2].rank = 2;
    report->ranks[2].figures.work_s = 0.25;
    snprintf(list, sizeof list, "ranks:%s,1,functions:%s", ranks_name,
             functions_name);
    CHECK_OK(eki_report_open(report, list));
    CHECK(report->wants_ranks);
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    eki_report_print(report);
    /* What goes on is not emptied. */
    snprintf(list, sizeof list, "functions:%s", functions_name);
    CHECK_OK(eki_report_open(report, list));
    CHECK(!report->wants_ranks);
    eki_report_print(report);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK_EQ_INT(heard.lines, 1);
    eki_report_destroy(&report);
    read_file(ranks_name, text, sizeof text);
    CHECK_HAS_TEXT(text, "collection\titeration\trank\tnode\t");
    CHECK_HAS_TEXT(text, "\nfock\t0\t2\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t"
                         "0.25\t");
    CHECK_EQ_INT(count_of(text, '\n'), 5);
    CHECK_EQ_INT(count_of(text, '\t'),
                 5 * eki_report_table_of(EKI_ROWS_RANKS)->count);
    read_file(functions_name, text, sizeof text);
    CHECK_EQ_TEXT(text, "collection\titeration\tname\ttasks\twork_s\n"
                        "fock\t4\tfock\t7\t1.5\nfock\t4\tfock.k\t8\t2.5\n"
                        "fock\t4\tfock\t7\t1.5\nfock\t4\tfock.k\t8\t2.5\n");
    remove(ranks_name);
    remove(functions_name);
}

static void destinations_are_lists_of_one_of_each_kind(void)
{
    static const char *const good[] = {"0",
                                       "2",
                                       "a.tsv",
                                       "ranks:a.tsv",
                                       "1,functions:b.tsv,ranks:a.tsv,c.tsv",
                                       "a.tsv,ranks:aa.tsv",
                                       "job:.tsv",
                                       "0,.d.tsv"};
    static const char *const bad[] = {"",
                                      "3",
                                      "1,2",
                                      ".tsv",
                                      "a.csv",
                                      "1,",
                                      "a.tsv,b.tsv",
                                      ",1",
                                      "ranks:.tsv",
                                      "ranks:1",
                                      "01",
                                      "functions:a.tsv,functions:b.tsv",
                                      "a.tsv,ranks:a.tsv",
                                      "ranks:a.tsv,b.tsv,functions:a.tsv"};
    struct eki_destination read;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(eki_destination_read(good[i], &read));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!CHECK(!eki_destination_read(bad[i], &read)))
            fprintf(stderr, "%s\n", bad[i]);
    }
    CHECK(eki_destination_read("1,functions:b.tsv,c.tsv", &read));
    CHECK_EQ_INT(read.level, 1);
    CHECK(read.name[EKI_ROWS_RANKS] == NULL);
    CHECK_EQ_INT(read.bytes[EKI_ROWS_FUNCTIONS], 5);
    CHECK_EQ_TEXT(read.name[EKI_ROWS_JOB], "c.tsv");
}

static void an_old_file_is_renamed(void)
{
    struct eki_report *report = report_of(0, "tasks");
    char text[8192];
    for (int run = 0; run < 3; run++) {
        CHECK_OK(eki_report_open(report, file_name));
        for (int i = 0; i < run; i++)
            eki_report_print(report);
        eki_report_close(report);
    }
    read_file(file_name, text, sizeof text);
    CHECK_EQ_INT(count_of(text, '\n'), 3);
    read_file(old_name, text, sizeof text);
    CHECK_EQ_INT(count_of(text, '\n'), 2);
    eki_report_destroy(&report);
    remove(file_name);
    remove(old_name);
}

static void collections_share_a_file(void)
{
    struct eki_report *fock = report_of(0, "fock"), *mp2 = report_of(0, "mp2");
    char text[8192];
    CHECK_OK(eki_report_open(fock, file_name));
    eki_report_print(fock);
    CHECK_OK(eki_report_open(mp2, file_name));
    eki_report_print(mp2);
    eki_report_print(fock);
    eki_report_destroy(&fock);
    eki_report_destroy(&mp2);
    read_file(file_name, text, sizeof text);
    CHECK_EQ_INT(count_of(text, '\n'), 4);
    CHECK_HAS_TEXT(text, "\tsaves_failed\tstopped\nfock\t");
    CHECK_HAS_TEXT(text, "\t65.5\t66.5\tacknowledged\t68.5\t69\t70\nmp2\t");
    CHECK_HAS_TEXT(text, "\nmp2\t");
    CHECK(access(old_name, F_OK) != 0);
    remove(file_name);
}

static void a_file_that_cannot_be_opened_is_named(void)
{
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "tasks");
    CHECK_OK(eki_report_open(report, "1"));
    CHECK_EQ_INT(eki_report_open(report, "/nowhere/at/all.tsv"), EK_ERR_FILE);
    CHECK_EQ_TEXT(ek_error_message(),
                  "cannot write '/nowhere/at/all.tsv': No such file or "
                  "directory");
    /* The old destination stays. */
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    eki_report_print(report);
    CHECK_EQ_INT(heard.lines, 1);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&report);
}

static void a_full_disk_is_said_once(void)
{
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "tasks");
    FILE *full = fopen("/dev/full", "w");
    if (!full) {
        eki_report_destroy(&report);
        return;
    }
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    CHECK_OK(eki_report_open(report, file_name));
    fclose(report->files[EKI_ROWS_JOB].stream);
    report->files[EKI_ROWS_JOB].stream = full;
    eki_report_print(report);
    eki_report_print(report);
    CHECK_EQ_INT(heard.lines, 1);
    CHECK_HAS_TEXT(heard.text, "cannot write 'test_report_scratch.tsv': No "
                               "space left on device");
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&report);
    remove(file_name);
}

static void memory_that_runs_out_is_an_error(void)
{
    struct eki_report *report = NULL;
    eki_memory_fail(1);
    CHECK_EQ_INT(eki_report_create(0, 1, "tasks", &report), EK_ERR_NOMEM);
    CHECK(report == NULL);
    CHECK_OK(eki_report_create(0, 1, "tasks", &report));
    eki_memory_fail(1);
    CHECK_EQ_INT(eki_report_open(report, file_name), EK_ERR_NOMEM);
    eki_memory_fail(0);
    eki_report_destroy(&report);
}

static void quantiles_are_within_a_quarter_octave(void)
{
    struct eki_histogram histogram = {{0}};
    CHECK_NEAR(eki_histogram_quantile(&histogram, 0.5), 0, 0);
    for (int i = 0; i < 98; i++)
        eki_histogram_add(&histogram, 1000);
    eki_histogram_add(&histogram, 1000000);
    eki_histogram_add(&histogram, 1000000);
    CHECK_NEAR(eki_histogram_quantile(&histogram, 0.5), 1e-6, 0.125e-6);
    CHECK_NEAR(eki_histogram_quantile(&histogram, 0.98), 1e-6, 0.125e-6);
    CHECK_NEAR(eki_histogram_quantile(&histogram, 0.99), 1e-3, 0.125e-3);
    CHECK_NEAR(eki_histogram_quantile(&histogram, 1), 1e-3, 0.125e-3);
}

static void quantiles_hold_at_the_ends(void)
{
    struct eki_histogram histogram = {{0}};
    eki_histogram_add(&histogram, 0);
    CHECK(eki_histogram_quantile(&histogram, 0.5) < 20e-9);
    eki_histogram_add(&histogram, UINT64_MAX);
    CHECK(eki_histogram_quantile(&histogram, 0.99) > 1000);
}

/* The report of rank 0 of four after iterations of 1, 2, ... N seconds, the
 * last one with a task that was held up for half of it. */
static struct eki_report *course_of(int n)
{
    struct eki_report *report = report_of(0, "fock");
    struct eki_report_input input = {.cpus = 4,
                                     .online = 8,
                                     .nodes = 2,
                                     .steal = EK_STEAL_NONE,
                                     .restored = EK_RESTORE_RETAIN};
    add_functions(report);
    for (int i = 0; i < n; i++) {
        double wall_s = i + 1;
        struct eki_report_extra extra = {.load_s = wall_s,
                                         .lateness_s = i == 1 ? 0.5 : 0};
        report->figures = (struct eki_figures){.iteration = i,
                                               .workers = 4,
                                               .cores = 4,
                                               .tasks = 100,
                                               .wall_s = wall_s,
                                               .work_s = 2 * wall_s,
                                               .end_s = 2 * wall_s,
                                               .restore_s = 0.25,
                                               .outside_s = 0.5,
                                               .cpu_s = 3 * wall_s,
                                               .speed = 0.4,
                                               .largest_task_function = 1,
                                               .slowest_rank = i % 2 ? 3 : 1,
                                               .latest_rank = 2};
        report->figures.largest_task_s = i == n - 1 ? wall_s / 2 : 0.01;
        eki_report_add(report, &input, &extra);
    }
    return report;
}

/* Two batches of three tasks each, five indices, one of them null. */
static void handing_out_is_no_work(void)
{
    const struct eki_handling handling = {
        .task_ns = 1, .batch_ns = 10, .index_ns = 100, .null_ns = 1000};
    struct eki_counts counts = {
        .tasks = 11, .batches = 2, .indices = 5, .nulls = 1, .work_ns = 10000};
    CHECK_EQ_INT(eki_work_ns(&counts, &handling), 10000 - 6 - 20 - 400 - 1000);
    counts.nulls = 7; /* seeds, too */
    CHECK_EQ_INT(eki_work_ns(&counts, &handling), 10000 - 6 - 20 - 5000);
    counts.work_ns = 5025;
    CHECK_EQ_INT(eki_work_ns(&counts, &handling), 0);
}

/* Speed of an iteration of four core seconds, whose tasks took BEFORE_S in all
 * in the one before; 0: there was none. */
static double speed_of(struct eki_report *report, double before_s,
                       double work_s, double starved_s)
{
    double had_core_s = work_s - starved_s;
    const struct eki_report_changes changes = {
        before_s * 1e9, before_s > 0 ? had_core_s * 1e9 : 0};
    struct eki_figures figures = {.work_s = work_s,
                                  .starved_s = starved_s,
                                  .starved_in_tasks_s = starved_s,
                                  .efficiency = had_core_s / 4};
    eki_report_fill_speed(&changes, report, &figures);
    return figures.speed;
}

/* Tasks that take 2 s in all, and 1 s more for want of cores, then 4 s. */
static void speed_is_work_at_first_durations(void)
{
    struct eki_report *report = report_of(0, "tasks");
    CHECK_NEAR(speed_of(report, 0, 0, 0), 0, 0);
    CHECK_NEAR(speed_of(report, 0, 2, 0), 0.5, 1e-12);
    CHECK_NEAR(speed_of(report, 2, 3, 1), 0.5, 1e-12);
    CHECK_NEAR(speed_of(report, 2, 2, 0), 0.5, 1e-12);
    CHECK_NEAR(speed_of(report, 0, 0, 0), 0, 0);
    CHECK_NEAR(speed_of(report, 2, 4, 0), 0.5, 1e-12);
    eki_report_destroy(&report);
}

/* One task took 0.75 s longer at first; the others are short, and tasks that
 * take 2.25 s wait for cores for as long again. */
static void speed_takes_short_tasks_as_unchanged(void)
{
    const struct eki_report_changes changes = {1.5e9, 0.75e9};
    struct eki_report *report = report_of(0, "tasks");
    struct eki_figures figures = {.work_s = 4.5,
                                  .starved_s = 3,
                                  .starved_in_tasks_s = 2.25,
                                  .efficiency = 2.25 / 4};
    CHECK_NEAR(speed_of(report, 0, 3, 0), 0.75, 1e-12);
    eki_report_fill_speed(&changes, report, &figures);
    CHECK_NEAR(figures.inflation, 0.5, 1e-12);
    CHECK_NEAR(figures.speed, 0.75, 1e-12);
    eki_report_destroy(&report);
}

static void the_end_says_what_the_iterations_were(void)
{
    struct heard heard = {0};
    struct eki_report *report = course_of(3);
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    CHECK_OK(eki_report_open(report, "1"));
    eki_report_trouble(report);
    eki_report_last(report, 1, 0.25, 0);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK_EQ_TEXT(
        heard.text,
        "evenkeel 0/4 report: fock, 3 iterations on 4 workers and 4 cores, 300 "
        "tasks; 1 iteration failed\n"
        "evenkeel 0/4 report:   inside 6 s (63 %), outside 2.5 s (26 %), "
        "restoring 1 s (11 %)\n"
        "evenkeel 0/4 report:   an iteration takes 2 s; best: 0 with 1 s, "
        "worst: 2 with 3 s\n"
        "evenkeel 0/4 report:   efficiency 50.0 %, speed 40.0 %, "
        "processor time 18 s (75 %)\n"
        "evenkeel 0/4 report:   lost: 35.7 % without tasks, 14.3 % restoring, "
        "8.6 % in slower tasks, 7.1 %\n"
        "evenkeel 0/4 report:       ranks late\n"
        "evenkeel 0/4 report:   workers were without tasks for 36 % of the "
        "time, the busiest worker (on rank\n"
        "evenkeel 0/4 report:       1) had 2.0 x the mean load; stealing is "
        "off: "
        "EVENKEEL_STEAL=random; this\n"
        "evenkeel 0/4 report:       gains 833.3 ms of 2.333 s an iteration (36 "
        "%)\n"
        "evenkeel 0/4 report:   ek_restore takes 14 % of the time; make tasks "
        "longer, or use ek_add_range;\n"
        "evenkeel 0/4 report:       this gains 333.3 ms of 2.333 s an "
        "iteration "
        "(14 %)\n"
        "evenkeel 0/4 report:   rank 2 enters 166.7 ms late: 7 % of the time "
        "was "
        "lost outside Evenkeel;\n"
        "evenkeel 0/4 report:       balance what the program does before "
        "ek_process; this gains 166.7 ms of\n"
        "evenkeel 0/4 report:       2.333 s an iteration (7 %)\n");
    eki_report_destroy(&report);
}

static void the_end_comes_without_iterations_too(void)
{
    struct heard heard = {0};
    struct eki_report *report = NULL;
    CHECK_OK(eki_report_create(0, 1, "tasks", &report));
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    CHECK_OK(eki_report_open(report, "2"));
    eki_report_trouble(report);
    eki_report_last(report, 0, 0, 0);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK_HAS_TEXT(heard.text, "report: 0 iterations; 1 iteration failed\n");
    CHECK_EQ_INT(heard.lines, 1);
    eki_report_destroy(&report);
}

/* Of ever more iterations ever fewer are kept, evenly. */
static void samples_are_bounded(void)
{
    struct eki_report *report = course_of(5000);
    struct eki_report_course *course = &report->course;
    CHECK(course->sample_count <= EKI_REPORT_SAMPLES);
    CHECK(course->sample_count >= EKI_REPORT_SAMPLES / 2);
    CHECK_EQ_INT(course->stride, 8);
    for (int i = 0; i < course->sample_count; i++)
        CHECK_NEAR(course->samples[i].wall_s, 1.0 + i * 8.0, 0);
    eki_report_destroy(&report);
}

int main(void)
{
    RUN(table_covers_the_struct);
    RUN(table_says_what_it_means);
    RUN(every_field_is_found_by_name);
    RUN(functions_are_found_by_name);
    RUN(unknown_fields_are_refused_with_what_is_allowed);
    RUN(a_report_that_was_not_made_has_no_figures);
    RUN(copies_honour_the_size_of_the_programs_struct);
    RUN(level_one_is_a_line_per_iteration);
    RUN(a_named_collection_is_named);
    RUN(level_two_has_all_figures_in_columns);
    RUN(level_zero_and_other_ranks_are_silent);
    RUN(a_file_gets_a_header_and_a_row_per_iteration);
    RUN(ranks_and_functions_have_files_of_their_own);
    RUN(destinations_are_lists_of_one_of_each_kind);
    RUN(an_old_file_is_renamed);
    RUN(collections_share_a_file);
    RUN(a_file_that_cannot_be_opened_is_named);
    RUN(a_full_disk_is_said_once);
    RUN(memory_that_runs_out_is_an_error);
    RUN(quantiles_are_within_a_quarter_octave);
    RUN(quantiles_hold_at_the_ends);
    RUN(handing_out_is_no_work);
    RUN(speed_is_work_at_first_durations);
    RUN(speed_takes_short_tasks_as_unchanged);
    RUN(the_end_says_what_the_iterations_were);
    RUN(the_end_comes_without_iterations_too);
    RUN(samples_are_bounded);
    return check_result();
}
