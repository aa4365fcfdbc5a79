/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables of the environment that nobody heeds: unknown ones, and entries of
 * lists that no collection has.
 *
 * Owns the marks that this process has warned of them, and which entries of
 * lists were for one of its collections.
 */
#include "base/options.h"

#include <stdlib.h>
#include <string.h>

/* Of no collection; evenkeel.py reads it. */
#define LIBRARY_VARIABLE EKI_VARIABLE_PREFIX "LIBRARY"

extern char **environ;

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to insert, remove or replace (Levenshtein). */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[EKI_VARIABLE_BYTES];
    size_t b_bytes = strlen(b);
    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_bytes; j++) {
            size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = smaller_of(replaced, smaller_of(diagonal, row[j]) + 1);
        }
    }
    return row[b_bytes];
}

/* The known variable nearest to NAME; returns their distance. */
static size_t variable_nearest(const char *name, char *nearest)
{
    size_t distance = edit_distance(name, EKI_LOG_VARIABLE);
    strcpy(nearest, EKI_LOG_VARIABLE);
    for (int i = -1; i < eki_option_count(); i++) {
        char known[EKI_VARIABLE_BYTES] = LIBRARY_VARIABLE;
        if (i >= 0 && !(eki_option_at(i)->traits & EKI_HAS_VARIABLE))
            continue;
        if (i >= 0)
            eki_option_variable(i, known, sizeof known);
        if (edit_distance(name, known) >= distance)
            continue;
        distance = edit_distance(name, known);
        strcpy(nearest, known);
    }
    return distance;
}

/* Look at one "NAME=VALUE" of the environment. */
static void variable_warn(const char *variable)
{
    const size_t prefix_bytes = sizeof EKI_VARIABLE_PREFIX - 1;
    if (strncmp(variable, EKI_VARIABLE_PREFIX, prefix_bytes) != 0)
        return;
    char name[EKI_VARIABLE_BYTES], nearest[EKI_VARIABLE_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(variable, "="), variable);
    if (variable_nearest(name, nearest) != 0)
        eki_log(EK_LEVEL_WARN, -1, 0, "base",
                "%s is unknown and ignored; the nearest known name is %s", name,
                nearest);
}

void eki_settings_warn(void)
{
    static _Atomic bool has_warned;
    if (!eki_is_untold(&has_warned))
        return;
    for (char **variable = environ; *variable != NULL; variable++)
        variable_warn(*variable);
}

/* Entries that were for a collection; a bit each, of the first 64. */
static _Atomic uint64_t restore_met, steal_met, timelines_met, termination_met;

/* relaxed, as all of them: the bits guard no other data. */
void eki_settings_note_lists(const struct eki_settings *settings)
{
    atomic_fetch_or_explicit(&restore_met, settings->restore.ours,
                             memory_order_relaxed);
    atomic_fetch_or_explicit(&steal_met, settings->steal.ours,
                             memory_order_relaxed);
    atomic_fetch_or_explicit(&timelines_met, settings->timelines.ours,
                             memory_order_relaxed);
    atomic_fetch_or_explicit(&termination_met, settings->termination.ours,
                             memory_order_relaxed);
}

static void list_warn(const char *variable, uint64_t met)
{
    const char *entry = getenv(variable);
    for (int i = 0; entry != NULL && *entry != '\0' && i < 64; i++) {
        int bytes = (int)strcspn(entry, ",");
        if (!(met >> i & 1))
            eki_log(EK_LEVEL_WARN, -1, 0, "base",
                    "%s: there was no collection for '%.*s'", variable, bytes,
                    entry);
        entry += bytes;
        entry += *entry == ',';
    }
}

void eki_settings_warn_lists(void)
{
    static _Atomic bool has_warned;
    if (!eki_is_untold(&has_warned))
        return;
    /* relaxed, all: marks that guard no other data. */
    list_warn(EKI_VARIABLE_PREFIX "RESTORE",
              atomic_load_explicit(&restore_met, memory_order_relaxed));
    list_warn(EKI_VARIABLE_PREFIX "STEAL",
              atomic_load_explicit(&steal_met, memory_order_relaxed));
    list_warn(EKI_VARIABLE_PREFIX "TIMELINE",
              atomic_load_explicit(&timelines_met, memory_order_relaxed));
    list_warn(EKI_VARIABLE_PREFIX "TERMINATION",
              atomic_load_explicit(&termination_met, memory_order_relaxed));
}
