/* SPDX-License-Identifier: BSD-3-Clause */
#include "count.h"
#include "common/message.h"

#include <stdlib.h>

struct counting {
    const struct count_record *record;
    struct tiles tiles;
    struct tally tally; /* for a record */
    struct job job;
    struct count here; /* sums over the workers of this rank */
};

double count_ns(const struct count_record *record, struct tally_sum sum)
{
    return (double)sum.integrals * record->integral_ns +
           (double)sum.tests * record->test_ns;
}

static void add(const struct count *mine, struct count *count)
{
    count->sum.integrals += mine->sum.integrals;
    count->sum.tests += mine->sum.tests;
    count->longest_ns = fmax(count->longest_ns, mine->longest_ns);
}

static void record_task(ek_worker *worker, const struct counting *counting,
                        int64_t task)
{
    struct count one = {.sum = tally_task(&counting->tally, task)};
    one.longest_ns = count_ns(counting->record, one.sum);
    ek_set_cost(worker, one.longest_ns * 1e-9);
    add(&one, ek_my_data(worker));
}

static int count_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    const struct counting *counting = context;
    const int64_t task = *(const int64_t *)payload;
    (void)bytes;
    if (tiles_is_null(&counting->tiles, task))
        ek_discard(worker);
    else if (counting->record->file)
        record_task(worker, counting, task);
    return 0;
}

static void *mine_create(int here, void *context)
{
    (void)here;
    (void)context;
    return allocate(1, sizeof(struct count));
}

static void mine_end(void *data, int here, void *context)
{
    struct counting *counting = context;
    (void)here;
    add(data, &counting->here);
}

static void mine_destroy(void *data, void *context)
{
    (void)context;
    free(data);
}

static ek_status run(struct counting *counting, struct count *count)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    MPI_Comm comm = counting->job.setup.comm;
    ek_status status = job_run(&counting->job, &report);
    if (status != EK_OK)
        return status;
    count->tasks = report.tasks;
    count->non_null = report.tasks - report.null_tasks;
    count->workers = job_workers(&counting->job);
    count->rate = (double)report.tasks / (report.wall_s * count->workers);
    MPI_Allreduce(&counting->here.sum.integrals, &count->sum.integrals, 1,
                  MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(&counting->here.sum.tests, &count->sum.tests, 1, MPI_INT64_T,
                  MPI_SUM, comm);
    MPI_Allreduce(&counting->here.longest_ns, &count->longest_ns, 1, MPI_DOUBLE,
                  MPI_MAX, comm);
    return EK_OK;
}

ek_status count_tasks(const struct job_setup *setup, const struct chain *chain,
                      const struct fock_options *options,
                      const struct count_record *record, struct count *count)
{
    struct counting counting = {.record = record};
    tiles_make(chain, options->width, options->screen, &counting.tiles);
    struct job_options job_options = {.name = "count",
                                      .function = "quartet",
                                      .total = tiles_tasks(&counting.tiles),
                                      .task = count_task,
                                      .context = &counting};
    ek_options collection = EK_OPTIONS_INIT;
    if (record->file) {
        tally_make(chain, &counting.tiles, &counting.tally);
        collection.record = record->file;
        collection.worker_create = mine_create;
        collection.worker_end = mine_end;
        collection.worker_destroy = mine_destroy;
        collection.worker_context = &counting;
    }
    ek_status status = job_open(setup, &job_options, collection, &counting.job);
    if (status == EK_OK)
        status = run(&counting, count);
    job_close(&counting.job);
    tally_free(&counting.tally);
    tiles_free(&counting.tiles);
    return status;
}
