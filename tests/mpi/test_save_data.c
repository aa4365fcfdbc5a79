/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves of tiles, and of tasks whose data has owners: the first three ranks
 * save, any number of ranks load.  Whatever write fails on a rank, all hear of
 * it, and the save before is whole.
 *
 *     test_save_data RANKS WORKERS
 */
#define _GNU_SOURCE
#include "some.h"

#include <dirent.h>
#include <errno.h>
#include <evenkeel_data.h>
#include <evenkeel_loop.h>
#include <evenkeel_save.h>
#include <evenkeel_tiles.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    TILES = 50,
    LONG = 17, /* a tile of more than a block of a file */
    LONG_DOUBLES = 150000,
    TASKS = 40,   /* of each rank that saves */
    INDICES = 60, /* of a function with data, too */
    NUMBERS = 3 * TASKS + INDICES,
    PATH = 256
};

static char folder[] = "/tmp/evenkeel-saved-XXXXXX", path[PATH];
static int owner_shift;

/* A collection of the first N ranks; NULL: this is another one. */
static ek_collection *make_on(int n, ek_options options)
{
    ek_collection *tasks = NULL;
    take_ranks(n);
    if (is_in)
        CHECK_OK(ek_create(some, &options, &tasks));
    return tasks;
}

static int64_t length_of(int64_t tile, void *context)
{
    (void)context;
    return tile == LONG ? LONG_DOUBLES : 1 + tile % 5;
}

static int owner_of(int64_t tile, void *context)
{
    int size;
    (void)context;
    MPI_Comm_size(some, &size);
    return (int)((tile / 7 + owner_shift) % size);
}

static double value_of(int store, int64_t tile, int64_t i)
{
    return store + 1e-3 * (double)tile + 1e3 * (double)i;
}

static ek_tiles_shape shape_of(int store)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.count = TILES;
    shape.length = 3;
    if (store == 1) {
        shape.name = "lengthy";
        shape.length_of = length_of;
        shape.owner_of = owner_of;
    }
    return shape;
}

static void make_stores(ek_collection *tasks, ek_tiles *stores[2])
{
    for (int s = 0; tasks && s < 2; s++) {
        ek_tiles_shape shape = shape_of(s);
        CHECK_OK(ek_tiles_create(tasks, &shape, &stores[s]));
    }
}

/* Write own tiles, or compare them. */
static void visit_stores(ek_tiles *stores[2], bool is_write)
{
    double *values;
    int64_t length;
    for (int64_t k = 0; k < 2 * TILES; k++) {
        int s = (int)(k / TILES);
        int64_t tile = k % TILES, wrong = 0;
        if (ek_tiles_owner(stores[s], tile) != job_rank)
            continue;
        CHECK_OK(ek_tiles_local(stores[s], tile, &values, &length));
        for (int64_t i = 0; i < length; i++) {
            if (is_write)
                values[i] = value_of(s, tile, i);
            wrong += values[i] != value_of(s, tile, i);
        }
        CHECK_EQ_INT(wrong, 0);
    }
}

static void save_tiles(void)
{
    ek_tiles *stores[2];
    ek_tiles_shape shape = shape_of(0);
    ek_tiles *gone = NULL;
    ek_collection *tasks = make_on(savers(), job_options());
    snprintf(path, PATH, "%s/tiles", folder);
    /* The place of one that is gone is taken again: the order is that of
     * making. */
    if (tasks)
        CHECK_OK(ek_tiles_create(tasks, &shape, &gone));
    for (int s = 0; tasks && s < 2; s++) {
        shape = shape_of(s);
        CHECK_OK(ek_tiles_create(tasks, &shape, &stores[s]));
        ek_tiles_destroy(&gone);
    }
    if (tasks) {
        visit_stores(stores, true);
        CHECK_OK(ek_save(tasks, path));
        for (int s = 0; s < 2; s++)
            ek_tiles_destroy(&stores[s]);
    }
    leave_ranks(&tasks);
}

static void load_tiles(int ranks)
{
    ek_tiles *stores[2];
    ek_collection *tasks = make_on(ranks, job_options());
    make_stores(tasks, stores);
    JOB_OK(tasks ? ek_load(tasks, path) : EK_OK);
    if (tasks)
        visit_stores(stores, false);
    for (int s = 0; tasks && s < 2; s++)
        ek_tiles_destroy(&stores[s]);
    leave_ranks(&tasks);
}

static void tiles_are_loaded_on_any_number_of_ranks(void)
{
    save_tiles();
    for (int ranks = 1; ranks <= job_size; ranks++)
        load_tiles(ranks);
    owner_shift = 1;
    load_tiles(savers());
    owner_shift = 0;
}

static void other_stores_are_refused(void)
{
    for (int i = 0; i < 4; i++) {
        ek_tiles *stores[2] = {NULL, NULL};
        ek_collection *tasks = make_on(savers(), job_options());
        for (int s = 0; tasks && s < (i == 0 ? 1 : 2); s++) {
            ek_tiles_shape shape = shape_of(s);
            if (i == 1)
                shape.name = "other";
            if (i == 2)
                shape.count += s;
            if (i == 3)
                shape.length_of = NULL;
            CHECK_OK(ek_tiles_create(tasks, &shape, &stores[s]));
        }
        FAILS(ek_load(tasks, path), EK_ERR_ARG,
              i == 0   ? "are 1 stores of tiles, the save has 2"
              : i == 1 ? "'other' of 50 tiles is not 'tiles' of 50"
                       : "is not 'lengthy' of 50");
        for (int s = 0; s < 2; s++)
            ek_tiles_destroy(&stores[s]);
        leave_ranks(&tasks);
    }
}

/* Data of tasks and indices by their numbers: what this rank has, and who had
 * it when it was saved.  So little moves at no cost. */
static struct datum {
    bool is_here;
    float value;
} data[NUMBERS];
static double saved_values[NUMBERS];
static int saved_homes[NUMBERS];
static uint64_t saved_ids[NUMBERS];
static ek_function work, indices;
static int64_t first_number[2] = {0, 3 * TASKS}; /* of these */
static int last_number; /* of the indices that there are */

static int64_t number_of(const ek_task *task)
{
    int64_t number;
    memcpy(&number, task->payload, sizeof number);
    return number + first_number[task->function == indices];
}

static size_t pack(const ek_task *task, void *buffer, void *context)
{
    const struct datum *datum = &data[number_of(task)];
    (void)context;
    CHECK(datum->is_here);
    memcpy(buffer, &datum->value, sizeof datum->value);
    return sizeof datum->value;
}

static void unpack(const ek_task *task, const void *buffer, size_t bytes,
                   void *context)
{
    struct datum *datum = &data[number_of(task)];
    (void)context;
    CHECK_EQ_INT(datum->is_here, !task->is_new);
    datum->is_here = true;
    memcpy(&datum->value, buffer, bytes);
}

static void release_datum(const ek_task *task, void *context)
{
    (void)context;
    data[number_of(task)].is_here = false;
}

/* Each run of a task adds one to its datum. */
static int add_one(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    const int64_t *first = context;
    int64_t number;
    (void)bytes;
    memcpy(&number, payload, sizeof number);
    float *away = ek_task_data(worker);
    ek_set_cost(worker, 1e-3 * (double)(1 + number % 7));
    if (away) {
        *away += 1;
    } else {
        CHECK(data[number + *first].is_here);
        data[number + *first].value += 1;
    }
    return 0;
}

/* Most are on rank 0, from where their tasks go to all ranks. */
static int told_home(int64_t number, int ranks)
{
    return number % 3 == 0 ? (int)(number % ranks) : 0;
}

static int by_number(const ek_task *task, void *context)
{
    uint64_t id = saved_ids[number_of(task)];
    CHECK_EQ_INT(task->count, 1);
    CHECK_EQ_INT(task->bytes, sizeof(int64_t));
    CHECK(task->id == id);
    return told_home(number_of(task), *(const int *)context);
}

static ek_collection *make_with_data(int ranks, const char *how, int workers)
{
    ek_data_ops ops = EK_DATA_OPS_INIT;
    ek_options options = job_options();
    options.restore = EK_RESTORE_CENTRALIZED;
    options.workers = workers;
    options.ignore_environment = workers != job_workers;
    CHECK_OK(ek_options_set(&options, "ranks_per_node", "2"));
    CHECK_OK(ek_options_set(&options, "data", how));
    ek_collection *tasks = make_on(ranks, options);
    if (!tasks)
        return NULL;
    work = job_register(tasks, "work", add_one, &first_number[0]);
    indices = job_register(tasks, "indices", add_one, &first_number[1]);
    ops.bytes_max = sizeof(float);
    ops.pack_input = pack;
    ops.unpack_result = unpack;
    ops.release = release_datum;
    CHECK_OK(ek_set_data_ops(tasks, work, &ops));
    CHECK_OK(ek_set_data_ops(tasks, indices, &ops));
    return tasks;
}

/* What a visitor fills: of each number its tasks here, and their home. */
struct seen {
    int times[NUMBERS], homes[NUMBERS];
    uint64_t ids[NUMBERS];
};

static bool see(const ek_task *task, void *context)
{
    struct seen *seen = context;
    for (int64_t k = 0; k < task->count; k++) {
        seen->times[number_of(task) + k]++;
        seen->homes[number_of(task) + k] = task->home;
        seen->ids[number_of(task) + k] = task->id + (uint64_t)k;
    }
    return true;
}

/* Of all ranks; each number is there once. */
static void look(ek_collection *tasks, struct seen *seen)
{
    memset(seen, 0, sizeof *seen);
    if (tasks)
        CHECK_OK(ek_visit_tasks(tasks, see, seen));
    MPI_Allreduce(MPI_IN_PLACE, seen->times, 2 * NUMBERS, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, seen->ids, NUMBERS, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < NUMBERS; i++)
        CHECK_EQ_INT(seen->times[i],
                     i < savers() * TASKS ||
                         (i >= first_number[1] && i < last_number));
}

/* Every datum is on one rank, which is the home of its task. */
static void check_homes(const struct seen *seen)
{
    for (int i = 0; i < NUMBERS; i++)
        CHECK(seen->times[i] == 0 ||
              data[i].is_here == (is_in && seen->homes[i] == job_rank));
}

/* Of numbers from FIRST on. */
static void make_data(const struct seen *seen, int first)
{
    for (int i = first; i < NUMBERS; i++)
        data[i] = (struct datum){is_in && seen->times[i] > 0 &&
                                     seen->homes[i] == job_rank,
                                 (float)i};
}

static void save_data(const char *how)
{
    static struct seen seen;
    ek_collection *tasks = make_with_data(savers(), how, job_workers);
    memset(data, 0, sizeof data);
    snprintf(path, PATH, "%s/%s", folder, how);
    if (tasks)
        CHECK_OK(ek_set_range(tasks, indices, INDICES / 2));
    last_number = NUMBERS - INDICES / 2;
    for (int64_t i = 0; tasks && i < TASKS; i++) {
        int64_t number = job_rank * TASKS + i;
        CHECK_OK(ek_add_task(tasks, work, &number, sizeof number, NULL));
    }
    look(tasks, &seen);
    make_data(&seen, 0);
    for (int i = 0; tasks && i < 2; i++)
        CHECK_OK(ek_process(tasks, NULL));
    /* Half of the indices have never run, so they are ranges. */
    if (tasks) {
        CHECK_OK(ek_set_range(tasks, indices, INDICES));
        CHECK_OK(ek_save(tasks, path));
    }
    last_number = NUMBERS;
    look(tasks, &seen);
    make_data(&seen, NUMBERS - INDICES / 2);
    check_homes(&seen);
    for (int i = 0; i < NUMBERS; i++)
        saved_values[i] = data[i].is_here ? data[i].value : 0;
    memcpy(saved_homes, seen.homes, sizeof saved_homes);
    memcpy(saved_ids, seen.ids, sizeof saved_ids);
    MPI_Allreduce(MPI_IN_PLACE, saved_values, NUMBERS, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    leave_ranks(&tasks);
}

/* This rank has the data of all numbers whose home it is. */
static void take_data(const int *homes)
{
    for (int i = 0; i < NUMBERS; i++)
        data[i] = (struct datum){is_in && homes[i] == job_rank,
                                 (float)saved_values[i]};
}

static void load_data(const char *how, int ranks, int workers, bool has_owner)
{
    static struct seen seen;
    int homes[NUMBERS];
    ek_collection *tasks = make_with_data(ranks, how, workers);
    bool is_told = ranks == savers() || has_owner;
    for (int i = 0; i < NUMBERS; i++)
        homes[i] = ranks == savers() ? saved_homes[i] : told_home(i, ranks);
    memset(data, 0, sizeof data);
    if (is_told)
        take_data(homes);
    if (tasks && has_owner)
        CHECK_OK(ek_set_owner(tasks, by_number, &ranks));
    JOB_OK(tasks ? ek_load(tasks, path) : EK_OK);
    look(tasks, &seen);
    if (!is_told) {
        int here = 0;
        for (int i = 0; i < first_number[1]; i++)
            here += seen.times[i] > 0 && seen.homes[i] == job_rank;
        CHECK(!is_in || 2 * ranks * here > savers() * TASKS);
        take_data(seen.homes);
    }
    for (int i = 0; i < NUMBERS && is_told; i++)
        CHECK(seen.times[i] == 0 || seen.homes[i] == homes[i]);
    check_homes(&seen);
    for (int i = 0; i < NUMBERS; i++)
        CHECK(seen.ids[i] == saved_ids[i]);
    for (int n = 1; n <= 2; n++) {
        if (tasks)
            CHECK_OK(ek_process(tasks, NULL));
        for (int i = 0; i < NUMBERS; i++)
            CHECK(!data[i].is_here || seen.times[i] == 0 ||
                  data[i].value == saved_values[i] + n);
        if (tasks)
            CHECK_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
        look(tasks, &seen);
        check_homes(&seen);
    }
    leave_ranks(&tasks);
}

static void data_has_its_homes(void)
{
    for (int follows = 0; follows < 2; follows++) {
        const char *how = follows ? "follow" : "return";
        save_data(how);
        for (int ranks = 1; ranks <= job_size; ranks++) {
            load_data(how, ranks, job_workers, true);
            load_data(how, ranks, job_workers, false);
        }
        load_data(how, savers(), job_workers + 1, false);
    }
}

static int nowhere(const ek_task *task, void *context)
{
    (void)task;
    return *(const int *)context;
}

static void other_owners_are_refused(void)
{
    int rank = job_size;
    ek_collection *tasks = make_on(1, job_options());
    FAILS(ek_set_owner(tasks, nowhere, &rank), EK_ERR_STATE, "has data");
    leave_ranks(&tasks);
    /* The last save is of data that has followed. */
    tasks = make_with_data(savers(), "return", job_workers);
    if (savers() > 1)
        FAILS(ek_load(tasks, path), EK_ERR_ARG, "data=follow");
    leave_ranks(&tasks);
    for (int i = 0; i < 2; i++) {
        tasks = make_with_data(2, "follow", job_workers);
        rank = i == 0 ? 2 : job_rank;
        if (tasks)
            CHECK_OK(ek_set_owner(tasks, nowhere, &rank));
        FAILS(ek_load(tasks, path), i == 0 ? EK_ERR_ARG : EK_ERR_FILE,
              i == 0 ? "is rank 2; allowed: 0 ... 1" : "the same on all ranks");
        leave_ranks(&tasks);
    }
}

/* Of such calls the next N-th fails; visible to the library. */
static struct {
    int fwrite, fflush, fsync, rename;
} to_failure;

static bool fails(int *count)
{
    errno = ENOSPC;
    return --*count == 0;
}

#define SEEN __attribute__((visibility("default")))

SEEN size_t fwrite(const void *from, size_t size, size_t n, FILE *file)
{
    return fails(&to_failure.fwrite) ? 0 : fwrite_unlocked(from, size, n, file);
}

SEEN int fflush(FILE *file)
{
    return fails(&to_failure.fflush) ? EOF : fflush_unlocked(file);
}

SEEN int fsync(int file)
{
    return fails(&to_failure.fsync) ? -1 : (int)syscall(SYS_fsync, file);
}

SEEN int rename(const char *from, const char *to)
{
    return fails(&to_failure.rename) ? -1
                                     : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* The program's own file of a save. */
static int write_own(const char *prefix, void *context)
{
    char name[2 * PATH];
    (void)context;
    snprintf(name, sizeof name, "%s.%d", prefix, job_rank);
    FILE *file = fopen(name, "wb");
    bool is_good = file && fwrite(data, sizeof data, 1, file) == 1;
    return file && fclose(file) == 0 && is_good ? 0 : 1;
}

/* A number that tells which files are in the folder, and since when. */
static uint64_t look_at_folder(void)
{
    DIR *open = opendir(path);
    uint64_t sum = 0;
    for (const struct dirent *entry; open && (entry = readdir(open));) {
        struct stat status;
        if (entry->d_name[0] == '.' ||
            fstatat(dirfd(open), entry->d_name, &status, 0) != 0)
            continue;
        sum += (uint64_t)status.st_ino * (1 + (uint64_t)status.st_size) +
               (uint64_t)status.st_mtim.tv_sec * 1000000000 +
               (uint64_t)status.st_mtim.tv_nsec;
    }
    if (open)
        closedir(open);
    return sum;
}

/* Save until no such call fails any more on RANK; returns how many there are.
 */
static int fail_each(ek_collection *tasks, int rank, int *count)
{
    uint64_t before = look_at_folder();
    for (int n = 1;; n++) {
        MPI_Barrier(MPI_COMM_WORLD);
        *count = job_rank == rank ? n : 0;
        ek_status status = tasks ? ek_save(tasks, path) : EK_OK;
        bool is_left = job_most(*count) > 0;
        *count = 0;
        CHECK_EQ_INT(job_sum(status == EK_ERR_FILE), is_left ? 0 : savers());
        CHECK(!tasks || is_left || strstr(ek_error_message(), path) != NULL);
        if (is_left || n == 1000)
            return n - 1;
        CHECK(look_at_folder() == before);
    }
}

static ek_collection *make_with_all(int ranks, ek_tiles *stores[2])
{
    ek_collection *tasks = make_with_data(ranks, "return", job_workers);
    make_stores(tasks, stores);
    if (tasks)
        CHECK_OK(ek_set_save(tasks, write_own, NULL));
    return tasks;
}

static void leave_all(ek_collection **tasks, ek_tiles *stores[2])
{
    for (int s = 0; *tasks && s < 2; s++)
        ek_tiles_destroy(&stores[s]);
    leave_ranks(tasks);
}

static void a_write_that_fails_leaves_the_save_before(void)
{
    ek_tiles *stores[2];
    int *const counts[] = {&to_failure.fwrite, &to_failure.fflush,
                           &to_failure.fsync, &to_failure.rename};
    ek_collection *tasks = make_with_all(savers(), stores);
    snprintf(path, PATH, "%s/fails", folder);
    if (tasks)
        visit_stores(stores, true);
    for (int64_t i = 0; tasks && i < TASKS; i++)
        CHECK_OK(ek_add_task(tasks, work, &i, sizeof i, NULL));
    JOB_OK(tasks ? ek_save(tasks, path) : EK_OK);
    for (int i = 0; i < 8; i++) {
        int rank = i < 4 ? 0 : savers() - 1;
        int calls = fail_each(tasks, rank, counts[i % 4]);
        CHECK(calls > 0 || (i % 4 == 3 && rank > 0));
    }
    leave_all(&tasks, stores);
    for (int ranks = 1; ranks <= savers(); ranks++) {
        tasks = make_with_all(ranks, stores);
        JOB_OK(tasks ? ek_load(tasks, path) : EK_OK);
        if (tasks)
            visit_stores(stores, false);
        int64_t held = 0;
        if (tasks)
            CHECK_OK(ek_visit_tasks(tasks, job_see, &held));
        CHECK_EQ_INT(job_sum(held), savers() * TASKS);
        leave_all(&tasks, stores);
    }
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    job_make_folder(folder);
    JOB_RUN(tiles_are_loaded_on_any_number_of_ranks);
    JOB_RUN(other_stores_are_refused);
    JOB_RUN(data_has_its_homes);
    JOB_RUN(other_owners_are_refused);
    JOB_RUN(a_write_that_fails_leaves_the_save_before);
    job_remove_folder(folder);
    return job_result();
}
