/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trials of one-sided operations: what an MPI does with them it does not tell.
 * They run while no tasks run, so they may wait.
 */
#include "fabric/mpi_fabric.h"
#include "fabric/rma.h"

#define MS UINT64_C(1000000)

enum {
    COUNT = 10000, /* additions of all ranks together */
    ASKED_MOST = 64,
    ROUNDS_MOST = 5 /* somebody else may have had a core */
};

/* Of a target that computes, and how long an operation on it may take. */
#define COMPUTE_NS (20 * MS)
#define PASSIVE_NS (1 * MS)

ek_status eki_rma_do(struct eki_rma *rma,
                     const struct eki_rma_operation *operation,
                     uint64_t *before)
{
    int ticket;
    EKI_TRY(rma->ops->start(rma, operation, &ticket));
    if (ticket < 0)
        return eki_error(EK_ERR_STATE, "no ticket is free");
    while (!rma->ops->test(rma, ticket, before))
        ;
    return rma->fabric->failed;
}

/* On word 0 of RANK. */
static ek_status do_first(struct eki_rma *rma, enum eki_rma_kind kind, int rank,
                          uint64_t value, uint64_t *before)
{
    const struct eki_rma_operation operation = {
        .kind = kind, .rank = rank, .value = value};
    return eki_rma_do(rma, &operation, before);
}

/* Take what the word of this rank has counted. */
static ek_status empty_word(struct eki_rma *rma, uint64_t *sum)
{
    uint64_t before = 0;
    EKI_TRY(do_first(rma, EKI_RMA_REPLACE, rma->fabric->rank, 0, &before));
    *sum += before;
    return EK_OK;
}

/* Add this rank's part; rank 0 replaces until all have. */
static ek_status count_together(struct eki_rma *rma, uint64_t *sum)
{
    struct eki_fabric *fabric = rma->fabric;
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    MPI_Request all;
    int is_over = 0, is_owner = fabric->rank == 0;
    int more = fabric->rank < COUNT % fabric->size;
    for (int i = COUNT / fabric->size + more; i > 0; i--) {
        EKI_TRY(do_first(rma, EKI_RMA_ADD, 0, 1, NULL));
        if (is_owner)
            EKI_TRY(empty_word(rma, sum));
    }
    EKI_TRY(EKI_MPI_OF(mpi, MPI_Ibarrier, mpi->comm, &all));
    while (!is_over) {
        EKI_TRY(EKI_MPI_OF(mpi, MPI_Test, &all, &is_over, MPI_STATUS_IGNORE));
        if (is_owner)
            EKI_TRY(empty_word(rma, sum));
    }
    return EK_OK;
}

ek_status eki_rma_try_count(struct eki_rma *rma,
                            struct eki_rma_verdict *verdict)
{
    uint64_t sum = 0;
    *verdict = (struct eki_rma_verdict){0};
    EKI_TRY(count_together(rma, &sum));
    verdict->is_good = sum == COUNT;
    if (verdict->is_good)
        snprintf(verdict->sentence, sizeof verdict->sentence,
                 "%d additions to a word that its owner replaces were counted",
                 COUNT);
    else
        snprintf(verdict->sentence, sizeof verdict->sentence,
                 "of %d additions to a word that its owner replaces %llu were "
                 "counted; " EKI_RMA_REMEDY,
                 COUNT, (unsigned long long)sum);
    return eki_fabric_mpi_broadcast(rma->fabric, verdict, sizeof *verdict, 0);
}

/* What a target's word says, above what was added to it. */
enum {
    COMPUTES = 1 << 20,
    HAS_COMPUTED = 2 << 20
};

/* Others need the core, where ranks have not one each: who asks must come to it
 * while its targets compute. */
static void spin_until(uint64_t ns)
{
    while (eki_clock_system_ns() < ns)
        eki_yield();
}

/* Be a target: no MPI between both words. */
static ek_status compute_deaf(struct eki_rma *rma)
{
    int me = rma->fabric->rank;
    EKI_TRY(do_first(rma, EKI_RMA_REPLACE, me, COMPUTES, NULL));
    spin_until(eki_clock_system_ns() + COMPUTE_NS);
    return do_first(rma, EKI_RMA_REPLACE, me, HAS_COMPUTED, NULL);
}

/* How far rank 0 has come. */
struct asking {
    int next, stride;              /* ranks */
    double longest_ns, refused_ns; /* of what was good, and was not */
};

/* Add to words of ranks as long as these compute and it takes no time. */
static ek_status ask_deaf(struct eki_rma *rma, struct asking *asking)
{
    spin_until(eki_clock_system_ns() + COMPUTE_NS / 4); /* then they compute */
    while (asking->next < rma->fabric->size) {
        uint64_t before = 0, first = eki_clock_system_ns();
        EKI_TRY(do_first(rma, EKI_RMA_ADD, asking->next, 1, &before));
        double ns = (double)(eki_clock_system_ns() - first);
        bool is_deaf = before >= COMPUTES && before < HAS_COMPUTED;
        double *longest = is_deaf && ns < (double)PASSIVE_NS
                              ? &asking->longest_ns
                              : &asking->refused_ns;
        *longest = ns > *longest ? ns : *longest;
        if (longest == &asking->refused_ns)
            return EK_OK;
        asking->next += asking->stride;
    }
    return EK_OK;
}

/* Rank 0 asks while all others compute, until all are found good. */
static ek_status ask_in_rounds(struct eki_rma *rma, struct asking *asking)
{
    struct eki_fabric *fabric = rma->fabric;
    bool asks = fabric->rank == 0;
    /* Connections are made before. */
    for (int rank = 1; asks && rank < fabric->size; rank += asking->stride)
        EKI_TRY(do_first(rma, EKI_RMA_ADD, rank, 0, NULL));
    for (int round = 0; round < ROUNDS_MOST && asking->next < fabric->size;
         round++) {
        EKI_TRY(eki_fabric_mpi_barrier(fabric));
        EKI_TRY(asks ? ask_deaf(rma, asking) : compute_deaf(rma));
        EKI_TRY(eki_fabric_mpi_broadcast(fabric, asking, sizeof *asking, 0));
    }
    EKI_TRY(do_first(rma, EKI_RMA_REPLACE, fabric->rank, 0, NULL));
    return eki_fabric_mpi_barrier(fabric);
}

ek_status eki_rma_try_passive(struct eki_rma *rma,
                              struct eki_rma_verdict *verdict)
{
    int size = rma->fabric->size;
    struct asking asking = {.next = 1,
                            .stride = (size + ASKED_MOST - 1) / ASKED_MOST};
    *verdict = (struct eki_rma_verdict){0};
    EKI_TRY(ask_in_rounds(rma, &asking));
    bool is_good = asking.next >= size;
    verdict->is_good = is_good;
    verdict->longest_ns = is_good ? asking.longest_ns : asking.refused_ns;
    /* It was quick, but its target did not compute just then. */
    if (!is_good && asking.refused_ns < (double)PASSIVE_NS) {
        snprintf(verdict->sentence, sizeof verdict->sentence,
                 "ranks computed too late to tell whether passive targets are "
                 "passive: give each a core, or steal by messages");
        return EK_OK;
    }
    snprintf(verdict->sentence, sizeof verdict->sentence,
             "passive targets are %spassive: to add to a word of a rank that "
             "computes takes %.1f us%s",
             is_good ? "" : "not ", verdict->longest_ns / 1e3,
             is_good ? "" : "; " EKI_RMA_REMEDY);
    return EK_OK;
}

ek_status eki_rma_try(struct eki_rma *rma, struct eki_rma_verdict *verdict)
{
    struct eki_mpi_set *set = eki_mpi_of(rma->fabric)->set;
    bool was_good = eki_mpi_has_good_rma(set), are_same;
    EKI_TRY(eki_fabric_mpi_agree_on(rma->fabric, EK_OK, was_good, &are_same));
    *verdict = (struct eki_rma_verdict){.is_good = true};
    if (was_good && are_same)
        return EK_OK;
    EKI_TRY(eki_rma_try_count(rma, verdict));
    if (verdict->is_good)
        EKI_TRY(eki_rma_try_passive(rma, verdict));
    if (verdict->is_good)
        eki_mpi_note_good_rma(set);
    return EK_OK;
}
