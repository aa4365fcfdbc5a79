/* SPDX-License-Identifier: BSD-3-Clause */
/* Where reports go: a list of at most one level and files of each kind. */
#include "base/options.h"

#include <string.h>

/* Of a name without it: the job's. */
static const char *const prefixes[EKI_ROWS_KINDS] = {
    [EKI_ROWS_RANKS] = "ranks:", [EKI_ROWS_FUNCTIONS] = "functions:"};

/* Take a prefix from the item, if there is one. */
static enum eki_rows rows_of(const char **item, size_t *bytes)
{
    for (int rows = 0; rows < EKI_ROWS_KINDS; rows++) {
        size_t length = prefixes[rows] ? strlen(prefixes[rows]) : 0;
        if (length == 0 || length > *bytes ||
            memcmp(*item, prefixes[rows], length) != 0)
            continue;
        *item += length;
        *bytes -= length;
        return (enum eki_rows)rows;
    }
    return EKI_ROWS_JOB;
}

static bool file_read(const char *item, size_t bytes,
                      struct eki_destination *destination)
{
    static const char ending[] = ".tsv";
    enum eki_rows rows = rows_of(&item, &bytes);
    size_t ending_bytes = sizeof ending - 1;
    if (destination->name[rows] || bytes <= ending_bytes ||
        memcmp(item + bytes - ending_bytes, ending, ending_bytes) != 0)
        return false;
    destination->name[rows] = item;
    destination->bytes[rows] = bytes;
    return true;
}

/* Rows of two kinds have different columns. */
static bool has_file_twice(const struct eki_destination *destination)
{
    for (int a = 0; a < EKI_ROWS_KINDS; a++) {
        for (int b = 0; b < a; b++) {
            if (destination->name[a] && destination->name[b] &&
                destination->bytes[a] == destination->bytes[b] &&
                memcmp(destination->name[a], destination->name[b],
                       destination->bytes[a]) == 0)
                return true;
        }
    }
    return false;
}

bool eki_destination_read(const char *list, struct eki_destination *destination)
{
    bool has_level = false;
    *destination = (struct eki_destination){0};
    for (const char *item = list;; item++) {
        size_t bytes = strcspn(item, ",");
        bool is_level = bytes == 1 && strchr("012", item[0]) != NULL;
        if (is_level ? has_level : !file_read(item, bytes, destination))
            return false;
        if (is_level)
            destination->level = item[0] - '0';
        has_level |= is_level;
        item += bytes;
        if (*item == '\0')
            return !has_file_twice(destination);
    }
}
