/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a collection, and its options. */
#include "collection/seeds.h"

#include <evenkeel_inline.h>

/* Collections of this process. */
static _Atomic int alive;

/* What ranks tell each other while a collection is made, one after the other;
 * each [size]. */
struct talk {
    struct eki_affinity *affinities;
    struct eki_staff *staff;
    int *workers;
};

/* In one piece, which begins with the affinities. */
static ek_status open_talk(struct talk *talk, int size)
{
    size_t ranks = (size_t)size;
    talk->affinities =
        eki_alloc(ranks, sizeof *talk->affinities + sizeof *talk->staff +
                             sizeof *talk->workers);
    if (!talk->affinities)
        return eki_error(EK_ERR_NOMEM, "no memory for %d ranks", size);
    talk->staff = (struct eki_staff *)(talk->affinities + ranks);
    talk->workers = (int *)(talk->staff + ranks);
    return EK_OK;
}

/* The default number of workers needs the number of ranks that share the CPUs,
 * and the report of the binding needs the workers of all of them: so ranks
 * compare before and after the choice. */
static ek_status choose_workers(ek_collection *tasks, struct talk *talk)
{
    struct eki_options *options = &tasks->settings.options;
    struct eki_affinity *affinity = &tasks->affinity;
    eki_affinity_look(affinity);
    EKI_TRY(eki_affinity_compare(affinity, tasks->fabric, talk->affinities));
    tasks->has_chosen = options->workers == 0;
    if (tasks->has_chosen)
        options->workers =
            eki_team_default_workers(affinity, eki_mpi_thread_level());
    EKI_TRY(eki_affinity_count(affinity, tasks->fabric, (int)options->workers,
                               talk->affinities, talk->staff));
    eki_affinity_report(affinity, tasks->fabric, (int)options->workers);
    return EK_OK;
}

ek_status eki_collection_share(ek_collection *tasks, const int *workers,
                               struct eki_setup *setup)
{
    struct eki_fabric *fabric = tasks->fabric;
    size_t bytes = 0;
    ek_status status =
        workers
            ? eki_topology_create(fabric->rank, fabric->size, workers,
                                  eki_fabric_mpi_nodes(fabric),
                                  &tasks->topology)
            : eki_error(EK_ERR_NOMEM, "no memory for %d ranks", fabric->size);
    if (status == EK_OK)
        status = eki_collection_check_ring(tasks, setup);
    if (status == EK_OK) {
        setup->topology = tasks->topology;
        setup->fabric = fabric->size > 1 ? fabric : NULL;
        bytes = eki_engine_segment_bytes(setup);
    }
    EKI_TRY(eki_fabric_mpi_share(fabric, status, bytes, &tasks->segment));
    setup->segment = tasks->segment.memory;
    /* On all ranks, whatever fails from now on. */
    setup->number = eki_wire_next_number(fabric);
    return EK_OK;
}

/* For slots of SLOT_BYTES.  Few different ones: collections with the same share
 * buffers. */
static size_t message_bytes(uint32_t slot_bytes)
{
    size_t bytes = EKI_MESSAGE_BYTES;
    while (bytes < sizeof(struct eki_message) + slot_bytes)
        bytes *= 2;
    return bytes;
}

static bool is_checked(const struct eki_options *options)
{
#ifdef EKI_DEBUG
    return options->check != EKI_CHECK_OFF;
#else
    return options->check == EKI_CHECK_ON;
#endif
}

_Static_assert((int)EKI_DEQUE_OPTION_ATOMIC == (int)EKI_DEQUE_ATOMIC &&
                   (int)EKI_DEQUE_OPTION_LOCKED == (int)EKI_DEQUE_LOCKED,
               "an option of the deque is its kind");

void eki_collection_tell_lists(const struct eki_options *options,
                               struct eki_setup *setup)
{
    eki_dvs_read(options->dvs, &setup->dvs);
    eki_lifeline_read(options->lifeline, &setup->lifeline);
    eki_sws_read(options->sws, &setup->sws);
}

static struct eki_setup setup_of(const ek_collection *tasks)
{
    const struct eki_options *options = &tasks->settings.options;
    struct eki_setup setup = {
        .deque = (enum eki_deque_kind)options->deque,
        .buffer_slots = options->buffer_slots,
        .payload_bytes = options->payload_bytes,
        .seed = (uint64_t)options->seed,
        .stall_ns = tasks->lookout.look.stall_ns,
        .is_checked = is_checked(options),
        .watch_ns = options->status != 0 ? EKI_HEADWAY_NS : 0,
        .steal_batch = options->steal_batch,
        .load_threshold = options->load_threshold,
        .has_homes = options->data == EKI_DATA_FOLLOW,
        .has_counter = true,
        /* One look covers all workers of a large node: the first that is not
         * idle ends it, and a worker may sleep between two steps. */
        .check_words = 4096};
    eki_collection_tell_lists(options, &setup);
    return setup;
}

static ek_status make_team(ek_collection *tasks)
{
    struct eki_team_setup setup = {.engine = tasks->engine,
                                   .affinity = &tasks->affinity,
                                   .options = &tasks->settings.options,
                                   .thread_level = eki_mpi_thread_level()};
    ek_status status = eki_team_create(&setup, &tasks->team);
    tasks->engine->stepper = tasks->team;
    tasks->engine->owner = tasks;
    return status == EK_OK ? eki_lookout_join(&tasks->lookout, tasks->team)
                           : status;
}

static ek_status prepare_workers(ek_collection *tasks)
{
    const struct eki_options *options = &tasks->settings.options;
    ek_status status = EK_OK;
    for (int here = 0; here < options->workers; here++) {
        struct eki_local *local = &tasks->engine->workers[here]->local;
        local->layout = EK_INLINE_LAYOUT;
        if (!options->hooks.create)
            continue;
        local->data = options->hooks.create(here, options->hooks.context);
        if (!local->data)
            status = eki_error(
                EK_ERR_NOMEM, "hooks.create returned NULL for worker %d", here);
    }
    return status;
}

/* What needs no other rank. */
static ek_status make_own_parts(ek_collection *tasks,
                                const struct eki_setup *setup)
{
    EKI_TRY(eki_engine_create(setup, &tasks->engine));
    tasks->engine->answered = &tasks->parts.answered;
    EKI_TRY(eki_schemes_add(tasks->engine));
    EKI_TRY(eki_rebalance_add(tasks->engine));
    tasks->seeds.payload_limit =
        setup->is_checked ? 0 : (size_t)setup->payload_bytes;
    EKI_TRY(eki_inlets_create(tasks));
    EKI_TRY(make_team(tasks));
    EKI_TRY(prepare_workers(tasks));
    EKI_TRY(eki_tool_open(tasks));
    EKI_TRY(eki_report_create(tasks->fabric->rank, tasks->fabric->size,
                              tasks->settings.name, &tasks->report));
    EKI_TRY(eki_report_open(tasks->report, tasks->settings.report));
    /* Before a record of that name takes the place of the old one. */
    EKI_TRY(eki_hints_read(tasks->settings.options.hints, tasks->settings.name,
                           tasks->fabric, &tasks->parts.hints));
    EKI_TRY(eki_replaying_open(tasks->settings.options.replay,
                               tasks->settings.name, tasks->engine,
                               &tasks->parts.replaying));
    eki_checkpoint_set(tasks);
    struct eki_about about = {""};
    if (strcmp(tasks->settings.record, "0") != 0)
        eki_collection_about(tasks, &about);
    return eki_recording_create(tasks->engine, tasks->settings.name,
                                tasks->settings.record, about.text,
                                &tasks->recording);
}

/* Ranks wait for each other five times in all, with the agreement on the
 * options. */
static ek_status make_shared_parts(ek_collection *tasks, struct talk *talk,
                                   struct eki_setup *setup)
{
    struct eki_fabric **fabric = &tasks->fabric;
    EKI_TRY(eki_fabric_mpi_open(fabric, tasks->settings.options.ranks_per_node,
                                message_bytes(eki_setup_slot_bytes(setup))));
    EKI_TRY(choose_workers(tasks, talk));
    for (int r = 0; r < (*fabric)->size; r++)
        talk->workers[r] = talk->staff[r].workers;
    EKI_TRY(eki_collection_share(tasks, talk->workers, setup));
    EKI_TRY(eki_collection_export(tasks, setup));
    EKI_TRY(eki_fabric_mpi_agree(*fabric, make_own_parts(tasks, setup)));
    EKI_TRY(eki_tracking_open(tasks));
    return eki_hints_share(&tasks->parts.hints, *fabric);
}

/* Parts that were never made are NULL.  Later parts go first: they refer to
 * those before them. */
static void free_collection(ek_collection *tasks)
{
    const struct eki_options *options = &tasks->settings.options;
    eki_lookout_close(&tasks->lookout);
    for (int here = 0;
         tasks->engine && options->hooks.destroy && here < options->workers;
         here++) {
        void *data = tasks->engine->workers[here]->local.data;
        if (data)
            options->hooks.destroy(data, options->hooks.context);
    }
    eki_inlets_destroy(tasks);
    eki_recording_destroy(&tasks->recording);
    eki_tracking_close(tasks);
    eki_hints_free(&tasks->parts.hints);
    eki_replaying_close(&tasks->parts.replaying);
    eki_free(tasks->parts.saves.loaded);
    eki_part_forget(tasks);
    eki_report_destroy(&tasks->report);
    eki_team_destroy(&tasks->team);
    eki_collection_free_stores(tasks);
    eki_fabric_mpi_unexport(&tasks->parts.exported);
    eki_engine_destroy(&tasks->engine);
    eki_collection_free_callbacks(tasks);
    eki_tool_close(tasks);
    eki_collection_free_gathered(tasks);
    eki_collection_free_shared(tasks);
    eki_fabric_mpi_unshare(&tasks->segment);
    eki_fabric_mpi_destroy(&tasks->fabric);
    eki_topology_destroy(tasks->topology);
    eki_inlet_close(&tasks->seeds.foreign);
    eki_settings_free(&tasks->settings);
    eki_free(tasks);
}

/* Read the options, and be ready to say what this rank waits for. */
static ek_status resolve_options(MPI_Comm comm, const ek_options *options,
                                 ek_collection *tasks)
{
    if (!tasks)
        return eki_error(EK_ERR_NOMEM, "no memory for a collection");
    EKI_TRY(eki_settings_resolve(options, &tasks->settings));
    /* With check=0 the line on descending numbers counts as said. */
    atomic_init(&tasks->has_descended,
                tasks->settings.options.check == EKI_CHECK_OFF);
    EKI_TRY(eki_collection_check_region("ek_create"));
    eki_mpi_ranks(comm, &tasks->lookout.look.rank, &tasks->lookout.look.size);
    eki_lookout_open(&tasks->lookout, &tasks->settings, EKI_CALLED_CREATE);
    tasks->restores.may_be_asked =
        tasks->lookout.signals || tasks->lookout.stop_ns != 0;
    tasks->agreed.options = eki_options_hash(&tasks->settings);
    return EK_OK;
}

/* All ranks are here, with options of their own. */
static ek_status make_collection(ek_collection *tasks, struct talk *talk,
                                 bool are_same)
{
    if (tasks->fabric->rank == 0 && !tasks->settings.options.ignore_environment)
        eki_settings_warn();
    struct eki_setup setup = setup_of(tasks);
    eki_adding_open(&tasks->seeds, eki_setup_slot_bytes(&setup));
    if (!are_same)
        EKI_TRY(eki_options_compare(tasks->fabric, &tasks->settings));
    return make_shared_parts(tasks, talk, &setup);
}

ek_status eki_collection_create(MPI_Comm comm, const ek_options *options,
                                ek_status read, ek_collection **made)
{
    if (!made)
        return eki_error(EK_ERR_ARG, "ek_create: tasks is NULL");
    *made = NULL;
    EKI_TRY(eki_collection_check_mpi("ek_create", comm));
    eki_clock_start();
    struct eki_fabric *fabric = NULL;
    struct talk talk = {0};
    bool are_same = true;
    ek_collection *tasks = eki_alloc_lines(sizeof *tasks);
    ek_status mine =
        read != EK_OK ? read : resolve_options(comm, options, tasks);
    /* A rank whose options are bad takes part until all know of it. */
    ek_status status = eki_fabric_mpi_create(comm, &fabric);
    if (status == EK_OK && mine == EK_OK)
        mine = open_talk(&talk, fabric->size);
    if (status == EK_OK)
        status = eki_fabric_mpi_agree_on(
            fabric, mine, tasks ? tasks->agreed.options : 0, &are_same);
    if (status != EK_OK) {
        eki_collection_outcome(tasks, status);
        eki_free(talk.affinities);
        eki_fabric_mpi_destroy(&fabric);
        if (tasks) {
            eki_lookout_close(&tasks->lookout);
            eki_settings_free(&tasks->settings);
        }
        eki_free(tasks);
        return status;
    }
    tasks->fabric = fabric;
    status = make_collection(tasks, &talk, are_same);
    eki_free(talk.affinities);
    if (status != EK_OK) {
        eki_collection_outcome(tasks, status);
        free_collection(tasks);
        return status;
    }
    /* relaxed: only the number itself matters. */
    atomic_fetch_add_explicit(&alive, 1, memory_order_relaxed);
    eki_collection_note_steal(tasks);
    eki_collection_say_start(tasks);
    eki_lookout_leave(&tasks->lookout, eki_clock_ns());
    eki_collection_check_level(tasks);
    *made = tasks;
    return EK_OK;
}

ek_status ek_create(MPI_Comm comm, const ek_options *options,
                    ek_collection **made)
{
    return eki_collection_outcome(
        NULL, eki_collection_create(comm, options, EK_OK, made));
}

/* With the last collection it is known which there were. */
static void say_lists(const ek_collection *tasks)
{
    /* relaxed: see ek_create(). */
    int left = atomic_fetch_sub_explicit(&alive, 1, memory_order_relaxed) - 1;
    if (left == 0 && tasks->fabric->rank == 0 &&
        !tasks->settings.options.ignore_environment)
        eki_settings_warn_lists();
}

void ek_destroy(ek_collection **made)
{
    if (!made || !*made)
        return;
    ek_collection *tasks = *made;
    eki_collection_check_left(tasks, EKI_CALLER("ek_destroy"));
    if (tasks->state == EKI_STATE_OPEN && !tasks->is_pulled) {
        eki_log(EK_LEVEL_WARN, tasks->fabric->rank, tasks->fabric->size,
                "collection",
                "'%s' is not destroyed: its ek_process has not returned; "
                "destroy it after that",
                tasks->settings.name);
        return;
    }
    *made = NULL;
    if (tasks->state == EKI_STATE_OPEN) {
        eki_log(EK_LEVEL_WARN, tasks->fabric->rank, tasks->fabric->size,
                "collection",
                "'%s' is destroyed while an iteration is open; call ek_end "
                "first",
                tasks->settings.name);
        eki_tool_end_all(tasks);
        eki_team_give_up(tasks->team);
        eki_collection_release();
    }
    eki_lookout_enter(&tasks->lookout, EKI_CALLED_DESTROY, 0);
    /* What went by since the last iteration is in no report. */
    eki_report_last(
        tasks->report, eki_collection_outside_s(tasks, eki_clock_ns()),
        tasks->restores.seconds, eki_collection_saved(tasks).seconds);
    say_lists(tasks);
    eki_collection_say_unheeded(tasks);
    /* Wait for the other ranks while all is there that says for whom. */
    eki_fabric_mpi_settle(tasks->fabric);
    free_collection(tasks);
}
