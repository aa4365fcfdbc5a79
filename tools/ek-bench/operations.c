/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of a steal in a victim's memory, by themselves: those of sws
 * and sdc in turns, from the first one to the start of the last one, which
 * nobody waits for.
 *
 * Rank 0 is the thief, rank 1 the victim, which has just written and shown
 * twice as many tasks, and waits in MPI.  The functions are those of the
 * library; what goes on between operations there is not measured.
 */
#include "bench.h"

#include "fabric/rma.h"
#include "protocol/one_sided.h"

#include <math.h>
#include <string.h>

enum {
    SIZES = 7, /* blocks of 1, 2, 4 ... 64 tasks */
    PAYLOADS = 2,
    BLOCK_MOST = 1 << (SIZES - 1),
    SAMPLES = 16, /* of which a repetition is the mean of the lower half */
    VICTIM = 1
};

static const int64_t payloads[PAYLOADS] = {24, 192};

/* Of one rank, as an engine would have it. */
struct queue {
    MPI_Comm both;
    struct eki_fabric *fabric;
    struct eki_engine engine;
    struct eki_one_sided side;
    struct eki_seen seen[2];
    struct eki_steal steal;
    unsigned char number; /* of the sample */
};

/* The victim: K of its tasks are the first block. */
static void show_tasks(struct queue *queue, const struct eki_manner *manner,
                       uint32_t k)
{
    struct eki_ring *ring = &queue->side.ring;
    struct eki_rma *rma = queue->side.rma;
    const struct eki_rma_operation tail =
        eki_on_word(EKI_RMA_REPLACE, VICTIM, EKI_WORD_TAIL, 0);
    bench_check(eki_rma_do(rma, &tail, NULL));
    memset(rma->data, queue->number, 2 * (size_t)k * queue->engine.slot_bytes);
    ring->tail = ring->split = 0;
    ring->end = 2 * (uint64_t)k;
    manner->show(&queue->side);
    bench_check(eki_rma_do(rma, &ring->next, NULL));
}

static void wait_for(struct queue *queue, uint64_t before[EKI_RMA_WORDS])
{
    while (!eki_one_sided_test(&queue->side, &queue->steal.ticket, before))
        bench_pause();
}

/* The thief: nanoseconds; NaN: disturbed. */
static double steal_tasks(struct queue *queue, const struct eki_manner *manner,
                          uint32_t k)
{
    struct eki_steal *steal = &queue->steal;
    struct eki_one_sided *side = &queue->side;
    uint64_t before[EKI_RMA_WORDS], first = bench_ticks();
    manner->claim(side, steal);
    for (;;) {
        eki_one_sided_start(side, &steal->next, &steal->ticket);
        wait_for(queue, before);
        if (steal->stage == EKI_STEAL_GET)
            break;
        manner->go_on(side, steal, before);
    }
    const struct eki_rma_operation copied =
        eki_on_word(EKI_RMA_ADD, VICTIM, (int)steal->copied, steal->count);
    eki_one_sided_start(side, &copied, &steal->ticket);
    double ns = bench_interval_ns(first, bench_ticks());
    wait_for(queue, before);
    const unsigned char *got = steal->message->body;
    bool is_right = steal->count == k && got[0] == queue->number &&
                    got[k * queue->engine.slot_bytes - 1] == queue->number;
    bench_check(is_right ? EK_OK : EK_ERR_STATE);
    return ns < BENCH_LOST ? ns : NAN;
}

static double run_samples(struct queue *queue, const struct eki_manner *manner,
                          uint32_t k)
{
    double samples[SAMPLES] = {0};
    for (int i = 0; i < SAMPLES; i++) {
        queue->number++;
        if (queue->fabric->rank == VICTIM)
            show_tasks(queue, manner, k);
        MPI_Barrier(queue->both);
        /* The victim waits by now. */
        bench_spin_ns(2000);
        if (queue->fabric->rank != VICTIM)
            samples[i] = steal_tasks(queue, manner, k);
        MPI_Barrier(queue->both);
    }
    return bench_low_mean(samples, SAMPLES);
}

/* False: there is no memory for this. */
static bool open_queue(MPI_Comm both, struct queue *queue)
{
    struct eki_one_sided *side = &queue->side;
    size_t bytes =
        2 * (size_t)BLOCK_MOST * eki_slot_bytes(payloads[PAYLOADS - 1]);
    queue->both = both;
    bench_check(eki_fabric_mpi_create(both, &queue->fabric));
    queue->steal.message =
        eki_alloc_untouched(sizeof(struct eki_message) + bytes);
    if (!queue->steal.message ||
        eki_fabric_mpi_export(queue->fabric, EKI_ONE_SIDED_WORDS, bytes,
                              &side->rma) != EK_OK) {
        eki_free(queue->steal.message);
        eki_fabric_mpi_destroy(&queue->fabric);
        return false;
    }
    side->protocol.engine = &queue->engine;
    side->seen = queue->seen;
    side->slots = 2 * BLOCK_MOST;
    side->epochs = EKI_SWS_EPOCHS_MAX;
    side->ring.is_copied[0] = true;
    queue->steal.rank = VICTIM;
    queue->steal.ticket = -1;
    return true;
}

void bench_operations(const struct bench *bench, MPI_Comm both)
{
    static struct queue queue;
    struct bench_row *rows[PAYLOADS][SIZES];
    if (!open_queue(both, &queue)) {
        bench_note(bench, "no operations of steals: %s", ek_error_message());
        return;
    }
    for (int i = 0; i < PAYLOADS * SIZES; i++)
        rows[i / SIZES][i % SIZES] =
            bench_row_new("steal", "sdc", "sws: operations, %d of %d B",
                          1 << i % SIZES, (int)payloads[i / SIZES]);
    rows[0][0]->target_ratio = 0.5;
    for (int i = 0; i < bench->repetitions * PAYLOADS * SIZES; i++) {
        int p = i / SIZES % PAYLOADS, s = i % SIZES;
        queue.engine.slot_bytes = eki_slot_bytes(payloads[p]);
        double sws = run_samples(&queue, &eki_sws, UINT32_C(1) << s);
        double sdc = run_samples(&queue, &eki_sdc, UINT32_C(1) << s);
        bench_row_add(rows[p][s], sws, sdc);
    }
    eki_free(queue.steal.message);
    eki_fabric_mpi_unexport(&queue.side.rma);
    eki_fabric_mpi_destroy(&queue.fabric);
}
