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
    double expected;
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
    JOB_OK(ek_tiles_create(tasks, &shape, &tiles));
    return tiles;
}

/* So many indices on this rank; all ranks process. */
static void run(ek_collection *tasks, ek_function function, int64_t count)
{
    CHECK_OK(ek_add_range(tasks, function, 0, count));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_OK(ek_clear(tasks));
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
            added[i] = 2 * value_at(tile, i);
        wrong += ek_tiles_get_start(worker, job->tiles, tile,
                                    values + 2 * tile * LONGEST, length,
                                    &gets[tile]) != EK_OK;
        wrong += ek_tiles_accumulate_start(worker, job->other, tile, added,
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
        if (CHECK_OK(ek_tiles_local(tiles, tile, &values, &length)) &&
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
    ek_collection *tasks = job_create(NULL);
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
    JOB_OK(ek_tiles_fill(job.tiles, 0.0));
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
    ek_collection *tasks = job_create(NULL);
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

/* More pieces than buffers and windows have room for. */
enum {
    LONG_TILES = 4,
    LONG = 170000 /* doubles */
};

static double long_value(int64_t tile, int64_t i)
{
    return (double)(tile * 1000000 + i);
}

static int put_long(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    struct job_tiles *job = context;
    int64_t tile = index_of(payload);
    double *values = malloc(LONG * sizeof *values);
    (void)bytes;
    for (int64_t i = 0; i < LONG; i++)
        values[i] = long_value(tile, i);
    note(job, ek_tiles_put(worker, job->tiles, tile, values, LONG) != EK_OK);
    free(values);
    return 0;
}

/* All of them at once, in both directions; others ask the same meanwhile. */
static int move_long(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    struct job_tiles *job = context;
    ek_transfer gets[LONG_TILES], adds[LONG_TILES];
    int64_t wrong = 0;
    double *values = malloc((LONG_TILES + 1) * LONG * sizeof *values);
    double *added = values + LONG_TILES * (int64_t)LONG;
    (void)payload, (void)bytes;
    for (int64_t i = 0; i < LONG; i++)
        added[i] = (double)i;
    for (int64_t tile = 0; tile < LONG_TILES; tile++) {
        wrong +=
            ek_tiles_get_start(worker, job->tiles, tile, values + tile * LONG,
                               LONG, &gets[tile]) != EK_OK;
        wrong += ek_tiles_accumulate_start(worker, job->other, tile, added,
                                           LONG, &adds[tile]) != EK_OK;
        ek_poll(worker);
    }
    for (int64_t tile = 0; tile < LONG_TILES; tile++) {
        wrong += ek_tiles_wait(worker, &gets[tile]) != EK_OK;
        wrong += ek_tiles_wait(worker, &adds[tile]) != EK_OK;
        for (int64_t i = 0; i < LONG; i++)
            wrong += values[tile * LONG + i] != long_value(tile, i);
    }
    free(values);
    note(job, wrong);
    return 0;
}

static void long_tiles_go_both_ways(ek_collection *tasks)
{
    static struct job_tiles job;
    ek_function put = job_register(tasks, "put", put_long, &job);
    ek_function move = job_register(tasks, "move", move_long, &job);
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.count = LONG_TILES;
    shape.length = LONG;
    JOB_OK(ek_tiles_create(tasks, &shape, &job.tiles));
    JOB_OK(ek_tiles_create(tasks, &shape, &job.other));
    run(tasks, put, job_rank == 0 ? LONG_TILES : 0);
    expect(&job, LONG_TILES);
    run(tasks, move, 2);
    expect(&job, (int64_t)2 * job_size);
    for (int64_t tile = job_rank; tile < LONG_TILES; tile += job_size) {
        double *values = NULL;
        int64_t length = 0, wrong = 0;
        CHECK_OK(ek_tiles_local(job.other, tile, &values, &length));
        for (int64_t i = 0; i < length; i++)
            wrong += values[i] != 2.0 * (double)(i * job_size);
        CHECK_EQ_INT(wrong, 0);
    }
    ek_tiles_destroy(&job.other);
    ek_tiles_destroy(&job.tiles);
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

static void all_values_are_normed_and_gathered(ek_collection *tasks)
{
    static struct job_tiles job;
    struct gathered gathered = {0};
    double norm = -1, sum = 0;
    int64_t doubles = 0;
    ek_function put = job_register(tasks, "put", put_tile, &job);
    job.tiles = make(tasks, 0);
    for (int64_t tile = 0; tile < TILES; tile++) {
        doubles += length_of(tile, NULL);
        for (int64_t i = 0; i < length_of(tile, NULL); i++)
            sum += value_at(tile, i) * value_at(tile, i);
    }
    JOB_OK(ek_tiles_norm(job.tiles, &norm));
    CHECK(norm == 0);
    JOB_OK(ek_tiles_fill(job.tiles, 3.0));
    JOB_OK(ek_tiles_norm(job.tiles, &norm));
    CHECK(fabs(norm - 3.0 * sqrt((double)doubles)) < 1e-9 * norm);
    run(tasks, put, job_rank == 0 ? TILES : 0);
    JOB_OK(ek_tiles_norm(job.tiles, &norm));
    CHECK(fabs(norm - sqrt(sum)) < 1e-9 * norm);
    JOB_OK(ek_tiles_gather(job.tiles, visit, &gathered));
    CHECK_EQ_INT(gathered.tiles, job_rank == 0 ? TILES : 0);
    CHECK_EQ_INT(gathered.wrong, 0);
    ek_tiles_destroy(&job.tiles);
}

/* Whether each rank is a node, by itself or as it is said to be. */
static bool is_apart(void)
{
    const char *ranks_per_node = getenv("EVENKEEL_RANKS_PER_NODE");
    int sharing = 0;
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &host);
    MPI_Comm_size(host, &sharing);
    MPI_Comm_free(&host);
    return sharing == 1 || (ranks_per_node && strcmp(ranks_per_node, "1") == 0);
}

/* What a worker has got it has until a sync; what it puts itself it sees. */
static int use_cache(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    struct job_tiles *job = context;
    int64_t tile = (job_rank + 1) % job_size, wrong = 0;
    int64_t length = length_of(0, NULL);
    double values[LONGEST], twice[LONGEST];
    (void)payload, (void)bytes;
    for (int round = 0; round < 3; round++)
        wrong +=
            ek_tiles_get(worker, job->tiles, tile, values, length) != EK_OK;
    for (int64_t i = 0; i < length; i++) {
        wrong += values[i] != job->expected;
        twice[i] = 2 * values[i];
    }
    wrong += ek_tiles_put(worker, job->tiles, tile, twice, length) != EK_OK;
    wrong += ek_tiles_get(worker, job->tiles, tile, values, length) != EK_OK;
    for (int64_t i = 0; i < length; i++)
        wrong += values[i] != 2 * job->expected;
    note(job, wrong);
    return 0;
}

/* Each rank uses a tile of the next one, in one task. */
static void caches_hold_until_a_sync(ek_collection *tasks)
{
    static struct job_tiles job;
    ek_function use = job_register(tasks, "use", use_cache, &job);
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    int64_t gets = is_apart() && job_size > 1 ? 4 * job_size : 0;
    shape.count = job_size;
    shape.length = LONGEST;
    shape.cache_bytes = 20000;
    JOB_OK(ek_set_option(tasks, "steal", "none"));
    JOB_OK(ek_tiles_create(tasks, &shape, &job.tiles));
    for (int round = 0; round < 3; round++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        job.expected = round;
        JOB_OK(ek_tiles_fill(job.tiles, round));
        CHECK_OK(ek_add_range(tasks, use, 0, 1));
        JOB_OK(ek_process(tasks, &report));
        CHECK_OK(ek_clear(tasks));
        expect(&job, job_size);
        CHECK_EQ_INT(job_count(tasks, "tile_gets"), gets);
        CHECK_EQ_INT(job_count(tasks, "tile_hits"), gets / 2);
        CHECK_EQ_INT(job_count(tasks, "tile_bytes"),
                     gets / 4 * 3 * LONGEST * 8);
        CHECK((job_figure(tasks, "tile_wait_s") > 0) == (gets > 0));
    }
    ek_tiles_destroy(&job.tiles);
}

/* Tasks of a collection that is older than the store, and of one that is
 * younger; neither made it. */
static void stores_are_for_all_collections(void)
{
    static struct job_tiles job;
    ek_options options = job_options();
    ek_collection *older = job_create(&options);
    ek_collection *tasks = job_create(&options);
    job.tiles = make(tasks, 0);
    ek_collection *younger = job_create(&options);
    ek_function put = job_register(older, "put", put_tile, &job);
    ek_function get = job_register(younger, "get", get_tile, &job);
    run(older, put, job_rank == 0 ? TILES : 0);
    expect(&job, TILES);
    check_local(job.tiles, 1.0);
    run(younger, get, TILES);
    expect(&job, (int64_t)TILES * job_size);
    ek_destroy(&older);
    run(younger, get, TILES);
    expect(&job, (int64_t)TILES * job_size);
    /* Its messages are longer than those of others. */
    options.payload_bytes = 20000;
    ek_collection *wide = job_create(&options);
    get = job_register(wide, "get", get_tile, &job);
    run(wide, get, TILES);
    expect(&job, (int64_t)TILES * job_size);
    ek_destroy(&wide);
    ek_tiles_destroy(&job.tiles);
    ek_destroy(&tasks);
    ek_destroy(&younger);
}

/* Each call must fail so, with these words. */
static int64_t is_refused(ek_status status, ek_status expected,
                          const char *words)
{
    bool is_so = status == expected && strstr(ek_error_message(), words);
    if (!is_so)
        fprintf(stderr, "%s: %s instead of %s ... %s\n", __func__,
                ek_error_message(), ek_status_string(expected), words);
    return !is_so;
}

static _Atomic(ek_worker *) kept; /* of any worker that has run one */

static int misuse(ek_worker *worker, const void *payload, size_t bytes,
                  void *context)
{
    struct job_tiles *job = context;
    ek_transfer transfer = {0}, none = {7};
    double values[LONGEST];
    int64_t wrong = 0, length = length_of(0, NULL);
    (void)payload, (void)bytes;
    atomic_store(&kept, worker);
    wrong += is_refused(ek_tiles_get(worker, job->tiles, -1, values, length),
                        EK_ERR_ARG,
                        "ek_tiles_get: tile -1 of 'test'; allowed: "
                        "0 ... 40");
    wrong += is_refused(ek_tiles_put(worker, job->tiles, TILES, values, 1),
                        EK_ERR_ARG, "ek_tiles_put: tile 41");
    wrong += is_refused(
        ek_tiles_accumulate(worker, job->tiles, 0, 1, values, length - 1),
        EK_ERR_ARG, "1699 doubles for tile 0 of 'test'; allowed: 1700");
    wrong += is_refused(ek_tiles_get(worker, job->tiles, 0, NULL, length),
                        EK_ERR_ARG, "values is NULL");
    wrong += is_refused(ek_tiles_get(worker, NULL, 0, values, length),
                        EK_ERR_ARG, "the store is NULL");
    wrong += is_refused(ek_tiles_get(NULL, job->tiles, 0, values, length),
                        EK_ERR_ARG, "worker is NULL");
    wrong += is_refused(
        ek_tiles_get_start(worker, job->tiles, 0, values, length, NULL),
        EK_ERR_ARG, "transfer is NULL");
    wrong += is_refused(
        ek_tiles_get_start(worker, job->other, 0, values, length, &transfer),
        EK_ERR_STATE, "the store 'test' is destroyed");
    wrong += is_refused(ek_tiles_wait(worker, &none), EK_ERR_ARG,
                        "the transfer must have been started");
    wrong += ek_tiles_wait(worker, &transfer) != EK_OK;
    wrong += is_refused(ek_tiles_local(job->tiles, 0, NULL, NULL), EK_ERR_STATE,
                        "between iterations");
    /* Not all ranks run as many tasks: nobody waits for another. */
    wrong += is_refused(ek_tiles_sync(job->tiles), EK_ERR_STATE,
                        "between iterations");
    wrong += is_refused(ek_tiles_fill(job->tiles, 1), EK_ERR_STATE,
                        "between iterations");
    wrong += is_refused(ek_tiles_norm(job->tiles, values), EK_ERR_STATE,
                        "between iterations");
    note(job, wrong);
    return 0;
}

static void hush(ek_level level, const char *line, void *context)
{
    (void)level, (void)line, (void)context;
}

static void bad_calls_of_tasks_are_refused(ek_collection *tasks)
{
    static struct job_tiles job;
    ek_function bad = job_register(tasks, "misuse", misuse, &job);
    double values[LONGEST], *own = NULL;
    int64_t length = 0;
    ek_set_sink(hush, NULL, EK_LEVEL_NONE);
    job.tiles = make(tasks, 0);
    job.other = make(tasks, 0);
    ek_tiles *other = job.other;
    ek_tiles_destroy(&other);
    run(tasks, bad, job_rank == 0);
    expect(&job, 1);
    run(tasks, bad, 2);
    expect(&job, (int64_t)2 * job_size);
    if (atomic_load(&kept))
        CHECK_EQ_INT(is_refused(ek_tiles_get(atomic_load(&kept), job.tiles, 0,
                                             values, length_of(0, NULL)),
                                EK_ERR_STATE, "no iteration is open"),
                     0);
    CHECK_EQ_INT(is_refused(ek_tiles_local(job.tiles, TILES, &own, &length),
                            EK_ERR_ARG, "tile 41"),
                 0);
    for (int64_t tile = 0; tile < TILES; tile++) {
        if (owner_of(tile, NULL) != job_rank)
            CHECK_EQ_INT(
                is_refused(ek_tiles_local(job.tiles, tile, &own, &length),
                           EK_ERR_ARG, "allowed: own tiles"),
                0);
    }
    CHECK_EQ_INT(ek_tiles_owner(job.tiles, -1), -1);
    CHECK_EQ_INT(ek_tiles_owner(job.tiles, TILES), -1);
    CHECK_EQ_INT(ek_tiles_length(job.tiles, TILES), 0);
    JOB_STATUS(ek_tiles_norm(job.tiles, NULL), EK_ERR_ARG);
    JOB_STATUS(ek_tiles_gather(job.tiles, NULL, NULL), EK_ERR_ARG);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    ek_tiles_destroy(&job.tiles);
}

/* One rank returns nonsense. */
static int64_t length_of_last(int64_t tile, void *context)
{
    const int64_t *wrong = context;
    return tile == 33 && job_rank == job_size - 1 ? wrong[0] : 5;
}

static int owner_of_last(int64_t tile, void *context)
{
    const int64_t *wrong = context;
    return tile == 33 && job_rank == job_size - 1 ? (int)wrong[1] : 0;
}

/* On all ranks alike, whichever of them is wrong. */
static int64_t huge(int64_t tile, void *context)
{
    (void)tile, (void)context;
    return INT64_C(1) << 50;
}

static int last_rank(int64_t tile, void *context)
{
    (void)tile, (void)context;
    return job_size - 1;
}

static int look_at_both(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    struct job_tiles *job = context;
    ek_tiles *tiles[] = {job->tiles, job->other};
    double values[LONGEST];
    int64_t wrong = 0, tile = index_of(payload);
    int64_t length = length_of(tile, NULL);
    (void)bytes;
    for (int s = 0; s < 2; s++) {
        wrong += ek_tiles_get(worker, tiles[s], tile, values, length) != EK_OK;
        for (int64_t i = 0; i < length; i++)
            wrong += values[i] != s + 1;
    }
    note(job, wrong);
    return 0;
}

/* The last rank alone has no memory for a store: the next ones are as good. */
static void failed_stores_leave_the_others_alone(ek_collection *tasks)
{
    static struct job_tiles job;
    ek_function look = job_register(tasks, "look", look_at_both, &job);
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    ek_tiles *tiles = NULL;
    shape.count = 1;
    shape.length_of = huge;
    shape.owner_of = last_rank;
    ek_set_sink(hush, NULL, EK_LEVEL_NONE);
    JOB_STATUS(ek_tiles_create(tasks, &shape, &tiles), EK_ERR_NOMEM);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    job.tiles = make(tasks, 0);
    job.other = make(tasks, 0);
    JOB_OK(ek_tiles_fill(job.tiles, 1));
    JOB_OK(ek_tiles_fill(job.other, 2));
    run(tasks, look, TILES);
    expect(&job, (int64_t)TILES * job_size);
    ek_tiles_destroy(&job.tiles);
    ek_tiles_destroy(&job.other);
}

static int get_destroyed(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    struct job_tiles *job = context;
    double value = 0;
    (void)payload, (void)bytes;
    note(job, is_refused(ek_tiles_get(worker, job->tiles, 0, &value, 1),
                         EK_ERR_STATE, "the store 'test' is destroyed"));
    return 0;
}

/* Another collection has never looked at the store while it was there. */
static void stores_that_went_with_their_collection_are_refused(void)
{
    static struct job_tiles job;
    ek_options options = job_options();
    ek_collection *first = job_create(&options);
    ek_collection *other = job_create(&options);
    ek_function get = job_register(other, "get", get_destroyed, &job);
    double norm = 0;
    job.tiles = make(first, 0);
    ek_set_sink(hush, NULL, EK_LEVEL_NONE);
    ek_destroy(&first);
    run(other, get, 2);
    expect(&job, (int64_t)2 * job_size);
    CHECK_EQ_INT(is_refused(ek_tiles_norm(job.tiles, &norm), EK_ERR_STATE,
                            "is destroyed"),
                 0);
    CHECK_EQ_INT(ek_tiles_count(job.tiles), 0);
    CHECK_EQ_INT(ek_tiles_owner(job.tiles, 0), -1);
    CHECK_EQ_INT(ek_tiles_length(NULL, 0), 0);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    ek_tiles_destroy(&job.tiles);
    ek_destroy(&other);
}

static void bad_shapes_are_refused(ek_collection *tasks)
{
    static const struct {
        int64_t wrong[2];
        const char *words;
    } cases[] = {{{0, 0}, "tile 33 of 'tiles' has 0 doubles"},
                 {{5, -1}, "tile 33 of 'tiles' belongs to rank -1"},
                 {{5, 99}, "allowed: 0 ... "},
                 {{6, 0},
                  "ranks differ in tile 33 of 'tiles': on rank 0 it "
                  "has 5 doubles and belongs to rank 0, on rank"}};
    ek_tiles *tiles = NULL;
    ek_set_sink(hush, NULL, EK_LEVEL_NONE);
    for (int i = 0; i < (job_size > 1 ? 4 : 3); i++) {
        int64_t wrong[2] = {cases[i].wrong[0], cases[i].wrong[1]};
        ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
        shape.count = 100;
        shape.length_of = length_of_last;
        shape.owner_of = owner_of_last;
        shape.context = wrong;
        JOB_STATUS(ek_tiles_create(tasks, &shape, &tiles), EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), cases[i].words);
        CHECK(tiles == NULL);
    }
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.count = job_rank == 0 ? 3 : 4;
    shape.length = 2;
    JOB_STATUS(ek_tiles_create(tasks, &shape, &tiles),
               job_size > 1 ? EK_ERR_ARG : EK_OK);
    if (job_size > 1)
        CHECK_HAS_TEXT(ek_error_message(), "on rank 0 count is 3");
    ek_tiles_destroy(&tiles);
    shape.count = -1;
    JOB_STATUS(ek_tiles_create(tasks, &shape, &tiles), EK_ERR_ARG);
    shape.count = 0;
    shape.cache_bytes = job_rank == job_size - 1 ? -1 : 0;
    JOB_STATUS(ek_tiles_create(tasks, &shape, &tiles), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "cache_bytes of 'tiles' is -1");
    JOB_STATUS(ek_tiles_create(tasks, NULL, &tiles), EK_ERR_ARG);
    shape.cache_bytes = 0;
    shape.name = "";
    JOB_STATUS(ek_tiles_create(tasks, &shape, &tiles), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "name is empty; allowed: a name, or");
    shape.name = NULL;
    JOB_OK(ek_tiles_create(tasks, &shape, &tiles));
    JOB_OK(ek_tiles_fill(tiles, 1.0));
    ek_tiles_destroy(&tiles);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
}

/* Ends with transfers that it has not waited for; of the last tile, so that it
 * is that of another node where there is one. */
static int return_early(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    /* What is under way is the library's until the task has ended. */
    static double buffers[16][3 * LONGEST];
    struct job_tiles *job = context;
    double *values = buffers[ek_worker_here(worker)];
    ek_transfer get, put, add;
    int64_t wrong = 0, tile = (job_rank + 1) % job_size;
    (void)payload, (void)bytes;
    memset(values, 0, sizeof buffers[0]);
    wrong += ek_tiles_get_start(worker, job->tiles, tile, values, LONGEST,
                                &get) != EK_OK;
    wrong += ek_tiles_put_start(worker, job->tiles, tile, values + LONGEST,
                                LONGEST, &put) != EK_OK;
    wrong +=
        ek_tiles_accumulate_start(worker, job->tiles, tile,
                                  values + 2 * LONGEST, LONGEST, &add) != EK_OK;
    note(job, wrong);
    return 0;
}

static void open_transfers_fail_their_task(void)
{
    static struct job_tiles job;
    ek_options options = job_options();
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    options.on_failure = EK_ON_FAILURE_CONTINUE;
    ek_collection *tasks = job_create(&options);
    ek_function early = job_register(tasks, "early", return_early, &job);
    ek_function get = job_register(tasks, "get", use_cache, &job);
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    bool fails = is_apart() && job_size > 1;
    shape.count = job_size;
    shape.length = LONGEST;
    JOB_OK(ek_set_option(tasks, "steal", "none"));
    JOB_OK(ek_tiles_create(tasks, &shape, &job.tiles));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(ek_add_range(tasks, early, 0, 20));
        JOB_OK(ek_process(tasks, &report));
        CHECK_OK(ek_clear(tasks));
        expect(&job, (int64_t)20 * job_size);
        CHECK_EQ_INT(job_count(tasks, "failed"), fails ? 20 * job_size : 0);
        /* What comes for them in the next iteration does not count. */
        JOB_OK(ek_tiles_fill(job.tiles, 5));
        job.expected = 5;
        CHECK_OK(ek_add_range(tasks, get, 0, 1));
        JOB_OK(ek_process(tasks, &report));
        CHECK_OK(ek_clear(tasks));
        expect(&job, job_size);
    }
    ek_tiles_destroy(&job.tiles);
    ek_destroy(&tasks);
}

/* Rank 0 changes its mind about who has which tile. */
static int owner_that_moves(int64_t tile, void *context)
{
    return (int)((tile + *(const int *)context) % job_size);
}

static int wait_in_vain(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    struct job_tiles *job = context;
    double values[2][2];
    ek_transfer transfers[2];
    int64_t wrong = 0;
    (void)payload, (void)bytes;
    for (int i = 0; i < 2; i++)
        wrong += ek_tiles_get_start(worker, job->tiles, (int64_t)i * job_size,
                                    values[i], 2, &transfers[i]) != EK_OK;
    for (int i = 0; i < 2; i++)
        wrong += ek_tiles_wait(worker, &transfers[i]) != EK_ERR_MPI;
    note(job, wrong);
    return 0;
}

/* The owner refuses both; neither wait says that something has come. */
static void waits_end_where_communication_fails(void)
{
    static struct job_tiles job;
    static int shift;
    ek_options options = job_options();
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = job_create(&options);
    ek_function wait = job_register(tasks, "wait", wait_in_vain, &job);
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    if (is_apart() && job_size > 1) {
        shape.count = (int64_t)2 * job_size;
        shape.length = 2;
        shape.owner_of = owner_that_moves;
        shape.context = &shift;
        JOB_OK(ek_tiles_create(tasks, &shape, &job.tiles));
        ek_set_sink(hush, NULL, EK_LEVEL_NONE);
        shift = job_rank == 0;
        CHECK_OK(ek_add_range(tasks, wait, 0, job_rank == 0));
        JOB_STATUS(ek_process(tasks, NULL), EK_ERR_MPI);
        expect(&job, 1);
        ek_tiles_destroy(&job.tiles);
        ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    }
    ek_destroy(&tasks);
}

static int lines_about_level;

static void note_level(ek_level level, const char *line, void *context)
{
    (void)context;
    if (level == EK_LEVEL_WARN && strstr(line, "below MPI_THREAD_SERIALIZED"))
        lines_about_level++;
}

/* Once, by rank 0, where a worker depends on another for its tiles. */
static void low_level_is_warned_of(void)
{
    int level = 0;
    MPI_Query_thread(&level);
    ek_set_sink(note_level, NULL, EK_LEVEL_WARN);
    ek_collection *tasks = job_create(NULL);
    ek_tiles *tiles = make(tasks, 0);
    ek_tiles_destroy(&tiles);
    tiles = make(tasks, 0);
    ek_tiles_destroy(&tiles);
    ek_destroy(&tasks);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK_EQ_INT(job_sum(lines_about_level),
                 is_apart() && job_size > 1 && job_workers > 1 && level < 2);
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
    JOB_RUN(low_level_is_warned_of);
    JOB_RUN(tiles_are_put_got_and_added);
    JOB_RUN(many_transfers_are_under_way);
    JOB_RUN_TASKS(long_tiles_go_both_ways);
    JOB_RUN_TASKS(all_values_are_normed_and_gathered);
    JOB_RUN_TASKS(caches_hold_until_a_sync);
    JOB_RUN(stores_are_for_all_collections);
    JOB_RUN_TASKS(bad_calls_of_tasks_are_refused);
    JOB_RUN_TASKS(failed_stores_leave_the_others_alone);
    JOB_RUN(stores_that_went_with_their_collection_are_refused);
    JOB_RUN_TASKS(bad_shapes_are_refused);
    JOB_RUN(open_transfers_fail_their_task);
    JOB_RUN(waits_end_where_communication_fails);
    return job_result();
}
