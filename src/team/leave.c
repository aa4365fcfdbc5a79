/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks that are left by an exception, by longjmp() or by the end of their
 * thread: the phase can never end then, so the job does, with a sentence.
 *
 * What unwinds the frame of a loop that runs tasks is seen there, by a cleanup
 * that costs nothing else.  An exception that nobody would catch unwinds no
 * frame: C++ calls its terminate handler, which is preceded by ours.
 *
 * Owns the loop of each thread, and the handler before ours.
 */
#include "team/poll.h"

/* The innermost loop of this thread. */
static _Thread_local const struct eki_loop *innermost;

static void say_left(const struct ek_worker *worker, const char *what)
{
    const struct eki_topology *topology = worker->engine->topology;
    int function = eki_worker_function(worker);
    uint64_t id = eki_worker_task_id(worker);
    eki_log(EK_LEVEL_ERROR, topology->rank, topology->size, "error",
            "%s left task %s of function '%s' on worker %d; "
            "a task must return: catch exceptions in it, or use evenkeel.hpp",
            what, eki_key_words(worker->engine->key_base, id).text,
            worker->functions[function].name, worker->id);
}

void eki_loop_left(const struct eki_loop *loop)
{
    say_left(loop->worker, "an exception, or the end of its thread,");
    eki_abort();
}

typedef void terminate_fn(void);

#if defined(__GNUC__)
/* std::set_terminate(), where the program is C++. */
__attribute__((weak)) terminate_fn *_ZSt13set_terminatePFvvE(terminate_fn *);

static _Atomic(terminate_fn *) before;

/* The handler before this one shows the exception and aborts. */
static void terminate(void)
{
    /* relaxed: a function, which needs no other data. */
    terminate_fn *next = atomic_load_explicit(&before, memory_order_relaxed);
    if (innermost)
        say_left(innermost->worker, "an exception");
    if (next)
        next();
    eki_abort();
}

void eki_loops_prepare(void)
{
    static _Atomic bool is_done;
    /* relaxed, both: once in this process. */
    if (!_ZSt13set_terminatePFvvE ||
        atomic_exchange_explicit(&is_done, true, memory_order_relaxed))
        return;
    atomic_store_explicit(&before, _ZSt13set_terminatePFvvE(terminate),
                          memory_order_relaxed);
}
#else
void eki_loops_prepare(void)
{
}
#endif

/* Stacks grow down. */
bool eki_team_was_left(const void *frame)
{
    return innermost && (uintptr_t)frame > (uintptr_t)innermost;
}

void eki_loop_open(struct eki_loop *loop, struct ek_worker *worker)
{
    /* Found once: a call where the library is a shared one. */
    const struct eki_loop **place = &innermost;
    *loop =
        (struct eki_loop){.worker = worker, .place = place, .outer = *place};
    *place = loop;
}
