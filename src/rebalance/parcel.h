/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parcels: messages of any size between ranks, in as many pieces as it takes.
 * For restores only, when nothing else is on its way.
 */
#ifndef EKI_REBALANCE_PARCEL_H
#define EKI_REBALANCE_PARCEL_H

#include "engine/engine.h"

struct eki_parcel {
    struct eki_parcel *next;
    int rank; /* to or from */
    int what; /* enum eki_parcel_kind */
    int group;
    int64_t bytes, done; /* of the data; posted or arrived */
    _Alignas(16) unsigned char data[];
};

/* Parcels on their way out, and those of which pieces have come. */
struct eki_mail {
    struct eki_parcel *out, **out_end;
    struct eki_parcel *in;
};

void eki_mail_open(struct eki_mail *mail);
void eki_mail_close(struct eki_mail *mail);
/* A parcel of BYTES to fill, or NULL; eki_mail_send() takes it. */
struct eki_parcel *eki_mail_make(int rank, int what, int group, int64_t bytes);
void eki_mail_send(struct eki_mail *mail, struct eki_parcel *parcel);
/* Send BYTES of DATA; false: no memory. */
bool eki_mail_send_copy(struct eki_mail *mail, int rank, int what, int group,
                        const void *data, int64_t bytes);
/* Post what there are buffers for.  A parcel for this rank is returned instead,
 * to be taken and freed; NULL: none. */
struct eki_parcel *eki_mail_post(struct eki_engine *engine,
                                 struct eki_mail *mail);
/* A piece has come; *WHOLE is the parcel if that was the last one, or NULL. */
enum eki_taken eki_mail_take(struct eki_mail *mail,
                             const struct eki_message *message,
                             struct eki_parcel **whole);

#endif
