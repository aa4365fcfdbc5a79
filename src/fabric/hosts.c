/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks share memory.  Hosts are what MPI says; nodes are hosts, or
 * pieces of them for tests and for hosts with several memories.  Ranks may be
 * placed in any order.
 */
#include "fabric/mpi_fabric.h"

void eki_mpi_name(MPI_Comm comm, const char *before, MPI_Comm of,
                  const char *after)
{
    char name[MPI_MAX_OBJECT_NAME] = "", text[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    MPI_Comm_get_name(of, name, &length);
    eki_append(text, sizeof text, "%s%s%s%s", before,
               *before && length > 0 ? " of " : "", name, after);
    MPI_Comm_set_name(comm, text);
}

ek_status eki_mpi_find_host(struct eki_mpi_set *set)
{
    EKI_TRY(EKI_MPI(MPI_Comm_split_type, set->comm, MPI_COMM_TYPE_SHARED,
                    set->bare->base.rank, MPI_INFO_NULL, &set->host));
    /* Whatever handler MPI inherits, the part returns errors, too. */
    MPI_Comm_set_errhandler(set->host, MPI_ERRORS_RETURN);
    eki_mpi_name(set->host, "", set->comm, ", host");
    MPI_Comm_size(set->host, &set->host_size);
    return EK_OK;
}

/* Make the communicator of the own node. */
static ek_status split_node(const struct eki_mpi_set *set,
                            struct eki_mpi_nodes *nodes)
{
    int64_t per_node = nodes->ranks_per_node;
    int host_rank = 0;
    MPI_Comm_rank(set->host, &host_rank);
    int piece = per_node == 0 ? 0 : (int)((int64_t)host_rank / per_node);
    EKI_TRY(EKI_MPI(MPI_Comm_split, set->host, piece, host_rank, &nodes->node));
    MPI_Comm_set_errhandler(nodes->node, MPI_ERRORS_RETURN);
    eki_mpi_name(nodes->node, "", set->comm, ", node");
    eki_mpi_ranks(nodes->node, &nodes->node_rank, &nodes->node_size);
    return EK_OK;
}

/* Number the nodes by their lowest ranks. */
static ek_status number_by_leader(const struct eki_mpi_set *set,
                                  struct eki_mpi_nodes *nodes)
{
    int leader = set->bare->base.rank, count = 0;
    EKI_TRY(EKI_MPI(MPI_Bcast, &leader, 1, MPI_INT, 0, nodes->node));
    EKI_TRY(EKI_MPI(MPI_Allgather, &leader, 1, MPI_INT, nodes->of_rank, 1,
                    MPI_INT, set->comm));
    for (int rank = 0; rank < set->bare->base.size; rank++) {
        leader = nodes->of_rank[rank];
        /* A leader comes before its followers, so its number is there. */
        nodes->of_rank[rank] =
            leader == rank ? count++ : nodes->of_rank[leader];
    }
    return EK_OK;
}

/* Others may wait in MPI for a rank on which it has failed, so that rank speaks
 * before they agree. */
static ek_status split_and_number(const struct eki_mpi_set *set,
                                  struct eki_mpi_nodes *nodes)
{
    ek_status status = split_node(set, nodes);
    if (status == EK_OK)
        status = number_by_leader(set, nodes);
    if (status != EK_OK)
        eki_error_say(set->bare->base.rank, set->bare->base.size);
    return status;
}

void eki_mpi_free_nodes(struct eki_mpi_nodes *nodes, bool is_running)
{
    if (nodes && is_running && nodes->node != MPI_COMM_NULL)
        MPI_Comm_free(&nodes->node);
    eki_free(nodes);
}

static ek_status make_nodes(struct eki_mpi_set *set, int64_t ranks_per_node,
                            struct eki_mpi_nodes **made)
{
    int size = set->bare->base.size;
    struct eki_mpi_nodes *nodes =
        eki_alloc(1, sizeof *nodes + (size_t)size * sizeof *nodes->of_rank);
    ek_status status = EK_OK;
    if (nodes)
        nodes->node = MPI_COMM_NULL;
    else
        status = eki_error(EK_ERR_NOMEM, "no memory for %d ranks", size);
    status = eki_mpi_agree(set->comm, status);
    if (status == EK_OK) {
        nodes->set = set;
        nodes->ranks_per_node = ranks_per_node;
        status = eki_mpi_agree(set->comm, split_and_number(set, nodes));
    }
    if (status != EK_OK) {
        eki_mpi_free_nodes(nodes, true);
        return status;
    }
    nodes->next = set->nodes;
    set->nodes = nodes;
    *made = nodes;
    return EK_OK;
}

ek_status eki_mpi_find_nodes(struct eki_mpi_set *set, int64_t ranks_per_node,
                             struct eki_mpi_nodes **nodes)
{
    *nodes = set->nodes;
    while (*nodes && (*nodes)->ranks_per_node != ranks_per_node)
        *nodes = (*nodes)->next;
    return *nodes ? EK_OK : make_nodes(set, ranks_per_node, nodes);
}

enum {
    PINGS = 32 /* and so many answers, for each host */
};

/* Of PARTNER: send what the clock says, and take what it says there. */
static ek_status ping(struct eki_mpi *mpi, int partner, bool is_first,
                      uint64_t *there)
{
    uint64_t here = eki_clock_system_ns();
    if (is_first)
        EKI_TRY(EKI_MPI_OF(mpi, MPI_Send, &here, 1, MPI_UINT64_T, partner,
                           EKI_TAG_CLOCK, mpi->comm));
    EKI_TRY(EKI_MPI_OF(mpi, MPI_Recv, there, 1, MPI_UINT64_T, partner,
                       EKI_TAG_CLOCK, mpi->comm, MPI_STATUS_IGNORE));
    here = eki_clock_system_ns();
    if (is_first)
        return EK_OK;
    return EKI_MPI_OF(mpi, MPI_Send, &here, 1, MPI_UINT64_T, partner,
                      EKI_TAG_CLOCK, mpi->comm);
}

/* Rank 0 answers HOSTS others, one after the other. */
static ek_status answer_pings(struct eki_mpi *mpi, int64_t hosts)
{
    uint64_t there;
    for (; hosts > 0; hosts--) {
        MPI_Status status;
        EKI_TRY(EKI_MPI_OF(mpi, MPI_Probe, MPI_ANY_SOURCE, EKI_TAG_CLOCK,
                           mpi->comm, &status));
        for (int i = 0; i < PINGS; i++)
            EKI_TRY(ping(mpi, status.MPI_SOURCE, false, &there));
    }
    return EK_OK;
}

/* CLOCK: the offset, and its error. */
static ek_status send_pings(struct eki_mpi *mpi, int64_t *clock)
{
    clock[1] = INT64_MAX;
    for (int i = 0; i < PINGS; i++) {
        uint64_t there, before = eki_clock_system_ns();
        EKI_TRY(ping(mpi, 0, true, &there));
        int64_t half = (int64_t)(eki_clock_system_ns() - before + 1) / 2;
        if (half >= clock[1])
            continue;
        clock[0] = (int64_t)(there - before) - half;
        clock[1] = half;
    }
    return EK_OK;
}

ek_status eki_fabric_mpi_clock(struct eki_fabric *fabric, int64_t *offset,
                               uint64_t *error)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    MPI_Comm host = mpi->set->host;
    int64_t clock[2] = {0, 0};
    int host_rank = 0;
    MPI_Comm_rank(host, &host_rank);
    int64_t hosts = host_rank == 0;
    EKI_TRY(eki_fabric_mpi_sum(fabric, &hosts, 1));
    if (fabric->rank == 0)
        EKI_TRY(answer_pings(mpi, hosts - 1));
    else if (host_rank == 0)
        EKI_TRY(send_pings(mpi, clock));
    EKI_TRY(EKI_MPI_OF(mpi, MPI_Bcast, clock, 2, MPI_INT64_T, 0, host));
    *offset = clock[0];
    *error = (uint64_t)clock[1];
    return EK_OK;
}
