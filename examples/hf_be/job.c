/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include <string.h>

const struct mode compared_modes[] = {
    {"static", "original", "none", false},
    {"counter", "original", "counter", true},
    {"StealAll", "original", NULL, true},
    {"Steal", "original", NULL, false},
    {"StealRet", "retain", NULL, false},
    {"centralized", "centralized", "none", false},
    {"hierarchical", "hierarchical", "none", false},
    {"central.-12", "centralized-hpdc12", "none", false},
    {"hierarch.-12", "hierarchical-hpdc12", "none", false},
    {"auto", "auto", "none", false},
};

const int compared_count = sizeof compared_modes / sizeof *compared_modes;

struct mode mode_find(const char *name, const char *steal)
{
    struct mode mode = {name, name, NULL, false};
    for (int i = 0; i < compared_count; i++) {
        if (strcmp(name, compared_modes[i].name) == 0)
            mode = compared_modes[i];
    }
    if (steal)
        mode.steal = steal;
    return mode;
}

ek_status job_open(MPI_Comm comm, const struct job_options *options,
                   ek_options collection, struct job *job)
{
    *job = (struct job){
        .comm = comm, .mode = options->mode, .total = options->total};
    collection.name = options->name;
    collection.payload_bytes = 16; /* a number; ranges need 16 */
    ek_status status = ek_create(comm, &collection, &job->tasks);
    if (status == EK_OK)
        status = ek_set(job->tasks, "restore", job->mode.restore);
    if (status == EK_OK && job->mode.steal)
        status = ek_set(job->tasks, "steal", job->mode.steal);
    if (status == EK_OK)
        status = ek_register(job->tasks, "quartet", options->task,
                             options->context, &job->function);
    return status;
}

void job_close(struct job *job)
{
    ek_destroy(&job->tasks);
}

/* Each rank adds an equal share of the numbers, in consecutive blocks. */
static ek_status add_tasks(struct job *job)
{
    int rank, size;
    MPI_Comm_rank(job->comm, &rank);
    MPI_Comm_size(job->comm, &size);
    int64_t share = job->total / size, rest = job->total % size;
    int64_t first = rank * share + (rank < rest ? rank : rest);
    int64_t last = first + share + (rank < rest);
    return ek_add_range(job->tasks, job->function, first, last);
}

/* Bring the collection into the state in which an iteration starts. */
static ek_status prepare_tasks(struct job *job)
{
    bool is_first = !job->has_run;
    job->has_run = true;
    if (is_first)
        return add_tasks(job);
    if (!job->mode.is_anew)
        return ek_restore(job->tasks, EK_RESTORE_DEFAULT, NULL);
    ek_status status = ek_clear(job->tasks);
    return status == EK_OK ? add_tasks(job) : status;
}

ek_status job_run(struct job *job, ek_process_report *report)
{
    ek_status status = prepare_tasks(job);
    return status == EK_OK ? ek_process(job->tasks, report) : status;
}
