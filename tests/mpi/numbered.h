/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbered tasks: what ran, and how often, over the job. */
#ifndef NUMBERED_H
#define NUMBERED_H

#include "job.h"

enum {
    TASKS = 60 /* per rank, where no other number is said */
};

/* What the tasks of this rank did, by their numbers. */
static struct {
    _Atomic int ran[1024];
    _Atomic int total;
} seen;

static inline void forget(void)
{
    memset(&seen, 0, sizeof seen);
}

/* Numbers are global: TASKS for each rank. */
static inline void note(int number)
{
    atomic_fetch_add(&seen.ran[number], 1);
    atomic_fetch_add(&seen.total, 1);
}

/* How often task NUMBER ran in the job since it was forgotten. */
static inline int64_t ran_in_job(int number)
{
    return job_sum(atomic_load(&seen.ran[number]));
}

static inline int64_t total_in_job(void)
{
    int64_t total = job_sum(atomic_load(&seen.total));
    forget();
    return total;
}

static inline int number_of(const void *payload)
{
    int number;
    memcpy(&number, payload, sizeof number);
    return number;
}

/* N tasks of this rank, numbered over the job. */
static inline void add_numbers(ek_collection *tasks, ek_function function,
                               int n)
{
    for (int i = 0; i < n; i++) {
        int number = job_rank * n + i;
        CHECK_OK(ek_add_task(tasks, function, &number, sizeof number, NULL));
    }
}

static inline ek_collection *make(ek_task_fn *fn, ek_function *function)
{
    ek_collection *tasks = job_create(NULL);
    *function = job_register(tasks, "numbered", fn, NULL);
    forget();
    return tasks;
}

static inline void restore(ek_collection *tasks, ek_restore_policy policy)
{
    JOB_OK(ek_restore(tasks, policy, NULL));
}

static inline int note_task(ek_worker *worker, const void *payload,
                            size_t bytes, void *context)
{
    (void)worker, (void)context;
    CHECK_EQ_INT(bytes, sizeof(int));
    note(number_of(payload));
    return 0;
}

#endif
