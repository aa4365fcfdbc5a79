/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of one block per task, which the library copies.
 *
 * Threads.  As the public calls.
 */
#include "collection/collection.h"

#include <inttypes.h>

static ek_status set_data_blocks(ek_collection *tasks, ek_function function,
                                 size_t bytes_max)
{
    ek_data_ops ops;
    EKI_TRY(eki_collection_check_data(tasks, "ek_set_data_blocks", function));
    if (tasks->settings.options.data == EKI_DATA_FOLLOW)
        return eki_error(EK_ERR_ARG,
                         "ek_set_data_blocks: with data=follow the library "
                         "cannot tell where a block of '%s' may lie at its new "
                         "home; call ek_set_data_ops, or set data=return",
                         tasks->engine->functions[function].name);
    if (!eki_blocks_open(bytes_max, &ops))
        return eki_error(EK_ERR_NOMEM, "no memory for data of tasks");
    ek_status status = eki_collection_set_data(tasks, function, &ops);
    if (status != EK_OK)
        eki_blocks_close(&ops);
    return status;
}

ek_status ek_set_data_blocks(ek_collection *tasks, ek_function function,
                             size_t bytes_max)
{
    return eki_collection_outcome(tasks,
                                  set_data_blocks(tasks, function, bytes_max));
}

/* Whether a block of this INDEX, ADDRESS and BYTES may be one of NAME. */
static ek_status check_block(const char *name, const ek_data_ops *ops,
                             int64_t index, const void *address, size_t bytes)
{
    if (!ops || !eki_are_blocks(ops))
        return eki_error(EK_ERR_ARG,
                         "ek_set_block: '%s' has no blocks; call "
                         "ek_set_data_blocks first",
                         name);
    if (index < 0)
        return eki_error(EK_ERR_ARG,
                         "ek_set_block: index of '%s' is %" PRId64
                         "; allowed: 0 or more",
                         name, index);
    if (bytes > ops->bytes_max)
        return eki_error(EK_ERR_ARG,
                         "ek_set_block: block %" PRId64
                         " of '%s' has %zu bytes; allowed: 0 ... %zu "
                         "(bytes_max of ek_set_data_blocks)",
                         index, name, bytes, ops->bytes_max);
    if (!address && bytes > 0)
        return eki_error(EK_ERR_ARG,
                         "ek_set_block: address of block %" PRId64
                         " of '%s' is NULL; allowed: NULL with 0 bytes",
                         index, name);
    return EK_OK;
}

static ek_status set_block(ek_collection *tasks, ek_function function,
                           int64_t index, void *address, size_t bytes)
{
    EKI_TRY(eki_collection_check_data(tasks, "ek_set_block", function));
    const char *name = tasks->engine->functions[function].name;
    const ek_data_ops *ops = eki_collection_data_of(tasks, function);
    EKI_TRY(check_block(name, ops, index, address, bytes));
    return eki_blocks_set(ops, index, address, bytes)
               ? EK_OK
               : eki_error(EK_ERR_NOMEM,
                           "ek_set_block: no memory for index %" PRId64
                           " of '%s': each index from the lowest to the "
                           "highest of a rank takes 16 bytes",
                           index, name);
}

ek_status ek_set_block(ek_collection *tasks, ek_function function,
                       int64_t index, void *address, size_t bytes)
{
    return eki_collection_outcome_often(
        tasks, set_block(tasks, function, index, address, bytes));
}
