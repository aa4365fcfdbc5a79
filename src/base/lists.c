/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that are a list of NAME=VALUE. */
#include "base/options.h"

#include <string.h>

static const struct eki_field hpdc12_fields[] = {
    {.name = "c",
     .offset = offsetof(struct eki_hpdc12_option, c),
     .type = EKI_FIELD_REAL,
     .real_min = 0.1,
     .real_max = 10},
    {.name = "d",
     .offset = offsetof(struct eki_hpdc12_option, d),
     .type = EKI_FIELD_REAL,
     .real_min = 0.1,
     .real_max = 10},
    {.name = "k",
     .offset = offsetof(struct eki_hpdc12_option, branching),
     .type = EKI_FIELD_INTEGER,
     .min = 2,
     .max = 1048576},
    {.name = "gather",
     .offset = offsetof(struct eki_hpdc12_option, gather),
     .type = EKI_FIELD_CHOICE,
     .choices = (const struct eki_choice[]){
         {"node", EKI_GATHER_NODE}, {"core", EKI_GATHER_CORE}, {NULL, 0}}}};

static const struct eki_field dvs_fields[] = {
    {.name = "layout",
     .offset = offsetof(struct eki_dvs_option, layout),
     .type = EKI_FIELD_CHOICE,
     .choices = (const struct eki_choice[]){{"diamond", EKI_LAYOUT_DIAMOND},
                                            {"line", EKI_LAYOUT_LINE},
                                            {"grid", EKI_LAYOUT_GRID},
                                            {"cube", EKI_LAYOUT_CUBE},
                                            {"allotted", EKI_LAYOUT_ALLOTTED},
                                            {NULL, 0}}},
    {.name = "columns",
     .offset = offsetof(struct eki_dvs_option, columns),
     .type = EKI_FIELD_INTEGER,
     .min = 1,
     .max = 1024},
    {.name = "rows",
     .offset = offsetof(struct eki_dvs_option, rows),
     .type = EKI_FIELD_INTEGER,
     .min = 1,
     .max = 1024},
    {.name = "cell",
     .offset = offsetof(struct eki_dvs_option, cell),
     .type = EKI_FIELD_INTEGER,
     .min = 0,
     .max = 1048575},
    {.name = "source",
     .offset = offsetof(struct eki_dvs_option, source),
     .type = EKI_FIELD_INTEGER,
     .min = -1,
     .max = 65535},
    {.name = "escape",
     .offset = offsetof(struct eki_dvs_option, escape),
     .type = EKI_FIELD_INTEGER,
     .min = 0,
     .max = 1}};

static const struct eki_field lifeline_fields[] = {
    {.name = "graph",
     .offset = offsetof(struct eki_lifeline_option, graph),
     .type = EKI_FIELD_CHOICE,
     .choices = (const struct eki_choice[]){{"auto", EKI_GRAPH_AUTO},
                                            {"hypercube", EKI_GRAPH_HYPERCUBE},
                                            {"xor", EKI_GRAPH_XOR},
                                            {"offsets", EKI_GRAPH_OFFSETS},
                                            {"ring", EKI_GRAPH_RING},
                                            {NULL, 0}}},
    {.name = "radix",
     .offset = offsetof(struct eki_lifeline_option, radix),
     .type = EKI_FIELD_INTEGER,
     .min = 2,
     .max = 32},
    {.name = "attempts",
     .offset = offsetof(struct eki_lifeline_option, attempts),
     .type = EKI_FIELD_INTEGER,
     .min = 0,
     .max = 64}};

static const struct eki_field sws_fields[] = {
    {.name = "epochs",
     .offset = offsetof(struct eki_sws_option, epochs),
     .type = EKI_FIELD_INTEGER,
     .min = 1,
     .max = 2},
    {.name = "damping",
     .offset = offsetof(struct eki_sws_option, damping),
     .type = EKI_FIELD_INTEGER,
     .min = 0,
     .max = 1000000}};

/* The parts of an option that is a list of NAME=VALUE, as fields of a struct.
 */
struct parts {
    const struct eki_field *fields; /* [count] */
    int count;
};
#define PARTS(fields) \
    (&(const struct parts){(fields), (int)(sizeof(fields) / sizeof *(fields))})

/* Read one, as "k=4", of BYTES; which it was; -1: none. */
static int part_read(const struct parts *parts, const char *text, size_t bytes,
                     void *option)
{
    char part[64], *value;
    if (bytes >= sizeof part)
        return -1;
    snprintf(part, sizeof part, "%.*s", (int)bytes, text);
    value = strchr(part, '=');
    if (!value)
        return -1;
    *value++ = '\0';
    for (int i = 0; i < parts->count; i++) {
        if (strcmp(parts->fields[i].name, part) == 0)
            return eki_field_read(&parts->fields[i], value, option) ? i : -1;
    }
    return -1;
}

/* Each part once at most. */
static bool parts_read(const struct parts *parts, const char *text,
                       void *option)
{
    unsigned seen = 0;
    for (;;) {
        size_t bytes = strcspn(text, ",");
        int part = part_read(parts, text, bytes, option);
        if (part < 0 || seen >> part & 1)
            return false;
        seen |= 1U << part;
        if (text[bytes] == '\0')
            return true;
        text += bytes + 1;
    }
}

bool eki_hpdc12_read(const char *text, struct eki_hpdc12_option *option)
{
    const struct parts *parts = PARTS(hpdc12_fields);
    return parts_read(parts, eki_option_defaults.hpdc12, option) &&
           parts_read(parts, text, option);
}

bool eki_dvs_read(const char *text, struct eki_dvs_option *option)
{
    const struct parts *parts = PARTS(dvs_fields);
    return parts_read(parts, eki_option_defaults.dvs, option) &&
           parts_read(parts, text, option) &&
           option->cell < option->columns * option->rows;
}

bool eki_lifeline_read(const char *text, struct eki_lifeline_option *option)
{
    const struct parts *parts = PARTS(lifeline_fields);
    return parts_read(parts, eki_option_defaults.lifeline, option) &&
           parts_read(parts, text, option);
}

bool eki_sws_read(const char *text, struct eki_sws_option *option)
{
    const struct parts *parts = PARTS(sws_fields);
    return parts_read(parts, eki_option_defaults.sws, option) &&
           parts_read(parts, text, option);
}
