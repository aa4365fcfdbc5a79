/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing in a victim's memory: how many operations a steal is, as MPI sees
 * them.
 *
 *     test_operations 2 1
 *
 * Each operation of rank 1, the thief, on rank 0 is a letter: L reads words, R
 * replaces one, A adds an attempt, G gets tasks, C tells how many were copied.
 * The victim shows tasks, then computes: the thief takes all of them, and finds
 * nothing then.
 */
#include "job.h"

enum {
    SLOTS = 16,
    TASKS = 100,
    PHASES = 30, /* at most: who is held up sees less */
    OPERATIONS = 100000
};

static char seen[OPERATIONS + 1];
static int seen_count;
static bool by_messages;

static void note(int target, char letter)
{
    if (job_rank == 1 && target == 0 && seen_count < OPERATIONS)
        seen[seen_count++] = letter;
}

/* In place of MPI's, visible to the library. */
__attribute__((visibility("default"))) int
MPI_Rget(void *origin, int n, MPI_Datatype type, int target, MPI_Aint at,
         int target_n, MPI_Datatype target_type, MPI_Win window,
         MPI_Request *request)
{
    note(target, 'G');
    return PMPI_Rget(origin, n, type, target, at, target_n, target_type, window,
                     request);
}

__attribute__((visibility("default"))) int
MPI_Rget_accumulate(const void *origin, int n, MPI_Datatype type, void *result,
                    int result_n, MPI_Datatype result_type, int target,
                    MPI_Aint at, int target_n, MPI_Datatype target_type,
                    MPI_Op op, MPI_Win window, MPI_Request *request)
{
    if (op == MPI_SUM)
        note(target, *(const uint64_t *)origin >> 40 > 0 ? 'A' : 'C');
    else
        note(target, op == MPI_REPLACE ? 'R' : 'L');
    return PMPI_Rget_accumulate(origin, n, type, result, result_n, result_type,
                                target, at, target_n, target_type, op, window,
                                request);
}

static void wait_ms(ek_worker *worker, int ms)
{
    double end = MPI_Wtime() + 1e-3 * ms;
    while (MPI_Wtime() < end) {
        if (worker)
            ek_poll(worker);
    }
}

static int run_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    bool *is_first = context;
    (void)payload, (void)bytes;
    if (!*is_first)
        return 0;
    *is_first = false;
    wait_ms(job_rank == 0 ? worker : NULL, job_rank == 0 ? 1 : 2);
    if (job_rank == 0)
        wait_ms(NULL, 4);
    return 0;
}

/* What the thief did in a phase. */
static void run_phase(ek_collection *tasks, ek_function function,
                      bool *is_first)
{
    *is_first = true;
    seen_count = 0;
    for (int i = 0; i < (job_rank == 0 ? TASKS : 1); i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_OK(ek_clear(tasks));
    seen[seen_count] = '\0';
}

/* A way in which a steal may go, and in how many phases it was seen. */
struct course {
    const char *letters;
    bool is_expected;
    int times;
};

/* Whether SEEN is made of courses, longer ones first in the list.  From its end
 * on there is one way to split it: RLRLR is who finds the lock taken, then who
 * does not. */
static bool split(struct course *courses)
{
    size_t left = strlen(seen);
    while (left > 0) {
        const struct course *found = NULL;
        for (struct course *course = courses; course->letters && !found;
             course++) {
            size_t length = strlen(course->letters);
            if (length > left ||
                strncmp(seen + left - length, course->letters, length) != 0)
                continue;
            found = course;
            course->times++;
            left -= length;
        }
        if (!found)
            return false;
    }
    return true;
}

static bool are_all_seen(const struct course *courses)
{
    bool all = true;
    for (; courses->letters; courses++)
        all = all && (courses->times > 0 || !courses->is_expected);
    return all;
}

static void check_courses(ek_steal_policy steal, struct course *courses)
{
    ek_options options = job_options();
    ek_function function;
    bool is_first = false, is_done = false;
    options.steal = steal;
    job_set_number(&options, "ranks_per_node", 1);
    job_set_number(&options, "buffer_slots", SLOTS);
    ek_collection *tasks = job_create_one_sided(&options, &by_messages);
    CHECK_OK(ek_register(tasks, "task", run_task, &is_first, &function));
    for (int p = 0; p < PHASES && !is_done && !by_messages; p++) {
        run_phase(tasks, function, &is_first);
        if (!CHECK(split(courses)))
            fprintf(stderr, "operations: %s\n", seen);
        is_done = job_most(job_rank == 1 && are_all_seen(courses)) > 0;
    }
    for (; job_rank == 1 && !by_messages && courses->letters; courses++)
        if (courses->is_expected && !CHECK(courses->times > 0))
            fprintf(stderr, "not seen: %s; at last: %s\n", courses->letters,
                    seen);
    ek_destroy(&tasks);
}

/* Three with tasks, two of them waited for; one without; a look, where there
 * was nothing. */
static void sws_is_as_printed(void)
{
    struct course courses[] = {{"AGGC", false, 0},
                               {"AGC", true, 0},
                               {"A", true, 0},
                               {"L", true, 0},
                               {NULL, false, 0}};
    check_courses(EK_STEAL_SWS, courses);
}

/* Six with tasks; three without, and two if the lock is held. */
static void sdc_is_as_printed(void)
{
    struct course courses[] = {{"RLRRGGC", false, 0}, {"RLRRGC", true, 0},
                               {"RLR", true, 0},      {"RL", false, 0},
                               {"L", true, 0},        {NULL, false, 0}};
    check_courses(EK_STEAL_SDC, courses);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN(sws_is_as_printed);
    JOB_RUN(sdc_is_as_printed);
    return job_result_of_memory(by_messages);
}
