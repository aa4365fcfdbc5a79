/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a thread without work waits: spin, yield, sleep; and how often a busy one
 * steps its server.  team does so, and sim at the moments at which team would.
 */
#ifndef EKI_BASE_WAIT_H
#define EKI_BASE_WAIT_H

#include "base/base.h"

/* Zero: something has just moved. */
struct eki_waiter {
    uint64_t since; /* when waiting began; 0: not waiting */
    uint64_t sleep_ns;
    int yields;
};

/* Spin about this long, then yield so often, then sleep from ... to ..., or a
 * hundredth of the last iteration where every thread has a core: a
 * timer wake-up costs 25-60 us of a core, a yield less than one. */
#define EKI_SPIN_NS 2000
#define EKI_YIELDS 40
#define EKI_SLEEP_FIRST_NS 50000
#define EKI_SLEEP_MOST_NS 1000000
/* Who has a core of its own and awaits an answer, or tiles, does not sleep
 * before: an answer comes with the next poll or, where all others compute, not
 * for long. */
#define EKI_LINGER_NS 200000
#define EKI_LINGER_TILES_NS 1000000

static inline void eki_wait_reset(struct eki_waiter *waiter)
{
    waiter->since = waiter->sleep_ns = 0;
    waiter->yields = 0;
}

/* Wait a little; CROWDED: somebody else needs the core; do not sleep longer
 * than MOST_NS, 0: not at all. */
static inline void eki_wait(struct eki_waiter *waiter, bool crowded,
                            uint64_t most_ns, uint64_t now)
{
    if (waiter->since == 0)
        waiter->since = now;
    if (!crowded && now - waiter->since < EKI_SPIN_NS) {
        eki_pause();
        return;
    }
    if (waiter->yields < EKI_YIELDS || most_ns == 0) {
        waiter->yields += waiter->yields < EKI_YIELDS;
        eki_yield();
        return;
    }
    waiter->sleep_ns =
        waiter->sleep_ns == 0 ? EKI_SLEEP_FIRST_NS : 2 * waiter->sleep_ns;
    if (waiter->sleep_ns > most_ns)
        waiter->sleep_ns = most_ns;
    eki_sleep_ns(waiter->sleep_ns);
}

/* The shortest time between two polls of a busy thread, and how many polls that
 * find nothing it is at least: a task that asks all the time pays a twentieth.
 */
#define EKI_POLL_LEAST_NS 2000
#define EKI_POLLS_LEAST 20

/* The least and the most between two polls of a busy thread, which take POLL_NS
 * each when they find nothing. */
struct eki_period {
    uint64_t least_ns, most_ns;
};

static inline struct eki_period eki_period_of(uint64_t poll_ns,
                                              uint64_t most_ns)
{
    uint64_t least = EKI_POLLS_LEAST * poll_ns;
    if (least < EKI_POLL_LEAST_NS)
        least = EKI_POLL_LEAST_NS;
    return (struct eki_period){least < most_ns ? least : most_ns, most_ns};
}

/* The time to the next poll, NS after the last one: half of it where the poll
 * HAS_FOUND something, because more may follow, else twice.  Beyond one in
 * MOST_NS, polls find nothing at most as often as they find something. */
static inline uint64_t eki_period_next(const struct eki_period *period,
                                       uint64_t ns, bool has_found)
{
    ns = has_found ? ns / 2 : 2 * ns;
    if (ns < period->least_ns)
        return period->least_ns;
    return ns < period->most_ns ? ns : period->most_ns;
}

#endif
