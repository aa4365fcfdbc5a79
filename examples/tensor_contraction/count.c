/* SPDX-License-Identifier: BSD-3-Clause */
#include "count.h"

#include "common/count.h"

static int count_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    const int64_t task = *(const int64_t *)payload;
    const struct work work = contraction_work(context, task);
    (void)bytes;
    if (work.products == 0)
        ek_discard(worker);
    else
        count_add(worker, &(struct count_work){{work.flop, work.bytes}});
    return 0;
}

int count_tasks(const struct job_setup *setup,
                const struct contraction *contraction,
                const struct count_cost *cost)
{
    const bool is_product = contraction->task == TASK_PRODUCT;
    const struct count_options count = {
        .function = is_product ? "product" : "tile",
        .total = contraction->tasks,
        .task = count_task,
        .context = (void *)contraction,
        .has_work = true,
        .kinds = {"operations", "bytes"},
        .unit_ns = {cost->flop_ns, cost->byte_ns}};
    return count_run(setup, &count);
}
