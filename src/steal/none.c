/* SPDX-License-Identifier: BSD-3-Clause */
/* Victim policy `none`, and the choice of a policy. */
#include "steal/steal.h"

static struct eki_victim choose(struct eki_thief *thief)
{
    (void)thief;
    return (struct eki_victim){-1, -1};
}

const struct eki_victim_policy eki_victims_none = {"none", choose};

const struct eki_victim_policy *eki_victim_policy_of(ek_steal_policy policy)
{
    switch (policy) {
    case EK_STEAL_RANDOM:
        return &eki_victims_random;
    case EK_STEAL_NEAR:
        return &eki_victims_near;
    case EK_STEAL_NONE:
    case EK_STEAL_COUNTER:
        break;
    }
    return &eki_victims_none;
}
