/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks: data of tasks that the library copies, by address and length.
 *
 * A function with blocks has callbacks like any other function with data.
 * Their context is a table over the indices of its tasks, dense from the lowest
 * index that is set to the highest.
 *
 * Threads.  Tables are written between phases, and read by anybody in one.
 */
#include "data/internal.h"

struct block {
    void *address; /* borrowed */
    size_t size;   /* bytes + 1; 0: it is not set */
};

struct eki_blocks {
    int64_t first, count;
    struct block *list; /* [count], of the indices from FIRST on */
};

/* The index that a payload begins with; -1: none. */
static int64_t index_of(const void *payload, size_t bytes)
{
    int64_t index = -1;
    if (bytes >= sizeof index)
        memcpy(&index, payload, sizeof index);
    return index;
}

/* NULL: it is not set. */
static const struct block *find_block(const struct eki_blocks *blocks,
                                      int64_t index)
{
    uint64_t at = (uint64_t)index - (uint64_t)blocks->first;
    return at < (uint64_t)blocks->count && blocks->list[at].size > 0
               ? &blocks->list[at]
               : NULL;
}

static size_t pack_block(const ek_task *task, void *buffer, void *context)
{
    const struct block *block =
        find_block(context, index_of(task->payload, task->bytes));
    if (!block)
        return EK_DATA_FAILED;
    if (block->size > 1)
        memcpy(buffer, block->address, block->size - 1);
    return block->size - 1;
}

static void unpack_block(const ek_task *task, const void *buffer, size_t bytes,
                         void *context)
{
    const struct block *block =
        find_block(context, index_of(task->payload, task->bytes));
    EKI_ASSERT(block && block->size == bytes + 1);
    if (bytes > 0)
        memcpy(block->address, buffer, bytes);
}

bool eki_are_blocks(const ek_data_ops *ops)
{
    return ops->pack_input == pack_block;
}

bool eki_blocks_open(size_t bytes_max, ek_data_ops *ops)
{
    *ops = (ek_data_ops)EK_DATA_OPS_INIT;
    ops->bytes_max = bytes_max;
    ops->pack_input = pack_block;
    ops->unpack_result = unpack_block;
    ops->context = eki_alloc(1, sizeof(struct eki_blocks));
    return ops->context != NULL;
}

void eki_blocks_close(const ek_data_ops *ops)
{
    struct eki_blocks *blocks = ops->context;
    if (!eki_are_blocks(ops) || !blocks)
        return;
    eki_free(blocks->list);
    eki_free(blocks);
}

/* Let the table have INDEX, and more on that side: a loop that goes on grows it
 * seldom. */
static bool cover_index(struct eki_blocks *blocks, int64_t index)
{
    int64_t slack = blocks->count / 2 + 8;
    int64_t first = blocks->count > 0 ? blocks->first : index;
    int64_t last = blocks->count > 0 ? first + (blocks->count - 1) : index;
    if (index < first)
        first = index > slack ? index - slack : 0;
    if (index > last || blocks->count == 0)
        last = index < INT64_MAX - slack ? index + slack : INT64_MAX;
    if (first == blocks->first && last - first < blocks->count)
        return true;
    if (last - first >= INT64_MAX / (int64_t)sizeof(struct block))
        return false;
    struct block *list =
        eki_alloc((size_t)(last - first + 1), sizeof *blocks->list);
    if (!list)
        return false;
    if (blocks->count > 0)
        memcpy(list + (blocks->first - first), blocks->list,
               (size_t)blocks->count * sizeof *list);
    eki_free(blocks->list);
    *blocks = (struct eki_blocks){first, last - first + 1, list};
    return true;
}

bool eki_blocks_set(const ek_data_ops *ops, int64_t index, void *address,
                    size_t bytes)
{
    struct eki_blocks *blocks = ops->context;
    if (!cover_index(blocks, index))
        return false;
    blocks->list[index - blocks->first] = (struct block){address, bytes + 1};
    return true;
}

void eki_block_say(const void *payload, size_t bytes, int rank, char *text)
{
    int64_t index = index_of(payload, bytes);
    if (index < 0)
        snprintf(text, EKI_CARRIER_SAYS,
                 "its payload begins with no index: an int64_t, 0 or more");
    else
        snprintf(text, EKI_CARRIER_SAYS,
                 "index %lld has no block on rank %d, its home; call "
                 "ek_set_block there",
                 (long long)index, rank);
}

/* The table of the task that WORKER runs, and its INDEX in it; NULL: its
 * function has no blocks. */
static const struct eki_blocks *running_blocks(const struct ek_worker *worker,
                                               int64_t *index)
{
    const struct eki_slot *slot = eki_worker_current(worker);
    if (!slot && worker->piece.first < 0)
        return NULL;
    const ek_data_ops *ops =
        eki_data_ops_of(worker->engine, eki_worker_function(worker));
    if (!ops || !eki_are_blocks(ops))
        return NULL;
    *index = slot ? index_of(slot->payload, slot->bytes)
                  : eki_piece_index(&worker->piece) - 1;
    return ops->context;
}

bool eki_block_begin(struct ek_worker *worker)
{
    char text[EKI_CARRIER_SAYS];
    int64_t index;
    const struct eki_blocks *blocks = running_blocks(worker, &index);
    if (!blocks || find_block(blocks, index))
        return true;
    eki_block_say(&index, sizeof index, worker->engine->topology->rank, text);
    eki_worker_fail(worker, EK_ERR_TASK, text);
    return false;
}

struct eki_data_block eki_block_here(const struct ek_worker *worker)
{
    int64_t index;
    const struct eki_blocks *blocks = running_blocks(worker, &index);
    const struct block *block = blocks ? find_block(blocks, index) : NULL;
    return block ? (struct eki_data_block){block->address,
                                           (int64_t)block->size - 1}
                 : (struct eki_data_block){0};
}
