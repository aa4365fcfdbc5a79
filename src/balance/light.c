/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a donor sheds where moving costs bytes: a knapsack that is to be filled,
 * with as few bytes as possible.
 *
 * Paper: Csirik, Frenk, Labbe, Zhang, Acta Cybernetica 10 (1991), "Heuristics
 * for the 0-1 min-knapsack problem": in the order of duration per byte take
 * what does not cover the rest, and of all that would, the best: at most twice
 * the fewest bytes.
 */
#include "balance/balance.h"

#include <math.h>
#include <string.h>

/* A shedding that is being chosen. */
struct light {
    const eki_ns *ns;
    const size_t *bytes;
    struct eki_item *order; /* indices by duration per byte, largest first */
    int64_t count;          /* of the order: tasks that take time */
    eki_ns excess;
};

/* Duration per byte as a whole number of the same order: the bits of a double
 * that is not negative.  Without bytes it is infinite. */
static eki_ns worth(eki_ns ns, size_t bytes)
{
    double per_byte = bytes > 0 ? (double)ns / (double)bytes : HUGE_VAL;
    eki_ns bits;
    _Static_assert(sizeof bits == sizeof per_byte, "bits of a double");
    memcpy(&bits, &per_byte, sizeof bits);
    return bits;
}

/* False: no memory. */
static bool order_tasks(struct light *light, int64_t count)
{
    light->order = eki_alloc((size_t)count, sizeof *light->order);
    if (!light->order)
        return false;
    for (int64_t i = 0; i < count && light->ns[i] > 0; i++)
        light->order[light->count++] = (struct eki_item){
            worth(light->ns[i], light->bytes[i]), 0, (int32_t)i};
    return eki_items_sort(light->order, light->count);
}

/* No choice has fewer bytes: the last task may be shed in part. */
static size_t least_bytes(const struct light *light)
{
    eki_ns rest = light->excess;
    double bytes = 0;
    for (int64_t i = 0; i < light->count && rest > 0; i++) {
        int32_t task = light->order[i].index;
        eki_ns ns = light->ns[task];
        double part = rest < ns ? (double)rest / (double)ns : 1;
        bytes += part * (double)light->bytes[task];
        rest -= ns;
    }
    return (size_t)bytes;
}

/* Mark in CHOSEN tasks that cover the excess: of those of the order that do not
 * cover the rest the first so many, and one that does. */
static void choose_light(const struct light *light, bool *chosen)
{
    eki_ns rest = light->excess, over = 0;
    size_t bytes = 0, fewest = SIZE_MAX;
    int64_t last = -1;
    for (int64_t i = 0; i < light->count; i++) {
        int32_t task = light->order[i].index;
        eki_ns ns = light->ns[task];
        size_t all = bytes + light->bytes[task];
        if (ns >= rest) {
            if (all < fewest || (all == fewest && ns - rest <= over)) {
                fewest = all;
                over = ns - rest;
                last = i;
            }
        } else if (all < fewest) {
            rest -= ns;
            bytes = all;
            chosen[task] = true;
        } else {
            break;
        }
    }
    if (last < 0)
        return;
    for (int64_t i = last; i < light->count; i++)
        chosen[light->order[i].index] = i == last;
}

/* What is not needed any more stays, the least worth first. */
static void keep_spare(const struct light *light, bool *chosen)
{
    eki_ns spare = -light->excess;
    for (int64_t i = 0; i < light->count; i++) {
        int32_t task = light->order[i].index;
        spare += chosen[task] ? light->ns[task] : 0;
    }
    for (int64_t i = light->count; i-- > 0 && spare > 0;) {
        int32_t task = light->order[i].index;
        if (chosen[task] && light->ns[task] <= spare) {
            chosen[task] = false;
            spare -= light->ns[task];
        }
    }
}

bool eki_balance_shed_light(const struct eki_donation *donation, int32_t *shed,
                            int64_t *count, size_t *fewest)
{
    struct light light = {.ns = donation->ns,
                          .bytes = donation->bytes,
                          .excess = donation->load - donation->target};
    *count = 0;
    *fewest = 0;
    if (light.excess <= 0)
        return true;
    bool *chosen = eki_alloc((size_t)donation->count, sizeof *chosen);
    bool done = chosen && order_tasks(&light, donation->count);
    if (done) {
        *fewest = least_bytes(&light);
        choose_light(&light, chosen);
        keep_spare(&light, chosen);
        for (int64_t i = 0; i < donation->count; i++) {
            if (chosen[i])
                shed[(*count)++] = (int32_t)i;
        }
    }
    eki_free(light.order);
    eki_free(chosen);
    return done;
}
