/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where tasks start.  ek_add_task() deals what a rank adds over its workers in
 * turn: the order of adding decides who gets what.
 */
#include "emulate.h"

#include <string.h>

/* Each worker the same number of consecutive tasks, or one more. */
static bool add_blocks(const struct place *place, add_fn *add, void *context)
{
    int64_t share = place->workload->seeds / place->workers;
    int64_t rest = place->workload->seeds % place->workers;
    for (int64_t i = 0; i <= share; i++) {
        for (int here = 0; here < place->workers_here; here++) {
            int64_t worker = place->first_worker + here;
            int64_t first = worker * share + (worker < rest ? worker : rest);
            if (i < share + (worker < rest) && !add(first + i, context))
                return false;
        }
    }
    return true;
}

static bool is_here(const struct place *place, int64_t worker)
{
    return worker >= place->first_worker &&
           worker < place->first_worker + place->workers_here;
}

/* One task to each worker of the job in turn. */
static bool add_dealt(const struct place *place, add_fn *add, void *context)
{
    for (int64_t k = 0; k < place->workload->seeds; k++) {
        if (is_here(place, k % place->workers) && !add(k, context))
            return false;
    }
    return true;
}

/* The rank of the worker of the record; there they are dealt. */
static bool add_recorded(const struct place *place, add_fn *add, void *context)
{
    for (int64_t k = 0; k < place->workload->seeds; k++) {
        if (is_here(place, place->workload->ran_on[k] % place->workers) &&
            !add(k, context))
            return false;
    }
    return true;
}

static const struct start starts[] = {
    {"block", "blocks", add_blocks},
    {"dealt", "dealt", add_dealt},
    {"record", "the ranks of the record", add_recorded}};

const struct start *start_find(const struct arguments *arguments,
                               const struct workload *workload, int workers,
                               struct message *message)
{
    const char *name = arguments->start;
    if (!name)
        name = workload->workers == workers ? "record" : "block";
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strcmp(name, starts[i].name) == 0 &&
            (starts[i].run != add_recorded || workload->workers > 0))
            return &starts[i];
    }
    message_set(message, "--start is '%s'; allowed: block, dealt%s", name,
                workload->workers > 0 ? ", record" : "");
    return NULL;
}
