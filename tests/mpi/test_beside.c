/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collections over one communicator, which share what they use: what becomes of
 * the others when one comes, goes, fails or breaks.
 *
 *     test_beside RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_pull.h>
#include <string.h>

enum {
    MOST = 6,
    TASKS = 300
};

struct one {
    ek_collection *tasks;
    ek_function function;
    _Atomic int64_t ran; /* on this rank */
};

static struct one all[MOST];
static bool damages; /* the next message */

/* In place of MPI's: a bit of a message of the library is wrong.  Visible to
 * it, which MPICH's header does not see to. */
__attribute__((visibility("default"))) int
MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
          MPI_Comm comm, MPI_Request *request)
{
    if (damages) {
        damages = false;
        ((unsigned char *)(uintptr_t)buffer)[0] ^= 1;
    }
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

static struct {
    char names[8][MPI_MAX_OBJECT_NAME];
    int count;
} freed; /* communicators */

/* In place of MPI's, as above: it notes the name. */
__attribute__((visibility("default"))) int MPI_Comm_free(MPI_Comm *comm)
{
    int length;
    if (freed.count < 8)
        PMPI_Comm_get_name(*comm, freed.names[freed.count++], &length);
    return PMPI_Comm_free(comm);
}

static int count(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    struct one *one = context;
    (void)worker, (void)payload, (void)bytes;
    atomic_fetch_add_explicit(&one->ran, 1, memory_order_relaxed);
    if (job_size > 1)
        job_nap(20); /* others may steal */
    return 0;
}

static void open_one(struct one *one, const ek_options *options)
{
    one->tasks = job_create(options);
    one->function = job_register(one->tasks, "count", count, one);
}

/* Seeds of one rank, which others steal. */
static void add(struct one *one, int rank)
{
    atomic_store_explicit(&one->ran, 0, memory_order_relaxed);
    for (int64_t i = 0; i < TASKS && rank == job_rank; i++)
        CHECK_OK(ek_add_task(one->tasks, one->function, &i, sizeof i, NULL));
}

static void check_ran(struct one *one)
{
    int64_t ran = atomic_load_explicit(&one->ran, memory_order_relaxed);
    CHECK_EQ_INT(job_sum(ran), TASKS);
    CHECK_OK(ek_clear(one->tasks));
}

static void use(struct one *one, int rank)
{
    add(one, rank);
    JOB_OK(ek_process(one->tasks, NULL));
    check_ran(one);
}

static ek_options options_of(int64_t ranks_per_node, int64_t payload_bytes)
{
    ek_options options = job_options();
    job_set_number(&options, "ranks_per_node", ranks_per_node);
    options.payload_bytes = payload_bytes;
    return options;
}

/* Tools show them. */
static void their_communicators_have_names(void)
{
    static const char *const names[] = {"evenkeel tasks of solver, node",
                                        "evenkeel tasks of solver, host",
                                        "evenkeel tasks of solver"};
    ek_options options = options_of(0, 48);
    char text[MPI_MAX_OBJECT_NAME];
    ek_collection *tasks;
    MPI_Comm solver;
    MPI_Comm_dup(MPI_COMM_WORLD, &solver);
    MPI_Comm_set_name(solver, "solver");
    JOB_OK(ek_create(solver, &options, &tasks));
    freed.count = 0;
    ek_destroy(&tasks);
    CHECK_EQ_INT(freed.count, 3);
    for (int i = 0; i < 3; i++)
        CHECK_EQ_TEXT(freed.names[i], names[i]);
    /* A long name is cut. */
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    MPI_Comm_set_name(solver, text);
    JOB_OK(ek_create(solver, &options, &tasks));
    freed.count = 0;
    ek_destroy(&tasks);
    CHECK_HAS_TEXT(freed.names[2], "evenkeel tasks of xxx");
    MPI_Comm_free(&solver);
}

/* Of other nodes, and with messages of other sizes; each is destroyed while
 * others are used, by each rank in an order of its own. */
static void unlike_ones_go_in_any_order(void)
{
    for (int i = 0; i < MOST; i++) {
        ek_options options = options_of(i % 3, i < 4 ? 48 : 9000);
        open_one(&all[i], &options);
    }
    for (int i = 0; i < 4 * MOST; i++)
        use(&all[i % MOST], i % job_size);
    for (int i = 1; i < MOST; i++)
        ek_destroy(&all[1 + (i + job_rank) % (MOST - 1)].tasks);
    use(&all[0], job_size - 1);
    ek_options options = options_of(1, 48);
    open_one(&all[1], &options);
    use(&all[1], 0);
    for (int i = 0; i < 2; i++)
        ek_destroy(&all[(i + job_rank) % 2].tasks);
}

/* All ranks hear which option it is, nobody waits, and the next one can be
 * made. */
static void ranks_that_disagree_leave_others_alone(void)
{
    static const char *const names[] = {"ranks_per_node", "payload_bytes"};
    ek_options options = options_of(1, 48);
    open_one(&all[0], &options);
    for (int i = 0; job_size > 1 && i < 2; i++) {
        ek_collection *tasks = NULL;
        bool is_last = job_rank == job_size - 1;
        ek_options other = options_of(i == 0 && is_last ? 2 : 1, 48);
        other.payload_bytes += i == 1 && is_last ? 9000 : 0;
        other.ignore_environment = true;
        ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
        JOB_STATUS(ek_create(MPI_COMM_WORLD, &other, &tasks), EK_ERR_ARG);
        ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
        CHECK_HAS_TEXT(ek_error_message(), names[i]);
        CHECK(tasks == NULL);
        use(&all[0], 0);
    }
    open_one(&all[1], &options);
    use(&all[1], job_size - 1);
    use(&all[0], 0);
    ek_destroy(&all[1].tasks);
    ek_destroy(&all[0].tasks);
}

/* Nobody can tell whose a damaged message was: all that were open then are
 * broken, one that is made later is not. */
static void a_damaged_message_breaks_who_was_there(void)
{
    ek_options options = options_of(1, 48);
    for (int i = 0; i < 2; i++)
        open_one(&all[i], &options);
    use(&all[1], 0);
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    damages = job_rank == job_size - 1;
    add(&all[0], 0);
    JOB_STATUS(ek_process(all[0].tasks, NULL), EK_ERR_MPI);
    JOB_STATUS(ek_process(all[0].tasks, NULL), EK_ERR_STATE);
    add(&all[1], 0);
    JOB_STATUS(ek_process(all[1].tasks, NULL), EK_ERR_MPI);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    open_one(&all[2], &options);
    use(&all[2], 0);
    ek_destroy(&all[1].tasks);
    use(&all[2], job_size - 1);
    ek_destroy(&all[0].tasks);
    use(&all[2], 0);
    ek_destroy(&all[2].tasks);
}

/* The server of one is a thread that polls while others come and go. */
static void others_come_and_go_in_an_open_iteration(void)
{
    ek_options options = options_of(1, 48);
    options.progress = EK_PROGRESS_SERVER;
    options.workers = 1;
    options.ignore_environment = true;
    open_one(&all[0], &options);
    open_one(&all[1], &options);
    add(&all[0], 0);
    JOB_OK(ek_begin(all[0].tasks));
    for (int i = 0; i < 20; i++) {
        open_one(&all[2], &options);
        if (i % 2 == 0) {
            ek_destroy(&all[2].tasks);
        } else {
            ek_destroy(&all[1].tasks);
            all[1].tasks = all[2].tasks;
        }
    }
    ek_task task;
    while (ek_next(all[0].tasks, 0, &task) == EK_OK && task.worker)
        atomic_fetch_add_explicit(&all[0].ran, 1, memory_order_relaxed);
    JOB_OK(ek_end(all[0].tasks, NULL));
    check_ran(&all[0]);
    ek_destroy(&all[0].tasks);
    ek_destroy(&all[1].tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_MULTIPLE);
    JOB_RUN(their_communicators_have_names);
    JOB_RUN(unlike_ones_go_in_any_order);
    JOB_RUN(ranks_that_disagree_leave_others_alone);
    if (job_size > 1)
        JOB_RUN(a_damaged_message_breaks_who_was_there);
    JOB_RUN(others_come_and_go_in_an_open_iteration);
    /* Of those that are left nothing but memory is freed. */
    for (int i = 0; i < 2; i++) {
        ek_options options = options_of(i, 48);
        open_one(&all[i], &options);
        use(&all[i], 0);
    }
    int failed = job_result();
    for (int i = 0; i < 2; i++)
        ek_destroy(&all[(i + job_rank) % 2].tasks);
    return failed;
}
