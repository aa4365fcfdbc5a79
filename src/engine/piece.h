/* SPDX-License-Identifier: BSD-3-Clause */
/* piece: the part of a range that a worker runs between two steps. */
#ifndef EKI_ENGINE_PIECE_H
#define EKI_ENGINE_PIECE_H

#include "base/base.h"

#include <stdatomic.h>

#define EKI_PIECE_MAX 512 /* indices of a piece of a range */

/* The part of a range that runs: first <= index <= last; first < 0: none. */
struct eki_piece {
    _Atomic int64_t index; /* others may look, see look.h */
    int64_t last;
    int64_t first;     /* that ran since the last time stamp: short ones ... */
    int64_t nulls;     /* ... and behind them so many that are null */
    int64_t ran;       /* before the last time stamp */
    uint64_t begun;    /* clock when the piece began, about */
    uint64_t seen;     /* clock when the last of the short ones ended */
    uint64_t id;       /* of index 0 of the range, so to speak */
    uint16_t function; /* of the range */
    int32_t size;      /* adaptive, 1 ... EKI_PIECE_MAX */
    double null_ns;    /* what a null index takes, about */
    /* Function and id again, for others to look at. */
    _Atomic int shown_function; /* -1: no piece is open */
    _Atomic uint64_t shown_id;
};

/* The next index of the piece, for its own worker. */
static inline int64_t eki_piece_index(const struct eki_piece *piece)
{
    /* relaxed: written by this thread. */
    return atomic_load_explicit(&piece->index, memory_order_relaxed);
}

static inline void eki_piece_set_index(struct eki_piece *piece, int64_t index)
{
    /* relaxed: a look at it orders nothing. */
    atomic_store_explicit(&piece->index, index, memory_order_relaxed);
}

/* Short indices since the last time stamp. */
static inline int64_t eki_piece_shorts(const struct eki_piece *piece)
{
    return eki_piece_index(piece) - piece->first - piece->nulls;
}

#endif
