/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job should change: one sentence and one option for each trouble. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TEXT_BYTES = 512,
    HOW_BYTES = 128 /* an option of a launcher */
};

static const struct launcher launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
     "mpirun of Open MPI", "mpirun --map-by slot:PE=%d",
     "use the mpirun of the MPI that the program was built with"},
    {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "jsrun",
     "jsrun --cpu_per_rs %1$d --bind packed:%1$d",
     "load the MPI module that jsrun belongs to"},
    {"MPI_LOCALNRANKS", "PMI_SIZE", "PMI_RANK", "mpiexec of MPICH",
     "mpiexec -bind-to core:%d",
     "use the mpiexec of the MPI that the program was built with"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun",
     "srun --cpus-per-task=%d",
     "try srun --mpi=pmix, which Open MPI needs, or --mpi=pmi2, which most "
     "builds of MPICH need"},
};

const struct launcher *doctor_find_launcher(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (getenv(launchers[i].variable))
            return &launchers[i];
    }
    return NULL;
}

int doctor_launched(const struct launcher *launcher)
{
    const char *size = launcher ? getenv(launcher->size) : NULL;
    return size ? atoi(size) : 0;
}

/* How the launcher gives a rank so many cores. */
static const char *give_cores(const struct ward *ward, int cores,
                              char text[HOW_BYTES])
{
    if (ward->launcher)
        snprintf(text, HOW_BYTES, ward->launcher->cores, cores);
    else
        snprintf(text, HOW_BYTES, "start it where it may use %d cores", cores);
    return text;
}

/* The first rank that has a trouble, and how many have it. */
static const struct patient *
find_first(const struct ward *ward, bool (*has)(const struct patient *patient),
           int *count)
{
    const struct patient *first = NULL;
    *count = 0;
    for (int r = 0; r < ward->bench->size; r++) {
        if (!has(&ward->patients[r]))
            continue;
        first = first ? first : &ward->patients[r];
        ++*count;
    }
    return first;
}

static bool is_bound(const struct patient *patient)
{
    const struct eki_affinity *affinity = &patient->affinity;
    return patient->threads > affinity->cpus &&
           affinity->online > affinity->cpus;
}

static void advise_binding(const struct ward *ward, const struct patient *first,
                           int count, char *text)
{
    char how[HOW_BYTES];
    snprintf(text, TEXT_BYTES,
             "%d of %d ranks may use fewer CPUs than OpenMP has threads (%d of "
             "%d CPUs on %s, %d threads): %s, or OMP_NUM_THREADS=%d",
             count, ward->bench->size, first->affinity.cpus,
             first->affinity.online, first->host, first->threads,
             give_cores(ward, first->threads, how), first->affinity.cpus);
}

static bool is_crowded(const struct patient *patient)
{
    return patient->affinity.workers > patient->affinity.cpus;
}

static void advise_crowd(const struct ward *ward, const struct patient *first,
                         int count, char *text)
{
    const struct eki_affinity *affinity = &first->affinity;
    snprintf(text, TEXT_BYTES,
             "%d of %d ranks share CPUs with more workers than CPUs (%d "
             "workers on %d of %d CPUs of %s): start fewer ranks%s",
             count, ward->bench->size, affinity->workers, affinity->cpus,
             affinity->online, first->host,
             first->workers > 1
                 ? " or workers on a host; else OMP_WAIT_POLICY=passive"
                 : " on a host");
}

static bool exceeds_quota(const struct patient *patient)
{
    const struct eki_affinity *affinity = &patient->affinity;
    return affinity->quota.cpus > 0 &&
           affinity->quota_workers > affinity->quota.cpus;
}

static void advise_quota(const struct ward *ward, const struct patient *first,
                         int count, char *text)
{
    const struct eki_affinity *affinity = &first->affinity;
    snprintf(text, TEXT_BYTES,
             "%d of %d ranks have more workers than their CPU quota (%d "
             "workers, %.3g CPUs on %s): raise the quota of the container, as "
             "by docker run --cpus=%d, or start fewer workers",
             count, ward->bench->size, affinity->quota_workers,
             affinity->quota.cpus, first->host, affinity->quota_workers);
}

static bool shares_cores(const struct patient *patient)
{
    return patient->workers > patient->cores && !is_crowded(patient);
}

static void advise_hardware_threads(const struct ward *ward,
                                    const struct patient *first, int count,
                                    char *text)
{
    snprintf(text, TEXT_BYTES,
             "%d of %d ranks have several workers on a core (%d workers on %d "
             "cores of %s): try EVENKEEL_WORKERS=%d%s",
             count, ward->bench->size, first->workers, first->cores,
             first->host, first->cores,
             ward->launcher && strcmp(ward->launcher->name, "srun") == 0
                 ? ", or srun --hint=nomultithread"
                 : "");
}

static bool lacks_memory(const struct patient *patient)
{
    return patient->free_bytes > 0 &&
           patient->free_bytes < 4 * patient->needed_bytes;
}

static void advise_memory(const struct ward *ward, const struct patient *first,
                          int count, char *text)
{
    snprintf(text, TEXT_BYTES,
             "%d of %d ranks have little shared memory (%.0f MB free in %s of "
             "%s, %.0f MB for one collection): docker run --shm-size=1g, or "
             "remount the tmpfs with a larger size",
             count, ward->bench->size, first->free_bytes * 1e-6,
             ward->patients[0].mount, first->host, first->needed_bytes * 1e-6);
}

static bool could_have_server(const struct patient *patient)
{
    return !patient->has_server && patient->workers > 1;
}

static void advise_server(const struct ward *ward, const struct patient *first,
                          int count, char *text)
{
    snprintf(text, TEXT_BYTES,
             "on %d of %d ranks workers poll for messages, because no core is "
             "free: where tasks last longer than a millisecond try "
             "EVENKEEL_WORKERS=%d, which leaves a core for a server",
             count, ward->bench->size, first->workers - 1);
}

static void print_advice(int *number, const char *text)
{
    printf("  %d. %s\n", ++*number, text);
}

static void advise_job(const struct ward *ward, int *number)
{
    char text[TEXT_BYTES];
    int launched = doctor_launched(ward->launcher);
    if (launched > ward->bench->size) {
        snprintf(text, sizeof text,
                 "%s has started %d ranks, of which MPI knows %d: %s",
                 ward->launcher->name, launched, ward->bench->size,
                 ward->launcher->join);
        print_advice(number, text);
    }
    if (ward->failure != EK_OK) {
        snprintf(text, sizeof text,
                 "no collection can be made: %s, whose sentence stands on "
                 "standard error",
                 ek_status_string(ward->failure));
        print_advice(number, text);
    }
    if (ward->level < 2)
        print_advice(number,
                     "MPI gives less than MPI_THREAD_SERIALIZED: one worker "
                     "alone talks to other nodes; use a build of MPI with "
                     "threads");
}

static void advise_ranks(const struct ward *ward, int *number)
{
    static const struct {
        bool (*has)(const struct patient *patient);
        void (*advise)(const struct ward *ward, const struct patient *first,
                       int count, char *text);
        bool between_nodes;
    } troubles[] = {{is_bound, advise_binding, false},
                    {is_crowded, advise_crowd, false},
                    {exceeds_quota, advise_quota, false},
                    {shares_cores, advise_hardware_threads, false},
                    {lacks_memory, advise_memory, false},
                    {could_have_server, advise_server, true}};
    char text[TEXT_BYTES];
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        int count;
        const struct patient *first = find_first(ward, troubles[i].has, &count);
        if (!first || (troubles[i].between_nodes && ward->nodes < 2))
            continue;
        troubles[i].advise(ward, first, count, text);
        print_advice(number, text);
    }
}

/* Where no rank of this job explains it. */
static void advise_idle(const struct ward *ward, int *number)
{
    int crowded;
    if (ward->is_busy && !find_first(ward, is_crowded, &crowded))
        print_advice(number, "other programs use the CPUs: do not judge times "
                             "before these programs have ended");
}

void doctor_advise(const struct ward *ward)
{
    int number = 0;
    puts("\nWhat to change");
    advise_job(ward, &number);
    if (ward->failure == EK_OK) {
        advise_ranks(ward, &number);
        advise_idle(ward, &number);
    }
    if (number == 0)
        puts("  nothing");
}
