/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * base: statuses and their messages, the message sink, memory, files, the
 * clock, a lock, random numbers, and the option table.
 *
 * Mutable state of the process: the thread-local error message, the sink and
 * its level, the calibration of the clock, the mark that unknown variables have
 * been reported and the countdown of failing allocations (tests).
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
/* For loops over a function that is passed: each becomes a loop of its own. */
#define EKI_INLINE static inline __attribute__((always_inline))
#else
#define EKI_LIKELY(x) (x)
#define EKI_UNLIKELY(x) (x)
#define EKI_PRINTF(a, b)
#define EKI_COLD
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
/* Zeroed and aligned to EKI_LINE. */
void *eki_alloc_lines(size_t bytes);
/* Aligned likewise, not zeroed: what is not used takes no memory. */
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
/* Tests: let allocation number N from now fail (1: the next); 0: none. */
void eki_memory_fail(int64_t n);

/* Behind the name of an old file that makes room for a new one. */
#define EKI_FILE_OLD ".1"

/*
 * Open an empty file for writing, which nobody else may open before it is
 * closed.  An old one, unless it is empty, is renamed to NAME.1, of which there
 * is one.  EK_ERR_FILE: it cannot be opened; an old one is there, or has been
 * renamed.  Waits for others that are opening files of the same folder, for a
 * second at most.
 */
ek_status eki_file_create(const char *name, FILE **file);
/* Likewise, but whoever opens it so meanwhile appends to it, too; IS_NEW: there
 * is nothing in it yet. */
ek_status eki_file_share(const char *name, FILE **file, bool *is_new);

/*
 * As fwrite(), fflush() and fclose(), but a file that may not grow further
 * (RLIMIT_FSIZE) is an error (EFBIG) like any other: the signal SIGXFSZ, which
 * ends a process that does not expect it, is kept from this thread meanwhile.
 */
bool eki_file_write(FILE *file, const void *data, size_t bytes);
bool eki_file_flush(FILE *file);
bool eki_file_close(FILE *file);

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

/* Name of an enum's value; a list of them ends with a NULL name. */
struct eki_choice {
    const char *name;
    int value;
};

/* The choice of that value, or of that name (BYTES long); NULL: none. */
const struct eki_choice *eki_choice_of(const struct eki_choice *choices,
                                       int value);
const struct eki_choice *eki_choice_find(const struct eki_choice *choices,
                                         const char *name, size_t bytes);

/*
 * A choice may come with a chunk, such as counter:16: behind the row of
 * "counter" stands one of the same value whose name has a colon and what is
 * allowed.  The value is then eki_chunked(); counter:1 is counter.
 */
#define EKI_CHUNK_MOST 1048576
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

/* The value of TEXT (BYTES long), a name or one with a chunk; false: none. */
bool eki_choice_read(const struct eki_choice *choices, const char *text,
                     size_t bytes, int *value);
/* Append the text of a value that is allowed. */
void eki_choice_text(const struct eki_choice *choices, int value, char *text,
                     size_t bytes);
/* Append "a, b, c" to TEXT. */
void eki_choice_list(const struct eki_choice *choices, char *text,
                     size_t bytes);
/* Whether the BYTES at TEXT may name a collection. */
bool eki_is_collection_name(const char *text, size_t bytes);

/* Followed by the field in capitals. */
#define EKI_VARIABLE_PREFIX "EVENKEEL_"

/* What a list such as "retain@1,original@2-" says of each iteration. */
struct eki_schedule_entry {
    int policy;
    int64_t first, last; /* iterations, from 0; last: INT64_MAX if open */
};

struct eki_schedule {
    struct eki_schedule_entry *entries; /* owned; NULL: says nothing */
    int count;
    uint64_t ours; /* a bit per entry of the list, of the first 64 */
};

/* The policy for ITERATION: the last entry that covers it, else FALLBACK. */
int eki_schedule_at(const struct eki_schedule *schedule, int64_t iteration,
                    int fallback);

/* Where a schedule comes from and what it may say. */
struct eki_schedule_source {
    const char *variable;
    const char *list;
    /* Entries of others are checked and dropped; NULL: none may be named. */
    const char *collection;
    const struct eki_choice *choices;
};

/* On failure nothing is owned. */
ek_status eki_schedule_parse(const struct eki_schedule_source *source,
                             struct eki_schedule *schedule);
void eki_schedule_free(struct eki_schedule *schedule);
/* Append the entry, as eki_schedule_parse() takes it, to TEXT. */
void eki_schedule_entry_text(const struct eki_schedule_entry *entry,
                             const struct eki_choice *choices, char *text,
                             size_t bytes);

/* What has a row of its own in a report. */
enum eki_rows {
    EKI_ROWS_JOB,
    EKI_ROWS_RANKS,
    EKI_ROWS_FUNCTIONS,
    EKI_ROWS_KINDS
};

/* Where reports go. */
struct eki_destination {
    int level; /* of lines: 0, 1, 2 */
    const char
        *name[EKI_ROWS_KINDS];    /* of files, in the list; NULL: none ... */
    size_t bytes[EKI_ROWS_KINDS]; /* ... and their lengths */
};

/* Read "0", "1", "2", "FILE.tsv", "ranks:FILE.tsv", "functions:FILE.tsv" or a
 * list of them; false: it is none. */
bool eki_destination_read(const char *list,
                          struct eki_destination *destination);

/* The longest text of an option, and of a part of one (eki_option_part()). */
#define EKI_OPTION_BYTES 1024

/*
 * Options after defaults, program and environment; owns its strings.  It points
 * into itself: do not copy it.
 */
struct eki_settings {
    ek_options options;          /* its texts point into this object */
    struct eki_schedule restore; /* from EVENKEEL_RESTORE */
    struct eki_schedule steal;   /* from EVENKEEL_STEAL */
    uint64_t environment;        /* a bit per option that a variable has set */
    char name[64];
    char report[EKI_OPTION_BYTES];
    char record[EKI_OPTION_BYTES];
};

/*
 * Resolve GIVEN (NULL: defaults) and the environment.  Honours struct_bytes of
 * an older program.  Checks every range.  On failure nothing is owned.
 */
ek_status eki_settings_resolve(const ek_options *given,
                               struct eki_settings *settings);
/* Warn of EVENKEEL_ variables that nobody knows, with the nearest name, once
 * per process. */
void eki_settings_warn(void);
/* Warn, once per process, of entries of lists that name a collection which
 * there has not been. */
void eki_settings_warn_lists(void);
void eki_settings_free(struct eki_settings *settings);

/* Copy what a program gave as a struct of BYTES, which may be of another
 * version, over the defaults in TO, of TO_BYTES; both begin with struct_bytes.
 * FEWEST are those that every version has; false: it is not that struct. */
bool eki_struct_copy(const void *from, size_t bytes, size_t fewest, void *to,
                     size_t to_bytes);

/* Set one field from text, as ek_set() does; a schedule stays in force. */
ek_status eki_settings_set(struct eki_settings *settings, const char *field,
                           const char *value);

/* The table, for comparison over ranks, dumps and the README. */
int eki_option_count(void);
const char *eki_option_name(int option);
/* Bytes of a struct that has the option's field. */
size_t eki_option_end(int option);
bool eki_option_has_variable(int option);
bool eki_option_is_settable(int option);
/* Whether its variable holds a list by collections and iterations. */
bool eki_option_has_schedule(int option);
/* Name of its variable, whether it has one or not. */
void eki_option_variable(int option, char *text, size_t bytes);
/* Whether it must be the same on all ranks. */
bool eki_option_agrees(int option);
/* A part of the value as text: 0 is what the program said, the others are the
 * entries of a schedule from the environment.  False, and TEXT is empty: there
 * is no such part. */
bool eki_option_part(int option, const struct eki_settings *settings, int part,
                     char *text, size_t bytes);
/* Append "steal=near (EVENKEEL_STEAL)", "steal=near (program)" or "steal=random
 * (default)"; false: the default. */
bool eki_option_explain(int option, const struct eki_settings *settings,
                        char *text, size_t bytes);
/* Check what the program said; a text is then owned by SETTINGS. */
ek_status eki_option_check(int option, struct eki_settings *settings);
/* Take the value from TEXT, which is borrowed; nothing changes on failure. */
ek_status eki_option_put(int option, const char *text, ek_options *options);
/* Likewise, but a text is copied. */
ek_status eki_option_read(int option, const char *text,
                          struct eki_settings *settings);
/* Likewise from VARIABLE, which may hold a schedule. */
ek_status eki_option_read_variable(int option, const char *variable,
                                   const char *text,
                                   struct eki_settings *settings);
/* Name of a policy of OPTION, a field with choices; NULL: it has none. */
const char *eki_option_choice_name(const char *option, int value);
/* The policy of that name; false: there is none. */
bool eki_option_choice_value(const char *option, const char *name, int *value);
/* Append the policies of OPTION, "a, b, c", to TEXT. */
void eki_option_choice_list(const char *option, char *text, size_t bytes);
/* Read a schedule of the policies of OPTION, which names no collection;
 * messages name ARGUMENT. */
ek_status eki_option_schedule(const char *option, const char *argument,
                              const char *list, struct eki_schedule *schedule);
/* The README's table, in Markdown. */
void eki_option_table(FILE *file);

#endif
