/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deque: the closed form of the blocks, a randomized comparison of both kinds
 * with plain lists, and one test for each fault that a deque of this sort had
 * before (in the papers' pseudo-code, in released codes, in our prototypes).
 */
#include <deque/deque.h>

#include <stddef.h>
#include <string.h>

#include "check.h"

static const enum eki_deque_kind kinds[] = {EKI_DEQUE_ATOMIC, EKI_DEQUE_LOCKED};

/* A deque and the indices its owner got last. */
struct fixture {
    struct eki_deque_shared shared;
    struct eki_deque_owner owner;
    uint32_t first;
};

static void fixture_open(struct fixture *f, enum eki_deque_kind kind,
                         uint32_t capacity)
{
    memset(&f->shared, 0, sizeof f->shared);
    f->first = 0;
    CHECK(eki_deque_init(&f->owner, kind, capacity));
}

static uint32_t fixture_room(struct fixture *f)
{
    return eki_deque_room(&f->owner, &f->shared, &f->first);
}

static bool fixture_claim(struct fixture *f, struct eki_block *block)
{
    return eki_deque_claim(f->owner.kind, f->owner.capacity, &f->shared, block);
}

static void fixture_finish(struct fixture *f, const struct eki_block *block)
{
    eki_deque_finish(&f->shared, block);
}

static uint64_t fixture_word(struct fixture *f)
{
    /* relaxed: one thread. */
    return atomic_load_explicit(&f->shared.word, memory_order_relaxed);
}

/* What a thief does that looked before the word changed. */
static bool fixture_late_add(struct fixture *f, struct eki_block *block)
{
    return eki_deque_attempt(f->owner.capacity, &f->shared, block);
}

/* Claims and finishes all that is visible; the number of blocks it took, which
 * a broken deque shall not let grow for ever. */
static uint32_t fixture_drain(struct fixture *f)
{
    uint32_t blocks = 0;
    struct eki_block block = {0};
    while (blocks < 32 && fixture_claim(f, &block)) {
        fixture_finish(f, &block);
        blocks++;
    }
    return blocks;
}

/* Walks the blocks of N slots the slow way and compares; false: differs. */
static bool closed_form_holds(uint32_t n)
{
    uint32_t rest = n;
    uint32_t i = 0;
    while (rest > 0) {
        if (eki_deque_remaining(n, i) != rest)
            return false;
        rest -= rest / 2 > 0 ? rest / 2 : 1;
        i++;
    }
    return eki_deque_blocks(n) == i && eki_deque_remaining(n, i) == 0 &&
           eki_deque_remaining(n, i + 1) == 0 &&
           eki_deque_remaining(n, 64) == 0 &&
           eki_deque_remaining(n, UINT32_MAX) == 0;
}

/* The same through claims: contiguous, in order, no larger than allowed. */
static bool claims_hold(uint32_t n)
{
    struct fixture f;
    uint32_t rest = n;
    uint32_t blocks = 0;
    bool ok = true;

    fixture_open(&f, EKI_DEQUE_ATOMIC, EKI_DEQUE_CAPACITY_MAX);
    ok = ok && fixture_room(&f) >= n;
    eki_deque_publish(&f.owner, &f.shared, n);
    struct eki_block block = {0};
    while (ok && fixture_claim(&f, &block)) {
        ok = ok && block.first == f.first + n - rest && block.count > 0 &&
             block.count <= eki_deque_block_max(EKI_DEQUE_CAPACITY_MAX);
        rest -= block.count;
        blocks++;
        ok = ok && eki_deque_exhausted(&f.owner, &f.shared) == (rest == 0) &&
             eki_deque_visible(EKI_DEQUE_ATOMIC, EKI_DEQUE_CAPACITY_MAX,
                               &f.shared) == rest;
        fixture_finish(&f, &block);
    }
    return ok && rest == 0 && blocks == eki_deque_blocks(n) &&
           eki_deque_check(&f.owner, &f.shared);
}

static void blocks_follow_the_closed_form(void)
{
    CHECK_EQ_INT(eki_deque_blocks(0), 0);
    CHECK_EQ_INT(eki_deque_remaining(0, 0), 0);
    for (uint32_t n = 1; n < 5000; n++) {
        if (!CHECK(closed_form_holds(n) && claims_hold(n)))
            return;
    }
    for (uint32_t power = 4096; power <= EKI_DEQUE_CAPACITY_MAX; power *= 2) {
        for (uint32_t n = power - 3; n <= power + 3; n++) {
            CHECK(closed_form_holds(n));
            if (n <= EKI_DEQUE_CAPACITY_MAX)
                CHECK(claims_hold(n));
        }
    }
    CHECK(closed_form_holds((UINT32_C(1) << 31) - 1));
}

/* The paper's own example: floor(log2 150) + 1 would lose the last task. */
static void hundred_and_fifty_slots_make_nine_blocks(void)
{
    static const uint32_t counts[] = {75, 37, 19, 9, 5, 2, 1, 1, 1};
    struct fixture f;
    struct eki_block block = {0};

    fixture_open(&f, EKI_DEQUE_ATOMIC, 256);
    CHECK_EQ_INT(fixture_room(&f), 256);
    eki_deque_publish(&f.owner, &f.shared, 150);
    for (uint32_t i = 0; i < 9; i++) {
        CHECK(fixture_claim(&f, &block));
        CHECK_EQ_INT(block.count, counts[i]);
        fixture_finish(&f, &block);
    }
    CHECK(!fixture_claim(&f, &block));
}

static void layout_keeps_claims_and_finishes_apart(void)
{
    CHECK_EQ_INT(sizeof(struct eki_deque_shared) % 128, 0);
    CHECK_EQ_INT(_Alignof(struct eki_deque_shared), 128);
    CHECK_EQ_INT(offsetof(struct eki_deque_shared, word), 0);
    CHECK_EQ_INT(offsetof(struct eki_deque_shared, done), 128);
}

static void capacities_out_of_range_are_refused(void)
{
    static const uint32_t bad[] = {0, 1, EKI_DEQUE_CAPACITY_MAX + 1,
                                   UINT32_MAX};
    struct eki_deque_owner owner;

    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < 4; i++)
            CHECK(!eki_deque_init(&owner, kinds[k], bad[i]));
        CHECK(eki_deque_init(&owner, kinds[k], EKI_DEQUE_CAPACITY_MIN));
        CHECK(eki_deque_init(&owner, kinds[k], EKI_DEQUE_CAPACITY_MAX));
    }
}

static void all_zero_is_closed_and_empty(void)
{
    struct eki_block block = {0};

    for (uint32_t k = 0; k < 2; k++) {
        struct fixture f;
        fixture_open(&f, kinds[k], 8);
        CHECK(eki_deque_check(&f.owner, &f.shared));
        CHECK(eki_deque_exhausted(&f.owner, &f.shared));
        CHECK_EQ_INT(eki_deque_visible(kinds[k], 8, &f.shared), 0);
        CHECK(!fixture_claim(&f, &block));
        CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 0);
        CHECK(eki_deque_other_room(&f.owner, &f.shared));
        CHECK_EQ_INT(fixture_room(&f), 8);
        CHECK_EQ_INT(f.first, 0);
    }
}

/* Our prototype's bug: a second close reset the claimed count, and slots were
 * reused under a copying thief. */
static void closing_twice_changes_nothing(void)
{
    for (uint32_t k = 0; k < 2; k++) {
        struct fixture f;
        struct eki_block early = {0}, block = {0};

        fixture_open(&f, kinds[k], 2);
        for (uint32_t round = 0; round < 2; round++) {
            CHECK_EQ_INT(fixture_room(&f), 2);
            eki_deque_publish(&f.owner, &f.shared, 2);
            CHECK(fixture_claim(&f, round == 0 ? &early : &block));
            CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 1);
            CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 0);
            CHECK(eki_deque_check(&f.owner, &f.shared));
            if (round == 1)
                fixture_finish(&f, &block);
        }
        /* Slot 0 is still being copied: whatever room there is lies beyond. */
        CHECK(fixture_room(&f) > 0 && f.first > early.first);
        fixture_finish(&f, &early);
        CHECK(fixture_room(&f) > 0);
        CHECK(eki_deque_check(&f.owner, &f.shared));
    }
}

/* Accounted for twice, a buffer would never come free again. */
static void exhausted_publication_is_accounted_once(void)
{
    for (uint32_t k = 0; k < 2; k++) {
        struct fixture f;
        struct eki_block block = {0};

        fixture_open(&f, kinds[k], 4);
        for (uint32_t round = 0; round < 20; round++) {
            CHECK(fixture_room(&f) > 0);
            eki_deque_publish(&f.owner, &f.shared, 1);
            CHECK(!eki_deque_exhausted(&f.owner, &f.shared));
            CHECK_EQ_INT(fixture_room(&f), 0);
            CHECK(fixture_claim(&f, &block));
            for (uint32_t again = 0; again < 3; again++) {
                CHECK(eki_deque_exhausted(&f.owner, &f.shared));
                if (round % 2 == 0)
                    fixture_room(&f);
                CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 0);
                CHECK(eki_deque_check(&f.owner, &f.shared));
            }
            fixture_finish(&f, &block);
        }
    }
}

/* Neither idle thieves nor the owner's look may count as attempts: they would
 * wrap in a fraction of a second. */
static void looking_without_work_adds_no_attempts(void)
{
    struct fixture f;
    struct eki_block block = {0};

    fixture_open(&f, EKI_DEQUE_ATOMIC, 4);
    for (uint32_t round = 0; round < 3; round++) {
        uint64_t word = fixture_word(&f);
        for (uint32_t i = 0; i < 1000; i++) {
            CHECK(!fixture_claim(&f, &block));
            eki_deque_exhausted(&f.owner, &f.shared);
            eki_deque_visible(EKI_DEQUE_ATOMIC, 4, &f.shared);
        }
        CHECK(fixture_word(&f) == word);
        /* Next: exhausted, and closed while some was left. */
        CHECK(fixture_room(&f) > 0);
        eki_deque_publish(&f.owner, &f.shared, 4);
        if (round == 0)
            CHECK_EQ_INT(fixture_drain(&f), 3);
        else
            CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 4);
    }
}

static void late_adds_yield_nothing_and_are_forgotten(void)
{
    struct fixture f;
    struct eki_block block = {0};

    fixture_open(&f, EKI_DEQUE_ATOMIC, 8);
    for (uint32_t adds = 1; adds < 200; adds += 7) {
        bool close = adds % 2 == 0;
        CHECK(fixture_room(&f) == 8);
        eki_deque_publish(&f.owner, &f.shared, 5);
        if (close)
            CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 5);
        else
            CHECK_EQ_INT(fixture_drain(&f), 4);
        for (uint32_t i = 0; i < adds; i++)
            CHECK(!fixture_late_add(&f, &block));
        CHECK(!fixture_claim(&f, &block));
        CHECK(eki_deque_exhausted(&f.owner, &f.shared));
        CHECK(eki_deque_check(&f.owner, &f.shared));
    }
}

/* An add that lands on a newer publication claims from that one. */
static void late_add_claims_from_the_word_it_returns(void)
{
    struct fixture f;
    struct eki_block pending = {0}, block = {0};

    fixture_open(&f, EKI_DEQUE_ATOMIC, 8);
    CHECK(fixture_room(&f) == 8);
    eki_deque_publish(&f.owner, &f.shared, 8);
    CHECK(fixture_claim(&f, &pending));
    CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 4);
    CHECK(fixture_room(&f) == 8);
    eki_deque_publish(&f.owner, &f.shared, 3);
    /* The thief saw 4 of 8 in the other buffer. */
    CHECK(fixture_late_add(&f, &block));
    CHECK_EQ_INT(block.first, f.first);
    CHECK_EQ_INT(block.count, 1);
    CHECK(block.buffer != pending.buffer);
}

/* HPDC'12 as printed takes back min(shared / 2, 1): nothing of one task. */
static void acquire_takes_back_a_single_task(void)
{
    for (uint32_t k = 0; k < 2; k++) {
        struct fixture f;
        struct eki_block block = {0};

        fixture_open(&f, kinds[k], 4);
        CHECK(fixture_room(&f) > 0);
        eki_deque_publish(&f.owner, &f.shared, 1);
        CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 1);
        CHECK(!fixture_claim(&f, &block));
        CHECK_EQ_INT(eki_deque_visible(kinds[k], 4, &f.shared), 0);
    }
}

/* HPDC'12 as printed leaves acquire and the steal handler with the lock held
 * when there is nothing; then this test would not end. */
static void empty_claims_and_acquires_release_the_lock(void)
{
    struct fixture f;
    struct eki_block block = {0};

    fixture_open(&f, EKI_DEQUE_LOCKED, 4);
    CHECK(fixture_room(&f) > 0);
    eki_deque_publish(&f.owner, &f.shared, 2);
    /* The lock is needed to notice that the shown work is gone. */
    CHECK_EQ_INT(fixture_drain(&f), 2);
    CHECK(!eki_deque_claim_locked(4, &f.shared, &block));
    CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 0);
    CHECK(fixture_room(&f) > 0);
    eki_deque_publish(&f.owner, &f.shared, 2);
    CHECK(fixture_claim(&f, &block));
    /* relaxed: one thread. */
    CHECK_EQ_INT(atomic_load_explicit(&f.shared.lock, memory_order_relaxed), 0);
}

/* Replies complete out of order: itail counts slots, it names none. */
static void ctail_waits_for_the_oldest_copy(void)
{
    struct fixture f;
    struct eki_block oldest = {0}, newer = {0};

    fixture_open(&f, EKI_DEQUE_LOCKED, 4);
    CHECK_EQ_INT(fixture_room(&f), 4);
    eki_deque_publish(&f.owner, &f.shared, 4);
    CHECK(fixture_claim(&f, &oldest));
    CHECK(fixture_claim(&f, &newer));
    fixture_finish(&f, &newer);
    fixture_drain(&f);
    /* Slots 4 to 7 are free; slot 0 must not be used however often we ask. */
    CHECK_EQ_INT(fixture_room(&f), 4);
    CHECK_EQ_INT(f.first, 4);
    eki_deque_publish(&f.owner, &f.shared, 4);
    fixture_drain(&f);
    CHECK_EQ_INT(fixture_room(&f), 0);
    CHECK(!eki_deque_other_room(&f.owner, &f.shared));
    fixture_finish(&f, &oldest);
    CHECK_EQ_INT(fixture_room(&f), 4);
    CHECK_EQ_INT(f.first, 0);
    CHECK(eki_deque_check(&f.owner, &f.shared));
}

/* A block that ends at the ring's end: the indices stay plain sums. */
static void ring_goes_round_without_negative_blocks(void)
{
    struct fixture f;

    fixture_open(&f, EKI_DEQUE_LOCKED, 5);
    for (uint32_t round = 0; round < 100; round++) {
        uint32_t room = fixture_room(&f);
        uint32_t n = room < 3 ? room : 3;
        CHECK(room > 0 && f.first + room <= 10);
        eki_deque_publish(&f.owner, &f.shared, n);
        struct eki_block block = {0};
        uint32_t next = f.first;
        while (fixture_claim(&f, &block)) {
            if (!CHECK_EQ_INT(block.first, next))
                return;
            next += block.count;
            fixture_finish(&f, &block);
        }
        CHECK_EQ_INT(next, f.first + n);
        CHECK(eki_deque_check(&f.owner, &f.shared));
    }
}

/* The owner asks this before it closes anything, else nothing would be shared
 * for the duration of a copy. */
static void other_room_sees_pending_copies(void)
{
    struct fixture f;
    struct eki_block first = {0}, second = {0};

    fixture_open(&f, EKI_DEQUE_ATOMIC, 4);
    CHECK(fixture_room(&f) > 0);
    eki_deque_publish(&f.owner, &f.shared, 4);
    CHECK(fixture_claim(&f, &first));
    CHECK(eki_deque_other_room(&f.owner, &f.shared));
    CHECK_EQ_INT(eki_deque_acquire(&f.owner, &f.shared), 2);
    CHECK_EQ_INT(fixture_room(&f), 4);
    eki_deque_publish(&f.owner, &f.shared, 4);
    /* The other one is pending; of the open one nothing is. */
    CHECK(eki_deque_other_room(&f.owner, &f.shared));
    CHECK(fixture_claim(&f, &second));
    CHECK(!eki_deque_other_room(&f.owner, &f.shared));
    fixture_finish(&f, &second);
    CHECK(eki_deque_other_room(&f.owner, &f.shared));
    CHECK(fixture_claim(&f, &second));
    CHECK(!eki_deque_other_room(&f.owner, &f.shared));
    fixture_finish(&f, &first);
    CHECK(eki_deque_other_room(&f.owner, &f.shared));
    fixture_finish(&f, &second);
}

enum {
    MODEL_TASKS = 4000,
    MODEL_THIEVES = 4,
    MODEL_STEPS = 6000,
    MODEL_CAPACITY = 64
};

/*
 * The model: what each slot holds for whom.  The owner's tasks are numbers in
 * an array; publishing copies the lowest ones and moves the base up, taking
 * back moves it down again.
 */
struct model {
    struct fixture f;
    uint32_t slots[2 * MODEL_CAPACITY];
    uint32_t tasks[MODEL_TASKS];
    uint32_t base, top, made;
    uint32_t open_first, open_count; /* unclaimed slots of the publication */
    struct eki_block copying[MODEL_THIEVES];
    uint32_t expected[MODEL_THIEVES]; /* first task of each block; -1: none */
    bool is_copying[MODEL_THIEVES];
    uint8_t seen[MODEL_TASKS];
    uint64_t random;
};

/* xorshift64*: the test shall not depend on another module. */
static uint32_t model_random(struct model *m, uint32_t below)
{
    m->random ^= m->random >> 12;
    m->random ^= m->random << 25;
    m->random ^= m->random >> 27;
    return (uint32_t)((m->random * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % below;
}

/* Whether slot S may not be overwritten. */
static bool model_is_used(const struct model *m, uint32_t s)
{
    if (s - m->open_first < m->open_count)
        return true;
    for (uint32_t t = 0; t < MODEL_THIEVES; t++) {
        if (m->is_copying[t] && s - m->copying[t].first < m->copying[t].count)
            return true;
    }
    return false;
}

/* Whether a thief copies from the half of the slots that begins at FIRST. */
static bool model_is_buffer_used(const struct model *m, uint32_t first)
{
    for (uint32_t s = first; s < first + m->f.owner.capacity; s++) {
        if (model_is_used(m, s))
            return true;
    }
    return false;
}

/* Compares the room with what the model knows. */
static uint32_t model_room(struct model *m)
{
    uint32_t capacity = m->f.owner.capacity;
    uint32_t room = fixture_room(&m->f);
    bool is_used[2] = {model_is_buffer_used(m, 0),
                       model_is_buffer_used(m, capacity)};

    if (!CHECK(room <= capacity && m->f.first + room <= 2 * capacity))
        return 0;
    if (m->open_count > 0)
        CHECK_EQ_INT(room, 0);
    for (uint32_t s = m->f.first; s < m->f.first + room; s++)
        CHECK(!model_is_used(m, s));
    if (!is_used[0] && !is_used[1])
        CHECK(room > 0);
    if (m->f.owner.kind == EKI_DEQUE_ATOMIC && m->open_count == 0)
        CHECK_EQ_INT(room, is_used[0] && is_used[1] ? 0 : capacity);
    return room;
}

static void model_publish(struct model *m)
{
    uint32_t room = model_room(m);
    uint32_t n = (m->top - m->base + 1) / 2;
    if (n > room)
        n = room;
    if (n == 0)
        return;

    for (uint32_t i = 0; i < n; i++)
        m->slots[m->f.first + i] = m->tasks[m->base + i];
    m->base += n;
    eki_deque_publish(&m->f.owner, &m->f.shared, n);
    m->open_first = m->f.first;
    m->open_count = n;
}

static void model_acquire(struct model *m)
{
    bool would = eki_deque_other_room(&m->f.owner, &m->f.shared);
    uint32_t rest = eki_deque_acquire(&m->f.owner, &m->f.shared);

    if (!CHECK_EQ_INT(rest, m->open_count))
        return;
    m->base -= rest;
    m->open_count = 0;
    CHECK(would == (model_room(m) > 0));
}

static void model_execute(struct model *m, uint32_t task)
{
    if (!CHECK(task < m->made))
        return;
    CHECK_EQ_INT(m->seen[task], 0);
    m->seen[task] = 1;
}

static void model_claim(struct model *m, uint32_t thief)
{
    struct eki_block *block = &m->copying[thief];
    bool got = fixture_claim(&m->f, block);

    CHECK(got == (m->open_count > 0));
    if (!got || !CHECK_EQ_INT(block->first, m->open_first) ||
        !CHECK(block->count > 0 && block->count <= m->open_count) ||
        !CHECK(block->count <= eki_deque_block_max(m->f.owner.capacity)))
        return;
    m->expected[thief] = m->slots[block->first];
    m->open_first += block->count;
    m->open_count -= block->count;
    m->is_copying[thief] = true;
}

/* The thief copies as late as it may. */
static void model_finish(struct model *m, uint32_t thief)
{
    const struct eki_block *block = &m->copying[thief];

    CHECK_EQ_INT(m->slots[block->first], m->expected[thief]);
    for (uint32_t i = 0; i < block->count; i++)
        model_execute(m, m->slots[block->first + i]);
    fixture_finish(&m->f, block);
    m->is_copying[thief] = false;
}

static void model_thief(struct model *m, uint32_t thief)
{
    if (m->is_copying[thief])
        model_finish(m, thief);
    else
        model_claim(m, thief);
}

static void model_step(struct model *m)
{
    switch (model_random(m, 8)) {
    case 0:
    case 1:
        for (uint32_t n = model_random(m, 4); n > 0 && m->made < MODEL_TASKS;
             n--)
            m->tasks[m->top++] = m->made++;
        break;
    case 2:
        if (m->top > m->base)
            model_execute(m, m->tasks[--m->top]);
        break;
    case 3:
    case 4:
        model_publish(m);
        break;
    case 5:
        if (model_random(m, 4) == 0)
            model_acquire(m);
        break;
    default:
        model_thief(m, model_random(m, MODEL_THIEVES));
        break;
    }
}

/* Whether everything agreed up to now. */
static bool model_compare(struct model *m)
{
    struct fixture *f = &m->f;

    CHECK(eki_deque_check(&f->owner, &f->shared));
    CHECK(eki_deque_exhausted(&f->owner, &f->shared) == (m->open_count == 0));
    CHECK_EQ_INT(
        eki_deque_visible(f->owner.kind, f->owner.capacity, &f->shared),
        m->open_count);
    return check_failed() == 0;
}

/* Ends the copies and takes everything back: each task was seen once. */
static void model_end(struct model *m)
{
    for (uint32_t t = 0; t < MODEL_THIEVES; t++) {
        if (m->is_copying[t])
            model_finish(m, t);
    }
    model_acquire(m);
    while (m->top > m->base)
        model_execute(m, m->tasks[--m->top]);
    for (uint32_t i = 0; i < m->made; i++)
        CHECK_EQ_INT(m->seen[i], 1);
}

static void random_steps_agree_with_plain_lists(void)
{
    for (uint32_t run = 0; run < 2 * (MODEL_CAPACITY - 1); run++) {
        struct model m = {.random = run + 1};
        fixture_open(&m.f, kinds[run % 2], 2 + run / 2);
        for (uint32_t step = 0; step < MODEL_STEPS; step++) {
            model_step(&m);
            /* What follows from a difference is of no interest. */
            if (!model_compare(&m))
                return;
        }
        model_end(&m);
    }
}

int main(void)
{
    RUN(blocks_follow_the_closed_form);
    RUN(hundred_and_fifty_slots_make_nine_blocks);
    RUN(layout_keeps_claims_and_finishes_apart);
    RUN(capacities_out_of_range_are_refused);
    RUN(all_zero_is_closed_and_empty);
    RUN(closing_twice_changes_nothing);
    RUN(exhausted_publication_is_accounted_once);
    RUN(looking_without_work_adds_no_attempts);
    RUN(late_adds_yield_nothing_and_are_forgotten);
    RUN(late_add_claims_from_the_word_it_returns);
    RUN(acquire_takes_back_a_single_task);
    RUN(empty_claims_and_acquires_release_the_lock);
    RUN(ctail_waits_for_the_oldest_copy);
    RUN(ring_goes_round_without_negative_blocks);
    RUN(other_room_sees_pending_copies);
    RUN(random_steps_agree_with_plain_lists);
    return check_result();
}
