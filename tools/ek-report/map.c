/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of a timeline. */
#include "timeline.h"

#include "chart.h"

#include <inttypes.h>
#include <string.h>

#define WRITING_LEAST 2 /* percent of the time, to be told */

#define WORDS_BYTES 300

enum {
    WIDTH = 80 + TIMELINE_COLUMNS + 16, /* of the chart, with its margins */
    MARGINS = 76,
    HEIGHT = 640, /* of rows that are many ... */
    ROW_LEAST = 3,
    ROW_MOST = 24
};

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

static struct eki_seconds said(int64_t ns)
{
    return eki_seconds(seconds(ns));
}

static int64_t sum_of(const struct timeline_sums *sums)
{
    int64_t sum_ns = 0;
    for (int kind = 0; kind < EKI_EVENT_KINDS_READ; kind++)
        sum_ns += sums->state_ns[kind];
    return sum_ns;
}

static double share_of(const struct timeline_sums *sums, enum part part)
{
    int64_t part_ns = 0, sum_ns = sum_of(sums);
    for (int kind = 0; kind < EKI_EVENT_KINDS_READ; kind++) {
        if (timeline_kinds[kind].word && timeline_kinds[kind].part == part)
            part_ns += sums->state_ns[kind];
    }
    return sum_ns > 0 ? 100 * (double)part_ns / (double)sum_ns : 0;
}

static void append_row(const struct timeline *timeline, int row, char *text,
                       size_t bytes)
{
    int first = row * timeline->per, last = first + timeline->per - 1;
    if (last >= timeline->files.workers)
        last = timeline->files.workers - 1;
    eki_append(text, bytes, first == last ? "worker " : "workers ");
    append_range(first, last, text, bytes);
}

/* Ranks without a file. */
static void append_missing(const struct eki_timelines *files, char *text,
                           size_t bytes)
{
    enum {
        MOST = 10
    };
    int missing = files->ranks - files->present, told = 0;
    if (missing == 0)
        return;
    eki_append(text, bytes, " %d of %d ranks have no file:", missing,
               files->ranks);
    for (int i = 0; i < files->ranks && told < MOST; i++) {
        if (!files->files[i].path)
            eki_append(text, bytes, "%s %d", told++ > 0 ? "," : "", i);
    }
    eki_append(text, bytes, missing > told ? ", ...." : ".");
}

static void append_clocks(const struct eki_timelines *files, char *text,
                          size_t bytes)
{
    int64_t error_ns = 0;
    int unknown = 0;
    for (int i = 0; i < files->ranks; i++) {
        const struct eki_timelines_file *file = &files->files[i];
        unknown += file->path && file->error_ns < 0;
        if (file->error_ns > error_ns)
            error_ns = file->error_ns;
    }
    if (unknown > 0)
        eki_append(text, bytes,
                   " The clocks of %d ranks were not compared with that of "
                   "rank 0.",
                   unknown);
    else if (error_ns > 0)
        eki_append(text, bytes, " Clocks of ranks agree to %s.",
                   said(error_ns).text);
}

void say_timeline(const struct run *run, char *text, size_t bytes)
{
    const struct timeline *timeline = run->timeline;
    const struct eki_timelines *files = &timeline->files;
    int64_t dropped = 0;
    for (int i = 0; i < files->ranks; i++)
        dropped += files->files[i].dropped;
    if (timeline->chosen >= 0)
        eki_append(text, bytes, "Iteration %" PRId64 ", ", timeline->chosen);
    else
        eki_append(text, bytes, "%" PRId64 " iterations, ",
                   timeline->iterations);
    eki_append(text, bytes, "%s: %.1f %% of the time of workers in tasks.",
               said(timeline->end_ns - timeline->begin_ns).text,
               share_of(&timeline->all, PART_TASKS));
    if (share_of(&timeline->all, PART_LEAVE) >= WRITING_LEAST)
        eki_append(text, bytes,
                   " Behind iterations reports, records and timelines are "
                   "written: a run without them takes %.0f %% less time.",
                   share_of(&timeline->all, PART_LEAVE));
    if (timeline->per > 1)
        eki_append(text, bytes,
                   " %d workers share a row; the darker, the more of them are "
                   "in tasks.",
                   timeline->per);
    append_clocks(files, text, bytes);
    append_missing(files, text, bytes);
    if (files->early > 0)
        eki_append(text, bytes, " %d of the files end early: %s", files->early,
                   files->warning);
    if (dropped > 0)
        eki_append(text, bytes,
                   " To save memory, %" PRId64
                   " points were dropped and states of older parts joined.",
                   dropped);
}

/* The word of a class that is no function. */
static const char *word_of(int part)
{
    return part == PART_LEAVE ? timeline_kinds[EKI_EVENT_LEAVE].word
                              : part_words[part];
}

static void key_of_states(const struct timeline *timeline, FILE *out)
{
    const struct eki_timelines *files = &timeline->files;
    key_open(out);
    key_of_functions(files->functions, files->function_count, out);
    for (int part = PART_TASKS + 1; part < PARTS; part++) {
        char words[WORDS_BYTES];
        double share = share_of(&timeline->all, (enum part)part);
        snprintf(words, sizeof words, "%s %.1f %%", word_of(part), share);
        if (share >= 0.05)
            key_add(out, part, false, words);
    }
    key_close(out);
}

/* What a class of a row means, and how much of its time that is. */
static void append_class(const struct timeline *timeline, int row, int class,
                         char *words, size_t bytes)
{
    const struct eki_timelines *files = &timeline->files;
    append_row(timeline, row, words, bytes);
    if (timeline->per > 1) {
        eki_append(words, bytes, ", here %d %% in tasks; in all %.1f %%", class,
                   share_of(&timeline->of_row[row], PART_TASKS));
        return;
    }
    for (int f = 0; f <= REPORT_FUNCTIONS; f++) {
        if (function_class(f) != class)
            continue;
        eki_append(words, bytes, ": %s; %.1f %% of its time in tasks",
                   f == REPORT_FUNCTIONS       ? "others"
                   : f < files->function_count ? files->functions[f]
                                               : "a function without a name",
                   share_of(&timeline->of_row[row], PART_TASKS));
        return;
    }
    eki_append(words, bytes, ": %s, %.1f %% of its time", word_of(class),
               share_of(&timeline->of_row[row], (enum part) class));
}

/* All cells of a class, in as few pieces as there are. */
static void draw_class(const struct chart *chart,
                       const struct timeline *timeline, int row, int class)
{
    const unsigned char *cells = timeline->cells + row * timeline->columns;
    double y[2] = {row + 1, row}, column_s = chart->x.most / timeline->columns;
    char words[WORDS_BYTES] = "";
    bool is_open = false;
    for (int c = 0, next; c < timeline->columns; c = next) {
        for (next = c + 1; next < timeline->columns && cells[next] == cells[c];
             next++)
            continue;
        double x[2] = {c * column_s, next * column_s};
        if (cells[c] != class)
            continue;
        if (!is_open)
            chart_row_open(chart, timeline->per == 1 ? class : -1,
                           class / 100.0, y);
        is_open = true;
        chart_row_add(chart, x, y);
    }
    if (!is_open)
        return;
    append_class(timeline, row, class, words, sizeof words);
    chart_row_close(chart, words);
}

/* What a span was, in words. */
static void append_span(const struct timeline *timeline,
                        const struct timeline_long *at, char *text,
                        size_t bytes)
{
    const struct eki_timelines_span *span = &at->span;
    uint64_t values[2];
    eki_append(text, bytes, "Worker %d, %s", at->worker,
               timeline_span_name(&timeline->files, span));
    timeline_values(span, values);
    if (span->kind == EKI_EVENT_TASK)
        eki_append(text, bytes,
                   ", task %" PRIu64 " of worker %" PRIu64 " -> %d", values[1],
                   values[0], at->worker);
    else if (timeline_kinds[span->kind].first)
        eki_append(text, bytes, ", %s %" PRIu64,
                   timeline_kinds[span->kind].first, values[0]);
    eki_append(text, bytes, ": %s", said(span->end_ns - span->begin_ns).text);
    eki_append(text, bytes, " from %s on",
               said(span->begin_ns - timeline->begin_ns).text);
    if (span->iteration)
        eki_append(text, bytes, ", iteration %" PRId64,
                   span->iteration->number);
}

static void draw_row(const struct chart *chart, const struct timeline *timeline,
                     int row, int64_t *next)
{
    for (int class = 0; class <= 100; class ++)
        draw_class(chart, timeline, row, class);
    for (; *next < timeline->longest_count; ++*next) {
        const struct timeline_long *at = &timeline->longest[*next];
        char words[WORDS_BYTES] = "";
        if (at->worker / timeline->per != row)
            break;
        double x[2] = {seconds(at->span.begin_ns - timeline->begin_ns),
                       seconds(at->span.end_ns - timeline->begin_ns)};
        double y[2] = {row + 1, row};
        append_span(timeline, at, words, sizeof words);
        if (timeline->per == 1)
            chart_over(chart, x, y, words);
    }
}

void draw_timeline(const struct run *run, FILE *out)
{
    const struct timeline *timeline = run->timeline;
    int rows = timeline->rows, step = (rows + 19) / 20;
    int height = HEIGHT / rows;
    height = height < ROW_LEAST  ? ROW_LEAST
             : height > ROW_MOST ? ROW_MOST
                                 : height;
    struct chart chart = {
        out,
        {timeline->chosen < 0 ? "time"
                              : "time since the first rank has entered",
         .most = seconds(timeline->end_ns - timeline->begin_ns),
         .unit = UNIT_SECONDS, .has_ticks = true},
        {"worker", .least = rows, .most = 0}};
    int64_t next = 0;
    if (timeline->end_ns == timeline->begin_ns)
        return;
    if (timeline->per == 1)
        key_of_states(timeline, out);
    fprintf(out, "<div class=\"pan\">\n");
    chart_open_as(&chart,
                  timeline->per == 1
                      ? "What each worker did over time"
                      : "Share of time in tasks, by workers, over time",
                  WIDTH, MARGINS + rows * height);
    for (int row = 0; row < rows; row++) {
        draw_row(&chart, timeline, row, &next);
        if (row % step == 0)
            chart_tick(&chart, true, row + 0.5, row * timeline->per);
    }
    chart_close(&chart);
    fprintf(out, "</div>\n");
}

void list_timeline(const struct run *run, struct table *table)
{
    const struct timeline *timeline = run->timeline;
    table_open(table, "timeline", "The longest stretches",
               "worker|from/s|for/s|what|function|home|number|tasks|iteration");
    for (int64_t i = 0; i < timeline->longest_count; i++) {
        const struct timeline_long *at = &timeline->longest[i];
        const struct eki_timelines_span *span = &at->span;
        const struct timeline_kind *kind = &timeline_kinds[span->kind];
        uint64_t values[2];
        timeline_values(span, values);
        table_row(table, "%d\t%.9g\t%.6g\t%s\t%s", at->worker,
                  seconds(span->begin_ns - timeline->begin_ns),
                  seconds(span->end_ns - span->begin_ns), kind->word,
                  kind->part == PART_TASKS
                      ? timeline_span_name(&timeline->files, span)
                      : "-");
        if (span->kind == EKI_EVENT_TASK)
            table_row(table, "%" PRIu64 "\t%" PRIu64 "\t1", values[0],
                      values[1]);
        else if (span->kind == EKI_EVENT_TASKS)
            table_row(table, "-\t-\t%" PRIu64, values[0]);
        else
            table_row(table, "-\t-\t-");
        if (span->iteration)
            table_row(table, "%" PRId64, span->iteration->number);
        else
            table_row(table, "-");
    }
}

/* Columns of sums: states, and what is counted. */
static void open_sums(struct table *table, const char *key, const char *title,
                      const char *first)
{
    char columns[sizeof table->titles] = "";
    eki_append(columns, sizeof columns, "%s", first);
    for (int kind = 0; kind < EKI_EVENT_KINDS_READ; kind++) {
        if (timeline_kinds[kind].word && !eki_event_is_point(kind))
            eki_append(columns, sizeof columns, "|%s/s",
                       timeline_kinds[kind].word);
    }
    eki_append(columns, sizeof columns, "|tasks|steals|stolen");
    table_open(table, key, title, columns);
}

static void add_sums(struct table *table, const char *name,
                     const struct timeline_sums *sums)
{
    table_row(table, "%s", name);
    for (int kind = 0; kind < EKI_EVENT_KINDS_READ; kind++) {
        if (timeline_kinds[kind].word && !eki_event_is_point(kind))
            table_row(table, "%.6g", seconds(sums->state_ns[kind]));
    }
    table_row(table, "%" PRId64 "\t%" PRId64 "\t%" PRId64, sums->tasks,
              sums->steals, sums->stolen);
}

void say_states(const struct run *run, char *text, size_t bytes)
{
    eki_append(text, bytes,
               "Sums of what is seen above, in seconds; %" PRId64
               " tasks, %" PRId64 " of them stolen.",
               run->timeline->all.tasks, run->timeline->all.stolen);
}

void list_states(const struct run *run, struct table *table)
{
    const struct timeline *timeline = run->timeline;
    open_sums(table, "states", "States of workers", "who");
    add_sums(table, "all", &timeline->all);
    for (int row = 0; row < timeline->rows; row++) {
        char name[40] = "";
        append_row(timeline, row, name, sizeof name);
        add_sums(table, name, &timeline->of_row[row]);
    }
}

void list_state_iterations(const struct run *run, struct table *table)
{
    const struct timeline *timeline = run->timeline;
    int64_t count = timeline->iterations;
    open_sums(table, "iterations", "States in iterations", "iteration");
    int columns = count > 0 ? column_of(count, count - 1) + 1 : 0;
    for (int column = 0; column < columns; column++) {
        struct range range = range_of(count, column);
        char name[60] = "";
        append_range(timeline->first->iterations[range.first].number,
                     timeline->first->iterations[range.last - 1].number, name,
                     sizeof name);
        add_sums(table, name, &timeline->of_column[column]);
    }
}
