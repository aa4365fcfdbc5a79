/* SPDX-License-Identifier: BSD-3-Clause */
/* Where reports go: a list of at most one level and files of each kind.  Where
 * checkpoints go, and when. */
#include "base/options.h"

#include <string.h>

static const char *const prefixes[EKI_ROWS_KINDS] = {
    [EKI_ROWS_JOB] = "",
    [EKI_ROWS_RANKS] = "ranks:",
    [EKI_ROWS_FUNCTIONS] = "functions:"};

static bool file_read(const char *item, size_t bytes,
                      struct eki_destination *destination)
{
    static const char ending[] = ".tsv";
    const size_t ending_bytes = sizeof ending - 1;
    int rows = EKI_ROWS_KINDS - 1;
    /* Every item begins with nothing. */
    while (strncmp(item, prefixes[rows], strlen(prefixes[rows])) != 0)
        rows--;
    item += strlen(prefixes[rows]);
    bytes -= strlen(prefixes[rows]);
    if (destination->name[rows] || bytes <= ending_bytes ||
        memcmp(item + bytes - ending_bytes, ending, ending_bytes) != 0)
        return false;
    /* Rows of two kinds have different columns. */
    for (int other = 0; other < EKI_ROWS_KINDS; other++) {
        if (destination->name[other] && destination->bytes[other] == bytes &&
            memcmp(destination->name[other], item, bytes) == 0)
            return false;
    }
    destination->name[rows] = item;
    destination->bytes[rows] = bytes;
    return true;
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
            return true;
    }
}

bool eki_checkpoint_read(const char *text, struct eki_checkpoint_option *option)
{
    static const char every[] = "@every:";
    const char *at = strrchr(text, '@');
    int64_t number;
    *option = (struct eki_checkpoint_option){0};
    if (strcmp(text, "0") == 0)
        return true;
    if (!at || at == text || strncmp(at, every, sizeof every - 1) != 0 ||
        !eki_time_read(at + sizeof every - 1, &number, &option->ns) ||
        number == 0)
        return false;
    option->folder = (size_t)(at - text);
    option->iterations = option->ns == 0 ? number : 0;
    return true;
}
