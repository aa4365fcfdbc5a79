/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of base.h, in a file of its own, which models include. */
#include "base/base.h"

void eki_lock(_Atomic int *word)
{
    enum {
        SPINS = 64 /* some copies of a tile; then the core is given away */
    };
    /* acquire: pairs with the release in eki_unlock(). */
    for (int spins = 0;
         atomic_exchange_explicit(word, 1, memory_order_acquire) != 0;
         spins++) {
        if (spins < SPINS)
            eki_pause();
        else
            eki_yield();
    }
}

void eki_unlock(_Atomic int *word)
{
    /* release: pairs with the acquire in eki_lock(). */
    atomic_store_explicit(word, 0, memory_order_release);
}
