/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every planted bug is found, each in storms of schedules; hangs and livelocks
 * as a deadline of virtual time that is missed.
 */
#include "explore.h"
#include "plants.h"

#include "../unit/check.h"

#include <string.h>

enum {
    SEEDS_MOST = 300000
};

/* Few schedules show these: the seeds to begin with. */
static const struct {
    const char *name;
    uint64_t seed;
} rare[] = {{"mixed-pass", 1600},
            {"votes-asking", 3300},
            {"gives-unasked", 12200},
            {"no-receipts", 3000},
            {"arrives-idle", 204500}};

static struct explore explore;
static struct explore_scenario scenario;

static uint64_t first_seed(const char *name)
{
    for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++) {
        if (strcmp(name, rare[i].name) == 0)
            return rare[i].seed;
    }
    return 1;
}

static void every_planted_bug_is_found(void)
{
    for (int i = 0; plant_name(i); i++) {
        uint64_t seed = first_seed(plant_name(i));
        bool passes = true;
        CHECK(plant(plant_name(i)));
        for (; passes && seed <= SEEDS_MOST; seed++) {
            explore_draw(seed, EXPLORE_STORM, &scenario);
            passes = explore_run(&explore, &scenario);
        }
        printf("     %-16s seed %6llu: %s\n", plant_name(i),
               (unsigned long long)seed - 1, explore.ledger.failure);
        check_true(!passes, plant_name(i), __FILE__, __LINE__);
    }
    CHECK(plant_name(0) != NULL);
}

int main(void)
{
    RUN(every_planted_bug_is_found);
    explore_free(&explore);
    return check_result();
}
