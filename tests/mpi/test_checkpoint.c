/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checkpoints: restores save when it is due, with what the program adds.  One
 * that fails is no failure of the run, and leaves those before.
 *
 *     test_checkpoint RANKS WORKERS
 */
#define _GNU_SOURCE
#include "job.h"

#include <dirent.h>
#include <errno.h>
#include <evenkeel_data.h>
#include <evenkeel_loop.h>
#include <evenkeel_save.h>
#include <evenkeel_tiles.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Of the library. */
void eki_memory_fail(int64_t n);

enum {
    PATH = 256,
    INDICES = 60
};

static char folder[] = "/tmp/evenkeel-checkpoints-XXXXXX", path[PATH];
static char prefix_seen[2 * PATH];
static int code, callbacks, syncs_to_failure, sync_us;
static ek_function work;

/* Of the library's calls of it here, the next N-th fails, or takes long;
 * visible to it. */
__attribute__((visibility("default"))) int fsync(int file)
{
    job_nap(sync_us);
    sync_us = 0;
    errno = EIO;
    return --syncs_to_failure == 0 ? -1 : (int)syscall(SYS_fsync, file);
}

static int nothing(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

static int run_index(ek_worker *worker, int64_t i, void *context)
{
    (void)worker, (void)i, (void)context;
    return 0;
}

/* Each rank a file, and rank 0 one for all.  The save is not there yet. */
static int write_state(const char *prefix, void *context)
{
    char name[3 * PATH], least[2 * PATH] = "";
    struct stat status;
    callbacks++;
    CHECK(context == &work);
    /* Ranks may talk, and have the same prefix. */
    snprintf(prefix_seen, sizeof prefix_seen, "%s", prefix);
    if (job_rank == 0)
        memcpy(least, prefix_seen, sizeof least);
    MPI_Bcast(least, sizeof least, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK_EQ_TEXT(least, prefix_seen);
    snprintf(name, sizeof name, "%.*s.manifest",
             (int)(strrchr(prefix, '.') - prefix), prefix);
    CHECK(stat(name, &status) != 0);
    snprintf(name, sizeof name, "%s.%d", prefix, job_rank);
    for (int i = job_rank == 0 ? 0 : 1; i < 2; i++) {
        FILE *file = fopen(i == 0 ? prefix : name, "w");
        fprintf(file, "%d\n", job_rank);
        fclose(file);
    }
    return job_rank == job_size - 1 ? code : 0;
}

/* Files of the folder that end so, with the number N or (0) any. */
static int count_files(int n, const char *part)
{
    char begin[30];
    DIR *open = opendir(path);
    int found = 0;
    snprintf(begin, sizeof begin, n > 0 ? "save-%d." : "save-", n);
    for (const struct dirent *entry; open && (entry = readdir(open));)
        found += strncmp(entry->d_name, begin, strlen(begin)) == 0 &&
                 strstr(entry->d_name, part);
    if (open)
        closedir(open);
    return found;
}

/* All ranks have looked, or done, and go on. */
#define TOGETHER MPI_Barrier(MPI_COMM_WORLD)

/* A collection with checkpoints in the folder NAME, EVERY so often. */
static ek_collection *make_tasks(const char *name, const char *every)
{
    ek_options options = job_options();
    char text[2 * PATH];
    snprintf(path, PATH, "%s/%s", folder, name);
    snprintf(text, sizeof text, "%s@every:%s", path, every);
    job_set(&options, "checkpoint", text);
    ek_collection *tasks = job_create(&options);
    work = job_register(tasks, "work", nothing, NULL);
    CHECK_OK(ek_set_range(tasks, work, INDICES));
    return tasks;
}

static void run_and_restore(ek_collection *tasks)
{
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
}

static void every_second_iteration_is_saved(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make_tasks("second", "2");
    /* Nothing ran: nothing is due. */
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    for (int i = 1; i <= 7; i++) {
        JOB_OK(ek_process(tasks, &report));
        CHECK(job_figure(tasks, "save_s") > 0 || i % 2 == 0 || i == 1);
        CHECK(job_figure(tasks, "save_s") == 0 || i % 2 == 1);
        /* A policy that sends messages, and one that does not. */
        JOB_OK(ek_restore(
            tasks, i > 4 ? EK_RESTORE_CENTRALIZED : EK_RESTORE_RETAIN, NULL));
        TOGETHER;
        CHECK_EQ_INT(count_files(0, "manifest"), i / 2 > 2 ? 2 : i / 2);
        CHECK_EQ_INT(count_files(i / 2, "rank-"), i / 2 > 0 ? job_size : 0);
        TOGETHER;
    }
    /* Twice in a row, once. */
    JOB_OK(ek_process(tasks, NULL));
    for (int i = 0; i < 2; i++)
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    TOGETHER;
    CHECK_EQ_INT(count_files(4, "manifest"), 1);
    CHECK_EQ_INT(count_files(5, ""), 0);
    ek_destroy(&tasks);
}

static void time_counts_by_the_clock_of_rank_0(void)
{
    ek_collection *tasks = make_tasks("time", "1h");
    for (int i = 0; i < 3; i++)
        run_and_restore(tasks);
    CHECK_EQ_INT(count_files(0, ""), 0);
    ek_destroy(&tasks);
    tasks = make_tasks("time", "1ms");
    for (int i = 1; i <= 2; i++) {
        JOB_OK(ek_process(tasks, NULL));
        struct timespec two_ms = {0, 2000000};
        nanosleep(&two_ms, NULL);
        JOB_OK(ek_restore(tasks, EK_RESTORE_AUTO, NULL));
        TOGETHER;
        CHECK_EQ_INT(count_files(i, "manifest"), 1);
        TOGETHER;
    }
    ek_destroy(&tasks);
}

static void a_process_that_restores_saves_too(void)
{
    ek_collection *tasks = make_tasks("process", "1");
    for (int i = 0; i < 3; i++)
        JOB_OK(ek_process(tasks, NULL));
    TOGETHER;
    CHECK_EQ_INT(count_files(0, "manifest"), 2);
    TOGETHER;
    ek_destroy(&tasks);
}

static void count_told(ek_level level, const char *line, void *context)
{
    (void)level;
    *(int *)context += strstr(line, "'loop1' writes no checkpoints") != NULL;
}

/* Nobody could load them: rank 0 says so. */
static void loops_have_none(void)
{
    char text[2 * PATH];
    int told = 0;
    snprintf(text, sizeof text, "%s/for@every:1", folder);
    setenv("EVENKEEL_CHECKPOINT", text, 1);
    snprintf(path, PATH, "%s/for", folder);
    ek_set_sink(count_told, &told, EK_LEVEL_INFO);
    for (int i = 0; i < 3; i++)
        JOB_OK(ek_for(MPI_COMM_WORLD, INDICES, run_index, NULL));
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    unsetenv("EVENKEEL_CHECKPOINT");
    CHECK_EQ_INT(told, job_rank == 0);
    CHECK_EQ_INT(count_files(0, ""), 0);
}

/* A restore of ek_save() asks for one that nobody writes: what fails later is
 * still said. */
static void none_is_left_from_a_save(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make_tasks("left", "1");
    JOB_OK(ek_process(tasks, NULL));
    snprintf(path, PATH, "%s/by-program", folder);
    JOB_OK(ek_save(tasks, path));
    JOB_OK(ek_process(tasks, NULL));
    JOB_STATUS(ek_restore(tasks,
                          job_rank == 0 ? EK_RESTORE_CENTRALIZED
                                        : EK_RESTORE_HIERARCHICAL,
                          NULL),
               job_size == 1 ? EK_OK : EK_ERR_ARG);
    JOB_OK(ek_set_option(tasks, "checkpoint", "0"));
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "saves_failed"), 0);
    ek_destroy(&tasks);
}

/* The program may begin and end them. */
static void they_are_set_later(void)
{
    char text[2 * PATH];
    ek_collection *tasks = make_tasks("before", "10ms");
    snprintf(path, PATH, "%s/later", folder);
    JOB_OK(ek_set_option(tasks, "on_stop", "continue"));
    JOB_OK(ek_set_option(tasks, "checkpoint", "0"));
    job_nap(20000);
    run_and_restore(tasks);
    snprintf(text, sizeof text, "%s@every:1", path);
    /* Ranks that would not agree on it would wait for each other later. */
    eki_memory_fail(job_rank == job_size - 1 ? 1 : 0);
    ek_status status = ek_set_option(tasks, "checkpoint", text);
    eki_memory_fail(0);
    JOB_OK(status);
    for (int i = 0; i < 2; i++)
        run_and_restore(tasks);
    TOGETHER;
    CHECK_EQ_INT(count_files(0, "manifest"), 2);
    snprintf(path, PATH, "%s/before", folder);
    CHECK_EQ_INT(count_files(0, ""), 0);
    TOGETHER;
    ek_destroy(&tasks);
}

static void the_program_adds_its_files(void)
{
    char name[3 * PATH];
    int64_t iteration = -1;
    struct stat status;
    ek_collection *tasks = make_tasks("program", "1");
    CHECK(ek_loaded(tasks, &iteration) == NULL);
    CHECK_EQ_INT(iteration, -1);
    CHECK_OK(ek_set_save(tasks, write_state, &work));
    callbacks = 0;
    for (int i = 1; i <= 4; i++) {
        run_and_restore(tasks);
        TOGETHER;
        CHECK_EQ_INT(callbacks, i);
        CHECK_EQ_INT(count_files(i, "program"), job_size + 1);
        CHECK(i < 3 || count_files(i - 2, "program") == 0);
        TOGETHER;
    }
    /* A save by hand has them as well. */
    JOB_OK(ek_save(tasks, path));
    CHECK_EQ_INT(callbacks, 5);
    ek_destroy(&tasks);
    tasks = job_create(NULL);
    work = job_register(tasks, "work", nothing, NULL);
    JOB_OK(ek_load(tasks, path));
    CHECK_EQ_TEXT(ek_loaded(tasks, &iteration), prefix_seen);
    CHECK_EQ_INT(iteration, 4);
    snprintf(name, sizeof name, "%s.%d", ek_loaded(tasks, NULL), job_rank);
    CHECK_EQ_INT(stat(name, &status), 0);
    ek_destroy(&tasks);
}

static void ranks_that_differ_in_the_callback_are_told(void)
{
    ek_collection *tasks = make_tasks("differ", "1");
    CHECK_OK(ek_set_save(tasks, job_rank == 0 ? NULL : write_state, &work));
    if (job_size > 1) {
        JOB_STATUS(ek_save(tasks, path), EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), "ek_set_save");
    }
    ek_destroy(&tasks);
}

static void a_folder_is_for_one_collection(void)
{
    ek_collection *tasks = make_tasks("second", "1");
    job_register(tasks, "more", nothing, NULL);
    /* It could load what is there. */
    JOB_OK(ek_save(tasks, path));
    ek_destroy(&tasks);
    tasks = job_create(NULL);
    job_register(tasks, "other", nothing, NULL);
    JOB_STATUS(ek_save(tasks, path), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "is of another collection");
    TOGETHER;
    CHECK_EQ_INT(count_files(0, "manifest"), 2);
    ek_destroy(&tasks);
}

/* What fails is said, counted, and removed; the run goes on. */
static void check_goes_on(ek_collection *tasks, const char *what)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    CHECK_HAS_TEXT(ek_error_message(), what);
    TOGETHER;
    CHECK_EQ_INT(count_files(1, "manifest"), 1);
    CHECK_EQ_INT(count_files(2, ""), 0);
    TOGETHER;
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.tasks, INDICES);
    CHECK_EQ_INT(job_count(tasks, "saves_failed"), 1);
}

static void one_that_fails_leaves_the_run_and_those_before(void)
{
    ek_collection *tasks = make_tasks("fails", "1");
    CHECK_OK(ek_set_save(tasks, write_state, &work));
    run_and_restore(tasks);
    JOB_OK(ek_process(tasks, NULL));
    /* Of rank 0: of its file, the manifest, the program's files, the folder
     * before and after. */
    for (int syncs = 1; syncs <= job_size + 5; syncs++) {
        syncs_to_failure = job_rank == 0 ? syncs : 0;
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        syncs_to_failure = 0;
        check_goes_on(tasks, path);
    }
    syncs_to_failure = job_rank == job_size - 1;
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    syncs_to_failure = 0;
    check_goes_on(tasks, path);
    code = 7;
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    check_goes_on(tasks, "returned 7");
    JOB_STATUS(ek_save(tasks, path), EK_ERR_FILE);
    code = 0;
    TOGETHER;
    CHECK_EQ_INT(count_files(2, ""), 0);
    TOGETHER;
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    TOGETHER;
    CHECK_EQ_INT(count_files(2, "manifest"), 1);
    ek_destroy(&tasks);
}

/* Ranks fail together, so that all of them repeat it. */
static void a_restore_that_fails_on_a_rank_fails_on_all(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make_tasks("memory", "1");
    int failures = 0;
    for (int n = 1; n <= 12; n++) {
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(report.tasks, INDICES);
        TOGETHER;
        eki_memory_fail(job_rank == job_size - 1 ? n : 0);
        ek_status status = ek_restore(tasks, EK_RESTORE_RETAIN, NULL);
        eki_memory_fail(0);
        CHECK_EQ_INT(job_sum(status != EK_OK) % job_size, 0);
        CHECK(status == EK_OK || status == EK_ERR_NOMEM);
        failures += status != EK_OK;
        /* Or the next ek_process() does it. */
        if (status != EK_OK && n % 2 == 0)
            JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    CHECK(failures > 0);
    ek_destroy(&tasks);
}

/* Others wait for rank 0 meanwhile. */
static void a_slow_disk_does_not_end_the_job(void)
{
    CHECK_EQ_INT(setenv("EVENKEEL_ON_STALL", "abort:1", 1), 0);
    ek_collection *tasks = make_tasks("slow", "1");
    JOB_OK(ek_save(tasks, path));
    JOB_OK(ek_process(tasks, NULL));
    sync_us = job_rank == 0 ? 1400000 : 0;
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    TOGETHER;
    CHECK_EQ_INT(count_files(0, "manifest"), 2);
    ek_destroy(&tasks);
    CHECK_EQ_INT(unsetenv("EVENKEEL_ON_STALL"), 0);
}

/* The program writes what it needs of tiles and of data. */
static void tiles_and_data_may_be_there(void)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    ek_tiles *tiles;
    shape.length = 1;
    ek_collection *tasks = make_tasks("tiles", "1");
    JOB_OK(ek_tiles_create(tasks, &shape, &tiles));
    CHECK_OK(ek_set_save(tasks, write_state, &work));
    run_and_restore(tasks);
    TOGETHER;
    CHECK_EQ_INT(count_files(1, "manifest"), 1);
    ek_tiles_destroy(&tiles);
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    job_make_folder(folder);
    JOB_RUN(every_second_iteration_is_saved);
    JOB_RUN(time_counts_by_the_clock_of_rank_0);
    JOB_RUN(a_process_that_restores_saves_too);
    JOB_RUN(loops_have_none);
    JOB_RUN(none_is_left_from_a_save);
    JOB_RUN(they_are_set_later);
    JOB_RUN(the_program_adds_its_files);
    JOB_RUN(ranks_that_differ_in_the_callback_are_told);
    JOB_RUN(a_folder_is_for_one_collection);
    JOB_RUN(one_that_fails_leaves_the_run_and_those_before);
    JOB_RUN(a_restore_that_fails_on_a_rank_fails_on_all);
    JOB_RUN(tiles_and_data_may_be_there);
    JOB_RUN(a_slow_disk_does_not_end_the_job);
    job_remove_folder(folder);
    return job_result();
}
