/* SPDX-License-Identifier: BSD-3-Clause */
/* Parcels: pieces in their order, sizes beyond 31 bits, pieces that lie, and
 * what the check finds in broken mails. */
#include "lone.h"
#include "rebalance/parcel.h"

#include <stdlib.h>

enum {
    PIECE = 1000
};

static struct lone lone; /* says what was refused */

static struct eki_message *piece(int source, int64_t first, int64_t bytes,
                                 int64_t whole)
{
    struct eki_message *message = calloc(1, sizeof *message + PIECE);
    message->head.kind = EKI_KIND_PARCEL;
    message->head.source = source;
    message->head.detail = 3;
    message->head.worker = 1;
    message->head.first = first;
    message->head.bytes = bytes;
    message->head.count = whole;
    for (int64_t i = 0; i < bytes; i++)
        message->body[i] = (unsigned char)((first + i) * 7 + source);
    return message;
}

static enum eki_taken take(struct eki_mail *mail, int source, int64_t first,
                           int64_t bytes, int64_t whole,
                           struct eki_parcel **parcel)
{
    struct eki_message *message = piece(source, first, bytes, whole);
    enum eki_taken taken = eki_mail_take(lone.engine, mail, message, parcel);
    CHECK(eki_mail_check(mail) == NULL);
    free(message);
    return taken;
}

static void pieces_become_whole(void)
{
    struct eki_mail mail = {0};
    struct eki_parcel *whole;
    /* Two sources at once. */
    for (int i = 0; i < 5; i++) {
        CHECK_EQ_INT(take(&mail, 4, i * 200, 200, 1000, &whole), EKI_TAKEN);
        CHECK((whole != NULL) == (i == 4));
        if (i == 2) {
            struct eki_parcel *other;
            CHECK_EQ_INT(take(&mail, 5, 0, 0, 0, &other), EKI_TAKEN);
            CHECK(other && other->bytes == 0 && other->rank == 5);
            eki_free(other);
        }
    }
    if (CHECK(whole != NULL)) {
        CHECK_EQ_INT(whole->rank, 4);
        CHECK_EQ_INT(whole->what, 3);
        CHECK_EQ_INT(whole->group, 1);
        for (int64_t i = 0; i < 1000; i++)
            CHECK_EQ_INT(whole->data[i], (unsigned char)(i * 7 + 4));
        eki_free(whole);
    }
    CHECK(mail.in == NULL);
    eki_mail_close(&mail);
}

/* Memory is for what has come, not for what is promised. */
static void promise_of_much_takes_little(void)
{
    const int64_t bytes = INT64_C(3) << 40;
    struct eki_mail mail = {0};
    struct eki_parcel *whole;
    for (int64_t i = 0; i < 5; i++) {
        CHECK_EQ_INT(take(&mail, 2, i * PIECE, PIECE, bytes, &whole),
                     EKI_TAKEN);
        CHECK(whole == NULL);
        CHECK_EQ_INT(mail.in->done, (i + 1) * PIECE);
        CHECK(mail.in->room <= 2 * (i + 1) * PIECE);
    }
    CHECK_EQ_INT(mail.in->data[5 * PIECE - 1],
                 (unsigned char)((5 * PIECE - 1) * 7 + 2));
    eki_mail_close(&mail);
}

/* Another whole, a hole, twice the same, nothing, too much. */
static void lies_are_refused(void)
{
    static const int64_t lies[][3] = {{200, 200, 900},
                                      {300, 200, 1000},
                                      {0, 200, 1000},
                                      {200, 0, 1000},
                                      {200, 801, 1000}};
    for (int i = 0; i < 5; i++) {
        struct eki_mail mail = {0};
        struct eki_parcel *whole;
        CHECK_EQ_INT(take(&mail, 4, 0, 200, 1000, &whole), EKI_TAKEN);
        CHECK_EQ_INT(take(&mail, 4, lies[i][0], lies[i][1], lies[i][2], &whole),
                     EKI_REFUSED);
        CHECK(whole == NULL);
        eki_mail_close(&mail);
    }
    CHECK_HAS_TEXT(lone.engine->node->refusal.text,
                   "parcel: count is 900; allowed: 1000 ... 1000");
}

static void memory_that_lacks_changes_nothing(void)
{
    struct eki_mail mail = {0};
    struct eki_parcel *whole;
    eki_memory_fail(1);
    CHECK_EQ_INT(take(&mail, 4, 0, 200, 400, &whole), EKI_NO_MEMORY);
    eki_memory_fail(0);
    CHECK(mail.in == NULL);
    CHECK_EQ_INT(take(&mail, 4, 0, 200, 400, &whole), EKI_TAKEN);
    CHECK_EQ_INT(take(&mail, 4, 200, 200, 400, &whole), EKI_TAKEN);
    CHECK(whole != NULL);
    eki_free(whole);
    eki_mail_close(&mail);
}

/* A mail with three parcels out and two that come. */
static void fill(struct eki_mail *mail)
{
    struct eki_parcel *whole;
    memset(mail, 0, sizeof *mail);
    CHECK(eki_mail_check(mail) == NULL);
    for (int i = 0; i < 3; i++) {
        CHECK(eki_mail_send_copy(mail, i, 3, 1, "letter", 6));
        CHECK(eki_mail_check(mail) == NULL);
    }
    CHECK_EQ_INT(take(mail, 4, 0, 200, 1000, &whole), EKI_TAKEN);
    CHECK_EQ_INT(take(mail, 5, 0, 200, 1000, &whole), EKI_TAKEN);
}

static void the_check_finds_broken_ends(void)
{
    struct eki_mail mail;
    fill(&mail);
    mail.out.last = mail.out.first;
    CHECK_EQ_TEXT(eki_mail_check(&mail), "the end of the parcels is elsewhere");
    mail.out.last = mail.out.first->next->next;
    CHECK(eki_mail_check(&mail) == NULL);
    mail.out.first->next->next->next = mail.out.first->next;
    CHECK_EQ_TEXT(eki_mail_check(&mail), "a parcel was sent twice");
    mail.out.first->next->next->next = NULL;
    mail.in->next->next = mail.in;
    CHECK_EQ_TEXT(eki_mail_check(&mail), "a parcel comes twice");
    mail.in->next->next = NULL;
    eki_mail_close(&mail);
}

static void the_check_finds_wrong_counts(void)
{
    static const int64_t wrong[] = {-1, 1001};
    struct eki_mail mail;
    fill(&mail);
    for (int i = 0; i < 2; i++) {
        int64_t done = mail.in->next->done;
        mail.in->next->done = wrong[i];
        CHECK_EQ_TEXT(eki_mail_check(&mail),
                      "more has come of a parcel than there is");
        mail.in->next->done = done;
        mail.out.first->done = wrong[i];
        CHECK_EQ_TEXT(eki_mail_check(&mail),
                      "more has left of a parcel than there is");
        mail.out.first->done = 6;
        CHECK(eki_mail_check(&mail) == NULL);
    }
    mail.out.first->next->done = 1;
    CHECK_EQ_TEXT(eki_mail_check(&mail),
                  "a parcel has begun to leave before the one ahead of it");
    eki_mail_close(&mail);
}

static void the_check_finds_two_of_a_kind(void)
{
    struct eki_mail mail;
    fill(&mail);
    mail.in->next->rank = mail.in->rank;
    CHECK_EQ_TEXT(eki_mail_check(&mail),
                  "two parcels of one rank, kind and group come at once");
    mail.in->next->what = mail.in->what + 1;
    CHECK(eki_mail_check(&mail) == NULL);
    eki_mail_close(&mail);
}

int main(void)
{
    lone_start(&lone, 0);
    RUN(pieces_become_whole);
    RUN(promise_of_much_takes_little);
    RUN(lies_are_refused);
    RUN(memory_that_lacks_changes_nothing);
    RUN(the_check_finds_broken_ends);
    RUN(the_check_finds_wrong_counts);
    RUN(the_check_finds_two_of_a_kind);
    lone_close(&lone);
    return check_result();
}
