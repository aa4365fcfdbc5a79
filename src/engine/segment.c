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
    int servers = topology->nodes == 1 ? 0 : topology->node_ranks;
    return words_bytes(topology) +
           (size_t)(topology->node_workers + servers) *
               shared_bytes((uint32_t)setup->buffer_slots,
                            eki_slot_bytes(setup->payload_bytes));
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
