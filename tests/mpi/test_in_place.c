/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short spawned tasks run where they lie on the stack of their worker: their
 * payload stays as it is until they return, however many they spawn, and all
 * run once.
 *
 *     test_in_place RANKS WORKERS
 */
#include "sums.h"

#include <evenkeel_spawn.h>

enum {
    PAYLOAD_WORDS = 6,
    MANY = 3000, /* spawned by few, more than the stack has room for */
    PARENTS = 6,
    CHAIN = 50000,
    ROOTS = 3
};

/* The first word says what the task does; the others follow from the second. */
enum {
    WIDE, /* a root of leaves, so that batches are long, of MANY and of CHAIN */
    LEAF,
    PARENT, /* spawns MANY, and polls */
    LINK    /* spawns one, as often as its third word says */
};

static ek_function function;
static struct sums ran[16], spawned[16]; /* by worker */
static _Atomic int64_t changed;

static void fill(uint64_t *words, uint64_t kind, uint64_t key, uint64_t left)
{
    words[0] = kind;
    words[1] = key;
    words[2] = left;
    for (int i = 3; i < PAYLOAD_WORDS; i++)
        words[i] = mix(key + (uint64_t)i);
}

static bool is_whole(const uint64_t *words, uint64_t kind, uint64_t key,
                     uint64_t left)
{
    uint64_t expected[PAYLOAD_WORDS];
    fill(expected, kind, key, left);
    return memcmp(words, expected, sizeof expected) == 0;
}

static void spawn(ek_worker *worker, uint64_t kind, uint64_t key, uint64_t left)
{
    uint64_t words[PAYLOAD_WORDS];
    fill(words, kind, key, left);
    CHECK_OK(ek_spawn(worker, function, words, sizeof words, 0));
    add(&spawned[ek_worker_here(worker)], key);
}

static int task(ek_worker *worker, const void *payload, size_t bytes,
                void *context)
{
    uint64_t words[PAYLOAD_WORDS];
    (void)context;
    CHECK_EQ_INT(bytes, sizeof words);
    memcpy(words, payload, sizeof words);
    uint64_t key = words[1];
    uint64_t children = words[0] == WIDE || words[0] == PARENT ? MANY : 0;
    for (uint64_t i = 0; i < children; i++) {
        bool is_parent = words[0] == WIDE && i % (MANY / PARENTS) == 77;
        bool is_link = words[0] == WIDE && i == 1000;
        spawn(worker,
              is_parent ? PARENT
              : is_link ? LINK
                        : LEAF,
              mix(key + 31 * (i + 1)), is_link ? CHAIN : 0);
        if (i % 1024 == 1023)
            ek_poll(worker);
    }
    if (words[0] == LINK && words[2] > 0)
        spawn(worker, LINK, mix(key), words[2] - 1);
    /* Where it began, and as it began. */
    if (!is_whole(payload, words[0], key, words[2]))
        atomic_fetch_add(&changed, 1);
    add(&ran[ek_worker_here(worker)], key);
    return 0;
}

static void what_runs_in_place_stays_as_it_is(ek_collection *tasks)
{
    function = job_register(tasks, "task", task, NULL);
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    struct sums sums = {0};
    for (int i = 0; i < ROOTS; i++) {
        uint64_t words[PAYLOAD_WORDS];
        fill(words, WIDE, mix((uint64_t)(1000 * job_rank + i)), 0);
        CHECK_OK(ek_add_task(tasks, function, words, sizeof words, NULL));
        add(&spawned[0], words[1]);
    }
    JOB_OK(ek_process(tasks, &report));
    int64_t n = 0;
    for (int i = 0; i < job_workers; i++) {
        n += ran[i].n;
        join(&sums, &ran[i], 1);
        join(&sums, &spawned[i], -1);
    }
    CHECK_EQ_INT(job_sum(n),
                 ROOTS * job_size * (1 + MANY + PARENTS * MANY + CHAIN));
    sums = whole(sums);
    CHECK(sums.n == 0 && sums.first == 0 && sums.second == 0);
    CHECK_EQ_INT(job_sum(atomic_load(&changed)), 0);
    CHECK(job_count(tasks, "deepest") < 4 * MANY);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN_TASKS(what_runs_in_place_stays_as_it_is);
    return job_result();
}
