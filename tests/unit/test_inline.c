/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * evenkeel_inline.h alone, against a library that only notes what is called:
 * the layout is the one that binaries have, a plain spawn fills the slot, and
 * all else goes to the function with the arguments as they were, head
 * untouched.
 */
#include <evenkeel_inline.h>

#include <stdbool.h>
#include <stddef.h>

#include "check.h"

/* These numbers are in compiled programs: who changes one changes
 * EK_INLINE_LAYOUT, too. */
#define AT(field, offset, bytes)                                             \
    _Static_assert(EK_INLINE_LAYOUT == 1 &&                                  \
                       offsetof(struct ek_worker_head, field) == (offset) && \
                       sizeof((struct ek_worker_head *)0)->field == (bytes), \
                   #field)
AT(layout, 0, 4);
AT(slot_bytes, 4, 4);
AT(top, 8, 8);
AT(mark, 16, 8);
AT(next_id, 24, 8);
AT(slot_word, 32, 8);
AT(functions, 40, 4);
AT(payload_bytes, 44, 4);
AT(data, 48, 8);
AT(id, 56, 4);
AT(here, 60, 4);
_Static_assert(sizeof(struct ek_worker_head) == 64, "one line");

enum {
    SLOT = 160,
    PAYLOAD = 144,
    SLOTS = 4,
    FUNCTIONS = 3
};

/* What the functions were called with. */
static struct {
    int calls;
    const void *worker;
    bool has_payload; /* such bytes, wherever they lie */
    int function, flags;
    size_t bytes;
} noted;

static int data, other_data;

static unsigned char payload[PAYLOAD];

ek_status(ek_spawn)(ek_worker *worker, ek_function function, const void *from,
                    size_t bytes, int flags)
{
    noted.calls++;
    noted.worker = worker;
    noted.has_payload =
        from && bytes <= PAYLOAD && memcmp(from, payload, bytes) == 0;
    noted.function = function;
    noted.flags = flags;
    noted.bytes = bytes;
    return EK_ERR_STATE;
}

void *(ek_spawn_at)(ek_worker *worker, ek_function function, size_t bytes,
                    int flags)
{
    (void)(ek_spawn)(worker, function, NULL, bytes, flags);
    return &other_data;
}

void *(ek_worker_data)(const ek_worker *worker)
{
    return (void)worker, &other_data;
}

int(ek_worker_here)(const ek_worker *worker)
{
    return (void)worker, 77;
}

int(ek_worker_id)(const ek_worker *worker)
{
    return (void)worker, 99;
}

static _Alignas(16) unsigned char slots[SLOTS * SLOT];

static struct ek_worker_head good_head(void)
{
    memset(slots, 0xee, sizeof slots);
    memset(&noted, 0, sizeof noted);
    return (struct ek_worker_head){.layout = EK_INLINE_LAYOUT,
                                   .slot_bytes = SLOT,
                                   .top = slots + SLOT,
                                   .mark = slots + 2 * SLOT,
                                   .next_id = 1234567890123,
                                   .slot_word = UINT64_C(0x4080000000000000),
                                   .functions = FUNCTIONS,
                                   .payload_bytes = PAYLOAD,
                                   .data = &data,
                                   .id = 5,
                                   .here = 1};
}

static ek_worker *worker_of(struct ek_worker_head *head)
{
    return (ek_worker *)(void *)head;
}

/* The second slot has the task, its neighbors nothing. */
static void check_slot(const struct ek_worker_head *head, const void *from,
                       size_t bytes, int flags)
{
    uint64_t word, id;
    const unsigned char *slot = slots + SLOT;
    memcpy(&word, slot, 8);
    memcpy(&id, slot + 8, 8);
    CHECK_EQ_INT(word, UINT64_C(0x4080000000000000) | 2 | bytes << 16 |
                           (uint64_t)flags << 56);
    CHECK_EQ_INT(id, 1234567890123);
    CHECK(memcmp(slot + 16, from, bytes) == 0);
    for (int i = 0; i < SLOT; i++)
        CHECK(slots[i] == 0xee && slot[SLOT + i] == 0xee);
    CHECK(head->top == slots + 2 * SLOT);
    CHECK_EQ_INT(head->next_id, 1234567890124);
    CHECK_EQ_INT(noted.calls, 0);
}

/* Sizes that a compiler knows are copied in other ways than ... */
#define SPAWN_KNOWN(size)                                               \
    do {                                                                \
        struct ek_worker_head head = good_head();                       \
        CHECK_EQ_INT(ek_spawn(worker_of(&head), 2, payload, (size), 0), \
                     EK_OK);                                            \
        check_slot(&head, payload, (size), 0);                          \
    } while (0)

static void plain_spawns_fill_the_slot(void)
{
    for (int i = 0; i < PAYLOAD; i++)
        payload[i] = (unsigned char)(i + 1);
    SPAWN_KNOWN(0);
    SPAWN_KNOWN(1);
    SPAWN_KNOWN(4);
    SPAWN_KNOWN(7);
    SPAWN_KNOWN(8);
    SPAWN_KNOWN(12);
    SPAWN_KNOWN(16);
    SPAWN_KNOWN(24);
    SPAWN_KNOWN(31);
    SPAWN_KNOWN(48);
    SPAWN_KNOWN(127);
    SPAWN_KNOWN(128);
    SPAWN_KNOWN(PAYLOAD);
    /* ... those that it does not. */
    for (volatile size_t bytes = 0; bytes <= PAYLOAD; bytes++) {
        struct ek_worker_head head = good_head();
        CHECK_OK(ek_spawn(worker_of(&head), 2, payload, bytes, EK_SPAWN_KEEP));
        check_slot(&head, payload, bytes, EK_SPAWN_KEEP);
    }
}

static void plain_slots_are_handed_out(void)
{
    struct ek_worker_head head = good_head();
    void *at = ek_spawn_at(worker_of(&head), 2, 24, 0);
    if (!CHECK(at == slots + SLOT + 16))
        return;
    memcpy(at, payload, 24);
    check_slot(&head, payload, 24, 0);
}

/* Spawn both ways from a head that is not so good: both are for the function.
 */
static void spawn_slowly(struct ek_worker_head head, ek_function function,
                         size_t bytes, int flags)
{
    const struct ek_worker_head before = head;
    CHECK_EQ_INT(ek_spawn(worker_of(&head), function, payload, bytes, flags),
                 EK_ERR_STATE);
    CHECK(noted.has_payload == (bytes <= PAYLOAD));
    CHECK(ek_spawn_at(worker_of(&head), function, bytes, flags) == &other_data);
    CHECK_EQ_INT(noted.calls, 2);
    CHECK(noted.worker == &head);
    CHECK_EQ_INT(noted.function, function);
    CHECK_EQ_INT(noted.bytes, bytes);
    CHECK_EQ_INT(noted.flags, flags);
    CHECK(memcmp(&head, &before, sizeof head) == 0);
    for (size_t i = 0; i < sizeof slots; i++)
        CHECK(slots[i] == 0xee);
}

static void all_else_is_for_the_function(void)
{
    struct ek_worker_head head = good_head();
    head.layout = EK_INLINE_LAYOUT + 1;
    spawn_slowly(head, 2, 24, 0);
    head = good_head();
    head.layout = 0;
    spawn_slowly(head, 2, 24, 0);
    /* The calls of tasks are checked, or no iteration is open. */
    head = good_head();
    head.functions = 0;
    spawn_slowly(head, 0, 24, 0);
    /* Room ends, or others are to see tasks. */
    head = good_head();
    head.mark = head.top;
    spawn_slowly(head, 2, 24, 0);
    head = good_head();
    head.mark = NULL;
    spawn_slowly(head, 2, 24, 0);
    spawn_slowly(good_head(), FUNCTIONS, 24, 0);
    spawn_slowly(good_head(), -1, 24, 0);
    spawn_slowly(good_head(), 2, PAYLOAD + 1, 0);
    spawn_slowly(good_head(), 2, SIZE_MAX, 0);
    spawn_slowly(good_head(), 2, 24, 2);
    spawn_slowly(good_head(), 2, 24, -1);
}

/* A payload that only this function has is copied for the call; what is too
 * long is not read. */
static void sizes_that_are_known_are_for_the_function(void)
{
    struct ek_worker_head head = good_head();
    unsigned char own[24];
    memcpy(own, payload, sizeof own);
    head.mark = head.top;
    CHECK_EQ_INT(ek_spawn(worker_of(&head), 2, own, sizeof own, 0),
                 EK_ERR_STATE);
    CHECK(noted.has_payload);
    CHECK_EQ_INT(noted.bytes, sizeof own);
    head = good_head();
    head.payload_bytes = 16;
    CHECK_EQ_INT(ek_spawn(worker_of(&head), 2, own, sizeof own, 0),
                 EK_ERR_STATE);
    CHECK(!noted.has_payload);
    CHECK_EQ_INT(noted.bytes, sizeof own);
    CHECK(head.top == slots + SLOT);
}

static void a_payload_that_is_null_is_for_the_function(void)
{
    struct ek_worker_head head = good_head();
    CHECK_EQ_INT(ek_spawn(worker_of(&head), 2, NULL, 0, 0), EK_ERR_STATE);
    CHECK_EQ_INT(noted.calls, 1);
    CHECK(head.top == slots + SLOT);
}

static void a_worker_says_who_it_is(void)
{
    struct ek_worker_head head = good_head();
    CHECK(ek_worker_data(worker_of(&head)) == &data);
    CHECK_EQ_INT(ek_worker_here(worker_of(&head)), 1);
    CHECK_EQ_INT(ek_worker_id(worker_of(&head)), 5);
    head.layout = EK_INLINE_LAYOUT + 1;
    CHECK(ek_worker_data(worker_of(&head)) == &other_data);
    CHECK_EQ_INT(ek_worker_here(worker_of(&head)), 77);
    CHECK_EQ_INT(ek_worker_id(worker_of(&head)), 99);
}

/* Macros that a comma in an argument does not break. */
static void arguments_may_have_commas(void)
{
    struct pair {
        int64_t a, b;
    } pair = {3, 4};
    struct ek_worker_head head = good_head();
    CHECK_OK(ek_spawn(worker_of(&head), 2, &(struct pair){3, 4},
                      sizeof(struct pair), 0));
    check_slot(&head, &pair, sizeof pair, 0);
}

int main(void)
{
    RUN(plain_spawns_fill_the_slot);
    RUN(plain_slots_are_handed_out);
    RUN(all_else_is_for_the_function);
    RUN(sizes_that_are_known_are_for_the_function);
    RUN(a_payload_that_is_null_is_for_the_function);
    RUN(a_worker_says_who_it_is);
    RUN(arguments_may_have_commas);
    return check_result();
}
