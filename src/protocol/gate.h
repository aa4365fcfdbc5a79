/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate: no task of a rank begins before all ranks of its node are in the
 * process, for tasks that read what other ranks have written before.
 */
#ifndef EKI_PROTOCOL_GATE_H
#define EKI_PROTOCOL_GATE_H

#include "engine/engine.h"

/* From the next phase on; once more is harmless.  EK_ERR_NOMEM. */
ek_status eki_gate_add(struct eki_engine *engine);

#endif
