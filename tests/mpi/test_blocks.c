/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks: the library copies them to where tasks run, and back, whatever their
 * addresses and lengths are in an iteration; what is wrong is said everywhere.
 *
 *     test_blocks RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_data.h>
#include <evenkeel_pull.h>
#include <omp.h>

/* Of the library's inside: allocation N from now on fails; 0: none. */
void eki_memory_fail(int64_t n);

enum {
    BLOCKS = 60, /* of each rank */
    RANKS = 4,
    LARGEST = 1 << 18
};

static struct {
    unsigned char *values[RANKS * BLOCKS]; /* NULL: of another rank */
    int version;
    int64_t nap_us;
    _Atomic int64_t away, home, wrong;
} grid;

/* Of a block in a version: none, short ones, one of several messages. */
static size_t length_of(int64_t index, int version)
{
    int64_t i = (index + 7 * version) % BLOCKS;
    return i == 0 ? 0 : i == 1 ? LARGEST : (size_t)(i * i * 20 + index % 3);
}

static unsigned char value_of(int64_t index, int version, size_t i)
{
    return (unsigned char)(index + 31 * version + (int64_t)(i + (i >> 8)));
}

static void fill(int64_t index, int version, size_t bytes,
                 unsigned char *values)
{
    for (size_t i = 0; i < bytes; i++)
        values[i] = value_of(index, version, i);
}

static bool is_filled(int64_t index, int version, size_t bytes,
                      const unsigned char *values)
{
    for (size_t i = 0; i < bytes; i++) {
        if (values[i] != value_of(index, version, i))
            return false;
    }
    return true;
}

/* The owner says where its blocks are now, last ones first. */
static void set_blocks(ek_collection *tasks, ek_function function)
{
    for (int64_t i = BLOCKS - 1; i >= 0; i--) {
        int64_t index = job_rank * BLOCKS + i;
        size_t bytes = length_of(index, grid.version);
        free(grid.values[index]);
        grid.values[index] = bytes > 0 ? malloc(bytes) : NULL;
        fill(index, grid.version, bytes, grid.values[index]);
        CHECK_OK(
            ek_set_block(tasks, function, index, grid.values[index], bytes));
    }
}

/* Every block of this rank was advanced once. */
static void check_blocks(void)
{
    for (int64_t i = 0; i < BLOCKS; i++) {
        int64_t index = job_rank * BLOCKS + i;
        CHECK(is_filled(index, grid.version + 1, length_of(index, grid.version),
                        grid.values[index]));
    }
    CHECK_EQ_INT(grid.wrong, 0);
}

static void free_blocks(void)
{
    for (int i = 0; i < RANKS * BLOCKS; i++) {
        free(grid.values[i]);
        grid.values[i] = NULL;
    }
}

static int64_t index_in(const void *payload)
{
    int64_t index;
    memcpy(&index, payload, sizeof index);
    return index;
}

static void advance(ek_worker *worker, int64_t index)
{
    bool is_home = index / BLOCKS == job_rank;
    size_t bytes = length_of(index, grid.version);
    unsigned char *values = ek_task_data(worker);
    bool is_right = ek_task_data_bytes(worker) == bytes &&
                    (!is_home || values == grid.values[index]) &&
                    (is_home || (uintptr_t)values % 64 == 0) &&
                    is_filled(index, grid.version, bytes, values);
    if (is_right)
        fill(index, grid.version + 1, bytes, values);
    grid.wrong += !is_right;
    grid.home += is_home;
    grid.away += !is_home;
    if (grid.nap_us > 0)
        job_nap(grid.nap_us);
}

static int advance_task(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    (void)bytes, (void)context;
    advance(worker, index_in(payload));
    return 0;
}

static ek_collection *make_collection(const char *steal, ek_function *function)
{
    ek_options options = job_options();
    CHECK_OK(ek_options_set(&options, "steal", steal));
    ek_collection *tasks = job_create(&options);
    *function = job_register(tasks, "advance", advance_task, NULL);
    CHECK_OK(ek_set_data_blocks(tasks, *function, LARGEST));
    grid.version = 0;
    grid.nap_us = 0;
    grid.wrong = grid.home = grid.away = 0;
    return tasks;
}

/* The task of each block of this rank starts SHIFT ranks further. */
static void add_tasks(ek_collection *tasks, ek_function function, int shift)
{
    ek_hint hint = EK_HINT_INIT;
    hint.rank = (job_rank + shift) % job_size;
    for (int64_t i = 0; i < BLOCKS; i++) {
        int64_t index = job_rank * BLOCKS + i;
        CHECK_OK(ek_add_task(tasks, function, &index, sizeof index, &hint));
    }
}

static void blocks_travel_with_new_addresses_and_lengths(void)
{
    static const char *const restores[] = {"original", "retain", "centralized",
                                           "retain"};
    ek_function function;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make_collection("none", &function);
    add_tasks(tasks, function, 1);
    for (int i = 0; i < 4; i++) {
        int64_t away = grid.away;
        JOB_OK(ek_set_option(tasks, "restore", restores[i]));
        set_blocks(tasks, function);
        JOB_OK(ek_process(tasks, &report));
        check_blocks();
        CHECK_EQ_INT(job_sum(grid.away - away), job_count(tasks, "travelled"));
        if (i == 0)
            CHECK_EQ_INT(job_sum(grid.away),
                         job_size > 1 ? BLOCKS * job_size : 0);
        grid.version++;
    }
    CHECK_EQ_INT(job_sum(grid.home + grid.away), 4 * BLOCKS * job_size);
    ek_destroy(&tasks);
    free_blocks();
}

static void stolen_indices_of_ranges_have_blocks(void)
{
    ek_function function;
    ek_collection *tasks = make_collection("random", &function);
    int64_t first = job_rank * BLOCKS;
    CHECK_OK(ek_add_range(tasks, function, first, first + BLOCKS));
    grid.nap_us = job_rank == 0 ? 300 : 0;
    for (; grid.version < 4; grid.version++) {
        set_blocks(tasks, function);
        JOB_OK(ek_process(tasks, NULL));
        check_blocks();
    }
    ek_destroy(&tasks);
    free_blocks();
}

static void fetched_tasks_have_blocks(void)
{
    ek_function function;
    ek_collection *tasks = make_collection("random", &function);
    add_tasks(tasks, function, 1);
    for (; grid.version < 2; grid.version++) {
        set_blocks(tasks, function);
        JOB_OK(ek_begin(tasks));
#pragma omp parallel num_threads(job_workers) default(none) \
    shared(tasks, job_workers)
        {
            ek_task task = {0};
            int here = omp_get_thread_num();
            while (ek_next(tasks, here, &task) == EK_OK && task.worker)
                advance(task.worker, index_in(task.payload));
        }
        JOB_OK(ek_end(tasks, NULL));
        check_blocks();
    }
    ek_destroy(&tasks);
    free_blocks();
}

/* Functions of both kinds, and one without data, in one collection. */
static size_t pack_nothing(const ek_task *task, void *buffer, void *context)
{
    (void)task, (void)buffer, (void)context;
    return 0;
}

static int see_no_block(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    (void)bytes, (void)context;
    if (index_in(payload) == job_rank)
        CHECK(ek_task_data(worker) == NULL);
    CHECK_EQ_INT(ek_task_data_bytes(worker), 0);
    return 0;
}

static void other_functions_have_no_blocks(void)
{
    ek_function function;
    ek_data_ops ops = EK_DATA_OPS_INIT;
    ek_collection *tasks = make_collection("random", &function);
    int64_t rank = job_rank;
    ek_function plain = job_register(tasks, "plain", see_no_block, NULL);
    ek_function packed = job_register(tasks, "packed", see_no_block, NULL);
    ops.pack_input = pack_nothing;
    CHECK_OK(ek_set_data_ops(tasks, packed, &ops));
    set_blocks(tasks, function);
    add_tasks(tasks, function, 1);
    CHECK_OK(ek_add_task(tasks, packed, &rank, sizeof rank, NULL));
    rank = -1;
    CHECK_OK(ek_add_task(tasks, plain, &rank, sizeof rank, NULL));
    JOB_OK(ek_process(tasks, NULL));
    check_blocks();
    ek_destroy(&tasks);
    free_blocks();
}

static void check_refusal(ek_status status, ek_status expected,
                          const char *part)
{
    CHECK_EQ_INT(status, expected);
    CHECK_HAS_TEXT(ek_error_message(), part);
}

static void bad_arguments_are_refused(void)
{
    static unsigned char values[8];
    ek_function function;
    ek_collection *tasks = make_collection("none", &function);
    ek_function plain = job_register(tasks, "plain", job_nothing, NULL);
    check_refusal(ek_set_data_blocks(NULL, 0, 8), EK_ERR_ARG,
                  "ek_set_data_blocks: collection is NULL");
    check_refusal(ek_set_data_blocks(tasks, 9, 8), EK_ERR_ARG,
                  "ek_set_data_blocks: function 9 is not registered; allowed: "
                  "0 ... 1");
    check_refusal(ek_set_data_blocks(tasks, plain, ((size_t)1 << 30) + 1),
                  EK_ERR_ARG,
                  "ek_set_data_blocks: bytes_max of 'plain' is 1073741825; "
                  "allowed: 0 ... 1073741824");
    check_refusal(ek_set_data_blocks(tasks, function, 8), EK_ERR_ARG,
                  "ek_set_data_blocks: 'advance' has data already");
    check_refusal(ek_set_block(NULL, 0, 0, values, 8), EK_ERR_ARG,
                  "ek_set_block: collection is NULL");
    check_refusal(ek_set_block(tasks, 9, 0, values, 8), EK_ERR_ARG,
                  "ek_set_block: function 9 is not registered");
    check_refusal(ek_set_block(tasks, plain, 0, values, 8), EK_ERR_ARG,
                  "'plain' has no blocks; call ek_set_data_blocks first");
    check_refusal(ek_set_block(tasks, function, -1, values, 8), EK_ERR_ARG,
                  "index of 'advance' is -1; allowed: 0 or more");
    check_refusal(ek_set_block(tasks, function, 3, values, LARGEST + 1),
                  EK_ERR_ARG,
                  "block 3 of 'advance' has 262145 bytes; allowed: 0 ... "
                  "262144");
    check_refusal(ek_set_block(tasks, function, 3, values, (size_t)-1),
                  EK_ERR_ARG, "allowed: 0 ... 262144");
    check_refusal(ek_set_block(tasks, function, 3, NULL, 8), EK_ERR_ARG,
                  "address of block 3 of 'advance' is NULL; allowed: NULL with "
                  "0 bytes");
    ek_destroy(&tasks);
}

static void a_budget_that_is_too_small_is_told(void)
{
    ek_options options = job_options();
    job_set_number(&options, "data_bytes", 1 << 20);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "box", advance_task, NULL);
    check_refusal(ek_set_data_blocks(tasks, function, 1 << 20), EK_ERR_ARG,
                  "bytes_max is 1048576: an input");
    CHECK_OK(ek_set_data_blocks(tasks, function, 1 << 10));
    ek_destroy(&tasks);
}

static void following_is_refused_with_the_remedy(void)
{
    ek_options options = job_options();
    job_set(&options, "data", "follow");
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "box", advance_task, NULL);
    check_refusal(ek_set_data_blocks(tasks, function, 8), EK_ERR_ARG,
                  "call ek_set_data_ops, or set data=return");
    ek_destroy(&tasks);
}

static ek_status inside[2];

static int set_inside(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    static unsigned char value;
    (void)worker, (void)payload, (void)bytes;
    inside[0] = ek_set_data_blocks(context, 0, 8);
    inside[1] = ek_set_block(context, 0, 0, &value, 1);
    return 0;
}

static void blocks_are_set_between_iterations(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "inside", set_inside, tasks);
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_set_option(tasks, "steal", "none"));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(inside[0], EK_ERR_STATE);
    CHECK_EQ_INT(inside[1], EK_ERR_STATE);
}

/* Block 7 of the last rank was never set; its task starts SHIFT ranks on. */
static void check_missing(int shift, const void *payload, size_t bytes,
                          const char *words)
{
    ek_function function;
    ek_collection *tasks = make_collection("none", &function);
    ek_hint hint = EK_HINT_INIT;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    set_blocks(tasks, function);
    add_tasks(tasks, function, 0);
    hint.rank = (job_rank + shift) % job_size;
    if (job_rank == job_size - 1)
        CHECK_OK(ek_add_task(tasks, function, payload, bytes, &hint));
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_TASK);
    CHECK_HAS_TEXT(ek_error_message(), "of function 'advance' failed");
    CHECK_HAS_TEXT(ek_error_message(), words);
    JOB_OK(ek_set_option(tasks, "on_failure", "continue"));
    set_blocks(tasks, function);
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "failed"), 1);
    check_blocks();
    ek_destroy(&tasks);
    free_blocks();
}

static void a_missing_block_fails_its_task(void)
{
    char words[120];
    const int64_t unset = RANKS * BLOCKS + 7, negative = -3;
    const int32_t shorter = 1;
    snprintf(words, sizeof words,
             "index 247 has no block on rank %d, its home; call ek_set_block "
             "there",
             job_size - 1);
    for (int shift = 0; shift < 2; shift++) {
        check_missing(shift, &unset, sizeof unset, words);
        check_missing(shift, &negative, sizeof negative,
                      "its payload begins with no index");
        check_missing(shift, &shorter, sizeof shorter,
                      "its payload begins with no index");
    }
}

/* A task that is fetched with no block is never handed out. */
static void a_fetched_task_without_block_is_left_out(void)
{
    ek_function function;
    ek_collection *tasks = make_collection("none", &function);
    int64_t index = job_rank, fetched = 0;
    ek_task task = {0};
    CHECK_OK(ek_add_task(tasks, function, &index, sizeof index, NULL));
    JOB_OK(ek_begin(tasks));
    for (int here = 0; here < job_workers; here++) {
        while (ek_next(tasks, here, &task) == EK_OK && task.worker)
            fetched++;
    }
    JOB_STATUS(ek_end(tasks, NULL), EK_ERR_TASK);
    CHECK_EQ_INT(fetched, 0);
    CHECK_HAS_TEXT(ek_error_message(), "has no block on rank");
    ek_destroy(&tasks);
}

/* Last or first, and anything between: nothing is lost while a table grows. */
static void tables_grow_both_ways(void)
{
    static unsigned char values[2000];
    ek_function function;
    ek_collection *tasks = make_collection("none", &function);
    for (int64_t i = 0; i < 1000; i++) {
        int64_t index = i % 2 ? 5000 + i : 5000 - i;
        values[index - 4000] = value_of(index, 0, 0);
        CHECK_OK(
            ek_set_block(tasks, function, index, &values[index - 4000], 1));
    }
    CHECK_OK(ek_set_block(tasks, function, 0, NULL, 0));
    check_refusal(ek_set_block(tasks, function, INT64_MAX, values, 1),
                  EK_ERR_NOMEM, "of 'advance': each index from the lowest");
    ek_destroy(&tasks);
    tasks = make_collection("none", &function);
    CHECK_OK(ek_set_block(tasks, function, INT64_MAX, values, 1));
    check_refusal(ek_set_block(tasks, function, 0, values, 1), EK_ERR_NOMEM,
                  "of 'advance': each index from the lowest");
    ek_destroy(&tasks);
}

static void exhaustion_is_an_error(ek_collection *tasks)
{
    static unsigned char value;
    ek_function function = job_register(tasks, "box", advance_task, NULL);
    ek_status status = EK_ERR_NOMEM;
    for (int n = 1; status != EK_OK; n++) {
        eki_memory_fail(n);
        status = ek_set_data_blocks(tasks, function, 8);
        eki_memory_fail(0);
        if (status != EK_OK)
            check_refusal(status, EK_ERR_NOMEM, "no memory");
    }
    eki_memory_fail(1);
    check_refusal(ek_set_block(tasks, function, 0, &value, 1), EK_ERR_NOMEM,
                  "no memory for index 0 of 'box'");
    eki_memory_fail(0);
    CHECK_OK(ek_set_block(tasks, function, 0, &value, 1));
}

static void ranks_that_differ_are_told(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "box", advance_task, NULL);
    bool is_last = job_rank == job_size - 1;
    CHECK_OK(ek_set_data_blocks(tasks, function, 1000 + (size_t)is_last));
    JOB_STATUS(ek_process(tasks, NULL), job_size > 1 ? EK_ERR_ARG : EK_OK);
    if (job_size == 1)
        return;
    CHECK_HAS_TEXT(ek_error_message(),
                   "on rank 0 function 0 is 'box', with blocks of at most 1000 "
                   "bytes");
    CHECK_HAS_TEXT(ek_error_message(), "at most 1001 bytes");
}

static void ranks_without_blocks_are_told(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "box", advance_task, NULL);
    if (job_rank == 0)
        CHECK_OK(ek_set_data_blocks(tasks, function, 1000));
    JOB_STATUS(ek_process(tasks, NULL), job_size > 1 ? EK_ERR_ARG : EK_OK);
    if (job_size > 1)
        CHECK_HAS_TEXT(ek_error_message(), "with blocks of at most 1000 bytes");
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN(blocks_travel_with_new_addresses_and_lengths);
    JOB_RUN(stolen_indices_of_ranges_have_blocks);
    JOB_RUN(fetched_tasks_have_blocks);
    JOB_RUN(other_functions_have_no_blocks);
    JOB_RUN(bad_arguments_are_refused);
    JOB_RUN(a_budget_that_is_too_small_is_told);
    JOB_RUN(following_is_refused_with_the_remedy);
    JOB_RUN_TASKS(blocks_are_set_between_iterations);
    JOB_RUN(a_missing_block_fails_its_task);
    JOB_RUN(a_fetched_task_without_block_is_left_out);
    JOB_RUN(tables_grow_both_ways);
    JOB_RUN_TASKS(exhaustion_is_an_error);
    JOB_RUN_TASKS(ranks_that_differ_are_told);
    JOB_RUN_TASKS(ranks_without_blocks_are_told);
    return job_result();
}
