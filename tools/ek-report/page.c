/* SPDX-License-Identifier: BSD-3-Clause */
/* The page, the text and the CSV: all sections of all runs. */
#include "report.h"

#include "chart.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define UNKNOWN_LEAST 0.05 /* of the time, to be told */

/* Who has set an option, of which USED was seen: the words about the job say
 * "steal=random (default)", but a program may change that later, where no
 * variable of the environment wins. */
static void append_origin(const struct run *run, const char *option,
                          const char *used, char *text, size_t bytes)
{
    char value[64];
    const char *at = run->record->about;
    snprintf(value, sizeof value, "%s=", option);
    at = at ? strstr(at, value) : NULL;
    const char *origin = at ? strstr(at, " (") : NULL;
    if (!origin)
        return;
    eki_append(value, sizeof value, "%s (", used);
    bool is_so = strncmp(at, value, strlen(value)) == 0 ||
                 strncmp(origin + 2, "EVENKEEL_", 9) == 0;
    eki_append(text, bytes, "%.*s", is_so ? (int)strcspn(origin, ")") + 1 : 10,
               is_so ? origin : " (program)");
}

/* Its first words, up to the thread level; false: not known. */
static bool append_mpi(const struct run *run, char *text, size_t bytes)
{
    const char *about = run->record->about;
    const char *end = about ? strstr(about, " with MPI_THREAD_") : NULL;
    if (!end)
        return false;
    const char *at = end;
    while (at > about && at[-1] != '\n')
        at--;
    eki_append(text, bytes, "%.*s", (int)(end - at), at);
    return true;
}

/* Policies of the iterations, each with how many had it. */
static void append_policies(const struct run *run, const char *option,
                            size_t offset, char *text, size_t bytes)
{
    enum {
        VALUES = 64
    };
    int64_t counts[VALUES] = {0}, count = run->record->iteration_count;
    const char *separator = " ", *used = "";
    for (int64_t k = 0; k < count; k++) {
        int value;
        memcpy(&value, (const char *)&run->rows[k].head + offset, sizeof value);
        counts[value >= 0 && value < VALUES ? value : 0]++;
    }
    eki_append(text, bytes, "%s", option);
    for (int i = 0; i < VALUES; i++) {
        if (counts[i] == 0)
            continue;
        const char *name = eki_option_choice_name(option, i);
        eki_append(text, bytes, "%s%s", separator, name ? name : "none");
        if (counts[i] < count)
            eki_append(text, bytes, " (%" PRId64 ")", counts[i]);
        separator = ", ";
        used = !name ? used : used[0] ? "several" : name;
    }
    append_origin(run, option, used, text, bytes);
}

enum {
    BADGE_WORKERS,
    BADGE_ITERATIONS,
    BADGE_RESTORE,
    BADGE_STEAL,
    BADGE_MPI,
    BADGE_BUSY,
    BADGE_HELD,
    BADGES
};

/* false: there is nothing to say. */
static bool badge(const struct run *run, int i, char *text, size_t bytes)
{
    const struct eki_record_shape *shape = &run->record->shape;
    int64_t held = 0;
    text[0] = '\0';
    switch (i) {
    case BADGE_WORKERS:
        append_number(shape->workers, "worker", text, bytes);
        eki_append(text, bytes, ", ");
        append_number(shape->ranks, "rank", text, bytes);
        if (run->nodes > 0) {
            eki_append(text, bytes, ", ");
            append_number(run->nodes, "node", text, bytes);
        }
        return true;
    case BADGE_ITERATIONS:
        append_number(run->record->iteration_count, "iteration", text, bytes);
        if (!run->record->is_complete)
            eki_append(text, bytes, ", ended early");
        return true;
    case BADGE_RESTORE:
        append_policies(run, "restore",
                        offsetof(struct eki_record_head, restore), text, bytes);
        return true;
    case BADGE_STEAL:
        append_policies(run, "steal", offsetof(struct eki_record_head, steal),
                        text, bytes);
        return true;
    case BADGE_MPI:
        return append_mpi(run, text, bytes);
    case BADGE_BUSY:
        eki_append(text, bytes, "machine was busy: %.0f %%",
                   100 * eki_verdict_busy(&run->verdict));
        return eki_verdict_busy(&run->verdict) > 0;
    default:
        for (int64_t k = 0; k < run->record->iteration_count; k++)
            held += run->rows[k].held;
        append_number(held, "task", text, bytes);
        eki_append(text, bytes, " had no core for a while");
        return held > 0;
    }
}

static const char missing[] =
    "This record is of an older version: it does not say which MPI library "
    "ran, who set a policy, and what payloads the longest tasks had.";

/* Runs in rows. */
static void list_runs(const struct run *runs, int count, struct table *table)
{
    table_open(table, "runs", "Runs",
               "run|collection|workers|iterations|iteration/s|in tasks/%|"
               "busiest / mean|longest task/us");
    for (int i = 0; i < count; i++) {
        const struct eki_verdict_run *verdict = &runs[i].verdict;
        table_row(table, "%s\t%s\t%d\t%" PRId64 "\t%.5g\t%.1f\t%.3f\t%.5g",
                  runs[i].name, run_collection(&runs[i]), verdict->workers,
                  runs[i].record->iteration_count, verdict->iteration_s,
                  100 * eki_verdict_efficiency(verdict), verdict->busiest,
                  verdict->longest_s * 1e6);
    }
}

/* Seconds of cores by cause, the parts of the verdict. */
static void list_losses(const struct run *run, struct table *table)
{
    struct eki_verdict_loss losses[EKI_VERDICT_CAUSES];
    double whole_s = eki_verdict_whole_s(&run->verdict);
    double each_s = eki_verdict_each_s(&run->verdict);
    int count = eki_verdict_rank(&run->verdict, losses);
    table_open(table, "losses", "Losses",
               "cause|core seconds|share/%|an iteration without it/s");
    for (int i = 0; i < count && whole_s > 0; i++) {
        table_row(table, "%s\t%.5g\t%.2f\t%.5g",
                  eki_verdict_word(losses[i].cause), losses[i].lost_s,
                  100 * losses[i].lost_s / whole_s, each_s - losses[i].gain_s);
    }
}

/* A record alone does not know why nobody was in a task. */
static bool append_unknown(const struct run *run, char *text, size_t bytes)
{
    const struct eki_verdict_run *verdict = &run->verdict;
    double nobody_s = verdict->core_s - verdict->work_s - verdict->end_s;
    if (run->has_figures || nobody_s <= verdict->end_s ||
        nobody_s < UNKNOWN_LEAST * verdict->core_s)
        return false;
    eki_append(text, bytes,
               "For %.0f %% of the time not even the busiest worker was in a "
               "task: EVENKEEL_REPORT=job.tsv tells why.",
               100 * nobody_s / verdict->core_s);
    return true;
}

/* Fill TEXT with sentence K of the verdict; false: there is none. */
static bool judge_run(const struct run *run, int k, char *text, size_t bytes)
{
    text[0] = '\0';
    if (append_unknown(run, text, bytes))
        return k == 0;
    if (eki_verdict_run(&run->verdict, k, text, bytes)) {
        text[0] = (char)toupper((unsigned char)text[0]);
        eki_append(text, bytes, ".");
        return true;
    }
    eki_append(text, bytes,
               "Nothing to mend: no cause took 5 %% of the time, and %.1f %% "
               "of it went into tasks.",
               100 * eki_verdict_efficiency(&run->verdict));
    return k == 0;
}

static void write_verdict(const struct run *run, bool has_others, FILE *out)
{
    char text[SAID_BYTES];
    struct table table;
    fprintf(out, "<article>");
    if (has_others)
        fprintf(out, "<h2>%s</h2>", escaped(run->name).text);
    for (int k = 0; judge_run(run, k, text, sizeof text); k++)
        fprintf(out, "<p class=\"verdict\">%s</p>\n", escaped(text).text);
    fprintf(out, "<ul class=\"badges\">");
    for (int i = 0; i < BADGES; i++) {
        if (badge(run, i, text, sizeof text))
            fprintf(out, "<li%s>%s</li>",
                    i == BADGE_BUSY ? " class=\"warning\"" : "",
                    escaped(text).text);
    }
    fprintf(out, "</ul>\n");
    list_losses(run, &table);
    if (table.count > 0) {
        fprintf(out, "<details><summary>Losses</summary>");
        table_html(&table, out);
        fprintf(out, "</details>");
    }
    table_close(&table);
    fprintf(out, "</article>\n");
}

static void write_figure(const struct section *section, const struct run *run,
                         bool has_others, FILE *out)
{
    char text[SAID_BYTES] = "";
    struct table table;
    fprintf(out, "<figure>");
    if (has_others)
        fprintf(out, "<h3>%s</h3>", escaped(run->name).text);
    if (section->say)
        section->say(run, text, sizeof text);
    if (section->say)
        fprintf(out, "<figcaption>%s</figcaption>\n", escaped(text).text);
    if (section->draw)
        section->draw(run, out);
    section->list(run, &table);
    if (table.count > 0) {
        fprintf(out, "<details%s><summary>Table</summary>\n",
                section->draw ? "" : " open");
        table_html(&table, out);
        fprintf(out, "</details>");
    }
    table_close(&table);
    fprintf(out, "</figure>\n");
}

static void write_head(const struct run *runs, int count, FILE *out)
{
    char title[300] = "";
    for (int i = 0; i < count; i++)
        eki_append(title, sizeof title, "%s%s", i > 0 ? ", " : "",
                   runs[i].name);
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
            "charset=\"utf-8\">\n<meta name=\"viewport\" "
            "content=\"width=device-width, initial-scale=1\">\n<meta "
            "name=\"color-scheme\" content=\"light dark\">\n<meta "
            "http-equiv=\"Content-Security-Policy\" content=\"default-src "
            "'none'; style-src 'unsafe-inline'; script-src "
            "'unsafe-inline'\">\n<title>%s - Evenkeel</title>\n",
            escaped(title).text);
    fprintf(out, "<style>\n%s</style>\n</head>\n<body>\n", page_css);
    chart_patterns(out);
    fprintf(out,
            "<header><h1>%s</h1><p>Collection %s, by ek-report %s</p>"
            "</header>\n<main%s>\n",
            escaped(title).text, escaped(run_collection(runs)).text,
            ek_version(), count > 1 ? " class=\"many\"" : "");
}

static bool has_record(const struct run *runs, int count)
{
    for (int i = 0; i < count; i++) {
        if (runs[i].record)
            return true;
    }
    return false;
}

/* Whether a record lacks what newer ones tell. */
static bool is_old(const struct run *runs, int count)
{
    for (int i = 0; i < count; i++) {
        if (runs[i].record && !runs[i].record->about)
            return true;
    }
    return false;
}

static void write_section(const struct section *section, const struct run *runs,
                          int count, FILE *out)
{
    bool is_open = false;
    for (int i = 0; i < count; i++) {
        if (!section_fits(section, &runs[i]))
            continue;
        if (!is_open) {
            fprintf(out,
                    "<section aria-labelledby=\"%s\"%s><h2 "
                    "id=\"%s\">%s</h2>\n",
                    section->key,
                    section->is_of_timeline ? " class=\"first broad\"" : "",
                    section->key, section->title);
            if (section->help[0])
                fprintf(out, "<p class=\"help\">%s</p>\n", section->help);
            fprintf(out, "<div class=\"row\">\n");
        }
        is_open = true;
        write_figure(section, &runs[i], count > 1, out);
    }
    if (is_open)
        fprintf(out, "</div></section>\n");
}

void write_page(const struct run *runs, int count, FILE *out)
{
    struct table table;
    write_head(runs, count, out);
    if (has_record(runs, count)) {
        fprintf(out, "<section class=\"first\">\n<div class=\"row\">");
        for (int i = 0; i < count; i++)
            write_verdict(&runs[i], count > 1, out);
        fprintf(out, "</div>\n");
        if (count > 1) {
            list_runs(runs, count, &table);
            table_html(&table, out);
            table_close(&table);
        }
        fprintf(out, "</section>\n");
    }
    for (int s = 0; s < section_count; s++)
        write_section(&sections[s], runs, count, out);
    fprintf(out, "</main>\n");
    if (is_old(runs, count))
        fprintf(out, "<footer><p>%s</p></footer>\n", missing);
    fprintf(out,
            "<p id=\"tip\" role=\"status\"></p>\n<script>\n%s</script>\n"
            "</body>\n</html>\n",
            page_js);
}

static void write_text_verdict(const struct run *run, FILE *out)
{
    char text[SAID_BYTES];
    fprintf(out, "%s: ", run->name);
    for (int k = 0; judge_run(run, k, text, sizeof text); k++)
        fprintf(out, "%s%s\n", k > 0 ? "  " : "", text);
    for (int b = 0; b < BADGES; b++) {
        if (badge(run, b, text, sizeof text))
            fprintf(out, "  %s\n", text);
    }
}

void write_text(const struct run *runs, int count, FILE *out)
{
    char text[SAID_BYTES];
    struct table table;
    for (int i = 0; i < count; i++) {
        if (i > 0)
            fputc('\n', out);
        if (runs[i].record)
            write_text_verdict(&runs[i], out);
        for (int s = 0; s < section_count; s++) {
            if (!section_fits(&sections[s], &runs[i]))
                continue;
            text[0] = '\0';
            if (sections[s].say)
                sections[s].say(&runs[i], text, sizeof text);
            fprintf(out, "\n%s\n%s\n", sections[s].title, text);
            /* Its table is too long for a terminal. */
            if (sections[s].is_of_timeline && sections[s].draw)
                continue;
            sections[s].list(&runs[i], &table);
            if (table.count > 0)
                table_text(&table, out);
            table_close(&table);
        }
    }
}

static void write_csv_table(struct table *table, const struct run *run,
                            FILE *out)
{
    table_csv(table, run->name, out);
    table_close(table);
}

void write_csv(const struct run *runs, int count, FILE *out)
{
    struct table table;
    table_csv_head(out);
    for (int i = 0; i < count; i++) {
        if (runs[i].record) {
            list_runs(&runs[i], 1, &table);
            write_csv_table(&table, &runs[i], out);
            list_losses(&runs[i], &table);
            write_csv_table(&table, &runs[i], out);
        }
        for (int s = 0; s < section_count; s++) {
            if (!section_fits(&sections[s], &runs[i]))
                continue;
            sections[s].list(&runs[i], &table);
            write_csv_table(&table, &runs[i], out);
        }
    }
}
