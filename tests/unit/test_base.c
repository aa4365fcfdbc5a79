/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses, sink, memory, clock, random numbers and hashing of base. */
#define _GNU_SOURCE
#include "base/base.h"
#include "check.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void statuses_have_names(void)
{
    CHECK_EQ_TEXT(ek_status_string(EK_OK), "EK_OK");
    CHECK_EQ_TEXT(ek_status_string(EK_ERR_ARG), "EK_ERR_ARG");
    CHECK_EQ_TEXT(ek_status_string(EK_ERR_STATE), "EK_ERR_STATE");
    CHECK_EQ_TEXT(ek_status_string(EK_ERR_NOMEM), "EK_ERR_NOMEM");
    CHECK_EQ_TEXT(ek_status_string(EK_ERR_MPI), "EK_ERR_MPI");
    CHECK_EQ_TEXT(ek_status_string(EK_ERR_THREAD), "EK_ERR_THREAD");
    CHECK_EQ_TEXT(ek_status_string(EK_ERR_TASK), "EK_ERR_TASK");
    CHECK_EQ_TEXT(ek_status_string(EK_ERR_FILE), "EK_ERR_FILE");
    CHECK_EQ_TEXT(ek_status_string((ek_status)-99), "unknown status");
}

static void version_is_that_of_the_header(void)
{
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", EK_VERSION_MAJOR,
             EK_VERSION_MINOR, EK_VERSION_PATCH);
    CHECK_EQ_TEXT(ek_version(), expected);
}

static void error_formats_its_message(void)
{
    CHECK_EQ_TEXT(ek_error_message(), "");
    CHECK_OK(ek_error_status());
    CHECK_EQ_INT(eki_error(EK_ERR_TASK, "task %d: %s", 7, "broke"),
                 EK_ERR_TASK);
    CHECK_EQ_TEXT(ek_error_message(), "task 7: broke");
    CHECK_EQ_INT(ek_error_status(), EK_ERR_TASK);
    eki_error(EK_ERR_TASK, "again: %s", ek_error_message());
    CHECK_EQ_TEXT(ek_error_message(), "again: task 7: broke");
    eki_error(EK_ERR_TASK, "%2000d", 1);
    CHECK_EQ_INT(strlen(ek_error_message()), 1023);
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    CHECK_EQ_TEXT(ek_error_message(), "");
    eki_error(EK_ERR_ARG, "elsewhere");
    return NULL;
}

static void error_message_belongs_to_its_thread(void)
{
    pthread_t thread;
    eki_error(EK_ERR_ARG, "here");
    if (!CHECK(pthread_create(&thread, NULL, fail_elsewhere, NULL) == 0))
        return;
    pthread_join(thread, NULL);
    CHECK_EQ_TEXT(ek_error_message(), "here");
}

static ek_status try_twice(int *calls, ek_status first)
{
    ++*calls;
    EKI_TRY(first);
    ++*calls;
    return EK_OK;
}

static void try_returns_the_first_failure(void)
{
    int calls = 0;
    CHECK_EQ_INT(try_twice(&calls, EK_ERR_MPI), EK_ERR_MPI);
    CHECK_EQ_INT(calls, 1);
    CHECK_OK(try_twice(&calls, EK_OK));
    CHECK_EQ_INT(calls, 3);
}

struct heard {
    int lines;
    ek_level level;
    char line[2048];
};

static void listen(ek_level level, const char *line, void *context)
{
    struct heard *heard = context;
    heard->lines++;
    heard->level = level;
    snprintf(heard->line, sizeof heard->line, "%s", line);
}

static void sink_gets_prefixed_lines(void)
{
    struct heard heard = {0};
    ek_set_sink(listen, &heard, EK_LEVEL_TRACE);
    eki_log(EK_LEVEL_WARN, 3, 16, "team", "moved %d tasks", 210);
    CHECK_EQ_TEXT(heard.line, "evenkeel 3/16 team: moved 210 tasks");
    CHECK_EQ_INT(heard.level, EK_LEVEL_WARN);
    eki_log(EK_LEVEL_INFO, -1, 0, "base", "no rank");
    CHECK_EQ_TEXT(heard.line, "evenkeel base: no rank");
    eki_log(EK_LEVEL_INFO, -1, 0, "base", "%4000d", 1);
    CHECK_EQ_INT(strlen(heard.line), 1023);
    CHECK_EQ_INT(heard.lines, 3);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
}

static void sink_drops_less_important_lines(void)
{
    struct heard heard = {0};
    ek_set_sink(listen, &heard, EK_LEVEL_WARN);
    eki_log(EK_LEVEL_INFO, -1, 0, "base", "too much");
    CHECK_EQ_INT(heard.lines, 0);
    eki_log(EK_LEVEL_WARN, -1, 0, "base", "important");
    eki_log(EK_LEVEL_ERROR, -1, 0, "base", "more so");
    CHECK_EQ_INT(heard.lines, 2);

    eki_log_environment(EK_LEVEL_TRACE);
    eki_log(EK_LEVEL_INFO, -1, 0, "base", "not the default sink");
    CHECK_EQ_INT(heard.lines, 2);
    eki_log_environment(EK_LEVEL_INFO);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
}

/* Log one line per level and read back what reached stderr. */
static void stderr_capture(char *text, size_t bytes)
{
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    text[0] = '\0';
    if (!CHECK(file != NULL && saved >= 0))
        return;
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    for (int level = EK_LEVEL_ERROR; level <= EK_LEVEL_TRACE; level++)
        eki_log((ek_level)level, 0, 1, "base", "level %d", level);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, bytes - 1, file)] = '\0';
    fclose(file);
}

static void default_sink_writes_lines_to_stderr(void)
{
    char text[1024];
    ek_set_sink(NULL, NULL, EK_LEVEL_WARN);
    eki_log_environment(EK_LEVEL_INFO);
    stderr_capture(text, sizeof text);
    CHECK_EQ_TEXT(text, "evenkeel 0/1 base: level 0\n"
                        "evenkeel 0/1 base: level 1\n"
                        "evenkeel 0/1 base: level 2\n");
    eki_log_environment(EK_LEVEL_ERROR);
    stderr_capture(text, sizeof text);
    CHECK_EQ_TEXT(text, "evenkeel 0/1 base: level 0\n");
    eki_log_environment(EK_LEVEL_INFO);
}

static bool is_zero(const unsigned char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (memory[i] != 0)
            return false;
    }
    return true;
}

static void memory_is_zeroed(void)
{
    unsigned char *memory = eki_alloc(100, 7);
    if (CHECK(memory != NULL))
        CHECK(is_zero(memory, 700));
    eki_free(memory);
}

static void memory_refuses_sizes_that_overflow(void)
{
    CHECK(eki_alloc(SIZE_MAX / 2, 3) == NULL);
    CHECK(eki_realloc(NULL, SIZE_MAX / 8 + 1, 8) == NULL);
    CHECK(eki_alloc_lines(SIZE_MAX) == NULL);
    CHECK(eki_alloc_lines(SIZE_MAX - EKI_LINE + 1) == NULL);
}

static void memory_of_no_bytes_is_not_a_failure(void)
{
    void *none = eki_alloc(0, 8), *lines = eki_alloc_lines(0);
    CHECK(none != NULL);
    CHECK(lines != NULL);
    none = eki_realloc(none, 0, 0);
    CHECK(none != NULL);
    eki_free(none);
    eki_free(lines);
    eki_free(NULL);
}

static void memory_keeps_its_content_when_it_grows(void)
{
    char *text = eki_copy_string("evenkeel");
    text = eki_realloc(text, 1000, 10);
    CHECK_EQ_TEXT(text, "evenkeel");
    eki_memory_fail(1);
    CHECK(eki_realloc(text, 1000, 20) == NULL);
    CHECK_EQ_TEXT(text, "evenkeel");
    eki_free(text);
}

static void array_doubles_when_it_is_full(void)
{
    int *array = NULL;
    int64_t room = 0;
    for (int i = 0; i < 9; i++) {
        CHECK(eki_grow(&array, i, &room, 3, sizeof *array));
        CHECK_EQ_INT(room, i < 3 ? 3 : i < 6 ? 6 : 12);
        array[i] = i;
    }
    eki_memory_fail(1);
    CHECK(eki_grow(&array, 11, &room, 3, sizeof *array));
    CHECK(!eki_grow(&array, 12, &room, 3, sizeof *array));
    CHECK_EQ_INT(room, 12);
    for (int i = 0; i < 9; i++)
        CHECK_EQ_INT(array[i], i);
    eki_free(array);
}

/* Whether bytes up to LAST count on from 0. */
static bool counts_on(const unsigned char *array, size_t last)
{
    for (size_t i = 0; i < last; i++) {
        if (array[i] != (unsigned char)(i * 7 + i / 4096))
            return false;
    }
    return true;
}

/* From a few bytes to many huge pages and back to a few of them. */
static void arrays_keep_their_content(void)
{
    static const size_t sizes[] = {100,     5000,    2097151, 2097152,
                                   3000000, 4194304, 30000000};
    unsigned char *array = NULL;
    size_t bytes = 0;
    for (int i = 0; i < 7; i++) {
        eki_memory_fail(1);
        CHECK(eki_array_resize(array, bytes, sizes[i]) == NULL);
        eki_memory_fail(0);
        array = eki_array_resize(array, bytes, sizes[i]);
        if (!CHECK(array != NULL) || !CHECK(counts_on(array, bytes)))
            return;
        for (; bytes < sizes[i]; bytes++)
            array[bytes] = (unsigned char)(bytes * 7 + bytes / 4096);
    }
    CHECK(eki_array_resize(array, bytes, SIZE_MAX - 5) == NULL);
    CHECK_EQ_INT(eki_array_cut(array, bytes, bytes / 2), (int64_t)bytes);
    size_t left = eki_array_cut(array, bytes, 1000000);
    CHECK(left >= 4194304 && left <= 10000000);
    CHECK(counts_on(array, left));
    eki_array_free(array, left);
    array = eki_array_resize(NULL, 0, 10);
    CHECK_EQ_INT(eki_array_cut(array, 10, 0), 10);
    eki_array_free(array, 10);
}

static void lines_are_aligned_and_zeroed(void)
{
    for (size_t bytes = 1; bytes < 3 * EKI_LINE; bytes += 63) {
        unsigned char *lines = eki_alloc_lines(bytes);
        if (!CHECK(lines != NULL))
            return;
        CHECK_EQ_INT((uintptr_t)lines % EKI_LINE, 0);
        CHECK(is_zero(lines, bytes));
        eki_free(lines);
    }
}

static void allocation_n_fails_once(void)
{
    eki_memory_fail(3);
    void *first = eki_alloc(1, 1);
    char *second = eki_copy_string("x");
    CHECK(first != NULL && second != NULL);
    CHECK(eki_alloc_lines(1) == NULL);
    void *fourth = eki_alloc(1, 1);
    CHECK(fourth != NULL);
    eki_free(first);
    eki_free(second);
    eki_free(fourth);

    eki_memory_fail(1);
    CHECK(eki_copy_string("x") == NULL);
    eki_memory_fail(1);
    eki_memory_fail(0);
    first = eki_alloc(1, 1);
    CHECK(first != NULL);
    eki_free(first);
}

static void append_cuts_what_does_not_fit(void)
{
    char text[8] = "";
    eki_append(text, sizeof text, "%d-", 12);
    CHECK_EQ_TEXT(text, "12-");
    eki_append(text, sizeof text, "%s", "abcdef");
    CHECK_EQ_TEXT(text, "12-abcd");
    eki_append(text, sizeof text, "more");
    CHECK_EQ_TEXT(text, "12-abcd");
}

/* Durations by both clocks; somebody else may run between two readings, so one
 * of many has to agree. */
static void clock_agrees_with_the_system(void)
{
    double nearest = 2;
    eki_clock_start();
    eki_clock_start();
    for (int tries = 0; tries < 50 && fabs(nearest - 1) > 1e-3; tries++) {
        uint64_t system_before = eki_clock_system_ns();
        uint64_t before = eki_clock_ns();
        eki_sleep_ns(20000000);
        uint64_t after = eki_clock_ns();
        uint64_t system_after = eki_clock_system_ns();
        double expected = (double)(system_after - system_before);
        double ratio = (double)(after - before) / expected;
        CHECK(expected >= 20e6);
        if (fabs(ratio - 1) < fabs(nearest - 1))
            nearest = ratio;
    }
    CHECK_NEAR(nearest, 1.0, 1e-3);
}

static void clock_never_goes_back(void)
{
    uint64_t last = eki_clock_ns();
    int back = 0;
    for (int i = 0; i < 1000000; i++) {
        uint64_t now = eki_clock_ns();
        back += now < last;
        last = now;
    }
    CHECK_EQ_INT(back, 0);
}

static void short_sleeps_are_short(void)
{
    /* Of several, since the machine may be busy. */
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 20; i++) {
        uint64_t before = eki_clock_system_ns();
        eki_sleep_ns(50000);
        uint64_t slept = eki_clock_system_ns() - before;
        shortest = slept < shortest ? slept : shortest;
    }
    eki_yield();
    eki_pause();
    CHECK(shortest >= 50000);
    CHECK(shortest < 5000000);
}

static void random_numbers_follow_from_seed_and_stream(void)
{
    struct eki_random a, b, stream, seed;
    eki_random_seed(&a, 1, 0);
    eki_random_seed(&b, 1, 0);
    eki_random_seed(&stream, 1, 1);
    eki_random_seed(&seed, 0, 1);
    int equal_streams = 0, equal_seeds = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = eki_random_next(&a), y = eki_random_next(&stream);
        CHECK(x == eki_random_next(&b));
        equal_streams += x == y;
        equal_seeds += y == eki_random_next(&seed);
    }
    CHECK_EQ_INT(equal_streams, 0);
    CHECK_EQ_INT(equal_seeds, 0);
}

static void random_numbers_are_those_of_xoshiro(void)
{
    /* First outputs of the published generator from state 1, 2, 3, 4. */
    struct eki_random random = {{1, 2, 3, 4}};
    CHECK(eki_random_next(&random) == 11520);
    CHECK(eki_random_next(&random) == 0);
    CHECK(eki_random_next(&random) == 1509978240);
    CHECK(eki_random_next(&random) == UINT64_C(1215971899390074240));
}

static void random_numbers_stay_in_range_and_are_even(void)
{
    enum {
        BINS = 10,
        DRAWS = 100000
    };
    struct eki_random random;
    eki_random_seed(&random, 42, 7);
    int drawn[BINS] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint64_t x = eki_random_below(&random, BINS);
        if (!CHECK(x < BINS))
            return;
        drawn[x]++;
    }
    /* Five standard deviations; the seed is fixed. */
    for (int i = 0; i < BINS; i++)
        CHECK_NEAR(drawn[i], DRAWS / BINS, 5 * 95.0);
    CHECK_EQ_INT(eki_random_below(&random, 1), 0);
    CHECK(eki_random_below(&random, UINT64_MAX) < UINT64_MAX);
}

static void hashes_depend_on_every_word_and_their_order(void)
{
    CHECK(eki_hash(0, 0) != 0);
    CHECK(eki_hash(0, 1) != eki_hash(0, 2));
    CHECK(eki_hash(eki_hash(0, 1), 2) != eki_hash(eki_hash(0, 2), 1));
    CHECK(eki_hash_text(0, "fock") == eki_hash_text(0, "fock"));
    CHECK(eki_hash_text(0, "fock") != eki_hash_text(0, "kcof"));
    CHECK(eki_hash_text(0, "fock") != eki_hash_text(1, "fock"));
    CHECK(eki_hash_text(eki_hash_text(0, "ab"), "c") !=
          eki_hash_text(eki_hash_text(0, "a"), "bc"));
    CHECK(eki_hash_text(0, "") != 0);
}

static void crcs_are_those_of_castagnoli(void)
{
    unsigned char same[32];
    CHECK_EQ_INT(eki_crc32c(0, "123456789", 9), 0xe3069283);
    CHECK_EQ_INT(eki_crc32c(eki_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
    CHECK_EQ_INT(eki_crc32c(0, "", 0), 0);
    /* RFC 3720, section B.4. */
    memset(same, 0, sizeof same);
    CHECK_EQ_INT(eki_crc32c(0, same, sizeof same), 0x8a9136aa);
    memset(same, 0xff, sizeof same);
    CHECK_EQ_INT(eki_crc32c(0, same, sizeof same), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        same[i] = (unsigned char)i;
    CHECK_EQ_INT(eki_crc32c(0, same, sizeof same), 0x46dd794e);
}

int main(void)
{
    RUN(statuses_have_names);
    RUN(version_is_that_of_the_header);
    RUN(error_formats_its_message);
    RUN(error_message_belongs_to_its_thread);
    RUN(try_returns_the_first_failure);
    RUN(sink_gets_prefixed_lines);
    RUN(sink_drops_less_important_lines);
    RUN(default_sink_writes_lines_to_stderr);
    RUN(memory_is_zeroed);
    RUN(memory_refuses_sizes_that_overflow);
    RUN(memory_of_no_bytes_is_not_a_failure);
    RUN(memory_keeps_its_content_when_it_grows);
    RUN(array_doubles_when_it_is_full);
    RUN(arrays_keep_their_content);
    RUN(lines_are_aligned_and_zeroed);
    RUN(allocation_n_fails_once);
    RUN(append_cuts_what_does_not_fit);
    RUN(crcs_are_those_of_castagnoli);
    RUN(clock_agrees_with_the_system);
    RUN(clock_never_goes_back);
    RUN(short_sleeps_are_short);
    RUN(random_numbers_follow_from_seed_and_stream);
    RUN(random_numbers_are_those_of_xoshiro);
    RUN(random_numbers_stay_in_range_and_are_even);
    RUN(hashes_depend_on_every_word_and_their_order);
    return check_result();
}
