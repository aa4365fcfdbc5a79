/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a collection would find here: MPI, ranks and their CPUs, shared memory,
 * clock, latencies.  A collection with the options of the environment is made,
 * and what it knows is printed.
 */
#define _GNU_SOURCE
#include "doctor.h"
#include "machine.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    REPETITIONS = 5, /* of what is measured */
    LINES_MOST = 64, /* of ranks */
    READINGS = 1000  /* of the clock */
};

static bool has_cpu(const struct eki_affinity *affinity, int cpu)
{
    int words = sizeof affinity->mask / sizeof *affinity->mask;
    return cpu < words * 64 && (affinity->mask[cpu / 64] >> cpu % 64 & 1) != 0;
}

/* The first hardware thread of the core of a CPU, itself where nobody says. */
static int first_of_core(int cpu)
{
    char name[128];
    int first = cpu;
    snprintf(name, sizeof name,
             "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             cpu);
    FILE *file = fopen(name, "re");
    if (file && fscanf(file, "%d", &first) != 1)
        first = cpu;
    if (file)
        fclose(file);
    return first;
}

/* CPUs as ranges, and the cores that they are of. */
static void describe_cpus(struct patient *patient)
{
    const struct eki_affinity *affinity = &patient->affinity;
    /* More bits than CPUs: the mask is unknown. */
    for (int cpu = 0, first = 0; cpu < affinity->online; cpu++) {
        if (!has_cpu(affinity, cpu))
            continue;
        int core = first_of_core(cpu);
        patient->cores += core == cpu || !has_cpu(affinity, core);
        if (cpu == 0 || !has_cpu(affinity, cpu - 1))
            first = cpu;
        if (cpu + 1 < affinity->online && has_cpu(affinity, cpu + 1))
            continue;
        const char *comma = patient->cpus[0] != '\0' ? "," : "";
        if (first == cpu)
            eki_append(patient->cpus, sizeof patient->cpus, "%s%d", comma, cpu);
        else
            eki_append(patient->cpus, sizeof patient->cpus, "%s%d-%d", comma,
                       first, cpu);
    }
}

static void look_at_memory(struct patient *patient)
{
    const char *given = getenv("OMPI_MCA_osc_sm_backing_directory");
    struct statvfs mount;
    patient->mount = given && *given ? given : "/dev/shm";
    if (statvfs(patient->mount, &mount) == 0)
        patient->free_bytes = (double)mount.f_bavail * (double)mount.f_frsize;
}

/* What this rank has; TASKS are of all. */
static void examine(const ek_collection *tasks, struct patient *patient)
{
    int most = omp_get_max_threads();
    patient->affinity = tasks->affinity;
    patient->workers = ek_rank_workers(tasks);
    patient->threads = most > patient->workers ? most : patient->workers;
    patient->has_server = tasks->team->has_server;
    patient->needed_bytes = (double)tasks->segment.bytes;
    describe_cpus(patient);
    gethostname(patient->host, sizeof patient->host - 1);
}

static void print_field(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void print_field(const char *name, const char *format, ...)
{
    va_list list;
    printf("  %-16s ", name);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

/* The smallest step that the clock shows. */
static double clock_step_ns(void)
{
    uint64_t least = UINT64_MAX, last = eki_clock_ns();
    for (int i = 0; i < READINGS; i++) {
        uint64_t now = eki_clock_ns();
        if (now > last && now - last < least)
            least = now - last;
        last = now;
    }
    return (double)least;
}

static void print_launcher(const struct ward *ward)
{
    static const char *const jobs[][2] = {{"SLURM_JOB_ID", "Slurm job"},
                                          {"PBS_JOBID", "PBS job"},
                                          {"LSB_JOBID", "LSF job"}};
    char text[128] = "";
    eki_append(text, sizeof text, "%s",
               ward->launcher ? ward->launcher->name : "none that says so");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        if (getenv(jobs[i][0]))
            eki_append(text, sizeof text, ", %s %s", jobs[i][1],
                       getenv(jobs[i][0]));
    }
    print_field("launcher", "%s", text);
}

static void print_mpi(const struct ward *ward)
{
    static const char *const levels[] = {"SINGLE", "FUNNELED", "SERIALIZED",
                                         "MULTIPLE"};
    char library[128] = "";
    eki_mpi_library(library, sizeof library);
    print_field("Evenkeel", "%s", ek_version());
    print_field("MPI", "%s", library);
    print_field("thread level", "MPI_THREAD_%s; MPI_THREAD_SERIALIZED suffices",
                levels[ward->level]);
    print_launcher(ward);
    print_field("clock", "%s, steps of %.0f ns",
                eki_clock_mult != 0 ? "time stamp counter" : "system",
                clock_step_ns());
}

static void print_latencies(const struct measured *measured,
                            const struct ward *ward)
{
    const struct eki_machine *machine = &measured->machine;
    if (isnan(machine->probe))
        print_field("shared memory", "not measured: rank 0 has one CPU");
    else
        print_field("shared memory", "%.0f ns to read what another core wrote",
                    machine->probe);
    if (isnan(machine->latency))
        print_field("a message", "not measured: %s",
                    ward->is_busy ? "the CPUs are busy" : "one rank");
    else
        print_field("a message", "%.1f us from rank 0 to rank 1, on %s host%s",
                    (machine->latency + 2 * machine->send) * 1e-3,
                    measured->is_one_host ? "one" : "two",
                    measured->is_one_host ? "" : "s");
}

static void print_ranks(const struct ward *ward)
{
    int size = ward->bench->size, most = size < LINES_MOST ? size : LINES_MOST;
    const struct patient *first = ward->patients;
    print_field("progress", "%s",
                ward->nodes == 1    ? "no server on one node"
                : first->has_server ? "a server beside the workers"
                                    : "workers poll");
    print_field("memory", "%.1f MB free in %s, %.1f MB for a collection",
                first->free_bytes * 1e-6, first->mount,
                first->needed_bytes * 1e-6);
    printf("\n  rank workers  CPUs cores sharing quota  host, its CPUs\n");
    for (int r = 0; r < most; r++) {
        const struct patient *one = &ward->patients[r];
        char quota[16] = "-";
        if (one->affinity.quota.cpus > 0)
            snprintf(quota, sizeof quota, "%.3g", one->affinity.quota.cpus);
        printf("%6d %7d %5d %5d %7d %5s  %s: %s of %d\n", r, one->workers,
               one->affinity.cpus, one->cores, one->affinity.ranks, quota,
               one->host, one->cpus, one->affinity.online);
    }
    if (most < size)
        printf("  and %d more\n", size - most);
}

/* Collective; times that are not measured are no numbers. */
static void measure(const struct bench *bench, struct measured *measured)
{
    struct bench few = *bench;
    MPI_Comm both = bench_both(bench);
    if (few.repetitions > REPETITIONS)
        few.repetitions = REPETITIONS;
    measured->is_one_host = true;
    measured->machine =
        (struct eki_machine){.latency = NAN, .send = NAN, .probe = NAN};
    if (both != MPI_COMM_NULL) {
        bench_messages(&few, both, measured);
        MPI_Comm_free(&both);
    }
    if (bench->rank == 0 && bench->cpus > 1)
        bench_memory(&few, measured);
    bench_barrier(MPI_COMM_WORLD);
}

/* Of the ranks that MPI takes for one job each only one is heard. */
static bool is_heard(const struct ward *ward)
{
    const char *rank = ward->launcher ? getenv(ward->launcher->rank) : NULL;
    return ward->bench->size > 1 || !rank || atoi(rank) == 0;
}

static void examine_all(struct ward *ward, const ek_collection *tasks)
{
    const struct bench *bench = ward->bench;
    struct patient mine = {.workers = 0};
    int bytes = (int)sizeof mine;
    ward->nodes = tasks->topology->nodes;
    look_at_memory(&mine);
    examine(tasks, &mine);
    if (bench->rank == 0)
        ward->patients = allocate((size_t)bench->size, sizeof mine);
    MPI_Gather(&mine, bytes, MPI_BYTE, ward->patients, bytes, MPI_BYTE, 0,
               MPI_COMM_WORLD);
}

void bench_doctor(const struct bench *bench)
{
    struct ward ward = {.bench = bench,
                        .launcher = doctor_find_launcher(),
                        .level = eki_mpi_thread_level()};
    struct measured measured;
    ek_collection *tasks = NULL;
    eki_clock_start();
    ward.failure = ek_create(MPI_COMM_WORLD, NULL, &tasks);
    if (ward.failure == EK_OK) {
        examine_all(&ward, tasks);
        ek_destroy(&tasks);
        measure(bench, &measured);
    }
    if (bench->rank != 0 || !is_heard(&ward))
        return;
    print_mpi(&ward);
    if (ward.failure == EK_OK) {
        ward.is_busy = bench->size > 1 && isnan(measured.machine.latency);
        print_latencies(&measured, &ward);
        print_ranks(&ward);
    }
    doctor_advise(&ward);
    free(ward.patients);
}
