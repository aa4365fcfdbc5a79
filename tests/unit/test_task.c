/* SPDX-License-Identifier: BSD-3-Clause */
/* task: bins of durations, deviations, hints, ids and slots. */
#include "task/key.h"
#include "task/task.h"

#include "check.h"

static void bins_decode_to_within_a_five_hundredth(void)
{
    struct eki_random random;
    eki_random_seed(&random, 1, 1);
    for (int i = 0; i < 200000; i++) {
        uint64_t ns =
            eki_random_next(&random) >> (1 + eki_random_below(&random, 63));
        uint64_t middle = eki_bin_ns(eki_bin_of(ns));
        double error = fabs((double)middle - (double)ns);
        if (ns > 0 && !CHECK(error <= (double)ns / 500.0 + 0.5))
            return;
    }
    CHECK_EQ_INT(eki_bin_of(0), eki_bin_of(1));
}

static void small_durations_are_exact(void)
{
    for (uint64_t ns = 1; ns < 512; ns++)
        CHECK_EQ_INT(eki_bin_ns(eki_bin_of(ns)), ns);
}

static void bins_are_monotone(void)
{
    for (int bin = 1; bin < EKI_BIN_COUNT - 1; bin++) {
        if (!CHECK(eki_bin_ns((uint16_t)(bin + 1)) >=
                   eki_bin_ns((uint16_t)bin)))
            return;
    }
    uint16_t last = 0;
    for (uint64_t ns = 1; ns < 100000; ns++) {
        if (!CHECK(eki_bin_of(ns) >= last))
            return;
        last = eki_bin_of(ns);
    }
    CHECK_EQ_INT(eki_bin_of(UINT64_MAX), EKI_BIN_COUNT - 1);
}

static void bins_survive_being_decoded(void)
{
    /* Below 256 ns several bins hold the same nanosecond. */
    for (int bin = 1 + 8 * 256; bin < EKI_BIN_COUNT; bin++) {
        if (!CHECK_EQ_INT(eki_bin_of(eki_bin_ns((uint16_t)bin)), bin))
            return;
    }
}

static void special_bins_have_no_duration(void)
{
    CHECK_EQ_INT(eki_bin_ns(EKI_BIN_NEVER), 0);
    CHECK_EQ_INT(eki_bin_ns(EKI_BIN_RANGE), 0);
    CHECK_EQ_INT(EKI_BIN_LONG, eki_bin_of(EKI_LONG_NS));
    CHECK(EKI_BIN_RANGE > EKI_BIN_COUNT);
}

static void deviation_follows_the_change(void)
{
    uint8_t deviation = 0;
    for (int i = 0; i < 100; i++)
        deviation = eki_deviation_next(deviation, 3000, 3256);
    /* An octave to and fro is 256 bins: 64 steps; whole steps of a quarter. */
    CHECK(deviation >= 61 && deviation <= 64);
    CHECK_NEAR(eki_deviation_relative(64), 1.0, 1e-12);
    CHECK_NEAR(eki_deviation_relative(0), 0.0, 1e-12);
    for (int i = 0; i < 100; i++)
        deviation = eki_deviation_next(deviation, 3000, 3000);
    CHECK(deviation <= 3);
    for (int i = 0; i < 100; i++)
        deviation = eki_deviation_next(deviation, 1, 16000);
    CHECK(deviation >= 252);
}

static void hints_survive_their_byte(void)
{
    CHECK_EQ_INT(eki_hint_byte(1.0), 128);
    CHECK_NEAR(eki_hint_cost(128), 1.0, 1e-12);
    for (double cost = 1e-4; cost < 5e4; cost *= 1.07)
        CHECK_NEAR(eki_hint_cost(eki_hint_byte(cost)) / cost, 1.0, 0.05);
    CHECK_EQ_INT(eki_hint_byte(1e-300), 0);
    CHECK_EQ_INT(eki_hint_byte(1e300), 255);
}

static void ids_tell_their_home(void)
{
    CHECK_EQ_INT(eki_id_home(eki_id(163839, 12345)), 163839);
    CHECK_EQ_INT(eki_id_home(eki_id(0, (UINT64_C(1) << EKI_ID_BITS) - 1)), 0);
}

/* The key of task NUMBER of worker HOME outlives that it moves twice. */
static void check_key(int home, uint64_t number, int before, int between)
{
    uint64_t key = eki_key(0, eki_id(home, number));
    uint64_t id = eki_key_move(before, key, 5);
    CHECK_EQ_INT(eki_id_home(id), 5);
    CHECK(eki_key(before, id) == key);
    CHECK(id % EKI_NUMBERS >= EKI_MOVED_NUMBERS);
    /* Another home has it now. */
    CHECK(eki_key(before, eki_id(1, id % EKI_NUMBERS)) == key);
    id = eki_key_move(before + between, eki_key(before, id), 2);
    CHECK(eki_key(before + between, id) == key);
    CHECK(eki_key(before + between, eki_id(2, number)) ==
          eki_id(before + between + 2, number));
}

static void keys_stay_where_ids_change(void)
{
    const uint64_t parts[] = {0, EKI_OTHER_NUMBERS, EKI_INLET_NUMBERS,
                              EKI_SPAWNED_NUMBERS};
    for (int before = 1; before <= 1 << 20; before = 3 * before + 1) {
        uint64_t last = eki_key_places(3 * before) - 1;
        for (int part = 0; part < 4; part++) {
            check_key(0, parts[part], before, 2 * before);
            check_key(before - 1, parts[part] + last / 3, before, 1);
            if (part == 0 || part == 3)
                check_key(before / 2, parts[part] + last, before, 2 * before);
            CHECK_EQ_INT(eki_key_place(parts[part] + 17), 17);
        }
    }
    CHECK_EQ_TEXT(eki_key_words(0, eki_id(3, 5)).text, "5 (home worker 3)");
    CHECK_EQ_TEXT(eki_key_words(8, eki_id(3, 5)).text, "5 (home worker 3)");
    CHECK_EQ_TEXT(eki_key_words(8, eki_key_move(8, eki_id(7, 5), 3)).text,
                  "5 (home worker 7 of an earlier job)");
}

static void slots_have_room_for_their_payload(void)
{
    CHECK_EQ_INT(eki_slot_bytes(0), 16);
    CHECK_EQ_INT(eki_slot_bytes(1), 32);
    CHECK_EQ_INT(eki_slot_bytes(16), 32);
    CHECK_EQ_INT(eki_slot_bytes(48), 64);
    CHECK_EQ_INT(eki_slot_bytes(49), 80);
}

int main(void)
{
    RUN(bins_decode_to_within_a_five_hundredth);
    RUN(small_durations_are_exact);
    RUN(bins_are_monotone);
    RUN(bins_survive_being_decoded);
    RUN(special_bins_have_no_duration);
    RUN(deviation_follows_the_change);
    RUN(hints_survive_their_byte);
    RUN(ids_tell_their_home);
    RUN(keys_stay_where_ids_change);
    RUN(slots_have_room_for_their_payload);
    return check_result();
}
