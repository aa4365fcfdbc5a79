/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers and their tasks as the bytes of an iteration. */
#include "record/layout.h"
#include "task/task.h"

enum {
    FIRST_BYTES = 4096
};

/* Make room for BYTES more at the end; NULL: no memory. */
static unsigned char *extend_pack(struct eki_record_pack *pack, size_t bytes)
{
    size_t room = pack->room > FIRST_BYTES ? pack->room : FIRST_BYTES;
    while (room < pack->bytes + bytes)
        room *= 2;
    if (room > pack->room) {
        unsigned char *grown = eki_realloc(pack->data, room, 1);
        if (!grown)
            return NULL;
        pack->data = grown;
        pack->room = room;
    }
    unsigned char *end = pack->data + pack->bytes;
    pack->bytes += bytes;
    return end;
}

bool eki_record_pack_begin(struct eki_record_pack *pack)
{
    pack->worker_at = pack->bytes;
    pack->count = pack->families = pack->spans = 0;
    pack->end_ns = 0;
    return extend_pack(pack, (size_t)eki_worker_head(pack->version)) != NULL;
}

/* The gap between a task and the one before it as a bin, which moves its start
 * by less than 0.2 % of that. */
static void put_gap(struct eki_record_pack *pack, unsigned char *to,
                    const struct eki_record_task *task)
{
    uint16_t gap = task->start_ns > pack->end_ns
                       ? eki_bin_of(task->start_ns - pack->end_ns)
                       : EKI_BIN_NEVER;
    eki_put(to + EKI_TASK_GAP, gap, 2);
    pack->end_ns =
        eki_task_end_ns(eki_moment_after(pack->end_ns, eki_bin_ns(gap)),
                        eki_bin_ns(task->bin), task->flags);
}

bool eki_record_pack_task(struct eki_record_pack *pack,
                          const struct eki_record_task *task)
{
    bool is_sized = task->flags & EKI_RECORD_SIZED;
    int bytes = eki_task_bytes(pack->version);
    unsigned char *to =
        extend_pack(pack, (size_t)(bytes + (is_sized ? EKI_TASK_SIZES : 0)));
    if (!to)
        return false;
    pack->count++;
    eki_put(to + EKI_TASK_ID, task->id, 8);
    eki_put(to + EKI_TASK_FUNCTION, task->function, 2);
    eki_put(to + EKI_TASK_BIN, task->bin, 2);
    eki_put(to + EKI_TASK_FLAGS, task->flags, 1);
    if (pack->version > EKI_RECORD_VERSION_HELD)
        put_gap(pack, to, task);
    if (is_sized) {
        eki_put(to + bytes + EKI_TASK_INPUT, task->input_bytes, 4);
        eki_put(to + bytes + EKI_TASK_RESULT, task->result_bytes, 4);
    }
    return true;
}

bool eki_record_pack_payload(struct eki_record_pack *pack, const void *payload,
                             int bytes)
{
    unsigned char *to = extend_pack(pack, (size_t)bytes + 1);
    EKI_ASSERT(pack->version > EKI_RECORD_VERSION_HELD);
    if (!to)
        return false;
    to[0] = (unsigned char)bytes;
    memcpy(to + 1, payload, (size_t)bytes);
    return true;
}

bool eki_record_pack_family(struct eki_record_pack *pack,
                            const struct eki_record_family *family)
{
    unsigned char *to = extend_pack(pack, EKI_FAMILY_BYTES);
    EKI_ASSERT(pack->version > EKI_RECORD_VERSION_DATA);
    if (!to)
        return false;
    pack->families++;
    eki_put(to + EKI_FAMILY_PARENT, family->parent, 8);
    eki_put(to + EKI_FAMILY_FIRST, family->first, 8);
    eki_put(to + EKI_FAMILY_COUNT, family->count, 8);
    return true;
}

bool eki_record_pack_span(struct eki_record_pack *pack,
                          const struct eki_record_span *span)
{
    unsigned char *to = extend_pack(pack, EKI_SPAN_BYTES);
    EKI_ASSERT(pack->version > EKI_RECORD_VERSION_STARTS);
    if (!to)
        return false;
    pack->spans++;
    eki_put(to + EKI_SPAN_FIRST, span->first, 8);
    eki_put(to + EKI_SPAN_COUNT, span->count, 8);
    eki_put(to + EKI_SPAN_PLACE, (uint64_t)span->place, 8);
    eki_put(to + EKI_SPAN_FUNCTION, span->function, 2);
    return true;
}

bool eki_record_pack_append(struct eki_record_pack *pack,
                            const struct eki_record_pack *part)
{
    unsigned char *to = extend_pack(pack, part->bytes);
    if (!to)
        return false;
    if (part->bytes > 0)
        memcpy(to, part->data, part->bytes);
    pack->count += part->count;
    pack->families += part->families;
    pack->spans += part->spans;
    if (part->end_ns > pack->end_ns)
        pack->end_ns = part->end_ns;
    return true;
}

void eki_record_pack_end(struct eki_record_pack *pack,
                         const struct eki_record_worker *worker)
{
    unsigned char *to = pack->data + pack->worker_at;
    eki_put(to + EKI_WORKER_COUNT, (uint64_t)pack->count, 8);
    eki_put(to + EKI_WORKER_EXECUTED, (uint64_t)worker->executed, 8);
    eki_put(to + EKI_WORKER_NULLS, (uint64_t)worker->nulls, 8);
    eki_put(to + EKI_WORKER_FAILED, (uint64_t)worker->failed, 8);
    eki_put(to + EKI_WORKER_CANCELLED, (uint64_t)worker->cancelled, 8);
    eki_put(to + EKI_WORKER_WORK, worker->work_ns, 8);
    eki_put(to + EKI_WORKER_NULL, worker->null_ns, 8);
    if (pack->version > EKI_RECORD_VERSION_DATA)
        eki_put(to + EKI_WORKER_FAMILIES, (uint64_t)pack->families, 8);
    if (pack->version > EKI_RECORD_VERSION_STARTS)
        eki_put(to + EKI_WORKER_SPANS, (uint64_t)pack->spans, 8);
}

void eki_record_pack_free(struct eki_record_pack *pack)
{
    eki_free(pack->data);
    *pack = (struct eki_record_pack){0};
}
