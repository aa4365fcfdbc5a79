/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks with log-normal durations, sorted and dealt round-robin, every n-th
 * worker getting m of them per round: HPDC'12, table 3.
 */
#include "instances.h"

#include "cli/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIGMA 0.75
#define LARGEST_S 3.174

double bench_uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

void bench_sort(double *s, int64_t count)
{
    qsort(s, (size_t)count, sizeof *s, descending);
}

double *bench_durations(int64_t count, double total_s)
{
    uint64_t state = 1;
    double *s = allocate(count, sizeof *s);
    for (int64_t i = 0; i < count; i++) {
        double u = bench_uniform(&state), v = bench_uniform(&state);
        s[i] = exp(SIGMA * sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
    }
    for (int pass = 0; pass < 60; pass++) {
        double sum = 0;
        for (int64_t i = 0; i < count; i++)
            sum += s[i];
        for (int64_t i = 0; i < count; i++)
            s[i] = fmin(s[i] * total_s / sum, LARGEST_S);
    }
    bench_sort(s, count);
    s[0] = LARGEST_S;
    return s;
}

/* Tasks that WORKER gets per round. */
static int per_round(const struct instance *instance, int32_t worker)
{
    return worker % instance->every == 0 ? instance->more : 1;
}

/* Twice: how many tasks each worker gets, then which. */
void bench_deal(struct instance *instance, const double *s)
{
    int32_t workers = instance->workers;
    int64_t *at = allocate(workers, sizeof *at);
    memset(instance->first, 0, ((size_t)workers + 1) * sizeof *at);
    for (int pass = 0; pass < 2; pass++) {
        int64_t i = 0;
        for (int32_t w = 0; i < instance->tasks; w = (w + 1) % workers) {
            for (int k = per_round(instance, w); k > 0 && i < instance->tasks;
                 k--, i++) {
                if (pass == 0)
                    instance->first[w + 1]++;
                else
                    instance->ns[at[w]++] = (eki_ns)(s[i] * NS);
            }
        }
        for (int32_t w = 0; pass == 0 && w < workers; w++) {
            at[w] = instance->first[w];
            instance->first[w + 1] += instance->first[w];
        }
    }
    free(at);
}
