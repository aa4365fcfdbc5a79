/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What handing out takes: the time that tasks which do nothing are counted
 * with, in an engine of one worker.
 *
 * A reading of the clock before and after each task would take longer than
 * what it is to tell.  The caches are warm here, and nobody steals: it never
 * takes less.
 */
#include "team/run.h"

enum {
    TASKS = 256,
    NULLS = 4096, /* so many that starting the range does not show */
    ROUNDS = 3,   /* the fastest counts: others were interrupted */
    BUFFER_SLOTS = 8
};

enum kind {
    BATCHED, /* seeds, as many in a batch as there may be */
    SINGLE,  /* each alone, as long ones are */
    INDICES,
    DISCARDED, /* indices */
    KINDS
};

struct measured {
    double work_ns;
    int64_t batches;
};

static int do_nothing(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

static int discard(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    (void)payload, (void)bytes, (void)context;
    worker->batch.marks |= EKI_MARK_DISCARD;
    return 0;
}

/* Seeds of function 0; false: no memory. */
static bool add_seeds(struct eki_local *local, uint16_t bin)
{
    for (uint64_t id = 0; id < TASKS; id++) {
        struct eki_slot *slot = eki_local_add_seed(local);
        if (!slot)
            return false;
        eki_slot_head(slot, 0, 0, EKI_SLOT_SEED, id);
        slot->bin = bin;
    }
    return true;
}

static bool add_kind(struct eki_local *local, enum kind kind)
{
    if (kind == BATCHED || kind == SINGLE)
        return add_seeds(local, kind == SINGLE ? EKI_BIN_LONG : EKI_BIN_NEVER);
    return kind == INDICES
               ? eki_local_add_range(local, 0, (struct eki_range){0, TASKS}, 0)
               : eki_local_add_range(local, 1, (struct eki_range){0, NULLS}, 0);
}

static void run_measured_phase(struct eki_engine *engine)
{
    const struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                                    .has_threads = true};
    struct ek_worker *worker = engine->workers[0];
    struct eki_error error;
    enum eki_step step;
    uint64_t now = eki_clock_ns();
    eki_engine_enter(engine, &phase, now);
    eki_worker_arrive(worker, now);
    while ((step = eki_worker_step(worker, now)) != EKI_STEP_DONE) {
        if (step == EKI_STEP_RUN)
            eki_run_batch(worker);
        else if (step == EKI_STEP_RANGE)
            eki_run_piece(worker, NULL);
        now = eki_clock_ns();
    }
    eki_engine_leave(engine, &error);
}

/* False: no memory. */
static bool measure_kind(struct eki_engine *engine, enum kind kind,
                         struct measured *least)
{
    struct ek_worker *worker = engine->workers[0];
    for (int round = 0; round < ROUNDS; round++) {
        eki_local_clear(&worker->local);
        if (!add_kind(&worker->local, kind))
            return false;
        run_measured_phase(engine);
        double work_ns = (double)worker->counts.work_ns;
        if (round == 0 || work_ns < least->work_ns)
            *least = (struct measured){work_ns, worker->counts.batches};
    }
    return true;
}

/* Where more than one in so many tasks was a batch of its own, the two are not
 * told apart. */
#define APART 2

/* N tasks take N t + B b in B batches, and N t + N b in N.  Of a machine so
 * slow that hardly two of them are a batch, all is said to be of the batch:
 * that is not too much for any task. */
static struct eki_handling handling_of(const struct measured *measured)
{
    double batched_ns = measured[BATCHED].work_ns / TASKS;
    double single_ns = measured[SINGLE].work_ns / TASKS;
    double share = (double)measured[BATCHED].batches / TASKS;
    double batch_ns = APART * share > 1
                          ? (single_ns < batched_ns ? single_ns : batched_ns)
                          : (single_ns - batched_ns) / (1 - share);
    double task_ns = APART * share > 1 ? 0 : single_ns - batch_ns;
    return (struct eki_handling){.task_ns = task_ns > 0 ? task_ns : 0,
                                 .batch_ns = batch_ns > 0 ? batch_ns : 0,
                                 .index_ns = measured[INDICES].work_ns / TASKS,
                                 .null_ns =
                                     measured[DISCARDED].work_ns / NULLS};
}

/* False: no memory. */
static bool measure_all(struct eki_engine *engine, struct measured *measured)
{
    int function;
    if (eki_engine_register(engine, "nothing", do_nothing, NULL, &function) !=
            EK_OK ||
        eki_engine_register(engine, "discard", discard, NULL, &function) !=
            EK_OK)
        return false;
    for (int kind = 0; kind < KINDS; kind++) {
        if (!measure_kind(engine, (enum kind)kind, &measured[kind]))
            return false;
    }
    return true;
}

/* Written once. */
static struct eki_handling handling;

static void measure_handling(void)
{
    static const int workers = 1, node = 0;
    struct eki_setup setup = {.buffer_slots = BUFFER_SLOTS,
                              .payload_bytes =
                                  eki_option_defaults.payload_bytes,
                              .check_words = 1};
    struct eki_topology *topology;
    struct eki_engine *engine = NULL;
    struct measured measured[KINDS];
    if (eki_topology_create(0, 1, &workers, &node, &topology) != EK_OK)
        return;
    setup.topology = topology;
    setup.segment = eki_alloc_lines(eki_engine_segment_bytes(&setup));
    if (setup.segment && eki_engine_create(&setup, &engine) == EK_OK &&
        measure_all(engine, measured))
        handling = handling_of(measured);
    eki_engine_destroy(&engine);
    eki_free(setup.segment);
    eki_topology_destroy(topology);
}

const struct eki_handling *eki_team_handling(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, measure_handling);
    return &handling;
}
