/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a store of which every rank owns more than half of what it may
 * take: made, filled, got, added to, read as a whole and destroyed, a rank
 * never has more than its tiles, the caches, and 5 %.
 *
 *     test_high_water RANKS WORKERS [MIB]
 *
 * MIB are those of a rank's tiles.
 */
#include "job.h"

#include <evenkeel_tiles.h>

#include <inttypes.h>

enum {
    LENGTH = 8192,         /* doubles of a tile: 64 KiB */
    CACHE_BYTES = 1 << 20, /* of each worker */
    STEPS = 8              /* of a task */
};

static int64_t mib = 20;
static int64_t tiles_in_job;
static ek_tiles *tiles;
static double most; /* bytes that the ranks had together, when looked at */

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 27;
}

/* Bytes in a line of a file, which says KiB; 0: there is none. */
static double bytes_of(const char *path, const char *key)
{
    char line[512];
    double bytes = 0;
    int64_t kib;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0 &&
            sscanf(line + strlen(key), ": %" SCNd64, &kib) == 1)
            bytes = (double)kib * 1024;
    }
    if (file)
        fclose(file);
    return bytes;
}

/* Of this rank, with its part of what ranks share. */
static double part_now(void)
{
    return bytes_of("/proc/self/smaps_rollup", "Pss_Anon") +
           bytes_of("/proc/self/smaps_rollup", "Pss_Shmem");
}

/* Of all ranks; collective. */
static double all_now(void)
{
    double sum = part_now();
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void look(void)
{
    double now = all_now();
    most = now > most ? now : most;
}

/* Let the high-water mark of this process start anew; false: it does not. */
static bool reset_mark(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    bool is_done = file && fputs("5", file) >= 0;
    if (file)
        is_done = fclose(file) == 0 && is_done;
    return is_done;
}

/* Ranks that share memory, for which the mark counts what is shared. */
static bool shares_memory(void)
{
    const char *set = getenv("EVENKEEL_RANKS_PER_NODE");
    return job_size > 1 && (!set || strcmp(set, "1") != 0);
}

static int use_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    double *values = ek_worker_data(worker);
    int64_t number;
    (void)bytes, (void)context;
    memcpy(&number, payload, sizeof number);
    for (int i = 0; i < STEPS; i++) {
        int64_t tile =
            (int64_t)(mix((uint64_t)(number * STEPS + i)) >> 8) % tiles_in_job;
        ek_status status =
            i % 2 == 0
                ? ek_tiles_get(worker, tiles, tile, values, LENGTH)
                : ek_tiles_accumulate(worker, tiles, tile, 1.0, values, LENGTH);
        CHECK_OK(status);
    }
    return 0;
}

static void see(int64_t tile, const double *values, int64_t length,
                void *context)
{
    (void)tile, (void)values;
    *(int64_t *)context += length;
}

static void use_store(ek_collection *tasks)
{
    int64_t seen = 0;
    double norm;
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.count = tiles_in_job;
    shape.length = LENGTH;
    shape.cache_bytes = CACHE_BYTES;
    JOB_OK(ek_tiles_create(tasks, &shape, &tiles));
    look();
    JOB_OK(ek_tiles_fill(tiles, 1.0));
    look();
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, NULL));
        look();
        JOB_OK(ek_tiles_sync(tiles));
    }
    JOB_OK(ek_tiles_norm(tiles, &norm));
    JOB_OK(ek_tiles_gather(tiles, see, &seen));
    CHECK_EQ_INT(seen, job_rank == 0 ? tiles_in_job * LENGTH : 0);
    look();
    ek_tiles_destroy(&tiles);
}

static void *make_values(int here, void *context)
{
    (void)here, (void)context;
    double *values = malloc(LENGTH * sizeof *values);
    for (int i = 0; values && i < LENGTH; i++)
        values[i] = 1;
    return values;
}

static void free_values(void *values, void *context)
{
    (void)context;
    free(values);
}

static void expect_at_most(double value, double limit, const char *what)
{
    if (value <= limit)
        return;
    fprintf(stderr, "rank %d: %s: %.0f KiB; allowed: %.0f KiB\n", job_rank,
            what, value / 1024, limit / 1024);
    check_count(false);
}

static void a_store_takes_little_more_than_its_tiles(void)
{
    ek_options options = job_options();
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = make_values;
    hooks.destroy = free_values;
    options.hooks = &hooks;
    ek_collection *tasks = job_create(&options);
    ek_function use = job_register(tasks, "use", use_task, NULL);
    tiles_in_job = mib * job_size * 16;
    double owned = (double)mib * 1024 * 1024;
    double limit = 1.05 * owned + (double)job_workers * CACHE_BYTES;
    /* Once to warm up. */
    tiles_in_job = job_size;
    for (int64_t i = 0; i < 40; i++)
        CHECK_OK(ek_add_task(tasks, use, &i, sizeof i, NULL));
    use_store(tasks);
    tiles_in_job = mib * job_size * 16;
    double before = all_now();
    bool is_marked = reset_mark();
    double resident = bytes_of("/proc/self/status", "VmRSS");
    most = 0;
    use_store(tasks);
    expect_at_most((most - before) / job_size, limit, "a rank in the mean");
    double mark = bytes_of("/proc/self/status", "VmHWM");
    if (is_marked && !shares_memory())
        expect_at_most(mark - resident, limit, "high-water mark");
    MPI_Barrier(MPI_COMM_WORLD);
    expect_at_most((all_now() - before) / job_size, limit - owned, "left");
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    if (argc > 3)
        mib = atoll(argv[3]);
    JOB_RUN(a_store_takes_little_more_than_its_tiles);
    return job_result();
}
