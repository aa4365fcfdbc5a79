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
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum {
    LINE_BYTES = 256, /* without comments */
    WORDS_MAX = 3,
    ALLOWED_BYTES = 400
};

enum key_kind {
    KEY_NAME,
    KEY_CHOICE,
    KEY_COUNT,
    KEY_TIME, /* nanoseconds */
    KEY_RATE, /* nanoseconds per byte; in files bytes per time */
    KEY_SHARE /* percent */
};

struct key {
    const char *name;
    enum key_kind kind;
    size_t offset;   /* in eki_machine */
    double min, max; /* counts, ns, GB/s */
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
    {"name", KEY_NAME, FIELD(name), .help = "in tables and messages"},
    {"node_cores", KEY_COUNT, FIELD(node_cores), 1, 65536,
     .help = "cores of a node that Evenkeel uses"},
    {"node_ranks", KEY_COUNT, FIELD(node_ranks), 1, 65536,
     .help = "ranks that divide them"},
    {"progress", KEY_CHOICE, FIELD(has_server), .choices = progress_choices,
     .help = "server: one core of each rank moves messages"},
    {"crowded", KEY_CHOICE, FIELD(is_crowded), .choices = yes_choices,
     .help = "yes: more threads than cores"},
    {"latency", KEY_TIME, FIELD(latency), 0, SECOND,
     .help = "message between nodes, one way, without overheads"},
    {"send", KEY_TIME, FIELD(send), 0, SECOND,
     .help = "of a core, to send one"},
    {"gap", KEY_TIME, FIELD(gap), 0, SECOND,
     .help = "between two messages of a burst"},
    {"bandwidth", KEY_RATE, FIELD(byte), 1e-6, 1e6, .help = "of long messages"},
    {"handle", KEY_TIME, FIELD(handle), 0, SECOND,
     .help = "of a server, for one active message"},
    {"poll", KEY_TIME, FIELD(poll), 1, SECOND,
     .help = "server step that finds nothing"},
    {"poll_period", KEY_TIME, FIELD(poll_period), 1, SECOND,
     .help = "polling: a busy worker steps the server so often"},
    {"probe", KEY_TIME, FIELD(probe), 1, SECOND,
     .help = "look at a word that another core has written"},
    {"atomic", KEY_TIME, FIELD(atomic), 0, SECOND,
     .help = "atomic on a word that others want, too"},
    {"copy_bandwidth", KEY_RATE, FIELD(copy_byte), 1e-6, 1e6,
     .help = "to copy what another core has written"},
    {"task", KEY_TIME, FIELD(task), 0, SECOND,
     .help = "to take a task and to log it"},
    {"restore", KEY_TIME, FIELD(restore), 0, SECOND,
     .help = "of a task that stays where it is"},
    {"balance", KEY_TIME, FIELD(balance), 0, SECOND,
     .help = "of a rebalancer, for one task descriptor"},
    {"pause_share", KEY_SHARE, FIELD(pause_share), 0, 90,
     .help = "of the time in which a core does other things"},
    {"pause", KEY_TIME, FIELD(pause), 0, 10 * SECOND,
     .help = "how long it does so at once, on average"},
};

enum {
    KEYS = sizeof table / sizeof *table
};

/* Times: nanoseconds of one.  Rates: gigabytes per second of one.  Shares:
 * percent. */
struct unit {
    const char *name;
    double scale;
};

static const struct unit time_units[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit rate_units[] = {
    {"MB/s", 1e-3}, {"GB/s", 1}, {NULL, 0}};
static const struct unit share_units[] = {{"%", 1}, {NULL, 0}};

static const struct unit *units_of(const struct key *key)
{
    if (key->kind == KEY_TIME)
        return time_units;
    if (key->kind == KEY_SHARE)
        return share_units;
    return key->kind == KEY_RATE ? rate_units : NULL;
}

/* The largest unit of which VALUE is one or more, else the smallest. */
static const struct unit *unit_for(const struct unit *units, double value)
{
    while (units[1].name && value >= units[1].scale)
        units++;
    return units;
}

/* Append a time or a rate, with its unit. */
static void append_measure(const struct key *key, double value, char *text,
                           size_t bytes)
{
    const struct unit *unit = unit_for(units_of(key), value);
    eki_append(text, bytes, "%.12g %s", value / unit->scale, unit->name);
}

static double rate_of(double ns)
{
    return ns > 0 ? 1 / ns : HUGE_VAL;
}

struct reader {
    const char *path;
    FILE *file;
    int line;
    char text[LINE_BYTES]; /* of the line, cut into words */
    char *words[WORDS_MAX];
    int count;       /* of words */
    int lines[KEYS]; /* where each key was; 0: nowhere */
    bool has_any;    /* key, or like */
    struct eki_machine machine;
};

static ek_status EKI_PRINTF(2, 3)
    refuse(const struct reader *reader, const char *format, ...)
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
static ek_status read_line(struct reader *reader, bool *end)
{
    bool in_comment = false;
    int c, length = 0, seen = 0;
    reader->line++;
    errno = 0;
    while ((c = getc(reader->file)) != EOF && c != '\n') {
        seen = 1;
        if (c == '\0')
            return refuse(reader, "a NUL byte: this is no text");
        in_comment |= c == '#';
        if (in_comment)
            continue;
        if (length == LINE_BYTES - 1)
            return refuse(reader,
                          "the line is too long; allowed: %d characters and a "
                          "comment",
                          LINE_BYTES - 1);
        reader->text[length++] = (char)c;
    }
    if (ferror(reader->file))
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
            return refuse(reader, "unexpected '%.40s'; allowed: KEY VALUE UNIT",
                          at);
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
    return refuse(reader, "unknown key '%.40s'; allowed: %s", reader->words[0],
                  names);
}

/* What a row allows, in words. */
static void allowed_text(const struct key *key, char *text, size_t bytes)
{
    switch (key->kind) {
    case KEY_NAME:
        eki_append(text, bytes, "1 to 63 characters of A-Z a-z 0-9 _ . -");
        break;
    case KEY_CHOICE:
        eki_choice_list(key->choices, text, bytes);
        break;
    case KEY_COUNT:
        eki_append(text, bytes, "%.0f ... %.0f", key->min, key->max);
        break;
    case KEY_TIME:
    case KEY_RATE:
    case KEY_SHARE:
        append_measure(key, key->min, text, bytes);
        eki_append(text, bytes, " ... ");
        append_measure(key, key->max, text, bytes);
        break;
    }
}

static ek_status refuse_value(const struct reader *reader,
                              const struct key *key)
{
    char allowed[ALLOWED_BYTES] = "";
    bool has_unit = reader->count == 3;
    allowed_text(key, allowed, sizeof allowed);
    return refuse(reader, "%s '%.40s%s%.40s' is not allowed; allowed: %s",
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
        return refuse(reader, "%s %.40s has no unit; allowed: %s",
                      reader->words[0], reader->words[1], names);
    return refuse(reader, "unknown unit '%.40s'; allowed: %s", reader->words[2],
                  names);
}

/* WORDS that a key takes, itself included. */
static ek_status check_words(const struct reader *reader, int words)
{
    if (reader->count < 2)
        return refuse(reader, "%s has no value", reader->words[0]);
    if (reader->count > words)
        return refuse(reader, "%s takes one value: unexpected '%.40s'",
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

static bool is_in_range(const struct key *key, double value)
{
    return value >= key->min && value <= key->max;
}

static void put(struct reader *reader, const struct key *key, const void *value,
                size_t bytes)
{
    memcpy((char *)&reader->machine + key->offset, value, bytes);
}

static ek_status take_name(struct reader *reader, const struct key *key)
{
    const char *name = reader->words[1];
    EKI_TRY(check_words(reader, 2));
    if (!eki_is_collection_name(name, strlen(name)))
        return refuse_value(reader, key);
    put(reader, key, name, strlen(name) + 1);
    return EK_OK;
}

static ek_status take_choice(struct reader *reader, const struct key *key)
{
    EKI_TRY(check_words(reader, 2));
    const struct eki_choice *choice = eki_choice_find(
        key->choices, reader->words[1], strlen(reader->words[1]));
    if (!choice)
        return refuse_value(reader, key);
    int64_t value = choice->value;
    put(reader, key, &value, sizeof value);
    return EK_OK;
}

static ek_status take_count(struct reader *reader, const struct key *key)
{
    double value;
    EKI_TRY(check_words(reader, 2));
    if (!read_number(reader->words[1], &value) || !is_in_range(key, value) ||
        value != (double)(int64_t)value)
        return refuse_value(reader, key);
    int64_t count = (int64_t)value;
    put(reader, key, &count, sizeof count);
    return EK_OK;
}

static ek_status take_measure(struct reader *reader, const struct key *key)
{
    const struct unit *unit = units_of(key);
    double value;
    EKI_TRY(check_words(reader, 3));
    if (!read_number(reader->words[1], &value))
        return refuse_value(reader, key);
    while (unit->name &&
           (reader->count < 3 || strcmp(unit->name, reader->words[2]) != 0))
        unit++;
    if (!unit->name)
        return refuse_unit(reader, units_of(key));
    value *= unit->scale;
    if (!is_in_range(key, value))
        return refuse_value(reader, key);
    if (key->kind == KEY_RATE)
        value = 1 / value;
    put(reader, key, &value, sizeof value);
    return EK_OK;
}

static ek_status take_like(struct reader *reader)
{
    EKI_TRY(check_words(reader, 2));
    if (reader->has_any)
        return refuse(reader, "like must be the first line");
    if (!eki_machine_preset(reader->words[1], &reader->machine))
        return refuse(reader, "unknown machine '%.40s'; allowed: %s",
                      reader->words[1], eki_machine_presets());
    return EK_OK;
}

static ek_status take_key(struct reader *reader, int k)
{
    const struct key *key = &table[k];
    if (reader->lines[k])
        return refuse(reader, "%s again; it was in line %d", key->name,
                      reader->lines[k]);
    reader->lines[k] = reader->line;
    switch (key->kind) {
    case KEY_NAME:
        return take_name(reader, key);
    case KEY_CHOICE:
        return take_choice(reader, key);
    case KEY_COUNT:
        return take_count(reader, key);
    case KEY_TIME:
    case KEY_RATE:
    case KEY_SHARE:
        break;
    }
    return take_measure(reader, key);
}

static ek_status take_line(struct reader *reader)
{
    EKI_TRY(cut_line(reader));
    if (reader->count == 0)
        return EK_OK;
    if (strcmp(reader->words[0], "like") == 0) {
        EKI_TRY(take_like(reader));
        reader->has_any = true;
        return EK_OK;
    }
    reader->has_any = true;
    for (int k = 0; k < KEYS; k++) {
        if (strcmp(reader->words[0], table[k].name) == 0)
            return take_key(reader, k);
    }
    return refuse_key(reader);
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
        return refuse(reader,
                      "node_cores %" PRId64 " cannot be divided among "
                      "node_ranks %" PRId64 "; allowed: a multiple of it",
                      machine->node_cores, machine->node_ranks);
    if (eki_machine_workers(machine) < 1)
        return refuse(reader,
                      "no worker is left: a rank has %" PRId64 " cores, and "
                      "its server takes one; allowed: 2 or more, or progress "
                      "polling",
                      machine->node_cores / machine->node_ranks);
    return EK_OK;
}

static ek_status read_lines(struct reader *reader)
{
    for (;;) {
        bool end = false;
        EKI_TRY(read_line(reader, &end));
        if (end)
            return check_together(reader);
        EKI_TRY(take_line(reader));
    }
}

ek_status eki_machine_read(const char *path, struct eki_machine *machine)
{
    struct reader reader = {.path = path, .machine = *machine};
    reader.file = fopen(path, "r");
    if (!reader.file)
        return refuse_file(&reader);
    ek_status status = read_lines(&reader);
    fclose(reader.file);
    if (status == EK_OK)
        *machine = reader.machine;
    return status;
}

/* Append the value of a key, as the file has it. */
static void append_value(const struct key *key,
                         const struct eki_machine *machine, char *text,
                         size_t bytes)
{
    const char *field = (const char *)machine + key->offset;
    int64_t number;
    double value;
    switch (key->kind) {
    case KEY_NAME:
        eki_append(text, bytes, "%s", field);
        break;
    case KEY_CHOICE:
        memcpy(&number, field, sizeof number);
        eki_append(text, bytes, "%s",
                   eki_choice_of(key->choices, number != 0)->name);
        break;
    case KEY_COUNT:
        memcpy(&number, field, sizeof number);
        eki_append(text, bytes, "%" PRId64, number);
        break;
    case KEY_TIME:
    case KEY_SHARE:
        memcpy(&value, field, sizeof value);
        append_measure(key, value, text, bytes);
        break;
    case KEY_RATE:
        memcpy(&value, field, sizeof value);
        value = rate_of(value);
        append_measure(key, value < key->max ? value : key->max, text, bytes);
        break;
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
