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
 * lasts longer than MIX_LIMIT seconds (150) ends the job.  Some seeds write
 * records and checkpoints into the folder MIX_RECORDS; where that is not set,
 * none does. mix-planted has the bug that MIX_PLANT names (base/plant.h).
 */
#include "boxes.h"
#include "mix_throw.h"
#include "mix_tiles.h"
#include "record/record.h"
#ifdef EKI_PLANT
#include "../sim/plants.h"
#endif

#include <evenkeel_inline.h>
#include <evenkeel_pull.h>
#include <evenkeel_report.h>

#include <omp.h>
#include <signal.h>

enum {
    PARTS = 2,         /* collections; boxes and puts are the first one's */
    WORKERS_MOST = 16, /* of a rank */
    LARGEST_PAYLOAD = 5000
};

/* Functions, as they are registered. */
enum {
    PIECE,
    INDEX,
    PUT, /* of a tile */
    BOX,
    FUNCTIONS
};

/* A task whose key says what it does; more bytes follow by a rule. */
struct piece {
    uint64_t key;
    int16_t depth;   /* 0: spawns nothing */
    int16_t is_kept; /* held by the collection: a seed, or kept */
    int32_t pinned;  /* to this rank; -1: to none */
};

/* What is summed of an iteration's tasks. */
enum {
    RAN,
    STAYS,
    SPAWNED,
    KEPT,
    DISCARDED,
    INTO,   /* the other collection */
    LISTED, /* in a record, by id and worker, and not as discarded */
    SUMS
};

/* What a worker has seen in this iteration. */
struct tally {
    struct sums sums[SUMS];
    int64_t ends[BOX_STOP + 1]; /* how often tasks have ended so */
    int64_t codes;              /* other than 0, of indices */
    char apart[64];             /* from the next worker's */
};

static struct part {
    ek_collection *tasks;
    int64_t payload_bytes;
    struct sums held; /* on this rank */
    bool goes_on;     /* with what was cancelled: ... */
    struct sums left; /* ... this, of the whole job; what stays of what ran ...
                       */
    struct sums done; /* ... on this rank in earlier parts */
    struct tally tallies[WORKERS_MOST];
    bool is_open, continues, has_boxes;
    bool throws;      /* a collection of evenkeel.hpp, whose indices throw */
    int boxes;        /* of each rank that have a task */
    char record[300]; /* empty: none */
    char saves[300];  /* the option checkpoint */
} parts[PARTS];

static struct part *other_than(const struct part *part)
{
    return &parts[1 - (part - parts)];
}

static uint64_t seed, drawn;
static enum box_mode mode;
static bool is_left;         /* the pull loop of a rank, before its end */
static _Atomic int next_box; /* to be spawned on this rank */
static char plan[4000];
static const char *command = "";

/* The same on all ranks. */
static int64_t below(int64_t n)
{
    drawn++;
    return (int64_t)(mix(seed * 1000003 + drawn) % (uint64_t)n);
}

/* Note what is drawn, for whoever hears of a failure. */
#define note(...) \
    (void)snprintf(plan + strlen(plan), sizeof plan - strlen(plan), __VA_ARGS__)

/* Options whose values are drawn: for each collection, and each iteration. */
struct choice {
    const char *option, *words[12];
};
static const struct choice once[] = {
    {"deque", {"atomic", "locked"}},
    {"data", {"return", "follow"}},
    {"buffer_slots", {"4", "5", "16", "64", "256"}},
    {"payload_bytes", {"16", "48", "48", "200", "5000"}},
    {"progress", {"auto", "polling", "server"}},
    {"check", {"0", "1"}},
};
/* Rows of what is drawn often. */
enum {
    ON_FAILURE = 2,
    RESTORE,
    OFTEN
};
static const struct choice often[OFTEN] = {
    {"steal",
     {"random", "hpdc12", "near", "none", "counter", "counter:16",
      "counter:guided", "node", "dvs", "leapfrog"}},
    {"order", {"longest", "executed", "ascending", "reversed"}},
    [ON_FAILURE] = {"on_failure", {"stop", "continue"}},
    [RESTORE] = {"restore",
                 {"original", "retain", "centralized", "hierarchical", "auto",
                  "centralized-hpdc12", "hierarchical-hpdc12"}},
};
/* Tasks come unasked here, which francez does not see. */
static const struct choice termination = {"termination",
                                          {"counting", "acknowledged"}};

static const char *draw(const struct choice *choice)
{
    int64_t n = 0;
    while (choice->words[n])
        n++;
    const char *word = choice->words[below(n)];
    note(" %s %s", choice->option, word);
    return word;
}

static const struct part *part_of(ek_worker *worker)
{
    return ek_worker_data(worker);
}

static struct tally *tally_of(ek_worker *worker)
{
    struct part *part = ek_worker_data(worker);
    return &part->tallies[ek_worker_here(worker)];
}

static void count(ek_worker *worker, int what, uint64_t key)
{
    add(&tally_of(worker)->sums[what], key);
}

static uint64_t listing(uint64_t id, int worker)
{
    return mix(id) + (uint64_t)worker;
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

/* Spawn in WAY 0 ... 3: by a call or inline, with a copy or in place. */
static void spawn_piece(ek_worker *worker, const struct piece *piece, int way)
{
    _Alignas(8) unsigned char payload[LARGEST_PAYLOAD];
    size_t bytes = write_piece(part_of(worker), piece, payload);
    int flags = piece->is_kept ? EK_SPAWN_KEEP : 0;
    if (way == 0) {
        CHECK_OK((ek_spawn)(worker, PIECE, payload, bytes, flags));
    } else if (way == 1 && bytes == sizeof *piece) {
        CHECK_OK(ek_spawn(worker, PIECE, payload, sizeof *piece, flags));
    } else if (way == 1) {
        CHECK_OK(ek_spawn(worker, PIECE, payload, bytes, flags));
    } else {
        void *room = way == 2 ? ek_spawn_at(worker, PIECE, bytes, flags)
                              : (ek_spawn_at)(worker, PIECE, bytes, flags);
        if (CHECK(room != NULL))
            memcpy(room, payload, bytes);
    }
    count(worker, SPAWNED, piece->key);
    if (piece->is_kept)
        count(worker, KEPT, piece->key);
}

static void add_to_other(ek_worker *worker, uint64_t key)
{
    struct part *other = other_than(part_of(worker));
    struct piece piece = {key, 0, 1, -1};
    unsigned char payload[LARGEST_PAYLOAD];
    if (!other->is_open)
        return;
    size_t bytes = write_piece(other, &piece, payload);
    CHECK_OK(ek_add_task_to(worker, other->tasks, PIECE, payload, bytes));
    count(worker, INTO, key);
}

/* A box of this rank that has no seed, once in an iteration. */
static void spawn_box(ek_worker *worker)
{
    int64_t here = part_of(worker)->boxes + atomic_fetch_add(&next_box, 1);
    int64_t number = job_rank * BOXES + here;
    if (here >= BOXES)
        return;
    CHECK_OK(ek_spawn(worker, BOX, &number, sizeof number, 0));
    count(worker, SPAWNED, key_of(BOX, number));
}

static void spawn(ek_worker *worker, const struct piece *parent,
                  uint64_t chance)
{
    int children = parent->depth > 0 ? (int)(chance % 3) : 0;
    for (int i = 0; i < children; i++) {
        struct piece child = {mix(parent->key + 977u * (uint64_t)(i + 1)),
                              (int16_t)(parent->depth - 1), 0, -1};
        child.is_kept = mix(child.key) % 32 == 0;
        spawn_piece(worker, &child, (int)(chance >> (10 + 2 * i) & 3));
        if ((chance >> 8 & 1) != 0)
            work(worker, mix(child.key));
    }
    if ((chance >> 24) % 64 == 0)
        add_to_other(worker, mix(parent->key ^ 1));
    if (part_of(worker)->has_boxes && (chance >> 24) % 16 == 1)
        spawn_box(worker);
}

/* A task ends so; IS_HELD: the collection has held it. */
static void note_end(ek_worker *worker, uint64_t key, bool is_held,
                     enum box_mode end)
{
    count(worker, RAN, key);
    if (end != BOX_DISCARD)
        count(worker, LISTED,
              listing(ek_task_id(worker), ek_worker_id(worker)));
    if (is_held)
        count(worker, end == BOX_DISCARD ? DISCARDED : STAYS, key);
    tally_of(worker)->ends[end]++;
}

/* End a task: some are null, for now or for good, some fail, by what is
 * returned or by a call, and some stop the others. */
static int leave(ek_worker *worker, uint64_t key, uint64_t chance, bool is_held)
{
    uint64_t rare = chance >> 20;
    enum box_mode end = BOX_ADVANCE;
    if ((chance >> 16 & 15) < 2)
        end = chance >> 16 & 1 ? BOX_DISCARD : BOX_SKIP;
    else if ((mode == BOX_FAIL && rare % 32 == 0) ||
             (mode == BOX_STOP && rare % 512 == 0))
        end = mode;
    note_end(worker, key, is_held, end);
    if (end == BOX_FAIL && (rare >> 6 & 1))
        return 7;
    box_end(worker, end);
    return 0;
}

static int run_piece(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct piece *piece = payload;
    uint64_t chance = mix(piece->key ^ seed ^ (uint64_t)store.round);
    (void)context;
    CHECK_EQ_INT(bytes, piece_bytes(part_of(worker), piece));
    CHECK(piece->pinned < 0 || piece->pinned == job_rank);
    fill_tail((unsigned char *)payload, bytes, true);
    spawn(worker, piece, chance);
    work(worker, mix(chance));
    return leave(worker, piece->key, mix(~chance), piece->is_kept);
}

/* The payloads of all other functions are numbers; FUNCTION says of what. */
static int run_number(ek_worker *worker, const void *payload, size_t bytes,
                      void *function)
{
    int64_t number = box_number(payload);
    uint64_t key = key_of(*(int *)function, number);
    int code = 0;
    CHECK_EQ_INT(bytes, sizeof number);
    work(worker, mix(key ^ (uint64_t)store.round));
    switch (*(int *)function) {
    case INDEX:
        code = leave(worker, key, mix(~key), true);
        tally_of(worker)->codes += code != 0;
        return code;
    case PUT:
        note_end(worker, key, true, BOX_ADVANCE);
        put_state(worker, number);
        return 0;
    default:
        note_end(worker, key, number % BOXES < part_of(worker)->boxes,
                 box_end_of(number));
        return box_run(worker, number);
    }
}

static struct function {
    const char *name;
    ek_task_fn *body;
    int number;
} functions[FUNCTIONS] = {{"piece", run_piece, PIECE},
                          {"index", run_number, INDEX},
                          {"put", run_number, PUT},
                          {"box", run_number, BOX}};

/* What a collection holds, and what of it has run. */
struct seen {
    struct sums all, ran;
    bool changes; /* pieces are removed, or get a new key */
};

static bool see(const ek_task *task, void *context)
{
    struct seen *seen = context;
    struct piece *piece = task->payload;
    const int64_t *bounds = task->payload;
    if (task->function == PIECE) {
        CHECK_EQ_INT(task->is_pinned, piece->pinned >= 0);
        CHECK(piece->is_kept);
        fill_tail(task->payload, task->bytes, true);
        if (seen->changes && mix(piece->key) % 16 == 0)
            return false;
        if (seen->changes && task->bytes == sizeof *piece &&
            mix(piece->key) % 16 == 1)
            piece->key = mix(piece->key) & ~1ull;
    }
    CHECK_EQ_INT(task->count, task->is_range ? bounds[1] - bounds[0] : 1);
    for (int64_t i = 0; i < task->count; i++) {
        uint64_t key = task->function == PIECE
                           ? piece->key
                           : key_of(task->function, bounds[0] + i);
        add(&seen->all, key);
        if (task->has_run)
            add(&seen->ran, key);
    }
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
    struct seen seen = {{0}, {0}, changes};
    CHECK_OK(ek_visit_tasks(part->tasks, see, &seen));
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
        CHECK_OK(ek_add_task(part->tasks, PIECE, payload, bytes,
                             plain ? NULL : &hint));
        add(&part->held, key);
    }
}

static void add_number(struct part *part, ek_function function, int64_t number,
                       const ek_hint *hint)
{
    CHECK_OK(ek_add_task(part->tasks, function, &number, sizeof number, hint));
    add(&part->held, key_of(function, number));
}

static void add_range(struct part *part, ek_function function, int64_t first,
                      int64_t last)
{
    CHECK_OK(ek_add_range(part->tasks, function, first, last));
    for (int64_t i = first; i < last; i++)
        add(&part->held, key_of(function, i));
}

/* Boxes as a range, or where they are, or shifted to another rank. */
static void add_boxes(struct part *part)
{
    int64_t form = below(4), n = below(4) == 0 ? 0 : below(BOXES - 10);
    int64_t first = job_rank * BOXES;
    ek_hint hint = EK_HINT_INIT;
    hint.rank = (int)((job_rank + form) % job_size);
    part->boxes = (int)n;
    if (form == 3)
        add_range(part, BOX, first, first + n);
    for (int64_t i = 0; form < 3 && i < n; i++)
        add_number(part, BOX, first + i, &hint);
}

/* Much on one rank, less elsewhere. */
static void add_seeds(struct part *part)
{
    int64_t n = 20 + below(300), first = below(1 << 20) * 1000;
    add_pieces(part, job_rank == below(job_size) ? n : n / 8, false);
    if (below(3) == 0)
        add_pieces(part, 1 + below(8), true);
    int64_t length = below(3) == 0 || part->throws ? 1 + below(500) : 0;
    if (job_rank == below(job_size) && length > 0)
        add_range(part, INDEX, first, first + length);
}

static void *worker_part(int here, void *part)
{
    (void)here;
    return part;
}

/* Threads fetch for all workers of the rank, or for the first THREADS: MOST
 * tasks each, or until the end. */
static ek_status pull(struct part *part, int threads, int64_t most,
                      ek_process_report *report)
{
    ek_status status = ek_begin(part->tasks);
#pragma omp parallel num_threads(threads) default(none) \
    shared(part, functions, most)
    {
        int here = omp_get_thread_num();
        ek_task task = {0};
        for (int64_t i = 0; i < most; i++) {
            CHECK_OK(ek_next(part->tasks, here, &task));
            if (!task.worker)
                break;
            struct function *function = &functions[task.function];
            int code = function->body(task.worker, task.payload, task.bytes,
                                      &function->number);
            if (code != 0)
                ek_fail(task.worker, code, "as it should");
        }
    }
    return status != EK_OK ? status : ek_end(part->tasks, report);
}

static struct tally tally_here(const struct part *part)
{
    struct tally all = {0};
    for (int here = 0; here < ek_rank_workers(part->tasks); here++) {
        const struct tally *one = &part->tallies[here];
        for (int i = 0; i < SUMS; i++)
            join(&all.sums[i], &one->sums[i], 1);
        for (int i = 0; i <= BOX_STOP; i++)
            all.ends[i] += one->ends[i];
        all.codes += one->codes;
    }
    return all;
}

/* The record's last iteration has what tasks have told of themselves. */
static void check_record(const struct part *part, ek_status status,
                         const ek_process_report *report, struct sums listed)
{
    struct eki_record *record = NULL;
    struct eki_record_iteration last;
    struct sums found = {0};
    int64_t executed = 0;
    if (!CHECK_OK(eki_record_open(part->record, &record)))
        return;
    int64_t k = record->iteration_count - 1;
    if (CHECK(k >= 0) && CHECK_OK(eki_record_load(record, k, &last))) {
        for (int64_t i = 0; i < last.task_count; i++)
            if (!(last.tasks[i].flags & EKI_RECORD_DISCARDED))
                add(&found, listing(last.tasks[i].id, last.tasks[i].worker));
        for (int i = 0; i < record->shape.workers; i++)
            executed += last.workers[i].executed;
        check_sums(found, listed, "recorded");
        CHECK_EQ_INT(executed, report->tasks);
        CHECK_EQ_INT(last.head.iteration, job_count(part->tasks, "iteration"));
        CHECK_EQ_INT(last.head.status, status);
        eki_record_unload(&last);
    }
    eki_record_close(&record);
}

/* What ran against what there was, and what is left against what stays. */
static void check_iteration(struct part *part, ek_status status,
                            const ek_process_report *report)
{
    struct tally all = tally_here(part);
    struct sums ran = whole(all.sums[RAN]);
    struct sums created = part->goes_on ? part->left : whole(part->held);
    struct sums spawned = whole(all.sums[SPAWNED]);
    int64_t failed = job_sum(all.ends[BOX_FAIL]);
    bool has_failed = failed > 0 && !part->continues;
    bool has_stopped = job_sum(all.ends[BOX_STOP]) > 0;
    int64_t cancelled = job_count(part->tasks, "cancelled");
    bool is_cut = is_left && cancelled > 0 && !has_stopped;
    JOB_STATUS(status, has_failed || is_cut ? EK_ERR_TASK : EK_OK);
    join(&created, &spawned, 1);
    if (cancelled == 0)
        check_sums(ran, created, "ran");
    CHECK(cancelled == 0 || has_failed || has_stopped || is_cut);
    CHECK_EQ_INT(report->tasks, ran.n);
    CHECK_EQ_INT(job_count(part->tasks, "spawned"), spawned.n);
    CHECK_EQ_INT(report->tasks + cancelled, created.n);
    CHECK_EQ_INT(job_count(part->tasks, "null_tasks"),
                 job_sum(all.ends[BOX_SKIP] + all.ends[BOX_DISCARD]));
    CHECK_EQ_INT(job_count(part->tasks, "failed"), failed);
    struct sums listed = whole(all.sums[LISTED]);
    if (job_rank == 0 && part->record[0] != '\0')
        check_record(part, status, report, listed);
    join(&part->held, &all.sums[KEPT], 1);
    join(&part->held, &all.sums[DISCARDED], -1);
    join(&other_than(part)->held, &all.sums[INTO], 1);
    struct sums into = whole(all.sums[INTO]);
    join(&other_than(part)->left, &into, 1);
    check_held(part, "held after it");
    join(&part->done, &all.sums[STAYS], 1);
    check_sums(look(part, false).ran, part->done, "shown as run here");
    part->left = created;
    join(&part->left, &ran, -1);
    part->goes_on = seed % 2 == 0 && status == EK_OK && cancelled > 0;
    if (!part->goes_on)
        part->done = (struct sums){0};
    if (part->has_boxes) {
        CHECK_EQ_INT(job_count(part->tasks, "travelled"), job_sum(field.away));
        boxes_check();
    }
    tiles_check(below(4) == 0);
}

static void draw_iteration(struct part *part)
{
    static const char *const names[] = {"", " fail", " skip", " discard",
                                        " stop"};
    mode = below(2) ? BOX_ADVANCE : (enum box_mode)below(BOX_STOP + 1);
    note("\n  %d%s:", (int)(part - parts), names[mode]);
    bool is_counted = false;
    for (int i = 0; i < OFTEN; i++) {
        const char *word = draw(&often[i]);
        CHECK_OK(ek_set_option(part->tasks, often[i].option, word));
        is_counted |= strncmp(word, "counter", 7) == 0;
        if (i == ON_FAILURE)
            part->continues = word == often[i].words[1];
    }
    const char *word = is_counted ? "counting" : draw(&termination);
    CHECK_OK(ek_set_option(part->tasks, termination.option, word));
}

static void iterate(struct part *part)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    draw_iteration(part);
    memset(part->tallies, 0, sizeof part->tallies);
    boxes_forget();
    field.mode = mode;
    atomic_store(&next_box, 0);
    store.round++;
    bool is_pulled = below(3) == 0, is_late = below(4) == 0;
    int64_t late = below(job_size), leaver = below(job_size);
    int64_t threads = below(4), fetched = INT64_MAX, few = below(40);
    if (is_late && job_rank == late)
        job_nap((int64_t)(mix(seed + drawn) % 5000));
    int most = ek_rank_workers(part->tasks);
    if (threads == 0 || threads > most)
        threads = most;
    is_left = below(4) == 0 && is_pulled;
    if (is_left && job_rank == leaver) { /* others would wait for the one */
        threads = 1;
        fetched = few;
    }
    if (is_pulled)
        note(", pulled%s by %d", is_left ? " and left" : "", (int)threads);
    ek_status status = is_pulled ? pull(part, (int)threads, fetched, &report)
                       : part->throws ? thrower_process(&report)
                                      : ek_process(part->tasks, &report);
    if (part->throws && !is_pulled)
        CHECK_EQ_INT(thrower_failures(), tally_here(part).codes);
    check_iteration(part, status, &report);
}

static void restore(struct part *part)
{
    int64_t policy = below(9);
    if (policy > EK_RESTORE_AUTO) /* the next iteration does it */
        return;
    note(", %s", policy == 0 ? "default" : often[RESTORE].words[policy - 1]);
    JOB_OK(ek_restore(part->tasks, (ek_restore_policy)policy, NULL));
    check_held(part, "held after the restore");
    if (part->has_boxes)
        boxes_check();
}

/* What the program may do between iterations. */
static void change(struct part *part)
{
    int64_t what = below(8);
    if (part->goes_on) /* seeds would be of two kinds */
        return;
    if (what == 0) {
        part->held = look(part, true).all;
        check_held(part, "held after changes");
    } else if (what == 1) {
        CHECK_OK(ek_clear(part->tasks));
        part->held = (struct sums){0};
        add_seeds(part);
    } else if (what == 2) {
        add_seeds(part);
    } else if (what == 3 && store.sums) {
        tiles_write(0, OWNED_TILES, store.round);
    } else if (what == 4 && store.sums) {
        tiles_forget_sums();
    }
}

static ek_options draw_options(struct part *part, int level)
{
    ek_options options = job_options();
    note("\n ");
    for (size_t i = 0; i < sizeof once / sizeof once[0]; i++)
        CHECK_OK(ek_options_set(&options, once[i].option, draw(&once[i])));
    job_set_number(&options, "seed", 1 + below(1000));
    job_set_number(&options, "data_bytes",
                   (2 * job_workers + 3) * below(2) * BOX_LARGEST);
    if (level == 0 && options.progress == EK_PROGRESS_SERVER)
        options.progress = EK_PROGRESS_AUTO;
    if (below(3) == 0 && getenv("MIX_RECORDS")) {
        snprintf(part->record, sizeof part->record, "%s/%d.ekr",
                 getenv("MIX_RECORDS"), (int)(part - parts));
        options.record = part->record;
        note(" record");
    }
    job_set(&options, "on_stop", seed % 2 == 0 ? "continue" : "restart");
    /* Some pause for checkpoints. */
    if (seed % 4 == 0 && getenv("MIX_RECORDS")) {
        snprintf(part->saves, sizeof part->saves, "%s/%d-%lld@every:10ms",
                 getenv("MIX_RECORDS"), (int)(part - parts), (long long)seed);
        job_set(&options, "checkpoint", part->saves);
    }
    if (below(4) == 0) /* ranks have 1, 2, ... workers */
        options.workers = 1 + job_rank % job_workers;
    return options;
}

static void open_part(struct part *part, int64_t ranks_per_node, int level)
{
    memset(part, 0, sizeof *part);
    part->is_open = true;
    ek_options options = draw_options(part, level);
    ek_data_ops ops = box_ops();
    options.name = part == parts ? "first" : "second";
    job_set_number(&options, "ranks_per_node", ranks_per_node);
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = worker_part;
    hooks.context = part;
    options.hooks = &hooks;
    part->throws = part != parts && below(2) == 0;
    note(part->throws ? " throws" : "");
    part->tasks =
        part->throws ? thrower_create(&options) : job_create(&options);
    part->payload_bytes = options.payload_bytes;
    part->has_boxes = part == parts && below(3) > 0;
    for (int i = 0; i < BOX + part->has_boxes; i++) {
        struct function *one = &functions[i];
        CHECK_EQ_INT(
            part->throws && i == INDEX
                ? thrower_register(one->name, one->body, &one->number)
                : job_register(part->tasks, one->name, one->body, &one->number),
            i);
    }
    if (part->has_boxes)
        CHECK_OK(ek_set_data_ops(part->tasks, BOX, &ops));
}

static void close_part(struct part *part)
{
    if (part->throws)
        thrower_destroy();
    else
        ek_destroy(&part->tasks);
    part->is_open = false;
    if (job_rank == 0)
        remove(part->record);
}

/* Drawn anew: options, collections, and some iterations of each. */
static void run_seed(int level)
{
    drawn = 0;
    plan[0] = '\0';
    int64_t ranks_per_node = below(3), iterations = 3 + below(6);
    note("%d ranks per node", (int)ranks_per_node);
    for (int i = 0; i < PARTS; i++)
        open_part(&parts[i], ranks_per_node, level);
    memset(&store, 0, sizeof store);
    boxes_begin();
    if (below(3) > 0) {
        tiles_begin(parts[0].tasks, seed);
        for (int64_t tile = OWNED_TILES; tile < STATE_TILES; tile++)
            if (tile % job_size == job_rank)
                add_number(&parts[0], PUT, tile, NULL);
    }
    if (parts[0].has_boxes)
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
    char line[sizeof plan + 300];
    int n = snprintf(line, sizeof line, "HANG  %s %lld: %s\n", command,
                     (long long)seed, plan);
    (void)signal;
    if (write(STDERR_FILENO, line, (size_t)n) == n)
        abort();
    _exit(3);
}

/* Print what the library says, but for failures that were drawn, numbers that
 * are pulled in any order, and payloads that happen to look like a pointer. */
static void pass_on(ek_level level, const char *said, void *context)
{
    static const char *const meant[] = {
        "with code 7",        "stopped fetching",          "no worker fetched",
        "as it should",       "exception of unknown type", "descending order",
        "look like a pointer"};
    (void)level, (void)context;
    for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
        if (strstr(said, meant[i]))
            return;
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
    alarm(limit ? (unsigned)atoi(limit) : 150);
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
#ifdef EKI_PLANT
    const char *bug = getenv("MIX_PLANT");
    if (!plant(bug)) {
        fprintf(stderr, "MIX_PLANT is '%s'; src/base/plant.h has the names\n",
                bug);
        return 2;
    }
#endif
    if (argc > 6)
        start_stopping(first * (uint64_t)getpid());
    job_start(argc, argv, levels[level]);
    if (job_workers > WORKERS_MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(line, sizeof line, "-n %s mix %s %s %d", argv[1], argv[1], argv[2],
             level);
    command = line;
    signal(SIGALRM, tell_hang);
    if (!getenv("EVENKEEL_LOG"))
        ek_set_sink(pass_on, NULL, EK_LEVEL_WARN);
    double end = MPI_Wtime() + seconds;
    bool passes = true, goes_on = true;
    for (seed = first; passes && goes_on; seed++) {
        passes = run_and_tell(level);
        /* All go on, or none. */
        goes_on = job_most(MPI_Wtime() >= end) == 0;
    }
    if (job_rank == 0)
        printf("%s  seeds %lld ... %lld\n", passes ? "ok  " : "FAIL",
               (long long)first, (long long)seed - 1);
    return job_result();
}
