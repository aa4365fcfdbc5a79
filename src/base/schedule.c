/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules: which choice holds in which iteration.
 *
 * One is a list of [collection:]value[@iterations], where iterations is N, N-M
 * or N-.  The last entry that covers an iteration wins.  A value is one of the
 * source's choices, a policy, or the name of a folder where it has none.
 */
#include "base/options.h"

#include <inttypes.h>
#include <string.h>

#define COLLECTION_NAME_MAX 63
#define FORM "..., where iterations is N, N-M or N-"

bool eki_is_collection_name(const char *text, size_t bytes)
{
    /* Spelled out: isalnum() depends on the program's locale. */
    static const char characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "abcdefghijklmnopqrstuvwxyz"
                                     "0123456789_.-";
    if (bytes < 1 || bytes > COLLECTION_NAME_MAX)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\0' || strchr(characters, text[i]) == NULL)
            return false;
    }
    return true;
}

int eki_schedule_at(const struct eki_schedule *schedule, int64_t iteration,
                    int fallback)
{
    for (int i = schedule->count - 1; i >= 0; i--) {
        const struct eki_schedule_entry *entry = &schedule->entries[i];
        if (entry->first <= iteration && iteration <= entry->last)
            return entry->value;
    }
    return fallback;
}

/* N, N-M or N-, up to END. */
static bool iterations_read(const char *text, const char *end,
                            struct eki_schedule_entry *entry)
{
    if (!eki_digits_read(&text, end, &entry->first))
        return false;
    entry->last = entry->first;
    if (text == end)
        return true;
    if (*text++ != '-')
        return false;
    entry->last = INT64_MAX;
    if (text == end)
        return true;
    return eki_digits_read(&text, end, &entry->last) && text == end &&
           entry->first <= entry->last;
}

static ek_status entry_refuse(const struct eki_schedule_source *source,
                              const char *text, const char *end,
                              const char *allowed)
{
    /* 200: the message has room for what is allowed, whatever the value. */
    int bytes = end - text < 200 ? (int)(end - text) : 200;
    return eki_error(EK_ERR_ARG, "%s: '%.*s' is not allowed; allowed: %s",
                     source->variable, bytes, text, allowed);
}

/* Step over "collection:" at *TEXT, below END; *IS_OURS: it is the own one.
 * false: there may be none, or it is no name.  The colon of counter:16 is none
 * of a collection. */
static bool collection_read(const struct eki_schedule_source *source,
                            const char **text, const char *end, bool *is_ours)
{
    const char *name = *text;
    size_t bytes = (size_t)(end - name);
    const char *colon = memchr(name, ':', bytes);
    int value;
    *is_ours = true;
    if (colon == NULL ||
        (source->choices &&
         eki_choice_read(source->choices, name, bytes, &value)))
        return true;
    bytes = (size_t)(colon - name);
    *text = colon + 1;
    *is_ours = source->collection && strlen(source->collection) == bytes &&
               memcmp(source->collection, name, bytes) == 0;
    return source->collection && eki_is_collection_name(name, bytes);
}

static const char *form_of(const struct eki_schedule_source *source)
{
    if (!source->choices)
        return "[collection:]DIR[@iterations], " FORM;
    return source->collection ? "[collection:]policy[@iterations], " FORM
                              : "policy[@iterations], " FORM;
}

/* The number of a choice; of a folder, where it begins in the list. */
static bool entry_value(const struct eki_schedule_source *source,
                        const char *text, const char *end, int *value)
{
    *value = (int)(text - source->list);
    return source->choices ? eki_choice_read(source->choices, text,
                                             (size_t)(end - text), value)
                           : text != end;
}

/* Read the entry TEXT ... END - 1; IS_OURS: it is for this collection. */
static ek_status entry_read(const struct eki_schedule_source *source,
                            const char *text, const char *end,
                            struct eki_schedule_entry *entry, bool *is_ours)
{
    const char *value = text, *at = memchr(text, '@', (size_t)(end - text));
    const char *value_end = at != NULL ? at : end;
    char names[256] = "";
    *entry = (struct eki_schedule_entry){0, 0, INT64_MAX};
    if (text == end || (at != NULL && !iterations_read(at + 1, end, entry)) ||
        !collection_read(source, &value, value_end, is_ours))
        return entry_refuse(source, text, end, form_of(source));
    if (entry_value(source, value, value_end, &entry->value))
        return EK_OK;
    if (!source->choices)
        return entry_refuse(source, text, end, "0 or a folder");
    eki_choice_list(source->choices, names, sizeof names);
    return entry_refuse(source, text, end, names);
}

static int entries_count(const char *list)
{
    int count = 1;
    for (; *list != '\0'; list++)
        count += *list == ',';
    return count;
}

ek_status eki_schedule_parse(const struct eki_schedule_source *source,
                             struct eki_schedule *schedule)
{
    struct eki_schedule found = {0};
    int listed = entries_count(source->list);
    found.entries = eki_alloc((size_t)listed, sizeof *found.entries);
    if (!source->choices)
        found.texts = eki_copy_string(source->list);
    if (!found.entries || (!source->choices && !found.texts)) {
        eki_schedule_free(&found);
        return eki_error(EK_ERR_NOMEM, "%s: no memory for the list",
                         source->variable);
    }

    const char *text = source->list;
    for (int i = 0; i < listed; i++) {
        const char *end = text + strcspn(text, ",");
        bool is_ours = false;
        ek_status status = entry_read(source, text, end,
                                      &found.entries[found.count], &is_ours);
        if (status != EK_OK) {
            eki_schedule_free(&found);
            return status;
        }
        if (is_ours && i < 64)
            found.ours |= UINT64_C(1) << i;
        found.count += is_ours;
        text = end + 1;
    }
    if (found.count == 0)
        eki_schedule_free(&found);
    for (char *at = found.texts; at && (at = strpbrk(at, ",@")); at++)
        *at = '\0';
    *schedule = found;
    return EK_OK;
}

void eki_schedule_free(struct eki_schedule *schedule)
{
    eki_free(schedule->entries);
    eki_free(schedule->texts);
    *schedule = (struct eki_schedule){0};
}

void eki_schedule_entry_text(const struct eki_schedule *schedule, int i,
                             const struct eki_choice *choices, char *text,
                             size_t bytes)
{
    const struct eki_schedule_entry *entry = &schedule->entries[i];
    if (choices)
        eki_choice_text(choices, entry->value, text, bytes);
    else
        eki_append(text, bytes, "%s", schedule->texts + entry->value);
    if (entry->last == entry->first)
        eki_append(text, bytes, "@%" PRId64, entry->first);
    else if (entry->last < INT64_MAX)
        eki_append(text, bytes, "@%" PRId64 "-%" PRId64, entry->first,
                   entry->last);
    else if (entry->first > 0)
        eki_append(text, bytes, "@%" PRId64 "-", entry->first);
}
