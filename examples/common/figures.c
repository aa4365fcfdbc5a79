/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/figures.h"

#define NAME(name) #name,
static const char *const names[] = {FIGURES(NAME)};

enum {
    COUNT = sizeof names / sizeof *names
};
_Static_assert(sizeof(struct figures) == COUNT * sizeof(double), "an array");

ek_status figures_process(ek_collection *tasks, struct figures *figures)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_status status = ek_process(tasks, &report);
    for (int i = 0; status == EK_OK && i < COUNT; i++)
        status = ek_report_get(tasks, names[i], (double *)figures + i);
    return status;
}

void figures_add(const struct figures *figures, struct figures *sums)
{
    for (int i = 0; i < COUNT; i++)
        ((double *)sums)[i] += ((const double *)figures)[i];
}
