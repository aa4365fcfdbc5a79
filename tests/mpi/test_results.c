/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over workers and ranks, and results of tasks in the order of indices.
 *
 *     test_results RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_loop.h>
#include <evenkeel_pull.h>
#include <evenkeel_spawn.h>

/* src/base/base.h */
void eki_memory_fail(int64_t n);

enum {
    EACH = 40, /* tasks of a rank */
    FAILING = 7
};

/* Of a task: as many bytes as its index says, from it on. */
static size_t bytes_of(int64_t index)
{
    return (size_t)(index % 5 * 11);
}

static const unsigned char *result_of(int64_t index, unsigned char *buffer)
{
    for (size_t i = 0; i < bytes_of(index); i++)
        buffer[i] = (unsigned char)(index + (int64_t)i);
    return buffer;
}

static int64_t number_of(const void *payload)
{
    int64_t number;
    memcpy(&number, payload, sizeof number);
    return number;
}

static void set_result_of(ek_worker *worker, int64_t index)
{
    unsigned char buffer[64];
    CHECK_OK(ek_set_result(worker, result_of(index, buffer), bytes_of(index)));
}

static int set_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    int64_t index = number_of(payload);
    (void)bytes, (void)context;
    if (index % 3 == 0) /* the last call counts, be it longer or shorter */
        set_result_of(worker, index + 1 + index % 2);
    set_result_of(worker, index);
    return 0;
}

/* Whether INDICES ascend from FIRST in STEPS, and results are theirs. */
static void check_results(const ek_results *results, int64_t count,
                          int64_t first, int64_t step)
{
    unsigned char buffer[64];
    if (!CHECK_EQ_INT(results->count, count))
        return;
    CHECK_EQ_INT((uintptr_t)results->bytes % 64, 0);
    CHECK_EQ_INT(results->start[0], 0);
    for (int64_t i = 0; i < count; i++) {
        int64_t index = first + i * step;
        const unsigned char *bytes = results->bytes;
        CHECK_EQ_INT(results->index[i], index);
        if (CHECK_EQ_INT(results->start[i + 1] - results->start[i],
                         bytes_of(index)))
            CHECK(memcmp(bytes + results->start[i], result_of(index, buffer),
                         bytes_of(index)) == 0);
    }
}

static void check_none(const ek_results *results)
{
    CHECK_EQ_INT(results->count, 0);
    CHECK(!results->index && !results->start && !results->bytes);
}

/* At every root, and everywhere. */
static void gather_everywhere(ek_collection *tasks, ek_function function,
                              int64_t count, int64_t step)
{
    for (int root = EK_ALL_RANKS; root < job_size; root++) {
        ek_results results = EK_RESULTS_INIT;
        JOB_OK(ek_gather(tasks, function, root, &results));
        if (root == EK_ALL_RANKS || root == job_rank)
            check_results(&results, count, 0, step);
        else
            check_none(&results);
    }
}

static void add_indices(ek_collection *tasks, ek_function function)
{
    for (int64_t i = EACH * job_rank; i < EACH * (job_rank + 1); i++)
        CHECK_OK(ek_add_task(tasks, function, &i, sizeof i, NULL));
}

static void bodies_set_results(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "set", set_task, NULL);
    ek_function other = job_register(tasks, "other", job_nothing, NULL);
    add_indices(tasks, function);
    gather_everywhere(tasks, function, 0, 1);
    for (int iteration = 0; iteration < 3; iteration++) {
        JOB_OK(ek_process(tasks, NULL));
        gather_everywhere(tasks, function, EACH * job_size, 1);
        gather_everywhere(tasks, other, 0, 1);
        JOB_OK(ek_restore(tasks, EK_RESTORE_CENTRALIZED, NULL));
        gather_everywhere(tasks, function, EACH * job_size, 1);
    }
}

static void ranges_set_results(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "set", set_task, NULL);
    const int64_t each = 3000;
    CHECK_OK(
        ek_add_range(tasks, function, each * job_rank, each * (job_rank + 1)));
    for (int iteration = 0; iteration < 2; iteration++) {
        JOB_OK(ek_process(tasks, NULL));
        gather_everywhere(tasks, function, each * job_size, 1);
    }
}

static void pull_loops_set_results(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "set", NULL, NULL);
    ek_function range = job_register(tasks, "range", NULL, NULL);
    add_indices(tasks, function);
    CHECK_OK(
        ek_add_range(tasks, range, EACH * job_rank, EACH * (job_rank + 1)));
    JOB_OK(ek_begin(tasks));
    ek_task task;
    ek_worker *last = NULL;
    while (ek_next(tasks, 0, &task) == EK_OK && task.worker) {
        last = task.worker;
        set_task(last, task.payload, task.bytes, NULL);
    }
    JOB_OK(ek_end(tasks, NULL));
    gather_everywhere(tasks, function, EACH * job_size, 1);
    gather_everywhere(tasks, range, EACH * job_size, 1);
    if (last)
        CHECK_EQ_INT(ek_set_result(last, NULL, 0), EK_ERR_STATE);
}

/* Odd indices are spawned by the even ones below. */
static ek_function spawned;

static int spawn_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    int64_t index = number_of(payload);
    set_task(worker, payload, bytes, context);
    if (index % 2 == 0) {
        index++;
        CHECK_OK(ek_spawn(worker, spawned, &index, sizeof index, 0));
    }
    return 0;
}

static void spawned_tasks_set_results(ek_collection *tasks)
{
    spawned = job_register(tasks, "spawn", spawn_task, NULL);
    for (int64_t i = 0; i < EACH; i += 2) {
        int64_t index = EACH * job_rank + i;
        CHECK_OK(ek_add_task(tasks, spawned, &index, sizeof index, NULL));
    }
    JOB_OK(ek_process(tasks, NULL));
    gather_everywhere(tasks, spawned, EACH * job_size, 1);
}

/* A result of its own id, of a payload that is no index. */
static int id_task(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    uint64_t id = ek_task_id(worker);
    (void)payload, (void)bytes, (void)context;
    CHECK_OK(ek_set_result(worker, &id, sizeof id));
    return 0;
}

static void other_payloads_go_by_id(ek_collection *tasks)
{
    ek_results results = EK_RESULTS_INIT;
    ek_function function = job_register(tasks, "id", id_task, NULL);
    int64_t payload[2] = {0};
    for (int i = 0; i < EACH; i++)
        CHECK_OK(ek_add_task(tasks, function, payload, sizeof payload, NULL));
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_gather(tasks, function, EK_ALL_RANKS, &results));
    CHECK_EQ_INT(results.count, EACH * job_size);
    for (int64_t i = 0; i < results.count; i++) {
        CHECK_EQ_INT(((const int64_t *)results.bytes)[i], results.index[i]);
        CHECK(i == 0 || results.index[i - 1] < results.index[i]);
    }
}

/* Indices from far below 0 to far above. */
static int far_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    (void)context;
    CHECK_OK(ek_set_result(worker, payload, bytes));
    return 0;
}

static void any_indices_ascend(ek_collection *tasks)
{
    static const int64_t far[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    ek_results results = EK_RESULTS_INIT;
    ek_function function = job_register(tasks, "far", far_task, NULL);
    const int times = 40;
    for (int i = 0; i < 5 * times; i++)
        CHECK_OK(
            ek_add_task(tasks, function, &far[i % 5], sizeof far[0], NULL));
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_gather(tasks, function, EK_ALL_RANKS, &results));
    CHECK_EQ_INT(results.count, 5 * times * job_size);
    for (int64_t i = 0; i < results.count; i++) {
        CHECK_EQ_INT(results.index[i], far[i / (times * job_size)]);
        CHECK_EQ_INT(((const int64_t *)results.bytes)[i], results.index[i]);
    }
}

static int failing_task(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    int64_t index = number_of(payload);
    set_task(worker, payload, bytes, context);
    if (index % 2 != 0 && index % 4 == 1)
        ek_fail(worker, FAILING, "odd");
    return index % 4 == 3 ? FAILING : 0;
}

static void failed_tasks_have_none(void)
{
    ek_options options = job_options();
    options.on_failure = EK_ON_FAILURE_CONTINUE;
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "fail", failing_task, NULL);
    ek_function range = job_register(tasks, "range", failing_task, NULL);
    add_indices(tasks, function);
    CHECK_OK(
        ek_add_range(tasks, range, EACH * job_rank, EACH * (job_rank + 1)));
    JOB_OK(ek_process(tasks, NULL));
    gather_everywhere(tasks, function, EACH / 2 * job_size, 2);
    gather_everywhere(tasks, range, EACH / 2 * job_size, 2);
    ek_destroy(&tasks);
}

static int stopping_task(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    _Atomic int64_t *ran = context;
    atomic_fetch_add(ran, 1);
    ek_stop(worker);
    return set_task(worker, payload, bytes, NULL);
}

static void cancelled_tasks_have_none(ek_collection *tasks)
{
    _Atomic int64_t ran = 0;
    ek_results results = EK_RESULTS_INIT;
    ek_function function = job_register(tasks, "stop", stopping_task, &ran);
    add_indices(tasks, function);
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_gather(tasks, function, EK_ALL_RANKS, &results));
    CHECK_EQ_INT(results.count, job_sum(ran));
}

static void gather_refuses(ek_collection *tasks)
{
    ek_results results = EK_RESULTS_INIT, bad = EK_RESULTS_INIT;
    ek_function function = job_register(tasks, "set", set_task, NULL);
    bool is_last = job_rank == job_size - 1;
    add_indices(tasks, function);
    CHECK_EQ_INT(ek_gather(NULL, function, 0, &results), EK_ERR_ARG);
    JOB_OK(ek_begin(tasks));
    CHECK_EQ_INT(ek_gather(tasks, function, 0, &results), EK_ERR_STATE);
    ek_task task;
    while (ek_next(tasks, 0, &task) == EK_OK && task.worker)
        set_task(task.worker, task.payload, task.bytes, NULL);
    JOB_OK(ek_end(tasks, NULL));
    JOB_STATUS(ek_gather(tasks, function, is_last ? job_size : 0, &results),
               EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "EK_ALL_RANKS");
    JOB_STATUS(ek_gather(tasks, is_last ? 17 : function, 0, &results),
               EK_ERR_ARG);
    JOB_STATUS(ek_gather(tasks, function, 0, is_last ? NULL : &results),
               EK_ERR_ARG);
    bad.struct_bytes = is_last ? 0 : bad.struct_bytes;
    JOB_STATUS(ek_gather(tasks, function, 0, &bad), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "EK_RESULTS_INIT");
    if (job_size > 1) {
        JOB_STATUS(
            ek_gather(tasks, function, is_last ? 0 : EK_ALL_RANKS, &results),
            EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), "differ");
    }
    gather_everywhere(tasks, function, EACH * job_size, 1);
}

static int unlucky_task(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    int64_t index = number_of(payload);
    (void)bytes, (void)context;
    set_result_of(worker, index);
    if (index == 0) {
        static char large[1 << 16];
        WITHOUT_MEMORY(1,
                       CHECK_EQ_INT(ek_set_result(worker, large, sizeof large),
                                    EK_ERR_NOMEM));
    }
    return 0;
}

/* One worker would do; of two a task of the other might fail. */
static void no_memory_is_told(void)
{
    ek_options options = job_options();
    options.workers = 1;
    ek_collection *tasks = job_create(&options);
    ek_results results = EK_RESULTS_INIT;
    ek_function function = job_register(tasks, "set", set_task, NULL);
    ek_function unlucky = job_register(tasks, "unlucky", unlucky_task, NULL);
    ek_status status = EK_ERR_NOMEM;
    int failing = 0;
    add_indices(tasks, function);
    JOB_OK(ek_process(tasks, NULL));
    while (status == EK_ERR_NOMEM) {
        failing++;
        WITHOUT_MEMORY(job_rank == 0 ? failing : 0,
                       status =
                           ek_gather(tasks, function, EK_ALL_RANKS, &results));
        CHECK_EQ_INT(job_most(-(int64_t)status), -(int64_t)status);
    }
    CHECK_EQ_INT(status, EK_OK);
    CHECK(failing > 3);
    gather_everywhere(tasks, function, EACH * job_size, 1);
    CHECK_OK(ek_clear(tasks));
    int64_t index = job_rank;
    CHECK_OK(ek_add_task(tasks, unlucky, &index, sizeof index, NULL));
    JOB_OK(ek_process(tasks, NULL));
    JOB_STATUS(ek_gather(tasks, unlucky, 0, &results), EK_ERR_NOMEM);
    CHECK_HAS_TEXT(ek_error_message(), "no memory for a result");
    ek_destroy(&tasks);
}

/* Values of worker W of all workers, from 1 on. */
static void *fill(double *values, int count)
{
    for (int here = 0; here < job_workers; here++) {
        for (int i = 0; i < count; i++)
            values[here * count + i] = i + 1 + job_rank * job_workers + here;
    }
    return values;
}

static void reduce_combines(ek_collection *tasks)
{
    enum {
        COUNT = 3
    };
    double values[16 * COUNT];
    int all = job_workers * job_size;
    JOB_OK(ek_reduce(tasks, fill(values, COUNT), COUNT, MPI_DOUBLE, MPI_SUM));
    for (int i = 0; i < COUNT * job_workers; i++)
        CHECK_NEAR(values[i], i < COUNT ? all * i + all * (all + 1) / 2.0 : 0,
                   0);
    JOB_OK(ek_reduce(tasks, fill(values, COUNT), COUNT, MPI_DOUBLE, MPI_MAX));
    for (int i = 0; i < COUNT; i++)
        CHECK_NEAR(values[i], i + all, 0);
    JOB_OK(ek_reduce(tasks, NULL, 0, MPI_DOUBLE, MPI_SUM));
    struct {
        double value;
        int rank;
    } least[16];
    for (int here = 0; here < job_workers; here++) {
        least[here].value = -here - job_rank;
        least[here].rank = job_rank;
    }
    JOB_OK(ek_reduce(tasks, least, 1, MPI_DOUBLE_INT, MPI_MINLOC));
    CHECK_NEAR(least[0].value, 2 - job_workers - job_size, 0);
    CHECK_EQ_INT(least[0].rank, job_size - 1);
}

/* A map x -> a x + b; one after the other, which does not commute. */
struct map {
    int64_t a, b;
};

static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const struct map *first = in;
    struct map *then = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        then[i].b += then[i].a * first[i].b;
        then[i].a *= first[i].a;
    }
}

static void reduce_keeps_the_order(ek_collection *tasks)
{
    MPI_Datatype type;
    MPI_Op op;
    struct map maps[16], expected = {1, 0};
    MPI_Type_contiguous(2, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    for (int here = 0; here < job_workers; here++)
        maps[here] = (struct map){2, job_rank * job_workers + here};
    for (int i = 0; i < job_size * job_workers; i++)
        expected = (struct map){2 * expected.a, 2 * expected.b + i};
    JOB_OK(ek_reduce(tasks, maps, 1, type, op));
    CHECK_EQ_INT(maps[0].a, expected.a);
    CHECK_EQ_INT(maps[0].b, expected.b);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void reduce_refuses(ek_collection *tasks)
{
    double values[16 * 2];
    MPI_Datatype gaps;
    bool is_last = job_rank == job_size - 1;
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &gaps);
    fill(values, 2);
    CHECK_EQ_INT(ek_reduce(NULL, values, 1, MPI_DOUBLE, MPI_SUM), EK_ERR_ARG);
    JOB_STATUS(
        ek_reduce(tasks, is_last ? NULL : values, 1, MPI_DOUBLE, MPI_SUM),
        EK_ERR_ARG);
    JOB_STATUS(ek_reduce(tasks, values, is_last ? -1 : 1, MPI_DOUBLE, MPI_SUM),
               EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "count -1");
    JOB_STATUS(ek_reduce(tasks, values, 1,
                         is_last ? MPI_DATATYPE_NULL : MPI_DOUBLE, MPI_SUM),
               EK_ERR_ARG);
    JOB_STATUS(
        ek_reduce(tasks, values, 1, is_last ? gaps : MPI_DOUBLE, MPI_SUM),
        EK_ERR_ARG);
    JOB_STATUS(ek_reduce(tasks, values, 1, MPI_DOUBLE,
                         is_last ? MPI_OP_NULL : MPI_SUM),
               EK_ERR_ARG);
    if (job_size > 1) {
        JOB_STATUS(
            ek_reduce(tasks, values, is_last ? 2 : 1, MPI_DOUBLE, MPI_SUM),
            EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), "differ");
        JOB_STATUS(ek_reduce(tasks, values, 1, is_last ? MPI_FLOAT : MPI_DOUBLE,
                             MPI_SUM),
                   EK_ERR_ARG);
    }
    JOB_OK(ek_begin(tasks));
    CHECK_EQ_INT(ek_reduce(tasks, values, 1, MPI_DOUBLE, MPI_SUM),
                 EK_ERR_STATE);
    ek_task task;
    CHECK_OK(ek_next(tasks, 0, &task));
    JOB_OK(ek_end(tasks, NULL));
    for (int i = 0; i < 2 * job_workers; i++)
        CHECK_NEAR(values[i], i % 2 + 1 + job_rank * job_workers + i / 2, 0);
    MPI_Type_free(&gaps);
}

/* Of 1 / i, which no order of doubles sums alike; large ones cancel. */
static void add_part(ek_sum *sums, int worker, int workers)
{
    for (int i = worker; i < 10000; i += workers) {
        double values[2] = {1.0 / (i + 1), i % 2 == 0 ? 1e300 : -1e300};
        ek_sum_add(sums, values, 2);
    }
}

static void sums_are_exact(ek_collection *tasks)
{
    static ek_sum sums[16 * 2], alone[2];
    double values[2], expected[2];
    int workers = job_workers * job_size;
    for (int here = 0; here < job_workers; here++)
        add_part(&sums[2 * here], job_rank * job_workers + here, workers);
    JOB_OK(ek_reduce_sums(tasks, sums, 2, values));
    /* Of rank 0 alone; the others bring nothing. */
    if (job_rank == 0)
        add_part(alone, 0, 1);
    memcpy(sums, alone, sizeof alone);
    JOB_OK(ek_reduce_sums(tasks, sums, 2, expected));
    CHECK(memcmp(values, expected, sizeof values) == 0);
    CHECK_NEAR(values[0], 9.787606036044382, 1e-15);
    CHECK_NEAR(values[1], 0, 0);
    for (int i = 0; i < 2 * job_workers; i++) {
        for (int limb = 0; limb < 72; limb++)
            CHECK_EQ_INT(sums[i].limb[limb], 0);
    }
    JOB_OK(ek_reduce_sums(tasks, NULL, 0, NULL));
    bool is_last = job_rank == job_size - 1;
    ek_sum_add(sums, expected, 1);
    JOB_STATUS(ek_reduce_sums(tasks, is_last ? NULL : sums, 1, values),
               EK_ERR_ARG);
    JOB_STATUS(ek_reduce_sums(tasks, sums, 1, is_last ? NULL : values),
               EK_ERR_ARG);
    JOB_STATUS(ek_reduce_sums(tasks, sums, is_last ? -1 : 1, values),
               EK_ERR_ARG);
    JOB_OK(ek_reduce_sums(tasks, sums, 1, values));
    CHECK_NEAR(values[0], expected[0] * job_size, 1e-14 * job_size);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN_TASKS(reduce_combines);
    JOB_RUN_TASKS(reduce_keeps_the_order);
    JOB_RUN_TASKS(reduce_refuses);
    JOB_RUN_TASKS(sums_are_exact);
    JOB_RUN_TASKS(bodies_set_results);
    JOB_RUN_TASKS(ranges_set_results);
    JOB_RUN_TASKS(pull_loops_set_results);
    JOB_RUN_TASKS(spawned_tasks_set_results);
    JOB_RUN_TASKS(other_payloads_go_by_id);
    JOB_RUN_TASKS(any_indices_ascend);
    JOB_RUN(failed_tasks_have_none);
    JOB_RUN_TASKS(cancelled_tasks_have_none);
    JOB_RUN_TASKS(gather_refuses);
    JOB_RUN(no_memory_is_told);
    return job_result();
}
