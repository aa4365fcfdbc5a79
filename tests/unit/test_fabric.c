/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric over MPI: messages.
 *
 *     test_fabric SIZE  on any number of ranks and hosts
 */
#define _GNU_SOURCE /* mkstemp(), mmap() */
#include "fabric_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void thread_level_is_told(void)
{
    CHECK(eki_mpi_thread_level() >= 2);
    CHECK(eki_mpi_is_main_thread());
}

static void null_and_bad_communicators_are_refused(void)
{
    struct eki_fabric *fabric = (struct eki_fabric *)&size;
    CHECK_EQ_INT(eki_fabric_mpi_create(MPI_COMM_NULL, &fabric), EK_ERR_ARG);
    CHECK(fabric == NULL);
    CHECK_OK(eki_fabric_mpi_create(MPI_COMM_WORLD, &fabric));
    CHECK_EQ_INT(eki_fabric_mpi_open(&fabric, -1, 100), EK_ERR_ARG);
    CHECK_EQ_INT(eki_fabric_mpi_open(&fabric, 0, 10), EK_ERR_ARG);
    CHECK_OK(eki_fabric_mpi_open(&fabric, 0, 100));
    eki_fabric_mpi_destroy(&fabric);
    eki_fabric_mpi_destroy(NULL);
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
    struct eki_fabric *two = fabric_make(MPI_COMM_WORLD, 1, 4160);
    int next_rank = (rank + 1) % size;
    CHECK(send_numbered(one, next_rank, 0, 100));
    CHECK_OK(eki_fabric_mpi_barrier(two));
    for (int i = 0; i < 100; i++)
        CHECK(two->ops->poll(two) == NULL);
    CHECK_OK(eki_fabric_mpi_barrier(two));
    storm(two, 5);
    eki_fabric_mpi_destroy(&two);
    struct eki_message *message = NULL;
    while (!message)
        message = one->ops->poll(one);
    CHECK_EQ_INT(message->head.source, (rank + size - 1) % size);
    eki_fabric_mpi_destroy(&one); /* without release */
}

/* Send a message to this rank, and wait until its buffer is free. */
static void send_here(struct eki_fabric *fabric, struct eki_message *message)
{
    struct eki_message *taken = NULL;
    message->head = (struct eki_head){.kind = 1, .count = 1};
    fabric->ops->post(fabric, message, rank);
    while (!taken)
        taken = fabric->ops->poll(fabric);
    fabric->ops->release(fabric, taken);
    while (!fabric->ops->drain(fabric))
        ;
}

static void all_buffers_can_be_reserved(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 256);
    const int room = EKI_MPI_SENDS;
    struct eki_message *reserved[EKI_MPI_SENDS];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < room; i++) {
            reserved[i] = fabric->ops->reserve(fabric);
            need(CHECK(reserved[i] != NULL));
            for (int j = 0; j < i; j++)
                CHECK(reserved[i] != reserved[j]);
            memset(reserved[i], 0xff, fabric->message_bytes);
        }
        CHECK(fabric->ops->reserve(fabric) == NULL);
        CHECK(fabric->ops->drain(fabric));
        for (int i = 0; i <= EKI_MPI_SPARE; i++) {
            CHECK(!eki_fabric_has_spare(fabric));
            send_here(fabric, reserved[i]);
        }
        CHECK(eki_fabric_has_spare(fabric));
        for (int i = EKI_MPI_SPARE + 1; i < room; i++)
            send_here(fabric, reserved[i]);
    }
    struct eki_message *message = fabric->ops->reserve(fabric);
    CHECK_EQ_INT(message->head.count, 0); /* nothing of the last use */
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
    CHECK(!fabric->ops->drain(fabric));
    need(CHECK_EQ_INT(fabric->failed, EK_OK));
    int64_t total = sent + 100, expected[2] = {total, total}, from[2];
    MPI_Sendrecv(expected, 2, MPI_INT64_T, to, 0, from, 2, MPI_INT64_T,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int source = (rank + size - 1) % size;
    while (sent < total || next[source] < from[0] ||
           !fabric->ops->drain(fabric)) {
        if (sent < total && send_numbered(fabric, to, sent, BYTES))
            sent++;
        struct eki_message *message = fabric->ops->poll(fabric);
        if (message) {
            check_numbered(fabric, message, next);
            fabric->ops->release(fabric, message);
        }
    }
    free(next);
    eki_fabric_mpi_destroy(&fabric);
}

/* An integer that all ranks see without MPI, in a file on this machine. */
static _Atomic int *share_count(void)
{
    char path[] = "/tmp/ek_test_fabric_XXXXXX";
    int file = rank == 0 ? mkstemp(path) : -1;
    if (file >= 0)
        need(CHECK_EQ_INT(ftruncate(file, 4096), 0));
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0)
        file = open(path, O_RDWR);
    void *memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    need(CHECK(memory != MAP_FAILED));
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(path);
    return memory;
}

/* Whether rank 0 sends to RANK: on another host, or all are on one. */
static bool is_told(const struct eki_fabric *fabric, int to)
{
    const int *nodes = eki_fabric_mpi_nodes(fabric);
    return to != 0 &&
           (eki_fabric_mpi_is_one_host(fabric) || nodes[to] != nodes[0]);
}

/* Take what comes until EXPECTED have ARRIVED at all ranks.  Rank 0 is not in
 * MPI meanwhile, and gives up if nothing comes for ten seconds. */
static void take_without_sender(struct eki_fabric *fabric, _Atomic int *arrived,
                                int expected)
{
    const uint64_t patience_ns = UINT64_C(10000000000);
    uint64_t since = eki_clock_system_ns();
    int64_t *next = calloc((size_t)size, sizeof *next);
    need(CHECK(next != NULL));
    for (int last = 0, now = 0; now < expected; last = now) {
        struct eki_message *message = rank ? fabric->ops->poll(fabric) : NULL;
        if (message) {
            check_numbered(fabric, message, next);
            fabric->ops->release(fabric, message);
            atomic_fetch_add_explicit(arrived, 1, memory_order_relaxed);
        }
        sched_yield();
        now = atomic_load_explicit(arrived, memory_order_relaxed);
        if (now != last)
            since = eki_clock_system_ns();
        if (rank == 0 && eki_clock_system_ns() > since + patience_ns)
            atomic_store_explicit(arrived, 2 * expected, memory_order_relaxed);
    }
    CHECK_EQ_INT(atomic_load_explicit(arrived, memory_order_relaxed), expected);
    free(next);
}

/* The largest messages of a collection come while their sender computes: MPI
 * sends them at once. */
static void full_messages_need_no_sender(void)
{
    enum {
        MESSAGES = 3
    };
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 0, 0);
    int64_t body = (int64_t)(fabric->message_bytes - sizeof(struct eki_head));
    storm(fabric, 1); /* all are connected */
    _Atomic int *arrived = share_count();
    int expected = 0;
    for (int i = 0; i < MESSAGES; i++) {
        for (int to = 1; to < size; to++) {
            expected += is_told(fabric, to);
            if (rank == 0 && is_told(fabric, to))
                need(CHECK(send_numbered(fabric, to, i, body)));
        }
    }
    take_without_sender(fabric, arrived, expected);
    munmap((void *)arrived, 4096);
    eki_fabric_mpi_destroy(&fabric);
}

/* Only what was in use of the buffers takes memory. */
static void unused_buffers_take_no_memory(void)
{
    enum {
        BYTES = 1 << 20,
        MOST_KIB = 16384
    };
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, BYTES);
    send_numbered(fabric, rank, 0, 100);
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < MOST_KIB);
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
        while (!fabric->ops->drain(fabric))
            continue;
    } else if (rank == 1) {
        /* Inside MPI without polling: receives match, nothing is taken. */
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    int64_t expected = rank == 1 ? EKI_MPI_RECEIVES + 10 : MESSAGES;
    while ((rank == 1 || rank == 2) && next[0] < expected) {
        struct eki_message *message = fabric->ops->poll(fabric);
        if (message) {
            check_numbered(fabric, message, next);
            fabric->ops->release(fabric, message);
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
            held[count] = fabric->ops->poll(fabric);
            if (!held[count])
                continue;
            check_numbered(fabric, held[count], next);
            count++;
        }
        for (int i = 0; i < 100; i++)
            CHECK(fabric->ops->poll(fabric) == NULL);
        for (int i = 0; i < EKI_MPI_RECEIVES; i++)
            fabric->ops->release(fabric,
                                 held[(i * 5 + round) % EKI_MPI_RECEIVES]);
        while (next[source] < sent) {
            struct eki_message *message = fabric->ops->poll(fabric);
            if (message) {
                check_numbered(fabric, message, next);
                fabric->ops->release(fabric, message);
            }
        }
        while (!fabric->ops->drain(fabric))
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
            CHECK(fabric->ops->poll(fabric) == NULL);
        CHECK_OK(eki_fabric_mpi_barrier(fabric));
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
        held += fabric->ops->poll(fabric) != NULL;
        need(CHECK_EQ_TEXT(fabric->failure, ""));
    }
    uint64_t start = eki_clock_system_ns();
    eki_fabric_mpi_destroy(&fabric);
    CHECK(eki_clock_system_ns() - start < UINT64_C(5000000000));
}

/* Rank 0 gets BYTES of DATA from the last rank, as a bad message over FABRIC:
 * it is dropped, or ends all messages. */
static void expect_over(struct eki_fabric *fabric, const void *data, int bytes,
                        bool is_dropped, const char *reason)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    int sender = size - 1;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == sender) {
        MPI_Isend(data, bytes, MPI_BYTE, 0, mpi->tag, mpi->comm, &request);
        mpi->sent[0]++;
    }
    if (rank == 0) {
        while (fabric->troubles == 0)
            CHECK(fabric->ops->poll(fabric) == NULL);
        CHECK_EQ_INT(fabric->troubles, 1);
        CHECK_EQ_INT(fabric->failed, is_dropped ? EK_OK : EK_ERR_MPI);
        CHECK_HAS_TEXT(fabric->failure, reason);
        CHECK(fabric->ops->poll(fabric) == NULL);
        CHECK_EQ_INT(fabric->ops->reserve(fabric) != NULL, is_dropped);
        CHECK(fabric->ops->drain(fabric));
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    eki_fabric_mpi_destroy(&fabric);
}

static void expect(const void *data, int bytes, bool is_dropped,
                   const char *reason)
{
    expect_over(fabric_make(MPI_COMM_WORLD, 1, 1024), data, bytes, is_dropped,
                reason);
}

/* Notes name lockers of the host, which show their numbers. */
static void stray_notes_are_refused(void)
{
    const struct eki_locker_note notes[] = {
        {.number = 1, .place = 1000000, .bytes = 100},
        {.number = 77, .bytes = 100},
        {.bytes = 100},
        {.number = 1, .bytes = 1000000}};
    for (int i = 0; i < 4; i++)
        expect_over(fabric_make(MPI_COMM_WORLD, 1, EKI_MESSAGE_BYTES),
                    &notes[i], sizeof notes[i], true,
                    "16 bytes, shorter than a header");
}

/* Who has a message that lay in a locker keeps no receive, and may give it back
 * late, and in any order. */
static void messages_in_lockers_can_be_kept(void)
{
    enum {
        MESSAGES = EKI_MPI_RECEIVES + 5
    };
    struct eki_fabric *fabric =
        fabric_make(MPI_COMM_WORLD, 1, EKI_MESSAGE_BYTES);
    struct eki_message *held[EKI_MPI_LOCKERS_LEAST];
    int64_t *next = calloc((size_t)size, sizeof *next), sent = 0;
    int source = (rank + size - 1) % size, count = 0;
    bool has_lockers = eki_mpi_of(fabric)->lockers.hosts != NULL &&
                       eki_fabric_mpi_is_one_host(fabric);
    need(CHECK(next != NULL));
    while (sent < MESSAGES || next[source] < MESSAGES) {
        sent += sent < MESSAGES &&
                send_numbered(fabric, (rank + 1) % size, sent, 60000);
        struct eki_message *message = fabric->ops->poll(fabric);
        if (!message)
            continue;
        check_numbered(fabric, message, next);
        if (has_lockers && count < EKI_MPI_LOCKERS_LEAST)
            held[count++] = message;
        else
            fabric->ops->release(fabric, message);
    }
    if (has_lockers)
        CHECK_EQ_INT(eki_mpi_of(fabric)->posted.count, EKI_MPI_RECEIVES);
    while (count > 0)
        fabric->ops->release(fabric, held[--count]);
    CHECK_OK(eki_fabric_mpi_barrier(fabric));
    CHECK(eki_fabric_has_spare(fabric));
    free(next);
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
    expect(buffer, 0, true, reason);
    snprintf(reason, sizeof reason,
             "bad message from rank %d: magic number 0x00000000", size - 1);
    expect(buffer, 100, true, reason);
    expect(&head, 40, true, "40 bytes, shorter than");
    head.bytes = 8;
    expect(&head, 64, true, "body of 8 bytes announced, 0 received");
    head.bytes = 0;
    head.collection = 9;
    expect(&head, 64, true, "collection 9, expected less than 1");
    head.collection = 0;
    const char *truncated = mpi_words(MPI_ERR_TRUNCATE);
    expect(buffer, 1025, false, truncated);
    expect(buffer, 5000, false, truncated); /* a rendezvous one */
    if (size == 1)
        return;
    head.source = 0;
    expect(&head, 64, true, "its header names rank 0");
}

/* MPI refuses a rank that does not exist; nothing aborts. */
static void failing_sends_are_reported(void)
{
    struct eki_fabric *fabric = fabric_make(MPI_COMM_WORLD, 1, 1024);
    struct eki_message *message = fabric->ops->reserve(fabric);
    struct eki_message *other = fabric->ops->reserve(fabric);
    fabric->ops->post(fabric, message, size);
    CHECK_EQ_INT(fabric->failed, EK_ERR_MPI);
    CHECK_HAS_TEXT(fabric->failure, "MPI_Isend");
    CHECK_HAS_TEXT(fabric->failure, mpi_words(MPI_ERR_RANK));
    fabric->ops->post(fabric, other, 0); /* dropped */
    CHECK(fabric->ops->drain(fabric));
    eki_fabric_mpi_destroy(&fabric);
}

static void run_all(void)
{
    RUN(thread_level_is_told);
    RUN(null_and_bad_communicators_are_refused);
    RUN(unused_buffers_take_no_memory);
    RUN(storms_arrive_in_order_per_pair);
    RUN(fabrics_do_not_meet);
    RUN(all_buffers_can_be_reserved);
    RUN(exhausted_sends_recover);
    RUN(full_messages_need_no_sender);
    RUN(busy_ranks_do_not_hold_up_others);
    RUN(all_receives_can_be_handed_out);
    RUN(undelivered_messages_die_with_their_fabric);
    RUN(unreleased_messages_do_not_hold_up_destroy);
    RUN(messages_in_lockers_can_be_kept);
    RUN(stray_notes_are_refused);
    RUN(bad_messages_name_source_and_reason);
    RUN(failing_sends_are_reported);
}

int main(int argc, char **argv)
{
    return fabric_run(argc, argv, run_all);
}
