/* SPDX-License-Identifier: BSD-3-Clause */
/* What a record tells of each iteration, as a table. */
#include "tool.h"

#include "recorded.h"
#include "verdicts.h"

#include <inttypes.h>
#include <math.h>

struct summary {
    int64_t executed, nulls, spawned;
    int64_t timed;   /* tasks with a duration that are not null */
    int64_t held;    /* ... and were held up */
    double total_ns; /* of these */
    uint64_t max_ns;
    double imbalance; /* largest load of a worker / mean - 1 */
    double data_bytes;
    int64_t *bins; /* [EKI_BIN_COUNT] of these; owned */
};

static void add_workers(const struct eki_record *record,
                        const struct eki_record_iteration *iteration,
                        struct summary *summary)
{
    double sum = 0, most = 0;
    for (int i = 0; i < record->shape.workers; i++) {
        const struct eki_record_worker *worker = &iteration->workers[i];
        double work_ns = (double)worker->work_ns;
        summary->executed += worker->executed;
        summary->nulls += worker->nulls;
        /* Up to version 2 they are those that are not listed. */
        summary->spawned += worker->executed - worker->nulls - worker->count;
        sum += work_ns;
        most = work_ns > most ? work_ns : most;
    }
    if (sum > 0)
        summary->imbalance = most * record->shape.workers / sum - 1;
}

/* Listed tasks that others have spawned: both in the order of their ids. */
static void add_spawned(struct eki_record_iteration *iteration,
                        struct summary *summary)
{
    const struct eki_record_family *families = iteration->families;
    int64_t f = 0;
    if (iteration->family_count == 0)
        return;
    spawned_sort_ids(iteration);
    for (int64_t k = 0; k < iteration->task_count; k++) {
        uint64_t id = iteration->tasks[k].id;
        while (f < iteration->family_count &&
               id >= families[f].first + families[f].count)
            f++;
        summary->spawned +=
            f < iteration->family_count && id >= families[f].first;
    }
}

static void add_tasks(const struct eki_record_iteration *iteration,
                      struct summary *summary)
{
    for (int64_t k = 0; k < iteration->task_count; k++) {
        const struct eki_record_task *task = &iteration->tasks[k];
        summary->data_bytes += (double)task->input_bytes + task->result_bytes;
        if (task->flags & (EKI_RECORD_DISCARDED | EKI_RECORD_SKIPPED)) {
            summary->nulls++;
            continue;
        }
        if (task->bin == EKI_BIN_NEVER)
            continue;
        summary->timed++;
        summary->held += (task->flags & EKI_RECORD_HELD) != 0;
        summary->bins[task->bin]++;
        summary->total_ns += (double)task->duration_ns;
        if (task->duration_ns > summary->max_ns)
            summary->max_ns = task->duration_ns;
    }
}

/* The smallest duration that a share Q of the tasks does not exceed, in us. */
static double quantile_us(const struct summary *summary, double q)
{
    int64_t seen = 0;
    for (int bin = 0; bin < EKI_BIN_COUNT; bin++) {
        seen += summary->bins[bin];
        if (seen > 0 && (double)seen >= q * (double)summary->timed)
            return (double)eki_bin_ns((uint16_t)bin) * 1e-3;
    }
    return 0;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static bool has_data(const struct eki_record *record)
{
    for (int i = 0; i < record->function_count; i++) {
        if (record->data_bytes_max[i] > 0)
            return true;
    }
    return false;
}

static void print_row(const struct eki_record *record,
                      const struct eki_record_head *head,
                      const struct summary *summary)
{
    printf("%9" PRId64 " %10" PRId64 " %12.2f %9" PRId64
           " %9.5g %9.5g %9.5g %9.5g %6" PRId64 " %9.5g %9.5g %9.5g %11.1f",
           head->iteration, summary->executed,
           100 * share((double)summary->nulls, (double)summary->executed),
           summary->spawned, quantile_us(summary, 0.5),
           quantile_us(summary, 0.9), quantile_us(summary, 0.99),
           (double)summary->max_ns * 1e-3, summary->held,
           summary->total_ns * 1e-9,
           share(summary->total_ns, (double)summary->max_ns),
           (double)head->wall_ns * 1e-9, 100 * summary->imbalance);
    if (has_data(record))
        printf(" %9.5g", summary->data_bytes * 1e-6);
    puts(head->status == EK_OK ? "" : "  failed");
}

/* Where the tasks allow more workers than there were: what ten times as many as
 * they allow would need. */
static void print_verdict_of(const struct workload *workload, double sum_s,
                             double longest_s)
{
    enum {
        MORE = 10,
        WORKERS_MOST = 100000000
    };
    char prefix[64];
    int workers = workload->workers;
    double most = floor(sum_s / longest_s);
    if (most >= workers)
        workers = (int)fmin(MORE * most, WORKERS_MOST);
    snprintf(prefix, sizeof prefix, "On %d workers ", workers);
    verdict_print_tasks(prefix, workload->base_s, workload->count, workers);
}

/* What its tasks would reach together, on however many workers. */
static ek_status print_spawned(const struct workload *workload, double sum_s)
{
    int generations;
    int64_t count = workload->count;
    double *paths = eki_alloc((size_t)count + 1, sizeof *paths);
    if (!paths)
        return eki_error(EK_ERR_NOMEM, "no memory");
    double path_s = spawned_path(&workload->spawned, workload->base_s, count,
                                 paths, &generations);
    printf("%s: %" PRId64 " of %" PRId64
           " tasks were spawned, in %d generations; all take %.4g s, the "
           "longest chain %.4g s: average parallelism %.4g\n",
           workload->name, count - workload->seeds, count, generations - 1,
           sum_s, path_s, share(sum_s, path_s));
    eki_free(paths);
    return EK_OK;
}

/* Of what ek-sim and ek-emulate would run: a task's median over iterations. */
static ek_status print_verdict(const char *path)
{
    const struct workload_source source = {.record = path};
    struct workload workload = {0};
    struct message message = {0};
    double sum_s = 0, longest_s = 0;
    ek_status status = EK_OK;
    if (!recorded_read(&source, &workload, &message))
        status = eki_error(EK_ERR_ARG, "%s", message.text);
    for (int64_t k = 0; status == EK_OK && k < workload.count; k++) {
        sum_s += (double)workload.base_s[k];
        longest_s = fmax(longest_s, (double)workload.base_s[k]);
    }
    if (longest_s > 0)
        print_verdict_of(&workload, sum_s, longest_s);
    if (status == EK_OK && workload_spawns(&workload))
        status = print_spawned(&workload, sum_s);
    workload_free(&workload);
    return status;
}

/* HAS_TIMED: whether a task has a duration in it. */
static ek_status summarize(struct eki_record *record, int64_t k,
                           bool *has_timed)
{
    struct eki_record_iteration iteration;
    EKI_TRY(tool_load(record, k, &iteration));
    struct summary summary = {
        .bins = eki_alloc(EKI_BIN_COUNT, sizeof *summary.bins)};
    if (summary.bins) {
        add_workers(record, &iteration, &summary);
        add_tasks(&iteration, &summary);
        add_spawned(&iteration, &summary);
        print_row(record, &iteration.head, &summary);
        *has_timed |= summary.max_ns > 0;
    }
    eki_record_unload(&iteration);
    eki_free(summary.bins);
    return summary.bins ? EK_OK : eki_error(EK_ERR_NOMEM, "no memory");
}

static void print_header(const struct eki_record *record)
{
    printf("collection %s: %d ranks, %d workers, %" PRId64 " iterations%s\n",
           record->shape.name, record->shape.ranks, record->shape.workers,
           record->iteration_count,
           record->is_complete ? "" : " (not complete)");
    for (int i = 0; i < record->function_count; i++) {
        printf("function %d: ", i);
        tool_print_name(record->functions[i]);
        if (record->data_bytes_max[i] > 0)
            printf(", with data of up to %" PRId64 " bytes",
                   record->data_bytes_max[i]);
        putchar('\n');
    }
    printf("%9s %10s %12s %9s %9s %9s %9s %9s %6s %9s %9s %9s %11s",
           "iteration", "tasks", "null_tasks/%", "spawned", "p50/us", "p90/us",
           "p99/us", "max/us", "held", "total/s", "total/max", "wall/s",
           "imbalance/%");
    puts(has_data(record) ? "   data/MB" : "");
}

int tool_summary(const struct tool_arguments *arguments)
{
    struct eki_record *record;
    ek_status status = tool_open(arguments->files[0], &record);
    if (status != EK_OK)
        return tool_end(status);
    print_header(record);
    bool has_timed = false;
    for (int64_t k = 0; status == EK_OK && k < record->iteration_count; k++)
        status = summarize(record, k, &has_timed);
    if (status == EK_OK && has_timed)
        status = print_verdict(arguments->files[0]);
    eki_record_close(&record);
    return tool_end(status);
}
