/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A restore of auto in which ranks do not talk fails on one rank alone, where
 * there is no memory.  All ranks may call it again, and go on together.
 */
#include "job.h"

/* Of the library's inside: allocation N from now on fails; 0: none. */
void eki_memory_fail(int64_t n);

/* Iterations as short as these pause soon. */
enum {
    EACH = 4,
    ITERATIONS_MOST = 2000,
    FAILS_EVERY = 7, /* a failed talk ends a pause, too */
    WANTED = 3
};

/* The first allocation fails on the last rank. */
static ek_status restore_here(ek_collection *tasks, bool fails)
{
    if (fails && job_rank == job_size - 1)
        eki_memory_fail(1);
    ek_status status = ek_restore(tasks, EK_RESTORE_AUTO, NULL);
    eki_memory_fail(0);
    CHECK(status == EK_OK || status == EK_ERR_NOMEM);
    return status;
}

static void a_restore_that_failed_alone_is_repeated_by_all(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "nothing", job_nothing, NULL);
    int64_t failed = 0, alone = 0;
    for (int i = 0; i < EACH * job_workers; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    for (int i = 0; i < ITERATIONS_MOST && alone < WANTED; i++) {
        JOB_OK(ek_process(tasks, NULL));
        failed = job_sum(
            restore_here(tasks, i % FAILS_EVERY == FAILS_EVERY - 1) != EK_OK);
        alone += failed > 0 && failed < job_size;
        if (failed > 0)
            JOB_OK(ek_restore(tasks, EK_RESTORE_AUTO, NULL));
        /* Once more is the same. */
        if (failed > 0 && i % 2 == 0)
            JOB_OK(ek_restore(tasks, EK_RESTORE_AUTO, NULL));
    }
    CHECK_EQ_INT(alone, WANTED);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN_TASKS(a_restore_that_failed_alone_is_repeated_by_all);
    return job_result();
}
