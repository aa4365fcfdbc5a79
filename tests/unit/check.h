/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks for tests: a failing one prints what was checked, its value and what
 * was expected, and the test goes on.  A check returns whether it passed, so
 * that a test can leave where going on makes no sense.
 *
 *     static void queue_starts_empty(void)
 *     {
 *         CHECK_EQ_INT(queue_length(), 0);
 *     }
 *
 *     int main(void)
 *     {
 *         RUN(queue_starts_empty);
 *         return check_result();
 *     }
 *
 * Checks may be made by several threads at once; RUN by one.
 */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ_INT(value, expected)                                     \
    check_eq_int((int64_t)(value), (int64_t)(expected), #value, __FILE__, \
                 __LINE__)
/* Whether a status is EK_OK. */
#define CHECK_OK(status) \
    check_eq_int((int64_t)(status), 0, #status, __FILE__, __LINE__)
#define CHECK_EQ_TEXT(value, expected) \
    check_eq_text((value), (expected), #value, __FILE__, __LINE__)
/* Whether TEXT contains PART. */
#define CHECK_HAS_TEXT(text, part) \
    check_has_text((text), (part), #text, __FILE__, __LINE__)
/* Whether a double is at most TOLERANCE away. */
#define CHECK_NEAR(value, expected, tolerance) \
    check_near((value), (expected), (tolerance), #value, __FILE__, __LINE__)

/* Do CALL, of whose allocations the N-th fails (base/base.h). */
#define WITHOUT_MEMORY(n, call) \
    do {                        \
        eki_memory_fail(n);     \
        call;                   \
        eki_memory_fail(0);     \
    } while (0)

#define RUN(test) check_run((test), #test)
/* Run a test with an object of this type, which the test opens. */
#define RUN_WITH(type, close, test)        \
    do {                                   \
        static type object;                \
        int check_before = check_failed(); \
        test(&object);                     \
        close(&object);                    \
        check_say(check_before, #test);    \
    } while (0)

static _Atomic int check_failures;

/* Count a check; relaxed: only the sum matters, read after joining threads. */
static inline bool check_count(bool passed)
{
    if (!passed)
        atomic_fetch_add_explicit(&check_failures, 1, memory_order_relaxed);
    return passed;
}

static inline bool check_true(bool condition, const char *name,
                              const char *file, int line)
{
    if (!condition)
        fprintf(stderr, "%s:%d: %s is false, expected true\n", file, line,
                name);
    return check_count(condition);
}

static inline bool check_eq_int(int64_t value, int64_t expected,
                                const char *name, const char *file, int line)
{
    if (value != expected)
        fprintf(stderr, "%s:%d: %s is %" PRId64 ", expected %" PRId64 "\n",
                file, line, name, value, expected);
    return check_count(value == expected);
}

static inline bool check_eq_text(const char *value, const char *expected,
                                 const char *name, const char *file, int line)
{
    bool passed = value != NULL && strcmp(value, expected) == 0;
    if (!passed)
        fprintf(stderr, "%s:%d: %s is \"%s\", expected \"%s\"\n", file, line,
                name, value != NULL ? value : "(NULL)", expected);
    return check_count(passed);
}

static inline bool check_has_text(const char *text, const char *part,
                                  const char *name, const char *file, int line)
{
    bool passed = text != NULL && strstr(text, part) != NULL;
    if (!passed)
        fprintf(stderr, "%s:%d: %s is \"%s\", expected to contain \"%s\"\n",
                file, line, name, text != NULL ? text : "(NULL)", part);
    return check_count(passed);
}

static inline bool check_near(double value, double expected, double tolerance,
                              const char *name, const char *file, int line)
{
    /* Written so that NaN fails. */
    bool passed = fabs(value - expected) <= tolerance;
    if (!passed)
        fprintf(stderr, "%s:%d: %s is %.17g, expected %.17g +- %g\n", file,
                line, name, value, expected, tolerance);
    return check_count(passed);
}

static inline int check_failed(void)
{
    return atomic_load_explicit(&check_failures, memory_order_relaxed);
}

/* Whether a test passed, BEFORE which so many checks had failed. */
static inline void check_say(int before, const char *name)
{
    printf("%s %s\n", check_failed() == before ? "ok  " : "FAIL", name);
    fflush(stdout);
}

static inline void check_run(void (*test)(void), const char *name)
{
    int before = check_failed();
    test();
    check_say(before, name);
}

/* For main() to return: 0 if every check passed. */
static inline int check_result(void)
{
    return check_failed() == 0 ? 0 : 1;
}

#endif
