/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_add_tasks() and ek_add_range(): many tasks, whose numbers are taken at
 * once.
 *
 * Of ek_add_tasks() all is looked at once: the arguments, room in every worker,
 * numbers.  Then nothing can fail, and each worker's seeds are written in one
 * go.
 */
#include "collection/seeds.h"

/* What all have in common; payload I begins at PAYLOADS + I x STRIDE. */
struct many {
    ek_function function;
    int64_t n;
    const unsigned char *payloads;
    size_t bytes, stride;
};

/* All threads but the home thread share a dealer. */
static void lock_dealer(ek_collection *tasks, const struct eki_dealer *dealer)
{
    if (dealer != &tasks->seeds.home)
        pthread_mutex_lock(&tasks->seeds.foreign.mutex);
}

static void unlock_dealer(ek_collection *tasks, const struct eki_dealer *dealer)
{
    if (dealer != &tasks->seeds.home)
        pthread_mutex_unlock(&tasks->seeds.foreign.mutex);
}

/* Where seeds for WORKER go: other threads than the home thread add to a list
 * that is dealt out later, by the home worker in each id. */
static struct eki_local *seeds_for(ek_collection *tasks,
                                   const struct eki_dealer *dealer,
                                   struct ek_worker *worker)
{
    return dealer == &tasks->seeds.home ? &worker->local
                                        : &tasks->seeds.foreign.seeds;
}

ek_status eki_collection_check_numbers(ek_collection *tasks, const char *call,
                                       int64_t n, const char *things)
{
    const struct eki_dealer *dealer = eki_dealer_here(tasks);
    uint64_t most = dealer->last_id - dealer->first_id;
    return (uint64_t)n <= most
               ? EK_OK
               : eki_error(EK_ERR_ARG, "%s: %lld %s; allowed in one call: %lld",
                           call, (long long)n, things, (long long)most);
}

static const void *payload_of(const struct many *many, int64_t i)
{
    return many->payloads ? many->payloads + (size_t)i * many->stride : NULL;
}

static ek_status check_many(const ek_collection *tasks, const struct many *many)
{
    EKI_TRY(eki_collection_check_add(tasks, "ek_add_tasks", many->function, 0));
    int64_t most = tasks->engine->setup.payload_bytes;
    if (many->n < 0)
        return eki_error(EK_ERR_ARG,
                         "ek_add_tasks: %lld tasks; allowed: 0 and more",
                         (long long)many->n);
    if (many->bytes > (size_t)most)
        return eki_error(EK_ERR_ARG,
                         "ek_add_tasks: payloads of %zu bytes; allowed: 0 ... "
                         "%lld (option payload_bytes)",
                         many->bytes, (long long)most);
    if (!many->payloads && many->bytes > 0 && many->n > 0)
        return eki_error(EK_ERR_ARG, "ek_add_tasks: payloads is NULL");
    if (many->stride < many->bytes || many->stride > PTRDIFF_MAX)
        return eki_error(EK_ERR_ARG,
                         "ek_add_tasks: a stride of %zu bytes for payloads of "
                         "%zu; allowed: %zu ... %td",
                         many->stride, many->bytes, many->bytes, PTRDIFF_MAX);
    return EK_OK;
}

/* Who gets task I, and every COUNT-th after it, of COUNT workers. */
static struct ek_worker *worker_of(const ek_collection *tasks,
                                   const struct eki_dealer *dealer, int i)
{
    int count = tasks->topology->workers_here;
    return tasks->engine->workers[(dealer->next_worker + i) % count];
}

/* Room for each worker's part, or for all in the list of other threads. */
static bool reserve_seeds(ek_collection *tasks, const struct many *many,
                          const struct eki_dealer *dealer)
{
    int count = tasks->topology->workers_here;
    if (dealer != &tasks->seeds.home)
        return eki_local_seeds_room(&tasks->seeds.foreign.seeds, many->n);
    for (int i = 0; i < count; i++) {
        if (!eki_local_seeds_room(&worker_of(tasks, dealer, i)->local,
                                  (many->n + count - 1 - i) / count))
            return false;
    }
    return true;
}

/* Every COUNT-th task from I on, and every COUNT-th number from ID on, to
 * SEEDS, where there is room. */
struct part {
    int64_t i, count;
    uint64_t id;
};

/* Where it is inline, BYTES is a constant. */
static inline void fill_with(struct eki_local *seeds, const struct many *many,
                             struct part part, size_t bytes)
{
    unsigned char *slot = seeds->seed_end;
    const unsigned char *payload = payload_of(many, part.i);
    size_t step = (size_t)part.count * many->stride;
    uint32_t slot_bytes = seeds->slot_bytes;
    for (; part.i < many->n; part.i += part.count) {
        eki_seed_fill((struct eki_slot *)slot, many->function, payload, bytes,
                      part.id);
        slot += slot_bytes;
        part.id += (uint64_t)part.count;
        if (payload)
            payload += step;
    }
    seeds->seed_end = seeds->seed_top = slot;
}

static void fill_part(struct eki_local *seeds, const struct many *many,
                      struct part part)
{
    /* The default. */
    if (EKI_LIKELY(many->bytes == 48))
        fill_with(seeds, many, part, 48);
    else
        fill_with(seeds, many, part, many->bytes);
}

static ek_status deal_many(ek_collection *tasks, const struct many *many,
                           struct eki_dealer *dealer)
{
    int count = tasks->topology->workers_here;
    if (!reserve_seeds(tasks, many, dealer))
        return eki_error(EK_ERR_NOMEM, "no memory for %lld tasks",
                         (long long)many->n);
    uint64_t number = eki_dealer_take(dealer, (uint64_t)many->n);
    for (int i = 0; i < count; i++) {
        struct ek_worker *worker = worker_of(tasks, dealer, i);
        fill_part(
            seeds_for(tasks, dealer, worker), many,
            (struct part){i, count, eki_id(worker->id, number + (uint64_t)i)});
    }
    dealer->next_worker = (int)((dealer->next_worker + many->n) % count);
    return EK_OK;
}

static ek_status add_many(ek_collection *tasks, const struct many *many)
{
    EKI_TRY(check_many(tasks, many));
    struct eki_dealer *dealer = eki_dealer_here(tasks);
    EKI_TRY(
        eki_collection_check_numbers(tasks, "ek_add_tasks", many->n, "tasks"));
    if (tasks->engine->setup.is_checked && many->payloads)
        for (int64_t i = 0; i < many->n; i++)
            eki_collection_check_payload(tasks, "ek_add_tasks", many->function,
                                         payload_of(many, i), many->bytes);
    lock_dealer(tasks, dealer);
    ek_status status = deal_many(tasks, many, dealer);
    unlock_dealer(tasks, dealer);
    return status;
}

ek_status ek_add_tasks(ek_collection *tasks, ek_function function, int64_t n,
                       const void *payloads, size_t bytes, size_t stride)
{
    const struct many many = {function, n, payloads, bytes, stride};
    return eki_collection_outcome_often(tasks, add_many(tasks, &many));
}

/* Deal equal parts of a range to the workers. */
static ek_status deal_parts(ek_collection *tasks, ek_function function,
                            struct eki_range range, struct eki_dealer *dealer)
{
    int workers = tasks->topology->workers_here;
    int64_t n = range.last - range.first;
    uint64_t number = eki_dealer_take(dealer, (uint64_t)n);
    for (int here = 0; here < workers; here++) {
        struct ek_worker *worker = tasks->engine->workers[here];
        int64_t from = eki_part_start(n, workers, here);
        int64_t to = eki_part_start(n, workers, here + 1);
        struct eki_range part = {range.first + from, range.first + to};
        if (to > from && !eki_local_add_range(
                             seeds_for(tasks, dealer, worker), function, part,
                             eki_id(worker->id, number + (uint64_t)from)))
            return eki_error(EK_ERR_NOMEM, "no memory for a range");
    }
    return EK_OK;
}

ek_status eki_collection_deal(ek_collection *tasks, ek_function function,
                              struct eki_range range)
{
    struct eki_dealer *dealer = eki_dealer_here(tasks);
    lock_dealer(tasks, dealer);
    ek_status status = deal_parts(tasks, function, range, dealer);
    unlock_dealer(tasks, dealer);
    return status;
}

static ek_status add_range(ek_collection *tasks, ek_function function,
                           int64_t first, int64_t last)
{
    EKI_TRY(eki_collection_check_add(tasks, "ek_add_range", function,
                                     sizeof(struct eki_range)));
    if (first < 0 || last < first)
        return eki_error(EK_ERR_ARG,
                         "ek_add_range: %lld ... %lld; allowed: 0 <= first <= "
                         "last",
                         (long long)first, (long long)last);
    EKI_TRY(eki_collection_check_numbers(tasks, "ek_add_range", last - first,
                                         "indices"));
    return eki_collection_deal(tasks, function,
                               (struct eki_range){first, last});
}

ek_status ek_add_range(ek_collection *tasks, ek_function function,
                       int64_t first, int64_t last)
{
    return eki_collection_outcome_often(
        tasks, add_range(tasks, function, first, last));
}
