/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What messages between two ranks cost, through the fabric of the library; and
 * what a server costs that answers steal requests: a real engine without tasks.
 */
#include "machine.h"
#include "policies.h"

#include "collection/collection.h"
#include "engine/engine.h"
#include "protocol/requests.h"
#include "protocol/schemes.h"

#include <math.h>

enum {
    ROUNDS = 50,
    SHORT_BYTES = 4096, /* bandwidth is what lies between these two */
    LONG_BYTES = 65536,
    BURST = 16, /* the receives that the fabric has posted */
    STREAM = 1000,
    REQUESTS = 2000,
    STEPS = 2000,
    ARRIVAL_NS = 200000, /* in which a burst has arrived */
    ENGINE_PHASE = 1     /* the first that it enters */
};

struct samples {
    int count;
    double round[BENCH_REPETITIONS_MAX]; /* half of one, of a header */
    double send[BENCH_REPETITIONS_MAX];
    double receive[BENCH_REPETITIONS_MAX];
    double gap[BENCH_REPETITIONS_MAX];
    double byte[BENCH_REPETITIONS_MAX];
    double handle[BENCH_REPETITIONS_MAX]; /* known to rank 1 */
    double poll[BENCH_REPETITIONS_MAX];   /* known to rank 1 */
};

struct link {
    struct eki_fabric *fabric;
    struct eki_topology *topology;
    struct eki_engine *engine; /* rank 1 */
    void *segment;
    struct samples *samples;
    volatile unsigned char read;
};

static struct eki_message *reserve(struct link *link)
{
    struct eki_message *message;
    int looks = 0;
    while (!(message = link->fabric->ops->reserve(link->fabric))) {
        if (link->fabric->failed != EK_OK)
            bench_check(link->fabric->failed);
        bench_wait(&looks);
    }
    return message;
}

static void send(struct link *link, int kind, int64_t bytes)
{
    struct eki_message *message = reserve(link);
    message->head.kind = (uint16_t)kind;
    message->head.phase = ENGINE_PHASE;
    message->head.detail = -1; /* a REQUEST names no worker */
    message->head.bytes = bytes;
    link->fabric->ops->post(link->fabric, message, 1 - link->fabric->rank);
}

/* False: there is none yet.  Each line of it is read: its bytes may lie where
 * the other side wrote them. */
static bool take(struct link *link)
{
    struct eki_message *message = link->fabric->ops->poll(link->fabric);
    if (!message)
        return false;
    for (int64_t i = 0; i < message->head.bytes; i += BENCH_LINE)
        link->read ^= message->body[i];
    link->fabric->ops->release(link->fabric, message);
    return true;
}

static void receive(struct link *link, int count)
{
    int looks = 0;
    for (int i = 0; i < count;) {
        if (take(link))
            i++;
        else if (link->fabric->failed != EK_OK)
            bench_check(link->fabric->failed);
        else
            bench_wait(&looks);
    }
}

/* All that was sent has left. */
static void settle(struct link *link)
{
    int looks = 0;
    while (!link->fabric->ops->drain(link->fabric))
        bench_wait(&looks);
}

static void send_many(struct link *link, int count)
{
    for (int i = 0; i < count; i++)
        send(link, EKI_KIND_NONE, 0);
}

/* Nanoseconds of a message of BYTES after its header, one way. */
static double run_round(struct link *link, int64_t bytes)
{
    uint64_t first = bench_ticks();
    for (int i = 0; i < ROUNDS; i++) {
        if (link->fabric->rank == 0)
            send(link, EKI_KIND_NONE, bytes);
        receive(link, 1);
        if (link->fabric->rank == 1)
            send(link, EKI_KIND_NONE, bytes);
    }
    double ns = bench_ns(bench_ticks() - first);
    settle(link);
    return ns / (2 * ROUNDS);
}

/* Of COUNT messages in a row, until the last one is sent, or (IS_ALL) until the
 * other side has them all. */
static double run_stream(struct link *link, int count, bool is_all)
{
    if (link->fabric->rank == 1) {
        receive(link, count);
        send_many(link, 1);
        settle(link);
        return 0;
    }
    uint64_t first = bench_ticks();
    send_many(link, count);
    uint64_t last = bench_ticks();
    receive(link, 1);
    settle(link);
    return bench_ns((is_all ? bench_ticks() : last) - first) / count;
}

/* Of a burst that has arrived; NaN: it has not, all of it. */
static double run_receives(struct link *link)
{
    if (link->fabric->rank == 1) {
        receive(link, 1);
        send_many(link, BURST);
        settle(link);
        return 0;
    }
    send_many(link, 1);
    bench_spin_ns(ARRIVAL_NS);
    int taken = 0;
    uint64_t first = bench_ticks();
    while (taken < BURST && take(link))
        taken++;
    double ns = bench_ns(bench_ticks() - first) / BURST;
    receive(link, BURST - taken);
    settle(link);
    return taken == BURST ? ns : NAN;
}

/* Ask as fast as the answers come. */
static void ask(struct link *link)
{
    int asked = 0, answered = 0, looks = 0;
    while (answered < REQUESTS) {
        if (asked < REQUESTS && asked - answered < BURST) {
            send(link, EKI_KIND_REQUEST, 0);
            asked++;
        }
        if (take(link))
            answered++;
        else
            bench_wait(&looks);
    }
    settle(link);
}

/* Nanoseconds of the server per request, received and answered, in steps that
 * found any. */
static double answer(struct link *link)
{
    const struct eki_post *post = &link->engine->post;
    const struct eki_requests *requests = eki_requests_of(link->engine);
    uint64_t start = post->moved, busy = 0;
    int looks = 0;
    while (post->moved - start < REQUESTS || requests->waiting.count > 0) {
        uint64_t moved = post->moved, first = bench_ticks();
        int64_t waiting = requests->waiting.count;
        eki_server_step(link->engine, first);
        uint64_t last = bench_ticks();
        if (post->moved > moved || waiting > 0)
            busy += last - first;
        else
            bench_wait(&looks);
        if (link->fabric->failed != EK_OK)
            bench_check(link->fabric->failed);
    }
    settle(link);
    return bench_ns(busy) / REQUESTS;
}

static double run_empty_steps(struct link *link)
{
    uint64_t first = bench_ticks();
    for (int i = 0; i < STEPS; i++)
        eki_server_step(link->engine, first);
    return bench_ns(bench_ticks() - first) / STEPS;
}

static void run_repetition(struct link *link, struct samples *samples, int r)
{
    samples->round[r] = run_round(link, 0);
    double brief = run_round(link, SHORT_BYTES);
    samples->byte[r] =
        (run_round(link, LONG_BYTES) - brief) / (LONG_BYTES - SHORT_BYTES);
    samples->send[r] = run_stream(link, BURST, false);
    samples->gap[r] = run_stream(link, STREAM, true);
    samples->receive[r] = run_receives(link);
    if (link->fabric->rank == 0) {
        ask(link);
    } else {
        samples->handle[r] = answer(link);
        samples->poll[r] = run_empty_steps(link);
    }
    bench_check(eki_fabric_mpi_barrier(link->fabric));
}

/* A side of a pair that shares nothing. */
static void run_repetitions(void *arena, int side, void *argument)
{
    struct link *link = argument;
    (void)arena;
    (void)side;
    run_repetition(link, link->samples, 0); /* connections and memory */
    for (int r = 0; r < link->samples->count; r++)
        run_repetition(link, link->samples, r);
}

/* An engine of rank 1 with as many workers as there are cores, none of which
 * ever runs: it has no tasks, and the phase does not end. */
static void open_engine(const struct bench *bench, struct link *link)
{
    const struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                                    .scheme = eki_scheme_of(EK_STEAL_RANDOM)};
    int workers[2] = {bench->cpus, bench->cpus}, nodes[2] = {0, 1};
    bench_check(eki_topology_create(link->fabric->rank, 2, workers, nodes,
                                    &link->topology));
    struct eki_setup setup = {.topology = link->topology,
                              .fabric = link->fabric,
                              .buffer_slots = eki_option_defaults.buffer_slots,
                              .payload_bytes =
                                  eki_option_defaults.payload_bytes,
                              .check_words = 1};
    setup.deque = (enum eki_deque_kind)word_value("deque", bench->deque);
    link->segment = eki_alloc_lines(eki_engine_segment_bytes(&setup));
    if (!link->segment)
        bench_check(EK_ERR_NOMEM);
    setup.segment = link->segment;
    bench_check(eki_engine_create(&setup, &link->engine));
    bench_check(eki_schemes_add(link->engine));
    eki_engine_enter(link->engine, &phase, bench_ticks());
}

static void open_link(const struct bench *bench, MPI_Comm both,
                      struct link *link)
{
    bench_check(eki_fabric_mpi_create(both, &link->fabric));
    bench_check(eki_fabric_mpi_open(&link->fabric, 1,
                                    sizeof(struct eki_message) + LONG_BYTES));
    eki_wire_next_number(link->fabric); /* 0, which all messages have */
    if (bench->rank == 1)
        open_engine(bench, link);
}

static void close_link(struct link *link)
{
    eki_engine_destroy(&link->engine);
    eki_topology_destroy(link->topology);
    eki_free(link->segment);
    eki_fabric_mpi_destroy(&link->fabric);
}

/* Which the library chose for a collection of both. */
static double poll_period(const struct bench *bench, MPI_Comm both)
{
    ek_options options = bench_options(bench, 1);
    ek_collection *tasks;
    bench_set(&options, "ranks_per_node", 1);
    bench_check(ek_create(both, &options, &tasks));
    double ns = (double)tasks->team->period.most_ns;
    ek_destroy(&tasks);
    return ns;
}

static void summarize(struct samples *samples, const double server[2],
                      struct measured *measured)
{
    struct eki_machine *machine = &measured->machine;
    int count = samples->count;
    double send = bench_median(samples->send, count);
    double receive = bench_median(samples->receive, count);
    double flight = bench_median(samples->round, count) - send - receive;
    bench_take(measured, &machine->latency, "latency", flight);
    bench_take(measured, &machine->send, "send", send);
    bench_take(measured, &machine->gap, "gap",
               bench_median(samples->gap, count));
    bench_take_rate(measured, &machine->byte, "bandwidth",
                    bench_median(samples->byte, count));
    bench_take(measured, &machine->handle, "handle", server[0]);
    bench_take(measured, &machine->poll, "poll", server[1]);
}

void bench_messages(const struct bench *bench, MPI_Comm both,
                    struct measured *measured)
{
    static struct samples samples;
    const struct bench_pair pair = {
        .comm = both, .window = MPI_WIN_NULL, .side = bench->rank};
    struct link link = {.samples = &samples};
    double server[2];
    samples.count = bench->repetitions;
    open_link(bench, both, &link);
    measured->is_one_host = eki_fabric_mpi_is_one_host(link.fabric);
    bench_pair_run(&pair, run_repetitions, &link);
    close_link(&link);
    server[0] = bench_median(samples.handle, samples.count);
    server[1] = bench_median(samples.poll, samples.count);
    MPI_Bcast(server, 2, MPI_DOUBLE, 1, both);
    summarize(&samples, server, measured);
    bench_take(measured, &measured->machine.poll_period, "poll_period",
               poll_period(bench, both));
}
