/* SPDX-License-Identifier: BSD-3-Clause */
#include "count.h"

static int count_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    const struct tiles *tiles = context;
    const int64_t task = *(const int64_t *)payload;
    (void)bytes;
    if (tiles_is_null(tiles, task))
        ek_discard(worker);
    return 0;
}

static ek_status run(struct job *job, struct count *count)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_status status = job_run(job, &report);
    if (status != EK_OK)
        return status;
    count->tasks = report.tasks;
    count->non_null = report.tasks - report.null_tasks;
    count->workers = job_workers(job);
    count->rate = (double)report.tasks / (report.wall_s * count->workers);
    return EK_OK;
}

ek_status count_tasks(const struct job_setup *setup, const struct chain *chain,
                      const struct fock_options *options, struct count *count)
{
    struct tiles tiles;
    struct job job;
    tiles_make(chain, options->width, options->screen, &tiles);
    struct job_options job_options = {.name = "count",
                                      .function = "quartet",
                                      .total = tiles_tasks(&tiles),
                                      .task = count_task,
                                      .context = &tiles};
    ek_options collection = EK_OPTIONS_INIT;
    ek_status status = job_open(setup, &job_options, collection, &job);
    if (status == EK_OK)
        status = run(&job, count);
    job_close(&job);
    tiles_free(&tiles);
    return status;
}
