/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUs of this process, who competes for them, and what binding hurts.
 *
 * Owns the mark that this process has told of it.
 */
#define _GNU_SOURCE
#include "team/poll.h"

#include <math.h>
#include <omp.h>
#include <unistd.h>

enum {
    WORDS = sizeof((struct eki_affinity *)0)->mask / sizeof(uint64_t)
};

static void add_cpu(struct eki_affinity *affinity, int cpu)
{
    uint64_t bit = UINT64_C(1) << cpu % 64;
    if (cpu < 0 || cpu >= WORDS * 64 || affinity->mask[cpu / 64] & bit)
        return;
    affinity->mask[cpu / 64] |= bit;
    affinity->cpus++;
}

/* The CPUs of a place of OpenMP; none where there is no memory to ask. */
static void add_place(struct eki_affinity *affinity, int place)
{
    int cpus = omp_get_place_num_procs(place);
    int *ids = cpus > 0 ? eki_alloc((size_t)cpus, sizeof *ids) : NULL;
    if (!ids)
        return;
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < cpus; i++)
        add_cpu(affinity, ids[i]);
    eki_free(ids);
}

/* Where OpenMP binds its threads, it has bound this one to one place already:
 * the team has all of them, or this one under the policy `master`. */
static void add_omp_places(struct eki_affinity *affinity)
{
    omp_proc_bind_t bind = omp_get_proc_bind();
    int places = bind == omp_proc_bind_false ? 0 : omp_get_num_places();
    if (bind == omp_proc_bind_master && omp_get_place_num() >= 0) {
        add_place(affinity, omp_get_place_num());
        return;
    }
    for (int place = 0; place < places; place++)
        add_place(affinity, place);
}

/* The CPUs that this thread may run on. */
static void add_own(struct eki_affinity *affinity)
{
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int cpu = 0; cpu < WORDS * 64; cpu++) {
        if (CPU_ISSET((size_t)cpu, &set))
            add_cpu(affinity, cpu);
    }
#else
    (void)affinity;
#endif
}

void eki_affinity_look(struct eki_affinity *affinity)
{
    char name[256] = "";
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    memset(affinity, 0, sizeof *affinity);
    affinity->online = online > 0 ? (int)online : 1;
    affinity->ranks = affinity->quota_ranks = 1;
    eki_quota_read("", &affinity->quota);
    gethostname(name, sizeof name - 1);
    affinity->host = eki_hash_text(0, name);
    add_omp_places(affinity);
    if (affinity->cpus == 0)
        add_own(affinity);
    /* Places may name CPUs that there are not. */
    if (affinity->cpus > affinity->online)
        affinity->cpus = affinity->online;
    if (affinity->cpus == 0) {
        affinity->cpus = affinity->online;
        memset(affinity->mask, 0xff, sizeof affinity->mask);
    }
}

static bool meets(const struct eki_affinity *a, const struct eki_affinity *b)
{
    uint64_t common = 0;
    for (int i = 0; i < WORDS; i++)
        common |= a->mask[i] & b->mask[i];
    return a->host == b->host && common != 0;
}

static bool shares_quota(const struct eki_affinity *a,
                         const struct eki_affinity *b)
{
    return a->quota.cpus > 0 && a->host == b->host &&
           a->quota.group == b->quota.group;
}

/* CPUs for this rank while others use their part. */
static double share_of(const struct eki_affinity *affinity)
{
    double share = (double)affinity->cpus / affinity->ranks;
    double part = affinity->quota.cpus / affinity->quota_ranks;
    return part > 0 && part < share ? part : share;
}

ek_status eki_affinity_compare(struct eki_affinity *affinity,
                               struct eki_fabric *fabric,
                               struct eki_affinity *all)
{
    EKI_TRY(eki_fabric_mpi_gather_all(fabric, affinity, all, sizeof *all));
    affinity->ranks = affinity->quota_ranks = 0;
    affinity->least_cpus = affinity->most_cpus = affinity->cpus;
    for (int r = 0; r < fabric->size; r++) {
        if (all[r].cpus < affinity->least_cpus)
            affinity->least_cpus = all[r].cpus;
        if (all[r].cpus > affinity->most_cpus)
            affinity->most_cpus = all[r].cpus;
        affinity->ranks += meets(affinity, &all[r]);
        affinity->quota_ranks += shares_quota(affinity, &all[r]);
    }
    return EK_OK;
}

/* Threads that this rank would use if it could. */
static int wanted_threads(int workers)
{
    int most = omp_get_max_threads();
    return most < workers ? workers : most;
}

ek_status eki_affinity_count(struct eki_affinity *affinity,
                             struct eki_fabric *fabric, int workers,
                             const struct eki_affinity *all,
                             struct eki_staff *staff)
{
    /* Ranks whose masks meet share them: each counts for its part. */
    struct eki_staff mine = {.workers = workers,
                             .is_harmed =
                                 wanted_threads(workers) > affinity->cpus &&
                                 affinity->online > affinity->cpus,
                             .cores = share_of(affinity)};
    EKI_TRY(eki_fabric_mpi_gather_all(fabric, &mine, staff, sizeof *staff));
    double cores = 0;
    affinity->workers = affinity->harmed = affinity->quota_workers = 0;
    for (int r = 0; r < fabric->size; r++) {
        cores += staff[r].cores;
        affinity->harmed += staff[r].is_harmed;
        if (meets(affinity, &all[r]))
            affinity->workers += staff[r].workers;
        if (shares_quota(affinity, &all[r]))
            affinity->quota_workers += staff[r].workers;
    }
    affinity->cores = (int)lround(cores);
    return EK_OK;
}

static void report_quota(const struct eki_affinity *affinity,
                         const struct eki_fabric *fabric)
{
    static _Atomic bool has_told;
    if (fabric->rank == 0 && affinity->quota_workers > affinity->quota.cpus &&
        affinity->quota.cpus > 0 && eki_is_untold(&has_told))
        eki_log(EK_LEVEL_WARN, fabric->rank, fabric->size, "team",
                "%d workers of %d ranks have a CPU quota of %.3g CPUs "
                "together: the system stops them for a part of each period; "
                "start fewer, or raise the quota of the container",
                affinity->quota_workers, affinity->quota_ranks,
                affinity->quota.cpus);
}

void eki_affinity_report(const struct eki_affinity *affinity,
                         const struct eki_fabric *fabric, int workers)
{
    static _Atomic bool has_told;
    /* libgomp spins for milliseconds where a rank alone would fit. */
    bool spins = workers > 1 && affinity->workers > affinity->cpus &&
                 !getenv("OMP_WAIT_POLICY");
    report_quota(affinity, fabric);
    if (fabric->rank != 0 || (affinity->harmed == 0 && !spins) ||
        !eki_is_untold(&has_told))
        return;
    if (affinity->harmed > 0)
        eki_log(
            EK_LEVEL_WARN, fabric->rank, fabric->size, "team",
            "%d of %d ranks want more threads than the CPUs that they are "
            "bound to (rank 0: %d of %d CPUs, %d threads wanted, %d workers "
            "used); start with mpirun --bind-to none, or --map-by "
            "slot:PE=THREADS, or srun --cpus-per-task=THREADS%s",
            affinity->harmed, fabric->size, affinity->cpus, affinity->online,
            wanted_threads(workers), workers,
            omp_get_proc_bind() == omp_proc_bind_false
                ? ""
                : ", and check whether OMP_PLACES, OMP_PROC_BIND or "
                  "GOMP_CPU_AFFINITY name fewer CPUs");
    else
        eki_log(EK_LEVEL_WARN, fabric->rank, fabric->size, "team",
                "%d workers share %d CPUs: OpenMP threads that wait between "
                "iterations spin and hold up the others; start fewer, or set "
                "OMP_WAIT_POLICY=passive",
                affinity->workers, affinity->cpus);
}

int eki_team_default_workers(const struct eki_affinity *affinity,
                             int thread_level)
{
    int workers = omp_get_max_threads();
    int share = (int)share_of(affinity);
    if (thread_level < 1)
        return 1;
    if (share < workers)
        workers = share;
    return workers > 1 ? workers : 1;
}

void eki_team_tell_smaller(const struct eki_team *team, int came, int wanted)
{
    static _Atomic bool has_told;
    const struct eki_topology *topology = team->setup.engine->topology;
    char cause[80] = "OpenMP has no more";
    if (omp_get_thread_limit() < wanted)
        snprintf(cause, sizeof cause, "OMP_THREAD_LIMIT is %d",
                 omp_get_thread_limit());
    else if (omp_get_dynamic())
        snprintf(cause, sizeof cause,
                 "OMP_DYNAMIC is true, and the machine is busy");
    /* By one rank of a node, whose limits are alike. */
    if (topology->node_index != 0 || !eki_is_untold(&has_told))
        return;
    eki_log(EK_LEVEL_WARN, topology->rank, topology->size, "team",
            "OpenMP started %d of %d threads (%d workers%s): %s; workers "
            "without a thread run nothing, and others take their tasks",
            came, wanted, topology->workers_here,
            team->has_server ? " and a server" : "", cause);
}

bool eki_team_in_parallel(void)
{
    return omp_in_parallel();
}

bool eki_team_is_first(void)
{
    return omp_get_level() == 1 && omp_get_thread_num() == 0;
}
