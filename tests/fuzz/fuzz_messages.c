/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that lie, against four ranks on three nodes (or one) that run and
 * restore.  An input is a plan: how the job runs, then for each round what
 * happens besides: nothing, a message of anybody to anybody, most fields of
 * which are as they should be, or a bit of damage to the next that is sent.
 *
 * Whatever comes, the words of the nodes stay sound and every phase ends on all
 * ranks: by itself, or in EK_ERR_MPI, after which each ends in that.
 */
#include "engine/offers.h"
#include "fuzz.h"
#include "printed/printed.h"
#include "printed/vertices.h"
#include "protocol/counter.h"
#include "protocol/hands.h"
#include "protocol/requests.h"
#include "protocol/schemes.h"
#include "tiles/tiles.h"

#include <string.h>

enum {
    RANKS = 4,
    WORKERS_MOST = 2, /* of a rank */
    SLOT_BYTES = 64,
    MESSAGE_BYTES = 1024,
    BUFFERS = 8,
    PHASES = 4,
    ROUNDS = 200,
    INDICES = 40 /* of the range of each worker */
};

/* What is left of an input; zeros follow. */
struct plan {
    const uint8_t *at, *end;
};

static uint64_t next(struct plan *plan, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes && plan->at < plan->end; i++)
        value |= (uint64_t)*plan->at++ << 8 * i;
    return value;
}

struct letter {
    struct letter *next;
    int source; /* who really sent it */
    size_t bytes;
    _Alignas(16) struct eki_message message;
};

struct rank {
    struct eki_fabric fabric; /* first: the operations get this */
    struct job *job;
    struct letter *inbox, **inbox_end;
    int flying; /* messages that are not received yet */
    struct eki_topology *topology;
    struct eki_engine *engine;
    bool is_through; /* with this phase */
    bool has_left;
};

struct job {
    struct plan plan;
    struct rank ranks[RANKS];
    void *segments[RANKS];
    uint64_t now;
    bool damages; /* the next message that is sent */
    bool is_damaged;
    int lost; /* messages that said that the phase is broken */
};

static struct letter *letter_of(struct eki_message *message)
{
    return (struct letter *)((char *)message -
                             offsetof(struct letter, message));
}

static struct eki_message *reserve(struct eki_fabric *fabric)
{
    struct rank *rank = (struct rank *)fabric;
    if (rank->flying == BUFFERS)
        return NULL;
    struct letter *letter = calloc(1, sizeof *letter + MESSAGE_BYTES);
    FUZZ_CHECK(letter != NULL);
    return &letter->message;
}

static void release(struct eki_fabric *fabric, struct eki_message *message)
{
    (void)fabric;
    free(letter_of(message));
}

static void deliver(struct job *job, struct letter *letter, int to)
{
    struct rank *rank = &job->ranks[to];
    letter->next = NULL;
    *rank->inbox_end = letter;
    rank->inbox_end = &letter->next;
}

/* Change eight bytes, or one bit, somewhere. */
static void damage(struct job *job, struct letter *letter)
{
    size_t at = next(&job->plan, 2) % letter->bytes;
    job->lost += letter->message.head.kind == EKI_KIND_BREAK;
    unsigned char *bytes = (unsigned char *)&letter->message;
    uint64_t how = next(&job->plan, 1);
    if (how < 128) {
        bytes[at] ^= (unsigned char)(1u << how % 8);
        return;
    }
    uint64_t word = next(&job->plan, 8);
    size_t most = letter->bytes - at;
    memcpy(bytes + at, &word, most < sizeof word ? most : sizeof word);
}

static void post(struct eki_fabric *fabric, struct eki_message *message, int to)
{
    struct rank *rank = (struct rank *)fabric;
    struct letter *letter = letter_of(message);
    FUZZ_CHECK(to >= 0 && to < RANKS);
    message->head.magic = EKI_MESSAGE_MAGIC;
    message->head.version = EKI_MESSAGE_VERSION;
    message->head.source = fabric->rank;
    FUZZ_CHECK(message->head.bytes >= 0 &&
               (size_t)message->head.bytes <=
                   MESSAGE_BYTES - sizeof message->head);
    letter->source = fabric->rank;
    letter->bytes = sizeof message->head + (size_t)message->head.bytes;
    rank->flying++;
    if (rank->job->damages) {
        rank->job->damages = false;
        rank->job->is_damaged = true;
        damage(rank->job, letter);
    }
    deliver(rank->job, letter, to);
}

/* As the one of MPI: what is no message is dropped. */
static struct eki_message *poll(struct eki_fabric *fabric)
{
    struct rank *rank = (struct rank *)fabric;
    struct letter *letter = rank->inbox;
    char why[EKI_HEAD_WHY];
    if (!letter)
        return NULL;
    rank->inbox = letter->next;
    if (!rank->inbox)
        rank->inbox_end = &rank->inbox;
    rank->job->ranks[letter->source].flying--;
    /* Of its very size, so that a sanitizer sees who reads beyond. */
    letter = realloc(letter, offsetof(struct letter, message) + letter->bytes);
    FUZZ_CHECK(letter != NULL);
    if (eki_head_check(&letter->message.head, letter->bytes, 1, RANKS, why) &&
        letter->message.head.source == letter->source)
        return &letter->message;
    eki_fabric_note(fabric, EK_OK, "bad message");
    free(letter);
    return NULL;
}

static bool drain(struct eki_fabric *fabric)
{
    (void)fabric;
    return true;
}

static const struct eki_fabric_ops ops = {.reserve = reserve,
                                          .post = post,
                                          .poll = poll,
                                          .release = release,
                                          .drain = drain};

static int run_nothing(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

static void open_rank(struct job *job, int r, const int *nodes)
{
    static const int workers[RANKS] = {2, 1, 2, 1};
    struct rank *rank = &job->ranks[r];
    int function;
    *rank = (struct rank){.fabric = {.ops = &ops,
                                     .rank = r,
                                     .size = RANKS,
                                     .numbers = 1,
                                     .message_bytes = MESSAGE_BYTES},
                          .job = job,
                          .inbox_end = &rank->inbox};
    FUZZ_CHECK(eki_topology_create(r, RANKS, workers, nodes, &rank->topology) ==
               EK_OK);
    struct eki_setup setup = {.topology = rank->topology,
                              .fabric = &rank->fabric,
                              .buffer_slots = 8,
                              .payload_bytes = SLOT_BYTES - EKI_SLOT_HEADER,
                              .seed = 1,
                              .check_words = 16,
                              .hold_ns = 100000,
                              .has_counter = true};
    if (!job->segments[nodes[r]])
        job->segments[nodes[r]] =
            eki_alloc_lines(eki_engine_segment_bytes(&setup));
    setup.segment = job->segments[nodes[r]];
    FUZZ_CHECK(eki_engine_create(&setup, &rank->engine) == EK_OK);
    FUZZ_CHECK(eki_schemes_add(rank->engine) == EK_OK);
    FUZZ_CHECK(eki_rebalance_add(rank->engine) == EK_OK);
    for (int f = 0; f < 2; f++)
        FUZZ_CHECK(eki_engine_register(rank->engine, f ? "g" : "f", run_nothing,
                                       NULL, &function) == EK_OK);
}

/* As ek_destroy(): what arrives is dropped. */
static void empty_inbox(struct rank *rank)
{
    while (rank->inbox) {
        struct letter *letter = rank->inbox;
        rank->inbox = letter->next;
        rank->job->ranks[letter->source].flying--;
        free(letter);
    }
    rank->inbox_end = &rank->inbox;
}

static void close_rank(struct rank *rank)
{
    eki_engine_destroy(&rank->engine);
    empty_inbox(rank);
    eki_topology_destroy(rank->topology);
}

/* Tasks for a worker: more for the first ones; some indices. */
static void seed(struct rank *rank, int here, bool has_range)
{
    struct ek_worker *worker = rank->engine->workers[here];
    int count = 4 + 20 * (worker->id == 0) + 4 * (worker->id == 3);
    for (int i = 0; i < count; i++) {
        struct eki_slot *slot = eki_local_add_seed(&worker->local);
        FUZZ_CHECK(slot != NULL);
        *slot = (struct eki_slot){.function = (uint16_t)(i & 1),
                                  .bytes = 8,
                                  .deviation = EKI_NO_HINT,
                                  .flags = EKI_SLOT_SEED,
                                  .id = eki_id(worker->id, (uint64_t)i)};
    }
    struct eki_slot *slot =
        has_range ? eki_local_add_seed(&worker->local) : NULL;
    if (!slot)
        return;
    const struct eki_range range = {0, INDICES};
    *slot = (struct eki_slot){.bytes = sizeof range,
                              .bin = EKI_BIN_RANGE,
                              .flags = EKI_SLOT_SEED | EKI_SLOT_RANGE |
                                       EKI_SLOT_CANCELLED,
                              .id = eki_id(worker->id, 1000)};
    memcpy(slot->payload, &range, sizeof range);
    worker->local.has_ranges = true;
}

/* What a field may be set to. */
static int64_t value_of(struct plan *plan)
{
    static const int64_t values[] = {0,
                                     1,
                                     -1,
                                     2,
                                     3,
                                     INT64_MAX,
                                     INT64_MIN,
                                     INT32_MAX,
                                     INT32_MIN,
                                     1 << 16,
                                     UINT32_MAX,
                                     INT64_MAX / 64,
                                     (INT64_C(1) << 58) + 1};
    uint64_t which = next(plan, 1);
    if (which < sizeof values / sizeof *values)
        return values[which];
    return which < 128 ? (int64_t)which : (int64_t)next(plan, 8);
}

static void set_field(struct job *job, struct eki_head *head)
{
    uint64_t field = next(&job->plan, 1) % 8;
    int64_t value = value_of(&job->plan);
    switch (field) {
    case 0:
        head->phase = (uint64_t)value;
        break;
    case 1:
        head->signature = (uint64_t)value;
        break;
    case 2:
        head->count = value;
        break;
    case 3:
        head->first = value;
        break;
    case 4:
        head->worker = (int32_t)value;
        break;
    case 5:
        head->detail = (int32_t)value;
        break;
    case 6: /* as much as there may be, so that it is looked at */
        head->bytes =
            (int64_t)((uint64_t)value % (MESSAGE_BYTES - sizeof *head + 1));
        break;
    default:
        head->phase++;
    }
}

/* Bytes of the body, and count, that KIND has if all is well. */
static void set_size(struct eki_head *head, const struct eki_engine *engine)
{
    size_t bytes = 0;
    switch (head->kind) {
    case EKI_KIND_TASKS:
    case EKI_KIND_MOVE:
    case EKI_KIND_FETCHED:
    case EKI_KIND_HAND:
        bytes = engine->slot_bytes;
        break;
    case EKI_KIND_VOTE:
        bytes = sizeof(struct eki_vote);
        break;
    case EKI_KIND_WAVE:
        bytes = sizeof(struct eki_verdict);
        break;
    case EKI_KIND_SEEDS:
    case EKI_KIND_TABLE:
        bytes = sizeof(struct eki_seeds);
        break;
    case EKI_KIND_BREAK:
        bytes = sizeof(struct eki_error);
        break;
    case EKI_KIND_OFFER:
        bytes = sizeof(struct eki_offer);
        break;
    default:
        break;
    }
    head->bytes = (int64_t)bytes;
    head->count = bytes > 0;
}

/* A parcel of one piece; where it has sections, one of its sender's, or of
 * group 0; in a tree of any vertex. */
static void set_parcel(struct job *job, struct eki_message *message)
{
    struct eki_head *head = &message->head;
    static const size_t sizes[] = {
        0,
        sizeof(struct eki_totals_told) + 2 * sizeof(struct eki_known),
        sizeof(struct eki_target_told) + 2 * sizeof(double),
        sizeof(struct eki_section) + sizeof(struct eki_offer_told) +
            sizeof(eki_ns) + 2 * sizeof(struct eki_item),
        sizeof(struct eki_section) + sizeof(struct eki_group) +
            sizeof(struct eki_item),
        sizeof(struct eki_section) + 2 * sizeof(struct eki_item),
        sizeof(struct eki_open_told),
        sizeof(struct eki_section) + sizeof(struct eki_item),
        sizeof(struct eki_section) + sizeof(struct eki_plan_told),
        sizeof(struct eki_up_told) + 2 * sizeof(struct eki_item),
        2 * sizeof(struct eki_item),
        sizeof(struct eki_fetch_told),
        sizeof(struct eki_result_told),
        sizeof(struct eki_result_told)};
    head->detail =
        (int32_t)(next(&job->plan, 1) % (sizeof sizes / sizeof *sizes));
    head->worker = head->detail == EKI_PARCEL_UP ||
                           head->detail == EKI_PARCEL_DOWN ||
                           head->detail == EKI_PARCEL_FETCH
                       ? (int32_t)(next(&job->plan, 1) % 12)
                       : 0;
    head->count = head->bytes = (int64_t)sizes[head->detail];
    const struct eki_section section = {head->detail == EKI_PARCEL_LEFT ||
                                                head->detail == EKI_PARCEL_GIVEN
                                            ? 0
                                            : head->source,
                                        head->bytes - (int64_t)sizeof section};
    if (section.bytes > 0)
        memcpy(message->body, &section, sizeof section);
}

/* Of every verb, and of none. */
static uint16_t kind_of(uint64_t draw)
{
    static const uint16_t kinds[] = {0,
                                     EKI_KIND_REQUEST,
                                     EKI_KIND_TASKS,
                                     EKI_KIND_NONE,
                                     EKI_KIND_VOTE,
                                     EKI_KIND_WAVE,
                                     EKI_KIND_STOP,
                                     EKI_KIND_MOVE,
                                     EKI_KIND_SEEDS,
                                     EKI_KIND_TABLE,
                                     EKI_KIND_DRAW,
                                     EKI_KIND_NUMBER,
                                     EKI_KIND_FETCH,
                                     EKI_KIND_FETCHED,
                                     EKI_KIND_PARCEL,
                                     EKI_KIND_BREAK,
                                     EKI_KIND_PROBE,
                                     EKI_KIND_HERE,
                                     EKI_KIND_OFFER,
                                     EKI_KIND_TAKE,
                                     EKI_KIND_HAND,
                                     EKI_KIND_GET,
                                     EKI_KIND_PIECE,
                                     EKI_KIND_PUT,
                                     EKI_KIND_HAND + 1};
    return kinds[draw % (sizeof kinds / sizeof *kinds)];
}

/* A message of anybody to anybody. */
static void inject(struct job *job, uint64_t op)
{
    struct plan *plan = &job->plan;
    struct rank *to = &job->ranks[op & 3];
    const struct eki_engine *engine = to->engine;
    const struct eki_topology *topology = to->topology;
    struct letter *letter = calloc(1, sizeof *letter + MESSAGE_BYTES);
    FUZZ_CHECK(letter != NULL);
    struct eki_head *head = &letter->message.head;
    letter->source = (int)(op >> 2 & 3);
    *head = (struct eki_head){.magic = EKI_MESSAGE_MAGIC,
                              .version = EKI_MESSAGE_VERSION,
                              .kind = kind_of(next(plan, 1)),
                              .source = letter->source,
                              .phase = engine->phase,
                              .signature = engine->signature};
    head->worker = topology->first_worker[head->kind == EKI_KIND_REQUEST ||
                                                  head->kind == EKI_KIND_DRAW ||
                                                  head->kind == EKI_KIND_FETCH
                                              ? letter->source
                                              : (int)(op & 3)];
    head->detail = topology->node_of_rank[letter->source];
    if (head->kind == EKI_KIND_VOTE || head->kind == EKI_KIND_WAVE)
        head->first = (int64_t)engine->waves.wave;
    set_size(head, engine);
    if (head->kind == EKI_KIND_PARCEL)
        set_parcel(job, &letter->message);
    for (uint64_t fields = next(plan, 1) & 3; fields > 0; fields--)
        set_field(job, head);
    for (uint64_t words = next(plan, 1) & 7; words > 0; words--) {
        int64_t at = (int64_t)(next(plan, 1) * 4);
        int64_t value = value_of(plan);
        if (at + 8 <= head->bytes)
            memcpy(letter->message.body + at, &value, sizeof value);
    }
    letter->bytes = sizeof *head + (size_t)head->bytes;
    to->job->ranks[letter->source].flying++;
    job->is_damaged = true;
    deliver(job, letter, (int)(op & 3));
}

/* What the plan says of this round. */
static void disturb(struct job *job)
{
    uint64_t op = next(&job->plan, 1);
    if (op >= 128)
        inject(job, op);
    else if (op >= 96)
        job->damages = true;
}

static void run_worker(struct job *job, struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    const struct eki_slot *slot;
    int64_t index;
    switch (eki_worker_step(worker, job->now)) {
    case EKI_STEP_RUN:
        while ((slot = eki_worker_take(worker)) != NULL) {
            FUZZ_CHECK(slot->function < engine->function_count);
            FUZZ_CHECK(slot->bytes + EKI_SLOT_HEADER <= SLOT_BYTES);
        }
        break;
    case EKI_STEP_RANGE:
        while (eki_worker_take_index(worker, &index)) {
            FUZZ_CHECK(index >= 0);
            eki_worker_index_end(worker, 0, job->now);
        }
        break;
    default:
        break;
    }
}

/* A turn of all ranks; whether all are through with the phase. */
static bool turn(struct job *job)
{
    int through = 0;
    for (int r = 0; r < RANKS; r++) {
        struct rank *rank = &job->ranks[r];
        if (rank->has_left) {
            empty_inbox(rank);
            through++;
            continue;
        }
        job->now += 1000;
        bool is_done = eki_server_step(rank->engine, job->now);
        for (int here = 0; here < rank->topology->workers_here; here++) {
            struct ek_worker *worker = rank->engine->workers[here];
            job->now += 50;
            run_worker(job, worker);
            is_done &= eki_worker_is_done(worker);
        }
        const char *wrong = eki_node_check(rank->engine);
        if (wrong)
            fprintf(stderr, "rank %d: %s\n", r, wrong);
        FUZZ_CHECK(wrong == NULL);
        rank->is_through = is_done;
        through += is_done;
    }
    return through == RANKS;
}

/* Whether the phase ends within the rounds. */
static bool ends(struct job *job, bool is_disturbed)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (is_disturbed)
            disturb(job);
        if (turn(job))
            return true;
    }
    return false;
}

/* A message that nobody may send, to a rank that is not through, to end what
 * lies have left without end. */
static void end_by_force(struct job *job)
{
    struct letter *letter = calloc(1, sizeof *letter);
    FUZZ_CHECK(letter != NULL);
    letter->bytes = sizeof letter->message.head;
    for (int r = 0; r < RANKS; r++) {
        if (!job->ranks[r].has_left && !job->ranks[r].is_through)
            letter->source = r;
    }
    job->ranks[letter->source].flying++;
    deliver(job, letter, letter->source);
}

static void enter(struct job *job, const struct eki_phase *phase)
{
    for (int r = 0; r < RANKS; r++) {
        struct rank *rank = &job->ranks[r];
        if (rank->has_left)
            continue;
        eki_engine_enter(rank->engine, phase, job->now);
        for (int here = 0; phase->kind == EKI_PHASE_PROCESS &&
                           here < rank->topology->workers_here;
             here++)
            eki_worker_arrive(rank->engine->workers[here], job->now);
    }
}

/* Leave the phase; how many ranks go on. */
static int leave(struct job *job)
{
    int left = 0;
    for (int r = 0; r < RANKS; r++) {
        struct rank *rank = &job->ranks[r];
        struct eki_error error;
        if (rank->has_left)
            continue;
        eki_engine_leave(rank->engine, &error);
        rank->has_left = error.status == EK_ERR_MPI;
        FUZZ_CHECK(memchr(error.text, '\0', sizeof error.text) != NULL);
        FUZZ_CHECK(!rank->has_left || job->is_damaged);
        left += !rank->has_left;
    }
    return left;
}

static void run_phase(struct job *job, const struct eki_phase *phase,
                      bool is_disturbed)
{
    enter(job, phase);
    if (ends(job, is_disturbed))
        return;
    FUZZ_CHECK(job->is_damaged);
    /* Who does not hear of it may wait without end. */
    for (int forced = 0; forced <= job->lost; forced++) {
        end_by_force(job);
        if (ends(job, false))
            return;
    }
    FUZZ_CHECK(false);
}

/* Ranks that end well where others do not hear of it in the next phase. */
static void check_all_hear(struct job *job, const struct eki_phase *phase,
                           int left)
{
    if (left == 0 || left == RANKS)
        return;
    run_phase(job, phase, false);
    FUZZ_CHECK(leave(job) == 0);
}

static void restore(struct job *job, enum eki_order order)
{
    for (int r = 0; r < RANKS; r++) {
        struct eki_engine *engine = job->ranks[r].engine;
        int64_t discarded = 0;
        for (int here = 0; here < job->ranks[r].topology->workers_here; here++)
            FUZZ_CHECK(eki_engine_restore_worker(engine, here, order,
                                                 &discarded) == EK_OK);
        eki_rebalance_prepare(engine);
    }
}

static void run_phases(struct job *job, uint64_t how)
{
    static const ek_restore_policy policies[] = {
        EK_RESTORE_CENTRALIZED, EK_RESTORE_HIERARCHICAL,
        EK_RESTORE_CENTRALIZED_HPDC12, EK_RESTORE_HIERARCHICAL_HPDC12};
    struct eki_options options = eki_option_defaults;
    options.balance_group = 2;
    options.hpdc12 = how >> 6 & 1 ? "k=2,gather=core" : "k=2,gather=node";
    struct eki_balance_wish wish =
        eki_balance_wish_of(policies[how >> 4 & 3], 6, &options);
    wish.outlook.iterations = 1;
    int left = RANKS;
    struct eki_phase phase = {.signature = 1};
    for (int i = 0; i < PHASES && left == RANKS; i++) {
        phase.kind = i % 2 ? EKI_PHASE_RESTORE : EKI_PHASE_PROCESS;
        phase.scheme =
            i % 2 ? NULL : eki_scheme_of((ek_steal_policy)(how >> 2 & 15));
        phase.balance = i % 2 ? &wish : NULL;
        phase.has_threads = phase.is_retained = i > 0;
        if (i % 2)
            restore(job, EKI_ORDER_LONGEST);
        run_phase(job, &phase, true);
        left = leave(job);
        for (int r = 0; i % 2 && left == RANKS && r < RANKS; r++)
            FUZZ_CHECK(eki_engine_restore_end(job->ranks[r].engine,
                                              EKI_ORDER_LONGEST) == EK_OK);
    }
    check_all_hear(job, &phase, left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int apart[RANKS] = {0, 0, 1, 2}, together[RANKS] = {0};
    struct job job = {.plan = {data, data + size}, .now = 1000};
    uint64_t how = next(&job.plan, 1);
    for (int r = 0; r < RANKS; r++) {
        open_rank(&job, r, how & 1 ? together : apart);
        for (int here = 0; here < job.ranks[r].topology->workers_here; here++)
            seed(&job.ranks[r], here, how & 2);
    }
    run_phases(&job, how);
    for (int r = 0; r < RANKS; r++)
        close_rank(&job.ranks[r]);
    for (int n = 0; n < RANKS; n++)
        eki_free(job.segments[n]);
    return 0;
}
