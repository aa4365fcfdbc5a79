/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of saves: a manifest, and the file of a rank of the save that its
 * own header names.  Inputs are those of fuzz_sealed_fill().
 */
#include "fuzz.h"

#include "save/layout.h"

enum {
    FUNCTIONS = 3,
    STORES = 2
};

/* The payload is there, and the task is one that a worker may hold. */
static void look_at(const struct eki_save_in *in,
                    const struct eki_save_task *task)
{
    unsigned sum = 0;
    for (int i = 0; i < task->head.bytes; i++)
        sum += task->payload[i];
    FUZZ_CHECK(sum <= 255u * task->head.bytes);
    FUZZ_CHECK(task->head.function < FUNCTIONS);
    FUZZ_CHECK(eki_id_home(task->head.id) < in->head.workers);
    FUZZ_CHECK(in->head.iteration >= 0);
    FUZZ_CHECK(-1 <= task->home && task->home < in->head.ranks);
    FUZZ_CHECK(0 <= task->here &&
               task->here <
                   eki_save_departs(in->head.workers_here, in->head.ranks));
    FUZZ_CHECK(!(task->head.flags & EKI_SLOT_RANGE) ||
               task->head.bytes == sizeof(struct eki_range));
}

/* All values are there. */
static void look_at_tile(const struct eki_save_tile *tile)
{
    unsigned sum = 0;
    for (int64_t i = 0; i < 8 * tile->count; i++)
        sum += tile->values[i];
    FUZZ_CHECK(sum <= 255u * 8 * (uint64_t)tile->count);
    FUZZ_CHECK(0 <= tile->store && tile->store < STORES);
    FUZZ_CHECK(tile->tile >= 0 && tile->offset >= 0 && tile->count > 0);
}

static void read_rank(const char *path, const uint8_t *header, bool has_tiles)
{
    struct eki_save_manifest manifest = {
        .head = {.save = eki_get(header + EKI_SAVE_ID, 8),
                 .iteration = (int64_t)eki_get(header + EKI_SAVE_ITERATION, 8),
                 .ranks = (int)eki_get(header + EKI_SAVE_RANKS, 4),
                 .workers = (int)eki_get(header + EKI_SAVE_WORKERS, 4)},
        .functions = FUNCTIONS,
        .stores = STORES};
    struct eki_save_numbers *numbers;
    struct eki_save_task task;
    struct eki_save_tile tile;
    struct eki_save_in in;
    if (eki_save_open(&in, path, (int)eki_get(header + EKI_SAVE_PART, 4),
                      &manifest, &numbers) != EK_OK)
        return;
    bool found = true;
    while (!has_tiles && found && eki_save_next(&in, &task, &found) == EK_OK) {
        if (found)
            look_at(&in, &task);
    }
    while (has_tiles && found &&
           eki_save_next_tile(&in, &tile, &found) == EK_OK) {
        if (found)
            look_at_tile(&tile);
    }
    eki_save_close(&in);
    eki_free(numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    struct eki_save_manifest manifest;
    fuzz_sealed_fill(&file, data, size, EKI_SAVE_HEADER + EKI_BLOCK_CRC);
    if (eki_save_read_manifest(file.path, &manifest) == EK_OK) {
        for (int f = 0; f < manifest.functions; f++)
            FUZZ_CHECK(*manifest.list[f].name &&
                       manifest.list[f].indices >= -1);
        eki_save_free_manifest(&manifest);
    }
    if (size > EKI_SAVE_HEADER)
        for (int i = 0; i < 2; i++)
            read_rank(file.path, data + 1, i == 1);
    return 0;
}
