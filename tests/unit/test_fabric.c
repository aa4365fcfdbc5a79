/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric over MPI: messages, nodes, shared memory, collectives.
 *
 *     test_fabric SIZE           all tests, on any number of ranks and hosts
 *     test_fabric SIZE shm       a shared-memory mount that is too small; needs
 *                                root and private mounts, else 77
 *
 * Unlike other tests here it looks into the library: nothing public speaks to
 * the fabric alone.
 */
#define _GNU_SOURCE /* unshare() */

#include <fabric/mpi_fabric.h>

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "check.h"

/* MPI_COMM_WORLD's; every test starts with all ranks together. */
static int rank, size;

/* Warnings of the library: none is expected. */
static void count_line(ek_level level, const char *line, void *context)
{
    (void)level;
    fprintf(stderr, "%s\n", line);
    ++*(int *)context;
}

/* Called by the fabric in place of MPI's own: when a communicator is freed,
 * nothing is left on it that the next one of its number could receive. */
int MPI_Comm_free(MPI_Comm *comm)
{
    for (int i = 0; i < 2;
         i++) { /* Open MPI 4.1 sees a message at the second */
        int is_there = 0;
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, *comm, &is_there,
                    MPI_STATUS_IGNORE);
        CHECK(!is_there);
    }
    return PMPI_Comm_free(comm);
}

/* Likewise: a receive that is cancelled has not met a message. */
int MPI_Cancel(MPI_Request *request)
{
    int is_cancelled = 0;
    MPI_Request copy = *request; /* persistent: stays valid when inactive */
    MPI_Status status;
    int code = PMPI_Cancel(request);
    PMPI_Wait(&copy, &status);
    PMPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
    return code;
}

/* A rank that cannot go on ends the run: others would wait for it. */
static void need(bool passed)
{
    if (!passed)
        abort();
}

static struct eki_fabric *fabric_make(MPI_Comm comm, int ranks_per_node,
                                      size_t message_bytes)
{
    struct eki_fabric *fabric = NULL;
    need(CHECK_EQ_INT(eki_fabric_mpi_create(comm, ranks_per_node, &fabric),
                      EK_OK));
    need(CHECK(fabric != NULL));
    if (message_bytes > 0) {
        need(CHECK_EQ_INT(eki_fabric_mpi_open(fabric, message_bytes), EK_OK));
        CHECK_EQ_INT(fabric->message_bytes, message_bytes);
    }
    return fabric;
}

/* Pattern of byte I of message NUMBER from SOURCE. */
static unsigned char pattern(int source, int64_t number, int64_t i)
{
    return (unsigned char)(source * 31 + number * 7 + i + i / 251);
}

/* Post message NUMBER (to RANK) of BYTES; false if no buffer is free. */
static bool send_numbered(struct eki_fabric *fabric, int to, int64_t number,
                          int64_t bytes)
{
    struct eki_message *message = eki_fabric_reserve(fabric);
    if (!message)
        return false;
    CHECK((uintptr_t)message->body % 8 == 0);
    message->head.kind = 5;
    message->head.first = number;
    message->head.worker = to;
    message->head.bytes = bytes;
    for (int64_t i = 0; i < bytes; i++)
        message->body[i] = pattern(fabric->rank, number, i);
    eki_fabric_post(fabric, message, to);
    need(CHECK_EQ_INT(fabric->failed, EK_OK));
    return true;
}

/* MESSAGE is the next of its source, and intact. */
static void check_numbered(struct eki_fabric *fabric,
                           const struct eki_message *message, int64_t *next)
{
    const struct eki_head *head = &message->head;
    CHECK_EQ_INT(head->kind, 5);
    CHECK_EQ_INT(head->worker, fabric->rank);
    need(CHECK_EQ_INT(head->first, next[head->source]));
    next[head->source]++;
    for (int64_t i = 0; i < head->bytes; i++)
        if (message->body[i] != pattern(head->source, head->first, i))
            need(CHECK_EQ_INT(message->body[i],
                              pattern(head->source, head->first, i)));
}

static void thread_level_is_told(void)
{
    CHECK(eki_mpi_thread_level() >= 2);
    CHECK(eki_mpi_is_main_thread());
}

static void null_and_bad_communicators_are_refused(void)
{
    struct eki_fabric *fabric = (struct eki_fabric *)&size;
    CHECK_EQ_INT(eki_fabric_mpi_create(MPI_COMM_NULL, 0, &fabric), EK_ERR_ARG);
    CHECK(fabric == NULL);
    CHECK_EQ_INT(eki_fabric_mpi_create(MPI_COMM_WORLD, -1, &fabric),
                 EK_ERR_ARG);
    CHECK(fabric == NULL);
    eki_fabric_mpi_destroy(&fabric);
    eki_fabric_mpi_destroy(NULL);
}

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

enum {
    STORM_MESSAGES = 150,
    HELD = 8
};

/* Sizes around the eager limits of shared memory and TCP, and any others. */
static int64_t storm_bytes(struct eki_random *random, int64_t most)
{
    static const int64_t special[] = {0,    1,     63,    3968, 4032,
                                      4096, 16384, 65472, 65536};
    int64_t bytes = 0;
    switch (eki_random_below(random, 3)) {
    case 0:
        bytes = special[eki_random_below(random, 9)];
        break;
    case 1:
        bytes = (int64_t)eki_random_below(random, 512);
        break;
    default:
        bytes = (int64_t)eki_random_below(random, (uint64_t)most + 1);
    }
    return bytes < most ? bytes : most;
}

/* Poll; release in random order, at most HELD held.  Returns arrivals. */
static int storm_receive(struct eki_fabric *fabric, struct eki_random *random,
                         struct eki_message **held, int *held_count,
                         int64_t *next)
{
    struct eki_message *message = eki_fabric_poll(fabric);
    need(CHECK_EQ_TEXT(fabric->failure, ""));
    if (message) {
        check_numbered(fabric, message, next);
        held[(*held_count)++] = message;
    }
    while (*held_count == HELD ||
           (*held_count > 0 && eki_random_below(random, 4) == 0)) {
        int chosen = (int)eki_random_below(random, (uint64_t)*held_count);
        eki_fabric_release(fabric, held[chosen]);
        held[chosen] = held[--*held_count];
    }
    return message != NULL;
}

/* Everyone sends STORM_MESSAGES to everyone, itself included. */
static void storm(struct eki_fabric *fabric, uint64_t seed)
{
    struct eki_random random;
    eki_random_seed(&random, seed, (uint64_t)rank);
    int64_t most = (int64_t)(fabric->message_bytes - sizeof(struct eki_head));
    int64_t *sent = calloc((size_t)size, sizeof *sent);
    int64_t *next = calloc((size_t)size, sizeof *next);
    need(CHECK(sent != NULL && next != NULL));
    struct eki_message *held[HELD];
    int held_count = 0, left = size * STORM_MESSAGES, missing = left;
    while (left > 0 || missing > 0 || !eki_fabric_drain(fabric)) {
        int to = (int)eki_random_below(&random, (uint64_t)size);
        if (left > 0 && sent[to] < STORM_MESSAGES &&
            send_numbered(fabric, to, sent[to], storm_bytes(&random, most))) {
            sent[to]++;
            left--;
        }
        missing -= storm_receive(fabric, &random, held, &held_count, next);
    }
    while (held_count > 0)
        eki_fabric_release(fabric, held[--held_count]);
    for (int r = 0; r < size; r++)
        CHECK_EQ_INT(next[r], STORM_MESSAGES);
    free(sent);
    free(next);
    CHECK_EQ_INT(eki_fabric_mpi_barrier(fabric), EK_OK);
    CHECK(eki_fabric_poll(fabric) == NULL);
    /* Nobody starts the next storm while another still looks. */
    CHECK_EQ_INT(eki_fabric_mpi_barrier(fabric), EK_OK);
}

static void storms_arrive_in_order_per_pair(void)
{
    static const size_t bytes[] = {64, 65, 4096, 65536 + 64, 200000};
    for (int i = 0; i < 5; i++) {
        struct eki_fabric *fabric =
            fabric_make(MPI_COMM_WORLD, i % 3, bytes[i]);
        storm(fabric, (uint64_t)i);
        storm(fabric, (uint64_t)i + 100);
        eki_fabric_mpi_destroy(&fabric);
    }
}

static void fabrics_do_not_meet(void)
{
    struct eki_fabric *one = fabric_make(MPI_COMM_WORLD, 1, 4096);
    struct eki_fabric *two = fabric_make(MPI_COMM_WORLD, 1, 4096);
    int next_rank = (rank + 1) % size;
    CHECK(send_numbered(one, next_rank, 0, 100));
    CHECK_EQ_INT(eki_fabric_mpi_barrier(two), EK_OK);
    for (int i = 0; i < 100; i++)
        CHECK(eki_fabric_poll(two) == NULL);
    CHECK_EQ_INT(eki_fabric_mpi_barrier(two), EK_OK);
    storm(two, 5);
    eki_fabric_mpi_destroy(&two);
    struct eki_message *message = NULL;
    while (!message)
        message = eki_fabric_poll(one);
    CHECK_EQ_INT(message->head.source, (rank + size - 1) % size);
    eki_fabric_mpi_destroy(&one); /* without release */
}

static void all_buffers_can_be_reserved(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 256);
    struct eki_message *reserved[EKI_MPI_SENDS];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < EKI_MPI_SENDS; i++) {
            reserved[i] = eki_fabric_reserve(fabric);
            need(CHECK(reserved[i] != NULL));
            for (int j = 0; j < i; j++)
                CHECK(reserved[i] != reserved[j]);
            memset(reserved[i], 0xff, fabric->message_bytes);
        }
        CHECK(eki_fabric_reserve(fabric) == NULL);
        CHECK(eki_fabric_drain(fabric));
        for (int i = 0; i < EKI_MPI_SENDS; i++)
            eki_fabric_unreserve(fabric, reserved[i]);
    }
    struct eki_message *message = eki_fabric_reserve(fabric);
    CHECK_EQ_INT(message->head.count, 0); /* nothing of the last use */
    eki_fabric_unreserve(fabric, message);
    eki_fabric_mpi_destroy(&fabric);
}

/* Rendezvous messages that nobody takes keep their buffers, and give them back
 * when they are taken. */
static void exhausted_sends_recover(void)
{
    enum {
        BYTES = 200000,
        TRIES = 1000000
    };
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 64 + BYTES);
    int to = (rank + 1) % size;
    int64_t sent = 0, *next = calloc((size_t)size, sizeof *next);
    need(CHECK(next != NULL));
    int failures = 0;
    while (failures < 1000 && sent < TRIES) {
        if (send_numbered(fabric, to, sent, BYTES))
            sent++;
        else
            failures++;
    }
    /* At most what the receives hold is out of the way. */
    CHECK(sent >= EKI_MPI_SENDS);
    CHECK(sent <= EKI_MPI_SENDS + EKI_MPI_RECEIVES);
    CHECK(!eki_fabric_drain(fabric));
    need(CHECK_EQ_INT(fabric->failed, EK_OK));
    int64_t total = sent + 100, expected[2] = {total, total}, from[2];
    MPI_Sendrecv(expected, 2, MPI_INT64_T, to, 0, from, 2, MPI_INT64_T,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int source = (rank + size - 1) % size;
    while (sent < total || next[source] < from[0] ||
           !eki_fabric_drain(fabric)) {
        if (sent < total && send_numbered(fabric, to, sent, BYTES))
            sent++;
        struct eki_message *message = eki_fabric_poll(fabric);
        if (message) {
            check_numbered(fabric, message, next);
            eki_fabric_release(fabric, message);
        }
    }
    free(next);
    eki_fabric_mpi_destroy(&fabric);
}

/* A rank that takes nothing must not hold up messages to the others. */
static void busy_ranks_do_not_hold_up_others(void)
{
    enum {
        BYTES = 200000,
        MESSAGES = 500
    };
    if (size < 3)
        return;
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 64 + BYTES);
    int64_t *next = calloc((size_t)size, sizeof *next), sent = 0;
    need(CHECK(next != NULL));
    if (rank == 0) {
        int stuck = 0;
        /* As many as the receives of rank 1 can match and some more. */
        while (stuck < EKI_MPI_RECEIVES + 10)
            stuck += send_numbered(fabric, 1, stuck, BYTES);
        while (sent < MESSAGES)
            sent += send_numbered(fabric, 2, sent, BYTES);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        while (!eki_fabric_drain(fabric))
            continue;
    } else if (rank == 1) {
        /* Inside MPI without polling: receives match, nothing is taken. */
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    int64_t expected = rank == 1 ? EKI_MPI_RECEIVES + 10 : MESSAGES;
    while ((rank == 1 || rank == 2) && next[0] < expected) {
        struct eki_message *message = eki_fabric_poll(fabric);
        if (message) {
            check_numbered(fabric, message, next);
            eki_fabric_release(fabric, message);
        }
    }
    free(next);
    eki_fabric_mpi_destroy(&fabric);
}

/* All receives handed out: NULL, and the order survives any order of release.
 */
static void all_receives_can_be_handed_out(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 1024);
    int64_t *next = calloc((size_t)size, sizeof *next);
    need(CHECK(next != NULL));
    int to = (rank + 1) % size, source = (rank + size - 1) % size;
    int64_t sent = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < EKI_MPI_RECEIVES + 3; i++)
            CHECK(send_numbered(fabric, to, sent++, i));
        struct eki_message *held[EKI_MPI_RECEIVES];
        for (int count = 0; count < EKI_MPI_RECEIVES;) {
            held[count] = eki_fabric_poll(fabric);
            if (!held[count])
                continue;
            check_numbered(fabric, held[count], next);
            count++;
        }
        for (int i = 0; i < 100; i++)
            CHECK(eki_fabric_poll(fabric) == NULL);
        for (int i = 0; i < EKI_MPI_RECEIVES; i++)
            eki_fabric_release(fabric,
                               held[(i * 5 + round) % EKI_MPI_RECEIVES]);
        while (next[source] < sent) {
            struct eki_message *message = eki_fabric_poll(fabric);
            if (message) {
                check_numbered(fabric, message, next);
                eki_fabric_release(fabric, message);
            }
        }
        while (!eki_fabric_drain(fabric))
            continue;
    }
    free(next);
    eki_fabric_mpi_destroy(&fabric);
}

/* Messages nobody polls are dropped, and never reach a later fabric (MPI uses
 * the numbers of communicators again). */
static void undelivered_messages_die_with_their_fabric(void)
{
    for (int round = 0; round < 20; round++) {
        struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 66000);
        for (int i = 0; i < 100; i++)
            CHECK(eki_fabric_poll(fabric) == NULL);
        CHECK_EQ_INT(eki_fabric_mpi_barrier(fabric), EK_OK);
        for (int i = 0; i < 60; i++)
            send_numbered(fabric, (rank + i) % size, i / size,
                          round % 3 == 0 ? 0 : i * 1000);
        eki_fabric_mpi_destroy(&fabric);
    }
}

/* Destroy takes back what was never released, or others' sends would hang. */
static void unreleased_messages_do_not_hold_up_destroy(void)
{
    enum {
        BYTES = 200000,
        MESSAGES = EKI_MPI_RECEIVES + 20
    };
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 64 + BYTES);
    int sent = 0, held = 0;
    while (sent < MESSAGES || held < EKI_MPI_RECEIVES) {
        if (sent < MESSAGES)
            sent += send_numbered(fabric, (rank + 1) % size, sent, BYTES);
        held += eki_fabric_poll(fabric) != NULL;
        need(CHECK_EQ_TEXT(fabric->failure, ""));
    }
    uint64_t start = eki_clock_system_ns();
    eki_fabric_mpi_destroy(&fabric);
    CHECK(eki_clock_system_ns() - start < UINT64_C(5000000000));
}

/* Rank 0 gets BYTES of DATA from the last rank, as a bad message. */
static void expect_failure(const void *data, int bytes, const char *reason)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 1024);
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    int sender = size - 1;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == sender) {
        MPI_Isend(data, bytes, MPI_BYTE, 0, EKI_TAG_MESSAGE, mpi->comm,
                  &request);
        mpi->sent[0]++;
    }
    if (rank == 0) {
        while (fabric->failed == EK_OK)
            CHECK(eki_fabric_poll(fabric) == NULL);
        CHECK_EQ_INT(fabric->failed, EK_ERR_MPI);
        CHECK_HAS_TEXT(fabric->failure, reason);
        CHECK(eki_fabric_poll(fabric) == NULL);
        CHECK(eki_fabric_reserve(fabric) == NULL);
        CHECK(eki_fabric_drain(fabric));
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    eki_fabric_mpi_destroy(&fabric);
}

static void bad_messages_name_source_and_reason(void)
{
    unsigned char buffer[5000] = {0};
    struct eki_head head = {.magic = EKI_MESSAGE_MAGIC,
                            .version = EKI_MESSAGE_VERSION,
                            .kind = 1,
                            .source = size - 1};
    char reason[200];
    snprintf(reason, sizeof reason,
             "bad message from rank %d: 0 bytes, shorter than", size - 1);
    expect_failure(buffer, 0, reason);
    snprintf(reason, sizeof reason,
             "bad message from rank %d: magic number 0x00000000", size - 1);
    expect_failure(buffer, 100, reason);
    expect_failure(&head, 40, "40 bytes, shorter than");
    head.bytes = 8;
    expect_failure(&head, 64, "body of 8 bytes announced, 0 received");
    head.bytes = 0;
    head.collection = 9;
    expect_failure(&head, 64, "collection 9, expected 0");
    head.collection = 0;
    expect_failure(buffer, 1025, "MPI_ERR_TRUNCATE");
    expect_failure(buffer, 5000, "MPI_ERR_TRUNCATE"); /* a rendezvous one */
    if (size == 1)
        return;
    head.source = 0;
    expect_failure(&head, 64, "it says it comes from rank 0");
}

/* MPI refuses a rank that does not exist; nothing aborts. */
static void failing_sends_are_reported(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 1024);
    struct eki_message *message = eki_fabric_reserve(fabric);
    struct eki_message *other = eki_fabric_reserve(fabric);
    eki_fabric_post(fabric, message, size);
    CHECK_EQ_INT(fabric->failed, EK_ERR_MPI);
    CHECK_HAS_TEXT(fabric->failure, "MPI_Isend");
    CHECK_HAS_TEXT(fabric->failure, "MPI_ERR_RANK");
    eki_fabric_post(fabric, other, 0); /* dropped */
    CHECK(eki_fabric_drain(fabric));
    eki_fabric_mpi_destroy(&fabric);
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
static void check_segment(struct eki_fabric *fabric, size_t bytes)
{
    void *memory = NULL, *again = NULL;
    need(CHECK_EQ_INT(eki_fabric_mpi_segment(fabric, bytes, &memory), EK_OK));
    CHECK_EQ_INT((uintptr_t)memory % EKI_LINE, 0);
    unsigned char *raw = memory;
    for (size_t i = 0; i < bytes; i++)
        if (raw[i] != 0)
            need(CHECK_EQ_INT(raw[i], 0));
    CHECK_EQ_INT(eki_fabric_mpi_barrier(fabric), EK_OK);

    int node = eki_fabric_mpi_nodes(fabric)[rank];
    if (is_node_leader(fabric))
        for (size_t i = sizeof(uint64_t); i < bytes; i++)
            raw[i] = (unsigned char)(i + i / 256 + (size_t)node);
    _Atomic uint64_t *flag = memory;
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

    CHECK_EQ_INT(eki_fabric_mpi_segment(fabric, bytes, &again), EK_ERR_STATE);
    CHECK(again == NULL);
}

/* All ranks of a node count together, without losing one. */
static void check_counter(struct eki_fabric *fabric)
{
    enum {
        COUNTS = 20000
    };
    void *memory = NULL;
    need(CHECK_EQ_INT(eki_fabric_mpi_segment(fabric, 1024, &memory), EK_OK));
    _Atomic uint64_t *counter = (void *)((unsigned char *)memory + 512);
    for (int i = 0; i < COUNTS; i++)
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    CHECK_EQ_INT(eki_fabric_mpi_barrier(fabric), EK_OK);
    const int *nodes = eki_fabric_mpi_nodes(fabric);
    int ranks = 0;
    for (int r = 0; r < size; r++)
        ranks += nodes[r] == nodes[rank];
    CHECK_EQ_INT(atomic_load_explicit(counter, memory_order_relaxed),
                 (uint64_t)ranks * COUNTS);
}

static void nodes_share_their_memory(void)
{
    static const size_t bytes[] = {8, 100, 4096, 1000000};
    for (int per_node = 0; per_node <= 3; per_node++) {
        for (int i = 0; i < 4; i++) {
            struct eki_fabric *fabric =
                fabric_make(MPI_COMM_WORLD, per_node, i % 2 ? 256 : 0);
            check_segment(fabric, bytes[i]);
            if (i % 2)
                storm(fabric, 3);
            eki_fabric_mpi_destroy(&fabric);
        }
        struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, per_node, 0);
        check_counter(fabric);
        eki_fabric_mpi_destroy(&fabric);
    }
}

static void impossible_segments_are_refused(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 0);
    void *memory = NULL;
    CHECK_EQ_INT(eki_fabric_mpi_segment(fabric, 0, &memory), EK_ERR_ARG);
    CHECK_EQ_INT(eki_fabric_mpi_segment(fabric, SIZE_MAX, &memory), EK_ERR_ARG);
    if (size > 1) /* of one's own, so much makes a sanitizer abort */
        CHECK_EQ_INT(eki_fabric_mpi_segment(fabric, (size_t)1 << 50, &memory),
                     EK_ERR_NOMEM);
    CHECK(memory == NULL);
    /* A refusal leaves it usable. */
    check_segment(fabric, 1000);
    eki_fabric_mpi_destroy(&fabric);
}

static void agreement_spreads_the_worst_message(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 0);
    CHECK_EQ_INT(eki_fabric_mpi_agree(fabric, EK_OK), EK_OK);
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
    CHECK_EQ_INT(eki_fabric_mpi_sum(fabric, counts, 2), EK_OK);
    CHECK_EQ_INT(counts[0], size * (size + 1) / 2);
    CHECK_EQ_INT(counts[1], size * ((int64_t)1 << 40));
    double values[2] = {0.5, rank};
    CHECK_EQ_INT(eki_fabric_mpi_sum_double(fabric, values, 2), EK_OK);
    CHECK(values[0] == 0.5 * size && values[1] == size * (size - 1) / 2);
    double most[2] = {-1.0 - rank, rank * 2.0};
    CHECK_EQ_INT(eki_fabric_mpi_max(fabric, most, 2), EK_OK);
    CHECK(most[0] == -1.0 && most[1] == 2.0 * (size - 1));
    double value = rank == 0 ? -5.0 : 3.0; /* equal on all others */
    int who = -1;
    CHECK_EQ_INT(eki_fabric_mpi_max_rank(fabric, &value, &who), EK_OK);
    CHECK(value == (size == 1 ? -5.0 : 3.0));
    CHECK_EQ_INT(who, size == 1 ? 0 : 1);
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
        CHECK_EQ_INT(eki_fabric_mpi_gather(fabric, mine, (size_t)bytes[rank],
                                           take_piece, &gathered),
                     EK_OK);
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
        CHECK_EQ_INT(eki_fabric_mpi_broadcast(fabric, data, BYTES, root),
                     EK_OK);
        for (int i = 0; i < BYTES; i += 999)
            CHECK_EQ_INT(data[i], root);
        CHECK_EQ_INT(eki_fabric_mpi_broadcast(fabric, NULL, 0, root), EK_OK);
    }
    int mine[3] = {rank, rank * rank, 7};
    int *all = malloc((size_t)size * sizeof mine);
    need(CHECK(all != NULL));
    CHECK_EQ_INT(eki_fabric_mpi_gather_all(fabric, mine, all, sizeof mine),
                 EK_OK);
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
    CHECK_HAS_TEXT(ek_error_message(), "MPI_Bcast: MPI_ERR_ROOT");
    eki_fabric_mpi_destroy(&fabric);
}

/* Let allocation N fail on the last rank only: all ranks fail alike.  Returns
 * whether everything could be made. */
static bool make_with_failure(int n)
{
    struct eki_fabric *fabric = NULL;
    void *memory = NULL;
    if (rank == size - 1)
        eki_memory_fail(n);
    ek_status status = eki_fabric_mpi_create(MPI_COMM_WORLD, 1, &fabric);
    CHECK((status == EK_OK) == (fabric != NULL));
    if (status == EK_OK)
        status = eki_fabric_mpi_open(fabric, 1024);
    if (status == EK_OK)
        status = eki_fabric_mpi_segment(fabric, 1000, &memory);
    eki_memory_fail(0);
    int statuses[2] = {status, -status};
    MPI_Allreduce(MPI_IN_PLACE, statuses, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    CHECK_EQ_INT(statuses[0], -statuses[1]); /* the same on all ranks */
    CHECK(status == EK_OK || status == EK_ERR_NOMEM);
    if (status != EK_OK)
        CHECK_HAS_TEXT(ek_error_message(), "no memory");
    eki_fabric_mpi_destroy(&fabric);
    return status == EK_OK;
}

static void failing_allocations_fail_on_all_ranks(void)
{
    int n = 1;
    while (!make_with_failure(n))
        n++;
    CHECK_EQ_INT(n, 7); /* object, nodes, counts, two pools, segment, none */
}

enum {
    MOUNT_BYTES = 2 << 20,
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
        void *memory = NULL;
        if (!eki_fabric_mpi_is_one_host(fabric)) { /* fewer share a mount */
            eki_fabric_mpi_destroy(&fabric);
            continue;
        }
        CHECK_EQ_INT(eki_fabric_mpi_segment(fabric, cases[i].bytes, &memory),
                     EK_ERR_NOMEM);
        CHECK(memory == NULL);
        const char *message = ek_error_message();
        CHECK_HAS_TEXT(message, "/tmp/evenkeel-shm-");
        CHECK_HAS_TEXT(message, " has 2097152 bytes free, ");
        CHECK_HAS_TEXT(message, "--shm-size");
        CHECK_HAS_TEXT(message, "buffer_slots");
        eki_fabric_mpi_destroy(&fabric);
    }
    /* Nodes of one rank take nothing of it. */
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 0);
    check_segment(fabric, 2 * MOUNT_BYTES);
    eki_fabric_mpi_destroy(&fabric);
}

static void run_all(void)
{
    RUN(thread_level_is_told);
    RUN(null_and_bad_communicators_are_refused);
    RUN(nodes_follow_the_hosts);
    RUN(storms_arrive_in_order_per_pair);
    RUN(fabrics_do_not_meet);
    RUN(all_buffers_can_be_reserved);
    RUN(exhausted_sends_recover);
    RUN(busy_ranks_do_not_hold_up_others);
    RUN(all_receives_can_be_handed_out);
    RUN(undelivered_messages_die_with_their_fabric);
    RUN(unreleased_messages_do_not_hold_up_destroy);
    RUN(bad_messages_name_source_and_reason);
    RUN(failing_sends_are_reported);
    RUN(nodes_share_their_memory);
    RUN(impossible_segments_are_refused);
    RUN(agreement_spreads_the_worst_message);
    RUN(reductions_are_right);
    RUN(data_reaches_all_ranks);
    RUN(rank_0_gathers_what_all_have);
    RUN(failing_allocations_fail_on_all_ranks);
}

int main(int argc, char **argv)
{
    bool is_shm = argc > 2 && strcmp(argv[2], "shm") == 0;
    if (is_shm && !mount_small())
        return SKIP;
    int warnings = 0;
    ek_set_sink(count_line, &warnings, EK_LEVEL_WARN);
    struct eki_fabric *fabric = NULL;
    CHECK_EQ_INT(eki_mpi_thread_level(), -1);
    CHECK(!eki_mpi_is_main_thread());
    CHECK_EQ_INT(eki_fabric_mpi_create(MPI_COMM_WORLD, 0, &fabric),
                 EK_ERR_STATE);
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* A launcher of another MPI starts ranks that do not know each other. */
    need(CHECK_EQ_INT(size, argc > 1 ? atoi(argv[1]) : 1));
    if (is_shm)
        RUN(small_mounts_are_refused_with_a_remedy);
    else
        run_all();
    /* Destroyed too late: only memory is freed. */
    fabric = fabric_make(MPI_COMM_WORLD, 1, 1024);
    void *memory = NULL;
    CHECK_EQ_INT(eki_fabric_mpi_segment(fabric, 1000, &memory), EK_OK);
    MPI_Finalize();
    CHECK_EQ_INT(eki_mpi_thread_level(), -2);
    CHECK(!eki_mpi_is_main_thread());
    eki_fabric_mpi_destroy(&fabric);
    CHECK(fabric == NULL);
    CHECK_EQ_INT(warnings, 0);
    if (is_shm) {
        umount(mount_point);
        rmdir(mount_point);
    }
    return check_result();
}
