/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of reports: of the job, or of its ranks. */
#define _POSIX_C_SOURCE 200809L
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const figure_names[FIGURES] = {
    [FIGURE_WALL] = "wall_s",
    [FIGURE_WORK] = "work_s",
    [FIGURE_OVERHEAD] = "overhead_s",
    [FIGURE_SEARCH] = "search_s",
    [FIGURE_END] = "end_s",
    [FIGURE_START] = "start_s",
    [FIGURE_LATE] = "late_s",
    [FIGURE_DATA] = "data_wait_s",
    [FIGURE_TILES] = "tile_wait_s",
    [FIGURE_RESTORE] = "restore_s",
    [FIGURE_OUTSIDE] = "outside_s",
    [FIGURE_CPU] = "cpu_s",
    [FIGURE_STARVED] = "starved_s",
    [FIGURE_STARVED_IN_TASKS] = "starved_in_tasks_s",
    [FIGURE_STARVED_IDLE] = "starved_idle_s",
    [FIGURE_EFFICIENCY] = "efficiency",
    [FIGURE_SPEED] = "speed",
    [FIGURE_BOUND] = "bound",
    [FIGURE_CORES] = "cores",
    [FIGURE_SLOWEST_RANK] = "slowest_rank",
    [FIGURE_LATEST_RANK] = "latest_rank"};

static const char *const rank_names[] = {"rank", "node", "workers", "late_s"};
enum {
    RANK_FIGURES = sizeof rank_names / sizeof *rank_names
};

static struct iteration_row *find_row(struct run *run, double number)
{
    for (int64_t k = 0; k < run->record->iteration_count; k++) {
        if ((double)run->rows[k].head.iteration == number)
            return &run->rows[k];
    }
    return NULL;
}

static void take_ranks(struct run *run, struct iteration_row *row,
                       const double *values)
{
    double rank = values[0], node = values[1], workers = values[2];
    double ranks = run->record->shape.ranks;
    if (!(rank >= 0 && rank < ranks && node >= 0 && node < ranks &&
          workers > 0))
        return;
    run->node_of[(int)rank] = (int)node;
    if (node >= run->nodes)
        run->nodes = (int)node + 1;
    row->lateness_s = fmax(row->lateness_s, values[3] / workers);
}

/* What is known of a table while it is read. */
struct reading {
    struct run *run;
    const char *path;
    bool is_of_ranks;
    int collection, iteration; /* columns */
    int columns[FIGURES + RANK_FIGURES], count;
    int64_t line, taken;
};

static bool read_titles(struct reading *reading, char *line,
                        struct message *message)
{
    char *fields[200];
    int count = split(line, '\t', fields, 200);
    reading->collection = split_find(fields, count, "collection");
    reading->iteration = split_find(fields, count, "iteration");
    reading->is_of_ranks = split_find(fields, count, "rank") >= 0;
    reading->count = reading->is_of_ranks ? RANK_FIGURES : FIGURES;
    const char *missing = split_find_all(
        fields, count, reading->is_of_ranks ? rank_names : figure_names,
        reading->count, reading->columns);
    if (reading->collection < 0 || reading->iteration < 0)
        missing = reading->collection < 0 ? "collection" : "iteration";
    return !missing ||
           message_set(message,
                       "'%.300s' has no column '%s'; allowed: a record, or a "
                       "table of EVENKEEL_REPORT=job.tsv or ranks:ranks.tsv",
                       reading->path, missing);
}

static bool read_value(const struct reading *reading, const char *text,
                       double *value, struct message *message)
{
    char *end;
    *value = strtod(text, &end);
    return (end != text && !*end && isfinite(*value)) ||
           message_set(message,
                       "'%.300s', line %" PRId64
                       ": '%.40s'; allowed: a finite number",
                       reading->path, reading->line, text);
}

static bool read_row(struct reading *reading, char *line,
                     struct message *message)
{
    char *fields[200];
    double number, values[FIGURES + RANK_FIGURES];
    struct run *run = reading->run;
    int count = split(line, '\t', fields, 200);
    if (reading->collection >= count || reading->iteration >= count)
        return message_set(message,
                           "'%.300s', line %" PRId64
                           ": it ends early; allowed: a value in each column",
                           reading->path, reading->line);
    if (strcmp(fields[reading->collection], run->record->shape.name) != 0)
        return true;
    if (!read_value(reading, fields[reading->iteration], &number, message))
        return false;
    for (int i = 0; i < reading->count; i++) {
        const char *text =
            reading->columns[i] < count ? fields[reading->columns[i]] : "";
        if (!read_value(reading, text, &values[i], message))
            return false;
    }
    struct iteration_row *row = find_row(run, number);
    if (!row)
        return true;
    reading->taken++;
    if (reading->is_of_ranks) {
        take_ranks(run, row, values);
        return true;
    }
    memcpy(row->figures, values, sizeof row->figures);
    row->has_figures = run->has_figures = true;
    return true;
}

bool gather_figures(const char *path, struct run *run, struct message *message)
{
    struct reading reading = {.run = run, .path = path};
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    bool is_good = true;
    if (!file)
        return message_set(message, "cannot read '%.300s': %s", path,
                           strerror(errno));
    while (is_good && getline(&line, &room, file) > 0) {
        is_good = reading.line++ == 0 ? read_titles(&reading, line, message)
                                      : read_row(&reading, line, message);
    }
    free(line);
    fclose(file);
    if (is_good && reading.taken == 0)
        return message_set(message,
                           "'%.300s' has no iteration of the collection '%s' "
                           "of '%.200s'; allowed: a table of the same run",
                           path, run->record->shape.name, run->path);
    return is_good;
}

void fill_figures(const struct run *run, struct iteration_row *row)
{
    const double *figures = row->figures;
    double workers = run->record->shape.workers, *parts_s = row->parts_s;
    double starved_s = figures[FIGURE_STARVED] - figures[FIGURE_STARVED_IDLE];
    double between_s = starved_s - figures[FIGURE_STARVED_IN_TASKS];
    parts_s[PART_TASKS] =
        figures[FIGURE_WORK] - figures[FIGURE_STARVED_IN_TASKS];
    parts_s[PART_BETWEEN] =
        fmax(figures[FIGURE_OVERHEAD] - figures[FIGURE_DATA] - between_s, 0);
    parts_s[PART_SEARCH] = figures[FIGURE_SEARCH];
    parts_s[PART_END] = figures[FIGURE_END];
    parts_s[PART_LATE] = figures[FIGURE_LATE];
    parts_s[PART_DATA] = figures[FIGURE_DATA];
    parts_s[PART_STARVED] = fmax(starved_s, 0);
    parts_s[PART_START] = figures[FIGURE_START];
    parts_s[PART_RESTORE] = figures[FIGURE_RESTORE] * workers;
    parts_s[PART_BUSIEST] = parts_s[PART_NOBODY] = 0;
    row->bound = figures[FIGURE_BOUND];
    row->wall_s = figures[FIGURE_WALL];
    /* Where ranks have said nothing: one of them is late. */
    double latest = figures[FIGURE_LATEST_RANK];
    if (run->nodes == 0 && latest >= 0 && latest < run->record->shape.ranks)
        row->lateness_s =
            figures[FIGURE_LATE] / run->record->shape.rank_workers[(int)latest];
    /* What the latest rank was outside longer than the others is late. */
    parts_s[PART_OUTSIDE] =
        fmax(figures[FIGURE_OUTSIDE] - row->lateness_s, 0) * workers;
}
