/* SPDX-License-Identifier: BSD-3-Clause */
/* lineup: the seeds of a rank as one list of all its workers. */
#include "lone.h"

enum {
    MS = 1000000
};

/* Two ranks on NODES, two workers on each; those here have seeds, each the
 * longest last, whose numbers are the milliseconds that they took. */
static void make(struct lone *lone, const int *nodes)
{
    static const int workers[2] = {2, 2};
    static const uint64_t ms[] = {1, 5, 9, 2, 8};
    lone_open_job(lone, 0, 2, workers, nodes);
    lone->setup.lines_up = true;
    lone_make(lone);
    for (int i = 0; i < 5; i++)
        lone_seed_at(lone, i / 3, ms[i])->bin = eki_bin_of(ms[i] * MS);
}

static void enter(struct lone *lone, bool is_ordered)
{
    struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                              .signature = 1,
                              .has_threads = true,
                              .is_ordered = is_ordered,
                              .scheme = eki_scheme_of(EK_STEAL_RANDOM)};
    lone_enter_phase(lone, &phase);
}

static void make_nodes(struct lone *lone)
{
    static const int nodes[2] = {0, 1};
    make(lone, nodes);
}

/* What the next step of worker HERE begins; 0: nothing. */
static uint64_t next_of(struct lone *lone, int here)
{
    struct ek_worker *worker = lone->engine->workers[here];
    enum eki_step step = EKI_STEP_AGAIN;
    lone->now += MS;
    while (step == EKI_STEP_AGAIN)
        step = eki_worker_step(worker, lone->now);
    if (step != EKI_STEP_RUN)
        return 0;
    const struct eki_slot *slot = eki_worker_take(worker);
    return slot ? lone_number(slot) : 0;
}

static int64_t count_seeds(const struct lone *lone, int here)
{
    const struct eki_local *local = &lone->engine->workers[here]->local;
    return eki_local_slots(local, local->seed_base, local->seed_end);
}

static void leave(struct lone *lone)
{
    struct eki_error error;
    for (int here = 0; here < 2; here++)
        eki_worker_step(lone->engine->workers[here], lone->now);
    eki_engine_leave(lone->engine, &error);
}

static void workers_take_the_longest_of_all(struct lone *lone)
{
    static const uint64_t expected[] = {9, 8, 5, 2, 1};
    make_nodes(lone);
    enter(lone, true);
    for (int i = 0; i < 5; i++)
        CHECK_EQ_INT(next_of(lone, i % 2), expected[i]);
    leave(lone);
    /* They lie in the logs of those who ran them. */
    CHECK_EQ_INT(count_seeds(lone, 0) + count_seeds(lone, 1), 0);
    for (int here = 0; here < 2; here++)
        CHECK_OK(eki_engine_restore_worker(lone->engine, here,
                                           EKI_ORDER_LONGEST, NULL));
    CHECK_EQ_INT(count_seeds(lone, 0), 3);
    CHECK_EQ_INT(count_seeds(lone, 1), 2);
}

static void what_varies_comes_earlier(struct lone *lone)
{
    make_nodes(lone);
    struct eki_local *local = &lone->engine->workers[0]->local;
    /* Of 1 ms, and four octaves more lately. */
    ((struct eki_slot *)local->seeds)->deviation = UINT8_MAX;
    enter(lone, true);
    CHECK_EQ_INT(next_of(lone, 1), 1);
    CHECK_EQ_INT(next_of(lone, 0), 9);
}

static void another_node_gets_the_longest_left(struct lone *lone)
{
    make_nodes(lone);
    enter(lone, true);
    CHECK_EQ_INT(next_of(lone, 0), 9);
    lone_message(lone, EKI_KIND_REQUEST);
    lone_serve(lone);
    const struct eki_message *message = lone_sent_of(lone, EKI_KIND_TASKS);
    CHECK_EQ_INT(message->head.count, 1);
    CHECK_EQ_INT(lone_number_in(message, 0), 8);
    CHECK_EQ_INT(next_of(lone, 1), 5);
}

static void a_stop_keeps_the_others(struct lone *lone)
{
    make_nodes(lone);
    enter(lone, true);
    CHECK_EQ_INT(next_of(lone, 0), 9);
    CHECK_EQ_INT(next_of(lone, 1), 8);
    eki_engine_stop(lone->engine);
    leave(lone);
    CHECK_EQ_INT(count_seeds(lone, 0), 2);
    CHECK_EQ_INT(count_seeds(lone, 1), 1);
    CHECK_EQ_INT(lone->engine->workers[0]->executed +
                     lone->engine->workers[1]->executed,
                 5);
}

static void another_rank_of_the_node_finds_some(struct lone *lone)
{
    static const int nodes[2] = {0, 0};
    make(lone, nodes);
    enter(lone, true);
    CHECK_EQ_INT(next_of(lone, 0), 9);
    CHECK_EQ_INT(eki_visible(lone->engine, 0), 1);
    CHECK_EQ_INT(next_of(lone, 1), 5);
}

static void other_orders_stay_with_their_workers(struct lone *lone)
{
    make_nodes(lone);
    enter(lone, false);
    CHECK_EQ_INT(next_of(lone, 1), 8);
    CHECK_EQ_INT(next_of(lone, 1), 2);
}

/* Three tasks are few for two workers, and no process tells of their lengths.
 */
static void few_tasks_stay_with_their_workers(struct lone *lone)
{
    make_nodes(lone);
    lone->engine->setup.lines_up = false;
    enter(lone, true);
    CHECK_EQ_INT(next_of(lone, 1), 8);
    CHECK_EQ_INT(next_of(lone, 1), 2);
}

/* The same with 20 seeds of worker 0, of which so many take milliseconds. */
static uint64_t first_of_another(struct lone *lone, int long_ones)
{
    make_nodes(lone);
    lone->engine->setup.lines_up = false;
    lone->engine->process_ns = 100 * MS;
    for (int i = 0; i < 20; i++)
        lone_seed_at(lone, 0, (uint64_t)(10 + i))->bin =
            eki_bin_of(i < long_ones ? (uint64_t)(10 + i) * MS : MS / 1000);
    enter(lone, true);
    return next_of(lone, 1);
}

static void many_long_tasks_are_one_list(struct lone *lone)
{
    CHECK_EQ_INT(first_of_another(lone, 11), 20);
}

static void few_long_tasks_among_short_ones_are_not(struct lone *lone)
{
    CHECK_EQ_INT(first_of_another(lone, 10), 8);
}

int main(void)
{
    RUN_LONE(workers_take_the_longest_of_all);
    RUN_LONE(what_varies_comes_earlier);
    RUN_LONE(another_node_gets_the_longest_left);
    RUN_LONE(a_stop_keeps_the_others);
    RUN_LONE(another_rank_of_the_node_finds_some);
    RUN_LONE(other_orders_stay_with_their_workers);
    RUN_LONE(few_tasks_stay_with_their_workers);
    RUN_LONE(many_long_tasks_are_one_list);
    RUN_LONE(few_long_tasks_among_short_ones_are_not);
    return check_result();
}
