/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Life of the sets, and of the fabrics in them.
 *
 * A set is found by an attribute of the program's communicator, so all ranks
 * find the same or none.  The program may free its communicator first: then
 * nobody finds the set any more, and it lives until its last client goes.
 *
 * Which fabrics and nodes a set has, and in which order, is the same on all
 * ranks, because they change in collective calls alone, by what was agreed.
 *
 * Another attribute stays when the set goes: that one-sided operations were
 * found good on that communicator.
 *
 * Owns the keys of both attributes.  Calls that concern one set come one at a
 * time.
 */
#include "fabric/mpi_fabric.h"

#include <inttypes.h>
#include <pthread.h>

static pthread_mutex_t key_mutex = PTHREAD_MUTEX_INITIALIZER;
static int key = MPI_KEYVAL_INVALID, good_rma_key = MPI_KEYVAL_INVALID;

/* The program frees its communicator, or the set is closed. */
static int forget_parent(MPI_Comm comm, int given, void *kept, void *context)
{
    struct eki_mpi_set *set = kept;
    (void)given, (void)context;
    set->parent = MPI_COMM_NULL;
    if (set->end)
        set->end(comm);
    return MPI_SUCCESS;
}

static ek_status make_keys(void)
{
    ek_status status = EK_OK;
    pthread_mutex_lock(&key_mutex);
    if (key == MPI_KEYVAL_INVALID)
        status = EKI_MPI(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN,
                         forget_parent, &key, NULL);
    if (status == EK_OK && good_rma_key == MPI_KEYVAL_INVALID)
        status = EKI_MPI(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN,
                         MPI_COMM_NULL_DELETE_FN, &good_rma_key, NULL);
    pthread_mutex_unlock(&key_mutex);
    return status;
}

bool eki_mpi_has_good_rma(const struct eki_mpi_set *set)
{
    void *value;
    int is_good = 0;
    if (set->parent != MPI_COMM_NULL)
        MPI_Comm_get_attr(set->parent, good_rma_key, &value, &is_good);
    return is_good;
}

void eki_mpi_note_good_rma(struct eki_mpi_set *set)
{
    if (set->parent != MPI_COMM_NULL)
        MPI_Comm_set_attr(set->parent, good_rma_key, &good_rma_key);
}

/* A fabric of SET without nodes and messages; NULL: no memory. */
static struct eki_mpi *make_fabric(struct eki_mpi_set *set)
{
    int rank, size;
    eki_mpi_ranks(set->comm, &rank, &size);
    struct eki_mpi *mpi =
        eki_alloc(1, sizeof *mpi + (size_t)size * sizeof *mpi->sent);
    if (!mpi)
        return NULL;
    mpi->base.ops = &eki_mpi_ops;
    mpi->set = set;
    mpi->comm = set->comm;
    mpi->base.rank = rank;
    mpi->base.size = size;
    mpi->tag = EKI_TAG_MESSAGE + set->fabrics - 1;
    for (int slot = 0; slot < EKI_MPI_RECEIVES; slot++)
        mpi->receives[slot] = MPI_REQUEST_NULL;
    for (int slot = 0; slot < EKI_MPI_SENDS; slot++)
        mpi->sends[slot] = MPI_REQUEST_NULL;
    return mpi;
}

/* Put FABRIC into its set. */
static void add_fabric(struct eki_mpi *mpi)
{
    mpi->next = mpi->set->first;
    mpi->set->first = mpi;
}

static void free_fabric(struct eki_mpi *mpi, bool has_buffers)
{
    eki_fabric_mpi_unshare(&mpi->lockers.memory);
    if (has_buffers)
        eki_free(mpi->receive_buffers);
    eki_free(mpi);
}

static void free_nodes(struct eki_mpi_set *set, bool is_running)
{
    while (set->nodes) {
        struct eki_mpi_nodes *nodes = set->nodes;
        set->nodes = nodes->next;
        if (nodes->shelf.stores)
            nodes->shelf.free(&nodes->shelf.stores);
        eki_mpi_free_windows(nodes, is_running);
        eki_mpi_free_nodes(nodes, is_running);
    }
}

/* Collective, unless MPI is finalized: then only memory is freed. */
static void close_set(struct eki_mpi_set *set)
{
    bool is_running = eki_mpi_thread_level() >= 0, all_closed = true;
    if (is_running && set->parent != MPI_COMM_NULL)
        MPI_Comm_delete_attr(set->parent, key);
    while (set->first) {
        struct eki_mpi *mpi = set->first;
        set->first = mpi->next;
        bool is_closed = !is_running || eki_mpi_close(mpi);
        all_closed &= is_closed;
        free_fabric(mpi, is_closed);
    }
    free_nodes(set, is_running);
    if (is_running && set->host != MPI_COMM_NULL)
        MPI_Comm_free(&set->host);
    if (is_running && all_closed)
        MPI_Comm_free(&set->comm);
    eki_free(set);
}

/* What a set, which owns the duplicate OWN, needs on this rank; NULL: no memory
 * for it. */
static ek_status fill_set(struct eki_mpi_set *set, MPI_Comm own)
{
    if (set) {
        set->comm = own;
        set->host = set->parent = MPI_COMM_NULL;
        set->bare = make_fabric(set);
    }
    if (!set || !set->bare)
        return eki_error(EK_ERR_NOMEM, "no memory for the fabric");
    add_fabric(set->bare);
    eki_abort_by(eki_mpi_abort, set->bare->base.rank);
    return EK_OK;
}

/* Let SET be found, with its host. */
static ek_status tie_set(MPI_Comm comm, struct eki_mpi_set *set)
{
    EKI_TRY(eki_mpi_find_host(set));
    EKI_TRY(EKI_MPI(MPI_Comm_set_attr, comm, key, set));
    set->parent = comm;
    return EK_OK;
}

/* Collective; *MADE is NULL on failure. */
static ek_status make_set(MPI_Comm comm, struct eki_mpi_set **made)
{
    MPI_Comm own = MPI_COMM_NULL;
    *made = NULL;
    EKI_TRY(EKI_MPI(MPI_Comm_dup, comm, &own));
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    eki_mpi_name(own, "evenkeel tasks", comm, "");
    struct eki_mpi_set *set = eki_alloc(1, sizeof *set);
    ek_status status = eki_mpi_agree(own, fill_set(set, own));
    if (status == EK_OK)
        status = eki_mpi_agree(own, tie_set(comm, set));
    if (status == EK_OK)
        *made = set;
    else if (set)
        close_set(set);
    else
        MPI_Comm_free(&own);
    return status;
}

/* Messages need a communicator that is not null and no intercommunicator. */
static ek_status check_comm(MPI_Comm comm)
{
    int level = eki_mpi_thread_level(), is_inter = 0;
    if (level < 0)
        return eki_error(EK_ERR_STATE, "MPI is %s",
                         level == -1 ? "not initialized" : "finalized");
    if (comm == MPI_COMM_NULL)
        return eki_error(EK_ERR_ARG, "the communicator is MPI_COMM_NULL");
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        return eki_error(EK_ERR_ARG, "the communicator is an "
                                     "intercommunicator");
    return EK_OK;
}

ek_status eki_fabric_mpi_create(MPI_Comm comm, struct eki_fabric **fabric)
{
    *fabric = NULL;
    EKI_TRY(check_comm(comm));
    EKI_TRY(make_keys());
    struct eki_mpi_set *set = NULL;
    int is_there = 0;
    MPI_Comm_get_attr(comm, key, &set, &is_there);
    if (!is_there)
        EKI_TRY(make_set(comm, &set));
    set->clients++;
    *fabric = &set->bare->base;
    return EK_OK;
}

void eki_fabric_mpi_at_free(struct eki_fabric *fabric, void (*end)(MPI_Comm))
{
    eki_mpi_of(fabric)->set->end = end;
}

/* The fabric of SET that is like this, or NULL. */
static struct eki_mpi *find_fabric(const struct eki_mpi_set *set,
                                   int64_t ranks_per_node, size_t message_bytes)
{
    for (struct eki_mpi *mpi = set->first; mpi; mpi = mpi->next) {
        if (mpi->nodes && mpi->nodes->ranks_per_node == ranks_per_node &&
            mpi->base.message_bytes == message_bytes && !mpi->is_void)
            return mpi;
    }
    return NULL;
}

/* Collective; *MADE is NULL on failure. */
static ek_status open_fabric(struct eki_mpi_set *set, int64_t ranks_per_node,
                             size_t message_bytes, struct eki_mpi **made)
{
    struct eki_mpi_nodes *nodes;
    *made = NULL;
    EKI_TRY(eki_mpi_find_nodes(set, ranks_per_node, &nodes));
    set->fabrics++;
    struct eki_mpi *mpi = make_fabric(set);
    ek_status status =
        mpi ? EK_OK : eki_error(EK_ERR_NOMEM, "no memory for the fabric");
    status = eki_mpi_agree(set->comm, status);
    if (status != EK_OK) {
        if (mpi)
            free_fabric(mpi, true);
        return status;
    }
    mpi->nodes = nodes;
    add_fabric(mpi);
    status = eki_mpi_open(mpi, message_bytes);
    if (status == EK_OK)
        status = eki_mpi_open_lockers(mpi);
    mpi->is_void = status != EK_OK;
    if (status == EK_OK)
        *made = mpi;
    return status;
}

ek_status eki_fabric_mpi_open(struct eki_fabric **fabric,
                              int64_t ranks_per_node, size_t message_bytes)
{
    struct eki_mpi_set *set = eki_mpi_of(*fabric)->set;
    if (eki_mpi_of(*fabric)->is_open)
        return eki_error(EK_ERR_STATE, "the fabric is open already");
    if (ranks_per_node < 0)
        return eki_error(EK_ERR_ARG,
                         "ranks_per_node %" PRId64 ", expected 0 or more",
                         ranks_per_node);
    struct eki_mpi *mpi = find_fabric(set, ranks_per_node, message_bytes);
    if (!mpi)
        EKI_TRY(open_fabric(set, ranks_per_node, message_bytes, &mpi));
    *fabric = &mpi->base;
    return EK_OK;
}

const int *eki_fabric_mpi_nodes(const struct eki_fabric *fabric)
{
    return ((const struct eki_mpi *)fabric)->nodes->of_rank;
}

struct eki_shelf *eki_fabric_mpi_shelf(struct eki_fabric *fabric)
{
    return &eki_mpi_of(fabric)->nodes->shelf;
}

int eki_fabric_mpi_sharing(const struct eki_fabric *fabric)
{
    return ((const struct eki_mpi *)fabric)->set->host_size;
}

bool eki_fabric_mpi_is_one_host(const struct eki_fabric *fabric)
{
    return eki_fabric_mpi_sharing(fabric) == fabric->size;
}

void eki_fabric_mpi_settle(struct eki_fabric *fabric)
{
    struct eki_mpi_set *set = eki_mpi_of(fabric)->set;
    if (set->clients > 1 || eki_mpi_thread_level() < 0)
        return;
    for (struct eki_mpi *mpi = set->first; mpi; mpi = mpi->next)
        eki_mpi_settle(mpi);
}

void eki_fabric_mpi_destroy(struct eki_fabric **fabric)
{
    if (!fabric || !*fabric)
        return;
    struct eki_mpi_set *set = eki_mpi_of(*fabric)->set;
    *fabric = NULL;
    if (--set->clients == 0)
        close_set(set);
}
