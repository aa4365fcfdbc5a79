/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weak: mutants for a model checker.  Included before deque/deque.h; a define
 * makes one kind of access in it relaxed.
 *
 *   WEAK_STORE  publish (and unlock)       WEAK_ADD_ACQUIRE  claim
 *   WEAK_LOAD   looks at done              WEAK_ADD_RELEASE  finish
 *   WEAK_SWAP   lock (the exchange of the atomic kind is relaxed anyway)
 */
#ifndef WEAK_H
#define WEAK_H

#include <stdatomic.h>

#define RELAXED_memory_order_relaxed memory_order_relaxed
#define RELAXED_memory_order_acquire memory_order_relaxed
#define RELAXED_memory_order_release memory_order_relaxed

/* What the macros of stdatomic.h stand for. */
#ifdef __clang__
#define WEAK(name, ...) __c11_atomic_##name(__VA_ARGS__)
#else
#define WEAK(name, ...) __atomic_##name##_n(__VA_ARGS__)
#define __atomic_fetch_add_n(...) __atomic_fetch_add(__VA_ARGS__)
#endif

#ifdef WEAK_STORE
#undef atomic_store_explicit
#define atomic_store_explicit(p, value, order) \
    WEAK(store, p, value, RELAXED_##order)
#endif

#ifdef WEAK_LOAD
#undef atomic_load_explicit
#define atomic_load_explicit(p, order) WEAK(load, p, RELAXED_##order)
#endif

#ifdef WEAK_SWAP
#undef atomic_exchange_explicit
#define atomic_exchange_explicit(p, value, order) \
    WEAK(exchange, p, value, RELAXED_##order)
#endif

#ifdef WEAK_ADD_ACQUIRE
#undef atomic_fetch_add_explicit
#define ADD_memory_order_acquire memory_order_relaxed
#define ADD_memory_order_release memory_order_release
#define atomic_fetch_add_explicit(p, value, order) \
    WEAK(fetch_add, p, value, ADD_##order)
#endif

#ifdef WEAK_ADD_RELEASE
#undef atomic_fetch_add_explicit
#define ADD_memory_order_acquire memory_order_acquire
#define ADD_memory_order_release memory_order_relaxed
#define atomic_fetch_add_explicit(p, value, order) \
    WEAK(fetch_add, p, value, ADD_##order)
#endif

#endif
