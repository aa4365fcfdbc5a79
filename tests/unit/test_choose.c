/* SPDX-License-Identifier: BSD-3-Clause */
/* choose: sequences of laps, and what is chosen after each of them. */
#include "balance/course.h"
#include "check.h"

/* Loads of workers with a mean of 100, so that losses are percent.  At first
 * durations vary so much that nobody tries without stealing. */
struct course {
    struct eki_chooser chooser;
    struct eki_outlook outlook;
};

static struct course begin(void)
{
    return (struct course){.outlook = {.mean_ns = 100,
                                       .largest_ns = 100,
                                       .target_ns = 101,
                                       .noise = 1,
                                       .iterations = 10,
                                       .may_steal = true}};
}

/* A lap that took WALL_NS, as it was chosen, and what comes next.  A rebalance
 * comes to the target. */
static void lap(struct course *course, double wall_ns)
{
    struct eki_outlook *outlook = &course->outlook;
    const struct eki_lap lap = {.wall_ns = wall_ns,
                                .work_ns = 100,
                                .cost_ns = outlook->cost_ns,
                                .was_quiet = course->chooser.is_quiet ||
                                             !outlook->may_steal};
    outlook->done++;
    eki_choose_learn(&course->chooser, &lap);
    bool moves = eki_choose_restore(&course->chooser, outlook);
    eki_choose_steal(&course->chooser, outlook,
                     moves ? outlook->target_ns : outlook->largest_ns, moves);
}

static void expect(const struct course *course, enum eki_why_restore restore,
                   enum eki_why_steal steal)
{
    CHECK_EQ_INT(course->chooser.why_restore, restore);
    CHECK_EQ_INT(course->chooser.why_steal, steal);
    CHECK_EQ_INT(course->chooser.has_moved, restore == EKI_RESTORE_GAINS);
    CHECK_EQ_INT(course->chooser.is_quiet, steal == EKI_STEAL_COSTS);
}

static void first_lap_warms_up(void)
{
    struct course course = begin();
    course.outlook.largest_ns = 119;
    lap(&course, 130);
    expect(&course, EKI_RESTORE_WARMS, EKI_STEAL_LEARNS);
    lap(&course, 125);
    expect(&course, EKI_RESTORE_GAINS, EKI_STEAL_GAINS);
}

static void large_imbalance_is_mended_at_once_where_nobody_steals(void)
{
    struct course course = begin();
    course.outlook.largest_ns = 121;
    lap(&course, 130);
    expect(&course, EKI_RESTORE_WARMS, EKI_STEAL_LEARNS);
    course = begin();
    course.outlook.largest_ns = 121;
    course.outlook.may_steal = false;
    lap(&course, 130);
    expect(&course, EKI_RESTORE_GAINS, EKI_STEAL_SET);
}

static void even_loads_stay(void)
{
    struct course course = begin();
    lap(&course, 102);
    lap(&course, 102);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_GAINS);
}

static void gain_below_the_cost_moves_nothing(void)
{
    struct course course = begin();
    course.outlook.largest_ns = 105;
    course.outlook.cost_ns = 41;
    lap(&course, 110);
    lap(&course, 110);
    expect(&course, EKI_RESTORE_COSTS, EKI_STEAL_GAINS);
    course.outlook.cost_ns = 39;
    lap(&course, 110);
    expect(&course, EKI_RESTORE_GAINS, EKI_STEAL_GAINS);
}

static void what_stealing_mends_is_no_gain(void)
{
    struct course course = begin();
    course.outlook.largest_ns = 150;
    course.outlook.cost_ns = 100;
    course.outlook.done = 5;
    lap(&course, 104);
    lap(&course, 104);
    expect(&course, EKI_RESTORE_COSTS, EKI_STEAL_GAINS);
    course = begin();
    course.outlook.may_steal = false;
    course.outlook.largest_ns = 150;
    course.outlook.cost_ns = 100;
    course.outlook.done = 5;
    lap(&course, 104);
    expect(&course, EKI_RESTORE_GAINS, EKI_STEAL_SET);
}

/* Where every lap needs another rebalance, each must pay for itself. */
static void gain_lasts_as_long_as_the_last_one(void)
{
    struct course course = begin();
    course.outlook.iterations = 1000;
    course.outlook.largest_ns = 130;
    course.outlook.cost_ns = 50;
    lap(&course, 130);
    lap(&course, 130);
    lap(&course, 102);
    expect(&course, EKI_RESTORE_COSTS, EKI_STEAL_GAINS);
    course.outlook.cost_ns = 0.5;
    lap(&course, 102);
    expect(&course, EKI_RESTORE_GAINS, EKI_STEAL_GAINS);
}

static void rebalances_in_vain_become_rare(void)
{
    struct course course = begin();
    int moves[40] = {0}, n = 0;
    course.outlook.largest_ns = 110;
    for (int i = 0; i < 40; i++) {
        lap(&course, 112);
        if (course.chooser.has_moved)
            moves[n++] = i;
        else if (i > 0)
            CHECK_EQ_INT(course.chooser.why_restore, EKI_RESTORE_FAILED);
    }
    CHECK_EQ_INT(n, 5);
    CHECK_EQ_INT(moves[0], 1);
    CHECK_EQ_INT(moves[1], 4);
    CHECK_EQ_INT(moves[2], 9);
    CHECK_EQ_INT(moves[3], 18);
    CHECK_EQ_INT(moves[4], 35);
}

static void rebalance_that_keeps_its_promise_is_repeated(void)
{
    struct course course = begin();
    course.outlook.largest_ns = 110;
    lap(&course, 112);
    lap(&course, 112);
    for (int i = 0; i < 10; i++) {
        lap(&course, 103);
        expect(&course, EKI_RESTORE_GAINS, EKI_STEAL_GAINS);
    }
}

/* Two laps that lose a fifth, though loads are even. */
static struct course begin_costly(void)
{
    struct course course = begin();
    course.outlook.noise = 0;
    lap(&course, 120);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_LEARNS);
    return course;
}

static void nobody_steals_where_that_costs_more(void)
{
    struct course course = begin_costly();
    for (int i = 0; i < 10; i++) {
        lap(&course, i == 0 ? 120 : 102);
        expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_COSTS);
    }
}

static void little_is_not_worth_the_risk(void)
{
    struct course course = begin();
    course.outlook.noise = 0;
    lap(&course, 104.9);
    lap(&course, 104.9);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_GAINS);
}

static void noise_is_left_to_stealing(void)
{
    struct course course = begin_costly();
    course.outlook.noise = 0.15;
    lap(&course, 120);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_GAINS);
    course.outlook.noise = 0.13;
    lap(&course, 120);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_COSTS);
}

static void spawned_work_is_left_to_stealing(void)
{
    struct course course = begin_costly();
    const struct eki_lap spawned = {
        .wall_ns = 120, .work_ns = 100, .has_spawned = true};
    eki_choose_learn(&course.chooser, &spawned);
    eki_choose_restore(&course.chooser, &course.outlook);
    eki_choose_steal(&course.chooser, &course.outlook, 100, false);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_SPAWNS);
}

static void policy_that_does_not_steal_stays(void)
{
    struct course course = begin();
    course.outlook.may_steal = false;
    for (int i = 0; i < 4; i++) {
        lap(&course, 120);
        expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_SET);
    }
}

/* Quiet laps that take longer than those that steal. */
static void quiet_laps_in_vain_become_rare(void)
{
    struct course course = begin_costly();
    int quiet[40] = {0}, n = 0;
    for (int i = 0; i < 40; i++) {
        lap(&course, course.chooser.is_quiet ? 150 : 120);
        if (course.chooser.is_quiet)
            quiet[n++] = i;
    }
    CHECK_EQ_INT(n, 5);
    CHECK_EQ_INT(quiet[0], 0);
    CHECK_EQ_INT(quiet[1], 3);
    CHECK_EQ_INT(quiet[2], 8);
    CHECK_EQ_INT(quiet[3], 17);
    CHECK_EQ_INT(quiet[4], 34);
}

/* A hot spot in a quiet lap. */
static void surprise_brings_stealing_back(void)
{
    struct course course = begin_costly();
    lap(&course, 120);
    lap(&course, 102);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_COSTS);
    course.outlook.largest_ns = 300;
    lap(&course, 300);
    expect(&course, EKI_RESTORE_GAINS, EKI_STEAL_FAILED);
}

static void loads_that_grow_bring_stealing_back(void)
{
    struct course course = begin_costly();
    lap(&course, 120);
    course.outlook.target_ns = course.outlook.largest_ns = 125;
    lap(&course, 102);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_GAINS);
}

/* At most a hundredth of the time is spent asking, where nothing changes. */
static void asking_pauses_where_it_is_dear(void)
{
    static const int pauses[] = {0, 6, 6, 6, 6};
    struct course course = begin();
    course.outlook.talk_ns = 6.2;
    for (int i = 0; i < 5; i++) {
        lap(&course, 102);
        CHECK_EQ_INT(course.chooser.pause, pauses[i]);
    }
    course.outlook.largest_ns = 120;
    lap(&course, 102);
    CHECK(course.chooser.has_moved);
    CHECK_EQ_INT(course.chooser.pause, 0);
    course = begin();
    course.outlook.talk_ns = 0.9;
    for (int i = 0; i < 6; i++)
        lap(&course, 102);
    CHECK_EQ_INT(course.chooser.pause, 0);
}

static void lap_that_failed_teaches_nothing(void)
{
    struct course course = begin_costly();
    lap(&course, 0);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_LEARNS);
    lap(&course, 120);
    expect(&course, EKI_RESTORE_EVEN, EKI_STEAL_COSTS);
}

/* From one restore to the next: a pause goes on as was chosen, as often as was
 * said, and one that is repeated before anything runs counts once. */
static void quiet_pause_lasts_while_all_is_calm(void)
{
    struct eki_course life = {0};
    CHECK(!eki_course_may_pause(&life, true));
    eki_course_choose(&life, true, 2);
    for (int i = 0; i < 2; i++) {
        eki_course_begin(&life);
        CHECK(eki_course_is_quiet(&life));
        eki_course_end(&life);
        CHECK(!eki_course_is_quiet(&life));
        CHECK(!eki_course_may_pause(&life, false));
        CHECK(eki_course_may_pause(&life, true));
        CHECK(eki_course_pause(&life));
        CHECK(!eki_course_pause(&life));
        CHECK(eki_course_may_pause(&life, false));
    }
    eki_course_begin(&life);
    eki_course_end(&life);
    CHECK(!eki_course_may_pause(&life, true));
}

static void forgotten_choice_binds_nobody(void)
{
    struct eki_course life = {0};
    eki_course_choose(&life, true, 2);
    eki_course_choose(&life, false, 0);
    CHECK(!eki_course_is_quiet(&life));
    CHECK(!eki_course_may_pause(&life, true));
    /* What was cleared is run as the policies say, and the pause goes on. */
    eki_course_choose(&life, true, 2);
    eki_course_end(&life);
    eki_course_begin(&life);
    CHECK(!eki_course_is_quiet(&life));
    eki_course_end(&life);
    CHECK(eki_course_may_pause(&life, true));
}

static void restores_know_what_the_last_ones_took(void)
{
    struct eki_course life = {0};
    eki_course_spend(&life, true, 5, 3);
    eki_course_spend(&life, false, 4, 2);
    struct eki_outlook outlook = eki_course_outlook(&life, 7, 10, true);
    CHECK_NEAR(outlook.cost_ns, 5, 0);
    CHECK_NEAR(outlook.talk_ns, 2, 0);
    CHECK_NEAR(outlook.iterations, 3, 0);
    CHECK_NEAR(eki_course_outlook(&life, 12, 10, true).iterations, 0, 0);
    CHECK_NEAR(eki_course_outlook(&life, 7, 0, true).iterations, 7, 0);
}

/* Tasks with data need not travel inside a node. */
static void quiet_laps_with_data_steal_on_the_node(void)
{
    struct eki_course course = {.state = EKI_COURSE_FREE, .is_quiet = true};
    CHECK_EQ_INT(eki_course_steal(&course, EK_STEAL_NEAR, true), EK_STEAL_NEAR);
    eki_course_choose(&course, true, 0);
    CHECK_EQ_INT(eki_course_steal(&course, EK_STEAL_NEAR, true), EK_STEAL_NODE);
    CHECK_EQ_INT(eki_course_steal(&course, EK_STEAL_NEAR, false),
                 EK_STEAL_NONE);
    /* Set since, or from this iteration on. */
    CHECK_EQ_INT(eki_course_steal(&course, EK_STEAL_NONE, true), EK_STEAL_NONE);
}

int main(void)
{
    RUN(first_lap_warms_up);
    RUN(large_imbalance_is_mended_at_once_where_nobody_steals);
    RUN(even_loads_stay);
    RUN(gain_below_the_cost_moves_nothing);
    RUN(what_stealing_mends_is_no_gain);
    RUN(gain_lasts_as_long_as_the_last_one);
    RUN(rebalances_in_vain_become_rare);
    RUN(rebalance_that_keeps_its_promise_is_repeated);
    RUN(nobody_steals_where_that_costs_more);
    RUN(little_is_not_worth_the_risk);
    RUN(noise_is_left_to_stealing);
    RUN(spawned_work_is_left_to_stealing);
    RUN(policy_that_does_not_steal_stays);
    RUN(quiet_laps_in_vain_become_rare);
    RUN(surprise_brings_stealing_back);
    RUN(loads_that_grow_bring_stealing_back);
    RUN(asking_pauses_where_it_is_dear);
    RUN(lap_that_failed_teaches_nothing);
    RUN(quiet_pause_lasts_while_all_is_calm);
    RUN(forgotten_choice_binds_nobody);
    RUN(restores_know_what_the_last_ones_took);
    RUN(quiet_laps_with_data_steal_on_the_node);
    return check_result();
}
