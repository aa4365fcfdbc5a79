/* SPDX-License-Identifier: BSD-3-Clause */
/* Bugs of base/plant.h, by name; none where the library has none. */
#ifndef PLANTS_H
#define PLANTS_H

#include <stdbool.h>

/* Plant the bug NAME, none for NULL; false: there is no such bug here. */
bool plant(const char *name);
/* Name of bug I from 0 on; NULL: there are no more. */
const char *plant_name(int i);

#endif
