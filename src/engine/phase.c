/* SPDX-License-Identifier: BSD-3-Clause */
/* The life cycle of an engine and of its phases. */
#include "engine/internal.h"

/* Numbers of spawned tasks; seeds of the same home are numbered from 0 on. */
static uint64_t first_spawned(const struct ek_worker *worker)
{
    return eki_id(worker->id, EKI_NUMBERS / 2);
}

static struct ek_worker *create_worker(struct eki_engine *engine, int here)
{
    const struct eki_topology *topology = engine->topology;
    struct ek_worker *worker = eki_alloc_lines(sizeof *worker);
    if (!worker)
        return NULL;
    worker->scratch = eki_alloc_lines(engine->slot_bytes);
    if (!worker->scratch) {
        eki_free(worker);
        return NULL;
    }
    worker->trusted =
        eki_alloc((size_t)topology->node_workers, sizeof *worker->trusted);
    if (!worker->trusted) {
        eki_free(worker->scratch);
        eki_free(worker);
        return NULL;
    }
    eki_local_init(&worker->local, engine->slot_bytes);
    eki_deque_init(&worker->deque, engine->setup.deque, engine->capacity);
    worker->engine = engine;
    worker->here = here;
    worker->id = topology->first_worker[topology->rank] + here;
    worker->local_number = topology->node_first + here;
    worker->words = eki_words_of(engine, worker->local_number);
    worker->slots = eki_slots_of(engine, worker->local_number);
    worker->thief.topology = topology;
    worker->thief.local = worker->local_number;
    eki_random_seed(&worker->thief.random, engine->setup.seed,
                    (uint64_t)worker->id);
    worker->index_first = -1;
    worker->steal_from = -1;
    worker->next_id = worker->first_id = first_spawned(worker);
    worker->batch = worker->piece = 1;
    return worker;
}

static void destroy_worker(struct ek_worker *worker)
{
    if (!worker)
        return;
    /* relaxed: nobody else is about. */
    struct eki_chunk *chunk =
        atomic_load_explicit(&worker->inbox, memory_order_relaxed);
    while (chunk) {
        struct eki_chunk *next = chunk->next;
        eki_free(chunk);
        chunk = next;
    }
    eki_local_free(&worker->local);
    eki_free(worker->function_counts);
    eki_free(worker->trusted);
    eki_free(worker->scratch);
    eki_free(worker);
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

ek_status eki_engine_create(const struct eki_setup *setup,
                            struct eki_engine **made)
{
    const struct eki_topology *topology = setup->topology;
    struct eki_engine *engine = eki_alloc_lines(sizeof *engine);
    if (!engine)
        goto no_memory;
    engine->setup = *setup;
    engine->topology = topology;
    engine->fabric = setup->fabric;
    engine->segment = setup->segment;
    engine->node = setup->segment;
    engine->rank_words = (struct eki_rank_words *)(engine->node + 1);
    engine->slot_bytes = eki_slot_bytes(setup->payload_bytes);
    engine->capacity = (uint32_t)setup->buffer_slots;
    engine->alone = topology->nodes == 1;
    if (setup->has_counter && !eki_counter_init(engine))
        goto no_memory;
    if (!eki_server_init(engine) || !create_workers(engine))
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
    for (int here = 0; engine->workers && here < engine->topology->workers_here;
         here++)
        destroy_worker(engine->workers[here]);
    eki_server_free(engine);
    eki_balancer_destroy(engine);
    eki_free(engine->workers);
    for (int f = 0; f < engine->function_count; f++)
        eki_free(engine->functions[f].name);
    eki_free(engine->functions);
    eki_free(engine->departing.slots);
    eki_free(engine->departing.ranks);
    eki_free(engine->departing.workers);
    eki_counter_free(engine);
    eki_free(engine);
}

static bool grow_functions(struct eki_engine *engine)
{
    int room = engine->function_room ? 2 * engine->function_room : 8;
    struct eki_function *functions =
        eki_realloc(engine->functions, (size_t)room, sizeof *functions);
    if (!functions)
        return false;
    engine->functions = functions;
    /* All of them before anything may fail: the old memory is gone. */
    for (int here = 0; here < engine->topology->workers_here; here++)
        engine->workers[here]->functions = functions;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        struct eki_function_counts *counts =
            eki_realloc(worker->function_counts, (size_t)room, sizeof *counts);
        if (!counts)
            return false;
        worker->function_counts = counts;
    }
    engine->function_room = room;
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
    added->context = context;
    *function = engine->function_count++;
    return EK_OK;
}

/* What the worker's own thread does on arriving. */
static void begin(struct ek_worker *worker, uint64_t now)
{
    const struct eki_engine *engine = worker->engine;
    memset(&worker->counts, 0, sizeof worker->counts);
    if (engine->function_count)
        memset(worker->function_counts, 0,
               (size_t)engine->function_count *
                   sizeof *worker->function_counts);
    worker->policy = eki_victim_policy_of(engine->steal);
    worker->is_idle = false;
    worker->batch = worker->piece = 1;
    worker->function_limit = (uint32_t)engine->function_count;
    worker->payload_limit = (size_t)engine->setup.payload_bytes;
    worker->budget = worker->in_batch = 0;
    worker->marks = 0;
    worker->current = NULL;
    worker->ask_after = worker->ask_backoff = 0;
    worker->asked = worker->denied_seen = worker->granted_seen = 0;
    worker->thief.failures = 0;
    worker->counts.first_ns = worker->stamp = worker->idle_since = now;
    worker->unchanged_since = now;
}

/* What the server and others of the rank may look at before. */
static void reset_requests(struct ek_worker *worker)
{
    /* relaxed, all: handed to the worker's thread by the start of the team. */
    atomic_store_explicit(&worker->ask, 0, memory_order_relaxed);
    atomic_store_explicit(&worker->answers[0], 0, memory_order_relaxed);
    atomic_store_explicit(&worker->answers[1], 0, memory_order_relaxed);
    atomic_store_explicit(&worker->draw_state, EKI_DRAW_FREE,
                          memory_order_relaxed);
}

/* Count what is to be done here; a worker without tasks is left alone. */
static void count_seeds(struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    uint64_t seeds = 0;
    if (engine->kind == EKI_PHASE_PROCESS)
        seeds = (uint64_t)eki_local_seed_tasks(&worker->local);
    if (worker->here == 0)
        seeds += (uint64_t)engine->departing.count;
    if (seeds == 0 && worker->next_id == worker->first_id)
        return;
    worker->created = eki_worker_created(worker) + seeds;
    /* After a quarter of the numbers, some 10^11 tasks, they start anew. */
    if (worker->next_id - first_spawned(worker) > EKI_NUMBERS / 4)
        worker->next_id = first_spawned(worker);
    worker->first_id = worker->next_id;
    eki_worker_store(worker);
}

/* The worker is in the phase from now on. */
static void enter_worker(struct ek_worker *worker, uint64_t now)
{
    const struct eki_engine *engine = worker->engine;
    if (!engine->alone || engine->steal == EK_STEAL_COUNTER)
        reset_requests(worker);
    /* relaxed: handed to the worker's thread by the start of the team. */
    atomic_store_explicit(&worker->presence, EKI_ABSENT, memory_order_relaxed);
    if (engine->kind == EKI_PHASE_RESTORE)
        begin(worker, now);
    count_seeds(worker);
    /* relaxed: ordered by the release of phase. */
    atomic_store_explicit(&worker->words->signature[engine->phase & 1],
                          engine->signature, memory_order_relaxed);
    /* release: pairs with the acquire of whoever sums: the seeds count. */
    atomic_store_explicit(&worker->words->phase, engine->phase,
                          memory_order_release);
}

static bool needs_messages(const struct eki_engine *engine)
{
    if (!engine->fabric)
        return false;
    return !engine->alone || engine->kind == EKI_PHASE_RESTORE ||
           (engine->steal == EK_STEAL_COUNTER && engine->topology->size > 1);
}

static void enter_server(struct eki_engine *engine)
{
    struct eki_server *server = &engine->server;
    server->wave = 0;
    server->voted = server->forwarded = false;
    server->stop_next = 0;
    server->has_vote[0] = server->has_vote[1] = false;
    server->verdict_next = -1;
    server->request_count = 0;
    server->stall_told = false;
    server->unchanged_since = engine->entered_ns;
    server->depart_next = 0;
    if (server->has_served)
        memset(&server->service, 0, sizeof server->service);
    server->has_served = false;
}

void eki_engine_enter(struct eki_engine *engine, const struct eki_phase *phase,
                      uint64_t now)
{
    int workers = engine->topology->workers_here;
    engine->phase++;
    engine->kind = phase->kind;
    engine->signature = phase->signature;
    /* Nobody steals in a restore, nor has it a counter: ranks that differ must
     * hear of it. */
    engine->steal =
        phase->kind == EKI_PHASE_PROCESS ? phase->steal : EK_STEAL_NONE;
    engine->on_failure = phase->on_failure;
    engine->has_thieves =
        phase->kind == EKI_PHASE_PROCESS && engine->topology->workers > 1 &&
        eki_victim_policy_of(engine->steal) != &eki_victims_none;
    engine->entered_ns = now;
    engine->is_open = true;
    engine->stall_printed = false;
    enter_server(engine);
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&engine->counter.is_void, false,
                          memory_order_relaxed);
    /* relaxed, all: handed on by the start of the team. */
    atomic_store_explicit(&engine->absent, workers, memory_order_relaxed);
    atomic_store_explicit(&engine->asks, 0, memory_order_relaxed);
    atomic_store_explicit(&engine->messages, needs_messages(engine),
                          memory_order_relaxed);
    if (engine->departing.count > 0 || engine->steal == EK_STEAL_COUNTER) {
        atomic_store_explicit(&engine->messages, engine->fabric != NULL,
                              memory_order_relaxed);
        /* relaxed: ordered by the release of phase, below. */
        atomic_store_explicit(&engine->node->mail[engine->phase & 1],
                              engine->phase, memory_order_relaxed);
    }
    if (phase->balance)
        eki_balancer_enter(engine, phase->balance);
    for (int here = 0; here < workers; here++)
        enter_worker(engine->workers[here], now);
    if (phase->kind != EKI_PHASE_PROCESS)
        return;
    if (phase->steal == EK_STEAL_COUNTER)
        eki_counter_enter(engine);
    for (int here = 0; here < workers; here++)
        eki_worker_publish(engine->workers[here], true);
}

void eki_worker_arrive(struct ek_worker *worker, uint64_t now)
{
    int expected = EKI_ABSENT;
    /* acquire: pairs with the release in take_absent(): what was taken from
     * this worker is gone.  Who holds it does so for a copy. */
    while (!atomic_compare_exchange_weak_explicit(
        &worker->presence, &expected, EKI_PRESENT, memory_order_acquire,
        memory_order_relaxed))
        expected = EKI_ABSENT;
    /* relaxed: a hint. */
    atomic_fetch_sub_explicit(&worker->engine->absent, 1, memory_order_relaxed);
    begin(worker, now);
}

/* Only planted: counters are cumulative. */
static inline void reset_counters(struct ek_worker *worker)
{
    worker->created = worker->executed = 0;
    worker->first_id = worker->next_id;
    eki_worker_store(worker);
}

/* What all ranks return. */
static void phase_error(struct eki_engine *engine, struct eki_error *error)
{
    /* relaxed: every worker here has ended. */
    int broken = atomic_load_explicit(&engine->broken, memory_order_relaxed);
    if (broken != EK_OK) {
        memset(error, 0, sizeof *error);
        error->status = broken;
        error->worker = error->function = -1;
        snprintf(error->text, sizeof error->text, "%.159s",
                 engine->fabric ? engine->fabric->failure : "");
    } else if (engine->alone) {
        eki_node_error(engine, error);
    } else {
        *error = engine->node->announced_error;
    }
}

void eki_engine_leave(struct eki_engine *engine, struct eki_error *error)
{
    phase_error(engine, error);
    engine->departing.count = 0;
    engine->is_open = false;
    for (int here = 0;
         EKI_PLANTED(RESET_COUNTERS) && here < engine->topology->workers_here;
         here++)
        reset_counters(engine->workers[here]);
    /* release: pairs with the acquire in all_left(): no claimant of this rank
     * is about any more. */
    atomic_store_explicit(
        &engine->rank_words[engine->topology->node_index].left, engine->phase,
        memory_order_release);
}
