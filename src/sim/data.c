/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that travels with tasks: callbacks take no time here. */
#include "sim/parts.h"

ek_status eki_sim_open_data(const struct eki_sim *sim,
                            const struct eki_sim_rank *rank)
{
    const struct eki_data_setup setup = {
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
