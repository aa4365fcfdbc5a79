/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the ranks of a node share: where it is, what of it is seen when,
 * and what is wrong.
 *
 *     test_shared RANKS WORKERS [small]
 *
 * small: the mount for shared memory has no room for what is asked for.
 */
#include "job.h"

#include <evenkeel_bind.h>
#include <evenkeel_data.h>
#include <evenkeel_pull.h>

/* Of the library's inside: allocation N from now on fails; 0: none. */
void eki_memory_fail(int64_t n);

enum {
    TASKS = 200, /* of each rank */
    ITERATIONS = 5
};

/* Ranks first ... last - 1 of the node of this rank: a test is run on nodes of
 * one rank, too. */
static struct {
    int first, last;
} node;

static void find_node(void)
{
    const char *text = getenv("EVENKEEL_RANKS_PER_NODE");
    int ranks = text ? atoi(text) : 0;
    node.first = ranks > 0 ? job_rank / ranks * ranks : 0;
    node.last = ranks > 0 && node.first + ranks < job_size ? node.first + ranks
                                                           : job_size;
}

/* Ranks want different lengths, and one of them nothing. */
static size_t count_of(int rank)
{
    return rank == 1 ? 0 : (size_t)(1000 * rank + 333);
}

static void all_ranks_of_a_node_see_it(ek_collection *tasks)
{
    void *given = NULL;
    CHECK(ek_shared_at(tasks, job_rank) == NULL);
    JOB_OK(
        ek_shared_alloc(tasks, count_of(job_rank) * sizeof(int64_t), &given));
    int64_t *mine = given;
    CHECK(mine != NULL && mine == ek_shared_at(tasks, job_rank));
    CHECK_EQ_INT((uintptr_t)mine % 128, 0);
    for (size_t i = 0; i < count_of(job_rank); i++) {
        CHECK_EQ_INT(mine[i], 0);
        mine[i] = (int64_t)i + job_rank;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int rank = 0; rank < job_size; rank++) {
        const int64_t *values = ek_shared_at(tasks, rank);
        bool is_near = rank >= node.first && rank < node.last;
        CHECK((values != NULL) == is_near);
        for (size_t i = 0; values && i < count_of(rank); i++)
            CHECK_EQ_INT(values[i], (int64_t)i + rank);
    }
    CHECK(ek_shared_at(tasks, -1) == NULL);
    CHECK(ek_shared_at(tasks, job_size) == NULL);
    CHECK(ek_shared_at(NULL, 0) == NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A value of each task, of its owner. */
struct item {
    int owner, index;
};
static int64_t iteration;
static _Atomic int64_t moved, wrong;

static int advance_item(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    const struct item *item = payload;
    int64_t *values = ek_shared_at(context, item->owner);
    (void)worker, (void)bytes;
    moved += item->owner != job_rank;
    wrong += !values || values[item->index] != 2 * iteration;
    if (values)
        values[item->index]++;
    return 0;
}

static ek_collection *make_items(const char *steal, int64_t **mine)
{
    ek_options options = job_options();
    void *given = NULL;
    CHECK_OK(ek_options_set(&options, "steal", steal));
    CHECK_OK(ek_options_set(&options, "restore", "retain"));
    ek_collection *tasks = job_create(&options);
    JOB_OK(ek_shared_alloc(tasks, TASKS * sizeof(int64_t), &given));
    *mine = given;
    moved = wrong = iteration = 0;
    return tasks;
}

/* All tasks of a rank begin on the next one, where there is one of the node. */
static void add_items(ek_collection *tasks, ek_function function)
{
    ek_hint hint = EK_HINT_INIT;
    hint.rank = job_rank + 1 < node.last ? job_rank + 1 : node.first;
    for (int i = 0; i < TASKS; i++) {
        struct item item = {job_rank, i};
        CHECK_OK(ek_add_task(tasks, function, &item, sizeof item, &hint));
    }
}

/* What the owner does between iterations, late on one rank after the other. */
static void own(int64_t *mine)
{
    if (job_rank == (int)(iteration % job_size))
        job_nap(20000);
    for (int i = 0; i < TASKS; i++) {
        CHECK_EQ_INT(mine[i], iteration == 0 ? 0 : 2 * iteration - 1);
        mine[i] = 2 * iteration;
    }
}

static void check_items(const int64_t *mine)
{
    for (int i = 0; i < TASKS; i++)
        CHECK_EQ_INT(mine[i], 2 * iteration - 1);
    CHECK_EQ_INT(wrong, 0);
    CHECK(moved > 0 || node.last - node.first == 1);
}

/* Without any other word between ranks: a task that begins on another rank
 * than its owner's sees what the owner has written last, and the other way
 * round. */
static void no_task_begins_before_its_owner(void)
{
    static const char *const steals[] = {"none", "node", "counter"};
    for (int i = 0; i < (node.last - node.first < job_size ? 2 : 3); i++) {
        int64_t *mine;
        ek_collection *tasks = make_items(steals[i], &mine);
        ek_function function =
            job_register(tasks, "advance", advance_item, tasks);
        add_items(tasks, function);
        for (iteration = 0; iteration < ITERATIONS; iteration++) {
            own(mine);
            JOB_OK(ek_process(tasks, NULL));
            CHECK_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        }
        check_items(mine);
        ek_destroy(&tasks);
    }
}

static void no_task_is_fetched_before_its_owner(void)
{
    int64_t *mine;
    ek_collection *tasks = make_items("node", &mine);
    ek_function function = job_register(tasks, "advance", advance_item, tasks);
    ek_task task = {0};
    add_items(tasks, function);
    for (iteration = 0; iteration < ITERATIONS; iteration++) {
        own(mine);
        CHECK_OK(ek_begin(tasks));
        for (int here = 0; here < job_workers; here++) {
            while (ek_next(tasks, here, &task) == EK_OK && task.worker)
                advance_item(task.worker, task.payload, task.bytes, tasks);
        }
        CHECK_OK(ek_end(tasks, NULL));
        CHECK_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    check_items(mine);
    ek_destroy(&tasks);
}

/* Ranks that differ wait for nobody in vain. */
static void a_call_too_many_is_told(void)
{
    int64_t *mine;
    ek_collection *tasks = make_items("node", &mine);
    ek_function function = job_register(tasks, "advance", advance_item, tasks);
    add_items(tasks, function);
    own(mine);
    JOB_OK(ek_process(tasks, NULL));
    if (job_rank == job_size - 1 && job_size > 1)
        JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
    else
        JOB_STATUS(ek_restore(tasks, EK_RESTORE_CENTRALIZED, NULL),
                   job_size > 1 ? EK_ERR_ARG : EK_OK);
    ek_destroy(&tasks);
}

static void check_refusal(ek_status status, ek_status expected,
                          const char *part)
{
    JOB_STATUS(status, expected);
    CHECK_HAS_TEXT(ek_error_message(), part);
}

static ek_status status_inside;

static int alloc_inside(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    void *mine;
    (void)worker, (void)payload, (void)bytes;
    status_inside = ek_shared_alloc(context, 8, &mine);
    return 0;
}

static void wrong_calls_are_refused(ek_collection *tasks)
{
    void *mine = &mine;
    ek_function function = job_register(tasks, "inside", alloc_inside, tasks);
    check_refusal(ek_shared_alloc(tasks, 8, NULL), EK_ERR_ARG,
                  "ek_shared_alloc: mine is NULL");
    check_refusal(ek_shared_alloc(NULL, 8, &mine), EK_ERR_ARG,
                  "ek_shared_alloc: collection is NULL");
    CHECK(mine == NULL);
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_set_option(tasks, "steal", "none"));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(status_inside, EK_ERR_STATE);
    /* One rank alone is wrong: all hear of it. */
    check_refusal(ek_shared_alloc(
                      tasks, job_rank == job_size - 1 ? (size_t)-1 : 8, &mine),
                  EK_ERR_ARG,
                  "ek_shared_alloc: bytes is 18446744073709551615; allowed: 0 "
                  "... ");
    CHECK(mine == NULL && ek_shared_at(tasks, job_rank) == NULL);
    JOB_OK(ek_shared_alloc(tasks, 8, &mine));
    check_refusal(ek_shared_alloc(tasks, 8, &mine), EK_ERR_STATE,
                  "has shared memory already; allowed: once for a collection");
    CHECK(mine == NULL && ek_shared_at(tasks, job_rank) != NULL);
}

/* Nobody wants anything; two collections; what was given back is zero again. */
static void memory_is_given_back(void)
{
    for (int i = 0; i < 3; i++) {
        ek_collection *tasks[2];
        for (int k = 0; k < 2; k++) {
            void *mine = NULL;
            size_t bytes = i == 2 ? 0 : 100000;
            tasks[k] = job_create(NULL);
            JOB_OK(ek_shared_alloc(tasks[k], bytes, &mine));
            CHECK(mine != NULL);
            for (size_t b = 0; b < bytes; b++) {
                CHECK(((unsigned char *)mine)[b] == 0);
                ((unsigned char *)mine)[b] = 255;
            }
        }
        CHECK(ek_shared_at(tasks[0], 0) != ek_shared_at(tasks[1], 0) ||
              !ek_shared_at(tasks[0], 0));
        ek_destroy(&tasks[0]);
        ek_destroy(&tasks[1]);
    }
}

/* The last rank alone has no memory for one thing after the other. */
static void exhaustion_is_an_error_of_all(ek_collection *tasks)
{
    void *mine = NULL;
    ek_status status = EK_ERR_NOMEM;
    for (int n = 1; status != EK_OK && n < 20; n++) {
        eki_memory_fail(job_rank == job_size - 1 ? n : 0);
        status = ek_shared_alloc(tasks, 1000, &mine);
        eki_memory_fail(0);
        CHECK_EQ_INT(job_most(-status), -status);
        if (status != EK_OK)
            check_refusal(status, EK_ERR_NOMEM, "memory");
        CHECK((mine == NULL) == (status != EK_OK));
    }
    CHECK_EQ_INT(status, EK_OK);
    /* And it goes on. */
    ek_function function = job_register(tasks, "nothing", job_nothing, NULL);
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, NULL));
}

static void a_mount_without_room_is_told(ek_collection *tasks)
{
    void *mine = NULL;
    check_refusal(ek_shared_alloc(tasks, (size_t)64 << 20, &mine), EK_ERR_NOMEM,
                  "enlarge it");
    CHECK(mine == NULL);
    JOB_OK(ek_shared_alloc(tasks, 1000, &mine));
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    find_node();
    if (argc > 3 && strcmp(argv[3], "small") == 0) {
        JOB_RUN_TASKS(a_mount_without_room_is_told);
        return job_result();
    }
    JOB_RUN_TASKS(all_ranks_of_a_node_see_it);
    JOB_RUN(no_task_begins_before_its_owner);
    JOB_RUN(no_task_is_fetched_before_its_owner);
    JOB_RUN(a_call_too_many_is_told);
    JOB_RUN_TASKS(wrong_calls_are_refused);
    JOB_RUN(memory_is_given_back);
    JOB_RUN_TASKS(exhaustion_is_an_error_of_all);
    return job_result();
}
