/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric over MPI: one-sided operations on exported memory.
 *
 *     test_rma SIZE passive  targets are passive
 *     test_rma SIZE deaf     targets are not: the trial says so
 *     test_rma SIZE none     MPI has no such memory for these ranks
 *     test_rma SIZE small    a mount of 4 MiB, which the launcher has made
 */
#include "fabric_run.h"

#include <fabric/rma.h>

enum {
    WORDS = 5,
    BYTES = 20000,
    REFUSED = -1
};

static bool is_passive; /* what the trial must say */

/* Operations that MPI has seen; the next one fails. */
static int calls;
static bool next_fails;
/* The word of a rank that computes does not tell so. */
static bool is_late;

static bool call_passes(void)
{
    bool passes = !next_fails;
    next_fails = false;
    calls++;
    return passes;
}

int MPI_Rget(void *origin, int n, MPI_Datatype type, int target, MPI_Aint at,
             int target_n, MPI_Datatype target_type, MPI_Win window,
             MPI_Request *request)
{
    if (!call_passes())
        return MPI_ERR_OTHER;
    return PMPI_Rget(origin, n, type, target, at, target_n, target_type, window,
                     request);
}

int MPI_Rget_accumulate(const void *origin, int n, MPI_Datatype type,
                        void *result, int result_n, MPI_Datatype result_type,
                        int target, MPI_Aint at, int target_n,
                        MPI_Datatype target_type, MPI_Op op, MPI_Win window,
                        MPI_Request *request)
{
    static const uint64_t nothing = 0;
    if (!call_passes())
        return MPI_ERR_OTHER;
    if (is_late && op == MPI_REPLACE)
        origin = &nothing;
    return PMPI_Rget_accumulate(origin, n, type, result, result_n, result_type,
                                target, at, target_n, target_type, op, window,
                                request);
}

static struct eki_fabric *fabric;
static struct eki_rma *rma;

static void open_memory(void)
{
    need(CHECK_OK(eki_fabric_mpi_create(MPI_COMM_WORLD, &fabric)));
    need(CHECK_OK(eki_fabric_mpi_export(fabric, WORDS, BYTES, &rma)));
}

static void close_memory(void)
{
    eki_fabric_mpi_unexport(&rma);
    CHECK(rma == NULL);
    eki_fabric_mpi_unexport(&rma);
    eki_fabric_mpi_destroy(&fabric);
}

static void barrier(void)
{
    need(CHECK_OK(eki_fabric_mpi_barrier(fabric)));
}

/* A word before KIND of VALUE. */
static uint64_t word(enum eki_rma_kind kind, int of, size_t at, uint64_t value)
{
    const struct eki_rma_operation operation = {
        .kind = kind, .rank = of, .at = at, .value = value};
    uint64_t before = UINT64_MAX;
    need(CHECK_OK(eki_rma_do(rma, &operation, &before)));
    return before;
}

/* On a neighbour's memory, and on the own. */
static void operations_do_what_they_say(void)
{
    open_memory();
    for (int step = 0; step < 2; step++) {
        int to = (rank + 1 - step) % size;
        const uint64_t high = UINT64_C(1) << 60;
        unsigned char sent[BYTES], got[BYTES];
        struct eki_rma_operation move = {.rank = to, .memory = sent};
        CHECK_EQ_INT(word(EKI_RMA_READ, to, 4, 9), 0);
        CHECK_EQ_INT(word(EKI_RMA_ADD, to, 4, high), 0);
        CHECK_EQ_INT(word(EKI_RMA_ADD, to, 4, UINT64_MAX), high);
        CHECK_EQ_INT(word(EKI_RMA_REPLACE, to, 4, 7), high - 1);
        CHECK_EQ_INT(word(EKI_RMA_READ, to, 4, 9), 7);
        CHECK_EQ_INT(word(EKI_RMA_REPLACE, to, 2, 5), 0);
        const struct eki_rma_operation read = {EKI_RMA_READ, .rank = to,
                                               .at = 2, .words = 3};
        uint64_t before[3] = {9, 9, 9};
        CHECK_OK(eki_rma_do(rma, &read, before));
        CHECK(before[0] == 5 && before[1] == 0 && before[2] == 7);
        CHECK_EQ_INT(word(EKI_RMA_REPLACE, to, 2, 0), 5);
        CHECK_EQ_INT(word(EKI_RMA_REPLACE, to, 4, 0), 7);
        for (int i = 0; i < BYTES; i++)
            sent[i] = pattern(rank, step, i);
        move.kind = EKI_RMA_PUT;
        move.at = 3;
        move.bytes = BYTES - 3;
        CHECK_OK(eki_rma_do(rma, &move, NULL));
        barrier();
        rma->ops->sync(rma);
        int from = (rank + size - 1 + step) % size;
        for (int i = 3; i < BYTES; i++)
            if (rma->data[i] != pattern(from, step, i - 3))
                need(CHECK_EQ_INT(rma->data[i], pattern(from, step, i - 3)));
        /* What its owner stores is what others get. */
        memset(rma->data, rank + 1, BYTES);
        rma->ops->sync(rma);
        barrier();
        move = (struct eki_rma_operation){EKI_RMA_GET, to, .at = 0,
                                          .memory = got, .bytes = BYTES};
        CHECK_OK(eki_rma_do(rma, &move, NULL));
        for (int i = 0; i < BYTES; i += 999)
            CHECK_EQ_INT(got[i], to + 1);
        CHECK_EQ_INT(got[BYTES - 1], to + 1);
        barrier();
    }
    close_memory();
}

/* All tickets at once, to all ranks, tested from the last to the first. */
static void tickets_are_done_in_any_order(void)
{
    open_memory();
    int tickets[EKI_RMA_TICKETS], more, left = EKI_RMA_TICKETS;
    uint64_t value[EKI_RMA_TICKETS], own = (uint64_t)rank + 1;
    rma->data[0] = (unsigned char)own;
    rma->ops->sync(rma);
    barrier();
    unsigned char got[EKI_RMA_TICKETS] = {0};
    for (int i = 0; i < EKI_RMA_TICKETS; i++) {
        struct eki_rma_operation operation = {
            .kind = EKI_RMA_ADD, .rank = i / 2 % size, .at = 1, .value = own};
        if (i % 2 == 1)
            operation = (struct eki_rma_operation){
                EKI_RMA_GET, i / 2 % size, .memory = &got[i], .bytes = 1};
        CHECK_OK(rma->ops->start(rma, &operation, &tickets[i]));
        for (int j = 0; j < i; j++)
            CHECK(tickets[j] != tickets[i]);
        value[i] = UINT64_MAX;
    }
    const struct eki_rma_operation read = {.kind = EKI_RMA_READ};
    CHECK_OK(rma->ops->start(rma, &read, &more));
    CHECK_EQ_INT(more, REFUSED);
    CHECK_EQ_INT(eki_rma_do(rma, &read, NULL), EK_ERR_STATE);
    while (left > 0)
        for (int i = EKI_RMA_TICKETS - 1; i >= 0; i--)
            if (tickets[i] >= 0 &&
                rma->ops->test(rma, tickets[i], i % 2 ? NULL : &value[i])) {
                tickets[i] = -1;
                left--;
            }
    for (int i = 0; i < EKI_RMA_TICKETS; i++)
        CHECK(i % 2 ? got[i] == i / 2 % size + 1
                    : value[i] < EKI_RMA_TICKETS * 10);
    barrier();
    /* Each rank has had its part of the additions of all. */
    int mine = 0;
    for (int i = 0; i < EKI_RMA_TICKETS; i += 2)
        mine += i / 2 % size == rank;
    CHECK_EQ_INT(word(EKI_RMA_READ, rank, 1, 0), mine * size * (size + 1) / 2);
    barrier();
    close_memory();
}

static void refused(const struct eki_rma_operation *operation, const char *why)
{
    int ticket = 0;
    CHECK_EQ_INT(rma->ops->start(rma, operation, &ticket), EK_ERR_ARG);
    CHECK_EQ_INT(ticket, REFUSED);
    CHECK_HAS_TEXT(ek_error_message(), why);
}

/* MPI would write to memory of somebody else, or end the job. */
static void what_is_outside_never_comes_to_mpi(void)
{
    static unsigned char memory[BYTES + 1];
    struct eki_rma *none = (struct eki_rma *)memory;
    open_memory();
    struct eki_rma_operation operation = {EKI_RMA_ADD, .rank = -1};
    calls = 0;
    refused(&operation, "rank -1, expected 0 ... ");
    operation.rank = size;
    refused(&operation, "expected 0 ... ");
    operation.rank = 0;
    operation.at = WORDS;
    refused(&operation, "word 5 and 0 more of rank 0, which exports 5");
    operation.at = SIZE_MAX;
    refused(&operation, "word ");
    operation = (struct eki_rma_operation){EKI_RMA_READ, .at = 3, .words = 3};
    refused(&operation, "word 3 and 2 more of rank 0, which exports 5");
    operation.words = EKI_RMA_WORDS + 1;
    refused(&operation, "word 3 and 32 more");
    operation = (struct eki_rma_operation){EKI_RMA_GET, 0, .at = 1,
                                           .memory = memory, .bytes = BYTES};
    refused(&operation, "byte 1 and 19999 more of rank 0, which exports 20000");
    operation.at = BYTES;
    operation.bytes = 1;
    operation.kind = EKI_RMA_PUT;
    refused(&operation, "byte 20000 ");
    operation.at = 1;
    operation.bytes = SIZE_MAX;
    refused(&operation, "byte 1 ");
    CHECK_EQ_INT(calls, 0);
    CHECK_EQ_INT(fabric->failed, EK_OK);
    CHECK_EQ_INT(eki_fabric_mpi_export(fabric, 0, 8, &none), EK_ERR_ARG);
    CHECK(none == NULL);
    CHECK_EQ_INT(eki_fabric_mpi_export(fabric, 1, SIZE_MAX, &none), EK_ERR_ARG);
    if (rank == size - 1)
        eki_memory_fail(1);
    CHECK_EQ_INT(eki_fabric_mpi_export(fabric, 1, 8, &none), EK_ERR_NOMEM);
    eki_memory_fail(0);
    close_memory();
}

/* Nobody waits for a ticket any more. */
static void failures_of_mpi_are_told(void)
{
    unsigned char byte = 0;
    int first, ticket;
    const struct eki_rma_operation good = {.kind = EKI_RMA_ADD};
    const struct eki_rma_operation bad = {EKI_RMA_GET, 0, .memory = &byte,
                                          .bytes = 1};
    open_memory();
    CHECK_OK(rma->ops->start(rma, &good, &first));
    next_fails = true;
    CHECK_EQ_INT(rma->ops->start(rma, &bad, &ticket), EK_ERR_MPI);
    CHECK_HAS_TEXT(ek_error_message(), mpi_words(MPI_ERR_OTHER));
    CHECK_EQ_INT(ticket, REFUSED);
    CHECK_EQ_INT(fabric->failed, EK_ERR_MPI);
    while (!rma->ops->test(rma, first, NULL))
        ;
    calls = 0;
    CHECK_EQ_INT(rma->ops->start(rma, &good, &ticket), EK_ERR_MPI);
    CHECK_EQ_INT(calls, 0);
    close_memory();
}

static void trials_tell_what_mpi_does(void)
{
    struct eki_rma_verdict verdict;
    open_memory();
    CHECK_OK(eki_rma_try_count(rma, &verdict));
    CHECK(verdict.is_good);
    CHECK_EQ_TEXT(verdict.sentence, "10000 additions to a word that its owner "
                                    "replaces were counted");
    CHECK_OK(eki_rma_try_passive(rma, &verdict));
    CHECK_EQ_INT(verdict.is_good, is_passive || size == 1);
    CHECK_HAS_TEXT(verdict.sentence,
                   verdict.is_good ? "are passive: " : "are not passive: ");
    CHECK((strstr(verdict.sentence, EKI_RMA_REMEDY) != NULL) !=
          verdict.is_good);
    CHECK(verdict.is_good ? verdict.longest_ns < 1e6
                          : verdict.longest_ns > 1e6);
    CHECK_EQ_INT(word(EKI_RMA_READ, rank, 0, 0), 0);
    barrier();
    close_memory();
}

/* Of a communicator, whichever sets it had. */
static void good_trials_are_made_once(void)
{
    struct eki_rma_verdict verdict = {0};
    if (!is_passive)
        return;
    open_memory();
    for (int i = 0; i < 5 && !verdict.is_good; i++) /* a busy machine */
        CHECK_OK(eki_rma_try(rma, &verdict));
    CHECK(verdict.is_good);
    for (int i = 0; i < 2; i++) {
        calls = 0;
        CHECK_OK(eki_rma_try(rma, &verdict));
        CHECK(verdict.is_good);
        CHECK_EQ_INT(calls, 0);
        close_memory();
        open_memory();
    }
    close_memory();
}

/* Here the word has more in it than was added. */
static void lost_additions_are_told(void)
{
    struct eki_rma_verdict verdict;
    open_memory();
    if (rank == 0)
        word(EKI_RMA_ADD, 0, 0, 5);
    barrier();
    CHECK_OK(eki_rma_try_count(rma, &verdict));
    CHECK(!verdict.is_good);
    CHECK_HAS_TEXT(verdict.sentence, "of 10000 additions to a word that its "
                                     "owner replaces 10005 were counted; ");
    CHECK_HAS_TEXT(verdict.sentence, EKI_RMA_REMEDY);
    close_memory();
}

/* Where others have its core a rank may compute when it is asked no more. */
static void ranks_that_are_late_tell_nothing(void)
{
    struct eki_rma_verdict verdict;
    if (!is_passive || size == 1)
        return;
    open_memory();
    is_late = true;
    CHECK_OK(eki_rma_try_passive(rma, &verdict));
    is_late = false;
    CHECK(!verdict.is_good);
    CHECK((strstr(verdict.sentence, "not passive") != NULL) ==
          (verdict.longest_ns >= 1e6));
    CHECK((strstr(verdict.sentence, "ranks computed too late") != NULL) ==
          (verdict.longest_ns < 1e6));
    close_memory();
}

static void run_all(void)
{
    RUN(operations_do_what_they_say);
    RUN(tickets_are_done_in_any_order);
    RUN(what_is_outside_never_comes_to_mpi);
    RUN(failures_of_mpi_are_told);
    RUN(good_trials_are_made_once);
    RUN(trials_tell_what_mpi_does);
    RUN(ranks_that_are_late_tell_nothing);
    RUN(lost_additions_are_told);
}

static void count_all(ek_level level, const char *line, void *lines)
{
    (void)level, (void)line;
    ++*(int *)lines;
}

/* Who asked for it says so, once, with what happens instead. */
static void no_memory_names_the_remedy(void)
{
    int lines = 0;
    need(CHECK_OK(eki_fabric_mpi_create(MPI_COMM_WORLD, &fabric)));
    ek_set_sink(count_all, &lines, EK_LEVEL_INFO);
    CHECK_EQ_INT(eki_fabric_mpi_export(fabric, 1, 8, &rma), EK_ERR_MPI);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK_EQ_INT(lines, 0);
    CHECK(rma == NULL);
    CHECK_HAS_TEXT(ek_error_message(), EKI_RMA_REMEDY);
    eki_fabric_mpi_destroy(&fabric);
}

static void run_none(void)
{
    RUN(no_memory_names_the_remedy);
}

static void small_mounts_are_refused(void)
{
    need(CHECK_OK(eki_fabric_mpi_create(MPI_COMM_WORLD, &fabric)));
    CHECK_EQ_INT(eki_fabric_mpi_export(fabric, 1, 3 << 20, &rma), EK_ERR_NOMEM);
    CHECK_HAS_TEXT(ek_error_message(), "--shm-size");
    eki_fabric_mpi_destroy(&fabric);
    open_memory();
    CHECK_EQ_INT(word(EKI_RMA_READ, rank, 0, 0), 0);
    close_memory();
}

static void run_small(void)
{
    RUN(small_mounts_are_refused);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";
    is_passive = strcmp(what, "passive") == 0;
    if (strcmp(what, "none") == 0)
        return fabric_run(argc, argv, run_none);
    if (strcmp(what, "small") == 0)
        return fabric_run(argc, argv, run_small);
    return fabric_run(argc, argv, run_all);
}
