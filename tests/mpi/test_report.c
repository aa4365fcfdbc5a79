/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of an iteration: its times add up, its counts are what tasks did,
 * every figure has a name, a file gets a line per iteration.
 *
 *     test_report RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_spawn.h>
#include <evenkeel_tiles.h>

enum {
    TASKS = 40,     /* per rank */
    EMPTY = 100000, /* per rank */
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

/* Parts of core seconds, whatever happens. */
static const char *const times[] = {
    "overhead_s",         "search_s",      "end_s",     "start_s", "late_s",
    "restore_s",          "outside_s",     "starved_s", "cpu_s",   "speed",
    "starved_in_tasks_s", "starved_idle_s"};

/* What had no core is known to be some of the time that it is of. */
static void check_starved(const ek_collection *tasks, double work_s)
{
    double in_tasks_s = job_figure(tasks, "starved_in_tasks_s");
    double idle_s = job_figure(tasks, "starved_idle_s");
    CHECK(in_tasks_s <= work_s + 1e-9);
    /* Sums of whole nanoseconds, but for what doubles round. */
    CHECK(idle_s <=
          job_figure(tasks, "search_s") + job_figure(tasks, "end_s") + 1e-9);
    CHECK(job_figure(tasks, "starved_s") - in_tasks_s - idle_s > -1e-9);
}

static void check_times(const ek_collection *tasks,
                        const ek_process_report *report)
{
    double whole = job_figure(tasks, "workers") * report->wall_s;
    double parts = report->work_s;
    for (int i = 0; i < 5; i++)
        parts += job_figure(tasks, times[i]);
    CHECK_NEAR(parts, whole, 0.02 * whole);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        CHECK(job_figure(tasks, times[i]) >= 0);
    CHECK(report->work_s >= least_work_s());
    /* Less what it had no core for, which is known to 0.1 ms. */
    CHECK(report->largest_task_s >= 1e-6 * LONG_US - 2e-4);
    CHECK(report->wall_s >= report->largest_task_s);
    CHECK(report->imbalance >= 0);
    CHECK(report->efficiency > 0 && report->efficiency <= 1);
    CHECK(report->bound > 0 && report->bound <= 1);
    check_starved(tasks, report->work_s);
    CHECK(job_figure(tasks, "cpu_s") > 0);
    CHECK(job_figure(tasks, "cpu_s") <= 1.001 * whole);
    CHECK(job_figure(tasks, "speed") > 0);
    CHECK(job_count(tasks, "cores") >= 1);
    CHECK(job_count(tasks, "slowest_rank") >= 0);
    CHECK(job_count(tasks, "slowest_rank") < job_size);
    CHECK_EQ_INT(job_count(tasks, "largest_task_function"), 0);
}

/* When a rank came: the late one naps, but another may lack a core for longer.
 * As MPI_MAXLOC wants it. */
struct moment {
    double s;
    int rank;
};

static struct moment now_of_rank(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (struct moment){(double)now.tv_sec + 1e-9 * (double)now.tv_nsec,
                           job_rank};
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
        struct moment came = now_of_rank();
        JOB_OK(ek_process(tasks, &report));
        MPI_Allreduce(MPI_IN_PLACE, &came, 1, MPI_DOUBLE_INT, MPI_MAXLOC,
                      MPI_COMM_WORLD);
        if (i == 2)
            CHECK_EQ_INT(job_count(tasks, "latest_rank"), came.rank);
        CHECK_EQ_INT(job_count(tasks, "iteration"), i);
        CHECK_EQ_INT(job_count(tasks, "workers"), job_size * job_workers);
        CHECK_EQ_INT(report.tasks, 2 * TASKS * job_size);
        CHECK_EQ_INT(job_count(tasks, "null_tasks"), TASKS * job_size);
        CHECK_EQ_INT(job_count(tasks, "spawned") +
                         job_count(tasks, "cancelled") +
                         job_count(tasks, "failed"),
                     0);
        check_times(tasks, &report);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
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
        CHECK(job_figure(tasks, "overhead_s") >= 0.5e-9 * EMPTY * job_size);
        CHECK(report.work_s >= 0);
        CHECK_NEAR(job_figure(tasks, "function.empty.work_s"), report.work_s,
                   1e-6);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
}

#define FIELD(field) \
    CHECK_NEAR(job_figure(tasks, #field), (double)report.field, 1e-12)

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
    FIELD(efficiency), FIELD(imbalance), FIELD(bound), FIELD(wall_s);
    FIELD(work_s), FIELD(tasks), FIELD(stolen), FIELD(largest_task_s);
    CHECK_EQ_INT(job_figure(tasks, "function.nap.tasks") +
                     job_figure(tasks, "function.null.tasks"),
                 2 * TASKS * job_size);
    CHECK_NEAR(job_figure(tasks, "function.nap.work_s") +
                   job_figure(tasks, "function.null.work_s"),
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
    CHECK_EQ_INT(job_count(tasks, "tile_gets"), 2 * ranks);
    CHECK_EQ_INT(job_count(tasks, "tile_hits"), ranks);
    CHECK_EQ_INT(job_count(tasks, "tile_bytes"),
                 2 * ranks * TILE * (int)sizeof(double));
    CHECK((job_figure(tasks, "tile_wait_s") > 0) == (ranks > 0));
    CHECK(job_figure(tasks, "tile_wait_s") <= report.work_s);
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
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        double mine = job_figure(tasks, times[i]), value = mine;
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK_NEAR(mine, value, 0);
    }
    ek_destroy(&tasks);
}

/* An older program's struct ends sooner, and is not written beyond that. */
static void shorter_structs_are_kept(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make("0");
    report.struct_bytes = offsetof(ek_process_report, stolen);
    report.stolen = -5;
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.struct_bytes, offsetof(ek_process_report, stolen));
    CHECK_EQ_INT(report.tasks, 2 * TASKS * job_size);
    CHECK_EQ_INT(report.stolen, -5);
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
static void count_steals(bool are_indices)
{
    int n = STOLEN * job_size * job_workers;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_options options = job_options();
    if (job_size == 1)
        return;
    job_set_number(&options, "ranks_per_node", 1);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "stolen", stolen_task, NULL);
    if (!are_indices)
        add_on_rank_0(tasks, function, n);
    else if (job_rank == 0)
        CHECK_OK(ek_add_range(tasks, function, 0, n));
    atomic_store(&ran_here, 0);
    JOB_OK(ek_process(tasks, &report));
    int64_t ran = atomic_load(&ran_here);
    int64_t elsewhere = job_sum(job_rank == 0 ? 0 : ran);
    double steals = job_figure(tasks, "steals") * job_figure(tasks, "workers");
    CHECK_EQ_INT(job_sum(ran), n);
    CHECK_EQ_INT(report.tasks, n);
    CHECK(job_sum(ran > 0) >= 2);
    CHECK(elsewhere > 0);
    CHECK(report.stolen >= elsewhere);
    CHECK(job_figure(tasks, "steals") > 0);
    CHECK(job_figure(tasks, "tries") >= job_figure(tasks, "steals"));
    CHECK((double)report.stolen > steals - 0.5);
    double stealing_s = job_figure(tasks, "stealing_s");
    CHECK(stealing_s > 0 && stealing_s <= job_figure(tasks, "search_s"));
    int64_t first_steals = job_count(tasks, "first_steals");
    CHECK(first_steals > 0 && first_steals <= job_count(tasks, "workers"));
    CHECK((double)first_steals < steals + 0.5);
    double first_s = job_figure(tasks, "first_steal_s");
    double last_s = job_figure(tasks, "first_steal_most_s");
    CHECK(first_s > 0 && first_s <= last_s * (1 + 1e-9));
    CHECK(last_s < report.wall_s);
    CHECK(job_count(tasks, "in_vain") >= 0);
    CHECK(job_figure(tasks, "in_vain") <=
          job_figure(tasks, "tries") * job_figure(tasks, "workers"));
    /* A request and its tasks, those asked for in vain, and the end. */
    CHECK(job_count(tasks, "messages") >=
          job_count(tasks, "in_vain") + 2 + 2 * (job_size - 1));
    ek_destroy(&tasks);
}

static void steals_between_nodes_are_counted(void)
{
    count_steals(false);
}

static void stolen_indices_are_counted(void)
{
    count_steals(true);
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
    CHECK_EQ_INT(job_count(tasks, "deepest"), CHILDREN);
    CHECK_NEAR(job_figure(tasks, "stealing_s"), 0, 0);
    CHECK_EQ_INT(job_count(tasks, "in_vain"), 0);
    CHECK_EQ_INT(job_count(tasks, "first_steals"), 0);
    CHECK_NEAR(job_figure(tasks, "first_steal_most_s"), 0, 0);
    CHECK_EQ_INT(job_count(tasks, "termination"), 0);
    CHECK_OK(ek_set_option(tasks, "termination", "acknowledged"));
    JOB_OK(ek_process(tasks, &report));
    /* On one node nothing is sent, and tasks are counted. */
    CHECK_EQ_INT(job_count(tasks, "termination"),
                 job_count(tasks, "messages") > 0 ? 2 : 0);
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
    CHECK_NEAR(job_figure(tasks, "inflation"), 1, 0);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    said_cost_s *= said;
    nap_us = (int64_t)((double)nap_us * nap);
    JOB_OK(ek_process(tasks, &report));
    double inflation = job_figure(tasks, "inflation");
    ek_destroy(&tasks);
    return inflation;
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
    CHECK(job_figure(tasks, "work_s") > 0);
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

static bool add_duration(const ek_task *task, void *context)
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
    double workers = job_figure(tasks, "workers");
    double cores = job_figure(tasks, "cores");
    double burnt_s = 1e-6 * BURN_US * workers;
    double work_s = report.work_s - job_figure(tasks, "starved_in_tasks_s");
    CHECK(job_figure(tasks, "cpu_s") >= 0.99 * burnt_s);
    CHECK(work_s >= 0.9 * burnt_s);
    double durations_s = 0;
    CHECK_OK(ek_visit_tasks(tasks, add_duration, &durations_s));
    MPI_Allreduce(MPI_IN_PLACE, &durations_s, 1, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK_NEAR(durations_s, work_s, 0.01 * burnt_s);
    CHECK(report.efficiency * workers <= 1.1 * cores);
    if (workers > 2 * cores)
        CHECK(job_figure(tasks, "starved_s") > 0);
    ek_destroy(&tasks);
}

/* All bytes of a file, of which there are *BYTES; none: -1. */
static char *bytes_of(const char *name, long *bytes)
{
    FILE *file = fopen(name, "rb");
    *bytes = -1;
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = ftell(file);
    rewind(file);
    char *all = malloc((size_t)*bytes + 1);
    *bytes = (long)fread(all, 1, (size_t)*bytes, file);
    fclose(file);
    return all;
}

/* A job that writes every kind of file to FOLDER. */
static void write_files(const char *folder, int iterations)
{
    char report[300], record[100];
    ek_options options = job_options();
    snprintf(report, sizeof report,
             "%s/job.tsv,ranks:%s/ranks.tsv,functions:%s/functions.tsv", folder,
             folder, folder);
    snprintf(record, sizeof record, "%s/run.ekr", folder);
    options.report = report;
    options.record = record;
    job_set(&options, "timeline", folder);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "nothing", job_nothing, NULL);
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    for (int i = 0; i < iterations; i++)
        JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A job that is started again moves the files of the run before aside. */
static void files_of_the_run_before_are_kept(void)
{
    static const char *const files[] = {"job.tsv", "ranks.tsv", "functions.tsv",
                                        "run.ekr", "tasks.000000.ekt"};
    enum {
        FILES = sizeof files / sizeof files[0]
    };
    char folder[] = "/tmp/evenkeel-again-XXXXXX", name[100];
    char *before[FILES] = {NULL};
    long bytes[FILES], now;
    job_make_folder(folder);
    write_files(folder, 3);
    for (int i = 0; i < FILES && job_rank == 0; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, files[i]);
        before[i] = bytes_of(name, &bytes[i]);
        CHECK(bytes[i] > 0);
    }
    write_files(folder, 1);
    for (int i = 0; i < FILES && job_rank == 0; i++) {
        snprintf(name, sizeof name, "%s/%s.1", folder, files[i]);
        char *kept = bytes_of(name, &now);
        CHECK_EQ_INT(now, bytes[i]);
        CHECK(now == bytes[i] && memcmp(kept, before[i], (size_t)now) == 0);
        free(kept);
        free(before[i]);
        snprintf(name, sizeof name, "%s/%s", folder, files[i]);
        free(bytes_of(name, &now));
        CHECK(now > 0);
        CHECK(now != bytes[i]);
    }
    job_remove_folder(folder);
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
    JOB_RUN(stolen_indices_are_counted);
    JOB_RUN(the_deepest_stack_is_seen);
    JOB_RUN(set_costs_are_no_inflation);
    JOB_RUN(waiting_for_a_core_is_no_work);
    JOB_RUN(files_get_a_line_each);
    JOB_RUN(files_may_have_ranks_and_functions);
    JOB_RUN(files_may_begin_with_a_digit);
    JOB_RUN(files_stay_where_others_fail);
    JOB_RUN(files_of_the_run_before_are_kept);
    JOB_RUN(files_that_cannot_be_written);
    return job_result();
}
