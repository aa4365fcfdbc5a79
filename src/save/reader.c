/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a file of a save, block by block.
 *
 * Nothing read is believed before it was compared with the bytes there are.
 */
#include "save/layout.h"

#include <inttypes.h>

static bool are_workers(uint64_t least, uint64_t most)
{
    return 1 <= least && least <= most && most <= EKI_HOMES_MOST;
}

/* Read the header of a file of PART. */
static ek_status read_part_head(struct eki_sealed_in *in, int part,
                                struct eki_save_head *head)
{
    unsigned char header[EKI_SAVE_HEADER];
    if (in->size < EKI_SAVE_HEADER + EKI_BLOCK_CRC)
        return eki_sealed_refuse(in, in->size,
                                 "the file ends within its header of %d bytes",
                                 EKI_SAVE_HEADER + EKI_BLOCK_CRC);
    EKI_TRY(eki_sealed_read(in, 0, header, sizeof header));
    EKI_TRY(eki_sealed_check_version(in, header, "file of a save",
                                     EKI_SAVE_MAGIC, EKI_SAVE_VERSION,
                                     EKI_SAVE_VERSION));
    EKI_TRY(eki_sealed_check(in, 0, sizeof header, "header"));
    uint64_t ranks = eki_get(header + EKI_SAVE_RANKS, 4);
    uint64_t workers = eki_get(header + EKI_SAVE_WORKERS, 4);
    uint64_t here = eki_get(header + EKI_SAVE_WORKERS_HERE, 4);
    uint64_t base = eki_get(header + EKI_SAVE_KEY_BASE, 4);
    if (!are_workers(ranks, workers) || base > EKI_HOMES_MOST - workers ||
        (part == EKI_SAVE_MANIFEST ? here != 0 : !are_workers(here, workers)))
        return eki_sealed_refuse(in, EKI_SAVE_RANKS,
                                 "%" PRIu64 " ranks with %" PRIu64
                                 " workers, %" PRIu64
                                 " of them here; key base %" PRIu64,
                                 ranks, workers, here, base);
    uint64_t iteration = eki_get(header + EKI_SAVE_ITERATION, 8);
    uint64_t parts = eki_get(header + EKI_SAVE_PARTS, 8);
    if (iteration > INT64_MAX || parts > iteration ||
        header[EKI_SAVE_LAST] > EK_RESTORE_AUTO ||
        header[EKI_SAVE_CHOSEN] > EK_RESTORE_AUTO)
        return eki_sealed_refuse(in, EKI_SAVE_ITERATION,
                                 "an iteration or a policy that there is not");
    if (eki_get(header + EKI_SAVE_PART, 4) != (uint32_t)part)
        return eki_sealed_refuse(in, EKI_SAVE_PART,
                                 "the file of another rank, or no manifest");
    *head = (struct eki_save_head){
        .save = eki_get(header + EKI_SAVE_ID, 8),
        .iteration = (int64_t)iteration,
        .part = part,
        .ranks = (int)ranks,
        .workers = (int)workers,
        .workers_here = (int)here,
        .last = (ek_restore_policy)header[EKI_SAVE_LAST],
        .is_retained = header[EKI_SAVE_RETAINED] == 1,
        .chosen = (ek_restore_policy)header[EKI_SAVE_CHOSEN],
        .goes_on = header[EKI_SAVE_GOES_ON] == 1,
        .key_base = (int)base,
        .parts = (int64_t)parts};
    in->at = (int64_t)sizeof header + EKI_BLOCK_CRC;
    return EK_OK;
}

ek_status eki_save_next_block(struct eki_sealed_in *in,
                              struct eki_sealed_block *block)
{
    char text[256];
    bool found;
    EKI_TRY(eki_sealed_next(in, block, &found));
    if (found)
        return EK_OK;
    eki_sealed_say_early(in, "the file", text, sizeof text);
    return eki_sealed_refuse(in, in->at, "%s", text);
}

/* The block that ends the file says that these are all tasks. */
static ek_status read_end(const struct eki_sealed_in *in,
                          const struct eki_sealed_block *block,
                          struct eki_save_sums *sums)
{
    unsigned char body[EKI_SAVE_END_BODY];
    EKI_TRY(eki_sealed_body(in, block, body, sizeof body));
    sums->tasks = (int64_t)eki_get(body + EKI_SAVE_END_TASKS, 8);
    sums->ids = eki_get(body + EKI_SAVE_END_IDS, 8);
    sums->place = eki_get(body + EKI_SAVE_END_PLACE, 8);
    return eki_sealed_check_end(in);
}

static ek_status read_name(const struct eki_sealed_in *in,
                           const struct eki_sealed_block *block,
                           struct eki_save_manifest *manifest)
{
    struct eki_save_function function = {.indices = 0};
    uint64_t number;
    EKI_TRY(eki_sealed_function(in, block, &number, function.name));
    if (number != (uint64_t)manifest->functions || number >= UINT16_MAX)
        return eki_sealed_refuse(in, block->at,
                                 "function %" PRIu64 ", expected %d", number,
                                 manifest->functions);
    if (!eki_grow(&manifest->list, manifest->functions, &manifest->room, 8,
                  sizeof *manifest->list))
        return eki_sealed_no_memory(in->path);
    manifest->list[manifest->functions++] = function;
    return EK_OK;
}

static ek_status read_indices(const struct eki_sealed_in *in,
                              const struct eki_sealed_block *block,
                              struct eki_save_manifest *manifest)
{
    unsigned char body[EKI_SAVE_INDICES_BODY];
    EKI_TRY(eki_sealed_body(in, block, body, sizeof body));
    uint64_t function = eki_get(body, 4);
    int64_t indices = (int64_t)eki_get(body + EKI_SAVE_INDICES, 8);
    if (function >= (uint64_t)manifest->functions || indices < -1)
        return eki_sealed_refuse(in, block->at,
                                 "%" PRId64 " indices of function %" PRIu64,
                                 indices, function);
    manifest->list[function].indices = indices;
    return EK_OK;
}

static ek_status read_store(const struct eki_sealed_in *in,
                            const struct eki_sealed_block *block,
                            struct eki_save_manifest *manifest)
{
    unsigned char body[EKI_SAVE_STORE_BODY];
    struct eki_save_store store;
    EKI_TRY(eki_sealed_body(in, block, body, sizeof body));
    uint64_t number = eki_get(body + EKI_FUNCTION_NUMBER, 4);
    store.tiles = (int64_t)eki_get(body + EKI_SAVE_STORE_TILES, 8);
    store.lengths = eki_get(body + EKI_SAVE_STORE_LENGTHS, 8);
    store.layout = eki_get(body + EKI_SAVE_STORE_LAYOUT, 8);
    if (number != (uint64_t)manifest->stores || number >= INT32_MAX ||
        store.tiles < 0 || !eki_is_padded_name(body + EKI_FUNCTION_NAME))
        return eki_sealed_refuse(in, block->at,
                                 "%" PRId64 " tiles of store %" PRIu64
                                 ", expected store %d",
                                 store.tiles, number, manifest->stores);
    memcpy(store.name, body + EKI_FUNCTION_NAME, sizeof store.name);
    if (!eki_grow(&manifest->store_list, manifest->stores,
                  &manifest->store_room, 4, sizeof *manifest->store_list))
        return eki_sealed_no_memory(in->path);
    manifest->store_list[manifest->stores++] = store;
    return EK_OK;
}

static ek_status read_learned(const struct eki_sealed_in *in,
                              const struct eki_sealed_block *block,
                              struct eki_save_manifest *manifest)
{
    unsigned char body[8 * EKI_SAVE_LEARNED];
    EKI_TRY(eki_sealed_body(in, block, body, sizeof body));
    for (int i = 0; i < EKI_SAVE_LEARNED; i++)
        manifest->learned[i] = eki_get(body + (ptrdiff_t)8 * i, 8);
    return EK_OK;
}

static ek_status read_manifest(struct eki_sealed_in *in,
                               struct eki_save_manifest *manifest)
{
    struct eki_sealed_block block = {0};
    EKI_TRY(read_part_head(in, EKI_SAVE_MANIFEST, &manifest->head));
    for (;;) {
        EKI_TRY(eki_save_next_block(in, &block));
        if (block.kind == EKI_BLOCK_END)
            return read_end(in, &block, &manifest->sums);
        if (block.kind == EKI_BLOCK_FUNCTION)
            EKI_TRY(read_name(in, &block, manifest));
        else if (block.kind == EKI_BLOCK_INDICES)
            EKI_TRY(read_indices(in, &block, manifest));
        else if (block.kind == EKI_BLOCK_STORE)
            EKI_TRY(read_store(in, &block, manifest));
        else if (block.kind == EKI_BLOCK_LEARNED)
            EKI_TRY(read_learned(in, &block, manifest));
        else
            return eki_sealed_wrong_kind(in, &block);
    }
}

ek_status eki_save_read_manifest(const char *name,
                                 struct eki_save_manifest *manifest)
{
    struct eki_sealed_in in;
    *manifest = (struct eki_save_manifest){.functions = 0};
    ek_status status = eki_sealed_open(&in, name);
    if (status == EK_OK)
        status = read_manifest(&in, manifest);
    eki_sealed_close(&in);
    if (status != EK_OK)
        eki_save_free_manifest(manifest);
    return status;
}

void eki_save_free_manifest(struct eki_save_manifest *manifest)
{
    eki_free(manifest->list);
    eki_free(manifest->store_list);
    *manifest = (struct eki_save_manifest){.functions = 0};
}

static ek_status read_next_numbers(struct eki_save_in *in,
                                   struct eki_save_numbers *numbers)
{
    unsigned char body[EKI_SAVE_NUMBERS_HEAD];
    struct eki_sealed_block block = {0};
    int workers = in->head.workers_here;
    EKI_TRY(eki_save_next_block(&in->in, &block));
    if (block.kind != EKI_BLOCK_NUMBERS)
        return eki_sealed_wrong_kind(&in->in, &block);
    int64_t expected =
        (int64_t)sizeof body + workers * (int64_t)EKI_SAVE_WORKER_BYTES;
    if (block.bytes != expected)
        return eki_sealed_wrong_size(&in->in, &block, expected);
    EKI_TRY(eki_sealed_read(&in->in, block.at, body, sizeof body));
    numbers->home = eki_get(body + EKI_SAVE_HOME, 8);
    numbers->home_worker = (int)eki_get(body + EKI_SAVE_HOME_WORKER, 4);
    numbers->foreign = eki_get(body + EKI_SAVE_FOREIGN, 8);
    numbers->foreign_worker = (int)eki_get(body + EKI_SAVE_FOREIGN_WORKER, 4);
    if (numbers->home_worker < 0 || numbers->home_worker >= workers ||
        numbers->foreign_worker < 0 || numbers->foreign_worker >= workers)
        return eki_sealed_refuse(&in->in, block.at,
                                 "the next tasks are for workers %d and %d of "
                                 "%d",
                                 numbers->home_worker, numbers->foreign_worker,
                                 workers);
    for (int here = 0; here < workers; here++) {
        EKI_TRY(eki_sealed_read(&in->in,
                                block.at + (int64_t)sizeof body +
                                    here * (int64_t)EKI_SAVE_WORKER_BYTES,
                                body, EKI_SAVE_WORKER_BYTES));
        numbers->workers[here].inlet = eki_get(body + EKI_SAVE_INLET, 8);
        numbers->workers[here].spawned = eki_get(body + EKI_SAVE_SPAWNED, 8);
    }
    return EK_OK;
}

/* Read what comes before tasks. */
static ek_status begin_reading(struct eki_save_in *in, int part,
                               const struct eki_save_manifest *manifest,
                               struct eki_save_numbers **numbers)
{
    EKI_TRY(read_part_head(&in->in, part, &in->head));
    if (in->head.save != manifest->head.save ||
        in->head.iteration != manifest->head.iteration ||
        in->head.ranks != manifest->head.ranks ||
        in->head.workers != manifest->head.workers ||
        in->head.key_base != manifest->head.key_base)
        return eki_sealed_refuse(&in->in, EKI_SAVE_ID,
                                 "a file of another save: %016" PRIx64
                                 ", expected %016" PRIx64,
                                 in->head.save, manifest->head.save);
    *numbers = eki_alloc(1, sizeof **numbers + (size_t)in->head.workers_here *
                                                   sizeof *(*numbers)->workers);
    in->block = eki_alloc(EKI_SAVE_TASKS_MOST, 1);
    if (!*numbers || !in->block)
        return eki_sealed_no_memory(in->in.path);
    return read_next_numbers(in, *numbers);
}

ek_status eki_save_open(struct eki_save_in *in, const char *name, int part,
                        const struct eki_save_manifest *manifest,
                        struct eki_save_numbers **numbers)
{
    *in = (struct eki_save_in){.functions = manifest->functions,
                               .stores = manifest->stores};
    *numbers = NULL;
    ek_status status = eki_sealed_open(&in->in, name);
    if (status == EK_OK)
        status = begin_reading(in, part, manifest, numbers);
    if (status == EK_OK)
        return EK_OK;
    eki_save_close(in);
    eki_free(*numbers);
    *numbers = NULL;
    return status;
}

void eki_save_close(struct eki_save_in *in)
{
    eki_sealed_close(&in->in);
    eki_free(in->block);
    in->block = NULL;
}

static ek_status read_tasks(struct eki_save_in *in,
                            const struct eki_sealed_block *block)
{
    if (block->bytes < EKI_SAVE_TASKS_HEAD ||
        block->bytes > EKI_SAVE_TASKS_MOST)
        return eki_sealed_wrong_size(&in->in, block, EKI_SAVE_TASKS_MOST);
    in->at = block->at;
    in->bytes = (size_t)block->bytes;
    in->next = EKI_SAVE_TASKS_HEAD;
    EKI_TRY(eki_sealed_read(&in->in, in->at, in->block, in->bytes));
    uint64_t here = eki_get(in->block + EKI_SAVE_HERE, 4);
    in->left = (int64_t)eki_get(in->block + EKI_SAVE_COUNT, 4);
    in->here = (int)here;
    if (here < (uint64_t)eki_save_waits(in->head.workers_here, in->head.ranks,
                                        in->head.workers_here) &&
        in->left > 0)
        return EK_OK;
    return eki_sealed_refuse(&in->in, in->at,
                             "%" PRId64 " tasks of worker %" PRIu64 " of %d",
                             in->left, here, in->head.workers_here);
}

/* Find out what the task was. */
static void find_state(const struct eki_save_in *in, struct eki_save_task *task)
{
    int workers = in->head.workers_here, ranks = in->head.ranks;
    task->here = in->here;
    task->waits = task->here >= eki_save_waits(workers, ranks, 0);
    task->is_done =
        !task->waits && task->here >= eki_save_done(workers, ranks, 0);
    if (task->waits)
        task->here -= eki_save_waits(workers, ranks, 0);
    else if (task->is_done)
        task->here -= eki_save_done(workers, ranks, 0);
}

/* Whether a seed may be this, or a spawned task that waits. */
static bool is_seed(const struct eki_save_in *in,
                    const struct eki_save_task *task)
{
    const struct eki_slot *slot = &task->head;
    int flags = slot->flags & ~(EKI_SLOT_COSTED | EKI_SLOT_SET);
    struct eki_range range;
    int base = in->head.key_base;
    if (slot->function >= in->functions ||
        eki_id_home(slot->id) >= in->head.workers ||
        eki_id_home(eki_key(base, slot->id)) >= base + in->head.workers)
        return false;
    if (!(flags & EKI_SLOT_RANGE))
        return (flags & ~(EKI_SLOT_SKIPPED | EKI_SLOT_CANCELLED)) ==
                   (task->waits ? 0 : EKI_SLOT_SEED) &&
               slot->bin < EKI_BIN_COUNT;
    if (slot->bytes != sizeof range || slot->bin != EKI_BIN_RANGE)
        return false;
    memcpy(&range, task->payload, sizeof range);
    return (flags & EKI_SLOT_SEED) && !task->waits && !task->is_done &&
           0 <= range.first && range.first < range.last;
}

/* Take the next task of the block. */
static ek_status take_task(struct eki_save_in *in, struct eki_save_task *task)
{
    const unsigned char *at = in->block + in->next;
    size_t rest = in->bytes - in->next, home_bytes = 0;
    uint64_t home = 0;
    if (rest >= EKI_SAVE_TASK_HEAD) {
        task->head = (struct eki_slot){
            .function = (uint16_t)eki_get(at + EKI_SAVE_TASK_FUNCTION, 2),
            .bytes = (uint16_t)eki_get(at + EKI_SAVE_TASK_BYTES, 2),
            .bin = (uint16_t)eki_get(at + EKI_SAVE_TASK_BIN, 2),
            .deviation = at[EKI_SAVE_TASK_DEVIATION],
            .flags = at[EKI_SAVE_TASK_FLAGS],
            .id = eki_get(at + EKI_SAVE_TASK_ID, 8)};
        task->payload = at + EKI_SAVE_TASK_HEAD;
        find_state(in, task);
    }
    if (task->head.flags & EKI_SLOT_ADOPTED)
        home_bytes = EKI_SAVE_TASK_HOME;
    size_t bytes = EKI_SAVE_TASK_HEAD + (size_t)task->head.bytes + home_bytes;
    task->head.flags &= (uint8_t)~EKI_SLOT_ADOPTED;
    if (home_bytes > 0 && rest >= bytes)
        home = eki_get(at + bytes - home_bytes, EKI_SAVE_TASK_HOME);
    task->home = home_bytes > 0 ? (int)home : -1;
    if (rest < EKI_SAVE_TASK_HEAD || rest < bytes || !is_seed(in, task) ||
        home >= (uint64_t)in->head.ranks || (in->left == 1 && rest > bytes))
        return eki_sealed_refuse(&in->in, in->at + (int64_t)in->next,
                                 "what is here is no task");
    in->next += bytes;
    in->left--;
    eki_save_count(&in->sums, in->head.key_base, &task->head, task->payload);
    return EK_OK;
}

ek_status eki_save_next(struct eki_save_in *in, struct eki_save_task *task,
                        bool *found)
{
    struct eki_sealed_block block = {0};
    struct eki_save_sums sums;
    *found = in->left > 0;
    if (*found)
        return take_task(in, task);
    do
        EKI_TRY(eki_save_next_block(&in->in, &block));
    while (block.kind == EKI_BLOCK_TILES);
    *found = block.kind == EKI_BLOCK_TASKS;
    if (*found) {
        EKI_TRY(read_tasks(in, &block));
        return take_task(in, task);
    }
    if (block.kind != EKI_BLOCK_END)
        return eki_sealed_wrong_kind(&in->in, &block);
    EKI_TRY(read_end(&in->in, &block, &sums));
    if (eki_save_sums_equal(&sums, &in->sums))
        return EK_OK;
    return eki_sealed_refuse(&in->in, block.at,
                             "%" PRId64 " tasks; there are %" PRId64
                             ", or others",
                             sums.tasks, in->sums.tasks);
}
