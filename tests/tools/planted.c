/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planted KEY=NUMBER...: iterations with a cause of loss, for verdicts.py.
 *
 * Keys and what they are without: below.  EVENKEEL_REPORT=1 says the verdict.
 */
#define _POSIX_C_SOURCE 200809L
#include <evenkeel_data.h>
#include <evenkeel_worker.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct key {
    const char *name;
    long number;
} keys[] = {{"iterations", 10}, {"tasks", 100}, /* of each rank */
            {"us", 0},                          /* that a task sleeps ... */
            {"cpu_us", 0},                      /* ... or computes ... */
            {"looks", 0},   /* ... or looks at the clock so often */
            {"late_us", 0}, /* the last rank comes to each iteration so late */
            {"hook_us", 0}, /* workers sleep on entering an iteration */
            {"slower", 0},  /* percent, from the second iteration on */
            {"away", 0}};   /* tasks start on the next rank, with such data */

enum {
    KEYS = sizeof keys / sizeof *keys
};

static int iteration;

static long get(const char *name)
{
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, name) == 0)
            return keys[i].number;
    }
    abort();
}

static bool set(const char *text)
{
    size_t length = strcspn(text, "=");
    for (int i = 0; i < KEYS; i++) {
        if (strlen(keys[i].name) == length && text[length] &&
            memcmp(keys[i].name, text, length) == 0) {
            keys[i].number = atol(text + length + 1);
            return true;
        }
    }
    return false;
}

static void wait_us(long us)
{
    struct timespec pause = {us / 1000000, us % 1000000 * 1000};
    if (us > 0)
        nanosleep(&pause, NULL);
}

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int run_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    long factor = 100 + (iteration > 0 ? get("slower") : 0);
    long looks = keys[4].number; /* at once: such tasks are short */
    struct timespec now;
    (void)worker, (void)payload, (void)bytes, (void)context;
    for (long i = 0; i < looks; i++)
        clock_gettime(CLOCK_MONOTONIC, &now);
    if (looks > 0)
        return 0;
    wait_us(get("us") * factor / 100);
    double end = cpu_us() + (double)(get("cpu_us") * factor) / 100;
    while (get("cpu_us") > 0 && cpu_us() < end)
        ;
    return 0;
}

static void *make(int here, void *context)
{
    (void)here;
    return context;
}

static void begin(void *data, int here, void *context)
{
    (void)data, (void)here, (void)context;
    wait_us(get("hook_us"));
}

static ek_status add(ek_collection *tasks, ek_function function, int next)
{
    static char *blocks;
    ek_hint hint = EK_HINT_INIT;
    int64_t bytes = get("away"), count = get("tasks");
    ek_status status = EK_OK;
    if (bytes > 0) {
        blocks = calloc((size_t)count, (size_t)bytes);
        status = blocks ? ek_set_data_blocks(tasks, function, (size_t)bytes)
                        : EK_ERR_NOMEM;
        hint.rank = next;
    }
    for (int64_t k = 0; status == EK_OK && k < count; k++) {
        status = ek_add_task(tasks, function, &k, sizeof k, &hint);
        if (status == EK_OK && bytes > 0)
            status = ek_set_block(tasks, function, k, blocks + k * bytes,
                                  (size_t)bytes);
    }
    return status;
}

static ek_status run(int rank, int size)
{
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks;
    ek_function function;
    hooks.create = make;
    hooks.begin = begin;
    hooks.context = &hooks;
    if (get("hook_us") > 0)
        options.hooks = &hooks;
    ek_status status = ek_create(MPI_COMM_WORLD, &options, &tasks);
    if (status == EK_OK)
        status = ek_register(tasks, "planted", run_task, NULL, &function);
    if (status == EK_OK)
        status = add(tasks, function, (rank + 1) % size);
    for (iteration = 0; status == EK_OK && iteration < get("iterations");
         iteration++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1)
            wait_us(get("late_us"));
        status = ek_process(tasks, NULL);
    }
    ek_destroy(&tasks);
    return status;
}

int main(int argc, char **argv)
{
    int provided, rank, size;
    for (int i = 1; i < argc; i++) {
        if (!set(argv[i])) {
            fprintf(stderr, "planted: no key in '%s'\n", argv[i]);
            return 2;
        }
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ek_status status = run(rank, size);
    MPI_Finalize();
    return status == EK_OK ? 0 : 1;
}
