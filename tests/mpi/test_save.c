/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves: the first three ranks save; any number of ranks load.  Every task is
 * there once, as it was and, on as many ranks, where it was.  Whatever fails on
 * a rank fails on all, and the save before stays.
 *
 *     test_save RANKS WORKERS
 */
#define _GNU_SOURCE
#include "some.h"

#include <dirent.h>
#include <errno.h>
#include <evenkeel_loop.h>
#include <evenkeel_save.h>
#include <evenkeel_spawn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Of the library. */
void eki_memory_fail(int64_t n);
uint32_t eki_crc32c(uint32_t crc, const void *bytes, size_t n);

enum {
    TASKS = 200,         /* of each rank that saves */
    LEAVING = 10,        /* ... and those that it adds for the next one */
    NUMBERS = 8 * TASKS, /* of those, and then of those that are kept */
    INDICES = 1000,      /* one of ten remains */
    PATH = 256,
    HELD_MOST = 4 * NUMBERS,
    IDS = NUMBERS + 2 * INDICES /* of tasks, and then of indices */
};

/* A task as a visitor sees it. */
struct held {
    uint64_t id;
    int64_t number, count;
    double duration_s, deviation;
    int worker_id, home, is_index, is_pinned;
};

struct list {
    int n;
    struct held held[HELD_MOST];
};

static char folder[] = "/tmp/evenkeel-saves-XXXXXX", path[PATH];
static struct list saved;
static double duration_of[NUMBERS]; /* of the tasks that were saved */
static uint64_t id_of[IDS];         /* likewise; 0: there is none */
static _Atomic int ran[NUMBERS];
static _Atomic int others; /* that have run with other ids */
static ek_function work, indices;
static bool is_spawning, is_loaded;

/* Of the library's calls of these here, the next N-th fails; visible to it. */
static int syncs_to_failure, renames_to_failure;

__attribute__((visibility("default"))) int fsync(int file)
{
    errno = EIO;
    return --syncs_to_failure == 0 ? -1 : (int)syscall(SYS_fsync, file);
}

__attribute__((visibility("default"))) int rename(const char *from,
                                                  const char *to)
{
    errno = EIO;
    return --renames_to_failure == 0 ? -1
                                     : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* Files of this process may not grow, or may. */
static void limit_files(bool is_limited)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = is_limited ? 0 : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* One of four tasks spawns one that is kept, while that is wanted. */
static int work_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    int64_t number, child;
    (void)context;
    CHECK(bytes >= sizeof number);
    memcpy(&number, payload, sizeof number);
    ran[number]++;
    others += is_loaded && !is_spawning && id_of[number] != 0 &&
              ek_task_id(worker) != id_of[number];
    ek_set_cost(worker, 1e-3 * (double)(1 + number % 7));
    child = number + NUMBERS / 2;
    if (is_spawning && number % 4 == 0 && number < NUMBERS / 2)
        CHECK_OK(ek_spawn(worker, work, &child, sizeof child, EK_SPAWN_KEEP));
    return 0;
}

static int index_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    int64_t index;
    (void)bytes, (void)context;
    memcpy(&index, payload, sizeof index);
    /* What is gone stays so. */
    CHECK(!is_loaded || index >= INDICES || index % 10 == 0);
    others += is_loaded && id_of[NUMBERS + index] != 0 &&
              ek_task_id(worker) != id_of[NUMBERS + index];
    if (index % 10 != 0)
        ek_discard(worker);
    return 0;
}

static ek_collection *make_over_some(ek_options options, bool is_reversed)
{
    ek_collection *tasks = NULL;
    if (!is_in)
        return NULL;
    CHECK_OK(ek_create(some, &options, &tasks));
    if (is_reversed)
        indices = job_register(tasks, "indices", index_task, NULL);
    work = job_register(tasks, "work", work_task, NULL);
    if (!is_reversed)
        indices = job_register(tasks, "indices", index_task, NULL);
    return tasks;
}

static bool see(const ek_task *task, void *context)
{
    struct list *list = context;
    struct held held = {.id = task->id,
                        .count = task->count,
                        .duration_s = task->duration_s,
                        .deviation = task->deviation,
                        .worker_id = task->worker_id,
                        .home = task->home,
                        .is_index = task->function == indices,
                        .is_pinned = task->is_pinned};
    memcpy(&held.number, task->payload, sizeof held.number);
    if (isnan(held.duration_s))
        held.duration_s = -1;
    if (list->n < HELD_MOST)
        list->held[list->n++] = held;
    return true;
}

static void list_tasks(ek_collection *tasks, struct list *list)
{
    list->n = 0;
    if (tasks)
        CHECK_OK(ek_visit_tasks(tasks, see, list));
}

/* Seeds of one rank more than others, a range, kept tasks, an index that has
 * run and ones that have not. */
static ek_collection *make_some_tasks(ek_options options)
{
    ek_collection *tasks = make_over_some(options, false);
    ek_hint hint = EK_HINT_INIT;
    memset(ran, 0, sizeof ran);
    for (int i = 0; tasks && i < TASKS; i++) {
        unsigned char payload[40] = {0};
        int64_t number = job_rank * TASKS + i;
        memcpy(payload, &number, sizeof number);
        payload[39] = (unsigned char)number;
        CHECK_OK(ek_add_task(tasks, work, payload, 8 + (size_t)i % 33, NULL));
    }
    if (tasks)
        CHECK_OK(ek_set_range(tasks, indices, INDICES));
    for (int i = 0; tasks && i < 3; i++) {
        is_spawning = i == 0;
        CHECK_OK(ek_process(tasks, NULL));
    }
    /* What comes after an iteration is held, too, and what is to leave. */
    if (tasks)
        CHECK_OK(ek_set_range(tasks, indices, 2 * INDICES));
    hint.rank = (job_rank + 1) % savers();
    for (int i = 0; tasks && i < LEAVING; i++) {
        int64_t number = 3 * TASKS + job_rank * LEAVING + i;
        CHECK_OK(ek_add_task(tasks, work, &number, sizeof number, &hint));
    }
    return tasks;
}

/* Of its id, of a range that of its first one. */
static int64_t place_of(const struct held *held)
{
    return held->is_index ? NUMBERS + held->number : held->number;
}

static void note_saved(ek_collection *tasks)
{
    list_tasks(tasks, &saved);
    memset(duration_of, 0, sizeof duration_of);
    memset(id_of, 0, sizeof id_of);
    for (int i = 0; i < saved.n; i++) {
        const struct held *held = &saved.held[i];
        for (int64_t k = 0; k < held->count; k++)
            id_of[place_of(held) + k] = held->id + (uint64_t)k;
        if (!held->is_index)
            duration_of[held->number] = held->duration_s;
    }
    MPI_Allreduce(MPI_IN_PLACE, id_of, IDS, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, duration_of, NUMBERS, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
}

/* The tasks here are those of the list, in its order. */
static void check_same(const struct list *list)
{
    CHECK_EQ_INT(list->n, saved.n);
    for (int i = 0; i < list->n && i < saved.n; i++)
        CHECK(memcmp(&list->held[i], &saved.held[i], sizeof saved.held[i]) ==
              0);
}

/* Each task is there once, with its duration and its id. */
static void check_tasks(const struct list *list)
{
    int times[NUMBERS] = {0};
    for (int i = 0; i < list->n; i++) {
        const struct held *held = &list->held[i];
        for (int64_t k = 0; k < held->count; k++)
            CHECK(held->id + (uint64_t)k == id_of[place_of(held) + k]);
        if (held->is_index)
            continue;
        times[held->number]++;
        CHECK_NEAR(held->duration_s, duration_of[held->number], 0);
    }
    MPI_Allreduce(MPI_IN_PLACE, times, NUMBERS, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int number = 0; number < NUMBERS; number++)
        CHECK_EQ_INT(times[number], duration_of[number] != 0);
}

/* The indices that remained, and those that were added after that. */
static void check_indices(const struct list *list)
{
    int times[2 * INDICES] = {0};
    for (int i = 0; i < list->n; i++) {
        const struct held *held = &list->held[i];
        for (int64_t k = 0; held->is_index && k < held->count; k++)
            times[held->number + k]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, times, 2 * INDICES, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < 2 * INDICES; i++)
        CHECK_EQ_INT(times[i], i >= INDICES || i % 10 == 0);
}

/* Tasks are dealt out by their durations to WORKERS, and are at home there. */
static void check_even(const struct list *list, int workers)
{
    double loads[64] = {0}, largest = 0, sum = 0;
    for (int i = 0; i < list->n; i++) {
        CHECK_EQ_INT(list->held[i].home, job_rank);
        /* Of a task that has not run: the mean. */
        double duration_s = list->held[i].duration_s;
        if (!list->held[i].is_index)
            loads[list->held[i].worker_id] +=
                duration_s < 0 ? 4e-3 : duration_s;
    }
    MPI_Allreduce(MPI_IN_PLACE, loads, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int worker = 0; worker < workers; worker++) {
        largest = fmax(largest, loads[worker]);
        sum += loads[worker];
    }
    CHECK(largest < 1.03 * sum / workers);
}

/* Ids here, of tasks that are at home, are one each. */
static void check_ids(const struct list *list)
{
    for (int i = 0; i < list->n; i++) {
        CHECK_EQ_INT(list->held[i].home, job_rank);
        for (int k = 0; k < i; k++)
            CHECK(list->held[i].id != list->held[k].id);
    }
}

/* What runs next is that; what is added or spawned gets numbers of its own, and
 * indices that there are count. */
static void check_goes_on(ek_collection *tasks, int64_t iteration)
{
    static struct list list;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    int64_t number = NUMBERS / 2 - 4 * (1 + job_rank);
    int times[NUMBERS];
    memset(ran, 0, sizeof ran);
    is_loaded = true;
    if (tasks) {
        CHECK_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(job_count(tasks, "iteration"), iteration);
        CHECK_OK(ek_set_range(tasks, indices, 2 * INDICES));
        CHECK_OK(ek_process(tasks, NULL));
        CHECK_OK(ek_add_task(tasks, work, &number, sizeof number, NULL));
    }
    for (int i = 0; i < NUMBERS; i++)
        times[i] = atomic_load(&ran[i]);
    MPI_Allreduce(MPI_IN_PLACE, times, NUMBERS, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < NUMBERS; i++)
        CHECK_EQ_INT(times[i], duration_of[i] != 0 ? 2 : 0);
    CHECK_EQ_INT(others, 0);
    is_spawning = true;
    if (tasks)
        CHECK_OK(ek_process(tasks, NULL));
    is_spawning = is_loaded = false;
    if (tasks)
        CHECK_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
    list_tasks(tasks, &list);
    check_ids(&list);
}

static ek_status save_some(ek_collection *tasks, const char *where)
{
    return is_in ? ek_save(tasks, where) : EK_OK;
}

static ek_status load_some(ek_collection *tasks, const char *where)
{
    return is_in ? ek_load(tasks, where) : EK_OK;
}

/* Save tasks in the folder NAME below that of the test. */
static void save_to(const char *name, ek_options options)
{
    snprintf(path, PATH, "%s/%s", folder, name);
    take_ranks(savers());
    ek_collection *tasks = make_some_tasks(options);
    JOB_OK(save_some(tasks, path));
    note_saved(tasks);
    leave_ranks(&tasks);
}

static void load_on(int ranks, int64_t iteration)
{
    static struct list list;
    take_ranks(ranks);
    ek_collection *tasks = make_over_some(job_options(), true);
    JOB_OK(load_some(tasks, path));
    list_tasks(tasks, &list);
    if (ranks == savers())
        check_same(&list);
    else
        check_even(&list, ranks * job_workers);
    check_tasks(&list);
    check_indices(&list);
    check_goes_on(tasks, iteration);
    leave_ranks(&tasks);
}

static void tasks_are_loaded_on_any_number_of_ranks(void)
{
    ek_options options = job_options();
    options.restore = EK_RESTORE_CENTRALIZED;
    save_to("any", options);
    for (int ranks = 1; ranks <= job_size; ranks++)
        load_on(ranks, 3);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* No two tasks have one id. */
static void check_all_ids(void)
{
    static uint64_t ids[IDS];
    memcpy(ids, id_of, sizeof ids);
    qsort(ids, IDS, sizeof *ids, by_value);
    for (int i = 1; i < IDS; i++)
        CHECK(ids[i] == 0 || ids[i] != ids[i - 1]);
}

/* Job NUMBER has RANKS, loads, adds tasks of its own, and saves. */
static void go_on(int number, int ranks)
{
    static struct list list;
    int64_t first = NUMBERS / 2 - 16 * (number + 1) + 4 * job_rank;
    take_ranks(ranks);
    ek_collection *tasks = make_over_some(job_options(), number % 2);
    JOB_OK(load_some(tasks, path));
    FAILS(ek_load(tasks, path), EK_ERR_STATE, "a new collection");
    CHECK(!is_in || ek_loaded(tasks, NULL));
    list_tasks(tasks, &list);
    check_tasks(&list);
    is_loaded = true;
    for (int64_t i = first; tasks && i < first + 4; i++)
        CHECK_OK(ek_add_task(tasks, work, &i, sizeof i, NULL));
    if (tasks)
        CHECK_OK(ek_process(tasks, NULL));
    is_loaded = false;
    CHECK_EQ_INT(others, 0);
    snprintf(path, PATH, "%s/job%d", folder, number);
    JOB_OK(save_some(tasks, path));
    note_saved(tasks);
    check_all_ids();
    leave_ranks(&tasks);
}

static void ids_stay_from_job_to_job(void)
{
    for (int number = 0; number < 4; number++)
        go_on(number, 1 + number % job_size);
}

/* A file of the save comes after jobs of so many workers. */
static void set_key_base(const char *name, uint32_t base)
{
    unsigned char head[100];
    FILE *file = fopen(name, "r+b");
    if (!CHECK(file && fread(head, sizeof head, 1, file) == 1))
        return;
    size_t bytes = head[12] - 4u;
    memcpy(head + 52, &base, sizeof base);
    uint32_t crc = eki_crc32c(0, head, bytes);
    memcpy(head + bytes, &crc, sizeof crc);
    rewind(file);
    CHECK(fwrite(head, bytes + 4, 1, file) == 1 && fclose(file) == 0);
}

/* After jobs of very many workers tasks get ids of this job. */
static void ids_without_room_are_new(void)
{
    static struct list list;
    char name[2 * PATH];
    uint32_t base = (1u << 24) - (uint32_t)(savers() * job_workers);
    save_to("room", job_options());
    for (int i = 0; job_rank == 0 && i <= savers(); i++) {
        snprintf(name, sizeof name,
                 i < savers() ? "%s/save-1.rank-%d" : "%s/save-1.manifest",
                 path, i);
        set_key_base(name, base);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    take_ranks(savers() + 1);
    ek_collection *tasks = make_over_some(job_options(), true);
    JOB_OK(load_some(tasks, path));
    list_tasks(tasks, &list);
    check_indices(&list);
    for (int i = 0; i < list.n; i++)
        CHECK(list.held[i].id >> 40 < (uint64_t)savers() + 1);
    note_saved(tasks);
    check_all_ids();
    leave_ranks(&tasks);
}

/* Not even one that would move no task. */
static void no_variable_keeps_tasks_together(void)
{
    static struct list list;
    setenv("EVENKEEL_RESTORE", "original", 1);
    take_ranks(job_size);
    ek_collection *tasks = make_over_some(job_options(), true);
    unsetenv("EVENKEEL_RESTORE");
    JOB_OK(load_some(tasks, path));
    list_tasks(tasks, &list);
    check_tasks(&list);
    check_even(&list, job_size * job_workers);
    leave_ranks(&tasks);
}

static void what_a_counter_dealt_is_loaded(void)
{
    ek_options options = job_options();
    options.steal = EK_STEAL_COUNTER;
    options.restore = EK_RESTORE_CENTRALIZED;
    save_to("counter", options);
    load_on(savers(), 3);
}

/* Files of the folder. */
static int count_files(void)
{
    DIR *open = opendir(path);
    int n = 0;
    for (const struct dirent *entry; open && (entry = readdir(open));)
        n += entry->d_name[0] != '.';
    if (open)
        closedir(open);
    return n;
}

/* A save fails by the N-th call on RANK; the one before is as it was, and so
 * are the tasks. */
static void check_failure(ek_collection *tasks, int rank, int syncs,
                          int renames, bool is_limited)
{
    static struct list before, after;
    list_tasks(tasks, &before);
    if (job_rank == rank) {
        syncs_to_failure = syncs;
        renames_to_failure = renames;
        limit_files(is_limited);
    }
    FAILS(ek_save(tasks, path), EK_ERR_FILE, path);
    syncs_to_failure = renames_to_failure = 0;
    limit_files(false);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ_INT(count_files(), savers() + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    list_tasks(tasks, &after);
    CHECK_EQ_INT(after.n, before.n);
    CHECK(memcmp(after.held, before.held,
                 (size_t)before.n * sizeof *before.held) == 0);
}

static void a_save_that_fails_leaves_the_one_before(void)
{
    int64_t number = 1;
    snprintf(path, PATH, "%s/fails", folder);
    take_ranks(savers());
    ek_collection *tasks = make_some_tasks(job_options());
    JOB_OK(save_some(tasks, path));
    note_saved(tasks);
    if (is_in)
        CHECK_OK(ek_add_task(tasks, work, &number, sizeof number, NULL));
    /* Of rank 0: of its file, the manifest, the folder before and after. */
    for (int syncs = 1; syncs <= 4; syncs++)
        check_failure(tasks, 0, syncs, 0, false);
    check_failure(tasks, 0, 0, 1, false);
    check_failure(tasks, 0, 0, 0, true);
    check_failure(tasks, savers() - 1, 1, 0, false);
    check_failure(tasks, savers() - 1, 0, 0, true);
    leave_ranks(&tasks);
    load_on(savers(), 3);
    load_on(1, 3);
}

/* Whatever allocation fails on a rank, all hear of it; nothing is there then,
 * and the next call does it. */
static void check_memory(bool is_load, int ranks)
{
    static struct list list;
    int64_t failed = ranks;
    for (int n = 1; failed > 0; n++) {
        take_ranks(ranks);
        ek_collection *tasks = is_load ? make_over_some(job_options(), true)
                                       : make_some_tasks(job_options());
        MPI_Barrier(MPI_COMM_WORLD);
        eki_memory_fail(job_rank == ranks - 1 ? n : 0);
        ek_status status =
            is_load ? load_some(tasks, path) : save_some(tasks, path);
        eki_memory_fail(0);
        CHECK(status == EK_OK || status == EK_ERR_NOMEM);
        failed = job_sum(status != EK_OK);
        CHECK(n == 1 ? failed == ranks : failed % ranks == 0);
        list_tasks(tasks, &list);
        CHECK(failed == 0 || !is_load || list.n == 0);
        if (failed > 0)
            JOB_OK(is_load ? load_some(tasks, path) : save_some(tasks, path));
        leave_ranks(&tasks);
    }
}

static void lack_of_memory_is_of_all(void)
{
    snprintf(path, PATH, "%s/memory", folder);
    check_memory(false, savers());
    check_memory(true, savers());
    check_memory(true, job_size > 1 ? 2 : 1);
}

static void old_saves_go(void)
{
    struct stat status;
    char name[2 * PATH];
    snprintf(path, PATH, "%s/old", folder);
    take_ranks(savers());
    ek_collection *tasks = make_over_some(job_options(), false);
    for (int i = 1; i <= 4; i++) {
        if (i == 4 && is_in)
            CHECK_OK(ek_set_option(tasks, "saves", "1"));
        JOB_OK(save_some(tasks, path));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ_INT(count_files(),
                     (i == 2 || i == 3 ? 2 : 1) * (savers() + 1));
        snprintf(name, sizeof name, "%s/save-%d.manifest", path, i);
        CHECK_EQ_INT(stat(name, &status), 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    leave_ranks(&tasks);
}

/* As many ranks with WORKERS each load what is pinned to them. */
static void load_pinned(int workers)
{
    static struct list list;
    ek_options options = job_options();
    options.workers = workers;
    options.ignore_environment = true;
    take_ranks(savers());
    ek_collection *tasks = make_over_some(options, true);
    JOB_OK(load_some(tasks, path));
    list_tasks(tasks, &list);
    if (workers == job_workers)
        check_same(&list);
    for (int i = 0; i < list.n; i++)
        CHECK(!list.held[i].is_pinned ||
              list.held[i].number / TASKS == job_rank);
    check_tasks(&list);
    leave_ranks(&tasks);
}

static void pinned_tasks_stay_on_their_ranks(void)
{
    ek_options options = job_options();
    ek_hint hint = EK_HINT_INIT;
    hint.pinned = true;
    options.restore = EK_RESTORE_AUTO;
    snprintf(path, PATH, "%s/pinned", folder);
    take_ranks(savers());
    ek_collection *tasks = make_over_some(options, false);
    for (int64_t i = 0; tasks && i < TASKS; i++) {
        int64_t number = job_rank * TASKS + i;
        CHECK_OK(ek_add_task(tasks, work, &number, sizeof number,
                             i % 3 == 0 ? &hint : NULL));
    }
    if (tasks)
        CHECK_OK(ek_process(tasks, NULL));
    JOB_OK(save_some(tasks, path));
    note_saved(tasks);
    leave_ranks(&tasks);
    load_pinned(job_workers);
    load_pinned(job_workers + 1);
    take_ranks(savers() - 1);
    tasks = make_over_some(job_options(), false);
    if (savers() > 1)
        FAILS(ek_load(tasks, path), EK_ERR_ARG, "pinned to one of");
    leave_ranks(&tasks);
}

static void what_cannot_be_saved_is_refused(void)
{
    snprintf(path, PATH, "%s/refused", folder);
    take_ranks(job_size);
    ek_collection *tasks = make_over_some(job_options(), false);
    FAILS(ek_save(tasks, job_rank == 0 ? NULL : path), EK_ERR_ARG, "NULL");
    if (job_size > 1)
        FAILS(ek_save(tasks, job_rank == 0 ? "/tmp/a" : path), EK_ERR_ARG,
              "ranks differ");
    FAILS(ek_save(tasks, "/nowhere/at/all"), EK_ERR_FILE, "/nowhere/at/all");
    FAILS(ek_load(tasks, folder), EK_ERR_FILE, "no save");
    leave_ranks(&tasks);
}

static ek_collection *make_without(const char *name, int64_t payload_bytes)
{
    ek_collection *tasks = NULL;
    ek_options options = job_options();
    options.payload_bytes = payload_bytes;
    take_ranks(savers());
    if (is_in) {
        CHECK_OK(ek_create(some, &options, &tasks));
        job_register(tasks, name, work_task, NULL);
        job_register(tasks, "work", work_task, NULL);
    }
    return tasks;
}

/* What is in a file of the last save becomes something else; rank 0 does it. */
static void damage(const char *file, const char *to, off_t at)
{
    char name[2 * PATH], other[2 * PATH];
    snprintf(name, sizeof name, "%s/%s", path, file);
    snprintf(other, sizeof other, "%s/%s", path, to ? to : "");
    int open_file = to ? -1 : open(name, O_WRONLY);
    if (to)
        CHECK_EQ_INT(renameat(AT_FDCWD, name, AT_FDCWD, other), 0);
    else
        CHECK_EQ_INT(pwrite(open_file, "damage", 6, at), 6);
    if (!to)
        close(open_file);
}

static void what_cannot_be_loaded_is_refused(void)
{
    char last[64], *const name = last;
    save_to("bad", job_options());
    ek_collection *tasks = make_without("something", 48);
    FAILS(ek_load(tasks, path), EK_ERR_ARG, "'indices'");
    leave_ranks(&tasks);
    tasks = make_without("indices", 24);
    FAILS(ek_load(tasks, path), EK_ERR_ARG, "payload_bytes");
    leave_ranks(&tasks);
    tasks = make_without("indices", 48);
    JOB_OK(load_some(tasks, path));
    FAILS(ek_load(tasks, path), EK_ERR_STATE, "a new collection");
    leave_ranks(&tasks);
    snprintf(last, sizeof last, "save-1.rank-%d", savers() - 1);
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (job_rank == 0 && i < 2)
            damage(name, i == 0 ? NULL : "gone", 300);
        if (job_rank == 0 && i == 2)
            damage("save-1.manifest", NULL, 60);
        MPI_Barrier(MPI_COMM_WORLD);
        tasks = make_without("indices", 48);
        FAILS(ek_load(tasks, path), EK_ERR_FILE,
              i == 2 ? "save-1.manifest" : name);
        /* It is as new as before. */
        static struct list list;
        list_tasks(tasks, &list);
        CHECK_EQ_INT(list.n, 0);
        snprintf(path, PATH, "%s/any", folder);
        JOB_OK(load_some(tasks, path));
        snprintf(path, PATH, "%s/bad", folder);
        leave_ranks(&tasks);
    }
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    job_make_folder(folder);
    JOB_RUN(tasks_are_loaded_on_any_number_of_ranks);
    if (job_size > savers())
        JOB_RUN(no_variable_keeps_tasks_together);
    JOB_RUN(ids_stay_from_job_to_job);
    if (job_size > savers())
        JOB_RUN(ids_without_room_are_new);
    JOB_RUN(what_a_counter_dealt_is_loaded);
    JOB_RUN(a_save_that_fails_leaves_the_one_before);
    JOB_RUN(lack_of_memory_is_of_all);
    JOB_RUN(old_saves_go);
    JOB_RUN(pinned_tasks_stay_on_their_ranks);
    JOB_RUN(what_cannot_be_saved_is_refused);
    JOB_RUN(what_cannot_be_loaded_is_refused);
    job_remove_folder(folder);
    return job_result();
}
