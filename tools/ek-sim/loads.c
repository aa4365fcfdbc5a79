/* SPDX-License-Identifier: BSD-3-Clause */
#include "loads.h"

#include "labels.h"
#include "payload.h"

#include <math.h>
#include <stdlib.h>

struct loads {
    FILE *file;
    int workers;
    double *start, *ran; /* [workers] ns */
};

struct loads *loads_open(const char *path, struct message *message)
{
    FILE *file = rows_open(path, "tasks,load,workers", message);
    if (!file)
        return NULL;
    struct loads *loads = allocate(1, sizeof *loads);
    loads->file = file;
    return loads;
}

/* Time of tasks between two positions of a local part. */
static double time_of(const struct run *run, const struct eki_local *local,
                      const unsigned char *first, const unsigned char *last)
{
    double ns = 0;
    for (; first < last; first += local->slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)first;
        struct payload payload = payload_of(slot);
        ns += slot->flags & EKI_SLOT_RANGE
                  ? range_ns(run, slot)
                  : (double)payload_ns(run->workload, &payload);
    }
    return ns;
}

void loads_begin(struct loads *loads, const struct run *run,
                 const struct eki_sim *sim)
{
    if (loads->workers != run->workers) {
        free(loads->start);
        free(loads->ran);
        loads->workers = run->workers;
        loads->start = allocate((size_t)run->workers, sizeof *loads->start);
        loads->ran = allocate((size_t)run->workers, sizeof *loads->ran);
    }
    for (int w = 0; w < run->workers; w++) {
        const struct eki_local *local = &sim->workers[w].worker->local;
        int node = sim->workers[w].rank->topology.node;
        loads->ran[w] = 0;
        if (run->unfold)
            continue;
        loads->start[w] =
            run->slowness[node] *
            (time_of(run, local, local->seed_base, local->seed_top) +
             time_of(run, local, local->stack_bottom, local->stack_top));
    }
}

void loads_add(struct loads *loads, ptrdiff_t worker, double ns)
{
    loads->ran[worker] += ns;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* In hundredths of the mean; where nobody has any, nobody has more. */
static double bin_of(double value, double mean)
{
    return mean > 0 ? round(100 * value / mean) : 0;
}

/* Write how many have each hundredth of the mean load; sorts them. */
static void write_loads(const struct loads *loads, double *values,
                        const char *tasks, const struct labels *labels)
{
    double mean = 0;
    for (int w = 0; w < loads->workers; w++)
        mean += values[w] / loads->workers;
    qsort(values, (size_t)loads->workers, sizeof *values, compare);
    for (int w = 0, next; w < loads->workers; w = next) {
        double bin = bin_of(values[w], mean);
        for (next = w + 1;
             next < loads->workers && bin_of(values[next], mean) == bin;)
            next++;
        labels_csv(labels, loads->file);
        fprintf(loads->file, ",%s,%.2f,%d\n", tasks, bin / 100, next - w);
    }
}

void loads_end(struct loads *loads, const struct run *run,
               const struct mode *mode, int iteration)
{
    struct label label[LABELS];
    struct labels labels = {label, LABELS};
    fill_labels(label, run, run->source->seed, mode->name, iteration);
    if (!run->unfold)
        write_loads(loads, loads->start, "start", &labels);
    write_loads(loads, loads->ran, "ran", &labels);
}

bool loads_close(struct loads *loads, struct message *message)
{
    bool is_good = rows_close(loads->file, "--loads", message);
    free(loads->start);
    free(loads->ran);
    free(loads);
    return is_good;
}
