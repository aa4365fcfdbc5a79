/* SPDX-License-Identifier: BSD-3-Clause */
/* The team: choices at creation, the loops of workers and server. */
#include "team/poll.h"
#include "team/run.h"

#include <omp.h>

/* Whether there are more threads than CPUs, with servers or without. */
static bool is_crowded(const struct eki_affinity *affinity, bool has_server)
{
    int servers = has_server ? affinity->ranks : 0;
    int quota_servers = has_server ? affinity->quota_ranks : 0;
    return affinity->workers + servers > affinity->cpus ||
           (affinity->quota.cpus > 0 &&
            affinity->quota_workers + quota_servers > affinity->quota.cpus);
}

static ek_status choose_progress(struct eki_team *team)
{
    const struct eki_team_setup *setup = &team->setup;
    const struct eki_engine *engine = setup->engine;
    ek_progress_policy progress = setup->options->progress;
    int workers = engine->topology->workers_here;
    team->any_polls = setup->thread_level >= 2 || workers == 1;
    if (workers > 1 && setup->thread_level < 1)
        return eki_error(
            EK_ERR_THREAD,
            "%d workers per rank need MPI_THREAD_FUNNELED; MPI was "
            "initialized with MPI_THREAD_SINGLE: call "
            "MPI_Init_thread, or set workers to 1",
            workers);
    if (progress == EK_PROGRESS_SERVER && setup->thread_level < 1)
        return eki_error(EK_ERR_THREAD,
                         "progress=server needs MPI_THREAD_FUNNELED or more; "
                         "MPI was initialized with MPI_THREAD_SINGLE; allowed "
                         "here: auto, polling");
    /* A thread of its own only where a core is to spare for it. */
    team->has_server =
        engine->exchange.fabric &&
        (progress == EK_PROGRESS_SERVER ||
         (progress == EK_PROGRESS_AUTO && !engine->alone &&
          setup->thread_level >= 1 && !is_crowded(setup->affinity, true)));
    return EK_OK;
}

ek_status eki_team_create(const struct eki_team_setup *setup,
                          struct eki_team **made)
{
    int workers = setup->engine->topology->workers_here;
    /* The seats lie behind the team. */
    struct eki_team *team =
        eki_alloc_lines(sizeof *team + (size_t)workers * sizeof *team->seats);
    if (!team)
        return eki_error(EK_ERR_NOMEM, "no memory for the team");
    eki_loops_prepare();
    team->setup = *setup;
    team->seats = (struct eki_seat *)(team + 1);
    ek_status status = choose_progress(team);
    if (status == EK_OK) {
        team->is_crowded = is_crowded(setup->affinity, team->has_server);
        eki_team_set_poll_period(team);
        *made = team;
    } else {
        eki_free(team);
    }
    return status;
}

void eki_team_destroy(struct eki_team **made)
{
    struct eki_team *team = *made;
    *made = NULL;
    if (!team)
        return;
    eki_free(team);
}

static void step_worker(struct eki_team *team, int here)
{
    struct ek_worker *worker = team->setup.engine->workers[here];
    struct eki_waiter waiter = {0};
    eki_team_arrive(team, here);
    uint64_t now = worker->batch.stamp;
    if (EKI_UNLIKELY(worker->batch.wants_server))
        eki_team_after_step(team, here, &waiter, now);
    for (;;) {
        switch (eki_worker_step(worker, now)) {
        case EKI_STEP_RUN:
            eki_team_begin_run(team, here);
            eki_run_batch(worker);
            eki_wait_reset(&waiter);
            break;
        case EKI_STEP_RANGE:
            eki_team_begin_run(team, here);
            eki_run_piece(worker, team);
            eki_wait_reset(&waiter);
            break;
        case EKI_STEP_PINNED:
            eki_team_begin_run(team, here);
            eki_run_slot(worker, worker->functions, eki_worker_current(worker));
            eki_wait_reset(&waiter);
            break;
        case EKI_STEP_AGAIN:
            eki_wait_reset(&waiter);
            break;
        case EKI_STEP_WAIT:
            eki_team_rest(team, here, &waiter, now);
            break;
        case EKI_STEP_DONE:
            eki_team_measure_end(team, here);
            return;
        }
        now = eki_clock_ns();
        eki_team_after_step(team, here, &waiter, now);
    }
}

static void run_worker(struct eki_team *team, int here)
{
    EKI_LOOP struct eki_loop loop;
    eki_loop_open(&loop, team->setup.engine->workers[here]);
    step_worker(team, here);
    eki_loop_close(&loop);
}

/* A server thread that stands still for a slice of the scheduler shares its
 * core with somebody that this rank does not know of: for so long it sleeps
 * between two looks, because who sleeps is let in at once when it wakes. */
#define SLICE_NS 1000000
#define SHARED_NS 100000000

/* On one node the end is not the server's to find: it serves until the workers
 * of this rank have found it. */
static bool is_needed(const struct eki_team *team, enum eki_served served)
{
    /* acquire: pairs with the release in leave_running() and set_running():
     * what the workers sent. */
    int running = atomic_load_explicit(&team->running, memory_order_acquire);
    return running >= 0 && (served != EKI_SERVED_DONE ||
                            (team->setup.engine->alone && running > 0));
}

/* Until the server has nothing more to do, whoever else steps it. */
static void run_server(struct eki_team *team)
{
    struct eki_waiter waiter = {0};
    uint64_t now = eki_clock_ns(), last, shared_until = 0;
    enum eki_served served;
    while (is_needed(team, served = eki_team_step_server(team, now))) {
        bool sleeps = team->is_crowded || now < shared_until;
        if (eki_has_moved(served))
            eki_wait_reset(&waiter);
        else if (sleeps)
            eki_wait(&waiter, true, EKI_SLEEP_MOST_NS, now);
        else
            eki_pause();
        last = now;
        now = eki_clock_ns();
        if (!sleeps && !eki_has_moved(served) && now - last > SLICE_NS)
            shared_until = now + SHARED_NS;
    }
}

static void leave_running(struct eki_team *team)
{
    /* release: pairs with the acquire in is_needed(). */
    atomic_fetch_sub_explicit(&team->running, 1, memory_order_release);
}

/* The team has so many threads for workers, which are their first ones. */
static void give_up_others(struct eki_team *team, int threads)
{
    const struct eki_engine *engine = team->setup.engine;
    for (int here = threads; here < engine->topology->workers_here; here++) {
        eki_worker_give_up(engine->workers[here]);
        leave_running(team);
    }
}

static void run_team(struct eki_team *team, int threads)
{
    int came = threads;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&team->running,
                          team->setup.engine->topology->workers_here,
                          memory_order_relaxed);
#pragma omp parallel num_threads(threads) default(none) shared(team, came)
    {
        int thread = omp_get_thread_num();
        int workers = team->setup.engine->topology->workers_here;
        /* A smaller team than asked for: workers first, and the others of the
         * rank take the tasks of those without a thread. */
        bool has_server = team->is_served && omp_get_num_threads() > 1;
        if (omp_get_num_threads() == 1)
            team->is_served = false;
        if (thread == 0)
            give_up_others(team, omp_get_num_threads() - has_server);
        if (has_server && thread == 0) {
            team->was_served = true;
            run_server(team);
        } else if (thread - has_server < workers) {
            run_worker(team, thread - has_server);
            leave_running(team);
        }
        if (thread == 0) {
            came = omp_get_num_threads();
            team->has_run = came - has_server >= workers;
        }
    }
    if (EKI_UNLIKELY(came < threads))
        eki_team_tell_smaller(team, came, threads);
}

/* On one node most phases have no messages. */
static bool wants_server(const struct eki_team *team)
{
    return team->has_server && eki_team_has_messages(team);
}

static void *run_server_thread(void *team)
{
    run_server(team);
    return NULL;
}

/* A pull loop has none of the team's threads. */
static void start_server_thread(struct eki_team *team)
{
    static _Atomic bool is_told;
    const struct eki_topology *topology = team->setup.engine->topology;
    bool may_call = team->setup.thread_level >= 2;
    /* relaxed: handed on by the start of the thread. */
    atomic_store_explicit(&team->running, 1, memory_order_relaxed);
    team->has_thread = may_call && eki_team_start_thread(
                                       &team->server, run_server_thread, team);
    team->is_served = team->was_served = team->has_thread;
    if (!team->has_thread && eki_is_untold(&is_told))
        eki_log(EK_LEVEL_WARN, topology->rank, topology->size, "team",
                "workers poll in this pull loop in spite of progress=server: "
                "%s",
                may_call ? "no thread could be started"
                         : "a server there needs MPI_THREAD_SERIALIZED");
}

void eki_team_enter(struct eki_team *team, const struct eki_phase *phase)
{
    /* relaxed, both: handed on by the start of the team. */
    atomic_store_explicit(&team->served, 0, memory_order_relaxed);
    atomic_store_explicit(&team->period_ns, team->period.most_ns,
                          memory_order_relaxed);
    team->is_served = team->was_served = team->has_run = false;
    if (team->has_server)
        team->is_crowded = is_crowded(team->setup.affinity, wants_server(team));
    if (phase->kind == EKI_PHASE_PROCESS && !phase->has_threads &&
        team->setup.options->progress == EK_PROGRESS_SERVER &&
        wants_server(team))
        start_server_thread(team);
}

/* Looks of the calling thread at words of late ranks, a microsecond or a few,
 * before it wakes the team. */
enum {
    PASS_LOOKS = 128
};

bool eki_team_pass(struct eki_team *team)
{
    int looks = team->is_crowded ? 0 : PASS_LOOKS;
    team->has_run = !team->is_measured && !team->setup.options->hooks.begin &&
                    eki_engine_pass(team->setup.engine, looks);
    return team->has_run;
}

void eki_team_run(struct eki_team *team)
{
    int threads =
        team->setup.engine->topology->workers_here + wants_server(team);
    team->is_served = wants_server(team);
    if (threads > 1) {
        run_team(team, threads);
        return;
    }
    run_worker(team, 0);
    team->has_run = true;
}

/* Step all workers, in turn; whether all have come to their end. */
static bool step_workers(struct eki_team *team, uint64_t now)
{
    struct eki_engine *engine = team->setup.engine;
    bool are_done = true;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        enum eki_step step = eki_worker_step(engine->workers[here], now);
        EKI_ASSERT(step == EKI_STEP_AGAIN || step == EKI_STEP_WAIT ||
                   step == EKI_STEP_DONE);
        are_done &= step == EKI_STEP_DONE;
    }
    return are_done;
}

/* Workers to their end, and the server to its, by the calling thread. */
void eki_team_run_restore(struct eki_team *team)
{
    struct eki_waiter waiter = {0};
    for (bool are_done = false; !are_done;) {
        uint64_t now = eki_clock_ns();
        are_done = step_workers(team, now);
        if (eki_has_moved(eki_team_step_server(team, now)))
            eki_wait_reset(&waiter);
        else
            eki_wait(&waiter, team->is_crowded, EKI_SLEEP_MOST_NS, now);
    }
}

EKI_COLD static void finish_workers(struct eki_team *team)
{
    struct eki_engine *engine = team->setup.engine;
    struct eki_waiter waiter = {0};
    int workers = engine->topology->workers_here;
    bool has_ended = false;
    int stopped = -1; /* fetching */
    for (int here = workers - 1; here >= 0; here--) {
        eki_team_end_task(team, here);
        if (eki_worker_is_done(engine->workers[here]))
            has_ended = true;
        else if (team->seats[here].taken == engine->phase)
            stopped = here;
    }
    /* Where one worker has heard of the end, nothing is left to run. */
    if (!has_ended && !eki_is_stopped(engine))
        eki_engine_abandon(engine, stopped);
    for (int here = 0; here < workers; here++)
        eki_team_arrive(team, here);
    /* All in turn: each may wait for what the others cancel. */
    uint64_t now = eki_clock_ns();
    for (; !step_workers(team, now); now = eki_clock_ns())
        eki_team_rest(team, 0, &waiter, now);
}

static void set_running(struct eki_team *team, int running)
{
    /* release: pairs with the acquire in is_needed(). */
    atomic_store_explicit(&team->running, running, memory_order_release);
}

static void join_server_thread(struct eki_team *team)
{
    if (team->has_thread)
        pthread_join(team->server, NULL);
    team->has_thread = false;
}

void eki_team_give_up(struct eki_team *team)
{
    set_running(team, -1);
    join_server_thread(team);
}

void eki_team_finish(struct eki_team *team)
{
    bool is_process = team->setup.engine->kind == EKI_PHASE_PROCESS;
    team->is_served &= !is_process;
    if (is_process && !team->has_run)
        finish_workers(team);
    set_running(team, 0);
    if (eki_team_has_messages(team))
        run_server(team);
    if (team->has_thread)
        join_server_thread(team);
}

void eki_team_poll(struct eki_team *team, struct ek_worker *worker)
{
    eki_worker_publish_now(worker);
    if (!eki_team_has_messages(team))
        return;
    uint64_t now = eki_clock_ns();
    /* What others were served is not the task's own time. */
    if (eki_has_moved(eki_team_poll_if_due(team, worker->here, now, true)))
        eki_team_leave_out(team, worker->here, eki_clock_ns() - now);
}

void eki_team_each(struct eki_team *team, bool is_large,
                   void (*work)(int here, void *argument), void *argument)
{
    int workers = team->setup.engine->topology->workers_here;
    if (workers == 1 || !is_large) {
        for (int here = 0; here < workers; here++)
            work(here, argument);
        return;
    }
#pragma omp parallel for schedule(static, 1) \
    num_threads(workers) default(none) shared(workers, work, argument)
    for (int here = 0; here < workers; here++)
        work(here, argument);
}
