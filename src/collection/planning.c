/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_plan(): the decision of a rebalance for items of the program.
 *
 * An engine of its own, with one worker on each rank that never has a task,
 * lives for one restore phase, in which the protocol of src/rebalance runs as
 * it does for a collection.
 */
#include "base/wait.h"
#include "collection/agree.h"
#include "collection/asked.h"
#include "printed/printed.h"

/* Of one call; parts that were never made are NULL. */
struct plan {
    struct eki_settings settings;
    struct eki_lookout lookout; /* says that this rank waits for others */
    struct eki_fabric *fabric;
    struct eki_node_memory segment;
    struct eki_topology *topology;
    struct eki_engine *engine;
    struct eki_balance_items items;
};

/* Ranks agree on the policy; collective. */
static ek_status compare_policies(struct eki_fabric *fabric,
                                  ek_restore_policy policy)
{
    int mine = (int)policy, first = mine;
    ek_status status = EK_OK;
    EKI_TRY(eki_fabric_mpi_broadcast(fabric, &first, sizeof first, 0));
    if (first != mine)
        status =
            eki_error(EK_ERR_ARG,
                      "ek_plan: the policy must be the same on all ranks: "
                      "rank 0 has %s, rank %d has %s",
                      eki_option_choice_name("restore", first), fabric->rank,
                      eki_option_choice_name("restore", mine));
    return eki_fabric_mpi_agree(fabric, status);
}

/* Ranks agree on a STATUS that each knows for itself, and on what must be the
 * same; collective. */
static ek_status agree_on_plan(struct plan *plan, const struct eki_asked *asked,
                               ek_status status)
{
    bool are_same;
    uint64_t same = 0;
    if (status == EK_OK)
        same = eki_hash(eki_options_hash(&plan->settings),
                        (uint64_t)asked->policy);
    EKI_TRY(eki_fabric_mpi_agree_on(plan->fabric, status, same, &are_same));
    if (are_same)
        return EK_OK;
    EKI_TRY(compare_policies(plan->fabric, asked->policy));
    return eki_options_compare(plan->fabric, &plan->settings);
}

/* One worker on each rank. */
static ek_status make_topology(struct plan *plan)
{
    const struct eki_fabric *fabric = plan->fabric;
    int *workers = eki_alloc((size_t)fabric->size, sizeof *workers);
    if (!workers)
        return eki_error(EK_ERR_NOMEM, "no memory for %d ranks", fabric->size);
    for (int r = 0; r < fabric->size; r++)
        workers[r] = 1;
    ek_status status =
        eki_topology_create(fabric->rank, fabric->size, workers,
                            eki_fabric_mpi_nodes(fabric), &plan->topology);
    eki_free(workers);
    return status;
}

static ek_status make_engine(struct plan *plan, struct eki_setup *setup)
{
    setup->segment = plan->segment.memory;
    EKI_TRY(eki_engine_create(setup, &plan->engine));
    EKI_TRY(eki_rebalance_add(plan->engine));
    eki_rebalance_prepare(plan->engine);
    return EK_OK;
}

/* All that the phase needs, unless STATUS is an error; collective. */
static ek_status make_parts(struct plan *plan, ek_status status)
{
    const ek_options *options = &plan->settings.options;
    struct eki_setup setup = {.buffer_slots = 1, .check_words = 4096};
    struct eki_fabric **fabric = &plan->fabric;
    size_t bytes = 0;
    EKI_TRY(eki_fabric_mpi_agree(*fabric, status));
    EKI_TRY(eki_fabric_mpi_open(fabric, options->ranks_per_node,
                                eki_fabric_mpi_message_bytes(*fabric)));
    status = make_topology(plan);
    if (status == EK_OK) {
        setup.topology = plan->topology;
        setup.fabric = (*fabric)->size > 1 ? *fabric : NULL;
        bytes = eki_engine_segment_bytes(&setup);
    }
    EKI_TRY(eki_fabric_mpi_share(*fabric, status, bytes, &plan->segment));
    setup.number = eki_wire_next_number(*fabric);
    return eki_fabric_mpi_agree(*fabric, make_engine(plan, &setup));
}

static void free_plan(struct plan *plan)
{
    eki_engine_destroy(&plan->engine);
    eki_fabric_mpi_unshare(&plan->segment);
    eki_fabric_mpi_destroy(&plan->fabric);
    eki_topology_destroy(plan->topology);
    eki_free(plan->items.ns);
    eki_free(plan->items.to);
}

/* The worker to its end, then the server to its. */
static void run_phase(struct eki_engine *engine)
{
    struct eki_waiter waiter = {0};
    for (bool is_done = false; !is_done;) {
        uint64_t now = eki_clock_ns(), moved = engine->post.moved;
        bool is_served = eki_server_step(engine, now);
        is_done = eki_worker_step(engine->workers[0], now) == EKI_STEP_DONE &&
                  is_served;
        if (engine->post.moved != moved)
            eki_wait_reset(&waiter);
        else if (!is_done)
            eki_wait(&waiter, true, EKI_SLEEP_FIRST_NS, now);
    }
}

static struct eki_balance_wish wish_of(struct plan *plan,
                                       ek_restore_policy policy)
{
    struct eki_balance_wish wish = eki_balance_wish_of(
        policy, plan->topology->workers, &plan->settings.options);
    wish.is_chosen = false;
    wish.items = &plan->items;
    return wish;
}

static ek_status decide(struct plan *plan, ek_restore_policy policy)
{
    struct eki_error error;
    struct eki_balance_wish wish = wish_of(plan, policy);
    struct eki_phase phase = {
        .kind = EKI_PHASE_RESTORE, .signature = 1, .balance = &wish};
    eki_engine_enter(plan->engine, &phase, eki_clock_ns());
    run_phase(plan->engine);
    eki_engine_leave(plan->engine, &error);
    ek_status status = (ek_status)error.status;
    if (status != EK_OK)
        eki_error(status, "ek_plan: %s",
                  error.text[0] ? error.text : "the phase has failed");
    /* All have the same, and one rank says so. */
    return status == EK_OK || status == EK_ERR_MPI
               ? status
               : eki_fabric_mpi_agree(plan->fabric, status);
}

/* Figures of all ranks; collective. */
static ek_status fill_report(const struct plan *plan, ek_plan_report *report)
{
    const struct eki_balance_report *balance =
        eki_rebalance_report(plan->engine);
    const struct eki_balance_items *items = &plan->items;
    int64_t sums[4] = {items->count, 0, 0, (int64_t)items->fewest_bytes};
    for (int64_t i = 0; items->bytes && i < items->count; i++) {
        sums[1] += (int64_t)items->bytes[i];
        if (items->to[i] != plan->fabric->rank)
            sums[2] += (int64_t)items->bytes[i];
    }
    EKI_TRY(eki_fabric_mpi_sum(plan->fabric, sums, 4));
    report->items = sums[0];
    report->bytes = sums[1];
    report->bytes_moved = sums[2];
    report->fewest_bytes = sums[3];
    report->imbalance_before = balance->before;
    report->imbalance_after = balance->after;
    report->imbalance_bound = balance->bound;
    report->moves = balance->moved;
    report->fewest = balance->fewest;
    report->across = balance->across;
    report->decision = balance->hash;
    return EK_OK;
}

/* Collective from the first agreement on; a rank that has found STATUS to be an
 * error takes part in it. */
static ek_status run_plan(struct plan *plan, const struct eki_asked *asked,
                          ek_status status, ek_plan_report *report)
{
    int shift;
    EKI_TRY(agree_on_plan(plan, asked, status));
    EKI_TRY(eki_asked_shift(asked, plan->fabric, &shift));
    status = eki_asked_items(asked, plan->fabric->rank, shift, &plan->items);
    EKI_TRY(make_parts(plan, status));
    EKI_TRY(decide(plan, asked->policy));
    report->policy = asked->policy == EK_RESTORE_AUTO
                         ? eki_rebalance_report(plan->engine)->is_grouped
                               ? EK_RESTORE_HIERARCHICAL
                               : EK_RESTORE_CENTRALIZED
                         : asked->policy;
    return fill_report(plan, report);
}

static ek_status check_outputs(const struct eki_asked *asked,
                               const int *new_rank,
                               const ek_plan_report *report)
{
    if (asked->n > 0 && !new_rank)
        return eki_error(EK_ERR_ARG, "ek_plan: new_rank is NULL; allowed: NULL "
                                     "where there are no items");
    if (report)
        EKI_TRY(eki_collection_check_bytes("ek_plan: ", report->struct_bytes,
                                           "EK_PLAN_REPORT_INIT"));
    if (eki_collection_is_busy())
        return eki_error(EK_ERR_STATE, "ek_plan: an iteration is open; "
                                       "allowed: between iterations");
    return eki_collection_check_region("ek_plan");
}

/* What is to be done about a failure, as far as options have been read. */
static void fail_plan(const struct plan *plan, bool has_settings)
{
    const struct eki_fabric *fabric = plan->fabric;
    eki_error_say(fabric ? fabric->rank : -1, fabric ? fabric->size : 0);
    if (has_settings && plan->settings.options.on_error == EK_ON_ERROR_ABORT)
        eki_abort();
}

static ek_status plan_items(MPI_Comm comm, struct eki_asked *asked,
                            const ek_options *options, int *new_rank,
                            ek_plan_report *report)
{
    struct plan plan = {0};
    ek_plan_report whole = EK_PLAN_REPORT_INIT;
    EKI_TRY(eki_collection_check_mpi("ek_plan"));
    eki_clock_start();
    uint64_t start = eki_clock_ns();
    ek_status status = eki_settings_resolve(options, &plan.settings);
    bool has_settings = status == EK_OK;
    if (has_settings) {
        eki_mpi_ranks(comm, &plan.lookout.look.rank, &plan.lookout.look.size);
        eki_lookout_open(&plan.lookout, &plan.settings, EKI_CALLED_PLAN);
    }
    /* A rank that was given what is not allowed takes part until all know. */
    ek_status made = eki_fabric_mpi_create(comm, &plan.fabric);
    if (made == EK_OK) {
        if (has_settings)
            status = eki_asked_check(asked, &plan.settings, plan.fabric);
        if (status == EK_OK)
            status = check_outputs(asked, new_rank, report);
        made = run_plan(&plan, asked, status, &whole);
    }
    if (made == EK_OK && asked->n > 0)
        memcpy(new_rank, plan.items.to, (size_t)asked->n * sizeof *new_rank);
    if (made != EK_OK)
        fail_plan(&plan, has_settings);
    free_plan(&plan);
    if (has_settings) {
        eki_lookout_close(&plan.lookout);
        eki_settings_free(&plan.settings);
    }
    whole.seconds = (double)(eki_clock_ns() - start) * 1e-9;
    if (made == EK_OK && report) {
        size_t bytes = report->struct_bytes;
        whole.struct_bytes = bytes;
        memcpy(report, &whole, bytes < sizeof whole ? bytes : sizeof whole);
    }
    return made;
}

ek_status ek_plan(MPI_Comm comm, int64_t n, const double *seconds,
                  const size_t *bytes, ek_restore_policy policy,
                  const ek_options *options, int *new_rank,
                  ek_plan_report *report)
{
    struct eki_asked asked = {n, seconds, bytes, policy};
    return eki_collection_outcome(
        NULL, plan_items(comm, &asked, options, new_rank, report));
}
