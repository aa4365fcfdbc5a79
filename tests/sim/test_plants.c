/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every planted bug is found, most in storms of schedules; hangs and livelocks
 * as a deadline of virtual time that is missed.
 */
#include "explore.h"
#include "plants.h"

#include "../unit/check.h"

#include <string.h>

enum {
    SEEDS_MOST = 300000
};

/* Few schedules show these: the profile, and the seed to begin with. */
static const struct rare {
    const char *name;
    enum explore_profile profile;
    uint64_t seed;
} rare[] = {{"mixed-pass", EXPLORE_STORM, 1600},
            {"votes-asking", EXPLORE_STORM, 3300},
            {"gives-unasked", EXPLORE_STORM, 12200},
            {"no-receipts", EXPLORE_STORM, 5800},
            {"copied-first", EXPLORE_STORM, 8500},
            {"twice-added", EXPLORE_STORM, 58000},
            /* Storms save nothing. */
            {"save-kept-lost", EXPLORE_SMALL, 1},
            {"save-duration", EXPLORE_SMALL, 1},
            {"manifest-first", EXPLORE_SMALL, 1}};

static struct explore explore;
static struct explore_scenario scenario;

/* Where to begin; others show in storms soon. */
static struct rare begin_of(const char *name)
{
    for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++) {
        if (strcmp(name, rare[i].name) == 0)
            return rare[i];
    }
    return (struct rare){name, EXPLORE_STORM, 1};
}

static void every_planted_bug_is_found(void)
{
    for (int i = 0; plant_name(i); i++) {
        struct rare begin = begin_of(plant_name(i));
        uint64_t seed = begin.seed;
        bool passes = true;
        CHECK(plant(plant_name(i)));
        for (; passes && seed <= SEEDS_MOST; seed++) {
            explore_draw(seed, begin.profile, &scenario);
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
