/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_add_tasks() against as many calls of ek_add_task(): the same tasks, ids
 * and workers; and what it refuses, of which nothing is added.
 *
 *     test_add_tasks RANKS WORKERS
 */
#include "numbered.h"

#include <evenkeel_pull.h>
#include <omp.h>

enum {
    STRIDE = 3 /* numbers from one payload to the next */
};

/* Numbers FIRST ... LAST - 1 of this rank, each with others behind it. */
static void add_some(ek_collection *tasks, ek_function function, int first,
                     int last)
{
    int numbers[STRIDE * TASKS];
    for (int i = first; i < last; i++) {
        numbers[STRIDE * (i - first)] = job_rank * TASKS + i;
        numbers[STRIDE * (i - first) + 1] = -1;
    }
    CHECK_OK(ek_add_tasks(tasks, function, last - first, numbers,
                          sizeof *numbers, STRIDE * sizeof *numbers));
}

struct listed {
    int64_t count;
    uint64_t ids[TASKS];
    int numbers[TASKS], workers[TASKS];
};

static bool list(const ek_task *task, void *context)
{
    struct listed *listed = context;
    CHECK(listed->count < TASKS);
    if (listed->count < TASKS) {
        listed->ids[listed->count] = task->id;
        listed->numbers[listed->count] = number_of(task->payload);
        listed->workers[listed->count] = task->worker_id;
    }
    listed->count++;
    return true;
}

static void check_same(ek_collection *one, ek_collection *other)
{
    struct listed first = {.count = 0}, second = {.count = 0};
    CHECK_OK(ek_visit_tasks(one, list, &first));
    CHECK_OK(ek_visit_tasks(other, list, &second));
    CHECK_EQ_INT(first.count, TASKS);
    CHECK_EQ_INT(second.count, TASKS);
    CHECK(memcmp(first.ids, second.ids, sizeof first.ids) == 0);
    CHECK(memcmp(first.numbers, second.numbers, sizeof first.numbers) == 0);
    CHECK(memcmp(first.workers, second.workers, sizeof first.workers) == 0);
}

static void many_are_as_single_ones(void)
{
    ek_function function;
    ek_collection *single = make(note_task, &function);
    ek_collection *many = make(note_task, &function);
    add_numbers(single, function, TASKS);
    add_some(many, function, 0, 1);
    add_some(many, function, 1, 1);
    add_some(many, function, 1, 18);
    add_some(many, function, 18, TASKS);
    check_same(single, many);
    JOB_OK(ek_process(many, NULL));
    for (int i = 0; i < TASKS * job_size; i++)
        CHECK_EQ_INT(ran_in_job(i), 1);
    CHECK_EQ_INT(total_in_job(), TASKS * job_size);
    ek_destroy(&single);
    ek_destroy(&many);
}

/* Each thread of a team adds a part; the first one is the home thread. */
static void any_thread_adds(void)
{
    ek_function function;
    ek_collection *tasks = make(note_task, &function);
#pragma omp parallel num_threads(3)
    {
        int at = omp_get_thread_num(), threads = omp_get_num_threads();
        add_some(tasks, function, TASKS * at / threads,
                 TASKS * (at + 1) / threads);
    }
    for (int iteration = 0; iteration < 2; iteration++) {
        JOB_OK(ek_process(tasks, NULL));
        for (int i = 0; i < TASKS * job_size; i++)
            CHECK_EQ_INT(ran_in_job(i), 1);
        CHECK_EQ_INT(total_in_job(), TASKS * job_size);
        restore(tasks, EK_RESTORE_RETAIN);
    }
    ek_destroy(&tasks);
}

static bool count(const ek_task *task, void *context)
{
    (void)task;
    ++*(int *)context;
    return true;
}

static void what_is_refused_adds_nothing(void)
{
    ek_function function;
    ek_collection *tasks = make(note_task, &function);
    char payloads[256] = {0};
    int held = 0;
    CHECK_EQ_INT(ek_add_tasks(NULL, function, 1, payloads, 4, 4), EK_ERR_ARG);
    CHECK_EQ_INT(ek_add_tasks(tasks, function + 1, 1, payloads, 4, 4),
                 EK_ERR_ARG);
    CHECK(strstr(ek_error_message(), "allowed: 0 ... 0") != NULL);
    CHECK_EQ_INT(ek_add_tasks(tasks, -1, 1, payloads, 4, 4), EK_ERR_ARG);
    CHECK_EQ_INT(ek_add_tasks(tasks, function, -1, payloads, 4, 4), EK_ERR_ARG);
    CHECK_EQ_INT(ek_add_tasks(tasks, function, INT64_MAX, payloads, 4, 4),
                 EK_ERR_ARG);
    CHECK_EQ_INT(ek_add_tasks(tasks, function, 2, NULL, 4, 4), EK_ERR_ARG);
    CHECK_EQ_INT(ek_add_tasks(tasks, function, 2, payloads, 8, 7), EK_ERR_ARG);
    CHECK(strstr(ek_error_message(), "stride of 7") != NULL);
    CHECK_EQ_INT(ek_add_tasks(tasks, function, 2, payloads, 8, (size_t)-8),
                 EK_ERR_ARG);
    CHECK_EQ_INT(ek_add_tasks(tasks, function, 2, payloads, 49, 64),
                 EK_ERR_ARG);
    CHECK_OK(ek_add_tasks(tasks, function, 0, NULL, 4, 4));
    CHECK_OK(ek_visit_tasks(tasks, count, &held));
    CHECK_EQ_INT(held, 0);
    CHECK_OK(ek_add_tasks(tasks, function, 3, NULL, 0, 0));
    CHECK_OK(ek_visit_tasks(tasks, count, &held));
    CHECK_EQ_INT(held, 3);
    CHECK_OK(ek_clear(tasks));
    JOB_OK(ek_begin(tasks));
    CHECK_EQ_INT(ek_add_tasks(tasks, function, 1, payloads, 4, 4),
                 EK_ERR_STATE);
    (void)ek_end(tasks, NULL);
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN(many_are_as_single_ones);
    JOB_RUN(any_thread_adds);
    JOB_RUN(what_is_refused_adds_nothing);
    return job_result();
}
