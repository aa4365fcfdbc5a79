/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What mpi.c (life and messages), node.c (nodes and their memory) and
 * collective.c (blocking calls) share.  For this module only.
 */
#ifndef EKI_MPI_FABRIC_H
#define EKI_MPI_FABRIC_H

#include "fabric/fabric.h"

/* Tags on the duplicated communicator. */
enum eki_tag {
    /* From any server to any server: a struct eki_message with its body. */
    EKI_TAG_MESSAGE = 1,
    /* From any rank to rank 0, in a gather: int64_t bytes, then that many in
     * pieces. */
    EKI_TAG_GATHER
};

enum {
    /* Enough that a burst finds a posted receive, few enough to stay cached;
     * half of them may be handed out while the other half still receives. */
    EKI_MPI_RECEIVES = 16,
    /* Rendezvous messages to a rank that computes keep their slots until it
     * polls, so there are several per receive. */
    EKI_MPI_SENDS = 64,
    /* Open MPI sends 4,096 bytes over shared memory, and 65,536 over TCP,
     * eagerly, its own headers (60 and some) among them. */
    EKI_MPI_SHARED_BYTES = 4032,
    EKI_MPI_NETWORK_BYTES = 65536 - 256,
    /* Largest piece of a broadcast, far from the largest int. */
    EKI_MPI_PIECE = 1 << 30,
    /* Piece of a gather: rank 0 has it on its stack. */
    EKI_MPI_GATHER_PIECE = 1 << 16
};

/* A queue of slot numbers; each slot is in it at most once. */
struct eki_mpi_queue {
    int slots[EKI_MPI_SENDS];
    int first, count;
};

struct eki_mpi {
    struct eki_fabric base;
    MPI_Comm comm; /* the duplicate */
    MPI_Comm host; /* ranks that really share memory, in order of rank */
    MPI_Comm node; /* ranks of the own (pretended) node, in order of rank */
    int host_size;
    int node_rank, node_size;
    int *nodes; /* [size] node of each rank */

    /* Messages; buffers are NULL before eki_fabric_mpi_open(). */
    size_t stride;                  /* from buffer to buffer */
    unsigned char *receive_buffers; /* [EKI_MPI_RECEIVES][stride] */
    unsigned char *send_buffers;    /* [EKI_MPI_SENDS][stride] */
    bool is_open;
    bool has_settled, is_settled; /* ... and nothing is on its way */
    /* Receives are persistent; those in POSTED are active, in this order, and
     * the messages of the others are handed out. */
    MPI_Request receives[EKI_MPI_RECEIVES];
    struct eki_mpi_queue posted;
    /* A send is MPI_REQUEST_NULL unless it is on its way; FLYING has those that
     * are, in order of posting. */
    MPI_Request sends[EKI_MPI_SENDS];
    struct eki_mpi_queue flying;
    int free_sends[EKI_MPI_SENDS]; /* a stack: a warm buffer is used first */
    int free_count;
    /* Messages are counted so that destroy knows when the last has arrived. */
    int64_t *sent; /* [size], to each rank */
    int64_t received;

    /* Memory of the node: a window, or LOCAL if the node is one rank. */
    MPI_Win window; /* MPI_WIN_NULL: none */
    void *local;
};

static inline struct eki_mpi *eki_mpi_of(struct eki_fabric *fabric)
{
    return (struct eki_mpi *)fabric; /* its first member */
}

/* Report the failure CODE of the MPI call WHAT; always EK_ERR_MPI. */
ek_status eki_mpi_error(const char *what, int code);
/* EK_OK, or report as above and let no message move any more. */
ek_status eki_mpi_check(struct eki_mpi *mpi, const char *what, int code);

/*
 * The worst status of the ranks of COMM, and on all of them the message of the
 * lowest rank that has it; a rank that failed must have set its message.
 */
ek_status eki_mpi_agree(MPI_Comm comm, ek_status status);

/* node.c: fill host, node and nodes; collective, agreed. */
ek_status eki_mpi_find_nodes(struct eki_mpi *mpi, int64_t ranks_per_node);
/* Free the window and the communicators of the node; collective. */
void eki_mpi_leave_node(struct eki_mpi *mpi);

#endif
