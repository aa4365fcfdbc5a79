/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job.h"

#include <evenkeel_loop.h>

#include <stdio.h>
#include <string.h>

static ek_status add_all(struct job *job, void *context)
{
    (void)context;
    return ek_set_range(job->tasks, job->function, job->total);
}

/* What a mode says. */
static ek_status set_mode(const struct mode *mode, ek_collection *tasks)
{
    ek_status status = EK_OK;
    if (mode->restore)
        status = ek_set_option(tasks, "restore", mode->restore);
    if (status == EK_OK && mode->steal)
        status = ek_set_option(tasks, "steal", mode->steal);
    return status;
}

bool job_knows(const struct mode *mode)
{
    int is_known = true;
    if (is_first_rank()) {
        ek_collection *tasks;
        ek_options options = EK_OPTIONS_INIT;
        options.workers = 1;
        options.ignore_environment = true;
        is_known = ek_create(MPI_COMM_SELF, &options, &tasks) == EK_OK &&
                   set_mode(mode, tasks) == EK_OK;
        ek_destroy(&tasks);
    }
    MPI_Bcast(&is_known, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_known;
}

ek_status job_open(const struct job_setup *setup,
                   const struct job_options *options, ek_options collection,
                   struct job *job)
{
    *job = (struct job){.setup = *setup,
                        .total = options->total,
                        .add = options->add ? options->add : add_all,
                        .context = options->context};
    collection.name = options->name;
    collection.payload_bytes = 16; /* a number; ranges need 16 */
    collection.ignore_environment = setup->ignore_environment;
    if (setup->record)
        collection.record = setup->record;
    ek_status status = ek_create(setup->comm, &collection, &job->tasks);
    if (status == EK_OK)
        status = set_mode(&setup->mode, job->tasks);
    if (status == EK_OK)
        status = ek_register(job->tasks, options->function, options->task,
                             options->context, &job->function);
    return status;
}

void job_close(struct job *job)
{
    ek_destroy(&job->tasks);
}

int job_workers(const struct job *job)
{
    return ek_job_workers(job->tasks);
}

/* Part of a save. */
static int write_save(const char *path, void *context)
{
    struct job_saves *saves = context;
    snprintf(saves->last, sizeof saves->last, "%s", path);
    return saves->write ? saves->write(path, saves->context) : 0;
}

ek_status job_resume(struct job *job, ek_save_fn *write, void *context)
{
    const char *folder = job->setup.resume;
    int64_t iteration = 0;
    job->saves = (struct job_saves){.write = write, .context = context};
    ek_status status = ek_set_save(job->tasks, write_save, &job->saves);
    if (status == EK_OK && folder)
        status = ek_load(job->tasks, folder);
    const char *path = ek_loaded(job->tasks, &iteration);
    job->has_loaded = path != NULL;
    job->first = (int)iteration;
    if (path && is_first_rank())
        printf("resumed from %s with iteration %d\n", path, job->first);
    return status;
}

/* Whether the last save is complete. */
static bool has_saved(const struct job *job)
{
    const char *path = job->saves.last;
    const char *end = strrchr(path, '.');
    char name[JOB_PATH_MAX];
    int is_there = 0;
    if (is_first_rank() && end) {
        snprintf(name, sizeof name, "%.*s.manifest", (int)(end - path), path);
        FILE *file = fopen(name, "r");
        is_there = file != NULL;
        if (file)
            fclose(file);
    }
    MPI_Bcast(&is_there, 1, MPI_INT, 0, job->setup.comm);
    return is_there;
}

ek_status job_prepare(struct job *job, ek_restore_report *report)
{
    bool is_first = !job->has_run;
    job->has_run = true;
    if (is_first)
        return job->has_loaded ? EK_OK : job->add(job, job->context);
    if (!job->setup.mode.is_anew)
        return ek_restore(job->tasks, EK_RESTORE_DEFAULT, report);
    ek_status status = ek_clear(job->tasks);
    return status == EK_OK ? job->add(job, job->context) : status;
}

ek_status job_process(struct job *job, struct figures *figures)
{
    ek_status status = figures_process(job->tasks, figures);
    while (status == EK_OK && figures->stopped > 0 && !job->is_stopped) {
        job->saves.last[0] = '\0';
        status = ek_restore(job->tasks, EK_RESTORE_DEFAULT, NULL);
        job->is_stopped = status == EK_OK && has_saved(job);
        if (status == EK_OK && !job->is_stopped)
            status = figures_process(job->tasks, figures);
    }
    return status;
}

bool job_goes_on(const struct job *job, struct message *message)
{
    const char *path = job->saves.last;
    const char *end = strrchr(path, '/');
    return !job->is_stopped ||
           message_set(message, "stopped; --resume %.*s goes on",
                       end ? (int)(end - path) : 0, path);
}

ek_status job_run(struct job *job, struct figures *figures)
{
    ek_status status = job_prepare(job, NULL);
    return status == EK_OK ? job_process(job, figures) : status;
}
