/* SPDX-License-Identifier: BSD-3-Clause */
/* Durations: from a record or drawn, then drift, noise and other changes. */
#include "workload.h"

#include "base/exact.h"
#include "record/record.h"
#include "task/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Streams of random numbers; iterations have 0, 1, 2, ... */
#define STREAM_DRAW (UINT64_C(1) << 32)
#define STREAM_CHANGE (UINT64_C(2) << 32)

#define TASKS_MAX 100000000

/* Of all tasks; 9.2e9 are the nanoseconds of 63 bits. */
#define SUM_S_MOST 1e9

/* Above 0, at most 1. */
static double draw_uniform(struct eki_random *random)
{
    return (double)((eki_random_next(random) >> 11) + 1) * 0x1p-53;
}

static double draw_normal(struct eki_random *random)
{
    double radius = sqrt(-2 * eki_exact_log(draw_uniform(random)));
    return radius * eki_exact_cos_turns(draw_uniform(random));
}

/* Each kind has mean 1. */
static double draw_lognormal(struct eki_random *random, double cv)
{
    double variance = eki_exact_log(1 + cv * cv);
    return eki_exact_exp(sqrt(variance) * draw_normal(random) - variance / 2);
}

static double draw_exponential(struct eki_random *random, double cv)
{
    (void)cv;
    return -eki_exact_log(draw_uniform(random));
}

static double draw_even(struct eki_random *random, double cv)
{
    (void)cv;
    return 2 * draw_uniform(random);
}

static double draw_constant(struct eki_random *random, double cv)
{
    (void)random;
    (void)cv;
    return 1;
}

static const struct kind {
    const char *name;
    double (*draw)(struct eki_random *random, double cv);
} kinds[] = {{"lognormal", draw_lognormal},
             {"exponential", draw_exponential},
             {"uniform", draw_even},
             {"constant", draw_constant}};

struct synthetic {
    const struct kind *kind;
    double n, mean_us, mean_s, cv, longest_s, nulls;
};

static const struct key {
    const char *name;
    size_t offset;
    double least, most;
} keys[] = {
    {"n", offsetof(struct synthetic, n), 1, TASKS_MAX},
    {"mean_us", offsetof(struct synthetic, mean_us), 1e-3, 1e9},
    {"mean", offsetof(struct synthetic, mean_s), 1e-9, 1e3},
    {"longest", offsetof(struct synthetic, longest_s), 1e-9, 1e6},
    {"cv", offsetof(struct synthetic, cv), 0, 100},
    {"nulls", offsetof(struct synthetic, nulls), 0, 1e9},
};

static const struct kind *find_kind(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i].name) == length &&
            strncmp(kinds[i].name, text, length) == 0)
            return &kinds[i];
    }
    return NULL;
}

static const struct key *find_key(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strlen(keys[i].name) == length &&
            strncmp(keys[i].name, text, length) == 0)
            return &keys[i];
    }
    return NULL;
}

/* Read KEY=NUMBER at *TEXT, and go to what follows its comma. */
static bool read_key(const char **text, struct synthetic *synthetic)
{
    const struct key *key = find_key(*text, strcspn(*text, "="));
    if (!key || (*text)[strlen(key->name)] != '=')
        return false;
    const char *from = *text + strlen(key->name) + 1;
    char *end;
    double value = strtod(from, &end);
    if (end == from || (*end && *end != ',') || !(value >= key->least) ||
        !(value <= key->most))
        return false;
    *(double *)((char *)synthetic + key->offset) = value;
    *text = *end ? end + 1 : end;
    return true;
}

static bool read_synthetic(const char *text, struct synthetic *synthetic)
{
    size_t length = strcspn(text, ":");
    *synthetic = (struct synthetic){.kind = find_kind(text, length), .cv = 1};
    bool is_good = synthetic->kind && text[length] == ':';
    const char *at = text + length + 1;
    while (is_good && *at)
        is_good = read_key(&at, synthetic);
    return is_good && synthetic->n > 0 &&
           (synthetic->mean_us > 0) != (synthetic->mean_s > 0);
}

static void make_room(struct workload *workload, int64_t count)
{
    size_t n = (size_t)count;
    workload->count = count;
    workload->base_s = allocate(n, sizeof *workload->base_s);
}

/* Nothing lasts longer than that, and something as long. */
static void limit_tasks(struct workload *workload, double longest_s)
{
    int64_t longest = 0;
    for (int64_t k = 0; k < workload->count; k++) {
        if (workload->base_s[k] > longest_s)
            workload->base_s[k] = (float)longest_s;
        if (workload->base_s[k] > workload->base_s[longest])
            longest = k;
    }
    workload->base_s[longest] = (float)longest_s;
}

static bool draw_tasks(const struct workload_source *source,
                       struct workload *workload, struct message *message)
{
    struct synthetic synthetic;
    struct eki_random random;
    if (!read_synthetic(source->synthetic, &synthetic))
        return message_set(
            message,
            "--synthetic is '%s'; allowed is lognormal, "
            "exponential, uniform or constant, a colon and "
            "n=1...%d, mean=1e-9...1e3 (s) or mean_us=0.001...1e9"
            "[,cv=0...100][,longest=1e-9...1e6][,nulls=0...1e9]",
            source->synthetic, TASKS_MAX);
    snprintf(workload->name, sizeof workload->name, "%s", source->synthetic);
    workload->nulls = (int64_t)synthetic.nulls;
    make_room(workload, (int64_t)synthetic.n);
    eki_random_seed(&random, (uint64_t)source->seed, STREAM_DRAW);
    double mean_s = synthetic.mean_s + synthetic.mean_us * 1e-6;
    for (int64_t k = 0; k < workload->count; k++)
        workload->base_s[k] =
            (float)(mean_s * synthetic.kind->draw(&random, synthetic.cv));
    if (synthetic.longest_s > 0)
        limit_tasks(workload, synthetic.longest_s);
    return true;
}

static bool is_null(const struct eki_record_task *task)
{
    return task->flags & (EKI_RECORD_DISCARDED | EKI_RECORD_SKIPPED) ||
           task->duration_ns == 0;
}

/* Ids of other programs need not be unique. */
static int compare_ids(const void *a, const void *b)
{
    const struct eki_record_task *first = a, *second = b;
    if (first->id != second->id)
        return first->id < second->id ? -1 : 1;
    if (first->worker != second->worker)
        return first->worker < second->worker ? -1 : 1;
    return (first->duration_ns > second->duration_ns) -
           (first->duration_ns < second->duration_ns);
}

/* Those of one worker often are sorted. */
static void sort_tasks(struct eki_record_iteration *iteration)
{
    const struct eki_record_task *tasks = iteration->tasks;
    bool is_sorted = true;
    for (int64_t k = 1; k < iteration->task_count; k++)
        is_sorted &= tasks[k - 1].id <= tasks[k].id;
    if (!is_sorted)
        qsort(iteration->tasks, (size_t)iteration->task_count,
              sizeof *iteration->tasks, compare_ids);
}

/* Tasks with a duration, in the order of their ids; the others are null. */
static void take_tasks(struct eki_record_iteration *iteration, int workers,
                       struct workload *workload)
{
    int64_t count = 0;
    sort_tasks(iteration);
    make_room(workload, iteration->task_count);
    workload->ran_on =
        allocate((size_t)iteration->task_count, sizeof *workload->ran_on);
    for (int64_t k = 0; k < iteration->task_count; k++) {
        const struct eki_record_task *task = &iteration->tasks[k];
        if (is_null(task))
            continue;
        workload->base_s[count] = (float)((double)task->duration_ns * 1e-9);
        workload->ran_on[count++] = task->worker;
    }
    workload->workers = workers;
    workload->nulls = iteration->task_count - count;
    workload->count = count;
    for (int i = 0; i < workers; i++)
        workload->nulls += iteration->workers[i].nulls;
}

/* Numbers of the tasks that take_tasks() has taken, if all tasks are numbered
 * 0, 1, 2, ...: those of one range on one rank, whose parts have several
 * workers, and of an import. */
static void take_ids(const struct eki_record_iteration *iteration,
                     struct workload *workload)
{
    int64_t total = workload->count + workload->nulls, last = -1, count = 0;
    workload->ids = allocate((size_t)workload->count, sizeof *workload->ids);
    for (int64_t k = 0; k < iteration->task_count; k++) {
        const struct eki_record_task *task = &iteration->tasks[k];
        int64_t number = (int64_t)(task->id % EKI_NUMBERS);
        if (is_null(task))
            continue;
        if (number <= last || number >= total) {
            free(workload->ids);
            workload->ids = NULL;
            return;
        }
        workload->ids[count++] = last = number;
    }
}

static bool load_tasks(struct eki_record *record,
                       const struct workload_source *source,
                       struct workload *workload, struct message *message)
{
    struct eki_record_iteration iteration;
    if (source->iteration >= record->iteration_count)
        return message_set(message,
                           "--iteration is %d; '%.300s' has %lld, numbered "
                           "from 0",
                           source->iteration, source->record,
                           (long long)record->iteration_count);
    if (eki_record_load(record, source->iteration, &iteration) != EK_OK)
        return message_set(message, "%s", ek_error_message());
    take_tasks(&iteration, record->shape.workers, workload);
    if (source->has_nulls)
        take_ids(&iteration, workload);
    eki_record_unload(&iteration);
    const char *slash = strrchr(source->record, '/');
    snprintf(workload->name, sizeof workload->name, "%.100s, iteration %d",
             slash ? slash + 1 : source->record, source->iteration);
    if (workload->count >= 1 && workload->count <= TASKS_MAX)
        return true;
    return message_set(message,
                       "'%.300s' has %lld tasks that take time; allowed: 1 "
                       "... %d",
                       source->record, (long long)workload->count, TASKS_MAX);
}

static bool read_tasks(const struct workload_source *source,
                       struct workload *workload, struct message *message)
{
    struct eki_record *record;
    if (eki_record_open(source->record, &record) != EK_OK)
        return message_set(message, "%s", ek_error_message());
    bool is_good = load_tasks(record, source, workload, message);
    eki_record_close(&record);
    return is_good;
}

/* Durations change places. */
static void shuffle(struct workload *workload, struct eki_random random)
{
    float *s = workload->now_s;
    for (int64_t left = workload->count; left > 1; left--) {
        uint64_t other = eki_random_below(&random, (uint64_t)left);
        float last = s[left - 1];
        s[left - 1] = s[other];
        s[other] = last;
    }
}

/* Consecutive tasks, from a random one and AT of all on, take longer. */
static void heat(struct workload *workload, struct eki_random random, double at)
{
    enum {
        TIMES = 5,
        ONE_OF = 20 /* tasks */
    };
    int64_t n = workload->count;
    int64_t first = (int64_t)((draw_uniform(&random) + at) * (double)n);
    for (int64_t i = 0; i < n / ONE_OF; i++)
        workload->now_s[(first + i) % n] *= TIMES;
}

static struct eki_random random_of(const struct workload_source *source, int i)
{
    struct eki_random random;
    eki_random_seed(&random, (uint64_t)source->seed,
                    STREAM_CHANGE + (uint64_t)i);
    return random;
}

static void alternate(struct workload *workload,
                      const struct workload_source *source, int iteration)
{
    if (iteration % 2 == 1)
        shuffle(workload, random_of(source, 0));
}

static void renew(struct workload *workload,
                  const struct workload_source *source, int iteration)
{
    if (iteration > 0)
        shuffle(workload, random_of(source, iteration));
}

static void heat_elsewhere(struct workload *workload,
                           const struct workload_source *source, int iteration)
{
    heat(workload, random_of(source, iteration), 0);
}

static void heat_later(struct workload *workload,
                       const struct workload_source *source, int iteration)
{
    if (iteration >= 4)
        heat(workload, random_of(source, 0), 0);
}

/* By half its width each time. */
static void heat_next(struct workload *workload,
                      const struct workload_source *source, int iteration)
{
    heat(workload, random_of(source, 0), 0.025 * iteration);
}

static const struct change {
    const char *name;
    void (*apply)(struct workload *workload,
                  const struct workload_source *source, int iteration);
} changes[] = {{"alternate", alternate},
               {"renew", renew},
               {"hot-moves", heat_elsewhere},
               {"hot-comes", heat_later},
               {"hot-creeps", heat_next}};

const char *change_words(void)
{
    return "alternate, renew, hot-moves, hot-comes, hot-creeps";
}

static void change(struct workload *workload,
                   const struct workload_source *source, int iteration)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (strcmp(changes[i].name, source->change) == 0)
            changes[i].apply(workload, source, iteration);
    }
}

/* Memory for durations that change; those that do not are the base's. */
static void make_changes(struct workload *workload,
                         const struct workload_source *source)
{
    size_t n = (size_t)workload->count;
    workload->now_s = workload->base_s;
    if (source->drift == 0 && source->noise == 0 && !source->change)
        return;
    workload->now_s = allocate(n, sizeof *workload->now_s);
    if (source->drift > 0 || source->noise > 0)
        workload->drift = allocate(n, sizeof *workload->drift);
}

/* Sums of nanoseconds must fit 63 bits, with drift and noise, too. */
static bool check_sum(const struct workload *workload, struct message *message)
{
    double sum_s = 0;
    for (int64_t k = 0; k < workload->count; k++)
        sum_s += (double)workload->base_s[k];
    if (sum_s <= SUM_S_MOST)
        return true;
    return message_set(message,
                       "'%s': all tasks take %.3g s together; allowed: %.0e; "
                       "shorten them with --scale",
                       workload->name, sum_s, SUM_S_MOST);
}

bool workload_make(const struct workload_source *source,
                   struct workload *workload, struct message *message)
{
    *workload = (struct workload){0};
    bool is_good = source->record ? read_tasks(source, workload, message)
                                  : draw_tasks(source, workload, message);
    for (int64_t k = 0; is_good && k < workload->count; k++)
        workload->base_s[k] *= (float)source->scale;
    is_good = is_good && check_sum(workload, message);
    if (is_good)
        make_changes(workload, source);
    return is_good;
}

void workload_free(struct workload *workload)
{
    free(workload->ran_on);
    free(workload->ids);
    if (workload->now_s != workload->base_s)
        free(workload->now_s);
    free(workload->base_s);
    free(workload->drift);
}

/* Each duration as it is by drift and noise. */
static void drift(struct workload *workload,
                  const struct workload_source *source, int iteration)
{
    struct eki_random random;
    eki_random_seed(&random, (uint64_t)source->seed, (uint64_t)iteration);
    for (int64_t k = 0; k < workload->count; k++) {
        double drift =
            eki_exact_exp(source->drift * 1e-2 * draw_normal(&random));
        double noise =
            eki_exact_exp(source->noise * 1e-2 * draw_normal(&random));
        double factor = iteration > 0 ? workload->drift[k] * drift : 1;
        workload->drift[k] = (float)factor;
        workload->now_s[k] = (float)(workload->base_s[k] * factor * noise);
    }
}

void workload_step(struct workload *workload,
                   const struct workload_source *source, int iteration)
{
    if (workload->drift)
        drift(workload, source, iteration);
    else if (workload->now_s != workload->base_s)
        memcpy(workload->now_s, workload->base_s,
               (size_t)workload->count * sizeof *workload->now_s);
    if (source->change)
        change(workload, source, iteration);
    workload->sum_s = workload->longest_s = 0;
    for (int64_t k = 0; k < workload->count; k++) {
        workload->sum_s += workload->now_s[k];
        workload->longest_s = fmax(workload->longest_s, workload->now_s[k]);
    }
}
