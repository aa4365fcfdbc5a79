/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machine files: one row per key, which drives reading, checks and writing.
 *
 *     like hopper          # start from a preset; the first line, or none
 *     node_cores 24
 *     latency 1.5 us       # KEY VALUE UNIT
 *     progress server
 */
#include "sim/machine.h"

#include "base/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum {
    LINE_BYTES = 256, /* without comments */
    WORDS_MAX = 3,
    ALLOWED_BYTES = 400
};

/* Times: nanoseconds of one.  Rates: gigabytes per second of one.  Shares:
 * percent. */
struct unit {
    const char *name;
    double scale;
};

static const struct unit time_units[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
/* In eki_machine, nanoseconds per byte. */
static const struct unit rate_units[] = {
    {"MB/s", 1e-3}, {"GB/s", 1}, {NULL, 0}};
static const struct unit share_units[] = {{"%", 1}, {NULL, 0}};

/* A measure has units, a choice has choices, a count has neither; the name has
 * no most, either. */
struct key {
    const char *name;
    size_t offset; /* in eki_machine: of a double, else of an int64_t */
    const struct unit *units;
    double min, max; /* in the unit of scale 1 */
    const struct eki_choice *choices;
    const char *help;
};

static const struct eki_choice progress_choices[] = {
    {"polling", false}, {"server", true}, {NULL, 0}};
static const struct eki_choice yes_choices[] = {
    {"no", false}, {"yes", true}, {NULL, 0}};

#define FIELD(field) .offset = offsetof(struct eki_machine, field)
#define SECOND 1e9

static const struct key table[] = {
    {"name", FIELD(name), .help = "name in tables and messages"},
    {"node_cores", FIELD(node_cores), NULL, 1, 65536,
     .help = "cores of a node that Evenkeel uses"},
    {"node_ranks", FIELD(node_ranks), NULL, 1, 65536,
     .help = "ranks that share the cores of a node"},
    {"progress", FIELD(has_server), .choices = progress_choices,
     .help = "server: one core of each rank only moves messages"},
    {"crowded", FIELD(is_crowded), .choices = yes_choices,
     .help = "yes: there are more threads than cores"},
    {"latency", FIELD(latency), time_units, 0, SECOND,
     .help = "time of a message between nodes, one way, without overheads"},
    {"send", FIELD(send), time_units, 0, SECOND,
     .help = "time of a core to send a message"},
    {"gap", FIELD(gap), time_units, 0, SECOND,
     .help = "time between two messages of a burst"},
    {"bandwidth", FIELD(byte), rate_units, 1e-6, 1e6,
     .help = "bandwidth of long messages"},
    {"handle", FIELD(handle), time_units, 0, SECOND,
     .help = "time of a server for one active message"},
    {"poll", FIELD(poll), time_units, 1, SECOND,
     .help = "time of a server step that finds nothing"},
    {"poll_period", FIELD(poll_period), time_units, 1, SECOND,
     .help = "with polling: time between two server steps of a busy worker"},
    {"probe", FIELD(probe), time_units, 1, SECOND,
     .help = "time to read a word that another core has written"},
    {"atomic", FIELD(atomic), time_units, 0, SECOND,
     .help = "time of an atomic on a word that others use"},
    {"copy_bandwidth", FIELD(copy_byte), rate_units, 1e-6, 1e6,
     .help = "bandwidth of copying data that another core has written"},
    {"rma_ns", FIELD(rma), time_units, 0, SECOND,
     .help = "time of a one-sided operation on another rank's memory"},
    {"rma_byte_ns", FIELD(rma_byte), time_units, 0, SECOND,
     .help = "time of a byte that such an operation gets or puts"},
    {"atomic_ns", FIELD(rma_atomic), time_units, 0, SECOND,
     .help = "time of such a change of a word that others change, too"},
    {"task", FIELD(task), time_units, 0, SECOND,
     .help = "time to take and log a task"},
    {"restore", FIELD(restore), time_units, 0, SECOND,
     .help = "time to restore a task that stays where it is"},
    {"balance", FIELD(balance), time_units, 0, SECOND,
     .help = "time of a rebalancer for one task descriptor"},
    {"pause_share", FIELD(pause_share), share_units, 0, 90,
     .help = "share of time in which a core does other things"},
    {"pause", FIELD(pause), time_units, 0, 10 * SECOND,
     .help = "mean length of such a pause"},
};

enum {
    KEYS = sizeof table / sizeof *table
};

/* Append a value, with its unit. */
static void append_measure(const struct key *key, double value, char *text,
                           size_t bytes)
{
    if (!key->units) {
        eki_append(text, bytes, "%.0f", value);
        return;
    }
    /* The largest unit of which VALUE is one or more, else the smallest. */
    const struct unit *unit = key->units;
    while (unit[1].name && value >= unit[1].scale)
        unit++;
    eki_append(text, bytes, "%.12g %s", value / unit->scale, unit->name);
}

struct reader {
    const char *path;
    int line;
    char text[LINE_BYTES]; /* of the line, cut into words */
    char *words[WORDS_MAX];
    int count;       /* of words */
    int lines[KEYS]; /* where each key was; 0: nowhere */
    bool has_any;    /* key, or like */
    struct eki_machine machine;
};

static ek_status EKI_PRINTF(2, 3)
    refuse_line(const struct reader *reader, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return eki_error(EK_ERR_FILE, "'%.300s', line %d: %s", reader->path,
                     reader->line, text);
}

static ek_status refuse_file(const struct reader *reader)
{
    return eki_error(EK_ERR_FILE, "cannot read '%.700s': %s", reader->path,
                     strerror(errno));
}

/* The next line to TEXT, without comment; END: there is none. */
static ek_status read_line(struct reader *reader, FILE *file, bool *end)
{
    bool in_comment = false;
    int c, length = 0, seen = 0;
    reader->line++;
    errno = 0;
    while ((c = getc(file)) != EOF && c != '\n') {
        seen = 1;
        if (c == '\0')
            return refuse_line(reader, "a NUL byte: this is not a text file");
        in_comment |= c == '#';
        if (in_comment)
            continue;
        if (length == LINE_BYTES - 1)
            return refuse_line(
                reader,
                "the line is too long; allowed: %d characters and a "
                "comment",
                LINE_BYTES - 1);
        reader->text[length++] = (char)c;
    }
    if (ferror(file))
        return refuse_file(reader);
    reader->text[length] = '\0';
    *end = c == EOF && !seen;
    return EK_OK;
}

static ek_status cut_line(struct reader *reader)
{
    static const char blanks[] = " \t\r\v\f";
    char *at = reader->text;
    reader->count = 0;
    for (;;) {
        at += strspn(at, blanks);
        if (*at == '\0')
            return EK_OK;
        if (reader->count == WORDS_MAX)
            return refuse_line(
                reader, "unexpected '%.40s'; allowed: KEY VALUE UNIT", at);
        reader->words[reader->count++] = at;
        at += strcspn(at, blanks);
        if (*at != '\0')
            *at++ = '\0';
    }
}

static ek_status refuse_key(const struct reader *reader)
{
    char names[ALLOWED_BYTES] = "like";
    for (int k = 0; k < KEYS; k++)
        eki_append(names, sizeof names, ", %s", table[k].name);
    return refuse_line(reader, "unknown key '%.40s'; allowed: %s",
                       reader->words[0], names);
}

/* What a row allows, in words. */
static void append_allowed(const struct key *key, char *text, size_t bytes)
{
    if (key->choices) {
        eki_choice_list(key->choices, text, bytes);
    } else if (key->max == 0) {
        eki_append(text, bytes, "1 to 63 characters of A-Z a-z 0-9 _ . -");
    } else {
        append_measure(key, key->min, text, bytes);
        eki_append(text, bytes, " ... ");
        append_measure(key, key->max, text, bytes);
    }
}

static ek_status refuse_value(const struct reader *reader,
                              const struct key *key)
{
    char allowed[ALLOWED_BYTES] = "";
    bool has_unit = reader->count == 3;
    append_allowed(key, allowed, sizeof allowed);
    return refuse_line(reader, "%s '%.40s%s%.40s' is not allowed; allowed: %s",
                       key->name, reader->words[1], has_unit ? " " : "",
                       has_unit ? reader->words[2] : "", allowed);
}

static ek_status refuse_unit(const struct reader *reader,
                             const struct unit *units)
{
    char names[ALLOWED_BYTES] = "";
    for (int u = 0; units[u].name; u++)
        eki_append(names, sizeof names, "%s%s", u ? ", " : "", units[u].name);
    if (reader->count < 3)
        return refuse_line(reader, "%s %.40s has no unit; allowed: %s",
                           reader->words[0], reader->words[1], names);
    return refuse_line(reader, "unknown unit '%.40s'; allowed: %s",
                       reader->words[2], names);
}

/* WORDS that a key takes, itself included. */
static ek_status check_words(const struct reader *reader, int words)
{
    if (reader->count < 2)
        return refuse_line(reader, "%s has no value", reader->words[0]);
    if (reader->count > words)
        return refuse_line(reader, "%s takes one value: unexpected '%.40s'",
                           reader->words[0], reader->words[2]);
    return EK_OK;
}

/* The whole of TEXT as a decimal number. */
static bool read_number(const char *text, double *value)
{
    char *end;
    if (text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

static void *field_of(struct reader *reader, const struct key *key)
{
    return (char *)&reader->machine + key->offset;
}

static ek_status take_name(struct reader *reader, const struct key *key)
{
    const char *name = reader->words[1];
    EKI_TRY(check_words(reader, 2));
    if (!eki_is_collection_name(name, strlen(name)))
        return refuse_value(reader, key);
    memcpy(field_of(reader, key), name, strlen(name) + 1);
    return EK_OK;
}

static ek_status take_choice(struct reader *reader, const struct key *key)
{
    EKI_TRY(check_words(reader, 2));
    const char *name = reader->words[1];
    int value;
    if (!eki_choice_read(key->choices, name, strlen(name), &value))
        return refuse_value(reader, key);
    *(int64_t *)field_of(reader, key) = value;
    return EK_OK;
}

static ek_status take_count(struct reader *reader, const struct key *key)
{
    double value;
    EKI_TRY(check_words(reader, 2));
    if (!read_number(reader->words[1], &value) || value < key->min ||
        value > key->max || value != (double)(int64_t)value)
        return refuse_value(reader, key);
    *(int64_t *)field_of(reader, key) = (int64_t)value;
    return EK_OK;
}

static ek_status take_measure(struct reader *reader, const struct key *key)
{
    const struct unit *unit = key->units;
    double value;
    EKI_TRY(check_words(reader, 3));
    if (!read_number(reader->words[1], &value))
        return refuse_value(reader, key);
    while (unit->name &&
           (reader->count < 3 || strcmp(unit->name, reader->words[2]) != 0))
        unit++;
    if (!unit->name)
        return refuse_unit(reader, key->units);
    value *= unit->scale;
    if (!(value >= key->min && value <= key->max))
        return refuse_value(reader, key);
    *(double *)field_of(reader, key) =
        key->units == rate_units ? 1 / value : value;
    return EK_OK;
}

static ek_status take_like(struct reader *reader)
{
    EKI_TRY(check_words(reader, 2));
    if (reader->has_any)
        return refuse_line(reader, "like must be the first line");
    if (!eki_machine_preset(reader->words[1], &reader->machine))
        return refuse_line(reader, "unknown machine '%.40s'; allowed: %s",
                           reader->words[1], eki_machine_presets());
    return EK_OK;
}

static ek_status take_key(struct reader *reader)
{
    int k = 0;
    while (k < KEYS && strcmp(reader->words[0], table[k].name) != 0)
        k++;
    if (k == KEYS)
        return refuse_key(reader);
    if (reader->lines[k])
        return refuse_line(reader, "%s is given again; it was in line %d",
                           table[k].name, reader->lines[k]);
    const struct key *key = &table[k];
    reader->lines[k] = reader->line;
    if (key->units)
        return take_measure(reader, key);
    if (key->choices)
        return take_choice(reader, key);
    return key->max > 0 ? take_count(reader, key) : take_name(reader, key);
}

static ek_status take_line(struct reader *reader)
{
    EKI_TRY(cut_line(reader));
    if (reader->count == 0)
        return EK_OK;
    EKI_TRY(strcmp(reader->words[0], "like") == 0 ? take_like(reader)
                                                  : take_key(reader));
    reader->has_any = true;
    return EK_OK;
}

/* What several keys say together; the line is the last of them. */
static ek_status check_together(struct reader *reader)
{
    const struct eki_machine *machine = &reader->machine;
    reader->line = 0;
    for (int k = 0; k < KEYS; k++) {
        size_t offset = table[k].offset;
        bool is_of_cores = offset == offsetof(struct eki_machine, node_cores) ||
                           offset == offsetof(struct eki_machine, node_ranks) ||
                           offset == offsetof(struct eki_machine, has_server);
        if (is_of_cores && reader->lines[k] > reader->line)
            reader->line = reader->lines[k];
    }
    if (machine->node_cores % machine->node_ranks != 0)
        return refuse_line(reader,
                           "node_cores %" PRId64 " cannot be divided among "
                           "node_ranks %" PRId64 "; allowed: a multiple of it",
                           machine->node_cores, machine->node_ranks);
    if (eki_machine_workers(machine) < 1)
        return refuse_line(reader,
                           "no worker is left: a rank has %" PRId64
                           " cores, and its server "
                           "takes one; allowed: 2 or more, or progress polling",
                           machine->node_cores / machine->node_ranks);
    return EK_OK;
}

static ek_status read_lines(struct reader *reader, FILE *file)
{
    for (;;) {
        bool end = false;
        EKI_TRY(read_line(reader, file, &end));
        if (end)
            return check_together(reader);
        EKI_TRY(take_line(reader));
    }
}

ek_status eki_machine_read(const char *path, struct eki_machine *machine)
{
    struct reader reader = {.path = path, .machine = *machine};
    FILE *file = fopen(path, "r");
    if (!file)
        return refuse_file(&reader);
    ek_status status = read_lines(&reader, file);
    fclose(file);
    if (status == EK_OK)
        *machine = reader.machine;
    return status;
}

/* Append the value of a key, as the file has it. */
static void append_value(const struct key *key,
                         const struct eki_machine *machine, char *text,
                         size_t bytes)
{
    const void *field = (const char *)machine + key->offset;
    if (key->choices) {
        bool value = *(const int64_t *)field != 0;
        eki_append(text, bytes, "%s", eki_choice_of(key->choices, value)->name);
    } else if (key->max == 0) {
        eki_append(text, bytes, "%s", (const char *)field);
    } else if (!key->units) {
        append_measure(key, (double)*(const int64_t *)field, text, bytes);
    } else {
        double value = *(const double *)field;
        if (key->units == rate_units)
            value = value * key->max > 1 ? 1 / value : key->max;
        append_measure(key, value, text, bytes);
    }
}

void eki_machine_write(const struct eki_machine *machine, FILE *file)
{
    for (int k = 0; k < KEYS; k++) {
        char value[128] = "";
        append_value(&table[k], machine, value, sizeof value);
        fprintf(file, "%-14s %-16s # %s\n", table[k].name, value,
                table[k].help);
    }
}
