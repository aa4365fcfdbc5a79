/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of what is in parcels. */
#include "rebalance/messages.h"

#define KNOWN(member, name, most, fold) \
    EKI_ROW(struct eki_known, member, name, 0, most, EKI_FOLD_##fold)
#define TOTALS(member, name, fold)                                \
    EKI_ROW(struct eki_totals_told, member, name, 0, EKI_NS_MOST, \
            EKI_FOLD_##fold)
#define TARGET(member, name, most) \
    EKI_ROW(struct eki_target_told, member, name, 0, most, EKI_FOLD_NONE)
#define RESULT(member, name, fold)                                \
    EKI_ROW(struct eki_result_told, member, name, 0, EKI_NS_MOST, \
            EKI_FOLD_##fold)
#define OVER(member, name, most) \
    EKI_ROW(struct eki_result_told, member, name, 0, most, EKI_FOLD_NONE)

static const struct eki_row known[] = {
    KNOWN(measured, "measured tasks", EKI_NS_MOST, SUM),
    KNOWN(measured_ns, "measured time", EKI_NS_MOST, SUM),
    KNOWN(unmeasured, "tasks never measured", EKI_NS_MOST, SUM),
    KNOWN(hints, "hints", INT64_MAX, SUM),
    KNOWN(largest_hint, "largest hint", EKI_NS_MOST, LARGEST)};

static const struct eki_row totals[] = {
    TOTALS(totals.total, "total", SUM),
    TOTALS(totals.tasks, "tasks", SUM),
    TOTALS(totals.largest_load, "largest load", LARGEST),
    TOTALS(totals.largest_task, "largest task", LARGEST),
    TOTALS(noise.largest, "noise", LARGEST),
    TOTALS(noise.sum, "sum of noise", SUM),
    TOTALS(lap.wall, "wall time", LARGEST),
    TOTALS(lap.work, "work", SUM),
    TOTALS(lap.spawned, "spawned tasks", SUM),
    TOTALS(lap.cancelled, "cancelled tasks", SUM),
    EKI_ROW(struct eki_totals_told, totals.workers, "workers", INT64_MIN,
            INT64_MAX, EKI_FOLD_WRAP)};

static const struct eki_row target[] = {
    TARGET(slack, "slack", 1),
    TARGET(is_balanced, "is balanced", 1),
    TARGET(is_whole, "is whole", 1),
    TARGET(totals.total, "total", EKI_NS_MOST),
    TARGET(totals.largest_load, "largest load", EKI_NS_MOST),
    TARGET(totals.largest_task, "largest task", EKI_NS_MOST),
    TARGET(totals.crowd, "crowd", EKI_NS_MOST),
    TARGET(totals.tasks, "tasks", INT64_MAX)};

static const struct eki_row result[] = {
    RESULT(before, "load before", LARGEST),
    RESULT(after, "load after", LARGEST),
    RESULT(moved, "tasks that move", SUM),
    RESULT(fewest, "fewest", SUM),
    RESULT(across, "tasks across nodes", SUM),
    RESULT(fewest_across, "fewest across nodes", SUM),
    EKI_ROW(struct eki_result_told, hash, "hash", INT64_MIN, INT64_MAX,
            EKI_FOLD_WRAP)};

static const struct eki_row over[] = {
    OVER(before, "load before", EKI_NS_MOST),
    OVER(after, "load after", EKI_NS_MOST),
    OVER(moved, "tasks that move", INT64_MAX),
    OVER(fewest, "fewest", INT64_MAX),
    OVER(fewest_across, "fewest across nodes", INT64_MAX),
    OVER(is_quiet, "quiet", 1),
    OVER(pause, "pause", INT32_MAX),
    OVER(why_restore, "reason to restore", EKI_RESTORE_FAILED),
    OVER(why_steal, "reason to steal", EKI_STEAL_COSTS)};

const struct eki_shape eki_known_shape = EKI_SHAPE(known),
                       eki_totals_shape = EKI_SHAPE(totals),
                       eki_target_shape = EKI_SHAPE(target),
                       eki_result_shape = EKI_SHAPE(result),
                       eki_over_shape = EKI_SHAPE(over);

const char *eki_parcel_name(int what)
{
    static const char *const names[] = {
        "parcel",        "parcel totals", "parcel target", "parcel offer",
        "parcel left",   "parcel given",  "parcel open",   "parcel opened",
        "parcel plan",   "parcel up",     "parcel down",   "parcel fetch",
        "parcel result", "parcel over"};
    return names[what];
}

bool eki_fits_items(const struct eki_decode *decode,
                    const struct eki_item *items, int64_t bytes,
                    struct eki_run workers, eki_ns *sum)
{
    int64_t item = (int64_t)sizeof *items;
    if (!eki_fits_one(decode, "bytes too many", bytes % item, 0))
        return false;
    for (int64_t i = 0; i < bytes / item; i++) {
        if (!eki_fits(decode, "worker of a task", items[i].from, workers.first,
                      workers.last) ||
            !eki_fits(decode, "index of a task", items[i].index, 0,
                      INT32_MAX) ||
            !eki_fits(decode, "duration of a task", items[i].ns, 0,
                      EKI_NS_MOST - *sum))
            return false;
        *sum += items[i].ns;
    }
    return true;
}

bool eki_fits_parcel(const struct eki_decode *decode,
                     const struct eki_parcel *parcel, size_t head_bytes,
                     size_t item_bytes)
{
    int64_t rest = parcel->bytes - (int64_t)head_bytes;
    return eki_fits(decode, "bytes", parcel->bytes, (int64_t)head_bytes,
                    INT64_MAX) &&
           eki_fits_one(decode, "bytes too many", rest % (int64_t)item_bytes,
                        0);
}
