/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma: one-sided operations on memory that ranks export.
 *
 * Each rank exports as many words of 8 bytes, and data behind them.  An
 * operation is started, on any rank's memory or the own, and has a *ticket*
 * until a test has said that it is done.  Operations are done in any order.
 *
 * The table is implemented over MPI (export.c).  Not every MPI carries
 * operations out while their target computes: ranks find out first, by the two
 * trials below.
 *
 * Memory: words are changed and read by operations alone, also by their owner:
 * MPI may have a lock of its own around them.  What a rank has stored in its
 * data before a sync, whoever gets after seeing a word that the rank has
 * changed after the sync gets, too.  What was put there the owner sees, after
 * such a word and a sync.
 *
 * Threads: one at a time, the one that calls the fabric; so MPI must be
 * funneled where that is the main thread, else serialized.
 */
#ifndef EKI_RMA_H
#define EKI_RMA_H

#include "fabric/fabric.h"

#include <limits.h>

enum eki_rma_kind {
    EKI_RMA_ADD,     /* to a word */
    EKI_RMA_REPLACE, /* a word */
    EKI_RMA_READ,    /* words that lie side by side, each by itself */
    EKI_RMA_GET,     /* data; ... */
    EKI_RMA_PUT      /* ... no one may change it meanwhile */
};

struct eki_rma_operation {
    enum eki_rma_kind kind;
    int rank;       /* whose memory */
    size_t at;      /* the number of the word, or the first byte of the data */
    uint64_t value; /* what is added, or replaces */
    void *memory;   /* GET writes and PUT reads it, until it is done */
    size_t bytes;   /* of MEMORY */
    size_t words;   /* READ reads so many, EKI_RMA_WORDS at most; 0: one */
};

#define EKI_RMA_WORDS 32
/* Of an operation: MPI counts by int. */
#define EKI_RMA_BYTES_MOST INT_MAX

struct eki_rma;

struct eki_rma_ops {
    /* Start an operation, under *TICKET, or -1: as many are under way as can
     * be.  EK_ERR_ARG: it is outside of what is exported. */
    ek_status (*start)(struct eki_rma *rma,
                       const struct eki_rma_operation *operation, int *ticket);
    /* Whether the operation of TICKET is done: the ticket is free, and BEFORE
     * has what the words were; NULL: nobody asks.  Also true when the fabric
     * has failed.  Never waits for a target, but one: a PUT that has left waits
     * until it has arrived, so it is for where passive targets are passive. */
    bool (*test)(struct eki_rma *rma, int ticket, uint64_t *before);
    /* Part stores and loads of the own data from operations on words. */
    void (*sync)(struct eki_rma *rma);
};

/* Operations of a rank that may be under way. */
#define EKI_RMA_TICKETS 64

/* First member of every implementation. */
struct eki_rma {
    const struct eki_rma_ops *ops;
    struct eki_fabric *fabric;
    size_t words, bytes; /* of each rank */
    unsigned char *data; /* the own, [bytes]; aligned to 8 */
};

/*
 * Export so many WORDS, zero, and BYTES of data, zero, the same on all ranks;
 * collective.  EK_ERR_MPI: MPI has no such memory for these ranks; the message
 * names the remedy, and whoever calls says it.  EK_ERR_NOMEM: the host has no
 * room.  Memory O(tickets).
 */
ek_status eki_fabric_mpi_export(struct eki_fabric *fabric, size_t words,
                                size_t bytes, struct eki_rma **rma);
/* Waits for what is under way; collective; before the fabric is destroyed.
 * After MPI_Finalize only memory is freed.  Sets *RMA to NULL. */
void eki_fabric_mpi_unexport(struct eki_rma **rma);

/* Start an operation and wait until it is done; while no tasks run. */
ek_status eki_rma_do(struct eki_rma *rma,
                     const struct eki_rma_operation *operation,
                     uint64_t *before);

/* What helps where one-sided operations do not do what they should.  Without
 * sm Open MPI has no memory that ranks of a host share (fabric/piece.c). */
#define EKI_RMA_REMEDY                                                         \
    "take another one-sided component of MPI (Open MPI: --mca osc sm,rdma on " \
    "one host, --mca pml ucx --mca osc sm,ucx on InfiniBand), or steal by "    \
    "messages"

/* What a trial has found, the same on all ranks. */
struct eki_rma_verdict {
    bool is_good;
    double longest_ns; /* of an operation whose target computed */
    char sentence[320];
};

/*
 * Trials of word 0 of ranks, which is 0 afterwards; collective, while no tasks
 * run.  A verdict that is not good names the remedy.
 *
 * Count: all ranks add to the word of rank 0, 10,000 times together, and rank 0
 * replaces it meanwhile.  MPI promises this for one kind of operation alone.
 */
ek_status eki_rma_try_count(struct eki_rma *rma,
                            struct eki_rma_verdict *verdict);
/* Passive: whether rank 0 can add to the words of others, at most 64 of them,
 * within a millisecond while these compute; 20 ms, five times that if not. */
ek_status eki_rma_try_passive(struct eki_rma *rma,
                              struct eki_rma_verdict *verdict);
/* Both trials, unless they went well on the program's communicator before: then
 * nothing is tried, and the verdict has no sentence.  A verdict that is not
 * good may be due to a busy machine, and is not kept. */
ek_status eki_rma_try(struct eki_rma *rma, struct eki_rma_verdict *verdict);

#endif
