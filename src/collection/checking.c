/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking mode (option check): wrong use that costs too much to look for
 * in every call.  Calls come here only where it is on: their limits are 0 then.
 * And the invariants of a collection, for debug builds.
 */
#include "collection/collection.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void eki_collection_check_level(const ek_collection *tasks)
{
    static _Atomic bool is_told;
    int level = eki_mpi_thread_level();
    bool is_single = tasks->topology->workers_here == 1;
    if (!tasks->engine->setup.is_checked || tasks->fabric->rank != 0 ||
        (is_single && !tasks->team->has_server) || level >= 3 ||
        !eki_is_untold(&is_told))
        return;
    if (is_single)
        eki_log(EK_LEVEL_INFO, tasks->fabric->rank, tasks->fabric->size,
                "check",
                "with a server thread and MPI below MPI_THREAD_MULTIPLE no "
                "task of ek_process may call MPI");
    else
        eki_log(EK_LEVEL_INFO, tasks->fabric->rank, tasks->fabric->size,
                "check",
                "with %d workers per rank and MPI below MPI_THREAD_MULTIPLE no "
                "task may call MPI",
                tasks->topology->workers_here);
}

/* Whether anything lies at an address; the kernel knows at once. */
static bool is_mapped(uint64_t address)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return msync((void *)(uintptr_t)(address / page * page), page, MS_ASYNC) ==
           0;
}

/* Whether an address is of memory that this process writes to. */
static bool is_own_memory(uint64_t address)
{
    enum {
        LOOKS = 1000 /* per process: each takes 0.1 ms, or some */
    };
    static _Atomic int looks;
    bool is_found = false;
    char line[512];
    uint64_t first, last;
    /* No number of a small count, and what a program may address. */
    if (address < 1 << 22 || address >> 47 != 0 || !is_mapped(address) ||
        /* relaxed: a limit, no more. */
        atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed) >= LOOKS)
        return false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !is_found && fgets(line, sizeof line, maps))
        is_found =
            sscanf(line, "%" SCNx64 "-%" SCNx64 " rw", &first, &last) == 2 &&
            strstr(line, " rw") && first <= address && address < last;
    if (maps)
        fclose(maps);
    return is_found;
}

void eki_collection_check_payload(const ek_collection *tasks, const char *call,
                                  ek_function function, const void *payload,
                                  size_t bytes)
{
    struct eki_function *told = &tasks->engine->functions[function];
    /* relaxed: said once. */
    if (atomic_load_explicit(&told->has_pointer, memory_order_relaxed))
        return;
    for (size_t at = 0; payload && at + sizeof(uint64_t) <= bytes;
         at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const char *)payload + at, sizeof word);
        if (!is_own_memory(word) || !eki_is_untold(&told->has_pointer))
            continue;
        eki_log(EK_LEVEL_WARN, tasks->fabric->rank, tasks->fabric->size,
                "check",
                "%s: bytes %zu ... %zu of a payload of function '%s' look like "
                "a pointer; a task may run on another rank, where the pointer "
                "is void",
                call, at, at + sizeof word - 1, told->name);
    }
}

ek_status eki_collection_check_thread(const ek_collection *tasks, int here,
                                      const char *call)
{
    const void *taken = eki_team_thread(tasks->team, here);
    /* With a server of its own, that one has the first thread. */
    if (here == 0 && !tasks->team->is_served && eki_mpi_thread_level() < 2 &&
        !eki_mpi_is_main_thread())
        return eki_error(
            EK_ERR_THREAD,
            "%s: worker 0 is for the thread that initialized MPI, because "
            "MPI's thread level is below MPI_THREAD_SERIALIZED",
            call);
    if (taken && taken != eki_thread_identity())
        return eki_error(EK_ERR_THREAD,
                         "%s: another thread uses worker %d of this rank in "
                         "this iteration; allowed: one thread per worker",
                         call, here);
    return EK_OK;
}

/* Larger words are pointers, doubles, or two numbers. */
#define NUMBER_MOST INT32_MAX

/* A loop that skips to the number that comes next, as those over nxtval() do,
 * never meets a smaller one. */
void eki_collection_check_order(ek_collection *tasks, int here,
                                const ek_task *task)
{
    int64_t number, before = eki_team_number_before(tasks->team, here);
    bool is_checked = tasks->engine->setup.is_checked;
    /* Who asks for that order knows. */
    if (tasks->settings.options.order == EKI_ORDER_ASCENDING && !is_checked)
        return;
    memcpy(&number, task->payload, sizeof number);
    if (number < 0 || before > NUMBER_MOST || number >= before)
        return;
    /* relaxed, both: what is said once. */
    atomic_store_explicit(&tasks->has_descended, true, memory_order_relaxed);
    if (atomic_exchange_explicit(&tasks->engine->node->told_order, 1,
                                 memory_order_relaxed))
        return;
    eki_log(
        is_checked ? EK_LEVEL_WARN : EK_LEVEL_INFO, tasks->fabric->rank,
        tasks->fabric->size, "check",
        "ek_next: numbers of '%s' came in descending order (%lld after "
        "%lld): a loop that skips to the next number, such as 'if (ij == "
        "next)', misses tasks; a loop that computes from the number itself, "
        "or begins anew where ek_task.starts_run is true, does not",
        tasks->engine->functions[task->function].name, (long long)number,
        (long long)before);
}

static const char *check_dealer(const struct eki_dealer *dealer, int workers)
{
    if (dealer->next_id < dealer->first_id || dealer->next_id > dealer->last_id)
        return "a number that is not the dealer's comes next";
    return dealer->next_worker >= 0 && dealer->next_worker < workers
               ? NULL
               : "a seed is for a worker that there is not";
}

static const char *check_seeds(const ek_collection *tasks)
{
    const struct eki_adding *seeds = &tasks->seeds;
    int workers = tasks->topology->workers_here;
    const char *broken = check_dealer(&seeds->home, workers);
    if (!broken)
        broken = check_dealer(&seeds->foreign.dealer, workers);
    for (int here = 0; !broken && here < workers; here++)
        broken = check_dealer(&seeds->inlets[here].dealer, workers);
    return broken ? broken : eki_local_check(&seeds->foreign.seeds);
}

const char *eki_collection_check(const ek_collection *tasks)
{
    bool is_open = tasks->state == EKI_STATE_OPEN;
    if (is_open != tasks->engine->is_open)
        return "an iteration is open here, or in the engine, alone";
    if (is_open && !eki_collection_is_busy())
        return "an iteration is open that nobody has claimed";
    if (tasks->may_fetch && !(is_open && tasks->is_pulled))
        return "tasks may be fetched of no iteration";
    if (tasks->may_fetch && (tasks->engine->setup.is_checked ||
                             tasks->callbacks || tasks->parts.watch))
        return "tasks are fetched that must be looked at";
    if (tasks->restores.course.pause < 0)
        return "more restores have asked nobody than auto has said";
    return check_seeds(tasks);
}
