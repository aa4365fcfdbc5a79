/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking collectives on the duplicate, for the time when no tasks run, and
 * the words for MPI's error codes.
 */
#include "fabric/mpi_fabric.h"

#include <limits.h>
#include <string.h>

ek_status eki_mpi_error(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(code, text, &length);
    /* MPICH goes on with what it has called, on lines of their own. */
    char *stack = strstr(text, ", error stack:");
    if (stack)
        *stack = '\0';
    return eki_error(EK_ERR_MPI, "%s: %s", what, text);
}

ek_status eki_mpi_check(struct eki_mpi *mpi, const char *what, int code)
{
    if (EKI_LIKELY(code == MPI_SUCCESS))
        return EK_OK;
    ek_status status = eki_mpi_error(what, code);
    eki_fabric_note(&mpi->base, status, ek_error_message());
    return status;
}

/* The failure of rank WORST, in its words. */
static ek_status spread_failure(MPI_Comm comm, ek_status status, int worst)
{
    char text[1000];
    int rank, size;
    eki_mpi_ranks(comm, &rank, &size);
    /* Kept now, because a failing MPI call replaces the message. */
    snprintf(text, sizeof text, "%.999s", ek_error_message());
    if (worst == rank)
        eki_error_say(rank, size);
    EKI_TRY(EKI_MPI(MPI_Bcast, text, (int)sizeof text, MPI_CHAR, worst, comm));
    if (worst == rank)
        return status; /* this rank keeps its own message */
    eki_error(status, "rank %d: %s", worst, text);
    eki_error_take();
    return status;
}

ek_status eki_mpi_agree_most(MPI_Comm comm, ek_status status, uint64_t *most,
                             int n)
{
    uint64_t all[1 + EKI_MPI_COMPARED_MOST];
    int rank = 0;
    EKI_ASSERT(n <= EKI_MPI_COMPARED_MOST);
    MPI_Comm_rank(comm, &rank);
    /* Failures are negative; of equals the lowest rank comes first. */
    all[0] = (uint64_t) - (int64_t)status << 32 | (UINT32_MAX - (uint32_t)rank);
    for (int i = 0; i < n; i++)
        all[1 + i] = most[i];
    EKI_TRY(EKI_MPI(MPI_Allreduce, MPI_IN_PLACE, all, 1 + n, MPI_UINT64_T,
                    MPI_MAX, comm));
    for (int i = 0; i < n; i++)
        most[i] = all[1 + i];
    ek_status worst = (ek_status) - (int64_t)(all[0] >> 32);
    if (worst == EK_OK)
        return EK_OK;
    return spread_failure(comm, worst, (int)(UINT32_MAX - (uint32_t)all[0]));
}

ek_status eki_mpi_agree(MPI_Comm comm, ek_status status)
{
    return eki_mpi_agree_most(comm, status, NULL, 0);
}

ek_status eki_fabric_mpi_agree(struct eki_fabric *fabric, ek_status status)
{
    return eki_mpi_agree(eki_mpi_of(fabric)->comm, status);
}

ek_status eki_fabric_mpi_agree_on(struct eki_fabric *fabric, ek_status status,
                                  uint64_t value, bool *is_same)
{
    /* Where the largest is also the smallest there is no other. */
    uint64_t most[2] = {value, ~value};
    status = eki_mpi_agree_most(eki_mpi_of(fabric)->comm, status, most, 2);
    *is_same = most[0] == ~most[1];
    return status;
}

static ek_status reduce_all(struct eki_fabric *fabric, void *values, int n,
                            MPI_Datatype type, MPI_Op op)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    return EKI_MPI_OF(mpi, MPI_Allreduce, MPI_IN_PLACE, values, n, type, op,
                      mpi->comm);
}

ek_status eki_fabric_mpi_sum(struct eki_fabric *fabric, int64_t *values, int n)
{
    return reduce_all(fabric, values, n, MPI_INT64_T, MPI_SUM);
}

ek_status eki_fabric_mpi_sum_double(struct eki_fabric *fabric, double *values,
                                    int n)
{
    return reduce_all(fabric, values, n, MPI_DOUBLE, MPI_SUM);
}

size_t eki_mpi_reduced_bytes(MPI_Datatype type, MPI_Op op)
{
    MPI_Aint low = 0, extent = 0;
    int bytes = 0, integers, addresses, types, made_by = MPI_COMBINER_NAMED;
    if (type == MPI_DATATYPE_NULL || op == MPI_OP_NULL)
        return 0;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &made_by);
    MPI_Type_get_extent(type, &low, &extent);
    MPI_Type_size(type, &bytes);
    bool has_gaps = low != 0 || extent != bytes;
    return has_gaps && made_by != MPI_COMBINER_NAMED ? 0 : (size_t)extent;
}

ek_status eki_fabric_mpi_reduce(struct eki_fabric *fabric, void *values,
                                int blocks,
                                const struct eki_reduction *reduction)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    size_t block = (size_t)reduction->count * reduction->bytes;
    unsigned char *first = values, *last = first + (size_t)(blocks - 1) * block;
    /* What comes first is on the left, in MPI's words: the input. */
    for (unsigned char *at = last; at != first;) {
        at -= block;
        EKI_TRY(EKI_MPI_OF(mpi, MPI_Reduce_local, at, last, reduction->count,
                           reduction->type, reduction->op));
    }
    return EKI_MPI_OF(mpi, MPI_Allreduce, last == first ? MPI_IN_PLACE : last,
                      first, reduction->count, reduction->type, reduction->op,
                      mpi->comm);
}

ek_status eki_fabric_mpi_max(struct eki_fabric *fabric, double *values, int n)
{
    return reduce_all(fabric, values, n, MPI_DOUBLE, MPI_MAX);
}

ek_status eki_fabric_mpi_max_rank(struct eki_fabric *fabric, double *values,
                                  int *ranks, int n)
{
    struct {
        double value;
        int rank;
    } largest[EKI_MAX_RANKS_MOST];
    EKI_ASSERT(n <= EKI_MAX_RANKS_MOST);
    for (int i = 0; i < n; i++) {
        largest[i].value = values[i];
        largest[i].rank = fabric->rank;
    }
    EKI_TRY(reduce_all(fabric, largest, n, MPI_DOUBLE_INT, MPI_MAXLOC));
    for (int i = 0; i < n; i++) {
        values[i] = largest[i].value;
        ranks[i] = largest[i].rank;
    }
    return EK_OK;
}

ek_status eki_fabric_mpi_broadcast(struct eki_fabric *fabric, void *data,
                                   size_t bytes, int root)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    unsigned char *next = data;
    for (size_t left = bytes; left > 0;) {
        int piece = left < EKI_MPI_PIECE ? (int)left : EKI_MPI_PIECE;
        EKI_TRY(
            EKI_MPI_OF(mpi, MPI_Bcast, next, piece, MPI_BYTE, root, mpi->comm));
        next += piece;
        left -= (size_t)piece;
    }
    return EK_OK;
}

ek_status eki_fabric_mpi_gather_all(struct eki_fabric *fabric, const void *mine,
                                    void *all, size_t bytes)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    if (bytes > INT_MAX)
        return eki_error(EK_ERR_ARG,
                         "%zu bytes in one MPI call, at most %d are possible",
                         bytes, INT_MAX);
    int count = (int)bytes;
    return EKI_MPI_OF(mpi, MPI_Allgather, mine, count, MPI_BYTE, all, count,
                      MPI_BYTE, mpi->comm);
}

/* In pieces that an int can count. */
static ek_status send_in_pieces(struct eki_mpi *mpi, const unsigned char *next,
                                int64_t left, int root)
{
    for (int piece; left > 0; next += piece, left -= piece) {
        piece = left < EKI_MPI_PIECE ? (int)left : EKI_MPI_PIECE;
        EKI_TRY(EKI_MPI_OF(mpi, MPI_Send, next, piece, MPI_BYTE, root,
                           EKI_TAG_GATHER, mpi->comm));
    }
    return EK_OK;
}

static ek_status receive_in_pieces(struct eki_mpi *mpi, unsigned char *next,
                                   int64_t left, int rank)
{
    for (int piece; left > 0; next += piece, left -= piece) {
        piece = left < EKI_MPI_PIECE ? (int)left : EKI_MPI_PIECE;
        EKI_TRY(EKI_MPI_OF(mpi, MPI_Recv, next, piece, MPI_BYTE, rank,
                           EKI_TAG_GATHER, mpi->comm, MPI_STATUS_IGNORE));
    }
    return EK_OK;
}

static int next_piece(int64_t left)
{
    return left < EKI_MPI_GATHER_PIECE ? (int)left : EKI_MPI_GATHER_PIECE;
}

static ek_status send_all(struct eki_mpi *mpi, const unsigned char *next,
                          int64_t left)
{
    /* The sends are synchronous: the pieces of a rank whose turn has not come
     * would pile up at rank 0. */
    EKI_TRY(EKI_MPI_OF(mpi, MPI_Ssend, &left, 1, MPI_INT64_T, 0, EKI_TAG_GATHER,
                       mpi->comm));
    while (left > 0) {
        int piece = next_piece(left);
        EKI_TRY(EKI_MPI_OF(mpi, MPI_Send, next, piece, MPI_BYTE, 0,
                           EKI_TAG_GATHER, mpi->comm));
        next += piece;
        left -= piece;
    }
    return EK_OK;
}

static ek_status receive_all(struct eki_mpi *mpi, int rank, eki_take_fn *take,
                             void *context)
{
    unsigned char buffer[EKI_MPI_GATHER_PIECE];
    int64_t left = 0;
    EKI_TRY(EKI_MPI_OF(mpi, MPI_Recv, &left, 1, MPI_INT64_T, rank,
                       EKI_TAG_GATHER, mpi->comm, MPI_STATUS_IGNORE));
    while (left > 0) {
        int piece = next_piece(left);
        EKI_TRY(EKI_MPI_OF(mpi, MPI_Recv, buffer, piece, MPI_BYTE, rank,
                           EKI_TAG_GATHER, mpi->comm, MPI_STATUS_IGNORE));
        take(buffer, (size_t)piece, context);
        left -= piece;
    }
    return EK_OK;
}

ek_status eki_fabric_mpi_gather(struct eki_fabric *fabric, const void *mine,
                                size_t bytes, eki_take_fn *take, void *context)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    if (fabric->rank != 0)
        return send_all(mpi, mine, (int64_t)bytes);
    if (bytes > 0)
        take(mine, bytes, context);
    for (int rank = 1; rank < fabric->size; rank++)
        EKI_TRY(receive_all(mpi, rank, take, context));
    return EK_OK;
}

ek_status eki_fabric_mpi_collect(struct eki_fabric *fabric, void *data,
                                 const int64_t *starts, int root)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    int me = fabric->rank;
    if (me != root)
        return send_in_pieces(mpi, data, starts[me + 1] - starts[me], root);
    for (int rank = 0; rank < fabric->size; rank++) {
        unsigned char *place = (unsigned char *)data + starts[rank];
        if (rank != root)
            EKI_TRY(receive_in_pieces(mpi, place,
                                      starts[rank + 1] - starts[rank], rank));
    }
    return EK_OK;
}

ek_status eki_fabric_mpi_barrier(struct eki_fabric *fabric)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    return EKI_MPI_OF(mpi, MPI_Barrier, mpi->comm);
}
