/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks share memory, and the memory they share.
 *
 * Hosts are what MPI says; nodes are hosts, or pieces of them for tests and
 * for hosts with several memories.  Ranks may be placed in any order.
 */
#include "fabric/mpi_fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Split COMM; whatever handler MPI inherits, the parts return errors, too. */
static ek_status split(struct eki_mpi *mpi, MPI_Comm comm, int color, int key,
                       MPI_Comm *part)
{
    EKI_TRY(eki_mpi_check(mpi, "MPI_Comm_split",
                          MPI_Comm_split(comm, color, key, part)));
    MPI_Comm_set_errhandler(*part, MPI_ERRORS_RETURN);
    return EK_OK;
}

/* Make the communicators of the own host and the own node. */
static ek_status split_hosts(struct eki_mpi *mpi, int64_t ranks_per_node)
{
    EKI_TRY(eki_mpi_check(mpi, "MPI_Comm_split_type",
                          MPI_Comm_split_type(mpi->comm, MPI_COMM_TYPE_SHARED,
                                              mpi->base.rank, MPI_INFO_NULL,
                                              &mpi->host)));
    MPI_Comm_set_errhandler(mpi->host, MPI_ERRORS_RETURN);
    int host_rank = 0;
    MPI_Comm_rank(mpi->host, &host_rank);
    MPI_Comm_size(mpi->host, &mpi->host_size);
    int piece =
        ranks_per_node == 0 ? 0 : (int)((int64_t)host_rank / ranks_per_node);
    EKI_TRY(split(mpi, mpi->host, piece, host_rank, &mpi->node));
    MPI_Comm_rank(mpi->node, &mpi->node_rank);
    MPI_Comm_size(mpi->node, &mpi->node_size);
    return EK_OK;
}

/* Number the nodes by their lowest ranks. */
static ek_status number_nodes(struct eki_mpi *mpi)
{
    int leader = mpi->base.rank;
    EKI_TRY(eki_mpi_check(mpi, "MPI_Bcast",
                          MPI_Bcast(&leader, 1, MPI_INT, 0, mpi->node)));
    EKI_TRY(eki_mpi_check(
        mpi, "MPI_Allgather",
        MPI_Allgather(&leader, 1, MPI_INT, mpi->nodes, 1, MPI_INT, mpi->comm)));
    int count = 0;
    for (int rank = 0; rank < mpi->base.size; rank++) {
        leader = mpi->nodes[rank];
        /* A leader comes before its followers, so its number is there. */
        mpi->nodes[rank] = leader == rank ? count++ : mpi->nodes[leader];
    }
    return EK_OK;
}

ek_status eki_mpi_find_nodes(struct eki_mpi *mpi, int64_t ranks_per_node)
{
    ek_status status = split_hosts(mpi, ranks_per_node);
    if (status == EK_OK)
        status = number_nodes(mpi);
    return eki_mpi_agree(mpi->comm, status);
}

const int *eki_fabric_mpi_nodes(const struct eki_fabric *fabric)
{
    return ((const struct eki_mpi *)fabric)->nodes;
}

int eki_fabric_mpi_sharing(const struct eki_fabric *fabric)
{
    return ((const struct eki_mpi *)fabric)->host_size;
}

bool eki_fabric_mpi_is_one_host(const struct eki_fabric *fabric)
{
    return eki_fabric_mpi_sharing(fabric) == fabric->size;
}

/* What a window of BYTES takes of the mount: room to align it, and Open MPI's
 * own page and state per rank, generously. */
static int64_t window_need(const struct eki_mpi *mpi, size_t bytes)
{
    return (int64_t)bytes + EKI_LINE + 65536 + 512 * (int64_t)mpi->node_size;
}

/*
 * Whether NEED bytes are free where MPI puts windows.  Without this check
 * Open MPI 4.1 fails on the lowest rank and leaves the others waiting, and
 * MPICH dies of SIGBUS.
 */
static ek_status check_mount(int64_t need)
{
    const char *given = getenv("OMPI_MCA_osc_sm_backing_directory");
    bool is_given = given && given[0];
    const char *directory = is_given ? given : "/dev/shm";
    struct statvfs mount;
    if (statvfs(directory, &mount) != 0 || access(directory, W_OK) != 0) {
        /* Without a usable /dev/shm MPI looks for another place, which is
         * unknown here. */
        if (!is_given)
            return EK_OK;
        return eki_error(EK_ERR_NOMEM,
                         "shared memory cannot be made in %.200s, which "
                         "OMPI_MCA_osc_sm_backing_directory names: %s",
                         directory, strerror(errno));
    }
    uint64_t free_bytes = (uint64_t)mount.f_bavail * mount.f_frsize;
    if ((uint64_t)need <= free_bytes)
        return EK_OK;
    return eki_error(EK_ERR_NOMEM,
                     "shared memory: %.200s has %" PRIu64
                     " bytes free, the ranks of this host need %" PRId64
                     "; enlarge it (containers: --shm-size, else remount the "
                     "tmpfs with a larger size), or lower buffer_slots or "
                     "payload_bytes",
                     directory, free_bytes, need);
}

/* Add up what all nodes of the host are about to take, and look for it. */
static ek_status check_room(struct eki_mpi *mpi, size_t bytes)
{
    int64_t need = 0;
    if (mpi->node_size > 1 && mpi->node_rank == 0)
        need = window_need(mpi, bytes);
    EKI_TRY(eki_mpi_check(mpi, "MPI_Allreduce",
                          MPI_Allreduce(MPI_IN_PLACE, &need, 1, MPI_INT64_T,
                                        MPI_SUM, mpi->host)));
    return need == 0 ? EK_OK : check_mount(need);
}

/* Make the window of the node; *memory is aligned. */
static ek_status make_window(struct eki_mpi *mpi, size_t bytes, void **memory)
{
    unsigned char *base = NULL;
    /* All of it belongs to the lowest rank: one piece without gaps. */
    MPI_Aint mine =
        mpi->node_rank == 0 ? (MPI_Aint)(bytes + EKI_LINE) : (MPI_Aint)0;
    EKI_TRY(
        eki_mpi_check(mpi, "MPI_Win_allocate_shared",
                      MPI_Win_allocate_shared(mine, 1, MPI_INFO_NULL, mpi->node,
                                              &base, &mpi->window)));
    MPI_Win_set_errhandler(mpi->window, MPI_ERRORS_RETURN);
    MPI_Aint size = 0;
    int unit = 1;
    EKI_TRY(eki_mpi_check(
        mpi, "MPI_Win_shared_query",
        MPI_Win_shared_query(mpi->window, 0, &size, &unit, &base)));
    EKI_TRY(eki_mpi_check(mpi, "MPI_Win_lock_all",
                          MPI_Win_lock_all(MPI_MODE_NOCHECK, mpi->window)));
    /* Processes map pages, so the lowest rank's distance to the next line is
     * everyone's: it must be the same memory that is aligned. */
    int pad = (int)(-(uintptr_t)base % EKI_LINE);
    EKI_TRY(eki_mpi_check(mpi, "MPI_Bcast",
                          MPI_Bcast(&pad, 1, MPI_INT, 0, mpi->node)));
    base += pad;
    if ((uintptr_t)base % EKI_LINE != 0)
        return eki_error(EK_ERR_MPI, "MPI maps shared memory at addresses that "
                                     "differ by less than a cache line");
    *memory = base;
    return EK_OK;
}

/* Each rank zeroes its share, so that pages lie near the rank that uses them
 * when the caller lays the memory out in order of rank. */
static void zero_share(const struct eki_mpi *mpi, size_t bytes, void *memory)
{
    size_t share = bytes / (size_t)mpi->node_size + 1;
    share = (share + 4095) / 4096 * 4096;
    size_t first = share * (size_t)mpi->node_rank;
    if (first >= bytes)
        return;
    size_t rest = bytes - first;
    memset((unsigned char *)memory + first, 0, rest < share ? rest : share);
}

static ek_status make_memory(struct eki_mpi *mpi, size_t bytes, void **memory)
{
    if (mpi->node_size > 1)
        return make_window(mpi, bytes, memory);
    mpi->local = eki_alloc_lines(bytes);
    if (!mpi->local)
        return eki_error(EK_ERR_NOMEM, "no memory for %zu bytes of task queues",
                         bytes);
    *memory = mpi->local;
    return EK_OK;
}

ek_status eki_fabric_mpi_segment(struct eki_fabric *fabric, size_t bytes,
                                 void **memory)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    void *made = NULL;
    ek_status status = EK_OK;
    if (mpi->local || mpi->window != MPI_WIN_NULL)
        status = eki_error(EK_ERR_STATE, "the node has its memory already");
    else if (bytes < 1 || bytes > PTRDIFF_MAX / 2)
        status = eki_error(EK_ERR_ARG, "%zu bytes of shared memory", bytes);
    /* Ranks agree before they look, so that nobody waits for a rank that gave
     * up ... */
    EKI_TRY(eki_mpi_agree(mpi->comm, status));
    /* ... and after it, so that nobody takes memory while others look. */
    EKI_TRY(eki_mpi_agree(mpi->comm, check_room(mpi, bytes)));
    status = eki_mpi_agree(mpi->comm, make_memory(mpi, bytes, &made));
    if (status != EK_OK) {
        /* Freeing a window is collective, and some ranks may have none: the
         * window stays until MPI_Finalize. */
        mpi->window = MPI_WIN_NULL;
        eki_free(mpi->local);
        mpi->local = NULL;
        return status;
    }
    if (mpi->node_size > 1) {
        zero_share(mpi, bytes, made);
        status = eki_mpi_check(mpi, "MPI_Win_sync", MPI_Win_sync(mpi->window));
        if (status == EK_OK)
            status = eki_mpi_check(mpi, "MPI_Barrier", MPI_Barrier(mpi->node));
    }
    EKI_TRY(eki_mpi_agree(mpi->comm, status));
    *memory = made;
    return EK_OK;
}

void eki_mpi_leave_node(struct eki_mpi *mpi)
{
    if (mpi->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(mpi->window);
        MPI_Win_free(&mpi->window);
    }
    if (mpi->node != MPI_COMM_NULL)
        MPI_Comm_free(&mpi->node);
    if (mpi->host != MPI_COMM_NULL)
        MPI_Comm_free(&mpi->host);
}
