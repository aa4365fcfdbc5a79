/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One iteration from the bytes of its block, whose CRC was right when the
 * record was opened: counts, functions, bins and flags are compared with what
 * there is before they are believed.
 */
#include "record/layout.h"
#include "task/task.h"

#include <inttypes.h>
#include <stdlib.h>

/* A body in memory; NEXT is the first byte that is not read yet. */
struct body {
    const struct eki_record *record;
    const unsigned char *next, *last;
    int64_t at; /* of NEXT in the file */
    int functions;
    int64_t workers;  /* whose heads are not read yet ... */
    int64_t families; /* ... and those of the one that is read ... */
    int64_t spans;    /* ... and its spans */
    int head, task;   /* bytes of one */
    uint64_t end_ns;  /* when the last task of its worker has ended */
};

/* Say what is wrong with what is FIELD bytes behind the next one. */
#define REFUSE(body, field, ...) \
    eki_sealed_refuse(&(body)->record->in, (body)->at + (field), __VA_ARGS__)

static void advance(struct body *body, int64_t bytes)
{
    body->next += bytes;
    body->at += bytes;
}

static ek_status read_head(struct body *body, struct eki_record_head *head)
{
    const unsigned char *from = body->next;
    head->iteration = (int64_t)eki_get(from + EKI_ITERATION_NUMBER, 8);
    head->wall_ns = eki_get(from + EKI_ITERATION_WALL, 8);
    head->status = (ek_status) - (int)from[EKI_ITERATION_STATUS];
    head->restore = (ek_restore_policy)from[EKI_ITERATION_RESTORE];
    head->steal = (ek_steal_policy)from[EKI_ITERATION_STEAL];
    head->order = (enum eki_order)from[EKI_ITERATION_ORDER];
    head->on_failure = (ek_on_failure_policy)from[EKI_ITERATION_ON_FAILURE];
    head->stopped = from[EKI_ITERATION_STOPPED];
    int most = body->record->shape.version > EKI_RECORD_VERSION_STARTS
                   ? EKI_RECORD_STOPS
                   : 0;
    if (head->stopped & ~most)
        return REFUSE(body, EKI_ITERATION_STOPPED, "unknown stops 0x%02x",
                      head->stopped);
    if (eki_get(from + EKI_ITERATION_ZERO, 2) != 0)
        return REFUSE(body, EKI_ITERATION_ZERO, "bytes that must be 0 are not");
    advance(body, EKI_ITERATION_HEAD);
    return EK_OK;
}

/* Whether some duration has the bin, or it is the bin of those without. */
static bool is_bin(uint16_t bin)
{
    return bin == EKI_BIN_NEVER ||
           (bin < EKI_BIN_COUNT && eki_bin_of(eki_bin_ns(bin)) == bin);
}

/* What is left for tasks, families and spans: those of the worker that is read,
 * and heads of others, follow. */
static int64_t bytes_left(const struct body *body)
{
    return body->last - body->next - body->workers * (int64_t)body->head -
           body->families * (int64_t)EKI_FAMILY_BYTES -
           body->spans * (int64_t)EKI_SPAN_BYTES;
}

/* Whether BYTES more of a task may follow. */
static ek_status check_room(const struct body *body, int64_t bytes)
{
    int64_t left = bytes_left(body);
    if (bytes <= left)
        return EK_OK;
    return REFUSE(body, 0, "a task of %" PRId64 " bytes; there are %" PRId64,
                  bytes, left);
}

/* The bytes of a task's data. */
static ek_status read_sizes(struct body *body, struct eki_record_task *task)
{
    const unsigned char *from = body->next + body->task;
    bool is_sized = task->flags & EKI_RECORD_SIZED;
    int64_t bytes = body->task + (is_sized ? EKI_TASK_SIZES : 0);
    EKI_TRY(check_room(body, bytes));
    if (is_sized) {
        task->input_bytes = (uint32_t)eki_get(from + EKI_TASK_INPUT, 4);
        task->result_bytes = (uint32_t)eki_get(from + EKI_TASK_RESULT, 4);
    }
    advance(body, bytes);
    return EK_OK;
}

/* The payload of task K of the list. */
static ek_status read_payload(struct body *body, int64_t k,
                              struct eki_record_iteration *iteration)
{
    EKI_TRY(check_room(body, 1));
    int bytes = body->next[0];
    if (bytes < 1 || bytes > EKI_PAYLOAD_MOST)
        return REFUSE(body, 0, "a payload of %d bytes; allowed: 1 ... %d",
                      bytes, EKI_PAYLOAD_MOST);
    EKI_TRY(check_room(body, 1 + bytes));
    if (!eki_grow(&iteration->payloads, iteration->payload_count,
                  &iteration->payload_room, 16, sizeof *iteration->payloads))
        return eki_sealed_no_memory(body->record->path);
    struct eki_record_payload *payload =
        &iteration->payloads[iteration->payload_count++];
    payload->task = k;
    payload->bytes = bytes;
    memcpy(payload->data, body->next + 1, (size_t)bytes);
    advance(body, 1 + bytes);
    return EK_OK;
}

/* When a task began, of a version that tells. */
static ek_status read_start(struct body *body, struct eki_record_task *task)
{
    task->start_ns = EKI_RECORD_UNKNOWN;
    if (body->task == EKI_TASK_BYTES_FIRST)
        return EK_OK;
    uint16_t gap = (uint16_t)eki_get(body->next + EKI_TASK_GAP, 2);
    if (!is_bin(gap))
        return REFUSE(body, EKI_TASK_GAP, "bin %d is not one of a gap", gap);
    task->start_ns = eki_moment_after(body->end_ns, eki_bin_ns(gap));
    body->end_ns =
        eki_task_end_ns(task->start_ns, task->duration_ns, task->flags);
    return EK_OK;
}

int eki_record_flags(int version)
{
    int flags = EKI_RECORD_DISCARDED | EKI_RECORD_SKIPPED | EKI_RECORD_COSTED;
    if (version > EKI_RECORD_VERSION_FIRST)
        flags |= EKI_RECORD_SIZED | EKI_RECORD_PINNED;
    if (version > EKI_RECORD_VERSION_SPAWNED)
        flags |= EKI_RECORD_HELD;
    if (version > EKI_RECORD_VERSION_HELD)
        flags |= EKI_RECORD_PAYLOAD;
    return flags;
}

static ek_status read_task(struct body *body, int worker,
                           struct eki_record_task *task)
{
    const unsigned char *from = body->next;
    int flags = eki_record_flags(body->record->shape.version);
    task->id = eki_get(from + EKI_TASK_ID, 8);
    task->worker = worker;
    task->function = (uint16_t)eki_get(from + EKI_TASK_FUNCTION, 2);
    task->bin = (uint16_t)eki_get(from + EKI_TASK_BIN, 2);
    task->flags = from[EKI_TASK_FLAGS];
    if (task->function >= body->functions)
        return REFUSE(body, EKI_TASK_FUNCTION, "function %d; there are %d",
                      task->function, body->functions);
    if (!is_bin(task->bin))
        return REFUSE(body, EKI_TASK_BIN, "bin %d is not one of a duration",
                      task->bin);
    if (task->flags & ~flags)
        return REFUSE(body, EKI_TASK_FLAGS, "unknown flags 0x%02x",
                      task->flags);
    task->duration_ns = eki_bin_ns(task->bin);
    EKI_TRY(read_start(body, task));
    return read_sizes(body, task);
}

/* Whether the counts of a worker agree with each other and with the bytes that
 * are left, without the heads of the workers that follow: memory was allocated
 * for so many tasks.  No task of the worker is read before that. */
static ek_status check_counts(const struct body *body,
                              const struct eki_record_worker *worker)
{
    int64_t left = bytes_left(body), tasks = left / body->task;
    if (worker->count < 0 || worker->count > tasks)
        return REFUSE(body, EKI_WORKER_COUNT,
                      "%" PRIu64 " tasks; there are bytes for %" PRId64,
                      (uint64_t)worker->count, tasks);
    left -= worker->count * body->task;
    if (worker->families < 0 || worker->families > left / EKI_FAMILY_BYTES)
        return REFUSE(body, EKI_WORKER_FAMILIES,
                      "%" PRIu64 " tasks that spawn; there are bytes for "
                      "%" PRId64,
                      (uint64_t)worker->families, left / EKI_FAMILY_BYTES);
    left -= worker->families * EKI_FAMILY_BYTES;
    if (worker->spans < 0 || worker->spans > left / EKI_SPAN_BYTES)
        return REFUSE(body, EKI_WORKER_SPANS,
                      "%" PRIu64 " spans; there are bytes for %" PRId64,
                      (uint64_t)worker->spans, left / EKI_SPAN_BYTES);
    if (worker->nulls < 0 || worker->executed < worker->count ||
        worker->executed - worker->count < worker->nulls)
        return REFUSE(body, EKI_WORKER_EXECUTED,
                      "%" PRId64 " executed tasks are less than %" PRId64
                      " tasks and %" PRId64 " null indices",
                      worker->executed, worker->count, worker->nulls);
    if (worker->failed < 0 || worker->failed > worker->executed ||
        worker->cancelled < 0)
        return REFUSE(body, EKI_WORKER_FAILED,
                      "%" PRId64 " failed and %" PRId64
                      " cancelled tasks are not possible",
                      worker->failed, worker->cancelled);
    if (worker->null_ns > worker->work_ns)
        return REFUSE(body, EKI_WORKER_NULL,
                      "null tasks took %" PRIu64 " ns, but all tasks %" PRIu64,
                      worker->null_ns, worker->work_ns);
    return EK_OK;
}

static ek_status read_worker_counts(struct body *body,
                                    struct eki_record_worker *worker)
{
    const unsigned char *from = body->next;
    worker->count = (int64_t)eki_get(from + EKI_WORKER_COUNT, 8);
    worker->executed = (int64_t)eki_get(from + EKI_WORKER_EXECUTED, 8);
    worker->nulls = (int64_t)eki_get(from + EKI_WORKER_NULLS, 8);
    worker->failed = (int64_t)eki_get(from + EKI_WORKER_FAILED, 8);
    worker->cancelled = (int64_t)eki_get(from + EKI_WORKER_CANCELLED, 8);
    worker->work_ns = eki_get(from + EKI_WORKER_WORK, 8);
    worker->null_ns = eki_get(from + EKI_WORKER_NULL, 8);
    if (body->head > EKI_WORKER_HEAD_FIRST)
        worker->families = (int64_t)eki_get(from + EKI_WORKER_FAMILIES, 8);
    if (body->head > EKI_WORKER_HEAD_FAMILIES)
        worker->spans = (int64_t)eki_get(from + EKI_WORKER_SPANS, 8);
    EKI_TRY(check_counts(body, worker));
    advance(body, body->head);
    body->workers--;
    body->families = worker->families;
    body->spans = worker->spans;
    body->end_ns = 0;
    return EK_OK;
}

/* Add the counts of WORKER, whose head begins at byte AT, to SUM: whoever adds
 * them up later need not look. */
static ek_status sum_counts(const struct body *body, int64_t at,
                            const struct eki_record_worker *worker,
                            struct eki_record_worker *sum)
{
    if (worker->executed > INT64_MAX - sum->executed ||
        worker->cancelled > INT64_MAX - sum->cancelled)
        return eki_sealed_refuse(&body->record->in, at + EKI_WORKER_EXECUTED,
                                 "the tasks of the workers so far are more "
                                 "than %" PRId64,
                                 INT64_MAX);
    sum->executed += worker->executed;
    sum->cancelled += worker->cancelled;
    return EK_OK;
}

/* One of worker NUMBER, whose spawned tasks so far have ids below NEXT. */
static ek_status read_family(struct body *body, int number, uint64_t *next,
                             struct eki_record_family *family)
{
    const unsigned char *from = body->next;
    uint64_t end = eki_id(number, 0) + EKI_NUMBERS;
    family->parent = eki_get(from + EKI_FAMILY_PARENT, 8);
    family->first = eki_get(from + EKI_FAMILY_FIRST, 8);
    family->count = eki_get(from + EKI_FAMILY_COUNT, 8);
    if (family->first < *next || family->first >= end || family->count < 1 ||
        family->count > end - family->first)
        return REFUSE(
            body, EKI_FAMILY_FIRST,
            "%" PRIu64 " tasks from id %" PRIu64
            " on are not the next that worker %d spawned; allowed: ids %" PRIu64
            " ... %" PRIu64,
            family->count, family->first, number, *next, end - 1);
    if (family->parent >= family->first &&
        family->parent - family->first < family->count)
        return REFUSE(body, EKI_FAMILY_PARENT, "task %" PRIu64 " spawns itself",
                      family->parent);
    *next = family->first + family->count;
    body->families--;
    advance(body, EKI_FAMILY_BYTES);
    return EK_OK;
}

static ek_status read_families(struct body *body, int number,
                               struct eki_record_worker *worker,
                               struct eki_record_iteration *iteration)
{
    uint64_t next = eki_id_first_spawned(number);
    worker->first_family = iteration->family_count;
    for (int64_t k = 0; k < worker->families; k++)
        EKI_TRY(read_family(body, number, &next,
                            &iteration->families[worker->first_family + k]));
    iteration->family_count += worker->families;
    return EK_OK;
}

/* One of a worker that has listed COUNT tasks, LEAST of them before the span
 * that was read last. */
static ek_status read_span(struct body *body, int64_t count, int64_t *least,
                           struct eki_record_span *span)
{
    const unsigned char *from = body->next;
    span->first = eki_get(from + EKI_SPAN_FIRST, 8);
    span->count = eki_get(from + EKI_SPAN_COUNT, 8);
    span->place = (int64_t)eki_get(from + EKI_SPAN_PLACE, 8);
    span->function = (uint16_t)eki_get(from + EKI_SPAN_FUNCTION, 2);
    if (span->count < 1 || span->count > EKI_NUMBERS)
        return REFUSE(body, EKI_SPAN_COUNT, "a span of %" PRIu64 " indices",
                      span->count);
    if (span->place < *least || span->place > count)
        return REFUSE(body, EKI_SPAN_PLACE,
                      "a span behind %" PRId64 " tasks; allowed: %" PRId64
                      " ... %" PRId64,
                      span->place, *least, count);
    if (span->function >= body->functions)
        return REFUSE(body, EKI_SPAN_FUNCTION, "function %d; there are %d",
                      span->function, body->functions);
    *least = span->place;
    body->spans--;
    advance(body, EKI_SPAN_BYTES);
    return EK_OK;
}

static ek_status read_spans(struct body *body, struct eki_record_worker *worker,
                            struct eki_record_iteration *iteration)
{
    int64_t least = 0;
    worker->first_span = iteration->span_count;
    for (int64_t k = 0; k < worker->spans; k++)
        EKI_TRY(read_span(body, worker->count, &least,
                          &iteration->spans[worker->first_span + k]));
    iteration->span_count += worker->spans;
    return EK_OK;
}

static ek_status read_iteration(struct body *body,
                                struct eki_record_iteration *iteration)
{
    const struct eki_record *record = body->record;
    struct eki_record_worker sum = {0};
    EKI_TRY(read_head(body, &iteration->head));
    for (int i = 0; i < record->shape.workers; i++) {
        struct eki_record_worker *worker = &iteration->workers[i];
        int64_t at = body->at;
        EKI_TRY(read_worker_counts(body, worker));
        EKI_TRY(sum_counts(body, at, worker, &sum));
        worker->first = iteration->task_count;
        for (int64_t k = worker->first; k < worker->first + worker->count;
             k++) {
            EKI_TRY(read_task(body, i, &iteration->tasks[k]));
            if (iteration->tasks[k].flags & EKI_RECORD_PAYLOAD)
                EKI_TRY(read_payload(body, k, iteration));
        }
        iteration->task_count += worker->count;
        EKI_TRY(read_families(body, i, worker, iteration));
        EKI_TRY(read_spans(body, worker, iteration));
    }
    if (body->next != body->last)
        return eki_sealed_refuse(&record->in, body->at,
                                 "%td bytes too many in an iteration",
                                 body->last - body->next);
    return EK_OK;
}

ek_status eki_record_load(struct eki_record *record, int64_t k,
                          struct eki_record_iteration *iteration)
{
    const struct eki_record_block *block = &record->blocks[k];
    size_t workers = (size_t)record->shape.workers;
    size_t rest = (size_t)block->bytes - EKI_ITERATION_HEAD;
    size_t head = (size_t)eki_worker_head(record->shape.version);
    size_t task = (size_t)eki_task_bytes(record->shape.version);
    size_t tasks = (rest - workers * head) / task;
    size_t families = (rest - workers * head) / EKI_FAMILY_BYTES;
    size_t spans =
        head == EKI_WORKER_HEAD ? (rest - workers * head) / EKI_SPAN_BYTES : 0;
    unsigned char *bytes = eki_alloc((size_t)block->bytes, 1);
    *iteration = (struct eki_record_iteration){0};
    iteration->workers = eki_alloc(workers, sizeof *iteration->workers);
    iteration->tasks = eki_alloc(tasks, sizeof *iteration->tasks);
    iteration->families = eki_alloc(families, sizeof *iteration->families);
    iteration->spans = eki_alloc(spans, sizeof *iteration->spans);
    ek_status status = EK_OK;
    if (!bytes || !iteration->workers || !iteration->tasks ||
        !iteration->families || !iteration->spans)
        status = eki_sealed_no_memory(record->path);
    if (status == EK_OK)
        status = eki_sealed_read(&record->in, block->at, bytes,
                                 (size_t)block->bytes);
    struct body body = {.record = record,
                        .next = bytes,
                        .last = bytes + block->bytes,
                        .at = block->at,
                        .functions = block->functions,
                        .workers = record->shape.workers,
                        .head = (int)head,
                        .task = (int)task};
    if (status == EK_OK)
        status = read_iteration(&body, iteration);
    eki_free(bytes);
    if (status != EK_OK)
        eki_record_unload(iteration);
    return status;
}

void eki_record_unload(struct eki_record_iteration *iteration)
{
    eki_free(iteration->workers);
    eki_free(iteration->tasks);
    eki_free(iteration->families);
    eki_free(iteration->spans);
    eki_free(iteration->payloads);
    *iteration = (struct eki_record_iteration){0};
}

static int compare_payloads(const void *a, const void *b)
{
    const struct eki_record_payload *x = a, *y = b;
    return (x->task > y->task) - (x->task < y->task);
}

const struct eki_record_payload *
eki_record_payload_of(const struct eki_record_iteration *iteration,
                      int64_t task)
{
    const struct eki_record_payload key = {.task = task};
    return iteration->payload_count == 0
               ? NULL
               : bsearch(&key, iteration->payloads,
                         (size_t)iteration->payload_count, sizeof key,
                         compare_payloads);
}
