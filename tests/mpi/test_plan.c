/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_plan(): every item gets a rank, figures are true, loads, moves and bytes
 * are close to what nothing can better, as computed here, and decisions are
 * those of a collection with the same costs.
 */
#include "job.h"

#include <evenkeel_plan.h>

#include <math.h>
#include <string.h>

enum {
    EACH = 500 /* items per rank, on average */
};

/* What this rank owns, and where it should go. */
struct items {
    int64_t n;
    double *seconds;
    size_t *bytes;
    int *to;
};

static uint64_t mix(uint64_t number)
{
    number = (number + 1) * 0x9e3779b97f4a7c15u;
    number = (number ^ number >> 31) * 0xd6e8feb86659fd93u;
    return number ^ number >> 32;
}

/* Even in (0, 1], the I-th of this rank. */
static double draw(int64_t i, int stream)
{
    uint64_t number = (uint64_t)(i * 64 + job_rank) * 8 + (uint64_t)stream;
    return (double)(mix(number) % 100000 + 1) / 100000;
}

/* The first rank has most, and long ones, the last none where there are more
 * than two. */
static void make(struct items *items, int64_t each)
{
    int64_t n = each + each * (job_size - 1 - job_rank);
    items->n = job_size > 2 && job_rank == job_size - 1 ? 0 : n;
    items->seconds = calloc((size_t)items->n + 1, sizeof *items->seconds);
    items->bytes = calloc((size_t)items->n + 1, sizeof *items->bytes);
    items->to = calloc((size_t)items->n + 1, sizeof *items->to);
    for (int64_t i = 0; i < items->n; i++) {
        items->seconds[i] = 1e-3 / (draw(i, 0) + 0.02);
        items->bytes[i] = (size_t)(1e6 * draw(i, 1));
        items->to[i] = -7;
    }
}

static void drop(struct items *items)
{
    free(items->seconds);
    free(items->bytes);
    free(items->to);
}

static double sum(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

static double most(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

static double load_of(const struct items *items)
{
    double load = 0;
    for (int64_t i = 0; i < items->n; i++)
        load += items->seconds[i];
    return load;
}

/* The largest load over the mean, less 1, when items are where they should. */
static double imbalance_after(const struct items *items)
{
    double *loads = calloc((size_t)job_size, sizeof *loads), all = 0, top = 0;
    for (int64_t i = 0; i < items->n; i++) {
        if (CHECK(items->to[i] >= 0 && items->to[i] < job_size))
            loads[items->to[i]] += items->seconds[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, loads, job_size, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int r = 0; r < job_size; r++) {
        all += loads[r];
        top = fmax(top, loads[r]);
    }
    free(loads);
    return all > 0 ? top * job_size / all - 1 : 0;
}

static int64_t moves_of(const struct items *items)
{
    int64_t moves = 0;
    for (int64_t i = 0; i < items->n; i++)
        moves += items->to[i] != job_rank;
    return moves;
}

static int64_t bytes_of(const struct items *items, bool are_moved)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < items->n; i++)
        if (!are_moved || items->to[i] != job_rank)
            bytes += (int64_t)items->bytes[i];
    return bytes;
}

static void check_report(const struct items *items, bool has_bytes,
                         const ek_plan_report *report)
{
    double load = load_of(items), all = sum(load);
    CHECK_EQ_INT(report->items, job_sum(items->n));
    CHECK_NEAR(report->imbalance_before,
               all > 0 ? most(load) * job_size / all - 1 : 0, 1e-5);
    CHECK_NEAR(report->imbalance_after, imbalance_after(items), 1e-5);
    CHECK(report->imbalance_bound <= report->imbalance_after);
    CHECK_EQ_INT(report->moves, job_sum(moves_of(items)));
    CHECK_EQ_INT(report->bytes,
                 has_bytes ? job_sum(bytes_of(items, false)) : 0);
    CHECK_EQ_INT(report->bytes_moved,
                 has_bytes ? job_sum(bytes_of(items, true)) : 0);
    CHECK((report->decision != 0) == (report->moves != 0));
    CHECK(report->seconds > 0);
}

struct worth {
    double seconds, bytes;
};

static int longer(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static int lighter(const void *a, const void *b)
{
    const struct worth *x = a, *y = b;
    double left = x->bytes * y->seconds, right = y->bytes * x->seconds;
    return (left > right) - (left < right);
}

/* With fewer moves this rank keeps more than MOST. */
static int64_t fewest_moves(const struct items *items, double most_s)
{
    double *seconds = calloc((size_t)items->n + 1, sizeof *seconds);
    double excess = load_of(items) - most_s;
    int64_t n = 0;
    memcpy(seconds, items->seconds, (size_t)items->n * sizeof *seconds);
    qsort(seconds, (size_t)items->n, sizeof *seconds, longer);
    for (; excess > 0 && n < items->n; n++)
        excess -= seconds[n];
    free(seconds);
    return n;
}

/* Likewise with less bytes, the solution of a linear program: items may be cut.
 */
static double fewest_bytes(const struct items *items, double most_s)
{
    struct worth *worths = calloc((size_t)items->n + 1, sizeof *worths);
    double excess = load_of(items) - most_s, bytes = 0;
    for (int64_t i = 0; i < items->n; i++)
        worths[i] = (struct worth){items->seconds[i], (double)items->bytes[i]};
    qsort(worths, (size_t)items->n, sizeof *worths, lighter);
    for (int64_t i = 0; excess > 0 && i < items->n; i++) {
        bytes += worths[i].bytes * fmin(1, excess / worths[i].seconds);
        excess -= worths[i].seconds;
    }
    free(worths);
    return bytes;
}

static void plans_are_near_the_bounds(ek_restore_policy policy, bool has_bytes)
{
    struct items items;
    ek_plan_report report = EK_PLAN_REPORT_INIT;
    make(&items, EACH);
    JOB_OK(
        ek_plan(MPI_COMM_WORLD,
                &(ek_plan_items){sizeof(ek_plan_items), items.n, items.seconds,
                                 has_bytes ? items.bytes : NULL},
                policy, NULL, items.to, &report));
    CHECK_EQ_INT(report.policy, policy == EK_RESTORE_DEFAULT
                                    ? EK_RESTORE_CENTRALIZED
                                    : policy);
    check_report(&items, has_bytes, &report);
    CHECK(report.imbalance_after < 0.006);
    /* Who has more than this must give away so much; who then had less would
     * give away no more than a tolerance of 0.3 % makes it. */
    double mean = sum(load_of(&items)) / job_size;
    double top = mean * (1 + report.imbalance_after);
    double least = mean * 1.003;
    CHECK(report.moves >= job_sum(fewest_moves(&items, top + 1e-9)));
    if (has_bytes) {
        double bytes = sum(fewest_bytes(&items, least));
        CHECK((double)report.bytes_moved >=
              sum(fewest_bytes(&items, top + 1e-9)) * 0.999999);
        CHECK((double)report.bytes_moved <= 1.05 * bytes + 1);
        CHECK_NEAR((double)report.fewest_bytes, bytes, 1e-3 * bytes + 10);
    } else {
        int64_t fewest = job_sum(fewest_moves(&items, least));
        CHECK_EQ_INT(report.fewest, fewest);
        CHECK(report.moves <= fewest + fewest / 50);
    }
    drop(&items);
}

static void fewest_items_move(void)
{
    plans_are_near_the_bounds(EK_RESTORE_CENTRALIZED, false);
    plans_are_near_the_bounds(EK_RESTORE_HIERARCHICAL, false);
}

static void fewest_bytes_move(void)
{
    plans_are_near_the_bounds(EK_RESTORE_CENTRALIZED, true);
    plans_are_near_the_bounds(EK_RESTORE_HIERARCHICAL, true);
    plans_are_near_the_bounds(EK_RESTORE_DEFAULT, true);
}

/* Of few long items the shorter may be the heavier: moves cost more. */
static void bytes_are_asked_for(void)
{
    double seconds[4] = {4, 2, 2, 2};
    size_t bytes[4] = {100, 1, 1, 1};
    int to[4];
    int64_t n = job_rank == 0 ? 4 : 0;
    ek_options options = EK_OPTIONS_INIT;
    ek_plan_report report = EK_PLAN_REPORT_INIT;
    job_set_number(&options, "balance_ppm", 250000); /* of 5 */
    if (job_size != 2)
        return;
    JOB_OK(ek_plan(MPI_COMM_WORLD,
                   &(ek_plan_items){sizeof(ek_plan_items), n, seconds, NULL},
                   EK_RESTORE_CENTRALIZED, &options, to, &report));
    CHECK_EQ_INT(report.moves, 1);
    CHECK_NEAR(report.imbalance_after, 0.2, 1e-9);
    JOB_OK(ek_plan(MPI_COMM_WORLD,
                   &(ek_plan_items){sizeof(ek_plan_items), n, seconds, bytes},
                   EK_RESTORE_CENTRALIZED, &options, to, &report));
    CHECK_EQ_INT(report.moves, 2);
    CHECK_EQ_INT(report.bytes_moved, 2);
    CHECK_EQ_INT(report.fewest_bytes, 1);
    CHECK(n == 0 || to[0] == 0);
}

/* As printed: more moves, and still true figures. */
static void printed_plans_are_told(void)
{
    struct items items;
    make(&items, 40);
    for (int i = 0; i < 2; i++) {
        ek_plan_report report = EK_PLAN_REPORT_INIT;
        ek_restore_policy policy =
            i ? EK_RESTORE_HIERARCHICAL_HPDC12 : EK_RESTORE_CENTRALIZED_HPDC12;
        JOB_OK(ek_plan(MPI_COMM_WORLD,
                       &(ek_plan_items){sizeof(ek_plan_items), items.n,
                                        items.seconds, items.bytes},
                       policy, NULL, items.to, &report));
        check_report(&items, true, &report);
        CHECK_EQ_INT(report.policy, policy);
        CHECK_EQ_INT(report.fewest_bytes, 0);
        CHECK(report.imbalance_after <= report.imbalance_before + 1e-12);
    }
    drop(&items);
}

/* The policy that nobody names is that of the options, and last the variable.
 */
static void options_name_the_policy(void)
{
    ek_options options = EK_OPTIONS_INIT;
    double one = 1;
    int to;
    options.restore = EK_RESTORE_HIERARCHICAL;
    for (int i = 0; i < 2; i++) {
        ek_plan_report report = EK_PLAN_REPORT_INIT;
        JOB_OK(ek_plan(MPI_COMM_WORLD,
                       &(ek_plan_items){sizeof(ek_plan_items), 1, &one, NULL},
                       EK_RESTORE_DEFAULT, &options, &to, &report));
        CHECK_EQ_INT(report.policy, i ? EK_RESTORE_CENTRALIZED_HPDC12
                                      : EK_RESTORE_HIERARCHICAL);
        setenv("EVENKEEL_RESTORE", "centralized-hpdc12@1,retain@2-", 1);
    }
    unsetenv("EVENKEEL_RESTORE");
}

/* The same whatever costs are counted in. */
static void units_do_not_matter(void)
{
    static const double units[] = {1, 1e-12, 1e12, 1e-300, 1e290};
    struct items items;
    int64_t moves = 0;
    make(&items, 50);
    double *seconds = calloc((size_t)items.n + 1, sizeof *seconds);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        ek_plan_report report = EK_PLAN_REPORT_INIT;
        for (int64_t i = 0; i < items.n; i++)
            seconds[i] = items.seconds[i] * units[u];
        JOB_OK(ek_plan(
            MPI_COMM_WORLD,
            &(ek_plan_items){sizeof(ek_plan_items), items.n, seconds, NULL},
            EK_RESTORE_CENTRALIZED, NULL, items.to, &report));
        check_report(&items, false, &report);
        moves = u == 0 ? report.moves : moves;
        CHECK_EQ_INT(report.moves, moves);
    }
    CHECK(job_size == 1 || moves > 0);
    free(seconds);
    drop(&items);
}

static int costed_task(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    double seconds;
    (void)context;
    CHECK_EQ_INT(bytes, sizeof seconds);
    memcpy(&seconds, payload, sizeof seconds);
    ek_set_cost(worker, seconds);
    return 0;
}

/* The collection keeps durations in bins: they are what is planned with. */
static bool note_duration(const ek_task *task, void *context)
{
    struct items *items = context;
    items->seconds[items->n++] = task->duration_s;
    return true;
}

/* Run what this rank has where it is, and rebalance it. */
static void rebalance(const ek_options *options, ek_restore_policy policy,
                      const struct items *given, struct items *items,
                      ek_restore_report *report)
{
    ek_collection *tasks = job_create(options);
    ek_function function = job_register(tasks, "costed", costed_task, NULL);
    for (int64_t i = 0; i < given->n; i++)
        CHECK_OK(ek_add_task(tasks, function, &given->seconds[i],
                             sizeof *given->seconds, NULL));
    JOB_OK(ek_process(tasks, NULL));
    items->n = 0;
    JOB_OK(ek_visit_tasks(tasks, note_duration, items));
    CHECK_EQ_INT(items->n, given->n);
    JOB_OK(ek_restore(tasks, policy, report));
    ek_destroy(&tasks);
}

/* With equal costs the very same tasks go the very same way. */
static void decisions_are_those_of_collections(void)
{
    static const ek_restore_policy policies[] = {
        EK_RESTORE_CENTRALIZED, EK_RESTORE_HIERARCHICAL,
        EK_RESTORE_CENTRALIZED_HPDC12, EK_RESTORE_HIERARCHICAL_HPDC12};
    struct items given, items;
    ek_options options = EK_OPTIONS_INIT;
    options.workers = 1;
    options.steal = EK_STEAL_NONE;
    job_set_number(&options, "balance_ppm", 5000);
    job_set_number(&options, "balance_group", 2);
    setenv("EVENKEEL_WORKERS", "1", 1);
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        ek_plan_report plan = EK_PLAN_REPORT_INIT;
        make(&given, 100);
        make(&items, 100);
        rebalance(&options, policies[p], &given, &items, &report);
        JOB_OK(ek_plan(MPI_COMM_WORLD,
                       &(ek_plan_items){sizeof(ek_plan_items), items.n,
                                        items.seconds, NULL},
                       policies[p], &options, items.to, &plan));
        CHECK(job_size == 1 || plan.moves > 0);
        CHECK_EQ_INT(plan.moves, report.migrations);
        CHECK_EQ_INT(plan.fewest, report.fewest);
        CHECK_EQ_INT(plan.across, report.across);
        CHECK(plan.decision == report.decision);
        CHECK_NEAR(plan.imbalance_before, report.imbalance_before, 1e-12);
        CHECK_NEAR(plan.imbalance_after, report.imbalance_after, 1e-12);
        CHECK_NEAR(plan.imbalance_bound, report.imbalance_bound, 1e-12);
        drop(&given);
        drop(&items);
    }
}

/* No item at all, items that cost nothing, one owner, half of the ranks, beside
 * a collection, many times. */
static void edges_are_planned(void)
{
    ek_collection *tasks = job_create(NULL);
    ek_plan_report report = EK_PLAN_REPORT_INIT;
    double nothing[3] = {0, 0, 0}, ones[64];
    int to[64];
    JOB_OK(ek_plan(MPI_COMM_WORLD,
                   &(ek_plan_items){sizeof(ek_plan_items), 0, NULL, NULL},
                   EK_RESTORE_DEFAULT, NULL, NULL, NULL));
    JOB_OK(ek_plan(MPI_COMM_WORLD,
                   &(ek_plan_items){sizeof(ek_plan_items), 3, nothing, NULL},
                   EK_RESTORE_AUTO, NULL, to, &report));
    CHECK_EQ_INT(report.moves, 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ_INT(to[i], job_rank);
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, job_rank % 2, 0, &half);
    for (int i = 0; i < 20; i++) {
        int size, rank;
        MPI_Comm comm = i % 2 ? half : MPI_COMM_WORLD;
        MPI_Comm_size(comm, &size);
        MPI_Comm_rank(comm, &rank);
        JOB_OK(ek_plan(comm,
                       &(ek_plan_items){sizeof(ek_plan_items),
                                        rank == size - 1 ? 64 : 0, ones, NULL},
                       EK_RESTORE_CENTRALIZED, NULL, to, &report));
        CHECK_EQ_INT(report.items, 64);
        CHECK_EQ_INT(report.moves, 64 - (64 + size - 1) / size);
    }
    MPI_Comm_free(&half);
    ek_destroy(&tasks);
}

/* A call with what one rank gives wrongly fails on all, in these words. */
static void refused(int64_t n, const double *seconds, const size_t *bytes,
                    ek_restore_policy policy, const char *words)
{
    int to[2] = {-7, -7};
    JOB_STATUS(
        ek_plan(MPI_COMM_WORLD,
                &(ek_plan_items){sizeof(ek_plan_items), n, seconds, bytes},
                policy, NULL, to, NULL),
        EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), words);
    CHECK_EQ_INT(to[0], -7);
}

static void wrong_arguments_are_refused(void)
{
    const ek_restore_policy policy = EK_RESTORE_CENTRALIZED;
    int last = job_size - 1;
    bool is_last = job_rank == last;
    const double bad[] = {-1, NAN, INFINITY};
    const size_t sizes[2] = {1, 1}, huge[2] = {1, (size_t)1 << 62};
    char words[100];
    for (int i = 0; i < 3; i++) {
        double seconds[2] = {1, is_last ? bad[i] : 1};
        snprintf(words, sizeof words, "item 1 of rank %d costs %g", last,
                 bad[i]);
        refused(2, seconds, NULL, policy, words);
    }
    const double ones[2] = {1, 1}, sum_to_inf[2] = {1e308, 1e308};
    refused(is_last ? -1 : 2, ones, NULL, policy, "-1 items");
    refused(2, is_last ? NULL : ones, NULL, policy, "seconds is NULL");
    refused(2, is_last ? sum_to_inf : ones, NULL, policy, "too large to be");
    refused(2, ones, is_last ? huge : sizes, policy, "too many bytes");
    refused(2, ones, NULL, EK_RESTORE_RETAIN, "not allowed");
    refused(2, ones, NULL, (ek_restore_policy)77, "policy 77");
    if (job_size > 1) {
        snprintf(words, sizeof words, "rank %d gives no bytes", last);
        refused(2, ones, is_last ? NULL : sizes, policy, words);
        snprintf(words, sizeof words,
                 "rank 0 has centralized, rank %d has hierarchical", last);
        refused(2, ones, NULL, is_last ? EK_RESTORE_HIERARCHICAL : policy,
                words);
    }
}

static void wrong_outputs_are_refused(void)
{
    const double ones[2] = {1, 1};
    int to[2];
    ek_plan_report report = {0};
    ek_options options = EK_OPTIONS_INIT;
    JOB_STATUS(ek_plan(MPI_COMM_WORLD, &(ek_plan_items){0, 2, ones, NULL},
                       EK_RESTORE_AUTO, NULL, to, NULL),
               EK_ERR_ARG);
    JOB_STATUS(ek_plan(MPI_COMM_WORLD,
                       &(ek_plan_items){sizeof(ek_plan_items), 2, ones, NULL},
                       EK_RESTORE_AUTO, NULL, NULL, NULL),
               EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "new_rank is NULL");
    JOB_STATUS(ek_plan(MPI_COMM_WORLD,
                       &(ek_plan_items){sizeof(ek_plan_items), 2, ones, NULL},
                       EK_RESTORE_AUTO, NULL, to, &report),
               EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "EK_PLAN_REPORT_INIT");
    job_set_number(&options, "balance_ppm", job_rank == 0 ? 1000 : 2000);
    JOB_STATUS(ek_plan(MPI_COMM_WORLD,
                       &(ek_plan_items){sizeof(ek_plan_items), 2, ones, NULL},
                       EK_RESTORE_AUTO, &options, to, NULL),
               job_size == 1 ? EK_OK : EK_ERR_ARG);
    if (job_size > 1)
        CHECK_HAS_TEXT(ek_error_message(), "option balance_ppm");
}

/* Other ranks would wait for theirs. */
static int open_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    int to;
    double one = 1;
    (void)worker, (void)payload, (void)bytes, (void)context;
    CHECK_EQ_INT(ek_plan(MPI_COMM_SELF,
                         &(ek_plan_items){sizeof(ek_plan_items), 1, &one, NULL},
                         EK_RESTORE_AUTO, NULL, &to, NULL),
                 EK_ERR_STATE);
    return 0;
}

static void tasks_may_not_plan(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "open", open_task, NULL);
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, NULL));
}

static void drop_line(ek_level level, const char *line, void *context)
{
    (void)level, (void)line, (void)context;
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    /* What is refused here is looked at by its message. */
    ek_set_sink(drop_line, NULL, EK_LEVEL_NONE);
    JOB_RUN(fewest_items_move);
    JOB_RUN(fewest_bytes_move);
    JOB_RUN(bytes_are_asked_for);
    JOB_RUN(printed_plans_are_told);
    JOB_RUN(options_name_the_policy);
    JOB_RUN(units_do_not_matter);
    JOB_RUN(decisions_are_those_of_collections);
    JOB_RUN(edges_are_planned);
    JOB_RUN(wrong_arguments_are_refused);
    JOB_RUN(wrong_outputs_are_refused);
    JOB_RUN_TASKS(tasks_may_not_plan);
    return job_result();
}
