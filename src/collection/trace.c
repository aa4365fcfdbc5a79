/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each rank tells at DEBUG, and each worker at TRACE, of phases that have
 * begun or ended: from counters, never while tasks run.
 */
#include "collection/collection.h"

#include <inttypes.h>

#define TEXT_BYTES 512

static void say_phase(const ek_collection *tasks, ek_level level,
                      const char *text)
{
    eki_log(level, tasks->fabric->rank, tasks->fabric->size, "phase", "%s, %s",
            tasks->settings.name, text);
}

static void append_ns(const char *words, uint64_t ns, char *text, size_t bytes)
{
    eki_append(text, bytes, ", %s %s", words,
               eki_seconds((double)ns * 1e-9).text);
}

void eki_collection_trace_begin(const ek_collection *tasks,
                                ek_steal_policy steal)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text,
             "iteration %" PRId64 " begins: %" PRId64 " tasks here, steal=%s",
             tasks->iteration, eki_collection_held(tasks),
             eki_option_choice_name("steal", (int)steal));
    say_phase(tasks, EK_LEVEL_DEBUG, text);
}

static void append_counts(const struct eki_counts *counts, char *text,
                          size_t bytes)
{
    eki_append(text, bytes,
               "%" PRId64 " tasks, %" PRId64 " stolen in %" PRId64
               " of %" PRId64 " steals",
               counts->tasks, counts->stolen, counts->steals, counts->tries);
    append_ns("work", counts->work_ns, text, bytes);
    append_ns("searching", counts->search_ns, text, bytes);
    append_ns("ending", counts->end_ns, text, bytes);
}

static void sum_worker_counts(const struct eki_counts *counts,
                              struct eki_counts *sum)
{
    sum->tasks += counts->tasks;
    sum->stolen += counts->stolen;
    sum->steals += counts->steals;
    sum->tries += counts->tries;
    sum->work_ns += counts->work_ns;
    sum->search_ns += counts->search_ns;
    sum->end_ns += counts->end_ns;
}

/* Of the server of a rank: what it answered, and how the end was found. */
static void trace_server(const ek_collection *tasks)
{
    const struct eki_engine *engine = tasks->engine;
    const struct eki_histogram *times = engine->answered;
    char text[TEXT_BYTES] = "";
    int64_t answered = 0;
    if (!engine->exchange.fabric || engine->alone)
        return;
    for (int bin = 0; bin < EKI_HISTOGRAM_BINS; bin++)
        answered += times->bins[bin];
    eki_append(text, sizeof text,
               "  server: %" PRId64 " requests answered, the median in %s; "
               "%" PRIu64 " waves to the end",
               answered, eki_seconds(eki_histogram_quantile(times, 0.5)).text,
               engine->waves.wave + 1);
    say_phase(tasks, EK_LEVEL_TRACE, text);
}

void eki_collection_trace_end(const ek_collection *tasks, uint64_t left_ns,
                              ek_status status)
{
    struct eki_counts sum = {0};
    char text[TEXT_BYTES] = "";
    int workers = tasks->topology->workers_here;
    for (int here = 0; here < workers; here++)
        sum_worker_counts(&tasks->engine->workers[here]->counts, &sum);
    eki_append(
        text, sizeof text,
        "iteration %" PRId64 " ends with %s after %s: ", tasks->iteration,
        ek_status_string(status),
        eki_seconds((double)(left_ns - tasks->engine->entered_ns) * 1e-9).text);
    append_counts(&sum, text, sizeof text);
    say_phase(tasks, EK_LEVEL_DEBUG, text);
    if (!eki_log_is_on(EK_LEVEL_TRACE))
        return;
    for (int here = 0; here < workers; here++) {
        const struct ek_worker *worker = tasks->engine->workers[here];
        snprintf(text, sizeof text, "  worker %d: ", worker->id);
        append_counts(&worker->counts, text, sizeof text);
        say_phase(tasks, EK_LEVEL_TRACE, text);
    }
    trace_server(tasks);
}

void eki_collection_trace_restore(const ek_collection *tasks,
                                  const ek_restore_report *whole,
                                  ek_status status)
{
    char text[TEXT_BYTES] = "";
    const char *policy = eki_option_choice_name("restore", whole->policy);
    eki_append(text, sizeof text,
               "restore=%s before iteration %" PRId64 " ends with %s: %" PRId64
               " tasks here, %" PRId64 " sent, %" PRId64 " discarded, in %s",
               policy ? policy : "?", tasks->iteration,
               ek_status_string(status), whole->tasks, whole->moved,
               whole->discarded, eki_seconds(whole->seconds).text);
    if (whole->decision != 0)
        eki_append(text, sizeof text,
                   "; %" PRId64 " of the job moved, imbalance %.1f %% to %.1f "
                   "%%, at best %.1f %%",
                   whole->migrations, 100 * whole->imbalance_before,
                   100 * whole->imbalance_after, 100 * whole->imbalance_bound);
    say_phase(tasks, EK_LEVEL_DEBUG, text);
}
