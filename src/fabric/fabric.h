/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric: how servers exchange messages, and the memory a node shares.
 *
 * The message interface is a table of functions: mpi.c implements it here, the
 * simulated network elsewhere.  One thread at a time calls it, the server.
 * Nothing in the table blocks.
 */
#ifndef EKI_FABRIC_H
#define EKI_FABRIC_H

#include "base/base.h"

struct eki_wire;

/* Every message starts with this head, which is checked on arrival. */
struct eki_head {
    uint32_t magic;
    uint16_t version;
    uint16_t kind; /* who talks, and says what (engine/channel.h); not 0 */
    uint32_t collection; /* number of the client; set by who reserves */
    int32_t source;      /* rank that sent it; set by post */
    uint64_t phase;
    uint64_t signature;
    int64_t count;  /* items of the body */
    int64_t bytes;  /* of the body */
    int64_t first;  /* meaning depends on the kind */
    int32_t worker; /* meaning depends on the kind */
    int32_t detail; /* meaning depends on the kind */
};
_Static_assert(sizeof(struct eki_head) == 64, "layout of a message header");

/* The largest message, unless a slot needs more: Open MPI sends 65,536 bytes,
 * its own headers among them, over TCP while the receiver is not in MPI. */
#define EKI_MESSAGE_BYTES (65536 - 256)
/* A longer one on a host keeps its place until its receiver is there: Open MPI
 * sends 4,096 bytes over shared memory at once, headers among them. */
#define EKI_LATE_BYTES 4032

#define EKI_MESSAGE_MAGIC 0x6b656c31u
#define EKI_MESSAGE_VERSION 1

struct eki_message {
    struct eki_head head;
    unsigned char body[]; /* aligned to 8 bytes */
};

struct eki_fabric;

struct eki_fabric_ops {
    /* A buffer of fabric->message_bytes, or NULL: all are on their way. */
    struct eki_message *(*reserve)(struct eki_fabric *fabric);
    /* Whether one may be reserved for a message of a long row of them: some
     * are left to others.  NULL: always. */
    bool (*has_spare)(struct eki_fabric *fabric);
    /* Send head and head.bytes of body to RANK (may be the own rank). */
    void (*post)(struct eki_fabric *fabric, struct eki_message *message,
                 int rank);
    /* The next arrived message, checked, or NULL. */
    struct eki_message *(*poll)(struct eki_fabric *fabric);
    /* Give back a polled message. */
    void (*release)(struct eki_fabric *fabric, struct eki_message *message);
    /* Progress the sends of this rank; true if all are complete. */
    bool (*drain)(struct eki_fabric *fabric);
};

/* First member of every implementation; written by the thread that steps the
 * server, and by collective calls while no tasks run. */
struct eki_fabric {
    const struct eki_fabric_ops *ops;
    int rank, size;
    _Atomic uint32_t numbers; /* that clients were given: those below this */
    size_t message_bytes;     /* largest message, header included */
    ek_status failed;         /* EK_OK, or why no message moves any more */
    uint32_t troubles; /* failures, and messages dropped that make no sense */
    char failure[256]; /* the last of them in words, but a failure stays */
    struct eki_wire *wire; /* over it; opaque here */
};

/* Note trouble in the words of FAILURE; STATUS: why no message moves any more,
 * or EK_OK: one was dropped. */
void eki_fabric_note(struct eki_fabric *fabric, ek_status status,
                     const char *failure);

static inline bool eki_fabric_has_spare(struct eki_fabric *fabric)
{
    return !fabric->ops->has_spare || fabric->ops->has_spare(fabric);
}

#define EKI_HEAD_WHY 200 /* bytes of a text */

/*
 * Whether a header is one of ours and consistent with the received length:
 * magic, version, kind, collection below NUMBERS, source, counts and bytes not
 * negative, bytes equal to the received rest.  On failure WHY says what was
 * wrong.
 */
bool eki_head_check(const struct eki_head *head, size_t received_bytes,
                    uint32_t numbers, int size, char why[EKI_HEAD_WHY]);

/*
 * Thread level of MPI: 0 single ... 3 multiple, -1 not initialized, -2 already
 * finalized.
 */
int eki_mpi_thread_level(void);
/* The same for a program that gives COMM: one of an MPI session needs no
 * MPI_Init(). */
int eki_mpi_thread_level_of(MPI_Comm comm);
/* The communicator that Fortran knows by this number; none while MPI does not
 * run. */
MPI_Comm eki_mpi_comm_of_fortran(MPI_Fint comm);
bool eki_mpi_is_finalized(void);
/* End all ranks; returns where MPI cannot: for eki_abort_by(). */
void eki_mpi_abort(void);
/* Call HOOK's function when MPI_Finalize() begins, on the thread that calls it;
 * the hook lives until then.  *IS_HOOKED: it will come; a session has none.
 * EK_ERR_MPI: MPI refuses. */
struct eki_finalize_hook {
    void (*call)(void);
};
ek_status eki_mpi_at_finalize(const struct eki_finalize_hook *hook,
                              bool *is_hooked);
/* Append the name and version of the MPI library, such as "Open MPI v4.1.4". */
void eki_mpi_library(char *text, size_t bytes);
/* The own rank in COMM, and its size; -1, 0: COMM is none. */
void eki_mpi_ranks(MPI_Comm comm, int *rank, int *size);
/* Whether the calling thread is the one that initialized MPI. */
bool eki_mpi_is_main_thread(void);

/*
 * Be a client of what the fabrics over COMM share: a duplicate of it (own error
 * handler), made by the first client and found by all later ones, until the
 * last of them is gone or COMM is freed.  Collective; only the first client
 * waits for other ranks.  What *FABRIC is can be used for collectives, and
 * moves no message.
 */
ek_status eki_fabric_mpi_create(MPI_Comm comm, struct eki_fabric **fabric);
/* Call END when the program frees the communicator, which is collective, or
 * when the last client goes. */
void eki_fabric_mpi_at_free(struct eki_fabric *fabric, void (*end)(MPI_Comm));
/*
 * Replace *FABRIC by one that moves messages of up to MESSAGE_BYTES between
 * nodes of at most RANKS_PER_NODE ranks (0: all that share memory); collective,
 * both the same on all ranks.  Clients that say the same share a fabric: only
 * the first waits for other ranks.  Memory O(size): the nodes and a counter per
 * rank; what is never used of the buffers takes none.
 */
ek_status eki_fabric_mpi_open(struct eki_fabric **fabric,
                              int64_t ranks_per_node, size_t message_bytes);
/* Node of each rank [size], numbered 0, 1, ... by their lowest rank; borrowed;
 * of an open fabric. */
const int *eki_fabric_mpi_nodes(const struct eki_fabric *fabric);
/* What clients with the same nodes have in common besides; FREE gets it with
 * the last client of the communicator.  Of an open fabric. */
struct eki_stores;
struct eki_shelf {
    struct eki_stores *stores; /* of tiles; opaque here */
    void (*free)(struct eki_stores **stores);
};
struct eki_shelf *eki_fabric_mpi_shelf(struct eki_fabric *fabric);
/* How many ranks, this one included, really share its memory (not pretended).
 */
int eki_fabric_mpi_sharing(const struct eki_fabric *fabric);
/* Whether all ranks really share one memory. */
bool eki_fabric_mpi_is_one_host(const struct eki_fabric *fabric);
/* Of the last client, collective: wait until all that was ever sent to this
 * rank has arrived, and drop what nobody has polled.  No message moves any
 * more.  Of others: nothing. */
void eki_fabric_mpi_settle(struct eki_fabric *fabric);
/*
 * Be a client no more.  The last one, which is collective, frees all, as soon
 * as all messages have arrived everywhere; those that nobody polled are
 * dropped.  After MPI_Finalize it only frees memory.  Sets *fabric to NULL.
 */
void eki_fabric_mpi_destroy(struct eki_fabric **fabric);

/* Memory that the ranks of a node share. */
struct eki_node_memory {
    void *memory;
    size_t bytes;
    struct eki_mpi_window *window; /* NULL: the node is this rank */
    size_t page;
    bool is_optional; /* that there is no room is not said */
    bool is_modest;   /* it takes half of what is free at most */
};

/*
 * Share a piece of BYTES with the ranks of the (pretended) node, zeroed,
 * aligned to EKI_LINE, the same BYTES on each of its ranks; collective, on an
 * open fabric.  Free space is checked first: EK_ERR_NOMEM names the mount, what
 * is needed and the remedy.  Each rank zeroes, and so touches first, an equal
 * share in order of rank.
 *
 * Between the last eki_fabric_mpi_unshare() of any rank of the node and this
 * call all ranks have agreed on something, and none leaves a piece before all
 * have returned.  Where STATUS is an error on a rank all ranks hear of it, and
 * nobody gets a piece.
 */
ek_status eki_fabric_mpi_share(struct eki_fabric *fabric, ek_status status,
                               size_t bytes, struct eki_node_memory *piece);
/* Likewise, for who can do without: where there is no room nobody says so. */
ek_status eki_fabric_mpi_try_share(struct eki_fabric *fabric, size_t bytes,
                                   struct eki_node_memory *piece);
/* Leave a piece, or none (memory NULL); local.  When all ranks of the node have
 * left, it is free for others. */
void eki_fabric_mpi_unshare(struct eki_node_memory *piece);

/* Blocking collectives, only while no tasks run. */
/* The smallest (worst) status of all ranks, and everywhere the error message of
 * the lowest rank that has it: whoever passes a failure has set its message.
 * That rank gives it to the sink before the others hear of it. */
ek_status eki_fabric_mpi_agree(struct eki_fabric *fabric, ek_status status);
/* Likewise, and whether VALUE is the same on all ranks. */
ek_status eki_fabric_mpi_agree_on(struct eki_fabric *fabric, ek_status status,
                                  uint64_t value, bool *is_same);
ek_status eki_fabric_mpi_sum(struct eki_fabric *fabric, int64_t *values, int n);
ek_status eki_fabric_mpi_sum_double(struct eki_fabric *fabric, double *values,
                                    int n);
/* Bytes from value to value; 0: TYPE has gaps, or one of both is null. */
size_t eki_mpi_reduced_bytes(MPI_Datatype type, MPI_Op op);
/* COUNT values of so many bytes each, and how two of them become one. */
struct eki_reduction {
    int count;
    MPI_Datatype type;
    MPI_Op op;
    size_t bytes;
};
/* Combine BLOCKS of values in their order, then the ranks; the result is in the
 * first block. */
ek_status eki_fabric_mpi_reduce(struct eki_fabric *fabric, void *values,
                                int blocks,
                                const struct eki_reduction *reduction);
ek_status eki_fabric_mpi_max(struct eki_fabric *fabric, double *values, int n);
/* The largest of each value replaces it; RANKS: the lowest that has it. */
#define EKI_MAX_RANKS_MOST 4
ek_status eki_fabric_mpi_max_rank(struct eki_fabric *fabric, double *values,
                                  int *ranks, int n);
ek_status eki_fabric_mpi_broadcast(struct eki_fabric *fabric, void *data,
                                   size_t bytes, int root);
/* ALL receives size x BYTES. */
ek_status eki_fabric_mpi_gather_all(struct eki_fabric *fabric, const void *mine,
                                    void *all, size_t bytes);
/*
 * On rank 0 TAKE is given the BYTES that each rank has at MINE, in rank order
 * and in pieces; never on others.  One rank after the other sends: rank 0 needs
 * no memory for all.
 */
typedef void eki_take_fn(const void *piece, size_t bytes, void *context);
ek_status eki_fabric_mpi_gather(struct eki_fabric *fabric, const void *mine,
                                size_t bytes, eki_take_fn *take, void *context);
/* At ROOT, DATA receives what other ranks have at DATA, from byte STARTS[rank]
 * to that of the next; [size + 1]. */
ek_status eki_fabric_mpi_collect(struct eki_fabric *fabric, void *data,
                                 const int64_t *starts, int root);
/* What is to be added to the system's clock here so that it is that of rank 0's
 * host, and how wrong that may be: half of the shortest of some round trips. */
ek_status eki_fabric_mpi_clock(struct eki_fabric *fabric, int64_t *offset,
                               uint64_t *error);
ek_status eki_fabric_mpi_barrier(struct eki_fabric *fabric);

#endif
