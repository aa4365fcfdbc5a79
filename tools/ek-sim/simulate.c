/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations of a mode: their program, and how it ended. */
#include "simulation.h"

#include "data.h"
#include "jitter.h"
#include "tiles.h"
#include "timelines.h"
#include "unfold.h"

#include "printed/printed.h"
#include "steal/dvs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double real_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void show_progress(const struct simulation *simulation)
{
    const struct run *run = simulation->run;
    char done[40];
    if (run->unfold)
        snprintf(done, sizeof done, "%.1f M tasks",
                 (double)unfold_sums(run->unfold)->tasks * 1e-6);
    else
        snprintf(done, sizeof done, "%5.1f %% of the tasks",
                 100 * (double)simulation->started /
                     (double)run->workload->count);
    fprintf(stderr, "\r%-14s iteration %d: %s, %.*f s, %.0f M events   ",
            simulation->mode->name, simulation->iteration + 1, done,
            run->unfold ? 4 : 2, (double)simulation->sim->now * 1e-9,
            (double)simulation->sim->events * 1e-6);
}

static enum eki_sim_end run_events(struct simulation *simulation)
{
    enum {
        CHUNK = 1 << 18
    };
    bool is_shown = isatty(2);
    double shown_s = real_s();
    enum eki_sim_end end;
    while ((end = eki_sim_run(simulation->sim, CHUNK)) == EKI_SIM_END_ASKED &&
           !simulation->is_memory_out && !simulation->is_wrong) {
        if (!is_shown || real_s() < shown_s + 0.5)
            continue;
        show_progress(simulation);
        shown_s = real_s();
    }
    if (is_shown)
        fprintf(stderr, "\r%78s\r", "");
    return end;
}

static int report_end(const struct simulation *simulation, enum eki_sim_end end,
                      struct message *message)
{
    if (simulation->is_memory_out) {
        message_set(message, "%s: no memory", simulation->mode->name);
        return EXIT_FAILED;
    }
    if (end == EKI_SIM_END_OVER && !simulation->is_wrong)
        return 0;
    if (end == EKI_SIM_END_LATE) {
        message_set(message,
                    "%s: the run takes longer than the %.1f hours that can be "
                    "simulated; shorten the tasks with --scale",
                    simulation->mode->name,
                    (double)EKI_SIM_TIME_MOST * 1e-9 / 3600);
        return EXIT_BAD_INPUT;
    }
    message_set(message,
                "%s, iteration %d: %" PRId64 " of %" PRId64 " tasks started%s",
                simulation->mode->name, simulation->iteration + 1,
                tasks_started(simulation), tasks_expected(simulation),
                end == EKI_SIM_END_STUCK ? "; nothing happens any more"
                                         : ", not each once");
    return EXIT_FAILED;
}

static bool has_counter(const struct simulation *simulation)
{
    for (int i = 0; i < simulation->plan.steal.count; i++) {
        if (eki_unchunked(simulation->plan.steal.entries[i].value) ==
            EK_STEAL_COUNTER)
            return true;
    }
    return false;
}

static bool has_one_sided(const struct simulation *simulation)
{
    for (int i = 0; i < simulation->plan.steal.count; i++) {
        int policy = simulation->plan.steal.entries[i].value;
        if (eki_scheme_is_one_sided((ek_steal_policy)policy))
            return true;
    }
    return false;
}

static bool never_balances(const struct simulation *simulation)
{
    for (int i = 0; i < simulation->plan.restore.count; i++) {
        int policy = simulation->plan.restore.entries[i].value;
        if (policy != EK_RESTORE_ORIGINAL && policy != EK_RESTORE_RETAIN)
            return false;
    }
    return true;
}

/* Options that the steal policies leave without effect, and sampling of thieves
 * that remember what they have met. */
static bool check_policies(const struct simulation *simulation,
                           struct message *message)
{
    const struct arguments *arguments = simulation->run->arguments;
    bool has_plain = false, has_others = false, by_node = false;
    bool has_memory = false;
    for (int i = 0; i < simulation->plan.steal.count; i++) {
        const struct eki_scheme *scheme = eki_scheme_of(
            (ek_steal_policy)simulation->plan.steal.entries[i].value);
        has_plain |= scheme->is_plain;
        has_others |= scheme->victims && !scheme->is_plain;
        by_node |= scheme->seeker != NULL;
        has_memory |= scheme->arm || scheme->notes_thieves;
    }
    const char *steal = simulation->mode->steal;
    if (arguments->backoff_ns >= 0 && has_plain && !has_others)
        return message_set(message,
                           "--backoff-ns has no effect where --steal is '%s', "
                           "whose thieves do not pause",
                           steal);
    if (arguments->load_threshold > 0 && !by_node)
        return message_set(message,
                           "--load-threshold has no effect where --steal is "
                           "'%s', whose thieves know of no loads",
                           steal);
    if (simulation->run->is_sampled && has_one_sided(simulation))
        return message_set(message,
                           "--mode sampled draws requests, and thieves of "
                           "--steal '%s' send none; allowed: --mode exact, for "
                           "up to 20,000 cores or so",
                           steal);
    if (simulation->run->is_sampled && has_memory)
        return message_set(message,
                           "--mode sampled draws victims, and thieves of "
                           "--steal '%s' remember theirs; allowed: --mode "
                           "exact, for up to 20,000 cores or so",
                           steal);
    return true;
}

/* Whether the policy of each iteration may go with its detector. */
static bool check_detectors(const struct simulation *simulation,
                            struct message *message)
{
    const struct eki_schedule *steal = &simulation->plan.steal;
    const struct eki_schedule *termination = &simulation->plan.termination;
    for (int i = 0; i < simulation->run->arguments->iterations; i++) {
        int detector = eki_schedule_at(termination, i, EKI_DETECTOR_COUNTING);
        const struct eki_scheme *scheme = eki_scheme_of(
            (ek_steal_policy)eki_schedule_at(steal, i, (int)EK_STEAL_RANDOM));
        const char *why = eki_scheme_undetected(
            scheme, detector, simulation->run->workload->input_bytes != NULL);
        if (why)
            return message_set(
                message, "--termination %s is not for --steal %s here: %s",
                eki_option_choice_name("termination", detector),
                simulation->mode->steal, why);
    }
    return true;
}

/* What --lifeline and --sws say; and --dvs, if it has cells for the workers of
 * each node, and its source is one of them. */
static ek_status read_lists(const struct run *run, struct eki_setup *setup)
{
    const char *text = run->arguments->lifeline;
    eki_lifeline_read(text ? text : eki_option_defaults.lifeline,
                      &setup->lifeline);
    text = run->arguments->sws;
    eki_sws_read(text ? text : eki_option_defaults.sws, &setup->sws);
    text = run->arguments->dvs;
    eki_dvs_read(text ? text : eki_option_defaults.dvs, &setup->dvs);
    int room = eki_mesh_room(&setup->dvs), workers = 0;
    for (int r = 0; r < run->ranks; r++) {
        bool is_first =
            r == 0 || run->node_of_rank[r] != run->node_of_rank[r - 1];
        bool is_last = r == run->ranks - 1 ||
                       run->node_of_rank[r] != run->node_of_rank[r + 1];
        workers = (is_first ? 0 : workers) + run->rank_workers[r];
        if (workers > room || (is_last && setup->dvs.source >= workers))
            return eki_error(EK_ERR_ARG,
                             "--dvs is '%s', %d cells; allowed: as many as a "
                             "node has workers, or more; and one of these as "
                             "the source",
                             text, room);
    }
    return EK_OK;
}

static ek_status open_sim(struct simulation *simulation,
                          const struct eki_sim_program *program)
{
    const struct run *run = simulation->run;
    const struct arguments *arguments = run->arguments;
    bool is_locked =
        arguments->deque && strcmp(arguments->deque, "locked") == 0;
    struct eki_sim_setup setup = {
        .machine = &run->machine,
        .program = program,
        .ranks = run->ranks,
        .workers = run->rank_workers,
        .nodes = run->node_of_rank,
        .engine = {.deque = is_locked ? EKI_DEQUE_LOCKED : EKI_DEQUE_ATOMIC,
                   .buffer_slots = run->buffer_slots,
                   .payload_bytes =
                       run->unfold ? (int64_t)unfold_payload_bytes(run->unfold)
                                   : 16,
                   .has_homes =
                       run->workload->input_bytes && arguments->data &&
                       word_value("data", arguments->data) == EKI_DATA_FOLLOW,
                   .seed = (uint64_t)run->source->seed,
                   .has_counter = has_counter(simulation),
                   .check_words = 4096,
                   .steal_batch = arguments->steal_batch,
                   .load_threshold = arguments->load_threshold,
                   .has_pause = arguments->backoff_ns >= 0,
                   .pause_ns = (uint64_t)fmax(arguments->backoff_ns, 0)},
        .task_bytes = arguments->task_bytes,
        .functions = 1 + (run->workload->input_bytes != NULL),
        .has_tiles = run->tiles.is_used,
        .has_rma = has_one_sided(simulation),
        .has_data = run->workload->input_bytes != NULL,
        .data = {.budget_bytes = arguments->data_bytes},
        .never_balances = never_balances(simulation),
        .has_hints = run->hints != NULL,
        .is_sampled = run->is_sampled,
        .is_together = true,
        .ahead_ns = run->unfold || workload_spawns(run->workload)
                        ? (uint64_t)arguments->ahead_ns
                        : 0,
        .late_bytes = EKI_LATE_BYTES,
        .send_buffers = 16,
        .message_bytes = EKI_MESSAGE_BYTES};
    EKI_TRY(read_lists(run, &setup.engine));
    heap_prepare(run);
    EKI_TRY(eki_sim_create(&setup, &simulation->sim));
    if (run->tiles.is_used)
        EKI_TRY(tiles_open(run, simulation->sim, &simulation->tiles));
    if (run->workload->input_bytes)
        EKI_TRY(data_open(run, simulation->sim, &simulation->data));
    return tasks_add(simulation)
               ? EK_OK
               : eki_error(EK_ERR_NOMEM, "no memory for the tasks");
}

/* Ranges are over: they are added anew, or what ran of them is restored. */
static void end_ranges(void *context, struct eki_sim_rank *rank)
{
    const struct simulation *simulation = context;
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct eki_local *local = &rank->workers[w].worker->local;
        if (simulation->mode->is_anew)
            eki_local_clear(local);
        else if (has_nulls_now(simulation))
            nulls_end_ranges(&simulation->nulls, local);
    }
}

/* What hints tell of the load, in the first iteration. */
static void tell_load(void *context, struct eki_sim_rank *rank,
                      struct eki_phase *phase)
{
    const struct simulation *simulation = context;
    if (rank->iteration == 0)
        phase->load = &simulation->load;
}

static int run_to_end(struct simulation *simulation, struct message *message)
{
    struct run *run = simulation->run;
    const char *folder = run->arguments->timeline;
    if (folder && !(simulation->timelines =
                        timelines_open(folder, simulation->sim, message)))
        return EXIT_BAD_INPUT;
    double start_s = real_s();
    enum eki_sim_end end = run_events(simulation);
    run->real_s += real_s() - start_s;
    int exit_status = report_end(simulation, end, message);
    run->events += simulation->sim->events;
    return timelines_close(simulation->timelines, message) ||
                   exit_status != EXIT_GOOD
               ? exit_status
               : EXIT_FAILED;
}

/* Run the iterations; returns an exit status. */
static int run_program(struct simulation *simulation, struct message *message)
{
    struct run *run = simulation->run;
    struct eki_sim_program program = {.context = simulation,
                                      .iteration = plan_iteration,
                                      .enter = account_enter,
                                      .task = tasks_run,
                                      .left = account_left,
                                      .restored = account_restored,
                                      .phase = run->hints ? tell_load : NULL};
    if (simulation->mode->has_nulls) {
        program.restore = end_ranges;
        simulation->nulls = nulls_make(run);
    }
    simulation->jitter = jitter_open(run);
    int exit_status = EXIT_FAILED;
    ek_status status = open_sim(simulation, &program);
    if (status != EK_OK) {
        message_set(message, "%s", ek_error_message());
        if (status == EK_ERR_ARG)
            exit_status = EXIT_BAD_INPUT;
    } else {
        exit_status = run_to_end(simulation, message);
    }
    tiles_close(simulation->tiles);
    data_close(simulation->data);
    eki_sim_destroy(&simulation->sim);
    jitter_close(simulation->jitter);
    return exit_status;
}

int simulate(struct run *run, const struct mode *mode, struct row *rows,
             struct message *message)
{
    struct simulation simulation = {.run = run,
                                    .mode = mode,
                                    .rows = rows,
                                    .iteration = -(run->hints != NULL)};
    int exit_status = EXIT_BAD_INPUT;
    if (plan_open(&simulation.plan, mode, run->arguments->termination,
                  message) &&
        check_policies(&simulation, message) &&
        check_detectors(&simulation, message))
        exit_status = run_program(&simulation, message);
    plan_close(&simulation.plan);
    return exit_status;
}
