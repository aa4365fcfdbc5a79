/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker shows to others: its sums, and the tasks that they may steal;
 * and what a server shows.
 */
#include "engine/away.h"
#include "engine/internal.h"
#include "engine/spawn.h"

enum {
    /* A short task publishes after so many spawns, so that most of them are no
     * more than a push; a long one after each. */
    SPAWN_SLOTS = 32,
    /* A spawn does not replace a publication in which thieves still find so
     * many tasks: each of some five of them finds a block. */
    VISIBLE_ENOUGH = 16,
    /* ... but if it hides a quarter as many, which are long. */
    HIDDEN_PART = 4
};

void eki_worker_store(struct ek_worker *worker)
{
    struct eki_worker_words *words = worker->words;
    /* Only where they change: others look there. */
    if (eki_is_set(&words->executed, worker->executed) &&
        eki_is_set(&words->created, eki_worker_created(worker)))
        return;
    /* relaxed: ordered by the release below, and by that of a publication. */
    atomic_store_explicit(&words->created, eki_worker_created(worker),
                          memory_order_relaxed);
    /* release: pairs with the acquire of whoever sums: the work is done and
     * what it created is counted. */
    atomic_store_explicit(&words->executed, worker->executed,
                          memory_order_release);
}

/* Whether no claimant of the last phase is about; asked once in a phase. */
static bool may_publish(const struct eki_engine *engine,
                        struct eki_share *share)
{
    if (share->may_publish == engine->phase || EKI_PLANTED(EARLY_PUBLISH))
        return true;
    if (!eki_node_all_left(engine))
        return false;
    share->may_publish = engine->phase;
    return true;
}

/* How many of the N oldest tasks may be published: some are held, or below a
 * task that runs in its place. */
EKI_COLD static int64_t clip(struct eki_local *local, int64_t n)
{
    if (local->is_held)
        eki_local_lift_held(local);
    eki_local_pass_hole(local);
    int64_t most = eki_local_count_free(local);
    return n < most ? n : most;
}

/* Fill a free buffer with the N oldest tasks, as far as there is room; how many
 * are to be published. */
static int64_t fill_buffer(struct eki_local *local, struct eki_share *share,
                           int64_t n, unsigned char **slots)
{
    uint32_t first = 0;
    int64_t room = eki_deque_room(&share->deque, share->shared, &first);
    *slots = share->slots + (size_t)first * local->slot_bytes;
    if (n > room)
        n = room;
    if (EKI_UNLIKELY(local->is_held || local->running))
        n = clip(local, n);
    if (n > 0)
        eki_local_publish(local, *slots, n);
    return n;
}

/* Tasks that wait behind the one which runs, or is about to. */
static int64_t count_waiting(const struct eki_local *local, bool is_running)
{
    int64_t waiting = eki_local_count(local) - !is_running;
    if (EKI_LIKELY(!local->is_held))
        return waiting;
    int64_t most = eki_local_count_free(local);
    return waiting < most ? waiting : most;
}

/* Whether there was room. */
static bool publish(struct ek_worker *worker, int64_t n)
{
    unsigned char *slots;
    n = fill_buffer(&worker->local, &worker->share, n, &slots);
    if (n == 0)
        return false;
    if (EKI_UNLIKELY(worker->engine->kept))
        eki_away_weigh(worker, slots, n);
    /* relaxed: the release of the publication orders it: what a thief takes
     * is counted. */
    atomic_store_explicit(&worker->words->created, eki_worker_created(worker),
                          memory_order_relaxed);
    eki_deque_publish(&worker->share.deque, worker->share.shared, (uint32_t)n);
    return true;
}

/* How many tasks may stay hidden, by what tasks took lately and by what the
 * next has taken before. */
static int64_t may_hide(struct ek_worker *worker)
{
    const struct eki_slot *next = eki_worker_top(worker);
    uint64_t ns = worker->batch.task_ns;
    if (next->bin < EKI_BIN_COUNT && eki_bin_ns(next->bin) > ns)
        ns = eki_bin_ns(next->bin);
    return EKI_HIDDEN_NS / (int64_t)(ns > 0 ? ns : 1);
}

/* By the publishing rule, or half of the WAITING tasks, or more where that
 * hides too much. */
static int64_t count_to_show(struct ek_worker *worker, int64_t waiting)
{
    if (worker->engine->publishing)
        return worker->engine->publishing->release(waiting);
    int64_t half = (waiting + 1) / 2, more = waiting - may_hide(worker);
    return more > half ? more : half;
}

bool eki_share_reclaim(struct eki_local *local, struct eki_share *share)
{
    if (!eki_deque_other_room(&share->deque, share->shared))
        return false;
    eki_local_take_back(local, eki_deque_acquire(&share->deque, share->shared));
    return true;
}

void eki_share_settle(struct eki_local *local, struct eki_share *share)
{
    uint32_t first;
    if (share->deque.open == 0)
        return;
    eki_local_take_back(local, eki_deque_acquire(&share->deque, share->shared));
    eki_deque_room(&share->deque, share->shared, &first);
}

/* Take back what is left of a publication that shows less than WAITING tasks,
 * if they may not hide, to publish more; false: it stays. */
static bool replace(struct ek_worker *worker, int64_t waiting)
{
    int64_t visible = eki_visible(worker->engine, worker->local_number);
    int64_t enough = may_hide(worker) < VISIBLE_ENOUGH
                         ? worker->engine->capacity / 2
                         : VISIBLE_ENOUGH;
    return visible < waiting && visible < enough &&
           eki_share_reclaim(&worker->local, &worker->share);
}

/* What was shown is claimed; planted: it is released once more. */
static void note_claimed(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    if (EKI_PLANTED(RELEASED_TWICE) && worker->engine->publishing)
        eki_local_take_back(local,
                            local->published_seeds + local->published_stack);
    eki_local_published(local);
}

bool eki_worker_publish(struct ek_worker *worker, bool is_running)
{
    struct eki_local *local = &worker->local;
    if (!worker->engine->has_thieves || eki_local_is_empty(local))
        return false;
    /* All but one, which runs or is about to. */
    int64_t waiting = count_waiting(local, is_running);
    if (eki_deque_exhausted(&worker->share.deque, worker->share.shared))
        note_claimed(worker);
    else if (worker->engine->publishing ||
             (uint64_t)waiting * worker->batch.task_ns <= EKI_HIDDEN_NS ||
             !replace(worker, waiting))
        return false;
    int64_t n = count_to_show(worker, count_waiting(local, is_running));
    return n > 0 && may_publish(worker->engine, &worker->share) &&
           publish(worker, n);
}

/* How many of SEEDS a worker shows: they count as added one after the other,
 * and it releases some only while it shows none. */
static int64_t first_release(const struct eki_publishing *publishing,
                             int64_t seeds)
{
    int64_t shown = 0;
    for (int64_t added = 1; added <= seeds && shown == 0; added++)
        shown = publishing->release(added);
    return shown;
}

void eki_worker_publish_seeds(struct ek_worker *worker)
{
    const struct eki_publishing *publishing = worker->engine->publishing;
    int64_t seeds = eki_local_count(&worker->local);
    /* A worker finds one task when its thread comes; the only one is shown. */
    if (!publishing)
        eki_worker_publish(worker, seeds == 1);
    else if (worker->engine->has_thieves &&
             eki_deque_exhausted(&worker->share.deque, worker->share.shared) &&
             may_publish(worker->engine, &worker->share))
        publish(worker, first_release(publishing, seeds));
}

void eki_worker_acquire(struct ek_worker *worker)
{
    const struct eki_publishing *publishing = worker->engine->publishing;
    int64_t shown = eki_local_count(&worker->local);
    if (!publishing || shown == 0)
        return;
    int64_t rest = shown - publishing->acquire(shown);
    if (rest > 0)
        publish(worker, rest);
}

/* Whether a spawn leaves what is shown as it is, and hides all others behind
 * the task that runs.  Long ones, and those of unknown duration, are too many
 * to hide when they are a part of what is shown, which then is copied; so five
 * copies are made for each task, about, until the buffer is almost full. */
static bool is_enough(const struct ek_worker *worker)
{
    int64_t visible = eki_visible(worker->engine, worker->local_number);
    uint64_t ns = worker->batch.task_ns;
    if (visible < VISIBLE_ENOUGH)
        return false;
    if (visible >= worker->engine->capacity / HIDDEN_PART * (HIDDEN_PART - 1))
        return true;
    return (ns > 0 && ns * VISIBLE_ENOUGH <= EKI_HIDDEN_NS) ||
           eki_local_count(&worker->local) * HIDDEN_PART < visible;
}

/* Replace a publication that shows little by all that was spawned since; false:
 * nothing is published. */
static bool republish(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    struct eki_share *share = &worker->share;
    if (!may_publish(worker->engine, share))
        return false;
    if (eki_deque_exhausted(&share->deque, share->shared))
        eki_local_published(local);
    else if (is_enough(worker) || !eki_share_reclaim(local, share))
        return false;
    int64_t spawned = eki_local_stacked(local);
    return publish(worker, spawned > 0 ? spawned : eki_local_count(local));
}

/* Long tasks publish at every spawn, the first one, too, which lies where the
 * task did that is about to be taken; short ones now and then. */
void eki_worker_set_mark(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    if (!worker->engine->has_thieves)
        local->stack_mark = local->stack_limit;
    else if (worker->batch.size == 1)
        local->stack_mark = local->stack_bottom;
    else
        eki_local_set_mark(local, SPAWN_SLOTS - 1);
}

void eki_worker_publish_now(struct ek_worker *worker)
{
    eki_worker_set_mark(worker);
    if (!worker->engine->has_thieves || eki_local_is_empty(&worker->local))
        return;
    bool has_spawned = worker->local.stack_top != worker->local.stack_bottom;
    if (has_spawned && !worker->engine->publishing
            ? republish(worker)
            : eki_worker_publish(worker, true))
        eki_worker_has_shown(worker);
}

bool eki_worker_push_at_mark(struct ek_worker *worker, int function,
                             const void *payload, size_t bytes, int flags)
{
    if (!eki_local_reserve(&worker->local, 1))
        return false;
    eki_worker_push(worker, function, payload, bytes, flags);
    eki_worker_note_depth(worker);
    eki_worker_publish_now(worker);
    return true;
}

struct eki_slot *eki_worker_push_slot_at_mark(struct ek_worker *worker,
                                              int function, size_t bytes,
                                              int flags)
{
    if (!eki_local_reserve(&worker->local, 1))
        return NULL;
    eki_worker_publish_now(worker);
    /* Held tasks that were lifted may have taken the room. */
    if (!eki_local_reserve(&worker->local, 1))
        return NULL;
    return eki_worker_push_slot(worker, function, bytes, flags);
}

void eki_server_show(struct eki_engine *engine, bool again)
{
    struct eki_local *local = &engine->post.brought.local;
    struct eki_share *share = &engine->post.brought.share;
    if (!may_publish(engine, share))
        return;
    if (eki_deque_exhausted(&share->deque, share->shared))
        eki_local_published(local);
    else if (!again || !eki_share_reclaim(local, share))
        return;
    unsigned char *slots;
    int64_t n = fill_buffer(local, share, eki_local_count(local), &slots);
    if (n > 0)
        eki_deque_publish(&share->deque, share->shared, (uint32_t)n);
}
