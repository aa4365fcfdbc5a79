/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever must hold in a schedule is found when it is broken. */
#include "explore.h"

#include "../unit/check.h"

#include <string.h>

enum {
    SEEDS_MOST = 3000
};

static struct explore explore;
static struct explore_scenario scenario;

static void find(const struct explore_break *broken, bool has_data)
{
    explore.broken = broken;
    explore.is_thorough = true;
    for (uint64_t seed = 1; seed <= SEEDS_MOST; seed++) {
        explore_draw(seed, EXPLORE_SMALL, &scenario);
        scenario.travel.is_used &= has_data;
        scenario.travel.may_follow &= has_data;
        bool passes = explore_run(&explore, &scenario);
        if (!explore.has_broken) {
            CHECK(passes);
            continue;
        }
        /* Sometimes it does no harm, or shows elsewhere first. */
        if (passes || !strstr(explore.ledger.failure, broken->expected))
            continue;
        printf("     %s: seed %llu: %s\n", broken->name,
               (unsigned long long)seed, explore.ledger.failure);
        return;
    }
    check_true(false, broken->name, __FILE__, __LINE__);
}

static void every_break_is_found(void)
{
    for (const struct explore_break *broken = explore_breaks; broken->name;
         broken++)
        find(broken, false);
}

static void every_break_of_data_is_found(void)
{
    for (const struct explore_break *broken = explore_data_breaks; broken->name;
         broken++)
        find(broken, true);
}
int main(void)
{
    RUN(every_break_is_found);
    RUN(every_break_of_data_is_found);
    explore_free(&explore);
    return check_result();
}
