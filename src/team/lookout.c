/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "team/lookout.h"

#include "base/signals.h"
#include "engine/sight.h"
#include "team/poll.h"

#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* So often in stall_ms it looks, but within these bounds: what stands still is
 * told by stall_ms and two periods. */
#define LOOKS 8
#define PERIOD_LEAST_NS UINT64_C(1000000)
#define PERIOD_MOST_NS UINT64_C(250000000)
/* ... or so often where somebody may ask for a stop. */
#define PERIOD_ASKED_NS UINT64_C(10000000)

/* So often it tries to look at what the server keeps, for a status line. */
#define SERVER_TRIES 1000
/* mpirun passes a signal on to all ranks, and to some of them late: so long
 * after a stop by a request another one is the same. */
#define SAME_REQUEST_NS UINT64_C(200000000)
/* From one status line to the next where they are no terminal's. */
#define STATUS_S 60
/* So long MPI_Abort() may take before a signal ends the process. */
#define ABORT_S 10

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

/* Whether the calling thread may be told that it is looked at: then it waits at
 * its next move. */
static bool begin_look(struct eki_lookout *lookout, int *stage)
{
    /* relaxed: the exchange orders. */
    *stage = atomic_load_explicit(&lookout->stage, memory_order_relaxed);
    /* acquire: pairs with the release in eki_lookout_move(): all that the stage
     * needs is there.  relaxed on failure: there is a next look. */
    return *stage != EKI_STAGE_OUTSIDE &&
           atomic_compare_exchange_strong_explicit(
               &lookout->stage, stage, *stage | EKI_STAGE_LOOKING,
               memory_order_acquire, memory_order_relaxed);
}

/* Characters of a line of the terminal to which the sink writes; 0: it writes
 * elsewhere.  INT_MAX: not known. */
static int terminal_columns(void)
{
    struct winsize size = {0};
    if (!eki_log_is_default() || !isatty(STDERR_FILENO))
        return 0;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1
               ? size.ws_col - 1
               : INT_MAX;
}

static bool is_status_due(const struct eki_lookout *lookout, uint64_t now)
{
    int64_t s = lookout->status_s;
    if (s == 0)
        return false;
    if (s == 1 && terminal_columns() == 0)
        s = STATUS_S;
    return eki_ns_since(lookout->status_ns, now) >= (uint64_t)s * 1000000000;
}

/* How far the phase is; of other nodes as the server has heard. */
static void say_status(struct eki_lookout *lookout, const struct eki_moment *at)
{
    const struct eki_look *look = &lookout->look;
    const struct eki_engine *engine = look->engine;
    struct eki_headway headway = eki_headway_here(engine);
    char text[256] = "";
    for (int i = 0; i < engine->waves.children; i++)
        eki_headway_add(&headway, &engine->waves.heard[i]);
    eki_look_append_headway(look, &headway,
                            (double)eki_ns_since(engine->entered_ns, at->now) *
                                1e-9,
                            text, sizeof text);
    int columns = terminal_columns();
    if (columns > 0 && columns < (int)sizeof text)
        text[columns] = '\0';
    if (columns > 0)
        eki_log_live(text);
    else
        eki_log(EK_LEVEL_INFO, look->rank, look->size, "status", "%s", text);
    lookout->status_ns = at->now;
}

static void look_at_phase(struct eki_lookout *lookout, struct eki_moment *at,
                          bool says)
{
    struct eki_team *team = lookout->team;
    /* relaxed: a hint. */
    at->served = atomic_load_explicit(&team->served, memory_order_relaxed);
    at->is_server = eki_team_lock_server(team);
    for (int i = 0; says && !at->is_server && i < SERVER_TRIES; i++) {
        eki_pause();
        at->is_server = eki_team_lock_server(team);
    }
    at->only_first = !team->any_polls;
    if (lookout->look.stall_ns != 0)
        eki_look_at_phase(&lookout->look, at);
    /* Else it waits for the next look: somebody is in the server. */
    if (says && (at->is_server || lookout->look.engine->alone) &&
        lookout->look.engine->kind == EKI_PHASE_PROCESS)
        say_status(lookout, at);
    if (at->is_server)
        eki_team_unlock_server(team);
}

/* Others of the node see that this process was alive at MS, unless it does not
 * say, and what its clock showed. */
static void show_life(const struct eki_lookout *lookout, uint64_t ms)
{
    struct eki_rank_words *words = lookout->look.words;
    if (!words)
        return;
    /* relaxed, both: hints. */
    atomic_store_explicit(&words->ahead_ns, ms * 1000000 - eki_clock_ns(),
                          memory_order_relaxed);
    atomic_store_explicit(&words->alive_ms,
                          lookout->look.stall_ns == 0 ? 0 : ms,
                          memory_order_relaxed);
}

/* What it waits for was told.  MPI_Abort() may wait itself, for a lock of a
 * thread that hangs in MPI. */
_Noreturn static void end_job(const struct eki_look *look)
{
    eki_log(EK_LEVEL_ERROR, look->rank, look->size, "team",
            "on_stall=abort:%llu: this rank has waited too long, and ends the "
            "job",
            (unsigned long long)(look->end_ns / 1000000000));
    signal(SIGALRM, SIG_DFL);
    alarm(ABORT_S);
    eki_abort();
}

/* Whether somebody may ask for something. */
static bool is_asked(const struct eki_lookout *lookout)
{
    return lookout->signals || lookout->stop_ns != 0 || lookout->save_ns != 0;
}

static uint64_t stall_period(const struct eki_lookout *lookout)
{
    uint64_t wanted = lookout->look.stall_ns / LOOKS;
    wanted = wanted > PERIOD_LEAST_NS ? wanted : PERIOD_LEAST_NS;
    return lookout->look.stall_ns == 0 || wanted > PERIOD_MOST_NS
               ? PERIOD_MOST_NS
               : wanted;
}

/* Whether a signal asks for a stop that was not answered yet. */
static bool is_signalled(struct eki_lookout *lookout)
{
    unsigned stops = eki_signals_count(EKI_REQUEST_STOP);
    if (!lookout->signals || stops == lookout->stops)
        return false;
    if (lookout->answered_ns == 0 ||
        eki_ns_since(lookout->answered_ns,
                     eki_signals_last_ns(EKI_REQUEST_STOP)) >= SAME_REQUEST_NS)
        return true;
    lookout->stops = stops;
    return false;
}

/* What asks for a stop that was not answered yet; under the mutex. */
static unsigned find_asked(struct eki_lookout *lookout, uint64_t now)
{
    unsigned asked = is_signalled(lookout) ? EKI_ASKED_SIGNAL : 0;
    if (lookout->stop_ns != 0 && now >= lookout->stop_ns)
        asked |= EKI_ASKED_TIME;
    if (lookout->save_ns != 0 && now >= lookout->save_ns)
        asked |= EKI_ASKED_SAVE;
    return asked;
}

/* Cancel what has not begun, as ASKED. */
static void stop_phase(struct eki_lookout *lookout, unsigned asked)
{
    lookout->asked |= asked;
    if (asked == EKI_ASKED_SAVE)
        eki_engine_interrupt(lookout->look.engine);
    else
        eki_engine_stop(lookout->look.engine);
}

/* Tell now what there is to tell of any time that a call has taken. */
static void tell_all(struct eki_lookout *lookout, struct eki_moment *at,
                     int stage)
{
    uint64_t stall_ns = lookout->look.stall_ns;
    lookout->tells = eki_signals_count(EKI_REQUEST_TELL);
    eki_look_forget_told(&lookout->look);
    lookout->look.stall_ns = 1;
    if (stage == EKI_STAGE_PHASE)
        look_at_phase(lookout, at, false);
    else
        eki_look_at_call(&lookout->look, at);
    lookout->look.stall_ns = stall_ns;
}

/* Whether somebody waits to be told where this rank stands. */
static bool must_tell(struct eki_lookout *lookout)
{
    if (!lookout->signals ||
        eki_signals_count(EKI_REQUEST_TELL) == lookout->tells)
        return false;
    /* relaxed: a call that begins now is told of at the next look. */
    if (atomic_load_explicit(&lookout->stage, memory_order_relaxed) !=
        EKI_STAGE_OUTSIDE)
        return true;
    lookout->tells = eki_signals_count(EKI_REQUEST_TELL);
    EKI_SAY(&lookout->look, "no call of '%s' is open on this rank",
            lookout->look.name);
    return false;
}

static void look_at(struct eki_lookout *lookout)
{
    struct eki_moment at = {.now = eki_clock_ns(), .ms = eki_clock_moment_ms()};
    int stage;
    bool says = is_status_due(lookout, at.now), tells = must_tell(lookout);
    unsigned asked = find_asked(lookout, at.now);
    bool looks =
        lookout->look.stall_ns != 0 &&
        eki_ns_since(lookout->looked_ns, at.now) >= stall_period(lookout) / 2;
    show_life(lookout, at.ms);
    if ((!looks && !says && !tells && !asked) || !begin_look(lookout, &stage))
        return;
    if (looks)
        lookout->looked_ns = at.now;
    if (asked && stage == EKI_STAGE_PHASE &&
        lookout->look.engine->kind == EKI_PHASE_PROCESS)
        stop_phase(lookout, asked);
    if (tells)
        tell_all(lookout, &at, stage);
    else if (stage == EKI_STAGE_PHASE && (looks || says))
        look_at_phase(lookout, &at, says);
    else if (looks)
        eki_look_at_call(&lookout->look, &at);
    if (lookout->look.ends)
        end_job(&lookout->look);
    /* release: pairs with the acquire in eki_lookout_move(): what was looked at
     * may change. */
    atomic_store_explicit(&lookout->stage, stage, memory_order_release);
}

/* The shortest period that a collection wants. */
static uint64_t look_period(void)
{
    uint64_t least = PERIOD_MOST_NS;
    for (const struct eki_lookout *one = all.first; one; one = one->next) {
        uint64_t wanted = is_asked(one) ? PERIOD_ASKED_NS : stall_period(one);
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
            look_at(one);
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
        is_wanted |=
            (one->look.stall_ns != 0 || one->status_s != 0 || is_asked(one)) &&
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
    show_life(lookout, eki_clock_moment_ms());
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
    show_life(lookout, eki_clock_moment_ms());
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
    unsigned asked = find_asked(lookout, eki_clock_ns());
    if (asked)
        stop_phase(lookout, asked);
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
