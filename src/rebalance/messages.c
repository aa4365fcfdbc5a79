/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of what is in parcels. */
#include "rebalance/messages.h"

#define ROW(structure, member, name, most, fold) \
    EKI_ROW(struct eki_##structure, member, name, 0, most, EKI_FOLD_##fold)

static const struct eki_row known[] = {
    ROW(known, measured, "measured tasks", EKI_NS_MOST, SUM),
    ROW(known, measured_ns, "measured time", EKI_NS_MOST, SUM),
    ROW(known, unmeasured, "tasks never measured", EKI_NS_MOST, SUM),
    ROW(known, hints, "hints", INT64_MAX, SUM),
    ROW(known, largest_hint, "largest hint", EKI_NS_MOST, LARGEST)};

static const struct eki_row totals[] = {
    ROW(totals_told, totals.total, "total", EKI_NS_MOST, SUM),
    ROW(totals_told, totals.tasks, "tasks", EKI_NS_MOST, SUM),
    ROW(totals_told, totals.largest_load, "largest load", EKI_NS_MOST, LARGEST),
    ROW(totals_told, totals.largest_task, "largest task", EKI_NS_MOST, LARGEST),
    ROW(totals_told, noise.largest, "noise", EKI_NS_MOST, LARGEST),
    ROW(totals_told, noise.sum, "sum of noise", EKI_NS_MOST, SUM),
    EKI_ROW(struct eki_totals_told, speeds.more, "speeds", INT64_MIN, INT64_MAX,
            EKI_FOLD_WRAP),
    ROW(totals_told, speeds.faster, "fastest rank",
        EKI_SPEED_MOST *EKI_SPEED_UNIT, LARGEST),
    ROW(totals_told, lap.wall, "wall time", EKI_NS_MOST, LARGEST),
    ROW(totals_told, lap.work, "work", EKI_NS_MOST, SUM),
    ROW(totals_told, lap.spawned, "spawned tasks", EKI_NS_MOST, SUM),
    ROW(totals_told, lap.cancelled, "cancelled tasks", EKI_NS_MOST, SUM),
    EKI_ROW(struct eki_totals_told, totals.workers, "workers", INT64_MIN,
            INT64_MAX, EKI_FOLD_WRAP)};

static const struct eki_row target[] = {
    ROW(target_told, slack, "slack", 1, NONE),
    ROW(target_told, is_balanced, "is balanced", 1, NONE),
    ROW(target_told, is_whole, "is whole", 1, NONE),
    ROW(target_told, faster, "fastest rank", EKI_SPEED_MOST *EKI_SPEED_UNIT,
        NONE),
    ROW(target_told, totals.total, "total", EKI_NS_MOST, NONE),
    ROW(target_told, totals.largest_load, "largest load", EKI_NS_MOST, NONE),
    ROW(target_told, totals.largest_task, "largest task", EKI_NS_MOST, NONE),
    ROW(target_told, totals.crowd, "crowd", EKI_NS_MOST, NONE),
    ROW(target_told, totals.tasks, "tasks", INT64_MAX, NONE)};

static const struct eki_row result[] = {
    ROW(result_told, before, "load before", EKI_NS_MOST, LARGEST),
    ROW(result_told, after, "load after", EKI_NS_MOST, LARGEST),
    ROW(result_told, moved, "tasks that move", EKI_NS_MOST, SUM),
    ROW(result_told, fewest, "fewest", EKI_NS_MOST, SUM),
    ROW(result_told, across, "tasks across nodes", EKI_NS_MOST, SUM),
    ROW(result_told, fewest_across, "fewest across nodes", EKI_NS_MOST, SUM),
    EKI_ROW(struct eki_result_told, hash, "hash", INT64_MIN, INT64_MAX,
            EKI_FOLD_WRAP)};

static const struct eki_row over[] = {
    ROW(result_told, before, "load before", EKI_NS_MOST, NONE),
    ROW(result_told, after, "load after", EKI_NS_MOST, NONE),
    ROW(result_told, moved, "tasks that move", INT64_MAX, NONE),
    ROW(result_told, fewest, "fewest", INT64_MAX, NONE),
    ROW(result_told, fewest_across, "fewest across nodes", INT64_MAX, NONE),
    ROW(result_told, is_quiet, "quiet", 1, NONE),
    ROW(result_told, pause, "pause", INT32_MAX, NONE),
    ROW(result_told, why_restore, "reason to restore", EKI_RESTORE_FAILED,
        NONE),
    ROW(result_told, why_steal, "reason to steal", EKI_STEAL_COSTS, NONE)};

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

bool eki_sections_fit(const struct eki_decode *decode,
                      const struct eki_parcel *parcel)
{
    int64_t at = 0;
    while (at < parcel->bytes) {
        int64_t rest = parcel->bytes - at - (int64_t)sizeof(struct eki_section);
        const struct eki_section *section =
            (const struct eki_section *)(parcel->data + at);
        if (!eki_fits(decode, "bytes of a head", rest, 0, INT64_MAX) ||
            !eki_fits(decode, "bytes of a section", section->bytes, 0, rest) ||
            !eki_fits_one(decode, "part of a word", section->bytes % 8, 0))
            return false;
        at += (int64_t)sizeof *section + section->bytes;
    }
    return true;
}

const struct eki_section *eki_section_next(const struct eki_parcel *parcel,
                                           const struct eki_section *section)
{
    const unsigned char *at = parcel->data;
    if (section)
        at = (const unsigned char *)(section + 1) + section->bytes;
    return at < parcel->data + parcel->bytes ? (const struct eki_section *)at
                                             : NULL;
}

bool eki_sections_hear(const struct eki_decode *decode,
                       const struct eki_parcel *parcel, struct eki_heard *heard)
{
    const struct eki_section *at = NULL;
    int count = 0;
    memset(heard->sections, 0, (size_t)heard->count * sizeof *heard->sections);
    while ((at = eki_section_next(parcel, at)) != NULL) {
        int64_t i = at->of - heard->first;
        if (!eki_fits(decode, heard->one, i, 0, heard->count - 1) ||
            !eki_fits_one(decode, "parts before it", heard->sections[i] != NULL,
                          false))
            return false;
        heard->sections[i] = at;
        count++;
    }
    return eki_fits_one(decode, heard->all, count, heard->count);
}

unsigned char *eki_deal_begin(struct eki_deal *deal, int of, unsigned char *at)
{
    struct eki_section *section = (struct eki_section *)at;
    *section = (struct eki_section){of, deal->bytes};
    deal->end = (unsigned char *)(section + 1);
    return deal->end + section->bytes;
}
