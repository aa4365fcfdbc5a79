/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One iteration of tasks that sleep, for tools/check-kills.
 *
 *     naps TASKS SECONDS LOG [--resume SAVES]
 *
 * Lines of LOG, each with a time: B and E with the number of a task that begins
 * and ends, S before a save is whole.  The program adds to the log that is
 * there.
 */
#define _POSIX_C_SOURCE 200809L
#include <evenkeel_loop.h>
#include <evenkeel_save.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct naps {
    struct timespec length;
    int log;
};

static void note(const struct naps *naps, char what, int64_t number)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (dprintf(naps->log, "%c %lld %lld.%06ld\n", what, (long long)number,
                (long long)now.tv_sec, now.tv_nsec / 1000) < 0)
        abort();
}

static int nap(ek_worker *worker, const void *payload, size_t bytes,
               void *context)
{
    const struct naps *naps = context;
    int64_t number = *(const int64_t *)payload;
    (void)worker, (void)bytes;
    note(naps, 'B', number);
    nanosleep(&naps->length, NULL);
    note(naps, 'E', number);
    return 0;
}

static int note_save(const char *prefix, void *context)
{
    (void)prefix;
    note(context, 'S', -1);
    return 0;
}

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int provided;
    ek_collection *tasks;
    ek_function function;
    if (argc != 4 && argc != 6)
        return 2;
    double seconds = atof(argv[2]);
    struct naps naps = {
        .length = {(time_t)seconds,
                   (long)((seconds - (double)(time_t)seconds) * 1e9)},
        .log = open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0644)};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    check(ek_create(MPI_COMM_WORLD, NULL, &tasks));
    check(ek_register(tasks, "nap", nap, &naps, &function));
    check(ek_set_save(tasks, note_save, &naps));
    check(argc == 6 ? ek_load(tasks, argv[5])
                    : ek_set_range(tasks, function, atoll(argv[1])));
    check(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    MPI_Finalize();
    return 0;
}
