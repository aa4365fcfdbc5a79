/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations so far, and what to say of them in the end. */
#include "report/print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LINE_BYTES 600

/* A loss below this part of the time is not listed. */
#define LISTED 0.001

/* Every second sample goes when there is no more room. */
static void add_sample(struct eki_report_course *course,
                       const struct eki_figures *figures)
{
    if (!course->samples)
        course->samples =
            eki_alloc(EKI_REPORT_SAMPLES, sizeof *course->samples);
    if (!course->samples || (course->run.iterations - 1) % course->stride != 0)
        return;
    if (course->sample_count == EKI_REPORT_SAMPLES) {
        for (int i = 0; i < EKI_REPORT_SAMPLES / 2; i++)
            course->samples[i] = course->samples[(size_t)2 * i];
        course->sample_count /= 2;
        course->stride *= 2;
    }
    course->samples[course->sample_count++] =
        (struct eki_report_sample){figures->wall_s, figures->largest_task_s,
                                   figures->largest_task_function};
}

/* Changes are without what tasks waited for cores.  What was not measured both
 * times counts as unchanged; so does everything where nothing ran. */
void eki_report_fill_speed(const struct eki_report_changes *changes,
                           struct eki_report *report,
                           struct eki_figures *figures)
{
    double work_ns = (figures->work_s - figures->starved_in_tasks_s) / 1e-9;
    double rest_ns = fmax(work_ns - changes->now_ns, 0);
    report->inflation *=
        eki_report_ratio(changes->now_ns, changes->before_ns, 1);
    report->stretch *= eki_report_ratio(rest_ns + changes->now_ns,
                                        rest_ns + changes->before_ns, 1);
    figures->inflation = report->inflation;
    figures->speed = eki_report_ratio(figures->efficiency, report->stretch, 0);
}

/* Only rank 0 has something to say of ranks. */
static void add_ranks(struct eki_report *report, double lateness_s)
{
    struct eki_report_course *course = &report->course;
    const struct eki_figures *figures = &report->figures;
    if (report->rank != 0)
        return;
    if (!course->ranks)
        course->ranks = eki_alloc((size_t)report->size, sizeof *course->ranks);
    if (!course->ranks)
        return;
    course->ranks[figures->latest_rank].late_s += lateness_s;
    course->ranks[figures->slowest_rank].slowest++;
}

/* While a rank is missing the others cannot end: had it come with them, they
 * would have been idle for as much less as it was late. */
static double awaiting_s(const struct eki_figures *figures, double lateness_s)
{
    double idle_s = figures->search_s + figures->end_s;
    return fmin(idle_s,
                lateness_s * (double)figures->workers - figures->late_s);
}

static void add_extremes(struct eki_report_course *course,
                         const struct eki_figures *figures)
{
    bool is_first = course->run.iterations == 1;
    if (is_first || figures->wall_s < course->best_s) {
        course->best = figures->iteration;
        course->best_s = figures->wall_s;
    }
    if (is_first || figures->wall_s > course->worst_s) {
        course->worst = figures->iteration;
        course->worst_s = figures->wall_s;
    }
}

void eki_report_add(struct eki_report *report,
                    const struct eki_report_input *input,
                    const struct eki_report_extra *extra)
{
    const struct eki_figures *figures = &report->figures;
    struct eki_report_course *course = &report->course;
    struct eki_verdict_run *run = &course->run;
    double workers = (double)figures->workers;
    eki_verdict_count(run, input->restored, input->steal);
    run->workers = (int)figures->workers;
    run->cores = figures->cores;
    run->cpus = input->cpus;
    run->online = input->online;
    run->nodes = input->nodes;
    run->tasks += figures->tasks;
    run->wall_s += figures->wall_s;
    run->restore_s += figures->restore_s;
    run->outside_s += figures->outside_s;
    run->save_s += figures->save_s;
    run->core_s += (workers + extra->servers) * figures->wall_s;
    run->server_s += extra->servers * figures->wall_s;
    run->work_s += figures->work_s;
    run->overhead_s += figures->overhead_s;
    run->data_s += figures->data_wait_s;
    run->tiles_s += figures->tile_wait_s;
    run->search_s += figures->search_s;
    run->end_s += figures->end_s;
    run->start_s += figures->start_s;
    run->late_s += figures->late_s;
    run->awaiting_s += fmax(awaiting_s(figures, extra->lateness_s), 0);
    run->cpu_s += figures->cpu_s;
    run->starved_s += figures->starved_s;
    run->starved_in_tasks_s += figures->starved_in_tasks_s;
    run->starved_idle_s += figures->starved_idle_s;
    run->first_s +=
        figures->speed * (workers + extra->servers) * figures->wall_s;
    course->failed += figures->failed;
    course->cancelled += figures->cancelled;
    course->load_s += extra->load_s;
    course->mean_load_s += figures->work_s / workers;
    add_extremes(course, figures);
    add_sample(course, figures);
    add_ranks(report, extra->lateness_s);
}

void eki_report_trouble(struct eki_report *report)
{
    report->course.troubled++;
}

static int by_longest(const void *a, const void *b)
{
    const struct eki_report_sample *x = a, *y = b;
    return (x->longest_s > y->longest_s) - (x->longest_s < y->longest_s);
}

static int by_wall(const void *a, const void *b)
{
    const struct eki_report_sample *x = a, *y = b;
    return (x->wall_s > y->wall_s) - (x->wall_s < y->wall_s);
}

/* Without memory for samples the means do. */
static void fill_medians(struct eki_report *report, struct eki_verdict_run *run)
{
    struct eki_report_course *course = &report->course;
    int middle = (course->sample_count - 1) / 2;
    run->iteration_s = run->wall_s / (double)run->iterations;
    if (course->sample_count == 0)
        return;
    size_t count = (size_t)course->sample_count;
    qsort(course->samples, count, sizeof *course->samples, by_wall);
    run->iteration_s = course->samples[middle].wall_s;
    qsort(course->samples, count, sizeof *course->samples, by_longest);
    run->longest_s = course->samples[middle].longest_s;
    ek_function function = course->samples[middle].function;
    if (function >= 0 && function < report->function_count)
        run->function = report->functions[function].name;
}

static void fill_ranks(const struct eki_report *report,
                       struct eki_verdict_run *run)
{
    const struct eki_report_course *course = &report->course;
    run->busiest = eki_report_ratio(course->load_s, course->mean_load_s, 0);
    for (int r = 0; course->ranks && r < report->size; r++) {
        const struct eki_report_rank_course *ranks = course->ranks;
        if (ranks[r].slowest > ranks[run->busiest_rank].slowest)
            run->busiest_rank = r;
        if (ranks[r].late_s > ranks[run->latest_rank].late_s)
            run->latest_rank = r;
    }
    if (course->ranks)
        run->lateness_s =
            course->ranks[run->latest_rank].late_s / (double)run->iterations;
}

static void say_head(const struct eki_report *report,
                     const struct eki_verdict_run *run)
{
    const struct eki_report_course *course = &report->course;
    char text[LINE_BYTES] = "";
    eki_report_append_name(report, text, sizeof text);
    eki_append(text, sizeof text, "%" PRId64 " iteration%s", run->iterations,
               run->iterations == 1 ? "" : "s");
    if (run->iterations > 0)
        eki_append(text, sizeof text,
                   " on %d worker%s and %d core%s, %" PRId64 " tasks",
                   run->workers, run->workers == 1 ? "" : "s", run->cores,
                   run->cores == 1 ? "" : "s", run->tasks);
    if (course->failed > 0)
        eki_append(text, sizeof text, ", %" PRId64 " failed", course->failed);
    if (course->cancelled > 0)
        eki_append(text, sizeof text, ", %" PRId64 " cancelled",
                   course->cancelled);
    if (course->troubled > 0)
        eki_append(text, sizeof text, "; %" PRId64 " iteration%s failed",
                   course->troubled, course->troubled == 1 ? "" : "s");
    eki_report_say(report, text);
}

static void append_seconds(const char *words, double seconds, double whole_s,
                           char *text, size_t bytes)
{
    eki_append(text, bytes, "%s %s (%.0f %%)", words, eki_seconds(seconds).text,
               whole_s > 0 ? 100 * seconds / whole_s : 0);
}

static void say_times(const struct eki_report *report,
                      const struct eki_verdict_run *run)
{
    const struct eki_report_course *course = &report->course;
    double whole_s =
        run->wall_s + run->outside_s + run->restore_s + run->save_s;
    char text[LINE_BYTES] = "  ";
    append_seconds("inside", run->wall_s, whole_s, text, sizeof text);
    append_seconds(", outside", run->outside_s, whole_s, text, sizeof text);
    append_seconds(", restoring", run->restore_s, whole_s, text, sizeof text);
    if (run->save_s > 0)
        append_seconds(", saving", run->save_s, whole_s, text, sizeof text);
    eki_report_say(report, text);
    snprintf(text, sizeof text,
             "  an iteration takes %s; best: %" PRId64
             " with %s, worst: %" PRId64 " with %s",
             eki_seconds(run->iteration_s).text, course->best,
             eki_seconds(course->best_s).text, course->worst,
             eki_seconds(course->worst_s).text);
    eki_report_say(report, text);
}

static void say_efficiency(const struct eki_report *report,
                           const struct eki_verdict_run *run)
{
    double stay_s = run->core_s - run->server_s;
    char text[LINE_BYTES] = "  ";
    eki_append(text, sizeof text, "efficiency %.1f %%, speed %.1f %%",
               100 * eki_verdict_efficiency(run),
               run->core_s > 0 ? 100 * run->first_s / run->core_s : 0);
    if (run->cpu_s > 0)
        append_seconds(", processor time", run->cpu_s, stay_s, text,
                       sizeof text);
    eki_report_say(report, text);
}

static void say_losses(const struct eki_report *report,
                       const struct eki_verdict_run *run)
{
    struct eki_verdict_loss losses[EKI_VERDICT_CAUSES];
    double whole_s = eki_verdict_whole_s(run);
    char text[LINE_BYTES] = "  lost: ";
    const char *separator = "";
    int count = eki_verdict_rank(run, losses);
    for (int i = 0; i < count; i++) {
        if (losses[i].lost_s < LISTED * whole_s)
            continue;
        eki_append(text, sizeof text, "%s%.1f %% %s", separator,
                   100 * losses[i].lost_s / whole_s,
                   eki_verdict_word(losses[i].cause));
        separator = ", ";
    }
    eki_append(text, sizeof text, "%s", *separator ? "" : "nothing");
    eki_report_say(report, text);
    snprintf(text, sizeof text, "  ");
    for (int k = 0; eki_verdict_run(run, k, text, sizeof text); k++) {
        eki_report_say(report, text);
        snprintf(text, sizeof text, "  ");
    }
}

struct eki_verdict_run eki_report_run(struct eki_report *report)
{
    struct eki_verdict_run run = report->course.run;
    if (run.iterations > 0) {
        fill_medians(report, &run);
        fill_ranks(report, &run);
    }
    return run;
}

void eki_report_last(struct eki_report *report, double outside_s,
                     double restore_s, double save_s)
{
    struct eki_verdict_run run;
    if (report->level != 1 && report->level != 2)
        return;
    run = eki_report_run(report);
    run.outside_s += outside_s;
    run.restore_s += restore_s;
    run.save_s += save_s;
    say_head(report, &run);
    if (run.iterations == 0)
        return;
    say_times(report, &run);
    say_efficiency(report, &run);
    say_losses(report, &run);
}
