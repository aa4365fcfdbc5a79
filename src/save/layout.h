/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the bytes of a save are: docs/reference/file-formats.md as numbers. For
 * this module only. */
#ifndef EKI_SAVE_LAYOUT_H
#define EKI_SAVE_LAYOUT_H

#include "save/save.h"

#define EKI_SAVE_MAGIC "EKRESUME"

enum {
    /* File header, then its CRC. */
    EKI_SAVE_ID = 16,
    EKI_SAVE_ITERATION = 24,
    EKI_SAVE_PART = 32,
    EKI_SAVE_RANKS = 36,
    EKI_SAVE_WORKERS = 40,
    EKI_SAVE_WORKERS_HERE = 44,
    EKI_SAVE_LAST = 48,
    EKI_SAVE_RETAINED = 49,
    EKI_SAVE_CHOSEN = 50,
    EKI_SAVE_GOES_ON = 51,
    EKI_SAVE_KEY_BASE = 52,
    EKI_SAVE_PARTS = 56,
    EKI_SAVE_HEADER = 64,

    /* Bodies: of the indices of a function, ... */
    EKI_SAVE_INDICES = 4,
    EKI_SAVE_INDICES_BODY = 12,

    /* ... of numbers, ... */
    EKI_SAVE_HOME = 0,
    EKI_SAVE_HOME_WORKER = 8,
    EKI_SAVE_FOREIGN = 12,
    EKI_SAVE_FOREIGN_WORKER = 20,
    EKI_SAVE_NUMBERS_HEAD = 24,
    EKI_SAVE_INLET = 0,
    EKI_SAVE_SPAWNED = 8,
    EKI_SAVE_WORKER_BYTES = 16,

    /* ... of tasks, which follow with their payloads, ... */
    EKI_SAVE_HERE = 0,
    EKI_SAVE_COUNT = 4,
    EKI_SAVE_TASKS_HEAD = 8,
    EKI_SAVE_TASKS_MOST = 1 << 20, /* bytes */
    EKI_SAVE_TASK_FUNCTION = 0,
    EKI_SAVE_TASK_BYTES = 2,
    EKI_SAVE_TASK_BIN = 4,
    EKI_SAVE_TASK_DEVIATION = 6,
    EKI_SAVE_TASK_FLAGS = 7,
    EKI_SAVE_TASK_ID = 8,
    EKI_SAVE_TASK_HEAD = 16,
    EKI_SAVE_TASK_HOME = 4, /* bytes behind a payload: rank that has data */

    /* ... of a store: its number and name, as of a function, ... */
    EKI_SAVE_STORE_TILES = EKI_FUNCTION_BODY,
    EKI_SAVE_STORE_LENGTHS = EKI_SAVE_STORE_TILES + 8,
    EKI_SAVE_STORE_LAYOUT = EKI_SAVE_STORE_LENGTHS + 8,
    EKI_SAVE_STORE_BODY = EKI_SAVE_STORE_LAYOUT + 8,

    /* ... of a piece of a tile, with values behind it, ... */
    EKI_SAVE_TILE_STORE = 0,
    EKI_SAVE_TILE_COUNT = 4,
    EKI_SAVE_TILE_NUMBER = 8,
    EKI_SAVE_TILE_OFFSET = 16,
    EKI_SAVE_TILE_HEAD = 24,

    /* ... and of the end. */
    EKI_SAVE_END_TASKS = 0,
    EKI_SAVE_END_IDS = 8,
    EKI_SAVE_END_PLACE = 16,
    EKI_SAVE_END_BODY = 24
};

enum {
    EKI_BLOCK_INDICES = 0x58444e49, /* "INDX" */
    EKI_BLOCK_LEARNED = 0x4f545541, /* "AUTO" */
    EKI_BLOCK_NUMBERS = 0x424d554e, /* "NUMB" */
    EKI_BLOCK_TASKS = 0x4b534154,   /* "TASK" */
    EKI_BLOCK_STORE = 0x524f5453,   /* "STOR" */
    EKI_BLOCK_TILES = 0x454c4954    /* "TILE" */
};

/* The next block, without which the file ends early. */
ek_status eki_save_next_block(struct eki_sealed_in *in,
                              struct eki_sealed_block *block);

#endif
