/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/count.h"

#include "cli/message.h"

#include <evenkeel_worker.h>

#include <stdio.h>
#include <stdlib.h>

/* Of the tasks of a worker, of a rank or of all. */
struct sum {
    const struct count_options *options;
    struct count_work work;
    double longest_ns; /* task */
};

struct counting {
    struct job job;
    struct sum here; /* of this rank */
};

static double ns_of(const struct count_options *options,
                    const struct count_work *work)
{
    double ns = 0;
    for (int i = 0; i < COUNT_KINDS; i++)
        ns += (double)work->units[i] * options->unit_ns[i];
    return ns;
}

static void add(struct sum *sum, const struct count_work *work,
                double longest_ns)
{
    for (int i = 0; i < COUNT_KINDS; i++)
        sum->work.units[i] += work->units[i];
    if (longest_ns > sum->longest_ns)
        sum->longest_ns = longest_ns;
}

void count_add(ek_worker *worker, const struct count_work *work)
{
    struct sum *mine = ek_worker_data(worker);
    double ns = ns_of(mine->options, work);
    ek_set_cost(worker, ns * 1e-9);
    add(mine, work, ns);
}

static void *mine_create(int here, void *context)
{
    const struct counting *counting = context;
    struct sum *mine = allocate(1, sizeof *mine);
    (void)here;
    mine->options = counting->here.options;
    return mine;
}

static void mine_end(void *data, int here, void *context)
{
    const struct sum *mine = data;
    struct counting *counting = context;
    (void)here;
    add(&counting->here, &mine->work, mine->longest_ns);
}

static void mine_destroy(void *data, void *context)
{
    (void)context;
    free(data);
}

static struct sum sum_over_ranks(const struct counting *counting)
{
    MPI_Comm comm = counting->job.setup.comm;
    struct sum sum = counting->here;
    MPI_Allreduce(counting->here.work.units, sum.work.units, COUNT_KINDS,
                  MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(&counting->here.longest_ns, &sum.longest_ns, 1, MPI_DOUBLE,
                  MPI_MAX, comm);
    return sum;
}

static void print(const struct counting *counting,
                  const struct figures *figures)
{
    const struct count_options *options = counting->here.options;
    const struct sum sum = sum_over_ranks(counting);
    int workers = job_workers(&counting->job);
    if (!is_first_rank())
        return;
    printf("%lld tasks, %lld non-null, %d workers, %.2e tasks/s per worker\n",
           (long long)figures->tasks,
           (long long)(figures->tasks - figures->null_tasks), workers,
           figures->tasks / (figures->wall_s * workers));
    if (options->has_work)
        printf("%lld %s, %lld %s: %.6g s, the longest task %.6g s\n",
               (long long)sum.work.units[0], options->kinds[0],
               (long long)sum.work.units[1], options->kinds[1],
               ns_of(options, &sum.work) * 1e-9, sum.longest_ns * 1e-9);
}

int count_run(const struct job_setup *setup,
              const struct count_options *options)
{
    struct counting counting = {.here = {.options = options}};
    const struct job_options job_options = {.name = "count",
                                            .function = options->function,
                                            .total = options->total,
                                            .task = options->task,
                                            .context = options->context};
    struct figures figures;
    ek_options collection = EK_OPTIONS_INIT;
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = mine_create;
    hooks.end = mine_end;
    hooks.destroy = mine_destroy;
    hooks.context = &counting;
    collection.hooks = &hooks;
    ek_status status = job_open(setup, &job_options, collection, &counting.job);
    if (status == EK_OK)
        status = job_run(&counting.job, &figures);
    if (status == EK_OK)
        print(&counting, &figures);
    job_close(&counting.job);
    return status == EK_OK ? EXIT_GOOD : complain_status(status);
}
