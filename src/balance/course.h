/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of `auto` on one rank: what its restores leave for the next ones, in
 * a collection as in a simulated job.  Pure functions.
 *
 * All ranks make the same calls, so they have the same course, but for the
 * times, of which those of rank 0 count.
 *
 *     state   choose  pause             begin   end
 *     FREE    CHOSEN  PAUSED, one less  FREE    FREE
 *     CHOSEN  CHOSEN  PAUSED, one less  CHOSEN  FREE
 *     PAUSED  CHOSEN  PAUSED            CHOSEN  FREE
 */
#ifndef EKI_COURSE_H
#define EKI_COURSE_H

#include "balance/choose.h"
#include "base/options.h"

struct eki_course {
    enum eki_course_state {
        EKI_COURSE_FREE,   /* the policies that are set hold */
        EKI_COURSE_CHOSEN, /* it is chosen how the iteration runs */
        EKI_COURSE_PAUSED  /* ... as for the last, and nothing has run since */
    } state;
    bool is_quiet;       /* where it is chosen, nobody steals */
    int64_t pause;       /* so many restores may retain and ask nobody */
    double rebalance_ns; /* took the last restore that moved tasks ... */
    double talk_ns;      /* ... and the talk of the last that did not */
};

/* Whether nobody steals in the iteration that comes or runs. */
static inline bool eki_course_is_quiet(const struct eki_course *course)
{
    return course->state != EKI_COURSE_FREE && course->is_quiet;
}

/* How workers steal where SET is set: who is quiet looks on the own node, where
 * tasks HAVE_DATA, which need not travel there. */
static inline ek_steal_policy eki_course_steal(const struct eki_course *course,
                                               ek_steal_policy set,
                                               bool have_data)
{
    if (!eki_course_is_quiet(course) || set == EK_STEAL_NONE)
        return set;
    return have_data ? EK_STEAL_NODE : EK_STEAL_NONE;
}

/* Whether a restore asks no other rank, where the last iteration was CALM, as
 * eki_rebalance_is_calm() has it. */
static inline bool eki_course_may_pause(const struct eki_course *course,
                                        bool is_calm)
{
    return course->state == EKI_COURSE_PAUSED ||
           (course->pause > 0 && (!course->is_quiet || is_calm));
}

/* So many iterations count as done where an earlier run has told durations. */
#define EKI_COURSE_HINTED 2

/* What a restore that asks knows beside the loads, after so many iterations
 * have been DONE; EXPECTED 0: as many are taken to come. */
static inline struct eki_outlook
eki_course_outlook(const struct eki_course *course, int64_t done,
                   int64_t expected, bool may_steal)
{
    int64_t left = expected == 0 ? done : expected - done;
    return (struct eki_outlook){.iterations = left > 0 ? (double)left : 0,
                                .cost_ns = course->rebalance_ns,
                                .talk_ns = course->talk_ns,
                                .done = done,
                                .may_steal = may_steal};
}

/* A restore has asked and chosen, or was of another policy. */
static inline void eki_course_choose(struct eki_course *course, bool is_quiet,
                                     int64_t pause)
{
    course->state = EKI_COURSE_CHOSEN;
    course->is_quiet = is_quiet;
    course->pause = pause;
}

/* It took NS, and to talk TALK_NS of it. */
static inline void eki_course_spend(struct eki_course *course, bool has_moved,
                                    double ns, double talk_ns)
{
    if (has_moved)
        course->rebalance_ns = ns;
    else
        course->talk_ns = talk_ns;
}

/* A restore has asked nobody.  Where it has failed on another rank all call it
 * again: a repeat is the same one, and returns false. */
static inline bool eki_course_pause(struct eki_course *course)
{
    bool is_new = course->state != EKI_COURSE_PAUSED;
    course->state = EKI_COURSE_PAUSED;
    course->pause -= is_new;
    return is_new;
}

static inline void eki_course_begin(struct eki_course *course)
{
    if (course->state == EKI_COURSE_PAUSED)
        course->state = EKI_COURSE_CHOSEN;
}

static inline void eki_course_end(struct eki_course *course)
{
    course->state = EKI_COURSE_FREE;
}

#endif
