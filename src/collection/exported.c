/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for policies whose thieves work on that of a victim. */
#include "collection/collection.h"
#include "protocol/one_sided.h"

/* Whether any iteration names such a policy, between nodes. */
static bool needs_exported(const ek_collection *tasks)
{
    const struct eki_settings *settings = &tasks->settings;
    bool is_named = eki_scheme_is_one_sided(settings->options.steal);
    for (int i = 0; i < settings->steal.count; i++)
        is_named |= eki_scheme_is_one_sided(
            (ek_steal_policy)settings->steal.entries[i].value);
    return is_named && tasks->topology->nodes > 1;
}

/* Make it, and try what MPI does with it; the verdict is the same on all ranks.
 */
static ek_status make_and_try(ek_collection *tasks,
                              const struct eki_setup *setup,
                              struct eki_rma_verdict *verdict)
{
    ek_status status = eki_fabric_mpi_export(tasks->fabric, EKI_ONE_SIDED_WORDS,
                                             eki_one_sided_bytes(setup),
                                             &tasks->parts.exported);
    *verdict = (struct eki_rma_verdict){.is_good = status == EK_OK};
    if (status == EK_ERR_MPI) {
        snprintf(verdict->sentence, sizeof verdict->sentence, "%s",
                 ek_error_message());
        return EK_OK;
    }
    EKI_TRY(status);
    return eki_rma_try(tasks->parts.exported, verdict);
}

/* By rank 0, once for each IS_TOLD. */
static void say_instead(const struct eki_topology *topology,
                        _Atomic bool *is_told, const char *why)
{
    if (topology->rank == 0 && eki_is_untold(is_told))
        eki_log(EK_LEVEL_WARN, topology->rank, topology->size, "steal",
                "steal=sws and sdc steal as random here, by messages: %s", why);
}

bool eki_collection_lacks_exported(const ek_collection *tasks)
{
    return !tasks->parts.exported && needs_exported(tasks);
}

void eki_collection_check_exported(const ek_collection *tasks)
{
    static _Atomic bool is_told;
    if (eki_collection_lacks_exported(tasks) && !tasks->parts.exports_in_vain)
        say_instead(tasks->topology, &is_told,
                    "the collection was made without memory for them; name "
                    "one of them in its options, or in EVENKEEL_STEAL");
}

ek_status eki_collection_check_ring(const ek_collection *tasks,
                                    const struct eki_setup *setup)
{
    size_t slot_bytes = eki_setup_slot_bytes(setup);
    int64_t most = eki_ring_slots_most(slot_bytes);
    if (!needs_exported(tasks) || setup->buffer_slots <= most)
        return EK_OK;
    return eki_error(EK_ERR_ARG,
                     "option buffer_slots is %lld; allowed with steal=sws and "
                     "sdc, and slots of %zu bytes: 2 ... %lld",
                     (long long)setup->buffer_slots, slot_bytes,
                     (long long)most);
}

ek_status eki_collection_export(ek_collection *tasks, struct eki_setup *setup)
{
    static _Atomic bool is_told;
    struct eki_rma_verdict verdict;
    if (!needs_exported(tasks))
        return EK_OK;
    EKI_TRY(make_and_try(tasks, setup, &verdict));
    if (!verdict.is_good) {
        say_instead(tasks->topology, &is_told, verdict.sentence);
        eki_fabric_mpi_unexport(&tasks->parts.exported);
        tasks->parts.exports_in_vain = true;
    }
    setup->rma = tasks->parts.exported;
    return EK_OK;
}
