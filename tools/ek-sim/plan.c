/* SPDX-License-Identifier: BSD-3-Clause */
/* How iterations are run and restored, as a collection does it. */
#include "printed/printed.h"
#include "simulation.h"

#include <string.h>

bool plan_open(struct plan *plan, const struct mode *mode,
               const char *termination, struct message *message)
{
    return schedule_read("restore", "--policy", mode->restore, &plan->restore,
                         message) &&
           schedule_read("steal", "--steal", mode->steal, &plan->steal,
                         message) &&
           schedule_read("termination", "--termination", termination,
                         &plan->termination, message);
}

void plan_close(struct plan *plan)
{
    eki_schedule_free(&plan->restore);
    eki_schedule_free(&plan->steal);
    eki_schedule_free(&plan->termination);
}

static ek_steal_policy steal_set(const struct plan *plan, int iteration)
{
    return (ek_steal_policy)eki_schedule_at(&plan->steal, iteration,
                                            EK_STEAL_RANDOM);
}

/* Of the restore after the iteration that runs, which counts under the number
 * of the next. */
static ek_restore_policy policy_of(const struct simulation *simulation)
{
    return (ek_restore_policy)eki_schedule_at(&simulation->plan.restore,
                                              simulation->iteration + 1,
                                              EK_RESTORE_RETAIN);
}

/* What auto is to know of the run. */
static struct eki_outlook outlook_of(const struct simulation *simulation)
{
    int done = simulation->iteration + 1;
    ek_steal_policy steal = steal_set(&simulation->plan, done);
    if (done == 0)
        done = EKI_COURSE_HINTED;
    return eki_course_outlook(&simulation->plan.course, done,
                              simulation->run->arguments->iterations_expected,
                              eki_scheme_of(steal)->victims != NULL);
}

static struct eki_balance_wish wish_of(const struct run *run,
                                       ek_restore_policy policy)
{
    const struct arguments *arguments = run->arguments;
    struct eki_options options = eki_option_defaults;
    options.balance_group = arguments->balance_group;
    options.balance_ppm = arguments->balance_ppm;
    if (arguments->hpdc12)
        options.hpdc12 = arguments->hpdc12;
    return eki_balance_wish_of(policy, run->workers, &options);
}

/* The iteration that runs, and the restore after it. */
static void fill_iteration(const struct simulation *simulation,
                           struct eki_sim_iteration *iteration)
{
    const struct plan *plan = &simulation->plan;
    const char *order = simulation->run->arguments->order;
    ek_restore_policy policy = policy_of(simulation);
    *iteration = (struct eki_sim_iteration){
        .steal = eki_course_steal(
            &plan->course, steal_set(plan, simulation->iteration),
            simulation->run->workload->input_bytes &&
                simulation->run->workers > simulation->run->nodes),
        .detector = eki_schedule_at(&plan->termination, simulation->iteration,
                                    EKI_DETECTOR_COUNTING),
        .order = order ? (enum eki_order)word_value("order", order)
                       : EKI_ORDER_LONGEST};
    /* What begins anew as ranges is not restored. */
    if (policy == EK_RESTORE_ORIGINAL &&
        !(simulation->mode->has_nulls && simulation->mode->is_anew))
        iteration->order = EKI_ORDER_ORIGINAL;
    iteration->is_balanced =
        policy != EK_RESTORE_ORIGINAL && policy != EK_RESTORE_RETAIN &&
        (policy != EK_RESTORE_AUTO ||
         !eki_course_may_pause(&plan->course, plan->is_calm));
    if (!iteration->is_balanced)
        return;
    iteration->balance = wish_of(simulation->run, policy);
    if (policy == EK_RESTORE_AUTO)
        iteration->balance.outlook = outlook_of(simulation);
}

const struct eki_sim_iteration *plan_iteration(void *context, int i)
{
    struct simulation *simulation = context;
    if (i >= simulation->run->arguments->iterations)
        return NULL;
    struct eki_sim_iteration *iteration = &simulation->plan.iterations[i & 1];
    if (i == simulation->iteration)
        fill_iteration(simulation, iteration);
    return iteration;
}

bool plan_is_balanced(const struct simulation *simulation)
{
    return simulation->plan.iterations[simulation->iteration & 1].is_balanced;
}

void plan_restored(struct simulation *simulation,
                   const struct eki_balance_report *report, double ns)
{
    struct eki_course *course = &simulation->plan.course;
    eki_course_end(course);
    if (plan_is_balanced(simulation)) {
        eki_course_spend(course, report->moved > 0, ns, ns);
        eki_course_choose(course, report->is_quiet, report->pause);
    } else if (policy_of(simulation) == EK_RESTORE_AUTO) {
        eki_course_pause(course);
    } else {
        eki_course_choose(course, false, 0);
    }
}
