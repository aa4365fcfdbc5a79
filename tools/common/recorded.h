/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorded: the tasks of iterations of a record, told apart by their ids.
 */
#ifndef COMMON_RECORDED_H
#define COMMON_RECORDED_H

#include "workload.h"

/* Read what SOURCE says into WORKLOAD: all but what changes.  To be freed, also
 * on failure. */
bool recorded_read(const struct workload_source *source,
                   struct workload *workload, struct message *message);

#endif
