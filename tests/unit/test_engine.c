/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine: what whole schedules do not show (tests/sim runs those): creation and
 * registration without memory, and what nobody should send.
 */
#include "lone.h"
#include "team/poll.h"

static void creation_without_memory_leaves_nothing(struct lone *lone)
{
    lone_open(lone, 0);
    int n = 1;
    for (; n < 50; n++) {
        eki_memory_fail(n);
        ek_status status = lone_create(lone);
        eki_memory_fail(0);
        if (status == EK_OK)
            break;
        CHECK_EQ_INT(status, EK_ERR_NOMEM);
        eki_engine_destroy(&lone->engine);
    }
    /* The engine, its worker in three pieces, the counter in four, requests in
     * three, the rebalancer. */
    CHECK(n > 10 && n < 50);
}

static void registration_without_memory_can_be_repeated(struct lone *lone)
{
    int function = -1;
    lone_open(lone, 0);
    CHECK_OK(eki_engine_create(&lone->setup, &lone->engine));
    for (int i = 0; i < 40; i++) {
        int n = 1;
        for (; n < 10; n++) {
            eki_memory_fail(n);
            ek_status status = eki_engine_register(lone->engine, "f", lone_task,
                                                   NULL, &function);
            eki_memory_fail(0);
            CHECK(lone->engine->workers[0]->functions ==
                  lone->engine->functions);
            if (status == EK_OK)
                break;
            CHECK_EQ_INT(status, EK_ERR_NOMEM);
        }
        CHECK_EQ_INT(function, i);
    }
}

static void failed_fabric_ends_the_phase(struct lone *lone)
{
    lone_open(lone, 0);
    lone_begin(lone, EK_STEAL_RANDOM);
    eki_fabric_note(lone->setup.fabric, EK_ERR_MPI, "the cable was cut");
    struct eki_error error = lone_end(lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_EQ_TEXT(error.text, "the cable was cut");
}

static void add_pinned(struct lone *lone, uint64_t number)
{
    struct eki_slot *slot = eki_pinned_new(&lone->engine->pinned);
    if (CHECK(slot != NULL))
        lone_fill_slot(slot, number);
}

/* Before all else, each as a batch of its own, where it lies. */
static void pinned_tasks_run_first(struct lone *lone)
{
    lone_start(lone, 0);
    lone_seed(lone, 1, 10);
    add_pinned(lone, 20);
    add_pinned(lone, 21);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    for (uint64_t number = 21; number >= 20; number--) {
        CHECK_EQ_INT(lone_step(lone), EKI_STEP_PINNED);
        const struct eki_slot *slot = eki_worker_current(lone_worker(lone));
        CHECK_EQ_INT(lone_number(slot), number);
        /* What others look at, who cannot know where it lies. */
        CHECK_EQ_INT(lone_worker(lone)->batch.scratch->id, slot->id);
        CHECK(eki_worker_take(lone_worker(lone)) == NULL);
        lone->now += 5000;
    }
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    CHECK_EQ_INT(lone_number(eki_worker_take(lone_worker(lone))), 10);
    lone_step(lone);
    CHECK_EQ_INT(lone_worker(lone)->executed, 3);
    const struct eki_local *local = &lone->engine->pinned.local;
    for (int i = 0; i < 2; i++) {
        const struct eki_slot *slot =
            eki_slot_at(local->seeds, i, local->slot_bytes);
        CHECK(slot->bin >= eki_bin_of(5000) && slot->bin < EKI_BIN_COUNT);
        CHECK_EQ_INT(eki_pinned_ran_on(&lone->engine->pinned, slot), 0);
    }
}

/* Those that nobody has taken are cancelled, once. */
static void pinned_tasks_are_cancelled(struct lone *lone)
{
    lone_start(lone, 0);
    for (uint64_t number = 0; number < 3; number++)
        add_pinned(lone, number);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_PINNED);
    eki_engine_stop(lone->engine);
    lone_step(lone);
    lone_step(lone);
    CHECK_EQ_INT(lone_worker(lone)->executed, 3);
    CHECK_EQ_INT(lone_worker(lone)->counts.cancelled, 2);
    CHECK_EQ_INT(lone_worker(lone)->counts.tasks, 1);
}

/* Another thread's, that reads a little less. */
static void an_older_clock_makes_no_long_task(struct lone *lone)
{
    lone_start(lone, 0);
    lone_seed(lone, 1, 10);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    CHECK(eki_worker_take(lone_worker(lone)) != NULL);
    lone->now -= 500;
    lone_step(lone);
    CHECK_EQ_INT(lone_worker(lone)->counts.tasks, 1);
    CHECK_EQ_INT(lone_worker(lone)->counts.work_ns, 0);
}

/* A millisecond in all, of which it had a core for 4 us. */
static void held_up_tasks_are_no_longer_than_others(struct lone *lone)
{
    lone_start(lone, 0);
    lone_seed(lone, 1, 10);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    struct ek_worker *worker = lone_worker(lone);
    eki_engine_trace(lone->engine, true);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    const struct eki_slot *slot = eki_worker_take(worker);
    lone->now = worker->batch.stamp + 1000000 - 100;
    worker->batch.held_ns = 996000;
    lone_step(lone);
    CHECK_EQ_INT(slot->bin, eki_bin_of(4000));
    CHECK_EQ_INT(worker->counts.largest_ns, 4000);
    CHECK_EQ_INT(worker->counts.work_ns, 1000000);
    CHECK_EQ_INT(worker->counts.held_ns, 996000);
    CHECK_EQ_INT(worker->batch.held_ns, 0);
    CHECK_EQ_INT(worker->held.count, 1);
    CHECK_EQ_INT(worker->held.ids[0], slot->id);
}

static void tasks_of_an_old_phase_are_an_error(struct lone *lone)
{
    lone_open(lone, 0);
    lone_begin(lone, EK_STEAL_RANDOM);
    struct eki_message *message = lone_message(lone, EKI_KIND_TASKS);
    lone_fill(lone, message, 1, 0);
    message->head.phase = 0;
    message->head.worker = 0;
    struct eki_error error = lone_end(lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_HAS_TEXT(error.text,
                   "tasks of phase 0 arrived from rank 1 in phase 1");
}

static int polls, slow_polls;

/* The first are held up for as long as a slice of the system takes. */
static struct eki_message *poll_slowly(struct eki_fabric *fabric)
{
    (void)fabric;
    if (polls++ < slow_polls)
        eki_sleep_ns(5000000);
    return NULL;
}

static void a_poll_that_was_held_up_sets_no_period(void)
{
    static const struct eki_fabric_ops ops = {.poll = poll_slowly};
    struct eki_fabric fabric = {.ops = &ops};
    slow_polls = 1;
    /* Others on the core may make any run a slow one: one of twenty is not. */
    for (int run = 0; run < 20 && polls <= 8; run++) {
        polls = 0;
        CHECK(eki_team_time_poll(&fabric) < 5000000 / 64);
    }
    CHECK(polls > 8);
    slow_polls = 1000;
    polls = 0;
    CHECK(eki_team_time_poll(&fabric) >= 5000000);
    CHECK_EQ_INT(polls, 8);
    CHECK_EQ_INT(eki_team_auto_period(0), 20000);
    CHECK_EQ_INT(eki_team_auto_period(1000), 75000);
    CHECK_EQ_INT(eki_team_auto_period(UINT64_MAX), 1000000);
}

static void polls_that_find_something_come_sooner(void)
{
    const struct eki_period fast = eki_period_of(0, 20000);
    const struct eki_period slow = eki_period_of(1000, 75000);
    const struct eki_period fixed = eki_period_of(1000, 5000);
    CHECK_EQ_INT(fast.least_ns, 2000);
    CHECK_EQ_INT(fast.most_ns, 20000);
    CHECK_EQ_INT(slow.least_ns, 20000);
    CHECK_EQ_INT(fixed.least_ns, 5000);
    CHECK_EQ_INT(eki_period_next(&fast, 20000, true), 10000);
    CHECK_EQ_INT(eki_period_next(&fast, 3000, true), 2000);
    CHECK_EQ_INT(eki_period_next(&fast, 2000, false), 4000);
    CHECK_EQ_INT(eki_period_next(&fast, 16000, false), 20000);
    CHECK_EQ_INT(eki_period_next(&fixed, 5000, true), 5000);
    CHECK_EQ_INT(eki_period_next(&fixed, 5000, false), 5000);
}

/* What a worker's poll comes to, NS after the first one, between tasks or where
 * a task asks. */
static enum eki_served poll_at(struct eki_team *team, uint64_t ns,
                               bool is_asked)
{
    return eki_team_poll_if_due(team, 0, 1000000 + ns, is_asked);
}

static void a_server_is_stepped_as_it_finds_or_is_asked(struct lone *lone)
{
    const struct eki_affinity affinity = {.workers = 1, .cpus = 1};
    const struct eki_phase phase = {.kind = EKI_PHASE_PROCESS};
    struct eki_team *team;
    lone_start(lone, 0);
    const struct eki_team_setup setup = {lone->engine, &affinity,
                                         &eki_option_defaults, 2};
    CHECK_OK(eki_team_create(&setup, &team));
    team->period = (struct eki_period){2000, 20000};
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    eki_team_enter(team, &phase);
    CHECK_EQ_INT(poll_at(team, 0, false), EKI_SERVED_NOTHING);
    CHECK_EQ_INT(poll_at(team, 19999, false), EKI_SERVED_NOT);
    CHECK_EQ_INT(poll_at(team, 20000, false), EKI_SERVED_NOTHING);
    CHECK_EQ_INT(poll_at(team, 21999, true), EKI_SERVED_NOT);
    lone_message(lone, EKI_KIND_REQUEST);
    CHECK_EQ_INT(poll_at(team, 22000, true), EKI_SERVED_MOVED);
    CHECK_EQ_INT(poll_at(team, 31999, false), EKI_SERVED_NOT);
    CHECK_EQ_INT(poll_at(team, 32000, false), EKI_SERVED_NOTHING);
    CHECK_EQ_INT(poll_at(team, 51999, false), EKI_SERVED_NOT);
    CHECK_EQ_INT(poll_at(team, 52000, false), EKI_SERVED_NOTHING);
    eki_team_destroy(&team);
}

/* What has come lies at the end of the next iteration, and the others as they
 * lay. */
static void arrived_tasks_reverse_nothing(struct lone *lone)
{
    static const uint64_t expected[] = {9, 1, 2, 3};
    lone_open(lone, 0);
    lone_make(lone);
    lone_seed(lone, 3, 1);
    struct eki_local *local = &lone_worker(lone)->local;
    struct eki_slot *arrived = lone_seed_at(lone, 0, 9);
    CHECK(eki_local_log(local, arrived) != NULL);
    local->seed_end = local->seed_top = (unsigned char *)arrived;
    CHECK_OK(eki_engine_restore_arrived(lone->engine, 0, EKI_ORDER_REVERSED));
    for (int i = 0; i < 4; i++)
        CHECK_EQ_INT(lone_number(eki_slot_at(local->seeds, i, LONE_SLOT)),
                     expected[i]);
}

/* A worker on its own, with the indices 0 ... COUNT - 1 of a range in one
 * piece.
 */
static struct ek_worker *open_piece(struct lone *lone, int64_t count)
{
    static const int workers[1] = {1}, nodes[1] = {0};
    lone_open_job(lone, 0, 1, workers, nodes);
    lone_make(lone);
    struct ek_worker *worker = lone_worker(lone);
    CHECK(eki_local_add_range(&worker->local, 0, (struct eki_range){0, count},
                              100));
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    worker->piece.size = (int32_t)count;
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RANGE);
    worker->batch.stamp = lone->now;
    return worker;
}

/* Run indices of the piece: what each takes, 0: it is null; how many ran. */
static int run_indices(struct lone *lone, const uint64_t *ns)
{
    struct ek_worker *worker = lone_worker(lone);
    int64_t index;
    int n = 0;
    for (; eki_worker_take_index(worker, &index); n++) {
        lone->now += ns[index];
        worker->batch.marks = ns[index] == 0 ? EKI_MARK_DISCARD : 0;
        if (!eki_worker_index_is_null(worker, 0) &&
            !eki_worker_index_is_short(worker, 0, lone->now))
            eki_worker_index_end(worker, 0, lone->now);
    }
    return n;
}

/* Short indices share their mean; a long one among them has its own time, and
 * so has one behind null ones. */
static void short_indices_share_their_time(struct lone *lone)
{
    static const uint64_t ns[] = {300, 500,  1000, 3000, 200, 0,
                                  0,   1500, 100,  300,  200};
    static const uint64_t logged[][2] = {{0, 600},  {1, 600}, {2, 600},
                                         {3, 3000}, {4, 200}, {7, 1500},
                                         {8, 200},  {9, 200}, {10, 200}};
    const int count = sizeof ns / sizeof *ns;
    struct ek_worker *worker = open_piece(lone, count);
    struct eki_local *local = &worker->local;
    uint64_t work_ns = worker->counts.work_ns - lone->now;
    CHECK_EQ_INT(run_indices(lone, ns), count);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_DONE);
    int64_t n = eki_local_slots(local, local->log, local->log_end);
    CHECK_EQ_INT(n, sizeof logged / sizeof *logged);
    for (int64_t i = 0; i < n; i++) {
        const struct eki_slot *slot = eki_slot_at(local->log, i, LONE_SLOT);
        CHECK_EQ_INT(lone_number(slot), logged[i][0]);
        CHECK_EQ_INT(slot->id, 100 + logged[i][0]);
        CHECK_EQ_INT(slot->bin, eki_bin_of(logged[i][1]));
    }
    CHECK_EQ_INT(worker->counts.work_ns - lone->now, work_ns);
    CHECK_EQ_INT(worker->executed, count);
    CHECK_EQ_INT(worker->counts.nulls, 2);
    CHECK_EQ_INT(worker->counts.largest_ns, 3000);
    CHECK_EQ_INT(worker->counts.largest_id, 103);
}

/* Nothing is published meanwhile, and nobody is served: so it ends in time. */
static void pieces_of_a_range_end_in_time(struct lone *lone)
{
    static const uint64_t ns[16] = {1900, 1900, 1900, 1900, 1900, 1900};
    struct ek_worker *worker = open_piece(lone, 16);
    CHECK_EQ_INT(run_indices(lone, ns), 5);
    CHECK_EQ_INT(worker->executed, 5);
    CHECK_EQ_INT(eki_slot_tasks(eki_worker_top(worker)), 11);
}

/* Left out of the last index, not of the short ones before it. */
static void waits_are_no_time_of_an_index(struct lone *lone)
{
    static const uint64_t ns[] = {300, 300, 300};
    struct ek_worker *worker = open_piece(lone, 4);
    int64_t index;
    worker->piece.last = 3;
    CHECK_EQ_INT(run_indices(lone, ns), 3);
    worker->piece.last = 4;
    CHECK(eki_worker_take_index(worker, &index));
    lone->now += 9000;
    eki_worker_leave_out(worker, 5000);
    CHECK(!eki_worker_index_is_short(worker, 0, lone->now));
    eki_worker_index_end(worker, 0, lone->now);
    for (int i = 0; i < 4; i++)
        CHECK_EQ_INT(eki_slot_at(worker->local.log, i, LONE_SLOT)->bin,
                     eki_bin_of(i < 3 ? 300 : 4000));
}

/* Tasks of 1 us: several of them between two readings of the clock. */
static void short_tasks_are_timed_together(struct lone *lone)
{
    enum {
        COUNT = 100
    };
    struct ek_worker *worker;
    static const int workers[1] = {1}, nodes[1] = {0};
    lone_open_job(lone, 0, 1, workers, nodes);
    lone_make(lone);
    lone_seed(lone, COUNT, 0);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    worker = lone_worker(lone);
    while (eki_worker_step(worker, lone->now) == EKI_STEP_RUN) {
        uint64_t since = lone->now;
        while (eki_worker_take(worker) != NULL)
            lone->now += 1000;
        CHECK(lone->now - since <= 8000);
    }
    CHECK_EQ_INT(worker->counts.tasks, COUNT);
    CHECK(worker->counts.batches <= COUNT / 3);
}

int main(void)
{
    RUN_LONE(creation_without_memory_leaves_nothing);
    RUN_LONE(registration_without_memory_can_be_repeated);
    RUN_LONE(failed_fabric_ends_the_phase);
    RUN_LONE(pinned_tasks_run_first);
    RUN_LONE(pinned_tasks_are_cancelled);
    RUN_LONE(an_older_clock_makes_no_long_task);
    RUN_LONE(held_up_tasks_are_no_longer_than_others);
    RUN(a_poll_that_was_held_up_sets_no_period);
    RUN(polls_that_find_something_come_sooner);
    RUN_LONE(a_server_is_stepped_as_it_finds_or_is_asked);
    RUN_LONE(tasks_of_an_old_phase_are_an_error);
    RUN_LONE(arrived_tasks_reverse_nothing);
    RUN_LONE(short_indices_share_their_time);
    RUN_LONE(pieces_of_a_range_end_in_time);
    RUN_LONE(waits_are_no_time_of_an_index);
    RUN_LONE(short_tasks_are_timed_together);
    return check_result();
}
