/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a file of a save: tasks are packed into a block of memory, which is
 * written when it is full. */
#include "base/plant.h"
#include "save/layout.h"

ek_status eki_save_create(struct eki_save_out *out, const char *name,
                          const struct eki_save_head *head)
{
    unsigned char header[EKI_SAVE_HEADER] = EKI_SAVE_MAGIC;
    *out = (struct eki_save_out){.block = eki_alloc(EKI_SAVE_TASKS_MOST, 1),
                                 .key_base = head->key_base};
    if (!out->block)
        return eki_error(EK_ERR_NOMEM, "no memory to write '%.500s'", name);
    eki_put(header + EKI_HEADER_VERSION, EKI_SAVE_VERSION, 4);
    eki_put(header + EKI_HEADER_BYTES, sizeof header + EKI_BLOCK_CRC, 4);
    eki_put(header + EKI_SAVE_ID, head->save, 8);
    eki_put(header + EKI_SAVE_ITERATION, (uint64_t)head->iteration, 8);
    eki_put(header + EKI_SAVE_PART, (uint32_t)head->part, 4);
    eki_put(header + EKI_SAVE_RANKS, (uint64_t)head->ranks, 4);
    eki_put(header + EKI_SAVE_WORKERS, (uint64_t)head->workers, 4);
    eki_put(header + EKI_SAVE_WORKERS_HERE, (uint64_t)head->workers_here, 4);
    header[EKI_SAVE_LAST] = (unsigned char)head->last;
    header[EKI_SAVE_RETAINED] = head->is_retained;
    header[EKI_SAVE_CHOSEN] = (unsigned char)head->chosen;
    header[EKI_SAVE_GOES_ON] = head->goes_on;
    eki_put(header + EKI_SAVE_KEY_BASE, (uint64_t)head->key_base, 4);
    eki_put(header + EKI_SAVE_PARTS, (uint64_t)head->parts, 8);
    EKI_TRY(eki_sealed_create(&out->out, name));
    return eki_sealed_header(&out->out, header, sizeof header);
}

ek_status eki_save_function(struct eki_save_out *out, int number,
                            const char *name, int64_t indices)
{
    unsigned char body[EKI_FUNCTION_BODY];
    eki_function_body(body, number, name);
    EKI_TRY(eki_sealed_write(&out->out, EKI_BLOCK_FUNCTION, body, sizeof body));
    if (indices == 0)
        return EK_OK;
    eki_put(body + EKI_SAVE_INDICES, (uint64_t)indices, 8);
    return eki_sealed_write(&out->out, EKI_BLOCK_INDICES, body,
                            EKI_SAVE_INDICES_BODY);
}

ek_status eki_save_learned(struct eki_save_out *out,
                           const uint64_t learned[EKI_SAVE_LEARNED])
{
    unsigned char body[8 * EKI_SAVE_LEARNED];
    for (int i = 0; i < EKI_SAVE_LEARNED; i++)
        eki_put(body + (ptrdiff_t)8 * i,
                learned[EKI_PLANTED(SAVE_LEARNED) && i > 0 ? i - 1 : i], 8);
    return eki_sealed_write(&out->out, EKI_BLOCK_LEARNED, body, sizeof body);
}

ek_status eki_save_numbers(struct eki_save_out *out,
                           const struct eki_save_numbers *numbers, int workers)
{
    unsigned char body[EKI_SAVE_NUMBERS_HEAD];
    eki_put(body + EKI_SAVE_HOME, numbers->home, 8);
    eki_put(body + EKI_SAVE_HOME_WORKER, (uint64_t)numbers->home_worker, 4);
    eki_put(body + EKI_SAVE_FOREIGN, numbers->foreign, 8);
    eki_put(body + EKI_SAVE_FOREIGN_WORKER, (uint64_t)numbers->foreign_worker,
            4);
    eki_sealed_begin(&out->out, EKI_BLOCK_NUMBERS,
                     (int64_t)sizeof body + EKI_SAVE_WORKER_BYTES * workers);
    eki_sealed_put(&out->out, body, sizeof body);
    for (int here = 0; here < workers; here++) {
        eki_put(body + EKI_SAVE_INLET, numbers->workers[here].inlet, 8);
        eki_put(body + EKI_SAVE_SPAWNED, numbers->workers[here].spawned, 8);
        eki_sealed_put(&out->out, body, EKI_SAVE_WORKER_BYTES);
    }
    return eki_sealed_end(&out->out);
}

static ek_status write_tasks(struct eki_save_out *out, int here)
{
    if (out->count == 0)
        return EK_OK;
    eki_put(out->block + EKI_SAVE_HERE, (uint64_t)here, 4);
    eki_put(out->block + EKI_SAVE_COUNT, (uint64_t)out->count, 4);
    out->count = 0;
    return eki_sealed_write(&out->out, EKI_BLOCK_TASKS, out->block, out->used);
}

static uint64_t duration_of(const struct eki_save_out *out,
                            const struct eki_slot *slot)
{
    if (EKI_PLANTED(SAVE_DURATION) && out->count > 0)
        return eki_get(out->block + EKI_SAVE_TASKS_HEAD + EKI_SAVE_TASK_BIN, 2);
    return slot->bin;
}

void eki_save_count(struct eki_save_sums *sums, int base,
                    const struct eki_slot *slot, const void *payload)
{
    uint64_t place = eki_key_place(eki_key(base, slot->id));
    struct eki_range range;
    if (slot->flags & EKI_SLOT_RANGE) {
        memcpy(&range, payload, sizeof range);
        place += (uint64_t)(range.last - range.first) - 1;
    }
    sums->tasks++;
    sums->ids += slot->id;
    sums->place = place > sums->place ? place : sums->place;
}

/* There is room. */
static void put_task(struct eki_save_out *out, const struct eki_slot *slot)
{
    unsigned char *at = out->block + out->used;
    int home = out->home_of && !EKI_PLANTED(SAVE_HOME_LOST)
                   ? out->home_of(out->context, slot)
                   : -1;
    int flags = slot->flags & ~EKI_SLOT_ADOPTED;
    eki_put(at + EKI_SAVE_TASK_FUNCTION, slot->function, 2);
    eki_put(at + EKI_SAVE_TASK_BYTES, slot->bytes, 2);
    eki_put(at + EKI_SAVE_TASK_BIN, duration_of(out, slot), 2);
    at[EKI_SAVE_TASK_DEVIATION] = slot->deviation;
    at[EKI_SAVE_TASK_FLAGS] =
        (unsigned char)(home >= 0 ? flags | EKI_SLOT_ADOPTED : flags);
    eki_put(at + EKI_SAVE_TASK_ID, slot->id, 8);
    memcpy(at + EKI_SAVE_TASK_HEAD, slot->payload, slot->bytes);
    out->used += EKI_SAVE_TASK_HEAD + (size_t)slot->bytes;
    if (home >= 0) {
        eki_put(out->block + out->used, (uint64_t)home, EKI_SAVE_TASK_HOME);
        out->used += EKI_SAVE_TASK_HOME;
    }
    out->count++;
    eki_save_count(&out->sums, out->key_base, slot, slot->payload);
}

ek_status eki_save_slots(struct eki_save_out *out, int here,
                         const unsigned char *slots, const unsigned char *end,
                         uint32_t slot_bytes)
{
    for (; slots != end; slots += slot_bytes) {
        if (out->used + slot_bytes + EKI_SAVE_TASK_HOME > EKI_SAVE_TASKS_MOST)
            EKI_TRY(write_tasks(out, here));
        if (out->count == 0)
            out->used = EKI_SAVE_TASKS_HEAD;
        put_task(out, (const struct eki_slot *)slots);
    }
    return write_tasks(out, here);
}

ek_status eki_save_finish(struct eki_save_out *out,
                          const struct eki_save_sums *sums)
{
    unsigned char body[EKI_SAVE_END_BODY];
    eki_put(body + EKI_SAVE_END_TASKS, (uint64_t)sums->tasks, 8);
    eki_put(body + EKI_SAVE_END_IDS, sums->ids, 8);
    eki_put(body + EKI_SAVE_END_PLACE, sums->place, 8);
    EKI_TRY(eki_sealed_write(&out->out, EKI_BLOCK_END, body, sizeof body));
    EKI_TRY(eki_sealed_sync(&out->out));
    return eki_sealed_finish(&out->out);
}

void eki_save_abandon(struct eki_save_out *out)
{
    eki_sealed_finish(&out->out);
    eki_free(out->block);
    out->block = NULL;
}
