/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines whose tasks may have data. */
#include "data/internal.h"

bool eki_data_has_joined(const struct eki_engine *engine)
{
    return engine->channels[EKI_CHANNEL_DATA] != NULL;
}

ek_status eki_data_join(struct eki_engine *engine,
                        const struct eki_data_setup *setup)
{
    int workers = engine->topology->workers_here;
    struct eki_data *data = eki_alloc_lines(sizeof *data);
    struct eki_carrier *carriers =
        eki_alloc_lines((size_t)workers * sizeof *carriers);
    bool has_all =
        data && carriers &&
        eki_tickets_open(&data->tickets, workers, EKI_DATA_OPS_MOST, false);
    for (int here = 0; has_all && here < workers; here++) {
        carriers[here].slots =
            eki_alloc_lines((EKI_DATA_OPS_MOST + 1) * engine->slot_bytes);
        has_all = carriers[here].slots != NULL;
    }
    if (!has_all) {
        for (int here = 0; carriers && here < workers; here++)
            eki_free(carriers[here].slots);
        if (data)
            eki_tickets_close(&data->tickets);
        eki_free(carriers);
        eki_free(data);
        return eki_error(EK_ERR_NOMEM, "no memory for data of %d workers",
                         workers);
    }
    data->protocol.ops = &eki_data_ops;
    data->setup = *setup;
    data->carriers = carriers;
    data->answers = EKI_QUEUE(struct eki_data_answer, 16);
    eki_engine_add(engine, &data->protocol);
    engine->kept = &data->tickets;
    return EK_OK;
}
