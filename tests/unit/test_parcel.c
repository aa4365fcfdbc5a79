/* SPDX-License-Identifier: BSD-3-Clause */
/* Parcels: pieces in any order, sizes beyond 31 bits, pieces that lie, and what
 * the check finds in broken mails. */
#include "check.h"

#include "rebalance/parcel.h"

#include <stdlib.h>

enum {
    PIECE = 1000
};

static struct eki_message *piece(int source, int64_t first, int64_t bytes,
                                 int64_t whole)
{
    struct eki_message *message = calloc(1, sizeof *message + PIECE);
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
    enum eki_taken taken = eki_mail_take(mail, message, parcel);
    CHECK(eki_mail_check(mail) == NULL);
    free(message);
    return taken;
}

static void pieces_become_whole(void)
{
    struct eki_mail mail;
    struct eki_parcel *whole;
    eki_mail_open(&mail);
    /* Two sources at once, in any order. */
    for (int i = 0; i < 5; i++) {
        int at = i * 3 % 5;
        CHECK_EQ_INT(take(&mail, 4, at * 200, 200, 1000, &whole), EKI_TAKEN);
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

/* The memory is touched where the pieces lie only. */
static void sizes_have_64_bits(void)
{
    const int64_t bytes = INT64_C(3) << 30;
    struct eki_mail mail;
    struct eki_parcel *whole;
    eki_mail_open(&mail);
    enum eki_taken taken = take(&mail, 2, bytes - PIECE, PIECE, bytes, &whole);
    if (taken == EKI_TAKEN) {
        CHECK(whole == NULL);
        CHECK_EQ_INT(mail.in->done, PIECE);
        CHECK_EQ_INT(mail.in->data[bytes - 1],
                     (unsigned char)((bytes - 1) * 7 + 2));
    } else {
        CHECK_EQ_INT(taken, EKI_NO_MEMORY);
    }
    eki_mail_close(&mail);
}

static void lies_are_refused(void)
{
    static const int64_t lies[][3] = {
        {0, 200, 900}, {-8, 100, 1000}, {1001, 1, 1000}, {950, 100, 1000}};
    for (int i = 0; i < 4; i++) {
        struct eki_mail mail;
        struct eki_parcel *whole;
        eki_mail_open(&mail);
        CHECK_EQ_INT(take(&mail, 4, 0, 200, 1000, &whole), EKI_TAKEN);
        CHECK_EQ_INT(take(&mail, 4, lies[i][0], lies[i][1], lies[i][2], &whole),
                     EKI_REFUSED);
        CHECK(whole == NULL);
        eki_mail_close(&mail);
    }
}

static void memory_that_lacks_changes_nothing(void)
{
    struct eki_mail mail;
    struct eki_parcel *whole;
    eki_mail_open(&mail);
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
    eki_mail_open(mail);
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
    mail.out_end = &mail.out;
    CHECK_EQ_TEXT(eki_mail_check(&mail), "the end of the parcels is elsewhere");
    mail.out_end = &mail.out->next->next->next;
    CHECK(eki_mail_check(&mail) == NULL);
    mail.out->next->next->next = mail.out->next;
    CHECK_EQ_TEXT(eki_mail_check(&mail), "a parcel was sent twice");
    mail.out->next->next->next = NULL;
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
        mail.out->done = wrong[i];
        CHECK_EQ_TEXT(eki_mail_check(&mail),
                      "more has left of a parcel than there is");
        mail.out->done = 6;
        CHECK(eki_mail_check(&mail) == NULL);
    }
    mail.out->next->done = 1;
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
    RUN(pieces_become_whole);
    RUN(sizes_have_64_bits);
    RUN(lies_are_refused);
    RUN(memory_that_lacks_changes_nothing);
    RUN(the_check_finds_broken_ends);
    RUN(the_check_finds_wrong_counts);
    RUN(the_check_finds_two_of_a_kind);
    return check_result();
}
