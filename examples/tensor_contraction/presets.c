/* SPDX-License-Identifier: BSD-3-Clause */
#include "presets.h"

#include <string.h>

static const struct preset presets[] = {
    {"paper", "i=240,180,100,210", "a=20,24,20,20", 20, SYMMETRY_SPATIAL,
     "that of HPDC 2012: 2.5e14 operations, 545 GiB"},
    {"third", "i=80,60,33,70", "a=20,24,20,20", 20, SYMMETRY_SPATIAL,
     "a third of its i, j, k, l: 3.1e12, 8 GiB"},
    {"fifth", "i=48,36,20,42", "a=20,24,20,20", 20, SYMMETRY_SPATIAL,
     "a fifth: 4.0e11, 1.4 GiB"},
    {"fifth12", "i=48,36,20,42", "a=20,24,20,20", 12, SYMMETRY_SPATIAL,
     "in tiles of 12"},
    {"tenthspin", "i=24,18,10,21", "a=10,12,10,10", 10, SYMMETRY_SPIN,
     "a tenth, and half of a, b, for both spins: 6.3e10, 0.5 GiB"},
};

enum {
    PRESETS = sizeof presets / sizeof *presets
};

const struct preset *preset_find(const char *name)
{
    for (int i = 0; i < PRESETS; i++) {
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    }
    return NULL;
}

const char *preset_names(void)
{
    static char names[100];
    size_t bytes = 0;
    for (int i = 0; i < PRESETS && bytes < sizeof names; i++)
        bytes += (size_t)snprintf(names + bytes, sizeof names - bytes, "%s%s",
                                  i > 0 ? ", " : "", presets[i].name);
    return names;
}

void presets_help(FILE *stream)
{
    fprintf(stream, "\nPresets:\n");
    for (int i = 0; i < PRESETS; i++)
        fprintf(stream, "  %-10s --blocks %s %s --tile %-3d %s\n",
                presets[i].name, presets[i].outer, presets[i].contracted,
                (int)presets[i].tile, presets[i].what);
}
