/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run explains itself: how it will run, what each phase was, and in the end
 * what was lost, to whom, and what to do about it.
 *
 *     test_explain RANKS WORKERS
 */
#include "job.h"

enum {
    TASKS = 40,
    SHORT_US = 400,
    /* So long that it is the largest loss on a busy machine, too. */
    LONG_US = 10000,
    LATE_US = 200000,
    ITERATIONS = 3
};

/* Lines of the library on rank 0, those that go on below as one. */
static char heard[32768];
static size_t widest;

static void listen(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    static const char below[] = ":       ";
    const char *more = strstr(line, below);
    size_t used = strlen(heard), bytes = strlen(line);
    widest = bytes > widest ? bytes : widest;
    if (more && used > 0)
        snprintf(heard + used - 1, sizeof heard - used, " %s\n",
                 more + sizeof below - 1);
    else
        snprintf(heard + used, sizeof heard - used, "%s\n", line);
}

static void start_listening(void)
{
    heard[0] = '\0';
    widest = 0;
    ek_set_sink(listen, NULL, EK_LEVEL_INFO);
}

static void stop_listening(void)
{
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
}

/* What is expected on rank 0, other ranks say nothing. */
static void expect(const char *text)
{
    if (job_rank == 0)
        CHECK_HAS_TEXT(heard, text);
    else
        CHECK_EQ_TEXT(heard, "");
}

/* The tests pretend that each rank is one, or do not. */
static int job_nodes(void)
{
    return getenv("EVENKEEL_RANKS_PER_NODE") ? job_size : 1;
}

static int nap_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    job_nap(*(const int64_t *)context);
    return 0;
}

static int failing_task(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 7;
}

/* All tasks are the first worker's, or rank 0's. */
static void add_tasks(ek_collection *tasks, ek_function function)
{
    for (int i = 0; i < TASKS && job_rank == 0; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
}

/* Before each iteration the last rank does something of its own. */
static void run(const ek_options *options, int64_t nap_us, int64_t late_us)
{
    ek_collection *tasks = job_create(options);
    add_tasks(tasks, job_register(tasks, "nap", nap_task, &nap_us));
    for (int i = 0; i < ITERATIONS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (job_rank == job_size - 1)
            job_nap(late_us);
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
}

static void the_end_names_the_loss_and_the_remedy(void)
{
    ek_options options = job_options();
    options.name = "lopsided";
    options.report = "1";
    options.steal = EK_STEAL_NONE;
    start_listening();
    run(&options, LONG_US, 0);
    stop_listening();
    expect("report: lopsided, 3 iterations on ");
    expect(" 120 tasks\n");
    expect("report:   inside ");
    expect(" % without tasks");
    expect("the busiest worker (on rank 0) had ");
    expect("stealing is off: EVENKEEL_STEAL=random; this gains ");
}

static void the_end_names_the_rank_that_is_late(void)
{
    char text[64];
    ek_options options = job_options();
    options.report = "1";
    start_listening();
    run(&options, SHORT_US, LATE_US);
    stop_listening();
    snprintf(text, sizeof text, "rank %d enters ", job_size - 1);
    expect(text);
    expect(" ms late: ");
}

static void the_end_comes_after_failures_too(void)
{
    ek_options options = job_options();
    options.report = "2";
    ek_collection *tasks = job_create(&options);
    add_tasks(tasks, job_register(tasks, "failing", failing_task, NULL));
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_TASK);
    /* Whoever knew of the failure has said it. */
    start_listening();
    ek_destroy(&tasks);
    stop_listening();
    expect("report: 1 iteration on ");
    expect("; 1 iteration failed\n");
}

static void the_start_says_how_it_will_run(void)
{
    char text[64];
    ek_options options = job_options();
    options.name = "banner";
    job_set(&options, "deque", "locked");
    setenv("EVENKEEL_LOG", "info", 1);
    setenv("EVENKEEL_STEAL", "near,banner:none@7,absent:random", 1);
    start_listening();
    ek_collection *tasks = job_create(&options);
    stop_listening();
    snprintf(text, sizeof text, "start: Evenkeel %s: %d rank", ek_version(),
             job_size);
    expect(text);
    snprintf(text, sizeof text, ", %d workers, %d per rank\n",
             job_size * job_workers, job_workers);
    expect(text);
    expect(" with MPI_THREAD_");
    expect(job_nodes() > 1 ? " between tasks, every " : "; one node: ");
    expect("start: cores: ");
    expect(" CPUs per rank, ");
    expect("; OMP_PROC_BIND=");
    expect("start: collection 'banner': restore=retain (default), "
           "steal=near,none@7 (EVENKEEL_STEAL), ");
    expect("deque=locked (program), ");
    expect("workers=2 (EVENKEEL_WORKERS)");
    CHECK(widest <= 100);
    /* Another in short. */
    options.name = "other";
    start_listening();
    ek_collection *others = job_create(&options);
    stop_listening();
    expect("start: collection 'other': ");
    CHECK(strstr(heard, "Evenkeel") == NULL);
    ek_destroy(&others);
    /* The environment wins, and no option is without effect in silence. */
    start_listening();
    CHECK_OK(ek_set_option(tasks, "restore", "original"));
    CHECK_EQ_TEXT(heard, "");
    CHECK_OK(ek_set_option(tasks, "steal", "random"));
    stop_listening();
    expect("option steal of 'banner' counts only in iterations that "
           "EVENKEEL_STEAL does not name\n");
    start_listening();
    ek_destroy(&tasks);
    stop_listening();
    if (job_rank == 0)
        CHECK_EQ_TEXT(heard, "evenkeel base: EVENKEEL_STEAL: there was no "
                             "collection for 'absent:random'\n");
    unsetenv("EVENKEEL_STEAL");
    unsetenv("EVENKEEL_LOG");
}

static void the_end_says_what_had_no_effect(void)
{
    setenv("EVENKEEL_LOG", "info", 1);
    start_listening();
    ek_options options = job_options();
    job_set(&options, "sws", "epochs=1");
    ek_collection *tasks = job_create(&options);
    CHECK_OK(ek_set_option(tasks, "steal", "success"));
    CHECK_OK(ek_set_option(tasks, "load_threshold", "2"));
    CHECK_OK(ek_set_option(tasks, "dvs", "source=0"));
    CHECK_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    stop_listening();
    expect(": dvs=source=0 (program) had no effect: none of its steal ");
    expect(": sws=epochs=1 (program) had no effect: none of its steal ");
    CHECK(job_rank != 0 || job_nodes() == 1 ||
          strstr(heard, "load_threshold=2 (program) had") == NULL);
    unsetenv("EVENKEEL_LOG");
}

static void debug_and_trace_tell_of_each_phase(void)
{
    ek_options options = job_options();
    options.name = "traced";
    heard[0] = '\0';
    ek_set_sink(listen, NULL, EK_LEVEL_TRACE);
    run(&options, SHORT_US, 0);
    stop_listening();
    CHECK_HAS_TEXT(heard, "phase: traced, iteration 0 begins: ");
    CHECK_HAS_TEXT(heard, " tasks here, steal=random\n");
    CHECK_HAS_TEXT(heard, "phase: traced, iteration 2 ends with EK_OK after ");
    CHECK_HAS_TEXT(heard, "phase: traced,   worker ");
    CHECK_HAS_TEXT(heard, "phase: traced, restore=retain before iteration 1 "
                          "ends with EK_OK: ");
    if (job_nodes() > 1)
        CHECK_HAS_TEXT(heard, " requests answered, the median in ");
    heard[0] = '\0';
    ek_set_sink(listen, NULL, EK_LEVEL_DEBUG);
    run(&options, SHORT_US, 0);
    stop_listening();
    CHECK_HAS_TEXT(heard, "phase: traced, iteration 2 ends");
    CHECK(strstr(heard, "worker ") == NULL);
}

/* Level 2 is for a terminal. */
static void lines_fit_a_terminal(void)
{
    ek_options options = job_options();
    options.report = "2";
    start_listening();
    run(&options, SHORT_US, 0);
    stop_listening();
    expect("report:   iteration            2  efficiency ");
    CHECK(widest <= 100);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN(the_start_says_how_it_will_run);
    JOB_RUN(the_end_says_what_had_no_effect);
    JOB_RUN(debug_and_trace_tell_of_each_phase);
    JOB_RUN(the_end_comes_after_failures_too);
    JOB_RUN(lines_fit_a_terminal);
    if (job_size > 1) {
        JOB_RUN(the_end_names_the_loss_and_the_remedy);
        JOB_RUN(the_end_names_the_rank_that_is_late);
    }
    return job_result();
}
