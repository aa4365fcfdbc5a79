/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * base: statuses and their messages, the message sink, memory, files, the
 * clock, a lock, and random numbers.
 *
 * Mutable state of the process: the thread-local error message, the sink and
 * its level, the calibration of the clock, and the countdown of failing
 * allocations (tests).
 */
#ifndef EKI_BASE_H
#define EKI_BASE_H

#include "base/plant.h"

#include <evenkeel.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__GNUC__)
#define EKI_LIKELY(x) __builtin_expect(!!(x), 1)
#define EKI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define EKI_PRINTF(a, b) __attribute__((format(printf, a, b)))
/* Out of the way: a hot function keeps no registers for it. */
#define EKI_COLD __attribute__((cold, noinline))
/* Likewise, but as likely as not. */
#define EKI_APART __attribute__((noinline))
/* For loops over a function that is passed: each becomes a loop of its own. */
#define EKI_INLINE static inline __attribute__((always_inline))
#else
#define EKI_LIKELY(x) (x)
#define EKI_UNLIKELY(x) (x)
#define EKI_PRINTF(a, b)
#define EKI_COLD
#define EKI_APART
#define EKI_INLINE static inline
#endif

/* Two lines: the adjacent-line prefetcher moves pairs. */
#define EKI_LINE 128

/* Return the failure of CALL, if it is one, from the calling function. */
#define EKI_TRY(call)                      \
    do {                                   \
        ek_status eki_try_status = (call); \
        if (eki_try_status != EK_OK)       \
            return eki_try_status;         \
    } while (0)

/* Set this thread's message and return STATUS. */
ek_status eki_error(ek_status status, const char *format, ...) EKI_PRINTF(2, 3);
/* Add to the string in TEXT, cutting what does not fit into its BYTES. */
void eki_append(char *text, size_t bytes, const char *format, ...)
    EKI_PRINTF(3, 4);
/* Whether a character ends a line, or controls who shows it. */
static inline bool eki_is_control(char c)
{
    return (unsigned char)c < ' ' || c == 127;
}
/* True once for each message: it is to be given to the sink, unless another
 * rank does. */
bool eki_error_take(void);
/* Give this thread's message to the sink, unless that has been done. */
void eki_error_say(int rank, int size);
/* Likewise, of a call that may fail millions of times: a message that is the
 * same as the last is given at the 10th, the 100th time and so on. */
void eki_error_say_rarely(int rank, int size);

/* Give a line "evenkeel RANK/SIZE MODULE: ..." to the sink; RANK < 0: no rank.
 */
void eki_log(ek_level level, int rank, int size, const char *module,
             const char *format, ...) EKI_PRINTF(5, 6);
/* Likewise, in lines that fit a terminal: what does not goes on below. */
void eki_log_lines(ek_level level, int rank, int size, const char *module,
                   const char *text);
/* Show LINE where the default sink writes, in place of the last one that was
 * shown so; NULL: only erase that.  Any line of the sink erases it, too. */
void eki_log_live(const char *line);
/* Whether nobody has set another sink. */
bool eki_log_is_default(void);
/* The last level that is passed on. */
extern _Atomic int eki_log_level;

/* Whether lines of that level are passed on: ask before making long ones. */
static inline bool eki_log_is_on(ek_level level)
{
    /* relaxed: the level guards no other data. */
    return (int)level <=
           atomic_load_explicit(&eki_log_level, memory_order_relaxed);
}

/* Whether somebody asks to be told how the library runs: EVENKEEL_LOG=info or
 * more, or a sink of the program for DEBUG. */
bool eki_log_is_told(void);
/* EVENKEEL_LOG: what the default sink passes on, whatever ek_set_sink() said.
 */
void eki_log_environment(ek_level level);

/* Whether a message that the process says once is still to be said; TOLD marks
 * that it was. */
static inline bool eki_is_untold(_Atomic bool *told)
{
    /* relaxed: only the mark itself matters. */
    return !atomic_exchange_explicit(told, true, memory_order_relaxed);
}

/* End all ranks of the job, by what was told last; without, this process. */
_Noreturn void eki_abort(void);
void eki_abort_by(void (*abort_job)(void), int rank);

_Noreturn void eki_assert_failed(const char *condition, const char *file,
                                 int line);

/*
 * Invariants: debug builds only (EKI_DEBUG).  EKI_ASSERT_SLOW is for checks
 * above constant time: PROBLEM is what a checker, eki_<x>_check(), returns, the
 * broken invariant in words or NULL.
 */
#ifdef EKI_DEBUG
#define EKI_ASSERT(condition) \
    ((condition) ? (void)0 : eki_assert_failed(#condition, __FILE__, __LINE__))
#define EKI_ASSERT_SLOW(problem) eki_assert_none((problem), __FILE__, __LINE__)
#else
#define EKI_ASSERT(condition) ((void)0)
#define EKI_ASSERT_SLOW(problem) ((void)0)
#endif

/* Abort if there is a PROBLEM. */
static inline void eki_assert_none(const char *problem, const char *file,
                                   int line)
{
    if (EKI_UNLIKELY(problem != NULL))
        eki_assert_failed(problem, file, line);
}

/* Zeroed room for COUNT objects; NULL if there is none or the size overflows.
 */
void *eki_alloc(size_t count, size_t bytes);
/* Like realloc() of COUNT objects; the old memory stays when it fails. */
void *eki_realloc(void *memory, size_t count, size_t bytes);
/*
 * Room for one entry more, of BYTES, behind COUNT of them.  ARRAY points to the
 * pointer to the first one, *ROOM is how many there is room for: FIRST at
 * first, twice as many when they are full.  false: no memory, and both stay.
 */
bool eki_grow(void *array, int64_t count, int64_t *room, int64_t first,
              size_t bytes);
/* The place of the first of COUNT entries, of BYTES each and sorted by the
 * uint64_t that each begins with, whose number is not below KEY. */
int64_t eki_place_from(const void *array, int64_t count, size_t bytes,
                       uint64_t key);
/* Zeroed and aligned to EKI_LINE. */
void *eki_alloc_lines(size_t bytes);
/* Aligned to EKI_LINE, not zeroed: what is not used takes no memory. */
void *eki_alloc_untouched(size_t bytes);
void eki_free(void *memory);
/*
 * Let an ARRAY of BYTES (NULL, 0: none) grow to WANTED, not zeroed; NULL: there
 * is no memory and it stays as it is.  From 2 MiB on it lies on huge pages
 * where the system has them, and grows without a copy.
 */
void *eki_array_resize(void *array, size_t bytes, size_t wanted);
/* If USED is less than a quarter of a large array, give the end of it back.
 * Returns its bytes, which are more than USED, and stay so many when the caller
 * counts up to 64 KiB fewer. */
size_t eki_array_cut(void *array, size_t bytes, size_t used);
void eki_array_free(void *array, size_t bytes);
char *eki_copy_string(const char *text);
/* Whether the BYTES at TEXT may name a collection. */
bool eki_is_collection_name(const char *text, size_t bytes);
/* Tests: let allocation number N from now fail (1: the next); 0: none;
 * EKI_MEMORY_GONE: all. */
#define EKI_MEMORY_GONE INT64_MIN
void eki_memory_fail(int64_t n);

/* Behind the name of an old file that makes room for a new one. */
#define EKI_FILE_OLD ".1"

/*
 * Open an empty file for writing.  If IS_SHARED, whoever opens it so meanwhile
 * appends to it, too; else nobody may open it before it is closed.  IS_NEW:
 * there is nothing in it yet.  An old one, unless it is empty, is renamed to
 * NAME.1, of which there is one.  EK_ERR_FILE: it cannot be opened; an old one
 * is there, or has been renamed.  Waits for others that are opening files of
 * the same folder, for a second at most.
 */
ek_status eki_file_open(const char *name, bool is_shared, FILE **file,
                        bool *is_new);

/*
 * As fwrite(), fflush() and fclose(), but a file that may not grow further
 * (RLIMIT_FSIZE) is an error (EFBIG) like any other: the signal SIGXFSZ, which
 * ends a process that does not expect it, is kept from this thread meanwhile.
 */
bool eki_file_write(FILE *file, const void *data, size_t bytes);
bool eki_file_flush(FILE *file);
bool eki_file_close(FILE *file);
/* Flush it, and wait until all is on its disk. */
bool eki_file_sync(FILE *file);

/* Continue the CRC-32C of what came before (0: nothing) with DATA. */
uint32_t eki_crc32c(uint32_t crc, const void *data, size_t bytes);

/* Nanoseconds = (ticks x mult) >> 32 of an invariant TSC; mult 0: no TSC. */
extern uint64_t eki_clock_mult;

/*
 * Calibrate once, for 2 to 10 ms; later calls cost nothing.  Any thread, before
 * its first eki_clock_ns(): the calibration moves the zero of the clock.
 */
void eki_clock_start(void);
uint64_t eki_clock_system_ns(void);
/* Processor time of this thread. */
uint64_t eki_clock_cpu_ns(void);

/*
 * Nanoseconds since some moment; steady, equal for all threads of a process.
 * Processes of a node agree on durations to about 1e-5, not on the moment.
 */
static inline uint64_t eki_clock_ns(void)
{
#if defined(__x86_64__)
    if (EKI_LIKELY(eki_clock_mult != 0))
        return (uint64_t)(((unsigned __int128)__builtin_ia32_rdtsc() *
                           eki_clock_mult) >>
                          32);
#endif
    return eki_clock_system_ns();
}

/* From THEN to NOW; 0 where another thread has read THEN later. */
static inline uint64_t eki_ns_since(uint64_t then, uint64_t now)
{
    return now > then ? now - then : 0;
}

/* Milliseconds of the system's clock, give or take 10: processes of a host
 * agree on the moment. */
uint64_t eki_clock_moment_ms(void);

/* Let the CPU know that this is a spin loop. */
static inline void eki_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Give the core away / sleep; a timer slack of 1 ns is set once per thread. */
void eki_yield(void);
void eki_sleep_ns(uint64_t ns);

/* A lock for a few instructions, or a copy: 0 is free. */
void eki_lock(_Atomic int *word);
void eki_unlock(_Atomic int *word);

/* How whoever waits for the lock of a deque (deque/deque.h) gives its core
 * away. */
#define EKI_DEQUE_RELAX() eki_yield()

/* An identity of the calling thread.  No other thread has it while this one
 * lives. */
static inline const void *eki_thread_identity(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    return __builtin_thread_pointer();
#else
    static _Thread_local char identity;
    return &identity;
#endif
}

/* xoshiro256**: seeded, one per worker. */
struct eki_random {
    uint64_t state[4];
};

void eki_random_seed(struct eki_random *random, uint64_t seed, uint64_t stream);
uint64_t eki_random_next(struct eki_random *random);
/* Uniform in 0 ... n - 1; n >= 1. */
uint64_t eki_random_below(struct eki_random *random, uint64_t n);

/* 2^64 / golden ratio, odd: steps through all 64-bit numbers. */
#define EKI_SPLITMIX_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t eki_splitmix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Mix WORD into HASH (64-bit). */
static inline uint64_t eki_hash(uint64_t hash, uint64_t word)
{
    return eki_splitmix((hash ^ word) + EKI_SPLITMIX_STEP);
}

uint64_t eki_hash_text(uint64_t hash, const char *text);

/* A value of a choice that comes with a chunk, such as counter:16. */
#define EKI_CHUNK_MOST 1048576
#define EKI_CHUNK_GUIDED (EKI_CHUNK_MOST + 1) /* as what is left tells */
#define EKI_CHUNK_SHIFT 8
static inline int eki_chunked(int value, int chunk)
{
    return value | (chunk - 1) << EKI_CHUNK_SHIFT;
}
static inline int eki_chunk_of(int value)
{
    return (value >> EKI_CHUNK_SHIFT) + 1;
}
static inline int eki_unchunked(int value)
{
    return value & ((1 << EKI_CHUNK_SHIFT) - 1);
}

#endif
