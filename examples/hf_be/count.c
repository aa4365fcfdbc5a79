/* SPDX-License-Identifier: BSD-3-Clause */
#include "count.h"

#include "common/count.h"
#include "tally.h"

struct counted {
    struct tiles tiles;
    struct tally tally; /* for a record */
    bool has_tally;
};

static int count_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    const struct counted *counted = context;
    const int64_t task = *(const int64_t *)payload;
    (void)bytes;
    if (tiles_is_null(&counted->tiles, task)) {
        ek_discard(worker);
    } else if (counted->has_tally) {
        const struct tally_sum sum = tally_task(&counted->tally, task);
        count_add(worker, &(struct count_work){{sum.integrals, sum.tests}});
    }
    return 0;
}

int count_tasks(const struct job_setup *setup, const struct chain *chain,
                const struct fock_options *options,
                const struct count_cost *cost)
{
    struct counted counted = {.has_tally = setup->record != NULL};
    tiles_make(chain, options->width, options->screen, true, &counted.tiles);
    if (counted.has_tally)
        tally_make(chain, &counted.tiles, &counted.tally);
    const struct count_options count = {
        .function = "quartet",
        .total = tiles_tasks(&counted.tiles),
        .task = count_task,
        .context = &counted,
        .has_work = counted.has_tally,
        .kinds = {"integrals", "tests"},
        .unit_ns = {cost->integral_ns, cost->test_ns}};
    int status = count_run(setup, &count);
    tally_free(&counted.tally);
    tiles_free(&counted.tiles);
    return status;
}
