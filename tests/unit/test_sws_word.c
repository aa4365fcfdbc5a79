/* SPDX-License-Identifier: BSD-3-Clause */
/* sws_word: the word of a queue that other nodes steal from, both layouts. */
#include <protocol/sws_word.h>

#include "check.h"

enum {
    RANDOM = 100000 /* words */
};

static const uint32_t layouts[] = {1, 2}; /* by their epochs */

static uint64_t opened(uint32_t epochs, uint32_t epoch, uint32_t initial,
                       uint32_t tail)
{
    const struct eki_sws_word word = {
        .epoch = epoch, .initial = initial, .tail = tail};
    return eki_sws_pack(epochs, &word);
}

static void fields_lie_where_they_are_printed(void)
{
    struct eki_sws_word word = {.attempts = 5, .initial = 150, .tail = 500};
    CHECK(eki_sws_pack(1, &word) ==
          (UINT64_C(5) << 40 | UINT64_C(1) << 39 | UINT64_C(150) << 20 | 500));
    word.epoch = 1;
    CHECK(eki_sws_pack(2, &word) ==
          (UINT64_C(5) << 40 | UINT64_C(1) << 38 | UINT64_C(150) << 19 | 500));
    /* Not valid; an index that is none. */
    CHECK(eki_sws_locked(1) == 0);
    CHECK(eki_sws_locked(2) == UINT64_C(2) << 38);
}

static bool is_same(const struct eki_sws_word *a, const struct eki_sws_word *b)
{
    return a->attempts == b->attempts && a->epoch == b->epoch &&
           a->initial == b->initial && a->tail == b->tail;
}

static void fields_keep_their_limits(void)
{
    for (int i = 0; i < 2; i++) {
        uint32_t epochs = layouts[i];
        /* All fields full, and one full after the other. */
        for (unsigned set = 0; set < 16; set++) {
            const struct eki_sws_word word = {
                .attempts = set & 1 ? EKI_SWS_ATTEMPTS_MAX : 0,
                .epoch = set & 2 ? 2 * epochs - 1 : 0,
                .initial = set & 4 ? EKI_SWS_TASKS_MAX : 0,
                .tail = set & 8 ? EKI_SWS_TASKS_MAX - 1 : 0};
            struct eki_sws_word got =
                eki_sws_unpack(epochs, eki_sws_pack(epochs, &word));
            CHECK(is_same(&got, &word));
        }
    }
    CHECK_EQ_INT(EKI_SWS_TASKS_MAX, 524287);
    CHECK_EQ_INT(eki_deque_blocks(EKI_SWS_TASKS_MAX), EKI_SWS_BLOCKS_MAX);
    CHECK_EQ_INT(eki_deque_blocks(EKI_SWS_TASKS_MAX + 2),
                 EKI_SWS_BLOCKS_MAX + 1);
}

static void random_words_are_packed_as_they_were(void)
{
    struct eki_random random;
    eki_random_seed(&random, 39, 0);
    for (int i = 0; i < RANDOM; i++) {
        uint64_t bits = eki_random_next(&random);
        for (int j = 0; j < 2; j++) {
            struct eki_sws_word word = eki_sws_unpack(layouts[j], bits);
            uint64_t again = eki_sws_pack(layouts[j], &word);
            if (!CHECK(again == bits))
                return;
        }
    }
}

/* Claims of all of N tasks from TAIL on: one after the other, one block each,
 * then nothing. */
static bool claims_hold(uint32_t epochs, uint32_t epoch, uint32_t n,
                        uint32_t tail)
{
    uint64_t bits = opened(epochs, epoch, n, tail);
    struct eki_sws_block block = {0};
    uint32_t claimed = 0, blocks = 0;
    while (eki_sws_claim(epochs, bits, &block)) {
        if (block.first != tail + claimed || block.count == 0 ||
            block.epoch != epoch || block.number != blocks ||
            blocks >= EKI_SWS_BLOCKS_MAX)
            return false;
        claimed += block.count;
        blocks++;
        bits += EKI_SWS_ATTEMPT;
        if (eki_sws_remaining(epochs, bits) != n - claimed)
            return false;
    }
    return claimed == n && blocks == eki_deque_blocks(n);
}

static void blocks_follow_one_another(void)
{
    for (uint32_t n = 0; n < 2000; n++)
        if (!CHECK(claims_hold(1, 0, n, n) && claims_hold(2, 0, n, 7) &&
                   claims_hold(2, 1, n, EKI_SWS_TASKS_MAX)))
            return;
    CHECK(claims_hold(1, 0, EKI_SWS_TASKS_MAX, EKI_SWS_TASKS_MAX - 1));
    CHECK(claims_hold(2, 1, EKI_SWS_TASKS_MAX, EKI_SWS_TASKS_MAX - 1));
}

/* 150 tasks from slot 500 on: the paper's example. */
static void blocks_are_as_printed(void)
{
    static const uint32_t counts[] = {75, 37, 19, 9, 5, 2, 1, 1, 1};
    for (int i = 0; i < 2; i++) {
        uint64_t bits = opened(layouts[i], 0, 150, 500);
        struct eki_sws_block block = {0};
        for (uint32_t k = 0; k < 9; k++) {
            CHECK(eki_sws_claim(layouts[i], bits, &block));
            CHECK_EQ_INT(block.count, counts[k]);
            if (k == 2)
                CHECK_EQ_INT(block.first, 612);
            bits += EKI_SWS_ATTEMPT;
        }
        CHECK(!eki_sws_claim(layouts[i], bits, &block));
    }
}

static void nothing_is_claimed_of_a_locked_word(void)
{
    struct eki_sws_block block = {0};
    for (int i = 0; i < 2; i++) {
        uint32_t epochs = layouts[i];
        uint64_t bits = eki_sws_locked(epochs);
        for (int k = 0; k < 3; k++, bits += EKI_SWS_ATTEMPT) {
            CHECK(!eki_sws_claim(epochs, bits, &block));
            CHECK_EQ_INT(eki_sws_remaining(epochs, bits), 0);
            CHECK_EQ_INT(eki_sws_unpack(epochs, bits).attempts, k);
        }
        /* Whatever its other fields are. */
        for (uint32_t epoch = epochs; epoch < 2 * epochs; epoch++)
            CHECK(!eki_sws_claim(epochs, opened(epochs, epoch, 150, 500),
                                 &block));
        CHECK(!eki_sws_claim(epochs, 0, &block));
    }
}

/* Why a thief looks first where it found nothing: no other field suffers from
 * too many attempts, but the first block is claimed once more. */
static void attempts_overflow_into_nothing(void)
{
    struct eki_sws_block block = {0};
    for (int i = 0; i < 2; i++) {
        uint64_t bits = opened(layouts[i], 0, 150, 500);
        uint64_t last = bits + EKI_SWS_ATTEMPT * EKI_SWS_ATTEMPTS_MAX;
        CHECK_EQ_INT(eki_sws_unpack(layouts[i], last).attempts,
                     EKI_SWS_ATTEMPTS_MAX);
        CHECK(!eki_sws_claim(layouts[i], last, &block));
        CHECK(last + EKI_SWS_ATTEMPT == bits);
        CHECK(eki_sws_claim(layouts[i], last + EKI_SWS_ATTEMPT, &block));
        CHECK_EQ_INT(block.number, 0);
    }
    /* Locked stays locked. */
    CHECK(eki_sws_locked(2) + EKI_SWS_ATTEMPT * EKI_SWS_ATTEMPTS_MAX +
              EKI_SWS_ATTEMPT ==
          eki_sws_locked(2));
}

static void completions_add_up(void)
{
    uint64_t done[EKI_SWS_BLOCKS_MAX] = {0};
    CHECK(eki_sws_is_copied(done, 0));
    CHECK(!eki_sws_is_copied(done, 75));
    done[0] = 75;
    CHECK(eki_sws_is_copied(done, 75));
    CHECK(!eki_sws_is_copied(done, 112));
    /* Of the next time, which lets them grow. */
    done[0] += 1;
    done[1] = 37;
    CHECK(!eki_sws_is_copied(done, 112));
    CHECK(eki_sws_is_copied(done, 113));
}

int main(void)
{
    RUN(fields_lie_where_they_are_printed);
    RUN(fields_keep_their_limits);
    RUN(random_words_are_packed_as_they_were);
    RUN(blocks_follow_one_another);
    RUN(blocks_are_as_printed);
    RUN(nothing_is_claimed_of_a_locked_word);
    RUN(attempts_overflow_into_nothing);
    RUN(completions_add_up);
    return check_result();
}
