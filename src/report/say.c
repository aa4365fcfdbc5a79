/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a report, from rank 0, no wider than a terminal. */
#include "report/internal.h"

#include <string.h>

enum {
    WIDTH = 100,
    PREFIX = 32, /* "evenkeel 0/163840 report: " and more */
    BELOW = 6    /* indent of what goes on */
};

/* The name of a collection that was given none. */
static const char default_name[] = "tasks";

void eki_report_append_name(const struct eki_report *report, char *text,
                            size_t bytes)
{
    if (strcmp(report->collection, default_name) != 0)
        eki_append(text, bytes, "%s, ", report->collection);
}

/* Bytes of TEXT that fit into ROOM: up to a space, if there is one. */
static int fitting(const char *text, int room)
{
    int bytes = (int)strlen(text);
    if (bytes <= room)
        return bytes;
    for (int at = room; at > 0; at--) {
        if (text[at] == ' ')
            return at;
    }
    return room;
}

void eki_report_say(const struct eki_report *report, const char *text)
{
    char prefix[PREFIX];
    int used = snprintf(prefix, sizeof prefix,
                        "evenkeel %d/%d report: ", report->rank, report->size);
    int indent = (int)strspn(text, " ");
    const char *at = text + indent;
    do {
        int bytes = fitting(at, WIDTH - used - indent);
        eki_log(EK_LEVEL_INFO, report->rank, report->size, "report", "%*s%.*s",
                indent, "", bytes, at);
        indent = BELOW;
        at += bytes;
        at += strspn(at, " ");
    } while (*at);
}
