/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of every kind are recorded and replayed: each worker runs the same tasks
 * in the same order, and the record of the replay says so, too.
 *
 *     test_replay_kinds RANKS WORKERS
 */
#include "../mpi/boxes.h"

#include "record/record.h"

#include <evenkeel_loop.h>
#include <evenkeel_pull.h>
#include <evenkeel_report.h>
#include <evenkeel_save.h>
#include <evenkeel_spawn.h>
#include <evenkeel_tiles.h>

#include <signal.h>

enum {
    ITERATIONS = 3,
    WORKERS_MOST = 2,
    RAN_MOST = 4096,
    SEEDS = 20, /* of each rank, and of each kind */
    INDICES = 60,
    DEPTH = 3,
    TILES = 13,
    TILE = 16,
    LOOP = 40 /* indices of ek_for() for each rank */
};

/* How a run differs from others. */
struct kind {
    const char *steal, *data;
    ek_restore_policy restore;
    bool is_pulled;
    enum {
        STOPS_NEVER,
        STOPS_BY_TASK, /* and starts again */
        CONTINUES,     /* the same, and goes on */
        STOPS_BY_SIGNAL,
        STOPS_BY_TIME
    } stops;
};

struct list {
    int n;
    uint64_t ids[RAN_MOST];
};

/* What the workers of this rank have run: of two collections, or a loop. */
struct run {
    struct list lists[ITERATIONS][2][WORKERS_MOST];
    bool stopped[ITERATIONS]; /* as the report says */
};

static struct run recorded, replayed, *into;
static int iteration, iterations; /* so many are run */
static char folder[] = "/tmp/evenkeel-replay-XXXXXX";
static char first[60], second[60];
static const struct kind *kind;
static ek_collection *others; /* that take what tasks of the first add */
static ek_function other, tree, box, tile, indices;
static ek_tiles *tiles;
static _Atomic int stops_in;

static void note(ek_worker *worker, int collection)
{
    struct list *list =
        &into->lists[iteration][collection][ek_worker_here(worker)];
    if (CHECK(list->n < RAN_MOST))
        list->ids[list->n++] = ek_task_id(worker);
    if (!kind || !kind->stops)
        return;
    bool asks = atomic_fetch_sub(&stops_in, 1) == 1;
    if (asks && kind->stops <= CONTINUES)
        ek_stop(worker);
    if (asks && kind->stops == STOPS_BY_SIGNAL)
        raise(SIGUSR1);
    /* Tasks are left when that is seen. */
    if (kind->stops > CONTINUES && iteration < 2 && into == &recorded)
        job_nap(300);
}

struct node {
    int64_t number, depth;
};

/* A node of a tree, some with other lengths. */
static void run_tree(ek_worker *worker, const struct node *node)
{
    if (node->number % 5 == 0)
        job_nap(job_rank == 0 ? 200 : 20);
    if (node->number % 3 == 0)
        CHECK_OK(ek_add_task_to(worker, others, other, node, sizeof *node));
    for (int64_t i = 0; node->depth < DEPTH && i < node->number % 4; i++) {
        struct node child = {node->number * 4 + i + 1, node->depth + 1};
        bool is_kept = iteration == 0 && child.number % 7 == 0;
        CHECK_OK(ek_spawn(worker, tree, &child, sizeof child,
                          is_kept ? EK_SPAWN_KEEP : 0));
    }
}

static void run_tile(ek_worker *worker, int64_t number)
{
    double values[TILE];
    CHECK_OK(ek_tiles_get(worker, tiles, number % TILES, values, TILE));
    for (int i = 0; i < TILE; i++)
        values[i] = 1;
    CHECK_OK(ek_tiles_accumulate(worker, tiles, number * 7 % TILES, 1, values,
                                 TILE));
}

/* Some are null for good, some this time, and some of those spawn. */
static void run_index(ek_worker *worker, int64_t index)
{
    if (index % 6 == 5)
        run_tree(worker, &(struct node){index * 4 + 1, DEPTH - 1});
    if (index % 3 == 2)
        ek_discard(worker);
    else if (index % 7 == 3)
        ek_skip(worker);
    else
        job_nap(index % 5 == 0 ? 50 : 0);
}

static void run_task(ek_worker *worker, ek_function function,
                     const void *payload, size_t bytes)
{
    struct node node = {0};
    CHECK(bytes <= sizeof node);
    memcpy(&node, payload, bytes < sizeof node ? bytes : sizeof node);
    note(worker, 0);
    if (function == tree)
        run_tree(worker, &node);
    else if (function == box)
        box_run(worker, node.number);
    else if (function == tile)
        run_tile(worker, node.number);
    else
        run_index(worker, node.number);
}

static int run_by_context(ek_worker *worker, const void *payload, size_t bytes,
                          void *context)
{
    run_task(worker, *(ek_function *)context, payload, bytes);
    return 0;
}

static int run_other(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    (void)payload, (void)bytes, (void)context;
    note(worker, 1);
    return 0;
}

static ek_options options_of(const char *name, const char *record,
                             const char *replay)
{
    ek_options options = job_options();
    options.name = name;
    options.record = record;
    job_set(&options, "replay", replay ? replay : "0");
    CHECK_OK(ek_options_set(&options, "steal", kind->steal));
    job_set(&options, "data", kind->data);
    /* The record says what comes after a stop. */
    job_set(&options, "on_stop",
            (kind->stops == CONTINUES) == !replay ? "continue" : "restart");
    job_set(&options, "signal", kind->stops == STOPS_BY_SIGNAL ? "USR1" : "0");
    return options;
}

static void add_tasks(ek_collection *tasks)
{
    boxes_begin();
    boxes_add(tasks, box, 1);
    for (int64_t i = 0; i < SEEDS; i++) {
        struct node node = {job_rank * SEEDS + i, 0};
        ek_hint hint = EK_HINT_INIT;
        hint.pinned = i % 8 == 0;
        hint.rank = i % 8 == 1 ? (job_rank + 1) % job_size : -1;
        hint.cost = (double)(1 + i % 3);
        CHECK_OK(ek_add_task(tasks, tree, &node, sizeof node, &hint));
        CHECK_OK(
            ek_add_task(tasks, tile, &node.number, sizeof node.number, NULL));
    }
    CHECK_OK(ek_add_range(tasks, indices, job_rank * INDICES,
                          (job_rank + 1) * INDICES));
}

static ek_collection *make(const char *record, const char *replay)
{
    ek_options options = options_of("first", record, replay);
    ek_data_ops ops = box_ops();
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    ek_collection *tasks = job_create(&options);
    tree = job_register(tasks, "tree", run_by_context, &tree);
    box = job_register(tasks, "box", run_by_context, &box);
    tile = job_register(tasks, "tile", run_by_context, &tile);
    indices = job_register(tasks, "indices", run_by_context, &indices);
    CHECK_OK(ek_set_data_ops(tasks, box, &ops));
    shape.count = TILES;
    shape.length = TILE;
    JOB_OK(ek_tiles_create(tasks, &shape, &tiles));
    JOB_OK(ek_tiles_fill(tiles, 0));
    add_tasks(tasks);
    options = options_of("second", record, replay);
    others = job_create(&options);
    other = job_register(others, "other", run_other, NULL);
    return tasks;
}

/* The workers of this rank are its own threads. */
static void pull(ek_collection *tasks, ek_process_report *report)
{
    JOB_OK(ek_begin(tasks));
#pragma omp parallel for schedule(static, 1) num_threads(job_workers)
    for (int here = 0; here < job_workers; here++) {
        ek_task task = {0};
        while (CHECK_OK(ek_next(tasks, here, &task)) && task.worker)
            run_task(task.worker, task.function, task.payload, task.bytes);
    }
    JOB_OK(ek_end(tasks, report));
}

static void run(const char *record, const char *replay, struct run *result)
{
    memset(result, 0, sizeof *result);
    into = result;
    ek_collection *tasks = make(record, replay);
    iterations = kind->stops ? ITERATIONS : ITERATIONS - 1;
    for (iteration = 0; iteration < iterations; iteration++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        bool may_stop = iteration < 2 && job_rank == 0;
        atomic_store(&stops_in, may_stop ? 10 : -1);
        if (kind->stops == STOPS_BY_TIME && !replay)
            CHECK_OK(ek_stop_at(tasks, iteration < 2 ? 0.0001 : -1));
        if (kind->is_pulled)
            pull(tasks, &report);
        else
            JOB_OK(ek_process(tasks, &report));
        result->stopped[iteration] = report.stopped > 0;
        JOB_OK(ek_restore(tasks, kind->restore, NULL));
        JOB_OK(ek_process(others, NULL));
        CHECK_OK(ek_clear(others));
    }
    if (strcmp(kind->data, "return") == 0)
        boxes_check();
    ek_tiles_destroy(&tiles);
    ek_destroy(&others);
    ek_destroy(&tasks);
}

static bool is_same(const struct list *x, const struct list *y)
{
    return x->n == y->n &&
           memcmp(x->ids, y->ids, (size_t)x->n * sizeof *x->ids) == 0;
}

static bool are_same_tasks(const struct eki_record_iteration *x,
                           const struct eki_record_iteration *y)
{
    /* Where data follows depends on durations. */
    bool is_sized = kind && strcmp(kind->data, "return") == 0;
    int flags = EKI_RECORD_DISCARDED | EKI_RECORD_SKIPPED | EKI_RECORD_COSTED |
                EKI_RECORD_PINNED | (is_sized ? EKI_RECORD_SIZED : 0);
    bool is_same = x->task_count == y->task_count;
    for (int64_t k = 0; is_same && k < x->task_count; k++) {
        const struct eki_record_task *a = &x->tasks[k], *b = &y->tasks[k];
        is_same = a->id == b->id && a->worker == b->worker &&
                  a->function == b->function &&
                  (a->flags & flags) == (b->flags & flags);
    }
    return is_same;
}

/* The two records agree in all but times. */
static void check_records(const char *collection)
{
    struct eki_record *records[2] = {NULL, NULL};
    char *paths[2] = {eki_record_path(first, collection),
                      eki_record_path(second, collection)};
    CHECK_OK(eki_record_open(paths[0], &records[0]));
    CHECK_OK(eki_record_open(paths[1], &records[1]));
    if (!records[0] || !records[1])
        return;
    CHECK_EQ_INT(records[0]->iteration_count, iterations);
    CHECK_EQ_INT(records[1]->iteration_count, iterations);
    for (int i = 0; i < iterations; i++) {
        struct eki_record_iteration x, y;
        CHECK_OK(eki_record_load(records[0], i, &x));
        CHECK_OK(eki_record_load(records[1], i, &y));
        CHECK_EQ_INT(x.head.stopped, y.head.stopped);
        CHECK_EQ_INT(x.family_count, y.family_count);
        CHECK(are_same_tasks(&x, &y));
        for (int w = 0; w < records[0]->shape.workers; w++) {
            CHECK_EQ_INT(x.workers[w].executed, y.workers[w].executed);
            CHECK_EQ_INT(x.workers[w].nulls, y.workers[w].nulls);
        }
        eki_record_unload(&x);
        eki_record_unload(&y);
    }
    for (int i = 0; i < 2; i++) {
        eki_record_close(&records[i]);
        free(paths[i]);
    }
}

/* Say where the first difference is. */
static void check_alike(const char *what)
{
    CHECK_EQ_INT(
        memcmp(recorded.stopped, replayed.stopped, sizeof recorded.stopped), 0);
    for (int i = 0; i < ITERATIONS * 2 * WORKERS_MOST; i++) {
        int w = i % WORKERS_MOST, c = i / WORKERS_MOST % 2;
        const struct list *x = &recorded.lists[i / WORKERS_MOST / 2][c][w];
        const struct list *y = &replayed.lists[i / WORKERS_MOST / 2][c][w];
        if (check_count(is_same(x, y)))
            continue;
        fprintf(stderr,
                "%s: rank %d, iteration %d, collection %d, worker %d: %d "
                "tasks, in the replay %d\n",
                what, job_rank, i / WORKERS_MOST / 2, c, w, x->n, y->n);
        for (int k = 0; k < x->n && k < y->n; k++) {
            if (x->ids[k] == y->ids[k])
                continue;
            fprintf(stderr, "   number %d: %llx, in the replay %llx\n", k,
                    (unsigned long long)x->ids[k],
                    (unsigned long long)y->ids[k]);
            return;
        }
        return;
    }
}

static void run_kind(const struct kind *given)
{
    char what[80];
    kind = given;
    snprintf(what, sizeof what, "%s, data=%s, restore %d%s%s", kind->steal,
             kind->data, (int)kind->restore, kind->is_pulled ? ", pulled" : "",
             kind->stops ? ", stops" : "");
    run(first, NULL, &recorded);
    run(second, first, &replayed);
    check_alike(what);
    if (job_rank != 0)
        return;
    check_records("first");
    check_records("second");
}

static void runs_of_every_steal_policy(void)
{
    static const char *const steals[] = {
        "random",   "near",           "none",    "counter",
        "node",     "hpdc12",         "dvs",     "leapfrog",
        "load",     "load:read",      "success", "success:acyclic",
        "lifeline", "counter:guided", "sws",     "sdc"};
    for (int i = 0; i < 16; i++)
        run_kind(&(struct kind){.steal = steals[i],
                                .data = i % 2 ? "follow" : "return",
                                .restore = (ek_restore_policy)(1 + i % 7)});
}

static void runs_that_stop(void)
{
    for (int stops = STOPS_BY_TASK; stops <= STOPS_BY_TIME; stops++) {
        run_kind(&(struct kind){.steal = stops % 2 ? "random" : "load:read",
                                .data = "return",
                                .restore = EK_RESTORE_RETAIN,
                                .is_pulled = stops == CONTINUES,
                                .stops = stops});
        bool is_asked = stops > CONTINUES;
        CHECK_EQ_INT(recorded.stopped[0], is_asked);
    }
}

static void runs_of_pull_loops(void)
{
    for (int i = 0; i < 2; i++)
        run_kind(&(struct kind){.steal = i ? "counter" : "random",
                                .data = "return",
                                .restore = EK_RESTORE_CENTRALIZED,
                                .is_pulled = true});
}

static int run_loop(ek_worker *worker, int64_t i, void *context)
{
    (void)context;
    note(worker, 0);
    job_nap(i % 5 == 0 ? 50 : 0);
    return 0;
}

static void run_for(const char *record, const char *replay, struct run *result)
{
    MPI_Comm comm;
    memset(result, 0, sizeof *result);
    into = result;
    if (record)
        CHECK_EQ_INT(setenv("EVENKEEL_RECORD", record, 1), 0);
    if (replay)
        CHECK_EQ_INT(setenv("EVENKEEL_REPLAY", replay, 1), 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    iterations = ITERATIONS;
    for (iteration = 0; iteration < iterations; iteration++)
        JOB_OK(ek_for(comm, (LOOP - iteration) * job_size, run_loop, NULL));
    MPI_Comm_free(&comm);
    unsetenv("EVENKEEL_RECORD");
    unsetenv("EVENKEEL_REPLAY");
}

static void loops(void)
{
    kind = NULL;
    run_for(first, NULL, &recorded);
    run_for(second, first, &replayed);
    check_alike("ek_for");
    if (job_rank == 0)
        check_records("loop1");
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    job_make_folder(folder);
    snprintf(first, sizeof first, "%s/first-%%.ekr", folder);
    snprintf(second, sizeof second, "%s/second-%%.ekr", folder);
    JOB_RUN(runs_of_every_steal_policy);
    JOB_RUN(runs_that_stop);
    JOB_RUN(runs_of_pull_loops);
    JOB_RUN(loops);
    job_remove_folder(folder);
    return job_result();
}
