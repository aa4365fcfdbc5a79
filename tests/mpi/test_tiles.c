/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles: what tasks put, add and get, and what all ranks do between
 * iterations. */
#include "job.h"

#include <evenkeel_tiles.h>

#include <math.h>
#include <string.h>

enum {
    TILES = 41,
    LONGEST = 1700, /* doubles: several messages */
    SHARES = 3      /* of each tile, added by each rank */
};

/* What the tasks of a test work on; they note what is wrong. */
struct job_tiles {
    ek_tiles *tiles;
    ek_tiles *other;
    _Atomic int64_t wrong;
    _Atomic int64_t ran;
};

static int64_t length_of(int64_t tile, void *context)
{
    (void)context;
    return tile % 4 == 0 ? LONGEST : 1 + tile * 7 % 600;
}

static int owner_of(int64_t tile, void *context)
{
    (void)context;
    return (int)(tile * 5 / 3 % job_size);
}

static double value_at(int64_t tile, int64_t i)
{
    return (double)(tile * 10000 + i);
}

static int64_t tile_count = TILES; /* in the small mode more than fit */

static ek_tiles *make(ek_collection *tasks, int64_t cache_bytes)
{
    ek_tiles *tiles = NULL;
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = "test";
    shape.count = tile_count;
    shape.length_of = length_of;
    shape.owner_of = owner_of;
    shape.cache_bytes = cache_bytes;
    JOB_STATUS(ek_tiles_create(tasks, &shape, &tiles), EK_OK);
    return tiles;
}

/* So many indices on this rank; all ranks process. */
static void run(ek_collection *tasks, ek_function function, int64_t count)
{
    CHECK_EQ_INT(ek_add_range(tasks, function, 0, count), EK_OK);
    JOB_STATUS(ek_process(tasks, NULL), EK_OK);
    CHECK_EQ_INT(ek_clear(tasks), EK_OK);
}

static void note(struct job_tiles *job, int64_t wrong)
{
    if (wrong != 0)
        atomic_fetch_add_explicit(&job->wrong, wrong, memory_order_relaxed);
    atomic_fetch_add_explicit(&job->ran, 1, memory_order_relaxed);
}

static int64_t index_of(const void *payload)
{
    int64_t index;
    memcpy(&index, payload, sizeof index);
    return index;
}

/* Rank 0 alone has the tasks of this: each tile is put once. */
static int put_tile(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    struct job_tiles *job = context;
    int64_t tile = index_of(payload), length = length_of(tile, NULL);
    double values[LONGEST];
    (void)bytes;
    for (int64_t i = 0; i < length; i++)
        values[i] = value_at(tile, i);
    note(job, ek_tiles_put(worker, job->tiles, tile, values, length) != EK_OK);
    return 0;
}

static int add_share(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    struct job_tiles *job = context;
    int64_t tile = index_of(payload) % TILES, length = length_of(tile, NULL);
    double values[LONGEST];
    (void)bytes;
    for (int64_t i = 0; i < length; i++)
        values[i] = value_at(tile, i);
    note(job, ek_tiles_accumulate(worker, job->tiles, tile, 0.5, values,
                                  length) != EK_OK);
    return 0;
}

static int64_t count_wrong(int64_t tile, const double *values, double scale)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < length_of(tile, NULL); i++)
        wrong += values[i] != scale * value_at(tile, i);
    return wrong;
}

static int get_tile(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    struct job_tiles *job = context;
    int64_t tile = index_of(payload) % TILES;
    double values[LONGEST];
    (void)bytes;
    ek_status status =
        ek_tiles_get(worker, job->tiles, tile, values, length_of(tile, NULL));
    note(job, status != EK_OK || count_wrong(tile, values, 1.0) != 0);
    return 0;
}

/* More than may be under way at a time, in both directions. */
static int start_all(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    struct job_tiles *job = context;
    ek_transfer gets[TILES], adds[TILES];
    int64_t wrong = 0;
    double *values = malloc((size_t)2 * TILES * LONGEST * sizeof *values);
    (void)payload, (void)bytes;
    for (int64_t tile = 0; tile < TILES; tile++) {
        double *added = values + (2 * tile + 1) * LONGEST;
        int64_t length = length_of(tile, NULL);
        for (int64_t i = 0; i < length; i++)
            added[i] = value_at(tile, i);
        wrong += ek_tiles_get_start(worker, job->tiles, tile,
                                    values + 2 * tile * LONGEST, length,
                                    &gets[tile]) != EK_OK;
        wrong += ek_tiles_accumulate_start(worker, job->other, tile, 2.0, added,
                                           length, &adds[tile]) != EK_OK;
    }
    for (int64_t tile = TILES - 1; tile >= 0; tile--) {
        wrong += ek_tiles_wait(worker, &gets[tile]) != EK_OK;
        wrong += ek_tiles_wait(worker, &adds[tile]) != EK_OK;
        wrong += ek_tiles_wait(worker, &adds[tile]) != EK_OK;
        wrong += count_wrong(tile, values + 2 * tile * LONGEST, 1.0);
    }
    free(values);
    note(job, wrong);
    return 0;
}

/* The values of this rank's own tiles. */
static void check_local(ek_tiles *tiles, double scale)
{
    for (int64_t tile = 0; tile < TILES; tile++) {
        double *values = NULL;
        int64_t length = 0;
        CHECK_EQ_INT(ek_tiles_owner(tiles, tile), owner_of(tile, NULL));
        CHECK_EQ_INT(ek_tiles_length(tiles, tile), length_of(tile, NULL));
        if (owner_of(tile, NULL) != job_rank)
            continue;
        if (CHECK_EQ_INT(ek_tiles_local(tiles, tile, &values, &length),
                         EK_OK) &&
            CHECK_EQ_INT(length, length_of(tile, NULL)))
            CHECK_EQ_INT(count_wrong(tile, values, scale), 0);
    }
}

static void expect(struct job_tiles *job, int64_t ran)
{
    CHECK_EQ_INT(job->wrong, 0);
    CHECK_EQ_INT(job_sum(job->ran), ran);
    job->ran = 0;
}

static void tiles_are_put_got_and_added(void)
{
    static struct job_tiles job;
    ek_options options = job_options();
    ek_collection *tasks = job_create(&options);
    ek_function put = job_register(tasks, "put", put_tile, &job);
    ek_function get = job_register(tasks, "get", get_tile, &job);
    ek_function add = job_register(tasks, "add", add_share, &job);
    job.tiles = make(tasks, 0);
    CHECK_EQ_INT(ek_tiles_count(job.tiles), tile_count);
    run(tasks, put, job_rank == 0 ? TILES : 0);
    expect(&job, TILES);
    check_local(job.tiles, 1.0);
    run(tasks, get, 2 * TILES);
    expect(&job, (int64_t)2 * TILES * job_size);
    JOB_STATUS(ek_tiles_fill(job.tiles, 0.0), EK_OK);
    run(tasks, add, (int64_t)SHARES * TILES);
    expect(&job, (int64_t)SHARES * TILES * job_size);
    check_local(job.tiles, 0.5 * SHARES * job_size);
    ek_tiles_destroy(&job.tiles);
    CHECK(job.tiles == NULL);
    ek_destroy(&tasks);
}

static void many_transfers_are_under_way(void)
{
    static struct job_tiles job;
    ek_options options = job_options();
    ek_collection *tasks = job_create(&options);
    ek_function put = job_register(tasks, "put", put_tile, &job);
    ek_function all = job_register(tasks, "all", start_all, &job);
    job.tiles = make(tasks, 0);
    job.other = make(tasks, 0);
    run(tasks, put, job_rank == 0 ? TILES : 0);
    expect(&job, TILES);
    run(tasks, all, SHARES);
    expect(&job, (int64_t)SHARES * job_size);
    check_local(job.other, 2.0 * SHARES * job_size);
    ek_tiles_destroy(&job.other);
    ek_tiles_destroy(&job.tiles);
    ek_destroy(&tasks);
}

struct gathered {
    int64_t tiles, wrong;
    int owner;
};

static void visit(int64_t tile, const double *values, int64_t length,
                  void *context)
{
    struct gathered *gathered = context;
    gathered->tiles++;
    gathered->wrong += length != length_of(tile, NULL) ||
                       owner_of(tile, NULL) < gathered->owner ||
                       count_wrong(tile, values, 1.0) != 0;
    gathered->owner = owner_of(tile, NULL);
}

static void all_values_are_normed_and_gathered(void)
{
    static struct job_tiles job;
    struct gathered gathered = {0};
    double norm = -1, sum = 0;
    int64_t doubles = 0;
    ek_options options = job_options();
    ek_collection *tasks = job_create(&options);
    ek_function put = job_register(tasks, "put", put_tile, &job);
    job.tiles = make(tasks, 0);
    for (int64_t tile = 0; tile < TILES; tile++) {
        doubles += length_of(tile, NULL);
        for (int64_t i = 0; i < length_of(tile, NULL); i++)
            sum += value_at(tile, i) * value_at(tile, i);
    }
    JOB_STATUS(ek_tiles_norm(job.tiles, &norm), EK_OK);
    CHECK(norm == 0);
    JOB_STATUS(ek_tiles_fill(job.tiles, 3.0), EK_OK);
    JOB_STATUS(ek_tiles_norm(job.tiles, &norm), EK_OK);
    CHECK(fabs(norm - 3.0 * sqrt((double)doubles)) < 1e-9 * norm);
    run(tasks, put, job_rank == 0 ? TILES : 0);
    JOB_STATUS(ek_tiles_norm(job.tiles, &norm), EK_OK);
    CHECK(fabs(norm - sqrt(sum)) < 1e-9 * norm);
    JOB_STATUS(ek_tiles_gather(job.tiles, visit, &gathered), EK_OK);
    CHECK_EQ_INT(gathered.tiles, job_rank == 0 ? TILES : 0);
    CHECK_EQ_INT(gathered.wrong, 0);
    ek_tiles_destroy(&job.tiles);
    ek_destroy(&tasks);
}

static int lines_about_memory;

static void note_line(ek_level level, const char *line, void *context)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
    if (level == EK_LEVEL_WARN && strstr(line, "private memory"))
        lines_about_memory++;
    CHECK(level != EK_LEVEL_ERROR);
}

/* The mount has no room: values travel on a lone node, too, which is said once,
 * with figures and the remedy. */
static void small_mount_makes_tiles_private(void)
{
    tile_count = 4000;
    ek_set_sink(note_line, NULL, EK_LEVEL_WARN);
    tiles_are_put_got_and_added();
    many_transfers_are_under_way();
    CHECK_EQ_INT(job_sum(lines_about_memory), 1);
}

int main(int argc, char **argv)
{
    bool is_small = argc > 3 && strcmp(argv[3], "small") == 0;
    int level = argc > 3 && !is_small ? atoi(argv[3]) : MPI_THREAD_SERIALIZED;
    job_start(argc, argv, level);
    if (is_small) {
        JOB_RUN(small_mount_makes_tiles_private);
        return job_result();
    }
    JOB_RUN(tiles_are_put_got_and_added);
    JOB_RUN(many_transfers_are_under_way);
    JOB_RUN(all_values_are_normed_and_gathered);
    return job_result();
}
