/* SPDX-License-Identifier: BSD-3-Clause */
#include "task.h"

#include <evenkeel_worker.h>

#include <stdlib.h>

/* A tile to be multiplied. */
struct factor {
    ek_tiles *tiles;
    int64_t tile, length;
    double *values;
    bool is_late; /* it is got when it is needed */
    ek_transfer transfer;
};

struct pair {
    struct product product;
    struct factor a, b;
};

/* How a rank's tiles of a store come: in memory that is shared at once, so that
 * they had better come last, into caches that still have them when they are
 * multiplied; others by messages, ahead. */
enum reach {
    REACH_UNKNOWN,
    REACH_NEAR,
    REACH_FAR
};

/* What each worker has to itself. */
struct mine {
    struct pair pair[PREFETCH_MAX + 1];
    struct kernel_room room;
    enum reach *reach_of_a, *reach_of_b; /* of each rank */
};

static void *mine_create(int here, void *context)
{
    const struct tensor_job *job = context;
    struct mine *mine = allocate(1, sizeof *mine);
    int size;
    (void)here;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine->reach_of_a = allocate((size_t)size, sizeof *mine->reach_of_a);
    mine->reach_of_b = allocate((size_t)size, sizeof *mine->reach_of_b);
    for (int p = 0; p < job->pairs; p++) {
        mine->pair[p].a.values =
            allocate((size_t)job->contraction->a.longest, sizeof(double));
        mine->pair[p].b.values =
            allocate((size_t)job->contraction->b.longest, sizeof(double));
    }
    kernel_room_make(&job->kernel, &mine->room);
    return mine;
}

static void mine_destroy(void *data, void *context)
{
    struct mine *mine = data;
    (void)context;
    for (int p = 0; p <= PREFETCH_MAX; p++) {
        free(mine->pair[p].a.values);
        free(mine->pair[p].b.values);
    }
    kernel_room_free(&mine->room);
    free(mine->reach_of_a);
    free(mine->reach_of_b);
    free(mine);
}

/* The first tile of a rank and a store tells how the others of both come: no
 * cache has it. */
static ek_status start_factor(ek_worker *worker, struct factor *factor,
                              enum reach *reach)
{
    enum reach *of = &reach[ek_tiles_owner(factor->tiles, factor->tile)];
    factor->is_late = *of == REACH_NEAR;
    if (factor->is_late)
        return EK_OK;
    ek_status status =
        ek_tiles_get_start(worker, factor->tiles, factor->tile, factor->values,
                           factor->length, &factor->transfer);
    if (status == EK_OK && *of == REACH_UNKNOWN)
        *of = factor->transfer.number == 0 ? REACH_NEAR : REACH_FAR;
    return status;
}

static ek_status end_factor(ek_worker *worker, struct factor *factor)
{
    return factor->is_late ? ek_tiles_get(worker, factor->tiles, factor->tile,
                                          factor->values, factor->length)
                           : ek_tiles_wait(worker, &factor->transfer);
}

static ek_status start_pair(const struct tensor_job *job, ek_worker *worker,
                            const struct product *product, struct mine *mine,
                            struct pair *pair)
{
    const struct expression *e = &job->contraction->expression;
    pair->product = *product;
    pair->a.tiles = job->operands->a;
    pair->b.tiles = job->operands->b;
    pair->a.tile = product->a;
    pair->b.tile = product->b;
    pair->a.length = product_entries(product, &e->a);
    pair->b.length = product_entries(product, &e->b);
    ek_status status = start_factor(worker, &pair->a, mine->reach_of_a);
    return status == EK_OK ? start_factor(worker, &pair->b, mine->reach_of_b)
                           : status;
}

/* Those that are waited for come first. */
static ek_status end_pair(ek_worker *worker, struct pair *pair)
{
    struct factor *first = pair->a.is_late ? &pair->b : &pair->a;
    struct factor *last = pair->a.is_late ? &pair->a : &pair->b;
    ek_status status = end_factor(worker, first);
    return status == EK_OK ? end_factor(worker, last) : status;
}

/* Lets messages through, and what was started leave. */
static void poll(void *worker)
{
    ek_poll(worker);
}

/* Multiply all pairs of a task; LAST is one of them. */
static ek_status sum_products(const struct tensor_job *job, ek_worker *worker,
                              int64_t task, struct mine *mine,
                              const struct product **last)
{
    struct products products;
    int started = 0, done = 0;
    products_begin(job->contraction, task, &products);
    for (;;) {
        while (started - done < job->pairs && products_next(&products)) {
            ek_status status = start_pair(job, worker, &products.product, mine,
                                          &mine->pair[started++ % job->pairs]);
            if (status != EK_OK)
                return status;
        }
        if (done == started)
            return EK_OK;
        struct pair *pair = &mine->pair[done % job->pairs];
        ek_status status = end_pair(worker, pair);
        if (status != EK_OK)
            return status;
        poll(worker);
        kernel_multiply(&job->kernel, &pair->product, pair->a.values,
                        pair->b.values, done++ == 0, &mine->room, poll, worker);
        *last = &pair->product;
    }
}

static int run_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    const struct tensor_job *job = context;
    const int64_t task = *(const int64_t *)payload;
    const struct product *last = NULL;
    (void)bytes;
    if (contraction_is_null(job->contraction, task)) {
        ek_discard(worker); /* gone from all later iterations */
        return 0;
    }
    struct mine *mine = ek_worker_data(worker);
    ek_status status = sum_products(job, worker, task, mine, &last);
    if (status != EK_OK)
        return status;
    const double *sum = kernel_result(&job->kernel, last, &mine->room);
    return ek_tiles_accumulate(
        worker, job->operands->c, last->c, 1, sum,
        product_entries(last, &job->contraction->expression.c));
}

/* Each rank adds the tasks of its tiles of C, of which none is null. */
static ek_status add_at_owner(struct job *job, void *context)
{
    const struct tensor_job *of = context;
    const struct contraction *contraction = of->contraction;
    int64_t tasks = contraction->task == TASK_PRODUCT ? contraction->terms : 1;
    int rank;
    ek_status status = EK_OK;
    MPI_Comm_rank(job->setup.comm, &rank);
    for (int64_t tile = 0; tile < contraction->c.tiles; tile++) {
        if (ek_tiles_owner(of->operands->c, tile) != rank)
            continue;
        int64_t first = contraction_first_task(contraction, tile);
        for (int64_t task = first; status == EK_OK && task < first + tasks;
             task++) {
            if (!contraction_is_null(contraction, task))
                status = ek_add_task(job->tasks, job->function, &task,
                                     sizeof task, NULL);
        }
    }
    return status;
}

ek_status tensor_job_open(const struct job_setup *setup,
                          const struct contraction *contraction,
                          const struct operands *operands,
                          const struct task_options *options,
                          struct tensor_job *job)
{
    bool is_at_owner = options->has_owner_start && !setup->mode.has_nulls;
    struct job_options job_options = {
        .name = "contraction",
        .function = contraction->task == TASK_TILE ? "tile" : "product",
        .total = contraction->tasks,
        .task = run_task,
        .add = is_at_owner ? add_at_owner : NULL,
        .context = job};
    ek_options collection = EK_OPTIONS_INIT;
    *job = (struct tensor_job){.contraction = contraction,
                               .operands = operands,
                               .pairs = options->prefetch + 1};
    kernel_make(contraction, &job->kernel);
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = mine_create;
    hooks.destroy = mine_destroy;
    hooks.context = job;
    collection.hooks = &hooks;
    return job_open(setup, &job_options, collection, &job->job);
}

void tensor_job_close(struct tensor_job *job)
{
    job_close(&job->job);
}

int64_t tensor_job_bytes(const struct contraction *contraction,
                         const struct task_options *options)
{
    int64_t pair = contraction->a.longest + contraction->b.longest;
    return (int64_t)sizeof(double) *
           (pair * (options->prefetch + 2) + 2 * contraction->c.longest);
}
