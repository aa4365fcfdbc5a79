/* SPDX-License-Identifier: BSD-3-Clause */
/* A rebalance from beginning to end, as far as it is the same for all ranks. */
#include "engine/balancer.h"

struct eki_balance_wish eki_balance_wish_of(ek_restore_policy policy,
                                            int workers, int64_t group,
                                            int64_t ppm)
{
    enum {
        GROUP = 256,
        BRANCHING = 3,
        MANY = 1024 /* workers, for one rank to decide for */
    };
    bool is_tree = policy == EK_RESTORE_HIERARCHICAL_HPDC12;
    double eps = (double)ppm * 1e-6;
    struct eki_balance_wish wish = {.eps = eps > 0 ? eps : -1};
    if (policy == EK_RESTORE_HIERARCHICAL ||
        (policy == EK_RESTORE_AUTO && workers > MANY))
        wish.group = group > 0 ? (int32_t)group : GROUP;
    if (!is_tree && policy != EK_RESTORE_CENTRALIZED_HPDC12)
        return wish;
    /* The paper's C and D: 1.003, but its figures come of 1.0003 in one. */
    double constant = 1 + (eps > 0 ? eps : is_tree ? 0.003 : 0.0003);
    wish.is_printed = true;
    wish.printed = (struct eki_hpdc12){
        constant, constant, group > 1 ? (int32_t)group : BRANCHING, is_tree};
    return wish;
}

static void free_parts(struct eki_engine *engine)
{
    struct eki_balancer *balancer = engine->balancer;
    eki_mail_close(&balancer->mail);
    while (balancer->arrived) {
        struct eki_parcel *next = balancer->arrived->next;
        eki_free(balancer->arrived);
        balancer->arrived = next;
    }
    balancer->arrived_end = &balancer->arrived;
    eki_donor_free(&balancer->donor);
    for (int i = 0; i < balancer->leader_count; i++)
        eki_leader_free(&balancer->leaders[i]);
    eki_free(balancer->leaders);
    balancer->leaders = NULL;
    balancer->leader_count = 0;
    eki_root_free(engine);
}

static bool open_parts(struct eki_engine *engine)
{
    return eki_leader_open(engine) && eki_root_open(engine) &&
           eki_donor_begin(engine);
}

ek_status eki_engine_rebalance_prepare(struct eki_engine *engine)
{
    if (engine->balancer)
        return EK_OK;
    engine->balancer = eki_alloc(1, sizeof *engine->balancer);
    if (!engine->balancer)
        return eki_error(EK_ERR_NOMEM, "no memory to rebalance");
    eki_mail_open(&engine->balancer->mail);
    engine->balancer->arrived_end = &engine->balancer->arrived;
    engine->balancer->is_done = true;
    return EK_OK;
}

void eki_balancer_destroy(struct eki_engine *engine)
{
    if (!engine->balancer)
        return;
    free_parts(engine);
    eki_free(engine->balancer);
    engine->balancer = NULL;
}

static void give_up(struct eki_engine *engine)
{
    eki_set_rank_error(engine, EK_ERR_NOMEM, "no memory to rebalance");
}

void eki_balancer_enter(struct eki_engine *engine,
                        const struct eki_balance_wish *wish)
{
    struct eki_balancer *balancer = engine->balancer;
    int workers = engine->topology->workers;
    /* Not prepared: the phase is an error already. */
    if (!balancer)
        return;
    balancer->wish = *wish;
    balancer->group_size =
        wish->group > 0 && wish->group < workers ? wish->group : workers;
    balancer->groups =
        (workers + balancer->group_size - 1) / balancer->group_size;
    balancer->is_done = false;
    balancer->report = (struct eki_balance_report){0};
    balancer->sent = 0;
    if (!open_parts(engine))
        give_up(engine);
}

enum eki_taken eki_balancer_take(struct eki_engine *engine,
                                 const struct eki_message *message)
{
    struct eki_balancer *balancer = engine->balancer;
    struct eki_parcel *whole;
    /* Where ranks differ, this one may do something else. */
    if (!balancer || balancer->is_done)
        return EKI_TAKEN;
    enum eki_taken taken = eki_mail_take(&balancer->mail, message, &whole);
    if (whole) {
        whole->next = NULL;
        *balancer->arrived_end = whole;
        balancer->arrived_end = &whole->next;
    }
    return taken;
}

/* False: no memory. */
static bool take_parcel(struct eki_engine *engine, struct eki_parcel *parcel)
{
    bool kept = false, done;
    switch (parcel->what) {
    case EKI_PARCEL_TOTALS:
    case EKI_PARCEL_LEFT:
    case EKI_PARCEL_RESULT:
        done = eki_root_take(engine, parcel, &kept);
        break;
    case EKI_PARCEL_OFFER:
    case EKI_PARCEL_GIVEN:
    case EKI_PARCEL_OPENED:
        done = eki_leader_take(engine, parcel, &kept);
        break;
    default:
        done = eki_donor_take(engine, parcel);
    }
    if (!kept)
        eki_free(parcel);
    return done;
}

/* The next whole parcel, from this rank or another; NULL: none. */
static struct eki_parcel *next_parcel(struct eki_engine *engine)
{
    struct eki_balancer *balancer = engine->balancer;
    struct eki_parcel *parcel = balancer->arrived;
    if (!parcel)
        return eki_mail_post(engine, &balancer->mail);
    balancer->arrived = parcel->next;
    if (!balancer->arrived)
        balancer->arrived_end = &balancer->arrived;
    return parcel;
}

bool eki_balancer_step(struct eki_engine *engine)
{
    struct eki_balancer *balancer = engine->balancer;
    if (!balancer || balancer->is_done)
        return true;
    for (struct eki_parcel *parcel;
         !eki_is_stopped(engine) && (parcel = next_parcel(engine)) != NULL;) {
        if (!take_parcel(engine, parcel))
            give_up(engine);
    }
    const struct eki_donor *donor = &balancer->donor;
    bool is_stopped = eki_is_stopped(engine);
    if (!is_stopped && (!donor->is_over || donor->open > 0))
        return false;
    /* What is on its way out now others wait for. */
    if (!is_stopped && balancer->mail.out)
        return false;
    if (!is_stopped && !eki_donor_move(engine))
        give_up(engine);
    free_parts(engine);
    balancer->is_done = true;
    return true;
}

bool eki_balancer_is_open(const struct eki_engine *engine)
{
    return engine->balancer && !engine->balancer->is_done &&
           !eki_is_broken(engine);
}

int64_t eki_engine_rebalance_sent(const struct eki_engine *engine)
{
    return engine->balancer ? engine->balancer->sent : 0;
}

const struct eki_balance_report *
eki_engine_rebalance_report(const struct eki_engine *engine)
{
    static const struct eki_balance_report none;
    return engine->balancer ? &engine->balancer->report : &none;
}
