/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fields: what a struct holds, a row per member, which drives reading from
 * text, checks, messages and print; and the choices that members have.
 */
#ifndef EKI_FIELDS_H
#define EKI_FIELDS_H

#include "base/base.h"

/* Name of an enum's value; a list of them ends with a NULL name. */
struct eki_choice {
    const char *name;
    int value;
};

/* The choice of that value; NULL: none. */
const struct eki_choice *eki_choice_of(const struct eki_choice *choices,
                                       int value);

/*
 * A choice may come with a chunk, such as counter:16: behind the row of
 * "counter" stands one of the same value whose name has a colon and what is
 * allowed.  The value is then eki_chunked(); counter:1 is counter.  The row of
 * a chunk that has a word for a name has that value.
 */

/* The value of TEXT (BYTES long), a name or one with a chunk; false: none. */
bool eki_choice_read(const struct eki_choice *choices, const char *text,
                     size_t bytes, int *value);
/* Append the text of a value, a wrong one as its number. */
void eki_choice_text(const struct eki_choice *choices, int value, char *text,
                     size_t bytes);
/* Append "a, b, c" to TEXT. */
void eki_choice_list(const struct eki_choice *choices, char *text,
                     size_t bytes);
/* Read digits at *TEXT, below END, and step over them; false: there are none,
 * or too many. */
bool eki_digits_read(const char **text, const char *end, int64_t *number);
/* Read a number up to 1000000 and its unit: ms, s, min, h or none; *NS is as
 * much, 0 without a unit. */
bool eki_time_read(const char *text, int64_t *number, uint64_t *ns);

enum eki_field_type {
    EKI_FIELD_INTEGER, /* int64_t */
    EKI_FIELD_ID,      /* uint64_t */
    EKI_FIELD_NUMBER,  /* int */
    EKI_FIELD_REAL,    /* double */
    EKI_FIELD_CHOICE,  /* int, or an enum that is one */
    EKI_FIELD_FLAG,    /* bool */
    EKI_FIELD_TEXT,    /* const char * */
    EKI_FIELD_NAME     /* char[64] */
};

struct eki_field {
    const char *name;
    size_t offset; /* in the struct */
    enum eki_field_type type;
    const char *unit; /* "": none */
    const char *help;

    /* What is allowed of those that are read. */
    int64_t min, max;
    bool takes_zero; /* beside min ... max: the default */
    double real_min, real_max;
    const struct eki_choice *choices;
    bool (*is_allowed)(const char *text); /* texts; shorter than TEXT_BYTES */
    const char *allowed;
    size_t text_bytes;
};

static inline const void *eki_field_at(const struct eki_field *row,
                                       const void *object)
{
    return (const char *)object + row->offset;
}

/* Bytes of the field. */
size_t eki_field_bytes(const struct eki_field *field);
/* Whether the value there (eki_field_at()) is allowed. */
bool eki_field_is_allowed(const struct eki_field *field, const void *value);
/* Take the value from TEXT, which is borrowed; false, and no change: it is not
 * allowed. */
bool eki_field_read(const struct eki_field *field, const char *text,
                    void *object);
/* EK_ERR_ARG: what the VARIABLE or (NULL) the option of that name says, VALUE
 * between two QUOTEs, is not allowed. */
ek_status eki_field_refuse(const struct eki_field *field, const char *variable,
                           const char *value, const char *quote);
/* Append what OBJECT has there, reals with that many DIGITS. */
void eki_field_append(const struct eki_field *field, const void *object,
                      int digits, char *text, size_t bytes);
/* Append what is allowed. */
void eki_field_append_allowed(const struct eki_field *field, char *text,
                              size_t bytes);

#endif
