/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of an iteration: its times add up, its counts are what tasks did,
 * every figure has a name, a file gets a line per iteration.
 *
 *     test_report RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_tiles.h>

enum {
    TASKS = 40,     /* per rank */
    EMPTY = 100000, /* likewise */
    NAP_US = 300,
    BURN_US = 20000,
    LONG_US = 5000,
    STOLEN = 300, /* per worker */
    STOLEN_US = 200,
    CHILDREN = 300 /* of a rank's first task */
};

static int nap_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    (void)worker, (void)bytes, (void)context;
    int number;
    memcpy(&number, payload, sizeof number);
    job_nap(number == 0 ? LONG_US : NAP_US);
    return 0;
}

static int null_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    (void)payload, (void)bytes, (void)context;
    ek_skip(worker);
    return 0;
}

/* Functions "nap" and "null"; NAME must outlive the call only. */
static ek_collection *make(const char *report)
{
    ek_options options = job_options();
    options.name = "reported";
    options.report = report;
    ek_collection *tasks = job_create(&options);
    ek_function nap = job_register(tasks, "nap", nap_task, NULL);
    ek_function null = job_register(tasks, "null", null_task, NULL);
    for (int i = 0; i < TASKS; i++) {
        int number = i + job_rank;
        CHECK_OK(ek_add_task(tasks, nap, &number, sizeof number, NULL));
        CHECK_OK(ek_add_task(tasks, null, NULL, 0, NULL));
    }
    return tasks;
}

static double least_work_s(void)
{
    return 1e-6 * (NAP_US * (TASKS * job_size - 1) + LONG_US);
}

static void check_times(const ek_process_report *report)
{
    double whole = (double)report->workers * report->wall_s;
    double parts = report->work_s + report->overhead_s + report->search_s +
                   report->termination_s + report->start_s + report->late_s;
    CHECK_NEAR(parts, whole, 0.02 * whole);
    CHECK(report->work_s >= least_work_s());
    CHECK(report->overhead_s >= 0);
    CHECK(report->search_s >= 0);
    CHECK(report->termination_s >= 0);
    CHECK(report->start_s >= 0);
    CHECK(report->late_s >= 0);
    CHECK(report->restore_s >= 0);
    CHECK(report->outside_s >= 0);
    /* Less what it had no core for, which is known to 0.1 ms. */
    CHECK(report->largest_task_s >= 1e-6 * LONG_US - 2e-4);
    CHECK(report->wall_s >= report->largest_task_s);
    CHECK(report->imbalance >= 0);
    CHECK(report->efficiency > 0 && report->efficiency <= 1);
    CHECK(report->bound > 0 && report->bound <= 1);
    CHECK(report->starved_s >= 0);
    CHECK(report->starved_tasks_s >= 0 && report->starved_idle_s >= 0);
    CHECK(report->starved_tasks_s <= report->work_s + 1e-9);
    /* Sums of whole nanoseconds, but for what doubles round. */
    CHECK(report->starved_idle_s <=
          report->search_s + report->termination_s + 1e-9);
    CHECK(report->starved_s - report->starved_tasks_s - report->starved_idle_s >
          -1e-9);
    CHECK(report->cpu_s > 0 && report->cpu_s <= 1.001 * whole);
    CHECK(report->speed > 0);
    CHECK(report->cores >= 1);
    CHECK(report->slowest_rank >= 0 && report->slowest_rank < job_size);
    CHECK_EQ_INT(report->largest_task_function, 0);
}

static void times_add_up(void)
{
    ek_collection *tasks = make("0");
    for (int i = 0; i < 4; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        int late = job_size - 1;
        MPI_Barrier(MPI_COMM_WORLD);
        if (i == 2 && job_rank == late)
            job_nap(60000);
        JOB_OK(ek_process(tasks, &report));
        if (i == 2)
            CHECK_EQ_INT(report.latest_rank, late);
        CHECK_EQ_INT(report.iteration, i);
        CHECK_EQ_INT(report.workers, job_size * job_workers);
        CHECK_EQ_INT(report.tasks, 2 * TASKS * job_size);
        CHECK_EQ_INT(report.null_tasks, TASKS * job_size);
        CHECK_EQ_INT(report.spawned + report.cancelled + report.failed, 0);
        check_times(&report);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
}

#define FIELD(field) \
    CHECK_NEAR(figure(tasks, #field), (double)report.field, 1e-12)

static double figure(const ek_collection *tasks, const char *name)
{
    double value = (double)NAN;
    CHECK_OK(ek_report_get(tasks, name, &value));
    return value;
}

/* No processor hands a task out in half a nanosecond. */
static void handing_out_is_overhead(void)
{
    ek_options options = job_options();
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "empty", job_nothing, NULL);
    for (int i = 0; i < EMPTY; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    for (int i = 0; i < 2; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        JOB_OK(ek_process(tasks, &report));
        CHECK(report.overhead_s >= 0.5e-9 * EMPTY * job_size);
        CHECK(report.work_s >= 0);
        CHECK_NEAR(figure(tasks, "function.empty.work_s"), report.work_s, 1e-6);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
}

static void figures_have_names(void)
{
    double value = 77;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make("0");
    CHECK_EQ_INT(ek_report_get(tasks, "efficiency", &value), EK_ERR_STATE);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(ek_report_get(tasks, "efficiency", &value), EK_ERR_STATE);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_process(tasks, &report));
    FIELD(iteration), FIELD(workers), FIELD(tasks), FIELD(null_tasks);
    FIELD(spawned), FIELD(cancelled), FIELD(failed), FIELD(stolen);
    FIELD(attempted_mean), FIELD(attempted_deviation);
    FIELD(successful_mean), FIELD(successful_deviation);
    FIELD(wall_s), FIELD(work_s), FIELD(overhead_s), FIELD(search_s);
    FIELD(termination_s), FIELD(start_s), FIELD(late_s), FIELD(restore_s);
    FIELD(outside_s), FIELD(inflation), FIELD(service_p50_s);
    FIELD(service_p99_s), FIELD(largest_task_s), FIELD(largest_task_id);
    FIELD(largest_task_function), FIELD(slowest_rank), FIELD(imbalance);
    FIELD(efficiency), FIELD(bound), FIELD(cpu_s), FIELD(starved_s);
    FIELD(speed), FIELD(cores), FIELD(latest_rank);
    FIELD(tile_gets), FIELD(tile_hits), FIELD(tile_bytes), FIELD(tile_wait_s);
    FIELD(travelled), FIELD(data_in_bytes), FIELD(data_out_bytes);
    FIELD(data_held_bytes), FIELD(data_callback_s), FIELD(data_wait_s);
    FIELD(failed_across), FIELD(messages), FIELD(steal_s), FIELD(deepest);
    CHECK_EQ_INT(figure(tasks, "function.nap.tasks") +
                     figure(tasks, "function.null.tasks"),
                 2 * TASKS * job_size);
    CHECK_NEAR(figure(tasks, "function.nap.work_s") +
                   figure(tasks, "function.null.work_s"),
               report.work_s, 1e-6);
    static const char *const unknown[] = {"", "Efficiency", "function.nap",
                                          "function.none.tasks",
                                          "function.nap.wall_s"};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ_INT(ek_report_get(tasks, unknown[i], &value), EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), unknown[i]);
    }
    CHECK_EQ_INT(ek_report_get(NULL, "bound", &value), EK_ERR_ARG);
    CHECK_EQ_INT(ek_report_get(tasks, NULL, &value), EK_ERR_ARG);
    CHECK_EQ_INT(ek_report_get(tasks, "bound", NULL), EK_ERR_ARG);
    CHECK_NEAR(value, 77, 0);
    ek_destroy(&tasks);
}
#undef FIELD

enum {
    TILE = 40 /* doubles */
};

/* Get the tile of the next rank twice, and add to it. */
static int move_tiles(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    ek_tiles *tiles = *(ek_tiles **)context;
    double values[TILE];
    int next = (job_rank + 1) % job_size;
    (void)payload, (void)bytes;
    for (int i = 0; i < 2; i++)
        CHECK_OK(ek_tiles_get(worker, tiles, next, values, TILE));
    CHECK_OK(ek_tiles_accumulate(worker, tiles, next, 1, values, TILE));
    return 0;
}

/* Each rank is a node: the second get finds the tile in the cache. */
static void tiles_of_other_nodes_are_counted(void)
{
    ek_tiles *tiles;
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_options options = job_options();
    int64_t ranks = job_size > 1 ? job_size : 0;
    options.ignore_environment = true;
    options.workers = job_workers;
    job_set_number(&options, "ranks_per_node", 1);
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "move", move_tiles, &tiles);
    shape.count = job_size;
    shape.length = TILE;
    shape.cache_bytes = 2 * TILE * sizeof(double);
    JOB_OK(ek_tiles_create(tasks, &shape, &tiles));
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.tile_gets, 2 * ranks);
    CHECK_EQ_INT(report.tile_hits, ranks);
    CHECK_EQ_INT(report.tile_bytes, 2 * ranks * TILE * (int)sizeof(double));
    CHECK((report.tile_wait_s > 0) == (ranks > 0));
    CHECK(report.tile_wait_s <= report.work_s);
    ek_tiles_destroy(&tiles);
    ek_destroy(&tasks);
}

/* The same on all ranks, to the last bit. */
static void figures_are_the_same_everywhere(void)
{
    ek_process_report first, report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make("0");
    JOB_OK(ek_process(tasks, &report));
    memcpy(&first, &report, sizeof first);
    MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK_EQ_INT(memcmp(&first, &report, sizeof first), 0);
    ek_destroy(&tasks);
}

/* An older program's struct ends sooner, and is not written beyond that. */
static void shorter_structs_are_kept(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make("0");
    report.struct_bytes = offsetof(ek_process_report, wall_s);
    report.wall_s = -5;
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.struct_bytes, offsetof(ek_process_report, wall_s));
    CHECK_EQ_INT(report.tasks, 2 * TASKS * job_size);
    CHECK_NEAR(report.wall_s, -5, 0);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    /* Wrong on one rank is wrong for all. */
    report.struct_bytes = job_rank == job_size - 1 ? 0 : sizeof report;
    JOB_STATUS(ek_process(tasks, &report), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "EK_PROCESS_REPORT_INIT");
    report.struct_bytes = sizeof report;
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.tasks, 2 * TASKS * job_size);
    ek_destroy(&tasks);
}

static _Atomic int64_t ran_here;

static int stolen_task(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    job_nap(STOLEN_US);
    atomic_fetch_add(&ran_here, 1);
    return 0;
}

static void add_on_rank_0(ek_collection *tasks, ek_function function, int n)
{
    for (int i = 0; i < n && job_rank == 0; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
}

/* Each rank is a node: what ran on others than rank 0 came in messages. */
static void steals_between_nodes_are_counted(void)
{
    int n = STOLEN * job_size * job_workers;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_options options = job_options();
    if (job_size == 1)
        return;
    job_set_number(&options, "ranks_per_node", 1);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "stolen", stolen_task, NULL);
    add_on_rank_0(tasks, function, n);
    atomic_store(&ran_here, 0);
    JOB_OK(ek_process(tasks, &report));
    int64_t ran = atomic_load(&ran_here);
    int64_t elsewhere = job_sum(job_rank == 0 ? 0 : ran);
    double steals = report.successful_mean * (double)report.workers;
    CHECK_EQ_INT(job_sum(ran), n);
    CHECK_EQ_INT(report.tasks, n);
    CHECK(job_sum(ran > 0) >= 2);
    CHECK(elsewhere > 0);
    CHECK(report.stolen >= elsewhere);
    CHECK(report.successful_mean > 0);
    CHECK(report.attempted_mean >= report.successful_mean);
    CHECK((double)report.stolen > steals - 0.5);
    CHECK(report.steal_s > 0 && report.steal_s <= report.search_s);
    CHECK(report.failed_across >= 0);
    CHECK((double)report.failed_across <=
          report.attempted_mean * (double)report.workers);
    /* A request and its tasks, those asked for in vain, and the end. */
    CHECK(report.messages >= report.failed_across + 2 + 2 * (job_size - 1));
    ek_destroy(&tasks);
}

static int grow(ek_worker *worker, const void *payload, size_t bytes,
                void *context)
{
    const ek_function *function = context;
    int depth;
    (void)bytes;
    memcpy(&depth, payload, sizeof depth);
    for (int i = 0; depth == 0 && i < CHILDREN; i++) {
        int below = 1;
        CHECK_OK(ek_spawn(worker, *function, &below, sizeof below, 0));
    }
    return 0;
}

/* Nobody steals: all children of the first task lie on a stack when it ends. */
static void the_deepest_stack_is_seen(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_options options = job_options();
    ek_function function;
    int depth = 0;
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = job_create(&options);
    function = job_register(tasks, "grow", grow, &function);
    CHECK_OK(ek_add_task(tasks, function, &depth, sizeof depth, NULL));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.tasks, job_size * (1 + CHILDREN));
    CHECK_EQ_INT(report.deepest, CHILDREN);
    CHECK_NEAR(report.steal_s, 0, 0);
    CHECK_EQ_INT(report.failed_across, 0);
    ek_destroy(&tasks);
}

/* What each task does; costs of 0 are not set. */
static double said_cost_s;
static int64_t nap_us;

static int inflated_task(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    (void)payload, (void)bytes, (void)context;
    job_nap(nap_us);
    if (said_cost_s > 0)
        ek_set_cost(worker, said_cost_s);
    return 0;
}

/* Run the tasks twice: as set, then with the times these factors. */
static double inflation_of(double nap, double said)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = job_create(NULL);
    ek_function function = job_register(tasks, "inflated", inflated_task, NULL);
    for (int i = 0; i < 5; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, &report));
    CHECK_NEAR(report.inflation, 1, 0);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    said_cost_s *= said;
    nap_us = (int64_t)((double)nap_us * nap);
    JOB_OK(ek_process(tasks, &report));
    ek_destroy(&tasks);
    return report.inflation;
}

/* Inflation is that of measured times: a cost that a task sets is none. */
static void set_costs_are_no_inflation(void)
{
    said_cost_s = 0;
    nap_us = LONG_US;
    CHECK(inflation_of(3, 0) > 1.2);
    said_cost_s = 1e-3;
    nap_us = NAP_US;
    CHECK_NEAR(inflation_of(2, 2), 1, 0);
    said_cost_s = 1;
    nap_us = NAP_US;
    CHECK_NEAR(inflation_of(1, 0), 1, 0);
}

/* Lines, of as many columns each, at LEAST so many. */
static int lines_of(const char *name, int least)
{
    int lines = 0, columns = 1, first = 0, character;
    FILE *file = fopen(name, "r");
    if (!CHECK(file != NULL))
        return 0;
    while ((character = getc(file)) != EOF) {
        columns += character == '\t';
        if (character != '\n')
            continue;
        lines++;
        first = first == 0 ? columns : first;
        CHECK_EQ_INT(columns, first);
        columns = 1;
    }
    CHECK(first >= least);
    fclose(file);
    return lines;
}

/* The same on all ranks. */
static void name_file(char *name, size_t bytes)
{
    snprintf(name, bytes, "/tmp/ek_test_report_%ld.tsv", (long)getpid());
    MPI_Bcast(name, (int)bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void files_get_a_line_each(void)
{
    char name[64] = "";
    name_file(name, sizeof name);
    ek_collection *tasks = make(name);
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    /* A report is made for the file, so its figures are there. */
    CHECK(figure(tasks, "work_s") > 0);
    CHECK_OK(ek_set_option(tasks, "report", "0"));
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    if (job_rank == 0) {
        int lines = lines_of(name, 20);
        CHECK(lines >= 3 && lines <= 5); /* and a heading */
        unlink(name);
    }
}

/* Ranks and functions have rows of their own. */
static void files_may_have_ranks_and_functions(void)
{
    enum {
        ITERATIONS = 2
    };
    char name[64] = "", list[200], functions[80];
    name_file(name, sizeof name);
    snprintf(functions, sizeof functions, "%s.functions.tsv", name);
    snprintf(list, sizeof list, "ranks:%s,functions:%s", name, functions);
    ek_collection *tasks = make(list);
    for (int i = 0; i < ITERATIONS; i++) {
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
    if (job_rank == 0) {
        CHECK_EQ_INT(lines_of(name, 20), 1 + ITERATIONS * job_size);
        CHECK_EQ_INT(lines_of(functions, 5), 1 + ITERATIONS * 2);
        unlink(name);
        unlink(functions);
    }
}

/* A number is one digit; what goes on is a name. */
static void files_may_begin_with_a_digit(void)
{
    static const char name[] = "0run.tsv";
    char folder[] = "/tmp/ek_test_report_XXXXXX", before[4096] = "";
    if (job_rank == 0) {
        CHECK(getcwd(before, sizeof before) != NULL);
        CHECK(mkdtemp(folder) != NULL);
        CHECK_EQ_INT(chdir(folder), 0);
    }
    setenv("EVENKEEL_REPORT", name, 1);
    ek_collection *tasks = make("0");
    unsetenv("EVENKEEL_REPORT");
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    if (job_rank == 0) {
        CHECK_EQ_INT(lines_of(name, 20), 2); /* a heading, too */
        unlink(name);
        CHECK_EQ_INT(chdir(before), 0);
        CHECK_EQ_INT(rmdir(folder), 0);
    }
}

/* A report that cannot be written leaves the old one as it was. */
static void files_stay_where_others_fail(void)
{
    static const char nowhere[] = "/no/such/folder/x.tsv";
    char name[64] = "";
    name_file(name, sizeof name);
    ek_collection *tasks = make(name);
    for (int i = 0; i < 3; i++) {
        ek_status expected = job_rank == 0 ? EK_ERR_FILE : EK_OK;
        CHECK_EQ_INT(ek_set_option(tasks, "report", nowhere), expected);
        if (job_rank == 0)
            CHECK_HAS_TEXT(ek_error_message(), nowhere);
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    CHECK_OK(ek_set_option(tasks, "report", name));
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    if (job_rank == 0) {
        CHECK_EQ_INT(lines_of(name, 20), 1 + 4);
        unlink(name);
    }
}

static void files_that_cannot_be_written(void)
{
    ek_options options = job_options();
    ek_collection *tasks = NULL;
    options.report = "/nowhere/to/be/found.tsv";
    JOB_STATUS(ek_create(MPI_COMM_WORLD, &options, &tasks), EK_ERR_FILE);
    CHECK(tasks == NULL);
    CHECK_HAS_TEXT(ek_error_message(), "/nowhere/to/be/found.tsv");
}

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int burning_task(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    int64_t end = clock_us(CLOCK_THREAD_CPUTIME_ID) + BURN_US;
    while (clock_us(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
    return 0;
}

static bool add_duration(const ek_task_info *task, void *context)
{
    double *sum_s = context;
    *sum_s += task->duration_s;
    return true;
}

/* Each worker computes as long as the others, all on the cores there are: who
 * waits for one does not work, whatever the clock on the wall says, and the
 * wait is no part of a task's duration. */
static void waiting_for_a_core_is_no_work(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_options options = job_options();
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "burning", burning_task, NULL);
    for (int i = 0; i < job_workers; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, &report));
    double burnt_s = 1e-6 * BURN_US * (double)report.workers;
    CHECK(report.cpu_s >= 0.99 * burnt_s);
    CHECK(report.work_s - report.starved_tasks_s >= 0.9 * burnt_s);
    double durations_s = 0;
    CHECK_OK(ek_visit_tasks(tasks, add_duration, &durations_s));
    MPI_Allreduce(MPI_IN_PLACE, &durations_s, 1, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK_NEAR(durations_s, report.work_s - report.starved_tasks_s,
               0.01 * burnt_s);
    CHECK(report.efficiency * (double)report.workers <= 1.1 * report.cores);
    if (report.workers > 2 * report.cores)
        CHECK(report.starved_s > 0);
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN(times_add_up);
    JOB_RUN(handing_out_is_overhead);
    JOB_RUN(figures_have_names);
    JOB_RUN(tiles_of_other_nodes_are_counted);
    JOB_RUN(figures_are_the_same_everywhere);
    JOB_RUN(shorter_structs_are_kept);
    JOB_RUN(steals_between_nodes_are_counted);
    JOB_RUN(the_deepest_stack_is_seen);
    JOB_RUN(set_costs_are_no_inflation);
    JOB_RUN(waiting_for_a_core_is_no_work);
    JOB_RUN(files_get_a_line_each);
    JOB_RUN(files_may_have_ranks_and_functions);
    JOB_RUN(files_may_begin_with_a_digit);
    JOB_RUN(files_stay_where_others_fail);
    JOB_RUN(files_that_cannot_be_written);
    return job_result();
}
