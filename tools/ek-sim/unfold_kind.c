/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kinds of trees have in common: their text, and how they spawn. */
#include "unfold_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool unfold_spawn(struct unfold_parent *parent)
{
    parent->sums->spawned++;
    parent->has_failed =
        !eki_sim_spawn(parent->worker, 0, &parent->child, parent->bytes, 0);
    return !parent->has_failed;
}

/* How many ns the unit is that TEXT begins with; 0: none. */
static double unit_ns(const char *text, size_t *length)
{
    static const struct unit {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        *length = strlen(units[i].name);
        if (strncmp(text, units[i].name, *length) == 0)
            return units[i].ns;
    }
    *length = 0;
    return 0;
}

/* Read the number at *TEXT; false: it is none, or not allowed. */
static bool read_number(const char **text, const struct unfold_key *key,
                        double *value)
{
    char *end;
    *value = strtod(*text, &end);
    if (end == *text)
        return false;
    if (key->unit == UNFOLD_TIME) {
        size_t length;
        *value *= unit_ns(end, &length);
        if (length == 0)
            return false;
        end += length;
    }
    *text = end;
    return *value >= key->least && *value <= key->most &&
           (key->unit != UNFOLD_WHOLE || *value == floor(*value));
}

bool unfold_read_keys(const char *text, const struct unfold_key *keys,
                      int count, void *values)
{
    while (*text) {
        size_t length = strcspn(text, "=");
        int k = 0;
        while (k < count && (strlen(keys[k].name) != length ||
                             strncmp(keys[k].name, text, length) != 0))
            k++;
        if (k == count || text[length] != '=')
            return false;
        text += length + 1;
        double *value = (double *)((char *)values + keys[k].offset);
        if (!read_number(&text, &keys[k], value) ||
            (*text != ',' && *text != '\0') ||
            (*text == ',' && *++text == '\0'))
            return false;
    }
    return true;
}
