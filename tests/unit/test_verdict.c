/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts: a sentence for each loss, each limit of the tasks, each choice. */
#include "check.h"
#include "report/verdict.h"
#include "verdicts.h"

/* Four workers on two nodes with a core each for ten seconds in five
 * iterations, of which they worked WORK_S. */
static struct eki_verdict_run run_of(double work_s)
{
    return (struct eki_verdict_run){.iterations = 5,
                                    .tasks = 1000,
                                    .workers = 4,
                                    .nodes = 2,
                                    .cores = 4,
                                    .cpus = 2,
                                    .online = 2,
                                    .wall_s = 10,
                                    .core_s = 40,
                                    .work_s = work_s,
                                    .iteration_s = 2,
                                    .longest_s = 0.01,
                                    .busiest_rank = 3,
                                    .busiest = 1.7};
}

static void expect_run(const struct eki_verdict_run *run, const char *expected)
{
    char text[600] = "";
    CHECK(eki_verdict_run(run, 0, text, sizeof text));
    CHECK_EQ_TEXT(text, expected);
}

/* What follows the remedy, of iterations of 2 s. */
#define GAINS(gain, part) \
    "; this gains " gain " of 2 s an iteration (" part " %)"

#define IDLE                                                                   \
    "workers were without tasks for 50 % of the time, the busiest worker (on " \
    "rank 3) had 1.7 x the mean load; "

static void idle_workers_are_told_what_to_try(void)
{
    struct eki_verdict_run run = run_of(20);
    run.end_s = 20;
    expect_run(&run,
               IDLE "start balanced: EVENKEEL_RESTORE=auto" GAINS("1 s", "50"));
    run.unstolen = 3;
    expect_run(&run, IDLE
               "stealing is off: EVENKEEL_STEAL=random" GAINS("1 s", "50"));
    run.unstolen = 2;
    run.anew = 4;
    expect_run(&run, IDLE "each iteration starts as the first: "
                          "EVENKEEL_RESTORE=retain" GAINS("1 s", "50"));
    run.counted = 4;
    expect_run(&run, IDLE
               "a counter deals one task at a time: "
               "EVENKEEL_STEAL=counter:guided, or random" GAINS("1 s", "50"));
    run.counted = 0;
    run.tasks = 100;
    expect_run(&run, IDLE "a worker has 5.0 tasks: cut them into ten times as "
                          "many" GAINS("1 s", "50"));
    run = run_of(20);
    run.search_s = 20;
    expect_run(&run, IDLE "answers take long: EVENKEEL_PROGRESS=server, or "
                          "ek_poll in long tasks" GAINS("1 s", "50"));
    run.busiest = 0;
    expect_run(&run, "workers were without tasks for 50 % of the time; answers "
                     "take long: EVENKEEL_PROGRESS=server, or ek_poll in long "
                     "tasks" GAINS("1 s", "50"));
    /* Iterations that end as soon as they begin are too short. */
    run.search_s = 10;
    run.start_s = 10;
    run.iteration_s = 50e-6;
    run.longest_s = 1e-6;
    expect_run(&run, "50 % of the time went into starting and leaving "
                     "iterations of 50 us: do more in one, and leave a core to "
                     "each thread" GAINS("1 s", "50"));
    run.unstolen = 3;
    expect_run(&run,
               "workers were without tasks for 25 % of the time; "
               "stealing is off: EVENKEEL_STEAL=random" GAINS("500 ms", "25"));
}

static void the_longest_task_explains_idleness(void)
{
    struct eki_verdict_run run = run_of(20);
    run.end_s = 20;
    run.longest_s = 1.8;
    run.function = "fock";
    expect_run(&run,
               "workers waited behind the longest task for 40 % of the time; "
               "the longest "
               "task, of function 'fock', is 1.8 x the ideal time, so no "
               "policy helps beyond 2 "
               "workers; cut tasks above 1 s" GAINS("800 ms", "40"));
    /* Not where it explains less than the rest. */
    run.longest_s = 1.2;
    run.function = NULL;
    expect_run(&run,
               "workers were without tasks for 40 % of the time, the "
               "busiest worker (on rank 3) had 1.7 x the mean load; start "
               "balanced: EVENKEEL_RESTORE=auto" GAINS("800 ms", "40"));
}

#define BUSY(part)                                                        \
    "the machine was busy: " part " % of the workers' time had no core; " \
    "run again on an idle one before you judge"

static void workers_without_cores_are_told_where_cores_are(void)
{
    char text[600] = "";
    struct eki_verdict_run run = run_of(40);
    run.starved_s = run.starved_in_tasks_s = 20;
    run.cores = 2;
    expect_run(&run,
               "4 workers shared 2 cores, and waited for a core for 50 % of "
               "the time; start 2 in all: fewer ranks, or EVENKEEL_WORKERS for "
               "each rank"
               "; this alone gains nothing");
    run.cores = 1;
    run.cpus = 1;
    run.online = 64;
    expect_run(&run,
               "4 workers shared 1 core, and waited for a core for 50 % of "
               "the time; ranks are bound to 1 of 64: mpirun --bind-to "
               "none, or --map-by slot:PE=THREADS" GAINS("1 s", "50"));
    run.cores = 4;
    expect_run(&run, BUSY("50"));
    CHECK_NEAR(eki_verdict_efficiency(&run), 0.5, 1e-12);
    CHECK_NEAR(eki_verdict_busy(&run), 0.5, 1e-12);
    CHECK(!eki_verdict_run(&run, 1, text, sizeof text));
    run.starved_s = 1.9;
    CHECK_NEAR(eki_verdict_busy(&run), 0, 0);
}

static double sum_of_losses(const struct eki_verdict_run *run)
{
    struct eki_verdict_loss losses[EKI_VERDICT_CAUSES];
    double sum = 0;
    int count = eki_verdict_rank(run, losses);
    for (int i = 0; i < count; i++) {
        CHECK(losses[i].lost_s > 0);
        CHECK(i == 0 || losses[i].gain_s <= losses[i - 1].gain_s);
        sum += losses[i].lost_s;
    }
    return sum;
}

/* As in a run of a particle code beside other programs: workers wait for data
 * and yield, tasks are held up, and so are workers without tasks. */
static void losses_and_efficiency_are_all_of_the_time(void)
{
    struct eki_verdict_run run = run_of(12);
    run.overhead_s = 18;
    run.data_s = 16;
    run.search_s = 7;
    run.end_s = 2;
    run.start_s = 1;
    run.starved_s = 15;
    run.starved_in_tasks_s = 8;
    run.starved_idle_s = 6;
    CHECK_NEAR(eki_verdict_efficiency(&run), 0.1, 1e-12);
    CHECK_NEAR(sum_of_losses(&run), 36, 1e-12);
    expect_run(&run, BUSY("38"));
    run.starved_s = 1.9;
    run.starved_in_tasks_s = 1;
    run.starved_idle_s = 0;
    CHECK_NEAR(sum_of_losses(&run), 29, 1e-12);
    expect_run(&run, "workers waited 40 % of the time for data of tasks: "
                     "EVENKEEL_PROGRESS=server, ek_poll in long tasks, or "
                     "with ek_set_data_ops EVENKEEL_DATA=follow" GAINS("800 ms",
                                                                       "40"));
}

static void each_other_loss_has_a_sentence(void)
{
    struct eki_verdict_run run = run_of(32);
    run.overhead_s = 8;
    expect_run(&run, "20 % of the time went by between tasks, which take 32 "
                     "ms: make them longer, or use ek_add_range" GAINS("400 ms",
                                                                       "20"));
    run.data_s = 6;
    expect_run(&run, "workers waited 15 % of the time for data of tasks: "
                     "EVENKEEL_PROGRESS=server, ek_poll in long tasks, or "
                     "with ek_set_data_ops EVENKEEL_DATA=follow" GAINS("300 ms",
                                                                       "15"));
    run = run_of(32);
    run.start_s = 8;
    expect_run(&run, "20 % of the time went into starting and leaving "
                     "iterations of 2 s: do more in one, and leave a core to "
                     "each thread" GAINS("400 ms", "20"));
    run = run_of(32);
    run.late_s = 8;
    run.latest_rank = 3;
    run.lateness_s = 0.012;
    run.late_s = 2;
    run.end_s = 8;
    run.awaiting_s = 6;
    expect_run(&run, "rank 3 enters 12 ms late: 20 % of the time was lost "
                     "outside Evenkeel; balance what the program does before "
                     "ek_process" GAINS("400 ms", "20"));
    run = run_of(32);
    run.server_s = 8;
    expect_run(&run, "dedicated server threads take 20 % of the cores: "
                     "EVENKEEL_PROGRESS=polling" GAINS("400 ms", "20"));
    run = run_of(40);
    run.tiles_s = 10;
    expect_run(&run, "tasks waited 25 % of the time for tiles: "
                     "ek_tiles_get_start early, a larger cache_bytes, or "
                     "tasks that share tiles one after the other" GAINS(
                         "500 ms", "25"));
    run.first_s = 16;
    expect_run(&run, "tasks took 2.50 x as long as at first, which is 60 % of "
                     "the time; if their work is the same, look at memory, "
                     "distant data and clock rates" GAINS("1.2 s", "60"));
}

/* The first K sentences begin with WORDS; there is no other. */
static void expect_named(const struct eki_verdict_run *run, int count,
                         const char *const words[])
{
    for (int k = 0; k < count; k++) {
        char text[600] = "";
        CHECK(eki_verdict_run(run, k, text, sizeof text));
        text[strlen(words[k])] = '\0';
        CHECK_EQ_TEXT(text, words[k]);
    }
    char text[600] = "";
    CHECK(!eki_verdict_run(run, count, text, sizeof text));
    CHECK_EQ_TEXT(text, "");
}

static void causes_come_by_what_they_cost(void)
{
    struct eki_verdict_run run = run_of(20);
    run.end_s = 4;
    run.overhead_s = 6;
    run.start_s = 3;
    run.late_s = 5;
    run.server_s = 2;
    expect_named(&run, 3,
                 (const char *const[]){"15 % of the time went by between tasks",
                                       "rank 0 enters",
                                       "workers were without"});
    /* Not those below 5 %, slower tasks below 10 %. */
    run.first_s = 16.5;
    run.end_s = 1;
    run.start_s = 1;
    run.server_s = 0;
    expect_named(&run, 2,
                 (const char *const[]){"15 % of the time went by between tasks",
                                       "rank 0 enters"});
}

/* Nothing makes an iteration shorter than its longest task, nor faster than
 * the cores are that workers share. */
static void gains_are_no_more_than_figures_support(void)
{
    struct eki_verdict_run run = run_of(20);
    run.overhead_s = 20;
    run.longest_s = 1.5;
    expect_run(&run, "50 % of the time went by between tasks, which take 20 "
                     "ms: make them longer, or use ek_add_range" GAINS("500 ms",
                                                                       "25"));
    run = run_of(20);
    run.end_s = 10;
    run.starved_s = 10;
    run.cores = 2;
    struct eki_verdict_loss losses[EKI_VERDICT_CAUSES];
    CHECK_EQ_INT(eki_verdict_rank(&run, losses), 2);
    CHECK_NEAR(losses[0].gain_s, 0, 1e-12);
    CHECK_NEAR(losses[1].gain_s, 0, 1e-12);
    /* Unless tasks sleep. */
    run.cpu_s = 1;
    CHECK_EQ_INT(eki_verdict_rank(&run, losses), 2);
    CHECK_NEAR(losses[0].gain_s, 0.5, 1e-12);
}

#define GAINS5(gain) "; this gains " gain " of 2.5 s an iteration (20 %)"

static void no_loss_is_more_than_all_of_the_time(void)
{
    struct eki_verdict_run run = run_of(20);
    struct eki_verdict_loss losses[EKI_VERDICT_CAUSES];
    run.tiles_s = 1e9;
    CHECK_EQ_INT(eki_verdict_rank(&run, losses), 1);
    CHECK_NEAR(losses[0].lost_s, 40, 0);
    CHECK_NEAR(losses[0].gain_s, 2, 0);
    run.tiles_s = NAN;
    CHECK_EQ_INT(eki_verdict_rank(&run, losses), 0);
}

static void restores_that_take_long_are_told(void)
{
    struct eki_verdict_run run = run_of(40);
    run.restore_s = 2.5;
    expect_run(&run, "ek_restore takes 20 % of the time; make tasks longer, or "
                     "use ek_add_range" GAINS5("500 ms"));
    run.anew = 4;
    expect_run(&run, "ek_restore takes 20 % of the time; leave tasks where "
                     "they ran: EVENKEEL_RESTORE=retain" GAINS5("500 ms"));
    run.rebalanced = 4;
    expect_run(&run, "ek_restore takes 20 % of the time; rebalance where that "
                     "pays: EVENKEEL_RESTORE=auto" GAINS5("500 ms"));
}

static void nothing_is_said_when_all_is_well(void)
{
    char text[600] = "";
    struct eki_verdict_run run = run_of(38.5), none = {0};
    run.late_s = 1.5;
    CHECK(!eki_verdict_run(&run, 0, text, sizeof text));
    CHECK(!eki_verdict_run(&none, 0, text, sizeof text));
    CHECK_EQ_TEXT(text, "");
}

static void iterations_without_work_have_a_sentence(void)
{
    struct eki_verdict_run run = run_of(0);
    run.tasks = 0;
    run.overhead_s = 40;
    expect_run(
        &run, "100 % of the time went by between tasks" GAINS("1.99 s", "100"));
}

static void expect_tasks(const struct eki_verdict_tasks *tasks,
                         const char *expected)
{
    char text[300] = "";
    CHECK_EQ_INT(eki_verdict_tasks(tasks, text, sizeof text), *expected != 0);
    CHECK_EQ_TEXT(text, expected);
}

static void tasks_that_are_too_long_are_to_be_cut(void)
{
    struct eki_verdict_tasks tasks = {.tasks = 1000000,
                                      .workers = 4080,
                                      .sum_s = 12.24,
                                      .longest_s = 0.18,
                                      .above = 37};
    expect_tasks(&tasks,
                 "the longest task is 60 x the ideal time, so no policy "
                 "helps beyond 68 workers; cut the 37 tasks above 3 "
                 "ms");
    tasks.above = 1;
    tasks.longest_s = 20;
    tasks.function = "fock";
    expect_tasks(
        &tasks, "the longest task, of function 'fock', is 6.67e+03 x the ideal "
                "time, so no policy helps beyond 1 worker; cut the one "
                "task above 3 ms");
}

static void few_tasks_leave_no_choice(void)
{
    struct eki_verdict_tasks tasks = {
        .tasks = 30, .workers = 10, .sum_s = 30, .longest_s = 2};
    expect_tasks(&tasks,
                 "3 tasks per worker are too few for any policy: cut them "
                 "into 100 or more");
    tasks.tasks = 100;
    expect_tasks(&tasks, "");
    tasks.workers = 1;
    tasks.tasks = 1;
    expect_tasks(&tasks, "");
}

enum {
    STATIC,
    RETAIN,
    HIERARCHICAL,
    MODES
};

static void expect_modes(const double iteration_s[MODES], double restore_s,
                         const char *expected)
{
    struct compared_mode modes[MODES] = {
        {"static", "original", "none", iteration_s[STATIC], 0, {0}},
        {"StealRet", "retain", "random", iteration_s[RETAIN], 0, {0}},
        {"hierarchical",
         "hierarchical",
         "none",
         iteration_s[HIERARCHICAL],
         restore_s,
         {0}}};
    const struct compared compared = {modes, MODES, MODES, 0.9};
    char text[600] = "";
    compared_append(&compared, text, sizeof text);
    CHECK_EQ_TEXT(text, expected);
}

static void the_simplest_mode_that_is_enough_is_named(void)
{
    expect_modes((double[]){2, 1, 0.995}, 0.002,
                 "StealRet (retain, random) is enough: hierarchical gains 0.3 "
                 "%, restoring costs it 2 ms; it comes to 90 % of the best "
                 "possible");
    expect_modes((double[]){2, 1, 0.99}, 0.06,
                 "StealRet (retain, random) is enough: hierarchical takes 5.0 "
                 "% longer, restoring costs it 60 ms; it comes to 90 % of the "
                 "best possible");
    expect_modes((double[]){1, 1, 1}, 0.06,
                 "static (original, none) is enough: StealRet is as fast, "
                 "restoring costs it 0 s; it comes to 90 % of the best "
                 "possible");
    expect_modes((double[]){2, 1.25, 0.99}, 0.01,
                 "hierarchical (hierarchical, none) is the fastest, 25.0 % "
                 "faster than StealRet: EVENKEEL_RESTORE=hierarchical "
                 "EVENKEEL_STEAL=none; it comes to 90 % of the best possible");
}

static void one_mode_has_no_verdict(void)
{
    struct compared_mode mode = {"x", "retain", "random", 1, 0, {0}};
    const struct compared compared = {&mode, 1, 1, 0.9};
    char text[300] = "";
    compared_append(&compared, text, sizeof text);
    CHECK_EQ_TEXT(text, "");
}

static void medians_ignore_what_is_far_off(void)
{
    double odd[] = {3, 1, 100, 2, 4}, even[] = {9, 1, 2, 3}, one[] = {5};
    CHECK_NEAR(verdict_median(odd, 5), 3, 0);
    CHECK_NEAR(verdict_median(even, 4), 2, 0);
    CHECK_NEAR(verdict_median(one, 1), 5, 0);
}

int main(void)
{
    RUN(idle_workers_are_told_what_to_try);
    RUN(the_longest_task_explains_idleness);
    RUN(workers_without_cores_are_told_where_cores_are);
    RUN(losses_and_efficiency_are_all_of_the_time);
    RUN(each_other_loss_has_a_sentence);
    RUN(causes_come_by_what_they_cost);
    RUN(gains_are_no_more_than_figures_support);
    RUN(no_loss_is_more_than_all_of_the_time);
    RUN(restores_that_take_long_are_told);
    RUN(nothing_is_said_when_all_is_well);
    RUN(iterations_without_work_have_a_sentence);
    RUN(tasks_that_are_too_long_are_to_be_cut);
    RUN(few_tasks_leave_no_choice);
    RUN(the_simplest_mode_that_is_enough_is_named);
    RUN(one_mode_has_no_verdict);
    RUN(medians_ignore_what_is_far_off);
    return check_result();
}
