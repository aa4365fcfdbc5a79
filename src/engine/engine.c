/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an engine: its workers, functions and protocols. */
#include "engine/internal.h"

static void destroy_worker(struct ek_worker *worker)
{
    if (!worker)
        return;
    eki_worker_clear(worker, &worker->inbox);
    eki_worker_clear(worker, &worker->answers);
    eki_local_free(&worker->local);
    eki_free(worker->function_counts);
    eki_worker_forget(worker);
    eki_array_free(worker->results.bytes, worker->results.room);
    eki_free(worker->late.ids);
    eki_free(worker);
}

static struct ek_worker *create_worker(struct eki_engine *engine, int here)
{
    const struct eki_topology *topology = engine->topology;
    /* One piece of memory, because a simulator has many workers. */
    struct ek_worker *worker = eki_alloc_lines(
        sizeof *worker + engine->slot_bytes +
        (size_t)eki_deque_count(engine) * sizeof *worker->search.trusted);
    if (!worker)
        return NULL;
    eki_local_init(&worker->local, engine->slot_bytes);
    worker->batch.scratch = (struct eki_slot *)(worker + 1);
    worker->search.trusted =
        (void *)((unsigned char *)(worker + 1) + engine->slot_bytes);
    eki_deque_init(&worker->share.deque, engine->setup.deque, engine->capacity);
    worker->engine = engine;
    worker->here = worker->local.here = here;
    worker->id = topology->first_worker[topology->rank] + here;
    worker->local.id = worker->id;
    worker->local.payload_limit = (uint32_t)engine->setup.payload_bytes;
    worker->local_number = topology->node_first + here;
    worker->words = eki_words_of(engine, worker->local_number);
    worker->share.shared = &worker->words->deque;
    worker->share.slots = eki_slots_of(engine, worker->local_number);
    worker->search.thief.topology = topology;
    worker->search.thief.local = worker->local_number;
    worker->search.thief.robber = &worker->words->robber;
    eki_random_seed(&worker->search.thief.random, engine->setup.seed,
                    (uint64_t)worker->id);
    worker->piece.first = -1;
    /* relaxed: nobody else is about. */
    atomic_store_explicit(&worker->piece.shown_function, -1,
                          memory_order_relaxed);
    worker->search.steal_from = -1;
    /* relaxed: nobody else is about. */
    atomic_store_explicit(&worker->answers, eki_shut(worker),
                          memory_order_relaxed);
    worker->local.next_id = worker->first_id = eki_id_first_spawned(worker->id);
    worker->batch.size = worker->piece.size = 1;
    worker->batch.task_ns = 2 * EKI_HIDDEN_NS; /* not known: none hides */
    return worker;
}

static bool create_workers(struct eki_engine *engine)
{
    int workers = engine->topology->workers_here;
    engine->workers = eki_alloc((size_t)workers, sizeof *engine->workers);
    if (!engine->workers)
        return false;
    for (int here = 0; here < workers; here++) {
        engine->workers[here] = create_worker(engine, here);
        if (!engine->workers[here])
            return false;
    }
    return true;
}

/* What is brought, and where the ranks of the node have their workers. */
static bool open_brought(struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    struct eki_share *share = &engine->post.brought.share;
    int node = topology->node, index = 0, local = 0;
    if (topology->size == 1)
        return true;
    eki_local_init(&engine->post.brought.local, engine->slot_bytes);
    eki_deque_init(&share->deque, engine->setup.deque, engine->capacity);
    share->shared = eki_deque_of(engine, eki_server_deque(engine));
    share->slots = eki_slots_of(engine, eki_server_deque(engine));
    engine->first_local =
        eki_alloc((size_t)topology->node_ranks, sizeof *engine->first_local);
    for (int r = topology->lowest_rank[node];
         engine->first_local && r <= topology->highest_rank[node]; r++) {
        if (topology->node_of_rank[r] != node)
            continue;
        engine->first_local[index++] = local;
        local += topology->first_worker[r + 1] - topology->first_worker[r];
    }
    return engine->first_local != NULL;
}

ek_status eki_engine_create(const struct eki_setup *setup,
                            struct eki_engine **made)
{
    const struct eki_topology *topology = setup->topology;
    struct eki_engine *engine = eki_alloc_lines(sizeof *engine);
    if (!engine)
        goto no_memory;
    engine->setup = *setup;
    engine->topology = topology;
    engine->exchange.fabric = setup->fabric;
    engine->exchange.topology = setup->topology;
    engine->exchange.number = setup->number;
    engine->segment = setup->segment;
    engine->node = setup->segment;
    engine->rank_words = (struct eki_rank_words *)(engine->node + 1);
    engine->slot_bytes = eki_setup_slot_bytes(setup);
    engine->capacity = (uint32_t)setup->buffer_slots;
    eki_local_init(&engine->pinned.local, engine->slot_bytes);
    engine->alone = topology->nodes == 1;
    engine->moves.protocol.ops = &eki_moves_ops;
    eki_engine_add(engine, &engine->moves.protocol);
    if (!engine->alone) {
        eki_waves_open(engine);
        eki_engine_add(engine, &engine->waves.protocol);
        engine->refusal.ops = &eki_refusal_ops;
        eki_engine_add(engine, &engine->refusal);
    }
    if ((setup->fabric &&
         eki_line_open(&engine->line, setup->fabric, setup->number) != EK_OK) ||
        !open_brought(engine) || !create_workers(engine))
        goto no_memory;
    *made = engine;
    return EK_OK;
no_memory:
    eki_engine_destroy(&engine);
    return eki_error(EK_ERR_NOMEM, "no memory for %d workers",
                     topology->workers_here);
}

void eki_engine_destroy(struct eki_engine **made)
{
    struct eki_engine *engine = *made;
    *made = NULL;
    if (!engine)
        return;
    for (int i = 0; i < engine->protocol_count; i++) {
        struct eki_protocol *protocol = engine->protocols[i];
        if (protocol->ops->destroy)
            protocol->ops->destroy(protocol);
    }
    for (int here = 0; engine->workers && here < engine->topology->workers_here;
         here++)
        destroy_worker(engine->workers[here]);
    eki_line_close(&engine->line);
    eki_lack_forget(engine);
    eki_local_free(&engine->post.brought.local);
    eki_pinned_free(&engine->pinned);
    eki_free(engine->lists);
    eki_free(engine->detect.receipts.items);
    eki_free(engine->lineup.items);
    eki_free(engine->first_local);
    eki_free(engine->workers);
    for (int f = 0; f < engine->function_count; f++)
        eki_free(engine->functions[f].name);
    eki_free(engine->functions);
    eki_free(engine);
}

void eki_engine_add(struct eki_engine *engine, struct eki_protocol *protocol)
{
    const struct eki_protocol_ops *ops = protocol->ops;
    int at = engine->protocol_count++;
    EKI_ASSERT(at < EKI_PROTOCOLS_MOST);
    for (; at > 0 && engine->protocols[at - 1]->ops->channel > ops->channel;
         at--)
        engine->protocols[at] = engine->protocols[at - 1];
    engine->protocols[at] = protocol;
    protocol->engine = engine;
    engine->stepped_count = 0;
    for (int i = 0; i < engine->protocol_count; i++) {
        if (engine->protocols[i]->ops->step)
            engine->stepped[engine->stepped_count++] = engine->protocols[i];
    }
    EKI_ASSERT(!engine->channels[ops->channel]);
    EKI_ASSERT(ops->verb_count <= EKI_VERBS_MOST);
    engine->channels[ops->channel] = protocol;
}

struct eki_protocol *eki_engine_protocol(const struct eki_engine *engine,
                                         const struct eki_protocol_ops *ops)
{
    struct eki_protocol *protocol = engine->channels[ops->channel];
    return protocol && protocol->ops == ops ? protocol : NULL;
}

static bool grow_functions(struct eki_engine *engine)
{
    int64_t room = engine->function_room;
    if (!eki_grow(&engine->functions, engine->function_count, &room, 8,
                  sizeof *engine->functions))
        return false;
    /* All of them before anything may fail: the old memory is gone. */
    for (int here = 0; here < engine->topology->workers_here; here++)
        engine->workers[here]->functions = engine->functions;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        struct eki_function_counts *counts =
            eki_alloc_lines((size_t)room * sizeof *counts);
        if (!counts)
            return false;
        /* Written in every batch: on lines of its own, of which the program's
         * objects have none. */
        if (engine->function_count)
            memcpy(counts, worker->function_counts,
                   (size_t)engine->function_count * sizeof *counts);
        eki_free(worker->function_counts);
        worker->function_counts = counts;
    }
    engine->function_room = (int)room;
    return true;
}

ek_status eki_engine_register(struct eki_engine *engine, const char *name,
                              ek_task_fn *fn, void *context, int *function)
{
    if (engine->function_count == engine->function_room &&
        !grow_functions(engine))
        return eki_error(EK_ERR_NOMEM, "no memory for function '%s'", name);
    struct eki_function *added = &engine->functions[engine->function_count];
    added->name = eki_copy_string(name);
    if (!added->name)
        return eki_error(EK_ERR_NOMEM, "no memory for function '%s'", name);
    added->fn = fn;
    atomic_init(&added->has_pointer, false);
    added->context = context;
    added->indices = 0;
    *function = engine->function_count++;
    return EK_OK;
}
