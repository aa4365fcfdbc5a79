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
    EKI_SAVE_HEADER = 52,

    EKI_SAVE_WORKERS_MOST = 1 << 24, /* homes that an id can name */

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

    /* ... and of the end. */
    EKI_SAVE_END_TASKS = 0,
    EKI_SAVE_END_IDS = 8,
    EKI_SAVE_END_BODY = 16
};

enum {
    EKI_BLOCK_INDICES = 0x58444e49, /* "INDX" */
    EKI_BLOCK_NUMBERS = 0x424d554e, /* "NUMB" */
    EKI_BLOCK_TASKS = 0x4b534154    /* "TASK" */
};

#endif
