/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/shape.h"

#include <string.h>

static int64_t value_of(const struct eki_row *row, const void *body)
{
    const unsigned char *at = (const unsigned char *)body + row->offset;
    int32_t narrow;
    int64_t wide;
    if (row->bytes == sizeof wide) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

bool eki_shape_fits(const struct eki_shape *shape, const void *body,
                    const void *sums, struct eki_unfit *unfit)
{
    for (const struct eki_row *row = shape->rows;
         row != shape->rows + shape->count; row++) {
        int64_t value = value_of(row, body), most = row->most;
        if (row->fold == EKI_FOLD_SUM && sums)
            most -= value_of(row, sums);
        if (EKI_LIKELY(value >= row->least && value <= most))
            continue;
        *unfit = (struct eki_unfit){row->name, value, row->least, most};
        return false;
    }
    return true;
}

void eki_shape_fold(const struct eki_shape *shape, const void *body, void *sums)
{
    for (const struct eki_row *row = shape->rows;
         row != shape->rows + shape->count; row++) {
        int64_t value = value_of(row, body), sum = value_of(row, sums);
        if (row->fold == EKI_FOLD_LARGEST)
            value = value > sum ? value : sum;
        else /* without sign: a hash may wrap */
            value = (int64_t)((uint64_t)value + (uint64_t)sum);
        EKI_ASSERT(row->fold == EKI_FOLD_NONE || row->bytes == sizeof value);
        if (row->fold != EKI_FOLD_NONE)
            memcpy((unsigned char *)sums + row->offset, &value, sizeof value);
    }
}
