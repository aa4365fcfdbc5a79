/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the team only: who steps the server. */
#ifndef EKI_TEAM_POLL_H
#define EKI_TEAM_POLL_H

#include "team/team.h"

/* Where a worker sits from call to call; written by its thread. */
struct eki_seat {
    _Alignas(EKI_LINE) uint64_t taken; /* phase in which a thread has come */
    const void *thread;                /* ... and which */
    /* Pull loop. */
    bool is_open;    /* a batch or piece is */
    bool is_running; /* a task is */
    bool is_index;   /* ... and is an index of a range */
    int64_t index;
    /* Numbers (eki_slot_number()) of the last task that was fetched, and of the
     * one before it; INT64_MIN: none of its function in a row. */
    int64_t number, number_before;
    ek_function function;
    struct eki_waiter waiter;
    /* Of its thread, kept from phase to phase. */
    uint64_t cpu_ns; /* processor time on arriving */
    /* ... what eki_team_waited() has read last: */
    bool has_waited;    /* it has, of this thread */
    bool is_told;       /* by the system: how long the thread had waited ... */
    uint64_t waited_ns; /* ... for cores; else how long it had not run */
    long switches;      /* how often it had left its core, */
    long sleeps;        /* ... and of these times to sleep */
    uint64_t looked_ns; /* clock when they were read; 0: not in this phase */
};

/* What came of a step of the server. */
enum eki_served {
    EKI_SERVED_NOT,     /* it was not due */
    EKI_SERVED_NOTHING, /* no message, or another thread steps it */
    EKI_SERVED_MOVED,   /* something arrived: more may follow soon */
    EKI_SERVED_PART,    /* ... or went, and more is right behind it */
    EKI_SERVED_DONE     /* it has nothing more to do in this phase */
};

static inline bool eki_has_moved(enum eki_served served)
{
    return served == EKI_SERVED_MOVED || served == EKI_SERVED_PART;
}

/* Keep others from stepping the server; false: somebody does. */
static inline bool eki_team_lock_server(struct eki_team *team)
{
    int expected = 0;
    /* acquire: pairs with the release below: one thread after the other. */
    return atomic_compare_exchange_strong_explicit(
        &team->server_lock, &expected, 1, memory_order_acquire,
        memory_order_relaxed);
}

static inline void eki_team_unlock_server(struct eki_team *team)
{
    /* release: pairs with the acquire above. */
    atomic_store_explicit(&team->server_lock, 0, memory_order_release);
}

/* Step the server unless another thread does. */
enum eki_served eki_team_step_server(struct eki_team *team, uint64_t now);
bool eki_team_has_messages(const struct eki_team *team);
/* Between tasks, or sooner where a task asks (IS_ASKED); EKI_SERVED_NOT, or it
 * took time. */
enum eki_served eki_team_poll_if_due(struct eki_team *team, int here,
                                     uint64_t now, bool is_asked);
/* Nothing to do for worker HERE: step the server, or wait a little. */
void eki_team_rest(struct eki_team *team, int here, struct eki_waiter *waiter,
                   uint64_t now);
/* Time of a poll that finds nothing: the fastest of some, because others were
 * held up.  Nobody sends before the first phase over a wire. */
uint64_t eki_team_time_poll(struct eki_fabric *fabric);
/* Between two polls that take so long. */
uint64_t eki_team_auto_period(uint64_t poll_ns);
/* No signal of the program is handled on the thread.  False: there is none. */
bool eki_team_start_thread(pthread_t *thread, void *run(void *), void *context);

/* A thread has come for worker HERE: its hook, then its time begins.  Once per
 * phase, whoever comes again. */
void eki_team_arrive(struct eki_team *team, int here);
/* The thread of worker HERE has come to the end of the phase: its processor
 * time since its arrival, where the team measures it. */
void eki_team_measure_end(struct eki_team *team, int here);
/* How long the thread of worker HERE, which asks, has waited for a core since
 * it last asked. */
EKI_COLD uint64_t eki_team_waited(struct eki_team *team, int here);

/* A task that took longer may have been held up: it had no core for a while,
 * which systems take away for a millisecond and more.  Asking takes 0.2 us, and
 * 3 us of a thread that was held up. */
#define EKI_HELD_LEAST_NS 100000

/* Tasks are about to run: their time begins, and the clock is read again if the
 * step took time that belongs to no task.  How long they are held up is told
 * from a reading that is as young as that, but of tasks so short that reading
 * would cost them a share. */
static inline void eki_team_begin_run(struct eki_team *team, int here)
{
    struct eki_batch *batch = &team->setup.engine->workers[here]->batch;
    struct eki_seat *seat = &team->seats[here];
    bool is_short = batch->task_ns > 0 && batch->task_ns < EKI_LONG_NS;
    if (batch->restamp) {
        batch->restamp = false;
        batch->stamp = eki_clock_ns();
    }
    if ((is_short && !team->is_measured) ||
        eki_ns_since(seat->looked_ns, batch->stamp) < EKI_HELD_LEAST_NS)
        return;
    seat->looked_ns = eki_clock_ns();
    eki_team_waited(team, here);
    batch->stamp = eki_clock_ns();
}

/* How long what runs was surely held up, of WAITED_NS between two readings: all
 * of it where the first began just before its stamp and the second ended just
 * after NOW, else what exceeds the time outside of that. */
static inline uint64_t eki_team_held(const struct eki_seat *seat,
                                     const struct eki_batch *batch,
                                     uint64_t now, uint64_t waited_ns)
{
    uint64_t outside = eki_ns_since(seat->looked_ns, batch->stamp) +
                       eki_ns_since(now, eki_clock_ns());
    return outside < EKI_HELD_LEAST_NS ? waited_ns
                                       : eki_ns_since(outside, waited_ns);
}

/* What ran has ended at NOW. */
static inline void eki_team_end_run(struct eki_team *team, int here,
                                    uint64_t now)
{
    struct eki_batch *batch = &team->setup.engine->workers[here]->batch;
    if (EKI_LIKELY(eki_ns_since(batch->stamp, now) < EKI_HELD_LEAST_NS))
        return;
    struct eki_seat *seat = &team->seats[here];
    uint64_t waited_ns = eki_team_waited(team, here);
    batch->held_ns += eki_team_held(seat, batch, now, waited_ns);
    seat->looked_ns = now;
    batch->restamp = true;
}

/* An index of WORKER ended at NOW that is not null.  TEAM: whose thread this
 * is; NULL: nobody's. */
static inline void eki_team_end_index(struct eki_team *team,
                                      struct ek_worker *worker, int code,
                                      uint64_t now)
{
    if (eki_worker_index_is_short(worker, code, now))
        return;
    if (team)
        eki_team_end_run(team, worker->here, now);
    eki_worker_index_end(worker, code, now);
}

/* A step of worker HERE is over: what ran has ended, and the server may be due.
 */
static inline void eki_team_after_step(struct eki_team *team, int here,
                                       struct eki_waiter *waiter, uint64_t now)
{
    struct eki_batch *batch = &team->setup.engine->workers[here]->batch;
    if (batch->count > 0)
        eki_team_end_run(team, here, now);
    enum eki_served served = eki_team_poll_if_due(team, here, now, false);
    if (EKI_LIKELY(served == EKI_SERVED_NOT))
        return;
    batch->restamp = true;
    if (eki_has_moved(served))
        eki_wait_reset(waiter);
}

/* Pull loop: the task that worker HERE fetched last, if any, has ended. */
void eki_team_end_task(struct eki_team *team, int here);

/* Say once that less threads came than were wanted, and why. */
void eki_team_tell_smaller(const struct eki_team *team, int came, int wanted);

/* A loop that runs tasks: the frame that exceptions must not leave. */
struct eki_loop {
    const struct ek_worker *worker;
    const struct eki_loop **place; /* of this thread's innermost one */
    const struct eki_loop *outer;  /* of this thread */
    bool has_ended;
};

void eki_loop_open(struct eki_loop *loop, struct ek_worker *worker);

static inline void eki_loop_close(struct eki_loop *loop)
{
    loop->has_ended = true;
    *loop->place = loop->outer;
}

_Noreturn void eki_loop_left(const struct eki_loop *loop);
/* Before the first loop of this process. */
void eki_loops_prepare(void);

static inline void eki_loop_check(const struct eki_loop *loop)
{
    if (!loop->has_ended)
        eki_loop_left(loop);
}

/* Of the variable of a loop: what unwinds its frame is told of. */
#if defined(__GNUC__)
#define EKI_LOOP __attribute__((cleanup(eki_loop_check)))
#else
#define EKI_LOOP
#endif

#endif
