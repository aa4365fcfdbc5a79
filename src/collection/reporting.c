/* SPDX-License-Identifier: BSD-3-Clause */
/* What a collection says of an iteration in its report. */
#include "collection/iterations.h"

/* What data has travelled in the last phase. */
static void add_data(ek_collection *tasks, struct eki_report_input *input)
{
    struct eki_callbacks *callbacks = tasks->callbacks;
    if (!callbacks)
        return;
    struct eki_data_counts counts = eki_collection_data_counts(tasks);
    input->travelled = counts.travelled;
    input->data_lost = counts.lost;
    input->data_in_bytes = counts.bytes_in;
    input->data_out_bytes = counts.bytes_out;
    input->data_held_bytes = counts.bytes_most;
    input->data_callback_s = (double)callbacks->ns * 1e-9;
}

double eki_collection_outside_s(const ek_collection *tasks, uint64_t now)
{
    double outside_s = (double)(now - tasks->left_ns) * 1e-9 -
                       tasks->restores.seconds -
                       eki_collection_saved(tasks).seconds;
    return tasks->left_ns == 0 || outside_s < 0 ? 0 : outside_s;
}

ek_status eki_iteration_report(ek_collection *tasks, uint64_t left,
                               ek_process_report *report)
{
    uint64_t entered = tasks->engine->entered_ns;
    struct eki_report_input input = {
        .iteration = tasks->iteration,
        .wall_s = (double)(left - entered) * 1e-9,
        .restore_s = tasks->restores.seconds,
        .save_s = eki_collection_saved(tasks).seconds,
        .saves_failed = eki_collection_saved(tasks).failed,
        .outside_s = eki_collection_outside_s(tasks, entered),
        .has_server_core = tasks->team->was_served,
        .cores = tasks->affinity.cores,
        .cpus = tasks->affinity.cpus,
        .online = tasks->affinity.online,
        .nodes = tasks->topology->nodes,
        .handling = eki_team_handling(),
        .steal = eki_collection_scheme(tasks)->policy,
        .restored = tasks->restores.policy,
        .chosen = tasks->restores.chosen,
        .stopped = tasks->restores.is_asked};
    add_data(tasks, &input);
    EKI_TRY(eki_report_collect(tasks->engine, tasks->fabric, &input,
                               tasks->report));
    eki_report_print(tasks->report);
    return report ? eki_report_copy(tasks->report, report) : EK_OK;
}

ek_status ek_report_get(const ek_collection *tasks, const char *name,
                        double *value)
{
    ek_status status =
        !tasks || !name || !value
            ? eki_error(EK_ERR_ARG,
                        "ek_report_get: collection, name and value must not be "
                        "NULL")
            : eki_report_get(tasks->report, name, value);
    return eki_collection_outcome(tasks, status);
}
