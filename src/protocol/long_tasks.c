/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States of a long task; all are forgotten on entering.  At first who enters
 * changes them, then the server.
 *
 *     -        -> HERE      a worker has it as a seed
 *     -        -> AWAITED   an OFFER fits a worker: TAKE will leave
 *     HERE     -> SHED      it does not fit its worker (any more)
 *     SHED     -> HERE      it fits another, or the same by now
 *     SHED     -> OFFERED   it fits none: OFFER will leave, if that can be
 *     OFFERED  -> PROMISED  TAKE has come in time: HAND will leave
 *     PROMISED -> -         HAND has left
 *     AWAITED  -> HERE      HAND has come in time
 */
#include "protocol/long_tasks.h"

enum {
    /* A worker looks at so many of its seeds, from the top.  Where the longest
     * come first, all long ones are among them that make up five means. */
    LOOKED_AT = 256
};

bool eki_long_reserve(struct eki_long_tasks *tasks)
{
    return eki_grow(&tasks->items, tasks->count, &tasks->room, 8,
                    sizeof *tasks->items);
}

/* Note a task, for which there is room, behind those that are as long. */
static void note_task(struct eki_long_tasks *tasks, struct eki_hand task)
{
    int at = tasks->count++;
    for (; at > 0 && tasks->items[at - 1].ns < task.ns; at--)
        tasks->items[at] = tasks->items[at - 1];
    tasks->items[at] = task;
}

struct eki_hand *eki_long_find(struct eki_long_tasks *tasks, uint64_t id,
                               enum eki_hand_state state)
{
    for (int i = 0; i < tasks->count; i++) {
        if (tasks->items[i].id == id && tasks->items[i].state == state)
            return &tasks->items[i];
    }
    return NULL;
}

struct eki_slot *eki_long_slot(const struct eki_long_tasks *tasks,
                               const struct eki_hand *task)
{
    struct eki_local *local = &tasks->engine->workers[task->here]->local;
    unsigned char *at = local->seed_top;
    struct eki_slot *slot;
    do {
        at -= local->slot_bytes;
        slot = (struct eki_slot *)at;
        EKI_ASSERT(at >= local->seed_base);
    } while (slot->id != task->id);
    return slot;
}

/* Put a task among a worker's seeds, below longer ones; false: no memory. */
static bool insert(struct eki_local *local, const struct eki_slot *slot)
{
    uint32_t bytes = local->slot_bytes;
    unsigned char *at = (unsigned char *)eki_local_add_seed(local);
    if (!at)
        return false;
    for (; at != local->seed_base; at -= bytes) {
        const struct eki_slot *below = (const struct eki_slot *)(at - bytes);
        if (eki_bin_ns(below->bin) <= eki_bin_ns(slot->bin))
            break;
        memcpy(at, below, bytes);
    }
    memcpy(at, slot, bytes);
    return true;
}

static void take_out(struct eki_local *local, struct eki_slot *slot)
{
    unsigned char *at = (unsigned char *)slot;
    local->seed_top -= local->slot_bytes;
    local->seed_end = local->seed_top;
    memmove(at, at + local->slot_bytes, (size_t)(local->seed_top - at));
}

/* The worker of the rank that has least of long tasks. */
static int least_of_long(const struct eki_long_tasks *tasks)
{
    int workers = tasks->engine->topology->workers_here, found = 0;
    for (int here = 1; here < workers; here++) {
        if (tasks->load_ns[here] < tasks->load_ns[found])
            found = here;
    }
    return found;
}

/* Whether a long task of NS fits a worker; the first one always does. */
static bool fits_worker(const struct eki_long_tasks *tasks, int here,
                        uint64_t ns)
{
    uint64_t load = tasks->load_ns[here];
    return load == 0 || load + ns <= tasks->most_ns;
}

/* Whether a long task of NS cannot displace TASK. */
static bool cannot_be_displaced(const struct eki_hand *task, uint64_t ns)
{
    return task->state == EKI_HAND_AWAITED ||
           (task->state == EKI_HAND_HERE && task->ns >= ns);
}

/* The worker that has least, of those that have room for NS if it displaces
 * shorter tasks; -1: none. */
static int least_above(struct eki_long_tasks *tasks, uint64_t ns)
{
    int workers = tasks->engine->topology->workers_here, found = -1;
    for (int here = 0; here < workers; here++)
        tasks->above_ns[here] = tasks->pinned_ns;
    for (int i = 0; i < tasks->count; i++) {
        if (cannot_be_displaced(&tasks->items[i], ns))
            tasks->above_ns[tasks->items[i].here] += tasks->items[i].ns;
    }
    for (int here = 0; here < workers; here++) {
        if (tasks->above_ns[here] + ns <= tasks->most_ns &&
            (found < 0 || tasks->load_ns[here] < tasks->load_ns[found]))
            found = here;
    }
    return found;
}

int eki_long_worker_for(struct eki_long_tasks *tasks, uint64_t ns)
{
    int here = least_of_long(tasks);
    return fits_worker(tasks, here, ns) ? here : least_above(tasks, ns);
}

/* Of the tasks that are shorter than NS a worker keeps what fits, the longest
 * first. */
static void displace_shorter(struct eki_long_tasks *tasks, int here,
                             uint64_t ns)
{
    uint64_t load = tasks->pinned_ns;
    if (tasks->load_ns[here] <= tasks->most_ns)
        return;
    for (int i = 0; i < tasks->count; i++) {
        if (tasks->items[i].here == here &&
            cannot_be_displaced(&tasks->items[i], ns))
            load += tasks->items[i].ns;
    }
    for (int i = 0; i < tasks->count; i++) {
        struct eki_hand *task = &tasks->items[i];
        if (task->here != here || task->state != EKI_HAND_HERE ||
            task->ns >= ns)
            continue;
        if (load + task->ns <= tasks->most_ns)
            load += task->ns;
        else
            task->state = EKI_HAND_SHED;
    }
    tasks->load_ns[here] = load;
}

bool eki_long_move(struct eki_long_tasks *tasks, struct eki_hand *task, int to)
{
    struct ek_worker **workers = tasks->engine->workers;
    struct eki_slot *slot = eki_long_slot(tasks, task);
    if (to != task->here) {
        if (!insert(&workers[to]->local, slot))
            return false;
        take_out(&workers[task->here]->local, slot);
    }
    task->here = to;
    task->state = EKI_HAND_HERE;
    tasks->load_ns[to] += task->ns;
    displace_shorter(tasks, to, task->ns);
    return true;
}

bool eki_long_look(struct eki_long_tasks *tasks, int here)
{
    const struct eki_local *local = &tasks->engine->workers[here]->local;
    const unsigned char *at = local->seed_top;
    for (int looked = 0; looked < LOOKED_AT && at != local->seed_base;
         looked++) {
        at -= local->slot_bytes;
        const struct eki_slot *slot = (const struct eki_slot *)at;
        uint64_t ns = eki_bin_ns(slot->bin);
        /* What a task has set need not be time. */
        if (ns <= tasks->minor_ns || slot->flags & EKI_SLOT_SET)
            continue;
        if (!eki_long_reserve(tasks))
            return false;
        note_task(tasks, (struct eki_hand){.ns = ns,
                                           .id = slot->id,
                                           .here = here,
                                           .state = EKI_HAND_HERE});
    }
    return true;
}

void eki_long_shed(struct eki_long_tasks *tasks)
{
    for (int i = 0; i < tasks->count; i++) {
        struct eki_hand *task = &tasks->items[i];
        if (fits_worker(tasks, task->here, task->ns))
            tasks->load_ns[task->here] += task->ns;
        else
            task->state = EKI_HAND_SHED;
    }
}

void eki_long_await(struct eki_long_tasks *tasks, uint64_t id, uint64_t ns,
                    int here)
{
    note_task(tasks,
              (struct eki_hand){
                  .ns = ns, .id = id, .here = here, .state = EKI_HAND_AWAITED});
    tasks->load_ns[here] += ns;
    displace_shorter(tasks, here, ns);
}

bool eki_long_receive(struct eki_long_tasks *tasks, struct eki_hand *task,
                      const struct eki_slot *slot)
{
    if (!insert(&tasks->engine->workers[task->here]->local, slot))
        return false;
    task->state = EKI_HAND_HERE;
    return true;
}

void eki_long_hand_over(struct eki_long_tasks *tasks,
                        const struct eki_hand *task)
{
    struct eki_local *local = &tasks->engine->workers[task->here]->local;
    int at = (int)(task - tasks->items);
    if (!EKI_PLANTED(HANDED_STAYS))
        take_out(local, eki_long_slot(tasks, task));
    tasks->count--;
    memmove(tasks->items + at, tasks->items + at + 1,
            (size_t)(tasks->count - at) * sizeof *tasks->items);
}
