/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LPT in place: all items, longest first; each stays on its worker while that
 * fits, else goes to the least loaded.  Of equal ones those that stay are
 * first, so that none takes the place of another.
 *
 * Paper: LPT is from Graham, SIAM J. Appl. Math. 17 (1969).
 */
#include "balance/index_heap.h"

/* An item stays if its worker then has at most MOST. */
static void try_home(struct eki_pool *pool, int64_t item, eki_ns most)
{
    int32_t home = pool->items[item].from - pool->first;
    if (home >= 0 && home < pool->workers &&
        pool->loads[home] + pool->items[item].ns <= most)
        eki_pool_put(pool, item, home);
}

/* The end of the items that are as long as the one at FROM. */
static int64_t end_of_equal(const struct eki_pool *pool, int64_t from)
{
    int64_t end = from + 1;
    while (end < pool->count && pool->items[end].ns == pool->items[from].ns)
        end++;
    return end;
}

bool eki_pool_longest_first(struct eki_pool *pool, eki_ns most)
{
    struct eki_least least = {0};
    bool is_open = eki_least_init(&least, pool->workers);
    for (int64_t i = 0; is_open && i < pool->count; i++)
        eki_pool_put(pool, i, -1);
    if (is_open)
        eki_least_fill(&least, pool->loads, pool->workers);
    for (int64_t i = 0, end; is_open && i < pool->count; i = end) {
        end = end_of_equal(pool, i);
        for (int64_t k = i; k < end; k++)
            try_home(pool, k, most);
        for (int64_t k = i; k < end; k++) {
            if (pool->places[k] < 0)
                eki_pool_put(pool, k, eki_least_of(&least));
        }
    }
    eki_least_free(&least);
    EKI_ASSERT_SLOW(eki_pool_check(pool));
    return is_open;
}
