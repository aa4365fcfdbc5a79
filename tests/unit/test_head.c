/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * head: a good header passes, each wrong field is named, short and random input
 * is refused without reading beyond it.
 */
#include <fabric/fabric.h>

#include <limits.h>
#include <string.h>

#include "check.h"

enum {
    SIZE = 4,
    COLLECTION = 7
};

static struct eki_head good_head(void)
{
    return (struct eki_head){.magic = EKI_MESSAGE_MAGIC,
                             .version = EKI_MESSAGE_VERSION,
                             .kind = 1,
                             .collection = COLLECTION,
                             .source = SIZE - 1,
                             .count = 3,
                             .bytes = 192};
}

/* What eki_head_check() says of HEAD with a body of 192 bytes; "" if good. */
static const char *verdict(struct eki_head head)
{
    static char why[EKI_HEAD_WHY];
    strcpy(why, "");
    bool is_good =
        eki_head_check(&head, sizeof head + 192, COLLECTION + 1, SIZE, why);
    CHECK(is_good == (why[0] == '\0'));
    return why;
}

#define VERDICT_WITH(field, value) \
    (head = good_head(), head.field = (value), verdict(head))

static void good_heads_pass(void)
{
    struct eki_head head;
    CHECK_EQ_TEXT(verdict(good_head()), "");
    CHECK_EQ_TEXT(VERDICT_WITH(kind, 31), "");
    CHECK_EQ_TEXT(VERDICT_WITH(source, 0), "");
    CHECK_EQ_TEXT(VERDICT_WITH(count, 0), "");
    CHECK_EQ_TEXT(VERDICT_WITH(count, INT64_MAX), "");
    /* Free for the kinds to use. */
    CHECK_EQ_TEXT(VERDICT_WITH(first, -1), "");
    CHECK_EQ_TEXT(VERDICT_WITH(worker, -1), "");
    CHECK_EQ_TEXT(VERDICT_WITH(detail, -1), "");
    head = good_head();
    head.bytes = 0;
    char why[EKI_HEAD_WHY];
    CHECK(eki_head_check(&head, sizeof head, COLLECTION + 1, SIZE, why));
}

static void wrong_fields_are_named(void)
{
    struct eki_head head;
    CHECK_EQ_TEXT(VERDICT_WITH(magic, 0x316c656bu),
                  "magic number 0x316c656b, expected 0x6b656c31");
    CHECK_EQ_TEXT(VERDICT_WITH(version, 2),
                  "message version 2, expected 1: do all ranks run the same "
                  "library?");
    CHECK_EQ_TEXT(VERDICT_WITH(kind, 0), "kind 0, which no message has");
    CHECK_EQ_TEXT(VERDICT_WITH(collection, 8),
                  "collection 8, expected less than 8");
    CHECK_EQ_TEXT(VERDICT_WITH(source, -1), "source -1, expected 0 ... 3");
    CHECK_EQ_TEXT(VERDICT_WITH(source, 4), "source 4, expected 0 ... 3");
    CHECK_EQ_TEXT(VERDICT_WITH(count, -1), "negative count -1");
    CHECK_EQ_TEXT(VERDICT_WITH(bytes, 191),
                  "body of 191 bytes announced, 192 received");
    CHECK_EQ_TEXT(VERDICT_WITH(bytes, 193),
                  "body of 193 bytes announced, 192 received");
    CHECK_EQ_TEXT(VERDICT_WITH(bytes, -192),
                  "body of -192 bytes announced, 192 received");
    CHECK_EQ_TEXT(VERDICT_WITH(bytes, INT64_MIN),
                  "body of -9223372036854775808 bytes announced, 192 received");
}

/* The copies are as long as what arrived, so that an address sanitizer sees
 * any look beyond it. */
static void short_messages_are_refused(void)
{
    struct eki_head head = good_head();
    char why[EKI_HEAD_WHY];
    for (size_t bytes = 0; bytes < sizeof head; bytes++) {
        struct eki_head *cut = malloc(bytes + (bytes == 0));
        if (!CHECK(cut != NULL))
            return;
        memcpy((void *)cut, &head, bytes);
        CHECK(!eki_head_check(cut, bytes, COLLECTION + 1, SIZE, why));
        CHECK_HAS_TEXT(why, "shorter than a header of 64");
        free(cut);
    }
}

/* Flip bytes of good headers: what passes is good by the letter. */
static void random_damage_is_judged_right(void)
{
    struct eki_random random;
    eki_random_seed(&random, 1, 0);
    int passed = 0;
    for (int i = 0; i < 200000; i++) {
        struct eki_head head = good_head();
        unsigned char raw[sizeof head];
        memcpy(raw, &head, sizeof head);
        for (uint64_t n = eki_random_below(&random, 3); n > 0; n--)
            raw[eki_random_below(&random, sizeof raw)] =
                (unsigned char)eki_random_next(&random);
        memcpy(&head, raw, sizeof head);
        bool expected = head.magic == EKI_MESSAGE_MAGIC &&
                        head.version == EKI_MESSAGE_VERSION && head.kind != 0 &&
                        head.collection <= COLLECTION && head.source >= 0 &&
                        head.source < SIZE && head.count >= 0 &&
                        head.bytes == 192;
        CHECK(expected == (verdict(head)[0] == '\0'));
        passed += expected;
    }
    CHECK(passed > 10000 && passed < 190000);
}

int main(void)
{
    RUN(good_heads_pass);
    RUN(wrong_fields_are_named);
    RUN(short_messages_are_refused);
    RUN(random_damage_is_judged_right);
    return check_result();
}
