/* SPDX-License-Identifier: BSD-3-Clause */
/* One look at a collection: what it shows, tells and stops.  Under the mutex of
 * lookouts. */
#define _GNU_SOURCE
#include "base/signals.h"
#include "engine/sight.h"
#include "team/lookout.h"
#include "team/poll.h"

#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* So often in stall_ms it looks, but within bounds: what stands still is told
 * by stall_ms and two periods. */
#define LOOKS 8
#define PERIOD_LEAST_NS UINT64_C(1000000)
/* ... or so often where somebody may ask for a stop. */
#define PERIOD_ASKED_NS UINT64_C(10000000)

/* So often it tries to look at what the server keeps, for a status line. */
#define SERVER_TRIES 1000
/* mpirun passes a signal on to all ranks, and to some of them late: so long
 * after a stop by a request another one is the same. */
#define SAME_REQUEST_NS UINT64_C(200000000)
/* From one status line to the next where they are no terminal's. */
#define STATUS_S 60
/* After so long without a look this process has slept, and not only waited for
 * a core. */
#define SLEPT_MS 700
/* So long MPI_Abort() may take before a signal ends the process. */
#define ABORT_S 10

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
    eki_headway_append(look, &headway,
                       (double)eki_ns_since(engine->entered_ns, at->now) * 1e-9,
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

uint64_t eki_lookout_show_life(const struct eki_lookout *lookout, uint64_t ms)
{
    struct eki_rank_words *words = lookout->look.words;
    if (!words)
        return 0;
    uint64_t last = eki_glance(&words->alive_ms);
    /* relaxed, both: hints. */
    atomic_store_explicit(&words->ahead_ns, ms * 1000000 - eki_clock_ns(),
                          memory_order_relaxed);
    atomic_store_explicit(&words->alive_ms,
                          lookout->look.stall_ns == 0 ? 0 : ms,
                          memory_order_relaxed);
    return last != 0 ? eki_ns_since(last, ms) : 0;
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

bool eki_lookout_is_asked(const struct eki_lookout *lookout)
{
    return lookout->signals || lookout->stop_ns != 0 || lookout->save_ns != 0;
}

static uint64_t stall_period(const struct eki_lookout *lookout)
{
    uint64_t wanted = lookout->look.stall_ns / LOOKS;
    wanted = wanted > PERIOD_LEAST_NS ? wanted : PERIOD_LEAST_NS;
    return lookout->look.stall_ns == 0 || wanted > EKI_LOOK_PERIOD_NS
               ? EKI_LOOK_PERIOD_NS
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

void eki_lookout_listen(struct eki_lookout *lookout)
{
    unsigned asked = find_asked(lookout, eki_clock_ns());
    if (asked)
        stop_phase(lookout, asked);
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

void eki_lookout_look(struct eki_lookout *lookout)
{
    struct eki_moment at = {.now = eki_clock_ns(), .ms = eki_clock_moment_ms()};
    int stage;
    bool says = is_status_due(lookout, at.now), tells = must_tell(lookout);
    unsigned asked = find_asked(lookout, at.now);
    bool looks =
        lookout->look.stall_ns != 0 &&
        eki_ns_since(lookout->looked_ns, at.now) >= stall_period(lookout) / 2;
    uint64_t gap_ms = eki_lookout_show_life(lookout, at.ms);
    if (gap_ms > SLEPT_MS)
        lookout->slept = (struct eki_slept){gap_ms * 1000000, at.now, at.ms};
    at.slept = lookout->slept;
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

uint64_t eki_lookout_period(const struct eki_lookout *lookout)
{
    return eki_lookout_is_asked(lookout) ? PERIOD_ASKED_NS
                                         : stall_period(lookout);
}
