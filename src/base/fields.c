/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of structs as text, and choices, whose values are ints with names. */
#include "base/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
    ALLOWED_BYTES = 256, /* what a row allows, in words */
    VALUE_SHOWN = 200    /* of a longer one: what is allowed must still fit */
};

/* Bytes of the name with the colon, where it comes with a chunk, as in
 * counter:1...16; 0: it is all of the name. */
static size_t stem_bytes(const struct eki_choice *choice)
{
    const char *colon = strchr(choice->name, ':');
    return colon && strstr(colon, "...") ? (size_t)(colon + 1 - choice->name)
                                         : 0;
}

static bool is_value_of(const struct eki_choice *choice, int value)
{
    if (stem_bytes(choice) == 0)
        return choice->value == value;
    return value >= 0 && eki_unchunked(value) == choice->value &&
           eki_chunk_of(value) <= EKI_CHUNK_MOST;
}

const struct eki_choice *eki_choice_of(const struct eki_choice *choices,
                                       int value)
{
    for (; choices->name != NULL; choices++) {
        if (is_value_of(choices, value))
            return choices;
    }
    return NULL;
}

/* The choice of that NAME, of BYTES; NULL: none. */
static const struct eki_choice *find_choice(const struct eki_choice *choices,
                                            const char *name, size_t bytes)
{
    for (; choices->name != NULL; choices++) {
        if (stem_bytes(choices) == 0 && strlen(choices->name) == bytes &&
            memcmp(choices->name, name, bytes) == 0)
            return choices;
    }
    return NULL;
}

bool eki_digits_read(const char **text, const char *end, int64_t *number)
{
    const char *at = *text;
    int64_t value = 0;
    while (at < end && *at >= '0' && *at <= '9') {
        int digit = *at++ - '0';
        if (value > (INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (at == *text)
        return false;
    *text = at;
    *number = value;
    return true;
}

bool eki_time_read(const char *text, int64_t *number, uint64_t *ns)
{
    static const struct unit {
        const char *name;
        uint64_t ns;
    } units[] = {{"", 0},
                 {"ms", 1000000},
                 {"s", 1000000000},
                 {"min", UINT64_C(60000000000)},
                 {"h", UINT64_C(3600000000000)},
                 {NULL, 0}};
    const struct unit *unit = units;
    if (!eki_digits_read(&text, text + strlen(text), number) ||
        *number > 1000000)
        return false;
    while (unit->name && strcmp(unit->name, text) != 0)
        unit++;
    *ns = (uint64_t)*number * unit->ns;
    return unit->name != NULL;
}

bool eki_choice_read(const struct eki_choice *choices, const char *text,
                     size_t bytes, int *value)
{
    const struct eki_choice *found = find_choice(choices, text, bytes);
    const char *end = text + bytes;
    for (; !found && choices->name != NULL; choices++) {
        size_t stem = stem_bytes(choices);
        const char *at = text + stem;
        int64_t chunk;
        if (stem == 0 || bytes < stem ||
            memcmp(choices->name, text, stem) != 0 ||
            !eki_digits_read(&at, end, &chunk) || at != end || chunk < 1 ||
            chunk > EKI_CHUNK_MOST)
            continue;
        *value = eki_chunked(choices->value, (int)chunk);
        return true;
    }
    if (found)
        *value = found->value;
    return found != NULL;
}

void eki_choice_text(const struct eki_choice *choices, int value, char *text,
                     size_t bytes)
{
    const struct eki_choice *choice = eki_choice_of(choices, value);
    int stem = choice ? (int)stem_bytes(choice) : 0;
    if (!choice)
        eki_append(text, bytes, "%d", value);
    else if (stem == 0)
        eki_append(text, bytes, "%s", choice->name);
    else
        eki_append(text, bytes, "%.*s%d", stem, choice->name,
                   eki_chunk_of(value));
}

void eki_choice_list(const struct eki_choice *choices, char *text, size_t bytes)
{
    const char *separator = "";
    for (; choices->name != NULL; choices++) {
        eki_append(text, bytes, "%s%s", separator, choices->name);
        separator = ", ";
    }
}

size_t eki_field_bytes(const struct eki_field *field)
{
    static const size_t sizes[] = {[EKI_FIELD_INTEGER] = sizeof(int64_t),
                                   [EKI_FIELD_ID] = sizeof(uint64_t),
                                   [EKI_FIELD_NUMBER] = sizeof(int),
                                   [EKI_FIELD_REAL] = sizeof(double),
                                   [EKI_FIELD_CHOICE] = sizeof(int),
                                   [EKI_FIELD_FLAG] = sizeof(bool),
                                   [EKI_FIELD_TEXT] = sizeof(char *),
                                   [EKI_FIELD_NAME] = sizeof(char[64])};
    return sizes[field->type];
}

bool eki_field_is_allowed(const struct eki_field *field, const void *value)
{
    int64_t integer;
    double real;
    const char *text;
    switch (field->type) {
    case EKI_FIELD_INTEGER:
        integer = *(const int64_t *)value;
        return (field->min <= integer && integer <= field->max) ||
               (field->takes_zero && integer == 0);
    case EKI_FIELD_REAL:
        /* What is not a number is not allowed. */
        real = *(const double *)value;
        return field->real_min <= real && real <= field->real_max;
    case EKI_FIELD_CHOICE:
        return eki_choice_of(field->choices, *(const int *)value) != NULL;
    case EKI_FIELD_TEXT:
        text = *(const char *const *)value;
        return text && strlen(text) < field->text_bytes &&
               field->is_allowed(text);
    default:
        return true;
    }
}

/* The whole of TEXT as a number, without the spaces that strtoll() skips. */
static bool integer_read(const char *text, int64_t *value)
{
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    if (digits[0] < '0' || digits[0] > '9')
        return false;
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

/* The whole of TEXT as digits with a point, whatever the locale has.  With the
 * first fifteen that is the nearest number; others behind the point are not
 * looked at. */
static bool real_read(const char *text, double *value)
{
    int digits = 0, after = -1;
    double power = 1;
    *value = 0;
    for (; *text != '\0'; text++) {
        if (*text == '.' && after < 0) {
            after = 0;
            continue;
        }
        if (*text < '0' || *text > '9' || (++digits > 15 && after < 0))
            return false;
        if (digits > 15)
            continue;
        *value = 10 * *value + (*text - '0');
        after += after >= 0;
    }
    for (; after > 0; after--)
        power *= 10;
    *value /= power;
    return digits > 0;
}

static bool flag_read(const char *text, bool *value)
{
    *value = strcmp(text, "true") == 0;
    return *value || strcmp(text, "false") == 0;
}

union value {
    int64_t integer;
    double real;
    int choice;
    bool flag;
    const char *text;
};

static bool value_read(const struct eki_field *field, const char *text,
                       union value *value)
{
    switch (field->type) {
    case EKI_FIELD_INTEGER:
        return integer_read(text, &value->integer);
    case EKI_FIELD_REAL:
        return real_read(text, &value->real);
    case EKI_FIELD_CHOICE:
        return eki_choice_read(field->choices, text, strlen(text),
                               &value->choice);
    case EKI_FIELD_FLAG:
        return flag_read(text, &value->flag);
    default:
        value->text = text;
        return field->type == EKI_FIELD_TEXT;
    }
}

bool eki_field_read(const struct eki_field *field, const char *text,
                    void *object)
{
    union value value;
    if (!value_read(field, text, &value) ||
        !eki_field_is_allowed(field, &value))
        return false;
    memcpy((char *)object + field->offset, &value, eki_field_bytes(field));
    return true;
}

/* Append VALUE with a point, whatever the locale has. */
static void real_append(double value, int digits, char *text, size_t bytes)
{
    char number[32];
    snprintf(number, sizeof number, "%.*g", digits, value);
    char *comma = strchr(number, ',');
    if (comma != NULL)
        *comma = '.';
    eki_append(text, bytes, "%s", number);
}

void eki_field_append(const struct eki_field *field, const void *object,
                      int digits, char *text, size_t bytes)
{
    const void *at = eki_field_at(field, object);
    const char *string;
    switch (field->type) {
    case EKI_FIELD_INTEGER:
        eki_append(text, bytes, "%" PRId64, *(const int64_t *)at);
        break;
    case EKI_FIELD_ID:
        eki_append(text, bytes, "%" PRIu64, *(const uint64_t *)at);
        break;
    case EKI_FIELD_NUMBER:
        eki_append(text, bytes, "%d", *(const int *)at);
        break;
    case EKI_FIELD_REAL:
        real_append(*(const double *)at, digits, text, bytes);
        break;
    case EKI_FIELD_CHOICE:
        eki_choice_text(field->choices, *(const int *)at, text, bytes);
        break;
    case EKI_FIELD_FLAG:
        eki_append(text, bytes, "%s", *(const bool *)at ? "true" : "false");
        break;
    case EKI_FIELD_TEXT:
    case EKI_FIELD_NAME:
        string = field->type == EKI_FIELD_NAME ? at : *(const char *const *)at;
        eki_append(text, bytes, "%s", string != NULL ? string : "");
        break;
    }
}

static void integer_append_allowed(const struct eki_field *field, char *text,
                                   size_t bytes)
{
    bool adds_zero = field->takes_zero && field->min > 0;
    eki_append(text, bytes, "%s%" PRId64 " ... %" PRId64 "%s%s",
               adds_zero ? "0, " : "", field->min, field->max,
               field->unit[0] != '\0' ? " " : "", field->unit);
}

void eki_field_append_allowed(const struct eki_field *field, char *text,
                              size_t bytes)
{
    switch (field->type) {
    case EKI_FIELD_INTEGER:
        integer_append_allowed(field, text, bytes);
        break;
    case EKI_FIELD_REAL:
        real_append(field->real_min, 15, text, bytes);
        eki_append(text, bytes, " ... ");
        real_append(field->real_max, 15, text, bytes);
        break;
    case EKI_FIELD_CHOICE:
        eki_choice_list(field->choices, text, bytes);
        break;
    case EKI_FIELD_FLAG:
        eki_append(text, bytes, "true, false");
        break;
    case EKI_FIELD_TEXT:
        eki_append(text, bytes, "%s", field->allowed);
        break;
    default:
        break;
    }
}

ek_status eki_field_refuse(const struct eki_field *field, const char *variable,
                           const char *value, const char *quote)
{
    char allowed[ALLOWED_BYTES] = "";
    eki_field_append_allowed(field, allowed, sizeof allowed);
    return eki_error(EK_ERR_ARG, "%s%s: %s%.*s%s is not allowed; allowed: %s",
                     variable ? "" : "option ",
                     variable ? variable : field->name, quote, VALUE_SHOWN,
                     value, quote, allowed);
}
