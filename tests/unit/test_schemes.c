/* SPDX-License-Identifier: BSD-3-Clause */
/* What a new scheme or victim policy costs: one table each. */
#include "base/options.h"
#include "tally.h"

static int chosen; /* how often a policy was asked */

static struct eki_victim choose_nobody(struct eki_thief *thief)
{
    (void)thief;
    chosen++;
    return EKI_VICTIM_NONE;
}

static struct eki_victim choose_node_1(struct eki_thief *thief)
{
    (void)thief;
    return (struct eki_victim){-1, 1, -1};
}

/* A process of rank 0. */
static void enter(struct lone *lone, const struct eki_scheme *scheme,
                  eki_victims_fn *victims)
{
    const struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                                    .signature = 1,
                                    .scheme = scheme,
                                    .victims = victims};
    chosen = 0;
    lone_enter_phase(lone, &phase);
}

/* The worker looks for work a few times, and finds the end. */
static void search_in_vain(struct lone *lone)
{
    for (int i = 0; i < 5; i++) {
        CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
        lone_serve(lone);
    }
    CHECK_EQ_INT(lone->sent_count, 0);
    CHECK_EQ_INT(lone_worker(lone)->counts.tries, 0);
    CHECK_OK(lone_end_root(lone, 0, 0).status);
}

static void phase_may_name_its_victims(struct lone *lone)
{
    lone_start(lone, 0);
    enter(lone, eki_scheme_of(EK_STEAL_RANDOM), choose_nobody);
    search_in_vain(lone);
    CHECK(chosen >= 5);
    CHECK(lone->engine->has_thieves);
    /* Not for good. */
    lone_forget(lone);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    lone_step(lone);
    lone_serve(lone);
    lone_sent_only(lone, EKI_KIND_REQUEST);
}

static struct eki_victim choose_local_2(struct eki_thief *thief)
{
    (void)thief;
    return (struct eki_victim){2, -1, -1};
}

/* Whether the first of three workers comes to the tasks of the second, though
 * its policy names the third. */
static bool finds_beside(ek_steal_policy policy)
{
    static const int workers[1] = {3}, nodes[1] = {0};
    bool has_found = false;
    struct lone lone;
    lone_open_job(&lone, 0, 1, workers, nodes);
    lone_make(&lone);
    for (uint64_t i = 0; i < 4; i++)
        lone_seed_at(&lone, 1, i);
    enter(&lone, eki_scheme_of(policy), choose_local_2);
    eki_worker_arrive(lone.engine->workers[1], lone.now);
    for (int i = 0; i < 20 && !has_found; i++)
        has_found = lone_step(&lone) != EKI_STEP_WAIT;
    lone_close(&lone);
    return has_found;
}

static void thief_of_a_plain_scheme_looks_at_its_victim_alone(void)
{
    CHECK(finds_beside(EK_STEAL_RANDOM));
    CHECK(!finds_beside(EK_STEAL_HPDC12_ONE));
}

/* Where the scheme steals from nobody, there is nothing to name. */
static void victims_need_a_scheme_that_steals(struct lone *lone)
{
    lone_start(lone, 0);
    enter(lone, eki_scheme_of(EK_STEAL_NONE), choose_nobody);
    search_in_vain(lone);
    CHECK_EQ_INT(chosen, 0);
    CHECK(!lone->engine->has_thieves);
}

/* Begin with a scheme of the test's own. */
static void begin_scheme(struct lone *lone, eki_victims_fn *victims)
{
    static struct eki_scheme own = {.elsewhere = &all,
                                    .detectors = 1u << EKI_DETECTOR_COUNTING};
    own.victims = victims;
    lone_start(lone, 0);
    add(lone, &all);
    enter(lone, &own, NULL);
}

static void scheme_may_name_any_victims(struct lone *lone)
{
    begin_scheme(lone, choose_nobody);
    search_in_vain(lone);
    CHECK(chosen >= 5);
    /* Nobody was named to ask. */
    CHECK_EQ_INT(counting.sought, 0);
}

static void scheme_asks_the_node_that_is_named(struct lone *lone)
{
    begin_scheme(lone, choose_node_1);
    counting.finds = EKI_SOUGHT_ASKED;
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    CHECK_EQ_INT(counting.sought, 1);
    CHECK_EQ_INT(counting.node, 1);
}

static void
scheme_without_victims_asks_whenever_a_worker_is_idle(struct lone *lone)
{
    begin_scheme(lone, NULL);
    CHECK(!lone->engine->has_thieves);
    for (int i = 1; i <= 3; i++) {
        CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
        CHECK_EQ_INT(counting.sought, i);
    }
    CHECK_EQ_INT(counting.node, -1);
}

static void what_a_protocol_finds_is_run(struct lone *lone)
{
    uint64_t ran[2];
    begin_scheme(lone, NULL);
    counting.finds = EKI_SOUGHT_FOUND;
    CHECK_EQ_INT(lone_run(lone, ran, 2), 1);
    CHECK_EQ_INT(ran[0], 60);
    CHECK_OK(lone_end_root(lone, 0, 0).status);
}

static void worker_waits_as_its_protocol_says(struct lone *lone)
{
    begin_scheme(lone, NULL);
    const struct ek_worker *worker = lone_worker(lone);
    for (int i = 0; i < 4; i++) {
        counting.calls = i & 1;
        counting.awaits = i & 2;
        counting.due = 1000 + (uint64_t)i;
        CHECK(eki_worker_calls(worker) == counting.calls);
        CHECK(eki_worker_awaits(worker) == counting.awaits);
        CHECK_EQ_INT(eki_worker_due(worker), counting.due);
    }
    eki_engine_stop(lone->engine);
    CHECK(eki_worker_due(worker) == UINT64_MAX);
    CHECK_EQ_INT(counting.cancelled, 0);
    lone_step(lone);
    CHECK_EQ_INT(counting.cancelled, 1);
}

static void worker_without_such_a_protocol_waits_for_nothing(struct lone *lone)
{
    lone_open(lone, 0);
    lone_begin(lone, EK_STEAL_NONE);
    CHECK(!eki_worker_calls(lone_worker(lone)));
    CHECK(!eki_worker_awaits(lone_worker(lone)));
    CHECK(eki_worker_due(lone_worker(lone)) == UINT64_MAX);
}

static void every_steal_policy_has_a_scheme(struct lone *lone)
{
    int policies = 0;
    lone_start(lone, 0);
    for (; eki_option_choice_name("steal", policies); policies++) {
        const struct eki_scheme *scheme =
            eki_scheme_of((ek_steal_policy)policies);
        CHECK_EQ_INT(scheme->policy, policies);
        CHECK(scheme->detectors & 1u << EKI_DETECTOR_COUNTING);
        CHECK(!scheme->unsuitable || !scheme->unsuitable(lone->engine));
        /* Or another is there instead. */
        CHECK(!scheme->elsewhere ||
              eki_engine_protocol(lone->engine, scheme->elsewhere) ||
              eki_scheme_instead(lone->engine, scheme->policy) ==
                  EK_STEAL_RANDOM);
        CHECK(!scheme->elsewhere || scheme->seeker || scheme->elsewhere->seek);
    }
    CHECK(policies > EK_STEAL_HPDC12_ONE);
}

static void unknown_policy_steals_from_nobody(void)
{
    const struct eki_scheme *scheme = eki_scheme_of((ek_steal_policy)99);
    CHECK(scheme == eki_scheme_of(EK_STEAL_NONE));
    CHECK(!scheme->victims && !scheme->elsewhere);
}

int main(void)
{
    RUN_LONE(phase_may_name_its_victims);
    RUN_LONE(victims_need_a_scheme_that_steals);
    RUN(thief_of_a_plain_scheme_looks_at_its_victim_alone);
    RUN_LONE(scheme_may_name_any_victims);
    RUN_LONE(scheme_asks_the_node_that_is_named);
    RUN_LONE(scheme_without_victims_asks_whenever_a_worker_is_idle);
    RUN_LONE(what_a_protocol_finds_is_run);
    RUN_LONE(worker_waits_as_its_protocol_says);
    RUN_LONE(worker_without_such_a_protocol_waits_for_nothing);
    RUN_LONE(every_steal_policy_has_a_scheme);
    RUN(unknown_policy_steals_from_nobody);
    return check_result();
}
