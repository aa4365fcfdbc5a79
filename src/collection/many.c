/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_add_tasks(): many seeds, for which all is looked at once: the arguments,
 * room in every worker, numbers.  Then nothing can fail, and each worker's
 * seeds are written in one go.
 */
#include "collection/collection.h"

#include "collection/seeds.h"

/* What all have in common; payload I begins at PAYLOADS + I x STRIDE. */
struct many {
    ek_function function;
    int64_t n;
    const unsigned char *payloads;
    size_t bytes, stride;
};

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

/* Every COUNT-th payload from FIRST on, to seeds from SLOT on; numbers likewise
 * from ID on.  Where it is inline, BYTES is a constant. */
static inline void fill_with(unsigned char *slot, uint32_t slot_bytes,
                             const struct many *many, int64_t first, int count,
                             uint64_t id, size_t bytes)
{
    const unsigned char *payload =
        many->payloads ? many->payloads + (size_t)first * many->stride : NULL;
    size_t step = (size_t)count * many->stride;
    for (int64_t i = first; i < many->n; i += count) {
        eki_slot_head((struct eki_slot *)slot, many->function, bytes,
                      EKI_NO_HINT, EKI_SLOT_SEED, id);
        eki_copy_payload((struct eki_slot *)slot, payload, bytes);
        slot += slot_bytes;
        id += (uint64_t)count;
        if (payload)
            payload += step;
    }
}

static void fill_seeds(unsigned char *slot, uint32_t slot_bytes,
                       const struct many *many, int64_t first, int count,
                       uint64_t id)
{
    /* The default. */
    if (EKI_LIKELY(many->bytes == 48))
        fill_with(slot, slot_bytes, many, first, count, id, 48);
    else
        fill_with(slot, slot_bytes, many, first, count, id, many->bytes);
}

/* So many of the tasks FIRST, FIRST + COUNT, ... there are. */
static int64_t count_of(const struct many *many, int64_t first, int count)
{
    return first < many->n ? (many->n - 1 - first) / count + 1 : 0;
}

/* Room for a part of the tasks in each worker's seeds. */
static bool reserve_seeds(ek_collection *tasks, const struct many *many)
{
    int count = tasks->topology->workers_here;
    for (int i = 0; i < count; i++) {
        int here = (tasks->seeds.home.next_worker + i) % count;
        if (!eki_local_seeds_room(&tasks->engine->workers[here]->local,
                                  count_of(many, i, count)))
            return false;
    }
    return true;
}

static bool add_at_home(ek_collection *tasks, const struct many *many)
{
    int count = tasks->topology->workers_here;
    if (!reserve_seeds(tasks, many))
        return false;
    uint64_t number = eki_dealer_take(&tasks->seeds.home, (uint64_t)many->n);
    for (int i = 0; i < count; i++) {
        int here = (tasks->seeds.home.next_worker + i) % count;
        struct ek_worker *worker = tasks->engine->workers[here];
        struct eki_local *local = &worker->local;
        int64_t n = count_of(many, i, count);
        fill_seeds(local->seed_end, local->slot_bytes, many, i, count,
                   eki_id(worker->id, number + (uint64_t)i));
        local->seed_end += n * (int64_t)local->slot_bytes;
        local->seed_top = local->seed_end;
    }
    tasks->seeds.home.next_worker =
        (int)((tasks->seeds.home.next_worker + many->n) % count);
    return true;
}

/* By another thread than the home thread, to the list that is dealt out later:
 * by the home worker in each id. */
static bool add_from_elsewhere(ek_collection *tasks, const struct many *many)
{
    struct eki_local *foreign = &tasks->seeds.foreign.seeds;
    struct eki_dealer *dealer = &tasks->seeds.foreign.dealer;
    int count = tasks->topology->workers_here;
    pthread_mutex_lock(&tasks->seeds.foreign.mutex);
    bool has_room = eki_local_seeds_room(foreign, many->n);
    uint64_t number = eki_dealer_take(dealer, has_room ? (uint64_t)many->n : 0);
    for (int64_t i = 0; has_room && i < many->n; i++) {
        const struct ek_worker *worker =
            tasks->engine->workers[dealer->next_worker];
        const struct many one = {
            many->function, 1,
            many->payloads ? many->payloads + (size_t)i * many->stride : NULL,
            many->bytes, many->stride};
        fill_seeds(foreign->seed_end, foreign->slot_bytes, &one, 0, 1,
                   eki_id(worker->id, number + (uint64_t)i));
        foreign->seed_end += foreign->slot_bytes;
        dealer->next_worker = (dealer->next_worker + 1) % count;
    }
    foreign->seed_top = foreign->seed_end;
    pthread_mutex_unlock(&tasks->seeds.foreign.mutex);
    return has_room;
}

static ek_status add_many(ek_collection *tasks, const struct many *many)
{
    EKI_TRY(check_many(tasks, many));
    bool is_home = tasks->seeds.home_thread == eki_thread_identity();
    const struct eki_dealer *dealer =
        is_home ? &tasks->seeds.home : &tasks->seeds.foreign.dealer;
    if ((uint64_t)many->n > dealer->last_id - dealer->first_id)
        return eki_error(EK_ERR_ARG,
                         "ek_add_tasks: %lld tasks; allowed in one call: %lld",
                         (long long)many->n,
                         (long long)(dealer->last_id - dealer->first_id));
    if (tasks->is_checked && many->payloads)
        for (int64_t i = 0; i < many->n; i++)
            eki_collection_check_payload(
                tasks, "ek_add_tasks", many->function,
                many->payloads + (size_t)i * many->stride, many->bytes);
    if (!(is_home ? add_at_home(tasks, many) : add_from_elsewhere(tasks, many)))
        return eki_error(EK_ERR_NOMEM, "no memory for %lld tasks",
                         (long long)many->n);
    return EK_OK;
}

ek_status ek_add_tasks(ek_collection *tasks, ek_function function, int64_t n,
                       const void *payloads, size_t bytes, size_t stride)
{
    const struct many many = {function, n, payloads, bytes, stride};
    return eki_collection_outcome_often(tasks, add_many(tasks, &many));
}
