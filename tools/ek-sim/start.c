/* SPDX-License-Identifier: BSD-3-Clause */
/* Where tasks start. */
#include "ek_sim.h"

#include <stdlib.h>
#include <string.h>

struct dealt {
    float s;
    int64_t k;
};

static int longer_first(const void *a, const void *b)
{
    const struct dealt *x = a, *y = b;
    if (x->s != y->s)
        return x->s > y->s ? -1 : 1;
    return x->k < y->k ? -1 : 1;
}

/* Longest first, dealt in rounds; every EVERY-th worker gets MORE each time. */
static void deal_unevenly(struct run *run)
{
    struct workload *workload = run->workload;
    size_t count = (size_t)workload->count;
    struct dealt *dealt = allocate(count, sizeof *dealt);
    for (int64_t k = 0; k < workload->count; k++)
        dealt[k] = (struct dealt){workload->base_s[k], k};
    qsort(dealt, count, sizeof *dealt, longer_first);
    free(workload->ran_on);
    workload->ran_on = allocate(count, sizeof *workload->ran_on);
    int64_t i = 0;
    for (int w = 0; i < workload->count; w = (w + 1) % run->workers) {
        int64_t end = i + (w % run->every == 0 ? run->more : 1);
        for (; i < end && i < workload->count; i++)
            workload->ran_on[dealt[i].k] = w;
    }
    free(dealt);
}

bool choose_start(struct run *run, struct message *message)
{
    const char *start = run->arguments->start;
    struct workload *workload = run->workload;
    int end = 0;
    run->every = run->more = 1;
    if (!start)
        start = workload->workers == run->workers ? "record" : "block";
    run->start = strcmp(start, "record") == 0  ? START_RECORD
                 : strcmp(start, "dealt") == 0 ? START_DEALT
                 : strcmp(start, "owner") == 0 ? START_OWNER
                                               : START_BLOCK;
    if (sscanf(start, "uneven:%9d:%9d%n", &run->every, &run->more, &end) == 2 &&
        start[end] == '\0' && run->every > 0 && run->more > 0) {
        run->start = START_RECORD;
        deal_unevenly(run);
        return true;
    }
    if (run->start == START_BLOCK && strcmp(start, "block") != 0)
        return message_set(message,
                           "--start is '%s'; allowed: record, block, dealt, "
                           "uneven:N:M (N, M: 1 ... 999999999), owner",
                           start);
    if (run->start == START_OWNER && run->tiles.accumulates < 1)
        return message_set(message,
                           "--start is 'owner', but no task adds to a tile; "
                           "allowed with --tiles accumulates=1 or more");
    if (run->start == START_RECORD && workload->workers == 0)
        return message_set(message,
                           "--start is 'record', but there is no record; "
                           "allowed: block, dealt, uneven:N:M, owner");
    /* Large jobs need the memory. */
    if (run->is_last && run->start != START_RECORD) {
        free(workload->ran_on);
        workload->ran_on = NULL;
    }
    return true;
}
