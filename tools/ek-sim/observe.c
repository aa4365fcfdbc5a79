/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe.h"

#include "curve.h"
#include "loads.h"

bool observer_open(const struct arguments *arguments, struct observer *observer,
                   struct message *message)
{
    if (arguments->utilization &&
        !(observer->curve = curve_open(arguments->utilization, message)))
        return false;
    return !arguments->loads ||
           (observer->loads = loads_open(arguments->loads, message)) != NULL;
}

bool observer_close(struct observer *observer, struct message *message)
{
    bool is_good = !observer->curve || curve_close(observer->curve, message);
    if (observer->loads)
        is_good &= loads_close(observer->loads, message);
    return is_good;
}

void observe_begin(const struct run *run, const struct eki_sim *sim)
{
    if (run->observer->curve)
        curve_begin(run->observer->curve);
    if (run->observer->loads)
        loads_begin(run->observer->loads, run, sim);
}

void observe_task(const struct run *run, ptrdiff_t worker, uint64_t begin,
                  uint64_t took, double work)
{
    if (run->observer->curve)
        curve_add(run->observer->curve, begin, begin + took, work);
    if (run->observer->loads)
        loads_add(run->observer->loads, worker, (double)took);
}

void observe_end(const struct run *run, const struct mode *mode, int iteration,
                 uint64_t ns)
{
    if (run->observer->curve)
        curve_end(run->observer->curve, run, mode, iteration, ns);
    if (run->observer->loads)
        loads_end(run->observer->loads, run, mode, iteration);
}
