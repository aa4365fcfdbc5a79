/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tasks of a program: numbers that are run again and again.
 *
 * This is where Evenkeel is used.  The numbers are added once; ek_restore()
 * then makes each iteration from the one before.
 */
#ifndef COMMON_JOB_H
#define COMMON_JOB_H

#include "cli/message.h"
#include "cli/modes.h"
#include "common/figures.h"

#include <evenkeel_save.h>

/** Who runs it, and how it is balanced. */
struct job_setup {
    MPI_Comm comm;
    struct mode mode;
    bool ignore_environment; /* do not look at EVENKEEL_* */
    const char *record;      /* of ek_options; NULL: none */
    const char *resume;      /* folder of saves to go on from; NULL: none */
};

struct job;

#define JOB_PATH_MAX 1200

/** What the program does for saves. */
struct job_saves {
    ek_save_fn *write; /* what it writes itself; NULL: nothing */
    void *context;
    char last[JOB_PATH_MAX]; /* how names of the last one begin; "": none */
};

/** Add the tasks of this rank. */
typedef ek_status job_add_fn(struct job *job, void *context);

struct job {
    struct job_setup setup;
    int64_t total; /* tasks are numbered 0 ... total - 1 */
    job_add_fn *add;
    void *context;
    ek_collection *tasks;
    ek_function function;
    bool has_run;    /* there is an iteration to restore from */
    bool has_loaded; /* its tasks come from a save */
    bool is_stopped; /* on request, and saved */
    int first;       /* number of the iteration with which it begins */
    struct job_saves saves;
};

/** What a job runs. */
struct job_options {
    const char *name;     /* of the collection ... */
    const char *function; /* ... and of what its tasks do, in records */
    int64_t total;
    ek_task_fn *task; /* its payload is an int64_t, its number */
    job_add_fn *add;  /* NULL: ek_set_range() of all numbers */
    void *context;    /* of @p task and @p add */
};

/**
 * Whether the library knows the policies of @p mode; it says what it allows.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
bool job_knows(const struct mode *mode);

/**
 * Make a job.
 *
 * @param[in]  collection  Hooks and the like; what the others say is set here.
 * @param[out] job         To be closed, also on failure.
 *
 * @return As ek_create() and ek_set_option(), which have said what failed.
 *
 * Call: Collective over the ranks of @p setup.
 */
ek_status job_open(const struct job_setup *setup,
                   const struct job_options *options, ek_options collection,
                   struct job *job);

/**
 * Let saves have what the program writes, and go on from one if the setup says
 * so: then rank 0 says what it resumes.
 *
 * @param[in] write  As of ek_set_save(), with its @p context.
 *
 * Call: Collective, before the first job_prepare().
 */
ek_status job_resume(struct job *job, ek_save_fn *write, void *context);

/**
 * Bring the collection into the state in which an iteration starts.
 *
 * @param[out] report  Of the restore, if there was one; or NULL.
 */
ek_status job_prepare(struct job *job, ek_restore_report *report);

/**
 * Run all tasks that have not been discarded, with the figures of the last part
 * of the iteration.
 *
 * An iteration that somebody stops goes on, unless a checkpoint was written:
 * then job_goes_on() is false.
 */
ek_status job_process(struct job *job, struct figures *figures);

/** Whether the program need not end; else the message says how to resume. */
bool job_goes_on(const struct job *job, struct message *message);

/** job_prepare() and job_process(). */
ek_status job_run(struct job *job, struct figures *figures);

void job_close(struct job *job);

/** Workers of all ranks. */
int job_workers(const struct job *job);

#endif
