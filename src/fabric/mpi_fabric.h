/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this module share: collective.c (blocking calls), mpi.c
 * (messages), locker.c (long ones), hosts.c (nodes), piece.c (their memory),
 * export.c (memory of a rank that others change), set.c (life).
 *
 * A set is what all fabrics over one communicator of the program share: a
 * duplicate, found again by an attribute.  Fabrics that have the same nodes
 * share these, and clients that have the same nodes and message size share a
 * fabric.  All lives until the last client of the set goes: so only that one
 * waits for other ranks.
 */
#ifndef EKI_MPI_FABRIC_H
#define EKI_MPI_FABRIC_H

#include "fabric/fabric.h"

/* Tags on the duplicated communicator. */
enum eki_tag {
    /* From any rank to rank 0, in a gather: int64_t bytes, then that many in
     * pieces.  From any rank to a root that knows how many: the pieces. */
    EKI_TAG_GATHER = 1,
    /* Between rank 0 and the lowest rank of any other host: uint64_t, what the
     * system's clock said there. */
    EKI_TAG_CLOCK,
    /* From any server to any server: a struct eki_message with its body.  The
     * first fabric of a set has this tag, the second the next one, ... */
    EKI_TAG_MESSAGE
};

enum {
    /* Enough that a burst finds a posted receive, few enough to stay cached;
     * half of them may be handed out while the other half still receives. */
    EKI_MPI_RECEIVES = 16,
    /* Rendezvous messages to a rank that computes keep their slots until it
     * polls, so there are several per receive. */
    EKI_MPI_SENDS = 64,
    /* Left to others by who sends many to a rank that may compute for long. */
    EKI_MPI_SPARE = 16,
    /* Of the lockers of a rank. */
    EKI_MPI_LOCKER_BYTES = 1 << 20,
    EKI_MPI_LOCKERS_LEAST = 2,
    /* Largest piece of a broadcast and the like, far from the largest int. */
    EKI_MPI_PIECE = 1 << 30,
    /* Piece of a gather: rank 0 has it on its stack. */
    EKI_MPI_GATHER_PIECE = 1 << 16,
    /* Values that ranks compare while they agree. */
    EKI_MPI_COMPARED_MOST = 4,
    /* Pieces of a window begin at multiples of this ... */
    EKI_MPI_PAGE = 4096,
    /* ... but larger ones have a window each. */
    EKI_MPI_OWN_WINDOW = 1 << 20,
    /* Windows grow up to this by doubling. */
    EKI_MPI_WINDOW_MOST = 16 << 20
};

/* A queue of slot numbers; each slot is in it at most once. */
struct eki_mpi_queue {
    int slots[EKI_MPI_SENDS];
    int first, count;
};

/* A page of a window, as this rank knows it; the same on all ranks of the node
 * while they are in eki_fabric_mpi_share(). */
struct eki_mpi_page {
    size_t length;  /* pages of the piece that began here last */
    uint64_t taken; /* pieces that have begun here */
};

/*
 * Memory of the node that is handed out in pieces: a table of LEFT, then COUNT
 * pages.  A page is in use while not all ranks have left the last piece that
 * began there, or a piece that began before reaches it.
 */
struct eki_mpi_window {
    struct eki_mpi_window *next;
    MPI_Win window;
    _Atomic uint64_t *left; /* [count], of all ranks together */
    unsigned char *memory;
    uint64_t ranks; /* of the node */
    size_t page_bytes, count;
    size_t touched;              /* pages that have been in use */
    struct eki_mpi_page pages[]; /* [count] */
};

/* How ranks are split into nodes, and the memory of the own one. */
struct eki_mpi_nodes {
    struct eki_mpi_nodes *next;
    struct eki_mpi_set *set;
    int64_t ranks_per_node;
    MPI_Comm node; /* ranks of the own (pretended) node, in order of rank */
    int node_rank, node_size;
    struct eki_mpi_window *windows;
    struct eki_shelf shelf;
    int of_rank[]; /* [size] node of each rank */
};

struct eki_mpi;

struct eki_mpi_set {
    MPI_Comm parent; /* that has the attribute; MPI_COMM_NULL: it was freed */
    MPI_Comm comm;   /* the duplicate */
    MPI_Comm host;   /* ranks that really share memory, in order of rank */
    int host_size;
    int clients;
    void (*end)(MPI_Comm parent); /* when it is freed; or NULL */
    struct eki_mpi *first;        /* fabrics, the newest first */
    struct eki_mpi *bare; /* the oldest: no nodes, and it moves no message */
    int fabrics;          /* that were ever made */
    struct eki_mpi_nodes *nodes;
};

/* Places of all ranks of the host for one long message each. */
struct eki_mpi_lockers {
    struct eki_node_memory memory;
    const struct eki_mpi_nodes *hosts; /* NULL: there are none */
    size_t stride;                     /* from locker to locker */
    int room;                          /* of them, for each rank */
    int next;                          /* own one that is looked at first */
    uint64_t number;                   /* of the last message in an own one */
};

/* What MPI sends of a message in a locker; shorter than any header. */
struct eki_locker_note {
    uint64_t number; /* that the locker shows */
    uint32_t place;  /* of the locker */
    uint32_t bytes;  /* of the message */
};

struct eki_mpi {
    struct eki_fabric base;
    struct eki_mpi_set *set;
    struct eki_mpi *next; /* of the set */
    MPI_Comm comm;        /* the duplicate */
    struct eki_mpi_nodes *nodes;
    struct eki_mpi_lockers lockers;
    int tag;
    bool is_void; /* it could not be opened; nobody finds it */

    /* Messages; buffers are NULL before eki_mpi_open(). */
    size_t stride;                  /* from buffer to buffer */
    unsigned char *receive_buffers; /* [EKI_MPI_RECEIVES][stride], then ... */
    unsigned char *send_buffers;    /* ... [EKI_MPI_SENDS][stride] */
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
    int free_sends[EKI_MPI_SENDS]; /* a stack: a warm buffer is used
                                           first */
    int free_count;
    /* Messages are counted so that destroy knows when the last has arrived. */
    int64_t received;
    int64_t sent[]; /* [size], to each rank */
};

static inline struct eki_mpi *eki_mpi_of(struct eki_fabric *fabric)
{
    return (struct eki_mpi *)fabric; /* its first member */
}

/* Report the failure CODE of the MPI call WHAT; always EK_ERR_MPI. */
ek_status eki_mpi_error(const char *what, int code);
/* EK_OK, or report as above. */
static inline ek_status eki_mpi_status(const char *what, int code)
{
    return EKI_LIKELY(code == MPI_SUCCESS) ? EK_OK : eki_mpi_error(what, code);
}
/* Likewise, and let no message move any more. */
ek_status eki_mpi_check(struct eki_mpi *mpi, const char *what, int code);

/* What the call of an MPI function gives, for communicators, and for MPI. */
#define EKI_MPI(function, ...) eki_mpi_status(#function, function(__VA_ARGS__))
#define EKI_MPI_OF(mpi, function, ...) \
    eki_mpi_check(mpi, #function, function(__VA_ARGS__))

/*
 * The worst status of the ranks of COMM, and on all of them the message of the
 * lowest rank that has it; a rank that failed must have set its message.
 */
ek_status eki_mpi_agree(MPI_Comm comm, ek_status status);
/* Likewise; each of N values becomes the largest of all ranks. */
ek_status eki_mpi_agree_most(MPI_Comm comm, ek_status status, uint64_t *most,
                             int n);

/* set.c: whether the trials of one-sided operations (trials.c) have gone well
 * on the program's communicator of a set; false where that is freed. */
bool eki_mpi_has_good_rma(const struct eki_mpi_set *set);
/* They have. */
void eki_mpi_note_good_rma(struct eki_mpi_set *set);

/* mpi.c: make the buffers, and post the receives; collective, agreed. */
ek_status eki_mpi_open(struct eki_mpi *mpi, size_t message_bytes);
/* Wait until all that was sent to this rank has arrived, and drop it. */
void eki_mpi_settle(struct eki_mpi *mpi);
/* End all requests; false: MPI may still use the buffers. */
bool eki_mpi_close(struct eki_mpi *mpi);
extern const struct eki_fabric_ops eki_mpi_ops;

/* locker.c: make lockers, where ranks share a host that has room for them;
 * collective, agreed. */
ek_status eki_mpi_open_lockers(struct eki_mpi *mpi);
/* Whether the next long message to the host has a locker, or there are none. */
bool eki_mpi_has_locker(struct eki_mpi *mpi);
/* Move a long MESSAGE to RANK into a locker: its note is in its place; false:
 * MPI has to send it. */
bool eki_mpi_lock_up(struct eki_mpi *mpi, struct eki_message *message,
                     int rank);
/* The message whose note of so many BYTES has come, which become its own; NULL:
 * it is no note. */
struct eki_message *eki_mpi_unlock(const struct eki_mpi *mpi, const void *note,
                                   size_t *bytes);
/* MESSAGE is not needed any more; false: it lies in no locker. */
bool eki_mpi_vacate(const struct eki_mpi *mpi, struct eki_message *message);

/* hosts.c: name COMM for tools: the words BEFORE, the name of OF, AFTER; cut to
 * what MPI keeps. */
void eki_mpi_name(MPI_Comm comm, const char *before, MPI_Comm of,
                  const char *after);
/* Collective; the nodes, which may be there already, are agreed on. */
ek_status eki_mpi_find_host(struct eki_mpi_set *set);
ek_status eki_mpi_find_nodes(struct eki_mpi_set *set, int64_t ranks_per_node,
                             struct eki_mpi_nodes **nodes);
/* NULL is accepted; unless IS_RUNNING, MPI is not called. */
void eki_mpi_free_nodes(struct eki_mpi_nodes *nodes, bool is_running);
/* piece.c: as eki_fabric_mpi_share(), of NODES; PIECE says how many bytes. */
ek_status eki_mpi_share(struct eki_mpi_nodes *nodes, ek_status status,
                        struct eki_node_memory *piece);
/* Whether NEED bytes are free where MPI puts windows; the message names the
 * mount and the remedy. */
ek_status eki_mpi_check_mount(uint64_t need);
/* Free the windows of a node, collective; unless IS_RUNNING, only what
 * this rank knows of them. */
void eki_mpi_free_windows(struct eki_mpi_nodes *nodes, bool is_running);

#endif
