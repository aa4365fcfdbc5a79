/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a worker sits from call to call, and the pull loop: the same steps as
 * in eki_team_run(), but the program's own threads run the tasks, so that a
 * task ends when the next is fetched.
 */
#include "team/poll.h"

#include <math.h>

void eki_team_arrive(struct eki_team *team, int here)
{
    const struct eki_engine *engine = team->setup.engine;
    const struct eki_options *options = team->setup.options;
    struct ek_worker *worker = engine->workers[here];
    struct eki_seat *seat = &team->seats[here];
    if (seat->taken == engine->phase)
        return;
    const void *thread = eki_thread_identity();
    seat->taken = engine->phase;
    seat->has_waited &= seat->thread == thread;
    seat->looked_ns = 0;
    seat->thread = thread;
    seat->is_open = seat->is_running = false;
    seat->function = -1;
    eki_wait_reset(&seat->waiter);
    if (options->hooks.begin && !team->goes_on)
        options->hooks.begin(worker->local.data, here, options->hooks.context);
    if (team->is_measured) {
        eki_team_waited(team, here);
        seat->cpu_ns = eki_clock_cpu_ns();
    }
    eki_worker_arrive(worker, eki_clock_ns());
}

const void *eki_team_thread(const struct eki_team *team, int here)
{
    const struct eki_seat *seat = &team->seats[here];
    return seat->taken == team->setup.engine->phase ? seat->thread : NULL;
}

void eki_team_end_task(struct eki_team *team, int here)
{
    struct ek_worker *worker = team->setup.engine->workers[here];
    struct eki_seat *seat = &team->seats[here];
    if (!seat->is_running)
        return;
    if (seat->is_index) {
        if (!eki_worker_index_is_null(worker, 0))
            eki_team_end_index(team, worker, 0, eki_clock_ns());
    } else if (worker->batch.marks != 0) {
        eki_worker_mark(worker, 0);
    }
    seat->is_running = false;
}

/* Tell TASK whether its number ascends, and keep the number for the next. */
static inline void note_number(struct eki_seat *seat, ek_function function,
                               int64_t number, ek_task *task)
{
    seat->number_before = seat->function == function ? seat->number : INT64_MIN;
    task->starts_run = seat->function != function || number <= seat->number;
    task->function = seat->function = function;
    seat->number = number;
}

/* Fill what a slot and an index of a range have alike. */
static inline void hand_out_any(struct ek_worker *worker, struct eki_seat *seat,
                                uint64_t id, ek_task *task)
{
    seat->is_running = true;
    task->worker = worker;
    task->id = eki_key(worker->engine->key_base, id);
    task->deviation = 0;
    task->count = 1;
    task->worker_id = worker->id;
    task->home = -1;
    task->is_range = task->is_pinned = task->is_new = task->has_run = false;
}

static inline void hand_out(struct ek_worker *worker, struct eki_seat *seat,
                            struct eki_slot *slot, ek_task *task)
{
    hand_out_any(worker, seat, slot->id, task);
    seat->is_index = false;
    note_number(seat, slot->function, eki_slot_number(slot), task);
    task->payload = slot->payload;
    task->bytes = slot->bytes;
    task->duration_s =
        slot->bin == EKI_BIN_NEVER ? NAN : (double)eki_bin_ns(slot->bin) * 1e-9;
}

/* The next of the open batch or piece; false: step. */
static bool hand_out_next(struct ek_worker *worker, struct eki_seat *seat,
                          ek_task *task)
{
    if (!eki_worker_take_index(worker, &seat->index)) {
        struct eki_slot *slot =
            worker->piece.first < 0 ? eki_worker_take(worker) : NULL;
        if (slot)
            hand_out(worker, seat, slot, task);
        return slot != NULL;
    }
    hand_out_any(worker, seat, eki_worker_task_id(worker), task);
    seat->is_index = true;
    note_number(seat, worker->piece.function, seat->index, task);
    task->payload = &seat->index;
    task->bytes = sizeof seat->index;
    task->duration_s = NAN;
    return true;
}

bool eki_team_next(struct eki_team *team, int here, ek_task *task)
{
    struct ek_worker *worker = team->setup.engine->workers[here];
    struct eki_seat *seat = &team->seats[here];
    if (EKI_UNLIKELY(seat->taken != team->setup.engine->phase))
        eki_team_arrive(team, here);
    eki_team_end_task(team, here);
    /* Only what a step has opened may be taken: a batch that ended early leaves
     * a budget behind. */
    while (!seat->is_open || !hand_out_next(worker, seat, task)) {
        uint64_t now = eki_clock_ns();
        eki_team_after_step(team, here, &seat->waiter, now);
        enum eki_step step = eki_worker_step(worker, now);
        seat->is_open = step == EKI_STEP_RUN || step == EKI_STEP_RANGE;
        if (step == EKI_STEP_DONE) {
            eki_team_measure_end(team, here);
            return false;
        }
        if (step == EKI_STEP_WAIT)
            eki_team_rest(team, here, &seat->waiter, now);
        else
            eki_wait_reset(&seat->waiter);
        if (seat->is_open || step == EKI_STEP_PINNED)
            eki_team_begin_run(team, here);
        if (step == EKI_STEP_PINNED) {
            hand_out(worker, seat, eki_worker_current(worker), task);
            task->is_pinned = true;
            return true;
        }
    }
    return true;
}

int64_t eki_team_number_before(const struct eki_team *team, int here)
{
    return team->seats[here].number_before;
}
