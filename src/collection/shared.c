/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the program that the ranks of a node share. */
#include "collection/collection.h"
#include "protocol/gate.h"

#include <inttypes.h>

/* Whether this rank can take part; makes room for what all ranks want. */
static ek_status check_shared(ek_collection *tasks, size_t bytes,
                              uint64_t **bytes_of)
{
    size_t size = (size_t)tasks->fabric->size, most = PTRDIFF_MAX / 4 / size;
    EKI_TRY(eki_collection_check_region("ek_shared_alloc"));
    if (tasks->shared.at)
        return eki_error(EK_ERR_STATE,
                         "ek_shared_alloc: '%s' has shared memory already; "
                         "allowed: once for a collection",
                         tasks->settings.name);
    if (bytes > most)
        return eki_error(EK_ERR_ARG,
                         "ek_shared_alloc: bytes is %zu; allowed: 0 ... %zu",
                         bytes, most);
    *bytes_of = eki_alloc(size, sizeof **bytes_of);
    return *bytes_of ? eki_gate_add(tasks->engine)
                     : eki_error(EK_ERR_NOMEM, "no memory for %zu ranks", size);
}

/* Whole lines.  A rank that wants no bytes has one, too, to have an address. */
static size_t place_bytes(uint64_t bytes)
{
    return ((size_t)bytes / EKI_LINE + (bytes % EKI_LINE != 0 || bytes == 0)) *
           EKI_LINE;
}

/* Where each rank's part is in the memory of the node, one after the other. */
static unsigned char **lay_out(const ek_collection *tasks,
                               const uint64_t *bytes_of)
{
    const int *nodes = eki_fabric_mpi_nodes(tasks->fabric);
    int size = tasks->fabric->size, node = nodes[tasks->fabric->rank];
    unsigned char *next = tasks->shared.segment.memory;
    unsigned char **at = eki_alloc((size_t)size, sizeof *at);
    for (int rank = 0; at && rank < size; rank++) {
        if (nodes[rank] != node)
            continue;
        at[rank] = next;
        next += place_bytes(bytes_of[rank]);
    }
    return at;
}

/* Bytes of all ranks of this node. */
static size_t node_bytes(const ek_collection *tasks, const uint64_t *bytes_of)
{
    const int *nodes = eki_fabric_mpi_nodes(tasks->fabric);
    size_t bytes = 0;
    for (int rank = 0; rank < tasks->fabric->size; rank++)
        bytes += nodes[rank] == nodes[tasks->fabric->rank]
                     ? place_bytes(bytes_of[rank])
                     : 0;
    return bytes;
}

/* Collective, once all ranks can take part. */
static ek_status share_parts(ek_collection *tasks, uint64_t bytes,
                             uint64_t *bytes_of)
{
    struct eki_fabric *fabric = tasks->fabric;
    EKI_TRY(eki_fabric_mpi_gather_all(fabric, &bytes, bytes_of, sizeof bytes));
    EKI_TRY(eki_fabric_mpi_share(fabric, EK_OK, node_bytes(tasks, bytes_of),
                                 &tasks->shared.segment));
    tasks->shared.at = lay_out(tasks, bytes_of);
    ek_status status = eki_fabric_mpi_agree(
        fabric,
        tasks->shared.at
            ? EK_OK
            : eki_error(EK_ERR_NOMEM, "no memory for %d ranks", fabric->size));
    if (status != EK_OK)
        eki_collection_free_shared(tasks);
    return status;
}

void eki_collection_free_shared(ek_collection *tasks)
{
    eki_fabric_mpi_unshare(&tasks->shared.segment);
    eki_free(tasks->shared.at);
    tasks->shared.at = NULL;
}

ek_status ek_shared_alloc(ek_collection *tasks, size_t bytes, void **mine)
{
    uint64_t *bytes_of = NULL;
    if (!mine)
        return eki_collection_outcome(
            tasks, eki_error(EK_ERR_ARG, "ek_shared_alloc: mine is NULL"));
    *mine = NULL;
    EKI_TRY(eki_collection_enter_call(tasks, "ek_shared_alloc",
                                      EKI_CALLED_SHARED_ALLOC));
    ek_status status = eki_fabric_mpi_agree(
        tasks->fabric, check_shared(tasks, bytes, &bytes_of));
    if (status == EK_OK)
        status = share_parts(tasks, bytes, bytes_of);
    eki_free(bytes_of);
    if (status == EK_OK)
        *mine = tasks->shared.at[tasks->fabric->rank];
    return eki_collection_leave_call(tasks, status);
}

void *ek_shared_at(const ek_collection *tasks, int rank)
{
    return tasks && tasks->shared.at && rank >= 0 && rank < tasks->fabric->size
               ? tasks->shared.at[rank]
               : NULL;
}
