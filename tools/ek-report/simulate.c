/* SPDX-License-Identifier: BSD-3-Clause */
/* ek-sim over numbers of cores: a process for each, for a limited time. */
#define _POSIX_C_SOURCE 200809L
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODES "static,counter,StealRet,hierarchical,auto"

enum {
    ITERATIONS = 3, /* the last of which counts */
    NODE_CORES = 64,
    /* A median over iterations holds all of them in memory. */
    MEDIAN_TASKS = 30000000
};

/* In an order that leaves a whole curve, if a coarse one, when time is up. */
static const int cores_tried[] = {64, 1024, 4, 256, 4096, 16, 2, 16384, 65536};
enum {
    TRIED = sizeof cores_tried / sizeof *cores_tried,
    ROOM = 5 * TRIED /* of MODES */
};

/* Where ek-sim is: beside this program, installed or built. */
static bool find_ek_sim(char *path, size_t bytes)
{
    static const char *const places[] = {"ek-sim", "../ek-sim/ek-sim"};
    char self[1024];
    struct stat found;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, bytes, "%s/%s", folder, places[i]);
        if (stat(path, &found) == 0 && S_ISREG(found.st_mode) &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static double now_s(void)
{
    return (double)eki_clock_system_ns() * 1e-9;
}

/* A process that writes to *OUTPUT what it says, also of errors. */
static pid_t start(char *const *words, int *output)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(words[0], words);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0)
        close(ends[0]);
    else
        *output = ends[0];
    return child;
}

/* Read until the end or UNTIL_S; false: time is up. */
static bool read_all(int output, double until_s, char *text, size_t bytes)
{
    size_t length = 0;
    for (;;) {
        double left_s = until_s - now_s();
        struct pollfd waiting = {.fd = output, .events = POLLIN};
        if (left_s <= 0)
            return false;
        int ready = poll(&waiting, 1, (int)(left_s * 1e3) + 1);
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready <= 0)
            continue;
        ssize_t n = read(output, text + length, bytes - 1 - length);
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    text[length] = '\0';
    return true;
}

enum {
    COLUMN_MODE,
    COLUMN_ITERATION,
    COLUMN_MAKESPAN,
    COLUMN_EFFICIENCY,
    COLUMN_BOUND,
    COLUMNS
};

/* By cores; those of the same number in the order of modes. */
static void take_row(char **fields, const int *columns, int cores,
                     struct run *run)
{
    int at = run->simulated_count;
    if (atoi(fields[columns[COLUMN_ITERATION]]) != ITERATIONS)
        return;
    for (; at > 0 && run->simulated[at - 1].cores > cores; at--)
        run->simulated[at] = run->simulated[at - 1];
    struct simulated *simulated = &run->simulated[at];
    *simulated = (struct simulated){
        .cores = cores,
        .makespan_s = strtod(fields[columns[COLUMN_MAKESPAN]], NULL),
        .efficiency = strtod(fields[columns[COLUMN_EFFICIENCY]], NULL),
        .bound_s = strtod(fields[columns[COLUMN_BOUND]], NULL)};
    snprintf(simulated->mode, sizeof simulated->mode, "%.20s",
             fields[columns[COLUMN_MODE]]);
    run->simulated_count++;
}

/* The rows of TEXT; false: it is no table. */
static bool take_rows(char *text, int cores, struct run *run)
{
    static const char *const names[COLUMNS] = {
        "mode", "iteration", "makespan_s", "efficiency", "bound_s"};
    char *fields[200], *rest;
    int columns[COLUMNS], most = 0;
    char *line = strtok_r(text, "\n", &rest);
    int count = line ? split(line, ',', fields, 200) : 0;
    if (split_find_all(fields, count, names, COLUMNS, columns))
        return false;
    for (int i = 0; i < COLUMNS; i++)
        most = columns[i] > most ? columns[i] : most;
    while ((line = strtok_r(NULL, "\n", &rest)) &&
           run->simulated_count < ROOM) {
        if (split(line, ',', fields, 200) > most)
            take_row(fields, columns, cores, run);
    }
    return true;
}

/* The simulation of so many cores; *OUTPUT: what it prints. */
static pid_t start_ek_sim(const struct arguments *arguments, const char *ek_sim,
                          int cores, const struct run *run, int *output)
{
    char number[16], node[16], iteration[32] = "median";
    snprintf(number, sizeof number, "%d", cores);
    snprintf(node, sizeof node, "%d", cores < NODE_CORES ? cores : NODE_CORES);
    if (run->spawns || run->timed * run->record->iteration_count > MEDIAN_TASKS)
        snprintf(iteration, sizeof iteration, "%lld", (long long)run->chosen);
    const char *words[] = {ek_sim,
                           "--record",
                           run->path,
                           "--machine",
                           arguments->machine,
                           "--cores",
                           number,
                           "--node-cores",
                           node,
                           "--ranks-per-node",
                           "1",
                           "--mode",
                           "sampled",
                           "--iterations",
                           "3",
                           "--iteration",
                           iteration,
                           "--modes",
                           MODES,
                           "--csv",
                           NULL};
    return start((char *const *)words, output);
}

/* DONE numbers of cores are done; where there are no more of them
 * run->missing says why. */
static void simulate(const struct arguments *arguments, const char *ek_sim,
                     int done, double until_s, struct run *run)
{
    enum {
        TEXT_BYTES = 65536
    };
    int cores = cores_tried[done], output = -1;
    char text[TEXT_BYTES];
    pid_t child = start_ek_sim(arguments, ek_sim, cores, run, &output);
    if (child < 0) {
        snprintf(run->missing, sizeof run->missing, "ek-sim did not start: %s",
                 strerror(errno));
        return;
    }
    bool is_read = read_all(output, until_s, text, sizeof text);
    if (!is_read)
        kill(child, SIGKILL);
    close(output);
    waitpid(child, NULL, 0);
    if (!is_read)
        snprintf(run->missing, sizeof run->missing,
                 "%.3g s sufficed for %d of %d numbers of cores; --simulate "
                 "allows more",
                 arguments->simulate_s, done, TRIED);
    else if (!take_rows(text, cores, run))
        snprintf(run->missing, sizeof run->missing, "on %d cores %.150s", cores,
                 text);
}

void simulate_run(const struct arguments *arguments, struct run *run)
{
    char ek_sim[1100];
    double until_s = now_s() + arguments->simulate_s;
    run->simulated = allocate(ROOM, sizeof *run->simulated);
    if (arguments->simulate_s <= 0)
        snprintf(run->missing, sizeof run->missing,
                 "nothing was simulated: --simulate 0");
    else if (run->timed == 0)
        snprintf(run->missing, sizeof run->missing,
                 "no task of the record has a duration");
    else if (!find_ek_sim(ek_sim, sizeof ek_sim))
        snprintf(run->missing, sizeof run->missing,
                 "ek-sim is not where ek-report is");
    for (int i = 0; i < TRIED && run->missing[0] == '\0'; i++)
        simulate(arguments, ek_sim, i, until_s, run);
}
