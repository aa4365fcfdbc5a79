/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one-sided operations cost, through the fabric of the library: rank 0 on
 * memory of the last rank, and all other ranks on one word of rank 0.
 *
 * Words and data have just been written by their owner, as those of a victim.
 */
#include "bench.h"

#include "cli/command_line.h"

#include "fabric/rma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = 100,
    APART = BENCH_LINE / sizeof(uint64_t), /* words from one to the next */
    ADDITIONS = 5000,
    FLYING = 16, /* additions of a rank that are under way */
    SHORT_BYTES = 64,
    LONG_BYTES = 16384, /* a byte is what lies between these two */
    SLICES = 32         /* of data, each of them used once */
};

static const size_t sizes[] = {8, 24, SHORT_BYTES, 192, 1536, 4096, LONG_BYTES};

enum {
    SIZES = sizeof sizes / sizeof *sizes,
    IS_SHORT = 2, /* their places in the list */
    IS_LONG = SIZES - 1
};

struct samples {
    int count;
    double read[BENCH_REPETITIONS_MAX];
    double add[BENCH_REPETITIONS_MAX];
    double atomic[BENCH_REPETITIONS_MAX];
    double get[SIZES][BENCH_REPETITIONS_MAX];
    double put[SIZES][BENCH_REPETITIONS_MAX];
};

struct memory {
    struct eki_fabric *fabric;
    struct eki_rma *rma;
    struct eki_rma_verdict passive;
    unsigned char *own; /* [SLICES][LONG_BYTES] */
    int target;
};

/* Where targets need not be in MPI, who waits sleeps. */
static void meet(const struct memory *memory)
{
    if (memory->passive.is_good)
        bench_barrier(MPI_COMM_WORLD);
    else
        bench_check(eki_fabric_mpi_barrier(memory->fabric));
}

/* Nanoseconds of an operation on a word of RANK, each time another. */
static double run_words(struct memory *memory, enum eki_rma_kind kind, int rank)
{
    struct eki_rma_operation operation = {
        .kind = kind, .rank = rank, .value = 1};
    uint64_t first = bench_ticks();
    for (size_t i = 0; i < WORDS; i++) {
        operation.at = i * APART;
        bench_check(eki_rma_do(memory->rma, &operation, NULL));
    }
    return bench_ns(bench_ticks() - first) / WORDS;
}

/* Nanoseconds of moving BYTES, each time others. */
static double run_data(struct memory *memory, enum eki_rma_kind kind,
                       size_t bytes)
{
    struct eki_rma_operation operation = {
        .kind = kind, .rank = memory->target, .bytes = bytes};
    uint64_t first = bench_ticks();
    for (size_t i = 0; i < SLICES; i++) {
        operation.at = i * LONG_BYTES;
        operation.memory = memory->own + i * LONG_BYTES;
        bench_check(eki_rma_do(memory->rma, &operation, NULL));
    }
    return bench_ns(bench_ticks() - first) / SLICES;
}

/* Words and data of the target are new, and what rank 0 puts. */
static void renew(struct memory *memory, int value)
{
    size_t bytes = (size_t)SLICES * LONG_BYTES;
    int rank = memory->fabric->rank;
    if (rank == memory->target) {
        memset(memory->rma->data, value, bytes);
        run_words(memory, EKI_RMA_REPLACE, rank);
    } else if (rank == 0) {
        memset(memory->own, value, bytes);
    }
    memory->rma->ops->sync(memory->rma);
    meet(memory);
}

/* Many additions of each rank but 0 to a word of rank 0; nanoseconds of one if
 * all came one after the other. */
static double run_atomics(struct memory *memory)
{
    const struct eki_rma_operation add = {.kind = EKI_RMA_ADD, .value = 1};
    const struct eki_rma_ops *ops = memory->rma->ops;
    struct eki_fabric *fabric = memory->fabric;
    int tickets[FLYING], left = fabric->rank == 0 ? 0 : ADDITIONS;
    bench_check(eki_fabric_mpi_barrier(fabric));
    uint64_t first = bench_ticks();
    for (int i = 0; i < FLYING; i++)
        tickets[i] = -1;
    for (int i = 0, flying = 0; left > 0 || flying > 0; i = (i + 1) % FLYING) {
        if (tickets[i] >= 0 && !ops->test(memory->rma, tickets[i], NULL))
            continue;
        flying -= tickets[i] >= 0;
        tickets[i] = -1;
        if (left == 0)
            continue;
        bench_check(ops->start(memory->rma, &add, &tickets[i]));
        flying++;
        left--;
    }
    double ns = bench_ns(bench_ticks() - first);
    meet(memory);
    bench_check(eki_fabric_mpi_max(fabric, &ns, 1));
    return ns / ((double)(fabric->size - 1) * ADDITIONS);
}

static void run_repetition(struct memory *memory, struct samples *samples,
                           int r)
{
    bool asks = memory->fabric->rank == 0;
    samples->atomic[r] = run_atomics(memory);
    renew(memory, 0);
    if (asks)
        samples->read[r] = run_words(memory, EKI_RMA_READ, memory->target);
    meet(memory);
    renew(memory, 0);
    if (asks)
        samples->add[r] = run_words(memory, EKI_RMA_ADD, memory->target);
    meet(memory);
    for (int s = 0; s < SIZES; s++) {
        renew(memory, 2 * s + 1);
        if (asks)
            samples->get[s][r] = run_data(memory, EKI_RMA_GET, sizes[s]);
        meet(memory);
        renew(memory, 2 * s);
        if (asks)
            samples->put[s][r] = run_data(memory, EKI_RMA_PUT, sizes[s]);
        meet(memory);
    }
}

static void print_spread(double *ns, int count, const char *what, size_t bytes)
{
    printf("# %-14s %5zu bytes %10.1f %10.1f %10.1f\n", what, bytes,
           bench_minimum(ns, count), bench_median(ns, count),
           bench_maximum(ns, count));
}

/* The time of one more byte.  Short gets may have waited for a core longer than
 * long ones take. */
static double byte_ns(struct samples *samples)
{
    double more = bench_median(samples->get[IS_LONG], samples->count) -
                  bench_median(samples->get[IS_SHORT], samples->count);
    return fmax(BENCH_RMA_BYTE_LEAST_NS, more / (LONG_BYTES - SHORT_BYTES));
}

static void print_samples(const struct bench *bench,
                          const struct memory *memory, struct samples *samples,
                          const struct eki_rma_verdict *counted)
{
    char library[64] = "";
    int count = samples->count;
    eki_mpi_library(library, sizeof library);
    printf("# One-sided operations, measured by ek-bench machine --rma, "
           "Evenkeel %s, %s,\n# %d ranks%s: ns, least, median and most of "
           "%d.\n",
           ek_version(), library, bench->size,
           eki_fabric_mpi_is_one_host(memory->fabric) ? " of one host" : "",
           count);
    print_spread(samples->read, count, "read a word", 8);
    print_spread(samples->add, count, "add to a word", 8);
    for (int s = 0; s < SIZES; s++)
        print_spread(samples->get[s], count, "get", sizes[s]);
    for (int s = 0; s < SIZES; s++)
        print_spread(samples->put[s], count, "put", sizes[s]);
    print_spread(samples->atomic, count, "all add", 8);
    printf("# %s.\n# %s.\n", memory->passive.sentence, counted->sentence);
    printf("rma_ns %.1f ns\nrma_byte_ns %.4f ns\natomic_ns %.1f ns\n",
           bench_median(samples->read, count), byte_ns(samples),
           bench_median(samples->atomic, count));
    fflush(stdout);
}

void bench_rma(const struct bench *bench)
{
    static struct samples samples;
    struct memory memory = {.target = bench->size - 1};
    struct eki_rma_verdict counted;
    size_t bytes = (size_t)SLICES * LONG_BYTES;
    samples.count = bench->repetitions;
    memory.own = allocate(bytes, 1);
    bench_check(eki_fabric_mpi_create(MPI_COMM_WORLD, &memory.fabric));
    if (eki_fabric_mpi_export(memory.fabric, (size_t)WORDS * APART, bytes,
                              &memory.rma) != EK_OK) {
        bench_note(bench, "%s", ek_error_message());
        bench_barrier(MPI_COMM_WORLD);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    bench_check(eki_rma_try_passive(memory.rma, &memory.passive));
    bench_check(eki_rma_try_count(memory.rma, &counted));
    bench_note(bench, "measuring; a few seconds, on a machine at rest");
    run_repetition(&memory, &samples, 0); /* connections and memory */
    for (int r = 0; r < samples.count; r++)
        run_repetition(&memory, &samples, r);
    if (bench->rank == 0)
        print_samples(bench, &memory, &samples, &counted);
    eki_fabric_mpi_unexport(&memory.rma);
    eki_fabric_mpi_destroy(&memory.fabric);
    free(memory.own);
}
