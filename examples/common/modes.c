/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/modes.h"

#include <string.h>

const struct mode compared_modes[] = {
    {"static", "original", "none", false, false},
    {"counter", "original", "counter", true, false},
    {"StealAll", "original", "random", true, true},
    {"Steal", "original", "random", false, false},
    {"StealRet", "retain", "random", false, false},
    {"centralized", "centralized", "none", false, false},
    {"hierarchical", "hierarchical", "none", false, false},
    {"central.-12", "centralized-hpdc12", "none", false, false},
    {"hierarch.-12", "hierarchical-hpdc12", "none", false, false},
    {"auto", "auto", "random", false, false},
};

const int compared_count = sizeof compared_modes / sizeof *compared_modes;

struct mode mode_find(const char *name, const char *steal)
{
    struct mode mode = {.name = name, .restore = name};
    for (int i = 0; i < compared_count; i++) {
        if (strcmp(name, compared_modes[i].name) == 0)
            mode = compared_modes[i];
    }
    if (steal)
        mode.steal = steal;
    return mode;
}

void modes_help(FILE *stream, bool has_nulls)
{
    fprintf(stream, "\nModes of --compare, and their restore and steal "
                    "policies:\n");
    for (int i = 0; i < compared_count; i++) {
        const struct mode *mode = &compared_modes[i];
        if (has_nulls || !mode->has_nulls)
            fprintf(stream, "  %-14s %s, %s%s\n", mode->name, mode->restore,
                    mode->steal,
                    mode->is_anew ? "; all tasks anew in each iteration" : "");
    }
}
