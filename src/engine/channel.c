/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine.h"

const struct eki_verb *eki_engine_verb(const struct eki_engine *engine,
                                       int kind)
{
    static const struct eki_verb unknown = {.name = "unknown"};
    int channel = EKI_CHANNEL_OF(kind), verb = EKI_VERB_OF(kind);
    const struct eki_protocol *protocol = channel > 0 && channel < EKI_CHANNELS
                                              ? engine->channels[channel]
                                              : NULL;
    return protocol && verb < protocol->ops->verb_count
               ? &protocol->ops->verbs[verb]
               : &unknown;
}
