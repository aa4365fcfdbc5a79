/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of tasks in the memory of the worker that ran the task. */
#ifndef EKI_COLLECTION_RESULTS_H
#define EKI_COLLECTION_RESULTS_H

#include "collection/collection.h"

#include <evenkeel_loop.h>

/* Up to the next multiple of 8. */
static inline size_t eki_in_units(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* A result, and of which task. */
struct eki_result {
    int64_t index;
    int64_t function;
    size_t bytes;
    unsigned char result[]; /* and up to a multiple of 8 */
};

static inline struct eki_result *
eki_result_at(const struct eki_results *results, size_t at)
{
    return (struct eki_result *)(void *)(results->bytes + at);
}

/* From one to the next. */
static inline size_t eki_result_bytes(size_t bytes)
{
    return eki_in_units(sizeof(struct eki_result) + bytes);
}

#endif
