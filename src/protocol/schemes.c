/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/schemes.h"

#include "protocol/counter.h"
#include "protocol/hands.h"
#include "protocol/node_thief.h"
#include "protocol/one_sided.h"
#include "protocol/requests.h"
#include "steal/dvs.h"

#define COUNTING (1u << EKI_DETECTOR_COUNTING)
#define ALL_DETECTORS \
    (COUNTING | 1u << EKI_DETECTOR_FRANCEZ | 1u << EKI_DETECTOR_ACKNOWLEDGED)

static const char *counter_unsuitable(const struct eki_engine *engine)
{
    return eki_engine_protocol(engine, &eki_counter_ops)
               ? NULL
               : "the engine was made without a counter (setup.has_counter)";
}

static const char *dvs_unsuitable(const struct eki_engine *engine)
{
    const struct eki_dvs_option *option = &engine->setup.dvs;
    int workers = engine->topology->node_workers;
    if (workers > eki_mesh_room(option))
        return "option dvs has fewer cells (columns x rows) than a node has "
               "workers";
    return option->source < workers
               ? NULL
               : "the source of option dvs is none of the workers of a node";
}

/* The figures are those of docs/results/stealing.md, on diamonds. */
static void say_unsuited(const struct eki_topology *topology)
{
    static _Atomic bool is_told;
    if (topology->rank == 0 && topology->node_workers > EKI_DVS_SUITED &&
        eki_is_untold(&is_told))
        eki_log(EK_LEVEL_WARN, topology->rank, topology->size, "steal",
                "steal=dvs suits nodes of up to %d workers, and this one has "
                "%d: on 256 simulated workers it reached 62 %% of the ideal "
                "speed, and steal=node 93 %%",
                EKI_DVS_SUITED, topology->node_workers);
}

/* The worker of this rank that begins with most tasks, by its local number. */
static int fullest_worker(const struct eki_engine *engine)
{
    int fullest = 0;
    int64_t most = -1;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct eki_local *local = &engine->workers[here]->local;
        int64_t tasks =
            eki_local_slots(local, local->seed_base, local->seed_top);
        if (tasks > most)
            fullest = here;
        most = tasks > most ? tasks : most;
    }
    return engine->topology->node_first + fullest;
}

/* Lists of victims around the source, which is the worker of this rank with the
 * most tasks where the node has no other rank and nothing else is said. */
static bool arm_dvs(struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    const struct eki_dvs_option *option = &engine->setup.dvs;
    struct eki_mesh mesh;
    int source = (int)option->source;
    if (source < 0 && topology->node_ranks == 1)
        source = fullest_worker(engine);
    say_unsuited(topology);
    if (!engine->lists)
        engine->lists =
            eki_alloc((size_t)topology->workers_here, sizeof *engine->lists);
    if (!engine->lists ||
        !eki_mesh_lay(&mesh, option, topology->node_workers, source))
        return false;
    for (int here = 0; here < topology->workers_here; here++) {
        struct eki_thief *thief = &engine->workers[here]->search.thief;
        eki_dvs_list(&mesh, thief->local, &engine->lists[here]);
        thief->list = &engine->lists[here];
        thief->escapes = option->escape != 0;
    }
    eki_mesh_free(&mesh);
    return true;
}

/* A row of those where a node asks, and its workers steal within it. */
#define BY_NODE(name, how, seen_by, why)                                  \
    {                                                                     \
        .policy = (name), .victims = eki_victims_node,                    \
        .elsewhere = &eki_node_thief_ops, .detectors = (seen_by),         \
        .undetected = (why), .is_plain = true, .arm = eki_node_thief_arm, \
        .seeker = &(how)                                                  \
    }
/* ... whose requests may wait for long. */
#define BY_PATIENCE(name, how)                                     \
    BY_NODE(name, how, COUNTING | 1u << EKI_DETECTOR_ACKNOWLEDGED, \
            "requests that are never denied may be answered after the vote")

/* A row of those whose thieves work on a victim's memory. */
#define ONE_SIDED(name)                                                  \
    {                                                                    \
        .policy = (name), .victims = eki_victims_worker,                 \
        .elsewhere = &eki_one_sided_ops, .detectors = COUNTING,          \
        .undetected = "tasks are claimed, and arrive, without a message" \
                      " that a node could wait for",                     \
        .is_plain = true, .serves_first = true                           \
    }

/* One row per policy. */
static const struct eki_scheme schemes[] = {
    {.policy = EK_STEAL_NONE, .detectors = ALL_DETECTORS},
    {.policy = EK_STEAL_RANDOM,
     .victims = eki_victims_random,
     .elsewhere = &eki_requests_ops,
     .detectors = ALL_DETECTORS},
    {.policy = EK_STEAL_NEAR,
     .victims = eki_victims_near,
     .elsewhere = &eki_requests_ops,
     .detectors = ALL_DETECTORS},
    {.policy = EK_STEAL_NODE,
     .victims = eki_victims_node,
     .detectors = ALL_DETECTORS},
    {.policy = EK_STEAL_COUNTER,
     .elsewhere = &eki_counter_ops,
     .detectors = COUNTING,
     .undetected = "numbers are drawn, and copies of tasks run, without a "
                   "request that a node could wait for",
     .unsuitable = counter_unsuitable},
    {.policy = EK_STEAL_HPDC12,
     .victims = eki_victims_worker,
     .elsewhere = &eki_requests_ops,
     .detectors = ALL_DETECTORS,
     .publishing = &eki_publishing_half,
     .is_plain = true},
    {.policy = EK_STEAL_HPDC12_ONE,
     .victims = eki_victims_worker,
     .elsewhere = &eki_requests_ops,
     .detectors = ALL_DETECTORS,
     .publishing = &eki_publishing_half_or_one,
     .is_plain = true},
    {.policy = EK_STEAL_DVS,
     .victims = eki_victims_dvs,
     .detectors = ALL_DETECTORS,
     .is_plain = true,
     .unsuitable = dvs_unsuitable,
     .arm = arm_dvs},
    {.policy = EK_STEAL_LEAPFROG,
     .victims = eki_victims_leapfrog,
     .detectors = ALL_DETECTORS,
     .is_plain = true,
     .notes_thieves = true},
    BY_NODE(EK_STEAL_LOAD, eki_seeker_load, ALL_DETECTORS, NULL),
    BY_NODE(EK_STEAL_LOAD_READ, eki_seeker_load_read, ALL_DETECTORS, NULL),
    BY_PATIENCE(EK_STEAL_SUCCESS, eki_seeker_success),
    BY_PATIENCE(EK_STEAL_SUCCESS_ACYCLIC, eki_seeker_acyclic),
    BY_PATIENCE(EK_STEAL_LIFELINE, eki_seeker_lifeline),
    ONE_SIDED(EK_STEAL_SWS),
    ONE_SIDED(EK_STEAL_SDC)};

const struct eki_scheme *eki_scheme_of(ek_steal_policy policy)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if ((int)schemes[i].policy == eki_unchunked((int)policy))
            return &schemes[i];
    }
    return &schemes[0];
}

bool eki_scheme_is_one_sided(ek_steal_policy policy)
{
    return eki_scheme_of(policy)->elsewhere == &eki_one_sided_ops;
}

ek_steal_policy eki_scheme_between_nodes(const struct eki_engine *engine,
                                         ek_steal_policy policy)
{
    return !eki_scheme_is_one_sided(policy) ||
                   eki_engine_protocol(engine, &eki_one_sided_ops)
               ? policy
               : EK_STEAL_RANDOM;
}

const char *eki_scheme_undetected(const struct eki_scheme *scheme, int detector,
                                  bool has_data)
{
    if (!(scheme->detectors >> detector & 1))
        return scheme->undetected;
    return detector == EKI_DETECTOR_FRANCEZ && has_data
               ? "a task may go home to its data, unasked, after the vote"
               : NULL;
}

ek_status eki_schemes_add(struct eki_engine *engine)
{
    if (engine->setup.has_counter)
        EKI_TRY(eki_counter_add(engine));
    if (engine->topology->workers > 1)
        EKI_TRY(eki_hands_add(engine));
    if (engine->alone)
        return EK_OK;
    EKI_TRY(eki_requests_add(engine));
    if (engine->setup.rma)
        EKI_TRY(eki_one_sided_add(engine));
    return eki_node_thief_add(engine);
}
