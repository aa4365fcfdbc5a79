/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUs of this process, who competes for them, and what binding hurts.
 *
 * Owns the mark that this process has told of it.
 */
#define _GNU_SOURCE
#include "team/team.h"

#include <omp.h>
#include <unistd.h>

enum {
    WORDS = sizeof((struct eki_affinity *)0)->mask / sizeof(uint64_t)
};

void eki_affinity_look(struct eki_affinity *affinity)
{
    char name[256] = "";
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    memset(affinity, 0, sizeof *affinity);
    affinity->online = online > 0 ? (int)online : 1;
    affinity->ranks = 1;
    gethostname(name, sizeof name - 1);
    affinity->host = eki_hash_text(0, name);
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int cpu = 0; cpu < WORDS * 64; cpu++) {
            if (CPU_ISSET((size_t)cpu, &set))
                affinity->mask[cpu / 64] |= UINT64_C(1) << cpu % 64;
        }
        affinity->cpus = CPU_COUNT(&set);
    }
#endif
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

ek_status eki_affinity_compare(struct eki_affinity *affinity,
                               struct eki_fabric *fabric, int workers)
{
    affinity->workers = workers;
    struct eki_affinity *all = eki_alloc((size_t)fabric->size, sizeof *all);
    ek_status status = EK_OK;
    if (!all)
        status = eki_error(EK_ERR_NOMEM, "no memory to compare bindings");
    status = eki_fabric_mpi_agree(fabric, status);
    if (status == EK_OK)
        status = eki_fabric_mpi_gather_all(fabric, affinity, all, sizeof *all);
    if (status == EK_OK) {
        affinity->ranks = affinity->workers = 0;
        for (int r = 0; r < fabric->size; r++) {
            if (!meets(affinity, &all[r]))
                continue;
            affinity->ranks++;
            affinity->workers += all[r].workers;
        }
    }
    eki_free(all);
    return status;
}

/* libgomp spins for milliseconds where a rank alone would fit. */
static bool is_spinning(const struct eki_affinity *affinity, int workers)
{
    return workers > 1 && affinity->workers > affinity->cpus &&
           !getenv("OMP_WAIT_POLICY");
}

ek_status eki_affinity_report(const struct eki_affinity *affinity,
                              struct eki_fabric *fabric, int workers)
{
    static _Atomic bool has_told;
    int wanted = omp_get_max_threads();
    if (wanted < workers)
        wanted = workers;
    int64_t harmed =
        wanted > affinity->cpus && affinity->online > affinity->cpus;
    EKI_TRY(eki_fabric_mpi_sum(fabric, &harmed, 1));
    bool spins = is_spinning(affinity, workers);
    /* Once in this process; relaxed: only the flag itself matters. */
    if (fabric->rank != 0 || (harmed == 0 && !spins) ||
        atomic_exchange_explicit(&has_told, true, memory_order_relaxed))
        return EK_OK;
    if (harmed > 0)
        eki_log(EK_LEVEL_WARN, fabric->rank, fabric->size, "team",
                "%lld of %d ranks are bound to fewer CPUs than they want "
                "threads (rank 0: %d of %d CPUs, %d threads wanted, %d workers "
                "used); start with mpirun --bind-to none, or --map-by "
                "slot:PE=THREADS",
                (long long)harmed, fabric->size, affinity->cpus,
                affinity->online, wanted, workers);
    else
        eki_log(EK_LEVEL_WARN, fabric->rank, fabric->size, "team",
                "%d workers share %d CPUs: OpenMP threads that wait between "
                "iterations spin and hold up the others; start fewer, or set "
                "OMP_WAIT_POLICY=passive",
                affinity->workers, affinity->cpus);
    return EK_OK;
}

int eki_team_default_workers(const struct eki_affinity *affinity,
                             int thread_level)
{
    int workers = omp_get_max_threads();
    int share = affinity->cpus / affinity->ranks;
    if (thread_level < 1)
        return 1;
    if (share < workers)
        workers = share;
    return workers > 1 ? workers : 1;
}

bool eki_team_in_parallel(void)
{
    return omp_in_parallel();
}

bool eki_team_is_first(void)
{
    return omp_get_level() == 1 && omp_get_thread_num() == 0;
}
