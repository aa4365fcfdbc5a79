/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows as a table, as CSV and as JSON. */
#include "ek_sim.h"

#include "data.h"
#include "labels.h"
#include "paying.h"
#include "unfold.h"
#include "verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column column[FIELDS] = {
    [FIELD_MAKESPAN] = {"makespan_s", "makespan", "s", 10, 4, 1},
    [FIELD_IDEAL] = {"ideal_s", NULL, NULL, 0, 0, 1},
    [FIELD_BOUND] = {"bound_s", NULL, NULL, 0, 0, 1},
    [FIELD_EFFICIENCY] = {"efficiency", "% of", "ideal", 6, 1, 100},
    [FIELD_EFFICIENCY_BOUND] = {"efficiency_bound", "% of", "bound", 6, 1, 100},
    [FIELD_EFFICIENCY_CORES] = {"efficiency_cores", "% of", "cores", 6, 1, 100},
    [FIELD_EFFICIENCY_BEST] = {"efficiency_best", "% of", "best", 6, 1, 100},
    [FIELD_TRIES] = {"tries", "mean", "tries", 8, 1, 1},
    [FIELD_TRIES_DEVIATION] = {"tries_deviation", "", "+-", 7, 1, 1},
    [FIELD_STEALS] = {"steals", "mean", "steals", 7, 2, 1},
    [FIELD_STEALS_DEVIATION] = {"steals_deviation", "", "+-", 6, 2, 1},
    [FIELD_STOLEN] = {"stolen", "tasks", "stolen", 8, 0, 1},
    [FIELD_MOVED] = {"moved", "", "moved", 8, 0, 1},
    [FIELD_WORK] = {"work", "work", "%", 6, 1, 100},
    [FIELD_SEARCH] = {"search", "search", "%", 6, 1, 100},
    [FIELD_END] = {"end", "end", "%", 6, 1, 100},
    [FIELD_SERVER] = {"server", "server", "%", 6, 1, 100},
    [FIELD_DETECT] = {"detect_s", "detect", "ms", 8, 3, 1e3},
    [FIELD_RESTORE] = {"restore_s", "restore", "ms", 8, 3, 1e3},
    [FIELD_DECISION] = {"decision_s", "decision", "ms", 8, 2, 1e3},
    [FIELD_IMBALANCE] = {"imbalance", NULL, NULL, 0, 0, 1},
    [FIELD_STOLEN_BYTES] = {"stolen_bytes", NULL, NULL, 0, 0, 1},
    [FIELD_MOVED_BYTES] = {"moved_bytes", NULL, NULL, 0, 0, 1},
    [FIELD_STEALING] = {"stealing", "stealing", "%", 8, 1, 100},
    [FIELD_IN_VAIN] = {"in_vain", NULL, NULL, 0, 0, 1},
    [FIELD_MESSAGES] = {"messages", "", "messages", 8, 0, 1},
    [FIELD_DEEPEST] = {"deepest", "", "deepest", 7, 0, 1},
    [FIELD_WORKER_TASKS] = {"worker_tasks", NULL, NULL, 0, 0, 1},
    [FIELD_WORKER_TASKS_DEVIATION] = {"worker_tasks_deviation", NULL, NULL, 0,
                                      0, 1},
    [FIELD_LOADS_READ] = {"loads_read", NULL, NULL, 0, 0, 1},
    [FIELD_OCCUPIED] = {"occupied", NULL, NULL, 0, 0, 1},
    [FIELD_DENIED] = {"denied", NULL, NULL, 0, 0, 1},
    [FIELD_SEARCHES_1] = {"searches_1", NULL, NULL, 0, 0, 1},
    [FIELD_SEARCHES_2] = {"searches_2", NULL, NULL, 0, 0, 1},
    [FIELD_SEARCHES_3] = {"searches_3", NULL, NULL, 0, 0, 1},
    [FIELD_SEARCHES_4] = {"searches_4", NULL, NULL, 0, 0, 1},
    [FIELD_SEARCHES_MORE] = {"searches_more", NULL, NULL, 0, 0, 1},
    [FIELD_GRANTS] = {"grants", NULL, NULL, 0, 0, 1},
    [FIELD_CYCLIC] = {"cyclic", NULL, NULL, 0, 0, 1},
    [FIELD_FIRST_STEALS] = {"first_steals", NULL, NULL, 0, 0, 1},
    [FIELD_FIRST_STEAL] = {"first_steal_s", NULL, NULL, 0, 0, 1},
    [FIELD_FIRST_STEAL_MOST] = {"first_steal_most_s", NULL, NULL, 0, 0, 1},
    [FIELD_TILE_BYTES] = {"tile_bytes", "tile", "MB", 9, 1, 1e-6},
    [FIELD_CACHED] = {"cached", "cached", "%", 6, 1, 100},
    [FIELD_TILE_WAIT] = {"tile_wait_s", "tile", "wait s", 8, 4, 1},
    [FIELD_TRAVELLED] = {"travelled", "", "travelled", 9, 0, 1},
    [FIELD_DATA_BYTES] = {"data_bytes", "data", "MB", 9, 1, 1e-6},
    [FIELD_DATA_WAIT] = {"data_wait_s", "data", "wait s", 8, 4, 1},
    [FIELD_DATA_HELD] = {"data_held_bytes", NULL, NULL, 0, 0, 1},
    [FIELD_DATA_MEAN] = {"data_task_bytes", NULL, NULL, 0, 0, 1}};

static const struct columns columns = {column, FIELDS};

/* For people: those of tiles, and of data, where there are any. */
static struct columns columns_of(const struct run *run)
{
    static struct column shown[FIELDS];
    memcpy(shown, column, sizeof shown);
    for (int f = FIELD_TILE_BYTES; f < FIELDS; f++) {
        if (f < FIELD_TRAVELLED ? !run->tiles.is_used
                                : !run->workload->input_bytes)
            shown[f].top = shown[f].title = NULL;
    }
    return (struct columns){shown, FIELDS};
}

/* Of a mode among others only these iterations are shown. */
static bool is_shown(const struct run *run, int iteration)
{
    return !run->arguments->shared.has_compare || iteration <= 2 ||
           iteration == 5 || iteration == run->arguments->iterations;
}

/* The name of a mode; a long one has a line of its own. */
static void print_name(const char *name)
{
    enum {
        WIDTH = 14
    };
    if (strlen(name) > WIDTH) {
        printf("%s\n", name);
        name = "";
    }
    printf("%-*s", WIDTH, name);
}

static bool is_for_programs(const struct run *run)
{
    return run->arguments->shared.has_csv || run->arguments->shared.has_json;
}

/* SUMMARY: of several seeds; NULL: there is one. */
static void print_table(const struct run *run, const struct row *rows,
                        const struct row *summary, int count)
{
    const struct columns shown = columns_of(run);
    printf("\n%-14s %3s", "", "");
    columns_print_tops(&shown);
    printf("%-14s %3s", "mode", "it");
    columns_print_titles(&shown);
    for (int i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        if (!is_shown(run, row->iteration))
            continue;
        print_name(row->iteration == 1 ? row->mode->name : "");
        printf(" %3d", row->iteration);
        columns_print(&shown, row->values);
        if (summary) {
            printf("%-14s %3s", "", "+-");
            columns_print(&shown, summary[STATISTIC_CI95 * count + i].values);
        }
    }
    printf("\n");
    if (run->unfold)
        unfold_print(run->unfold);
    printf("%" PRId64 " events in %.2f s\n", run->events, run->real_s);
}

/* As CSV or JSON; SEED < 0: STATISTIC is of all. */
static void print_values(const struct run *run, const struct row *row, int seed,
                         const char *statistic)
{
    struct label label[LABELS + 1];
    struct labels labels = {label, LABELS + 1};
    fill_labels(label, run, seed, row->mode->name, row->iteration);
    label[LABELS] = (struct label){.key = "statistic", .text = statistic};
    if (run->arguments->shared.has_csv)
        columns_csv(&columns, &labels, row->values);
    else
        columns_json(&columns, &labels, row->values);
}

static void print_all(const struct run *run, const struct row *rows,
                      const struct row *summary, int count)
{
    static const char *const words[STATISTICS] = {"mean", "deviation", "ci95"};
    const struct arguments *arguments = run->arguments;
    for (int seed = 0; seed < arguments->seeds; seed++) {
        for (int i = 0; i < count; i++)
            print_values(run, &rows[seed * count + i],
                         arguments->shared.source.seed + seed, "run");
    }
    for (int i = 0; summary && i < count; i++) {
        for (int s = 0; s < STATISTICS; s++)
            print_values(run, &summary[s * count + i], -1, words[s]);
    }
}

static void print_titles(const struct run *run)
{
    struct label label[LABELS + 1];
    fill_titles(label);
    label[LABELS] = (struct label){.key = "statistic"};
    if (run->is_first && run->arguments->shared.has_csv)
        columns_csv_head(&columns, &(struct labels){label, LABELS + 1});
}

static void print_machine(const struct run *run)
{
    printf("%s: %d nodes of %lld cores, %d ranks, %d workers; ",
           run->machine.name, run->nodes, (long long)run->machine.node_cores,
           run->ranks, run->workers);
}

static void print_workload(const struct run *run)
{
    const struct workload *workload = run->workload;
    step_workload(run, 0);
    printf("%s, times %g: %" PRId64 " tasks, %.5g s, longest %s%.4g s\n",
           run->name, run->source->scale, workload->count, workload->sum_s,
           workload_spawns(workload) ? "chain " : "", workload->longest_s);
    if (workload_spawns(workload))
        printf("%" PRId64 " of them exist at first, the others are spawned; "
               "average parallelism %.4g\n",
               workload->seeds, workload->sum_s / workload->longest_s);
    print_machine(run);
    printf("%.4g tasks per worker; ideal %.5g s, bound %.5g s; ",
           (double)workload->count / run->workers, ideal_s(run), bound_s(run));
}

/* What its tasks take is not known yet. */
static void print_tree(const struct run *run)
{
    printf("%s\n", run->name);
    print_machine(run);
}

void print_head(const struct run *run)
{
    const struct workload *workload = run->workload;
    print_titles(run);
    if (is_for_programs(run))
        return;
    if (!run->is_first)
        printf("\n");
    if (run->unfold)
        print_tree(run);
    else
        print_workload(run);
    printf("%s\n", run->is_sampled ? "failed steals are drawn" : "exact");
    if (run->arguments->seeds > 1)
        printf("seeds %d ... %d: means, and half the widths of their 95 %% "
               "confidence intervals\n",
               run->source->seed,
               run->source->seed + run->arguments->seeds - 1);
    if (workload->input_bytes)
        printf("data of %.4g bytes for a task, input and result\n",
               data_mean_bytes(run));
    if (run->source->has_nulls && null_count(run) > 0)
        printf("%" PRId64 " null tasks of %.4g us\n", null_count(run),
               null_ns(run) * 1e-3);
    fflush(stdout);
}

/* Against the best mode in the same iteration: their durations are equal. */
static void compare_modes(const struct run *run, struct row *rows, int modes)
{
    int iterations = run->arguments->iterations;
    for (int i = 0; i < iterations; i++) {
        double best_s = rows[i].values[FIELD_MAKESPAN];
        for (int m = 1; m < modes; m++)
            best_s =
                fmin(best_s, rows[m * iterations + i].values[FIELD_MAKESPAN]);
        for (int m = 0; m < modes; m++) {
            double *values = rows[m * iterations + i].values;
            values[FIELD_EFFICIENCY_BEST] = best_s / values[FIELD_MAKESPAN];
        }
    }
}

static const enum field compared_fields[COMPARED_FIGURES] = {
    FIELD_MAKESPAN, FIELD_RESTORE, FIELD_BOUND};

static void add_iteration(const struct row *row,
                          struct eki_verdict_run *verdict, int servers)
{
    const double *values = row->values;
    double wall_s = values[FIELD_MAKESPAN], stay_s = wall_s * verdict->workers;
    double work_s = values[FIELD_WORK] * stay_s;
    double search_s = values[FIELD_SEARCH] * stay_s;
    double end_s = values[FIELD_END] * stay_s;
    verdict->tasks += llround(values[FIELD_WORKER_TASKS] * verdict->workers);
    verdict->wall_s += wall_s;
    verdict->core_s += stay_s + servers * wall_s;
    verdict->server_s += servers * wall_s;
    verdict->work_s += work_s;
    verdict->search_s += search_s;
    verdict->end_s += end_s;
    verdict->overhead_s += fmax(row->inside_s - work_s - search_s - end_s, 0);
    verdict->start_s += stay_s - row->inside_s;
    verdict->data_s += values[FIELD_DATA_WAIT];
    verdict->tiles_s += values[FIELD_TILE_WAIT];
    if (!isnan(values[FIELD_RESTORE]))
        verdict->restore_s += values[FIELD_RESTORE];
    /* Else it is the share of a worker. */
    if (values[FIELD_BOUND] > values[FIELD_IDEAL])
        verdict->longest_s += values[FIELD_BOUND] / (double)verdict->iterations;
}

static bool is_rebalanced(const char *restore)
{
    return !strpbrk(restore, "@") && strcmp(restore, "original") != 0 &&
           strcmp(restore, "retain") != 0 && strcmp(restore, "auto") != 0;
}

/* The iterations of a mode as the library's report has them; the first one does
 * not count where there are more. */
static struct eki_verdict_run run_of(const struct run *run,
                                     const struct row *rows)
{
    const struct mode *mode = rows->mode;
    int all = run->arguments->iterations, first = all > 1, n = all - first;
    bool is_anew = mode->is_anew || strcmp(mode->restore, "original") == 0;
    struct eki_verdict_run verdict = {
        .iterations = n,
        .workers = run->workers,
        .nodes = run->nodes,
        .cores = run->workers,
        .unstolen = strcmp(mode->steal, "none") == 0 ? n : 0,
        .counted = strcmp(mode->steal, "counter") == 0 ? n : 0,
        .anew = is_anew ? n : 0,
        .rebalanced = is_rebalanced(mode->restore) ? n : 0};
    for (int i = first; i < all; i++)
        add_iteration(&rows[i], &verdict,
                      run->machine.has_server ? run->ranks : 0);
    verdict.iteration_s = verdict.wall_s / n;
    return verdict;
}

static void print_verdict(const struct run *run, const struct row *rows,
                          int modes)
{
    const struct workload *workload = run->workload;
    int n = run->arguments->iterations;
    double *values = allocate((size_t)(COMPARED_FIGURES * n), sizeof *values);
    struct compared compared = {0};
    for (int m = 0; m < modes; m++) {
        const struct row *first = &rows[m * n];
        for (int f = 0; f < COMPARED_FIGURES; f++) {
            for (int i = 0; i < n; i++)
                values[f * n + i] = first[i].values[compared_fields[f]];
        }
        struct eki_verdict_run verdict = run_of(run, first);
        compared_add(&compared, first->mode, &verdict, values, n);
    }
    /* Drawn tasks differ from seed to seed. */
    if (!run->unfold && (run->source->record || run->arguments->seeds == 1)) {
        step_workload(run, 0);
        verdict_print_tasks("", workload->now_s, workload->count, run->workers);
    }
    compared_end(&compared);
    if (run->workload->input_bytes)
        print_paying(run, rows, modes);
    free(values);
}

void print_modes(const struct run *run, struct row *rows, int modes)
{
    int count = modes * run->arguments->iterations;
    int seeds = run->arguments->seeds;
    struct row *summary = NULL;
    for (int seed = 0; seed < seeds; seed++)
        compare_modes(run, rows + (ptrdiff_t)seed * count, modes);
    if (seeds > 1) {
        summary = allocate((size_t)count * STATISTICS, sizeof *summary);
        summarize(rows, seeds, count, summary);
    }
    if (is_for_programs(run)) {
        print_all(run, rows, summary, count);
    } else {
        const struct row *shown = summary ? summary : rows; /* the means */
        print_table(run, shown, summary, count);
        struct eki_verdict_run verdict = run_of(run, shown);
        if (run->arguments->shared.has_compare)
            print_verdict(run, shown, modes);
        else
            verdict_print_run("", &verdict);
    }
    fflush(stdout);
    free(summary);
}
