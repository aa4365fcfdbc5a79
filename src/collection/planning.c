/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_plan(): the decision of a rebalance for items of the program.
 *
 * An engine of its own, with one worker on each rank that never has a task,
 * lives for one restore phase, in which the protocol of src/rebalance runs as
 * it does for a collection.
 */
#include "base/wait.h"
#include "collection/collection.h"
#include "printed/printed.h"

#include <evenkeel_plan.h>
#include <math.h>

/* One call; parts that were never made are NULL. */
struct plan {
    /* What was given. */
    int64_t n;
    const double *seconds;
    const size_t *bytes;
    ek_restore_policy policy;
    bool is_sized; /* EK_PLAN_ITEMS_INIT came first */

    struct eki_balance_items items;
    /* Of a collection there are settings, lookout, fabric, segment, topology
     * and engine. */
    ek_collection tasks;
};

static bool may_plan(ek_restore_policy policy)
{
    return policy != EK_RESTORE_DEFAULT && policy != EK_RESTORE_ORIGINAL &&
           policy != EK_RESTORE_RETAIN;
}

/* Which policy is followed where options set one. */
static ek_status resolve_plan_policy(struct plan *plan)
{
    const struct eki_settings *settings = &plan->tasks.settings;
    ek_restore_policy set = (ek_restore_policy)eki_schedule_at(
        &settings->restore, 1, (int)settings->options.restore);
    char allowed[200] = "";
    if (plan->policy == EK_RESTORE_DEFAULT)
        plan->policy = may_plan(set) ? set : EK_RESTORE_AUTO;
    if (may_plan(plan->policy) &&
        eki_option_choice_name("restore", (int)plan->policy))
        return EK_OK;
    eki_choice_list(eki_option_choices("restore"), allowed, sizeof allowed);
    return eki_error(EK_ERR_ARG,
                     "ek_plan: policy %d is not allowed; allowed: default, %s; "
                     "not original and retain, which move nothing",
                     (int)plan->policy, allowed);
}

static ek_status check_costs(const struct plan *plan)
{
    int rank = plan->tasks.fabric->rank;
    double load = 0;
    for (int64_t i = 0; i < plan->n; i++) {
        if (!(plan->seconds[i] >= 0) || !isfinite(plan->seconds[i]))
            return eki_error(EK_ERR_ARG,
                             "ek_plan: item %lld of rank %d costs %g; allowed: "
                             "0 or more, and finite",
                             (long long)i, rank, plan->seconds[i]);
        load += plan->seconds[i];
    }
    if (!isfinite(load))
        return eki_error(EK_ERR_ARG,
                         "ek_plan: the costs of rank %d are too large to be "
                         "summed; allowed: a finite sum",
                         rank);
    return EK_OK;
}

static ek_status check_bytes(const struct plan *plan)
{
    const struct eki_fabric *fabric = plan->tasks.fabric;
    size_t left = ((size_t)1 << 62) / (size_t)fabric->size;
    for (int64_t i = 0; plan->bytes && i < plan->n; i++) {
        if (plan->bytes[i] > left)
            return eki_error(EK_ERR_ARG,
                             "ek_plan: items up to %lld of rank %d have too "
                             "many bytes; allowed: 2^62 over %d ranks",
                             (long long)i, fabric->rank, fabric->size);
        left -= plan->bytes[i];
    }
    return EK_OK;
}

/* What this rank can say by itself; resolves the policy. */
static ek_status check_plan(struct plan *plan, const int *new_rank,
                            const ek_plan_report *report)
{
    EKI_TRY(resolve_plan_policy(plan));
    if (!plan->is_sized)
        return eki_error(EK_ERR_ARG, "ek_plan: items.struct_bytes is wrong; "
                                     "begin with EK_PLAN_ITEMS_INIT");
    if (plan->n < 0 || plan->n > INT32_MAX)
        return eki_error(EK_ERR_ARG,
                         "ek_plan: %lld items are not allowed; allowed: 0 to "
                         "%d on a rank",
                         (long long)plan->n, INT32_MAX);
    if (plan->n > 0 && !plan->seconds)
        return eki_error(
            EK_ERR_ARG,
            "ek_plan: seconds is NULL; allowed: NULL if there are no items");
    EKI_TRY(check_costs(plan));
    EKI_TRY(check_bytes(plan));
    if (plan->n > 0 && !new_rank)
        return eki_error(
            EK_ERR_ARG,
            "ek_plan: new_rank is NULL; allowed: NULL if there are no items");
    EKI_TRY(eki_collection_check_report("ek_plan: ", report,
                                        "EK_PLAN_REPORT_INIT"));
    if (eki_collection_is_busy())
        return eki_error(EK_ERR_STATE, "ek_plan: an iteration is open; "
                                       "allowed: between iterations");
    return eki_collection_check_region("ek_plan");
}

/* A cost times 2^SHIFT, in nanoseconds. */
static double scaled(double seconds, int shift)
{
    return ldexp(seconds, shift) * 1e9;
}

/* The cost of an item shorter than rebalancers let durations be, and the load
 * of a rank such that those of all ranks can be summed. */
static bool are_short(double cost, double load, int shift, int size)
{
    return scaled(cost, shift) <= (double)(INT64_MAX >> 20) &&
           scaled(load, shift) <= (double)(EKI_NS_MOST / size / 2);
}

/* 0, so that costs are what durations are, unless that is too long for sums or
 * too coarse for the largest cost. */
static int shift_of(double cost, double load, int size)
{
    const double fine = 1 << 20;
    int shift = 0;
    while (!are_short(cost, load, shift, size))
        shift -= 10;
    while (cost > 0 && scaled(cost, shift) < fine &&
           are_short(cost, load, shift + 10, size))
        shift += 10;
    return shift;
}

/* Costs count 2^SHIFT times on all ranks; either all give bytes or none;
 * collective. */
static ek_status find_shift(const struct plan *plan, int *shift)
{
    struct eki_fabric *fabric = plan->tasks.fabric;
    /* The cost of an item, the load of a rank; 1: a rank with items gives their
     * bytes, or does not. */
    double most[4] = {0, 0, plan->n > 0 && plan->bytes,
                      plan->n > 0 && !plan->bytes};
    for (int64_t i = 0; i < plan->n; i++) {
        most[0] = fmax(most[0], plan->seconds[i]);
        most[1] += plan->seconds[i];
    }
    EKI_TRY(eki_fabric_mpi_max(fabric, most, 4));
    *shift = shift_of(most[0], most[1], fabric->size);
    if (most[2] == 0 || most[3] == 0)
        return EK_OK;
    ek_status status = EK_OK;
    if (plan->n > 0 && !plan->bytes)
        status =
            eki_error(EK_ERR_ARG,
                      "ek_plan: rank %d gives no bytes, but others do; "
                      "allowed: bytes from all ranks with items, or from none",
                      fabric->rank);
    return eki_fabric_mpi_agree(fabric, status);
}

/* Items as rebalancers know them. */
static ek_status make_items(struct plan *plan, int shift)
{
    size_t n = (size_t)plan->n;
    eki_ns *ns = eki_alloc(n, sizeof *ns);
    int32_t *to = eki_alloc(n, sizeof *to);
    plan->items = (struct eki_balance_items){
        .count = plan->n, .ns = ns, .bytes = plan->bytes, .to = to};
    if (!ns || !to)
        return eki_error(EK_ERR_NOMEM, "ek_plan: no memory for %lld items",
                         (long long)plan->n);
    for (size_t i = 0; i < n; i++) {
        ns[i] = (eki_ns)(scaled(plan->seconds[i], shift) + 0.5);
        to[i] = plan->tasks.fabric->rank;
    }
    return EK_OK;
}

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
static ek_status agree_on_plan(const struct plan *plan, ek_status status)
{
    const struct eki_settings *settings = &plan->tasks.settings;
    struct eki_fabric *fabric = plan->tasks.fabric;
    bool are_same;
    uint64_t same = 0;
    if (status == EK_OK)
        same = eki_hash(eki_options_hash(settings), (uint64_t)plan->policy);
    EKI_TRY(eki_fabric_mpi_agree_on(fabric, status, same, &are_same));
    if (are_same)
        return EK_OK;
    EKI_TRY(compare_policies(fabric, plan->policy));
    return eki_options_compare(fabric, settings);
}

/* All that the phase needs, unless STATUS is an error; collective. */
static ek_status make_plan_parts(ek_collection *tasks, ek_status status)
{
    struct eki_setup setup = {.buffer_slots = 1, .check_words = 4096};
    struct eki_fabric **fabric = &tasks->fabric;
    EKI_TRY(eki_fabric_mpi_agree(*fabric, status));
    EKI_TRY(eki_fabric_mpi_open(fabric, tasks->settings.options.ranks_per_node,
                                EKI_MESSAGE_BYTES));
    int *workers = eki_alloc((size_t)(*fabric)->size, sizeof *workers);
    for (int r = 0; workers && r < (*fabric)->size; r++)
        workers[r] = 1;
    status = eki_collection_share(tasks, workers, &setup);
    eki_free(workers);
    EKI_TRY(status);
    status = eki_engine_create(&setup, &tasks->engine);
    if (status == EK_OK)
        status = eki_rebalance_add(tasks->engine);
    return eki_fabric_mpi_agree(*fabric, status);
}

static void free_plan(struct plan *plan)
{
    eki_engine_destroy(&plan->tasks.engine);
    eki_fabric_mpi_unshare(&plan->tasks.segment);
    eki_fabric_mpi_destroy(&plan->tasks.fabric);
    eki_topology_destroy(plan->tasks.topology);
    eki_free(plan->items.ns);
    eki_free(plan->items.to);
    eki_lookout_close(&plan->tasks.lookout);
    eki_settings_free(&plan->tasks.settings);
}

/* The worker to its end, then the server to its. */
static void run_plan_phase(struct eki_engine *engine)
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

static ek_status decide_plan(struct plan *plan)
{
    ek_collection *tasks = &plan->tasks;
    struct eki_error error;
    struct eki_balance_wish wish = eki_balance_wish_of(
        plan->policy, tasks->topology->workers, &tasks->settings.options);
    struct eki_phase phase = {
        .kind = EKI_PHASE_RESTORE, .signature = 1, .balance = &wish};
    eki_rebalance_prepare(tasks->engine);
    wish.is_chosen = false;
    wish.items = &plan->items;
    eki_engine_enter(tasks->engine, &phase, eki_clock_ns());
    run_plan_phase(tasks->engine);
    eki_engine_leave(tasks->engine, &error);
    ek_status status = (ek_status)error.status;
    if (status != EK_OK)
        eki_error(status, "ek_plan: %s",
                  error.text[0] ? error.text : "the phase has failed");
    /* All have the same, and one rank says so. */
    return status == EK_OK || status == EK_ERR_MPI
               ? status
               : eki_fabric_mpi_agree(tasks->fabric, status);
}

/* Figures of all ranks; collective. */
static ek_status fill_plan_report(const struct plan *plan,
                                  ek_plan_report *report)
{
    const struct eki_balance_report *balance =
        eki_rebalance_report(plan->tasks.engine);
    const struct eki_balance_items *items = &plan->items;
    int64_t sums[4] = {items->count, 0, 0, (int64_t)items->fewest_bytes};
    for (int64_t i = 0; items->bytes && i < items->count; i++) {
        sums[1] += (int64_t)items->bytes[i];
        if (items->to[i] != plan->tasks.fabric->rank)
            sums[2] += (int64_t)items->bytes[i];
    }
    EKI_TRY(eki_fabric_mpi_sum(plan->tasks.fabric, sums, 4));
    report->policy = plan->policy == EK_RESTORE_AUTO
                         ? balance->is_grouped ? EK_RESTORE_HIERARCHICAL
                                               : EK_RESTORE_CENTRALIZED
                         : plan->policy;
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
static ek_status run_plan(struct plan *plan, ek_status status,
                          ek_plan_report *report)
{
    int shift;
    EKI_TRY(agree_on_plan(plan, status));
    EKI_TRY(find_shift(plan, &shift));
    EKI_TRY(make_plan_parts(&plan->tasks, make_items(plan, shift)));
    EKI_TRY(decide_plan(plan));
    return fill_plan_report(plan, report);
}

static ek_status plan_items(MPI_Comm comm, struct plan *plan,
                            const ek_options *options, int *new_rank,
                            ek_plan_report *report)
{
    ek_collection *tasks = &plan->tasks;
    ek_plan_report whole = EK_PLAN_REPORT_INIT;
    EKI_TRY(eki_collection_check_mpi("ek_plan", comm));
    eki_clock_start();
    uint64_t start = eki_clock_ns();
    ek_status status = eki_settings_resolve(options, &tasks->settings);
    if (status != EK_OK) {
        tasks->settings = (struct eki_settings){0};
    } else {
        eki_mpi_ranks(comm, &tasks->lookout.look.rank,
                      &tasks->lookout.look.size);
        eki_lookout_open(&tasks->lookout, &tasks->settings, EKI_CALLED_PLAN);
    }
    /* A rank that was given what is not allowed takes part until all know. */
    ek_status made = eki_fabric_mpi_create(comm, &tasks->fabric);
    if (made == EK_OK) {
        if (status == EK_OK)
            status = check_plan(plan, new_rank, report);
        made = run_plan(plan, status, &whole);
    }
    if (made == EK_OK && plan->n > 0)
        memcpy(new_rank, plan->items.to, (size_t)plan->n * sizeof *new_rank);
    eki_collection_outcome(tasks, made);
    free_plan(plan);
    whole.seconds = (double)(eki_clock_ns() - start) * 1e-9;
    if (made == EK_OK && report) {
        size_t bytes = report->struct_bytes;
        whole.struct_bytes = bytes;
        memcpy(report, &whole, bytes < sizeof whole ? bytes : sizeof whole);
    }
    return made;
}

ek_status ek_plan(MPI_Comm comm, const ek_plan_items *items,
                  ek_restore_policy policy, const ek_options *options,
                  int *new_rank, ek_plan_report *report)
{
    ek_plan_items given = {0};
    bool is_sized =
        !items || eki_struct_copy(items, items->struct_bytes, sizeof given,
                                  &given, sizeof given);
    struct plan plan = {.n = given.n,
                        .seconds = given.seconds,
                        .bytes = given.bytes,
                        .policy = policy,
                        .is_sized = is_sized};
    return eki_collection_outcome(
        NULL, plan_items(comm, &plan, options, new_rank, report));
}
