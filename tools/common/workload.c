/* SPDX-License-Identifier: BSD-3-Clause */
/* Durations: from a record or drawn, then drift, noise and other changes. */
#include "workload.h"

#include "draw.h"
#include "recorded.h"
#include "sizes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streams of random numbers; iterations have 0, 1, 2, ... */
#define STREAM_DRAW (UINT64_C(1) << 32)
#define STREAM_CHANGE (UINT64_C(2) << 32)

/* Of all tasks; 9.2e9 are the nanoseconds of 63 bits. */
#define SUM_S_MOST 1e9

/* Each kind has mean 1. */
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
    {"n", offsetof(struct synthetic, n), 1, WORKLOAD_TASKS_MOST},
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
    workload->count = workload->seeds = count;
    workload->iterations = 1;
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
            "--synthetic is '%s'; allowed: lognormal, exponential, uniform or "
            "constant, then a colon and n=1...%d, mean=1e-9...1e3 (s) or "
            "mean_us=0.001...1e9"
            "[,cv=0...100][,longest=1e-9...1e6][,nulls=0...1e9]",
            source->synthetic, WORKLOAD_TASKS_MOST);
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
    workload->is_steady = workload->iterations == 1;
    if (source->drift == 0 && source->noise == 0 && !source->change)
        return;
    workload->is_steady = false;
    workload->changed_s = allocate(n, sizeof *workload->changed_s);
    workload->now_s = workload->changed_s;
    if (source->drift > 0 || source->noise > 0)
        workload->drift = allocate(n, sizeof *workload->drift);
}

/* Durations of an iteration before all changes. */
static float *base_of(const struct workload *workload, int iteration)
{
    return workload->base_s +
           (size_t)(iteration % workload->iterations) * (size_t)workload->count;
}

/* Sums of nanoseconds must fit 63 bits, with drift and noise, too. */
static bool check_sum(const struct workload *workload, int iteration,
                      struct message *message)
{
    const float *base_s = base_of(workload, iteration);
    double sum_s = 0;
    for (int64_t k = 0; k < workload->count; k++)
        sum_s += (double)base_s[k];
    if (sum_s <= SUM_S_MOST)
        return true;
    return message_set(message,
                       "'%s': all tasks together take %.3g s; allowed: %.0e; "
                       "shorten them with --scale",
                       workload->name, sum_s, SUM_S_MOST);
}

bool workload_make(const struct workload_source *source,
                   struct workload *workload, struct message *message)
{
    *workload = (struct workload){0};
    if (source->tree) {
        snprintf(workload->name, sizeof workload->name, "%s", source->tree);
        workload->is_steady = true;
        return true;
    }
    bool is_good = source->record ? recorded_read(source, workload, message)
                                  : draw_tasks(source, workload, message);
    for (int i = 0; is_good && i < workload->iterations; i++) {
        float *base_s = base_of(workload, i);
        for (int64_t k = 0; k < workload->count; k++)
            base_s[k] *= (float)source->scale;
        is_good = check_sum(workload, i, message);
    }
    if (is_good && workload_spawns(workload))
        workload->paths =
            allocate((size_t)workload->count, sizeof *workload->paths);
    if (is_good && source->bytes)
        is_good = sizes_draw(source, workload, message);
    if (is_good)
        make_changes(workload, source);
    return is_good;
}

void workload_free(struct workload *workload)
{
    free(workload->ran_on);
    free(workload->ids);
    free(workload->changed_s);
    free(workload->base_s);
    free(workload->drift);
    free(workload->paths);
    spawned_free(&workload->spawned);
    sizes_free(workload);
}

/* Each duration as it is by drift and noise. */
static void drift(struct workload *workload,
                  const struct workload_source *source, int iteration)
{
    const float *base_s = base_of(workload, iteration);
    struct eki_random random;
    eki_random_seed(&random, (uint64_t)source->seed, (uint64_t)iteration);
    for (int64_t k = 0; k < workload->count; k++) {
        double drift =
            eki_exact_exp(source->drift * 1e-2 * draw_normal(&random));
        double noise =
            eki_exact_exp(source->noise * 1e-2 * draw_normal(&random));
        double factor = iteration > 0 ? workload->drift[k] * drift : 1;
        workload->drift[k] = (float)factor;
        workload->now_s[k] = (float)(base_s[k] * factor * noise);
    }
}

void workload_step(struct workload *workload,
                   const struct workload_source *source, int iteration)
{
    if (source->tree)
        return;
    if (workload->drift)
        drift(workload, source, iteration);
    else if (workload->changed_s)
        memcpy(workload->changed_s, base_of(workload, iteration),
               (size_t)workload->count * sizeof *workload->now_s);
    else
        workload->now_s = base_of(workload, iteration);
    if (source->change)
        change(workload, source, iteration);
    workload->sum_s = workload->longest_s = 0;
    for (int64_t k = 0; k < workload->count; k++) {
        workload->sum_s += workload->now_s[k];
        workload->longest_s = fmax(workload->longest_s, workload->now_s[k]);
    }
    if (workload_spawns(workload))
        workload->longest_s =
            spawned_path(&workload->spawned, workload->now_s, workload->count,
                         workload->paths, NULL);
}
