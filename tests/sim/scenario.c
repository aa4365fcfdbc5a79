/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios from seeds, and how long things take in them. */
#include "explore.h"

#include "printed/printed.h"

#include <string.h>

const char *const explore_profile_names[EXPLORE_PROFILES] = {"small", "large",
                                                             "storm", "lean"};

struct explore_fixed explore_fixed = {-1, -1};

int explore_profile_of(const char *name)
{
    for (int i = 0; i < EXPLORE_PROFILES; i++) {
        if (strcmp(name, explore_profile_names[i]) == 0)
            return i;
    }
    return -1;
}

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

/* WORKERS in all, on ranks and nodes; nodes are numbered by their lowest rank.
 */
static void draw_topology(struct eki_random *random,
                          struct explore_scenario *scenario, int ranks,
                          int workers)
{
    int nodes = 0, nodes_most = PICK(random, 1, 2, 4, EXPLORE_RANKS);
    scenario->ranks = ranks;
    for (int r = 0; r < ranks; r++) {
        int most = nodes < nodes_most ? nodes + 1 : nodes;
        /* The last one has more chances: nodes of one rank are usual. */
        int node = draw(random, most + 1);
        node = node < most ? node : most - 1;
        scenario->nodes[r] = node;
        nodes += node == nodes;
        scenario->workers[r] = 1;
    }
    for (int w = ranks; w < workers; w++)
        scenario->workers[draw(random, ranks)]++;
}

static void draw_law(struct eki_random *random, int ranks,
                     struct explore_law *law)
{
    law->is_fixed = draw(random, 8) == 0;
    law->step = (uint64_t)PICK(random, 50, 200, 1000);
    law->task = (uint64_t)PICK(random, 200, 1000, 10000, 30000);
    law->message = (uint64_t)PICK(random, 300, 2000, 20000);
    law->server = (uint64_t)PICK(random, 100, 500, 3000);
    law->send = (uint64_t)PICK(random, 0, 500, 20000);
    law->serial = (uint64_t)PICK(random, 100, 3000, 50000);
    law->wait = (uint64_t)PICK(random, 50, 300, 1000);
    law->growth = 3;
    law->most = law->task > law->message ? law->task : law->message;
    law->most = law->send > law->most ? law->send : law->most;
    law->most = law->serial / 2 > law->most ? law->serial / 2 : law->most;
    law->most = law->most / 2 + 4 * law->wait;
    law->tail_permille = PICK(random, 0, 10, 30);
    law->tail = PICK(random, 4, 15);
    law->slow_rank = draw(random, 4) == 0 ? draw(random, ranks) : -1;
    law->slow = PICK(random, 4, 12);
    law->pause_permille = PICK(random, 0, 2, 5);
    law->pause = 10 * law->most;
}

/* What a restore policy makes of options; AUTO knows what a rebalance costs. */
static struct eki_balance_wish draw_wish(struct eki_random *random)
{
    ek_restore_policy policy = (ek_restore_policy)PICK(
        random, EK_RESTORE_CENTRALIZED, EK_RESTORE_HIERARCHICAL,
        EK_RESTORE_HIERARCHICAL, EK_RESTORE_CENTRALIZED_HPDC12,
        EK_RESTORE_HIERARCHICAL_HPDC12, EK_RESTORE_AUTO);
    struct eki_options options = eki_option_defaults;
    char hpdc12[32];
    options.balance_group = draw(random, 4);
    options.balance_ppm = PICK(random, 0, 3000, 100000);
    int branching = 2 + (int)draw(random, 3);
    snprintf(hpdc12, sizeof hpdc12, "k=%d,gather=%s", branching,
             draw(random, 2) ? "core" : "node");
    options.hpdc12 = hpdc12;
    struct eki_balance_wish wish = eki_balance_wish_of(policy, 4, &options);
    if (draw(random, 3) == 0) {
        wish.outlook.iterations = PICK(random, 0, 1, 100);
        wish.outlook.cost_ns = PICK(random, 0, 1000, 1000000);
        wish.outlook.may_steal = true;
        wish.outlook.done = 2;
    }
    return wish;
}

static void draw_policies(struct eki_random *random,
                          struct explore_iteration *iteration)
{
    struct eki_sim_iteration *plan = &iteration->plan;
    plan->steal = (ek_steal_policy)PICK(
        random, EK_STEAL_RANDOM, EK_STEAL_RANDOM, EK_STEAL_NEAR, EK_STEAL_NODE,
        EK_STEAL_NONE, EK_STEAL_COUNTER, EK_STEAL_HPDC12, EK_STEAL_HPDC12_ONE,
        EK_STEAL_DVS, EK_STEAL_LEAPFROG, EK_STEAL_LOAD, EK_STEAL_LOAD_READ,
        EK_STEAL_SUCCESS, EK_STEAL_SUCCESS_ACYCLIC, EK_STEAL_LIFELINE);
    if (explore_fixed.policy >= 0)
        plan->steal = (ek_steal_policy)explore_fixed.policy;
    if (plan->steal == EK_STEAL_COUNTER)
        plan->steal = (ek_steal_policy)eki_chunked(
            EK_STEAL_COUNTER, (int)PICK(random, 1, 1, 2, 16, 100,
                                        EKI_CHUNK_GUIDED, EKI_CHUNK_GUIDED));
    plan->on_failure = (ek_on_failure_policy)draw(random, 2);
    plan->order = (enum eki_order)PICK(random, EKI_ORDER_LONGEST,
                                       EKI_ORDER_LONGEST, EKI_ORDER_EXECUTED,
                                       EKI_ORDER_REVERSED, EKI_ORDER_ORIGINAL);
    plan->is_balanced =
        plan->order != EKI_ORDER_ORIGINAL && draw(random, 3) == 0;
    plan->balance = draw_wish(random);
}

/* Ranks of one node, some or all, by nothing or for long. */
static void draw_late(struct eki_random *random,
                      const struct explore_scenario *scenario,
                      struct explore_iteration *iteration)
{
    int node = scenario->nodes[draw(random, scenario->ranks)];
    iteration->late =
        scenario->law.task * (uint64_t)PICK(random, 0, 0, 2, 20, 200);
    for (int r = 0; r < scenario->ranks; r++)
        iteration->is_late[r] = iteration->late != 0 &&
                                scenario->nodes[r] == node &&
                                draw(random, 2) == 0;
}

static void draw_iteration(struct eki_random *random,
                           const struct explore_scenario *scenario,
                           struct explore_iteration *iteration)
{
    draw_policies(random, iteration);
    iteration->fault = EXPLORE_NONE;
    if (draw(random, 6) == 0)
        iteration->fault =
            (enum explore_fault)draw(random, EXPLORE_NO_MEMORY + 1);
    iteration->fault_rank = draw(random, scenario->ranks);
    iteration->absent_percent = PICK(random, 0, 0, 0, 30, 80);
    draw_late(random, scenario, iteration);
    iteration->spawn_permille = PICK(random, 100, 300, 600);
    iteration->fail_permille = PICK(random, 0, 0, 0, 0, 30);
    iteration->stop_permille = PICK(random, 0, 0, 0, 0, 0, 0, 30);
    iteration->ops_most = 6;
}

/* About twenty tasks in an iteration: later ones run the seeds of before. */
static void draw_few(struct eki_random *random,
                     const struct explore_scenario *scenario,
                     struct explore_iteration *iteration, bool is_first)
{
    int ranks = scenario->ranks;
    /* A rebalancer clears more memory than all else needs. */
    iteration->plan.is_balanced &= draw(random, 2) == 0;
    iteration->seeds = PICK(random, 8, 24, 24) / (is_first ? 1 : 6) / ranks;
    iteration->ranges = PICK(random, 0, 0, 1);
    iteration->range_most = is_first ? 16 / ranks : 4;
    iteration->departing = ranks > 1 ? PICK(random, 0, 0, 0, 2) : 0;
    iteration->spawns = PICK(random, 0, 4, 12) / ranks;
}

static void draw_many(struct eki_random *random,
                      const struct explore_scenario *scenario,
                      struct explore_iteration *iteration)
{
    iteration->seeds = PICK(random, 0, 2, 8, 20);
    iteration->ranges = PICK(random, 0, 0, 1, 2);
    iteration->range_most = PICK(random, 40, 40, 40, 400);
    iteration->departing = scenario->ranks > 1 ? PICK(random, 0, 0, 0, 5) : 0;
    iteration->spawns = PICK(random, 0, 5, 40);
}

static void draw_small(struct eki_random *random,
                       struct explore_scenario *scenario)
{
    scenario->iterations = 3;
    draw_topology(random, scenario, 1 + draw(random, 4), 4);
    for (int i = 0; i < scenario->iterations; i++) {
        draw_iteration(random, scenario, &scenario->iteration[i]);
        draw_few(random, scenario, &scenario->iteration[i], i == 0);
    }
}

static void draw_large(struct eki_random *random,
                       struct explore_scenario *scenario)
{
    int ranks = 1 + draw(random, EXPLORE_RANKS);
    scenario->iterations = 3 + draw(random, EXPLORE_ITERATIONS - 2);
    draw_topology(random, scenario, ranks, ranks + draw(random, 2 * ranks));
    for (int i = 0; i < scenario->iterations; i++) {
        draw_iteration(random, scenario, &scenario->iteration[i]);
        draw_many(random, scenario, &scenario->iteration[i]);
    }
}

/* Few tasks that spawn many, soon stolen: what has to be so for the end to be
 * seen too early.  Nodes of one worker, or one node of several. */
static void draw_storm(struct eki_random *random,
                       struct explore_scenario *scenario)
{
    int ranks = 2 + draw(random, 3);
    bool is_alone = draw(random, 2) == 0;
    scenario->iterations = 3;
    draw_topology(random, scenario, ranks, is_alone ? 3 + draw(random, 3) : 4);
    for (int r = 0; r < ranks; r++)
        scenario->nodes[r] = is_alone ? 0 : r;
    if (!is_alone)
        for (int r = 0; r < ranks; r++)
            scenario->workers[r] = 1;
    scenario->check_words = 1;
    for (int i = 0; i < scenario->iterations; i++) {
        struct explore_iteration *iteration = &scenario->iteration[i];
        draw_iteration(random, scenario, iteration);
        const struct eki_scheme *scheme = eki_scheme_of(iteration->plan.steal);
        if (!(scheme->is_plain && scheme->elsewhere) &&
            explore_fixed.policy < 0)
            iteration->plan.steal = EK_STEAL_RANDOM;
        iteration->fault = EXPLORE_NONE;
        iteration->absent_percent = 0;
        iteration->seeds = is_alone ? 1 : 2;
        iteration->spawns = is_alone ? 24 : 12;
        iteration->spawn_permille = 700;
        /* A child for a task on the average: few have work at a time. */
        iteration->ops_most = is_alone ? PICK(random, 2, 3, 4) : 6;
    }
    scenario->law.task = (uint64_t)PICK(random, 1000, 10000, 30000);
    if (!is_alone)
        return;
    /* Much must happen between two looks of who checks for the end: the others
     * are eager, and one is slow. */
    scenario->law.task = (uint64_t)PICK(random, 300, 1000, 3000);
    scenario->law.growth = 1;
    scenario->law.slow_rank = draw(random, ranks);
}

static void draw_lean(struct eki_random *random,
                      struct explore_scenario *scenario)
{
    draw_large(random, scenario);
    scenario->buffer_slots = PICK(random, EKI_DEQUE_CAPACITY_MIN, 6);
    scenario->send_buffers = scenario->message_slots = 1;
    for (int i = 0; i < scenario->iterations; i++) {
        struct explore_iteration *iteration = &scenario->iteration[i];
        if (draw(random, 2) == 0)
            iteration->fault = EXPLORE_NO_MEMORY;
        iteration->range_most = 40;
    }
}

/* Of its own random numbers: what else happens is the same without. */
static void draw_pinned(struct explore_scenario *scenario)
{
    struct eki_random random;
    eki_random_seed(&random, scenario->seed,
                    2 * EXPLORE_PROFILES + (uint64_t)scenario->profile);
    if (draw(&random, 4) != 0)
        return;
    for (int i = 0; i < scenario->iterations; i++)
        scenario->iteration[i].pinned = PICK(&random, 0, 1, 3, 6);
}

/* Likewise. */
static void draw_tiles(struct explore_scenario *scenario)
{
    struct eki_random random;
    struct explore_tiling *tiling = &scenario->tiling;
    bool is_storm = scenario->profile == EXPLORE_STORM;
    eki_random_seed(&random, scenario->seed,
                    EXPLORE_PROFILES + (uint64_t)scenario->profile);
    if (draw(&random, 4) != 0)
        return;
    tiling->stores = 1 + draw(&random, EXPLORE_STORES);
    tiling->tiles_most = 1 + draw(&random, EXPLORE_TILES);
    tiling->length_most = PICK(&random, 1, 5, EXPLORE_DOUBLES);
    tiling->cache_bytes = PICK(&random, 0, 100, 100000);
    tiling->is_apart = draw(&random, 3) == 0;
    for (int i = 0; i < scenario->iterations; i++) {
        struct explore_iteration *iteration = &scenario->iteration[i];
        iteration->plan.is_assembled = draw(&random, 2) == 0;
        iteration->tile_permille = PICK(&random, 100, 400, 800);
        iteration->calls_most = PICK(&random, 1, 4, EXPLORE_CALLS);
        iteration->wait_permille = PICK(&random, 0, 400, 1000);
        iteration->leave_permille = PICK(&random, 0, 0, 0, 100);
        if (is_storm && draw(&random, 3) == 0)
            iteration->fault = EXPLORE_NO_MEMORY;
    }
}

/* Likewise; the least that src/data allows is an input and a result for each
 * worker and for what others ask. */
static void draw_travel(struct explore_scenario *scenario)
{
    struct eki_random random;
    struct explore_travel *travel = &scenario->travel;
    int workers = 0;
    eki_random_seed(&random, scenario->seed,
                    5 * EXPLORE_PROFILES + (uint64_t)scenario->profile);
    if (draw(&random, 6) != 0)
        return;
    for (int r = 0; r < scenario->ranks; r++)
        workers =
            scenario->workers[r] > workers ? scenario->workers[r] : workers;
    travel->is_used = true;
    travel->has_indices = draw(&random, 2) == 0;
    travel->packs = draw(&random, 3) != 0;
    travel->unpacks = travel->packs && draw(&random, 3) != 0;
    travel->may_follow = draw(&random, 3) == 0;
    /* A new home takes what follows as it takes results. */
    travel->returns = travel->may_follow || draw(&random, 6) != 0;
    travel->bytes_most = PICK(&random, 0, 1, 40, 300, 3000);
    travel->budget_bytes = PICK(&random, 0, 1, 1, 2) * 2 *
                           (int64_t)(workers + 1) * travel->bytes_most;
    travel->fail_permille = PICK(&random, 0, 0, 0, 50);
    if (scenario->profile == EXPLORE_STORM && draw(&random, 3) == 0)
        scenario->iteration[draw(&random, 3)].fault = EXPLORE_NO_MEMORY;
}

/* Likewise; what does not go together with what is drawn is counted. */
static void draw_detectors(struct explore_scenario *scenario)
{
    struct eki_random random;
    eki_random_seed(&random, scenario->seed,
                    3 * EXPLORE_PROFILES + (uint64_t)scenario->profile);
    for (int i = 0; i < scenario->iterations; i++) {
        struct explore_iteration *iteration = &scenario->iteration[i];
        enum eki_detector detector = (enum eki_detector)PICK(
            &random, EKI_DETECTOR_COUNTING, EKI_DETECTOR_FRANCEZ,
            EKI_DETECTOR_ACKNOWLEDGED);
        if (explore_fixed.detector >= 0)
            detector = (enum eki_detector)explore_fixed.detector;
        bool is_asked = detector == EKI_DETECTOR_FRANCEZ;
        if ((eki_scheme_of(iteration->plan.steal)->detectors >> detector & 1) &&
            !(is_asked && scenario->travel.is_used))
            iteration->plan.detector = detector;
        if (iteration->plan.detector != EKI_DETECTOR_FRANCEZ)
            continue;
        iteration->departing = EKI_PLANTED(GIVES_UNASKED) ? 2 : 0;
        /* What is added before a restore departs in the next iteration. */
        if (i > 0 && !EKI_PLANTED(GIVES_UNASKED))
            iteration[-1].departing = 0;
    }
}

/* Likewise. */
static void draw_saves(struct explore_scenario *scenario)
{
    struct eki_random random;
    struct explore_scenario to = *scenario;
    bool has_pinned = false;
    eki_random_seed(&random, scenario->seed,
                    4 * EXPLORE_PROFILES + (uint64_t)scenario->profile);
    if (scenario->profile == EXPLORE_STORM || draw(&random, 16) != 0)
        return;
    for (int i = 0; i < scenario->iterations; i++)
        has_pinned |= scenario->iteration[i].pinned > 0;
    for (int i = 0; i + 1 < scenario->iterations; i++) {
        struct explore_save *save = &scenario->save[i];
        bool is_large = scenario->profile != EXPLORE_SMALL;
        int ranks = 1 + draw(&random, is_large ? EXPLORE_RANKS : 4);
        save->is_made = draw(&random, 2) == 0;
        if (draw(&random, 2) == 0)
            save->death = 1 + draw(&random, to.ranks + 6);
        if (save->death > 0 && draw(&random, 3) == 0) {
            save->failure = save->death;
            save->death += 1 + draw(&random, 2 * to.ranks + 6);
        }
        save->loses_power = draw(&random, 2) == 0;
        save->asks_owner = draw(&random, 2) == 0;
        if (has_pinned)
            ranks = to.ranks;
        if (draw(&random, 3) != 0)
            draw_topology(&random, &to, ranks,
                          ranks + draw(&random, is_large ? 2 * ranks : 5));
        save->ranks = to.ranks;
        memcpy(save->workers, to.workers, sizeof save->workers);
        memcpy(save->nodes, to.nodes, sizeof save->nodes);
    }
}

/* Some steal by one-sided operations; without a draw, which would move all
 * others. */
static void turn_one_sided(struct explore_scenario *scenario)
{
    uint64_t seed = scenario->seed;
    if (seed % 8 != 5 || explore_fixed.policy >= 0)
        return;
    for (int i = 0; i < scenario->iterations; i++) {
        struct eki_sim_iteration *plan = &scenario->iteration[i].plan;
        if (plan->steal == EK_STEAL_RANDOM)
            plan->steal =
                (seed / 8 + (uint64_t)i) % 2 ? EK_STEAL_SWS : EK_STEAL_SDC;
    }
}

int explore_count_nodes(const struct explore_scenario *scenario)
{
    int last = 0;
    for (int r = 0; r < scenario->ranks; r++)
        last = scenario->nodes[r] > last ? scenario->nodes[r] : last;
    return last + 1;
}

void explore_draw(uint64_t seed, enum explore_profile profile,
                  struct explore_scenario *scenario)
{
    struct eki_random random;
    eki_random_seed(&random, seed, (uint64_t)profile);
    memset(scenario, 0, sizeof *scenario);
    scenario->seed = seed;
    scenario->profile = profile;
    scenario->deque = (enum eki_deque_kind)draw(&random, 2);
    scenario->buffer_slots = 2 + draw(&random, 7);
    scenario->payload_bytes = PICK(&random, 16, 40, 48, 48, 100);
    scenario->send_buffers = PICK(&random, 1, 1, 2, 4);
    scenario->message_slots = 1 + draw(&random, 4);
    scenario->check_words = PICK(&random, 1, 1, 3, 16);
    scenario->late_bytes = (size_t)PICK(&random, 0, 0, 100, 160, 400);
    scenario->has_server = draw(&random, 2) != 0;
    scenario->is_loaded = draw(&random, 4) != 0;
    /* Ranks are not known yet: a slow one may not be there. */
    draw_law(&random, 4, &scenario->law);
    switch (profile) {
    case EXPLORE_LARGE:
        draw_large(&random, scenario);
        break;
    case EXPLORE_STORM:
        draw_storm(&random, scenario);
        break;
    case EXPLORE_LEAN:
        draw_lean(&random, scenario);
        break;
    default:
        draw_small(&random, scenario);
    }
    draw_pinned(scenario);
    draw_tiles(scenario);
    draw_travel(scenario);
    turn_one_sided(scenario);
    draw_detectors(scenario);
    draw_saves(scenario);
    /* A rank that has left a phase of the counter on the only node may never
     * step its server again: then nobody takes what comes late. */
    if (explore_count_nodes(scenario) == 1)
        scenario->late_bytes = 0;
}

/* About MEAN. */
static uint64_t spread(struct explore *explore, const struct eki_sim_rank *rank,
                       uint64_t mean)
{
    const struct explore_law *law = &explore->scenario->law;
    uint64_t ns = mean;
    if (!law->is_fixed)
        ns = 1 + explore_below(explore, 2 * (int64_t)mean);
    if (law->tail_permille != 0 && explore_chance(explore, law->tail_permille))
        ns *= (uint64_t)law->tail;
    if (rank->number == law->slow_rank)
        ns *= (uint64_t)law->slow;
    return ns != 0 ? ns : 1;
}

/* The longer the rarer. */
static uint64_t look(struct explore *explore, const struct eki_sim_rank *rank,
                     int *waits, uint64_t first)
{
    const struct explore_law *law = &explore->scenario->law;
    int doublings = law->growth * (*waits < 6 ? *waits : 6);
    uint64_t ns = first << doublings;
    if (explore_chance(explore, law->pause_permille)) {
        explore_seen.pauses++;
        return spread(explore, rank, law->pause);
    }
    if (ns > 8 * law->most)
        ns = 8 * law->most;
    else
        ++*waits;
    return spread(explore, rank, ns);
}

/* When the thread of the next worker of the rank comes. */
static uint64_t arrive(struct explore *explore, const struct eki_sim_rank *rank)
{
    const struct explore_law *law = &explore->scenario->law;
    struct explore_member *member = &explore->members[rank->number];
    int percent = explore_plan(explore, rank)->absent_percent;
    if (member->arrivals++ != member->present &&
        explore_chance(explore, 10 * percent)) {
        explore_seen.absent++;
        return EKI_SIM_NEVER;
    }
    return explore_chance(explore, 200) ? spread(explore, rank, 4 * law->task)
                                        : spread(explore, rank, law->step);
}

/* How late the rank enters, after its own code. */
static uint64_t late_ns(struct explore *explore,
                        const struct eki_sim_rank *rank)
{
    const struct explore_iteration *plan = explore_plan(explore, rank);
    if (rank->state != EKI_SIM_SERIAL || !plan->is_late[rank->number])
        return 0;
    explore_seen.late_ranks++;
    return 1 + explore_below(explore, 2 * (int64_t)plan->late);
}

uint64_t explore_pace(void *context, struct eki_sim_rank *rank,
                      enum eki_sim_pace what, uint64_t ns)
{
    struct explore *explore = context;
    const struct explore_law *law = &explore->scenario->law;
    struct explore_member *member = &explore->members[rank->number];
    (void)ns;
    switch (what) {
    case EKI_PACE_STEP:
        explore_actor(explore, explore->worker)->waits = 0;
        /* Between claim and copy, say. */
        if (law->pause_permille != 0 &&
            explore_chance(explore, law->pause_permille)) {
            explore_seen.pauses++;
            return spread(explore, rank, law->pause);
        }
        return spread(explore, rank, law->step);
    case EKI_PACE_WAIT:
        return look(explore, rank,
                    &explore_actor(explore, explore->worker)->waits, law->wait);
    case EKI_PACE_ARRIVE:
        return arrive(explore, rank);
    case EKI_PACE_SERVER:
        return look(explore, rank, &member->waits, law->most / 2);
    case EKI_PACE_TAKE:
        return spread(explore, rank, law->server);
    case EKI_PACE_SERIAL:
        return spread(explore, rank, law->serial) + late_ns(explore, rank);
    case EKI_PACE_MESSAGE:
        return spread(explore, rank, law->message);
    case EKI_PACE_SEND:
        return law->send == 0 ? 0 : spread(explore, rank, law->send);
    }
    return 1;
}

uint64_t explore_deadline(const struct explore_scenario *scenario)
{
    const struct explore_law *law = &scenario->law;
    int workers = 0;
    for (int r = 0; r < scenario->ranks; r++)
        workers += scenario->workers[r];
    uint64_t look = law->pause + 16 * law->most;
    uint64_t late = 0;
    for (int i = 0; i < scenario->iterations; i++)
        if (scenario->iteration[i].late > late)
            late = scenario->iteration[i].late;
    uint64_t mean = look * (uint64_t)(4 + workers) + law->serial +
                    40 * law->task + 2 * late +
                    16 * (law->message + law->send + law->server);
    uint64_t ns = mean * (law->slow_rank >= 0 ? (uint64_t)law->slow : 1);
    /* Where many ranks talk through few buffers, much waits for much. */
    ns *= 1 + (uint64_t)scenario->ranks / 4;
    return ns * (law->tail_permille != 0 ? 8 : 1) + 4000000;
}
