/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger: every task with what it has been through.  A key is a task's
 * place in the ledger; indices of ranges are keys.
 */
#include "explore.h"

#include <stdarg.h>
#include <stdlib.h>

void ledger_open(struct ledger *ledger)
{
    /* A schedule that fails leaves some. */
    for (int64_t key = 0; key < ledger->count; key++)
        free(ledger->tasks[key].data.object);
    ledger->count = 0;
    ledger->failure[0] = '\0';
    memset(ledger->tally, 0, sizeof ledger->tally);
    for (int i = 0; i < EXPLORE_ITERATIONS; i++)
        ledger->tally[i].failing_worker = -1;
}

void ledger_fail(struct ledger *ledger, const char *format, ...)
{
    va_list arguments;
    if (ledger->failure[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(ledger->failure, sizeof ledger->failure, format, arguments);
    va_end(arguments);
}

int64_t ledger_add(struct ledger *ledger, int64_t n, const struct task *task)
{
    int64_t first = ledger->count;
    while (ledger->count + n > ledger->room) {
        ledger->room = ledger->room ? 2 * ledger->room : 256;
        ledger->tasks = realloc(ledger->tasks,
                                (size_t)ledger->room * sizeof *ledger->tasks);
    }
    for (int64_t i = 0; i < n; i++) {
        ledger->tasks[first + i] = *task;
        ledger->tasks[first + i].data =
            (struct task_data){.home = -1, .packed = -1};
        ledger->tasks[first + i].id = task->id + (uint64_t)i;
    }
    ledger->count += n;
    return first;
}

static unsigned char pattern(int64_t key, int i)
{
    return (unsigned char)(key * 31 + i * 7 + 3);
}

void ledger_fill(struct eki_slot *slot, int64_t key)
{
    memcpy(slot->payload, &key, sizeof key);
    for (int i = sizeof key; i < slot->bytes; i++)
        slot->payload[i] = pattern(key, i);
}

struct task *ledger_find(struct ledger *ledger, int64_t key)
{
    static struct task nobody;
    if (key >= 0 && key < ledger->count)
        return &ledger->tasks[key];
    ledger_fail(ledger, "a slot with key %lld, which nobody added",
                (long long)key);
    return &nobody;
}

int64_t ledger_key(const struct eki_slot *slot)
{
    int64_t key;
    memcpy(&key, slot->payload, sizeof key);
    return key;
}

void ledger_compare(struct ledger *ledger, const struct eki_slot *slot)
{
    int64_t key = ledger_key(slot);
    const struct task *task = ledger_find(ledger, key);
    if (slot->function != task->is_index || slot->bytes != task->bytes ||
        slot->id != task->id)
        ledger_fail(ledger,
                    "task %lld: function %d, %d bytes, id %llx; expected %d, "
                    "%d, %llx",
                    (long long)key, slot->function, slot->bytes,
                    (unsigned long long)slot->id, task->is_index, task->bytes,
                    (unsigned long long)task->id);
    for (int i = sizeof key; i < slot->bytes; i++) {
        if (slot->payload[i] != pattern(key, i))
            ledger_fail(ledger, "task %lld: payload is spoilt", (long long)key);
    }
}

/* Call VISIT for each task in a slot. */
static void each_task(struct ledger *ledger, const struct eki_slot *slot,
                      void (*visit)(struct ledger *ledger, int64_t key,
                                    int iteration),
                      int iteration)
{
    struct eki_range range;
    if (!(slot->flags & EKI_SLOT_RANGE)) {
        ledger_compare(ledger, slot);
        visit(ledger, ledger_key(slot), iteration);
        return;
    }
    memcpy(&range, slot->payload, sizeof range);
    if (range.first >= range.last ||
        ledger_find(ledger, range.first)->id != slot->id)
        ledger_fail(ledger, "range %lld ... %lld has id %llx",
                    (long long)range.first, (long long)range.last,
                    (unsigned long long)slot->id);
    for (int64_t i = range.first; i < range.last; i++)
        visit(ledger, i, iteration);
}

void ledger_settle(struct ledger *ledger, struct task *task)
{
    ledger->tally[task->iteration].owed -= task->data.is_owed;
    task->data.is_owed = task->data.is_packed = false;
}

static void enter_task(struct ledger *ledger, int64_t key, int iteration)
{
    struct task *task = ledger_find(ledger, key);
    /* A result that was lost never comes. */
    ledger_settle(ledger, task);
    task->data.has_failed = false;
    if (task->state != TASK_NEW && task->state != TASK_HELD)
        ledger_fail(ledger,
                    "task %lld enters iteration %d in state %d of iteration %d",
                    (long long)key, iteration, task->state, task->iteration);
    task->state = TASK_PENDING;
    task->iteration = iteration;
    ledger->tally[iteration].pending++;
}

void ledger_enter(struct ledger *ledger, const struct eki_slot *slot,
                  int iteration)
{
    each_task(ledger, slot, enter_task, iteration);
}

void ledger_sign(struct ledger *ledger, const struct eki_slot *slot,
                 uint64_t signature)
{
    int64_t first = ledger_key(slot), n = eki_slot_tasks(slot);
    for (int64_t i = 0; i < n; i++)
        ledger_find(ledger, first + i)->signature = signature;
}

void ledger_spawned(struct ledger *ledger, int64_t key, int iteration)
{
    enter_task(ledger, key, iteration);
}

void ledger_begin(struct ledger *ledger, int64_t key, uint64_t id,
                  int iteration)
{
    struct task *task = ledger_find(ledger, key);
    if (task->state != TASK_PENDING || task->iteration != iteration)
        ledger_fail(ledger,
                    "task %lld starts in iteration %d, but is in state %d of "
                    "iteration %d",
                    (long long)key, iteration, task->state, task->iteration);
    if (task->id != id)
        ledger_fail(ledger, "task %lld runs with id %llx, expected %llx",
                    (long long)key, (unsigned long long)id,
                    (unsigned long long)task->id);
    task->state = TASK_RUNS;
}

void ledger_end(struct ledger *ledger, int64_t key, bool discarded)
{
    struct task *task = ledger_find(ledger, key);
    task->state = TASK_RAN;
    task->discarded = discarded;
    ledger->tally[task->iteration].pending--;
}

void ledger_done(struct ledger *ledger, int iteration, int ranks)
{
    const struct tally *tally = &ledger->tally[iteration];
    if (tally->entered != ranks)
        ledger_fail(ledger, "iteration %d ended; %d of %d ranks had entered",
                    iteration, tally->entered, ranks);
    if (tally->pending != tally->cancelled)
        ledger_fail(ledger,
                    "iteration %d ended with %lld tasks not executed and %lld "
                    "cancelled",
                    iteration, (long long)tally->pending,
                    (long long)tally->cancelled);
    if (tally->cancelled != 0 && !tally->may_cancel)
        ledger_fail(ledger, "iteration %d cancelled %lld tasks without reason",
                    iteration, (long long)tally->cancelled);
}

static void held_task(struct ledger *ledger, int64_t key, int iteration)
{
    struct task *task = ledger_find(ledger, key);
    bool goes_on = ledger->tally[iteration].goes_on;
    bool is_mine = task->iteration == iteration &&
                   (task->state == TASK_RAN || task->state == TASK_PENDING) &&
                   task->restores && !task->discarded;
    if (goes_on)
        is_mine = task->iteration == iteration && task->state == TASK_PENDING;
    else if (task->state == TASK_DONE)
        is_mine = !task->discarded;
    if (!is_mine && task->state != TASK_NEW)
        ledger_fail(ledger,
                    "task %lld is held after iteration %d: state %d of "
                    "iteration %d, %s%s",
                    (long long)key, iteration, task->state, task->iteration,
                    task->restores ? "restores" : "not kept",
                    task->discarded ? ", discarded" : "");
    task->state = TASK_HELD;
}

void ledger_held(struct ledger *ledger, const struct eki_slot *slot,
                 int iteration, int worker, bool is_original)
{
    each_task(ledger, slot, held_task, iteration);
    if (slot->flags == 0 && ledger->tally[iteration].goes_on)
        return;
    if (!(slot->flags & EKI_SLOT_SEED) ||
        (slot->flags & ~(EKI_SLOT_SEED | EKI_SLOT_RANGE | EKI_SLOT_CANCELLED |
                         EKI_SLOT_SET | EKI_SLOT_ADOPTED)))
        ledger_fail(ledger, "a restored slot has flags %#x", slot->flags);
    if (is_original && eki_id_home(slot->id) != worker &&
        !ledger_find(ledger, ledger_key(slot))->hinted)
        ledger_fail(ledger, "task %lld of worker %d is at worker %d",
                    (long long)ledger_key(slot), eki_id_home(slot->id), worker);
}

void ledger_keep(struct ledger *ledger, const struct eki_slot *slot,
                 int iteration)
{
    int64_t key = ledger_key(slot);
    struct task *task = ledger_find(ledger, key);
    bool ran = task->state == TASK_RAN && task->iteration == iteration;
    ledger_compare(ledger, slot);
    if (!ledger->tally[iteration].goes_on ||
        (!ran && task->state != TASK_DONE) || !task->restores ||
        task->discarded)
        ledger_fail(ledger,
                    "task %lld counts as done after iteration %d: state %d of "
                    "iteration %d",
                    (long long)key, iteration, task->state, task->iteration);
    task->state = TASK_DONE;
}

void ledger_restored(struct ledger *ledger, int iteration)
{
    int64_t discarded = 0;
    for (int64_t key = 0; key < ledger->count; key++) {
        struct task *task = &ledger->tasks[key];
        bool goes_on = ledger->tally[iteration].goes_on;
        if (task->state == TASK_DONE && !goes_on)
            ledger_fail(ledger, "task %lld is lost after iteration %d (done)",
                        (long long)key, iteration);
        if (task->iteration != iteration ||
            (task->state != TASK_RAN && task->state != TASK_PENDING))
            continue;
        if ((task->restores || (goes_on && task->state == TASK_PENDING)) &&
            !task->discarded)
            ledger_fail(ledger, "task %lld is lost after iteration %d (%s)",
                        (long long)key, iteration,
                        task->state == TASK_RAN ? "ran" : "cancelled");
        discarded += task->restores;
        task->state = TASK_GONE;
    }
    if (discarded != ledger->tally[iteration].discarded &&
        !ledger->tally[iteration].lost_count)
        ledger_fail(ledger, "%lld tasks were discarded, the restores say %lld",
                    (long long)discarded,
                    (long long)ledger->tally[iteration].discarded);
}
