/* SPDX-License-Identifier: BSD-3-Clause */
/* A rebalance from beginning to end, as far as it is the same for all ranks. */
#include "rebalance/balancer.h"

/* Beyond this imbalance more than before something has changed. */
#define UNREST 0.1

/* As few tasks, or bytes, as will do. */
static bool shed_few(struct eki_balancer *balancer,
                     const struct eki_donation *from, int32_t *chosen,
                     int64_t *n)
{
    if (from->bytes)
        return eki_balance_shed_light(from, chosen, n,
                                      &balancer->wish.items->fewest_bytes);
    *n = eki_balance_shed(from->ns, from->count, from->load, from->target,
                          chosen);
    return true;
}

static void close_groups(struct eki_balancer *balancer)
{
    eki_leaders_close(balancer);
    eki_relay_close_groups(&balancer->relays);
}

bool eki_leaders_begin(struct eki_balancer *balancer)
{
    close_groups(balancer);
    return eki_relay_open_groups(balancer) && eki_leaders_open(balancer) &&
           eki_offers_send(balancer);
}

const struct eki_way eki_leaders_ways[EKI_PARCEL_OVER + 1] = {
    [EKI_PARCEL_TOTALS] = {eki_root_take_totals, NULL, 0, 0},
    [EKI_PARCEL_TARGET] = {eki_relay_pass, eki_donor_take_target, 0,
                           sizeof(struct eki_target_told)},
    [EKI_PARCEL_OFFER] = {eki_relay_gather, eki_leader_take_offers,
                          EKI_OF_GROUP | EKI_IS_LATE, 0},
    [EKI_PARCEL_LEFT] = {eki_relay_gather, eki_share_take, 0, 0},
    [EKI_PARCEL_GIVEN] = {eki_relay_split, eki_leader_take_given, 0, 0},
    [EKI_PARCEL_OPEN] = {eki_relay_pass, eki_offer_take_open, EKI_OF_GROUP, 0},
    [EKI_PARCEL_OPENED] = {eki_relay_gather, eki_leader_take_opened,
                           EKI_OF_GROUP, 0},
    [EKI_PARCEL_PLAN] = {eki_relay_split, eki_donor_take_plans, EKI_OF_GROUP,
                         0},
    [EKI_PARCEL_RESULT] = {eki_root_take_result, NULL, 0,
                           sizeof(struct eki_result_told)},
    [EKI_PARCEL_OVER] = {eki_relay_pass, eki_donor_take_over, 0,
                         sizeof(struct eki_result_told)}};

static const struct eki_algorithm ours = {.ways = eki_leaders_ways,
                                          .aim = eki_root_aim,
                                          .shed = shed_few,
                                          .begin = eki_leaders_begin,
                                          .settle = eki_leader_settle,
                                          .is_done = eki_relay_is_done,
                                          .least_gain = 1,
                                          .remembers = true};

static struct eki_balancer *balancer_of(const struct eki_protocol *protocol)
{
    return (struct eki_balancer *)protocol;
}

static void free_mail(struct eki_balancer *balancer)
{
    eki_mail_close(&balancer->mail);
    eki_parcels_free(&balancer->arrived);
    close_groups(balancer);
    eki_parcels_free(&balancer->relays.all.parts);
    eki_donor_free(&balancer->donor);
    if (balancer->algorithm && balancer->algorithm->close)
        balancer->algorithm->close(balancer);
    eki_root_free(balancer);
}

static void give_up(struct eki_balancer *balancer)
{
    eki_engine_fail(balancer->engine, EK_ERR_NOMEM, "no memory to rebalance");
}

/* No task leaves this rank any more, so its workers may say that they are idle.
 */
static void end(struct eki_balancer *balancer)
{
    free_mail(balancer);
    balancer->is_done = true;
    eki_engine_let_go(balancer->engine);
}

static double speed_of(const struct eki_balancer *balancer)
{
    double speed = balancer->engine->moves.speed;
    bool counts = balancer->algorithm->remembers && !balancer->wish.items;
    return counts && speed > 0 ? speed : 1;
}

static bool enter_rebalance(struct eki_protocol *protocol,
                            const struct eki_phase *phase, uint64_t now)
{
    struct eki_balancer *balancer = balancer_of(protocol);
    const struct eki_topology *topology = balancer->topology;
    const struct eki_balance_wish *wish = phase->balance;
    int workers = topology->workers;
    (void)now;
    /* A rank that could not prepare has made the phase an error already. */
    if (!wish || !balancer->is_prepared)
        return false;
    balancer->wish = *wish;
    balancer->algorithm = wish->algorithm ? wish->algorithm : &ours;
    balancer->group_size =
        wish->group > 0 && wish->group < workers ? wish->group : workers;
    balancer->groups =
        (workers + balancer->group_size - 1) / balancer->group_size;
    balancer->relays.all =
        (struct eki_relay){.rank = topology->rank, .last = topology->size - 1};
    balancer->has_target = balancer->is_over = balancer->is_done = false;
    balancer->report =
        (struct eki_balance_report){.is_grouped = wish->group > 0};
    balancer->own.sent = 0;
    /* Algorithms as printed know of no speeds, nor do given items. */
    balancer->donor.share = speed_of(balancer);
    eki_engine_hold(protocol->engine, UINT64_MAX);
    if (!eki_root_open(balancer) || !eki_donor_begin(balancer))
        give_up(balancer);
    return false;
}

/* How many groups, vertices or workers the group of a parcel is one of. */
static int groups_of(const struct eki_balancer *balancer, int what)
{
    const struct eki_algorithm *algorithm = balancer->algorithm;
    if (!eki_way_of(balancer, what)->pass)
        return 0;
    return algorithm->groups ? algorithm->groups(balancer, what)
                             : balancer->groups;
}

/* What all parcels have; what is in them is for who takes them. */
static bool fits(const struct eki_balancer *balancer,
                 const struct eki_head *head)
{
    struct eki_decode decode = eki_decode_of(balancer->engine, head);
    int what = head->detail;
    if (!eki_fits(&decode, "what", what, EKI_PARCEL_TOTALS, EKI_PARCEL_OVER) ||
        !eki_fits(&decode, "group", head->worker, 0,
                  groups_of(balancer, what) - 1))
        return false;
    int64_t bytes = (int64_t)eki_way_of(balancer, what)->bytes;
    if (what == EKI_PARCEL_TARGET)
        bytes = (int64_t)eki_target_bytes(balancer);
    decode.kind = eki_parcel_name(what);
    return eki_fits(&decode, "bytes of the parcel", head->count, bytes,
                    bytes ? bytes : INT64_MAX / 2);
}

static enum eki_taken take_rebalance(struct eki_protocol *protocol,
                                     const struct eki_message *message,
                                     uint64_t now)
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
    if (balancer->is_done)
        return EKI_TAKEN;
    if (!fits(balancer, &message->head))
        return EKI_REFUSED;
    enum eki_taken taken =
        eki_mail_take(engine, &balancer->mail, message, &whole);
    if (whole)
        eki_parcels_push(&balancer->arrived, whole);
    return taken;
}

/* What this rank tells itself.  A parcel of joined parts was counted as they
 * came, one that is to be split as the items that it places. */
static bool is_own(const struct eki_balancer *balancer,
                   const struct eki_parcel *parcel)
{
    return parcel->rank == balancer->topology->rank && !parcel->is_mine &&
           eki_way_of(balancer, parcel->what)->pass != eki_relay_split;
}

/* False: no memory. */
static bool take_parcel(struct eki_balancer *balancer,
                        struct eki_parcel *parcel, uint64_t now)
{
    const struct eki_way *way = eki_way_of(balancer, parcel->what);
    eki_server_track(balancer->engine, EKI_EVENT_STAGE, now,
                     (uint64_t)parcel->what);
    eki_server_track(balancer->engine, EKI_EVENT_PARCEL, now,
                     eki_event_pair((uint64_t)parcel->bytes, parcel->rank));
    if (is_own(balancer, parcel))
        balancer->own.bytes += parcel->bytes;
    parcel->decode = (struct eki_decode){
        balancer->engine, eki_parcel_name(parcel->what), parcel->rank};
    balancer->taken = parcel;
    bool done = (parcel->is_mine ? way->take : way->pass)(balancer, parcel);
    eki_free(balancer->taken);
    return done;
}

/* Whether this rank knows where its tasks go, and has passed on where those of
 * others do. */
static bool is_decided(const struct eki_balancer *balancer)
{
    return balancer->donor.open == 0 && balancer->algorithm->is_done(balancer);
}

/* Whether something comes before a parcel: the target, or all plans before a
 * second target. */
static bool waits(const struct eki_balancer *balancer,
                  const struct eki_parcel *parcel)
{
    if (!balancer->has_target)
        return eki_way_of(balancer, parcel->what)->flags & EKI_IS_LATE;
    return parcel->what == EKI_PARCEL_TARGET && !is_decided(balancer);
}

/* The next whole parcel, of another rank or of this one, that does not wait;
 * NULL: none. */
static struct eki_parcel *next_parcel(struct eki_balancer *balancer)
{
    struct eki_parcel *parcel = balancer->arrived.first, *before = NULL;
    while (parcel && waits(balancer, parcel)) {
        before = parcel;
        parcel = parcel->next;
    }
    if (parcel)
        return eki_parcels_pop(&balancer->arrived, before);
    while ((parcel = eki_mail_post(balancer->engine, &balancer->mail)) &&
           waits(balancer, parcel))
        eki_parcels_push(&balancer->arrived, parcel);
    return parcel;
}

static void step_rebalance(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    struct eki_balancer *balancer = balancer_of(protocol);
    struct eki_parcel *parcel;
    if (balancer->is_done)
        return;
    while (!eki_is_stopped(engine) &&
           (parcel = next_parcel(balancer)) != NULL) {
        if (!take_parcel(balancer, parcel, now))
            give_up(balancer);
    }
    /* The end of a stopped phase waits for nobody: tasks that have not moved
     * stay. */
    bool is_stopped = eki_is_stopped(engine);
    if (!is_stopped && (!balancer->is_over || !is_decided(balancer) ||
                        balancer->mail.out.first))
        return;
    if (!is_stopped && !eki_donor_move(balancer))
        give_up(balancer);
    end(balancer);
}

static void destroy_rebalance(struct eki_protocol *protocol)
{
    free_mail(balancer_of(protocol));
    eki_free(protocol);
}

static const struct eki_verb rebalance_verbs[] = {
    {.name = "parcel", .must_fit = true}};

const struct eki_protocol_ops eki_rebalance_ops = {.name = "rebalance",
                                                   .channel =
                                                       EKI_CHANNEL_REBALANCE,
                                                   EKI_VERBS(rebalance_verbs),
                                                   .destroy = destroy_rebalance,
                                                   .enter = enter_rebalance,
                                                   .take = take_rebalance,
                                                   .step = step_rebalance};

ek_status eki_rebalance_add(struct eki_engine *engine)
{
    struct eki_balancer *balancer = eki_alloc(1, sizeof *balancer);
    if (!balancer)
        return eki_error(EK_ERR_NOMEM, "no memory to rebalance");
    balancer->protocol.ops = &eki_rebalance_ops;
    balancer->engine = engine;
    balancer->topology = engine->topology;
    balancer->is_done = true;
    eki_engine_add(engine, &balancer->protocol);
    return EK_OK;
}

static struct eki_balancer *of_engine(const struct eki_engine *engine)
{
    return balancer_of(eki_engine_protocol(engine, &eki_rebalance_ops));
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
    const struct eki_balancer *balancer = of_engine(engine);
    return !engine->alone && balancer->is_prepared &&
           imbalance_of(engine) < balancer->past.last.imbalance + UNREST;
}

void eki_rebalance_prepare(struct eki_engine *engine)
{
    struct eki_balancer *balancer = of_engine(engine);
    const struct eki_scheme *scheme = engine->scheme;
    struct eki_lap_told *lap = &balancer->past.lap;
    uint64_t done = engine->entered_ns;
    *lap = (struct eki_lap_told){0};
    balancer->is_prepared = true;
    balancer->past.last.imbalance = imbalance_of(engine);
    if (engine->kind != EKI_PHASE_PROCESS || !scheme)
        return;
    balancer->past.was_quiet = !scheme->victims && !scheme->elsewhere;
    eki_speed_learn(balancer);
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct eki_counts *counts = &engine->workers[here]->counts;
        done = counts->done_ns > done ? counts->done_ns : done;
        lap->work += (eki_ns)counts->work_ns;
        lap->spawned += counts->spawned;
        lap->cancelled += counts->cancelled;
    }
    lap->wall = (eki_ns)(done - engine->entered_ns);
}

struct eki_remembered eki_rebalance_remembered(const struct eki_engine *engine)
{
    return of_engine(engine)->past.last;
}

void eki_rebalance_remember(struct eki_engine *engine,
                            const struct eki_remembered *remembered)
{
    eki_rebalance_prepare(engine);
    of_engine(engine)->past.last = *remembered;
}

struct eki_rebalance_own eki_rebalance_own(const struct eki_engine *engine)
{
    return of_engine(engine)->own;
}

const struct eki_balance_report *
eki_rebalance_report(const struct eki_engine *engine)
{
    return &of_engine(engine)->report;
}
