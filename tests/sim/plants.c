/* SPDX-License-Identifier: BSD-3-Clause */
#include "plants.h"

#include "base/base.h"

#include <string.h>

#ifdef EKI_PLANT

enum eki_plant eki_planted;

static const char *const names[] = {
#define NAME(name, text) text,
    EKI_PLANTS(NAME)
#undef NAME
        NULL};

const char *plant_name(int i)
{
    return names[i];
}

bool plant(const char *name)
{
    eki_planted = EKI_PLANT_NONE;
    if (!name)
        return true;
    for (int i = 0; names[i]; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        eki_planted = (enum eki_plant)(i + 1);
        return true;
    }
    return false;
}

#else

const char *plant_name(int i)
{
    (void)i;
    return NULL;
}

bool plant(const char *name)
{
    return name == NULL;
}

#endif
