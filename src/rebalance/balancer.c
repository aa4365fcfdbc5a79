/* SPDX-License-Identifier: BSD-3-Clause */
/* A rebalance from beginning to end, as far as it is the same for all ranks. */
#include "rebalance/balancer.h"

/*
 * GROUP: workers of a group where the user names no other number.  A prototype
 * with 52 lognormal tasks for each of 19,200 workers ended up to 2.2 % over the
 * bound in groups of 64 and up to 1.1 % in groups of 256; larger ones give
 * their leader more to decide (docs/balancing.md has 256 beside one group).
 *
 * MANY: workers beyond which EK_RESTORE_AUTO decides in groups.  No run chose
 * it.  One rank decides a million tasks of 2,400 workers within 20 ms as well
 * as can be (ek-bench balance), but on the modelled network of hopper it needs
 * three times as long as groups do (docs/simulation.md).
 *
 * UNREST: beyond this imbalance more than before something has changed.
 */
enum {
    GROUP = 256,
    MANY = 1024
};

#define UNREST 0.1

/* Algorithm 1 where every worker tells one rank by itself is Algorithm 2 in a
 * tree of one vertex above all workers. */
static struct eki_hpdc12 printed_of(ek_restore_policy policy, int workers,
                                    const ek_options *options)
{
    bool is_tree = policy == EK_RESTORE_HIERARCHICAL_HPDC12;
    int64_t branching = is_tree       ? options->balance_branching
                        : workers > 2 ? workers
                                      : 2;
    return (struct eki_hpdc12){
        options->balance_c, options->balance_d, (int32_t)branching,
        is_tree || options->balance_gather == EK_GATHER_CORE};
}

struct eki_balance_wish eki_balance_wish_of(ek_restore_policy policy,
                                            int workers,
                                            const ek_options *options)
{
    double eps = (double)options->balance_ppm * 1e-6;
    struct eki_balance_wish wish = {
        .eps = eps > 0 ? eps : -1,
        .is_chosen = policy == EK_RESTORE_AUTO,
        .is_printed = policy == EK_RESTORE_CENTRALIZED_HPDC12 ||
                      policy == EK_RESTORE_HIERARCHICAL_HPDC12};
    if (policy == EK_RESTORE_HIERARCHICAL ||
        (policy == EK_RESTORE_AUTO && workers > MANY))
        wish.group = options->balance_group > 0
                         ? (int32_t)options->balance_group
                         : GROUP;
    if (wish.is_printed)
        wish.printed = printed_of(policy, workers, options);
    return wish;
}

/* The protocol of an engine; the first rebalance makes its state. */
struct rebalance {
    struct eki_protocol protocol;
    struct eki_balancer *balancer; /* NULL: no rebalance yet */
};

static struct eki_balancer *balancer_of(const struct eki_protocol *protocol)
{
    return ((const struct rebalance *)protocol)->balancer;
}

static void free_list(struct eki_parcel **list)
{
    while (*list) {
        struct eki_parcel *next = (*list)->next;
        eki_free(*list);
        *list = next;
    }
}

static void free_parts(struct eki_balancer *balancer)
{
    eki_mail_close(&balancer->mail);
    free_list(&balancer->arrived);
    free_list(&balancer->early);
    balancer->arrived_end = &balancer->arrived;
    eki_relay_close(balancer);
    eki_donor_free(&balancer->donor);
    eki_leader_close(balancer);
    eki_vertices_close(&balancer->vertices);
    eki_root_free(balancer);
}

static bool open_parts(struct eki_balancer *balancer)
{
    eki_relay_open(balancer);
    return eki_root_open(balancer) && eki_donor_begin(balancer);
}

static void give_up(struct eki_balancer *balancer)
{
    eki_set_rank_error(balancer->engine, EK_ERR_NOMEM,
                       "no memory to rebalance");
}

/* No task leaves this rank any more, so its workers may say that they are idle.
 */
static void end(struct eki_balancer *balancer)
{
    free_parts(balancer);
    balancer->is_done = true;
    eki_engine_let_go(balancer->engine);
}

static bool enter(struct eki_protocol *protocol, const struct eki_phase *phase,
                  uint64_t now)
{
    struct eki_balancer *balancer = balancer_of(protocol);
    const struct eki_balance_wish *wish = phase->balance;
    int workers = protocol->engine->topology->workers;
    (void)now;
    /* A rank that could not prepare has made the phase an error already. */
    if (!wish || !balancer)
        return false;
    balancer->wish = *wish;
    balancer->group_size =
        wish->group > 0 && wish->group < workers ? wish->group : workers;
    balancer->groups =
        (workers + balancer->group_size - 1) / balancer->group_size;
    if (eki_is_tree(balancer))
        eki_tree_open(&balancer->vertices.tree, workers,
                      wish->printed.branching);
    balancer->is_done = false;
    balancer->report =
        (struct eki_balance_report){.is_grouped = wish->group > 0};
    balancer->sent = 0;
    eki_engine_hold(protocol->engine, UINT64_MAX);
    if (!open_parts(balancer))
        give_up(balancer);
    return false;
}

/* Bytes of a parcel whose size is known. */
static int64_t bytes_of(const struct eki_balancer *balancer, int what)
{
    size_t functions = (size_t)balancer->engine->function_count;
    switch (what) {
    case EKI_PARCEL_TARGET:
        return (int64_t)(sizeof(struct eki_target_told) +
                         functions * sizeof(double));
    case EKI_PARCEL_RESULT:
    case EKI_PARCEL_OVER:
        return sizeof(struct eki_result_told);
    default:
        return -1;
    }
}

/* How many groups, vertices or workers the group of a parcel is one of; 0: the
 * algorithm has no such parcels. */
static int groups_of(const struct eki_balancer *balancer, int what)
{
    switch (what) {
    case EKI_PARCEL_TOTALS:
    case EKI_PARCEL_TARGET:
    case EKI_PARCEL_RESULT:
    case EKI_PARCEL_OVER:
        return balancer->groups;
    case EKI_PARCEL_UP:
    case EKI_PARCEL_DOWN:
        return eki_is_tree(balancer) ? eki_tree_count(&balancer->vertices.tree)
                                     : 0;
    case EKI_PARCEL_FETCH:
        return eki_is_tree(balancer) ? balancer->engine->topology->workers : 0;
    default:
        return eki_is_tree(balancer) ? 0 : balancer->groups;
    }
}

/* What all parcels have; what is in them is for who takes them. */
static bool fits(const struct eki_balancer *balancer,
                 const struct eki_head *head)
{
    struct eki_decode decode = eki_decode_of(balancer->engine, head);
    int what = head->detail, group = head->worker;
    if (!eki_fits(&decode, "what", what, EKI_PARCEL_TOTALS, EKI_PARCEL_OVER) ||
        !eki_fits(&decode, "group", group, 0, groups_of(balancer, what) - 1))
        return false;
    int64_t bytes = bytes_of(balancer, what);
    decode.kind = eki_parcel_name(what);
    return eki_fits(&decode, "bytes of the parcel", head->count,
                    bytes < 0 ? 0 : bytes, bytes < 0 ? INT64_MAX / 2 : bytes);
}

static enum eki_taken take(struct eki_protocol *protocol,
                           const struct eki_message *message, uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    struct eki_balancer *balancer = balancer_of(protocol);
    struct eki_parcel *whole;
    (void)now;
    /* Where ranks differ in their calls, this one may rebalance nothing. */
    if (message->head.signature != engine->signature)
        return EKI_TAKEN;
    if (engine->kind != EKI_PHASE_RESTORE)
        return EKI_REFUSED;
    if (!balancer || balancer->is_done)
        return EKI_TAKEN;
    if (!fits(balancer, &message->head))
        return EKI_REFUSED;
    enum eki_taken taken =
        eki_mail_take(engine, &balancer->mail, message, &whole);
    if (whole) {
        whole->next = NULL;
        *balancer->arrived_end = whole;
        balancer->arrived_end = &whole->next;
    }
    return taken;
}

/* Pass a parcel on that all ranks below get, and take it.  False: no memory. */
static bool take_passed(struct eki_balancer *balancer,
                        const struct eki_parcel *parcel)
{
    bool fits;
    return eki_relay_pass(balancer, parcel, &fits) &&
           (!fits || eki_donor_take(balancer, parcel));
}

/* Parcels that have waited for the target come first now. */
static void take_early(struct eki_balancer *balancer)
{
    while (balancer->early) {
        struct eki_parcel *parcel = balancer->early;
        balancer->early = parcel->next;
        parcel->next = balancer->arrived;
        if (!balancer->arrived)
            balancer->arrived_end = &parcel->next;
        balancer->arrived = parcel;
    }
}

/* What is for this rank alone; false: no memory. */
static bool take_mine(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    switch (parcel->what) {
    case EKI_PARCEL_OFFER:
    case EKI_PARCEL_OPENED:
    case EKI_PARCEL_GIVEN:
        return eki_leader_take(balancer, parcel);
    case EKI_PARCEL_LEFT:
        return eki_share_take(balancer, parcel);
    default:
        return eki_donor_take(balancer, parcel);
    }
}

/* What goes over a tree, or straight to this rank; *KEPT: it is owned from now
 * on. */
static bool take_relayed(struct eki_balancer *balancer,
                         struct eki_parcel *parcel, bool *kept)
{
    switch (parcel->what) {
    case EKI_PARCEL_TOTALS:
    case EKI_PARCEL_RESULT:
        return eki_root_take(balancer, parcel);
    case EKI_PARCEL_TARGET:
    case EKI_PARCEL_OPEN:
    case EKI_PARCEL_OVER:
        return take_passed(balancer, parcel);
    case EKI_PARCEL_PLAN:
    case EKI_PARCEL_GIVEN:
        return eki_relay_split(balancer, parcel);
    case EKI_PARCEL_UP:
    case EKI_PARCEL_DOWN:
        return eki_vertices_take(balancer, parcel, kept);
    case EKI_PARCEL_FETCH:
        return eki_donor_take(balancer, parcel);
    default:
        return eki_relay_gather(balancer, parcel, kept);
    }
}

/* What this rank tells itself.  A parcel of joined parts was counted as they
 * came, one that is to be split as the items that it places. */
static bool is_own(const struct eki_balancer *balancer,
                   const struct eki_parcel *parcel)
{
    return parcel->rank == balancer->engine->topology->rank &&
           !parcel->is_mine && parcel->what != EKI_PARCEL_PLAN &&
           parcel->what != EKI_PARCEL_GIVEN;
}

/* False: no memory. */
static bool take_parcel(struct eki_balancer *balancer,
                        struct eki_parcel *parcel)
{
    bool had_target = balancer->donor.has_target, kept = false;
    if (!had_target &&
        (parcel->what == EKI_PARCEL_OFFER || parcel->what == EKI_PARCEL_UP)) {
        parcel->next = balancer->early;
        balancer->early = parcel;
        return true;
    }
    if (is_own(balancer, parcel))
        balancer->own.bytes += parcel->bytes;
    bool done = parcel->is_mine ? take_mine(balancer, parcel)
                                : take_relayed(balancer, parcel, &kept);
    if (!kept)
        eki_free(parcel);
    if (!had_target && balancer->donor.has_target)
        take_early(balancer);
    return done;
}

/* The next whole parcel, from this rank or another; NULL: none. */
static struct eki_parcel *next_parcel(struct eki_balancer *balancer)
{
    struct eki_parcel *parcel = balancer->arrived;
    if (!parcel)
        return eki_mail_post(balancer->engine, &balancer->mail);
    balancer->arrived = parcel->next;
    if (!balancer->arrived)
        balancer->arrived_end = &balancer->arrived;
    return parcel;
}

/* Whether this rank knows where its tasks go, and has passed on all that other
 * ranks wait for. */
static bool is_decided(const struct eki_balancer *balancer)
{
    return balancer->donor.is_over && balancer->donor.open == 0 &&
           balancer->vertices.untold == 0 && eki_relay_is_done(balancer) &&
           !balancer->mail.out;
}

static void step(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    struct eki_balancer *balancer = balancer_of(protocol);
    struct eki_parcel *parcel;
    (void)now;
    if (!balancer || balancer->is_done)
        return;
    while (!eki_is_stopped(engine) &&
           (parcel = next_parcel(balancer)) != NULL) {
        if (!take_parcel(balancer, parcel))
            give_up(balancer);
    }
    /* The end of a stopped phase waits for nobody: tasks that have not moved
     * stay. */
    bool is_stopped = eki_is_stopped(engine);
    if (!is_stopped && !is_decided(balancer))
        return;
    if (!is_stopped && !eki_donor_move(balancer))
        give_up(balancer);
    end(balancer);
}

static void destroy(struct eki_protocol *protocol)
{
    struct eki_balancer *balancer = balancer_of(protocol);
    if (balancer)
        free_parts(balancer);
    eki_free(balancer);
    eki_free(protocol);
}

static const struct eki_verb verbs[] = {{.name = "parcel", .must_fit = true}};

const struct eki_protocol_ops eki_rebalance_ops = {
    .name = "rebalance",
    .channel = EKI_CHANNEL_REBALANCE,
    .verbs = verbs,
    .verb_count = sizeof verbs / sizeof *verbs,
    .destroy = destroy,
    .enter = enter,
    .take = take,
    .step = step};

ek_status eki_rebalance_add(struct eki_engine *engine)
{
    struct rebalance *rebalance = eki_alloc(1, sizeof *rebalance);
    if (!rebalance)
        return eki_error(EK_ERR_NOMEM, "no memory to rebalance");
    rebalance->protocol.ops = &eki_rebalance_ops;
    eki_engine_add(engine, &rebalance->protocol);
    return EK_OK;
}

static struct rebalance *rebalance_of(const struct eki_engine *engine)
{
    return (struct rebalance *)eki_engine_protocol(engine, &eki_rebalance_ops);
}

/* Largest load / mean load - 1 in the last iteration, as its end has told. */
static double imbalance_of(const struct eki_engine *engine)
{
    const struct eki_load *load = &engine->node->load;
    return load->work_ns == 0
               ? 0
               : (double)load->most_ns * engine->topology->workers /
                         (double)load->work_ns -
                     1;
}

bool eki_rebalance_is_calm(const struct eki_engine *engine)
{
    const struct eki_balancer *balancer = rebalance_of(engine)->balancer;
    return !engine->alone && balancer &&
           imbalance_of(engine) < balancer->imbalance + UNREST;
}

/* What the iteration came to on this rank; after a restore, nothing. */
static void note_lap(struct eki_balancer *balancer)
{
    const struct eki_engine *engine = balancer->engine;
    const struct eki_scheme *scheme = engine->scheme;
    struct eki_lap_told *lap = &balancer->lap;
    uint64_t done = engine->entered_ns;
    *lap = (struct eki_lap_told){0};
    balancer->imbalance = imbalance_of(engine);
    if (engine->kind != EKI_PHASE_PROCESS || !scheme)
        return;
    balancer->was_quiet = !scheme->victims && !scheme->elsewhere;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct eki_counts *counts = &engine->workers[here]->counts;
        done = counts->done_ns > done ? counts->done_ns : done;
        lap->work += (eki_ns)counts->work_ns;
        lap->spawned += counts->spawned;
        lap->cancelled += counts->cancelled;
    }
    lap->wall = (eki_ns)(done - engine->entered_ns);
}

ek_status eki_rebalance_prepare(struct eki_engine *engine)
{
    struct rebalance *rebalance = rebalance_of(engine);
    struct eki_balancer *balancer = rebalance->balancer;
    if (balancer) {
        note_lap(balancer);
        return EK_OK;
    }
    balancer = eki_alloc(1, sizeof *balancer);
    if (!balancer)
        return eki_error(EK_ERR_NOMEM, "no memory to rebalance");
    balancer->engine = engine;
    eki_mail_open(&balancer->mail);
    balancer->arrived_end = &balancer->arrived;
    balancer->is_done = true;
    rebalance->balancer = balancer;
    note_lap(balancer);
    return EK_OK;
}

int64_t eki_rebalance_sent(const struct eki_engine *engine)
{
    const struct rebalance *rebalance = rebalance_of(engine);
    return rebalance->balancer ? rebalance->balancer->sent : 0;
}

struct eki_rebalance_own eki_rebalance_own(const struct eki_engine *engine)
{
    const struct rebalance *rebalance = rebalance_of(engine);
    return rebalance->balancer ? rebalance->balancer->own
                               : (struct eki_rebalance_own){0};
}

const struct eki_balance_report *
eki_rebalance_report(const struct eki_engine *engine)
{
    static const struct eki_balance_report none;
    const struct rebalance *rebalance = rebalance_of(engine);
    return rebalance->balancer ? &rebalance->balancer->report : &none;
}
