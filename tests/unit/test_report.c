/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: the table, figures by name, print, and the sentence of the limit. */
#include "check.h"
#include "report/report.h"

#include <stdlib.h>

/* A report of rank RANK, with distinct figures in every field. */
static struct eki_report *report_of(int rank, const char *collection)
{
    struct eki_report *report = NULL;
    CHECK_EQ_INT(eki_report_create(rank, 4, collection, &report), EK_OK);
    for (int i = 0; i < eki_report_field_count(); i++) {
        const struct eki_report_field *field = eki_report_field_at(i);
        void *at = (unsigned char *)&report->figures + field->offset;
        if (field->type == EKI_REPORT_REAL)
            *(double *)at = i + 0.5;
        else if (field->type == EKI_REPORT_NUMBER)
            *(int *)at = i;
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
    report->functions[0] = (struct eki_report_function){"fock", 7, 1.5};
    report->functions[1] = (struct eki_report_function){"fock.k", 8, 2.5};
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

static void table_covers_the_struct_in_order(void)
{
    size_t next = sizeof(size_t);
    for (int i = 0; i < eki_report_field_count(); i++) {
        const struct eki_report_field *field = eki_report_field_at(i);
        if (!CHECK_EQ_INT(field->offset, next))
            fprintf(stderr, "field %s\n", field->name);
        next += eki_report_field_bytes(field);
    }
    CHECK_EQ_INT(next, sizeof(ek_process_report));
}

static void table_says_what_it_means(void)
{
    for (int i = 0; i < eki_report_field_count(); i++) {
        const struct eki_report_field *field = eki_report_field_at(i);
        size_t length = strlen(field->name);
        bool is_time =
            length > 2 && strcmp(field->name + length - 2, "_s") == 0;
        CHECK(strlen(field->title) > 0 && strlen(field->title) <= 10);
        CHECK(strlen(field->help) > 0);
        CHECK_EQ_TEXT(field->unit, is_time ? "s" : "1");
    }
}

static void every_field_is_found_by_name(void)
{
    struct eki_report *report = report_of(0, "tasks");
    for (int i = 0; i < eki_report_field_count(); i++) {
        const struct eki_report_field *field = eki_report_field_at(i);
        double value = -1;
        CHECK_EQ_INT(eki_report_get(report, field->name, &value), EK_OK);
        CHECK_NEAR(value, field->type == EKI_REPORT_REAL ? i + 0.5 : i, 0);
    }
    eki_report_destroy(&report);
    CHECK(report == NULL);
}

static void functions_are_found_by_name(void)
{
    struct eki_report *report = report_of(0, "tasks");
    double value = -1;
    add_functions(report);
    CHECK_EQ_INT(eki_report_get(report, "function.fock.tasks", &value), EK_OK);
    CHECK_NEAR(value, 7, 0);
    CHECK_EQ_INT(eki_report_get(report, "function.fock.k.work_s", &value),
                 EK_OK);
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
    CHECK_EQ_INT(eki_report_create(0, 1, "tasks", &report), EK_OK);
    CHECK_EQ_INT(eki_report_get(report, "efficiency", &value), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "EVENKEEL_REPORT");
    CHECK_EQ_INT(eki_report_get(NULL, "efficiency", &value), EK_ERR_STATE);
    CHECK_EQ_INT(eki_report_copy(report, &figures), EK_ERR_STATE);
    CHECK_EQ_INT(eki_report_open(report, "1"), EK_OK);
    eki_report_print(report);
    eki_report_last(report);
    eki_report_destroy(&report);
    eki_report_destroy(&report);
}

static void copies_honour_the_size_of_the_programs_struct(void)
{
    struct eki_report *report = report_of(0, "tasks");
    ek_process_report figures = EK_PROCESS_REPORT_INIT;
    CHECK_EQ_INT(eki_report_copy(report, &figures), EK_OK);
    CHECK_EQ_INT(figures.struct_bytes, sizeof figures);
    CHECK_NEAR(figures.bound, report->figures.bound, 0);

    figures = (ek_process_report)EK_PROCESS_REPORT_INIT;
    figures.struct_bytes = offsetof(ek_process_report, bound);
    CHECK_EQ_INT(eki_report_copy(report, &figures), EK_OK);
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
    report->figures.successful_mean = 12;
    report->figures.attempted_mean = 340;
    report->figures.imbalance = 0.03;
    report->figures.failed = report->figures.cancelled = 0;
    CHECK_EQ_INT(eki_report_open(report, "1"), EK_OK);
    eki_report_print(report);
    CHECK_EQ_TEXT(heard.text,
                  "evenkeel 0/4 report: iteration 3: 17554 tasks in 1.234 s, "
                  "efficiency 97.8 %, steals 12.0 of 340.0 per worker, "
                  "imbalance 3 %\n");
    report->figures.failed = 2;
    report->figures.cancelled = 5;
    report->figures.wall_s = 12.5e-6;
    eki_report_print(report);
    CHECK_HAS_TEXT(heard.text, "imbalance 3 %, 2 failed, 5 cancelled\n");
    CHECK_HAS_TEXT(heard.text, "tasks in 12.5 us,");
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&report);
}

static void a_named_collection_is_named(void)
{
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "fock");
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    CHECK_EQ_INT(eki_report_open(report, "1"), EK_OK);
    eki_report_print(report);
    CHECK_HAS_TEXT(heard.text, "report: fock, iteration 0: ");
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&report);
}

static void level_two_is_an_aligned_table_with_one_header(void)
{
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "fock");
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    report->figures.largest_task_id = UINT64_MAX;
    report->figures.wall_s = 1.2345678e-05;
    CHECK_EQ_INT(eki_report_open(report, "2"), EK_OK);
    eki_report_print(report);
    eki_report_print(report);
    CHECK_EQ_INT(heard.lines, 3);
    const char *header = heard.text;
    const char *row = strchr(header, '\n') + 1;
    CHECK_EQ_INT(strstr(header, "efficiency") - header + 10,
                 strstr(row, "29.5") - row + 4);
    CHECK_EQ_INT(strstr(header, "collection") - header,
                 strstr(row, "fock") - row);
    CHECK_HAS_TEXT(row, " 18446744073709551615 ");
    CHECK_HAS_TEXT(header, " wall/s ");
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&report);
}

static void level_zero_and_other_ranks_are_silent(void)
{
    struct heard heard = {0};
    struct eki_report *quiet = report_of(0, "tasks");
    struct eki_report *other = report_of(1, "tasks");
    ek_set_sink(listen, &heard, EK_LEVEL_TRACE);
    CHECK_EQ_INT(eki_report_open(quiet, NULL), EK_OK);
    CHECK_EQ_INT(eki_report_open(quiet, "0"), EK_OK);
    CHECK_EQ_INT(eki_report_open(other, "2"), EK_OK);
    CHECK_EQ_INT(eki_report_open(other, "/nowhere/at/all.tsv"), EK_OK);
    eki_report_print(quiet);
    eki_report_print(other);
    eki_report_last(quiet);
    eki_report_last(other);
    CHECK_EQ_INT(heard.lines, 0);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&quiet);
    eki_report_destroy(&other);
}

static const char file_name[] = "test_report_scratch.tsv";

static void a_file_gets_a_header_and_a_row_per_iteration(void)
{
    struct eki_report *report = report_of(0, "tasks");
    char text[8192];
    CHECK_EQ_INT(eki_report_open(report, file_name), EK_OK);
    read_file(file_name, text, sizeof text);
    CHECK_EQ_INT(count_of(text, '\n'), 1);
    CHECK_HAS_TEXT(text, "collection[1]\titeration[1]\tworkers[1]\t");
    CHECK_HAS_TEXT(text, "\twall_s[s]\twork_s[s]\t");
    CHECK_HAS_TEXT(text, "\tlatest_rank[1]\n");

    eki_report_print(report);
    read_file(file_name, text, sizeof text);
    CHECK_HAS_TEXT(text, "\ntasks\t0\t1\t2\t");
    CHECK_HAS_TEXT(text, "\t30.5\t31.5\t32.5\t33.5\t34\t35\n");
    /* Opened again: goes on. */
    CHECK_EQ_INT(eki_report_open(report, file_name), EK_OK);
    report->figures.wall_s = 0.123456789;
    eki_report_print(report);
    read_file(file_name, text, sizeof text);
    CHECK_EQ_INT(count_of(text, '\n'), 3);
    CHECK_EQ_INT(count_of(text, '\t'), 3 * eki_report_field_count());
    CHECK_HAS_TEXT(text, "\t0.123456789\t");
    eki_report_destroy(&report);
    remove(file_name);
}

static void an_old_file_is_emptied(void)
{
    struct eki_report *report = report_of(0, "tasks");
    char text[8192];
    FILE *file = fopen(file_name, "w");
    if (!CHECK(file != NULL))
        return;
    fprintf(file, "old\nold\nold\n");
    fclose(file);
    CHECK_EQ_INT(eki_report_open(report, file_name), EK_OK);
    eki_report_close(report);
    read_file(file_name, text, sizeof text);
    CHECK_EQ_INT(count_of(text, '\n'), 1);
    CHECK(strstr(text, "old") == NULL);
    eki_report_destroy(&report);
    remove(file_name);
}

static void collections_share_a_file(void)
{
    struct eki_report *fock = report_of(0, "fock"), *mp2 = report_of(0, "mp2");
    char text[8192];
    CHECK_EQ_INT(eki_report_open(fock, file_name), EK_OK);
    CHECK_EQ_INT(eki_report_open(mp2, file_name), EK_OK);
    eki_report_print(fock);
    eki_report_print(mp2);
    eki_report_print(fock);
    eki_report_destroy(&fock);
    eki_report_destroy(&mp2);
    read_file(file_name, text, sizeof text);
    CHECK_EQ_INT(count_of(text, '\n'), 4);
    CHECK_HAS_TEXT(text, "latest_rank[1]\nfock\t");
    CHECK_HAS_TEXT(text, "\nmp2\t");
    remove(file_name);
}

static void a_file_that_cannot_be_opened_is_named(void)
{
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "tasks");
    CHECK_EQ_INT(eki_report_open(report, "1"), EK_OK);
    CHECK_EQ_INT(eki_report_open(report, "/nowhere/at/all.tsv"), EK_ERR_FILE);
    CHECK_EQ_TEXT(ek_error_message(),
                  "cannot write the report '/nowhere/at/all.tsv': No such file "
                  "or directory");
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
    CHECK_EQ_INT(eki_report_open(report, file_name), EK_OK);
    fclose(report->file);
    report->file = full;
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
    CHECK_EQ_INT(eki_report_create(0, 1, "tasks", &report), EK_OK);
    eki_memory_fail(1);
    CHECK_EQ_INT(eki_report_open(report, "1"), EK_ERR_NOMEM);
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

/* Two workers for ten seconds, of which they worked WORK_S. */
static struct eki_report_total total_of(double work_s)
{
    return (struct eki_report_total){.iterations = 5,
                                     .tasks = 1000,
                                     .wall_s = 10,
                                     .core_s = 20,
                                     .work_s = work_s,
                                     .least_s = work_s};
}

static void expect_sentence(const struct eki_report_total *total,
                            const char *expected)
{
    char text[512] = "";
    CHECK(eki_report_sentence(total, text, sizeof text));
    CHECK_EQ_TEXT(text, expected);
}

static void the_sentence_names_the_largest_loss(void)
{
    struct eki_report_total total = total_of(11.2);
    total.termination_s = 8;
    total.coarse_s = 8;
    total.least_s = 20;
    total.overhead_s = 0.8;
    expect_sentence(&total,
                    "tasks are too coarse: the largest is 1.8 x the mean load; "
                    "no balancer can beat 56 %");
    total = total_of(16);
    total.late_s = 2.4;
    total.search_s = 1.6;
    expect_sentence(&total, "ranks entered late: 12 % of the time was lost "
                            "outside Evenkeel");
    total = total_of(16);
    total.search_s = 1;
    total.termination_s = 2.6;
    total.coarse_s = 0.4;
    expect_sentence(&total, "workers were without tasks for 5 % of the time "
                            "before they found some, and for 13 % until the "
                            "end");
    total = total_of(16);
    total.overhead_s = 4;
    expect_sentence(&total, "20 % of the time went by between tasks; a task "
                            "takes 16 ms on average");
    total = total_of(16);
    total.start_s = 4;
    expect_sentence(&total, "20 % of the time went into starting and leaving "
                            "iterations; one takes 2 s on average");
    total = total_of(16);
    total.server_s = 4;
    expect_sentence(&total, "dedicated server threads take 20 % of the cores");
}

static void nothing_is_said_when_all_is_well(void)
{
    char text[512] = "";
    struct eki_report_total total = total_of(19.1), none = {0};
    total.late_s = 0.9;
    CHECK(!eki_report_sentence(&total, text, sizeof text));
    CHECK(!eki_report_sentence(&none, text, sizeof text));
    CHECK_EQ_TEXT(text, "");
}

static void iterations_without_work_have_a_sentence(void)
{
    struct eki_report_total total = total_of(0);
    total.tasks = 0;
    total.overhead_s = 20;
    expect_sentence(&total, "100 % of the time went by between tasks");
}

static void the_last_line_says_what_limited_the_iterations(void)
{
    struct heard heard = {0};
    struct eki_report *report = report_of(0, "fock");
    report->total = total_of(16);
    report->total.late_s = 4;
    ek_set_sink(listen, &heard, EK_LEVEL_INFO);
    CHECK_EQ_INT(eki_report_open(report, "1"), EK_OK);
    eki_report_last(report);
    CHECK_EQ_TEXT(heard.text,
                  "evenkeel 0/4 report: fock, efficiency 80.0 % over 5 "
                  "iterations: ranks entered late: 20 % of the time was lost "
                  "outside Evenkeel\n");
    report->total = total_of(20);
    eki_report_last(report);
    CHECK_EQ_INT(heard.lines, 1);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_report_destroy(&report);
}

int main(void)
{
    RUN(table_covers_the_struct_in_order);
    RUN(table_says_what_it_means);
    RUN(every_field_is_found_by_name);
    RUN(functions_are_found_by_name);
    RUN(unknown_fields_are_refused_with_what_is_allowed);
    RUN(a_report_that_was_not_made_has_no_figures);
    RUN(copies_honour_the_size_of_the_programs_struct);
    RUN(level_one_is_a_line_per_iteration);
    RUN(a_named_collection_is_named);
    RUN(level_two_is_an_aligned_table_with_one_header);
    RUN(level_zero_and_other_ranks_are_silent);
    RUN(a_file_gets_a_header_and_a_row_per_iteration);
    RUN(an_old_file_is_emptied);
    RUN(collections_share_a_file);
    RUN(a_file_that_cannot_be_opened_is_named);
    RUN(a_full_disk_is_said_once);
    RUN(memory_that_runs_out_is_an_error);
    RUN(quantiles_are_within_a_quarter_octave);
    RUN(quantiles_hold_at_the_ends);
    RUN(the_sentence_names_the_largest_loss);
    RUN(nothing_is_said_when_all_is_well);
    RUN(iterations_without_work_have_a_sentence);
    RUN(the_last_line_says_what_limited_the_iterations);
    return check_result();
}
