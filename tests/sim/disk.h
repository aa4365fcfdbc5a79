/* SPDX-License-Identifier: BSD-3-Clause */
/* The disk of saves: at a call of the library that is drawn, the job is killed,
 * or the power goes and takes what was not synced. */
#ifndef DISK_H
#define DISK_H

#include "base/base.h"

/* A folder of this process, made by the first call ... */
const char *disk_folder(void);
/* ... and without saves. */
void disk_empty_folder(void);
void disk_remove_folder(void);
/* A save begins; its sync, rename or removal number FAILURE fails, and number
 * DEATH and all that come after it are in vain; 0: none. */
void disk_begin(int failure, int death);
bool disk_has_died(void);
/* What a kill, or the power, leaves of save NUMBER; calls are in vain no more.
 */
void disk_end(int64_t number, bool loses_power, struct eki_random *random);

#endif
