/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "team/lookout.h"

#include "base/signals.h"
#include "engine/sight.h"
#include "team/poll.h"

#include <time.h>
#include <unistd.h>

/* The lookout of the process. */
static struct {
    pthread_mutex_t life;  /* one thread at a time opens or closes */
    pthread_mutex_t mutex; /* of what follows; held while it looks */
    pthread_cond_t wake;
    struct eki_lookout *first;
    uint64_t process; /* a number that no other process has */
    pthread_t thread;
    bool has_thread, is_ending;
    bool has_hook;        /* MPI_Finalize() is noticed */
    void (*end)(void);    /* is called then; or NULL */
    _Atomic bool is_over; /* ... and has begun; read without a mutex, too */
} all = {.life = PTHREAD_MUTEX_INITIALIZER, .mutex = PTHREAD_MUTEX_INITIALIZER};

/* The shortest period that a collection wants. */
static uint64_t look_period(void)
{
    uint64_t least = EKI_LOOK_PERIOD_NS;
    for (const struct eki_lookout *one = all.first; one; one = one->next) {
        uint64_t wanted = eki_lookout_period(one);
        least = wanted < least ? wanted : least;
    }
    return least;
}

/* Under the mutex, which is free meanwhile.  Who wants it to look sooner, or to
 * end, wakes it. */
static void sleep_for(uint64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    ns += (uint64_t)until.tv_nsec;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    if (!all.is_ending)
        pthread_cond_timedwait(&all.wake, &all.mutex, &until);
}

static void *keep_lookout(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&all.mutex);
    while (!all.is_ending) {
        /* Once MPI_Finalize() has begun there is nothing left to look at. */
        for (struct eki_lookout *one = all.first;
             one && !eki_lookouts_are_over(); one = one->next)
            eki_lookout_look(one);
        sleep_for(look_period());
    }
    pthread_mutex_unlock(&all.mutex);
    return NULL;
}

static bool start_lookout(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&all.wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    all.is_ending = false;
    if (eki_team_start_thread(&all.thread, keep_lookout, NULL))
        return true;
    pthread_cond_destroy(&all.wake);
    return false;
}

static void end_thread(void)
{
    pthread_mutex_lock(&all.mutex);
    all.is_ending = true;
    pthread_cond_signal(&all.wake);
    pthread_mutex_unlock(&all.mutex);
    pthread_join(all.thread, NULL);
    pthread_cond_destroy(&all.wake);
}

bool eki_lookouts_are_over(void)
{
    /* relaxed: of interest to who calls MPI_Finalize() in order. */
    return atomic_load_explicit(&all.is_over, memory_order_relaxed);
}

/* Under the mutex of lives. */
static void set_over(void)
{
    /* relaxed: the mutex orders it. */
    atomic_store_explicit(&all.is_over, true, memory_order_relaxed);
}

/* A thread where somebody wants one, under the mutex of lives. */
static void adjust_thread(void)
{
    bool is_wanted = false;
    for (const struct eki_lookout *one = all.first; one; one = one->next)
        is_wanted |= (one->look.stall_ns != 0 || one->status_s != 0 ||
                      eki_lookout_is_asked(one)) &&
                     !eki_lookouts_are_over();
    if (is_wanted && !all.has_thread) {
        all.has_thread = start_lookout();
        if (!all.has_thread)
            eki_log(EK_LEVEL_WARN, -1, 0, "team",
                    "the thread that reports hangs (stall_ms), or how far an "
                    "iteration is (status), could not be started");
    } else if (!is_wanted && all.has_thread) {
        end_thread();
        all.has_thread = false;
    }
}

/* What this process' neighbor PROCESS does with another collection that both
 * share. */
static void append_elsewhere(const struct eki_look *look, uint64_t process,
                             uint64_t ms, char *text, size_t bytes)
{
    for (const struct eki_lookout *one = all.first; one; one = one->next) {
        if (&one->look != look && one->look.engine)
            eki_look_append_inside(&one->look, process, ms, text, bytes);
    }
}

static uint64_t process_number(void)
{
    uint64_t moment = eki_hash((uint64_t)getpid(), eki_clock_system_ns());
    return eki_hash(moment, (uintptr_t)&moment) | 1;
}

/* A server thread would go on calling MPI: the phase is given up. */
static void end_server(const struct eki_lookout *lookout)
{
    if (!lookout->team || !lookout->team->has_thread)
        return;
    eki_log(EK_LEVEL_WARN, lookout->look.rank, lookout->look.size, "team",
            "'%s': MPI_Finalize is called while an iteration is open; call "
            "ek_end first",
            lookout->look.name);
    eki_team_give_up(lookout->team);
}

static void end_all(void)
{
    pthread_mutex_lock(&all.life);
    pthread_mutex_lock(&all.mutex);
    set_over();
    for (struct eki_lookout *one = all.first; one; one = one->next) {
        end_server(one);
        eki_look_close(&one->look);
    }
    pthread_mutex_unlock(&all.mutex);
    adjust_thread();
    pthread_mutex_unlock(&all.life);
    if (all.end)
        all.end();
}

void eki_lookouts_at_end(void (*end)(void))
{
    all.end = end;
}

/* Once, under the mutex of lives.  Who would not hear of the end does not
 * begin.
 */
static void hook_finalize(void)
{
    static const struct eki_finalize_hook hook = {end_all};
    if (all.has_hook)
        return;
    if (eki_mpi_at_finalize(&hook, &all.has_hook) == EK_OK)
        return;
    set_over();
    eki_log(EK_LEVEL_WARN, -1, 0, "team",
            "%s: hangs are not reported (stall_ms)", ek_error_message());
}

/* Under the mutex. */
static void take_options(struct eki_lookout *lookout,
                         const struct eki_options *options)
{
    struct eki_look *look = &lookout->look;
    int64_t end_s = 0;
    eki_on_stall_read(options->on_stall, &end_s);
    look->end_ns = (uint64_t)end_s * 1000000000;
    look->stall_ns = eki_stall_ns(options);
    /* It is said no later than it ends the job. */
    if (end_s > 0 && (look->stall_ns == 0 || look->stall_ns > look->end_ns))
        look->stall_ns = look->end_ns;
    lookout->status_s = lookout->look.rank == 0 ? options->status : 0;
    lookout->status_ns = eki_clock_ns();
}

void eki_lookout_open(struct eki_lookout *lookout,
                      const struct eki_settings *settings,
                      enum eki_called called)
{
    struct eki_look *look = &lookout->look;
    look->name = settings->name;
    take_options(lookout, &settings->options);
    uint64_t ns = 0;
    /* The settings are checked. */
    eki_signals_read(settings->options.signal, &lookout->signals);
    eki_time_limit_read(settings->options.time_limit, &ns);
    lookout->stop_ns = ns > 0 ? eki_clock_ns() + ns : 0;
    look->elsewhere = append_elsewhere;
    pthread_mutex_lock(&all.life);
    hook_finalize();
    pthread_mutex_lock(&all.mutex);
    if (all.process == 0)
        all.process = process_number();
    lookout->next = all.first;
    all.first = lookout;
    eki_signals_take(lookout->signals);
    lookout->stops = eki_signals_count(EKI_REQUEST_STOP);
    lookout->tells = eki_signals_count(EKI_REQUEST_TELL);
    pthread_mutex_unlock(&all.mutex);
    adjust_thread();
    pthread_mutex_unlock(&all.life);
    eki_lookout_enter(lookout, called, 0);
}

ek_status eki_lookout_join(struct eki_lookout *lookout, struct eki_team *team)
{
    pthread_mutex_lock(&all.mutex);
    ek_status status = eki_look_open(&lookout->look, team->setup.engine);
    lookout->team = team;
    eki_lookout_show_life(lookout, eki_clock_moment_ms());
    if (status == EK_OK)
        /* relaxed: for the eye of others. */
        atomic_store_explicit(&lookout->look.words->process, all.process,
                              memory_order_relaxed);
    pthread_mutex_unlock(&all.mutex);
    return status;
}

void eki_lookout_close(struct eki_lookout *lookout)
{
    pthread_mutex_lock(&all.life);
    pthread_mutex_lock(&all.mutex);
    for (struct eki_lookout **one = &all.first; *one; one = &(*one)->next) {
        if (*one == lookout) {
            *one = lookout->next;
            eki_signals_leave(lookout->signals);
            break;
        }
    }
    eki_look_close(&lookout->look);
    pthread_mutex_unlock(&all.mutex);
    adjust_thread();
    pthread_mutex_unlock(&all.life);
}

void eki_lookout_set(struct eki_lookout *lookout,
                     const struct eki_options *options)
{
    pthread_mutex_lock(&all.life);
    pthread_mutex_lock(&all.mutex);
    take_options(lookout, options);
    eki_lookout_show_life(lookout, eki_clock_moment_ms());
    if (all.has_thread)
        pthread_cond_signal(&all.wake);
    pthread_mutex_unlock(&all.mutex);
    adjust_thread();
    pthread_mutex_unlock(&all.life);
}

/* *MOMENT, of this lookout, becomes NS, and nothing was asked by it. */
static void set_moment(struct eki_lookout *lookout, uint64_t *moment,
                       uint64_t ns, unsigned asked)
{
    pthread_mutex_lock(&all.life);
    pthread_mutex_lock(&all.mutex);
    bool is_new = *moment == 0;
    *moment = ns;
    /* A phase may have ended without a task that this could cancel. */
    lookout->asked &= ~asked;
    if (all.has_thread && is_new)
        pthread_cond_signal(&all.wake);
    pthread_mutex_unlock(&all.mutex);
    adjust_thread();
    pthread_mutex_unlock(&all.life);
}

void eki_lookout_stop_at(struct eki_lookout *lookout, uint64_t ns)
{
    set_moment(lookout, &lookout->stop_ns, ns > 0 ? eki_clock_ns() + ns : 0,
               EKI_ASKED_TIME);
}

void eki_lookout_save_at(struct eki_lookout *lookout, uint64_t ns)
{
    set_moment(lookout, &lookout->save_ns, ns, EKI_ASKED_SAVE);
}

void eki_lookout_hear(struct eki_lookout *lookout)
{
    pthread_mutex_lock(&all.mutex);
    eki_lookout_listen(lookout);
    pthread_mutex_unlock(&all.mutex);
}

void eki_lookout_answer(struct eki_lookout *lookout, unsigned asked)
{
    pthread_mutex_lock(&all.mutex);
    if (asked & EKI_ASKED_SIGNAL) {
        lookout->stops = eki_signals_count(EKI_REQUEST_STOP);
        lookout->answered_ns = eki_clock_ns();
    }
    if (asked & EKI_ASKED_TIME)
        lookout->stop_ns = 0;
    lookout->asked = 0;
    pthread_mutex_unlock(&all.mutex);
}

void eki_lookout_await(struct eki_lookout *lookout, int old,
                       enum eki_stage stage)
{
    int expected;
    do {
        expected = old;
        eki_yield();
        /* As in eki_lookout_move(). */
    } while (!atomic_compare_exchange_weak_explicit(
        &lookout->stage, &expected, (int)stage, memory_order_acq_rel,
        memory_order_relaxed));
}
