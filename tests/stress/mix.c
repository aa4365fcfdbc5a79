/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that mix all that the library has, drawn from seeds: what ran, what
 * is left, tiles and data must be what they have to be after each iteration.
 *
 *     mix RANKS WORKERS LEVEL SEED [SECONDS [stops]]
 *
 * LEVEL is that of MPI, 0 ... 3.  SEED, SEED + 1, ... are run for so long; SEED
 * alone by default.  With `stops` ranks are stopped now and then, as by
 * somebody else on their core.  A seed with the same ranks, workers and level
 * is the same program; who runs which task is another matter.  A seed that
 * lasts longer than MIX_LIMIT seconds (60) ends the job.
 */
#include "boxes.h"
#include "mix_tiles.h"

#include <evenkeel_inline.h>

#include <omp.h>
#include <signal.h>

enum {
    PARTS = 2, /* collections; data and puts are the first one's */
    LARGEST_PAYLOAD = 5000
};

/* A task whose key says what it does; more bytes follow by a rule. */
struct piece {
    uint64_t key;
    int16_t depth;   /* 0: spawns nothing */
    int16_t is_kept; /* held by the collection: a seed, or kept */
    int32_t pinned;  /* to this rank; -1: to none */
};

/* What a worker has seen in this iteration. */
struct tally {
    struct sums ran, stays, spawned, kept, discarded, into;
    int64_t nulls, failed;
    char apart[64]; /* from the next worker's */
};

static struct part {
    ek_collection *tasks;
    ek_function piece, index, box, put;
    int64_t payload_bytes;
    struct sums held; /* on this rank */
    struct tally *tallies;
    bool is_open, continues, has_put;
    int boxes; /* of each rank that have a task */
} parts[PARTS];

static uint64_t seed, drawn;
static enum box_mode mode;
static _Atomic int next_box; /* to be spawned on this rank */
static char plan[600];
static const char *command = "";

/* The same on all ranks. */
static int64_t below(int64_t n)
{
    drawn++;
    return (int64_t)(mix(seed * 1000003 + drawn) % (uint64_t)n);
}

static const char *one_of(const char *const *words, int64_t n)
{
    return words[below(n)];
}
#define ONE_OF(words) one_of(words, sizeof words / sizeof words[0])

static struct tally *tally_of(ek_worker *worker)
{
    return ek_worker_data(worker);
}

static uint64_t key_of(ek_function function, int64_t number)
{
    return mix((uint64_t)number * 64 + (uint64_t)function);
}

static size_t piece_bytes(const struct part *part, const struct piece *piece)
{
    size_t most = (size_t)part->payload_bytes - sizeof *piece;
    return sizeof *piece +
           (piece->key % 2 == 0 ? 0 : (size_t)(piece->key >> 8) % (most + 1));
}

/* Bytes behind a piece; with CHECKED they must be there already. */
static void fill_tail(unsigned char *payload, size_t bytes, bool checked)
{
    const struct piece *piece = (const struct piece *)payload;
    int64_t wrong = 0;
    for (size_t i = sizeof *piece; i < bytes; i++) {
        unsigned char value =
            (unsigned char)((piece->key >> i % 8 * 8) + i / 8);
        wrong += checked && payload[i] != value;
        if (!checked)
            payload[i] = value;
    }
    CHECK_EQ_INT(wrong, 0);
}

static size_t write_piece(const struct part *part, const struct piece *piece,
                          unsigned char *payload)
{
    size_t bytes = piece_bytes(part, piece);
    memcpy(payload, piece, sizeof *piece);
    fill_tail(payload, bytes, false);
    return bytes;
}

/* Most tasks take nothing, some a microsecond or ten, few sleep. */
static void work(ek_worker *worker, uint64_t chance)
{
    if (chance % 32 == 0)
        for (volatile int i = 0; i < (int)((chance >> 32) & 4095); i++)
            continue;
    if (chance % 128 == 1)
        ek_poll(worker);
    if (chance % 256 == 2)
        job_nap((int64_t)(chance >> 32 & 511));
    if (chance % 256 == 3)
        ek_set_cost(worker, 1e-6 * (double)(chance >> 40 & 1023));
    if (chance % 16 == 4)
        use_tiles(worker, mix(chance));
}

/* By one of four ways. */
static void spawn_piece(ek_worker *worker, const struct part *part,
                        const struct piece *piece, int way)
{
    _Alignas(8) unsigned char payload[LARGEST_PAYLOAD];
    size_t bytes = write_piece(part, piece, payload);
    int flags = piece->is_kept ? EK_SPAWN_KEEP : 0;
    void *room = payload;
    switch (way) {
    case 0:
        CHECK_EQ_INT((ek_spawn)(worker, part->piece, payload, bytes, flags),
                     EK_OK);
        return;
    case 1:
        CHECK_EQ_INT(
            bytes == sizeof *piece
                ? ek_spawn(worker, part->piece, payload, sizeof *piece, flags)
                : ek_spawn(worker, part->piece, payload, bytes, flags),
            EK_OK);
        return;
    case 2:
        room = ek_spawn_at(worker, part->piece, bytes, flags);
        break;
    case 3:
        room = (ek_spawn_at)(worker, part->piece, bytes, flags);
        break;
    }
    if (CHECK(room != NULL))
        memcpy(room, payload, bytes);
}

static void spawn_into_other(ek_worker *worker, const struct part *part,
                             uint64_t key)
{
    struct part *other = &parts[1 - (part - parts)];
    struct piece piece = {key, 0, 1, -1};
    unsigned char payload[LARGEST_PAYLOAD];
    if (!other->is_open)
        return;
    size_t bytes = write_piece(other, &piece, payload);
    CHECK_EQ_INT(
        ek_spawn_into(worker, other->tasks, other->piece, payload, bytes),
        EK_OK);
    add(&tally_of(worker)->into, key);
}

/* A box of this rank that has no seed, once in an iteration. */
static void spawn_box(ek_worker *worker, const struct part *part)
{
    int64_t here = part->boxes + atomic_fetch_add(&next_box, 1);
    int64_t number = job_rank * BOXES + here;
    if (here >= BOXES)
        return;
    CHECK_EQ_INT(ek_spawn(worker, part->box, &number, sizeof number, 0), EK_OK);
    add(&tally_of(worker)->spawned, key_of(part->box, number));
}

static void spawn(ek_worker *worker, const struct part *part,
                  const struct piece *parent, uint64_t chance)
{
    struct tally *tally = tally_of(worker);
    int children = parent->depth > 0 ? (int)(chance % 3) : 0;
    for (int i = 0; i < children; i++) {
        struct piece child = {mix(parent->key + 977u * (uint64_t)(i + 1)),
                              (int16_t)(parent->depth - 1), 0, -1};
        child.is_kept = mix(child.key) % 32 == 0;
        spawn_piece(worker, part, &child, (int)(chance >> (10 + 2 * i) & 3));
        add(&tally->spawned, child.key);
        if (child.is_kept)
            add(&tally->kept, child.key);
        if ((chance >> 8 & 1) != 0)
            work(worker, mix(child.key));
    }
    if ((chance >> 24) % 64 == 0)
        spawn_into_other(worker, part, mix(parent->key ^ 1));
    if (part->box >= 0 && (chance >> 24) % 16 == 1)
        spawn_box(worker, part);
}

static void discard(struct tally *tally, uint64_t key, bool is_held)
{
    tally->nulls++;
    if (is_held)
        add(&tally->discarded, key);
}

/* Of tasks some are null, for now or for good, and some fail or stop. */
static int leave(ek_worker *worker, uint64_t key, uint64_t chance, bool is_held)
{
    struct tally *tally = tally_of(worker);
    if ((chance >> 16 & 15) == 1) {
        ek_discard(worker);
        discard(tally, key, is_held);
        return 0;
    }
    if (is_held)
        add(&tally->stays, key);
    if ((chance >> 16 & 15) == 0) {
        ek_skip(worker);
        tally->nulls++;
    } else if (mode == BOX_FAIL && (chance >> 20) % 64 == 0) {
        tally->failed++;
        ek_fail(worker, 5, "as drawn");
    } else if (mode == BOX_STOP && (chance >> 20) % 512 == 0) {
        ek_stop(worker);
    }
    return 0;
}

static int run_piece(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct piece *piece = payload;
    const struct part *part = context;
    uint64_t chance = mix(piece->key ^ seed ^ (uint64_t)store.round);
    CHECK_EQ_INT(bytes, piece_bytes(part, piece));
    CHECK(piece->pinned < 0 || piece->pinned == job_rank);
    fill_tail((unsigned char *)payload, bytes, true);
    add(&tally_of(worker)->ran, piece->key);
    spawn(worker, part, piece, chance);
    work(worker, mix(chance));
    return leave(worker, piece->key, mix(~chance), piece->is_kept);
}

static int run_index(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct part *part = context;
    uint64_t key = key_of(part->index, box_number(payload));
    CHECK_EQ_INT(bytes, sizeof(int64_t));
    add(&tally_of(worker)->ran, key);
    work(worker, mix(key ^ (uint64_t)store.round));
    return leave(worker, key, mix(~key), true);
}

static int run_box_task(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    const struct part *part = context;
    struct tally *tally = tally_of(worker);
    int64_t number = box_number(payload);
    uint64_t key = key_of(part->box, number);
    bool is_held = number % BOXES < part->boxes, is_odd = number % 5 == 1;
    CHECK_EQ_INT(bytes, sizeof number);
    add(&tally->ran, key);
    work(worker, mix(key ^ (uint64_t)store.round));
    if (is_odd && mode == BOX_DISCARD)
        discard(tally, key, is_held);
    else if (is_held)
        add(&tally->stays, key);
    tally->nulls += is_odd && mode == BOX_SKIP;
    tally->failed += is_odd && mode == BOX_FAIL;
    return box_run(worker, number);
}

static int run_put(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    const struct part *part = context;
    int64_t tile = box_number(payload);
    uint64_t key = key_of(part->put, tile);
    CHECK_EQ_INT(bytes, sizeof tile);
    add(&tally_of(worker)->ran, key);
    add(&tally_of(worker)->stays, key);
    put_state(worker, tile);
    return 0;
}

/* What a collection holds, and what of it has run. */
struct seen {
    struct part *part;
    struct sums all, ran;
    bool changes; /* removes pieces, and gives others a new key */
};

static void see_numbers(const ek_task_info *task, struct seen *seen)
{
    int64_t bounds[2];
    memcpy(bounds, task->payload, task->is_range ? 16 : 8);
    if (!task->is_range)
        bounds[1] = bounds[0] + 1;
    CHECK_EQ_INT(task->count, bounds[1] - bounds[0]);
    for (int64_t i = bounds[0]; i < bounds[1]; i++) {
        uint64_t key = key_of(task->function, i);
        add(&seen->all, key);
        if (task->ran)
            add(&seen->ran, key);
    }
}

static bool see(const ek_task_info *task, void *context)
{
    struct seen *seen = context;
    struct piece *piece = task->payload;
    if (task->function != seen->part->piece) {
        see_numbers(task, seen);
        return true;
    }
    CHECK_EQ_INT(task->pinned, piece->pinned >= 0);
    CHECK(piece->is_kept);
    fill_tail(task->payload, task->bytes, true);
    if (seen->changes && mix(piece->key) % 16 == 0)
        return false;
    if (seen->changes && task->bytes == sizeof *piece &&
        mix(piece->key) % 16 == 1)
        piece->key = mix(piece->key) & ~1ull;
    add(&seen->all, piece->key);
    if (task->ran)
        add(&seen->ran, piece->key);
    return true;
}

static void check_sums(struct sums value, struct sums expected,
                       const char *what)
{
    if (check_count(value.n == expected.n && value.first == expected.first &&
                    value.second == expected.second))
        return;
    fprintf(stderr, "rank %d: seed %lld: %s: %lld tasks; expected %lld%s\n",
            job_rank, (long long)seed, what, (long long)value.n,
            (long long)expected.n, value.n == expected.n ? ", and others" : "");
}

static struct seen look(struct part *part, bool changes)
{
    struct seen seen = {part, {0}, {0}, changes};
    CHECK_EQ_INT(ek_visit_tasks(part->tasks, see, &seen), EK_OK);
    return seen;
}

static void check_held(struct part *part, const char *when)
{
    check_sums(whole(look(part, false).all), whole(part->held), when);
}

static void add_pieces(struct part *part, int64_t n, bool is_pinned)
{
    for (int64_t i = 0; i < n; i++) {
        unsigned char payload[LARGEST_PAYLOAD];
        uint64_t key = mix(seed << 40 ^ drawn << 32 ^
                           (uint64_t)((i << 3 | job_rank) << 1 | is_pinned));
        struct piece piece = {key, (int16_t)(key >> 60 & 3), 1,
                              is_pinned ? job_rank : -1};
        ek_hint hint = EK_HINT_INIT;
        hint.cost = 1 + (double)(key >> 32 & 15);
        hint.pinned = is_pinned;
        if (!is_pinned && (key >> 40) % 4 == 0)
            hint.rank = (int)((key >> 48) % (uint64_t)job_size);
        size_t bytes = write_piece(part, &piece, payload);
        bool plain = !is_pinned && key >> 44 & 1;
        CHECK_EQ_INT(ek_add_task(part->tasks, part->piece, payload, bytes,
                                 plain ? NULL : &hint),
                     EK_OK);
        add(&part->held, key);
    }
}

static void add_range(struct part *part, ek_function function, int64_t first,
                      int64_t last)
{
    CHECK_EQ_INT(ek_add_range(part->tasks, function, first, last), EK_OK);
    for (int64_t i = first; i < last; i++)
        add(&part->held, key_of(function, i));
}

/* Boxes as a range, or where they are, or shifted to another rank. */
static void add_boxes(struct part *part)
{
    int64_t form = below(4), n = below(4) == 0 ? 0 : below(BOXES - 10);
    ek_hint hint = EK_HINT_INIT;
    hint.rank = (int)((job_rank + form) % job_size);
    part->boxes = (int)n;
    if (form == 3) {
        add_range(part, part->box, job_rank * BOXES, job_rank * BOXES + n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t number = job_rank * BOXES + i;
        CHECK_EQ_INT(
            ek_add_task(part->tasks, part->box, &number, sizeof number, &hint),
            EK_OK);
        add(&part->held, key_of(part->box, number));
    }
}

/* One task for each tile that is put. */
static void add_puts(struct part *part)
{
    for (int64_t tile = OWNED_TILES; tile < STATE_TILES; tile++) {
        if (tile % job_size != job_rank)
            continue;
        CHECK_EQ_INT(
            ek_add_task(part->tasks, part->put, &tile, sizeof tile, NULL),
            EK_OK);
        add(&part->held, key_of(part->put, tile));
    }
}

/* Much on one rank, less elsewhere. */
static void add_seeds(struct part *part)
{
    int64_t n = 20 + below(300), first = below(1 << 20) * 1000;
    add_pieces(part, job_rank == below(job_size) ? n : n / 8, false);
    if (below(3) == 0)
        add_pieces(part, 1 + below(8), true);
    int64_t length = below(3) == 0 ? 1 + below(500) : 0;
    if (job_rank == below(job_size) && length > 0)
        add_range(part, part->index, first, first + length);
}

static void *worker_tally(int here, void *context)
{
    struct part *part = context;
    return &part->tallies[here];
}

/* Threads fetch for all workers of the rank, or for the first THREADS. */
static ek_status pull(struct part *part, int threads, ek_process_report *report)
{
    ek_status status = ek_begin(part->tasks);
#pragma omp parallel num_threads(threads) default(none) shared(part)
    {
        int here = omp_get_thread_num();
        ek_task task = {0};
        while (ek_next(part->tasks, here, &task) == EK_OK && task.worker) {
            ek_task_fn *body = task.function == part->piece   ? run_piece
                               : task.function == part->index ? run_index
                               : task.function == part->box   ? run_box_task
                                                              : run_put;
            CHECK_EQ_INT(body(task.worker, task.payload, task.bytes, part), 0);
        }
    }
    return status != EK_OK ? status : ek_end(part->tasks, report);
}

static struct tally tally_here(const struct part *part)
{
    struct tally all = {0};
    for (int here = 0; here < ek_workers_here(part->tasks); here++) {
        const struct tally *one = &part->tallies[here];
        join(&all.ran, &one->ran, 1);
        join(&all.stays, &one->stays, 1);
        join(&all.spawned, &one->spawned, 1);
        join(&all.kept, &one->kept, 1);
        join(&all.discarded, &one->discarded, 1);
        join(&all.into, &one->into, 1);
        all.nulls += one->nulls;
        all.failed += one->failed;
    }
    return all;
}

/* What ran against what there was, and what is left against what stays. */
static void check_iteration(struct part *part, ek_status status,
                            const ek_process_report *report)
{
    struct tally all = tally_here(part);
    struct sums ran = whole(all.ran), created = whole(part->held);
    struct sums spawned = whole(all.spawned);
    int64_t failed = job_sum(all.failed);
    bool has_failed = failed > 0 && !part->continues;
    JOB_STATUS(status, has_failed ? EK_ERR_TASK : EK_OK);
    join(&created, &spawned, 1);
    if (report->cancelled == 0)
        check_sums(ran, created, "ran");
    CHECK(report->cancelled == 0 || has_failed || mode == BOX_STOP);
    CHECK_EQ_INT(report->tasks, ran.n);
    CHECK_EQ_INT(report->spawned, spawned.n);
    CHECK_EQ_INT(report->tasks + report->cancelled, created.n);
    CHECK_EQ_INT(report->null_tasks, job_sum(all.nulls));
    CHECK_EQ_INT(report->failed, failed);
    join(&part->held, &all.kept, 1);
    join(&part->held, &all.discarded, -1);
    join(&parts[1 - (part - parts)].held, &all.into, 1);
    check_held(part, "held after it");
    check_sums(look(part, false).ran, all.stays, "shown as run here");
    if (part->box >= 0) {
        CHECK_EQ_INT(report->travelled, job_sum(field.away));
        boxes_check();
    }
    tiles_check(below(4) == 0);
}

static void set(struct part *part, const char *option, const char *value)
{
    CHECK_EQ_INT(ek_set(part->tasks, option, value), EK_OK);
}

static const char *const steals[] = {"random",  "random",     "near", "none",
                                     "counter", "counter:16", "node"};
static const char *const orders[] = {"longest", "executed"};
static const char *const failures[] = {"stop", "continue"};
static const char *const restores[] = {
    "original",           "retain", "centralized",
    "hierarchical",       "auto",   "centralized-hpdc12",
    "hierarchical-hpdc12"};

/* Note what is drawn, for whoever hears of a failure. */
static void note(const char *format, const char *what, int64_t number)
{
    size_t n = strlen(plan);
    snprintf(plan + n, sizeof plan - n, format, what, (long long)number);
}

static void draw_iteration(struct part *part)
{
    static const enum box_mode modes[] = {BOX_ADVANCE, BOX_ADVANCE, BOX_ADVANCE,
                                          BOX_ADVANCE, BOX_SKIP,    BOX_DISCARD,
                                          BOX_STOP,    BOX_FAIL};
    static const char *const names[] = {"", " fail", " skip", " discard",
                                        " stop"};
    const char *steal = ONE_OF(steals);
    mode = modes[below(8)];
    part->continues = below(2) == 1;
    set(part, "steal", steal);
    set(part, "order", ONE_OF(orders));
    set(part, "on_failure", failures[part->continues]);
    set(part, "restore", ONE_OF(restores));
    note("; %s%lld", "", part - parts);
    note(" %s", steal, 0);
    note("%s", names[mode], 0);
}

static void forget(struct part *part)
{
    for (int here = 0; here < job_workers; here++)
        part->tallies[here] = (struct tally){0};
    boxes_forget();
    field.mode = mode;
    atomic_store(&next_box, 0);
    store.round++;
}

static void iterate(struct part *part)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    draw_iteration(part);
    forget(part);
    bool is_pulled = below(3) == 0, is_late = below(4) == 0;
    int64_t late = below(job_size), threads = below(4);
    if (is_late && job_rank == late)
        job_nap((int64_t)(mix(seed + drawn) % 5000));
    int most = ek_workers_here(part->tasks);
    if (threads == 0 || threads > most)
        threads = most;
    note(is_pulled ? " pull %s%lld" : " process", "", threads);
    ek_status status = is_pulled ? pull(part, (int)threads, &report)
                                 : ek_process(part->tasks, &report);
    check_iteration(part, status, &report);
}

static void restore(struct part *part)
{
    int64_t policy = below(9);
    if (policy > EK_RESTORE_AUTO) /* the next iteration does it */
        return;
    note(" %s", policy == 0 ? "default" : restores[policy - 1], 0);
    JOB_STATUS(ek_restore(part->tasks, (ek_restore_policy)policy, NULL), EK_OK);
    check_held(part, "held after the restore");
    if (part->box >= 0)
        boxes_check();
}

/* What the program may do between iterations. */
static void change(struct part *part)
{
    switch (below(8)) {
    case 0:
        part->held = look(part, true).all;
        check_held(part, "held after changes");
        break;
    case 1:
        CHECK_EQ_INT(ek_clear(part->tasks), EK_OK);
        part->held = (struct sums){0};
        add_seeds(part);
        break;
    case 2:
        add_seeds(part);
        break;
    case 3:
        if (store.sums)
            tiles_write(0, OWNED_TILES, store.round);
        break;
    case 4:
        if (store.sums)
            tiles_forget_sums();
        break;
    default:
        break;
    }
}

static ek_options draw_options(int64_t ranks_per_node, int level)
{
    static const int64_t slots[] = {4, 5, 16, 64, 256};
    static const int64_t payloads[] = {16, 48, 48, 200, LARGEST_PAYLOAD};
    static const char *const progresses[] = {"auto", "polling", "server"};
    ek_options options = job_options();
    options.seed = 1 + below(1000);
    options.deque = (ek_deque_kind)below(2);
    options.buffer_slots = slots[below(5)];
    options.payload_bytes = payloads[below(5)];
    options.data = (ek_data)below(2);
    options.data_bytes = (2 * job_workers + 3) * below(2) * BOX_LARGEST;
    options.check = below(2);
    options.ranks_per_node = ranks_per_node;
    options.progress = (ek_progress)below(level == 0 ? 2 : 3);
    options.watchdog_us = level >= 2 && below(4) == 0 ? 100 : 0;
    if (below(4) == 0) /* ranks have 1, 2, ... workers */
        options.workers = 1 + job_rank % job_workers;
    note("\n  %s deque", options.deque == 0 ? "atomic" : "locked", 0);
    note(" %s", progresses[options.progress], 0);
    note(options.data ? " follow" : "", "", 0);
    note(", slots%s %lld", "", options.buffer_slots);
    note(", payload%s %lld", "", options.payload_bytes);
    note(", watchdog%s %lld", "", options.watchdog_us);
    note(", check%s %lld", "", options.check);
    note(", ranks per node%s %lld", "", ranks_per_node);
    return options;
}

static void open_part(struct part *part, const ek_options *drawn_options,
                      const char *name)
{
    ek_options options = *drawn_options;
    ek_data_ops ops = box_ops();
    options.name = name;
    options.worker_create = worker_tally;
    options.worker_context = part;
    part->payload_bytes = options.payload_bytes;
    part->tasks = job_create(&options);
    part->piece = job_register(part->tasks, "piece", run_piece, part);
    part->index = job_register(part->tasks, "index", run_index, part);
    part->put = job_register(part->tasks, "put", run_put, part);
    part->box = -1;
    part->held = (struct sums){0};
    part->boxes = 0;
    part->is_open = true;
    if (part == parts && below(3) > 0) {
        part->box = job_register(part->tasks, "box", run_box_task, part);
        CHECK_EQ_INT(ek_set_data(part->tasks, part->box, &ops), EK_OK);
    }
}

static void close_part(struct part *part)
{
    ek_destroy(&part->tasks);
    part->is_open = false;
}

/* Drawn anew: options, collections, and some iterations of each. */
static void run_seed(int level)
{
    drawn = 0;
    plan[0] = '\0';
    int64_t ranks_per_node = below(3), iterations = 3 + below(6);
    for (int i = 0; i < PARTS; i++) {
        ek_options options = draw_options(ranks_per_node, level);
        open_part(&parts[i], &options, i == 0 ? "first" : "second");
    }
    memset(&store, 0, sizeof store);
    boxes_begin();
    if (below(3) > 0) {
        tiles_begin(parts[0].tasks, seed);
        add_puts(&parts[0]);
    }
    if (parts[0].box >= 0)
        add_boxes(&parts[0]);
    for (int i = 0; i < PARTS; i++)
        add_seeds(&parts[i]);
    for (int64_t i = 0; i < iterations; i++) {
        struct part *part = &parts[below(5) < 2];
        iterate(part);
        restore(part);
        change(part);
    }
    ek_tiles_destroy(&store.sums);
    ek_tiles_destroy(&store.states);
    int first = (int)below(PARTS);
    close_part(&parts[first]);
    close_part(&parts[1 - first]);
}

/* A seed that does not end is told, and ends the job. */
static void tell_hang(int signal)
{
    char line[900];
    int n = snprintf(line, sizeof line, "HANG  %s %lld: %s\n", command,
                     (long long)seed, plan);
    (void)signal;
    if (write(STDERR_FILENO, line, (size_t)n) == n)
        abort();
    _exit(3);
}

/* What is said, but for failures that were drawn, and for bytes of payloads
 * that happen to be those of a pointer. */
static void pass_on(ek_level level, const char *said, void *context)
{
    (void)level, (void)context;
    if (!strstr(said, "as drawn") && !strstr(said, "as it should") &&
        !strstr(said, "look like a pointer"))
        fprintf(stderr, "%s\n", said);
}

/* A process that stops its parent now and then, until that has gone. */
static void start_stopping(uint64_t chance)
{
    pid_t parent = getpid();
    if (fork() != 0)
        return;
    while (getppid() == parent) {
        chance = mix(chance);
        job_nap((int64_t)(chance % 30000));
        kill(parent, SIGSTOP);
        job_nap((int64_t)(chance >> 32) % 20000);
        kill(parent, SIGCONT);
    }
    _exit(0);
}

static bool run_and_tell(int level)
{
    const char *limit = getenv("MIX_LIMIT");
    int before = check_failed();
    alarm(limit ? (unsigned)atoi(limit) : 60);
    run_seed(level);
    alarm(0);
    if (job_sum(check_failed() != before) == 0)
        return true;
    if (job_rank == 0)
        printf("FAIL  %s %lld: %s\n", command, (long long)seed, plan);
    return false;
}

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
                                 MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    static char line[200];
    int level = argc > 3 ? atoi(argv[3]) & 3 : 2;
    double seconds = argc > 5 ? atof(argv[5]) : 0;
    uint64_t first = argc > 4 ? (uint64_t)atoll(argv[4]) : 1;
    if (argc > 6)
        start_stopping(first * (uint64_t)getpid());
    job_start(argc, argv, levels[level]);
    snprintf(line, sizeof line, "-n %s mix %s %s %d", argv[1], argv[1], argv[2],
             level);
    command = line;
    signal(SIGALRM, tell_hang);
    if (!getenv("EVENKEEL_LOG"))
        ek_set_sink(pass_on, NULL, EK_LEVEL_WARN);
    for (int i = 0; i < PARTS; i++)
        parts[i].tallies = calloc((size_t)job_workers, sizeof(struct tally));
    double end = MPI_Wtime() + seconds;
    bool passes = true;
    for (seed = first; passes && (seed == first || MPI_Wtime() < end); seed++) {
        passes = run_and_tell(level);
        /* All go on, or none. */
        MPI_Bcast(&end, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (job_most(MPI_Wtime() >= end) > 0)
            end = 0;
    }
    if (job_rank == 0)
        printf("%s  seeds %lld ... %lld\n", passes ? "ok  " : "FAIL",
               (long long)first, (long long)seed - 1);
    return job_result();
}
