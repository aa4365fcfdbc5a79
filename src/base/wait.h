/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a thread without work waits: spin, yield, sleep.  team waits so, and sim
 * looks at the moments at which team would.
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

#endif
