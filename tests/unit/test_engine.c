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

/* ----------------------------------------------------------------- scenarios
 */

static int draw(struct eki_random *random, int n)
{
    return n <= 1 ? 0 : (int)eki_random_below(random, (uint64_t)n);
}

static int pick(struct eki_random *random, const int *values, int n)
{
    return values[draw(random, n)];
}
#define PICK(random, ...)                                \
    pick((random), (const int[]){__VA_ARGS__},           \
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

static void print_seen(void)
{
    const struct stepper_seen *seen = &stepper_seen;
    printf("turns %lld (at most %lld), tasks %lld, indices %lld, spawned %lld, "
           "kept %lld, discarded %lld, cancelled %lld, failed %lld, stops "
           "%lld, steals %lld, taken of absent %lld, no buffer %lld, restores "
           "%lld, errors %lld, mismatches %lld, no memory %lld\n",
           (long long)seen->turns, (long long)seen->most_turns,
           (long long)seen->tasks, (long long)seen->indices,
           (long long)seen->spawned, (long long)seen->kept,
           (long long)seen->discarded, (long long)seen->cancelled,
           (long long)seen->failed, (long long)seen->stops,
           (long long)seen->steals, (long long)seen->taken_absent,
           (long long)seen->no_buffer, (long long)seen->restores,
           (long long)seen->errors, (long long)seen->mismatches,
           (long long)seen->no_memory);
}

/* --------------------------------------------------------------------- tests
 */

static void random_schedules_keep_all_promises(void)
{
    CHECK_EQ_INT(run_seeds(1, DEFAULT_SEEDS, 1), 0);
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
        print_seen();
        return failures != 0;
    }
    RUN(random_schedules_keep_all_promises);
    print_seen();
    return check_result();
}
