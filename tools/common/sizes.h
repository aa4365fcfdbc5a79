/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sizes: bytes of the data that travels with tasks, drawn or of a record.
 *
 * A function that returns false has written a message.
 */
#ifndef COMMON_SIZES_H
#define COMMON_SIZES_H

#include "workload.h"

#include "record/record.h"

/* Draw those of all tasks as source->bytes says, which is not NULL. */
bool sizes_draw(const struct workload_source *source, struct workload *workload,
                struct message *message);

struct sizes;

/* Begin with those of a record; NULL: none of its tasks has data. */
struct sizes *sizes_open(const struct eki_record *record,
                         struct workload *workload);
/* Task K of the workload is TASK in one of the iterations. */
void sizes_note(struct sizes *sizes, int64_t k,
                const struct eki_record_task *task);
/* Guess those of tasks that never travelled: the means of their function, or
 * the most that it allows.  Frees; NULL is accepted. */
void sizes_close(struct sizes *sizes);

/* Tasks of the workload have no data. */
void sizes_free(struct workload *workload);

#endif
