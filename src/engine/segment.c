/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node segment: words of the node, of its ranks and of its workers, then
 * the slots of the shared parts of workers and servers.
 */
#include "engine/internal.h"

static size_t round_lines(size_t bytes)
{
    return (bytes + EKI_LINE - 1) / EKI_LINE * EKI_LINE;
}

static size_t words_bytes(const struct eki_topology *topology)
{
    return sizeof(struct eki_node_words) +
           (size_t)topology->node_ranks * sizeof(struct eki_rank_words) +
           (size_t)topology->node_workers * sizeof(struct eki_worker_words);
}

static size_t shared_bytes(uint32_t capacity, uint32_t slot_bytes)
{
    return round_lines(2 * (size_t)capacity * slot_bytes);
}

size_t eki_engine_segment_bytes(const struct eki_setup *setup)
{
    const struct eki_topology *topology = setup->topology;
    int servers = topology->size == 1 ? 0 : topology->node_ranks;
    return words_bytes(topology) +
           (size_t)(topology->node_workers + servers) *
               shared_bytes((uint32_t)setup->buffer_slots,
                            eki_setup_slot_bytes(setup));
}

unsigned char *eki_slots_of(const struct eki_engine *engine, int deque)
{
    return engine->segment + words_bytes(engine->topology) +
           (size_t)deque * shared_bytes(engine->capacity, engine->slot_bytes);
}

bool eki_node_all_left(const struct eki_engine *engine)
{
    for (int i = 0; i < engine->topology->node_ranks; i++) {
        /* acquire: pairs with the release in eki_engine_leave(): nobody claims
         * or draws in the last phase any more. */
        if (atomic_load_explicit(&engine->rank_words[i].left,
                                 memory_order_acquire) < engine->phase - 1)
            return false;
    }
    return true;
}

void eki_worker_store_load(struct ek_worker *worker, uint64_t work_ns,
                           uint64_t task_ns)
{
    const struct eki_engine *engine = worker->engine;
    uint64_t parity = engine->processes & 1;
    if (engine->kind != EKI_PHASE_PROCESS)
        return;
    /* Only where they change: all ranks of the node read them on entering. */
    if (eki_is_set(&worker->words->work_ns[parity], work_ns) &&
        eki_is_set(&worker->words->task_ns[parity], task_ns))
        return;
    /* relaxed, both: ordered by the release of phase, or of `executed`. */
    atomic_store_explicit(&worker->words->work_ns[parity], work_ns,
                          memory_order_relaxed);
    atomic_store_explicit(&worker->words->task_ns[parity], task_ns,
                          memory_order_relaxed);
}

void eki_load_add(struct eki_load *sum, const struct eki_load *load)
{
    sum->work_ns += load->work_ns;
    if (load->most_ns > sum->most_ns)
        sum->most_ns = load->most_ns;
    if (load->task_ns > sum->task_ns)
        sum->task_ns = load->task_ns;
}

struct eki_load eki_node_load(const struct eki_engine *engine, uint64_t process)
{
    struct eki_load sum = {0};
    for (int i = 0; i < engine->topology->node_workers; i++) {
        const struct eki_worker_words *words = eki_words_of(engine, i);
        /* relaxed, both: stored before `executed`. */
        uint64_t work_ns = atomic_load_explicit(&words->work_ns[process & 1],
                                                memory_order_relaxed);
        uint64_t task_ns = atomic_load_explicit(&words->task_ns[process & 1],
                                                memory_order_relaxed);
        /* The worker may have stored one of them anew. */
        struct eki_load load = {work_ns, work_ns,
                                task_ns < work_ns ? task_ns : work_ns};
        eki_load_add(&sum, &load);
    }
    return sum;
}

bool eki_node_sums(const struct eki_engine *engine, uint64_t *executed,
                   uint64_t *created)
{
    int workers = engine->topology->node_workers;
    *executed = *created = 0;
    for (int i = 0; i < workers; i++) {
        const struct eki_worker_words *words = eki_words_of(engine, i);
        /* acquire: pairs with the release in enter_worker(): its seeds are
         * counted. */
        if (atomic_load_explicit(&words->phase, memory_order_acquire) !=
                engine->phase ||
            !eki_is_idle(words, engine->phase))
            return false;
        /* acquire: pairs with the release in eki_worker_store(). */
        *executed +=
            atomic_load_explicit(&words->executed, memory_order_acquire);
    }
    for (int i = 0; i < workers; i++)
        /* relaxed: no older than what the acquires above have seen. */
        *created += atomic_load_explicit(&eki_words_of(engine, i)->created,
                                         memory_order_relaxed);
    return true;
}
