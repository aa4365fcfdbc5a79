/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine: whole iterations of several ranks under random schedules.
 *
 *     test_engine             a few thousand scenarios
 *     test_engine SEED        one, printed turn by turn
 *     test_engine FIRST N     N scenarios from that seed on
 */
#include "stepper.h"

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum {
    DEFAULT_SEEDS = 4000
};

static uint64_t seed_now;

static int draw(struct eki_random *random, int n)
{
    return n <= 1 ? 0 : (int)eki_random_below(random, (uint64_t)n);
}

static int pick(struct eki_random *random, const int *values, int n)
{
    return values[draw(random, n)];
}
#define PICK(random, ...)                      \
    pick((random), (const int[]){__VA_ARGS__}, \
         (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))

static void draw_iteration(struct eki_random *random,
                           const struct stepper_scenario *scenario,
                           struct stepper_iteration *iteration)
{
    iteration->steal =
        (ek_steal_policy)PICK(random, EK_STEAL_RANDOM, EK_STEAL_RANDOM,
                              EK_STEAL_NEAR, EK_STEAL_NONE, EK_STEAL_COUNTER);
    iteration->on_failure = (ek_on_failure)draw(random, 2);
    iteration->order = (enum eki_order)draw(random, 3);
    iteration->balance = iteration->order == EKI_ORDER_ORIGINAL
                             ? -1
                             : PICK(random, -1, -1, 0, 1, 2, 3);
    iteration->fault = STEPPER_NONE;
    if (draw(random, 5) == 0)
        iteration->fault = (enum stepper_fault)draw(random, 5);
    iteration->fault_rank = draw(random, scenario->ranks);
    iteration->absent_percent = PICK(random, 0, 0, 0, 30, 80);
    iteration->seeds = PICK(random, 0, 2, 8, 20);
    iteration->ranges = PICK(random, 0, 0, 1, 2);
    iteration->departing = scenario->ranks > 1 ? PICK(random, 0, 0, 0, 5) : 0;
    iteration->spawns = PICK(random, 0, 5, 40);
    iteration->spawn_permille = PICK(random, 100, 300, 600);
    iteration->fail_permille = PICK(random, 0, 0, 0, 0, 30);
    iteration->stop_permille = PICK(random, 0, 0, 0, 0, 0, 0, 30);
    iteration->late_turns = PICK(random, 0, 30, 300);
}

/* Few tasks that spawn many, soon stolen by nodes of one worker: what has to be
 * so for the end to be seen too early. */
static void make_storm(struct eki_random *random,
                       struct stepper_scenario *scenario)
{
    int most = 2 + draw(random, 2);
    if (scenario->ranks > most)
        scenario->ranks = most;
    for (int r = 0; r < scenario->ranks; r++) {
        scenario->node_of_rank[r] = r;
        scenario->workers[r] = 1;
    }
    scenario->tick_ns = (uint64_t)PICK(random, 5000, 20000, 50000);
    scenario->delay_ns = (uint64_t)PICK(random, 100, 20000, 200000);
    for (int i = 0; i < scenario->iterations; i++) {
        struct stepper_iteration *iteration = &scenario->iteration[i];
        iteration->steal = EK_STEAL_RANDOM;
        iteration->fault_rank = 0;
        iteration->seeds = 2;
        iteration->ranges = 0;
        iteration->spawns = 60;
        iteration->spawn_permille = 700;
    }
}

static void draw_scenario(uint64_t seed, struct stepper_scenario *scenario)
{
    struct eki_random random;
    eki_random_seed(&random, seed, 0);
    *scenario = (struct stepper_scenario){.seed = seed, .is_checked = true};
    scenario->ranks = 1 + draw(&random, STEPPER_RANKS);
    scenario->iterations = 3 + draw(&random, STEPPER_ITERATIONS - 2);
    int nodes = 0;
    for (int r = 0; r < scenario->ranks; r++) {
        /* Numbered by their lowest rank. */
        int node = draw(&random, nodes + 1);
        scenario->node_of_rank[r] = node;
        nodes += node == nodes;
        scenario->workers[r] = 1 + draw(&random, STEPPER_WORKERS);
    }
    scenario->deque = (enum eki_deque_kind)draw(&random, 2);
    scenario->buffer_slots = 2 + draw(&random, 7);
    scenario->payload_bytes = PICK(&random, 16, 40, 48, 48, 100);
    scenario->pool = PICK(&random, 1, 1, 2, 4);
    scenario->message_slots = 1 + draw(&random, 4);
    scenario->tick_ns = (uint64_t)PICK(&random, 20, 200, 2000, 20000);
    scenario->delay_ns = (uint64_t)PICK(&random, 100, 5000, 100000);
    for (int i = 0; i < scenario->iterations; i++)
        draw_iteration(&random, scenario, &scenario->iteration[i]);
    if (scenario->ranks > 1 && draw(&random, 4) == 0)
        make_storm(&random, scenario);
}

static bool run_seed(uint64_t seed)
{
    struct stepper_scenario scenario;
    seed_now = seed;
    draw_scenario(seed, &scenario);
    if (stepper_run(&scenario))
        return true;
    fprintf(stderr, "replay: test_engine %llu\n", (unsigned long long)seed);
    return false;
}

static int run_seeds(uint64_t first, uint64_t n, int failures_most)
{
    int failures = 0;
    for (uint64_t i = 0; i < n && failures < failures_most; i++)
        failures += !run_seed(first + i);
    return failures;
}

/* Print what was seen; what never was is not tested. */
static void check_seen(bool wants_all)
{
    const struct stepper_seen *seen = &stepper_seen;
    const struct {
        const char *what;
        int64_t count;
    } rows[] = {{"turns", seen->turns},
                {"most turns of a scenario", seen->most_turns},
                {"tasks", seen->tasks},
                {"indices", seen->indices},
                {"spawned", seen->spawned},
                {"kept", seen->kept},
                {"discarded", seen->discarded},
                {"cancelled", seen->cancelled},
                {"failed", seen->failed},
                {"stops", seen->stops},
                {"steals in the node", seen->steals},
                {"steals from other nodes", seen->granted},
                {"requests denied", seen->denied},
                {"drawn from the counter", seen->drawn},
                {"moved home", seen->moved},
                {"taken of absent workers", seen->taken_absent},
                {"no buffer", seen->no_buffer},
                {"restores", seen->restores},
                {"errors", seen->errors},
                {"mismatches", seen->mismatches},
                {"moved to balance", seen->balanced},
                {"memory ran out", seen->no_memory}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("     %s: %lld\n", rows[i].what, (long long)rows[i].count);
        if (wants_all)
            check_true(rows[i].count > 0, rows[i].what, __FILE__, __LINE__);
    }
}

static void random_schedules_keep_all_promises(void)
{
    CHECK_EQ_INT(run_seeds(1, DEFAULT_SEEDS, 1), 0);
}

/* One engine of a job of two ranks, one worker each, on two nodes. */
struct lone {
    struct stepper_scenario scenario;
    struct eki_random random;
    uint64_t now;
    struct net *net;
    struct eki_topology *topology;
    struct eki_setup setup;
    struct eki_engine *engine;
};

static void lone_open(struct lone *lone)
{
    static const int workers[2] = {1, 1}, nodes[2] = {0, 1};
    memset(lone, 0, sizeof *lone);
    lone->scenario = (struct stepper_scenario){
        .ranks = 2, .payload_bytes = 48, .pool = 4, .message_slots = 4};
    eki_random_seed(&lone->random, 3, 3);
    lone->now = 1000;
    lone->net = net_create(&lone->scenario, &lone->random, &lone->now);
    eki_topology_create(0, 2, workers, nodes, &lone->topology);
    lone->setup = (struct eki_setup){.topology = lone->topology,
                                     .fabric = net_fabric(lone->net, 0),
                                     .buffer_slots = 8,
                                     .payload_bytes = 48,
                                     .seed = 1};
    lone->setup.segment =
        eki_alloc_lines(eki_engine_segment_bytes(&lone->setup));
}

static void lone_enter(struct lone *lone)
{
    static const struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                                           .signature = 1};
    CHECK_EQ_INT(eki_engine_create(&lone->setup, &lone->engine), EK_OK);
    eki_engine_enter(lone->engine, &phase, lone->now);
    eki_worker_arrive(lone->engine->workers[0], lone->now);
}

static void lone_close(struct lone *lone)
{
    eki_engine_destroy(&lone->engine);
    eki_topology_destroy(lone->topology);
    eki_free(lone->setup.segment);
    net_destroy(lone->net);
}

static int do_nothing(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

static void creation_without_memory_leaves_nothing(void)
{
    struct lone lone;
    lone_open(&lone);
    int n = 1;
    for (; n < 50; n++) {
        eki_memory_fail(n);
        ek_status status = eki_engine_create(&lone.setup, &lone.engine);
        eki_memory_fail(0);
        if (status == EK_OK)
            break;
        CHECK_EQ_INT(status, EK_ERR_NOMEM);
        CHECK(lone.engine == NULL);
    }
    CHECK(n > 4 && n < 50);
    lone_close(&lone);
}

static void registration_without_memory_can_be_repeated(void)
{
    struct lone lone;
    int function = -1;
    lone_open(&lone);
    CHECK_EQ_INT(eki_engine_create(&lone.setup, &lone.engine), EK_OK);
    for (int i = 0; i < 40; i++) {
        int n = 1;
        for (; n < 10; n++) {
            eki_memory_fail(n);
            ek_status status = eki_engine_register(lone.engine, "f", do_nothing,
                                                   NULL, &function);
            eki_memory_fail(0);
            CHECK(lone.engine->workers[0]->functions == lone.engine->functions);
            if (status == EK_OK)
                break;
            CHECK_EQ_INT(status, EK_ERR_NOMEM);
        }
        CHECK_EQ_INT(function, i);
    }
    lone_close(&lone);
}

/* Step until the worker is done; what leaving returns. */
static struct eki_error lone_end(struct lone *lone)
{
    struct eki_error error;
    enum eki_step step = EKI_STEP_WAIT;
    for (int i = 0; i < 1000 && step != EKI_STEP_DONE; i++) {
        lone->now += 100;
        eki_server_step(lone->engine, lone->now);
        step = eki_worker_step(lone->engine->workers[0], lone->now);
    }
    CHECK_EQ_INT(step, EKI_STEP_DONE);
    CHECK(eki_server_step(lone->engine, lone->now));
    eki_engine_leave(lone->engine, &error);
    return error;
}

static void failed_fabric_ends_the_phase(void)
{
    struct lone lone;
    lone_open(&lone);
    lone_enter(&lone);
    lone.setup.fabric->failed = EK_ERR_MPI;
    strcpy(lone.setup.fabric->failure, "the cable was cut");
    struct eki_error error = lone_end(&lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_EQ_TEXT(error.text, "the cable was cut");
    lone_close(&lone);
}

/* Rank 1 sends slots of PHASE that claim a function of that number. */
static void send_slot(struct lone *lone, uint64_t phase, uint16_t function)
{
    struct eki_fabric *other = net_fabric(lone->net, 1);
    struct eki_message *message = eki_fabric_reserve(other);
    memset(message, 0, other->message_bytes);
    message->head.kind = EKI_KIND_TASKS;
    message->head.phase = phase;
    message->head.signature = lone->engine->signature;
    message->head.count = 1;
    message->head.bytes = lone->engine->slot_bytes;
    struct eki_slot *slot = (struct eki_slot *)message->body;
    slot->function = function;
    slot->bytes = 8;
    eki_fabric_post(other, message, 0);
}

static void tasks_of_an_old_phase_are_an_error(void)
{
    struct lone lone;
    lone_open(&lone);
    lone_enter(&lone);
    send_slot(&lone, 0, 0);
    struct eki_error error = lone_end(&lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_HAS_TEXT(error.text, "tasks of phase 0 arrived from rank 1");
    lone_close(&lone);
}

static void tasks_of_unknown_functions_are_an_error(void)
{
    struct lone lone;
    lone_open(&lone);
    lone_enter(&lone);
    send_slot(&lone, 1, 3);
    struct eki_error error = lone_end(&lone);
    CHECK_EQ_INT(error.status, EK_ERR_MPI);
    CHECK_HAS_TEXT(error.text, "do not fit");
    lone_close(&lone);
}

static int stalls_told;

static void count_stalls(ek_level level, const char *text, void *context)
{
    (void)level, (void)context;
    stalls_told += strstr(text, "stands still") != NULL;
}

/* A task that was created and is nowhere: said once, and the phase goes on. */
static void lost_task_is_reported_once(void)
{
    struct lone lone;
    static const int workers[1] = {1}, nodes[1] = {0};
    lone_open(&lone);
    eki_topology_destroy(lone.topology);
    eki_topology_create(0, 1, workers, nodes, &lone.topology);
    lone.setup.topology = lone.topology;
    lone.setup.fabric = NULL;
    lone.setup.stall_ns = 10000;
    lone_enter(&lone);
    lone.engine->workers[0]->created++;
    ek_set_sink(count_stalls, NULL, EK_LEVEL_WARN);
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ_INT(eki_worker_step(lone.engine->workers[0], lone.now),
                     EKI_STEP_WAIT);
        lone.now += 100;
    }
    ek_set_sink(NULL, NULL, EK_LEVEL_WARN);
    CHECK_EQ_INT(stalls_told, 1);
    lone_close(&lone);
}

static void on_abort(int signal_number)
{
    char text[64];
    int n = snprintf(text, sizeof text, "seed %llu: signal %d\n",
                     (unsigned long long)seed_now, signal_number);
    if (write(2, text, (size_t)n) < 0)
        _exit(2);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

int main(int argc, char **argv)
{
    /* Restores sort with 131 kB of memory each: no mmap for that. */
    mallopt(M_MMAP_THRESHOLD, 1 << 24);
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    signal(SIGABRT, on_abort);
    if (argc == 2) {
        stepper_is_verbose = true;
        return !run_seed(strtoull(argv[1], NULL, 0));
    }
    if (argc == 3) {
        int failures = run_seeds(strtoull(argv[1], NULL, 0),
                                 strtoull(argv[2], NULL, 0), 10);
        check_seen(false);
        return failures != 0;
    }
    RUN(creation_without_memory_leaves_nothing);
    RUN(registration_without_memory_can_be_repeated);
    RUN(failed_fabric_ends_the_phase);
    RUN(tasks_of_an_old_phase_are_an_error);
    RUN(tasks_of_unknown_functions_are_an_error);
    RUN(lost_task_is_reported_once);
    RUN(random_schedules_keep_all_promises);
    check_seen(true);
    return check_result();
}
