/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict on a run, with what it would gain. */
#include "report.h"

#include <math.h>

/* As the library: smaller losses are not worth a sentence. */
#define SMALL_LOSS 0.05
#define BUSY 0.05

double judge_busy(const struct run *run)
{
    const struct eki_verdict_run *verdict = &run->verdict;
    double stay_s = verdict->core_s - verdict->server_s;
    return run->has_figures && stay_s > 0 ? verdict->starved_s / stay_s : -1;
}

/* What can be told from the record alone. */
static bool judge_record(const struct run *run, char *text, size_t bytes)
{
    const struct eki_verdict_run *verdict = &run->verdict;
    double nobody_s = verdict->core_s - verdict->work_s - verdict->end_s;
    if (run->has_figures || nobody_s <= verdict->end_s ||
        nobody_s < SMALL_LOSS * verdict->core_s)
        return false;
    eki_append(text, bytes,
               "For %.0f %% of the time not even the busiest worker was in a "
               "task: EVENKEEL_REPORT=job.tsv tells why.",
               100 * nobody_s / verdict->core_s);
    return true;
}

bool judge_is_busy(const struct run *run)
{
    return run->verdict.workers <= run->verdict.cores &&
           judge_busy(run) >= BUSY;
}

double judge_without(const struct run *run, double lost_s,
                     enum eki_verdict_cause cause)
{
    const struct eki_verdict_run *verdict = &run->verdict;
    double iterations = (double)verdict->iterations;
    double each_s = (verdict->wall_s + verdict->restore_s) / iterations;
    double then_s = each_s * (1 - lost_s / eki_verdict_whole_s(verdict));
    /* Workers that share cores are no faster than these. */
    if (cause == EKI_VERDICT_STARVED)
        then_s =
            fmax(then_s, eki_verdict_efficiency(verdict) * verdict->core_s /
                             verdict->cores / iterations);
    return fmin(then_s, each_s);
}

int judge_causes(const struct run *run, double lost_s[EKI_VERDICT_CAUSES],
                 int causes[EKI_VERDICT_CAUSES])
{
    int count = 0;
    eki_verdict_losses(&run->verdict, lost_s);
    for (int cause = 0; cause < EKI_VERDICT_CAUSES; cause++) {
        int at = count;
        if (!(lost_s[cause] > 0))
            continue;
        for (; at > 0 && lost_s[causes[at - 1]] < lost_s[cause]; at--)
            causes[at] = causes[at - 1];
        causes[at] = cause;
        count++;
    }
    return count;
}

void judge_run(const struct run *run, char *text, size_t bytes)
{
    const struct eki_verdict_run *verdict = &run->verdict;
    double lost_s[EKI_VERDICT_CAUSES];
    int causes[EKI_VERDICT_CAUSES];
    char sentence[800] = "";
    text[0] = '\0';
    if (judge_record(run, text, bytes))
        return;
    if (!eki_verdict_run(verdict, sentence, sizeof sentence)) {
        eki_append(text, bytes,
                   "Nothing to mend: %.1f %% of the time of workers went into "
                   "tasks.",
                   100 * eki_verdict_efficiency(verdict));
        return;
    }
    if (sentence[0] >= 'a' && sentence[0] <= 'z')
        sentence[0] = (char)(sentence[0] - 'a' + 'A');
    eki_append(text, bytes, "%s.", sentence);
    if (judge_is_busy(run) || judge_causes(run, lost_s, causes) == 0)
        return;
    double then_s = judge_without(run, lost_s[causes[0]],
                                  (enum eki_verdict_cause)causes[0]);
    eki_append(text, bytes,
               " Without this loss an iteration would take %s instead of %s.",
               eki_seconds(then_s).text,
               eki_seconds(judge_without(run, 0, EKI_VERDICT_IDLE)).text);
}
