/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a task costs on one worker, through the public API: spawned, seed,
 * index of a range, restore.  Against a plain indirect call through an array of
 * as many function pointers.
 */
#include "bench.h"

#include <evenkeel_inline.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 1000,     /* tasks a parent of the case "in thousands" spawns */
    DURATIONS = 4096, /* in the table */
    RANGE_FACTOR = 10 /* indices per task of the other cases */
};

#define CALL_NAME "indirect call"

/* What a task carries: 48 bytes, with the default slot of 64. */
struct payload {
    int64_t number;
    int64_t rest[5];
};

struct task_case;
typedef double run_fn(struct task_case *c);

struct task_case {
    const char *name;
    run_fn *run;                /* one repetition; nanoseconds per task */
    ek_task_fn *body, *parents; /* NULL: no parents */
    int64_t n;
    double target_ratio, target;
    struct bench_row *row;
    const struct bench *bench;
    ek_collection *tasks;
    ek_function function, parent, leaf;
    int64_t iteration;
    bool adds_many;           /* by ek_add_tasks() */
    struct payload *payloads; /* [n] for that */
    double durations[DURATIONS];
    unsigned char is_wanted[DURATIONS];
};

static int empty(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

/* How a body spawns. */
enum way {
    CALLED,
    INLINED,
    IN_SLOT /* and inlined; the payload is written where it will lie */
};

static inline void spawn(enum way way, ek_worker *worker, ek_function function,
                         const struct payload *child)
{
    if (way == IN_SLOT) {
        struct payload *slot = ek_spawn_at(worker, function, sizeof *slot, 0);
        if (slot)
            *slot = (struct payload){.number = child->number};
    } else if (way == INLINED) {
        (void)ek_spawn(worker, function, child, sizeof *child, 0);
    } else {
        (void)(ek_spawn)(worker, function, child, sizeof *child, 0);
    }
}

/* Spawn as many empty tasks as the payload says. */
static inline int many(enum way way, ek_worker *worker, const void *payload,
                       void *context)
{
    const struct task_case *c = context;
    struct payload child = {0};
    for (int64_t i = ((const struct payload *)payload)->number; i > 0; i--)
        spawn(way, worker, c->leaf, &child);
    return 0;
}

/* A binary tree of so many tasks. */
static inline int tree(enum way way, ek_worker *worker, const void *payload,
                       void *context)
{
    const struct task_case *c = context;
    int64_t below = ((const struct payload *)payload)->number - 1;
    for (int side = 0; side < 2; side++) {
        struct payload child = {.number = side ? below / 2 : below - below / 2};
        if (child.number > 0)
            spawn(way, worker, c->function, &child);
    }
    return 0;
}

/* So many tasks, each spawned by the one before. */
static inline int chain(enum way way, ek_worker *worker, const void *payload,
                        void *context)
{
    const struct task_case *c = context;
    struct payload child = {.number =
                                ((const struct payload *)payload)->number - 1};
    if (child.number > 0)
        spawn(way, worker, c->function, &child);
    return 0;
}

/* Bodies that spawn one way. */
#define BODY(body, way)                                             \
    static int body##_##way(ek_worker *worker, const void *payload, \
                            size_t bytes, void *context)            \
    {                                                               \
        (void)bytes;                                                \
        return body(way, worker, payload, context);                 \
    }
#define BODIES(body) BODY(body, CALLED) BODY(body, INLINED) BODY(body, IN_SLOT)
BODIES(many)
BODIES(tree)
BODIES(chain)

/* Spawn parents of BATCH tasks each. */
static int spawn_parents(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    const struct task_case *c = context;
    struct payload child = {.number = BATCH};
    (void)bytes;
    for (int64_t i = ((const struct payload *)payload)->number; i > 0;
         i -= BATCH)
        spawn(CALLED, worker, c->parent, &child);
    return 0;
}

/* A duration, which differs from iteration to iteration. */
static int with_duration(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    const struct task_case *c = context;
    uint64_t number = (uint64_t)((const struct payload *)payload)->number;
    uint64_t mixed =
        (number + (uint64_t)c->iteration * 0x9e3779b9u) * 0xd6e8feb86659fd93u;
    (void)bytes;
    ek_set_cost(worker, c->durations[mixed >> 52]);
    return 0;
}

/* The same in every iteration. */
static int with_own_duration(ek_worker *worker, const void *payload,
                             size_t bytes, void *context)
{
    const struct task_case *c = context;
    uint64_t number = (uint64_t)((const struct payload *)payload)->number;
    (void)bytes;
    ek_set_cost(worker, c->durations[number * 0xd6e8feb86659fd93u >> 52]);
    return 0;
}

/* Null after one look-up. */
static int look_up(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    const struct task_case *c = context;
    int64_t index = *(const int64_t *)payload;
    (void)bytes;
    if (!c->is_wanted[index & (DURATIONS - 1)])
        ek_discard(worker);
    return 0;
}

static double per_task(const struct task_case *c, uint64_t first, uint64_t last)
{
    return bench_ns(last - first) / (double)c->n;
}

/* The baseline; the array is read so that nobody knows what is in it. */
static double run_calls(struct task_case *c)
{
    static ek_task_fn **functions;
    static int64_t room;
    struct payload payload = {0};
    int sum = 0;
    if (room < c->n) {
        free(functions);
        functions = malloc((size_t)c->n * sizeof *functions);
        room = functions ? c->n : 0;
    }
    int64_t n = c->n < room ? c->n : room;
    for (int64_t i = 0; i < n; i++) {
        functions[i] = empty;
        atomic_signal_fence(memory_order_seq_cst);
    }
    uint64_t first = bench_ticks();
    for (int64_t i = 0; i < n; i++)
        sum |= functions[i](NULL, &payload, sizeof payload, NULL);
    double ns = per_task(c, first, bench_ticks());
    return sum == 0 ? ns : NAN;
}

/* What it costs to enter the shared library and to leave it again. */
static double run_library(struct task_case *c)
{
    uintptr_t sum = 0;
    uint64_t first = bench_ticks();
    for (int64_t i = 0; i < c->n; i++)
        sum |= (uintptr_t)ek_version();
    double ns = per_task(c, first, bench_ticks());
    return sum != 0 ? ns : NAN;
}

static void open_collection(struct task_case *c)
{
    ek_options options = bench_options(c->bench, 1);
    bench_check(ek_create(MPI_COMM_SELF, &options, &c->tasks));
    bench_check(ek_register(c->tasks, "body", c->body, c, &c->function));
    bench_check(ek_register(c->tasks, "parent", c->parents ? c->parents : empty,
                            c, &c->parent));
    bench_check(ek_register(c->tasks, "leaf", empty, c, &c->leaf));
}

static void add_seeds(struct task_case *c)
{
    struct payload payload = {0};
    if (c->adds_many) {
        bench_check(ek_add_tasks(c->tasks, c->function, c->n, c->payloads,
                                 sizeof *c->payloads, sizeof *c->payloads));
        return;
    }
    for (int64_t i = 0; i < c->n; i++) {
        payload.number = i;
        bench_check(
            ek_add_task(c->tasks, c->function, &payload, sizeof payload, NULL));
    }
}

static double run_seeds(struct task_case *c)
{
    uint64_t first = bench_ticks();
    add_seeds(c);
    bench_check(ek_process(c->tasks, NULL));
    uint64_t last = bench_ticks();
    bench_check(ek_clear(c->tasks));
    return per_task(c, first, last);
}

static double run_added(struct task_case *c)
{
    uint64_t first = bench_ticks();
    add_seeds(c);
    uint64_t last = bench_ticks();
    bench_check(ek_clear(c->tasks));
    return per_task(c, first, last);
}

/* What remains from the last repetition is not added again. */
static double run_again(struct task_case *c)
{
    if (c->iteration++ == 0)
        add_seeds(c);
    uint64_t first = bench_ticks();
    bench_check(ek_process(c->tasks, NULL));
    uint64_t last = bench_ticks();
    bench_check(ek_restore(c->tasks, EK_RESTORE_RETAIN, NULL));
    return per_task(c, first, last);
}

/* The second of two, so that memory is as warm as an iteration leaves it. */
static double run_restore(struct task_case *c)
{
    if (c->iteration == 0)
        add_seeds(c);
    uint64_t first = 0, last = 0;
    for (int i = 0; i < 2; i++) {
        c->iteration++;
        bench_check(ek_process(c->tasks, NULL));
        first = bench_ticks();
        bench_check(ek_restore(c->tasks, EK_RESTORE_RETAIN, NULL));
        last = bench_ticks();
    }
    return per_task(c, first, last);
}

/* What a collection costs whose memory nobody has touched: the first seeds, and
 * the first restore. */
static double run_first(struct task_case *c, bool is_restored)
{
    ek_collection *other = c->tasks;
    open_collection(c);
    uint64_t first = bench_ticks();
    add_seeds(c);
    if (is_restored) {
        bench_check(ek_process(c->tasks, NULL));
        first = bench_ticks();
        bench_check(ek_restore(c->tasks, EK_RESTORE_RETAIN, NULL));
    }
    double ns = per_task(c, first, bench_ticks());
    ek_destroy(&c->tasks);
    c->tasks = other;
    return ns;
}

static double run_first_added(struct task_case *c)
{
    return run_first(c, false);
}

static double run_first_restore(struct task_case *c)
{
    return run_first(c, true);
}

static double run_spawned(struct task_case *c)
{
    struct payload payload = {.number = c->n};
    bench_check(
        ek_add_task(c->tasks, c->function, &payload, sizeof payload, NULL));
    uint64_t first = bench_ticks();
    bench_check(ek_process(c->tasks, NULL));
    uint64_t last = bench_ticks();
    bench_check(ek_clear(c->tasks));
    return per_task(c, first, last);
}

static double run_range(struct task_case *c)
{
    bench_check(ek_add_range(c->tasks, c->function, 0, c->n));
    uint64_t first = bench_ticks();
    bench_check(ek_process(c->tasks, NULL));
    uint64_t last = bench_ticks();
    bench_check(ek_clear(c->tasks));
    return per_task(c, first, last);
}

static const struct task_case cases[] = {
    {.name = "call of the library", .run = run_library, .body = empty},
    {.name = "spawned, in thousands",
     .run = run_spawned,
     .body = spawn_parents,
     .parents = many_CALLED,
     .target_ratio = 3.3},
    {.name = "spawned, thousands, inline",
     .run = run_spawned,
     .body = spawn_parents,
     .parents = many_INLINED},
    {.name = "spawned, thousands, in slot",
     .run = run_spawned,
     .body = spawn_parents,
     .parents = many_IN_SLOT},
    {.name = "spawned, binary tree", .run = run_spawned, .body = tree_CALLED},
    {.name = "spawned, tree, inline", .run = run_spawned, .body = tree_INLINED},
    {.name = "spawned, tree, in slot",
     .run = run_spawned,
     .body = tree_IN_SLOT},
    {.name = "spawned, chain", .run = run_spawned, .body = chain_CALLED},
    {.name = "spawned, chain, inline",
     .run = run_spawned,
     .body = chain_INLINED},
    {.name = "spawned, chain, in slot",
     .run = run_spawned,
     .body = chain_IN_SLOT},
    {.name = "spawned, all at once", .run = run_spawned, .body = many_CALLED},
    {.name = "seed: add, run, log",
     .run = run_seeds,
     .body = empty,
     .target_ratio = 6},
    {.name = "seed: add", .run = run_added, .body = empty},
    {.name = "seeds: add, run, log",
     .run = run_seeds,
     .body = empty,
     .adds_many = true},
    {.name = "seeds: add", .run = run_added, .body = empty, .adds_many = true},
    {.name = "seed: run, log", .run = run_again, .body = empty},
    {.name = "restore 1000",
     .run = run_restore,
     .body = with_duration,
     .n = 1000,
     .target = 6},
    {.name = "restore 10000",
     .run = run_restore,
     .body = with_duration,
     .n = 10000,
     .target = 6},
    {.name = "restore 100000",
     .run = run_restore,
     .body = with_duration,
     .n = 100000,
     .target = 6},
    {.name = "restore 1000000",
     .run = run_restore,
     .body = with_duration,
     .n = 1000000,
     .target = 12},
    {.name = "restore 100000, unchanged",
     .run = run_restore,
     .body = with_own_duration,
     .n = 100000},
    {.name = "first 1000000: add",
     .run = run_first_added,
     .body = with_duration,
     .n = 1000000},
    {.name = "first 1000000: restore",
     .run = run_first_restore,
     .body = with_duration,
     .n = 1000000},
    {.name = "null index of a range",
     .run = run_range,
     .body = look_up,
     .target = 10}};

enum {
    CASES = sizeof cases / sizeof *cases
};

/* Log-normal around 100 microseconds, by the normal quantiles of Box and
 * Muller over a fixed sequence. */
static void fill_durations(struct task_case *c)
{
    uint64_t state = 1;
    for (int i = 0; i < DURATIONS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double u = ((double)(state >> 33) + 1) / 2147483649.0;
        state = state * 6364136223846793005u + 1442695040888963407u;
        double v = (double)(state >> 33) / 2147483648.0;
        double normal = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
        c->durations[i] = 1e-4 * exp(normal);
    }
}

/* The payloads of all seeds in a row. */
static struct payload *make_payloads(int64_t n)
{
    struct payload *payloads = malloc((size_t)n * sizeof *payloads);
    if (!payloads)
        bench_check(EK_ERR_NOMEM);
    for (int64_t i = 0; i < n; i++)
        payloads[i] = (struct payload){.number = i};
    return payloads;
}

static struct task_case *open_case(const struct bench *bench, int number)
{
    struct task_case *c = malloc(sizeof *c);
    if (!c)
        bench_check(EK_ERR_NOMEM);
    *c = cases[number];
    fill_durations(c);
    memset(c->is_wanted, 0, sizeof c->is_wanted);
    if (c->n == 0)
        c->n = c->run == run_range ? RANGE_FACTOR * bench->tasks : bench->tasks;
    if (c->adds_many)
        c->payloads = make_payloads(c->n);
    c->bench = bench;
    open_collection(c);
    return c;
}

static void close_case(struct task_case *c)
{
    ek_destroy(&c->tasks);
    free(c->payloads);
    free(c);
}

void bench_tasks(const struct bench *bench)
{
    struct task_case *opened[CASES];
    if (bench->rank == 0) {
        for (int i = 0; i < CASES; i++) {
            struct task_case *c = opened[i] = open_case(bench, i);
            c->row = bench_row_new("tasks", CALL_NAME, "%s", c->name);
            c->row->target_ratio = c->target_ratio;
            c->row->target = c->target;
            c->run(c); /* memory grows */
        }
        for (int i = 0; i < bench->repetitions * CASES; i++) {
            struct task_case *c = opened[i % CASES];
            double baseline = run_calls(c);
            bench_row_add(c->row, c->run(c), baseline);
        }
        for (int i = 0; i < CASES; i++)
            close_case(opened[i]);
    }
    bench_barrier(MPI_COMM_WORLD);
}

/* -1: there is none. */
static int find_case(const char *name)
{
    for (int i = 0; i < CASES; i++) {
        if (strcmp(cases[i].name, name) == 0)
            return i;
    }
    return -1;
}

int64_t bench_tasks_count(const struct bench *bench, const char *name)
{
    bool is_call = strcmp(name, CALL_NAME) == 0;
    int i = is_call ? 0 : find_case(name);
    if (i < 0)
        return 0;
    struct task_case *c = open_case(bench, i);
    int64_t n = c->n;
    c->run(c);
    for (int r = 0; r < bench->repetitions; r++) {
        if (is_call)
            run_calls(c);
        else
            c->run(c);
    }
    close_case(c);
    /* A repetition of a restore is two. */
    return cases[i].run == run_restore && !is_call ? 2 * n : n;
}

double bench_tasks_median(const struct bench *bench, const char *name)
{
    double ns[BENCH_REPETITIONS_MAX];
    int i = find_case(name);
    if (i < 0)
        return NAN;
    struct task_case *c = open_case(bench, i);
    c->run(c); /* memory grows */
    for (int r = 0; r < bench->repetitions; r++)
        ns[r] = c->run(c);
    close_case(c);
    return bench_median(ns, bench->repetitions);
}

void bench_tasks_names(void)
{
    puts(CALL_NAME);
    for (int i = 0; i < CASES; i++)
        puts(cases[i].name);
}
