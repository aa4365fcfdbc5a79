/* SPDX-License-Identifier: BSD-3-Clause */
/* The chosen iteration, and what a restore had to start from before it. */
#include "report.h"

#include "balance/balance.h"
#include "spawned.h"
#include "task/task.h"

#include <string.h>

/* Runs of ranks, or nodes where there are not too many. */
static void group_ranks(struct run *run)
{
    struct groups *groups = &run->groups;
    int ranks = run->record->shape.ranks;
    bool has_nodes = run->nodes > 0 && run->nodes <= REPORT_GROUPS;
    groups->per = (ranks + REPORT_GROUPS - 1) / REPORT_GROUPS;
    groups->what = groups->per == 1 ? "rank" : has_nodes ? "node" : "ranks";
    has_nodes &= groups->per > 1;
    if (has_nodes)
        groups->per = 1;
    groups->count =
        has_nodes ? run->nodes : (ranks + groups->per - 1) / groups->per;
    for (int i = 0; i < run->record->shape.workers; i++) {
        int rank = run->rank_of[i];
        groups->of_worker[i] =
            has_nodes ? run->node_of[rank] : rank / groups->per;
    }
}

static void make_groups(struct run *run)
{
    struct groups *groups = &run->groups;
    int workers = run->record->shape.workers;
    groups->of_worker = allocate((size_t)workers, sizeof *groups->of_worker);
    groups->what = "worker";
    groups->count = workers;
    groups->per = 1;
    for (int i = 0; i < workers && workers <= REPORT_GROUPS; i++)
        groups->of_worker[i] = i;
    if (workers > REPORT_GROUPS)
        group_ranks(run);
    for (int i = 0; i < groups->count; i++)
        groups->first[i] = i * groups->per;
    for (int i = 0; i < workers; i++)
        groups->workers[groups->of_worker[i]]++;
    run->homes = allocate((size_t)groups->count * (size_t)groups->count,
                          sizeof *run->homes);
}

void group_name(const struct run *run, int group, char *text, size_t bytes)
{
    const struct groups *groups = &run->groups;
    int first = groups->first[group], last = first + groups->per - 1;
    if (last >= run->record->shape.ranks && groups->per > 1)
        last = run->record->shape.ranks - 1;
    snprintf(text, bytes, "%s ", groups->what);
    append_range(first, last, text, bytes);
}

double group_largest(const struct run *run, const double *worker_s, int group,
                     double *mean_s)
{
    double largest_s = 0, sum_s = 0;
    for (int i = 0; i < run->record->shape.workers; i++) {
        if (run->groups.of_worker[i] != group)
            continue;
        sum_s += worker_s[i];
        largest_s = worker_s[i] > largest_s ? worker_s[i] : largest_s;
    }
    *mean_s = sum_s / run->groups.workers[group];
    return largest_s;
}

double slot_s(int slot)
{
    return (double)eki_bin_ns((uint16_t)(1 + 64 * slot)) * 1e-9;
}

/* Among the longest, by length. */
static void add_longest(struct run *run,
                        const struct eki_record_iteration *iteration, int64_t k)
{
    const struct eki_record_task *task = &iteration->tasks[k];
    const struct eki_record_payload *payload =
        eki_record_payload_of(iteration, k);
    int at = run->longest_count;
    if (at == REPORT_LONGEST &&
        run->longest[at - 1].task.duration_ns >= task->duration_ns)
        return;
    at -= at == REPORT_LONGEST;
    for (; at > 0 && run->longest[at - 1].task.duration_ns < task->duration_ns;
         at--)
        run->longest[at] = run->longest[at - 1];
    run->longest[at] = (struct long_task){.task = *task};
    if (payload)
        run->longest[at].payload = *payload;
    run->longest_count += run->longest_count < REPORT_LONGEST;
}

static void add_home(struct run *run, const struct eki_record_task *task)
{
    const struct groups *groups = &run->groups;
    uint64_t home = task->id / EKI_NUMBERS;
    if (home >= (uint64_t)run->record->shape.workers)
        return;
    run->away += (uint64_t)task->worker != home;
    int from = groups->of_worker[home], to = groups->of_worker[task->worker];
    run->homes[from * groups->count + to]++;
}

static void add_chosen(struct run *run,
                       const struct eki_record_iteration *iteration)
{
    for (int64_t k = 0; k < iteration->task_count; k++) {
        const struct eki_record_task *task = &iteration->tasks[k];
        if (spawned_is_null(task))
            continue;
        double task_s = (double)task->duration_ns * 1e-9;
        int function = task->function < REPORT_FUNCTIONS ? task->function
                                                         : REPORT_FUNCTIONS;
        int slot = (task->bin - 1) / (EKI_BIN_COUNT / REPORT_SLOTS);
        run->slots[function][slot]++;
        run->slot_s[function][slot] += task_s;
        run->timed++;
        run->timed_s += task_s;
        add_longest(run, iteration, k);
        add_home(run, task);
    }
    run->spawns = iteration->family_count > 0;
}

static int compare_longest(const void *a, const void *b)
{
    const eki_ns *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* With fewer tasks moved a worker is above the target. */
static int64_t fewest_of(const struct eki_record_iteration *iteration,
                         const struct eki_record_worker *worker,
                         const eki_ns load, eki_ns target)
{
    if (load <= target)
        return 0;
    eki_ns *ns = allocate((size_t)worker->count, sizeof *ns);
    int64_t count = 0;
    for (int64_t k = 0; k < worker->count; k++) {
        const struct eki_record_task *task =
            &iteration->tasks[worker->first + k];
        if (!spawned_is_null(task))
            ns[count++] = (eki_ns)task->duration_ns;
    }
    qsort(ns, (size_t)count, sizeof *ns, compare_longest);
    count = eki_balance_fewest(ns, count, load, target);
    free(ns);
    return count;
}

/* What a restore after this iteration knows and aims at; tasks are still in the
 * order of workers. */
static void weigh(const struct run *run,
                  const struct eki_record_iteration *iteration,
                  struct loads *loads)
{
    int workers = run->record->shape.workers;
    struct eki_totals totals = {.workers = workers};
    struct eki_sizes *sizes = allocate(1, sizeof *sizes);
    eki_ns *load = allocate((size_t)workers, sizeof *load);
    for (int64_t k = 0; k < iteration->task_count; k++) {
        const struct eki_record_task *task = &iteration->tasks[k];
        eki_ns ns = (eki_ns)task->duration_ns;
        if (spawned_is_null(task))
            continue;
        load[task->worker] += ns;
        totals.total += ns;
        totals.tasks++;
        if (ns > totals.largest_task)
            totals.largest_task = ns;
        eki_sizes_add(sizes, ns);
    }
    totals.crowd = eki_sizes_bound(sizes, workers);
    eki_ns target =
        eki_balance_target(&totals, eki_balance_tolerance(&totals, 0));
    loads->worker_s = allocate((size_t)workers, sizeof *loads->worker_s);
    for (int i = 0; i < workers; i++) {
        loads->worker_s[i] = (double)load[i] * 1e-9;
        loads->fewest +=
            fewest_of(iteration, &iteration->workers[i], load[i], target);
    }
    loads->is_known = totals.tasks > 0;
    loads->iteration = iteration->head.iteration;
    loads->mean_s = (double)totals.total * 1e-9 / workers;
    loads->target_s = (double)target * 1e-9;
    loads->tasks = totals.tasks;
    free(sizes);
    free(load);
}

/* Tasks of both, in the order of their ids. */
static void compare_places(struct run *run, struct eki_record_iteration *before,
                           struct eki_record_iteration *now)
{
    spawned_sort_ids(before);
    spawned_sort_ids(now);
    int64_t i = 0;
    for (int64_t k = 0; k < now->task_count; k++) {
        const struct eki_record_task *task = &now->tasks[k];
        while (i < before->task_count && before->tasks[i].id < task->id)
            i++;
        if (i == before->task_count)
            return;
        run->moved += before->tasks[i].id == task->id &&
                      !spawned_is_null(task) &&
                      before->tasks[i].worker != task->worker;
    }
}

static bool load(const struct run *run, int64_t k,
                 struct eki_record_iteration *iteration,
                 struct message *message)
{
    return eki_record_load(run->record, k, iteration) == EK_OK ||
           message_set(message, "%s", ek_error_message());
}

bool gather_details(struct run *run, struct message *message)
{
    struct eki_record_iteration now, before;
    make_groups(run);
    if (!load(run, run->chosen, &now, message))
        return false;
    add_chosen(run, &now);
    weigh(run, &now, &run->now);
    bool is_good = true;
    if (run->chosen > 0 && load(run, run->chosen - 1, &before, message)) {
        weigh(run, &before, &run->before);
        compare_places(run, &before, &now);
        eki_record_unload(&before);
    } else if (run->chosen > 0) {
        is_good = false;
    }
    eki_record_unload(&now);
    return is_good;
}
