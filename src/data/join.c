/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines whose tasks may have data: the life of their protocol. */
#include "data/internal.h"

static void clear_carrier(struct eki_carrier *carrier)
{
    for (int i = 0; i < EKI_DATA_OPS_MOST; i++) {
        if (eki_op_state(&carrier->ops[i]) != EKI_DATA_FREE)
            eki_carrier_free(carrier, &carrier->ops[i]);
    }
    carrier->staged = 0;
    carrier->staged_ns = 0;
    carrier->running = NULL;
    carrier->waits_since = 0;
    carrier->travelled = carrier->size_count = 0;
}

/* Nothing of the last phase is left, which may have been stopped. */
static void clear_data(struct eki_data *data)
{
    int workers = data->protocol.engine->topology->workers_here;
    eki_guests_free(data, &data->asks);
    eki_guests_free(data, &data->results);
    eki_queue_clear(&data->answers);
    eki_tickets_clear(&data->tickets);
    for (int here = 0; here < workers; here++)
        clear_carrier(&data->carriers[here]);
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&data->held_most, 0, memory_order_relaxed);
}

static bool enter_data(struct eki_protocol *protocol,
                       const struct eki_phase *phase, uint64_t now)
{
    struct eki_data *data = (struct eki_data *)protocol;
    (void)now;
    clear_data(data);
    bool follows = data->follower.is_wanted && phase->kind == EKI_PHASE_RESTORE;
    eki_follower_open(data, follows);
    /* What was counted in a process is asked for after other restores, too. */
    if (phase->kind == EKI_PHASE_PROCESS || follows)
        data->counts = (struct eki_data_counts){0};
    if (phase->kind == EKI_PHASE_PROCESS)
        eki_data_forget_fetches(data);
    return protocol->engine->topology->size > 1;
}

static void tell_data(const struct eki_protocol *protocol, uint64_t now,
                      uint64_t waited, char *text, size_t bytes)
{
    const struct eki_data *data = (const struct eki_data *)protocol;
    int workers = protocol->engine->topology->workers_here, count = 0;
    const struct eki_data_op *first = NULL;
    for (int i = 0; i < workers * EKI_DATA_OPS_MOST; i++) {
        const struct eki_data_op *op =
            &data->carriers[i / EKI_DATA_OPS_MOST].ops[i % EKI_DATA_OPS_MOST];
        int state = eki_op_state(op);
        if ((state != EKI_DATA_ASKED && state != EKI_DATA_ENDED) ||
            eki_ns_since(op->since, now) < waited)
            continue;
        first = first ? first : op;
        count++;
    }
    if (first)
        eki_append(text, bytes,
                   ", %d inputs and results of tasks under way, one with rank "
                   "%d",
                   count, first->home);
}

/* What there is of it: it may have been in the making. */
static void free_data(struct eki_data *data, int workers)
{
    for (int here = 0; data->carriers && here < workers; here++) {
        eki_free(data->carriers[here].slots);
        eki_free(data->carriers[here].sizes);
    }
    eki_buffers_free(data);
    eki_free(data->carriers);
    eki_free(data->answers.items);
    eki_tickets_close(&data->tickets);
    for (int f = 0; f < data->op_room; f++)
        eki_blocks_close(&data->ops[f]);
    eki_free(data->ops);
    eki_free((void *)data->away_ns);
    eki_free(data);
}

static void destroy_data(struct eki_protocol *protocol)
{
    struct eki_data *data = (struct eki_data *)protocol;
    clear_data(data);
    free_data(data, protocol->engine->topology->workers_here);
}

static const struct eki_verb data_verbs[] = {
    {.name = "ask"},
    {.name = "input", .concerns = EKI_CONCERNS_WORKER},
    {.name = "result"},
    {.name = "give"},
    {.name = "kept", .concerns = EKI_CONCERNS_WORKER}};

static const struct eki_protocol_ops data_ops = {
    .name = "data",
    .channel = EKI_CHANNEL_DATA,
    EKI_VERBS(data_verbs),
    .destroy = destroy_data,
    .enter = enter_data,
    .take = eki_data_take,
    .step = eki_data_step,
    .end_task = eki_carrier_end,
    .tell = tell_data,
};

/* False: no memory. */
static bool fill_data(struct eki_data *data, const struct eki_engine *engine)
{
    int workers = engine->topology->workers_here;
    data->carriers = eki_alloc_lines((size_t)workers * sizeof *data->carriers);
    data->answers = EKI_QUEUE(struct eki_data_answer, 16);
    bool has_all =
        data->carriers && eki_queue_has_room(&data->answers) &&
        eki_tickets_open(&data->tickets, workers, EKI_DATA_OPS_MOST, false);
    for (int here = 0; has_all && here < workers; here++) {
        data->carriers[here].data = data;
        data->carriers[here].worker = engine->workers[here];
        data->carriers[here].slots =
            eki_alloc_lines((EKI_DATA_OPS_MOST + 1) * engine->slot_bytes);
        has_all = data->carriers[here].slots != NULL;
    }
    return has_all;
}

ek_status eki_data_join(struct eki_engine *engine,
                        const struct eki_data_setup *setup)
{
    int workers = engine->topology->workers_here;
    struct eki_data *data = eki_alloc_lines(sizeof *data);
    if (!data || !fill_data(data, engine)) {
        if (data)
            free_data(data, workers);
        return eki_error(EK_ERR_NOMEM, "no memory for data of %d workers",
                         workers);
    }
    data->protocol.ops = &data_ops;
    data->setup = *setup;
    eki_engine_add(engine, &data->protocol);
    engine->kept = &data->tickets;
    return EK_OK;
}
