/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop of log-normal tasks of 1, 10 and 100 us on two threads and on two
 * ranks, the library's ways beside those that a program would take else.  Each
 * task reads its own entry of the program's data, in the order of the loop, and
 * does so many steps of work.  Base: both workers do half of the work, as only
 * who knows it beforehand could deal it.
 */
#include "loops.h"

#include "instances.h"

#include "cli/message.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
    LENGTHS = 3,
    WAYS = 10,
    WORKERS = 2,
    CHUNK = 16,
    LATER = 2,            /* iterations from the second on */
    REPETITIONS_LESS = 10 /* than in other cases: they take their time */
};

static const int lengths_us[LENGTHS] = {1, 10, 100};

/* Of a task, in nanoseconds: time of the loop x workers, and processor time,
 * which tells more where others use the cores, too. */
struct cost {
    double wall, processor;
};

struct place {
    const char *name;
    MPI_Comm comm;
    int rank, size;
    int64_t n;
    int32_t *steps;   /* [n] of each task */
    int64_t *indices; /* [n] 0 ... n - 1, the seeds' payloads */
    int64_t half;     /* the tasks before it have half of them */
    struct bench_window window;
    ek_collection *tasks;
    ek_function function;
};

typedef void run_fn(struct place *place, int64_t chunk);

struct way {
    const char *name;
    struct cost (*measure)(struct place *place, const struct way *way);
    run_fn *run;
    int64_t chunk;
    const char *steal; /* of the library's ways */
};

void bench_loop_task(const int32_t *steps, int64_t i)
{
    bench_burn(steps[i]);
}

static void run_tasks(const struct place *place, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++)
        bench_loop_task(place->steps, i);
}

static void run_halves(struct place *place, int64_t chunk)
{
    (void)chunk;
    if (place->size == WORKERS) {
        run_tasks(place, place->rank == 0 ? 0 : place->half,
                  place->rank == 0 ? place->half : place->n);
        return;
    }
#pragma omp parallel for schedule(static, 1) \
    num_threads(WORKERS) default(none) shared(place)
    for (int worker = 0; worker < WORKERS; worker++)
        run_tasks(place, worker == 0 ? 0 : place->half,
                  worker == 0 ? place->half : place->n);
}

static void run_openmp(struct place *place, int64_t chunk)
{
#pragma omp parallel for schedule(dynamic, chunk) \
    num_threads(WORKERS) default(none) shared(place, chunk)
    for (int64_t i = 0; i < place->n; i++)
        bench_loop_task(place->steps, i);
}

#ifdef BENCH_HAS_TBB
static void run_tbb(struct place *place, int64_t chunk)
{
    (void)chunk;
    bench_loop_tbb(place->steps, place->n, WORKERS);
}
#endif

static void run_window(struct place *place, int64_t chunk)
{
    int64_t number;
    while ((number = bench_window_draw(&place->window, chunk)) < place->n) {
        int64_t rest = place->n - number;
        run_tasks(place, number, number + (rest < chunk ? rest : chunk));
    }
}

static void run_process(struct place *place, int64_t chunk)
{
    (void)chunk;
    bench_check(ek_process(place->tasks, NULL));
}

static void run_again(struct place *place, int64_t chunk)
{
    bench_check(ek_restore(place->tasks, EK_RESTORE_RETAIN, NULL));
    run_process(place, chunk);
}

static double processor_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Until the last worker's end, for which the other waits. */
static struct cost measure(struct place *place, run_fn *run, int64_t chunk)
{
    MPI_Barrier(place->comm);
    double processor = processor_ns();
    uint64_t first = bench_ticks();
    run(place, chunk);
    MPI_Barrier(place->comm);
    struct cost own = {WORKERS * bench_ns(bench_ticks() - first),
                       processor_ns() - processor};
    struct cost all;
    MPI_Allreduce(&own.wall, &all.wall, 1, MPI_DOUBLE, MPI_MAX, place->comm);
    MPI_Allreduce(&own.processor, &all.processor, 1, MPI_DOUBLE, MPI_SUM,
                  place->comm);
    return (struct cost){all.wall / (double)place->n,
                         all.processor / (double)place->n};
}

static struct cost measure_other(struct place *place, const struct way *way)
{
    if (place->size == WORKERS)
        bench_window_reset(&place->window);
    return measure(place, way->run, way->chunk);
}

static int run_index(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct place *place = context;
    (void)worker, (void)bytes;
    bench_loop_task(place->steps, *(const int64_t *)payload);
    return 0;
}

/* The first index of a rank's share, which are as many whatever they cost. */
static int64_t share(const struct place *place, int rank)
{
    return place->n * rank / place->size;
}

static void clear(struct place *place, const struct way *way)
{
    bench_check(ek_clear(place->tasks));
    bench_check(ek_set_option(place->tasks, "steal", way->steal));
}

static void add_seeds(struct place *place)
{
    int64_t first = share(place, place->rank);
    int64_t last = share(place, place->rank + 1);
    bench_check(ek_add_tasks(place->tasks, place->function, last - first,
                             place->indices + first, sizeof *place->indices,
                             sizeof *place->indices));
}

static void run_added(struct place *place, int64_t chunk)
{
    add_seeds(place);
    run_process(place, chunk);
}

static struct cost measure_seeds(struct place *place, const struct way *way)
{
    clear(place, way);
    add_seeds(place);
    return measure(place, run_process, 1);
}

/* What it takes to add them included, which the others do not need. */
static struct cost measure_added(struct place *place, const struct way *way)
{
    clear(place, way);
    return measure(place, run_added, 1);
}

/* The same tasks again, their restore included. */
static struct cost measure_later(struct place *place, const struct way *way)
{
    struct cost sum = {0, 0};
    (void)way;
    for (int i = 0; i < LATER; i++) {
        struct cost cost = measure(place, run_again, 1);
        sum.wall += cost.wall / LATER;
        sum.processor += cost.processor / LATER;
    }
    return sum;
}

static struct cost measure_range(struct place *place, const struct way *way)
{
    clear(place, way);
    bench_check(ek_add_range(place->tasks, place->function,
                             share(place, place->rank),
                             share(place, place->rank + 1)));
    return measure(place, run_process, 1);
}

static const struct way halves = {"halves", measure_other, run_halves, 1, NULL};

static const struct way thread_ways[] = {
    {"OpenMP", measure_other, run_openmp, 1, NULL},
    {"OpenMP, 16", measure_other, run_openmp, CHUNK, NULL},
#ifdef BENCH_HAS_TBB
    {"TBB", measure_other, run_tbb, 1, NULL},
#endif
    {"seeds, added", measure_added, NULL, 1, "random"},
    {"seeds, first", measure_seeds, NULL, 1, "random"},
    {"seeds, later", measure_later, NULL, 1, "random"},
    {"a range", measure_range, NULL, 1, "random"},
    {"a range, later", measure_later, NULL, 1, "random"},
    {"counter", measure_seeds, NULL, 1, "counter"},
    {"counter:16", measure_seeds, NULL, 1, "counter:16"}};

static const struct way rank_ways[] = {
    {"MPI", measure_other, run_window, 1, NULL},
    {"MPI, 16", measure_other, run_window, CHUNK, NULL},
    {"seeds, added", measure_added, NULL, 1, "random"},
    {"seeds, first", measure_seeds, NULL, 1, "random"},
    {"seeds, later", measure_later, NULL, 1, "random"},
    {"a range", measure_range, NULL, 1, "random"},
    {"a range, later", measure_later, NULL, 1, "random"},
    {"counter", measure_seeds, NULL, 1, "counter"},
    {"counter:16", measure_seeds, NULL, 1, "counter:16"}};

/* N tasks of so many microseconds in the mean, coefficient of variation 1. */
static void draw_tasks(struct place *place, int64_t n, int us)
{
    const double sigma = sqrt(log(2));
    double mean = us * 1e3 / bench_step_ns(), all = 0, sum = 0;
    uint64_t state = 1;
    MPI_Bcast(&mean, 1, MPI_DOUBLE, 0, place->comm);
    place->n = n;
    place->steps = allocate(n, sizeof *place->steps);
    place->indices = allocate(n, sizeof *place->indices);
    for (int64_t i = 0; i < n; i++) {
        place->indices[i] = i;
        double u = bench_uniform(&state), v = bench_uniform(&state);
        double normal = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
        double steps = mean * exp(sigma * normal - sigma * sigma / 2);
        place->steps[i] = (int32_t)fmin(steps, INT32_MAX);
        all += place->steps[i];
    }
    for (place->half = 0; sum < all / 2; place->half++)
        sum += place->steps[place->half];
}

static void make_rows(const struct place *place, int us, const struct way *ways,
                      int count, struct bench_row *rows[WAYS][2])
{
    for (int w = 0; w < count; w++)
        for (int i = 0; i < 2; i++)
            rows[w][i] =
                bench_row_new("loops", "halves of the work", "%s, %d us: %s%s",
                              place->name, us, ways[w].name, i ? ", CPU" : "");
}

static void run_length(const struct bench *bench, struct place *place,
                       int64_t n, int us, const struct way *ways, int count)
{
    struct bench_row *rows[WAYS][2];
    int rounds = (bench->repetitions + REPETITIONS_LESS - 1) / REPETITIONS_LESS;
    draw_tasks(place, n, us);
    make_rows(place, us, ways, count, rows);
    for (int round = 0; round < rounds; round++) {
        struct cost base = halves.measure(place, &halves);
        for (int w = 0; w < count; w++) {
            struct cost cost = ways[w].measure(place, &ways[w]);
            bench_row_add(rows[w][0], cost.wall, base.wall);
            bench_row_add(rows[w][1], cost.processor, base.processor);
        }
    }
    free(place->indices);
    free(place->steps);
    bench_table_print(bench);
}

static void run_place(const struct bench *bench, struct place *place,
                      const struct way *ways, int count)
{
    ek_options options = bench_options(bench, WORKERS / place->size);
    options.payload_bytes = 16; /* as ranges need */
    bench_check(ek_create(place->comm, &options, &place->tasks));
    bench_check(
        ek_register(place->tasks, "task", run_index, place, &place->function));
    for (int l = 0; l < LENGTHS && bench->length_us == 0; l++)
        run_length(bench, place, 10 * bench->tasks / lengths_us[l],
                   lengths_us[l], ways, count);
    if (bench->length_us != 0)
        run_length(bench, place, bench->tasks, bench->length_us, ways, count);
    ek_destroy(&place->tasks);
}

void bench_loops(const struct bench *bench)
{
    struct place threads = {
        .name = "threads", .comm = MPI_COMM_SELF, .size = 1};
    if (bench->rank == 0 && bench->cpus >= WORKERS)
        run_place(bench, &threads, thread_ways,
                  sizeof thread_ways / sizeof *thread_ways);
    bench_barrier(MPI_COMM_WORLD);
    MPI_Comm both = bench_both(bench);
    if (both != MPI_COMM_NULL) {
        struct place ranks = {.name = "processes",
                              .comm = both,
                              .rank = bench->rank,
                              .size = WORKERS};
        bench_window_open(both, &ranks.window);
        run_place(bench, &ranks, rank_ways,
                  sizeof rank_ways / sizeof *rank_ways);
        bench_window_close(&ranks.window);
        MPI_Comm_free(&both);
    }
    bench_barrier(MPI_COMM_WORLD);
}
