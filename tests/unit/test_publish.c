/* SPDX-License-Identifier: BSD-3-Clause */
/* publish: what thieves see of what a running task spawns. */
#include "lone.h"

#include "engine/internal.h"
#include "engine/spawn.h"

enum {
    CAPACITY = 1024, /* tasks that can be shown at once */
    SPAWNED = 700,   /* a buffer that is almost full is left alone */
    SHOWN_MOST = 40, /* of short ones: a publication, made now and then */
    SHORT_NS = 50,
    LONG_NS = 1000000
};

static void spawn(struct ek_worker *worker)
{
    const struct eki_local *local = &worker->local;
    if (local->stack_top < local->stack_mark)
        eki_worker_push(worker, 0, "", 1, 0);
    else
        CHECK(eki_worker_push_at_mark(worker, 0, "", 1, 0));
}

static void run_next(struct lone *lone)
{
    enum eki_step step = lone_step(lone);
    for (int i = 0; step == EKI_STEP_AGAIN && i < 3; i++)
        step = lone_step(lone);
    CHECK_EQ_INT(step, EKI_STEP_RUN);
    CHECK(eki_worker_take(lone_worker(lone)) != NULL);
}

static void make(struct lone *lone, enum eki_deque_kind kind)
{
    static const int workers[1] = {2}, nodes[1] = {0};
    lone_open_job(lone, 0, 1, workers, nodes);
    eki_free(lone->setup.segment);
    lone->setup.deque = kind;
    lone->setup.buffer_slots = CAPACITY;
    lone->setup.segment =
        eki_alloc_lines(eki_engine_segment_bytes(&lone->setup));
    lone_make(lone);
}

/* A task that a seed has spawned runs on the first of two workers. */
static struct ek_worker *begin(struct lone *lone, enum eki_deque_kind kind)
{
    make(lone, kind);
    lone_seed(lone, 1, 1);
    lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
    run_next(lone);
    spawn(lone_worker(lone));
    lone->now += LONG_NS;
    run_next(lone);
    return lone_worker(lone);
}

static int64_t count_shown(const struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    return eki_deque_visible(worker->share.deque.kind, engine->capacity,
                             &worker->words->deque);
}

static void end(struct lone *lone, struct ek_worker *worker)
{
    CHECK_EQ_INT(eki_local_count(&worker->local) + count_shown(worker),
                 SPAWNED);
    eki_worker_cancel(worker, &worker->counts);
    CHECK_EQ_INT(worker->counts.cancelled, SPAWNED);
    lone_close(lone);
}

static void long_tasks_hide_few(enum eki_deque_kind kind)
{
    struct lone lone;
    struct ek_worker *worker = begin(&lone, kind);
    CHECK_EQ_INT(worker->batch.size, 1);
    for (int i = 1; i <= SPAWNED; i++) {
        spawn(worker);
        int64_t hidden = eki_local_count(&worker->local);
        CHECK_EQ_INT(count_shown(worker) + hidden, i);
        if (!CHECK(hidden == 0 || (i > 16 && hidden * 4 < count_shown(worker))))
            break;
    }
    end(&lone, worker);
}

static void short_tasks_show_some(enum eki_deque_kind kind)
{
    struct lone lone;
    struct ek_worker *worker = begin(&lone, kind);
    worker->batch.size = EKI_BATCH_MAX;
    worker->batch.task_ns = SHORT_NS;
    eki_worker_set_mark(worker);
    int changes = 0;
    for (int64_t i = 0, before = 0; i < SPAWNED; i++) {
        spawn(worker);
        changes += count_shown(worker) != before;
        before = count_shown(worker);
    }
    CHECK(changes <= 2);
    CHECK(count_shown(worker) > 0 && count_shown(worker) < SHOWN_MOST);
    end(&lone, worker);
}

/* HPDC 2012 as printed: what is shown, and what is not. */
struct printed {
    int64_t shared, local;
    int64_t least; /* that is released */
};

static void model_release(struct printed *deque)
{
    int64_t half = deque->local / 2;
    half = half > deque->least ? half : deque->least;
    if (deque->shared != 0 || deque->local == 0)
        return;
    deque->shared += half;
    deque->local -= half;
}

static void model_add(struct printed *deque)
{
    deque->local++;
    model_release(deque);
}

static void model_get(struct printed *deque)
{
    int64_t half = deque->shared / 2 > 1 ? deque->shared / 2 : 1;
    if (deque->local == 0) {
        deque->shared -= half;
        deque->local += half;
    }
    deque->local--;
    model_release(deque);
}

static void check_printed(const struct ek_worker *worker,
                          const struct printed *deque)
{
    CHECK_EQ_INT(count_shown(worker), deque->shared);
    CHECK_EQ_INT(eki_local_count(&worker->local), deque->local);
}

/* A thief takes a block. */
static void steal_printed(const struct ek_worker *worker, struct printed *deque)
{
    const struct eki_engine *engine = worker->engine;
    struct eki_block block;
    bool is_claimed =
        eki_deque_claim(worker->share.deque.kind, engine->capacity,
                        &worker->words->deque, &block);
    CHECK_EQ_INT(is_claimed, deque->shared > 0);
    if (!is_claimed)
        return;
    if (worker->share.deque.kind == EKI_DEQUE_LOCKED)
        CHECK_EQ_INT(block.count, (deque->shared + 1) / 2);
    CHECK(block.count >= 1 && block.count <= deque->shared);
    eki_deque_finish(&worker->words->deque, &block);
    deque->shared -= block.count;
}

/* Short tasks and long ones, some of which spawn; thieves come now and then. */
static void shows_what_is_printed(enum eki_deque_kind kind,
                                  ek_steal_policy steal)
{
    struct lone lone;
    struct printed deque = {.least = steal == EK_STEAL_HPDC12_ONE};
    make(&lone, kind);
    lone_seed(&lone, 50, 1);
    lone_enter(&lone, EKI_PHASE_PROCESS, steal);
    struct ek_worker *worker = lone_worker(&lone);
    for (int i = 0; i < 50; i++)
        model_add(&deque);
    check_printed(worker, &deque);
    for (int i = 0; deque.shared + deque.local > 0 && i < 200; i++) {
        model_get(&deque);
        run_next(&lone);
        check_printed(worker, &deque);
        for (int spawned = 0; i % 5 == 1 && i < 60 && spawned < 3; spawned++) {
            spawn(worker);
            model_add(&deque);
            check_printed(worker, &deque);
        }
        if (i % 3 == 0)
            steal_printed(worker, &deque);
        lone.now += i % 2 ? SHORT_NS : LONG_NS;
    }
    CHECK_EQ_INT(deque.shared + deque.local, 0);
    eki_worker_cancel(worker, &worker->counts);
    CHECK_EQ_INT(worker->counts.cancelled, 0);
    lone_close(&lone);
}

static void hpdc12_shows_what_is_printed(void)
{
    for (int kind = EKI_DEQUE_ATOMIC; kind <= EKI_DEQUE_LOCKED; kind++) {
        shows_what_is_printed((enum eki_deque_kind)kind, EK_STEAL_HPDC12);
        shows_what_is_printed((enum eki_deque_kind)kind, EK_STEAL_HPDC12_ONE);
    }
}

static void long_tasks_hide_few_atomic(void)
{
    long_tasks_hide_few(EKI_DEQUE_ATOMIC);
}

static void long_tasks_hide_few_locked(void)
{
    long_tasks_hide_few(EKI_DEQUE_LOCKED);
}

static void short_tasks_show_some_atomic(void)
{
    short_tasks_show_some(EKI_DEQUE_ATOMIC);
}

static void short_tasks_show_some_locked(void)
{
    short_tasks_show_some(EKI_DEQUE_LOCKED);
}

int main(void)
{
    RUN(long_tasks_hide_few_atomic);
    RUN(long_tasks_hide_few_locked);
    RUN(short_tasks_show_some_atomic);
    RUN(short_tasks_show_some_locked);
    RUN(hpdc12_shows_what_is_printed);
    return check_result();
}
