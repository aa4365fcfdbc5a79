/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages: what the parcels of a rebalance have in them, and what the fields
 * of each are compared with.
 *
 * Every number is an int64_t, or two int32_t, so that all is aligned: a parcel
 * is a struct, an array, or sections, each of which has one of these.
 */
#ifndef EKI_REBALANCE_MESSAGES_H
#define EKI_REBALANCE_MESSAGES_H

#include "engine/decode.h"
#include "exchange/shape.h"
#include "rebalance/parcel.h"
#include "rebalance/rebalance.h"

enum eki_parcel_kind {
    EKI_PARCEL_TOTALS = 1,
    EKI_PARCEL_TARGET,
    EKI_PARCEL_OFFER,
    EKI_PARCEL_LEFT,
    EKI_PARCEL_GIVEN,
    EKI_PARCEL_OPEN,
    EKI_PARCEL_OPENED,
    EKI_PARCEL_PLAN,
    EKI_PARCEL_UP, /* these three: of src/printed */
    EKI_PARCEL_DOWN,
    EKI_PARCEL_FETCH,
    EKI_PARCEL_RESULT,
    EKI_PARCEL_OVER
};

/* Hints are summed in whole numbers of this part of 1, so that sums do not
 * depend on their order.  The least hint, 2^-16, is 4 of them, and half a
 * billion of the largest, 2^16, fit 63 bits. */
#define EKI_HINT_UNIT (1 << 18)

/* What is known of the durations of a function. */
struct eki_known {
    int64_t measured, measured_ns; /* tasks that have run, and their sum */
    int64_t unmeasured, hints; /* tasks that have not; hints in EKI_HINT_UNIT */
    int64_t largest_hint;
};

/* Speeds are told in whole numbers of this part of 1, so that sums do not
 * depend on their order.  They are from 1 / EKI_SPEED_MOST to
 * EKI_SPEED_MOST. */
#define EKI_SPEED_UNIT (1 << 20)
#define EKI_SPEED_MOST 16

static inline double eki_speed_fastest(int64_t faster)
{
    return 1 + (double)faster / EKI_SPEED_UNIT;
}

/* The head of a TOTALS; a struct eki_known for each function follows, and the
 * measured tasks by size, where they are few. */
struct eki_totals_told {
    struct eki_totals totals; /* of measured tasks, but TASKS is of all */
    struct eki_noise noise;
    struct eki_speeds {
        int64_t more;   /* sum over workers of their speeds - 1 ... */
        int64_t faster; /* ... and the largest, or 0; in EKI_SPEED_UNIT */
    } speeds;
    struct eki_lap_told {
        eki_ns wall, work;          /* the longest stay; of all tasks */
        int64_t spawned, cancelled; /* tasks */
    } lap;
};

/* Tasks of one class of struct eki_sizes. */
struct eki_size_told {
    int64_t size, count;
    eki_ns shortest;
};

/* The head of a TARGET; for each function the nanoseconds of a unit of hint
 * follow, as doubles. */
struct eki_target_told {
    eki_ns target;
    int64_t slack, is_balanced; /* 0 or 1 */
    int64_t is_whole;           /* 0 or 1: all workers are one group */
    int64_t faster;             /* of all speeds */
    struct eki_totals totals;   /* of all tasks */
};

/* The head of an OFFER; the load that each worker keeps follows, and the items
 * that were shed. */
struct eki_offer_told {
    int64_t workers, items, fewest;
    int64_t fewest_across; /* tasks that must leave the node of the rank */
    eki_ns largest;        /* the largest load before anything was shed */
};

/* An OPEN: the tasks that workers of the group have kept, of these durations.
 * The workers follow, ascending, int32_t; none: all of them. */
struct eki_open_told {
    eki_ns least, most; /* more than the least, at most the most */
};

/* An entry of a PLAN: where one task goes. */
struct eki_plan_told {
    int32_t from, index, to, reserved;
};

/* A RESULT of one group or rank, or an OVER of all. */
struct eki_result_told {
    eki_ns before, after; /* the largest loads */
    int64_t moved, fewest;
    int64_t across, fewest_across; /* between nodes */
    uint64_t hash;
    /* Of an OVER: what was chosen. */
    int64_t is_quiet, pause, why_restore, why_steal;
};

/* The fields whose bounds are the same in every job, and how those of TOTALS
 * and RESULTs are summed up. */
extern const struct eki_shape eki_known_shape, eki_totals_shape,
    eki_target_shape, eki_result_shape, eki_over_shape;

const char *eki_parcel_name(int what);

/* Workers FIRST ... LAST; none: LAST < FIRST. */
struct eki_run {
    int first, last;
};

/* BYTES of items of WORKERS, whose durations are added to *SUM. */
bool eki_fits_items(const struct eki_decode *decode,
                    const struct eki_item *items, int64_t bytes,
                    struct eki_run workers, eki_ns *sum);
/* A body of whole ITEM_BYTES behind the HEAD_BYTES. */
bool eki_fits_parcel(const struct eki_decode *decode,
                     const struct eki_parcel *parcel, size_t head_bytes,
                     size_t item_bytes);

/* A parcel that is gathered from several, or for several, has a *section* of
 * each: of a rank (OFFER, OPENED, PLAN) or of a group (LEFT, GIVEN).  Its body
 * follows. */
struct eki_section {
    int64_t of;
    int64_t bytes; /* of the body; a multiple of 8 */
};

/* Whether a parcel is whole sections, each with a body of whole words. */
bool eki_sections_fit(const struct eki_decode *decode,
                      const struct eki_parcel *parcel);
/* The section after SECTION, or the first (NULL); NULL: none is left.  Whoever
 * calls knows that sections fit. */
const struct eki_section *eki_section_next(const struct eki_parcel *parcel,
                                           const struct eki_section *section);

/* A section of each of COUNT ranks or groups, which begin with FIRST. */
struct eki_heard {
    const char *one, *all; /* what one is, and several are, in words */
    int first, count;
    const struct eki_section **sections; /* [count], while a parcel is taken */
};

/* Whether a parcel has each section once, and no other; lists them. */
bool eki_sections_hear(const struct eki_decode *decode,
                       const struct eki_parcel *parcel,
                       struct eki_heard *heard);

/* The share of one rank, or group, in what is dealt.  A first pass counts its
 * bytes, a second one writes them. */
struct eki_deal {
    int64_t bytes;      /* that it gets */
    unsigned char *end; /* where what comes next goes */
};

/* Begin its section, OF one, at AT; returns where the next one begins. */
unsigned char *eki_deal_begin(struct eki_deal *deal, int of, unsigned char *at);

/* Room for BYTES more. */
static inline void *eki_deal_put(struct eki_deal *deal, size_t bytes)
{
    void *room = deal->end;
    deal->end += bytes;
    return room;
}

#endif
