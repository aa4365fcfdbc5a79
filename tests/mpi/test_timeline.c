/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timeline: the states of each worker follow each other without gap or
 * overlap, and come to what the report says, in iterations that run tasks,
 * indices and what a pull loop fetches; only where it is asked for.
 *
 *     test_timeline RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_pull.h>
#include <evenkeel_tiles.h>

#include <dirent.h>
#include <limits.h>

enum {
    TASKS = 30, /* per worker */
    NAP_US = 1000,
    INDICES = 40, /* per worker */
    INDEX_US = 300,
    ITERATIONS = 4,
    KINDS = 24,
    TILE = 1000,
    /* docs/reference/file-formats.md */
    HEAD = 180,
    TRACK_HEAD = 32
};

enum kind {
    OUTSIDE,
    RESTORE,
    START,
    TASK,
    BATCH,
    BETWEEN,
    LOOK,
    AWAIT,
    DATA,
    TILES,
    END,
    STARVED,
    LEAVE,
    GONE
};

static char folder[PATH_MAX];

/* What the workers of this rank did in an iteration. */
struct seen {
    double entered, left, longest; /* ns */
    double ns[KINDS];
    int64_t tasks;
};

/* What the report says of all ranks. */
struct said {
    double work_s, search_s, end_s, data_wait_s, late_s;
    int64_t tasks;
};

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static unsigned char *read_all(const char *name, long *bytes)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.%06d.ekt", folder, name, job_rank);
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    *bytes = 0;
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = ftell(file);
    rewind(file);
    data = malloc((size_t)*bytes + 1);
    if (!data || fread(data, 1, (size_t)*bytes, file) != (size_t)*bytes)
        *bytes = 0;
    fclose(file);
    return data;
}

/* The next whole block at *AT; its kind, or NULL. */
static const char *next_block(const unsigned char *data, long bytes, long *at,
                              const unsigned char **body, long *length)
{
    const unsigned char *head = data + *at;
    if (*at + 16 > bytes)
        return NULL;
    *length = (long)number(head + 8, 8);
    *body = head + 16;
    *at += 16 + *length + 4;
    return *at <= bytes ? (const char *)head : NULL;
}

/* Share a state of a worker out among the iterations. */
static void add_state(struct seen *seen, int count, int kind, uint64_t begin,
                      uint64_t end)
{
    for (int i = 0; i < count; i++) {
        double from = fmax((double)begin, seen[i].entered);
        double to = fmin((double)end, seen[i].left);
        seen[i].ns[kind] += fmax(to - from, 0);
    }
}

static void add_track(struct seen *seen, int count, const unsigned char *body,
                      long length, uint64_t *last)
{
    uint64_t base = number(body + 8, 8), end = number(body + 16, 8);
    CHECK(*last == 0 || *last == base);
    *last = end;
    int state = -1;
    uint64_t begin = base;
    for (long at = TRACK_HEAD; at < length; at += 16) {
        uint64_t head = number(body + at, 8), value = number(body + at + 8, 8);
        uint64_t now = base + (head & ((UINT64_C(1) << 44) - 1));
        int kind = (int)(head >> 44 & 31);
        CHECK(kind < KINDS && now <= end);
        if (kind >= 16)
            continue;
        CHECK(now >= begin);
        if (state >= 0)
            add_state(seen, count, state, begin, now);
        else
            CHECK(now == base);
        for (int i = 0; i < count; i++)
            if ((kind == TASK || kind == BATCH) && !(head >> 63) &&
                (double)now >= seen[i].entered && (double)now < seen[i].left)
                seen[i].tasks += kind == TASK ? 1 : (int64_t)value;
        state = kind;
        begin = now;
    }
    if (state >= 0)
        add_state(seen, count, state, begin, end);
    if (state == GONE)
        *last = 0;
}

/* Sum up what the file of this rank says of COUNT iterations; whether it has
 * come to its end. */
static bool read_timeline(const char *name, struct seen *seen, int count)
{
    long bytes, at = HEAD, length;
    const unsigned char *body;
    const char *kind;
    unsigned char *data = read_all(name, &bytes);
    uint64_t last[8] = {0};
    int found = 0;
    bool has_ended = false, has_clock = false;
    if (!CHECK(data && bytes > HEAD && memcmp(data, "EKTIMELN", 8) == 0)) {
        free(data);
        return false;
    }
    CHECK_EQ_INT(number(data + 32, 4), job_rank);
    CHECK_EQ_INT(number(data + 44, 4), job_workers);
    while ((kind = next_block(data, bytes, &at, &body, &length))) {
        if (memcmp(kind, "ITER", 4) == 0 && found < count)
            seen[found++] =
                (struct seen){.entered = (double)number(body + 8, 8),
                              .left = (double)number(body + 16, 8),
                              .longest = (double)number(body + 24, 8)};
        has_ended = memcmp(kind, "END!", 4) == 0;
        has_clock |= memcmp(kind, "CLCK", 4) == 0;
        if (memcmp(kind, "CLCK", 4) == 0)
            CHECK(number(body + 16, 8) < 1000000000);
    }
    CHECK_EQ_INT(found, count);
    CHECK(has_clock);
    at = HEAD;
    while ((kind = next_block(data, bytes, &at, &body, &length))) {
        int track = (int)number(body, 4);
        if (memcmp(kind, "TRCK", 4) == 0 && CHECK(track <= job_workers)) {
            struct seen nobody = {0};
            bool is_worker = track < job_workers;
            add_track(is_worker ? seen : &nobody, is_worker ? count : 1, body,
                      length, &last[track]);
        }
    }
    free(data);
    return has_ended;
}

static double sum_of(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

static void compare(const struct seen *seen, const struct said *said)
{
    const double *ns = seen->ns;
    double stay = seen->left - seen->entered, sum = 0;
    for (int kind = 0; kind < KINDS; kind++)
        sum += ns[kind];
    /* Times are whole nanoseconds, but as doubles. */
    CHECK_NEAR(sum, stay * job_workers, 100);
    double most = 0.01e-9 * sum_of(stay * job_workers);
    CHECK_NEAR(sum_of(ns[TASK] + ns[BATCH] + ns[TILES] + ns[STARVED]) * 1e-9,
               said->work_s, most);
    CHECK_NEAR(sum_of(ns[LOOK] + ns[AWAIT]) * 1e-9, said->search_s, most);
    CHECK_NEAR(sum_of(ns[END]) * 1e-9, said->end_s, most);
    CHECK_NEAR(sum_of(ns[DATA]) * 1e-9, said->data_wait_s, most);
    CHECK_NEAR(sum_of((seen->longest - stay) * job_workers) * 1e-9,
               said->late_s, most);
    CHECK_EQ_INT(job_sum(seen->tasks), said->tasks);
    CHECK_NEAR(ns[OUTSIDE] + ns[RESTORE] + ns[GONE], 0, 0);
}

static struct said hear(const ek_collection *tasks)
{
    return (struct said){.work_s = job_figure(tasks, "work_s"),
                         .search_s = job_figure(tasks, "search_s"),
                         .end_s = job_figure(tasks, "end_s"),
                         .data_wait_s = job_figure(tasks, "data_wait_s"),
                         .late_s = job_figure(tasks, "late_s"),
                         .tasks = job_count(tasks, "tasks")};
}

static int nap(ek_worker *worker, const void *payload, size_t bytes,
               void *context)
{
    (void)worker, (void)payload, (void)bytes;
    job_nap(*(const int64_t *)context);
    return 0;
}

static ek_collection *make(const char *name, const char *where)
{
    ek_options options = job_options();
    options.name = name;
    job_set(&options, "timeline", where);
    return job_create(&options);
}

/* Tasks, more on rank 0, and indices that only rank 0 has. */
static void states_come_to_the_report(void)
{
    static int64_t long_us = NAP_US, short_us = INDEX_US;
    struct seen seen[ITERATIONS] = {{0}};
    struct said said[ITERATIONS];
    ek_collection *tasks = make("measured", folder);
    ek_function naps = job_register(tasks, "nap", nap, &long_us);
    ek_function indices = job_register(tasks, "index", nap, &short_us);
    int n = TASKS * job_workers * (job_rank == 0 ? 2 : 1);
    for (int i = 0; i < n; i++)
        CHECK_OK(ek_add_task(tasks, naps, NULL, 0, NULL));
    if (job_rank == 0)
        CHECK_OK(
            ek_add_range(tasks, indices, 0, INDICES * job_workers * job_size));
    for (int i = 0; i < ITERATIONS; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        JOB_OK(ek_process(tasks, &report));
        said[i] = hear(tasks);
        job_nap(1000);
        JOB_OK(ek_restore(
            tasks, i == 1 ? EK_RESTORE_CENTRALIZED : EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
    CHECK(read_timeline("measured", seen, ITERATIONS));
    for (int i = 0; i < ITERATIONS; i++)
        compare(&seen[i], &said[i]);
}

/* Only the first worker fetches: the others come at the end. */
static void a_pull_loop_is_told(void)
{
    struct seen seen[2] = {{0}};
    struct said said[2];
    ek_collection *tasks = make("pulled", folder);
    ek_function fetched = job_register(tasks, "fetched", NULL, NULL);
    for (int i = 0; i < TASKS; i++)
        CHECK_OK(ek_add_task(tasks, fetched, NULL, 0, NULL));
    for (int i = 0; i < 2; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        ek_task task;
        JOB_OK(ek_begin(tasks));
        while (ek_next(tasks, 0, &task) == EK_OK && task.worker)
            job_nap(NAP_US);
        JOB_OK(ek_end(tasks, &report));
        said[i] = hear(tasks);
    }
    ek_destroy(&tasks);
    CHECK(read_timeline("pulled", seen, 2));
    for (int i = 0; i < 2; i++)
        compare(&seen[i], &said[i]);
}

/* Pauses for checkpoints are restores inside of their iteration. */
static void pauses_are_restores(void)
{
    static int64_t us = NAP_US;
    struct seen seen[1] = {{0}};
    char saves[] = "/tmp/evenkeel-timeline-XXXXXX", checkpoint[80];
    ek_options options = job_options();
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    job_make_folder(saves);
    snprintf(checkpoint, sizeof checkpoint, "%s@every:10ms", saves);
    options.name = "pauses";
    job_set(&options, "timeline", folder);
    job_set(&options, "checkpoint", checkpoint);
    job_set(&options, "on_stop", "continue");
    ek_collection *tasks = job_create(&options);
    ek_function naps = job_register(tasks, "nap", nap, &us);
    for (int i = 0; i < 50000 / NAP_US * job_workers; i++)
        CHECK_OK(ek_add_task(tasks, naps, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, &report));
    struct said said = hear(tasks);
    ek_destroy(&tasks);
    CHECK(read_timeline("pauses", seen, 1));
    double paused = seen->ns[RESTORE] / job_workers;
    CHECK(sum_of(paused) > 0);
    /* As if there had been none, of any rank. */
    seen->left -= paused;
    seen->ns[RESTORE] = 0;
    CHECK_EQ_INT(job_sum(seen->tasks), said.tasks);
    double sum = 0;
    for (int kind = 0; kind < KINDS; kind++)
        sum += seen->ns[kind];
    double stay = seen->left - seen->entered;
    CHECK_NEAR(sum, stay * job_workers, 100);
    CHECK_NEAR(sum_of(seen->ns[TASK] + seen->ns[BATCH] + seen->ns[STARVED]) *
                   1e-9,
               said.work_s, 0.01e-9 * sum_of(stay * job_workers));
    job_remove_folder(saves);
}

static ek_tiles *store;

static int get_tile(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    double values[TILE];
    int64_t tile;
    (void)bytes, (void)context;
    memcpy(&tile, payload, sizeof tile);
    CHECK_OK(ek_tiles_get(worker, store, tile, values, TILE));
    job_nap(NAP_US / 2);
    CHECK_OK(ek_tiles_accumulate(worker, store, tile, 1, values, TILE));
    return 0;
}

static void waits_for_tiles_are_told(void)
{
    struct seen seen[1] = {{0}};
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    ek_collection *tasks = make("tiled", folder);
    ek_function gets = job_register(tasks, "get", get_tile, NULL);
    shape.name = "values";
    shape.count = TASKS * job_size;
    shape.length = TILE;
    JOB_OK(ek_tiles_create(tasks, &shape, &store));
    for (int64_t i = 0; i < TASKS * job_size; i++)
        if (i % job_size == (job_rank + 1) % job_size)
            CHECK_OK(ek_add_task(tasks, gets, &i, sizeof i, NULL));
    JOB_OK(ek_process(tasks, &report));
    struct said said = hear(tasks);
    double waited = job_figure(tasks, "tile_wait_s");
    ek_tiles_destroy(&store);
    ek_destroy(&tasks);
    CHECK(read_timeline("tiled", seen, 1));
    /* What other tasks were served meanwhile is not the time of the task. */
    double tiles_s = sum_of(seen->ns[TILES]) * 1e-9;
    double stay_s = sum_of((seen->left - seen->entered) * job_workers) * 1e-9;
    CHECK_NEAR(tiles_s, waited, 0.01 * stay_s);
    CHECK_EQ_INT(job_sum(seen->tasks), said.tasks);
}

/* Without a report, and with nothing to do, no worker steps. */
static void empty_iterations_are_told(void)
{
    struct seen seen[3] = {{0}};
    ek_collection *tasks = make("empty", folder);
    for (int i = 0; i < 3; i++)
        JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    CHECK(read_timeline("empty", seen, 3));
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int kind = 0; kind < KINDS; kind++)
            sum += seen[i].ns[kind];
        CHECK_NEAR(sum, (seen[i].left - seen[i].entered) * job_workers, 100);
    }
}

static void a_list_says_which_iterations(void)
{
    static int64_t us = NAP_US;
    struct seen seen[3] = {{0}};
    char list[3 * PATH_MAX];
    snprintf(list, sizeof list, "%s,listed:%s@1,listed:%s@3-4", "0", folder,
             folder);
    setenv("EVENKEEL_TIMELINE", list, 1);
    ek_collection *tasks = make("listed", "0");
    unsetenv("EVENKEEL_TIMELINE");
    ek_function naps = job_register(tasks, "nap", nap, &us);
    CHECK_OK(ek_add_task(tasks, naps, NULL, 0, NULL));
    for (int i = 0; i < 6; i++)
        JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    CHECK(read_timeline("listed", seen, 3));
    for (int i = 0; i < 3; i++)
        CHECK_EQ_INT(job_sum(seen[i].tasks), job_size);
}

static int said_lines;

static void listen(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    said_lines += strstr(line, "/proc/none") != NULL;
}

/* One rank says so for all. */
static void without_a_file_the_job_goes_on(void)
{
    static int64_t us = NAP_US;
    ek_collection *tasks = make("nowhere", "/proc/none");
    ek_function naps = job_register(tasks, "nap", nap, &us);
    CHECK_OK(ek_add_task(tasks, naps, NULL, 0, NULL));
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
    for (int i = 0; i < 2; i++)
        JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    ek_set_sink(NULL, NULL, EK_LEVEL_WARN);
    CHECK_EQ_INT(job_sum(said_lines), 1);
}

static void make_folder(void)
{
    const char *place = getenv("TMPDIR");
    if (job_rank == 0) {
        snprintf(folder, sizeof folder, "%s/timeline.XXXXXX",
                 place ? place : "/tmp");
        CHECK(mkdtemp(folder) != NULL);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void remove_folder(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    DIR *directory = job_rank == 0 ? opendir(folder) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (directory)
        closedir(directory);
    if (job_rank == 0)
        rmdir(folder);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_MULTIPLE);
    make_folder();
    JOB_RUN(states_come_to_the_report);
    JOB_RUN(a_pull_loop_is_told);
    JOB_RUN(pauses_are_restores);
    JOB_RUN(waits_for_tiles_are_told);
    JOB_RUN(empty_iterations_are_told);
    JOB_RUN(a_list_says_which_iterations);
    JOB_RUN(without_a_file_the_job_goes_on);
    remove_folder();
    return job_result();
}
