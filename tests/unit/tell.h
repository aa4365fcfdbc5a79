/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank in a rebalance, what the other one tells it, and what comes of it. */
#ifndef TELL_H
#define TELL_H

#include "lone.h"

#include "printed/printed.h"
#include "rebalance/balancer.h"

enum {
    TASK_NS = 1 << 20 /* the middle of its bin is the nearest to it */
};

static inline void seed(struct lone *lone, int here, int count, uint64_t first)
{
    for (int i = 0; i < count; i++)
        lone_seed_at(lone, here, first + (uint64_t)i)->bin =
            eki_bin_of(TASK_NS);
}

static inline eki_ns task_ns(void)
{
    return (eki_ns)eki_bin_ns(eki_bin_of(TASK_NS));
}

static inline void enter(struct lone *lone, const struct eki_balance_wish *wish)
{
    const struct eki_phase phase = {
        .kind = EKI_PHASE_RESTORE, .signature = 1, .balance = wish};
    lone_enter_phase(lone, &phase);
}

/* Of two workers. */
static inline struct eki_balance_wish wish_of(ek_restore_policy policy,
                                              int64_t group)
{
    struct eki_options options = eki_option_defaults;
    options.balance_group = group;
    return eki_balance_wish_of(policy, 2, &options);
}

/* Rank of two with a worker each, which has so many tasks. */
static inline void begin_as(struct lone *lone, int rank, int tasks,
                            ek_restore_policy policy)
{
    struct eki_balance_wish wish = wish_of(policy, 1);
    lone_start(lone, rank);
    eki_rebalance_prepare(lone->engine);
    seed(lone, 0, tasks, 10);
    enter(lone, &wish);
}

/* A parcel of one piece from the other rank, of a group, vertex or worker. */
static inline void tell_of(struct lone *lone, int what, int group,
                           const void *data, size_t bytes)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_PARCEL);
    message->head.detail = what;
    message->head.worker = group;
    message->head.count = message->head.bytes = (int64_t)bytes;
    if (bytes)
        memcpy(message->body, data, bytes);
    lone_serve(lone);
}

static inline void tell(struct lone *lone, int what, const void *data,
                        size_t bytes)
{
    tell_of(lone, what, 0, data, bytes);
}

/* Rank 0 aims at loads of TASKS tasks, of groups or of all as one. */
static inline void tell_target_for(struct lone *lone, int tasks,
                                   bool is_balanced, bool is_whole)
{
    struct {
        struct eki_target_told told;
        double hint_ns;
    } target = {.told = {.target = tasks * task_ns(),
                         .is_balanced = is_balanced,
                         .is_whole = is_whole,
                         .totals = {.total = 4 * task_ns(),
                                    .largest_load = 3 * task_ns(),
                                    .largest_task = task_ns(),
                                    .workers = 2,
                                    .tasks = 4}}};
    tell(lone, EKI_PARCEL_TARGET, &target, sizeof target);
}

static inline void tell_target(struct lone *lone, int tasks, bool is_balanced)
{
    tell_target_for(lone, tasks, is_balanced, false);
}

/* Rank 1 is twice as fast as rank 0, for which COUNT tasks would take a
 * duration each. */
static inline void tell_totals_of_fast(struct lone *lone, int count)
{
    struct {
        struct eki_totals_told told;
        struct eki_known known[1];
    } totals = {.told = {.totals = {.total = count * task_ns(),
                                    .largest_load = count * task_ns() / 2,
                                    .largest_task = task_ns(),
                                    .workers = 1,
                                    .tasks = count},
                         .speeds = {EKI_SPEED_UNIT, EKI_SPEED_UNIT}},
                .known = {{count, count * task_ns(), 0, 0, 0}}};
    tell(lone, EKI_PARCEL_TOTALS, &totals, sizeof totals);
}

/* What rank 1 has, COUNT tasks of a duration, and what LAP it has seen. */
static inline void tell_all(struct lone *lone, int count, eki_ns ns,
                            const struct eki_lap_told *lap)
{
    struct {
        struct eki_totals_told told;
        struct eki_known known[1];
    } totals = {.told = {.totals = {.total = count * ns,
                                    .largest_load = count * ns,
                                    .largest_task = ns,
                                    .workers = 1,
                                    .tasks = count},
                         .lap = *lap},
                .known = {{count, count * ns, 0, 0, 0}}};
    tell(lone, EKI_PARCEL_TOTALS, &totals, sizeof totals);
}

static inline void tell_totals_of(struct lone *lone, int count, eki_ns ns)
{
    tell_all(lone, count, ns, &(struct eki_lap_told){0});
}

static inline void tell_totals(struct lone *lone, int count)
{
    tell_totals_of(lone, count, task_ns());
}

static inline struct eki_balance_wish centralized(void)
{
    return wish_of(EK_RESTORE_CENTRALIZED, 0);
}

static inline int64_t tasks_of(const struct lone *lone, int here)
{
    return eki_local_seed_tasks(&lone->engine->workers[here]->local);
}

static inline void check_report(const struct lone *lone, double before,
                                double after, int64_t moved)
{
    const struct eki_balance_report *report =
        eki_rebalance_report(lone->engine);
    CHECK_NEAR(report->before, before, 1e-9);
    CHECK_NEAR(report->after, after, 1e-9);
    CHECK_NEAR(report->bound, 0, 1e-9);
    CHECK_EQ_INT(report->moved, moved);
    CHECK_EQ_INT(report->fewest, moved);
    CHECK((report->hash != 0) == (moved != 0));
}

#endif
