/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of a failure before a public call returns. */
#include "collection/collection.h"

ek_status eki_collection_fail(const ek_collection *tasks, ek_status status,
                              void (*say)(int rank, int size))
{
    const struct eki_fabric *fabric = tasks ? tasks->fabric : NULL;
    say(fabric ? fabric->rank : -1, fabric ? fabric->size : 0);
    if (tasks && tasks->settings.options.on_error == EK_ON_ERROR_ABORT)
        eki_abort();
    return status;
}

ek_status eki_collection_check_idle(const ek_collection *tasks,
                                    const char *call, const char *advice)
{
    if (!tasks)
        return eki_error(EK_ERR_ARG, "%s: collection is NULL", call);
    if (tasks->state == EKI_STATE_OPEN)
        return eki_error(EK_ERR_STATE, "%s: an iteration is open%s", call,
                         advice);
    return EK_OK;
}

ek_status eki_collection_check_task(const struct eki_engine *engine,
                                    const char *call, const char *name,
                                    ek_function function, size_t bytes)
{
    int64_t most = engine->setup.payload_bytes;
    bool is_known = function >= 0 && function < engine->function_count;
    if (EKI_LIKELY(is_known && bytes <= (size_t)most))
        return EK_OK;
    char where[EKI_NAME_BYTES + 8] = "", allowed[64] = "none: call ek_register";
    if (*name)
        snprintf(where, sizeof where, " in '%s'", name);
    if (is_known)
        return eki_error(EK_ERR_ARG,
                         "%s: payload of %zu bytes; allowed%s: 0 ... %lld "
                         "(option payload_bytes)",
                         call, bytes, where, (long long)most);
    if (engine->function_count > 0)
        snprintf(allowed, sizeof allowed, "0 ... %d",
                 engine->function_count - 1);
    return eki_error(EK_ERR_ARG,
                     "%s: function %d is not registered%s; allowed: %s", call,
                     function, where, allowed);
}

ek_status eki_collection_check_add(const ek_collection *tasks, const char *call,
                                   ek_function function, size_t bytes)
{
    EKI_TRY(eki_collection_check_idle(tasks, call, "; tasks add by ek_spawn"));
    return eki_collection_check_task(tasks->engine, call, "", function, bytes);
}

ek_status eki_collection_check_region(const char *call)
{
    return eki_team_in_parallel()
               ? eki_error(EK_ERR_STATE,
                           "%s: called from inside a parallel region; allowed: "
                           "outside, one thread per rank",
                           call)
               : EK_OK;
}

ek_status eki_collection_check_mpi(const char *call, MPI_Comm comm)
{
    int level = eki_mpi_thread_level_of(comm);
    if (level == -1)
        return eki_error(EK_ERR_STATE, "%s: call MPI_Init first", call);
    if (level == -2)
        return eki_error(EK_ERR_STATE, "%s: MPI is finalized already", call);
    /* Inside a parallel region the first thread goes on, so that the other
     * ranks hear of the mistake. */
    return eki_team_is_first() ? EK_OK : eki_collection_check_region(call);
}

ek_status eki_collection_check_report(const char *call, const void *report,
                                      const char *init)
{
    const size_t *bytes = report;
    return !bytes || *bytes >= sizeof *bytes
               ? EK_OK
               : eki_error(EK_ERR_ARG,
                           "%sreport.struct_bytes is %zu; set the report by %s",
                           call, *bytes, init);
}
