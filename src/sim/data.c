/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that travels with tasks: callbacks take no time here. */
#include "sim/parts.h"

static size_t pack_input(void *user, const ek_data_ops *ops,
                         const ek_data_task *task, void *buffer)
{
    (void)user;
    return ops->pack_input(task, buffer, ops->context);
}

static void *unpack_input(void *user, const ek_data_ops *ops,
                          struct ek_worker *worker, const ek_data_task *task,
                          void *buffer, size_t bytes)
{
    (void)user, (void)worker;
    return ops->unpack_input(task, buffer, bytes, ops->context);
}

static size_t pack_result(void *user, const ek_data_ops *ops,
                          struct ek_worker *worker, const ek_data_task *task,
                          void *object, void *buffer)
{
    (void)user, (void)worker;
    return ops->pack_result(task, object, buffer, ops->context);
}

static void unpack_result(void *user, const ek_data_ops *ops,
                          const ek_data_task *task, const void *buffer,
                          size_t bytes)
{
    (void)user;
    ops->unpack_result(task, buffer, bytes, ops->context);
}

static void release(void *user, const ek_data_ops *ops,
                    const ek_data_task *task)
{
    (void)user;
    ops->release(task, ops->context);
}

ek_status eki_sim_open_data(const struct eki_sim *sim,
                            const struct eki_sim_rank *rank)
{
    static const struct eki_data_calls calls = {
        pack_input, unpack_input, pack_result, unpack_result, release};
    const struct eki_data_setup setup = {
        .calls = &calls,
        .budget_bytes = sim->setup.data.budget_bytes,
        .has_bytes = sim->setup.data.has_bytes};
    return eki_data_join(rank->engine, &setup);
}

enum eki_data_begun eki_sim_begin_data(struct eki_sim *sim,
                                       struct eki_sim_worker *worker)
{
    enum eki_data_begun begun =
        eki_data_begin(worker->worker, eki_sim_clock(sim, worker->rank));
    /* For what is staged, too. */
    if (worker->worker->batch.wants_server)
        eki_sim_want(sim, worker);
    return begun;
}
