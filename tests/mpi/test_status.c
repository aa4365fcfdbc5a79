/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines that tell how far an iteration is: what the sink of rank 0 gets, of all
 * ranks, also on other nodes.  With a third argument: a loop for a terminal,
 * which status.py looks at.
 */
#include "job.h"
#include "sign.h"

#include <evenkeel_pull.h>
#include <string.h>

enum {
    TASK_MS = 40, /* a twentieth in the first iteration */
    TASKS = 40,   /* per worker ... */
    MORE = 70,    /* ... and on the last rank, which nobody helps */
    AWAITING = 5  /* of these, until a line was told */
};

static int lines, is_short;
static char told[1024], sign[SIGN_BYTES]; /* made with the line to be checked */
static _Atomic int ran;                   /* on this rank */

/* Whether all but the last rank's workers are idle. */
static bool has_idle(const char *line)
{
    char idle[64];
    snprintf(idle, sizeof idle, ", %d of %d workers idle",
             (job_size - 1) * job_workers, job_size * job_workers);
    return strstr(line, idle) != NULL;
}

static void listen(ek_level level, const char *line, void *context)
{
    (void)context;
    if (!strstr(line, " status: "))
        return;
    CHECK_EQ_INT(level, EK_LEVEL_INFO);
    lines++;
    if (sign_is_there(sign))
        return;
    snprintf(told, sizeof told, "%s", line);
    if (!strstr(line, "not heard of") && has_idle(line))
        sign_make(sign);
}

static int nap(ek_worker *worker, const void *payload, size_t bytes,
               void *context)
{
    const int *quick = context;
    struct timespec time = {0, TASK_MS * 1000000 / (*quick ? 20 : 1)};
    (void)worker, (void)payload, (void)bytes;
    nanosleep(&time, NULL);
    if (sign[0] && !*quick && job_rank == job_size - 1 &&
        atomic_fetch_add(&ran, 1) >= (MORE - AWAITING) * job_workers)
        /* One of those that wait fails for all. */
        if (!CHECK(sign_await(sign)))
            sign_make(sign);
    return 0;
}

static void run(ek_collection *tasks, bool pulls)
{
    ek_task task;
    if (!pulls) {
        JOB_OK(ek_process(tasks, NULL));
        return;
    }
    JOB_OK(ek_begin(tasks));
    for (;;) {
        CHECK_OK(ek_next(tasks, 0, &task));
        if (!task.worker)
            break;
        nap(task.worker, task.payload, task.bytes, &is_short);
    }
    JOB_OK(ek_end(tasks, NULL));
}

/* A line from 2 s on, when only the last rank has tasks left. */
static void check_line(int iteration)
{
    int said = -1, share = -1, known = -1, idle = -1, workers = -1, rank = -1;
    double left_s = -1;
    char bar[9] = "";
    int all = job_workers * ((job_size - 1) * TASKS + MORE);
    const char *at = strstr(told, "iteration");
    int found =
        at ? sscanf(at,
                    "iteration %d [%8[#.]] %d %% of %d tasks, %lf s "
                    "left, %d of %d workers idle, slowest rank %d",
                    &said, bar, &share, &known, &left_s, &idle, &workers, &rank)
           : 0;
    bool is_right = found >= 7 && said == iteration && share >= 40 &&
                    share < 100 && (int)strlen(bar) == 8 &&
                    (int)strspn(bar, "#") == share * 8 / 100 && known == all &&
                    left_s >= 0 && left_s < 5 && has_idle(told) &&
                    !strstr(told, "not heard of") &&
                    rank == (job_size > 1 ? job_size - 1 : -1);
    if (!CHECK(is_right))
        printf("iteration %d: %s\n", iteration, told);
}

static ek_collection *make(void)
{
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks = NULL;
    ek_function function;
    int count = job_rank == job_size - 1 ? MORE : TASKS;
    options.steal = EK_STEAL_NONE;
    JOB_OK(ek_create(MPI_COMM_WORLD, &options, &tasks));
    CHECK_OK(ek_register(tasks, "nap", nap, &is_short, &function));
    for (int i = 0; i < count * job_workers; i++)
        CHECK_OK(ek_add_task(tasks, function, &i, sizeof i, NULL));
    return tasks;
}

static void lines_tell_how_far_all_ranks_are(void)
{
    ek_collection *tasks = make();
    /* Off, and on; of one rank, which has known work by then, once more. */
    for (int i = 0; i < (job_size == 1 ? 3 : 2); i++) {
        lines = 0;
        is_short = i == 0;
        atomic_store(&ran, 0);
        sign_name(sign, "line");
        CHECK_OK(ek_set_option(tasks, "status", i == 0 ? "0" : "2"));
        run(tasks, job_workers == 1);
        CHECK_EQ_INT(lines > 0, job_rank == 0 && i > 0);
        if (lines > 0)
            check_line(i);
        /* No rank makes it anew. */
        MPI_Barrier(MPI_COMM_WORLD);
        unlink(sign);
    }
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    if (argc > 3) {
        ek_collection *tasks = make();
        run(tasks, false);
        puts("the program goes on");
        ek_destroy(&tasks);
        return job_result();
    }
    ek_set_sink(listen, NULL, EK_LEVEL_INFO);
    JOB_RUN(lines_tell_how_far_all_ranks_are);
    return job_result();
}
