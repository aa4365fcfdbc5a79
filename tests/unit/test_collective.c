/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric over MPI: what ranks do together while no tasks run, that is nodes,
 * their shared memory, and collectives.
 *
 *     test_collective SIZE      all tests, on any number of ranks and hosts
 *     test_collective SIZE shm  a shared-memory mount that is too small; needs
 *                               root and private mounts, else 77
 *     test_collective SIZE large  a mount of 4 MiB, which the launcher has made
 */
#define _GNU_SOURCE /* unshare() */

#include "fabric_run.h"

#include <sys/mount.h>
#include <unistd.h>

/* What the nodes must be, found another way: by the names of the hosts. */
static void expected_nodes(MPI_Comm comm, int ranks_per_node, int *nodes,
                           int *sharing)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length, me;
    MPI_Comm_rank(comm, &me);
    MPI_Get_processor_name(name, &length);
    char *names = malloc((size_t)size * sizeof name);
    need(CHECK(names != NULL));
    MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR,
                  comm);
    *sharing = 0;
    for (int r = 0, count = 0; r < size; r++) {
        /* Those before me on my host, and the last of them. */
        int before = 0, last = -1;
        for (int other = 0; other < r; other++)
            if (strcmp(names + (size_t)other * sizeof name,
                       names + (size_t)r * sizeof name) == 0) {
                before++;
                last = other;
            }
        bool is_first =
            ranks_per_node == 0 ? before == 0 : before % ranks_per_node == 0;
        nodes[r] = is_first ? count++ : nodes[last];
        *sharing += strcmp(names + (size_t)r * sizeof name, name) == 0;
    }
    free(names);
}

static void check_nodes(MPI_Comm comm)
{
    int *nodes = malloc((size_t)size * sizeof *nodes);
    need(CHECK(nodes != NULL));
    for (int per_node = 0; per_node <= 3; per_node++) {
        int sharing;
        expected_nodes(comm, per_node, nodes, &sharing);
        struct eki_fabric *fabric = fabric_make(comm, per_node, 0);
        CHECK_EQ_INT(fabric->size, size);
        for (int r = 0; r < size; r++)
            CHECK_EQ_INT(eki_fabric_mpi_nodes(fabric)[r], nodes[r]);
        CHECK_EQ_INT(eki_fabric_mpi_sharing(fabric), sharing);
        CHECK(eki_fabric_mpi_is_one_host(fabric) == (sharing == size));
        eki_fabric_mpi_destroy(&fabric);
        CHECK(fabric == NULL);
    }
    free(nodes);
}

static void nodes_follow_the_hosts(void)
{
    check_nodes(MPI_COMM_WORLD);
    /* Reversed, and dealt like cards: 0 2 4 ... 1 3 5 ... */
    const int keys[] = {-rank, rank % 2 * size + rank};
    for (int i = 0; i < 2; i++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, 0, keys[i], &comm);
        check_nodes(comm);
        MPI_Comm_free(&comm);
    }
}

static bool is_node_leader(const struct eki_fabric *fabric)
{
    const int *nodes = eki_fabric_mpi_nodes(fabric);
    for (int r = 0; r < rank; r++)
        if (nodes[r] == nodes[rank])
            return false;
    return true;
}

/* Zeroed, aligned; what one rank writes its node sees, and no other node. */
static void check_piece(struct eki_fabric *fabric, size_t bytes,
                        struct eki_node_memory *piece)
{
    need(CHECK_OK(eki_fabric_mpi_share(fabric, EK_OK, bytes, piece)));
    CHECK_EQ_INT((uintptr_t)piece->memory % EKI_LINE, 0);
    unsigned char *raw = piece->memory;
    for (size_t i = 0; i < bytes; i++)
        if (raw[i] != 0)
            need(CHECK_EQ_INT(raw[i], 0));
    CHECK_OK(eki_fabric_mpi_barrier(fabric));

    int node = eki_fabric_mpi_nodes(fabric)[rank];
    if (is_node_leader(fabric))
        for (size_t i = sizeof(uint64_t); i < bytes; i++)
            raw[i] = (unsigned char)(i + i / 256 + (size_t)node);
    _Atomic uint64_t *flag = piece->memory;
    if (is_node_leader(fabric))
        atomic_store_explicit(flag, (uint64_t)node + 1, memory_order_release);
    uint64_t seen = 0;
    while (seen == 0) {
        seen = atomic_load_explicit(flag, memory_order_acquire);
        sched_yield();
    }
    CHECK_EQ_INT(seen, node + 1);
    for (size_t i = sizeof(uint64_t); i < bytes; i++)
        if (raw[i] != (unsigned char)(i + i / 256 + (size_t)node))
            need(CHECK_EQ_INT(raw[i],
                              (unsigned char)(i + i / 256 + (size_t)node)));
}

/* All ranks of a node count together, without losing one. */
static void check_counter(struct eki_fabric *fabric)
{
    enum {
        COUNTS = 20000
    };
    struct eki_node_memory piece;
    need(CHECK_OK(eki_fabric_mpi_share(fabric, EK_OK, 1024, &piece)));
    _Atomic uint64_t *counter = (void *)((unsigned char *)piece.memory + 512);
    for (int i = 0; i < COUNTS; i++)
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    CHECK_OK(eki_fabric_mpi_barrier(fabric));
    const int *nodes = eki_fabric_mpi_nodes(fabric);
    int ranks = 0;
    for (int r = 0; r < size; r++)
        ranks += nodes[r] == nodes[rank];
    CHECK_EQ_INT(atomic_load_explicit(counter, memory_order_relaxed),
                 (uint64_t)ranks * COUNTS);
    eki_fabric_mpi_unshare(&piece);
}

static void nodes_share_their_memory(void)
{
    static const size_t bytes[] = {8, 100, 4096, 1000000};
    struct eki_node_memory piece;
    for (int per_node = 0; per_node <= 3; per_node++) {
        for (int i = 0; i < 4; i++) {
            struct eki_fabric *fabric =
                fabric_make(MPI_COMM_WORLD, per_node, 256);
            check_piece(fabric, bytes[i], &piece);
            if (i % 2)
                storm(fabric, 3);
            eki_fabric_mpi_unshare(&piece);
            eki_fabric_mpi_destroy(&fabric);
        }
        struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, per_node, 0);
        check_counter(fabric);
        eki_fabric_mpi_destroy(&fabric);
    }
}

static void impossible_pieces_are_refused(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 0);
    struct eki_node_memory piece;
    CHECK_EQ_INT(eki_fabric_mpi_share(fabric, EK_OK, 0, &piece), EK_ERR_ARG);
    CHECK_EQ_INT(eki_fabric_mpi_share(fabric, EK_OK, SIZE_MAX, &piece),
                 EK_ERR_ARG);
    if (size > 1) /* of one's own, so much makes a sanitizer abort */
        CHECK_EQ_INT(
            eki_fabric_mpi_share(fabric, EK_OK, (size_t)1 << 50, &piece),
            EK_ERR_NOMEM);
    CHECK(piece.memory == NULL);
    /* A refusal leaves it usable. */
    check_piece(fabric, 1000, &piece);
    eki_fabric_mpi_unshare(&piece);
    eki_fabric_mpi_destroy(&fabric);
}

enum {
    PIECES = 24
};

/* Pieces that are there do not meet; freed ones come again, zeroed, whatever
 * the order in which the ranks leave them. */
static void pieces_come_and_go_in_any_order(void)
{
    struct eki_random random;
    for (int per_node = 0; per_node <= 2; per_node += 2) {
        struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, per_node, 0);
        struct eki_node_memory pieces[PIECES] = {{0}};
        eki_random_seed(&random, 7, 0); /* the same on all ranks */
        for (int round = 0; round < 40; round++) {
            /* A few go, from the first or from the last one on. */
            uint64_t gone = eki_random_below(&random, UINT64_C(1) << PIECES) &
                            eki_random_below(&random, UINT64_C(1) << PIECES);
            for (int i = 0; i < PIECES; i++) {
                int at = (rank + round) % 2 ? i : PIECES - 1 - i;
                if (gone >> at & 1)
                    eki_fabric_mpi_unshare(&pieces[at]);
            }
            CHECK_OK(eki_fabric_mpi_barrier(fabric));
            int at = (int)eki_random_below(&random, PIECES);
            int is_large = eki_random_below(&random, 20) == 0;
            size_t bytes =
                1 + eki_random_below(&random, is_large ? 3000000 : 20000);
            if (!pieces[at].memory)
                check_piece(fabric, bytes, &pieces[at]);
            int node = eki_fabric_mpi_nodes(fabric)[rank];
            for (int p = 0; p < PIECES; p++) {
                const unsigned char *raw = pieces[p].memory;
                for (size_t i = 8; raw && i < pieces[p].bytes; i += 509)
                    need(CHECK_EQ_INT(
                        raw[i], (unsigned char)(i + i / 256 + (size_t)node)));
            }
            CHECK_OK(eki_fabric_mpi_barrier(fabric));
        }
        for (int i = 0; i < PIECES; i++)
            eki_fabric_mpi_unshare(&pieces[i]);
        eki_fabric_mpi_destroy(&fabric);
    }
}

static void agreement_spreads_the_worst_message(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 0);
    CHECK_OK(eki_fabric_mpi_agree(fabric, EK_OK));
    ek_status mine = EK_OK;
    if (rank == 0)
        mine = eki_error(EK_ERR_ARG, "less bad");
    if (rank == size - 1)
        mine = eki_error(EK_ERR_NOMEM, "no room on %d", rank);
    CHECK_EQ_INT(eki_fabric_mpi_agree(fabric, mine), EK_ERR_NOMEM);
    char expected[100];
    if (rank == size - 1)
        snprintf(expected, sizeof expected, "no room on %d", size - 1);
    else
        snprintf(expected, sizeof expected, "rank %d: no room on %d", size - 1,
                 size - 1);
    CHECK_EQ_TEXT(ek_error_message(), expected);
    eki_error(EK_ERR_TASK, "everywhere %d", rank);
    CHECK_EQ_INT(eki_fabric_mpi_agree(fabric, EK_ERR_TASK), EK_ERR_TASK);
    CHECK_EQ_TEXT(ek_error_message(),
                  rank == 0 ? "everywhere 0" : "rank 0: everywhere 0");
    eki_fabric_mpi_destroy(&fabric);
}

static void reductions_are_right(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 0);
    int64_t counts[2] = {rank + 1, (int64_t)1 << 40};
    CHECK_OK(eki_fabric_mpi_sum(fabric, counts, 2));
    CHECK_EQ_INT(counts[0], size * (size + 1) / 2);
    CHECK_EQ_INT(counts[1], size * ((int64_t)1 << 40));
    double values[2] = {0.5, rank};
    CHECK_OK(eki_fabric_mpi_sum_double(fabric, values, 2));
    CHECK(values[0] == 0.5 * size && values[1] == size * (size - 1) / 2);
    double most[2] = {-1.0 - rank, rank * 2.0};
    CHECK_OK(eki_fabric_mpi_max(fabric, most, 2));
    CHECK(most[0] == -1.0 && most[1] == 2.0 * (size - 1));
    /* The first is equal on all but one. */
    double each[2] = {rank == 0 ? -5.0 : 3.0, rank * 0.5};
    int who[2] = {-1, -1};
    CHECK_OK(eki_fabric_mpi_max_rank(fabric, each, who, 2));
    CHECK(each[0] == (size == 1 ? -5.0 : 3.0) && each[1] == 0.5 * (size - 1));
    CHECK_EQ_INT(who[0], size == 1 ? 0 : 1);
    CHECK_EQ_INT(who[1], size - 1);
    eki_fabric_mpi_destroy(&fabric);
}

/* What rank 0 has of a gather so far. */
struct gathered {
    const int64_t *bytes; /* [size] that the ranks have */
    int rank;             /* whose turn it is */
    int64_t at;           /* in its bytes */
};

static void take_piece(const void *piece, size_t bytes, void *context)
{
    const unsigned char *next = piece;
    struct gathered *gathered = context;
    CHECK(bytes > 0);
    while (gathered->rank < size &&
           gathered->at == gathered->bytes[gathered->rank])
        gathered->rank++, gathered->at = 0;
    need(CHECK(gathered->rank < size));
    for (size_t i = 0; i < bytes; i++, gathered->at++)
        if (next[i] != pattern(gathered->rank, 0, gathered->at))
            need(CHECK_EQ_INT(next[i],
                              pattern(gathered->rank, 0, gathered->at)));
    CHECK(gathered->at <= gathered->bytes[gathered->rank]);
}

/* Nothing, a byte, less than a piece, a piece, and more than one. */
static void rank_0_gathers_what_all_have(void)
{
    static const int64_t sizes[] = {0,
                                    1,
                                    1000,
                                    EKI_MPI_GATHER_PIECE,
                                    EKI_MPI_GATHER_PIECE + 1,
                                    5 * EKI_MPI_GATHER_PIECE + 7};
    enum {
        SIZES = sizeof sizes / sizeof sizes[0]
    };
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 1024);
    unsigned char *mine = malloc((size_t)sizes[SIZES - 1]);
    int64_t *bytes = malloc((size_t)size * sizeof *bytes);
    need(CHECK(mine != NULL && bytes != NULL));
    for (int64_t i = 0; i < sizes[SIZES - 1]; i++)
        mine[i] = pattern(rank, 0, i);
    for (int shift = 0; shift < SIZES; shift++) {
        for (int r = 0; r < size; r++)
            bytes[r] = sizes[(r + shift) % SIZES];
        struct gathered gathered = {bytes, 0, 0};
        CHECK_OK(eki_fabric_mpi_gather(fabric, mine, (size_t)bytes[rank],
                                       take_piece, &gathered));
        while (rank == 0 && gathered.rank < size &&
               gathered.at == bytes[gathered.rank])
            gathered.rank++, gathered.at = 0;
        CHECK_EQ_INT(gathered.rank, rank == 0 ? size : 0);
    }
    free(bytes);
    free(mine);
    eki_fabric_mpi_destroy(&fabric);
}

static void data_reaches_all_ranks(void)
{
    enum {
        BYTES = 1000000
    };
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 0);
    unsigned char *data = malloc(BYTES);
    need(CHECK(data != NULL));
    for (int root = 0; root < size; root++) {
        memset(data, rank, BYTES);
        CHECK_OK(eki_fabric_mpi_broadcast(fabric, data, BYTES, root));
        for (int i = 0; i < BYTES; i += 999)
            CHECK_EQ_INT(data[i], root);
        CHECK_OK(eki_fabric_mpi_broadcast(fabric, NULL, 0, root));
    }
    int mine[3] = {rank, rank * rank, 7};
    int *all = malloc((size_t)size * sizeof mine);
    need(CHECK(all != NULL));
    CHECK_OK(eki_fabric_mpi_gather_all(fabric, mine, all, sizeof mine));
    for (int r = 0; r < size; r++)
        CHECK(all[3 * r] == r && all[3 * r + 1] == r * r &&
              all[3 * r + 2] == 7);
    CHECK_EQ_INT(eki_fabric_mpi_gather_all(fabric, mine, all, SIZE_MAX),
                 EK_ERR_ARG);
    free(all);
    free(data);
    /* MPI's own refusals come back in words. */
    char byte = 0;
    CHECK_EQ_INT(eki_fabric_mpi_broadcast(fabric, &byte, 1, size), EK_ERR_MPI);
    CHECK_HAS_TEXT(ek_error_message(), "MPI_Bcast: ");
    CHECK_HAS_TEXT(ek_error_message(), mpi_words(MPI_ERR_ROOT));
    CHECK(strchr(ek_error_message(), '\n') == NULL);
    eki_fabric_mpi_destroy(&fabric);
}

/* Let allocation N fail on the last rank only: all ranks fail alike.  Returns
 * whether everything could be made. */
static bool make_with_failure(int n, int per_node)
{
    struct eki_fabric *fabric = NULL;
    struct eki_node_memory piece = {0};
    if (rank == size - 1)
        eki_memory_fail(n);
    ek_status status = eki_fabric_mpi_create(MPI_COMM_WORLD, &fabric);
    CHECK((status == EK_OK) == (fabric != NULL));
    if (status == EK_OK)
        status = eki_fabric_mpi_open(&fabric, per_node, 1024);
    if (status == EK_OK)
        status = eki_fabric_mpi_share(fabric, EK_OK, 1000, &piece);
    eki_memory_fail(0);
    int statuses[2] = {status, -status};
    MPI_Allreduce(MPI_IN_PLACE, statuses, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    CHECK_EQ_INT(statuses[0], -statuses[1]); /* the same on all ranks */
    CHECK(status == EK_OK || status == EK_ERR_NOMEM);
    if (status != EK_OK)
        CHECK_HAS_TEXT(ek_error_message(), "no memory");
    eki_fabric_mpi_unshare(&piece);
    eki_fabric_mpi_destroy(&fabric);
    return status == EK_OK;
}

static void failing_allocations_fail_on_all_ranks(void)
{
    int n = 1;
    while (!make_with_failure(n, 1))
        n++;
    /* Set, two fabrics, nodes, buffers, memory, none. */
    CHECK_EQ_INT(n, 7);
    if (size < 2)
        return;
    for (n = 1; !make_with_failure(n, 2);)
        n++;
    CHECK_EQ_INT(n, 7); /* a window, or memory */
}

/* Clients that say the same share all, whichever goes first; those that fail
 * leave it to the others. */
static void clients_share_what_is_alike(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    struct eki_fabric *one = fabric_make(comm, 1, 1024);
    struct eki_fabric *same = fabric_make(comm, 1, 1024);
    struct eki_fabric *other = fabric_make(comm, 0, 1024);
    struct eki_fabric *unlike = fabric_make(comm, 1, 2048);
    CHECK(one == same && one != other && one != unlike && other != unlike);
    CHECK(eki_mpi_of(one)->comm == eki_mpi_of(other)->comm);
    struct eki_fabric *failed = NULL;
    if (rank == size - 1)
        eki_memory_fail(1);
    CHECK_OK(eki_fabric_mpi_create(comm, &failed));
    CHECK_EQ_INT(eki_fabric_mpi_open(&failed, 1, 4096), EK_ERR_NOMEM);
    eki_memory_fail(0);
    eki_fabric_mpi_destroy(&failed);
    MPI_Comm_free(&comm);
    struct eki_fabric *mine[] = {one, other, unlike};
    for (int i = 0; i < 3; i++)
        storm(mine[i], (uint64_t)i);
    for (int i = 0; i < 3; i++) /* each rank in an order of its own */
        eki_fabric_mpi_destroy(&mine[(i + rank) % 3]);
    storm(same, 3);
    eki_fabric_mpi_destroy(&same);
}

enum {
    MOUNT_BYTES = 2 << 20,
    LARGE_MOUNT_BYTES = 4 << 20,
    SKIP = 77
};

static char mount_point[] = "/tmp/evenkeel-shm-XXXXXX";

/* A tmpfs that only this process sees, for MPI's windows; before MPI_Init. */
static bool mount_small(void)
{
    char options[40];
    snprintf(options, sizeof options, "size=%d", MOUNT_BYTES);
    if (!mkdtemp(mount_point))
        return false;
    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("none", mount_point, "tmpfs", 0, options) == 0 &&
        setenv("OMPI_MCA_osc_sm_backing_directory", mount_point, 1) == 0)
        return true;
    rmdir(mount_point);
    return false;
}

/* Too much for one window, and too much for the windows of two nodes. */
static void small_mounts_are_refused_with_a_remedy(void)
{
    static const struct {
        int per_node;
        size_t bytes;
    } cases[] = {{0, MOUNT_BYTES}, {2, MOUNT_BYTES * 6 / 10}};
    for (int i = 0; i < 2; i++) {
        if (size < 2 + 2 * i)
            continue;
        struct eki_fabric *fabric =
            fabric_make(MPI_COMM_WORLD, cases[i].per_node, 256);
        struct eki_node_memory piece;
        if (!eki_fabric_mpi_is_one_host(fabric)) { /* fewer share a mount */
            eki_fabric_mpi_destroy(&fabric);
            continue;
        }
        CHECK_EQ_INT(
            eki_fabric_mpi_share(fabric, EK_OK, cases[i].bytes, &piece),
            EK_ERR_NOMEM);
        CHECK(piece.memory == NULL);
        const char *message = ek_error_message();
        CHECK_HAS_TEXT(message, "/tmp/evenkeel-shm-");
        CHECK_HAS_TEXT(message, " has 2097152 bytes free, ");
        CHECK_HAS_TEXT(message, "--shm-size");
        CHECK_HAS_TEXT(message, "buffer_slots");
        eki_fabric_mpi_destroy(&fabric);
    }
    /* Nodes of one rank take nothing of it. */
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 0);
    struct eki_node_memory piece;
    check_piece(fabric, 2 * MOUNT_BYTES, &piece);
    eki_fabric_mpi_unshare(&piece);
    eki_fabric_mpi_destroy(&fabric);
}

/* Most of the mount is one piece; when all have left it, the next one may have
 * the same or another window. */
static void large_pieces_give_the_mount_back(void)
{
    static const int percents[] = {60, 60, 80, 50};
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 256);
    for (int i = 0; i < 4; i++) {
        struct eki_node_memory piece, more;
        check_piece(fabric,
                    (size_t)LARGE_MOUNT_BYTES / 100 * (size_t)percents[i],
                    &piece);
        if (size > 1 && eki_fabric_mpi_is_one_host(fabric))
            CHECK_EQ_INT(eki_fabric_mpi_share(
                             fabric, EK_OK, LARGE_MOUNT_BYTES * 6 / 10, &more),
                         EK_ERR_NOMEM);
        eki_fabric_mpi_unshare(&piece);
        CHECK_OK(eki_fabric_mpi_barrier(fabric));
    }
    eki_fabric_mpi_destroy(&fabric);
}

static void run_all(void)
{
    RUN(nodes_follow_the_hosts);
    RUN(nodes_share_their_memory);
    RUN(impossible_pieces_are_refused);
    RUN(pieces_come_and_go_in_any_order);
    RUN(clients_share_what_is_alike);
    RUN(agreement_spreads_the_worst_message);
    RUN(reductions_are_right);
    RUN(data_reaches_all_ranks);
    RUN(rank_0_gathers_what_all_have);
    RUN(failing_allocations_fail_on_all_ranks);
}

static void run_shm(void)
{
    RUN(small_mounts_are_refused_with_a_remedy);
}

static void run_large(void)
{
    RUN(large_pieces_give_the_mount_back);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[2], "large") == 0)
        return fabric_run(argc, argv, run_large);
    if (argc <= 2 || strcmp(argv[2], "shm") != 0)
        return fabric_run(argc, argv, run_all);
    if (!mount_small())
        return SKIP;
    int failed = fabric_run(argc, argv, run_shm);
    umount(mount_point);
    rmdir(mount_point);
    return failed;
}
