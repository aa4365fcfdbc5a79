/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said of a decision, computed from where its tasks go and nothing
 * else; and LPT that leaves in place what fits, to compare with.
 *
 * Paper: LPT is from Graham, SIAM J. Appl. Math. 17 (1969).
 */
#include "instances.h"

#include "balance/index_heap.h"
#include "cli/message.h"

#include <stdlib.h>
#include <string.h>

/* Of the COUNT durations NS, longest first: how many it takes to make EXCESS.
 */
static int64_t fewest(const eki_ns *ns, int64_t count, eki_ns excess)
{
    int64_t n = 0;
    for (; excess > 0 && n < count; n++)
        excess -= ns[n];
    return n;
}

static int by_ns(const void *a, const void *b)
{
    const eki_ns *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* Workers [FIRST, END) are a node: what must leave it, at least. */
static int64_t fewest_across(const struct instance *instance, int32_t first,
                             int32_t end, eki_ns target)
{
    const eki_ns *ns = instance->ns + instance->first[first];
    int64_t count = instance->first[end] - instance->first[first];
    eki_ns excess = -target * (end - first);
    for (int64_t i = 0; i < count; i++)
        excess += ns[i];
    if (excess <= 0)
        return 0;
    eki_ns *sorted = allocate(count, sizeof *sorted);
    memcpy(sorted, ns, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_ns);
    int64_t n = fewest(sorted, count, excess);
    free(sorted);
    return n;
}

struct judgement bench_judge(const struct instance *instance, const int32_t *to,
                             eki_ns target)
{
    struct judgement judgement = {0};
    eki_ns *loads = allocate(instance->workers, sizeof *loads);
    memset(loads, 0, (size_t)instance->workers * sizeof *loads);
    for (int32_t w = 0; w < instance->workers; w++) {
        int64_t first = instance->first[w], end = instance->first[w + 1];
        eki_ns load = 0;
        for (int64_t i = first; i < end; i++) {
            load += instance->ns[i];
            loads[to[i]] += instance->ns[i];
            judgement.moved += to[i] != w;
            judgement.across += to[i] / NODE != w / NODE;
        }
        judgement.fewest +=
            fewest(instance->ns + first, end - first, load - target);
    }
    for (int32_t w = 0; w < instance->workers; w++)
        judgement.largest =
            loads[w] > judgement.largest ? loads[w] : judgement.largest;
    for (int32_t w = 0; w < instance->workers; w += NODE) {
        int32_t end =
            w + NODE < instance->workers ? w + NODE : instance->workers;
        judgement.fewest_across += fewest_across(instance, w, end, target);
    }
    free(loads);
    return judgement;
}

/* All tasks, longest first; INDEX: which one of all. */
static struct eki_item *list_tasks(const struct instance *instance)
{
    struct eki_item *items = allocate(instance->tasks, sizeof *items);
    for (int32_t w = 0; w < instance->workers; w++) {
        for (int64_t i = instance->first[w]; i < instance->first[w + 1]; i++)
            items[i] = (struct eki_item){instance->ns[i], w, (int32_t)i};
    }
    if (!eki_items_sort(items, instance->tasks))
        bench_check(EK_ERR_NOMEM);
    return items;
}

void bench_longest_first(const struct instance *instance, eki_ns target,
                         int32_t *to)
{
    struct eki_item *items = list_tasks(instance);
    eki_ns *loads = allocate((size_t)instance->workers, sizeof *loads);
    struct eki_least least;
    if (!eki_least_init(&least, instance->workers))
        bench_check(EK_ERR_NOMEM);
    eki_least_fill(&least, loads, instance->workers);
    for (int64_t i = 0; i < instance->tasks; i++) {
        int32_t worker = items[i].from;
        if (loads[worker] + items[i].ns > target)
            worker = eki_least_of(&least);
        to[items[i].index] = worker;
        loads[worker] += items[i].ns;
    }
    eki_least_free(&least);
    free(loads);
    free(items);
}
