/* SPDX-License-Identifier: BSD-3-Clause */
/* The team in words: who talks to other nodes and why, and what binds it. */
#include "team/poll.h"

#include <inttypes.h>
#include <omp.h>

static const char *why_polling(const struct eki_team *team)
{
    if (team->setup.options->progress == EK_PROGRESS_POLLING)
        return "progress=polling";
    if (team->setup.engine->alone)
        return "on one node a server needs progress=server";
    return team->setup.thread_level < 1
               ? "MPI_THREAD_SINGLE allows no other thread"
               : "no core is free for a server";
}

void eki_team_explain(const struct eki_team *team, char *text, size_t bytes)
{
    const struct eki_engine *engine = team->setup.engine;
    if (!engine->exchange.fabric) {
        eki_append(text, bytes, "one node: no messages while tasks run%s",
                   team->setup.options->progress == EK_PROGRESS_SERVER
                       ? ", so progress has no effect"
                       : "");
        return;
    }
    if (engine->alone)
        eki_append(text, bytes,
                   "one node: messages only for tiles in private memory, data "
                   "and hints that travel; then ");
    if (team->has_server) {
        eki_append(text, bytes, "a thread of each rank is its server: %s",
                   team->setup.options->progress == EK_PROGRESS_SERVER
                       ? "progress=server"
                       : "cores are free");
        return;
    }
    eki_append(text, bytes, "%s poll%s between tasks, every %" PRIu64 " us: %s",
               team->any_polls ? "workers" : "worker 0 of each rank",
               team->any_polls ? "" : "s", team->period.most_ns / 1000,
               why_polling(team));
    if (!team->any_polls)
        eki_append(text, bytes, "; MPI_THREAD_SERIALIZED lets all poll");
}

static const char *binding_word(void)
{
    switch (omp_get_proc_bind()) {
    case omp_proc_bind_false:
        return "false";
    case omp_proc_bind_master:
        return "primary";
    case omp_proc_bind_close:
        return "close";
    case omp_proc_bind_spread:
        return "spread";
    default:
        return "true";
    }
}

void eki_affinity_explain(const struct eki_affinity *affinity, char *text,
                          size_t bytes)
{
    int places = omp_get_num_places();
    eki_append(text, bytes, "%d", affinity->least_cpus);
    if (affinity->most_cpus > affinity->least_cpus)
        eki_append(text, bytes, " to %d", affinity->most_cpus);
    eki_append(text, bytes,
               " of %d CPUs per rank, %d for the job; OMP_PROC_BIND=%s",
               affinity->online, affinity->cores, binding_word());
    if (places > 0)
        eki_append(text, bytes, ", %d OMP_PLACES", places);
    if (affinity->quota.cpus > 0)
        eki_append(text, bytes, "; a CPU quota of %.3g for %d rank%s",
                   affinity->quota.cpus, affinity->quota_ranks,
                   affinity->quota_ranks == 1 ? "" : "s");
}
