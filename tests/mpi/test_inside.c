/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What docs/explain/tasks-and-mpi.md says that a task may do: MPI by the thread
 * level, OpenMP, waiting for a device, pointers where tasks are pinned,
 * messages of the program between tasks.
 *
 *     test_inside RANKS WORKERS LEVEL
 *
 * LEVEL is the MPI thread level, 0 ... 3.
 */
#include "numbered.h"

#include <evenkeel_pull.h>
#include <evenkeel_spawn.h>
#include <omp.h>
#include <pthread.h>

static int level;

/* With a program's communicator. */
static int talks_to_itself(ek_worker *worker, const void *payload, size_t bytes,
                           void *context)
{
    MPI_Comm comm = *(const MPI_Comm *)context;
    int number = number_of(payload), got = -1, is_main = 0;
    (void)bytes;
    MPI_Is_thread_main(&is_main);
    CHECK(is_main || level == MPI_THREAD_MULTIPLE);
    /* Workers of a rank tell their messages apart by tags. */
    MPI_Sendrecv(&number, 1, MPI_INT, job_rank, ek_worker_here(worker), &got, 1,
                 MPI_INT, job_rank, ek_worker_here(worker), comm,
                 MPI_STATUS_IGNORE);
    CHECK_EQ_INT(got, number);
    note(number);
    return 0;
}

/* Every worker at MPI_THREAD_MULTIPLE; below, the only one of a rank, which
 * polls. */
static void tasks_call_mpi(void)
{
    MPI_Comm comm;
    ek_options options = job_options();
    if (level < MPI_THREAD_MULTIPLE && job_workers > 1)
        return;
    options.progress = EK_PROGRESS_POLLING;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "talks", talks_to_itself, &comm);
    forget();
    add_numbers(tasks, function, TASKS);
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(total_in_job(), TASKS * job_size);
        restore(tasks, EK_RESTORE_RETAIN);
    }
    ek_destroy(&tasks);
    MPI_Comm_free(&comm);
}

static int sum_below(int n)
{
    return n * (n - 1) / 2;
}

static int has_threads(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    int number = number_of(payload), sum = 0, threads = 0;
    (void)worker, (void)bytes, (void)context;
#pragma omp parallel num_threads(2) default(none) \
    shared(number, threads) reduction(+ : sum)
    {
#pragma omp atomic write
        threads = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < number; i++)
            sum += i;
    }
    CHECK_EQ_INT(threads, 2);
    CHECK_EQ_INT(sum, sum_below(number));
    note(number);
    return 0;
}

static int has_tasks(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    int number = number_of(payload), sums[4] = {0};
    (void)worker, (void)bytes, (void)context;
    for (int i = 0; i < 4; i++) {
#pragma omp task default(none) firstprivate(i, number) shared(sums)
        for (int k = i; k < number; k += 4)
            sums[i] += k;
    }
#pragma omp taskwait
    CHECK_EQ_INT(sums[0] + sums[1] + sums[2] + sums[3], sum_below(number));
    note(number);
    return 0;
}

static void tasks_use_openmp(void)
{
    ek_task_fn *const bodies[] = {has_threads, has_tasks};
    omp_set_max_active_levels(2);
    omp_set_dynamic(0);
    for (int i = 0; i < 2; i++) {
        ek_function function;
        ek_collection *tasks = make(bodies[i], &function);
        add_numbers(tasks, function, 20);
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(total_in_job(), 20 * job_size);
        ek_destroy(&tasks);
    }
    omp_set_max_active_levels(1);
}

static ek_collection *inner;

static int opens_another(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    (void)worker, (void)bytes, (void)context;
    CHECK_EQ_INT(ek_process(inner, NULL), EK_ERR_STATE);
    note(number_of(payload));
    return 0;
}

/* One iteration of a process at a time. */
static void no_iteration_inside_of_another(void)
{
    ek_function function;
    ek_collection *tasks = make(opens_another, &function);
    inner = job_create(NULL);
    add_numbers(tasks, function, 2);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(total_in_job(), 2 * job_size);
    JOB_OK(ek_process(inner, NULL));
    ek_destroy(&inner);
    ek_destroy(&tasks);
}

/* A thread that stands in for a device, which takes a kernel at a time. */
struct device {
    pthread_mutex_t mutex;
    _Atomic int kernels; /* that are to be run */
    _Atomic bool is_over;
    pthread_t thread;
};

static void *run_device(void *argument)
{
    struct device *device = argument;
    while (!atomic_load(&device->is_over)) {
        if (atomic_load(&device->kernels) == 0)
            job_nap(50);
        else
            atomic_fetch_sub(&device->kernels, 1);
    }
    return NULL;
}

/* Waits without a core; what the device took is the task's cost. */
static int waits_for_device(ek_worker *worker, const void *payload,
                            size_t bytes, void *context)
{
    struct device *device = context;
    int number = number_of(payload);
    (void)bytes;
    pthread_mutex_lock(&device->mutex);
    atomic_store(&device->kernels, 3);
    while (atomic_load(&device->kernels) > 0) {
        ek_poll(worker);
        job_nap(50);
    }
    pthread_mutex_unlock(&device->mutex);
    ek_set_cost(worker, 1 + number);
    note(number);
    return 0;
}

static bool check_cost(const ek_task *task, void *context)
{
    (void)context;
    CHECK_NEAR(task->duration_s / (1 + number_of(task->payload)), 1, 0.004);
    return true;
}

static void tasks_wait_for_a_device(void)
{
    struct device device = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_create(&device.thread, NULL, run_device, &device);
    ek_collection *tasks = job_create(NULL);
    ek_function function =
        job_register(tasks, "kernel", waits_for_device, &device);
    forget();
    add_numbers(tasks, function, 8);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(total_in_job(), 8 * job_size);
    CHECK_OK(ek_visit_tasks(tasks, check_cost, NULL));
    ek_destroy(&tasks);
    atomic_store(&device.is_over, true);
    pthread_join(device.thread, NULL);
}

static int adds_to_pointer(ek_worker *worker, const void *payload, size_t bytes,
                           void *context)
{
    int *at;
    (void)worker, (void)bytes, (void)context;
    memcpy(&at, payload, sizeof at);
    ++*at;
    return 0;
}

static int warnings;

static void count_warnings(ek_level at, const char *line, void *context)
{
    (void)line, (void)context;
    warnings += at == EK_LEVEL_WARN;
}

/* A pinned task stays in the process whose memory it points to, and is not
 * warned of. */
static void pinned_tasks_may_have_pointers(void)
{
    int counts[TASKS] = {0};
    ek_hint hint = EK_HINT_INIT;
    ek_options options = job_options();
    job_set_number(&options, "check", 1);
    hint.pinned = true;
    ek_set_sink(count_warnings, NULL, EK_LEVEL_WARN);
    ek_collection *tasks = job_create(&options);
    ek_function function =
        job_register(tasks, "pointer", adds_to_pointer, NULL);
    warnings = 0;
    for (int i = 0; i < TASKS; i++) {
        int *at = &counts[i];
        CHECK_OK(ek_add_task(tasks, function, &at, sizeof at, &hint));
    }
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_process(tasks, NULL));
        restore(tasks, EK_RESTORE_CENTRALIZED);
    }
    for (int i = 0; i < TASKS; i++)
        CHECK_EQ_INT(counts[i], 3);
    CHECK_EQ_INT(warnings, 0);
    ek_destroy(&tasks);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
}

/* Inner cells need nothing; the edge brings what came from the neighbor. */
struct cell {
    int number, halo;
};

static ek_function inside, edge;
static _Atomic int64_t insides, edges;

static void compute(const ek_task *task)
{
    struct cell cell;
    memcpy(&cell, task->payload, sizeof cell);
    if (task->function == inside)
        atomic_fetch_add(&insides, cell.number);
    else
        atomic_fetch_add(&edges, cell.halo);
}

/* Compute the edge as soon as its halo is there: as a task if there is one that
 * can spawn it, else after the loop. */
static void step_with_halo(ek_collection *tasks, MPI_Comm comm)
{
    int halo, left = (job_rank + job_size - 1) % job_size, flag = 0;
    MPI_Request requests[2];
    MPI_Irecv(&halo, 1, MPI_INT, left, 0, comm, &requests[0]);
    MPI_Isend(&job_rank, 1, MPI_INT, (job_rank + 1) % job_size, 0, comm,
              &requests[1]);
    JOB_OK(ek_begin(tasks));
    ek_task task;
    while (ek_next(tasks, 0, &task) == EK_OK && task.worker) {
        compute(&task);
        if (!flag)
            MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        else
            continue;
        struct cell cell = {-1, halo};
        if (flag)
            CHECK_OK(ek_spawn(task.worker, edge, &cell, sizeof cell, 0));
    }
    JOB_OK(ek_end(tasks, NULL));
    if (!flag) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        atomic_fetch_add(&edges, halo);
    }
}

/* The program's own messages go between the tasks of a loop, by the thread that
 * may call MPI. */
static void halos_arrive_between_tasks(void)
{
    MPI_Comm comm;
    ek_options options = job_options();
    options.workers = 1;
    options.ignore_environment = true;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ek_collection *tasks = job_create(&options);
    inside = job_register(tasks, "inside", NULL, NULL);
    edge = job_register(tasks, "edge", NULL, NULL);
    for (int i = 0; i < TASKS; i++) {
        struct cell cell = {i, -1};
        CHECK_OK(ek_add_task(tasks, inside, &cell, sizeof cell, NULL));
    }
    for (int i = 0; i < 4; i++) {
        step_with_halo(tasks, comm);
        CHECK_EQ_INT(job_sum(atomic_exchange(&insides, 0)),
                     job_size * sum_below(TASKS));
        CHECK_EQ_INT(job_sum(atomic_exchange(&edges, 0)), sum_below(job_size));
        restore(tasks, EK_RESTORE_RETAIN);
    }
    ek_destroy(&tasks);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    level = argc > 3 ? atoi(argv[3]) : MPI_THREAD_FUNNELED;
    job_start(argc, argv, level);
    JOB_RUN(tasks_call_mpi);
    JOB_RUN(tasks_use_openmp);
    JOB_RUN(no_iteration_inside_of_another);
    JOB_RUN(tasks_wait_for_a_device);
    JOB_RUN(pinned_tasks_may_have_pointers);
    JOB_RUN(halos_arrive_between_tasks);
    return job_result();
}
