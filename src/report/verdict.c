/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes of loss, and what to do about each. */
#include "report/verdict.h"

#include <inttypes.h>
#include <math.h>

/* Losses below this part of the time are not worth a sentence. */
#define SMALL_LOSS 0.05
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

/* With the best balance the workers have to wait for the longest task. */
void eki_verdict_losses(const struct eki_verdict_run *run,
                        double lost_s[EKI_VERDICT_CAUSES])
{
    double idle_s = run->search_s + run->end_s - run->awaiting_s;
    double least_s =
        (double)run->iterations * (double)run->workers * run->longest_s;
    double coarse_s =
        run->work_s > 0 ? fmin(idle_s, fmax(least_s - run->work_s, 0)) : 0;
    /* Who has no task needs no core. */
    double starved_s = run->starved_s - run->starved_idle_s;
    lost_s[EKI_VERDICT_IDLE] = idle_s - coarse_s;
    lost_s[EKI_VERDICT_COARSE] = coarse_s;
    lost_s[EKI_VERDICT_STARVED] = starved_s;
    lost_s[EKI_VERDICT_OVERHEAD] =
        run->overhead_s - run->data_s - (starved_s - run->starved_in_tasks_s);
    lost_s[EKI_VERDICT_DATA] = run->data_s;
    lost_s[EKI_VERDICT_START] = run->start_s;
    lost_s[EKI_VERDICT_LATE] = run->late_s + run->awaiting_s;
    lost_s[EKI_VERDICT_SERVER] = run->server_s;
    lost_s[EKI_VERDICT_RESTORE] = run->restore_s * run->workers;
}

static double tasks_per_worker(const struct eki_verdict_run *run)
{
    return (double)run->tasks / (double)run->iterations / run->workers;
}

/* What workers without tasks may hope for. */
static void append_idle_remedy(const struct eki_verdict_run *run, char *text,
                               size_t bytes)
{
    if (2 * run->unstolen > run->iterations)
        eki_append(text, bytes, "stealing is off: EVENKEEL_STEAL=random");
    else if (tasks_per_worker(run) < TASKS_FEW)
        eki_append(text, bytes,
                   "a worker has %.1f tasks: cut them into ten times as many",
                   tasks_per_worker(run));
    else if (2 * run->anew > run->iterations)
        eki_append(text, bytes,
                   "each iteration starts as the first: "
                   "EVENKEEL_RESTORE=retain");
    else if (run->iteration_s < ITERATION_SHORT_S)
        eki_append(text, bytes, "an iteration takes only %s: do more in one",
                   eki_seconds(run->iteration_s).text);
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
               "workers were without tasks for %.0f %% of the time, the "
               "busiest (rank %d) had %.1f x the mean load; ",
               part, run->busiest_rank, run->busiest);
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
        "workers waited behind the longest task for %.0f %% of the time: ",
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

/* PART: percent of the time that were lost. */
typedef void append_fn(const struct eki_verdict_run *run, double part,
                       char *text, size_t bytes);

static const struct {
    const char *word;
    append_fn *append;
} causes[EKI_VERDICT_CAUSES] = {
    [EKI_VERDICT_IDLE] = {"without tasks", append_idle},
    [EKI_VERDICT_COARSE] = {"behind the longest task", append_coarse},
    [EKI_VERDICT_STARVED] = {"waiting for cores", append_starved},
    [EKI_VERDICT_OVERHEAD] = {"between tasks", append_overhead},
    [EKI_VERDICT_DATA] = {"waiting for data", append_data},
    [EKI_VERDICT_START] = {"starting", append_start},
    [EKI_VERDICT_LATE] = {"ranks late", append_late},
    [EKI_VERDICT_SERVER] = {"servers", append_server},
    [EKI_VERDICT_RESTORE] = {"restoring", append_restore}};

const char *eki_verdict_word(enum eki_verdict_cause cause)
{
    return causes[cause].word;
}

/* Somebody else had cores of the workers for so much of their time that no
 * other cause can be told. */
static bool append_busy(const struct eki_verdict_run *run, char *text,
                        size_t bytes)
{
    double part = run->core_s > run->server_s
                      ? run->starved_s / (run->core_s - run->server_s)
                      : 0;
    if (run->workers > run->cores || part < BUSY)
        return false;
    eki_append(text, bytes,
               "the machine was busy: %.0f %% of the workers' time had no "
               "core; run again on an idle one before you judge",
               100 * part);
    return true;
}

bool eki_verdict_run(const struct eki_verdict_run *run, char *text,
                     size_t bytes)
{
    double lost_s[EKI_VERDICT_CAUSES];
    eki_verdict_losses(run, lost_s);
    double whole_s = eki_verdict_whole_s(run);
    int largest = 0;
    if (run->core_s <= 0 || useful_s(run) >= (1 - SMALL_LOSS) * whole_s)
        return false;
    if (append_busy(run, text, bytes))
        return true;
    for (int cause = 1; cause < EKI_VERDICT_CAUSES; cause++) {
        if (lost_s[cause] > lost_s[largest])
            largest = cause;
    }
    causes[largest].append(run, 100 * lost_s[largest] / whole_s, text, bytes);
    return true;
}

bool eki_verdict_tasks(const struct eki_verdict_tasks *tasks, char *text,
                       size_t bytes)
{
    double ideal_s = tasks->sum_s / tasks->workers;
    if (tasks->workers > 1 && tasks->longest_s > ideal_s) {
        double most = fmax(floor(tasks->sum_s / tasks->longest_s), 1);
        eki_append(text, bytes, "the longest task ");
        if (tasks->function)
            eki_append(text, bytes, "(%s) ", tasks->function);
        eki_append(text, bytes,
                   "is %.3g x the ideal time: no policy helps beyond %.0f "
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
