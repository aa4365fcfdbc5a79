/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world: a node of RANKS ranks with WORKERS workers altogether, made of the
 * engine's own files, for a model checker and for plain threads.
 *
 * The program that includes it defines RANKS and WORKERS, and steps what it
 * checks by calling the functions of the engine, static ones too.  A checker
 * sees neither into memcpy() nor into mixed sizes of accesses: slots have no
 * payload and are copied field by field, texts are cut to a character, counts
 * are not cleared.  Nothing grows: all memory is here.
 */
#ifndef WORLD_H
#define WORLD_H

#define EKI_DEQUE_CAPACITY 2
#define EKI_DEQUE_SPINS 1
#include "weak.h"

#include "engine/internal.h"

#include <assert.h>
#include <pthread.h>

#ifndef NODES
#define NODES 1
#endif
#ifndef REPEAT
#define REPEAT 1
#endif

enum {
    SLOT = sizeof(struct eki_slot),
    SEEDS_MOST = 4, /* of a worker */
    STACK_MOST = 8,
    TASKS_MOST = 8 /* ids 0 ... TASKS_MOST - 1 */
};

#ifdef GENMC
/* What a program for the checker has no library for. */
#define snprintf(to, bytes, ...) ((void)((to)[0] = 'x'))

static void world_copy_error(struct eki_error *to, const struct eki_error *from)
{
    to->status = from->status;
    to->worker = from->worker;
    to->text[0] = from->text[0];
}

static void *world_copy(void *to, const void *from, size_t bytes)
{
    if (bytes == sizeof(struct eki_error)) {
        world_copy_error(to, from);
        return to;
    }
    for (size_t i = 0; i < bytes / SLOT; i++) {
        struct eki_slot *slot = (struct eki_slot *)to + i;
        slot->flags = ((const struct eki_slot *)from)[i].flags;
        slot->id = ((const struct eki_slot *)from)[i].id;
    }
    return to;
}

/* For a struct that is assigned. */
void *memcpy(void *to, const void *from, size_t bytes)
{
    return world_copy(to, from, bytes);
}

/* Of what is cleared only these were ever set. */
static void world_clear(void *to, size_t bytes)
{
    struct eki_vote *vote = to;
    struct eki_error *error = to;
    if (bytes == sizeof *vote) {
        vote->created = vote->executed = vote->signature_high = 0;
        error = &vote->error;
    } else if (bytes != sizeof *error) {
        return;
    }
    error->status = EK_OK;
    error->text[0] = '\0';
}
#define memset(to, byte, bytes) world_clear(to, bytes)
/* By another name: what the checker knows as a copy it takes apart by types. */
#define memcpy(to, from, bytes) world_copy(to, from, bytes)
#define memmove(to, from, bytes) world_copy(to, from, bytes)

void eki_yield(void)
{
    model_wait();
}

void *eki_alloc(size_t count, size_t bytes)
{
    return malloc(count * bytes);
}

void eki_free(void *memory)
{
    free(memory);
}
#endif

#define eki_grow(array, count, room, first, bytes) ((count) < *(room))

/* Who finds a worker held ends here, or gives its core away. */
#define eki_pause() model_wait()

#include "engine/end.c"
#include "engine/error.c"
#include "engine/leave.c"
#include "engine/lineup.c"
#include "engine/phase.c"
#include "engine/pinned.c"
#include "engine/post.c"
#include "engine/publish.c"
#include "engine/segment.c"
#include "engine/worker.c"
#if NODES > 1
#include "engine/detect.c"
#endif
/* Of a protocol other functions have the names of theirs. */
#ifndef WORLD_PROTOCOL
#include "engine/idle.c"
#include "engine/wave.c"
#endif

/* Nothing grows: there is room or not. */
#define eki_local_reserve world_grow
#include "task/local.c"
#undef eki_local_reserve
#include "task/held.c"

bool eki_local_reserve(struct eki_local *local, int64_t n)
{
    return eki_local_slots(local, local->stack_top, local->stack_limit) >= n;
}

struct world_share {
    _Alignas(EKI_LINE) struct eki_slot slots[2 * EKI_DEQUE_CAPACITY];
};

/* As eki_engine_segment_bytes() has it. */
static struct {
    struct eki_node_words node;
    struct eki_rank_words ranks[RANKS];
    struct eki_worker_words workers[WORKERS];
    struct world_share shares[WORKERS + RANKS];
} world_segment;

static struct eki_topology world_topology[RANKS];
static struct eki_engine world_engines[RANKS];
static struct ek_worker *world_pointers[WORKERS];
static uint64_t world_trusted[WORKERS][WORKERS + RANKS];
static int world_first[RANKS];
static struct eki_slot world_brought[RANKS][STACK_MOST];
static struct ek_worker world_workers[WORKERS];
static struct eki_slot world_seeds[WORKERS][SEEDS_MOST];
static struct eki_slot world_stacks[WORKERS][STACK_MOST];
static int world_runs[TASKS_MOST]; /* of each task; who has it writes it */

static uint32_t world_next_id;

static void world_run(const struct eki_slot *slot)
{
    world_runs[slot->id]++;
}

/* Run all that is in a worker's local part, in its order. */
static void world_run_all(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    while (!eki_local_is_empty(local)) {
        struct eki_slot *slot = eki_worker_top(worker);
        if (local->stack_top != local->stack_bottom)
            local->stack_top = (unsigned char *)slot;
        else
            local->seed_top = (unsigned char *)slot;
        world_run(slot);
        worker->executed++;
    }
}

static void world_seed(struct ek_worker *worker)
{
    struct eki_slot *slot = eki_local_add_seed(&worker->local);
    slot->flags = EKI_SLOT_SEED;
    slot->id = world_next_id++;
}

static void world_open_stack(struct eki_local *local, struct eki_slot *stack)
{
    local->slot_bytes = SLOT;
    local->stack = local->stack_bottom = local->stack_top =
        (unsigned char *)stack;
    local->stack_mark = local->stack_limit =
        (unsigned char *)(stack + STACK_MOST);
}

static void world_open_worker(struct ek_worker *worker, int local)
{
    struct eki_local *own = &worker->local;
    own->seeds = own->seed_base = own->seed_top = own->seed_end =
        (unsigned char *)world_seeds[local];
    own->seed_limit = (unsigned char *)(world_seeds[local] + SEEDS_MOST);
    world_open_stack(own, world_stacks[local]);
    eki_deque_init(&worker->share.deque, EKI_DEQUE_ATOMIC, 0);
    worker->share.slots = (unsigned char *)world_segment.shares[local].slots;
    worker->words = &world_segment.workers[local];
    worker->share.shared = &worker->words->deque;
    worker->search.trusted = world_trusted[local];
    worker->search.steal_from = -1;
    worker->local_number = local;
    worker->id = local;
    worker->piece.first = -1;
    worker->local.next_id = worker->first_id = eki_id_first_spawned(local);
}

/* Workers are dealt to ranks in turn of their numbers: the first rank has all
 * but one of each further rank. */
static int world_workers_of(int rank)
{
    return rank == 0 ? WORKERS - (RANKS - 1) : 1;
}

static void world_open(void)
{
    int local = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        struct eki_topology *topology = &world_topology[rank];
        struct eki_engine *engine = &world_engines[rank];
        topology->rank = topology->node_index = rank;
        topology->size = RANKS * NODES;
        topology->node_ranks = RANKS;
        topology->nodes = NODES;
        topology->workers = topology->node_workers = WORKERS;
        topology->node_first = local;
        topology->workers_here = world_workers_of(rank);
        engine->topology = topology;
        engine->segment = (unsigned char *)&world_segment;
        engine->node = &world_segment.node;
        engine->rank_words = world_segment.ranks;
        engine->slot_bytes = engine->pinned.local.slot_bytes = SLOT;
        engine->capacity = EKI_DEQUE_CAPACITY;
        engine->alone = NODES == 1;
        engine->has_thieves = true;
        engine->setup.check_words = 2 * WORKERS;
        engine->workers = &world_pointers[local];
        engine->first_local = world_first;
        world_first[rank] = local;
        world_open_stack(&engine->post.brought.local, world_brought[rank]);
        eki_deque_init(&engine->post.brought.share.deque, EKI_DEQUE_ATOMIC, 0);
        engine->post.brought.share.shared = &world_segment.ranks[rank].deque;
        engine->post.brought.share.slots =
            (unsigned char *)world_segment.shares[WORKERS + rank].slots;
        for (int here = 0; here < topology->workers_here; here++, local++) {
            world_pointers[local] = &world_workers[local];
            world_workers[local].engine = engine;
            world_workers[local].here = here;
            world_open_worker(&world_workers[local], local);
        }
    }
}

/* Enter the next phase of a rank, in which nobody steals. */
static void world_enter(struct eki_engine *engine, uint64_t signature)
{
    struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                              .signature = signature};
    eki_engine_enter(engine, &phase, 0);
}

/* The worker has nothing, for now, and says so. */
static void world_become_idle(struct ek_worker *worker)
{
    eki_worker_store(worker);
    eki_worker_note_idle(worker);
}

struct world_program {
    void (*prepare)(void);
    void (*check)(void); /* when all threads have ended */
    int count;
    void *(*threads[4])(void *);
};

static void world_run_once(const struct world_program *program)
{
    pthread_t ids[4];
    int failed = 0;
    world_open();
    program->prepare();
    for (int i = 0; i < program->count; i++)
        failed |= pthread_create(&ids[i], NULL, program->threads[i], NULL);
    assert(!failed);
    for (int i = 0; i < program->count; i++)
        pthread_join(ids[i], NULL);
    program->check();
}

static int world_run_program(const struct world_program *program)
{
    for (int i = 0; i < REPEAT; i++) {
        if (i > 0) {
            memset(&world_segment, 0, sizeof world_segment);
            memset(world_engines, 0, sizeof world_engines);
            memset(world_workers, 0, sizeof world_workers);
            memset(world_runs, 0, sizeof world_runs);
            memset(world_trusted, 0, sizeof world_trusted);
            world_next_id = 0;
        }
        world_run_once(program);
    }
    return 0;
}

#endif
