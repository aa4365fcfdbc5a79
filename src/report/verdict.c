/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes of loss, and what to do about each. */
#include "report/verdict.h"

#include <inttypes.h>
#include <math.h>

/* Losses below this part of the time are not worth a sentence. */
#define SMALL_LOSS 0.05
/* Clock rates alone let tasks become slower by several percent. */
#define SMALL_SLOWER 0.1
/* Gains below this part are not worth a figure. */
#define NO_GAIN 0.005
/* A machine that keeps cores from workers for this part of their time is busy.
 */
#define BUSY 0.05

/* Fewer tasks per worker leave no choice to a balancer. */
#define TASKS_FEW 10

/* An iteration as short as some steals between nodes. */
#define ITERATION_SHORT_S 1e-3

struct eki_seconds eki_seconds(double seconds)
{
    struct eki_seconds said;
    bool is_long = seconds >= 1 || seconds == 0, is_short = !(seconds >= 1e-3);
    snprintf(said.text, sizeof said.text, "%.4g %s",
             is_long    ? seconds
             : is_short ? seconds * 1e6
                        : seconds * 1e3,
             is_long    ? "s"
             : is_short ? "us"
                        : "ms");
    return said;
}

static double useful_s(const struct eki_verdict_run *run)
{
    return run->work_s - run->starved_in_tasks_s;
}

double eki_verdict_efficiency(const struct eki_verdict_run *run)
{
    return run->core_s > 0 ? useful_s(run) / run->core_s : 0;
}

double eki_verdict_whole_s(const struct eki_verdict_run *run)
{
    return run->core_s + run->restore_s * run->workers;
}

void eki_verdict_count(struct eki_verdict_run *run, ek_restore_policy restore,
                       ek_steal_policy steal)
{
    run->iterations++;
    run->unstolen += steal == EK_STEAL_NONE;
    run->counted += steal == EK_STEAL_COUNTER;
    run->anew += restore == EK_RESTORE_ORIGINAL;
    run->rebalanced +=
        restore != EK_RESTORE_DEFAULT && restore != EK_RESTORE_ORIGINAL &&
        restore != EK_RESTORE_RETAIN && restore != EK_RESTORE_AUTO;
}

double eki_verdict_each_s(const struct eki_verdict_run *run)
{
    return (run->wall_s + run->restore_s) / (double)run->iterations;
}

double eki_verdict_busy(const struct eki_verdict_run *run)
{
    double stay_s = run->core_s - run->server_s;
    bool is_busy = run->workers <= run->cores && stay_s > 0 &&
                   run->starved_s >= BUSY * stay_s;
    return is_busy ? run->starved_s / stay_s : 0;
}

static double tasks_per_worker(const struct eki_verdict_run *run)
{
    return (double)run->tasks / (double)run->iterations / run->workers;
}

/* So many of the iterations that they stand for all. */
static bool is_most(const struct eki_verdict_run *run, int64_t iterations)
{
    return 2 * iterations > run->iterations;
}

/* Whether workers lack tasks because an iteration ends as soon as it begins. */
static bool ends_at_once(const struct eki_verdict_run *run)
{
    return run->iteration_s < ITERATION_SHORT_S &&
           tasks_per_worker(run) >= TASKS_FEW && !is_most(run, run->unstolen) &&
           !is_most(run, run->counted) && !is_most(run, run->anew);
}

/* With the best balance the workers have to wait for the longest task. */
static void fill_losses(const struct eki_verdict_run *run,
                        double lost_s[EKI_VERDICT_CAUSES])
{
    double idle_s = run->search_s + run->end_s - run->awaiting_s;
    double least_s =
        (double)run->iterations * (double)run->workers * run->longest_s;
    double coarse_s =
        run->work_s > 0 ? fmin(idle_s, fmax(least_s - run->work_s, 0)) : 0;
    /* Who has no task needs no core. */
    double starved_s = run->starved_s - run->starved_idle_s;
    double short_s = ends_at_once(run) ? idle_s - coarse_s : 0;
    lost_s[EKI_VERDICT_IDLE] = idle_s - coarse_s - short_s;
    lost_s[EKI_VERDICT_COARSE] = coarse_s;
    lost_s[EKI_VERDICT_STARVED] = starved_s;
    lost_s[EKI_VERDICT_OVERHEAD] =
        run->overhead_s - run->data_s - (starved_s - run->starved_in_tasks_s);
    lost_s[EKI_VERDICT_DATA] = run->data_s;
    lost_s[EKI_VERDICT_START] = run->start_s + short_s;
    lost_s[EKI_VERDICT_LATE] = run->late_s + run->awaiting_s;
    lost_s[EKI_VERDICT_SERVER] = run->server_s;
    lost_s[EKI_VERDICT_RESTORE] = run->restore_s * run->workers;
    lost_s[EKI_VERDICT_TILES] = run->tiles_s;
    lost_s[EKI_VERDICT_SLOWER] =
        run->first_s > 0 ? useful_s(run) - run->first_s : 0;
    /* Tables may say anything. */
    for (int i = 0; i < EKI_VERDICT_CAUSES; i++) {
        if (lost_s[i] > eki_verdict_whole_s(run))
            lost_s[i] = eki_verdict_whole_s(run);
    }
}

/* Cores that workers would have if ranks were not bound to few. */
static double cores_unbound(const struct eki_verdict_run *run)
{
    return run->cpus < run->online
               ? (double)run->cores * run->online / run->cpus
               : run->cores;
}

/* What is lost would be shared by all; but the longest task stays as long, and
 * workers that share cores are no faster than these. */
static double gain_s(const struct eki_verdict_run *run,
                     const double lost_s[EKI_VERDICT_CAUSES],
                     enum eki_verdict_cause cause)
{
    double whole_s = eki_verdict_whole_s(run);
    double now_s = eki_verdict_each_s(run);
    double then_s = now_s * (1 - lost_s[cause] / whole_s);
    double busy_s =
        run->cpu_s > 0 ? fmin(useful_s(run), run->cpu_s) : useful_s(run);
    double cores =
        cause == EKI_VERDICT_STARVED ? cores_unbound(run) : run->cores;
    if (lost_s[EKI_VERDICT_STARVED] >= SMALL_LOSS * whole_s)
        then_s = fmax(then_s, busy_s / cores / (double)run->iterations);
    if (cause < EKI_VERDICT_COARSE)
        then_s = fmax(then_s, run->longest_s);
    return fmax(now_s - then_s, 0);
}

int eki_verdict_rank(const struct eki_verdict_run *run,
                     struct eki_verdict_loss losses[EKI_VERDICT_CAUSES])
{
    double lost_s[EKI_VERDICT_CAUSES];
    int count = 0;
    fill_losses(run, lost_s);
    for (int i = 0; run->core_s > 0 && i < EKI_VERDICT_CAUSES; i++) {
        enum eki_verdict_cause cause = (enum eki_verdict_cause)i;
        struct eki_verdict_loss loss = {cause, lost_s[i],
                                        gain_s(run, lost_s, cause)};
        int at = count;
        if (!(loss.lost_s > 0))
            continue;
        for (; at > 0 && losses[at - 1].gain_s < loss.gain_s; at--)
            losses[at] = losses[at - 1];
        losses[at] = loss;
        count++;
    }
    return count;
}

/* What workers without tasks may hope for. */
static void append_idle_remedy(const struct eki_verdict_run *run, char *text,
                               size_t bytes)
{
    if (is_most(run, run->unstolen))
        eki_append(text, bytes, "stealing is off: EVENKEEL_STEAL=random");
    else if (is_most(run, run->counted))
        eki_append(text, bytes,
                   "a counter deals one task at a time: "
                   "EVENKEEL_STEAL=counter:guided, or random");
    else if (tasks_per_worker(run) < TASKS_FEW)
        eki_append(text, bytes,
                   "a worker has %.1f tasks: cut them into ten times as many",
                   tasks_per_worker(run));
    else if (is_most(run, run->anew))
        eki_append(text, bytes,
                   "each iteration starts as the first: "
                   "EVENKEEL_RESTORE=retain");
    else if (run->nodes > 1 && run->search_s > run->end_s)
        eki_append(text, bytes,
                   "answers take long: EVENKEEL_PROGRESS=server, or ek_poll in "
                   "long tasks");
    else
        eki_append(text, bytes, "start balanced: EVENKEEL_RESTORE=auto");
}

static void append_idle(const struct eki_verdict_run *run, double part,
                        char *text, size_t bytes)
{
    eki_append(text, bytes,
               "workers were without tasks for %.0f %% of the time", part);
    if (run->busiest > 0)
        eki_append(text, bytes,
                   ", the busiest worker (on rank %d) had %.1f x the mean load",
                   run->busiest_rank, run->busiest);
    eki_append(text, bytes, "; ");
    append_idle_remedy(run, text, bytes);
}

static void append_coarse(const struct eki_verdict_run *run, double part,
                          char *text, size_t bytes)
{
    double sum_s = run->work_s / (double)run->iterations;
    struct eki_verdict_tasks tasks = {.tasks = run->tasks / run->iterations,
                                      .workers = run->workers,
                                      .sum_s = sum_s,
                                      .longest_s = run->longest_s,
                                      .above = -1,
                                      .function = run->function};
    eki_append(
        text, bytes,
        "workers waited behind the longest task for %.0f %% of the time; ",
        part);
    eki_verdict_tasks(&tasks, text, bytes);
}

static void append_starved(const struct eki_verdict_run *run, double part,
                           char *text, size_t bytes)
{
    eki_append(text, bytes,
               "%d workers shared %d core%s, and waited for a core for %.0f %% "
               "of the time; ",
               run->workers, run->cores, run->cores == 1 ? "" : "s", part);
    if (run->cpus < run->online)
        eki_append(text, bytes,
                   "ranks are bound to %d of %d: mpirun --bind-to none, or "
                   "--map-by slot:PE=THREADS",
                   run->cpus, run->online);
    else
        eki_append(text, bytes,
                   "start %d in all: fewer ranks, or EVENKEEL_WORKERS for "
                   "each rank",
                   run->cores);
}

static void append_overhead(const struct eki_verdict_run *run, double part,
                            char *text, size_t bytes)
{
    eki_append(text, bytes, "%.0f %% of the time went by between tasks", part);
    if (run->tasks > 0)
        eki_append(text, bytes,
                   ", which take %s: make them longer, or use ek_add_range",
                   eki_seconds(run->work_s / (double)run->tasks).text);
}

static void append_start(const struct eki_verdict_run *run, double part,
                         char *text, size_t bytes)
{
    eki_append(text, bytes,
               "%.0f %% of the time went into starting and leaving iterations "
               "of %s: do more in one, and leave a core to each thread",
               part, eki_seconds(run->iteration_s).text);
}

static void append_late(const struct eki_verdict_run *run, double part,
                        char *text, size_t bytes)
{
    eki_append(text, bytes,
               "rank %d enters %s late: %.0f %% of the time was lost outside "
               "Evenkeel; balance what the program does before ek_process",
               run->latest_rank, eki_seconds(run->lateness_s).text, part);
}

static void append_restore(const struct eki_verdict_run *run, double part,
                           char *text, size_t bytes)
{
    eki_append(text, bytes, "ek_restore takes %.0f %% of the time; ", part);
    if (run->rebalanced > 0)
        eki_append(text, bytes,
                   "rebalance where that pays: EVENKEEL_RESTORE=auto");
    else if (run->anew > 0)
        eki_append(text, bytes,
                   "leave tasks where they ran: EVENKEEL_RESTORE=retain");
    else
        eki_append(text, bytes, "make tasks longer, or use ek_add_range");
}

static void append_data(const struct eki_verdict_run *run, double part,
                        char *text, size_t bytes)
{
    (void)run;
    eki_append(text, bytes,
               "workers waited %.0f %% of the time for data of tasks: "
               "EVENKEEL_PROGRESS=server, ek_poll in long tasks, or with "
               "ek_set_data_ops EVENKEEL_DATA=follow",
               part);
}

static void append_server(const struct eki_verdict_run *run, double part,
                          char *text, size_t bytes)
{
    (void)run;
    eki_append(text, bytes,
               "dedicated server threads take %.0f %% of the cores: "
               "EVENKEEL_PROGRESS=polling",
               part);
}

static void append_tiles(const struct eki_verdict_run *run, double part,
                         char *text, size_t bytes)
{
    (void)run;
    eki_append(text, bytes,
               "tasks waited %.0f %% of the time for tiles: "
               "ek_tiles_get_start early, a larger cache_bytes, or tasks that "
               "share tiles one after the other",
               part);
}

static void append_slower(const struct eki_verdict_run *run, double part,
                          char *text, size_t bytes)
{
    eki_append(text, bytes,
               "tasks took %.2f x as long as at first, which is %.0f %% of the "
               "time; if their work is the same, look at memory, distant data "
               "and clock rates",
               useful_s(run) / run->first_s, part);
}

/* PART: percent of the time that were lost. */
typedef void append_fn(const struct eki_verdict_run *run, double part,
                       char *text, size_t bytes);

static const struct {
    const char *word;
    append_fn *append;
} causes[EKI_VERDICT_CAUSES] = {
    [EKI_VERDICT_STARVED] = {"waiting for cores", append_starved},
    [EKI_VERDICT_IDLE] = {"without tasks", append_idle},
    [EKI_VERDICT_OVERHEAD] = {"between tasks", append_overhead},
    [EKI_VERDICT_DATA] = {"waiting for data", append_data},
    [EKI_VERDICT_START] = {"starting", append_start},
    [EKI_VERDICT_LATE] = {"ranks late", append_late},
    [EKI_VERDICT_SERVER] = {"servers", append_server},
    [EKI_VERDICT_RESTORE] = {"restoring", append_restore},
    [EKI_VERDICT_COARSE] = {"behind the longest task", append_coarse},
    [EKI_VERDICT_TILES] = {"in tasks for tiles", append_tiles},
    [EKI_VERDICT_SLOWER] = {"in slower tasks", append_slower}};

const char *eki_verdict_word(enum eki_verdict_cause cause)
{
    return causes[cause].word;
}

bool eki_verdict_run(const struct eki_verdict_run *run, int k, char *text,
                     size_t bytes)
{
    struct eki_verdict_loss losses[EKI_VERDICT_CAUSES];
    double whole_s = eki_verdict_whole_s(run), busy = eki_verdict_busy(run);
    double each_s = eki_verdict_each_s(run);
    int count = eki_verdict_rank(run, losses), i = 0;
    if (busy > 0) {
        if (k == 0)
            eki_append(text, bytes,
                       "the machine was busy: %.0f %% of the workers' time had "
                       "no core; run again on an idle one before you judge",
                       100 * busy);
        return k == 0;
    }
    for (int left = k; i < count; i++) {
        double least =
            losses[i].cause == EKI_VERDICT_SLOWER ? SMALL_SLOWER : SMALL_LOSS;
        if (losses[i].lost_s >= least * whole_s && left-- == 0)
            break;
    }
    if (i >= count || k >= EKI_VERDICT_NAMED)
        return false;
    causes[losses[i].cause].append(run, 100 * losses[i].lost_s / whole_s, text,
                                   bytes);
    if (losses[i].gain_s < NO_GAIN * each_s)
        eki_append(text, bytes, "; this alone gains nothing");
    else
        eki_append(text, bytes, "; this gains %s of %s an iteration (%.0f %%)",
                   eki_seconds(losses[i].gain_s).text, eki_seconds(each_s).text,
                   100 * losses[i].gain_s / each_s);
    return true;
}

bool eki_verdict_tasks(const struct eki_verdict_tasks *tasks, char *text,
                       size_t bytes)
{
    double ideal_s = tasks->sum_s / tasks->workers;
    if (tasks->workers > 1 && tasks->longest_s > ideal_s) {
        double most = fmax(floor(tasks->sum_s / tasks->longest_s), 1);
        eki_append(text, bytes, "the longest task");
        if (tasks->function)
            eki_append(text, bytes, ", of function '%s',", tasks->function);
        eki_append(text, bytes,
                   " is %.3g x the ideal time, so no policy helps beyond %.0f "
                   "worker%s; ",
                   tasks->longest_s / ideal_s, most, most == 1 ? "" : "s");
        if (tasks->above == 1)
            eki_append(text, bytes, "cut the one task");
        else if (tasks->above > 1)
            eki_append(text, bytes, "cut the %" PRId64 " tasks", tasks->above);
        else
            eki_append(text, bytes, "cut tasks");
        eki_append(text, bytes, " above %s", eki_seconds(ideal_s).text);
        return true;
    }
    double each = (double)tasks->tasks / tasks->workers;
    if (tasks->workers > 1 && each < TASKS_FEW) {
        eki_append(
            text, bytes,
            "%.3g tasks per worker are too few for any policy: cut them into "
            "%.0f or more",
            each, (double)tasks->workers * TASKS_FEW);
        return true;
    }
    return false;
}
