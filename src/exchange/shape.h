/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape: the fields of a message's body as rows of a table, by which it is
 * checked, and added to what others have told.
 *
 * Rows say what is the same in every job.  Bounds that depend on the topology
 * or on what has come before are for the code of who takes the message.
 */
#ifndef EKI_EXCHANGE_SHAPE_H
#define EKI_EXCHANGE_SHAPE_H

#include "base/base.h"

/* How a field of several messages becomes one. */
enum eki_fold {
    EKI_FOLD_NONE,    /* it does not */
    EKI_FOLD_SUM,     /* added up, and so the sum keeps the bounds */
    EKI_FOLD_LARGEST, /* the largest counts */
    EKI_FOLD_WRAP     /* added up without bounds: a hash, or checked by code */
};

struct eki_row {
    const char *name;     /* in the sentence that refuses it */
    size_t offset, bytes; /* of an int32_t or an int64_t */
    int64_t least, most;
    enum eki_fold fold;
};

struct eki_shape {
    const struct eki_row *rows;
    int count;
};

/* A row for a MEMBER of STRUCTURE. */
#define EKI_ROW(structure, member, name, least, most, fold)                  \
    {                                                                        \
        name, offsetof(structure, member), sizeof(((structure *)0)->member), \
            least, most, fold                                                \
    }
#define EKI_SHAPE(rows)                            \
    {                                              \
        rows, (int)(sizeof(rows) / sizeof *(rows)) \
    }

/* The first field that does not fit: its name, and what is allowed. */
struct eki_unfit {
    const char *name;
    int64_t value, least, most;
};

/* Whether all fields of BODY fit, with what is summed up in SUMS, which has the
 * same shape (NULL: nothing); else *UNFIT says why not. */
bool eki_shape_fits(const struct eki_shape *shape, const void *body,
                    const void *sums, struct eki_unfit *unfit);
/* Add a BODY that fits to SUMS. */
void eki_shape_fold(const struct eki_shape *shape, const void *body,
                    void *sums);

#endif
