/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that travels: the program's callbacks, one at a time and timed, and the
 * tasks that begin with their input.
 *
 * Threads.  Callbacks: any thread of the rank, under the mutex.  All others as
 * the public calls.
 */
#include "collection/collection.h"
#include "engine/offers.h"

#include <evenkeel_data.h>

#define BYTES_MOST ((size_t)1 << 30)

static void enter_program(void *user)
{
    struct eki_callbacks *callbacks = user;
    uint64_t since = eki_clock_ns();
    pthread_mutex_lock(&callbacks->mutex);
    callbacks->since = since;
    callbacks->began = eki_clock_ns();
}

static void leave_program(void *user, struct ek_worker *worker)
{
    struct eki_callbacks *callbacks = user;
    uint64_t now = eki_clock_ns(), since = callbacks->since;
    callbacks->ns += eki_ns_since(callbacks->began, now);
    pthread_mutex_unlock(&callbacks->mutex);
    /* No time of the task. */
    if (worker)
        eki_worker_leave_out(worker, eki_ns_since(since, now));
}

bool eki_collection_begin_data(ek_worker *worker)
{
    struct eki_waiter waiter = {0};
    uint64_t since = eki_clock_ns(), now = since;
    enum eki_data_begun begun;
    while ((begun = eki_data_begin(worker, now)) == EKI_DATA_WAITS) {
        /* The phase ends in an error. */
        if (EKI_UNLIKELY(eki_is_broken(worker->engine)))
            return false;
        /* Others may take what is here meanwhile. */
        if (now == since) {
            if (worker->track)
                eki_worker_track_halt(worker, eki_worker_begun(worker) - 1,
                                      now);
            eki_worker_publish_now(worker);
        }
        eki_team_linger(worker->engine->stepper, worker, &waiter);
        now = eki_clock_ns();
    }
    if (now != since) {
        worker->counts.data_wait_ns += now - since;
        if (worker->track)
            eki_track_state(worker->track, EKI_EVENT_DATA, -1, since, now,
                            eki_task_key(worker));
        eki_team_leave_out(worker->engine->stepper, worker->here, now - since);
    }
    /* What is asked for ahead goes out before the task runs. */
    if (worker->batch.wants_server)
        eki_team_poll(worker->engine->stepper, worker);
    if (begun == EKI_DATA_HOME && worker->engine->owner->callbacks->has_blocks)
        return eki_block_begin(worker);
    return begun != EKI_DATA_FAILED;
}

/* In place of the body of a function with data. */
static int run_with_data(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    const struct eki_callbacks *callbacks = worker->engine->owner->callbacks;
    int function = eki_worker_function(worker);
    if (!eki_collection_begin_data(worker))
        return 0;
    return callbacks->bodies[function](worker, payload, bytes, context);
}

/* What the first function with data needs. */
static ek_status join_data(ek_collection *tasks)
{
    if (tasks->callbacks)
        return EK_OK;
    struct eki_callbacks *callbacks = eki_alloc(1, sizeof *callbacks);
    if (!callbacks)
        return eki_error(EK_ERR_NOMEM, "no memory for data of tasks");
    struct eki_data_setup setup = {.enter = enter_program,
                                   .leave = leave_program,
                                   .user = callbacks,
                                   .budget_bytes =
                                       tasks->settings.options.data_bytes,
                                   .has_bytes = true};
    ek_status status = eki_data_join(tasks->engine, &setup);
    if (status != EK_OK) {
        eki_free(callbacks);
        return status;
    }
    pthread_mutex_init(&callbacks->mutex, NULL);
    tasks->callbacks = callbacks;
    return EK_OK;
}

void eki_collection_free_callbacks(ek_collection *tasks)
{
    struct eki_callbacks *callbacks = tasks->callbacks;
    if (!callbacks)
        return;
    pthread_mutex_destroy(&callbacks->mutex);
    eki_free(callbacks->bodies);
    eki_free(callbacks);
    tasks->callbacks = NULL;
}

ek_status eki_collection_check_data(const ek_collection *tasks,
                                    const char *call, ek_function function)
{
    EKI_TRY(eki_collection_check_idle(tasks, call, ""));
    if (tasks->state == EKI_STATE_VOID)
        return eki_error(EK_ERR_STATE, "%s: an iteration is open", call);
    return eki_collection_check_task(tasks->engine, call, "", function, 0);
}

static ek_status check_ops(const ek_collection *tasks, const char *name,
                           const ek_data_ops *ops)
{
    bool follows = tasks->settings.options.data == EKI_DATA_FOLLOW;
    if (!ops->pack_input)
        return eki_error(EK_ERR_ARG, "ek_set_data_ops: '%s' has no pack_input",
                         name);
    if (follows && (!ops->release || !ops->unpack_result))
        return eki_error(
            EK_ERR_ARG,
            "ek_set_data_ops: '%s' has no %s, which data=follow needs", name,
            ops->release ? "unpack_result" : "release");
    return EK_OK;
}

ek_status eki_collection_set_data(ek_collection *tasks, ek_function function,
                                  const ek_data_ops *ops)
{
    const char *name = tasks->engine->functions[function].name;
    const char *call =
        eki_are_blocks(ops) ? "ek_set_data_blocks" : "ek_set_data_ops";
    char line[EKI_DESCRIBED_BYTES] = "";
    if (eki_collection_data_of(tasks, function))
        return eki_error(EK_ERR_ARG, "%s: '%s' has data already", call, name);
    if (ops->bytes_max > BYTES_MOST)
        return eki_error(EK_ERR_ARG,
                         "%s: bytes_max of '%s' is %zu; allowed: 0 ... %zu",
                         call, name, ops->bytes_max, BYTES_MOST);
    EKI_TRY(join_data(tasks));
    ek_task_fn **bodies =
        eki_realloc(tasks->callbacks->bodies,
                    (size_t)tasks->engine->function_count, sizeof *bodies);
    if (!bodies)
        return eki_error(EK_ERR_NOMEM, "no memory for data of tasks");
    tasks->callbacks->bodies = bodies;
    EKI_TRY(eki_data_set(tasks->engine, function, ops));
    tasks->callbacks->has_blocks |= eki_are_blocks(ops);
    struct eki_function *set = &tasks->engine->functions[function];
    /* Without a body ek_next() hands out its tasks. */
    if (set->fn) {
        bodies[function] = set->fn;
        set->fn = run_with_data;
    }
    eki_collection_describe_data(tasks, function, line);
    tasks->agreed.functions = eki_hash_text(tasks->agreed.functions, line);
    return EK_OK;
}

static ek_status set_data_ops(ek_collection *tasks, ek_function function,
                              const ek_data_ops *ops)
{
    ek_data_ops taken = EK_DATA_OPS_INIT;
    EKI_TRY(eki_collection_check_data(tasks, "ek_set_data_ops", function));
    if (!ops ||
        !eki_struct_copy(ops, ops->struct_bytes, offsetof(ek_data_ops, context),
                         &taken, sizeof taken))
        return eki_error(EK_ERR_ARG,
                         "ek_set_data_ops: ops is NULL or was not set by "
                         "EK_DATA_OPS_INIT");
    EKI_TRY(check_ops(tasks, tasks->engine->functions[function].name, &taken));
    return eki_collection_set_data(tasks, function, &taken);
}

ek_status ek_set_data_ops(ek_collection *tasks, ek_function function,
                          const ek_data_ops *ops)
{
    return eki_collection_outcome(tasks, set_data_ops(tasks, function, ops));
}

const ek_data_ops *eki_collection_data_of(const ek_collection *tasks,
                                          ek_function function)
{
    return tasks->callbacks ? eki_data_ops_of(tasks->engine, function) : NULL;
}

void eki_collection_describe_data(const ek_collection *tasks, int function,
                                  char *line)
{
    const ek_data_ops *ops = eki_collection_data_of(tasks, function);
    if (!ops)
        return;
    if (eki_are_blocks(ops)) {
        eki_append(line, EKI_DESCRIBED_BYTES,
                   ", with blocks of at most %zu bytes", ops->bytes_max);
        return;
    }
    eki_append(line, EKI_DESCRIBED_BYTES,
               ", with data of at most %zu bytes and pack_input%s%s%s%s",
               ops->bytes_max, ops->unpack_input ? ", unpack_input" : "",
               ops->pack_result ? ", pack_result" : "",
               ops->unpack_result ? ", unpack_result" : "",
               ops->release ? ", release" : "");
}

void *ek_task_data(const ek_worker *worker)
{
    return eki_data_object(worker);
}

size_t ek_task_data_bytes(const ek_worker *worker)
{
    return (size_t)eki_data_input_bytes(worker);
}
