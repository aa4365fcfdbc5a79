/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inlets: two workers whose tasks add to another collection, which has one
 * worker, and a thread that calls that one: ek_add_task_to() and
 * eki_collection_release() against eki_collection_claim() and
 * eki_inlets_gather() (collection/inlets.c, collection/entry.c).
 *
 * Mutant: NO_LOCK: who shares an inlet does not lock it.
 *
 * Checked: a seed is filled, has a number of its own, and is handed over once;
 * the other collection's call is refused, or finds what was added before.
 */
#define RANKS 2 /* one of each collection */
#define WORKERS 3
#include "world.h"

#ifdef GENMC
#define pthread_cond_t int
#endif
#include "collection/collection.h"

#ifdef NO_LOCK
#define pthread_mutex_lock(mutex) ((void)(mutex))
#define pthread_mutex_unlock(mutex) ((void)(mutex))
#endif
#ifdef GENMC
#define eki_error(status, ...) (status)
#define eki_clock_ns() 0
#define eki_lookout_enter(lookout, called, iteration) ((void)0)

bool eki_team_was_left(const void *frame)
{
    (void)frame;
    return false;
}

bool eki_lookouts_are_over(void)
{
    return false;
}

ek_status eki_collection_check_task(const struct eki_engine *engine,
                                    const char *call, const char *name,
                                    ek_function function, size_t bytes)
{
    (void)call, (void)name;
    assert(function < engine->function_count && bytes == 0);
    return EK_OK;
}

void eki_array_free(void *memory, size_t bytes)
{
    assert(!memory && bytes == 0);
}
#endif
#include "collection/entry.c"
#include "collection/inlets.c"

enum {
    RUNNING,
    OTHER,
    SEEDS = 3 /* their numbers are 0 ...; the first is there before */
};

static ek_collection collections[RANKS];
static struct eki_inlet inlet;
static struct eki_slot room[SEEDS];
/* Who has claimed the process writes these. */
static int found[SEEDS];
static bool has_run;

static const struct eki_caller caller = {"call", NULL};

static void add_seed(int here)
{
    ek_status status =
        ek_add_task_to(&world_workers[here], &collections[OTHER], 0, NULL, 0);
    assert(status == EK_OK);
}

static void *add_from_second(void *unused)
{
    (void)unused;
    add_seed(1);
    return NULL;
}

/* What a call does that runs tasks, with a team of its own. */
static void *run(void *unused)
{
    pthread_t id;
    (void)unused;
    if (eki_collection_claim(&collections[RUNNING], caller) != EK_OK)
        return NULL;
    has_run = true;
    int failed = pthread_create(&id, NULL, add_from_second, NULL);
    assert(!failed);
    add_seed(0);
    pthread_join(id, NULL);
    eki_collection_release();
    return NULL;
}

static void *call_other(void *unused)
{
    struct eki_local *local = &collections[OTHER].engine->workers[0]->local;
    (void)unused;
    if (eki_collection_claim(&collections[OTHER], caller) != EK_OK)
        return NULL;
    ek_status status = eki_inlets_gather(&collections[OTHER]);
    assert(status == EK_OK);
    for (unsigned char *at = local->seeds; at != local->seed_end; at += SLOT) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        found[slot->id - eki_id(WORKERS - 1, 0)]++;
    }
    eki_local_clear(local);
    assert(found[0] == 1);
    for (int i = 1; i < SEEDS; i++)
        assert(found[i] == has_run);
    eki_collection_release();
    return NULL;
}

static void prepare(void)
{
    for (int i = 0; i < RANKS; i++) {
        collections[i].engine = &world_engines[i];
        collections[i].topology = &world_topology[i];
        world_engines[i].owner = &collections[i];
        world_engines[i].function_count = 1;
    }
    for (int i = 0; i < SEEDS; i++)
        found[i] = 0;
    has_run = false;
    world_engines[RUNNING].is_open = true;
    collections[OTHER].seeds.inlets = &inlet;
    pthread_mutex_init(&inlet.mutex, NULL);
    inlet.dealer.next_id = 0;
    inlet.dealer.last_id = SEEDS;
    inlet.seeds.slot_bytes = SLOT;
    inlet.seeds.seeds = (unsigned char *)room;
    inlet.seeds.seed_limit = (unsigned char *)(room + SEEDS);
    eki_local_clear(&inlet.seeds);
    add_seed(0);
}

static void check(void)
{
    call_other(NULL);
    pthread_mutex_destroy(&inlet.mutex);
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 2, {run, call_other}};
    return world_run_program(&program);
}
