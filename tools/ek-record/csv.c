/* SPDX-License-Identifier: BSD-3-Clause */
/* A record as CSV: a row for each task, in the order in which its worker
 * ran them. */
#include "tool.h"

#include "columns.h"

#include <inttypes.h>

static void print_task(const struct eki_record *record,
                       const struct eki_record_iteration *iteration, int64_t k)
{
    const struct eki_record_task *task = &iteration->tasks[k];
    const struct label name = {.text = record->functions[task->function]};
    const struct labels labels = {&name, 1};
    uint64_t key = eki_key(record->shape.key_base, task->id);
    printf("%" PRId64 ",%d,%" PRId64 ",%d,%" PRIu64 ",%" PRIu64 ",",
           iteration->head.iteration, task->worker,
           k - iteration->workers[task->worker].first, eki_id_home(task->id),
           key % EKI_NUMBERS, key);
    labels_csv(&labels, stdout);
    if (task->start_ns == EKI_RECORD_UNKNOWN)
        printf(",nan");
    else
        printf(",%.9f", (double)task->start_ns * 1e-9);
    if (task->bin == EKI_BIN_NEVER)
        printf(",nan,");
    else
        printf(",%" PRIu64 ",", task->duration_ns);
    tool_print_flags(task->flags);
    printf(",%" PRIu32 ",%" PRIu32 ",", task->input_bytes, task->result_bytes);
    tool_print_payload(iteration, k);
    putchar('\n');
}

static ek_status print_tasks(struct eki_record *record)
{
    printf("iteration,worker,order,home,number,id,function,start_s,duration_ns,"
           "flags,input_bytes,result_bytes,payload\n");
    for (int64_t i = 0; i < record->iteration_count; i++) {
        struct eki_record_iteration iteration;
        EKI_TRY(tool_load(record, i, &iteration));
        for (int64_t k = 0; k < iteration.task_count; k++)
            print_task(record, &iteration, k);
        eki_record_unload(&iteration);
    }
    return EK_OK;
}

int tool_csv(const struct tool_arguments *arguments)
{
    struct eki_record *record;
    ek_status status = tool_open(arguments->files[0], &record);
    if (status != EK_OK)
        return tool_end(status);
    status = print_tasks(record);
    eki_record_close(&record);
    return tool_end(status);
}
