/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the fabric share: a run from its start to its end, a
 * fabric, and a storm of messages over it.
 *
 * Unlike other tests under mpirun they look into the library: nothing public
 * speaks to the fabric alone.
 */
#ifndef FABRIC_RUN_H
#define FABRIC_RUN_H

#include <fabric/mpi_fabric.h>

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* MPI_COMM_WORLD's; every test starts with all ranks together. */
static int rank, size;

/* What MPI says of a class of errors. */
static inline const char *mpi_words(int error_class)
{
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(error_class, text, &length);
    return text;
}

/* Warnings of the library: none is expected, errors are. */
static inline void count_line(ek_level level, const char *line, void *context)
{
    fprintf(stderr, "%s\n", line);
    *(int *)context += level != EK_LEVEL_ERROR;
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
static inline void need(bool passed)
{
    if (!passed)
        abort();
}

/* Without MESSAGE_BYTES: as large as MPI sends at once. */
static inline struct eki_fabric *fabric_make(MPI_Comm comm, int ranks_per_node,
                                             size_t message_bytes)
{
    struct eki_fabric *fabric = NULL;
    need(CHECK_EQ_INT(eki_fabric_mpi_create(comm, &fabric), EK_OK));
    need(CHECK(fabric != NULL));
    if (message_bytes == 0)
        message_bytes = EKI_MESSAGE_BYTES;
    need(CHECK_EQ_INT(
        eki_fabric_mpi_open(&fabric, ranks_per_node, message_bytes), EK_OK));
    CHECK_EQ_INT(fabric->message_bytes, message_bytes);
    /* relaxed: nobody else is about. */
    if (atomic_load_explicit(&fabric->numbers, memory_order_relaxed) == 0)
        atomic_store_explicit(&fabric->numbers, 1, memory_order_relaxed);
    return fabric;
}

/* Pattern of byte I of message NUMBER from SOURCE. */
static inline unsigned char pattern(int source, int64_t number, int64_t i)
{
    return (unsigned char)(source * 31 + number * 7 + i + i / 251);
}

/* Post message NUMBER (to RANK) of BYTES; false if no buffer is free. */
static inline bool send_numbered(struct eki_fabric *fabric, int to,
                                 int64_t number, int64_t bytes)
{
    struct eki_message *message = fabric->ops->reserve(fabric);
    if (!message)
        return false;
    CHECK((uintptr_t)message->body % 8 == 0);
    message->head.kind = 5;
    message->head.first = number;
    message->head.worker = to;
    message->head.bytes = bytes;
    for (int64_t i = 0; i < bytes; i++)
        message->body[i] = pattern(fabric->rank, number, i);
    fabric->ops->post(fabric, message, to);
    need(CHECK_EQ_INT(fabric->failed, EK_OK));
    return true;
}

/* MESSAGE is the next of its source, and intact. */
static inline void check_numbered(struct eki_fabric *fabric,
                                  const struct eki_message *message,
                                  int64_t *next)
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

enum {
    STORM_MESSAGES = 150,
    HELD = 8
};

/* Sizes around the eager limits of shared memory and TCP, and any others. */
static inline int64_t storm_bytes(struct eki_random *random, int64_t most)
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
static inline int storm_receive(struct eki_fabric *fabric,
                                struct eki_random *random,
                                struct eki_message **held, int *held_count,
                                int64_t *next)
{
    struct eki_message *message = fabric->ops->poll(fabric);
    need(CHECK_EQ_TEXT(fabric->failure, ""));
    if (message) {
        check_numbered(fabric, message, next);
        held[(*held_count)++] = message;
    }
    while (*held_count == HELD ||
           (*held_count > 0 && eki_random_below(random, 4) == 0)) {
        int chosen = (int)eki_random_below(random, (uint64_t)*held_count);
        fabric->ops->release(fabric, held[chosen]);
        held[chosen] = held[--*held_count];
    }
    return message != NULL;
}

/* Everyone sends STORM_MESSAGES to everyone, itself included. */
static inline void storm(struct eki_fabric *fabric, uint64_t seed)
{
    struct eki_random random;
    eki_random_seed(&random, seed, (uint64_t)rank);
    int64_t most = (int64_t)(fabric->message_bytes - sizeof(struct eki_head));
    int64_t *sent = calloc((size_t)size, sizeof *sent);
    int64_t *next = calloc((size_t)size, sizeof *next);
    need(CHECK(sent != NULL && next != NULL));
    struct eki_message *held[HELD];
    int held_count = 0, left = size * STORM_MESSAGES, missing = left;
    while (left > 0 || missing > 0 || !fabric->ops->drain(fabric)) {
        int to = (int)eki_random_below(&random, (uint64_t)size);
        if (left > 0 && sent[to] < STORM_MESSAGES &&
            send_numbered(fabric, to, sent[to], storm_bytes(&random, most))) {
            sent[to]++;
            left--;
        }
        missing -= storm_receive(fabric, &random, held, &held_count, next);
    }
    while (held_count > 0)
        fabric->ops->release(fabric, held[--held_count]);
    for (int r = 0; r < size; r++)
        CHECK_EQ_INT(next[r], STORM_MESSAGES);
    free(sent);
    free(next);
    CHECK_OK(eki_fabric_mpi_barrier(fabric));
    CHECK(fabric->ops->poll(fabric) == NULL);
    /* Nobody starts the next storm while another still looks. */
    CHECK_OK(eki_fabric_mpi_barrier(fabric));
}

/* Run TESTS between MPI_Init and MPI_Finalize, with what is legal before and
 * after; for main() to return. */
static inline int fabric_run(int argc, char **argv, void (*tests)(void))
{
    int warnings = 0;
    ek_set_sink(count_line, &warnings, EK_LEVEL_WARN);
    struct eki_fabric *fabric = NULL;
    CHECK_EQ_INT(eki_mpi_thread_level(), -1);
    CHECK(!eki_mpi_is_main_thread());
    CHECK_EQ_INT(eki_fabric_mpi_create(MPI_COMM_WORLD, &fabric), EK_ERR_STATE);
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* A launcher of another MPI starts ranks that do not know each other. */
    need(CHECK_EQ_INT(size, argc > 1 ? atoi(argv[1]) : 1));
    tests();
    /* Destroyed too late: only memory is freed. */
    fabric = fabric_make(MPI_COMM_WORLD, 1, 1024);
    struct eki_node_memory piece;
    CHECK_OK(eki_fabric_mpi_share(fabric, EK_OK, 1000, &piece));
    MPI_Finalize();
    CHECK_EQ_INT(eki_mpi_thread_level(), -2);
    CHECK(!eki_mpi_is_main_thread());
    eki_fabric_mpi_unshare(&piece);
    eki_fabric_mpi_destroy(&fabric);
    CHECK(fabric == NULL);
    CHECK_EQ_INT(warnings, 0);
    return check_result();
}

#endif
