/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/schemes.h"

#include "protocol/counter.h"
#include "protocol/hands.h"
#include "protocol/requests.h"

#define COUNTING (1u << EKI_DETECTOR_COUNTING)

static const char *counter_unsuitable(const struct eki_engine *engine)
{
    return eki_engine_protocol(engine, &eki_counter_ops)
               ? NULL
               : "the engine was made without a counter (setup.has_counter)";
}

/* One row per policy. */
static const struct eki_scheme schemes[] = {
    {.policy = EK_STEAL_NONE, .detectors = COUNTING},
    {.policy = EK_STEAL_RANDOM,
     .victims = eki_victims_random,
     .elsewhere = &eki_requests_ops,
     .detectors = COUNTING},
    {.policy = EK_STEAL_NEAR,
     .victims = eki_victims_near,
     .elsewhere = &eki_requests_ops,
     .detectors = COUNTING},
    {.policy = EK_STEAL_NODE,
     .victims = eki_victims_node,
     .detectors = COUNTING},
    {.policy = EK_STEAL_COUNTER,
     .elsewhere = &eki_counter_ops,
     .detectors = COUNTING,
     .unsuitable = counter_unsuitable},
    {.policy = EK_STEAL_HPDC12,
     .victims = eki_victims_worker,
     .elsewhere = &eki_requests_ops,
     .detectors = COUNTING,
     .publishing = &eki_publishing_half,
     .is_plain = true},
    {.policy = EK_STEAL_HPDC12_ONE,
     .victims = eki_victims_worker,
     .elsewhere = &eki_requests_ops,
     .detectors = COUNTING,
     .publishing = &eki_publishing_half_or_one,
     .is_plain = true}};

const struct eki_scheme *eki_scheme_of(ek_steal_policy policy)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if ((int)schemes[i].policy == eki_unchunked((int)policy))
            return &schemes[i];
    }
    return &schemes[0];
}

ek_status eki_schemes_add(struct eki_engine *engine)
{
    if (engine->setup.has_counter)
        EKI_TRY(eki_counter_add(engine));
    if (engine->topology->workers > 1)
        EKI_TRY(eki_hands_add(engine));
    return engine->alone ? EK_OK : eki_requests_add(engine);
}
