/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations over MPI: a window that all ranks have locked.
 *
 * Every operation has a request, which MPI_Test() completes: nobody waits in a
 * flush, which would wait for all operations on that rank.  Words are changed
 * by MPI_Rget_accumulate(): MPI_Fetch_and_op() has no request, and
 * MPI_Compare_and_swap() of 8 bytes crashes in Open MPI 4.1 (#7027).  A get is
 * done with its request.  A put has only left by then: it is flushed.
 *
 * In Open MPI 4.1 the calls themselves return at once with osc/sm, osc/rdma and
 * osc/pt2pt, also while the target computes.  With osc/ucx a call that changes
 * a word waits for the word's lock.
 *
 * The line before and behind a rank's memory is nobody's: windows of a host lie
 * side by side, and are aligned to 8 bytes.
 */
#include "fabric/mpi_fabric.h"
#include "fabric/rma.h"

#include <inttypes.h>
#include <string.h>

struct eki_mpi_ticket {
    MPI_Request request; /* MPI_REQUEST_NULL: the ticket is free */
    enum eki_rma_kind kind;
    int rank;
    int words;
    uint64_t value, before[EKI_RMA_WORDS];
};

struct eki_mpi_rma {
    struct eki_rma base;
    struct eki_mpi *mpi;
    MPI_Win window;
    size_t first_data; /* from the beginning of a rank's window */
    int free[EKI_RMA_TICKETS], free_count;
    struct eki_mpi_ticket tickets[EKI_RMA_TICKETS];
};

static struct eki_mpi_rma *mpi_rma_of(struct eki_rma *rma)
{
    return (struct eki_mpi_rma *)rma; /* its first member */
}

static bool is_of_word(enum eki_rma_kind kind)
{
    return kind < EKI_RMA_GET;
}

static size_t count_words(const struct eki_rma_operation *operation)
{
    return operation->kind == EKI_RMA_READ && operation->words > 0
               ? operation->words
               : 1;
}

static ek_status check_operation(const struct eki_rma *rma,
                                 const struct eki_rma_operation *operation)
{
    bool is_word = is_of_word(operation->kind);
    size_t room = is_word ? rma->words : rma->bytes;
    size_t bytes = is_word ? count_words(operation) : operation->bytes;
    int most = is_word ? EKI_RMA_WORDS : EKI_RMA_BYTES_MOST;
    if (operation->rank < 0 || operation->rank >= rma->fabric->size)
        return eki_error(EK_ERR_ARG, "rank %d, expected 0 ... %d",
                         operation->rank, rma->fabric->size - 1);
    if (bytes > (size_t)most || operation->at > room ||
        bytes > room - operation->at)
        return eki_error(EK_ERR_ARG,
                         "%s %zu and %zu more of rank %d, which exports %zu",
                         is_word ? "word" : "byte", operation->at, bytes - 1,
                         operation->rank, room);
    return EK_OK;
}

static int start_of_word(struct eki_mpi_rma *rma, struct eki_mpi_ticket *ticket,
                         size_t at)
{
    MPI_Op op = ticket->kind == EKI_RMA_ADD       ? MPI_SUM
                : ticket->kind == EKI_RMA_REPLACE ? MPI_REPLACE
                                                  : MPI_NO_OP;
    return MPI_Rget_accumulate(&ticket->value, 1, MPI_UINT64_T, ticket->before,
                               ticket->words, MPI_UINT64_T, ticket->rank,
                               (MPI_Aint)(EKI_LINE + at * sizeof(uint64_t)),
                               ticket->words, MPI_UINT64_T, op, rma->window,
                               &ticket->request);
}

static int start_of_data(struct eki_mpi_rma *rma, struct eki_mpi_ticket *ticket,
                         const struct eki_rma_operation *operation)
{
    MPI_Aint at = (MPI_Aint)(rma->first_data + operation->at);
    int bytes = (int)operation->bytes;
    if (ticket->kind == EKI_RMA_GET)
        return MPI_Rget(operation->memory, bytes, MPI_BYTE, ticket->rank, at,
                        bytes, MPI_BYTE, rma->window, &ticket->request);
    return MPI_Rput(operation->memory, bytes, MPI_BYTE, ticket->rank, at, bytes,
                    MPI_BYTE, rma->window, &ticket->request);
}

static ek_status export_start(struct eki_rma *base,
                              const struct eki_rma_operation *operation,
                              int *ticket)
{
    struct eki_mpi_rma *rma = mpi_rma_of(base);
    *ticket = -1;
    EKI_TRY(check_operation(base, operation));
    if (base->fabric->failed != EK_OK)
        return base->fabric->failed;
    if (rma->free_count == 0)
        return EK_OK;
    int number = rma->free[rma->free_count - 1];
    struct eki_mpi_ticket *started = &rma->tickets[number];
    started->kind = operation->kind;
    started->rank = operation->rank;
    started->value = operation->value;
    started->words = (int)count_words(operation);
    int code = is_of_word(started->kind)
                   ? start_of_word(rma, started, operation->at)
                   : start_of_data(rma, started, operation);
    EKI_TRY(eki_mpi_check(rma->mpi, "an operation on exported memory", code));
    rma->free_count--;
    *ticket = number;
    return EK_OK;
}

static bool export_test(struct eki_rma *base, int number, uint64_t *before)
{
    struct eki_mpi_rma *rma = mpi_rma_of(base);
    struct eki_mpi_ticket *ticket = &rma->tickets[number];
    int is_done = 0;
    ek_status status = EKI_MPI_OF(rma->mpi, MPI_Test, &ticket->request,
                                  &is_done, MPI_STATUS_IGNORE);
    if (status == EK_OK && is_done && ticket->kind == EKI_RMA_PUT)
        (void)EKI_MPI_OF(rma->mpi, MPI_Win_flush, ticket->rank, rma->window);
    if (base->fabric->failed != EK_OK)
        return true;
    if (!is_done)
        return false;
    if (before && is_of_word(ticket->kind))
        memcpy(before, ticket->before, (size_t)ticket->words * sizeof *before);
    rma->free[rma->free_count++] = number;
    return true;
}

static void export_sync(struct eki_rma *base)
{
    struct eki_mpi_rma *rma = mpi_rma_of(base);
    (void)EKI_MPI_OF(rma->mpi, MPI_Win_sync, rma->window);
}

static const struct eki_rma_ops export_ops = {
    .start = export_start, .test = export_test, .sync = export_sync};

/* Of the window of a rank that exports so much; 0: that cannot be. */
static size_t lay_out_export(struct eki_mpi_rma *rma, size_t words,
                             size_t bytes)
{
    const size_t most = PTRDIFF_MAX / 64;
    if (words < 1 || words > most || bytes > most)
        return 0;
    rma->base.words = words;
    rma->base.bytes = bytes;
    size_t lines = (words * sizeof(uint64_t) + EKI_LINE - 1) / EKI_LINE;
    rma->first_data = (1 + lines) * EKI_LINE;
    return rma->first_data + (bytes + EKI_LINE - 1) / EKI_LINE * EKI_LINE +
           EKI_LINE;
}

/* Whether RMA, which may be NULL, can have windows of *BYTES here. */
static ek_status prepare_export(struct eki_mpi_rma *rma, struct eki_mpi *mpi,
                                size_t words, size_t bytes, size_t *all)
{
    if (!rma)
        return eki_error(EK_ERR_NOMEM, "no memory for exported memory");
    *all = lay_out_export(rma, words, bytes);
    if (*all == 0)
        return eki_error(EK_ERR_ARG, "%zu words and %zu bytes to export", words,
                         bytes);
    rma->base.ops = &export_ops;
    rma->base.fabric = &mpi->base;
    rma->mpi = mpi;
    rma->window = MPI_WIN_NULL;
    for (int i = EKI_RMA_TICKETS - 1; i >= 0; i--) {
        rma->tickets[i].request = MPI_REQUEST_NULL;
        rma->free[rma->free_count++] = i;
    }
    return EK_OK;
}

/* Whether the host has room for the windows of its ranks: Open MPI puts them
 * where it puts those of nodes.  Collective. */
static ek_status check_host_room(const struct eki_mpi_set *set, size_t bytes)
{
    uint64_t need = bytes + 65536; /* MPI's own, generously */
    EKI_TRY(EKI_MPI(MPI_Allreduce, MPI_IN_PLACE, &need, 1, MPI_UINT64_T,
                    MPI_SUM, set->host));
    return set->host_size > 1 ? eki_mpi_check_mount(need) : EK_OK;
}

static ek_status make_exported(struct eki_mpi_rma *rma, size_t bytes)
{
    unsigned char *memory = NULL;
    int code = MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL,
                                rma->mpi->comm, &memory, &rma->window);
    if (code != MPI_SUCCESS) {
        eki_error(EK_ERR_MPI, "MPI_Win_allocate: no one-sided operations "
                              "between these ranks; " EKI_RMA_REMEDY);
        (void)eki_error_take(); /* the caller says it, and what it does then */
        return EK_ERR_MPI;
    }
    MPI_Win_set_errhandler(rma->window, MPI_ERRORS_RETURN);
    EKI_TRY(EKI_MPI(MPI_Win_lock_all, MPI_MODE_NOCHECK, rma->window));
    memset(memory, 0, bytes);
    rma->base.data = memory + rma->first_data;
    return EKI_MPI(MPI_Win_sync, rma->window);
}

ek_status eki_fabric_mpi_export(struct eki_fabric *fabric, size_t words,
                                size_t bytes, struct eki_rma **made)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    struct eki_mpi_rma *rma = eki_alloc(1, sizeof *rma);
    size_t all = 0;
    *made = NULL;
    ek_status status = prepare_export(rma, mpi, words, bytes, &all);
    status = eki_mpi_agree(mpi->comm, status);
    if (status == EK_OK)
        status = eki_mpi_agree(mpi->comm, check_host_room(mpi->set, all));
    /* A window that not all ranks have stays until MPI_Finalize. */
    if (status == EK_OK)
        status = eki_mpi_agree(mpi->comm, make_exported(rma, all));
    if (status == EK_OK)
        *made = &rma->base;
    else
        eki_free(rma);
    return status;
}

/* Wait for what nobody has waited for. */
static void finish_tickets(struct eki_mpi_rma *rma)
{
    for (int i = 0; i < EKI_RMA_TICKETS && rma->mpi->base.failed == EK_OK; i++)
        (void)EKI_MPI_OF(rma->mpi, MPI_Wait, &rma->tickets[i].request,
                         MPI_STATUS_IGNORE);
}

void eki_fabric_mpi_unexport(struct eki_rma **given)
{
    if (!*given)
        return;
    struct eki_mpi_rma *rma = mpi_rma_of(*given);
    *given = NULL;
    if (eki_mpi_thread_level() >= 0) {
        finish_tickets(rma);
        MPI_Win_unlock_all(rma->window);
        MPI_Win_free(&rma->window);
    }
    eki_free(rma);
}
