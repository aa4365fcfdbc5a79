/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorded.h"

#include "sizes.h"
#include "spawned.h"
#include "task/task.h"

#include <stdlib.h>
#include <string.h>

/* The iterations that are read, and the tasks that take time in one of them. */
struct reading {
    const struct workload_source *source;
    const char *iterations; /* that are to be read, in words */
    struct eki_record *record;
    int64_t *list; /* [count] numbers of iterations */
    int count;
    bool is_median;                        /* they become one */
    bool is_usual;                         /* no --iteration is given */
    struct eki_record_iteration iteration; /* one of them, sorted */
    int64_t loaded;                        /* its number; -1: none */
    struct spawned spawned; /* of the loaded one, if it has families */
    uint64_t *ids;          /* [tasks], in order */
    int *ran_on;            /* [tasks] worker, when it first ran */
    int64_t tasks;
    struct sizes *sizes; /* NULL: none has data */
    int64_t total;       /* tasks of the first iteration, null ones, too */
};

static void drop_nulls(struct eki_record_iteration *iteration)
{
    int64_t count = 0;
    for (int64_t k = 0; k < iteration->task_count; k++) {
        if (!spawned_is_null(&iteration->tasks[k]))
            iteration->tasks[count++] = iteration->tasks[k];
    }
    iteration->task_count = count;
}

static void unload(struct reading *reading)
{
    spawned_free(&reading->spawned);
    if (reading->loaded >= 0)
        eki_record_unload(&reading->iteration);
    reading->loaded = -1;
}

/* Load iteration K, unless it is loaded: its tasks that take time. */
static bool load(struct reading *reading, int64_t k, struct message *message)
{
    struct eki_record_iteration *iteration = &reading->iteration;
    if (reading->loaded == k)
        return true;
    unload(reading);
    if (eki_record_load(reading->record, k, iteration) != EK_OK)
        return message_set(message, "%s", ek_error_message());
    reading->loaded = k;
    if (reading->total == 0) {
        reading->total = iteration->task_count;
        for (int i = 0; i < reading->record->shape.workers; i++)
            reading->total += iteration->workers[i].nulls;
    }
    spawned_sort_ids(iteration);
    /* Where tasks spawn others, one that takes no time may have children. */
    if (iteration->family_count == 0) {
        drop_nulls(iteration);
        return true;
    }
    /* No median is made of these: join_all() takes the first iteration. */
    if (reading->is_usual && reading->is_median)
        return true;
    if (reading->count > 1)
        return message_set(message,
                           "tasks of iteration %lld spawn others, which differ "
                           "between iterations: --iteration takes a single one",
                           (long long)k);
    return spawned_sort(iteration, &reading->spawned) == EK_OK ||
           message_set(message, "'%.300s': %s", reading->source->record,
                       ek_error_message());
}

/* The tasks of the loaded iteration, of which some have spawned others. */
static void take_spawned(struct reading *reading)
{
    const struct eki_record_task *tasks = reading->iteration.tasks;
    size_t count = (size_t)reading->iteration.task_count;
    reading->ids = allocate(count, sizeof *reading->ids);
    reading->ran_on = allocate(count, sizeof *reading->ran_on);
    for (size_t k = 0; k < count; k++) {
        reading->ids[k] = tasks[k].id;
        reading->ran_on[k] = tasks[k].worker;
    }
    reading->tasks = (int64_t)count;
}

/* Let the tasks of the loaded iteration join those that are known. */
static void join(struct reading *reading)
{
    const struct eki_record_task *tasks = reading->iteration.tasks;
    int64_t known = reading->tasks, count = reading->iteration.task_count;
    uint64_t *ids = allocate((size_t)(known + count), sizeof *ids);
    int *ran_on = allocate((size_t)(known + count), sizeof *ran_on);
    int64_t i = 0, k = 0, to = 0;
    while (i < known || k < count) {
        bool is_known =
            i < known && (k == count || reading->ids[i] <= tasks[k].id);
        bool is_here =
            k < count && (i == known || tasks[k].id <= reading->ids[i]);
        ids[to] = is_known ? reading->ids[i] : tasks[k].id;
        ran_on[to++] = is_known ? reading->ran_on[i] : tasks[k].worker;
        i += is_known;
        k += is_here;
    }
    free(reading->ids);
    free(reading->ran_on);
    reading->ids = ids;
    reading->ran_on = ran_on;
    reading->tasks = to;
}

/* Durations of all tasks in the loaded iteration; 0: it has no such task. */
static void fill(struct reading *reading, float *seconds)
{
    const struct eki_record_task *tasks = reading->iteration.tasks;
    int64_t count = reading->iteration.task_count, k = 0;
    for (int64_t i = 0; i < reading->tasks; i++) {
        while (k < count && tasks[k].id < reading->ids[i])
            k++;
        if (k == count || tasks[k].id != reading->ids[i])
            continue;
        sizes_note(reading->sizes, i, &tasks[k]);
        seconds[i] = (float)((double)tasks[k++].duration_ns * 1e-9);
    }
}

/* Numbers of the tasks, if all tasks are numbered 0, 1, 2, ...: those of one
 * range on one rank, whose parts have several workers, and of an import. */
static void take_numbers(const struct reading *reading,
                         struct workload *workload)
{
    int64_t total = workload->count + workload->nulls, last = -1;
    workload->ids = allocate((size_t)workload->count, sizeof *workload->ids);
    for (int64_t i = 0; i < workload->count; i++) {
        int64_t number = (int64_t)(reading->ids[i] % EKI_NUMBERS);
        if (number <= last || number >= total) {
            free(workload->ids);
            workload->ids = NULL;
            return;
        }
        workload->ids[i] = last = number;
    }
}

/* Read a number at *TEXT and step over it; false: there is none below MOST. */
static bool read_number(const char **text, int64_t most, int64_t *number)
{
    const char *at = *text;
    for (*number = 0; *at >= '0' && *at <= '9' && *number < most; at++)
        *number = *number * 10 + (*at - '0');
    bool is_good = at != *text && *number < most;
    *text = at;
    return is_good;
}

/* Read K, K-M or K- at *TEXT, of TOTAL, and step over it and its comma. */
static bool read_span(const char **text, int64_t total, int64_t *first,
                      int64_t *last)
{
    if (!read_number(text, total, first))
        return false;
    *last = *first;
    if (**text == '-') {
        ++*text;
        *last = total - 1;
        if (**text != ',' && **text != '\0' && !read_number(text, total, last))
            return false;
    }
    if (**text != ',')
        return **text == '\0' && *first <= *last;
    ++*text;
    return **text != '\0' && *first <= *last;
}

/* Read TEXT into LIST unless that is NULL; how many they are, 0: it is wrong.
 */
static int read_list(const char *text, int64_t total, int64_t *list)
{
    enum {
        MOST = 10000
    };
    int count = 0;
    do {
        int64_t first, last;
        if (!read_span(&text, total, &first, &last) ||
            last - first >= MOST - count)
            return 0;
        for (; first <= last; first++, count++) {
            if (list)
                list[count] = first;
        }
    } while (*text != '\0');
    return count;
}

static const char median[] = "median";

/* All iterations, or of very many some, evenly. */
static void choose_median(struct reading *reading)
{
    enum {
        MOST = 101
    };
    int64_t total = reading->record->iteration_count;
    reading->count = (int)(total < MOST ? total : MOST);
    reading->is_median = true;
    reading->list = allocate((size_t)reading->count, sizeof *reading->list);
    for (int i = 0; i < reading->count; i++)
        reading->list[i] = i * total / reading->count;
}

static bool choose(struct reading *reading, struct message *message)
{
    int64_t total = reading->record->iteration_count;
    reading->is_usual = !reading->source->iterations;
    reading->iterations =
        reading->is_usual ? median : reading->source->iterations;
    const char *text = reading->iterations;
    if (strcmp(text, median) == 0 && total > 0) {
        choose_median(reading);
        return true;
    }
    reading->count = read_list(text, total, NULL);
    if (reading->count == 0)
        return message_set(
            message,
            "--iteration is '%.100s'; '%.300s' has %lld iterations, numbered "
            "from 0; allowed: K, K-M, K-, or a list "
            "of them with commas, or %s",
            text, reading->source->record, (long long)total, median);
    reading->list = allocate((size_t)reading->count, sizeof *reading->list);
    read_list(text, total, reading->list);
    return true;
}

/* Read the first iteration alone, instead of a median: tasks of one of them
 * spawn others. */
static bool take_first(struct reading *reading, struct message *message)
{
    unload(reading);
    free(reading->ids);
    free(reading->ran_on);
    reading->ids = NULL;
    reading->ran_on = NULL;
    reading->tasks = 0;
    reading->count = 1;
    reading->is_median = false;
    reading->iterations = "0";
    return load(reading, 0, message);
}

/* The tasks of all iterations; of a median those of the first that has some,
 * because others may have come and gone in between. */
static bool join_all(struct reading *reading, struct message *message)
{
    for (int i = 0; i < reading->count; i++) {
        if (!load(reading, reading->list[i], message))
            return false;
        if (reading->is_usual && reading->iteration.family_count > 0 &&
            !take_first(reading, message))
            return false;
        if (reading->spawned.first_child)
            take_spawned(reading);
        else if (!reading->is_median || reading->tasks == 0)
            join(reading);
    }
    if (reading->tasks >= 1 && reading->tasks <= WORKLOAD_TASKS_MOST)
        return true;
    return message_set(message,
                       "'%.300s' has %lld tasks that take time; allowed: 1 "
                       "... %d",
                       reading->source->record, (long long)reading->tasks,
                       WORKLOAD_TASKS_MOST);
}

static int compare(const void *a, const void *b)
{
    const float *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of each task, over the iterations in which it took time: one that the system
 * held up does not decide. */
static void take_medians(struct reading *reading, struct workload *workload)
{
    size_t count = (size_t)workload->count;
    float *seconds = allocate((size_t)reading->count, sizeof *seconds);
    for (size_t k = 0; k < count; k++) {
        int n = 0;
        for (int i = 0; i < reading->count; i++) {
            float took = workload->base_s[(size_t)i * count + k];
            if (took > 0)
                seconds[n++] = took;
        }
        qsort(seconds, (size_t)n, sizeof *seconds, compare);
        workload->base_s[k] = n > 0 ? seconds[(n - 1) / 2] : 0;
    }
    free(seconds);
    workload->iterations = 1;
}

static bool fill_all(struct reading *reading, struct workload *workload,
                     struct message *message)
{
    size_t count = (size_t)workload->count;
    workload->base_s =
        allocate((size_t)reading->count * count, sizeof *workload->base_s);
    workload->iterations = reading->count;
    reading->sizes = sizes_open(reading->record, workload);
    for (int i = 0; i < reading->count; i++) {
        if (!load(reading, reading->list[i], message))
            return false;
        fill(reading, workload->base_s + (size_t)i * count);
    }
    if (reading->is_median)
        take_medians(reading, workload);
    workload->seeds = workload->count;
    if (reading->spawned.first_child)
        workload->seeds = reading->spawned.seeds;
    workload->spawned = reading->spawned;
    reading->spawned = (struct spawned){0};
    return true;
}

static void name_workload(const struct reading *reading,
                          struct workload *workload)
{
    const struct workload_source *source = reading->source;
    const char *slash = strrchr(source->record, '/');
    const char *name = slash ? slash + 1 : source->record;
    if (reading->is_median && reading->count > 1)
        snprintf(workload->name, sizeof workload->name,
                 "%.80s, median of %d iterations", name, reading->count);
    else
        snprintf(workload->name, sizeof workload->name,
                 "%.80s, iteration%s %.30s", name,
                 workload->iterations > 1 ? "s" : "",
                 reading->is_median ? "0" : reading->iterations);
}

static bool take(struct reading *reading, struct workload *workload,
                 struct message *message)
{
    if (!choose(reading, message) || !join_all(reading, message))
        return false;
    workload->count = reading->tasks;
    workload->nulls =
        reading->total > reading->tasks ? reading->total - reading->tasks : 0;
    workload->workers = reading->record->shape.workers;
    workload->ran_on = reading->ran_on;
    reading->ran_on = NULL;
    if (reading->source->has_nulls && !reading->spawned.first_child)
        take_numbers(reading, workload);
    if (!fill_all(reading, workload, message))
        return false;
    name_workload(reading, workload);
    return true;
}

bool recorded_read(const struct workload_source *source,
                   struct workload *workload, struct message *message)
{
    struct reading reading = {.source = source, .loaded = -1};
    if (eki_record_open(source->record, &reading.record) != EK_OK)
        return message_set(message, "%s", ek_error_message());
    bool is_good = take(&reading, workload, message);
    sizes_close(reading.sizes);
    unload(&reading);
    free(reading.list);
    free(reading.ids);
    free(reading.ran_on);
    eki_record_close(&reading.record);
    return is_good;
}
