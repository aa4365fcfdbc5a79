/* SPDX-License-Identifier: BSD-3-Clause */
/* schemes: the table of steal policies. */
#ifndef EKI_PROTOCOL_SCHEMES_H
#define EKI_PROTOCOL_SCHEMES_H

#include "engine/engine.h"

/* The scheme of a policy, with a chunk or without; one that does not exist
 * steals from nobody. */
const struct eki_scheme *eki_scheme_of(ek_steal_policy policy);
/* Whether its thieves of other nodes work on a victim's memory. */
bool eki_scheme_is_one_sided(ek_steal_policy policy);
/* What POLICY acts as in this job, of several nodes or one: if it needs
 * exported memory, and there is none, as `random`. */
ek_steal_policy eki_scheme_between_nodes(const struct eki_engine *engine,
                                         ek_steal_policy policy);
static inline ek_steal_policy
eki_scheme_instead(const struct eki_engine *engine, ek_steal_policy policy)
{
    return engine->alone ? policy : eki_scheme_between_nodes(engine, policy);
}
/* Why DETECTOR does not see the end of a process of SCHEME, whose tasks have
 * data or not; NULL: it does. */
const char *eki_scheme_undetected(const struct eki_scheme *scheme, int detector,
                                  bool has_data);

/* Add the protocols that any of the policies may need in this job.  After
 * eki_engine_create(), which the engine's destruction undoes. */
ek_status eki_schemes_add(struct eki_engine *engine);

#endif
