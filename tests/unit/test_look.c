/* SPDX-License-Identifier: BSD-3-Clause */
/* look: which sentence comes, when, and how often; and none where all moves. */
#include "engine/look.h"
#include "lone.h"

#define MS UINT64_C(1000000)

enum {
    STALL_NS = 10000000
};

static char told[4096];
static int lines;

static void listen(ek_level level, const char *text, void *context)
{
    (void)context;
    CHECK_EQ_INT(level, EK_LEVEL_WARN);
    eki_append(told, sizeof told, "%s\n", text);
    lines++;
}

static void forget(void)
{
    told[0] = '\0';
    lines = 0;
}

static struct eki_look looks;
static uint64_t served; /* before NOW */
static struct eki_slept slept;

/* Look at the phase of LONE. */
static void look_at(struct lone *lone, bool is_server)
{
    struct eki_moment at = {.now = lone->now,
                            .ms = 1000 + lone->now / 1000000,
                            .slept = slept,
                            .served = lone->now - served,
                            .is_server = is_server};
    eki_look_at_phase(&looks, &at);
}

/* Look some times, NS apart. */
static void look_for(struct lone *lone, int times, uint64_t ns)
{
    for (int i = 0; i < times; i++) {
        lone->now += ns;
        look_at(lone, true);
    }
}

/* Enter a process whose stall is looked for. */
static void begin_phase(struct lone *lone, enum eki_phase_kind kind,
                        ek_steal_policy policy)
{
    forget();
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
    served = 0;
    looks = (struct eki_look){.name = "fock",
                              .rank = lone->fabric.rank,
                              .size = lone->fabric.size,
                              .stall_ns = STALL_NS};
    CHECK_OK(eki_look_open(&looks, lone->engine));
    eki_look_enter(&looks, EKI_CALLED_PROCESS, 3, 1000 * MS);
    lone_enter(lone, kind, policy);
    look_at(lone, true);
}

static void begin(struct lone *lone, ek_steal_policy policy)
{
    begin_phase(lone, EKI_PHASE_PROCESS, policy);
}

static void end(struct lone *lone)
{
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_look_close(&looks);
    lone_close(lone);
}

/* Rank 0 of COUNT on one node, or RANK; a worker each. */
static void open_node(struct lone *lone, int rank, int count)
{
    static const int workers[8] = {1, 1, 1, 1, 1, 1, 1, 1}, nodes[8] = {0};
    lone_open_job(lone, rank, count, workers, nodes);
    lone->setup.stall_ns = STALL_NS;
    lone_make(lone);
}

static void open_apart(struct lone *lone, int rank)
{
    lone_open(lone, rank);
    lone->setup.stall_ns = STALL_NS;
    lone_make(lone);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* What rank I of the node did last. */
static void call(struct lone *lone, int i, enum eki_called called,
                 bool is_inside, uint64_t ms)
{
    struct eki_engine view = *lone->engine;
    struct eki_topology topology = *lone->topology;
    struct eki_look other = looks;
    topology.node_index = i;
    view.topology = &topology;
    other.engine = &view;
    other.words = &view.rank_words[i];
    eki_look_enter(&other, called, 3, ms * MS);
    if (!is_inside)
        eki_look_leave(&other, ms * MS);
}

static void absent_rank_is_named_at_intervals(struct lone *lone)
{
    open_node(lone, 0, 2);
    begin(lone, EK_STEAL_RANDOM);
    call(lone, 1, EKI_CALLED_RESTORE, false, 995);
    lone_step(lone);
    look_for(lone, 1, 1000);
    look_for(lone, 1, STALL_NS - 1);
    CHECK_EQ_INT(lines, 0);
    look_for(lone, 1, 1);
    CHECK_EQ_TEXT(told, "evenkeel 0/2 engine: waiting 10 ms for rank 1 in "
                        "ek_process of 'fock' (iteration 3); its last call "
                        "here was ek_restore, 15 ms ago\n");
    /* Again after 10, 20 and 40 ms. */
    look_for(lone, 60, STALL_NS / 10);
    CHECK_EQ_INT(lines, 3);
}

static void rank_in_another_call_is_told_so(struct lone *lone)
{
    open_node(lone, 0, 2);
    begin(lone, EK_STEAL_RANDOM);
    call(lone, 1, EKI_CALLED_DESTROY, true, 1000);
    lone_step(lone);
    look_for(lone, 3, STALL_NS / 2);
    CHECK_EQ_INT(lines, 1);
    CHECK_HAS_TEXT(told, "it has been in ek_destroy of 'fock' for 15 ms");
}

/* This process sleeps. */
static void sleep_for(struct lone *lone, uint64_t ns)
{
    lone->now += ns;
    slept = (struct eki_slept){ns, lone->now, 1000 + lone->now / MS};
}

static void a_sleep_is_no_wait(struct lone *lone)
{
    open_node(lone, 0, 2);
    begin(lone, EK_STEAL_RANDOM);
    lone_step(lone);
    look_for(lone, 1, STALL_NS / 2);
    sleep_for(lone, 3000 * MS);
    look_for(lone, 2, STALL_NS / 4);
    CHECK_EQ_INT(lines, 0);
    look_for(lone, 2, STALL_NS / 4);
    CHECK_EQ_INT(lines, 1);
    CHECK_HAS_TEXT(told, "waiting 10 ms for rank 1 in ek_process");
    slept = (struct eki_slept){0};
}

/* Of those who wait the lowest speaks; where it is dead, the next: not because
 * of a time that this process slept itself. */
static void lowest_live_rank_speaks(struct lone *lone)
{
    open_node(lone, 1, 3);
    begin(lone, EK_STEAL_RANDOM);
    lone_step(lone);
    set(&eki_words_of(lone->engine, 0)->phase, 1);
    look_for(lone, 9, STALL_NS / 2);
    CHECK_EQ_INT(lines, 0);
    set(&lone->engine->rank_words[0].alive_ms, 500);
    sleep_for(lone, 600 * MS);
    look_for(lone, 1, 1);
    CHECK_EQ_INT(lines, 0);
    lone->now += 600 * MS;
    look_for(lone, 1, 1);
    CHECK_EQ_INT(lines, 2);
    CHECK_HAS_TEXT(told, "for rank 0 in ek_process");
    CHECK_HAS_TEXT(told, "its process has shown no life for 1.7 s");
    CHECK_HAS_TEXT(told, "for rank 2 in ek_process");
    slept = (struct eki_slept){0};
}

static void many_ranks_are_counted(struct lone *lone)
{
    open_node(lone, 0, 8);
    begin(lone, EK_STEAL_RANDOM);
    lone_step(lone);
    look_for(lone, 3, STALL_NS / 2);
    CHECK_EQ_INT(lines, 5);
    CHECK_HAS_TEXT(told, "... and for 3 more ranks of this node, up to rank 7");
}

/* Begin the next task; its id is NUMBER. */
static void take(struct lone *lone, uint64_t number)
{
    const struct eki_slot *slot;
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RUN);
    slot = eki_worker_take(lone_worker(lone));
    if (CHECK(slot != NULL))
        CHECK_EQ_INT(slot->id, number);
}

static void long_task_is_named(struct lone *lone)
{
    open_node(lone, 0, 1);
    lone_seed(lone, 2, 10);
    begin(lone, EK_STEAL_RANDOM);
    take(lone, 11);
    look_for(lone, 2, STALL_NS * 3 / 4);
    CHECK_EQ_INT(lines, 0);
    /* The next one has a time of its own. */
    take(lone, 10);
    look_for(lone, 2, STALL_NS * 3 / 4);
    CHECK_EQ_INT(lines, 0);
    look_for(lone, 1, STALL_NS * 3 / 4);
    CHECK_EQ_TEXT(told, "evenkeel 0/1 engine: worker 0 has been in one task "
                        "for 15 ms in ek_process of 'fock' (iteration 3): task "
                        "10 (home worker 0) of function 'f'\n");
}

/* What came from elsewhere runs in the log, what was spawned in a copy. */
static void stack_tasks_are_named(void)
{
    for (uint8_t flags = 0; flags <= EKI_SLOT_SEED; flags++) {
        struct lone lone;
        open_node(&lone, 0, 1);
        begin(&lone, EK_STEAL_RANDOM);
        struct ek_worker *worker = lone_worker(&lone);
        CHECK(eki_local_reserve(&worker->local, 1));
        lone_fill_slot(eki_local_push(&worker->local), 77);
        eki_worker_top(worker)->flags = flags;
        worker->created++;
        take(&lone, 77);
        look_for(&lone, 3, STALL_NS * 3 / 4);
        CHECK_EQ_INT(lines, 1);
        CHECK_HAS_TEXT(told, "task 77 (home worker 0) of function 'f'");
        end(&lone);
    }
}

static void long_index_is_named(struct lone *lone)
{
    struct eki_range range = {5, 8};
    int64_t index;
    open_node(lone, 0, 1);
    struct eki_slot *slot = lone_seed_at(lone, 0, 105);
    slot->flags |= EKI_SLOT_RANGE | EKI_SLOT_CANCELLED;
    slot->bin = EKI_BIN_RANGE;
    memcpy(slot->payload, &range, sizeof range);
    lone_worker(lone)->local.has_ranges = true;
    begin(lone, EK_STEAL_RANDOM);
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_RANGE);
    CHECK(eki_worker_take_index(lone_worker(lone), &index));
    look_for(lone, 3, STALL_NS * 3 / 4);
    CHECK_EQ_INT(lines, 1);
    CHECK_HAS_TEXT(told, "task 105 (home worker 0) of function 'f'");
}

/* As long as one worker gets on, the others wait for it. */
static void progress_is_silent(struct lone *lone)
{
    open_node(lone, 0, 1);
    lone_seed(lone, 40, 0);
    begin(lone, EK_STEAL_RANDOM);
    for (uint64_t number = 40; number-- > 20;) {
        take(lone, number);
        look_for(lone, 3, STALL_NS / 4);
    }
    CHECK_EQ_INT(lines, 0);
}

/* The worker waits, and answers the roll, between two looks. */
static void wait_for(struct lone *lone, int times)
{
    for (int i = 0; i < times; i++) {
        CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
        look_for(lone, 1, STALL_NS / 2);
    }
}

/* A task that was created and is nowhere. */
static void lost_task_stands_still(struct lone *lone)
{
    open_node(lone, 0, 1);
    lone_seed(lone, 1, 10);
    begin(lone, EK_STEAL_RANDOM);
    uint64_t ran[1];
    lone_worker(lone)->created++;
    CHECK_EQ_INT(lone_run(lone, ran, 1), 1);
    wait_for(lone, 4);
    CHECK_EQ_INT(lines, 2);
    CHECK_HAS_TEXT(told, "phase 1 stands still in ek_process of 'fock' "
                         "(iteration 3): all workers are idle, but");
    CHECK_HAS_TEXT(told, "created 2, executed 1");
}

/* A worker that has not come by since the last look may hold a claimed task. */
static void worker_that_does_not_answer_is_no_stall(struct lone *lone)
{
    open_node(lone, 0, 1);
    begin(lone, EK_STEAL_RANDOM);
    lone_worker(lone)->created++;
    CHECK_EQ_INT(lone_step(lone), EKI_STEP_WAIT);
    look_for(lone, 9, STALL_NS / 2);
    CHECK_EQ_INT(lines, 0);
}

static void stall_of_several_nodes_is_told_by_all(struct lone *lone)
{
    open_apart(lone, 1);
    begin(lone, EK_STEAL_NONE);
    lone_step(lone);
    lone_serve(lone);
    lone_verdict(lone, EKI_WAVE_STALLED);
    lone_serve(lone);
    for (int i = 0; i < 3; i++) {
        lone_message(lone, EKI_KIND_HERE);
        lone_serve(lone);
        look_for(lone, 1, STALL_NS / 2);
    }
    CHECK_EQ_INT(lines, 2);
    CHECK_HAS_TEXT(told, "phase 1 stands still in ek_process of 'fock'");
    CHECK_HAS_TEXT(told, "worker 1: phase 1, created 0, executed 0");
}

/* Serve and look; an answer of the other node, in WAVE, comes with each look
 * where it ANSWERS, and says whether it has VOTED. */
static void wait_apart(struct lone *lone, int times, bool answers, int64_t wave,
                       bool voted)
{
    for (int i = 0; i < times; i++) {
        lone_step(lone);
        if (answers) {
            struct eki_message *here = lone_message(lone, EKI_KIND_HERE);
            here->head.first = wave;
            here->head.count = voted;
        }
        lone_serve(lone);
        look_for(lone, 1, STALL_NS / 4);
    }
}

static void silent_node_is_named(void)
{
    for (int rank = 0; rank < 2; rank++) {
        struct lone lone;
        open_apart(&lone, rank);
        begin(&lone, EK_STEAL_NONE);
        wait_apart(&lone, 6, false, 0, false);
        CHECK_EQ_INT(lines, 1);
        CHECK_HAS_TEXT(told, rank == 0
                                 ? "for rank 1 on another node in ek_process "
                                   "of 'fock' (iteration 3): it does not answer"
                                 : "for rank 0 on another node");
        end(&lone);
    }
}

/* It will say itself for whom it waits. */
static void node_that_answers_is_not_named(void)
{
    for (int rank = 0; rank < 2; rank++) {
        struct lone lone;
        open_apart(&lone, rank);
        begin(&lone, EK_STEAL_NONE);
        wait_apart(&lone, 20, true, 0, rank == 0 ? false : true);
        CHECK_EQ_INT(lines, 0);
        end(&lone);
    }
}

static void lost_vote_is_told(struct lone *lone)
{
    open_apart(lone, 0);
    begin(lone, EK_STEAL_NONE);
    wait_apart(lone, 6, true, 0, true);
    CHECK_EQ_INT(lines, 1);
    CHECK_HAS_TEXT(told, "for rank 1 on another node in ek_process of 'fock' "
                         "(iteration 3): it says that it has sent its word of "
                         "wave 0, which has not come");
}

static void lost_verdict_is_told(struct lone *lone)
{
    open_apart(lone, 1);
    begin(lone, EK_STEAL_NONE);
    wait_apart(lone, 6, true, 1, false);
    CHECK_EQ_INT(lines, 1);
    CHECK_HAS_TEXT(told, "for rank 0 on another node in ek_process of 'fock' "
                         "(iteration 3): it says that it has sent its word of "
                         "wave 0, which has not come");
}

static void server_that_nobody_steps_is_told(struct lone *lone)
{
    open_apart(lone, 0);
    lone_seed(lone, 2, 10);
    begin(lone, EK_STEAL_RANDOM);
    take(lone, 11);
    for (int i = 0; i < 3; i++) {
        served += STALL_NS * 3 / 4;
        look_for(lone, 1, STALL_NS * 3 / 4);
    }
    CHECK_EQ_INT(lines, 2);
    CHECK_HAS_TEXT(told, "nobody has stepped the server of this rank for 23 ms "
                         "in ek_process of 'fock' (iteration 3), so its "
                         "messages wait: all its workers are inside tasks; ");
}

/* Who restores is no worker that does not come: it works between two steps. */
static void long_work_in_a_restore_is_not_told(struct lone *lone)
{
    open_apart(lone, 0);
    begin_phase(lone, EKI_PHASE_RESTORE, EK_STEAL_RANDOM);
    CHECK_EQ_INT(lone->engine->kind, EKI_PHASE_RESTORE);
    for (int i = 0; i < 3; i++) {
        served += STALL_NS * 3 / 4;
        look_for(lone, 1, STALL_NS * 3 / 4);
    }
    CHECK(strstr(told, "nobody has stepped") == NULL);
}

/* Of a worker that asked the other node. */
static void request_without_answer_is_told(struct lone *lone)
{
    open_apart(lone, 0);
    begin(lone, EK_STEAL_RANDOM);
    for (int i = 0; i < 9; i++)
        wait_apart(lone, 1, true, 0, false);
    CHECK_HAS_TEXT(told, "waiting ");
    CHECK_HAS_TEXT(told, " with ");
    CHECK_HAS_TEXT(told, " requests without answer\n");
}

/* The verdict is here, but not applied yet, when its sender says that it has
 * sent it. */
static void verdict_before_an_answer_is_not_lost(struct lone *lone)
{
    open_apart(lone, 1);
    begin(lone, EK_STEAL_NONE);
    lone_step(lone);
    lone_serve(lone);
    lone->engine->waves.verdict_next = 0;
    struct eki_message *here = lone_message(lone, EKI_KIND_HERE);
    here->head.first = 1;
    lone_serve(lone);
    CHECK_EQ_INT(lone->engine->waves.neighbors[0].lost, 0);
}

/* Without memory for what a message brings. */
static void held_message_is_told(struct lone *lone)
{
    open_apart(lone, 0);
    begin(lone, EK_STEAL_RANDOM);
    lone_fill(lone, lone_message(lone, EKI_KIND_MOVE), 1, 5);
    WITHOUT_MEMORY(1, lone_serve(lone));
    lone->engine->waves.neighbors[0].probed = 0;
    look_for(lone, 3, STALL_NS * 3 / 4);
    CHECK_HAS_TEXT(told, "with a message from rank 1 (move) for which there "
                         "is no memory");
}

/* Nor has any other rank. */
static void passed_tasks_are_told(struct lone *lone)
{
    open_apart(lone, 0);
    begin(lone, EK_STEAL_RANDOM);
    looks.end_ns = 5 * STALL_NS;
    eki_memory_fail(EKI_MEMORY_GONE);
    for (int i = 0; i < 40 && !looks.ends; i++) {
        lone->engine->waves.neighbors[0].probed = 0;
        lone_fill(lone, lone_message(lone, EKI_KIND_MOVE), 1, 5);
        lone_serve(lone);
        look_for(lone, 1, STALL_NS * 3 / 4);
        lone_forget(lone);
    }
    eki_memory_fail(0);
    CHECK(looks.ends);
    CHECK_HAS_TEXT(told, "with tasks that ranks pass on because none has "
                         "memory for them");
}

/* The report of an iteration waits for ranks that are still in it. */
static void call_names_who_is_missing(struct lone *lone)
{
    open_node(lone, 0, 3);
    begin(lone, EK_STEAL_RANDOM);
    call(lone, 1, EKI_CALLED_PROCESS, true, 1000);
    call(lone, 2, EKI_CALLED_PROCESS, false, 1000);
    eki_look_enter(&looks, EKI_CALLED_CLOSE, 3, 1000 * MS);
    for (int i = 0; i < 3; i++) {
        struct eki_moment at = {.now = lone->now, .ms = 1010};
        eki_look_at_call(&looks, &at);
        lone->now += STALL_NS / 2;
    }
    CHECK_EQ_INT(lines, 1);
    CHECK_HAS_TEXT(told, "for rank 1 in the report or record of ek_process of "
                         "'fock' (iteration 3); it has been in ek_process");
}

/* Whether the job ends when a rank has been in CALLED for so long. */
static bool call_ends(struct lone *lone, enum eki_called called, uint64_t ms)
{
    looks.ends = false;
    eki_look_enter(&looks, called, 3, 1000 * MS);
    for (int i = 0; i < 2; i++) {
        struct eki_moment at = {.now = lone->now, .ms = 1000 + ms};
        eki_look_at_call(&looks, &at);
        lone->now += ms * MS;
    }
    return looks.ends;
}

static void disks_are_given_more_time(struct lone *lone)
{
    static const int workers[2] = {1, 1}, nodes[2] = {0, 1};
    lone_open_job(lone, 0, 2, workers, nodes);
    lone_make(lone);
    begin(lone, EK_STEAL_RANDOM);
    looks.end_ns = 2 * STALL_NS;
    CHECK(!call_ends(lone, EKI_CALLED_SAVE, 19));
    CHECK(call_ends(lone, EKI_CALLED_SAVE, 21));
    CHECK(call_ends(lone, EKI_CALLED_CHECKPOINT, 21));
    CHECK(!call_ends(lone, EKI_CALLED_WRITE, 199));
    CHECK(call_ends(lone, EKI_CALLED_WRITE, 201));
    CHECK(!call_ends(lone, EKI_CALLED_LOAD, 199));
    CHECK(!call_ends(lone, EKI_CALLED_RESTORE, 10000));
}

int main(void)
{
    RUN_WITH(struct lone, end, absent_rank_is_named_at_intervals);
    RUN_WITH(struct lone, end, rank_in_another_call_is_told_so);
    RUN_WITH(struct lone, end, a_sleep_is_no_wait);
    RUN_WITH(struct lone, end, lowest_live_rank_speaks);
    RUN_WITH(struct lone, end, many_ranks_are_counted);
    RUN_WITH(struct lone, end, long_task_is_named);
    RUN(stack_tasks_are_named);
    RUN_WITH(struct lone, end, long_index_is_named);
    RUN_WITH(struct lone, end, progress_is_silent);
    RUN_WITH(struct lone, end, lost_task_stands_still);
    RUN_WITH(struct lone, end, worker_that_does_not_answer_is_no_stall);
    RUN_WITH(struct lone, end, stall_of_several_nodes_is_told_by_all);
    RUN(silent_node_is_named);
    RUN(node_that_answers_is_not_named);
    RUN_WITH(struct lone, end, lost_vote_is_told);
    RUN_WITH(struct lone, end, lost_verdict_is_told);
    RUN_WITH(struct lone, end, request_without_answer_is_told);
    RUN_WITH(struct lone, end, verdict_before_an_answer_is_not_lost);
    RUN_WITH(struct lone, end, server_that_nobody_steps_is_told);
    RUN_WITH(struct lone, end, long_work_in_a_restore_is_not_told);
    RUN_WITH(struct lone, end, held_message_is_told);
    RUN_WITH(struct lone, end, passed_tasks_are_told);
    RUN_WITH(struct lone, end, call_names_who_is_missing);
    RUN_WITH(struct lone, end, disks_are_given_more_time);
    return check_result();
}
