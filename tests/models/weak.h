/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weak: what all programs for a model checker share; included before the code
 * that is checked.
 *
 * Mutants: WEAK_ACQUIRE=FUNCTION and WEAK_RELEASE=FUNCTION make the accesses of
 * that order in one function of the library relaxed; ALSO=FUNCTION in a second
 * one, where two orders stand in for each other.
 */
#ifndef WEAK_H
#define WEAK_H

#include <stdatomic.h>
#include <stdbool.h>

#ifdef GENMC
#if __has_include(<genmc.h>)
#include <genmc.h>
#else
void __VERIFIER_assume(bool holds);
#endif
/* Who would have to wait ends here: another execution need not. */
#define model_wait() __VERIFIER_assume(false)
#else
#include <sched.h>
#define model_wait() ((void)sched_yield())
#endif

#define WEAK_TEXT(name) #name
#define WEAK_NAME(name) WEAK_TEXT(name)
#ifndef ALSO
#define ALSO
#endif
#define WEAK_IS(name) (__builtin_strcmp(__func__, WEAK_NAME(name)) == 0)
/* Known when it is compiled: clang folds it. */
#define WEAK_IN(name, order) \
    (WEAK_IS(name) || WEAK_IS(ALSO) ? memory_order_relaxed : (order))

#ifdef WEAK_ACQUIRE
#define memory_order_acquire WEAK_IN(WEAK_ACQUIRE, memory_order_acquire)
#endif
#ifdef WEAK_RELEASE
#define memory_order_release WEAK_IN(WEAK_RELEASE, memory_order_release)
#endif

#endif
