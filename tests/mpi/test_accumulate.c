/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many accumulates into tiles of random lengths, from all workers, while tasks
 * are stolen: integers, so that the sums must be the serial ones to the last
 * bit.  Beside them gets of a store that nobody writes to, and puts of tiles
 * that one task has for itself.
 *
 *     test_accumulate RANKS WORKERS [ACCUMULATES [LEVEL]]
 *
 * ACCUMULATES are about how many run (the suite has 10,000 of them, two ranks
 * 1,000,000 in seconds); LEVEL is the MPI thread level, 0 ... 3.
 */
#include "sums.h"

#include <evenkeel_tiles.h>

enum {
    TILES = 61,
    PER_TASK = 16,  /* accumulates */
    OPEN = 4,       /* of them at once */
    LONGEST = 3000, /* doubles of a tile: more than a message has */
    ITERATIONS = 4,
    CACHE_TILES = 6 /* that a cache has room for, about */
};

static int64_t accumulates = 10000;

/* One accumulate, as its number says. */
struct step {
    int64_t tile;
    double alpha;
    uint64_t chance;
};

static ek_tiles *sums, *fixed, *own; /* added to, read, put */
static int64_t tasks_in_job;

/* Most tiles are short, some need several messages. */
static int64_t length_of(int64_t tile, void *context)
{
    uint64_t chance = mix((uint64_t)tile + 7);
    (void)context;
    return 1 + (int64_t)(chance >> 8) % (chance % 8 == 0 ? LONGEST : 40);
}

static int owner_of(int64_t tile, void *context)
{
    (void)context;
    return (int)(mix((uint64_t)tile + 99) % (unsigned)job_size);
}

static struct step step_of(int64_t number)
{
    uint64_t chance = mix((uint64_t)number);
    return (struct step){(int64_t)(chance >> 32) % TILES,
                         (double)(chance >> 8 & 7) - 3, chance};
}

/* Small integers that tell what they are added for. */
static double value_of(uint64_t chance, int64_t at)
{
    return (double)((chance + (uint64_t)at * 5) % 31) - 15;
}

static void fill_values(double *values, uint64_t chance, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        values[i] = value_of(chance, i);
}

static void check_values(const double *values, uint64_t chance, int64_t length,
                         const char *what, int64_t tile)
{
    for (int64_t i = 0; i < length; i++) {
        if (values[i] == value_of(chance, i))
            continue;
        fprintf(stderr, "rank %d: %s: tile %lld: value %lld is %g, not %g\n",
                job_rank, what, (long long)tile, (long long)i, values[i],
                value_of(chance, i));
        check_count(false);
        return;
    }
}

/* What one step has under way. */
struct flight {
    struct step step;
    ek_transfer added, got;
    int64_t length, read;
    double out[LONGEST], in[LONGEST];
};

static void start(ek_worker *worker, struct flight *flight, int64_t number)
{
    struct step step = step_of(number);
    flight->step = step;
    flight->length = length_of(step.tile, NULL);
    flight->read = (int64_t)(step.chance >> 16 & 255) % TILES;
    fill_values(flight->out, step.chance, flight->length);
    for (int64_t i = 0; i < flight->length; i++)
        flight->out[i] *= step.alpha;
    CHECK_OK(ek_tiles_accumulate_start(worker, sums, step.tile, flight->out,
                                       flight->length, &flight->added));
    CHECK_OK(ek_tiles_get_start(worker, fixed, flight->read, flight->in,
                                length_of(flight->read, NULL), &flight->got));
}

static void finish(ek_worker *worker, struct flight *flight)
{
    CHECK_OK(ek_tiles_wait(worker, &flight->got));
    CHECK_OK(ek_tiles_wait(worker, &flight->added));
    check_values(flight->in, (uint64_t)flight->read,
                 length_of(flight->read, NULL), "read", flight->read);
}

/* The same by calls that wait. */
static void run_blocking(ek_worker *worker, struct flight *flight,
                         int64_t number)
{
    struct step step = step_of(number);
    int64_t length = length_of(step.tile, NULL);
    fill_values(flight->out, step.chance, length);
    CHECK_OK(ek_tiles_accumulate(worker, sums, step.tile, step.alpha,
                                 flight->out, length));
    CHECK_OK(ek_tiles_get(worker, fixed, step.tile, flight->in, length));
    check_values(flight->in, (uint64_t)step.tile, length, "got", step.tile);
}

static void put_own(ek_worker *worker, int64_t task)
{
    double values[40];
    int64_t length = ek_tiles_length(own, task);
    fill_values(values, mix((uint64_t)task), length);
    CHECK_OK(ek_tiles_put(worker, own, task, values, length));
}

static int add_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    struct flight *flights = ek_worker_data(worker);
    int64_t task;
    (void)context;
    CHECK_EQ_INT(bytes, sizeof task);
    memcpy(&task, payload, sizeof task);
    int64_t first = task * PER_TASK;
    for (int64_t i = 0; i < PER_TASK; i += OPEN) {
        bool blocks = mix((uint64_t)(first + i)) % 4 == 0;
        for (int k = 0; k < OPEN && blocks; k++)
            run_blocking(worker, &flights[k], first + i + k);
        for (int k = 0; k < OPEN && !blocks; k++)
            start(worker, &flights[k], first + i + k);
        for (int k = OPEN - 1; k >= 0 && !blocks; k--)
            finish(worker, &flights[k]);
    }
    put_own(worker, task);
    if (mix((uint64_t)task) % 16 == 3)
        job_nap(200);
    return 0;
}

static void *make_flights(int here, void *context)
{
    (void)here, (void)context;
    return calloc(OPEN, sizeof(struct flight));
}

static void free_flights(void *flights, void *context)
{
    (void)context;
    free(flights);
}

static int64_t own_length(int64_t tile, void *context)
{
    (void)context;
    return 1 + tile % 40;
}

static ek_tiles *make_tiles(ek_collection *tasks, const char *name,
                            int64_t count, int64_t (*length)(int64_t, void *))
{
    ek_tiles *tiles = NULL;
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = name;
    shape.count = count;
    shape.length_of = length;
    shape.owner_of = owner_of;
    shape.cache_bytes = CACHE_TILES * 2000 * (int64_t)sizeof(double);
    JOB_OK(ek_tiles_create(tasks, &shape, &tiles));
    return tiles;
}

/* Write the store that is read: each rank its own tiles. */
static void fill_fixed(void)
{
    for (int64_t tile = 0; tile < TILES; tile++) {
        double *values;
        int64_t length;
        if (ek_tiles_owner(fixed, tile) != job_rank)
            continue;
        CHECK_OK(ek_tiles_local(fixed, tile, &values, &length));
        CHECK_EQ_INT(length, length_of(tile, NULL));
        fill_values(values, (uint64_t)tile, length);
    }
    JOB_OK(ek_tiles_sync(fixed));
}

/* What TIMES runs of all tasks have added to each tile: serially. */
static double *serial_sums(int64_t *first_of, int times)
{
    int64_t all = 0;
    for (int64_t tile = 0; tile < TILES; tile++) {
        first_of[tile] = all;
        all += length_of(tile, NULL);
    }
    double *values = calloc((size_t)all, sizeof *values);
    for (int64_t n = 0; n < tasks_in_job * PER_TASK; n++) {
        struct step step = step_of(n);
        int64_t length = length_of(step.tile, NULL);
        for (int64_t i = 0; i < length; i++)
            values[first_of[step.tile] + i] +=
                times * step.alpha * value_of(step.chance, i);
    }
    return values;
}

struct expected {
    const double *values;
    const int64_t *first_of;
    int64_t seen;
};

static void see_tile(int64_t tile, const double *values, int64_t length,
                     void *context)
{
    struct expected *expected = context;
    expected->seen++;
    CHECK_EQ_INT(length, length_of(tile, NULL));
    CHECK(memcmp(values, expected->values + expected->first_of[tile],
                 (size_t)length * sizeof *values) == 0);
}

static void check_own(void)
{
    for (int64_t tile = 0; tile < tasks_in_job; tile++) {
        double *values;
        int64_t length;
        if (ek_tiles_owner(own, tile) != job_rank)
            continue;
        CHECK_OK(ek_tiles_local(own, tile, &values, &length));
        check_values(values, mix((uint64_t)tile), length, "put", tile);
    }
}

static void check_sums(int times)
{
    int64_t first_of[TILES], all = 0;
    double *serial = serial_sums(first_of, times), norm, squares = 0;
    struct expected expected = {serial, first_of, 0};
    for (int64_t tile = 0; tile < TILES; tile++)
        all += length_of(tile, NULL);
    for (int64_t i = 0; i < all; i++)
        squares += serial[i] * serial[i];
    JOB_OK(ek_tiles_norm(sums, &norm));
    CHECK_NEAR(norm, sqrt(squares), 1e-12 * sqrt(squares));
    JOB_OK(ek_tiles_gather(sums, see_tile, &expected));
    CHECK_EQ_INT(expected.seen, job_rank == 0 ? TILES : 0);
    for (int64_t tile = 0; tile < TILES; tile++) {
        double *values;
        int64_t length;
        if (ek_tiles_owner(sums, tile) != job_rank)
            continue;
        CHECK_OK(ek_tiles_local(sums, tile, &values, &length));
        see_tile(tile, values, length, &expected);
    }
    free(serial);
}

/* Most tasks on rank 0, so that others steal. */
static void add_tasks(ek_collection *tasks, ek_function function)
{
    for (int64_t task = 0; task < tasks_in_job; task++) {
        int rank = task % 4 == 0 ? (int)(task / 4 % job_size) : 0;
        if (rank == job_rank)
            CHECK_OK(ek_add_task(tasks, function, &task, sizeof task, NULL));
    }
}

static void run(const ek_options *given)
{
    ek_options options = *given;
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = make_flights;
    hooks.destroy = free_flights;
    options.hooks = &hooks;
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "add", add_task, NULL);
    tasks_in_job = accumulates / PER_TASK / ITERATIONS + 1;
    sums = make_tiles(tasks, "sums", TILES, length_of);
    fixed = make_tiles(tasks, "fixed", TILES, length_of);
    own = make_tiles(tasks, "own", tasks_in_job, own_length);
    fill_fixed();
    add_tasks(tasks, function);
    for (int i = 1; i <= ITERATIONS; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(report.tasks, tasks_in_job);
        JOB_OK(ek_tiles_sync(sums));
        check_own();
        JOB_OK(ek_tiles_fill(own, 0));
        if (i % 2 == 0)
            JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
    }
    check_sums(ITERATIONS);
    ek_tiles_destroy(&sums);
    ek_tiles_destroy(&fixed);
    ek_tiles_destroy(&own);
    ek_destroy(&tasks);
}

static void sums_are_the_serial_ones(void)
{
    ek_options options = job_options();
    run(&options);
}

static void sums_are_the_serial_ones_beside_server_threads(void)
{
    ek_options options = job_options();
    options.progress = EK_PROGRESS_SERVER;
    options.steal = EK_STEAL_NEAR;
    run(&options);
}

static void sums_are_the_serial_ones_by_the_counter(void)
{
    ek_options options = job_options();
    options.steal = EK_STEAL_COUNTER;
    run(&options);
}

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
                                 MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int level = argc > 4 ? atoi(argv[4]) : 2;
    job_start(argc, argv, levels[level & 3]);
    if (argc > 3)
        accumulates = atoll(argv[3]);
    JOB_RUN(sums_are_the_serial_ones);
    if (level > 0)
        JOB_RUN(sums_are_the_serial_ones_beside_server_threads);
    JOB_RUN(sums_are_the_serial_ones_by_the_counter);
    return job_result();
}
