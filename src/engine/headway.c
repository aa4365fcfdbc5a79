/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/headway.h"

#include "engine/internal.h"
#include "engine/look.h"

enum {
    BAR = 8 /* characters */
};

/* Sums of the workers of this rank outside of phases. */
static void sum_up(const struct eki_engine *engine, uint64_t *executed,
                   uint64_t *created)
{
    *executed = *created = 0;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        *executed += engine->workers[here]->executed;
        *created += eki_worker_created(engine->workers[here]);
    }
}

void eki_headway_enter(struct eki_engine *engine)
{
    struct eki_rank_words *words =
        &engine->rank_words[engine->topology->node_index];
    uint64_t executed, created;
    sum_up(engine, &executed, &created);
    /* relaxed, both: ordered by the release of phase. */
    atomic_store_explicit(&words->ran[engine->processes & 1], executed,
                          memory_order_relaxed);
    atomic_store_explicit(&words->made, created, memory_order_relaxed);
}

void eki_engine_watch(struct eki_engine *engine, uint64_t watch_ns)
{
    struct eki_rank_words *words =
        &engine->rank_words[engine->topology->node_index];
    uint64_t executed, created;
    engine->setup.watch_ns = watch_ns;
    sum_up(engine, &executed, &created);
    /* How many tasks the last process had is not known: none.  relaxed: as
     * above. */
    for (int i = 0; i < 2; i++)
        atomic_store_explicit(&words->ran[i], executed, memory_order_relaxed);
}

/* What a worker has to do with what its rank shares, in tasks. */
static int64_t count_left(const struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    /* relaxed: a hint. */
    int64_t shared =
        engine->lineup.count - eki_lineup_taken(&engine->lineup) +
        eki_pinned_count(&engine->pinned) -
        atomic_load_explicit(&engine->pinned.next, memory_order_relaxed);
    int64_t workers = engine->topology->workers_here;
    return eki_local_count(&worker->local) +
           eki_visible(engine, worker->local_number) +
           (shared > 0 ? (shared + workers - 1) / workers : 0);
}

void eki_headway_store(struct ek_worker *worker)
{
    const struct eki_counts *counts = &worker->counts;
    uint64_t left = (uint64_t)count_left(worker), ns = 0;
    if (counts->tasks > 0)
        ns = counts->work_ns / (uint64_t)counts->tasks;
    else if (!eki_local_is_empty(&worker->local))
        ns = eki_worker_expected_ns(worker, eki_worker_top(worker));
    eki_worker_store_load(worker, counts->work_ns, counts->largest_ns);
    /* relaxed: for the eye only. */
    atomic_store_explicit(&worker->words->left_ns, left * ns,
                          memory_order_relaxed);
    eki_worker_store(worker);
}

/* Of a rank, whose workers have the local numbers FIRST to END - 1; false: it
 * is not in the process. */
static bool see_rank(const struct eki_engine *engine,
                     const struct eki_rank_words *of_rank, int first, int end,
                     struct eki_headway *seen)
{
    uint64_t now = engine->processes & 1, left_ns = 0;
    /* acquire: pairs with the release in enter_worker(): what it noted. */
    if (atomic_load_explicit(&eki_words_of(engine, first)->phase,
                             memory_order_acquire) != engine->phase)
        return false;
    *seen =
        (struct eki_headway){.done = 0 - eki_glance(&of_rank->ran[now]),
                             .known = 0 - eki_glance(&of_rank->made),
                             .last_tasks = eki_glance(&of_rank->ran[now]) -
                                           eki_glance(&of_rank->ran[now ^ 1]),
                             .workers = end - first};
    for (; first < end; first++) {
        const struct eki_worker_words *words = eki_words_of(engine, first);
        seen->done += eki_glance(&words->executed);
        seen->known += eki_glance(&words->created);
        seen->work_ns += eki_glance(&words->work_ns[now]);
        seen->last_ns += eki_glance(&words->work_ns[now ^ 1]);
        seen->idle += eki_is_set(&words->idle, engine->phase);
        left_ns += eki_glance(&words->left_ns);
    }
    seen->slowest_ns = left_ns / (uint64_t)seen->workers;
    return true;
}

struct eki_headway eki_headway_here(const struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    struct eki_headway sum = {.slowest = -1}, seen;
    int rank = topology->lowest_rank[topology->node], first = 0;
    for (int i = 0; i < topology->node_ranks; i++, rank++) {
        while (topology->node_of_rank[rank] != topology->node)
            rank++;
        int end = first + topology->first_worker[rank + 1] -
                  topology->first_worker[rank];
        if (see_rank(engine, &engine->rank_words[i], first, end, &seen)) {
            seen.slowest = rank;
            eki_headway_add(&sum, &seen);
        }
        first = end;
    }
    return sum;
}

void eki_headway_add(struct eki_headway *sum, const struct eki_headway *other)
{
    sum->done += other->done;
    sum->known += other->known;
    sum->work_ns += other->work_ns;
    sum->last_tasks += other->last_tasks;
    sum->last_ns += other->last_ns;
    sum->workers += other->workers;
    sum->idle += other->idle;
    if (other->slowest_ns > sum->slowest_ns) {
        sum->slowest = other->slowest;
        sum->slowest_ns = other->slowest_ns;
    }
}

double eki_headway_left_s(const struct eki_headway *headway, double elapsed_s)
{
    double done = (double)headway->done, known = (double)headway->known;
    double work_ns = 0;
    if (headway->last_tasks > 0)
        work_ns =
            (double)headway->last_ns * known / (double)headway->last_tasks -
            (double)headway->work_ns;
    if (work_ns > 0 && headway->workers > 0)
        return work_ns * 1e-9 / (double)headway->workers;
    return done > 0 ? elapsed_s * (known - done) / done : -1;
}

/* Append "1,234". */
static void append_grouped(uint64_t count, char *text, size_t bytes)
{
    char digits[24];
    int length =
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    for (int i = 0; i < length; i++)
        eki_append(text, bytes, i > 0 && (length - i) % 3 == 0 ? ",%c" : "%c",
                   digits[i]);
}

static void append_left(double s, char *text, size_t bytes)
{
    if (s < 100)
        eki_append(text, bytes, ", %.1f s left", s);
    else if (s < 6000)
        eki_append(text, bytes, ", %.0f min left", s / 60);
    else
        eki_append(text, bytes, ", %.1f h left", s / 3600);
}

void eki_headway_append(const struct eki_look *look,
                        const struct eki_headway *headway, double elapsed_s,
                        char *text, size_t bytes)
{
    static const char bar[] = "########........";
    const struct eki_topology *topology = look->engine->topology;
    struct eki_headway seen = *headway;
    /* What has run here may have come from ranks that are not heard of. */
    if (seen.known < seen.done || seen.known > INT64_MAX)
        seen.known = seen.done;
    double share = seen.known > 0 ? (double)seen.done / (double)seen.known : 0;
    double left_s = eki_headway_left_s(&seen, elapsed_s);
    if (strcmp(look->name, "tasks") != 0)
        eki_append(text, bytes, "%s, ", look->name);
    eki_append(text, bytes, "iteration %lld [%.*s] %d %% of ",
               (long long)look->iteration, BAR, bar + BAR - (int)(BAR * share),
               (int)(100 * share));
    append_grouped(seen.known, text, bytes);
    eki_append(text, bytes, " tasks");
    if (left_s >= 0)
        append_left(left_s, text, bytes);
    eki_append(text, bytes, ", ");
    append_grouped((uint64_t)seen.idle, text, bytes);
    eki_append(text, bytes, " of ");
    append_grouped((uint64_t)seen.workers, text, bytes);
    eki_append(text, bytes, " workers idle");
    if (topology->size > 1 && seen.slowest >= 0)
        eki_append(text, bytes, ", slowest rank %lld", (long long)seen.slowest);
    if (seen.workers < topology->workers)
        eki_append(text, bytes, ", %lld workers not heard of",
                   (long long)(topology->workers - seen.workers));
}
