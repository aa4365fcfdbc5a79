/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of a failure before a public call returns. */
#include "collection/collection.h"

typedef void say_fn(int rank, int size);

static ek_status fail(const ek_collection *tasks, ek_status status, say_fn *say)
{
    const struct eki_fabric *fabric = tasks ? tasks->fabric : NULL;
    say(fabric ? fabric->rank : -1, fabric ? fabric->size : 0);
    if (tasks && tasks->settings.options.on_error == EK_ON_ERROR_ABORT)
        eki_abort();
    return status;
}

ek_status eki_collection_fail(const ek_collection *tasks, ek_status status)
{
    return fail(tasks, status, eki_error_say);
}

ek_status eki_collection_fail_often(const ek_collection *tasks,
                                    ek_status status)
{
    return fail(tasks, status, eki_error_say_rarely);
}

ek_status eki_collection_refuse_function(const struct eki_engine *engine,
                                         const char *call, const char *name,
                                         ek_function function)
{
    char where[EKI_NAME_BYTES + 8] = "", allowed[64] = "none: call ek_register";
    if (*name)
        snprintf(where, sizeof where, " in '%s'", name);
    if (engine->function_count > 0)
        snprintf(allowed, sizeof allowed, "0 ... %d",
                 engine->function_count - 1);
    return eki_error(EK_ERR_ARG,
                     "%s: function %d is not registered%s; allowed: %s", call,
                     function, where, allowed);
}
