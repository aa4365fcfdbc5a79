/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "common/comparison.h"
#include "pool.h"
#include "tasks.h"

#include <evenkeel_save.h>

#include <inttypes.h>
#include <stdio.h>

/* What the hours of a mode need. */
struct runner {
    struct mode mode;
    struct field field;
    struct hour hour;
    struct job job;
    struct pool pool; /* where the mode balances by hand */
};

static ek_status runner_make(const struct arguments *arguments,
                             const struct job_setup *setup,
                             struct runner *runner)
{
    *runner = (struct runner){.mode = setup->mode};
    field_make(&arguments->size, setup->comm, &runner->field);
    runner->hour.field = &runner->field;
    ek_status status = tasks_open(setup, &runner->hour, &runner->job);
    if (status == EK_OK && setup->mode.is_by_hand)
        pool_make(&runner->field, ek_rank_workers(runner->job.tasks),
                  &runner->pool);
    return status;
}

static void runner_free(struct runner *runner)
{
    if (runner->mode.is_by_hand)
        pool_free(&runner->pool);
    job_close(&runner->job);
    field_free(&runner->field);
}

/* The chemistry of the hour; it fails with a message, or has said why. */
static bool react(struct runner *runner, struct figures *figures,
                  struct message *message)
{
    if (!runner->mode.is_by_hand)
        return job_process(&runner->job, figures) == EK_OK
                   ? job_goes_on(&runner->job, message)
                   : message_leave(message);
    int code = pool_run(&runner->pool, &runner->hour, figures);
    return code == 0 || message_set(message, "CVODE failed: code %d", code);
}

/* An hour, and what it took. */
static bool step(struct runner *runner, int number, double *seconds,
                 struct figures *figures, struct message *message)
{
    double start = MPI_Wtime();
    *seconds = 0;
    runner->hour.number = number;
    *figures = (struct figures){0};
    if (!runner->mode.is_by_hand) {
        if (job_prepare(&runner->job, NULL) != EK_OK)
            return message_leave(message);
        field_find_owners(&runner->field);
    }
    /* In the middle of an hour that was done before. */
    if (runner->mode.is_by_hand || !ek_goes_on(runner->job.tasks))
        field_transport(&runner->field);
    if (!react(runner, figures, message))
        return false;
    *seconds = MPI_Wtime() - start;
    return true;
}

static void print_columns(const struct job *job)
{
    static const char format[] = "%4s %9s %9s %7s %9s %9s %9s %9s\n";
    if (!is_first_rank())
        return;
    printf("%d workers\n\n", job_workers(job));
    printf(format, "", "", "", "effi-", "tasks", "travelled", "data",
           "waiting");
    printf(format, "hour", "s", "work s", "ciency", "stolen", "tasks", "MB",
           "ms");
}

static void print_row(int number, double seconds, const struct figures *figures)
{
    double bytes = figures->data_in_bytes + figures->data_out_bytes;
    if (!is_first_rank())
        return;
    printf("%4d %9.4f %9.4f %6.1f%% %9lld %9lld %9.3f %9.3f\n", number, seconds,
           figures->work_s, 100 * figures->efficiency,
           (long long)figures->stolen, (long long)figures->travelled,
           1e-6 * bytes, 1e3 * figures->data_wait_s);
    fflush(stdout);
}

/* All hours, for a TRIAL or else with a row for each. */
static bool run_mode(const struct arguments *arguments,
                     const struct job_setup *setup, int iterations,
                     struct trial *trial, struct field_sum *sum,
                     struct message *message)
{
    struct runner runner;
    int number = 0;
    bool is_good = runner_make(arguments, setup, &runner) == EK_OK ||
                   message_leave(message);
    if (is_good)
        is_good = tasks_resume(&runner.hour, &runner.job, &number, message);
    if (is_good && trial)
        trial_begin(trial, &runner.job);
    else if (is_good)
        print_columns(&runner.job);
    for (; is_good && number < iterations; number++) {
        struct figures figures;
        double seconds;
        is_good = step(&runner, number, &seconds, &figures, message);
        if (is_good && trial)
            trial_add(trial, seconds, &figures);
        else if (is_good)
            print_row(number, seconds, &figures);
    }
    if (is_good)
        *sum = field_sum(&runner.field);
    runner_free(&runner);
    return is_good;
}

/* The same by a loop on one rank. */
static struct field_sum run_serial(const struct arguments *arguments)
{
    struct field_sum sum = {0};
    if (is_first_rank()) {
        struct field field;
        field_make(&arguments->size, MPI_COMM_SELF, &field);
        struct hour hour = {.field = &field};
        for (; hour.number < arguments->shared.iterations; hour.number++) {
            field_transport(&field);
            for (int i = 0; i < field.size.columns; i++)
                hour_integrate(&hour, i, field.columns[i].state, NULL);
        }
        sum = field_sum(&field);
        field_free(&field);
    }
    MPI_Bcast(&sum, sizeof sum, MPI_BYTE, 0, MPI_COMM_WORLD);
    return sum;
}

/* Whether every bit is what it is in a serial run; NULL: nobody asks. */
static bool is_same(const struct field_sum *sum, const struct field_sum *serial,
                    struct message *message)
{
    return !serial || sum->check == serial->check ||
           message_set(message,
                       "the field is %016" PRIx64
                       "; a serial run gives %016" PRIx64,
                       sum->check, serial->check);
}

static void print_same(const struct field_sum *serial)
{
    if (serial && is_first_rank())
        printf("equal to a serial run to the last bit\n");
}

static int run_one(const struct arguments *arguments,
                   const struct field_sum *serial)
{
    const struct job_setup setup = {.comm = MPI_COMM_WORLD,
                                    .mode = arguments->shared.mode,
                                    .record = arguments->shared.record,
                                    .resume = arguments->shared.resume};
    const struct mechanism *mechanism = arguments->size.mechanism;
    struct message message;
    struct field_sum sum;
    if (!run_mode(arguments, &setup, arguments->shared.iterations, NULL, &sum,
                  &message))
        return complain(&message, EXIT_FAILED);
    if (is_first_rank())
        printf("\n%s %.10g %s, field %016" PRIx64 "\n", mechanism->shown_name,
               sum.mean, mechanism->unit, sum.check);
    if (!is_same(&sum, serial, &message))
        return complain(&message, EXIT_FAILED);
    print_same(serial);
    return EXIT_GOOD;
}

/* What a comparison runs. */
struct comparing {
    const struct arguments *arguments;
    const struct field_sum *serial;
};

static bool run_trial(struct trial *trial, const void *context,
                      struct message *message)
{
    const struct comparing *comparing = context;
    const struct job_setup setup = {.comm = MPI_COMM_WORLD,
                                    .mode = *trial->mode};
    struct field_sum sum;
    if (!run_mode(comparing->arguments, &setup, trial->iterations, trial, &sum,
                  message) ||
        !is_same(&sum, comparing->serial, message))
        return false;
    trial_end(trial, sum.mean, true);
    return true;
}

static int compare(const struct arguments *arguments,
                   const struct field_sum *serial)
{
    const struct comparing comparing = {arguments, serial};
    const struct comparison comparison = {
        .quantity = arguments->size.mechanism->shown_name,
        .unit = arguments->size.mechanism->unit,
        .decimals = 8,
        .tolerance = 0,
        .work = "hours",
        .iterations = arguments->shared.iterations,
        .rounds = arguments->shared.rounds,
        .modes = &arguments->shared.compared,
        .run = run_trial,
        .context = &comparing};
    struct message message;
    if (!comparison_run(&comparison, &message))
        return complain(&message, EXIT_FAILED);
    print_same(serial);
    return EXIT_GOOD;
}

int run_hours(const struct arguments *arguments)
{
    struct field_sum sum;
    const struct field_sum *serial = NULL;
    if (arguments->has_check) {
        sum = run_serial(arguments);
        serial = &sum;
    }
    return arguments->shared.has_compare ? compare(arguments, serial)
                                         : run_one(arguments, serial);
}
