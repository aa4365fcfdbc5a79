/* SPDX-License-Identifier: BSD-3-Clause */
/* The chart of each section. */
#include "chart.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define WORDS_BYTES 240
/* Of a chart's width, right of its last mark. */
#define ROOM_FOR_WORDS 0.14

/* Iterations in a column. */
static int64_t per_column(int64_t count)
{
    return (count + REPORT_COLUMNS - 1) / REPORT_COLUMNS;
}

int column_of(int64_t count, int64_t k)
{
    return (int)(k / per_column(count));
}

struct range range_of(int64_t count, int column)
{
    int64_t per = per_column(count);
    struct range range = {column * per, (column + 1) * per};
    if (range.last > count)
        range.last = count;
    return range;
}

int column_count(const struct run *run)
{
    int64_t count = run->record->iteration_count;
    return column_of(count, count - 1) + 1;
}

void append_iterations(const struct run *run, struct range range, char *text,
                       size_t bytes)
{
    append_range(run->rows[range.first].head.iteration,
                 run->rows[range.last - 1].head.iteration, text, bytes);
}

double range_parts(const struct run *run, struct range range,
                   double parts_s[PARTS], double *bound)
{
    double all_s = 0, bound_s = 0;
    memset(parts_s, 0, PARTS * sizeof *parts_s);
    for (int64_t k = range.first; k < range.last; k++) {
        const struct iteration_row *row = &run->rows[k];
        for (int i = 0; i < PARTS; i++) {
            parts_s[i] += row->parts_s[i];
            all_s += row->parts_s[i];
        }
        bound_s += row->bound * row->wall_s * run->record->shape.workers;
    }
    *bound = all_s > 0 ? bound_s / all_s : 0;
    return all_s;
}

static void draw_column(const struct chart *chart, const struct run *run,
                        int column, double (*bounds)[2])
{
    struct range range = range_of(run->record->iteration_count, column);
    double parts_s[PARTS], bound, below = 0;
    double all_s = range_parts(run, range, parts_s, &bound);
    bounds[0][0] = column;
    bounds[1][0] = column + 1;
    bounds[0][1] = bounds[1][1] = 100 * bound;
    for (int i = 0; i < PARTS && all_s > 0; i++) {
        char words[WORDS_BYTES] = "";
        double share = 100 * parts_s[i] / all_s;
        double x[2] = {column + 0.06, column + 0.94};
        double y[2] = {below, below + share};
        below += share;
        if (share < 0.05)
            continue;
        eki_append(words, sizeof words, "Iteration ");
        append_iterations(run, range, words, sizeof words);
        eki_append(words, sizeof words, ": %.1f %% %s", share, part_words[i]);
        chart_bar(chart, i, x, y, words);
    }
}

static void key_of_parts(const struct run *run, FILE *out)
{
    double parts_s[PARTS], bound;
    struct range all = {0, run->record->iteration_count};
    double all_s = range_parts(run, all, parts_s, &bound);
    key_open(out);
    for (int i = 0; i < PARTS; i++) {
        char words[WORDS_BYTES];
        snprintf(words, sizeof words, "%s %.1f %%", part_words[i],
                 all_s > 0 ? 100 * parts_s[i] / all_s : 0);
        if (parts_s[i] > 0.0005 * all_s)
            key_add(out, i, false, words);
    }
    key_add(out, CHART_CLASSES, true, "bound of the longest task");
    key_close(out);
}

void draw_efficiency(const struct run *run, FILE *out)
{
    int count = column_count(run), step = (count + 9) / 10;
    struct chart chart = {out,
                          {"iteration", .least = 0, .most = count},
                          {"% of the time of workers", .most = 100,
                           .unit = UNIT_PERCENT, .has_ticks = true}};
    double bounds[2 * REPORT_COLUMNS][2];
    key_of_parts(run, out);
    chart_open(&chart, "Time of workers in each iteration, by what they did");
    for (int i = 0; i < count; i++) {
        draw_column(&chart, run, i, bounds + 2 * (ptrdiff_t)i);
        if (i % step == 0)
            chart_tick(
                &chart, false, i + 0.5,
                run->rows[range_of(run->record->iteration_count, i).first]
                    .head.iteration);
    }
    chart_line(&chart, CHART_CLASSES, bounds, 2 * count);
    chart_close(&chart);
}

static double draw_group(const struct chart *chart, const struct run *run,
                         const struct loads *loads, int class, int group)
{
    char words[WORDS_BYTES] = "";
    double mean_s, load_s = group_largest(run, loads->worker_s, group, &mean_s);
    group_name(run, group, words, sizeof words);
    eki_append(words, sizeof words, ", iteration %" PRId64 ": %s",
               loads->iteration, eki_seconds(load_s).text);
    if (run->groups.workers[group] > 1)
        eki_append(words, sizeof words, " the busiest of %d workers, mean %s",
                   run->groups.workers[group], eki_seconds(mean_s).text);
    chart_dot(chart, class, group + 0.5, load_s, words);
    return load_s;
}

/* How far loads are from MEAN_S. */
static double distance_of(const struct run *run, const struct loads *loads,
                          double mean_s)
{
    double distance_s = 0;
    for (int i = 0; loads->is_known && i < run->groups.count; i++) {
        double group_s,
            load_s = group_largest(run, loads->worker_s, i, &group_s);
        distance_s = fmax(distance_s, fabs(load_s - mean_s));
    }
    return distance_s;
}

static void key_of_loads(const struct run *run, FILE *out)
{
    char words[WORDS_BYTES];
    key_open(out);
    if (run->before.is_known) {
        snprintf(words, sizeof words,
                 "iteration %" PRId64 ", before the restore",
                 run->before.iteration);
        key_add(out, 3, true, words);
    }
    snprintf(words, sizeof words, "iteration %" PRId64, run->now.iteration);
    key_add(out, 0, true, words);
    key_close(out);
}

void draw_loads(const struct run *run, FILE *out)
{
    const struct groups *groups = &run->groups;
    const struct loads *aim = run->before.is_known ? &run->before : &run->now;
    double mean_s = aim->mean_s;
    if (!run->now.is_known)
        return;
    /* Differences below a tenth do not fill the chart. */
    double range_s = 1.1 * fmax(fmax(distance_of(run, &run->before, mean_s),
                                     distance_of(run, &run->now, mean_s)),
                                fmax(aim->target_s - mean_s, 0.1 * mean_s));
    int step = (groups->count + 9) / 10;
    struct chart chart = {
        out,
        {groups->what, .most = groups->count * (1 + ROOM_FOR_WORDS)},
        {"load: seconds in tasks", .least = fmax(mean_s - range_s, 0),
         .most = mean_s + range_s, .unit = UNIT_SECONDS, .has_ticks = true}};
    key_of_loads(run, out);
    chart_open(&chart, "Load of each worker, before and after the restore");
    chart_rule(&chart, RULE_ABOVE, aim->target_s, "target");
    chart_rule(&chart, RULE_BELOW, mean_s, "mean");
    for (int i = 0; i < groups->count; i++) {
        double pair[2][2] = {{i + 0.5, 0}, {i + 0.5, 0}};
        if (run->before.is_known) {
            pair[0][1] = draw_group(&chart, run, &run->before, 3, i);
            pair[1][1] = draw_group(&chart, run, &run->now, 0, i);
            chart_line(&chart, CHART_CLASSES + 1, pair, 2);
        } else {
            draw_group(&chart, run, &run->now, 0, i);
        }
        if (i % step == 0)
            chart_tick(&chart, false, i + 0.5, groups->first[i]);
    }
    chart_close(&chart);
}

/* The slots in use, from FIRST to LAST; the most tasks of one. */
static int64_t slot_range(const struct run *run, int *first, int *last)
{
    int64_t most = 0;
    *first = REPORT_SLOTS;
    *last = 0;
    for (int slot = 0; slot < REPORT_SLOTS; slot++) {
        int64_t sum = 0;
        for (int f = 0; f <= REPORT_FUNCTIONS; f++)
            sum += run->slots[f][slot];
        if (sum > 0 && slot < *first)
            *first = slot;
        if (sum > 0)
            *last = slot;
        most = sum > most ? sum : most;
    }
    return most;
}

static void draw_slot(const struct chart *chart, const struct run *run,
                      int slot)
{
    int64_t below = 0;
    for (int f = 0; f <= REPORT_FUNCTIONS; f++) {
        char words[WORDS_BYTES] = "";
        int64_t count = run->slots[f][slot];
        double x[2] = {slot_s(slot), slot_s(slot + 1)};
        double y[2] = {(double)below, (double)(below + count)};
        below += count;
        if (count == 0)
            continue;
        eki_append(words, sizeof words, "%s: ",
                   f == REPORT_FUNCTIONS ? "others" : function_name(run, f));
        append_number(count, "task", words, sizeof words);
        eki_append(words, sizeof words, " from %s", eki_seconds(x[0]).text);
        eki_append(words, sizeof words, " to %s, %s in all",
                   eki_seconds(x[1]).text,
                   eki_seconds(run->slot_s[f][slot]).text);
        chart_bar(chart, function_class(f), x, y, words);
    }
}

int function_class(int function)
{
    static const int classes[REPORT_FUNCTIONS] = {PART_TASKS, 12, 13,
                                                  14,         15, 16};
    return function < 0                   ? PART_TASKS
           : function >= REPORT_FUNCTIONS ? PART_BUSIEST
                                          : classes[function];
}

void key_of_functions(char (*names)[EKI_BLOCK_NAME], int count, FILE *out)
{
    for (int f = 0; f < count && f < REPORT_FUNCTIONS; f++)
        key_add(out, function_class(f), false, names[f]);
    if (count > REPORT_FUNCTIONS)
        key_add(out, function_class(REPORT_FUNCTIONS), false,
                "other functions");
}

void draw_durations(const struct run *run, FILE *out)
{
    int first, last;
    double most = (double)slot_range(run, &first, &last);
    if (run->timed == 0)
        return;
    double share_s = run->now.mean_s;
    double right_s = fmax(slot_s(last + 1), share_s * 1.2);
    struct chart chart = {out,
                          {"duration of a task", fmin(slot_s(first), share_s),
                           right_s, UNIT_SECONDS, .is_log = true,
                           .has_ticks = true},
                          {"tasks", .most = 1.1 * most, .has_ticks = true}};
    key_open(out);
    key_of_functions(run->record->functions, run->record->function_count, out);
    key_close(out);
    chart_open(&chart, "Tasks by duration, on a logarithmic axis");
    for (int slot = first; slot <= last; slot++)
        draw_slot(&chart, run, slot);
    chart_rule(&chart, RULE_UPRIGHT, share_s, "share of a worker");
    chart_close(&chart);
}

void draw_homes(const struct run *run, FILE *out)
{
    const struct groups *groups = &run->groups;
    int count = groups->count, step = (count + 9) / 10;
    int64_t most = 0;
    struct chart chart = {
        out, {"ran on", .most = count}, {"home", .least = count, .most = 0}};
    for (int i = 0; i < count * count; i++)
        most = run->homes[i] > most ? run->homes[i] : most;
    chart_open(&chart, "Where tasks ran, by their home");
    for (int i = 0; i < count * count; i++) {
        char words[WORDS_BYTES] = "", name[40];
        int home = i / count, ran = i % count;
        double x[2] = {ran, ran + 1}, y[2] = {home + 1, home};
        if (run->homes[i] == 0)
            continue;
        group_name(run, ran, name, sizeof name);
        eki_append(words, sizeof words, "%s ran ", name);
        append_number(run->homes[i], "task", words, sizeof words);
        eki_append(words, sizeof words, " of ");
        group_name(run, home, words + strlen(words),
                   sizeof words - strlen(words));
        chart_cell(&chart, x, y,
                   0.15 + 0.85 * log1p((double)run->homes[i]) /
                              log1p((double)most),
                   words);
    }
    for (int i = 0; i < count; i += step) {
        chart_tick(&chart, false, i + 0.5, groups->first[i]);
        chart_tick(&chart, true, i + 0.5, groups->first[i]);
    }
    chart_close(&chart);
}

/* The points of a mode. */
static void draw_mode(const struct chart *chart, const struct run *run,
                      const char *mode, int class)
{
    double points[64][2];
    int count = 0;
    for (int i = 0; i < run->simulated_count && count < 64; i++) {
        const struct simulated *at = &run->simulated[i];
        char words[WORDS_BYTES] = "";
        if (strcmp(at->mode, mode) != 0)
            continue;
        points[count][0] = at->cores;
        points[count++][1] = 100 * at->efficiency;
        eki_append(words, sizeof words,
                   "%s on %d cores: %s an iteration, %.1f %% of ideal", mode,
                   at->cores, eki_seconds(at->makespan_s).text,
                   100 * at->efficiency);
        chart_dot(chart, class, at->cores, 100 * at->efficiency, words);
    }
    chart_line(chart, class, points, count);
}

/* The mode that stands at place I of the first number of cores. */
static const char *mode_at(const struct run *run, int i)
{
    if (i >= run->simulated_count ||
        run->simulated[i].cores != run->simulated[0].cores)
        return NULL;
    return run->simulated[i].mode;
}

static void draw_bound(const struct chart *chart, const struct run *run)
{
    double points[64][2];
    int count = 0;
    for (int i = 0; i < run->simulated_count && count < 64; i++) {
        const struct simulated *at = &run->simulated[i];
        if (count > 0 && points[count - 1][0] == at->cores)
            continue;
        points[count][0] = at->cores;
        points[count++][1] =
            fmin(100 * at->efficiency * at->makespan_s / at->bound_s, 100);
    }
    chart_line(chart, CHART_CLASSES, points, count);
}

void draw_simulated(const struct run *run, FILE *out)
{
    int last = -1;
    if (run->simulated_count == 0)
        return;
    struct chart chart = {
        out,
        {"cores", 1.6, 1.2 * run->simulated[run->simulated_count - 1].cores,
         UNIT_TWOS, .is_log = true},
        {"% of ideal", .most = 105, .unit = UNIT_PERCENT, .has_ticks = true}};
    key_open(out);
    for (int i = 0; mode_at(run, i); i++)
        key_add(out, i, true, mode_at(run, i));
    key_add(out, CHART_CLASSES, true, "bound of the longest task");
    key_close(out);
    chart_open(&chart, "Efficiency on more cores, simulated, by policy");
    for (int i = 0; i < run->simulated_count; i++) {
        if (run->simulated[i].cores == last)
            continue;
        last = run->simulated[i].cores;
        chart_tick(&chart, false, last, last);
    }
    draw_bound(&chart, run);
    for (int i = 0; mode_at(run, i); i++)
        draw_mode(&chart, run, mode_at(run, i), i);
    chart_close(&chart);
}
