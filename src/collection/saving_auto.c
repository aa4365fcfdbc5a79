/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What restore=auto has learned, in saves.  It is of so many ranks and workers:
 * others learn anew.
 */
#include "collection/saving.h"

/* A field is a number of a save, in this order. */
#define FIELD(member)                                 \
    {                                                 \
        offsetof(struct eki_learned, member),         \
            sizeof(((struct eki_learned *)0)->member) \
    }

static const struct field {
    size_t at, bytes;
} fields[] = {FIELD(course.state),
              FIELD(course.is_quiet),
              FIELD(course.pause),
              FIELD(course.rebalance_ns),
              FIELD(course.talk_ns),
              FIELD(remembered.chooser.laps),
              FIELD(remembered.chooser.is_quiet),
              FIELD(remembered.chooser.pause),
              FIELD(remembered.chooser.has_moved),
              FIELD(remembered.chooser.has_spawned),
              FIELD(remembered.chooser.lasted),
              FIELD(remembered.chooser.rebalance.left),
              FIELD(remembered.chooser.rebalance.last),
              FIELD(remembered.chooser.quiet.left),
              FIELD(remembered.chooser.quiet.last),
              FIELD(remembered.chooser.stealing),
              FIELD(remembered.chooser.retained),
              FIELD(remembered.chooser.last),
              FIELD(remembered.chooser.expected),
              FIELD(remembered.chooser.surprise),
              FIELD(remembered.chooser.promised),
              FIELD(remembered.chooser.share),
              FIELD(remembered.chooser.wall_ns),
              FIELD(remembered.reached.ratio),
              FIELD(remembered.reached.tasks),
              FIELD(remembered.reached.group),
              FIELD(remembered.imbalance)};
_Static_assert(sizeof fields / sizeof *fields == EKI_SAVE_LEARNED,
               "a number for each field");

ek_status eki_saving_write_learned(const struct eki_learned *learned,
                                   struct eki_save_out *out)
{
    uint64_t numbers[EKI_SAVE_LEARNED] = {0};
    for (int f = 0; f < EKI_SAVE_LEARNED; f++)
        memcpy(&numbers[f], (const unsigned char *)learned + fields[f].at,
               fields[f].bytes);
    return eki_save_learned(out, numbers);
}

ek_status eki_saving_read_learned(const char *name,
                                  const struct eki_save_manifest *manifest,
                                  struct eki_learned *learned)
{
    const struct eki_course *course = &learned->course;
    bool is_good = true;
    *learned = (struct eki_learned){.course = {.pause = 0}};
    for (int f = 0; f < EKI_SAVE_LEARNED; f++) {
        const uint64_t *number = &manifest->learned[f];
        if (fields[f].bytes == sizeof(bool) && *number > 1)
            is_good = false;
        else
            memcpy((unsigned char *)learned + fields[f].at, number,
                   fields[f].bytes);
    }
    if (is_good && manifest->learned[0] <= EKI_COURSE_PAUSED &&
        course->pause >= 0 && course->talk_ns >= 0 && course->rebalance_ns >= 0)
        return EK_OK;
    return eki_error(EK_ERR_FILE,
                     "'%.500s': what restore=auto has learned is damaged",
                     name);
}
