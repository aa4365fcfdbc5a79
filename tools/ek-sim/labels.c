/* SPDX-License-Identifier: BSD-3-Clause */
#include "labels.h"

#include <string.h>

void fill_labels(struct label *label, const struct run *run, int seed,
                 const char *mode, int iteration)
{
    const struct label all[LABELS] = {
        {.key = "workload", .text = run->workload->name},
        {.key = "machine", .text = run->machine.name},
        {.key = "cores", .number = run->cores},
        {.key = "seed", .number = seed, .is_absent = seed < 0},
        {.key = "mode", .text = mode},
        {.key = "iteration", .number = iteration}};
    memcpy(label, all, sizeof all);
}
