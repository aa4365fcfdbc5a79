/* SPDX-License-Identifier: BSD-3-Clause */
/* balance: what donors shed where moving costs bytes, against a search through
 * all choices, and the bound that it tells. */
#include "check.h"
#include "draw.h"

#include "decide/decide.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 12,   /* tasks, of which all choices are tried */
    MANY = 5000 /* tasks, of which no search ends */
};

struct tasks {
    int64_t count;
    eki_ns ns[MANY], load;
    size_t bytes[MANY];
    int32_t shed[MANY];
};

/* Bytes as many as time, by chance, all the same, or none. */
static size_t draw_bytes(int shape, eki_ns ns)
{
    switch (shape) {
    case 0:
        return (size_t)ns;
    case 1:
        return below(4) ? (size_t)below(1000) : 0;
    case 2:
        return 5;
    default:
        return (size_t)1 << below(30);
    }
}

static void draw(struct tasks *tasks, int64_t count, int shape)
{
    tasks->count = count;
    tasks->load = 0;
    for (int64_t i = 0; i < count; i++)
        tasks->load += tasks->ns[i] = below(8) ? 1 + below(1000) : below(5000);
    qsort(tasks->ns, (size_t)count, sizeof *tasks->ns, descending);
    for (int64_t i = 0; i < count; i++)
        tasks->bytes[i] = draw_bytes(shape, tasks->ns[i]);
}

static struct eki_donation donation_of(const struct tasks *tasks, eki_ns target)
{
    return (struct eki_donation){tasks->ns, tasks->bytes, tasks->count,
                                 tasks->load, target};
}

/* Bytes of what was shed, which must be ascending and enough. */
static size_t check_shed(const struct tasks *tasks, eki_ns target, int64_t n)
{
    eki_ns load = tasks->load;
    size_t bytes = 0;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tasks->shed[i] < tasks->count);
        CHECK(tasks->shed[i] > (i > 0 ? tasks->shed[i - 1] : -1));
        load -= tasks->ns[tasks->shed[i]];
        bytes += tasks->bytes[tasks->shed[i]];
    }
    CHECK(load <= target || tasks->load <= target);
    return bytes;
}

/* Of all choices the one with the fewest bytes. */
static size_t search(const struct tasks *tasks, eki_ns target)
{
    size_t fewest = SIZE_MAX;
    for (unsigned choice = 0; choice < 1u << tasks->count; choice++) {
        eki_ns load = tasks->load;
        size_t bytes = 0;
        for (int64_t i = 0; i < tasks->count; i++) {
            if (choice >> i & 1) {
                load -= tasks->ns[i];
                bytes += tasks->bytes[i];
            }
        }
        if (load <= target && bytes < fewest)
            fewest = bytes;
    }
    return fewest;
}

static void few_bytes_are_shed(void)
{
    struct tasks *tasks = calloc(1, sizeof *tasks);
    int64_t best = 0, all = 0;
    eki_random_seed(&random_state, 21, 0);
    for (int run = 0; run < 400; run++) {
        int64_t n;
        size_t bound;
        draw(tasks, below(FEW + 1), run % 4);
        eki_ns target = below(tasks->load + 1);
        struct eki_donation donation = donation_of(tasks, target);
        CHECK(eki_balance_shed_light(&donation, tasks->shed, &n, &bound));
        size_t bytes = check_shed(tasks, target, n);
        size_t fewest = search(tasks, target);
        CHECK(bound <= fewest);
        CHECK(bytes >= fewest && bytes <= 2 * fewest);
        best += bytes == fewest;
        all++;
    }
    CHECK(best * 10 > all * 7);
    free(tasks);
}

/* Where they are many there is always one that fits the rest. */
static void many_tasks_come_close_to_the_bound(void)
{
    struct tasks *tasks = calloc(1, sizeof *tasks);
    eki_random_seed(&random_state, 22, 0);
    for (int run = 0; run < 40; run++) {
        int64_t n;
        size_t bound, most = 0;
        draw(tasks, MANY, run % 4);
        eki_ns target = below(tasks->load + 1);
        struct eki_donation donation = donation_of(tasks, target);
        CHECK(eki_balance_shed_light(&donation, tasks->shed, &n, &bound));
        size_t bytes = check_shed(tasks, target, n);
        for (int64_t i = 0; i < n; i++)
            if (tasks->bytes[tasks->shed[i]] > most)
                most = tasks->bytes[tasks->shed[i]];
        CHECK(bytes >= bound && bytes <= bound + most + 1);
    }
    free(tasks);
}

static void equal_bytes_are_fewest_tasks(void)
{
    struct tasks *tasks = calloc(1, sizeof *tasks);
    int32_t *shed = calloc(MANY, sizeof *shed);
    eki_random_seed(&random_state, 23, 0);
    for (int run = 0; run < 400; run++) {
        int64_t n;
        size_t bound;
        draw(tasks, below(60), 2);
        eki_ns target = below(tasks->load + 2);
        struct eki_donation donation = donation_of(tasks, target);
        CHECK(eki_balance_shed_light(&donation, tasks->shed, &n, &bound));
        CHECK_EQ_INT(n, eki_balance_shed(tasks->ns, tasks->count, tasks->load,
                                         target, shed));
        CHECK(memcmp(tasks->shed, shed, (size_t)n * sizeof *shed) == 0);
    }
    free(shed);
    free(tasks);
}

static void shedding_without_memory_says_so(void)
{
    struct tasks *tasks = calloc(1, sizeof *tasks);
    int64_t n, failures = 0;
    size_t bound;
    bool done = false;
    eki_random_seed(&random_state, 24, 0);
    draw(tasks, 200, 1);
    struct eki_donation donation = donation_of(tasks, tasks->load / 2);
    for (; !done && failures < 10; failures += !done) {
        eki_memory_fail((int)failures + 1);
        done = eki_balance_shed_light(&donation, tasks->shed, &n, &bound);
        eki_memory_fail(0);
    }
    CHECK_EQ_INT(failures, 3);
    free(tasks);
}

/* A whole decision moves less, and is as even. */
static void decisions_move_fewer_bytes(void)
{
    enum {
        WORKERS = 20,
        EACH = MANY / WORKERS
    };
    struct tasks *tasks = calloc(1, sizeof *tasks);
    int32_t *to = calloc(MANY, sizeof *to);
    int64_t first[WORKERS + 1];
    eki_random_seed(&random_state, 25, 0);
    draw(tasks, MANY, 3);
    for (int w = 0; w <= WORKERS; w++)
        first[w] = w * EACH;
    /* Sorted over all workers, the first ones have the longest tasks. */
    struct decide_input input = {
        .workers = WORKERS, .first = first, .ns = tasks->ns, .eps = 0.003};
    size_t moved[2] = {0, 0};
    for (int with = 0; with < 2; with++) {
        struct decision decision;
        input.bytes = with ? tasks->bytes : NULL;
        CHECK(decide_arrays(&input, to, &decision));
        CHECK(decision.after <= 0.0031);
        for (int64_t i = 0; i < MANY; i++)
            moved[with] += to[i] == i / EACH ? 0 : tasks->bytes[i];
    }
    CHECK(moved[1] > 0 && moved[1] < moved[0] / 10);
    free(to);
    free(tasks);
}

int main(void)
{
    RUN(few_bytes_are_shed);
    RUN(many_tasks_come_close_to_the_bound);
    RUN(equal_bytes_are_fewest_tasks);
    RUN(shedding_without_memory_says_so);
    RUN(decisions_move_fewer_bytes);
    return check_result();
}
