/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of parcels: `first` of their head is the offset, `count` the bytes of
 * the whole parcel. */
#include "rebalance/parcel.h"

#include "engine/decode.h"

void eki_parcels_push(struct eki_parcels *parcels, struct eki_parcel *parcel)
{
    parcel->next = NULL;
    *(parcels->first ? &parcels->last->next : &parcels->first) = parcel;
    parcels->last = parcel;
}

struct eki_parcel *eki_parcels_pop(struct eki_parcels *parcels,
                                   struct eki_parcel *before)
{
    struct eki_parcel **at = before ? &before->next : &parcels->first;
    struct eki_parcel *parcel = *at;
    if (parcel == parcels->last)
        parcels->last = before;
    if (parcel)
        *at = parcel->next;
    return parcel;
}

void eki_parcels_free(struct eki_parcels *parcels)
{
    for (struct eki_parcel *parcel; (parcel = eki_parcels_pop(parcels, NULL));)
        eki_free(parcel);
}

void eki_mail_close(struct eki_mail *mail)
{
    struct eki_parcels in = {mail->in, NULL};
    eki_parcels_free(&mail->out);
    eki_parcels_free(&in);
    mail->in = NULL;
}

struct eki_parcel *eki_mail_make(int rank, int what, int group, int64_t bytes)
{
    struct eki_parcel *parcel = eki_alloc(1, sizeof *parcel + (size_t)bytes);
    if (!parcel)
        return NULL;
    parcel->rank = rank;
    parcel->what = what;
    parcel->group = group;
    parcel->bytes = parcel->room = bytes;
    return parcel;
}

/* Whether a list comes back to itself: one pointer walks twice as fast. */
static bool is_circle(const struct eki_parcel *parcel)
{
    const struct eki_parcel *fast = parcel;
    while (fast && fast->next) {
        parcel = parcel->next;
        fast = fast->next->next;
        if (parcel == fast)
            return true;
    }
    return false;
}

static const char *check_out(const struct eki_mail *mail)
{
    const struct eki_parcel *first = mail->out.first;
    if (is_circle(first))
        return "a parcel was sent twice";
    for (const struct eki_parcel *at = first; at; at = at->next) {
        if (at->done < 0 || at->done > at->bytes)
            return "more has left of a parcel than there is";
        if (at != first && at->done > 0)
            return "a parcel has begun to leave before the one ahead of it";
        if (!at->next && at != mail->out.last)
            return "the end of the parcels is elsewhere";
    }
    return NULL;
}

static const char *check_in(const struct eki_mail *mail)
{
    if (is_circle(mail->in))
        return "a parcel comes twice";
    for (const struct eki_parcel *at = mail->in; at; at = at->next) {
        if (at->done < 0 || at->done > at->bytes)
            return "more has come of a parcel than there is";
        for (const struct eki_parcel *b = at->next; b; b = b->next) {
            if (at->rank == b->rank && at->what == b->what &&
                at->group == b->group)
                return "two parcels of one rank, kind and group come at once";
        }
    }
    return NULL;
}

const char *eki_mail_check(const struct eki_mail *mail)
{
    const char *problem = check_out(mail);
    return problem ? problem : check_in(mail);
}

void eki_mail_send(struct eki_mail *mail, struct eki_parcel *parcel)
{
    eki_parcels_push(&mail->out, parcel);
    EKI_ASSERT_SLOW(eki_mail_check(mail));
}

struct eki_parcel *eki_mail_put(struct eki_mail *mail, int rank, int what,
                                int group, int64_t bytes)
{
    struct eki_parcel *parcel = eki_mail_make(rank, what, group, bytes);
    if (parcel)
        eki_mail_send(mail, parcel);
    return parcel;
}

bool eki_mail_send_copy(struct eki_mail *mail, int rank, int what, int group,
                        const void *data, int64_t bytes)
{
    struct eki_parcel *parcel = eki_mail_put(mail, rank, what, group, bytes);
    if (parcel && bytes)
        memcpy(parcel->data, data, (size_t)bytes);
    return parcel != NULL;
}

/* Post the next piece; false: no buffer is free. */
static bool post_piece(struct eki_engine *engine, struct eki_parcel *parcel)
{
    int64_t room = eki_exchange_room(&engine->exchange);
    int64_t left = parcel->bytes - parcel->done;
    struct eki_message *message =
        eki_exchange_reserve(&engine->exchange, EKI_KIND_PARCEL);
    if (!message)
        return false;
    message->head.bytes = left < room ? left : room;
    message->head.count = parcel->bytes;
    message->head.first = parcel->done;
    message->head.worker = parcel->group;
    message->head.detail = parcel->what;
    memcpy(message->body, parcel->data + parcel->done,
           (size_t)message->head.bytes);
    parcel->done += message->head.bytes;
    eki_exchange_post(&engine->exchange, message, parcel->rank);
    return true;
}

struct eki_parcel *eki_mail_post(struct eki_engine *engine,
                                 struct eki_mail *mail)
{
    struct eki_parcel *parcel;
    while ((parcel = mail->out.first) != NULL) {
        if (parcel->rank == engine->topology->rank)
            return eki_parcels_pop(&mail->out, NULL);
        do {
            if (!post_piece(engine, parcel))
                return NULL;
        } while (parcel->done < parcel->bytes);
        eki_free(eki_parcels_pop(&mail->out, NULL));
    }
    return NULL;
}

/* Where the parcel of a piece is linked, or where it would be. */
static struct eki_parcel **find(struct eki_mail *mail,
                                const struct eki_head *head)
{
    struct eki_parcel **at = &mail->in;
    while (*at && ((*at)->rank != head->source || (*at)->what != head->detail ||
                   (*at)->group != head->worker))
        at = &(*at)->next;
    return at;
}

/* Whether a piece follows what has come of its parcel, NULL: nothing. */
static bool piece_fits(struct eki_engine *engine, const struct eki_head *head,
                       const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_decode_of(engine, head);
    int64_t done = parcel ? parcel->done : 0;
    return (!parcel ||
            eki_fits_one(&decode, "count", head->count, parcel->bytes)) &&
           eki_fits_one(&decode, "first", head->first, done) &&
           eki_fits(&decode, "bytes", head->bytes, head->count > 0,
                    head->count - done);
}

/* Make room for BYTES more in the parcel at *AT, or make it; false: no memory.
 */
static bool make_room(struct eki_parcel **at, const struct eki_head *head)
{
    int64_t done = *at ? (*at)->done : 0, needed = done + head->bytes;
    int64_t room = 2 * needed < head->count ? 2 * needed : head->count;
    if (*at && needed <= (*at)->room)
        return true;
    struct eki_parcel *grown =
        eki_realloc(*at, 1, sizeof *grown + (size_t)room);
    if (!grown)
        return false;
    if (!*at)
        *grown = (struct eki_parcel){.rank = head->source,
                                     .what = head->detail,
                                     .group = head->worker,
                                     .bytes = head->count};
    grown->room = room;
    *at = grown;
    return true;
}

enum eki_taken eki_mail_take(struct eki_engine *engine, struct eki_mail *mail,
                             const struct eki_message *message,
                             struct eki_parcel **whole)
{
    const struct eki_head *head = &message->head;
    struct eki_parcel **at = find(mail, head);
    *whole = NULL;
    EKI_ASSERT_SLOW(eki_mail_check(mail));
    if (!piece_fits(engine, head, *at))
        return EKI_REFUSED;
    if (!make_room(at, head))
        return EKI_NO_MEMORY;
    struct eki_parcel *parcel = *at;
    memcpy(parcel->data + parcel->done, message->body, (size_t)head->bytes);
    parcel->done += head->bytes;
    if (parcel->done < parcel->bytes)
        return EKI_TAKEN;
    *at = parcel->next;
    *whole = parcel;
    return EKI_TAKEN;
}
