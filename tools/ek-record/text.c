/* SPDX-License-Identifier: BSD-3-Clause */
/* A record as text, one line per task; docs/reference/file-formats.md says what
 * it means. */
#include "tool.h"

#include <inttypes.h>

static void print_policy(const struct tool_policy *policy,
                         const struct eki_record_head *head)
{
    int value;
    memcpy(&value, (const char *)head + policy->offset, sizeof value);
    const char *name = tool_policy_name(policy, value);
    if (name)
        printf(" %s %s", policy->key, name);
    else
        printf(" %s %d", policy->key, value);
}

static void print_worker(int number, const struct eki_record_worker *worker)
{
    printf("worker %d executed %" PRId64 " nulls %" PRId64 " failed %" PRId64
           " cancelled %" PRId64 " work_ns %" PRIu64 " null_ns %" PRIu64 "\n",
           number, worker->executed, worker->nulls, worker->failed,
           worker->cancelled, worker->work_ns, worker->null_ns);
}

static void print_task(const struct eki_record_iteration *iteration, int64_t k)
{
    const struct eki_record_task *task = &iteration->tasks[k];
    printf("task %" PRIu64 " %d ", task->id, task->function);
    if (task->bin == EKI_BIN_NEVER)
        printf("- ");
    else
        printf("%" PRIu64 " ", task->duration_ns);
    tool_print_flags(task->flags);
    if (task->start_ns != EKI_RECORD_UNKNOWN)
        printf(" %" PRIu64, task->start_ns);
    if (task->flags & EKI_RECORD_SIZED)
        printf(" %" PRIu32 " %" PRIu32, task->input_bytes, task->result_bytes);
    if (task->flags & EKI_RECORD_PAYLOAD)
        putchar(' ');
    tool_print_payload(iteration, k);
    putchar('\n');
}

static void print_family(const struct eki_record_family *family)
{
    printf("spawned %" PRIu64 " first %" PRIu64 " count %" PRIu64 "\n",
           family->parent, family->first, family->count);
}

static void print_span(const struct eki_record_span *span)
{
    printf("range %" PRIu64 " count %" PRIu64 " place %" PRId64
           " function %d\n",
           span->first, span->count, span->place, span->function);
}

static void print_iteration(const struct eki_record *record,
                            const struct eki_record_iteration *iteration)
{
    const struct eki_record_head *head = &iteration->head;
    printf("iteration %" PRId64 " wall_ns %" PRIu64 " status %d",
           head->iteration, head->wall_ns, -(int)head->status);
    for (int i = 0; i < TOOL_POLICIES; i++)
        print_policy(&tool_policies[i], head);
    if (record->shape.version > EKI_RECORD_VERSION_STARTS)
        printf(" stopped %d", head->stopped);
    putchar('\n');
    for (int i = 0; i < record->shape.workers; i++) {
        const struct eki_record_worker *worker = &iteration->workers[i];
        print_worker(i, worker);
        for (int64_t k = 0; k < worker->count; k++)
            print_task(iteration, worker->first + k);
        for (int64_t k = 0; k < worker->families; k++)
            print_family(&iteration->families[worker->first_family + k]);
        for (int64_t k = 0; k < worker->spans; k++)
            print_span(&iteration->spans[worker->first_span + k]);
    }
}

/* A line each; one without an end is one, too. */
static void print_about(const char *about)
{
    while (about && *about) {
        size_t bytes = strcspn(about, "\n");
        printf("about %.*s\n", (int)bytes, about);
        about += bytes + (about[bytes] == '\n');
    }
}

static void print_header(const struct eki_record *record)
{
    printf("EKRECORD %d\nname %s\n", record->shape.version, record->shape.name);
    for (int rank = 0; rank < record->shape.ranks; rank++)
        printf("rank %d workers %d\n", rank, record->shape.rank_workers[rank]);
    print_about(record->about);
    if (record->shape.key_base > 0)
        printf("earlier workers %d\n", record->shape.key_base);
    for (int i = 0; i < record->function_count; i++) {
        printf("function %d ", i);
        tool_print_name(record->functions[i]);
        putchar('\n');
        if (record->data_bytes_max[i] > 0)
            printf("data %d bytes_max %" PRId64 "\n", i,
                   record->data_bytes_max[i]);
    }
}

static ek_status print_record(struct eki_record *record)
{
    print_header(record);
    for (int64_t k = 0; k < record->iteration_count; k++) {
        struct eki_record_iteration iteration;
        EKI_TRY(tool_load(record, k, &iteration));
        print_iteration(record, &iteration);
        eki_record_unload(&iteration);
    }
    if (record->is_complete)
        printf("end %" PRId64 "\n", record->iteration_count);
    return EK_OK;
}

int tool_text(const struct tool_arguments *arguments)
{
    struct eki_record *record;
    ek_status status = tool_open(arguments->files[0], &record);
    if (status != EK_OK)
        return tool_end(status);
    status = print_record(record);
    eki_record_close(&record);
    return tool_end(status);
}
