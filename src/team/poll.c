/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
/*
 * Who steps the server of a rank: the workers between tasks, time-gated and
 * under a try-lock, or a thread of its own.
 */
#include "team/poll.h"

#include <signal.h>

/* A busy worker polls at most this often ... */
#define PERIOD_LEAST_NS 20000
/* ... and seldom enough that empty polls cost about a percent, but often enough
 * for who waits for an answer: a poll that takes so long was held up. */
#define PERIOD_POLLS 75
#define PERIOD_MOST_NS 1000000

enum eki_served eki_team_step_server(struct eki_team *team, uint64_t now)
{
    struct eki_engine *engine = team->setup.engine;
    if (!eki_team_lock_server(team))
        return EKI_SERVED_NOTHING;
    uint64_t moved = engine->post.moved, streamed = engine->exchange.streamed;
    bool is_done = eki_server_step(engine, now);
    bool has_moved = engine->post.moved != moved;
    bool has_streamed = engine->exchange.streamed != streamed;
    /* relaxed, all: hints for whoever polls next. */
    uint64_t period_ns =
        atomic_load_explicit(&team->period_ns, memory_order_relaxed);
    atomic_store_explicit(
        &team->period_ns,
        eki_period_next(&team->period, period_ns, has_moved || has_streamed),
        memory_order_relaxed);
    atomic_store_explicit(&team->served, now, memory_order_relaxed);
    eki_team_unlock_server(team);
    if (is_done)
        return EKI_SERVED_DONE;
    if (has_streamed)
        return EKI_SERVED_PART;
    return has_moved ? EKI_SERVED_MOVED : EKI_SERVED_NOTHING;
}

/* A long tile keeps a task from its work for so long at most, and when nothing
 * of it has come or gone for so long the other side is at work itself. */
#define LONG_MOST_NS 1000000
#define LONG_QUIET_NS 5000

/* Step the server, and go on while a long tile moves: the task that lets it
 * through may not come again soon. */
static enum eki_served serve_long(struct eki_team *team, uint64_t now)
{
    enum eki_served served = eki_team_step_server(team, now);
    if (EKI_LIKELY(served != EKI_SERVED_PART))
        return served;
    uint64_t first = now, last = now;
    while (now - last < LONG_QUIET_NS && now - first < LONG_MOST_NS) {
        bool is_part = served == EKI_SERVED_PART;
        now = eki_clock_ns();
        if (is_part)
            last = now;
        served = eki_team_step_server(team, now);
    }
    return EKI_SERVED_MOVED;
}

bool eki_team_has_messages(const struct eki_team *team)
{
    /* relaxed: a hint; seen sooner or later. */
    return atomic_load_explicit(&team->setup.engine->messages,
                                memory_order_relaxed);
}

/* Whether the thread of worker HERE may step the server.  If the server has a
 * thread of its own, workers step it only while cores are short and that thread
 * sleeps. */
static bool may_poll(const struct eki_team *team, int here)
{
    return team->is_served ? team->is_crowded && team->setup.thread_level >= 2
                           : team->any_polls || here == 0;
}

/* Whether PERIOD_NS have passed since the server was stepped, at NOW or before
 * or, by another thread, just after. */
static bool is_over(const struct eki_team *team, uint64_t period_ns,
                    uint64_t now)
{
    /* relaxed: a hint. */
    return now >= period_ns +
                      atomic_load_explicit(&team->served, memory_order_relaxed);
}

enum eki_served eki_team_poll_if_due(struct eki_team *team, int here,
                                     uint64_t now, bool is_asked)
{
    struct eki_batch *batch = &team->setup.engine->workers[here]->batch;
    /* relaxed: a hint. */
    uint64_t period_ns =
        is_asked ? team->period.least_ns
                 : atomic_load_explicit(&team->period_ns, memory_order_relaxed);
    if (!may_poll(team, here) || !eki_team_has_messages(team) ||
        (!batch->wants_server && !is_over(team, period_ns, now)))
        return EKI_SERVED_NOT;
    batch->wants_server = false;
    return serve_long(team, now);
}

/* Who has a core of its own and has waited for so long does not sleep at once
 * for an answer, nor long, nor long in short iterations, nor at all in a plain
 * scheme. */
static uint64_t sleep_limit(const struct eki_team *team, int here,
                            uint64_t waited)
{
    const struct eki_engine *engine = team->setup.engine;
    if (team->is_crowded)
        return EKI_SLEEP_MOST_NS;
    if (eki_engine_has_pause(engine) ||
        !eki_worker_awaits(engine->workers[here]))
        return eki_engine_pause_ns(engine);
    return waited < EKI_LINGER_NS ? 0 : EKI_SLEEP_FIRST_NS;
}

void eki_team_rest(struct eki_team *team, int here, struct eki_waiter *waiter,
                   uint64_t now)
{
    if (eki_team_has_messages(team) && may_poll(team, here) &&
        eki_has_moved(eki_team_step_server(team, now)))
        eki_wait_reset(waiter);
    else
        eki_wait(waiter, team->is_crowded,
                 sleep_limit(team, here,
                             waiter->since == 0 ? 0 : now - waiter->since),
                 now);
}

void eki_team_linger(struct eki_team *team, const struct ek_worker *worker,
                     struct eki_waiter *waiter)
{
    uint64_t now = eki_clock_ns();
    /* Beside a server thread, too, which may sleep. */
    bool may_step =
        team->setup.thread_level >= 2 || may_poll(team, worker->here);
    if (waiter->since == 0)
        waiter->since = now;
    if (may_step && eki_has_moved(eki_team_step_server(team, now)))
        eki_wait_reset(waiter);
    else if (now - waiter->since > EKI_LINGER_TILES_NS)
        eki_wait(waiter, team->is_crowded, EKI_SLEEP_FIRST_NS, now);
    else if (team->is_crowded || now - waiter->since > EKI_SPIN_NS)
        eki_yield();
    else
        eki_pause();
}

uint64_t eki_team_time_poll(struct eki_fabric *fabric)
{
    /* An MPI that gives its core away in each poll makes 64 of them take half a
     * second where others want that core: after 10 ms eight are enough. */
    enum {
        POLLS = 64,
        POLLS_LEAST = 8,
        LONG_NS = 10000000
    };
    uint64_t least = UINT64_MAX, first = eki_clock_ns(), before = first;
    for (int polls = 0;
         polls < POLLS_LEAST || (polls < POLLS && before - first < LONG_NS);
         polls++) {
        struct eki_message *message = fabric->ops->poll(fabric);
        if (message) /* for a line that is closed */
            fabric->ops->release(fabric, message);
        uint64_t now = eki_clock_ns();
        uint64_t took = eki_ns_since(before, now);
        least = took < least ? took : least;
        before = now;
    }
    return least + 1;
}

uint64_t eki_team_auto_period(uint64_t poll_ns)
{
    if (poll_ns < PERIOD_LEAST_NS / PERIOD_POLLS)
        return PERIOD_LEAST_NS;
    return poll_ns < PERIOD_MOST_NS / PERIOD_POLLS ? PERIOD_POLLS * poll_ns
                                                   : PERIOD_MOST_NS;
}

void eki_team_set_poll_period(struct eki_team *team)
{
    struct eki_fabric *fabric = team->setup.engine->exchange.fabric;
    struct eki_wire *wire = team->setup.engine->line.wire;
    uint64_t period_ns = (uint64_t)team->setup.options->poll_period_us * 1000;
    if (fabric && wire->poll_ns == 0)
        wire->poll_ns = eki_team_time_poll(fabric);
    uint64_t poll_ns = fabric ? wire->poll_ns : 0;
    team->period = period_ns != 0
                       ? (struct eki_period){period_ns, period_ns}
                       : eki_period_of(poll_ns, eki_team_auto_period(poll_ns));
}

bool eki_team_start_thread(pthread_t *thread, void *run(void *), void *context)
{
    sigset_t every, old;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old);
    bool is_made = pthread_create(thread, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return is_made;
}
