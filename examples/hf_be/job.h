/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tasks of a benchmark: numbers that are run again and again.
 *
 * This is where Evenkeel is used.  The numbers are added once, as a range per
 * rank; ek_restore() then makes each iteration from the one before.
 */
#ifndef HF_BE_JOB_H
#define HF_BE_JOB_H

#include <evenkeel.h>

/** A way to balance. */
struct mode {
    const char *name;
    const char *restore; /* the policy of ek_restore() */
    const char *steal;   /* the option of that name; NULL: its default */
    bool is_anew; /* all tasks anew in every iteration, as loops over a shared
                     counter do */
};

/** The modes that are compared; the first is the one to be faster than. */
extern const struct mode compared_modes[];
extern const int compared_count;

/**
 * A compared mode by its name, or else the restore policy of that name.
 *
 * @param[in] steal  Instead of the mode's; NULL: the mode's.
 */
struct mode mode_find(const char *name, const char *steal);

struct job {
    MPI_Comm comm;
    struct mode mode;
    int64_t total; /* tasks are numbered 0 ... total - 1 */
    ek_collection *tasks;
    ek_function function;
    bool has_run; /* there is an iteration to restore from */
};

/** What a job runs. */
struct job_options {
    const char *name;
    struct mode mode;
    int64_t total;
    ek_task_fn *task; /* its payload is an int64_t, its number */
    void *context;    /* of @p task */
};

/**
 * Make a job.
 *
 * @param[in]  collection  Hooks and the like; names, sizes and policies are set
 *                         here.
 * @param[out] job         To be closed, also on failure.
 *
 * @return As ek_create() and ek_set(); ek_error_message() has the words.
 *
 * Call: Collective over @p comm.
 */
ek_status job_open(MPI_Comm comm, const struct job_options *options,
                   ek_options collection, struct job *job);

/** Run all tasks that have not been discarded. */
ek_status job_run(struct job *job, ek_process_report *report);

void job_close(struct job *job);

#endif
