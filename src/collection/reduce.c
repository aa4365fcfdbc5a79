/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of workers: combined over all of them, and exact sums. */
#include "base/sum.h"
#include "collection/collection.h"

#include <limits.h>

static ek_status check_values(const char *call, const void *values, int count)
{
    EKI_TRY(eki_collection_check_region(call));
    if (count < 0)
        return eki_error(EK_ERR_ARG, "%s: count %d; allowed: 0 ... %d", call,
                         count, INT_MAX);
    if (!values && count > 0)
        return eki_error(EK_ERR_ARG, "%s: values is NULL", call);
    return EK_OK;
}

static ek_status reduce(ek_collection *tasks, void *values,
                        struct eki_reduction *reduction)
{
    int workers = tasks->topology->workers_here;
    ek_status status = check_values("ek_reduce", values, reduction->count);
    reduction->bytes = eki_mpi_reduced_bytes(reduction->type, reduction->op);
    if (status == EK_OK && reduction->bytes == 0)
        status = eki_error(EK_ERR_ARG, "ek_reduce: type or op is null, or the "
                                       "type has gaps; allowed: predefined "
                                       "types, and those without gaps");
    EKI_TRY(eki_collection_agree_on(
        tasks, status,
        eki_hash((uint64_t)reduction->bytes, (uint64_t)reduction->count),
        "ek_reduce: ranks differ in count, or in the size of the type"));
    size_t block = (size_t)reduction->count * reduction->bytes;
    if (block == 0)
        return EK_OK;
    EKI_TRY(eki_fabric_mpi_reduce(tasks->fabric, values, workers, reduction));
    memset((unsigned char *)values + block, 0, (size_t)(workers - 1) * block);
    return EK_OK;
}

ek_status ek_reduce(ek_collection *tasks, void *values, int count,
                    MPI_Datatype type, MPI_Op op)
{
    struct eki_reduction reduction = {count, type, op, 0};
    EKI_TRY(eki_collection_enter_call(tasks, "ek_reduce", EKI_CALLED_REDUCE));
    return eki_collection_leave_call(tasks, reduce(tasks, values, &reduction));
}

/* The sums of all workers of this rank become those of the first. */
static void join_workers(ek_sum *sums, int count, int workers)
{
    int64_t n = (int64_t)count * workers;
    for (int64_t i = 0; i < n; i++) {
        eki_sum_carry(&sums[i]);
        for (int limb = 0; i >= count && limb < EKI_SUM_LIMBS; limb++)
            sums[i % count].limb[limb] += sums[i].limb[limb];
    }
}

static ek_status reduce_sums(ek_collection *tasks, ek_sum *sums, int count,
                             double *values)
{
    const int most = INT_MAX / EKI_SUM_LIMBS;
    int workers = tasks->topology->workers_here;
    ek_status status = check_values("ek_reduce_sums", values, count);
    if (status == EK_OK)
        status = check_values("ek_reduce_sums: sums", sums, count);
    EKI_TRY(eki_collection_agree_on(tasks, status, (uint64_t)count,
                                    "ek_reduce_sums: ranks differ in count"));
    join_workers(sums, count, workers);
    for (int first = 0; first < count; first += most)
        EKI_TRY(eki_fabric_mpi_sum(
            tasks->fabric, sums[first].limb,
            (count - first < most ? count - first : most) * EKI_SUM_LIMBS));
    for (int i = 0; i < count; i++)
        values[i] = eki_sum_round(&sums[i]);
    if (count > 0)
        memset(sums, 0, (size_t)count * (size_t)workers * sizeof *sums);
    return EK_OK;
}

ek_status ek_reduce_sums(ek_collection *tasks, ek_sum *sums, int count,
                         double *values)
{
    EKI_TRY(
        eki_collection_enter_call(tasks, "ek_reduce_sums", EKI_CALLED_REDUCE));
    return eki_collection_leave_call(tasks,
                                     reduce_sums(tasks, sums, count, values));
}
