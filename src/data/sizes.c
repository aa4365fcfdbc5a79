/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of what has travelled, per task, where a recording asks for them. */
#include "data/internal.h"

#include <stdlib.h>

void eki_carrier_note(struct eki_carrier *carrier, uint64_t id, int64_t input,
                      int64_t result)
{
    if (!eki_grow(&carrier->sizes, carrier->size_count, &carrier->size_room, 64,
                  sizeof *carrier->sizes))
        return; /* the record does not know this one */
    carrier->sizes[carrier->size_count++] =
        (struct eki_data_size){id, (uint32_t)input, (uint32_t)result};
}

static int compare_ids_of_sizes(const void *a, const void *b)
{
    const struct eki_data_size *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

int64_t eki_data_sizes(const struct ek_worker *worker,
                       const struct eki_data_size **sizes)
{
    const struct eki_data *data = eki_data_of(worker->engine);
    if (!data)
        return 0;
    struct eki_carrier *carrier = &data->carriers[worker->here];
    if (carrier->size_count > 1)
        qsort(carrier->sizes, (size_t)carrier->size_count,
              sizeof *carrier->sizes, compare_ids_of_sizes);
    *sizes = carrier->sizes;
    return carrier->size_count;
}

const struct eki_data_size *eki_data_size_of(const struct eki_data_size *sizes,
                                             int64_t count, uint64_t id)
{
    const struct eki_data_size wanted = {.id = id};
    return count > 0 ? bsearch(&wanted, sizes, (size_t)count, sizeof *sizes,
                               compare_ids_of_sizes)
                     : NULL;
}
